"""spaCy's documents: a `.spacy` file (DocBin), or `Doc` objects in Python. Spans count tokens, with exclusive ends.

The spans are the entities (`doc.ents`), or those of a span group (`doc.spans["sc"]`) that the user names. The strings of a DocBin are
numbers of spaCy's own, so that reading one needs spaCy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tallystick.errors import InputError, Place, TallystickError, some
from tallystick.files.annotated import Annotated, AnnotatedFile, Ask, Labelled
from tallystick.files.source import AnySource, Source, unpacked_name

ENDING = ".spacy"


def is_spacy_file(name: AnySource) -> bool:
    """Whether a file's name says that it is a DocBin."""
    return unpacked_name(name).endswith(ENDING)


def read_spacy(name: AnySource, ask: Ask) -> AnnotatedFile:
    """The documents of a DocBin. They have no names, so that two files are paired by order."""
    source = Source.of(name)
    documents = [_annotated(doc, Place(f"{source}[{number}]"), ask.field) for number, doc in enumerate(_docs(source))]
    if not documents:
        raise InputError("holds no documents", str(source))
    return AnnotatedFile(str(source), documents)


def _docs(source: Source) -> Iterator[Any]:
    spacy = _load_spacy(source)
    try:
        with source.open() as stream, source.reading():
            content = stream.read()
        yield from spacy.tokens.DocBin().from_bytes(content).get_docs(spacy.blank("xx").vocab)
    except TallystickError:
        raise
    except Exception as error:  # zlib, msgpack, numpy: whatever a broken file leads to
        raise InputError(f"is not a complete DocBin ({type(error).__name__}: {error!s:.80})", str(source)) from None


def _load_spacy(source: Source) -> Any:
    try:
        import spacy
        import spacy.tokens
    except ImportError:
        raise TallystickError(f"{source}: reading a .spacy file needs spaCy: pip install 'tallystick[spacy]'") from None
    return spacy


def _annotated(doc: Any, place: Place, group: str | None) -> Annotated:
    if group is not None and group not in doc.spans:
        raise InputError(f"has no span group {group!r}; it has {some(doc.spans) or 'none'}", place)
    return Annotated(
        place,
        "tokens",
        text=doc.text,
        sentences=(tuple(token.text for token in doc),),
        bounds=tuple((token.idx, token.idx + len(token)) for token in doc),
        spans=tuple(Labelled(*one) for one in _spans(doc, group)),
    )


def _spans(doc: Any, group: str | None) -> list[tuple[int, int, str]]:
    found = doc.ents if group is None else doc.spans[group]
    return [(span.start, span.end, span.label_) for span in found]


def doc_fields(doc: Any) -> dict[str, Any]:
    """A `Doc` as plain data, for the tasks' functions in Python: its entities as "spans", and each span group under its name."""
    groups = {name: [list(one) for one in _spans(doc, name)] for name in doc.spans}
    return {**groups, "tokens": [token.text for token in doc], "spans": [list(one) for one in _spans(doc, None)]}

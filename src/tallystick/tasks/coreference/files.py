"""Coreference from any source: finds out which format a file has, and reads it.

| format   | is known by                                                        |
|----------|--------------------------------------------------------------------|
| conll    | a line `#begin document ...`                                       |
| corefud  | the comments of CoNLL-U, or a line with its ten columns            |
| jsonl    | `{` as the first character                                         |

The readers are strict: a file that was taken for the wrong format is an error in its first lines, not a
low score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

from tallystick.errors import MetricError, did_you_mean, some
from tallystick.files.boundaries import Boundaries, Format, Opening, find_format, find_marked, newdoc_boundaries
from tallystick.files.lines import Pieces
from tallystick.files.pairing import document_key
from tallystick.files.source import AnySource, read_text, reads_once
from tallystick.tasks.coreference.chains import (
    UNKNOWN,
    Chains,
    PairedChains,
    RepeatedMention,
    chains_from_clusters,
    mention_codes,
    pair,
    repeated_mentions,
)

__all__ = [
    "Chains",
    "PairedChains",
    "RepeatedMention",
    "chains_from_clusters",
    "mention_codes",
    "pair",
    "read_chains",
    "repeated_mentions",
]

_CONLL = re.compile(rb"^#[ \t]*begin[ \t]+document(?![^\s(])", re.MULTILINE)
_CONLL_U_COMMENT = re.compile(rb"^#[ \t]*(?:newdoc|newpar|global\.\w+|sent_id|text)\b", re.MULTILINE)
_CONLL_U_ROW = re.compile(rb"^\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}$", re.MULTILINE)


def read_chains(name: AnySource, *, format: str | None = None, fields: Sequence[str] = ()) -> Chains:
    """Read one side of a corpus: a path, a `.gz` path, or `-` for standard input.

    The format is found out from the content unless it is given. `fields` says where the clusters of a
    JSONL file are if it has gold and predicted ones, in order of preference: `("predicted_clusters",
    "clusters")`.
    """
    pieces = Pieces(name)
    chosen = next((one for one in FORMATS if one.name == format), None) if format else _find_format(pieces)
    if chosen is None:
        formats = [one.name for one in FORMATS]
        raise MetricError(f'no coreference format "{format}"; expected {some(formats)}.{did_you_mean(format, formats)}')
    assert chosen.read is not None
    found: Chains = chosen.read(pieces, fields)
    return found


def _find_format(pieces: Pieces) -> Format:
    head = pieces.first
    content = head.lstrip()
    if not content:
        # Blank lines may go on for longer than a piece, but no serious file begins like that.
        raise pieces.error("has nothing but blank lines; expected documents")
    opening = Opening(pieces.source)
    opening.head = head
    chosen = find_format(FORMATS, opening)
    if chosen is not None:
        return chosen
    line = head.count(b"\n", 0, len(head) - len(content)) + 1
    raise pieces.error(
        "begins like no known coreference format; expected #begin document (CoNLL), CoNLL-U with Entity= "
        "(CorefUD), or a JSON object a line with clusters",
        line,
        1,
    )


def _read_conll(pieces: Pieces, fields: Sequence[str]) -> Chains:
    from tallystick.tasks.coreference.conll import read_conll

    return read_conll(pieces)


def _read_corefud(pieces: Pieces, fields: Sequence[str]) -> Chains:
    from tallystick.tasks.coreference.corefud import read_corefud

    return read_corefud(pieces)


def _read_jsonl(pieces: Pieces, fields: Sequence[str]) -> Chains:
    from tallystick.tasks.coreference.jsonl import read_clusters_jsonl

    return read_clusters_jsonl(pieces, fields)


def _name_in_header(document: bytes) -> str:
    """What `#begin document` calls the document."""
    return document_key(document.split(b"\n", 1)[0].split(b"document", 1)[-1].decode("utf-8", "replace").strip())


FORMATS = (
    Format("jsonl", lambda opening: opening.head.lstrip().startswith(b"{"), _read_jsonl),
    Format(
        "conll",
        lambda opening: _CONLL.search(opening.head) is not None,
        _read_conll,
        Boundaries("CoNLL", find_marked(_CONLL), _name_in_header),
    ),
    Format(
        "corefud",
        lambda opening: bool(_CONLL_U_COMMENT.search(opening.head) or _CONLL_U_ROW.search(opening.head)),
        _read_corefud,
        newdoc_boundaries,
    ),
)
"""The formats of coreference, the first that fits. A reader is given the file in pieces, and where the clusters of JSON stand."""


# The words of coreference documents, for those who want to see them: scoring never reads them.
#
# A column file has the word in its fourth column (CoNLL: document, part, number, word), or, where the first column is the
# number, in its second (SemEval); CoNLL-U in its second, JSON Lines under `sentences` or `tokens`. Where no words are to
# be found, nothing is shown; where a document has another number of tokens than its chains say, nothing either.

Sentences = list[list[str]]


def read_words(name: str, chains: Chains, wanted: Collection[str]) -> dict[str, Sentences]:
    """The sentences of some documents of a file that was read as `chains`, by the documents' names."""
    if reads_once(name) or chains.format not in _WORDS:
        return {}  # standard input is read once
    numbers = {document: k for k, document in enumerate(chains.documents)}
    lines = read_text(name).split("\n")
    begins = [int(line) for line in chains.document_lines]
    out = {}
    for document in wanted:
        k = numbers.get(document)
        if k is None or begins[k] == UNKNOWN:
            continue
        end = begins[k + 1] - 1 if k + 1 < len(begins) else len(lines)
        sentences = [sentence for sentence in _WORDS[chains.format](lines[begins[k] - 1 : end]) if sentence]
        if sum(map(len, sentences)) == int(chains.tokens[k]):
            out[document] = sentences
    return out


def _columns(lines: list[str]) -> Iterator[list[str]]:
    sentence: list[str] = []
    for line in lines[1:]:
        if line.startswith("#") and line[1:].split()[:2] == ["end", "document"]:
            break
        cells = line.split()
        if not cells:
            yield sentence
            sentence = []
        elif len(cells) > 1 and not _is_comment(line, cells):
            place = 1 if cells[0].isdigit() and not (len(cells) > 3 and cells[1].isdigit()) else min(3, len(cells) - 2)
            sentence.append(cells[place] if len(cells) > 2 else cells[0])
    yield sentence


def _is_comment(line: str, cells: list[str]) -> bool:
    """A line that begins with # is a token only if a coreference cell ends it."""
    return line.startswith("#") and (cells[-1].strip("()|-_0123456789") != "" or "=" in line)


def _conllu(lines: list[str]) -> Iterator[list[str]]:
    sentence: list[str] = []
    for line in lines:
        cells = line.rstrip("\r").split("\t")
        if len(cells) < 2:
            if not line.strip():
                yield sentence
                sentence = []
        elif not line.startswith("#") and "-" not in cells[0]:
            sentence.append(cells[1] if cells[1] != "_" else "∅")
    yield sentence


def _jsonl(lines: list[str]) -> Iterator[list[str]]:
    value = json.loads(lines[0])
    found = value.get("sentences", value.get("tokens", ()))
    yield from found if found and isinstance(found[0], list) else [found]


_WORDS = {"conll": _columns, "corefud": _conllu, "jsonl": _jsonl}

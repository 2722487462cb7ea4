"""brat stand-off annotation: `.ann` files beside the `.txt` that they annotate.

    T1<TAB>SITE 0 4;15 19<TAB>left knee      a segment: tag, stretches in characters, the text they cover

Only text-bound annotations (T) are segments; relations, events, attributes, normalisations and notes (R, E,
A, M, N, *, #) point at them and are none. A reference and a prediction are two files, or two folders with
files of the same names. The text is the `.txt` beside the reference, or else beside the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tallystick.errors import InputError, Place, SidesMismatch, some
from tallystick.reading.char_offsets import (
    Boundaries,
    CharSpan,
    TokenizedText,
    Tokenizer,
    first_difference,
    tokenizer_named,
)
from tallystick.reading.missing import Missing, allowed
from tallystick.reading.opening import read_text
from tallystick.structures.segments import AnnotatedTexts, Span, annotate

_NOT_SEGMENTS = "REAMN*#"


def read_brat(
    reference: str | Path,
    predicted: str | Path,
    *,
    tokenizer: str | Tokenizer = "words",
    boundaries: Boundaries = "error",
    keep_tokens: bool = False,
    absent: Missing | None = None,
) -> AnnotatedTexts:
    """Read two `.ann` files or two folders of them."""
    tokenize = tokenizer_named(tokenizer)
    names, gold, guess, lengths, words = [], [], [], [], []
    for name, left, right in _pair(Path(reference), Path(predicted), absent):
        content = _text_of(left, right)
        text = TokenizedText.of(content, tokenize, Place(str(left)))
        gold.append(_read(left, text, boundaries))
        guess.append([] if right is None else _read(right, text, boundaries))
        names.append(name)
        lengths.append(len(text))
        words.append(text.words() if keep_tokens else ())
    found = annotate(gold, guess, np.array(lengths, dtype=np.int64), names=names)
    return replace(found, words=tuple(words)) if keep_tokens else found


def _pair(reference: Path, predicted: Path, absent: Missing | None) -> list[tuple[str, Path, Path | None]]:
    if reference.is_dir() != predicted.is_dir():
        raise SidesMismatch(f"{reference} and {predicted}: give two .ann files or two folders of them")
    if not reference.is_dir():
        return [(reference.stem, reference, predicted)]
    sides = [
        {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.ann"))}
        for folder in (reference, predicted)
    ]
    if not sides[0]:
        raise InputError("holds no .ann files", str(reference))
    missing = [name for name in sides[0] if name not in sides[1]]
    extra = [name for name in sides[1] if name not in sides[0]]
    if (missing or extra) and not allowed(absent, *(_stems(names) for names in (missing, extra))):
        where, names = (predicted, missing) if missing else (reference, extra)
        raise SidesMismatch(f"{where} has no file {some(names)}")
    return [(name.removesuffix(".ann"), path, sides[1].get(name)) for name, path in sides[0].items()]


def _stems(names: Sequence[str]) -> list[str]:
    return [name.removesuffix(".ann") for name in names]


def _text_of(left: Path, right: Path | None) -> str:
    there = [path.with_suffix(".txt") for path in (left, right) if path is not None]
    texts = [path for path in there if path.exists()]
    if not texts:
        raise InputError(f"no text beside it: expected {left.with_suffix('.txt').name}", str(left))
    content = read_text(texts[0])
    if len(texts) == 2:
        other = read_text(texts[1])
        if other != content:
            at = first_difference(content, other)
            raise SidesMismatch(
                f"the texts diverge at character {at}: {texts[0]} has {content[at : at + 20]!r}, "
                f"{texts[1]} has {other[at : at + 20]!r}"
            )
    return content


def _read(path: Path, text: TokenizedText, boundaries: Boundaries) -> list[Span]:
    spans = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line[0] in _NOT_SEGMENTS:
            continue
        place = Place(str(path), number, None, line)
        fields = line.split("\t")
        if line[0] != "T" or len(fields) < 2:
            raise InputError('expected an annotation such as "T1<TAB>PER 0 5<TAB>Alice"', place)
        tag, _, stretches = fields[1].partition(" ")
        try:
            pieces = tuple((int(start), int(end)) for start, end in (piece.split() for piece in stretches.split(";")))
        except ValueError:
            raise InputError(f'expected offsets such as "0 4;15 19", found "{stretches}"', place) from None
        span = text.to_tokens(CharSpan(pieces, tag, place), boundaries)
        covered = " ".join(text.text[start:end] for start, end in pieces)
        if len(fields) > 2 and _blanks_alike(covered) != _blanks_alike(fields[2]):
            raise InputError(f'the text at {stretches} is "{covered}", the annotation has "{fields[2]}"', place)
        spans.append(span)
    return spans


def _blanks_alike(text: str) -> str:
    """brat writes line ends inside a segment as blanks."""
    return text.replace("\r", " ").replace("\n", " ").strip()

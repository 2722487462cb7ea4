"""From characters to tokens, with one tokenizer for both sides.

    D r .   S m i t h ' s   d o g          tokens [0,2) [2,3) [4,9) [9,10) [10,11) [12,15)
    [             )                        characters [0,9) are tokens [0,3)
                [     )                    characters [6,10) start inside a token: an error, or
                                           expanded to "Smith" "'", or contracted to "'"

Blanks belong to no token, so a boundary among them cuts nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tallystick.errors import InputError, MetricError, Place, did_you_mean
from tallystick.structures.segments import Span

Tokenizer: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
Boundaries = Literal["error", "expand", "contract"]

_PATTERNS = {
    "words": re.compile(r"\w+|[^\w\s]"),
    "blanks": re.compile(r"\S+"),
    "characters": re.compile(r"\S"),
}


def tokenizer_named(name: str | Tokenizer) -> Tokenizer:
    """A tokenizer by name (words, blanks, characters), or a function from text to (start, end) pairs."""
    if not isinstance(name, str):
        return name
    if name not in _PATTERNS:
        raise MetricError(
            f'"{name}" is not a tokenizer; there are {", ".join(_PATTERNS)}.{did_you_mean(name, _PATTERNS)}'
        )
    pattern = _PATTERNS[name]
    return lambda text: [match.span() for match in pattern.finditer(text)]


@dataclass(frozen=True)
class CharSpan:
    """A segment in characters: its stretches, its tag and where it was read."""

    pieces: tuple[tuple[int, int], ...]
    tag: str
    place: Place


@dataclass(frozen=True)
class TokenizedText:
    """A text and the sorted boundaries of its tokens."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, place: Place) -> TokenizedText:
        """Tokenize a text; tokens must be in order, inside the text, not empty and not overlapping."""
        spans = list(tokenizer(text))
        reached = 0
        for start, end in spans:
            if not reached <= start < end <= len(text):
                raise InputError(f"the tokenizer gave [{start}, {end}) after {reached}; tokens come in order", place)
            reached = end
        return cls(text, tuple(start for start, _ in spans), tuple(end for _, end in spans))

    def __len__(self) -> int:
        return len(self.starts)

    def words(self) -> tuple[str, ...]:
        """The tokens themselves."""
        return tuple(self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True))

    def to_tokens(self, span: CharSpan, boundaries: Boundaries) -> Span:
        """The same segment in tokens."""
        pieces = [self._piece(start, end, span, boundaries) for start, end in span.pieces]
        first, last = min(start for start, _ in pieces), max(end for _, end in pieces)
        return Span(first, last, span.tag, tuple(pieces) if len(pieces) > 1 else ())

    def _piece(self, start: int, end: int, span: CharSpan, boundaries: Boundaries) -> tuple[int, int]:
        if not 0 <= start < end <= len(self.text):
            raise InputError(
                f"span [{start}, {end}) {span.tag} is not inside its text of {len(self.text)} characters",
                span.place,
            )
        touched = bisect_right(self.ends, start), bisect_left(self.starts, end)
        whole = bisect_left(self.starts, start), bisect_right(self.ends, end)
        if touched[0] >= touched[1]:
            raise InputError(f"span [{start}, {end}) {span.tag} holds no token", span.place)
        if touched == whole or boundaries == "expand":
            return touched
        if boundaries == "contract":
            if whole[0] >= whole[1]:
                raise InputError(f"span [{start}, {end}) {span.tag} holds no whole token: nothing is left", span.place)
            return whole
        cut = touched[0] if whole[0] != touched[0] else touched[1] - 1
        token = self.text[self.starts[cut] : self.ends[cut]]
        raise InputError(
            f'span [{start}, {end}) {span.tag}, "{self.text[start:end]}", has a boundary inside the token '
            f'"{token}" [{self.starts[cut]}, {self.ends[cut]}); choose another tokenizer, or '
            'boundaries="expand" or "contract"',
            span.place,
        )


def first_difference(left: str, right: str) -> int:
    """Where two texts part."""
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))

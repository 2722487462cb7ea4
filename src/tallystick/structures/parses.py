"""A dependency parse laid over a document's tokens.

The words of a parse need not be the document's tokens: each word says which tokens it covers.

    tokens   South  Korean  vehicles         words   South  Korean  vehicles
    head       1      2        -1            covers  (0,0)  (1,1)   (2,2)
    label    amod   amod      root
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Parse:
    """For each word the word that it depends on (-1 for a root), its label, and the first and last token that it covers."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    covers: tuple[tuple[int, int], ...]
    source: str = ""

    @staticmethod
    def of_tokens(heads: Sequence[int], labels: Sequence[str], source: str = "") -> Parse:
        """A parse whose words are the tokens."""
        return Parse(tuple(heads), tuple(labels), tuple((k, k) for k in range(len(heads))), source)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The words that depend on each word, left to right."""
        out: list[list[int]] = [[] for _ in self.heads]
        for word, head in enumerate(self.heads):
            if head >= 0:
                out[head].append(word)
        return tuple(map(tuple, out))

    @cached_property
    def by_token(self) -> dict[int, tuple[int, ...]]:
        """The words that cover each token."""
        out: dict[int, tuple[int, ...]] = {}
        for word, (first, last) in enumerate(self.covers):
            for token in range(first, last + 1):
                out[token] = (*out.get(token, ()), word)
        return out

    def tokens(self, word: int) -> frozenset[int]:
        """The tokens of a word."""
        first, last = self.covers[word]
        return frozenset(range(first, last + 1))

    def subtree(self, word: int) -> frozenset[int]:
        """The tokens of a word and of everything below it."""
        out: set[int] = set()
        waiting = [word]
        while waiting:
            at = waiting.pop()
            out |= self.tokens(at)
            waiting.extend(self.children[at])
        return frozenset(out)

    def word_of(self, token: int) -> int | None:
        """The word that a token is: its topmost one if it is cut into several; None if it is only a part of a word."""
        words = self.by_token.get(token, ())
        if not words or any(self.covers[word] != (token, token) for word in words):
            return None
        return next((word for word in words if self.heads[word] not in words), None)

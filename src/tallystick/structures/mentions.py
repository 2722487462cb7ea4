"""Mentions: where in the text something is said (sections 2.1 and 3.3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mention:
    """A span by its offsets, both inclusive: `Mention(3, 3)` is one token."""

    left: int
    right: int

    @property
    def indices(self) -> range:
        """The token indices of the span, as an IndexedMention has them."""
        return range(self.left, self.right + 1)


@dataclass(frozen=True)
class IndexedMention:
    """A span as a range of token indices: section 3.3's alternative, which SciREX compares by overlap."""

    indices: range

"""Mentions: where in the text something is said (sections 2.1 and 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field


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


@dataclass(frozen=True, repr=False)
class AnnotatedMention(Mention):
    """A span with what is known about it; what is not known is None.

    `type` is an entity type; `head` the span of its head, both ends inclusive; `entity` what it refers to, one name for
    both sides; `kind` how it is said: name, nominal, pronoun; `gaps` the parts that do not belong to it.
    """

    type: str | None = None
    head: tuple[int, int] | None = None
    entity: str | None = None
    kind: str | None = None
    gaps: tuple[tuple[int, int], ...] = ()
    text: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        names = ("type", "head", "entity", "kind", "gaps", "text")
        known = [f"{name}={getattr(self, name)!r}" for name in names if getattr(self, name) not in (None, ())]
        return f"Mention({', '.join([str(self.left), str(self.right), *known])})"


@dataclass(frozen=True)
class TextMention:
    """A mention by what it says, and how: name, nominal, pronoun."""

    text: str
    kind: str | None = None

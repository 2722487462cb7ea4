"""What the items of a task have beside labels: their length, their distance, how deep they are, whether the training data has them.

A task declares its attributes once, by name and by the collection whose items have them:

    attributes = {"distance": Attribute("tokens between subject and object", {"relations[*]": distance})}
    keys = {"relations[*]": key}                  what makes an item one that a training file has: `seen`, `frequency`

`--by distance`, `results.by("distance")`, intervals and comparisons have them then. Precision is by the predicted item's value, recall by
the reference item's. Numbers are in bins that double, 0, 1, 2, 3-4, 5-8, 9-16, ...; a fraction is in the bin of the next whole number.

A value is a function of the item and of what is known about its document (`About`), whose words are those of `Task.words`. A task
whose metrics are no expressions has `portions_by` (`tasks/dependencies/words.py`).

This module loads nothing heavy: declarations import it. What counts is in `tasks/breakdowns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from tallystick.errors import MetricError
from tallystick.frozen import frozen

V = TypeVar("V")
TRAINED = {
    "seen": "whether --train has the same item",
    "frequency": "how often --train has the same item",
}
"""What follows from the keys of items."""


class OtherItems(MetricError):
    """These items do not have the attribute: a metric over them is left out."""


@frozen(eq=False)
class About:
    """What an item's value may depend on beside the item: its document, as the metric sees it, and the words of that."""

    text: Any
    """The words of the text, or a text that knows where its words are (`words`, `span`); None where nobody knows them."""
    find_document: Callable[[], Any]
    _known: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, compute: Callable[[Any], V]) -> V:
        """What follows from the document, computed once for all of its items."""
        if name not in self._known:
            self._known[name] = compute(self.document)
        found: V = self._known[name]
        return found

    @cached_property
    def document(self) -> Any:
        """The document that the item is in, on the item's side."""
        return self.find_document()

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of the text; none where nobody knows them."""
        found: Sequence[str] = getattr(self.text, "words", self.text) or ()
        return found

    def span(self, left: int, right: int) -> tuple[int, int]:
        """The words [first, end) from one offset to another, both inclusive."""
        found = self.text.span(left, right) if hasattr(self.text, "span") else None
        return (left, right + 1) if found is None else found

    def between(self, left: int, right: int) -> str | None:
        """What stands there, in lower case; None where nobody knows."""
        first, end = self.span(left, right)
        return " ".join(self.words[first:end]).lower() if 0 <= first < end <= len(self.words) else None


Value: TypeAlias = Callable[[Any, About], Any]
"""The value of an item; None where it has none."""


def needs_training(name: str) -> MetricError:
    """The error about figures that training data make."""
    return MetricError(f"figures by {name} need training data: --train FILE (in Python train=)")


def no_training(name: str) -> MetricError:
    """The error about training data that nothing looks at."""
    return MetricError(f"--train changes nothing by {name}: it is for figures by {' and '.join(TRAINED)}")


@frozen
class Attribute:
    """An attribute of items: what it is, and by the path of a collection the value of an item."""

    help: str
    of: Mapping[str, Value] = field(default_factory=dict)


# Values that several tasks share. A mention is a span, both ends inclusive, a range of words, or a text.


def mention_length(mention: Any, about: About) -> int | None:
    """How many words a mention has."""
    ends = _ends(mention)
    if ends is not None:
        first, end = about.span(*ends)
        return end - first
    text = _own_text(mention)
    return None if text is None else len(text.split())


def mention_text(mention: Any, about: About) -> str | None:
    """What a mention says, in lower case; None where nobody knows."""
    text, ends = _own_text(mention), _ends(mention)
    return text.lower() if text is not None else None if ends is None else about.between(*ends)


def mention_texts(mentions: Sequence[Any], about: About) -> list[str] | None:
    """The ways in which an entity is mentioned: any of them will do."""
    return [text for text in (mention_text(one, about) for one in mentions) if text is not None] or None


def words_between(first: Any, second: Any, about: About) -> int | None:
    """How many words lie between two mentions; 0 where they touch or overlap."""
    ends = _ends(first), _ends(second)
    if ends[0] is None or ends[1] is None:
        return None
    (_, end), (begin, _) = sorted((about.span(*ends[0]), about.span(*ends[1])))
    return max(0, begin - end)


def _own_text(mention: Any) -> str | None:
    text = mention if isinstance(mention, str) else getattr(mention, "text", None)
    return text if isinstance(text, str) else None


def _ends(mention: Any) -> tuple[int, int] | None:
    if isinstance(mention, tuple) and len(mention) == 2:
        return mention
    indices = getattr(mention, "indices", None)
    return (indices[0], indices[-1]) if indices else None

"""Labels that look the same and are not: `PER` and `PER ` are two labels, and a table by label has two rows that nobody can tell apart.

A label that only the prediction has is held against those of the reference. If they differ in white space, case or Unicode form alone, that is said;
the figures stay as they are. Only sets of labels are looked at, so that it costs nothing. The sets of parts are added up and compared once:
a label that the reference has in another part is no stranger.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain, combinations
from typing import Any

from tallystick.frozen import frozen

MOST_LABELS = 10_000
"""Of so many labels on one side nothing is said any more: they are no closed set."""

Sides = tuple[Collection[str], Collection[str]]
"""The labels of the reference, and those of the prediction."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def _spaces(label: str) -> str:
    return "".join(label.translate(_INVISIBLE).split())


def _form(label: str) -> str:
    return unicodedata.normalize("NFKC", label)


_WAYS: Mapping[str, Callable[[str], str]] = {"white space": _spaces, "case": str.casefold, "Unicode form": _form}


def _plain(label: str, ways: Iterable[str] = tuple(_WAYS)) -> str:
    for way in ways:
        label = _WAYS[way](label)
    return label


def lookalikes(reference: Collection[str], predicted: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """The labels that only the prediction has, each with one of the reference that looks the same, and in what they differ."""
    only = sorted(set(predicted) - set(reference))
    by_plain = {_plain(label): label for label in sorted(reference, reverse=True)} if only else {}
    for label in only:
        other = by_plain.get(_plain(label))
        if other is not None:
            several = chain.from_iterable(combinations(_WAYS, size) for size in range(1, len(_WAYS) + 1))
            ways = next(one for one in several if _plain(label, one) == _plain(other, one))
            yield label, other, " and ".join(ways)


@frozen
class Labels:
    """The labels of both sides of some documents, by what they are called; None where there are too many."""

    sides: Mapping[str, tuple[frozenset[str], frozenset[str]] | None] = field(default_factory=dict)

    @staticmethod
    def of(found: Mapping[str, Sides]) -> Labels:
        """The labels that were found."""
        return Labels({what: _few(frozenset(left), frozenset(right)) for what, (left, right) in found.items()})

    def as_seen(self, forms: Mapping[str, Callable[[str], str] | None]) -> Labels:
        """What is looked at of these labels; None is nothing."""
        seen = {what: form for what, form in forms.items() if form is not None}
        return Labels({what: _mapped(self.sides[what], form) for what, form in seen.items()})

    def __add__(self, other: Labels) -> Labels:
        out = dict(self.sides)
        for what, both in other.sides.items():
            known = out.setdefault(what, both)
            if known is not None and known is not both:
                out[what] = None if both is None else _few(known[0] | both[0], known[1] | both[1])
        return Labels(out)

    def lines(self) -> list[str]:
        """What to say of those that look the same."""
        return list(said_of_lookalikes({what: both for what, both in self.sides.items() if both is not None}))


def _mapped(both: Any, form: Callable[[str], str]) -> Any:
    return both if both is None or form is str else tuple(frozenset(map(form, side)) for side in both)


def _few(left: frozenset[str], right: frozenset[str]) -> tuple[frozenset[str], frozenset[str]] | None:
    return (left, right) if max(len(left), len(right)) <= MOST_LABELS else None


def said_of_lookalikes(labels: Mapping[str, Sides]) -> Iterator[str]:
    """What to say of labels that look the same, by what they are called."""
    for what, (reference, predicted) in labels.items():
        found = list(lookalikes(reference, predicted))
        if found:
            (label, other, ways), *rest = ((*_quoted(*one), one[2]) for one in found)
            named = ", ".join(f"{one} for {another}" for one, another, _ in rest[:3])
            more = f" ({len(rest):,} more like this: {named}{', ...' if len(rest) > 3 else ''})" if rest else ""
            yield (
                f"the {what} {label} occurs only in the prediction and differs from the reference's {other} only in {ways}; "
                f"it is another {what}{more}"
            )


def _quoted(label: str, other: str, ways: str) -> tuple[str, str]:
    """Two labels, in which one can see what differs."""
    return (ascii(label), ascii(other)) if "Unicode" in ways else (repr(label), repr(other))


def labels_of(pairs: Any, find: Callable[[Any], Iterable[str | None]]) -> Sides:
    """The labels that are in the documents of either side."""
    left, right = ({*chain.from_iterable(map(find, side))} - {None} for side in (pairs.reference, pairs.predicted))
    return left, right  # type: ignore[return-value]

"""What is wrong with role-filler entities, and what mends it.

Entities belong together if they share a mention, or, in one role, if words of their mentions do; the pairs that share most in all are looked
at. Mentions are compared as the metrics do, by their texts without case, articles and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tallystick.algebra.text import normalise_text
from tallystick.files.pairing import Paired
from tallystick.results.mistakes import Edit, Mistake, added, put, removed
from tallystick.structures.texts import RoleFillerEntity, TextMention
from tallystick.tasks.mending import pair_up
from tallystick.tasks.named import steps_named

Filler = RoleFillerEntity[TextMention]
EXACT = 100.0


def find_mistakes(pairs: Paired[Any], strings: str) -> Iterator[Mistake]:
    """The errors of every document."""
    steps = steps_named(strings)
    for name, reference, predicted in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        yield from _Roles(name, steps).mistakes(
            [one for one in reference.args if one.entity.mentions], tuple(predicted.args)
        )


class _Roles:
    """The roles of one document."""

    def __init__(self, name: Any, steps: tuple[str, ...]) -> None:
        self.name, self.steps = name, steps

    def mistakes(self, reference: list[Filler], predicted: tuple[Filler, ...]) -> Iterator[Mistake]:
        """What differs in entities that belong together, and those that stand alone."""
        aligned = pair_up(reference, predicted, self._likeness)
        for i, j in aligned.pairs:
            yield from self._compare(reference[i], predicted[j], j)
        met = [reference[i] for i, _ in aligned.pairs]
        for j in aligned.spurious:
            one = predicted[j]
            texts = self._texts(one)
            again = any(texts & self._texts(other) and other.role == one.role for other in met)
            kind = "empty entity" if not texts else "divided entity" if again else "spurious entity"
            yield self._mistake(kind, None, one, (("args", j), removed))
        for i in aligned.missed:
            yield self._mistake("missed entity", reference[i], None, (("args",), added(reference[i])))

    def _texts(self, one: Filler) -> set[str]:
        return {self._text(mention) for mention in one.entity.mentions}

    def _text(self, mention: TextMention) -> str:
        return normalise_text(mention.text, self.steps)

    def _likeness(self, reference: Filler, predicted: Filler) -> float:
        ours, theirs = self._texts(reference), self._texts(predicted)
        same = reference.role == predicted.role
        if same and ours == theirs:
            return EXACT
        shared = len(ours & theirs)
        words = max((_shared_words(a, b) for a in ours for b in theirs), default=0.0) if same else 0.0
        return shared + 0.5 * words + 0.25 * same if shared or words else 0.0

    def _compare(self, reference: Filler, predicted: Filler, j: int) -> Iterator[Mistake]:
        at: tuple[Any, ...] = ("args", j, "entity", "mentions")
        if reference.role != predicted.role:
            yield self._mistake("wrong role", reference, predicted, (("args", j, "role"), put(reference.role)))
        ours, theirs = self._texts(reference), self._texts(predicted)
        gold = [one for one in _unlike(reference, self._text) if self._text(one) not in theirs]
        system = [(k, one) for k, one in enumerate(predicted.entity.mentions) if self._text(one) not in ours]
        aligned = pair_up(gold, system, lambda one, other: _shared_words(self._text(one), self._text(other[1])))
        for a, b in aligned.pairs:
            edit = (*at, system[b][0]), put(gold[a])
            yield self._about("wrong words", reference.role, gold[a].text, system[b][1].text, edit)
        for k, one in (system[b] for b in aligned.spurious):
            yield self._about("wrong mention", reference.role, None, one.text, ((*at, k), removed))
        for one in (gold[a] for a in aligned.missed):
            yield self._about("missed mention", reference.role, one.text, None, (at, added(one)))

    def _mistake(self, kind: str, reference: Filler | None, predicted: Filler | None, edit: Edit) -> Mistake:
        ours, theirs = (None if one is None else _said(one) for one in (reference, predicted))
        one = reference or predicted
        assert one is not None
        return self._about(kind, one.role, ours, theirs, edit)

    def _about(self, kind: str, role: str, reference: str | None, predicted: str | None, edit: Edit) -> Mistake:
        return Mistake(kind, self.name, reference, predicted, role, label=role, edits=(edit,))


def _unlike(one: Filler, text: Any) -> list[TextMention]:
    return list({text(mention): mention for mention in one.entity.mentions}.values())


def _shared_words(one: str, other: str) -> float:
    """The share of words that two texts have in common."""
    ours, theirs = set(one.split()), set(other.split())
    return len(ours & theirs) / len(ours | theirs) if ours & theirs else 0.0


def _said(one: Filler) -> str:
    return f"{one.role}: {', '.join(mention.text for mention in one.entity.mentions) or 'nothing'}"

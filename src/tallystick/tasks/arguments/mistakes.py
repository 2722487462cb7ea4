"""What is wrong with event arguments, and what mends it.

What a later stage accepts is an error of `exact`, and its kind is the stage that forgives it: the right text somewhere else, harmless
tokens, a list, modifiers, what a judge accepts. What no stage accepts is looked for in other roles and events, and among what is left of
its own role; the rest is spurious or missed. Mended, an argument is the one of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tallystick.results.mistakes import Edit, Mistake, added, around, changed, offsets, put, removed
from tallystick.structures.texts import ArgumentDocument, EventArgument
from tallystick.tasks.arguments.metrics import ArgumentScores
from tallystick.tasks.arguments.stages import EXACT, Accepted, Block, Broken
from tallystick.tasks.mending import pair_up

FORGIVEN = {
    "same_text": "other place",
    "harmless_tokens": "harmless tokens",
    "break_aggregate": "list",
    "modifiers": "modifiers",
    "judge": "accepted by the judge",
}
"""The kind of what each stage accepts."""


def find_mistakes(scored: ArgumentScores) -> Iterator[Mistake]:
    """The errors of every document."""
    for name, blocks, gold, system in zip(
        scored.ids, scored.blocks, scored.pairs.reference, scored.pairs.predicted, strict=True
    ):
        yield from _Arguments(name, gold, system).mistakes(blocks)


class _Arguments:
    """The arguments of one document."""

    def __init__(self, name: Any, gold: ArgumentDocument, system: ArgumentDocument) -> None:
        self.name, self.gold = name, gold
        self.number = {id(one): k for k, one in enumerate(system.arguments)}
        self.events = {event.id: event for event in (*system.events, *gold.events)}
        self.arguments = system.arguments
        self.twins: dict[int, list[int]] = {}
        """The arguments that were merged into another, which go where that is mended."""

    def mistakes(self, blocks: Sequence[Block]) -> Iterator[Mistake]:
        """What stages forgive, and what none does."""
        counted = {id(one) for block in blocks for one in block.candidates}
        first: dict[Any, int] = {}
        for one in sorted(self.arguments, key=lambda one: id(one) not in counted):
            key = one.event, one.role, one.span if one.span is not None else one.text
            if id(one) in counted:
                first[key] = self.number[id(one)]
            else:
                self.twins.setdefault(first[key], []).append(self.number[id(one)])
        free: list[EventArgument] = []
        extra: list[EventArgument] = []
        for block in blocks:
            broken = {step.candidate.origin for step in block.steps if isinstance(step, Broken)}
            for origin in sorted(broken):
                yield self._broken(block, origin)
            for step in block.steps:
                whole = isinstance(step, Accepted) and not any(one.origin in broken for one in step.candidates)
                if isinstance(step, Accepted) and whole and step.stage != EXACT:
                    yield self._accepted(block, step)
            free += (block.references[k] for k in block.free)
            extra += (block.candidates[one.origin] for one in block.open if one.origin not in broken)
        yield from self._left(free, extra)

    def _broken(self, block: Block, origin: int) -> Mistake:
        """A candidate whose parts are several references."""
        steps = [step for step in block.steps if isinstance(step, Accepted)]
        parts = [step for step in steps if any(one.origin == origin for one in step.candidates)]
        return self._forgiven("list", block, {origin}, [k for step in parts for k in step.references])

    def _accepted(self, block: Block, step: Accepted) -> Mistake:
        return self._forgiven(FORGIVEN[step.stage], block, {one.origin for one in step.candidates}, step.references)

    def _forgiven(self, kind: str, block: Block, origins: set[int], references: Sequence[int]) -> Mistake:
        """The candidates go, and the references that they stand for come."""
        ours = [block.references[k] for k in references]
        theirs = [block.candidates[k] for k in sorted(origins)]
        edits: list[Edit] = [(("arguments", self.number[id(one)]), removed) for one in theirs]
        return self._mistake(kind, ours, theirs, (*edits, (("arguments",), added(*ours))))

    def _left(self, free: list[EventArgument], extra: list[EventArgument]) -> Iterator[Mistake]:
        aligned = pair_up(free, extra, self._likeness)
        for i, j in aligned.pairs:
            yield from self._compare(free[i], extra[j])
        for one in (extra[j] for j in aligned.spurious):
            yield self._mistake("spurious", [], [one], ((("arguments", self.number[id(one)]), removed),))
        for one in (free[i] for i in aligned.missed):
            yield self._mistake("missed", [one], [], ((("arguments",), added(one)),))

    def _likeness(self, gold: EventArgument, system: EventArgument) -> float:
        same = (gold.event == system.event) + (gold.role == system.role)
        if _is_same(gold, system):
            return 4.0 + same
        return 1.0 + _shared(gold, system) if same == 2 and _shared(gold, system) else 0.0

    def _compare(self, gold: EventArgument, system: EventArgument) -> Iterator[Mistake]:
        at = ("arguments", self.number[id(system)])
        if not _is_same(gold, system):
            yield self._mistake("partly right", [gold], [system], ((at, put(gold)),))
            return
        if gold.role != system.role:
            yield self._mistake("wrong role", [gold], [system], ((at, changed(role=gold.role)),))
        if gold.event != system.event:
            yield self._mistake("wrong event", [gold], [system], ((at, changed(event=gold.event)),))
        if gold.span != system.span or gold.text != system.text:
            yield self._mistake("other place", [gold], [system], ((at, changed(span=gold.span, text=gold.text)),))

    def _mistake(
        self, kind: str, gold: Sequence[EventArgument], system: Sequence[EventArgument], edits: tuple[Edit, ...]
    ) -> Mistake:
        one = (*gold, *system)[0]
        twins = (k for other in system for k in self.twins.get(self.number[id(other)], ()))
        edits = (*edits, *((("arguments", k), removed) for k in twins))
        event = self.events.get(one.event)
        where = offsets(*one.span) if one.span is not None else ""
        text = around(self.gold.tokens, one.span[0], one.span[1] + 1) if one.span is not None else ""
        ours, theirs = (self._said(side) if side else None for side in (gold, system))
        named = event.type if event is not None and event.type else one.event
        return Mistake(kind, self.name, ours, theirs, where, text, label=f"{named}: {one.role}", edits=edits)

    def _said(self, arguments: Sequence[EventArgument]) -> str:
        parts = (f"{one.text!r}" + ("" if one.span is None else f" [{_place(*one.span)}]") for one in arguments)
        return f"{arguments[0].role} {' + '.join(parts)}"


def _place(left: int, right: int) -> str:
    return str(left) if left == right else f"{left}–{right}"


def _is_same(gold: EventArgument, system: EventArgument) -> bool:
    """Whether two arguments say the same: at one place, or in the same words."""
    if gold.span is not None and gold.span == system.span:
        return True
    return bool(gold.text.strip()) and gold.text.casefold().split() == system.text.casefold().split()


def _shared(gold: EventArgument, system: EventArgument) -> float:
    """The share of tokens, or of words where one has no place, that two arguments have in common."""
    sides: list[set[Any]] = [set(one.text.casefold().split()) for one in (gold, system)]
    if gold.span is not None and system.span is not None:
        sides = [set(range(left, right + 1)) for left, right in (gold.span, system.span)]
    shared = len(sides[0] & sides[1])
    return shared / len(sides[0] | sides[1]) if shared else 0.0

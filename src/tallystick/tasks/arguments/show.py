"""Tables of the stages: gains from stage to stage, systems side by side, roles; and the tree of one document.

What is wrong with event arguments, and what mends it.

What a later stage accepts is an error of `exact`, and its kind is the stage that forgives it: the right text somewhere else, harmless
tokens, a list, modifiers, what a judge accepts. What no stage accepts is looked for in other roles and events, and among what is left of
its own role; the rest is spurious or missed. Mended, an argument is the one of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any

from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS, Explanation
from tallystick.results.mistakes import Edit, Mistake, added, around, changed, offsets, put, removed
from tallystick.show.tables import Column, Table
from tallystick.structures.texts import ArgumentDocument, EventArgument
from tallystick.tasks.arguments.metrics import ArgumentScores
from tallystick.tasks.arguments.stages import EXACT, Accepted, Block, Broken
from tallystick.tasks.mending import pair_up

if TYPE_CHECKING:
    from tallystick.results.comparison import Comparison
    from tallystick.tasks.arguments.stages import Accepted, Block, Candidate


def with_gains(table: Table) -> Table:
    """Add to the figures of the stages what each gains over the one before."""
    at = list(table.columns).index("f1")
    rows: list[list[Any]] = []
    before: float | None = None
    for row in table.rows:
        value: float | None = row[at] if not str(row[0]).endswith(" (macro)") else None
        rows.append([*row[: at + 1], _gain(before, value), *row[at + 1 :]])
        before = value
    return replace(
        table, columns=[*table.columns[: at + 1], Column("gain", "gain"), *table.columns[at + 1 :]], rows=rows
    )


def gains(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """What each stage gains over the one before."""
    out: dict[str, float | None] = {}
    before = None
    for stage, value in values.items():
        out[stage] = _gain(before, value)
        before = value
    return out


def _gain(before: float | None, value: float | None) -> float | None:
    """The gain of a figure. Equal counts may differ in the last bit, since F1 is computed in two ways: that is no gain."""
    if before is None or value is None:
        return None
    return 0.0 if isclose(before, value, rel_tol=1e-12) else value - before


def systems_table(comparison: Comparison) -> Table:
    """Stages by systems, in percent with gains, as in Tables 6 and 7 of the BEMEAE paper."""
    columns = {
        system: {stage: comparison.cells[system, stage].value for stage in comparison.metrics}
        for system in comparison.systems
    }
    won = {system: gains(values) for system, values in columns.items()}

    def cell(system: str, stage: str) -> str:
        value, gain = columns[system][stage], won[system][stage]
        if value is None:
            return "–"
        return f"{100 * value:.1f}" + ("" if gain is None else f" ({100 * gain:.1f})")

    rows = [[stage, *(cell(system, stage) for system in comparison.systems)] for stage in comparison.metrics]
    return Table(["stage", *comparison.systems], rows, title="F1 and gain over the stage before, in percent")


def roles_table(stage: str, roles: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each role, after a stage."""
    rows = [
        [role, found["precision"], found["recall"], found["f1"], int(found["tally"]["den_r"])]
        for role, found in roles.items()
    ]
    return Table(["role", "precision", "recall", "f1", "support"], rows, title=f"{stage} by role", metric=stage)


# One document


def document_tree(scored: ArgumentScores, document: Any) -> Explanation:
    """Which stage accepted which candidate, and what stayed open, by event and role."""
    from tallystick.files.pairing import place_of
    from tallystick.tasks.arguments.metrics import block_sums, document_sums

    at = place_of(document, scored.ids)
    stage, blocks = scored.stages[-1], scored.blocks[at]
    known = {event.id: event for event in scored.documents[at].events}
    roles: dict[str, list[Explanation]] = {}
    for block in blocks:
        sums = block_sums(block, stage, scored.options).tolist()
        roles.setdefault(block.event, []).append(_node(block.role, sums, _leaves(block)))
    events = []
    for key, found in roles.items():
        total = sum(one.weight for one in found)
        sums = [total, sum(one.predicted_self for one in found), total, sum(one.reference_self for one in found)]
        event = known.get(key)
        name = key if event is None else event.type or key
        events.append(_node(f"{name} {event.trigger!r}" if event is not None and event.trigger else name, sums, found))
    return _node("document", document_sums(blocks, stage, scored.options).tolist(), events)


def _node(name: str, sums: Sequence[float], children: Sequence[Explanation]) -> Explanation:
    _, den_p, num_r, den_r = sums
    return Explanation(name, MATCHED, None, None, num_r, den_r, den_p, "accepted", True, tuple(children))


def _leaves(block: Block) -> list[Explanation]:
    from tallystick.tasks.arguments.stages import Accepted

    out = [_accepted(block, step) for step in block.steps if isinstance(step, Accepted)]
    out += [Explanation("", MISSED, block.references[k].text, None, 0.0, 1.0, 0.0, "accepted") for k in block.free]
    out += [Explanation("", SPURIOUS, None, _part(block, one), 0.0, 0.0, 1.0, "accepted") for one in block.open]
    return out


def _accepted(block: Block, step: Accepted) -> Explanation:
    references = " + ".join(block.references[k].text for k in step.references)
    candidates = " + ".join(_part(block, one) for one in step.candidates)
    name = step.how if step.stage == step.how else f"{step.stage}: {step.how}" if step.stage == "judge" else step.how
    weight = float(step.weight)
    return Explanation(
        name.replace("_", " "),
        MATCHED,
        references or None,
        candidates,
        weight,
        float(len(step.references)),
        1.0,
        "accepted",
    )


def _part(block: Block, candidate: Candidate) -> str:
    """A candidate's text; a part says what it is a part of."""
    if candidate.share == 1:
        return candidate.text
    return f"{candidate.text} (of: {block.candidates[candidate.origin].text})"


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

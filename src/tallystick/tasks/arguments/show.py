"""Tables of the stages: gains from stage to stage, systems side by side, roles; and the tree of one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any

from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS, Explanation
from tallystick.show.tables import Column, Table

if TYPE_CHECKING:
    from tallystick.results.comparison import Comparison
    from tallystick.tasks.arguments.metrics import ArgumentScores
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
    return Table(["role", "precision", "recall", "f1", "support"], rows, title=f"{stage} by role")


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

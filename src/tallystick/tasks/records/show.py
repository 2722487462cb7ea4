"""Which choice applies where, and why: the decisions of a derivation, drawn as a tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.show.tables import Table

if TYPE_CHECKING:
    from tallystick.algebra.derive import Decision


def decisions_table(decisions: Sequence[Decision], title: str = "document") -> Table:
    """A row for each path: what it is, how it is compared, and who said so."""
    steps = [_steps(decision.path) for decision in decisions]
    rows = []
    for k, (path, decision) in enumerate(zip(steps, decisions, strict=True)):
        rows.append(
            [
                _branch(steps, k) + (path[-1].removeprefix(".") if path else title),
                _short(decision.type),
                decision.how,
                decision.why,
            ]
        )
    return Table(["value", "type", "compared by", "because"], rows)


def _steps(path: str) -> list[str]:
    return re.findall(r"\[\*\]|\.?[^.\[]+|\.", path)


def _branch(steps: Sequence[Sequence[str]], k: int) -> str:
    """The lines in front of a row: whether something follows on each level above."""
    mine = steps[k]
    out = []
    for depth in range(1, len(mine) + 1):
        follows = False
        for later in steps[k + 1 :]:
            if len(later) < depth or later[: depth - 1] != mine[: depth - 1]:
                break
            if len(later) == depth:
                follows = True
                break
        last = depth == len(mine)
        out.append(("├─ " if follows else "└─ ") if last else ("│  " if follows else "   "))
    return "".join(out)


def _short(name: str) -> str:
    name = re.sub(r"Annotated\[(.*?), .*\]", r"\1", name)
    name = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", name)
    name = re.sub(r"Optional\[([^\[\]]+)\]", r"\1 | None", name)
    return name if len(name) <= 40 else name[:39] + "…"

"""Tables of templates: figures by slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.reports.tables import Table, quantity
from tallystick.scoring.tally import Counts


def slot_figures(rows: Mapping[str, F64]) -> dict[str, dict[str, Any]]:
    """Precision, recall and F1 of each slot, with its sums; None where a figure is 0/0."""
    out = {}
    for slot, sums in rows.items():
        figures = {n: None if np.isnan(v) else float(v) for n, v in Counts(one=False).figures(sums).items()}
        out[slot] = {**figures, "tally": dict(zip(Counts().sums, sums.tolist(), strict=True))}
    return out


def slots_table(name: str, rows: Mapping[str, F64]) -> Table:
    """A row for each slot."""
    cells = []
    for slot, found in slot_figures(rows).items():
        t = found["tally"]
        sums = [f"{quantity(t[f'num_{side}'])} / {quantity(t[f'den_{side}'])}" for side in "pr"]
        cells.append([slot, found["precision"], found["recall"], found["f1"], *sums])
    return Table(["slot", "precision", "recall", "f1", "of predicted", "of reference"], cells, title=name)

"""What each field of a record costs: F1 if that field alone were right everywhere.

In a sum of fields every field brings its own sums, and they add up to the whole. Where field f is right everywhere, what
it earns is all that the reference has there, and so is what was predicted:

    S' = S - S_f + den_r_f        den_p' = den_p - den_p_f + den_r_f

That holds only where the fields do add up, so not below a product, a threshold or a nested normaliser.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.reports.tables import Table
from tallystick.scoring.tally import Counts

if TYPE_CHECKING:
    from tallystick.scoring.result import Result


def costs_table(result: Result) -> list[Table]:
    """A row for each field, the costliest first; nothing where the fields do not add up to the score."""
    rows = result.by_field()
    kind = result.kind
    if not isinstance(kind, Counts) or not kind.one or any(row.diagnostic for row in rows) or not rows:
        return []
    num, den_p, _, den_r = result.sums.tolist()
    if not math.isclose(math.fsum(row.tally["num_p"] for row in rows), num, rel_tol=1e-9, abs_tol=1e-6):
        return []
    now = result.figures[kind.headline]
    out: list[list[Any]] = []
    for row in rows:
        all_right = row.tally["den_r"]
        fixed = num - row.tally["num_p"] + all_right
        sums = np.array([fixed, den_p - row.tally["den_p"] + all_right, fixed, den_r])
        value = float(kind.figures(sums)[kind.headline])
        wrong = row.wrong + row.missing + row.extra
        if math.isnan(value):  # nothing is left on either side: the field was predicted where the reference has none
            out.append([row.path, wrong, None, None])
        else:
            out.append([row.path, wrong, value, None if now is None else value - now])
    out.sort(key=lambda row: -(row[3] or 0.0))
    note = "Each field is repaired alone and everywhere, so gains do not add up."
    return [Table(["field", "errors", f"{kind.headline} if fixed", "gain"], out, "What each field costs", [note])]

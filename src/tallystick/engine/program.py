"""Linear and integer programmes with 0/1 variables and rows "sum <= limit", on HiGHS.

    maximise  c.z   such that  A z <= b,   0 <= z <= 1   (z integer, if asked for)

That is all that appendix A needs. One `Programs` object holds one HiGHS object, used again for every
programme: making one costs as much as solving a small LP. Upper bounds of LPs do not rest on the solver's
tolerances. For any prices y >= 0

    c.z  <=  y.b + sum over z of max(0, c - A'y)

(weak duality; the last sum uses z <= 1), so the solver's prices are put into that formula and the bound
follows from arithmetic alone.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.frozen import frozen


@frozen
class Rows:
    """The matrix A by rows: row r has the columns `index[start[r]:start[r + 1]]` with `value`; `limit` is
    b."""

    start: I64
    index: I64
    value: F64
    limit: F64

    @staticmethod
    def of(row: I64, column: I64, value: F64, limit: F64) -> Rows:
        """From unordered (row, column, value); rows are numbered 0 ... len(limit) - 1."""
        order = np.argsort(row, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(limit)))]).astype(np.intp)
        return Rows(start, column[order], value[order], limit)

    def transposed_times(self, prices: F64, columns: int) -> F64:
        """A'y."""
        of_row = np.repeat(prices, np.diff(self.start))
        return np.bincount(self.index, self.value * of_row, columns).astype(np.float64)


@frozen
class Relaxed:
    """Values between 0 and 1, the prices of the rows, and the reduced gains c - A'y."""

    values: F64
    prices: F64
    reduced: F64


@frozen
class Whole:
    """Values 0 or 1, None if the solver found none in time; `upper` bounds the optimum."""

    values: F64 | None
    upper: float
    finished: bool


class Programs:
    """Solves one programme after the other."""

    def __init__(self) -> None:
        import highspy

        self._highspy = highspy
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
            self._highs.setOptionValue(name, value)

    def relaxed(self, gain: F64, rows: Rows, *, seconds: float | None = None) -> Relaxed | None:
        """The linear relaxation: values may be fractions. None if time ran out."""
        # Small programmes come pre-reduced: HiGHS' own presolve would cost more than it saves.
        self._run(gain, rows, None, seconds, presolve=len(gain) > 2000)
        highs = self._highs
        if highs.getModelStatus() != self._highspy.HighsModelStatus.kOptimal:
            return None
        solution = highs.getSolution()
        # HiGHS prices a maximisation with the sign of the objective; whichever sign, only y >= 0 is valid.
        prices = np.maximum(np.asarray(solution.row_dual, np.float64), 0.0)
        reduced = gain - rows.transposed_times(prices, len(gain))
        return Relaxed(np.asarray(solution.col_value, np.float64), prices, reduced)

    def whole(
        self,
        gain: F64,
        rows: Rows,
        *,
        gap: float,
        start: F64 | None = None,
        seconds: float | None = None,
    ) -> Whole:
        """The integer programme; it counts as finished when the solver's own bound is within `gap` of what it
        found."""
        self._highs.setOptionValue("mip_rel_gap", 0.0)
        self._highs.setOptionValue("mip_abs_gap", gap)
        self._run(gain, rows, start, seconds, presolve=True, integer=True)
        highs = self._highs
        info = highs.getInfo()
        has_solution = info.primal_solution_status == self._highspy.SolutionStatus.kSolutionStatusFeasible
        finished = highs.getModelStatus() == self._highspy.HighsModelStatus.kOptimal
        values = np.rint(np.asarray(highs.getSolution().col_value, np.float64)) if has_solution else None
        upper = float(info.mip_dual_bound)
        return Whole(values, upper if np.isfinite(upper) else float("inf"), finished)

    def _run(
        self,
        gain: F64,
        rows: Rows,
        start: F64 | None,
        seconds: float | None,
        *,
        presolve: bool,
        integer: bool = False,
    ) -> None:
        highs, n, m = self._highs, len(gain), len(rows.limit)
        highs.clearModel()
        # HiGHS counts its time over all runs of one object.
        until = 1e30 if seconds is None else highs.getRunTime() + max(seconds, 0.01)
        highs.setOptionValue("time_limit", until)
        highs.setOptionValue("presolve", "choose" if presolve else "off")
        kind = np.full(n, 1 if integer else 0, np.int32)
        highs.passModel(
            n, m, len(rows.index), 2, -1, 0.0, gain, np.zeros(n), np.ones(n), np.full(m, -np.inf), rows.limit,
            rows.start[:-1].astype(np.int32), rows.index.astype(np.int32), rows.value, kind,
        )  # fmt: skip
        if start is not None:
            solution = self._highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        highs.run()


def seconds_left(deadline: float | None) -> float | None:
    """What is left until the deadline (of `time.monotonic`), None where there is none."""
    return None if deadline is None else deadline - time.monotonic()

"""Linear and integer programmes with 0/1 variables and rows "sum <= limit", on HiGHS.

    maximise  c.z   such that  A z <= b,   0 <= z <= 1   (z integer, if asked for)

That is all that appendix A needs. One `Programs` object holds one HiGHS object, used again for every
programme: making one costs as much as solving a small LP. Upper bounds of LPs do not rest on the solver's
tolerances. For any prices y >= 0

    c.z  <=  y.b + sum over z of max(0, c - A'y)

(weak duality; the last sum uses z <= 1), so the solver's prices are put into that formula and the bound
follows from arithmetic alone. Large LPs are not given to HiGHS at all: `PrimalDual` comes close to their optimum by
products with the matrix, has such a bound at every step, and can be left at any moment.
"""

from __future__ import annotations

import time
from copy import copy
from functools import cache
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask
from tallystick.engine.native import compiled
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

    def keep(self, columns: Mask) -> tuple[Rows, I64]:
        """Without the other columns, whose variables are 0; and the rows that are left: those that still bound anything."""
        row = np.repeat(np.arange(len(self.limit)), np.diff(self.start))
        used = columns[self.index]
        bounding = np.zeros(len(self.limit), np.bool_)
        bounding[row[used & (self.value > 0)]] = True
        used &= bounding[row]
        left = np.flatnonzero(bounding)
        number, column = np.cumsum(bounding) - 1, np.cumsum(columns) - 1
        return Rows.of(number[row[used]], column[self.index[used]], self.value[used], self.limit[left]), left


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


DEFAULT_LIMIT = 60.0
"""Seconds for one problem where nobody has said how long it may take: pairs of graphs of 300 variables need one."""

_OWN = 0.8  # of the time that is left, what HiGHS is told where nobody can stop it: a stage may take as long again
_USED = 0.02  # of the time that is left, what an object of HiGHS may have worked before
_ELSEWHERE = 30_000  # entries of a programme that is solved in a process of its own, if it has a limit


class Programs:
    """Solves one programme after the other.

    HiGHS looks at its clock when it is between two of its stages, and some of them are long. A large programme with a limit
    therefore runs in a process of its own, which is ended when time is up.
    """

    def __init__(self) -> None:
        import highspy

        self._highspy = highspy
        self.unwatched = False  # whether this is the process of its own already
        self._highs = self._fresh()

    def _fresh(self) -> Any:
        highs: Any = self._highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
            highs.setOptionValue(name, value)
        return highs

    def relaxed(self, gain: F64, rows: Rows, *, seconds: float | None = None) -> Relaxed | None:
        """The linear relaxation: values may be fractions. None if time ran out."""
        if seconds is not None and len(rows.index) > _ELSEWHERE and not self.unwatched:
            answer: Relaxed | None = _elsewhere(seconds, "relaxed", gain, rows)
            return answer
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
        if seconds is not None and len(rows.index) > _ELSEWHERE and not self.unwatched:
            return _elsewhere(seconds, "whole", gain, rows, gap=gap, start=start) or Whole(None, float("inf"), False)
        self._run(gain, rows, start, seconds, presolve=True, gap=gap)
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
        gap: float | None = None,
    ) -> None:
        """Run it; as an integer programme if there is a gap that is small enough."""
        # Some parts of HiGHS count their time over all runs of one object, and others from the beginning of a run, so that an object
        # that has been at work for a while would be stopped too early or too late.
        if seconds is not None and self._highs.getRunTime() > _USED * seconds:
            self._highs = self._fresh()
        highs, n, m = self._highs, len(gain), len(rows.limit)
        highs.clearModel()
        until = (
            1e30 if seconds is None else highs.getRunTime() + max(seconds if self.unwatched else _OWN * seconds, 0.01)
        )
        highs.setOptionValue("time_limit", until)
        highs.setOptionValue("presolve", "choose" if presolve else "off")
        if gap is not None:
            highs.setOptionValue("mip_rel_gap", 0.0)
            highs.setOptionValue("mip_abs_gap", gap)
        kind = np.full(n, 0 if gap is None else 1, np.int32)
        highs.passModel(
            n, m, len(rows.index), 2, -1, 0.0, gain, np.zeros(n), np.ones(n), np.full(m, -np.inf), rows.limit,
            rows.start[:-1].astype(np.int32), rows.index.astype(np.int32), rows.value, kind,
        )  # fmt: skip
        if start is not None:
            solution = self._highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        highs.run()


def _elsewhere(seconds: float, method: str, *arguments: Any, **options: Any) -> Any:
    """What a method of `Programs` answers in a process of its own; None if it does not end in time."""
    import pickle
    import subprocess
    import sys

    begin = time.monotonic()
    command = [sys.executable, "-c", "from tallystick.engine.program import serve; serve()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        question = pickle.dumps((seconds, method, arguments, options))
        try:
            answer, _ = process.communicate(question, timeout=max(0.01, seconds - (time.monotonic() - begin)))
        except subprocess.TimeoutExpired:
            process.kill()
            return None
        except BaseException:  # Ctrl-C
            process.kill()
            raise
    return pickle.loads(answer) if answer and not process.returncode else None


def serve() -> None:
    """The other process: answers the one question that it is asked, a little before time is up, so that what was found by
    then is not lost."""
    import pickle
    import sys

    begin = time.monotonic()
    seconds, method, arguments, options = pickle.load(sys.stdin.buffer)
    solver = Programs()
    left = 0.8 * (seconds - (time.monotonic() - begin))
    gain, rows = arguments
    solver.unwatched = True
    answer = getattr(solver, method)(gain, rows, seconds=left, **options)
    sys.stdout.buffer.write(pickle.dumps(answer))


# Large linear programmes by first-order steps: the primal-dual hybrid gradient (Chambolle and Pock 2011), with their diagonal
# step sizes, over-relaxed, and with the balance of primal and dual steps set anew whenever it has made progress (as PDLP does).
#
#     z  <-  z + 1.8 (z' - z),      z' = clip(z + t/w (c - A'y), 0, 1),      y  <-  likewise,   y' = max(0, y + s w (A(2z' - z) - b))
#
# An LP of 32,000 variables is within 3 in 1,000 of its optimum after 300 steps, which take .2 s; the simplex method needs 8 s.

_RELAXED, _BLOCK = 1.8, 10


class PrimalDual:
    """A linear programme on its way to the optimum: `upper` bounds it, `reduced` are the gains c - A'y of that bound.

    `columns` are those of the variables that are left; `values` are theirs, and nearly keep the rows.
    """

    def __init__(self, gain: F64, rows: Rows) -> None:
        self.columns = np.arange(len(gain))
        self.gain, self.steps, self.balance = gain, 0, 1.0
        self.values, self.prices = np.zeros(len(gain)), np.zeros(len(rows.limit))
        self._lay_out(rows)

    def _lay_out(self, rows: Rows) -> None:
        self.rows = rows
        self.matrix = _Matrix(rows, len(self.gain))
        self.pace = 1.0 / np.maximum(np.bincount(rows.index, minlength=len(self.gain)), 1)
        self.price_pace = 1.0 / np.maximum(np.diff(rows.start), 1)
        self.upper, self.reduced = np.inf, self.gain
        self._begin()

    def _begin(self) -> None:
        self.origin, self.first, self.before, self.since = (self.values, self.prices), None, None, 0

    def keep(self, columns: Mask) -> None:
        """Goes on without the other variables, which are known to be 0."""
        rows, left = self.rows.keep(columns)
        self.columns, self.gain = self.columns[columns], self.gain[columns]
        self.values, self.prices = self.values[columns], self.prices[left]
        self._lay_out(rows)

    def without(self, columns: Mask) -> PrimalDual:
        """Another one that goes on without these of the first variables, and without what needs one of them."""
        mask = np.zeros(max(len(columns), int(self.columns.max(initial=-1)) + 1), np.bool_)
        mask[: len(columns)] = columns
        gone = mask[self.columns]
        # A row "sum <= one variable" whose right side is gone takes all of its left side along.
        row = np.repeat(np.arange(len(self.rows.limit)), np.diff(self.rows.start))
        empty = np.zeros(len(self.rows.limit), np.bool_)
        empty[row[(self.rows.value < 0) & gone[self.rows.index]]] = True
        gone[self.rows.index[empty[row]]] = True
        other = copy(self)
        other.keep(~gone)
        return other

    def run(self, blocks: int, deadline: float | None = None) -> None:
        """So many blocks of steps, or until the deadline."""
        for _ in range(blocks):
            if deadline is not None and time.monotonic() > deadline:
                break
            self._block()

    def _block(self) -> None:
        """Some steps, the bound after them, and a new balance if they have come nearer to a fixed point."""
        gain, limit, matrix = self.gain, self.rows.limit, self.matrix
        pace, price_pace = self.pace / self.balance, self.price_pace * self.balance
        values, prices = self.values, self.prices
        state = values, prices, matrix.transposed_times(prices)
        fixed = gain, limit, pace, price_pace
        native = compiled()
        made = None if native is None else native.hybrid_steps(_BLOCK, matrix.by_rows, fixed, _RELAXED, state)
        reached, paid, now, by, price_by, values, prices = made or _steps(matrix, fixed, state)
        reduced = gain - now
        upper = float((paid * limit).sum() + np.maximum(reduced, 0.0).sum())
        if upper < self.upper:
            self.upper, self.reduced = upper, reduced
        self.steps, self.since = self.steps + _BLOCK, self.since + _BLOCK
        residual = float((by * by / pace).sum() + (price_by * price_by / price_pace).sum()) ** 0.5
        nearer = self.first is not None and (
            residual <= 0.2 * self.first
            or (residual <= 0.8 * self.first and self.before is not None and residual > self.before)
            or self.since >= max(40, 0.36 * self.steps)
        )
        self.first, self.before = residual if self.first is None else self.first, residual
        if nearer:
            moved = float(((reached - self.origin[0]) ** 2).sum()), float(((paid - self.origin[1]) ** 2).sum())
            if min(moved) > 1e-20:
                self.balance = (self.balance * (moved[1] / moved[0]) ** 0.5) ** 0.5
            self.values, self.prices = reached, paid
            self._begin()
        else:
            self.values, self.prices = values, prices


def _steps(matrix: _Matrix, fixed: tuple[F64, F64, F64, F64], state: tuple[F64, F64, F64]) -> tuple[F64, ...]:
    """A block of steps: what the last one came to, by how much it moved, and the state behind it."""
    (gain, limit, pace, price_pace), (values, prices, drawn) = fixed, state
    for _ in range(_BLOCK):
        reached = np.clip(values + pace * (gain - drawn), 0.0, 1.0)
        paid = np.maximum(prices + price_pace * (matrix.times(2.0 * reached - values) - limit), 0.0)
        now = matrix.transposed_times(paid)
        by, price_by = reached - values, paid - prices
        values, prices = values + _RELAXED * by, prices + _RELAXED * price_by
        drawn = drawn + _RELAXED * (now - drawn)
    return reached, paid, now, by, price_by, values, prices


class _Matrix:
    """Products with A and A', by SciPy's loops in C where they can be had without the rest of SciPy."""

    def __init__(self, rows: Rows, columns: int) -> None:
        self.shape = len(rows.limit), columns
        self.start, self.index = rows.start.astype(np.int32), rows.index.astype(np.int32)
        self.value = np.ascontiguousarray(rows.value, np.float64)
        self.by_rows = self.start, self.index, self.value
        self.tools = _sparse_tools()
        self.row = np.repeat(np.arange(0 if self.tools else len(rows.limit)), 0 if self.tools else np.diff(rows.start))

    def times(self, values: F64) -> F64:
        height, width = self.shape
        if self.tools is None:
            return np.bincount(self.row, self.value * values[self.index], height).astype(np.float64)
        out = np.zeros(height)
        self.tools.csr_matvec(height, width, self.start, self.index, self.value, values, out)
        return out

    def transposed_times(self, prices: F64) -> F64:
        height, width = self.shape
        if self.tools is None:
            return np.bincount(self.index, self.value * prices[self.row], width).astype(np.float64)
        out = np.zeros(width)
        self.tools.csc_matvec(width, height, self.start, self.index, self.value, prices, out)
        return out


@cache
def _sparse_tools() -> Any:
    """SciPy's extension for sparse matrices: half a millisecond to load by itself, a tenth of a second with `scipy.sparse`."""
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
    from importlib.util import find_spec, module_from_spec, spec_from_loader
    from pathlib import Path

    scipy = find_spec("scipy")
    name, origin = "scipy.sparse._sparsetools", scipy.origin if scipy else None
    for suffix in EXTENSION_SUFFIXES if origin else ():
        file = Path(origin or "").parent / "sparse" / f"_sparsetools{suffix}"
        spec = spec_from_loader(name, ExtensionFileLoader(name, str(file))) if file.exists() else None
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            if hasattr(module, "csr_matvec") and hasattr(module, "csc_matvec"):
                return module
    return None


def seconds_left(deadline: float | None) -> float | None:
    """What is left until the deadline (of `time.monotonic`), None where there is none."""
    return None if deadline is None else deadline - time.monotonic()

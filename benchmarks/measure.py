"""Measure one contender in a process of its own, and print several side by side.

A contender is named by two strings "module:function", so that it can run in a fresh interpreter:

    make(**arguments) -> data        the corpus; never part of any figure but the process's
    target(*data) -> score           set-up: imports the library, builds the metric
    score() -> {"f1": ...}           scoring: the measured part

All times are CPU seconds (`time.process_time`: every thread, user and system), because the machine is
shared and wall time says how busy the neighbours were.

    scoring   the call of `score`. Start-up does not count, but a module that a library loads lazily
              while it scores does.
    set-up    start-up of the library: its imports, and the building of the metric.
    process   everything: the interpreter, making the corpus, set-up, scoring, from `getrusage`.

A contender that breaks, figures that should be equal and are not, and a claim that is missed make
`python -m benchmarks` fail. A claim is one line in a benchmark, printed as soon as it is stated:

    claim("smallest `score records`", run.cpu, at_most=0.25)
    claim("6 items against 20,000", run.cpu, against={"SciPy alone": floor.cpu}, times=2)
    claim("6 items against 20,000, memory", run.peak, "MB", at_most=200)

`launch` measures a whole command the same way. Tables (`report`, `show`) and claims are kept in `KEPT`,
from which the page on speed is written.
"""

import gc
import importlib
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The libraries that may be missing without anything being wrong.
PEERS = frozenset(
    {"apted", "metametric", "stickler", "anls_star", "autoevals", "deepdiff", "seqeval", "nervaluate", "udtools"}
)
ALIKE = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
"""What makes runs alike: sets of strings iterate in one order, and NumPy's BLAS starts no threads. These wait in a busy loop at first,
30 ms and more of CPU time in whoever happens to be measured then, us or a peer."""
FEW = 7
"""So many figures stand in a line."""
START_UP = (
    "CPU seconds. 'scoring' leaves start-up out (modules loaded lazily while scoring count); "
    "'set-up' is imports and building the metric; 'process' is everything, the corpus included."
)


@dataclass(frozen=True)
class Claim:
    """A figure that was measured, what it was measured against, and what is promised about it."""

    what: str
    value: float
    unit: str = "s"
    at_most: float | None = None
    at_least: float | None = None
    against: Mapping[str, float] = field(default_factory=dict)
    times: float | None = None
    """The value is at most so many times the first one of `against`."""

    @property
    def promise(self) -> str:
        limits = [f"at most {number(self.at_most)} {self.unit}"] if self.at_most is not None else []
        limits += [f"at least {number(self.at_least)} {self.unit}"] if self.at_least is not None else []
        limits += [f"at most {self.times:g} times {next(iter(self.against))}"] if self.times is not None else []
        return ", ".join(limits)

    @property
    def compared(self) -> str:
        return ", ".join(
            f"{name} {number(other)} {self.unit}" + (f" ({self.value / other:.2f} times)" if other else "")
            for name, other in self.against.items()
        )

    @property
    def held(self) -> bool:
        """Whether it is kept; a value that is no number keeps nothing."""
        return (
            not (math.isnan(self.value) and self.promise)
            and not (self.at_most is not None and self.value > self.at_most)
            and not (self.at_least is not None and self.value < self.at_least)
            and not (self.times is not None and not self.value <= self.times * next(iter(self.against.values())))
        )

    def __str__(self) -> str:
        verdict = f"; {self.promise}: {'held' if self.held else 'MISSED'}" if self.promise else ""
        return (
            f"{self.what}: {number(self.value)} {self.unit}" + (f"; {self.compared}" if self.against else "") + verdict
        )


@dataclass
class Kept:
    """What the benchmarks of this run printed."""

    tables: list[tuple[str, list[list[str]]]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


KEPT = Kept()


def claim(
    what: str,
    value: float,
    unit: str = "s",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    against: Mapping[str, float] | None = None,
    times: float | None = None,
) -> bool:
    """State a figure and what is promised about it (nothing, where no limit is given); print it and keep it. True if held."""
    one = Claim(what, value, unit, at_most, at_least, dict(against or {}), times)
    KEPT.claims.append(one)
    print(f"  {one}", flush=True)
    return one.held


def number(value: float) -> str:
    """Three figures are enough."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Run:
    """A process: its CPU seconds, its peak memory in MB (its children's included), what it printed, and what went wrong."""

    cpu: float
    wall: float
    peak: float
    output: str
    problem: str = ""


# The peak of a process that was forked, or spawned, begins at its parent's size and survives `exec`. So a small interpreter
# stands between: what it starts begins at 10 MB, which is less than any Python program has.
LAUNCHER = """
import json, os, resource, sys, time
answer, patience, began = int(sys.argv[1]), int(sys.argv[2]), time.perf_counter()
child = os.fork()
if not child:
    os.close(answer)
    resource.setrlimit(resource.RLIMIT_CPU, (patience, patience))
    os.execv(sys.argv[3], sys.argv[3:])
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - began
os.write(answer, json.dumps([usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss, os.waitstatus_to_exitcode(status)]).encode())
"""


def launch(arguments: Sequence[str], patience: int = 900, repeat: int = 1, codes: Sequence[int] = (0,)) -> Run:
    """Run Python with these arguments for at most so many CPU seconds, `repeat` times, and return the run of least CPU time.

    A run ends well with one of the exit `codes`.
    """
    runs = [_launch_once(arguments, patience, codes) for _ in range(repeat)]
    return min(runs, key=lambda run: (bool(run.problem), run.cpu))


def _launch_once(arguments: Sequence[str], patience: int, codes: Sequence[int]) -> Run:
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, **ALIKE, "PYTHONPATH": path}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as problems, open(reading, "rb") as answer:
        launcher = [sys.executable, "-S", "-E", "-c", LAUNCHER, str(writing), str(patience), sys.executable, *arguments]
        process = subprocess.Popen(
            launcher, stdout=output, stderr=problems, cwd=ROOT, env=environment, pass_fds=[writing]
        )
        os.close(writing)
        cpu, wall, peak, code = json.loads(answer.read())
        process.wait()
        output.seek(0)
        problems.seek(0)
        said = problems.read().decode("utf-8", "replace").strip().splitlines() or [f"exit code {code}"]
        text = output.read().decode("utf-8", "replace")
    problem = f"not finished after {patience} CPU s" if cpu >= patience - 1 else "" if code in codes else said[-1]
    return Run(cpu, wall, peak * (1 if sys.platform == "darwin" else 1024) / 1e6, text, problem)


@dataclass(frozen=True)
class Measurement:
    """What one process reported; where `problem` is set, the contender did not finish."""

    scoring: float = math.nan
    setup: float = math.nan
    process: float = math.nan
    peak: int = 0
    peak_before: int = 0
    value: Mapping[str, float] | None = None
    problem: str = ""
    missing: bool = False


@dataclass(frozen=True)
class Row:
    """A contender in a table: what it did on how many units, and how its figures have to compare.

    `checked` names the figures that must equal those of `truth`; a contender that computes something
    else has none, and its remark says what it computes.
    """

    name: str
    units: int
    measurement: Measurement
    truth: Mapping[str, float] | None = None
    checked: tuple[str, ...] = ()
    remark: str = ""

    @property
    def per_unit(self) -> float:
        return self.measurement.scoring / self.units

    @property
    def agreement(self) -> str:
        """'-' if there is nothing to compare, 'equal', or the first figure that differs."""
        value = self.measurement.value
        if value is None or self.truth is None or not self.checked:
            return "-"
        for figure in self.checked:
            found, expected = value.get(figure, math.nan), self.truth[figure]
            if not math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12):
                return f"DIFFERS: {figure} {found!r}, expected {expected!r}"
        return "equal"

    @property
    def failed(self) -> bool:
        broken = bool(self.measurement.problem) and not self.measurement.missing
        return broken or self.agreement.startswith("DIFFERS")


def measure(target: str, make: str, *, repeat: int = 1, timeout: float = 1800, **arguments: Any) -> Measurement:
    """Run a contender in `repeat` fresh processes and return the one that scored in the least CPU time."""
    runs = [_measure_once(target, make, timeout, arguments) for _ in range(repeat)]
    return min(runs, key=lambda run: math.inf if run.problem else run.scoring)


def _measure_once(target: str, make: str, timeout: float, arguments: Mapping[str, Any]) -> Measurement:
    job = json.dumps({"target": target, "make": make, "arguments": arguments})
    command = [sys.executable, "-c", "from benchmarks.measure import serve; serve()", job]
    environment = {**os.environ, **ALIKE, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return Measurement(problem=f"not finished after {timeout:.0f} s")
    if done.returncode or not done.stdout:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}, and nothing printed"])[-1]
        return Measurement(problem=last)
    return Measurement(**json.loads(done.stdout))


def serve() -> None:
    """The child's side: make, set up, score, and write the measurement as JSON to standard output."""
    # A library that prints must not spoil the answer: from here on, its standard output is stderr.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    job = json.loads(sys.argv[1])
    try:
        measurement = _score(_find(job["target"]), _find(job["make"]), job["arguments"])
    except ModuleNotFoundError as error:
        measurement = Measurement(problem=str(error), missing=error.name in PEERS)
    answer.write(json.dumps(asdict(measurement)))
    answer.close()


def _score(target: Callable[..., Any], make: Callable[..., Any], arguments: Mapping[str, Any]) -> Measurement:
    data = make(**arguments)
    gc.collect()
    began = time.process_time()
    score = target(*data)
    ready = time.process_time()
    before = _peak_bytes()
    start = time.process_time()
    value = score()
    end = time.process_time()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Measurement(
        scoring=end - start,
        setup=ready - began,
        process=usage.ru_utime + usage.ru_stime,
        peak=_peak_bytes(),
        peak_before=before,
        value={name: float(figure) for name, figure in value.items()},
    )


def _find(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _peak_bytes() -> int:
    # ru_maxrss survives exec and so may be the parent's; VmHWM belongs to this program alone.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def report(title: str, rows: Sequence[Row], unit: str, bases: Sequence[str]) -> bool:
    """Print a table of contenders; True if nothing failed.

    For each of the rows named in `bases` a column says how many times its time others take for a unit.
    """
    finished = [row for row in rows if not row.measurement.problem and row.measurement.scoring > 0]
    ratios = [row for name in bases for row in finished if row.name == name]
    head = ["", f"{unit}s", "scoring", f"µs/{unit}", *(f"x {row.name}" for row in ratios)]
    table = [[*head, "set-up", "process", "peak MB", "before", "figures"]]
    for row in rows:
        run = row.measurement
        line = [row.name, f"{row.units:,}"]
        if run.problem:
            line += ["-"] * (len(table[0]) - 3) + [run.problem]
        else:
            line += [f"{run.scoring:.3f}", f"{1e6 * row.per_unit:,.2f}"]
            line += [f"{row.per_unit / base.per_unit:,.2f}" for base in ratios]
            line += [f"{run.setup:.2f}", f"{run.process:.2f}"]
            line += [f"{run.peak / 1e6:,.0f}", f"{run.peak_before / 1e6:,.0f}"]
            line += ["  ".join(_figures(run)[:FEW])]
        table.append(line)
    show(f"{title}\n{START_UP}", table)
    for row in rows:
        notes = [note for note in (row.remark, _explain(row)) if note]
        if notes:
            print(f"  {row.name}: {'; '.join(notes)}")
        for first in range(FEW, len(_figures(row.measurement)), FEW):
            print(f"    {'  '.join(_figures(row.measurement)[first : first + FEW])}")
    sys.stdout.flush()
    return not any(row.failed for row in rows)


def show(title: str, table: Sequence[Sequence[str]]) -> None:
    """Print a table whose first line is its head, and keep it: its last column is the figures, which the page leaves out."""
    KEPT.tables.append((title, [list(line) for line in table]))
    print(f"\n{title}\n{draw(table)}", flush=True)


def _figures(run: Measurement) -> list[str]:
    return [f"{name} {figure:.6f}" for name, figure in (run.value or {}).items()]


def _explain(row: Row) -> str:
    if row.agreement == "-":
        return ""
    if row.agreement == "equal":
        checked = ", ".join(row.checked) if len(row.checked) <= FEW else f"all {len(row.checked)} figures"
        return f"{checked} equal those that they are held against, on the same {row.units:,}"
    return row.agreement


def draw(table: Sequence[Sequence[str]]) -> str:
    """Align a table of strings: the first and the last column to the left, the others to the right."""
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    last = len(widths) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, last) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    )


def compare(measurement: Measurement, truth: Measurement, name: str, units: int, **row: Any) -> Row:
    """A row whose figures are held against those of another measurement on the same data."""
    return replace(Row(name, units, measurement, **row), truth=truth.value)

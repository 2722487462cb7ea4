"""Starting up is part of being fast: what is heavy is not imported until it is used."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from benchmarks import startup
from running import run_python

HEAVY = {"scipy", "pandas", "pyarrow", "rich", "pydantic", "lap", "rapidfuzz", "highspy"}


TASKS = [
    [command, task, "--help"]
    for command in ("score", "explain")
    for task in ("relations", "events", "arguments", "roles", "nary")
]
JUDGE = [
    ["judge", *command, "--help"] for command in ([], ["export"], ["import"], ["serve"], ["terminal"], ["agreement"])
]


AFTER = "import sys; print(*sys.modules, file=sys.__stderr__)"
COMMAND = f"""
import contextlib, sys
with contextlib.suppress(SystemExit):
    from tallystick.cli.main import tallystick
    tallystick(prog_name="tallystick")
{AFTER}
"""


def loaded_by(code, *arguments):
    """All modules that are loaded at the end, whoever imported them and how, but those that NumPy before 2 always loads."""
    return _modules(code, *arguments) - (_modules(f"import numpy; {AFTER}") if numpy_is_old() else set())


def numpy_is_old():
    from importlib.metadata import version

    return int(version("numpy").partition(".")[0]) < 2


@cache
def _modules(code, *arguments):
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(run.stderr.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_by(f"import tallystick; {AFTER}") & (HEAVY | {"numpy", "click"})


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["score", "--help"], ["score", "amr", "--help"], ["score", "spans", "--help"], *TASKS, *JUDGE],
)
def test_help_loads_nothing_heavy(arguments):
    assert not loaded_by(COMMAND, *arguments) & (HEAVY | {"numpy"})


def test_scoring_exact_records_needs_no_scipy():
    code = f"import tallystick as ts; ts.evaluate(ts.derive(list[int]), [[1, 2]], [[1]]); {AFTER}"
    assert not loaded_by(code) & (HEAVY - {"lap"})


NEEDED = {"amr": {"lap"}, "arguments": {"importlib.resources", "hashlib", "sqlite3", "tempfile", "tallystick.judging"}}
"""What a task does need of it: an assignment; judgements."""


@pytest.mark.parametrize("task", startup.FILES)
def test_the_smallest_command_of_a_task_loads_nothing_that_it_does_not_need(task, tmp_path):
    loaded = loaded_by(COMMAND, "score", task, *startup.shorten(task, tmp_path))
    unneeded = HEAVY | {
        "numpy.ma", "numpy.random", "jinja2", "yaml", "json_repair", "dateutil", "multiprocessing", "concurrent.futures", "asyncio",
        "importlib.resources", "hashlib", "sqlite3", "tempfile", "html", "csv", "tallystick.judging", "tallystick.laboratory",
        "tallystick.results.resampling", "tallystick.results.report", "tallystick.run",
    }  # fmt: skip
    assert f"tallystick.tasks.{task}.task" in loaded
    assert sorted(loaded & unneeded - NEEDED.get(task, set())) == []


def test_frozen_classes_are_cheap_to_define():
    """`dataclass(frozen=True)` compiles five methods, 0.4 ms for each class that a command loads."""
    source = Path(startup.ROOT, "src", "tallystick")
    found = [
        f"{file.relative_to(source)}:{text[: one.start()].count(chr(10)) + 1}"
        for file in sorted(source.rglob("*.py"))
        for text in [file.read_text(encoding="utf-8")]
        for one in re.finditer(r"^@dataclass\(frozen=True(, eq=False)?\)", text, re.MULTILINE)
    ]
    assert [one for one in found if not one.startswith(("errors.py", "frozen.py"))] == [], (
        "use tallystick.frozen.frozen"
    )


def test_scoring_coreference_loads_nothing_heavy(tmp_path):
    """Most evaluations are small: what explanations, assignments, pages or other formats need stays out."""
    file = tmp_path / "file"
    file.write_text("#begin document (a)\nw\t(0)\nw\t(0)\n#end document\n")
    loaded = loaded_by(COMMAND, "score", "coreference", str(file), str(file))
    assert "tallystick.tasks.coreference.metrics" in loaded
    heavy = HEAVY | {
        "msgspec",
        "hashlib",
        "tallystick.structures",
        "tallystick.algebra.derive",
        "tallystick.algebra.parse",
        "tallystick.results.explanation",
        "tallystick.algebra.staged",
        "tallystick.tasks.coreference.corefud",
        "tallystick.tasks.coreference.jsonl",
        "tallystick.tasks.coreference.mentions",
        "tallystick.tasks.equations",
    }
    assert not loaded & heavy


def test_garbage_is_looked_for_more_seldom_only_as_long_as_there_is_hardly_any():
    program = """
import gc, weakref
from tallystick.cli import _look_for_garbage_seldom

class Thing: pass

def circle():
    one = Thing()
    one.itself = one
    return weakref.ref(one)

gc.collect()
_look_for_garbage_seldom(1000)
kept = [[] for _ in range(1500)]
print(gc.get_threshold()[0])
circles = [circle() for _ in range(20_000)]
print(gc.get_threshold()[0], sum(one() is not None for one in circles) < 10_000)
"""
    assert run_python(program).split() == ["8000", "8000", "True"]

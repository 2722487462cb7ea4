"""Starting up is part of being fast: what is heavy is not imported until it is used."""

import subprocess
import sys

import pytest

HEAVY = {"scipy", "pandas", "pyarrow", "rich", "pydantic", "lap", "rapidfuzz", "highspy"}


TASKS = [
    [command, task, "--help"]
    for command in ("score", "explain")
    for task in ("relations", "events", "arguments", "roles", "nary")
]
JUDGE = [
    ["judge", *command, "--help"] for command in ([], ["export"], ["import"], ["serve"], ["terminal"], ["agreement"])
]


def imported(*arguments):
    run = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[1].strip().split(".")[0] for line in run.stderr.splitlines() if "|" in line}


def test_importing_the_package_loads_nothing_heavy():
    assert not imported("-c", "import tallystick") & (HEAVY | {"numpy", "click"})


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["score", "--help"], ["score", "amr", "--help"], ["score", "spans", "--help"], *TASKS, *JUDGE],
)
def test_help_loads_nothing_heavy(arguments):
    assert not imported("-m", "tallystick", *arguments) & (HEAVY | {"numpy"})


def test_scoring_exact_records_needs_no_scipy():
    code = "import tallystick as ts; ts.evaluate(ts.derive(list[int]), [[1, 2]], [[1]])"
    assert not imported("-c", code) & (HEAVY - {"lap"})


def test_scoring_coreference_loads_nothing_heavy(tmp_path):
    """Most evaluations are small: what explanations, assignments, pages or other formats need stays out."""
    file = tmp_path / "file"
    file.write_text("#begin document (a)\nw\t(0)\nw\t(0)\n#end document\n")
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tallystick", "score", "coreference", file, file],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {line.rsplit("|", 1)[1].strip() for line in run.stderr.splitlines() if "|" in line}
    assert "tallystick.tasks.coreference.mentions" in loaded
    heavy = HEAVY | {
        "msgspec",
        "hashlib",
        "tallystick.structures",
        "tallystick.algebra.derive",
        "tallystick.algebra.parse",
        "tallystick.results.explanation",
        "tallystick.tasks.coreference.corefud",
        "tallystick.tasks.equations",
    }
    assert not loaded & heavy

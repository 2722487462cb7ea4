"""Starting up is part of being fast: what is heavy is not imported until it is used."""

import subprocess
import sys

import pytest

HEAVY = {"scipy", "pandas", "pyarrow", "rich", "pydantic", "lap", "rapidfuzz", "highspy"}


def imported(*arguments):
    run = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[1].strip().split(".")[0] for line in run.stderr.splitlines() if "|" in line}


def test_importing_the_package_loads_nothing_heavy():
    assert not imported("-c", "import tallystick") & (HEAVY | {"numpy", "click"})


@pytest.mark.parametrize(
    "arguments", [["--help"], ["score", "--help"], ["score", "records", "--help"], ["score", "amr", "--help"]]
)
def test_help_loads_nothing_heavy(arguments):
    assert not imported("-m", "tallystick", *arguments) & (HEAVY | {"numpy"})


def test_scoring_exact_records_needs_no_scipy():
    code = "import tallystick as ts; ts.evaluate(ts.derive(list[int]), [[1, 2]], [[1]])"
    assert not imported("-c", code) & (HEAVY - {"lap"})

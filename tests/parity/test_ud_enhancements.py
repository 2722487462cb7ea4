"""udtools 0.2.9 on graphs without some enhancements: edges of the reference, of the prediction, and shared ones, as it counts them. Where a
word has an edge twice, udtools counts the pairs of equal edges (17 of 15); here edges are matched, so that only the totals are the same."""

from pathlib import Path

import pytest

import tallystick as ts
from running import run

UD = Path(__file__).parent / "ud"
FILES = [str(UD / f"enhancements.{side}.conllu") for side in ("gold", "system")]
UDTOOLS = {
    "0": ((15, 15, 13), (15, 15, 15)), "1": ((15, 15, 13), (15, 15, 17)), "2": ((13, 13, 11), (13, 13, 13)),
    "3": ((15, 15, 13), (15, 15, 15)), "4": ((14, 14, 13), (14, 14, 14)), "5": ((15, 15, 15), (15, 15, 19)),
    "6": ((15, 15, 14), (15, 15, 15)), "12": ((13, 13, 11), (13, 13, 15)), "46": ((14, 14, 14), (14, 14, 14)),
    "123456": ((12, 12, 16), (12, 12, 16)),
}  # fmt: skip
REPEATED = ("1", "5", "12", "123456")


@pytest.mark.parametrize("digits", UDTOOLS)
def test_edges_are_counted_as_udtools_does(digits):
    results = ts.dependencies(*FILES, ["elas", "eulas"], enhancements=digits)
    for name, (gold, system, right) in zip(("elas", "eulas"), UDTOOLS[digits], strict=True):
        tally = results[name].as_dict()["tally"]
        assert (tally["den_r"], tally["den_p"]) == (gold, system)
        assert tally["num_p"] == right or digits in REPEATED
        assert (f"enhancements={digits}" in results[name].signature) == (digits != "0")


def test_digits_are_checked():
    assert "digits from 1 to 6" in run("score", "dependencies", *FILES, "--enhancements", "7", code=2).stderr


@pytest.mark.parametrize("rows", ["1.1\tx\tx\tX\t_\t_\t_\t_\t0:root\t_\n", ""])
def test_empty_nodes_can_be_an_error(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deps = "0:root" if rows else "0:root|1.1:obj"
    Path("x.conllu").write_text(f"1\ta\ta\tX\t_\t_\t0\troot\t{deps}\t_\n{rows}\n")
    assert run("score", "dependencies", "x.conllu", "x.conllu").returncode == 0
    done = run("score", "dependencies", "x.conllu", "x.conllu", "--no-empty-nodes", code=2)
    assert f"x.conllu:{2 if rows else 1}:" in done.stderr
    assert "empty node" in done.stderr

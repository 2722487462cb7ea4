"""Functions and similarities of one's own, in an expression on the command line."""

import json
import subprocess
import sys

import pytest

MODULE = """
from dataclasses import dataclass
from tallystick.similarity.exact import exact
from tallystick.similarity.through import Through
from tallystick.similarity.node import Similarity
from tallystick.columns.codes import leaf_values
from tallystick.columns.data import Objects


def near(x, y):
    return 1.0 if abs(x - y) <= 1 else 0.0


@dataclass(frozen=True, repr=False)
class Modulo(Through):
    inner: Similarity
    by: int
    name = "modulo"

    def _encode(self, reference, predicted, scope):
        left, right = (Objects([v % self.by for v in leaf_values(side, scope)]) for side in (reference, predicted))
        return self.inner.encode(left, right, scope)
"""


@pytest.mark.parametrize("more", [[], ["--jobs", "2", "--shard", "20B"]])
@pytest.mark.parametrize(
    ("similarity", "expected"),
    [("function(own:near)", 0.5), ("own:Modulo(exact, 10)", 0.75), ("own:Modulo(exact, by=3)", 0.25)],
)
def test_they_are_found_in_the_current_folder(tmp_path, similarity, expected, more):
    (tmp_path / "own.py").write_text(MODULE)
    for name, values in (("gold", [1, 2, 3, 4]), ("system", [11, 12, 4, 4])):
        lines = "".join(json.dumps({"id": f"d{k}", "n": value}) + "\n" for k, value in enumerate(values))
        (tmp_path / f"{name}.jsonl").write_text(lines)
    metric = f"f1(each(n={similarity}))"
    command = ["-I", "-m", "tallystick", "score", "records", "gold.jsonl", "system.jsonl", "--metric", metric]
    done = subprocess.run(
        [sys.executable, *command, "--format", "json", *more], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["metrics"]["records"]
    assert found["f1"] == expected
    assert found["signature"].startswith(metric.replace("by=", ""))


def test_a_signature_can_be_parsed_again(tmp_path, monkeypatch):
    import tallystick as ts

    (tmp_path / "own_parsed.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    metric = ts.parse("f1(match(own_parsed:Modulo(exact, 10)))")
    assert ts.parse(str(metric)) == metric
    assert ts.evaluate(metric, [[1, 2]], [[11, 3]]).f1 == 0.5

"""Functions and similarities of one's own, in an expression on the command line."""

import json

import pytest

from running import run

MODULE = """
from dataclasses import dataclass
from tallystick.algebra.exact import exact
from tallystick.algebra.functions import Through
from tallystick.algebra.node import Similarity
from tallystick.engine.data import Objects, leaf_values


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
    command = ["score", "records", "gold.jsonl", "system.jsonl", "--metric", metric, "--allow-code", "--format", "json"]
    done = run(*command, *more, cwd=tmp_path)
    found = json.loads(done.stdout)["metrics"]["records"]
    assert found["f1"] == expected
    assert found["signature"].startswith(metric.replace("by=", ""))


def test_a_signature_can_be_parsed_again(tmp_path, monkeypatch):
    import tallystick as ts

    (tmp_path / "own_parsed.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    metric = ts.parse("f1(match(own_parsed:Modulo(exact, 10)))", functions=True)
    assert ts.parse(str(metric), functions=True) == metric
    assert ts.evaluate(metric, [[1, 2]], [[11, 3]]).f1 == 0.5


@pytest.mark.parametrize("more", [[], ["--jobs", "2", "--shard", "20B"]])
@pytest.mark.parametrize(
    ("similarity", "said"),
    [
        ("function(own:bad)", "own:bad(1, 11) failed: ZeroDivisionError: division by zero"),
        ("function(own:bad, reflexive=False)", "own:bad("),
        ("function(own:none)", "own:none(1, 11) failed: TypeError"),
        ("via(own:map, exact)", "own:map(1) failed: IndexError: no such thing"),
    ],
)
def test_a_function_that_raises_is_named_with_what_it_was_called_with(tmp_path, similarity, said, more):
    (tmp_path / "own.py").write_text(
        "def bad(x, y):\n    return 1 / 0\n\n\n"
        "def none(x, y):\n    return None\n\n\n"
        "def map(x):\n    raise IndexError('no such thing')\n"
    )
    for name, values in (("gold", [1, 2]), ("system", [11, 12])):
        lines = "".join(json.dumps({"id": f"d{k}", "n": value}) + "\n" for k, value in enumerate(values))
        (tmp_path / f"{name}.jsonl").write_text(lines)
    command = [
        "score",
        "records",
        "gold.jsonl",
        "system.jsonl",
        "--metric",
        f"f1(each(n={similarity}))",
        "--allow-code",
    ]
    done = run(*command, *more, code=2, cwd=tmp_path)
    assert said in done.stderr
    assert "own.py:" in done.stderr or "none" in similarity  # where it stopped
    assert "Internal" not in done.stderr
    assert "Traceback" not in done.stderr


def test_in_python_the_functions_own_error_is_the_cause():
    from tallystick import evaluate, f1, function, match
    from tallystick.errors import MetricError

    with pytest.raises(MetricError, match=r"failed: ZeroDivisionError") as caught:
        evaluate(f1(match(function(lambda x, y: 1 / 0))), [["a"]], [["b"]])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

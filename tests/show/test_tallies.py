"""The tallies of documents as a table: what is written is what the result holds, and slices add up."""

import csv
import json
import os

import numpy as np
import pytest

import tallystick as ts
from running import run
from tallystick.errors import InputError, MetricError
from tallystick.results.tables import tallies, write_tallies

METRIC = ts.f1(ts.match(ts.exact))
REFERENCE = {"a": ["x", "y"], "b": [], "c": ["z"]}
PREDICTED = {"a": ["x"], "b": [], "c": ["q"]}


@pytest.fixture
def result():
    return ts.evaluate(METRIC, REFERENCE, PREDICTED)


def test_a_row_for_each_document(result):
    found = tallies({"score": result})
    assert found["document"] == ["a", "b", "c"]
    assert found["num_p"] == [1, 0, 0]
    assert found["den_r"] == [2, 0, 1]
    assert found["f1"] == [2 / 3, None, 0]


def test_metrics_with_other_sums_stand_below_each_other(result):
    sides = ts.evaluate(ts.jaccard(ts.match(ts.exact)), REFERENCE, PREDICTED)
    found = tallies({"f1": result, "jaccard": sides})
    assert found["metric"] == ["f1"] * 3 + ["jaccard"] * 3
    assert found["jaccard"] == [None] * 3 + [0.5, None, 0]
    assert len({len(column) for column in found.values()}) == 1


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_what_is_read_back_is_what_was_scored(tmp_path, result, suffix):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    path = tmp_path / f"tallies{suffix}"
    result.to_parquet(path)
    read = pyarrow.parquet.read_table if suffix == ".parquet" else pyarrow.feather.read_table
    table = read(path)
    assert table.column("document").type == pa.string()
    rows = np.stack([table.column(name).to_numpy() for name in ("num_p", "den_p", "num_r", "den_r")], axis=1)
    np.testing.assert_array_equal(rows, result.rows)
    assert table.column("f1").to_pylist() == [2 / 3, None, 0.0]
    assert table.schema.metadata[b"tallystick.f1"].decode() == result.signature
    assert os.listdir(tmp_path) == [path.name]


def test_numbers_stay_numbers_and_mixed_ids_become_text(tmp_path):
    pytest.importorskip("pyarrow")
    assert ts.evaluate(METRIC, [["x"]], [["x"]]).to_arrow().column("document").to_pylist() == [0]
    mixed = ts.evaluate(METRIC, {1: ["x"], "b": []}, {1: ["x"], "b": []})
    assert mixed.to_arrow().column("document").to_pylist() == ["1", "b"]


def test_csv_needs_nothing(tmp_path, result):
    write_tallies({"score": result}, tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["f1"] for row in rows] == [repr(2 / 3), "", "0.0"]
    assert float(rows[0]["num_p"]) == 1


def test_a_name_that_says_nothing_and_a_place_that_is_not_there(tmp_path, result):
    with pytest.raises(MetricError, match=r"tallies are written to \.parquet, \.csv, .*; found 'x\.json'"):
        write_tallies({"score": result}, "x.json")
    with pytest.raises(InputError, match=r"cannot be written"):
        write_tallies({"score": result}, tmp_path / "nowhere" / "x.csv")


def test_the_command_writes_them(tmp_path):
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps({"id": f"d{k}", "a": k}) + "\n" for k in range(3)))
    command = ["score", "records", "gold.jsonl", "gold.jsonl", "--tallies"]
    done = run(*command, "out.csv", cwd=tmp_path)
    assert "tallies: out.csv" in done.stderr
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "d0,records,1.0,1.0,1.0,1.0,1.0,1.0,1.0"
    done = run(*command, "out.xls", code=2, cwd=tmp_path)
    assert done.stdout == ""
    assert "tallies are written to" in done.stderr


def test_the_figures_follow_from_the_sums_that_the_docs_name(tmp_path):
    """docs/arrow.md says for each kind of tally which columns its figures are made of."""
    for name, shift in (("key", 0), ("response", 1)):
        rows = [
            {"id": f"d{d}", "clusters": [[[k, k + 1] for k in range(first, 12, 3 + shift * (d % 2))] for first in range(2)]}
            for d in range(3)
        ]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["score", "coreference", "key.jsonl", "response.jsonl", "--tallies", "t.csv", "--format", "json"]
    done = run(*command, cwd=tmp_path)
    figures = json.loads(done.stdout)["metrics"]
    table = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))

    def total(metric, name):
        return sum(float(row[name]) for row in table if row["metric"] == metric)

    def f1(metric, start=""):
        p, r = (total(metric, f"{start}num_{s}") / total(metric, f"{start}den_{s}") for s in "pr")
        return 2 * p * r / (p + r)

    assert 0 < f1("b3") < 1
    assert f1("b3") == pytest.approx(figures["b3"]["f1"])
    assert sum(f1("conll", f"{name}_") for name in ("muc", "b3", "ceaf_e")) / 3 == pytest.approx(figures["conll"]["f1"])
    for figure, side in (("precision", "response"), ("recall", "key")):
        kinds = [
            total("blanc", f"{kind}_common") / total("blanc", f"{kind}_{side}") for kind in ("coreferent", "other")
        ]
        assert sum(kinds) / 2 == pytest.approx(figures["blanc"][figure])


def test_a_sum_and_a_figure_of_one_name_are_two_columns(result, tmp_path):
    from tallystick.results.selection import mean_over_documents

    found = tallies({"mean": mean_over_documents(result), "f1": result})
    assert found["f1"] == [2 / 3, None, 0, 2 / 3, None, 0]
    assert found["f1_sum"] == [2 / 3, 0, 0, None, None, None]
    assert len({len(column) for column in found.values()}) == 1
    write_tallies({"mean": mean_over_documents(result)}, tmp_path / "tallies.csv")


def test_a_sum_may_be_called_as_the_first_columns_are():
    from dataclasses import dataclass

    from tallystick.results.result import Result

    @dataclass(frozen=True)
    class Odd:
        sums: tuple[str, ...] = ("document", "words")
        headline: str = "metric"

        def figures(self, sums):
            return {"metric": sums[..., 0] / sums[..., 1], "words": sums[..., 1]}

    found = tallies({"odd": Result("odd", Odd(), np.array([[1.0, 2.0]]), ("a",))})
    assert found == {
        "document": ["a"], "metric": ["odd"], "document_sum": [1.0], "words_sum": [2.0], "metric_figure": [0.5], "words": [2.0],
    }  # fmt: skip

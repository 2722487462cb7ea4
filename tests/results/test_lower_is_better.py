"""An error rate: the lowest is the best, in ranks, letters, the order of documents, gates and warnings."""

from dataclasses import dataclass

import numpy as np
import pytest

from tallystick.cli.gates import check_figures
from tallystick.engine.tally import Counts, MeanOf, lower_is_better, ratio
from tallystick.results.compare import compare, compare_runs
from tallystick.results.report import result_picture
from tallystick.results.result import Result, worst_first
from tallystick.results.selection import mean_over_documents
from tallystick.results.tables import documents_table


@dataclass(frozen=True)
class ErrorRate:
    """Errors for each word of the reference."""

    headline: str = "error_rate"
    lower_is_better: tuple[str, ...] = ("error_rate",)

    @property
    def sums(self):
        return ("errors", "words")

    def figures(self, sums):
        return {"error_rate": ratio(sums[..., 0], sums[..., 1]), "words": sums[..., 1]}


def system(*errors, words=10):
    rows = np.array([[count, words] for count in errors], np.float64)
    return Result("error rate", ErrorRate(), rows, tuple(f"d{k}" for k in range(len(rows))))


def f_system(*right):
    rows = np.array([[count, 10, count, 10] for count in right], np.float64)
    return Result("f", Counts(), rows, tuple(f"d{k}" for k in range(len(rows))))


GOOD, BAD = system(*[1, 0] * 10), system(*[5, 6] * 10)


def test_a_kind_says_for_which_figures_lower_is_better():
    assert lower_is_better(ErrorRate())
    assert not lower_is_better(ErrorRate(), "words")
    assert not lower_is_better(Counts())
    assert lower_is_better(mean_over_documents(GOOD).kind)
    assert lower_is_better(MeanOf((("a", ErrorRate()), ("b", ErrorRate())), "error_rate"))
    assert not lower_is_better(MeanOf((("a", Counts()), ("b", Counts()))))


@pytest.mark.parametrize("average", [lambda result: result, mean_over_documents])
def test_the_lowest_is_first_and_beats_the_others(average):
    found = compare({"bad": average(BAD), "good": average(GOOD)}, resamples=200)
    bad, good = found.cells["bad", "error_rate"], found.cells["good", "error_rate"]
    assert (good.rank, bad.rank) == (1, 2)
    assert (good.beats, bad.beats) == ("a", "")
    assert found.differences["error_rate", "bad", "good"].value < 0
    assert "lower is better" in str(found)
    assert found.as_dict()["metrics"]["error_rate"]["lower_is_better"] is True


def test_metrics_of_both_directions_agree():
    strong, weak = {"wer": GOOD, "f": f_system(*[9] * 20)}, {"wer": BAD, "f": f_system(*[3] * 20)}
    found = compare({"strong": strong, "weak": weak}, resamples=200)
    assert found.correlations()[0]["spearman"] == 1.0
    assert all(cell.moved == 0 for cell in found.cells.values())
    assert "lower_is_better" not in found.as_dict()["metrics"]["f"]
    assert "error_rate, lower is better (wer)" in str(found)


def test_splits_are_ranked_by_their_direction_too():
    parts = [system(1, 2), Result("error rate", ErrorRate(), np.array([[3.0, 10.0]]), ("e",))]
    worse = [system(4, 5), Result("error rate", ErrorRate(), np.array([[9.0, 10.0]]), ("e",))]
    found = compare({"good": parts, "bad": worse}, splits=True)
    assert [found.cells[name, "error_rate"].rank for name in ("good", "bad")] == [1, 2]
    figures = {"good": [{"wer": 0.1, "f": 0.9}], "bad": [{"wer": 0.5, "f": 0.2}]}
    found = compare_runs(figures, ascending=("wer",))
    assert [found.cells["good", metric].rank for metric in ("wer", "f")] == [1, 1]


def test_the_worst_document_is_the_one_with_most_errors():
    result = system(1, 7, 0, 3)
    assert [row[0] for row in documents_table({"wer": result}).rows] == ["d1", "d3", "d0", "d2"]
    both = documents_table({"wer": result, "f": f_system(5, 5, 5, 5)})
    assert [row[0] for row in both.rows[::2]] == ["d1", "d3", "d0", "d2"]
    order = np.lexsort(worst_first(result.kind, result.rows)[::-1])
    assert [result.ids[k] for k in order] == ["d1", "d3", "d0", "d2"]


def test_a_picture_of_documents_goes_from_the_worst_to_the_best(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("tallystick.show.pictures.draw_lines", lambda lines, *labels: lines)
    assert result_picture({"wer": system(1, 7, 3), "f": f_system(5, 2, 9)}, "documents") == {
        "wer": [0.7, 0.3, 0.1],
        "f": [0.2, 0.5, 0.9],
    }


def test_a_gate_fails_above_its_value():
    results = {"turns": system(2, 2)}
    found = check_figures(results, ["error_rate=0.2", "words=20", "error_rate=0.1", "words=21"])
    assert [one.problem for one in found] == [
        "", "", "turns error_rate is 0.2000, above 0.1 (lower is better)", "turns words is 20.0000, under 21",
    ]  # fmt: skip


def test_more_errors_than_words_are_no_matter_of_matching():
    assert not any("counted several times" in text for text in system(13).warnings if "error_rate" in text)

"""`Results` and `Comparison`: the same table, JSON, LaTeX and Markdown as the command, for every task; and what they can be asked."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import tallystick as ts
from bundled import EXAMPLES, FILES
from running import run
from tallystick.errors import MetricError
from tallystick.tasks.contract import find_task, task_names


def scored(task: str, **options: Any) -> ts.Results:
    results: ts.Results = getattr(ts, task)(*(EXAMPLES / name for name in FILES[task]), **options)
    return results


def command(task: str, *more: str) -> Any:
    return run("score", task, *(str(EXAMPLES / name) for name in FILES[task]), *more)


def test_no_task_is_left_out() -> None:
    assert set(FILES) == set(task_names())
    assert all((EXAMPLES / name).is_file() for pair in FILES.values() for name in pair)


@pytest.mark.parametrize("task", sorted(FILES))
def test_the_command_and_python_say_the_same(task: str) -> None:
    results = scored(task)
    printed = json.loads(command(task, "--format", "json").stdout)
    found = json.loads(results.to_json())
    assert found["metrics"] == printed["metrics"]
    assert set(found) == set(printed)
    assert list(found["metrics"]) == list(results)
    latex, markdown = (command(task, "--format", name).stdout for name in ("latex", "markdown"))
    assert latex.startswith(results.to_latex())
    assert markdown.startswith(results.to_markdown())
    said = command(task, "--format", "table")
    shown = [line.rstrip() for line in said.stdout.splitlines()]
    assert [line for line in str(results.table()).splitlines() if line.strip() and line not in shown] == []
    assert results.said in said.stderr
    for line in results.remarks:
        if "=" not in line:  # an option is called otherwise
            assert line in said.stderr


@pytest.mark.parametrize("task", sorted(FILES))
def test_every_verb_of_every_task(task: str, tmp_path: Path) -> None:
    results = scored(task)
    for name, result in results.items():
        assert result.called == name
        assert str(result).splitlines()[2].split()[0] == name
        assert list(json.loads(result.to_json())["metrics"]) == [name]
        assert results.figures[name] == result.figures
    frame = results.to_frame()
    assert list(frame.index) == list(results)
    first = next(iter(results))
    assert frame.loc[first, "f1"] == results[first].f1
    tally = results[first].as_dict()["tally"]
    assert {
        name: frame.loc[first, name] for name in ("num_p", "den_p", "num_r", "den_r") if name in tally
    }.items() <= tally.items()
    assert ("num_p" in frame.columns) == any("num_p" in one.as_dict()["tally"] for one in results.values())
    assert results.by("document").to_frame().shape[0] >= 1
    for by in ("label", "field"):
        if by in find_task(task).breakdowns:
            options = {"label": "lines[*].quantity"} if task == "records" and by == "label" else {}
            assert results.by(by, **options)[0].rows
        else:
            with pytest.raises(MetricError, match=f"no figures by {by}"):
                results.by(by)
    if task == "dependencies":
        with pytest.raises(MetricError, match="no tree to show"):
            results.explain()
    else:
        assert results.explain().as_dict()
    errors = results.errors()
    assert len(errors)
    assert "--" not in str(errors)
    assert set(results.intervals(resamples=20)) == set(results)
    results.report(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()
    assert results.plot()._repr_svg_().startswith("<svg")
    again = pickle.loads(pickle.dumps(results))
    assert str(again) == str(results)
    assert results._repr_html_().count("<table>") == 1


def test_one_metric_has_its_figures_as_attributes_and_several_say_which() -> None:
    one, several = scored("amr"), scored("coreference")
    assert one.f1 == one["smatch"].f1
    with pytest.raises(AttributeError, match=r"f1 of which metric\? results\['mentions'\]\.f1"):
        _ = several.f1
    with pytest.raises(AttributeError, match="results have no 'f2'"):
        _ = several.f2
    with pytest.raises(KeyError, match=r"^no metric 'b33'.*Did you mean \"b3\""):
        _ = several["b33"]
    assert "f1" in dir(one)


def test_wrong_questions_are_answered() -> None:
    results = scored("coreference")
    with pytest.raises(MetricError, match=r"coreference has no figures by lengths; it has .*Did you mean"):
        results.by("lengths")
    with pytest.raises(MetricError, match="no document 'x'; there is 1: "):
        results.explain("x")
    with pytest.raises(KeyError, match="no metric 'x'"):
        results.explain(metric="x")
    with pytest.raises(MetricError, match="best must be True or False"):
        results.to_latex(best="red")
    with pytest.raises(MetricError, match="no column 'f2'"):
        results.to_latex(columns=["f2"])
    with pytest.raises(MetricError, match="digits must be"):
        results.to_latex(digits=-1)


def test_a_tabular_of_chosen_columns_with_the_best_marked() -> None:
    text = scored("coreference", metrics=["muc", "b3"]).to_latex(
        columns={"f1": "F$_1$", "recall": "R"}, digits=1, best=True
    )
    lines = text.splitlines()
    assert lines[1] == "% References as BibTeX: tallystick cite coreference.muc coreference.b3"
    assert lines[-2].startswith(r"\caption{Figures in percent. {\footnotesize Signature: coreference.muc, ")
    assert lines[4:-2] == [
        r"\begin{tabular}{lrr}", r"\toprule", r"metric & F\$\_1\$ & R \\", r"\midrule", r"muc & 50.0 & 50.0 \\",
        r"b3 & \textbf{70.6} & \textbf{75.0} \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip


def test_a_result_of_a_metric_of_ones_own_is_called_by_its_figure_everywhere() -> None:
    result = ts.evaluate("jaccard(match(exact))", [["a", "b"]], [["a"]])
    assert list(json.loads(result.to_json())["metrics"]) == ["jaccard"]
    assert list(ts.compare({"x": result}).metrics) == ["jaccard"]
    assert "\n  jaccard  " in str(result)


def test_warnings_name_the_metrics_that_they_are_about() -> None:
    results = scored("dependencies")
    assert results.warnings == ("elas, eulas: precision, recall, f1: 0/0, undefined",)
    assert scored("dependencies", metrics="elas").warnings == ("precision, recall, f1: 0/0, undefined",)


# Comparisons


@pytest.fixture(scope="module")
def comparison() -> ts.Comparison:
    return ts.compare({"A": _relations("works_for"), "B": _relations("spouse")}, resamples=100)


def _relations(type_: str, start: int = 0) -> ts.Results:
    gold, system = {}, {}
    for k in range(start, start + 4):
        ends = {"subj": {"start": 0, "end": 1, "type": "PER"}, "obj": {"start": 2 + k, "end": 3 + k, "type": "ORG"}}
        gold[f"d{k}"] = {"relations": [{"type": "works_for", **ends}]}
        system[f"d{k}"] = {"relations": [{"type": type_ if k % 2 else "works_for", **ends}]}
    return ts.relations(gold, system, ["boundaries", "type"])


def test_a_comparison_has_the_same_verbs(comparison: ts.Comparison, tmp_path: Path) -> None:
    assert comparison.figures == {"A": {"boundaries": 1.0, "type": 1.0}, "B": {"boundaries": 0.5, "type": 0.5}}
    assert set(comparison.intervals()) == {"A", "B"}
    assert str(comparison) == str(comparison.table())
    assert json.loads(comparison.to_json())["systems"]["B"]["type"]["value"] == 0.5
    assert list(comparison.to_frame().columns[:2]) == ["metric", "value"]
    assert comparison.to_markdown().count("Signature: ") == 1
    assert comparison._repr_html_().count("<table>") == 1
    documents = comparison.by("document")
    assert [table.title for table in documents] == ["boundaries", "type"]
    assert documents[0].rows[0] == ["d1", 1.0, 0.0]
    labels = comparison.by("label")[0]
    assert list(labels.columns)[:4] == ["type", "support", "A", "B"]
    assert labels.rows[0][:4] == ["works_for", 4, 1.0, pytest.approx(2 / 3)]
    assert all(table.title.startswith(("A", "B")) for table in comparison.errors())
    assert "missed" in str(comparison.explain("d1", system="B"))
    comparison.report(tmp_path / "page.html")
    assert comparison.plot()._repr_svg_().startswith("<svg")


def test_a_comparison_in_latex_marks_the_best(comparison: ts.Comparison) -> None:
    text = comparison.to_latex(columns={"type": "Type"}, digits=0)
    assert r"\multicolumn{2}{l}{Type}" in text
    assert "boundaries" not in text.partition(r"\begin")[2].partition(r"\caption")[0]
    assert r"A\textsuperscript{a} & \textbf{100}" in text
    assert r"B\textsuperscript{b} & \phantom{0}50" in text
    assert "textbf" not in comparison.to_latex(best=False)
    with pytest.raises(MetricError, match=r"no metric 'typ'.*Did you mean"):
        comparison.to_latex(columns=["typ"])


def test_comparisons_add_by_their_documents(comparison: ts.Comparison) -> None:
    more = ts.compare({"A": _relations("works_for", 4), "B": _relations("spouse", 4)}, resamples=100)
    both = comparison + more
    assert "8 documents" in both.notes
    whole = {name: _relations(type_) + _relations(type_, 4) for name, type_ in (("A", "works_for"), ("B", "spouse"))}
    assert both == ts.compare(whole, resamples=100)
    with pytest.raises(MetricError, match="different systems"):
        _ = comparison + ts.compare({"A": _relations("works_for", 4)})


def test_what_a_comparison_cannot_know_is_said(comparison: ts.Comparison) -> None:
    with pytest.raises(MetricError, match="say which system"):
        comparison.explain("d1")
    with pytest.raises(MetricError, match="no system 'c'"):
        comparison.of("c")
    from tallystick.results.compare import compare_runs

    with pytest.raises(MetricError, match="only figures were compared"):
        compare_runs({"A": [{"f1": 0.5}]}).errors()


def test_the_result_of_an_expression_is_broken_down_as_those_of_a_task_are():
    reference = [[{"a": 1, "type": "x"}, {"a": 2, "type": "y"}]]
    predicted = [[{"a": 1, "type": "x"}, {"a": 2, "type": "x"}]]
    result = ts.evaluate(ts.f1(ts.match(ts.each(a=ts.exact, type=ts.exact))), reference, predicted)
    assert [row[0] for row in result.by("field").rows] == ["[*].type", "[*].a"]
    assert result.by("label", "type").columns[0] == "type"
    assert "  [*].type         2      0.5000" in str(result.by("field"))
    with pytest.raises(MetricError, match="those by label, document, field"):
        result.by("words")

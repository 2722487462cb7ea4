"""Slices of a corpus: by a field of the reference, by a file beside it; and which differ from the rest."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_results import EXAMPLES, FILES, scored

import tallystick as ts
from running import run
from tallystick.engine import drawing
from tallystick.errors import InputError, MetricError
from tallystick.results.slices import permuted
from tallystick.tasks.contract import task_names


def records(documents: int = 40) -> tuple[dict[str, Any], dict[str, Any]]:
    """A system that is bad at German."""
    gold = {
        f"d{k}": {"language": ("en", "de", None)[k % 3], "about": {"kind": "ab"[k % 2]}, "x": k, "y": 2 * k}
        for k in range(documents)
    }
    system = {
        key: {**one, "x": one["x"] if one["language"] != "de" or k % 4 else -1}
        for k, (key, one) in enumerate(gold.items())
    }
    return gold, system


def test_figures_of_a_slice_are_those_of_its_documents() -> None:
    gold, system = records()
    results = ts.records(gold, system)
    slices = results.slices("language", resamples=500)
    assert [(one.value, one.documents) for one in slices["records"]] == [("en", 14), ("de", 13), ("(none)", 13)]
    for one in slices["records"]:
        own = [key for key, record in gold.items() if str(record["language"] or "(none)") == one.value]
        alone = ts.records(
            *({key: side[key] for key in own} for side in (gold, system)), metric=str(results["records"].metric)
        )
        rest = ts.records(
            *({key: side[key] for key in gold if key not in own} for side in (gold, system)),
            metric=str(results["records"].metric),
        )
        assert one.figures == pytest.approx(alone["records"].figures)
        assert one.rest == pytest.approx(rest["records"].f1)
        assert one.intervals["f1"] == alone["records"].intervals(resamples=500)["f1"]
    by_path = results.slices("about.kind", resamples=50)
    assert [(one.value, one.documents) for one in by_path["records"]] == [("a", 20), ("b", 20)]
    same = results.slices({key: one["about"]["kind"] for key, one in gold.items()}, resamples=50)
    assert same["records"] == by_path["records"]


def test_p_of_a_slice_is_the_share_of_all_slices_of_its_size() -> None:
    """The oracle: every subset of the documents."""
    gold, system = records(10)
    result = ts.records(gold, system)["records"]
    chosen = [0, 1, 4]
    rows = result.rows

    def apart(inside: Any) -> float:
        there, rest = (
            result.kind.figures(rows[list(some)].sum(axis=0))["f1"] for some in (inside, set(range(10)) - set(inside))
        )
        return abs(float(there - rest))

    everyone = [apart(some) for some in combinations(range(10), 3)]
    exact = np.mean([one >= apart(chosen) - 1e-10 for one in everyone])
    (_, p), *_ = permuted([result], [chosen, [2, 3, 5, 6, 7, 8, 9]], 4000, 0)[0]
    assert p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 4000) ** 0.5 + 1e-3)


def test_slices_by_sorts_of_documents_have_the_same_p(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ts.records(*records())["records"]
    halves = [list(range(15)), list(range(15, 40))]
    plain = permuted([result], halves, 4000, 0)[0]
    monkeypatch.setattr(drawing, "MANY", 0)
    monkeypatch.setattr(drawing, "ALIKE", 1)
    assert drawing.sorts_of([result.rows]) is not None
    for (rest, p), (other_rest, other) in zip(plain, permuted([result], halves, 4000, 0)[0], strict=True):
        assert rest == other_rest
        assert p == pytest.approx(other, abs=4 * 2**0.5 * 0.5 / 4000**0.5)


def test_a_slice_that_differs_is_found() -> None:
    gold = {f"d{k}": {"language": "ab"[k % 2], "kind": k % 3, "x": k} for k in range(90)}
    system = {
        key: {**one, "x": -1 if one["language"] == "a" and one["x"] % 4 else one["x"]} for key, one in gold.items()
    }
    results = ts.records(gold, system)
    assert all(one.is_significant for one in results.slices("language", resamples=2000)["records"])
    found = results.slices("kind", resamples=2000)
    assert not any(one.is_significant for one in found["records"])
    assert "No slice differs significantly from the rest" in str(found)


@pytest.mark.parametrize("task", sorted(task_names()))
def test_every_task_has_slices_by_a_file(task: str, tmp_path: Path) -> None:
    files = [str(EXAMPLES / name) for name in FILES[task]]
    ids = next(iter(scored(task).values())).ids
    about = tmp_path / "about.csv"
    about.write_text("document,half\n" + "".join(f'"{key}",{k % 2}\n' for k, key in enumerate(ids)))
    found = json.loads(run("score", task, *files, "--slice", f"{about}:half", "--format", "json").stdout)["slices"]
    assert found["by"] == "half"
    for metric in found["metrics"].values():
        assert sum(row["documents"] for row in metric) == len(ids)
    (tmp_path / "about.jsonl").write_text(
        "".join(json.dumps({"id": str(key), "half": k % 2}) + "\n" for k, key in enumerate(ids))
    )
    again = json.loads(
        run("score", task, *files, "--slice", f"{tmp_path / 'about.jsonl'}:half", "--format", "json").stdout
    )["slices"]
    assert again["metrics"] == found["metrics"]
    compared = run(
        "compare",
        task,
        files[0],
        f"A={files[1]}",
        f"B={files[1]}",
        "--slice",
        f"{about}:half",
        "--resamples",
        "50",
        "--format",
        "json",
    )
    parts = next(iter(json.loads(compared.stdout)["by"]["slice"].values()))["parts"]
    assert sum(part["support"] for part in parts.values()) == len(ids)


def test_a_field_with_several_values_is_described(tmp_path: Path) -> None:
    """In the words of the data, and of whoever asks: Python has no option --slice."""
    relation = {"type": "r", "subj": [0, 1, "A"], "obj": [1, 2, "B"]}
    documents = [{"id": one, "relations": [relation] * 2} for one in "ab"]
    with pytest.raises(MetricError) as caught:
        ts.relations(documents, documents).slices("relations")
    said = "slices by relations: expected a text or a number for each document; a has 2 values there"
    assert str(caught.value) == said


def test_wrong_slices_are_errors(tmp_path: Path) -> None:
    results = ts.records(*records())
    with pytest.raises(MetricError, match=r'no document has such a field; there are .*Did you mean "language"'):
        results.slices("langage")
    with pytest.raises(MetricError, match=r'no document has such a field; there are .*Did you mean "about.kind"'):
        results.slices("about.kinf")
    with pytest.raises(
        MetricError,
        match='slices by about: expected a text or a number for each document; d0 has the fields "kind" there',
    ):
        results.slices("about")
    many = ts.records(*records(60))
    with pytest.raises(MetricError, match="x has 60 values in 60 documents; slices are by at most 50"):
        many.slices("x")
    with pytest.raises(InputError, match="has no row for 39 documents"):
        results.slices({"d0": 1})
    with pytest.raises(
        MetricError, match=r"no fields here; there are items, words, density, or give a column of a file"
    ):
        scored("spans").slices("tag")
    about = tmp_path / "about.csv"
    about.write_text("id,lang\nd0,en\nd0,de\n")
    with pytest.raises(InputError, match=r"about\.csv:3: has document 'd0' twice"):
        results.slices(f"{about}:lang")
    with pytest.raises(InputError, match=r"has no column 'lan'.*Did you mean \"lang\""):
        results.slices(f"{about}:lan")
    about.write_text("id,lang\nd0\n")
    with pytest.raises(InputError, match="expected 2 cells, as the first line has, found 1"):
        results.slices(f"{about}:lang")
    with pytest.raises(InputError, match="no such file"):
        results.slices(f"{tmp_path / 'nothing.csv'}:lang")
    gold, system = (str(EXAMPLES / name) for name in FILES["records"])
    assert (
        "cannot be combined"
        in run("compare", "records", gold, f"A={system}", "--by", "field", "--slice", "vendor", code=2).stderr
    )
    with pytest.raises(MetricError, match="say what the slices are by"):
        ts.compare({"A": results}, resamples=20).by("slice")


@pytest.mark.parametrize(
    ("task", "by"),
    [("records", "field"), ("spans", "label"), ("relations", "label"), ("templates", "field"), ("arguments", "label")],
)
def test_tables_by_label_and_field_have_intervals_when_asked(task: str, by: str) -> None:
    results = scored(task)
    plain, found = results.by(by), results.by(by, intervals=True)
    assert len(plain) == len(found)
    frame = found[0].to_frame()
    assert "f1 low" in frame
    assert (frame["f1 low"].fillna(0) <= frame["f1 high"].fillna(1)).all()
    files = [str(EXAMPLES / name) for name in FILES[task]]
    printed = json.loads(run("score", task, *files, "--by", by, "--intervals", "--format", "json").stdout)
    metric, rows = next(iter(printed[f"{by}s"].items()))
    own = results.background.portions(results, by, None)[metric].results(results[metric])
    for row in rows:
        name = str(row["path" if by == "field" else "label"])
        interval = own[name].intervals()["f1"]
        assert row["intervals"]["f1"] == [interval.low, interval.high]
    whole = results[metric].intervals()["f1"]
    assert printed["intervals"][metric]["f1"] == [whole.low, whole.high]
    assert "[" in run("score", task, *files, "--by", by, "--intervals", "--format", "table").stdout


LINES: dict[str, dict[str, Any]] = {
    "calls": {"calls": [{"name": "f", "arguments": {"x": 1}}]},
    "relations": {"relations": [{"type": "r", "subj": [0, 1, "A"], "obj": [1, 2, "B"]}]},
    "roles": {"roles": {"A": [["x"]]}},
    "coreference": {"clusters": [[[0, 1], [3, 4]]]},
    "templates": {"templates": [{"type": "a", "slots": {"V": ["x"]}}]},
}


@pytest.mark.parametrize("task", LINES)
def test_a_field_of_the_lines_that_no_metric_looks_at(task: str, tmp_path: Path) -> None:
    lines = [{"id": f"d{k}", "about": {"genre": "ab"[k % 2]}, **LINES[task]} for k in range(4)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (tmp_path / "system.jsonl").write_text("".join(json.dumps(one) + "\n" for one in reversed(lines)))
    files = ["gold.jsonl", "system.jsonl"]
    found = json.loads(run("score", task, *files, "--slice", "about.genre", "--format", "json", cwd=tmp_path).stdout)
    assert "'slice': 'a', 'documents': 2" in repr(found["slices"])
    done = run("score", task, *files, "--groups", "about.genre", "--intervals", "--resamples", "50", cwd=tmp_path)
    assert "unit=group (about.genre), units=2" in done.output
    run("compare", task, "gold.jsonl", "A=system.jsonl", "B=gold.jsonl", "--slice", "about.genre", cwd=tmp_path)
    done = run("score", task, *files, "--slice", "abuot", code=2, cwd=tmp_path)
    assert 'Did you mean "about"?' in done.stderr


def test_lines_in_memory_and_lines_without_ids() -> None:
    lines = [{"genre": "ab"[k % 2], "calls": [{"name": "f", "arguments": {"x": k}}]} for k in range(4)]
    slices = ts.calls(lines, [*lines[:3], lines[0]]).slices("genre", resamples=50)["calls"]
    assert {one.value: one.figures["f1"] for one in slices} == {"a": 1.0, "b": 0.5}


def test_lines_of_one_document_that_disagree() -> None:
    lines = [
        {"session": "s", "genre": genre, "jsonrpc": "2.0", "method": "tools/call", "params": {"name": "f"}}
        for genre in "ab"
    ]
    results = ts.calls(lines, lines, id="session")
    with pytest.raises(MetricError, match="slices by genre: the lines of document s have different values"):
        results.slices("genre")

"""Results in parts: the rows of fields and labels add up to their figures, for every task; comparisons by field and label."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_results import EXAMPLES, FILES, scored

import tallystick as ts
from benchmarks.fields import family_errors
from running import Done, run
from tallystick.engine import drawing
from tallystick.errors import MetricError
from tallystick.results.compare import corrected
from tallystick.results.parts import PartComparisons
from tallystick.results.resampling import holm, randomisation, randomisation_values, resampled_figures
from tallystick.results.selection import without
from tallystick.tasks.contract import find_task, task_names

BREAKDOWNS = [(task, by) for task in sorted(task_names()) for by in find_task(task).breakdowns]


def options_of(task: str, by: str) -> dict[str, str]:
    return {"label": "lines[*].quantity"} if (task, by) == ("records", "label") else {}


@pytest.mark.parametrize(("task", "by"), BREAKDOWNS)
def test_the_rows_of_the_documents_add_up_to_the_figures(task: str, by: str) -> None:
    results, options = scored(task), options_of(task, by)
    label = options.get("label")
    known = results.background.breakdown(results, by, label)[1]["fields" if by == "field" else "labels"]
    found = results.background.portions(results, by, label)
    assert set(found) == set(known)
    for metric, portions in found.items():
        parts = portions.results(results[metric])
        assert set(parts) == {str(row["path" if by == "field" else "label"]) for row in known[metric]}
        for row in known[metric]:
            name = str(row["path" if by == "field" else "label"])
            assert parts[name].rows.shape == (results[metric].count, 4)
            tally = row["tally"] if "num_p" in row["tally"] else None
            if tally is not None:
                assert parts[name].tally == pytest.approx({key: tally[key] for key in parts[name].tally})
            for figure in ("precision", "recall", "f1"):
                assert parts[name].figures[figure] == pytest.approx(row["figures"][figure]), (metric, name, figure)
            assert portions.support[name] == row["support"]


@pytest.mark.parametrize(("task", "by"), BREAKDOWNS)
def test_every_task_compares_by_what_it_has_figures_by(task: str, by: str) -> None:
    gold, system = (EXAMPLES / name for name in FILES[task])
    label = ["--label", options_of(task, by)["label"]] if options_of(task, by) else []
    done = run(
        "compare",
        task,
        gold,
        f"A={system}",
        f"B={gold if task != 'calls' else system}",
        "--by",
        by,
        *label,
        "--format",
        "json",
        "--resamples",
        "200",
    )
    found = json.loads(done.stdout)["by"][by]
    assert found
    for metric in found.values():
        assert len(metric["differences"]) == len(metric["parts"])
        for row in metric["differences"]:
            first, second = (metric["parts"][row["part"]]["systems"][name]["value"] for name in "AB")
            if row["difference"] is not None:
                assert row["difference"] == pytest.approx(second - first)
            assert min(row["won"], row["lost"], row["tied"]) >= 0
        assert metric["regressed"]["B"] == []  # B is the reference, or the same
    shown = run(
        "compare",
        task,
        gold,
        f"A={system}",
        f"B={system}",
        "--by",
        by,
        *label,
        "--format",
        "table",
        "--resamples",
        "50",
    ).stdout
    assert "p (Holm)" in shown


# Two systems of records with a field that got worse


def invoices(seed: int, total: float, price: float = 0.1) -> tuple[dict[str, Any], dict[str, Any]]:
    draw = random.Random(seed)
    gold = {
        f"d{k}": {"vendor": f"v{k % 3}", "total": k % 7, "lines": [{"price": k + i, "what": f"w{i}"} for i in range(k % 3)]}
        for k in range(60)
    }  # fmt: skip
    out = {}
    for key, one in gold.items():
        lines = [{**line, "price": -1 if draw.random() < price else line["price"]} for line in one["lines"]]
        out[key] = {**one, "lines": lines, "total": -1 if draw.random() < total else one["total"]}
    return gold, out


@pytest.fixture(scope="module")
def by_field() -> PartComparisons:
    systems = {name: ts.records(*invoices(1, total)) for name, total in (("old", 0.05), ("new", 0.5))}
    found = ts.compare(systems, resamples=2000).by("field", rows=3)
    assert isinstance(found, PartComparisons)
    return found


def test_a_field_that_got_worse_is_found_and_others_are_not(by_field: PartComparisons) -> None:
    found = by_field["records"]
    differences = {part: d for (part, _, _), d in found.tested.differences.items()}
    assert [part for part, d in differences.items() if found.is_significant(d)] == ["total"]
    assert differences["total"].value < -0.3
    assert {d.test for d in differences.values()} == {"randomisation"}
    assert "correction=holm over parts" in found.tested.settings


def test_p_is_that_of_the_paired_test_corrected_over_all_fields(by_field: PartComparisons) -> None:
    """The oracle: each field by itself through the plain test of two results, then Holm over the fields."""
    found = by_field["records"]
    alone = {
        part: randomisation(*(found.tested.runs[system][0][part] for system in ("old", "new")), resamples=2000).p
        for part in found.parts
    }
    expected = dict(zip(alone, holm([p or 1.0 for p in alone.values()]), strict=True))
    for (part, _, _), d in found.tested.differences.items():
        assert (d.p, d.corrected) == (alone[part], expected[part])


def test_won_lost_and_the_documents_that_got_worse_by_hand(by_field: PartComparisons) -> None:
    found = by_field["records"]
    gold, old = invoices(1, 0.05)
    new = invoices(1, 0.5)[1]
    lost = [key for key in gold if old[key]["total"] == gold[key]["total"] != new[key]["total"]]
    won = [key for key in gold if new[key]["total"] == gold[key]["total"] != old[key]["total"]]
    scores = found.score("total", "old", "new")
    assert (scores.won, scores.lost, scores.tied) == (len(won), len(lost), 60 - len(won) - len(lost))
    scores = found.score("lines[*].price", "old", "new")
    assert scores.won + scores.lost + scores.tied == sum(bool(one["lines"]) for one in gold.values())
    results = {name: ts.records(gold, one)["records"].documents for name, one in (("old", old), ("new", new))}
    worse = {key for key in gold if results["new"][key]["f1"] < results["old"][key]["f1"]}
    regressions, count = found.regressions("old", "new")
    assert {one.document for one in regressions} == worse
    assert count == len(worse)
    for one in regressions:
        if one.document in lost:
            assert ("total", 1.0, 0.0) in one.parts
    table = by_field[1]
    assert len(table.rows) == 3
    assert f"{count - 3} more" in table.notes[0]


def test_tables_of_parts_are_numbers_for_programs(by_field: PartComparisons) -> None:
    frame = by_field[0].to_frame()
    assert list(frame.columns) == [
        "support", "old", "old low", "old high", "new", "new low", "new high", "new - old", "new - old low", "new - old high", "p (Holm)",
        "won", "lost", "tied",
    ]  # fmt: skip
    assert (frame["old low"] <= frame["old"]).all()
    assert frame.loc["total", "support"] == 60
    head, first, *_ = by_field[0].to_tsv().splitlines()
    assert head.split("\t")[2:5] == ["old", "old low", "old high"]
    assert len(first.split("\t")) == 15
    assert "0.9" in by_field[0].to_markdown()
    assert "[" in by_field[0].to_latex()


def test_intervals_of_parts_are_those_of_their_results() -> None:
    results = ts.records(*invoices(3, 0.2))
    found = results.background.portions(results, "field", None)["records"].results(results["records"])
    drawn = ts.compare({"A": results}, resamples=500).by("field")["records"].tested
    for part, result in found.items():
        interval = result.intervals(resamples=500)["f1"]
        assert drawn.cells["A", part].ends == interval.ends


def test_several_runs_and_splits_by_field(tmp_path: Path) -> None:
    files = {}
    for name, seed, total in (("a1", 1, 0.1), ("a2", 2, 0.1), ("b1", 3, 0.3), ("b2", 4, 0.3)):
        gold, out = invoices(seed, total)
        files["gold"] = tmp_path / "gold.jsonl"
        files["gold"].write_text("".join(json.dumps({"id": key, **one}) + "\n" for key, one in gold.items()))
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_text("".join(json.dumps({"id": key, **one}) + "\n" for key, one in out.items()))
    common = ["--by", "field", "--format", "json", "--resamples", "500"]
    systems = f"A={files['a1']},{files['a2']}", f"B={files['b1']},{files['b2']}"
    found = json.loads(run("compare", "records", files["gold"], *systems, *common).stdout)["by"]["field"]["records"]
    assert found["parts"]["total"]["systems"]["A"]["runs"] == 2
    assert found["parts"]["total"]["support"] == 60
    both = f"{files['gold']},{files['gold']}"
    found = json.loads(run("compare", "records", both, *systems, *common).stdout)["by"]["field"]["records"]
    assert found["parts"]["total"]["support"] == 120
    row = next(row for row in found["differences"] if row["part"] == "total")
    assert row["won"] + row["lost"] + row["tied"] == 120
    by_mean = run("compare", "records", files["gold"], f"A={files['a1']}", f"B={files['b1']}", "--macro", *common)
    assert json.loads(by_mean.stdout)["by"]["field"]["records"]["parts"]["total"]["systems"]["A"]["value"] > 0.8


def test_documents_that_were_left_out_are_left_out_of_parts(tmp_path: Path) -> None:
    gold, system = (EXAMPLES / name for name in FILES["arguments"])
    lines = system.read_text().splitlines(keepends=True)
    (tmp_path / "b.jsonl").write_text("".join(lines[1:]))
    done = run(
        "compare", "arguments", gold, f"A={system}", f"B={tmp_path / 'b.jsonl'}", "--missing", "intersect", "--by", "label",
        "--format", "json", "--resamples", "50",
    )  # fmt: skip
    found = json.loads(done.stdout)
    alone = json.loads(
        run(
            "compare", "arguments", gold, f"A={system}", "--by", "label", "--format", "json", "--resamples", "50"
        ).stdout
    )
    count, whole = (
        sum(part["support"] for part in one["by"]["label"]["exact"]["parts"].values()) for one in (found, alone)
    )
    assert 0 < count < whole


def test_what_cannot_be_is_said() -> None:
    systems = {name: ts.spans(*(EXAMPLES / one for one in FILES["spans"])) for name in "AB"}
    comparison = ts.compare(systems, resamples=20)
    with pytest.raises(MetricError, match="spans has no figures by field"):
        comparison.by("field")
    with pytest.raises(
        MetricError, match=r"spans has no figures by labels; it has those by label, length.*Did you mean"
    ):
        comparison.by("labels")
    with pytest.raises(MetricError, match=r"no label at 'lines.*'"):
        ts.compare({"A": ts.records(*invoices(1, 0.1))}).by("label", "lines[*].prise.x")
    gold, system = (str(EXAMPLES / name) for name in FILES["records"])
    assert "give both" in run("compare", "records", gold, f"A={system}", "--rows", "3", code=2).stderr
    assert "give both" in run("compare", "records", gold, f"A={system}", "--label", "x", code=2).stderr


def test_families_are_corrected_apart_or_together() -> None:
    systems = {name: ts.records(*invoices(7, total)) for name, total in (("A", 0.05), ("B", 0.2), ("C", 0.3))}
    found = ts.compare(systems, resamples=2000).by("field")["records"].tested.differences
    p = [d.p for d in found.values()]
    assert [d.corrected for d in found.values()] == holm([one or 1.0 for one in p])
    apart = corrected(found, together=False)
    assert any(apart[key].corrected < found[key].corrected for key in found)


def test_documents_drawn_by_sort_have_the_distribution_of_documents_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oracle of a test: all 2^n outcomes; of an interval: the plain bootstrap. Both within four standard errors."""
    monkeypatch.setattr(drawing, "MANY", 0)
    monkeypatch.setattr(drawing, "ALIKE", 1)
    systems = [ts.records(*invoices(2, total)) for total in (0.1, 0.3)]
    parts = [one.background.portions(one, "field", None)["records"].results(one["records"]) for one in systems]
    totals = [without(one["total"], [f"d{k}" for k in range(14, 60)]) for one in parts]
    sorts = drawing.sorts_of([one.rows for one in totals])
    assert sorts is not None
    assert sorts[1].sum() == 14 > len(sorts[0])
    exact = randomisation_values([[one] for one in totals], [(0, 1)], 10_000, 0)[0]
    drawn = randomisation_values([[one] for one in totals], [(0, 1)], 10_000, 0, sorts=sorts)[0]
    assert drawn == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 10_000) ** 0.5)
    whole = [one["total"] for one in parts]
    sorts = drawing.sorts_of([one.rows for one in whole])
    plain, by_sort = (
        resampled_figures(whole, 10_000, 0, headline=True, sorts=of)[1]["f1"].values for of in (None, sorts)
    )
    error = 4 * plain.std() / 100
    assert by_sort.mean() == pytest.approx(plain.mean(), abs=error)
    assert by_sort.std() == pytest.approx(plain.std(), rel=0.04)


def test_there_are_no_sorts_where_documents_differ() -> None:
    rows = np.arange(8000, dtype=float).reshape(-1, 4)
    assert drawing.sorts_of([rows]) is None
    alike = np.tile(rows[:5], (500, 1))
    first, counts = drawing.sorts_of([alike, alike * 0.5]) or ([], [])
    assert (list(first), list(counts)) == ([0, 1, 2, 3, 4], [500] * 5)
    assert drawing.sorts_of([alike[:100]]) is None


@pytest.mark.parametrize("documents", [25, 120])
def test_paired_tests_by_field_hold_their_level(documents: int) -> None:
    """Two systems that are equally good: few corpora have a field that is called different. The seed is fixed, so that it cannot fail by
    chance; `python -m benchmarks fields` has 1,000 corpora."""
    assert family_errors(corpora=60, documents=documents, fields=8, resamples=300, seed=1) <= 0.055


def test_the_page_of_a_comparison_has_figures_by_field_if_asked(tmp_path: Path) -> None:
    gold = [{"vendor": f"v{k}", "total": k} for k in range(6)]
    systems = {"a": ts.score(gold, gold), "b": ts.score(gold, [{**one, "total": -1} for one in gold])}
    comparison = ts.compare(systems, resamples=50)
    for by in (None, "field"):
        comparison.report(tmp_path / "page.html", by=by)
        title = comparison.by("field")[0].title
        assert (title in (tmp_path / "page.html").read_text(encoding="utf-8")) is (by is not None)


def relations(kinds: Sequence[Sequence[str]], first: int = 0) -> list[dict[str, Any]]:
    """A document for each list of types, with a relation of each between two entities of its own."""
    return [
        {
            "id": f"d{first + k}",
            "tokens": list("abcdef"),
            "entities": [{"type": "E", "start": i, "end": i + 1} for i in range(6)],
            "relations": [{"type": kind, "head": 2 * i, "tail": 2 * i + 1} for i, kind in enumerate(types)],
        }
        for k, types in enumerate(kinds)
    ]


def news_and_web(tmp_path: Path, *more: str, web: Sequence[Sequence[str]] = (("X",), ("X",))) -> Done:
    """Two data sets, of which only the first has Y: A misses one of two, B has both."""
    texts = {
        "g1": relations([["X", "Y"], ["Y"], ["X"]]),
        "g2": relations([["X"], ["X"]], 10),
        "a1": relations([["X", "Y"], [], ["X"]]),
        "a2": relations([["X"], []], 10),
        "b1": relations([["X", "Y"], ["Y"], ["X"]]),
        "b2": relations(web, 10),
    }
    for name, documents in texts.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    paths = {name: tmp_path / f"{name}.jsonl" for name in texts}
    sides = [
        f"news={paths['g1']},web={paths['g2']}",
        f"A={paths['a1']},{paths['a2']}",
        f"B={paths['b1']},{paths['b2']}",
    ]
    return run("compare", "relations", *sides, "--metric", "boundaries", "--by", "label", "--resamples", "300", *more)


def test_a_label_that_one_data_set_lacks_has_the_figures_of_those_that_have_it(tmp_path: Path) -> None:
    found = json.loads(news_and_web(tmp_path, "--format", "json").stdout)["by"]["label"]["boundaries"]
    values = {s: one["value"] for s, one in found["parts"]["Y"]["systems"].items()}
    assert values == pytest.approx({"A": 2 / 3, "B": 1.0})
    alone = run(
        "compare", "relations", tmp_path / "g1.jsonl", f"A={tmp_path / 'a1.jsonl'}", f"B={tmp_path / 'b1.jsonl'}",
        "--metric", "boundaries", "--by", "label", "--resamples", "300", "--format", "json",
    )  # fmt: skip
    of_news = json.loads(alone.stdout)["by"]["label"]["boundaries"]
    for system in "AB":  # the interval is that of the data set that has the label
        assert (
            found["parts"]["Y"]["systems"][system]["interval"] == of_news["parts"]["Y"]["systems"][system]["interval"]
        )
    y, y_alone = (next(d for d in one["differences"] if d["part"] == "Y") for one in (found, of_news))
    assert (y["difference"], y["interval"], y["p"]) == (y_alone["difference"], y_alone["interval"], y_alone["p"])
    x = {s: one["value"] for s, one in found["parts"]["X"]["systems"].items()}
    assert x == pytest.approx({"A": (1 + 2 / 3) / 2, "B": 1.0})  # both have it, so it is the mean of both
    assert "Y: mean over the splits that have it (news)" in news_and_web(tmp_path, "--format", "table").stdout


def test_a_data_set_in_which_only_a_system_has_the_label_counts(tmp_path: Path) -> None:
    done = news_and_web(tmp_path, "--format", "json", web=(("X", "Y"), ("X",)))
    found = json.loads(done.stdout)["by"]["label"]["boundaries"]["parts"]["Y"]["systems"]
    assert found["B"]["value"] == pytest.approx(0.5)  # what B invented there costs it half
    assert "mean over the splits" not in json.dumps(json.loads(done.stdout)["by"])


def test_the_mean_over_data_sets_that_have_a_label_without_a_policy_for_nothing(tmp_path: Path) -> None:
    graphs = {
        "g1": "(w / want-01 :ARG0 (b / boy) :polarity -)",
        "a1": "(w / want-01 :ARG0 (b / boy))",
        "g2": "(s / sleep-01 :ARG0 (c / cat))",
    }
    for name, graph in graphs.items():
        (tmp_path / name).write_text("\n\n".join(f"# ::id {name[1]}{k}\n{graph}" for k in range(2)) + "\n")
    g1, a1, g2 = (tmp_path / name for name in graphs)
    done = run(
        "compare", "amr", f"news={g1},web={g2}", f"A={a1},{g2}", f"B={g1},{g2}",
        "--by", "label", "--resamples", "50", "--format", "json",
    )  # fmt: skip
    for found in json.loads(done.stdout)["by"]["label"].values():
        part = next(one for name, one in found["parts"].items() if "polarity" in name)
        assert {s: one["value"] for s, one in part["systems"].items()} == {"A": 0.0, "B": 1.0}


def test_cautions_say_which_table_they_are_about_and_what_the_tests_are(tmp_path: Path) -> None:
    said = news_and_web(tmp_path, "--format", "table").stderr
    assert "Nothing could be significant: with 5 documents p is at least 0.062.\n" in said
    assert "boundaries by type: Nothing could be significant" in said
    assert "multiplies the smallest p of 2 tests by 2." in said
    assert "pairs of systems" not in said


def test_one_document_has_no_tests_to_correct(tmp_path: Path) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text(json.dumps(relations([["X"]])[0]) + "\n")
    done = run("compare", "relations", one, f"A={one}", f"B={one}", "--by", "label", "--format", "table")
    assert "Nothing is tested" in done.stdout
    assert "over 0 tests" not in done.stdout


def test_groups_that_are_in_two_data_sets_are_named(tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    names = {"d0": "p1", "d1": "p1", "d2": "p2", "d10": "p2", "d11": "p3"}
    groups.write_text("id,patient\n" + "".join(f"{key},{name}\n" for key, name in names.items()))
    warning = "in more than one split:"
    assert f'1 group {warning} "p2"' in news_and_web(tmp_path, "--groups", f"{groups}:patient").stderr
    assert warning not in news_and_web(tmp_path).stderr


def test_the_interval_of_a_rare_label_leaves_out_resamples_without_it(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    documents = relations([["X", "Rare"]] * 2 + [["X"]] * 38)
    gold.write_text("".join(json.dumps(one) + "\n" for one in documents))
    documents[5]["relations"] = []
    system.write_text("".join(json.dumps(one) + "\n" for one in documents))
    how = ["--metric", "boundaries", "--by", "label", "--intervals", "--resamples", "2000"]
    done = run("score", "relations", gold, system, *how, "--format", "table")
    row = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["Rare"])
    assert row.count("1.0000 [1.0000, 1.0000]") == 3
    absent = re.search(
        r"Absent from some of the 2,000 resamples, which its interval leaves out: Rare \((\d+)\)", done.stdout
    )
    assert absent is not None
    assert int(absent[1]) == pytest.approx(2000 * (38 / 40) ** 40, abs=80)
    missed = tmp_path / "missed.jsonl"  # what was drawn and not found still counts as 0
    documents[0]["relations"] = documents[1]["relations"] = []
    missed.write_text("".join(json.dumps(one) + "\n" for one in documents))
    row = next(
        line
        for line in run("score", "relations", gold, missed, *how, "--format", "table").stdout.splitlines()
        if "Rare" in line
    )
    assert row.count("0.0000 [0.0000, 0.0000]") == 3
    compared = run("compare", "relations", gold, f"a={system}", f"b={missed}", *how[:4], *how[5:], "--format", "json")
    systems = json.loads(compared.stdout)["by"]["label"]["boundaries"]["parts"]["Rare"]["systems"]
    assert {name: one["interval"] for name, one in systems.items()} == {"a": [1, 1], "b": [0, 0]}


def test_every_mark_of_several_systems_is_explained_below_its_own_table() -> None:
    gold = [{"id": k, "a": k % 5} for k in range(40)]
    systems = {
        name: ts.score(gold, [{**one, "a": 9} if one["id"] % of == 0 else one for one in gold])
        for name, of in (("x", 2), ("y", 3), ("z", 100))
    }
    figures, pairs, worse = ts.compare(systems, resamples=200).by("field")
    assert figures.rows[0][4].mark == "ab"
    assert figures.notes[1].startswith("Letters: systems, by the letter before their name,")
    assert [note[0] for note in pairs.notes] == ["*", "N"]
    assert pairs.notes[1] == "No document is worse in z than in x."
    assert worse.title == "Worse in y than in x, records: 7 documents"

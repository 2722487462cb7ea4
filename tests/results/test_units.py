"""What is drawn: documents, sentences or groups, within each of several data sets; against scipy on the same resamples."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tallystick as ts
from running import run
from tallystick.engine.drawing import bias_of, documents_drawn, efrons_acceleration, moved
from tallystick.engine.tally import Counts
from tallystick.errors import InputError, MetricError
from tallystick.results.compare import compare
from tallystick.results.resampling import figure_left_out, intervals, resampled_figures
from tallystick.results.result import RESAMPLES, Result, in_units
from tallystick.results.results import Results
from tallystick.results.selection import stacked

TAGS = ("O", "O", "B-PER", "B-LOC")


def counts(documents: int, seed: int) -> Results:
    rng = np.random.default_rng(seed)
    items = 1 + rng.poisson(4, documents)
    right = rng.binomial(items, rng.beta(2, 1, documents))
    rows = np.stack((right, right + rng.poisson(1, documents), right, items), axis=1).astype(float)
    return Results({"f1": Result("f1", Counts(), rows, tuple(f"d{k}" for k in range(documents)))})


def corpus(seed: int = 0) -> tuple[list[list[list[str]]], list[list[list[str]]]]:
    """Documents of sentences of tags, and a system that is bad at some documents."""
    rng = np.random.default_rng(seed)
    gold, system = [], []
    for _ in range(15):
        hard = rng.random()
        document = [[TAGS[rng.integers(4)] for _ in range(8)] for _ in range(rng.integers(2, 7))]
        gold.append(document)
        system.append([[tag if rng.random() > hard * 0.5 else "O" for tag in sentence] for sentence in document])
    return gold, system


def written(path: Path, documents: list[list[list[str]]]) -> Path:
    texts = (
        "-DOCSTART- O\n\n" + "".join("".join(f"w {tag}\n" for tag in one) + "\n" for one in of) for of in documents
    )
    path.write_text("".join(texts))
    return path


def flat(documents: list[list[list[str]]]) -> list[list[str]]:
    return [sentence for document in documents for sentence in document]


def scipy_interval(values: Any, statistic: Any, samples: tuple[Any, ...], method: str) -> list[float]:
    """The interval that scipy makes of these resamples."""
    stats = pytest.importorskip("scipy.stats")
    drawn = SimpleNamespace(bootstrap_distribution=values)  # scipy adds 0 resamples of its own to these
    found = stats.bootstrap(samples, statistic, method=method, n_resamples=0, bootstrap_result=drawn)
    return [found.confidence_interval.low, found.confidence_interval.high]


def f1(rows: Any) -> Any:
    sums = rows.sum(axis=-2)
    return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 3])


def test_groups_are_drawn_as_a_whole_as_scipy_draws_their_sums() -> None:
    results = counts(60, 1)
    groups = [f"g{k % 17}" for k in range(60)]
    rows = results["f1"].rows
    sums = np.stack([rows[[k for k in range(60) if k % 17 == g]].sum(axis=0) for g in range(17)])
    weights = np.concatenate([block.copy() for block in documents_drawn((17,), 500, 3)])
    values = f1(np.stack([weights[k][:, None] * sums for k in range(500)]))
    found = results.intervals(groups=groups, resamples=500, seed=3)["f1"]["f1"]
    for method in ("percentile", "BCa"):
        theirs = scipy_interval(
            values.round(11), lambda places, axis=-1: f1(sums[places]).round(11), (np.arange(17),), method
        )
        left_out = figure_left_out([in_units(results.grouped(groups)["f1"])], "f1")
        chosen = moved((0.025, 0.975), bias_of(values, left_out.estimate), efrons_acceleration(left_out.without))
        ours = np.quantile(values, chosen).tolist() if method == "BCa" else [found.low, found.high]
        assert ours == pytest.approx(theirs, abs=1e-9)
    assert (
        results.intervals(resamples=500, seed=3)["f1"]["f1"]
        != results.intervals(groups=groups, resamples=500, seed=3)["f1"]["f1"]
    )
    assert results.grouped(groups)["f1"].figures == results["f1"].figures


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_strata_are_drawn_apart_as_scipy_draws_several_samples(method: str) -> None:
    first, second = counts(30, 1)["f1"], counts(50, 2)["f1"]
    both = stacked([first, second])
    values = resampled_figures([both], 500, 3, headline=True)[0]["f1"].values
    weights = np.concatenate([block.copy() for block in documents_drawn((30, 50), 500, 3)])
    plain = [(f1(w[:30, None] * first.rows) + f1(w[30:, None] * second.rows)) / 2 for w in weights]
    assert values == pytest.approx(plain, abs=1e-12)

    def mean(one: Any, two: Any, axis: int = -1) -> Any:
        return ((f1(first.rows[one]) + f1(second.rows[two])) / 2).round(11)

    samples = np.arange(30), np.arange(50)
    theirs = scipy_interval(values.round(11), mean, samples, method)
    if method == "percentile":
        found = compare({"A": {"one": {"f1": first}, "two": {"f1": second}}}, resamples=500, seed=3).cells["A", "f1"]
        assert found.value == pytest.approx((first.f1 + second.f1) / 2)
        assert list(found.ends or ()) == pytest.approx(theirs, abs=1e-10)
    else:  # scipy's acceleration is Efron's, which ours is a part of
        left_out = figure_left_out([both], "f1")
        chosen = moved((0.025, 0.975), bias_of(values, left_out.estimate), efrons_acceleration(left_out.without))
        assert np.quantile(values, chosen).tolist() == pytest.approx(theirs, abs=1e-9)
        ours = compare({"A": {"one": {"f1": first}, "two": {"f1": second}}}, resamples=500, seed=3, method="bca")
        assert list(ours.cells["A", "f1"].ends or ()) == pytest.approx(theirs, abs=0.01)


def test_a_stratified_randomisation_swaps_within_data_sets() -> None:
    """Of few documents all outcomes are taken: p is what listing them gives."""
    sets = {name: [counts(5, seed), counts(6, seed + 10)] for seed, name in enumerate("AB", 1)}
    systems = {name: dict(zip(("one", "two"), of, strict=True)) for name, of in sets.items()}
    found = compare(systems, test="randomisation").differences["f1", "A", "B"]
    rows = [[of["f1"].rows for of in sets[name]] for name in "AB"]
    observed = sum(f1(b) - f1(a) for a, b in zip(*rows, strict=True)) / 2
    hits = 0
    for number in range(2**11):
        swap = np.array([(number >> k) & 1 for k in range(11)], bool)
        change = 0.0
        for part, (a, b) in zip((swap[:5], swap[5:]), zip(*rows, strict=True), strict=True):
            left, right = np.where(part[:, None], b, a), np.where(part[:, None], a, b)
            change += (f1(right) - f1(left)) / 2
        hits += abs(change) >= abs(observed) - 1e-10
    assert found.value == pytest.approx(observed)
    assert found.p == pytest.approx(hits / 2**11)


def test_files_and_lists_have_the_same_interval_of_the_same_unit(tmp_path: Path) -> None:
    gold, system = corpus()
    files = written(tmp_path / "gold.iob", gold), written(tmp_path / "system.iob", system)
    lists = flat(gold), flat(system)
    of = [str(k) for k, document in enumerate(gold) for _ in document]
    by_document = ts.spans(*files, metrics="segment").intervals()["segment"]["f1"]
    by_sentence = ts.spans(*files, metrics="segment", unit="sentence").intervals()["segment"]["f1"]
    assert by_document != by_sentence
    assert ts.spans(*lists, metrics="segment").intervals()["segment"]["f1"] == by_sentence
    assert ts.spans(*lists, metrics="segment").intervals(groups=of)["segment"]["f1"] == by_document
    assert ts.spans(*files, metrics="segment", unit="document").intervals()["segment"]["f1"] == by_document
    printed = run(
        "score", "spans", *files, "--metric", "segment", "--intervals", "--unit", "sentence", "--format", "json"
    )
    found = json.loads(printed.stdout)
    assert found["intervals"]["segment"]["f1"] == [by_sentence.low, by_sentence.high]
    assert found["intervals_by"].endswith(f"unit=sentence, units={len(of)}")
    compared = run("compare", "spans", files[0], f"A={files[1]}", "--metric", "segment", "--format", "json").stdout
    assert json.loads(compared)["systems"]["A"]["segment"]["interval"] == [by_document.low, by_document.high]
    assert "unit=document, units=15" in json.loads(compared)["signature"]
    page = tmp_path / "page.html"
    said = run("score", "spans", *files, "--metric", "segment", "--intervals", "--report", page).stderr
    assert "intervals: resamples=10000, seed=0, level=0.95, interval=percentile, unit=document, units=15" in said
    assert "unit=document, units=15" in page.read_text()


def test_dependencies_have_sentences_too(tmp_path: Path) -> None:
    sentence = "# sent_id = {}\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t{}\tobj\t_\t_\n\n"
    gold = "".join(("# newdoc\n" if k % 3 == 0 else "") + sentence.format(k, 1) for k in range(9))
    system = gold.replace("1\tobj", "1\tnmod", 4)
    assert ts.dependencies(gold, system, metrics="las")["las"].count == 3
    by_sentence = ts.dependencies(gold, system, metrics="las", unit="sentence")
    assert (by_sentence["las"].count, by_sentence["las"].unit) == (9, "sentence")


def test_groups_of_a_field_a_file_a_mapping_and_a_list_are_the_same(tmp_path: Path) -> None:
    gold = [{"id": f"d{k}", "patient": f"p{k % 4}", "x": k, "y": k} for k in range(20)]
    system = [{**one, "y": one["y"] + (k % 3 == 0)} for k, one in enumerate(gold)]
    results = ts.records(gold, system)
    file = tmp_path / "about.csv"
    file.write_text("id,patient\n" + "".join(f"{one['id']},{one['patient']}\n" for one in gold))
    ways = ("patient", f"{file}:patient", {one["id"]: one["patient"] for one in gold}, [one["patient"] for one in gold])
    found = [results.intervals(groups=way, resamples=200)["records"] for way in ways]
    assert found.count(found[0]) == 4
    compared = [ts.compare({"A": results, "B": results}, groups=way, resamples=200) for way in ways]
    assert {one.cells["A", "records"].ends for one in compared} == {found[0]["f1"].ends}
    assert "unit=group (patient), units=4" in compared[0].settings
    assert compared[0].notes[0] == "4 groups"
    parts = compared[0].by("field")
    assert "unit=group (patient), units=4" in parts["records"].tested.settings
    grouped = results.grouped("patient")
    assert len(in_units(grouped["records"]).ids) == 4
    assert grouped["records"].count == 20
    assert grouped.slices("patient", resamples=50)["records"][0].documents == 5


def test_one_number_of_resamples_everywhere() -> None:
    results = counts(40, 1)
    assert RESAMPLES == 10_000
    ends = results.intervals()["f1"]["f1"].ends
    assert intervals([results["f1"]])[0]["f1"].ends == ends
    assert compare({"A": results}).cells["A", "f1"].ends == ends


def test_named_data_sets_have_a_table_with_intervals(tmp_path: Path) -> None:
    systems = {name: {"news": counts(20, 3 + side), "web": counts(30, 5 + side)} for side, name in enumerate("AB")}
    found = compare(systems, resamples=200)
    assert list(found.splits) == ["news", "web"]
    assert found.split_intervals["web"]["B", "f1"] == systems["B"]["web"].intervals(resamples=200)["f1"]["f1"]
    assert "units=20+30, strata=splits" in found.settings
    found.report(tmp_path / "page.html")
    assert "Splits" in (tmp_path / "page.html").read_text()
    with pytest.raises(MetricError, match='the same data sets: A has "news", "web", and B has "news"'):
        compare({"A": systems["A"], "B": {"news": systems["B"]["news"]}})
    with pytest.raises(MetricError, match="there are 2 splits, and 1 name for them"):
        compare({name: list(of.values()) for name, of in systems.items()}, splits=["news"])


def errors_of(*arguments: Any) -> str:
    text: str = run(*map(str, arguments), code=2).stderr
    return text


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    gold, system = corpus()
    files = written(tmp_path / "gold.iob", gold), written(tmp_path / "system.iob", system)
    some = tmp_path / "some.csv"
    some.write_text("id,group\n1,a\n2,b\n")
    score = ("score", "spans", *files, "--intervals")
    assert "--unit group: say which documents belong together" in errors_of(*score, "--unit", "group")
    assert "both say what is drawn" in errors_of(*score, "--unit", "sentence", "--groups", f"{some}:group")
    assert "has no row for 13 documents" in errors_of(*score, "--groups", f"{some}:group")
    some.write_text("id,group\n" + "".join(f"{k + 1},{'' if k else 'a'}\n" for k in range(15)))
    assert "has no group for 14 documents" in errors_of(*score, "--groups", f"{some}:group")
    assert "groups by nothing" in errors_of(*score, "--groups", "nothing")
    assert "--groups changes nothing without" in errors_of(*score[:-1], "--groups", f"{some}:group")
    assert "--resamples changes nothing" in errors_of(*score[:-1], "--resamples", "10")
    assert "looks at the whole corpus" in errors_of(
        *score[:-1], "--report", tmp_path / "p.html", "--groups", "x", "--jobs", "1"
    )
    jsonl = tmp_path / "gold.jsonl"
    jsonl.write_text('{"id": "a", "text": "Anna", "spans": [[0, 4, "PER"]]}\n')
    assert "say nothing about sentences" in errors_of("score", "spans", jsonl, jsonl, "--unit", "sentence")
    with pytest.raises(MetricError, match="the files tell no documents"):
        ts.spans([["O"]], [["O"]], unit="document")
    with pytest.raises(MetricError, match="2 groups for 40 documents; expected one for each"):
        counts(40, 1).intervals(groups=["a", "b"])
    with pytest.raises(InputError, match="has no row for 39 documents"):
        counts(40, 1).intervals(groups={"d0": "a"})
    one = counts(1, 1)
    assert one.intervals()["f1"]["f1"].ends is None
    assert counts(5, 1).intervals(groups=["a"] * 5)["f1"]["f1"].ends is None
    notes = compare({"A": counts(5, 1)}, groups=["a"] * 5).notes
    assert "With fewer than two groups there are no intervals, and nothing is tested." in notes
    crossing = counts(4, 1).grouped(["a", "a", "b", "b"])
    with pytest.raises(MetricError, match="have documents in several slices"):
        crossing.slices({"d0": 1, "d1": 2, "d2": 1, "d3": 2}, resamples=20)

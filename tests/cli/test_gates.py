"""Gates: figures of fields and labels, shares of invalid answers, baselines, JUnit, GitHub's annotations; and the history of results."""

from __future__ import annotations

import gzip
import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import tallystick as ts
from running import run
from tallystick.errors import InputError, MetricError, SidesMismatch
from tallystick.results.resampling import holm, randomisation
from tallystick.results.saved import load, sparkline

EXAMPLES = Path(ts.__file__).parent / "examples"


def invoices(total: float, seed: int = 1, documents: int = 60) -> tuple[list[Any], list[Any]]:
    draw = random.Random(seed)
    gold = [{"id": f"d{k}", "vendor": f"v{k % 3}", "total": k % 7, "lines": [{"price": k}]} for k in range(documents)]
    return gold, [{**one, "total": -1 if draw.random() < total else one["total"]} for one in gold]


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    gold, good = invoices(0.05)
    return {
        "gold": write(tmp_path / "gold.jsonl", gold),
        "good": write(tmp_path / "good.jsonl", good),
        "bad": write(tmp_path / "bad.jsonl", invoices(0.5)[1]),
        "base": tmp_path / "base.json",
    }


def test_a_field_a_label_and_a_metric_have_their_gates(files: dict[str, Path]) -> None:
    score = ("score", "records", files["gold"], files["bad"])
    run(
        *score,
        "--fail-under",
        "lines[*].price.f1=1",
        "--fail-under",
        "f1=0.5",
        "--fail-under",
        "records.vendor.recall=1",
    )
    done = run(*score, "--fail-under", "total.f1=0.9", "--fail-under", "vendor.f1=0.9", code=1)
    assert done.stderr.count("FAILED") == 1
    assert "FAILED: records total f1 is 0." in done.stderr
    done = run(*score, "--fail-under", "totl.f1=0.9", code=2)
    assert "no metric 'totl', and no field or label of that name" in done.stderr
    assert 'Did you mean "total"?' in done.stderr
    assert "has no figure 'f9'" in run(*score, "--fail-under", "total.f9=0.9", code=2).stderr
    assert "lies between 0 and 1" in run(*score, "--fail-under", "total.f1=90", code=2).stderr
    labels = ("--by", "label", "--label", "lines[*].price")
    assert "FAILED" not in run(*score, *labels, "--fail-under", "3.f1=1").stderr
    spans = ("score", "spans", EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob", "--metric", "segment")
    label = json.loads(run(*spans, "--by", "label", "--format", "json").stdout)["labels"]["segment"][0]
    name, value = label["label"], label["figures"]["f1"]
    run(*spans, "--fail-under", f"{name}.f1={value}")
    run(*spans, "--fail-under", f"{name}.f1={value + 0.01}", code=1)


def test_the_share_of_invalid_answers_has_a_gate(files: dict[str, Path], tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    lines = files["good"].read_text().splitlines()
    answers.write_text(
        "\n".join([*lines[:-6], *(json.dumps({"id": f"d{k}", "out": "sorry"}) for k in range(54, 60))]) + "\n"
    )
    wrapped = [{"id": json.loads(line)["id"], "out": line} for line in lines[:-6]]
    wrapped += [{"id": f"d{k}", "out": "sorry"} for k in range(54, 60)]
    write(answers, wrapped)
    score = ("score", "records", files["gold"], answers, "--from", "out", "--lenient")
    run(*score, "--fail-under", "invalid=0.1")
    assert (
        "invalid is 0.1000, above 0.09 (lower is better)" in run(*score, "--fail-under", "invalid=0.09", code=1).stderr
    )


LACKING = (
    ("records", {"x": 1}, {"x": 1}, ("--missing", "empty")),
    ("records", {"x": 1}, {"x": 1}, ("--missing", "empty", "--lenient")),
    ("records", {"x": 1}, {"x": 1}, ("--missing", "empty", "--shard", "1")),
    ("records", {"x": 1}, {"x": 1}, ("--lenient",)),
    ("calls", {"calls": [{"name": "f", "arguments": {"x": 1}}]}, {"error": "timeout"}, ("--missing", "empty")),
    ("calls", {"calls": [{"name": "f", "arguments": {"x": 1}}]}, {"error": "timeout"}, ("--lenient",)),
)


@pytest.mark.parametrize(("task", "one", "other", "options"), LACKING)
def test_gate_and_json_count_the_same_invalid_answers(task, one, other, options, tmp_path: Path) -> None:
    """A document without an answer is one of them, whatever allows it."""
    gold = write(tmp_path / "gold.jsonl", [{"id": f"d{k}", **one} for k in range(4)])
    answers = write(tmp_path / "answers.jsonl", [{"id": "d0", **one}, {"id": "d1", **other}])
    done = run("score", task, gold, answers, *options, "--fail-under", "invalid=0", "--format", "json", code=1)
    found = json.loads(done.stdout)
    share = 0.5 + 0.25 * ("error" in other)
    assert f"invalid is {share:.4f}" in done.stderr
    assert found["invalids"] == 4 * share == len(found["invalid"])
    assert {one["document"] for one in found["invalid"]} >= {"d2", "d3"}
    said = [line for line in found["warnings"] if "d2" in line or "d3" in line]
    assert len(said) == 1, "it is told once"


def test_null_rows_of_parquet_are_told_where_documents_may_be_missing(tmp_path: Path) -> None:
    """They are there, so that they are no documents that were not answered."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"id": f"d{k}", "r": {"x": k}} for k in range(3)]
    for name, content in (("gold", rows), ("system", [rows[0], {"id": "d1", "r": None}])):
        parquet.write_table(pa.Table.from_pylist(content), tmp_path / f"{name}.parquet")
    files = tmp_path / "gold.parquet", tmp_path / "system.parquet"
    options = ("--from", "r", "--reference-from", "r", "--missing", "empty", "--format", "json")
    found = json.loads(run("score", "records", *files, *options).stdout)
    assert found["invalids"] == 2
    assert any(one.startswith("invalid, scoring nothing: 1 prediction (d1: ") for one in found["warnings"])
    assert any(one.startswith("1 document not answered") and '"d2"' in one for one in found["warnings"])


def test_a_baseline_fails_on_a_significant_loss_only(files: dict[str, Path], tmp_path: Path) -> None:
    assert (
        f"saved: {files['base']}"
        in run("score", "records", files["gold"], files["good"], "--save", files["base"]).stderr
    )
    noisy = write(tmp_path / "noisy.jsonl", invoices(0.08)[1])
    done = run("score", "records", files["gold"], noisy, "--baseline", files["base"])
    assert "no significant loss" in done.stderr
    done = run("score", "records", files["gold"], files["bad"], "--baseline", files["base"], "--format", "json", code=1)
    failed = [line for line in done.stderr.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 2
    assert failed[1].startswith("FAILED: significant loss: records, field total: f1 is 0.")
    assert ", p 0.00" in failed[1]
    changes = {row["part"]: row for row in json.loads(done.stdout)["baseline"]["changes"]}
    assert [part for part, row in changes.items() if row["loss"]] == [None, "total"]
    better = run("score", "records", files["gold"], files["gold"], "--baseline", files["base"])
    assert "no significant loss" in better.stderr


def test_p_against_a_baseline_is_that_of_the_paired_test(files: dict[str, Path]) -> None:
    """The oracle: both results at hand, each figure through the plain test, then Holm."""
    before, now = (ts.records(files["gold"], files[name]) for name in ("good", "bad"))
    before.save(files["base"])
    found = now.against(files["base"], resamples=1000)
    parts = [
        results.background.portions(results, "field", None)["records"].results(results["records"])
        for results in (before, now)
    ]
    pairs = {None: (before["records"], now["records"]), **{name: (parts[0][name], parts[1][name]) for name in parts[0]}}
    alone = {name: randomisation(*pair, resamples=1000) for name, pair in pairs.items()}
    assert [one.part for one in found.changes] == list(alone)
    expected = dict(zip(alone, holm([d.p or 1.0 for d in alone.values()]), strict=True))
    for one in found.changes:
        assert (one.difference.value, one.difference.p, one.difference.corrected) == (
            alone[one.part].value,
            alone[one.part].p,
            expected[one.part],
        )
        assert (one.before, one.now) == tuple(result.f1 for result in pairs[one.part])
    assert [one.part for one in found.losses] == [None, "total"]
    assert found.table().rows[0][-1] == "lost"


@pytest.mark.parametrize(
    "task", ["spans", "relations", "events", "arguments", "templates", "coreference", "amr", "calls"]
)
def test_every_task_has_a_baseline(task: str, tmp_path: Path) -> None:
    names = {"spans": "iob", "coreference": "conll", "amr": "txt"}
    suffix = names.get(task, "jsonl")
    gold = EXAMPLES / f"{task}.gold.{suffix}"
    system = EXAMPLES / (f"{task}.openai.{suffix}" if task == "calls" else f"{task}.system.{suffix}")
    base = tmp_path / "base.json"
    run("score", task, gold, system, "--save", base)
    assert "no significant loss" in run("score", task, gold, system, "--baseline", base).stderr
    found = getattr(ts, task)(gold, system).against(base, resamples=50)
    assert all(one.difference.value in (0, None) for one in found.changes)
    assert any(one.part is not None for one in found.changes) == (task != "coreference")


def test_labels_that_only_the_baseline_has(tmp_path: Path) -> None:
    """A tag that only the former system predicted has sums of its own."""
    gold, old, new = (
        write_iob(tmp_path / name, tags)
        for name, tags in (("gold", ["B-A", "O"]), ("old", ["B-A", "B-X"]), ("new", ["B-A", "O"]))
    )
    run("score", "spans", gold, old, "--save", tmp_path / "base.json")
    found = ts.spans(gold, new).against(tmp_path / "base.json", resamples=50)
    before = {(one.metric, one.part): one.before for one in found.changes}
    assert before["segment", None] == pytest.approx(2 / 3)
    assert ("segment", "X") in before


def write_iob(path: Path, tags: list[str]) -> Path:
    lines = [f"w {tag}" for tag in tags]
    path.with_suffix(".iob").write_text("\n\n".join("\n".join(lines) for _ in range(6)) + "\n")
    return path.with_suffix(".iob")


def test_a_baseline_of_something_else_is_an_error(files: dict[str, Path], tmp_path: Path) -> None:
    score = ("score", "records", files["gold"], files["good"])
    run(*score, "--save", files["base"])
    assert "no such file" in run(*score, "--baseline", tmp_path / "nothing.json", code=2).stderr
    (tmp_path / "text.json").write_text("{")
    assert "text.json" in run(*score, "--baseline", tmp_path / "text.json", code=2).stderr
    (tmp_path / "other.json").write_text('{"a": 1}')
    assert (
        "is no result of tallystick; save it with --save"
        in run(*score, "--baseline", tmp_path / "other.json", code=2).stderr
    )
    (tmp_path / "plain.json").write_text(run(*score, "--format", "json").stdout)
    assert "holds no sums of its documents" in run(*score, "--baseline", tmp_path / "plain.json", code=2).stderr
    assert "was computed differently" in run(*score, "--credit", "all", "--baseline", files["base"], code=2).stderr
    fewer = (
        write(tmp_path / "fewer.jsonl", invoices(0.05)[0][:50]),
        write(tmp_path / "few.jsonl", invoices(0.05)[1][:50]),
    )
    done = run("score", "records", *fewer, "--baseline", files["base"], code=3)
    assert 'only the baseline has "d50"' in done.stderr
    gold = invoices(0.05)[0]
    changed = write(tmp_path / "changed.jsonl", [{**gold[0], "lines": []}, *gold[1:]])
    done = run("score", "records", changed, files["good"], "--baseline", files["base"], code=3)
    assert 'against another reference: "d0" have changed' in done.stderr
    spans = ("score", "spans", EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob")
    assert "is a result of records, and this is one of spans" in run(*spans, "--baseline", files["base"], code=2).stderr
    run(*spans, "--metric", "segment", "--save", tmp_path / "s.json")
    assert "has no metric 'ts'" in run(*spans, "--metric", "ts", "--baseline", tmp_path / "s.json", code=2).stderr
    broken = json.loads(files["base"].read_text())
    broken["saved"]["parts"]["field"]["records"]["rows"]["total"] = [[1, 2], 1, 1, 1]
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    assert "do not fit its 60 documents" in run(*score, "--baseline", tmp_path / "broken.json", code=2).stderr
    assert "leave it out, or --jobs" in run(*score, "--save", tmp_path / "x.json", "--jobs", "2", code=2).stderr
    assert (
        "--junit writes what --fail-under and --baseline find"
        in run(*score, "--junit", tmp_path / "j.xml", code=2).stderr
    )
    for error, name in ((InputError, "plain.json"), (MetricError, "s.json")):
        with pytest.raises(error):
            ts.records(files["gold"], files["good"]).against(tmp_path / name)
    with pytest.raises(SidesMismatch):
        ts.records(*fewer).against(files["base"])


def test_junit_and_githubs_annotations(files: dict[str, Path], tmp_path: Path) -> None:
    run("score", "records", files["gold"], files["good"], "--save", files["base"])
    gates = (
        "--fail-under",
        "vendor.f1=1",
        "--fail-under",
        "total.f1=0.99",
        "--baseline",
        files["base"],
        "--junit",
        tmp_path / "j.xml",
    )
    done = run("score", "records", files["gold"], files["bad"], *gates, code=1, GITHUB_ACTIONS="true")
    annotations = [line for line in done.stderr.splitlines() if line.startswith("::error")]
    assert len(annotations) == 3
    assert annotations[0].startswith("::error title=tallystick records total::records total f1 is 0.")
    suite = ET.parse(tmp_path / "j.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "3")
    assert [case.find("failure") is not None for case in suite] == [False, True, True, False, True, False]
    done = run("score", "records", files["gold"], files["bad"], *gates[:4], code=1, GITHUB_ACTIONS="")
    assert "::error" not in done.stderr


def test_history_shows_figures_over_time(files: dict[str, Path], tmp_path: Path) -> None:
    saved = []
    for name in ("bad", "good", "gold"):
        saved.append(tmp_path / f"{name}.json")
        run("score", "records", files["gold"], files[name], "--save", saved[-1])
    found = json.loads(run("history", *saved, "--format", "json").stdout)
    assert found["columns"] == ["bad", "good", "gold"]
    assert found["figures"]["records f1"] == sorted(found["figures"]["records f1"])
    table = run("history", *saved, "--by", "field", "--format", "table").stdout
    assert "records total" in table
    assert "█" in table
    labels = run("history", *saved, "--by", "label", code=2).stderr
    assert "none of the files has figures by label" in labels
    pytest.importorskip("matplotlib")
    run("history", *saved, "--picture", tmp_path / "h.svg")
    assert "<svg" in (tmp_path / "h.svg").read_text()
    (tmp_path / "text.json").write_text("[1]")
    assert "is no result of tallystick" in run("history", tmp_path / "text.json", code=2).stderr
    (tmp_path / "lines.json").write_text('{"id": 1}\n{"id": 2}\n')
    said = run("history", tmp_path / "lines.json", code=2).stderr
    assert (
        "lines.json:2:1: is no result of tallystick (is not JSON: found '{\"id\":' after the value); save it with --save"
        in said
    )
    assert load(saved[0]).time.startswith("20")


def test_a_sparkline_goes_from_the_lowest_to_the_highest() -> None:
    assert sparkline([0.1, 0.6, None, 0.9]) == "▁▅ █"
    assert sparkline([0.5, 0.5]) == "▄▄"
    assert sparkline([None]) == ""


def test_a_changed_reference_is_no_baseline(tmp_path):
    """Names of documents alone say little: those of IOB files are numbers."""
    text = "a B-X\nb O\n\nc B-Y\nd O\n"
    gold, other, packed = tmp_path / "gold.iob", tmp_path / "other.iob", tmp_path / "gold.iob.gz"
    gold.write_text(text)
    other.write_text(text.replace("B-Y", "B-X"))
    packed.write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    saved = tmp_path / "saved.json"
    run("score", "spans", gold, gold, "--save", saved)
    run("score", "spans", packed, gold, "--baseline", saved)
    done = run("score", "spans", other, gold, "--baseline", saved, code=3)
    assert "is a result against another reference than" in done.stderr
    assert ts.spans(gold, gold).against(saved).losses == ()
    with pytest.raises(SidesMismatch, match="another reference"):
        ts.spans(other, gold).against(saved)


def test_another_signature_is_named_by_what_differs(tmp_path):
    gold, predicted, saved = tmp_path / "g.jsonl", tmp_path / "p.jsonl", tmp_path / "saved.json"
    gold.write_text('{"id": "a", "x": 1, "y": "b"}\n')
    predicted.write_text('{"id": "a", "x": 1, "y": "b", "sure": 0.5}\n')
    run("score", "records", gold, predicted, "--confidence", "sure", "--save", saved)
    done = run("score", "records", gold, predicted, "--baseline", saved, code=2)
    assert ": there confidence=sure; here nothing. Score" in done.stderr


def test_a_field_without_a_figure_is_told_what_to_say(tmp_path):
    gold = tmp_path / "g.jsonl"
    gold.write_text('{"id": "a", "x": 1, "y": "b"}\n')
    done = run("score", "records", gold, gold, "--fail-under", "x=0.9", code=2)
    assert "'x' is a field or label; say which figure of it, such as x.f1=0.9" in done.stderr


def test_an_option_that_replaces_an_earlier_one_is_named(tmp_path):
    gold = tmp_path / "g.jsonl"
    gold.write_text('{"id": "a", "x": 1, "y": "b"}\n{"id": "b", "x": 2, "y": "b"}\n')
    done = run(
        "score",
        "records",
        gold,
        gold,
        "--slice",
        "x",
        "--fail-under",
        "f1=1",
        "--slice",
        "y",
        "--fail-under",
        "exact=1",
    )
    assert "Warning: --slice was given 2 times; only the last one counts" in done.stderr
    assert "fail-under was" not in done.stderr
    assert "given" not in run("score", "records", gold, gold, "--slice", "y").stderr


def test_slices_by_a_list_say_what_slices_are_by(tmp_path):
    gold = tmp_path / "g.jsonl"
    gold.write_text('{"id": "a", "x": [{"y": 1}]}\n')
    done = run("score", "records", gold, gold, "--slice", "x[*].y", code=2)
    assert "they are by one value of each document, and a list has several" in done.stderr


def test_damaged_results_are_errors_with_a_place(tmp_path: Path) -> None:
    """Whatever of a saved result is of another kind, or not there, is named; nothing of it is read as something else."""
    write(tmp_path / "gold", [{"id": str(k), "a": k % 3, "b": "x"} for k in range(4)])
    write(tmp_path / "system", [{"id": str(k), "a": k % 2, "b": "x"} for k in range(4)])
    score = "score", "records", tmp_path / "gold", tmp_path / "system"
    run(*score, "--save", tmp_path / "base.json", "--by", "field")
    whole = json.loads((tmp_path / "base.json").read_text())
    damages: list[tuple[list[str], Any]] = [
        (["metrics", "records"], 1.5),
        (["saved"], [1]),
        (["saved", "ids"], [[1]]),
        (["saved", "metrics"], 1),
        (["saved", "metrics", "records"], {}),
        (["saved", "metrics", "records", "sums"], 1.5),
        (["saved", "metrics", "records", "rows"], [[None] * 4] * 4),
        (["saved", "parts"], 1.5),
        (["saved", "parts", "field", "records"], {"rows": {"a": [1, 2]}}),
        (["saved", "parts", "field", "records", "beta"], 0),
    ]
    for path, damage in damages:
        content = json.loads(json.dumps(whole))
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = damage
        (tmp_path / "bad.json").write_text(json.dumps(content))
        done = run(*score, "--baseline", tmp_path / "bad.json", code=2)
        assert "bad.json" in done.stderr, path
        done = run("history", tmp_path / "bad.json", "--by", "field", code=2)
        assert "bad.json" in done.stderr, path
    for damage in ([1], {"records": [{"path": "a"}]}, {"records": 1}, {"records": [{"path": 1, "figures": {}}]}):
        (tmp_path / "bad.json").write_text(json.dumps({**whole, "fields": damage}))
        assert "bad.json" in run("history", tmp_path / "bad.json", "--by", "field", code=2).stderr


@pytest.mark.parametrize(("gate", "problem"), [("f1", "expects FIGURE=VALUE"), ("f1=90", "between 0 and 1")])
def test_a_gate_that_cannot_be_understood_is_reported_before_anything_is_scored(
    files: dict[str, Path], gate: str, problem: str
) -> None:
    done = run("score", "records", files["gold"], files["good"], "--fail-under", gate, code=2)
    assert problem in done.stderr
    assert "shape" not in done.stderr
    assert not done.stdout

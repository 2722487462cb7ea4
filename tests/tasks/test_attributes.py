"""Figures by the attributes of items: they add up to the whole, and are what a plain count gives."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallystick as ts
from bundled import EXAMPLES, FILES
from running import run
from tallystick.engine.tally import Counts
from tallystick.errors import InputError, MetricError
from tallystick.results.parts import bin_of, bin_order
from tallystick.tasks.attributes import TRAINED
from tallystick.tasks.contract import find_task, task_names


def files(task: str) -> tuple[Path, Path]:
    gold, system = FILES[task]
    return EXAMPLES / gold, EXAMPLES / system


ALL = [(task, by) for task in task_names() for by in find_task(task).all_attributes]


@pytest.mark.parametrize(("task", "by"), ALL)
def test_parts_add_up_to_the_whole(task: str, by: str) -> None:
    gold, system = files(task)
    results = getattr(ts, task)(gold, system)
    train = str(gold) if by in TRAINED else None
    found = results.background.portions(results, by, None, train)
    assert found
    for metric, portions in found.items():
        total = sum((rows.sum(axis=0) for rows in portions.rows.values()), np.zeros(4))
        own = results[metric]
        if isinstance(own.kind, Counts):
            assert total == pytest.approx(own.sums[:4])
        else:
            assert total[0] / total[1] == own.precision
            assert total[2] / total[3] == own.recall
    tables = results.by(by, train=train, intervals=True)
    assert [table.title for table in tables] == list(found)
    assert tables[0].columns[0] == by


def test_bins_double_and_are_in_order() -> None:
    numbers = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 1000, 0.2, 2.5]
    assert list(map(bin_of, numbers)) == (
        ["0", "1", "2", "3-4", "3-4", "5-8", "5-8", "9-16", "9-16", "17-32", "513-1024", "1", "3-4"]
    )
    assert [bin_of(one) for one in (None, "", float("nan"), "x", True)] == ["(none)", "(none)", "(none)", "x", "yes"]
    parts = ["root", "(none)", "17-32", "2", "0", "9-16"]
    assert sorted(parts, key=bin_order) == ["0", "2", "9-16", "17-32", "root", "(none)"]


def spans_at_random(seed: int) -> tuple[list[list[tuple[int, int, str]]], list[list[tuple[int, int, str]]]]:
    rng = np.random.default_rng(seed)

    def text() -> list[tuple[int, int, str]]:
        starts = rng.choice(40, size=6, replace=False)
        return sorted({(int(a), int(a + rng.integers(1, 7)), "XY"[rng.integers(2)]) for a in starts})

    gold = [text() for _ in range(8)]
    return gold, [sorted({*(one for one in spans if rng.random() < 0.7), *text()[:2]}) for spans in gold]


def test_spans_by_length_are_what_a_plain_count_gives() -> None:
    gold, system = spans_at_random(0)
    table = ts.spans(gold, system, metrics="segment").by("length")[0]
    sums: dict[str, Counter[str]] = {}
    for left, right in zip(gold, system, strict=True):
        for name, side in (("r", left), ("p", right)):
            for span in side:
                count = sums.setdefault(bin_of(span[1] - span[0]), Counter())
                count[name] += 1
                count[f"right_{name}"] += span in left and span in right
    expected = {
        part: (n["right_p"] / n["p"] if n["p"] else 0, n["right_r"] / n["r"] if n["r"] else 0, n["r"])
        for part, n in sums.items()
    }
    assert {row[0]: (row[1], row[2], row[4]) for row in table.rows} == expected
    assert [row[0] for row in table.rows] == sorted(expected, key=bin_order)


def test_seen_and_frequency_are_by_what_the_training_data_say() -> None:
    tokens = [["Anna", "met", "Bob", "in", "Rome"]]
    gold = [{"tokens": tokens[0], "spans": [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC")]}]
    system = [{"tokens": tokens[0], "spans": [(0, 1, "PER"), (3, 5, "LOC")]}]
    train = [
        {"tokens": ["anna", "and", "ANNA"], "spans": [(0, 1, "PER"), (2, 3, "PER")]},
        {"tokens": ["Rome"], "spans": [(0, 1, "LOC")]},
    ]
    results = ts.spans(gold, system, metrics="segment")
    rows = {row[0]: row[1:] for row in results.by("seen", train=train)[0].rows}
    assert rows["seen"] == [1.0, 0.5, pytest.approx(2 / 3), 2]
    assert rows["unseen"] == [0.0, 0.0, 0.0, 1]
    assert [row[0] for row in results.by("frequency", train=train)[0].rows] == ["0", "1", "2"]


CONLLU = """1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_
2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsaw\t_\tVERB\t_\t_\t0\troot\t_\t_
4\tthe\t_\tDET\t_\t_\t5\tdet\t_\t_
5\tdog\t_\tNOUN\t_\t_\t3\tobj\t_\t_

"""


def test_las_by_relation_distance_and_depth() -> None:
    wrong = CONLLU.replace("3\tobj", "2\tnmod").replace("3\tnsubj", "3\tobj")
    results = ts.dependencies(CONLLU, wrong, metrics=("las", "uas", "clas"))
    by = {
        name: {t.title: {row[0]: tuple(row[1:3]) for row in t.rows} for t in results.by(name)}
        for name in ("label", "distance", "depth")
    }
    assert by["label"]["las"] == {"det": (1, 1), "nsubj": (None, 0), "root": (1, 1), "obj": (0, 0), "nmod": (0, None)}
    assert by["label"]["uas"]["nsubj"] == (None, 1)
    assert "det" not in by["label"]["clas"]
    assert by["distance"]["uas"] == {"1": (1, 1), "2": (None, 0), "3-4": (0, None), "root": (1, 1)}
    assert by["depth"]["uas"] == {"0": (1, 1), "1": (1, 0.5), "2": (0.5, 1), "3-4": (1, None)}
    seen = results.by("seen", train=CONLLU.split("3\tsaw")[0].replace("3\tnsubj", "0\troot") + "\n")[0]
    assert {row[0]: row[4] for row in seen.rows} == {"seen": 3, "unseen": 2}


def test_the_commands_have_them(tmp_path: Path) -> None:
    gold, system = map(str, files("spans"))
    found = json.loads(run("score", "spans", gold, system, "--by", "length", "--intervals", "--format", "json").stdout)
    rows = found["by"]["length"]["segment"]
    assert [row["label"] for row in rows] == ["1", "2", "3-4"]
    assert all(set(row["intervals"]) == {"precision", "recall", "f1"} for row in rows)
    compared = run(
        "compare", "spans", gold, f"A={system}", f"B={gold}", "--by", "seen", "--train", gold, "--metric", "segment", "--format", "json"
    )  # fmt: skip
    parts = json.loads(compared.stdout)["by"]["seen"]["segment"]["parts"]
    assert list(parts) == ["seen", "unseen"]
    assert parts["seen"]["systems"]["B"]["value"] == 1
    relations = files("relations")
    assert "seen" in run("score", "relations", *relations, "--by", "seen", "--train", relations[0]).stdout


def errors_of(*arguments: Any) -> str:
    text: str = run(*map(str, arguments), code=2).stderr
    return text


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    gold, system = files("spans")
    (tmp_path / "empty.iob").write_text("")
    (tmp_path / "none.iob").write_text("a O\n")
    docred = tmp_path / "docred.json"
    docred.write_text(
        '[{"title": "a", "vertexSet": [[{"name": "x"}], [{"name": "y"}]], "labels": [{"r": "P1", "h": 0, "t": 1}]}]'
    )
    score = ("score", "spans", gold, system)
    assert "'distance' is not one of" in errors_of(*score, "--by", "distance")
    assert "figures by seen need training data: --train FILE" in errors_of(*score, "--by", "seen")
    assert "--train is for --by seen and --by frequency" in errors_of(*score, "--by", "length", "--train", gold)
    assert "nothing counts as seen" in errors_of(*score, "--by", "seen", "--train", tmp_path / "none.iob")
    assert "empty.iob" in errors_of(*score, "--by", "seen", "--train", tmp_path / "empty.iob")
    assert "no such file" in errors_of(*score, "--by", "seen", "--train", tmp_path / "nowhere.iob")
    assert "none of ts has figures by length" in errors_of(*score, "--by", "length", "--metric", "ts")
    assert "by length need the whole corpus" in errors_of(*score, "--by", "length", "--jobs", "1")
    assert "--train is for DocRED's files" in errors_of("score", "relations", *files("relations"), "--train", docred)
    results = ts.spans(gold, system)
    with pytest.raises(
        MetricError, match="no figures by depth; it has those by label, length, seen, frequency, document"
    ):
        results.by("depth")
    with pytest.raises(MetricError, match="train changes nothing by length"):
        results.by("length", train=str(gold))
    with pytest.raises((MetricError, InputError)):
        results.by("seen", train=str(tmp_path / "empty.iob"))


def test_documents_have_attributes_too() -> None:
    gold, system = files("spans")
    results = ts.spans(gold, system, metrics="segment")
    assert [one.value for one in results.slices("items", resamples=20)["segment"]] == ["2", "3-4"]
    assert [one.documents for one in results.slices("words", resamples=20)["segment"]] == [2]
    with pytest.raises(MetricError, match="the words of these documents are not known"):
        ts.amr("(a / b)", "(a / b)").slices("density")
    assert "17-32" in run("score", "spans", gold, system, "--slice", "density").stdout

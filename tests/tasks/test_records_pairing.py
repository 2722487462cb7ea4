"""Two files laid together in portions: the same pairs whatever the order, the size of the portions and the kind of file."""

import gzip
import json
import random

import pytest

from running import run
from tallystick.engine.values import Invalid
from tallystick.errors import InputError, SidesMismatch
from tallystick.files import lines as lines_module
from tallystick.tasks.records.files import lay_together
from tallystick.tasks.records.shapes import PLAIN
from tallystick.tasks.records.task import RecordSettings


@pytest.fixture(autouse=True)
def small_portions(monkeypatch):
    monkeypatch.setattr(lines_module, "MOST_LINES", 16)
    monkeypatch.setattr(lines_module.Lines.portions, "__defaults__", (16,))


def write(path, rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def pairs(left, right, **options):
    pairing = lay_together(left, right, PLAIN, RecordSettings(**options))
    return [
        (key, reference, predicted)
        for batch in pairing.batches()
        for key, reference, predicted in zip(batch.ids, batch.references, batch.predictions, strict=True)
    ], pairing


def documents(n):
    return [{"id": k, "v": k * k} for k in range(n)]


@pytest.mark.parametrize("order", ["same", "reversed", "shuffled", "two swapped", "late"])
@pytest.mark.parametrize("kind", ["plain", "gz", "bom", "blank lines", "crlf"])
def test_every_document_meets_its_own(tmp_path, order, kind):
    rows = documents(300)
    others = list(rows)
    if order == "reversed":
        others.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(others)
    elif order == "two swapped":
        others[100], others[101] = others[101], others[100]
    elif order == "late":
        others[-1], others[-2] = others[-2], others[-1]
    left, right = write(tmp_path / "a.jsonl", rows), write(tmp_path / "b.jsonl", others)
    if kind == "gz":
        packed = tmp_path / "b.jsonl.gz"
        packed.write_bytes(gzip.compress(right.read_bytes()))
        right = packed
    elif kind == "bom":
        right.write_bytes(b"\xef\xbb\xbf" + right.read_bytes())
    elif kind == "blank lines":
        right.write_bytes(right.read_bytes().replace(b"\n", b"\n\n  \n"))
    elif kind == "crlf":
        right.write_bytes(right.read_bytes().replace(b"\n", b"\r\n"))
    found, pairing = pairs(left, right)
    assert pairing.how == "by id"
    assert found == [(row["id"], row, row) for row in rows]


def test_by_order_the_numbers_must_be_equal(tmp_path):
    left, right = (
        write(tmp_path / "a.jsonl", [[k] for k in range(70)]),
        write(tmp_path / "b.jsonl", [[k] for k in range(65)]),
    )
    with pytest.raises(SidesMismatch, match=r"a\.jsonl has 70 records and .*b\.jsonl has 65"):
        pairs(left, right)
    found, pairing = pairs(left, left)
    assert pairing.how == "by order"
    assert [key for key, _, _ in found] == list(range(1, 71)), "the line is the name of the document"


@pytest.mark.parametrize("where", [5, 200])
def test_an_id_that_stands_twice_names_its_line(tmp_path, where):
    rows = documents(300)
    twice = [*rows[:where], {"id": 1, "v": 0}, *rows[where:]]
    good, bad = write(tmp_path / "a.jsonl", rows), write(tmp_path / "b.jsonl", twice)
    with pytest.raises(InputError, match="the id 1 "):
        pairs(good, bad)
    with pytest.raises(InputError, match=rf"b\.jsonl:{where + 1}: the id 1 is already used in line 2"):
        pairs(bad, good)


TWICE = ['{"a": 1, "a": 2}', '{"a": 1, "a"\t:2}', '{"a": 1, "a" \t :2}', '{"a" : 1, "a": 2}']


@pytest.mark.parametrize("twice", TWICE)
@pytest.mark.parametrize("kind", ["a few lines", "many lines", "flat", "under a path", "a mapping", "of a type"])
def test_a_key_that_stands_twice_in_one_object(tmp_path, kind, twice):
    """In a prediction, which a model writes, the last one counts; a reference has to be right."""
    good, options = '{"a": 2}', []
    lines = [f'{{"id": {k}, "v": {good}}}' for k in range(300 if kind == "many lines" else 5)]
    if kind == "flat":
        lines, good, twice = [f'{{"id": {k}, "a": 2}}' for k in range(300)], '"a": 2', twice[1:-1]
    elif kind == "under a path":
        lines, options = (
            [f'{{"id": {k}, "log": {{"v": {good}}}}}' for k in range(5)],
            ["--from", "log", "--reference-from", "log"],
        )
    elif kind == "of a type":
        (tmp_path / "types.py").write_text(
            "from dataclasses import dataclass\n@dataclass\nclass A:\n a: int\n b: int | None = None\n"
            "@dataclass\nclass R:\n id: int\n v: A\n"
        )
        options = ["--type", "types.py:R"]
    bad = [*lines[:3], lines[3].replace(good, twice), *lines[4:]]
    if kind == "a mapping":
        lines, bad = ([f'{{"a": {lines[0]}, "b": {lines[1]}, "c": {one}}}'] for one in (lines[3], bad[3]))
    for name, content in (("good", lines), ("bad", bad)):
        (tmp_path / f"{name}.{'json' if kind == 'a mapping' else 'jsonl'}").write_text("\n".join(content) + "\n")
    names = [path.name for path in (next(tmp_path.glob("good.*")), next(tmp_path.glob("bad.*")))]
    done = run("score", "records", *names[::-1], *options, cwd=tmp_path, code=2)
    assert "has the key 'a' twice in one object; expected each key once" in done.stderr
    assert kind == "a mapping" or "bad.jsonl:4: " in done.stderr
    done = run("score", "records", *names, *options, cwd=tmp_path, code=2 if kind == "a mapping" else 0)
    if kind != "a mapping":
        said = "duplicate keys in one object, of which the last counts: 1 prediction, the first: 'a' at bad.jsonl:4"
        assert said in done.stderr
    assert "twice" not in run("score", "records", names[0], names[0], *options, cwd=tmp_path).stderr


def test_an_id_that_is_missing_further_down(tmp_path):
    rows = documents(100)
    left = write(tmp_path / "a.jsonl", rows)
    right = write(tmp_path / "b.jsonl", [*rows[:50], {"v": 1}, *rows[51:]])
    with pytest.raises(InputError, match=r"b\.jsonl:51: has no text or number under 'id'"):
        pairs(left, right)


def test_lenient_an_unreadable_line_meets_the_document_in_its_place(tmp_path):
    rows = documents(100)
    left = write(tmp_path / "a.jsonl", rows)
    right = write(tmp_path / "b.jsonl", [*rows[:50], "no idea", *rows[51:]])
    found, pairing = pairs(left, right, lenient=True)
    assert isinstance(found[50][2], Invalid)
    assert [p for _, _, p in found[:50] + found[51:]] == rows[:50] + rows[51:]
    assert pairing.predicted.findings.invalid == [(50, "holds no JSON object or list")]


def test_lenient_in_another_order_it_leaves_its_document_without_a_prediction(tmp_path):
    rows = documents(100)
    left = write(tmp_path / "a.jsonl", rows)
    right = write(tmp_path / "b.jsonl", [*rows[:50], "no idea", *rows[51:]][::-1])
    found, pairing = pairs(left, right, lenient=True)
    assert [key for key, _, p in found if isinstance(p, Invalid)] == [50]
    assert pairing.predicted.findings.invalid == [(50, "has no prediction")]


NO_ID_IN_COMMON = '"1" is a number in the reference and text in the prediction, these are different ids'


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("score", ["--lenient"]),
        ("score", ["--lenient", "--missing", "empty"]),
        ("compare", ["--missing", "empty"]),
        ("compare", ["--missing", "intersect"]),
        ("compare", ["--missing", "empty", "--lenient"]),
    ],
)
def test_no_id_in_common_is_an_error_whatever_may_be_missing(tmp_path, command, options):
    write(tmp_path / "gold.jsonl", [{"id": 1, "v": 1}, {"id": 2, "v": 2}])
    write(tmp_path / "system.jsonl", [{"id": "1", "v": 1}, {"id": "2", "v": 2}])
    done = run(command, "records", "gold.jsonl", "system.jsonl", *options, cwd=tmp_path, code=3)
    assert NO_ID_IN_COMMON in done.stderr
    assert "--lenient" not in done.stderr
    assert "--missing" not in done.stderr


@pytest.mark.parametrize("missing", ["empty", "intersect"])
@pytest.mark.parametrize("task", ["spans", "templates", "coreference"])
def test_no_id_in_common_is_an_error_in_other_tasks_too(tmp_path, task, missing):
    held = {
        "spans": {"text": "a b", "spans": [[0, 1, "X"]]},
        "templates": {"templates": [{"type": "t", "slots": {}}]},
        "coreference": {"clusters": [[[0, 1]]]},
    }[task]
    for name, key in (("gold", "a"), ("system", "b")):
        write(tmp_path / f"{name}.jsonl", [{"id": key, "doc_key": key, **held}])
    done = run("compare", task, "gold.jsonl", "system.jsonl", "--missing", missing, cwd=tmp_path, code=3)
    assert 'only in the reference: "a"' in done.stderr
    assert "--missing" not in done.stderr


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_is_left_out_is_not_warned_of_otherwise(tmp_path, kind):
    gold = [{"id": "a", "v": 1, "w": "x"}, {"id": "b", "v": 2, "w": "y"}]
    bad = {"id": "z", "v": "many", "w": "x"}
    write(tmp_path / "gold.jsonl", gold)
    for name, rows in (("one", [bad, *gold]), ("two", [{**gold[0], "v": "one"}, {**gold[1]}]), ("three", gold[1:])):
        if kind == "parquet" and name == "one":
            pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
            table = pa.Table.from_pylist([{**row, "v": str(row["v"])} for row in rows])
            pq.write_table(table, tmp_path / "one.parquet")
        else:
            write(tmp_path / f"{name}.jsonl", rows)
    done = run("score", "records", "gold.jsonl", f"one.{kind}", "--lenient", cwd=tmp_path)
    assert 'ignored, having no reference: 1 prediction: "z"' in done.stderr
    if kind == "parquet":  # all of its numbers are texts
        assert "counted as wrong: 2 values (v 2)" in done.stderr
        return
    assert "wrong kind" not in done.stderr
    done = run("compare", "records", "gold.jsonl", "two.jsonl", "three.jsonl", "--missing", "empty", cwd=tmp_path)
    assert "wrong kind" in done.output
    done = run("compare", "records", "gold.jsonl", "two.jsonl", "three.jsonl", "--missing", "intersect", cwd=tmp_path)
    assert 'not answered, left out for all systems: "a"' in done.output
    assert "wrong kind" not in done.output

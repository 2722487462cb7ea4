"""What names a document: a text or a whole number, in every task; null is no name; anything else is an error that shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tallystick as ts
from running import run
from tallystick.errors import InputError, TallystickError

LINES: dict[str, dict[str, Any]] = {
    "records": {"v": 1},
    "calls": {"calls": [{"name": "f", "arguments": {}}]},
    "spans": {"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}]},
    "relations": {"relations": [{"type": "r", "subj": [0, 1, "A"], "obj": [1, 2, "B"]}]},
    "nary": {"relations": [{"args": {"Task": [[0, 1]]}}]},
    "events": {"events": [{"type": "a", "trigger": {"start": 0, "end": 1}, "arguments": []}]},
    "arguments": {"tokens": ["a"], "events": [{"id": "e", "type": "a", "arguments": [{"role": "x", "text": "a"}]}]},
    "templates": {"templates": [{"type": "a", "slots": {"V": ["x"]}}]},
    "roles": {"roles": {"A": [["x"]]}},
    "coreference": {"clusters": [[[0, 1], [3, 4]]]},
    "hierarchies": {"events": ["a", "b"], "links": {"subevent": [["a", "b"]]}},
    "amr": {"triples": [["a", "instance", "b"]]},
}
WRONG = {True: "true", 1.5: "1.5", 1000.0: "1000.0"}


def write(path: Path, task: str, ids: list[Any]) -> Path:
    path.write_text("".join(json.dumps({"id": one, **LINES[task]}) + "\n" for one in ids))
    return path


@pytest.mark.parametrize("ids", [[True, False], [1.5, 2.5], ["a", 1000.0]], ids=str)
@pytest.mark.parametrize("task", LINES)
def test_truth_values_and_floats_are_no_ids(task: str, ids: list[Any], tmp_path: Path) -> None:
    files = [write(tmp_path / name, task, ids) for name in ("gold.jsonl", "system.jsonl")]
    wrong = next(one for one in ids if not isinstance(one, str))
    done = run("score", task, *files, code=2)
    assert f"gold.jsonl:{ids.index(wrong) + 1}" in done.stderr
    assert f"id: expected text or a whole number, found {WRONG[wrong]}" in done.stderr
    good = write(tmp_path / "good.jsonl", task, ["a", "b"])
    done = run("score", task, good, files[1], code=2)
    assert f"system.jsonl:{ids.index(wrong) + 1}" in done.stderr


@pytest.mark.parametrize("task", LINES)
def test_texts_and_whole_numbers_are(task: str, tmp_path: Path) -> None:
    for ids in (["a", ""], [3, 10**30], ["a", 7]):
        files = [write(tmp_path / f"{k}.jsonl", task, order) for k, order in enumerate((ids, ids[::-1]))]
        run("score", task, *files)


def test_a_field_of_a_record_may_be_called_id_if_it_is_a_list_or_an_object() -> None:
    records = [{"id": {"number": k}, "v": [k]} for k in range(3)]
    assert ts.records(records, records)["records"].f1 == 1
    with pytest.raises(InputError, match="has no text or number under 'id', which should be its id"):
        ts.records(records, records, id="id")


def test_ids_of_tables_that_became_floats() -> None:
    table = pd.DataFrame({"id": [1.0, 2.0, None], "v": [1, 2, 3]})
    with pytest.raises(InputError, match=r"reference:1: id: expected text or a whole number, found 1\.0"):
        ts.records(table, table)


@pytest.mark.parametrize("column", [[1.5, 2.5], [True, False], [None, 1.5]])
@pytest.mark.parametrize("task", ["records", "spans"])
def test_columns_of_ids(task: str, column: list[Any], tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": one, **LINES[task]} for one in column]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "gold.parquet")
    done = run("score", task, tmp_path / "gold.parquet", tmp_path / "gold.parquet", code=2)
    assert "gold.parquet" in done.stderr
    assert "id: expected text or a whole number, found" in done.stderr


def test_ids_of_plain_data() -> None:
    documents = [{"id": one, "clusters": [[(0, 1), (3, 4)]]} for one in (True, False)]
    with pytest.raises(TallystickError, match=r"reference\[0\]: id: expected text or a whole number"):
        ts.coreference(documents, documents)


def test_leniently_a_wrong_id_of_a_prediction_is_none() -> None:
    gold = [{"id": one, **LINES["records"]} for one in "ab"]
    system = [{"id": one, **LINES["records"]} for one in (True, "b")]
    found = ts.records(gold, system, lenient=True)
    assert any("line 1, which has no id" in one for one in found.warnings)


@pytest.mark.parametrize("name", ["id", "reference_id", "from_", "confidence"])
def test_an_empty_text_is_no_field(name: str) -> None:
    with pytest.raises(TallystickError, match="found an empty text; expected "):
        ts.records([{"v": 1}], [{"v": 1}], **{name: ""})


@pytest.mark.parametrize("option", ["--id", "--slice", "--groups", "--baseline", "--reference-from", "--label"])
def test_an_option_without_a_value_is_not_passed_over(option: str, tmp_path: Path) -> None:
    file = write(tmp_path / "gold.jsonl", "records", ["a", "b"])
    done = run("score", "records", file, file, option, "", code=2)
    assert f"{option}: found an empty text; expected " in done.stderr
    run("score", "records", file, file, "--nothing", "")


@pytest.mark.parametrize("task", ["calls", "relations", "roles"])
def test_training_data_that_are_not_there(task: str, tmp_path: Path) -> None:
    file = write(tmp_path / "gold.jsonl", task, ["a", "b"])
    assert run("score", task, file, file, "--by", "seen", "--train", "zz", code=2).stderr.startswith(
        "Error: zz: no such file"
    )
    with pytest.raises(InputError, match="zz: no such file"):
        getattr(ts, task)(file, file).by("seen", train="zz")


@pytest.mark.parametrize(
    "task", sorted({*LINES} - {"templates", "roles", "coreference", "arguments", "events", "nary"})
)
def test_some_documents_with_ids_and_some_without_can_be_paired_neither_way(task: str, tmp_path: Path) -> None:
    files = [
        write(tmp_path / name, task, ids) for name, ids in (("gold.jsonl", ["a", None]), ("system.jsonl", [None, "a"]))
    ]
    done = run("score", task, *files, code=2)
    assert "gold.jsonl:2: has no " in done.stderr
    assert ("line 1 has one; give all documents ids, or none" in done.stderr) != (task in ("records", "calls"))
    for one in files:
        write(one, task, [None, None])
    run("score", task, *files)


@pytest.mark.parametrize("task", ["templates", "roles", "coreference", "arguments", "events", "nary"])
def test_where_a_document_without_an_id_has_a_number_it_meets_no_other(task: str, tmp_path: Path) -> None:
    files = [
        write(tmp_path / name, task, ids) for name, ids in (("gold.jsonl", ["a", None]), ("system.jsonl", [None, "a"]))
    ]
    assert run("score", task, *files, code=None).returncode in (2, 3)


@pytest.mark.parametrize("task", sorted({*LINES} - {"records", "calls"}))
def test_a_key_that_stands_twice_is_an_error_that_names_the_line(task: str, tmp_path: Path) -> None:
    """The last of the two would count, and the first be free."""
    gold = write(tmp_path / "gold.jsonl", task, ["a", "b"])
    first, second = gold.read_text().splitlines()
    layer = next(reversed(LINES[task]))
    (tmp_path / "system.jsonl").write_text(first + "\n" + second.replace("{", f'{{"{layer}": [], ', 1) + "\n")
    done = run("score", task, gold, tmp_path / "system.jsonl", code=2)
    assert re.search(
        rf"system\.jsonl:2(:1)?: has the key '{layer}' twice in one object; expected each key once", done.stderr
    )
    (tmp_path / "system.jsonl").write_text(first.replace("{", f'{{"{layer}": [], ', 1) + "\n")
    assert "has the key" in run("score", task, gold, tmp_path / "system.jsonl", code=2).stderr

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
WRONG = {True: "true", 1.5: "1.5", 1e16: "1e16"}


def write(path: Path, task: str, ids: list[Any]) -> Path:
    path.write_text("".join(json.dumps({"id": one, **LINES[task]}) + "\n" for one in ids))
    return path


@pytest.mark.parametrize("ids", [[True, False], [1.5, 2.5], ["a", 1e16]], ids=str)
@pytest.mark.parametrize("task", LINES)
def test_truth_values_and_floats_that_are_not_whole_are_no_ids(task: str, ids: list[Any], tmp_path: Path) -> None:
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
    for ids in (["a", ""], [3, 10**30], ["a", 7], [1.0, "b"]):
        files = [write(tmp_path / f"{k}.jsonl", task, order) for k, order in enumerate((ids, ids[::-1]))]
        run("score", task, *files)


@pytest.mark.parametrize("task", LINES)
def test_a_whole_float_is_the_whole_number(task: str, tmp_path: Path) -> None:
    """Tables write 1.0 wherever a column of whole numbers once had a gap."""
    gold, system = write(tmp_path / "gold.jsonl", task, [1, 2]), write(tmp_path / "system.jsonl", task, [2.0, 1.0])
    run("score", task, gold, system)
    again = write(tmp_path / "again.jsonl", task, [1, 1.0])
    assert "again.jsonl" in run("score", task, gold, again, code=2).stderr


@pytest.mark.parametrize("task", ["records", "spans"])
def test_a_column_of_whole_floats(task: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": one, **LINES[task]} for one in (2.0, 1.0)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "system.parquet")
    run("score", task, write(tmp_path / "gold.jsonl", task, [1, 2]), tmp_path / "system.parquet")
    rows[1]["id"] = float("nan")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "gap.parquet")
    done = run("score", task, tmp_path / "gold.jsonl", tmp_path / "gap.parquet", code=2)
    assert re.search(r"id: .*is missing \(NaN\)", done.stderr)


def test_a_field_of_a_record_may_be_called_id_if_it_is_a_list_or_an_object() -> None:
    records = [{"id": {"number": k}, "v": [k]} for k in range(3)]
    assert ts.records(records, records)["records"].f1 == 1
    with pytest.raises(InputError, match="has no text or number under 'id', which should be its id"):
        ts.records(records, records, id="id")


def test_ids_of_tables_that_became_floats() -> None:
    table = pd.DataFrame({"id": [1, 2], "v": [1, 2]})
    other = pd.DataFrame({"id": [2.0, 1.0, None], "v": [2, 1, 3]})
    assert ts.records(table, other[:2])["records"].f1 == 1
    with pytest.raises(InputError, match="predicted:3: has no"):
        ts.records(table, other)
    documents = [{"id": one, "clusters": [[(0, 1), (one, one + 1)]]} for one in (3, 4)]
    floats = [{**one, "id": float(one["id"])} for one in documents[::-1]]
    assert ts.coreference(documents, floats)["muc"].f1 == 1
    with pytest.raises(TallystickError, match=r"predicted\[0\]: id: is missing \(NaN\); expected text"):
        ts.coreference(documents, [{**one, "id": float("nan")} for one in documents])


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


@pytest.mark.parametrize("task", LINES)
def test_some_documents_with_ids_and_some_without_can_be_paired_neither_way(task: str, tmp_path: Path) -> None:
    files = [
        write(tmp_path / name, task, ids) for name, ids in (("gold.jsonl", ["a", None]), ("system.jsonl", [None, "a"]))
    ]
    done = run("score", task, *files, code=2)
    assert "gold.jsonl:2: has no " in done.stderr
    assert ("line 1 has one; give all documents ids, or none" in done.stderr) != (task in ("records", "calls"))
    write(files[0], task, ["a", "b"])
    assert "system.jsonl:1: has no " in run("score", task, *files, code=2).stderr


@pytest.mark.parametrize(
    "task", [one for one in LINES if one != "records"]
)  # there an id that pairs nothing is a field
def test_documents_without_ids_are_paired_by_order(task: str, tmp_path: Path) -> None:
    """Whatever the other side calls its documents: a number in the file is no id."""
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    lines = [LINES[task], other_line(task)]
    perfect = figures(task, put(gold, lines, [1, 2]), put(system, lines, [1, 2]))
    for ids in ([None, None], [2, 1], ["x", "y"]):
        for left, right in ((ids, [None, None]), ([None, None], ids)):
            assert figures(task, put(gold, lines, left), put(system, lines, right)) == perfect
        put(gold, lines, ids)
        bare = system.write_text("".join(json.dumps(one) + "\n" for one in lines))
        assert bare
        assert figures(task, gold, system) == perfect
    put(system, lines[:1], [None])
    done = run("score", task, put(gold, lines, [2, 1]), system, code=None)
    assert done.returncode
    assert "paired by order, so the numbers must be equal" in done.stderr


def other_line(task: str) -> dict[str, Any]:
    """A document like the first, with another answer."""
    text = json.dumps(LINES[task])
    for old, new in (
        ('"f"', '"g"'),
        ('"X"', '"Y"'),
        ('"r"', '"q"'),
        ('"Task"', '"Method"'),
        ('"x"', '"z"'),
        ("[3, 4]", "[5, 6]"),
    ):
        text = text.replace(old, new)
    text = text.replace('"a"', '"e"') if text == json.dumps(LINES[task]) else text
    found: dict[str, Any] = {"v": 2} if task == "records" else json.loads(text)
    assert found != LINES[task]
    return found


def put(path: Path, lines: list[dict[str, Any]], ids: list[Any]) -> Path:
    path.write_text("".join(json.dumps({"id": one, **line}) + "\n" for one, line in zip(ids, lines, strict=True)))
    return path


def figures(task: str, gold: Path, system: Path) -> dict[str, Any]:
    found = getattr(ts, task)(gold, system)
    return {name: getattr(found[name], "f1", None) for name in found}


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


@pytest.mark.parametrize("task", LINES)
def test_ids_on_one_side_only_are_told(task: str, tmp_path: Path) -> None:
    gold, system = write(tmp_path / "gold.jsonl", task, [1, 2]), write(tmp_path / "system.jsonl", task, [None, None])
    for files in ((gold, system), (system, gold)):
        assert "paired by order" in run("score", task, *files).stderr
        if task not in ("records", "calls"):
            said = f"{system} has no ids and {gold} has; the documents are paired by order"
            assert run("score", task, *files).stderr.count(said) == 1


SENTENCE = {"words": ["a", "b"], "heads": [0, 1], "deprels": ["root", "x"]}
OF_PYTHON = {
    **LINES,
    "dependencies": SENTENCE,
    "spans, tags": {"tags": ["O"]},
    "coreference, texts": {"clusters": [["a", "b"]]},
}


@pytest.mark.parametrize("task", [task for task in OF_PYTHON if task not in ("records", "calls")])
def test_ids_on_one_side_only_are_told_in_python(task: str, tmp_path: Path) -> None:
    """Records and calls say how they are paired below every table."""
    score, line = getattr(ts, task.split(",")[0]), OF_PYTHON[task]
    with_ids, without = [{"id": one, **line} for one in "ab"], [line, line]
    said = "{} has no ids and {} has; the documents are paired by order"
    assert score(with_ids, without).warnings.count(said.format("predicted", "reference")) == 1
    assert score(without, with_ids).warnings.count(said.format("reference", "predicted")) == 1
    for sides in ((with_ids, with_ids), (without, without)):
        assert not any("paired by order" in one for one in score(*sides).warnings)


WITH_LISTS = [task for task in LINES if task not in ("records", "calls")]


@pytest.mark.parametrize("task", WITH_LISTS)
def test_an_empty_list_lacks_all_documents(task: str, tmp_path: Path) -> None:
    gold, nothing = write(tmp_path / "gold.jsonl", task, ["a", "b"]), tmp_path / "nothing.json"
    nothing.write_text("[]")
    done = run("score", task, gold, nothing, code=None)
    assert done.returncode
    assert 'the document ids differ; 2 only in the reference: "a", "b"' in done.stderr
    run("compare", task, gold, nothing, gold, "--missing", "empty")


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("task", LINES)
def test_a_file_may_be_one_list_of_documents(task: str, indent: int | None, tmp_path: Path) -> None:
    lines, listed, single = (tmp_path / name for name in ("lines.jsonl", "listed.json", "single.json"))
    write(lines, task, ["a", "b"])
    documents = [json.loads(line) for line in lines.read_text().splitlines()]
    listed.write_text(json.dumps(documents, indent=indent))
    single.write_text(json.dumps(documents[:1], indent=indent))
    expected = json.loads(run("score", task, lines, lines, "--format", "json").stdout)["metrics"]
    for sides in ((listed, listed), (lines, listed), (listed, lines)):
        assert json.loads(run("score", task, *sides, "--format", "json").stdout)["metrics"] == expected
    assert '1 only in the reference: "b"' in run("score", task, listed, single, code=3).stderr


@pytest.mark.parametrize("task", LINES)
def test_a_file_may_be_one_object_over_several_lines(task: str, tmp_path: Path) -> None:
    lines, single = tmp_path / "lines.jsonl", tmp_path / "single.json"
    write(lines, task, ["a"])
    single.write_text(json.dumps(json.loads(lines.read_text()), indent=1))
    expected = json.loads(run("score", task, lines, lines, "--format", "json").stdout)["metrics"]
    assert json.loads(run("score", task, single, lines, "--format", "json").stdout)["metrics"] == expected


@pytest.mark.parametrize(
    "line", [{"tokens": ["a"], "ner_tags": ["B-X"]}, {"sentences": [["a"]], "ner": [[[0, 0, "X"]]]}]
)
def test_an_empty_list_lacks_all_documents_of_other_formats_of_spans(line: dict[str, object], tmp_path: Path) -> None:
    gold, nothing = tmp_path / "gold.jsonl", tmp_path / "nothing.json"
    gold.write_text(json.dumps({"id": "a", **line}) + "\n")
    nothing.write_text("[]")
    assert "1 document not answered" in run("score", "spans", gold, nothing, "--missing", "empty").stderr
    assert '1 only in the reference: "a"' in run("score", "spans", gold, nothing, code=3).stderr
    assert "has no documents" in run("score", "spans", nothing, nothing, code=2).stderr


def test_an_empty_list_is_no_file_of_columns(tmp_path: Path) -> None:
    columns, nothing = tmp_path / "gold.iob", tmp_path / "nothing.json"
    columns.write_text("a\tB-X\n")
    nothing.write_text("[]")
    for sides in ((columns, nothing), (nothing, columns)):
        for options in ((), ("--missing", "empty")):
            said = run("score", "spans", *sides, *options, code=3).stderr
            assert f"{nothing} is an empty list, [], which has no texts, and {columns} is a file of columns" in said
            assert "each token has the tag O" in said


def test_errors_in_a_list_name_the_line_of_the_document(tmp_path: Path) -> None:
    bad = {
        "spans": {"text": "a", "spans": [5]},
        "coreference": {"clusters": [5]},
        "hierarchies": {"events": 5},
        "amr": {"triples": [5]},
    }
    for task, line in bad.items():
        good = json.dumps({"id": "a", **LINES[task]}, indent=1)
        file = tmp_path / f"{task}.json"
        file.write_text(f"\n[{good},\n {json.dumps({'id': 'b', **line})}\n]\n")
        said = run("score", task, file, file, code=2).stderr
        assert f"{file}:{good.count(chr(10)) + 3}: " in said
        file.write_text(f"\n[{good},\n {{'id': 1}}]\n")
        assert f"{file}:{good.count(chr(10)) + 3}:3: is not JSON" in run("score", task, file, file, code=2).stderr


def test_lists_on_lines_and_what_is_no_json_stay_what_they_were(tmp_path: Path) -> None:
    file = tmp_path / "gold.iob"
    file.write_text("[\tO\nx\tB-X\n]\tO\n")
    assert "1 / 1" in run("score", "spans", file, file).stdout


@pytest.mark.parametrize("task", WITH_LISTS)
def test_an_empty_list_is_no_reference(task: str, tmp_path: Path) -> None:
    full, empty = write(tmp_path / "full.jsonl", task, ["a", "b"]), tmp_path / "empty.json"
    empty.write_text(" [ ]\n")
    for other in (full, empty):
        done = run("score", task, empty, other, code=2)
        assert "empty.json: has no documents; expected at least one" in done.stderr


@pytest.mark.parametrize("task", ["relations", "events", "arguments", "coreference"])
def test_tokens_that_are_null_are_none(task: str, tmp_path: Path) -> None:
    line = {"id": "a", **LINES[task], "tokens": None, "sentences": None}
    (tmp_path / "gold.jsonl").write_text(json.dumps(line))
    run("score", task, tmp_path / "gold.jsonl", tmp_path / "gold.jsonl")


def test_what_is_there_instead_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text('{"id": "a", "text": "a b", "spans": null}\n')
    assert "gold.jsonl:1: spans: expected a list, found null" in run("score", "spans", file, file, code=2).stderr
    file.write_text('{"id": "a", "templates": null}\n')
    assert "gold.jsonl:1: templates is null; expected a list" in run("score", "templates", file, file, code=2).stderr


def test_rows_of_a_table_are_no_lines(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": one, **LINES["spans"]} for one in ("a", None)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "gold.parquet")
    done = run("score", "spans", tmp_path / "gold.parquet", tmp_path / "gold.parquet", code=2)
    assert "gold.parquet:2: has no 'id', and row 1 has one; give all documents ids, or none" in done.stderr


@pytest.mark.parametrize("task", ["templates", "relations", "events", "coreference"])
def test_the_documents_of_one_shard_may_all_have_ids_and_those_of_the_next_none(task: str, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", task, [4, 3, 2, 1])
    system = write(tmp_path / "system.jsonl", task, [4, 3, None, None])
    done = run("score", task, gold, system, "--shard", "1", code=2)
    assert "system.jsonl:3: has no 'id', and line 1 has one" in done.stderr


def test_what_stands_where_an_id_was_asked_for_is_shown(tmp_path: Path) -> None:
    gold, system = write(tmp_path / "gold.jsonl", "records", ["a", "b"]), tmp_path / "system.jsonl"
    for line, found in (
        ('{"id": {"n": 1}, "v": 1}', r'\(found {"n":1}\)'),
        ('{"key": 1, "v": 1}', r'\(it has "key", "v"\)'),
    ):
        system.write_text(f"{line}\n{line}\n")
        with pytest.raises(InputError, match=rf"system.jsonl:1: .* under 'id', which should be its id {found}"):
            ts.records(gold, system, id="id")


INSTEAD = {
    '{"key": 1, "v": [], "calls": []}': '(it has "key", "v", "calls")',
    '{"id": null, "calls": []}': "(found null)",
    "[]": "(it is [])",
}


@pytest.mark.parametrize("task", ["records", "calls"])
@pytest.mark.parametrize("line", INSTEAD)
def test_what_one_document_has_instead_of_an_id_is_shown(task: str, line: str, tmp_path: Path) -> None:
    gold, system = write(tmp_path / "gold.jsonl", task, ["a", "b", "c"]), tmp_path / "system.jsonl"
    system.write_text(
        "\n".join([*gold.read_text().splitlines()[:1], "", line, *gold.read_text().splitlines()[2:]]) + "\n"
    )
    what = "logs" if task == "calls" else "documents"
    said = f"system.jsonl:3: has no text or number under 'id', which pairs the other {what} {INSTEAD[line]}"
    for files in ((gold, system), (system, gold)):
        assert said in run("score", task, *files, code=2).stderr


@pytest.mark.parametrize("task", ["relations", "events"])
def test_heads_without_ids_are_in_the_order_of_the_documents(task: str, tmp_path: Path) -> None:
    """A number in a file is no id: the second document is called 1, and the first heads are not its heads."""

    def line(start: int, end: int) -> dict[str, Any]:
        span = {"start": start, "end": end}
        if task == "relations":
            return {"relations": [{"type": "r", "subj": span, "obj": span}]}
        return {"events": [{"type": "a", "trigger": {"start": 0, "end": 1}, "arguments": [{"role": "x", **span}]}]}

    heads = tmp_path / "heads.jsonl"
    heads.write_text('{"heads": [1, -1]}\n{"heads": [-1, 0]}\n')
    gold = put(tmp_path / "gold.jsonl", [line(0, 2), line(0, 2)], [2, 1])
    system = put(tmp_path / "system.jsonl", [line(1, 2), line(0, 1)], [2, 1])
    metric = "head" if task == "relations" else "arg_c_head"
    score = getattr(ts, task)
    assert score(gold, system, metrics=metric, heads=str(heads))[metric].f1 == 1
    heads.write_text('{"heads": [1, -1]}\n')
    with pytest.raises(TallystickError, match="paired by order, so the numbers must be equal"):
        score(gold, system, metrics=metric, heads=str(heads))
    heads.write_text('{"id": 2, "heads": [1, -1]}\n{"heads": [-1, 0]}\n')
    with pytest.raises(TallystickError, match=r"heads\.jsonl:2: has no 'id', and line 1 has one"):
        score(gold, system, metrics=metric, heads=str(heads))


def test_tags_with_ids_on_one_side(tmp_path: Path) -> None:
    line = {"tokens": ["Ada", "met"], "tags": ["B-PER", "O"]}
    gold, system = put(tmp_path / "gold.jsonl", [line], [1]), put(tmp_path / "system.jsonl", [line], [None])
    assert (
        f"{system} has no ids and {gold} has; the documents are paired by order"
        in run("score", "spans", gold, system).stderr
    )

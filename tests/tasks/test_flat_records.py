"""Flat records are read as columns where every line of a portion is as it should be; the figures are those of records."""

import json
import random

import msgspec
import pytest
from tests.running import run

from tallystick.algebra.surplus import Place
from tallystick.engine.data import as_objects
from tallystick.files.json_values import LONG, key_marks
from tallystick.tasks.records import files
from tallystick.tasks.records.schema import type_of_schema
from tallystick.tasks.records.shapes import column_decoder, converter

LAST = '{"id": "last", "name": "a", "price": 0.5, "paid": true, "note": null}'


OPTIONS = [
    [], ["--lenient"], ["--unknown", "ignore"], ["--choices", "CHOICES"], ["--worst", "3"], ["--errors"], ["--by", "document"],
    ["--credit", "all"], ["--equality", "exact"], ["--lenient", "--slice", "name"], ["--intervals"], ["--nothing", "null,empty"],
]  # fmt: skip


def document(rng: random.Random, k: int) -> dict:
    return {
        "id": f"d{k}",
        "name": rng.choice(["a", "b ", "b", "é", "e\u0301", ""]),
        "price": rng.choice([1, 1.0, 0.1 + 0.2, 0.3, -0.0, 0, 2**60, 1e300]),
        "paid": rng.random() < 0.5,
        "note": rng.choice([None, "x", "y"]),
    }


def damaged(rng: random.Random, row: dict) -> str:
    """A line of a prediction, wrong in one of many ways."""
    way = rng.randrange(8)
    if way == 0:
        del row[rng.choice(["name", "price", "paid", "note"])]
    elif way == 1:
        row[rng.choice(["name", "price", "paid", "note"])] = rng.choice([None, 7, "7", True, [1], {"a": 1}])
    elif way == 2:
        row["more"] = rng.choice([None, 3, {"deep": [1, 2]}])
    elif way == 3:
        row = dict(reversed(row.items()))
    line = json.dumps(row, ensure_ascii=rng.random() < 0.5)
    if way == 4:
        line = line[:-1] + ', "name": "twice"}'
    return line


def write(folder, rng, wrong, order):
    gold = [document(rng, k) for k in range(rng.randrange(1, 9))]
    lines = []
    for k, row in enumerate(gold):
        other = {**row, **{key: one for key, one in document(rng, k).items() if key != "id" and rng.random() < 0.4}}
        lines.append(damaged(rng, other) if wrong else json.dumps(other))
    if order == "shuffled":
        rng.shuffle(lines)
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold) + LAST + "\n")
    (folder / "system.jsonl").write_text("\n".join(lines) + "\n" + LAST + "\n")
    return str(folder / "gold.jsonl"), str(folder / "system.jsonl")


@pytest.mark.parametrize("seed", range(72))
def test_columns_and_records_give_the_same(seed, tmp_path, monkeypatch):
    rng = random.Random(seed)
    names = write(tmp_path, rng, seed % 3, rng.choice(["", "", "shuffled"]))
    choices = tmp_path / "choices.json"
    choices.write_text('{"name": "levenshtein"}')
    options = rng.choice(OPTIONS)
    found = []
    for few in (1, 10**9):
        monkeypatch.setattr(files, "FEW_LINES", few)
        arguments = [str(choices) if one == "CHOICES" else one for one in options]
        done = run("score", "records", *names, "--format", "json", *arguments, code=None)
        assert done.returncode < 2 or "Usage" not in done.stderr
        found.append((done.returncode, done.stdout, done.stderr))
    assert found[0] == found[1]


SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "price": {"type": "number"}, "note": {"type": ["string", "null"]}},
    "required": ["id", "price", "note"],
}


@pytest.mark.parametrize(
    "line",
    ['{"id": "a", "price": 1, "note": null}', '{"price": 1.0, "note": "n", "id": "b", "id": "c"}', '{"id":"a","price":1e400,"note":null}',
     '{"id": "a", "price": 1}', '{"id": "a", "price": null, "note": null}', '{"id": "a", "price": 1, "note": null, "more": 1}', "null", "{"],
)  # fmt: skip
def test_a_line_as_columns_is_the_record_or_an_exception(line):
    kind = type_of_schema(SCHEMA)
    read = column_decoder(kind, Place({"id", "price", "note"}, record=True))
    assert read is not None
    try:
        columns = read([line.encode()])
    except (msgspec.MsgspecError, ValueError):
        return
    record = converter(kind)(line.encode())
    assert as_objects(columns) == [record]
    assert [type(one) for one in as_objects(columns)[0].values()] == [type(record[key]) for key in columns.fields]


def test_records_with_more_than_leaves_are_not_flat():
    for inner in ({"type": "array", "items": {"type": "string"}}, {"type": "string", "format": "date"}):
        assert (
            column_decoder(type_of_schema({**SCHEMA, "properties": {**SCHEMA["properties"], "note": inner}}), None)
            is None
        )
    assert column_decoder(type_of_schema({**SCHEMA, "required": ["id"]}), None) is None


@pytest.mark.parametrize(
    "text",
    ['":', '" :', 'x":', '"::', '" ":', '":' * 9000, '{"a": "b :", "c" :1}\n' * 900, '" :": ' * 4000, ": " * 9000],
)
def test_marks_of_keys_are_counted_alike_in_short_and_in_long_text(text: str) -> None:
    data = text.encode()
    assert key_marks(data) == data.count(b'":') + data.count(b'" :')
    long = data + b" " * LONG
    assert key_marks(long) == long.count(b'":') + long.count(b'" :')

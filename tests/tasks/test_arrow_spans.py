"""Spans from Parquet and Arrow files: the same as from JSON lines, as columns or row by row."""

import json
import random

import numpy as np
import pytest

from tallystick.errors import InputError, SidesMismatch
from tallystick.tasks.spans.jsonl import Offsets, read_spans

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

from tallystick.tasks.spans import jsonl as spans_arrow  # noqa: E402


def corpus(seed, ids=True, tokens=True):
    rng = random.Random(seed)
    lengths = random.Random(0)
    rows = []
    for k in range(30):
        n = lengths.randint(1, 9)
        spans = []
        for _ in range(rng.randint(0, 3)):
            start = rng.randrange(n)
            spans.append({"start": start, "end": rng.randint(start + 1, n), "label": rng.choice(["PER", "LOC", "ß"])})
        row = {"spans": spans}
        if ids:
            row["id"] = f"t{k}"
        if tokens:
            row["tokens"] = [f"w{j}" for j in range(n)]
        rows.append(row)
    return rows


def write(file, rows):
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        kind = pa.struct({"start": pa.int32(), "end": pa.int64(), "label": pa.string()})
        schema = {"spans": pa.list_(kind), "id": pa.string(), "tokens": pa.list_(pa.string())}
        pq.write_table(pa.Table.from_pylist(rows, pa.schema({k: v for k, v in schema.items() if k in rows[0]})), file)
    return file


def read(folder, left, right, suffix, other=None):
    files = write(folder / f"gold{suffix}", left), write(folder / f"system{other or suffix}", right)
    return read_spans(*files, Offsets(unit="tokens"))


def same(found, expected):
    assert (found.tags, found.names, found.texts) == (expected.tags, expected.names, expected.texts)
    for side in ("reference", "predicted"):
        for part in ("text", "start", "end", "tag"):
            np.testing.assert_array_equal(getattr(getattr(found, side), part), getattr(getattr(expected, side), part))
    np.testing.assert_array_equal(found.lengths, expected.lengths)


@pytest.mark.parametrize("other", [".parquet", ".jsonl"])
@pytest.mark.parametrize("options", [{}, {"ids": False}, {"tokens": False}])
def test_the_same_as_from_json_lines(tmp_path, options, other):
    left, right = corpus(1, **options), corpus(2, **options)
    same(read(tmp_path, left, right, ".parquet", other), read(tmp_path, left, right, ".jsonl"))


def test_columns_that_are_in_order_stay_columns(tmp_path, monkeypatch):
    found = []
    monkeypatch.setattr(
        spans_arrow, "spans_of_columns", lambda *a, f=spans_arrow.spans_of_columns: found.append(f(*a)) or found[-1]
    )
    read(tmp_path, corpus(1), corpus(2), ".parquet")
    read(tmp_path, corpus(1), corpus(2)[::-1], ".parquet")
    assert [one is None for one in found] == [False, True]


def test_in_another_order(tmp_path):
    same(read(tmp_path, corpus(1), corpus(2)[::-1], ".parquet"), read(tmp_path, corpus(1), corpus(2), ".jsonl"))


def test_what_is_wrong_is_said_with_its_row(tmp_path):
    left, right = corpus(1), corpus(2)
    right[6]["spans"] = [{"start": 0, "end": 99, "label": "PER"}]
    with pytest.raises(InputError, match=r"system\.parquet:7: span \[0, 99\) PER lies outside its text"):
        read(tmp_path, left, right, ".parquet")
    right[6]["spans"] = [{"start": None, "end": 1, "label": "PER"}]
    with pytest.raises(InputError, match=r"system\.parquet:7: spans\[0\]: expected"):
        read(tmp_path, left, right, ".parquet")
    with pytest.raises(SidesMismatch, match="only in the"):
        read(tmp_path, left, corpus(2)[1:], ".parquet")
    right = corpus(2)
    right[3]["tokens"][0] = "other"
    with pytest.raises(SidesMismatch, match='has "other"'):
        read(tmp_path, left, right, ".parquet")


def test_offsets_in_characters(tmp_path):
    rows = [{"id": "a", "text": "Ann saw Bob", "spans": [{"start": 0, "end": 3, "label": "PER"}]}]
    columns, lines = tmp_path / "a.parquet", tmp_path / "a.jsonl"
    pq.write_table(pa.Table.from_pylist(rows), columns)
    lines.write_text(json.dumps(rows[0]) + "\n")
    same(read_spans(columns, columns), read_spans(lines, lines))

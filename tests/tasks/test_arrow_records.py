"""Records from Parquet and Arrow files: the same result as from the same records in JSON Lines."""

import datetime
import decimal
import itertools
import json
import random
from dataclasses import dataclass

import pytest

from tallystick.engine.data import Rows
from tallystick.errors import InputError, SidesMismatch, TallystickError
from tallystick.files import lines as arrow_files
from tallystick.tasks.records.score import prepare, run_prepared, score_files

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

SUFFIXES = [".parquet", ".arrow", ".feather"]


def gold(n=40):
    rng = random.Random(1)
    return [
        {
            "id": f"d{k}", "vendor": f"v{k % 7}", "date": None if k % 3 == 0 else f"2026-01-{k % 28 + 1:02}", "total": k + 0.5,
            "n": k % 5, "paid": k % 2 == 0, "lines": [{"sku": f"s{j}", "price": 10.0 * j, "tags": ["a", "b"][: j % 3]} for j in range(rng.randint(0, 4))],
        }
        for k in range(n)
    ]  # fmt: skip


def system(rows):
    rng = random.Random(2)
    rows = json.loads(json.dumps(rows))
    for row in rows:
        if rng.random() < 0.3:
            row["vendor"] = "other"
        if rng.random() < 0.3:
            row["lines"] = row["lines"][1:]
        if rng.random() < 0.3:
            row["date"] = "2026-09-09"
        if rng.random() < 0.2:
            row["total"] = None
    return rows


SCHEMA = pa.schema(
    {
        "id": pa.string(), "vendor": pa.string(), "date": pa.string(), "total": pa.float64(), "n": pa.int64(), "paid": pa.bool_(),
        "lines": pa.list_(pa.struct({"sku": pa.string(), "price": pa.float64(), "tags": pa.list_(pa.string())})),
    }
)  # fmt: skip


def write(file, rows, schema=SCHEMA, **options):
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, schema)
    if file.suffix == ".parquet":
        pq.write_table(table, file, **options)
    elif file.suffix == ".feather":
        import pyarrow.feather

        pyarrow.feather.write_feather(table, str(file))
    else:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=7)
    return file


def both(folder, left, right, suffix, other=None, **options):
    """The two sides in two files of some kinds, scored."""
    names = f"gold{suffix}", f"system{other or suffix}"
    return score_files(write(folder / names[0], left), write(folder / names[1], right), **options)


def same(run, expected):
    assert run.prepared.metric == expected.prepared.metric
    assert run.result.ids == expected.result.ids
    assert run.result.rows.tobytes() == expected.result.rows.tobytes()
    assert run.result.by_field() == expected.result.by_field()
    assert run.paired == expected.paired
    assert run.prepared.shape.schema == expected.prepared.shape.schema
    assert run.prepared.shape.doubts == expected.prepared.shape.doubts


@pytest.mark.parametrize("order", ["same", "shuffled"])
@pytest.mark.parametrize("credit", ["each", "all"])
@pytest.mark.parametrize(
    ("left", "right"), [*((s, s) for s in SUFFIXES), (".jsonl", ".parquet"), (".parquet", ".jsonl"), (".arrow", ".parquet")]
)  # fmt: skip
def test_the_same_as_from_json_lines(tmp_path, monkeypatch, left, right, credit, order):
    monkeypatch.setattr(arrow_files, "ROWS", 16)
    reference = gold()
    predicted = system(reference)
    if order == "shuffled":
        random.Random(3).shuffle(predicted)
    expected = both(tmp_path, reference, predicted, ".jsonl", credit=credit, worst=3)
    run = both(tmp_path, reference, predicted, left, right, credit=credit, worst=3)
    same(run, expected)
    assert 0.3 < run.result.f1 < 0.95
    assert [kept.id for kept in run.documents] == [kept.id for kept in expected.documents]
    for mine, theirs in zip(run.documents, expected.documents, strict=True):
        assert str(run.explain(mine)) == str(expected.explain(theirs))
    if credit == "each":
        assert run.warnings == expected.warnings == ()


def test_columns_stay_columns(tmp_path):
    reference = gold()
    files = [write(tmp_path / f"{name}.parquet", rows) for name, rows in (("a", reference), ("b", system(reference)))]
    task = prepare(*files)
    for batch in task.pairing.batches():
        assert isinstance(batch.references, Rows)
        assert isinstance(batch.predictions, Rows)
    assert run_prepared(task).result.f1 is not None


@dataclass
class Line:
    sku: str
    price: float
    tags: list[str]


@dataclass
class Document:
    id: str
    vendor: str
    date: str | None
    total: float | None
    n: int
    paid: bool
    lines: list[Line]


JSON_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"}, "vendor": {"type": "string"}, "date": {"type": ["string", "null"], "format": "date"},
        "total": {"type": ["number", "null"], "x-tallystick": {"number": {"relative": 0.1}}}, "n": {"type": "integer"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}},
    },
    "required": ["id", "vendor", "n"],
}  # fmt: skip


@pytest.mark.parametrize("options", [{"type": Document}, {"schema": JSON_SCHEMA}, {"metric": "f1(each(vendor=exact, lines=match(each(sku=exact))))"}])  # fmt: skip
@pytest.mark.parametrize(("left", "right"), [(".parquet", ".parquet"), (".jsonl", ".parquet"), (".parquet", ".jsonl")])
def test_with_a_type_a_schema_or_a_metric(tmp_path, options, left, right):
    reference = gold()
    expected = both(tmp_path, reference, system(reference), ".jsonl", **options)
    same(both(tmp_path, reference, system(reference), left, right, **options), expected)


def test_paired_by_order_without_ids(tmp_path):
    reference = [{k: v for k, v in row.items() if k != "id"} for row in gold()]
    schema = pa.schema([field for field in SCHEMA if field.name != "id"])
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    run = score_files(
        *(write(file, rows, schema) for file, rows in zip(files, (reference, system(reference)), strict=True))
    )
    assert run.paired == "by order"
    assert run.result.ids == tuple(range(1, 41))
    write(files[1], reference[1:], schema)
    with pytest.raises(SidesMismatch, match=r"a\.parquet has 40 records and .*b\.parquet has 39"):
        score_files(*files)


@pytest.mark.parametrize("right", [".parquet", ".jsonl"])
def test_ids_that_do_not_meet(tmp_path, right):
    reference = gold()
    predicted = [*system(reference)[3:][::-1], {**reference[0], "id": "new"}]
    with pytest.raises(
        SidesMismatch, match=r'3 only in the reference: "d0", "d1", "d2"; 1 only in the prediction: "new"'
    ):
        both(tmp_path, reference, predicted, ".parquet", right)
    run = both(tmp_path, reference, predicted, ".parquet", right, lenient=True)
    expected = both(tmp_path, reference, predicted, ".jsonl", lenient=True)
    same(run, expected)
    assert run.warnings == expected.warnings
    assert run.result.invalid == (0, 1, 2)


@pytest.mark.parametrize("count", [16, 32])
def test_predictions_that_end_where_a_portion_ends(tmp_path, monkeypatch, count):
    monkeypatch.setattr(arrow_files, "ROWS", 16)
    reference = gold()
    with pytest.raises(SidesMismatch, match=f"{40 - count} only in the reference"):
        both(tmp_path, reference, reference[:count], ".parquet")
    run = both(tmp_path, reference, reference[:count], ".parquet", lenient=True)
    same(run, both(tmp_path, reference, reference[:count], ".jsonl", lenient=True))


@pytest.mark.parametrize("order", [1, -1])
def test_an_id_that_stands_twice(tmp_path, order):
    reference = gold()
    with pytest.raises(InputError, match=r"the id 'd5' is already used in line (6|1); ids must be unique"):
        both(tmp_path, [*reference, reference[5]], [*reference, reference[5]][::order], ".parquet")


def test_text_where_a_number_should_be_counts_as_wrong_and_is_said(tmp_path):
    reference = gold()
    schema = SCHEMA.set(SCHEMA.get_field_index("n"), pa.field("n", pa.string()))
    predicted = [{**row, "n": str(row["n"])} for row in reference]
    expected = both(tmp_path, reference, predicted, ".jsonl")
    files = write(tmp_path / "gold.parquet", reference), write(tmp_path / "system.parquet", predicted, schema)
    run = score_files(*files)
    same(run, expected)
    assert "of the wrong kind, counted as wrong: 40 values (n 40)" in run.warnings[1]
    assert "system.parquet is read row by row as JSON: n is not of the kind that is expected" in run.warnings[0]
    with pytest.raises(InputError, match=r"system\.parquet:1: Expected `int`, got `str` - at `\$\.n`"):
        score_files(*files, type=Document)


def test_a_null_where_none_may_be_names_its_row(tmp_path):
    reference = gold()
    predicted = [{**row, "vendor": None if k == 30 else row["vendor"]} for k, row in enumerate(reference)]
    with pytest.raises(InputError, match=r"system\.parquet:31: Expected `str`, got `null` - at `\$\.vendor`"):
        both(tmp_path, reference, predicted, ".parquet", type=Document)
    with pytest.raises(InputError, match=r"system\.parquet:10: Expected `str`, got `null` - at `\$\.vendor`"):
        both(tmp_path, reference, predicted[::-1], ".parquet", type=Document)
    same(both(tmp_path, reference, predicted, ".parquet"), both(tmp_path, reference, predicted, ".jsonl"))


def test_dates_and_decimals_meet_json(tmp_path):
    rows = [{"id": k, "day": datetime.date(2026, 1, k), "money": decimal.Decimal(f"{k}.10"), "at": datetime.datetime(2026, 1, k, 3)} for k in range(1, 5)]  # fmt: skip
    plain = [
        {"id": k, "day": f"2026-01-0{k}", "money": float(f"{k}.1"), "at": f"2026-01-0{k}T03:00:00"} for k in range(1, 5)
    ]
    columns = write(tmp_path / "a.parquet", pa.Table.from_pylist(rows))
    lines = write(tmp_path / "b.jsonl", plain)
    assert score_files(columns, columns).result.f1 == 1
    assert score_files(columns, lines).result.f1 == 1
    assert score_files(lines, columns).result.f1 == 1


def test_a_model_s_text_in_a_column(tmp_path):
    reference = gold(3)
    answers = [{"id": row["id"], "output": f"Sure:\n```json\n{json.dumps(row)}\n```"} for row in reference]
    file = write(tmp_path / "answers.parquet", pa.Table.from_pylist(answers))
    run = score_files(write(tmp_path / "gold.parquet", reference), file, from_="output", lenient=True)
    assert run.result.f1 == 1
    assert "repaired: 3 predictions" in run.warnings[0]


def test_what_json_cannot_hold_is_an_error_and_not_null(tmp_path):
    table = pa.table({"id": [1, 2], "x": [1.0, float("nan")]})
    columns, lines = (
        write(tmp_path / "a.parquet", table),
        write(tmp_path / "b.jsonl", [{"id": 1, "x": 1.0}, {"id": 2, "x": 2.0}]),
    )
    assert score_files(columns, columns).result.f1 == 1
    assert score_files(lines, columns).result.f1 == 0.5
    with pytest.raises(InputError, match=r"a\.parquet:2: x: has a number that is not finite, which JSON cannot hold"):
        score_files(lines, columns, metric="f1(each(x=exact))")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_none_of_arrow_s(tmp_path, suffix):
    good = write(tmp_path / f"good{suffix}", gold())
    bad = tmp_path / f"bad{suffix}"
    bad.write_text('{"id": 1}\n')
    kind = "Parquet" if suffix == ".parquet" else "Arrow IPC"
    with pytest.raises(InputError, match=rf"bad\{suffix}: is not a complete {kind} file"):
        score_files(good, bad)
    bad.write_bytes(good.read_bytes()[:-100])
    with pytest.raises(InputError, match=rf"bad\{suffix}: (is not a complete {kind} file|cannot be read to its end)"):
        score_files(bad, good)
    bad.write_bytes(b"")
    with pytest.raises(InputError, match=rf"bad\{suffix}: is not a complete {kind} file"):
        score_files(good, bad)
    with pytest.raises(InputError, match="no such file"):
        score_files(good, tmp_path / f"none{suffix}")
    with pytest.raises(InputError, match=r"has no rows|has no records"):
        score_files(write(tmp_path / f"empty{suffix}", []), good)


def test_a_column_that_cannot_be_compared_is_named(tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    file = write(tmp_path / "a.arrow", pa.table({"u": union}))
    with pytest.raises(InputError, match=r"a\.arrow: column 'u': .* is not supported"):
        score_files(file, file)
    twice = write(tmp_path / "b.arrow", pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(InputError, match="has two columns named 'a'"):
        score_files(twice, twice)


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    import builtins

    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    file = write(tmp_path / "a.parquet", gold(1))
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(TallystickError, match=r"pip install 'tallystick\[arrow\]'"):
        score_files(file, file)


def test_row_groups_are_read_one_after_the_other(tmp_path):
    """A batch is never larger than asked for, however large the file is."""
    reference = gold(300)
    file = write(tmp_path / "a.parquet", reference, row_group_size=100)
    found = [batch.num_rows for batch in arrow_files.ArrowLines(file).batches(["id"], 64)]
    assert sum(found) == 300
    assert max(found) <= 64


def test_nested_columns_with_dots_in_their_names(tmp_path):
    table = pa.table({"a.b": [1, 2], "a": [{"b": 1}, {"b": 2}]})
    file = write(tmp_path / "a.parquet", table)
    assert score_files(file, file).result.f1 == 1


DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
NOONS = [datetime.datetime(2020, 1, day, 12, 30) for day in (1, 2, 3)]


@pytest.mark.parametrize("sides", list(itertools.product(("parquet", "jsonl"), repeat=2)))
@pytest.mark.parametrize(
    ("kind", "ids"),
    [(pa.date32(), DAYS), (pa.timestamp("us"), NOONS), (pa.timestamp("ns"), NOONS), (pa.decimal128(5, 0), [1, 2, 3])],
)
def test_dates_and_times_are_ids_as_they_are_in_json(tmp_path, kind, ids, sides):
    files = []
    for name, order, suffix in zip(("gold", "system"), ([0, 1, 2], [2, 0, 1]), sides, strict=True):
        rows = pa.table({"id": pa.array([ids[k] for k in order], kind), "x": [f"v{k}" for k in order]})
        files.append(tmp_path / f"{name}.{suffix}")
        if suffix == "parquet":
            pq.write_table(rows, files[-1])
        else:
            files[-1].write_bytes(b"\n".join(arrow_files.json_lines(rows.to_batches()[0], "", [1, 2, 3])))
    run = score_files(*files)
    assert run.paired == "by id"
    assert run.result.f1 == 1

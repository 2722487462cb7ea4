"""`ts.score`: the same score, whatever the records are in."""

import datetime
import json
import re
import sys
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TypedDict

import pytest

import tallystick as ts
from running import run
from tallystick.errors import InputError, SidesMismatch


@dataclass
class Line:
    sku: str
    quantity: float


@dataclass
class Invoice:
    vendor: dict[str, str]
    total: float | None = None
    paid: bool | None = None
    lines: list[Line] = field(default_factory=list)


GOLD = {f"d{k}": Invoice({"name": f"V{k}"}, k * 1.5, k % 2 == 0, [Line(f"0{k}", k), Line("x", 2)]) for k in range(5)}
SYSTEM = {name: Invoice(**vars(one)) for name, one in GOLD.items()}
SYSTEM["d1"] = Invoice({"name": "V1"}, 7.25, None, [Line("x", 2), Line("01", 3)])
SYSTEM["d3"] = Invoice({"name": "nobody"}, 4.5, False, [Line("x", 2)])
PLAIN = [{name: asdict(one) for name, one in side.items()} for side in (GOLD, SYSTEM)]
ROWS = [[{"id": name, **one} for name, one in side.items()] for side in PLAIN]


def flat(row):
    lines = {f"lines[{k}].{name}": value for k, line in enumerate(row["lines"]) for name, value in line.items()}
    return {"id": row["id"], "vendor.name": row["vendor"]["name"], "total": row["total"], "paid": row["paid"], **lines}


def cell(value):
    return "" if value is None else json.dumps(value) if isinstance(value, (bool, float, int)) else value


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for name, plain, rows in zip(("gold", "system"), PLAIN, ROWS, strict=True):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        (folder / f"{name}.json").write_text(json.dumps(plain, indent=1))
        (folder / f"{name}_list.json").write_text(json.dumps(rows))
        columns = list(dict.fromkeys(key for row in map(flat, rows) for key in row))
        for suffix, mark in ((".csv", ","), (".tsv", "\t"), ("_de.csv", ";")):
            table = [columns, *([cell(flat(row).get(key)) for key in columns] for row in rows)]
            (folder / f"{name}{suffix}").write_text("\n".join(mark.join(map(str, line)) for line in table))
        (folder / name / "deep").mkdir(parents=True)
        for key, one in plain.items():
            (folder / name / "deep" / f"{key}.json").write_text(json.dumps(one, indent=2))
        logs = (
            {"custom_id": key, "response": {"body": {"choices": [{"message": {"content": json.dumps(one)}}]}}}
            for key, one in reversed(plain.items())
        )
        (folder / f"{name}_log.jsonl").write_text("\n".join(map(json.dumps, logs)))
    return folder


def frames(kind):
    module = pytest.importorskip(kind)
    return [module.DataFrame(rows) for rows in ROWS]


WAYS = {
    "values by id": lambda folder: (GOLD, SYSTEM),
    "data by id": lambda folder: tuple(PLAIN),
    "rows": lambda folder: tuple(ROWS),
    "pandas": lambda folder: tuple(frames("pandas")),
    "pandas, flat": lambda folder: tuple(
        pytest.importorskip("pandas").DataFrame(list(map(flat, rows))).set_index("id") for rows in ROWS
    ),
    "polars": lambda folder: tuple(frames("polars")),
    "polars, lazy": lambda folder: tuple(frame.lazy() for frame in frames("polars")),
    "arrow": lambda folder: tuple(pytest.importorskip("pyarrow").Table.from_pylist(rows) for rows in ROWS),
    "texts": lambda folder: tuple({name: json.dumps(one) for name, one in side.items()} for side in PLAIN),
    "a model's texts": lambda folder: (
        PLAIN[0], {name: f"Here it is:\n```json\n{json.dumps(one)}\n```" for name, one in PLAIN[1].items()},
    ),
    **{
        what: lambda folder, names=names: tuple(folder / name for name in names)
        for what, names in {
            "lines": ("gold.jsonl", "system.jsonl"), "one object": ("gold.json", "system.json"),
            "one list": ("gold_list.json", "system_list.json"), "folders": ("gold/deep", "system/deep"),
            "csv": ("gold.csv", "system.csv"), "tsv": ("gold.tsv", "system.tsv"), "csv, German": ("gold_de.csv", "system_de.csv"),
            "csv and lines": ("gold.csv", "system.jsonl"), "lines and a folder": ("gold.jsonl", "system/deep"),
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"type": Invoice}], ids=["inferred", "type"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_has_one_score(files, way, options):
    expected = ts.score(files / "gold.jsonl", str(files / "system.jsonl"))
    found = ts.score(*WAYS[way](files), **options)
    assert found.figures == expected.figures
    assert found.count == 5
    assert found.exact_documents == 3
    assert {row.path for row in found.by_field()} >= {"lines[*].quantity", "total", "paid"}


def test_the_command_has_the_same_score(files):
    expected = ts.score(*ROWS)
    for names in (("gold.json", "system.json"), ("gold", "system"), ("gold.csv", "system.csv")):
        found = json.loads(run("score", "records", *names, "--format", "json", cwd=files).stdout)
        assert found["metrics"]["records"]["f1"] == expected.f1
        assert found["exact"]["documents"] == 3


def test_paths_into_lines_and_other_names_of_ids(files):
    content = "response.body.choices[0].message.content"
    ids = ["--id", "custom_id", "--reference-id", "id", "--from", content]
    found = json.loads(
        run("score", "records", "gold.jsonl", "system_log.jsonl", *ids, "--format", "json", cwd=files).stdout
    )
    assert found["metrics"]["records"]["f1"] == ts.score(*ROWS).f1
    both = ts.score(
        files / "gold_log.jsonl", files / "system_log.jsonl", id="custom_id", from_=content, reference_from=content
    )
    assert both.figures == ts.score(*ROWS).figures
    nested = [{"meta": {"key": row["id"]}, "gold": row} for row in ROWS[0]]
    again = ts.score(nested, ROWS[1], reference_id="meta.key", reference_from="gold")
    assert again.f1 == ts.score(*ROWS).f1
    wrong = run(
        "score", "records", "gold.jsonl", "system_log.jsonl", *ids[:5], "response.body.choice", cwd=files, code=2
    )
    assert "system_log.jsonl:1: has no field 'response.body.choice', found custom_id, response" in wrong.stderr


def test_one_wrong_value_in_a_large_document_is_seen():
    gold = {"a": list(range(200_000))}
    assert ts.score(gold, {"a": [*range(199_999), -1]}).exact == 0
    assert ts.score(gold, gold).exact == 1


def test_one_pair():
    assert ts.score({"a": 1, "b": {"c": [1, 2]}}, {"a": 1, "b": {"c": [2]}}).figures["records"] == pytest.approx(
        {"precision": 1, "recall": 2 / 3, "f1": 0.8}
    )
    assert ts.score({"a": 1}, '{"a": 1}').exact == 1
    assert ts.score('{"a": 1}', 'The answer is {"a": 2}.').f1 == 0
    assert ts.score({"a": 1}, "I do not know").f1 == 0
    assert ts.score(Line("x", 1), '{"sku": "x", "quantity": 1}', type=Line).exact == 1
    assert ts.score(Line("x", 1), Line("x", 1)).exact == 1


def test_strictness_is_a_word_away():
    with pytest.raises(ts.TallystickError, match=r"predicted:1: Expected `int . float . null`, got `str` - at `\$.a`"):
        ts.score({"a": 1}, {"a": "1"}, schema={"properties": {"a": {"type": "number"}}, "type": "object"})
    with pytest.raises(ts.TallystickError, match=r"no_such_file.jsonl: no such file"):
        ts.score("no_such_file.jsonl", [])
    with pytest.raises(ts.TallystickError, match=r"no option 'idd'.*Did you mean .id"):
        ts.score({"a": 1}, {"a": 1}, idd="x")
    with pytest.raises(ts.TallystickError, match=r"reference: a value of type builtins.object is no data"):
        ts.score({"a": object()}, {"a": 1})
    Path("gold.csv").write_text("a,b\n1,2\n1,2,3")
    with pytest.raises(ts.TallystickError, match=r"gold.csv:3: expected 2 cells.*found 3"):
        ts.score("gold.csv", "gold.csv")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_values_that_json_does_not_have():
    numpy = pytest.importorskip("numpy")
    assert ts.score({"a": Decimal("1.10")}, {"a": 1.1}).exact == 1
    assert ts.score({"a": numpy.float64(2.5), "b": numpy.arange(3)}, {"a": 2.5, "b": [2, 1, 0]}).exact == 1
    assert ts.score({"a": {1, 2}, "d": datetime.date(2024, 1, 2)}, {"a": [2, 1], "d": "2024-01-02"}).exact == 1
    assert ts.score({"a": float("nan"), "b": None}, {"a": float("nan")}).exact == 1
    assert ts.score({"a": float("nan")}, {"a": None}).recall == 0


def test_one_object_of_objects_is_one_document_unless_they_are_alike():
    assert ts.score({"seller": {"name": "x"}, "total": 1}, {"seller": {"name": "x"}, "total": 1}).count == 1
    assert ts.score({"seller": {"name": "x"}, "goods": {"sku": 1}}, {"seller": {"name": "x"}}).count == 1
    alike = {"a": {"name": "x", "total": 1}, "b": {"name": "y", "total": 1}}
    found = ts.score(alike, alike)
    assert found.count == 2
    assert any("its keys are the ids, such as 'a'" in note for note in found.notes)
    declared = {"type": "object", "properties": {key: {"type": "object", "additionalProperties": {"type": ["string", "number"]}} for key in alike}}  # fmt: skip
    assert ts.score(alike, alike, schema=declared).count == 1


def test_a_folder_says_what_it_leaves_out_and_where_a_document_is_wrong(tmp_path):
    for name in ("gold", "system"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.json").write_text('{"x": 1}')
    (tmp_path / "gold" / "scan.png").write_bytes(b"x")
    (tmp_path / "gold" / ".DS_Store").write_bytes(b"x")
    (tmp_path / "system" / "a.json").rename(tmp_path / "system" / "a.md")
    found = ts.score(tmp_path / "gold", tmp_path / "system")
    assert found.exact == 1
    assert any("not read, being no .json, .txt or .md: 1 file, such as scan.png" in note for note in found.notes)
    (tmp_path / "gold" / "b.json").write_text('{"x": \n}')
    with pytest.raises(ts.TallystickError, match=r"gold/b.json:2:1: is not JSON"):
        ts.score(tmp_path / "gold", tmp_path / "system")
    (tmp_path / "gold" / "b.json").unlink()
    (tmp_path / "gold" / "a.json.gz").write_bytes(b"")
    with pytest.raises(ts.TallystickError, match="is the document 'a', and so is"):
        ts.score(tmp_path / "gold", tmp_path / "system")


def test_the_page_says_what_comes_out():
    page = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")
    code = next(one for one in re.findall(r"```python\n(.*?)```", page, re.S) if one.startswith("import tallystick"))
    *before, last = code.strip().splitlines()
    names = {}
    exec("\n".join(before), names)
    expression, expected = last.split("  # ")
    assert eval(expression, names) == eval(expected)


def test_names_of_files_keys_and_cells_meet_ids_that_are_numbers(tmp_path):
    rows = [{"id": k, "x": k} for k in (1, 2, 10)]
    keyed = {str(row["id"]): {"x": row["x"]} for row in rows}
    (tmp_path / "system").mkdir()
    for name, one in keyed.items():
        (tmp_path / "system" / f"{name}.json").write_text(json.dumps(one))
    (tmp_path / "system.json").write_text(json.dumps(keyed))
    (tmp_path / "system.csv").write_text("id,x\n10,10\n1,1\n2,2\n")
    for system in (keyed, tmp_path / "system", tmp_path / "system.json", tmp_path / "system.csv"):
        for gold in (rows, [{**row, "id": str(row["id"])} for row in rows]):
            assert ts.score(gold, system).exact == 1, system
            if not isinstance(system, dict):
                assert ts.score(system, gold).exact == 1, system


def test_a_table_holds_texts_where_the_type_says_so(tmp_path):
    (tmp_path / "gold.csv").write_text(
        '\ufeffid,zip,note,extra\na,12345,"two\nlines","{""k"": [1, 2]}"\nb,54321,,\n', encoding="utf-8"
    )
    rows = [{"id": "a", "zip": "12345", "note": "two\nlines", "extra": {"k": [1, 2]}}, {"id": "b", "zip": "54321"}]
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string"}, "zip": {"type": "string"}, "note": {"type": "string"},
            "extra": {"type": "object", "properties": {"k": {"type": "array", "items": {"type": "number"}}}},
        },
    }  # fmt: skip
    assert ts.score(tmp_path / "gold.csv", rows, schema=schema).exact == 1
    assert ts.score(rows, tmp_path / "gold.csv").exact == 1  # what the reference has says what a cell is
    assert ts.score(tmp_path / "gold.csv", rows).exact == 0  # which without either looks like numbers


def test_a_file_called_as_a_module_of_python_leaves_that_alone(tmp_path):
    import types

    (tmp_path / "types.py").write_text("from dataclasses import dataclass\n@dataclass\nclass One:\n    x: int\n")
    assert ts.score({"x": 1}, '{"x": 1}', type=f"{tmp_path / 'types.py'}:One").exact == 1
    assert sys.modules["types"] is types
    assert types.SimpleNamespace


@pytest.mark.parametrize("kind", ["bare", "from_", "frame"])
def test_a_models_text_in_memory_is_read_leniently_wherever_it_is(kind):
    texts = ['Sure: {"a": 1}', "no", None]
    rows = [{"id": k, "output": text} for k, text in enumerate(texts)]
    reference = [{"id": k, "a": 1} for k in range(3)]
    if kind == "bare":
        found = ts.score([{"a": 1}] * 3, texts)
    else:
        predicted = pytest.importorskip("pandas").DataFrame(rows) if kind == "frame" else rows
        found = ts.score(reference, predicted, from_="output")
    assert (found.precision, found.recall) == (1, 1 / 3)
    with pytest.raises(SidesMismatch, match="only in the reference"):
        ts.score(reference, [{"id": k, "output": {"b": 1}} for k in range(2)], from_="output")


def test_a_models_text_in_a_file_is_read_leniently_only_if_that_is_asked_for(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": 1, "a": 1}\n')
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": 1, "output": 'x {"a": 1}'}) + "\n")
    both = tmp_path / "gold.jsonl", tmp_path / "answers.jsonl"
    with pytest.raises(InputError, match="lenient=True"):
        ts.score(*both, from_="output")
    assert ts.score(*both, from_="output", lenient=True).f1 == 1


def test_a_nan_is_called_by_its_name():
    warning = ts.score([{"total": 1.0}], [{"total": float("nan")}]).warnings[0]
    assert "total: expected a number, found nan, which is no number in JSON" in warning


ACME, SAID = {"vendor": "Acme", "total": 12}, '{"vendor": "Acme", "total": 12}'
ADDRESSES = {"billing": {"street": "Main", "city": "Oslo"}, "shipping": {"street": "High", "city": "Bonn"}}


@pytest.mark.parametrize(
    ("reference", "predicted", "ids"),
    [
        ({"a": ACME}, {"a": SAID}, ("a",)),
        ({"a": ACME}, {"a": f"Sure!\n```json\n{SAID}\n```"}, ("a",)),
        ({"a": ACME, "b": {"vendor": "B"}}, {"a": SAID, "b": '{"vendor": "B"}'}, ("a", "b")),
        ({"a": ACME}, [{"id": "a", **ACME}], ("a",)),
        ([{"id": "a", **ACME}], {"a": ACME}, ("a",)),
        ([{"id": "a", **ACME}], {"a": SAID}, ("a",)),
        (ADDRESSES, json.dumps(ADDRESSES), (1,)),
        (json.dumps(ADDRESSES), ADDRESSES, (1,)),
        (ADDRESSES, [ADDRESSES], None),
    ],
)
def test_what_one_object_is_depends_on_both_sides(tmp_path, reference, predicted, ids):
    if ids is None:
        with pytest.raises(
            ts.TallystickError, match=r"read as 2 documents by id.*; if it is one record, give \[reference\]"
        ):
            ts.score(reference, predicted)
        return
    results = ts.score(reference, predicted)
    assert (results.f1, results["records"].ids) == (1.0, ids)
    if all(not isinstance(side, str) for side in (reference, predicted)):
        for name, side in (("gold", reference), ("system", predicted)):
            (tmp_path / f"{name}.json").write_text(json.dumps(side))
        done = run("score", "records", "gold.json", "system.json", "--format", "json", cwd=tmp_path)
        assert json.loads(done.stdout)["metrics"]["records"]["f1"] == 1.0


def test_an_object_that_can_be_read_in_two_ways_is_an_error_that_names_both(tmp_path):
    two = {"a": ACME, "b": {"vendor": "B"}}
    for reference, predicted, said in (
        (two, [ACME, ACME], r"reference is read as one record; if its keys are ids, give \[\{\"id\": key, \.\.\.\}\]"),
        (
            {"a": ACME, "b": ACME},
            SAID,
            r"reference can be one record or 2 records by id.*one text or instance.*give \[reference\]",
        ),
        ({"a": ACME, "b": ACME}, ACME, r"read as 2 documents by id.*; if it is one record, give \[reference\]"),
    ):
        with pytest.raises(ts.TallystickError, match=said):
            ts.score(reference, predicted)
    assert ts.score(ADDRESSES, "no idea").f1 == 0.0  # whatever a model says, a record that is scored alone is one
    (tmp_path / "gold.json").write_text(json.dumps(ADDRESSES))
    (tmp_path / "system.jsonl").write_text(json.dumps(ADDRESSES) + "\n")
    done = run("score", "records", "gold.json", "system.jsonl", cwd=tmp_path, code=3)
    assert "if it is one record, write it as one line of a .jsonl file" in done.stderr


def test_with_a_type_its_fields_say_what_an_object_is():
    class Invoice(TypedDict, total=False):
        vendor: str
        total: int

    for reference in ({"a": ACME}, {"a": ACME, "b": {"vendor": "B"}}):
        results = ts.score(reference, {key: json.dumps(one) for key, one in reference.items()}, type=Invoice)
        assert (results.f1, results["records"].count) == (1.0, len(reference))


def test_a_comparison_reads_one_object_alike_for_all_systems(tmp_path):
    for name, held in (("gold", ACME), ("a", SAID), ("b", {**ACME, "total": 13})):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"x": held, "y": held if name != "gold" else {"vendor": "Acme"}})
        )
    done = run("compare", "records", "gold.json", "a.json", "b.json", "--format", "json", cwd=tmp_path)
    found = [one["records"]["value"] for one in json.loads(done.stdout)["systems"].values()]
    assert found == [pytest.approx(6 / 7), pytest.approx(4 / 7)]


MIDNIGHT, NOON = datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 3, 12)


def midnights(kind):
    if kind == "pandas":
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({"id": ["1", "2"], "a.d": pd.to_datetime(["2026-01-02", None])})
    if kind == "polars":
        pl = pytest.importorskip("polars")
        return pl.DataFrame({"id": ["1", "2"], "a.d": [MIDNIGHT, None]})
    rows = [{"id": "1", "a": {"d": MIDNIGHT}}, {"id": "2"}]
    return {row["id"]: row for row in rows} if kind == "by id" else iter(rows) if kind == "iterator" else rows


@pytest.mark.parametrize("kind", ["pandas", "polars", "list", "by id", "iterator"])
@pytest.mark.parametrize("answer", ["data", "text", "file"])
def test_times_that_are_all_midnight_are_dates_beside_dates(tmp_path, kind, answer):
    rows = [{"id": "1", "a": {"d": "2026-01-02"}}, {"id": "2"}]
    predicted = {"data": rows, "text": list(map(json.dumps, rows)), "file": tmp_path / "answers.jsonl"}[answer]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = ts.score(midnights(kind), predicted)
    assert found.f1 == 1.0
    assert any("reference: a.d is read as dates, because all of its times are midnight" in note for note in found.notes)
    if answer == "data":
        assert ts.score(rows, midnights(kind)).f1 == 1.0


def test_times_stay_times_beside_times():
    for times, other in (
        ([MIDNIGHT, NOON], ["2026-01-02", "2026-01-03"]),
        ([MIDNIGHT, MIDNIGHT], ["2026-01-02T00:00:00", "2026-01-02"]),
        ([MIDNIGHT.replace(tzinfo=datetime.timezone.utc)], ["2026-01-02"]),
    ):
        found = ts.score([{"d": one} for one in times], [{"d": one} for one in other])
        assert found.f1 == sum("T" in one for one in other) / len(other)
        assert not any("dates" in note for note in found.notes)
    assert ts.score([{"d": MIDNIGHT}], [{"d": MIDNIGHT}]).f1 == 1.0

"""Keys that only predictions have cost precision, the same from a dataclass, pydantic, a schema, inference and columns."""

import json
from dataclasses import dataclass, field

import pydantic
import pytest

import tallystick as ts
from running import run as run_command
from running import sorts_structs
from tallystick.adapters.scorer import RecordScorer
from tallystick.algebra.surplus import known_keys
from tallystick.engine.values import leaves
from tallystick.errors import MetricError
from tallystick.tasks.records.score import Wanted, prepare, run_prepared, score_files


@dataclass
class Line:
    sku: str
    tags: list[str]


@dataclass
class Invoice:
    id: str
    vendor: str
    lines: list[Line]


class LineModel(pydantic.BaseModel):
    sku: str
    tags: list[str]


class InvoiceModel(pydantic.BaseModel):
    id: str
    vendor: str
    lines: list[LineModel]


WAYS = {
    "dataclass": {"type": Invoice},
    "pydantic": {"type": InvoiceModel},
    "schema": {"schema": InvoiceModel.model_json_schema()},
    "inference": {},
}
GOLD = [
    {"id": "a", "vendor": "x", "lines": [{"sku": "1", "tags": ["t"]}, {"sku": "2", "tags": []}]},
    {"id": "b", "vendor": "y", "lines": []},
    {"id": "c", "vendor": "z", "lines": [{"sku": "3", "tags": ["t", "u"]}]},
]


def predictions():
    rows = json.loads(json.dumps(GOLD))
    rows[0]["total"] = 12.5
    rows[0]["lines"][1]["colour"] = {"name": "red", "codes": [1, 2], "none": None}
    rows[2]["total"] = None
    rows[2]["address"] = {"street": "s", "city": "c"}
    return rows


def write(file, rows):
    if file.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        pyarrow.parquet.write_table(pa.Table.from_pylist(all_keys(rows)), file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def all_keys(rows):
    keys = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key) for key in keys} for row in rows]


def scored(folder, rows, gold=GOLD, suffix=".jsonl", other=None, **options):
    return score_files(
        write(folder / f"gold{suffix}", gold), write(folder / f"system{other or suffix}", rows), **options
    )


EXTRA = {"total": 1, "lines[*].colour": 3, "address": 2}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("suffix", "other"), [(".jsonl", ".jsonl"), (".parquet", ".parquet"), (".jsonl", ".parquet"), (".parquet", ".jsonl")])  # fmt: skip
def test_they_cost_precision_the_same_all_ways(tmp_path, way, suffix, other):
    run = scored(tmp_path, predictions(), suffix=suffix, other=other, worst=2, **WAYS[way])
    assert run.result.tally == {"num_p": 9, "den_p": 15, "num_r": 9, "den_r": 9}
    assert run.result.rows[:, 1].tolist() == [8, 1, 6]
    assert run.result.exact_documents == 1
    found = {row.path: row.extra for row in run.result.by_field() if row.extra}
    assert found == EXTRA
    assert all(row.support == 0 and row.figures["precision"] == 0 for row in run.result.by_field() if row.extra)
    (warning,) = run.warnings
    assert (
        "under keys that the reference does not have, counted as extra (--unknown ignore leaves them out): 6 values"
        in warning
    )
    assert "lines[*].colour 3, address 2, total 1" in warning
    assert "the first: document a: total: 12.5" in warning or "the first: document a: lines" in warning
    tree = run.explain(run.documents[0])
    assert tree.predicted_self == 8
    assert "+ total: 12.5  spurious" in str(tree)
    assert [kept.id for kept in run.documents] == ["a", "c"]


@pytest.mark.parametrize("way", WAYS)
def test_they_can_be_ignored_which_is_said(tmp_path, way):
    run = scored(tmp_path, predictions(), unknown="ignore", **WAYS[way])
    assert run.result.f1 == 1
    assert "under keys that the reference does not have, ignored: 6 values" in run.warnings[0]
    with pytest.raises(
        MetricError, match=r'unknown: expected count or ignore, found \'ignored\'. Did you mean "ignore"'
    ):
        scored(tmp_path, predictions(), unknown="ignored", **WAYS[way])


@pytest.mark.parametrize("way", ["dataclass", "pydantic", "schema"])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_what_the_document_s_reference_has_too_lies_outside_of_the_comparison(tmp_path, way, suffix):
    gold = [{**row, "note": "n" if row["id"] != "c" else None} for row in GOLD]
    rows = [{**row, "note": "m"} for row in GOLD]
    run = scored(tmp_path, rows, gold, suffix, **WAYS[way])
    assert run.result.rows[:, 1].tolist() == [4, 1, 5]  # only c's reference has no note
    assert "1 value (note 1); the first: document c: note: 'm'" in run.warnings[0]


def test_an_open_schema_and_an_open_model_welcome_them(tmp_path):
    class Open(InvoiceModel):
        model_config = {"extra": "allow"}

    schema = json.loads(json.dumps(InvoiceModel.model_json_schema()))
    schema["additionalProperties"] = True
    for way in ({"type": Open}, {"schema": schema}):
        run = scored(tmp_path, predictions(), **way)
        assert run.result.tally["den_p"] == 12  # lines are not open
        assert {row.path for row in run.result.by_field() if row.extra} == {"lines[*].colour"}
    schema["additionalProperties"] = False
    assert scored(tmp_path, predictions(), schema=schema).result.tally["den_p"] == 15


def test_nothing_below_an_ignored_field_counts(tmp_path):
    run = scored(tmp_path, predictions(), choices={"lines": "ignore"})
    assert {row.path for row in run.result.by_field() if row.extra} == {"total", "address"}


def test_a_metric_of_one_s_own_says_itself_what_it_looks_at(tmp_path):
    run = scored(tmp_path, predictions(), metric="f1(each(vendor=exact))")
    assert run.result.f1 == 1
    assert run.warnings == ()


def test_noisy_predictions_pay_too(tmp_path):
    answers = [{"id": row["id"], "output": f"```json\n{json.dumps(row)}\n```"} for row in predictions()]
    run = scored(tmp_path, answers, from_="output", lenient=True)
    assert run.result.tally["den_p"] == 15
    rows = predictions()
    rows[0]["vendor"] = 5
    assert scored(tmp_path, rows).result.tally["den_p"] == 15


def test_examples_of_an_unknown_key(tmp_path):
    task = prepare(write(tmp_path / "a.jsonl", GOLD), write(tmp_path / "b.jsonl", predictions()))
    assert [kept.id for kept in run_prepared(task, wanted=Wanted(3, "address")).documents] == ["c"]
    with pytest.raises(MetricError, match="no field 'adress'"):
        run_prepared(task, wanted=Wanted(3, "adress"))


@pytest.mark.parametrize("way", WAYS)
def test_adapters_count_them(way):
    scorer = RecordScorer(**WAYS[way])
    one = scorer.score(GOLD[0], json.dumps(predictions()[0]))
    assert one.result.tally["den_p"] == 9  # here the id is a field like others
    assert "total" in str(one)
    assert RecordScorer(**WAYS[way], unknown="ignore").score(GOLD[0], predictions()[0]).f1 == 1


def test_missing_predictions_beside_unknown_columns(tmp_path):
    rows = predictions()[::-1][:2]
    runs = [scored(tmp_path, rows, suffix=suffix, lenient=True, worst=3) for suffix in (".jsonl", ".parquet")]
    assert runs[0].result.rows.tolist() == runs[1].result.rows.tolist()
    assert [len(run.result.invalid) for run in runs] == [1, 1]
    explained = [[str(run.explain(k)) for k in run.documents] for run in runs]
    if sorts_structs():
        explained = [[sorted(text.split("\n")) for text in texts] for texts in explained]
    assert explained[0] == explained[1]


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


def test_a_type_that_contains_itself():
    unknown = known_keys(Tree)
    value = {"name": "a", "children": [{"name": "b", "x": 1, "children": [{"name": "c", "y": [1, 2]}]}]}
    assert unknown.find(value) == [
        ("children[*].x", 1),
        ("children[*].children[*].y", 1),
        ("children[*].children[*].y", 2),
    ]


def test_leaves():
    assert list(leaves({"a": [1, None, {"b": "x"}], "c": {}, "d": []})) == [1, "x"]


def test_figures_by_field_of_documents_in_memory_agree_with_streamed_ones(tmp_path):
    task = prepare(write(tmp_path / "a.jsonl", GOLD), write(tmp_path / "b.jsonl", predictions()))
    streamed = run_prepared(task).result
    kept = ts.Evaluation(task.metric)
    for batch in task.pairing.batches():
        kept.update(batch.references, batch.predictions, ids=batch.ids)
    assert kept.compute().by_field() == streamed.by_field()
    assert str(kept.compute().explain("a")).count("spurious") == 4


def test_an_answer_inside_of_another_field_is_still_suspected(tmp_path):
    rows = [{"id": row["id"], "output": row} for row in GOLD]
    run = scored(tmp_path, rows)
    assert run.warnings[-1].endswith(
        "no prediction has any of the fields that the reference has; they seem to be under 'output', which --from 'output' reads"
    )
    run = scored(tmp_path, [{"id": row["id"], "other": 1} for row in GOLD])
    assert run.warnings[-1].endswith("name it with --from PATH (and the reference comes first)")


def test_text_that_is_to_be_read_is_named_wherever_it_is_scored(tmp_path):
    """In a score, in each system of a comparison, and among suggestions, where nobody would think of it otherwise."""
    answers = [json.dumps({key: value for key, value in row.items() if key != "id"}) for row in GOLD]
    rows = [
        {"id": row["id"], "model": "small", "body": {"choices": [{"text": text}]}}
        for row, text in zip(GOLD, ["I am sorry.", *(f"Here: {text}" for text in answers[1:])], strict=True)
    ]
    gold, predicted = write(tmp_path / "gold.jsonl", GOLD), write(tmp_path / "raw.jsonl", rows)
    hint = "'body.choices[0].text' has text with JSON in it, which --from 'body.choices[0].text' --lenient reads"
    assert run_command("score", "records", gold, predicted).stderr.count(hint) == 1
    assert run_command("compare", "records", gold, f"a={predicted}", f"b={predicted}").stderr.count(hint) == 2
    assert run_command("suggest", "records", gold, predicted).stderr.count(hint) == 1
    said = "which from_='body.choices[0].text' lenient=True reads"
    assert ts.score(gold, predicted).warnings[-1].endswith(said)
    assert ts.suggest(gold, predicted).warnings[-1].endswith(said)
    assert ts.score(gold, predicted, from_="body.choices[0].text", lenient=True).f1 > 0.5

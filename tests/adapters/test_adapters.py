"""Each adapter with the real package, where that is installed."""

import asyncio
import json
from dataclasses import dataclass

import pytest

import tallystick as ts
from tallystick.adapters.pytest import assert_matches
from tallystick.adapters.scorer import RecordScorer
from tallystick.errors import TallystickError


@dataclass
class Line:
    sku: str
    quantity: int


@dataclass
class Invoice:
    vendor: str
    lines: list[Line]


GOLD = {"vendor": "Acme", "lines": [{"sku": "a", "quantity": 1}, {"sku": "b", "quantity": 2}]}
WRONG = {"vendor": "Acme", "lines": [{"sku": "b", "quantity": 3}, {"sku": "a", "quantity": 1}]}
NOISY = f"Here you are:\n```json\n{json.dumps(WRONG)}\n```"


@pytest.mark.parametrize(
    "options", [{"type": Invoice}, {}, {"type": f"{__name__}:Invoice"}], ids=["type", "inferred", "named"]
)
@pytest.mark.parametrize("predicted", [WRONG, NOISY, json.dumps(WRONG)], ids=["data", "noisy", "text"])
def test_one_document(options, predicted):
    one = RecordScorer(**options).score(GOLD, predicted)
    assert one.f1 == 0.8
    assert not one.exact
    assert [(d.what, d.path, d.reference, d.predicted) for d in one.differences] == [
        ("wrong", "lines[1→0].quantity", 2, 3)
    ]
    assert "lines[1→0].quantity" in str(one)


def test_values_of_the_type_are_taken_as_they_are():
    one = RecordScorer(Invoice).score(Invoice("Acme", [Line("a", 1)]), Invoice("Acme", [Line("a", 1)]))
    assert one.exact
    assert one.figures == {"precision": 1, "recall": 1, "f1": 1, "exact": 1}


def test_what_cannot_be_read_scores_nothing():
    for text in ("I could not find an invoice.", "", None):
        one = RecordScorer(Invoice).score(GOLD, text)
        assert one.f1 == 0
        assert one.invalid
        assert not one.exact


def test_a_reference_that_is_no_json_is_an_error():
    with pytest.raises(TallystickError, match="reference:1:5: is not JSON"):
        RecordScorer(Invoice).score("not json", "{}")


@pytest.mark.filterwarnings("default")  # of their own dependencies
def test_inspect_ai(tmp_path):
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from tallystick.adapters.inspect import records

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in (NOISY, "no idea")]
    for output in outputs:
        output.usage = ModelUsage()  # else tokens are counted, with a table from the network
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=[Sample(input="?", target=json.dumps(GOLD), id=k) for k in (1, 2)], scorer=records(Invoice))
    (log,) = eval(
        task, model=model, display="none", log_format="json", log_dir=str(tmp_path), max_samples=1, max_connections=1
    )
    assert log.status == "success", log.error
    figures = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert figures["f1"] == pytest.approx(0.4)
    assert "lines[1→0].quantity" in log.samples[0].scores["records"].explanation


@pytest.mark.filterwarnings("default")  # of their own dependencies
def test_pydantic_evals():
    pytest.importorskip("pydantic_evals")
    from pydantic_evals import Case, Dataset

    from tallystick.adapters.pydantic_evals import RecordsMatch

    dataset = Dataset(
        name="invoices",
        cases=[Case(name="one", inputs="?", expected_output=GOLD)],
        evaluators=[RecordsMatch(Invoice)],
    )

    async def answer(_: str) -> str:
        return NOISY

    report = asyncio.run(dataset.evaluate(answer, progress=False))
    case = report.cases[0]
    assert case.scores["f1"].value == 0.8
    assert case.assertions["exact"].value is False
    assert "quantity" in case.scores["f1"].reason


@pytest.mark.filterwarnings("default")  # of their own dependencies
def test_evaluate():
    pytest.importorskip("evaluate")
    from tallystick.adapters.huggingface import Records, as_text, compute

    found = compute(predictions=[WRONG, GOLD], references=[GOLD, GOLD], type=Invoice)
    assert found["f1"] == pytest.approx(0.9)
    assert found["exact"] == 0.5
    assert found["f1_by_field"]["lines[*].quantity"] == 0.75
    metric = Records(type=Invoice)
    again = metric.compute(predictions=[as_text(WRONG), NOISY], references=[as_text(GOLD)] * 2)
    assert again["f1"] == pytest.approx(0.8)


def test_pytest_assertion_shows_what_differs():

    assert assert_matches(GOLD, GOLD).exact
    assert assert_matches(GOLD, NOISY, type=Invoice, f1=0.8).f1 == 0.8
    with pytest.raises(AssertionError, match=r"(?s)differs from the reference.*lines\[1→0\]\.quantity +2 +3"):
        assert_matches(GOLD, NOISY, type=Invoice)
    with pytest.raises(AssertionError, match=r"f1 0.8000 < 0.9"):
        assert_matches(GOLD, NOISY, type=Invoice, f1=0.9)


def test_promptfoo():
    from tallystick.adapters.promptfoo import get_assert

    context = {"vars": {"expected": json.dumps(GOLD)}, "config": {"threshold": 0.75}}
    found = get_assert(NOISY, context)
    assert found["pass"] is True
    assert found["score"] == found["namedScores"]["f1"] == 0.8
    assert json.loads(json.dumps(found)) == found
    assert get_assert(NOISY, {"vars": {"expected": GOLD}})["pass"] is False
    assert "there is no reference" in get_assert(NOISY, {"vars": {}})["reason"]
    assert "unexpected keyword" in get_assert(NOISY, {"vars": {"expected": GOLD}, "config": {"schem": "x"}})["reason"]


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    import sys

    from tallystick.adapters import huggingface

    huggingface._records.cache_clear()
    monkeypatch.setitem(sys.modules, "evaluate", None)
    with pytest.raises(
        TallystickError, match=r"needs \w+, which is not installed: pip install tallystick\[huggingface\]"
    ):
        _ = huggingface.Records
    assert huggingface.compute(predictions=[GOLD], references=[GOLD])["f1"] == 1  # which needs no package


def test_tags_are_not_taken_for_bags_of_words():
    """Once, tags at other places had F1 1."""
    from tallystick.adapters.huggingface import compute

    tags, elsewhere = [["B-PER", "O", "O"]], [["O", "O", "B-PER"]]
    with pytest.raises(TallystickError, match=r"look like tags of tokens.*huggingface.seqeval.*type=list\[str\]"):
        compute(predictions=elsewhere, references=tags)
    assert compute(predictions=elsewhere, references=tags, type=list[str])["f1"] == 1  # as was asked for
    assert (
        compute(predictions=[["I", "O"]], references=[["O", "I"]])["f1"] == 1
    )  # words, or at least no tags with types


def test_a_bound_in_percent_is_refused():
    from tallystick.adapters.promptfoo import get_assert

    with pytest.raises(TallystickError, match=r"f1 lies between 0 and 1, found 'f1=90'; for 90 % say f1=0.9"):
        assert_matches({"a": 1}, {"a": 1}, f1=90)
    for threshold in (90, "high"):
        graded = get_assert('{"a": 1}', {"vars": {"expected": {"a": 1}}, "config": {"threshold": threshold}})
        assert (graded["pass"], graded["score"]) == (False, 0)
        assert "threshold" in graded["reason"] or "high" in graded["reason"]


def test_what_is_0_by_0_is_printed_as_undefined():
    """As `ts.records` prints it; harnesses want numbers, and have them in `figures`."""
    for reference, predicted, undefined in (
        ({"x": 1}, {}, {"precision"}),
        ({"x": 1}, "no JSON", {"precision"}),
        ({"x": []}, {"x": [1]}, {"recall"}),
    ):
        assert {
            name for name, value in ts.records(reference, predicted)["records"].figures.items() if value is None
        } == undefined
        with pytest.raises(AssertionError) as error:
            assert_matches(reference, predicted)
        shown = str(error.value).split("\n")[1]
        assert {name for name in ("precision", "recall", "f1") if f"{name} undefined" in shown} == undefined
        (name,) = undefined
        with pytest.raises(AssertionError, match=f"^{name} undefined < 0.5\n"):
            assert_matches(reference, predicted, **{name: 0.5})
        assert RecordScorer().score(reference, predicted).figures[name] == 0

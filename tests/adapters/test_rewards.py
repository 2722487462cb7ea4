"""Rewards, and every adapter, with whatever a model may write: a number, and never an exception."""

import ast
import asyncio
import json
import random
import re
from pathlib import Path

import pytest

import tallystick as ts
from benchmarks import damage
from tallystick.adapters import rewards
from tallystick.adapters.scorer import RecordScorer

GOLD = {"vendor": "Acme", "lines": [{"sku": "a", "quantity": 1}, {"sku": "b", "quantity": 2}]}
HALF = json.dumps({"vendor": "Acme", "lines": [{"sku": "a", "quantity": 3}]})
STRANGE = [
    None, 3.5, float("nan"), b"\xff\xfe", object(), [], {}, "\0", "\ud800", "[" * 5000, '{"a":' * 3000, "{" + "}" * 5000, '{"vendor": 1e999}',
    '{"vendor": ' + "9" * 5000 + "}", "```json\n```", "<think>", "<think>{}</think>", "NaN", "null", '"text"', "{'vendor': None,}",
]  # fmt: skip


def damaged(documents=80):
    return list(damage.damaged(documents))


def test_a_reward_is_what_the_scorer_says():
    scorer = ts.scorer()
    for text in (json.dumps(GOLD), HALF, "no", f"```json\n{HALF}\n```"):
        assert scorer(GOLD, text) == pytest.approx(RecordScorer().score(GOLD, text).f1)
    assert ts.rewards([GOLD, GOLD], [json.dumps(GOLD), "no"]) == [1, 0]
    assert ts.rewards([], []) == []


def test_parts_of_a_reward():
    found = ts.scorer(format=0.2).breakdown(GOLD, f"```json\n{HALF}\n```")
    assert found == pytest.approx(
        {
            "reward": 0.8 * 0.5 + 0.2 * 0.5,
            "precision": 2 / 3,
            "recall": 0.4,
            "f1": 0.5,
            "exact": 0,
            "valid": 1,
            "format": 0.5,
        }
    )
    assert ts.scorer(format=1.0)(GOLD, "{}") == 1  # well-formed, whatever it says
    assert ts.scorer(partial=False)(GOLD, HALF) == 0
    assert ts.scorer(partial=False)(GOLD, json.dumps(GOLD)) == 1
    assert ts.scorer(figure="recall")(GOLD, HALF) == pytest.approx(0.4)


def test_wrong_options_and_references_are_errors():
    with pytest.raises(ts.TallystickError, match=r"figure: expected f1, precision, recall, exact, found 'f2'"):
        ts.scorer(figure="f2")
    with pytest.raises(ts.TallystickError, match="format: expected the share"):
        ts.scorer(format=2)
    with pytest.raises(ts.TallystickError, match="2 references and 1 texts"):
        ts.rewards([GOLD, GOLD], ["x"])
    for text in ("{}", "[" * 5000, object()):
        with pytest.raises(ts.TallystickError, match="reference:1:5: is not JSON"):
            ts.scorer()("nope", text)


@pytest.mark.parametrize(
    "options", [{}, {"schema": damage.SCHEMA}, {"credit": "all"}], ids=["inferred", "schema", "all"]
)
def test_whatever_a_model_writes_has_a_reward(options):
    scorer = ts.scorer(format=0.1, **options)
    pairs = [*damaged(), *(("strange", damage.make(random.Random(k)), text) for k, text in enumerate(STRANGE))]
    one_by_one = [scorer(gold, text) for _, gold, text in pairs]
    assert all(0 <= reward <= 1 for reward in one_by_one)
    for (kind, _, text), reward in zip(pairs, one_by_one, strict=True):
        assert (reward == 1) <= (
            kind in damage.FORGIVEN or kind in ("missing comma", "single quotes", "cut off", "alias")
        ), (kind, text)
    together = scorer.rewards([gold for _, gold, _ in pairs], [text for _, _, text in pairs])
    assert together == pytest.approx(one_by_one)


def test_as_trl_calls_it():
    reward = rewards.trl_reward(column="invoice", format=0.0)
    chat = [[{"role": "assistant", "content": HALF}], [{"role": "assistant", "content": json.dumps(GOLD)}]]
    columns = {
        "prompts": ["?", "?"],
        "invoice": [GOLD, json.dumps(GOLD)],
        "completion_ids": [[1], [2]],
        "trainer_state": None,
    }
    assert reward(completions=chat, **columns) == [0.5, 1]
    assert reward(completions=[HALF, "no"], **columns) == [0.5, 0]
    assert reward.__name__ == "record_reward"
    with pytest.raises(ts.TallystickError, match="there is no column 'invoice'; there are gold"):
        reward(completions=[HALF], gold=[GOLD])


def test_as_verifiers_calls_it():
    reward = rewards.verifiers_reward()
    message = [{"role": "user", "content": "?"}, {"role": "assistant", "content": [{"type": "text", "text": HALF}]}]
    assert reward(prompt="?", completion=message, answer=json.dumps(GOLD), state={}, info={}) == 0.5


def test_as_verl_calls_it():
    found = rewards.compute_score("invoices", HALF, json.dumps(GOLD), {"index": 1}, format=0.5)
    assert found["score"] == pytest.approx(0.75)
    assert found["f1"] == 0.5
    with pytest.raises(ts.TallystickError, match="options of compute_score are plain data"):
        rewards.compute_score("invoices", HALF, GOLD, type=dict)


def test_the_page():
    page = (Path(__file__).parents[2] / "docs" / "rewards.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.S):
        if "Trainer" in code:
            continue
        *before, last = ast.parse(code).body
        exec(compile(ast.Module(before, []), "page", "exec"), names)
        expected = eval(code.strip().rsplit("  # ", 1)[1])
        assert eval(ast.unparse(last), names) == pytest.approx(expected), code


# Every adapter with every kind of damage

TEXTS = [(gold, text) for _, gold, text in damaged(len(damage.KINDS))] + [
    (damage.make(random.Random(1)), text) for text in STRANGE
]


def test_pytest_and_promptfoo_take_anything():
    from tallystick.adapters.promptfoo import get_assert
    from tallystick.adapters.pytest import assert_matches

    for gold, text in TEXTS:
        assert_matches(gold, text, f1=0.0)
        found = get_assert(
            text, {"vars": {"expected": json.dumps(gold)}, "config": {"schema": damage.SCHEMA, "threshold": 0.5}}
        )
        assert "namedScores" in found, found
        assert json.loads(json.dumps(found)) == found


@pytest.mark.filterwarnings("default")  # of their own dependencies
def test_hugging_face_takes_anything():
    pytest.importorskip("evaluate")
    from tallystick.adapters.huggingface import Records, compute

    golds, texts = [gold for gold, _ in TEXTS], [text for _, text in TEXTS]
    assert 0 < compute(predictions=texts, references=golds, schema=damage.SCHEMA)["f1"] < 1
    written = [damage.as_text(text) for gold, text in TEXTS if isinstance(text, (str, dict)) and text != "\ud800"]
    found = Records(schema=damage.SCHEMA).compute(
        predictions=[text.encode("utf-8", "replace").decode() for text in written],
        references=[json.dumps(gold) for gold, text in TEXTS if isinstance(text, (str, dict)) and text != "\ud800"],
    )
    assert 0 < found["f1"] < 1


@pytest.mark.filterwarnings("default")  # of their own dependencies
def test_pydantic_evals_takes_anything():
    pytest.importorskip("pydantic_evals")
    from pydantic_evals import Case, Dataset

    from tallystick.adapters.pydantic_evals import RecordsMatch

    cases = [Case(name=str(k), inputs=k, expected_output=gold) for k, (gold, _) in enumerate(TEXTS)]
    dataset = Dataset(name="damage", cases=cases, evaluators=[RecordsMatch(schema=damage.SCHEMA)])

    async def answer(k: int) -> object:
        return TEXTS[k][1]

    report = asyncio.run(dataset.evaluate(answer, progress=False))
    assert not report.failures
    assert all(not case.evaluator_failures and 0 <= case.scores["f1"].value <= 1 for case in report.cases)


@pytest.mark.filterwarnings("default")  # of their own dependencies
def test_inspect_ai_takes_anything():
    pytest.importorskip("inspect_ai")
    from types import SimpleNamespace

    from inspect_ai.scorer import Target

    from tallystick.adapters.inspect import records

    score = records(schema=damage.SCHEMA)

    async def every():
        return [
            await score(SimpleNamespace(output=SimpleNamespace(completion=text)), Target(json.dumps(gold)))
            for gold, text in TEXTS
            if isinstance(text, str)
        ]

    assert all(0 <= one.value["f1"] <= 1 for one in asyncio.run(every()))


def test_an_empty_answer_earns_no_precision():
    scorer = ts.scorer(schema={"type": "object", "properties": {"a": {"type": "integer"}}}, figure="precision")
    assert scorer({"a": 1}, "{}") == 0.0
    assert ts.rewards(
        [{"a": 1}, {}],
        ["{}", "{}"],
        schema={"type": "object", "properties": {"a": {"type": "integer"}}},
        figure="precision",
    ) == [0.0, 1.0]


def test_a_metric_in_the_place_of_a_type():
    metric = ts.f1(ts.each(city=ts.exact))
    assert ts.scorer(metric=metric)({"city": "Oslo"}, '{"city": "Oslo"}') == 1
    with pytest.raises(ts.TallystickError, match="found a metric; give it by its name: metric=f1"):
        ts.scorer(metric)

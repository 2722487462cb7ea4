"""Predictions that say how sure they are: where that stands, what it is about, and what follows."""

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from running import run
from tallystick.errors import TallystickError

GOLD = [
    {"vendor": "Acme", "total": 12, "lines": [{"sku": "a", "price": 1}, {"sku": "b", "price": 2}]},
    {"vendor": "Beta", "total": 7, "lines": [{"sku": "c", "price": 3}]},
]
ANSWERS = [
    {"vendor": "Acme", "total": 13, "lines": [{"sku": "b", "price": 2}, {"sku": "a", "price": 9}]},
    {"vendor": "Beta", "total": 7, "lines": [{"sku": "c", "price": 3}, {"sku": "x", "price": 4}]},
]
SURE = [
    {"vendor": 0.9, "total": 0.4, "lines": [{"sku": 0.8, "price": 0.7}, {"sku": 0.6, "price": 0.5}]},
    {"vendor": 0.95, "total": 0.85, "lines": [{"sku": 0.75, "price": 0.65}, {"sku": 0.2, "price": 0.1}]},
]
BOTH = list(zip(ANSWERS, SURE, strict=True))
RIGHT = {0.9: 1, 0.4: 0, 0.8: 1, 0.7: 1, 0.6: 1, 0.5: 0, 0.95: 1, 0.85: 1, 0.75: 1, 0.65: 1, 0.2: 0, 0.1: 0}


def _wrapped(value, sure, key="confidence"):
    if isinstance(value, dict):
        return {name: _wrapped(one, sure[name], key) for name, one in value.items()}
    if isinstance(value, list):
        return [_wrapped(one, also, key) for one, also in zip(value, sure, strict=True)]
    return {"value": value, key: sure}


def _paths(sure, path=""):
    if isinstance(sure, dict):
        return {k: v for name, one in sure.items() for k, v in _paths(one, f"{path}.{name}" if path else name).items()}
    if isinstance(sure, list):
        return {k: v for n, one in enumerate(sure) for k, v in _paths(one, f"{path}[{n}]").items()}
    return {path: sure}


def _tokens(answer, sure):
    """The answer as text in tokens, each value with the log-probability of its confidence in two halves."""
    tokens = []

    def write(text, logprob=0.0):
        tokens.append({"token": text, "logprob": logprob, "bytes": list(text.encode())})

    def go(value, also):
        if isinstance(value, (dict, list)):
            write("{" if isinstance(value, dict) else "[")
            for k, name in enumerate(value if isinstance(value, dict) else range(len(value))):
                write((", " if k else "") + (json.dumps(name) + ": " if isinstance(value, dict) else ""))
                go(value[name], also[name])
            write("}" if isinstance(value, dict) else "]")
        else:
            text = json.dumps(value)
            half = (len(text) + 1) // 2
            parts = [part for part in (text[:half], text[half:]) if part]
            for part in parts:
                write(part, math.log(also) / len(parts))

    write("Here it is: ")
    go(answer, sure)
    return tokens


def _in_logs(sure):
    return json.loads(json.dumps(sure), parse_float=lambda x: [math.log(float(x)) / 2] * 2)


def _wrapped_logs(value, sure, key):
    if isinstance(value, dict):
        return {name: _wrapped_logs(one, sure[name], key) for name, one in value.items()}
    if isinstance(value, list):
        return [_wrapped_logs(one, also, key) for one, also in zip(value, sure, strict=True)]
    return {"value": value, key: [math.log(sure) / 2] * 2}


FORMS = {
    "log-probabilities": ([_wrapped_logs(*one, "logs") for one in BOTH], "logs", {}),
    "beside each value": ([_wrapped(*one) for one in BOTH], "confidence", {}),
    "under another key": ([_wrapped(*one, "p") for one in BOTH], "p", {}),
    "parallel": ([{**a, "sure": s} for a, s in BOTH], "sure", {}),
    "by path": ([{**a, "sure": _paths(s)} for a, s in BOTH], "sure", {}),
    "deep": ([{**a, "meta": {"sure": s}} for a, s in BOTH], "meta.sure", {}),
    "outside": ([{"out": a, "sure": s} for a, s in BOTH], "sure", {"from_": "out"}),
    "text": ([{"out": json.dumps(_wrapped(*one))} for one in BOTH], "confidence", {"from_": "out"}),
    "noisy text": (
        [{"out": "Sure!\n```json\n" + json.dumps(_wrapped(*one)) + "\n```"} for one in BOTH],
        "confidence",
        {"from_": "out", "lenient": True},
    ),
    "tokens": ([{"out": json.dumps(a), "tokens": _tokens(a, s)} for a, s in BOTH], "tokens", {"from_": "out"}),
    "log-probabilities by path": (
        [{"out": a, "logs": _in_logs(_paths(s))} for a, s in BOTH],
        "logs",
        {"from_": "out"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_wherever_it_stands_it_is_the_same(form):
    answers, key, options = FORMS[form]
    result = ts.records(GOLD, answers, confidence=key, **options)
    plain = ts.records(GOLD, ANSWERS)
    assert result.f1 == plain.f1
    claims = result["records"].claims
    assert {round(c, 9): r for c, r in zip(claims.confidence, claims.right.tolist(), strict=True)} == RIGHT
    assert f"confidence={key}" in result.signature
    assert set(result.calibration().fields) == {"all values", "vendor", "total", "lines[*].sku", "lines[*].price"}
    assert result.review().documents.count == 2


def test_in_an_object_it_is_about_all_of_it():
    gold = [{"lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}, {"sku": "c", "n": 3}]}]
    lines = [
        {"sku": "a", "n": 1, "score": 0.9},
        {"sku": "b", "n": 5, "score": 0.8},
        {"sku": "z", "n": 9, "score": 0.7},
    ]
    found = ts.records(gold, [{"lines": lines}], confidence="score").calibration()
    assert list(found.fields) == ["all values", "lines[*]"]
    assert (found.all.claims, found.all.accuracy) == (3, pytest.approx(1 / 3))
    assert found.fields["lines[*]"].average_precision == pytest.approx(1 / 3)  # one of three found, at rank 1


def test_one_for_the_whole_document():
    answers = [{**GOLD[0], "confidence": 0.9}, {**ANSWERS[1], "confidence": 0.3}]
    result = ts.records(GOLD, answers, confidence="confidence")
    assert list(result.calibration().fields) == ["(document)"]
    review = result.review(target=1.0)
    assert list(review.units) == ["documents"]
    assert (review.documents.threshold, review.documents.share, review.documents.accuracy) == (0.9, 0.5, 1.0)


def test_nothing_that_a_prediction_claims_is_free():
    gold = [{"a": 1, "b": None, "c": 3, "lines": [{"x": 1}]}, {"a": 1, "b": 2, "c": 3, "lines": []}]
    answers = [
        {
            "a": {"value": 1, "p": 0.9},
            "b": {"value": None, "p": 0.8},  # right: there is nothing
            "c": {"value": None, "p": 0.7},  # wrong: there is something
            "made_up": {"value": 5, "p": 0.6},
            "lines": [{"x": {"value": 1, "p": 0.55}, "also": {"value": 1, "p": 0.5}}, {"x": {"value": 2, "p": 0.4}}],
        },
        {"a": {"value": "no number", "p": 0.3}, "b": {"value": 2, "p": 0.2}, "c": {"value": {"d": 1}, "p": 0.1}},
    ]
    claims = ts.records(gold, answers, confidence="p")["records"].claims
    right = [0.9, 0.8, 0.55, 0.2]
    found = dict(zip(claims.confidence.tolist(), claims.right.tolist(), strict=True))
    assert found == {p: p in right for p in (0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.2, 0.1)}


def test_what_is_not_compared_and_what_says_nothing_is_counted():
    gold = [{"id": 1, "a": 1, "note": "x"}, {"id": 2, "a": 2, "note": "y"}]
    answers = [{"id": 1, "a": {"value": 1, "p": 0.9}, "note": {"value": "x", "p": 0.8}}, {"id": 2, "a": 2, "note": "z"}]
    found = ts.records(gold, answers, confidence="p", choices={"note": "ignore"})
    warnings = "\n".join(found.warnings)
    assert "confidences of what is not compared, left out: 1 confidence (note 1)" in warnings
    assert "no figure of calibration: 1 predicted value, the first: document 2: a" in warnings
    review = found.review(target=0.5).documents
    assert (review.count, review.share) == (2, 0.5)  # a document that says nothing is looked at by somebody


def test_mappings_unions_and_documents_in_another_order():
    gold = {"a": {"rates": {"EUR": 1, "USD": 2}, "v": "x"}, "b": {"rates": {"EUR": 3}, "v": 4}}
    answers = {
        "b": {"rates": {"EUR": {"value": 5, "p": 0.1}}, "v": {"value": 4, "p": 0.2}},
        "a": {"rates": {"USD": {"value": 2, "p": 0.3}, "EUR": {"value": 1, "p": 0.4}}, "v": {"value": "y", "p": 0.5}},
    }
    rates = {"type": "object", "additionalProperties": {"type": "number"}}
    schema = {"type": "object", "properties": {"rates": rates, "v": {"type": ["string", "number"]}}}
    claims = ts.records(gold, answers, schema=schema, confidence="p")["records"].claims
    found = dict(zip(claims.confidence.tolist(), claims.right.tolist(), strict=True))
    assert found == {0.1: False, 0.2: True, 0.3: True, 0.4: True, 0.5: False}
    assert set(claims.paths) == {"rates[*].value", "v"}


def test_a_field_of_the_reference_stays_a_field():
    gold = [{"reading": {"value": 1, "confidence": 0.5}}]
    with pytest.raises(TallystickError, match="no prediction has a confidence"):
        ts.records(gold, gold, confidence="confidence")
    answers = [{"reading": {"value": 1, "p": 0.9}}]
    assert ts.records([{"reading": {"value": 1}}], answers, confidence="p").f1 == 1


def test_parquet_has_confidences_too(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(FORMS["beside each value"][0]), tmp_path / "p.parquet")
    (tmp_path / "g.jsonl").write_text("\n".join(map(json.dumps, GOLD)))
    found = ts.records(str(tmp_path / "g.jsonl"), str(tmp_path / "p.parquet"), confidence="confidence")
    assert found.calibration().all.claims == len(RIGHT)


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        ([{"a": {"value": 1, "p": 1.3}}], {}, r"'p' of a: expected a number from 0 to 1.*found 1.3"),
        ([{"a": {"value": 1, "p": "high"}}], {}, r"'p' of a: expected a number from 0 to 1.*found 'high'"),
        ([{"a": {"value": 1, "p": True}}], {}, r"found True"),
        ([{"a": {"value": 1, "p": [-0.5, 0.5]}}], {}, r"'p' of a: expected a number.*found \[-0.5, 0.5\]"),
        ([{"a": 1, "q": 0.5}], {}, r"no prediction has a confidence at 'p'.*the first has a, q"),
        ([{"a": 1, "p": {"a": {"b": 2}}}], {}, r"'p' of a.b: expected a number from 0 to 1.*found 2"),
        ([{"a": 1, "p": {"[": 0.5}}], {}, r"'p' of the document: expected the path of a value, found '\['"),
        ([{"a": 1, "p": 0.5}], {"confidence": "p..q"}, r"expected a path"),
        ([{"a": [1, 2], "p": {"a": [0.5]}}], {}, r"'p' of a: expected 2 of them, one for each item, found \[0.5\]"),
    ],
)
def test_what_is_no_confidence_is_an_error(answers, options, message):
    with pytest.raises(TallystickError, match=message):
        ts.records([{"a": 1}], answers, **{"confidence": "p", **options})


def test_unasked_values_in_objects_are_objects_and_a_warning_says_what_they_look_like():
    found = ts.records(GOLD, FORMS["beside each value"][0])
    assert found.f1 == 0
    assert any("give 'confidence' as confidence=" in one for one in found.warnings)
    with pytest.raises(TallystickError, match="no confidences were read"):
        found.calibration()


def test_results_of_batches_add():
    gold, answers = _corpus(random.Random(5), 20)
    whole = ts.records(gold, answers, confidence="confidence")["records"]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in ("id", "a", "b", "c")}}
    parts = [
        ts.records(gold[some], answers[some], confidence="confidence", schema=schema)["records"]
        for some in (slice(8), slice(8, None))
    ]
    added = parts[0] + parts[1]
    assert added.calibration().fields == whole.calibration().fields
    assert added.review().documents == whole.review().documents


def _corpus(rng, n):
    gold, answers = [], []
    for k in range(n):
        values = {name: rng.randrange(4) for name in "abc"[: rng.randrange(1, 4)]}
        said = {name: {"value": rng.choice([v, 9]), "confidence": round(rng.random(), 2)} for name, v in values.items()}
        gold.append({"id": k, **values})
        answers.append({"id": k, **said})
    return gold, answers


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.6, 0.9, 1.0]))
def test_the_review_curve_by_brute_force(seed, target):
    gold, answers = _corpus(random.Random(seed), 12)
    review = ts.records(gold, answers, confidence="confidence").review(target, resamples=20).documents
    documents = [
        (
            min(one["confidence"] for name, one in answer.items() if name != "id"),
            all(answer[name]["value"] == value for name, value in reference.items() if name != "id"),
        )
        for reference, answer in zip(gold, answers, strict=True)
    ]
    curve = []
    for t in sorted({sure for sure, _ in documents}, reverse=True):
        accepted = [right for sure, right in documents if sure >= t]
        curve.append((t, len(accepted) / 12, sum(accepted) / len(accepted)))
    assert np.array(review.curve) == pytest.approx(np.array(curve))
    fits = [one for one in curve if one[2] >= target - 1e-9]
    expected = fits[-1] if fits else (None, 0.0, None)
    assert (review.threshold, review.share, review.accuracy) == pytest.approx(expected)


def test_the_intervals_of_threshold_and_share_by_brute_force():
    gold, answers = _corpus(random.Random(8), 40)
    claims = ts.records(gold, answers, confidence="confidence")["records"].claims
    found = ts.records(gold, answers, confidence="confidence").review(0.6, resamples=200).units["a"]
    rng = np.random.default_rng(1)
    rows = claims.units["a"]
    thresholds, shares = [], []
    for _ in range(2000):
        drawn = np.concatenate([rows[claims.document[rows] == d] for d in rng.integers(0, 40, 40)])
        c, r = claims.confidence[drawn], claims.right[drawn]
        fits = [t for t in set(c.tolist()) if np.mean(r[c >= t]) >= 0.6]
        thresholds += [min(fits)] if fits else []
        shares.append(np.mean(c >= found.threshold))
    for mine, brute in ((found.threshold_interval, thresholds), (found.share_interval, shares)):
        assert mine == pytest.approx(np.quantile(brute, [0.025, 0.975]), abs=0.06)


def test_figures_equal_those_of_scikit_learn_and_stickler():
    metrics = pytest.importorskip("sklearn.metrics")
    stickler = pytest.importorskip("stickler.structured_object_evaluator.models.confidence")
    rng = random.Random(3)
    gold, answers = _corpus(rng, 200)
    for one in answers:  # stickler closes bins at the other end
        for value in one.values():
            if isinstance(value, dict):
                value["confidence"] = min(0.999, value["confidence"] + 0.001)
    found = ts.records(gold, answers, confidence="confidence")
    both = list(zip(gold, answers, strict=True))
    pairs = {n: [(a[n]["confidence"], a[n]["value"] == g[n]) for g, a in both if n in g] for n in "abc"}
    pairs["all values"] = [pair for some in pairs.values() for pair in some]
    for name, some in pairs.items():
        figures = found.calibration().fields[name]
        confidence, right = zip(*some, strict=True)
        theirs = [stickler.ConfidencePair(is_match=r, confidence=c, similarity=float(r)) for c, r in some]
        assert figures.claims == len(some)
        assert figures.brier == pytest.approx(metrics.brier_score_loss(right, confidence), abs=1e-12)
        assert figures.auroc == pytest.approx(metrics.roc_auc_score(right, confidence), abs=1e-12)
        assert figures.brier == pytest.approx(stickler.BrierScoreMetric().compute(theirs)["value"], abs=1e-12)
        assert figures.auroc == pytest.approx(stickler.AUROCMetric().compute(theirs)["value"], abs=1e-12)
        ece = stickler.ECEMetric().compute(theirs)
        assert figures.ece == pytest.approx(ece["value"], abs=1e-12)
        for ours, other in zip(figures.bins, ece["bins"], strict=True):
            assert (ours.claims, ours.accuracy or 0.0) == (other["count"], pytest.approx(other["accuracy"]))


def test_the_command_shows_tables_and_json(tmp_path):
    gold, answers = _corpus(random.Random(1), 30)
    for name, side in (("g.jsonl", gold), ("p.jsonl", answers)):
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in side))
    files = ("score", "records", "g.jsonl", "p.jsonl", "--confidence", "confidence")
    shown = run(*files, "--format", "table", cwd=tmp_path).stdout
    assert "Calibration" in shown
    assert "what can be accepted with 95 % right" in shown
    found = json.loads(run(*files, "--target-accuracy", "0.6", "--format", "json", cwd=tmp_path).stdout)["confidence"][
        "records"
    ]
    assert found["review"]["target"] == 0.6
    assert set(found["calibration"]) == {"all values", "a", "b", "c"}
    assert found["calibration"]["a"]["bins"][0]["low"] == 0
    idle = run("score", "records", "g.jsonl", "p.jsonl", "--target-accuracy", "0.6", cwd=tmp_path, code=None)
    assert idle.returncode
    assert "--target-accuracy needs the confidences" in idle.stderr
    many = run(*files, "--jobs", "2", cwd=tmp_path, code=None)
    assert "confidences are judged over all documents" in many.stderr
    wrong = run(*files, "--target-accuracy", "95", cwd=tmp_path, code=None)
    assert wrong.returncode
    assert "95" in wrong.stderr


# Spans and relations with scores


def _ranked(rng, n, make):
    """Documents with items, of which some are right, and the plain list of what is claimed."""
    gold, answers, claims, there = [], [], [], 0
    for k in range(n):
        items = [make(j) for j in range(rng.randrange(1, 5))]
        said = [{**item, "score": round(rng.random(), 2)} for item in items if rng.random() < 0.7]
        said += [{**make(j + 20), "score": round(rng.random(), 2)} for j in range(rng.randrange(3))]
        gold.append((str(k), items))
        answers.append((str(k), said))
        plain = [{name: value for name, value in one.items() if name != "score"} for one in said]
        claims += [(one["score"], item in items) for one, item in zip(said, plain, strict=True)]
        there += len(items)
    return gold, answers, claims, there


def _average_precision(claims, there):
    area, before = 0.0, 0.0
    for t in sorted({score for score, _ in claims}, reverse=True):
        accepted = [right for score, right in claims if score >= t]
        recall = sum(accepted) / there
        area, before = area + (recall - before) * sum(accepted) / len(accepted), recall
    return area


@pytest.mark.parametrize("task", ["spans", "relations", "records"])
def test_average_precision_of_ranked_items(task):
    metrics = pytest.importorskip("sklearn.metrics")

    def make(j):
        if task == "spans":
            return {"start": j, "end": j + 1, "label": "PER"}
        if task == "relations":
            return {"type": "r", "subj": [j, j + 1, "A"], "obj": [j + 1, j + 2, "B"]}
        return {"name": f"n{j}", "kind": "k"}

    gold, answers, claims, there = _ranked(random.Random(6), 40, make)
    key, metric = {
        "spans": ("spans", "segment"),
        "relations": ("relations", "strict"),
        "records": ("items", "records"),
    }[task]
    sides = [[{"id": name, key: items} for name, items in side] for side in (gold, answers)]
    if task == "spans":
        sides = [[{**one, "tokens": ["w"] * 30} for one in side] for side in sides]
    function = {"spans": ts.spans, "relations": ts.relations, "records": ts.records}[task]
    result = function(*sides, confidence="score")[metric]
    found = result.calibration().all
    assert found.average_precision == pytest.approx(_average_precision(claims, there))
    assert found.auroc == pytest.approx(metrics.roc_auc_score([r for _, r in claims], [c for c, _ in claims]))
    # where everything was found, it is scikit-learn's
    right = [(c, r) for c, r in claims]
    whole = _average_precision(right, sum(r for _, r in right))
    assert whole == pytest.approx(metrics.average_precision_score([r for _, r in right], [c for c, _ in right]))
    assert result.review(0.5, resamples=10).documents.count == 40


def test_duplicates_of_spans_are_wrong_and_those_of_relations_are_one():
    span = {"start": 0, "end": 1, "label": "A"}
    said = [{**span, "score": 0.9}, {**span, "score": 0.8}]
    claims = ts.spans([{"tokens": ["a"], "spans": [span]}], [{"tokens": ["a"], "spans": said}], confidence="score")["segment"].claims  # fmt: skip
    assert list(zip(claims.confidence, claims.right, strict=True)) == [(0.9, True), (0.8, False)]
    relation = {"type": "r", "subj": [0, 1], "obj": [1, 2]}
    said = [{**relation, "score": 0.8}, {**relation, "score": 0.9}]
    claims = ts.relations([{"relations": [relation]}], [{"relations": said}], confidence="score")["boundaries"].claims
    assert list(zip(claims.confidence, claims.right, strict=True)) == [(0.9, True)]


@pytest.mark.parametrize(("score", "message"), [(2, "expected a number from 0 to 1"), (None, "none of the predicted")])
def test_scores_of_spans_and_relations_that_are_none(score, message):
    spans = [{"tokens": ["a"], "spans": [{"start": 0, "end": 1, "label": "A", "score": score}]}]
    with pytest.raises(TallystickError, match=message):
        ts.spans(spans, spans, confidence="score")
    relations = [{"relations": [{"type": "r", "subj": [0, 1], "obj": [1, 2], "score": score}]}]
    with pytest.raises(TallystickError, match=message):
        ts.relations(relations, relations, confidence="score")


def test_aliases_and_sets():
    """A field is known by the key that it was written under, and an item of a set by what it is."""
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        vendor: str = pydantic.Field(alias="vendorName")
        tags: set[str]

    gold = [{"vendorName": "a", "tags": [f"t{k}" for k in range(9)]}]
    tags = [{"value": f"t{k}" if k % 2 else f"no{k}", "p": 0.5 + 0.1 * (k % 2)} for k in range(9)]
    found = ts.records(gold, [{"vendorName": {"value": "b", "p": 0.3}, "tags": tags}], type=Model, confidence="p")
    claims = found["records"].claims
    assert set(claims.paths) == {"vendor", "tags[*]"}
    assert all(right == (sure == 0.6) for sure, right in zip(claims.confidence, claims.right, strict=True))
    assert found.warnings == ()


def test_explaining_and_comparing_take_confidences_out_too(tmp_path):
    for name, side in (("g.jsonl", GOLD), ("p.jsonl", FORMS["beside each value"][0])):
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in side))
    shown = run("explain", "records", "g.jsonl", "p.jsonl", "--confidence", "confidence", "--worst", "1", cwd=tmp_path)
    assert "confidence" not in shown.stdout
    both = ("A=p.jsonl", "B=p.jsonl", "--confidence", "confidence", "--resamples", "20", "--format", "json")
    found = json.loads(run("compare", "records", "g.jsonl", *both, cwd=tmp_path).stdout)
    assert found["systems"]["A"]["records"]["value"] == ts.records(GOLD, ANSWERS).f1
    sides = "sides(precision=precision(match(exact)), recall=recall(match(exact)))"
    two = run("score", "records", "g.jsonl", "p.jsonl", "--confidence", "p", "--metric", sides, cwd=tmp_path, code=None)
    assert two.returncode
    assert "Traceback" not in two.stderr


def test_every_task_with_scores_draws_their_curves(tmp_path):
    span = {"start": 0, "end": 1, "label": "A"}
    texts = [{"id": str(k), "tokens": ["a", "b"], "spans": [span]} for k in range(4)]
    said = [{**one, "spans": [{**span, "end": 1 + k // 3, "score": 0.9 - 0.1 * k}]} for k, one in enumerate(texts)]
    ts.spans(texts, said, confidence="score").report(tmp_path / "r.html")
    assert 'id="reliability"' in (tmp_path / "r.html").read_text()
    for side, documents in (("g.jsonl", texts), ("p.jsonl", said)):
        (tmp_path / side).write_text("".join(json.dumps(one) + "\n" for one in documents))
    asked = ("--offsets", "tokens", "--confidence", "score", "--target-accuracy", "0.62", "--report", "r.html")
    found = json.loads(run("score", "spans", "g.jsonl", "p.jsonl", *asked, "--format", "json", cwd=tmp_path).stdout)
    assert found["confidence"]["segment"]["review"]["target"] == 0.62
    # all four are accepted, three of which are right; with 0.95, three are
    assert "0.3006 to 0.9544" in (tmp_path / "r.html").read_text().partition('id="confidence"')[2]

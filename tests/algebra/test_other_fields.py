"""Boxes, times, error rates, edit distances, grids and rankings: each against its definition, written out plainly."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import tallystick as ts
from tallystick.engine.arrays import Pairs
from tallystick.engine.orders import match_dense
from tallystick.engine.ranked import IGNORED, RIGHT, WRONG, outcomes
from tallystick.engine.trees import match_grids
from tallystick.errors import MetricError, ValueMismatch

EVERY = [
    ts.f1(ts.match(ts.box_iou())),
    ts.f1(ts.match(ts.box_iou("xywh"))),
    ts.f1(ts.match(ts.interval(1))),
    ts.f1(ts.match(ts.interval(1, 1, share=0.5))),
    ts.f1(ts.match(ts.overlap("length", inclusive=False))),
    ts.jaccard(ts.timeline()),
    ts.f1(ts.grid(ts.exact)),
    ts.f1(ts.grid(ts.text("levenshtein"), factored=True)),
    ts.edit_ratio(ts.edit(ts.exact)),
    ts.f1(ts.edit(ts.text("levenshtein"))),
    ts.error_rate(ts.match(ts.record(label=ts.exact, time=ts.overlap(inclusive=False))), ts.timeline("time")),
    ts.ranked(ts.record(box=ts.box_iou()), at=[0.5]),
    ts.ranked(ts.box_iou(), ignored="crowd", region=ts.box_iou(over="predicted"), within={"area": [0, 1024]}),
]


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_expressions_are_read_back(metric):
    assert ts.parse(str(metric)) == metric


@pytest.mark.parametrize("metric", [one for one in EVERY if one.name not in ("error_rate", "ranked")], ids=str)
def test_one_pair_is_worth_what_a_corpus_of_it_is(metric):
    rng = random.Random(1)
    for _ in range(20):
        x, y = metric.sample(rng), metric.sample(rng)
        corpus = ts.evaluate(metric, [x], [y], batch=1).figures[metric.headline[0]]
        assert metric(x, y) == pytest.approx(1.0 if corpus is None else corpus, abs=1e-12)
        assert metric(x, x) == pytest.approx(1.0)


# Space and time


def test_boxes_without_area_and_what_is_no_box():
    iou = ts.box_iou()
    assert iou([0, 0, 2, 2], [1, 1, 3, 3]) == pytest.approx(1 / 7)
    assert iou([1, 1, 1, 1], [1, 1, 1, 1]) == 1
    assert iou([0, 0, 1, 1], [1, 0, 2, 1]) == 0
    with pytest.raises(ValueMismatch, match=r"expected \(left, top, right, bottom\), found \[1, 2\]"):
        ts.evaluate(ts.f1(ts.match(iou)), [[[1, 2]]], [[[0, 0, 1, 1]]])
    with pytest.raises(ValueMismatch, match="ends before it begins"):
        ts.evaluate(ts.f1(ts.match(iou)), [[[2, 2, 1, 1]]], [[[0, 0, 1, 1]]])
    with pytest.raises(MetricError, match="xyxy or xywh"):
        ts.box_iou("ltrb")


def test_a_predicted_box_that_is_none_is_wrong_and_not_free():
    result = ts.evaluate(ts.f1(ts.match(ts.box_iou())), [[[0, 0, 1, 1]]], [[[0, 0, 1, 1], "left"]])
    assert (result.precision, result.recall) == (0.5, 1.0)


INTERVALS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda one: [one[0], one[0] + one[1]]), max_size=5
)


@given(INTERVALS, INTERVALS)
def test_a_timeline_is_the_time_in_which_both_have_something(left, right):
    def covers(side, moment):
        return sum(a <= moment < b for a, b in side)

    shared = sum(min(covers(left, moment), covers(right, moment)) for moment in range(15))
    result = ts.evaluate(ts.f1(ts.timeline()), [left], [right])
    assert result.tally == {
        "num_p": shared,
        "num_r": shared,
        "den_r": sum(b - a for a, b in left),
        "den_p": sum(b - a for a, b in right),
    }


def test_intervals_have_their_tolerance_from_the_reference():
    near = ts.interval(0.1, 0.1, share=0.5)
    assert near([0, 4], [0, 2]) == 1  # half of 4
    assert near([0, 2], [0, 4]) == 0
    assert near.mirrored()([0, 2], [0, 4]) == 1
    assert ts.interval(0.1)([0, 4], [0.05, 9]) == 1


# Error rates


def test_missed_false_and_confused():
    metric = ts.error_rate(ts.match(ts.record(at=ts.exact, label=ts.exact)), ts.match(ts.record(at=ts.exact)))
    gold = [{"at": k, "label": "a"} for k in range(4)]
    found = [{"at": 0, "label": "a"}, {"at": 1, "label": "b"}, {"at": 9, "label": "a"}]
    result = ts.evaluate(metric, [gold], [found])
    assert result.figures == {"error_rate": 1.0, "missed": 0.5, "false": 0.25, "confused": 0.25}
    swapped = ts.evaluate(metric.mirrored(), [found], [gold])
    assert swapped.figures["error_rate"] == 1.0
    assert [part.name for part in result.explain(0).children] == ["detected", "correct"]


def test_the_highest_error_rate_is_the_worst(tmp_path):
    from running import run, write

    metric = "error_rate(correct=each(x=match(exact)), detected=each(x=match(exact)))"
    write(tmp_path / "gold.jsonl", [{"id": k, "x": ["a", "b"]} for k in "pqr"])
    write(tmp_path / "system.jsonl", [{"id": "p", "x": ["a", "b"]}, {"id": "q", "x": []}, {"id": "r", "x": ["a"]}])
    files = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    assert (
        "q"
        in run("explain", "records", *files, "--metric", metric, "--worst", 1, "--format", "tsv").stdout.splitlines()[1]
    )
    run("score", "records", *files, "--metric", metric, "--report", tmp_path / "page.html")


# Edit distances

WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@given(WORDS, WORDS)
def test_edit_is_levenshtein(left, right):
    ours = ts.evaluate(ts.edit_ratio(ts.edit(ts.exact)), [left], [right]).recall
    assert ours == pytest.approx(Levenshtein.normalized_similarity(left, right))
    rate = ts.evaluate(ts.error_rate(ts.edit(ts.exact), ts.edit(ts.exact)), [left], [right]).figures["error_rate"]
    if left:
        assert rate == pytest.approx(Levenshtein.distance(left, right) / len(left))


# Grids


@given(st.integers(0, 10**6))
def test_grids_are_matched_best(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 4, 4)
    weights = rng.random(shape) * (rng.random(shape) < 0.6)
    best = 0.0
    for n in range(min(shape[0], shape[2]) + 1):
        for rows, others in itertools.product(
            *(itertools.combinations(range(size), n) for size in (shape[0], shape[2]))
        ):
            best = max(best, match_dense(weights[list(rows), :, list(others), :].sum(axis=0)).lower if n else 0.0)
    exact, factored = (match_grids(weights, factored=how)[0] for how in (False, True))
    assert exact.optimal
    assert exact.lower == pytest.approx(best)
    assert factored.lower <= best + 1e-9
    cells = weights.reshape(shape[0] * shape[1], -1)
    assert cells[exact.left, exact.right].sum() == pytest.approx(exact.lower)


def test_a_grid_that_takes_too_long_has_bounds():
    rng = np.random.default_rng(1)
    found = match_grids(rng.random((9, 9, 9, 9)), limit=1e-6)[0]
    assert found.lower <= found.upper
    assert not found.optimal


def test_short_rows_and_wrong_cells():
    metric = ts.f1(ts.grid(ts.exact))
    result = ts.evaluate(metric, [[["a", "b"], ["c", "d"]]], [[["a", "b"], ["c"]]])
    assert (result.precision, result.recall) == (1.0, 0.75)
    wrong = ts.evaluate(ts.f1(ts.each(t=ts.grid(ts.exact))), [{"t": [["a", "b"]]}], [{"t": "no table"}])
    assert wrong.tally == {"num_p": 0, "den_p": 1, "num_r": 0, "den_r": 2}


# Rankings


def test_no_way_to_choose_partners_has_more_right_ones_among_the_first():
    rng = random.Random(3)
    for _ in range(200):
        n, m = rng.randint(1, 4), rng.randint(1, 5)
        pairs = [(i, j, rng.random()) for i in range(n) for j in range(m) if rng.random() < 0.5]
        found = Pairs(*(np.array([pair[k] for pair in pairs], float if k == 2 else np.int64) for k in range(3)))
        scores = np.array([rng.random() for _ in range(m)])
        order = np.argsort(-scores)
        right = {how: outcomes(found, scores, 0.1, how)[order] == RIGHT for how in ("best", "greedy", "first")}
        allowed = [(i, j) for i, j, weight in pairs if weight >= 0.1]
        for k in range(1, m + 1):
            first = set(order[:k].tolist())
            most = max(
                (size for size in range(min(n, k), 0, -1) for some in itertools.combinations([p for p in allowed if p[1] in first], size)
                 if len({i for i, _ in some}) == len({j for _, j in some}) == size),
                default=0,
            )  # fmt: skip
            assert right["best"][:k].sum() == most
        assert (
            right["best"].sum() >= right["greedy"].sum() >= right["first"].sum()
            or right["best"].sum() >= right["first"].sum()
        )


def coco_outcomes(pairs, scores, least, role):
    """COCO's loop, written out plainly: what counts first, the best that is free, the last of equals; a crowd is always free."""
    items = sorted({i for i, _, _ in pairs}, key=lambda i: (role[i] != 0, i))
    weight = {(i, j): w for i, j, w in pairs}
    out, taken = [WRONG] * len(scores), set()
    for j in sorted(range(len(scores)), key=lambda j: -scores[j]):
        best, chosen = least, None
        for i in items:
            if (i in taken and role[i] != 2) or weight.get((i, j), -1) < best:
                continue
            if chosen is not None and role[chosen] == 0 and role[i] != 0:
                break
            best, chosen = weight[i, j], i
        if chosen is not None:
            taken.add(chosen)
            out[j] = RIGHT if role[chosen] == 0 else IGNORED
    return out


def test_what_is_ignored_is_neither_right_nor_wrong():
    rng = random.Random(4)
    fewer = 0
    for _ in range(300):
        n, m = rng.randint(1, 5), rng.randint(1, 6)
        pairs = [
            (i, j, rng.choice((0.3, 0.5, 0.6, rng.random()))) for i in range(n) for j in range(m) if rng.random() < 0.5
        ]
        found = Pairs(*(np.array([pair[k] for pair in pairs], float if k == 2 else np.int64) for k in range(3)))
        scores = np.array([rng.random() for _ in range(m)])
        role = np.array([rng.choice((0, 0, 1, 2)) for _ in range(n)])
        greedy = outcomes(found, scores, 0.4, "greedy", role)
        assert greedy.tolist() == coco_outcomes(pairs, scores.tolist(), 0.4, role.tolist())
        best = outcomes(found, scores, 0.4, "best", role)
        counted = Pairs(*(column[role[found.i] == 0] for column in (found.i, found.j, found.weight)))
        alone = outcomes(counted, scores, 0.4, "best")
        assert ((best == RIGHT) == (alone == RIGHT)).all()  # who is right does not depend on what is ignored
        assert (best == WRONG).sum() <= (alone == WRONG).sum()
        fewer += (best == WRONG).sum() < (alone == WRONG).sum()
    assert fewer > 50


def test_items_are_set_aside_by_a_mark_or_by_a_range():
    gold = [{"x": 1, "area": 5}, {"x": 2, "area": 50}, {"x": 3, "area": 5, "crowd": True}]
    found = [
        {"x": x, "area": area, "score": s}
        for x, area, s in ((3, 5, 0.9), (3, 5, 0.8), (2, 50, 0.7), (9, 60, 0.6), (1, 5, 0.5))
    ]
    item = ts.record(x=ts.exact)

    def ap(**options):
        return ts.ranked(item, at=[1], interpolation="step", **options)(gold, found)

    assert ap() == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert ap(ignored="crowd") == pytest.approx((1 + 2 / 3) / 2)  # both crowds are gone, x = 9 is still wrong
    assert ap(ignored="crowd", within={"area": [0, 10]}) == 1  # and now it is beyond the range, like x = 2
    assert ap(ignored="crowd", within={"area": [10, 100]}) == 1
    with pytest.raises(MetricError, match="lowest and a highest"):
        ts.ranked(item, within={"area": [10, 1]})
    with pytest.raises(MetricError, match="field that marks regions"):
        ts.ranked(item, region=item)
    with pytest.raises(ValueMismatch, match="expected a field 'size'"):
        ts.ranked(item, within={"size": [0, 1]})(gold, found)


def test_a_box_inside_of_a_region():
    inside = ts.box_iou(over="predicted")
    assert inside([0, 0, 10, 10], [2, 2, 4, 4]) == 1
    assert inside.mirrored()([2, 2, 4, 4], [0, 0, 10, 10]) == 1
    assert inside([0, 0, 10, 10], [8, 0, 12, 10]) == 0.5
    with pytest.raises(MetricError, match="over must be union or reference or predicted"):
        ts.box_iou(over="area")


def test_average_precision_of_parts_is_that_of_the_whole():
    metric = ts.ranked(ts.record(label=ts.exact, box=ts.box_iou()), by="label", at=[0.5, 0.75])
    rng = random.Random(5)

    def picture(scored):
        return [
            {"label": rng.choice("ab"), "box": [x, 0, x + 4, 4], **({"score": rng.random()} if scored else {})}
            for x in (rng.randrange(6) for _ in range(rng.randint(0, 4)))
        ]

    gold, found = [picture(False) for _ in range(12)], [picture(True) for _ in range(12)]
    whole = ts.evaluate(metric, gold, found)
    parts = ts.evaluate(metric, gold[:5], found[:5]) + ts.evaluate(
        metric, dict(enumerate(gold[5:], 5)), dict(enumerate(found[5:], 5))
    )
    assert parts.figures == whole.figures
    assert ts.evaluate(metric, gold, found, batch=2).figures == whole.figures
    found = whole.intervals(resamples=200)["ap"]
    assert found.low <= whole.ap <= found.high


def test_average_precision_equals_scikit_learns():
    from sklearn.metrics import average_precision_score

    rng = random.Random(7)
    for _ in range(30):
        n = rng.randint(2, 12)
        right = [rng.random() < 0.5 for _ in range(n)]
        if not any(right):
            continue
        scores = [rng.random() for _ in range(n)]
        gold = [{"x": k} for k in range(n) if right[k]]
        found = [{"x": k if right[k] else -1 - k, "score": scores[k]} for k in range(n)]
        ours = ts.evaluate(ts.ranked(ts.record(x=ts.exact), at=[1], interpolation="step"), [gold], [found]).ap
        assert ours == pytest.approx(average_precision_score(right, scores))


def test_a_score_that_is_none_is_an_error():
    metric = ts.ranked(ts.record(x=ts.exact))
    with pytest.raises(ValueMismatch, match="expected a score, a number; found 'high'"):
        ts.evaluate(metric, [[{"x": 1}]], [[{"x": 1, "score": "high"}]])
    with pytest.raises(MetricError, match="matching"):
        ts.ranked(ts.exact, matching="optimal")


def _pictures(score=0.5, area=100, crowd=False):
    box = [0, 0, 10, 10]
    gold = [{"id": k, "objects": [{"box": box, "area": 100}]} for k in (1, 2, 3)]
    gold[1]["objects"][0]["crowd"] = crowd
    system = [{"id": k, "objects": [{"box": box, "area": 100, "score": 0.5}]} for k in (1, 2, 3)]
    system[1]["objects"][0] |= {"score": score, "area": area}
    metric = ts.ranked(ts.record(box=ts.box_iou("xywh")), of="objects", ignored="crowd", within={"area": [0, 1000]})
    return ts.evaluate(metric, gold, system)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"score": "high"}, "objects[*].score: expected a score, a number; found 'high'"),
        ({"score": 10**400}, "objects[*].score: expected a score, a number; found 1000"),
        ({"area": 10**400}, "objects[*].area: expected a number; found 1000"),
        ({"crowd": "false"}, "objects[*].crowd: expected true or false; found 'false'"),
        ({"crowd": [1]}, "objects[*].crowd: expected true or false; found [1]"),
        ({"crowd": 2}, "objects[*].crowd: expected true or false; found 2"),
    ],
)
def test_what_cannot_be_ranked_is_said_with_its_document(what, said):
    with pytest.raises(ValueMismatch) as error:
        _pictures(**what)
    assert str(error.value).startswith("document 1: at ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("mark", "aside"), [(True, True), (1, True), (1.0, True), (False, False), (0, False), (None, False)]
)
def test_a_mark_is_true_or_false(mark, aside):
    metric = ts.ranked(ts.record(x=ts.exact), ignored="crowd", interpolation="voc")
    assert metric([{"x": 1}, {"x": 2, "crowd": mark}], [{"x": 1, "score": 0.5}]) == (1 if aside else 0.5)


@pytest.mark.parametrize(
    "metric",
    {
        "ignored": ts.ranked(ts.record(t=ts.exact), ignored="knid"),
        "weigh": ts.f1(ts.match(ts.weigh(ts.each(t=ts.exact), {"name": 0.5}, by="knid"))),
        "keyed": ts.f1(ts.match(ts.keyed(ts.each(t=ts.exact), "knid"))),
    }.items(),
    ids=lambda one: one[0],
)
def test_a_field_that_no_item_has_is_misspelt(metric):
    items = [{"kind": False, "t": "a", "score": 0.5}, {"kind": True, "t": "b", "score": 0.25}]
    with pytest.raises(
        ts.TallystickError, match=r"expected a field 'knid', found fields kind, t, score\. Did you mean \"kind\""
    ):
        ts.evaluate(metric[1], [items], [items[:1]])
    if metric[0] == "ignored":  # a mark that nothing has
        ts.evaluate(ts.ranked(ts.record(t=ts.exact), ignored="crowd"), [items], [items[:1]])
    seldom = [[{"t": "a", "score": 1.0}], [{"t": "b", "score": 1.0}, {"knid": True, "t": "c", "score": 1.0}]]
    ts.evaluate(metric[1], seldom, seldom)

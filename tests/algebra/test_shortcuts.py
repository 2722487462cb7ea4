"""Ways around listing every pair: the same figures as by listing them all."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from tallystick.algebra import numbers, text
from tallystick.algebra.node import Similarity
from tallystick.engine import arrays, assignment
from tallystick.engine.arrays import Blocks, assign
from tallystick.engine.data import Memory, Scope, as_data
from tallystick.engine.values import Unfit


def by_columns(metric, left, right):
    """The result by columns, which a few small documents do without."""
    return ts.evaluate(metric, left, right, batch=1000)


VALUE = st.one_of(
    st.integers(-6, 6).map(float),
    st.integers(-30, 30).map(lambda n: n / 10),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-320, 1.7e308, 0.1 + 0.2, 0.3]),
)
LISTS = st.lists(st.tuples(st.lists(VALUE, max_size=9), st.lists(VALUE, max_size=9)), min_size=1, max_size=3)
TOLERANCES = st.sampled_from([0, 1e-12, 0.1, 0.25, 0.5, 1, 2]), st.sampled_from([0, 1e-12, 0.01, 0.1, 0.3, 0.5, 0.9])


@settings(max_examples=200, deadline=None)
@given(sides=LISTS, absolute=TOLERANCES[0], relative=TOLERANCES[1])
def test_numbers_matched_in_order_are_as_many_as_by_listing_all_pairs(sides, absolute, relative):
    number = ts.number(absolute=absolute, relative=relative)
    left, right = [a for a, _ in sides], [b for _, b in sides]
    items = [[[{"v": v, "k": k % 2} for k, v in enumerate(one)] for one in side] for side in (left, right)]
    record = ts.match(ts.record(k=ts.exact, v=number))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "LEAST_ROWS", 1 << 40)
        listed = by_columns(ts.f1(ts.match(number)), left, right), by_columns(ts.f1(record), *items)
        patch.setattr(numbers, "LEAST_ROWS", 0)
        patch.setattr(numbers, "FEW_PAIRS", 0)
        in_order = by_columns(ts.f1(ts.match(number)), left, right), by_columns(ts.f1(record), *items)
        for one, other in zip(listed, in_order, strict=True):
            assert one.rows.tobytes() == other.rows.tobytes()
        for document, (ours, theirs) in enumerate(sides):
            pairs = [one for one in in_order[0].explain(document).children if one.weight > 0]
            assert len(pairs) == in_order[0].rows[document][0]
            for one in pairs:
                a, b = ours[one.places[0]], theirs[one.places[1]]
                assert (
                    a == b
                    or (math.isnan(a) and math.isnan(b))
                    or abs(a - b) <= max(absolute, relative * max(abs(a), abs(b)))
                )


def test_many_numbers_are_matched_without_a_list_of_pairs(monkeypatch):
    """3,000 numbers, all of them close to each other, are 9 million pairs."""
    monkeypatch.setattr(numbers.Number, "near_pairs", None)
    left, right = ([1000 + k / 3000 + by for k in range(3000)] for by in (0, 0.0001))
    assert by_columns(ts.f1(ts.match(ts.number(relative=0.01))), [left], [right[:-1]]).rows.tolist() == [
        [2999, 2999, 2999, 3000]
    ]


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("relative", [0.5, 0.999, 0.999999, 1 - 2**-50, 1 - 2**-53])
def test_numbers_at_the_far_end_of_a_large_tolerance(monkeypatch, relative, listed):
    """What is rounded there is multiplied by 1 / (1 - relative); listed, in order and one by one all say the same."""
    monkeypatch.setattr(numbers, "LEAST_ROWS", 1 << 40 if listed else 0)
    monkeypatch.setattr(numbers, "FEW_PAIRS", 0)
    values = [0.0, 5e-324, 1e-310, 1.0, 3.0, 7.0, 1e6, 3e6, 1e308, math.inf]
    values += [one / (1 - relative) for one in values[3:6]]
    metric = ts.f1(ts.match(ts.number(relative=relative)))
    for a in values:
        for b in values:
            close = a == b or (math.isfinite(a + b) and abs(a - b) <= relative * max(a, b))
            assert by_columns(metric, [[a, -1.0]], [[b, -1.0]]).rows[0][0] == 1 + close, (a, b)
            assert metric([a], [b]) == close


WORDS = st.one_of(
    st.text("ab", max_size=9), st.text("abcdefgh ", min_size=6, max_size=24), st.text("aé😀\ud800", max_size=12)
)


@st.composite
def texts(draw):
    """Two lists of texts, of which some are others with a few edits."""
    left = draw(st.lists(WORDS, min_size=1, max_size=8))
    right = draw(st.lists(WORDS, max_size=5))
    for one in draw(st.lists(st.sampled_from(left), max_size=5)):
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(one)))
            one = one[:at] + draw(st.sampled_from(["", "x", "ab"])) + one[at + draw(st.integers(0, 2)) :]
        right.append(one)
    return left, right


def columns_and_words(metric, left, right):
    """The rows of all documents to the bit, and their explanations."""
    found = by_columns(metric, left, right)
    return found.rows.tobytes(), [str(found.explain(k)) for k in range(len(left))]


@pytest.mark.parametrize("ratio", text.SHORTEST)
@settings(max_examples=100, deadline=None)
@given(
    documents=st.lists(texts(), min_size=1, max_size=3),
    least=st.sampled_from([0.05, 0.3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0]),
)
def test_texts_above_a_threshold_are_those_of_comparing_all(ratio, documents, least):
    left, right = [a for a, _ in documents], [b for _, b in documents]
    metrics = [ts.f1(ts.match(limit(ts.text(ratio), least, keep=True))) for limit in (ts.at_least, ts.above)]
    with pytest.MonkeyPatch.context() as patch:
        filled = [columns_and_words(metric, left, right) for metric in metrics]
        patch.setattr(text, "MANY_CELLS", 0)
        patch.setattr(text, "LONG_ENOUGH", 0.0)
        for cost in (0, 1 << 40):  # by the runs that texts share, and by their lengths
            patch.setattr(text, "LOOKED_UP", cost)
            assert [columns_and_words(metric, left, right) for metric in metrics] == filled


def test_texts_that_share_nothing_are_not_compared(monkeypatch):
    """Of 2,000 texts each has one that is like it, and those alone are compared."""
    import rapidfuzz.process

    compared = []
    original = rapidfuzz.process.cpdist
    monkeypatch.setattr(
        rapidfuzz.process, "cpdist", lambda a, b, **options: compared.append(len(a)) or original(a, b, **options)
    )
    monkeypatch.setattr(rapidfuzz.process, "cdist", None)
    left = [f"{k * 7919 % 99991:08d} {k * 104729 % 999983:09d} {k:06d}" for k in range(2000)]
    right = [one[:-1] + "x" for one in left]
    metric = ts.f1(ts.match(ts.at_least(ts.text("levenshtein"), 0.9)))
    assert by_columns(metric, [left], [right]).f1 == 1
    assert sum(compared) < 100_000


@pytest.mark.parametrize("constraint", ["N:1", "1:N"])
@settings(max_examples=100, deadline=None)
@given(documents=st.lists(texts(), min_size=1, max_size=3))
def test_the_best_of_each_text_is_that_of_listing_all_pairs(constraint, documents):
    left, right = [a for a, _ in documents], [b for _, b in documents]
    for metric in (
        ts.f1(ts.match(ts.text("indel"), constraint)),
        ts.f1(ts.match(ts.text("jaro"), constraint, literal=True)),
    ):
        with pytest.MonkeyPatch.context() as patch:
            found = []
            for least in (0, 1 << 40):
                patch.setattr(arrays, "ROOMY", least)
                found.append(by_columns(metric, left, right))
            one, other = found
            assert one.rows.tobytes() == other.rows.tobytes()
            by_listing = [str(other.explain(k)) for k in range(len(left))]
            patch.setattr(arrays, "ROOMY", 0)
            assert [str(one.explain(k)) for k in range(len(left))] == by_listing


@pytest.mark.parametrize("least", [1e-9, 1e-19, 1e-300, 5e-324])
def test_a_threshold_next_to_nothing_loses_no_text(monkeypatch, least):
    metric = ts.f1(ts.match(ts.at_least(ts.text("levenshtein"), least)))
    left, right = [f"text number {k}" for k in range(40)], [f"number {k} of texts" for k in range(40)]
    monkeypatch.setattr(text, "MANY_CELLS", 0)
    assert by_columns(metric, [left], [right]).rows.tolist() == [[40, 40, 40, 40]]


def dense_documents(seed, sizes):
    """Lists of records whose texts are of few letters: many ties, cells of 0, and components of every shape."""
    rng = random.Random(seed)

    def side(n):
        return [{"t": "".join(rng.choices("abc", k=rng.randint(1, 3))), "k": rng.randrange(3)} for _ in range(n)]

    return [side(n) for n, _ in sizes], [side(n) for _, n in sizes]


@pytest.mark.parametrize("metric", ['each(t=text("levenshtein"), k=exact)', 'text("levenshtein")'])
def test_what_the_score_has_solved_is_what_all_positive_pairs_would_give_ties_included(metric):
    for seed in range(40):
        rng = random.Random(seed)
        sizes = [(rng.randint(0, 14), rng.randint(0, 14)) for _ in range(6)]
        gold, system = dense_documents(seed, sizes)
        if metric.startswith("text"):
            gold, system = ([[one["t"] for one in row] for row in side] for side in (gold, system))
        node = ts.parse(f"match({metric})")
        r, p = node.encode(as_data(gold), as_data(system), Scope(memory=Memory()))
        node.sums(r, p, Blocks.diagonal(len(r)))
        found = node.matched(r, p)
        every = node.item_pairs(r, p, Blocks.diagonal(len(r)))
        keep = assign(every.i, every.j, every.weight, len(r.items), len(p.items))
        for name in ("i", "j", "weight"):
            assert np.array_equal(getattr(found, name), getattr(every, name)[keep])


def test_the_fields_solve_nothing_that_the_score_has_solved(monkeypatch):
    gold, system = dense_documents(3, [(9, 9), (12, 10), (7, 8)])
    for side in (gold, system):
        for row in side:
            for one in row:
                one["t"] = "a" + one["t"]  # no two texts without a common letter in one place
    solved = []
    solve = assignment._assign_matrix
    monkeypatch.setattr(assignment, "_assign_matrix", lambda matrix: solved.append(matrix.shape) or solve(matrix))
    run = ts.Evaluation('f1(match(each(t=text("levenshtein"), k=exact)))', fields=True)
    run.update(gold, system)
    assert {row.path for row in run.compute().by_field()} == {"[*].t", "[*].k"}
    assert [shape for shape in solved if shape[0] <= shape[1]] == [(9, 9), (10, 12), (7, 8)]


@pytest.mark.parametrize("similarity", [ts.exact, ts.equal, ts.equal(noise=0)], ids=str)
@pytest.mark.parametrize("value", ["", "\ud800", 0, 2**63, 10**400, 1.5, math.nan, math.inf, -0.0, True], ids=repr)
def test_scalars_that_are_taken_untried_are_taken_when_tried(similarity, value):
    assert similarity._takes(value)
    assert Similarity._takes(similarity, value)


@pytest.mark.parametrize("value", ["x", "1,5", 3, 2.5, True])
@pytest.mark.parametrize("similarity", [ts.exact, ts.equal])
def test_a_plain_value_of_the_wrong_kind_is_taken_as_encoding_takes_it(similarity, value):
    assert Similarity._takes(similarity, Unfit(value)) is similarity._takes(Unfit(value)) is True


SPELLED = st.text("aAbé ", max_size=5)


@pytest.mark.parametrize("ratio", ["equal", *text.RATIOS])
@given(pairs=st.lists(st.tuples(SPELLED, SPELLED), max_size=6), unfit=st.booleans())
def test_texts_in_two_lists_are_as_alike_as_in_columns(ratio, pairs, unfit):
    both = [*pairs, (Unfit(5), "a")] if unfit else pairs
    left, right = [a for a, _ in both], [b for _, b in both]
    for node in (ts.text(ratio), ts.text(ratio, "casefold", "whitespace")):
        expected = Similarity.weights_of_values(node, left, right)
        np.testing.assert_array_equal(node.weights_of_values(left, right), expected)

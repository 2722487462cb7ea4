"""The engine, which works on whole columns, says what the oracle says, which works on one pair of values."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import tallystick as ts
from strategies import CONSTRAINTS, LEAVES, Shape, corpora, effort, metrics, reordered, shapes
from tallystick.algebra import sets
from tallystick.algebra.sets import Match, Matching
from tallystick.engine import Bag, Index, Objects, Record
from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS

# Tallies


def close(rows, expected):
    np.testing.assert_allclose(rows, expected, rtol=1e-9, atol=1e-9)


def tallies(metric, reference, predicted, **options):
    """As columns: a few documents would be scored one by one otherwise (tests/properties/test_one_pair.py)."""
    return ts.evaluate(metric, reference, predicted, **{"batch": 1000, **options}).rows


def expected_tallies(metric, reference, predicted):
    rows = [oracle.tally(metric, x, y) for x, y in zip(reference, predicted, strict=True)]
    return np.array(rows, np.float64).reshape(len(reference), 4)


@given(st.data())
@effort(3)
def test_every_tally_is_the_oracles(data):
    shape = data.draw(metrics())
    reference, predicted = data.draw(corpora(shape))
    close(tallies(shape.node, reference, predicted), expected_tallies(shape.node, reference, predicted))


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: str(leaf.node)[:40])
@given(data=st.data())
@effort(0.15)
def test_every_leaf_in_a_matching_is_the_oracles(leaf, data):
    metric = ts.f1(ts.match(leaf.node, data.draw(st.sampled_from(CONSTRAINTS))))
    bags = st.lists(leaf.values, max_size=4)
    reference, predicted = data.draw(corpora(Shape(metric, bags)))
    rows, expected = (
        tallies(metric, reference, predicted),
        expected_tallies(metric, reference, predicted),
    )
    if leaf.integral:
        np.testing.assert_array_equal(rows, expected)
    close(rows, expected)


WEIGHTS = st.sampled_from([0, 0, 0, 1, 1, 2, 3]) | st.integers(0, 100).map(lambda k: k / 64)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@given(data=st.data())
@effort(0.1)
def test_a_matching_of_six_by_six_is_optimal(constraint, data):
    n = data.draw(st.integers(4, 6))
    m = data.draw(st.integers(4, 6 if constraint == "1:1" else 5))
    weights = data.draw(st.lists(st.lists(WEIGHTS, min_size=m, max_size=m), min_size=n, max_size=n))
    metric = ts.match(ts.function(lambda x, y: weights[x][y], reflexive=False), constraint, literal=True)
    found = ts.evaluate(metric, [list(range(n))], [list(range(m))]) if n == m else None
    if found is None:  # a self-score asks for (k, k), which a table that is not square lacks
        from tallystick.engine.arrays import Blocks
        from tallystick.engine.data import Scope

        columns = metric.encode(Objects([list(range(n))]), Objects([list(range(m))]), Scope())
        total = float(metric.sums(*columns, Blocks.diagonal(1)).total.sum())
    else:
        total = found.tally["num_p"]
    assert total == oracle.best_total(metric, weights)


def same(x):
    return x


WRAPPERS = {
    "aliases": lambda inner: ts.aliases({}, inner),
    "optional": ts.optional,
    "cases": lambda inner: ts.cases(list=inner),
    "let": lambda inner: ts.let("T", inner),
    "weighted": lambda inner: ts.weighted(inner, 1.0),
    "via": lambda inner: ts.via(same, inner),
    "two": lambda inner: ts.optional(ts.cases(list=ts.aliases({}, inner))),
}
LETTERS = st.lists(st.sampled_from("abc"), max_size=4)


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
@given(data=st.data())
@effort(0.1)
def test_what_is_around_a_matching_changes_nothing(wrapper, constraint, data):
    """Also of a one-sided one, whose two numerators are "covered", in the whole and nested."""
    inner = ts.match(ts.exact, constraint)
    n = data.draw(st.integers(1, 4))
    reference, predicted = (data.draw(st.lists(LETTERS, min_size=n, max_size=n)) for _ in range(2))
    wrapped = WRAPPERS[wrapper](inner)
    expected = [oracle.tally(ts.f1(inner), x, y) for x, y in zip(reference, predicted, strict=True)]
    close(tallies(ts.f1(wrapped), reference, predicted), expected)
    nested, plain = (ts.f1(ts.match(ts.f1(one))) for one in (wrapped, inner))
    close(tallies(nested, [reference], [predicted]), [oracle.tally(plain, reference, predicted)])


# Parts and whole


@given(st.data())
def test_the_parts_add_up_to_the_whole_whatever_the_batches(data):
    shape = data.draw(metrics(depth=1))
    reference, predicted = data.draw(corpora(shape, max_size=6))
    whole = ts.evaluate(shape.node, reference, predicted)
    for batch in (1, 2, 5):
        rows = tallies(shape.node, reference, predicted, batch=batch)
        close(rows, whole.rows)
    cut = data.draw(st.integers(0, len(reference)))
    one, two = ts.Evaluation(shape.node), ts.Evaluation(shape.node)
    one.update(reference[:cut], predicted[:cut])
    for x, y in zip(reference[cut:], predicted[cut:], strict=True):
        two.update([x], [y])
    one.merge(two)
    merged = one.compute()
    close(merged.rows, whole.rows)
    assert merged.tally == pytest.approx(whole.tally)
    assert merged.figures == pytest.approx(whole.figures, nan_ok=True)
    assert merged.ids == whole.ids
    assert merged.notes == whole.notes


@given(st.data())
def test_the_order_of_items_and_documents_changes_nothing(data):
    shape = data.draw(metrics().filter(lambda shape: not shape.ordered))
    reference, predicted = data.draw(corpora(shape))
    before = tallies(shape.node, reference, predicted)
    order = data.draw(st.permutations(range(len(reference))))
    turned = [[reordered(side[k], data.draw) for k in order] for side in (reference, predicted)]
    close(tallies(shape.node, *turned), before[order])


@given(st.data())
def test_precision_and_recall_change_places_with_the_sides(data):
    shape = data.draw(metrics())
    reference, predicted = data.draw(corpora(shape))
    rows = tallies(shape.node, reference, predicted)
    mirrored = tallies(shape.node.mirrored(), predicted, reference)
    close(mirrored[:, [2, 3, 0, 1]], rows)
    assert shape.node.mirrored().mirrored() == shape.node


@given(st.data())
def test_everything_equals_itself(data):
    shape = data.draw(metrics().filter(lambda shape: shape.reflexive))
    documents = data.draw(st.lists(shape.values, min_size=1, max_size=3))
    result = ts.evaluate(shape.node, documents, documents)
    close(result.rows[:, 0], result.rows[:, 1])
    close(result.rows[:, 2], result.rows[:, 3])
    assert result.score is None or result.score == pytest.approx(1)


# The metric as a value


@given(shapes(depth=3))
def test_a_metric_is_a_value(shape):
    metric = shape.node
    assert ts.parse(str(metric), functions=True) == metric
    assert str(ts.parse(str(metric), functions=True)) == str(metric)
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert {again: 1}[metric] == 1


@given(shapes(depth=2), shapes(depth=2))
def test_two_metrics_are_equal_where_their_expressions_are(one, two):
    assert (one.node == two.node) == (str(one.node) == str(two.node))


# Forms of input


@given(st.data())
def test_columns_give_what_objects_give(data):
    fields = st.fixed_dictionaries(
        {"id": st.integers(0, 2), "name": st.sampled_from(["", "ab", "abc"]), "tags": st.lists(st.integers(0, 2))}
    )
    documents = st.lists(st.lists(fields, max_size=4), min_size=1, max_size=4)
    reference = data.draw(documents)
    predicted = data.draw(st.lists(st.lists(fields, max_size=4), min_size=len(reference), max_size=len(reference)))
    combine = data.draw(st.sampled_from([ts.record, ts.each]))
    name = data.draw(st.sampled_from([ts.exact, ts.text("levenshtein"), ts.text("equal", "casefold")]))
    metric = ts.f1(
        ts.match(
            combine(id=ts.exact, name=name, tags=ts.f1(ts.match(ts.exact))),
            data.draw(st.sampled_from(CONSTRAINTS)),
        )
    )
    columns = [as_columns(side, data.draw(st.booleans())) for side in (reference, predicted)]
    close(tallies(metric, *columns), tallies(metric, reference, predicted))
    close(
        tallies(metric, Objects(reference), Objects(predicted)),
        tallies(metric, reference, predicted),
    )


def as_columns(documents, indexed):
    """Documents of items with id, name and tags, as the arrays that Arrow would have."""
    items = [item for document in documents for item in document]
    names = np.array([item["name"] for item in items], dtype="U4")
    tags = [item["tags"] for item in items]
    offsets = np.cumsum([0, *map(len, tags)])
    bags = Bag(offsets, np.array([tag for bag in tags for tag in bag], np.int64))
    if indexed:
        different, index = np.unique(names, return_inverse=True)
        names = Index(index, different)
        order = list(range(len(items)))
        random.Random(0).shuffle(order)
        place = np.argsort(np.array(order, np.int64))
        moved = [tags[k] for k in order]
        bags = Index(
            place,
            Bag(np.cumsum([0, *map(len, moved)]), np.array([tag for bag in moved for tag in bag], np.int64)),
        )
    record = Record({"id": np.array([item["id"] for item in items], np.int64), "name": names, "tags": bags})
    return Bag(np.cumsum([0, *map(len, documents)]), record)


@given(st.data())
@effort(0.5)
def test_values_that_are_shared_score_like_copies(data):
    """From 64 rows on, a collection that occurs several times (the same object) is scored once."""
    inner = data.draw(shapes(depth=1, size=2))
    pool = data.draw(st.lists(st.lists(inner.values, max_size=3), min_size=1, max_size=4))
    combine = data.draw(st.sampled_from([ts.record, ts.each]))
    chosen = random.Random(data.draw(st.integers(0, 9)))
    matching = ts.match(inner.node, data.draw(st.sampled_from(CONSTRAINTS)))
    bare = data.draw(st.booleans())
    metric = matching if bare else ts.match(combine(key=ts.exact, inside=ts.f1(matching)))

    def document(copy):
        inside = [copy(chosen.choice(pool)) for _ in range(3)]
        return inside[0] if bare else [{"key": chosen.choice("ab"), "inside": one} for one in inside]

    state = chosen.getstate()
    shared = [[document(lambda value: value) for _ in range(70)] for _ in range(2)]
    chosen.setstate(state)
    copied = [[document(list) for _ in range(70)] for _ in range(2)]
    assert shared == copied or "nan" in repr(shared)
    close(tallies(metric, *shared, batch=1000), tallies(metric, *copied, batch=1000))
    close(tallies(metric, *shared, batch=1000)[:3], expected_tallies(metric, *(side[:3] for side in shared)))


@given(st.data())
@effort(0.5)
def test_dense_rectangles_are_solved_like_sparse_pairs(data):
    texts = st.text(alphabet="ab", max_size=6)
    items = st.fixed_dictionaries({"id": st.integers(0, 1), "name": texts, "note": st.none() | texts})
    documents = st.lists(st.lists(items, max_size=12), min_size=1, max_size=3)
    reference = data.draw(documents)
    predicted = [data.draw(st.permutations(document)) for document in reference]
    predicted[0] = data.draw(st.lists(items, max_size=12))
    name = ts.text("levenshtein")
    inner = data.draw(
        st.sampled_from(
            [
                ts.record(id=ts.exact, name=name),
                ts.each(id=ts.exact, name=name),
                ts.each(id=ts.exact, name=ts.weighted(name, 2), note=ts.optional(name)),
            ]
        )
    )
    metric = ts.f1(ts.match(inner))
    rows = tallies(metric, reference, predicted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sets, "Grid", type("NoGrid", (), {}))
        close(rows, tallies(metric, reference, predicted))


# Breakdowns


FIELDS = {
    "type": st.sampled_from("AB"),
    "name": st.sampled_from(["ab", "abc", "b"]),
    "note": st.none() | st.sampled_from("xy"),
    "tags": st.lists(st.sampled_from("pq"), max_size=2),
    "part": st.fixed_dictionaries({"size": st.integers(0, 1), "unit": st.sampled_from(["kg", "g"])}),
}
ITEMS = st.fixed_dictionaries(FIELDS)
CREDIT = ts.each(
    type=ts.exact,
    name=ts.weighted(ts.text("levenshtein"), 2),
    note=ts.optional(ts.via(str.upper, ts.exact)),
    tags=ts.match(ts.exact),
    part=ts.each(size=ts.number(0.5), unit=ts.exact),
)


@given(st.lists(st.tuples(st.lists(ITEMS, max_size=4), st.lists(ITEMS, max_size=4)), min_size=1, max_size=3))
def test_the_fields_of_a_sum_add_up(documents):
    reference, predicted = zip(*documents, strict=True)
    result = ts.evaluate(ts.f1(ts.match(CREDIT)), reference, predicted)
    fields = result.by_field()
    assert [field.path for field in fields] == [
        "[*].type", "[*].name", "[*].note", "[*].tags[*]", "[*].part.size", "[*].part.unit",
    ]  # fmt: skip
    assert not any(field.diagnostic for field in fields)
    for name, total in result.tally.items():
        assert sum(field.tally[name] for field in fields) == pytest.approx(total)


@pytest.mark.parametrize("constraint", ["1:1", "N:1", "1:N"])
@given(data=st.data())
@effort(0.5)
def test_the_labels_add_up(constraint, data):
    documents = data.draw(
        st.lists(st.tuples(st.lists(ITEMS, max_size=4), st.lists(ITEMS, max_size=4)), min_size=1, max_size=3)
    )
    reference, predicted = zip(*documents, strict=True)
    inner = data.draw(st.sampled_from([CREDIT, ts.record(type=ts.exact, name=ts.text("indel"))]))
    result = ts.evaluate(ts.f1(ts.match(inner, constraint)), reference, predicted)
    labels = result.by_label("[*].type")
    for name, total in result.tally.items():
        assert sum(label.tally[name] for label in labels) == pytest.approx(total)
    assert {label.label for label in labels} == {
        item["type"] for side in (reference, predicted) for d in side for item in d
    }
    assert sum(label.support for label in labels) == sum(map(len, reference))


# Explanation


@given(st.data())
@effort(1.5)
def test_an_explanation_is_the_score(data):
    shape = data.draw(metrics())
    (x, *_), (y, *_) = data.draw(corpora(shape).filter(lambda sides: sides[0]))
    result = ts.evaluate(shape.node, [x], [y])
    tree = result.explain()
    inner = shape.node.inner if hasattr(shape.node, "inner") and isinstance(shape.node.inner, Matching) else shape.node
    covered = isinstance(inner, Match) and inner.constraint == "1:N" and not inner.literal
    assert tree.weight == pytest.approx(result.tally["num_r" if covered else "num_p"])
    assert tree.reference_self == pytest.approx(result.tally["den_r"])
    assert tree.predicted_self == pytest.approx(result.tally["den_p"])
    for node in tree.walk():
        if node.adds_up:
            assert sum(child.weight for child in node.children) == pytest.approx(node.weight)
        assert node.weight >= 0
        if node.status == MISSED:
            assert node.predicted is None
        if node.status == SPURIOUS:
            assert node.reference is None


@given(st.data())
def test_every_item_is_explained_once(data):
    inner = data.draw(shapes(depth=1))
    metric = ts.f1(ts.match(inner.node))
    x, y = (data.draw(st.lists(inner.values, max_size=4)) for _ in range(2))
    children = ts.evaluate(metric, [x], [y]).explain().children
    matched = [child for child in children if child.status == MATCHED]
    left = [child.reference for child in children if child.status in (MATCHED, MISSED)]
    right = [child.predicted for child in children if child.status in (MATCHED, SPURIOUS)]
    assert sorted(map(repr, left)) == sorted(map(repr, x))
    assert sorted(map(repr, right)) == sorted(map(repr, y))
    for child in matched:
        assert child.weight == pytest.approx(oracle.similarity(inner.node, child.reference, child.predicted))


@given(st.data())
def test_every_value_in_an_explanation_is_the_one_that_was_compared(data):
    """Through mappings and sets too: the weight shown is φ of the two values shown."""
    words = ts.via(ts.words, ts.f1(ts.match(ts.exact, distinct=data.draw(st.booleans()))))
    metric = ts.f1(ts.match(words, distinct=data.draw(st.booleans())))
    texts = st.lists(st.sampled_from(["the cat", "cat sat", "sat, sat, cat", ""]), max_size=4)
    tree = ts.evaluate(metric, [data.draw(texts)], [data.draw(texts)]).explain()
    for pair in tree.children:
        left, right = ({str(v) for v in ts.words(text or "")} for text in (pair.reference, pair.predicted))
        for child in pair.children:
            assert child.reference in {*left, None}
            assert child.predicted in {*right, None}
            assert child.weight == (child.reference == child.predicted)

"""Derived = direct: the equations over Python values, their rows over columns, and the formulas written out plainly.

The formulas go through sets and list every link; CEAF tries every 1:1 matching.
"""

import random
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.results.evaluation import kind_of
from tallystick.tasks.coreference.metrics import B3, CEAF_E, CEAF_M, MENTIONS, METRICS, MUC, evaluate

NAMES = ("muc", "b3", "ceaf_m", "ceaf_e", "lea", "blanc", "mentions")


def partition(rng, mentions, entities):
    """Some of the mentions, in some entities."""
    chosen = [m for m in range(mentions) if rng.random() < 0.8]
    found = {}
    for mention in chosen:
        found.setdefault(rng.randrange(entities), set()).add(mention)
    return list(found.values())


def corpus(seed, documents, largest=5):
    rng = random.Random(seed)
    sides = ([], [])
    for _ in range(documents):
        mentions, entities = rng.randint(0, 14), rng.randint(1, largest)
        for side in sides:
            side.append(partition(rng, mentions, entities))
    return sides


@pytest.fixture(scope="module")
def thousand():
    return corpus(3, 1000)


@pytest.fixture(scope="module")
def direct(thousand):
    return evaluate(*thousand, NAMES)


def memberships(documents):
    """B³ is over mentions, each with its entity."""
    return [[{"mention": m, "entity": entity} for entity in entities for m in entity] for entities in documents]


VIEWS = [
    ("mentions", MENTIONS, list), ("muc", MUC, list), ("b3", B3, memberships), ("ceaf_m", CEAF_M, list),
    ("ceaf_e", CEAF_E, list),
]  # fmt: skip


@pytest.mark.parametrize(("name", "expression", "view"), VIEWS)
def test_the_expressions_give_the_rows_of_the_metrics(thousand, direct, name, expression, view):
    derived = ts.evaluate(expression, *map(view, thousand))
    assert derived.rows == pytest.approx(direct[name].rows)
    assert derived.tally == pytest.approx(direct[name].tally)
    assert derived.f1 == pytest.approx(direct[name].f1)
    assert ts.parse(str(expression)) == expression
    assert METRICS[name].expression is expression
    assert METRICS[name].kind == kind_of(expression)


def test_mention_detection_is_over_mentions(thousand, direct):
    flat = [[[m for entity in document for m in entity] for document in side] for side in thousand]
    assert (ts.evaluate(ts.f1(ts.match(ts.exact)), *flat).rows == direct["mentions"].rows).all()


@pytest.mark.parametrize(("name", "expression", "view"), VIEWS)
def test_a_result_explains_itself_by_its_expression(name, expression, view):
    key, response = [[{"a", "b"}, {"c"}], [{"x"}]], [[{"a"}, {"b", "c"}], []]
    result = evaluate(key, response, [name])[name]
    tree = result.explain("0")
    assert tree.weight == pytest.approx(result.rows[0, 0])
    assert (tree.reference_self, tree.predicted_self) == (result.rows[0, 3], result.rows[0, 1])
    whole = ts.evaluate(expression, view(key), view(response)).explain(0)
    assert (tree.weight, len(tree.children)) == (whole.weight, len(whole.children))


# The formulas, written out.


def muc(key, response):
    """Links of k that survive when k is cut up by the response, twinless mentions each a part (section 4.1)."""

    def side(ours, theirs):
        kept = 0
        for entity in ours:
            parts = [entity & other for other in theirs if entity & other]
            kept += len(entity) - (len(parts) + len(entity - set().union(*parts)))
        return kept, sum(len(entity) - 1 for entity in ours)

    return (*side(response, key), *side(key, response))


def b3(key, response):
    def side(ours, theirs):
        total = sum(len(a & b) ** 2 / len(a) for a in ours for b in theirs)
        return total, sum(map(len, ours))

    return (*side(response, key), *side(key, response))


def best(key, response, phi):
    short, long = sorted((key, response), key=len)
    return max(sum(map(phi, short, chosen)) for chosen in permutations(long, len(short)))


def ceaf_m(key, response):
    total = best(key, response, lambda a, b: len(a & b))
    return total, sum(map(len, response)), total, sum(map(len, key))


def ceaf_e(key, response):
    total = best(key, response, lambda a, b: 2 * len(a & b) / (len(a) + len(b)))
    return total, len(response), total, len(key)


def pairs_of(entity):
    """The links of an entity; a singleton has one, to itself (Moosavi & Strube 2016)."""
    if len(entity) == 1:
        return {frozenset(entity)}
    return {frozenset(link) for link in combinations(entity, 2)}


def lea(key, response):
    def side(ours, theirs):
        total = 0.0
        for entity in ours:
            links = pairs_of(entity)
            total += len(entity) * sum(len(links & pairs_of(other)) for other in theirs) / len(links)
        return total, sum(map(len, ours))

    return (*side(response, key), *side(key, response))


def blanc(key, response):
    def links(side):
        every = {frozenset(link) for link in combinations(sorted(set().union(*side)), 2)}
        same = {frozenset(link) for entity in side for link in combinations(entity, 2)}
        return same, every - same

    out = []
    for ours, theirs in zip(links(key), links(response), strict=True):
        out += [len(ours & theirs), len(ours), len(theirs)]
    return tuple(out)


def mentions(key, response):
    ours, theirs = set().union(*key), set().union(*response)
    return len(ours & theirs), len(theirs), len(ours & theirs), len(ours)


PLAIN = {"muc": muc, "b3": b3, "ceaf_m": ceaf_m, "ceaf_e": ceaf_e, "lea": lea, "blanc": blanc, "mentions": mentions}


@pytest.mark.parametrize("name", NAMES)
def test_the_table_gives_the_plain_formula(thousand, direct, name):
    for row, key, response in zip(direct[name].rows.tolist(), *thousand, strict=True):
        assert row == pytest.approx(PLAIN[name](key, response)), (key, response)


partitions = st.dictionaries(st.integers(0, 9), st.integers(0, 4)).map(
    lambda home: [{m for m in home if home[m] == entity} for entity in sorted(set(home.values()))]
)


@given(partitions, partitions)
def test_one_document_by_the_plain_formulas(key, response):
    found = evaluate([key], [response], NAMES)
    for name in NAMES:
        assert found[name].rows[0].tolist() == pytest.approx(PLAIN[name](key, response)), name


@given(partitions, partitions)
def test_the_sides_exchanged_exchange_precision_and_recall(key, response):
    one, two = evaluate([key], [response]), evaluate([response], [key])
    for name in ("mentions", "muc", "b3", "ceaf_m", "ceaf_e", "lea"):
        assert one[name].precision == pytest.approx(two[name].recall)
        assert one[name].f1 == pytest.approx(two[name].f1)


@given(partitions, partitions, st.randoms(use_true_random=False))
def test_neither_names_nor_order_matter(key, response, rng):
    names = dict(zip(range(10), rng.sample("abcdefghij", 10), strict=True))

    def disguised(side):
        return rng.sample([rng.sample([names[m] for m in entity], len(entity)) for entity in side], len(side))

    one, two = evaluate([key], [response]), evaluate([disguised(key)], [disguised(response)])
    for name, result in one.items():
        assert result.figures == pytest.approx(two[name].figures)


@given(st.lists(st.tuples(partitions, partitions), min_size=2, max_size=4))
def test_tallies_add(documents):
    key, response = zip(*documents, strict=True)
    whole = evaluate(list(key), list(response))
    parts = [evaluate([k], [r]) for k, r in documents]
    for name, result in whole.items():
        assert result.sums == pytest.approx(sum(part[name].sums for part in parts))

"""Row against row, values are compared as they are; with codes they must come out the same."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.algebra.exact import Equal, exact
from tallystick.engine.arrays import Blocks, Unnumbered, numbered
from tallystick.engine.data import Objects, Scope

NAN = float("nan")
KINDS = [
    st.sampled_from(["", "a", "a ", " a", "a\tb", "a b", "é", "e\u0301", "ﬁ", "fi", "a\0 b"]),
    st.sampled_from([0, 1, -1, 2**53, 2**53 + 1, 10**400]),
    st.sampled_from(
        [0.0, -0.0, 1.0, 1 + 1e-10, 1 + 1.5e-9, 0.1 + 0.2, 0.3, 2.0**53, 1e301, NAN, float("inf"), 1e6 + 0.25]
    ),
    st.floats(0.999999999, 1.000000001),
    st.booleans(),
    st.sampled_from([None, b"a", datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)]),
]
COLUMNS = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3).flatmap(
    lambda some: st.lists(st.tuples(st.one_of(some), st.one_of(some)), min_size=1, max_size=12)
)
NODES = [exact, Equal(), Equal("NFKC"), Equal("", spaces=False), Equal(noise=0), Equal(noise=1e-3)]


@pytest.mark.parametrize("node", NODES, ids=repr)
@given(rows=COLUMNS, taken=st.lists(st.integers(0, 11), max_size=6))
def test_values_and_codes_say_the_same(node, rows, taken):
    left, right = Objects([a for a, _ in rows]), Objects([b for _, b in rows])
    r, p = node.encode(left, right, Scope())
    blocks = Blocks.diagonal(len(rows))
    found = node.pairs(r, p, blocks)
    some = np.array([k % len(rows) for k in taken], np.int64)
    lazy = node.pairs(r.take(some), p.take(some), Blocks.diagonal(len(some))) if len(some) else None
    first, second = numbered(r), numbered(p)
    assert not isinstance(first, Unnumbered)
    coded = node.pairs(first, second, blocks)
    assert found.i.tolist() == coded.i.tolist()
    assert found.j.tolist() == coded.j.tolist()
    assert [node(a, b) == 1 for a, b in rows] == [k in set(found.i.tolist()) for k in range(len(rows))]
    if lazy is not None:
        again = node.pairs(first.take(some), second.take(some), Blocks.diagonal(len(some)))
        assert lazy.i.tolist() == again.i.tolist()
        after = node.pairs(r.take(some), p.take(some), Blocks.diagonal(len(some)))
        assert after.i.tolist() == again.i.tolist()


def test_values_of_one_kind_are_not_numbered():
    r, p = ts.equal.encode(Objects(["a", "b ", "c"]), Objects(["a", "b", "d"]), Scope())
    assert ts.equal.pairs(r, p, Blocks.diagonal(3)).i.tolist() == [0, 1]
    assert isinstance(r, Unnumbered)
    assert not r.numbering.known


@pytest.mark.parametrize("node", NODES, ids=repr)
@given(rows=COLUMNS, more=st.sampled_from(KINDS).flatmap(lambda kind: st.lists(kind, max_size=3)))
def test_a_side_is_held_against_itself_and_not_against_the_other_one(node, rows, more):
    sides = Objects([a for a, _ in rows]), Objects([*(b for _, b in rows), *more])
    for k in (0, 1):
        column = node.encode(*sides, Scope())[k]
        blocks = Blocks.diagonal(len(column))
        lazy, counted = node.pairs(column, column, blocks), node.pairs(numbered(column), numbered(column), blocks)
        assert lazy.i.tolist() == counted.i.tolist() == list(range(len(column)))


def test_a_list_with_fewer_items_than_the_other_is_explained():
    metric = ts.parse("f1(each(items=match(each(count=exact, type=exact), N:N)))")
    gold, system = (
        {"items": [{"count": 1, "type": "x"}, {"count": 2, "type": "y"}]},
        {"items": [{"count": 1, "type": "x"}]},
    )
    assert "missed" in str(ts.evaluate(metric, [gold], [system]).explain(0))

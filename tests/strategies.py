"""Metrics together with values for them, at random.

A `Shape` is a node and a strategy for the values it is for. Alphabets are tiny, so that values meet, repeat and
tie; collections are short, so that the oracle can try every matching.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

import tallystick as ts


def effort(share: float):
    """A share of the examples that the profile allows."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))


LETTERS = st.sampled_from("abc")
TEXTS = ["", "a", "ab", "Ab c", "abc", "c b", "abcd efg", " "]
PARENTS = {"b": "a", "c": "b", "d": ["a", "e"], "f": "d"}
CONSTRAINTS = ["1:1", "N:1", "1:N", "N:N"]


@dataclass(frozen=True)
class Shape:
    """A node, and a strategy for its values."""

    node: Any
    values: Any
    ordered: bool = False  # whether the order of items matters somewhere inside
    reflexive: bool = True  # whether every value equals itself, with Σ(x, x) > 0 or N(x, x) = 1
    integral: bool = False  # whether every φ is a whole number

    def around(self, node, values=None, **changes) -> Shape:
        """A node around this one, for the same values unless said otherwise."""
        return replace(self, node=node, values=self.values if values is None else values, **changes)


# Functions of a user: at the top of a module, so that metrics can be printed, parsed and pickled.


def nearness(x, y):
    """Not symmetric, and 1 for equal values."""
    return 1.0 if x == y else 0.5 if x < y else 0.25


def affinity(x, y):
    """φ(x, x) is not 1, some are negative, and "a" fits "b" better than itself."""
    return {("a", "a"): 0.5, ("a", "b"): 2.0, ("b", "b"): 1.0, ("c", "c"): 0.25, ("c", "a"): -1.0}.get((x, y), 0.0)


def letters(text):
    return list(text)


def lower(text):
    return text.lower()


def upper_lower(text):
    return text.upper().lower()


# Leaves


def _leaf(node, values, integral=True, **flags) -> Shape:
    strategy = values if isinstance(values, st.SearchStrategy) else st.sampled_from(values)
    return Shape(node, strategy, integral=integral, **flags)


ATOMS = [0, 1, 1.0, True, False, None, "a", "1", math.nan, (1, 2), (1, True)]
NUMBERS = [0, 1, 1.05, 1.2, -1, -1.1, 0.5, 10, 10.9, math.nan, math.inf, -math.inf]
DAYS = [
    datetime.date(2024, 2, 28),
    datetime.date(2024, 3, 1),
    datetime.datetime(2024, 2, 29, 1, 30, 7),
    datetime.datetime(2024, 3, 1, 1, 30, 7),
    "2024-02-29",
    "2024-03-01T23:59:59+00:00",
]
SPANS = st.tuples(st.integers(0, 4), st.integers(0, 3)).map(lambda s: (s[0], s[0] + s[1]))
OPEN_SPANS = st.tuples(st.integers(0, 3), st.integers(0, 2)).map(lambda s: (s[0], s[0] + s[1]))
RANGES = st.builds(range, st.integers(0, 3), st.integers(0, 5))
PATHS = ["A", "A.B", "A.B.C", "A.C", "B", "B.B", ("A", "B"), (), ("A",)]
JUDGED = {("a", "b"): 0.5, ("b", "a"): 0.25, ("a", "a"): 0.1, ("c", "b"): 1, ("b", "c"): 0}

LEAVES = [
    _leaf(ts.exact, "abc"),
    _leaf(ts.exact, [0, 1, 2, -5]),
    _leaf(ts.exact, ATOMS),
    _leaf(ts.exact, st.lists(LETTERS, max_size=2), ordered=True),
    _leaf(ts.text("equal", "casefold", "whitespace"), TEXTS),
    *(
        _leaf(ts.text(ratio, *steps), TEXTS, integral=False)
        for ratio, *steps in (
            ["levenshtein"],
            ["indel", "casefold"],
            ["jaro_winkler"],
            ["token_sort"],
            ["token_set", "casefold"],
            ["partial"],
        )
    ),
    _leaf(ts.number(0.5), NUMBERS),
    _leaf(ts.number(relative=0.1), NUMBERS),
    _leaf(ts.number(), NUMBERS),
    _leaf(ts.date(1), DAYS),
    _leaf(ts.date(), DAYS),
    *(_leaf(ts.overlap(kind), SPANS, integral=False) for kind in ("jaccard", "dice", "containment", "coverage")),
    _leaf(ts.overlap("any", inclusive=False), OPEN_SPANS),
    _leaf(ts.overlap("last"), SPANS),
    _leaf(ts.overlap("dice"), RANGES, integral=False),
    _leaf(ts.subtypes(PARENTS), "abcdef", integral=False),
    _leaf(ts.subtypes(PARENTS, direction="predicted_descendant", credit=0.25), "abcdef", integral=False),
    _leaf(ts.levels(), PATHS, integral=False),
    _leaf(ts.supertypes(PARENTS), [*"abcdef", ["a", "d"], []], integral=False),
    _leaf(ts.judgements(JUDGED), "abcd", integral=False),
    _leaf(ts.function(nearness), "abc", integral=False),
    _leaf(ts.function(nearness, swapped=True), "abc", integral=False),
    _leaf(ts.function(affinity, reflexive=False), "abc", integral=False, reflexive=False),
    _leaf(ts.via(str.casefold, ts.exact), ["a", "A", "b"]),
    _leaf(ts.via(lower, ts.exact, upper_lower), ["a", "A", "b"]),
    _leaf(ts.via(letters, ts.f1(ts.match(ts.exact))), ["", "a", "ab", "aab"], integral=False),
    _leaf(ts.weigh(ts.exact, {"a": 2, "b": 0.5}, default=1.5), "abc", integral=False),
    _leaf(ts.weigh(ts.text("levenshtein"), {"ab": 2.0, "a": 0}), TEXTS, integral=False, reflexive=False),
    _leaf(ts.at_least(ts.text("levenshtein"), 0.45), TEXTS),
    _leaf(ts.above(ts.text("indel"), 0.45, keep=True), TEXTS, integral=False),
    _leaf(ts.weighted(ts.exact, 2.5), "abc", integral=False),
]
TREE = ts.let("Tree", ts.record(label=ts.exact, children=ts.f1(ts.match(ts.ref("Tree")))))
FOREST = ts.let("Tree", ts.each(label=ts.exact, children=ts.match(ts.ref("Tree"))))
TREES = st.recursive(
    st.fixed_dictionaries({"label": LETTERS, "children": st.just([])}),
    lambda below: st.fixed_dictionaries({"label": LETTERS, "children": st.lists(below, max_size=3)}),
    max_leaves=5,
)
LEAVES += [_leaf(TREE, TREES, integral=False), _leaf(FOREST, TREES)]

leaves = st.sampled_from(LEAVES)


# Composites


@st.composite
def shapes(draw, depth: int = 2, size: int = 3):
    """A similarity nested up to `depth`, with values."""
    if depth == 0:
        return draw(leaves)
    make = draw(st.sampled_from([leaf, product, total, maybe, either, wrapped, collection, collection]))
    return draw(make(depth, size))


def leaf(depth, size):
    return leaves


@st.composite
def fields_of(draw, depth, size):
    names = draw(st.lists(st.sampled_from(["x", "y", "info", "a b"]), min_size=1, max_size=3, unique=True))
    return {name: draw(shapes(depth - 1, size)) for name in names}


def _together(parts, node, values, **flags):
    return Shape(
        node,
        values,
        ordered=any(p.ordered for p in parts),
        **{
            "reflexive": all(p.reflexive for p in parts),
            "integral": all(p.integral for p in parts),
            **flags,
        },
    )


@st.composite
def product(draw, depth, size):
    fields = draw(fields_of(depth, size))
    node = ts.record(**{name: part.node for name, part in fields.items()})
    values = st.fixed_dictionaries({name: part.values for name, part in fields.items()})
    return _together(fields.values(), node, values)


@st.composite
def total(draw, depth, size):
    """A sum of fields, in which all but the first may be None or absent."""
    fields = draw(fields_of(depth, size))
    first, *others = fields
    node = ts.each(**{name: part.node if name == first else ts.optional(part.node) for name, part in fields.items()})
    values = st.fixed_dictionaries(
        {first: fields[first].values},
        optional={name: st.none() | fields[name].values for name in others},
    )
    return _together(fields.values(), node, values)


@st.composite
def maybe(draw, depth, size):
    inner = draw(shapes(depth - 1, size))
    return inner.around(ts.optional(inner.node), st.none() | inner.values)


@st.composite
def either(draw, depth, size):
    inner = draw(shapes(depth - 1, size))
    node = ts.cases(str=ts.text("levenshtein"), list=ts.f1(ts.match(inner.node)), float=ts.number(0.5))
    values = st.sampled_from(TEXTS) | st.lists(inner.values, max_size=2) | st.sampled_from([0, 1, 1.3])
    return inner.around(node, values, integral=False)


@st.composite
def wrapped(draw, depth, size):
    inner = draw(shapes(depth - 1, size))
    kind = draw(st.sampled_from(["weighted", "at_least", "above"]))
    if kind == "weighted":
        return inner.around(ts.weighted(inner.node, draw(st.sampled_from([0.5, 3]))), integral=False)
    keep = draw(st.booleans())
    # No sum or ratio of small numbers lies at this threshold, so rounding cannot decide.
    node = getattr(ts, kind)(inner.node, 0.4142, keep=keep)
    return inner.around(node, reflexive=False, integral=not keep or inner.integral)


@st.composite
def collection(draw, depth, size):
    inner = draw(shapes(depth - 1, size))
    values = st.lists(inner.values, max_size=size)
    kind = draw(st.sampled_from(["sum", "normalised", "normalised", "subset", "links", "best"]))
    if kind in ("subset", "links", "best"):
        node = getattr(ts, kind)(inner.node)
        if kind == "subset":
            node = ts.subset(inner.node, side=draw(st.sampled_from(["predicted", "reference"])))
        whole = kind == "subset" or inner.integral
        return inner.around(node, values, reflexive=inner.reflexive and kind == "best", integral=whole)
    matching = draw(matchings_of(inner.node))
    ordered = inner.ordered or isinstance(matching, type(ts.sequence(ts.exact)))
    if kind == "sum":
        # A bare N:N or one-sided Σ inside something else breaks Definition 1, and with it "equals itself".
        plain = getattr(matching, "constraint", "1:1") == "1:1"
        return inner.around(matching, values, ordered=ordered, reflexive=inner.reflexive and plain)
    node = draw(normalised(matching))
    # One sum for both sides can pass 1, and then a covering further out has other partners than the value itself.
    above_one = getattr(matching, "literal", False) or getattr(matching, "constraint", "1:1") == "N:N"
    return inner.around(node, values, ordered=ordered, reflexive=inner.reflexive and not above_one, integral=False)


@st.composite
def matchings_of(draw, inner):
    if draw(st.integers(0, 4)) == 0:
        return ts.sequence(inner)
    constraint = draw(st.sampled_from(["1:1", *CONSTRAINTS]))
    distinct, literal = draw(st.sampled_from([(False, False), (False, False), (True, False), (False, True)]))
    return ts.match(inner, constraint, distinct=distinct, literal=literal)


@st.composite
def normalised(draw, matching):
    one_sided = getattr(matching, "constraint", "1:1") in ("N:1", "1:N") and not matching.literal
    kinds = [ts.f1, ts.precision, ts.recall, lambda m: ts.f(m, 2.0)] + [ts.jaccard] * (not one_sided)
    return draw(st.sampled_from(kinds))(matching)


@st.composite
def metrics(draw, depth: int = 2, size: int = 3):
    """A whole metric: a similarity, often a normalised matching at the top, with values."""
    if draw(st.integers(0, 3)) == 0:
        return draw(shapes(depth + 1, size))
    inner = draw(shapes(depth, size))
    matching = draw(matchings_of(inner.node))
    ordered = inner.ordered or isinstance(matching, type(ts.sequence(ts.exact)))
    node = draw(normalised(matching))
    return inner.around(node, st.lists(inner.values, max_size=size + 1), ordered=ordered)


@st.composite
def corpora(draw, shape, max_size: int = 4):
    """Documents of both sides; predictions are often copies of what stands in the reference."""
    reference = draw(st.lists(shape.values, max_size=max_size))
    predicted = [draw(shape.values | st.just(one)) for one in reference]
    return reference, predicted


def reordered(value, draw):
    """The value with the items of every list in it shuffled, spans and fields left alone."""
    if isinstance(value, dict):
        return {name: reordered(part, draw) for name, part in value.items()}
    if isinstance(value, list):
        return draw(st.permutations([reordered(part, draw) for part in value]))
    return value

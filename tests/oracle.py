"""A plain, slow, obviously right reading of a metric: one pair of Python values at a time.

    similarity(node, x, y)        φ(x, y), x the reference and y the prediction
    self_score(node, x, side)     φ(x, x) of one side's value
    tally(metric, x, y)           num_p, den_p, num_r, den_r of one document

Matchings are tried one after the other. Nothing here is clever, and nothing is shared with the engine but the
node classes, their parameters and rapidfuzz.
"""

from __future__ import annotations

import datetime
import importlib
import itertools
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tallystick.algebra.cases import Cases, Let, Ref
from tallystick.algebra.exact import Exact
from tallystick.algebra.functions import Function, Judgements, Via
from tallystick.algebra.hierarchy import Levels, Subtypes
from tallystick.algebra.missing import Optional
from tallystick.algebra.normalise import (
    Best,
    F,
    Jaccard,
    Links,
    Normaliser,
    Precision,
    Recall,
    Sides,
    Subset,
    Supertypes,
)
from tallystick.algebra.numbers import Date, Number, Overlap
from tallystick.algebra.ordered import Sequence
from tallystick.algebra.records import Each, Record
from tallystick.algebra.sets import Match
from tallystick.algebra.text import RATIOS, Text
from tallystick.algebra.weights import Above, AtLeast, Weigh, Weighted

REFERENCE, PREDICTED = "reference", "predicted"


# The document


def tally(metric, x, y):
    """(num_p, den_p, num_r, den_r); a normaliser around the whole only says which figure is meant."""
    if isinstance(metric, Sides):
        return (*tally(metric.precision, x, y)[:2], *tally(metric.recall, x, y)[2:])
    inner = metric.inner if isinstance(metric, Normaliser) else metric
    num_r, num_p = numerators(inner, x, y)
    return num_p, self_score(inner, y, PREDICTED), num_r, self_score(inner, x, REFERENCE)


def numerators(node, x, y):
    """What the reference and the prediction see of Σ: two figures only under a one-sided constraint, "covered"."""
    if isinstance(node, Match):
        return numerators_with(node, x, y, {})
    whole = similarity(node, x, y)
    return whole, whole


# φ


def similarity(node, x, y, lets=None):
    """φ(x, y): x stands in the reference, y in the prediction."""
    lets = lets or {}

    def phi(part, a, b):
        return similarity(part, a, b, lets)

    match node:
        case Exact():
            return float(same(x, y))
        case Text():
            return text_similarity(node, x, y)
        case Number():
            both_nan = math.isnan(x) and math.isnan(y)
            return float(both_nan or math.isclose(x, y, rel_tol=node.relative, abs_tol=node.absolute))
        case Date():
            return float(abs(moment(x) - moment(y)) <= datetime.timedelta(days=node.days))
        case Overlap():
            return overlap(node, x, y)
        case Subtypes():
            if same(x, y):
                return 1.0
            child, parent = (x, y) if node.direction == "predicted_ancestor" else (y, x)
            return node.credit if parent in ancestors(node.parents, child) else 0.0
        case Levels():
            a, b = ([*v.split(node.separator)] if isinstance(v, str) else [*v] for v in (x, y))
            agree = len([*itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))])
            return 2.0 ** (agree - max(len(a), len(b))) if agree or a == b else 0.0
        case Supertypes():
            a, b = supertypes(node.parents, x), supertypes(node.parents, y)
            return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0
        case Judgements():
            return 1.0 if same(x, y) else float(dict(node.table).get((x, y), 0.0))
        case Function():
            return max(0.0, float(node.call(y, x) if node.swapped else node.call(x, y)))
        case Via():
            return phi(node.inner, node.call(x), (node.predicted or node.call)(y))
        case Weighted():
            return node.weight * phi(node.inner, x, y)
        case Weigh():
            return min(weight(node, x), weight(node, y)) * phi(node.inner, x, y)
        case Above() | AtLeast():
            return threshold(node, phi(node.inner, x, y))
        case Optional():
            return float(x is y) if x is None or y is None else phi(node.inner, x, y)
        case Record():
            return math.prod(phi(part, value(x, name), value(y, name)) for name, part in node.fields)
        case Each():
            return sum(
                phi(present(part), value(x, name), value(y, name))
                for name, part in node.fields
                if value(x, name) is not None and value(y, name) is not None
            )
        case Cases():
            (a, part), (b, _) = case_of(node, x), case_of(node, y)
            return phi(part, x, y) if a == b else 0.0
        case Let():
            return similarity(node.body, x, y, {**lets, node.to: node})
        case Ref():
            return phi(lets[node.to], x, y)
        case Match() | Sequence():
            return best_total(node, table(node, x, y, lets))
        case Normaliser():
            return normalised(node, x, y, lets)
        case Subset():
            inside, outside = (y, x) if node.side == "predicted" else (x, y)
            if not len(inside):
                return float(not len(outside))
            whole = phi(Match(node.inner), x, y)
            return float(whole > 0 and whole >= self_score(Match(node.inner), inside, node.side, lets) - 1e-9)
        case Links():
            return max(0.0, phi(Match(node.inner), x, y) - 1)
        case Best():
            if not len(x) and not len(y):
                return 1.0
            return max((weight for row in table(Match(node.inner), x, y, lets) for weight in row), default=0.0)
    raise NotImplementedError(node)


def self_score(node, x, side, lets=None):
    """φ(x, x) of a value of one side."""
    lets = lets or {}

    def own(part, a):
        return self_score(part, a, side, lets)

    match node:
        case Function() if not node.reflexive:
            return similarity(node, x, x)
        case Via():
            call = node.predicted if side == PREDICTED and node.predicted else node.call
            return own(node.inner, call(x))
        case Weighted():
            return node.weight * own(node.inner, x)
        case Weigh():
            return weight(node, x) * own(node.inner, x)
        case Above() | AtLeast():
            return threshold(node, own(node.inner, x))
        case Optional():
            return 1.0 if x is None else own(node.inner, x)
        case Record():
            return math.prod(own(part, value(x, name)) for name, part in node.fields)
        case Each():
            return sum(own(present(part), value(x, name)) for name, part in node.fields if value(x, name) is not None)
        case Cases():
            return own(case_of(node, x)[1], x)
        case Let():
            return self_score(node.body, x, side, {**lets, node.to: node})
        case Ref():
            return own(lets[node.to], x)
        case Match() | Sequence():
            if definition_1_holds(node.inner, lets) and getattr(node, "constraint", "1:1") != "N:N":
                return sum(own(node.inner, item) for item in items(node, x, side, lets))
            return best_total(node, one_sided_table(node, x, side, lets))
        case Links():
            return max(0.0, own(Match(node.inner), x) - 1)
        case Best():
            return max((own(node.inner, item) for item in items(node, x, side, lets)), default=1.0)
    return 1.0  # exact, text, numbers, hierarchies, judgements, normalisers, subset


def definition_1_holds(node, lets):
    """Whether φ(x, y) ≤ φ(x, x) and φ(x, y) ≤ φ(y, y), so that a collection's best partner is itself."""
    match node:
        case Function():
            return node.reflexive
        case Ref():
            return True  # nothing else inside spoils it
        case Match():
            return node.constraint == "1:1" and definition_1_holds(node.inner, lets)
        case Normaliser(inner=Match(constraint="N:1" | "1:N", literal=False)):
            return definition_1_holds(node.inner.inner, lets)
    return all(definition_1_holds(part, lets) for _, part in node.parts())


# Matching


def items(node, x, side=REFERENCE, lets=None):
    """A collection's items; a mapping's are its entries."""
    listed = [{"key": k, "value": v} for k, v in x.items()] if isinstance(x, Mapping) else list(x)
    if getattr(node, "distinct", False):
        views = [seen(node.inner, one, side, lets or {}) for one in listed]
        listed = [one for k, one in enumerate(listed) if not any(same(views[k], other) for other in views[:k])]
    return listed


def seen(node, x, side, lets):
    """All that φ looks at in a value: two items are one if the similarity cannot tell them apart."""

    def of(part, a):
        return seen(part, a, side, lets)

    match node:
        case Text():
            for step in node.steps:
                x = STEPS[step](x)
            return x
        case Number():
            return float(x)
        case Date():
            return moment(x).timestamp()
        case Overlap():
            return [float(end) for end in ends(node, x)]
        case Supertypes():
            return frozenset(supertypes(node.parents, x))
        case Via():
            call = node.predicted if side == PREDICTED and node.predicted else node.call
            return of(node.inner, call(x))
        case Weighted() | Above() | AtLeast() | Normaliser():
            return of(node.inner, x)
        case Weigh():
            return [of(node.inner, x), weight(node, x)]
        case Optional():
            return None if x is None else [of(node.inner, x)]
        case Record():
            return [of(part, value(x, name)) for name, part in node.fields]
        case Each():
            return [
                None if value(x, name) is None else [of(present(part), value(x, name))] for name, part in node.fields
            ]
        case Cases():
            name, part = case_of(node, x)
            return [name, of(part, x)]
        case Let():
            return seen(node.body, x, side, {**lets, node.to: node})
        case Ref():
            return of(lets[node.to], x)
        case Sequence():
            return [of(node.inner, item) for item in items(node, x, side, lets)]
        case Match() | Subset() | Links() | Best():
            return Bag([of(node.inner, item) for item in items(node, x, side, lets)])
    return x  # exact, hierarchies, judgements, functions


class Bag(list):
    """Values in no order."""


def table(node, x, y, lets=None):
    """φ of each reference item (a row) with each predicted item (a column)."""
    predicted = items(node, y, PREDICTED, lets)
    return [[similarity(node.inner, a, b, lets) for b in predicted] for a in items(node, x, REFERENCE, lets)]


def one_sided_table(node, x, side, lets):
    """The same, of one side with itself; a `via` keeps to that side's function."""
    inner = settled(node.inner, side)
    own = items(node, x, side, lets)
    return [[similarity(inner, a, b, lets) for b in own] for a in own]


def settled(node, side):
    """The node as one side sees both values."""
    if isinstance(node, Via) and node.predicted:
        node = Via(node.predicted if side == PREDICTED else node.call, node.inner)
    return node.rebuilt(lambda part: settled(part, side))


def best_total(node, weights):
    """The largest total weight of any matching that the node allows."""
    constraint = "in order" if isinstance(node, Sequence) else node.constraint
    n, m = len(weights), max(map(len, weights), default=0)
    return max(math.fsum(weights[i][j] for i, j in pairs) for pairs in matchings(n, m, constraint))


def matchings(n: int, m: int, constraint: str) -> Iterator[list[tuple[int, int]]]:
    """Every (partial) matching of n reference items with m predicted ones; constraints read prediction : reference."""
    if constraint == "N:N":  # weights are never negative: no matching beats the one that has all pairs
        yield [(i, j) for i in range(n) for j in range(m)]
    elif constraint == "N:1":  # each predicted item takes a reference item, or none
        for taken in itertools.product([None, *range(n)], repeat=m):
            yield [(i, j) for j, i in enumerate(taken) if i is not None]
    elif constraint == "1:N":
        for taken in itertools.product([None, *range(m)], repeat=n):
            yield [(i, j) for i, j in enumerate(taken) if j is not None]
    elif constraint == "1:1":
        for size in range(min(n, m) + 1):
            for rows in itertools.combinations(range(n), size):
                for columns in itertools.permutations(range(m), size):
                    yield list(zip(rows, columns, strict=True))
    else:  # both sides rise
        for size in range(min(n, m) + 1):
            for rows in itertools.combinations(range(n), size):
                for columns in itertools.combinations(range(m), size):
                    yield list(zip(rows, columns, strict=True))


# N


def normalised(node, x, y, lets):
    inner = node.inner
    if isinstance(inner, Match):
        num_r, num_p = numerators_with(inner, x, y, lets)
    else:
        num_r = num_p = similarity(inner, x, y, lets)
    den_r, den_p = self_score(inner, x, REFERENCE, lets), self_score(inner, y, PREDICTED, lets)
    if den_r == 0 or den_p == 0:
        return float(den_r == den_p)  # N(∅, ∅) = 1, N(∅, x) = 0
    precision, recall = num_p / den_p, num_r / den_r
    match node:
        case Precision():
            return precision
        case Recall():
            return recall
        case F():
            square = node.beta**2
            if num_p == num_r:
                return (1 + square) * num_p / (square * den_r + den_p)
            return (1 + square) * precision * recall / (square * precision + recall)
        case Jaccard():
            return num_p / (den_r + den_p - num_p)
    raise NotImplementedError(node)


def numerators_with(node, x, y, lets):
    """The side that may choose freely sees Σ; the other the most that can be covered if each item is taken once, the 1:1 optimum."""
    whole = similarity(node, x, y, lets)
    if node.constraint not in ("N:1", "1:N") or node.literal:
        return whole, whole
    single = similarity(replace(node, constraint="1:1"), x, y, lets)
    return (single, whole) if node.constraint == "N:1" else (whole, single)


# Values


def same(x, y):
    """Equality as a metric needs it: NaN equals NaN, True is not 1, lists and tuples by content."""
    if isinstance(x, bool) or isinstance(y, bool):
        return x is y
    if isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y):
        return True
    if isinstance(x, Bag) and isinstance(y, Bag):
        rest = list(y)
        for one in x:
            found = next((k for k, other in enumerate(rest) if same(one, other)), None)
            if found is None:
                return False
            del rest[found]
        return not rest
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    return x == y


def value(record, name):
    if isinstance(record, Mapping):
        return record.get(name)
    return record[int(name)] if isinstance(record, tuple) and name.isdigit() else getattr(record, name)


def present(node):
    return node.inner if isinstance(node, Optional) else node


def case_of(node, x):
    """The name and node of the case that a value belongs to."""
    names = {"NoneType": "None", "int": "int" if "int" in dict(node.options) else "float"}
    name = names.get(type(x).__name__, type(x).__name__)
    return name, dict(node.options)[name]


def weight(node, x):
    known = dict(node.weights)
    return known.get(value(x, node.by) if node.by else x, node.default)


def threshold(node, score):
    passes = score > node.threshold if isinstance(node, Above) else score >= node.threshold
    return (score if node.keep else 1.0) if passes else 0.0


def ancestors(parents, one):
    """All proper ancestors."""
    direct = dict(parents).get(one)
    above = () if direct is None else direct if isinstance(direct, tuple) else (direct,)
    return {*above}.union(*(ancestors(parents, parent) for parent in above))


def supertypes(parents, x):
    types = x if isinstance(x, (set, frozenset, list)) else [x]
    return {*types}.union(*(ancestors(parents, one) for one in types))


STEPS = {
    "casefold": str.casefold,
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "punctuation": lambda text: re.sub(r"[^\w\s]|_", "", text),
    "whitespace": lambda text: " ".join(text.split()),
}


def text_similarity(node, x, y):
    for step in node.steps:
        x, y = STEPS[step](x), STEPS[step](y)
    if node.ratio == "equal" or x == y:
        return float(x == y)
    module, function = RATIOS[node.ratio].split(":")
    ratio = getattr(importlib.import_module(module), function)(x, y)
    return ratio / 100 if module.endswith("fuzz") else ratio


def moment(x):
    x = datetime.datetime.fromisoformat(x) if isinstance(x, str) else x
    if not isinstance(x, datetime.datetime):
        x = datetime.datetime(x.year, x.month, x.day)
    return x if x.tzinfo else x.replace(tzinfo=datetime.timezone.utc)


def overlap(node, x, y):
    (a, b), (c, d) = ends(node, x), ends(node, y)
    if node.kind == "last":
        return float(b == d)
    if (a, b) == (c, d):
        return 1.0
    shared = min(b, d) - max(a, c)
    if shared <= 0:
        return 0.0
    return {
        "jaccard": shared / (max(b, d) - min(a, c)),
        "dice": 2 * shared / (b - a + d - c),
        "containment": shared / (d - c or 1),
        "coverage": shared / (b - a or 1),
        "any": 1.0,
    }[node.kind]


def ends(node, x):
    """Where a range starts and where it ends, the end exclusive."""
    if isinstance(x, range):
        return x.start, max(x.start, x.stop)
    start, end = x if isinstance(x, (tuple, list)) else (value(x, node.start), value(x, node.end))
    return start, end + 1 if node.inclusive else end

"""One pair, quickly: what a metric says of two Python values, without laying them out as columns.

A node that has a plain definition compiles itself (`Similarity.plain`) to functions of single values, as a reader would write them:

    see(x)         all that φ looks at in a value of one side: found once for each value, however many it meets
    weigh(a, b)    φ of what was seen in two values
    own(a)         φ(x, x)

`plan_of(metric)` puts them together, once for each metric. What the functions do not cover to the bit (values of unusual kinds, keys that
are not there, large collections) ends in `Uncovered`, and whatever they raise, the columns are asked instead: they say what is
wrong, and what the pair is worth. A node without a definition leaves its whole metric to the columns.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallystick.engine.arrays import Blocks
from tallystick.engine.assignment import heaviest
from tallystick.engine.data import Objects, Scope
from tallystick.engine.values import NO_RECORDS, Invalid, Surplus, freeze
from tallystick.errors import ValueMismatch

if TYPE_CHECKING:
    from tallystick.algebra.node import Node, Similarity
    from tallystick.algebra.surplus import Place

MOST_ITEMS = 2000
"""Longer collections are the columns' business."""
MOST_PAIRS = 1024
"""So many pairs of items are weighed one by one."""

See = Callable[[Any], Any]
Weigh = Callable[[Any, Any], float]
Own = Callable[[Any], float]


class Uncovered(Exception):
    """The plain functions do not cover a value."""


class Plain(NamedTuple):
    """A similarity as functions of single values; those by side stand in the order reference, predicted."""

    see: tuple[See, See]
    weigh: Weigh
    own: tuple[Own, Own]
    both: Callable[[Any, Any], tuple[float, float]] | None = None
    """Σ as the reference and as the prediction see it, if that is not the same."""
    equality: bool = False
    """Whether φ is 1 where what was seen is equal, else 0; then it can be hashed."""
    every: Callable[[Collection[Any]], list[Any]] | None = None
    """What is seen in many values, if there is a shorter way than one by one."""

    def numerators(self, a: Any, b: Any) -> tuple[float, float]:
        """Σ as both sides see it."""
        if self.both is not None:
            return self.both(a, b)
        weight = self.weigh(a, b)
        return weight, weight


def always_one(_: Any) -> float:
    """φ(x, x) of most similarities."""
    return 1.0


def _same(a: Any, b: Any) -> float:
    return 1.0 if a == b else 0.0


def leaf(see: See, weigh: Weigh, predicted: See | None = None) -> Plain:
    """A similarity of plain values with φ(x, x) = 1."""
    return Plain((see, predicted or see), weigh, (always_one, always_one))


def equality(see: See, every: Callable[[Collection[Any]], list[Any]] | None = None) -> Plain:
    """Equality of what is seen."""
    return Plain((see, see), _same, (always_one, always_one), equality=True, every=every)


# Plain values, with the corrections that `engine.values` makes.

NAN = ("NaN",)
AS_THEY_ARE = frozenset((str, int, bytes, type(None), datetime.date, datetime.datetime))
_CONTENT = frozenset((list, tuple, dict, set, frozenset))


def see_value(value: Any) -> Any:
    """What stands for a value: NaN equals NaN, True is not 1, lists and dicts are compared by content."""
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    if kind is float:
        return value if value == value else NAN
    if kind is bool:
        return ("bool", value)
    if kind in _CONTENT:
        return freeze(value, Scope())
    raise Uncovered


def see_values(values: Collection[Any]) -> list[Any]:
    """The same for many values."""
    return list(values) if AS_THEY_ARE.issuperset(map(type, values)) else list(map(see_value, values))


# Records and collections


class Getter:
    """The values of some fields of a record; a default (`Uncovered` itself, if there is none) for keys that a mapping lacks."""

    def __init__(self, names: Sequence[str], defaults: Sequence[Any]) -> None:
        self.names, self.defaults = names, tuple(zip(names, defaults, strict=True))
        self.readers: dict[type, Callable[[Any], Any]] = {}

    def __call__(self, value: Any) -> Sequence[Any]:
        read = self.readers.get(type(value)) or self._reader_of(value)
        try:
            return read(value)  # type: ignore[no-any-return]
        except KeyError:
            found = tuple([value.get(name, default) for name, default in self.defaults])
            if any(one is Uncovered for one in found):
                raise Uncovered from None
            return found

    def rows(self, values: Collection[Any]) -> Iterable[Sequence[Any]]:
        """The same for many records, mostly of one kind."""
        kinds = set(map(type, values))
        if len(kinds) == 1 and dict not in kinds:
            read = self.readers.get(kinds.pop())
            return map(self._reader_of(next(iter(values))) if read is None else read, values)
        return map(self, values)

    def _reader_of(self, value: Any) -> Callable[[Any], Any]:
        kind, names = type(value), self.names
        make: Callable[..., Callable[[Any], Any]]
        keys: Iterable[Any] = names
        if hasattr(kind, "__missing__"):
            raise Uncovered
        if isinstance(value, Mapping):
            make = itemgetter
        elif kind in NO_RECORDS or value is None:
            raise Uncovered
        elif isinstance(value, tuple) and not hasattr(value, "_fields"):
            make, keys = itemgetter, list(map(int, names))
        else:
            make = attrgetter
        read = make(*keys)
        self.readers[kind] = read if len(names) > 1 else lambda one: (read(one),)
        return self.readers[kind]


def items_of(mapping: bool) -> Callable[[Any], Collection[Any]]:
    """The items of a collection: of a list or set, or, if they are entries, of a mapping."""

    def items(value: Any) -> Collection[Any]:
        kind = type(value)
        if len(value) > MOST_ITEMS:
            raise Uncovered
        if mapping and kind is dict:
            return [{"key": key, "value": one} for key, one in value.items()]
        if not mapping and (kind is list or kind is tuple or kind is set or kind is frozenset):
            return value  # type: ignore[no-any-return]
        raise Uncovered

    return items


def table_of(a: Sequence[Any], b: Sequence[Any], weigh: Weigh) -> list[list[float]]:
    """φ of every pair of items."""
    if len(a) * len(b) > MOST_PAIRS:
        raise Uncovered
    return [[weigh(x, y) for y in b] for x in a]


def one_to_one(table: list[list[float]]) -> float:
    """The largest total of a 1:1 matching. Where the best partners of all rows, or of all columns, are different, that is their sum."""
    if not table or not table[0]:
        return 0.0
    total = _each_its_best(table)
    if total is None:
        total = _each_its_best(list(zip(*table, strict=True)))
    return heaviest(np.array(table)) if total is None else total


def _each_its_best(table: Sequence[Sequence[float]]) -> float | None:
    taken: set[int] = set()
    total = 0.0
    for row in table:
        best = max(row)
        if best > 0:
            place = row.index(best)
            if place in taken:
                place = next((k for k, weight in enumerate(row) if weight == best and k not in taken), -1)
                if place < 0:
                    return None
            taken.add(place)
            total += best
    return total


def in_order(weigh: Weigh, a: Sequence[Any], b: Sequence[Any]) -> float:
    """The largest total of a matching in which both sides rise."""
    if not a or not b:
        return 0.0
    best = [0.0] * (len(b) + 1)
    for row in table_of(a, b, weigh):
        diagonal = 0.0
        for k, weight in enumerate(row, 1):
            diagonal, best[k] = best[k], max(best[k], best[k - 1], diagonal + weight)
    return best[-1]


# The whole metric


class Plan:
    """A metric compiled: the tally of one document."""

    def __init__(self, parts: Sequence[Plain], known: Place | None) -> None:
        self.known = known
        (self._see, self._see_predicted), (self._own, self._own_predicted) = parts[0].see, parts[0].own
        self._numerators, self._weigh, self.two_numerators = (
            parts[0].numerators,
            parts[0].weigh,
            parts[0].both is not None,
        )
        self._recall = Plan(parts[1:], None) if len(parts) > 1 else None

    def tally(self, reference: Any, predicted: Any) -> tuple[float, float, float, float]:
        """num_p, den_p, num_r, den_r; anything that is raised is for the columns to say."""
        surplus = 0
        kind = type(predicted)
        if kind is Surplus:
            surplus, predicted = len(predicted.leaves), predicted.value
        if self.known is not None and (self.known.find(reference) or any(self.known.look(predicted))):
            raise Uncovered
        if type(predicted) is Invalid:  # what is empty in the reference counts, too
            raise Uncovered
        a, b = self._see(reference), self._see_predicted(predicted)
        den_r, den_p = self._own(a), self._own_predicted(b)
        if self.two_numerators:
            num_r, num_p = self._numerators(a, b)
        else:
            num_r = num_p = self._weigh(a, b)
        if self._recall is not None:
            _, _, num_r, den_r = self._recall.tally(reference, predicted)
        return float(num_p), float(den_p + surplus), float(num_r), float(den_r)

    def tallies(self, reference: Sequence[Any], predicted: Sequence[Any]) -> list[tuple[float, ...]] | None:
        """The tallies of some documents; None if the columns are to be asked."""
        try:
            return [self.tally(x, y) for x, y in zip(reference, predicted, strict=True)]
        except Exception:  # whatever it is, the columns say it better
            return None


def plan_of(metric: Node) -> Plan | None:
    """The plan of a metric, made once; None if one of its parts has no plain definition."""
    own = metric.__dict__
    if "_plan" not in own:
        sides = (metric,) if metric.by_side is None else metric.by_side
        parts = [None if metric.has_variables or metric.ranks else side.summed.plain() for side in sides]
        found = [part for part in parts if part is not None]
        own["_plan"] = Plan(found, getattr(metric, "known", None)) if len(found) == len(parts) else None
    return own["_plan"]  # type: ignore[no-any-return]


def value_of(metric: Node, reference: Any, predicted: Any) -> float:
    """What a metric says of one pair; without a normaliser around it, that is Σ."""
    plan = plan_of(metric)
    rows = None if plan is None else plan.tallies([reference], [predicted])
    if metric.letter == "N":
        num_p, den_p, num_r, den_r = rows[0] if rows else _tally_of_columns(metric, reference, predicted)
        return metric.figure_of(num_r, num_p, den_r, den_p)
    if rows and plan is not None and not plan.two_numerators:
        return rows[0][0]
    node = metric.summed
    found = node.pairs(*node.encode(Objects([reference]), Objects([predicted]), Scope()), Blocks.diagonal(1))
    return float(found.weight.sum())


def _tally_of_columns(metric: Node, reference: Any, predicted: Any) -> tuple[float, float, float, float]:
    """The tally of one document, laid out as columns of one row. What the metric cannot compare in a prediction is surplus, as in an evaluation."""
    from tallystick.algebra.surplus import Surpluses, accept_documents, without_unknown
    from tallystick.engine.data import as_objects

    sides = without_unknown(metric, Objects([reference]), Objects([predicted]), [0], Surpluses())
    reference, predicted = (as_objects(side)[0] for side in sides)
    try:
        return _tally_of_known(metric, reference, predicted)
    except ValueMismatch:
        accepted = accept_documents(metric, Objects([predicted]), [0], Surpluses())
        if accepted is None:
            raise
        return _tally_of_known(metric, reference, as_objects(accepted)[0])


def _tally_of_known(metric: Node, reference: Any, predicted: Any) -> tuple[float, float, float, float]:
    from tallystick.algebra.alignment import align_documents

    surplus, tallies = 0, []
    if type(predicted) is Surplus:
        surplus, predicted = len(predicted.leaves), predicted.value
    for side in (metric,) if metric.by_side is None else metric.by_side:
        node, scope = side.summed, Scope()
        r, p = node.encode(Objects([reference]), Objects([predicted]), scope)
        for message in filter(None, scope.memory.absent.values()):
            raise ValueMismatch(message)
        sums = node.numerators(r, p, Blocks.diagonal(1))
        dens = [float(node.selves(p)[0]) + surplus, float(node.selves(r)[0])]
        for _, ours, theirs in node.one_sided(align_documents(node, r, p, homes=True)):
            dens = [dens[0] + len(theirs), dens[1] + len(ours)]
        total = float(sums.predicted.sum())  # the same one for both sides, where F is to know that there is one
        other = total if sums.reference is sums.predicted else float(sums.reference.sum())
        tallies.append((total, dens[0], other, dens[1]))
    return (*tallies[0][:2], *tallies[-1][2:])


def plain_parts(nodes: Iterable[Similarity]) -> list[Plain] | None:
    """The plain definitions of several nodes; None if one has none."""
    found = [node.plain() for node in nodes]
    return [one for one in found if one is not None] if None not in found else None

"""Similarities that only look at other values: once these are encoded, all else is the inner similarity's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import repeat, starmap
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.node import (
    UNKNOWN,
    Around,
    Dense,
    Kernel,
    Node,
    Similarity,
    Table,
    in_expression,
    options_of,
    require,
    takes_collections,
)
from tallystick.algebra.plain import Plain, leaf, see_value
from tallystick.algebra.text import different_pairs
from tallystick.engine.arrays import (
    F64,
    Blocks,
    Codes,
    Column,
    Frame,
    Pairs,
    Sums,
    distinct,
    expand,
    integers,
    join,
    offsets_of,
    sort_order,
    starts_of_runs,
)
from tallystick.engine.clock import look
from tallystick.engine.data import Answers, Coded, Data, Objects, Scope, different_values
from tallystick.engine.values import Refusals, Unfit, comparable, number_values
from tallystick.errors import MetricError, TallystickError
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


class Through(Around):
    """φ of values that were changed by `_encode`, which is all that is left to write."""

    carries_variables = False

    def same_values(self) -> Sequence[Similarity]:
        return ()

    @property
    def exact_only(self) -> bool:
        return self.inner.exact_only

    @property
    def dense(self) -> bool:
        return self.inner.dense

    def refine(self, r: Any, p: Any, blocks: Blocks) -> Blocks:
        return self.inner.refine(r, p, blocks)

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return self.inner.pairs(r, p, blocks)

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        return self.inner.fill(r, p, frame)

    def _selves(self, column: Any) -> F64:
        return self.inner.selves(column)

    @property
    def two_numerators(self) -> bool:
        return self.inner.two_numerators

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        return self.inner.numerators(r, p, blocks)


# Several names for one thing: values are replaced by what they stand for, then compared.
#
# aliases({"US$": "USD", "dollar": "USD"})        "US$" equals "USD" and "dollar"
# aliases({...}, text("levenshtein"))             what is no alias is compared as text


@frozen
class Aliases(Through):
    """φ of what the values stand for; `names` maps an alias to its meaning."""

    names: Table
    inner: Similarity = exact
    name = "aliases"

    def __post_init__(self) -> None:
        meanings = dict(self.names)
        for alias, meaning in self.names:
            further = meanings.get(meaning, meaning)
            require(
                further == meaning,
                f"aliases(): {alias!r} stands for {meaning!r}, which itself stands for {further!r}; name the last one",
            )

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.inner.encode(self._meanings(reference, scope), self._meanings(predicted, scope), scope)

    def plain(self) -> Plain | None:
        inner = self.inner.plain()
        if inner is None:
            return None
        names = {(type(alias), alias): meaning for alias, meaning in self.names}

        def seeing(see: Any) -> Any:
            return lambda v: see(names.get((type(v), v), v) if isinstance(v, (str, int, float, bool)) else v)

        return inner._replace(see=(seeing(inner.see[0]), seeing(inner.see[1])), every=None)

    def _meanings(self, data: Data, scope: Scope) -> Data:
        # Only texts and numbers have aliases; what cannot be looked up stands for itself.
        names = {(type(alias), alias): meaning for alias, meaning in self.names}
        plain = (str, int, float, bool)
        rows, values = different_values(data, scope)
        meant = [names.get((type(v), v), v) if isinstance(v, plain) else v for v in values]
        return Objects(meant) if rows is None else Coded(rows, meant)


def aliases(names: Mapping[Any, Any], inner: Similarity = exact) -> Aliases:
    """Several names for one thing: {alias: meaning}.

    >>> ts.aliases({"US$": "USD", "$": "USD"})("USD", "$")
    1.0
    """
    return Aliases(Table.of(names, "aliases()"), inner)


# A user's own similarity, a table of recorded judgements, and `via`, which maps values first.
#
# A function is called once for each different pair of values that meet in a block, as f(reference, predicted),
# and never more.

PASSED_ON = (TallystickError, MemoryError)
"""Errors that are told as they are; every other one is of the user's function."""


@frozen
class Function(Dense):
    """f(reference, predicted), a float of 0 or more; `reflexive` declares f(x, x) = 1."""

    call: Callable[[Any, Any], float]
    reflexive: bool = True
    swapped: bool = False
    name = "function"

    def __post_init__(self) -> None:
        require(
            callable(self.call) and not isinstance(self.call, Node),
            f"function() needs something to call, found {self.call!r}",
        )

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        from tallystick.algebra.parse import load_named

        if isinstance(spec, str):
            return cls(load_named(spec))
        options = options_of(spec, "call", "reflexive")
        return cls(load_named(options["call"]), bool(options.get("reflexive", True)))

    def mirrored(self) -> Function:
        return Function(self.call, self.reflexive, not self.swapped)

    @property
    def regular(self) -> bool:
        return self.reflexive

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        calls = scope.memory.calls.setdefault(self, Answers())
        r, p = coded(reference, predicted, scope, calls)
        r.values.scope = scope  # type: ignore[attr-defined]
        return r, p

    def reads(self, value: Any) -> bool:
        return True

    def fill(self, r: Codes, p: Codes, frame: Frame) -> F64:
        (first, second), n, inverse = different_pairs(r, p, frame)
        scores = np.empty(n)
        starts = starts_of_runs(first).tolist()
        others: list[int] = []
        last = second[:0]
        for start, end in zip(starts, [*starts[1:], n][: len(starts)], strict=True):  # no pairs have no rows
            look()
            if not np.array_equal(second[start:end], last):  # in one document all rows have the same others
                last = second[start:end]
                others = last.tolist()
            scores[start:end] = self._row(r, int(first[start]), others)
        return np.maximum(scores, 0.0)[inverse]  # the answers stay as they were given, to be counted

    def _row(self, column: Codes, a: int, others: list[int]) -> list[float]:
        """The answers for one value and others, as they were given; only those not known are asked for."""
        values: CodedValues = column.values  # type: ignore[assignment]
        keys = values.keys
        known = values.calls.row(keys[a])
        if not known:
            weights = self._ask(values, a, others)
            values.calls.keep(keys[a], keys, others, weights)
            return weights
        asked = [b for b in others if keys[b] not in known]
        if asked:
            known.update(zip([keys[b] for b in asked], self._ask(values, a, asked), strict=True))
        return [known[keys[b]] for b in others]

    def _ask(self, values: CodedValues, a: int, others: list[int]) -> list[float]:
        x, ys = values.plain[a], list(map(values.plain.__getitem__, others))
        call, weights = self.call, list[float]()
        pairs = zip(ys, repeat(x), strict=False) if self.swapped else zip(repeat(x), ys, strict=False)
        while len(weights) < len(ys):
            try:
                weights.extend(map(float, starmap(call, pairs)))  # what came before an error stays
            except PASSED_ON:  # noqa: PERF203
                raise
            except Exception as error:
                b = others[len(weights)]
                unfit = next((one for one in (values[a], values[b]) if isinstance(one, Unfit)), None)
                if unfit is None:
                    y = ys[len(weights)]
                    raise failed(call, (y, x) if self.swapped else (x, y), error) from error
                not_taken(call, unfit, values.scope)
                weights.append(float(a == b))
        most = 1 + 1e-9 if self.reflexive else np.inf
        if not (max(weights) <= most and isfinite(sum(weights))):  # NaN is in every sum, if not in every maximum
            for y, weight in zip(ys, weights, strict=True):
                if not weight <= most:
                    self._refuse(x, y, weight)
        return weights

    def _refuse(self, x: Any, y: Any, weight: float) -> None:
        asked = f"{in_expression(self.call)}({x!r:.60}, {y!r:.60})"
        if isnan(weight):
            raise MetricError(f"{asked} gave NaN; expected a number")
        raise MetricError(f"{asked} gave {weight:g}, above φ(x, x) = 1; scale it, or say function(f, reflexive=False)")

    def _selves(self, column: Codes) -> F64:
        if self.reflexive:
            return np.ones(len(column))
        own = np.zeros(column.bound)
        for k in distinct(column.codes).tolist():
            own[k] = max(self._row(column, k, [k])[0], 0.0)
        return own[column.codes]


def failed(call: Callable[..., Any], arguments: Iterable[Any], error: Exception) -> MetricError:
    """A function of the user's that raised, as an error of ours which says what it was called with and where it stopped."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f" ({last.tb_frame.f_code.co_filename}:{last.tb_lineno})" if last is not None else ""
    given = ", ".join(f"{value!r:.60}" for value in arguments)
    return MetricError(f"{in_expression(call)}({given}) failed: {type(error).__name__}: {error}{where}")


class CodedValues(list[Any]):
    """The different values behind codes, what stands for each as a key, each as a user's function takes it, and the calls made already."""

    keys: list[Any]
    plain: list[Any]
    calls: Answers
    scope: Scope = Scope()


def not_taken(call: Callable[..., Any], value: Unfit, scope: Scope) -> None:
    """Note a value of another kind on which a user's function fails: it is wrong."""
    what = f"of another kind, which {in_expression(call)} cannot take, counted as wrong"
    scope.memory.note_spelling(what, scope.path, str(value.value))


def coded(reference: Data, predicted: Data, scope: Scope, calls: Answers | None = None) -> tuple[Codes, Codes]:
    """Both sides as codes into one list of different values."""
    found = [different_values(side, scope) for side in (reference, predicted)]
    sides = [values for _, values in found]
    kinds = set(map(type, sides[0])) | set(map(type, sides[1]))
    keys = [keys_of(side, kinds, scope) for side in sides]
    table = number_values(keys)
    values = CodedValues([None] * len(table))
    for side, key in zip(sides, keys, strict=True):
        for value, k in zip(side, key, strict=True):
            values[table[k]] = value
    values.plain = [one.value if isinstance(one, Unfit) else one for one in values]
    values.keys, values.calls = list(table), Answers() if calls is None else calls
    columns = []
    for (rows, _), key in zip(found, keys, strict=True):
        codes = integers([table[k] for k in key])
        columns.append(Codes(codes if rows is None else codes[rows], max(len(table), 1), values))
    return columns[0], columns[1]


def keys_of(values: list[Any], kinds: set[type], scope: Scope) -> list[Any]:
    """What stands for each value, the same in every batch: True is not 1, whatever else is there."""
    return comparable(values, kinds | {type(None)}, scope)


def sparse_pairs(r: Codes, p: Codes, blocks: Blocks, left: Any, right: Any, weights: Any) -> Pairs:
    """The pairs of rows whose codes stand in a relation: (left[k], right[k]) has weights[k]."""
    left, right, weights = integers(left), integers(right), np.asarray(weights, np.float64)
    order = sort_order(left, r.bound)
    left, right, weights = left[order], right[order], weights[order]
    starts = offsets_of(np.bincount(left, minlength=r.bound))
    counts = (starts[1:] - starts[:-1])[r.codes]
    entry = expand(starts[r.codes], counts)
    rows = np.repeat(np.arange(len(r)), counts)
    wanted = Blocks(blocks.reference[rows], blocks.predicted, blocks.bound).refine(right[entry], p.codes, p.bound)
    a, j = join(wanted.reference, wanted.predicted, wanted.bound)
    return Pairs(rows[a], j, weights[entry[a]]).positive()


@frozen
class Judgements(Similarity):
    """Recorded judgements: the weight of (reference, predicted); 1 for equal values, else `default`."""

    table: Table
    name = "judgements"

    def __post_init__(self) -> None:
        for key, weight in self.table:
            require(
                isinstance(key, tuple) and len(key) == 2 and isinstance(weight, (int, float)) and 0 <= weight <= 1,
                f"judgements() needs {{(reference, predicted): weight in [0, 1]}}, found {key!r}: {weight!r}",
            )

    def mirrored(self) -> Judgements:
        return Judgements(Table(((b, a), weight) for (a, b), weight in self.table))

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        return coded(reference, predicted, scope)

    def plain(self) -> Plain:
        table = {(see_value(a), see_value(b)): float(weight) for (a, b), weight in self.table}
        return leaf(see_value, lambda a, b: 1.0 if a == b else table.get((a, b), 0.0))

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        number = {key: k for k, key in enumerate(r.values.keys)}  # type: ignore[attr-defined]
        relation = {(k, k): 1.0 for k in range(len(number))}
        for pair, weight in self.table:
            a, b = (keys_of([value], {type(value)}, Scope())[0] for value in pair)
            if a in number and b in number and a != b:
                relation[number[a], number[b]] = float(weight)
        left, right = zip(*relation, strict=True)
        return sparse_pairs(r, p, blocks, left, right, list(relation.values()))


@frozen
class Via(Through):
    """φ of mapped values: φ(f(x), f(y)), or one function for each side."""

    call: Callable[[Any], Any]
    inner: Similarity
    predicted: Callable[[Any], Any] | None = None
    name = "via"
    carries_variables = True

    def __post_init__(self) -> None:
        for call in (self.call, *(() if self.predicted is None else (self.predicted,))):
            require(
                callable(call) and not isinstance(call, Node),
                f"via() needs a function to map values with, found {call!r:.60}",
            )

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        return Similarity.accept(self, value, path, refusals)

    def reads(self, value: Any) -> bool:
        return True

    @property
    def void(self) -> Any:
        return Unfit(None)

    @property
    def core(self) -> Similarity:
        return self

    @property
    def is_leaf(self) -> bool:
        # A value that is mapped and then normalised is one: the words of a text are no parts of a document.
        return self.inner.is_leaf or self.inner.letter == "N"

    @property
    def item(self) -> Similarity | None:
        return None  # the items are no longer those of the value

    def looks_at(self) -> Mapping[str, Similarity | None] | None:
        return None

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        other = self.predicted or self.call
        return self.inner.inside(
            [None if value is None else self.call(value) for value in left],
            [None if value is None else other(value) for value in right],
        )

    def kernel(self, one_depth: bool = False) -> Kernel:
        return self.inner.kernel(one_depth) if self.predicted is None else UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        raise NotImplementedError(str(self))  # nothing is known of what the function takes

    def mirrored(self) -> Via:
        inner = self.inner.mirrored()
        if self.predicted is None:
            return Via(self.call, inner)
        return Via(self.predicted, inner, self.call)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        left = _mapped(self.call, self.inner, reference, scope)
        right = _mapped(self.predicted or self.call, self.inner, predicted, scope)
        return self.inner.encode(left, right, scope)


def _mapped(call: Callable[[Any], Any], inner: Similarity, data: Data, scope: Scope) -> Data:
    """The function's value for each row, called once for each different value."""
    rows, values = different_values(data, scope)
    kinds = set(map(type, values))
    keys = comparable(values, kinds, scope)
    if not kinds <= {
        str,
        int,
        bool,
        type(None),
    }:  # 1 and 1.0, 0.0 and -0.0, a moment in two zones are not the same to a function
        keys = [
            (type(one), repr(one) if isinstance(one, (float, Decimal, datetime)) else key)
            for one, key in zip(values, keys, strict=True)
        ]
    collections = takes_collections(inner)
    different = dict(zip(keys, values, strict=True))
    answers = {key: _answer(call, value, collections, scope) for key, value in different.items()}
    mapped = [answers[key] for key in keys]
    return Objects(mapped if rows is None else [mapped[k] for k in rows.tolist()])


def _answer(call: Callable[[Any], Any], value: Any, collections: bool, scope: Scope) -> Any:
    try:
        return call(value.value if isinstance(value, Unfit) else value)
    except PASSED_ON:
        raise
    except Exception as error:
        if not isinstance(value, Unfit):
            raise failed(call, [value], error) from error
    not_taken(call, value, scope)
    return [value] if collections else value


def function(call: Callable[[Any, Any], float], *, reflexive: bool = True, swapped: bool = False) -> Function:
    """Your own similarity, called as f(reference, predicted) once for each different pair that can meet.

    >>> def near(reference, predicted):
    ...     return max(0.0, 1 - abs(reference - predicted) / 10)
    >>> ts.f1(ts.match(ts.function(near)))([1, 20], [2, 21, 90])
    0.72
    """
    return Function(call, reflexive, swapped)


def judgements(table: Mapping[tuple[Any, Any], float]) -> Judgements:
    """A table of recorded judgements: {(reference, predicted): weight}. Equal values score 1.

    >>> ts.judgements({("the mayor", "Mr Lee"): 1.0, ("the mayor", "a man"): 0.5})("the mayor", "a man")
    0.5
    """
    return Judgements(Table.of(table, "judgements()"))


def via(call: Callable[[Any], Any], inner: Similarity, predicted: Callable[[Any], Any] | None = None) -> Via:
    """Map the values first: `via(str.lower, exact)`; with `predicted`, another function for that side.

    >>> squad = ts.via(ts.words, ts.f1(ts.match(ts.exact)))
    >>> round(squad("the Eiffel Tower", "Eiffel tower, Paris"), 4)
    0.8
    """
    return Via(call, inner, predicted)

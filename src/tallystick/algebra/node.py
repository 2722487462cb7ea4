"""What every part of a metric is: a frozen value that prints as an expression, and the contract of a similarity.

A similarity φ answers four questions about whole columns, never about single values:

    encode(reference, predicted)    both sides' values as columns that it can work on
    pairs(r, p, blocks)             every pair of rows inside a block with φ > 0
    selves(column)                  φ(x, x) of each row
    refine(r, p, blocks)            if φ is nothing but equality: the blocks, split further

A new similarity is a frozen dataclass with `_encode` and `_pairs` (and `_selves`, if φ(x, x) is not 1).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks, Frame, Pairs, look_up
from tallystick.engine.data import Data, Index, Objects, Scope
from tallystick.engine.encoded import Column, Nothing, Shared
from tallystick.errors import MetricError

T = TypeVar("T", bound="Node")


class Table(tuple[tuple[Any, Any], ...]):
    """A mapping as a hashable value; it prints as `{key: value, ...}`."""

    __slots__ = ()

    @staticmethod
    def of(mapping: Mapping[Any, Any], what: str = "a table") -> Table:
        """A user's mapping; `what` is how an error calls it."""
        if isinstance(mapping, Table):
            return mapping
        require(isinstance(mapping, Mapping), f"{what} needs a mapping such as {{key: value}}, found {mapping!r:.60}")
        found = Table(mapping.items())
        try:
            hash(found)
        except TypeError:
            wrong = next(pair for pair in found if not _hashable(pair))
            raise MetricError(
                f"{what}: {wrong[0]!r}: {wrong[1]!r:.40} cannot stand in a table; use texts, numbers or tuples"
            ) from None
        return found


class Named(tuple[tuple[str, Any], ...]):
    """Parts by name, as `record(a=..., b=...)` has them; they print as keyword arguments."""

    __slots__ = ()


@dataclass(frozen=True, repr=False)
class Node:
    """A part of a metric: frozen, hashable, picklable; `str(node)` can be parsed back."""

    name: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        """Every node checks its arguments, whatever else it checks by itself."""
        super().__init_subclass__(**options)
        own = cls.__dict__.get("__post_init__")
        if own is not None:

            @wraps(own)
            def checked(self: Node) -> None:
                check_values(self)
                own(self)
                check_similarities(self)

            cls.__post_init__ = checked  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        check_values(self)
        check_similarities(self)

    def __repr__(self) -> str:
        own = type(self)
        ours = own.__module__.partition(".")[0] == "tallystick"
        return f"{self.name if ours else f'{own.__module__}:{own.__qualname__}'}({', '.join(self._arguments())})"

    def _arguments(self) -> Iterator[str]:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Named):
                yield from (f"{keyword(name)}={shown(part)}" for name, part in value)
            elif f.default is MISSING:
                yield shown(value)
            elif value != f.default:
                yield f"{f.name}={shown(value)}"

    def parts(self) -> Iterator[tuple[str, Node]]:
        """The nodes directly inside this one, with the names they have there."""
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Node):
                yield f.name, value
            elif isinstance(value, Named):
                yield from ((name, part) for name, part in value if isinstance(part, Node))

    def walk(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for _, part in self.parts():
            yield from part.walk()

    def rebuilt(self: T, change: Callable[[Node], Node]) -> T:
        """The same node with each direct part replaced by `change(part)`."""
        fresh: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Node):
                fresh[f.name] = change(value)
            elif isinstance(value, Named):
                fresh[f.name] = Named((n, change(p) if isinstance(p, Node) else p) for n, p in value)
        return replace(self, **fresh) if fresh else self

    def mirrored(self) -> Node:
        """The metric that gives the same figures when the two sides change places."""
        return self.rebuilt(lambda part: part.mirrored())


def check_values(node: Node) -> None:
    """Numbers, switches and words have to be what they are called, at once, where the metric is written."""
    for f in fields(node):
        value, kind = getattr(node, f.name), f.type if isinstance(f.type, str) else getattr(f.type, "__name__", "")
        where = f"{node.name}(): {f.name}"
        if kind == "float":
            plain = isinstance(value, (int, float)) and not isinstance(value, bool)
            require(plain and value == value, f"{where} must be a number, found {value!r:.60}")
            object.__setattr__(node, f.name, float(value))
        elif kind == "bool":
            require(isinstance(value, bool), f"{where} must be True or False, found {value!r:.60}")
        elif kind == "str":
            require(isinstance(value, str), f"{where} must be text, found {value!r:.60}")
        elif kind == "tuple[str, ...]":
            wrong = [one for one in value if not isinstance(one, str)]
            require(not wrong, f"{where} must be texts, found {wrong[:1]!r:.60}")


def check_similarities(node: Node) -> None:
    """Where a similarity belongs, nothing else may stand."""
    for f in fields(node):
        value = getattr(node, f.name)
        if f.type in ("Similarity", Similarity):
            require(
                isinstance(value, Similarity),
                f"{node.name}() needs a similarity such as exact or text(...), found {value!r:.60}",
            )


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def keyword(name: str) -> str:
    """A field's name in an expression: plain where it can be, quoted otherwise."""
    plain = name.isidentifier() or (name.isascii() and name.isdigit())
    return name if plain else json.dumps(name, ensure_ascii=False)


def shown(value: Any) -> str:
    """A parameter in an expression."""
    if isinstance(value, Table):
        return "{" + ", ".join(f"{shown(k)}: {shown(v)}" for k, v in value) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if callable(value) and not isinstance(value, Node):
        owner = getattr(value, "__objclass__", value)  # a method such as str.lower knows its class only
        name = getattr(value, "__qualname__", type(value).__qualname__)  # an object that can be called has none
        return f"{owner.__module__}:{name}"
    return repr(value)


@dataclass(frozen=True, repr=False)
class Similarity(Node):
    """φ: how alike two values are, over columns."""

    def mirrored(self) -> Similarity:
        return self.rebuilt(lambda part: part.mirrored())

    @property
    def exact_only(self) -> bool:
        """Whether φ is equality, so that it can refine blocks instead of listing pairs."""
        return False

    @property
    def dense(self) -> bool:
        """Whether most pairs of a block have φ > 0, so that it fills rectangles."""
        return False

    @property
    def regular(self) -> bool:
        """Whether φ(x, y) ≤ φ(x, x) and ≤ φ(y, y) by construction (Definition 1)."""
        return all(part.regular for _, part in self.parts() if isinstance(part, Similarity))

    # What a similarity defines.

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        raise NotImplementedError

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        raise NotImplementedError

    def _selves(self, column: Any) -> F64:
        return np.ones(len(column))

    def refine(self, r: Any, p: Any, blocks: Blocks) -> Blocks:
        raise NotImplementedError

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        """The weights of all cells of the frame (dense similarities only)."""
        raise NotImplementedError

    # What everybody calls: the same, with values that occur many times scored once.

    def encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        key = (self, id(reference), id(predicted))
        if key in scope.memo:
            columns: tuple[Column, Column] = scope.memo[key][0]
            return columns
        if isinstance(reference, Index) or isinstance(predicted, Index):
            reference, predicted = _indexed(reference), _indexed(predicted)
            r, p = self.encode(reference.values, predicted.values, scope)
            if self.exact_only:
                return r.take(reference.index), p.take(predicted.index)
            columns = Shared(reference.index, r), Shared(predicted.index, p)
        else:
            columns = self._encode(reference, predicted, scope)
        if not isinstance(reference, Objects):
            scope.memo[key] = (
                columns,
                reference,
                predicted,
            )  # the arguments too: an id is only good while they live
        return columns

    def pairs(self, r: Column, p: Column, blocks: Blocks) -> Pairs:
        if len(r) == 0 or len(p) == 0:
            return Pairs.none()
        if isinstance(r, Shared) or isinstance(p, Shared):
            i, j = blocks.pairs()
            return Pairs(i, j, self.weights_at(r, p, blocks, i, j)).positive()
        return self._pairs(r, p, blocks)

    def weights_at(self, r: Column, p: Column, blocks: Blocks, i: I64, j: I64) -> F64:
        """φ of the pairs (i, j), which share a block."""
        if isinstance(r, Shared) or isinstance(p, Shared):
            first, rows, left = _distinct(_shared(r), blocks.reference)
            second, columns, right = _distinct(_shared(p), blocks.predicted)
            inner = Blocks(left, right, blocks.bound)
            table = self.pairs(first, second, inner)
            return look_up(table, rows[i], columns[j], len(second), len(first))
        return look_up(self.pairs(r, p, blocks), i, j, len(p), len(r))

    def selves(self, column: Column) -> F64:
        if isinstance(column, Nothing):
            return np.empty(0)
        if isinstance(column, Shared):
            return self.selves(column.values)[column.index]
        return self._selves(column)

    def one_to_one_weights(self, r: Column, p: Column) -> F64:
        """φ of row k against row k, for two columns of one length."""
        out = np.zeros(len(r))
        found = self.pairs(r, p, Blocks.diagonal(len(r)))
        out[found.i] = found.weight
        return out


def _indexed(data: Data) -> Index:
    return data if isinstance(data, Index) else Index(np.arange(len(data)), data)


def _shared(column: Column) -> Shared:
    return column if isinstance(column, Shared) else Shared(np.arange(len(column)), column)


def _distinct(column: Shared, blocks: I64) -> tuple[Column, I64, I64]:
    """The different values of each block: their column, the number of each row's value, and their blocks."""
    home = np.full(len(column.values), -1, np.int64)
    home[column.index] = blocks
    if np.array_equal(home[column.index], blocks):  # each value lives in one block only
        used = home >= 0
        if used.all():
            return column.values, column.index, home
        numbers = np.cumsum(used) - 1
        return column.values.take(np.flatnonzero(used)), numbers[column.index], home[used]
    both = np.stack((blocks, column.index))
    different, rows = np.unique(both, axis=1, return_inverse=True)
    return column.values.take(different[1]), rows.reshape(-1).astype(np.int64), different[0]


def require(condition: bool, message: str) -> None:
    """A parameter that makes no sense is an error at once, where the metric is written."""
    if not condition:
        raise MetricError(message)

"""What values of a type look like, so that they can be made up and edited.

A value is held in a neutral form while it is edited: a leaf as it is, a record as a dict of its fields, a collection
as a list of items, a mapping as a list of (key, value), None as None. `build` turns it into a value of the type.

Every pool of leaves has a second half that shares nothing with the first, not even letters: values that are made of
it are totally different from others, whatever the similarity of texts.
"""

from __future__ import annotations

import collections.abc as abc
import datetime
import decimal
import enum
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, get_args

import typing_extensions

from tallystick.algebra.shape import name_of, shape_of
from tallystick.errors import DerivationError

WORDS = ("ant", "ants", "aunts", "bee", "cat", "cats", "carts", "dog")
"""Some are near each other: what a similarity of texts makes of them depends on what they are compared with."""
OTHER_WORDS = ("XQX", "VWV", "KJK", "ZYZ", "HUH", "PFP", "LML", "IRI")


class Sampler:
    """How values of a type are made, built and edited."""

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        """A value of about `size` items; `other`: one that shares nothing with those that are not."""
        raise NotImplementedError

    def build(self, value: Any) -> Any:
        """The value of the type."""
        return value

    def simpler(self, value: Any) -> Iterator[Any]:
        """Values that are one step simpler."""
        return iter(())

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        """The value with every leaf changed."""
        raise NotImplementedError

    def shuffled(self, value: Any, rng: Random) -> Any:
        """The value with its bags in another order."""
        return value


@dataclass(frozen=True)
class Leaf(Sampler):
    """A plain value out of a pool; `others` is the pool of what is totally different."""

    pool: tuple[Any, ...]
    others: tuple[Any, ...]

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        return rng.choice(self.others if other else self.pool)

    def simpler(self, value: Any) -> Iterator[Any]:
        if value in self.pool:
            yield from self.pool[: self.pool.index(value)]
        elif value in self.others:
            yield from self.others[: self.others.index(value)]

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        return change(self, value)

    @property
    def closed(self) -> bool:
        """Whether there are no other values than those of the pool (a bool, an Enum, a Literal)."""
        return set(self.others) <= set(self.pool)


@dataclass(frozen=True)
class Fields(Sampler):
    """A record."""

    make: Callable[[Mapping[str, Any]], Any]
    parts: dict[str, Sampler] = field(hash=False)

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        return {name: part.random(rng, size, other) for name, part in self.parts.items()}

    def build(self, value: Any) -> Any:
        return self.make({name: part.build(value[name]) for name, part in self.parts.items()})

    def simpler(self, value: Any) -> Iterator[Any]:
        for name, part in self.parts.items():
            for one in part.simpler(value[name]):
                yield {**value, name: one}

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        return {name: part.leaves(value[name], change) for name, part in self.parts.items()}

    def shuffled(self, value: Any, rng: Random) -> Any:
        return {name: part.shuffled(value[name], rng) for name, part in self.parts.items()}


@dataclass(frozen=True)
class Many(Sampler):
    """A collection; `ordered` if its order means something, `repeats` if it can hold an item twice."""

    item: Sampler
    make: Callable[[list[Any]], Any]
    ordered: bool = False
    repeats: bool = True
    inner_size: int = 2

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        out: dict[str, Any] = {}
        for _ in range(4 * size):
            if len(out) == size:
                break
            one = self.item.random(rng, rng.randint(0, min(size, self.inner_size)), other)
            out[repr(one)] = one
        return list(out.values())

    def build(self, value: Any) -> Any:
        return self.make([self.item.build(one) for one in value])

    def simpler(self, value: Any) -> Iterator[Any]:
        for k in range(len(value)):
            yield value[:k] + value[k + 1 :]
        for k, one in enumerate(value):
            for less in self.item.simpler(one):
                if self.repeats or less not in value:
                    yield [*value[:k], less, *value[k + 1 :]]

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        return [self.item.leaves(one, change) for one in value]

    def shuffled(self, value: Any, rng: Random) -> Any:
        out = [self.item.shuffled(one, rng) for one in value]
        return out if self.ordered else rng.sample(out, len(out))


@dataclass(frozen=True)
class Keyed(Many):
    """A mapping, as a collection of (key, value); no key stands twice."""

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        found = super().random(rng, size, other)
        return list({repr(one["key"]): one for one in found}.values())

    def simpler(self, value: Any) -> Iterator[Any]:
        return (one for one in super().simpler(value) if len({repr(entry["key"]) for entry in one}) == len(one))


@dataclass(frozen=True)
class Maybe(Sampler):
    """A value that may be None."""

    inner: Sampler

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        return None if rng.random() < 0.2 else self.inner.random(rng, size, other)

    def build(self, value: Any) -> Any:
        return None if value is None else self.inner.build(value)

    def simpler(self, value: Any) -> Iterator[Any]:
        if value is not None:
            yield None
            yield from self.inner.simpler(value)

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        return None if value is None else self.inner.leaves(value, change)

    def shuffled(self, value: Any, rng: Random) -> Any:
        return None if value is None else self.inner.shuffled(value, rng)


@dataclass(frozen=True)
class Choice(Sampler):
    """A union: a value is held as (number of its case, value)."""

    options: tuple[Sampler, ...]

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        case = rng.randrange(len(self.options))
        return case, self.options[case].random(rng, size, other)

    def build(self, value: Any) -> Any:
        return self.options[value[0]].build(value[1])

    def simpler(self, value: Any) -> Iterator[Any]:
        yield from ((value[0], one) for one in self.options[value[0]].simpler(value[1]))

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        return value[0], self.options[value[0]].leaves(value[1], change)

    def shuffled(self, value: Any, rng: Random) -> Any:
        return value[0], self.options[value[0]].shuffled(value[1], rng)


@dataclass(frozen=True)
class Again(Sampler):
    """A type that contains itself: empty collections and None end it."""

    find: Callable[[], Sampler]
    depth: int

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        return self.find().random(rng, max(0, min(size, 2) - 1), other)

    def build(self, value: Any) -> Any:
        return self.find().build(value)

    def simpler(self, value: Any) -> Iterator[Any]:
        return self.find().simpler(value)

    def leaves(self, value: Any, change: Callable[[Leaf, Any], Any]) -> Any:
        return self.find().leaves(value, change)

    def shuffled(self, value: Any, rng: Random) -> Any:
        return self.find().shuffled(value, rng)


def _leaf(type_: Any) -> Leaf | None:
    pools: dict[Any, Callable[[int, int], Any]] = {
        int: lambda k, far: k + 1000 * far,
        float: lambda k, far: k / 2 + 1000.0 * far,
        str: lambda k, far: (OTHER_WORDS if far else WORDS)[k],
        bytes: lambda k, far: (OTHER_WORDS if far else WORDS)[k].encode(),
        decimal.Decimal: lambda k, far: decimal.Decimal(k + 1000 * far),
        range: lambda k, far: range(k + 1000 * far, 2 * k + 2 + 1000 * far),
        datetime.datetime: lambda k, far: datetime.datetime(1924 + 100 * far, 1, 1 + k),
        datetime.date: lambda k, far: datetime.date(1924 + 100 * far, 1, 1 + k),
    }
    if type_ is bool:
        return _closed((False, True))
    if type_ in pools:
        near, far = (tuple(pools[type_](k, half) for k in range(len(WORDS))) for half in (0, 1))
        return Leaf(near, far)
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        return _closed(tuple(type_))
    return None


def _closed(pool: tuple[Any, ...]) -> Leaf:
    """Few values and no others: the other half is the pool turned round."""
    return Leaf(pool, tuple(reversed(pool)))


def sampler_of(type_: Any, path: str = "", known: dict[Any, list[Sampler]] | None = None) -> Sampler:
    """How values of a type are made up; a type for which none can be is an error that names the path."""
    known = {} if known is None else known
    shape = shape_of(type_)

    def below(name: str, where: str) -> Sampler:
        return sampler_of(shape.parts[name], where, known)

    if shape.kind == "leaf":
        leaf = _closed(get_args(shape.type)) if shape.origin is Literal else _leaf(shape.type)
        if leaf is not None:
            return leaf
    if shape.kind == "union":
        cases = [below(name, path) for name in shape.parts]
        whole: Sampler = cases[0] if len(cases) == 1 else Choice(tuple(cases))
        return Maybe(whole) if shape.optional else whole
    if shape.kind == "items" and shape.parts:
        kinds = {set: set, abc.Set: frozenset, abc.MutableSet: set, frozenset: frozenset, tuple: tuple}
        return Many(below("[*]", f"{path}[*]"), kinds.get(shape.origin, list), shape.in_order, shape.repeats)
    if shape.kind == "map" and shape.parts:
        entry = Fields(dict, {name: below(name, path) for name in shape.parts})
        return Keyed(entry, lambda items: {one["key"]: one["value"] for one in items}, repeats=False)
    if shape.kind == "record":
        if shape.type in known:
            return Again(lambda: known[shape.type][0], 0)
        known[shape.type] = []
        parts = {name: below(name, f"{path}.{name}" if path else name) for name in shape.parts}
        record = Fields(_maker(shape.origin), parts)
        known[shape.type].append(record)
        return record
    raise DerivationError(f"at {path or 'the top'}: no values can be made up for {name_of(shape.type)}")


def _maker(origin: Any) -> Callable[[Mapping[str, Any]], Any]:
    if origin is tuple:
        return lambda fields: tuple(fields.values())
    if typing_extensions.is_typeddict(origin) or typing.is_typeddict(origin):
        return dict
    return lambda fields: origin(**fields)

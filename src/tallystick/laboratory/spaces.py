"""Spaces: where structures come from, and which edits make sense there.

The desiderata of section 3.3 of "Evaluation for Partial Event Coreference" speak of correct pieces that are added to a
response. What a piece is depends on the task: an item of a collection, a coreference link, a link of a hierarchy. A
space knows it, and lays out the walks of Figure 4:

    (a)  from nothing right to the reference, one correct piece at a time
    (b)  from the reference to something spoiled, one wrong piece at a time

Both have an order that is stated, since "one by one" alone does not fix it.
"""

from __future__ import annotations

import collections.abc as abc
import datetime
import decimal
import enum
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from random import Random
from typing import Any, Literal, Protocol, get_args

import typing_extensions

from tallystick.algebra.derive import name_of, shape_of
from tallystick.errors import DerivationError
from tallystick.frozen import frozen


@frozen
class Walk:
    """Responses one edit apart; `rising` if each edit makes them better."""

    name: str
    order: str
    responses: Sequence[Any]
    rising: bool


class Space(Protocol):
    """What the laboratory needs to know of a kind of structures. Values are in a neutral form until `build`."""

    def random(self, rng: Random, size: int) -> Any:
        """A structure of about `size` pieces."""
        ...

    def build(self, value: Any) -> Any:
        """What the metric is given."""
        ...

    def related(self, value: Any, rng: Random) -> Any:
        """A response to this reference: partly right."""
        ...

    def simpler(self, value: Any) -> Iterator[Any]:
        """Structures that are one step simpler."""
        ...

    def different(self, value: Any, rng: Random) -> list[tuple[str, Any]]:
        """Structures that have no piece in common with this one, and in what way."""
        ...

    def shuffled(self, value: Any, rng: Random) -> Any:
        """The same structure, written in another order."""
        ...

    def renamed(self, values: Sequence[Any], rng: Random) -> list[Any]:
        """Several structures with all names exchanged in one way."""
        ...

    def repeated(self, value: Any, rng: Random) -> Any:
        """The structure with one piece twice; None where there is no such thing."""
        ...

    def empty(self) -> Any:
        """The structure without any piece; None if there is none."""
        ...

    def walks(self, value: Any, rng: Random) -> list[Walk]:
        """The walks of Figure 4 for this reference."""
        ...

    def same(self, value: Any, other: Any) -> bool:
        """Whether two structures mean the same."""
        ...


@frozen
class TypedSpace:
    """All values of a type."""

    shape: Sampler

    @staticmethod
    def of(type_: Any) -> TypedSpace:
        return TypedSpace(sampler_of(type_))

    def random(self, rng: Random, size: int) -> Any:
        return self.shape.random(rng, size)

    def build(self, value: Any) -> Any:
        return self.shape.build(value)

    def related(self, value: Any, rng: Random) -> Any:
        if rng.random() < 0.4:
            return self.shape.random(rng, rng.randint(0, 3))
        for _ in range(rng.randint(0, 3)):
            simpler = list(self.shape.simpler(value))
            if not simpler:
                break
            value = rng.choice(simpler)
        for path, many in list(_collections(self.shape, value)):
            if many.ordered and rng.random() < 0.3:
                value = _set(value, path, _get(value, path)[::-1])
        places = [path for path, many in _collections(self.shape, value) if many.repeats and _get(value, path)]
        if places and rng.random() < 0.3:  # an item, or what is left of it, once more
            path = rng.choice(places)
            items = _get(value, path)
            value = _set(value, path, [*items, rng.choice(items)])
            if rng.random() < 0.5:
                value = (list(self.shape.simpler(value)) or [value])[-1]
        return value

    def simpler(self, value: Any) -> Iterator[Any]:
        return self.shape.simpler(value)

    def different(self, value: Any, rng: Random) -> list[tuple[str, Any]]:
        closed: list[bool] = []

        def change(leaf: Leaf, one: Any) -> Any:
            closed.append(leaf.closed)
            place = leaf.pool.index(one) if one in leaf.pool else leaf.others.index(one)
            return leaf.others[place % len(leaf.others)]

        out = self.shape.leaves(value, change)
        return [("no value in common", out)] if closed and not all(closed) else []

    def shuffled(self, value: Any, rng: Random) -> Any:
        return self.shape.shuffled(value, rng)

    def renamed(self, values: Sequence[Any], rng: Random) -> list[Any]:
        moved: dict[tuple[Any, ...], dict[Any, Any]] = {}

        def change(leaf: Leaf, one: Any) -> Any:
            if leaf.closed or isinstance(one, (float, bool, range)) or one not in leaf.pool:
                return one
            table = moved.setdefault(
                leaf.pool, dict(zip(leaf.pool, rng.sample(leaf.pool, len(leaf.pool)), strict=True))
            )
            return table[one]

        return [self.shape.leaves(value, change) for value in values]

    def repeated(self, value: Any, rng: Random) -> Any:
        for path, many in _collections(self.shape, value):
            items = _get(value, path)
            if many.repeats and items:
                return _set(value, path, [*items, rng.choice(items)])
        return None

    def empty(self) -> Any:
        places = list(_collections(self.shape, self.shape.random(Random(0), 1)))
        if not places:
            return None
        out = self.shape.random(Random(0), 1)
        for path, _ in places:
            out = _set(out, path, [])
        return out

    def walks(self, value: Any, rng: Random) -> list[Walk]:
        pieces = list(_pieces(self.shape, value))
        if not pieces:
            return []
        start = value
        for path, many in pieces:
            start = _set(start, path, [] if many is not None else self._wrong(value, path))
        rising = [start]
        for path, many in pieces:
            items = _get(value, path)
            for k in range(len(items) if many is not None else 1):
                rising.append(_set(rising[-1], path, items[: k + 1] if many is not None else items))
        falling = [value]
        for path, many in pieces:
            if many is None:
                falling.append(_set(falling[-1], path, self._wrong(value, path)))
                continue
            items = _get(value, path)
            wrong = [one for one in many.random(rng, len(items), True) if one not in items]
            for k in range(len(wrong)):
                falling.append(_set(falling[-1], path, [*items, *wrong[: k + 1]]))
        order = "items in the order of the reference; a field that is no collection from wrong to right"
        return [
            Walk("(a) correct pieces added", order, rising, True),
            Walk(
                "(b) wrong pieces added", "wrong items appended one by one; a field from right to wrong", falling, False
            ),
        ]

    def _wrong(self, value: Any, path: tuple[str, ...]) -> Any:
        changed = self.different(value, Random(0))
        return _get(changed[0][1] if changed else value, path)

    def same(self, value: Any, other: Any) -> bool:
        return bool(_canonical(self.shape, value) == _canonical(self.shape, other))


def _canonical(shape: Sampler, value: Any) -> Any:
    """A form in which values that differ only in the order of a bag are equal."""
    if isinstance(shape, Maybe):
        return None if value is None else ("some", _canonical(shape.inner, value))
    if isinstance(shape, Again):
        return _canonical(shape.find(), value)
    if isinstance(shape, Fields):
        return tuple(_canonical(part, value[name]) for name, part in shape.parts.items())
    if isinstance(shape, Many):
        items = [_canonical(shape.item, one) for one in value]
        if shape.ordered:
            return tuple(items)
        return tuple(sorted(items if shape.repeats else dict.fromkeys(items), key=repr))
    return repr(value)


def _collections(shape: Sampler, value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Many]]:
    """The collections that are there without going into another one."""
    if isinstance(shape, Maybe):
        if value is not None:
            yield from _collections(shape.inner, value, path)
    elif isinstance(shape, Many):
        yield path, shape
    elif isinstance(shape, Fields):
        for name, part in shape.parts.items():
            yield from _collections(part, value[name], (*path, name))


def _pieces(shape: Sampler, value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Many | None]]:
    """The collections, and the fields that are none, of a record at the top."""
    if isinstance(shape, Maybe):
        if value is not None:
            yield from _pieces(shape.inner, value, path)
    elif isinstance(shape, Many):
        yield path, shape
    elif isinstance(shape, Fields):
        for name, part in shape.parts.items():
            found = list(_pieces(part, value[name], (*path, name)))
            yield from found
            open_leaf = isinstance(part, Leaf) and not part.closed
            if not found and open_leaf:
                yield (*path, name), None


def _get(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def _set(value: Any, path: tuple[str, ...], fresh: Any) -> Any:
    if not path:
        return fresh
    return {**value, path[0]: _set(value[path[0]], path[1:], fresh)}


# What values of a type look like, so that they can be made up and edited.
#
# A value is held in a neutral form while it is edited: a leaf as it is, a record as a dict of its fields, a collection
# as a list of items, a mapping as a list of (key, value), None as None. `build` turns it into a value of the type.
#
# Every pool of leaves has a second half that shares nothing with the first, not even letters: values that are made of
# it are totally different from others, whatever the similarity of texts.

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


@frozen
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


@frozen
class Fixed(Leaf):
    """A leaf whose values mean something by themselves, so that they are not renamed: a role that a metric looks at, a text with an article."""

    @property
    def closed(self) -> bool:
        return True


@frozen
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


@frozen
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


@frozen
class Keyed(Many):
    """A mapping, as a collection of (key, value); no key stands twice."""

    def random(self, rng: Random, size: int, other: bool = False) -> Any:
        found = super().random(rng, size, other)
        return list({repr(one["key"]): one for one in found}.values())

    def simpler(self, value: Any) -> Iterator[Any]:
        return (one for one in super().simpler(value) if len({repr(entry["key"]) for entry in one}) == len(one))


@frozen
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


@frozen
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


@frozen
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

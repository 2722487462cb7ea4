"""Spaces: where structures come from, and which edits make sense there.

The desiderata of section 3.3 of "Evaluation for Partial Event Coreference" speak of correct pieces that are added to a
response. What a piece is depends on the task: an item of a collection, a coreference link, a link of a hierarchy. A
space knows it, and lays out the walks of Figure 4:

    (a)  from nothing right to the reference, one correct piece at a time
    (b)  from the reference to something spoiled, one wrong piece at a time

Both have an order that is stated, since "one by one" alone does not fix it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from tallystick.laboratory.shapes import Again, Fields, Leaf, Many, Maybe, Sampler, sampler_of


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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

"""Unions, case by case, and types that contain themselves.

    cases(str=exact, Mention=record(...))         values of different cases score 0
    let(Tree, record(label=exact, children=f1(match(Tree))))

A recursive metric is unrolled while there are values to encode: one level for each level of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.node import Change, Kernel, Named, Node, Similarity, require
from tallystick.algebra.plain import Plain, plain_parts
from tallystick.engine.arrays import F64, I64, Alternatives, Blocks, Column, Nothing, Pairs, Sums
from tallystick.engine.data import Data, Objects, Scope, leaf_values
from tallystick.engine.values import Refusals, Unfit
from tallystick.errors import MetricError, ValueMismatch
from tallystick.frozen import frozen

_ALSO = {"int": "float", "Decimal": "float", "NoneType": "None"}
"""Classes whose values also belong to the case of another one."""


@frozen
class Cases(Similarity):
    """φ of the case that both values belong to; a case is named after its type."""

    options: Named
    name = "cases"
    says = "case by case"
    carries_variables = True

    def same_values(self) -> Sequence[Similarity]:
        return [part for _, part in self.options]

    def __post_init__(self) -> None:
        require(len(self.options) > 0, "cases() needs at least one case: cases(str=exact)")
        for name, part in self.options:
            require(
                isinstance(part, Similarity), f"cases(): {name} needs a similarity such as exact, found {part!r:.60}"
            )

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Alternatives, Alternatives]:
        sides = [list(leaf_values(side, scope)) for side in (reference, predicted)]
        known: dict[type, int] = {}
        case = [np.array([self._case(value, known, scope) for value in side], np.int64) for side in sides]
        columns: list[tuple[Column, Column]] = []
        for number, (name, part) in enumerate(self.options):
            chosen = [
                Objects([side[k] for k in np.flatnonzero(of == number).tolist()])
                for side, of in zip(sides, case, strict=True)
            ]
            columns.append(part.encode(*chosen, scope.at(f"{scope.path}<{name}>")))
        r, p = (
            Alternatives(of, _place(of, len(self.options)), tuple(pair[k] for pair in columns))
            for k, of in enumerate(case)
        )
        return r, p

    def _case(self, value: Any, known: dict[type, int], scope: Scope) -> int:
        """Which case a value belongs to: by the name of its class, a mapping also by its keys."""
        kind = type(value)
        if kind in known:
            return known[kind]
        names = [name for name, _ in self.options]
        for base in kind.__mro__:
            for name in (base.__name__, _ALSO.get(base.__name__, "")):
                if name in names:
                    number = names.index(name)
                    if name == "int" and ("float", self.options[number][1]) in self.options:
                        number = names.index("float")  # numbers are one case, however they are written
                    known[kind] = number
                    return number
        if isinstance(value, Mapping):
            fits = self._by_keys(value)
            if len(fits) == 1:
                return fits[0]
        if isinstance(value, Unfit):
            leaves = [k for k, (_, part) in enumerate(self.options) if not any(part.parts())]
            if leaves:
                return leaves[0]
        raise ValueMismatch(f"at {scope}: expected one of {', '.join(names)}, found {kind.__name__} {value!r:.60}")

    def plain(self) -> Plain | None:
        parts, scope = plain_parts(part for _, part in self.options), Scope()
        known: dict[type, int] = {}
        if parts is None:
            return None

        def seeing(side: int) -> Any:
            def see(value: Any) -> tuple[int, Any]:
                case = self._case(value, known, scope)
                return case, parts[case].see[side](value)

            return see

        def weigh(a: Any, b: Any) -> float:
            return parts[a[0]].weigh(a[1], b[1]) if a[0] == b[0] else 0.0

        def numerators(a: Any, b: Any) -> tuple[float, float]:
            return parts[a[0]].numerators(a[1], b[1]) if a[0] == b[0] else (0.0, 0.0)

        owns = (lambda a: parts[a[0]].own[0](a[1]), lambda b: parts[b[0]].own[1](b[1]))
        return Plain((seeing(0), seeing(1)), weigh, owns, numerators if self.two_numerators else None)

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        try:
            case = self._case(value, {}, Scope(path))
        except ValueMismatch:
            return refusals.refuse(value, path)
        return self.options[case][1].accept(value, path, refusals)

    @property
    def void(self) -> Any:
        return self.options[0][1].void

    def _by_keys(self, value: Mapping[str, Any]) -> list[int]:
        """The cases whose fields are the keys of a mapping; if there is none, those that share most of them. A mapping without keys
        fits those whose fields may all be missing."""
        if not value:
            fields = {k: part.looks_at() for k, (_, part) in enumerate(self.options)}
            return [
                k for k, of in fields.items() if of and all(one is not None and one.may_miss for one in of.values())
            ]
        shared = {
            k: (len(names ^ set(value)) == 0, len(names & set(value)), -len(names - set(value)))
            for k, (_, part) in enumerate(self.options)
            for names in (set(part.looks_at() or ()),)
            if names & set(value)
        }
        return [k for k, rank in shared.items() if rank == max(shared.values())]

    def _pairs(self, r: Alternatives, p: Alternatives, blocks: Blocks) -> Pairs:
        found = []
        for number, (_, part) in enumerate(self.options):
            rows, columns = r.rows(number), p.rows(number)
            inner = part.pairs(r.columns[number], p.columns[number], blocks.at(rows, columns))
            found.append(inner.renumber(rows, columns))
        return Pairs.joined(found)

    def _selves(self, column: Alternatives) -> F64:
        out = np.empty(len(column))
        for number, (_, part) in enumerate(self.options):
            out[column.rows(number)] = part.selves(column.columns[number])
        return out

    @property
    def counts_empty(self) -> bool:
        return any(part.counts_empty for _, part in self.options)

    @property
    def is_leaf(self) -> bool:
        return False

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        r, p = here.reference, here.predicted
        assert isinstance(r, Alternatives)
        assert isinstance(p, Alternatives)
        for k, (name, part) in enumerate(self.options):
            both = (r.case[here.i] == k) & (p.case[here.j] == k)
            i, j = r.position[here.i[both]], p.position[here.j[both]]
            level = here.at(part, r.columns[k], p.columns[k])
            homes = here.homes and (here.homes[0][r.rows(k)], here.homes[1][p.rows(k)])
            yield replace(level, path=f"{here.path}<{name}>", i=i, j=j, homes=homes)

    @property
    def two_numerators(self) -> bool:
        return any(part.two_numerators for _, part in self.options)

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        found = []
        for k, (_, part) in enumerate(self.options):
            rows, columns = r.rows(k), p.rows(k)
            inner = part.numerators(r.columns[k], p.columns[k], blocks.at(rows, columns))
            found.append(inner.renumber(rows, columns))
        return Sums.joined(found)

    def kernel(self, one_depth: bool = False) -> Kernel:
        parts = [part.kernel(one_depth) for _, part in self.options]
        every = {name: all(getattr(part, name) for part in parts) for name in ("kernel", "strong", "indicator")}
        return Kernel.joined(parts).because("cases apart", **every)

    def _change_variables(self, column: Alternatives, owners: I64, change: Change) -> Alternatives:
        columns = (
            part.change_variables(column.columns[k], owners[column.rows(k)], change)
            for k, (_, part) in enumerate(self.options)
        )
        return Alternatives(column.case, column.position, tuple(columns))


def _place(case: Any, count: int) -> Any:
    place = np.empty(len(case), np.int64)
    for number in range(count):
        here = np.flatnonzero(case == number)
        place[here] = np.arange(len(here))
    return place


@frozen
class Ref(Similarity):
    """The enclosing `let` of that name."""

    to: str
    name = "ref"

    def __repr__(self) -> str:
        return self.to

    @classmethod
    def chosen_by_name(cls) -> bool:
        return False

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        raise MetricError(f"{self.to} is outside let({self.to}, ...)")


@frozen
class Let(Similarity):
    """A similarity that contains itself, under a name."""

    to: str
    body: Similarity
    name = "let"

    def __post_init__(self) -> None:
        if isinstance(self.body, Similarity) and Ref(self.to) in self.body.at_once():
            raise MetricError(f"{self!r}: {self.to} is inside {self.to} without a field or a list between them")

    def __repr__(self) -> str:
        return f"let({self.to}, {self.body!r})"

    def same_values(self) -> Sequence[Similarity]:
        return (self.body,)

    @property
    def unrolled(self) -> Similarity:
        """The body, with each mention of its own name replaced by the whole."""

        def open_up(node: Node) -> Node:
            if isinstance(node, Ref) and node.to == self.to:
                return self
            if isinstance(node, Let) and node.to == self.to:
                return node
            return node.rebuilt(open_up)

        body = open_up(self.body)
        assert isinstance(body, Similarity)
        return body

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        if len(reference) == 0 and len(predicted) == 0:
            return Nothing(), Nothing()
        try:
            return self.unrolled.encode(reference, predicted, scope)
        except RecursionError:
            raise ValueMismatch(f"at {scope.path[:60]}...: nested too deeply for Python's recursion limit") from None

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return self.unrolled.pairs(r, p, blocks)

    def _selves(self, column: Any) -> F64:
        return self.unrolled.selves(column)

    def plain(self) -> Plain | None:
        own = self.__dict__
        if "_opened" in own:  # inside of itself: what is being made will be there by the time that it is asked
            made: list[Plain] = own["_opened"]
            return Plain(
                (lambda x: made[0].see[0](x), lambda y: made[0].see[1](y)),
                lambda a, b: made[0].weigh(a, b),
                (lambda a: made[0].own[0](a), lambda b: made[0].own[1](b)),
                (lambda a, b: made[0].numerators(a, b)) if self.two_numerators else None,
            )
        made = own["_opened"] = []
        try:
            found = self.unrolled.plain()
        finally:
            del own["_opened"]
        if found is not None:
            made.append(found)
        return found

    @property
    def two_numerators(self) -> bool:
        return self.body.two_numerators

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        return self.unrolled.numerators(r, p, blocks)

    @property
    def is_leaf(self) -> bool:
        return False

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        if len(here.reference) or len(here.predicted):  # else the recursion ends
            yield from here.inside(self.unrolled).below()

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        return self.unrolled.accept(value, path, refusals)

    @property
    def void(self) -> Any:
        return self.unrolled.void

    def one_sided(self, here: Aligned) -> Iterator[tuple[str, I64, I64]]:
        some = len(here.reference) or len(here.predicted)
        return self.unrolled.one_sided(here.inside(self.unrolled)) if some else iter(())

    @property
    def core(self) -> Similarity:
        return self.unrolled.core

    @property
    def item(self) -> Similarity | None:
        return self.unrolled.item

    def looks_at(self) -> Mapping[str, Similarity | None] | None:
        return self.unrolled.looks_at()

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        return self.unrolled.inside(left, right)


def cases(**options: Similarity) -> Cases:
    """A union, case by case; each case is named after its type: `cases(str=exact, Mention=record(...))`.

    >>> either = ts.cases(str=ts.text("equal", "casefold"), int=ts.number(absolute=1))
    >>> either("Oslo", "OSLO"), either(3, 4), either(3, "3")
    (1.0, 1.0, 0.0)
    """
    return Cases(Named(options.items()))


def let(name: str | Ref, body: Similarity) -> Let:
    """A similarity that contains itself: `let("Tree", record(children=f1(match(ref("Tree")))))`.

    >>> tree = ts.let("Tree", ts.record(label=ts.exact, children=ts.f1(ts.match(ts.ref("Tree")))))
    >>> tree({"label": "S", "children": []}, {"label": "S", "children": []})
    1.0
    """
    called = name.to if isinstance(name, Ref) else name
    require(isinstance(called, str) and called.isidentifier(), f"let() needs a name such as Tree, found {called!r:.60}")
    return Let(called, body)


def ref(name: str) -> Ref:
    """The enclosing `let` of that name.

    >>> ts.let("Tree", ts.record(label=ts.exact, children=ts.f1(ts.match(ts.ref("Tree")))))
    let(Tree, record(label=exact, children=f1(match(Tree, 1:1))))
    """
    require(isinstance(name, str) and name.isidentifier(), f"ref() needs a name such as Tree, found {name!r:.60}")
    return Ref(name)

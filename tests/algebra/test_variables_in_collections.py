"""Objects with collections of variables inside (eq. 36): steps of a workflow, calls that use results, against all maps tried by hand."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import pytest

import tallystick as ts
from tallystick.errors import MetricError
from tallystick.structures import Tree, Var


@dataclass(frozen=True)
class Step:
    id: Var
    op: str
    needs: list[Var]


@dataclass(frozen=True)
class Call:
    result: Var
    args: dict[str, Var | str]


@dataclass(frozen=True)
class Path:
    id: Var
    to: tuple[Var, ...]


@dataclass(frozen=True)
class Shape:
    id: Var
    form: Tree[Var]


@dataclass(frozen=True)
class Bare:
    members: list[Var]


def steps(rng: random.Random) -> list[Any]:
    names = [Var(name) for name in "abc"]
    return [Step(one, rng.choice("lc"), rng.sample(names, rng.randint(0, 2))) for one in names[: rng.randint(1, 3)]]


def calls(rng: random.Random) -> list[Any]:
    names = [Var(name) for name in "abc"]
    values = [*names, "x", "y"]
    return [Call(one, {key: rng.choice(values) for key in rng.sample("pqr", rng.randint(0, 3))}) for one in names[:2]]


def paths(rng: random.Random) -> list[Any]:
    names = [Var(name) for name in "abcd"]
    return [Path(one, tuple(rng.choices(names, k=rng.randint(0, 3)))) for one in names[: rng.randint(1, 2)]]


def shapes(rng: random.Random) -> list[Any]:
    names = [Var(name) for name in "abc"]
    return [Shape(one, Tree(rng.choice(names), (Tree(rng.choice(names)),) * rng.randint(0, 2))) for one in names[:2]]


def groups(rng: random.Random) -> list[Any]:
    names = [Var(name) for name in "abcd"]
    return [Bare(rng.sample(names, rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]


def variables(value: Any) -> set[Var]:
    if isinstance(value, Var):
        return {value}
    if is_dataclass(value):
        return set().union(*(variables(getattr(value, one.name)) for one in fields(value)))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return set().union(*map(variables, parts))


def renamed(value: Any, names: dict[Var, str]) -> Any:
    """The same value with texts in the place of variables: then an ordinary matching compares them."""
    if isinstance(value, Var):
        return names[value]
    if is_dataclass(value):
        return replace(value, **{one.name: renamed(getattr(value, one.name), names) for one in fields(value)})
    if isinstance(value, dict):
        return {key: renamed(one, names) for key, one in value.items()}
    return type(value)(renamed(one, names) for one in value) if isinstance(value, (list, tuple)) else value


def maps(left: set[Var], right: set[Var]) -> Iterator[dict[Var, Var]]:
    ours, theirs = sorted(left, key=str), sorted(right, key=str)
    for images in set(itertools.permutations([*theirs, *[None] * len(ours)], len(ours))):
        yield {b: a for a, b in zip(ours, images, strict=True) if b is not None}


def by_all_maps(metric: str, reference: Any, predicted: Any) -> float:
    plain = ts.parse(
        metric.replace("latent(", "match(")
        .replace("cases(Var=var, str=exact)", "exact")
        .replace("=var", "=exact")
        .replace("(var", "(exact")
    )
    ours = renamed(reference, {one: f"var {one.name}" for one in variables(reference)})
    found = []
    for one in maps(variables(reference), variables(predicted)):
        names = {b: f"var {one[b].name}" if b in one else f"other {b.name}" for b in variables(predicted)}
        found.append(ts.evaluate(plain, [ours], [renamed(predicted, names)]).tally["num_p"])
    return max(found)


@pytest.mark.parametrize("credit", ["all", "each"])
@pytest.mark.parametrize(
    ("type_", "make"),
    [(Step, steps), (Call, calls), (Path, paths), (Shape, shapes), (Bare, groups)],
    ids=lambda one: one.__name__,
)
def test_the_best_of_all_maps(type_: Any, make: Any, credit: Any) -> None:
    rng = random.Random(36)
    metric = ts.derive(list[type_], credit=credit)
    for _ in range(12):
        reference, predicted = make(rng), make(rng)
        found = ts.evaluate(metric, [reference], [predicted])
        assert found.optimal
        assert found.tally["num_p"] == pytest.approx(by_all_maps(str(metric), reference, predicted))
        assert found.explain(0).weight == pytest.approx(found.tally["num_p"])
        assert ts.evaluate(metric, [reference], [reference]).f1 in (1.0, None)


def test_a_renamed_workflow_is_the_same_workflow() -> None:
    a, b, c, x, y, z = (Var(name) for name in "abcxyz")
    one = [Step(a, "load", []), Step(b, "clean", [a]), Step(c, "join", [a, b])]
    other = [Step(z, "join", [x, y]), Step(y, "clean", [x]), Step(x, "load", [])]
    assert ts.evaluate(ts.derive(list[Step]), [one], [other]).f1 == 1.0


def test_too_many_maps_are_refused_with_advice() -> None:
    many = [Bare([Var(str(n)) for n in range(9)])]
    with pytest.raises(MetricError, match="as objects of their own"):
        ts.evaluate(ts.derive(list[Bare]), [many], [many])


def test_bounds_under_a_time_limit() -> None:
    rng = random.Random(7)
    names = [Var(str(n)) for n in range(8)]
    reference, predicted = ([Step(one, "s", rng.sample(names, 3)) for one in names] for _ in range(2))
    metric = ts.parse(str(ts.derive(list[Step])).replace("), 1:1))", "), 1:1, limit=0.000001))"))
    found = ts.evaluate(metric, [reference], [predicted])
    assert "limit" in str(metric)
    assert not found.optimal
    assert any("f1 lies between" in warning for warning in found.warnings)

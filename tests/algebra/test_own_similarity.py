"""A similarity of one's own is one file: the one of docs/algebra.md, inside the package and outside of it."""

from __future__ import annotations

import pickle
import random
import re
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

import tallystick as ts
from running import invoke
from tallystick import algebra
from tallystick.algebra import parse as names
from tallystick.algebra.plain import leaf
from tallystick.cli.main import tallystick
from tallystick.errors import MetricError
from tallystick.laboratory import check, expression

PAGE = (Path(__file__).parents[2] / "docs" / "algebra.md").read_text(encoding="utf-8")
(MODULE,) = re.findall(r"```python\n(\"\"\"Coordinates.*?)```", PAGE, re.S)

PARIS, NEARBY, ROME = (48.857, 2.352), (48.857, 2.42), (41.9, 12.5)
GOLD = [{"name": "a", "places": [PARIS, ROME]}]
SYSTEM = [{"name": "a", "places": [NEARBY]}]


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """The module in the folder of the algebra."""
    (tmp_path / "coordinates.py").write_text(MODULE)
    monkeypatch.setattr(algebra, "__path__", [*algebra.__path__, str(tmp_path)])
    for found in (names.node_classes, names.constructors):
        found.cache_clear()
    yield
    sys.modules.pop("tallystick.algebra.coordinates", None)
    vars(ts).pop("near", None)
    for found in (names.node_classes, names.constructors):
        found.cache_clear()


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """The module in the current folder."""
    (tmp_path / "places.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("places", None)


def test_a_class_that_was_not_called_is_an_error(inside, outside, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for note, name in ((ts.near, "near"), (import_module("places").Near, "Near")):
        with pytest.raises(MetricError, match=rf"{name} was not called; write {name}\("):
            ts.derive(Annotated[tuple[float, float], note])


def test_inside_it_has_a_name_of_its_own(inside):
    assert "near" in dir(ts)
    assert ts.near(5.0) == ts.parse("near(5.0)")
    metric = ts.f1(ts.match(ts.near(5.0)))
    assert str(metric) == "f1(match(near(reach=5.0), 1:1))"
    assert ts.parse(str(metric)) == metric
    assert pickle.loads(pickle.dumps(metric)) == metric
    with pytest.raises(MetricError, match="needs a reach above 0"):
        ts.parse("near(0)")
    with pytest.raises(MetricError, match=r'Did you mean "near"'):
        ts.parse("nearr(5)")


def test_one_pair_is_worth_what_its_columns_say_with_and_without_a_plain_definition(inside):
    @dataclass(frozen=True, repr=False)
    class Plainly(ts.near):
        name = "plainly"
        asked = []

        def plain(self):
            def weigh(a, b):
                self.asked.append((a, b))
                half = np.sin((a[0] - b[0]) / 2) ** 2 + np.cos(a[0]) * np.cos(b[0]) * np.sin((a[1] - b[1]) / 2) ** 2
                return max(0.0, float(1 - 2 * 6371 * np.arcsin(np.sqrt(min(half, 1))) / self.reach))

            return leaf(lambda value: np.radians(np.asarray(value, float).reshape(2)), weigh)

    rng = random.Random(3)
    pairs = [(PARIS, (PARIS[0] + rng.uniform(-0.1, 0.1), PARIS[1] + rng.uniform(-0.1, 0.1))) for _ in range(50)]
    for similarity in (ts.near(20), Plainly(20)):
        for metric in (ts.f1(similarity), ts.f1(ts.match(similarity))):
            for x, y in pairs if metric.summed is similarity else [([x], [y]) for x, y in pairs]:
                assert metric(x, y) == ts.evaluate(metric, [x], [y], batch=1000).f1
        assert similarity(PARIS, "Rome") == 0
    assert Plainly.asked
    with pytest.raises(ts.TallystickError, match="expected \\(latitude, longitude\\), found 'Paris'"):
        Plainly(20)("Paris", PARIS)


def test_inside_it_can_be_chosen(inside):
    wanted = "f1(match(near(reach=5.0), 1:1))"
    for choice in ({"near": {"reach": 5}}, {"near": 5}, {"near": [5]}, {"expression": "near(5)"}):
        assert str(ts.derive(list[tuple[float, float]], {"[*]": choice})) == wanted
    assert str(ts.derive(list[tuple[float, float]], {"[*]": "near"})) == "f1(match(near(), 1:1))"
    with pytest.raises(ts.TallystickError, match=r"unknown option 'reech'; expected reach\. Did you mean"):
        ts.derive(list[tuple[float, float]], {"[*]": {"near": {"reech": 5}}})


def test_inside_it_is_listed(inside):
    done = invoke(tallystick, ["list", "similarities"])
    assert "near          1 for the same place, less the farther away" in done.output


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_it_scores_explains_and_has_figures_by_field(place, request):
    request.getfixturevalue(place)
    word = {"inside": "near", "outside": "places:Near"}[place]
    metric = ts.parse(f"f1(each(name=exact, places=match({word}(5.0))))", functions=True)
    result = ts.evaluate(metric, GOLD, SYSTEM)
    weight = 1 - 4.975 / 5
    assert result.tally == pytest.approx({"num_p": 1 + weight, "den_p": 2, "num_r": 1 + weight, "den_r": 3}, abs=1e-3)
    assert result.signature.startswith(f"f1(each(name=exact, places=match({word}(reach=5.0), 1:1))) | ")
    tree = result.explain(0)
    assert f"{word}(reach=5.0)" in [node.how for node in tree.walk()]
    assert [node.status for node in tree.walk() if node.places] == ["matched", "missed"]
    fields = {one.path: one for one in result.by_field()}
    assert list(fields) == ["name", "places[*]"]
    assert fields["places[*]"].missing == 1
    assert not fields["places[*]"].diagnostic


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_it_can_be_checked(place, request):
    request.getfixturevalue(place)
    word = {"inside": "near", "outside": "places:Near"}[place]
    metric = f"f1(match({word}(100.0)))"
    parsed = ts.parse(metric, functions=True)
    report = check(expression(parsed, list[tuple[float, float]]), samples=5, only=["range", "P1", "P2", "order"])
    assert not report.failures
    assert ts.kernel_status(parsed).verdict == "unknown"  # nobody said what follows about it


def test_sets_of_places_and_places_in_every_wrapper(inside):
    for around in (lambda x: x, ts.optional, lambda x: ts.weighted(x, 2.0), lambda x: ts.at_least(x, 0.1)):
        metric = ts.f1(ts.match(around(ts.near(5.0)), distinct=True))
        assert ts.evaluate(metric, [[PARIS, PARIS, ROME]], [[ROME, PARIS]]).f1 == 1
        assert metric.mirrored() == metric


def test_its_name_in_all_is_the_part_though_another_module_has_a_function_of_that_name(inside, monkeypatch):
    assert callable(import_module("tallystick.algebra.exact").near)
    monkeypatch.setattr(ts, "__all__", [*ts.__all__, "near"])
    assert ts.near is names.constructors()["near"]


def test_every_part_in_all_is_the_one_that_expressions_have():
    for name in {*ts.__all__} & {*names.constructors()}:
        assert getattr(ts, name) is names.constructors()[name]


def test_a_function_sees_each_value_as_it_is_whatever_equals_it_elsewhere():
    zones = [
        datetime(2026, 1, 2, 12, tzinfo=timezone.utc),
        datetime(2026, 1, 2, 13, tzinfo=timezone(timedelta(hours=1))),
    ]
    for values in ([1, 1.0], [0.0, -0.0], [Decimal("1.0"), Decimal("1.00")], zones):
        metric = ts.f1(ts.match(ts.via(str, ts.exact)))
        rows = [[[one] for one in values], [[str(one)] for one in values]]
        assert ts.evaluate(metric, *rows).f1 == ts.evaluate(metric, *rows, batch=1).f1 == 1

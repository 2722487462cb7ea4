"""The page of equations says what the module says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import tallystick
from tallystick.algebra.node import Node
from tallystick.tasks import equations

PAGE = (Path(__file__).parents[2] / "docs" / "equations.md").read_text(encoding="utf-8")
NAMES: dict[str, Any] = {name: getattr(tallystick, name) for name in tallystick.__all__} | vars(equations)

BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ENTRIES = [entry for block in BLOCKS for entry in block.strip().split("\n\n")]


def value(node: ast.expr) -> Any:
    return eval(compile(ast.Expression(node), "docs/equations.md", "eval"), dict(NAMES))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.split("\n")[0][:60])
def test_each_expression_on_the_page_is_the_modules(entry: str) -> None:
    lines = entry.split("\n")
    signature = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    (statement,) = ast.parse("\n".join(line for line in lines if not line.startswith("#"))).body
    if isinstance(statement, ast.Assign):
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        metric = getattr(equations, target.id)
        assert value(statement.value) == metric
    else:
        assert isinstance(statement, ast.Expr)
        shown = statement.value
        metric = value(shown.left if isinstance(shown, ast.Compare) else shown)
        assert metric == (value(shown.comparators[0]) if isinstance(shown, ast.Compare) else metric)
    assert tallystick.parse(signature, functions=True) == metric
    assert re.sub(r"\s+", " ", signature).replace("( ", "(") == str(metric)


def test_every_equation_is_on_the_page() -> None:
    found = [int(number) for number in re.findall(r"\\tag\{(\d+)\}", PAGE)]
    assert found == [*range(1, 48)]


def test_every_name_of_the_module_is_on_the_page() -> None:
    own = {
        name
        for name, one in vars(equations).items()
        if (isinstance(one, Node) and name != "exact")
        or (inspect.isfunction(one) and one.__module__ == equations.__name__)
    }
    assert {name for name in own if not re.search(rf"\b{name}\b", PAGE)} == set()

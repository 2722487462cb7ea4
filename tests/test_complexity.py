"""No function has more than 20 paths: cyclomatic complexity as radon counts it (`radon cc -s src`)."""

from __future__ import annotations

import ast
from pathlib import Path

MOST = 20
SOURCE = Path(__file__).parents[1] / "src" / "tallystick"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """1 and a point for each branch, loop, handler, condition and comprehension."""
    return 1 + sum(map(points, ast.iter_child_nodes(function)))


def points(node: ast.AST) -> int:
    """The points of a part of a function. Functions inside have their own."""
    if isinstance(node, DEFINITIONS):
        return 0
    own = int(isinstance(node, (ast.If, ast.IfExp, ast.Assert, ast.ExceptHandler)))
    if isinstance(node, ast.BoolOp):
        own += len(node.values) - 1
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        own += 1 + bool(node.orelse)
    elif isinstance(node, ast.Try):
        own += bool(node.orelse)
    elif isinstance(node, ast.comprehension):
        own += 1 + len(node.ifs)
    elif isinstance(node, ast.Match):
        own += sum(
            not (isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None)
            for case in node.cases
        )
    return own + sum(map(points, ast.iter_child_nodes(node)))


def test_no_function_is_too_complex() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.name} {complexity(node)}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, DEFINITIONS) and complexity(node) > MOST
    ]
    assert not found


def test_complexity_is_counted() -> None:
    text = "def f(x):\n    for y in x:\n        if y and x or not y:\n            return [z for z in y if z]\n    while x: pass\n    else: x = 1 if x else 2"
    (function,) = ast.parse(text).body
    assert complexity(function) == 1 + 1 + 1 + 2 + 2 + 2 + 1

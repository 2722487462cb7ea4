"""Whatever the program wants to know about a part of a metric it asks the part: nobody else asks a node for its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tallystick as ts
from tallystick.algebra.node import Node
from tallystick.algebra.parse import constructors, node_classes

SOURCE = Path(ts.__file__).parent


def subclasses(class_: type) -> Iterator[type]:
    yield class_
    for below in class_.__subclasses__():
        yield from subclasses(below)


node_classes()
CLASSES = {
    f"{one.__module__}.{one.__qualname__}" for one in subclasses(Node) if one.__module__.startswith("tallystick.")
}
ANY = {"tallystick.algebra.node.Node", "tallystick.algebra.node.Similarity", "tallystick.algebra.node.Around"}
"""Being a part of a metric at all says nothing about which."""


def known_names(tree: ast.Module, module: str) -> dict[str, set[str]]:
    """The names that stand for node classes in a module: imported or defined, and tuples and tables of them."""
    known: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for one in node.names:
                if f"{node.module}.{one.name}" in CLASSES:
                    known[one.asname or one.name] = {f"{node.module}.{one.name}"}
        elif isinstance(node, ast.ClassDef) and f"{module}.{node.name}" in CLASSES:
            known[node.name] = {f"{module}.{node.name}"}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if isinstance(value, (ast.Tuple, ast.Dict)):
            listed = value.elts if isinstance(value, ast.Tuple) else [key for key in value.keys if key is not None]
            parts = set().union(*(known.get(one.id, set()) for one in listed if isinstance(one, ast.Name)))
            known.update({target.id: parts for target in targets if isinstance(target, ast.Name) and len(parts) > 1})
    return known


def asked_for(function: ast.AST, known: dict[str, set[str]]) -> set[str]:
    """The node classes that a function tells apart: by isinstance, by match, by type(...), by a table."""
    found: set[str] = set()

    def note(where: ast.AST) -> None:
        found.update(*(known.get(one.id, set()) for one in ast.walk(where) if isinstance(one, ast.Name)))

    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            note(node.args[1])
        elif isinstance(node, ast.MatchClass):
            note(node.cls)
        elif isinstance(node, ast.Compare) and any(map(is_type_of, ast.walk(node))):
            note(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            note(node.value)
    return found - ANY


def is_type_of(node: ast.AST) -> bool:
    """Whether it is type(...)."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def functions() -> Iterator[tuple[str, set[str]]]:
    """Every function but the methods of nodes, with the node classes that it tells apart."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(("tallystick", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = known_names(tree, module)
        if not known:  # it cannot name any
            continue
        own = {id(part) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and f"{module}.{node.name}" in CLASSES
               for part in ast.walk(node)}  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and id(node) not in own:
                yield f"{module}:{node.lineno}", asked_for(node, known)


def test_no_function_tells_node_classes_apart():
    found = {where: sorted(classes) for where, classes in functions() if len(classes) > 1}
    assert not found


def test_what_would_be_found():
    source = """
from tallystick.algebra.sets import Match
from tallystick.algebra.records import Each, Record
BOTH = (Each, Record)
def one(x): return isinstance(x, BOTH)
def two(x):
    match x:
        case Match(): return 1
        case Each(): return 2
def three(x): return type(x) is Match or type(x) is Each
def four(x): return isinstance(x, Match)
"""
    tree = ast.parse(source)
    known = known_names(tree, "tallystick.some")
    asked = {one.name: len(asked_for(one, known)) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    assert asked == {"one": 2, "two": 2, "three": 2, "four": 1}


def test_the_public_names_are_all_that_dir_shows():
    assert set(ts.__all__) <= set(dir(ts)), "type checkers are told of names that are not there"
    assert set(dir(ts)) - set(ts.__all__) <= set(constructors()), (
        "a public name that is no part of a metric belongs into __all__"
    )
    assert all(hasattr(ts, name) for name in dir(ts))


def test_every_expression_without_arguments_and_every_name_of_a_field_is_read_back():
    for name, made in constructors().items():
        if isinstance(made, Node):
            assert ts.parse(str(made)) == made, name
    for name in ("e\u0301", "inf", "True", "N", "1", "a b", "let", "x²", "-1", '"'):
        metric = ts.f1(ts.each(**{name: ts.exact}))
        assert ts.parse(str(metric)) == metric

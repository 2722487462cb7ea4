"""The names of the algebra: a part of a metric is known by being defined in a module of this folder.

A node class with a `name` of its own is one. What makes it is the function or value of that name in its module (`text`,
`exact`), or the class itself where there is none. `ts.NAME`, expressions, choices and `tallystick list` all ask here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tallystick.algebra.node import Node, Similarity


@lru_cache(maxsize=1)
def node_classes() -> dict[str, type[Node]]:
    """The classes of all parts of metrics, by name."""
    return dict(sorted(_defined()))


def _defined() -> Iterator[tuple[str, type[Node]]]:
    import tallystick.algebra as folder

    known: set[str] = set()
    for found in iter_modules(folder.__path__):
        module = import_module(f"{folder.__name__}.{found.name}")
        for value in vars(module).values():
            ours = isinstance(value, type) and issubclass(value, Node) and value.__module__ == module.__name__
            if ours and "name" in vars(value) and value.name not in known:
                known.add(value.name)
                yield value.name, value


@lru_cache(maxsize=1)
def constructors() -> dict[str, Any]:
    """Every name that an expression may use, with what it stands for: a function that makes a node, or a node."""
    out: dict[str, Any] = {}
    for class_ in node_classes().values():
        module = import_module(class_.__module__)
        out.update({name: getattr(module, name, class_) for name in (class_.name, *class_.also)})
    return dict(sorted(out.items()))


def choosable() -> dict[str, type[Similarity]]:
    """The similarities that can be chosen for a value by name and parameters: those that need no other one inside."""
    return {
        name: class_
        for name, class_ in node_classes().items()
        if issubclass(class_, Similarity) and class_.chosen_by_name()
    }

"""Data flows one way: a module imports only from its own room and from rooms to its left in CONTRIBUTING.md.

Every import counts: at the top, inside a function, for type checking only, by `import_module`, and the strings "tallystick.x:y" of
commands that are loaded when they are called. `python tests/test_directions.py` lists those against the order, room by room.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent.parent
SOURCE = HERE / "src"
PACKAGE = "tallystick"
LOADED = re.compile(rf"{PACKAGE}((?:\.\w+)+):\w+")
"""A string that names something to be imported."""
OWN_TO_A_TASK = ("task", "show")
"""The modules of a task that no other task may import."""


class Import(NamedTuple):
    """A module, the line of the import, and what it imports, as dotted names."""

    module: str
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def order() -> list[str]:
    """The rooms from left to right: the line of CONTRIBUTING.md that names them."""
    text = (HERE / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line.startswith("    ")]
    return next(line for line in lines if {"structures", "engine", "cli"} <= set(line))


def modules() -> dict[str, Path]:
    """Every module by its dotted name; a package is its `__init__`."""
    found = sorted((SOURCE / PACKAGE).rglob("*.py"))
    return {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in found}


def room(name: str) -> str:
    """The package or top-level module below tallystick that a dotted name belongs to."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


@cache
def imports(module: str, path: Path) -> tuple[Import, ...]:
    """What a module imports from the package, wherever in the file it does so."""
    return tuple(_imports(module, path))


def _imports(module: str, path: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for target in dict.fromkeys(map(module_of, targets(node, module))):
            if target == PACKAGE or target.startswith(PACKAGE + "."):
                yield Import(module, getattr(node, "lineno", 0), target)


def module_of(name: str) -> str:
    """The module or package that a dotted name is in: `from x import y` may name either."""
    parts = name.split(".")
    while len(parts) > 1 and not (
        SOURCE.joinpath(*parts).is_dir() or SOURCE.joinpath(*parts).with_suffix(".py").is_file()
    ):
        parts.pop()
    return ".".join(parts)


def targets(node: ast.AST, module: str) -> list[str]:
    """The dotted names that a node of the syntax tree imports. Those of `from x import y` are x.y, be y a module or not."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = module.split(".")[: -node.level] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        return [f"{base}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = LOADED.fullmatch(node.value)
        return [PACKAGE + found[1]] if found else []
    if isinstance(node, ast.Call) and node.args and name_of(node.func).endswith("import_module"):
        return [beginning(node.args[0])]
    return []


def name_of(function: ast.expr) -> str:
    """The last part of the name by which a function is called."""
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def beginning(argument: ast.expr) -> str:
    """The dotted name of an import_module, as far as it is written down."""
    if isinstance(argument, ast.JoinedStr):
        argument = argument.values[0]
    text = argument.value if isinstance(argument, ast.Constant) else ""
    return text.rstrip(".") if isinstance(text, str) else ""


def against_the_order(files: dict[str, Path] | None = None) -> list[Import]:
    """Every import that points to a room on the right."""
    place = {name: number for number, name in enumerate(order())}
    found = [one for module, path in (files or modules()).items() for one in imports(module, path)]
    return [one for one in found if place.get(room(one.target), len(place)) > place.get(room(one.module), len(place))]


def across_tasks() -> list[Import]:
    """Every import of a task's declaration or drawings by another task."""

    def crosses(one: Import) -> bool:
        ours, theirs = one.module.split("."), one.target.split(".")
        return (
            len(ours) > 3
            and len(theirs) > 3
            and ours[1] == theirs[1] == "tasks"
            and ours[2] != theirs[2]
            and theirs[3] in OWN_TO_A_TASK
        )

    return [one for module, path in modules().items() for one in imports(module, path) if crosses(one)]


def test_every_room_has_a_place():
    assert {room(module) for module in modules()} == set(order())


def test_no_import_points_against_the_order():
    found = against_the_order()
    assert not found, "\n".join(map(str, found))


def test_no_task_imports_the_declaration_of_another():
    found = across_tasks()
    assert not found, "\n".join(map(str, found))


def test_all_ways_to_import_are_seen(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "from tallystick.files import lines\n"
        "def later():\n    import tallystick.cli\n    from .show import page\n"
        "importlib.import_module(f'tallystick.tasks.{name}.task')\n"
        "LATER = 'tallystick.run.processes:start'\n"
        "import numpy\n",
    )
    found = {room(one.target) for one in imports("tallystick.module", path)}
    assert found == {"files", "cli", "show", "tasks", "run"}


if __name__ == "__main__":
    wrong = against_the_order()
    for name in order():
        here = [one for one in wrong if room(one.module) == name]
        if here:
            print(f"{name}: {len(here)}", *(f"  {one}" for one in here), sep="\n")
    crossing = across_tasks()
    if crossing:
        print(f"between tasks: {len(crossing)}", *(f"  {one}" for one in crossing), sep="\n")
    print(f"{len(wrong) + len(crossing)} imports against the order")

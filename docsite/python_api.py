"""The Python reference: every public name with its signature, its docstring and an example that the tests run.

The names are looked at as they are when the package runs, not as its source says: the functions of the tasks are made from the tasks'
declarations, and have no source.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tallystick as ts
from docsite.prose import quoted
from tallystick import structures
from tallystick.tasks import contract

ADAPTERS: dict[str, tuple[str, ...]] = {
    "rewards": ("scorer", "rewards", "Scorer", "trl_reward", "verifiers_reward", "compute_score"),
    "scorer": ("RecordScorer", "One"),
    "pytest": ("assert_matches",),
    "promptfoo": ("get_assert",),
    "huggingface": ("compute", "seqeval"),
    "inspect": ("records",),
    "pydantic_evals": ("RecordsMatch",),
    "seqeval": (
        "accuracy_score", "classification_report", "f1_score", "performance_measure", "precision_recall_fscore_support",
        "precision_score", "recall_score",
    ),
    "nervaluate": ("Evaluator",),
    "coref": ("CorefEvaluator", "Evaluator"),
    "smatch": ("score_amr_pairs", "get_amr_match", "compute_f"),
    "sklearn": ("classification_report",),
}  # fmt: skip
NEED_A_HARNESS = ("inspect", "pydantic_evals")
"""Adapters that can only be imported where the package is that they are for."""


class Public(NamedTuple):
    """A public name: as it is written, and what it is."""

    name: str
    value: Any
    home: str

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.value) or ""


GROUPS: dict[str, tuple[str, Callable[[Public], bool]]] = {
    "tasks": ("A function for each task", lambda one: one.name.removeprefix("ts.") in contract.task_names()),
    "results": (
        "Evaluating and comparing",
        lambda one: one.home.startswith(("tallystick.results", "tallystick.tasks", "tallystick.adapters", "tallystick.err")),
    ),
    "types": ("From types and expressions", lambda one: one.home.endswith((".choose", ".derive", ".parse"))),
    "kernels": ("Kernels", lambda one: one.home.startswith("tallystick.laboratory")),
    "parts": ("Parts of metrics", lambda one: one.home.startswith("tallystick.algebra")),
}  # fmt: skip
"""The groups of names of `tallystick`; a name is in the first that takes it."""


def of_package() -> dict[str, list[Public]]:
    """The names of `tallystick` by group."""
    found: dict[str, list[Public]] = {group: [] for group in GROUPS}
    for name in dir(ts):
        value = getattr(ts, name)
        own = inspect.isclass(value) or inspect.isfunction(value)
        one = Public(f"ts.{name}", value, value.__module__ if own else type(value).__module__)
        found[next(group for group, (_, takes) in GROUPS.items() if takes(one))].append(one)
    return found


def of_structures() -> list[Public]:
    """The types of `tallystick.structures`."""
    return [Public(name, getattr(structures, name), "tallystick.structures") for name in structures.__all__]


def of_contract() -> list[Public]:
    """What whoever writes a task needs."""
    return [Public(name, getattr(contract, name), "tallystick.tasks.contract") for name in contract.__all__]


def of_adapter(module: str) -> list[Public]:
    """The names of one adapter; none where its package is not installed."""
    if module in NEED_A_HARNESS:
        return []
    home = importlib.import_module(f"tallystick.adapters.{module}")
    return [Public(name, getattr(home, name), home.__name__) for name in ADAPTERS[module]]


def all_names() -> Iterator[Public]:
    """Every public name that can be imported here."""
    for group in of_package().values():
        yield from group
    yield from of_structures()
    yield from of_contract()
    for module in ADAPTERS:
        yield from of_adapter(module)


# As Markdown


def package(group: str) -> str:
    """A group of names of `tallystick`."""
    return _entries(of_package()[group])


def types() -> str:
    """`tallystick.structures`."""
    return _entries(of_structures())


def task_contract() -> str:
    """`tallystick.tasks.contract`."""
    return _entries(of_contract())


def adapters() -> str:
    """Every adapter: what its module says, and its names."""
    out = []
    for module in ADAPTERS:
        file = Path(ts.__file__).parent / "adapters" / f"{module}.py"
        about = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        out += [f"## `tallystick.adapters.{module}`", _prose(about), _entries(of_adapter(module))]
    return "\n\n".join(out)


def _entries(names: list[Public]) -> str:
    return "\n\n".join(f"### `{one.name}` {{: #{_anchor(one)} }}\n\n{_signature(one)}{_prose(one.doc)}{_members(one)}" for one in names)  # fmt: skip


def _anchor(one: Public) -> str:
    return one.name if one.name.startswith("ts.") else f"{one.home.removeprefix('tallystick.')}.{one.name}"


def _signature(one: Public) -> str:
    if not callable(one.value) or (one.home.startswith("tallystick.algebra") and not inspect.isroutine(one.value)):
        return ""
    try:
        found = inspect.signature(one.value)
    except (TypeError, ValueError):
        return ""
    listed = [_parameter(each) for each in found.parameters.values()]
    kinds = [each.kind for each in found.parameters.values()]
    keyword, rest = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL
    if keyword in kinds and rest not in kinds:
        listed.insert(kinds.index(keyword), "*")
    line = f"{one.name}({', '.join(listed)})"
    if len(line) > 100:
        line = f"{one.name}(\n    " + ",\n    ".join(listed) + ",\n)"
    return f"```python\n{line}\n```\n\n"


def _parameter(each: inspect.Parameter) -> str:
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
    return f"{star}{each.name}" + ("" if each.default is each.empty else f"={_spelled(each.default)}")


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _members(one: Public) -> str:
    """The methods and properties of a class that have a docstring."""
    if not inspect.isclass(one.value) or issubclass(one.value, BaseException):
        return ""
    rows = []
    for name, member in inspect.getmembers(one.value):
        said = inspect.getdoc(member) if isinstance(member, property) or inspect.isroutine(member) else None
        own = getattr(member, "__module__", getattr(getattr(member, "fget", None), "__module__", ""))
        if not name.startswith("_") and said and (own or "").startswith("tallystick"):
            rows.append(f"| `{name}{'' if isinstance(member, property) else '()'}` | {_cell(said)} |")
    return "\n\n| | |\n|---|---|\n" + "\n".join(rows) if rows else ""


def _cell(said: str) -> str:
    first = said.split("\n\n")[0].replace("\n", " ")
    return quoted(first)


def _prose(doc: str) -> str:
    """A docstring as Markdown: its examples and its indented parts as code, lists of options as lists."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(doc)):
        lines = block.split("\n")
        if inspect.cleandoc(block).startswith(">>>"):
            out.append(f"```pycon\n{inspect.cleandoc(block)}\n```")
        elif all(line.startswith("    ") for line in lines):
            named = [re.fullmatch(r"    (\w+): (.*)", line) for line in lines]
            if out and out[-1] == "Options:" and all(named):
                out.append("\n".join(f"- `{m[1]}`: {quoted(m[2])}" for m in named if m))
            elif out and out[-1] == "Data:":
                out.append(quoted("\n".join(line.strip() for line in lines)))
            else:
                out.append(f"```text\n{inspect.cleandoc(block)}\n```")
        elif any(line.startswith(">>> ") for line in lines):
            at = next(k for k, line in enumerate(lines) if line.startswith(">>> "))
            out += [quoted("\n".join(lines[:at])), "```pycon\n" + "\n".join(lines[at:]) + "\n```"]
        else:
            out.append(quoted(block))
    return "\n\n".join(out)

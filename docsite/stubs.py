"""What type checkers see of the tasks: `python -m docsite.stubs > src/tallystick/tasks/functions.pyi`, held up to date by a test."""

from __future__ import annotations

import json
import typing
from dataclasses import Field
from typing import Any

from tallystick.tasks.contract import Task, default_of, find_task, option_of, task_names
from tallystick.tasks.function import TOGETHER, choices_of

STUB = '''"""The tasks as functions, for type checkers: written by `python -m docsite.stubs` from the tasks' declarations."""

import os
from collections.abc import Sequence
from typing import Any, Literal

from tallystick.results.results import Results

_Texts = str | Sequence[str]
_File = str | os.PathLike[str]
'''


def stub() -> str:
    """The functions of all tasks with their options, typed; options with choices take these alone."""
    return STUB + "".join(f"\n{_stub_of(find_task(name))}" for name in task_names())


def _stub_of(task: Task) -> str:
    hints = typing.get_type_hints(task.Settings)
    options = [(one.name, _annotation(one, hints[one.name])) for one in task.options("figures")]
    if task.together:
        options.insert(0, (TOGETHER, "bool"))
    predicted = "predicted: object = None" if task.together else "predicted: object"
    lines = [
        "reference: object",
        predicted,
        "metrics: _Texts = ()",
        "*",
        *(f"{name}: {kind} = ..." for name, kind in options),
    ]
    listed = "".join(f"    {line},\n" for line in lines)
    return f'def {task.name}(\n{listed}) -> Results:\n    """{task.summary[0].upper()}{task.summary[1:]}."""\n'


def _annotation(one: Field[Any], kind: Any) -> str:
    if kind is Any:
        return "Any"
    if typing.get_origin(kind) is tuple:
        return "_Texts"
    choices, inside = choices_of(one, kind), {kind, *typing.get_args(kind)}
    plain = f"Literal[{', '.join(json.dumps(choice) for choice in choices)}]" if choices else ""
    if not plain:
        numbers = next((part.__name__ for part in (bool, float, int) if part in inside), "")
        plain = numbers or ("_File" if "FILE" in option_of(one).metavar else "str")
    return f"{plain} | None" if default_of(one) is None else plain


if __name__ == "__main__":
    print(stub(), end="")

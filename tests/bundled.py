"""The bundled example of every task: `examples/TASK.gold.*` and `examples/TASK.system.*`, found by the name of the task."""

from pathlib import Path

import tallystick
from tallystick.tasks.contract import task_names

EXAMPLES = Path(tallystick.__file__).parent / "examples"
_OTHERS = {
    "hierarchies": ("table1.gold.newick", "table1.system1.newick"),
    "records": ("invoices.gold.jsonl", "invoices.system.jsonl"),
    "calls": ("calls.gold.jsonl", "calls.openai.jsonl"),
}
_FIRST = (
    "spans", "coreference", "dependencies", "relations", "events", "arguments", "roles", "nary", "templates", "amr", "hierarchies",
    "records", "calls",
)  # fmt: skip
"""The order in docs/tasks.ipynb; what is not named here comes last."""


def _files_of(task: str) -> tuple[str, str]:
    if task in _OTHERS:
        return _OTHERS[task]
    found = {side: [one.name for one in EXAMPLES.glob(f"{task}.{side}.*")] for side in ("gold", "system")}
    for side, names in found.items():
        assert len(names) == 1, f"expected one file examples/{task}.{side}.*, found {names}"
    return found["gold"][0], found["system"][0]


FILES = {task: _files_of(task) for task in (*_FIRST, *(name for name in task_names() if name not in _FIRST))}
"""The reference and a prediction of each task, as names in `examples`."""

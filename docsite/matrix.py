"""What every task can do, as a table made from the declarations: `python -m docsite.matrix` writes docs/matrix.md.

A cell says how, or that it works (✓). An empty one has a reason, which the task declares (`without`) or which follows from the declaration:
`whole` for shards, `instead_of_explain` for trees. `tests/tasks/test_matrix.py` runs every cell on the bundled examples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from tallystick.frozen import frozen
from tallystick.tasks.contract import Task, find_task, task_names

YES = "✓"


@frozen
class MatrixCell:
    """What a task has, or why it has not."""

    has: str = ""
    reason: str = ""


def _by_label(task: Task) -> MatrixCell:
    if "label" not in task.breakdowns:
        return MatrixCell(reason=task.without.get("by label", ""))
    return MatrixCell(", ".join(task.labels) or task.without.get("labels", "") or "label")


def _by_attribute(task: Task) -> MatrixCell:
    names = list(task.all_attributes)
    return MatrixCell(", ".join(names)) if names else MatrixCell(reason=task.without.get("by attribute", ""))


def _explain(task: Task) -> MatrixCell:
    return MatrixCell(YES) if task.can_explain else MatrixCell(reason=task.instead_of_explain)


def _errors(task: Task) -> MatrixCell:
    own = any(one.name == "errors" for one in fields(task.Settings))
    return (
        MatrixCell(f"{len(task.kinds)} kinds" if task.kinds else YES)
        if task.kinds or own or task.can_explain
        else MatrixCell()
    )


def _in_parts(task: Task) -> MatrixCell:
    """In batches and in shards alike: what needs all documents at once can be had in neither."""
    reason = task.whole(task.Settings())
    return MatrixCell(reason=reason) if reason else MatrixCell(YES)


def _always(task: Task) -> MatrixCell:
    return MatrixCell(YES)


COLUMNS: dict[str, Callable[[Task], MatrixCell]] = {
    "score": _always,
    "explain": _explain,
    "errors": _errors,
    "by label": _by_label,
    "by document": _always,
    "by attribute": _by_attribute,
    "intervals": _always,
    "compare by label": _by_label,
    "streaming": _in_parts,
    "shards": _in_parts,
    "report": _always,
    "LaTeX": _always,
}


def cells() -> dict[tuple[str, str], MatrixCell]:
    """Every cell, by task and column."""
    return {(name, column): of(find_task(name)) for name in task_names() for column, of in COLUMNS.items()}


PAGE = """# What every task can do

This page is written by `python -m docsite.matrix > docs/matrix.md`, from the declarations of the tasks. A test runs every cell on the
examples that come with the package. What stands in a cell are the names that `--by label --label NAME` and `--by NAME` take.

"""


def page() -> str:
    """The table as Markdown, and below it why some cells are empty."""
    found, reasons = cells(), dict[str, int]()
    lines = ["| task | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for task in task_names():
        row = []
        for column in COLUMNS:
            cell = found[task, column]
            number = reasons.setdefault(cell.reason, len(reasons) + 1) if cell.reason else 0
            row.append(cell.has or f"– ({number})")
        lines.append(f"| [{task}]({task}.md) | " + " | ".join(row) + " |")
    said = [f"{number}. {reason[0].upper()}{reason[1:]}." for reason, number in reasons.items()]
    return PAGE + "\n".join(lines) + "\n\nWhy a cell is empty:\n\n" + "\n".join(said) + "\n"


if __name__ == "__main__":
    print(page(), end="")

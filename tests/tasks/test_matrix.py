"""docs/matrix.md: every cell is run on the bundled examples, and every empty one is refused, with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_attributes import files

import tallystick as ts
from docsite.matrix import COLUMNS, cells, page
from running import run
from tallystick.errors import MetricError
from tallystick.tasks.attributes import TRAINED
from tallystick.tasks.contract import find_task, task_names

CELLS = cells()


def label_of(task: str) -> str | None:
    return "lines[*].quantity" if task == "records" else None


class Bench:
    """The example of a task, scored once."""

    def __init__(self, task: str, folder: Path) -> None:
        self.task, self.folder, self.files = task, folder, files(task)
        self.results = getattr(ts, task)(*self.files)

    def score(self) -> Any:
        return self.results.figures

    def explain(self) -> Any:
        return self.results.explain().as_dict()

    def errors(self) -> Any:
        return self.results.errors()

    def by_label(self) -> Any:
        return self.results.by("label", label_of(self.task))[0].rows

    def by_document(self) -> Any:
        return self.results.by("document")[0].rows

    def by_attribute(self) -> Any:
        names = find_task(self.task).all_attributes
        if not names:
            self.results.by("length")
        return [self.results.by(name, train=str(self.files[0]) if name in TRAINED else None)[0].rows for name in names]

    def intervals(self) -> Any:
        return self.results.intervals(resamples=20)

    def compare_by_label(self) -> Any:
        both = ts.compare({"A": self.results, "B": self.results}, resamples=20)
        return both.by("label", label_of(self.task)).as_dict()

    def streaming(self) -> Any:
        parts = ts.Evaluation(task=self.task)
        parts.update(*self.files)
        assert parts.compute().figures == self.results.figures
        return parts

    def shards(self) -> Any:
        return run("score", self.task, *self.files, "--shard", "1KB").stdout

    def report(self) -> Any:
        self.results.report(self.folder / "page.html", resamples=20)
        return "<html" in (self.folder / "page.html").read_text()

    def latex(self) -> Any:
        return "\\begin{tabular}" in self.results.to_latex()


@pytest.mark.parametrize("task", task_names())
def test_every_cell_of_a_task(task: str, tmp_path: Path) -> None:
    bench = Bench(task, tmp_path)
    for column in COLUMNS:
        cell = CELLS[task, column]
        assert cell.has or cell.reason, f"{task}, {column}: neither there nor with a reason"
        ask = getattr(bench, column.lower().replace(" ", "_"))
        if cell.has:
            assert ask(), column
        elif column == "shards":
            assert cell.reason in run("score", task, *bench.files, "--shard", "1KB", code=2).stderr
        else:
            with pytest.raises(MetricError):
                ask()


def test_the_page_is_what_the_command_writes() -> None:
    file = Path(__file__).parents[2] / "docs" / "matrix.md"
    assert file.read_text(encoding="utf-8") == page(), "python -m docsite.matrix > docs/matrix.md"

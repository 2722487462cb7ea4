"""In a notebook, with a real kernel: a cell shows one table, and print, f-strings and logging show what they are given and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tallystick.tasks.contract import task_names

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat: pip install nbclient ipykernel")
pytest.importorskip("nbclient", reason="notebooks are executed by nbclient")
pytest.importorskip("ipykernel", reason="notebooks are executed by ipykernel")
from notebook import FILES, NOTEBOOK, execute_apart, notebook  # noqa: E402

SIDES = "[[(0, 2), (4, 5)], [(7, 8)]], [[(0, 2), (4, 5), (7, 8)]]"
SILENT = [
    "import logging, sys\nimport tallystick as ts\nlogging.basicConfig(stream=sys.stdout, format='%(message)s', level=logging.INFO)",
    f"results = ts.coreference({SIDES}); result = results['muc']; comparison = ts.compare({{'a': results, 'b': results}})",
    "text = [str(one) for one in (results, result, comparison, results.by('document'), results.table())]\n"
    "named = f'{results} {result} {comparison}'\n"
    "written = [results.to_json(), results.to_latex(), results.to_markdown(), results._repr_html_()]",
]
SPOKEN = {
    "print(results)": "results", "print(result)": "result", "print(comparison)": "comparison",
    "print(f'{result}')": "result", "logging.info(results)": "results", "print(results.explain())": "results.explain()",
}  # fmt: skip


def code_cells(found: Any) -> list[Any]:
    return [cell for cell in found.cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def executed() -> Any:
    """One kernel for everything: the notebook of the documentation, and cells that must show nothing or only what is printed."""
    found = notebook()
    found.cells += [nbformat.v4.new_code_cell(code) for code in SILENT]
    found.cells += [nbformat.v4.new_code_cell(f"{code}") for code in SPOKEN]
    found.cells += [nbformat.v4.new_code_cell(f"[str({what})]") for what in SPOKEN.values()]
    return execute_apart(found)


def test_every_cell_shows_one_table_and_nothing_else(executed: Any) -> None:
    first, *cells = code_cells(executed)[: len(code_cells(notebook()))]
    assert first.outputs == []
    assert [name for name in task_names() if name not in FILES] == []
    for cell in cells:
        (output,) = cell.outputs
        assert output.output_type == "execute_result", cell.source
        shown = output.data["text/html"]
        assert shown.count("<table>") == 1, cell.source


def test_nothing_is_shown_by_what_only_makes_text(executed: Any) -> None:
    start = len(code_cells(notebook()))
    for cell in code_cells(executed)[start : start + len(SILENT)]:
        assert cell.outputs == [], cell.source


def test_what_is_printed_is_printed_once_and_whole(executed: Any) -> None:
    spoken = code_cells(executed)[-2 * len(SPOKEN) :]
    for cell, expected in zip(spoken[: len(SPOKEN)], spoken[len(SPOKEN) :], strict=True):
        (output,) = cell.outputs
        assert (output.output_type, output.name) == ("stream", "stdout"), cell.source
        text = "".join(eval(expected.outputs[0].data["text/plain"]))
        assert output.text == text + "\n"
        assert "muc" in text or "match" in text


def test_the_notebook_of_the_documentation_is_what_it_executes_to(executed: Any) -> None:
    """`python tests/show/notebook.py` writes it anew."""
    kept = nbformat.read(NOTEBOOK, as_version=4)

    def shown(cell: Any) -> Any:
        return [json.dumps(output.get("data", {}), sort_keys=True) for output in cell.get("outputs", ())]

    there = code_cells(kept)
    assert [cell.source for cell in there] == [cell.source for cell in code_cells(notebook())]
    for one, other in zip(there, code_cells(executed), strict=False):
        assert shown(one) == shown(other), one.source


def test_a_metric_is_called_by_its_own_name(executed: Any) -> None:
    (alone,) = [cell for cell in code_cells(executed) if '"b3"' in cell.source]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", alone.outputs[0].data["text/html"])[0] == "b3"

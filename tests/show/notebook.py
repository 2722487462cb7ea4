"""The notebook of docs/tasks.ipynb: `python tests/show/notebook.py` writes it anew, executed; the tests execute it too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))
from bundled import FILES  # noqa: E402

NOTEBOOK = ROOT / "docs" / "tasks.ipynb"
START = """import os
from importlib.resources import files

import tallystick as ts

os.chdir(files("tallystick.examples"))  # messages then name files without their folder"""
FURTHER = [
    ("The worst documents first", 'ts.coreference("coreference.gold.conll", "coreference.system.conll").by("document")'),
    ("Figures by label", 'ts.relations("relations.gold.jsonl", "relations.system.jsonl", "strict").by("label")'),
    ("What went wrong", 'ts.coreference("coreference.gold.conll", "coreference.system.conll").errors()[0]'),
    ("One metric of several", 'ts.coreference("coreference.gold.conll", "coreference.system.conll")["b3"]'),
    (
        "Systems side by side",
        'gold = "table1.gold.newick"\n'
        'systems = {f"system {k}": ts.hierarchies(gold, f"table1.system{k}.newick", ["muc_p", "nstm_p"]) for k in (1, 2, 3)}\n'
        "ts.compare(systems)",
    ),
    (
        "In parts, as in a training loop",
        'run = ts.Evaluation(task="spans", metrics=["segment", "token"])\n'
        'for gold, predicted in [(["B-PER", "O"], ["B-PER", "O"]), (["B-LOC", "I-LOC"], ["B-LOC", "O"])]:\n'
        "    run.update([gold], [predicted])\n"
        "run.compute()",
    ),
]  # fmt: skip


def notebook() -> Any:
    """The notebook, not yet executed."""
    import nbformat

    v4 = nbformat.v4
    cells = [
        v4.new_markdown_cell(
            "# Every task in a notebook\n\nEach cell shows one table; the signature is folded away below it."
        )
    ]
    cells.append(v4.new_code_cell(START))
    for task, (gold, system) in FILES.items():
        cells.append(v4.new_markdown_cell(f"## {task.capitalize() if task != 'amr' else 'AMR'}"))
        cells.append(v4.new_code_cell(f'ts.{task}("{gold}", "{system}")'))
    for title, code in FURTHER:
        cells += [v4.new_markdown_cell(f"## {title}"), v4.new_code_cell(code)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )


def execute(found: Any) -> Any:
    """A notebook executed by a real kernel of this Python."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class Here(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3", language="python")

    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=Here())
    return NotebookClient(found, km=manager, timeout=300).execute()


def execute_apart(found: Any) -> Any:
    """The same in a process of its own, whose sockets end with it."""
    import nbformat

    done = subprocess.run(
        [sys.executable, __file__, "-"], input=nbformat.writes(found), capture_output=True, text=True, check=True
    )
    return nbformat.reads(done.stdout, as_version=4)


if __name__ == "__main__":
    import nbformat

    if sys.argv[1:] == ["-"]:
        print(nbformat.writes(execute(nbformat.read(sys.stdin, as_version=4))))
    else:
        done = execute(notebook())
        for cell in done.cells:
            cell.metadata.pop("execution", None)
        done.metadata.pop("language_info", None)
        nbformat.write(done, NOTEBOOK)

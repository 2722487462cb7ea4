"""Start-up: what the smallest command of each task costs, `import tallystick`, and the commands that score nothing.

Everything is the CPU time of a whole fresh process, interpreter and imports included, the best of several: `python -c pass` and
`python -c "import numpy"` stand beside it, because they are the floor, and because a busy machine slows them down as well.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import ROOT, Run, claim, launch, show

EXAMPLES = ROOT / "src" / "tallystick" / "examples"
SMALL = {"score": 0.25, "import": 0.04}
"""CPU seconds."""
FILES = {
    "amr": ("amr.gold.txt", "amr.system.txt"),
    "arguments": ("arguments.gold.jsonl", "arguments.system.jsonl"),
    "calls": ("calls.gold.jsonl", "calls.openai.jsonl"),
    "coreference": ("coreference.gold.conll", "coreference.system.conll"),
    "dependencies": ("dependencies.gold.conllu", "dependencies.system.conllu"),
    "events": ("events.gold.jsonl", "events.system.jsonl"),
    "hierarchies": ("table1.gold.newick", "table1.system1.newick"),
    "nary": ("nary.gold.jsonl", "nary.system.jsonl"),
    "records": ("invoices.gold.jsonl", "invoices.system.jsonl"),
    "relations": ("relations.gold.jsonl", "relations.system.jsonl"),
    "roles": ("roles.gold.jsonl", "roles.system.jsonl"),
    "spans": ("spans.gold.iob", "spans.system.iob"),
    "templates": ("templates.gold.jsonl", "templates.system.jsonl"),
}
"""The example of each task; the smallest command scores its first document."""


def shorten(task: str, folder: Path) -> list[str]:
    """The first document of a task's example, on both sides, as files."""
    texts = [(EXAMPLES / name).read_text(encoding="utf-8") for name in FILES[task]]
    if FILES[task][0].endswith(".jsonl"):
        texts = [text.splitlines(keepends=True)[0] for text in texts]
    paths = [folder / name for name in FILES[task]]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return [str(path) for path in paths]


def others(folder: Path) -> dict[str, list[str]]:
    """The commands besides `score`, on the smallest files."""
    records, spans = shorten("records", folder), shorten("spans", folder)
    return {
        "--help": ["--help"],
        "score --help": ["score", "--help"],
        "score records --help": ["score", "records", "--help"],
        "list": ["list"],
        "demo": ["demo"],
        "explain records": ["explain", "records", *records],
        "explain spans": ["explain", "spans", *spans],
        "compare records": ["compare", "records", records[0], f"a={records[1]}", f"b={records[1]}"],
        "check coreference.muc": ["check", "coreference.muc"],
        "judge --help": ["judge", "--help"],
    }


def command(arguments: Sequence[str], repeat: int) -> Run:
    return launch(["-m", "tallystick", *arguments], repeat=repeat)


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; False if a command breaks."""
    repeat = max(repeat, 3 if quick else 7)
    python = launch(["-c", "pass"], repeat=repeat)
    numpy = launch(["-c", "import numpy"], repeat=repeat)
    table = [["", "CPU s", "x import numpy", "peak MB", "what went wrong"]]

    def add(name: str, found: Run) -> None:
        ratio = f"{found.cpu / numpy.cpu:.2f}"
        table.append([name, f"{found.cpu:.3f}", ratio, f"{found.peak:,.0f}", found.problem])

    add("python", python)
    add("import numpy", numpy)
    package = launch(["-c", "import tallystick"], repeat=repeat)
    add("import tallystick", package)
    against = {"`python -c pass`": python.cpu}
    claim("`import tallystick`, the interpreter included", package.cpu, at_most=SMALL["import"], against=against)
    with tempfile.TemporaryDirectory() as folder:
        for task in FILES:
            found = command(["score", task, *shorten(task, Path(folder))], repeat)
            add(f"score {task}", found)
            against = {"`import numpy`": numpy.cpu}
            claim(f"smallest `score {task}`", found.cpu, at_most=SMALL["score"], against=against)
        for name, arguments in others(Path(folder)).items():
            add(name, command(arguments, repeat))
    show(f"start-up: whole processes, the best of {repeat}", table)
    return not any(line[-1] for line in table[1:])

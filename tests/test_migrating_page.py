"""docs/migrating.md: every script is run, before and after; what the page says about their figures and their lines is so."""

import difflib
import io
import re
import runpy
import shutil
import sys
import types
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import tallystick.examples

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "tests" / "adapters" / "peers"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
INTRODUCTION, *SECTIONS = re.split(
    r"^## (?=\d)", (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8"), flags=re.M
)
TITLES = [section.split("\n", 1)[0] for section in SECTIONS]
EVALUATE = "Hugging Face evaluate"


def blocks(section, kind):
    return [content for found, content in BLOCK.findall(section) if found == kind]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files of the scripts, where they are run. Their own modules are forgotten afterwards."""
    for file in Path(tallystick.examples.__file__).parent.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    (data,) = blocks(INTRODUCTION, "python")
    (tmp_path / "data.py").write_text(data)
    shutil.copy(PEERS / "metrics.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("data", "metrics"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def printed(folder, script):
    (folder / "script.py").write_text(script)
    out = io.StringIO()
    with redirect_stdout(out):
        runpy.run_path(str(folder / "script.py"))
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").split("\n"))


class Seqeval:
    """What `evaluate.load("seqeval")` answers. It downloads a script that asks seqeval for a report; this asks for the same one."""

    def __init__(self):
        self.sides = {"predictions": [], "references": []}

    def add_batch(self, **sides):
        for name, texts in sides.items():
            self.sides[name] += texts

    def compute(self, scheme=None, **options):
        import seqeval.metrics
        import seqeval.scheme

        self.add_batch(**{name: options.pop(name) for name in self.sides if name in options})
        gold, guess = self.sides["references"], self.sides["predictions"]
        scheme = None if scheme is None else getattr(seqeval.scheme, scheme)
        report = seqeval.metrics.classification_report(gold, guess, output_dict=True, scheme=scheme, **options)
        out = {name: self.named(row) for name, row in report.items() if not name.endswith(" avg")}
        overall = {
            f"overall_{name}": value for name, value in self.named(report["micro avg"]).items() if name != "number"
        }
        return {**out, **overall, "overall_accuracy": seqeval.metrics.accuracy_score(gold, guess)}

    @staticmethod
    def named(row):
        names = {"precision": "precision", "recall": "recall", "f1": "f1-score"}
        return {**{one: float(row[other]) for one, other in names.items()}, "number": int(row["support"])}


def test_there_are_fifteen():
    of = [title.partition(". ")[2].partition(":")[0] for title in TITLES]
    assert [title.partition(".")[0] for title in TITLES] == [str(k) for k in range(1, 16)]
    wanted = {
        "seqeval": 4,
        EVALUATE: 2,
        "nervaluate": 2,
        "CorefEvaluator": 2,
        "smatch": 2,
        "udtools": 1,
        "metametric": 1,
        "stickler": 1,
    }
    assert {name: of.count(name) for name in of} == wanted


@pytest.mark.parametrize("section", SECTIONS, ids=TITLES)
def test_after(section, folder):
    _, after = blocks(section, "python")
    assert printed(folder, after) == blocks(section, "")[0].strip("\n")


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # udtools leaves files open
@pytest.mark.parametrize("section", SECTIONS, ids=TITLES)
def test_before(section, folder, monkeypatch):
    before, _ = blocks(section, "python")
    package = section.partition(". ")[2].partition(":")[0]
    for name in {EVALUATE: ["seqeval"], "CorefEvaluator": []}.get(package, [package]):
        pytest.importorskip(name, reason="the peer")
    if package == EVALUATE:
        monkeypatch.setitem(
            sys.modules, "evaluate", types.SimpleNamespace(load=lambda name: {"seqeval": Seqeval}[name]())
        )
    *_, shown = blocks(section, "")  # its own where the figures differ
    assert printed(folder, before) == shown.strip("\n")


@pytest.mark.parametrize("section", SECTIONS, ids=TITLES)
def test_what_is_said_about_lines_and_figures(section):
    before, after = (script.strip("\n").split("\n") for script in blocks(section, "python"))
    changes = [
        code[1:]
        for code in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if code[0] != "equal"
    ]
    changed = sum(max(i2 - i1, j2 - j1) for i1, i2, j1, j2 in changes)
    said = re.search(
        r"^(\d+) of (\d+) lines? changed(?: \((\d+) lines now\))?\. Figures: (equal|different)", section, re.M
    )
    assert said is not None
    assert [int(said[1]), int(said[2])] == [changed, len(before)]
    assert (int(said[3]) if said[3] else len(before)) == len(after)
    assert (said[4] == "different") == (len(blocks(section, "")) == 2)

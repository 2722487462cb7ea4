"""`tallystick cite`: every metric has its papers, every paper is there, and BibTeX takes them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tallystick
from running import run
from tallystick.cli.about import FRAMEWORK, STATISTICS, entries, keys_of, metric_names
from tallystick.tasks.contract import find_task, task_names

EXAMPLES = Path(tallystick.__file__).parent / "examples"


def keys(*words):
    return re.findall(r"^@\w+\{([^,]+),", run("cite", *words).stdout, re.MULTILINE)


def test_tallystick_and_the_framework_belong_to_everything():
    assert keys() == keys("records") == ["tallystick", FRAMEWORK]


@pytest.mark.parametrize("task", task_names())
def test_what_a_task_declares_is_there(task):
    declared = find_task(task)
    known = set(metric_names(declared))
    assert set(declared.cites) <= {"", *known}
    for metric in known:
        for key in keys_of(declared, metric):
            assert key in entries()
    assert keys(task)[:2] == ["tallystick", FRAMEWORK]


def test_every_entry_is_cited_and_complete():
    used = {
        key
        for task in task_names()
        for metric in ("", *metric_names(find_task(task)))
        for key in keys_of(find_task(task), metric)
    }
    assert used | {FRAMEWORK, *(key for one in STATISTICS.values() for key in one)} == set(entries())
    for key, entry in entries().items():
        fields = set(re.findall(r"^    (\w+) = ", entry, re.MULTILINE))
        assert {"title", "author", "year"} <= fields, key
        assert "pages" in fields or entry.startswith("@book"), key
        assert fields & {"booktitle", "journal", "publisher"}, key
        assert re.search(r"year = \{(\d+)\}", entry)[1] in key


def test_it_is_what_the_citation_file_says():
    cff = Path(__file__).parents[2].joinpath("CITATION.cff").read_text()
    shown = run("cite").stdout
    for field in ("title", "version", "license"):
        assert re.search(rf'^{field}: "?(.*?)"?$', cff, re.MULTILINE)[1] in shown
    assert re.search(r'- name: "(.*)"', cff)[1] in shown


def test_metrics_by_name():
    assert keys("coreference.muc") == ["tallystick", FRAMEWORK, "vilain-etal-1995-model", "pradhan-etal-2014-scoring"]
    assert keys("smatch") == keys("amr.smatch")
    assert "holm-1979-simple" in keys("spans.ts", "holm")
    assert "Did you mean" in run("cite", "coreference.muk", code=2).stderr
    assert "say which: relations.strict" in run("cite", "strict", code=2).stderr
    assert "no file, task or metric is called so" in run("cite", "nothing", code=2).stderr


def test_a_result_says_what_it_used(tmp_path):
    gold, system = EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob"
    for command in (
        ("score", "spans", gold, system),
        ("compare", "spans", gold, f"A={system}", f"B={gold}", "--interval", "bca"),
    ):
        (tmp_path / "r.json").write_text(run(*command, "--format", "json").stdout)
        found = keys(tmp_path / "r.json")
        assert {"tjong-kim-sang-de-meulder-2003-introduction", "esuli-sebastiani-2010-evaluating"} <= set(found)
        assert ("efron-1987-better" in found) == (command[0] == "compare")
        assert ("noreen-1989-computer" in found) == (command[0] == "compare")
    run("score", "spans", gold, system, "--save", tmp_path / "s.json")
    assert "esuli-sebastiani-2010-evaluating" in keys(tmp_path / "s.json")
    (tmp_path / "x.json").write_text("[1]")
    assert "is no result" in run("cite", tmp_path / "x.json", code=2).stderr
    (tmp_path / "x.json").write_text("{}")
    assert "does not say its task" in run("cite", tmp_path / "x.json", code=2).stderr


def test_the_comment_in_latex_is_a_command():
    gold, system = EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob"
    shown = run("compare", "spans", gold, f"A={system}", f"B={gold}", "--format", "latex").stdout
    words = re.search(r"^% References as BibTeX: tallystick cite (.*)$", shown, re.MULTILINE)[1].split()
    assert {"esuli-sebastiani-2010-evaluating", "noreen-1989-computer", "holm-1979-simple"} <= set(keys(*words))


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="needs bibtex: make latex")
def test_bibtex_takes_them_all(tmp_path):
    (tmp_path / "all.bib").write_text(run("cite", *task_names(), *STATISTICS).stdout, encoding="utf-8")
    (tmp_path / "c.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n")
    done = subprocess.run(["bibtex", "c"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert not [line for line in done.stdout.splitlines() if "Warning" in line and "year in tallystick" not in line]

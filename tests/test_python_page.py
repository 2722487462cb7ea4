"""docs/python.md: every example gives what it shows, every task is there from data and from files, and files have the command's figures."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import pytest

import tallystick as ts
from public_data import PUBLIC
from running import run
from tallystick.tasks.contract import task_names

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "src" / "tallystick" / "examples"
FILES = re.compile(r'ts\.(\w+)\("([\w.]+)", "([\w.]+)"(?:, "(\w+)")?')
CALLS = {name: (reference, predicted) for name, reference, predicted, _ in FILES.findall(PAGE)}
SHARED = PUBLIC


def test_every_example_gives_what_it_shows(monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S))
    runner = doctest.DocTestRunner()
    result = runner.run(doctest.DocTestParser().get_doctest(code, {}, "python.md", "python.md", 0))
    assert result.attempted > 40
    assert not result.failed


def test_every_task_is_on_the_page_from_data_and_from_files():
    assert set(CALLS) == set(task_names())
    for name in task_names():
        assert len(re.findall(rf"ts\.{name}\((?!\")|ts\.{name}\(\"\(", PAGE)) >= 1, f"{name} is not shown with data"


def figures(results):
    """All figures of all metrics, as the command writes them."""
    return {name: dict(result.figures) for name, result in results.items()}


def commands(name, reference, predicted, *options):
    done = run("score", name, reference, predicted, "--format", "json", *options)
    found = json.loads(done.stdout)["metrics"]
    return {
        metric: {figure: found[metric].get(figure) for figure in expected}
        for metric, expected in FIGURES(found).items()
    }


def FIGURES(found):
    return {
        metric: [key for key, value in entry.items() if value is None or isinstance(value, (int, float))]
        for metric, entry in found.items()
    }


@pytest.mark.parametrize("name", task_names())
def test_files_have_the_commands_figures_to_the_bit(name):
    reference, predicted = (EXAMPLES / file for file in CALLS[name])
    expected = commands(name, reference, predicted)
    found = figures(getattr(ts, name)(reference, predicted))
    assert set(found) == set(expected)
    for metric, own in found.items():
        assert own
        for figure, value in own.items():
            assert expected[metric][figure] == value

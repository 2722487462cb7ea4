"""The tables of errors in the pages: the commands print them."""

import re
from pathlib import Path

import pytest

from running import run
from tallystick.tasks.contract import find_task, task_names

ROOT = Path(__file__).parents[1]


def tables():
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        pattern = r"```\ntallystick (score \w+ [^\n]*--errors[^\n]*)\n```\n\n((?:\|.*\n)+)"
        for command, table in re.findall(pattern, text):
            if "DATA" not in command:
                yield pytest.param(command, table, id=f"{page.stem}: {command[:40]}")


@pytest.mark.parametrize(("command", "table"), list(tables()))
def test_a_command_prints_the_errors_below_it(command, table):
    shown = run(*command.split(), "--format", "markdown", cwd=ROOT / "src" / "tallystick" / "examples").stdout
    assert table.strip() in shown


def test_the_page_names_every_kind():
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for name in task_names():
        kinds = find_task(name).kinds
        assert not kinds or f"| {', '.join(kinds)} |" in page

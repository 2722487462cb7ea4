"""The pages of the tasks: every command prints the table below it, and every Python example gives what its comment says."""

import re
from pathlib import Path

import pytest

from running import run

ROOT = Path(__file__).parents[1]
PAGES = ("relations", "events", "arguments", "roles", "nary", "spans", "dependencies")


def commands():
    for page in PAGES:
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for command, table in re.findall(r"```\n\$ tallystick (.*?)\n```\n\n((?:\|.*\n)+)", text):
            yield pytest.param(command, table, id=f"{page}: {command[:60]}")


@pytest.mark.parametrize(("command", "table"), list(commands()))
def test_a_command_prints_the_table_below_it(command, table):
    done = run(*command.split(), cwd=ROOT / "src" / "tallystick" / "examples")
    assert done.stdout.strip() == table.strip()


@pytest.mark.parametrize("page", PAGES)
def test_a_python_example_gives_what_it_says(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for code in re.findall(r"```python\n((?:from|import) .*?)```", text, re.S):
        *before, last = code.strip().splitlines()
        expression, expected = re.split(r"\s+# ", last)
        names: dict = {}
        exec("\n".join(before), names)
        assert eval(expression, names) == eval(expected)

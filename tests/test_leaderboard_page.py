"""What docs/leaderboard.md and docs/paper.md show is what comes out."""

import re
import shlex
from pathlib import Path

import pytest

from running import run

ROOT = Path(__file__).parents[1]
WNUT = ROOT.parent / "shared" / "data" / "spans" / "wnut17"
PAGE = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
PAPER = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"```console\n\$ tallystick (leaderboard .*?)\n(.*?)```", PAGE, re.S))
needs_wnut = pytest.mark.skipif(
    not WNUT.exists(), reason="needs the submissions of WNUT-17 (leondz/emerging_entities_17)"
)


def lines(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("command", [one for one in SHOWN if "figures" in one])
def test_commands_over_bundled_figures(command):
    printed = lines(run(*shlex.split(command), cwd=ROOT / "src" / "tallystick" / "examples").stdout)
    expected = "\n".join(lines(SHOWN[command]))
    for part in expected.split("..."):  # what the page leaves out
        assert part.strip("\n") in "\n".join(printed)


@needs_wnut
def test_wnut_17(tmp_path):
    (command,) = [one for one in SHOWN if "emerging" in one]
    arguments = shlex.split(command)
    arguments[arguments.index("wnut17.svg")] = str(tmp_path / "wnut17.svg")
    assert lines(run(*arguments, cwd=WNUT).stdout) == lines(SHOWN[command])


@needs_wnut
def test_the_table_for_a_paper():
    command, table = re.search(r"\$ tallystick (leaderboard .*?)\n```\n\n```latex\n(.*?)```", PAPER, re.S).groups()
    assert table.strip() in "\n".join(line for line in run(*shlex.split(command), cwd=WNUT).stdout.splitlines())

"""The tutorial's commands print what the tutorial says they print."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from running import run

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"
EXAMPLES = ROOT / "src" / "tallystick" / "examples"


def tidy(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).strip("\n")


@pytest.mark.filterwarnings("default")
def test_every_command_prints_what_stands_below_it(tmp_path, monkeypatch):
    pytest.importorskip("json_repair")
    pytest.importorskip("yaml")
    text = TUTORIAL.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for file in EXAMPLES.glob("*.jsonl"):
        shutil.copy(file, tmp_path)
    (tmp_path / "choices.yaml").write_text(re.search(r"```yaml\n(.*?)```", text, re.S).group(1))
    commands = re.findall(r"```console\n\$ tallystick (.*?)\n(.*?)```", text, re.S)
    assert len(commands) == 7
    for command, shown in commands:
        assert tidy(run(*shlex.split(command)).stdout) == tidy(shown), command


def test_the_receipts_are_those_of_their_generator(tmp_path):
    from benchmarks import receipts

    receipts.write(tmp_path)
    for file in tmp_path.iterdir():
        assert (EXAMPLES / file.name).read_bytes() == file.read_bytes()


def test_the_page_has_the_kinds_of_errors_in_their_order():
    from tallystick.results.kinds import KINDS

    page = (
        (ROOT / "docs" / "records.md")
        .read_text(encoding="utf-8")
        .partition("## What kind of errors")[2]
        .partition("## ")[0]
    )
    named = re.findall(r"^\| ([a-z]+(?:, [a-z]+)*) \|", page, re.M)
    assert ", ".join(named).split(", ")[1:] == list(KINDS)

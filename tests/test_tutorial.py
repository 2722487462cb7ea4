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
    text, said = TUTORIAL.read_text(encoding="utf-8"), ""
    monkeypatch.chdir(tmp_path)
    for file in EXAMPLES.glob("receipts.*.jsonl"):
        shutil.copy(file, tmp_path)
    commands = re.findall(r"```console\n\$ tallystick (.*?)\n(.*?)```", text, re.S)
    assert 6 <= len(commands) <= 8
    codes = []
    for command, shown in commands:
        done = run(*shlex.split(command), code=None)
        codes.append(done.returncode)
        failed = "\n".join(line for line in done.stderr.splitlines() if line.startswith("FAILED"))
        assert tidy(failed if done.returncode else done.stdout) == tidy(shown), command
        said = done.stderr if command == commands[0][0] else said
    assert codes == [0] * (len(commands) - 1) + [1]  # the gate is the last
    (on_standard_error,) = re.findall(r"```\n(shape, .*?)```", text, re.S)
    assert all(line in said.splitlines() for line in on_standard_error.splitlines())
    (written,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    assert (tmp_path / "choices.yaml").read_text(encoding="utf-8") == written


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

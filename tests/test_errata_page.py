"""Every error of a paper that docs/errata.md lists is shown by the command or the Python below it."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

import tallystick
from running import run

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "src" / "tallystick" / "examples"
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAPERS = re.split(r"^## ", PAGE, flags=re.M)[1:]


def commands():
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.S):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            yield pytest.param(command, shown, id=command)


@pytest.mark.parametrize(("command", "shown"), list(commands()))
def test_a_command_shows_what_stands_below_it(command, shown):
    piped, _, command = command.rpartition(" | ")
    stdin = shlex.split(piped)[1].encode() if piped else b""
    program, *arguments = shlex.split(command)
    assert program == "tallystick"
    done = run(*arguments, cwd=EXAMPLES, stdin=stdin, code=None)
    found = "\n".join(line for line in (done.stdout or done.stderr).splitlines() if line.strip())
    assert doctest.OutputChecker().check_output(shown, found + "\n", FLAGS), found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("paper", PAPERS, ids=[paper.split("*")[1] for paper in PAPERS])
def test_the_python_of_each_paper(paper, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    code = "\n".join(re.findall(r"```python\n(.*?)```", paper, re.S))
    found = doctest.DocTestParser().get_doctest(code, {"ts": tallystick}, paper[:30], "errata.md", 0)
    result = doctest.DocTestRunner(optionflags=FLAGS).run(found)
    assert result.attempted
    assert not result.failed


def test_the_papers_are_all_there():
    assert len(PAPERS) == 5

"""What docs/judging.md shows is what comes out, command by command, in one folder."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

from running import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")


def test_the_commands_give_the_tables_below_them(tmp_path):
    for file in (ROOT / "src" / "tallystick" / "examples").glob("arguments.*"):
        shutil.copy(file, tmp_path)
    compared = 0
    for block, below in re.findall(r"```\n((?:\$ .*\n)+)```\n((?:\n(?:\|.*\n)+)*)", PAGE):
        for line in block.splitlines():
            if " serve " in line:
                continue
            program, *arguments = shlex.split(line.removeprefix("$ "))
            assert program == "tallystick"
            done = run(*arguments, cwd=tmp_path, code=None)
            if line == "$ tallystick judge agreement judgements.sqlite":
                assert (
                    "there are no judgements here yet" in done.stderr
                )  # at the top of the page, people come in between
                continue
            assert done.returncode == 0, done.stderr
        if below:
            assert done.stdout.strip() == below.strip()
            compared += 1
    assert compared == 2


def test_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S))
    result = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(code, {}, "judging.md", "judging.md", 0))
    assert (result.attempted > 4, result.failed) == (True, 0)

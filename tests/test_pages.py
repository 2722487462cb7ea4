"""What docs/amr.md, docs/orders.md and docs/confidence.md show is what comes out."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from running import run

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)


def blocks(page, kind):
    text = (DOCS / page).read_text(encoding="utf-8")
    return [content for found, content in BLOCK.findall(text) if found == kind]


@pytest.mark.parametrize("page", ["amr.md", "orders.md", "confidence.md"])
def test_python(page):
    runner, names = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), {}
    code = "\n".join(blocks(page, "python"))
    result = runner.run(doctest.DocTestParser().get_doctest(code, names, page, page, 0), clear_globs=False)
    assert result.attempted
    assert not result.failed


def test_commands(tmp_path):
    gold, system = blocks("amr.md", "amr")
    (tmp_path / "gold.amr").write_text(gold)
    (tmp_path / "system.amr").write_text(system)
    (tmp_path / "broken.amr").write_text("# ::id boy\n(w / want-01 :ARG0 :ARG1 (b / boy))\n")
    shown = [block for block in blocks("amr.md", "") if block.startswith("$ ")]
    assert len(shown) == 3
    for block in shown:
        command, expected = block.split("\n", 1)
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "tallystick"
        done = run(*arguments, code=None, cwd=tmp_path)
        lines = [line.rstrip() for line in (done.stdout or done.stderr).strip("\n").splitlines()]
        assert lines == expected.strip("\n").splitlines()

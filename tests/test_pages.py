"""What docs/amr.md, docs/orders.md, docs/confidence.md and docs/comparing.md (on receipts) show is what comes out."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from running import run

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = Path(__file__).parents[1] / "src" / "tallystick" / "examples"
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


def test_commands_about_receipts(tmp_path):
    """The commands of docs/comparing.md on the receipts of the package, one after the other: tables, and gates that fail."""
    for file in EXAMPLES.glob("receipts.*"):
        shutil.copy(file, tmp_path)
    shown = [block for block in blocks("comparing.md", "console") if "receipts." in block.split("\n", 1)[0]]
    assert len(shown) == 6
    for block in shown:
        command, expected = block.split("\n", 1)
        done = run(*shlex.split(command.removeprefix("$ "))[1:], code=None, cwd=tmp_path)
        failed = [line for line in done.stderr.splitlines() if line.startswith("FAILED")]
        assert done.returncode == bool(failed)
        found = [line.rstrip() for line in done.stdout.splitlines() if line.strip()] + failed
        assert found == [line for line in expected.splitlines() if line.strip()]

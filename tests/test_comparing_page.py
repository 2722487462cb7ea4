"""What docs/comparing.md shows of the bundled figures is what comes out."""

import re
import shlex
from pathlib import Path

from running import run

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")


def tidy(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).strip("\n")


def test_commands_over_bundled_figures():
    shown = re.findall(r"```console\n\$ tallystick (compare figures .*?)\n(.*?)```", PAGE, re.S)
    assert len(shown) == 2
    for command, expected in shown:
        done = run(*shlex.split(command), cwd=ROOT / "src" / "tallystick" / "examples")
        assert tidy(done.stdout) == tidy(expected)


def test_python():
    code = re.search(r"```python\n(from .*?)```", PAGE, re.S).group(1)
    *before, last = code.strip().splitlines()
    expression, expected = last.split("  # ")
    names = {}
    exec("\n".join(before), names)
    assert eval(expression, names) == eval(expected)

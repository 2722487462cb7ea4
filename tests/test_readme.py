"""The README's examples print what the README says it prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize(("code", "shown"), EXAMPLES, ids=["score", "derive"])
def test_an_example_prints_what_stands_below_it(code, shown):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert run.stdout.strip("\n") == shown.strip("\n")

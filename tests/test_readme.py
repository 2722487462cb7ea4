"""The README's example prints what the README says it prints."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_first_example_prints_what_stands_below_it():
    text = README.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    shown = re.search(r"```\n(  metric.*?)```", text, re.S).group(1)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert run.stdout.strip("\n") == shown.strip("\n")

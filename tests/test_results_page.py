"""docs/results.md: every example gives what it shows, and the ranks of its script agree with one call."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

from running import PATIENCE

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_every_example_gives_what_it_shows(monkeypatch):
    monkeypatch.chdir(ROOT / "src" / "tallystick" / "examples")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S))
    result = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(code, {}, "results.md", "results.md", 0))
    assert result.attempted > 15
    assert not result.failed


def test_two_processes_gather_what_one_call_would_say(tmp_path):
    script, shown = re.search(r"^```python\n(# ranks\.py\n.*?)^```\n\n```text\n(.*?)^```", PAGE, re.M | re.S).groups()
    (tmp_path / "ranks.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "ranks.py"], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=True
    )
    assert done.stdout == shown
    assert done.stderr == ""

"""Every file that CONTRIBUTING.md names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_files_that_are_named_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([a-z_]+/[\w/.]+)`", text) if "NAME" not in name]
    assert len(named) > 15
    assert [n for n in named if not (ROOT / n).exists() and not (ROOT / "src" / "tallystick" / n).exists()] == []

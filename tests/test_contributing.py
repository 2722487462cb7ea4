"""CONTRIBUTING.md can be trusted, and read: every file that it names exists, and every row of "To add" is short."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MOST_WORDS = 80


def test_files_that_are_named_are_there():
    named = [name for name in re.findall(r"`([a-z_]+/[\w/.]+)`", TEXT) if "NAME" not in name]
    assert len(named) > 15
    assert [n for n in named if not (ROOT / n).exists() and not (ROOT / "src" / "tallystick" / n).exists()] == []


def test_what_is_named_in_a_file_is_in_it():
    """`FORMATS` of `files.py` and the like: a name in capitals before or after the file that has it."""
    pairs = [(name, file) for name, file in re.findall(r"`([A-Z][A-Z_]+)` of `([a-z_]+/[\w/.]+)`", TEXT)]
    pairs += [(name, file) for file, name in re.findall(r"`([a-z_]+/[\w/.]+)`[^`|]*\(`([A-Z][A-Z_]+)`\)", TEXT)]
    assert len(pairs) > 4
    for name, file in pairs:
        found = next(path for path in (ROOT / file, ROOT / "src" / "tallystick" / file) if path.exists())
        assert re.search(rf"^{name}\b", found.read_text(encoding="utf-8"), re.MULTILINE), (name, file)


def test_rows_are_steps_and_not_essays():
    rows = [line for line in _section("To add").splitlines() if line.startswith(("| a", "| the"))]
    assert len(rows) > 20
    assert [row[:40] for row in rows if len(row.split()) > MOST_WORDS] == []
    for row in rows:
        steps = [int(number) for number in re.findall(r"(?<![\w.])(\d)\. ", row)]
        assert steps == list(range(1, len(steps) + 1)), row[:40]


def _section(title):
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]

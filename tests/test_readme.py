"""README.md: its examples print what it shows, its badges are true, its pictures are small, and it stays short."""

import re
from pathlib import Path

from pages import replay

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_examples_print_what_is_below_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert replay(README) == README


def test_the_badges_are_true():
    badges = re.findall(r"img\.shields\.io/badge/(\w+)-(.+?)-blue", README)
    assert dict(badges) == {"python": "3.10%2B", "license": "Apache--2.0", "typed": "mypy%20strict"}
    assert 'requires-python = ">=3.10"' in PROJECT
    assert 'license = "Apache-2.0"' in PROJECT
    assert (ROOT / "src" / "tallystick" / "py.typed").exists()
    assert "strict = true" in PROJECT.partition("[tool.mypy]")[2]


def test_the_pictures_are_there_and_small():
    pictures = re.findall(r"!\[.*?\]\((docs/.*?)\)", README)
    assert len(pictures) == 2
    assert all(10_000 < (ROOT / name).stat().st_size < 150_000 for name in pictures)


def test_every_link_leads_somewhere():
    assert not [name for name in re.findall(r"\]\(((?!http)[^)#]+)", README) if not (ROOT / name).exists()]


def test_the_table_of_what_it_covers_is_short_and_names_every_task():
    from tallystick.tasks.contract import task_names

    table = README.partition("## What it covers")[2].partition("## ")[0]
    assert len(re.findall(r"^\| \[", table, re.M)) <= 15
    assert all(f"docs/{name}.md" in table for name in task_names())

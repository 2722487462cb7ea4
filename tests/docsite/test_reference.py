"""The reference: every public name has a docstring with an example that runs, every option its sentence, every page its place."""

import doctest
import re
import warnings
from pathlib import Path

import pytest
import yaml

pytest.importorskip("markdown")

from dataclasses import dataclass
from typing import Annotated

import tallystick as ts
from docsite.commands import every_option
from docsite.python_api import ADAPTERS, all_names
from docsite.reference import UNMADE, _Made, made
from tallystick import structures
from tallystick.algebra.choose import PARTS, WORDS, similarities

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = {f"{one.home}: {one.name}": one for one in all_names()}
KNOWN = {name: getattr(structures, name) for name in structures.__all__} | {
    "ts": ts,
    "dataclass": dataclass,
    "Annotated": Annotated,
}


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = NAMES[name]
    assert one.doc.strip().split("\n")[0], "there is no docstring"
    example = doctest.DocTestParser().get_doctest(one.doc, {**KNOWN, "__name__": "__main__"}, name, None, 0)
    assert example.examples, "the docstring has no example"
    assert any(line.want for line in example.examples), "the example shows nothing"
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert not result.failed, "".join(said)


def test_all_that_is_public_is_in_the_reference():
    assert {f"ts.{name}" for name in dir(ts)} <= {one.name for one in NAMES.values()}
    assert set(ts.__all__) <= set(dir(ts))
    modules = {file.stem for file in (ROOT / "src/tallystick/adapters").glob("[a-z]*.py")}
    assert modules == set(ADAPTERS)


def test_every_option_has_its_sentence():
    found = list(every_option())
    assert len(found) > 500
    wrong = {
        f"{command} {one.opts[0]}: {one.help!r}"
        for command, one in found
        if not re.fullmatch(r"[A-Z0-9.`\-].*\.(\s+\[default.*\])?", one.help or "", re.DOTALL)
    }
    assert not wrong


def test_every_page_is_in_the_navigation_once():
    text = re.sub(r"!!\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for one in (entry.values() if isinstance(entry, dict) else entry) for page in pages(one)]

    listed = pages(yaml.safe_load(text)["nav"])
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


LINES = [(page.name, line) for page in DOCS.glob("*.md") for line in re.findall(r"^<!-- made: (.+) -->$", page.read_text(encoding="utf-8"), re.M)]  # fmt: skip


@pytest.mark.parametrize("line", sorted({line for _, line in LINES}))
def test_what_is_made_from_the_code_is_there(line):
    assert len(made(line)) > 40


def test_every_command_has_its_place():
    from tallystick.cli.main import tallystick

    asked = {line.split()[1] for _, line in LINES if line.startswith("commands ")}
    assert asked == {*tallystick.commands, *tallystick.lazy}


def test_every_word_of_a_choice_is_on_its_page():
    page = (DOCS / "choices.md").read_text(encoding="utf-8") + made("choices")
    assert not [word for word in (*PARTS, *WORDS, *similarities()) if f"`{word}`" not in page]


@pytest.mark.parametrize("page", ["choices.md", "output.md"])
def test_the_examples_of_the_pages(page):
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S))
    result = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(code, dict(KNOWN), page, page, 0))
    assert result.attempted
    assert not result.failed


def test_the_choices_of_the_page_can_be_read():
    block = re.search(r"```yaml\n(.*?)```", (DOCS / "choices.md").read_text(encoding="utf-8"), re.S)[1]
    record = {"vendor": "Acme", "total": 1.5, "date": "2024-05-17", "lines": [{"sku": "a", "note": "x"}]}
    assert ts.score(record, record, choices=yaml.safe_load(block)).f1 == 1


def test_a_blank_line_of_doctest_is_blank_on_the_site():
    markdown = pytest.importorskip("markdown")
    page = "```python\n>>> print(results)\none\n<BLANKLINE>\ntwo\n```\n"
    found = markdown.markdown(page, extensions=["fenced_code", "docsite.reference"])
    assert "BLANKLINE" not in found
    assert "one\n\ntwo" in found


PAGES = [page for page in sorted(DOCS.glob("*.md")) if "<!-- made: " in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_with_made_parts_says_where_they_are_until_the_site_is_built(page):
    lines = page.read_text().splitlines()
    (said,) = [line for line in lines if line.startswith(UNMADE)]
    assert "`make docs` builds the page.*" in said
    assert lines.index(said) < next(k for k, line in enumerate(lines) if line.startswith("<!-- made: "))
    built = _Made(None).run([said, "<!-- made: choices -->"])
    assert built[0] == ""
    assert len(built) > 5

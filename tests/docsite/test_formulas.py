"""Formulas of the pages become MathML; what stands in code does not."""

import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

markdown = pytest.importorskip("markdown")
pytest.importorskip("latex2mathml")

DOCS = Path(__file__).parents[2] / "docs"


def html(text):
    return markdown.markdown(text, extensions=["tables", "fenced_code", "docsite.formulas"])


@pytest.mark.parametrize("page", sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")))
def test_no_formula_of_a_page_stays_latex(page):
    found = html((DOCS / page).read_text(encoding="utf-8"))
    prose = tree.fromstring(f"<all>{found.replace('<br>', '<br/>').replace('&nbsp;', ' ')}</all>")
    for code in [*prose.iter("code"), *prose.iter("pre")]:
        code.clear()
    assert not [text for text in prose.itertext() if "\\" in text and "$" in text]


def test_code_keeps_its_dollars():
    assert "math" not in html("`$HOME` and `$PATH`\n\n```\necho $A $B\n```\n\nfrom $5 to $6")


def test_what_latex2mathml_leaves_is_mended():
    found = html(r"$$\Sigma_\delta(P, \varnothing) = |P \cap R| + \mathrm{F} \tag{3}$$")
    assert '<mi mathvariant="normal">&#x003A3;</mi>' in found  # Σ upright
    assert "<mi>&#x02205;</mi>" in found  # ∅ without the spaces of an operator
    assert '<mo form="prefix" stretchy="false">|</mo>' in found
    assert "<mtext>F</mtext>" in found
    assert "<span>(3)</span>" in found

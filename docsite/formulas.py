"""Formulas become MathML when the site is built: the pages need no script and no network, and the font comes with them.

`$...$` stands in a line and `$$...$$` alone in its paragraph. This is an extension of Python-Markdown, which Zensical and MkDocs both take.
"""

from __future__ import annotations

import re
from itertools import cycle

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

_BLOCK = r"\$\$(.+?)\$\$"
_INLINE = r"(?<![\\$\w])\$(?![\s$])([^$\n]+?)(?<!\s)\$(?![$\d])"
_TAG = re.compile(r"\\tag\{([^}]*)\}")
_BAR = re.compile(r"<mo[^>]*>&#x0007C;</mo>")

_MENDED = (
    (re.compile(r"<mi>(&#x003[9A][0-9A-F];)</mi>"), r'<mi mathvariant="normal">\1</mi>'),  # Σ stands upright, as in TeX
    (re.compile(r"<mo>(&#x02205;)</mo>"), r"<mi>\1</mi>"),  # ∅ is no operator
    (re.compile(r"<mi>(&#x027E6;)</mi>"), r'<mo form="prefix" stretchy="false">\1</mo>'),
    (re.compile(r"<mi>(&#x027E7;)</mi>"), r'<mo form="postfix" stretchy="false">\1</mo>'),
    (re.compile(r"<mover>(?=<mrow><mi>\w+</mi></mrow><mo)"), '<mover accent="true">'),
)
"""What latex2mathml writes, and what a browser needs."""


def mathml(formula: str, display: str = "inline") -> str:
    """A formula of LaTeX as MathML, its number beside it."""
    found = _TAG.search(formula)
    upright = re.sub(r"\\mathrm\{([A-Za-z]+)\}", r"\\text{\1}", _TAG.sub("", formula).strip())
    markup = convert(upright, display=display)
    for pattern, instead in _MENDED:
        markup = pattern.sub(instead, markup)
    forms = cycle(("prefix", "postfix"))
    markup = _BAR.sub(lambda _: f'<mo form="{next(forms)}" stretchy="false">|</mo>', markup)
    if display == "inline":
        return markup
    return f'<span class="formula"><span></span>{markup}<span>{f"({found[1]})" if found else ""}</span></span>'


class _Formula(InlineProcessor):
    """One kind of formula. What stands in backticks was taken before, so a `$` there is a dollar."""

    def __init__(self, pattern: str, markdown: Markdown, display: str) -> None:
        super().__init__(pattern, markdown)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]
        return self.md.htmlStash.store(mathml(m[1], self.display)), m.start(0), m.end(0)


class Formulas(Extension):
    """`markdown_extensions: [docsite.formulas]`."""

    def extendMarkdown(self, md: Markdown) -> None:
        # After backticks (190), before escapes (180) and emphasis: the underscores of a formula are its subscripts.
        md.inlinePatterns.register(_Formula(_BLOCK, md, "block"), "formula-block", 186)
        md.inlinePatterns.register(_Formula(_INLINE, md, "inline"), "formula-inline", 185)


def makeExtension(**options: object) -> Formulas:
    """Called by Python-Markdown."""
    return Formulas(**options)

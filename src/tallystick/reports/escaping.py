r"""Text that stays text: names of systems, labels and paths between the marks of LaTeX and of Markdown.

    B~^x_1    LaTeX     B\textasciitilde{}\textasciicircum{}x\_1
    a|b*      Markdown  a\|b\*

In LaTeX the signs that the tables themselves use and Greek letters become commands, so that pdflatex takes them without a
package; other scripts are left as they are, for LuaLaTeX or XeLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LATEX = {
    "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", **{sign: "\\" + sign for sign in "&%$#_{}"},
    "–": "--", "—": "---", "−": "$-$", "±": "$\\pm$", "×": "$\\times$", "·": "$\\cdot$", "…": "\\dots{}",
    "↑": "$\\uparrow$", "↓": "$\\downarrow$", "→": "$\\rightarrow$", "←": "$\\leftarrow$", "↔": "$\\leftrightarrow$",
    "≤": "$\\leq$", "≥": "$\\geq$", "≈": "$\\approx$", "≠": "$\\neq$", "∞": "$\\infty$", "Σ": "$\\Sigma$", "Δ": "$\\Delta$",
    "¹": "$^1$", "²": "$^2$", "³": "$^3$", "₁": "$_1$", "₂": "$_2$",
    "α": "$\\alpha$", "β": "$\\beta$", "γ": "$\\gamma$", "δ": "$\\delta$", "ε": "$\\varepsilon$", "ζ": "$\\zeta$", "η": "$\\eta$",
    "θ": "$\\theta$", "ι": "$\\iota$", "κ": "$\\kappa$", "λ": "$\\lambda$", "μ": "$\\mu$", "ν": "$\\nu$", "ξ": "$\\xi$", "π": "$\\pi$",
    "ρ": "$\\rho$", "σ": "$\\sigma$", "τ": "$\\tau$", "υ": "$\\upsilon$", "φ": "$\\varphi$", "χ": "$\\chi$", "ψ": "$\\psi$", "ω": "$\\omega$",
}  # fmt: skip
_TO_LATEX = str.maketrans(_LATEX)
_MARKS = re.compile(r"[\\`*|~$]|(?<![^\W_])_|_(?![^\W_])|<|&(?=#?\w+;)|(?<=\])\(")


def latex_text(text: str) -> str:
    """Text with the signs that LaTeX takes for its own made harmless; a number's minus is one, and two hyphens are two."""
    line = re.sub(r"^-(?=[\d.])", "−", " ".join(text.split()))
    return "-{}".join(part.translate(_TO_LATEX) for part in re.split(r"-(?=-)", line))


def latex_row(cells: Sequence[str]) -> str:
    r"""A row of a tabular. What begins it must not look like an option of the `\\` or of the rule before it."""
    first = "{}" + cells[0] if cells[0][:1] in ("[", "*") else cells[0]
    return " & ".join([first, *cells[1:]]) + " \\\\"


def latex_comment(text: str) -> str:
    """A comment of one line."""
    return "% " + " ".join(text.split())


def markdown_text(text: str) -> str:
    """Text with the signs that Markdown takes for its own made harmless; an underscore inside a word is not one of them."""
    return _MARKS.sub(lambda found: "&lt;" if found[0] == "<" else "\\" + found[0], " ".join(text.split()))


def markdown_code(text: str) -> str:
    """A line as it is, between as many backticks as it takes."""
    fence = "`" * (1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}"

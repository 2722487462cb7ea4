r"""Tables for papers: LaTeX, with booktabs rules, and Typst.

    arcada\textsuperscript{a} & \textbf{41.86}\textsuperscript{bd} {\scriptsize [38.43, 45.29]} & 1 $\uparrow$2 \\
    [arcada#super[a]], [*41.86*#super[bd] #text(0.75em)[\[38.43, 45.29\]]], [1 ↑2],

Both are laid out alike: figures in percent, the best in bold and the second underlined, letters raised, ranks in a column of their own, and
a caption that says what everything is, with the signature. What is text stays text, whatever signs it has. In LaTeX the signs that the
tables themselves use, and Greek letters, become commands, so that pdflatex takes them without a package; other scripts are left as
they are, for LuaLaTeX or XeLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tallystick.frozen import frozen
from tallystick.show.tables import BEST, PAPER, SECOND, Estimate, Name, Style, kind_of, places

if TYPE_CHECKING:
    from tallystick.show.tables import Table

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
_NUMERIC = re.compile(r"[-−+±–\d.,/%() ]*")


def latex_text(text: str) -> str:
    """Text with the signs that LaTeX takes for its own made harmless; a number's minus is one, and two hyphens are two."""
    line = re.sub(r"^-(?=[\d.])", "−", " ".join(text.split()))
    return "-{}".join(part.translate(_TO_LATEX) for part in re.split(r"-(?=-)", line))


def latex_comment(text: str) -> str:
    """A comment of one line."""
    return "% " + " ".join(text.split())


def typst_text(text: str) -> str:
    """Text as a string of Typst's, in which nothing is markup; a number's minus is one."""
    line = re.sub(r"^-(?=[\d.])", "−", " ".join(text.split()))
    return '#"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


@frozen
class Figure:
    """A figure and what stands around it, as text; `gap` is what others in its column have in front of it:
    a sign, digits."""

    number: str
    spread: str
    ends: str
    mark: str
    place: int
    gap: str


class Language(Protocol):
    """How a cell is set."""

    def text(self, text: str) -> str: ...

    def name(self, name: str, letter: str) -> str: ...

    def figure(self, one: Figure) -> str: ...


# The grid, which both languages share


@frozen
class Grid:
    """Cells that are set already. `sides` has l or r for each column, `spans` how many columns each head stands over, and `width` is how
    many letters of usual size a row has."""

    heads: Sequence[str]
    spans: Sequence[int]
    sides: str
    rows: Sequence[Sequence[str]]
    width: float


def laid_out(table: Table, style: Style, language: Language) -> Grid:
    """A table in a language: every column of figures with ranks is two columns."""
    marked = places(table, style)
    heads, spans, sides, width = [], [], "", 0.0
    columns: list[list[str]] = []
    for c, column in enumerate(table.columns):
        values = [row[c] for row in table.rows]
        letter, name = (column.letter if isinstance(column, Name) else ""), str(column)
        heads.append(language.name(name.replace("-", "−") if kind_of(column) == "gain" else name, letter))
        cells, wide = _column(values, column, style, language, {r: marked.get((r, c), 0) for r in range(len(values))})
        columns.append(cells)
        sides += "l" if c == 0 or not _of_numbers(values, column, style) else "r"
        ranks = [style.rank(value) if isinstance(value, Estimate) else "" for value in values]
        if any(ranks):
            columns.append([language.text(rank) if rank else "" for rank in ranks])
            sides += "l"
            wide += max(map(len, ranks)) + 1
        spans.append(2 if any(ranks) else 1)
        width += max(wide, len(name)) + 2
    return Grid(heads, spans, sides, list(zip(*columns, strict=True)), width)


def _column(
    values: Sequence[Any], column: str, style: Style, language: Language, marked: dict[int, int]
) -> tuple[list[str], float]:
    """The cells of a column without ranks, and how wide the widest is."""
    figures = {
        r: _figure(value, column, style, marked[r]) for r, value in enumerate(values) if isinstance(value, float)
    }
    left = not _of_numbers(values, column, style)
    most = max((_whole(one.number) for one in figures.values()), default=0)
    below = any(one.number.startswith("-") for one in figures.values())
    cells, widths = [], [0.0]
    for r, value in enumerate(values):
        if r in figures:
            one = figures[r]
            sign = "−" if below and not one.number.startswith("-") else ""
            gap = sign + "0" * (most - _whole(one.number)) if left else ""
            cells.append(language.figure(Figure(one.number, one.spread, one.ends, one.mark, one.place, gap)))
            widths.append(len(one.number) + len(one.spread) + 0.7 * (len(one.ends) + len(one.mark)) + 1)
        elif isinstance(value, Name):
            cells.append(language.name(str(value), value.letter))
            widths.append(len(value) + 0.7 * len(value.letter))
        else:
            text = style.text(value, column)
            cells.append(language.text(text))
            widths.append(len(text))
    return cells, max(widths)


def _figure(value: float, column: str, style: Style, place: int) -> Figure:
    if not isinstance(value, Estimate):
        return Figure(style.number(value, column), "", "", "", place, "")
    spread, ends = style.around(value, column)
    return Figure(style.number(float(value), column, value.digits), spread, ends, value.mark, place, "")


def _whole(number: str) -> int:
    """How many digits stand before the decimal point."""
    return len(number.partition(".")[0].removeprefix("-"))


def _of_numbers(values: Sequence[Any], column: str, style: Style) -> bool:
    """Whether a column has numbers, or what is written like them: `3 / 4`, `12.3 %`; figures with letters, intervals or ranks behind
    them stand to the left."""
    for value in values:
        if isinstance(value, Estimate) and (value.mark or any(style.around(value, column)) or style.rank(value)):
            return False
        if not _NUMERIC.fullmatch(style.text(value, column)):
            return False
    return True


def sentences(lines: Sequence[str]) -> str:
    """Lines as sentences behind each other."""
    return " ".join(line if line.rstrip()[-1:] in ".!?:" else f"{line}." for line in lines if line.strip())


def _caption(table: Table, style: Style, signatures: Sequence[str]) -> str:
    """What is said about a table, if anything is, and that its figures are in percent."""
    said = sentences([style.caption, table.title, *table.notes])
    figures = any(
        isinstance(value, float) and kind_of(column) in ("figure", "gain")
        for row in table.rows
        for value, column in zip(row, table.columns, strict=True)
    )
    percent = "Figures in percent." if figures and style.in_percent and "in percent" not in said else ""
    return sentences([said, percent]) if said or signatures else ""


# LaTeX


class Latex:
    """Cells of LaTeX."""

    def text(self, text: str) -> str:
        return latex_text(text)

    def name(self, name: str, letter: str) -> str:
        return latex_text(name) + (f"\\textsuperscript{{{latex_text(letter)}}}" if letter else "")

    def figure(self, one: Figure) -> str:
        number = latex_text(one.number)
        number = {BEST: f"\\textbf{{{number}}}", SECOND: f"\\underline{{{number}}}"}.get(one.place, number)
        parts = [
            f"\\phantom{{{latex_text(one.gap)}}}" if one.gap else "", number, f"\\textsuperscript{{{latex_text(one.mark)}}}" if one.mark else "",
            f" $\\pm$ {latex_text(one.spread)}" if one.spread else "", f" {{\\scriptsize {latex_text(one.ends.replace('-', '−'))}}}" if one.ends else "",
        ]  # fmt: skip
        return "".join(parts)


SIZES = ("", "\\small", "\\footnotesize", "\\scriptsize")
_COLUMN, _PAGE, _ROWS = 45, (65, 76, 88), (40, 45, 55)
"""How many letters a column of a page holds; how many letters and rows a page, by size of the type."""


def to_latex(table: Table, style: Style = PAPER, signatures: Sequence[str] = (), comments: Sequence[str] = ()) -> str:
    """A tabular with booktabs rules; in a table with a caption, if there is something to say about it."""
    grid = laid_out(table, style, Latex())
    size = max(sum(grid.width > most for most in _PAGE), sum(len(grid.rows) > most for most in _ROWS))
    rows = [[cell.replace("{\\scriptsize ", "{\\tiny ") for cell in row] if size > 1 else row for row in grid.rows]
    ends = [sum(grid.spans[: k + 1]) for k in range(len(grid.spans))]  # a rank stands near its figure
    sides = "".join(f"@{{ }}{side}" if k and k not in (0, *ends) else side for k, side in enumerate(grid.sides))
    tabular = [
        f"\\begin{{tabular}}{{{sides}}}", "\\toprule",
        _latex_row([f"\\multicolumn{{{n}}}{{l}}{{{head}}}" if n > 1 else head for head, n in zip(grid.heads, grid.spans, strict=True)]),
        "\\midrule", *map(_latex_row, rows), "\\bottomrule", "\\end{tabular}",
    ]  # fmt: skip
    said = [latex_comment(comment) for comment in comments]
    caption = _latex_caption(table, style, signatures)
    if not caption:
        return "\n".join([*said, *tabular])
    kind = "table*" if grid.width > _COLUMN else "table"
    set_ = ["\\centering" + SIZES[size], *(["\\setlength{\\tabcolsep}{3pt}"] if grid.width > _PAGE[0] else [])]
    return "\n".join([*said, f"\\begin{{{kind}}}", *set_, *tabular, f"\\caption{{{caption}}}", f"\\end{{{kind}}}"])


def _latex_caption(table: Table, style: Style, signatures: Sequence[str]) -> str:
    said = latex_text(_caption(table, style, signatures)).replace("[ ]", "[~]")
    signed = "; ".join(" ".join(map(_breakable, latex_text(one).split(" "))) for one in signatures)
    return " ".join(filter(None, (said, f"{{\\footnotesize Signature: {signed}.}}" if signed else "")))


def _breakable(word: str) -> str:
    """A long word of a signature, which may go over several lines."""
    return word if len(word) < 24 else re.sub(r"(?<=[=,(])(?=[^\\}])", r"\\allowbreak{}", word)


def _latex_row(cells: Sequence[str]) -> str:
    r"""A row of a tabular. What begins it must not look like an option of the `\\` or of the rule before it."""
    first = "{}" + cells[0] if cells[0][:1] in ("[", "*") else cells[0]
    return " & ".join([first, *cells[1:]]) + " \\\\"


# Typst


class Typst:
    """Cells of Typst."""

    def text(self, text: str) -> str:
        return typst_text(text) if text else ""

    def name(self, name: str, letter: str) -> str:
        return typst_text(name) + (f"#super[{letter}]" if letter else "")

    def figure(self, one: Figure) -> str:
        number = one.number.replace("-", "−")
        number = {BEST: f"#strong[{number}]", SECOND: f"#underline[{number}]"}.get(one.place, number)
        ends = one.ends.replace("[", "\\[").replace("]", "\\]").replace("-", "−")
        parts = [
            f"#hide[{one.gap}]" if one.gap else "", number, f"#super[{typst_text(one.mark)}]" if one.mark else "",
            f" ± {one.spread}" if one.spread else "", f" #text(0.75em)[{ends}]" if ends else "",
        ]  # fmt: skip
        return "".join(parts)


def typst_comment(text: str) -> str:
    """A comment of one line."""
    return "// " + " ".join(text.split())


def to_typst(table: Table, style: Style = PAPER, signatures: Sequence[str] = (), comments: Sequence[str] = ()) -> str:
    """A table between rules as LaTeX has it; in a figure with a caption, if there is something to say about it."""
    grid = laid_out(table, style, Typst())
    heads = [
        f"table.cell(colspan: {n})[{head}]" if n > 1 else f"[{head}]"
        for head, n in zip(grid.heads, grid.spans, strict=True)
    ]
    sides = ", ".join({"l": "left", "r": "right"}[side] for side in grid.sides)
    lines = [
        "table(", f"  columns: {len(grid.sides)},", f"  align: ({sides},),", "  stroke: none,", "  inset: (x: 4pt, y: 3pt),",
        "  table.hline(),", f"  table.header({', '.join(heads)}),", "  table.hline(stroke: 0.5pt),",
        *(f"  {', '.join(f'[{cell}]' for cell in row)}," for row in grid.rows), "  table.hline(),", ")",
    ]  # fmt: skip
    said = [typst_comment(comment) for comment in comments]
    caption = _typst_caption(table, style, signatures)
    if not caption:
        return "\n".join([*said, "#" + lines[0], *lines[1:]])
    size = (11, 9, 8, 7)[max(sum(grid.width > most for most in _PAGE), sum(len(grid.rows) > most for most in _ROWS))]
    inside = [f"  text(size: {size}pt, {lines[0]}", *(f"  {line}" for line in lines[1:-1]), "  )),"]
    return "\n".join([*said, "#figure(", *inside, f"  caption: [{caption}],", ")"])


def _typst_caption(table: Table, style: Style, signatures: Sequence[str]) -> str:
    said = _caption(table, style, signatures)
    signed = f"#text(0.8em)[{typst_text('Signature: ' + '; '.join(signatures) + '.')}]" if signatures else ""
    return " ".join(filter(None, (typst_text(said) if said else "", signed)))

"""Tables, neutral, and shown as the reader wishes: on a terminal, as TSV, Markdown, LaTeX or HTML; and values in words.

SlotFiller(slot='Victim', value=Entity(mentions=('two men',)))      slot Victim, value two men
Mention(3, 4, text='the mayor')                                      the mayor [3–4]
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from tallystick.errors import MetricError, TallystickError, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from tallystick.structures.texts import Mention


LONGEST = 300
"""So many characters of a value are shown."""


def value_text(value: Any, longest: int = LONGEST) -> str:
    """A value in one line."""
    return cut(one_line(_words(value)), longest)


def both_texts(reference: Any, predicted: Any, longest: int = LONGEST) -> tuple[str, str]:
    """Two values that are not the same, so that the difference is seen."""
    return tell_apart(reference, predicted, longest, _words)


def named_parts(value: Any) -> list[tuple[str, Any]]:
    """The parts of a record by name; nothing for other values."""
    from tallystick.engine.data import fields_of

    if isinstance(value, (str, bytes)) or _is_mention(value):
        return []
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in value.items()]
    return [(name, getattr(value, name)) for name in fields_of(type(value)) or ()]


def _words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value if value.strip() else repr(str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if type(value) is int or type(value) is float:
        return str(value)
    from tallystick.engine.data import Invalid

    if isinstance(value, Invalid):
        return f"the prediction is invalid: {value.reason}"
    if _is_mention(value):
        return _mention(value)
    if isinstance(value, range) and value.step == 1 and value:
        return _place(value[0], value[-1])
    parts = named_parts(value)
    if len(parts) == 1:
        return _words(parts[0][1])
    if parts:
        return ", ".join(f"{name} {_words(part)}" for name, part in parts if part not in (None, (), ""))
    if isinstance(value, (list, tuple, set, frozenset)):
        return "; ".join(_listed(value)) or "nothing"
    return str(value)


def _listed(value: Any) -> Iterator[str]:
    for part in value:
        text = _words(part)
        yield f"({text})" if named_parts(part) and len(named_parts(part)) > 1 else text


def _place(first: int, last: int) -> str:
    return f"[{first}]" if first == last else f"[{first}–{last}]"


def _is_mention(value: Any) -> TypeGuard[Mention]:
    """Whether a value is a mention; the structures are not loaded to find out."""
    texts = sys.modules.get("tallystick.structures.texts")
    return texts is not None and isinstance(value, texts.Mention)


def _mention(mention: Mention) -> str:
    where = _place(mention.left, mention.right)
    text, type_ = getattr(mention, "text", None), getattr(mention, "type", None)
    return " ".join(part for part in (type_, text, where if mention.left >= 0 else "[nowhere]") if part)


# Two values that are not the same, each in one line, so that a reader sees where they differ.
#
#     5 and '5'                              5                    '5'
#     'New York' and 'New  York'             'New York'           'New␣␣York'
#     two letters, the last words differ     …yours, Ann          …yours, Anne
#
# Values that read alike are written as Python writes them, with the white space that would not be seen; lines that are too
# long are cut around the first place where they differ, not behind it.

_UNSEEN = re.compile(r"(?<= ) | (?= )|(?<=['\"]) | (?=['\"])")
"""A space beside another, or at an end of a text."""


def one_line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def cut(text: str, longest: int, begin: int = 0) -> str:
    """At most so many characters of a line, from `begin` on."""
    if begin:
        text = "…" + text[begin + 1 :]
    return text if len(text) <= longest else text[: longest - 1] + "…"


def tell_apart(reference: Any, predicted: Any, longest: int, words: Callable[[Any], str]) -> tuple[str, str]:
    """Both values in `words`, or, where these read alike, as Python writes them. What has no difference to show stays alike."""
    left, right = one_line(words(reference)), one_line(words(predicted))
    if _seen(left) == _seen(right):
        left, right = _exactly(reference, predicted)
    return cut_apart(left, right, longest)


def cut_apart(left: str, right: str, longest: int) -> tuple[str, str]:
    """Two lines, cut so that the first difference between them is seen."""
    at = next((k for k, (x, y) in enumerate(zip_longest(left, right)) if x != y), 0)
    begin = 0 if at < longest - 1 else max(0, min(at - longest // 3, max(len(left), len(right)) - longest))
    return cut(left, longest, begin), cut(right, longest, begin)


def _seen(text: str) -> str:
    """What a reader sees of a line: an accent is one sign or two, and some signs have no width."""
    return "".join(x for x in unicodedata.normalize("NFC", text) if unicodedata.category(x) != "Cf")


def _exactly(reference: Any, predicted: Any) -> tuple[str, str]:
    left, right = (one_line(_UNSEEN.sub("␣", repr(value))) for value in (reference, predicted))
    return (left, right) if left == right or _seen(left) != _seen(right) else (ascii(reference), ascii(predicted))


# Text that stays text: names of systems, labels and paths between the marks of LaTeX and of Markdown.
#
#     B~^x_1    LaTeX     B	extasciitilde{}	extasciicircum{}x\_1
#     a|b*      Markdown  a\|b\*
#
# In LaTeX the signs that the tables themselves use and Greek letters become commands, so that pdflatex takes them without a
# package; other scripts are left as they are, for LuaLaTeX or XeLaTeX.

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


# One neutral table, shown as the reader wishes: on a terminal, as TSV, Markdown, LaTeX or HTML.
#
# A column is known by its name. Where its numbers are not figures, which are fractions and in LaTeX stand in percent, the name
# is a `Column` that says what they are.

_NUMERIC = re.compile(r"[-−+±–\d.,/%() ]*")


Kind = Literal["figure", "gain", "number", "count"]


class Column(str):
    """The name of a column, and what a float in it is: a figure (a fraction), a gain (the difference of two figures), a number
    that is no share of anything (p, kappa, a correlation), or a count, which is not whole if items are weighted. `printed`: with
    how many decimals papers print such a number."""

    kind: Kind
    printed: int

    def __new__(cls, name: str, kind: Kind = "figure", printed: int = 4) -> Column:
        self = super().__new__(cls, name)
        self.kind, self.printed = kind, printed
        return self


class Estimate(float):
    """A figure with its interval, and perhaps a mark behind both. For programs it is three numbers."""

    ends: tuple[float, float] | None
    mark: str

    def __new__(cls, value: float, ends: tuple[float, float] | None = None, mark: str = "") -> Estimate:
        self = super().__new__(cls, value)
        self.ends, self.mark = ends, mark
        return self

    def text(self, number: Callable[[float], str]) -> str:
        """`0.7932 [0.7811, 0.8049] b`"""
        ends = "" if self.ends is None else f"[{number(self.ends[0])}, {number(self.ends[1])}]"
        return " ".join(filter(None, (number(float(self)), ends, self.mark)))


def kind_of(column: str) -> Kind:
    """What the floats of a column are; under a plain name they are figures."""
    return column.kind if isinstance(column, Column) else "figure"


@frozen
class Table:
    """Rows under columns. None is what is undefined. It prints as on a terminal and shows itself in a notebook."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    notes: Sequence[str] = ()

    def to_frame(self) -> Any:
        """A pandas data frame, under its first column."""
        try:
            import pandas
        except ImportError:
            raise TallystickError("to_frame() needs pandas: pip install pandas") from None
        table = for_programs(self)
        names = list(map(str, table.columns))
        columns = {name: [row[k] for row in table.rows] for k, name in enumerate(names)}
        return pandas.DataFrame(columns).set_index(names[0])

    def to_latex(
        self, *, columns: Sequence[str] | Mapping[str, str] | None = None, digits: int = 2, best: str | None = None
    ) -> str:
        """A tabular with booktabs rules, figures in percent. `columns` are those to show, or by their names what to call them;
        `best` (bold or underline) marks the best figure of each column."""
        return to_latex(self if columns is None else with_columns(self, columns), digits, best)

    def to_markdown(self) -> str:
        """A table of GitHub's Markdown."""
        return to_markdown(self)

    def to_tsv(self) -> str:
        """Tab-separated, full precision."""
        return to_tsv(self)

    def __str__(self) -> str:
        return to_text(self, 160)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook_table(self, self.notes, ())


class Tables(Sequence[Table]):
    """Tables below each other, which print and show themselves as one. Where there is only one, its columns and rows are theirs."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = tuple(tables)

    def __getitem__(self, place: Any) -> Any:
        return self._tables[place] if isinstance(place, int) else Tables(self._tables[place])

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def columns(self) -> Sequence[str]:
        """The columns of the only table."""
        return self._only.columns

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        """The rows of the only table."""
        return self._only.rows

    @property
    def _only(self) -> Table:
        if len(self._tables) != 1:
            raise MetricError(f"there are {len(self._tables)} tables here; take one of them, such as [0]")
        return self._tables[0]

    def to_frame(self) -> Any:
        """A pandas data frame; of several tables one below the other, under their titles."""
        if len(self._tables) == 1:
            return self._only.to_frame()
        import pandas

        return pandas.concat({table.title or str(k): table.to_frame() for k, table in enumerate(self._tables)})

    def to_latex(self, **how: Any) -> str:
        """A tabular for each table; see `Table.to_latex`."""
        return "\n\n".join(table.to_latex(**how) for table in self._tables)

    def to_markdown(self) -> str:
        """A table of Markdown for each."""
        return "\n\n".join(map(to_markdown, self._tables))

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._tables))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self._tables)


def with_columns(table: Table, columns: Sequence[str] | Mapping[str, str]) -> Table:
    """A table with these columns only, in this order, perhaps under other names; the first column stays."""
    if isinstance(columns, str):
        columns = [columns]
    named = columns.values() if isinstance(columns, Mapping) else columns
    if not isinstance(named, Iterable) or not all(isinstance(name, str) for name in named):
        raise MetricError(f"columns must be names, or a dict with what to call them, found {columns!r:.60}")
    known = list(table.columns)
    for name in columns:
        if name not in known:
            raise MetricError(f"no column {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    chosen = [known[0], *(name for name in columns if name != known[0])]
    places = [known.index(name) for name in chosen]
    called = columns if isinstance(columns, Mapping) else {}
    names = [_called(known[k], called.get(known[k], known[k])) for k in places]
    return replace(table, columns=names, rows=[[row[k] for k in places] for row in table.rows])


def _called(column: str, name: str) -> str:
    return Column(name, column.kind, column.printed) if isinstance(column, Column) else name


def figure_text(value: Any) -> str:
    """A cell for people: figures with four decimals, counts with separators, a dash for what is undefined."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, Estimate):
        return value.text(figure_text)
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def cell_text(value: Any, column: str) -> str:
    """A cell of a column for people."""
    return quantity(value) if isinstance(value, float) and kind_of(column) == "count" else figure_text(value)


def _text_rows(table: Table) -> list[list[str]]:
    return [[cell_text(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def quantity(value: float) -> str:
    """A sum: an integer without decimals, else with two."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _numeric(table: Table) -> list[bool]:
    """Which columns hold nothing but numbers."""
    return [all(isinstance(row[k], (int, float, type(None))) for row in table.rows) for k in range(len(table.columns))]


def for_programs(table: Table) -> Table:
    """The same table with the ends of intervals in columns of their own, behind the figures."""
    with_ends = [any(isinstance(row[k], Estimate) for row in table.rows) for k in range(len(table.columns))]
    if not any(with_ends):
        return table
    columns: list[str] = []
    for column, has in zip(table.columns, with_ends, strict=True):
        columns += [column, *(_called(column, f"{column} {end}") for end in ("low", "high"))] if has else [column]
    rows = [
        [part for value, has in zip(row, with_ends, strict=True) for part in (_three(value) if has else [value])]
        for row in table.rows
    ]
    return replace(table, columns=columns, rows=rows)


def _three(value: Any) -> list[Any]:
    ends = getattr(value, "ends", None) or (None, None)
    return [float(value) if isinstance(value, float) else value, *ends]


def to_tsv(table: Table) -> str:
    """Tab-separated, full precision; undefined is empty."""
    table = for_programs(table)

    def cell(value: Any) -> str:
        if value is None:
            return ""
        return repr(value) if isinstance(value, float) else " ".join(str(value).split())

    lines = ["\t".join(table.columns), *("\t".join(map(cell, row)) for row in table.rows)]
    return "\n".join(lines)


def to_markdown(table: Table) -> str:
    """A table of GitHub's Markdown, with its notes below."""
    lines = [f"**{markdown_text(table.title)}**", ""] if table.title else []
    lines += [f"| {' | '.join(map(markdown_text, table.columns))} |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(map(markdown_text, row)) + " |" for row in _text_rows(table)]
    return "\n".join([*lines, *(line for note in table.notes for line in ("", markdown_text(note)))])


BEST = {"bold": "\\textbf", "underline": "\\underline"}
"""How the best figure of a column is marked in LaTeX."""


def latex_mark(best: str | None) -> str:
    """The command that marks the best figure; none, if nothing is to be marked."""
    if best is None:
        return ""
    if best not in BEST:
        raise MetricError(f"best must be {' or '.join(BEST)}, found {best!r}")
    return BEST[best]


def to_latex(table: Table, digits: int = 2, best: str | None = None) -> str:
    """A tabular with booktabs rules; figures and gains in percent, numbers to the right and names to the left."""
    mark = latex_mark(best)
    if not (isinstance(digits, int) and not isinstance(digits, bool) and 0 <= digits <= 15):
        raise MetricError(f"digits must be a number from 0 to 15, found {digits!r}")

    def cell(value: Any, column: str) -> str:
        if value is None:
            return "--"
        if isinstance(value, float) and kind_of(column) in ("figure", "gain"):
            if isinstance(value, Estimate):
                return latex_text(value.text(lambda one: f"{100 * one:.{digits}f}"))
            return latex_text(f"{100 * value:.{digits}f}")
        if isinstance(value, float) and isinstance(column, Column) and column.kind == "number":
            return latex_text(f"{value:.{column.printed}f}")
        return latex_text(cell_text(value, column))

    sides = "".join("r" if k and _of_numbers(table, k) else "l" for k in range(len(table.columns)))
    head = [latex_text(name.replace("-", "−") if kind_of(name) == "gain" else name) for name in table.columns]
    rows = [[cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]
    if mark:
        for place, column in enumerate(table.columns):
            if kind_of(column) == "figure":
                _mark_best([row[place] for row in table.rows], rows, place, mark)
    return latex_tabular(table.title, sides, head, rows, table.notes)


def _mark_best(values: Sequence[Any], rows: Sequence[list[str]], place: int, mark: str) -> None:
    """Mark the highest of a column's figures, and all that are printed alike."""
    known = [(value, row) for value, row in zip(values, rows, strict=True) if isinstance(value, float)]
    if len(known) < 2:
        return
    best = max(known, key=lambda one: one[0])[1][place]
    for _, row in known:
        if row[place] == best:
            row[place] = f"{mark}{{{best}}}"


def latex_tabular(
    title: str, sides: str, head: Sequence[str], rows: Sequence[Sequence[str]], comments: Sequence[str]
) -> str:
    """Cells that are LaTeX already between booktabs rules; the title is a row of its own, the comments come before."""
    lines = [latex_comment(comment) for comment in comments]
    lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule"]
    if title:
        lines += [f"\\multicolumn{{{len(sides)}}}{{l}}{{\\textbf{{{latex_text(title)}}}}} \\\\", "\\midrule"]
    return "\n".join([*lines, latex_row(head), "\\midrule", *map(latex_row, rows), "\\bottomrule", "\\end{tabular}"])


def _of_numbers(table: Table, column: int) -> bool:
    """Whether a column has numbers, or what is written like them: `3 / 4`, `12.3 %`."""
    return all(_NUMERIC.fullmatch(figure_text(row[column])) for row in table.rows)


def _escape(text: str) -> str:
    from html import escape  # with its table of entities, which nothing else needs

    return escape(text)


def to_html(table: Table) -> str:
    """A compact HTML table, with its notes below."""
    head = "".join(f"<th>{_escape(column)}</th>" for column in table.columns)
    body = "".join("<tr>" + "".join(f"<td>{_escape(v)}</td>" for v in row) + "</tr>" for row in _text_rows(table))
    return _html_table(table.title, head, body) + "".join(map(html_note, table.notes))


def _html_table(title: str, head: str, body: str) -> str:
    caption = f'<caption style="text-align:left">{_escape(title)}</caption>' if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_note(text: str) -> str:
    """A small line below a table."""
    return f"<div><small>{_escape(text)}</small></div>"


def to_rich(table: Table, width: int | None = None) -> RichTable:
    """For a terminal; in a narrow one intervals stand below their figures; if that is not enough, columns move together, and texts are
    folded, never figures."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    cells, numeric = _text_rows(table), _numeric(table)
    narrow = width is not None and _natural_width(table, cells) > width
    if narrow and any(isinstance(one, Estimate) for row in table.rows for one in row):
        cells = [
            [cell.replace(" [", "\n[", 1) if n else cell for cell, n in zip(row, numeric, strict=True)] for row in cells
        ]
        narrow = width is not None and _natural_width(table, cells) > width
    out = RichTable(
        box=box.SIMPLE_HEAD, title=table.title or None, title_justify="left", title_style="bold",
        padding=(0, 0) if narrow else (0, 1),
    )  # fmt: skip
    for column, number in zip(table.columns, numeric, strict=True):
        justify: Literal["left", "right"] = "right" if number else "left"
        out.add_column(Text(column), justify=justify, overflow="fold", no_wrap=narrow and number)
    for row in cells:
        out.add_row(*map(Text, row))
    return out


def _natural_width(table: Table, cells: Sequence[Sequence[str]]) -> int:
    """How wide a table is on a terminal with room."""
    widths = (
        [len(name), *(len(line) for row in cells for line in row[k].split("\n"))]
        for k, name in enumerate(table.columns)
    )
    return sum(max(one) + 3 for one in widths) + 1


def to_text(table: Table, width: int | None = None) -> str:
    """As on a terminal, but as a plain string."""
    import io

    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, width=width or 120, no_color=True, highlight=False, force_jupyter=False)
    console.print(to_rich(table, console.width))
    for note in table.notes:
        console.print(note, markup=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def _below_markdown(signatures: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [f"\nSignature: {markdown_code(one)}" for one in signatures] + [f"\n{markdown_text(one)}" for one in notes]


def _below_html(signatures: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [html_note(one) for one in (*(f"signature: {one}" for one in signatures), *notes)]


@frozen
class Writer:
    """How tables are written in one format. What is `for_programs` has every number as it is, a row for each. What is pasted
    elsewhere takes its signatures along: as a `comment` before the tables, or, with the notes, `below` them."""

    write: Callable[[Table], str]
    for_programs: bool = False
    comment: Callable[[str], str] | None = None
    below: Callable[[Sequence[str], Sequence[str]], list[str]] | None = None


WRITERS = {
    "tsv": Writer(to_tsv, for_programs=True),
    "markdown": Writer(to_markdown, below=_below_markdown),
    "latex": Writer(to_latex, comment=latex_comment),
    "html": Writer(to_html, below=_below_html),
}
"""Every format of tables by its name; commands also know `table`, on a terminal, and `json`, which is data of another shape."""


# What a notebook shows: a small table, with the signatures folded away; a tree in colours.
#
# Colours and fonts are the notebook's own, light or dark; only what is right, missed or spurious has a colour, of a middle
# tone that can be read on both. Everything is escaped.

TONES = {"=": "#2f8f5b", "-": "#d0453a", "+": "#b07d12", "≠": "#a55fd0"}
LINES = 400
"""So many lines of a tree are shown."""


def notebook_table(table: Table, notes: Sequence[str], signatures: Sequence[str]) -> str:
    """A table with numbers to the right, notes below it, and the signatures to unfold."""

    def cell(tag: str, text: str, number: bool) -> str:
        side = "right" if number else "left"
        return f'<{tag} style="text-align:{side};font-variant-numeric:tabular-nums">{_escape(text)}</{tag}>'

    def row(tag: str, cells: Sequence[str]) -> str:
        return "".join(cell(tag, text, number) for text, number in zip(cells, numeric, strict=True))

    numeric = _numeric(table)
    body = "".join(f"<tr>{row('td', cells)}</tr>" for cells in _text_rows(table))
    lines = "".join(f"<div><code>{_escape(line)}</code></div>" for line in signatures)
    folded = f"<details><summary><small>signature</small></summary><small>{lines}</small></details>" if lines else ""
    return _html_table(table.title, row("th", table.columns), body) + "".join(map(html_note, notes)) + folded


def notebook_tree(lines: Iterable[str]) -> str:
    """The lines of a tree, each in the colour of the sign that it begins with."""
    out = []
    for number, line in enumerate(lines):
        if number == LINES:
            out.append("… print() shows all of it")
            break
        tone = TONES.get(line.strip()[:1])
        text = _escape(line)
        out.append(f'<span style="color:{tone}">{text}</span>' if tone else text)
    return f'<pre style="line-height:1.4;margin:0">{chr(10).join(out)}</pre>'

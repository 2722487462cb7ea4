"""One neutral table, shown as the reader wishes: on a terminal, as TSV, Markdown, LaTeX or HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tallystick.reports.escaping import latex_comment, latex_row, latex_text, markdown_text

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_NUMERIC = re.compile(r"[-−+±–\d.,/%() ]*")


@dataclass(frozen=True)
class Table:
    """Rows under columns. A float is a figure (a fraction), None is what is undefined."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    notes: Sequence[str] = ()


def figure(value: Any) -> str:
    """A cell for people: figures with four decimals, counts with separators, a dash for what is undefined."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def quantity(value: float) -> str:
    """A sum: an integer without decimals, else with two."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def to_tsv(table: Table) -> str:
    """Tab-separated, full precision; undefined is empty."""

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
    lines += ["| " + " | ".join(markdown_text(figure(v)) for v in row) + " |" for row in table.rows]
    return "\n".join([*lines, *(line for note in table.notes for line in ("", markdown_text(note)))])


def to_latex(table: Table) -> str:
    """A tabular with booktabs rules; figures in percent, numbers to the right and names to the left."""

    def cell(value: Any) -> str:
        if value is None:
            return "--"
        return latex_text(f"{100 * value:.2f}" if isinstance(value, float) else figure(value))

    sides = "".join("r" if k and _of_numbers(table, k) else "l" for k in range(len(table.columns)))
    rows = [[cell(value) for value in row] for row in table.rows]
    return latex_tabular(table.title, sides, [cell(name) for name in table.columns], rows, table.notes)


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
    return all(_NUMERIC.fullmatch(figure(row[column])) for row in table.rows)


def to_html(table: Table) -> str:
    """A compact HTML table for notebooks."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(figure(v))}</td>" for v in row) + "</tr>" for row in table.rows)
    title = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    notes = "".join(f"<div><small>{html.escape(note)}</small></div>" for note in table.notes)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def to_rich(table: Table, width: int | None = None) -> RichTable:
    """For a terminal; in a narrow one columns move together, and texts are folded, never figures."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    cells = [[figure(value) for value in row] for row in table.rows]
    natural = sum(max(len(name), *(len(row[k]) for row in cells), 0) + 3 for k, name in enumerate(table.columns)) + 1
    narrow = width is not None and natural > width
    out = RichTable(
        box=box.SIMPLE_HEAD, title=table.title or None, title_justify="left", title_style="bold",
        padding=(0, 0) if narrow else (0, 1),
    )  # fmt: skip
    numeric = [
        all(isinstance(row[k], (int, float, type(None))) for row in table.rows) for k in range(len(table.columns))
    ]
    for column, number in zip(table.columns, numeric, strict=True):
        justify: Literal["left", "right"] = "right" if number else "left"
        out.add_column(Text(column), justify=justify, overflow="fold", no_wrap=narrow and number)
    for row in cells:
        out.add_row(*map(Text, row))
    return out


def to_text(table: Table, width: int | None = None) -> str:
    """As on a terminal, but as a plain string."""
    import io

    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, width=width or 120, no_color=True, highlight=False)
    console.print(to_rich(table, console.width))
    for note in table.notes:
        console.print(note, markup=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").splitlines())

"""One neutral table, shown as the reader wishes: on a terminal, as TSV, Markdown, LaTeX or HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table as RichTable


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
    """A table of GitHub's Markdown."""
    lines = [f"**{table.title}**", ""] if table.title else []
    lines += ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(figure(v).replace("|", "\\|") for v in row) + " |" for row in table.rows]
    return "\n".join(lines)


def latex_text(text: str) -> str:
    """Text with the signs that LaTeX takes for its own made harmless."""
    for sign in "\\&%$#_{}":
        text = text.replace(sign, "\\" + sign if sign != "\\" else "\\textbackslash ")
    return text


def to_latex(table: Table) -> str:
    """A tabular with booktabs rules; figures in percent."""

    def cell(value: Any) -> str:
        if value is None:
            return "--"
        if isinstance(value, float):
            return f"{100 * value:.2f}"
        return latex_text(figure(value))

    lines = [f"% {note}" for note in (table.title, *table.notes) if note]
    lines.append("\\begin{tabular}{l" + "r" * (len(table.columns) - 1) + "}\n\\toprule")
    lines.append(" & ".join(map(cell, table.columns)) + " \\\\\n\\midrule")
    lines += [" & ".join(map(cell, row)) + " \\\\" for row in table.rows]
    return "\n".join([*lines, "\\bottomrule\n\\end{tabular}"])


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

"""The formats of tables by name: for programs (TSV, CSV), for a page (Markdown, HTML), for a paper (LaTeX, Typst)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.show.tables import (
    BEST,
    PLAIN,
    SECOND,
    Columns,
    Ratio,
    Style,
    Table,
    choose,
    for_programs,
    head_text,
    html_escape,
    html_note,
    html_table,
    places,
    style_of,
    text_rows,
    with_columns,
)
from tallystick.show.typeset import to_latex, to_typst

if TYPE_CHECKING:
    from tallystick.show.tables import How

_MARKS = re.compile(r"[\\`*|~$]|(?<![^\W_])_|_(?![^\W_])|<|&(?=#?\w+;)|(?<=\])\(")


# For programs: every number as it is, undefined is empty; the ends of intervals have columns of their own


def _cells(table: Table, style: Style) -> list[list[str]]:
    def cell(value: Any, column: str) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return repr(float(value)) if style.exact else style.number(value, column)
        return value.plain if isinstance(value, Ratio) else " ".join(str(value).split())

    return [[cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def to_tsv(table: Table, style: Style = PLAIN) -> str:
    """Tab-separated."""
    table = for_programs(table)
    return "\n".join(["\t".join(table.columns), *map("\t".join, _cells(table, style))])


def to_csv(table: Table, style: Style = PLAIN) -> str:
    """Comma-separated; what has a comma or a quotation mark stands in quotation marks."""
    import csv
    import io

    table, text = for_programs(table), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(str, table.columns))
    writer.writerows(_cells(table, style))
    return text.getvalue().removesuffix("\n")


# For a page


def markdown_text(text: str) -> str:
    """Text with the signs that Markdown takes for its own made harmless; an underscore inside a word is not one of them."""
    return _MARKS.sub(lambda found: "&lt;" if found[0] == "<" else "\\" + found[0], " ".join(text.split()))


def markdown_code(text: str) -> str:
    """A line as it is, between as many backticks as it takes."""
    fence = "`" * (1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}"


def _marked(
    table: Table, style: Style, text: Callable[[str], str], tags: dict[int, tuple[str, str]]
) -> list[list[str]]:
    """The cells as text, with the figure itself between tags where it is the best or the second."""
    found = places(table, style)
    out = []
    for r, row in enumerate(text_rows(table, style)):
        cells = []
        for c, cell in enumerate(row):
            figure, space, more = cell.partition(" ")
            before, behind = tags.get(found.get((r, c), 0), ("", ""))
            cells.append(f"{before}{text(figure)}{behind}{space}{text(more)}" if before else text(cell))
        out.append(cells)
    return out


def to_markdown(table: Table, style: Style = PLAIN) -> str:
    """A table of GitHub's Markdown, with its notes below."""
    above = [line for line in (style.caption, table.title) if line]
    lines = [line for one in above for line in (f"**{markdown_text(one)}**", "")]
    lines += [
        f"| {' | '.join(markdown_text(head_text(one)) for one in table.columns)} |",
        "|" + "---|" * len(table.columns),
    ]
    cells = _marked(table, style, markdown_text, {BEST: ("**", "**"), SECOND: ("<ins>", "</ins>")})
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([*lines, *(line for note in table.notes for line in ("", markdown_text(note)))])


def to_html(table: Table, style: Style = PLAIN) -> str:
    """A compact HTML table, with its notes below."""
    head = "".join(f"<th>{html_escape(head_text(column))}</th>" for column in table.columns)
    cells = _marked(table, style, html_escape, {BEST: ("<b>", "</b>"), SECOND: ("<u>", "</u>")})
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    title = ": ".join(filter(None, (style.caption, table.title)))
    return html_table(title, head, body) + "".join(map(html_note, table.notes))


def _below_markdown(signatures: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [f"\nSignature: {markdown_code(one)}" for one in signatures] + [f"\n{markdown_text(one)}" for one in notes]


def _below_html(signatures: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [html_note(one) for one in (*(f"signature: {one}" for one in signatures), *notes)]


@frozen
class Writer:
    """How tables are written in one format. What is `for_programs` has every number as it is, a row for each. What is pasted
    elsewhere takes its signatures along: in a paper in the caption, with the notes as comments, elsewhere, with the notes, `below` the
    tables."""

    plain: Callable[[Table, Style], str] | None = None
    captioned: Callable[[Table, Style, Sequence[str], Sequence[str]], str] | None = None
    for_programs: bool = False
    below: Callable[[Sequence[str], Sequence[str]], list[str]] | None = None
    rank_sign: str = "#"

    @property
    def paper(self) -> bool:
        """Whether it is for a paper."""
        return self.captioned is not None

    def style(self, style: Style) -> Style:
        """A style as this format has it."""
        return replace(style, paper=self.paper, rank_sign=self.rank_sign)

    def write(
        self, table: Table, style: Style = PLAIN, signatures: Sequence[str] = (), comments: Sequence[str] = ()
    ) -> str:
        """A table; in a paper with the signatures in its caption and comments before it."""
        table = replace(table, notes=style.notes(table.notes))
        if self.captioned is not None:
            return self.captioned(table, self.style(style), signatures, comments)
        assert self.plain is not None
        return self.plain(table, self.style(style))


WRITERS = {
    "tsv": Writer(to_tsv, for_programs=True),
    "csv": Writer(to_csv, for_programs=True),
    "markdown": Writer(to_markdown, below=_below_markdown, rank_sign="№"),
    "latex": Writer(captioned=to_latex),
    "typst": Writer(captioned=to_typst),
    "html": Writer(to_html, below=_below_html),
}
"""Every format of tables by its name; commands also know `table`, on a terminal, and `json`, which is data of another shape. Ranks in
Markdown are №1, since a site may take #1 for a link to something called 1."""


def find_writer(format: str) -> Writer:
    """The writer of a format."""
    if format not in WRITERS:
        raise MetricError(f"no format {format!r}; there are {', '.join(WRITERS)}.{did_you_mean(format, WRITERS)}")
    return WRITERS[format]


def choose_columns(tables: Sequence[Table], columns: Columns | None) -> list[Table]:
    """Several tables, each with those of the columns that it has; a table with none of them stays whole."""
    if columns is None:
        return list(tables)
    called = choose(columns, list(dict.fromkeys(str(name) for table in tables for name in table.columns)))
    out = []
    for table in tables:
        own = {name: shown for name, shown in called.items() if name in table.columns}
        out.append(with_columns(table, own) if own.keys() - {table.columns[0]} else table)
    return out


def write_table(
    table: Table, format: str, how: How, signatures: Sequence[str] = (), comments: Sequence[str] = ()
) -> str:
    """A table in a format, by the words of `to_latex` and the others."""
    columns = how.get("columns")
    chosen = table if columns is None else with_columns(table, columns)
    return find_writer(format).write(chosen, style_of(how), signatures, comments)

"""Tables of text, CSV and TSV: the one reader of rows of cells, whoever needs them."""

from __future__ import annotations

import io
from collections.abc import Iterator

from tallystick.errors import InputError, Place, counted

LARGEST = 1 << 30
"""Characters of a cell: it may hold a document."""


def separator(name: str, text: str = "") -> str:
    """What stands between cells: a tab in .tsv; else a comma, or a semicolon where the first line has more of these."""
    first = text.split("\n", 1)[0]
    return "\t" if name.lower().endswith(".tsv") else ";" if first.count(";") > first.count(",") else ","


def read_cells(
    text: str, file: str, mark: str, *, quoted: bool = True, even: bool = True, first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """The rows with the numbers of their lines, of which the text's first has the number `first`; empty lines are left out. `quoted` cells may
    hold separators and line ends; if `even`, a row that has another number of cells than the first is an error."""
    import csv

    csv.field_size_limit(LARGEST)
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=mark,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    width = 0
    try:
        for row in rows:
            if not row:
                continue
            width = width or len(row)
            line = first + rows.line_num - 1
            if even and len(row) != width:
                message = f"expected {counted(width, 'cell')}, as the first line has, found {len(row)}"
                raise InputError(message, Place(file, line))
            yield line, row
    except csv.Error as error:
        raise InputError(f"is no table: {error}", Place(file, first + rows.line_num - 1)) from None

"""The page: one self-contained HTML file that works offline, from its HTML (`markup`), tables and data.

Tables are written out; data travels inside the page and is drawn by its scripts when somebody opens it, always as text, so
that nothing in the data can become markup.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tallystick.files.writing import JsonText, to_json
from tallystick.frozen import frozen
from tallystick.show.html import Html
from tallystick.show.markup import Values, frame
from tallystick.show.tables import Table, cell_text, head_text, kind_of


@frozen
class Section:
    """Tables under a heading, with a place in the page's navigation."""

    anchor: str
    name: str
    title: str
    tables: Sequence[Table]
    lead: str = ""


def render_page(make: Callable[[Values], Html], scripts: Sequence[str], content: Any, **values: Any) -> str:
    """A page of what is made of some values, with style, scripts and data inside."""
    around = frame(make(values), values["title"], values["sections"])
    inside = ["", _asset("page.css"), embed(content), "\n".join(map(_asset, scripts))]
    return "".join(part for pair in zip(inside, around, strict=True) for part in pair)


def _asset(name: str) -> str:
    place = os.path.join(os.path.dirname(__file__), "assets", name)
    data: bytes = __spec__.loader.get_data(place)  # type: ignore[union-attr]  # also out of a ZIP
    return data.decode("utf-8")


def embed(content: Any) -> str:
    """JSON that cannot end the script element that it stands in; it may be written already."""
    text = content if isinstance(content, JsonText) else to_json(content, indent=None)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def interval_bar(value: float | None, ends: tuple[float, float] | None, scale: tuple[float, float]) -> dict[str, Any]:
    """A figure and the interval around it on a scale, in percent of it."""
    first, last = scale
    low, high = ends or (value, value)
    share = [100 * min(1.0, max(0.0, ((x or 0.0) - first) / (last - first))) for x in (value, low, high)]
    return {"share": share[0], "low": share[1], "high": share[2], "known": ends is not None}


# Tables as a page shows them: what is written in a cell, what it sorts by, and the share that is drawn behind it.

WRAPPED = 40
"""A column of a table with a longer text is as wide as there is room, and its texts go over several lines."""


def page_cell(value: Any, column: str = "") -> dict[str, Any]:
    """A cell of a table: what is shown, what it sorts by, how it looks. A figure is a share, which is drawn behind it."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    classes = ["n"] if number or value is None else []
    share = None
    if isinstance(value, float) and kind_of(column) in ("figure", "gain") and 0 <= value <= 1:
        classes.append("fig")
        share = 100 * value
    text = cell_text(value, column)
    sort = "" if value is None else value if number else text
    return {"text": text, "sort": sort, "cls": " ".join(classes), "share": share}


def page_table(table: Table) -> dict[str, Any]:
    """A table for the template."""
    rows = [[page_cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]
    for k, name in enumerate(table.columns):
        if kind_of(name) == "gain":  # a gain is small; what matters is which is the largest
            most = max((row[k] or 0.0 for row in table.rows), default=0.0)
            for cells, row in zip(rows, table.rows, strict=True):
                cells[k]["share"] = 100 * max(0.0, row[k] or 0.0) / most if most > 0 else None
        if k > 0 and max((len(row[k]["text"]) for row in rows), default=0) > WRAPPED:
            for row in rows:
                row[k]["cls"] += " wide"
    numeric = [k > 0 and all("n" in row[k]["cls"].split() for row in rows) for k in range(len(table.columns))]
    return {
        "title": table.title or f"By {table.columns[0]}",
        "columns": [{"name": head_text(name), "numeric": numeric[k]} for k, name in enumerate(table.columns)],
        "rows": rows,
        "notes": list(table.notes),
    }


def table_data(table: Table) -> dict[str, Any]:
    """A table among the data of a page."""
    return {"title": table.title, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}

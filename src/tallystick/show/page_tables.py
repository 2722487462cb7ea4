"""Tables as a page shows them: what is written in a cell, what it sorts by, and the share that is drawn behind it."""

from __future__ import annotations

from typing import Any

from tallystick.show.tables import Table, kind_of, shown

WRAPPED = 40
"""A column of a table with a longer text is as wide as there is room, and its texts go over several lines."""


def cell(value: Any, column: str = "") -> dict[str, Any]:
    """A cell of a table: what is shown, what it sorts by, how it looks. A figure is a share, which is drawn behind it."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    classes = ["n"] if number or value is None else []
    share = None
    if isinstance(value, float) and kind_of(column) in ("figure", "gain") and 0 <= value <= 1:
        classes.append("fig")
        share = 100 * value
    text = shown(value, column)
    sort = "" if value is None else value if number else text
    return {"text": text, "sort": sort, "cls": " ".join(classes), "share": share}


def shown_table(table: Table) -> dict[str, Any]:
    """A table for the template."""
    rows = [[cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]
    for k, name in enumerate(table.columns):
        if kind_of(name) == "gain":  # a gain is small; what matters is which is the largest
            most = max((row[k] or 0.0 for row in table.rows), default=0.0)
            for shown, row in zip(rows, table.rows, strict=True):
                shown[k]["share"] = 100 * max(0.0, row[k] or 0.0) / most if most > 0 else None
        if k > 0 and max((len(row[k]["text"]) for row in rows), default=0) > WRAPPED:
            for row in rows:
                row[k]["cls"] += " wide"
    numeric = [k > 0 and all("n" in row[k]["cls"].split() for row in rows) for k in range(len(table.columns))]
    return {
        "title": table.title or f"By {table.columns[0]}",
        "columns": [{"name": name, "numeric": numeric[k]} for k, name in enumerate(table.columns)],
        "rows": rows,
        "notes": list(table.notes),
    }


def table_data(table: Table) -> dict[str, Any]:
    """A table among the data of a page."""
    return {"title": table.title, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}

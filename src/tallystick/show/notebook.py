"""What a notebook shows: a small table, with the signature folded away; an explanation in colours.

Colours and fonts are the notebook's own, light or dark; only what is right, missed or spurious has a colour, of a middle
tone that can be read on both. Everything is escaped.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from tallystick.errors import counted
from tallystick.results.tables import explanation_lines, figures_table
from tallystick.show.tables import Table, shown

if TYPE_CHECKING:
    from tallystick.results.comparison import Comparison
    from tallystick.results.explanation import Explanation
    from tallystick.results.result import Result

TONES = {"=": "#2f8f5b", "-": "#d0453a", "+": "#b07d12", "≠": "#a55fd0"}
LINES = 400
"""So many lines of an explanation are shown."""


def result_html(result: Result) -> str:
    """The figures of a result, how many documents there are, and the signature."""
    table = figures_table({result.kind.headline: result})
    said = counted(result.count, "document")
    if result.exact_documents is not None and result.count > 1:
        said += f", {result.exact_documents:,} all right"
    notes = [_small(said), *(_small(f"Warning: {warning}") for warning in result.warnings)]
    return _table(table) + "".join(notes) + _folded("signature", [result.signature])


def comparison_html(comparison: Comparison) -> str:
    """Systems by metrics, and what was computed."""
    from tallystick.results.comparison_tables import comparison_table

    table = comparison_table(comparison)
    notes = "".join(_small(note) for note in (*table.notes, *comparison.notes))
    lines = [*comparison.signatures] or ([comparison.settings] if comparison.settings else [])
    return _table(table) + notes + (_folded("signature", lines) if lines else "")


def explanation_html(tree: Explanation) -> str:
    """The tree of one document, a line for each pair or single item."""
    out = []
    for number, line in enumerate(explanation_lines(tree)):
        if number == LINES:
            out.append("… print() shows all of it")
            break
        tone = TONES.get(line.strip()[:1])
        text = html.escape(line)
        out.append(f'<span style="color:{tone}">{text}</span>' if tone else text)
    return f'<pre style="line-height:1.4;margin:0">{chr(10).join(out)}</pre>'


def _table(table: Table) -> str:
    numeric = [
        all(isinstance(row[k], (int, float, type(None))) for row in table.rows) for k in range(len(table.columns))
    ]

    def cell(tag: str, text: str, number: bool) -> str:
        side = "right" if number else "left"
        return f'<{tag} style="text-align:{side};font-variant-numeric:tabular-nums">{html.escape(text)}</{tag}>'

    head = "".join(cell("th", name, numeric[k]) for k, name in enumerate(table.columns))
    body = "".join(
        "<tr>"
        + "".join(cell("td", shown(value, table.columns[k]), numeric[k]) for k, value in enumerate(row))
        + "</tr>"
        for row in table.rows
    )
    title = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _small(text: str) -> str:
    return f"<div><small>{html.escape(text)}</small></div>"


def _folded(name: str, lines: list[str]) -> str:
    inside = "".join(f"<div><code>{html.escape(line)}</code></div>" for line in lines)
    return f"<details><summary><small>{name}</small></summary><small>{inside}</small></details>"

"""A report to look at: one self-contained HTML file that works offline.

Tables are written out; the alignments of documents travel as data inside the page and are drawn when a document is
opened, always as text, so that nothing in the data can become markup. Documents come worst first, and at most `cap`
of them carry their alignment; the page says so.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick import __version__
from tallystick.errors import InputError, TallystickError
from tallystick.reports.tables import Table, figure

if TYPE_CHECKING:
    from tallystick.scoring.explanation import Explanation
    from tallystick.scoring.result import Result

CAP = 200
"""How many documents carry their alignment unless asked otherwise."""
DEEPEST = 4000
"""How many nodes one document's alignment may have in the page."""


@dataclass
class Page:
    """What a report shows."""

    title: str
    results: Mapping[str, Result]
    tables: Sequence[Table] = ()
    explain: Callable[[Any], Explanation] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    cap: int = CAP
    resamples: int = 1000


def write_report(page: Page, path: str | Path) -> None:
    """Write the report, whole or not at all."""
    write_atomically(path, render(page))


def write_atomically(path: str | Path, text: str) -> None:
    """A file that is either complete or not there: written beside its place, then moved."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)  # a temporary file is private; the report is like any other file
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(path)) from None


def render(page: Page) -> str:
    """The report as HTML."""
    try:
        from jinja2 import Environment
    except ImportError:
        raise TallystickError("a report needs jinja2: pip install jinja2") from None
    source = files("tallystick.reports").joinpath("page.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(source)
    first = next(iter(page.results.values()))
    documents, trees = _documents(page)
    return template.render(
        title=page.title,
        version=__version__,
        count=first.count,
        headline=_headline(page),
        signatures=[(name, result.signature) for name, result in page.results.items()],
        derivations=[(name, _derivation(result)) for name, result in page.results.items()],
        warnings=list(dict.fromkeys(w for result in page.results.values() for w in result.warnings)),
        tables=[_shown(table) for table in page.tables],
        metrics=list(page.results),
        documents=documents,
        explained=len(trees),
        capped=first.count > len(trees) if page.explain else False,
        data=embedded({"trees": trees, "results": {n: r.as_dict() for n, r in page.results.items()}}),
    )


def embedded(value: Any) -> str:
    """JSON that cannot end the script element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _headline(page: Page) -> list[dict[str, Any]]:
    from tallystick.scoring.resampling import intervals

    found = intervals(list(page.results.values()), resamples=page.resamples)
    out = []
    for (name, result), interval in zip(page.results.items(), found, strict=True):
        main = result.kind.headline
        others = [(key, figure(value), str(interval[key])) for key, value in result.figures.items() if key != main]
        low, high = interval[main].low, interval[main].high
        out.append(
            {
                "name": name, "figure": main, "value": figure(result.score), "share": 100 * (result.score or 0.0),
                "low": None if low is None else 100 * low, "high": None if high is None else 100 * high,
                "interval": str(interval[main]), "others": others,
            }
        )  # fmt: skip
    return out


def _derivation(result: Result) -> list[tuple[int, str, str]]:
    """The metric's expression as an indented tree: depth, the name it has there, what it is."""
    from tallystick.similarity.node import Node

    rows: list[tuple[int, str, str]] = []

    def walk(node: Node, name: str, depth: int) -> None:
        parts = list(node.parts())
        rows.append((depth, name, node.name if parts else str(node)))
        for part_name, part in parts:
            walk(part, "" if part_name in ("inner", "body") else part_name, depth + 1)

    if isinstance(result.metric, Node):
        walk(result.metric, "", 0)
    return rows


def _shown(table: Table) -> dict[str, Any]:
    rows = [
        [{"text": figure(v), "sort": v if _number(v) else str(v or ""), "number": _number(v)} for v in row]
        for row in table.rows
    ]
    numeric = [k for k in range(len(table.columns)) if rows and all(row[k]["number"] for row in rows)]
    return {
        "title": table.title or f"By {table.columns[0]}",
        "numeric": numeric,
        "columns": list(table.columns),
        "rows": rows,
        "notes": list(table.notes),
    }


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _documents(page: Page) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A row for each document, worst first, and the alignments of the first ones."""
    first = next(iter(page.results.values()))
    columns = [(name, result.documents, result.kind.headline) for name, result in page.results.items()]
    rows = []
    for key in first.ids:
        values = [documents[key][main] for _, documents, main in columns]
        rows.append(
            {
                "id": str(key),
                "key": key,
                "values": [{"text": figure(v), "sort": -1 if v is None else v} for v in values],
            }
        )
    rows.sort(key=lambda row: (row["values"][0]["sort"] < 0, row["values"][0]["sort"]))
    trees: dict[str, Any] = {}
    if page.explain is not None:
        for row in rows[: page.cap]:
            budget = [DEEPEST]
            tree = {"tree": _packed(page.explain(row["key"]), budget), "cut": budget[0] <= 0}
            if row["id"] in page.texts:
                tree["text"] = page.texts[row["id"]]
            trees[row["id"]] = tree
    for row in rows:
        row["open"] = row["id"] in trees
        del row["key"]
    return rows, trees


def _packed(node: Explanation, budget: list[int]) -> list[Any]:
    """[name, status, weight, reference's own, predicted's own, reference, predicted, children]"""
    from tallystick.reports.results import shorten

    budget[0] -= 1
    children = []
    for child in node.children:
        if budget[0] <= 0:
            break
        children.append(_packed(child, budget))
    leaf = not node.children
    return [
        node.name, node.status[0], round(node.weight, 4), round(node.reference_self, 4), round(node.predicted_self, 4),
        shorten(node.reference, 300) if leaf and node.status != "spurious" else None,
        shorten(node.predicted, 300) if leaf and node.status != "missed" else None,
        children,
    ]  # fmt: skip

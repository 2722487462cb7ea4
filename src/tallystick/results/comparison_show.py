"""A comparison for a reader: its tables on a terminal, for programs and for papers, its page and its pictures.

Each has a legend, which says what the figures are and what stands around them: intervals, spreads, letters, ranks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tallystick.engine.tally import lower_is_better
from tallystick.errors import MetricError, counted
from tallystick.files.writing import to_json, write_atomically
from tallystick.results.comparison import letter, mean_correlations
from tallystick.results.documents import rows_side_by_side
from tallystick.results.tables import figure_name
from tallystick.show.markup import comparison_content
from tallystick.show.page import interval_bar, page_table, render_page, table_data
from tallystick.show.tables import (
    PLAIN,
    Column,
    Estimate,
    Kind,
    Name,
    Style,
    Table,
    Tables,
    choose,
    find_writer,
    notebook_table,
    of_metric,
    round_or_cut,
    style_of,
)
from tallystick.version import __version__

if TYPE_CHECKING:
    from tallystick.results.comparison import Cell, Comparison, Measure
    from tallystick.results.results import Results
    from tallystick.show.pictures import Block, Dots, Picture, Ranks
    from tallystick.show.tables import How


WIDE, NARROW = 4, 8
"""So many metrics stand side by side, with intervals and without; more of them get a row each."""
NOT_SCORED = "not scored"


def comparison_table(
    comparison: Comparison, style: Style = PLAIN, columns: Sequence[str] | Mapping[str, str] | None = None
) -> Table:
    """A row for each system: under each metric the figure, its interval or spread, whom it beats, its rank. Metrics that do not
    fit side by side have a row each, and the systems a column. `columns` are the metrics to show, perhaps under other names."""
    called = (
        choose(columns, comparison.metrics, "metric") if columns is not None else {m: m for m in comparison.metrics}
    )
    comparison = replace(comparison, metrics=tuple(called))
    kind: Kind = "figure" if comparison.fractions else "number"
    tested = any(d.p is not None for d in comparison.differences.values())
    letters = comparison.letters if tested else {}
    rows: list[list[Any]]
    if _is_turned(comparison):
        head = ["metric", *(Column(s, kind, letter=letters.get(s, "")) for s in comparison.systems), *comparison.failed]
        rows = [
            [name, *(_estimate(comparison, s, m) for s in comparison.systems), *(NOT_SCORED for _ in comparison.failed)]
            for m, name in called.items()
        ]
    else:
        head = ["system", *(Column(name, kind) for name in called.values())]
        rows = [
            [Name(s, letters.get(s, "")), *(_estimate(comparison, s, m) for m in called)] for s in comparison.systems
        ]
        rows += [[s, NOT_SCORED, *(None for _ in list(called)[1:])] for s in comparison.failed]
    if style.paper:
        head[0] = head[0].capitalize()
    compared: Literal["down", "across"] = "across" if _is_turned(comparison) else "down"
    return Table(head, rows, title=comparison.title, notes=legend(comparison, style), compared=compared)


def _is_turned(comparison: Comparison) -> bool:
    """Whether there are more metrics than fit side by side, and than there are systems."""
    most = WIDE if any(cell.interval for cell in comparison.cells.values()) else NARROW
    return len(comparison.metrics) > max(most, len(comparison.systems))


def _estimate(comparison: Comparison, system: str, metric: str) -> Estimate | None:
    """A cell to show: among one system there are no ranks."""
    cell = _alone(comparison, system, metric)
    if cell.value is None:
        return None
    return Estimate(
        cell.value, cell.ends, letters_text(cell.beats, comparison.systems), spread=cell.spread, runs=f"{cell.runs} {_runs(comparison)}" if cell.spread is not None else "",
        rank=cell.rank, moved=cell.moved, digits=comparison.digits_of(system, metric),
        lower_is_better=metric in comparison.measures and comparison.measures[metric].lower_is_better,
    )  # fmt: skip


def letters_text(beats: str, systems: Sequence[str]) -> str:
    """Letters for a reader: four and more that follow each other are `b–e`."""
    known = {letter(k): k for k in range(len(systems))}
    found = [known[one] for one in (beats.split(",") if "," in beats or len(systems) > 26 else beats) if one]
    groups: list[list[int]] = []
    for k in found:
        if groups and groups[-1][-1] == k - 1:
            groups[-1].append(k)
        else:
            groups.append([k])
    parts = [
        part
        for one in groups
        for part in ([f"{letter(one[0])}–{letter(one[-1])}"] if len(one) > 3 else map(letter, one))
    ]
    return ("," if len(systems) > 26 or any("–" in part for part in parts) else "").join(parts)


def _alone(comparison: Comparison, system: str, metric: str) -> Cell:
    """A cell to show: among one system there are no ranks."""
    cell = comparison.cells[system, metric]
    return cell if len(comparison.systems) > 1 else replace(cell, rank=None, moved=0)


def legend(comparison: Comparison, style: Style = PLAIN) -> list[str]:
    """What everything in the table is, in a line or two; of a system that was not scored, why."""
    measures = measures_note(comparison)
    if comparison.fractions and style.in_percent:
        measures = f"{measures[:-1]}, in percent." if measures else "Figures in percent."
    notes = [measures, *_around_notes(comparison, style)]
    if len(comparison.systems) > 1 and style.ranks:
        notes.append(_ranks_note(comparison, style))
    if style.paper and style.best is not False and len(comparison.systems) > 1:
        notes.append("Bold: the best" + ("; underlined: the second." if len(comparison.systems) > 2 else "."))
    systems = (
        "systems, by the letter behind their name," if style.paper else "systems, by the letter before their name,"
    )
    raised = "Raised letters" if style.paper else "Letters"
    lines = (
        " ".join(filter(None, notes)), letters_note(comparison, f"{raised}: {systems} that a figure is significantly better than"),
        *(f"{system} was not scored: {reason}" for system, reason in comparison.failed.items()),
    )  # fmt: skip
    return [line for line in lines if line]


def _around_notes(comparison: Comparison, style: Style) -> list[str]:
    """What stands around the figures."""
    spread = any(cell.spread is not None for cell in comparison.cells.values())
    of_runs = f"±: standard deviation over {_runs(comparison)}." if spread else ""
    if style.uncertainty == "none":
        return []
    if style.uncertainty == "pm":
        interval = intervals_note(comparison).replace("[ ]: ", "±: half the width of the ").strip()
        return [of_runs or interval]
    return [intervals_note(comparison).strip(), of_runs]


def _ranks_note(comparison: Comparison, style: Style) -> str:
    several = len(comparison.metrics) > 1
    if style.paper:
        return f"Behind each figure: its rank{f', and by how many places it moved from {_base(comparison)}' if several else ''}."
    return f"{style.rank_sign}: rank{f'; ↑↓: places moved from {_base(comparison)}' if several else ''}."


def _base(comparison: Comparison) -> str:
    """The metric that arrows count from."""
    return comparison.base or comparison.metrics[0]


def letters_note(comparison: Comparison, meaning: str) -> str:
    """What letters are, that there are none, or nothing where nothing could be tested."""
    if all(d.p is None for d in comparison.differences.values()):
        return ""
    if not any(cell.beats for cell in comparison.cells.values()):
        return f"No difference is significant {_below(comparison)}."
    return f"{meaning} {_below(comparison)}."


def _below(comparison: Comparison) -> str:
    return f"(p ≤ {_alpha(comparison) or 0.0:g} after Holm's correction)"


def measures_note(comparison: Comparison) -> str:
    """What the figures are: `Figures: F1.` or, where metrics differ, `Figures: F1, micro (segment); F1, macro (token, ts).`"""
    found: dict[Measure, list[str]] = {}
    for metric in comparison.metrics:
        if metric in comparison.measures:
            found.setdefault(comparison.measures[metric], []).append(metric)
    averaged = any(measure.average != "micro" for measure in found)
    parts = []
    for measure, metrics in found.items():
        name = measure_name(measure) if averaged else figure_name(measure.figure)
        name += ", lower is better" if measure.lower_is_better else ""
        parts.append(f"{name} ({', '.join(metrics)})" if len(found) > 1 else name)
    return f"Figures: {'; '.join(parts)}." if parts else ""


def measure_name(measure: Measure) -> str:
    """`F1, macro`"""
    average = "mean over documents" if measure.average == "documents" else measure.average
    return f"{figure_name(measure.figure)}, {average}"


def intervals_note(comparison: Comparison) -> str:
    """What stands in brackets behind a figure, where something does."""
    levels = {cell.interval.level for cell in comparison.cells.values() if cell.interval is not None and cell.ends}
    return f"[ ]: {100 * max(levels):g} % interval. " if levels else ""


def _runs(comparison: Comparison) -> str:
    """What a system has several of."""
    return "splits" if comparison.splits else "runs"


def comparison_html(comparison: Comparison) -> str:
    """A comparison in a notebook: systems by metrics, and what was computed."""
    table = comparison_table(comparison)
    signatures = [*comparison.signatures] or ([comparison.settings] if comparison.settings else [])
    return notebook_table(table, (*table.notes, *comparison.notes), signatures)


def comments_of(comparison: Comparison) -> list[str]:
    """What belongs into the source of a paper, beside its table: notes, and where its references are."""
    task = comparison.task
    words = [f"{task}.{metric}" for metric in comparison.metrics] if task else []
    words += [
        word for word in ("bootstrap", "randomisation", "bca", "holm") if re.search(rf"={word}\b", comparison.settings)
    ]
    return [*comparison.notes, *([f"References as BibTeX: tallystick cite {' '.join(words)}"] if words else [])]


def write_table_of(comparison: Comparison, format: str, how: How) -> str:
    """A comparison in one of the formats of tables, with its signatures; for programs a row for each system and metric."""
    writer, style = find_writer(format), style_of(how)
    if writer.for_programs:
        columns = how.get("columns")
        called = choose(columns, comparison.metrics, "metric") if columns is not None else {}
        return writer.write(figures_only([comparison], called), style)
    table = comparison_table(comparison, writer.style(style), how.get("columns"))
    text = writer.write(table, style, comparison.signatures, comments_of(comparison))
    below = writer.below(comparison.signatures, comparison.notes) if writer.below is not None else []
    return "\n".join([text, *below])


def side_by_side(systems: Mapping[str, Results], rows: int | None) -> Tables:
    """For each metric a table of its figure by document, a column for each system; what differs most comes first."""
    tables = []
    for metric in next(iter(systems.values())):
        columns = {}
        for system, results in systems.items():
            headline = results[metric].kind.headline
            columns[system] = {str(key): one[headline] for key, one in results[metric].documents.items()}
        keys = dict.fromkeys(key for column in columns.values() for key in column)
        cells = [[key, *(columns[system].get(key) for system in systems)] for key in keys]
        cells.sort(key=lambda row: -_reach(row[1:]))
        tables.append(of_metric(Table(["document", *systems], cells[:rows]), metric))
    return Tables(tables)


def _reach(values: Sequence[Any]) -> float:
    """How far figures lie apart."""
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known else -1.0


def figures_only(comparisons: Sequence[Comparison], called: Mapping[str, str] | None = None) -> Table:
    """A row for each system and metric, for programs; `called` has the metrics to show, and by which names."""
    rows: list[list[Any]] = []
    tasks = any(comparison.title for comparison in comparisons)
    measured = any(comparison.measures for comparison in comparisons)
    for comparison in comparisons:
        for system in comparison.systems:
            for metric in [m for m in (called or comparison.metrics) if m in comparison.metrics]:
                c = comparison.cells[system, metric]
                low, high = (c.interval.low, c.interval.high) if c.interval else (None, None)
                row = [
                    system,
                    (called or {}).get(metric, metric),
                    c.value,
                    low,
                    high,
                    c.spread,
                    c.runs,
                    c.rank,
                    c.moved,
                    c.beats,
                ]
                row.append(comparison.letters[system] if comparison.differences else "")
                if measured:
                    measure = comparison.measures.get(metric)
                    row += [measure.figure, measure.average] if measure else [None, None]
                rows.append([comparison.title, *row] if tasks else row)
    kind: Kind = "figure" if all(comparison.fractions for comparison in comparisons) else "number"
    columns = ["system", "metric", *(Column(name, kind) for name in ("value", "low", "high", "spread"))]
    columns += ["runs", Column("rank", "number"), Column("moved", "number"), "beats", "letter"]
    columns += ["figure", "average"] if measured else []
    return Table(["task", *columns] if tasks else columns, rows)


def correlations_table(correlations: Sequence[dict[str, Any]], title: str = "") -> Table:
    """How much the metrics agree about the order of the systems."""
    coefficients = [Column(name, "number") for name in ("spearman", "kendall a", "kendall b", "kendall c")]
    return Table(["metric", "and", *coefficients], [list(row.values()) for row in correlations], title=title)


LISTED_IN_GROUP = 8
"""So many systems of a group are named; of more the first and the last."""


def groups_table(comparison: Comparison) -> Table:
    """By metric the systems that follow each other in the ranking and are not significantly apart."""
    rows: list[list[Any]] = []
    for metric in comparison.metrics:
        for group in comparison.groups(metric):
            ranks = list(
                dict.fromkeys(f"{comparison.cells[system, metric].rank:g}" for system in (group[0], group[-1]))
            )
            many = len(group) > LISTED_IN_GROUP
            named = f"{group[0]} to {group[-1]}" if many else ", ".join(group)
            rows.append([metric, "–".join(ranks), len(group), named])
    note = f"A group: systems that follow each other in the ranking, no two of which differ significantly {_below(comparison)}."
    return Table(["metric", "ranks", "size", "systems"], rows, "Groups that are not significantly apart", [note])


def splits_table(comparison: Comparison) -> Table:
    """The figures of each data set, which the systems are compared by the means of."""
    rows = [
        [split, metric, *(_in_split(comparison, split, system, metric) for system in comparison.systems)]
        for metric in comparison.metrics
        for split, found in comparison.splits.items()
    ]
    return Table(["split", "metric", *comparison.systems], rows, title=f"Splits {comparison.title}".strip())


def _in_split(comparison: Comparison, split: str, system: str, metric: str) -> Any:
    """The figure of a system in a data set, with its interval."""
    value = comparison.splits[split][system, metric]
    interval = comparison.split_intervals.get(split, {}).get((system, metric))
    return value if value is None or interval is None else Estimate(value, interval.ends)


def differences_table(comparison: Comparison) -> Table:
    """Every pair of systems under every metric: the difference, its interval, p, and p after Holm's correction."""
    rows = [
        [metric, a, b, d.value, d.interval.low, d.interval.high, d.p, d.corrected]
        for (metric, a, b), d in comparison.differences.items()
        if metric in comparison.metrics
    ]
    gains = [Column(name, "gain") for name in ("second - first", "low", "high")]
    return Table(["metric", "first", "second", *gains, Column("p", "number"), Column("p (Holm)", "number")], rows)


# The report of a comparison, and its pictures: systems by metrics, ranks that move, who is above whom, how much the metrics agree.


WARNING = "Warning: "
"""How a note begins that a system's results have to say; the page shows these at the figures."""


def write_comparison(
    comparisons: Sequence[Comparison], path: str | Path, title: str = "Comparison", *, truncate: bool = False,
    own: Sequence[Sequence[Table]] = (),
) -> None:  # fmt: skip
    """Write the page of one or several comparisons, whole or not at all."""
    write_atomically(path, render_comparison(comparisons, title, truncate=truncate, own=own))


def render_comparison(
    comparisons: Sequence[Comparison], title: str = "Comparison", *, truncate: bool = False,
    own: Sequence[Sequence[Table]] = (),
) -> str:  # fmt: skip
    """The page as HTML. `own` has for each comparison the tables that its task adds; figures are rounded, or cut."""
    first = comparisons[0]
    tables = [
        [*([splits_table(one)] if one.splits else []), *(table for table in added if table.rows)]
        for one, added in zip(comparisons, own or ((),) * len(comparisons), strict=True)
    ]
    means = mean_correlations(comparisons) if len(comparisons) > 1 else []
    contents = [_data(one, added) for one, added in zip(comparisons, tables, strict=True)]
    notes, signatures = _notes_and_signatures(comparisons)
    about = f"{counted(len(first.systems), 'system')} · {counted(len(first.metrics), 'metric')}"
    if len(comparisons) > 1:
        about = counted(len(comparisons), "task")
    return render_page(
        comparison_content,
        ("page.js", "comparison.js"),
        {
            "tallystick": __version__,
            "title": title,
            "comparisons": contents,
        },
        title=title,
        subtitle=f"{about} · tallystick {__version__}",
        sections=_sections(comparisons, tables, bool(means), bool(signatures or notes), "documents" in contents[0]),
        comparisons=[
            {
                **_for_template(one, added, truncate),
                "documents": content.get("documents"),
                "warnings": [note.removeprefix(WARNING) for note in one.notes if note.startswith(WARNING)],
            }
            for one, added, content in zip(comparisons, tables, contents, strict=True)
        ],
        means=page_table(correlations_table(means, f"Mean of {len(comparisons)} tasks")) if means else None,
        signatures=signatures,
        notes=notes,
    )


def _notes_and_signatures(comparisons: Sequence[Comparison]) -> tuple[list[str], list[str]]:
    """What stands at the end of the page. Cautions and warnings stand at the figures."""
    notes = (
        note for one in comparisons for note in one.notes if note not in one.cautions and not note.startswith(WARNING)
    )
    signatures = [line for one in comparisons for line in (one.signatures or ((one.settings,) if one.settings else ()))]
    return list(dict.fromkeys(notes)), signatures


def _sections(
    comparisons: Sequence[Comparison], tables: Sequence[Sequence[Table]], means: bool, signed: bool, documents: bool
) -> list[tuple[str, str]]:
    """Where the page can be entered: the parts of a comparison, or, of several, each by its title."""
    one = comparisons[0]
    known = [
        ("figures0", "Figures", True), ("own0", "Breakdown", bool(tables[0])), ("ranks0", "Ranks", _is_ranked(one)),
        ("pairs0", "Differences", bool(one.differences)), ("documents0", "Documents", documents), ("agree0", "Agreement", _agree(one)),
    ]  # fmt: skip
    if len(comparisons) > 1:
        known = [(f"figures{k}", each.title or f"Task {k + 1}", True) for k, each in enumerate(comparisons)]
    known += [("means", "Means", means), ("signature", "Signature", signed)]
    return [(anchor, name) for anchor, name, there in known if there]


def _data(one: Comparison, added: Sequence[Table]) -> dict[str, Any]:
    """A comparison for the page's script. The order of names stands by itself: a script's objects put numbers first."""
    tables = {"tables": [table_data(table) for table in added]} if added else {}
    documents = _documents(one)
    beside = {"documents": documents} if documents else {}
    return {**one.as_dict(), "alpha": _alpha(one), "order": [one.systems, one.metrics], **tables, **beside}


MANY, DENSE = 20, 12
"""With more systems their rows stand closer, without the ends of intervals as numbers; and who is above whom is shown by dots."""
CARRIED, BESIDE = 100, 2_000_000
"""How many documents a page shows with the predictions side by side, and how many bytes these may have together."""
SHOWN = 8
"""How many systems there may be for that."""
LISTED = 20_000


def _documents(one: Comparison) -> dict[str, Any] | None:
    """The documents' figures under each system, and those that differ most with the reference and all predictions; None where no documents
    are at hand. Of several runs the first counts."""
    if not 2 <= len(one.systems) <= SHOWN or not one.runs or one.splits:
        return None
    scored = {system: one.of(system) for system in one.systems}
    metric = one.base if one.base in one.metrics else one.metrics[0]
    results = [found[metric] for found in scored.values()]
    if any(not result.kept or result.ids != results[0].ids for result in results) or len(results[0].ids) < 2:
        return None
    figures = np.array([result.kind.figures(result.rows)[result.kind.headline] for result in results])
    spread = np.nan_to_num(
        np.nanmax(np.nan_to_num(figures, nan=0.0), axis=0) - np.nanmin(np.nan_to_num(figures, nan=0.0), axis=0)
    )
    order = np.argsort(-spread, kind="stable")[:LISTED].tolist()
    differing = [results[0].ids[k] for k in order[:CARRIED] if spread[k] > 0]
    return {
        "metric": metric,
        "figure": results[0].kind.headline,
        "lower": lower_is_better(results[0].kind),
        "total": len(results[0].ids),
        "ids": [str(results[0].ids[k]) for k in order],
        "figures": [[None if x != x else round(x, 6) for x in figures[s, order].tolist()] for s in range(len(results))],
        "rows": _rows_of_documents(list(scored.values()), differing),
    }


def _rows_of_documents(systems: Sequence[Any], documents: Sequence[Any]) -> dict[str, Any]:
    """The reference and all predictions of documents, by their place in the list, as many as there is room for."""
    out: dict[str, Any] = {}
    room = BESIDE
    for place, document in enumerate(documents):
        try:
            name = systems[0].background.explained(systems[0])
            trees = [found.explain(document, name) for found in systems]
        except MetricError:  # a metric without a tree, or documents that were not kept
            break
        rows = rows_side_by_side(trees)
        room -= len(to_json(rows, indent=None).encode())
        if room < 0:
            break
        out[str(place)] = rows
    return out


def _is_ranked(one: Comparison) -> bool:
    return len(one.metrics) > 1 and len(one.systems) > 1


def _agree(one: Comparison) -> bool:
    return len(one.metrics) > 1 and len(one.systems) > 2


def _alpha(one: Comparison) -> float | None:
    levels = {difference.interval.level for difference in one.differences.values()}
    return round(1 - max(levels), 10) if levels else None


def _for_template(one: Comparison, added: Sequence[Table], truncate: bool) -> dict[str, Any]:
    scales = {metric: _scale(one, metric) for metric in one.metrics}
    best = {metric: min(one.ranks(metric), default=1.0) for metric in one.metrics}
    letters = one.letters
    rows = []
    for system in one.systems:
        cells = []
        for metric in one.metrics:
            cell = one.cells[system, metric]
            first = len(one.systems) > 1 and cell.rank == best[metric]
            cells.append(_cell(one, cell, scales[metric], first, one.digits_of(system, metric), truncate))
        rows.append({"system": system, "letter": letters[system] if one.differences else "", "cells": cells})
    legend = [measures_note(one), intervals_note(one).replace("[ ]", "Below a figure").strip()]
    legend.append(letters_note(one, "Letters behind a figure name the systems that it is significantly better than"))
    if _is_ranked(one):
        legend.append(f"#: rank; arrows: places moved from {_base(one)}. ★ is the best.")
    correlations = page_table(correlations_table(one.correlations(), "As numbers")) if _agree(one) else None
    groups = groups_table(one) if one.differences and len(one.systems) > 2 else None
    tracks = [[f"{end:.3g}" for end in scales[metric]] for metric in one.metrics]
    return {
        "failed": list(one.failed.items()), "many": len(one.systems) > MANY, "dense": len(one.systems) > DENSE,
        "groups": page_table(groups) if groups is not None and groups.rows else None,
        "tracks": tracks, "title": one.title, "legend": " ".join(filter(None, legend)), "metrics": one.metrics, "rows": rows, "ranked": _is_ranked(one),
        "cautions": one.cautions, "tested": bool(one.differences), "alpha": _alpha(one), "correlations": correlations, "own": [page_table(table) for table in added],
    }  # fmt: skip


def _ends(cell: Cell) -> tuple[float, float] | None:
    """What is drawn around a figure: its interval, or its spread over runs."""
    if cell.value is None:
        return None
    if cell.ends is not None:
        return cell.ends
    return (cell.value - cell.spread, cell.value + cell.spread) if cell.spread is not None else None


def _scale(one: Comparison, metric: str) -> tuple[float, float]:
    """From where to where a metric's figures are drawn."""
    cells = [one.cells[system, metric] for system in one.systems]
    ends = [x for cell in cells for x in (_ends(cell) or ())] + [cell.value for cell in cells if cell.value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.05
    if 0 <= low <= high <= 1:  # a share is never more than all
        return max(0.0, low - room), min(1.0, high + room)
    return low - room, high + room


def _cell(
    one: Comparison, cell: Cell, scale: tuple[float, float], first: bool, digits: int = 4, truncate: bool = False
) -> dict[str, Any]:
    ends, around = _ends(cell), ""
    if cell.spread is not None:
        around = f"± {round_or_cut(cell.spread, digits, truncate)}, {cell.runs} {_runs(one)}"
    if cell.ends is not None:
        interval = " to ".join(round_or_cut(end, digits, truncate) for end in cell.ends)
        around = f"{interval}; {around}" if around else interval
    value = cell.value
    beaten = cell.beats.split(",") if len(one.systems) > 26 else list(cell.beats)
    above = [system for system, own in one.letters.items() if own in beaten]
    return {
        "value": "–" if value is None else round_or_cut(value, digits, truncate),
        "sort": "" if value is None or math.isnan(value) else value,
        "rank": f"{cell.rank:g}" if cell.rank is not None and len(one.systems) > 1 else "",
        "moved": cell.moved or 0.0,
        "defined": value is not None,
        "beats": letters_text(cell.beats, one.systems),
        "above": ", ".join(above),
        "around": around,
        "first": first,
        "bar": interval_bar(value, ends, scale),
    }


# Pictures


def comparison_picture(comparison: Comparison, kind: str | None = None) -> Picture:
    """`figures`: each system with its interval, a panel for each metric. `ranks`: how ranks move from metric to metric.
    Both, one above the other, unless one is asked for (or there is nothing to rank)."""
    from tallystick.show.pictures import draw_blocks

    several = _is_ranked(comparison)
    chosen = [kind] if kind else ["figures", "ranks"] if several else ["figures"]
    if unknown := [name for name in chosen if name not in ("figures", "ranks")]:
        raise MetricError(f"a comparison has pictures of figures and of ranks, not of {unknown[0]!r}")
    if "ranks" in chosen and not several:
        raise MetricError("a picture of ranks needs two systems and two metrics")
    cells = {
        metric: {system: comparison.cells[system, metric] for system in comparison.systems}
        for metric in comparison.metrics
    }
    blocks: dict[str, Callable[..., Block]] = {"figures": _dots, "ranks": _ranks}
    return draw_blocks([blocks[name](comparison, cells) for name in chosen])


def _dots(comparison: Comparison, cells: Mapping[str, Mapping[str, Cell]]) -> Dots:
    from tallystick.show.pictures import Dots

    dots = {
        metric: {system: (cell.value, _ends(cell)) for system, cell in row.items() if cell.value is not None}
        for metric, row in cells.items()
    }
    first = comparison.base if comparison.base in cells else comparison.metrics[0]
    order = sorted(comparison.systems, key=lambda system: _place(cells[first][system].rank))
    return Dots(order, dots, {metric: _axis_label(comparison, metric) for metric in comparison.metrics})


def _ranks(comparison: Comparison, cells: Mapping[str, Mapping[str, Cell]]) -> Ranks:
    from tallystick.show.pictures import Ranks

    ranks = {metric: {system: cell.rank for system, cell in row.items()} for metric, row in cells.items()}
    bars = {
        metric: [(of[one[0]] or 0.0, of[one[-1]] or 0.0) for one in comparison.groups(metric) if len(one) > 1]
        for metric, of in ranks.items()
    }
    return Ranks(comparison.systems, ranks, bars)


def _place(rank: float | None) -> float:
    return math.inf if rank is None else rank


def _axis_label(comparison: Comparison, metric: str) -> str:
    """What a panel's dots and bars are: `F1, macro, 95 % interval`."""
    label = [measure_name(comparison.measures[metric])] if metric in comparison.measures else []
    cells = [comparison.cells[system, metric] for system in comparison.systems]
    levels = [cell.interval.level for cell in cells if cell.interval is not None and cell.ends]
    if levels:
        label.append(f"{100 * max(levels):g} % interval")
    elif any(cell.spread is not None for cell in cells):
        label.append(f"standard deviation of {_runs(comparison)}")
    return ", ".join(label)

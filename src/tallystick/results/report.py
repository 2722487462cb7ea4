"""The report of a result, and its pictures: the figures with their intervals, the tables of its task, the documents.

Documents come worst first. At most `cap` of them carry their alignment, or fewer if those would weigh more than `BUDGET`
bytes; the page says so.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallystick.engine.tally import Labelled, lower_is_better
from tallystick.errors import MetricError, counted
from tallystick.files.json_values import collector_paused
from tallystick.files.writing import JsonParts, JsonText, to_json_object, write_atomically
from tallystick.frozen import frozen
from tallystick.results.documents import Carried, Pack, carry_documents, derivation
from tallystick.results.resampling import Interval, intervals
from tallystick.results.result import RESAMPLES, interval_line, worst_first
from tallystick.results.tables import figure_name, shorten, shorten_both
from tallystick.show.markup import report_content
from tallystick.show.page import Section, interval_bar, page_cell, page_table, render_page, table_data
from tallystick.show.tables import Table, figure_text
from tallystick.version import __version__

if TYPE_CHECKING:
    from tallystick.results.confidence import Calibration, Review
    from tallystick.results.errors import Errors, FieldErrors
    from tallystick.results.explanation import Explanation
    from tallystick.results.result import Result
    from tallystick.show.drawings import Drawing
    from tallystick.show.pictures import Picture

CAP = 200
"""How many documents carry their alignment unless asked otherwise."""
BUDGET = 6_000_000
"""How many bytes the alignments of all documents may have together."""
COLUMNS = 10
"""How many figures the list of documents shows."""
DIGITS = 10
"""How many decimals the documents' figures have in the page: shown with four, a figure would be rounded twice with few."""
CONFIDENCE = (
    "A confidence is a claim that a value is right. Left: of the claims as sure as that, so many are right; on the dashed line they are as sure as they should be. "
    "Right: what is accepted above each threshold, and how much of it is right; the ring is where the target is reached."
)
ROOM, GAP = 57.0, 0.45
"""How many rem all of its columns of figures have beside the names, and what lies between two."""
WIDE = 120
"""How many characters of a wrong value the page shows."""
LISTED = 20_000
"""How many documents are listed with their figures."""


@frozen
class Parts:
    """What a task adds to its report: tables by label or field, what went wrong, further sections, the alignment and the
    drawings of a document. `main` is the metric that documents are ordered by, the first unless named; `alignment` is the title of
    the alignment; `absent` says why there are none, and how to have them; `further` is the command that shows any
    document, where there is one."""

    tables: Sequence[Table] = ()
    errors: Sequence[Table] = ()
    explain: Callable[[Any], Explanation] | None = None
    draw: Callable[[Any], Sequence[Drawing]] | None = None
    pack: Pack | None = None
    """Documents in columns, of which the page makes what `explain` and `draw` have."""
    main: str = ""
    alignment: str = "Alignment"
    absent: str = ""
    further: str = ""
    grouped: Errors | None = None
    """What is wrong by field, shown when somebody chooses the field."""
    badges: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    """What happened to some documents (invalid, repaired): by document, how or why."""
    confidence: tuple[Calibration, Review] | None = None
    sections: Sequence[Section] = ()

    @property
    def filled_sections(self) -> list[Section]:
        """The sections that have something to show, in the order of the page, without empty tables."""
        known = [
            Section("breakdown", "Breakdown", "Breakdown", self.tables),
            Section("errors", "Errors", "What went wrong", self.errors),
            *self.sections,
        ]
        if self.confidence is not None:
            tables = [one.table() for one in self.confidence]
            known.append(Section("confidence", "Confidence", "How sure the predictions are", tables, CONFIDENCE))
        full = [replace(one, tables=[table for table in one.tables if table.rows]) for one in known]
        return [one for one in full if one.tables]

    def with_tables(self, printed: Sequence[Table]) -> Parts:
        """With the printed tables that the report does not have already, perhaps under a title of its own, with more rows, or with
        more in them: the same columns, and the same first column as far as both go. Each of its tables stands for one."""
        own = [table for section in self.filled_sections for table in section.tables]
        more = []
        for table in printed:
            covered = next((k for k, one in enumerate(own) if _is_covered_by(one, table)), None)
            if covered is None:
                more.append(table)
            else:
                own.pop(covered)
        return replace(self, tables=[*self.tables, *more])

    @property
    def opens(self) -> bool:
        """Whether a document has something to show."""
        return self.explain is not None or self.draw is not None


def _is_covered_by(one: Table, table: Table) -> bool:
    return list(one.columns) == list(table.columns) and all(
        ours[0] == theirs[0] for ours, theirs in zip(one.rows, table.rows, strict=False)
    )


@frozen
class Page:
    """A report: the results of one system, and what its task adds."""

    title: str
    results: Mapping[str, Result]
    parts: Parts = field(default_factory=Parts)
    cap: int = CAP
    resamples: int = RESAMPLES

    @property
    def best(self) -> str:
        """The metric at the top of the page."""
        return self.parts.main if self.parts.main in self.results else next(iter(self.results))


def _shapes_of(page: Page) -> Callable[[Explanation], Sequence[Drawing]] | None:
    """What draws the explanations under the main metric."""
    from tallystick.results.shapes import draw_shapes, has_shapes

    result = page.results.get(page.parts.main) or next(iter(page.results.values()))
    return partial(draw_shapes, result.expression) if result.is_expression and has_shapes(result.expression) else None


def write_report(page: Page, path: str | Path) -> None:
    """Write the report, whole or not at all."""
    with collector_paused():  # the alignments of 200 documents are many values that are made at once
        found = render(page)
    write_atomically(path, found)


def render(page: Page) -> str:
    """The report as HTML."""
    results = list(page.results.values())
    found = dict(zip(page.results, intervals(results, resamples=page.resamples), strict=True))
    scale = _scale(page, found)
    axes = Axes.of(page)
    order = _worst_first(page)[:LISTED]
    carried = carry_documents(
        [results[0].ids[k] for k in order[: page.cap]], page.parts.explain, page.parts.draw, BUDGET, _shapes_of(page),
        page.parts.pack,
    )  # fmt: skip
    sections = page.parts.filled_sections
    listed = f"{_listed_text(page, len(order))} are drawn and ranked here." if len(order) < len(results[0].ids) else ""
    return render_page(
        report_content,
        ("page.js", "drawings.js", "documents.js", "fields.js"),
        _data(page, found, axes, order, carried),
        title=page.title,
        subtitle=f"{counted(len(results[0].ids), 'document')} · {counted(len(results), 'metric')} · tallystick {__version__}",
        sections=_sections(sections, axes.plotted is not None),
        hero=_hero(page, found[page.best]),
        warnings=list(dict.fromkeys(w for result in results for w in result.warnings)),
        figures=[_figures_row(page, name, found[name], scale) for name in page.results],
        figure_names=_figure_names(page),
        averaged=any(isinstance(result.kind, Labelled) for result in results),
        scale=[f"{end:.1f}" for end in scale],
        interval_note=_interval_note(page),
        filled=[(one, [page_table(table) for table in one.tables]) for one in sections],
        ordered=page.best,
        **axes.for_template(),
        opens=page.parts.opens,
        wrong_fields=list(page.parts.grouped.fields) if page.parts.grouped else [],
        badges=_badges(page),
        listed_note=listed,
        cap_note=_cap_note(page, carried, len(order)),
        derivations=[(name, result.signature, derivation(result)) for name, result in page.results.items()],
    )


# Figures


def _hero(page: Page, found: Mapping[str, Interval]) -> dict[str, Any]:
    result = page.results[page.best]
    main = result.kind.headline
    facts = [
        (name, figure_text(value), _ends_text(found[name])) for name, value in result.figures.items() if name != main
    ]
    if len(page.results) > 1 and len(facts) < 2:
        others = [(n, r) for n, r in page.results.items() if n != page.best]
        facts += [(n, figure_text(r.score), r.kind.headline) for n, r in others[:6]]
    if result.exact is not None and len(result.ids) > 1:
        facts.append(("documents all right", f"{100 * result.exact:.1f} %", f"{result.exact_documents:,}"))
    facts.append(("documents", f"{len(result.ids):,}", ""))
    name = main if page.best == main else f"{page.best} · {main}"
    return {
        "name": name, "value": figure_text(result.score), "bar": interval_bar(result.score, found[main].ends, (0.0, 1.0)),
        "interval": _interval_text(result, found[main]), "facts": facts,
    }  # fmt: skip


def _interval_text(result: Result, interval: Interval) -> str:
    """The interval, or why there is none."""
    if interval.ends is not None:
        return f"95 % interval {_ends_text(interval)}"
    if len(result.ids) < 2:
        return "too few documents for an interval"
    return f"no interval: {result.kind.headline} is 0/0, whichever documents are drawn"


def _ends_text(interval: Interval) -> str:
    return "" if interval.ends is None else "{:.4f} to {:.4f}".format(*interval.ends)


def _scale(page: Page, found: Mapping[str, Mapping[str, Interval]]) -> tuple[float, float]:
    """From where to where intervals are drawn: tenths that hold all of them."""
    ends = [
        x for name, result in page.results.items()
        for x in (found[name][result.kind.headline].low, found[name][result.kind.headline].high, result.score)
        if x is not None
    ]  # fmt: skip
    low, high = math.floor(10 * min(ends, default=0.0)) / 10, math.ceil(10 * max(ends, default=1.0)) / 10
    return (max(0.0, low), max(high, low + 0.1))


def _figure_names(page: Page) -> list[str]:
    return list(dict.fromkeys(name for result in page.results.values() for name in result.figures))


def _figures_row(page: Page, name: str, found: Mapping[str, Interval], scale: tuple[float, float]) -> dict[str, Any]:
    result = page.results[name]
    main = found[result.kind.headline]
    return {
        "name": name,
        "average": getattr(result.kind, "average", "micro"),
        "main": name == page.best,
        "cells": [page_cell(result.figures.get(key)) for key in _figure_names(page)],
        "interval": _ends_text(main),
        "bar": interval_bar(result.score, main.ends, scale),
    }


def _interval_note(page: Page) -> str:
    drawn = interval_line(list(page.results.values()), resamples=page.resamples)
    return f"Intervals are 95 % bootstrap intervals of each metric's headline figure ({drawn})."


# Documents


class Axis(NamedTuple):
    """A figure of a metric, for every document; None where it is 0/0."""

    metric: str
    figure: str
    values: list[float | None]


@frozen
class Axes:
    """The documents' figures that can be looked at: every metric's headline, and with few metrics all of their figures.

    `heads` are the places of the headlines, `main` that of the metric at the top.
    """

    axes: Sequence[Axis]
    heads: Sequence[int]
    main: int

    @staticmethod
    def of(page: Page) -> Axes:
        """Those of a page. 0/0 is None, whatever the policy says of the corpus: such a document has nothing to look at."""
        axes = []
        for name, result in page.results.items():
            for key, values in result.kind.figures(result.rows).items():
                if key == result.kind.headline or len(page.results) <= 4:
                    listed = [None if value != value else round(value, DIGITS) for value in values.tolist()]
                    axes.append(Axis(name, key, listed))
        heads = [k for k, axis in enumerate(axes) if axis.figure == page.results[axis.metric].kind.headline]
        return Axes(axes, heads, next(k for k in heads if axes[k].metric == page.best))

    @cached_property
    def columns(self) -> list[int]:
        """The figures that the list of documents shows: the headlines, as many as fit; of one metric all figures."""
        if len(self.heads) == 1:
            return list(range(len(self.axes)))
        chosen = [self.main]
        for k in [k for k in self.heads if k != self.main][: COLUMNS - 1]:
            if (len(chosen) + 1) * (GAP + self._least_width([*chosen, k])) > ROOM:
                break
            chosen.append(k)
        return sorted(chosen)

    def _short(self, k: int) -> str:
        return self.axes[k].metric if len(self.heads) > 1 else self.axes[k].figure

    def _least_width(self, columns: Sequence[int]) -> float:
        """How many rem a column of figures needs, so that no word of its head is broken."""
        words = [word for k in columns for word in self._short(k).split("_")]
        return max(4.35, 0.46 * max(map(len, words)))

    @property
    def plotted(self) -> tuple[int, int] | None:
        """Which two figures are drawn against each other at first; nothing if there are no two, or no two documents."""
        if len(self.axes) < 2 or len(self.axes[0].values) < 2:
            return None
        others = [k for k in self.heads if k != self.main]
        if others:
            return (others[0], self.main)
        places = {axis.figure: k for k, axis in enumerate(self.axes)}
        return (places["recall"], places["precision"]) if {"precision", "recall"} <= set(places) else (0, 1)

    def for_template(self) -> dict[str, Any]:
        """What the page's template is told about the axes."""
        names = [f"{axis.metric} {axis.figure}" for axis in self.axes]
        return {
            "axes": names,
            "shown_axes": [(k, names[k]) for k in self.columns],
            "order_axes": [(k, names[k]) for k in (self.heads if len(self.heads) > 1 else self.columns)],
            "short_axes": {k: self._short(k) for k in self.columns},
            "least_column": self._least_width(self.columns),
            "main_axis": self.main,
            "plotted": self.plotted,
        }


def _worst_first(page: Page) -> list[int]:
    result = page.results[page.best]
    undefined, value, size = worst_first(result.kind, result.rows)
    return [int(k) for k in np.lexsort((size, value, undefined))]


def _listed_text(page: Page, listed: int) -> str:
    """Which documents the page lists, where that is not all of them."""
    return f"The {listed:,} worst of {len(page.results[page.best].ids):,} by {page.best}"


def _cap_note(page: Page, carried: Carried, listed: int) -> str:
    total = len(page.results[page.best].ids)
    known = f"{_listed_text(page, listed)} are listed." if listed < total else ""
    if not page.parts.opens:
        return f"{known} {page.parts.absent}".strip()
    if len(carried.documents) == total:
        return f"{known} Each document opens to show its alignment.".lstrip()
    why = f"the page carries at most {page.cap:,} (--report-documents)"
    if carried.full:
        why = f"more would weigh over {BUDGET // 1_000_000} MB"
    which = f"The {len(carried.documents):,} worst of {total:,} by {page.best}"
    return f"{known} {which} open to show their alignment; {why}.".lstrip()


def _sections(filled: Sequence[Section], plotted: bool) -> list[tuple[str, str]]:
    """The navigation of the page."""
    metrics = [("metrics", "Against each other")] if plotted else []
    own = [(one.anchor, one.name) for one in filled]
    return [("figures", "Figures"), *own, *metrics, ("documents", "Documents"), ("signature", "Signature")]


def _data(
    page: Page, found: Mapping[str, Mapping[str, Interval]], axes: Axes, order: Sequence[int], carried: Carried,
) -> JsonText:  # fmt: skip
    first = page.results[page.best]
    metrics = {
        name: {
            **result.as_dict(),
            "headline": result.kind.headline,
            "intervals": {key: [one.low, one.high] for key, one in found[name].items()},
            "signature": result.signature,
        }
        for name, result in page.results.items()
    }
    content = {
        "tallystick": __version__,
        "title": page.title,
        "main": page.best,
        "metrics": metrics,
        "tables": [table_data(table) for one in page.parts.filled_sections for table in one.tables],
        "documents": {
            "ids": [str(first.ids[k]) for k in order],
            "alignment": page.parts.alignment,
            "further": page.parts.further,
            "absent": "" if page.parts.opens else page.parts.absent or "This page carries no alignments.",
            "axes": [
                {
                    "metric": m,
                    "figure": f,
                    "shown": k in axes.columns,
                    "values": [values[i] for i in order],
                    "lower": lower_is_better(page.results[m].kind, f),
                }
                for k, (m, f, values) in enumerate(axes.axes)
            ],
        },
        "aligned": JsonParts({str(k): one for k, one in enumerate(carried.documents)}),
        **_fields(page, order),
        **_confidence(page),
    }
    return to_json_object(content)


def _badges(page: Page) -> dict[str, Mapping[Any, Any]]:
    """What happened to some documents; of every task, which predictions could not be read."""
    result = page.results[page.best]
    found = {name: ones for name, ones in page.parts.badges.items() if ones}
    invalid = {result.ids[k]: "" for k in result.invalid} | dict(found.get("invalid", {}))
    return {**({"invalid": invalid} if invalid else {}), **{k: v for k, v in found.items() if k != "invalid"}}


def _fields(page: Page, order: Sequence[int]) -> dict[str, Any]:
    """What is wrong by field, and in which of the listed documents; and what happened to some of these."""
    result = page.results[page.best]
    places = {result.ids[k]: place for place, k in enumerate(order)}
    badges = {
        name: [[places[key], ", ".join(why) if isinstance(why, tuple) else str(why)] for key, why in ones.items() if key in places]
        for name, ones in _badges(page).items()
    }  # fmt: skip
    found = {"badges": badges} if badges else {}
    grouped = page.parts.grouped
    if grouped is None:
        return found
    return {
        **found,
        "first": grouped.first,
        "fields": {name: _field_data(one, places) for name, one in grouped.fields.items()},
    }


def _field_data(one: FieldErrors, places: Mapping[Any, int]) -> dict[str, Any]:
    from tallystick.results.kinds import spelled

    groups = [
        {
            "kind": group.kind,
            "says": group.says,
            "count": group.count,
            "remedy": "" if group.remedy is None else spelled(group.remedy),
            "advice": group.advice,
            "examples": [[places.get(x.document), x.path, *_both(x.reference, x.predicted)] for x in group.examples],
        }
        for group in one.groups
    ]
    return {
        "groups": groups,
        "pairs": [[*_both(a, b), count] for a, b, count in one.pairs],
        "documents": len(one.documents),
        "wrong": _bits([places[key] for key in one.documents if key in places], len(places)),
    }


def _both(reference: Any, predicted: Any) -> tuple[str | None, str | None]:
    if reference is None or predicted is None:
        left, right = (None if value is None else shorten(value, WIDE) for value in (reference, predicted))
        return left, right
    return shorten_both(reference, predicted, WIDE)


def _bits(places: Sequence[int], count: int) -> str:
    """Some of many documents, a bit for each, as text."""
    flags = np.zeros(count, np.uint8)
    flags[list(places)] = 1
    return base64.b64encode(np.packbits(flags).tobytes()).decode()


def _confidence(page: Page) -> dict[str, Any]:
    if page.parts.confidence is None:
        return {}
    calibration, review = page.parts.confidence
    return {"confidence": {"calibration": calibration.as_dict(), "review": review.as_dict()}}


# Pictures


def result_picture(
    results: Mapping[str, Result] | Result, kind: str = "figures", resamples: int = RESAMPLES
) -> Picture:
    """`figures`: precision, recall and the rest with 95 % intervals. `documents`: how the documents are distributed,
    from the worst to the best."""
    from tallystick.show.pictures import draw_figures, draw_lines

    named = results if isinstance(results, Mapping) else {results.name or results.kind.headline: results}
    if kind == "figures":
        found = zip(named.items(), intervals(list(named.values()), resamples=resamples), strict=True)
        rows = [
            (key if len(named) == 1 else f"{name} {key}", value, ends[key].ends)
            for (name, result), ends in found
            for key, value in result.figures.items()
            if value is not None
        ]
        return draw_figures(rows, "95 % interval")
    if kind == "documents":
        columns = {
            name: result.kind.figures(result.rows)[result.kind.headline].tolist() for name, result in named.items()
        }
        lines = {
            name: sorted((value for value in values if value == value), reverse=lower_is_better(named[name].kind))
            for name, values in columns.items()
        }
        figures = dict.fromkeys(figure_name(result.kind.headline) for result in named.values())
        return draw_lines(lines, "documents, from the worst to the best (%)", " or ".join(figures))
    raise MetricError(f"a result has pictures of figures and of documents, not of {kind!r}")

"""Pictures for papers: systems with their intervals, ranks that move, figures and documents of one result.

Drawn by matplotlib, which is an extra (`pip install "tallystick[plots]"`) and imported only here. A picture can be saved
as SVG, PNG or PDF, and shows itself in a notebook; the same figures are the same file.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, TallystickError, some
from tallystick.files.writing import write_atomically
from tallystick.results.comparison_tables import figure_name, measure_name

if TYPE_CHECKING:
    from tallystick.results.comparison import Cell, Comparison
    from tallystick.results.result import Result

SUFFIXES = (".svg", ".png", ".pdf")
COLOURS = ("#2b5cab", "#c2571a", "#2f7d4f", "#9a3d9e", "#b0241a", "#0f7f8c", "#7a6210", "#5a5f6b", "#d1468a", "#3f8f1f")
"""Told apart in print and by most eyes; lines also differ in their dashes and marks."""
_ABSENT = re.compile(r"Glyph (\d+) .*missing from")
_UNHOLDABLE = re.compile("[^\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NEEDED = 'pictures need matplotlib: pip install "tallystick[plots]" (or pip install matplotlib)'
_DASHES = ("-", "--", "-.", ":")
_MARKS = "osD^vPX*"


def check_name(path: str | Path) -> None:
    """A file of an unknown kind, or nothing to draw it with, is an error before the work, not after it."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise TallystickError(f"{path}: expected a name that ends with {', '.join(SUFFIXES)}")
    try:
        import matplotlib  # noqa: F401 - whether it is there
    except ImportError:
        raise TallystickError(NEEDED) from None


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture: `save` it, or let a notebook show it. `figure` is matplotlib's, to go on with."""

    figure: Any

    def save(self, path: str | Path) -> None:
        """Write it; the suffix says how: .svg, .png or .pdf."""
        check_name(path)
        format_ = Path(path).suffix.lower()[1:]
        drawn = io.BytesIO()
        with _plain_text(boxes=format_ != "svg"):
            self.figure.savefig(drawn, format=format_, dpi=200, metadata=_undated(format_))
        write_atomically(path, drawn.getvalue())

    def _repr_svg_(self) -> str:
        stream = io.StringIO()
        with _plain_text():
            self.figure.savefig(stream, format="svg", metadata=_undated("svg"))
        text = stream.getvalue()
        return text[text.index("<svg") :]


def _undated(format_: str) -> dict[str, None] | None:
    return {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_)


@contextmanager
def _plain_text(boxes: bool = False) -> Iterator[None]:
    """Text as text, and no random ids. Signs that the font does not have are told in one line where they become boxes; in SVG
    the reader's own fonts show them."""
    import matplotlib

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with matplotlib.rc_context({"svg.hashsalt": "tallystick", "svg.fonttype": "none"}):
            yield
    absent: dict[str, None] = {}
    for one in heard:
        found = _ABSENT.match(str(one.message))
        if found is None:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        else:
            absent[chr(int(found[1]))] = None
    if absent and boxes:
        warnings.warn(
            f"the font has no signs for {some(list(absent))}, which are boxes in the picture; save it as .svg, or choose a font "
            "in a matplotlibrc (font.family)",
            stacklevel=4,
        )


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TallystickError(NEEDED) from None
    return Figure(figsize=(width, height), layout="constrained")


def _plain(name: str) -> str:
    """A name as it is: matplotlib would read what stands between two dollars as a formula, and cannot draw bytes of a file's
    name that are no text. What XML cannot hold is �."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return _UNHOLDABLE.sub("�", text).replace("$", r"\$")


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """From 0 to 1, or as far as there are values (kappa may be below 0), and a little more: no point is cut at an end."""
    low, high = min((0.0, *values)), max((1.0, *values))
    room = 0.02 * (high - low)
    return low - room, high + room


def _tidy(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)


# A comparison


def comparison_picture(comparison: Comparison, kind: str | None = None) -> Picture:
    """`figures`: each system with its interval, a panel for each metric. `ranks`: how ranks move from metric to metric.
    Both, one above the other, unless one is asked for (or there is nothing to rank)."""
    several = len(comparison.metrics) > 1 and len(comparison.systems) > 1
    chosen = [kind] if kind else ["figures", "ranks"] if several else ["figures"]
    if unknown := [name for name in chosen if name not in ("figures", "ranks")]:
        raise MetricError(f"a comparison has pictures of figures and of ranks, not of {unknown[0]!r}")
    if "ranks" in chosen and not several:
        raise MetricError("a picture of ranks needs two systems and two metrics")
    n, m = len(comparison.systems), len(comparison.metrics)
    longest = max(map(len, comparison.systems))
    across = min(m, 4)
    down = -(-m // across)
    heights = {"figures": down * (0.82 + 0.24 * n), "ranks": 0.75 + 0.27 * n}
    figure = _figure(max(5.0, 0.075 * longest + 2.35 * across), sum(heights[name] for name in chosen))
    parts = figure.subfigures(len(chosen), 1, height_ratios=[heights[name] for name in chosen])
    for name, part in zip(chosen, [parts] if len(chosen) == 1 else parts, strict=True):
        if name == "figures":
            _draw_figures(part, comparison, across, down)
        else:
            _draw_ranks(part.add_subplot(1, 1, 1), comparison)
    return Picture(figure)


def _draw_figures(part: Any, comparison: Comparison, across: int, down: int) -> None:
    """A dot for each system, with its interval or its spread; the best of the first metric is at the top."""
    first = comparison.metrics[0]
    order = _by_rank(comparison, first)[::-1]
    names = [_plain(name) for name in order]
    for k, metric in enumerate(comparison.metrics):
        axes = part.add_subplot(down, across, k + 1)
        for row, system in enumerate(order):
            cell = comparison.cells[system, metric]
            if cell.value is not None:
                error = _error(cell)
                axes.errorbar(
                    cell.value, row, xerr=error, fmt="o", color=COLOURS[0], markersize=4, capsize=2, linewidth=1
                )
        axes.set_yticks(range(len(order)), names if k % across == 0 else [""] * len(order))
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.set_title(_plain(metric), fontsize=9)
        axes.set_xlabel(_plain(_drawn(comparison, metric)), fontsize=8)
        _tidy(axes)


def _drawn(comparison: Comparison, metric: str) -> str:
    """What a panel's dots and bars are: `F1, macro, 95 % interval`."""
    said = [measure_name(comparison.measures[metric])] if metric in comparison.measures else []
    cells = [comparison.cells[system, metric] for system in comparison.systems]
    levels = [cell.interval.level for cell in cells if cell.interval is not None and cell.interval.low is not None]
    if levels:
        said.append(f"{100 * max(levels):g} % interval")
    elif any(cell.spread is not None for cell in cells):
        said.append("standard deviation of runs")
    return ", ".join(said)


def _error(cell: Cell) -> list[list[float]] | None:
    if cell.value is None:
        return None
    if cell.interval is not None and cell.interval.low is not None and cell.interval.high is not None:
        return [[max(0.0, cell.value - cell.interval.low)], [max(0.0, cell.interval.high - cell.value)]]
    return [[cell.spread], [cell.spread]] if cell.spread is not None else None


def _by_rank(comparison: Comparison, metric: str) -> list[str]:
    """The systems, the best first; those without a figure last."""

    def place(system: str) -> float:
        rank = comparison.cells[system, metric].rank
        return math.inf if rank is None else rank

    return sorted(comparison.systems, key=place)


def _ranks(comparison: Comparison, system: str) -> list[float | None]:
    return [comparison.cells[system, metric].rank for metric in comparison.metrics]


def _draw_ranks(axes: Any, comparison: Comparison) -> None:
    """A line for each system, broken where it has no figure; those that share a rank have their names one below the other."""
    ends = [_by_rank(comparison, metric) for metric in (comparison.metrics[0], comparison.metrics[-1])]
    places = list(range(len(comparison.metrics)))
    for k, system in enumerate(comparison.systems):
        ranks = [math.nan if rank is None else rank for rank in _ranks(comparison, system)]  # a line breaks at nan
        axes.plot(
            places, ranks, _DASHES[k // len(COLOURS) % len(_DASHES)], marker=_MARKS[k % len(_MARKS)], markersize=5,
            color=COLOURS[k % len(COLOURS)], linewidth=1.6, label=_plain(system),
        )  # fmt: skip
        for place, shift, side, end in ((0, -0.12, "right", ends[0]), (places[-1], 0.12, "left", ends[1])):
            known = comparison.cells[system, comparison.metrics[place]].rank is not None
            axes.annotate(
                _plain(system), (place + shift, end.index(system) + 1), ha=side, va="center", fontsize=8,
                style="normal" if known else "italic", color="black" if known else "#666666",
            )  # fmt: skip
    axes.set_ylim(len(comparison.systems) + 0.5, 0.5)
    axes.set_yticks(range(1, len(comparison.systems) + 1))
    axes.set_xticks(places, [_plain(metric) for metric in comparison.metrics])
    longest = max(map(len, comparison.systems))
    axes.set_xlim(-0.12 - 0.055 * longest, places[-1] + 0.12 + 0.055 * longest)
    axes.set_ylabel("rank", fontsize=9)
    _tidy(axes)
    axes.grid(axis="y", visible=False)


# One result


def result_picture(results: dict[str, Result] | Result, kind: str = "figures", resamples: int = 1000) -> Picture:
    """`figures`: precision, recall and the rest with 95 % intervals. `documents`: how the documents are distributed,
    from the worst to the best."""
    named = results if isinstance(results, dict) else {results.name or results.kind.headline: results}
    if kind == "figures":
        return _figures_picture(named, resamples)
    if kind == "documents":
        return _documents_picture(named)
    raise MetricError(f"a result has pictures of figures and of documents, not of {kind!r}")


def _figures_picture(results: dict[str, Result], resamples: int) -> Picture:
    from tallystick.results.resampling import intervals

    found = intervals(list(results.values()), resamples=resamples)
    rows: list[tuple[str, float, Any]] = []
    for (name, result), ends in zip(results.items(), found, strict=True):
        for key, value in result.figures.items():
            if value is not None:
                rows.append((key if len(results) == 1 else f"{name} {key}", value, ends[key]))
    figure = _figure(5.2, 0.9 + 0.27 * max(1, len(rows)))
    axes = figure.add_subplot(1, 1, 1)
    for place, (_, value, ends) in enumerate(rows):
        known = ends.low is not None and ends.high is not None
        error = [[max(0.0, value - ends.low)], [max(0.0, ends.high - value)]] if known else None
        axes.errorbar(value, place, xerr=error, fmt="o", color=COLOURS[0], markersize=4.5, capsize=2.5, linewidth=1.1)
        axes.annotate(
            f"{value:.4f}", (value, place), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=7
        )
    axes.set_yticks(range(len(rows)), [_plain(name) for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    drawn = [x for _, value, ends in rows for x in (value, ends.low, ends.high) if x is not None]
    axes.set_xlim(*_limits(drawn))
    axes.set_xlabel("95 % interval", fontsize=9)
    _tidy(axes)
    return Picture(figure)


def _documents_picture(results: dict[str, Result]) -> Picture:
    figure = _figure(5.2, 3.4)
    axes = figure.add_subplot(1, 1, 1)
    every: list[float] = []
    for k, (name, result) in enumerate(results.items()):
        values: Sequence[float] = sorted(
            value for value in result.kind.figures(result.rows)[result.kind.headline].tolist() if value == value
        )
        every += values
        places = [100 * (place + 0.5) / len(values) for place in range(len(values))]
        axes.plot(
            places,
            values,
            _DASHES[k % len(_DASHES)],
            color=COLOURS[k % len(COLOURS)],
            linewidth=1.6,
            label=_plain(name),
        )
    axes.set_xlabel("documents, from the worst to the best (%)", fontsize=9)
    figures = dict.fromkeys(figure_name(result.kind.headline) for result in results.values())
    axes.set_ylabel(" or ".join(figures), fontsize=9)
    axes.set_ylim(*_limits(every))
    if len(results) > 1:
        axes.legend(fontsize=8)
    _tidy(axes)
    return Picture(figure)

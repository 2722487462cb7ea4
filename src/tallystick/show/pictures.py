"""Pictures for papers: dots with their intervals, ranks that move, lines.

Drawn by matplotlib, which is an extra (`pip install "tallystick[plots]"`) and imported only here. A picture can be saved
as SVG, PNG or PDF, and shows itself in a notebook; the same figures are the same file.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from tallystick.errors import TallystickError, some
from tallystick.files.writing import write_atomically
from tallystick.frozen import frozen

SUFFIXES = (".svg", ".png", ".pdf")
COLOURS = ("#2b5cab", "#c2571a", "#2f7d4f", "#9a3d9e", "#b0241a", "#0f7f8c", "#7a6210", "#5a5f6b", "#d1468a", "#3f8f1f")
"""Told apart in print and by most eyes; lines also differ in their dashes and marks."""
_ABSENT = re.compile(r"Glyph (\d+) .*missing from")
_UNHOLDABLE = re.compile("[^\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NEEDED = 'pictures need matplotlib: pip install "tallystick[plots]" (or pip install matplotlib)'
_DASHES = ("-", "--", "-.", ":")
_MARKS = "osD^vPX*"


def check_picture_name(path: str | Path) -> None:
    """A file of an unknown kind, or nothing to draw it with, is an error before the work, not after it."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise TallystickError(f"{path}: expected a name that ends with {', '.join(SUFFIXES)}")
    _require_matplotlib()


def _require_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401 - whether it is there
    except ImportError:
        raise TallystickError(NEEDED) from None


@frozen(eq=False)
class Picture:
    """A picture: `save` it, or let a notebook show it. `figure` is matplotlib's, to go on with."""

    figure: Any

    def save(self, path: str | Path) -> None:
        """Write it; the suffix says how: .svg, .png or .pdf."""
        check_picture_name(path)
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
            f"the font has no signs for {some(list(absent))}, which appear as boxes in the picture; save it as .svg, or choose a font "
            "in a matplotlibrc (font.family)",
            stacklevel=4,
        )


def _figure(width: float, height: float) -> Any:
    _require_matplotlib()
    from matplotlib.figure import Figure

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


Ends = tuple[float, float]
"""The two ends of an interval."""


def _draw_dot(axes: Any, value: float, row: int, ends: Ends | None, **style: Any) -> None:
    """A value with the interval around it."""
    error = None if ends is None else [[max(0.0, value - ends[0])], [max(0.0, ends[1] - value)]]
    axes.errorbar(value, row, xerr=error, fmt="o", color=COLOURS[0], **style)


# Blocks: pictures that stand one above the other.


class Block(Protocol):
    """A part of a picture, over its whole width: `across` panels, and the names beside them."""

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def across(self) -> int: ...

    @property
    def height(self) -> float: ...

    def draw(self, part: Any) -> None: ...


def draw_blocks(blocks: Sequence[Block]) -> Picture:
    """The blocks, one above the other."""
    width = max(0.075 * max(map(len, block.names)) + 2.35 * block.across for block in blocks)
    heights = [block.height for block in blocks]
    figure = _figure(max(5.0, width), sum(heights))
    parts = figure.subfigures(len(blocks), 1, height_ratios=heights)
    for block, part in zip(blocks, [parts] if len(blocks) == 1 else parts, strict=True):
        block.draw(part)
    return Picture(figure)


ACROSS = 4
"""So many panels stand side by side."""


@frozen
class Dots:
    """A panel for each column, with its label below: for each name a value with its interval, if it has one. The first name is
    at the top."""

    names: Sequence[str]
    columns: Mapping[str, Mapping[str, tuple[float, Ends | None]]]
    labels: Mapping[str, str]

    @property
    def across(self) -> int:
        return min(len(self.columns), ACROSS)

    @property
    def height(self) -> float:
        return -(-len(self.columns) // self.across) * (0.82 + 0.24 * len(self.names))

    def draw(self, part: Any) -> None:
        down = -(-len(self.columns) // self.across)
        order = self.names[::-1]
        names = [_plain(name) for name in order]
        for k, (column, values) in enumerate(self.columns.items()):
            axes = part.add_subplot(down, self.across, k + 1)
            for row, name in enumerate(order):
                if name in values:
                    value, ends = values[name]
                    _draw_dot(axes, value, row, ends, markersize=4, capsize=2, linewidth=1)
            axes.set_yticks(range(len(order)), names if k % self.across == 0 else [""] * len(order))
            axes.set_ylim(-0.6, len(order) - 0.4)
            axes.set_title(_plain(column), fontsize=9)
            axes.set_xlabel(_plain(self.labels[column]), fontsize=8)
            _tidy(axes)


@frozen
class Ranks:
    """A line for each name from column to column, broken where it has no rank; those that share a rank have their names one
    below the other."""

    names: Sequence[str]
    columns: Mapping[str, Mapping[str, float | None]]
    groups: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """By column the first and the last rank of those that a bar joins."""

    @property
    def across(self) -> int:
        return min(len(self.columns), ACROSS)

    @property
    def height(self) -> float:
        return 0.75 + (0.27 if len(self.names) <= 25 else 0.17) * len(self.names)

    @property
    def _lanes(self) -> int:
        """How many bars stand side by side at the last column."""
        return max((lane + 1 for lane, _ in lanes(self.groups.get(list(self.columns)[-1], ()))), default=0)

    def draw(self, part: Any) -> None:
        axes = part.add_subplot(1, 1, 1)
        columns = [
            {name: math.nan if rank is None else rank for name, rank in column.items()}
            for column in self.columns.values()
        ]  # a line breaks at nan
        orders = [
            sorted(self.names, key=lambda name: (math.isnan(column[name]), column[name]))
            for column in (columns[0], columns[-1])
        ]
        places = list(range(len(columns)))
        for k, name in enumerate(self.names):
            axes.plot(
                places, [column[name] for column in columns], _DASHES[k // len(COLOURS) % len(_DASHES)],
                marker=_MARKS[k % len(_MARKS)], markersize=5, color=COLOURS[k % len(COLOURS)], linewidth=1.6, label=_plain(name),
            )  # fmt: skip
            for place, shift, side, order in (
                (0, -0.12, "right", orders[0]),
                (places[-1], 0.12 + 0.03 * self._lanes, "left", orders[1]),
            ):
                known = not math.isnan(columns[place][name])
                axes.annotate(
                    _plain(name), (place + shift, order.index(name) + 1), ha=side, va="center", fontsize=8,
                    style="normal" if known else "italic", color="black" if known else "#666666",
                )  # fmt: skip
        for place, bars in enumerate(self.groups.get(column, ()) for column in self.columns):
            for lane, (first, last) in lanes(bars):
                at = place + 0.05 + 0.03 * lane
                axes.vlines(at, first - 0.2, last + 0.2, color="#9aa0a8", linewidth=2.4, zorder=1, capstyle="round")
        axes.set_ylim(len(self.names) + 0.5, 0.5)
        axes.set_yticks(range(1, len(self.names) + 1))
        axes.set_xticks(places, [_plain(column) for column in self.columns])
        longest = max(map(len, self.names))
        axes.set_xlim(-0.12 - 0.055 * longest, places[-1] + 0.12 + 0.055 * longest)
        axes.set_ylabel("rank", fontsize=9)
        _tidy(axes)
        axes.grid(axis="y", visible=False)


def lanes(bars: Sequence[tuple[float, float]]) -> list[tuple[int, tuple[float, float]]]:
    """Bars that would cover each other stand side by side: each with its lane."""
    ends: list[float] = []
    out = []
    for bar in bars:
        lane = next((k for k, end in enumerate(ends) if end < bar[0]), len(ends))
        ends[lane : lane + 1] = [bar[1]]
        out.append((lane, bar))
    return out


# One panel


def draw_figures(rows: Sequence[tuple[str, float, Ends | None]], label: str) -> Picture:
    """Named values below each other, each with its interval and its number."""
    figure = _figure(5.2, 0.9 + 0.27 * max(1, len(rows)))
    axes = figure.add_subplot(1, 1, 1)
    for place, (_, value, ends) in enumerate(rows):
        _draw_dot(axes, value, place, ends, markersize=4.5, capsize=2.5, linewidth=1.1)
        axes.annotate(
            f"{value:.4f}", (value, place), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=7
        )
    axes.set_yticks(range(len(rows)), [_plain(name) for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.set_xlim(*_limits([x for _, value, ends in rows for x in (value, *(ends or ()))]))
    axes.set_xlabel(label, fontsize=9)
    _tidy(axes)
    return Picture(figure)


def draw_lines(lines: Mapping[str, Sequence[float]], across: str, up: str) -> Picture:
    """A line for each name through its values, spread evenly from 0 to 100 %."""
    figure = _figure(5.2, 3.4)
    axes = figure.add_subplot(1, 1, 1)
    for k, (name, values) in enumerate(lines.items()):
        axes.plot(
            [100 * (place + 0.5) / len(values) for place in range(len(values))], values, _DASHES[k % len(_DASHES)],
            color=COLOURS[k % len(COLOURS)], linewidth=1.6, label=_plain(name),
        )  # fmt: skip
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(up, fontsize=9)
    axes.set_ylim(*_limits([value for values in lines.values() for value in values]))
    if len(lines) > 1:
        axes.legend(fontsize=8)
    _tidy(axes)
    return Picture(figure)


def draw_panels(panels: Mapping[str, Sequence[tuple[str, Sequence[float]]]], across: str, up: str) -> Picture:
    """Panels side by side, each with named lines through values from 0 to 1."""
    figure = _figure(5.2 * max(1, len(panels)), 3.8)
    names = list(dict.fromkeys(name for lines in panels.values() for name, _ in lines))
    for number, (title, lines) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), number + 1)
        for name, values in lines:
            style = _DASHES[names.index(name) % len(_DASHES)]
            axes.plot(range(len(values)), values, style, marker=".", markersize=4, label=_plain(name))
        axes.set_title(_plain(title), fontsize=10)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_ylim(-0.03, 1.03)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return Picture(figure)


def draw_history(columns: Sequence[str], lines: Mapping[str, Sequence[float | None]]) -> Picture:
    """A line for each name through its values, one for each column; broken where there is none."""
    figure = _figure(max(4.0, 1.6 + 0.7 * len(columns)), 3.0)
    axes = figure.add_subplot(1, 1, 1)
    for k, (name, values) in enumerate(lines.items()):
        axes.plot(
            range(len(columns)), [math.nan if value is None else value for value in values], _DASHES[k // len(COLOURS) % len(_DASHES)],
            marker=_MARKS[k % len(_MARKS)], markersize=4, color=COLOURS[k % len(COLOURS)], linewidth=1.6, label=_plain(name),
        )  # fmt: skip
    axes.set_xticks(range(len(columns)), [_plain(column) for column in columns], rotation=30, ha="right")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _tidy(axes)
    return Picture(figure)

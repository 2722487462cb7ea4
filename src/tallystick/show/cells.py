"""What stands in the cells of a table, and how it is written: decimals, percent, intervals, letters, ranks, what is best.

    Estimate(0.4186, (0.3843, 0.4529), "bd", rank=1)

    on a terminal   0.4186 [0.3843, 0.4529] bd #1
    in a paper      41.86, in bold if it is the best, bd raised, [38.43, 45.29] small, the rank in a column of its own

Every format writes the same cells; a `Style` says how. What nobody chose is as the format usually has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tallystick.show.tables import Table

Kind = Literal["figure", "gain", "number", "count"]
Uncertainty = Literal["none", "pm", "interval"]
UNCERTAINTIES = ("none", "pm", "interval")
_BRACKETS = re.compile(r"\[ \]: ([\d.]+ % interval)\.")


class Name(str):
    """The name of a row or a column, perhaps with a letter that stands for it."""

    letter: str

    def __new__(cls, name: str, letter: str = "") -> Name:
        self = super().__new__(cls, name)
        self.letter = letter
        return self

    @property
    def text(self) -> str:
        """As formats have it that cannot raise letters: `a arcada`."""
        return f"{self.letter} {self}" if self.letter else str(self)


class Column(Name):
    """The name of a column, and what a float in it is: a figure (a fraction), a gain (the difference of two figures), a number
    that is no share of anything (p, kappa, a correlation), or a count, which is not whole if items are weighted. `printed`: with
    how many decimals papers print such a number."""

    kind: Kind
    printed: int

    def __new__(cls, name: str, kind: Kind = "figure", printed: int = 4, letter: str = "") -> Column:
        self = str.__new__(cls, name)
        self.kind, self.printed, self.letter = kind, printed, letter
        return self

    def called(self, name: str) -> Column:
        """The same column under another name."""
        return Column(name, self.kind, self.printed, self.letter)


def kind_of(column: str) -> Kind:
    """What the floats of a column are; under a plain name they are figures."""
    return column.kind if isinstance(column, Column) else "figure"


def head_text(column: str) -> str:
    """The head of a column where letters cannot be raised."""
    return column.text if isinstance(column, Name) else column


class Estimate(float):
    """A figure with its interval, and perhaps a mark behind both. For programs it is three numbers. `spread` is the standard
    deviation over `runs` ("3 runs"), `moved` how many ranks it is higher than under another metric, and `digits` are the decimals of
    this very figure."""

    ends: tuple[float, float] | None
    mark: str
    spread: float | None
    runs: str
    rank: float | None
    moved: float | None
    digits: int | None
    lower_is_better: bool

    def __new__(
        cls, value: float, ends: tuple[float, float] | None = None, mark: str = "", *, spread: float | None = None, runs: str = "",
        rank: float | None = None, moved: float | None = None, digits: int | None = None, lower_is_better: bool = False,
    ) -> Estimate:  # fmt: skip
        self = super().__new__(cls, value)
        self.ends, self.mark, self.spread, self.runs = ends, mark, spread, runs
        self.rank, self.moved, self.digits, self.lower_is_better = rank, moved, digits, lower_is_better
        return self

    def __reduce__(self) -> Any:
        return _estimate, (float(self), vars(self))


def _estimate(value: float, about: Mapping[str, Any]) -> Estimate:
    return Estimate(value, **about)


class How(TypedDict, total=False):
    """How a table is written: the words that every `to_...` takes."""

    columns: Sequence[str] | Mapping[str, str] | None
    digits: int | None
    percent: bool | None
    uncertainty: Uncertainty | None
    best: bool | None
    ranks: bool
    caption: str


@frozen
class Style:
    """How figures are written. `digits` are decimals, `percent` multiplies figures by 100, `uncertainty` is what stands around a
    figure (±: the spread over runs, or half the width of the interval), and `best` marks the best figure and the second. None is
    the format's own way. In a `paper` letters are raised, and ranks have columns of their own."""

    digits: int | None = None
    percent: bool | None = None
    uncertainty: Uncertainty | None = None
    best: bool | None = None
    ranks: bool = True
    caption: str = ""
    truncate: bool = False
    paper: bool = False
    rank_sign: str = "#"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        digits = self.digits
        if digits is not None and not (type(digits) is int and 0 <= digits <= 15):
            raise MetricError(f"digits must be a number from 0 to 15, found {digits!r}")
        if self.uncertainty is not None and self.uncertainty not in UNCERTAINTIES:
            hint = did_you_mean(str(self.uncertainty), UNCERTAINTIES)
            raise MetricError(f"uncertainty must be {', '.join(UNCERTAINTIES)}, found {self.uncertainty!r}.{hint}")
        for name in ("percent", "best"):
            if getattr(self, name) not in (None, True, False):
                raise MetricError(f"{name} must be True or False, found {getattr(self, name)!r}")

    @property
    def in_percent(self) -> bool:
        """Whether figures stand in percent: in a paper, unless the other is asked for."""
        return self.paper if self.percent is None else self.percent

    @property
    def exact(self) -> bool:
        """Whether numbers are for programs as they are."""
        return self.digits is None and not self.percent

    def number(self, value: float, column: str, own: int | None = None) -> str:
        """One number of a column; `own` are the decimals that this figure has where none are asked for."""
        kind = kind_of(column)
        if kind == "count":
            return quantity(value)
        scaled = self.in_percent and kind != "number"
        if self.digits is not None and (kind != "number" or own is not None):
            digits = self.digits
        elif kind == "number" and own is None:
            digits = column.printed if self.paper and isinstance(column, Column) else 4
        else:
            digits = max(1, (4 if own is None else own) - 2) if scaled else 4 if own is None else own
        return round_or_cut(100 * value if scaled else value, digits, self.truncate)

    def around(self, one: Estimate, column: str) -> tuple[str, str]:
        """What stands around a figure: behind ±, and between brackets."""

        def number(value: float) -> str:
            return self.number(value, column, one.digits)

        if self.uncertainty == "none":
            return "", ""
        if self.uncertainty == "pm":
            half = (
                one.spread if one.spread is not None else None if one.ends is None else (one.ends[1] - one.ends[0]) / 2
            )
            return "" if half is None else number(half), ""
        ends = "" if one.ends is None else f"[{', '.join(map(number, one.ends))}]"
        return "" if one.spread is None else number(one.spread), ends

    def notes(self, notes: Sequence[str]) -> list[str]:
        """What is said about brackets, as it is true of what stands around the figures."""
        width = {"none": "", "pm": r"±: half the width of the \1."}.get(self.uncertainty or "")
        said = notes if width is None else [_BRACKETS.sub(width, note).strip() for note in notes]
        return [note for note in said if note]

    def rank(self, one: Estimate) -> str:
        """`1 ↑2`"""
        if one.rank is None or not self.ranks:
            return ""
        moved = f" {'↑' if one.moved > 0 else '↓'}{abs(one.moved):g}" if one.moved else ""
        return f"{one.rank:g}{moved}"

    def text(self, value: Any, column: str = "") -> str:
        """A cell in one line: figures with four decimals, counts with separators, a dash for what is undefined."""
        if value is None:
            return "–"
        if isinstance(value, bool):
            return "yes" if value else ""
        if isinstance(value, Estimate):
            spread, ends = self.around(value, column)
            runs = f" ({value.runs})" if value.runs and self.uncertainty is None and not self.paper else ""
            rank = self.rank(value)
            parts = (
                self.number(float(value), column, value.digits), f"±{spread}{runs}" if spread else "", ends, value.mark,
                f"{self.rank_sign}{rank}" if rank else "",
            )  # fmt: skip
            return " ".join(filter(None, parts))
        if isinstance(value, float):
            return self.number(value, column)
        if isinstance(value, int):
            return f"{value:,}"
        return value.text if isinstance(value, Name) else str(value)


PLAIN, PAPER = Style(), Style(paper=True)


def style_of(how: How) -> Style:
    """The style that the words of a `to_...` mean."""
    words = How.__annotations__
    for word in how:
        if word not in words:
            raise MetricError(f"no option {word!r}; there are {', '.join(words)}.{did_you_mean(word, words)}")
    known: dict[str, Any] = {key: value for key, value in how.items() if key != "columns"}
    return replace(PLAIN, **known)


def round_or_cut(value: float, digits: int, truncate: bool = False) -> str:
    """A figure with so many decimals: rounded, or cut towards 0 as the reference scorer of coreference does. What has more
    digits than a float can hold is shown as Python writes it."""
    if digits > 17 or abs(value) >= 1e16:
        return repr(value)
    if truncate:
        value = math.trunc(value * 10**digits + math.copysign(1e-9, value)) / 10**digits
    return f"{value:.{digits}f}"


def quantity(value: float) -> str:
    """A sum: an integer without decimals, else with two."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


BEST, SECOND = 1, 2


def places(table: Table, style: Style) -> dict[tuple[int, int], int]:
    """By row and column which figures are the best and the second best of those that they compare with: the ones below each other,
    or in one row. What is printed alike is equal; the lower of two figures is not marked, and nothing where all are equal."""
    if style.best is False or not (style.best or table.compared):
        return {}
    out: dict[tuple[int, int], int] = {}
    for line in _lines(table):
        known = {at: value for at, value in line.items() if isinstance(value, float) and not math.isnan(value)}
        printed = {
            at: style.number(float(value), table.columns[at[1]], getattr(value, "digits", None))
            for at, value in known.items()
        }
        lower = any(getattr(value, "lower_is_better", False) for value in known.values())
        order = list(
            dict.fromkeys(printed[at] for at in sorted(known, key=lambda at: known[at] * (1 if lower else -1)))
        )
        marked = {order[0]: BEST} if len(order) > 1 else {}
        if len(order) > 1 and len(known) > 2:
            marked[order[1]] = SECOND
        out |= {at: marked[text] for at, text in printed.items() if text in marked}
    return out


def _lines(table: Table) -> Iterator[dict[tuple[int, int], Any]]:
    """The cells that compare with each other."""
    if table.compared == "across":
        yield from ({(r, c): value for c, value in enumerate(row) if c} for r, row in enumerate(table.rows))
        return
    for c, column in enumerate(table.columns):
        line = {(r, c): row[c] for r, row in enumerate(table.rows)}
        estimated = kind_of(column) == "number" and any(isinstance(value, Estimate) for value in line.values())
        if c and (kind_of(column) == "figure" or estimated):
            yield line

"""Tables, neutral, and shown on a terminal, in a notebook or in the format of a name (`typeset` has those of papers); and what stands in
their cells, and how it is written: decimals, percent, intervals, letters, ranks, what is best.

    Estimate(0.4186, (0.3843, 0.4529), "bd", rank=1)

    on a terminal   0.4186 [0.3843, 0.4529] bd #1
    in a paper      41.86, in bold if it is the best, bd raised, [38.43, 45.29] small, the rank in a column of its own

Every format writes the same cells; a `Style` says how. What nobody chose is as the format usually has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from tallystick.errors import MetricError, TallystickError, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table as RichTable
    from typing_extensions import Unpack

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


class Ratio(str):
    """Two sums as a reader sees them, 24,048 / 27,822; for a program 24048 / 27822, with all digits."""

    __slots__ = ("plain", "sums")
    plain: str
    sums: tuple[float, float]

    @staticmethod
    def of(part: float, whole: float) -> Ratio:
        found = Ratio(f"{quantity(part)} / {quantity(whole)}")
        found.plain = " / ".join(repr(int(one)) if one == int(one) else repr(float(one)) for one in (part, whole))
        found.sums = part, whole
        return found


def ratios(tally: Mapping[str, float]) -> list[Ratio]:
    """What was right of all that was predicted, and of all that the reference has."""
    return [Ratio.of(tally[f"num_{side}"], tally[f"den_{side}"]) for side in "pr"]


SUMS = {"of predicted": ("num_p", "den_p"), "of reference": ("num_r", "den_r")}
"""The columns of ratios, and what their two numbers are called in a tally."""
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


# One neutral table, shown as the reader wishes: on a terminal, as TSV, CSV, Markdown, LaTeX, Typst or HTML.
#
# A column is known by its name. Where its numbers are not figures, which are fractions and in a paper stand in percent, the name
# is a `Column` that says what they are.


class Written:
    """What can be written as a table, in every format by the same words: `columns` are those to show, or by their names what to call
    them; `digits` are decimals; `percent` chooses percent or fractions; `uncertainty` ("none", "pm" or "interval") is what stands
    around a figure; `best` marks the best figure in bold and underlines the second; `ranks` are shown or not; `caption` comes before
    the words that explain the table. What is left out is as the format usually has it."""

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        """The table in one of the formats of the command line."""
        raise NotImplementedError

    def to_latex(self, **how: Unpack[How]) -> str:
        """A table with booktabs rules, figures in percent, and a caption that explains them."""
        return self.to_format("latex", **how)

    def to_typst(self, **how: Unpack[How]) -> str:
        """The same for Typst."""
        return self.to_format("typst", **how)

    def to_markdown(self, **how: Unpack[How]) -> str:
        """A table of GitHub's Markdown."""
        return self.to_format("markdown", **how)

    def to_csv(self, **how: Unpack[How]) -> str:
        """Comma-separated, every number as it is."""
        return self.to_format("csv", **how)

    def to_tsv(self, **how: Unpack[How]) -> str:
        """Tab-separated, every number as it is."""
        return self.to_format("tsv", **how)


@frozen
class Table(Written):
    """Rows under columns. None is what is undefined. It prints as on a terminal and shows itself in a notebook."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    notes: Sequence[str] = ()
    compared: Literal["", "down", "across"] = ""
    """Which figures compete with each other, so that the best can be marked: those below each other, or those in one row."""
    metric: str = ""
    """The metric whose figures these are, where there may be tables of several."""

    def to_frame(self) -> Any:
        """A pandas data frame, under its first column; what is printed as `4 / 8` is two columns, as in a tally."""
        try:
            import pandas
        except ImportError:
            raise TallystickError("to_frame() needs pandas: pip install pandas") from None
        table = for_programs(self)
        names = list(map(str, table.columns))
        columns: dict[str, list[Any]] = {}
        for k, name in enumerate(names):
            cells = [row[k] for row in table.rows]
            if name in SUMS and any(isinstance(cell, Ratio) for cell in cells):
                both = [cell.sums if isinstance(cell, Ratio) else (None, None) for cell in cells]
                columns |= dict(zip(SUMS[name], map(list, zip(*both, strict=True)), strict=True))
            else:
                columns[name] = cells
        return pandas.DataFrame(columns).set_index(names[0])

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        return write_table(self, format, how)

    def __str__(self) -> str:
        return to_text(self, 160)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook_table(self, self.notes, ())


def of_metric(table: Table, metric: str) -> Table:
    """A table of the figures of one metric, under its name."""
    return replace(table, title=metric, metric=metric)


class SeveralTables(MetricError, AttributeError):
    """What only one table has; as of every object that lacks something it is an AttributeError too, which `hasattr` takes for a no."""


class Tables(Written, Sequence[Table]):
    """Tables below each other, which print and show themselves as one. Where there is only one, its columns and rows are theirs."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = tuple(tables)

    def __getitem__(self, place: Any) -> Any:
        return self._tables[place] if isinstance(place, int) else Tables(self._tables[place])

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def columns(self) -> Sequence[str]:
        """The columns of the only table."""
        return self._only.columns

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        """The rows of the only table."""
        return self._only.rows

    @property
    def _only(self) -> Table:
        if len(self._tables) != 1:
            raise SeveralTables(f"there are {len(self._tables)} tables here; take one of them, such as [0]")
        return self._tables[0]

    def to_frame(self) -> Any:
        """A pandas data frame; of several tables one below the other, under their titles."""
        if len(self._tables) == 1:
            return self._only.to_frame()
        import pandas

        return pandas.concat({table.title or str(k): table.to_frame() for k, table in enumerate(self._tables)})

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        """Each of the tables, with those of the columns that it has."""
        tables = find_writer(format).arranged(choose_columns(self._tables, how.get("columns")))
        return "\n\n".join(write_table(table, format, {**how, "columns": None}) for table in tables)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._tables))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self._tables)


Columns = Sequence[str] | Mapping[str, str]


def choose(columns: Columns, known: Sequence[str], what: str = "column") -> dict[str, str]:
    """What was chosen among the known names, by these what to call each."""
    if isinstance(columns, str):
        columns = [columns]
    named = columns.values() if isinstance(columns, Mapping) else columns
    if not isinstance(named, Iterable) or not all(isinstance(name, str) for name in named):
        raise MetricError(f"columns must be names, or a dict with what to call them, found {columns!r:.60}")
    for name in columns:
        if name not in known:
            raise MetricError(f"no {what} {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    if not columns:
        raise MetricError(f"columns must name at least one {what}; there are {', '.join(known)}")
    return {name: columns[name] if isinstance(columns, Mapping) else name for name in columns}


def with_columns(table: Table, columns: Columns) -> Table:
    """A table with these columns only, in this order, perhaps under other names; the first column stays."""
    known = list(table.columns)
    called = choose(columns, known)
    places = [known.index(name) for name in [known[0], *(name for name in called if name != known[0])]]
    names = [_called(known[k], called.get(known[k], known[k])) for k in places]
    return replace(table, columns=names, rows=[[row[k] for k in places] for row in table.rows])


def _called(column: str, name: str) -> str:
    return column.called(name) if isinstance(column, Column) else name


def figure_text(value: Any) -> str:
    """A cell for people: figures with four decimals, counts with separators, a dash for what is undefined."""
    return PLAIN.text(value)


def cell_text(value: Any, column: str) -> str:
    """A cell of a column for people."""
    return PLAIN.text(value, column)


def text_rows(table: Table, style: Style = PLAIN) -> list[list[str]]:
    """All cells as lines of text."""
    return [[style.text(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def _numeric(table: Table) -> list[bool]:
    """Which columns hold nothing but numbers; figures with letters and ranks behind them stand to the left, so that they begin below each
    other."""
    return [
        all(
            isinstance(row[k], (int, float, type(None))) and not (table.compared and isinstance(row[k], Estimate))
            for row in table.rows
        )
        for k in range(len(table.columns))
    ]


def for_programs(table: Table) -> Table:
    """The same table with the ends of intervals in columns of their own, behind the figures."""
    with_ends = [any(isinstance(row[k], Estimate) for row in table.rows) for k in range(len(table.columns))]
    if not any(with_ends):
        return table
    columns: list[str] = []
    for column, has in zip(table.columns, with_ends, strict=True):
        columns += [column, *(_called(column, f"{column} {end}") for end in ("low", "high"))] if has else [column]
    rows = [
        [part for value, has in zip(row, with_ends, strict=True) for part in (_three(value) if has else [value])]
        for row in table.rows
    ]
    return replace(table, columns=columns, rows=rows)


def _by_metric(tables: Sequence[Table]) -> list[Table]:
    """If tables are about several metrics, each has a column that says which, and those with the same first columns are one."""
    if len({table.metric for table in tables if table.metric}) < 2:
        return list(tables)
    groups: dict[Any, list[Table]] = {}
    for k, table in enumerate(tables):
        groups.setdefault(tuple(table.columns[:3]) if table.metric else k, []).append(table)
    return [_joined(same) if same[0].metric else same[0] for same in groups.values()]


def _joined(tables: Sequence[Table]) -> Table:
    columns = {str(column): column for table in tables for column in table.columns}
    first, *others = columns
    rows = []
    for table in tables:
        for row in table.rows:
            cells = dict(zip(map(str, table.columns), row, strict=True))
            rows.append([cells[first], table.metric, *map(cells.get, others)])
    return Table([columns[first], "metric", *(columns[name] for name in others)], rows)


def _three(value: Any) -> list[Any]:
    ends = getattr(value, "ends", None) or (None, None)
    return [float(value) if isinstance(value, float) else value, *ends]


def html_escape(text: str) -> str:
    """Text that cannot become markup."""
    from html import escape  # with its table of entities, which nothing else needs

    return escape(text)


def html_table(title: str, head: str, body: str) -> str:
    """A table of these rows under a title."""
    caption = f'<caption style="text-align:left">{html_escape(title)}</caption>' if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_note(text: str) -> str:
    """A small line below a table."""
    return f"<div><small>{html_escape(text)}</small></div>"


def to_rich(table: Table, width: int | None = None, style: Style = PLAIN) -> RichTable:
    """For a terminal; in a narrow one intervals stand below their figures; if that is not enough, columns move together, and texts are
    folded, never figures."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    cells, numeric = text_rows(table, style), _numeric(table)
    narrow = width is not None and _natural_width(table, cells) > width
    if narrow:
        cells = _intervals_below(table, cells)
        narrow = width is not None and _natural_width(table, cells) > width
    if narrow and width is not None:
        cells = _folded(table, cells, numeric, width)
    out = RichTable(
        box=box.SIMPLE_HEAD, title=table.title or None, title_justify="left", title_style="bold",
        padding=(0, 0) if narrow else (0, 1),
    )  # fmt: skip
    for column, number in zip(table.columns, numeric, strict=True):
        justify: Literal["left", "right"] = "right" if number else "left"
        out.add_column(Text(head_text(column)), justify=justify, overflow="fold", no_wrap=narrow and number)
    for row in cells:
        out.add_row(*map(Text, row))
    if narrow and width is not None and _natural_width(table, cells, 1) > width:  # rather too wide than a letter a line
        out.width = _natural_width(table, cells, 1)
    return out


def _intervals_below(table: Table, cells: list[list[str]]) -> list[list[str]]:
    """The cells with each interval on a line below its figure."""
    estimated = [any(isinstance(row[k], Estimate) for row in table.rows) for k in range(len(table.columns))]
    return [
        [cell.replace(" [", "\n[", 1) if has else cell for cell, has in zip(row, estimated, strict=True)]
        for row in cells
    ]


LEAST = 12
"""So wide a column of texts stays, so that names are not folded letter by letter."""
_BREAKS = re.compile(r"(?<=[\s_\-./+:,@])")
"""Where a name may be broken."""


def _folded(table: Table, cells: Sequence[list[str]], numeric: Sequence[bool], width: int) -> list[list[str]]:
    """The cells of texts on lines as long as there is room for beside the numbers, broken behind marks where they can be."""
    widest = [
        max(len(head_text(name)), *(len(line) for row in cells for line in row[k].split("\n")), 0)
        for k, name in enumerate(table.columns)
    ]
    texts = [k for k, number in enumerate(numeric) if not number]
    left = width - 2 - sum(one + 1 for k, one in enumerate(widest) if k not in texts)
    room = dict.fromkeys(texts, 0)
    for done, k in enumerate(
        sorted(texts, key=lambda k: widest[k])
    ):  # the short ones leave their room to the long ones
        room[k] = max(LEAST, min(widest[k], left // (len(texts) - done) - 1))
        left -= room[k] + 1
    return [[_broken(cell, room[k]) if k in room else cell for k, cell in enumerate(row)] for row in cells]


def _broken(text: str, most: int) -> str:
    """A text on lines of at most so many characters; only what has no mark to break at is cut."""
    lines: list[str] = []
    for given in text.split("\n"):
        line = ""
        for part in _BREAKS.split(given):
            while len(part.rstrip()) > most:
                lines += [line.rstrip()] if line else []
                line, lines, part = "", [*lines, part[:most]], part[most:]
            if len(line) + len(part.rstrip()) > most:
                lines.append(line.rstrip())
                line = ""
            line += part
        lines.append(line.rstrip())
    return "\n".join(lines)


def _natural_width(table: Table, cells: Sequence[Sequence[str]], beside: int = 3) -> int:
    """How wide a table is on a terminal with room; `beside`: what a column takes beside its texts."""
    widths = (
        [len(head_text(name)), *(len(line) for row in cells for line in row[k].split("\n"))]
        for k, name in enumerate(table.columns)
    )
    return sum(max(one) + beside for one in widths) + 1


def to_text(table: Table, width: int | None = None, style: Style = PLAIN) -> str:
    """As on a terminal, but as a plain string."""
    import io

    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, width=width or 120, no_color=True, highlight=False, force_jupyter=False)
    console.print(to_rich(table, console.width, style), crop=False)
    for note in style.notes(table.notes):
        console.print(note, markup=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


# What a notebook shows: a small table, with the signatures folded away; a tree in colours.
#
# Colours and fonts are the notebook's own, light or dark; only what is right, missed or spurious has a colour, of a middle
# tone that can be read on both. Everything is escaped.

TONES = {"=": "#2f8f5b", "-": "#d0453a", "+": "#b07d12", "≠": "#a55fd0"}
LINES = 400
"""So many lines of a tree are shown."""


def notebook_table(table: Table, notes: Sequence[str], signatures: Sequence[str]) -> str:
    """A table with numbers to the right, notes below it, and the signatures to unfold."""

    def cell(tag: str, text: str, number: bool) -> str:
        side = "right" if number else "left"
        return f'<{tag} style="text-align:{side};font-variant-numeric:tabular-nums">{html_escape(text)}</{tag}>'

    def row(tag: str, cells: Sequence[str]) -> str:
        return "".join(cell(tag, text, number) for text, number in zip(cells, numeric, strict=True))

    numeric = _numeric(table)
    body = "".join(f"<tr>{row('td', cells)}</tr>" for cells in text_rows(table))
    lines = "".join(f"<div><code>{html_escape(line)}</code></div>" for line in signatures)
    folded = f"<details><summary><small>signature</small></summary><small>{lines}</small></details>" if lines else ""
    return (
        html_table(table.title, row("th", list(map(head_text, table.columns))), body)
        + "".join(map(html_note, notes))
        + folded
    )


def notebook_tree(lines: Iterable[str]) -> str:
    """The lines of a tree, each in the colour of the sign that it begins with."""
    out = []
    for number, line in enumerate(lines):
        if number == LINES:
            out.append("… print() shows all of it")
            break
        tone = TONES.get(line.strip()[:1])
        text = html_escape(line)
        out.append(f'<span style="color:{tone}">{text}</span>' if tone else text)
    return f'<pre style="line-height:1.4;margin:0">{chr(10).join(out)}</pre>'


# The formats by name: for programs (TSV, CSV), for a page (Markdown, HTML), for a paper (LaTeX, Typst)

_MARKS = re.compile(r"[\\`*|~$]|(?<![^\W_])_|_(?![^\W_])|<|&(?=#?\w+;)|(?<=\])\(")


# For programs: every number as it is, undefined is empty; the ends of intervals have columns of their own


def _cells(table: Table, style: Style) -> list[list[str]]:
    def cell(value: Any, column: str) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return repr(float(value)) if style.exact else style.number(value, column)
        return value.plain if isinstance(value, Ratio) else " ".join(str(value).split())

    return [[cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def to_tsv(table: Table, style: Style = PLAIN) -> str:
    """Tab-separated."""
    table = for_programs(table)
    return "\n".join(["\t".join(table.columns), *map("\t".join, _cells(table, style))])


def to_csv(table: Table, style: Style = PLAIN) -> str:
    """Comma-separated; what has a comma or a quotation mark stands in quotation marks."""
    import csv
    import io

    table, text = for_programs(table), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(str, table.columns))
    writer.writerows(_cells(table, style))
    return text.getvalue().removesuffix("\n")


# For a page


def markdown_text(text: str) -> str:
    """Text with the signs that Markdown takes for its own made harmless; an underscore inside a word is not one of them."""
    return _MARKS.sub(lambda found: "&lt;" if found[0] == "<" else "\\" + found[0], " ".join(text.split()))


def markdown_code(text: str) -> str:
    """A line as it is, between as many backticks as it takes."""
    fence = "`" * (1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}"


def _marked(
    table: Table, style: Style, text: Callable[[str], str], tags: dict[int, tuple[str, str]]
) -> list[list[str]]:
    """The cells as text, with the figure itself between tags where it is the best or the second."""
    found = places(table, style)
    out = []
    for r, row in enumerate(text_rows(table, style)):
        cells = []
        for c, cell in enumerate(row):
            figure, space, more = cell.partition(" ")
            before, behind = tags.get(found.get((r, c), 0), ("", ""))
            cells.append(f"{before}{text(figure)}{behind}{space}{text(more)}" if before else text(cell))
        out.append(cells)
    return out


def to_markdown(table: Table, style: Style = PLAIN) -> str:
    """A table of GitHub's Markdown, with its notes below."""
    above = [line for line in (style.caption, table.title) if line]
    lines = [line for one in above for line in (f"**{markdown_text(one)}**", "")]
    lines += [
        f"| {' | '.join(markdown_text(head_text(one)) for one in table.columns)} |",
        "|" + "---|" * len(table.columns),
    ]
    cells = _marked(table, style, markdown_text, {BEST: ("**", "**"), SECOND: ("<ins>", "</ins>")})
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([*lines, *(line for note in table.notes for line in ("", markdown_text(note)))])


def to_html(table: Table, style: Style = PLAIN) -> str:
    """A compact HTML table, with its notes below."""
    head = "".join(f"<th>{html_escape(head_text(column))}</th>" for column in table.columns)
    cells = _marked(table, style, html_escape, {BEST: ("<b>", "</b>"), SECOND: ("<u>", "</u>")})
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    title = ": ".join(filter(None, (style.caption, table.title)))
    return html_table(title, head, body) + "".join(map(html_note, table.notes))


def _below_markdown(signatures: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [f"\nSignature: {markdown_code(one)}" for one in signatures] + [f"\n{markdown_text(one)}" for one in notes]


def _below_html(signatures: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [html_note(one) for one in (*(f"signature: {one}" for one in signatures), *notes)]


# For a paper


def _in_latex(table: Table, style: Style, signatures: Sequence[str], comments: Sequence[str]) -> str:
    from tallystick.show.typeset import to_latex

    return to_latex(table, style, signatures, comments)


def _in_typst(table: Table, style: Style, signatures: Sequence[str], comments: Sequence[str]) -> str:
    from tallystick.show.typeset import to_typst

    return to_typst(table, style, signatures, comments)


@frozen
class Writer:
    """How tables are written in one format. What is `for_programs` has every number as it is, a row for each. What is pasted
    elsewhere takes its signatures along: in a paper in the caption, with the notes as comments, elsewhere, with the notes, `below` the
    tables."""

    plain: Callable[[Table, Style], str] | None = None
    captioned: Callable[[Table, Style, Sequence[str], Sequence[str]], str] | None = None
    for_programs: bool = False
    below: Callable[[Sequence[str], Sequence[str]], list[str]] | None = None
    rank_sign: str = "#"

    @property
    def paper(self) -> bool:
        """Whether it is for a paper."""
        return self.captioned is not None

    def style(self, style: Style) -> Style:
        """A style as this format has it."""
        return replace(style, paper=self.paper, rank_sign=self.rank_sign)

    def arranged(self, tables: Sequence[Table]) -> list[Table]:
        """Tables as this format has them: for programs those of several metrics are one."""
        return _by_metric(tables) if self.for_programs else list(tables)

    def write(
        self, table: Table, style: Style = PLAIN, signatures: Sequence[str] = (), comments: Sequence[str] = ()
    ) -> str:
        """A table; in a paper with the signatures in its caption and comments before it."""
        table = replace(table, notes=style.notes(table.notes))
        if self.captioned is not None:
            return self.captioned(table, self.style(style), signatures, comments)
        assert self.plain is not None
        return self.plain(table, self.style(style))


WRITERS = {
    "tsv": Writer(to_tsv, for_programs=True),
    "csv": Writer(to_csv, for_programs=True),
    "markdown": Writer(to_markdown, below=_below_markdown, rank_sign="№"),
    "latex": Writer(captioned=_in_latex),
    "typst": Writer(captioned=_in_typst),
    "html": Writer(to_html, below=_below_html),
}
"""Every format of tables by its name; commands also know `table`, on a terminal, and `json`, which is data of another shape. Ranks in
Markdown are №1, since a site may take #1 for a link to something called 1."""


def find_writer(format: str) -> Writer:
    """The writer of a format."""
    if format not in WRITERS:
        raise MetricError(f"no format {format!r}; there are {', '.join(WRITERS)}.{did_you_mean(format, WRITERS)}")
    return WRITERS[format]


def choose_columns(tables: Sequence[Table], columns: Columns | None) -> list[Table]:
    """Several tables, each with those of the columns that it has; a table with none of them stays whole."""
    if columns is None:
        return list(tables)
    called = choose(columns, list(dict.fromkeys(str(name) for table in tables for name in table.columns)))
    out = []
    for table in tables:
        own = {name: shown for name, shown in called.items() if name in table.columns}
        out.append(with_columns(table, own) if own.keys() - {table.columns[0]} else table)
    return out


def write_table(
    table: Table, format: str, how: How, signatures: Sequence[str] = (), comments: Sequence[str] = ()
) -> str:
    """A table in a format, by the words of `to_latex` and the others."""
    columns = how.get("columns")
    chosen = table if columns is None else with_columns(table, columns)
    return find_writer(format).write(chosen, style_of(how), signatures, comments)

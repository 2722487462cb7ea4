"""Tables, neutral, and shown on a terminal or in a notebook (`writers` has the other formats); and values in words.

SlotFiller(slot='Victim', value=Entity(mentions=('two men',)))      slot Victim, value two men
Mention(3, 4, text='the mayor')                                      the mayor [3–4]
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from tallystick.errors import MetricError, TallystickError, did_you_mean
from tallystick.frozen import frozen
from tallystick.show.cells import PLAIN, Style, head_text, quantity
from tallystick.show.cells import Column as Column
from tallystick.show.cells import Estimate as Estimate
from tallystick.show.cells import Name as Name

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from typing_extensions import Unpack

    from tallystick.show.cells import How
    from tallystick.structures.texts import Mention

__all__ = ["Column", "Estimate", "Name", "Table", "Tables", "quantity"]


LONGEST = 300
"""So many characters of a value are shown."""


def value_text(value: Any, longest: int = LONGEST) -> str:
    """A value in one line."""
    return cut(one_line(_words(value)), longest)


def both_texts(reference: Any, predicted: Any, longest: int = LONGEST) -> tuple[str, str]:
    """Two values that are not the same, so that the difference is seen."""
    return tell_apart(reference, predicted, longest, _words)


def named_parts(value: Any) -> list[tuple[str, Any]]:
    """The parts of a record by name; nothing for other values."""
    from tallystick.engine.data import fields_of

    if isinstance(value, (str, bytes)) or _is_mention(value):
        return []
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in value.items()]
    return [(name, getattr(value, name)) for name in fields_of(type(value)) or ()]


def _words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value if value.strip() else repr(str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if type(value) is int or type(value) is float:
        return str(value)
    from tallystick.engine.data import Invalid

    if isinstance(value, Invalid):
        return f"the prediction is invalid: {value.reason}"
    if _is_mention(value):
        return _mention(value)
    if isinstance(value, range) and value.step == 1 and value:
        return _place(value[0], value[-1])
    parts = named_parts(value)
    if len(parts) == 1:
        return _words(parts[0][1])
    if parts:
        return ", ".join(f"{name} {_words(part)}" for name, part in parts if part not in (None, (), ""))
    if isinstance(value, (list, tuple, set, frozenset)):
        return "; ".join(_listed(value)) or "nothing"
    return str(value)


def _listed(value: Any) -> Iterator[str]:
    for part in value:
        text = _words(part)
        yield f"({text})" if named_parts(part) and len(named_parts(part)) > 1 else text


def _place(first: int, last: int) -> str:
    return f"[{first}]" if first == last else f"[{first}–{last}]"


def _is_mention(value: Any) -> TypeGuard[Mention]:
    """Whether a value is a mention; the structures are not loaded to find out."""
    texts = sys.modules.get("tallystick.structures.texts")
    return texts is not None and isinstance(value, texts.Mention)


def _mention(mention: Mention) -> str:
    where = _place(mention.left, mention.right)
    text, type_ = getattr(mention, "text", None), getattr(mention, "type", None)
    return " ".join(part for part in (type_, text, where if mention.left >= 0 else "[nowhere]") if part)


# Two values that are not the same, each in one line, so that a reader sees where they differ.
#
#     5 and '5'                              5                    '5'
#     'New York' and 'New  York'             'New York'           'New␣␣York'
#     two letters, the last words differ     …yours, Ann          …yours, Anne
#
# Values that read alike are written as Python writes them, with the white space that would not be seen; lines that are too
# long are cut around the first place where they differ, not behind it.

_UNSEEN = re.compile(r"(?<= ) | (?= )|(?<=['\"]) | (?=['\"])")
"""A space beside another, or at an end of a text."""


def one_line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def cut(text: str, longest: int, begin: int = 0) -> str:
    """At most so many characters of a line, from `begin` on."""
    if begin:
        text = "…" + text[begin + 1 :]
    return text if len(text) <= longest else text[: longest - 1] + "…"


def tell_apart(reference: Any, predicted: Any, longest: int, words: Callable[[Any], str]) -> tuple[str, str]:
    """Both values in `words`, or, where these read alike, as Python writes them. What has no difference to show stays alike."""
    left, right = one_line(words(reference)), one_line(words(predicted))
    if _seen(left) == _seen(right):
        left, right = _exactly(reference, predicted)
    return cut_apart(left, right, longest)


def cut_apart(left: str, right: str, longest: int) -> tuple[str, str]:
    """Two lines, cut so that the first difference between them is seen."""
    at = next((k for k, (x, y) in enumerate(zip_longest(left, right)) if x != y), 0)
    begin = 0 if at < longest - 1 else max(0, min(at - longest // 3, max(len(left), len(right)) - longest))
    return cut(left, longest, begin), cut(right, longest, begin)


def _seen(text: str) -> str:
    """What a reader sees of a line: an accent is one sign or two, and some signs have no width."""
    return "".join(x for x in unicodedata.normalize("NFC", text) if unicodedata.category(x) != "Cf")


def _exactly(reference: Any, predicted: Any) -> tuple[str, str]:
    left, right = (one_line(_UNSEEN.sub("␣", repr(value))) for value in (reference, predicted))
    return (left, right) if left == right or _seen(left) != _seen(right) else (ascii(reference), ascii(predicted))


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

    def to_frame(self) -> Any:
        """A pandas data frame, under its first column."""
        try:
            import pandas
        except ImportError:
            raise TallystickError("to_frame() needs pandas: pip install pandas") from None
        table = for_programs(self)
        names = list(map(str, table.columns))
        columns = {name: [row[k] for row in table.rows] for k, name in enumerate(names)}
        return pandas.DataFrame(columns).set_index(names[0])

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        from tallystick.show.writers import write_table

        return write_table(self, format, how)

    def __str__(self) -> str:
        return to_text(self, 160)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook_table(self, self.notes, ())


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
            raise MetricError(f"there are {len(self._tables)} tables here; take one of them, such as [0]")
        return self._tables[0]

    def to_frame(self) -> Any:
        """A pandas data frame; of several tables one below the other, under their titles."""
        if len(self._tables) == 1:
            return self._only.to_frame()
        import pandas

        return pandas.concat({table.title or str(k): table.to_frame() for k, table in enumerate(self._tables)})

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        """Each of the tables, with those of the columns that it has."""
        from tallystick.show.writers import choose_columns, write_table

        tables = choose_columns(self._tables, how.get("columns"))
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

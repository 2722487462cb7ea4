"""Everything that tallystick raises on purpose.

A message says what was found, where, what was expected and what to do. The command line prints it
without a traceback and leaves with the error's `exit_code`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


class TallystickError(Exception):
    """The one family of errors; catch this to catch them all.

    >>> try:
    ...     ts.spans([["B-PER"]], [["B-PER", "O"]])
    ... except ts.TallystickError as error:
    ...     print(error)
    reference[0] has 1 tags, predicted[0] has 2; 1 of 1 texts differ in length
    """

    exit_code = 2


class MetricError(TallystickError):
    """A metric that makes no sense: a wrong parameter, a misspelt name, an expression that does not parse."""


class DerivationError(MetricError):
    """A type from which no metric can be derived; the message names the path and the type."""


class ValueMismatch(TallystickError):
    """A value that is not what the metric needs; the message names the path inside the value."""


class TooLarge(TallystickError):
    """A problem that does not fit into memory; the message says what makes it so large."""


class OutOfTime(TallystickError):
    """A time limit was set and is over, and there are no bounds that could be given instead."""


class SidesMismatch(TallystickError):
    """Reference and prediction do not fit together: different lengths, ids or tokens."""

    exit_code = 3


@dataclass(frozen=True)
class Place:
    """Where in a file something was found. Lines and columns count from 1; `text` is the line itself."""

    file: str
    line: int | None = None
    column: int | None = None
    text: str | None = None

    def __str__(self) -> str:
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
        if self.column is not None:
            parts.append(str(self.column))
        return ":".join(parts)

    def caret(self) -> str:
        """The line with a caret under the column, ready to be appended to a message (or nothing)."""
        if self.text is None:
            return ""
        shown, offset = self.text.rstrip("\r\n"), (self.column or 1) - 1
        if len(shown) > 160:
            start = max(0, min(offset - 80, len(shown) - 160))
            shown, offset = shown[start : start + 160], offset - start
        lines = f"\n    {shown}"
        if self.column is not None:
            pad = "".join("\t" if c == "\t" else " " for c in shown[:offset])
            lines += f"\n    {pad}^"
        return lines


class InputError(TallystickError):
    """A file that cannot be read or understood; the message starts with file, line and column."""

    def __init__(self, message: str, place: Place | str | None = None) -> None:
        self.place = Place(place) if isinstance(place, str) else place
        self.reason = message
        where = f"{self.place}: " if self.place else ""
        caret = self.place.caret() if self.place else ""
        super().__init__(f"{where}{message}{caret}")


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """A ` Did you mean "x"?` for a misspelt word, or nothing."""
    said, names = str(word), [str(one) for one in known]
    if said in names:  # it is not misspelt, only out of place
        return ""
    import difflib

    close = [one for one in names if one.casefold() == said.casefold()] or difflib.get_close_matches(said, names, n=1)
    return f' Did you mean "{close[0]}"?' if close else ""


def check_share(name: str, number: float, before: str = "") -> None:
    """Refuse a bound of a figure that is no share: 90 for 90 %."""
    if not 0 <= number <= 1:
        said = f"; for {number:g} % say {name}={number / 100:g}" if 1 < number <= 100 else ""
        raise MetricError(
            f"{before}{name.rpartition('.')[2]} lies between 0 and 1, found {f'{name}={number:g}'!r}{said}"
        )


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 mention`, `2,000 mentions`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(values: Iterable[object], limit: int = 5) -> str:
    """A few of many values, for a message: `"a", "b" and 17 more`."""
    listed = list(values)
    shown = ", ".join(f'"{value}"' for value in listed[:limit])
    return shown if len(listed) <= limit else f"{shown} and {len(listed) - limit:,} more"


def unknown_document(document: object, ids: Collection[object], unit: str = "document") -> MetricError:
    """The error that names some of the documents that are there."""
    there = f"there {'is' if len(ids) == 1 else 'are'} {len(ids):,}{': ' if len(ids) else ''}{some(ids)}"
    return MetricError(f"no {unit} {document!r}; {there}.{did_you_mean(document, ids)}")


def unmet_ids(missing: Sequence[Any], extra: Sequence[Any], allowed: bool = False) -> str:
    """The message for document ids that stand on one side only; `allowed` says that some may be missing."""
    parts = []
    if missing and not allowed:
        parts.append(f"{len(missing):,} only in the reference: {some(missing)}")
    if extra:
        parts.append(f"{len(extra):,} only in the prediction: {some(extra)}")
    alike = set(map(str, missing)) & set(map(str, extra))
    if alike:
        one = min(alike)
        sides = [next(type(key).__name__ for key in keys if str(key) == one) for keys in (missing, extra)]
        kinds = ["text" if side == "str" else "a number" if side in ("int", "float") else side for side in sides]
        parts.append(
            f'"{one}" is {kinds[0]} in the reference and {kinds[1]} in the prediction, these are different ids'
        )
    return "the document ids differ; " + "; ".join(parts)

"""Where in a line of JSON a value stands, for a caret under it. Only looked for once something is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tallystick.errors import InputError, Place, did_you_mean
from tallystick.files.source import AnySource, Source

_SPACE = " \t\r\n"


def column_of(line: str, path: Sequence[str | int]) -> int | None:
    """The column, counted from 1, of the value at a path of keys and positions; None if there is none."""
    place = _past_space(line, 0)
    decode = json.JSONDecoder().raw_decode
    for step in path:
        opening = "{" if isinstance(step, str) else "["
        if line[place : place + 1] != opening:
            return None
        place, position = _past_space(line, place + 1), 0
        while line[place : place + 1] not in ("}", "]", ""):
            key: str | int = position
            if opening == "{":
                key, place = decode(line, place)
                place = _past_space(line, _past_space(line, place) + 1)
            if key == step:
                break
            _, place = decode(line, place)
            place = _past_space(line, place)
            if line[place : place + 1] == ",":
                place = _past_space(line, place + 1)
            position += 1
        else:
            return None
    return place + 1


def _past_space(line: str, place: int) -> int:
    while place < len(line) and line[place] in _SPACE:
        place += 1
    return place


# JSON text to values, and every way in which it is not: one wording, with the place where it stopped.
#
# msgspec decodes. It takes what the standard says and nothing more: no NaN, no lone surrogates (which could never be printed), no
# numbers that no machine holds, and nesting as deep as Python's stack.

Pairs = Callable[[list[tuple[str, Any]]], Any]
_HALF = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])")
TOO_DEEP = "is nested too deeply; a few hundred levels can be read"


class NotJson(ValueError):
    """What is wrong, as a clause that follows the name of the file; line and column count from 1 inside the text."""

    def __init__(self, message: str, line: int = 1, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def decode(text: bytes | str, pairs: Pairs | None = None) -> Any:
    """The value, or `NotJson`. `pairs` makes an object from its keys and values, to see a key that stands twice."""
    import msgspec

    try:
        value = msgspec.json.decode(text)
        return value if pairs is None else json.loads(text, object_pairs_hook=pairs)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise explained(error, text) from None


def decode_line(text: bytes | str, file: str, number: int | None = None, pairs: Pairs | None = None) -> Any:
    """The value of a line, or of a whole file without a number; an `InputError` with its place if it is none."""
    try:
        return decode(text, pairs)
    except NotJson as error:
        raise placed(error, text, file, number) from None


def placed(error: NotJson, text: bytes | str, file: str, number: int | None = None) -> InputError:
    """The error of a line (or file) as the reader raises it, with a caret where the parser stopped."""
    line = error.line - 1 + (number or 1)
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    shown = None
    if error.column is not None:
        shown = data.split(b"\n", error.line)[error.line - 1].decode("utf-8", "replace").replace("\0", "\ufffd")
    elif number is None and error.line == 1:
        return InputError(str(error), Place(file))
    return InputError(str(error), Place(file, line, error.column, shown))


def explained(error: Exception, text: bytes | str) -> NotJson:
    """What a decoder's exception means."""
    if isinstance(error, RecursionError):
        return NotJson(TOO_DEEP)
    if isinstance(error, UnicodeEncodeError):
        return NotJson("is not JSON: holds half of a surrogate pair, which is no character")
    if isinstance(error, UnicodeDecodeError):
        return NotJson(_encoding(text))
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        return NotJson("is not JSON in UTF-8; convert the file from UTF-16 first")
    message = str(error).removeprefix("JSON is malformed: ")
    if "out of range" in message:
        return NotJson("holds a number that is out of range; floats go to 1.8e308, integers to 4,300 digits")
    if "surrogate" in message or ("truncated" in message and _HALF.search(data)):
        message = "half of a surrogate pair, which is no character"
    if "(byte " in message:
        offset = int(str(error).rsplit("(byte ", 1)[1].rstrip(")"))
        message = message.rsplit(" (byte", 1)[0]
    else:  # it was truncated
        half = _HALF.search(data)
        offset = half.start() if half and "surrogate" in message else len(data.rstrip())
        message = "ends too early" if "truncated" in message else message
    if offset >= len(data.rstrip()) and "surrogate" not in message:  # all of it was read, and more was expected
        message = "ends too early"
    line = data.count(b"\n", 0, offset) + 1
    start = data.rfind(b"\n", 0, offset) + 1
    if b"\r" in data[:offset].strip() and "trailing" in message and b"\n" not in data.strip():
        message += " (do lines end with CR alone? convert them to LF)"
    return NotJson(f"is not JSON: {message}", line, len(data[start:offset].decode("utf-8", "replace")) + 1)


def _encoding(text: bytes | str) -> str:
    data = text if isinstance(text, bytes) else b""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "is UTF-16; convert the file to UTF-8 first"
    return "is not UTF-8; convert the file to UTF-8 first"


# JSON whose every value knows where it stands, so that a reader can say what is wrong and where.
#
#     gold.jsonl:3: events[0].trigger.start: expected a whole number, found "7"
#
# A file is JSON Lines (one value a line) or one JSON value, whichever it turns out to be.

FARTHEST = 1 << 31
"""No text is as long as this."""


class Json:
    """A value, its place in the file and its path inside the document, which is put together only when it is asked for."""

    __slots__ = ("key", "parent", "place", "value")

    def __init__(self, value: Any, place: Place, parent: Json | None = None, key: str | int = "") -> None:
        self.value, self.place, self.parent, self.key = value, place, parent, key

    @property
    def path(self) -> str:
        above = self.parent.path if self.parent is not None else ""
        if isinstance(self.key, int):
            return f"{above}[{self.key}]"
        return f"{above}.{self.key}" if above else self.key

    def fail(self, message: str) -> InputError:
        """The error that says what is wrong with this value."""
        return InputError(f"{self.path}: {message}" if self.path else message, self.place)

    def expected(self, what: str) -> InputError:
        """The error for a value of the wrong kind."""
        return self.fail(f"expected {what}, found {shown(self.value)}")

    def has(self, *keys: str) -> bool:
        return isinstance(self.value, dict) and all(key in self.value for key in keys)

    def at(self, *keys: str) -> Json:
        """The value under the first of these keys that is there."""
        known = self.mapping()
        for key in keys:
            if key in known:
                return Json(known[key], self.place, self, key)
        wanted = " or ".join(repr(key) for key in keys)
        raise self.fail(
            f"has no {wanted}; it has {', '.join(map(repr, known)) or 'nothing'}.{did_you_mean(keys[0], known)}"
        )

    def get(self, *keys: str) -> Json | None:
        """The value under the first of these keys that is there and not null; None without one."""
        known = self.mapping()
        for key in keys:
            found = known.get(key)
            if found is not None:
                return Json(found, self.place, self, key)
        return None

    def mapping(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            raise self.expected("an object")
        return self.value

    def items(self) -> Iterator[tuple[str, Json]]:
        for key in self.mapping():
            yield key, self.at(key)

    def each(self) -> list[Json]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.expected("a list")
        return [Json(item, self.place, self, k) for k, item in enumerate(self.value)]

    def listed(self, *keys: str) -> list[Json]:
        """The items of the list under the first of these keys that is there; none without one."""
        found = self.get(*keys)
        return [] if found is None else found.each()

    def several(self, least: int, what: str) -> list[Json]:
        """The items of a list that must have at least so many."""
        if not isinstance(self.value, list) or len(self.value) < least:
            raise self.expected(what)
        return self.each()

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.expected("text")
        return self.value

    def name(self) -> str:
        """An id: text, or a number as text."""
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int)):
            raise self.expected("text or a number")
        return str(self.value)

    def label(self) -> str:
        """A type: text, and not nothing."""
        if not self.text():
            raise self.expected("a type")
        return self.text()

    def whole(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.expected("a whole number")
        return self.value

    def span(self, *, inclusive: bool = False, empty: bool = False) -> tuple[int, int]:
        """[start, end] with at least one token (unless `empty`), both ends inclusive in what is returned."""
        start, end = (one.whole() for one in self.several(2, "[start, end]")[:2])
        return self.checked_span(start, end, inclusive, empty)

    def checked_span(self, start: int, end: int, inclusive: bool, empty: bool = False) -> tuple[int, int]:
        last = end if inclusive else end - 1
        if last >= FARTHEST:
            raise self.fail(f"expected offsets below {FARTHEST:,}, found {start} to {end!s:.40}")
        if start < 0 or last < start - empty:
            kind = "inclusive" if inclusive else "exclusive"
            raise self.fail(
                f"expected a span with 0 ≤ start and at least one token, found {start} to {end} ({kind} end)"
            )
        return start, last


def shown(value: Any) -> str:
    """A value in a message, short."""
    import msgspec

    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:59] + "…"


def read_json(name: AnySource) -> list[Json]:
    """The values of a JSON Lines file; or of a file that is one JSON value: a list's items, or the one value."""
    source = Source.of(name)
    file, data = str(source), source.read().removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise InputError("is empty; expected JSON", file)
    if data.lstrip()[:1] != b"[":
        out = []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                out.append(Json(decode(line), source.place(number)))
            except NotJson as error:
                if not out and _is_json(data):  # one object over several lines
                    break
                raise placed(error, line, file, source.line(number)) from None
        else:
            return out
    whole = Json(decode_line(data, file), Place(file))
    return whole.each() if isinstance(whole.value, list) else [whole]


def _is_json(data: bytes) -> bool:
    try:
        decode(data)
    except NotJson:
        return False
    return True

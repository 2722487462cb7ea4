"""Where in a line of JSON a value stands, for a caret under it. Only looked for once something is wrong."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from tallystick.errors import InputError, MetricError, Place, TallystickError, did_you_mean
from tallystick.files.source import BYTE_ORDER_MARK, AnySource, Range, Source, read_text, shown_name

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

_HALVES = re.compile("[\ud800-\udfff]")
_HALF = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])")
TOO_DEEP = "is nested too deeply; a few hundred levels can be read"


@contextmanager
def collector_paused() -> Iterator[None]:
    """No search for cycles while many values are made at once: JSON has none, and to look for them again and again takes longer
    than to decode it."""
    import gc

    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class NotJson(ValueError):
    """What is wrong, as a clause that follows the name of the file; line and column count from 1 inside the text."""

    def __init__(self, message: str, line: int = 1, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


DEEPEST = 950
"""Levels of JSON. What is deeper could be decoded from Python 3.12 on, but not be walked over."""


def refuse_deep(text: bytes | str) -> None:
    """A RecursionError if JSON, which was decoded, is nested too deeply, as decoders of Python 3.11 and before raise it by themselves. Brackets inside of texts may
    count as nesting at first; then the texts are left out."""
    if sys.version_info < (3, 12):
        return
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if data.count(b"[") + data.count(b"{") <= DEEPEST or _depth(data) <= DEEPEST:
        return
    if _depth(re.sub(rb'"(?:[^"\\]|\\.)*"', b"", data, flags=re.DOTALL)) > DEEPEST:
        raise RecursionError(TOO_DEEP)


def _depth(data: bytes) -> int:
    """The most that opening brackets run ahead of closing ones."""
    import numpy as np

    steps = np.zeros(256, np.int32)
    steps[list(b"[{")], steps[list(b"]}")] = 1, -1
    deepest = level = lowest = 0
    for first in range(0, len(data), 1 << 20):
        levels = level + np.cumsum(steps[np.frombuffer(data[first : first + (1 << 20)], np.uint8)])
        lows = np.minimum(np.minimum.accumulate(levels), lowest)
        deepest, level, lowest = max(deepest, int((levels - lows).max())), int(levels[-1]), int(lows[-1])
    return deepest


def plain_text(text: bytes | str) -> bytes | str:
    """A text of Python's own type: msgspec takes no other, and a class of somebody's may be text, too."""
    return str.__str__(text) if isinstance(text, str) else text


def decode(text: bytes | str) -> Any:
    """The value, or `NotJson`."""
    import msgspec

    try:
        value = msgspec.json.decode(plain_text(text))
        refuse_deep(text)
        _refuse_repeated(text, value)
        return value
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise explained(error, text) from None


class RepeatedKey(NotJson):
    """A key that stands twice in one object: what it is in the end is anybody's guess."""


def _refuse_repeated(text: bytes | str, value: Any) -> None:
    key = repeated_key_of(text, value)
    if key is not None:
        raise RepeatedKey(says_repeated(key))


def says_repeated(key: str) -> str:
    """What is wrong with a key that stands twice in one object."""
    return f"has the key {key!r} twice in one object; expected each key once"


def repeated_key_of(text: bytes | str, value: Any) -> str | None:
    """The first key that stands twice in one object of JSON, given what it was decoded to: written anew, that has each key once, so that
    only a text with more marks of keys is looked at closely."""
    import msgspec

    if not isinstance(value, (dict, list)):
        return None
    try:
        more = key_marks(text if isinstance(text, bytes) else text.encode()) > key_marks(msgspec.json.encode(value))
    except OverflowError:  # whole numbers of more than 64 bits are read and not written
        more = True
    return repeated_key(text if isinstance(text, str) else text.decode("utf-8", "replace")) if more else None


_SPACED = re.compile(rb'"[ \t\n\r]+:')
LONG = 10_000
"""From so many bytes on keys are counted by columns."""


def key_marks(data: bytes) -> int:
    """How often a text is followed by a colon: the number of keys, and of texts that look like one, which stay in what is written anew."""
    if len(data) < LONG:
        spaced = b" :" in data or b"\t:" in data or b"\n:" in data or b"\r:" in data
        return data.count(b'":') + (len(_SPACED.findall(data)) if spaced else 0)
    import numpy as np

    letters = np.frombuffer(data, np.uint8)  # to look at the colons takes a quarter of the time
    before = np.flatnonzero(letters[1:] == ord(":"))
    found = letters[before]
    marks = int(np.count_nonzero(found == ord('"')))
    while len(before := before[(found == 32) | ((found >= 9) & (found <= 13))] - 1):
        before = before[before >= 0]
        found = letters[before]
        marks += int(np.count_nonzero(found == ord('"')))
    return marks


def repeated_key(text: str) -> str | None:
    """The first key that stands twice in one object of a text that holds JSON; None also where there is no JSON."""
    found: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found.append(key)
            seen.add(key)

    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=0)
    with suppress(ValueError, RecursionError):
        json.JSONDecoder(object_pairs_hook=look).raw_decode(text, start)
    return found[0] if found else None


def try_decode(text: bytes | str) -> tuple[Any] | None:
    """The value alone in a tuple, so that null is one too; None if the text is not JSON."""
    import msgspec

    try:
        value = msgspec.json.decode(plain_text(text))
        refuse_deep(text)
        return (value,)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def decode_line(text: bytes | str, file: str, number: int | None = None) -> Any:
    """The value of a line, or of a whole file without a number; an `InputError` with its place if it is none."""
    try:
        return decode(text)
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
        return NotJson("is not JSON: holds half of a surrogate pair, which is not a character")
    if isinstance(error, UnicodeDecodeError):
        return NotJson(_encoding(text))
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        return NotJson("is not JSON in UTF-8; convert the file from UTF-16 first")
    message = str(error).removeprefix("JSON is malformed: ")
    if "out of range" in message:
        return NotJson("holds a number that is out of range; floats go to 1.8e308, integers to 4,300 digits")
    if "surrogate" in message or ("truncated" in message and _HALF.search(data)):
        message = "half of a surrogate pair, which is not a character"
    if "(byte " in message:
        offset = int(str(error).rsplit("(byte ", 1)[1].rstrip(")"))
        message = message.rsplit(" (byte", 1)[0]
        if message == "trailing characters":
            offset -= 1  # where they begin
            found = (
                data[offset:].replace(b"\n", b" ").split(b" ")[0][:20]
            )  # other white space than JSON's is something, too
            message = f"found {found.decode('utf-8', 'replace')!r} after the value"
    else:  # it was truncated
        half = _HALF.search(data)
        offset = half.start() if half and "surrogate" in message else len(data.rstrip())
        message = "ends too early" if "truncated" in message else message
    if (
        offset >= len(data.rstrip(b" \t\r\n")) and "surrogate" not in message
    ):  # all of it was read, and more was expected
        message = "ends too early"
    line = data.count(b"\n", 0, offset) + 1
    start = data.rfind(b"\n", 0, offset) + 1
    if b"\r" in data.strip() and b"\n" not in data.strip():
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
        known = self.value
        if not isinstance(known, dict):
            return False
        for key in keys:  # noqa: SIM110 - half the time of `all`
            if key not in known:
                return False
        return True

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
        """The items of the list under the one of these keys that is there; none without one. A key that is one of them but for its number or
        capitals is misspelt."""
        self.refuse_several(*keys)
        found = self.get(*keys)
        if found is None:
            meant = {key.rstrip("s") for key in keys}
            for key in self.mapping():
                if key not in keys and key.casefold().rstrip("s") in meant:
                    raise self.fail(f"has no {keys[0]!r}, but {key!r}; expected {keys[0]!r}")
        return [] if found is None else found.each()

    def refuse_several(self, *keys: str, same: bool = False) -> None:
        """That not two of these keys are there: one of them would be gone. They may be there with the `same` value."""
        known = self.mapping()
        there = [key for key in keys if known.get(key) is not None]
        for other in there[1:]:
            if not same or self.value[other] != self.value[there[0]]:
                raise self.fail(f"has {there[0]!r} beside {other!r}: which of them is meant? Give one")

    def several(self, least: int, what: str) -> list[Json]:
        """The items of a list that must have at least so many."""
        self.require(least, what)
        return self.each()

    def require(self, least: int, what: str) -> None:
        """That this is a list with at least so many items."""
        if not isinstance(self.value, list) or len(self.value) < least:
            raise self.expected(what)

    def item(self, k: int) -> Json:
        """An item of a list that has it."""
        return Json(self.value[k], self.place, self, k)

    def texts(self) -> tuple[str, ...]:
        """The items of a list, all of them texts."""
        if isinstance(self.value, list) and {*map(type, self.value)} <= {str}:
            return tuple(self.value)
        return tuple(one.text() for one in self.each())

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.expected("text")
        return self.value

    def name(self) -> str:
        """An id: text, or a whole number as text."""
        found = id_of(self.value)
        if found is None:
            raise self.fail(expected_id(self.value))
        return str(found)

    def label(self) -> str:
        """A type: text, and not nothing."""
        if not self.text():
            raise self.expected("a type")
        return self.text()

    def whole(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.expected("a whole number")
        return self.value

    def number(self) -> float:
        """A number that is finite, and that a float can hold."""
        most = sys.float_info.max
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not -most <= self.value <= most:
            raise self.expected("a number")
        return float(self.value)

    def span(self, *, inclusive: bool = False, empty: bool = False) -> tuple[int, int]:
        """[start, end] with at least one token (unless `empty`), both ends inclusive in what is returned."""
        value = self.value
        if isinstance(value, list) and len(value) > 1 and type(value[0]) is int and type(value[1]) is int:
            start, end = value[0], value[1]
        else:
            start, end = (one.whole() for one in self.several(2, "[start, end]")[:2])
        return self.checked_span(start, end, inclusive, empty)

    def checked_span(self, start: int, end: int, inclusive: bool = False, empty: bool = False) -> tuple[int, int]:
        last = end if inclusive else end - 1
        if last >= FARTHEST:
            raise self.fail(f"expected offsets below {FARTHEST:,}, found {start} to {end!s:.40}")
        if start < 0 or last < start - empty:
            kind = "inclusive" if inclusive else "exclusive"
            raise self.fail(
                f"expected a span with 0 ≤ start and at least one token, found {start} to {end} ({kind} end)"
            )
        return start, last


def id_of(value: Any) -> Any:
    """What a value names a document by: text, or a whole number; else None, and true is no name. 1.0 is 1, as tables write it whose
    column once had a gap; floats that are not whole, or so large that two numbers are one float, name nothing."""
    if type(value) is float and abs(value) <= _LARGEST_WHOLE and value.is_integer():
        return int(value)
    return value if type(value) in (str, int) else None


_LARGEST_WHOLE = 2.0**53 - 1


def is_id(value: Any) -> bool:
    """Whether a value can name a document."""
    return id_of(value) is not None


def expected_id(value: Any) -> str:
    """What to say of a value that cannot name a document."""
    if isinstance(value, float) and math.isnan(value):
        return "is missing (NaN); expected text or a whole number"
    return f"expected text or a whole number, found {shown(value)}"


def id_in(value: Mapping[str, Any], place: Place, key: str = "id") -> str | None:
    """The name of a document under a key; None without one."""
    found = value.get(key)
    return None if found is None else Json(found, place, None, key).name()


def shown(value: Any) -> str:
    """A value in a message, short."""
    import msgspec

    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:59] + "…"


@collector_paused()
def read_json(name: AnySource) -> list[Json]:
    """The values of a JSON Lines file; or of a file that is one JSON value: a list's items, or the one value."""
    source = Source.of(name)
    file, data = str(source), source.read().removeprefix(BYTE_ORDER_MARK)
    if not data.strip():
        raise InputError("is empty; expected JSON", file)
    if data.lstrip()[:1] != b"[" or _are_lists(data):
        out = []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                out.append(Json(decode(line), source.place(number)))
            except NotJson as error:
                if (
                    not isinstance(error, RepeatedKey) and not out and try_decode(data) is not None
                ):  # one object over several lines
                    break
                raise placed(error, line, file, source.line(number)) from None
        else:
            return out
    whole = Json(decode_line(data, file), Place(file))
    return whole.each() if isinstance(whole.value, list) else [whole]


def as_json_lines(source: Source) -> Source:
    """The documents of a file of JSON, one on each line. A list, or an object over several lines, is written so, and each line knows where its
    document begins in the file."""
    import msgspec

    head = (source.read() if source.reads_once else source.head()).removeprefix(BYTE_ORDER_MARK).lstrip()
    if head[:1] not in (b"{", b"[") or (head[:1] == b"{" and _begins_with_a_line(source)):
        return source
    data = source.read()
    begin = len(data) - len(data.removeprefix(BYTE_ORDER_MARK).lstrip())
    if _are_lists(data[begin:]):
        return source
    try:
        if head[:1] == b"[":
            found, at = msgspec.json.decode(data[begin:], type=list[msgspec.Raw]), begin + 1
        else:
            found, at = [msgspec.json.decode(data[begin:], type=msgspec.Raw)], begin
    except (msgspec.DecodeError, RecursionError):
        if head[:1] == b"{":
            return source  # the reader says what is wrong with the line
        decode_line(data.removeprefix(BYTE_ORDER_MARK), str(source))
        raise
    lines: list[bytes] = []
    ranges: list[Range] = []
    number = 1 + data.count(b"\n", 0, at)
    for text in map(bytes, found):
        start = at + len(_BETWEEN.match(data, at)[0])  # type: ignore[index]
        number += data.count(b"\n", at, start)
        lines.append(text.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
        ranges.append((start, start + len(text) + 1, number))
        at, number = start + len(text), number + text.count(b"\n")
    return replace(source, ranges=tuple(ranges) or ((0, 0, 1),), held=b"".join(lines), listed=True)


_BETWEEN = re.compile(rb"[\s,]*")


def _begins_with_a_line(source: Source) -> bool:
    """Whether the first line of a file is JSON by itself, or the only one."""
    line, newline, _ = source.head(1 << 22).removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")
    return not newline or try_decode(line) is not None


def _are_lists(data: bytes) -> bool:
    """Whether JSON that begins with a list has one list a line."""
    first, _, rest = data.strip().partition(b"\n")
    return bool(rest) and try_decode(first) is not None


# JSON as language models write it: in code fences, with words around it, with trailing commas, cut off, behind their reasoning.
#
# What is repaired is named, so that it can be counted. Of several values in a text, and of several readings of a malformed one, the
# one that fits the shape best is taken, and the last of those. json-repair does the hard part; it would also make something out
# of plain prose, so only what begins like an object or a list is given to it.

FENCE, AROUND, COMMA, DOUBLED, CUT, BROKEN, THOUGHT, SEVERAL, READINGS = (
    "code fence", "text around the JSON", "trailing comma", "surplus comma", "cut off", "malformed JSON", "reasoning left out",
    "several candidates, the last of the best was used", "several readings, the best was used",
)  # fmt: skip
Fit = Callable[[Any], float]
"""How badly a value fits the shape that is expected: 0 is best."""
_FENCED = re.compile(r"```[\w-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_THINKING = re.compile(r"<(/?)(think|thinking|thought|reason|reasoning|reflection|scratchpad|analysis)>", re.IGNORECASE)
_KEY = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*(?:"\s*|\\)?)?', re.DOTALL)
_BEGUN = {"", '"', "-"} | {word[:k] for word in ("true", "false", "null") for k in range(1, len(word))}
"""What stands where a value was cut off before anything of it could be known."""
_HALF_ESCAPE = re.compile(r"(?<!\\)(?:\\)*(?P<half>\\(?:u[0-9a-fA-F]{0,3})?)$")
_HALF_NUMBER = re.compile(r"(?<=\d)(?P<half>\.|[eE][+-]?)$")
_SIGNS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?P<closed>")?|[{}\[\],:]', re.DOTALL)
"""Texts, closed or not, and the signs that stand outside of them."""
_SURPLUS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|([{\[])[\s,]*,|,[\s,]*(?=,|[}\]])', re.DOTALL)
"""Texts, which stay as they are; and commas behind an opening bracket, before a closing one or another comma."""
_DOUBLED = re.compile(r"[{\[,]\s*,")
_GOES_ON = re.compile(r'\s*,\s*"(?:[^"\\]|\\.)*"\s*:')
"""Another key of an object."""
MOST_READINGS = 200
"""So many places are tried at which a bracket that is missing could have been closed."""


class Unreadable(Exception):
    """There is no JSON in it."""


@dataclass
class _Candidate:
    """A value that a text holds, and what had to be repaired; `place` is where it stands."""

    value: Any
    repairs: list[str]
    place: int
    fenced: bool
    around: bool


def read_noisy(text: str, fit: Fit | None = None) -> tuple[Any, tuple[str, ...]]:
    """The value that a model's text holds, and what had to be repaired; `Unreadable` if there is none."""
    found = try_decode(text)
    if found is not None:
        return found[0], ()
    if not text.strip():
        raise Unreadable("is empty")
    said = without_reasoning(text)
    repairs = [THOUGHT] if said is not text else []
    candidates = _candidates(said, fit)
    if not candidates:
        behind = " behind its reasoning" if repairs else ""
        raise Unreadable(
            f"holds no JSON that could be repaired{behind}"
            if _regions(said)
            else f"holds no JSON object or list{behind}"
        )
    misfits = [0.0 if fit is None else fit(one.value) for one in candidates]
    best = max(
        range(len(candidates)),
        key=lambda k: (-misfits[k], not candidates[k].repairs, candidates[k].fenced, candidates[k].place),
    )
    chosen = candidates[best]
    alike = [one for one in candidates if type(one.value) is type(chosen.value) and one.value != chosen.value]
    repairs += [FENCE] * chosen.fenced + [AROUND] * chosen.around + [SEVERAL] * bool(alike) + chosen.repairs
    return chosen.value, tuple(repairs)


def without_reasoning(text: str) -> str:
    """A text without what a model thought before it answered; tags inside of JSON are part of it."""
    out: list[str] = []
    place = depth = 0
    for tag in _THINKING.finditer(text):
        if depth == 0 and any(end is None for _, end in _regions(text[place : tag.start()])) and not tag[1]:
            continue  # inside of an object
        if tag[1]:
            if depth <= 1:
                if depth == 0:  # the template of a chat may have opened it
                    out.clear()
                place = tag.end()
            depth = max(depth - 1, 0)
        else:
            if depth == 0:
                out.append(text[place : tag.start()])
            depth += 1
    if not out and place == 0:
        return text
    return "".join(out) + ("" if depth else text[place:])


def _candidates(text: str, fit: Fit | None) -> list[_Candidate]:
    """Every object and list that a text holds."""
    out: list[_Candidate] = []
    fences = [block for block in _FENCED.finditer(text) if block[1].strip()[:1] in ("{", "[")]
    pieces = [(block.start(1), block[1], True) for block in fences]
    outside = text
    for block in fences:
        outside = outside[: block.start()] + " " * len(block[0]) + outside[block.end() :]
    for start, piece, fenced in [*pieces, (0, outside, False)]:
        beside = bool(outside.strip() if fenced else fences)
        out += _candidates_of_piece(piece, start, fenced, beside, fit)
    sound = [one for one in out if not one.repairs or one.fenced]
    return sound if fit is None and sound else out


def _candidates_of_piece(piece: str, start: int, fenced: bool, beside: bool, fit: Fit | None) -> Iterator[_Candidate]:
    """The same of a fenced block, or of all that is outside; `beside` is whether there is something else, too."""
    for first, last in _regions(piece):
        longer = _closed_later(piece, first, last) if last is not None and fit is not None else None
        if longer is not None:
            yield _Candidate(longer[0], [READINGS], start + first, fenced, False)
        value, repairs = _read_region(piece, first, last, fit)
        if isinstance(value, (dict, list)) and (value or fenced):
            rest = piece[:first].strip() or (last is not None and piece[last:].strip())
            yield _Candidate(value, repairs, start + first, fenced, bool(rest or beside))


def _closed_later(text: str, first: int, last: int) -> tuple[Any] | None:
    """The value that begins at `first` if the bracket that closes it comes too early; None if nothing follows that belongs to it."""
    if not _GOES_ON.match(text, last):
        return None
    longer = text[: last - 1] + text[last:]
    end = _end(longer, first)
    return None if end is None else try_decode(longer[first:end])


def _read_region(text: str, start: int, end: int | None, fit: Fit | None) -> tuple[Any, list[str]]:
    """The value between brackets, and what had to be repaired."""
    inside = text[start:end]
    found = try_decode(inside)
    if found is not None:
        return found[0], []
    tidy = _SURPLUS.sub(lambda match: match[1] or match[2] or "", inside)
    found = try_decode(tidy) if tidy != inside else None
    if found is not None:
        return found[0], [DOUBLED if _DOUBLED.search(inside) else COMMA]
    first = _completed(inside) if end is None else _mended(tidy)
    kind = CUT if end is None else BROKEN
    readings = [first, *_closed_elsewhere(tidy)] if fit is not None else [first]
    if len(readings) == 1 or fit is None:
        return first, [kind]
    misfits = [fit(one) if isinstance(one, (dict, list)) else float("inf") for one in readings]
    best = misfits.index(min(misfits))
    return readings[best], [READINGS] if best else [kind]


def _closed_elsewhere(text: str) -> list[Any]:
    """What a text holds if brackets that were never closed, or closed too early, belong somewhere else."""
    text = text.rstrip()
    if text[-1:] not in ("}", "]"):
        return []
    out: list[Any] = []
    opened: list[str] = []
    commas: list[tuple[int, str]] = []
    for sign in _SIGNS.finditer(text):
        if sign[0] in ("{", "["):
            opened.append("}" if sign[0] == "{" else "]")
        elif sign[0] in ("}", "]") and opened:
            opened.pop()
        elif sign[0] == "," and len(opened) > 1:
            commas += [(sign.start(), "".join(opened[: -k - 1 : -1])) for k in (1, 2) if len(opened) > k]
    for place, closing in commas[:MOST_READINGS]:
        found = try_decode(text[:place] + closing + text[place:])
        if found is not None:
            out.append(found[0])
    return out


def _regions(text: str) -> list[tuple[int, int | None]]:
    """Where brackets open and close again, outermost only; the last one may never be closed."""
    out: list[tuple[int, int | None]] = []
    place = 0
    while (match := re.compile(r"[{\[]").search(text, place)) is not None:
        end = _end(text, match.start())
        out.append((match.start(), end))
        if end is None:
            break
        place = end
    return out


def _completed(text: str) -> Any:
    """The value of a text that breaks off: what is open is closed, and only what is wrong beyond that is guessed at."""
    try:
        known, closing = _without_cut_off(text)
    except RecursionError:  # hundreds of objects that were opened, and nothing in them
        return None
    found = try_decode(known + closing)
    return found[0] if found is not None else _mended(known)


@dataclass
class _Open:
    """What is open where a text breaks off."""

    brackets: list[tuple[str, int]]
    """Each open bracket, and where the present member of it begins."""
    value: int | None
    """Where the value of the innermost open member begins."""
    string: bool
    """Whether the text breaks off inside a string."""


def _find_open(text: str) -> _Open:
    """What is open at the end of a text that begins with a bracket which is never closed."""
    opened: list[tuple[str, int]] = []
    colon: int | None = None
    string = False
    for found in _SIGNS.finditer(text):
        place, sign = found.start(), found[0][0]
        string = sign == '"' and found["closed"] is None
        if sign in "{[":
            opened.append((sign, place + 1))
            colon = None
        elif sign in "}]":
            opened.pop()
            colon = place  # whatever this ends, a value stands there
        elif sign == ",":
            opened[-1] = opened[-1][0], place
            colon = None
        elif sign == ":" and colon is None:
            colon = place + 1
    return _Open(opened, colon, string)


def _without_cut_off(text: str) -> tuple[str, str]:
    """A text that breaks off, without the key that it breaks off in, or whose value never came: nothing was said there; and
    what closes all that is open in it."""
    open_ = _find_open(text)
    half = (_HALF_ESCAPE if open_.string else _HALF_NUMBER).search(text)
    if half is not None:
        text = text[: half.start("half")]
    closing = "".join("}" if sign == "{" else "]" for sign, _ in reversed(open_.brackets))
    bracket, start = open_.brackets[-1]
    if bracket == "{" and open_.value is None:
        nothing = _KEY.fullmatch(text[start:].removeprefix(",")) is not None
    else:
        begun = text[start:].removeprefix(",") if bracket == "[" else text[open_.value :]
        nothing = begun.strip() in _BEGUN
    if not nothing:
        return text, '"' * open_.string + closing
    if bracket == "{" and text[start - 1] == "{" and len(open_.brackets) > 1:
        return _without_cut_off(text[: start - 1])  # nor is an object of which nothing was said
    return text[:start], closing


def _end(text: str, start: int) -> int | None:
    """Where the brackets that open at `start` are closed again, texts left out; None if they never are."""
    depth = 0
    for found in _SIGNS.finditer(text, start):
        depth += (found[0] in "{[") - (found[0] in "}]")
        if depth == 0:
            return found.end()
    return None


def finite(value: Any) -> Any:
    """A value in which numbers that JSON does not have are texts (a NaN equals a NaN, and no number), and half a surrogate pair is the
    sign for what is no character."""
    if isinstance(value, str):
        return value if _HALVES.search(value) is None else _HALVES.sub("\ufffd", value)
    if isinstance(value, (float, Decimal)) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {finite(key): finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, (list, tuple)) else value


_BARE_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|(?<=[{,])(\s*)([^\W\d]\w*)(?=\s*:)')
"""A key without quotation marks; strings are stepped over."""


def _mended(text: str) -> Any:
    quoted = _BARE_KEY.sub(lambda found: f'{found[1]}"{found[2]}"' if found[2] else found[0], text)
    found = try_decode(quoted) if quoted != text else None
    if found is not None:  # json-repair would take {a:1} for {"a": "1"}
        return found[0]
    try:
        from json_repair import loads  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise TallystickError("repairing JSON needs json-repair: pip install json-repair") from None
    try:
        return finite(loads(text))
    except (ValueError, RecursionError):
        return None


# Small files of settings.

MOST_STEPS = 100_000
"""Parts of a schema or of choices, with all that they refer to put in."""


def read_data(name: AnySource) -> Any:
    """A small JSON or YAML file: a schema, choices, or a table of aliases."""
    if not isinstance(name, (str, os.PathLike, Source)):
        raise MetricError(f"expected an object or the name of a JSON or YAML file, found {name!r:.60}")
    file, content = shown_name(name), read_text(name)
    if file.removesuffix(".gz").endswith((".yaml", ".yml")):
        return _yaml(content, file)
    return decode_line(content, file)


def _yaml(content: str, file: str) -> Any:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InputError("YAML needs PyYAML: pip install pyyaml; or write it as JSON", file) from None
    try:
        found = yaml.load(content, _yaml_loader())
        _check_size(found, file)
        return found
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        raise InputError(f"is not YAML: {error.problem}", place) from None
    except yaml.reader.ReaderError as error:
        line = content.count("\n", 0, error.position) + 1
        raise InputError(
            f"is not YAML: the character {error.character!r:.20} is not allowed there", Place(file, line)
        ) from None
    except RecursionError:
        raise InputError(TOO_DEEP, file) from None
    except ValueError as error:  # a date that is none, a number of thousands of digits
        raise InputError(f"is not YAML: {error}", file) from None


@lru_cache(maxsize=1)
def _yaml_loader() -> Any:
    """PyYAML's safe loader, by YAML 1.2 in two things: of truth values it knows true and false alone (NO is Norway), and a key stands once."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        pass

    truth = "tag:yaml.org,2002:bool"
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if tag != truth]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(truth, re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))

    def mapping(loader: Any, node: Any) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:merge" and isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{says_repeated(key.value)}", key.start_mark)
                seen.add(key.value)
        made: dict[Any, Any] = {}
        yield made
        made.update(loader.construct_mapping(node))

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    return Loader


def _check_size(value: Any, file: str) -> None:
    """YAML's aliases can make a few lines stand for millions, or for themselves."""
    sizes: dict[int, int | None] = {}

    def size(node: Any) -> int:
        if not isinstance(node, (dict, list)):
            return 1
        if id(node) not in sizes:
            sizes[id(node)] = None
            sizes[id(node)] = 1 + sum(map(size, node.values() if isinstance(node, dict) else node))
        known = sizes[id(node)]
        if known is None:
            raise InputError("an alias contains itself", file)
        return known

    if size(value) > MOST_STEPS:
        raise InputError(f"with its aliases put in, it has more than {MOST_STEPS:,} values", file)

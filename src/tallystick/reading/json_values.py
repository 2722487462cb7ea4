"""JSON whose every value knows where it stands, so that a reader can say what is wrong and where.

    gold.jsonl:3: events[0].trigger.start: expected a whole number, found "7"

A file is JSON Lines (one value a line) or one JSON value, whichever it turns out to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, Place, did_you_mean
from tallystick.reading.json_text import NotJson, decode, decode_line, placed
from tallystick.reading.opening import read_bytes, shown_name

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


def read_json(name: str | Path) -> list[Json]:
    """The values of a JSON Lines file; or of a file that is one JSON value: a list's items, or the one value."""
    return parse_json(read_bytes(name), shown_name(name))


def parse_json(data: bytes, file: str) -> list[Json]:
    """The same for what was read already."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise InputError("is empty; expected JSON", file)
    if data.lstrip()[:1] != b"[":
        out = []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                out.append(Json(decode(line), Place(file, number)))
            except NotJson as error:
                if not out and _is_json(data):  # one object over several lines
                    break
                raise placed(error, line, file, number) from None
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

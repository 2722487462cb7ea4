"""JSON as language models write it: in code fences, with words around it, with trailing commas, cut off.

What is repaired is named, so that it can be counted. json-repair does the hard part; it would also make something out of
plain prose, so only what begins like an object or a list is given to it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tallystick.errors import TallystickError

FENCE, AROUND, COMMA, CUT, BROKEN = (
    "code fence", "text around the JSON", "trailing comma", "cut off", "malformed JSON",
)  # fmt: skip
_FENCED = re.compile(r"```[\w-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_KEY = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*(?:"\s*|\\)?)?', re.DOTALL)
_BEGUN = {"", '"', "-"} | {word[:k] for word in ("true", "false", "null") for k in range(1, len(word))}
"""What stands where a value was cut off before anything of it could be known."""
_HALF_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(?P<half>\\(?:u[0-9a-fA-F]{0,3})?)$")
_HALF_NUMBER = re.compile(r"(?<=\d)(?P<half>\.|[eE][+-]?)$")
_TRAILING = re.compile(r",\s*[}\]]")


class Unreadable(Exception):
    """There is no JSON in it."""


def read_noisy(text: str) -> tuple[Any, tuple[str, ...]]:
    """The value that a model's text holds, and what had to be repaired; `Unreadable` if there is none."""
    found = _decoded(text)
    if found is not None:
        return found[0], ()
    repairs: list[str] = []
    fenced = [block.strip() for block in _FENCED.findall(text) if block.strip()[:1] in ("{", "[")]
    if fenced:
        outside = _FENCED.sub("", text).strip()
        text = fenced[0]
        repairs += [FENCE] + [AROUND] * bool(outside)
        found = _decoded(text)
        if found is not None:
            return found[0], tuple(repairs)
    return _repaired(text, repairs)


def _repaired(text: str, repairs: list[str]) -> tuple[Any, tuple[str, ...]]:
    if not text.strip():
        raise Unreadable("is empty")
    regions = _regions(text)
    if not regions:
        raise Unreadable("holds no JSON object or list")
    for start, end in regions:  # braces may also stand in the words around it; what decodes is meant
        found = _decoded(text[start:end])
        if found is not None and isinstance(found[0], (dict, list)) and found[0]:
            return found[0], (*repairs, *_around(text, start, end, repairs))
    start, end = max(regions, key=lambda region: (region[1] or len(text)) - region[0])
    value = _mended(text[start:end]) if end is not None else _completed(text[start:])
    if not isinstance(value, (dict, list)) or not value:
        raise Unreadable("holds no JSON that could be repaired")
    kind = CUT if end is None else COMMA if _TRAILING.search(text[start:end]) else BROKEN
    return value, (*repairs, *_around(text, start, end, repairs), kind)


def _around(text: str, start: int, end: int | None, repairs: list[str]) -> list[str]:
    outside = text[:start].strip() or (end is not None and text[end:].strip())
    return [AROUND] if outside and AROUND not in repairs else []


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
    known, closing = _without_cut_off(text)
    found = _decoded(known + closing)
    return found[0] if found is not None else _mended(known)


def _without_cut_off(text: str) -> tuple[str, str]:
    """A text that breaks off, without the key that it breaks off in, or whose value never came: nothing was said there; and
    what closes all that is open in it."""
    opened: list[tuple[str, int]] = []  # each open bracket, and where the present member of it begins
    colon: int | None = None  # where the value of the innermost open member begins
    inside = escaped = False
    for place, sign in enumerate(text):
        if inside:
            inside, escaped = escaped or sign != '"', not escaped and sign == "\\"
        elif sign == '"':
            inside = True
        elif sign in "{[":
            opened.append((sign, place + 1))
            colon = None
        elif sign in "}]":
            if not opened:
                return text, ""
            opened.pop()
            colon = place  # whatever this ends, a value stands there
        elif sign == "," and opened:
            opened[-1] = opened[-1][0], place
            colon = None
        elif sign == ":" and colon is None:
            colon = place + 1
    half = (_HALF_ESCAPE if inside else _HALF_NUMBER).search(text)
    if half is not None:
        text = text[: half.start("half")]
    if not opened:
        return text, ""
    closing = "".join("}" if sign == "{" else "]" for sign, _ in reversed(opened))
    bracket, start = opened[-1]
    if bracket == "{" and colon is None:
        nothing = _KEY.fullmatch(text[start:].removeprefix(",")) is not None
    else:
        begun = text[start:].removeprefix(",") if bracket == "[" else text[colon:]
        nothing = begun.strip() in _BEGUN
    if not nothing:
        return text, '"' * inside + closing
    if bracket == "{" and text[start - 1] == "{" and len(opened) > 1:  # nor is an object of which nothing was said
        return _without_cut_off(text[: start - 1])
    return text[:start], closing


def _decoded(text: str) -> tuple[Any] | None:
    try:
        return (msgspec.json.decode(text),)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _end(text: str, start: int) -> int | None:
    """Where the brackets that open at `start` are closed again, texts left out; None if they never are."""
    depth, inside, escaped = 0, False, False
    for place in range(start, len(text)):
        sign = text[place]
        if inside:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                inside = False
        elif sign == '"':
            inside = True
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
    return None


def _mended(text: str) -> Any:
    try:
        from json_repair import loads  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise TallystickError("repairing JSON needs json-repair: pip install json-repair") from None
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None

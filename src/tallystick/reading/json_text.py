"""JSON text to values, and every way in which it is not: one wording, with the place where it stopped.

msgspec decodes. It takes what the standard says and nothing more: no NaN, no lone surrogates (which could never be printed), no
numbers that no machine holds, and nesting as deep as Python's stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from tallystick.errors import InputError, Place

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

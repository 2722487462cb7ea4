"""What a file may be: a file, text, and not endless.

Everything that is read goes through here, so that a directory, a device, a UTF-16 file or a bomb (a packed file that unpacks to
thousands of times its size) is said in one line, before memory is gone.
"""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import IO, NoReturn

from tallystick.errors import InputError, Place

RATIO = 100
"""A packed file may unpack to this many times its size; text seldom reaches 20. TALLYSTICK_UNPACK_RATIO raises it."""
ALWAYS_FINE = 64 << 20
"""Bytes that every packed file may unpack to."""
_RATIO_NAME = "TALLYSTICK_UNPACK_RATIO"
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def check_file(name: str | Path) -> None:
    """A directory or an endless device is an error; whatever else is wrong, opening it will say."""
    try:
        mode = os.stat(name)
    except (OSError, ValueError):
        return
    if stat.S_ISDIR(mode.st_mode):
        raise InputError("is a directory, expected a file", str(name))
    endless = stat.S_ISCHR(mode.st_mode) and mode.st_rdev != os.stat(os.devnull).st_rdev and not _is_terminal(name)
    if endless or stat.S_ISBLK(mode.st_mode):
        raise InputError("is a device, expected a file", str(name))


def _is_terminal(name: str | Path) -> bool:
    try:
        with open(name, "rb") as stream:
            return stream.isatty()
    except OSError:
        return False


def reads_once(name: str | Path) -> bool:
    """Whether what stands there is gone once it is read: standard input, a pipe, what a shell writes as <(command)."""
    return str(name) == "-" or (os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name))


class Unpacked(io.RawIOBase):
    """A packed file as the bytes in it, no more of them than is sane."""

    def __init__(self, stream: IO[bytes], unpacked: IO[bytes], name: str | Path, ratio: float | None = None) -> None:
        self._stream, self._unpacked, self._name = stream, unpacked, str(name)
        ratio = _chosen_ratio() if ratio is None else ratio
        packed = os.path.getsize(name) if os.path.isfile(name) else 0
        self._most = max(ALWAYS_FINE, packed * ratio) if packed else float("inf")
        self._ratio, self._read = ratio, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._unpacked.read(len(buffer))
        buffer[: len(data)] = data
        self._read += len(data)
        if self._read > self._most:
            raise InputError(
                f"unpacks to more than {self._ratio:g} times its size, which text does not; if it is meant to, set "
                f"{_RATIO_NAME} to a larger number",
                self._name,
            )
        return len(data)

    def packed_position(self) -> int:
        """How many bytes of the packed file were read."""
        return self._stream.tell()

    def close(self) -> None:
        self._unpacked.close()
        self._stream.close()
        super().close()


def _chosen_ratio() -> float:
    said = os.environ.get(_RATIO_NAME, "")
    try:
        ratio = float(said) if said else float(RATIO)
    except ValueError:
        ratio = 0.0
    if not ratio > 0:
        raise InputError(f"expected a number above 0 in the environment's {_RATIO_NAME}, found {said!r}")
    return ratio


def check_text(data: bytes, file: str) -> None:
    """UTF-16, and bytes that no text has, are errors that say so."""
    if data[:2] in _MARKS:
        raise InputError(f"is {_MARKS[data[:2]]}; convert the file to UTF-8 first", file)
    if b"\0" in data:
        complain_of_nul(data, file)


def complain_of_nul(data: bytes, file: str, lines_before: int = 0) -> NoReturn:
    """The error for a NUL byte, with its place."""
    at = data.index(b"\0")
    start = data.rfind(b"\n", 0, at) + 1
    line = lines_before + data.count(b"\n", 0, at) + 1
    text = data[start:].split(b"\n", 1)[0][: at - start + 200].decode("utf-8", "replace").replace("\0", "\ufffd")
    column = len(data[start:at].decode("utf-8", "replace")) + 1
    message = "a NUL byte, so this is no text file; expected UTF-8 (convert a UTF-16 file first)"
    raise InputError(message, Place(file, line, column, text))


def not_utf8(data: bytes, file: str) -> InputError:
    """The error for a file in another encoding, with the line of the first byte that shows it."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; convert the file to UTF-8 first"
        return InputError(message, Place(file, line))
    raise AssertionError("this is UTF-8")  # pragma: no cover


def check_line_ends(data: bytes, file: str) -> None:
    """Lines that end with CR alone, as on the Macintosh of 1990, would all be one line."""
    if b"\r" in data and b"\n" not in data and b"\r" in data.rstrip():
        raise InputError("has lines that end with CR alone; convert the line ends to LF (or CRLF) first", file)

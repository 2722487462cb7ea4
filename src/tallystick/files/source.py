"""What a file may be: a file, text, and not endless.

Everything that is read goes through here, so that a directory, a device, a UTF-16 file or a bomb (a packed file that unpacks to
thousands of times its size) is said in one line, before memory is gone.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, NoReturn

from tallystick.errors import InputError, Place, TallystickError
from tallystick.files.parts import part_at_hand

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


# Packed files: `.gz`, and `.zst` where the package zstandard is installed.

ENDINGS = (".gz", ".zst")
_BITE = 1 << 12
"""zstd can make 128 kB of four bytes, so a bomb is unpacked in small bites, each of which is 128 MB at most."""


def is_packed(name: str | Path) -> bool:
    """Whether a file has to be unpacked, by its name."""
    return str(name).endswith(ENDINGS)


def unpacked_name(name: str | Path) -> str:
    """What the file would be called if it were not packed: `a.jsonl` for `a.jsonl.gz`."""
    text = str(name)
    for ending in ENDINGS:
        text = text.removesuffix(ending)
    return text


def open_packed(name: str | Path) -> IO[bytes]:
    """The bytes in a packed file, in a stream that stops a bomb and knows how far it is."""
    import gzip

    zst = _zstandard() if str(name).endswith(".zst") else None
    stream = open(name, "rb")  # noqa: SIM115 - closed with the stream around it
    unpacked: Any = gzip.GzipFile(fileobj=stream) if zst is None else _Frames(stream, zst.ZstdDecompressor)
    return io.BufferedReader(Unpacked(stream, unpacked, name), 1 << 16)  # type: ignore[arg-type,return-value,unused-ignore]


class _Frames(io.RawIOBase):
    """The frames of a .zst file one after the other; one that is cut off is an error, which zstandard's own reader
    does not notice."""

    def __init__(self, stream: IO[bytes], decompressor: Any) -> None:
        self._stream, self._make = stream, decompressor
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            packed = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            packed = packed or self._stream.read(_BITE)
            if not packed:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError("it ends in the middle of a frame")
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._make().decompressobj()
            self._ready = memoryview(self._frame.decompress(packed))
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count


def packed_errors() -> tuple[type[Exception], ...]:
    """What a broken packed file raises."""
    import gzip
    import zlib

    known: tuple[type[Exception], ...] = (gzip.BadGzipFile, EOFError, zlib.error)
    try:
        import zstandard
    except ImportError:
        return known
    return (*known, zstandard.ZstdError)


def packing(name: str | Path) -> str:
    """How a file is packed, for a message."""
    return "zstd" if str(name).endswith(".zst") else "gzip"


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise TallystickError(".zst files need the package zstandard: pip install 'tallystick[zst]'") from None
    return zstandard


# What can be read only once, for work that reads it several times.
#
# A comparison reads its reference for each system. A file is simply opened again; standard input and pipes are gone once they
# are read, so while they are `held` their bytes are kept by the first who reads them and given to everybody who comes later.

_HELD: ContextVar[dict[str, bytes] | None] = ContextVar("what was read once", default=None)


@contextmanager
def held() -> Iterator[None]:
    """What can be read only once is kept, and can be read again."""
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def is_held(name: str | Path) -> bool:
    """Whether this can be read only once, and is kept."""
    return _HELD.get() is not None and reads_once(name)


def read_held(name: str | Path, read: Callable[[], bytes]) -> bytes:
    """The bytes that `read` gives; kept, if that cannot be done twice."""
    kept = _HELD.get()
    if kept is None or not reads_once(name):
        return read()
    if str(name) not in kept:
        kept[str(name)] = read()
    return kept[str(name)]


# Opening what the user names: plain files, `.gz`, `.zst`, `-` for standard input, and parts of files.


def read_bytes(name: str | Path) -> bytes:
    """The whole content, unpacked. Everything that can go wrong is an `InputError` that names the file."""
    name = str(name)
    part = part_at_hand(name)
    if part is not None:
        data = part.read()
        check_text(data, name)
        return data
    return read_held(name, lambda: _read_whole(name))


def _read_whole(name: str) -> bytes:
    if name == "-":
        return read_stdin()
    path = Path(name)
    try:
        check_file(name)
        if is_packed(name):
            try:
                with open_packed(name) as stream:
                    data = stream.read()
            except packed_errors() as error:
                raise InputError(f"is not a complete {packing(name)} file ({error})", name) from None
        else:
            data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"is no name of a file ({error})", repr(name)) from None
    check_text(data, name)
    return data


def read_stdin() -> bytes:
    """All of standard input, as long as it is text."""
    pieces = []
    while piece := sys.stdin.buffer.read(1 << 20):
        check_text(piece, "<stdin>")
        pieces.append(piece)
    return b"".join(pieces)


def read_head(name: str | Path, most: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked; of standard input, which can be read only once, none."""
    name = str(name)
    if name == "-":
        return b""
    part = part_at_hand(name)
    if part is not None:
        return part.read()[:most]
    check_file(name)
    try:
        with open_packed(name) if is_packed(name) else open(name, "rb") as stream:
            return stream.read(most)
    except packed_errors() as error:
        raise InputError(f"is not a complete {packing(name)} file ({error})", name) from None
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None


def read_text(name: str | Path) -> str:
    """The whole content as UTF-8 text without a byte order mark; a bad byte is an error that names its line."""
    data = read_bytes(name)
    check_line_ends(data, shown_name(name))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf8(data, shown_name(name)) from None


def shown_name(name: str | Path) -> str:
    """How a file is called in messages."""
    return "<stdin>" if str(name) == "-" else str(name)

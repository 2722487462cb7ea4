"""A source: what the user names, and everything needed to read it, to find out its format, and to say where in it something stands.

A source is a file, packed (`.gz`, `.zst`) or not, `-` for standard input, or a part of a file:

    Source.of("gold.jsonl.gz")
    Source.part("gold.jsonl", ((0, 57, 1), (4096, 8192, 18)))     two ranges of bytes, which begin in lines 1 and 18

Readers take a name or a `Source`. Lines are counted from 1 as a reader meets them; `source.place(3)` is the place in the
*file*, also where the third line of a part is line 19 of it. What can be read only once (standard input, a pipe) is kept by its
source, so that whoever holds the source can read it again. A source can be pickled and sent to a worker.

Everything that is read goes through here, so that a directory, a device, a UTF-16 file or a bomb (a packed file that unpacks to
thousands of times its size) is an error of one line, before memory is gone.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar

from tallystick.errors import InputError, Place, TallystickError
from tallystick.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tallystick.files.boundaries import Boundaries, Uncut
    from tallystick.files.json_values import Json

T = TypeVar("T")

RATIO = 100
"""A packed file may unpack to this many times its size; text seldom reaches 20. TALLYSTICK_UNPACK_RATIO raises it."""
ALWAYS_FINE = 64 << 20
"""Bytes that every packed file may unpack to."""
_RATIO_NAME = "TALLYSTICK_UNPACK_RATIO"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}

AnySource = str | os.PathLike[str]
"""What a reader takes: the name of a file, or a `Source`."""


def check_file(name: AnySource) -> None:
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


def _is_terminal(name: AnySource) -> bool:
    try:
        with open(name, "rb") as stream:
            return stream.isatty()
    except OSError:
        return False


class Unpacked(io.RawIOBase):
    """A packed file as the bytes in it, no more of them than is sane."""

    def __init__(self, stream: IO[bytes], unpacked: IO[bytes], name: AnySource, ratio: float | None = None) -> None:
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
                f"unpacks to more than {self._ratio:g} times its size, which is unusual for text; if that is intended, set "
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


def check_text(data: bytes, file: AnySource) -> None:
    """UTF-16, and bytes that no text has, are errors that say so."""
    if data[:2] in _MARKS:
        raise InputError(f"is {_MARKS[data[:2]]}; convert the file to UTF-8 first", shown_name(file))
    if b"\0" in data:
        complain_of_nul(data, file)


def complain_of_nul(data: bytes, file: AnySource, lines_before: int = 0) -> NoReturn:
    """The error for a NUL byte, with its place."""
    at = data.index(b"\0")
    start = data.rfind(b"\n", 0, at) + 1
    line = lines_before + data.count(b"\n", 0, at) + 1
    text = data[start:].split(b"\n", 1)[0][: at - start + 200].decode("utf-8", "replace").replace("\0", "\ufffd")
    column = len(data[start:at].decode("utf-8", "replace")) + 1
    message = "a NUL byte, so this is not a text file; expected UTF-8 (convert a UTF-16 file first)"
    raise Source.of(file).error(message, line, column, text)


def not_utf8(data: bytes, file: AnySource) -> InputError:
    """The error for a file in another encoding, with the line of the first byte that shows it."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; convert the file to UTF-8 first"
        return Source.of(file).error(message, line)
    raise AssertionError("this is UTF-8")  # pragma: no cover


def check_line_ends(data: bytes, file: AnySource) -> None:
    """Lines that end with CR alone, as on the Macintosh of 1990, would all be one line."""
    if b"\r" in data and b"\n" not in data and b"\r" in data.rstrip():
        raise InputError(
            "has lines that end with CR alone; convert the line ends to LF (or CRLF) first", shown_name(file)
        )


# Packed files: `.gz`, and `.zst` where the package zstandard is installed.

ENDINGS = (".gz", ".zst")
_BITE = 1 << 12
"""zstd can make 128 kB of four bytes, so a bomb is unpacked in small bites, each of which is 128 MB at most."""


def is_packed(name: AnySource) -> bool:
    """Whether a file has to be unpacked, by its name."""
    return str(name).endswith(ENDINGS)


PARQUET, IPC = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")


def is_arrow_file(name: AnySource) -> bool:
    """Whether a file's name says that it is one of Arrow's."""
    return os.path.splitext(os.fspath(name).rstrip(os.sep))[1].lower() in (*PARQUET, *IPC)


def unpacked_name(name: AnySource) -> str:
    """What the file would be called if it were not packed: `a.jsonl` for `a.jsonl.gz`."""
    text = str(name)
    for ending in ENDINGS:
        text = text.removesuffix(ending)
    return text


def open_packed(name: AnySource) -> IO[bytes]:
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
    # Whoever has read such a file has imported the module. It is not imported here, which may be while a reader is thrown
    # away: in the middle of any other import, that of this module too.
    error = getattr(sys.modules.get("zstandard"), "ZstdError", None)
    return known if error is None else (*known, error)


def packing(name: AnySource) -> str:
    """How a file is packed, for a message."""
    return "zstd" if str(name).endswith(".zst") else "gzip"


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise TallystickError(".zst files need the package zstandard: pip install 'tallystick[zst]'") from None
    return zstandard


Range = tuple[int, int, int]
"""First byte, byte after the last, number of the first line."""


class _Ranges(io.RawIOBase):
    """Some ranges of a file's bytes, one after the other."""

    def __init__(self, name: str, ranges: tuple[Range, ...]) -> None:
        self._stream = open(name, "rb", buffering=0)  # noqa: SIM115 - closed with this one
        self._left = [(start, stop) for start, stop, _ in reversed(ranges) if stop > start]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._take(lambda size: self._stream.readinto(memoryview(buffer)[:size]) or 0, int) if self._left else 0

    def _take(self, read: Callable[[int], T], count: Callable[[T], int]) -> T:
        """What is read of the next range, which may be less than is asked for."""
        start, stop = self._left.pop()
        self._stream.seek(start)
        found = read(stop - start)
        if not count(found):
            raise InputError("is shorter than it was a moment ago", str(self._stream.name))
        if start + count(found) < stop:
            self._left.append((start + count(found), stop))
        return found

    def readall(self) -> bytes:
        pieces = []
        while self._left:
            pieces.append(self._take(lambda size: self._stream.read(size) or b"", len))
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        self._stream.close()
        super().close()


def require_file(name: str | os.PathLike[str]) -> None:
    """That a file is there, before any work is done. `FILE#NAME` picks a list of a file with several."""
    text = os.fspath(name)
    if text != "-" and "\0" not in text and not any(map(os.path.lexists, (text, text.partition("#")[0]))):
        raise InputError("no such file", text)


@dataclass(eq=False)
class Source:
    """A file, standard input (`-`), or some ranges of a file's bytes, in one piece for the reader.

    `by_name` says that the documents of a part were chosen by their names, so that what the other side lacks is nowhere.
    """

    name: str
    ranges: tuple[Range, ...] | None = None
    by_name: bool = False
    held: bytes | None = field(default=None, repr=False)
    """The content, where it cannot be read again: of a packed file's part, of standard input."""
    for_itself: bool = False
    """Whether it stands for a prediction where only the reference counts: training data, which is the other side too."""
    notes: tuple[str, ...] = ()
    """What is to be said about data from Python."""
    listed: bool = False
    """Whether each range is a document of JSON, of a list or over several lines, that is one line here."""

    @classmethod
    def of(cls, name: AnySource) -> Source:
        """What a name stands for; a source stands for itself."""
        return name if isinstance(name, Source) else cls(os.fspath(name))

    @classmethod
    def part(
        cls, name: AnySource, ranges: tuple[Range, ...], *, held: bytes | None = None, by_name: bool = False
    ) -> Source:
        """Some ranges of a file; `held` are their bytes where the file cannot be read at any place."""
        return cls(cls.of(name).name, ranges, by_name, held)

    @classmethod
    def of_text(cls, text: str | bytes, name: str = "<text>") -> Source:
        """Text that is in memory already; `name` is what errors call it."""
        return cls(name, held=text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)

    def __str__(self) -> str:
        """What messages call it."""
        return "<stdin>" if self.name == "-" else self.name

    def __fspath__(self) -> str:
        return self.name

    @property
    def is_part(self) -> bool:
        return self.ranges is not None and not self.listed

    @property
    def reads_once(self) -> bool:
        """Whether what stands there is gone once it is read: standard input, a pipe, what a shell writes as <(command)."""
        return self.held is None and not self.is_part and _is_stream(self.name)

    @property
    def size(self) -> int:
        """How many bytes a part has."""
        return sum(stop - start for start, stop, _ in self.ranges or ())

    # Where something stands

    def line(self, number: int) -> int:
        """The line of the file that is this line of the source."""
        if self.ranges is None:
            return number
        before, first = next(
            (found for found in reversed(self._first_lines) if found[0] < number), (0, self.ranges[0][2])
        )
        return number - before + first - 1

    def lines_of_file(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The lines of the file for many lines of the source."""
        import numpy as np

        if self.ranges is None:
            return numbers
        before, first = (np.array(found, np.int64) for found in zip(*self._first_lines, strict=True))
        here = np.searchsorted(before, numbers, side="left") - 1
        return np.asarray(np.where(numbers > 0, numbers - before[here] + first[here] - 1, numbers))

    @cached_property
    def _first_lines(self) -> list[tuple[int, int]]:
        """For each range how many lines of the source stand before it, and its first line in the file."""
        if len(self.ranges or ()) == 1:
            return [(0, first) for _, _, first in self.ranges or ()]
        data, at, before, out = self._content(), 0, 0, []
        for start, stop, first in self.ranges or ():
            out.append((before, first))
            before += data.count(b"\n", at, at + stop - start)
            at += stop - start
        return out

    def place(self, line: int | None = None, column: int | None = None, text: str | None = None) -> Place:
        """A place, by the line as the reader counts."""
        return Place(str(self), None if line is None else self.line(line), None if self.listed else column, text)

    def error(
        self, message: str, line: int | None = None, column: int | None = None, text: str | None = None
    ) -> InputError:
        """What to raise about a place."""
        return InputError(message, self.place(line, column, text))

    # Reading

    def read(self) -> bytes:
        """The whole content, unpacked. Everything that can go wrong is an `InputError` that names the file."""
        data = self._content()
        check_text(data, self)
        return data

    def _content(self) -> bytes:
        if self.held is not None:
            return self.held
        once = self.reads_once
        if self.name == "-":
            data = _read_stdin()
        else:
            with self.open() as stream, self.reading():
                data = stream.read()
        if once:
            self.held = data
        return data

    def open(self) -> IO[bytes]:
        """A stream of the content, unpacked; what goes wrong while it is read is told inside of `reading`."""
        if self.held is not None or self.name == "-":
            return io.BytesIO(self._content())
        try:
            if self.ranges is not None:
                return io.BufferedReader(_Ranges(self.name, self.ranges), 1 << 16)  # type: ignore[return-value,unused-ignore]
            check_file(self.name)
            return open_packed(self.name) if is_packed(self.name) else open(self.name, "rb")
        except FileNotFoundError:
            everywhere = "; every worker must be able to read it" if self.is_part else ""
            raise InputError(f"no such file{everywhere}", str(self)) from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", str(self)) from None
        except ValueError as error:  # a NUL in the name
            raise InputError(f"is not a file name ({error})", repr(self.name)) from None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What can go wrong while a stream is read, as errors that name the file."""
        try:
            yield
        except packed_errors() as error:
            raise InputError(f"is not a complete {packing(self.name)} file ({error})", str(self)) from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", str(self)) from None

    def head(self, most: int = 1 << 16) -> bytes:
        """The first bytes; of what can be read only once, and was not read yet, none."""
        if self.reads_once:
            return b""
        with self.open() as stream, self.reading():
            return stream.read(most)

    def text(self) -> str:
        """The whole content as UTF-8 text without a byte order mark; a bad byte is an error that names its line."""
        data = self.read()
        check_line_ends(data, self)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise not_utf8(data, self) from None


def _is_stream(name: str) -> bool:
    return name == "-" or (os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name))


def _read_stdin() -> bytes:
    """All of standard input, as long as it is text."""
    pieces: list[bytes] = []
    lines = 0
    while piece := sys.stdin.buffer.read(1 << 20):
        if not pieces:
            check_text(piece[:2], "<stdin>")
        if b"\0" in piece:
            complain_of_nul(piece, "<stdin>", lines)
        lines += piece.count(b"\n")
        pieces.append(piece)
    return b"".join(pieces)


def read_text(name: AnySource) -> str:
    """The whole content as UTF-8 text without a byte order mark."""
    return Source.of(name).text()


def shown_name(name: AnySource) -> str:
    """How a file is called in messages."""
    return str(Source.of(name))


# A file as a stream of pieces of whole lines, so that a large one never has to be in memory at once.
#
# A reader takes the pieces one after the other and keeps only what it needs. When something is wrong, the
# message shows the line: the source is opened a second time for that.

PIECE = 1 << 20
"""Bytes a piece; one megabyte stays in the processor's cache while it is looked at several times."""


CHECKED = 1 << 16
"""So many bytes are checked at a time: of more, the memory that it takes is given back to the system, and taken again, each time."""


LARGE = 1 << 18
"""From so many bytes on the compiled part, which has to be loaded first, pays: a fifth of the time."""


def is_utf8(piece: bytes) -> bool:
    """Whether this is UTF-8, at a tenth of the price of decoding it."""
    if len(piece) >= LARGE:
        from tallystick.engine.native import compiled

        if (native := compiled()) is not None and (found := native.is_utf8(piece)) is not None:
            return found
    return is_utf8_by_lines(piece)


def is_utf8_by_lines(piece: bytes) -> bool:
    """The same with NumPy."""
    begin = 0
    while begin < len(piece):  # no character goes on behind a line's end
        end = piece.find(b"\n", begin + CHECKED) + 1 or len(piece)
        if not _is_utf8(piece[begin:end]):
            return False
        begin = end
    return True


def _is_utf8(piece: bytes) -> bool:
    if piece.isascii():
        return True
    import numpy as np

    data = np.frombuffer(piece, np.uint8)
    # What has to be valid are the runs of bytes beyond ASCII. Each is taken with the byte that follows
    # it, which keeps two broken runs from making up a valid one.
    chosen = data > 127
    chosen[1:] |= chosen[:-1].copy()
    try:
        data[chosen].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def read_utf8(source: Source) -> bytes:
    """The whole content, which is UTF-8 text, without a byte order mark."""
    data = source.read()
    check_line_ends(data, source)
    if not is_utf8(data):
        raise not_utf8(data, source)
    return data.removeprefix(BYTE_ORDER_MARK)


class Pieces:
    """The content of a file (or `.gz`, or `-`), in pieces that end with a newline and hold nothing but
    UTF-8 text.

    The last line gets a newline if it has none, and a byte order mark is taken off. Iterate once. Only what may be `empty` has no piece.
    """

    def __init__(self, name: AnySource, size: int = PIECE, empty: bool = False) -> None:
        self.source = Source.of(name)
        self.shown = str(self.source)
        self._size = size
        checked = self._checked()
        first = next(checked, None)
        if first is None and not empty:
            raise InputError("is empty", self.shown)
        self.first = first or b""
        """The first piece, to find out what kind of file this is."""
        self._rest = checked

    def __iter__(self) -> Iterator[bytes]:
        return chain((self.first,) if self.first else (), self._rest)

    def line(self, number: int) -> str | None:
        """The text of a line, counted from 1, for a message."""
        for piece in self._read():
            count = piece.count(b"\n")
            if number <= count:
                return piece.split(b"\n", number)[number - 1].decode("utf-8", "replace").rstrip("\r")
            number -= count
        return None

    def error(self, message: str, line: int | None = None, column: int | None = None) -> InputError:
        """What to raise about a line of this source; shows its text."""
        return self.source.error(message, line, column, None if line is None else self.line(line))

    def _checked(self) -> Iterator[bytes]:
        for number, piece in enumerate(self._read()):
            if number == 0:
                check_text(piece[:2], self.shown)
                if not piece.lstrip().startswith(b"{"):
                    check_line_ends(piece[:-1], self.shown)
            if b"\0" in piece or not is_utf8(piece):
                self._complain(piece, number)
            yield piece

    def _complain(self, piece: bytes, number: int) -> NoReturn:
        # Lines are only counted now that somebody wants to know.
        before = islice(self._read(), number)
        lines = sum(earlier.count(b"\n") for earlier in before)
        if b"\0" in piece:
            complain_of_nul(piece, self.source, lines)
        at = 0
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start
        message = f"byte 0x{piece[at]:02x} is not UTF-8; convert the file to UTF-8 first"
        start = piece.rfind(b"\n", 0, at) + 1
        text = piece[start : piece.find(b"\n", at)].decode("utf-8", "replace")
        column = len(piece[start:at].decode("utf-8", "replace")) + 1
        raise self.source.error(message, lines + piece.count(b"\n", 0, at) + 1, column, text)

    def _read(self) -> Iterator[bytes]:
        start = True
        for piece in self._raw():
            if start:
                piece = piece.removeprefix(BYTE_ORDER_MARK)
            start = False
            if piece:
                yield piece if piece.endswith(b"\n") else piece + b"\n"

    def _raw(self) -> Iterator[bytes]:
        if self.source.reads_once:
            self.source.read()  # which keeps it
        with self.source.open() as stream, self.source.reading():
            while piece := stream.read(self._size):
                yield piece + stream.readline()


# The formats of files.
#
# A task declares its formats as `FORMATS` in its `files.py`, each a `Format` with its reader, so that a new one is declared in
# one place:
#
#     Format("tsv", lambda opening: opening.head.startswith(b"#doc"), read_tsv, Boundaries("TSV", find_marked(MARK, b"#doc"), name_of))
#
# The first format that recognises a file reads it, by its first bytes (`opening.head`) or its name (`opening.name`). What is not JSON comes
# before what is, because `opening.documents` reads the file as JSON. The reader takes the `Opening` (`opening.text`, `opening.documents`)
# and the task's keywords, which `**_` leaves alone. It answers with `Documents` (`files/pairing.py`). `opening.source.place(line)` and
# `opening.source.error(message, line)` name the line of the whole file, in a shard too. A format that is not JSON has
# `boundaries`, so that --jobs can cut its files, or `Uncut(why)`, and is read as a whole. `name_of` finds a document's name in its bytes;
# without it shards are paired by order. --input takes a format by its name, and the settings of the task list these, because help loads no
# reader. Calls, n-ary relations and roles have no `FORMATS`; their readers choose, and so do those of templates and of the JSON of events.

_FIRST = 1 << 22
"""A first line that is longer is looked for in the whole file."""


class Opening:
    """A file that is about to be read: what its name, its first bytes and its documents say about its format."""

    def __init__(self, name: AnySource) -> None:
        self.source = Source.of(name)

    @property
    def name(self) -> str:
        """The name of the file as if it were not packed."""
        return unpacked_name(self.source)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, without a byte order mark; none of what can be read only once."""
        return self.source.head().removeprefix(BYTE_ORDER_MARK)

    @cached_property
    def first(self) -> Any:
        """The first document of a file of JSON or of a table, decoded; None if it begins like neither, or can be read only once."""
        from tallystick.files.json_values import decode_line
        from tallystick.files.lines import ArrowLines

        try:
            if is_arrow_file(self.source):
                return next((decode_line(of.lines[0], "") for of in ArrowLines(self.source).portions(1)), None)
            if self.head.lstrip()[:1] not in (b"{", b"["):
                return None
            if isinstance(self._first_line, dict):
                return self._first_line
            return self.documents[0].value if self.documents else None
        except InputError:
            return None  # the reader says what is wrong with the file

    @cached_property
    def _first_line(self) -> Any:
        """The first line that is not blank, if it is JSON."""
        from tallystick.files.json_values import try_decode

        line = self.source.head(_FIRST).removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0]
        return (try_decode(line) or (None,))[0]

    @property
    def is_other_json(self) -> bool:
        """Whether it is JSON, but not one object a line."""
        return isinstance(self.first, (dict, list)) and not isinstance(self._first_line, dict)

    @cached_property
    def text(self) -> str:
        """The whole text, which is read."""
        return self.source.text()

    @cached_property
    def documents(self) -> list[Json]:
        """The values of a file of JSON, all of which are read."""
        from tallystick.files.json_values import read_json

        return read_json(self.source)

    def has(self, *keys: str) -> bool:
        """Whether the first document of a file of JSON is an object with these keys."""
        if self.first is None:
            return bool(self.documents) and self.documents[0].has(*keys)
        return isinstance(self.first, dict) and all(key in self.first for key in keys)


@frozen
class Format:
    """A format of a task's files, declared once: how it is recognised, what reads it, and where its documents begin.

    `boundaries` may depend on the first bytes; without any it is JSON, which is cut line by line. A format of somebody else's has a
    `title`, by which the results say how a file was read, and what it is known by; where several recognise a file, those that another
    one is `over` do not count, and more than one of the others is an error.
    """

    name: str
    recognises: Callable[[Opening], bool] = lambda opening: True
    read: Callable[..., Any] | None = None
    boundaries: Boundaries | Uncut | Callable[[bytes], Boundaries | Uncut] | None = None
    title: str = ""
    known_by: str = ""
    over: tuple[str, ...] = ()
    json: bool = False
    """Whether it recognises JSON by itself, of which some can be cut, so that it has boundaries."""
    partial: bool = False
    """Whether a document in which nothing was found does not appear in such a file."""
    rival: Callable[[Opening], bool] | None = None
    """Of a format of ours: whether a file has all that it needs, so that somebody else's format may not be meant."""


def find_format(formats: Sequence[Format], opening: Opening, asked: str | None = None) -> Format | None:
    """The format of that name, or the first that recognises the file. A file that two formats of other people recognise is an error
    that names both."""
    named = next((one for one in formats if one.name == asked), None)
    if named is not None:
        return named
    first = next((one for one in formats if one.recognises(opening)), None)
    if first is not None and first.title:
        refuse_doubt(formats, opening)
    if first is not None and first.boundaries is not None and not first.json and opening.is_other_json:
        raise InputError(
            "is JSON, but a list, or an object over several lines; expected one object a line", str(opening.source)
        )
    return first


def refuse_doubt(formats: Sequence[Format], opening: Opening) -> None:
    """An error if a file can be read in two ways."""
    found = [one for one in formats if (one.recognises if one.title else one.rival or _never)(opening)]
    covered = {name for one in found for name in one.over}
    rivals = [one for one in found if one.name not in covered]
    if len(rivals) > 1:
        ways = " or as ".join(f"{one.title or one.name} ({one.known_by})" for one in rivals)
        named = " or ".join(f"--input {one.name}" for one in rivals)
        raise InputError(f"can be read as {ways}; say which: {named}", str(opening.source))


def _never(opening: Opening) -> bool:
    return False


def how_read(formats: Sequence[Format], files: Sequence[Any], asked: str | None = None) -> dict[str, str]:
    """By file the title of its format, where that is somebody else's."""
    out = {}
    for file in files if any(one.title for one in formats) else ():
        if not isinstance(file, (str, os.PathLike, Source)) or Source.of(file).reads_once:
            continue
        try:
            found = find_format(formats, Opening(file), asked)
        except InputError:
            continue
        if found is not None and found.title:
            out[str(Source.of(file))] = found.title
    return out


def begins_list(head: bytes) -> bool:
    """Whether a file begins like a list of JSON objects, which may be empty."""
    return re.match(rb'\s*\[\s*\{\s*["}]', head) is not None or is_empty_list(head)


def is_empty_list(head: bytes) -> bool:
    """Whether a file is an empty list of JSON: one without documents."""
    return re.fullmatch(rb"\s*\[\s*\]\s*", head) is not None

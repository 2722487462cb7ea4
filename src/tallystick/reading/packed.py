"""Packed files: `.gz`, and `.zst` where the package zstandard is installed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

from tallystick.errors import TallystickError
from tallystick.reading.limits import Unpacked

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

"""Ids that come twice, noticed in bounded memory.

Of each id only a number of 64 bits is kept. A full buffer is sorted and written to a temporary file; at the end the
sorted runs are looked through side by side, a range of numbers at a time. Equal ids have equal numbers, so none is
missed; two different ids with one number are told apart by whoever reads the file again to name the lines.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]

BUFFER = 1 << 17
"""So many numbers are held before they are written down: 1 MB."""
RANGES = 64
"""So many ranges of numbers are looked at one after the other."""


def stable_numbers(keys: Iterable[Any]) -> U64:
    """A number for each id that is the same in every process. 1 and "1" are different ids."""
    digests = (blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=8).digest() for key in keys)
    return np.frombuffer(b"".join(digests), np.uint64)


class Repeats:
    """Numbers of ids as they come; `found` says which came more than once."""

    def __init__(self, buffer: int = BUFFER) -> None:
        self.count = 0
        self._buffer, self._held = np.empty(buffer, np.uint64), 0
        self._file: IO[bytes] | None = None
        self._runs: list[tuple[int, list[int]]] = []  # where a run begins, and where each range of numbers does in it

    def add(self, keys: Sequence[Any]) -> None:
        """Ids of this process."""
        self.add_numbers(np.fromiter(map(hash, keys), np.int64, len(keys)).view(np.uint64))

    def add_numbers(self, numbers: U64) -> None:
        self.count += len(numbers)
        while len(numbers):
            room = min(len(numbers), len(self._buffer) - self._held)
            self._buffer[self._held : self._held + room] = numbers[:room]
            self._held += room
            numbers = numbers[room:]
            if self._held == len(self._buffer):
                self._write()

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="tallystick-ids-")  # noqa: SIM115 - it lives as long as this
        run = np.sort(self._buffer[: self._held])
        edges = np.array([k * 2**64 // RANGES for k in range(1, RANGES)], np.uint64)
        self._runs.append((self._file.tell(), [0, *np.searchsorted(run, edges).tolist(), len(run)]))
        self._file.write(run.tobytes())
        self._held = 0

    def found(self) -> U64:
        """The numbers that came more than once."""
        if self._file is None:
            return _twice(np.sort(self._buffer[: self._held]))
        self._write()
        twice = [_twice(np.sort(self._range(k))) for k in range(RANGES)]
        self._file.seek(0, 2)  # more may come
        return np.unique(np.concatenate(twice))

    def _range(self, k: int) -> U64:
        """The numbers of one range, from all runs."""
        assert self._file is not None
        pieces = []
        for start, places in self._runs:
            self._file.seek(start + 8 * places[k])
            pieces.append(self._file.read(8 * (places[k + 1] - places[k])))
        return np.frombuffer(b"".join(pieces), np.uint64)

    def close(self) -> None:
        """Let the temporary file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    __del__ = close


def _twice(ordered: U64) -> U64:
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])

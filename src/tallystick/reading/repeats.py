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

BUFFER = 1 << 20
"""So many numbers are held before they are written down: 8 MB."""


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
        self._runs: list[tuple[int, int]] = []

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
        start = self._file.tell() // 8
        self._file.write(run.tobytes())
        self._runs.append((start, len(run)))
        self._held = 0

    def found(self) -> U64:
        """The numbers that came more than once."""
        if self._file is None:
            return _twice(np.sort(self._buffer[: self._held]))
        self._write()
        self._file.flush()
        whole = np.memmap(self._file, np.uint64, "r")
        runs = [whole[start : start + length] for start, length in self._runs]
        parts = 2 * len(runs)
        edges = np.array([k * 2**64 // parts for k in range(1, parts)], np.uint64)
        places = [np.concatenate(([0], np.searchsorted(run, edges), [len(run)])) for run in runs]
        ranges = (
            np.sort(np.concatenate([run[at[k] : at[k + 1]] for run, at in zip(runs, places, strict=True)]))
            for k in range(parts)
        )
        found = [_twice(numbers) for numbers in ranges]
        self._file.seek(0, 2)  # more may come
        return np.unique(np.concatenate(found))

    def close(self) -> None:
        """Let the temporary file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    __del__ = close


def _twice(ordered: U64) -> U64:
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])

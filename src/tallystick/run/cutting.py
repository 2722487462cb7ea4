"""Two files cut into shards: the same documents of both sides, some megabytes at a time.

    reference  |  d1  d2  d3  |  d4  d5  |  d6 ...         a shard ends after so many bytes of the reference,
    predicted  |  d1  d2  d3  |  d4  d5  |  d6 ...         and the prediction after as many documents

Documents are only counted, so that cutting is much faster than scoring. That the documents of a shard belong together is
what the readers check. Where the two files have different orders, `cut_by_name` finds each shard's predictions by an index of
their places.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np

from tallystick.engine.arrays import I64
from tallystick.engine.native import compiled
from tallystick.errors import InputError, Place, SidesMismatch
from tallystick.files.boundaries import LINES, Boundaries, Find, Uncut, name_under
from tallystick.files.source import (
    Range,
    Source,
    is_packed,
    open_packed,
    packed_errors,
    packing,
)
from tallystick.frozen import frozen

PIECE = 1 << 18
"""Bytes that are read at once."""
SHARD = 4 << 20
"""Bytes of the reference in a shard, unless said otherwise."""


@frozen
class Shard:
    """Some documents of both sides. `position` is how far the reference was read with it; `name` is what the first document
    calls itself, if it does."""

    number: int
    reference: Source
    predicted: Source | None
    documents: int
    position: int
    name: Any = None
    cut: str = "in one order"

    @cached_property
    def content(self) -> tuple[str, str]:
        """Hashes of the bytes of both sides, as they are when first asked for."""
        ours, theirs = (
            blake2b(part.read() if part is not None else b"", digest_size=20).hexdigest()
            for part in (self.reference, self.predicted)
        )
        return ours, theirs


@frozen
class _Cut:
    """Some documents of one file."""

    start: int
    stop: int
    line: int
    documents: int
    first: int
    data: bytes
    position: int

    def name(self, boundaries: Boundaries) -> Any:
        """What the first document calls itself."""
        return boundaries.name(self.data[: self.first]) if boundaries.name is not None and self.documents else None


_id_in = name_under("id", "doc_id", "doc_key", "docid", "orig_id", "sent_id", "wnd_id", "_input_hash")
"""The id of a JSON object, wherever a task looks for it; other names are not for pairing alone."""


class Scanner:
    """One file, cut from the front.

    What was read and not yet cut off is kept as it was read, as long as it may be needed, in pieces small enough to stay in the processor's cache while lines
    are counted and documents found in them. Places are those of the file.
    """

    def __init__(self, name: str, boundaries: Boundaries) -> None:
        self.name, self.boundaries = name, boundaries
        self._stream = _open(name)
        self._pieces: deque[tuple[bytes, int, int]] = deque()  # each with its size and its lines
        self._starts: I64 = np.zeros(0, np.int64)
        self._unsettled = b""  # the end of what was read, in which documents are still to be found
        self._base, self._read_to, self._line, self._end = 0, 0, 1, False
        self._before = 0  # how much of the first piece was cut off, and how many lines end there
        self._lines_before = 0
        self.has_ids: bool | None = None
        """Whether the first document has an id, once that is known."""
        self.holds = name == "-" or is_packed(name)

    def take(self, *, size: int | None = None, documents: int | None = None) -> _Cut | None:
        """The next documents: at least `size` bytes of them, or so many; None at the end of the file."""
        at = self._find(size, documents)
        while at is None and not self._end:
            self._read()
            at = self._find(size, documents)
        if at is None:
            at = self._read_to
        start, line = self._base, self._line
        if at == start and self._end and self._read_to == start:
            return None
        count = int(np.searchsorted(self._starts, at))
        first = int(self._starts[1]) if count > 1 else at
        data = self._cut_off(at, at if self.holds or count < 2 else first)
        self._starts = self._starts[count:]
        return _Cut(start, at, line, count, first - start, data, self._position())

    def again(self, cut: _Cut) -> _Cut:
        """A cut that was made before, with its first document."""
        self._stream.seek(cut.start)
        return replace(cut, data=self._stream.read(cut.first))

    def _find(self, size: int | None, documents: int | None) -> int | None:
        """Where to cut; what stands before the first document belongs to it."""
        starts = self._starts
        place = documents if documents is not None else 1 + int(np.searchsorted(starts[1:], self._base + (size or 0)))
        return int(starts[place]) if len(starts) > place else None

    def _cut_off(self, stop: int, keep: int) -> bytes:
        """Leave behind what stands before a place, of which the bytes up to another one are returned."""
        kept = []
        while self._base < stop:
            piece, size, lines = self._pieces[0]
            end = min(size, self._before + stop - self._base)
            if self._base < keep:
                kept.append(piece[self._before : min(end, self._before + keep - self._base)])
            if end == size:
                self._pieces.popleft()
                lines -= self._lines_before
                self._base += end - self._before
                self._before = self._lines_before = 0
            else:
                lines = count_lines(piece[self._before : end])
                self._base += end - self._before
                self._before, self._lines_before = end, self._lines_before + lines
            self._line += lines
        return kept[0] if len(kept) == 1 else b"".join(kept)

    def _read(self) -> None:
        """The next piece: larger ones where a document is longer than one, so that it is not looked at over and over."""
        try:
            more = self._stream.read(max(PIECE, len(self._unsettled)))
        except packed_errors() as error:
            raise InputError(f"is not a complete {packing(self.name)} file ({error})", self.name) from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", self.name) from None
        self._end = not more
        self._let_go()
        window, start = self._unsettled + more, self._read_to - len(self._unsettled)
        if more:
            self._pieces.append((more, len(more), count_lines(more)))
            self._read_to += len(more)
        found, settled = self.boundaries.find(window, self._end)
        if len(found):
            self._starts = np.concatenate((self._starts, found + start))
        self._unsettled = window[settled:]

    def _let_go(self) -> None:
        """Leave the bytes of a piece behind, where the file can be read again, the first document ends before it and every cut will fall
        behind it: memory that is used over and over stays in the processor's cache."""
        if self.holds or len(self._pieces) < 2 or len(self._starts) < 2:
            return
        (_, size, lines), (_, last, _) = self._pieces[-2], self._pieces[-1]
        if len(self._unsettled) <= last and self._starts[1] <= self._read_to - last - size:
            self._pieces[-2] = b"", size, lines

    def _position(self) -> int:
        """How many bytes of the file, as it is on disk, were read for what was cut off."""
        raw = getattr(self._stream, "raw", None)
        if self.holds and hasattr(raw, "packed_position"):
            return int(raw.packed_position())  # type: ignore[union-attr]
        return self._read_to if self.holds else self._base

    def close(self) -> None:
        if self._stream is not sys.stdin.buffer:
            self._stream.close()


def count_lines(data: bytes) -> int:
    """How many lines end in some bytes."""
    if len(data) < 1 << 12:
        return data.count(b"\n")
    native = compiled()
    found = native.count_lines(data) if native is not None else None
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10)) if found is None else found


def _open(name: str) -> IO[bytes]:
    if name == "-":
        return sys.stdin.buffer
    try:
        return open_packed(name) if is_packed(name) else open(name, "rb")
    except OSError:
        Source.of(name).read()  # says what is wrong
        raise


def size_of(name: str) -> int:
    """How many bytes a file has, as it is on disk; 0 for standard input."""
    return 0 if name == "-" else Path(name).stat().st_size


def shard_size(name: str, boundaries: Boundaries | Uncut, *, stored: bool = False) -> int:
    """How many bytes of a reference make a shard, unless said otherwise: of a small file fewer, so that no worker is left without
    work. What is stored is cut alike as the file grows."""
    most = boundaries.shard if isinstance(boundaries, Boundaries) else SHARD
    total = 0 if stored or name == "-" or is_packed(name) else size_of(name)
    return min(most, max(SHARD // 8, total // 16)) if total else most


Cuts = dict[tuple[str, int, Find], list[_Cut]]
"""How files were cut, by their names, the size of a shard and what finds documents: they need not be looked through again."""


def _cuts(scanner: Scanner, size: int, known: Cuts) -> Iterator[_Cut]:
    """A file in cuts of at least so many bytes: those that are known, or new ones, which are known then if the file can be read again."""
    key = scanner.name, size, scanner.boundaries.find
    if key in known:
        yield from map(scanner.again, known[key])
        return
    found = []
    while (cut := scanner.take(size=size)) is not None:
        found.append(replace(cut, data=b""))
        yield cut
    if not scanner.holds:
        known[key] = found


def cut_in_order(
    reference: str, predicted: str | None, boundaries: Boundaries, other: Boundaries | None = None, *, size: int = SHARD,
    known: Cuts | None = None,
) -> Iterator[Shard]:  # fmt: skip
    """Shards of two files whose documents have one order; that there are as many on both sides is checked at the end. `known` is how
    the reference was cut before, or where to note it."""
    other = other or boundaries
    left = Scanner(reference, boundaries)
    right = Scanner(predicted, other) if predicted is not None else None
    headers = [Header(), Header()]
    number, agree = 0, True
    try:
        for ours in _cuts(left, size, {} if known is None else known):
            theirs = right.take(documents=ours.documents) if right is not None else None
            if not number:
                headers = [find_header(left, ours), find_header(right, theirs)]
            if right is not None and (theirs.documents if theirs else 0) != ours.documents:
                raise SidesMismatch(f"{predicted} has fewer documents than {reference}")
            name, other_name = ours.name(boundaries), theirs.name(other) if theirs else None
            if agree and None not in (name, other_name) and name != other_name and number:
                raise SidesMismatch(f"{predicted} has {other_name!r:.60} where {reference} has {name!r:.60}")
            agree = agree and name == other_name  # else the two sides may be called by different fields
            _require_alike(left, ours)
            _require_alike(right, theirs)
            yield Shard(
                number,
                _part(left, ours, headers[0]),
                _part(right, theirs, headers[1]) if right is not None and theirs is not None else None,
                ours.documents,
                ours.position,
                name,
            )
            number += 1
        if right is not None:
            _require_end(right, reference)
    finally:
        left.close()
        if right is not None:
            right.close()


def _require_alike(scanner: Scanner | None, cut: _Cut | None) -> None:
    """That all documents of a file of JSON Lines have ids, or none has. Within a shard the reader sees to it."""
    if scanner is None or cut is None or not cut.documents:
        return
    if scanner.boundaries.mixed or scanner.boundaries.format != LINES.format:
        return
    found = _id_in(cut.data[: cut.first]) is not None
    if scanner.has_ids is None:
        scanner.has_ids = found
    if found != scanner.has_ids:
        what = "has an id, and the first document has none" if found else "has no id, and the first document has one"
        raise InputError(f"{what}; give all documents ids, or none", Place(scanner.name, cut.line))


def _require_end(scanner: Scanner, reference: str) -> None:
    """That a prediction has no further documents."""
    rest = scanner.take(size=1)
    if rest is not None and rest.data.strip():
        raise SidesMismatch(f"{scanner.name} has more documents than {reference}")


@frozen
class Header:
    """The lines of a file that every part of it has to begin with, and the bytes that they are in."""

    ranges: tuple[Range, ...] = ()
    head: bytes = b""


def find_header(scanner: Scanner | None, first: _Cut | None) -> Header:
    """The header of a file: of one that is read only once, from its first part."""
    if scanner is None or first is None or scanner.boundaries.header is None:
        return Header()
    return read_header(scanner.name, scanner.boundaries, first.data if scanner.holds else None)


def read_header(name: str, boundaries: Boundaries, head: bytes | None = None) -> Header:
    """The header of a file, or of its first bytes where these are at hand."""
    if boundaries.header is None:
        return Header()
    head = Source.of(name).head() if head is None else head
    found = boundaries.header(head)
    return Header(tuple((start, stop, 1 + head.count(b"\n", 0, start)) for start, stop in found), head)


def _part(scanner: Scanner, cut: _Cut, header: Header) -> Source:
    own = (cut.start, cut.stop, cut.line)
    before = tuple(one for one in header.ranges if one[0] < cut.start)
    if not scanner.holds:
        return Source.part(scanner.name, (*before, own))
    data = b"".join(header.head[a:b] for a, b, _ in before) + cut.data
    return Source.part(scanner.name, (*before, own), held=data)


# Different orders


def cut_by_name(
    reference: str,
    predicted: str,
    boundaries: Boundaries,
    other: Boundaries,
    *,
    size: int = SHARD,
    absent: bool = False,
) -> Iterator[Shard] | None:
    """Shards of two files with the same documents in different orders; None where documents have no names, where the names do
    not meet (unless one side may lack some: `absent`), or where a file cannot be read twice. In memory is an index: a name
    and a place for each document."""
    if boundaries.name is None or other.name is None:
        return None
    if any(name == "-" or is_packed(name) for name in (reference, predicted)):
        return None
    left, right = (index_documents(name, how) for name, how in ((reference, boundaries), (predicted, other)))
    if left is None or right is None or (left.keys() != right.keys() and not absent):
        return None
    return _by_name(reference, predicted, left, right, boundaries, other, size)


def index_documents(name: str, boundaries: Boundaries) -> dict[Any, list[Range]] | None:
    """The places of every document by its name; None if one has no name."""
    assert boundaries.name is not None
    scanner = Scanner(name, boundaries)
    places: dict[Any, list[Range]] = {}
    try:
        while (cut := scanner.take(documents=1)) is not None:
            if not cut.data.strip():
                continue
            key = boundaries.name(cut.data)
            if key is None:
                return None
            places.setdefault(key, []).append((cut.start, cut.stop, cut.line))
    finally:
        scanner.close()
    return places


def _by_name(
    reference: str, predicted: str, left: dict[Any, list[Range]], right: dict[Any, list[Range]],
    boundaries: Boundaries, other: Boundaries, size: int,
) -> Iterator[Shard]:  # fmt: skip
    headers = [read_header(reference, boundaries).ranges, read_header(predicted, other).ranges]
    names: list[Any] = []
    weight = number = position = 0
    answered = False  # whether any of these was predicted: a part without a document cannot be read
    for key, ranges in left.items():
        if weight >= size and answered and key in right:
            shard = _named(reference, predicted, left, right, names, headers, number)
            position += weight
            yield replace(shard, position=position)
            names, weight, number, answered = [], 0, number + 1, False
        names.append(key)
        weight += sum(stop - start for start, stop, _ in ranges)
        answered = answered or key in right
    # what only the predictions have goes with the last shard
    if names or right.keys() - left.keys():
        names += [key for key in right if key not in left]
        shard = _named(reference, predicted, left, right, names, headers, number)
        yield replace(shard, position=position + weight)


def _named(
    reference: str, predicted: str, left: dict[Any, list[Range]], right: dict[Any, list[Range]], names: list[Any],
    headers: list[tuple[Range, ...]], number: int,
) -> Shard:  # fmt: skip
    parts = []
    for file, places, header in ((reference, left, headers[0]), (predicted, right, headers[1])):
        ranges = sorted(one for name in names for one in places.get(name, ()))
        before = (one for one in header if ranges and one[0] < ranges[0][0])
        parts.append(Source.part(file, (*before, *ranges), by_name=True))
    return Shard(number, parts[0], parts[1], len(names), 0, names[0], "by name")

"""The documents of a file as raw JSON: lines of JSON Lines, or the elements of a .json file.

A file is read from the front in portions. A plain file can also be asked for the line at an offset; what cannot be read
twice (standard input) is held in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from tallystick.errors import InputError, Place, TallystickError
from tallystick.files.json_values import NotJson, explained, placed
from tallystick.files.source import (
    BYTE_ORDER_MARK,
    PARQUET,
    AnySource,
    Source,
    is_packed,
    unpacked_name,
)
from tallystick.frozen import frozen

PORTION_BYTES = 4_000_000
MOST_LINES = 4096


@frozen
class Portion:
    """Some lines of a source, one after the other: their numbers in the file (from 1), their bytes and where each begins.

    `names` are the ids of documents that are called something outside of their lines: by a file's name, a key, a field beside
    the document; None for a line that has no such name.
    """

    numbers: list[int]
    lines: list[bytes]
    offsets: list[int]
    names: list[Any] | None = None

    def slice(self, start: int, length: int | None = None) -> Portion:
        """Some of the lines, as Arrow's batches are sliced."""
        some = slice(start, None if length is None else start + length)
        names = None if self.names is None else self.names[some]
        return Portion(self.numbers[some], self.lines[some], self.offsets[some], names)

    @classmethod
    def joined(cls, portions: Sequence[Portion]) -> Portion:
        """Several portions of one source as one."""
        if len(portions) == 1:
            return portions[0]
        parts = ((one.numbers, one.lines, one.offsets) for one in portions)
        names = [name for one in portions for name in one.names or ()]
        numbers, lines, offsets = (list(chain.from_iterable(some)) for some in zip(*parts, strict=True))
        return cls(numbers, lines, offsets, names or None)

    def __len__(self) -> int:
        return len(self.lines)


class Lines:
    """A file of documents; `portions` may be asked for as often as one likes."""

    def __init__(self, name: AnySource) -> None:
        self.source = Source.of(name)
        self.name, self.file = self.source.name, str(self.source)
        self._held: list[bytes] | None = None
        self._stream: IO[bytes] | None = None
        if self.source.reads_once or (self.source.held is not None and not self.source.is_part):
            self._held = self.source.read().removeprefix(BYTE_ORDER_MARK).split(b"\n")
        elif unpacked_name(name).endswith(".json") and not self.source.is_part:
            self._held = self._elements()
        self.position = 0
        """How many bytes of the file (as it is on disk) were read so far."""

    remark = ""
    """What to say about how the documents were found."""
    listed = False
    """Whether the file is one list of documents."""
    texts = False
    """Whether some documents are in memory as a model wrote them, or were never written."""

    def place(self, number: int) -> Place:
        """Where a document stands."""
        return Place(self.file, number)

    def why_invalid(self, number: int, kind: str) -> str:
        """What is wrong with a document that is none, but of another kind."""
        return f"expected an object, found {kind}"

    def not_json(self, error: Exception, number: int, line: bytes, advice: str = "") -> InputError:
        """A malformed line, with a caret where the parser stopped, and what can be done about it."""
        found, place = explained(error, line), self.place(number)
        return placed(NotJson(f"{found}{advice}", found.line, found.column), line, str(place.file), place.line)

    @cached_property
    def size(self) -> int:
        """How many bytes the file has; 0 where that is not known."""
        try:
            return 0 if self._held is not None else Path(self.name).stat().st_size
        except OSError:
            return 0

    def _elements(self) -> list[bytes]:
        """A .json file is a list of documents, or one document; if it is neither, it may still be JSON Lines."""
        import msgspec

        data = self.source.read().removeprefix(BYTE_ORDER_MARK)
        try:
            if data.lstrip()[:1] == b"[":
                self.listed = True
                return [bytes(one) for one in msgspec.json.decode(data, type=list[msgspec.Raw])]
            return [bytes(msgspec.json.decode(data, type=msgspec.Raw)).replace(b"\n", b" ")]
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            if data.count(b"\n") > 1 and data.lstrip()[:1] == b"{":
                return data.split(b"\n")
            raise placed(explained(error, data), data, self.file) from None

    @property
    def seekable(self) -> bool:
        return self._held is None and not is_packed(self.name) and not self.source.is_part

    def portions(self, most: int = MOST_LINES) -> Iterator[Portion]:
        """The lines that are not blank, some at a time."""
        number = offset = 0
        stream: Any = iter(self._held) if self._held is not None else self.source.open()
        size = 64
        try:
            while True:
                with self.source.reading():
                    lines = list(islice(stream, size))
                    if number == 0:  # how long lines are was not known yet
                        lines += islice(stream, max(0, self._at_once(lines, most) - size))
                if not lines:
                    return
                if number == 0:
                    lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
                    offset = 3 if self.seekable and self._has_mark() else 0
                numbers = self._numbers(number, len(lines))
                *offsets, offset = accumulate(map(len, lines), initial=offset)
                number += len(lines)
                self.position = offset if self.seekable else self._raw_position(stream)
                size = self._at_once(lines, most)
                if b"" in lines or any(map(bytes.isspace, lines)):
                    kept = [k for k, line in enumerate(lines) if line.strip()]
                    lines, numbers, offsets = ([side[k] for k in kept] for side in (lines, numbers, offsets))
                if lines:
                    yield Portion(numbers, lines, offsets)
        finally:
            if self._held is None:
                stream.close()

    @staticmethod
    def _at_once(lines: list[bytes], most: int) -> int:
        """How many lines like these make a portion."""
        mean = 1 + sum(map(len, lines)) // max(1, len(lines))
        return max(16, min(most, PORTION_BYTES // mean))

    def _numbers(self, before: int, count: int) -> list[int]:
        """The lines of the file for the next lines."""
        numbers = range(before + 1, before + count + 1)
        if not self.source.is_part:
            return list(numbers)
        first, last = (self.source.line(one) for one in (before + 1, before + count))
        if last - first == count - 1:  # all in one range
            return list(range(first, last + 1))
        found: list[int] = self.source.lines_of_file(np.array(numbers, np.int64)).tolist()
        return found

    def _raw_position(self, stream: Any) -> int:
        """How far a packed file was read."""
        raw = getattr(stream, "raw", None)
        try:
            return raw.packed_position() if raw is not None else 0
        except AttributeError:
            return 0

    def _has_mark(self) -> bool:
        with open(self.name, "rb") as stream:
            return stream.read(3) == BYTE_ORDER_MARK

    def lines_at(self, offsets: Sequence[int]) -> list[bytes]:
        """The lines that begin at some offsets (plain files only). They are read from the front."""
        if self._stream is None:
            self._stream = open(self.name, "rb")  # noqa: SIM115 - closed with the object
        lines = [b""] * len(offsets)
        for k in sorted(range(len(offsets)), key=offsets.__getitem__):
            self._stream.seek(offsets[k])
            lines[k] = self._stream.readline()
        return lines

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self._stream.close()  # type: ignore[union-attr]


# Files of Arrow's: Parquet (.parquet, .pq) and IPC (.arrow, .feather, .ipc), read some rows at a time.
#
# Records in such a file are rows; `batches` gives them as pyarrow's record batches, and `portions` gives them as lines of
# JSON, so that everything that reads JSON Lines can read them too, only more slowly.

ROWS = 65_536
"""So many rows are read at once."""


SMALL_DICTIONARY = 100_000
"""A column whose table of values takes up fewer bytes in the file has so few values that reading them as codes pays."""
MOST_GROUPS = 256
"""In a file of more row groups than these, what it says about them is not looked at."""


class ArrowLines(Lines):
    """A Parquet or IPC file. Rows are counted from 1, like lines."""

    def __init__(self, name: AnySource) -> None:
        super().__init__(name)
        pa = load_pyarrow(self.file)
        if not Path(name).exists() or Path(name).is_dir():
            self.source.read()  # says what is wrong
        try:
            self._source = self._open_arrow(pa)
            self.schema: Any = self._source.schema_arrow if self.is_parquet else self._source.schema
            names = self.schema.names
        except (pa.ArrowException, OSError, ValueError) as error:
            kind = "Parquet" if self.is_parquet else "Arrow IPC"
            raise InputError(f"is not a complete {kind} file ({_first_line(error)})", self.file) from None
        again = next((one for one in names if names.count(one) > 1), None)
        if again is not None:
            raise InputError(f"has two columns named {again!r}; column names must be unique", self.file)

    @property
    def is_parquet(self) -> bool:
        return Path(self.name).suffix.lower() in PARQUET

    def _open_arrow(self, pa: Any) -> Any:
        if self.is_parquet:
            import pyarrow.parquet as parquet

            plain = parquet.ParquetFile(self.name)
            few = _few_values(plain.metadata.schema, _row_groups(plain))
            return parquet.ParquetFile(self.name, metadata=plain.metadata, read_dictionary=few) if few else plain
        with open(self.name, "rb") as stream:
            start = stream.read(6)
        source = pa.memory_map(self.name)
        return pa.ipc.open_file(source) if start == b"ARROW1" else pa.ipc.open_stream(source)

    @property
    def seekable(self) -> bool:
        return False

    @property
    def metadata(self) -> Any:
        """What a Parquet file says about its columns; None for other files."""
        return self._source.metadata if self.is_parquet else None

    @property
    def has_rows(self) -> bool:
        if self.metadata is not None:
            return bool(self.metadata.num_rows)
        return any(batch.num_rows for batch in self.batches())

    def batches(self, columns: Sequence[str] | None = None, rows: int | None = None) -> Iterator[Any]:
        """The rows as record batches, some at a time, of all columns or of some."""
        import pyarrow as pa

        rows = rows or ROWS
        try:
            if self.is_parquet:
                leaves = None if columns is None else self._leaves(columns)
                for batch in self._source.iter_batches(rows, columns=leaves):
                    batch.validate(full=True)  # what points nowhere is an error here, and in C the end of the process
                    yield batch
                return
            for batch in self._ipc_batches(pa):
                batch.validate(full=True)
                chosen = batch if columns is None else batch.select([c for c in batch.schema.names if c in columns])
                for start in range(0, batch.num_rows, rows):
                    yield chosen.slice(start, rows)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot be read to its end ({_first_line(error)})", self.file) from None

    def _leaves(self, columns: Sequence[str]) -> list[str]:
        """The paths of the leaves below some columns; a dot in a name makes `columns=` of pyarrow ambiguous."""
        schema = self.metadata.schema
        paths = [schema.column(k).path for k in range(self.metadata.num_columns)]
        return [path for path in paths if any(path == one or path.startswith(f"{one}.") for one in columns)]

    def _ipc_batches(self, pa: Any) -> Iterator[Any]:
        if hasattr(self._source, "num_record_batches"):
            yield from map(self._source.get_batch, range(self._source.num_record_batches))
        else:
            yield from pa.ipc.open_stream(pa.memory_map(self.name))

    def portions(self, most: int = ROWS) -> Iterator[Portion]:
        number = 0
        for batch in self.batches(rows=min(most, 4096)):
            numbers = list(range(number + 1, number + batch.num_rows + 1))
            lines = json_lines(batch, self.file, numbers)
            number += len(lines)
            if lines:
                yield Portion(numbers, lines, [0] * len(lines))


def _row_groups(file: Any) -> list[Any]:
    """What a Parquet file says about its row groups; nothing if there are more than some hundred.

    Where this contradicts itself, pyarrow ends the process if it is asked about a column, and raises an error if it reads the column; so
    a row is read first.
    """
    places = range(file.metadata.num_row_groups)
    if len(places) > MOST_GROUPS:
        return []
    for group in places:
        next(file.iter_batches(1, row_groups=[group]), None)
    return [file.metadata.row_group(group) for group in places]


def _few_values(schema: Any, groups: Sequence[Any]) -> list[str]:
    """The flat columns of texts whose dictionary is small in every row group: they are read as they are stored."""
    out = []
    for place in range(len(schema)):
        column = schema.column(place)
        if column.physical_type != "BYTE_ARRAY" or column.max_repetition_level or column.path != column.name:
            continue
        parts = [group.column(place) for group in groups]
        if parts and all(part.has_dictionary_page and 0 <= _dictionary_size(part) < SMALL_DICTIONARY for part in parts):
            out.append(column.path)
    return out


def _dictionary_size(part: Any) -> int:
    return int(part.data_page_offset - part.dictionary_page_offset)


def json_lines(batch: Any, file: str, numbers: Sequence[int]) -> list[bytes]:
    """Rows as lines of JSON: dates and times in ISO 8601, decimals as numbers; `numbers` are those of the rows."""
    import msgspec

    for field in batch.schema:
        _require_json(field.type, field.name, file)
    encode = msgspec.json.Encoder(decimal_format="number", enc_hook=_of_pandas).encode
    try:
        rows = batch.to_pylist(maps_as_pydicts="strict")
    except (ValueError, KeyError) as error:
        raise InputError(f"rows {numbers[0]:,} and on: {_first_line(error)}", file) from None
    for name in _with_floats(batch):
        for number, row in zip(numbers, rows, strict=True):
            if _not_finite(row[name]):
                raise InputError(
                    f"{name}: has a number that is not finite, which JSON cannot hold; write null where it is missing (NaN), or give "
                    "both sides as Parquet or Arrow",
                    Place(file, number),
                )
    try:
        return [encode(row) for row in rows]
    except ValueError as error:
        raise InputError(f"rows {numbers[0]:,} and on: {_first_line(error)}", file) from None


def _of_pandas(value: Any) -> Any:
    """Times in nanoseconds are pandas' own where it is installed."""
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise ValueError("has nanoseconds that are no whole microseconds; cast it to text first")
    plain = getattr(value, "to_pydatetime", None) or getattr(value, "to_pytimedelta", None)
    if plain is None:
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")
    return plain()


def _with_floats(batch: Any) -> list[str]:
    """The columns that may hold NaN or infinity."""
    return [field.name for field in batch.schema if any(word in str(field.type) for word in ("double", "float"))]


def _not_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_not_finite, value.values()))
    return isinstance(value, list) and any(map(_not_finite, value))


def _require_json(kind: Any, path: str, file: str) -> None:
    import pyarrow as pa

    binary = any(
        f(kind)
        for f in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_union)
    )
    if binary:
        raise InputError(f"column {path!r}: {kind} cannot be compared with JSON; cast it to text first", file)
    if pa.types.is_dictionary(kind):
        _require_json(kind.value_type, path, file)
    for k in range(kind.num_fields):
        inner = kind.field(k)
        _require_json(inner.type, f"{path}.{inner.name}" if pa.types.is_struct(kind) else f"{path}[*]", file)


def load_pyarrow(what: str) -> Any:
    """pyarrow, or an error that says how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise TallystickError(
            f"{what}: reading and writing Parquet and Arrow needs pyarrow: pip install 'tallystick[arrow]'"
        ) from None
    return pa


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__

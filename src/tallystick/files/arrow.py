"""Files of Arrow's: Parquet (.parquet, .pq) and IPC (.arrow, .feather, .ipc), read some rows at a time.

Records in such a file are rows; `batches` gives them as pyarrow's record batches, and `portions` gives them as lines of
JSON, so that everything that reads JSON Lines can read them too, only more slowly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, Place, TallystickError
from tallystick.files.lines import Lines, Portion
from tallystick.files.source import AnySource, read_bytes

PARQUET, IPC = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
ROWS = 65_536
"""So many rows are read at once."""


SMALL_DICTIONARY = 100_000
"""A column whose table of values takes up fewer bytes in the file has so few values that reading them as codes pays."""


def is_arrow_file(name: AnySource) -> bool:
    """Whether a file's name says that it is one of Arrow's."""
    return Path(name).suffix.lower() in (*PARQUET, *IPC)


def open_records(name: AnySource | Lines) -> Lines:
    """A file of records, whatever its format."""
    if isinstance(name, Lines):
        return name
    return ArrowLines(name) if is_arrow_file(name) else Lines(name)


class ArrowLines(Lines):
    """A Parquet or IPC file. Rows are counted from 1, like lines."""

    def __init__(self, name: AnySource) -> None:
        super().__init__(name)
        pa = load_pyarrow(self.file)
        if not Path(name).exists() or Path(name).is_dir():
            read_bytes(name)  # says what is wrong
        try:
            self._source = self._open_arrow(pa)
        except (pa.ArrowException, OSError, ValueError) as error:
            kind = "Parquet" if self.is_parquet else "Arrow IPC"
            raise InputError(f"is not a complete {kind} file ({_first_line(error)})", self.file) from None
        self.schema: Any = self._source.schema_arrow if self.is_parquet else self._source.schema
        names = self.schema.names
        again = next((one for one in names if names.count(one) > 1), None)
        if again is not None:
            raise InputError(f"has two columns named {again!r}; every column needs a name of its own", self.file)

    @property
    def is_parquet(self) -> bool:
        return Path(self.name).suffix.lower() in PARQUET

    def _open_arrow(self, pa: Any) -> Any:
        if self.is_parquet:
            import pyarrow.parquet as parquet

            plain = parquet.ParquetFile(self.name)
            few = _few_values(plain.metadata)
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
                yield from self._source.iter_batches(rows, columns=None if columns is None else self._leaves(columns))
                return
            for batch in self._ipc_batches(pa):
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


def _few_values(metadata: Any) -> list[str]:
    """The flat columns of texts whose dictionary is small in every row group: they are read as they are stored."""
    out = []
    for place in range(metadata.num_columns):
        column = metadata.schema.column(place)
        if column.physical_type != "BYTE_ARRAY" or column.max_repetition_level or column.path != column.name:
            continue
        parts = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
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
                    f"{name}: has a number that is not finite, which JSON cannot hold; give both sides as Parquet or Arrow",
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

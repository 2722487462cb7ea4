"""Columns that a prediction has and its shape does not, counted without a Python object for each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.columns.arrays import I64
from tallystick.columns.data import Rows, as_data
from tallystick.columns.surplus import Extended, split_surplus
from tallystick.columns.unfit import Invalid, Surplus
from tallystick.reading.unknown import Place, Unknown, settle


def unknown_counts(batch: Any, unknown: Unknown) -> dict[str, I64]:
    """By the path of an unknown column, how many leaves each row has there; only what is there at all."""
    out: dict[str, I64] = {}
    n = batch.num_rows
    columns = [(name, batch.column(k)) for k, name in enumerate(batch.schema.names)]
    _look(columns, unknown.top, "", np.arange(n, dtype=np.int64), n, out)
    return {path: counts for path, counts in out.items() if counts.any()}


def _look(columns: Any, place: Place, path: str, owners: I64, n: int, out: dict[str, I64]) -> None:
    for name, column in columns:
        where = f"{path}.{name}" if path else name
        if name in place.below:
            _descend(column, place.below[name], where, owners, n, out)
        elif name not in place.known and not place.open:
            found = np.bincount(owners, leaf_counts(column), minlength=n).astype(np.int64)
            out[where] = out[where] + found if where in out else found


def _descend(array: Any, place: Place, path: str, owners: I64, n: int, out: dict[str, I64]) -> None:
    array = _plain(array)
    if array.null_count:
        owners, array = owners[_valid(array)], array.drop_null()
    kind = array.type
    if pa.types.is_struct(kind) and place.record:
        columns = [(kind.field(k).name, array.field(k)) for k in range(kind.num_fields)]
        _look(columns, place, path, owners, n, out)
    elif pa.types.is_map(kind) and place.values is not None:
        _descend(_items(array), place.values, f"{path}[*].value", _repeated(owners, array), n, out)
    elif pa.types.is_nested(kind) and not pa.types.is_struct(kind) and place.items is not None:
        _descend(array.flatten(), place.items, f"{path}[*]", _repeated(owners, array), n, out)


def leaf_counts(array: Any) -> I64:
    """How many leaves each row of an array has."""
    array = _plain(array)
    kind = array.type
    out = np.zeros(len(array), np.int64)
    here = np.flatnonzero(_valid(array))
    if pa.types.is_null(kind) or not len(here):
        return out
    if not pa.types.is_nested(kind) or pa.types.is_union(kind):
        out[here] = 1
        return out
    present = array.drop_null() if array.null_count else array
    if pa.types.is_struct(kind):
        inner = np.zeros(len(present), np.int64)
        for k in range(kind.num_fields):
            inner += leaf_counts(present.field(k))
    else:
        flat = _items(present) if pa.types.is_map(kind) else present.flatten()
        owners = _repeated(np.arange(len(present), dtype=np.int64), present)
        inner = np.bincount(owners, leaf_counts(flat), minlength=len(present)).astype(np.int64)
    out[here] = inner
    return out


def _plain(array: Any) -> Any:
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    if pa.types.is_dictionary(array.type):
        return array.indices if not array.dictionary.null_count else array.dictionary_decode()
    return pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array


def _valid(array: Any) -> Any:
    return array.is_valid().to_numpy(zero_copy_only=False)


def _items(array: Any) -> Any:
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.items.slice(first, last - first)


def _repeated(owners: I64, array: Any) -> I64:
    """The owner of each item of the lists or maps in an array without nulls."""
    if pa.types.is_map(array.type):
        lengths = np.diff(np.asarray(array.offsets))
    else:
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
    return np.repeat(owners, lengths.astype(np.int64))


class Shown(Sequence[Any]):
    """The rows of a batch as Python values with what is unknown in them, made when somebody looks."""

    def __init__(self, batch: Any, unknown: Unknown, rows: Sequence[int]) -> None:
        self.batch, self.unknown, self.rows = batch, unknown, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Shown(self.batch, self.unknown, self.rows[place])
        row = self.rows[place]
        if row < 0:
            return Invalid("has no prediction")
        value = self.batch.slice(row, 1).to_pylist(maps_as_pydicts="lossy")[0]
        found = self.unknown.find(value)
        return Surplus(value, tuple(found)) if found else value


def settle_columns(
    keys: Sequence[Any], references: Sequence[Any], predictions: Sequence[Any], findings: Any, count: bool
) -> tuple[Sequence[Any], Sequence[Any]]:
    """`unknown.settle`, where one side or both are columns."""
    known, outside = split_surplus(as_data(references))
    if outside:
        references = Rows(known)
    if not isinstance(predictions, Rows):
        plain: list[Any] = [None] * len(predictions)
        for path, counts in outside.items():
            for row in np.flatnonzero(counts).tolist():
                leaf = (path, None)
                plain[row] = Surplus(None, (*(plain[row].leaves if plain[row] else ()), leaf))
        return references, settle(keys, plain, predictions, findings, count)[1]
    data = predictions.data
    if not isinstance(data, Extended):
        return references, predictions
    n = len(predictions)
    left = {
        path: np.where(outside.get(path, np.zeros(n, np.int64)) > 0, 0, counts) for path, counts in data.counts.items()
    }
    left = {path: counts for path, counts in left.items() if counts.any()}
    for path, counts in left.items():
        first = int(np.flatnonzero(counts)[0])
        example = next((leaf for where, leaf in data.shown[first].leaves if where == path), None)
        findings.note_unknown(keys[first], path, example, int(counts.sum()))
    if not left or not count:
        return references, Rows(data.values)
    return references, Rows(Extended(data.values, left, data.shown))

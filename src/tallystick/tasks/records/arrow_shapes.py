"""What a document looks like, read off the columns of a Parquet or Arrow file; and whether columns fit a type.

The shape is the one that inference finds in the same records as JSON: what is counted here is what `inference.Seen`
counts there. Where Parquet's own statistics say how many nulls a flat column has, its values are not read at all.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.algebra.shape import BAGS, MAPPINGS, SEQUENCES, UNIONS, plain_type, record_fields
from tallystick.engine.data import Bag, Nullable, Record
from tallystick.errors import InputError
from tallystick.files.arrow import ArrowLines
from tallystick.tasks.records.inference import Seen

_NONE = type(None)


def see_file(file: ArrowLines) -> Seen:
    """What stands in a file, as inference has it."""
    seen = Seen()
    known = _statistics(file)
    rest = [name for name in file.schema.names if name not in known]
    rows = 0
    if rest or not known:
        for batch in file.batches(rest):
            rows += batch.num_rows
            for name in rest:
                see(seen.fields.setdefault(name, Seen()), batch.column(name), name, file.file)
    if known:
        rows = file.metadata.num_rows
    for name, nulls in known.items():
        field = seen.fields.setdefault(name, Seen())
        _count(field, _kind(file.schema.field(name).type, name, file.file), rows - nulls, nulls)
    seen.fields = {name: seen.fields[name] for name in file.schema.names if name in seen.fields}
    seen.count = seen.objects = rows
    return seen


def _statistics(file: ArrowLines) -> dict[str, int]:
    """The number of nulls of each flat column, as far as the file itself says so."""
    metadata = file.metadata
    if metadata is None:
        return {}
    out: dict[str, int] = {}
    flat = {name for name in file.schema.names if not pa.types.is_nested(file.schema.field(name).type)}
    for place in range(metadata.num_columns):
        path = metadata.schema.column(place).path
        parts = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
        found = [part.statistics if part.is_stats_set else None for part in parts]
        if path in flat and all(one is not None and one.has_null_count for one in found):
            out[path] = sum(one.null_count for one in found if one is not None)
    return out


def see(seen: Seen, array: Any, path: str, file: str) -> None:
    """Count the values of an array where inference would have counted them."""
    kind, types = array.type, pa.types
    if types.is_dictionary(kind):
        return see(seen, array.dictionary_decode(), path, file)
    if types.is_run_end_encoded(kind):
        return see(seen, pc.run_end_decode(array), path, file)
    nulls = array.null_count
    if types.is_struct(kind):
        present = array.drop_null() if nulls else array
        seen.objects += len(present)
        for k in range(kind.num_fields):
            name = kind.field(k).name
            if len(present):
                see(seen.fields.setdefault(name, Seen()), present.field(k), f"{path}.{name}", file)
        _nulls(seen, nulls)
        seen.count += len(array)
    elif types.is_map(kind):
        present = array.drop_null() if nulls else array
        seen.objects += len(present)
        seen.maps = True
        if len(present):
            first, last = present.offsets[0].as_py(), present.offsets[-1].as_py()
            see(seen.fields.setdefault("", Seen()), present.items.slice(first, last - first), f"{path}[*].value", file)
        _nulls(seen, nulls)
        seen.count += len(array)
    elif hasattr(array, "flatten") and types.is_nested(kind) and not types.is_union(kind):
        present = array.drop_null() if nulls else array
        lengths = pc.list_value_length(present).to_numpy(zero_copy_only=False)
        flat = present.flatten()
        seen.lists += len(present)
        if len(present) and types.is_integer(kind.value_type):
            whole = flat.is_valid().to_numpy(zero_copy_only=False)
            starts = np.cumsum(lengths) - lengths
            two = starts[lengths == 2]
            seen.pairs += int(np.sum(whole[two] & whole[two + 1]))
        if len(present):
            seen.items = seen.items or Seen()
            see(seen.items, flat, f"{path}[*]", file)
        _nulls(seen, nulls)
        seen.count += len(array)
    else:
        _count(seen, _kind(kind, path, file), len(array) - nulls, nulls)
    return None


def _count(seen: Seen, kind: type, values: int, nulls: int) -> None:
    if kind is _NONE:
        values, nulls = 0, values + nulls
    if values:
        seen.kinds[kind] = seen.kinds.get(kind, 0) + values
    _nulls(seen, nulls)
    seen.count += values + nulls


def _nulls(seen: Seen, nulls: int) -> None:
    if nulls:
        seen.kinds[_NONE] = seen.kinds.get(_NONE, 0) + nulls


def _kind(kind: Any, path: str, file: str) -> type:
    """The Python type of a leaf's values."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.json":
        return str
    for test, found in (
        (types.is_null, _NONE), (types.is_boolean, bool), (types.is_integer, int), (types.is_floating, float),
        (types.is_decimal, decimal.Decimal), (types.is_string, str), (types.is_large_string, str),
        (types.is_string_view, str), (types.is_date, datetime.date), (types.is_timestamp, datetime.datetime),
        (types.is_time, datetime.time), (types.is_duration, datetime.timedelta), (types.is_binary, bytes),
        (types.is_large_binary, bytes), (types.is_fixed_size_binary, bytes), (types.is_binary_view, bytes),
    ):  # fmt: skip
        if test(kind):
            return found
    raise InputError(
        f"column {path!r}: {kind} is not supported; cast it to text, a number, a date, a list or a struct", file
    )


# Whether columns hold values of a type, so that nothing has to be checked value by value.


def unfitting(type_: Any, kind: Any, path: str = "") -> str | None:
    """The first path at which a column is not of the kind that a type asks for, or None; nulls are another matter."""
    type_ = _bare(type_)
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return None
    options = [one for one in get_args(type_) if one is not _NONE] if get_origin(type_) in UNIONS else [type_]
    found = [_one_unfitting(_bare(one), kind, path) for one in options]
    return None if None in found else next(iter(found), path or "(document)")


def _bare(type_: Any) -> Any:
    type_ = plain_type(type_)
    while get_origin(type_) is Annotated:
        type_ = plain_type(get_args(type_)[0])
    return type_


def _one_unfitting(type_: Any, kind: Any, path: str) -> str | None:
    origin, arguments, types = get_origin(type_) or type_, get_args(type_), pa.types
    here = path or "(document)"
    listed = types.is_nested(kind) and not (types.is_struct(kind) or types.is_map(kind) or types.is_union(kind))
    if origin is list or origin in SEQUENCES or (origin in BAGS and origin not in (set, frozenset)):
        return unfitting(arguments[0], kind.value_type, f"{path}[*]") if listed and arguments else here
    if origin in MAPPINGS:
        if not types.is_map(kind) or len(arguments) != 2 or arguments[0] is not str:
            return here
        return unfitting(arguments[1], kind.item_type, f"{path}[*].value")
    fields = None if origin is tuple else record_fields(type_)
    if fields is not None and not hasattr(origin, "_fields"):
        if not types.is_struct(kind):
            return here
        known = {kind.field(k).name: kind.field(k).type for k in range(kind.num_fields)}
        inner = (
            unfitting(one, known[name], f"{path}.{name}" if path else name)
            for name, one in fields.items()
            if name in known
        )
        return next((one for one in inner if one is not None), None)
    if types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType) or not isinstance(type_, type):
        return here
    if types.is_integer(kind):
        return None if type_ in (int, float) else here
    try:
        return None if _kind(kind, path, "") is type_ else here
    except InputError:
        return here


def has_gaps(type_: Any, column: Any, missing: bool = False) -> bool:
    """Whether a null or a missing column stands where a type has neither; `column` is one of the engine's.

    With `missing`, a field may be null or not there at all; an item of a list may not.
    """
    bare = _bare(type_)
    if get_origin(bare) in UNIONS:
        options = [one for one in get_args(bare) if one is not _NONE]
        if len(options) < len(get_args(bare)) and isinstance(column, Nullable):
            column = column.present
        return all(has_gaps(one, column, missing) for one in options)
    if isinstance(column, Nullable):
        return True
    fields = record_fields(bare) if isinstance(column, Record) else None
    if fields is not None and isinstance(column, Record):
        required = set() if missing else _required(bare, fields)
        return any(
            has_gaps(one, _there(column.fields[name], missing), missing) if name in column.fields else name in required
            for name, one in fields.items()
        )
    if isinstance(column, Bag):
        arguments = get_args(bare)
        if (get_origin(bare) or bare) in MAPPINGS and isinstance(column.items, Record):
            return has_gaps(arguments[1], column.items.fields["value"], missing)
        return bool(arguments) and has_gaps(arguments[0], column.items, missing)
    return False


def _there(column: Any, missing: bool) -> Any:
    return column.present if missing and isinstance(column, Nullable) else column


def _required(type_: Any, fields: Mapping[str, Any]) -> set[str]:
    """The fields that a column has to have: a default that is not None would have to be filled in."""
    origin = get_origin(type_) or type_
    if hasattr(origin, "__required_keys__"):
        return set(origin.__required_keys__)
    if dataclasses.is_dataclass(origin):
        return {f.name for f in dataclasses.fields(origin) if f.default is not None}
    if hasattr(origin, "model_fields"):
        return {name for name, one in origin.model_fields.items() if one.is_required() or one.default is not None}
    return set(fields)

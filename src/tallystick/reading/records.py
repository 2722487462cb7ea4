"""JSON Lines of records: one document a line, checked against the user's type.

Documents of the two files are paired by an id where both have one, else by their order, and it is said which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, Place, SidesMismatch, unmet_ids
from tallystick.reading.opening import read_bytes, shown_name

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Records:
    """One file's documents, with the id and the line of each."""

    file: str
    values: list[Any]
    ids: list[Any] | None
    lines: list[int]


def read_records(name: str | Path, type_: Any = None, id_field: str | None = None) -> Records:
    """The documents of a JSONL file; `type_` None leaves them as plain JSON data."""
    import msgspec

    from tallystick.reading.types import converter

    file = shown_name(name)
    data = read_bytes(name)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    convert = converter(type_) if type_ is not None else msgspec.json.decode
    identify = msgspec.json.Decoder(dict[str, Any])
    values: list[Any] = []
    ids: list[Any] = []
    lines: list[int] = []
    missing: int | None = None
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = convert(line)
            key = None
            if line.lstrip()[:1] == b"{":
                key = (value if type_ is None else identify.decode(line)).get(id_field or "id")
        except msgspec.ValidationError as error:
            raise InputError(str(error), Place(file, number)) from None
        except msgspec.DecodeError as error:
            raise _not_json(error, file, number, line) from None
        except UnicodeDecodeError:
            raise InputError("is not UTF-8; convert the file to UTF-8 first", Place(file, number)) from None
        except ValueError as error:
            raise InputError(str(error), Place(file, number)) from None
        except RecursionError:
            raise InputError("is nested too deeply", Place(file, number)) from None
        values.append(value)
        lines.append(number)
        if isinstance(key, (str, int)):
            ids.append(key)
        elif missing is None:
            missing = number
    if not values:
        raise InputError("has no records; expected one JSON value a line", file)
    if missing is not None:
        if id_field:
            raise InputError(f"has no text or number under {id_field!r}, which was to be its id", Place(file, missing))
        return Records(file, values, None, lines)
    if len(set(ids)) < len(ids):
        first: dict[Any, int] = {}
        for k, key in enumerate(ids):
            if key in first:
                where = Place(file, lines[k])
                raise InputError(f"the id {key!r} stood in line {lines[first[key]]} already; ids must differ", where)
            first[key] = k
    return Records(file, values, ids, lines)


def _not_json(error: Exception, file: str, number: int, line: bytes) -> InputError:
    """A malformed line, with a caret where the parser stopped."""
    message = str(error)
    column = None
    if "(byte " in message:
        offset = int(message.rsplit("(byte ", 1)[1].rstrip(")"))
        column = len(line[:offset].decode("utf-8", "replace")) + 1
        message = message.rsplit(" (byte", 1)[0]
    message = message.removeprefix("JSON is malformed: ")
    return InputError(f"is not JSON: {message}", Place(file, number, column, line.decode("utf-8", "replace")))


def pair_records(reference: Records, predicted: Records) -> tuple[list[Any], list[Any], list[Any], str]:
    """Ids, both sides' documents in one order, and how they were paired."""
    if reference.ids is not None and predicted.ids is not None:
        place = {key: k for k, key in enumerate(predicted.ids)}
        known = set(reference.ids)
        missing = [key for key in reference.ids if key not in place]
        extra = [key for key in predicted.ids if key not in known]
        if missing or extra:
            raise SidesMismatch(f"{reference.file} and {predicted.file}: {unmet_ids(missing, extra)}")
        return reference.ids, reference.values, [predicted.values[place[key]] for key in reference.ids], "by id"
    if len(reference.values) != len(predicted.values):
        raise SidesMismatch(
            f"{reference.file} has {len(reference.values):,} records and {predicted.file} has "
            f"{len(predicted.values):,}; without ids in both they are paired by order, so the numbers must be equal"
        )
    return reference.lines, reference.values, predicted.values, "by order"

"""Files that are complete or not there: whatever is written, Ctrl-C and a full disk leave nothing half done. And JSON that
every reader takes.

What is no regular file cannot be replaced, so it is written to: a device, a pipe, and what this process has open already,
which is what a shell means by /dev/stdout and >(command).
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, MetricError

_OPEN = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/self/fd/\d+")
_NUMBERS = {"stdout": 1, "stderr": 2}


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON as the standard has it, which knows neither NaN nor infinity: a page of these is dead, and most programs refuse
    them. A figure that is undefined is None before it comes here; a value of a document that is NaN is the text "nan"."""
    separators = (",", ":") if indent is None else None

    def written(value: Any) -> str:
        return json.dumps(value, indent=indent, separators=separators, ensure_ascii=False, default=str, allow_nan=False)

    try:
        return written(value)
    except ValueError:
        return written(_finite(value))


class JsonText(str):
    """JSON that is written already, for `to_json_object`."""

    __slots__ = ()


def written(value: Any) -> JsonText:
    """JSON without white space, of values that have neither NaN nor infinity among them, in a fifth of the time."""
    from msgspec.json import encode

    try:
        return JsonText(encode(value, enc_hook=str).decode())
    except UnicodeEncodeError:  # half a surrogate pair
        return JsonText(to_json(value, indent=None))


class JsonParts(dict[str, Any]):
    """Parts of an object that is an object itself, for `to_json_object`."""


def to_json_object(values: Mapping[str, Any]) -> JsonText:
    """An object without white space, of values and of parts that are written already, which are taken as they are."""
    return JsonText("".join(_object_parts(values)))  # a part may be long: it is copied as seldom as can be


def _object_parts(values: Mapping[str, Any]) -> list[str]:
    parts = ["{"]
    for name, value in values.items():
        parts += [to_json(name), ":"]
        if isinstance(value, JsonParts):
            parts += _object_parts(value)
        else:
            parts.append(value if isinstance(value, JsonText) else to_json(value, indent=None))
        parts.append(",")
    return [*(parts[:-1] if values else parts), "}"]


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    if isinstance(value, dict):
        return {_finite(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """A file that is either complete or not there: written beside its place, then moved. A device or a pipe is written to."""
    # half a surrogate pair, such as a byte of a file's name that is no text, is written as its number
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if _OPEN.fullmatch(str(path)):
            _write_to_open(str(path), data)
        elif _is_stream(path):
            with open(path, "wb") as stream:
                stream.write(data)
        else:
            _replace(Path(os.path.realpath(path)), data)  # a link stays a link
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(path)) from None


def check_place(path: str | Path) -> None:
    """That something can be written there, before the work that it is to hold."""
    if _OPEN.fullmatch(str(path)):
        return
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _is_stream(path):
            return
        folder = Path(os.path.realpath(path)).parent
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(path)) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"is not a file name ({error})", repr(str(path))) from None


def _is_stream(path: str | Path) -> bool:
    if not isinstance(path, (str, os.PathLike)):
        raise MetricError(f"path must be the name of a file, found {path!r}")
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _write_to_open(name: str, data: bytes) -> None:
    """To a file that is open already, behind what was written there."""
    last = name.rpartition("/")[2]
    for ours in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            ours.flush()
    with os.fdopen(os.dup(_NUMBERS.get(last) or int(last)), "wb") as stream:
        stream.write(data)


def _replace(target: Path, data: bytes) -> None:
    name = target.parent / f"tallystick-{os.urandom(8).hex()}.part"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # a temporary file is private; the report is like any other file
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise

"""Opening what the user names: plain files, `.gz`, `.zst`, `-` for standard input, and parts of files."""

from __future__ import annotations

import sys
from pathlib import Path

from tallystick.errors import InputError
from tallystick.reading.packed import is_packed, open_packed, packed_errors, packing
from tallystick.reading.parts import part_at_hand


def read_bytes(name: str | Path) -> bytes:
    """The whole content, unpacked. Everything that can go wrong is an `InputError` that names the file."""
    name = str(name)
    part = part_at_hand(name)
    if part is not None:
        return part.read()
    if name == "-":
        return sys.stdin.buffer.read()
    path = Path(name)
    try:
        if path.is_dir():
            raise InputError("is a directory, expected a file", name)
        if is_packed(name):
            try:
                with open_packed(name) as stream:
                    return stream.read()
            except packed_errors() as error:
                raise InputError(f"is not a complete {packing(name)} file ({error})", name) from None
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None


def read_head(name: str | Path, most: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked; of standard input, which can be read only once, none."""
    name = str(name)
    if name == "-":
        return b""
    part = part_at_hand(name)
    if part is not None:
        return part.read()[:most]
    if Path(name).is_dir():
        raise InputError("is a directory, expected a file", name)
    try:
        with open_packed(name) if is_packed(name) else open(name, "rb") as stream:
            return stream.read(most)
    except packed_errors() as error:
        raise InputError(f"is not a complete {packing(name)} file ({error})", name) from None
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None


def read_text(name: str | Path) -> str:
    """The whole content as UTF-8 text without a byte order mark; a bad byte is an error that names its line."""
    from tallystick.errors import Place

    data = read_bytes(name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"byte 0x{data[error.start]:02x} is not UTF-8; convert the file to UTF-8 first",
            Place(str(name), line),
        ) from None


def shown_name(name: str | Path) -> str:
    """How a file is called in messages."""
    return "<stdin>" if str(name) == "-" else str(name)

"""Opening what the user names: plain files, `.gz`, `.zst`, `-` for standard input, and parts of files."""

from __future__ import annotations

import sys
from pathlib import Path

from tallystick.errors import InputError
from tallystick.reading.holding import read_held
from tallystick.reading.limits import check_file, check_line_ends, check_text, not_utf8
from tallystick.reading.packed import is_packed, open_packed, packed_errors, packing
from tallystick.reading.parts import part_at_hand


def read_bytes(name: str | Path) -> bytes:
    """The whole content, unpacked. Everything that can go wrong is an `InputError` that names the file."""
    name = str(name)
    part = part_at_hand(name)
    if part is not None:
        data = part.read()
        check_text(data, name)
        return data
    return read_held(name, lambda: _read_whole(name))


def _read_whole(name: str) -> bytes:
    if name == "-":
        return read_stdin()
    path = Path(name)
    try:
        check_file(name)
        if is_packed(name):
            try:
                with open_packed(name) as stream:
                    data = stream.read()
            except packed_errors() as error:
                raise InputError(f"is not a complete {packing(name)} file ({error})", name) from None
        else:
            data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"is no name of a file ({error})", repr(name)) from None
    check_text(data, name)
    return data


def read_stdin() -> bytes:
    """All of standard input, as long as it is text."""
    pieces = []
    while piece := sys.stdin.buffer.read(1 << 20):
        check_text(piece, "<stdin>")
        pieces.append(piece)
    return b"".join(pieces)


def read_head(name: str | Path, most: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked; of standard input, which can be read only once, none."""
    name = str(name)
    if name == "-":
        return b""
    part = part_at_hand(name)
    if part is not None:
        return part.read()[:most]
    check_file(name)
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
    data = read_bytes(name)
    check_line_ends(data, shown_name(name))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf8(data, shown_name(name)) from None


def shown_name(name: str | Path) -> str:
    """How a file is called in messages."""
    return "<stdin>" if str(name) == "-" else str(name)

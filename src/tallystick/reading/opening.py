"""Opening what the user names: plain files, `.gz` and `-` for standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from tallystick.errors import InputError
from tallystick.reading.limits import check_file, check_line_ends, check_text, not_utf8, open_gzip, packed_errors


def read_bytes(name: str | Path) -> bytes:
    """The whole content, unpacked. Everything that can go wrong is an `InputError` that names the file."""
    name = str(name)
    if name == "-":
        return read_stdin()
    path = Path(name)
    try:
        check_file(name)
        if path.suffix == ".gz":
            try:
                with open_gzip(path) as stream:
                    data = stream.read()
            except packed_errors() as error:
                raise InputError(f"is not a complete gzip file ({error})", name) from None
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

"""Files that are complete or not there: whatever is written, Ctrl-C and a full disk leave nothing half done."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tallystick.errors import InputError


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """A file that is either complete or not there: written beside its place, then moved. A device or a pipe is written to."""
    target = Path(os.path.realpath(path))  # a link stays a link
    data = content.encode() if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(dir=target.parent, prefix="tallystick-", suffix=".part")
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
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(path)) from None

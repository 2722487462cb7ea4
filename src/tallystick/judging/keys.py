"""Single keys from a terminal, without Enter and without loss: the terminal stays in one mode from question to question.

Turning the mode on and off for every key would drop what is typed in between. In a pipe each character is a key.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any


class Keys:
    """`with Keys() as keys: keys.key(); keys.line()`."""

    def __init__(self) -> None:
        self._saved: Any = None
        self._file = -1

    def __enter__(self) -> Keys:
        if sys.stdin is not None and sys.stdin.isatty():
            self._file = sys.stdin.fileno()
            self._by_key()
        return self

    def _by_key(self) -> None:
        try:
            import termios
            import tty
        except ImportError:  # Windows: click reads its console
            return
        self._saved = termios.tcgetattr(self._file)
        tty.setcbreak(self._file, termios.TCSADRAIN)

    def _by_line(self) -> None:
        if self._saved is not None:
            import termios

            termios.tcsetattr(self._file, termios.TCSADRAIN, self._saved)
            self._saved = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._by_line()

    def key(self) -> str:
        """The next key: a character, `\\n` for Enter, an escape sequence for an arrow; nothing at the end or after Ctrl-C."""
        try:
            if self._file < 0:
                return "" if sys.stdin is None else sys.stdin.read(1)
            if self._saved is None:
                import click

                return click.getchar()
            return self._read()
        except (EOFError, KeyboardInterrupt, OSError):  # OSError: the terminal is gone
            return ""

    def _read(self) -> str:
        import select

        found = os.read(self._file, 1)
        if found[:1] == b"\x1b":  # to its last byte: the 5 of `ESC [ 1 5 ~` (F5) is no answer
            while not _whole(found) and select.select([self._file], [], [], 0.05)[0]:
                found += os.read(self._file, 1)
        elif found and found[0] >= 0xC0:
            found += os.read(self._file, 1 + (found[0] >= 0xE0) + (found[0] >= 0xF0))
        return found.decode("utf-8", "replace")

    def line(self) -> str | None:
        """A whole line, typed as usual; None at the end of the input, or after Ctrl-C."""
        if self._file < 0:
            return None if sys.stdin is None else sys.stdin.readline() or None
        self._by_line()
        try:
            return input()
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            self._by_key()


def _whole(sequence: bytes) -> bool:
    """Whether an escape sequence has come to its end, or is longer than any."""
    if len(sequence) < 2 or sequence[1:2] not in b"[O":
        return len(sequence) >= 2
    return len(sequence) >= 16 or (len(sequence) > 2 and 0x40 <= sequence[-1] <= 0x7E)

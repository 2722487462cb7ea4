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
        if sys.stdin.isatty():
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
                return sys.stdin.read(1)
            if self._saved is None:
                import click

                return click.getchar()
            return self._read()
        except (EOFError, KeyboardInterrupt):
            return ""

    def _read(self) -> str:
        import select

        found = os.read(self._file, 1)
        if found[:1] == b"\x1b":
            while len(found) < 3 and select.select([self._file], [], [], 0.05)[0]:
                found += os.read(self._file, 1)
        elif found and found[0] >= 0xC0:
            found += os.read(self._file, 1 + (found[0] >= 0xE0) + (found[0] >= 0xF0))
        return found.decode("utf-8", "replace")

    def line(self) -> str:
        """A whole line, typed as usual."""
        if self._file < 0:
            return sys.stdin.readline()
        self._by_line()
        try:
            return input()
        except (EOFError, KeyboardInterrupt):
            return ""
        finally:
            self._by_key()

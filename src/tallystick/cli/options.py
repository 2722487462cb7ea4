"""Several options of a command as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def together(command: Command, options: Sequence[Callable[[Any], Any]]) -> Command:
    """The command with these options, in the order in which its help lists them: of decorators the last one is the first."""
    for option in reversed(options):
        command = option(command)
    return command

"""Groups of commands whose modules are imported only when a command runs, and errors without tracebacks."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click

from tallystick.errors import InputError, TallystickError, did_you_mean

INTERRUPTED = 130
"""The exit code after Ctrl-C, as of a shell: 128 and the number of the signal."""
CLOSED_PIPE = 141


class LazyGroup(click.Group):
    """A group that knows its commands by name, module and one line of help."""

    def __init__(
        self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, tasks: Callable[[str], click.Command] | None = None,
        explained: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}
        self.tasks, self.explained = tasks, explained
        """What makes the command of a task, in groups that have one for each; and whether only those that can be explained have."""

    def _tasks(self) -> list[str]:
        from tallystick.tasks.contract import find_task, task_names

        if self.tasks is None:
            return []
        return [name for name in task_names() if not self.explained or find_task(name).can_explain]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.lazy, *self._tasks()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if self.tasks is not None and cmd_name in self._tasks():
            return self.tasks(cmd_name)
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute, None)
        if command is None:
            raise click.UsageError(f"{cmd_name} has no `{attribute}`", ctx)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from tallystick.tasks.contract import find_task

        rows = [(name, find_task(name).summary) for name in self._tasks()]
        rows += [(name, entry[1]) for name, entry in self.lazy.items()]
        rows += [(name, command.get_short_help_str(80)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from tallystick.tasks.contract import find_task, task_names

            if self.explained and args[0] in task_names():
                raise click.UsageError(find_task(args[0]).instead_of_explain, ctx) from None
            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message.rstrip('.')}.{hint}", ctx) from None

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run, and leave with an exit code: whatever goes wrong is one line, never a traceback."""
        sys.exit(self._run(list(sys.argv[1:] if args is None else args), prog_name or "tallystick"))

    def _hint(self, error: TallystickError, arguments: list[str]) -> str:
        """A file that cannot be read may be one for another task."""
        if not isinstance(error, InputError) or error.place is None:
            return ""
        from tallystick.cli.hints import hint

        return hint(error.place.file, arguments)

    def _run(self, arguments: list[str], name: str) -> int:
        try:
            self._main_shell_completion({}, name)
            with self.make_context(name, arguments) as context:
                self.invoke(context)
            sys.stdout.flush()
        except click.exceptions.Exit as error:
            return error.exit_code
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except TallystickError as error:
            click.echo(f"Error: {printable(str(error) + self._hint(error, arguments))}", err=True)
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            abandon_output()
            click.echo("Interrupted", err=True)
            return INTERRUPTED
        except BrokenPipeError:  # the reader has gone; there is nobody to complain to
            abandon_output()
            return CLOSED_PIPE
        except Exception as error:
            if os.environ.get("TALLYSTICK_DEBUG"):
                raise
            abandon_output()
            message, code = unexpected(error)
            click.echo(printable(message), err=True)
            return code
        return 0


def unexpected(error: Exception) -> tuple[str, int]:
    """What to say of an exception that is not the project's own, and the exit code."""
    if isinstance(error, MemoryError):
        return (
            f"Error: there is not enough memory for this ({error or 'MemoryError'}); score fewer or smaller documents",
            2,
        )
    if isinstance(error, RecursionError):
        return "Error: something in the input is nested too deeply; a few hundred levels can be read", 2
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename is not None else "output: "
        return f"Error: {where}cannot be read or written ({error.strerror})", 2
    name = f"{type(error).__name__}: {error}"
    return f"Internal error: {name}\nSet TALLYSTICK_DEBUG=1 for the traceback; please report it.", 70


def printable(message: str) -> str:
    """A message as the terminal can take it; a name may hold what no encoding has."""
    return message.encode("utf-8", "backslashreplace").decode()


def abandon_output() -> None:
    """What is still in the buffer of standard output goes nowhere, or Python complains at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

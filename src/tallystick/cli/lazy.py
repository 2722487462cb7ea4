"""Groups of commands whose modules are imported only when a command runs, and errors without tracebacks."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from tallystick.errors import TallystickError, did_you_mean


class LazyGroup(click.Group):
    """A group that knows its commands by name, module and one line of help."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, entry[1]) for name, entry in self.lazy.items()]
        rows += [(name, command.get_short_help_str(80)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message.rstrip('.')}.{hint}", ctx) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except TallystickError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(error.exit_code)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone; there is nobody to complain to
            sys.exit(1)
        except (OSError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if os.environ.get("TALLYSTICK_DEBUG"):
                raise
            name = f"{type(error).__name__}: {error}"
            click.echo(f"Internal error: {name}\nSet TALLYSTICK_DEBUG=1 for the traceback; please report it.", err=True)
            sys.exit(70)

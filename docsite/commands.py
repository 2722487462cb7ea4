"""The reference of the command line: every command with its arguments and options, asked of the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import signature

import click

from docsite.prose import quoted
from tallystick.cli.main import LazyGroup, tallystick
from tallystick.tasks.contract import find_task


def commands(*path: str) -> str:
    """A command, or a group and all that is in it. Options that all commands of a group have stand once, at its end."""
    command, context = _find(path)
    if not isinstance(command, click.Group):
        return _command(command, context, ())
    below = [(name, *_find((*path, name))) for name in command.list_commands(context)]
    shared = _shared([one for _, one, _ in below]) if command.__class__ is LazyGroup and command.tasks else {}
    out = [_help(command)]
    if shared:
        out += [
            f"Every `tallystick {' '.join(path)} TASK` has the options of its task, below, and [those of every task](#options-of-every-{path[-1]}).",
        ]
    out += [_entry(name, one, context, tuple(shared)) for name, one, context in below]
    if shared:
        out += [f"### Options of every {path[-1]}", _options(list(shared.values()))]
    return "\n\n".join(out)


def every_option() -> Iterator[tuple[str, click.Option]]:
    """Every option of every command, with the command."""
    for path, command in _walk((), tallystick, click.Context(tallystick, info_name="tallystick")):
        for one in command.params:
            if isinstance(one, click.Option):
                yield " ".join(path), one


def _walk(path: tuple[str, ...], command: click.Command, context: click.Context) -> Iterator[tuple[tuple[str, ...], click.Command]]:  # fmt: skip
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found, below = _find((*path, name))
            yield from _walk((*path, name), found, below)


def _find(path: tuple[str, ...]) -> tuple[click.Command, click.Context]:
    command: click.Command = tallystick
    context = click.Context(command, info_name="tallystick")
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {' '.join(path)}"
        command, context = found, click.Context(found, info_name=name, parent=context)
    return command, context


def _shared(below: list[click.Command]) -> dict[str, click.Option]:
    """The options that all commands have, with the same help."""
    first, *others = [
        {one.opts[0]: one for one in command.params if isinstance(one, click.Option)} for command in below
    ]
    return {
        name: one
        for name, one in first.items()
        if all(name in other and other[name].help == one.help for other in others)
    }


def _entry(name: str, command: click.Command, context: click.Context, apart: tuple[str, ...]) -> str:
    path = context.command_path
    title = f"### `{path}`\n\n"
    about = f"\n\nMore: [{name}]({_page(name)})." if _page(name) else ""
    return title + _command(command, context, apart) + about


def _page(name: str) -> str:
    try:
        return f"{find_task(name).name}.md"
    except Exception:
        return ""


def _command(command: click.Command, context: click.Context, apart: tuple[str, ...]) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    options = [one for one in command.params if isinstance(one, click.Option) and one.opts[0] not in apart]
    return "\n\n".join(part for part in (f"```text\n{usage}\n```", _help(command), _options(options)) if part)


def _help(command: click.Command) -> str:
    """The help as Markdown; what stands after \\b is kept line by line."""
    out = []
    for block in re.split(r"\n\s*\n", re.sub(r"\n +", "\n", (command.help or "").strip())):
        kept = block.removeprefix("\b\n").removeprefix("\x08\n")
        out.append(f"```text\n{kept}\n```" if kept != block else quoted(block))
    return "\n\n".join(out)


def _options(options: list[click.Option]) -> str:
    if not options:
        return ""
    rows = [f"| {_names(one)} | {quoted(one.help or '')}{_default(one)} |" for one in options if one.opts != ["--help"]]
    return "| option | |\n|---|---|\n" + "\n".join(rows)


def _names(one: click.Option) -> str:
    names = ", ".join([*one.opts, *one.secondary_opts])
    takes = "" if one.is_flag else " " + _metavar(one)
    return f"`{names}{takes}`"


def _metavar(option: click.Option) -> str:
    """What an option takes, as its help shows it; click before 8.2 does not ask for a context."""
    context = [click.Context(tallystick)] if signature(option.make_metavar).parameters else []
    return option.make_metavar(*context)


def _default(one: click.Option) -> str:
    if not one.show_default or one.default is None or one.is_flag:
        return ""
    return f" Default: `{one.default}`."

"""Files of `compare` that belong to one system: NAME=FILE, or NAME=FILE1,FILE2,... for its runs.

Most options say how all systems are scored. Some name a file that is a part of one system's output, and `score`, which has one
system, takes it as it stands; a task declares these options as `of_system`. In `compare` every system has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tallystick.errors import MetricError, counted, did_you_mean
from tallystick.tasks.contract import OfSystems, Task, option_of

Run = tuple[str, int]


def for_each_system(option: click.Option) -> click.Option:
    """An option of `score` as `compare` takes it: once for each system."""
    help_ = f"{(option.help or '').rstrip('.')}: for each system its own."
    return click.Option(
        [*option.opts, str(option.name)], multiple=True, metavar="NAME=FILE,...", help=help_, required=option.required
    )


def share_out(task: Task, settings: Any, systems: Mapping[str, Sequence[str]]) -> Any:
    """The settings of a task, with those that belong to one system shared out."""
    own = [one.name for one in task.options("figures") if option_of(one).of_system]
    return replace(
        settings, **{name: OfSystems(_shared_out(name, getattr(settings, name) or (), systems)) for name in own}
    )


def _shared_out(option: str, given: Sequence[str], systems: Mapping[str, Sequence[str]]) -> dict[Run, str]:
    out: dict[Run, str] = {}
    for text in given:
        name, files = _of_which(option, text, systems)
        if len(files) != len(systems[name]):
            raise MetricError(
                f"--{option} {text}: {name} has {counted(len(systems[name]), 'run')}, and here "
                f"{'is' if len(files) == 1 else 'are'} {counted(len(files), 'file')}; expected one for each run"
            )
        if (name, 0) in out:
            raise MetricError(f"--{option} {text}: {name} has one already")
        out |= {(name, k): file for k, file in enumerate(files)}
    return out


def _of_which(option: str, text: str, systems: Mapping[str, Sequence[str]]) -> tuple[str, list[str]]:
    """The system that a file belongs to; with one run in all it need not be said."""
    name, equals, files = text.partition("=")
    if equals and name in systems:
        return name, [files] if Path(files).exists() else files.split(",")
    (first, runs), *more = systems.items()
    if not more and len(runs) == 1 and (not equals or Path(text).exists()):
        return first, [text]
    if equals:
        raise MetricError(f"--{option} {text}: no system is called {name!r}.{did_you_mean(name, systems)}")
    raise MetricError(f"--{option} {text}: say whose file this is, e.g. --{option} {first}={text}")

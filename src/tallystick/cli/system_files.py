"""Files of `compare` that belong to one system: NAME=FILE, or NAME=FILE1,FILE2,... for its runs.

Most options say how all systems are scored. Some name a file that is a part of one system's output, and `score`, which has one
system, takes it as it stands; a task's module lists these options as `OF_ONE_SYSTEM`. In `compare` every system has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tallystick.errors import MetricError, counted, did_you_mean

Run = tuple[str, int]


@dataclass(frozen=True)
class OfSystems:
    """The file of each run that has one."""

    files: Mapping[Run, str]


def for_each_system(option: click.Option) -> click.Option:
    """An option of `score` as `compare` takes it: once for each system."""
    help_ = f"{(option.help or '').rstrip('.')}: for each system its own."
    return click.Option(
        [*option.opts, str(option.name)], multiple=True, metavar="NAME=FILE,...", help=help_, required=option.required
    )


def given_to_systems(
    own: Mapping[str, Any], of_one: Sequence[str], systems: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The options of a task, with those that belong to one system shared out."""
    return {
        name: OfSystems(_shared_out(name, value, systems)) if name in of_one else value for name, value in own.items()
    }


def of_run(own: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The options as one run has them."""
    return {name: value.files.get(run) if isinstance(value, OfSystems) else value for name, value in own.items()}


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

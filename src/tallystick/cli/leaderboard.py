"""`leaderboard TASK REFERENCE SYSTEM...`: a shared task on one page. It is a comparison in which the best system comes first, a system
that cannot be scored has a row that says so, and folders are looked into:

    gold.iob   systems/*             a file for each system
    gold.iob   systems/              the same
    gold/      systems/*             of each system a folder with the files that gold/ has: data sets, and the mean over them
    gold/      systems/*             folders of brat's files: one corpus each
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from tallystick.cli.compare import Entries, comparison_options, named_systems, split_references, systems_command
from tallystick.cli.main import LazyGroup
from tallystick.errors import InputError, MetricError
from tallystick.tasks.contract import Task, find_task


def leaderboard_command(name: str) -> click.Command:
    """`leaderboard TASK`."""
    task = find_task(name)
    return systems_command(
        task,
        partial(find_entries, task),
        partial(_options, task),
        f"A leaderboard of systems on {name}, the best first.\n\n"
        "REFERENCE is a file or a folder. SYSTEM is a file, NAME=FILE, a folder of systems, or a folder with the files that "
        "the folder REFERENCE has. A system that cannot be scored has a row that says so.",
        board=True,
    )


def _options(task: Task, own: Sequence[click.Option]) -> list[click.Parameter]:
    """Those of a comparison; correlations are shown, and there are as many resamples as it takes."""
    out: list[click.Parameter] = []
    for one in comparison_options(task, own):
        if one.name == "correlations":
            one = click.Option(
                ["--correlations/--no-correlations"], default=True, show_default=True, help=getattr(one, "help", "")
            )
        if one.name == "resamples":
            says = "How often documents are drawn.  [default: 10,000, or more if there are many systems]"
            one = click.Option(["--resamples"], type=click.IntRange(1), help=says)
        out.append(one)
    return out


def find_entries(task: Task, reference: str, systems: Sequence[str]) -> Entries:
    """What is scored against what."""
    if not os.path.isdir(reference) or _is_corpus(task, Path(reference)):
        files = named_systems(tuple(_one_by_one(task, reference, systems)))
        return Entries(split_references(reference, files), _by_stem(files), {})
    sets = _visible(Path(reference))
    if not sets:
        raise InputError(
            "is an empty folder; expected a reference, or a folder with one file for each data set", reference
        )
    if len(sets) == 1:
        return find_entries(task, str(sets[0]), systems)
    found, failed = {}, {}
    for folder in _folders(systems, sets):
        there = {one.name: _of_set(folder, one) for one in sets}
        missing = [name for name, file in there.items() if file is None]
        if folder.name in found or folder.name in failed:
            raise MetricError(f"two systems are called {folder.name!r}; give folders of different names")
        if missing:
            failed[folder.name] = f"{folder} has no file for {', '.join(missing)}"
        else:
            found[folder.name] = [str(file) for file in there.values()]
    if not found:
        raise InputError(
            f"holds {', '.join(one.name for one in sets[:3])}{' ...' if len(sets) > 3 else ''}; expected a folder with these files for each "
            "system",
            reference,
        )
    return Entries([("", str(one)) for one in sets], found, failed)


def _is_corpus(task: Task, folder: Path) -> bool:
    """Whether a folder as a whole is what the task reads."""
    return any(next(folder.rglob(f"*{suffix}"), None) is not None for suffix in task.folder_of)


def _visible(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if not one.name.startswith("."))


def _one_by_one(task: Task, reference: str, systems: Sequence[str]) -> list[str]:
    """The systems against one reference: a folder that is not one system's output is a folder of systems."""
    whole = os.path.isdir(reference)
    out: list[str] = []
    for system in systems:
        folder = Path(system)
        if not folder.is_dir() or (whole and _is_like(task, folder, Path(reference))):
            out.append(system)
            continue
        inside = _visible(folder)
        if not inside:
            raise InputError("is an empty folder; expected systems", system)
        same = [one for one in inside if one.name == Path(reference).name]
        if same and not whole:  # systems/A/test.iob against gold/test.iob
            out.append(f"{folder.name}={same[0]}")
        else:
            out += _one_by_one(task, reference, [str(one) for one in inside]) if not whole else map(str, inside)
    return out


def _is_like(task: Task, folder: Path, reference: Path) -> bool:
    """Whether a folder is one system's output: it has a file where the reference has one, or files of the corpus directly in it."""
    suffixes = task.folder_of
    direct = any(one.name.endswith(suffixes) for one in folder.iterdir() if one.is_file())
    return direct or any(
        (folder / one.relative_to(reference)).exists() for suffix in suffixes for one in reference.rglob(f"*{suffix}")
    )


def _folders(systems: Sequence[str], sets: Sequence[Path]) -> list[Path]:
    """The folder of each system, or those inside of a folder that has none of the files itself."""
    out: list[Path] = []
    for system in systems:
        folder = Path(system)
        if not folder.is_dir():
            raise InputError(
                "is not a folder; the reference is one, so that each system needs a folder with the same files", system
            )
        inside = [one for one in _visible(folder) if one.is_dir()]
        out += inside if inside and not any(_of_set(folder, one) for one in sets) else [folder]
    return out


def _of_set(folder: Path, reference: Path) -> Path | None:
    """The file of a data set: of the same name, or, if there is one only, of the same name up to the first dot."""
    if (folder / reference.name).exists():
        return folder / reference.name
    alike = [one for one in _visible(folder) if one.name.partition(".")[0] == reference.name.partition(".")[0]]
    return alike[0] if len(alike) == 1 else None


def _by_stem(files: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Systems that are called after their files without what stands behind the dot, where these names differ."""
    stems = {name: name.partition(".")[0] if name == Path(runs[0]).name else name for name, runs in files.items()}
    often = Counter(stems.values())
    return {stems[name] if stems[name] and often[stems[name]] == 1 else name: runs for name, runs in files.items()}


@click.group(
    cls=LazyGroup,
    tasks=leaderboard_command,
    lazy={"figures": ("tallystick.cli.figures:ranked", "A leaderboard of figures that you already have.")},
)
def leaderboard() -> None:
    """A leaderboard for a shared task: all systems under all metrics, ranks, groups that are not significantly apart, one page.

    \b
    tallystick leaderboard spans gold.iob systems/* --report board.html
    tallystick leaderboard coreference gold/ systems/ --format latex
    tallystick leaderboard figures table.csv --report board.html
    """

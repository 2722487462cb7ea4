"""What the command line knows of a task: all of it stands in the task's module, `cli/<task>.py`, and is read here.

A module needs `score` (its command) and `results` (a system's results, for `compare` and for shards). What else it may have:

    explain              its command                                    MAIN, main_of    the metric of its report, and arrows' base
    BREAKDOWNS           which of --by label and --by field it has      NO_BREAKDOWN     what to use instead of the others
    LABELS, LABEL        where its labels are, the one that is meant    WHOLE_BREAKDOWNS those that shards cannot be added up to
    whole                why it is scored as a whole under some options INPUT            the option that names the format of the files
    survey, surveyed     what all parts tell before any is scored       needs_survey     whether they are asked
    MEANS_NEED_ROWS      if --macro needs the rows of the documents     beside           what stands beside the figures
    results_of_systems   the results of several systems at once         NO_MISSING       why no document can be missing
    OF_ONE_SYSTEM        options that name a part of a system's output  comparison_tables  of its own, below a comparison

What a task does not have is refused, in words. Where documents begin in its files stands in `reading/boundaries.py`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.files.boundaries import Boundaries, Uncut
    from tallystick.results.comparison import Comparison
    from tallystick.results.result import Result
    from tallystick.show.tables import Table

    Results = dict[str, Result]


@dataclass(frozen=True)
class Task:
    """A task by its name and its module."""

    name: str
    module: ModuleType

    def _own(self, name: str, default: Any) -> Any:
        return getattr(self.module, name, default)

    @property
    def score(self) -> click.Command:
        found: click.Command = self.module.score
        return found

    @property
    def explain(self) -> click.Command | None:
        found: click.Command | None = self._own("explain", None)
        return found

    @property
    def results(self) -> Callable[..., Results]:
        """The results of one system."""
        found: Callable[..., Results] = self.module.results
        return found

    @property
    def results_of_systems(self) -> Callable[..., dict[Any, Results]] | None:
        found: Callable[..., dict[Any, Results]] | None = self._own("results_of_systems", None)
        return found

    @cached_property
    def accepted(self) -> frozenset[str]:
        """The options of `score` that choose what is computed: those that `results` takes. Where it takes any, they are those that
        `explain` takes too, or all that are not of every task."""
        taken = inspect.signature(self.results).parameters
        names = set(taken)
        if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
            names |= {one.name or "" for one in (self.explain or self.score).params}
        of_every_task = {"reference", "predicted", "missing", "document", "format_", "worst", "field", "label"}
        if self.explain is None:
            from tallystick.cli.output import Common
            from tallystick.cli.sharded import Engine

            of_every_task |= {one.name for one in (*fields(Common), *fields(Engine))}
        return frozenset(names - of_every_task)

    def main(self, results: Mapping[str, Result]) -> str:
        """The metric that a report is ordered by and that arrows count from; nothing if that is the first."""
        main_of = self._own("main_of", None)
        return str(main_of(results) if main_of is not None else self._own("MAIN", ""))

    # Figures by label and field

    @property
    def labels(self) -> Mapping[str, str]:
        """Where its labels are, by name."""
        found: Mapping[str, str] = self._own("LABELS", {})
        return found

    def label_paths(self, label: str | None) -> tuple[str, ...]:
        """Where the labels that --by label means are."""
        label = label or self._own("LABEL", None)
        return (self.labels[label],) if label in self.labels else tuple(self.labels.values())

    def check_breakdown(self, by: str | None, in_shards: bool = False) -> None:
        """That the task has these figures."""
        if by in (None, "document"):
            return
        if by not in self._own("BREAKDOWNS", ()):
            instead = self._own("NO_BREAKDOWN", {}).get(by, "--by document")
            raise MetricError(f"this task has no figures by {by}; use {instead}")
        if in_shards and by in self._own("WHOLE_BREAKDOWNS", ()):
            raise needs_the_whole(by)

    # In shards

    def check_shards(self, given: Mapping[str, Any]) -> None:
        """That the task can be scored in shards under these options."""
        whole = self._own("whole", None)
        reason = whole(given) if whole is not None else ""
        if reason:
            raise MetricError(
                f"{reason}, so the corpus is scored as a whole; leave --jobs, --scheduler, --state and --shard out"
            )

    def boundaries(self, file: str, given: Mapping[str, Any]) -> Boundaries | Uncut:
        """How a file of the task is cut."""
        from tallystick.files.boundaries import find_boundaries

        return find_boundaries(self.name, file, input=given.get(self._own("INPUT", "input_")))

    @property
    def means_need_rows(self) -> bool:
        """Whether --macro needs the rows of the documents."""
        return bool(self._own("MEANS_NEED_ROWS", False))

    def survey(self, given: Mapping[str, Any]) -> Callable[[str], set[str]] | None:
        """What is asked of all parts before any is scored, if these options need it."""
        needed = self._own("needs_survey", None)
        found: Callable[[str], set[str]] | None = self._own("survey", None)
        return found if needed is None or needed(given) else None

    def surveyed(self, found: set[str], given: Mapping[str, Any]) -> dict[str, Any]:
        """What all parts told, as options of `results`."""
        told: dict[str, Any] = self.module.surveyed(found, given)
        return told

    def beside(self, results: Mapping[str, Result]) -> tuple[dict[str, Any], Callable[[Table], Table] | None]:
        """What stands beside the figures: in JSON, and as columns."""
        beside = self._own("beside", None)
        return beside(results) if beside is not None else ({}, None)

    # In comparisons

    @property
    def of_one_system(self) -> tuple[str, ...]:
        """Options that name a part of a system's output."""
        return tuple(self._own("OF_ONE_SYSTEM", ()))

    @property
    def comparison_tables(self) -> Callable[[Comparison], list[Table]] | None:
        found: Callable[[Comparison], list[Table]] | None = self._own("comparison_tables", None)
        return found

    def takes_missing(self, missing: str) -> bool:
        """Whether `results` is told about documents that a system did not answer; asked for in vain, that is an error."""
        if "missing" in inspect.signature(self.results_of_systems or self.results).parameters:
            return True
        if missing != "error":
            reason = self._own("NO_MISSING", f"{self.name} cannot tell which documents a system did not answer")
            raise MetricError(f"--missing {missing}: {reason}; leave --missing out")
        return False


def needs_the_whole(by: str) -> MetricError:
    """The error about figures that cannot be put together from shards."""
    return MetricError(
        f"the figures by {by} need the whole corpus; leave --by {by} out, or --jobs, --scheduler, --state and --shard"
    )


def task(name: str) -> Task:
    """The task of this name."""
    return Task(name, importlib.import_module(f"tallystick.tasks.{name}.task"))

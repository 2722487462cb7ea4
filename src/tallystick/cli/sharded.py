"""`score` in shards: --jobs, --scheduler, --state, --shard, for every task.

A task needs nothing for it but its `results` function, which `compare` uses too: it is called with a part of each file, in
whatever process, and the tallies are put together. What looks at the whole corpus (lists of errors, a report's alignments)
cannot be had at the same time, and says so. What else a task's module may have stands in `cli/tasks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.tasks import needs_the_whole
from tallystick.errors import InputError, MetricError

if TYPE_CHECKING:
    from tallystick.cli.output import Common
    from tallystick.cli.tasks import Task
    from tallystick.results.accounts import Wants
    from tallystick.results.report import Parts
    from tallystick.run.shards import Finished, Score
    from tallystick.show.tables import Table

UNITS = {"": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "G": 1 << 30, "GB": 1 << 30}


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """A number of bytes, such as 64MB."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        number = value.rstrip("BKMGbkmg")
        unit = UNITS.get(value[len(number) :].upper())
        try:
            size = int(float(number) * unit) if unit is not None else 0
        except (ValueError, OverflowError):
            size = 0
        if size < 1:
            self.fail(f"expected a size such as 500KB or 64MB, found {value!r}", param, ctx)
        return size


@dataclass(frozen=True)
class Engine:
    """How the work is shared out; nothing said, the files are scored as a whole."""

    jobs: int | None = None
    scheduler: str | None = None
    state: str | None = None
    shard: int | None = None

    @property
    def asked(self) -> bool:
        return any(value is not None for value in (self.jobs, self.scheduler, self.state, self.shard))

    def check(self, *files: str | None) -> None:
        """Shards are read from files, each part by itself; standard input is held."""
        from tallystick.files.source import reads_once

        for file in files:
            if file is not None and file != "-" and reads_once(file):
                raise InputError("is a pipe or a device, which cannot be read in shards; give a file, or -", file)

    def run(
        self, score: Score, task: Task, reference: str, predicted: str | None, *, settings: Mapping[str, Any], wants: Wants,
        name_field: str | None = None,
    ) -> Finished:  # fmt: skip
        """Score two files in shards."""
        from contextlib import nullcontext
        from dataclasses import replace

        from tallystick.cli.output import progress, say
        from tallystick.files.boundaries import LINES, Boundaries, name_under
        from tallystick.run.cutting import SHARD
        from tallystick.run.processes import crew
        from tallystick.run.shards import Telling, run_files
        from tallystick.run.state import State

        sides = [task.boundaries(file, settings) for file in (reference, predicted) if file is not None]
        if "-" in (reference, predicted) and len(sides) == 2:  # standard input cannot be looked at first
            seen = sides[1] if reference == "-" else sides[0]
            sides = [seen, seen]
        if name_field is not None:
            sides = [
                replace(one, name=name_under(name_field))
                if isinstance(one, Boundaries) and one.format == LINES.format
                else one
                for one in sides
            ]
        size = self.shard or SHARD
        subject = f"{task.name} {reference} {predicted}"
        key = {**settings, "wants": wants, "shard": size}
        with (
            State(self.state, subject, key, say) if self.state is not None else nullcontext() as state,
            crew(self.jobs, self.scheduler) as executor,
            progress("scoring", unit="bytes") as advance,
        ):
            done = run_files(
                score, reference, predicted, sides[0], sides[-1], executor=executor, state=state, wants=wants, size=size,
                tell=Telling(say, advance),
            )  # fmt: skip
            if state is not None and state.taken:
                say(f"{self.state}: {state.taken:,} of {done.shards:,} shards were known")
        return done


def engine_options() -> list[Callable[[Any], Any]]:
    """The options that every `score` command has for it."""
    return [
        click.option("--jobs", type=click.IntRange(1), metavar="N", help="Score in shards, with N processes; what a killed one lost is done again."),
        click.option("--scheduler", metavar="ADDRESS", help="Score in shards, on the workers of a Dask scheduler."),
        click.option("--state", metavar="DIR", help="Score in shards, and keep those that are finished: a run that was killed goes on where it was."),
        click.option("--shard", type=Size(), metavar="SIZE", help="Score in shards of about this size of REFERENCE, in bounded memory.  [default with the three above: 4MB]"),
    ]  # fmt: skip


def score_in_shards(task: Task, common: Common, engine: Engine, given: dict[str, Any]) -> None:
    """The `score` command of a task, in shards."""
    from tallystick.cli.output import finish, versus
    from tallystick.results.accounts import Wants

    reference, predicted = given.pop("reference"), given.pop("predicted", None)
    label = given.get("label")
    for name in [name for name in given if name not in task.accepted]:
        _refuse_whole(name)
        given.pop(name)
    task.check_shards(given)
    task.check_breakdown(common.by, in_shards=True)
    labels = task.label_paths(label) if common.by == "label" else ()
    wants = Wants(common.wants_rows or (common.macro and task.means_need_rows), common.by == "field", labels)
    survey = task.survey(given)
    if survey is not None:
        given |= task.surveyed(_survey(task, survey, reference, predicted, engine.shard), given)
    score = partial(task.results, **given)
    done = engine.run(score, task, reference, predicted, settings=given, wants=wants)
    tables, extra = _breakdown(done, common)
    more, extend = task.beside(done.results)
    finish(
        done.results, common, tables=tables, extra={**extra, **more}, extend=extend, truncated=given.get("compat") == "reference",
        notes=[f"{done.shards:,} shards {done.how}" if done.shards > 1 else f"scored {done.how}"],
        title=versus(predicted or reference, reference), report=lambda: _report(task, done),
    )  # fmt: skip


NO_ALIGNMENTS = (
    "The corpus was scored in shards, so this page carries no alignments, no kinds of error, and of the breakdowns the one of "
    "--by only. Scored as a whole, without --jobs, --scheduler, --state and --shard, it has what the task has of them."
)


def _report(task: Task, done: Finished) -> Parts:
    """A report without alignments, its documents ordered as the task orders them."""
    from tallystick.results.report import Parts

    return Parts(main=task.main(done.results), absent=NO_ALIGNMENTS)


def _survey(
    task: Task, survey: Callable[[str], set[str]], reference: str, predicted: str | None, size: int | None
) -> set[str]:
    """What all parts of both files have to tell before any is scored."""
    from tallystick.files.boundaries import Boundaries
    from tallystick.files.parts import at_hand, told_error
    from tallystick.run.cutting import SHARD, cut_in_order
    from tallystick.run.shards import CONFIRMED

    found: set[str] = set()
    for file in (reference, predicted):
        if file is None or file == "-":
            raise MetricError(f"{task.name} in shards reads its files twice; give files")
        boundaries = task.boundaries(file, {})
        if not isinstance(boundaries, Boundaries):
            return set()  # it is read as a whole
        for shard in cut_in_order(file, None, boundaries, size=size or SHARD):
            try:
                with at_hand(shard.reference):
                    found |= survey(shard.reference.name)
            except InputError as error:  # noqa: PERF203 - a shard is megabytes
                if shard.position > CONFIRMED:
                    raise told_error(error, shard.reference) from None
                found |= survey(file)  # it may look wrong only because it is a shard; the file has the last word
                break
    return found


def _refuse_whole(name: str) -> None:
    """An option of the command that shows something of the whole corpus."""
    context = click.get_current_context()
    option = next((one for one in context.command.params if one.name == name), None)
    said = context.get_parameter_source(name)
    if option is None or said is None or said.name == "DEFAULT" or name in ("label", "together"):
        return
    raise MetricError(
        f"{max(option.opts, key=len)} looks at the whole corpus; leave it out, or --jobs, --scheduler, --state and --shard"
    )


def _breakdown(done: Finished, common: Common) -> tuple[list[Table], dict[str, Any]]:
    """The figures by label or field that were asked for."""
    from dataclasses import replace

    from tallystick.engine.tally import Labelled
    from tallystick.results import tables as reports

    if common.by not in ("label", "field"):
        return [], {}
    if common.by == "label":
        own = {name: one for name, one in done.results.items() if isinstance(one.kind, Labelled)}
        if own:
            return [reports.labels_table(result, title=name) for name, result in own.items()], {}
    for name, result in done.results.items():
        path = done.labels.get(name)
        if common.by == "label" and path is not None:
            table = replace(reports.labels_table(result, path), title=name)
            return [table], {"labels": [vars(row) for row in result.by_label(path)]}
        if common.by == "field" and (result.is_expression or result.field_sums is not None):
            table = replace(reports.fields_table(result), title=name)
            return [table], {"fields": [vars(row) for row in result.by_field()]}
    raise needs_the_whole(common.by)

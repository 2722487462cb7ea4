"""`score` in shards: --jobs, --scheduler, --state, --shard, for every task.

The task's own `score` is called with a part of each file, in whatever process, and the tallies are put together. What looks at the
whole corpus (lists of errors, a report's alignments) cannot be had at the same time, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from tallystick.cli.options import Common, Engine
from tallystick.cli.output import progress, say
from tallystick.cli.score import Ending, asked_of, finish, versus
from tallystick.errors import InputError, MetricError, counted
from tallystick.frozen import frozen
from tallystick.tasks.contract import Files, Reading, Scored, Shown, Task, flag, needs_the_whole, option_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tallystick.results.accounts import Wants
    from tallystick.run.shards import Finished

T = TypeVar("T")

NO_ALIGNMENTS = (
    "The corpus was scored in shards, so this page carries no alignments, no kinds of error, and of the breakdowns the one of "
    "--by only. Scored as a whole, without --jobs, --scheduler, --state and --shard, it has what the task has of them."
)


@frozen
class ScorePart:
    """What scores a part of two files, in whatever process."""

    task: Task
    metrics: tuple[str, ...]
    settings: Any
    reading: Reading

    def __call__(self, reference: Any, predicted: Any) -> Scored:
        return self.task.score(reference, predicted, self.metrics, self.settings, self.reading)


def score_in_shards(
    task: Task, common: Common, engine: Engine, files: Files, metrics: tuple[str, ...], settings: Any
) -> None:
    """The `score` command of a task, in shards."""
    from tallystick.results.accounts import Wants
    from tallystick.tasks.metric import results_of

    whole = ("save", "baseline", "intervals", "slice", "groups")
    refuse_whole(
        task, settings, {"--errors": common.differences, **{f"--{name}": getattr(common, name) for name in whole}}
    )
    task.check_breakdown(common.by, in_shards=True)
    labels = task.label_paths(common.label) if common.by == "label" else ()
    fields = common.by == "field" or (task.fields_always and common.by != "label")
    rows = common.wants_rows or (common.macro and task.rows_for_means)
    wants = Wants(rows, fields, labels, absent=task.allows_absent(settings))
    with workers_of(task, engine) as executor:
        known = task.look_first(files, settings, partial(_ask_parts, task, settings, engine.shard, executor))
        reading = Reading(part=True, known=known, asked=asked_of(common))
        key = {"metrics": metrics, **asdict(settings), "known": known, "asked": reading.asked}
        score = ScorePart(task, metrics, settings, reading)
        done = run_in_shards(task, engine, score, files, executor, key=key, wants=wants)
    gathered = Scored(None, done.results, extra=done.extra)
    put_together = task.put_together(gathered, files, settings, reading)
    scored, shown = put_together or (gathered, _breakdown(task, done, common))
    scored, read_as = task.read_as(replace(scored, notes=(*scored.notes, how_it_ran(done))), files, settings)
    shown += read_as
    absent = "" if put_together else NO_ALIGNMENTS
    title = versus(files[1], files[0])
    results = results_of(task, scored, settings, title=title, reference=files[0], shown=shown, absent=absent)
    finish(Ending(results, shown, scored.opening, scored.closing), common)


def how_it_ran(done: Finished) -> str:
    """In how many shards the files were scored, and how they were cut."""
    cut = "" if done.how == "in one order" else f" {done.how}"  # the usual way needs no word
    return f"{counted(done.shards, 'shard')}{cut}" if done.shards > 1 or not cut else f"scored{cut}"


def refuse_whole(task: Task, settings: Any, given: Mapping[str, bool]) -> None:
    """Options under which the corpus has to be scored as a whole; `given` says which of every task's were given."""
    own = [one for one in task.options("score") if not option_of(one).in_shards]
    asked = {**given, **{flag(one): getattr(settings, one.name) != one.default for one in own}}
    for name in (name for name, is_given in asked.items() if is_given):
        raise MetricError(
            f"{name} looks at the whole corpus; leave it out, or --jobs, --scheduler, --state and --shard"
        )
    reason = task.whole(settings)
    if reason:
        raise MetricError(
            f"{reason}, so the corpus is scored as a whole; leave --jobs, --scheduler, --state and --shard out"
        )


def run_in_shards(
    task: Task, engine: Engine, score: ScorePart, files: Files, executor: Executor | None, *, key: dict[str, Any],
    wants: Wants,
) -> Finished:  # fmt: skip
    """Score two files in shards."""
    from tallystick.files.boundaries import LINES, Boundaries, name_under
    from tallystick.run.cutting import shard_size
    from tallystick.run.shards import Telling, run_files
    from tallystick.run.state import State

    settings, (reference, predicted) = score.settings, files
    name_field = task.id_field(settings)
    sides = [task.boundaries(file, settings) for file in files if file is not None]
    if "-" in files and len(sides) == 2:  # standard input cannot be looked at first
        seen = sides[1] if reference == "-" else sides[0]
        sides = [seen, seen]
    if name_field is not None:
        sides = [
            replace(one, name=name_under(name_field))
            if isinstance(one, Boundaries) and one.format == LINES.format
            else one
            for one in sides
        ]
    size = engine.shard or shard_size(reference, sides[0], stored=engine.state is not None)
    subject = f"{task.name} {reference} {predicted}"
    known = {**key, "wants": wants, "shard": size}
    with (
        State(engine.state, subject, known, say) if engine.state is not None else nullcontext() as state,
        progress("scoring", unit="bytes") as advance,
    ):
        done = run_files(
            score, reference, predicted, sides[0], sides[-1], executor=executor, state=state, wants=wants, size=size,
            tell=Telling(say, advance),
        )  # fmt: skip
        if state is not None and state.taken:
            say(f"{engine.state}: {state.taken:,} of {done.shards:,} shards were known")
    return done


@contextmanager
def workers_of(task: Task, engine: Engine) -> Iterator[Executor | None]:
    """Who scores; None for this process alone."""
    from tallystick.run.processes import crew

    if engine.jobs is not None and engine.jobs > 1:
        _load_scoring(task)
    with crew(engine.jobs, engine.scheduler) as executor:
        yield executor


def _load_scoring(task: Task) -> None:
    """Load what scores before workers are forked, once instead of in each of them."""
    package = type(task).__module__.rpartition(".")[0]
    if package.startswith("tallystick.tasks."):
        for module in ("metrics", "score"):
            if find_spec(f"{package}.{module}") is not None:
                import_module(f"{package}.{module}")
        import_module("tallystick.results.evaluation")


def _ask_parts(
    task: Task, settings: Any, size: int | None, executor: Executor | None, question: Callable[[Any], T],
    files: Sequence[str | None],
) -> list[T]:  # fmt: skip
    """What all parts of some files answer, in order, before any is scored; nothing if one of them is read as a whole."""
    from tallystick.engine.windows import in_order
    from tallystick.files.boundaries import Boundaries
    from tallystick.run.cutting import cut_in_order, shard_size, size_of
    from tallystick.run.shards import CONFIRMED

    found: list[T] = []
    for file in files:
        if file is None or file == "-":
            raise MetricError(f"{task.name} in shards reads its files twice; give files")
        boundaries = task.boundaries(file, settings)
        if not isinstance(boundaries, Boundaries):
            return []
        shards = cut_in_order(file, None, boundaries, size=size or shard_size(file, boundaries))
        parts = (shard.reference for shard in shards)
        try:
            found += [answer for _, answer in in_order(executor, question, parts)]
        except InputError:
            if size_of(file) > CONFIRMED:
                raise
            found.append(question(file))  # it may look wrong only because it is a shard; the file has the last word
    return found


def _breakdown(task: Task, done: Finished, common: Common) -> Shown:
    """The figures by label or field that were asked for."""
    from tallystick.engine.tally import Labelled
    from tallystick.results.results import called_by, fields_of, labels_of

    if common.by not in ("label", "field"):
        return Shown()
    if common.by == "label":
        own: dict[str, str | None] = {n: None for n, one in done.results.items() if isinstance(one.kind, Labelled)}
        paths = own or {name: path for name in done.results if (path := done.labels.get(name)) is not None}
        if paths:
            return Shown(*labels_of(done.results, paths, called_by(task.labels)))
    else:
        able = {n: one for n, one in done.results.items() if one.is_expression or one.field_sums is not None}
        if able:
            return Shown(*fields_of(able))
    raise needs_the_whole(common.by)

"""`score TASK` and `explain TASK`, made from a task's declaration.

A `score` command reads the files, scores them (as a whole, or in shards), and ends in `finish`: the figures and the
task's own tables in the chosen format, what is to be said about them on standard error, the report and the gates.

In shards (--jobs, --scheduler, --state, --shard) the task's own `score` is called with a part of each file, in whatever process, and the tallies are put together. What looks at the
whole corpus (lists of errors, a report's alignments) cannot be had at the same time, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tallystick.cli.gates import look_at_gates, pass_gates
from tallystick.cli.main import chosen_format, printable, progress, save_picture, say, show_explanation, show_tables
from tallystick.cli.options import (
    FILE,
    Common,
    Engine,
    Layout,
    TaskCommand,
    check_before,
    common_options,
    file_arguments,
    groups_given,
    metric_option,
    refuse_without_effect,
    settings_of,
    take,
    task_options,
    training_of,
)
from tallystick.errors import InputError, MetricError, counted
from tallystick.frozen import frozen
from tallystick.show.tables import choose_columns
from tallystick.tasks.contract import (
    Asked,
    Files,
    Reading,
    Scored,
    Shown,
    Task,
    Wish,
    find_task,
    flag,
    needs_the_whole,
    option_of,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tallystick.results.accounts import Wants
    from tallystick.results.results import Results
    from tallystick.run.cutting import Cuts
    from tallystick.run.shards import Finished
    from tallystick.show.tables import Table

T = TypeVar("T")


def score_command(name: str) -> click.Command:
    """`score TASK`."""
    task = find_task(name)

    def run(**given: Any) -> None:
        common, engine = with_layout(take(Common, given), given), take(Engine, given)
        files = given.pop("reference"), given.pop("predicted", None)
        together, metrics = given.pop("together", False), tuple(given.pop("metrics", ()))
        settings = settings_of(task, given)
        groups_given(common.groups, common.drawn, settings)
        train = training_of(common.training, settings, common.by)
        if common.gated:
            look_at_gates(common, task)  # report a misspelt gate before the work, not after it
        refuse_without_effect(task, common, settings)
        check_before(read=files[1])
        if task.together and together == (files[1] is not None):
            raise MetricError("give PREDICTED, or --together if REFERENCE holds both columns")
        task.check(metrics, settings)
        task.check_output(settings, _given_options(common))
        if common.differences and (reason := task.without_errors(settings)):
            raise MetricError(f"--errors: {reason}")
        described = task.describe(*files, settings)
        if described is not None:
            _show_description(*described, common)
        elif engine.asked:
            engine.check(*files)
            score_in_shards(task, common, engine, files, metrics, settings)
        else:
            score_whole(task, common, files, metrics, settings, train)

    params = [
        *file_arguments(task), *metric_option(task), *task_options(task, "figures"), *common_options(task), *task_options(task, "score"),
    ]  # fmt: skip
    return TaskCommand.of(task, callback=run, params=params, help=task.help or task.summary)


def with_layout(common: Common, given: dict[str, Any]) -> Common:
    """What is shown, with how its tables are written; a task's own --digits, which stays among its settings, is heeded too."""
    layout = Layout(
        given.pop("columns"), given.get("digits"), given.pop("percent"), given.pop("uncertainty"), given.pop("caption")
    )
    seqeval = given.get("seqeval") and layout.digits is not None  # whose decimals they are
    (replace(layout, digits=None) if seqeval else layout).check(chosen_format(common.format_))
    return replace(common, layout=layout, intervals=common.intervals or layout.uncertainty in ("pm", "interval"))


def _given_options(common: Common) -> dict[str, bool]:
    """Which of the options of every task were given, by name."""
    return {
        "--format": common.format_ is not None, "--undefined": common.undefined is not None, "--macro": common.macro,
        "--by document": common.by == "document", "--by label": common.by == "label", "--label": common.label is not None,
        "--tallies": common.tallies is not None, "--report": common.report is not None, "--fail-under": bool(common.fail_under),
    }  # fmt: skip


def _show_description(shown: Shown, lines: Sequence[str], common: Common) -> None:
    *before, last = lines
    for line in before:
        say(line)
    show_tables(shown.tables, None if common.format_ == "json" else common.format_)
    say(last)


def asked_of(common: Common, advance: Callable[[int, int], None] | None = None, train: Any = None) -> Asked:
    """What a task is asked for beside its figures."""
    return Asked(
        common.by, common.label, common.limit, chosen_format(common.format_), bool(common.report),
        common.report_documents if common.report else 0, common.wants_rows, common.policy(), common.undefined is not None, advance,
        by_document=common.wants_parts, train=train, texts=train is not None or common.slice is not None, errors=common.differences,
    )  # fmt: skip


def score_whole(
    task: Task, common: Common, files: tuple[str, str | None], metrics: tuple[str, ...], settings: Any, train: Any = None
) -> None:  # fmt: skip
    """Score two files at once."""
    from tallystick.tasks.metric import results_of

    with progress("scoring", unit="bytes") as advance:
        scored, shown = task.run(*files, metrics, settings, asked_of(common, advance, train))
    title = versus(files[1], files[0])
    results = results_of(task, scored, settings, title=title, reference=files[0], shown=shown, rows=common.limit)
    finish(Ending(results, shown, scored.opening, scored.closing, task.printer(scored, settings), train), common)


def explain_command(name: str) -> click.Command:
    """`explain TASK`."""
    task = find_task(name)
    formats = ["tree", "json", "table", "tsv"]

    def run(reference: str, predicted: str, format_: str | None, **given: Any) -> None:
        given.pop("together", None)
        check_before(read=predicted)
        wish = Wish(
            given.pop("metric", None) if task.named_metrics else None,
            given.pop("document"),
            given.pop("worst"),
            given.pop("field", None),
        )
        show_documents(task, (reference, predicted), settings_of(task, given), wish, format_)

    params = [
        *file_arguments(task), *task_options(task, "figures"), *task_options(task, "explain"),
        *([click.Option(["--metric"], metavar="NAME", help="The metric to explain.  [default: the first]")] if task.named_metrics else []),
        click.Option(["--document"], metavar="ID", help=f"Which {task.unit}: its id, or its number if there are no ids.  [default: the worst]"),
        click.Option(["--worst"], type=click.IntRange(1), metavar="N", help=f"The N worst {task.unit}s."),
        *([click.Option(["--field"], metavar="PATH", help="Only one field, e.g. lines[*].price, in the documents that lose most there.")]
          if "field" in task.breakdowns else []),
        click.Option(["--format", "format_"], type=click.Choice(formats), help="Default: tree; with --worst or --field a table of the differences."),
    ]  # fmt: skip
    return TaskCommand(
        name,
        callback=run,
        params=params,
        help=f"Show what was matched with what in a {task.unit}. The weights of the tree add up to its score.",
    )


def show_documents(task: Task, files: tuple[str, str | None], settings: Any, wish: Wish, format_: str | None) -> None:
    """Some documents as trees, or as tables of what differs."""
    from tallystick.results.documents import at_field, differences

    found = task.explain(*files, settings, wish)
    for line in (*found.opening, *(f"Warning: {warning}" for warning in found.warnings)):
        say(line)
    if not found.documents:
        if wish.document is not None:
            raise MetricError(f"no {task.unit} {wish.document!r}; there are {found.count:,}.")
        say(f"nothing is wrong in {found.count:,} documents" + (f" at {wish.field}" if wish.field else ""))
        return
    several = wish.worst is not None or wish.field is not None
    if (several and format_ != "tree") or format_ in ("table", "tsv"):
        from tallystick.results.documents import differences_as_json, differences_tables

        if format_ == "json":
            from tallystick.files.writing import to_json

            click.echo(to_json(differences_as_json(found.documents, wish.field)))
            return
        as_table = chosen_format(format_) == "table"
        show_tables(differences_tables(found.documents, wish.field, as_table), format_)
        if not any(
            at_field(differences(tree), wish.field) if wish.field else differences(tree)
            for _, _, tree in found.documents
        ):
            say("nothing differs")
        return
    if wish.document is None:
        by = f" by {found.by}" if found.by else ""
        first = found.documents[0][0]
        say(f"{task.unit} {first}, the worst of {found.count:,}{by}")
    for key, _, tree in found.documents:
        show_explanation(tree, f"{task.unit} {key}", format_)


# `suggest TASK`


def suggest_command(name: str) -> click.Command:
    """`suggest TASK`, with the options of the task that change figures."""
    task = find_task(name)

    def run(reference: str, predicted: str, format_: str, output: str | None, **given: Any) -> None:
        from tallystick.files.writing import to_json, write_atomically
        from tallystick.tasks.suggest import try_choices

        settings = settings_of(task, given)
        check_before(read=predicted)
        task.check((), settings)
        found = try_choices(task, reference, predicted, settings)
        for warning in found.warnings:
            say(f"Warning: {warning}")
        if output is not None:
            write_atomically(output, found.to_yaml())
            say(f"wrote {output}; read it, and give it as --choices {output}")
        if format_ == "json":
            click.echo(to_json(found.as_dict()))
        elif format_ == "table":
            show_tables([found.table()], "table")
        elif output is None:
            click.echo(found.to_yaml(), nl=False)

    params = [
        *file_arguments(task), *task_options(task, "figures"),
        click.Option(["--output"], type=FILE, metavar="FILE", help="Write the choices to a YAML file, with what each line would change above it."),
        click.Option(["--format", "format_"], type=click.Choice(["yaml", "table", "json"]), default="yaml", show_default=True, help="How the suggestions are written."),
    ]  # fmt: skip
    return TaskCommand(
        name, callback=run, params=params, help="Try choices that would forgive errors; nothing is applied."
    )


# The end of every `score` command


@frozen
class Ending:
    """What a `score` command has in the end: results, and what is shown and printed beside them."""

    results: Results
    shown: Shown = Shown()
    opening: Sequence[str] = ()
    closing: Sequence[str] = ()
    print: Callable[[], str] | None = None
    """What is printed instead of the figures."""
    train: Any = None
    """The training data that figures by `seen` and `frequency` are about."""


def finish(ending: Ending, common: Common) -> None:
    """The files first, so that a reader that leaves early (`| head`) does not cost them; then the figures and the task's own tables
    in the chosen format, what is to be said about them, and the gates."""
    from tallystick.results.result import interval_line

    for line in ending.opening:
        say(line)
    results, shown = _as_asked(ending, common)
    errors = list(results.errors(common.limit)) if common.differences else []
    written = write_files(results, shown, common)
    against = results.against(common.baseline, resamples=common.resamples) if common.baseline else None
    slices = results.slices(common.slice, resamples=common.resamples) if common.slice else None
    as_json = ending.print is None and chosen_format(common.format_) == "json"
    if ending.print is not None:
        click.echo(ending.print())
        show_tables([*shown.tables, *errors], None)
    elif as_json:
        extra = {} if against is None else {"baseline": against.as_dict()}
        extra |= {} if slices is None else {"slices": slices.as_dict()}
        _echo_json(results, common, {**extra, **_with_intervals(results, shown, common, ending.train)[1]})
    else:
        _show_figures(results, shown, common, ending.train, (*(slices or ()), *errors))
    if not as_json:
        for line in results.remarks:
            say(line)
        if common.intervals:
            say(f"intervals: {interval_line(list(results.values()), resamples=common.resamples)}")
    for line in (*written, *ending.closing, *((*against.notes, against.summary) if against is not None else ())):
        say(line)
    if common.gated:
        pass_gates(results, common, against)


def _as_asked(ending: Ending, common: Common) -> tuple[Results, Shown]:
    """The results of one document or of all, with the policy for 0/0 and the groups that were asked for."""
    results, shown = ending.results, ending.shown
    if common.document is not None:
        results, shown = results.only(common.document), Shown()
    if common.undefined is not None:
        results = results.changed(undefined=common.policy())
    if common.groups is not None:
        results = results.grouped(common.groups)
    return results, shown


def _show_figures(results: Results, shown: Shown, common: Common, train: Any, below: Sequence[Table]) -> None:
    """The figures, those by document, the task's own tables, and what stands below them."""
    documents = results.by("document", rows=common.limit) if common.by == "document" else ()
    figures = [results.table(macro=common.macro), *shown.tables]
    figures = _with_intervals(results, Shown(figures, shown.json), common, train)[0] or figures
    chosen = choose_columns([figures[0], *documents, *figures[1:], *below], common.layout.columns)
    show_tables(chosen, common.format_, results.signatures, results.comments, common.layout.style)
    say(results.said)
    for line in results.left_out if common.macro else ():
        say(line)


def _with_intervals(results: Results, shown: Shown, common: Common, train: Any) -> tuple[list[Table], dict[str, Any]]:
    """Tables with intervals and the same as JSON, if they are asked for."""
    if not common.intervals:
        return [], {}
    from tallystick.results.parts import with_intervals

    by = common.by if common.by not in (None, "document") else "field" if "fields" in shown.json else None
    return with_intervals(results, shown.tables, shown.json, by, common.label, train, common.resamples)


def _echo_json(results: Results, common: Common, extra: dict[str, Any]) -> None:
    from tallystick.engine.tally import Labelled

    if common.differences:
        extra["errors"] = results.background.errors_as_dict(results, common.limit)
    if common.by == "document":
        extra["documents_by_id"] = {name: by_text(result.documents) for name, result in results.items()}
    if common.macro and any(
        isinstance(result.kind, Labelled) for result in results.values()
    ):  # whose macro is over labels
        extra["over_documents"] = {name: result.over_documents for name, result in results.items()}
    click.echo(results.to_json(extra=extra))


def by_text(documents: Mapping[Any, Any]) -> dict[str, Any]:
    """Documents under their ids as text, which is all that a key of JSON can be. Ids that would be one text, such as 1 and "1",
    are written as JSON, so that "1" keeps its quotation marks."""
    import json
    from collections import Counter

    texts = Counter(map(str, documents))
    return {
        str(key) if texts[str(key)] == 1 else json.dumps(key, ensure_ascii=False, default=str): found
        for key, found in documents.items()
    }


def versus(predicted: str | None, reference: str) -> str:
    """The title of a report: the files by their names."""
    if predicted is None:
        return printable(Path(reference).name)
    return printable(f"{Path(predicted).name} against {Path(reference).name}")


def write_files(results: Results, shown: Shown, common: Common) -> list[str]:
    """The report and the tallies, and what is to be said about them."""
    lines = []
    if common.report:
        parts = results.report_parts(
            common.report, documents=common.report_documents, tables=shown.tables, resamples=common.resamples
        )
        lines.append(f"report: {common.report}")
        if parts.absent:
            lines.append("the report has no alignments and no tables of its own: they need the whole corpus at hand")
    if common.picture:
        lines += save_picture(results.plot(), common.picture)
    if common.tallies:
        results.to_parquet(common.tallies)
        lines.append(f"tallies: {common.tallies}")
    if common.save:
        results.save(common.save)
        lines.append(f"saved: {common.save}")
    return lines


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
        cuts: Cuts = {}
        known = task.look_first(files, settings, partial(_ask_parts, task, settings, engine.shard, executor, cuts))
        asked = asked_of(common)
        reading = Reading(part=True, known=known, asked=asked)
        key = {"metrics": metrics, **asdict(settings), "known": known, "asked": asked}
        score = ScorePart(task, metrics, settings, reading)
        done = run_in_shards(task, engine, score, files, executor, key=key, wants=wants, cuts=cuts)
        done = replace(done, results=asked.decided(done.results))
    gathered = Scored(None, done.results, extra=done.extra, unanswered=done.unanswered)
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
    wants: Wants, cuts: Cuts,
) -> Finished:  # fmt: skip
    """Score two files in shards; `cuts` are those of before."""
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
            replace(one, name=name_under(name_field), mixed=True)
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
            tell=Telling(say, advance), known=cuts,
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
    task: Task, settings: Any, size: int | None, executor: Executor | None, cuts: Cuts, question: Callable[[Any], T],
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
        shards = cut_in_order(file, None, boundaries, size=size or shard_size(file, boundaries), known=cuts)
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

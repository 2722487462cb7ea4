"""`compare TASK REFERENCE SYSTEM...`: several systems, or several runs of each, under a task's metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.main import LazyGroup, chosen_format, formats, printable, save_picture, say, show_tables
from tallystick.cli.options import (
    FILE,
    PICTURE,
    Layout,
    TaskCommand,
    check_before,
    drawing_options,
    file_arguments,
    groups_given,
    label_option,
    layout_options,
    metric_option,
    refuse_overwriting,
    settings_of,
    take,
    task_options,
    train_option,
    training_of,
)
from tallystick.errors import MetricError, SidesMismatch, TallystickError, counted, did_you_mean, some
from tallystick.frozen import frozen
from tallystick.show.tables import WRITERS, Table, choose
from tallystick.tasks.contract import OfSystems, Reading, Task, find_task, of_run, option_of

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.comparison import Comparison
    from tallystick.results.parts import PartComparisons
    from tallystick.results.result import Result
    from tallystick.results.results import Results


@frozen
class Entries:
    """The references, the files of each system in their order, and the systems whose files are not all there."""

    references: Sequence[Reference]
    files: Mapping[str, list[str]]
    failed: Mapping[str, str] = field(default_factory=dict)


def systems_command(
    task: Task,
    find: Callable[[str, tuple[str, ...]], Entries],
    options: Callable[[Sequence[click.Option]], Sequence[click.Parameter]],
    help: str,
    board: bool = False,
) -> click.Command:
    """A command about several systems of a task, with the options of the task that change figures: `find` says which files are
    compared, and `options` has those of the comparison, given the task's."""
    own = system_options(task)

    def run(reference: str, systems: tuple[str, ...], **given: Any) -> None:
        metrics, layout = tuple(given.pop("metrics", ())), take(Layout, given)
        layout.check(chosen_format(given["format_"]))
        settings = settings_of(task, given)
        check_before()
        entries = find(reference, systems)
        if given["resamples"] is None:
            given["resamples"] = enough_resamples(len(entries.files), given["level"])
        run_comparison(task, entries, metrics, settings, ComparisonOptions(**given, layout=layout, board=board))
        if entries.failed:
            say(f"{len(entries.failed)} of {len(entries.failed) + len(entries.files)} systems have no files to score")

    params = [*file_arguments(task, systems=True), *metric_option(task), *own, *options(own)]
    return TaskCommand.of(task, callback=run, params=params, help=help)


def compare_command(name: str) -> click.Command:
    """`compare TASK`."""
    task = find_task(name)

    def find(reference: str, systems: tuple[str, ...]) -> Entries:
        files = named_systems(systems)
        return Entries(split_references(reference, files), files)

    return systems_command(
        task,
        find,
        lambda own: [*breakdown_options(task), *comparison_options(task, own)],
        f"Compare systems on {name}.\n\n"
        "SYSTEM is a file, NAME=FILE, or NAME=FILE1,FILE2,... for several runs (seeds). With as many references "
        "(REFERENCE1,REFERENCE2,... or NAME=REFERENCE1,...) as runs, run k is scored against reference k: data sets or splits, whose "
        "figures are averaged, and whose tests are stratified.",
    )


def enough_resamples(systems: int, level: float) -> int:
    """As many as the smallest p needs to survive Holm's correction over all pairs of systems, and three times as many, so that it is not
    near the level either."""
    from tallystick.results.result import RESAMPLES

    pairs = systems * (systems - 1) // 2
    needed = 3 * pairs / (1 - level)
    return max(RESAMPLES, 10_000 * -int(-needed // 10_000))


def system_options(task: Task) -> list[click.Option]:
    """The options of the task that change figures; those that belong to one system take a file of each."""
    kinds = {one.name: option_of(one) for one in task.options("figures")}
    found = [for_each_system(one) if kinds[str(one.name)].of_system else one for one in task_options(task, "figures")]
    if not task.without_missing:
        found = [_for_all_systems(one) if one.name == "missing" else one for one in found]
    return found if task.named_metrics else [_for_each_metric(one) if one.name == "metric" else one for one in found]


def _for_all_systems(option: click.Option) -> click.Option:
    """What becomes of documents that a system did not answer: of several systems they can be left out for all, too."""
    help_ = "Documents that a system did not answer: an error, counted as empty answers, or left out for all systems. Needs document ids in all files."
    known = click.Choice(["error", "empty", "intersect"])
    return click.Option([*option.opts, "missing"], type=known, default="error", show_default=True, help=help_)


def _for_each_metric(option: click.Option) -> click.Option:
    """The expression that a task without named metrics takes, as a comparison takes it: several, by name."""
    help_ = f"{(option.help or '').rstrip('.')}; may be repeated, as NAME=EXPRESSION, to compare metrics."
    return click.Option([*option.opts, "metric"], multiple=True, metavar="[NAME=]EXPRESSION", help=help_)


NAMED_METRIC = re.compile(r"\s*([^\W\d][\w-]*)\s*=(.+)", re.DOTALL)


def each_metric(task: Task, settings: Any) -> dict[str, Any]:
    """By name the settings of each expression that was given; a single one without a name is called as the task calls it."""
    given = () if task.named_metrics else settings.metric
    if task.named_metrics or not isinstance(given, tuple):
        return {"": settings}
    if not given:
        return {"": replace(settings, metric=None)}
    named = [NAMED_METRIC.fullmatch(one) for one in given]
    if len(given) == 1 and named[0] is None:
        return {"": replace(settings, metric=given[0])}
    out: dict[str, Any] = {}
    for one, found in zip(given, named, strict=True):
        name, text = (found[1], found[2]) if found else (one, one)
        if name in out:
            raise MetricError(f"--metric: {name!r} is given twice; names must be unique")
        out[name] = replace(settings, metric=text)
    return out


@frozen
class ComparisonOptions:
    """What every comparison can be told."""

    resamples: int
    seed: int
    level: float
    interval: str
    test: str | None
    macro: bool
    base: str | None
    ties: str
    correlations: bool
    differences: bool
    format_: str | None
    report: str | None
    picture: str | None
    slice: str | None = None
    rows: int | None = None
    by: str | None = None
    label: str | None = None
    training: tuple[str, ...] = ()
    drawn: str | None = None
    groups: str | None = None
    layout: Layout = Layout()
    board: bool = False
    """Whether it is a leaderboard: the best system comes first, and one that cannot be scored does not sink the others."""

    def check(self) -> None:
        """Refuse what would have no effect."""
        if self.label is not None and self.by != "label":
            raise MetricError("--label says which label --by label is about; give both")
        if self.by and self.slice:
            raise MetricError("--by and --slice cannot be combined")
        if self.rows is not None and not (self.by or self.slice):
            raise MetricError("--rows says how many documents that got worse --by or --slice shows; give both")


def breakdown_options(task: Task) -> list[click.Option]:
    """What a comparison can be broken down by, if the task has any of it."""
    known = [*task.breakdowns, *task.all_attributes, *task.also_by]
    by = [
        click.Option(["--by"], type=click.Choice(known),
                     help=f"Also compare by {' or '.join(known)}: figures with intervals, differences with corrected p, documents won and lost, and documents that got worse."),
        *label_option(task),
        *train_option(task),
    ]  # fmt: skip
    return [
        *(by if known else []),
        click.Option(["--slice"], metavar="FIELD|FILE:COLUMN", help="The same for groups of documents: by a field of the reference, or by a column of a file with document ids."),
        click.Option(["--rows"], type=click.IntRange(0), metavar="N", help="How many of the documents that got worse to list.  [default: 10]"),
    ]  # fmt: skip


def comparison_options(task: Task, own: Sequence[click.Option] = ()) -> list[click.Parameter]:
    """What every comparison can be told, beside a task's own options."""
    return [
        *drawing_options(task),
        click.Option(["--seed"], type=click.IntRange(0), default=0, show_default=True, help="The random seed; part of the signature."),
        click.Option(
            ["--level"], type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
            help="The confidence level of intervals; differences are significant if p ≤ 1 - level.",
        ),
        click.Option(["--interval"], type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True, help="How intervals are computed from the resamples."),
        click.Option(["--test"], type=click.Choice(["bootstrap", "randomisation"]),
                     help="The test between two systems. Default: randomisation with fewer than 100 documents, else bootstrap."),
        click.Option(["--macro"], is_flag=True, help="Compare means over documents instead of figures of the corpus."),
        base_option([name for one in own for name in one.opts]),
        ties_option(),
        click.Option(["--correlations"], is_flag=True, help="Also print how far the metrics agree about the order of the systems."),
        click.Option(["--differences"], is_flag=True, help="Also print every pair of systems: difference, interval, p."),
        click.Option(["--format", "format_"], type=click.Choice(formats()), help="Default: table on a terminal, else tsv."),
        *layout_options(columns="metrics", ranks=True),
        *page_options(),
    ]  # fmt: skip


FIELDS_OF = 20_000
"""Of so many documents a page has the fields without being asked for them."""


def run_comparison(
    task: Task, entries: Entries, metrics: tuple[str, ...], settings: Any, options: ComparisonOptions
) -> None:
    """Score every system, then lay them side by side."""
    from tallystick.results.parts import compare_by

    references, files = entries.references, entries.files
    options.check()
    groups = groups_given(options.groups, options.drawn, settings)
    train = training_of(options.training, settings, options.by)
    each = each_metric(task, settings)
    for one in each.values():
        task.check(metrics, one)
    texts = train is not None or options.slice is not None or options.by in task.attributes
    reading = Reading(texts=texts, training=train is not None)
    score = partial(score_metrics, task, references, metrics=metrics, each=each, reading=reading)
    failed = dict(entries.failed)
    if options.board:
        found = score_each(score, files)
        (scored, notes), failed = found.scored, {**failed, **found.failed}
        scored = best_first(scored, _base(task, scored, options.base))
    else:
        scored, notes = score(files)
    if options.macro:
        from tallystick.results.selection import mean_over_documents

        scored = {name: [_changed(run, mean_over_documents) for run in runs] for name, runs in scored.items()}
    comparison = compared(
        scored, notes, resamples=options.resamples, seed=options.seed, level=options.level, method=options.interval,
        test=options.test, ties=options.ties, splits=_split_names(references), base=_base(task, scored, options.base),
        groups=groups,
    )  # fmt: skip
    comparison = replace(comparison, failed=failed)
    idle = _idle(comparison, options.correlations and not options.board, options.differences)
    comparison = replace(comparison, notes=(*comparison.notes, *idle))
    by = compare_by(comparison, options.by, options.label, options.rows, train) if options.by else None
    by = compare_by(comparison, "slice", options.slice, options.rows) if options.slice else by
    shown = None
    few = next(iter(scored.values()))[0].count <= FIELDS_OF
    if (
        options.report
        and by is None
        and task.fields_always
        and few
        and len(comparison.systems) > 1
        and not options.macro
    ):
        shown = compare_by(comparison, "field")
    title = f"{counted(len(comparison.systems), 'system')} on {task.name}, {_shown(references)}"
    if options.board:
        title = f"Leaderboard: {task.name}, {_shown(references)}"
    show_comparisons(
        [comparison],
        Showing(
            options.correlations, options.differences, options.format_, options.report, options.picture, layout=options.layout,
            title=title, own_tables=task.comparison_tables, by=by, parts=shown, board=options.board,
        ),
    )  # fmt: skip
    if chosen_format(options.format_) in ("tsv", "csv"):  # which hold figures alone
        for system, reason in failed.items():
            say(f"{system} was not scored: {reason}")


def _idle(comparison: Comparison, correlations: bool, differences: bool) -> list[str]:
    """What was asked for and cannot be had."""
    said = []
    if correlations and len(comparison.metrics) < 2:
        said.append("--correlations needs at least two metrics (--metric)")
    if differences and not comparison.differences:
        said.append("--differences needs at least two systems")
    return said


def score_metrics(
    task: Task, references: Sequence[Reference], files: Mapping[str, list[str]], metrics: tuple[str, ...],
    each: Mapping[str, Any], reading: Reading,
) -> tuple[dict[str, list[Results]], list[str]]:  # fmt: skip
    """The same under the settings of each of several expressions, by their names."""
    from tallystick.results.results import Results

    found = {
        name: score_systems(task, references, files, metrics, share_out(task, settings, files), reading)
        for name, settings in each.items()
    }
    scored, notes = next(iter(found.values()))
    if list(found) == [""]:
        return scored, notes
    return {
        system: [
            Results({name: next(iter(one[system][k].values())) for name, (one, _) in found.items()}, run.background)
            for k, run in enumerate(runs)
        ]
        for system, runs in scored.items()
    }, notes


def score_systems(
    task: Task, references: Sequence[Reference], files: Mapping[str, list[str]], metrics: tuple[str, ...], settings: Any,
    reading: Reading | None = None,
) -> tuple[dict[str, list[Results]], list[str]]:  # fmt: skip
    """The results of every run of every system, and what is to be said about documents that were not answered."""
    runs = {(name, k): file for name, found in files.items() for k, file in enumerate(found)}
    absent = {run: task.missing(settings, comparison=True) for run in runs}
    results: dict[tuple[str, int], Results] = {}
    for k, (_, against) in enumerate(references):
        there = {run: file for run, file in runs.items() if len(references) == 1 or run[1] == k}
        found = _score_against(task, against, there, metrics, settings, absent, reading or Reading())
        _require_same_documents(found, files)
        results |= found
    if any(one.policy == "intersect" for one in absent.values()):
        results = _answered_by_all(results, absent, len(references) > 1)
    notes = [f"Warning: {_run_name(run, files)}: {note}" for run, found in absent.items() for note in found.notes()]
    return {name: [results[name, k] for k in range(len(found))] for name, found in files.items()}, notes


def _score_against(
    task: Task, reference: str, runs: Mapping[tuple[str, int], str], metrics: tuple[str, ...], settings: Any,
    absent: Mapping[tuple[str, int], Missing], reading: Reading,
) -> dict[tuple[str, int], Results]:  # fmt: skip
    from tallystick.files.source import Source
    from tallystick.tasks.metric import results_of

    readings = {run: replace(reading, missing=absent[run]) for run in runs}
    # a reference from standard input or a pipe is read for each system, and kept by its source
    source = Source.of(reference)
    systems = task.score_systems(source, runs, metrics, settings, readings)
    scored = {run: task.with_lookalikes(one, settings) for run, one in systems.items()}
    for line in dict.fromkeys(line for one in scored.values() for line in one.opening):
        say(line)
    return {run: results_of(task, one, of_run(settings, run), reference=source) for run, one in scored.items()}


def _require_same_documents(scored: Mapping[tuple[str, int], Results], files: Mapping[str, list[str]]) -> None:
    """Runs against one reference are compared document by document, so all of them have to be paired with it alike."""
    (first, ours), *others = ((_run_name(run, files), one) for run, one in scored.items())
    for name, theirs in others:
        for mine, its in zip(ours.values(), theirs.values(), strict=False):
            if mine.ids != its.ids:
                known = [set(one.ids) for one in (its, mine)]
                only = [
                    [key for key in one.ids if key not in other] for one, other in zip((mine, its), known, strict=True)
                ]
                listed = "; ".join(
                    f"only {run} has {some(ids)}" for run, ids in zip((first, name), only, strict=True) if ids
                )
                raise SidesMismatch(
                    f"{first} and {name} are over different documents{'; ' + listed if listed else ', or in another order'}; "
                    "systems are compared document by document, so all of them have to be paired with the reference alike, "
                    "by its ids or by order"
                )  # fmt: skip


def _answered_by_all(
    results: dict[tuple[str, int], Results], absent: Mapping[tuple[str, int], Missing], splits: bool
) -> dict[tuple[str, int], Results]:
    """Without the documents that one of the systems (on one split) did not answer."""
    from tallystick.results.selection import without

    out = {}
    for run, found in results.items():
        gone = {name for other, what in absent.items() if not splits or other[1] == run[1] for name in what.unanswered}
        out[run] = _changed(found, partial(without, documents=gone))
    return out


Reference = tuple[str, str]
"""The name of a data set, if it has one, and the file of its reference."""


def split_references(reference: str, files: Mapping[str, list[str]]) -> list[Reference]:
    """One reference for all runs, or one for each: FILE,FILE or NAME=FILE,NAME=FILE."""
    if "," not in reference or Path(reference).exists():
        return [("", reference)]
    found = [_named_reference(part) for part in reference.split(",")]
    names = [name for name, _ in found if name]
    if names and len(set(names)) < len(found):
        raise MetricError(f"{reference}: expected a name for each data set, NAME=FILE,NAME=FILE, and no name twice")
    for name, runs in files.items():
        if len(runs) != len(found):
            advice = " (NAME=FILE1,FILE2,... names the files of a system)" if "," in name else ""
            raise MetricError(
                f"{name} has {counted(len(runs), 'file')} and there are {len(found)} references; expected one reference, or one "
                f"for each file{advice}"
            )
    return found


def _named_reference(text: str) -> Reference:
    name, equals, file = text.partition("=")
    if not equals or Path(text).exists():
        return "", text
    if not name or not file:
        raise MetricError(f"expected FILE or NAME=FILE for a data set, found {text!r}")
    return name, file


def _split_names(references: Sequence[Reference]) -> Sequence[str] | bool:
    """What the splits are called, if there are any: by their references, or by number where one serves for several."""
    names = _names(references)
    return False if len(names) < 2 else names if len(set(names)) == len(names) else True


def _names(references: Sequence[Reference]) -> list[str]:
    """The references by their names, or by their paths where that is what differs."""
    names = [name or (Path(file).name if file != "-" else "standard input") for name, file in references]
    return names if len(set(names)) == len(names) else [file for _, file in references]


def _shown(references: Sequence[Reference]) -> str:
    """The references by their names; only some, if they are many."""
    names = _names(references)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _run_name(run: tuple[str, int], files: Mapping[str, list[str]]) -> str:
    name, k = run
    return name if len(files[name]) == 1 else f"{name}, run {k + 1}"


def compared(scored: Mapping[str, list[Results]], notes: list[str], **settings: Any) -> Comparison:
    """The comparison, with what is to be said about documents."""
    from tallystick.results.compare import compare as lay_side_by_side

    comparison = lay_side_by_side(scored, **settings)
    counted, *more = comparison.notes
    return replace(comparison, notes=(counted, *notes, *more))


def _base(task: Task, scored: Mapping[str, list[Results]], asked: str | None) -> str | None:
    """The metric that arrows count from: the one that was asked for, or the task's own, if it is compared."""
    found = next(iter(scored.values()))[0]
    if asked is not None:
        return base_among(asked, found)
    base = task.base or task.main_metric(dict(found))
    return base if base in found else None


def _changed(results: Results, change: Callable[[Result], Result]) -> Results:
    """The same results with every metric changed, of the same task."""
    from tallystick.results.results import Results

    return Results({metric: change(result) for metric, result in results.items()}, results.background)


@frozen
class Each:
    """What became of each system: the scored ones with what is to be said about them, and of the others why they were not scored."""

    scored: tuple[dict[str, list[Results]], list[str]]
    failed: Mapping[str, str]


Scores = tuple[dict[str, "list[Results]"], list[str]]


def score_each(score: Callable[[Mapping[str, list[str]]], Scores], files: Mapping[str, list[str]]) -> Each:
    """All systems together, since figures may depend on all of them. Where that fails, each is tried alone, and those that can be read
    are scored together; if none can, the error is that of all."""
    try:
        return Each(score(files), {})
    except (TallystickError, RecursionError) as error:
        alone: dict[str, dict[str, list[Results]]] = {}
        failed: dict[str, str] = {}
        for name, runs in files.items():
            try:
                alone[name] = score({name: runs})[0]
            except (TallystickError, RecursionError) as why:  # noqa: PERF203 - a file that fails is the point
                failed[name] = str(why) if isinstance(why, TallystickError) else "it is nested too deeply"
        documents = {name: _documents_of(found[name]) for name, found in alone.items()}
        most = max(documents.values(), key=list(documents.values()).count, default=())
        others = {name for name, ids in documents.items() if ids != most}
        failed |= dict.fromkeys(others, "it is over other documents than most of the systems, or in another order")
        good = {name: runs for name, runs in files.items() if name not in failed}
        if not good or not failed:
            raise error
        return Each(score(good), {name: failed[name] for name in files if name in failed})


def _documents_of(runs: Sequence[Results]) -> tuple[Any, ...]:
    return tuple(next(iter(run.values())).ids for run in runs)


def best_first(scored: Mapping[str, list[Results]], base: str | None) -> dict[str, list[Results]]:
    """The systems by their figure under a metric, the first if none is named; those without a figure come last."""
    from tallystick.engine.tally import lower_is_better

    def place(name: str) -> tuple[bool, float]:
        found = [run[base] if base else next(iter(run.values())) for run in scored[name]]
        known = [one.score for one in found if one.score is not None]
        mean = sum(known) / len(known) if len(known) == len(found) else None
        sign = 1 if lower_is_better(found[0].kind) else -1
        return mean is None, 0.0 if mean is None else sign * mean

    return {name: scored[name] for name in sorted(scored, key=place)}


def named_systems(arguments: tuple[str, ...]) -> dict[str, list[str]]:
    """`NAME=FILE,FILE` or a file, which is then called after itself."""
    out: dict[str, list[str]] = {}
    for argument in arguments:
        name, equals, files = argument.partition("=")
        if not equals or Path(argument).exists():
            name, files, equals = Path(argument).name, argument, ""
        name = printable(name)  # a file's name may hold bytes that are no text
        if not name or not files:
            raise MetricError(f"expected FILE or NAME=FILE, found {argument!r}")
        if name in out:
            raise MetricError(f"two systems are called {name!r}; give one another name: NAME={files}")
        out[name] = files.split(",") if equals and not Path(files).exists() else [files]
        if "" in out[name]:
            raise MetricError(f"expected NAME=FILE1,FILE2,..., found {argument!r}")
    return out


@click.group(
    cls=LazyGroup,
    tasks=compare_command,
    lazy={"figures": ("tallystick.cli.figures:compared", "Compare figures that you already have.")},
)
def compare() -> None:
    """Compare systems: figures with intervals, significant differences, ranks, agreement of metrics.

    \b
    tallystick compare spans gold.iob A=a.iob B=b.iob --metric segment --metric ts --correlations
    tallystick compare coreference key.conll A=seed1.conll,seed2.conll B=b.conll --interval bca
    tallystick compare figures table.csv
    """


# Comparisons on standard output; signatures and notes on standard error.


@frozen
class Showing:
    """How comparisons are shown: which tables beside the figures, in which format, as a page and as a picture."""

    correlations: bool = False
    differences: bool = False
    format_: str | None = None
    report: str | None = None
    picture: str | None = None
    truncate: bool = False
    layout: Layout = Layout()
    title: str = "Comparison"
    own_tables: Callable[[Comparison], Sequence[Table]] | None = None
    """A task's own tables, which are for people, not for TSV or JSON."""
    by: PartComparisons | None = None
    """The same systems by field or label."""
    parts: PartComparisons | None = None
    """The same for the page alone."""
    board: bool = False
    """Whether it is a leaderboard, which also has the groups that are not significantly apart."""


def show_comparisons(comparisons: Sequence[Comparison], how: Showing) -> None:
    """One or several comparisons (of one task each) in the chosen format, as a page and as a picture."""
    kind = chosen_format(how.format_)
    comparisons = _chosen(comparisons, how.layout.columns)
    own = [how.own_tables(one) for one in comparisons] if how.own_tables is not None else []
    _write(comparisons, how, own)
    if kind == "json":
        _show_json(comparisons, how.by)
        return
    left_out = _left_out(comparisons) if how.correlations else ""
    _show_tables(comparisons, how, kind, [table for tables in own for table in tables], left_out)
    signatures = [signature for one in comparisons for signature in one.signatures]
    notes = [*(note for one in comparisons for note in one.notes), *([left_out] if left_out else [])]
    notes += [note for note in (how.by.cautions if how.by else ()) if note not in notes]
    writer = WRITERS.get(kind)
    if writer is not None and writer.below is not None:
        for line in writer.below(signatures, notes):
            click.echo(line)
    for line in (*(f"signature: {signature}" for signature in signatures), *notes):
        say(line)


def _chosen(comparisons: Sequence[Comparison], columns: Mapping[str, str] | None) -> list[Comparison]:
    """The comparisons under the metrics that are to be shown; one that has none of them is left out."""
    if columns is None:
        return list(comparisons)
    called = choose(columns, list(dict.fromkeys(metric for one in comparisons for metric in one.metrics)), "metric")
    chosen = [replace(one, metrics=tuple(metric for metric in called if metric in one.metrics)) for one in comparisons]
    return [one for one in chosen if one.metrics]


def _write(comparisons: Sequence[Comparison], how: Showing, own: Sequence[Sequence[Table]]) -> None:
    """The page and the pictures."""
    pictures = _pictures(how.picture, len(comparisons)) if how.picture else []
    refuse_overwriting(
        [*([("--report", how.report)] if how.report else []), *(("--picture", name) for name in pictures)]
    )
    if how.report:
        from tallystick.results.comparison_show import write_comparison

        parts = how.by or how.parts
        added = [list(tables) for tables in own] or [[] for _ in comparisons]
        if parts is not None:
            added[0] += parts
        write_comparison(comparisons, how.report, how.title, truncate=how.truncate, own=added)
        say(f"report: {how.report}")
    for name, comparison in zip(pictures, comparisons, strict=False):
        for line in save_picture(comparison.plot(), name):
            say(line)


def _show_tables(
    comparisons: Sequence[Comparison], how: Showing, kind: str, own: Sequence[Table], left_out: str
) -> None:
    from tallystick.results import comparison_show as tables

    more = [*_more_tables(comparisons, how), *(how.by or ())]
    writer = WRITERS.get(kind)
    called = how.layout.columns or {metric: metric for one in comparisons for metric in one.metrics}
    style = replace(how.layout.style, truncate=how.truncate)
    if writer is not None and writer.for_programs:
        several = len(comparisons) > 1 and more
        first = tables.figures_only(comparisons, called)
        show_tables([first, *([_joined(more)] if several else more)], how.format_, style=style)
        return
    resolved = style if writer is None else writer.style(style)
    for k, one in enumerate(comparisons):
        chosen = {metric: name for metric, name in called.items() if metric in one.metrics}
        if k:
            click.echo()
        comments = [*tables.comments_of(one), *([left_out] if left_out and k == len(comparisons) - 1 else [])]
        show_tables([tables.comparison_table(one, resolved, chosen)], how.format_, one.signatures, comments, style)
    if own or more:
        click.echo()
    show_tables([*own, *more], how.format_, style=replace(style, caption=""))


def page_options() -> list[click.Option]:
    """The options of what can be looked at."""
    return [
        click.Option(["--report"], type=FILE, metavar="FILE.html", help="Also write an HTML report: one file that works offline."),
        click.Option(
            ["--picture"], type=PICTURE, metavar="FILE", help="Also draw figures and ranks for a paper: .svg, .png or .pdf (needs matplotlib)."
        ),
    ]  # fmt: skip


def base_option(taken: Collection[str] = ()) -> click.Option:
    """Which metric the arrows of ranks count from; under its long name only, where a task's own option has the short one."""
    names = [name for name in ("--from", "--arrows-from") if name not in taken]
    return click.Option(
        [*names, "base"], metavar="METRIC", help="The metric from which the arrows count how far ranks moved."
    )


def ties_option() -> click.Option:
    """How equal figures are ranked."""
    return click.Option(
        ["--ties"], type=click.Choice(["mean", "order"]), default="mean", show_default=True,
        help="Ranks of equal figures: the mean of their ranks, or in the given order.",
    )  # fmt: skip


def base_among(base: str, metrics: Collection[str]) -> str:
    """The metric that was asked for, which has to be compared."""
    if base not in metrics:
        raise MetricError(
            f"--from {base}: it is not among the metrics here, {', '.join(metrics)}.{did_you_mean(base, metrics)}"
        )
    return base


def _pictures(name: str, tasks: int) -> list[str]:
    """A picture for each task: `ranks.svg`, or `ranks-1.svg`, `ranks-2.svg`, ..."""
    path = Path(name)
    return [name] if tasks == 1 else [str(path.with_name(f"{path.stem}-{k + 1}{path.suffix}")) for k in range(tasks)]


def _show_json(comparisons: Sequence[Comparison], by: PartComparisons | None = None) -> None:
    from tallystick.files.writing import to_json
    from tallystick.results.comparison import mean_correlations, pairs_left_out
    from tallystick.version import __version__

    if len(comparisons) == 1:
        parts = {"by": {by.what: by.as_dict()}} if by is not None else {}
        click.echo(to_json({"tallystick": __version__, **comparisons[0].as_dict(), **parts}))
        return
    content = {
        "tallystick": __version__,
        "tasks": {comparison.title: comparison.as_dict() for comparison in comparisons},
        "mean_correlations": mean_correlations(comparisons),
        "left_out_of_mean": pairs_left_out(comparisons),
    }
    click.echo(to_json(content))


def _joined(tables: Sequence[Table]) -> Table:
    """Tables of several tasks as one, for programs."""
    return Table(["task", *tables[0].columns], [[table.title, *row] for table in tables for row in table.rows])


def _more_tables(comparisons: Sequence[Comparison], how: Showing) -> list[Table]:
    from tallystick.results.comparison import mean_correlations
    from tallystick.results.comparison_show import correlations_table, differences_table, groups_table, splits_table

    correlations = how.correlations
    out = [splits_table(comparison) for comparison in comparisons if comparison.splits]
    if how.board:
        out += [table for comparison in comparisons if (table := groups_table(comparison)).rows]
    if how.differences:
        out += [differences_table(comparison) for comparison in comparisons if comparison.differences]
    if correlations:
        out += [
            correlations_table(comparison.correlations(), comparison.title)
            for comparison in comparisons
            if len(comparison.metrics) > 1 and not (how.board and len(comparison.systems) < 2)
        ]
        means = mean_correlations(comparisons) if len(comparisons) > 1 else []
        if means:
            out.append(correlations_table(means, f"mean of {len(comparisons)} tasks"))
    return out


def _left_out(comparisons: Sequence[Comparison]) -> str:
    """What the mean of the correlations does not have."""
    from tallystick.errors import some
    from tallystick.results.comparison import pairs_left_out

    pairs = [f"{first} and {second}" for first, second in pairs_left_out(comparisons)]
    if not pairs:
        return ""
    return f"The mean of the correlations leaves out {some(pairs)}: not all of the {len(comparisons)} tasks have both."


# Files of `compare` that belong to one system: NAME=FILE, or NAME=FILE1,FILE2,... for its runs.
#
# Most options say how all systems are scored. Some name a file that is a part of one system's output, and `score`, which has one
# system, takes it as it stands; a task declares these options as `of_system`. In `compare` every system has its own.

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

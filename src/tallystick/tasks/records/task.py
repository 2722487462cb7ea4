"""`score records` and `explain records`: your own records, from JSON Lines."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, chosen_format, common_options, files, finish, say, show_tables, versus
from tallystick.cli.outputs import FILE
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.cli.sharded import Engine
    from tallystick.files.pairing import Missing
    from tallystick.results.accounts import Scored
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.records.score import Kept, Run, Task, Wanted

BREAKDOWNS = ("label", "field")


def record_options(command: Any) -> Any:
    """What a document is, how it is compared, and how the files are read."""
    options = [
        click.option("--type", "type_name", metavar="MODULE:TYPE", help="A document's type, e.g. mymodule:Invoice or file.py:Invoice."),
        click.option("--schema", metavar="FILE", help="A document's JSON Schema. Without --type and --schema the shape is inferred from REFERENCE."),
        click.option("--choices", metavar="FILE", help="YAML or JSON: how to compare what, by path, e.g. lines[*].price: {number: {relative: 0.01}}"),
        click.option("--metric", "expression", metavar="EXPRESSION", help="A metric instead of the derived one, e.g. 'f1(match(exact))'."),
        click.option(
            "--credit", type=click.Choice(["each", "all"]), default="each", show_default=True,
            help="Each field counts by itself, or a record is right or wrong as a whole.",
        ),
        click.option("--nothing", metavar="LIST", help="What counts as nothing: some of missing,null,empty.  [default: missing,null]"),
        click.option("--id", "id_field", metavar="FIELD", help="The field that pairs the documents.  [default: id, where both files have it]"),
        click.option("--from", "text_field", metavar="FIELD", help="The field of a predicted line that holds the model's output, as text or as an object."),
        click.option(
            "--unknown", type=click.Choice(["count", "ignore"]), default="count", show_default=True,
            help="Keys that only predictions have: each value counts as extra, or is left out.",
        ),
        click.option("--lenient", is_flag=True, help="Repair noisy predictions; what cannot be read scores nothing and is listed. Never applies to REFERENCE."),
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@record_options
@common_options
@click.option("--label", metavar="PATH", help="With --by label: the field that holds it, e.g. relations[*].type.")
@click.option("--worst", type=click.IntRange(1), metavar="N", help="Show where the N worst documents differ.")
@click.option("--describe", is_flag=True, help="Show how everything is compared, and why; score nothing.")
@click.option(
    "--save-schema",
    type=FILE,
    metavar="FILE",
    help="Write the inferred JSON Schema, to edit it and give it as --schema.",
)
def score(
    reference: str, predicted: str, common: Common, engine: Engine, label: str | None, worst: int | None, describe: bool,
    save_schema: str | None, **options: Any,
) -> None:  # fmt: skip
    """Score records of your own: REFERENCE and PREDICTED are JSON Lines, one document a line (or a .json list), or
    Parquet, Arrow or Feather files with a row for each document.

    \b
    tallystick score records gold.jsonl system.jsonl
    tallystick score records gold.jsonl system.jsonl --schema invoice.schema.json --worst 3
    tallystick score records gold.jsonl answers.jsonl --from output --lenient --fail-under f1=0.9
    """
    from tallystick.results import tables as reports
    from tallystick.tasks.records.score import Wanted, exact_note

    if (common.by == "label") != (label is not None):
        raise MetricError("--by label and --label PATH go together, e.g. --by label --label relations[*].type")
    if worst and label is not None:
        raise MetricError("--worst shows where documents differ, not labels; leave it out, or --by label")
    idle = {"--tallies": common.tallies, "--report": common.report, "--fail-under": common.fail_under}
    if describe and any(idle.values()):
        given = " and ".join(name for name, value in idle.items() if value)
        raise MetricError(f"--describe scores nothing; leave it out, or {given}")
    task = _task(reference, predicted, options)
    if save_schema:
        _save(task, save_schema)
    if describe:
        _describe(task, common.format_)
        return
    most = common.report_documents if common.report else 0
    wanted = Wanted(max(most, worst or 0), even_right=bool(most)) if most or worst else None
    shards = ""
    if engine.asked:
        run, shards = _run_in_shards(task, common, engine, wanted, label, (reference, predicted), options)
    else:
        run = _run(task, common, wanted, fields=label is None, labels=label)
    result = run.result
    if label is not None:
        _show_labels(run, common, label, shards, title=versus(predicted, reference))
        return
    tables: list[Table] = []
    extra: dict[str, Any] = {
        "exact": {"documents": result.exact_documents, "rate": result.exact},
        **task.pairing.predicted.findings.as_dict(),
    }
    if task.shape.schema is not None:
        extra["inferred_schema"] = task.shape.schema
    if common.by in (None, "field"):
        tables.append(reports.fields_table(result))
        extra["fields"] = [vars(row) for row in result.by_field()]
    if worst:
        wrong = [kept for kept in run.documents if not kept.is_right][:worst]
        tables += _difference_tables(run, wrong, None, common.format_)
        extra["worst"] = _differences_json(run, wrong, None)
    by_order = run.paired == "by order" and common.format_ != "json"
    notes = [
        f"paired {run.paired}" + (" (--id FIELD pairs by a field)" if by_order else ""),
        exact_note(result),
        shards,
    ]
    finish(
        {"records": result}, common, tables=tables, extra=extra, notes=[note for note in notes if note],
        title=versus(predicted, reference), report=lambda: _parts(run),
    )  # fmt: skip
    if chosen_format(common.format_) == "table" and tables and common.by is None and not worst:
        _point_further(reference, predicted, tables[0], options)


@click.command()
@files
@record_options
@click.option(
    "--document",
    "document",
    metavar="ID",
    help="Which document: its id, or its line without ids.  [default: the worst]",
)
@click.option("--worst", type=click.IntRange(1), metavar="N", help="The N worst documents.")
@click.option(
    "--field", "field", metavar="PATH", help="Only one field, e.g. lines[*].price: the documents that lose most there."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tree", "table", "tsv", "json"]),
    help="Default: tree; with --worst or --field a table of the differences.",
)
def explain(
    reference: str, predicted: str, document: str | None, worst: int | None, field: str | None, format_: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Show what was matched with what: the sum over the tree is a document's score.

    \b
    tallystick explain records gold.jsonl system.jsonl                            the worst document
    tallystick explain records gold.jsonl system.jsonl --field 'lines[*].price'   three examples of one field
    tallystick explain records gold.jsonl system.jsonl --document inv-003
    """
    from tallystick.cli.tree import show_explanation
    from tallystick.files.writing import to_json
    from tallystick.results.documents import at_field, differences
    from tallystick.tasks.records.score import Wanted

    task = _task(reference, predicted, options)
    several = worst is not None or field is not None
    wanted = Wanted(worst or (3 if field else 1), field, document)
    run = _run(task, None, wanted, fields=False)
    if not run.documents:
        if document is not None:
            from tallystick.errors import did_you_mean

            hint = did_you_mean(document, map(str, run.result.ids))
            raise MetricError(f"no document {document!r}; there are {run.result.count:,}.{hint}")
        say(f"nothing is wrong in {run.result.count:,} documents" + (f" at {field}" if field else ""))
        return
    if several and format_ != "tree":
        if format_ == "json":
            click.echo(to_json(_differences_json(run, run.documents, field)))
        else:
            show_tables(_difference_tables(run, run.documents, field, format_), format_)
        return
    if document is None:
        say(f"the worst of {run.result.count:,} documents")
    for kept in run.documents:
        tree = run.explain(kept)
        if format_ in ("table", "tsv"):
            found = differences(tree)
            show_tables(_difference_tables(run, [kept], None, format_), format_)
            if not (at_field(found, field) if field else found):
                say("nothing differs")
        else:
            show_explanation(tree, f"document {kept.id}", format_)


def _task(reference: str, predicted: str, options: dict[str, Any], missing: Missing | None = None) -> Task:
    from tallystick.tasks.records.score import prepare

    task = prepare(reference, predicted, absent=missing, **_preparing(options))
    if task.shape.schema is not None:
        from tallystick.files.source import shown_name
        from tallystick.tasks.records.inference import sketch

        say(f"shape, inferred from {shown_name(reference)}: {sketch(task.shape.schema)}")
    return task


def _preparing(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the command as those of `prepare`."""
    from tallystick.tasks.records.shapes import load

    nothing = options["nothing"]
    return {
        "type": load(options["type_name"]) if options["type_name"] else None,
        "schema": options["schema"],
        "metric": options["expression"],
        "choices": options["choices"],
        "credit": options["credit"],
        "nothing": None if nothing is None else [word.strip() for word in nothing.split(",") if word.strip()],
        "id_field": options["id_field"],
        "text_field": options["text_field"],
        "lenient": options["lenient"],
        "unknown": options["unknown"],
    }


def score_part(
    reference: str, predicted: str, options: dict[str, Any], inferred: dict[str, Any] | None, how: str, **rest: Any
) -> Scored:
    """A part of two files, in whatever process."""
    from tallystick.tasks.records.score import score_part as score_a_part

    return score_a_part(reference, predicted, inferred=inferred, how=how, **_preparing(options), **rest)


def _run_in_shards(
    task: Task, common: Common, engine: Engine, wanted: Wanted | None, label: str | None, files: tuple[str, str],
    options: dict[str, Any],
) -> tuple[Run, str]:  # fmt: skip
    from functools import partial

    from tallystick.cli.tasks import task as this_task
    from tallystick.results.accounts import Wants
    from tallystick.tasks.records.score import Beside, finished

    if "-" in files:
        raise MetricError("records from standard input are scored as a whole; give files to score them in shards")
    rows = common.wants_rows
    rest: dict[str, Any] = {
        "undefined": common.policy(),
        "fields": label is None,
        "labels": label,
        "wanted": wanted,
        "rows": rows,
    }
    score = partial(score_part, options=options, inferred=task.shape.schema, how=task.pairing.decide(), **rest)
    done = engine.run(
        score, this_task("records"), *files, settings={**options, **rest, "shape": task.shape.schema, "metric": str(task.metric)},
        wants=Wants(rows, label is None, absent=options["lenient"]), name_field=options["id_field"] or "id",
    )  # fmt: skip  # labels are added up by `score_part` itself, so that no document is asked for again
    beside = done.extra
    assert isinstance(beside, Beside)
    task.pairing.predicted.findings, task.pairing.ignored = beside.findings, beside.ignored
    note = f"{done.shards:,} shards {done.how}" if done.shards > 1 else f"scored {done.how}"
    # the metric as an expression again: it is the same in every shard
    result = done.results["records"].changed(metric=task.metric, undefined=common.policy())
    return finished(task, result, beside.wanted), note


def _run(
    task: Task, common: Common | None, wanted: Wanted | None, fields: bool = True, labels: str | None = None
) -> Run:
    """Only what is asked for by document is kept by document."""
    from tallystick.cli.output import progress
    from tallystick.tasks.records.score import run_task

    policy = common.policy() if common else None
    rows = common.wants_rows if common else wanted is not None and wanted.id is not None
    with progress("scoring", unit="bytes") as advance:
        return run_task(
            task, undefined=policy, fields=fields, labels=labels, wanted=wanted, rows=rows, progress=advance
        )


def _save(task: Task, file: str) -> None:
    import json

    from tallystick.files.writing import write_atomically

    if task.shape.schema is None:
        raise MetricError(
            "--save-schema writes the inferred schema; with --type, --schema or --metric nothing is inferred"
        )
    write_atomically(file, json.dumps(task.shape.schema, indent=2, ensure_ascii=False) + "\n")
    say(f"wrote {file}; edit it and give it as --schema {file}")


def _describe(task: Task, format_: str | None) -> None:
    from tallystick.tasks.records.show import decisions_table

    for doubt in task.shape.doubts:
        say(f"Warning: {doubt}")
    if task.decisions:
        show_tables([decisions_table(task.decisions)], None if format_ == "json" else format_)
    say(f"metric: {task.metric}")


def _parts(run: Run, fields: bool = True) -> Parts:
    """Figures by field, what each costs, and the records of both sides side by side."""
    from tallystick.results import tables as reports
    from tallystick.results.report import Parts
    from tallystick.results.tables import costs_table

    known = {kept.id: kept for kept in run.documents}
    tables, costs = ([reports.fields_table(run.result)], costs_table(run.result)) if fields else ([], [])
    return Parts(tables, costs, explain=lambda key: run.explain(known[key]), alignment="Side by side")


def _kept(task: Task) -> Result:
    """The result with all documents kept: for comparisons, which come back to them."""
    from collections import deque

    from tallystick.results.evaluation import Evaluation
    from tallystick.tasks.records.score import scored_batches

    evaluation = Evaluation(task.metric)
    deque(scored_batches(task, evaluation), maxlen=0)
    return evaluation.compute()


def results(reference: str, predicted: str, missing: Missing | None = None, **options: Any) -> dict[str, Result]:
    """The result of one system, for `compare`."""
    task = _task(reference, predicted, options, missing)
    result = task.signed(_kept(task))
    return {"records": result.changed(notes=(*result.notes, *task.pairing.warnings()))}


def _show_labels(run: Run, common: Common, label: str, shards: str, title: str) -> None:
    """Figures by label, which were added up on the way."""
    from tallystick.results import tables as reports

    result = run.result
    extra = {"labels": [vars(row) for row in result.by_label(label)]}
    tables = [reports.labels_table(result, label)]
    notes = [note for note in (f"paired {run.paired}", shards) if note]
    finish(
        {"records": result}, common, tables=tables, extra=extra, notes=notes, title=title,
        report=lambda: _parts(run, fields=False),
    )  # fmt: skip


def _difference_tables(run: Run, documents: Any, field: str | None, format_: str | None) -> list[Table]:
    from tallystick.results.documents import all_differences, at_field, differences, differences_table

    found = {}
    for kept in documents:
        every = differences(run.explain(kept))
        found[kept.id] = at_field(every, field) if field else every
    if chosen_format(format_) != "table":
        return [all_differences({str(key): ones for key, ones in found.items()})]
    return [differences_table(found[kept.id], _title(kept)) for kept in documents]


def _title(kept: Kept) -> str:
    figures = "  ".join(f"{name} {value:.4f}" for name, value in kept.figures.items() if value is not None)
    return f"document {kept.id}   {figures}"


def _differences_json(run: Run, documents: Any, field: str | None) -> list[dict[str, Any]]:
    from tallystick.results.documents import at_field, differences

    out = []
    for kept in documents:
        found = differences(run.explain(kept))
        shown = at_field(found, field) if field else found
        out.append({"document": kept.id, **kept.figures, "differences": [one.as_dict() for one in shown]})
    return out


def _point_further(reference: str, predicted: str, fields: Table, options: dict[str, Any]) -> None:
    """The next command: examples of the worst field."""
    place = list(fields.columns).index("f1")
    worst = next((row for row in fields.rows if row[place] is not None and row[place] < 1), None)
    if worst is None:
        return
    given = [word for flag, name in (("--type", "type_name"), ("--schema", "schema"), ("--choices", "choices"),
             ("--metric", "expression"), ("--nothing", "nothing"), ("--id", "id_field"), ("--from", "text_field"))
             if options[name] for word in (flag, options[name])]  # fmt: skip
    given += ["--credit", "all"] if options["credit"] == "all" else []
    given += ["--lenient"] if options["lenient"] else []
    given += ["--unknown", "ignore"] if options["unknown"] == "ignore" else []
    command = ["tallystick", "explain", "records", reference, predicted, *given, "--field", worst[0]]
    say(f"examples of the worst field: {shlex.join(command)}")

"""`records`: records of your own, from JSON Lines, Parquet or Arrow."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, ValueMismatch, unknown_document
from tallystick.frozen import frozen
from tallystick.show.tables import Table
from tallystick.tasks.contract import (
    Asked,
    AskParts,
    Explained,
    Files,
    Reading,
    Scored,
    Shown,
    ShownLater,
    Task,
    Wish,
    allow_code,
    default_of,
    flag,
    missing_option,
    of_run,
    option,
    option_of,
    show_confidence,
    target_accuracy,
    time_limit,
)

if TYPE_CHECKING:
    from tallystick.algebra.derive import Decision
    from tallystick.files.boundaries import Boundaries, Uncut
    from tallystick.results.errors import Errors
    from tallystick.results.report import Parts
    from tallystick.tasks.records.score import Kept, Known, Prepared, Run
    from tallystick.tasks.records.shapes import RecordShape


GROUPED = 20_000
"""Of so many documents a report groups the errors, unless --errors asks for those of all."""


@frozen
class RecordSettings:
    """What a document is, how it is compared, and how the files are read."""

    # fmt: off
    type: Any = option(None, "A document's type, e.g. mymodule:Invoice or file.py:Invoice.", metavar="MODULE:TYPE")
    schema: Any = option(None, "A document's JSON Schema. Without --type and --schema the shape is inferred from REFERENCE.", metavar="FILE")
    choices: Any = option(None, "YAML or JSON that says how to compare each field, by path, e.g. lines[*].price: {number: {relative: 0.01}}.", metavar="FILE")
    metric: Any = option(None, "A metric instead of the derived one, e.g. 'f1(match(exact))'.", metavar="EXPRESSION")
    credit: str = option("each", "Whether each field counts by itself, or a record is right or wrong as a whole.", choices=("each", "all"))
    equality: str = option("equal", "How values are compared by default: equal, ignoring Unicode forms, white space and float noise (relative 1e-9), or exact.", choices=("equal", "exact"))
    nothing: Any = option(None, "What counts as nothing: any of missing,null,empty,blank.  [default: missing,null]", metavar="LIST")
    id: str | None = option(None, "The field that pairs the documents, or its path.  [default: id, if both files have it]", metavar="PATH")
    reference_id: str | None = option(None, "The same for REFERENCE, if it has another name there.", metavar="PATH")
    from_: str | None = option(None, "Where a predicted line holds the model's output, as text or as an object: output, or response.choices[0].message.content.", metavar="PATH")
    reference_from: str | None = option(None, "Where a line of REFERENCE holds the document.", metavar="PATH")
    unknown: str = option("count", "Keys that only predictions have: each value counts as extra, or is left out.", choices=("count", "ignore"))
    confidence: str | None = option(None, "Where predictions state their confidence: a key beside a value or in an object, or the path of a parallel field or of token log-probabilities.", metavar="FIELD")
    missing: str = missing_option()
    lenient: bool = option(False, "Repair noisy predictions; those that cannot be read score nothing and are listed. Never applies to REFERENCE.")
    time_limit: float | None = time_limit()
    allow_code: bool = allow_code()
    worst: int | None = option(None, "Show where the N worst documents differ.", metavar="N", least=1, use="score", in_shards=True)
    target_accuracy: float = target_accuracy()
    errors: bool = option(False, "Group the errors by field: other spellings, rounding, swapped fields, ...; with examples, remedies and frequent pairs.", use="score", in_rows=True, in_shards=True)
    describe: bool = option(False, "Show how each field is compared, and why, without scoring.", use="score", in_shards=True)
    save_schema: str | None = option(None, "Write the inferred JSON Schema, so that you can edit it and pass it as --schema.", metavar="FILE", use="score", writes=True, in_shards=True)
    # fmt: on


class Records(Task):
    """Records of your own."""

    name = "records"
    summary = "any records of your own: two JSONL or Parquet files, and a type or a schema if you have one"
    help = """Score records of your own: REFERENCE and PREDICTED are JSON Lines, one document per line (or a .json list), or
    Parquet, Arrow or Feather files with a row for each document.

    \b
    tallystick score records gold.jsonl system.jsonl
    tallystick score records gold.jsonl system.jsonl --schema invoice.schema.json --worst 3
    tallystick score records gold.jsonl answers.jsonl --from output --lenient --fail-under f1=0.9
    """
    Settings = RecordSettings
    folder_of = (".json", ".txt", ".md")
    named_metrics = False
    invalid_answers = True
    data = """
    A record is plain data, {"vendor": "Acme", "lines": [...]}, an instance of a dataclass or a model, or the text that a model wrote.
    Give one, a list of them, a mapping from ids to two or more of them, or a data frame; `type=` or `schema=` says what a record is.
    """
    example = """
    >>> ts.records({"vendor": "Acme", "total": 12.5}, {"vendor": "Acme", "total": 12})["records"].f1
    0.5
    """
    without = {
        "labels": "any field (`--label PATH`)",
        "by attribute": "any field of an item is a label (`--by label --label PATH`), and any field of a record a slice (`--slice FIELD`)",
    }
    breakdowns = ("label", "field")
    label_help = "With --by label: the field that holds it, e.g. relations[*].type."
    fields_always = True

    def check_output(self, settings: RecordSettings, given: Mapping[str, Any]) -> None:
        if given["--by label"] != given["--label"]:
            raise MetricError("--by label and --label PATH go together, e.g. --by label --label relations[*].type")
        super().check_output(settings, given)
        if settings.worst and given["--label"]:
            raise MetricError("--worst shows where documents differ, not labels; leave it out, or --by label")
        idle = [name for name in ("--tallies", "--report", "--fail-under") if given[name]]
        idle += ["--errors"] if settings.errors else []
        if settings.describe and idle:
            raise MetricError(f"--describe scores nothing; leave it out, or {' and '.join(idle)}")

    # Scoring

    def formats(self) -> Any:
        from tallystick.files.boundaries import Uncut
        from tallystick.files.source import Format

        whole = Uncut("it is one JSON value; as JSON Lines it can be cut")
        return (
            Format(
                "json",
                lambda opening: opening.name.endswith(".json") and opening.head.lstrip()[:1] == b"{",
                None,
                whole,
            ),
        )

    def take(self, reference: Any, predicted: Any, settings: RecordSettings) -> tuple[Any, Any, RecordSettings]:
        """Both sides as Python has them: a string is the name of a file, or else the text of a record."""
        from tallystick.files.documents import dates_beside_dates, one_beside_one
        from tallystick.tasks.plain import check_indexes
        from tallystick.tasks.records.files import reference_id

        for name, side in (("reference", reference), ("predicted", predicted)):
            if side is None:
                raise ValueMismatch(
                    f"{name} is None; expected records, or a file of them (for null as a record give [None])"
                )
        check_indexes(reference, predicted, (reference_id(settings),), (settings.id or "id",))
        takes = settings.reference_from, settings.from_
        left, right = dates_beside_dates(one_beside_one((reference, predicted)), takes)
        return left, right, settings

    def score(
        self, reference: Any, predicted: Any, metrics: tuple[str, ...], settings: RecordSettings, reading: Reading
    ) -> Scored:
        """All documents are kept, to be looked at later; a part of two files keeps what was asked for."""
        from tallystick.tasks.records.score import score_part

        if reading.part:
            assert reading.asked is not None
            return score_part(reference, predicted, settings, reading.asked, reading.known)
        missing = reading.missing or self.missing(settings)
        scored = self._score_whole(reference, predicted, settings, replace(reading, missing=missing))
        return replace(scored, unanswered=tuple(missing.unanswered))

    def _score_whole(
        self,
        reference: Any,
        predicted: Any,
        settings: RecordSettings,
        reading: Reading,
        shape: RecordShape | None = None,
    ) -> Scored:
        from tallystick.tasks.records.score import prepare, score_prepared, warn_of_nothing

        prepared = prepare(reference, predicted, settings, missing=reading.missing, shape=shape)
        result = score_prepared(prepared)
        result = result.changed(notes=(*result.notes, *warn_of_nothing(prepared, result)))
        return Scored(prepared, {"records": result}, opening=_describe_shape(prepared, settings))

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: RecordSettings,
        readings: Mapping[Any, Reading],
    ) -> dict[Any, Scored]:  # fmt: skip
        """The shape of the documents, for which the whole reference is read, is that of all systems."""
        from tallystick.files.documents import one_object
        from tallystick.files.pairing import Missing
        from tallystick.tasks.records.files import open_reference
        from tallystick.tasks.records.score import find_shape, prepare, without_warnings_of

        beside, shape = tuple(systems.values()), None
        if not any(one.part for one in readings.values()):
            shape = find_shape(reference, settings, beside=beside)
            if one_object(reference):  # it is the same for all systems
                reference = open_reference(reference, settings, shape.reference, beside)
        scored = {
            run: self.score(reference, file, metrics, of_run(settings, run), readings[run])
            if shape is None
            else self._score_whole(reference, file, of_run(settings, run), readings[run], shape)
            for run, file in systems.items()
        }
        asked = {run: one.missing for run, one in readings.items() if one.missing is not None}
        gone = {key for one in asked.values() if one.policy == "intersect" for key in one.unanswered}
        for run, one in scored.items() if gone and shape is not None else ():
            again = prepare(
                reference, systems[run], of_run(settings, run), missing=Missing("intersect", True), shape=shape
            )
            scored[run] = without_warnings_of(one, again, gone)
        return scored

    def run(
        self, reference: Any, predicted: Any, metrics: tuple[str, ...], settings: RecordSettings, asked: Asked
    ) -> tuple[Scored, Shown]:
        from tallystick.tasks.records.score import prepare, run_prepared, wanted_documents, wanted_errors

        prepared = prepare(reference, predicted, settings)
        wanted, grouping = wanted_documents(settings, asked), wanted_errors(settings, asked)
        run = run_prepared(prepared, asked, wanted=wanted, grouping=grouping)
        return self._show_run(run, (reference, predicted), settings, asked)

    def look_first(self, files: Files, settings: RecordSettings, ask_parts: AskParts) -> Known:
        """The shape of the documents and what they are paired by are those of the whole files; the metric names what a stored
        run depends on."""
        from tallystick.tasks.records.score import Known, find_shape, prepare

        if "-" in files:
            raise MetricError("records from standard input are scored as a whole; give files to score them in shards")
        shape = find_shape(files[0], settings, ask_parts, files[1:])
        prepared = prepare(*files, settings, known=Known(shape.schema, "", "", doubts=shape.doubts))
        pairing, shape = prepared.pairing, prepared.shape
        paired = pairing.decide()
        return Known(shape.schema, paired, str(prepared.metric), pairing.nameless, shape.doubts, tuple(pairing.remarks))

    def put_together(
        self, gathered: Scored, files: Files, settings: RecordSettings, reading: Reading
    ) -> tuple[Scored, Shown]:
        from tallystick.tasks.records.score import complete_run, prepare

        asked, beside = reading.asked, gathered.extra
        assert asked is not None
        prepared = prepare(*files, settings, known=reading.known)
        prepared.pairing.predicted.findings, prepared.pairing.ignored = beside.findings, beside.ignored
        prepared.pairing.missing.unanswered |= dict.fromkeys(gathered.unanswered)
        # the metric as an expression again: it is the same in every shard
        result = gathered.results["records"].changed(metric=prepared.metric, undefined=asked.undefined)
        run = complete_run(prepared, result, beside.wanted)
        run = run if beside.grouping is None else replace(run, errors=beside.grouping.errors())
        return self._show_run(run, files, settings, asked)

    def basis(self, scored: Scored, settings: RecordSettings) -> Mapping[str, tuple[Any, ...]]:
        """The shape, where it is inferred; parts that were put together know it of the whole."""
        shapes = (str(result.metric) for result in scored.results.values())
        return {} if settings.type or settings.schema or settings.metric else {"schema": tuple(shapes)}

    def id_field(self, settings: RecordSettings) -> str:
        return settings.id or "id"

    def allows_absent(self, settings: RecordSettings) -> bool:
        return settings.lenient or super().allows_absent(settings)

    # What is shown

    def describe(
        self, reference: Any, predicted: Any, settings: RecordSettings
    ) -> tuple[Shown, tuple[str, ...]] | None:
        if not settings.describe:
            return None
        from tallystick.tasks.records.score import prepare

        prepared = prepare(reference, predicted, settings)
        _save_schema(prepared, settings)
        doubts = (f"Warning: {doubt}" for doubt in prepared.shape.doubts)
        lines = (*_describe_shape(prepared, settings), *doubts, f"metric: {prepared.metric}")
        return Shown([decisions_table(prepared.decisions)] if prepared.decisions else ()), lines

    def show(self, scored: Scored, settings: RecordSettings, asked: Asked) -> Shown:
        """What is wrong, of documents that are at hand."""
        return _show_errors(scored.results["records"].grouped_errors(), asked) if settings.errors else Shown()

    def _show_run(self, run: Run, files: Files, settings: RecordSettings, asked: Asked) -> tuple[Scored, Shown]:
        from tallystick.results import tables as reports
        from tallystick.tasks.records.score import exact_note

        _save_schema(run.prepared, settings)
        closing: tuple[str, ...] = ()
        result, paired = run.result, f"paired {run.paired}"
        if asked.label is not None:
            notes = [paired]
            labels = [vars(row) for row in result.by_label(asked.label)]
            shown = Shown([reports.labels_table(result, asked.label)], {"labels": {"records": labels}})
            shown += _show_errors(run.errors, asked) if settings.errors and run.errors is not None else Shown()
        else:
            by_order = run.paired == "by order" and asked.format != "json" and not asked.keep
            notes = [paired + " (--id FIELD pairs by a field)" * by_order, exact_note(result)]
            make = partial(_show_figures, run, settings, asked)
            shown = ShownLater(make) if asked.keep else make()
            if not asked.keep and asked.format == "table" and shown.tables and asked.by is None and not settings.worst:
                closing = _point_further(files, shown.tables[0], settings)
        opening = _describe_shape(run.prepared, settings)
        scored = Scored(
            run,
            {"records": result},
            tuple(filter(None, notes)),
            closing,
            opening,
            unanswered=tuple(run.prepared.pairing.missing.unanswered),
        )
        return scored, shown

    def boundaries(self, file: str, settings: Any) -> Boundaries | Uncut:
        from tallystick.files.boundaries import LINES, Uncut
        from tallystick.files.source import Source, unpacked_name

        if os.path.isdir(file) or unpacked_name(file).lower().endswith((".csv", ".tsv")):
            return Uncut("it is no file of lines; as JSON Lines it can be cut")
        found = super().boundaries(file, settings)
        one = found is LINES and unpacked_name(Source.of(file).name).endswith(".json")
        return Uncut("it is one JSON value; as JSON Lines it can be cut") if one else found

    def whole(self, settings: RecordSettings) -> str:
        if why := super().whole(settings):
            return why
        if settings.reference_id or not (settings.id or "id").isidentifier():
            return "ids at a path, or of another name on each side, are read file by file"
        return ""

    def parts(self, scored: Scored, settings: RecordSettings, shown: Shown) -> Parts:
        """Figures by field, what each costs, and the records of both sides side by side."""
        from tallystick.results import tables as reports
        from tallystick.results.report import Parts

        run: Run = scored.corpus
        labels = "labels" in shown.json
        tables, costs = ([], []) if labels else ([reports.fields_table(run.result)], reports.costs_table(run.result))
        explain = (run.result if run.result.sources is not None else run).explain_in_order()
        grouped = run.errors
        if grouped is None and run.result.sources is not None and run.result.count <= GROUPED and not labels:
            grouped = run.result.grouped_errors()
        findings = run.prepared.pairing.predicted.findings
        badges = {"invalid": dict(findings.invalid), "repaired": findings.repaired_documents}
        return Parts(tables, costs, explain=explain, alignment="Side by side", grouped=grouped, badges=badges)

    def explain(self, reference: Any, predicted: Any, settings: RecordSettings, wish: Wish) -> Explained:
        from tallystick.tasks.records.score import Wanted, prepare, run_prepared

        prepared = prepare(reference, predicted, settings)
        wanted = Wanted(wish.worst or (3 if wish.field else 1), wish.field, wish.document)
        run = run_prepared(prepared, Asked(keep_rows=wish.document is not None), fields=False, wanted=wanted)
        if not run.documents and wish.document is not None:
            raise unknown_document(wish.document, run.result.ids)
        opening, missing = _describe_shape(prepared, settings), prepared.pairing.missing.notes()
        return Explained(_explain(run, run.documents), run.result.count, opening=opening, warnings=tuple(missing))


def _show_figures(run: Run, settings: RecordSettings, asked: Asked) -> Shown:
    """Figures by field and the worst documents; as JSON also what became of the predictions."""
    from tallystick.results import tables as reports
    from tallystick.results.documents import differences_as_json, differences_tables

    result, prepared = run.result, run.prepared
    tables: list[Table] = []
    json: dict[str, Any] = {
        "exact": {"documents": result.exact_documents, "rate": result.exact},
        **prepared.pairing.predicted.findings.as_dict(),
    }
    if prepared.shape.schema is not None:
        json["inferred_schema"] = prepared.shape.schema
    if asked.by == "field" or (asked.by is None and result.by_field()):
        tables.append(reports.fields_table(result))
        json["fields"] = {"records": [vars(row) for row in result.by_field()]}
    if run.errors is not None and settings.errors:
        found = _show_errors(run.errors, asked)
        tables += found.tables
        json |= found.json
    if settings.worst:
        documents = _explain(run, [kept for kept in run.documents if not kept.is_right][: settings.worst])
        tables += differences_tables(documents, None, asked.format == "table")
        json["worst"] = differences_as_json(documents, None)
    return Shown(tables, json) + show_confidence({"records": result}, settings, asked)


def _show_errors(errors: Errors, asked: Asked) -> Shown:
    return Shown(errors.tables(asked.rows or 20), {"errors": errors.as_dict()})


def _explain(run: Run, documents: Sequence[Kept]) -> list[tuple[Any, Mapping[str, float | None], Any]]:
    return [(kept.id, kept.figures, run.explain(kept)) for kept in documents]


def _describe_shape(prepared: Prepared, settings: RecordSettings) -> tuple[str, ...]:
    if prepared.shape.schema is None:
        return ()
    from tallystick.tasks.records.shapes import sketch

    wrote: tuple[str, ...] = ()
    if settings.save_schema:
        wrote = (f"wrote {settings.save_schema}; edit it and give it as --schema {settings.save_schema}",)
    return (f"shape, inferred from {prepared.pairing.reference.lines.file}: {sketch(prepared.shape.schema)}", *wrote)


def _save_schema(prepared: Prepared, settings: RecordSettings) -> None:
    if not settings.save_schema:
        return
    import json

    from tallystick.files.writing import write_atomically

    if prepared.shape.schema is None:
        raise MetricError(
            "--save-schema writes the inferred schema; with --type, --schema or --metric nothing is inferred"
        )
    write_atomically(settings.save_schema, json.dumps(prepared.shape.schema, indent=2, ensure_ascii=False) + "\n")


def _point_further(files: Files, by_field: Table, settings: RecordSettings) -> tuple[str, ...]:
    """The next command: examples of the worst field."""
    place = list(by_field.columns).index("f1")
    worst = next((row for row in by_field.rows if row[place] is not None and row[place] < 1), None)
    if worst is None:
        return ()
    import shlex

    given: list[str] = []
    for one in fields(settings):
        value = getattr(settings, one.name)
        if value != default_of(one) and option_of(one).use != "score":
            given += [flag(one)] if value is True else [flag(one), str(value)]
    command = ["tallystick", "explain", "records", *map(str, files), *given, "--field", worst[0]]
    return (f"examples of the worst field: {shlex.join(command)}",)


# Which choice applies where, and why: the decisions of a derivation, drawn as a tree.


def decisions_table(decisions: Sequence[Decision], title: str = "document") -> Table:
    """A row for each path: what it is, how it is compared, and why."""
    steps = [_steps(decision.path) for decision in decisions]
    rows = []
    for k, (path, decision) in enumerate(zip(steps, decisions, strict=True)):
        rows.append(
            [
                _branch(steps, k) + (path[-1].removeprefix(".") if path else title),
                _short(decision.type),
                decision.how,
                decision.why,
            ]
        )
    return Table(["value", "type", "compared by", "because"], rows)


def _steps(path: str) -> list[str]:
    return re.findall(r"\[\*\]|\.?[^.\[]+|\.", path)


def _branch(steps: Sequence[Sequence[str]], k: int) -> str:
    """The lines in front of a row: whether something follows on each level above."""
    mine = steps[k]
    out = []
    for depth in range(1, len(mine) + 1):
        follows = False
        for later in steps[k + 1 :]:
            if len(later) < depth or later[: depth - 1] != mine[: depth - 1]:
                break
            if len(later) == depth:
                follows = True
                break
        last = depth == len(mine)
        out.append(("├─ " if follows else "└─ ") if last else ("│  " if follows else "   "))
    return "".join(out)


def _short(name: str) -> str:
    name = re.sub(r"Annotated\[(.*?), .*\]", r"\1", name)
    name = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", name)
    name = re.sub(r"Optional\[([^\[\]]+)\]", r"\1 | None", name)
    return name if len(name) <= 40 else name[:39] + "…"


TASK = Records()

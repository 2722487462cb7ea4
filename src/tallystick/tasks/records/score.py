"""Scoring records: from a type, a JSON Schema or nothing at all to a result.

    ts.score({"vendor": "Acme", "total": 12}, '```json {"vendor": "Acme", "total": 13}```').f1
    ts.score("gold.jsonl", "system.jsonl", schema="invoice.schema.json")

Files are scored in bounded memory, as `tallystick score records` does it; values in memory become lines of JSON first and go the same
way, so that the score is the same.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallystick.algebra.choose import Choice, Rules
from tallystick.algebra.derive import Decision, explain_derivation, ignored_paths, record_fields
from tallystick.algebra.node import Node
from tallystick.algebra.parse import allowing_code, load, parse
from tallystick.algebra.surplus import split_known
from tallystick.engine.arrays import F64
from tallystick.engine.data import Rows, as_data, separable
from tallystick.engine.tally import exact_rows, tells_exact
from tallystick.errors import InputError, MetricError, SidesMismatch, did_you_mean
from tallystick.files.documents import PickedLines, are_named
from tallystick.files.json_values import read_data
from tallystick.files.pairing import Missing
from tallystick.files.source import Source
from tallystick.frozen import frozen
from tallystick.results.breakdown import losses_by_document
from tallystick.results.errors import Errors, Grouping
from tallystick.results.evaluation import Evaluation, batch_size, evaluate_few, few_rows
from tallystick.results.explanation import Explained, Explanation, InOrder, explain_document, explain_together
from tallystick.results.result import Result, worst_first
from tallystick.results.results import Results
from tallystick.tasks.contract import Asked, AskParts, Scored
from tallystick.tasks.function import function_of
from tallystick.tasks.records.files import Batch, Pairing, lay_together, open_reference, reference_id
from tallystick.tasks.records.fitting import Findings
from tallystick.tasks.records.shapes import PLAIN, RecordShape, Seen, infer_shape, inferred_shape, see, shape_of_schema
from tallystick.tasks.records.task import GROUPED, RecordSettings

if TYPE_CHECKING:
    from tallystick.results.confidence import Judging
    from tallystick.results.leaves import Layer

SLICES = 16
"""The alignments of so many slices are kept for a report; of more none, so that memory does not grow with the documents."""
UNKNOWN = {"count": "unknown=counted", "ignore": "unknown=ignored"}


@frozen
class Prepared:
    """What is compared and how: the shape of a document, the metric, and why it is that."""

    shape: RecordShape
    metric: Node
    decisions: tuple[Decision, ...]
    pairing: Pairing
    settings: str = ""
    """What changes figures, and is not in the metric."""
    judging: Judging | None = None
    """Judges the confidences of the predictions on the way, where these were asked for."""
    time_limit: float | None = None
    """Seconds for each document."""

    def evaluation(self, **options: Any) -> Evaluation:
        """An evaluation of its metric, under its time limit."""
        return Evaluation(self.metric, time_limit=self.time_limit, **options)

    def signed(self, result: Result) -> Result:
        """A result whose signature has the settings too, and which knows what was said about confidence."""
        confidences = None if self.pairing is None else self.pairing.predicted.confidences
        if self.judging is not None and confidences is not None:
            confidences.refuse_nothing()
            from tallystick.results.confidence import plain_path

            fields = result.by_field() if result.field_sums is not None or result.sources is not None else ()
            claims = self.judging.claims([(plain_path(row.path), row.support) for row in fields])
            result = result.changed(claims=claims, notes=(*result.notes, *claims.notes))
        if not self.settings or self.settings in result.settings:
            return result
        return result.changed(settings=" | ".join(part for part in (result.settings, self.settings) if part))

    def __reduce__(self) -> tuple[Any, ...]:
        """What laid the files together stays where it is: it has open files, and classes that were made from a schema."""
        return Prepared, (None, self.metric, (), None, self.settings)


@frozen
class Kept:
    """A document that is kept to be looked at."""

    id: Any
    reference: Any
    predicted: Any
    figures: Mapping[str, float | None]
    at: tuple[int, int] = (-1, -1)
    """Its slice, and its row there."""

    @property
    def is_right(self) -> bool:
        """Whether it loses nothing on either side."""
        sides = [self.figures.get(side) for side in ("precision", "recall")]
        return all(value is None or value > 1 - 1e-9 for value in sides)


@frozen
class Run:
    """A result, and all warnings on the way to it."""

    prepared: Prepared
    result: Result
    documents: tuple[Kept, ...]
    warnings: tuple[str, ...]
    errors: Errors | None = None
    aligned: Mapping[int, Layer] = field(default_factory=dict)
    """The alignments of some slices that have documents which were kept."""

    @property
    def paired(self) -> str:
        return self.prepared.pairing.how

    def explain(self, kept: Kept) -> Explanation:
        """The alignment of one of the documents that were kept."""
        return explain_document(self.prepared.metric, kept.reference, kept.predicted)

    def explain_in_order(self) -> InOrder:
        """The same by id, some of them together."""
        kept = {one.id: one for one in self.documents}

        def explain(documents: Sequence[Any]) -> Explained:
            some = [kept[document] for document in documents]
            sides = [one.reference for one in some], [one.predicted for one in some]
            if not self.aligned:
                return explain_together(self.prepared.metric, *sides)
            from tallystick.results.leaves import explain_aligned

            layers = [(self.aligned.get(one.at[0]), one.at[1]) for one in some]
            places = [None if layer is None else (layer, row) for layer, row in layers]
            return explain_aligned(self.prepared.metric, *sides, places)

        return InOrder(explain)


@dataclass
class Wanted:
    """Which documents are kept: the worst ones, the worst at one field, or one by its id. With `even_right` documents that lose
    nothing are among the worst if there are no others, in the order of a report."""

    worst: int = 0
    at: str | None = None
    id: str | None = None
    even_right: bool = False
    _heap: list[tuple[Any, int, Kept]] = field(default_factory=list)
    _count: int = 0
    _problem: MetricError | None = None
    _field_found: bool = False
    _slices: int = 0
    _aligned: dict[int, Layer] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Without the alignments: they can be found again."""
        return {**vars(self), "_aligned": {}}

    def add(self, later: Wanted) -> None:
        """Keep what is wanted of the documents behind these."""
        self._aligned = {}
        for badness, place, kept in later._heap:
            self._push((badness, place - self._count, kept))
        self._count += later._count

    def look(self, batch: Batch, evaluation: Evaluation, rows: Any) -> None:
        """Keep what is wanted of a batch whose tallies are known."""
        figures = evaluation.kind.figures(rows)
        if self.id is not None:
            for place in (k for k, key in enumerate(batch.ids) if str(key) == self.id):
                self._keep(batch, place, figures, (0.0,))
        elif self.worst and self.even_right:
            undefined, headline, size = worst_first(evaluation.kind, rows)
            for place in np.lexsort((size, headline, undefined))[: self.worst].tolist():
                rank = float(undefined[place]), float(headline[place]), float(size[place])
                self._keep(batch, place, figures, rank)
        elif self.worst:
            undefined, headline, _ = worst_first(evaluation.kind, rows)
            headline = np.where(undefined, 1.0, headline)
            summed = tells_exact(evaluation.kind)
            loss = rows[:, 1] + rows[:, 3] - rows[:, 0] - rows[:, 2] if summed else 1.0 - headline
            if self.at is not None:
                loss = self._losses(batch, evaluation, self.at)
                headline = np.zeros(len(loss))
            order = np.lexsort((-loss, headline))[: self.worst]
            for place in order.tolist():
                if loss[place] > 1e-9:
                    self._keep(batch, place, figures, (float(headline[place]), -float(loss[place])))
        self._count += len(batch.ids)
        self._keep_aligned(evaluation.aligned)

    def _keep_aligned(self, layers: Sequence[Layer] | None) -> None:
        """Keep the alignment of a slice whose documents are wanted, unless there are too many slices."""
        if layers is not None and len(layers) == 1 and self._slices < SLICES:
            self._aligned[self._slices] = layers[0].settle()
        self._slices += 1
        if self._slices > SLICES:
            self._aligned = {}

    @property
    def aligned(self) -> Mapping[int, Layer]:
        """The alignments of slices that were kept."""
        return self._aligned

    def _losses(self, batch: Batch, evaluation: Evaluation, path: str) -> Any:
        """What each document loses at a path; a key that only predictions have may be missing in some batches."""
        try:
            found = losses_by_document(evaluation.metric, path, as_data(batch.references), as_data(batch.predictions))
        except MetricError as error:
            self._problem = self._problem or error
            return np.zeros(len(batch.ids))
        self._field_found = True
        return found

    def _keep(self, batch: Batch, place: int, figures: Mapping[str, Any], rank: tuple[float, ...]) -> None:
        badness = tuple(-part for part in rank)
        if len(self._heap) >= max(self.worst, 1) and (badness, -(self._count + place)) < self._heap[0][:2]:
            return  # all that are kept are worse
        known = {name: None if np.isnan(v[place]) else float(v[place]) for name, v in figures.items()}
        at = self._slices, place
        kept = Kept(batch.ids[place], batch.references[place], batch.predictions[place], known, at)
        self._push((badness, -(self._count + place), kept))

    def _push(self, entry: tuple[Any, int, Kept]) -> None:
        if len(self._heap) < max(self.worst, 1):
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    @property
    def found(self) -> tuple[Kept, ...]:
        """What was kept, the worst first."""
        if self._problem is not None and not self._field_found:
            raise self._problem
        return tuple(kept for _, _, kept in sorted(self._heap, key=lambda entry: entry[:2], reverse=True))


class Known(NamedTuple):
    """What the parts of two files have to know of the whole."""

    schema: Mapping[str, Any] | None
    paired: str
    metric: str
    nameless: bool = False
    """Whether only references have ids."""
    doubts: tuple[str, ...] = ()
    """What a person should look at, of an inferred schema."""
    remarks: tuple[str, ...] = ()
    """What is to be said about how the documents are paired."""


def _has_field(type_: Any, path: str) -> bool:
    """Whether there is a field at a path, through objects only, which all hold another one: of an object nothing cannot be compared."""
    fields = record_fields(type_) or {}
    name, _, rest = path.partition(".")
    if path in fields:
        return True
    return bool(rest) and len(record_fields(fields.get(name)) or ()) > 1 and _has_field(fields[name], rest)


def prepare(
    reference: Any,
    predicted: Any,
    settings: RecordSettings = RecordSettings(),  # noqa: B008 - frozen
    *,
    missing: Missing | None = None,
    known: Known | None = None,
    shape: RecordShape | None = None,
) -> Prepared:
    """Find the shape of the documents, derive the metric, and lay the two sides together: files, or values in memory."""
    with allowing_code(settings.allow_code):
        return _prepare(reference, predicted, settings, missing, known, shape)


def _prepare(
    reference: Any,
    predicted: Any,
    settings: RecordSettings,
    missing: Missing | None,
    known: Known | None,
    shape: RecordShape | None,
) -> Prepared:
    check_unknown(settings.unknown)
    if settings.type is not None and settings.schema is not None:
        raise MetricError("say what a document is once: by a type or by a schema")
    source, choices = read_choices(settings.choices)
    shape = shape or declared_shape(settings)
    left = open_reference(reference, settings, None if shape is None else shape.reference, (predicted,))
    shape = _shape_to_compare(shape, left, known, choices)
    pairing = lay_together(left, predicted, shape, settings, missing or Missing(settings.missing))
    sure = "" if settings.confidence is None else f"confidence={settings.confidence}"
    if known is not None:
        pairing.how, pairing.nameless, pairing.remarks = known.paired, known.nameless, list(known.remarks)
    if settings.metric is not None:
        pairing.predicted.metric = metric = as_metric(settings.metric).limited_to(settings.time_limit)
        cores = [side.summed.core for side in metric.by_side or (metric,)]
        if all(core.looks_at() is None and not core.reads({}) for core in cores):
            pairing.without = _pairing_ids(pairing, left, settings)[0]  # documents are compared as a whole
        return Prepared(shape, metric, (), pairing, sure, judge_by(metric, sure), settings.time_limit)
    _ignore_ids(choices, pairing, left, shape, settings)
    nothing = None if settings.nothing is None else _words(settings.nothing)
    options = {"credit": settings.credit, "equality": settings.equality, "nothing": nothing, "source": source}
    metric, keys, decisions = _derive_once(shape.reference, choices, options)
    assert keys is not None
    metric = metric.limited_to(settings.time_limit)
    pairing.reference.metric = pairing.predicted.metric = metric
    pairing.predicted.ignored = ignored_paths(decisions)
    if "record(" in str(metric):  # a product needs all of its fields, so what a prediction lacks has to be found
        pairing.predicted.convert = shape.converters()[1]
    pairing.watch_keys(keys, shape.promised, count=settings.unknown == "count")
    shape = shape.without_doubts(choices)
    said = " | ".join(filter(None, (UNKNOWN[settings.unknown], sure)))
    return Prepared(shape, metric, tuple(decisions), pairing, said, judge_by(metric, sure), settings.time_limit)


def _shape_to_compare(
    declared: RecordShape | None, reference: Any, known: Known | None, choices: Mapping[str, Any]
) -> RecordShape:
    """The shape of the documents, declared or inferred, with what the choices say about alternatives."""
    shape = declared
    if shape is None and known is not None and known.schema is not None:
        shape = inferred_shape(dict(known.schema), known.doubts)
    elif shape is None:
        shape = infer_shape(reference)
    paths = _paths_of_alternatives(shape.reference, choices)
    return shape.with_alternatives(paths) if shape.reference is not None and paths else shape


def _pairing_ids(pairing: Pairing, reference: Any, settings: RecordSettings) -> tuple[set[str], str]:
    """The fields that earn no credit, and why: a field that pairs the documents is always right, and would only flatter."""
    outside = are_named(reference) and are_named(pairing.predicted.lines) and not pairing.reference.is_named_inside
    by_id = pairing.decide() == "by id" and not outside
    found = {reference_id(settings), settings.id or "id"} if by_id or pairing.nameless else set()
    return found, "it pairs the documents" if by_id else "no prediction has one"


def _ignore_ids(
    choices: dict[str, Any], pairing: Pairing, reference: Any, shape: RecordShape, settings: RecordSettings
) -> None:
    """Choose to ignore the ids."""
    fields, why = _pairing_ids(pairing, reference, settings)
    for id_field in fields:
        if _has_field(shape.reference, id_field):
            choices.setdefault(id_field, Choice(ignored=True, why=why))


def judge_by(metric: Node, asked: Any) -> Judging | None:
    """What judges the confidences of predictions, if they were asked for."""
    if not asked:
        return None
    from tallystick.results.confidence import Judging

    if metric.by_side is not None:
        raise MetricError(
            "--confidence: a metric of two sides has no alignment that a value is right by; give one of its sides"
        )
    return Judging(metric)


def _derive(type_: Any, choices: Mapping[str, Any] | None, **options: Any) -> tuple[Node, Any, tuple[Decision, ...]]:
    """The metric of a type, the keys that the type knows, and why it is that metric."""
    metric, decisions = explain_derivation(type_, choices or {}, **options)
    return *split_known(metric), tuple(decisions)


def _derive_once(type_: Any, choices: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """The same, found once for whoever calls in a loop; only classes are the same type whenever they are equal."""
    given = tuple((path, type(one), one) for path, one in choices.items())
    known = isinstance(type_, type) and all(isinstance(one, Hashable) for one in choices.values())
    try:
        return _derived(type_, given, **options) if known else _derive(type_, choices, **options)
    except TypeError:  # something inside cannot be hashed
        return _derive(type_, choices, **options)


@lru_cache(maxsize=64)
def _derived(type_: Any, given: tuple[tuple[str, type, Any], ...], **options: Any) -> Any:
    return _derive(type_, {path: one for path, _, one in given}, **options)


def find_shape(
    reference: Any, settings: RecordSettings, ask_parts: AskParts | None = None, beside: Sequence[Any] = ()
) -> RecordShape:
    """What the documents are: as declared, or as the reference shows them, or each of its parts. `beside` are predictions."""
    with allowing_code(settings.allow_code):
        declared = declared_shape(settings)
        if declared is not None:
            return declared
        parts: list[Seen] = []
        if ask_parts is not None:
            with suppress(
                RecursionError
            ):  # too deep to travel; the whole is read, and says so if it is too deep for that, too
                parts = ask_parts(partial(see_part, settings=settings), (reference,))
        return infer_shape(open_reference(reference, settings, None, beside), parts)


def see_part(reference: Any, settings: RecordSettings) -> Seen:
    """What a part of a reference holds."""
    return see(open_reference(reference, settings, None))


def prepare_again(
    prepared: Prepared, reference: Sequence[Any], predicted: Sequence[Any], settings: RecordSettings
) -> Prepared:
    """The same shape and metric for other documents in memory, paired in the same way."""
    pairing = prepared.pairing.again(reference, predicted, settings.lenient)
    return replace(prepared, pairing=pairing, judging=judge_by(prepared.metric, prepared.judging))


def record_settings(**options: Any) -> RecordSettings:
    """Settings for other tasks whose documents are records."""
    return RecordSettings(**options)


def check_unknown(unknown: str) -> None:
    """Refuse any other word about keys that only predictions have."""
    if unknown not in UNKNOWN:
        raise MetricError(
            f"unknown: expected {' or '.join(UNKNOWN)}, found {unknown!r}.{did_you_mean(unknown, UNKNOWN)}"
        )


def declared_shape(settings: RecordSettings) -> RecordShape | None:
    """The shape that a type, a schema or a metric of one's own declares; None if it has to be inferred."""
    type_, schema = settings.type, settings.schema
    if type_ is not None:
        type_ = load(type_) if isinstance(type_, str) else type_
        if not isinstance(type_, Hashable):
            raise MetricError(f"type: expected a type, found {type(type_).__name__} {type_!r:.60}")
        return RecordShape(type_, type_)
    if schema is not None:
        named = isinstance(schema, (str, Path))
        return shape_of_schema(read_data(schema) if named else schema, str(schema) if named else "schema")
    return PLAIN if settings.metric is not None else None


def as_metric(metric: Node | str) -> Node:
    """A metric, or the text of one."""
    return parse(metric) if isinstance(metric, str) else metric


def run_prepared(
    prepared: Prepared,
    asked: Asked = Asked(),  # noqa: B008 - frozen
    *,
    fields: bool = True,
    wanted: Wanted | None = None,
    grouping: Grouping | None = None,
    take_ids: Callable[[Sequence[Any]], None] | None = None,
) -> Run:
    """Score all documents, a batch at a time. If no rows are asked for, memory does not grow with the number of documents as long
    as both files have the same order."""
    evaluation = prepared.evaluation(
        undefined=asked.undefined, keep=asked.keep or asked.by_document, rows=asked.keep_rows,
        fields=fields and asked.label is None and not asked.keep, labels=asked.label,
    )  # fmt: skip
    if prepared.metric.aligned_by is None and asked.documents:
        grouping = None  # a report has no groups where nothing says what is wrong
    evaluation.keep_aligned = grouping is not None and prepared.metric.by_side is None
    lines = prepared.pairing.reference.lines
    batches = _slices(prepared) if evaluation.keep_aligned else None
    for batch, rows in scored_batches(prepared, evaluation, batches):
        if wanted is not None:
            wanted.look(batch, evaluation, rows)
        if grouping is not None:
            grouping.add(
                evaluation.metric, as_data(batch.references), as_data(batch.predictions), batch.ids, evaluation.aligned
            )
        if take_ids is not None:
            take_ids(batch.ids)
        if asked.advance is not None and lines.size:
            asked.advance(min(lines.size, lines.position), lines.size)
    run = complete_run(prepared, evaluation.compute(), wanted)
    return run if grouping is None else replace(run, errors=grouping.errors())


def _slices(prepared: Prepared) -> Iterator[Batch]:
    """The batches, cut as they go through the engine: what is kept of the alignment of one is let go before the next comes."""
    for batch in prepared.pairing.batches():
        data = [as_data(side) for side in (batch.references, batch.predictions)]
        step = batch_size(prepared.metric, data[0]) if all(map(separable, data)) else len(batch.ids)
        for start in range(0, len(batch.ids), max(1, step)):
            here = slice(start, start + step)
            yield Batch(batch.ids[here], batch.references[here], batch.predictions[here])


def scored_batches(
    prepared: Prepared, evaluation: Evaluation, batches: Iterator[Batch] | None = None
) -> Iterator[tuple[Batch, F64]]:
    """All documents, a batch at a time with its rows, as they are put into an evaluation."""
    batches = prepared.pairing.batches() if batches is None else batches
    for batch in batches:
        try:
            found = evaluation.update(batch.references, batch.predictions, ids=batch.ids)
            assert evaluation.scored is not None
            batch = Batch(batch.ids, *(Rows(side) for side in evaluation.scored))
            if prepared.judging is not None and (said := prepared.pairing.predicted.confidences) is not None:
                right = exact_rows(evaluation.kind, found)
                prepared.judging.look(batch.ids, (batch.references, batch.predictions), right, said.of)
        except SidesMismatch:  # an id comes twice: reading to the end finds out on which line
            deque(batches, maxlen=0)
            raise
        yield batch, found


def tallied_batches(prepared: Prepared) -> Iterator[tuple[Batch, F64]]:
    """All documents, a batch at a time with its rows, of which nothing is kept; a few small documents are scored without columns."""
    evaluation: Evaluation | None = None
    for batch in prepared.pairing.batches():
        rows = few_rows(prepared.metric, batch.references, batch.predictions)
        if rows is None:
            evaluation = evaluation or prepared.evaluation(keep=False)
            rows = evaluation.update(batch.references, batch.predictions, ids=batch.ids)
        yield batch, rows


def complete_run(prepared: Prepared, result: Result, wanted: Wanted | None) -> Run:
    """A result with its warnings and the documents that are wanted."""
    warnings = (*prepared.shape.doubts, *prepared.pairing.warnings(), *warn_of_nothing(prepared, result))
    return Run(
        prepared,
        prepared.signed(result.changed(notes=(*result.notes, *warnings))),
        wanted.found if wanted else (),
        warnings,
        aligned=wanted.aligned if wanted else {},
    )


@dataclass
class Beside:
    """What a part of two files has beside its tallies: findings, predictions without a reference, documents to look at, errors."""

    findings: Findings
    ignored: list[Any]
    wanted: Wanted | None
    grouping: Grouping | None

    def add(self, other: Beside) -> None:
        self.findings.add(other.findings)
        self.ignored += other.ignored
        if self.wanted is not None and other.wanted is not None:
            self.wanted.add(other.wanted)
        if self.grouping is not None and other.grouping is not None:
            self.grouping.join(other.grouping)


def score_part(reference: str, predicted: str, settings: RecordSettings, asked: Asked, known: Known) -> Scored:
    """Score a part of two files."""
    prepared, wanted = prepare(reference, predicted, settings, known=known), wanted_documents(settings, asked)
    ids: list[Any] = []
    grouping = wanted_errors(settings, asked)
    run = run_prepared(prepared, asked, wanted=wanted, grouping=grouping, take_ids=ids.extend)
    part = Source.of(reference)
    if part.is_part and not part.by_name and prepared.pairing.unpaired:
        raise SidesMismatch("what one side of a shard has, the other lacks")
    result = run.result.changed(notes=tuple(note for note in run.result.notes if note not in run.warnings))
    beside = Beside(prepared.pairing.predicted.findings, prepared.pairing.ignored, wanted, grouping)
    return Scored(
        None, {"records": result}, extra=beside, ids=ids, unanswered=tuple(prepared.pairing.missing.unanswered)
    )


def wanted_documents(settings: RecordSettings, asked: Asked) -> Wanted | None:
    """The documents that are shown, or that a report carries."""
    most = max(asked.documents, settings.worst or 0)
    return Wanted(most, even_right=bool(asked.documents)) if most else None


def wanted_errors(settings: RecordSettings, asked: Asked) -> Grouping | None:
    """Where errors are grouped: those of all documents, or of as many as a report looks at."""
    return Grouping() if settings.errors else Grouping(most=GROUPED) if asked.documents else None


def warn_of_nothing(prepared: Prepared, result: Result) -> list[str]:
    """Predictions that were read and have nothing of what is compared are probably wrapped in something."""
    findings = prepared.pairing.predicted.findings
    surplus = sum(findings.unknown.values()) if findings.unknown_counts else 0
    tally = result.tally  # looked at first: the totals of many documents take their time
    if tally.get("den_p") != surplus or not tally.get("den_r") or result.totals.invalid == result.count:
        return []
    hint = "" if isinstance(prepared.pairing.predicted.lines, PickedLines) else _hint_inside(findings)
    return [f"no prediction has any of the fields that the reference has{hint}"]


def _hint_inside(findings: Findings) -> str:
    if findings.inside is None:
        return "; if the answer is inside another field, name it with --from PATH (and the reference comes first)"
    path, text = findings.inside
    if not text:
        return f"; they seem to be under {path!r}, which --from '{path}' reads"
    return f"; {path!r} has text with JSON in it, which --from '{path}' --lenient reads"


def score_prepared(prepared: Prepared) -> Result:
    """Score all documents and keep them, to be looked at later."""
    batches = list(islice(prepared_batches := prepared.pairing.batches(), 2))
    found = None
    if len(batches) == 1 and prepared.judging is None:
        found = evaluate_few(prepared.metric, batches[0].references, batches[0].predictions, ids=batches[0].ids)
    if found is None:
        evaluation = prepared.evaluation()
        deque(scored_batches(prepared, evaluation, chain(batches, prepared_batches)), maxlen=0)
        found = evaluation.compute()
    result = prepared.signed(found)
    return result.changed(notes=(*result.notes, *prepared.pairing.warnings()))


def without_warnings_of(scored: Scored, prepared: Prepared, documents: Collection[Any]) -> Scored:
    """A result that does not warn of what is in these documents, which are left out: all others are read again."""
    told, pairing = list(scored.corpus.pairing.warnings()), prepared.pairing
    if not told:
        return scored
    pairing.left_out = documents
    deque(pairing.batches(), maxlen=0)
    result = scored.results["records"]
    notes = (*(note for note in result.notes if note not in told), *pairing.warnings())
    return replace(scored, results={"records": result.changed(notes=notes)})


def score(
    reference: Any,
    predicted: Any,
    *,
    type: Any = None,
    schema: Any = None,
    choices: Any = None,
    **options: Any,
) -> Results:
    """Score predicted records against a reference: what `tallystick score records` does, for data in memory, too.

    Both sides may be one record, a list of them, a mapping from ids to them, a data frame (pandas, polars, pyarrow), or a path; a
    record is plain data, an instance of a type, or text: JSON, or whatever a model wrote. `type` is a dataclass, a pydantic model or any
    other type of a record, `schema` a JSON Schema; without either the shape is inferred from the reference. `choices` say by path
    how to compare what. All other options are those of the command: `credit`, `unknown`, `nothing`, `id`, `from_`, ... A model's
    text in memory is always read leniently, by itself or under `from_`; everything else only with `lenient`.

    >>> results = ts.score({"vendor": "Acme", "total": 12.5}, '{"vendor": "Acme", "total": 12}')
    >>> results.f1
    0.5
    """
    found: Results = function_of("records")(reference, predicted, type=type, schema=schema, choices=choices, **options)
    return found


def score_files(reference: str | Path, predicted: str | Path, *, undefined: float | None = None, **options: Any) -> Run:
    """Score two files of records; the options are those of `RecordSettings`, which are those of the command."""
    settings, asked = RecordSettings(**options), Asked(undefined=undefined)
    return run_prepared(prepare(reference, predicted, settings), asked, wanted=wanted_documents(settings, asked))


def read_choices(choices: Mapping[str, Any] | str | Path | None) -> tuple[str, dict[str, Any]]:
    """Choices by path, and where they come from."""
    if choices is None or isinstance(choices, Mapping):
        return "choices", dict(choices or {})
    found = read_data(choices)
    if not isinstance(found, Mapping):
        raise InputError(f"expected a mapping from paths to choices, found {found!r:.60}", str(choices))
    return str(choices), {"" if path in ("$", "") else str(path): choice for path, choice in found.items()}


def _has_any_of(choice: Any) -> bool:
    return bool(choice.any_of if isinstance(choice, Choice) else isinstance(choice, Mapping) and choice.get("any_of"))


def _paths_of_alternatives(type_: Any, choices: Mapping[str, Any]) -> set[str]:
    """Where the reference may hold several right values: paths, and whatever fits a rule."""
    chosen = {path: choice for path, choice in choices.items() if _has_any_of(choice)}
    rules = Rules(chosen, "choices")
    if type_ is None or not rules.patterns:
        return set(chosen)
    _, decisions = explain_derivation(type_, {path: one for path, one in choices.items() if path not in chosen})
    return {one.path for one in decisions if rules.at(one.path, True).any_of}


def _words(listed: str | Sequence[str]) -> tuple[str, ...]:
    words = listed.split(",") if isinstance(listed, str) else listed
    if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
        raise MetricError(f"nothing: expected words, found {listed!r:.60}")
    return tuple(filter(None, map(str.strip, words))) if isinstance(listed, str) else tuple(words)


def exact_note(result: Result) -> str:
    """How many documents are right in everything, in words."""
    if result.exact is None or result.exact_documents is None:
        return ""
    return f"{result.exact_documents:,} exact ({100 * result.exact:.1f} %)"

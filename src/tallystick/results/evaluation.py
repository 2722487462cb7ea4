"""Scoring a corpus: documents in, a tally row for each document, one result.

    evaluate(metric, references, predictions)

The documents of both sides are columns whose k-th rows meet. They are taken in batches, so that rectangles of
dense similarities stay small; a batch's tallies are simply put below the ones before, or, if nobody will ask for them,
added to their totals. A document's row depends on that document alone, and the sums are exact, so that no figure depends on
the size of the batches, their order, or who has computed them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned, align_documents
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.plain import plan_of
from tallystick.algebra.proofs import Proofs
from tallystick.algebra.surplus import Surpluses, accept_documents, without_unknown
from tallystick.engine.arrays import F64, I64, Blocks
from tallystick.engine.clock import within
from tallystick.engine.data import (
    COLUMNS,
    Data,
    Memory,
    Nullable,
    Objects,
    Scope,
    as_data,
    is_arrow,
    longest_lists,
    separable,
    sliced,
    split_surplus,
)
from tallystick.engine.tally import Kind, Totals, are_integers, joint_kind, rows_under
from tallystick.engine.values import Invalid, field_names
from tallystick.errors import MetricError, OutOfTime, SidesMismatch, ValueMismatch, counted, some, unmet_ids
from tallystick.results.accounts import Account, FieldSums, LabelSums, Subject
from tallystick.results.result import Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tallystick.results.leaves import Layer

Progress = Callable[[int, int], None]


def evaluate(
    metric: Node | str,
    reference: Any,
    predicted: Any,
    *,
    undefined: float | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    time_limit: float | None = None,
) -> Result:
    """Score predictions against references.

    `reference` and `predicted` are two sequences of documents of one length, two mappings by document id, or two
    columns (see `tallystick.engine`). A document is whatever value the metric is for: a list of relations, a
    record, a set of entities. `undefined` is what a figure is where it is 0/0: None, 0.0 or 1.0. `executor` is any
    `concurrent.futures.Executor`, to which the batches go; the result is the same to the last bit. `time_limit` is in seconds for each
    document: matchings that it stops have bounds (`result.bounds`), and similarities that take longer are an error.

    >>> result = ts.evaluate(ts.f1(ts.match(ts.exact)), [["a", "b"], ["c"]], [["a"], ["c", "d"]])
    >>> result.f1, result.precision
    (0.6666666666666666, 0.6666666666666666)
    >>> ts.evaluate("f1(match(exact))", {"d1": ["a"]}, {"d1": ["a"]}).f1
    1.0
    """
    if batch is None and progress is None and executor is None and time_limit is None:
        found = evaluate_few(metric, reference, predicted, undefined)
        if found is not None:
            return found
    run = Evaluation(metric, undefined=undefined, time_limit=time_limit)
    run.update(reference, predicted, batch=batch, progress=progress, executor=executor)
    return run.compute()


FEW = 32
"""So many documents are scored one by one, as far as they are small; laying out columns pays with more."""


def few_rows(metric: Any, reference: Any, predicted: Any) -> F64 | None:
    """The tallies of a few small documents, found without columns; None where that is not the same, or no quicker."""
    if type(reference) is not list or type(predicted) is not list or not 0 < len(reference) == len(predicted) <= FEW:
        return None
    plan = plan_of(metric) if isinstance(metric, Node) else None
    rows = None if plan is None else plan.tallies(reference, predicted)
    return None if rows is None else np.array(rows)


def evaluate_few(
    metric: Any, reference: Any, predicted: Any, undefined: float | None = None, ids: Sequence[Any] | None = None
) -> Result | None:
    """Their result, which is kept as any other."""
    rows = few_rows(metric, reference, predicted) if undefined in (None, 0.0, 1.0) else None
    if rows is None:
        return None
    return Result(
        metric, kind_of(metric), rows, tuple(range(len(rows)) if ids is None else ids), undefined,
        sources=((Objects(reference.copy()), Objects(predicted.copy())),), settings=settings_of(metric),
    )  # fmt: skip


def under_limit(metric: Node, seconds: Any) -> Node:
    """The metric with a time limit for each document, which its expression and so its signature say wherever bounds may depend on it."""
    if seconds is not None and not (
        isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0
    ):
        raise MetricError(f"time_limit: expected seconds above 0, found {seconds!r:.60}")
    return metric.limited_to(seconds)


def settings_of(metric: Node) -> str:
    """What changes the figures of a metric and is not in its expression."""
    return "" if getattr(metric, "known", None) is None else "unknown=counted"


class Evaluation:
    """An evaluation in parts: `update` as often as you like, `merge` what was done elsewhere, then `compute`.

    `keep` keeps the documents, for explanations and breakdowns; `rows` the tally of each document, for figures by
    document and intervals. With neither, memory does not grow with the number of documents. `fields` and `labels` (a
    path) add up on the way what a breakdown needs. An update or a merge that fails leaves nothing behind.
    """

    def __init__(
        self,
        metric: Node | str,
        *,
        undefined: float | None = None,
        keep: bool = True,
        rows: bool = True,
        fields: bool = False,
        labels: str | None = None,
        time_limit: float | None = None,
    ) -> None:
        if isinstance(metric, str):
            from tallystick.algebra.parse import parse

            metric = parse(metric)
        if not isinstance(metric, Node):
            raise MetricError(f"expected a metric such as f1(match(exact)), found {metric!r}")
        if undefined not in (None, 0.0, 1.0):
            raise MetricError(f"undefined must be None, 0.0 or 1.0, found {undefined!r}")
        metric = under_limit(metric, time_limit)
        self.metric, self.undefined, self.keep = metric, undefined, keep and rows
        self._without_columns: list[tuple[Data, Data]] = []
        self.scored: tuple[Data, Data] | None = None
        """The documents of the last update as they were scored: what nothing can meet stands apart."""
        self.keep_aligned = False
        self.aligned: list[Layer] | None = None
        """The alignments of the documents of the last update, slice by slice, if these are to be kept."""
        kind = kind_of(metric)
        self._taken = Account(
            kind,
            Subject(metric, undefined, settings_of(metric)),
            totals=None if rows else Account.nothing(kind).totals,
            fields={} if fields else None,
            labels=None if labels is None else LabelSums(labels),
            documents=[] if self.keep else None,
            time_limit=time_limit,
        )

    @property
    def kind(self) -> Kind:
        """What turns the tallies so far into figures."""
        return self._taken.kind

    @property
    def rows(self) -> F64:
        """The tallies so far, a row for each document; none if rows are not kept."""
        return self._taken.rows

    @property
    def totals(self) -> Totals | None:
        """The sums so far, instead of the rows."""
        return self._taken.totals

    def __repr__(self) -> str:
        return str(self.metric)

    def update(
        self,
        reference: Any,
        predicted: Any,
        *,
        ids: Sequence[Any] | None = None,
        batch: int | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> F64:
        """Score more documents, and return their rows; `ids` names those of two sequences. An executor's workers do the
        work; documents given as columns go there as a whole."""
        by_id = isinstance(reference, Mapping)
        if by_id and isinstance(predicted, Mapping):
            _refuse_one_document(self.metric, reference)
        places, reference, predicted = paired(reference, predicted)
        ids = places if by_id and ids is None else ids
        n, first = len(reference), self._taken.count
        if ids is not None and len(ids) != n:
            raise SidesMismatch(f"{len(ids):,} ids for {n:,} documents")
        _check_how(batch, executor)
        listed = [None] * n if ids is None else list(ids)
        self._taken.check_ids(listed)
        names = range(first, first + n) if ids is None else listed
        step = batch or batch_size(self.metric, reference)
        surplus = Surpluses()
        reference, predicted = without_unknown(self.metric, reference, predicted, names, surplus)
        few = (
            self._rows_of_few(reference, predicted) if batch is None and progress is None and executor is None else None
        )
        if few is None:
            self._note_fields()

        def scored() -> Account:
            if few is not None:
                return self._account_of_few(few)
            if executor is not None:
                return self._tallied_there(executor, reference, predicted, names, step, progress)
            found = self._taken.like(replace(self._taken.memory, absent=dict(self._taken.memory.absent)))
            alone = ids is None and first + n == 1
            found.aligned = [] if self.keep_aligned else None
            tally(found, self.metric, reference, predicted, names, step, progress, alone=alone)
            return found

        try:
            found = scored()
        except ValueMismatch as error:
            accepted = accept_documents(self.metric, predicted, names, surplus)
            if accepted is None:
                raise (error if not by_id or n > 20 else _read_by_id(error, places)) from None
            predicted = accepted
            found = scored()
        found.surplus = surplus
        return self._take(found, listed, reference, predicted)

    def _take(self, found: Account, ids: list[Any], reference: Any, predicted: Any) -> F64:
        """Add what was scored, and return its rows."""
        self.scored = reference, predicted
        self.aligned, found.aligned = found.aligned, None
        rows = found.rows
        found.let_go(ids)
        if self._taken.totals is None:
            found.ids = ids
        found.documents = [(reference, predicted)]
        self._taken.add(found)
        self._taken.forget()
        return rows_under(self.kind, found.kind, rows)

    def _rows_of_few(self, reference: Data, predicted: Data) -> F64 | None:
        """The rows of the first documents, if these are few and small, without columns, and if they are whole numbers: others might differ
        in the last bit from those of larger batches. What a breakdown needs is found in columns."""
        if self._taken.count or self._taken.fields is not None or self._taken.labels is not None:
            return None
        if not isinstance(reference, Objects) or not isinstance(predicted, Objects):
            return None
        rows = few_rows(self.metric, reference.values, predicted.values)
        if rows is None or not are_integers(rows):
            return None
        self._without_columns.append((reference, predicted))
        return rows

    def _account_of_few(self, rows: F64) -> Account:
        found = self._taken.like(Memory(absent=dict(self._taken.memory.absent)))
        found.batches, found.count = [(found.kind, rows, None)], len(rows)
        return found

    def _note_fields(self) -> None:
        """Lay out what was scored without columns, since these note which fields there are."""
        while self._without_columns:
            tally_rows(self.metric, *self._without_columns.pop(), self._taken.memory)

    def _tallied_there(
        self, executor: Executor, reference: Data, predicted: Data, names: Sequence[Any], step: int,
        progress: Progress | None,
    ) -> Account:  # fmt: skip
        from tallystick.engine.windows import in_order, share, slices

        n = len(reference)
        objects = isinstance(reference, Objects) and isinstance(predicted, Objects)
        parts = list(slices(n, share(n, step, executor))) if objects else [slice(0, n)]

        def part_of(side: Data, part: slice) -> Data:
            return Objects(side.values[part]) if isinstance(side, Objects) and objects else side

        def empty() -> Account:
            return self._taken.like(Memory())

        jobs = (
            (empty(), self.metric, part_of(reference, part), part_of(predicted, part), names[part]) for part in parts
        )
        gathered = empty()
        for part, (_, done) in zip(parts, in_order(executor, _tally_there, jobs), strict=True):
            gathered.add(done)
            if progress is not None:
                progress(part.stop, n)
        return gathered

    def merge(self, other: Evaluation) -> None:
        """Add what another evaluation of the same metric has tallied."""
        self._note_fields()
        other._note_fields()
        self._taken.check(other._taken)
        self._taken.check_ids(other._taken.ids)
        self._taken.add(other._taken)

    def compute(self) -> Result:
        """The result so far."""
        for message in self._taken.memory.absent.values():
            if message:
                raise ValueMismatch(message)
        return self._taken.result()


def _tally_there(job: tuple[Account, Node, Data, Data, Sequence[Any]]) -> Account:
    """In a worker: the tallies of some documents."""
    account, metric, reference, predicted, names = job
    tally(account, metric, reference, predicted, names, batch_size(metric, reference))
    account.let_go(names)
    if account.totals is None:
        account.ids = [None] * len(reference)
    return account


def paired(reference: Any, predicted: Any) -> tuple[Sequence[Any], Data, Data]:
    """Ids and both sides' documents in one order; what does not fit together is an error."""
    if isinstance(reference, Mapping) or isinstance(predicted, Mapping):
        if not (isinstance(reference, Mapping) and isinstance(predicted, Mapping)):
            raise SidesMismatch("one side is a mapping by document id and the other is not; give both in one form")
        missing, extra = reference.keys() - predicted.keys(), predicted.keys() - reference.keys()
        if missing or extra:
            raise SidesMismatch(unmet_ids([k for k in reference if k in missing], [k for k in predicted if k in extra]))
        ids = list(reference)
        return ids, Objects([reference[k] for k in ids]), Objects([predicted[k] for k in ids])
    _check_documents("reference", reference)
    _check_documents("predicted", predicted)
    left, right = as_data(reference), as_data(predicted)
    if len(left) != len(right):
        raise SidesMismatch(
            f"reference has {len(left):,} documents and predicted has {len(right):,}; they are compared one by one, "
            f"so give the same number, or mappings by document id"
        )
    return range(len(left)), left, right


def _refuse_one_document(metric: Node, reference: Mapping[Any, Any]) -> None:
    """A dict whose keys are the fields of the metric's record is one document, not documents by id."""
    fields = metric.summed.looks_at() if metric.by_side is None and metric.summed.structure == "record" else None
    if not fields or not reference or not (fields.keys() <= reference.keys() or reference.keys() <= fields.keys()):
        return
    inside = [set(value) if isinstance(value, Mapping) else set(field_names(value)) for value in reference.values()]
    if not all(names & fields.keys() for names in inside):
        raise SidesMismatch(
            f"reference is a dict whose keys ({some(reference)}) are the fields of the metric; a dict is read as documents by id. For one "
            "document, give [reference] and [predicted]"
        )


def _check_how(batch: int | None, executor: Executor | None) -> None:
    if batch is not None and (not isinstance(batch, int) or batch < 1):
        raise MetricError(f"batch must be 1 or more documents, found {batch!r}")
    if executor is not None and not hasattr(executor, "submit"):
        raise MetricError(f"executor: expected one of concurrent.futures or of Dask, found {executor!r:.60}")


def _read_by_id(error: ValueMismatch, ids: Sequence[Any]) -> ValueMismatch:
    return ValueMismatch(
        f"{error} (both sides are dicts, which were read as {counted(len(ids), 'document')} by id, {some(ids)}; for one document, give "
        "[reference] and [predicted])"
    )


def _check_documents(name: str, side: Any) -> None:
    """That a side is a sequence of documents in an order of their own, or a column."""
    is_frame = hasattr(side, "iloc") and hasattr(side, "columns")
    if isinstance(side, (set, frozenset)) or is_frame:
        advice = "use df.to_dict('records')" if is_frame else "use a list, or a mapping by document id"
        raise SidesMismatch(f"{name} is a {type(side).__name__}, whose documents have no order of their own; {advice}")
    is_sequence = hasattr(side, "__iter__") or isinstance(side, COLUMNS) or is_arrow(side)
    if isinstance(side, (str, bytes)) or not is_sequence:
        raise SidesMismatch(f"{name} must be a sequence of documents, found {type(side).__name__}")


# One batch of documents through the engine: Σ(P,R), Σ(P,P) and Σ(R,R) of each, as rows of a tally.


def kind_of(metric: Node) -> Kind:
    """Which figures a metric has."""
    found: Kind | None = metric.__dict__.get("_kind")
    if found is None:
        found = metric.__dict__["_kind"] = metric.kind_of_tally()
    return found


def tally_rows(metric: Node, reference: Data, predicted: Data, memory: Memory) -> F64:
    """num_p, den_p, num_r, den_r of each document."""
    return tally_bounds(metric, reference, predicted, Scope(memory=memory))[0]


def tally_bounds(
    metric: Node,
    reference: Data,
    predicted: Data,
    scope: Scope,
    fields: FieldSums | None = None,
) -> tuple[F64, F64]:
    """The tally of each document, and the same with the numerators' upper bounds where a time limit struck; what the
    documents' fields earned is added to `fields`, if asked for."""
    if metric.by_side is not None:
        told = metric.aligned_by
        first, second = (
            _tally(side.summed, reference, predicted, scope, fields if side.summed is told else None)
            for side in metric.by_side
        )
        rows, above = (
            np.concatenate((one[:, :2], other[:, 2:]), axis=1) for one, other in zip(first, second, strict=True)
        )
        return rows, above
    return _tally(metric.summed, reference, predicted, scope, fields)


def _tally(
    inner: Similarity,
    reference: Data,
    predicted: Data,
    scope: Scope,
    fields: FieldSums | None = None,
) -> tuple[F64, F64]:
    n = len(reference)
    predicted, surplus = split_surplus(predicted)
    valid, predicted = readable(predicted)
    r, p = inner.encode(reference, predicted, scope)
    out = np.zeros((n, 4))
    if not n:
        return out, out
    blocks = Blocks.diagonal(n) if valid is None else Blocks(np.arange(n, dtype=np.int64), valid, n)
    places = np.arange(n) if valid is None else valid
    sums = inner.numerators(r, p, blocks)
    out[places[sums.j], 0], out[sums.i, 2] = sums.predicted, sums.reference
    out[places, 1], out[:, 3] = inner.selves(p), inner.selves(r)
    for counts in surplus.values():
        out[:, 1] += counts
    documents = scope.memo[Aligned] = align_documents(inner, r, p, valid=valid, homes=True)
    for _, ours, theirs in inner.one_sided(documents):
        out[ours, 3] += 1
        out[theirs, 1] += 1
    if fields is not None:
        from tallystick.results.breakdown import add_documents, add_surplus

        add_documents(fields, documents)
        add_surplus(fields, surplus)
    proofs = scope.memo.get(Proofs)
    if proofs is None or not proofs.open or not inner.limited:
        return out, out
    above = out.copy()
    sums = inner.at_most().numerators(r, p, blocks)
    above[places[sums.j], 0], above[sums.i, 2] = sums.predicted, sums.reference
    return out, above


def readable(predicted: Data) -> tuple[I64 | None, Data]:
    """The predictions that are valid, and their rows (None: all). An invalid one has nothing that could meet anything."""
    predicted = split_surplus(predicted)[0]
    if isinstance(predicted, Nullable):  # a document is null where there is no prediction
        return np.flatnonzero(predicted.position >= 0), predicted.present
    if not isinstance(predicted, Objects) or Invalid not in set(map(type, predicted.values)):
        return None, predicted
    kept = [k for k, value in enumerate(predicted.values) if type(value) is not Invalid]
    return np.array(kept, np.int64), Objects([predicted.values[k] for k in kept])


# Many documents in batches, few enough at once that they stay in the processor's cache, into one account.


def tally(
    account: Account, metric: Node, reference: Data, predicted: Data, names: Sequence[Any], step: int,
    progress: Progress | None = None, *, alone: bool = False,
) -> None:  # fmt: skip
    """Put the tallies of these documents into an empty account. `names` are what errors call them; a document that is `alone`
    needs no name."""
    n = len(reference)
    whole = n <= step or not (separable(reference) and separable(predicted))
    for start in range(0, n, max(n, 1) if whole else step):
        if whole:
            left, right = reference, predicted
        else:
            left, right = (sliced(side, start, start + step) for side in (reference, predicted))
        scope = Scope(memory=account.memory)
        here = names[start : start + len(left)] if not alone else ()
        try:
            with within(account.time_limit, len(left)):
                ranked = metric.rank(left, *readable(right), scope)
                if ranked is None:
                    fields = account.fields if account.aligned is None else None
                    kind, (rows, above) = account.kind, tally_bounds(metric, left, right, scope, fields)
                    if account.aligned is not None:
                        account.aligned.append(_keep_aligned(account, left, right, scope.memo[Aligned]))
                else:
                    kind, rows, above = *ranked, None
        except OutOfTime as error:
            raise OutOfTime(f"{_called(here)}{error}") from None
        except ValueMismatch as error:

            def score(some: Data, others: Data) -> Any:
                ranked = metric.rank(some, *readable(others), Scope(memory=account.memory))
                return tally_rows(metric, some, others, account.memory) if ranked is None else ranked

            raise blame(error, score, left, right, here) from None
        account.kind = joint_kind(account.kind, kind)
        account.batches.append((kind, rows, above if metric.limited else None))
        account.count += len(rows)
        if Proofs in scope.memo:
            account.open_selves += scope.memo[Proofs].open_selves
        if progress is not None:
            progress(min(n, start + len(left)), n)
    if account.labels is not None:
        from tallystick.results.breakdown import add_label_sums

        add_label_sums(account.labels, metric, reference, predicted, account.memory)
    valid, _ = readable(predicted)
    account.invalid = [] if valid is None else sorted(set(range(n)) - set(valid.tolist()))


def _keep_aligned(account: Account, reference: Data, predicted: Data, documents: Aligned) -> Layer:
    """An alignment that others will look at, too: what the fields earned is read off it on the way."""
    from tallystick.results.breakdown import add_documents, add_surplus
    from tallystick.results.leaves import Layer

    top = Layer.of(reference, predicted, documents)
    if account.fields is not None:
        add_documents(account.fields, documents, (leaf.level for leaf in top.leaves()))
        add_surplus(account.fields, split_surplus(predicted)[1])
    return top


def _called(names: Sequence[Any]) -> str:
    """Documents at the beginning of a message."""
    if not len(names):
        return ""
    return f"document {names[0]}: " if len(names) == 1 else f"documents {names[0]} to {names[-1]}: "


def batch_size(metric: Node, documents: Data) -> int:
    """How many documents go through the engine at once: few enough that they stay in the processor's cache."""
    most = 8192
    if isinstance(documents, Objects):
        sample = documents.values[:: max(1, len(documents) // 64)]
        sizes = [size for size in map(_items_in, sample) if size]
        mean = 1 + sum(sizes) / len(sizes) if sizes else 4
    else:  # a column is cheap to lay out, so that fewer and larger batches pay
        mean, most = 1 + longest_lists(documents), 65536
    dense = any(isinstance(node, Similarity) and node.dense for node in metric.walk())
    cells = 2_000_000 / mean**2 if dense else most
    return int(max(1, min(most / mean, cells)))


def _items_in(value: Any, depth: int = 2) -> int:
    """The length of the longest list in a document: it says how large its rectangles are."""
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        return len(value)
    if depth == 0 or isinstance(value, (str, bytes, int, float)):
        return 0
    inside = value if isinstance(value, Mapping) else {n: getattr(value, n, None) for n in field_names(value)}
    return max((_items_in(one, depth - 1) for one in inside.values()), default=0)


# Which document has the value that cannot be scored: in columns, where values lie, nobody knows any more.


def blame(
    error: ValueMismatch, score: Callable[[Data, Data], Any], reference: Data, predicted: Data, ids: Sequence[Any]
) -> ValueMismatch:
    """The same error with the first document that has it, found by halving; as it is if no document has it alone, or if the
    documents have no ids."""
    if len(ids) == 1:
        return ValueMismatch(f"document {ids[0]}: {error}")
    if not ids or not (separable(reference) and separable(predicted)):
        return error

    def problem(start: int, stop: int) -> ValueMismatch | None:
        try:
            score(*(sliced(side, start, stop) for side in (reference, predicted)))
        except ValueMismatch as found:
            return found
        return None

    first, last = 0, len(reference)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if problem(first, middle) is not None else (middle, last)
    found = problem(first, last)  # values of kinds that do not go together need several documents
    return error if found is None else ValueMismatch(f"document {ids[first]}: {found}")

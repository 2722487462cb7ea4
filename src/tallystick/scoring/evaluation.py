"""Scoring a corpus: documents in, a tally row for each document, one result.

    evaluate(metric, references, predictions)

The documents of both sides are columns whose k-th rows meet. They are taken in batches, so that rectangles of
dense similarities stay small; a batch's tallies are simply put below the ones before, or, if nobody will ask for them,
added to an account. A document's row depends on that document alone, and the sums are exact, so that no figure depends on
the size of the batches, their order, or who has computed them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64, I64
from tallystick.columns.blocks import Blocks
from tallystick.columns.data import COLUMNS, Data, Memory, Nullable, Objects, Scope, as_data, field_names, is_arrow
from tallystick.columns.rows import longest_lists, separable, sliced
from tallystick.columns.surplus import split_surplus
from tallystick.columns.unfit import Invalid
from tallystick.errors import MetricError, SidesMismatch, ValueMismatch, some, unmet_ids
from tallystick.matching.normalise import F, Normaliser, Sides, numerators, two_numerators
from tallystick.matching.proofs import Proofs, at_most, limited
from tallystick.scoring.accounts import Account, FieldSums, LabelSums, merged_fields, merged_labels
from tallystick.scoring.result import Result
from tallystick.scoring.tally import Counts
from tallystick.similarity.node import Node, Similarity

Progress = Callable[[int, int], None]

MOST_CALLS = 1_000_000
"""So many answers of users' functions are remembered where memory is bounded."""


def evaluate(
    metric: Node | str,
    reference: Any,
    predicted: Any,
    *,
    undefined: float | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Result:
    """Score predictions against references.

    `reference` and `predicted` are two sequences of documents of one length, two mappings by document id, or two
    columns (see `tallystick.columns`). A document is whatever value the metric is for: a list of relations, a
    record, a set of entities. `undefined` is what a figure is where it is 0/0: None, 0.0 or 1.0. `executor` is any
    `concurrent.futures.Executor`, to which the batches go; the result is the same to the last bit.
    """
    run = Evaluation(metric, undefined=undefined)
    run.update(reference, predicted, batch=batch, progress=progress, executor=executor)
    return run.compute()


class Evaluation:
    """An evaluation in parts: `update` as often as you like, `merge` what was done elsewhere, then `compute`.

    `keep` keeps the documents, for explanations and breakdowns; `rows` the tally of each document, for figures by
    document and intervals. With neither, memory does not grow with the number of documents. `fields` and `labels` (a
    path) add up on the way what a breakdown needs.
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
    ) -> None:
        if isinstance(metric, str):
            from tallystick.parsing import parse

            metric = parse(metric)
        if not isinstance(metric, Node):
            raise MetricError(f"expected a metric such as f1(match(exact)), found {metric!r}")
        if undefined not in (None, 0.0, 1.0):
            raise MetricError(f"undefined must be None, 0.0 or 1.0, found {undefined!r}")
        self.metric, self.undefined, self.keep = metric, undefined, keep and rows
        self.kind = kind_of(metric)
        self.rows: list[F64] = []
        """The tallies so far, an array for each batch."""
        self.account: Account | None = None if rows else Account.nothing(self.kind)
        """The sums so far, instead of the rows."""
        self._above: list[F64] = []
        self._open_selves = 0
        self._ids: list[Any] = []  # None for a document without a name: its place is its id
        self._documents: list[tuple[Any, Any]] | None = [] if self.keep else None
        self._memory = Memory()
        self._named: set[Any] = set()
        self._fields: FieldSums | None = {} if fields else None
        self._labels: LabelSums | None = {} if labels is not None else None
        self._label = labels
        self._invalid: list[int] = []
        self._negative = 0
        self._silent = (0, 0)

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
        named = isinstance(reference, Mapping) or ids is not None
        places, reference, predicted = paired(reference, predicted)
        ids = places if ids is None else ids
        if len(ids) != len(reference):
            raise SidesMismatch(f"{len(ids):,} ids for {len(reference):,} documents")
        n = len(reference)
        if batch is not None and batch < 1:
            raise MetricError(f"batch must be 1 or more documents, found {batch!r}")
        step = batch or batch_size(self.metric, reference)
        if executor is not None:
            if not hasattr(executor, "submit"):
                raise MetricError(f"executor: expected one of concurrent.futures or of Dask, found {executor!r:.60}")
            return self._update_there(executor, reference, predicted, ids if named else None, batch or step, progress)
        whole = not (separable(reference) and separable(predicted)) or n <= step
        fresh: list[tuple[F64, F64]] = []
        for start in range(0, n, max(n, 1) if whole else step):
            if whole:
                left, right = reference, predicted
            else:
                left, right = (sliced(side, start, start + step) for side in (reference, predicted))
            proofs = Proofs()
            try:
                rows, above = tally_bounds(self.metric, left, right, self._memory, proofs, self._fields)
            except ValueMismatch as error:
                from tallystick.scoring.blame import blame

                def score(some: Data, others: Data) -> Any:
                    return tally_rows(self.metric, some, others, self._memory)

                raise blame(error, score, left, right, ids[start : start + len(left)]) from None
            fresh.append((rows, above))
            self._open_selves += proofs.open_selves
            if progress is not None:
                progress(min(n, start + len(left)), n)
        if self._labels is not None:
            from tallystick.scoring.breakdown import add_label_sums

            assert self._label is not None
            add_label_sums(self._labels, self.metric, self._label, reference, predicted, self._memory)
        valid, _ = readable(predicted)
        invalid = [] if valid is None else sorted(set(range(n)) - set(valid.tolist()))
        rows = np.concatenate([rows for rows, _ in fresh]) if fresh else np.zeros((0, len(self.kind.sums)))
        # Only now that every batch is scored: an update that fails leaves nothing behind.
        if self.account is not None:
            most = np.concatenate([above for _, above in fresh]) if fresh and limited(self.metric) else None
            self.account += Account.of(self.kind, rows, above=most, invalid=invalid)
            self._forget()
            return rows
        self._invalid += [len(self._ids) + k for k in invalid]
        self._take_ids(ids if named else [None] * n)
        self.rows.extend(rows for rows, _ in fresh)
        self._above.extend(above for _, above in fresh)
        if self._documents is not None:
            self._documents.append((reference, predicted))
        return rows

    def _update_there(
        self, executor: Executor, reference: Data, predicted: Data, ids: Sequence[Any] | None, step: int,
        progress: Progress | None,
    ) -> F64:  # fmt: skip
        from tallystick.scoring.elsewhere import in_order, share, slices

        n = len(reference)
        objects = isinstance(reference, Objects) and isinstance(predicted, Objects)
        same: dict[str, Any] = {
            "rows": self.account is None,
            "fields": self._fields is not None,
            "labels": self._label,
            "keep": False,
        }
        gathered = Evaluation(self.metric, **same)
        parts = list(slices(n, share(n, step, executor))) if objects else [slice(0, n)]

        def part_of(side: Data, part: slice) -> Data:
            return Objects(side.values[part]) if isinstance(side, Objects) and objects else side

        jobs = ((self.metric, same, part_of(reference, part), part_of(predicted, part)) for part in parts)
        for part, (_, done) in zip(parts, in_order(executor, _tally_there, jobs), strict=True):
            gathered.merge(done)
            if progress is not None:
                progress(part.stop, n)
        gathered._ids = list(ids) if ids is not None else gathered._ids
        documents, self._documents = self._documents, None
        self.merge(gathered)
        if documents is not None:
            self._documents = [*documents, (reference, predicted)]
        return np.concatenate(gathered.rows) if gathered.rows else np.zeros((0, len(self.kind.sums)))

    def _forget(self) -> None:
        """Where memory is bounded, the answers of users' functions are remembered for a while only."""
        if sum(map(len, self._memory.calls.values())) > MOST_CALLS:
            self._negative += self._negatives()
            self._silent = (self._silent[0] + self._unjudged()[0], self._silent[1] + self._unjudged()[1])
            self._memory.calls.clear()

    def _unjudged(self) -> tuple[int, int]:
        """How many answers are NaN, of how many."""
        weights = [weight for calls in self._memory.calls.values() for weight in calls.values()]
        return sum(weight != weight for weight in weights), len(weights)

    def _negatives(self) -> int:
        return sum(weight < 0 for calls in self._memory.calls.values() for weight in calls.values())

    def _take_ids(self, ids: Sequence[Any]) -> None:
        named = set(ids)
        named.discard(None)
        if not self._named.isdisjoint(named):
            raise SidesMismatch(f"documents were given twice: {some(key for key in ids if key in self._named)}")
        self._named |= named
        self._ids.extend(ids)

    def _all_ids(self) -> tuple[Any, ...]:
        if not self._named:
            return tuple(range(len(self._ids)))
        if len(self._named) == len(self._ids):
            return tuple(self._ids)
        return tuple(place if key is None else key for place, key in enumerate(self._ids))

    def merge(self, other: Evaluation) -> None:
        """Add what another evaluation of the same metric has tallied."""
        if other.metric != self.metric:
            raise MetricError(f"cannot merge tallies of different metrics:\n  {self.metric}\n  {other.metric}")
        if (self.account is None) != (other.account is None):
            raise MetricError("one evaluation keeps the rows of its documents and the other does not (rows=False)")
        if self.account is not None and other.account is not None:
            self.account += other.account
        self._negative += other._negative
        self._silent = (self._silent[0] + other._silent[0], self._silent[1] + other._silent[1])
        self._invalid += [len(self._ids) + k for k in other._invalid]
        self.rows.extend(other.rows)
        self._above.extend(other._above)
        self._open_selves += other._open_selves
        self._take_ids(other._ids)
        self._memory.merge(other._memory)
        both = self._fields is not None and other._fields is not None
        self._fields = merged_fields(self._fields, other._fields) if both else None
        both = self._labels is not None and other._labels is not None and self._label == other._label
        self._labels = merged_labels(self._labels, other._labels) if both else None
        if self._documents is not None and other._documents is not None:
            self._documents.extend(other._documents)
        else:
            self._documents = None

    def compute(self) -> Result:
        """The result so far."""
        for message in self._memory.absent.values():
            if message:
                raise ValueMismatch(message)
        rows = np.concatenate(self.rows) if self.rows else np.zeros((0, len(self.kind.sums)))
        above = np.concatenate(self._above) if self._above and limited(self.metric) else None
        warnings = []
        if self._open_selves:
            warnings.append(
                f"{self._open_selves:,} self-scores are not proven within the limit: figures may be too high"
            )
        negative = self._negative + self._negatives()
        if negative:
            warnings.append(f"{negative:,} similarities were below 0 and counted as 0")
        unjudged, asked = (a + b for a, b in zip(self._silent, self._unjudged(), strict=True))
        if unjudged:  # NaN: a judge that did not say
            warnings.append(
                f"{unjudged:,} of {asked:,} pairs of texts were not judged and count as 0: the figures are lower bounds"
            )
        if self.account is not None:
            account = replace(self.account, fields=self._fields, labels=self._labels)
            return Result(self.metric, self.kind, account, (), self.undefined, tuple(warnings), memory=self._memory)
        return Result(
            metric=self.metric,
            kind=self.kind,
            rows=rows,
            ids=self._all_ids(),
            undefined=self.undefined,
            notes=tuple(warnings),
            settings=" | ".join(
                f"judge={said}" for calls in self._memory.calls.values() if (said := getattr(calls, "signature", ""))
            ),
            sources=tuple(self._documents) if self._documents is not None else None,
            memory=self._memory,
            above=above,
            field_sums=self._fields,
            label_sums=self._labels,
            invalid=tuple(self._invalid),
        )


def _tally_there(job: tuple[Node, dict[str, Any], Data, Data]) -> Evaluation:
    """In a worker: the evaluation of some documents."""
    metric, options, reference, predicted = job
    evaluation = Evaluation(metric, **options)
    evaluation.update(reference, predicted)
    return evaluation


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
    for name, side in (("reference", reference), ("predicted", predicted)):
        if isinstance(side, (set, frozenset)) or (hasattr(side, "iloc") and hasattr(side, "columns")):
            advice = "use df.to_dict('records')" if hasattr(side, "iloc") else "use a list, or a mapping by document id"
            raise SidesMismatch(
                f"{name} is a {type(side).__name__}, whose documents have no order of their own; {advice}"
            )
        if isinstance(side, (str, bytes)) or (
            not hasattr(side, "__iter__") and not isinstance(side, COLUMNS) and not is_arrow(side)
        ):
            raise SidesMismatch(f"{name} must be a sequence of documents, found {type(side).__name__}")
    left, right = as_data(reference), as_data(predicted)
    if len(left) != len(right):
        raise SidesMismatch(
            f"reference has {len(left):,} documents and predicted has {len(right):,}; they are compared one by one, "
            f"so give the same number, or mappings by document id"
        )
    return range(len(left)), left, right


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


def kind_of(metric: Node) -> Counts:
    """Which figures a metric has."""
    if isinstance(metric, Sides):
        return Counts(one=False)
    inner, headline, beta = metric, "f1", 1.0
    if isinstance(metric, Normaliser):
        inner = metric.inner
        if isinstance(metric, F):
            beta, headline = metric.beta, f"f{metric.beta:g}"
        else:
            headline = metric.name
    one = not (isinstance(inner, Similarity) and two_numerators(inner))
    return Counts(headline, beta, one=one)


def summed(metric: Node) -> Similarity:
    """The Σ inside a metric: what is tallied. A normaliser around the whole only says which figure is meant."""
    if isinstance(metric, Normaliser):
        return metric.inner
    if isinstance(metric, Similarity):
        return metric
    raise MetricError(f"{metric} cannot be tallied")


def tally_rows(metric: Node, reference: Data, predicted: Data, memory: Memory) -> F64:
    """num_p, den_p, num_r, den_r of each document."""
    return tally_bounds(metric, reference, predicted, memory, Proofs())[0]


def tally_bounds(
    metric: Node,
    reference: Data,
    predicted: Data,
    memory: Memory,
    proofs: Proofs,
    fields: FieldSums | None = None,
) -> tuple[F64, F64]:
    """The tally of each document, and the same with the numerators' upper bounds where a time limit struck; what the
    documents' fields earned is added to `fields`, if asked for."""
    scope = Scope(memory=memory)
    proofs.keep_in(scope.memo)
    if isinstance(metric, Sides):
        first = _tally(summed(metric.precision), reference, predicted, scope, proofs)
        second = _tally(summed(metric.recall), reference, predicted, scope, proofs)
        rows, above = (
            np.concatenate((one[:, :2], other[:, 2:]), axis=1) for one, other in zip(first, second, strict=True)
        )
        return rows, above
    return _tally(summed(metric), reference, predicted, scope, proofs, fields)


def _tally(
    inner: Similarity,
    reference: Data,
    predicted: Data,
    scope: Scope,
    proofs: Proofs,
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
    sums = numerators(inner, r, p, blocks)
    out[places[sums.j], 0], out[sums.i, 2] = sums.predicted, sums.reference
    out[places, 1], out[:, 3] = inner.selves(p), inner.selves(r)
    for counts in surplus.values():
        out[:, 1] += counts
    if fields is not None:
        from tallystick.scoring.breakdown import add_field_sums, add_surplus

        add_field_sums(fields, inner, r, p, valid)
        add_surplus(fields, surplus)
    if not proofs.open or not limited(inner):
        return out, out
    above = out.copy()
    sums = numerators(at_most(inner), r, p, blocks)
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

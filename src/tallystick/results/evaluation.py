"""Scoring a corpus: documents in, a tally row for each document, one result.

    evaluate(metric, references, predictions)

The documents of both sides are columns whose k-th rows meet. They are taken in batches, so that rectangles of
dense similarities stay small; a batch's tallies are simply put below the ones before, or, if nobody will ask for them,
added to their totals. A document's row depends on that document alone, and the sums are exact, so that no figure depends on
the size of the batches, their order, or who has computed them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from tallystick.algebra.node import Node
from tallystick.engine.arrays import F64
from tallystick.engine.data import COLUMNS, Data, Memory, Objects, as_data, is_arrow
from tallystick.engine.tally import Totals
from tallystick.errors import MetricError, SidesMismatch, ValueMismatch, unmet_ids
from tallystick.results.accounts import Account, LabelSums, Subject
from tallystick.results.result import Result
from tallystick.results.tallying import Progress, batch_size, kind_of, tally


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
    columns (see `tallystick.engine`). A document is whatever value the metric is for: a list of relations, a
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
    ) -> None:
        if isinstance(metric, str):
            from tallystick.algebra.parse import parse

            metric = parse(metric)
        if not isinstance(metric, Node):
            raise MetricError(f"expected a metric such as f1(match(exact)), found {metric!r}")
        if undefined not in (None, 0.0, 1.0):
            raise MetricError(f"undefined must be None, 0.0 or 1.0, found {undefined!r}")
        self.metric, self.undefined, self.keep = metric, undefined, keep and rows
        self.kind = kind_of(metric)
        self._taken = Account(
            self.kind,
            Subject(metric, undefined),
            totals=None if rows else Account.nothing(self.kind).totals,
            fields={} if fields else None,
            labels=None if labels is None else LabelSums(labels),
            documents=[] if self.keep else None,
        )

    @property
    def rows(self) -> F64:
        """The tallies so far, a row for each document; none if rows are not kept."""
        return self._taken.rows

    @property
    def totals(self) -> Totals | None:
        """The sums so far, instead of the rows."""
        return self._taken.totals

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
        places, reference, predicted = paired(reference, predicted)
        ids = places if by_id and ids is None else ids
        n, first = len(reference), self._taken.count
        if ids is not None and len(ids) != n:
            raise SidesMismatch(f"{len(ids):,} ids for {n:,} documents")
        if batch is not None and batch < 1:
            raise MetricError(f"batch must be 1 or more documents, found {batch!r}")
        if executor is not None and not hasattr(executor, "submit"):
            raise MetricError(f"executor: expected one of concurrent.futures or of Dask, found {executor!r:.60}")
        listed = [None] * n if ids is None else list(ids)
        self._taken.check_ids(listed)
        names = range(first, first + n) if ids is None else listed
        step = batch or batch_size(self.metric, reference)
        if executor is not None:
            found = self._tallied_there(executor, reference, predicted, names, step, progress)
        else:
            memory = Memory(self._taken.memory.calls, dict(self._taken.memory.absent))
            found = self._taken.like(memory)
            alone = ids is None and first + n == 1
            tally(found, self.metric, reference, predicted, names, step, progress, alone=alone)
        rows = found.rows
        found.let_go()
        if self._taken.totals is None:
            found.ids = listed
        found.documents = [(reference, predicted)]
        self._taken.add(found)
        self._taken.forget()
        return rows

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
    account.let_go()
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

"""One batch of documents through the engine: Σ(P,R), Σ(P,P) and Σ(R,R) of each, as rows of a tally."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.proofs import Proofs
from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks
from tallystick.engine.data import Data, Memory, Nullable, Objects, Scope, field_names
from tallystick.engine.rows import Invalid, longest_lists, separable, sliced, split_surplus
from tallystick.engine.tally import Counts
from tallystick.errors import ValueMismatch
from tallystick.results.accounts import Account, FieldSums


def kind_of(metric: Node) -> Counts:
    """Which figures a metric has."""
    if metric.by_side is not None:
        return Counts(one=False)
    headline, beta = metric.headline
    return Counts(headline, beta, one=not metric.summed.two_numerators)


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
    if metric.by_side is not None:
        first, second = (_tally(side.summed, reference, predicted, scope, proofs) for side in metric.by_side)
        rows, above = (
            np.concatenate((one[:, :2], other[:, 2:]), axis=1) for one, other in zip(first, second, strict=True)
        )
        return rows, above
    return _tally(metric.summed, reference, predicted, scope, proofs, fields)


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
    sums = inner.numerators(r, p, blocks)
    out[places[sums.j], 0], out[sums.i, 2] = sums.predicted, sums.reference
    out[places, 1], out[:, 3] = inner.selves(p), inner.selves(r)
    for counts in surplus.values():
        out[:, 1] += counts
    if fields is not None:
        from tallystick.results.breakdown import add_field_sums, add_surplus

        add_field_sums(fields, inner, r, p, valid)
        add_surplus(fields, surplus)
    if not proofs.open or not inner.limited:
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

Progress = Callable[[int, int], None]


def tally(
    account: Account, metric: Node, reference: Data, predicted: Data, names: Sequence[Any], step: int,
    progress: Progress | None = None, *, alone: bool = False,
) -> None:  # fmt: skip
    """Put the tallies of these documents into an empty account. `names` are what errors call them; a document that is `alone`
    needs no name."""
    n = len(reference)
    whole = not (separable(reference) and separable(predicted)) or n <= step
    for start in range(0, n, max(n, 1) if whole else step):
        if whole:
            left, right = reference, predicted
        else:
            left, right = (sliced(side, start, start + step) for side in (reference, predicted))
        proofs = Proofs()
        try:
            rows, above = tally_bounds(metric, left, right, account.memory, proofs, account.fields)
        except ValueMismatch as error:

            def score(some: Data, others: Data) -> Any:
                return tally_rows(metric, some, others, account.memory)

            raise blame(error, score, left, right, names[start : start + len(left)] if not alone else ()) from None
        account.batches.append((account.kind, rows, above if metric.limited else None))
        account.count += len(rows)
        account.open_selves += proofs.open_selves
        if progress is not None:
            progress(min(n, start + len(left)), n)
    if account.labels is not None:
        from tallystick.results.breakdown import add_label_sums

        add_label_sums(account.labels, metric, reference, predicted, account.memory)
    valid, _ = readable(predicted)
    account.invalid = [] if valid is None else sorted(set(range(n)) - set(valid.tolist()))


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

"""One batch of documents through the engine: Σ(P,R), Σ(P,P) and Σ(R,R) of each, as rows of a tally."""

from __future__ import annotations

import numpy as np

from tallystick.columns.arrays import F64, I64
from tallystick.columns.blocks import Blocks
from tallystick.columns.data import Data, Memory, Nullable, Objects, Scope
from tallystick.columns.surplus import split_surplus
from tallystick.columns.unfit import Invalid
from tallystick.errors import MetricError
from tallystick.matching.normalise import F, Normaliser, Sides, numerators, two_numerators
from tallystick.matching.proofs import Proofs, at_most, limited
from tallystick.scoring.accounts import FieldSums
from tallystick.scoring.tally import Counts
from tallystick.similarity.node import Node, Similarity


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

"""Many documents in batches, few enough at once that they stay in the processor's cache, into one portion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tallystick.columns.data import Data, Objects, field_names
from tallystick.columns.rows import longest_lists, separable, sliced
from tallystick.errors import ValueMismatch
from tallystick.matching.proofs import Proofs, limited
from tallystick.scoring.accounts import Account
from tallystick.scoring.portion import Portion
from tallystick.scoring.tallying import readable, tally_bounds, tally_rows
from tallystick.similarity.node import Node, Similarity

Progress = Callable[[int, int], None]


def tally(
    portion: Portion, metric: Node, reference: Data, predicted: Data, names: Sequence[Any], step: int,
    progress: Progress | None = None, *, alone: bool = False,
) -> None:  # fmt: skip
    """Put the tallies of these documents into an empty portion. `names` are what errors call them; a document that is `alone`
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
            rows, above = tally_bounds(metric, left, right, portion.memory, proofs, portion.fields)
        except ValueMismatch as error:
            from tallystick.scoring.blame import blame

            def score(some: Data, others: Data) -> Any:
                return tally_rows(metric, some, others, portion.memory)

            raise blame(error, score, left, right, names[start : start + len(left)] if not alone else ()) from None
        portion.rows.append(rows)
        portion.above.append(above)
        portion.open_selves += proofs.open_selves
        if progress is not None:
            progress(min(n, start + len(left)), n)
    if portion.labels is not None:
        from tallystick.scoring.breakdown import add_label_sums

        add_label_sums(portion.labels, metric, reference, predicted, portion.memory)
    valid, _ = readable(predicted)
    portion.invalid = [] if valid is None else sorted(set(range(n)) - set(valid.tolist()))


def settle(portion: Portion, metric: Node) -> None:
    """Where rows are not kept, all that is left of them is their account."""
    if portion.account is None:
        return
    if portion.rows:
        above = np.concatenate(portion.above) if limited(metric) else None
        rows = np.concatenate(portion.rows)
        portion.account = Account.of(portion.account.kind, rows, above=above, invalid=portion.invalid)
    portion.rows, portion.above, portion.invalid, portion.ids = [], [], [], []


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

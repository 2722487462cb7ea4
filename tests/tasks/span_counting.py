"""The counts of single metrics, and plain averages over their tags: what the averages of tallies are held against."""

from functools import partial
from typing import NamedTuple

import numpy as np

from tallystick.tasks.spans.metrics import count

count_exact = partial(count, "segment")
count_overlap = partial(count, "overlap")
count_contain = partial(count, "contain")
count_segment_matching = partial(count, "segment_units")
count_tokens = partial(count, "token")
count_tokens_and_separators = partial(count, "ts", separators=1)


def count_constrained_overlap(texts, k1, k2, rows="text", **options):
    return count("constrained_overlap", texts, rows, k1=k1, k2=k2, **options)


def count_iou(texts, threshold, rows="text", **options):
    return count("iou", texts, rows, iou=threshold, **options)


PARTS = ("num_p", "den_p", "num_r", "den_r", "total")


def combined(change, *counts):
    """Counts whose every array is made from the same array of the others."""
    first = counts[0]
    arrays = ([getattr(one, part) for one in counts] for part in PARTS)
    made = [None if arrays[0] is None else change(*arrays) for arrays in arrays]
    return type(first)(first.tags, *made, tuple(tag for one in counts for tag in one.multiple))


def summed(counts):
    """One row for the corpus."""
    return combined(lambda array: array.sum(axis=0, keepdims=True), counts)


class Average(NamedTuple):
    value: float
    left_out: tuple[str, ...]


def micro(measure, counts):
    """The measure of all tags' tables added up."""
    return float(measure(summed(counts).pooled())[0, 0])


def macro(measure, counts, tags=None):
    """The mean over the tags that either side has; 0/0 is 0."""
    return _mean(measure, counts, tags, weighted=False)


def weighted(measure, counts, tags=None):
    """The same, each tag weighted by how much of it is true."""
    return _mean(measure, counts, tags, weighted=True)


def _mean(measure, counts, tags, *, weighted):
    counts = summed(counts) if tags is None else summed(counts).of_tags(tags)
    present = (counts.den_p[0] > 0) | (counts.den_r[0] > 0)
    values = np.nan_to_num(measure(counts)[0][present])
    shares = counts.den_r[0][present] if weighted else np.ones(len(values))
    value = float((values * shares).sum() / shares.sum()) if shares.sum() else float("nan")
    return Average(value, tuple(tag for tag, there in zip(counts.tags, present, strict=True) if not there))

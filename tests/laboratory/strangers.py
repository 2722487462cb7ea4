"""Tiny re-implementations of faults that other people's scoring functions have (spec/landscape.md)."""

from difflib import SequenceMatcher

import lap
import numpy as np


def correct(reference, predicted):
    """Nothing wrong: F1 of bags."""
    rest, hits = list(reference), 0
    for one in predicted:
        if one in rest:
            rest.remove(one)
            hits += 1
    n = len(reference) + len(predicted)
    return {
        "precision": hits / len(predicted) if predicted else None,
        "recall": hits / len(reference) if reference else None,
        "f1": 2 * hits / n if n else None,
    }


def recall_of_what_was_matched(reference, predicted):
    """stickler's aggregate: what is missing is not counted."""
    found = correct(reference, predicted)
    hits = (found["precision"] or 0) * len(predicted)
    return {**found, "recall": 1.0 if hits else 0.0}


def empties_contradict(reference, predicted):
    """stickler: both empty are 1 over all, with an F1 of 0."""
    f1 = correct(reference, predicted)["f1"]
    return {"f1": f1 or 0.0, "overall_score": 1.0 if f1 is None else f1}


def ratio(a, b):
    return SequenceMatcher(None, a, b).ratio()


def threshold_after_assignment(reference, predicted):
    """stickler: the best total similarity first, the threshold afterwards."""
    n = len(reference) + len(predicted)
    if not n:
        return {"f1": 1.0}
    if not reference or not predicted:
        return {"f1": 0.0}
    matrix = np.array([[ratio(a, b) for b in predicted] for a in reference])
    return {"f1": 2 * sum(matrix[i, j] >= 0.8 for i, j in assigned(matrix)) / n}


def assigned(matrix):
    """The pairs of the largest total."""
    rows, _ = lap.lapjv(-matrix, extend_cost=True, return_cost=False)
    return [(i, j) for i, j in enumerate(rows) if j >= 0]


def greedy(reference, predicted):
    """openevals: items are taken in their order, the first best one each time."""
    rest, total = list(reference), 0.0
    for one in predicted:
        if rest:
            best = max(rest, key=lambda other: ratio(one, other))
            total += ratio(one, best)
            rest.remove(best)
    n = len(reference) + len(predicted)
    return 2 * total / n if n else 1.0


def by_position(reference, predicted):
    """autoevals: lists are zipped."""
    n = max(len(reference), len(predicted))
    return sum(a == b for a, b in zip(reference, predicted, strict=False)) / n if n else 1.0


def duplicates_lost(reference, predicted):
    """metametric: [1, 2, 2] against itself is 2/3."""
    hits = len(set(reference) & set(predicted))
    n = len(reference) + len(predicted)
    return 2 * hits / n if n else 1.0


def values_ignored(reference, predicted):
    """metametric: only the keys of a mapping are compared."""
    n = len(reference) + len(predicted)
    return 2 * len(reference.keys() & predicted.keys()) / n if n else 1.0


def tuples_as_sets(reference, predicted):
    return correct(sorted(set(reference)), sorted(set(predicted)))["f1"]


def empty_documents_are_hits(references, predictions):
    """metametric: a document that is empty on both sides counts as one that is right."""
    hits = n = 0
    for reference, predicted in zip(references, predictions, strict=True):
        hits += len(set(reference) & set(predicted)) or (not reference and not predicted)
        n += (len(reference) + len(predicted)) or 2
    return {"f1": 2 * hits / n if n else None}


def equality_for_optional(reference, predicted):
    """metametric: a collection that may be None is compared by equality."""
    return float(reference.tags == predicted.tags)


def weighted_by_ratio(reference, predicted):
    """anls_star: items are assigned by their ratios, and then counted by their sizes."""
    if isinstance(reference, dict):
        if not isinstance(predicted, dict):
            return 0.0
        total, size = _size(reference, predicted)
        return total / size if size else 1.0
    left, right = list(reference), list(predicted)
    parts = [[_size(a, b) for b in right] for a in left]
    ratios = np.array([[total / size if size else 1.0 for total, size in row] for row in parts])
    chosen = assigned(ratios.reshape(len(left), len(right))) if left and right else []
    rows, columns = {i for i, _ in chosen}, {j for _, j in chosen}
    alone = [a for k, a in enumerate(left) if k not in rows] + [b for k, b in enumerate(right) if k not in columns]
    total = sum(parts[i][j][0] for i, j in chosen)
    size = sum(parts[i][j][1] for i, j in chosen) + sum(max(1, len(one)) for one in alone)
    return total / size if size else 1.0


def _size(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        parts = [_size(a.get(key), b.get(key)) for key in {**a, **b}]
        return sum(total for total, _ in parts), sum(size for _, size in parts)
    if isinstance(a, dict) or isinstance(b, dict):
        return 0.0, max(len(one) if isinstance(one, dict) else 1 for one in (a, b))
    return float(a == b), 1.0


def raises_on_empty(reference, predicted):
    return len(set(reference) & set(predicted)) / len(predicted)


def above_one(reference, predicted):
    """One Σ for both sides under N:1: recall passes 1."""
    return sum(one in reference for one in predicted) / len(reference) if reference else float(not predicted)

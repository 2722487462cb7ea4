"""What a comparison cannot show, or what its readers would not expect: said beside the figures, never silently."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tallystick.comparing.selection import OverDocuments
from tallystick.errors import counted, some
from tallystick.scoring.result import Result
from tallystick.scoring.significance import Difference, is_exact
from tallystick.scoring.tally import Labelled

FEW = 100
"""Documents below which the p of a bootstrap test is too small."""
RARE = 12
"""Documents with a label below which a mean over labels has no good interval: many a resample lacks the label."""
TAIL = 5
"""Resamples that should lie outside each end of an interval."""

Runs = Mapping[str, Sequence[Mapping[str, Result]]]


def about_documents(documents: int, systems: int, test: str) -> list[str]:
    """What cannot be said, or not be trusted, about few documents."""
    if documents < 2:
        return ["With fewer than two documents there are no intervals, and nothing is tested."]
    if documents < FEW and systems > 1 and test == "bootstrap":
        return [
            f"{documents} documents are few for a bootstrap test, whose p is too small then; --test randomisation is not."
        ]
    return []


def about_resamples(resamples: int, level: float) -> list[str]:
    """That the ends of the intervals are made by next to no resamples."""
    outside = resamples * (1 - level) / 2
    if outside >= TAIL - 1e-9:
        return []
    enough = math.ceil(2 * TAIL / (1 - level) - 1e-6)
    return [
        f"Of {counted(resamples, 'resample')} {outside:.2g} lie outside each end of a {100 * level:.10g} % interval, which "
        f"makes it rough; --resamples {enough} is enough."
    ]


def about_reach(pairs: int, documents: int, resamples: int, test: str, alpha: float) -> list[str]:
    """That no difference, however large, could be significant: the smallest p that there can be is too large."""
    exact = test == "randomisation" and is_exact(documents, resamples)
    drawn = 0.0 if exact else 1 / (1 + resamples)
    there_is = 2 * 0.5**documents if test == "randomisation" else 0.0
    smallest = max(drawn, there_is)
    if not pairs or pairs * smallest <= alpha + 1e-12:
        return []
    family = "one pair of systems" if pairs == 1 else f"{pairs:,} pairs of systems"
    by_documents = pairs * there_is > alpha + 1e-12
    reason = f"{documents} documents" if by_documents else f"{resamples:,} resamples"
    enough = "" if by_documents else f"; --resamples {math.ceil(pairs / alpha - 1e-9)} is enough"
    return [
        f"Nothing could be significant: with {reason} p is at least {smallest:.2g}, and "
        f"Holm's correction multiplies the smallest p of {family} by {pairs:,}{enough}."
    ]


def about_draws(
    metric: str, tested: Mapping[tuple[str, str], Difference], resamples: int, documents: int, alpha: float
) -> list[str]:
    """Which pairs are so near to the level of significance that other draws could decide otherwise: within two standard
    errors of a share of resamples."""
    near = []
    for (first, second), d in tested.items():
        if d.p is None or d.corrected is None or (d.test == "randomisation" and is_exact(documents, resamples)):
            continue
        error = math.sqrt(d.p * (1 - d.p) / (1 + resamples))
        if abs(d.corrected - alpha) <= 2 * error * d.corrected / d.p:
            near.append(f"{first} and {second} (p {d.corrected:.3f})")
    if not near:
        return []
    shown = ", ".join(near[:5]) + (f" and {len(near) - 5} more" if len(near) > 5 else "")
    return [
        f"{metric}: near the level of {alpha:.2g}, so that another --seed may decide otherwise: {shown}. More --resamples tell."
    ]


def about_runs(runs: Runs) -> list[str]:
    """That means of runs are tested for these very runs."""
    if all(len(found) == 1 for found in runs.values()):
        return []
    return [
        "±: the standard deviation of the runs. Intervals and letters are for other documents, answered by these very runs: how "
        "much other runs would differ is not in them."
    ]


def about_labels(runs: Runs, metric: str) -> tuple[list[str], list[str]]:
    """Notes and cautions about means over labels: which systems have means over other labels, and which labels are rare."""
    results = {name: found[0][metric] for name, found in runs.items()}
    first = next(iter(results.values()))
    if not isinstance(first.kind, Labelled) or first.kind.average == "micro":
        return [], []
    over = {name: first.kind.in_means(result.sums) for name, result in results.items()}
    shared = set.intersection(*map(set, over.values()))
    notes = [
        f"{name}, {metric}: a mean over {counted(len(labels), 'label')}, of which not all systems have "
        f"{some(sorted(set(labels) - shared))}"
        for name, labels in over.items()
        if set(labels) - shared
    ]
    documents = (first.kind.support(first.rows) > 0).sum(axis=0).tolist()
    there = set().union(*over.values())
    rare = {label: n for label, n in zip(first.kind.labels, documents, strict=True) if label in there and 0 < n < RARE}
    if not rare or first.kind.average == "weighted":
        return notes, []
    named = some([f"{label} ({counted(n, 'document')})" for label, n in rare.items()])
    return notes, [
        f"{metric} is a mean over labels, some of which are rare: {named}. Resamples without them are means over the others, "
        "and the intervals are too narrow."
    ]


def about_means(runs: Runs, metric: str) -> list[str]:
    """How many documents a mean over documents leaves out."""
    out = []
    for name, found in runs.items():
        for result in (run[metric] for run in found):
            if not isinstance(result.kind, OverDocuments):
                continue
            counts = result.tally[f"{result.kind.headline}_documents"]
            if counts < len(result.ids):
                gone = len(result.ids) - int(counts)
                out.append(f"{name}, {metric}: 0/0 in {counted(gone, 'document')}, which its mean leaves out")
    return out


def said(runs: Runs, metrics: Sequence[str]) -> list[str]:
    """What the results themselves have to say, each once for each system, with the metrics that say it if not all do."""
    out = []
    for name, found in runs.items():
        by_warning: dict[str, dict[str, None]] = {}
        for run in found:
            for metric in metrics:
                for warning in run[metric].warnings:
                    by_warning.setdefault(warning, {})[metric] = None
        for warning, those in by_warning.items():
            of = "" if len(those) == len(metrics) else f", {', '.join(those)}"
            out.append(f"Warning: {name}{of}: {warning}")
    return out

"""What does BCa gain by not trusting an acceleration that one document makes? BLANC, taken apart.

Links grow with the square of a document's mentions, so that BLANC hangs on the longest documents. BCa moves the ends of
an interval by the acceleration: a sixth of the skewness of what each document does to the figure, over √n. That is a third
moment, and the longest documents make most of it: whether a corpus of 300 has drawn them decides what is estimated.

From the population of `coverage` corpora are drawn as there, four times as many, so that the simulation's own
standard error is 0.4 percentage points. Their intervals are made from the same resamples:

    percentile      the plain quantiles
    bias alone      BCa with an acceleration of 0
    Efron's         BCa with the acceleration from leaving out one document of the corpus after the other, as it is
    BCa             ours: the same as far as several documents make it (see `tallystick.engine.drawing`)
    known           BCa with the acceleration that the whole population has

If BCa were computed wrongly, knowing the acceleration would not help; where it is only estimated badly, it does, and so
do more documents. A second population is made from another seed.

    python -m benchmarks acceleration
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage import LEVEL, POPULATION, RESAMPLES, Figure, corpus_of, population
from benchmarks.measure import draw
from tallystick.engine.drawing import acceleration_of, bias_of, efrons_acceleration, moved
from tallystick.results.resampling import figure_left_out, resampled_figures

CORPORA, SIZES = 4_000, (300, 1_200)
POPULATIONS = (1, 7)
KINDS = ("percentile", "bias alone", "Efron's", "BCa", "known")


@dataclass(frozen=True)
class Held:
    """How often each kind of interval held the truth, and the acceleration: the population's, and as it was estimated."""

    shares: dict[str, float]
    known: float
    mean: float
    deviation: float
    along: float
    """How much the estimated acceleration goes along with the figure itself: their correlation over the corpora."""


def measure(one: Figure, corpora: int, documents: int) -> Held:
    """Coverage of one figure by corpora of some size."""
    rng = np.random.default_rng(2)
    truth = one.first.figures[one.figure]
    everything = efrons_acceleration(figure_left_out([one.first], one.figure).without)
    known = everything * (len(one.first.ids) / documents) ** 0.5  # the skewness of a sum falls with √n
    held = dict.fromkeys(KINDS, 0)
    estimated, figures = [], []
    for number in range(corpora):
        result = corpus_of(one.first, rng.integers(0, len(one.first.ids), size=documents))
        values = resampled_figures([result], RESAMPLES, seed=number)[0][one.figure].values
        left_out = figure_left_out([result], one.figure)
        bias, efrons = bias_of(values, left_out.estimate), efrons_acceleration(left_out.without)
        estimated.append(efrons)
        figures.append(left_out.estimate)
        ours = acceleration_of(left_out.without)
        settings = ((0.0, 0.0), (bias, 0.0), (bias, efrons), (bias, ours), (bias, known))
        for kind, (z, a) in zip(KINDS, settings, strict=True):
            low, high = np.quantile(values, moved(((1 - LEVEL) / 2, (1 + LEVEL) / 2), z, a))
            held[kind] += low <= truth <= high
    along = float(np.corrcoef(estimated, figures)[0, 1])
    shares = {kind: count / corpora for kind, count in held.items()}
    return Held(shares, known, float(np.mean(estimated)), float(np.std(estimated)), along)


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print coverage by the size of the corpora."""
    del repeat
    began = time.process_time()
    corpora, size = (100, POPULATION // 10) if quick else (CORPORA, POPULATION)
    print(f"\nBLANC: coverage of 95 % intervals in {corpora:,} corpora, {RESAMPLES:,} resamples")
    table = [["population", "documents", *KINDS, "acceleration", "estimated", "deviation", "along with F1"]]
    for seed in POPULATIONS:
        (blanc,) = (one for one in population(size, seed) if one.name == "BLANC")
        for documents in SIZES:
            found = measure(blanc, corpora, documents)
            shares = [f"{100 * found.shares[kind]:.1f} %" for kind in KINDS]
            numbers = [f"{x:.3f}" for x in (found.known, found.mean, found.deviation)]
            table.append([str(seed), f"{documents:,}", *shares, *numbers, f"{found.along:.2f}"])
    print(draw(table))
    print(f"{time.process_time() - began:.0f} CPU s", flush=True)
    return True

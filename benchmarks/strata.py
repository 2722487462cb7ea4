"""Do tests over several data sets, and over groups of documents, hold their level? By simulation.

Data sets: two systems are compared by the mean of their F1 over three data sets, which differ in size, in how hard they are, and in how
far apart their documents are. Given a document, both systems' outputs have one distribution, so that every significant difference is an
error. Of 1,000 such comparisons 3.5 to 6.5 % may be significant at a level of 5 % (the simulation's own standard error is 0.7).

Groups: documents come in groups (of one author, say), and on all documents of a group the same of the two systems is the better one, by a
coin. Drawn by group the test holds its level. Drawn by document, as if documents were independent, it does not: that figure is stated
beside it, without a promise.

    python -m benchmarks strata
"""

from __future__ import annotations

import numpy as np

from benchmarks.measure import claim
from tallystick.engine.tally import Counts
from tallystick.results.compare import compare
from tallystick.results.result import GroupSpec, Result
from tallystick.results.results import Results

SIMULATIONS, RESAMPLES = 1000, 1000
SETS = ((40, 1.0, 0.9), (120, 3.0, 0.7), (300, 6.0, 0.5))
"""Of each data set the number of documents, how alike they are, and how well systems do."""
GROUPS, MEMBERS = 60, 6
LEAST, MOST = 3.5, 6.5


def type_one_errors(simulations: int, test: str, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """The share of comparisons over data sets that are significant, where there is no difference."""
    wrong = 0
    for number in range(simulations):
        rng = np.random.default_rng([seed, number])
        sets = [equal_systems(rng, *one) for one in SETS]
        systems = {name: {f"set{k}": both[side] for k, both in enumerate(sets)} for side, name in enumerate("AB")}
        found = compare(systems, resamples=resamples, seed=number, test=test)
        wrong += (found.differences["f1", "A", "B"].p or 1) <= 0.05
    return wrong / simulations


def equal_systems(rng: np.random.Generator, documents: int, alike: float, good: float) -> tuple[Results, Results]:
    """Two systems that are equally good, on documents that are hard for both or easy for both."""
    chance = rng.beta(alike * good, alike * (1 - good), documents)
    items = 1 + rng.poisson(4, documents)
    first, second = (_answers(rng, items, chance) for _ in range(2))
    return _results(first), _results(second)


def _answers(rng: np.random.Generator, items: np.ndarray, chance: np.ndarray) -> np.ndarray:
    right = rng.binomial(items, chance)
    said = right + rng.poisson(1 - chance)
    return np.stack((right, said, right, items), axis=1).astype(np.float64)


def _results(rows: np.ndarray) -> Results:
    return Results({"f1": Result("f1", Counts(), rows, tuple(range(len(rows))))})


def group_errors(simulations: int, groups: GroupSpec | None, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """The share of comparisons that are significant where in each group one of two systems is better, by a coin."""
    wrong = 0
    for number in range(simulations):
        rng = np.random.default_rng([seed, number])
        better = np.repeat(rng.random(GROUPS) < 0.5, MEMBERS)
        items = 1 + rng.poisson(4, GROUPS * MEMBERS)
        systems = {
            name: _results(_answers(rng, items, np.where(better == side, 0.8, 0.6))) for side, name in enumerate("AB")
        }
        found = compare(systems, resamples=resamples, seed=number, test="randomisation", groups=groups)
        wrong += (found.differences["f1", "A", "B"].p or 1) <= 0.05
    return wrong / simulations


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the share of false differences."""
    del repeat
    simulations = SIMULATIONS // 10 if quick else SIMULATIONS
    limits = {} if quick else {"at_least": LEAST, "at_most": MOST}
    sizes = " + ".join(str(documents) for documents, _, _ in SETS)
    print(f"\nFalse differences at a level of 5 %: {simulations:,} comparisons, {RESAMPLES:,} resamples")
    print(f"means over data sets of {sizes} documents")
    for test in ("randomisation", "bootstrap"):
        claim(f"stratified {test}", 100 * type_one_errors(simulations, test), "%", **limits)
    print(f"{GROUPS} groups of {MEMBERS} documents, randomisation")
    members = [str(k // MEMBERS) for k in range(GROUPS * MEMBERS)]
    claim("drawn by group", 100 * group_errors(simulations, members), "%", **limits)
    claim("drawn by document", 100 * group_errors(simulations, None), "%")
    return True

"""Do the intervals hold what they promise, and are p-values uniform where there is no difference? By simulation.

A population of 20,000 documents is made once and scored by tallystick itself, so that its figures are the truth. From
it 1,000 corpora of 300 documents are drawn, with replacement; each has its 95 % intervals, by the percentile method and
by BCa, from 1,000 resamples. Coverage is the share of corpora whose interval holds the truth: it should be 95 %, and
may be 92.5 to 97.5 % here (the simulation's own standard error is 0.7).

Under the null each document's two outputs change places by a coin, so that neither system is better: the p-values of
the paired tests should be uniform, which a Kolmogorov-Smirnov test looks at; and 5 % of them should be under 0.05. How
few documents that takes is looked at with 20, 50 and 100 of them.

Means over labels are looked at apart: how often does their interval hold the truth if one of two labels stands in only so
many of the 300 documents?

Documents are unequal, as real ones are: their sizes and their difficulty vary, one tag is rare, chains are of any
length.

    python -m benchmarks coverage
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.measure import draw
from tallystick.results.resampling import (
    METHODS,
    TESTS,
    difference,
    figure_left_out,
    interval_of,
    randomisation_values,
    resampled_figures,
)
from tallystick.results.result import Result
from tallystick.results.selection import mean_over_documents
from tallystick.tasks.coreference import metrics as coreference
from tallystick.tasks.spans import metrics as spans
from tallystick.tasks.spans.files import corpus_from_python
from tallystick.tasks.spans.metrics import TagTables

POPULATION, CORPORA, DOCUMENTS, RESAMPLES = 20_000, 1_000, 300, 1_000
FEWER = (20, 50, 100)
RARE = (2, 3, 6, 12, 30)
LEVEL, LEAST, MOST = 0.95, 0.925, 0.975
SURE = 0.05
"""Uniformity is given up if any of the Kolmogorov-Smirnov tests rejects it at this level, corrected for their number."""
TAGS, SHARES = ("PER", "LOC", "ORG", "MISC"), (0.5, 0.3, 0.16, 0.04)

Spans = list[tuple[int, int, str]]
Rng = np.random.Generator


@dataclass(frozen=True)
class Figure:
    """One figure of two systems over the same documents; coverage looks at the first, the null at both."""

    name: str
    what: str
    first: Result
    second: Result
    figure: str


def population(size: int, seed: int = 1) -> list[Figure]:
    """The figures that are looked at, over a population of documents of both tasks."""
    rng = np.random.default_rng(seed)
    texts = made_up_texts(rng, size)
    chained = made_up_chains(rng, size)
    systems = []
    for _ in range(2):
        answers = [answer_segments(rng, *text) for text in texts]
        corpus = corpus_from_python([gold for gold, _, _ in texts], answers, lengths=[length for _, length, _ in texts])
        tags = spans.SpanOptions(average="micro", tags=TAGS), spans.SpanOptions(average="macro", tags=TAGS)
        found = spans.score(corpus, ("segment", "overlap", "ts", "partial"), tags[0])
        found["macro"] = spans.score(corpus, ("segment",), tags[1])["segment"]
        gold = [_clusters(chain) for chain, _ in chained]
        found |= coreference.evaluate(gold, [answer_chains(rng, *one) for one in chained], ("muc", "blanc", "conll"))
        found["muc by document"] = mean_over_documents(found["muc"])
        systems.append(found)
    return [
        Figure(name, what, systems[0][metric], systems[1][metric], figure)
        for name, what, metric, figure in (
            ("segments, micro", "four counts", "segment", "f1"),
            ("segments, recall", "four counts", "segment", "recall"),
            ("overlap, micro", "four counts, two numerators", "overlap", "f1"),
            ("segments, macro", "mean over tags, one of them rare", "macro", "f1"),
            ("tokens and separators", "contingency table: kappa", "ts", "kappa"),
            ("partial", "five counts", "partial", "f1"),
            ("MUC", "four counts", "muc", "f1"),
            ("MUC by document", "mean over documents", "muc by document", "f1"),
            ("BLANC", "mean of two classes of links", "blanc", "f1"),
            ("CoNLL", "mean of three F1", "conll", "f1"),
        )
    ]


def made_up_texts(rng: Rng, size: int) -> list[tuple[Spans, int, float]]:
    """Texts of very different lengths: segments, the number of tokens, and how hard the text is."""
    out = []
    for _ in range(size):
        length, at = 6 + int(rng.gamma(1.5, 12)), int(rng.integers(0, 6))
        found: Spans = []
        while at + 3 < length:
            end = at + int(rng.integers(1, 4))
            found.append((at, end, TAGS[int(rng.choice(4, p=SHARES))]))
            at = end + 1 + int(rng.geometric(0.15))
        out.append((found, length, float(rng.beta(1.5, 4))))
    return out


def answer_segments(rng: Rng, gold: Spans, length: int, error: float) -> Spans:
    """A system that misses some segments, moves or relabels others, and invents a few."""
    out: Spans = []
    for start, end, tag in gold:
        kind = rng.random()
        if kind > error:
            out.append((start, end, tag))
        elif kind > 0.7 * error:
            out.append((start, end, TAGS[int(rng.integers(4))]))
        elif kind > 0.4 * error:
            out.append((start, end + 1, tag))
    if rng.random() < error and (not out or out[-1][1] < length - 1):
        out.append((length - 1, length, TAGS[int(rng.integers(4))]))
    return out


def made_up_chains(rng: Rng, size: int) -> list[tuple[list[int], float]]:
    """Documents of 3 to some hundred mentions: the chain of each mention, and how hard the document is."""
    out = []
    for _ in range(size):
        chain: list[int] = []
        for m in range(3 + int(rng.gamma(1.2, 15))):  # a new chain, or an earlier mention's: some grow long
            chain.append(m if rng.random() < 0.35 or not chain else chain[int(rng.integers(len(chain)))])
        out.append((chain, float(rng.beta(1.5, 4))))
    return out


def answer_chains(rng: Rng, chain: list[int], error: float) -> list[set[int]]:
    """A system that loses some mentions, moves others to another chain, and invents a few."""
    found: dict[int, set[int]] = {}
    for m, c in enumerate(chain):
        kind = rng.random()
        if kind > error:
            found.setdefault(c, set()).add(m)
        elif kind > 0.4 * error:
            found.setdefault(chain[int(rng.integers(len(chain)))], set()).add(m)
        if rng.random() < 0.2 * error:
            found.setdefault(c, set()).add(len(chain) + m)
    return list(found.values())


def _clusters(chain: list[int]) -> list[set[int]]:
    found: dict[int, set[int]] = {}
    for m, c in enumerate(chain):
        found.setdefault(c, set()).add(m)
    return list(found.values())


def corpus_of(result: Result, places: npt.NDArray[np.int64]) -> Result:
    """The documents at these places, scored already."""
    return replace(result, rows=result.rows[places], ids=tuple(range(len(places))))


def coverage(figures: list[Figure], corpora: int, documents: int = DOCUMENTS) -> dict[str, dict[str, float]]:
    """For each figure and method the share of corpora whose interval holds the population's figure."""
    rng = np.random.default_rng(2)
    truths = [one.first.figures[one.figure] for one in figures]
    held = {one.name: dict.fromkeys(METHODS, 0) for one in figures}
    for number in range(corpora):
        places = rng.integers(0, len(figures[0].first.ids), size=documents)
        drawn = [corpus_of(one.first, places) for one in figures]
        resampled = resampled_figures(drawn, RESAMPLES, seed=number)
        for one, result, values, truth in zip(figures, drawn, resampled, truths, strict=True):
            for method in METHODS:
                found = interval_of([result], one.figure, [values[one.figure]], LEVEL, method)
                if found.low is not None and found.high is not None and truth is not None:
                    held[one.name][method] += found.low <= truth <= found.high
    return {name: {method: count / corpora for method, count in by.items()} for name, by in held.items()}


def rare_label_coverage(expected: int, corpora: int, documents: int = DOCUMENTS) -> float:
    """The share of percentile intervals that hold the truth, where the second of two labels is in so many documents on
    average: the first is found with F1 = 0.8, the rare one with 0.3."""
    rng = np.random.default_rng(4)
    kind, zeros, held = TagTables(("common", "rare"), "macro", over=("common", "rare")), np.zeros(documents), 0
    for number in range(corpora):
        common, rare = rng.integers(1, 5, documents), rng.random(documents) < expected / documents
        right = [rng.binomial(common, 0.8), rng.binomial(rare, 0.3)]
        rows = np.stack((*right, common, rare, *right, common, rare, zeros), axis=1).astype(np.float64)
        result = Result("macro", kind, rows, tuple(range(documents)), 0.0)
        values = resampled_figures([result], RESAMPLES, seed=number)[0]["f1"]
        found = interval_of([result], "f1", [values], LEVEL, "percentile")
        held += found.low is not None and found.high is not None and found.low <= 0.55 <= found.high
    return held / corpora


def null_p_values(
    figures: list[Figure], corpora: int, documents: int = DOCUMENTS
) -> dict[tuple[str, str], list[float]]:
    """By figure and test the p-values where the outputs of each document have changed places by a coin."""
    rng = np.random.default_rng(3)
    out: dict[tuple[str, str], list[float]] = {(one.name, test): [] for one in figures for test in TESTS}
    pairs = [(2 * k, 2 * k + 1) for k in range(len(figures))]
    for number in range(corpora):
        places = rng.integers(0, len(figures[0].first.ids), size=documents)
        coins = rng.integers(0, 2, size=(documents, 1)) == 1
        sides: list[Result] = []
        for one in figures:
            a, b = one.first.rows[places], one.second.rows[places]
            for rows in (np.where(coins, b, a), np.where(coins, a, b)):
                sides.append(replace(one.first, rows=rows, ids=tuple(range(documents))))
        resampled = resampled_figures(sides, RESAMPLES, seed=number, headline=True)
        tossed = randomisation_values([[side] for side in sides], pairs, RESAMPLES, seed=number)
        for one, (a_, b_), p in zip(figures, pairs, tossed, strict=True):
            values = [resampled[k][one.figure].values for k in (a_, b_)]
            scores = [sides[a_].score, sides[b_].score]
            without = partial(figure_left_out, [sides[a_]], one.figure)  # which the percentile method does not ask for
            found = difference(scores, values, documents, LEVEL, None, "percentile", without)
            out[one.name, "bootstrap"].append(float("nan") if found.p is None else found.p)
            out[one.name, "randomisation"].append(p)
    return out


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print coverage and uniformity; False if a method or a test is not as promised."""
    del repeat
    from scipy.stats import kstest

    corpora, size = (100, POPULATION // 10) if quick else (CORPORA, POPULATION)
    began = time.process_time()
    figures = population(size)
    found = coverage(figures, corpora)
    print(f"\nCoverage of 95 % intervals: {corpora:,} corpora of {DOCUMENTS} documents, {RESAMPLES:,} resamples")
    table = [["figure", "truth", *METHODS, "kind of tally"]]
    for one in figures:
        shown = [f"{100 * found[one.name][method]:.1f} %" for method in METHODS]
        table.append([one.name, f"{one.first.figures[one.figure]:.4f}", *shown, one.what])
    print(draw(table), flush=True)
    fine = quick or all(LEAST <= share <= MOST for by in found.values() for share in by.values())
    for name, by in found.items():
        for method, share in by.items():
            if not quick and not LEAST <= share <= MOST:
                print(f"{method} is outside {100 * LEAST:g} to {100 * MOST:g} % for {name}")
    print(f"\nMeans over two labels, one of them rare: coverage in {corpora:,} corpora of {DOCUMENTS} documents")
    rare = [f"{100 * rare_label_coverage(expected, corpora):.1f} %" for expected in RARE]
    print(draw([["documents with it", *map(str, RARE)], ["percentile", *rare]]), flush=True)
    compared = [one for one in figures if one.figure == one.first.kind.headline]
    print(f"\np-values under the null: {corpora:,} pairs of systems over {DOCUMENTS} documents")
    table = [["figure", "p < 0.05", "p < 0.5", "KS p", "test"]]
    for (name, test), values in null_p_values(compared, corpora).items():
        ks = kstest(values, "uniform").pvalue
        share = [f"{100 * np.mean(np.array(values) < level):.1f} %" for level in (0.05, 0.5)]
        table.append([name, *share, f"{ks:.2f}", test])
        fine = fine and (quick or ks > SURE / len(compared) / len(TESTS))
    print(draw(table), flush=True)
    print(f"\np < 0.05 under the null, by the number of documents: {corpora:,} pairs of systems")
    table = [["figure", *(f"{test}, {documents}" for documents in FEWER for test in TESTS)]]
    smaller = [null_p_values(compared, corpora, documents) for documents in FEWER]
    for one in compared:
        found_ = [np.array(p[one.name, test]) for p in smaller for test in TESTS]
        table.append([one.name, *(f"{100 * np.mean(values < 0.05):.1f} %" for values in found_)])
    print(draw(table))
    print(f"{time.process_time() - began:.0f} CPU s", flush=True)
    return fine

"""Weighted sums of documents: what every resampling method needs, in bounded memory.

A bootstrap resample draws n documents with replacement. Its sums are w·X, with w how often each document was drawn
and X the documents' rows (n x sums). In a randomisation test each document's two outputs change places by a coin: with
s the coins, one system's sums become s·B + (1 - s)·A. (Where rows are fractions that is not the whole less s·A and more
s·B: what is taken away entirely would leave a rounding error, and a label with it.) Either way many resamples are matrix products, and no document is
scored again:

    weights (resamples x n)  ·  rows of all systems and metrics side by side (n x sums)  =  sums (resamples x sums)

Weights are made a block at a time in one buffer, so that memory does not grow with the number of resamples; what is
drawn depends on the seed and on n alone, neither on the size of the blocks nor on how many tallies are summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import F64, I64
from tallystick.engine.native import compiled
from tallystick.engine.tally import are_integers
from tallystick.errors import MetricError, SidesMismatch

CELLS = 2_000_000
"""How many weights, and how many sums, exist at a time: 16 MB each."""
DRAWN = 1 << 16
"""How many counts are drawn at a time, before they become weights of 64 bits."""
Weights: TypeAlias = type[np.float32] | type[np.float64]
Block: TypeAlias = NDArray[Any]
"""Weights, of one type or the other."""


def documents_drawn(
    strata: Sequence[int], resamples: int, seed: int, width: int = 1, weights: Weights = np.float64
) -> Iterator[Block]:
    """How often each document is drawn, in blocks (some resamples, documents); a block is overwritten by the next. Of each
    stratum, the number of whose documents is given, as many are drawn as it has."""
    ends = np.cumsum(strata).tolist()
    state, rng = seeded(seed), None
    for block in _blocks(ends[-1], resamples, width, weights):
        if len(strata) > 1 or not _draw_compiled(state, block):
            rng = rng or generator(seed)
            for row in block:
                for end, n in zip(ends, strata, strict=True):
                    row[end - n : end] = np.bincount(rng.integers(0, n, size=n, dtype=np.uint32), minlength=n)
        yield block


def _draw_compiled(state: NDArray[np.uint64], block: Block) -> bool:
    """The same draws by the compiled part, in a fifth of the time; False if there is none."""
    library = compiled()
    if library is None:
        return False
    if block.dtype == np.float32:
        return library.draw_documents(state, block)
    some = max(1, DRAWN // block.shape[1])
    counts = np.empty((min(some, len(block)), block.shape[1]), np.float32)
    for first in range(0, len(block), some):
        part = counts[: len(block) - first]
        if not library.draw_documents(state, part):
            return False  # as for the first rows: nothing was drawn
        block[first : first + some] = part
    return True


def weights_for(rows: Sequence[F64]) -> Weights:
    """The floats to weigh these rows with. Whose sums stay below 2^24 are exact in floats of 32 bits, with which products take
    a third of the time."""
    small = all(are_integers(one) and len(one) * np.abs(one).max(initial=0) < 2**24 for one in rows)
    return np.float32 if small else np.float64


def coins_tossed(n: int, resamples: int, seed: int, width: int = 1, weights: Weights = np.float64) -> Iterator[Block]:
    """A coin (0 or 1) for each of n documents, in blocks (some resamples, n); a block is overwritten by the next."""
    rng = generator(seed)
    size = -(-n // 8)
    for block in _blocks(n, resamples, width, weights):
        for row in block:
            row[:] = np.unpackbits(np.frombuffer(rng.bytes(size), np.uint8), count=n)
        yield block


def all_coins(n: int, width: int = 1, weights: Weights = np.float64) -> Iterator[Block]:
    """Every outcome of n coins once, in blocks (some outcomes, n); a block is overwritten by the next."""
    first = 0
    for block in _blocks(n, 2**n, width, weights):
        block[:] = (np.arange(first, first + len(block))[:, None] >> np.arange(n)) & 1
        first += len(block)
        yield block


# Documents that are alike: where many have the same rows, how many of each sort are drawn is all that matters. A resample of n documents
# has a multinomial number of each sort, and of a sort with c documents a binomial number change places: no document is drawn by itself.


Sorts = tuple[I64, I64]
"""The first document of each sort, and how many documents there are of it."""
MANY, ALIKE = 2000, 16
"""From so many documents on they may be drawn by sort, if there are as many times more documents than sorts."""


def sorts_of(rows: Sequence[F64]) -> Sorts | None:
    """Which documents have the same rows in all tallies; None where there are so many sorts, or so few documents, that these might as
    well be drawn one by one."""
    n = documents_of(rows)
    if n < MANY:
        return None
    codes, bound = np.zeros(n, np.int64), 1
    for column in (column for one in rows for column in one.T):
        values, inverse = np.unique(column, return_inverse=True)
        if len(values) > 1:
            codes = codes * len(values) + inverse
            bound *= len(values)
            if bound > n:
                known, codes = np.unique(codes, return_inverse=True)
                bound = len(known)
                if bound * ALIKE > n:
                    return None
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return (first, counts) if len(first) * ALIKE <= n else None


def sorts_drawn(counts: I64, resamples: int, seed: int, width: int = 1) -> Iterator[F64]:
    """How many documents of each sort are drawn, in blocks (some resamples, sorts)."""
    rng, n = generator(seed), int(counts.sum())
    for block in _blocks(len(counts), resamples, width, np.float64):
        block[:] = rng.multinomial(n, counts / n, size=len(block))
        yield block


def sorts_tossed(counts: I64, resamples: int, seed: int, width: int = 1) -> Iterator[F64]:
    """How many documents of each sort change places by a coin each, in blocks (some resamples, sorts)."""
    rng = generator(seed)
    for block in _blocks(len(counts), resamples, width, np.float64):
        block[:] = rng.binomial(counts, 0.5, size=block.shape)
        yield block


def weighted_sums(weights: Iterator[Block], rows: Sequence[F64]) -> Iterator[list[F64]]:
    """For each block of weights, which are `weights_for` these rows or float64, the sums of each tally: arrays (some resamples,
    sums)."""
    groups = _groups(rows)
    return (_products(block, groups) for block in weights)


def swapped_sums(
    coins: Iterator[Block], rows: Sequence[F64], times: I64 | int = 1
) -> Iterator[tuple[list[F64], list[F64]]]:
    """For each block of coins the sums of each tally over the documents whose coin is 1, and over the others. The others' are
    what is left of the whole where all rows are integers, so that nothing is rounded, and a product of their own elsewhere. A row
    may stand for several documents: `times` says how many, and the coins how many of them are 1."""
    whole = [(one * np.reshape(times, (-1, 1))).sum(axis=0) for one in rows]
    counts = [are_integers(one) for one in rows]
    groups = _groups(rows)
    of_fractions = _groups([one for one, integers in zip(rows, counts, strict=True) if not integers])
    for block in coins:
        gone = _products(block, groups)
        others = iter(_products(times - block, of_fractions) if of_fractions else ())
        kept = [
            sums - one if integers else next(others) for sums, one, integers in zip(whole, gone, counts, strict=True)
        ]
        yield gone, kept


def bootstrap_sums(rows: Sequence[F64], resamples: int, seed: int) -> list[F64]:
    """The sums of every resample, for several tallies over the same documents: arrays (resamples, sums)."""
    n = documents_of(rows)
    drawn = documents_drawn((n,), resamples, seed, width_of(rows), weights_for(rows))
    blocks = list(weighted_sums(drawn, rows))
    return [np.concatenate([block[k] for block in blocks]) for k in range(len(rows))]


def documents_of(rows: Sequence[F64]) -> int:
    """The number of documents, which all tallies share."""
    n = len(rows[0]) if rows else 0
    if any(len(one) != n for one in rows):
        raise SidesMismatch("results over different numbers of documents cannot be resampled together")
    return n


def width_of(rows: Sequence[F64]) -> int:
    """How many sums a resample has."""
    return sum(one.shape[1] for one in rows)


def _products(weights: Block, groups: Sequence[Group]) -> list[F64]:
    return [
        part.astype(np.float64, copy=False)
        for group in groups
        for part in np.split(weights @ group.stacked(weights.dtype), group.ends[:-1], axis=1)
    ]


class Group:
    """Tallies side by side, as floats of the type of the weights."""

    def __init__(self, rows: Sequence[F64]) -> None:
        self.rows = rows
        self.ends = np.cumsum([one.shape[1] for one in rows]).tolist()
        self._stacked: Block | None = None

    def stacked(self, dtype: np.dtype[Any]) -> Block:
        """One array, made once."""
        if self._stacked is None or self._stacked.dtype != dtype:
            found = self.rows[0] if len(self.rows) == 1 else np.concatenate(self.rows, axis=1)
            self._stacked = found.astype(dtype, copy=False)
        return self._stacked


def _groups(rows: Sequence[F64]) -> list[Group]:
    """Tallies side by side, a product for several at once; large ones by themselves, so that they are not copied."""
    groups: list[list[F64]] = [[]]
    for one in rows:
        if groups[-1] and one.size + sum(other.size for other in groups[-1]) > CELLS:
            groups.append([])
        groups[-1].append(one)
    return [Group(group) for group in groups if group]


def _blocks(n: int, resamples: int, width: int, weights: Weights) -> Iterator[Block]:
    size = max(1, min(resamples, CELLS // max(n, width, 1)))
    buffer = np.empty((size, n), weights)
    for first in range(0, resamples, size):
        yield buffer[: resamples - first]


def generator(seed: int) -> np.random.Generator:
    """What draws, from a seed."""
    _check_seed(seed)
    return np.random.default_rng(seed)


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise MetricError(f"a seed is 0 or more, found {seed}")


def seeded(seed: int) -> NDArray[np.uint64]:
    """The state of `generator(seed)` for the compiled part: state and increment, high and low words each, whether half a number is left, and
    that half. It is worked out here, because `numpy.random` takes 8 ms to load.

    NumPy mixes the words of the seed (SeedSequence, after O'Neill's seed_seq_fe128), and PCG64 takes two steps from there.
    """
    _check_seed(seed)
    words = 2**32 - 1
    given = [int(seed) >> at & words for at in range(0, max(1, int(seed).bit_length()), 32)]
    hashed = 0x43B0D7E5

    def mixed_in(value: int, factor: int = 0x931E8875) -> int:
        nonlocal hashed
        value ^= hashed
        hashed = hashed * factor & words
        value = value * hashed & words
        return value ^ value >> 16

    def joined(x: int, y: int) -> int:
        value = (0xCA01F9DD * x - 0x4973F715 * y) & words
        return value ^ value >> 16

    pool = [mixed_in(given[k] if k < len(given) else 0) for k in range(4)]
    for source in range(4):
        for k in range(4):
            if k != source:
                pool[k] = joined(pool[k], mixed_in(pool[source]))
    for word in given[4:]:
        pool = [joined(one, mixed_in(word)) for one in pool]
    hashed = 0x8B51F9DD
    halves = [mixed_in(pool[k % 4], 0x58F38DED) for k in range(8)]
    first, second, third, fourth = (low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True))
    multiplier, all_words = 0x2360ED051FC65DA44385DF649FCCF645, 2**128 - 1
    increment = ((third << 64 | fourth) << 1 | 1) & all_words
    state = ((increment + (first << 64 | second)) * multiplier + increment) & all_words
    low = 2**64 - 1
    return np.array([state >> 64, state & low, increment >> 64, increment & low, 0, 0], np.uint64)


# Bias-corrected and accelerated quantiles (BCa, Efron 1987), with an acceleration that one document cannot make alone.
#
# Of an interval's two quantiles, z₀ corrects the bias: how many resamples lie below the estimate. The acceleration a is how
# fast the figure's standard error changes with the figure, a sixth of the skewness of what the documents contribute:
#
#     a = Σ d³ / (6 (Σ d²)^(3/2))      d: how far the figure without one document is below the mean of all such
#
# A third moment is often made by one or two large documents. Then it is noise, and noise of the worst kind: where a large
# document has raised the figure it moves the interval up, further away from the truth. So it is multiplied by the share of
# its square that is owed to pairs of different documents,
#
#     (Σ d³)² = Σᵢ dᵢ⁶ + Σᵢ≠ⱼ dᵢ³ dⱼ³      share = Σᵢ≠ⱼ dᵢ³ dⱼ³ / (Σ d³)², or 0 where that is negative
#
# The second sum is the unbiased estimate of what the square of the first would be over other documents; the first is what a
# third moment of 0 would give too. The share tends to 1 with the number of documents (what is missing is of order 1/n), so
# that BCa keeps its accuracy of second order; it is 0 where a cannot be told from 0.

_LEAST = 2.0**-53
"""Half the distance of 1 to the next smaller number."""


def bias_of(values: F64, estimate: float) -> float:
    """z₀ = Φ⁻¹(the share of resamples below the estimate); those that are equal to it count half."""
    from statistics import NormalDist

    same = np.isclose(values, estimate, rtol=0, atol=1e-12)
    below = float((np.sum((values < estimate) & ~same) + 0.5 * np.sum(same)) / len(values))
    return NormalDist().inv_cdf(min(max(below, 0.5 / len(values)), 1 - 0.5 / len(values)))


def acceleration_of(without: F64) -> float:
    """The acceleration, from what the figure is without each document: Efron's, as far as several documents make it."""
    return efrons_acceleration(without) * owed_to_several(without)


def efrons_acceleration(without: F64) -> float:
    """a = Σ d³ / (6 (Σ d²)^(3/2)), as in other tools; a figure that no document changes has none."""
    below = _below_their_mean(without)
    cubed, squared = float(np.sum(below**3)), float(np.sum(below**2))
    return cubed / (6 * squared**1.5) if squared > 1e-20 else 0.0


def owed_to_several(without: F64) -> float:
    """The share of (Σ d³)² that pairs of different documents make; 0 where they make less than nothing."""
    cubed = _below_their_mean(without) ** 3
    largest = float(np.max(np.abs(cubed), initial=0.0))
    if largest == 0:
        return 0.0
    cubed = cubed / largest  # sixth powers of small differences would be lost
    total = float(np.sum(cubed)) ** 2
    return max(0.0, 1 - float(np.sum(cubed**2)) / total) if total > 0 else 0.0


def moved(quantiles: tuple[float, float], bias: float, acceleration: float) -> tuple[float, float]:
    """BCa's quantiles: Φ(z₀ + z / (1 - a z)), with z = z₀ + Φ⁻¹(quantile)."""
    from statistics import NormalDist

    normal = NormalDist()
    # 0 and 1, to which a level next to 1 is rounded, have no finite z
    z = [bias + normal.inv_cdf(min(max(quantile, _LEAST), 1 - _LEAST)) for quantile in quantiles]
    low, high = (normal.cdf(bias + one / max(1 - acceleration * one, 1e-9)) for one in z)
    return low, high


def _below_their_mean(without: F64) -> F64:
    without = without[~np.isnan(without)]
    below: F64 = without.mean() - without if len(without) else without
    return below

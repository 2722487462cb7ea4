"""Similarities of texts: normalisation steps first, then equality, a rapidfuzz ratio, or overlap of tokens.

A ratio is dense: it fills the rectangle of each block with one call of `cdist`. Where blocks are tiny, the
different pairs of texts are compared in one list instead.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tallystick.algebra.node import DELTA, UNKNOWN, Kernel, Similarity, options_of, require
from tallystick.algebra.plain import Plain, Uncovered, equality, leaf
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Codes,
    Column,
    Frame,
    Pairs,
    check_pairs,
    distinct,
    expand,
    number,
    offsets_of,
    sort_order,
    starts_of_runs,
)
from tallystick.engine.clock import look, paced
from tallystick.engine.data import Data, Scope, different_values
from tallystick.engine.values import Unfit, number_values
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ASCII_PUNCTUATION = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ARTICLES = re.compile(r"\b(a|an|the)\b")

_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2060\ufeff"))
"""What has no width: a zero-width space, and no-break spaces of that kind."""


def plain_text(text: str, form: str = "NFC", spaces: bool = True) -> str:
    """A text as it looks: in one Unicode form, and with one blank for any white space, no-break spaces too."""
    if not text.isascii():
        text = unicodedata.normalize(form, text) if form else text  # type: ignore[arg-type]
        text = text.translate(_UNSEEN) if spaces else text
    return " ".join(text.split()) if spaces else text


def are_plain(texts: Iterable[str]) -> bool:
    """Whether `plain_text` changes none of these texts, found out for all of them at once."""
    joined = "\0".join(("", *texts, ""))
    if not joined.isascii():
        return False
    signs = np.frombuffer(joined.encode(), np.uint8)
    space = signs == ord(" ")
    edge = space | (signs == 0)
    beside = (space[1:] & edge[:-1]) | (edge[1:] & space[:-1])  # another space, or an end of a text
    return not (beside.any() or (signs - 1 < ord(" ") - 1).any())  # nor what has no sign: a tab, a line's end


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


STEPS: dict[str, Callable[[str], str]] = {
    "casefold": str.casefold,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "lower": str.lower,
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "accents": lambda text: text if text.isascii() else _without_accents(text),
    "punctuation": lambda text: _PUNCTUATION.sub("", text),
    "ascii_punctuation": lambda text: text.translate(_ASCII_PUNCTUATION),
    "articles": lambda text: _ARTICLES.sub(" ", text),
    "whitespace": lambda text: " ".join(text.split()),
    "spaces": lambda text: "".join(text.split()),
}
"""Steps of normalisation, by name; each drops or unifies what its name says."""

RATIOS = {
    "levenshtein": "rapidfuzz.distance.Levenshtein:normalized_similarity",
    "osa": "rapidfuzz.distance.OSA:normalized_similarity",
    "damerau_levenshtein": "rapidfuzz.distance.DamerauLevenshtein:normalized_similarity",
    "indel": "rapidfuzz.distance.Indel:normalized_similarity",
    "lcs": "rapidfuzz.distance.LCSseq:normalized_similarity",
    "jaro": "rapidfuzz.distance.Jaro:similarity",
    "jaro_winkler": "rapidfuzz.distance.JaroWinkler:similarity",
    "partial": "rapidfuzz.fuzz:partial_ratio",
    "token_sort": "rapidfuzz.fuzz:token_sort_ratio",
    "token_set": "rapidfuzz.fuzz:token_set_ratio",
}
"""Ratios of rapidfuzz, by name. Those of `rapidfuzz.fuzz` count to 100 and are scaled to 1."""


def normalise_text(text: str, steps: Iterable[str]) -> str:
    """`text` after the steps, in their order."""
    for step in steps:
        text = STEPS[step](text)
    return text


@frozen
class Text(Similarity):
    """How alike two texts are by a ratio, or whether they are equal, after normalisation."""

    ratio: str = "equal"
    steps: tuple[str, ...] = ()
    name = "text"
    says = "how alike two texts are"

    def __post_init__(self) -> None:
        known = ["equal", *RATIOS]
        require(
            self.ratio in known,
            f"unknown text similarity {self.ratio!r}; expected one of {', '.join(known)}.{did_you_mean(self.ratio, known)}",
        )
        for step in self.steps:
            require(
                step in STEPS,
                f"unknown step {step!r}; expected some of {', '.join(STEPS)}.{did_you_mean(step, STEPS)}",
            )

    def _arguments(self):  # type: ignore[no-untyped-def]
        yield f'"{self.ratio}"'
        yield from (f'"{step}"' for step in self.steps)

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        if isinstance(spec, str):
            return text(spec)
        if isinstance(spec, list):
            return text(*spec)
        options = options_of(spec, "ratio", "steps")
        return text(options.get("ratio", "equal"), *options.get("steps", ()))

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA if self.exact_only else UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.choice("abcd")

    @property
    def exact_only(self) -> bool:
        return self.ratio == "equal"

    @property
    def dense(self) -> bool:
        return self.ratio != "equal"

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        (rows, left), (lines, right) = (texts_of(side, scope) for side in (reference, predicted))
        if self.steps:
            clean = {
                text: normalise_text(text, self.steps) if isinstance(text, str) else text
                for text in number_values((left, right))
            }
            left, right = [clean[text] for text in left], [clean[text] for text in right]
        table = number_values((left, right))
        values = [text if isinstance(text, str) else None for text in table]  # rapidfuzz: None is like nothing
        sides = []
        for side, index in ((left, rows), (right, lines)):
            codes = np.fromiter(map(table.__getitem__, side), np.int64, len(side))
            sides.append(Codes(codes if index is None else codes[index], max(len(table), 1), values))
        return sides[0], sides[1]

    def plain(self) -> Plain:
        steps = [STEPS[step] for step in self.steps]

        def see(value: Any) -> str:
            if type(value) is not str:
                raise Uncovered
            for step in steps:
                value = step(value)
            return value  # type: ignore[no-any-return]

        if self.exact_only:
            return equality(see)
        function, scale = _rapidfuzz(self.ratio)
        if self.ratio == "token_set":  # 0 for two texts without a word; but a text equals itself
            return leaf(see, lambda a, b: 1.0 if a == b else function(a, b) * scale)
        return leaf(see, lambda a, b: function(a, b) * scale)

    def refine(self, r: Codes, p: Codes, blocks: Blocks) -> Blocks:
        return blocks.refine(r.codes, p.codes, r.bound)

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        if self.exact_only:
            i, j = self.refine(r, p, blocks).pairs()
            return Pairs(i, j, np.ones(len(i)))
        return blocks.frame.pairs(self.fill(r, p, blocks.frame))

    def pairs_from(self, least: float, r: Column, p: Column, blocks: Blocks) -> Pairs:
        shortest = SHORTEST.get(self.ratio)
        if shortest is None or not 0 < least <= 1 or not isinstance(r, Codes) or not isinstance(p, Codes):
            return super().pairs_from(least, r, p, blocks)
        frame = Frame(blocks, filled=False)
        if frame.size < MANY_CELLS * max(1, len(frame.row_counts)):
            return super().pairs_from(least, r, p, blocks)
        found = [Pairs.none()]
        for rows, columns, _ in frame.rectangles():
            (first, of_row), (second, of_column) = (
                np.unique(codes, return_inverse=True) for codes in (r.codes[rows], p.codes[columns])
            )
            ours, theirs = _texts(r.values, first, second)
            alike = _alike(ours, theirs, self.ratio, least, shortest)
            found.append(_laid_out(alike, rows, of_row, columns, of_column))
        return Pairs.joined(found)

    def fill(self, r: Codes, p: Codes, frame: Frame) -> F64:
        flat = fill_rectangles(r, p, frame, _rapidfuzz(self.ratio))
        if self.ratio == "token_set":  # 0 for two texts without a word; but a text equals itself
            i, j = frame.all_pairs
            flat[r.codes[i] == p.codes[j]] = 1.0
        return flat

    def weights_of_values(self, reference: list[Any], predicted: list[Any]) -> F64:
        if self.exact_only or self.ratio == "token_set" or {*map(type, reference), *map(type, predicted)} != {str}:
            return super().weights_of_values(reference, predicted)
        return _each_with_its([self._clean(reference), self._clean(predicted)], _rapidfuzz(self.ratio))

    def _clean(self, texts: list[str]) -> list[str]:
        for step in self.steps:
            texts = list(map(STEPS[step], texts))
        return texts


def _each_with_its(texts: list[list[str]], scorer: tuple[Any, float]) -> F64:
    """A rapidfuzz scorer of text k and text k."""
    from rapidfuzz.process import cpdist

    function, scale = scorer
    return np.asarray(cpdist(*texts, scorer=function, dtype=np.float64), np.float64) * scale


def fill_rectangles(r: Codes, p: Codes, frame: Frame, scorer: tuple[Any, float]) -> F64:
    """A rapidfuzz scorer over all cells."""
    function, scale = scorer
    values = r.values
    if frame.size < 32 * max(1, len(frame.row_counts)):
        codes, different, inverse = different_pairs(r, p, frame)
        return _each_with_its(_texts(values, *codes), scorer)[inverse] if different else np.empty(0)
    flat = np.empty(frame.size)
    for rows, columns, place in frame.rectangles():
        ours, theirs = r.codes[rows], p.codes[columns]
        several = len(set(ours.tolist())) * len(set(theirs.tolist())) <= 0.9 * len(rows) * len(columns)
        if len(rows) * len(columns) < 1024 or not several:
            scores = _each_with_each(_texts(values, ours, theirs), function)
        else:  # a text that occurs several times is compared once
            first, of_row = np.unique(ours, return_inverse=True)
            second, of_column = np.unique(theirs, return_inverse=True)
            scores = _each_with_each(_texts(values, first, second), function)
            scores = scores[of_row][:, of_column]
        if scores.size == frame.size:
            flat = np.asarray(scores, np.float64).ravel()  # the only rectangle
        else:
            flat[place] = scores.ravel()
    if scale != 1.0:
        flat *= scale
    return flat


def _each_with_each(texts: list[list[str]], function: Any) -> F64:
    from rapidfuzz.process import cdist

    ours, theirs = texts
    parts = [cdist(ours[some], theirs, scorer=function, dtype=np.float64) for some in paced(len(ours))]
    return np.asarray(parts[0] if len(parts) == 1 else np.concatenate(parts), np.float64)


# Texts that are alike, of many: all pairs with φ ≥ t, without comparing each with each.
#
# A ratio of distances bounds the lengths: k edits change a length by k at most. Of the rest, Levenshtein's distance leaves most out
# by what both texts have in common: k edits destroy at most q·k of the runs of q characters in a text, so that of any q·k + 1
# of them at least one is in the other text, at most k places away. The rarest ones are looked up.

MANY_CELLS = 1024
"""Blocks of fewer cells on average are filled."""
CELLS_AT_ONCE = 1_000_000
SHORTEST: dict[str, Callable[[float, Any], Any]] = {
    "levenshtein": lambda least, length: least * length,
    "osa": lambda least, length: least * length,
    "damerau_levenshtein": lambda least, length: least * length,
    "lcs": lambda least, length: least * length,
    "indel": lambda least, length: least * length / (2 - least),
}
"""How short a text may be that is so much like one of a length: of an edit distance in so many characters, φ ≤ shorter / longer; of
insertions and deletions only, φ ≤ 2 shorter / (shorter + longer)."""
RUN = 3
"""q, how long the runs of characters are that texts have in common."""
LONG_ENOUGH = 0.9
"""What share of the texts must be long enough for it; all others are candidates."""
LOOKED_UP = 8
"""How many cells of a rectangle could be filled in the time that a candidate takes."""

Alike: TypeAlias = "tuple[I64, I64, F64]"


def _alike(ours: Sequence[str | None], theirs: Sequence[str | None], ratio: str, least: float, shortest: Any) -> Alike:
    """The pairs of different texts, by place, that are so much alike, and how much."""
    from rapidfuzz.process import cdist, cpdist

    scorer, _ = _rapidfuzz(ratio)
    length, lengths = (np.array([-1 if one is None else len(one) for one in side], np.int64) for side in (ours, theirs))
    if ratio == "levenshtein":
        candidates = _sharing_runs(ours, theirs, length, lengths, least)
        if candidates is not None:
            i, j = candidates
            scores = cpdist(
                [ours[k] for k in i.tolist()], [theirs[k] for k in j.tolist()], scorer=scorer, dtype=np.float64
            )
            return i, j, np.asarray(scores, np.float64)
    # The cut-off has a margin: rapidfuzz's OSA loses 0.3 under a cut-off of 0.3.
    rows, columns = np.argsort(length, kind="stable"), np.argsort(lengths, kind="stable")
    ordered = lengths[columns]
    low = np.searchsorted(ordered, np.floor(shortest(least, length[rows]) - 1e-6))
    high = np.searchsorted(ordered, np.ceil(_longest(least, length[rows], shortest) + 1e-6), side="right")
    found: list[Alike] = []
    begin = 0
    while begin < len(rows):
        look()
        widest = max(1, int(high[min(begin + 64, len(rows)) - 1] - low[begin]))
        end = min(len(rows), begin + max(1, min(64, CELLS_AT_ONCE // widest)))
        some, others = rows[begin:end], columns[low[begin] : high[end - 1]]
        scores = cdist(
            *_texts_at(ours, theirs, some, others), scorer=scorer, score_cutoff=0.999 * least, dtype=np.float64
        )
        a, b = np.nonzero(scores)
        found.append((some[a], others[b], scores[a, b]))
        check_pairs(sum(len(one[0]) for one in found), "match by a key, or score smaller documents")
        begin = end
    i, j, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    return i, j, weight


def _longest(least: float, length: I64, shortest: Any) -> Any:
    """How long a text may be: the inverse of how short, which is a share of the length."""
    return length / shortest(max(least, 1e-9), 1.0)  # no text has a thousand million characters


def _texts_at(
    ours: Sequence[str | None], theirs: Sequence[str | None], rows: I64, columns: I64
) -> list[Sequence[str | None]]:
    return [[side[k] for k in places.tolist()] for side, places in ((ours, rows), (theirs, columns))]


def _sharing_runs(
    ours: Sequence[str | None], theirs: Sequence[str | None], length: I64, lengths: I64, least: float
) -> tuple[I64, I64] | None:
    """The pairs of texts that could be so much alike by the runs they have in common; None if that takes longer than comparing all."""
    longest = np.minimum(
        length / max(least, 1e-9), max(length.max(), lengths.max())
    )  # of two that are alike; a low threshold sets no bound
    edits = np.floor((1 - least) * np.floor(longest + 1e-6) + 1e-6).astype(np.int64)
    needed = RUN * edits + 1
    fit = length - RUN + 1 >= needed  # of a text that is too short, nothing may be left
    if np.count_nonzero(fit) < LONG_ENOUGH * len(ours):
        return None
    (text, place, run), (texts, places, runs) = _runs_of(ours), _runs_of(theirs)
    codes, n = number(*_joint(run, runs))
    run, runs = codes[: len(run)], codes[len(run) :]
    often = np.bincount(runs, minlength=n)
    # The rarest of each text that has enough of them.
    order = np.lexsort((often[run], text))
    rank = np.arange(len(order)) - np.repeat(starts := starts_of_runs(text[order]), np.diff(starts, append=len(order)))
    order = order[(rank < needed[text[order]]) & fit[text[order]]]
    text, place, run = text[order], place[order], run[order]
    loose = np.flatnonzero(~fit)
    if LOOKED_UP * int(often[run].sum()) + len(loose) * len(theirs) > len(ours) * len(theirs):
        return None
    by_run = sort_order(runs, n)
    begins = offsets_of(often)
    hit = by_run[expand(begins[run], often[run])]
    row, column = np.repeat(text, often[run]), texts[hit]
    close = np.abs(np.repeat(place, often[run]) - places[hit]) <= edits[row]
    longer = np.maximum(length[row], lengths[column])
    close &= np.minimum(length[row], lengths[column]) >= least * longer - 1e-6
    keys = np.concatenate(
        (row[close] * len(theirs) + column[close], (loose[:, None] * len(theirs) + np.arange(len(theirs))).ravel())
    )
    keys = distinct(keys)
    return keys // len(theirs), keys % len(theirs)


def _runs_of(texts: Sequence[str | None]) -> tuple[I64, I64, I64]:
    """All runs of q characters: the text, the place in it, and a number for the characters."""
    joined = np.frombuffer("".join(one or "" for one in texts).encode("utf-32-le", "surrogatepass"), np.uint32).astype(
        np.int64
    )
    sizes = np.array([len(one or "") for one in texts], np.int64)
    counts = np.maximum(sizes - RUN + 1, 0)
    begins = expand(offsets_of(sizes)[:-1], counts)
    text = np.repeat(np.arange(len(texts)), counts)
    run = np.zeros(len(begins), np.int64)
    for k in range(RUN):
        run = (run << 21) | joined[begins + k]  # a character has 21 bits at most: three of them are 63
    return text, begins - offsets_of(sizes)[text], run


def _joint(run: I64, runs: I64) -> tuple[I64, int]:
    both = np.concatenate((run, runs))
    return both, int(both.max(initial=0)) + 1


def _laid_out(alike: Alike, rows: I64, of_row: I64, columns: I64, of_column: I64) -> Pairs:
    """The pairs of different texts as pairs of rows and columns, each of which has one of the texts, in their order."""
    first, second, weight = alike
    sides = []
    for places, of_place in ((rows, of_row), (columns, of_column)):
        counts = np.bincount(of_place, minlength=int(of_place.max()) + 1)
        sides.append((places[sort_order(of_place, len(counts))], counts, offsets_of(counts)))
    (ours, n, starts), (theirs, m, begins) = sides
    i = ours[expand(starts[first], n[first])]
    one = np.repeat(np.arange(len(first)), n[first])
    j = theirs[expand(begins[second[one]], m[second[one]])]
    again = np.repeat(np.arange(len(one)), m[second[one]])
    i, weight = i[again], weight[one[again]]
    order = np.lexsort((j, i))
    return Pairs(i[order], j[order], weight[order])


def _texts(values: Sequence[str], *codes: I64) -> list[list[str]]:
    return [[values[k] for k in side.tolist()] for side in codes]


def different_pairs(r: Codes, p: Codes, frame: Frame) -> tuple[tuple[I64, I64], int, I64]:
    """The different pairs of codes over all cells, how many, and for each cell which one it is."""
    i, j = frame.all_pairs
    if all(len(distinct(side.codes)) == len(side) for side in (r, p)):  # then no pair is met twice
        return (r.codes[i], p.codes[j]), len(i), np.arange(len(i))
    keys = r.codes[i] * p.bound + p.codes[j]
    inverse, n = number(keys, r.bound * p.bound)
    different = np.empty(n, np.int64)
    different[inverse] = keys
    return (different // p.bound, different % p.bound), n, inverse


def every_text(data: Data, scope: Scope) -> list[str]:
    """The text of each row."""
    index, found = texts_of(data, scope)
    return found if index is None else [found[k] for k in index.tolist()]


def texts_of(data: Data, scope: Scope) -> tuple[I64 | None, list[str]]:
    """The values, all of which must be texts: the different ones with each row's code, or all of them."""
    codes, values = different_values(data, scope)
    for kind in set(map(type, values)):
        if not issubclass(kind, (str, Unfit)):
            example = next(value for value in values if type(value) is kind)
            hint = "; if it may be missing, wrap it: optional(...)" if example is None else ""
            raise ValueMismatch(f"at {scope}: expected text, found {kind.__name__} {example!r:.60}{hint}")
    return codes, values


def _rapidfuzz(ratio: str) -> tuple[Any, float]:
    import importlib

    module, function = RATIOS[ratio].split(":")
    return getattr(importlib.import_module(module), function), 0.01 if module.endswith("fuzz") else 1.0


def words(text: str) -> list[str]:
    """The words of a text without case, punctuation of any script, and articles.

    >>> ts.words("The Eiffel Tower, in Paris.")
    ['eiffel', 'tower', 'in', 'paris']
    """
    return normalise_text(text, ("casefold", "punctuation", "articles")).split()


def text(ratio: str = "equal", *steps: str) -> Text:
    """Texts: equal after normalisation, or a rapidfuzz ratio. `text("levenshtein", "casefold", "whitespace")`.

    >>> ts.text("levenshtein")("Ann Lee", "Anne Lee")
    0.875
    >>> ts.text("equal", "casefold", "whitespace")("Oslo", " OSLO ")
    1.0
    """
    return Text(ratio, tuple(steps))

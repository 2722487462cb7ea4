"""Units of a pair of CoNLL-U files: parts of the text that can be counted apart.

Confidence intervals, figures by document and sums over machines need rows that add. Sentences are no such
unit when the sides split them differently, and nothing is lost by going a little higher: where *both* sides
begin a sentence, no token, multi-word token, head or edge reaches across, so the counts of the two parts add
up to those of the whole.

    reference   |  S1  |  S2  |    S3    |
    predicted   |  S1  |     S2'    | S3'|
    units       |  u1  |       u2        |

Such a block is the smallest unit. If the reference has documents (`# newdoc`), these are the units; a
document that begins in the midst of a predicted sentence is joined to the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import distinct
from tallystick.errors import SidesMismatch
from tallystick.files.conllu import number_jointly
from tallystick.frozen import frozen
from tallystick.tasks.dependencies.files import Treebank


@frozen(eq=False)
class Units:
    """Units by their offsets in the text, with the names that the reference gives them."""

    starts: NDArray[np.int32]
    names: list[str]
    unit: str = "document"
    """What they are: documents, or sentences that both sides end alike."""

    def __len__(self) -> int:
        return len(self.starts)

    def words(self, side: Treebank) -> NDArray[np.int32]:
        """Offsets of the units' words."""
        first = np.searchsorted(side.sentence_start, self.starts)
        offsets: NDArray[np.int32] = side.sentence_words[np.append(first, len(side.sentence_start))]
        return offsets


def _in_both(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    return np.intersect1d(distinct(one), distinct(other), assume_unique=True)


def find_units(reference: Treebank, *predicted: Treebank, by: str = "auto") -> Units:
    """The units that a reference has in common with one or several systems: by "document" or "sentence", of which it may take several
    until all sides end one; "auto" (and "group", of either) is documents if the reference has any `# newdoc`, else sentences.
    """
    common = reduce(_in_both, (side.sentence_start for side in predicted), reference.sentence_start)
    documents = reference.documents() if by != "sentence" else {}
    if by == "document" or documents:
        starts = reference.sentence_start[[0, *documents] if len(reference) else []]
        common = _in_both(common, starts)
    first = np.searchsorted(reference.sentence_start, common).tolist()
    names = documents
    if not all(map(names.get, first)):
        names = reference.sentence_names() | {sentence: name for sentence, name in names.items() if name}
    lines = reference.sentence_line
    called = [names.get(at) or f"{PurePath(reference.name).name}:{lines[at]}" for at in first]
    return Units(common, called, "document" if by == "document" or documents else "sentence")


def sum_by_unit(flags: NDArray[np.bool_], offsets: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many flags are set between each two offsets."""
    return np.diff(np.searchsorted(np.flatnonzero(flags), offsets)).astype(np.int64)


# Enhanced edges of aligned words, matched one to one.
#
# The edges into a word are a bag of (head, label). An edge of the prediction is carried over to the reference
# by the alignment of its dependent and of its head; an edge with an end that has no partner cannot match. Of
# each (dependent, head, label) as many edges are right as the side with fewer of them has. UD's own evaluation
# counts pairs of equal edges instead, so that labels which become equal without their subtypes count several
# times, and F1 passes 1.


def match_edges(
    reference: Treebank, predicted: Treebank, alignment: Alignment, names: Sequence[Callable[[str], str] | None]
) -> list[NDArray[np.int64]]:
    """The dependents (reference words, ascending) of the matched edges, one for each edge; for every way to name relations."""
    ours, theirs = reference.enhanced, predicted.enhanced
    if not len(ours.head) or not len(theirs.head):
        return [np.zeros(0, np.int64) for _ in names]

    partner = alignment.partners(len(predicted))
    their_dependent, their_head = partner[theirs.dependent], partner[theirs.head]
    carried = np.flatnonzero((their_dependent >= 0) & (their_head >= -1))
    mine = ours.dependent.astype(np.int64), ours.head.astype(np.int64)
    sides = mine, (their_dependent[carried], their_head[carried])
    # A predicted sentence may join two of the reference, so a head can be anywhere: it is numbered by its
    # distance from the dependent, which keeps the keys below small.
    distances = [np.where(head < 0, 0, head - dependent) for dependent, head in sides]
    far = 1 + max(int(np.abs(distance).max(initial=0)) for distance in distances)
    width = 2 * far + 2
    places = [
        dependent * width + np.where(head < 0, 2 * far + 1, distance + far)  # the root is no word at any distance
        for (dependent, head), distance in zip(sides, distances, strict=True)
    ]
    out = []
    for canonical in names:
        label, their_label = number_jointly(ours.label, theirs.label, canonical)
        labels = int(max(label.max(), their_label.max())) + 1
        both = in_both(places[0] * labels + label, places[1] * labels + their_label[carried])
        out.append(both // (width * labels))
    return out


def in_both(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers that both sides have, ascending, each as often as the side that has it less often. Both are nearly sorted, which a
    stable sort makes use of."""
    sides = [np.sort(side, kind="stable") for side in (ours, theirs)]
    repeated = [np.flatnonzero(side[1:] == side[:-1]) + 1 for side in sides]
    turns = [_place_in_run(places) for places in repeated]  # the first, second, ... of a number are different ones
    most = 1 + max(int(turn.max(initial=0)) for turn in turns)
    if most > 1:
        for side, places, turn in zip(sides, repeated, turns, strict=True):
            side *= most
            side[places] += turn
    every = np.sort(np.concatenate(sides), kind="stable")
    twice: NDArray[np.int64] = every[1:][every[1:] == every[:-1]]
    return twice // most if most > 1 else twice


def _place_in_run(numbers: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place of each of ascending numbers in its run of numbers that follow one another, counted from 1."""
    at = np.arange(len(numbers))
    begins = np.where(np.diff(numbers, prepend=-1) != 1, at, 0)
    return at - np.maximum.accumulate(begins) + 1


# Which words of two CoNLL-U files are the same word, when the files may cut the text differently.
#
# Both files must spell the same text, white space aside, so every token is a range of that text. A word that
# is a token of its own is aligned with the word of the other side that has the same range. Words under a
# multi-word token have no range of their own, hence the *multi-word span*: the smallest range that contains a
# multi-word token and cuts through none, of either side. The words of the two sides that lie completely
# inside one span are aligned by a longest common subsequence of their lower-cased forms.
#
#     reference     a   [ bc: b c ]   d e         span [1,4): b c | b c d  ->  b-b, c-c
#     predicted     a   [ bcd: b c d ]  e         outside:    a-a, e-e
#
# That is what UD's own evaluation says in its description, and it treats the two sides alike. Its program
# differs where single words cross the edge of a span: words that lie before the span, or stick out of it, may
# then take part in the subsequence. `tests/parity` has the smallest cases.
#
# Where several longest subsequences exist, the choice is that of UD's program: a pair as soon as the forms are
# equal, else drop a reference word if that loses nothing, else a predicted one.

Indices = NDArray[np.intp]
Ints = NDArray[np.int32]


@frozen(eq=False)
class Alignment:
    """Pairs of words: `reference[i]` is `predicted[i]`. Both ascend, so no word occurs twice."""

    reference: Indices
    predicted: Indices

    def __len__(self) -> int:
        return len(self.reference)

    def partners(self, words: int) -> NDArray[np.int64]:
        """For each of so many predicted words the reference word that it is, or -2; behind them, where a root's head looks,
        -1 for the root."""
        out = np.full(words + 1, -2, np.int64)
        out[self.predicted] = self.reference
        out[-1] = -1
        return out


def align_words(reference: Treebank, predicted: Treebank) -> Alignment:
    """Align the words of two files; an error names the first place where their texts differ."""
    if reference.text != predicted.text:
        raise _name_divergence(reference, predicted)
    span_start, span_end = _find_spans(reference, predicted)
    in_span = [_locate(side, span_start, span_end) for side in (reference, predicted)]

    outside = [np.flatnonzero(located == OUTSIDE) for located in in_span]
    r, p = match_ranges(
        *(
            ends[side.word_token[words]]
            for side, words in zip((reference, predicted), outside, strict=True)
            for ends in (side.token_start, side.token_end)
        )
    )
    if not len(span_start):
        return Alignment(outside[0][r], outside[1][p])
    in_r, in_p = _align_spans(reference, predicted, in_span[0], in_span[1], len(span_start))
    all_r = np.concatenate((outside[0][r], in_r))
    all_p = np.concatenate((outside[1][p], in_p))
    order = np.argsort(all_r, kind="stable")
    return Alignment(all_r[order], all_p[order])


def match_ranges(start: Ints, end: Ints, other_start: Ints, other_end: Ints) -> tuple[Indices, Indices]:
    """Where two ascending lists of ranges, none of them empty or overlapping, have the same range."""
    if not len(start) or not len(other_start):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    at = np.minimum(np.searchsorted(other_start, start), len(other_start) - 1)
    equal = np.flatnonzero((other_start[at] == start) & (other_end[at] == end))
    return equal, at[equal]


OUTSIDE, CROSSING = -1, -2
"""Where a word is that lies in no span: clear of all spans, or across the edge of one."""


def _find_spans(reference: Treebank, predicted: Treebank) -> tuple[Ints, Ints]:
    """The multi-word spans: multi-word tokens of both sides, those that share a character merged."""
    start = np.concatenate([side.token_start[side.token_is_multiword] for side in (reference, predicted)])
    end = np.concatenate([side.token_end[side.token_is_multiword] for side in (reference, predicted)])
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    opens = np.flatnonzero(np.append(True, start[1:] >= reach[:-1])[: len(start)])
    closes = np.append(opens[1:] - 1, len(start) - 1)[: len(opens)]
    return start[opens], reach[closes]


def _locate(side: Treebank, span_start: Ints, span_end: Ints) -> Indices:
    """The span in which each word lies completely, or OUTSIDE, or CROSSING."""
    if not len(span_start):
        return np.full(len(side), OUTSIDE, np.intp)
    token = np.full(len(side.token_start), OUTSIDE, np.intp)
    # The last span that starts before the token's end is the only one that can contain it, and if any span
    # has a character of it, this one has.
    last = np.searchsorted(span_start, side.token_end, side="left") - 1
    touches = (last >= 0) & (span_end[last] > side.token_start)
    contains = touches & (span_start[last] <= side.token_start) & (span_end[last] >= side.token_end)
    token[touches] = CROSSING
    token[contains] = last[contains]
    return token[side.word_token]


def _align_spans(
    reference: Treebank, predicted: Treebank, in_r: Indices, in_p: Indices, spans: int
) -> tuple[Indices, Indices]:
    """Align the words inside spans: at once where both sides have the same forms, else span by span."""
    words_r, words_p = np.flatnonzero(in_r >= 0), np.flatnonzero(in_p >= 0)
    form_r, form_p = number_jointly(reference.form.take(words_r), predicted.form.take(words_p), str.lower)
    count_r = np.bincount(in_r[words_r], minlength=spans)
    count_p = np.bincount(in_p[words_p], minlength=spans)
    ends_r, ends_p = np.cumsum(count_r), np.cumsum(count_p)

    same = count_r == count_p
    pair_r = np.flatnonzero(same[in_r[words_r]])
    pair_p = np.flatnonzero(same[in_p[words_p]])
    differs = form_r[pair_r] != form_p[pair_p]
    same[in_r[words_r[pair_r[differs]]]] = False
    kept = same[in_r[words_r[pair_r]]]
    out_r, out_p = [pair_r[kept]], [pair_p[kept]]

    # The same few patterns come again and again (one side splits "zum", the other does not).
    solved: dict[tuple[int, ...], tuple[Indices, Indices]] = {}
    for span in np.flatnonzero(~same & (count_r > 0) & (count_p > 0)).tolist():
        begin_r, begin_p = int(ends_r[span] - count_r[span]), int(ends_p[span] - count_p[span])
        a, b = form_r[begin_r : ends_r[span]].tolist(), form_p[begin_p : ends_p[span]].tolist()
        numbers: dict[int, int] = {}
        key = (len(a), *(numbers.setdefault(form, len(numbers)) for form in (*a, *b)))
        if key not in solved:
            solved[key] = align_forms(a, b)
        out_r.append(solved[key][0] + begin_r)
        out_p.append(solved[key][1] + begin_p)
    return words_r[np.concatenate(out_r)], words_p[np.concatenate(out_p)]


def align_forms(a: list[int], b: list[int]) -> tuple[Indices, Indices]:
    """A longest common subsequence as pairs of positions.

    `longest[i][j]` is the length of the longest one of `a[i:]` and `b[j:]`: `1 + longest[i+1][j+1]` if
    `a[i] == b[j]`, else the larger of `longest[i+1][j]` and `longest[i][j+1]`.
    """
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below, form = longest[i], longest[i + 1], a[i]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if form == b[j] else max(below[j], row[j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    found = np.array(pairs, np.intp).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _name_divergence(reference: Treebank, predicted: Treebank) -> SidesMismatch:
    characters = [np.frombuffer(side.text.encode("utf-32-le"), np.uint32) for side in (reference, predicted)]
    shorter = min(map(len, characters))
    unequal = np.flatnonzero(characters[0][:shorter] != characters[1][:shorter])
    at = int(unequal[0]) if unequal.size else shorter

    def describe(side: Treebank) -> str:
        if at == len(side.text):
            return f"{side.name} ends"
        token = int(np.searchsorted(side.token_end, at, side="right"))
        start, end = int(side.token_start[token]), int(side.token_end[token])
        return f'{side.name}:{side.token_line[token]} has "{side.text[start:end]}"'

    before = reference.text[max(0, at - 20) : at]
    after = f' after "{"..." if at > 20 else ""}{before}"' if before else ", from the start"
    return SidesMismatch(
        f"the texts differ{after}: {describe(reference)} where {describe(predicted)}; "
        "both files must spell the same text, white space aside"
    )

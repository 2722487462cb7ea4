"""Dependencies: UAS and LAS as the paper has them, and the full UD evaluation, as counts that add.

    UAS = F_edges[δ_gov × δ_dep]        LAS = F_edges[δ_gov × δ_dep × δ_rel]        (eq. 11, 12)

hold where both sides have the same words. Files whose tokenisation differs are aligned first; then a predicted word has
the number of the reference word that it is aligned with, and the same expressions hold.

Tokens and sentences are right if the other side has the same range of the text. Everything else is judged
on pairs of aligned words (`alignment`). With g the reference word, s the predicted one, a(s) the
reference word that s is aligned with, and a(root) = root:

    Words     aligned
    UPOS      upos(g) = upos(s); XPOS alike
    UFeats    the universal features are equal, in any order
    AllTags   UPOS, XPOS and UFeats
    Lemmas    lemma(g) = lemma(s), or the reference has no lemma ("_")
    UAS       head(g) = a(head(s))
    LAS       UAS, and deprel(g) = deprel(s) without subtypes
    CLAS      LAS, for words with a content relation
    MLAS      CLAS, UPOS, UFeats, and the functional children are the same words, with LAS, UPOS, UFeats
    BLEX      CLAS and Lemmas
    ELAS      an enhanced edge with the same head and label is matched one to one
    EULAS     the same without subtypes

A row of counts is (correct, reference, predicted, aligned): P = correct / predicted, R = correct /
reference, F1 = 2 correct / (reference + predicted), accuracy on aligned words = correct / aligned. For CLAS,
MLAS and BLEX totals are the content words of each side, and aligned pairs are those with a content word in
the reference. Where a metric is not one of aligned words (tokens, sentences, edges), aligned is 0.

The rows of units (`alignment.find_units`) add up to the row of the whole, for each metric.

The counts are those of UD's own evaluation (udtools 0.2.9) except where that is not right. `tests/parity`
has the cases:

- EULAS, and ELAS if an edge is repeated, count pairs of equal edges there and pass 1; here edges are matched.
- Single words that cross the edge of a multi-word span, or lie before it, may be aligned with words in it.
- Spaces inside FORM do not count there in tokens, but do in the words of multi-word tokens; here in neither.
- A chain of 2,000 words, each the head of the one before it, is a RecursionError there.
- An edge in DEPS from beyond the sentence is an IndexError there; here an error that names the line.
- 0/0 is 0 there; here the figure is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.engine import data
from tallystick.engine.arrays import F64, I64
from tallystick.engine.tally import Counts, ratio
from tallystick.files.conllu import Coded, number_jointly
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.tasks.dependencies.alignment import (
    Alignment,
    Units,
    align_words,
    find_units,
    match_edges,
    match_ranges,
    sum_by_unit,
)
from tallystick.tasks.dependencies.files import Treebank
from tallystick.tasks.metric import NamedMetric, choose

# The labels that the UD evaluation tells apart, as they were fixed for the CoNLL 2018 shared task. Relations count without
# their language-specific subtype, features only if they are universal. CLAS, MLAS and BLEX look at words with a content
# relation; MLAS also at their children with a functional one. A relation in neither list (`punct`) is not looked at by
# these three.

CONTENT = frozenset((
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod",
    "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list",
    "parataxis", "orphan", "goeswith", "reparandum", "root", "dep",
))  # fmt: skip
FUNCTIONAL = frozenset(["aux", "cop", "mark", "det", "clf", "case", "cc"])
UNIVERSAL_FEATURES = frozenset((
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite",
    "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
))  # fmt: skip


def universal_features(feats: str) -> str:
    """The universal ones among the features, sorted."""
    return "|".join(sorted(feat for feat in feats.split("|") if feat.partition("=")[0] in UNIVERSAL_FEATURES))


def without_subtype(deprel: str) -> str:
    """`nsubj` of `nsubj:pass`."""
    return deprel.partition(":")[0]


def without_subtypes(path: str) -> str:
    """`conj>obl` of `conj:and>obl:in`."""
    return ">".join(map(without_subtype, path.split(">")))


def _words(*fields: str) -> Node:
    """F over the words of both sides, numbered through by their alignment."""
    return f1(match(record(**dict.fromkeys((*fields, "dep"), exact))))


METRICS = {
    metric.name: metric
    for metric in (
        NamedMetric("tokens", "ranges of the text that are a token on both sides"),
        NamedMetric("sentences", "ranges of the text that are a sentence on both sides"),
        NamedMetric("words", "aligned words", _words()),
        NamedMetric("upos", "words with the same UPOS", _words("upos")),
        NamedMetric("xpos", "words with the same XPOS", _words("xpos")),
        NamedMetric("ufeats", "words with the same universal features", _words("feats")),
        NamedMetric("alltags", "words with the same UPOS, XPOS and universal features", _words("upos", "xpos", "feats")),
        NamedMetric("lemmas", "words with the same lemma, or without one in the reference"),
        NamedMetric("uas", "words with the same head (eq. 11)", _words("gov")),
        NamedMetric("las", "words with the same head and relation (eq. 12)", f1(match(record(gov=exact, dep=exact, rel=exact)))),
        NamedMetric("clas", "LAS of content words"),
        NamedMetric("mlas", "CLAS with UPOS, features and functional children"),
        NamedMetric("blex", "CLAS with lemmas"),
        NamedMetric("elas", "enhanced edges with the same head and label"),
        NamedMetric("eulas", "the same without subtypes"),
    )
}  # fmt: skip
"""What `tallystick score dependencies --metric NAME` knows."""

NAMES = tuple(METRICS)
UAS, LAS = METRICS["uas"].node, METRICS["las"].node


@frozen
class WordCounts(Counts):
    """Precision, recall, F1, and the accuracy on aligned words (undefined where a metric is not one of words)."""

    @property
    def sums(self) -> tuple[str, ...]:
        return (*super().sums, "aligned")

    def figures(self, sums: F64) -> dict[str, F64]:
        return {**super().figures(sums), "aligned_accuracy": ratio(sums[..., 0], sums[..., 4])}


def score(
    reference: Treebank, predicted: Treebank, metrics: Sequence[str] = (), *, units: Units | None = None
) -> dict[str, Result]:
    """Every metric of the UD evaluation, a row for each unit (see `alignment.find_units`). A metric that is an expression
    carries it, with the words of each unit."""
    chosen = choose(METRICS, metrics, "dependencies")
    units = units or find_units(reference, predicted)
    alignment = align_words(reference, predicted)
    rows = count_ud(reference, predicted, units, alignment).rows.astype(np.float64)
    words = word_columns(reference, predicted, units, alignment)
    results = {}
    for name, metric in chosen.items():
        correct, of_reference, of_predicted, aligned = (rows[:, NAMES.index(name), k] for k in range(4))
        known = metric.expression is not None
        results[name] = Result(
            metric=metric.expression or f"ud.{name}",
            kind=WordCounts(),
            rows=np.stack((correct, of_predicted, correct, of_reference, aligned), axis=1),
            ids=tuple(units.names),
            sources=(words,) if known else None,
            name=f"ud.{name}" if known else "",
            unit=units.unit,
        )
    return results


def word_columns(
    reference: Treebank, predicted: Treebank, units: Units, alignment: Alignment
) -> tuple[data.Bag, data.Bag]:
    """The words of each unit as the expressions look at them: a predicted word has the number of its partner, or one that no
    reference word has; the root is -1."""
    number = np.arange(len(reference), len(reference) + len(predicted) + 1, dtype=np.int64)
    number[alignment.predicted] = alignment.reference
    number[-1] = -1  # where a root's head, -1, looks

    def bag(side: Treebank, dep: I64, gov: I64) -> data.Bag:
        def column(coded: Coded, canonical: Callable[[str], str] = str) -> data.Coded:
            return data.Coded(coded.codes.astype(np.int64), [canonical(value) for value in coded.values])

        fields: dict[str, data.Data] = {
            "dep": dep,
            "gov": gov,
            "rel": column(side.deprel, without_subtype),
            "upos": column(side.upos),
            "xpos": column(side.xpos),
            "feats": column(side.feats, universal_features),
        }
        return data.Bag(units.words(side).astype(np.int64), data.Record(fields))

    return (
        bag(reference, np.arange(len(reference), dtype=np.int64), reference.head.astype(np.int64)),
        bag(predicted, number[:-1], number[predicted.head]),
    )


# Counting: all metrics from one alignment.
#
# What follows counts by flags of aligned pairs, also for the metrics that are expressions: one alignment gives the pairs of
# all of them, and MLAS, BLEX and the others need the same flags. Over 500,000 words the seven
# expressions take 0.6 s and the flags of all fifteen metrics 0.27 s, in a command of 2.0 s.
# `tests/tasks/test_dependencies.py` holds both equal.

Flags = NDArray[np.bool_]

IntCounts = NDArray[np.int64]
CORRECT, REFERENCE, PREDICTED, ALIGNED = range(4)


@frozen(eq=False)
class UDCounts:
    """The counts of a pair of files: `rows[unit, metric, CORRECT..ALIGNED]`, metrics as in `METRICS`."""

    rows: IntCounts
    units: Units

    @property
    def total(self) -> IntCounts:
        """The counts of the whole, `[metric, CORRECT..ALIGNED]`."""
        summed: IntCounts = self.rows.sum(axis=0)
        return summed


def count_ud(
    reference: Treebank, predicted: Treebank, units: Units | None = None, alignment: Alignment | None = None
) -> UDCounts:
    """Count for all metrics. Give `units` to have the same units for several systems."""
    if alignment is None:
        alignment = align_words(reference, predicted)
    if units is None:
        units = find_units(reference, predicted)
    right = judge_pairs(reference, predicted, alignment)
    content = [_relation_in(side.deprel, CONTENT) for side in (reference, predicted)]
    content_pairs = content[0][alignment.reference]

    rows = np.zeros((len(units), len(NAMES), 4), np.int64)
    words_r, words_p = units.words(reference), units.words(predicted)
    pairs = np.searchsorted(alignment.reference, words_r)
    content_totals = sum_by_unit(content[0], words_r), sum_by_unit(content[1], words_p)
    for at, metric in enumerate(NAMES):
        row = rows[:, at]
        if metric in ("clas", "mlas", "blex"):
            row[:, REFERENCE], row[:, PREDICTED] = content_totals
            row[:, ALIGNED] = sum_by_unit(content_pairs, pairs)
            row[:, CORRECT] = sum_by_unit(right[metric], pairs)
        elif metric in right:
            row[:, REFERENCE], row[:, PREDICTED] = np.diff(words_r), np.diff(words_p)
            row[:, ALIGNED] = np.diff(pairs)
            row[:, CORRECT] = sum_by_unit(right[metric], pairs)
    _count_ranges(rows, units, reference, predicted)
    _count_edges(rows, units, reference, predicted, alignment)
    return UDCounts(rows, units)


def judge_pairs(reference: Treebank, predicted: Treebank, alignment: Alignment) -> dict[str, Flags]:
    """For each metric of aligned words, which pairs are right; what an explanation shows."""
    r, p = alignment.reference, alignment.predicted

    def equal(a: Coded, b: Coded, canonical: Callable[[str], str] | None = None) -> Flags:
        codes_a, codes_b = number_jointly(a, b, canonical)
        flags: Flags = codes_a[r] == codes_b[p]
        return flags

    upos = equal(reference.upos, predicted.upos)
    xpos = equal(reference.xpos, predicted.xpos)
    feats = equal(reference.feats, predicted.feats, universal_features)
    lemma = equal(reference.lemma, predicted.lemma) | _value_in(reference.lemma, {"_"})[r]

    uas: Flags = reference.head[r] == alignment.partners(len(predicted))[predicted.head[p]]
    las = uas & equal(reference.deprel, predicted.deprel, without_subtype)
    clas = las & _relation_in(reference.deprel, CONTENT)[r]

    # A pair has the same functional children if as many pairs of children agree as each of the two has
    # children: alignment is one to one, so a child counts once.
    functional_r = _relation_in(reference.deprel, FUNCTIONAL) & (reference.head >= 0)
    functional_p = _relation_in(predicted.deprel, FUNCTIONAL) & (predicted.head >= 0)
    agreeing = reference.head[r[las & upos & feats & functional_r[r]]]
    agree = np.bincount(agreeing, minlength=len(reference))[r]
    children_r = np.bincount(reference.head[functional_r], minlength=len(reference))[r]
    children_p = np.bincount(predicted.head[functional_p], minlength=len(predicted))[p]
    return {
        "words": np.ones(len(alignment), np.bool_),
        "upos": upos,
        "xpos": xpos,
        "ufeats": feats,
        "alltags": upos & xpos & feats,
        "lemmas": lemma,
        "uas": uas,
        "las": las,
        "clas": clas,
        "mlas": clas & upos & feats & (agree == children_r) & (agree == children_p),
        "blex": clas & lemma,
    }


def _value_in(column: Coded, wanted: frozenset[str] | set[str]) -> Flags:
    table = np.array([value in wanted for value in column.values] or [False])
    return table[column.codes]


def _relation_in(deprel: Coded, relations: frozenset[str]) -> Flags:
    table = np.array([without_subtype(value) in relations for value in deprel.values] or [False])
    return table[deprel.codes]


def _count_ranges(rows: IntCounts, units: Units, reference: Treebank, predicted: Treebank) -> None:
    for at, metric in enumerate(("tokens", "sentences")):
        ranges = [_ranges(side, metric) for side in (reference, predicted)]
        same, _ = match_ranges(*ranges[0], *ranges[1])
        starts = [np.append(np.searchsorted(start, units.starts), len(start)) for start, _ in ranges]
        rows[:, at, REFERENCE], rows[:, at, PREDICTED] = np.diff(starts[0]), np.diff(starts[1])
        rows[:, at, CORRECT] = np.diff(np.searchsorted(same, starts[0]))


def _ranges(side: Treebank, what: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    if what == "tokens":
        return side.token_start, side.token_end
    return side.sentence_start, np.append(side.sentence_start[1:], np.int32(len(side.text)))[: len(side.sentence_start)]


def _count_edges(rows: IntCounts, units: Units, reference: Treebank, predicted: Treebank, alignment: Alignment) -> None:
    words_r, words_p = units.words(reference), units.words(predicted)
    found = match_edges(reference, predicted, alignment, (None, without_subtypes))
    for metric, matched in zip(("elas", "eulas"), found, strict=True):
        row = rows[:, NAMES.index(metric)]
        row[:, REFERENCE] = np.diff(np.searchsorted(reference.enhanced.dependent, words_r))
        row[:, PREDICTED] = np.diff(np.searchsorted(predicted.enhanced.dependent, words_p))
        row[:, CORRECT] = np.diff(np.searchsorted(matched, words_r))

"""A drop-in for `seqeval.metrics`: the same names, arguments and answers, counted by `ts.spans`.

    from tallystick.adapters.seqeval import classification_report, f1_score      # was: from seqeval.metrics import ...

What seqeval does without a word is an error here, or done right: a tag that is none ("PER" was read as P with the type ER), the tags
of BILOU without `mode="strict"` (two U-PER side by side were one entity), a `scheme` without `mode="strict"` and a `sample_weight`
(both were ignored), `mode="strict"` without a `scheme` (lenient, except in the report). `strict=False` has seqeval's own figure.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import MetricError, SidesMismatch, did_you_mean
from tallystick.tasks.function import function_of
from tallystick.tasks.spans.show import report_text

Tags: TypeAlias = Sequence[Sequence[str]]
ZeroDivision: TypeAlias = Any  # "warn", 0 or 1
Array: TypeAlias = npt.NDArray[np.float64]

IOB1, IOB2, IOE1, IOE2, IOBES, BILOU = SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")
AVERAGES = ("micro", "macro", "weighted")
LENIENT = None


class UndefinedMetricWarning(UserWarning):
    """A figure that is 0/0."""


def listed(value: Any, name: str, what: str) -> list[Any]:
    """What can be gone through once, as a list; a text or a single value is something else."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise MetricError(f"{name}: expected {what}, found {type(value).__name__} {value!r:.60}")
    return list(value)


def undefined_as(zero_division: ZeroDivision) -> float:
    """What 0/0 is."""
    if zero_division == "warn":
        return 0.0
    if not isinstance(zero_division, (int, float, np.number)):
        raise MetricError(f"zero_division: expected 'warn', 0 or 1, found {zero_division!r:.60}")
    return float(zero_division)


class Counted(NamedTuple):
    """What all figures are made of: for each label the right, the predicted and the true ones."""

    labels: tuple[str, ...]
    right: Array
    predicted: Array
    true: Array

    def figures(self, zero_division: ZeroDivision, beta: float = 1.0) -> tuple[Array, Array, Array]:
        """Precision, recall and F of each label."""
        undefined = undefined_as(zero_division)
        precision, recall = (
            np.where(den > 0, self.right / np.where(den > 0, den, 1.0), undefined)
            for den in (self.predicted, self.true)
        )
        below = beta**2 * precision + recall
        return precision, recall, (1 + beta**2) * precision * recall / np.where(below == 0, 1.0, below)

    def averaged(self, average: str, zero_division: ZeroDivision, beta: float = 1.0) -> tuple[float, float, float, Any]:
        """The figures under an average, and how many true ones there are."""
        undefined = undefined_as(zero_division)
        total = self.true.sum()
        if average == "micro":
            pooled = Counted(("",), *(side.sum(keepdims=True) for side in self[1:]))
            return (*(float(one[0]) for one in pooled.figures(zero_division, beta)), total)
        if not self.labels or (average == "weighted" and total == 0):
            known = undefined if self.predicted.sum() == 0 else 0.0
            return known, undefined, known, total
        weights = self.true if average == "weighted" else None
        found = (float(np.average(one, weights=weights)) for one in self.figures(zero_division, beta))
        return (*found, total)


def count(y_true: Tags, y_pred: Tags, *, mode: str | None, scheme: Any, suffix: bool, strict: bool) -> Counted:
    """The entities of each type."""
    sides = _sentences(y_true, y_pred)
    name = _scheme_of(sides[0], mode, scheme, suffix, strict)
    options: dict[str, Any] = {} if name is LENIENT else {"scheme": name, "strict": True}
    if name is LENIENT and not strict:
        sides = [[list(_as_seqeval_reads([tag for tags in side for tag in (*tags, "O")], suffix))] for side in sides]
    elif suffix:
        options["suffix"] = True
    none = Counted((), *(np.zeros(0) for _ in range(3)))
    if not any(map(any, sides)):
        return none
    reference, predicted = ({str(k): one for k, one in enumerate(side)} for side in sides)
    found = function_of("spans")(reference, predicted, metrics="segment", **options)["segment"]
    rows = sorted(found.by_label(), key=lambda row: str(row.label))
    there = [row for row in rows if row.tally["den_p"] or row.tally["den_r"]]
    sums = ([row.tally[key] for row in there] for key in ("num_p", "den_p", "den_r"))
    return Counted(tuple(row.label for row in there), *(np.array(side, np.float64) for side in sums)) if there else none


def _sentences(y_true: Tags, y_pred: Tags) -> list[list[list[Any]]]:
    what = "a list of tags for each sentence"
    sides = [
        [listed(tags, name, what) for tags in listed(side, name, what)]
        for name, side in (("y_true", y_true), ("y_pred", y_pred))
    ]
    sizes = [list(map(len, side)) for side in sides]
    if sizes[0] != sizes[1]:
        place = next((k for k, (one, other) in enumerate(zip(*sizes, strict=False)) if one != other), None)
        where = f"sentence {place} has {sizes[0][place]} and {sizes[1][place]} tags" if place is not None else ""
        raise SidesMismatch(
            f"y_true and y_pred differ: {where or f'{len(sizes[0]):,} and {len(sizes[1]):,} sentences'}"
        )
    return sides


def _scheme_of(y_true: Tags, mode: str | None, scheme: Any, suffix: bool, strict: bool) -> str | None:
    """The scheme that the tags have to follow; None reads them as conlleval does."""
    if mode not in (None, "strict"):
        raise MetricError(f"mode: expected None or 'strict', found {mode!r}")
    name = scheme if isinstance(scheme, str) else getattr(scheme, "__name__", None)
    if scheme is not None and name not in SCHEMES:
        hint = did_you_mean(str(name), SCHEMES)
        raise MetricError(f"scheme: expected one of {', '.join(SCHEMES)}, found {scheme!r}.{hint}")
    if mode is None and scheme is not None and strict:
        raise MetricError(
            f"scheme={name} has an effect only with mode='strict', and seqeval ignores it without a word; "
            "give mode='strict' too, leave scheme out, or say strict=False to ignore it as seqeval does"
        )
    if mode is None or (name is None and not strict):
        return LENIENT
    return name or detect_scheme(y_true, suffix)


def detect_scheme(y_true: Tags, suffix: bool = False) -> str:
    """The scheme that the prefixes of the tags show."""
    letters = {tag[-1] if suffix else tag[0] for tags in y_true for tag in tags if tag} - {"O"}
    for name, known, needs in ((IOB2, "BI", "B"), (IOE2, "IE", "E"), (IOBES, "BIES", "ES"), (BILOU, "BILU", "LU")):
        if letters <= set(known) and (letters & set(needs) or not letters):
            return name
    raise MetricError(f"no scheme has the prefixes {', '.join(sorted(letters))}; name one: scheme={IOB1!r}, ...")


def _as_seqeval_reads(tags: Sequence[str], suffix: bool) -> Iterator[tuple[int, int, str]]:
    """The entities that seqeval's default mode finds, whatever the tags are: any first letter is a prefix, and of these it knows O, B,
    I, E and S. All sentences are one list, since an entity that nothing begins starts where the last one did."""
    before, before_type, begin = "O", "", 0
    for k, tag in enumerate([*tags, "O"]):
        letter, rest = (tag[-1], tag[:-1].rsplit("-", 1)[0]) if suffix else (tag[0], tag[1:].split("-", 1)[-1])
        type_, other = rest or "_", before_type != (rest or "_")
        if before in "ES" or (before in "BI" and letter in "BSO") or (before not in "O." and other):
            yield begin, k, before_type
        if letter in "BS" or (before in "ESO" and letter in "EI") or (letter not in "O." and other):
            begin = k
        before, before_type = letter, type_


def precision_recall_fscore_support(
    y_true: Tags,
    y_pred: Tags,
    *,
    average: Literal["micro", "macro", "weighted"] | None = None,
    warn_for: Sequence[str] = ("precision", "recall", "f-score"),
    beta: float = 1.0,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
    suffix: bool = False,
    mode: str | None = None,
    scheme: Any = None,
    strict: bool = True,
) -> tuple[Any, Any, Any, Any]:
    """Precision, recall, F and support: of each type, in alphabetical order, or under an average.

    >>> from tallystick.adapters.seqeval import precision_recall_fscore_support
    >>> gold, system = [["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]
    >>> precision_recall_fscore_support(gold, system, average="micro")
    (1.0, 0.5, 0.6666666666666666, 2)
    """
    if average not in (None, *AVERAGES):
        raise MetricError(f"average: expected None, {', '.join(AVERAGES)}, found {average!r}")
    _check_weights(sample_weight, strict)
    found = count(y_true, y_pred, mode=mode, scheme=scheme, suffix=suffix, strict=strict)
    if zero_division == "warn":
        warn_undefined(
            found if average != "micro" else Counted(("",), *(s.sum(keepdims=True) for s in found[1:])), warn_for
        )
    if average is None:
        return (*found.figures(zero_division, beta), found.true.astype(np.int64))
    *figures, support = found.averaged(average, zero_division, beta)
    return (*figures, int(support))  # type: ignore[return-value]


def _check_weights(sample_weight: Any, strict: bool) -> None:
    if sample_weight is not None and strict:
        raise MetricError("seqeval accepts sample_weight but ignores it; leave it out, or say strict=False")


def warn_undefined(found: Counted, warn_for: Sequence[str]) -> None:
    """What seqeval and scikit-learn warn of: no predicted entity, no true one, or, of F alone, neither."""
    empty = {"precision": found.predicted == 0, "recall": found.true == 0}
    if tuple(warn_for) == ("f-score",):
        empty = {"f-score": empty["precision"] & empty["recall"]}
    for figure, where in empty.items():
        if figure in warn_for and where.any():
            of = {"precision": "predicted", "recall": "true"}.get(figure, "true nor predicted")
            warnings.warn(
                f"{figure} is 0/0 and set to 0: there are no {of} samples. Use `zero_division` to control this.",
                UndefinedMetricWarning,
                stacklevel=3,
            )


def _one(name: str, figure: str, place: int) -> Callable[..., Any]:
    def score(
        y_true: Tags,
        y_pred: Tags,
        *,
        average: Literal["micro", "macro", "weighted"] | None = "micro",
        suffix: bool = False,
        mode: str | None = None,
        sample_weight: Any = None,
        zero_division: ZeroDivision = "warn",
        scheme: Any = None,
        strict: bool = True,
    ) -> Any:
        options = {"sample_weight": sample_weight, "zero_division": zero_division, "suffix": suffix, "mode": mode}
        return precision_recall_fscore_support(
            y_true, y_pred, average=average, warn_for=(figure,), scheme=scheme, strict=strict, **options
        )[place]

    score.__name__ = score.__qualname__ = name
    score.__doc__ = f"""The {figure} of the entities, as seqeval's function of this name.

    >>> from tallystick.adapters.seqeval import {name}
    >>> {name}([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "B-PER"]])
    0.5
    """
    return score


precision_score = _one("precision_score", "precision", 0)
recall_score = _one("recall_score", "recall", 1)
f1_score = _one("f1_score", "f-score", 2)


def classification_report(
    y_true: Tags,
    y_pred: Tags,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
    scheme: Any = None,
    *,
    strict: bool = True,
) -> Any:
    """The figures of each type and three averages, as a text or as a dict.

    >>> from tallystick.adapters.seqeval import classification_report
    >>> gold, system = [["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]
    >>> report = classification_report(gold, system, output_dict=True, zero_division=0)
    >>> report["micro avg"]["recall"]
    0.5
    """
    _check_weights(sample_weight, strict)
    if mode == "strict" and scheme is None:
        scheme = detect_scheme(y_true, suffix)  # as seqeval's report does, unlike its other functions
    found = count(y_true, y_pred, mode=mode, scheme=scheme, suffix=suffix, strict=strict)
    if zero_division == "warn":
        warn_undefined(found, ("precision", "recall"))
    columns = (*found.figures(zero_division), found.true.astype(np.int64))
    rows = list(zip(found.labels, *(column.tolist() for column in columns), strict=True))
    means = [(f"{average} avg", *found.averaged(average, zero_division)) for average in AVERAGES]
    if output_dict:
        return {
            name: {"precision": p, "recall": r, "f1-score": f, "support": int(support)}
            for name, p, r, f, support in (*rows, *means)
        }
    return report_text(rows, means, digits)


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of tokens with the right tag.

    >>> from tallystick.adapters.seqeval import accuracy_score
    >>> gold, system = [["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]
    >>> accuracy_score(gold, system)
    0.6666666666666666
    """
    pairs = _tokens(y_true, y_pred)
    return float(np.mean([one == other for one, other in pairs]))


def performance_measure(y_true: Any, y_pred: Any) -> dict[str, int]:
    """Tokens: TP, FP, FN and TN, as seqeval counts them (a token with another tag is an FP alone).

    >>> from tallystick.adapters.seqeval import performance_measure
    >>> gold, system = [["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]
    >>> performance_measure(gold, system)
    {'TP': 1, 'FP': 0, 'FN': 1, 'TN': 1}
    """
    pairs = _tokens(y_true, y_pred)
    return {
        "TP": sum(one == other != "O" for one, other in pairs),
        "FP": sum(one != other != "O" for one, other in pairs),
        "FN": sum(one != "O" == other for one, other in pairs),
        "TN": sum(one == other == "O" for one, other in pairs),
    }


def _tokens(y_true: Any, y_pred: Any) -> list[tuple[Any, Any]]:
    what = "tags, or a list of tags for each sentence"
    y_true, y_pred = listed(y_true, "y_true", what), listed(y_pred, "y_pred", what)
    if any(not isinstance(one, str) for one in y_true):
        y_true, y_pred = ([tag for tags in side for tag in tags] for side in _sentences(y_true, y_pred))
    if len(y_true) != len(y_pred) or not len(y_true):
        raise SidesMismatch(f"expected as many tags on both sides, found {len(y_true):,} and {len(y_pred):,}")
    return list(zip(y_true, y_pred, strict=True))

"""`classification_report` as scikit-learn has it, for one label a sample: the same arguments, text and dict, without scikit-learn.

    from tallystick.adapters.sklearn import classification_report      # was: from sklearn.metrics import classification_report

A sample is a span of one token, and its label the span's: precision is by the predicted label, recall by the true one. For tags of
entities use `tallystick.adapters.seqeval`: of IOB tags scikit-learn's report counts tokens, prefixes and O, not entities, so tags are
refused here, unless `strict=False` asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallystick.adapters.seqeval import AVERAGES, Counted, ZeroDivision, listed, warn_undefined
from tallystick.errors import MetricError, SidesMismatch
from tallystick.tasks.function import function_of
from tallystick.tasks.spans.show import report_text
from tallystick.tasks.spans.tags import split_tag


def classification_report(
    y_true: Sequence[Any],
    y_pred: Sequence[Any],
    *,
    labels: Sequence[Any] | None = None,
    target_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
    strict: bool = True,
) -> Any:
    """Precision, recall, F1 and support of each label, the accuracy and two averages, as a text or as a dict.

    >>> from tallystick.adapters.sklearn import classification_report
    >>> classification_report(["a", "b", "b"], ["a", "b", "a"], output_dict=True)["accuracy"]
    0.6666666666666666
    """
    true, predicted = (_plain(side, name) for side, name in ((y_true, "y_true"), (y_pred, "y_pred")))
    if len(true) != len(predicted):
        raise SidesMismatch(f"y_true has {len(true):,} labels and y_pred {len(predicted):,}")
    if sample_weight is not None:
        raise MetricError("sample_weight is not supported: samples count once each")
    if not true:
        raise MetricError("there are no labels: y_true and y_pred are empty")
    there = _all_labels(true, predicted)
    if strict and all(isinstance(one, str) and split_tag(one) for one in there) and any("-" in one for one in there):
        raise MetricError(
            "these look like IOB tags; this report counts tokens; for entities use tallystick.adapters.seqeval."
            "classification_report, for tokens say strict=False"
        )
    shown = there if labels is None else _plain(labels, "labels")
    names = list(map(str, shown if target_names is None else target_names))
    if len(names) != len(shown):
        raise MetricError(f"{len(names)} target_names for {len(shown)} labels ({', '.join(map(str, shown))})")
    found = _count(true, predicted, shown)
    if zero_division == "warn":
        warn_undefined(found, ("precision", "recall"))
    rows = list(zip(names, *(one.tolist() for one in found.figures(zero_division)), found.true.tolist(), strict=True))
    means = {f"{average} avg": found.averaged(average, zero_division) for average in AVERAGES}
    is_accuracy = {*shown} >= {*there}
    if output_dict:
        return _report_dict(rows, means, is_accuracy)
    if is_accuracy:
        *_, accuracy, support = means.pop("micro avg")
        means = {"accuracy": (None, None, accuracy, support), **means}  # type: ignore[dict-item]
    return report_text(rows, [(name, *rest) for name, rest in means.items()], digits)


def _report_dict(rows: Sequence[Any], means: dict[str, Any], is_accuracy: bool) -> dict[str, Any]:
    keys = ("precision", "recall", "f1-score", "support")
    out: dict[str, Any] = {name: dict(zip(keys, map(float, rest), strict=True)) for name, *rest in rows}
    averages: dict[str, Any] = {name: dict(zip(keys, map(float, rest), strict=True)) for name, rest in means.items()}
    if is_accuracy:
        averages = {"accuracy": averages.pop("micro avg")["precision"], **averages}
    return {**out, **averages}


def _all_labels(true: list[Any], predicted: list[Any]) -> list[Any]:
    try:
        return sorted({*true, *predicted})
    except TypeError:
        kinds = sorted({type(one).__name__ for one in (*true, *predicted)})
        raise MetricError(f"labels are of different kinds: {', '.join(kinds)}; give all as one kind") from None


def _plain(labels: Any, name: str) -> list[Any]:
    found = listed(labels.tolist() if hasattr(labels, "tolist") else labels, name, "a label for each sample")
    bad = next((one for one in found if isinstance(one, (list, tuple, set, dict))), None)
    if bad is not None:
        raise MetricError(
            f"{name}: expected one label a sample, found {bad!r:.60}; for tags of sentences use adapters.seqeval"
        )
    return found


def _count(true: list[Any], predicted: list[Any], shown: list[Any]) -> Counted:
    name = {label: repr(label) for label in {*true, *predicted}}
    tallies: dict[str, Any] = {}
    if true:
        sides = [{"": [(k, k + 1, name[label]) for k, label in enumerate(side)]} for side in (true, predicted)]
        result = function_of("spans")(*sides, metrics="segment")["segment"]
        tallies = {row.label: row.tally for row in result.by_label()}
    of = [tallies.get(name.get(label, ""), {}) for label in shown]
    sums = (np.array([one.get(key, 0.0) for one in of]) for key in ("num_p", "den_p", "den_r"))
    return Counted(tuple(map(str, shown)), *sums)

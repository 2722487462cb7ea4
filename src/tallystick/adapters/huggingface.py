"""Hugging Face `evaluate`: a `compute` with its arguments and its way of answering, a metric object for it, and the figures of its
"seqeval" metric.

    compute(predictions=[...], references=[...], type=Invoice)      a dict of figures
    metric = Records(type=Invoice); metric.add_batch(...); metric.compute()
    seqeval(predictions=[["B-PER", "O"]], references=[["B-PER", "O"]])

Note the order: `evaluate` puts predictions first. The metric object takes documents as JSON text, since the tables it
keeps them in have one kind of value a column; `compute` takes text, plain data or values. Only `Records` needs `evaluate`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tallystick.adapters.scorer import RecordScorer
from tallystick.adapters.seqeval import accuracy_score, classification_report, listed
from tallystick.errors import TallystickError

DESCRIPTION = "Precision, recall and F1 over the fields of structured records, with optimally aligned lists."


def compute(
    *, predictions: Sequence[Any], references: Sequence[Any], type: Any = None, **options: Any
) -> dict[str, Any]:
    """The figures of several documents: precision, recall, f1, exact, and a figure for each field.

    >>> from tallystick.adapters.huggingface import compute
    >>> compute(predictions=['{"city": "Oslo"}'], references=[{"city": "Oslo"}])["f1"]
    1.0
    """
    sides = (listed(references, "references", "documents"), listed(predictions, "predictions", "documents"))
    result = RecordScorer(type, **options).evaluate(*sides)
    fields = {row.path: row.figures["f1"] for row in result.by_field()}
    return {**result.figures, "exact": result.exact, "f1_by_field": fields, "signature": result.signature}


def __getattr__(name: str) -> Any:
    if name == "Records":
        return _records()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@lru_cache(maxsize=1)
def _records() -> Any:
    """The metric object, a class of a package that need not be there."""
    try:
        import datasets
        import evaluate
    except ModuleNotFoundError as error:
        raise TallystickError(
            f"tallystick.adapters.huggingface.Records needs {error.name}, which is not installed: "
            "pip install tallystick[huggingface]"
        ) from None

    class Records(evaluate.Metric):  # type: ignore[misc,unused-ignore]
        """A metric of `evaluate` over documents as JSON text; the options are those of `RecordScorer`."""

        def __init__(
            self,
            *arguments: Any,
            type: Any = None,
            schema: Any = None,
            choices: Any = None,
            credit: str = "each",
            **keywords: Any,
        ) -> None:
            self.options = {"type": type, "schema": schema, "choices": choices, "credit": credit}
            super().__init__(*arguments, **keywords)

        def _info(self) -> Any:
            text = datasets.Value("string")
            return evaluate.MetricInfo(
                description=DESCRIPTION,
                citation="",
                inputs_description="documents as JSON text",
                features=datasets.Features({"predictions": text, "references": text}),
            )

        def _compute(self, predictions: Sequence[str], references: Sequence[str], **options: Any) -> dict[str, Any]:
            return compute(predictions=predictions, references=references, **{**self.options, **options})

    Records.__qualname__ = "Records"  # where pickle finds it
    return Records


def as_text(document: Any) -> str:
    """A document as the text that `Records` takes."""
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, default=str)


def seqeval(
    *, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], **options: Any
) -> dict[str, Any]:
    """The dict of `evaluate.load("seqeval").compute(...)`: the figures of each type, and overall_precision, overall_recall, overall_f1
    and overall_accuracy. Options are those of `tallystick.adapters.seqeval`: mode, scheme, suffix, zero_division, strict.

    >>> from tallystick.adapters.huggingface import seqeval
    >>> seqeval(predictions=[["B-PER", "O"]], references=[["B-PER", "O"]])["overall_f1"]
    1.0
    """
    report = classification_report(references, predictions, output_dict=True, **options)
    overall = report.pop("micro avg")
    renamed = {"precision": "precision", "recall": "recall", "f1": "f1-score"}
    types = {
        name: {**{one: row[key] for one, key in renamed.items()}, "number": row["support"]}
        for name, row in report.items()
        if name not in ("macro avg", "weighted avg")
    }
    figures = {f"overall_{one}": overall[key] for one, key in renamed.items()}
    return {**types, **figures, "overall_accuracy": accuracy_score(references, predictions)}

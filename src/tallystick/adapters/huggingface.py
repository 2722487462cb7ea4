"""Hugging Face `evaluate`: a `compute` with its arguments and its way of answering, and a metric object for it.

    compute(predictions=[...], references=[...], type=Invoice)      a dict of figures
    metric = Records(type=Invoice); metric.add_batch(...); metric.compute()

Note the order: `evaluate` puts predictions first. The metric object takes documents as JSON text, since the tables it
keeps them in have one kind of value a column; `compute` takes text, plain data or values.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from tallystick.adapters.scorer import RecordScorer

DESCRIPTION = "Precision, recall and F1 over the fields of structured records, with optimally aligned lists."


def compute(
    *, predictions: Sequence[Any], references: Sequence[Any], type: Any = None, **options: Any
) -> dict[str, Any]:
    """The figures of several documents: precision, recall, f1, exact, and a figure for each field."""
    result = RecordScorer(type, **options).evaluate(list(references), list(predictions))
    fields = {row.path: row.figures["f1"] for row in result.by_field()}
    return {**result.figures, "exact": result.exact, "f1_by_field": fields, "signature": result.signature}


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


def as_text(document: Any) -> str:
    """A document as the text that `Records` takes."""
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, default=str)

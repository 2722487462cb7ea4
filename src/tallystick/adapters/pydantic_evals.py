"""An evaluator for pydantic-evals: the expected output is the reference, the output the prediction.

Dataset(cases=[Case(inputs=..., expected_output=Invoice(...))], evaluators=[RecordsMatch(Invoice)])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from tallystick.adapters.scorer import RecordScorer


@dataclass
class RecordsMatch(Evaluator[Any, Any, Any]):  # type: ignore[misc,unused-ignore]
    """F1, precision and recall as scores, `exact` as an assertion, each with what differs as its reason."""

    type: Any = None
    schema: Any = None
    choices: Any = None
    credit: str = "each"
    options: dict[str, Any] = field(default_factory=dict)

    def build_serialization_arguments(self) -> dict[str, Any]:
        """A data set in a file names the type as `module:Name`, which is how it is found again."""
        found: dict[str, Any] = super().build_serialization_arguments()
        type_ = found.get("type")
        if isinstance(type_, type):
            found["type"] = f"{type_.__module__}:{type_.__qualname__}"
        return found

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason]:
        if ctx.expected_output is None:
            return {}
        options = {"schema": self.schema, "choices": self.choices, "credit": self.credit, **self.options}
        one = RecordScorer(self.type, **options).score(ctx.expected_output, ctx.output)
        reason = str(one)
        scores: dict[str, Any] = {name: one.figures[name] for name in ("f1", "precision", "recall")}
        scores["exact"] = one.exact
        return {name: EvaluationReason(value, reason) for name, value in scores.items()}

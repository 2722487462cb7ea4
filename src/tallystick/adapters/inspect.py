"""A scorer for inspect_ai: the target is the reference as JSON text, the completion is the prediction.

@task
def invoices():
    return Task(dataset=..., solver=generate(), scorer=records(Invoice))
"""

from __future__ import annotations

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from tallystick.adapters.scorer import RecordScorer

FIGURES = ("f1", "precision", "recall", "exact")


@scorer(metrics={name: [mean(), stderr()] for name in FIGURES})  # type: ignore[untyped-decorator,unused-ignore]
def records(type: Any = None, **options: Any) -> Scorer:
    """F1, precision, recall and exactness of each sample; the options are those of `RecordScorer`."""
    one_scorer = RecordScorer(type, **options)

    async def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        one = one_scorer.score(target.text, completion)
        return Score(
            value={name: one.figures[name] for name in FIGURES},
            answer=completion,
            explanation=str(one),
            metadata={"invalid": one.invalid, "repairs": dict(one.findings.repairs), "signature": one.result.signature},
        )

    return score

"""One reference against one prediction, as every harness hands them over: a model's text, plain data, or values.

    scorer = RecordScorer(Invoice)
    one = scorer.score(reference, completion)
    one.f1, one.exact, str(one)

Text from a model is read leniently (fences, words around it, trailing commas, cut off); what cannot be read scores
nothing and says so. A reference has to be right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tallystick.algebra.choose import Choice
from tallystick.algebra.derive import explain_derivation, record_fields
from tallystick.algebra.node import Node
from tallystick.algebra.surplus import settle_unknown, split_known
from tallystick.engine.data import Invalid
from tallystick.errors import MetricError
from tallystick.results.documents import Difference, differences, differences_table
from tallystick.results.evaluation import evaluate
from tallystick.results.explanation import Explanation
from tallystick.results.result import Result
from tallystick.show.tables import to_text
from tallystick.tasks.records.files import RecordFile
from tallystick.tasks.records.fitting import Findings
from tallystick.tasks.records.score import as_metric, check_unknown, declared_shape, read_choices
from tallystick.tasks.records.shapes import infer_schema, inferred_shape
from tallystick.tasks.records.task import RecordSettings


@dataclass(frozen=True)
class One:
    """What one prediction is worth, and where it differs."""

    result: Result
    findings: Findings = field(repr=False)

    @property
    def figures(self) -> dict[str, float]:
        """Precision, recall, f1 and exact (1 or 0); what is 0/0 (nothing wanted and nothing given) is 1."""
        known = {name: 1.0 if value is None else value for name, value in self.result.figures.items()}
        if self.invalid:
            known = dict.fromkeys(known, 0.0)
        return {**known, "exact": float(self.exact)}

    @property
    def f1(self) -> float:
        return self.figures[self.result.kind.headline]

    @property
    def exact(self) -> bool:
        """Whether everything is right."""
        return bool(self.result.exact_documents)

    @property
    def invalid(self) -> str:
        """Why the prediction cannot be read, or nothing."""
        return self.findings.invalid[0][1] if self.findings.invalid else ""

    @property
    def explanation(self) -> Explanation:
        return self.result.explain(self.result.ids[0])

    @property
    def differences(self) -> list[Difference]:
        return differences(self.explanation)

    def __str__(self) -> str:
        figures = "  ".join(f"{name} {value:.4f}" for name, value in self.figures.items())
        found = self.differences
        lines = [figures, *self.findings.lines()]
        return "\n".join([*lines, to_text(differences_table(found, ""))] if found else lines)


class RecordScorer:
    """Scores predictions of one kind. Without a type, a schema or a metric the shape is read off the references."""

    def __init__(
        self,
        type: Any = None,
        *,
        schema: Mapping[str, Any] | str | Path | None = None,
        metric: Node | str | None = None,
        choices: Mapping[str, Any] | str | Path | None = None,
        credit: str = "each",
        lenient: bool = True,
        ignore: Sequence[str] = (),
        unknown: str = "count",
    ) -> None:
        if sum(part is not None for part in (type, schema, metric)) > 1:
            raise MetricError("say what a document is once: by a type, a schema or a metric")
        check_unknown(unknown)
        self.credit, self.lenient, self.unknown = credit, lenient, unknown
        self.source, self.choices = read_choices(choices)
        self.choices.update(dict.fromkeys(ignore, Choice(ignored=True, why="ignore")))
        self.metric = None if metric is None else as_metric(metric)
        self.shape = declared_shape(RecordSettings(type=type, schema=schema, metric=metric))

    def score(self, reference: Any, predicted: Any) -> One:
        """One document: text, plain data or values on either side."""
        result, findings = self._evaluate([reference], [predicted])
        return One(result, findings)

    def evaluate(self, references: Sequence[Any], predictions: Sequence[Any]) -> Result:
        """Several documents at once, as one result."""
        return self._evaluate(references, predictions)[0]

    def _evaluate(self, references: Sequence[Any], predictions: Sequence[Any]) -> tuple[Result, Findings]:
        golds = [_decoded(one) for one in references]
        shape = self.shape
        if shape is None:
            shape = inferred_shape(*infer_schema(_as_json(golds)), "inferred from the reference")
        ours, theirs = shape.converters()
        names: Any = [SimpleNamespace(file=name) for name in ("reference", "prediction")]
        left = RecordFile(names[0], ours, shape.reference, credit=self.credit)
        right = RecordFile(names[1], theirs, shape.predicted, credit=self.credit)
        right.lenient, right.tolerant = self.lenient, not shape.promised
        metric = self.metric
        if metric is None:
            metric, _ = explain_derivation(shape.reference, self.choices, credit=self.credit, source=self.source)
            metric, right.unknown = split_known(metric)
            left.unknown = right.unknown
            right.findings.unknown_counts = self.unknown == "count"
        right.metric = metric
        known, found = [_value(left, one) for one in golds], [self._predicted(right, one) for one in predictions]
        for k, value in enumerate(found):
            if isinstance(value, Invalid):
                right.findings.invalid.append((k, value.reason))
        sides = settle_unknown(range(len(known)), known, found, right.findings)
        return evaluate(metric, *sides), right.findings

    def _predicted(self, side: RecordFile, value: Any) -> Any:
        if isinstance(value, (str, bytes)) and side.type is not str:
            text = value if isinstance(value, str) else value.decode("utf-8", "replace")
            value = side.read_noisy(text) if self.lenient else _decoded(text)
        elif value is None:
            return Invalid("there is no prediction")
        return value if type(value) is Invalid else _value(side, value)


def _value(side: RecordFile, value: Any) -> Any:
    """A value of the type, from such a value or from plain data."""
    is_type = isinstance(side.type, type) and not hasattr(side.type, "__required_keys__")
    if side.type is None or (is_type and isinstance(value, side.type)):
        return value
    return side.fit(1, _as_json(value))[1]


def _decoded(value: Any) -> Any:
    if not isinstance(value, (str, bytes)):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise MetricError(f"the reference is not JSON: {error}; found {value!r:.60}") from None


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    """What json cannot write by itself: records as objects, sets as lists, dates as text."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    fields = record_fields(type(value))
    if fields is not None:
        return {name: getattr(value, name) for name in fields}
    return list(value) if isinstance(value, (set, frozenset)) else str(value)

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
from tallystick.algebra.derive import explain_derivation
from tallystick.algebra.node import Node
from tallystick.algebra.parse import parse
from tallystick.algebra.shape import record_fields
from tallystick.engine.rows import Invalid
from tallystick.errors import MetricError
from tallystick.files.repair import Unreadable, read_noisy
from tallystick.results.documents import Difference, differences, differences_table
from tallystick.results.evaluation import evaluate
from tallystick.results.explanation import Explanation
from tallystick.results.result import Result
from tallystick.show.tables import to_text
from tallystick.tasks.records.files import Findings, Side
from tallystick.tasks.records.fitting import Unknown, settle
from tallystick.tasks.records.inference import infer_schema
from tallystick.tasks.records.schema import read_data
from tallystick.tasks.records.score import UNKNOWN, read_choices
from tallystick.tasks.records.shapes import PLAIN, Shape, shape_of_schema, shape_of_type


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
        if isinstance(type, str):
            from tallystick.algebra.parse import load

            type = load(type)
        if unknown not in UNKNOWN:
            raise MetricError(f"unknown: expected {' or '.join(UNKNOWN)}, found {unknown!r}")
        self.credit, self.lenient, self.unknown = credit, lenient, unknown
        self.source, self.choices = read_choices(choices)
        self.choices.update(dict.fromkeys(ignore, Choice(ignored=True, why="ignore")))
        self.metric: Node | None = parse(metric) if isinstance(metric, str) else metric
        self.shape: Shape | None = PLAIN if metric is not None else None
        if type is not None:
            self.shape = shape_of_type(type)
        elif schema is not None:
            named = isinstance(schema, (str, Path))
            self.shape = shape_of_schema(read_data(schema) if named else schema, str(schema) if named else "schema")  # type: ignore[arg-type]

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
            schema, _ = infer_schema(json.loads(json.dumps(golds, default=_plain)))
            inferred = shape_of_schema(schema, "inferred from the reference")
            shape = Shape(inferred.reference, inferred.predicted, promised=False)
        metric = self.metric
        findings = Findings()
        ours_unknown = theirs_unknown = None
        if metric is None:
            metric, decisions = explain_derivation(
                shape.reference, self.choices, credit=self.credit, source=self.source
            )
            ignored = {decision.path for decision in decisions if decision.how == "ignored"}
            theirs_unknown = Unknown(shape.predicted, ignored)
            ours_unknown = Unknown(shape.reference, ignored) if shape.promised else None
            findings.unknown_counts = self.unknown == "count"
        ours, theirs = shape.converters()
        place: Any = SimpleNamespace(file="reference")
        left = Side(place, ours, shape.reference, "id", credit=self.credit, unknown=ours_unknown)
        place = SimpleNamespace(file="prediction")
        right = Side(
            place, theirs, shape.predicted, "id", None, self.lenient, not shape.promised, self.credit, findings,
            theirs_unknown,
        )  # fmt: skip
        known = [self._value(left, one) for one in golds]
        found = [self._predicted(right, one) for one in predictions]
        for k, value in enumerate(found):
            if isinstance(value, Invalid):
                findings.invalid.append((k, value.reason))
        settled = settle(range(len(known)), known, found, findings, findings.unknown_counts)
        return evaluate(metric, *settled), findings

    def _value(self, side: Side, value: Any) -> Any:
        if side.type is None or _is_value(value, side.type):
            return value
        return side.fitted(1, json.loads(json.dumps(value, default=_plain)))[1]

    def _predicted(self, side: Side, value: Any) -> Any:
        if isinstance(value, (str, bytes)) and not (isinstance(side.type, type) and side.type is str):
            text = value if isinstance(value, str) else value.decode("utf-8", "replace")
            if not self.lenient:
                return self._value(side, _decoded(text))
            try:
                value, repairs = read_noisy(text)
            except Unreadable as error:
                return Invalid(str(error), text)
            side.findings.repaired += bool(repairs)
            side.findings.repairs.update(repairs)
        elif value is None:
            return Invalid("there is no prediction")
        return self._value(side, value)


def _decoded(value: Any) -> Any:
    if not isinstance(value, (str, bytes)):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise MetricError(f"the reference is not JSON: {error}; found {value!r:.60}") from None


def _is_value(value: Any, type_: Any) -> bool:
    return isinstance(type_, type) and not hasattr(type_, "__required_keys__") and isinstance(value, type_)


def _plain(value: Any) -> Any:
    """What json cannot write by itself: records as objects, sets as lists, dates as text."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    fields = record_fields(type(value))
    if fields is not None:
        return {name: getattr(value, name) for name in fields}
    return list(value) if isinstance(value, (set, frozenset)) else str(value)

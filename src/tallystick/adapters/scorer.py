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
from dataclasses import field, replace
from math import isnan
from pathlib import Path
from typing import Any

from tallystick.algebra.choose import Choice
from tallystick.algebra.node import Node
from tallystick.engine.tally import exact_rows
from tallystick.errors import MetricError, TallystickError, some
from tallystick.files.documents import encode
from tallystick.files.json_values import decode_line
from tallystick.frozen import frozen
from tallystick.results.documents import Difference, differences, differences_table
from tallystick.results.evaluation import kind_of
from tallystick.results.explanation import Explanation
from tallystick.results.result import Result
from tallystick.show.tables import to_text
from tallystick.tasks.records.fitting import MOST_LISTED, Findings
from tallystick.tasks.records.score import (
    Known,
    Prepared,
    check_unknown,
    declared_shape,
    prepare,
    prepare_again,
    read_choices,
    score_prepared,
    tallied_batches,
)
from tallystick.tasks.records.task import RecordSettings
from tallystick.tasks.spans.tags import split_tag


def without_gaps(figures: Mapping[str, float | None]) -> dict[str, float]:
    """Figures with a number for what is 0/0: 1 where all are, since nothing was wanted and nothing given; else 0, so that an answer that holds
    nothing earns no precision."""
    nothing = 1.0 if all(value is None for value in figures.values()) else 0.0
    return {name: nothing if value is None else value for name, value in figures.items()}


@frozen
class One:
    """What one prediction is worth, and where it differs.

    >>> from tallystick.adapters.scorer import RecordScorer
    >>> print(RecordScorer().score({"city": "Oslo", "unit": "C"}, '{"city": "Oslo", "unit": "F"}'))
    precision 0.5000  recall 0.5000  f1 0.5000  exact 0.0000
                field   reference   predicted   similarity
     ──────────────────────────────────────────────────────
      ≠ wrong   unit    'C'         'F'             0.0000
    """

    result: Result
    findings: Findings = field(repr=False)

    @property
    def figures(self) -> dict[str, float]:
        """Precision, recall, f1 and exact (1 or 0); what is 0/0 is 1 where nothing was wanted and nothing given, else 0."""
        known = without_gaps(self.result.figures)
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

    def shown(self, name: str) -> str:
        """A figure as it is printed: what is 0/0 is undefined, whatever number `figures` has for it."""
        value = self.figures[name] if name == "exact" else self.result.figures[name]
        return f"{name} undefined" if value is None else f"{name} {value:.4f}"

    def __str__(self) -> str:
        figures = "  ".join(map(self.shown, self.figures))
        found = self.differences
        lines = [figures, *self.findings.lines()]
        return "\n".join([*lines, to_text(differences_table(found, ""))] if found else lines)


class RecordScorer:
    """Scores predictions of one kind. Without a type, a schema or a metric the shape is read off the references.

    >>> from tallystick.adapters.scorer import RecordScorer
    >>> RecordScorer().score({"city": "Oslo", "unit": "C"}, '{"city": "Oslo", "unit": "F"}').f1
    0.5
    """

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
        equality: str = "equal",
    ) -> None:
        if sum(part is not None for part in (type, schema, metric)) > 1:
            raise MetricError("say what a document is once: by a type, a schema or a metric")
        if isinstance(type, Node):
            raise MetricError(f"expected a type of documents, found a metric; give it by its name: metric={type!s:.80}")
        _, known = read_choices(choices)
        known.update(dict.fromkeys(ignore, Choice(ignored=True, why="ignore")))
        self.settings = RecordSettings(
            type=type, schema=schema, metric=metric, choices=known, credit=credit, lenient=lenient, unknown=unknown,
            equality=equality,
        )  # fmt: skip
        check_unknown(unknown)
        self._declared = declared_shape(self.settings)
        self._prepared: Prepared | None = None
        """How documents of a declared shape are compared, once that is known."""

    def score(self, reference: Any, predicted: Any) -> One:
        """One document: text, plain data or values on either side."""
        result, findings = self._evaluate([reference], [predicted])
        return One(result, findings)

    def evaluate(self, references: Sequence[Any], predictions: Sequence[Any]) -> Result:
        """Several documents at once, as one result."""
        return self._evaluate(references, predictions)[0]

    def each(self, references: Sequence[Any], predictions: Sequence[Any]) -> list[dict[str, float]]:
        """Several documents, each by itself: `figures` as `One` has them, and `valid`, 0 for what cannot be read."""
        out: list[dict[str, float]] = []
        # A shape that is inferred is that of one reference, lest a document's figures depend on the others; and so many
        # predictions that cannot be read are listed.
        most = 1 if self._declared is None else MOST_LISTED
        for start in range(0, len(references), most):
            some = slice(start, start + most)
            prepared = self._prepare(references[some], predictions[some])
            kind = kind_of(prepared.metric)
            for batch, rows in tallied_batches(prepared):
                unread = {key for key, _ in prepared.pairing.predicted.findings.invalid}
                exact = exact_rows(kind, rows)
                for place, (key, row) in enumerate(zip(batch.ids, rows, strict=True)):
                    figures = {name: float(value) for name, value in kind.figures(row).items()}
                    known = without_gaps({name: None if isnan(one) else one for name, one in figures.items()})
                    known["exact"] = float(exact[place]) if exact is not None else 0.0
                    out.append(
                        {**(dict.fromkeys(known, 0.0) if key in unread else known), "valid": float(key not in unread)}
                    )
        return out

    def _evaluate(self, references: Sequence[Any], predictions: Sequence[Any]) -> tuple[Result, Findings]:
        prepared = self._prepare(references, predictions)
        return score_prepared(prepared), prepared.pairing.predicted.findings

    def _prepare(self, references: Sequence[Any], predictions: Sequence[Any]) -> Prepared:
        if self._declared is None:
            _refuse_tags(references)
        lenient = self.settings.lenient
        sides = list(references), [_encodable(one) if lenient else _decoded(one) for one in predictions]
        if self._prepared is None:
            known = Known(None, "by order", "")
            prepared = prepare(*sides, self.settings, known=known, shape=self._declared)
            if self._declared is not None:  # without the documents
                self._prepared = replace(prepared, pairing=prepared.pairing.again([], [], lenient))
        else:
            prepared = prepare_again(self._prepared, *sides, self.settings)
        return prepared


def _refuse_tags(references: Sequence[Any]) -> None:
    """Lists of tags look like lists of words, and as bags a tag at the wrong place is right."""
    first = next((one for one in references if isinstance(one, (list, tuple)) and one), ())
    tags = [one for one in first if isinstance(one, str)]
    if tags and len(tags) == len(first) and all(split_tag(tag) for tag in tags) and any("-" in tag for tag in tags):
        raise MetricError(
            f"{some(tags)} look like tags of tokens, and would be compared as a bag, which has no order. For segments use "
            "tallystick.adapters.huggingface.seqeval or ts.spans; if you mean a bag, say type=list[str]"
        )


def _decoded(value: Any) -> Any:
    return decode_line(value, "prediction") if isinstance(value, (str, bytes)) else value


def _encodable(value: Any) -> Any:
    """A prediction, or what is wrong with it as a text: whatever a model or its harness hands over gets a score."""
    try:
        encode(value, "prediction")
    except TallystickError as error:
        return json.dumps(str(error))
    return value

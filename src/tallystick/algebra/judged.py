"""A judge as a similarity: φ(reference, predicted) is 1 for Correct, `partial` for Partial and 0 for Incorrect.

    judged("embedding:model.json")                 judged("judgements.sqlite", partial=0.5)

The judge compares texts; what is none is told to it as JSON has it. It is asked once for each batch of documents, about each distinct pair of texts that is left
in its block; never about equal texts, which score 1, nor about empty ones, which match nothing. A pair that it leaves
unjudged weighs 0, and the result warns that its figures are lower bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.functions import CodedValues, coded
from tallystick.algebra.node import Dense, Similarity, options_of, require
from tallystick.algebra.text import different_pairs, every_text
from tallystick.engine.arrays import F64, Codes, Frame
from tallystick.engine.data import Answers, Data, Objects, Scope, leaf_values
from tallystick.engine.values import Unfit, number_values
from tallystick.errors import MetricError
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.judging.encoders import Vectors
    from tallystick.judging.questions import Judge


def spoken(data: Data, scope: Scope) -> list[str]:
    """The text of each row; whatever is no text is told as JSON has it, so that its kind is the judge's business."""
    values = [value.value if isinstance(value, Unfit) else value for value in leaf_values(data, scope)]
    if None in values:
        every_text(Objects(values), scope)  # says what to do about it
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str) for value in values]


@frozen
class Judged(Dense):
    """A judge's verdict; the judge is given by name (as to `--judge`), or is any object with `judge(questions)`."""

    judge: str | Judge
    partial: float = 0.0
    swapped: bool = False
    name = "judged"

    def __post_init__(self) -> None:
        known = isinstance(self.judge, str) or callable(getattr(self.judge, "judge", None))
        require(known, f"judged() needs the name of a judge, or a judge, found {self.judge!r:.60}")
        require(
            isinstance(self.partial, (int, float)) and 0 <= self.partial <= 1,
            f"judged(): partial must lie between 0 and 1, found {self.partial!r}",
        )

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        if isinstance(spec, str):
            return judged(spec)
        options = options_of(spec, "name", "partial")
        if "name" not in options:
            raise MetricError('expected the name of a judge: {"name": "embedding:model.json", "partial": 0.5}')
        return judged(options["name"], options.get("partial", 0.0))

    def _arguments(self) -> Iterator[str]:
        yield json.dumps(self.judge if isinstance(self.judge, str) else self.judge.signature, ensure_ascii=False)
        if self.partial:
            yield f"partial={self.partial!r}"
        if self.swapped:
            yield "swapped=True"

    def mirrored(self) -> Judged:
        return Judged(self.judge, self.partial, not self.swapped)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        answers = scope.memory.calls.setdefault(self, Verdicts())
        left, right = (Objects(spoken(side, scope)) for side in (reference, predicted))
        return coded(left, right, scope, answers)

    def reads(self, value: Any) -> bool:
        return value is not None

    def fill(self, r: Codes, p: Codes, frame: Frame) -> F64:
        (first, second), n, inverse = different_pairs(r, p, frame)
        values: CodedValues = r.values  # type: ignore[assignment]
        answers: Verdicts = values.calls  # type: ignore[assignment]
        scores = (first == second).astype(np.float64)
        keys: dict[int, tuple[Any, Any]] = {}
        for k in np.flatnonzero(first != second).tolist():
            a, b = int(first[k]), int(second[k])
            if not any(not values[code].strip() for code in (a, b)):
                keys[k] = values.keys[a], values.keys[b]
        known = answers.rows
        unknown = [k for k, (one, other) in keys.items() if other not in known.setdefault(one, {})]
        if unknown:
            pairs = [(values[int(first[k])], values[int(second[k])]) for k in unknown]
            weights = self._ask([pair[::-1] for pair in pairs] if self.swapped else pairs, answers)
            for k, weight in zip(unknown, weights, strict=True):
                known[keys[k][0]][keys[k][1]] = weight
        for k, (one, other) in keys.items():
            scores[k] = known[one][other]
        return np.nan_to_num(scores, copy=False, nan=0.0)[inverse] if n else np.empty(0)

    def _ask(self, pairs: list[tuple[str, str]], answers: Verdicts) -> list[float]:
        """The weights of (reference, candidate); NaN where the judge gives no verdict."""
        from tallystick.judging.questions import Question

        weights = {"Correct": 1.0, "Partial": float(self.partial), "Incorrect": 0.0}
        verdicts = answers.opened(self.judge).judge([Question(candidate, (text,)) for text, candidate in pairs])
        return [float("nan") if verdict is None else weights[verdict.label] for verdict in verdicts]


class Verdicts(Answers):
    """A judge's answers in this evaluation, and the judge itself once it was opened; only the answers are pickled."""

    _judge: Judge | None = None

    def add(self, other: Answers) -> None:
        super().add(other)
        self.signature = self.signature or other.signature

    def opened(self, judge: str | Judge) -> Judge:
        if self._judge is None:
            from tallystick.judging.recorded import judge_named

            self._judge = judge_named(judge) if isinstance(judge, str) else judge
            self.signature = self._judge.signature
        return self._judge

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.rows, "_fresh": {}, "signature": self.signature}


def judged(judge: str | Judge, partial: float = 0.0, swapped: bool = False) -> Judged:
    """A judge's verdict on two texts: a store of judgements, "embedding:FILE", "llm:MODEL", or a judge of your own.

    >>> ts.judged("judgements.sqlite", partial=0.5)
    judged("judgements.sqlite", partial=0.5)
    """
    return Judged(judge, partial, swapped)


# The similarity of two texts in an embedding: φ = max(0, cosine), or BERTScore, without any threshold.
#
# It is dense: the rectangle of each block is one product of matrices. The vectors are whole numbers (`judging.encoders`), so the
# product is exact, and a score does not depend on how the documents are batched.


@frozen
class Embedding(Dense):
    """The cosine of two texts' vectors; negative ones count as 0. Equal texts score 1."""

    encoder: str
    name = "embedding"

    def __post_init__(self) -> None:
        require(
            isinstance(self.encoder, str) and bool(self.encoder),
            f'embedding() needs the name of an encoder such as "wordllama", found {self.encoder!r:.60}',
        )

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        left, right = (spoken(side, scope) for side in (reference, predicted))
        table = number_values((left, right))
        values = EmbeddedTexts(text if isinstance(text, str) else "" for text in table)
        values.of(self.encoder)
        r, p = (
            Codes(np.fromiter(map(table.__getitem__, side), np.int64, len(side)), max(len(table), 1), values)
            for side in (left, right)
        )
        return r, p

    def reads(self, value: Any) -> bool:
        return value is not None

    def fill(self, r: Codes, p: Codes, frame: Frame) -> F64:
        values: EmbeddedTexts = r.values  # type: ignore[assignment]
        i, j = frame.all_pairs
        if values.vectors is None:
            flat = self._scored(r, p, frame, values)
        elif frame.size < 32 * max(1, len(frame.row_counts)):  # many tiny blocks: pair by pair
            flat = values.vectors.cosines(values.vectors, r.codes[i], p.codes[j])
        else:
            flat = np.empty(frame.size)
            for rows, columns, place in frame.rectangles():
                ours, theirs = values.vectors.take(r.codes[rows]), values.vectors.take(p.codes[columns])
                flat[place] = ours.rectangle(theirs).ravel()
        np.maximum(flat, 0.0, out=flat)
        flat[r.codes[i] == p.codes[j]] = 1.0
        return flat

    def _scored(self, r: Codes, p: Codes, frame: Frame, values: EmbeddedTexts) -> F64:
        """Scores by an encoder without vectors, once for each distinct pair."""
        from tallystick.judging.encoders import encoder_named

        (first, second), n, inverse = different_pairs(r, p, frame)
        texts = [[values[k] for k in side.tolist()] for side in (first, second)]
        scores = encoder_named(self.encoder).similarities(*texts)
        return np.minimum(scores, 1.0)[inverse] if n else np.empty(0)


class EmbeddedTexts(list[str]):
    """The distinct texts behind codes, and their vectors, if the encoder has any."""

    vectors: Vectors | None = None

    def of(self, encoder: str) -> None:
        from tallystick.judging.encoders import TextVectors, encoder_named

        opened = encoder_named(encoder)
        self.vectors = opened.vectors(self) if isinstance(opened, TextVectors) else None


def embedding(encoder: str = "wordllama") -> Embedding:
    """The similarity of two texts in an embedding: "wordllama", "words:FILE", "sentences:MODEL", "bertscore:MODEL".

    >>> ts.f1(ts.match(ts.embedding("wordllama")))
    f1(match(embedding("wordllama"), 1:1))
    """
    return Embedding(encoder)

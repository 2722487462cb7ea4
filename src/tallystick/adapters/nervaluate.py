"""A drop-in for `nervaluate.Evaluator`: the same arguments, results, reports and CSV, counted by the schemes of `ts.spans`.

    from tallystick.adapters.nervaluate import Evaluator      # was: from nervaluate import Evaluator

nervaluate pairs greedily in the order of the lists, so that a prediction can take away the true entity which a later one fits
exactly, and the figures depend on that order. Here the pairs are the best ones; `strict=False` pairs as nervaluate does. On entities
of which none overlaps two of the other side both are the same.
"""

from __future__ import annotations

import csv
import io
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from tallystick.adapters.seqeval import listed
from tallystick.errors import MetricError, did_you_mean, some
from tallystick.files.writing import write_atomically
from tallystick.tasks.spans.counts import AnnotatedTexts, Segments, SpanScheme, annotate, scheme_pairs
from tallystick.tasks.spans.files import corpus_from_python

SCENARIOS: dict[str, SpanScheme] = {"strict": "strict", "partial": "partial", "ent_type": "type", "exact": "exact"}
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
FIGURES = ("precision", "recall", "f1")
OUTCOMES = {"Correct": "green", "Incorrect": "red", "Partial": "yellow", "Missed": "magenta", "Spurious": "blue"}
COLOURS = {"bold": 1, "red": 91, "green": 92, "yellow": 93, "blue": 94, "magenta": 95, "cyan": 96, "white": 97}
Place = tuple[int, int]


@dataclass
class EvaluationResult:
    """The counts of a scenario and what follows from them."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    actual: int = 0
    possible: int = 0


@dataclass
class EvaluationIndices:
    """Which entities the counts are of, as (document, entity of it): predicted ones, and true ones among the missed."""

    correct_indices: list[Place] = field(default_factory=list)
    incorrect_indices: list[Place] = field(default_factory=list)
    partial_indices: list[Place] = field(default_factory=list)
    missed_indices: list[Place] = field(default_factory=list)
    spurious_indices: list[Place] = field(default_factory=list)


class Evaluator:
    """Entities as lists of tags, as CoNLL text (a token, a tab, its tag), or as dicts with a label, a start and an inclusive end.

    >>> from tallystick.adapters.nervaluate import Evaluator
    >>> tags = [["B-PER", "I-PER", "O"]]
    >>> Evaluator(tags, tags, tags=["PER"], loader="list").evaluate()["overall"]["strict"].f1
    1.0
    """

    def __init__(
        self,
        true: Any,
        pred: Any,
        tags: Sequence[str],
        loader: str = "default",
        min_overlap_percentage: float = 1.0,
        *,
        strict: bool = True,
    ) -> None:
        if isinstance(tags, str):
            raise MetricError(f"tags: expected the names of several types, found the text {tags!r:.40}")
        if not 1.0 <= min_overlap_percentage <= 100.0:
            raise MetricError(f"min_overlap_percentage: expected 1 to 100, found {min_overlap_percentage!r}")
        self.tags, self.min_overlap_percentage = (
            listed(tags, "tags", "the names of several types"),
            min_overlap_percentage,
        )
        self.strict = strict
        self.texts = _load(true, pred, loader)
        unknown = sorted({*self.texts.tags} - {*self.tags})
        if unknown:
            warnings.warn(f"entities of {some(unknown)} are left out: not among the tags", UserWarning, stacklevel=2)

    def evaluate(self) -> dict[str, Any]:
        """The results overall and of each type, and the places behind every count."""
        chosen = [tag for tag in self.texts.tags if tag in self.tags]
        whole = self._of(chosen)
        found = {tag: self._of([tag]) for tag in chosen}
        return {
            "overall": {name: result for name, (result, _) in whole.items()},
            "entities": {tag: {name: result for name, (result, _) in one.items()} for tag, one in found.items()},
            "overall_indices": {name: places for name, (_, places) in whole.items()},
            "entity_indices": {tag: {name: places for name, (_, places) in one.items()} for tag, one in found.items()},
        }

    def _of(self, tags: Sequence[str]) -> dict[str, tuple[EvaluationResult, EvaluationIndices]]:
        one, other = (_chosen(self.texts, side, tags) for side in (self.texts.reference, self.texts.predicted))
        texts = replace(self.texts, reference=one, predicted=other)
        return {name: self._scenario(texts, scheme) for name, scheme in SCENARIOS.items()}

    def _scenario(self, texts: AnnotatedTexts, scheme: SpanScheme) -> tuple[EvaluationResult, EvaluationIndices]:
        least = self.min_overlap_percentage / 100
        pairs, right = scheme_pairs(texts, scheme, min_overlap=least, greedy=not self.strict)
        true, predicted = (_places(side) for side in (texts.reference, texts.predicted))
        paired = [set(side.tolist()) for side in (pairs.reference, pairs.predicted)]
        wrong = "partial" if scheme == "partial" else "incorrect"
        found: dict[str, list[Place]] = {name: [] for name in COUNTS}
        for k, is_right in zip(pairs.predicted.tolist(), right.tolist(), strict=True):
            found["correct" if is_right else wrong].append(predicted[k])
        found["missed"] = [place for k, place in enumerate(true) if k not in paired[0]]
        found["spurious"] = [place for k, place in enumerate(predicted) if k not in paired[1]]
        counts = {name: len(places) for name, places in found.items()}
        return _result(counts), EvaluationIndices(**{f"{name}_indices": sorted(found[name]) for name in COUNTS})

    def results_to_csv(
        self, mode: str = "overall", scenario: str = "strict", file_path: str | None = None
    ) -> str | None:
        """The results as CSV: all scenarios, or the types under one."""
        head = [*(name.capitalize() for name in (*COUNTS, "precision", "recall")), "F1-Score"]
        rows = [["Strategy" if mode == "overall" else "Entity", *head]]
        rows += [[name, *_values(result)] for name, result in self._rows(mode, scenario)]
        output = io.StringIO()
        csv.writer(output).writerows(rows)
        if file_path is None:
            return output.getvalue()
        write_atomically(file_path, output.getvalue().encode())
        return None

    def summary_report(self, mode: str = "overall", scenario: str = "strict", digits: int = 2) -> str:
        """The results as a text: all scenarios, or the types under one."""
        head = [*COUNTS, "precision", "recall", "f1-score"]
        rows = sorted(self._rows(mode, scenario), key=lambda row: row[0])
        width = max(digits, *(len(name) for name in ("correct", *(name for name, _ in rows))))
        lines = [f"Scenario: {scenario if mode == 'entities' else 'all'}", ""]
        lines += [f"{'':>{width}s} " + "".join(f" {name:>11}" for name in head), ""]
        for name, result in rows:
            *counts, p, r, f = _values(result)
            shown = [*(f" {one:>11}" for one in counts), *(f" {one:>11.{digits}f}" for one in (p, r, f))]
            lines.append(f"{name:>{width}s} " + "".join(shown))
        return "\n".join([*lines, ""])

    def summary_report_indices(self, mode: str = "overall", scenario: str = "strict", colors: bool = False) -> str:
        """Which entities are behind the counts of a scenario: overall, or type by type. nervaluate shows a predicted entity for a missed
        one; here it is the true one."""
        self._check(mode, scenario)

        def painted(text: str, colour: str) -> str:
            return f"\033[{COLOURS[colour]}m{text}\033[0m" if colors else text

        found = self.evaluate()
        whole = {"": found["overall_indices"]} if mode == "overall" else found["entity_indices"]
        lines = []
        for tag, scenarios in whole.items():
            schema = painted(scenario, "cyan")
            of_tag = [
                f"\n{painted('Entity Type', 'bold')}: {painted(tag, 'cyan')}",
                f"{painted('Error Schema', 'bold')}: '{schema}'",
            ]
            lines += of_tag if tag else [f"\n{painted('Indices for error schema', 'bold')} '{schema}':"]
            head = f"{'Category':<20} {'Instance':<10} {'Entity':<8} {'Details':<25}"
            lines += ["", painted(head, "bold"), painted("-" * 78, "white")]
            for (name, colour), places in zip(OUTCOMES.items(), vars(scenarios[scenario]).values(), strict=True):
                side = self.texts.reference if name == "Missed" else self.texts.predicted
                shown = self._details([tag] if tag else self.tags, side) if places else {}
                rows = [(str(text), str(place), shown[text, place]) for text, place in places] or [("-", "-", "None")]
                lines += [f"{painted(name, colour):<20} {one:<10} {two:<8} {what:<10}" for one, two, what in rows]
        return "\n".join([*lines, ""])

    def _details(self, tags: Sequence[str], side: Segments) -> dict[Place, str]:
        """What the entities of some types are, by their places."""
        kept = _chosen(self.texts, side, tags)
        labels = [self.texts.tags[code] for code in kept.tag.tolist()]
        bounds = zip(labels, kept.start.tolist(), kept.end.tolist(), strict=True)
        texts = [f"Label={label}, Start={start}, End={end - 1}" for label, start, end in bounds]
        return dict(zip(_places(kept), texts, strict=True))

    def _rows(self, mode: str, scenario: str) -> list[tuple[str, EvaluationResult]]:
        self._check(mode, scenario)
        found = self.evaluate()
        if mode == "overall":
            return list(found["overall"].items())
        return [(tag, one[scenario]) for tag, one in found["entities"].items()]

    def _check(self, mode: str, scenario: str) -> None:
        for name, value, known in (("mode", mode, ("overall", "entities")), ("scenario", scenario, tuple(SCENARIOS))):
            if value not in known:
                hint = did_you_mean(value, known)
                raise MetricError(f"{name}: expected {' or '.join(map(repr, known))}, found {value!r}.{hint}")


def _chosen(texts: AnnotatedTexts, side: Segments, tags: Sequence[str]) -> Segments:
    """The entities of some types, in the order of the list."""
    codes = [code for code, tag in enumerate(texts.tags) if tag in tags]
    return side.take(np.flatnonzero(np.isin(side.tag, codes)))


def _result(counts: dict[str, int]) -> EvaluationResult:
    paired = counts["correct"] + counts["incorrect"] + counts["partial"]
    actual, possible = paired + counts["spurious"], paired + counts["missed"]
    worth = counts["correct"] + 0.5 * counts["partial"]
    p, r = worth / actual if actual else 0.0, worth / possible if possible else 0.0
    return EvaluationResult(**counts, precision=p, recall=r, f1=2 * (p * r) / (p + r) if p + r else 0.0, actual=actual, possible=possible)  # fmt: skip


def _values(result: EvaluationResult) -> list[Any]:
    return [getattr(result, one.name) for one in fields(result) if one.name in (*COUNTS, *FIGURES)]


def _places(side: Segments) -> list[Place]:
    """Document and place in it of every segment, in the order of the list."""
    seen: dict[int, int] = {}
    out = []
    for text in side.text.tolist():
        out.append((text, seen.get(text, 0)))
        seen[text] = seen.get(text, 0) + 1
    return out


def _load(true: Any, pred: Any, loader: str) -> AnnotatedTexts:
    if loader not in ("default", "conll", "list", "dict"):
        raise MetricError(f"loader: expected 'default', 'conll', 'list' or 'dict', found {loader!r}")
    given = {"true": true, "pred": pred}
    if loader == "conll" or (loader == "default" and isinstance(true, str)):
        return corpus_from_python(*(_column(side, name) for name, side in given.items())).texts
    what = "a list for each document"
    sides = [[listed(one, name, what) for one in listed(side, name, what)] for name, side in given.items()]
    first = next((one for side in sides for document in side for one in document), None)
    if loader == "dict" or (loader == "default" and isinstance(first, dict)):
        true, pred = ([[_span(one) for one in document] for document in side] for side in sides)
        return annotate(true, pred)
    return corpus_from_python(*sides).texts


def _span(entity: Any) -> tuple[int, int, str]:
    try:
        start, end, label = operator.index(entity["start"]), operator.index(entity["end"]), entity["label"]
    except (KeyError, TypeError):
        raise MetricError(f"expected an entity with label, start and end, found {entity!r:.80}") from None
    return start, end + 1, label


def _column(text: Any, name: str) -> list[list[str]]:
    """The second column of each sentence of CoNLL text."""
    if not isinstance(text, str):
        raise MetricError(f"{name}: expected CoNLL text, found {type(text).__name__} {text!r:.60}")
    out: list[list[str]] = [[]]
    for number, line in enumerate(text.strip("\n").split("\n"), 1):
        cells = line.split("\t")
        if not line.strip():
            out.append([])
        elif len(cells) < 2:
            raise MetricError(f"line {number}: expected a token, a tab and a tag, found {line!r:.60}")
        else:
            out[-1].append(cells[1])
    return out

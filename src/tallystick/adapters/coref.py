"""A drop-in for the `CorefEvaluator` of the usual end-to-end coreference code (and of coval): MUC, B³, CEAF-φ4 and their mean,
document after document, counted by `ts.coreference`.

    from tallystick.adapters.coref import CorefEvaluator      # was: from metrics import CorefEvaluator
    evaluator.update(predicted, gold, mention_to_predicted, mention_to_gold)
    evaluator.get_prf()

That code leaves entities of one mention out of B³ on both sides, and out of CEAF-φ4 on the predicted side only, so that on data with
such entities a perfect answer has no CEAF of 1. Here all count, as in the reference scorer; `strict=False` has that code's figures. On
data without them both are the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from tallystick.adapters.seqeval import listed
from tallystick.errors import MetricError
from tallystick.results.result import Result
from tallystick.tasks.function import function_of

Clusters = Iterable[Iterable[Hashable]]
NAMES = {"muc": "muc", "b_cubed": "b3", "ceafe": "ceaf_e"}


class Evaluator:
    """One metric of a `CorefEvaluator`.

    >>> from tallystick.adapters.coref import CorefEvaluator
    >>> evaluator = CorefEvaluator()
    >>> evaluator.update([[(0, 1), (5, 5)]], [[(0, 1), (5, 5)]], {}, {})
    >>> [(one.metric, one.get_f1()) for one in evaluator.evaluators]
    [('muc', 1.0), ('b_cubed', 1.0), ('ceafe', 1.0)]
    """

    def __init__(self, of: CorefEvaluator, metric: str) -> None:
        self._of, self.metric, self.beta = of, metric, 1

    def get_counts(self) -> tuple[float, float, float, float]:
        """Numerator and denominator of precision, and of recall."""
        tally = self._of.result(self.metric).tally
        return tally["num_p"], tally["den_p"], tally["num_r"], tally["den_r"]

    def get_precision(self) -> float:
        num, den, _, _ = self.get_counts()
        return num / den if den else 0.0

    def get_recall(self) -> float:
        _, _, num, den = self.get_counts()
        return num / den if den else 0.0

    def get_f1(self) -> float:
        p, r = self.get_precision(), self.get_recall()
        return 2 * p * r / (p + r) if p + r else 0.0

    def get_prf(self) -> tuple[float, float, float]:
        return self.get_precision(), self.get_recall(), self.get_f1()


class CorefEvaluator:
    """MUC, B³ and CEAF-φ4 over documents that come one by one; mentions are anything that can be a key.

    >>> from tallystick.adapters.coref import CorefEvaluator
    >>> evaluator = CorefEvaluator()
    >>> evaluator.update([[(0, 1), (5, 5)]], [[(0, 1), (5, 5)]], {}, {})
    >>> evaluator.get_f1()
    1.0
    """

    def __init__(self, *, strict: bool = True) -> None:
        self.strict = strict
        self.evaluators = [Evaluator(self, name) for name in NAMES]
        self._documents: tuple[list[Any], list[Any]] = ([], [])
        self._results: dict[str, Result] = {}

    def update(
        self, predicted: Clusters, gold: Clusters, mention_to_predicted: Any = None, mention_to_gold: Any = None
    ) -> None:
        """One document. Note the order, which is that of the original; the maps follow from the clusters and are not looked at."""
        number: dict[Hashable, int] = {}
        laid = []
        for name, clusters in (("gold", gold), ("predicted", predicted)):
            what = "clusters of mentions such as (3, 4)"
            mentions = [listed(cluster, name, what) for cluster in listed(clusters, name, what)]
            for mention in (mention for cluster in mentions for mention in cluster):
                if isinstance(mention, (int, str)) or not isinstance(mention, Hashable):
                    raise MetricError(f"{name}: expected {what}, found {type(mention).__name__} {mention!r:.60}")
            places = ([number.setdefault(mention, len(number)) for mention in one] for one in mentions)
            laid.append([[(place, place + 1) for place in one] for one in places])
        for side, document in zip(self._documents, laid, strict=True):
            side.append(document)
        self._results = {}

    def result(self, metric: str) -> Result:
        """One metric as a result of tallystick: intervals, documents, an explanation."""
        if metric not in NAMES:
            raise MetricError(f"no metric {metric!r}; there are {', '.join(NAMES)}")
        if not self._results:
            self._results = self._score()
        return self._results[metric]

    def _score(self) -> dict[str, Result]:
        gold, predicted = ({str(k): one for k, one in enumerate(side)} for side in self._documents)
        if not gold:
            raise MetricError("there are no documents yet; call update first")
        score = function_of("coreference")
        if self.strict:
            found = score(gold, predicted, metrics=tuple(NAMES.values()))
            return {name: found[ours] for name, ours in NAMES.items()}
        plural = {key: [one for one in clusters if len(one) > 1] for key, clusters in predicted.items()}
        links = score(gold, predicted, metrics=("muc", "b3"), drop_singletons=True)
        return {"muc": links["muc"], "b_cubed": links["b3"], "ceafe": score(gold, plural, metrics="ceaf_e")["ceaf_e"]}

    def get_precision(self) -> float:
        return _mean([one.get_precision() for one in self.evaluators])

    def get_recall(self) -> float:
        return _mean([one.get_recall() for one in self.evaluators])

    def get_f1(self) -> float:
        """The CoNLL score."""
        return _mean([one.get_f1() for one in self.evaluators])

    def get_prf(self) -> tuple[float, float, float]:
        return self.get_precision(), self.get_recall(), self.get_f1()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

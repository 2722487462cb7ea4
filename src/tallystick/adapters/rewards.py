"""Rewards for training: what a model's text is worth against a reference, as one number.

    scorer = ts.scorer(Invoice)                     scorer(reference, text)          one number
    ts.rewards(references, texts, type=Invoice)                                      a number for each text
    scorer.breakdown(reference, text)                                                what to log beside it

and with the arguments that TRL, verifiers and verl call a reward with:

    GRPOTrainer(reward_funcs=trl_reward(Invoice, column="invoice"), ...)
    vf.Rubric(funcs=[verifiers_reward(Invoice)])
    custom_reward_function.path=.../rewards.py custom_reward_function.name=compute_score
        +custom_reward_function.reward_kwargs.schema=invoice.schema.json

A reward is  (1 - format) · credit + format · (how well-formed the text is). The credit is a figure of the document, F1 unless another is named, or
with `partial=False` 1 where everything is right and else 0. A text is well-formed (1) if it is JSON as it stands, half if it has to be repaired or
looked for among other words, and not (0) if there is none. Whatever a model writes has a reward and never raises; a reference has to be right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from inspect import isclass
from typing import Any

from tallystick.adapters.scorer import RecordScorer
from tallystick.errors import MetricError, TallystickError, did_you_mean
from tallystick.files.json_values import try_decode

FIGURES = ("f1", "precision", "recall", "exact")


class Scorer:
    """Rewards of one kind; the options are those of `RecordScorer`. Called with a reference and a text, it gives a number.

    >>> ts.scorer(figure="recall").breakdown({"city": "Oslo", "unit": "C"}, '{"city": "Oslo"}')["reward"]
    0.5
    """

    def __init__(
        self, type: Any = None, *, figure: str = "f1", partial: bool = True, format: float = 0.0, **options: Any
    ) -> None:
        if figure not in FIGURES:
            raise MetricError(
                f"figure: expected {', '.join(FIGURES)}, found {figure!r}.{did_you_mean(figure, FIGURES)}"
            )
        if isinstance(format, bool) or not isinstance(format, (int, float)) or not 0 <= format <= 1:
            raise MetricError(
                f"format: expected the share of the reward that is for the format, 0 to 1, found {format!r}"
            )
        self.figure, self.format = figure if partial else "exact", float(format)
        self.scorer = RecordScorer(type, **options)

    def __call__(self, reference: Any, text: Any) -> float:
        """What a text is worth."""
        return self.breakdown(reference, text)["reward"]

    def rewards(self, references: Sequence[Any], texts: Sequence[Any]) -> list[float]:
        """What each text is worth, all in one go."""
        return [one["reward"] for one in self.breakdowns(references, texts)]

    def breakdown(self, reference: Any, text: Any) -> dict[str, float]:
        """The reward of a text, and what it is made of: `f1`, `precision`, `recall`, `exact`, `format`, `valid`."""
        return self.breakdowns([reference], [text])[0]

    def breakdowns(self, references: Sequence[Any], texts: Sequence[Any]) -> list[dict[str, float]]:
        """The same for many texts."""
        golds, written = list(references), [answer_of(text) for text in texts]
        if len(golds) != len(written):
            raise MetricError(f"there are {len(golds):,} references and {len(written):,} texts; each needs the other")
        if not golds:
            return []
        try:
            found = self.scorer.each(golds, written)
        except Exception:  # one of the texts, or a reference: which one is found one by one
            found = [self._one(gold, text) for gold, text in zip(golds, written, strict=True)]
        return [self._with_reward(one, text) for one, text in zip(found, written, strict=True)]

    def _one(self, reference: Any, text: Any) -> dict[str, float]:
        try:
            return self.scorer.each([reference], [text])[0]
        except Exception:
            self.scorer.each([reference], [None])  # which raises if the reference is at fault
            return {**dict.fromkeys(FIGURES, 0.0), "valid": 0.0}

    def _with_reward(self, one: Mapping[str, float], text: Any) -> dict[str, float]:
        form = one["valid"] * (1.0 if not isinstance(text, (str, bytes)) or try_decode(text) is not None else 0.5)
        reward = (1 - self.format) * one[self.figure] + self.format * form
        return {"reward": reward, **one, "format": form}


def scorer(type: Any = None, **options: Any) -> Scorer:
    """A reward: `scorer(reference, text)` is a number from 0 to 1, whatever the text is.

    `type` (or `schema`, or neither) says what a document is, `choices` how to compare what. `figure` is f1, precision, recall or
    exact; `partial=False` gives nothing for a text that is not right in everything; `format` is the share of the reward that is for
    well-formed JSON.

    >>> reward = ts.scorer()
    >>> reward({"city": "Oslo", "unit": "C"}, 'Sure! {"city": "Oslo", "unit": "F"}')
    0.5
    >>> reward({"city": "Oslo"}, "I do not know")
    0.0
    """
    return Scorer(type, **options)


def rewards(references: Sequence[Any], texts: Sequence[Any], type: Any = None, **options: Any) -> list[float]:
    """What each of a model's texts is worth, from 0 to 1; the options are those of `scorer`.

    >>> ts.rewards([{"city": "Oslo"}, {"city": "Bergen"}], ['{"city": "Oslo"}', '{"city": "Oslo"}'])
    [1.0, 0.0]
    """
    kind: Any = type
    try:
        known = _scorer_for(kind, **options) if isclass(type) and options.keys() <= KEPT else Scorer(type, **options)
    except TypeError:  # what cannot be hashed is not remembered
        known = Scorer(type, **options)
    return known.rewards(references, texts)


KEPT = {"figure", "partial", "format", "credit", "lenient", "ignore", "unknown", "equality"}
"""Options that say all by themselves, and name no file, which may change."""


@lru_cache(maxsize=16)
def _scorer_for(type: Any, **options: Any) -> Scorer:
    """How documents of a class are compared is found once, for whoever asks for rewards in a loop."""
    return Scorer(type, **options)


def answer_of(text: Any) -> Any:
    """The text of a completion: of the last message where it is a list of messages, of its parts where these are a list."""
    if isinstance(text, list) and text and all(isinstance(one, Mapping) and "content" in one for one in text):
        text = text[-1]["content"]
    elif isinstance(text, Mapping) and "content" in text and "role" in text:
        text = text["content"]
    if isinstance(text, list) and text and all(isinstance(one, Mapping) and "type" in one for one in text):
        return "".join(str(one.get("text") or "") for one in text)
    return text


# As the libraries call a reward


def trl_reward(type: Any = None, *, column: str = "reference", **options: Any) -> Callable[..., list[float]]:
    """A reward of TRL's (GRPO, RLOO): called with `completions` and the columns of the data set, of which one is the reference.

    >>> from tallystick.adapters.rewards import trl_reward
    >>> reward = trl_reward(column="answer")
    >>> reward(completions=['{"city": "Oslo"}'], answer=[{"city": "Oslo"}])
    [1.0]
    """
    known = Scorer(type, **options)

    def record_reward(completions: Sequence[Any], **columns: Any) -> list[float]:
        if column not in columns:
            there = ", ".join(columns)
            raise MetricError(f"there is no column {column!r}; there are {there}.{did_you_mean(column, columns)}")
        return known.rewards(columns[column], completions)

    return record_reward


def verifiers_reward(type: Any = None, **options: Any) -> Callable[..., float]:
    """A reward of verifiers': called with the `completion` and the `answer` of one example.

    >>> from tallystick.adapters.rewards import verifiers_reward
    >>> verifiers_reward()(completion='{"city": "Oslo"}', answer={"city": "Oslo"})
    1.0
    """
    known = Scorer(type, **options)

    def record_reward(completion: Any, answer: Any, **_: Any) -> float:
        return known(answer, completion)

    return record_reward


def compute_score(
    data_source: Any, solution_str: str, ground_truth: Any, extra_info: Any = None, **options: Any
) -> dict[str, float]:
    """A reward of verl's: `score`, and what it is made of; the options of `scorer` are its `reward_kwargs`.

    >>> from tallystick.adapters.rewards import compute_score
    >>> compute_score("invoices", '{"city": "Oslo"}', '{"city": "Oslo"}')["score"]
    1.0
    """
    try:
        known = _scorer_of(json.dumps(options, sort_keys=True))
    except TypeError as error:
        raise TallystickError(
            f"options of compute_score are plain data, such as type='module:Invoice' ({error})"
        ) from None
    found = known.breakdown(ground_truth, solution_str)
    return {"score": found.pop("reward"), **found}


@lru_cache(maxsize=16)
def _scorer_of(options: str) -> Scorer:
    return Scorer(**json.loads(options))

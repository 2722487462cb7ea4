"""`turns`: who speaks when. A line is {"id": ..., "turns": [[start, end, speaker], ...]}, times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import tallystick as ts
from tallystick.engine.tally import ratio
from tallystick.files.boundaries import LINES
from tallystick.files.json_values import read_json
from tallystick.files.pairing import Documents, pair_documents
from tallystick.results.result import Result
from tallystick.tasks.contract import Reading, Task, option


class Turn(NamedTuple):
    speaker: str
    time: tuple[float, float]


class Call(NamedTuple):
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class TurnSettings:
    collar: float = option(0.0, "Seconds around a reference turn's ends that count neither way.", least=0)


@dataclass(frozen=True)
class ErrorRate:
    """Missed, false and confused seconds, over the seconds of the reference."""

    headline: str = "error_rate"
    sums: tuple[str, ...] = ("missed", "false", "confused", "seconds")
    lower_is_better: tuple[str, ...] = ("error_rate",)

    def figures(self, sums: Any) -> dict[str, Any]:
        return {"error_rate": ratio(sums[..., :3].sum(axis=-1), sums[..., 3])}


TURNS = ts.f1(ts.each(turns=ts.match(ts.record(speaker=ts.exact, time=ts.overlap("jaccard")))))
"""A turn is worth as much as its time overlaps with one of the same speaker."""


class Turns(Task):
    name = "turns"
    summary = "who speaks when: the rate of seconds that are missed, false or another's; matched turns"
    Settings = TurnSettings
    main = "error_rate"
    explained = "turns"
    breakdowns = ("label", "field")
    labels = {"speaker": "turns[*].speaker"}

    def read(self, reference: Any, predicted: Any, settings: TurnSettings, reading: Reading) -> Any:
        return pair_documents(read_turns(reference), read_turns(predicted), Call, reading.missing)

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: TurnSettings) -> dict[str, Result]:
        sides = corpus.reference, corpus.predicted
        rows = np.array([seconds(*pair, settings.collar) for pair in zip(*sides, strict=True)])
        by_id = (dict(zip(corpus.ids, side, strict=True)) for side in sides)
        found = {
            "error_rate": Result("turns.error_rate", ErrorRate(), rows, corpus.ids, settings=f"collar={settings.collar:g}"),
            "turns": ts.evaluate(TURNS, *by_id),
        }  # fmt: skip
        return {name: found[name] for name in metrics or found}

    def boundaries(self, file: str, settings: TurnSettings) -> Any:
        return LINES


def read_turns(file: Any) -> Documents[Call]:
    values = {}
    for one in read_json(file):
        turns = tuple(Turn(speaker, (start, end)) for start, end, speaker in one.value["turns"])
        values[one.value["id"]] = Call(turns)
    return Documents(str(file), "turns", values)


def seconds(reference: Call, predicted: Call, collar: float) -> tuple[float, float, float, float]:
    """Second by second of the shortest stretches: who speaks in the reference, and who is said to."""
    edges = sorted({edge for call in (reference, predicted) for turn in call.turns for edge in turn.time})
    missed = false = confused = whole = 0.0
    for start, end in pairwise(edges):
        if any(abs(start - edge) < collar for turn in reference.turns for edge in turn.time):
            continue
        right, given = (
            {t.speaker for t in call.turns if t.time[0] <= start < t.time[1]} for call in (reference, predicted)
        )
        wrong = min(len(right), len(given)) - len(right & given)
        missed += (end - start) * max(0, len(right) - len(given))
        false += (end - start) * max(0, len(given) - len(right))
        confused += (end - start) * wrong
        whole += (end - start) * len(right)
    return missed, false, confused, whole


TASK = Turns()

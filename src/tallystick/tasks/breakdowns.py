"""Figures by the attributes of items, as parts of a metric: what tables, intervals and comparisons by them are made of.

A metric has an attribute if it is an expression over the collection whose items have it, and if what these items earn adds up to the
metric's own sums. Others (a mean of metrics, a procedure that looks at no item by itself) are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from os import PathLike
from os.path import isfile
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.data import as_objects
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError
from tallystick.files.source import Source, require_file
from tallystick.results.breakdown import NoCollection, PartRows, has_labels_at, rows_by_value
from tallystick.results.parts import Portions, bin_of, bin_order
from tallystick.results.tables import label_rows_table
from tallystick.show.tables import of_metric
from tallystick.tasks.attributes import TRAINED, About, Attribute, OtherItems, Value, needs_training, no_training
from tallystick.tasks.contract import Reading, Scored, Shown, Task, default_of, option_of

if TYPE_CHECKING:
    from tallystick.results.result import Result

Words = Sequence[Any] | None
"""The text of each document, where it is known."""


def portions_by(task: Task, scored: Scored, name: str, attribute: Attribute) -> dict[str, Portions]:
    """By metric the rows of the documents by the values of an attribute."""
    words = task.words(scored)
    out = {}
    for metric, result in scored.results.items():
        found = _rows_by(result, attribute, words)
        if found is not None:
            out[metric] = in_bins(found, name, result)
    if not out:
        able = ", ".join(dict.fromkeys(path.removesuffix("[*]") or "items" for path in attribute.of))
        raise MetricError(
            f"none of {', '.join(scored.results)} has figures by {name}: it is an attribute of {able}, and is known for metrics that "
            "are expressions over these"
        )
    return out


def in_bins(found: PartRows, name: str, result: Result) -> Portions:
    """The parts of one metric, in order."""
    rows, beta = found.rows(), getattr(result.kind, "beta", 1.0)
    order = sorted(rows, key=bin_order)
    return Portions({part: rows[part] for part in order}, name, beta, one=False, counts=found.support)


def _rows_by(result: Result, attribute: Attribute, words: Words) -> PartRows | None:
    if not result.is_expression or result.sources is None:
        return None
    abouts = _Abouts(result, words)
    for path, value in attribute.of.items():
        if not has_labels_at(result.expression, path):
            continue
        try:
            found = rows_by_value(
                result.expression, path, partial(_bins, value, abouts), result.documents_kept, result.memory
            )
        except (NoCollection, OtherItems):
            continue
        if _adds_up(found, result):
            return found
    return None


def _bins(value: Value, abouts: _Abouts, side: int, items: Sequence[Any], homes: Sequence[int]) -> list[str]:
    return [bin_of(value(item, abouts.of(side, home))) for item, home in zip(items, homes, strict=True)]


def _adds_up(found: PartRows, result: Result) -> bool:
    """Whether the parts have the sums of the whole; kinds of other sums than these four are not asked."""
    if not isinstance(result.kind, Counts):
        return True
    total = sum((rows.sum(axis=0) for rows in found.rows().values()), np.zeros(4))
    return bool(np.allclose(total, result.sums[:4], rtol=1e-9, atol=1e-9))


class _Abouts:
    """What is known about each document, made once for all of its items."""

    def __init__(self, result: Result, words: Words) -> None:
        self.result, self.words = result, words
        self.known: dict[tuple[int, int], About] = {}
        self._documents: dict[int, list[Any]] = {}

    def of(self, side: int, home: int) -> About:
        found = self.known.get((side, home))
        if found is None:
            words = None if self.words is None else self.words[home]
            found = self.known[side, home] = About(words, lambda: self.documents(side)[home])
        return found

    def documents(self, side: int) -> list[Any]:
        if side not in self._documents:
            kept = self.result.documents_kept
            self._documents[side] = [one for source in kept for one in as_objects(source[side])]
        return self._documents[side]


# What the training data has


def trained(task: Task, scored: Scored, settings: Any, name: str, train: Any) -> Attribute:
    """`seen` or `frequency`, by how often each item is in a training file (or in plain data)."""
    if train is None or train in ((), []):
        raise needs_training(name)
    able = tuple(metric for metric, one in scored.results.items() if any(_is_over(one, path) for path in task.keys))
    if not able:
        raise MetricError(f"none of {', '.join(scored.results)} has figures by {name}")
    counts = _count_keys(task, settings, able, train)
    of = _frequency if name == "frequency" else _seen
    return Attribute("", {path: of(task.keys[path], found) for path, found in counts.items()})


def _is_over(result: Result, path: str) -> bool:
    """Whether the items of a metric, whose documents are kept, are those of a collection."""
    return result.is_expression and result.sources is not None and has_labels_at(result.expression, path)


def _times(known: Any, counts: Counter[Any]) -> int:
    """How often the training data has a key, or the most frequent of several."""
    return max(counts[one] for one in known) if isinstance(known, list) else counts[known]


def _frequency(key: Value, counts: Counter[Any]) -> Value:
    def value(item: Any, about: About) -> int | None:
        known = key(item, about)
        return None if known is None else _times(known, counts)

    return value


def _seen(key: Value, counts: Counter[Any]) -> Value:
    def value(item: Any, about: About) -> str | None:
        known = key(item, about)
        return None if known is None else "seen" if _times(known, counts) else "unseen"

    return value


def _count_keys(task: Task, settings: Any, metrics: tuple[str, ...], train: Any) -> dict[str, Counter[Any]]:
    """By collection how often each key is in the training data, which is read as a reference is."""
    counts: dict[str, Counter[Any]] = {}
    for file in training_parts(train):
        read = _read_training(task, file, metrics, settings)
        words = task.words(read)
        for path, key in task.keys.items():
            over = (one for one in read.results.values() if _is_over(one, path))
            found = next((keys for one in over if (keys := _keys_of(one, path, key, words)) is not None), None)
            if found is not None:
                counts.setdefault(path, Counter()).update(found)
    if not any(sum(one.values()) for one in counts.values()):
        raise MetricError(
            f"{_called(train)}: the training data has no item whose words are known, so nothing counts as seen"
        )
    return counts


def training_parts(train: Any) -> Sequence[Any]:
    """The files of training data, if there are several."""
    several = isinstance(train, (tuple, list)) and all(isinstance(one, (str, PathLike)) for one in train)
    return train if several else (train,)


def _called(train: Any) -> str:
    return ", ".join(str(one) if isinstance(one, (str, PathLike)) else "train" for one in training_parts(train))


def _keys_of(result: Result, path: str, key: Value, words: Words) -> Counter[Any] | None:
    """How often each key stands in the reference; None where the metric has other items there."""
    abouts, counts = _Abouts(result, words), Counter[Any]()

    def count(side: int, items: Sequence[Any], homes: Sequence[int]) -> list[str]:
        if side == 0:
            for item, home in zip(items, homes, strict=True):
                one = key(item, abouts.of(0, home))
                counts.update(one if isinstance(one, list) else [] if one is None else [one])
        return [""] * len(items)

    try:
        rows_by_value(result.expression, path, count, result.documents_kept, result.memory)
    except (NoCollection, OtherItems):
        return None
    return counts


_MARKS = re.compile(r"[\n(\[{<]")
"""What is in data that are written as a text, and hardly in the name of a file."""


def _read_training(task: Task, file: Any, metrics: tuple[str, ...], settings: Any) -> Scored:
    """Training data scored against itself, under the options that are not about other files."""
    own = {one.name: default_of(one) for one in fields(settings) if "FILE" in option_of(one).metavar}
    settings = replace(settings, **own)
    if isinstance(file, PathLike) or (isinstance(file, str) and not _MARKS.search(file)):
        require_file(file)
    left, right, settings = task.take(file, file, settings)
    if isinstance(right, str | PathLike) and isfile(right):
        right = replace(Source.of(right), for_itself=True)
    return task.score(left, right, metrics if task.named_metrics else (), settings, Reading(texts=True))


def attribute_named(task: Task, scored: Scored, settings: Any, name: str, train: Any) -> Attribute:
    """An attribute as it is declared, or as the training data makes it."""
    if name in TRAINED:
        return trained(task, scored, settings, name, train)
    if train is not None:
        raise no_training(name)
    return task.attributes[name]


# Tables


def show_portions(found: Mapping[str, Portions], results: Mapping[str, Result], by: str) -> Shown:
    """Tables of parts and the same as JSON: by metric a row for each part."""
    rows = {metric: portions.figures(results[metric]) for metric, portions in found.items()}
    tables = [of_metric(label_rows_table(rows[metric], portions.called), metric) for metric, portions in found.items()]
    json = {metric: [vars(row) for row in of] for metric, of in rows.items()}
    return Shown(tables, {f"{by}s": json} if by in ("label", "field") else {"by": {by: json}})

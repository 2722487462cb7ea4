"""The errors of every task, from its declaration: `Task.kinds`, `find_mistakes` and `mend`.

    found = find_errors(task, scored, settings)        counts by kind, places, and figures if each kind were mended

What a figure would be is found by mending the documents and scoring them again, with the settings and metrics of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.errors import TallystickError
from tallystick.files.pairing import Paired
from tallystick.frozen import frozen
from tallystick.results.mistakes import Change, Edit, Figures, Found, Many, Mistake, count_kinds, mend
from tallystick.tasks.contract import Scored, Task
from tallystick.tasks.metric import best_pairs


def find_errors(task: Task, scored: Scored, settings: Any) -> Found:
    """Every error of a corpus, and what each kind costs."""
    results = scored.results
    listed = task.find_mistakes(scored.corpus, settings)
    mistakes = listed if isinstance(listed, Many) else tuple(_with_places(listed, paired_of(scored.corpus)))

    def rescore(some: Sequence[Mistake]) -> Figures:
        return _figures(task, task.mend(scored.corpus, some, settings), results, settings)

    figures = {name: dict(result.figures) for name, result in results.items()}
    found = Found(
        figures, {name: result.kind.headline for name, result in results.items()}, mistakes, label=task.error_label
    )
    return count_kinds(found, task.kinds, rescore, task.error_tables(scored.corpus, mistakes, settings))


def _figures(task: Task, corpus: Any, results: Mapping[str, Any], settings: Any) -> Figures:
    """The figures of a mended corpus under the metrics of some results. A metric that it has nothing for has none."""
    try:
        again = task.evaluate(corpus, task.metric_names(dict(results)), settings)
    except TallystickError:  # heads, where nothing is left that could have one; trees, where a mend makes two parents
        if len(results) == 1:
            return {}
        parts = (_figures(task, corpus, {name: result}, settings) for name, result in results.items())
        return {name: figures for part in parts for name, figures in part.items()}
    return {name: dict(again[name].changed(undefined=result.undefined).figures) for name, result in results.items()}


def paired_of(corpus: Any) -> Paired[Any] | None:
    """The paired documents of a corpus, alone or among other things; None where a task has documents of another kind."""
    if isinstance(corpus, Paired):
        return corpus
    parts = corpus if isinstance(corpus, tuple) else (getattr(corpus, "pairs", None),)
    return next((part for part in parts if isinstance(part, Paired)), None)


def mend_documents(corpus: Any, mistakes: Iterable[Mistake]) -> Any:
    """A corpus of paired documents with the edits of these mistakes in the predicted ones."""
    if isinstance(corpus, tuple):
        return tuple(mend_documents(part, mistakes) if isinstance(part, Paired) else part for part in corpus)
    edits: dict[Any, list[Edit]] = {}
    for one in mistakes:
        edits.setdefault(one.document, []).extend(one.edits)
    predicted = (
        mend(document, edits[name]) if name in edits else document
        for name, document in zip(corpus.ids, corpus.predicted, strict=True)
    )
    return replace(corpus, predicted=tuple(predicted))


def _with_places(mistakes: Iterable[Mistake], pairs: Paired[Any] | None) -> Iterable[Mistake]:
    """The mistakes with file and line of their documents, where a task has not said them."""
    places = pairs.places if pairs is not None else {}
    for one in mistakes:
        known = places.get(one.document) if one.place is None else None
        yield one if known is None else replace(one, place=known)


# Mentions, which relations and events share: how near two of them are, and their parts that can be mended one by one.


def nearness(reference: Any, predicted: Any) -> float:
    """How near two mentions are: 3 in all, 2.75 but for their type, 1 to 2 if they overlap, 0 if not."""
    if span_of(reference) == span_of(predicted):
        same = type_of(reference) == type_of(predicted)
        return 3.0 if same else 2.75
    shared = len(set(_tokens(reference)) & set(_tokens(predicted)))
    return 1.0 + shared / (len(_tokens(reference)) + len(_tokens(predicted)) - shared) if shared else 0.0


def span_of(mention: Any) -> tuple[Any, ...]:
    """Where a mention is."""
    return mention.left, mention.right, getattr(mention, "gaps", ())


def type_of(mention: Any) -> Any:
    """The entity type of a mention, None where it has none."""
    return getattr(mention, "type", None)


def _tokens(mention: Any) -> range:
    return range(mention.left, mention.right + 1)


def moved(reference: Any) -> Change:
    """A mention at the place of another, with its own type."""
    return lambda mention: replace(reference, type=type_of(mention)) if hasattr(reference, "type") else reference


def in_words(mention: Any, words: Sequence[str]) -> str:
    """A mention in words: `PER Marie Curie [0–1]`."""
    from tallystick.show.words import value_text
    from tallystick.structures.texts import AnnotatedMention

    inside = 0 <= mention.left <= mention.right < len(words)
    text = " ".join(words[mention.left : mention.right + 1]) if inside else getattr(mention, "text", None)
    return value_text(AnnotatedMention(mention.left, mention.right, type=type_of(mention), text=text), 60)


@frozen
class Aligned:
    """Which items belong together, and which stand alone."""

    pairs: tuple[tuple[int, int], ...]
    missed: tuple[int, ...]
    spurious: tuple[int, ...]


def pair_up(reference: Sequence[Any], predicted: Sequence[Any], likeness: Callable[[Any, Any], float]) -> Aligned:
    """The items of two sides one to one, with the greatest likeness in all; those without any stand alone."""
    weights = {
        (i, j): weight
        for i, one in enumerate(reference)
        for j, other in enumerate(predicted)
        if (weight := likeness(one, other)) > 0
    }
    pairs = sorted(best_pairs(weights, len(reference), len(predicted)))
    ours, theirs = {i for i, _ in pairs}, {j for _, j in pairs}
    missed = tuple(i for i in range(len(reference)) if i not in ours)
    return Aligned(tuple(pairs), missed, tuple(j for j in range(len(predicted)) if j not in theirs))

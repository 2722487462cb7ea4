"""Shards scored by whoever there is: this process, other processes, other machines.

    cut  ──►  a few shards for each worker under way  ──►  outcomes, stored as they come, gathered in order

However many workers there are, whoever is first and whatever was known from a run before, the results are the same to the
last bit. If the files turn out not to have their documents in one order, they are cut by the documents' names; if that cannot
be done either, they are read as a whole, and it is said why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from tallystick.engine.windows import in_order
from tallystick.errors import InputError, SidesMismatch
from tallystick.files.boundaries import Boundaries, Uncut
from tallystick.results.result import Result
from tallystick.run.cutting import SHARD, Shard, cut_by_name, cut_in_order, size_of
from tallystick.run.shards import Disagreement, Extra, Job, Outcome, Score, Scored, Wants, label_path, score_shard
from tallystick.run.state import State

CONFIRMED = 256 << 20
"""Up to so many bytes of the reference an error in a shard is looked at in the whole file before it is told."""

Say = Callable[[str], None]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Finished:
    """The results of a run, what the task has to say beside them, and how the files were cut."""

    results: dict[str, Result]
    extra: Extra | None
    shards: int
    how: str
    seconds: float
    labels: dict[str, str | None] = field(default_factory=dict)
    """By metric the path of the labels that were counted."""


def run_files(
    score: Score,
    reference: str,
    predicted: str | None,
    boundaries: Boundaries | Uncut,
    other: Boundaries | Uncut | None = None,
    *,
    executor: Executor | None = None,
    state: State | None = None,
    wants: Wants = Wants(),  # noqa: B008 - frozen
    size: int = SHARD,
    absent: bool = False,
    say: Say = lambda _: None,
    progress: Progress | None = None,
) -> Finished:
    """Score two files in shards. `score` is called with the names of two parts and returns results by metric; it has to be
    something that can be pickled where the executor has processes of its own. `absent` says that it can do with documents
    that only one side has."""
    started = time.monotonic()
    for file, found in ((reference, boundaries), (predicted, other or boundaries)):
        if isinstance(found, Uncut) and file is not None:
            say(f"{file} is read as a whole: {found.reason}")
            return _whole(score, reference, predicted, wants, started)
    assert isinstance(boundaries, Boundaries)
    other = other or boundaries
    assert isinstance(other, Boundaries)
    total = size_of(reference)
    ways: list[tuple[str, Callable[[], Iterator[Shard] | None]]] = [
        ("in one order", lambda: cut_in_order(reference, predicted, boundaries, other, size=size)),
    ]
    if predicted is not None:
        ways.append(("by name", lambda: cut_by_name(reference, predicted, boundaries, other, size=size, absent=absent)))
    for how, cut in ways:
        shards = cut()
        if shards is None:
            continue
        try:
            gathered = gather(
                score, shards, executor=executor, state=state, wants=wants, progress=progress, total=total
            )
            if gathered is None:
                break  # nothing in the file: the reader says so
            results = gathered.results()
        except (SidesMismatch, Disagreement) as error:
            say(f"{reference} and {predicted} cannot be cut {how} ({_brief(error)})")
            continue
        except InputError as error:
            # A shard may look wrong only because it is one: the whole has the last word, where that is no great matter.
            if "-" in (reference, predicted) or total > CONFIRMED:
                raise
            whole = _whole(score, reference, predicted, wants, started)
            say(f"read as a whole: a shard cannot be read by itself ({_brief(error)})")
            return whole
        took = time.monotonic() - started
        return Finished(results, gathered.extra, gathered.shards, how, took, gathered.labels)
    if "-" in (reference, predicted):
        raise InputError(
            "standard input cannot be read twice; give a file, or leave out what scores in shards", "<stdin>"
        )
    say(f"{reference}{f' and {predicted}' if predicted else ''}: read as a whole")
    return _whole(score, reference, predicted, wants, started)


def _brief(error: Exception) -> str:
    text = str(error).split("\n", 1)[0]
    return text if len(text) <= 200 else text[:199] + "…"


def _whole(score: Score, reference: str, predicted: str | None, wants: Wants, started: float) -> Finished:
    found = score(reference, predicted)
    scored = found if isinstance(found, Scored) else Scored(found)
    took = time.monotonic() - started
    labels = {name: label_path(result, wants) for name, result in scored.results.items()}
    return Finished(dict(scored.results), scored.extra, 1, "as a whole", took, labels)


def gather(
    score: Score,
    shards: Iterator[Shard],
    *,
    executor: Executor | None = None,
    state: State | None = None,
    wants: Wants = Wants(),  # noqa: B008 - frozen
    progress: Progress | None = None,
    total: int = 0,
) -> Outcome | None:
    """The outcomes of all shards, put together; None if there are none."""
    gathered: Outcome | None = None
    stored: dict[str, Any] = {}
    if state is not None:
        stored = {"find": lambda job: state.get(job.shard), "keep": lambda job, outcome: state.put(job.shard, outcome)}
    jobs = (Job(shard, score, wants) for shard in shards)
    for job, outcome in in_order(executor, score_shard, jobs, **stored):
        if gathered is None:
            gathered = outcome
        else:
            gathered.add(outcome)
        if progress is not None and total:
            progress(min(total, job.shard.position), total)
    return gathered

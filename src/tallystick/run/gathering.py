"""The outcomes of shards put together, in the order of the file: one result for each metric, as if the whole had been scored.

Sums are exact and add up whatever the shards are. What cannot be put together without looking at the whole (shards that read
their files differently, a name that stands in two of them) is an error of its own, `Disagreement`, and means that the
files have to be read as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import Kind
from tallystick.errors import TallystickError
from tallystick.files.pairing import Repeats
from tallystick.results.accounts import Account
from tallystick.results.result import Result
from tallystick.run.shards import Names, Outcome, Tallied


class Disagreement(TallystickError):
    """Shards that cannot be put together."""


@dataclass
class _Notes:
    """What shards say, said once: messages that differ only in numbers and quoted words are of one sort."""

    sorts: dict[str, tuple[str, int, bool]]

    def add(self, notes: Iterable[str]) -> None:
        for note in notes:
            sort = re.sub(r'"[^"]*"|\'[^\']*\'|[\d,]+', "#", note)
            first, times, same = self.sorts.get(sort, (note, 0, True))
            self.sorts[sort] = first, times + 1, same and first == note

    def said(self) -> tuple[str, ...]:
        return tuple(
            first if same else f"in {times:,} shards, the first of them: {first}"
            for first, times, same in self.sorts.values()
        )


class Gathering:
    """Outcomes as they come, in order; `results` when all are there."""

    def __init__(self) -> None:
        self.shards = 0
        self.extra: Any = None
        self._first: dict[str, Tallied] = {}
        self._accounts: dict[str, Account] = {}
        self._notes: dict[str, _Notes] = {}
        self._judges: dict[str, dict[str, None]] = {}  # a shard in which nothing was asked knows of no judge
        self._rows: dict[str, list[tuple[Kind, F64, F64 | None]]] = {}
        self._names: list[Names] = []
        self._repeats = Repeats()
        self._numbered: tuple[int, bool] | None = None

    def add(self, outcome: Outcome) -> None:
        """Put the next shard behind the ones before."""
        if not self.shards:
            self._first = dict(outcome.tallied)
            self.extra = outcome.extra
        elif outcome.extra is not None:
            self.extra.add(outcome.extra)
        if outcome.tallied.keys() != self._first.keys():
            raise Disagreement("the shards have different metrics")
        for name, one in outcome.tallied.items():
            first = self._first[name]
            if (one.metric, one.settings, one.name, one.label) != (
                first.metric,
                first.settings,
                first.name,
                first.label,
            ):
                raise Disagreement("the shards were read in different ways")
            known = self._accounts.get(name)
            self._accounts[name] = one.account if known is None else known + one.account
            self._notes.setdefault(name, _Notes({})).add(one.notes)
            self._judges.setdefault(name, {}).update(dict.fromkeys(one.judges))
            if one.rows is not None:
                self._rows.setdefault(name, []).append((one.account.kind, one.rows, one.above))
        self._add_names(outcome.names)
        self.shards += 1

    def _add_names(self, names: Names) -> None:
        numbered = None if names.first is None else (names.first, names.text)
        if not self.shards:
            self._numbered = numbered
        if self._numbered is not None and numbered != self._numbered:
            self._numbered = None  # names that only looked like numbers
            for earlier in self._names:
                self._repeats.add_numbers(earlier.as_numbers())
        if self._numbered is None:
            self._repeats.add_numbers(names.as_numbers())
        if self._numbered is not None or names.known is not None:
            self._names.append(names)

    @property
    def labels(self) -> dict[str, str | None]:
        """By metric the path of the labels that were counted."""
        return {name: first.label for name, first in self._first.items()}

    def results(self) -> dict[str, Result]:
        """The results of the whole."""
        twice = self._numbered is None and len(self._repeats.found())
        self._repeats.close()
        if twice:
            raise Disagreement("a document's name stands in two shards")
        return {name: self._result(name, first) for name, first in self._first.items()}

    def _result(self, name: str, first: Tallied) -> Result:
        account = self._accounts[name]
        notes = self._notes[name].said()
        about: dict[str, Any] = {
            "metric": first.metric, "kind": account.kind, "undefined": first.undefined, "notes": notes,
            "settings": first.settings, "name": first.name, "judges": tuple(self._judges[name]),
        }  # fmt: skip
        kept = self._rows.get(name)
        if kept is None:
            return Result(rows=account, ids=(), **about)
        rows = np.concatenate([_moved(kind, some, account.kind) for kind, some, _ in kept])
        above = None
        if any(most is not None for _, _, most in kept):
            above = np.concatenate([some if most is None else most for _, some, most in kept])
        return Result(
            rows=rows, ids=self._ids(), above=above, field_sums=account.fields, label_sums=account.labels, **about
        )

    def _ids(self) -> tuple[Any, ...]:
        if self._numbered is None:
            return tuple(name for names in self._names for name in names.known or ())
        first, text = self._numbered
        places = range(first, first + sum(names.count for names in self._names))
        return tuple(map(str, places)) if text else tuple(places)


def _moved(kind: Kind, rows: F64, to: Kind) -> F64:
    """Rows of a kind whose labels are some of another's."""
    if kind == to:
        return rows
    place = {name: k for k, name in enumerate(to.sums)}
    out = np.zeros((len(rows), len(to.sums)))
    out[:, [place[name] for name in kind.sums]] = rows
    return out

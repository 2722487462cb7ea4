"""What is left of documents when they are let go: the account of a corpus.

Every figure of a corpus follows from a few sums over its documents, so a document's row need not be kept once it is
added. The sums are exact (`exact_sums`), and therefore accounts add in any order and any grouping, bit for bit:

    account(documents) = account(some of them) + account(the others)

| of a corpus                 | follows from                                                          |
|-----------------------------|-----------------------------------------------------------------------|
| figures (micro)             | the sums of the rows                                                  |
| mean over documents (macro) | the sums of the documents' figures, and how often each was 0/0        |
| exact documents             | their number                                                          |
| bounds under a time limit   | the sums of the rows' upper bounds, and how many documents are open   |
| figures by field, by label  | the sums of each path, of each label                                  |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import Joinable, Kind, Labelled, Units, add_up, merged, rounded
from tallystick.errors import MetricError

FieldSums = dict[str, tuple[Units, bool]]
"""By path the sums that a field's figures follow from, and whether they are only a diagnostic."""


@dataclass(frozen=True)
class LabelSums:
    """By label the four sums, and how many of it the reference has; `path` is where the labels stand."""

    path: str
    sums: dict[Any, tuple[Units, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Account:
    """The sums of some documents; `+` puts two together."""

    kind: Kind
    documents: int
    units: Units
    means: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By figure the sum of the documents' values, and in how many documents it is 0/0; labelled kinds have none."""
    exact: int | None = None
    above: Units | None = None
    unproven: int = 0
    invalid: int = 0
    fields: FieldSums | None = None
    labels: LabelSums | None = None

    @staticmethod
    def nothing(kind: Kind) -> Account:
        """The account of no documents."""
        return Account.of(kind, np.zeros((0, len(kind.sums))))

    @staticmethod
    def of(kind: Kind, rows: F64, *, above: F64 | None = None, invalid: Sequence[int] = ()) -> Account:
        """The account of documents with these rows; `invalid` are the places of those that could not be read."""
        open_ = 0 if above is None else int((above != rows).any(axis=1).sum())
        return Account(
            kind,
            len(rows),
            add_up(rows),
            {} if isinstance(kind, Labelled) else _means(kind.figures(rows)),
            _exact(kind, rows, invalid),
            None if above is None else add_up(above),
            open_,
            len(invalid),
        )

    @property
    def sums(self) -> F64:
        """The sums of the rows."""
        return rounded(self.units)

    @property
    def most(self) -> F64 | None:
        """The sums of the rows' upper bounds."""
        return None if self.above is None else rounded(self.above)

    def mean(self, undefined: float | None) -> dict[str, float | None]:
        """The mean of each figure over the documents; where it is 0/0 a document is left out, or counts as `undefined`."""
        out: dict[str, float | None] = {}
        for name, (units, absent) in self.means.items():
            known = self.documents - (absent if undefined is None else 0)
            filled = 0 if undefined is None else add_up(np.array([[undefined]]))[0] * absent
            out[name] = float(rounded([units + filled])[0] / known) if known else undefined
        return out

    def __add__(self, other: Account) -> Account:
        first, second = _alike(self, other)
        return Account(
            first.kind,
            first.documents + second.documents,
            merged(first.units, second.units),
            {name: (units + second.means[name][0], absent + second.means[name][1])
             for name, (units, absent) in first.means.items()},
            None if first.exact is None or second.exact is None else first.exact + second.exact,
            _both(first.above, second.above, first, second),
            first.unproven + second.unproven,
            first.invalid + second.invalid,
            merged_fields(first.fields, second.fields),
            merged_labels(first.labels, second.labels),
        )  # fmt: skip


def _means(figures: Mapping[str, F64]) -> dict[str, tuple[int, int]]:
    out = {}
    for name, values in figures.items():
        absent = np.isnan(values)
        out[name] = add_up(values[~absent][:, None])[0], int(absent.sum())
    return out


def _exact(kind: Kind, rows: F64, invalid: Sequence[int]) -> int | None:
    """How many documents are right in everything; None if the tally cannot tell."""
    if kind.sums[:4] != ("num_p", "den_p", "num_r", "den_r"):
        return None
    num_p, den_p, num_r, den_r = rows.T[:4]
    right = np.isclose(num_p, den_p, atol=1e-9) & np.isclose(num_r, den_r, atol=1e-9)
    right[list(invalid)] = False  # also where the reference is empty
    return int(np.sum(right))


def _alike(first: Account, second: Account) -> tuple[Account, Account]:
    """Two accounts over one kind: kinds with labels are brought to the labels of both."""
    if first.kind == second.kind:
        return first, second
    if not isinstance(first.kind, Joinable) or type(first.kind) is not type(second.kind):
        raise MetricError(f"tallies of different kinds cannot be added: {first.kind} and {second.kind}")
    kind = first.kind.joined(second.kind)
    return _moved(first, kind), _moved(second, kind)


def _moved(account: Account, kind: Kind) -> Account:
    known = dict(zip(account.kind.sums, account.units, strict=True))
    return replace(account, kind=kind, units=tuple(known.get(name, 0) for name in kind.sums))


def _both(one: Units | None, other: Units | None, first: Account, second: Account) -> Units | None:
    if one is None and other is None:
        return None
    return merged(first.units if one is None else one, second.units if other is None else other)


def merged_fields(first: FieldSums | None, second: FieldSums | None) -> FieldSums | None:
    """The sums of both by path."""
    if first is None or second is None:
        return first if second is None else second
    out = dict(first)
    for path, (units, diagnostic) in second.items():
        known = out.get(path)
        out[path] = (units if known is None else merged(known[0], units), diagnostic)
    return out


def merged_labels(first: LabelSums | None, second: LabelSums | None) -> LabelSums | None:
    """The sums of both by label."""
    if first is None or second is None:
        return first if second is None else second
    if first.path != second.path:
        raise MetricError(f"figures by {first.path!r} and by {second.path!r} cannot be added")
    out = dict(first.sums)
    for label, (units, support) in second.sums.items():
        known = out.get(label)
        out[label] = (units, support) if known is None else (merged(known[0], units), known[1] + support)
    return LabelSums(first.path, out)

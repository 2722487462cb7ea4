"""What some documents of a corpus came to: the one thing that streaming, processes, Dask and stored runs add up.

    account(documents) = account(some of them) + account(the others)

An account keeps the rows of its documents, or only what every figure of the corpus follows from (`Totals`), and beside them what
else was asked for: sums by field and by label, ids, the documents themselves, what is to be said about the figures. The sums are
exact, so that nothing depends on the order or the grouping in which accounts are added.

An account of new documents is made apart and added when it is complete, so that documents that could not be scored, or were given
before, leave nothing behind in what was there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.surplus import Surpluses
from tallystick.engine.arrays import F64
from tallystick.engine.data import Memory
from tallystick.engine.tally import Kind, Totals, Units, joint_kind, merged, rows_under
from tallystick.errors import MetricError, SidesMismatch, some
from tallystick.frozen import frozen
from tallystick.results.lookalikes import Labels

if TYPE_CHECKING:
    from tallystick.algebra.node import Node
    from tallystick.results.leaves import Layer
    from tallystick.results.result import Result

MOST_CALLS = 1_000_000
"""So many answers of users' functions are remembered where memory is bounded."""

FieldSums = dict[str, tuple[Units, bool]]
"""By path the sums that a field's figures follow from, and whether they are only a diagnostic."""


@frozen
class LabelSums:
    """By label the four sums, and how many of it the reference has; `path` is where the labels stand."""

    path: str
    sums: dict[Any, tuple[Units, int]] = field(default_factory=dict)

    def add(self, label: Any, units: Units, support: int) -> None:
        """Add what a label has in some more documents."""
        known = self.sums.get(label)
        self.sums[label] = (units, support) if known is None else (merged(known[0], units), known[1] + support)


@frozen
class Subject:
    """What is computed, as far as the signature says it."""

    metric: Node | str = ""
    undefined: float | None = None
    settings: str = ""
    name: str = ""
    unit: str = "document"


@frozen
class Wants:
    """What is kept beyond the sums: rows and names of documents, figures by field, figures by one of these labels. `absent` says
    that documents which only one side has can be done with."""

    rows: bool = False
    fields: bool = False
    labels: tuple[str, ...] = ()
    absent: bool = False

    def label_of(self, result: Result) -> str | None:
        """Which of the labels that are wanted a metric has."""
        if not result.is_expression:
            return None
        from tallystick.results.breakdown import has_labels_at

        return next((path for path in self.labels if has_labels_at(result.expression, path)), None)


@dataclass
class Account:
    """The tallies of some documents; what is None is not kept."""

    kind: Kind
    subject: Subject = Subject()  # noqa: RUF009
    totals: Totals | None = None
    """The sums, instead of the rows."""
    batches: list[tuple[Kind, F64, F64 | None]] = field(default_factory=list)
    """Rows and, under a time limit, their upper bounds; the kind is that of these documents alone."""
    fields: FieldSums | None = None
    labels: LabelSums | None = None
    documents: list[tuple[Any, Any]] | None = None
    count: int = 0
    ids: list[Any] = field(default_factory=list)
    """None for a document without a name: its place is its id."""
    invalid: list[int] = field(default_factory=list)
    """The places of documents whose prediction could not be read."""
    memory: Memory = field(default_factory=Memory)
    open_selves: int = 0
    remarks: Remarks = field(default_factory=lambda: Remarks())
    asked: dict[str, None] = field(default_factory=dict)
    """The judges that others have asked: a part in which nothing was asked knows of none."""
    aligned: list[Layer] | None = None
    """The alignments of these documents, slice by slice, for those who look at the documents next."""
    surplus: Surpluses = field(default_factory=Surpluses)
    """What predictions have that nothing can meet."""
    looked_at: Labels = Labels()  # noqa: RUF009
    """The labels that the metric looks at."""
    time_limit: float | None = None
    """Seconds for each document."""
    _names: set[Any] = field(default_factory=set)
    _answered: tuple[int, int, int] = (0, 0, 0)

    @staticmethod
    def nothing(kind: Kind) -> Account:
        """The account of no documents, without rows."""
        return Account.of(kind, np.zeros((0, len(kind.sums))))

    @staticmethod
    def of(kind: Kind, rows: F64) -> Account:
        """The account of documents with these rows, which are let go."""
        return Account(kind, totals=Totals.of(kind, rows), count=len(rows))

    @staticmethod
    def of_result(result: Result, wants: Wants) -> Account:
        """The account of a result, with what is wanted of it, to be added to others of the same metric."""
        account = Account(
            result.kind,
            Subject(str(result.metric), result.undefined, result.settings, result.name, result.unit),
            fields=result.field_sums,
            labels=result.label_sums,
            count=result.count,
            asked=dict.fromkeys(result.judges),
            looked_at=result.looked_at,
        )
        # is said again, of all documents together
        again = {*result.memory.named_spellings(), *result.looked_at.lines()}
        account.remarks.add([note for note in result.notes if note not in again])
        account.memory.merge(Memory(spellings=result.memory.spellings))
        if wants.rows and result.kept:
            account.batches = [(result.kind, result.rows, result.above)]
            account.invalid = list(result.invalid)
        else:
            account.totals = result.totals
        if result.kept and result.is_expression:
            from tallystick.results.breakdown import sums_by_field, sums_by_label

            if wants.fields and account.fields is None:
                account.fields = sums_by_field(result.expression, result.documents_kept, result.memory)
            path = wants.label_of(result)
            if path is not None:
                account.labels = sums_by_label(result.expression, path, result.documents_kept, result.memory)
        return account

    def like(self, memory: Memory) -> Account:
        """An account of no documents that keeps what this one keeps, except the documents."""
        return Account(
            self.kind,
            self.subject,
            totals=None if self.totals is None else Account.nothing(self.kind).totals,
            fields=None if self.fields is None else {},
            labels=None if self.labels is None else LabelSums(self.labels.path),
            memory=memory,
            time_limit=self.time_limit,
        )

    # Adding

    def check_ids(self, ids: Sequence[Any]) -> None:
        """That documents with these ids (None: no name) can be added: no two have one id."""
        names = {key for key in ids if key is not None}
        if not names and not self._names:
            return
        if len(names) < len(ids):  # those without a name are called by their places
            ids = [self.count + k if key is None else key for k, key in enumerate(ids)]
            names = set(ids)
        twice = [key for key, times in Counter(ids).items() if times > 1] if len(names) < len(ids) else []
        twice += names & self._names
        if len(self._names) < len(self.ids):
            twice += [key for key in names if self._is_place(key)]
        if twice:
            raise SidesMismatch(f"duplicate documents: {some(twice)}")

    def _is_place(self, key: Any) -> bool:
        """Whether a document without a name is called so."""
        return isinstance(key, Integral) and 0 <= int(key) < len(self.ids) and self.ids[int(key)] is None

    def check(self, other: Account) -> None:
        """That another account is of the same metric and has what this one has."""
        one, two = self.subject, other.subject
        if (one.metric, one.settings, one.name) != (two.metric, two.settings, two.name):
            raise MetricError(f"cannot merge tallies of different metrics:\n  {one.metric}\n  {two.metric}")
        if (self.totals is None) != (other.totals is None):
            raise MetricError("one evaluation keeps the rows of its documents and the other does not (rows=False)")
        recounted = self.documents is not None and other.documents is not None
        if (
            self.labels is not None
            and other.labels is not None
            and self.labels.path != other.labels.path
            and not recounted
        ):
            raise MetricError(f"figures by {self.labels.path!r} and by {other.labels.path!r} cannot be added")

    def add(self, other: Account) -> None:
        """Put another account, whose ids were checked, behind this one."""
        self.check(other)
        self.kind = joint_kind(self.kind, other.kind)
        # from here on nothing can fail
        if self.totals is not None and other.totals is not None:
            self.totals += other.totals
        self.batches += other.batches
        self.invalid += [self.count + k for k in other.invalid]
        self.count += other.count
        self.ids += other.ids
        self._names.update(other.ids)
        self._names.discard(None)
        self.open_selves += other.open_selves
        self.memory.merge(other.memory)
        self.remarks.merge(other.remarks)
        self.surplus.add(other.surplus)
        self.looked_at += other.looked_at
        self.asked.update(other.asked)
        self._answered = _sum(self._answered, other._answered)
        self.fields = merged_fields(self.fields, other.fields)
        self.labels = merged_labels(self.labels, other.labels)
        if self.documents is not None and other.documents is not None:
            self.documents += other.documents
        else:
            self.documents = None

    @property
    def nothing_found(self) -> bool:
        """Whether no document has anything on either side."""
        if self.totals is not None:
            return not self.totals.sums.any()
        return not any(rows.any() or (most is not None and most.any()) for _, rows, most in self.batches)

    def taken_for(self, other: Account) -> Account:
        """Documents without anything, under another metric."""
        out = other.like(Memory())
        out.count, out.ids, out.invalid, out._names = self.count, [*self.ids], [*self.invalid], {*self._names}
        out.documents = None if self.documents is None else [*self.documents]
        out.remarks.merge(self.remarks)
        out.surplus.add(self.surplus)
        out.looked_at = self.looked_at
        rows = np.zeros((self.count, len(other.kind.sums)))
        if other.totals is None:
            out.batches = [(other.kind, rows, None)]
        else:
            out.totals = Totals.of(other.kind, rows, invalid=self.invalid)
        return out

    def __add__(self, other: Account) -> Account:
        both = self.like(Memory())
        both.documents = None if self.documents is None else []
        both.add(self)
        both.add(other)
        return both

    def let_go(self, ids: Sequence[Any] = ()) -> None:
        """Where rows are not kept, all that is left of them is their totals, and of a few documents with these ids their names."""
        if self.totals is None:
            return
        if self.batches:
            self.totals = Totals.of(self.kind, self.rows, above=self.above, invalid=self.invalid, ids=ids)
        self.batches, self.invalid, self.ids = [], [], []

    def forget(self) -> None:
        """Where memory is bounded, the answers of users' functions are remembered for a while only."""
        if self.totals is not None and sum(map(len, self.memory.calls.values())) > MOST_CALLS:
            self._answered = self.answered
            for calls in self.memory.calls.values():
                calls.clear()  # the judge that gave them stays known

    # What it came to

    @property
    def rows(self) -> F64:
        """A row for each document."""
        found = [rows_under(self.kind, kind, rows) for kind, rows, _ in self.batches]
        return np.concatenate(found) if found else np.zeros((0, len(self.kind.sums)))

    @property
    def above(self) -> F64 | None:
        """The upper bounds of the rows; None where there was no time limit."""
        if all(most is None for _, _, most in self.batches):
            return None
        return np.concatenate(
            [rows_under(self.kind, kind, rows if most is None else most) for kind, rows, most in self.batches]
        )

    @property
    def all_ids(self) -> tuple[Any, ...]:
        if not self._names:
            return tuple(range(len(self.ids)))
        return tuple(place if key is None else key for place, key in enumerate(self.ids))

    @property
    def answered(self) -> tuple[int, int, int]:
        """How many answers of users' functions and of judges there are, below 0, and NaN, which is a judge that did not say."""
        found = [calls.weights() for calls in self.memory.calls.values()]
        below, silent = (
            [int(np.count_nonzero(one < 0)) for one in found],
            [int(np.count_nonzero(one != one)) for one in found],
        )
        return _sum(self._answered, (sum(map(len, found)), sum(below), sum(silent)))

    @property
    def judges(self) -> tuple[str, ...]:
        """Who was asked."""
        found = (calls.signature for calls in self.memory.calls.values())
        return tuple(dict.fromkeys((*self.asked, *(who for who in found if who))))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the figures."""
        notes = [*self.remarks.texts(), *self.surplus.lines(), *self.looked_at.lines()]
        if self.open_selves:
            notes.append(f"{self.open_selves:,} self-scores are not proven within the limit: figures may be too high")
        asked, negative, unjudged = self.answered
        if negative:
            notes.append(f"{negative:,} similarities were below 0 and counted as 0")
        notes += self.memory.named_spellings()
        if unjudged:
            notes.append(
                f"{unjudged:,} of {asked:,} pairs of texts were not judged and count as 0: the figures are lower bounds"
            )
        return tuple(notes)

    def result(self, ids: Sequence[Any] | None = None) -> Result:
        """The result of these documents, which are called by their own ids or by these."""
        from tallystick.results.result import Result

        about: dict[str, Any] = {
            **vars(self.subject), "kind": self.kind, "notes": self.notes, "judges": self.judges, "memory": self.memory,
            "field_sums": self.fields, "label_sums": self.labels, "looked_at": self.looked_at,
        }  # fmt: skip
        if self.totals is not None:
            return Result(rows=self.totals, ids=(), **about)
        return Result(
            rows=self.rows,
            ids=self.all_ids if ids is None else tuple(ids),
            sources=tuple(self.documents) if self.documents is not None else None,
            above=self.above,
            invalid=tuple(self.invalid),
            **about,
        )


def agreed(one: dict[str, Account], other: dict[str, Account]) -> tuple[dict[str, Account], dict[str, Account]]:
    """Accounts of the same metrics, where they can be had. Which metrics there are may depend on the items (relations without entity types have
    no strict one); documents without any item cannot tell, count nothing under any metric, and take those of the others."""
    same = one.keys() == other.keys() and all(one[name].subject == other[name].subject for name in one)
    if not same and other and all(account.nothing_found for account in other.values()):
        return one, {name: next(iter(other.values())).taken_for(account) for name, account in one.items()}
    if not same and one and all(account.nothing_found for account in one.values()):
        return {name: next(iter(one.values())).taken_for(account) for name, account in other.items()}, other
    return one, other


@dataclass
class Sum:
    """Results of one metric, added up as they come: what is wanted of them, and the documents themselves if these are kept."""

    wants: Wants = Wants(rows=True)  # noqa: RUF009
    keep: bool = True
    account: Account | None = None
    first: Result | None = None
    """The first of them, without its documents: what the metric is and is called."""
    places: set[tuple[int, bool] | None] = field(default_factory=set)
    """How the documents were numbered, if they have no names."""

    def of(self, result: Result) -> Sum:
        """The sum of one result, to be added to this."""
        rows = self.wants.rows and result.kept
        part = Account.of_result(result, replace(self.wants, rows=rows))
        part.memory = result.memory
        places = {numbering(result.ids)} if rows and result.count else set()
        if rows:
            part.ids = [None] * result.count if places - {None} else list(result.ids)
            kept = self.keep and result.sources is not None
            part.documents = list(result.sources or ()) if kept else None
        about = {"rows": Totals.of(result.kind, np.zeros((0, len(result.kind.sums)))), "ids": (), "sources": None}
        first = result.changed(**about, above=None, invalid=(), memory=Memory())
        return Sum(self.wants, self.keep, part, first, places)

    def check(self, other: Sum) -> None:
        """That another sum can be added: of the same metric and policy, with other documents."""
        one, two = self.account, other.account
        if one is None or two is None:
            return
        if one.subject.undefined != two.subject.undefined:
            policies = f"{one.subject.undefined} and {two.subject.undefined}"
            raise MetricError(f"results of different policies for 0/0 cannot be added: {policies}")
        one.check(two)
        joint_kind(one.kind, two.kind)
        one.check_ids(two.ids)

    def add(self, other: Sum) -> None:
        """Put another sum, which was checked, behind this one; it stays as it is."""
        if other.account is None:
            return
        if self.account is None:
            self.account = other.account.like(Memory())
            self.account.documents = [] if other.account.documents is not None else None
            self.first = other.first
        self.account.add(other.account)
        self.places |= other.places

    def __add__(self, other: Sum) -> Sum:
        total = Sum(self.wants, self.keep)
        for part in (self, other):
            total.check(part)
            total.add(part)
        return total

    def result(self) -> Result:
        """The result of all documents. Where nobody has given them names, they are numbered on."""
        if self.account is None or self.first is None:
            raise MetricError("there is nothing to compute: no documents yet")
        places = next(iter(self.places)) if len(self.places) == 1 else None
        ids = None if places is None else numbered(*places, self.account.count)
        found = self.account.result(ids)
        return found.changed(metric=self.first.metric, key=self.first.key)


# Documents without names are numbered: from 0 or from 1, as numbers or as text.


def numbering(ids: Sequence[Any]) -> tuple[int, bool] | None:
    """From where these ids are counted, and whether as text; None where they are names."""
    for first in (0, 1):
        for text in (False, True):
            if list(ids) == numbered(first, text, len(ids)):
                return first, text
    return None


def numbered(first: int, text: bool, count: int) -> list[Any]:
    """So many ids of documents without names."""
    places = range(first, first + count)
    return list(map(str, places)) if text else list(places)


@dataclass
class Remarks:
    """What parts say, each sort of it once: remarks that differ only in numbers and quoted words are of one sort."""

    sorts: dict[str, tuple[str, int, bool]] = field(default_factory=dict)
    """By sort the first remark, how many there are, and whether all are the same."""

    def add(self, remarks: Iterable[str]) -> None:
        for text in remarks:
            sort = re.sub(r'"[^"]*"|\'[^\']*\'|[\d,]+', "#", text)
            self._count(sort, text, 1, True)

    def merge(self, other: Remarks) -> None:
        for sort, (first, times, same) in other.sorts.items():
            self._count(sort, first, times, same)

    def _count(self, sort: str, text: str, times: int, same: bool) -> None:
        first, before, alike = self.sorts.get(sort, (text, 0, True))
        self.sorts[sort] = first, before + times, alike and same and first == text

    def texts(self) -> tuple[str, ...]:
        return tuple(
            first if same else f"in {times:,} parts, the first of them: {first}"
            for first, times, same in self.sorts.values()
        )


def merged_fields(first: FieldSums | None, second: FieldSums | None) -> FieldSums | None:
    """The sums of both by path."""
    if first is None or second is None:
        return None
    out = dict(first)
    for path, (units, diagnostic) in second.items():
        known = out.get(path)
        out[path] = (units if known is None else merged(known[0], units), diagnostic)
    return out


def merged_labels(first: LabelSums | None, second: LabelSums | None) -> LabelSums | None:
    """The sums of both by label; None where one has none, or those of another path."""
    if first is None or second is None or first.path != second.path:
        return None
    out = LabelSums(first.path, dict(first.sums))
    for label, (units, support) in second.sums.items():
        out.add(label, units, support)
    return out


def _sum(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def agreed_sums(one: dict[str, Sum], other: dict[str, Sum]) -> tuple[dict[str, Sum], dict[str, Sum]]:
    """Sums of the same metrics, as `agreed` has it."""
    sides = one, other
    accounts = agreed(
        *({name: part.account for name, part in side.items() if part.account is not None} for side in sides)
    )
    out = []
    for mine, theirs, found in zip(sides, (other, one), accounts, strict=True):
        if all(name in mine and mine[name].account is account for name, account in found.items()):
            out.append(mine)
        else:
            any_of = next(iter(mine.values()))
            out.append(
                {name: replace(any_of, account=account, first=theirs[name].first) for name, account in found.items()}
            )
    return out[0], out[1]

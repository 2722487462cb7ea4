"""Errors grouped: for each field the kinds of wrong value with their counts, examples and remedies, the most frequent pairs, and which
value was taken for which.

    errors = result.grouped_errors()
    errors.fields["total"].groups[0]        Group(kind="rounding", count=41, examples=(...), remedy={"number": {"absolute": 0.5}})
    errors.as_dict(), errors.tables()

The values are those of the alignment that the score is the sum of, so the groups of a field add up to what the table by field calls
wrong, missing and extra there. Only where items of a list met nothing at all, plain values or records of which every field is wrong, what is
missing and what is extra in one list are paired if they are of one kind, and such a pair counts once (`paired`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from itertools import chain, islice, repeat
from types import NoneType
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.node import Node
from tallystick.engine.arrays import I64, Mask, among, distinct
from tallystick.engine.data import Data, Extended, Memory, Objects, split_surplus
from tallystick.engine.values import Surplus, Unfit
from tallystick.files.json_values import collector_paused
from tallystick.frozen import frozen
from tallystick.results.kinds import KINDS, PRIORITY, kinds_of, number_keys, plain_keys, remedy, spelled
from tallystick.results.leaves import Layer, Trail, align, has_alternatives
from tallystick.results.tables import shorten, shorten_both
from tallystick.show.tables import Table

EXAMPLES = 3
FEW = 12
"""A field with so many different values has a table of which was taken for which."""
PROBE = 100
"""So many pairs are looked at first to see whether they are so few."""
MANY = 1000
"""Where a field has more different values, none of them is looked for an alias."""
OFTEN = 3
"""So often one value has to stand for another to be its alias."""
WIDEST = 40
"""What is missing and what is extra in one list is paired in lists of so many."""
MISSING, EXTRA = ENDS = "(missing)", "(extra)"


@frozen
class Example:
    """A wrong value: its document, its path with the places of items, and both sides."""

    document: Any
    path: str
    reference: Any
    predicted: Any


@frozen
class Group:
    """The wrong values of one kind in one field; `remedy` is the choice that would forgive them, as choices.yaml has it."""

    field: str
    kind: str
    count: int
    examples: tuple[Example, ...]
    remedy: Any = None

    @property
    def means_same(self) -> bool:
        """Whether these are the right values, spelled otherwise."""
        return KINDS[self.kind].means_same

    @property
    def says(self) -> str:
        """What the kind is, in words."""
        return KINDS[self.kind].says

    @property
    def advice(self) -> str:
        """What else can be done, where no choice helps."""
        return KINDS[self.kind].advice

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "says": self.says,
            "count": self.count,
            "means_same": self.means_same,
            "remedy": self.remedy,
            "advice": self.advice,
            "examples": [vars(one) for one in self.examples],
        }


@frozen
class FieldErrors:
    """What is wrong in one field: groups, the most frequent first; pairs of values with their counts; which value was taken for which."""

    field: str
    groups: tuple[Group, ...]
    pairs: tuple[tuple[Any, Any, int], ...] = ()
    confusion: tuple[tuple[Any, Any, int], ...] = ()
    """Reference, predicted and how often, right ones too; none where a field has many values."""
    documents: tuple[Any, ...] = ()
    """In which documents it is wrong."""
    paired: int = 0
    """How many of these are something missing and something extra in one list that belong together."""

    @property
    def count(self) -> int:
        """How many values are wrong, missing or extra."""
        return sum(group.count for group in self.groups)

    def as_dict(self) -> dict[str, Any]:
        named = ("reference", "predicted", "count")
        return {
            "field": self.field,
            "count": self.count,
            "groups": [group.as_dict() for group in self.groups],
            "pairs": [dict(zip(named, pair, strict=True)) for pair in self.pairs],
            **({"confusion": [dict(zip(named, one, strict=True)) for one in self.confusion]} if self.confusion else {}),
        }


@frozen
class Errors:
    """What is wrong, by field; the field with most errors first."""

    fields: dict[str, FieldErrors]
    first: int | None = None
    """Of so many documents only, the first ones; None: of all."""

    @property
    def groups(self) -> list[Group]:
        """The groups of all fields."""
        return [group for one in self.fields.values() for group in one.groups]

    def counts(self) -> dict[str, int]:
        """How many values are of each kind, over all fields."""
        found: Counter[str] = Counter()
        for group in self.groups:
            found[group.kind] += group.count
        return {kind: found[kind] for kind in KINDS if kind in found}

    def as_dict(self) -> dict[str, Any]:
        return {"kinds": self.counts(), "fields": [one.as_dict() for one in self.fields.values()]}

    def tables(self, rows: int | None = 20) -> list[Table]:
        """Groups, frequent pairs, and which value was taken for which."""
        groups = self.groups
        largest = sorted(groups, key=lambda group: -group.count)[:rows]
        listed = [group for group in groups if any(group is one for one in largest)]
        more = (
            f", the {len(listed):,} largest of {len(groups):,} groups (--rows N, in Python rows=N)"
            if len(listed) < len(groups)
            else ""
        )
        found = [
            Table(
                ["field", "kind", "values", "reference", "predicted", "remedy"],
                [[one.field, one.kind, one.count, *_shown(one.examples[0]), _cure(one)] for one in listed],
                f"Kinds of error{more}",
                [f"{kind}: {KINDS[kind].says}." for kind in self.counts() if kind in {one.kind for one in listed}],
            )
        ] if groups else []  # fmt: skip
        pairs = [(one.field, *pair) for one in self.fields.values() for pair in one.pairs]
        often = sorted(pairs, key=lambda pair: -pair[3])[:rows]
        if often:
            shown = [[name, *shorten_both(a, b, 50), count] for name, a, b, count in often]
            found.append(Table(["field", "reference", "predicted", "times"], shown, "Most frequent pairs"))
        taken = "Which value of {} was taken for which"
        few = (one for one in self.fields.values() if one.confusion)
        return [*found, *(confusion_table(one.confusion, taken.format(one.field)) for one in few)]


def _shown(one: Example) -> tuple[str, str]:
    if one.reference is not None and one.predicted is not None:
        return shorten_both(one.reference, one.predicted, 40)
    left, right = ("–" if value is None else shorten(value, 40) for value in (one.reference, one.predicted))
    return left, right


def _cure(group: Group) -> str:
    return "–" if group.remedy is None else spelled(group.remedy)


def confusion_table(confusion: Iterable[tuple[Any, Any, int]], title: str) -> Table:
    """Reference values by predicted ones; what is missing and extra at the ends."""
    counts = {(str(a), str(b)): count for a, b, count in confusion}
    rows, columns = (sorted({pair[side] for pair in counts}, key=lambda name: (name in ENDS, name)) for side in (0, 1))
    return Table(
        ["true \\ predicted", *columns],
        [[row, *(counts.get((row, column), 0) for column in columns)] for row in rows],
        title,
    )


# Grouping: over documents in portions, each different pair looked at once.


@dataclass(slots=True)
class _Entry:
    reference: Any
    predicted: Any
    count: int = 0
    places: list[tuple[Any, str]] = field(default_factory=list)


@dataclass
class _Field:
    """What is known of one field so far."""

    entries: dict[tuple[str, Any, Any], _Entry] = field(default_factory=dict)
    documents: dict[Any, None] = field(default_factory=dict)
    met: Counter[tuple[Any, Any]] | None = field(default_factory=Counter)
    """Which value met which, as long as the values are few."""
    known: set[Any] | None = field(default_factory=set)
    """The values of the reference, as long as they are not too many."""
    paired: int = 0

    def see(self, values: Iterable[Any]) -> None:
        """Some values of the reference."""
        if self.known is not None:
            self.known.update(_different(values))
            self.known = self.known if len(self.known) <= MANY else None

    def meet(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Some values that met, or stood alone."""
        if self.met is not None:
            self.met.update(pairs)
            if len(set(chain.from_iterable(self.met))) > FEW + 2:
                self.met = None

    def join(self, later: _Field, examples: int | None) -> None:
        """Add what is known of the field from documents behind these."""
        self.documents.update(later.documents)
        self.paired += later.paired
        self.met = None if later.met is None else self.met
        self.meet(later.met or ())
        self.known = None if self.known is None or later.known is None else self.known | later.known
        self.see(())
        for key, entry in later.entries.items():
            same = self.entries.setdefault(key, _Entry(entry.reference, entry.predicted))
            same.count += entry.count
            same.places += entry.places[: None if examples is None else examples - len(same.places)]


class Grouping:
    """Errors as they come, document by document. `examples` of each different pair are kept, None: all; of many documents the first are
    looked at, about as many as `most` says."""

    def __init__(self, examples: int | None = EXAMPLES, most: float = math.inf) -> None:
        self.examples, self.most = examples, most
        self.seen, self.partial = 0, False
        self._fields: dict[str, _Field] = {}
        self._kinds: dict[tuple[Any, Any], str] = {}

    def add(
        self, metric: Node, reference: Data, predicted: Data, ids: Sequence[Any], aligned: Sequence[Layer] | None = None
    ) -> None:
        """The errors of some documents; `aligned` are the alignments that they were scored by, slice by slice."""
        if self.seen >= self.most:
            self.partial = True
            return
        self.seen += len(ids)
        with collector_paused():
            self._add(metric, reference, predicted, ids, aligned)

    def _add(
        self, metric: Node, reference: Data, predicted: Data, ids: Sequence[Any], aligned: Sequence[Layer] | None
    ) -> None:
        start = 0
        for top in aligned or [align(metric, reference, predicted, Memory())]:
            here = ids[start : start + len(top.level.reference)]
            found = [_Wrong.of(leaf) for leaf in top.wholes()]
            self._look_at(some for one in found for some in (one._keyed, one.pairs(one.cells)))
            for one in found:
                one.pair_up(self._kinds)
            context = _Context(found)
            for one in found:
                self._add_leaf(one, context, here)
            self._add_empty(top.level, here)
            self._add_surplus(top.documents[1] if top.documents else predicted, here)
            start += len(here)

    def _field(self, path: str) -> _Field:
        found = self._fields.get(path)
        if found is None:
            found = self._fields[path] = _Field()
        return found

    def _note(
        self, path: str, kinds: Iterable[str], sides: tuple[Sequence[Any], Sequence[Any]], documents: Sequence[Any], where: Iterable[str]
    ) -> None:  # fmt: skip
        """Some errors in one field: of each its kind, both sides, its document and its place."""
        known = self._field(path)
        known.documents.update(dict.fromkeys(documents))
        keys = (_all_hashable(side) for side in sides)
        for kind, left, right, reference, predicted, document, place in zip(
            kinds, *keys, *sides, documents, where, strict=False
        ):
            entry = known.entries.get((kind, left, right))
            if entry is None:
                entry = known.entries[kind, left, right] = _Entry(reference, predicted)
            entry.count += 1
            if self.examples is None or len(entry.places) < self.examples:
                entry.places.append((document, place))

    def _add_leaf(self, found: _Wrong, context: _Context, ids: Sequence[Any]) -> None:
        leaf, values, alone = found.leaf, found.values, found.alone
        known, level = self._field(leaf.path), leaf.level
        known.see(values[0])
        for some in (slice(PROBE), slice(PROBE, None)):  # of many values the first ones tell that they are many
            if known.met is not None:
                rows = level.i[some].tolist(), level.j[some].tolist()
                ours, theirs = (_labels([side[k] for k in some]) for side, some in zip(values, rows, strict=True))
                known.meet(zip(ours, theirs, strict=True))
        known.paired += len(found.paired)
        of = [leaf.trails[0].documents.tolist(), leaf.trails[1].documents.tolist()]
        wrong = found.every
        if wrong:
            i, j = ([pair[side] for pair in wrong] for side in (0, 1))
            both = [values[0][k] for k in i], [values[1][k] for k in j]
            kinds = context.kinds(found, i, found.kinds(wrong, self._kinds))
            self._note(leaf.path, kinds, both, [ids[of[0][k]] for k in i], leaf.where(i, j))
        known.meet([(_label(values[0][i]), MISSING) for i in alone[0]])
        known.meet([(EXTRA, _label(values[1][j])) for j in alone[1]])
        self._add_alone(found, of, ids)

    def _add_alone(self, found: _Wrong, of: Sequence[Sequence[int]], ids: Sequence[Any]) -> None:
        """What is on one side only; `of` are the documents of the rows."""
        leaf = found.leaf
        valid = set(leaf.trails[1].top.tolist())
        for side, word in enumerate(("missing", "extra")):
            rows = found.alone[side]
            there = [found.values[side][k] for k in rows]
            kinds = [
                "invalid" if not side and of[0][k] not in valid else "empty" if _is_empty(value) else word
                for k, value in zip(rows, there, strict=True)
            ]
            nothing = [None] * len(rows)
            sides = (nothing, there) if side else (there, nothing)
            where = leaf.where(None, rows) if side else leaf.where(rows, None)
            self._note(leaf.path, kinds, sides, [ids[of[side][k]] for k in rows], where)

    def _look_at(self, some: Iterable[Iterable[KeyedPair]]) -> None:
        """Find the kinds of all pairs that are new, together."""
        new = {key: pair for pairs in some for key, pair in pairs if key not in self._kinds}
        self._kinds.update(zip(new, kinds_of(list(new.values())), strict=True))

    def _add_empty(self, documents: Aligned, ids: Sequence[Any]) -> None:
        """Something empty on one side, and nothing at all on the other, or no prediction."""
        valid = set(documents.i.tolist())
        for path, *sides in documents.node.one_sided(documents):
            for side, rows in enumerate(sides):
                pair: tuple[Any, Any] = ([], None) if side == 0 else (None, [])
                for row in rows.tolist():
                    kind = "empty" if row in valid else "invalid"
                    self._note(path, [kind], ([pair[0]], [pair[1]]), [ids[row]], [path])

    def _add_surplus(self, predicted: Data, ids: Sequence[Any]) -> None:
        """What no value of the reference can meet."""
        if isinstance(predicted, Objects):
            for row, value in enumerate(predicted.values):
                for path, leaf in value.leaves if type(value) is Surplus else ():
                    self._note(path, ["extra"], ([None], [_plain(leaf)]), [ids[row]], [path])
        elif isinstance(predicted, Extended):
            for path, counts in split_surplus(predicted)[1].items():
                rows = np.repeat(np.arange(len(counts)), counts).tolist()
                self._note(
                    path,
                    repeat("extra"),
                    (nothing := [None] * len(rows), nothing),
                    [ids[row] for row in rows],
                    repeat(path),
                )

    # Adding

    def join(self, later: Grouping) -> None:
        """Add the errors of documents behind these, grouped elsewhere."""
        if self.seen >= self.most and later.seen:
            self.partial = True
            return
        self.seen, self.partial = self.seen + later.seen, self.partial or later.partial
        for path, one in later._fields.items():
            self._field(path).join(one, self.examples)

    def __getstate__(self) -> dict[str, Any]:
        """Without the kinds that were found: they can be found again."""
        return {**vars(self), "_kinds": {}}

    # What it came to

    def errors(self) -> Errors:
        """Everything so far, grouped."""
        found = [self._grouped(path, one) for path, one in self._fields.items() if one.entries]
        fields = {one.field: one for one in sorted(found, key=lambda one: (-one.count, one.field))}
        return Errors(fields, self.seen if self.partial else None)

    def _grouped(self, path: str, known: _Field) -> FieldErrors:
        kinds: dict[str, list[_Entry]] = {}
        names = _find_aliases(known)
        for key, entry in known.entries.items():
            kinds.setdefault("alias" if key in names else key[0], []).append(entry)
        groups = [self._group(path, kind, entries) for kind, entries in kinds.items()]
        both = [
            entry
            for kind, entries in kinds.items()
            if kind not in ("missing", "extra", "invalid", "empty")
            for entry in entries
        ]
        often = sorted((entry for entry in both if entry.count > 1), key=_most_first)
        pairs = tuple((entry.reference, entry.predicted, entry.count) for entry in often[:10])
        met = known.met or Counter()
        few = bool(both) and 2 * len({value for pair in met for value in pair} - {*ENDS}) <= met.total()
        confusion = tuple((a, b, count) for (a, b), count in sorted(met.items(), key=lambda one: str(one[0])))
        groups.sort(key=lambda group: (-group.count, PRIORITY[group.kind]))
        documents = tuple(sorted(known.documents, key=str))
        return FieldErrors(path, tuple(groups), pairs, confusion if few else (), documents, known.paired)

    def _group(self, path: str, kind: str, entries: list[_Entry]) -> Group:
        every = self.examples is None or callable(
            KINDS[kind].remedy
        )  # what is made of all pairs is made of them in order
        first = sorted(entries, key=_most_first) if every else nsmallest(self.examples or 0, entries, key=_most_first)
        places = (
            Example(document, where, entry.reference, entry.predicted)
            for entry in first
            for document, where in (entry.places[:1] if self.examples is not None and len(entries) >= self.examples else entry.places)
        )  # fmt: skip
        cure = remedy(kind, ((entry.reference, entry.predicted) for entry in first))
        return Group(path, kind, sum(entry.count for entry in entries), tuple(islice(places, self.examples)), cure)


def _most_first(entry: _Entry) -> tuple[int, str, str]:
    """By count, and whatever the order in which documents were looked at."""
    document, where = entry.places[0]
    return -entry.count, str(document), where


def _find_aliases(known: _Field) -> set[tuple[str, Any, Any]]:
    """The pairs in which one value always stands for one other."""
    if known.known is None:
        return set()
    wrong: dict[Any, Counter[Any]] = {}
    for (kind, reference, predicted), entry in known.entries.items():
        if kind not in ("missing", "extra", "invalid", "empty"):
            wrong.setdefault(predicted, Counter())[reference] += entry.count
    return {
        key
        for key, entry in known.entries.items()
        if key[0] in ("nowhere", "elsewhere")
        and entry.count >= OFTEN
        and isinstance(entry.reference, str)
        and isinstance(entry.predicted, str)
        and key[2] not in known.known
        and len(wrong[key[2]]) == 1
    }


KeyedPair = tuple[tuple[Any, Any], tuple[Any, Any]]
"""What two values are known by, and the values."""


@dataclass
class _Wrong:
    """What is wrong at one leaf: pairs that met, rows that stand alone, and of these the ones that may belong together, which are then
    `paired` by their kind."""

    leaf: Layer
    values: tuple[Sequence[Any], Sequence[Any]]
    several: bool
    """Whether the reference may hold several right values."""
    wrong: list[tuple[int, int]]
    alone: list[list[int]]
    cells: list[tuple[int, int]]
    paired: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, leaf: Layer) -> _Wrong:
        level = leaf.level
        values = _all_plain(leaf.values[0]), _all_plain(leaf.values[1])
        wrong = sorted(zip(level.i[~leaf.right].tolist(), level.j[~leaf.right].tolist(), strict=True))
        alone = [leaf.alone(0), leaf.alone(1)]
        cells = [
            (i, j)
            for ours, theirs in leaf.lists(alone)
            if len(ours) <= WIDEST and len(theirs) <= WIDEST
            for i in ours
            for j in theirs
            if _hashable(values[0][i]) != _hashable(values[1][j])
        ]
        return cls(leaf, values, has_alternatives(level.node), wrong, alone, cells)

    @cached_property
    def every(self) -> list[tuple[int, int]]:
        """All that is wrong, once what stands alone is paired."""
        return sorted([*self.wrong, *self.paired]) if self.paired else self.wrong

    @cached_property
    def _keyed(self) -> list[KeyedPair]:
        return list(self.pairs(self.wrong))

    @cached_property
    def keys(self) -> Sequence[Any]:
        """What the predicted values of `every` are known by."""
        return plain_keys([self.values[1][j] for _, j in self.every])

    def pairs(self, some: Sequence[tuple[int, int]]) -> Iterator[KeyedPair]:
        """The values of some pairs of rows; of several right values each."""
        ours, theirs = ([self.values[side][pair[side]] for pair in some] for side in (0, 1))
        if not self.several:
            return zip(
                zip(_all_hashable(ours), _all_hashable(theirs), strict=True),
                zip(ours, theirs, strict=True),
                strict=True,
            )
        return (
            ((_hashable(one), _hashable(predicted)), (one, predicted))
            for reference, predicted in zip(ours, theirs, strict=True)
            for one in _options(reference)
        )

    def kinds(self, some: Sequence[tuple[int, int]], known: Mapping[tuple[Any, Any], str]) -> list[str]:
        """The kind of each of some pairs of rows, as far as the two values say; of several right values the first one."""
        if not self.several:
            return [known[key] for key, _ in (self._keyed if some is self.wrong else self.pairs(some))]
        return [
            min(
                (known[_hashable(one), _hashable(self.values[1][j])] for one in _options(self.values[0][i])),
                key=lambda kind: PRIORITY.get(kind, len(PRIORITY)),
                default="",
            )
            for i, j in some
        ]

    def pair_up(self, known: Mapping[tuple[Any, Any], str]) -> None:
        """Pair what is missing and what is extra in one list and belongs together by its kind, and take it out of `alone`: plain
        values, and values that mean the same of items that met nothing, since all of their fields are wrong."""
        plain = self.leaf.trails[0].step == "[*]"
        kinds = zip(self.kinds(self.cells, known), self.cells, strict=True)
        used: tuple[set[int], set[int]] = set(), set()
        fits = ((PRIORITY[kind], i, j) for kind, (i, j) in kinds if kind and (plain or KINDS[kind].means_same))
        for _, i, j in sorted(fits):
            if i not in used[0] and j not in used[1]:
                self.paired.append((i, j))
                used[0].add(i)
                used[1].add(j)
        for side in (0, 1):
            self.alone[side] = [row for row in self.alone[side] if row not in used[side]]


class _Context:
    """What else stands in the documents: the other fields of a record, the same field of other items, and everything."""

    def __init__(self, leaves: Sequence[_Wrong]) -> None:
        self.leaves = leaves
        self._siblings: dict[int, list[_Wrong]] = {}
        for one in leaves:
            if one.leaf.trails[0].above is not None:
                self._siblings.setdefault(id(_of_record(one.leaf.trails[0])), []).append(one)
        self._coded: dict[int, I64] = {}
        self._there: dict[tuple[int, str], I64] = {}

    @cached_property
    def _codes(self) -> dict[Any, int]:
        """What the wrong values are known by, numbered."""
        found = chain.from_iterable(one.keys for one in self.leaves)
        return {key: code for code, key in enumerate(dict.fromkeys(found).keys() - {None})}

    def kinds(self, of: _Wrong, rows: Sequence[int], found: Sequence[str]) -> list[str]:
        """The kind of each wrong value at a leaf, given its row in the reference, and what its two sides alone make it."""
        out = list(found)
        open_ = [k for k, kind in enumerate(out) if not kind or PRIORITY[kind] >= PRIORITY["swapped"]]
        keys = [of.keys[k] for k in open_]
        codes = np.fromiter(map(self._codes.get, keys, repeat(-1)), np.int64, len(keys))
        trail = of.leaf.trails[0]
        where = np.fromiter((rows[k] for k in open_), np.int64, len(open_))
        record, document = trail.records[where], trail.documents[where]
        others = [one for one in self._siblings.get(id(_of_record(trail)), ()) if one is not of]
        swapped = np.zeros(len(open_), np.bool_)
        for one in others:
            swapped |= self._has(self._values_of(one, "record"), record, codes)
        here = self._has(self._values_of(of, "document"), document, codes)
        anywhere = self._has(self._everywhere, document, codes)
        for k, key, is_swapped, is_here, is_anywhere, *at in zip(
            open_,
            keys,
            swapped.tolist(),
            here.tolist(),
            anywhere.tolist(),
            record.tolist(),
            codes.tolist(),
            strict=True,
        ):
            if is_swapped and (_says_something(key) or any(self._is_wrong(one, *at) for one in others)):
                out[k] = "swapped"
            elif is_here:
                out[k] = "item"
            elif not out[k]:
                out[k] = "elsewhere" if is_anywhere else "nowhere"
        return out

    def _is_wrong(self, one: _Wrong, record: int, code: int) -> bool:
        """Whether a record has this value at a leaf, and it is not found there."""
        rows = np.flatnonzero((one.leaf.trails[0].records == record) & (self._codes_at(one) == code))
        return any(not one.leaf.right[one.leaf.level.i == row].any() for row in rows)

    def _has(self, there: I64, places: I64, codes: I64) -> Mask:
        """Which of these values some records or documents have."""
        return among(places * len(self._codes) + codes, there) & (codes >= 0)

    def _values_of(self, one: _Wrong, what: str) -> I64:
        """What the reference has at a leaf and somebody looks for: records or documents with the numbers of values, in order."""
        there = self._there.get((id(one), what))
        if there is None:
            trail, known = one.leaf.trails[0], self._codes_at(one)
            at, some = trail.records if what == "record" else trail.documents, known >= 0
            there = self._there[id(one), what] = np.sort(at[some] * len(self._codes) + known[some])
        return there

    @cached_property
    def _everywhere(self) -> I64:
        return distinct(np.concatenate([self._values_of(one, "document") for one in self.leaves]))

    def _codes_at(self, one: _Wrong) -> I64:
        """The numbers of the values that the reference has at a leaf; -1 if nobody looks for one."""
        found = self._coded.get(id(one))
        if found is None:
            found = self._coded[id(one)] = number_keys(one.values[0], self._codes)
        return found


def _of_record(trail: Trail) -> Trail | None:
    """The level of the record that a leaf is a field of."""
    return trail.above if trail.above is None or not trail.step.startswith("<") else _of_record(trail.above)


def _says_something(key: Any) -> bool:
    """Whether it is no accident that two fields have a value: a text of two letters, a number of three digits."""
    if isinstance(key, str):
        return len(key) >= 2
    return len(f"{key:.9g}".replace(".", "").replace("-", "").strip("0")) >= 3


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Unfit) else value


def _all_plain(values: Sequence[Any]) -> Sequence[Any]:
    return (
        [_plain(value) for value in values] if any(issubclass(one, Unfit) for one in set(map(type, values))) else values
    )


def _different(values: Iterable[Any]) -> Iterable[Any]:
    """Some values as something to look them up by, each once or more often."""
    values = list(values)
    kinds = set(map(type, values))
    try:
        if len(kinds) == 1:
            return list(zip(repeat(kinds.pop().__name__), set(values)))
        return [(one.__name__, value) for one, value in set(zip(map(type, values), values, strict=True))]
    except TypeError:
        return map(_hashable, values)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return type(value).__name__, repr(value)
    return type(value).__name__, value


def _all_hashable(values: Sequence[Any]) -> list[Any]:
    """`_hashable` of each."""
    kinds = set(map(type, values))
    if not kinds <= {str, int, float, bool, NoneType}:
        return [_hashable(value) for value in values]
    if len(kinds) == 1:
        return list(zip(repeat(kinds.pop().__name__), values))
    return [(type(value).__name__, value) for value in values]


def _label(value: Any) -> Any:
    """A value as the head of a row or column; values that are no plain ones all look different."""
    return value if isinstance(value, (str, int, float, bool)) else repr(value)


def _labels(values: Sequence[Any]) -> Sequence[Any]:
    return values if set(map(type, values)) <= {str, int, float, bool} else [_label(value) for value in values]


def _options(reference: Any) -> Sequence[Any]:
    """The values that are right."""
    return reference if isinstance(reference, (list, tuple)) else (reference,)


def _is_empty(value: Any) -> bool:
    return (isinstance(value, str) and not value.strip()) or (isinstance(value, (list, tuple, dict)) and not value)


def group_errors(
    metric: Node, sources: Iterable[tuple[Data, Data]], ids: Sequence[Any], examples: int | None = EXAMPLES
) -> Errors:
    """The errors of documents that are at hand."""
    grouping, start = Grouping(examples), 0
    for reference, predicted in sources:
        grouping.add(metric, reference, predicted, ids[start : start + len(reference)])
        start += len(reference)
    return grouping.errors()


def confusion_at(metric: Node, sources: Iterable[tuple[Data, Data]], path: str) -> list[tuple[Any, Any, int]]:
    """Which value at one path was taken for which, right ones too, and how often; none if no two different ones met."""
    met: Counter[tuple[Any, Any]] = Counter()
    differ = False
    for sides in sources:
        top = align(metric, *sides, Memory())
        for leaf in top.wholes():
            if leaf.path == path:
                ours, theirs = ([_label(_plain(value)) for value in side] for side in leaf.values)
                differ = differ or not leaf.right.all()
                met.update(
                    (ours[i], theirs[j]) for i, j in zip(leaf.level.i.tolist(), leaf.level.j.tolist(), strict=True)
                )
                met.update((ours[i], MISSING) for i in leaf.alone(0))
                met.update((EXTRA, theirs[j]) for j in leaf.alone(1))
    return [(a, b, count) for (a, b), count in sorted(met.items(), key=lambda one: str(one[0]))] if differ else []

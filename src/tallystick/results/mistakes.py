"""What went wrong, kind by kind: how often, where, and what each figure would be if one kind were repaired.

A task finds its mistakes (`Task.find_mistakes`), and each carries its *mend*: the changes to the predicted document that repair this
mistake and nothing else. A change is a path into the document and what becomes of the value there:

    RelationSet(relations=(Relation("born_in", ...), ...))       ("relations", 0, "type"): put("spouse")       another type
                                                                 ("relations", 0): removed                     a relation less
                                                                 ("relations",): added(Relation(...))          a relation more

Changes deeper inside come first, so that those of several mistakes go together: a boundary that moves, and then two arguments that
are exchanged. Figures "if mended" come from the mended documents, scored again with the same settings; nothing is estimated.

Counts, places, figures if mended, --errors, `results.errors()`, JSON and the report are made from that. A task without errors so far declares
`kinds`, `find_mistakes` and, if its corpus holds no `Paired` documents, `mend`; `evaluate` scores a mended corpus. `python -m
benchmarks.mended` and tests/tasks/test_mended.py hold the figures equal to those of the mended file, and 1 once all is mended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, is_dataclass, replace
from typing import Any, NamedTuple

from tallystick.errors import Place
from tallystick.frozen import frozen
from tallystick.show.tables import Table, Tables

Figures = Mapping[str, Mapping[str, float | None]]
"""The figures of each metric."""
Change = Callable[[Any], Any]
Edit = tuple[tuple[Any, ...], Change]
"""Where in a document, by fields and places, and what becomes of the value there."""

LISTED = 20
"""So many errors are listed unless asked otherwise."""


class Told:
    """A text, or what makes it: it is made when somebody asks for it. Of many mistakes few are looked at."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, mistake: Any, owner: type | None = None) -> str | None:
        if mistake is None:
            return None
        known = mistake.__dict__
        if callable(known[self.name]):
            known[self.name] = known[self.name]()
        return known[self.name]  # type: ignore[no-any-return]

    def __set__(self, mistake: Any, value: str | Callable[[], str] | None) -> None:
        mistake.__dict__[self.name] = value


@frozen
class Mistake:
    """One error: its kind, its document and place, what each side has (None where it has nothing), and its mend."""

    kind: str
    document: Any
    reference: Told = Told()
    predicted: Told = Told()
    where: str = ""
    """The place in the document: "tokens 3–5"."""
    text: str = ""
    """What stands around it, where the text is known."""
    place: Place | None = None
    """File and line, where the reader knows them."""
    label: str = ""
    """What it is about: a role, a slot, a type."""
    edits: tuple[Edit, ...] = field(default=(), repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "reference": self.reference, "predicted": self.predicted}

    @property
    def found_at(self) -> str:
        """Its place in words."""
        line = f"line {self.place.line}" if self.place is not None and self.place.line else ""
        return ", ".join(filter(None, (str(self.document), line, self.where)))

    def as_dict(self) -> dict[str, Any]:
        place = {} if self.place is None else {"file": self.place.file, "line": self.place.line}
        said = {name: getattr(self, name) for name in ("reference", "predicted", "where", "text")}
        label = {"label": self.label} if self.label else {}
        return {"kind": self.kind, "document": self.document, **place, **label, **said}


class Made(NamedTuple):
    """The mistakes of one kind: how many, the documents that have one, and what makes each of them."""

    many: int
    documents: frozenset[Any]
    make: Callable[[int], Mistake]


class Many(Sequence[Mistake]):
    """Mistakes without labels, kind by kind, each made when somebody looks at it."""

    def __init__(self, kinds: Mapping[str, Made]) -> None:
        self.kinds = {kind: made for kind, made in kinds.items() if made.many}

    def of(self, kind: str) -> Many:
        """Those of one kind."""
        return Many({kind: self.kinds[kind]} if kind in self.kinds else {})

    @property
    def documents(self) -> frozenset[Any]:
        """The documents that have one."""
        return frozenset[Any]().union(*(made.documents for made in self.kinds.values()))

    def __len__(self) -> int:
        return sum(made.many for made in self.kinds.values())

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        for made in self.kinds.values():
            if place < made.many:
                break
            place -= made.many
        return made.make(place)


def group_mistakes(mistakes: Sequence[Mistake], kinds: Iterable[str]) -> dict[str, Sequence[Mistake]]:
    """The mistakes of each of these kinds, in order."""
    if isinstance(mistakes, Many):
        return {kind: mistakes.of(kind) for kind in kinds}
    out: dict[str, list[Mistake]] = {kind: [] for kind in kinds}
    for one in mistakes:
        out[one.kind].append(one)
    return {**out}


def documents_of(mistakes: Sequence[Mistake]) -> Collection[Any]:
    """The documents that some mistakes are in."""
    return mistakes.documents if isinstance(mistakes, Many) else {one.document for one in mistakes}


# Mending a document


class _Removed:
    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = _Removed()
"""What becomes of a value that is taken out of its collection or record."""


def put(value: Any) -> Change:
    """This value instead."""
    return lambda _: value


def removed(_: Any) -> Any:
    """Nothing instead."""
    return REMOVED


def added(*items: Any) -> Change:
    """These items more."""
    return lambda known: (*known, *items)


def changed(**fields: Any) -> Change:
    """Other values in some fields of a record."""
    return lambda record: replace(record, **fields)


def mend(value: Any, edits: Iterable[Edit]) -> Any:
    """A document after some edits, those deeper inside first."""
    here: list[Change] = []
    below: dict[Any, list[Edit]] = {}
    for path, change in edits:
        if path:
            below.setdefault(path[0], []).append((path[1:], change))
        else:
            here.append(change)
    if below:
        value = _with_parts(value, {step: mend(_part(value, step), some) for step, some in below.items()})
    for change in here:
        value = change(value)
    return value


def _part(value: Any, step: Any) -> Any:
    if is_dataclass(value):
        return getattr(value, step)
    return value.get(step, REMOVED) if isinstance(value, Mapping) else value[step]


def _with_parts(value: Any, parts: Mapping[Any, Any]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **parts)
    if isinstance(value, Mapping):
        return {key: one for key, one in {**value, **parts}.items() if one is not REMOVED}
    items = (parts.get(k, one) for k, one in enumerate(value))
    return type(value)(one for one in items if one is not REMOVED)


# What is shown


@frozen
class Kind:
    """One kind of error: what it is, how often and in how many documents it occurs, and the figures if it were mended."""

    kind: str
    says: str
    count: int
    documents: int
    mended: Figures

    def as_dict(self, mistakes: Sequence[Mistake]) -> dict[str, Any]:
        return {**vars(self), "examples": [one.as_dict() for one in mistakes if one.kind == self.kind]}


@frozen
class Found:
    """What was found in a prediction: the figures as they are, every mistake, each kind, the figures without any mistake, and tables
    of the task's own."""

    figures: Figures
    headlines: Mapping[str, str]
    """The figure that each metric is named after."""
    mistakes: Sequence[Mistake] = ()
    kinds: tuple[Kind, ...] = ()
    mended: Figures = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    label: str = ""
    """What the labels of its mistakes are: roles, slots, types."""


def count_kinds(
    found: Found, says: Mapping[str, str], rescore: Callable[[Sequence[Mistake]], Figures], tables: Sequence[Table] = ()
) -> Found:
    """The mistakes by kind, each with the figures if it were mended, and if all were; `rescore` mends some and scores again."""
    kinds = tuple(
        Kind(kind, says[kind], len(own), len(documents_of(own)), rescore(own) if own else found.figures)
        for kind, own in group_mistakes(found.mistakes, says).items()
    )
    there = [kind.mended for kind in kinds if kind.count]
    mended = found.figures if not there else there[0] if len(there) == 1 else rescore(found.mistakes)
    return replace(found, kinds=kinds, mended=mended, tables=tuple(table for table in tables if table.rows))


class Analysis(Tables):
    """The errors of a prediction, as the tables that `--errors` prints: `kinds`, each with its figures if mended; all `mistakes`;
    `figures` as they are; and `mended`, the figures without any error."""

    def __init__(self, found: Found, rows: int | None = None) -> None:
        self.found, self.limit = found, rows
        super().__init__([self._kinds_table(), *self._labels_table(), *found.tables, *self._list_table()])

    @property
    def mistakes(self) -> Sequence[Mistake]:
        return self.found.mistakes

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return self.found.kinds

    @property
    def figures(self) -> Figures:
        return self.found.figures

    @property
    def mended(self) -> Figures:
        return self.found.mended

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data; examples are all mistakes, or as many as rows were asked for."""
        kept = self.mistakes if self.limit is None else self._chosen(self.limit)
        return {
            "count": len(self.mistakes),
            "figures": self.figures,
            "mended": self.mended,
            "kinds": [kind.as_dict(kept) for kind in self.kinds],
            "tables": [{"title": one.title, "columns": one.columns, "rows": one.rows} for one in self.found.tables],
        }

    def _columns(self) -> dict[str, tuple[str, str]]:
        """The figures that the table shows: all of a single metric; of several the main one of each that a mend changes."""
        if len(self.figures) == 1:
            metric, figures = next(iter(self.figures.items()))
            return {name: (metric, name) for name in figures}
        named = {metric: (metric, self.found.headlines[metric]) for metric in self.figures}
        changing = {name: of for name, of in named.items() if self._changes(*of)}
        return changing or named

    def _changes(self, metric: str, figure: str) -> bool:
        """Whether some mend changes a figure, or all of them together do."""
        now = self.figures[metric].get(figure)
        mended = (*(kind.mended for kind in self.kinds), self.mended)
        return any(one.get(metric, {}).get(figure) != now for one in mended)

    def _kinds_table(self) -> Table:
        columns = self._columns()

        def row(name: str, count: int | None, documents: int | None, figures: Figures) -> list[Any]:
            found = [figures.get(metric, {}).get(figure) for metric, figure in columns.values()]
            return [name, count, documents, *found]

        there = [kind for kind in self.kinds if kind.count]
        rows = [row(kind.kind, kind.count, kind.documents, kind.mended) for kind in there]
        if there:
            wrong = len(documents_of(self.mistakes))
            rows.insert(0, row("(as predicted)", None, None, self.figures))
            rows.append(row("(all of these)", len(self.mistakes), wrong, self.mended))
        notes = [f"{kind.kind}: {kind.says}." for kind in there]
        idle = [metric for metric in self.figures if metric not in {of[0] for of in columns.values()}]
        notes += [f"No repair changes {', '.join(idle)}."] if idle else []
        title = "Errors by kind, and the figures if one kind were repaired" if there else "Errors: none"
        return Table(["error", "count", "documents", *columns], rows, title, notes)

    def _labels_table(self) -> list[Table]:
        """How often each kind occurs with each label, the labels with most errors first."""
        counts: dict[str, Counter[str]] = {}
        for one in () if isinstance(self.mistakes, Many) else self.mistakes:
            if one.label:
                counts.setdefault(one.label, Counter())[one.kind] += 1
        shown = sorted(counts.items(), key=lambda one: -one[1].total())[: self.limit or LISTED]
        rows = [
            [label, found.total(), ", ".join(f"{kind} {count:,}" for kind, count in found.most_common())]
            for label, found in shown
        ]
        more = f", {len(shown):,} of {len(counts):,}" if len(shown) < len(counts) else ""
        name = self.found.label or "label"
        return [Table([name, "errors", "of these"], rows, f"Errors by {name}{more}")] if rows else []

    def _list_table(self) -> list[Table]:
        shown = self._chosen(self.limit or LISTED)
        if not shown:
            return []
        texts = any(one.text for one in shown)
        rows = [
            [one.kind, one.found_at, *("–" if side is None else side for side in (one.reference, one.predicted)), *([one.text] if texts else [])]
            for one in shown
        ]  # fmt: skip
        columns = ["error", "where", "reference", "predicted", *(["text"] if texts else [])]
        more = len(shown) < len(self.mistakes)
        notes = (
            ["Of each kind the first ones; --rows N (in Python rows=N) shows more, and JSON has them all."]
            if more
            else []
        )
        many = f", {len(shown):,} of {len(self.mistakes):,}" if more else ""
        return [Table(columns, rows, f"Where they are{many}", notes)]

    def _chosen(self, limit: int) -> list[Mistake]:
        """So many mistakes, as evenly over the kinds as can be; kind by kind, in the order of the documents."""
        counts = {kind.kind: kind.count for kind in self.kinds if kind.count}
        share: Counter[str] = Counter()
        left = min(limit, len(self.mistakes))
        while left:
            for kind in [kind for kind in counts if share[kind] < counts[kind]][:left]:
                share[kind] += 1
                left -= 1
        return [one for kind, own in group_mistakes(self.mistakes, counts).items() for one in own[: share[kind]]]


def around(words: Sequence[str], first: int, end: int, beside: int = 4) -> str:
    """The words [first, end) in brackets, with some beside them; nothing where they are not of this text."""
    if not 0 <= first < end <= len(words):
        return ""
    before, behind = words[max(0, first - beside) : first], words[end : end + beside]
    parts = [*(["…"] if first > beside else []), *before, f"[{' '.join(words[first:end])}]", *behind]
    return " ".join([*parts, *(["…"] if end + beside < len(words) else [])])


def offsets(left: int, right: int, unit: str = "token") -> str:
    """`token 3`, `tokens 3–5`: both ends inclusive."""
    return f"{unit} {left}" if left == right else f"{unit}s {left}–{right}"

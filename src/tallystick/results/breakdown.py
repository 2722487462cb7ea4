"""Figures by field and by label, from the alignment that the score is the sum of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned, align_documents
from tallystick.algebra.node import Node
from tallystick.algebra.records import Each
from tallystick.algebra.sets import Matching
from tallystick.engine.arrays import F64, I64, Column, Items, unshared
from tallystick.engine.data import (
    Data,
    Index,
    Memory,
    Nullable,
    Objects,
    Scope,
    as_objects,
    field,
    items,
    leaf_values,
    split_surplus,
)
from tallystick.engine.tally import Counts, Kind, Units, add_up, merged, rounded
from tallystick.errors import MetricError, did_you_mean
from tallystick.results.accounts import FieldSums, LabelSums
from tallystick.results.evaluation import kind_of, readable
from tallystick.results.result import FieldFigures, Figures, LabelFigures

Decide = Callable[[Mapping[str, F64]], Figures]
Sources = Iterable[tuple[Data, Data]]
ItemSums = Mapping[int, tuple[Sequence[Any], F64, I64]]
"""For each of the four sums the items that make it: the part that each belongs to, its weight and its document."""
ValueOf = Callable[[int, Sequence[Any], Sequence[int]], Sequence[Any]]
"""The values of items: from the side that has them (0: reference), the items, and the document of each."""


class NoCollection(MetricError):
    """A metric has no collection at a path."""


def _top(metric: Node, reference: Data, predicted: Data, memory: Memory, homes: bool = False) -> Aligned:
    inner = metric.aligned_by
    if inner is None:
        raise MetricError("a metric of two sides has no breakdown of its own; break down one of its expressions")
    valid, predicted = readable(predicted)
    r, p = inner.encode(reference, predicted, Scope(memory=memory))
    return align_documents(inner, r, p, valid=valid, homes=homes)


def figures_by_field(metric: Node, sources: Sources, decide: Decide, memory: Memory) -> list[FieldFigures]:
    """A row for each leaf of the metric, over all documents."""
    return field_figures(sums_by_field(metric, sources, memory), decide)


def sums_by_field(metric: Node, sources: Sources, memory: Memory) -> FieldSums:
    """What the figures of each path follow from."""
    sums: FieldSums = {}
    for reference, predicted in sources:
        add_documents(sums, _top(metric, reference, predicted, memory, homes=True))
        add_surplus(sums, split_surplus(predicted)[1])
    return sums


def add_documents(sums: FieldSums, documents: Aligned, leaves: Iterable[Aligned] | None = None) -> None:
    """Add what the fields of some documents earned and lost; `leaves` are theirs, if they are at hand."""
    _add(sums, documents.leaves() if leaves is None else leaves)
    for path, ours, theirs in documents.node.one_sided(documents):
        if len(ours) or len(theirs):
            n_r, n_p = float(len(ours)), float(len(theirs))
            _add_units(sums, path, add_up(np.array([[0, n_p, 0, n_r, 0, 0, n_r, n_p, 0, 0, 0]])))


def _add_units(sums: FieldSums, path: str, found: Units) -> None:
    known = sums.get(path)
    sums[path] = (found, False) if known is None else (merged(known[0], found), known[1])


def add_surplus(sums: FieldSums, surplus: Mapping[str, I64]) -> None:
    """Add what was predicted that nothing in the reference can meet."""
    for path, counts in surplus.items():
        _add_units(sums, path, add_up(np.array([[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0]]) * float(counts.sum())))


def _add(sums: FieldSums, levels: Iterable[Aligned]) -> None:
    for level in levels:
        known = sums.get(level.path)
        found = _field_sums(level)
        sums[level.path] = (found if known is None else merged(known[0], found), level.diagnostic)


def field_figures(sums: FieldSums, decide: Decide) -> list[FieldFigures]:
    """The figures of each path."""
    out = []
    for path, (units, diagnostic) in sums.items():
        num_p, den_p, num_r, den_r, aligned, right, n_r, n_p, met_r, met_p, alike = rounded(units).tolist()
        counts = np.array([num_p, den_p, num_r, den_r])
        out.append(
            FieldFigures(
                path=path or "(value)",
                figures=decide(Counts().figures(counts)),
                tally=dict(zip(Counts().sums, counts.tolist(), strict=True)),
                support=int(n_r),
                aligned=int(aligned),
                wrong=int(aligned - right),
                missing=int(n_r - met_r),
                extra=int(n_p - met_p),
                similarity=alike / aligned if aligned else None,
                diagnostic=diagnostic,
            )
        )
    return out


def losses_by_document(metric: Node, path: str, reference: Data, predicted: Data) -> F64:
    """What each document loses at one path: what both sides could have earned there, less what they did."""
    out = np.zeros(len(reference))
    documents = _top(metric, reference, predicted, Memory(), homes=True)
    paths = []
    for where, *empty in documents.node.one_sided(documents):
        if where == path and any(map(len, empty)):
            paths.append(path)
            for rows in empty:
                out[rows] += 1
    for level in documents.leaves():
        paths.append(level.path or "(value)")
        if paths[-1] != path:
            continue
        assert level.homes is not None
        for side, home in zip((level.reference, level.predicted), level.homes, strict=True):
            np.add.at(out, home, level.node.selves(side) * level.scale)
        np.subtract.at(out, level.homes[0][level.i], 2 * level.weights * level.scale)
    surplus = split_surplus(predicted)[1]
    if path in surplus:
        out += surplus[path]
    elif path not in paths:
        raise MetricError(f"no field {path!r}; there are {', '.join(paths)}.{did_you_mean(path, paths)}")
    return out


# The same figures as rows of documents: what intervals and paired tests by field or label are made of.

MOST_CELLS = 200_000_000
"""How many sums of parts and documents are kept at most: 1.6 GB."""


def rows_by_field(metric: Node, sources: Sources, memory: Memory) -> PartRows:
    """By path what every document earned and could have earned there: arrays (documents, num_p den_p num_r den_r), whose sums are
    those of `figures_by_field`."""
    parts = PartRows()
    for reference, predicted in sources:
        documents = _top(metric, reference, predicted, memory, homes=True)
        for level in documents.leaves():
            assert level.homes is not None
            parts.add(level.path or "(value)", level.homes, _earned(level))
        for path, ours, theirs in documents.node.one_sided(documents):
            if len(ours) or len(theirs):
                ones = np.zeros(0), np.ones(len(theirs)), np.zeros(0), np.ones(len(ours))
                parts.add(path, (ours, theirs), ones)
        for path, counts in split_surplus(predicted)[1].items():
            parts.add_column(path, 1, counts)
        parts.first += len(reference)
    return parts


def rows_by_label(metric: Node, path: str, sources: Sources, memory: Memory) -> PartRows:
    """By label the same, as `figures_by_label` adds it up."""
    parts = PartRows()
    for reference, predicted in sources:
        level, labels = _labelled_items(metric, path, reference, predicted, memory)
        parts.add_items(_items_by_side(path, level, labels), len(reference))
    return parts


def rows_by_value(metric: Node, path: str, value_of: ValueOf, sources: Sources, memory: Memory) -> PartRows:
    """The same by any value that the items of the collection at a path (`relations[*]`) have: `value_of` says what it is. Of a
    metric of two sides each expression has its own."""
    parts = PartRows()
    by_side = metric.by_side
    for reference, predicted in sources:
        if by_side is None:
            found = _valued_items(metric, path, value_of, parts.first, reference, predicted, memory)
        else:
            one, two = (
                _valued_items(side, path, value_of, parts.first, reference, predicted, memory) for side in by_side
            )
            found = {column: (one, two)[column // 2][column] for column in range(4)}
        parts.add_items(found, len(reference))
    return parts


class PartRows:
    """Rows of parts, put together batch by batch; a part that a batch does not have is 0 there. `support` is how many of each the
    reference has."""

    def __init__(self) -> None:
        self.first = 0
        self.found: dict[Any, list[tuple[int, int, F64]]] = {}
        self.support: dict[Any, int] = {}

    def add(self, part: Any, homes: tuple[I64, I64], earned: tuple[F64, F64, F64, F64]) -> None:
        """What the rows of both sides earned and could have."""
        self.support[part] = self.support.get(part, 0) + len(earned[3])
        for column, values in enumerate(earned):
            home = homes[1] if column < 2 else homes[0]
            if len(values):
                self.add_column(part, column, np.bincount(home, values))

    def add_items(self, found: ItemSums, documents: int) -> None:
        """What the items of some more documents earned and could have, by the part that each belongs to."""
        for column, (parts_of, weights, homes) in found.items():
            order: dict[Any, list[int]] = {}
            for place, part in enumerate(parts_of):
                order.setdefault(part, []).append(place)
            for part, places in order.items():
                self.add_column(part, column, np.bincount(homes[places], weights[places], documents))
                self.support[part] += len(places) if column == 3 else 0
        self.first += documents

    def add_column(self, part: Any, column: int, values: Any) -> None:
        self.support.setdefault(part, 0)
        self.found.setdefault(part, []).append((self.first, column, np.asarray(values, np.float64)))

    def rows(self) -> dict[Any, F64]:
        """An array for each part."""
        if 4 * self.first * len(self.support) > MOST_CELLS:
            raise MetricError(
                f"{len(self.support):,} parts of {self.first:,} documents are too many to be tested one by one; choose a field "
                "with fewer values"
            )
        out = {}
        for part in self.support:
            rows = out[part] = np.zeros((self.first, 4))
            for first, column, values in self.found.get(part, ()):
                rows[first : first + len(values), column] += values
        return out


def _earned(level: Aligned) -> tuple[F64, F64, F64, F64]:
    """What each row of either side earned and could have: the four sums, row by row."""
    n_r, n_p = len(level.reference), len(level.predicted)
    weights = level.weights * level.scale
    earned: list[F64] = []
    for rows, bound in ((level.j, n_p), (level.i, n_r)):
        best: F64 = np.zeros(bound)
        np.maximum.at(best, rows, weights)
        earned.append(best)
    own_r, own_p = (level.node.selves(side) * level.scale for side in (level.reference, level.predicted))
    return earned[0], own_p, earned[1], own_r


def _field_sums(level: Aligned) -> Units:
    if level.node.exact_only:
        return _exact_sums(level)
    weights = level.weights * level.scale
    own_r, own_p = (level.node.selves(side) * level.scale for side in (level.reference, level.predicted))
    most = np.maximum(own_r[level.i], own_p[level.j])
    right = weights >= most - 1e-12
    alike = np.divide(weights, most, out=np.zeros(len(most)), where=most > 0)
    earned = (_once(weights, level.j, len(own_p)), own_p, _once(weights, level.i, len(own_r)), own_r)
    best = max(add_up(_once(alike, *side)[:, None])[0] for side in ((level.j, len(own_p)), (level.i, len(own_r))))
    return (*(add_up(column[:, None])[0] for column in earned), *_met(level, right), best)


def _exact_sums(level: Aligned) -> Units:
    """The same where φ is equality: everything is a count of what one equal value is worth."""
    n_r, n_p = len(level.reference), len(level.predicted)
    right = level.weighed.i
    one = add_up(np.array([[level.scale]]))[0]
    right_p, right_r = _different(level.j[right], n_p), _different(level.i[right], n_r)
    met = _met(level, right)
    return (right_p * one, n_p * one, right_r * one, n_r * one, *met, met[1])


def _met(level: Aligned, right: Any) -> Units:
    """How many met, are right, are there, and met on either side; `right` says which pairs are. Under a one-sided constraint a row may be
    in several pairs; it counts once."""
    sizes = len(level.reference), len(level.predicted)
    met, fine = (
        [_different(rows, size) for rows, size in zip(pairs, sizes, strict=True)]
        for pairs in ((level.i, level.j), (level.i[right], level.j[right]))
    )
    return tuple(add_up(np.array([[max(met), max(fine), *sizes, *met]], np.float64)))


def _once(weights: F64, rows: I64, bound: int) -> F64:
    """The weights, of which a row has the best alone."""
    if _different(rows, bound) == len(rows):
        return weights
    best = np.zeros(bound)
    np.maximum.at(best, rows, weights)
    return best


def _different(rows: I64, bound: int) -> int:
    seen = np.zeros(bound, np.bool_)
    seen[rows] = True
    return int(seen.sum())


def figures_by_label(metric: Node, path: str, sources: Sources, decide: Decide, memory: Memory) -> list[LabelFigures]:
    """A row for each label: num_r and den_r by the reference's label, num_p and den_p by the predicted one."""
    return label_figures(kind_of(metric), sums_by_label(metric, path, sources, memory), decide)


def sums_by_label(metric: Node, path: str, sources: Sources, memory: Memory) -> LabelSums:
    """What the figures of each label follow from."""
    sums = LabelSums(path)
    for reference, predicted in sources:
        add_label_sums(sums, metric, reference, predicted, memory)
    return sums


def has_labels_at(metric: Node, path: str) -> bool:
    """Whether the first collection of a metric is the one that a path of a label goes through."""
    collections = (name for node in metric.walk() if isinstance(node, Each) for name, _ in node.fields)
    return path.startswith(f"{next(collections, '')}[*]")


def add_label_sums(sums: LabelSums, metric: Node, reference: Data, predicted: Data, memory: Memory) -> None:
    """Add what the labels of some documents earned and lost."""
    level, labels = _labelled_items(metric, sums.path, reference, predicted, memory)
    for label, columns in _weights_by_label(sums.path, level, labels).items():
        units = tuple(add_up(np.array(column)[:, None])[0] if column else 0 for column in columns)
        sums.add(label, units, len(columns[3]))


def _labelled_items(
    metric: Node, path: str, reference: Data, predicted: Data, memory: Memory
) -> tuple[Aligned, list[list[Any]]]:
    """The collection whose items have labels at a path, and the labels of both sides' items."""
    levels = list(_top(metric, reference, predicted, memory, homes=True).descend())
    matched = _matchings(levels)
    collection = _collection_of(path, levels, matched)
    name, scope = path.rpartition(".")[2], Scope()
    labels = [
        list(leaf_values(field(found, name, scope, True), scope))
        for found in _both_items(reference, predicted, collection, matched)
    ]
    whole = next((one for side in labels for one in side if isinstance(one, (list, dict, set))), None)
    if whole is not None:
        raise MetricError(f"no label at {path!r}: expected a text or a number for each item, found {whole!r:.60}")
    return matched[collection], labels


def _valued_items(
    metric: Node, path: str, value_of: ValueOf, first: int, reference: Data, predicted: Data, memory: Memory
) -> ItemSums:
    """The items of a collection by their values; `first` is how many documents came before these."""
    matched = _matchings(_top(metric, reference, predicted, memory, homes=True).descend())
    if path not in matched:
        raise NoCollection(f"this metric has no items at {path!r}")
    level = matched[path]
    values = []
    for side, found in enumerate(_both_items(reference, predicted, path, matched)):
        homes = _item_homes(level, side)
        if len(homes) != len(found):
            raise MetricError(f"items at {path!r} cannot be told apart under this metric")
        values.append(list(value_of(side, as_objects(found), (homes + first).tolist())))
    return _items_by_side(path, level, values)


def _matchings(levels: Iterable[Aligned]) -> dict[str, Aligned]:
    """The collections of a metric by the path of their items."""
    return {f"{level.path}[*]": level for level in levels if isinstance(level.node, Matching)}


def _both_items(reference: Data, predicted: Data, collection: str, matched: Mapping[str, Aligned]) -> Iterable[Data]:
    """The items of a collection on either side, as the engine has them."""
    for data, which in ((reference, "reference"), (readable(predicted)[1], "predicted")):
        yield _items_at(data, collection, {path: unshared(getattr(one, which)) for path, one in matched.items()})


def _item_homes(level: Aligned, side: int) -> I64:
    """The document of each item of one side."""
    owners: I64 = unshared((level.reference, level.predicted)[side]).owners  # type: ignore[attr-defined]
    return owners if level.homes is None else level.homes[side][owners]


def _collection_of(path: str, levels: Iterable[Aligned], matched: Mapping[str, Aligned]) -> str:
    """The path of the collection whose items have their labels at this path; the only one there is need not be named."""
    collection = path.rpartition(".")[0]
    if not collection and len(matched) == 1 and not path.endswith("[*]"):
        return next(iter(matched))
    if collection in matched:
        return collection
    fields = (one.path for one in levels if not isinstance(one.node, Matching) and not one.path.endswith("[*]"))
    raise _no_collection(path, dict.fromkeys(one for one in fields if one.rpartition(".")[0] in matched))


def _weights_by_label(path: str, level: Aligned, labels: Sequence[list[Any]]) -> dict[Any, tuple[list[float], ...]]:
    """By label the weights that its four sums are made of: what was earned and could have been, on either side."""
    weights: dict[Any, tuple[list[float], ...]] = {}
    for column, (labels_of, own, _) in _items_by_side(path, level, labels).items():
        for label, weight in zip(labels_of, own.tolist(), strict=True):
            weights.setdefault(label, ([], [], [], []))[column].append(weight)
    return weights


def _items_by_side(path: str, level: Aligned, labels: Sequence[list[Any]]) -> ItemSums:
    """For each of the four sums the items that make it."""
    out: dict[int, tuple[list[Any], F64, I64]] = {}
    node = level.node
    assert isinstance(node, Matching)
    columns: list[Any] = [unshared(level.reference), unshared(level.predicted)]
    sides = columns[0].take(level.i), columns[1].take(level.j)
    for side, (earned, possible) in enumerate(((2, 3), (0, 1))):
        own = node.inner.selves(columns[side].items)
        if len(own) != len(labels[side]):
            raise MetricError(f"labels at {path!r} cannot be told apart item by item under this metric")
        homes = _item_homes(level, side)
        out[possible] = labels[side], np.asarray(own, np.float64), homes
        pairs = node.covering(side).matched(*sides)
        place = columns[side].item_rows((level.i, level.j)[side])[0][(pairs.i, pairs.j)[side]]
        out[earned] = [labels[side][k] for k in place.tolist()], pairs.weight, homes[place]
    return out


def _no_collection(path: str, below: Iterable[str]) -> MetricError:
    known = list(below)
    where = (
        f"labels can be taken from {', '.join(known)}"
        if known
        else "this metric has no list of records to take them from"
    )
    return MetricError(
        f"no label at {path!r}: a label is a field of what stands in a list; {where}.{did_you_mean(path, known)}"
    )


def label_figures(kind: Kind, sums: LabelSums, decide: Decide) -> list[LabelFigures]:
    """The figures of each label."""
    if set(sums.sums) == {None}:
        raise MetricError("no item has a label at this path")
    beta = kind.beta if isinstance(kind, Counts) else 1.0
    return [
        LabelFigures(
            label=label,
            figures=decide(Counts(beta=beta, one=False).figures(rounded(units))),
            tally=dict(zip(Counts().sums, rounded(units).tolist(), strict=True)),
            support=support,
        )
        for label, (units, support) in sorted(
            sums.sums.items(), key=lambda entry: (str(entry[0]), type(entry[0]).__name__)
        )
    ]


def _items_at(data: Data, collection: str, columns: Mapping[str, Column]) -> Data:
    """Every item of a collection, in the order in which the engine has them; `columns` are the collections on the way, of which
    some items may have been left out."""
    scope, path = Scope(), ""
    steps = [step for step in collection.replace("[*]", ".[*]").split(".") if step]
    for step in steps:
        if isinstance(data, Objects):
            data = Objects([value for value in data.values if value is not None])
        elif isinstance(data, Nullable):
            data = data.present
        if step == "[*]":
            bag = items(data, scope)
            if isinstance(bag, Index):
                raise MetricError("labels inside shared values cannot be told apart")
            path += "[*]"
            column = columns.get(path)
            data = bag.items
            if isinstance(column, Items) and column.places is not None:
                data = Index(bag.offsets[column.owners] + column.places, data)
        else:
            path = f"{path}.{step}" if path else step
            data = field(data, step, scope, True)
    return data

"""Slices: the figures of the documents that share a value, and which of them differ from the rest.

    results.slices("vendor")                    the values of a field of the reference
    results.slices("about.csv:language")        a column of a file beside the documents, by their ids
    results.slices({"d1": "en", "d2": "de"})
    results.slices("items")                     how many items the reference has in a document; "words" and "density" likewise, in bins

Is a slice different from the rest by more than chance? Were it not, any documents might be in it: p is the share of random slices of the
same size that are as far from their rest (a permutation test, two-sided), after Holm's correction over the slices of a metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.engine.data import as_objects
from tallystick.engine.drawing import generator, sorts_of
from tallystick.engine.tally import Labelled
from tallystick.engine.values import field_names, fields_of
from tallystick.errors import InputError, MetricError, Place, TallystickError, counted, did_you_mean, some
from tallystick.files.documents import MISSING, open_documents, value_at
from tallystick.files.json_values import decode_line, try_decode
from tallystick.files.source import read_text, shown_name
from tallystick.files.table import read_cells, separator
from tallystick.frozen import frozen
from tallystick.results.accounts import numbering
from tallystick.results.parts import NONE, Portions, bin_of, bin_order
from tallystick.results.resampling import EQUAL, Interval, check_settings, figures_of, holm, intervals
from tallystick.results.result import Result, in_units
from tallystick.results.selection import OverDocuments
from tallystick.show.tables import Column, Estimate, Table, Tables

if TYPE_CHECKING:
    from tallystick.results.results import Results

Spec = str | Mapping[Any, Any]
MOST = 50
"""So many slices are told apart."""
IDS = ("document", "id", "doc_id", "docid", "doc_key", "sent_id", "orig_id")
"""What the column of ids may be called; else it is the first."""
FILES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".feather")


# Which document is in which slice


def slices_of(results: Results, by: Spec) -> tuple[str, dict[str, list[int]]]:
    """What slices are called, and by value the places of the documents that have it, in the order of the values."""
    called, found = values_of(results, by)
    ids, binned = next(iter(results.values())).ids, called in DOCUMENTS and all(isinstance(one, Bin) for one in found)
    places: dict[str, list[int]] = {}
    for place, value in enumerate(found):
        places.setdefault(NONE if value is None or value == "" else str(value), []).append(place)
    if len(places) > MOST:
        raise MetricError(
            f"{called} has {len(places):,} values in {len(ids):,} documents; slices are by at most {MOST}. Put larger groups into a file: "
            "FILE.csv:COLUMN"
        )
    if binned:
        return called, dict(sorted(places.items(), key=lambda one: bin_order(one[0])))
    return called, dict(sorted(places.items(), key=lambda one: (one[0] == NONE, -len(one[1]), one[0])))


class Bin(str):
    """The bin of a number, among values that are in order."""

    __slots__ = ()


def values_of(results: Results, by: Spec, what: str = "slices") -> tuple[str, list[Any]]:
    """What the values of documents are called, and the value of each; `what` is made of them."""
    ids = next(iter(results.values())).ids
    other = next((name for name, one in results.items() if one.ids != ids), None)
    if other is not None:
        raise MetricError(
            f"the rows of {other} are not the documents of the other metrics; score it by itself (--metric)"
        )
    if isinstance(by, Mapping):
        called, found = "slice", _of_ids(ids, {str(key): value for key, value in by.items()}, "the mapping")
    elif _file_of(by) is not None:
        name, called = by.rsplit(":", 1)
        found = _of_ids(ids, dict(_read(name, called)), shown_name(name))
    else:
        values = _of_field(results, by, what)
        binned = [Bin(bin_of(one)) for one in _of_documents(results, by, what)] if values is None else []
        called, found = by, binned if values is None else values
    for place, value in enumerate(found):
        several = isinstance(value, (list, tuple, set))
        if several or isinstance(value, dict) or fields_of(type(value)) is not None:
            kind = counted(len(value), "value") if several else f"the fields {some(field_names(value))}"
            raise MetricError(
                f"{what} by {called}: expected a text or a number for each document; {ids[place]} has {kind} there"
            )
    return called, found


def _file_of(by: str) -> str | None:
    """The file that a slice names, if it does: FILE:COLUMN."""
    name = by.rpartition(":")[0]
    plain = name.removesuffix(".gz").lower()
    return name if name and (plain.endswith(FILES) or Path(name).exists()) else None


def _of_ids(ids: Sequence[Any], values: Mapping[str, Any], where: str) -> list[Any]:
    absent = [key for key in ids if str(key) not in values]
    if absent:
        raise InputError(f"has no row for {counted(len(absent), 'document')}: {some(absent)}", where)
    return [values[str(key)] for key in ids]


def _read(name: str, column: str) -> Iterator[tuple[str, Any]]:
    """The ids and the values of a column."""
    file = shown_name(name)
    seen: set[str] = set()
    for line, row in _rows(name, file):
        key = next((one for one in IDS if one in row), next(iter(row), ""))
        if column not in row:
            raise InputError(
                f"has no column {column!r}; there are {', '.join(row)}.{did_you_mean(column, row)}", Place(file, line)
            )
        if str(row[key]) in seen:
            raise InputError(f"has document {row[key]!r} twice", Place(file, line))
        seen.add(str(row[key]))
        yield str(row[key]), row[column]


def _rows(name: str, file: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    suffix = Path(file.removesuffix(".gz")).suffix.lower()
    if suffix in (".parquet", ".arrow", ".feather"):
        from tallystick.files.lines import load_pyarrow

        load_pyarrow(name)
        if suffix == ".parquet":
            import pyarrow.parquet as reader
        else:
            import pyarrow.feather as reader
        yield from enumerate(reader.read_table(name).to_pylist(), 1)
        return
    text = read_text(name)
    if suffix in (".jsonl", ".json"):
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                row = decode_line(line, file, number)
                if not isinstance(row, dict):
                    raise InputError(f"expected an object, found {line:.40}", Place(file, number))
                yield number, row
        return
    rows = read_cells(text, file, separator(file, text))
    header = next(rows, (0, []))[1]
    for number, row in rows:
        yield number, dict(zip(header, row, strict=True))


DOCUMENTS = {
    "items": "how many items the reference has, by the first metric",
    "words": "how many words the text has",
    "density": "how many items the reference has in 100 words",
}
"""What every document has, unless its data have a field of that name: these are in bins."""


def _of_documents(results: Results, name: str, what: str) -> list[float]:
    """An attribute of documents."""
    words = results.background.words(results) if name != "items" else None
    if name != "items" and (words is None or not any(words)):
        raise MetricError(f"{what} by {name}: the words of these documents are not known")
    lengths = [len(getattr(one, "words", one) or ()) for one in words or ()]
    if name == "words":
        return list(lengths)
    items = _items(next(iter(results.values())))
    return (
        items if name == "items" else [100 * n / size if size else 0.0 for n, size in zip(items, lengths, strict=True)]
    )


def _items(result: Result) -> list[float]:
    """How many items the reference has in each document."""
    kind = result.kind.kind if isinstance(result.kind, OverDocuments) else result.kind
    if isinstance(kind, Labelled):
        return [float(one) for one in kind.support(result.rows).sum(axis=-1).tolist()]
    if "den_r" not in result.kind.sums:
        raise MetricError(f"slices by items: {result.called} does not count items")
    return [float(one) for one in result.rows[:, result.kind.sums.index("den_r")].tolist()]


def _of_field(results: Results, path: str, what: str) -> list[Any] | None:
    """The values of a field of the reference; None where there is no such field, but an attribute of documents."""
    known: dict[str, None] = {}
    found = _of_values(results, path, known)
    if found is None and "[" not in path:
        found = _of_lines(results, path, what, known)
    if found is not None or path in DOCUMENTS:
        return found
    if known and "[" in path:
        raise MetricError(
            f"{what} by {path}: they are by one value of each document, and a list has several; give a field outside of lists, or a column "
            "of a file by document id: FILE.csv:COLUMN"
        )
    if known:
        raise MetricError(
            f"{what} by {path}: no document has such a field; there are {', '.join(known)}, and of every document "
            f"{', '.join(DOCUMENTS)}.{did_you_mean(path, (*known, *DOCUMENTS))}"
        )
    raise MetricError(
        f"{what} by {path}: documents of {results.background.task or 'these results'} have no fields here; there are {', '.join(DOCUMENTS)}, or give "
        f"a column of a file with their ids: FILE.csv:COLUMN. A file of JSON Lines with {path!r} beside the ids may be the reference itself: REFERENCE.jsonl:{path}"
    )


def _of_values(results: Results, path: str, known: dict[str, None]) -> list[Any] | None:
    """The values of a field of the documents as metrics see them; `known` gets the fields that there are."""
    result = next((one for one in results.values() if one.is_expression and one.sources is not None), None)
    out: list[Any] = []
    there = False
    for reference, _ in result.documents_kept if result is not None else ():
        for value in as_objects(reference):
            has, above = True, ""
            for step in path.split("."):
                names = field_names(value)
                known |= dict.fromkeys(f"{above}{name}" for name in names)
                above = f"{above}{step}."
                has = step in names
                value = None if not has else value[step] if isinstance(value, Mapping) else getattr(value, step, None)
            there = there or has
            out.append(value)
    return out if there else None


def _of_lines(results: Results, path: str, what: str, known: dict[str, None]) -> list[Any] | None:
    """The values of a field of the reference's lines; `known` gets the fields that there are."""
    rows = _lines(results)
    found = {key: [value_at(line, path) for line in lines] for key, lines in rows.items()}
    known |= {key: None for lines in rows.values() for line in lines for key in line}
    several = next((key for key, values in found.items() if any(one != values[0] for one in values)), None)
    if several is not None:
        raise MetricError(f"{what} by {path}: the lines of document {several} have different values; expected one")
    there = any(values[0] is not MISSING for values in found.values())
    return [None if one is MISSING else one for one, *_ in found.values()] if there else None


def _lines(results: Results) -> dict[Any, list[dict[str, Any]]]:
    """The lines of the reference that each document is from, if they are JSON: fields that no metric looks at are only there. None of them, where
    it is not known which."""
    ids, background = next(iter(results.values())).ids, results.background
    found: list[dict[str, Any]] = []
    names: list[Any] = []
    try:
        for portion in (
            open_documents(background.given, name="reference").portions() if background.given is not None else ()
        ):
            values: list[Any] = [(try_decode(line) or (None,))[0] for line in portion.lines]
            if not all(isinstance(one, dict) for one in values):
                return {}
            found += values
            names += portion.names or [None] * len(values)
    except TallystickError:  # a format of its own
        return {}
    for key in (background.named_by, *IDS):
        of: dict[str, list[dict[str, Any]]] = {}
        for name, line in zip(names, found, strict=True):
            of.setdefault(str(value_at(line, key) if name is None else name), []).append(line)
        if all(str(one) in of for one in ids):
            return {one: of[str(one)] for one in ids}
    in_order = len(found) == len(ids) and numbering(ids) is not None
    return {one: [line] for one, line in zip(ids, found, strict=True)} if in_order else {}


def slice_portions(results: Results, by: Spec) -> dict[str, Portions]:
    """The slices as parts of each metric: the rows of all other documents are 0."""
    called, places = slices_of(results, by)
    out = {}
    for name, one in results.items():
        rows = {}
        for value, chosen in places.items():
            rows[value] = np.zeros_like(one.rows)
            rows[value][chosen] = one.rows[chosen]
        out[name] = Portions(
            rows, called, counts={value: len(chosen) for value, chosen in places.items()}, kind=one.kind
        )
    return out


# Figures of slices


@frozen
class Slice:
    """The documents of one value: its figures, their intervals, the figure of all other documents, and whether that is another one."""

    value: str
    documents: int
    figures: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    figure: str
    rest: float | None
    p: float | None
    corrected: float | None = None
    level: float = 0.95

    @property
    def difference(self) -> float | None:
        """How far the figure is above that of the rest."""
        here = self.figures[self.figure]
        return None if here is None or self.rest is None else here - self.rest

    @property
    def is_significant(self) -> bool:
        return self.corrected is not None and self.corrected <= 1 - self.level + 1e-12

    def as_dict(self) -> dict[str, Any]:
        return {
            "slice": self.value, "documents": self.documents, "figures": dict(self.figures),
            "intervals": {name: [one.low, one.high] for name, one in self.intervals.items()},
            "rest": self.rest, "difference": self.difference, "p": self.p, "p_holm": self.corrected, "significant": self.is_significant,
        }  # fmt: skip


class Slices(Tables):
    """The slices of each metric. They print as tables; `[metric]` has them as values."""

    def __init__(self, called: str, found: Mapping[str, Sequence[Slice]]) -> None:
        self.called, self.found = called, found
        super().__init__(self._table(metric, slices) for metric, slices in found.items())

    def __getitem__(self, place: Any) -> Any:
        return self.found[place] if isinstance(place, str) else super().__getitem__(place)

    def _table(self, metric: str, slices: Sequence[Slice]) -> Table:
        names = list(slices[0].figures)
        rows = [
            [
                one.value, one.documents, *(_estimate(one, name) for name in names), one.rest,
                None if one.difference is None else Estimate(one.difference, None, "*" if one.is_significant else ""), one.corrected,
            ]
            for one in slices
        ]  # fmt: skip
        figure = slices[0].figure
        columns = [
            self.called,
            "documents",
            *names,
            f"{figure} of the rest",
            Column("difference", "gain"),
            Column("p (Holm)", "number"),
        ]
        level = slices[0].level
        said = f"p ≤ {1 - level:.2g} after Holm's correction"
        any_ = any(one.is_significant for one in slices)
        note = (
            f"*: differs from the rest, {said}." if any_ else f"No slice differs significantly from the rest ({said})."
        )
        notes = [f"[ ]: {100 * level:g} % interval.", note]
        return Table(columns, rows, f"{metric} by {self.called}", notes, metric=metric)

    def as_dict(self) -> dict[str, Any]:
        return {
            "by": self.called,
            "metrics": {metric: [one.as_dict() for one in found] for metric, found in self.found.items()},
        }


def _estimate(one: Slice, name: str) -> Any:
    value = one.figures[name]
    return None if value is None else Estimate(value, one.intervals[name].ends)


def slice_results(results: Results, by: Spec, *, resamples: int, seed: int = 0, level: float = 0.95) -> Slices:
    """The figures of every metric by slice."""
    check_settings(resamples, level, "percentile", seed)
    called, places = slices_of(results, by)
    tested = permuted(*_in_units(list(results.values()), list(places.values())), resamples, seed)
    corrected = []
    for one in tested:
        known = {k: p for k, (_, p) in enumerate(one) if p is not None}
        # of two slices each is the rest of the other, which is one test
        corrected.append(
            dict(zip(known, known.values() if len(places) == 2 else holm(list(known.values())), strict=True))
        )
    found: dict[str, list[Slice]] = {name: [] for name in results}
    for k, (value, chosen) in enumerate(places.items()):
        own = [_only(result, chosen) for result in results.values()]
        drawn = intervals(own, resamples=resamples, seed=seed, level=level)
        for m, name in enumerate(results):
            rest, p = tested[m][k]
            figures, figure = own[m].figures, own[m].kind.headline
            found[name].append(
                Slice(value, len(chosen), figures, drawn[m], figure, rest, p, corrected[m].get(k), level)
            )
    return Slices(called, found)


def _in_units(
    results: Sequence[Result], slices: Sequence[Sequence[int]]
) -> tuple[Sequence[Result], Sequence[Sequence[int]]]:
    """What changes slices in a test: documents, or groups of them, which have to lie in one slice each."""
    groups = results[0].groups
    if groups is None:
        return results, slices
    units = [in_units(one) for one in results]
    place = {name: k for k, name in enumerate(units[0].ids)}
    found = [sorted({place[groups.of[results[0].ids[k]]] for k in chosen}) for chosen in slices]
    if sum(map(len, found)) != len(place):
        raise MetricError(
            f"the groups by {groups.called} have documents in several slices, so that slices cannot be tested group by group; slice by "
            "something that all documents of a group share, or leave the groups out"
        )
    return units, found


def _only(result: Result, chosen: Sequence[int]) -> Result:
    """The result of some documents."""
    return result.changed(
        rows=result.rows[list(chosen)], ids=tuple(result.ids[k] for k in chosen), above=None, sources=None, field_sums=None,
        label_sums=None, invalid=(),
    )  # fmt: skip


Tested = list[tuple["float | None", "float | None"]]


def permuted(results: Sequence[Result], slices: Sequence[Sequence[int]], resamples: int, seed: int) -> list[Tested]:
    """For each result and slice the figure of the rest, and p: the share of random slices of its size that are as far from their rest."""
    random = _random_slices([one.rows for one in results], [len(one) for one in slices], resamples, seed)
    return [_tested(one, slices, drawn) for one, drawn in zip(results, random, strict=True)]


def _tested(result: Result, slices: Sequence[Sequence[int]], random: Sequence[F64]) -> Tested:
    rows, n = result.rows, len(result.ids)
    whole = rows.sum(axis=0)

    def figure(sums: F64) -> F64:
        return figures_of(result.kind, sums, result.undefined, True)[result.kind.headline]

    out: Tested = []
    for chosen, drawn in zip(slices, random, strict=True):
        inside = rows[list(chosen)].sum(axis=0)
        rest = float(figure(whole - inside))
        seen = float(figure(inside)) - rest
        apart = figure(drawn) - figure(whole - drawn)
        apart = apart[~np.isnan(apart)]
        testable = not np.isnan(seen) and len(apart) and 0 < len(chosen) < n
        hits = int(np.sum(np.abs(apart) >= abs(seen) - EQUAL)) if testable else 0
        p = (1 + hits) / (1 + len(apart)) if testable else None
        out.append((None if np.isnan(rest) or len(chosen) == n else rest, p))
    return out


def _random_slices(rows: Sequence[F64], sizes: Sequence[int], resamples: int, seed: int) -> list[list[F64]]:
    """For each tally and each size the sums of so many random documents: arrays (resamples, sums)."""
    out: dict[int, list[F64]] = {}
    for place, one in enumerate(rows):
        sorts = sorts_of([one])
        if sorts is not None:  # how many of each sort are among them is all that matters
            draw = generator(seed).multivariate_hypergeometric
            counts = (draw(sorts[1], size, size=resamples, method="marginals") for size in sizes)
            out[place] = [drawn @ one[sorts[0]] for drawn in counts]
    rest = [place for place in range(len(rows)) if place not in out]
    if rest:
        stacked = np.concatenate([rows[place] for place in rest], axis=1)
        rng, starts = generator(seed), np.cumsum([0, *sizes[:-1]])
        sums = np.empty((resamples, len(sizes), stacked.shape[1]))
        order: I64 = np.arange(len(stacked))
        for k in range(resamples):
            rng.shuffle(order)
            sums[k] = np.add.reduceat(stacked[order], starts, axis=0)
        ends = np.cumsum([rows[place].shape[1] for place in rest])[:-1]
        for place, part in zip(rest, np.split(sums, ends, axis=2), strict=True):
            out[place] = [part[:, k] for k in range(len(sizes))]
    return [out[place] for place in range(len(rows))]

"""The unit of resampling: what is drawn for an interval, and what changes places in a test.

It has to be what is independent of each other. A row of a result is a document, or a sentence where the files know no documents, and is
what is drawn. Documents that belong together (of one patient, author, or day) are drawn together, as groups: their rows are added, and
each group is drawn as a whole (the cluster bootstrap). The figures stay the same; the intervals get as wide as the groups make them.

    results.grouped("patient").intervals()            by a field of the reference, a column of a file, a mapping, or a list
    results.intervals(groups={"d1": "p1", "d2": "p1", "d3": "p2"})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import InputError, MetricError, counted, some
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.results.result import Result
    from tallystick.results.results import Results

RESAMPLES = 10_000
"""So many that the ends of intervals, and letters, seldom hang on the seed."""
GroupSpec = str | Mapping[Any, Any] | Sequence[Any]


@frozen(eq=False)
class Groups:
    """Which documents are drawn together: by id the name of the group."""

    called: str
    of: Mapping[Any, str]


def in_units(result: Result) -> Result:
    """The same figures with a row for each unit that is drawn."""
    groups = result.groups
    if groups is None:
        return result
    codes: dict[str, int] = {}
    places = np.array([codes.setdefault(groups.of[key], len(codes)) for key in result.ids], np.int64)

    def summed(rows: Any) -> Any:
        out = np.zeros((len(codes), rows.shape[1]))
        np.add.at(out, places, rows)
        return out

    return result.changed(
        rows=summed(result.rows), above=None if result.above is None else summed(result.above), ids=tuple(codes),
        unit="group", groups=None, invalid=(), sources=None, field_sums=None, label_sums=None, tree=None, claims=None,
    )  # fmt: skip


def unit_line(results: Sequence[Result]) -> str:
    """What is drawn and how many of them there are, for a signature. Results of different data sets are drawn from each."""
    first = results[0]
    called = f" ({first.groups.called})" if first.groups is not None else ""
    units = [in_units(one) for one in results]
    sizes = "+".join(str(len(one.ids)) for one in units)
    return f"unit={units[0].unit}{called}, units={sizes}"


def interval_line(results: Sequence[Result], *, resamples: int = RESAMPLES) -> str:
    """How intervals were made, for a signature."""
    return f"resamples={resamples}, seed=0, level=0.95, interval=percentile, {unit_line(results[:1])}"


def grouped(results: Results, by: GroupSpec) -> Results:
    """The results, drawn by groups."""
    from tallystick.results.slices import values_of

    first = next(iter(results.values()))
    if isinstance(by, (str, Mapping)):
        called, values = values_of(results, by, "groups")
        called = "groups" if isinstance(by, Mapping) else by
    else:
        called, values = "groups", list(by)
        if len(values) != len(first.ids):
            raise MetricError(
                f"groups: {counted(len(values), 'group')} for {counted(len(first.ids), 'document')}; expected one for each"
            )
    absent = [key for key, value in zip(first.ids, values, strict=True) if value is None or value == ""]
    if absent:
        raise InputError(f"has no group for {counted(len(absent), 'document')}: {some(absent)}", called)
    of = {key: str(value) for key, value in zip(first.ids, values, strict=True)}
    return results.changed(groups=Groups(called, of))

"""Results that were saved: what they are compared with later (a baseline), and how figures went over time (a history).

    results.save("baseline.json")                   or  tallystick score TASK ... --save baseline.json
    results.against("baseline.json").losses         or  tallystick score TASK ... --baseline baseline.json

A saved result is the JSON of the result, and beside it the sums of each document: of every metric, field and label. So the two
can be tested document by document, and a figure that fell by chance is told from one that was lost. All figures of a test are one
family: p is corrected over the metrics and all of their fields and labels (Holm).
"""

from __future__ import annotations

import datetime
import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import Joinable, Kind, lower_is_better, rows_under
from tallystick.errors import InputError, MetricError, SidesMismatch, counted, did_you_mean, some
from tallystick.files.json_values import decode_line
from tallystick.files.source import Source, read_text, shown_name
from tallystick.files.writing import to_json, write_atomically
from tallystick.frozen import frozen
from tallystick.results.compare import compare_parts
from tallystick.results.parts import Portions
from tallystick.results.resampling import Difference, check_settings
from tallystick.results.result import RESAMPLES, Result
from tallystick.show.tables import Column, Estimate, Table

if TYPE_CHECKING:
    from tallystick.results.results import Results

_VERSION = re.compile(r" \| tallystick [^|]*$")
HOW = "save it with --save FILE.json (in Python results.save(FILE))"


def save(results: Results, path: str | Path) -> None:
    """Write a result with the sums of its documents."""
    write_atomically(path, to_json({**results.as_dict(), "saved": _sums(results)}, indent=None) + "\n")


def _sums(results: Results) -> dict[str, Any]:
    first = next(iter(results.values()))
    metrics = {
        name: {
            "figure": one.kind.headline, "lower_is_better": lower_is_better(one.kind), "sums": list(one.kind.sums),
            "rows": list(map(_column, one.rows.T)),
        }
        for name, one in results.items()
    }  # fmt: skip
    parts: dict[str, Any] = {}
    for by, found in _all_portions(results):
        parts[by] = {
            name: {
                "called": one.called, "beta": one.beta, "one": one.one,
                "rows": {str(part): list(map(_column, rows.T)) for part, rows in one.rows.items()},
            }
            for name, one in found.items()
        }  # fmt: skip
    time = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    return {
        "time": time,
        "task": results.background.task,
        "reference": _digest(results.background.reference),
        "ids": list(map(str, first.ids)),
        "metrics": metrics,
        "parts": parts,
    }


def _digest(reference: str) -> str:
    """What tells the content of a reference, unpacked and without the signs of Windows at the ends of lines, from any other; empty
    where it is no file that can be read again."""
    try:
        if not os.path.isfile(reference):
            return ""
    except ValueError:  # a text that no file can be called
        return ""
    found = blake2b(digest_size=16)
    with Source.of(reference).open() as stream:
        while piece := stream.read(1 << 20):
            found.update(piece.replace(b"\r", b""))
    return found.hexdigest()


def _all_portions(results: Results) -> Iterator[tuple[str, Mapping[str, Portions]]]:
    """The parts by field and by label, as far as there are any without more being said."""
    for by in ("field", "label"):
        with suppress(MetricError):  # the task has none, or does not know where its labels are
            yield by, results.background.portions(results, by, None)


def _column(values: F64) -> Any:
    """A column as JSON: whole numbers as such, and one number for all documents if they have the same."""
    found = [int(one) if one == int(one) else one for one in values.tolist()]
    return found[0] if found and all(one == found[0] for one in found) else found


# Reading


_Figures = dict[str, Any]
_Column = list[float] | float


class _Metric(msgspec.Struct):
    """The sums of a metric, a column each."""

    sums: list[str]
    rows: list[_Column]
    figure: str = ""


class _Part(msgspec.Struct):
    """The four sums of each part of a metric."""

    rows: dict[str, Annotated[list[_Column], msgspec.Meta(min_length=4, max_length=4)]]
    beta: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    one: bool = True


class _Sums(msgspec.Struct):
    ids: list[str] = []
    metrics: dict[str, _Metric] = {}
    parts: dict[str, dict[str, _Part]] = {}


class _Field(msgspec.Struct):
    path: str
    figures: _Figures


class _Label(msgspec.Struct):
    label: str
    figures: _Figures


class _Content(msgspec.Struct):
    """What of a saved result is read again, and what it has to look like."""

    metrics: dict[str, _Figures]
    saved: _Sums | None = None
    fields: dict[str, list[_Field]] = {}
    labels: dict[str, list[_Label]] = {}


@frozen
class Saved:
    """A saved result: the file, its JSON, and the sums of its documents."""

    file: str
    content: Mapping[str, Any]

    @property
    def sums(self) -> Mapping[str, Any]:
        found = self.content.get("saved")
        if not isinstance(found, dict) or not {"ids", "metrics", "parts"} <= set(found):
            raise InputError(f"holds no sums of its documents, which a baseline needs; {HOW}", self.file)
        return found

    @property
    def time(self) -> str:
        saved = self.content.get("saved")
        return str(saved.get("time", "")) if isinstance(saved, dict) else ""

    def rows(self, columns: Any, count: int) -> F64:
        """Columns as rows of documents."""
        try:
            out = np.stack([np.broadcast_to(np.asarray(column, np.float64), count) for column in columns], axis=1)
        except (TypeError, ValueError):
            raise InputError(f"has sums that do not fit its {count:,} documents; {HOW}", self.file) from None
        if not np.isfinite(out).all():
            raise InputError(f"has sums that are not numbers; {HOW}", self.file)
        return np.ascontiguousarray(out)


def load(path: str | Path) -> Saved:
    """Read what `save` has written, or what a `score` command has written as JSON."""
    file = shown_name(path)
    try:
        content = decode_line(read_text(path), file)
    except InputError as error:
        if error.place is None or error.place.line is None:  # there is no such file
            raise
        raise InputError(f"is no result of tallystick ({error.reason}); {HOW}", error.place) from None
    if not isinstance(content, dict) or not isinstance(content.get("metrics"), dict) or "tallystick" not in content:
        raise InputError(f"is no result of tallystick; {HOW}", file)
    try:
        msgspec.convert(content, _Content)
    except msgspec.ValidationError as error:
        raise InputError(f"is not a complete result of tallystick: {error}; {HOW}", file) from None
    return Saved(file, content)


# A result and the one before it


def named(metric: str, by: str, part: str | None) -> str:
    """What a figure is called: `records, field total`."""
    return metric if part is None else f"{metric}, {by} {part}"


@frozen
class Change:
    """One figure now and before, and whether the difference is more than chance. `part` is a field or a label, None for the whole."""

    metric: str
    by: str
    part: str | None
    figure: str
    before: float | None
    now: float | None
    difference: Difference
    lower_is_better: bool = False

    @property
    def name(self) -> str:
        return named(self.metric, self.by, self.part)

    @property
    def is_significant(self) -> bool:
        p = self.difference.corrected
        return p is not None and p <= 1 - self.difference.interval.level + 1e-12

    @property
    def is_loss(self) -> bool:
        """Whether the figure is significantly worse."""
        value = self.difference.value
        worse = value is not None and (value > 0 if self.lower_is_better else value < 0)
        lost = self.now is None and self.before is not None and self.part is None  # a metric that has become 0/0
        return lost or (worse and self.is_significant)

    def __str__(self) -> str:
        before, now = ("undefined" if one is None else f"{one:.4f}" for one in (self.before, self.now))
        text = f"{self.name}: {self.figure} is {now}, was {before}"
        d = self.difference
        if d.value is None or d.corrected is None:
            return text
        ends = "" if d.interval.ends is None else f" [{d.interval.ends[0]:+.4f}, {d.interval.ends[1]:+.4f}]"
        return f"{text}: {d.value:+.4f}{ends}, p {d.corrected:.2g}"

    def as_dict(self) -> dict[str, Any]:
        d = self.difference
        return {
            "metric": self.metric, "by": self.by or None, "part": self.part, "figure": self.figure, "before": self.before, "now": self.now,
            "difference": d.value, "interval": [d.interval.low, d.interval.high], "p": d.p, "p_holm": d.corrected,
            "significant": self.is_significant, "loss": self.is_loss,
        }  # fmt: skip


@frozen(eq=False)
class Against:
    """A result against a baseline: every figure now and before, and `losses`, those that are significantly worse."""

    file: str
    changes: tuple[Change, ...]
    settings: str
    notes: tuple[str, ...] = ()

    @property
    def losses(self) -> tuple[Change, ...]:
        return tuple(one for one in self.changes if one.is_loss)

    @property
    def summary(self) -> str:
        """How many figures were lost."""
        tested = sum(one.difference.p is not None for one in self.changes)
        lost = (
            counted(len(self.losses), "significant loss").replace("losss", "losses")
            if self.losses
            else "no significant loss"
        )
        return f"{lost} against {self.file}, in {counted(tested, 'figure')} tested ({self.settings})"

    def table(self) -> Table:
        """A row for each figure, what was lost first."""
        order = sorted(self.changes, key=lambda one: (not one.is_loss, one.part is not None))
        rows = [
            [
                one.metric, one.part or "", one.figure, one.before, one.now,
                None if one.difference.value is None else Estimate(one.difference.value, one.difference.interval.ends, "*" if one.is_significant else ""),
                one.difference.corrected, "lost" if one.is_loss else "",
            ]
            for one in order
        ]  # fmt: skip
        columns = [
            "metric",
            "part",
            "figure",
            "before",
            "now",
            Column("change", "gain"),
            Column("p (Holm)", "number"),
            "",
        ]
        return Table(columns, rows, f"Against {self.file}", [self.summary])

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "settings": self.settings,
            "notes": list(self.notes),
            "changes": [one.as_dict() for one in self.changes],
        }

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__


def against(
    results: Results, baseline: str | Path | Saved, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Against:
    """The figures of a result against those of a saved one over the same documents."""
    check_settings(resamples, level, "percentile", seed)
    saved = baseline if isinstance(baseline, Saved) else load(baseline)
    _check_same(results, saved)
    places: dict[str, tuple[str, str, str | None]] = {}
    now: dict[str, Result] = {}
    before: dict[str, Result] = {}

    def put(metric: str, by: str, part: str | None, ours: Result, theirs: Result) -> None:
        key = named(metric, by, part)
        places[key], now[key], before[key] = (metric, by, part), ours, theirs

    for name, one in results.items():
        put(name, "", None, *_wholes(one, name, saved))
    for by, found in _all_portions(results):
        for name, portions in found.items():
            ours = portions.results(results[name])
            theirs = _saved_parts(saved, by, name, portions, results[name])
            nothing = np.zeros((results.count, 4))
            for part in dict.fromkeys((*ours, *theirs)):
                whole = next(iter((*ours.values(), *theirs.values())))
                sides = (side.get(part) or whole.changed(rows=nothing) for side in (ours, theirs))
                put(name, by, part, *sides)
    _check_reference(results, saved)
    how = {
        "resamples": resamples, "seed": seed, "level": level, "method": "percentile", "test": None, "ties": "mean", "base": None, "splits": False,
    }  # fmt: skip
    tested = compare_parts({"before": [before], "now": [now]}, how)
    changes = tuple(
        Change(
            *places[key], one.kind.headline, before[key].score, one.score, tested.differences[key, "before", "now"],
            lower_is_better(one.kind),
        )
        for key, one in now.items()
    )  # fmt: skip
    only = [name for name in saved.sums["metrics"] if name not in results]
    notes = (f"{saved.file} has metrics that are not scored here: {some(only)}",) if only else ()
    return Against(saved.file, changes, tested.settings, (*notes, *tested.cautions))


def _check_same(results: Results, saved: Saved) -> None:
    """That a baseline is of the same task, documents and metrics."""
    sums, file = saved.sums, saved.file
    task = results.background.task
    if task and sums.get("task") and sums["task"] != task:
        raise MetricError(f"{file} is a result of {sums['task']}, and this is one of {task}")
    ids = [str(key) for key in next(iter(results.values())).ids]
    if sums["ids"] != ids:
        ours, theirs = set(ids), set(sums["ids"])
        parts = (
            [f"only the baseline has {some(key for key in sums['ids'] if key not in ours)}"] if theirs - ours else []
        )
        parts += [f"only this result has {some(key for key in ids if key not in theirs)}"] if ours - theirs else []
        raise SidesMismatch(
            f"{file} is a result over other documents: {'; '.join(parts) or 'they are in another order'}. A baseline is tested document by "
            "document: score the same reference, and save a new baseline when that changes"
        )
    for name, one in results.items():
        entry = saved.content["metrics"].get(name)
        if name not in sums["metrics"] or not isinstance(entry, dict):
            known = sums["metrics"]
            raise MetricError(f"{file} has no metric {name!r}; it has {', '.join(known)}.{did_you_mean(name, known)}")
        here, there = (_VERSION.sub("", str(text)) for text in (one.signature, entry.get("signature", "")))
        if here != there:
            raise MetricError(
                f"{name} was computed differently in {file}: {_otherwise(there, here)}. Score with the same options, or save a new baseline"
            )


def _check_reference(results: Results, saved: Saved) -> None:
    """That the reference has not changed where no sum shows it: another value in the place of one."""
    reference, before = results.background.reference, saved.sums.get("reference")
    if before and (now := _digest(reference)) and now != before:
        raise SidesMismatch(
            f"{saved.file} is a result against another reference than {shown_name(reference)}, with as much in each document: a change of "
            "the reference is no change of the predictions. Score the same reference, and save a new baseline when that changes"
        )


def _otherwise(there: str, here: str) -> str:
    """Where two signatures part: the parts that only one of them has, and of long ones where they begin to differ."""
    ours, theirs = here.split(" | "), there.split(" | ")
    sides = [[part for part in one if part not in other] for one, other in ((theirs, ours), (ours, theirs))]
    if all(len(side) == 1 for side in sides):
        left, right = sides[0][0], sides[1][0]
        same = next((k for k, (one, two) in enumerate(zip(left, right, strict=False)) if one != two), 0)
        begin = max(0, same - 30)
        if begin:
            sides = [[f"…{side[0][begin:]}"] for side in sides]
    before, now = (
        " | ".join(f"{part[:120]}…" if len(part) > 121 else part for part in side) or "nothing" for side in sides
    )
    return f"there {before}; here {now}"


def _wholes(result: Result, name: str, saved: Saved) -> tuple[Result, Result]:
    """A metric now and before, with sums of the same names."""
    entry = saved.sums["metrics"][name]
    names = [str(one) for one in entry["sums"]]
    rows = saved.rows(entry["rows"], result.count)
    kind: Kind = result.kind
    if isinstance(kind, Joinable) and set(names) != set(kind.sums):
        kind = kind.including(names)
    if not set(names) <= set(kind.sums) or len(rows.T) != len(names):
        raise MetricError(f"{name} has other sums in {saved.file}: {some(names)}; save a new baseline")
    ours = result.changed(kind=kind, rows=rows_under(kind, result.kind, result.rows), above=None)
    place = {one: k for k, one in enumerate(kind.sums)}
    theirs: F64 = np.zeros((result.count, len(place)))
    theirs[:, [place[one] for one in names]] = rows
    if "den_r" in place and not np.allclose(theirs[:, place["den_r"]], ours.rows[:, place["den_r"]]):
        changed = np.flatnonzero(~np.isclose(theirs[:, place["den_r"]], ours.rows[:, place["den_r"]])).tolist()
        raise SidesMismatch(
            f"{saved.file} is a result against another reference: {some(result.ids[k] for k in changed)} have changed. Save a new baseline"
        )
    return ours, result.changed(kind=kind, rows=theirs, above=None)


def _saved_parts(saved: Saved, by: str, metric: str, portions: Portions, whole: Result) -> dict[str, Result]:
    """The parts of a metric as they were."""
    found = saved.sums["parts"].get(by, {}).get(metric)
    if found is None:
        return {}
    rows = {part: saved.rows(columns, whole.count) for part, columns in found["rows"].items()}
    return replace(portions, rows=rows, counts=None).results(whole)


# Figures over time


def history_table(files: Sequence[str | Path], by: str | None = None) -> tuple[Table, dict[str, list[float | None]]]:
    """A row for each figure of some saved results, a column for each of them in the order in which they are given, and the way that
    the figure went; and the same as lists."""
    results = [load(file) for file in files]
    lines: dict[str, list[float | None]] = {}
    for k, saved in enumerate(results):
        for name, value in _figures(saved, by):
            lines.setdefault(name, [None] * len(results))[k] = value
    if not lines:
        raise MetricError(f"none of the files has figures by {by}" if by else "none of the files has a figure")
    names = _column_names(results)
    rows = [[name, *values, _change(values), sparkline(values)] for name, values in lines.items()]
    return Table(["figure", *names, Column("change", "gain"), "trend"], rows), lines


def _figures(saved: Saved, by: str | None) -> Iterator[tuple[str, float | None]]:
    """The figure that each metric is named after, or those of its fields or labels."""
    for metric, entry in saved.content["metrics"].items():
        about = (saved.content.get("saved") or {}).get("metrics", {}).get(metric, {})
        figure = about.get("figure") or next((one for one in ("f1", *entry) if isinstance(entry.get(one), float)), "f1")
        if by is None:
            yield f"{metric} {figure}", _number(entry.get(figure), saved, metric)
            continue
        listed = saved.content.get(f"{by}s", {}).get(metric)
        if listed is None:
            yield from _from_sums(saved, by, metric)
            continue
        for row in listed:
            name = row["path" if by == "field" else "label"]
            yield f"{metric} {name}", _number(row["figures"].get("f1"), saved, name)


def _from_sums(saved: Saved, by: str, metric: str) -> Iterator[tuple[str, float | None]]:
    """The figures of parts from the sums of the documents."""
    from tallystick.engine.tally import Counts

    kept = saved.content.get("saved") or {}
    found = kept.get("parts", {}).get(by, {}).get(metric)
    for part, columns in (found or {"rows": {}})["rows"].items():
        kind = Counts(f"f{found['beta']:g}", found["beta"], found["one"])
        value = float(kind.figures(saved.rows(columns, len(kept["ids"])).sum(axis=0))[kind.headline])
        yield f"{metric} {part}", None if np.isnan(value) else value


def _number(value: Any, saved: Saved, what: str) -> float | None:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return None if value is None else float(value)
    raise InputError(f"{what}: expected a number, found {value!r:.40}", saved.file)


def _column_names(results: Sequence[Saved]) -> list[str]:
    """What the columns are called: by the files, with their folders where names repeat."""
    stems = [Path(one.file).name.removesuffix(".gz").removesuffix(".json") for one in results]
    names = stems if len(set(stems)) == len(stems) else [one.file for one in results]
    return names if len(set(names)) == len(names) else [f"{k + 1} {name}" for k, name in enumerate(names)]


def _change(values: Sequence[float | None]) -> float | None:
    """From the last but one to the last."""
    known = [value for value in values if value is not None]
    return known[-1] - known[-2] if len(known) > 1 and values[-1] is not None else None


BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None]) -> str:
    """A small picture in a line: from the lowest to the highest of the values."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    step = (high - low) / (len(BARS) - 1) if high > low else 0.0
    return "".join(" " if one is None else BARS[round((one - low) / step)] if step else BARS[3] for one in values)

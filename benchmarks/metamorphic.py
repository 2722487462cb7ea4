"""Metamorphic relations: what must hold between two evaluations, whatever the right figure is, for every metric of every task.

    python -m benchmarks.metamorphic [--examples 30] [--seed 0] [--dask] [TASK ...]

Documents are drawn by hypothesis (`benchmarks/corpora.py`). A relation looks at one random corpus, changes it, scores it again and answers
with the metrics for which the relation does not hold. The command prints the number of metrics, relations and cases, and what broke: what a metric breaks by its
definition is named in `EXEMPT` with the reason; docs/robustness.md has the reasons, too.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import pickle
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tallystick as ts
from benchmarks.corpora import MADE, Made
from tallystick.errors import MetricError, TallystickError
from tallystick.tasks.contract import find_task, flag

Broken = Iterator[tuple[str, str]]
"""The metrics for which a relation does not hold, and what was found."""
CLOSE = 1e-9


@dataclass(frozen=True)
class Case:
    """A corpus with its options, and chance."""

    made: Made
    options: Mapping[str, Any]
    ids: Sequence[str]
    reference: Sequence[Any]
    predicted: Sequence[Any]
    rng: random.Random
    folder: Path
    scheduler: str = ""

    def score(self, **changed: Any) -> ts.Results:
        """The task's function for this corpus, or for a changed one."""
        case = replace(self, **changed)
        sides = (case.made.lay(case.ids, side) for side in (case.reference, case.predicted))
        return getattr(ts, self.made.task)(*sides, **case.options)

    @cached_property
    def whole(self) -> ts.Results:
        return self.score()

    def taken(self, places: Sequence[int]) -> dict[str, Any]:
        return {name: [getattr(self, name)[k] for k in places] for name in ("ids", "reference", "predicted")}

    def command(self, reference: Path, predicted: Path, *more: str, **options: Any) -> dict[str, Any]:
        """The figures that `tallystick score` prints for two files."""
        from tallystick.cli.main import tallystick

        given = self.arguments({**self.options, **options})
        arguments = ["score", self.made.task, str(reference), str(predicted), *given, "--format", "json", *more]
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            code = tallystick.run(arguments, "tallystick")
        if code:
            raise MetricError(f"{' '.join(arguments)} ended with {code}: {said.getvalue()}")
        return json.loads(out.getvalue())["metrics"]

    def arguments(self, options: Mapping[str, Any]) -> list[str]:
        """Options of the function as those of the command."""
        out = [part for name in options.get("metrics", ()) for part in ("--metric", name)]
        for one in find_task(self.made.task).options("figures"):
            value = options.get(one.name, one.default)
            if value == one.default:
                continue
            if isinstance(value, dict):
                file = self.folder / f"{one.name}.json"
                file.write_text(json.dumps(value))
                value = str(file)
            several = value if isinstance(value, tuple) else ("",) if value is True else (value,)
            out += [part for each in several for part in (flag(one), *([str(each)] if each != "" else []))]
        return out

    @cached_property
    def files(self) -> tuple[Path, Path]:
        """Both sides as the files that the task's function would read."""
        if self.made.file is not None:
            sides = (("gold", self.reference), ("system", self.predicted))
            gold, system = (self.made.file(self.ids, side, self.folder / name) for name, side in sides)
            return gold, system
        task = find_task(self.made.task)
        sides = [self.made.lay(self.ids, side) for side in (self.reference, self.predicted)]
        from tallystick.tasks.function import settings_from

        given = {name: value for name, value in self.options.items() if name != "metrics"}
        left, right, _ = task.take(*sides, settings_from(task, given))
        out = []
        for name, side in (("gold", left), ("system", right)):
            content = side.text() if hasattr(side, "text") else side.lines.text()
            ending = (
                ".jsonl" if content.lstrip()[:1] == "{" else ".conllu" if self.made.task == "dependencies" else ".iob"
            )
            file = self.folder / f"{name}{ending}"
            file.write_text(content, encoding="utf-8", newline="")
            out.append(file)
        return out[0], out[1]

    @cached_property
    def printed(self) -> dict[str, Any]:
        return self.command(*self.files)


def _figures(found: ts.Results) -> dict[str, dict[str, float | None]]:
    return {name: dict(result.figures) for name, result in found.items()}


def _differ(whole: Mapping[str, Any], other: Mapping[str, Any], only: Sequence[str] = ()) -> Broken:
    """Figures are the same to the last bit."""
    for name in whole:
        if (not only or name in only) and name not in other:
            yield name, "is not there"
        elif not only or name in only:
            found = {key for key in whole[name] if key != "signature" and whole[name][key] != other[name].get(key)}
            if found:
                yield (
                    name,
                    ", ".join(f"{key} {whole[name][key]} became {other[name].get(key)}" for key in sorted(found)),
                )


def _close(a: float | None, b: float | None) -> bool:
    return a == b or (a is not None and b is not None and abs(a - b) <= CLOSE)


# Relations


def permuted_documents(case: Case) -> Broken:
    order = case.rng.sample(range(len(case.ids)), len(case.ids))
    yield from _differ(_figures(case.whole), _figures(case.score(**case.taken(order))))


def other_order_on_one_side(case: Case) -> Broken:
    """Documents are paired by name."""
    order = case.rng.sample(range(len(case.ids)), len(case.ids))
    sides = (
        case.made.lay(case.ids, case.reference),
        case.made.lay([case.ids[k] for k in order], [case.predicted[k] for k in order]),
    )
    found = getattr(ts, case.made.task)(*sides, **case.options)
    yield from _differ(_figures(case.whole), _figures(found))


def renamed_ids(case: Case) -> Broken:
    ids = [f"x{k}-{case.rng.randrange(1000)}" for k in case.rng.sample(range(100), len(case.ids))]
    found = case.score(ids=ids)
    yield from _differ(_figures(case.whole), _figures(found))
    for name, result in case.whole.items():
        if not np.array_equal(result.rows, found[name].rows, equal_nan=True):
            yield name, "the rows of the documents changed"


def a_document_twice(case: Case) -> Broken:
    """Its rows are those of the original, and no others change."""
    k = case.rng.randrange(len(case.ids))
    more = {
        "ids": [*case.ids, "again"],
        **{side: [*getattr(case, side), getattr(case, side)[k]] for side in ("reference", "predicted")},
    }
    found = case.score(**more)
    for name, result in case.whole.items():
        rows = np.asarray(found[name].rows)
        if not np.array_equal(rows, np.concatenate([result.rows, np.asarray(result.rows)[k : k + 1]]), equal_nan=True):
            yield name, f"rows {np.asarray(result.rows).tolist()} became {rows.tolist()}"


def every_document_twice(case: Case) -> Broken:
    ids = [*case.ids, *(f"{key}-again" for key in case.ids)]
    found = _figures(case.score(ids=ids, reference=[*case.reference] * 2, predicted=[*case.predicted] * 2))
    for name, figures in _figures(case.whole).items():
        if not all(_close(value, found[name][key]) for key, value in figures.items()):
            yield name, f"{figures} became {found[name]}"


def swapped_sides(case: Case) -> Broken:
    """Precision and recall change places, and F1 stays."""
    found = _figures(case.score(reference=case.predicted, predicted=case.reference))
    exchanged = {"precision": "recall", "recall": "precision", "f1": "f1"}
    for name, figures in _figures(case.whole).items():
        if not all(_close(value, found[name][exchanged[key]]) for key, value in figures.items() if key in exchanged):
            yield name, f"{figures} became {found[name]}"


def _falls(before: Mapping[str, Any], after: Mapping[str, Any], names: Sequence[str]) -> bool:
    return any((before.get(key) or 0) > (after.get(key) or 0) + CLOSE for key in names if before.get(key) is not None)


def a_wrong_item(case: Case) -> Broken:
    """Precision does not rise, nor does F1, and what was perfect is not any more."""
    k = case.rng.randrange(len(case.ids))
    predicted = [case.made.wrong(one) if place == k else one for place, one in enumerate(case.predicted)]
    found = _figures(case.score(predicted=predicted))
    for name, figures in _figures(case.whole).items():
        if _falls(found[name], figures, ("precision", "f1", "score")):
            yield name, f"{figures} became {found[name]}"


def a_mended_document(case: Case) -> Broken:
    """One document's prediction becomes its reference: no figure falls."""
    k = case.rng.randrange(len(case.ids))
    predicted = [case.reference[k] if place == k else one for place, one in enumerate(case.predicted)]
    after = case.score(predicted=predicted)
    found = _figures(after)
    for name, figures in _figures(case.whole).items():
        if name not in found:  # without any item, nobody knows of entity types, and there is no `strict`
            if any(np.any(result.rows) for result in after.values()):
                yield name, "is not there"
        elif _falls(figures, found[name], ("precision", "recall", "f1", "score")):
            yield name, f"{figures} became {found[name]}"


def everything_mended(case: Case) -> Broken:
    """A corpus scored against itself: 1, wherever a figure is defined."""
    for name, result in case.score(predicted=case.reference).items():
        figures = result.changed(undefined=None).figures
        if any(
            figures.get(key) is not None and not _close(figures[key], 1)
            for key in ("precision", "recall", "f1", "score")
        ):
            yield name, f"{dict(figures)}"


def permuted_items(case: Case) -> Broken:
    """Collections without an order, in another one, on both sides."""

    def shuffled(document: Any) -> Any:
        def mixed(items: Sequence[Any]) -> list[Any]:
            return case.rng.sample(list(items), len(items))

        if case.made.shuffle == ("",):
            return mixed(document)
        return {**document, **{key: mixed(document[key]) for key in case.made.shuffle}}

    if case.made.shuffle:
        sides = {side: list(map(shuffled, getattr(case, side))) for side in ("reference", "predicted")}
        found = _figures(case.score(**sides))
        for name, figures in _figures(case.whole).items():
            if not all(_close(value, found[name][key]) for key, value in figures.items()):
                yield name, f"{figures} became {found[name]}"


def in_parts(case: Case) -> Broken:
    """Streaming, merging of what was pickled, and the sum of results."""
    if find_task(case.made.task).whole(case_settings(case)):
        return
    cut = case.rng.randrange(1, len(case.ids))
    parts = [case.taken(range(cut)), case.taken(range(cut, len(case.ids)))]
    whole = _figures(case.whole)
    runs = [ts.Evaluation(task=case.made.task, **case.options) for _ in range(3)]
    for part, run in zip(parts, runs[1:], strict=True):
        for one in (runs[0], run):
            one.update(case.made.lay(part["ids"], part["reference"]), case.made.lay(part["ids"], part["predicted"]))
    yield from _differ(whole, _figures(runs[0].compute()))
    runs[1].merge(pickle.loads(pickle.dumps(runs[2])))
    yield from _differ(whole, _figures(runs[1].compute()))
    yield from _differ(whole, _figures(reduce(add, (case.score(**part) for part in parts))))


def case_settings(case: Case) -> Any:
    from tallystick.tasks.function import settings_from

    given = {name: value for name, value in case.options.items() if name != "metrics"}
    return settings_from(find_task(case.made.task), given)


# Relations of files and commands


def as_files(case: Case) -> Broken:
    """The command prints of files what the function says of data."""
    for name, figures in _figures(case.whole).items():
        found = case.printed.get(name, {})
        if {key: found.get(key) for key in figures} != figures:
            yield name, f"data {figures}, files {found}"


def packed_and_other_line_ends(case: Case) -> Broken:
    gold, system = case.files
    packed = []
    for file in (gold, system):
        other = case.folder / f"packed-{file.name}.gz"
        other.write_bytes(gzip.compress(file.read_bytes().replace(b"\n", b"\r\n")))
        packed.append(other)
    yield from _differ(case.printed, case.command(*packed))


def as_a_json_list(case: Case) -> Broken:
    if case.files[0].suffix == ".jsonl" and case.made.task not in (
        "spans",
        "amr",
        "coreference",
        "templates",
        "roles",
        "hierarchies",
    ):
        lists = []
        for file in case.files:
            other = case.folder / f"list-{file.stem}.json"
            other.write_text(json.dumps([json.loads(line) for line in file.read_text().splitlines()]))
            lists.append(other)
        yield from _differ(case.printed, case.command(*lists))


def in_other_formats(case: Case) -> Broken:
    """Every other format of the task that can hold these documents, on both sides."""
    for name, format in case.made.formats.items():
        folder = case.folder / re.sub(r"\W+", "-", name)
        folder.mkdir()
        sides = (("gold", case.reference), ("system", case.predicted))
        files = [format.write(case.ids, side, folder / stem) for stem, side in sides]
        if format.mixed:
            files[0] = case.files[0]
        only = {"metrics": tuple(one for one in case.whole if one in format.metrics)} if format.metrics else {}
        expected = case.command(*case.files, **format.both) if format.both else case.printed
        found = case.command(*files, **format.options, **format.both, **only)
        for metric, figures in _figures(case.whole).items():
            if metric not in expected or (format.metrics and metric not in format.metrics):
                continue
            if not all(_close(expected[metric].get(key), found[metric].get(key)) for key in figures):
                yield metric, f"{name}: {expected[metric]} became {found[metric]}"


def in_shards(case: Case) -> Broken:
    for size in ("1B", "200B"):
        yield from _differ(case.printed, case.command(*case.files, "--shard", size))


def with_jobs(case: Case) -> Broken:
    yield from _differ(case.printed, case.command(*case.files, "--shard", "150B", "--jobs", "2"))


def with_a_state(case: Case) -> Broken:
    """Scored, and then taken from what was kept."""
    for _ in range(2):
        yield from _differ(
            case.printed, case.command(*case.files, "--shard", "150B", "--state", str(case.folder / "state"))
        )


def on_dask(case: Case) -> Broken:
    if case.scheduler:
        yield from _differ(case.printed, case.command(*case.files, "--shard", "150B", "--scheduler", case.scheduler))


Relation = Callable[[Case], Broken]
OF_DATA: tuple[Relation, ...] = (
    permuted_documents, other_order_on_one_side, renamed_ids, a_document_twice, every_document_twice, swapped_sides, a_wrong_item,
    a_mended_document, everything_mended, permuted_items, in_parts,
)  # fmt: skip
OF_FILES: tuple[Relation, ...] = (
    as_files, packed_and_other_line_ends, as_a_json_list, in_other_formats, in_shards, with_a_state,
)  # fmt: skip
SLOW: tuple[Relation, ...] = (with_jobs, on_dask)

_TWINLESS = "mentions without a twin are moved to the other side, for precision and recall in different ways"
_SUBSET = "a predicted entity has to lie inside a reference entity"
_SCIREX = "SciREX's procedure: a span becomes the first reference span that fits, entities may fall together, 10⁻⁷ in denominators"
_OF = {
    "swapped_sides": {
        "spans contain constrained_overlap": "a prediction may have tokens too many or too few, and each of the two has its own bound",
        "spans nervaluate_ent_type nervaluate_partial nervaluate_strict nervaluate_exact": "nervaluate's count: predictions take reference entities in order",
        "coreference blanc": "a class of links that the key does not have is left out of the means, as in the reference scorer; one that only the response lacks is not",
        "coreference b3_0 b3_all b3_rahman_ng ceaf_m_rahman_ng ceaf_e_rahman_ng b3_cai_strube ceaf_m_cai_strube": _TWINLESS,
        "events gen_arg_i gen_arg_c gen_arg_i_head gen_arg_c_head": "gen-arg's count: several predictions may be right by one reference argument",
        "roles ceaf_ree grit_strict grit_prop rme_subset rme_subset_literal rme_phi3 rme_phi3_covered": f"{_SUBSET}, or mentions are matched N:1",
        "nary clusters n2 n3": "more than half of the *predicted* mentions have to meet (eq. 30)",
        "nary scirex_clusters scirex_n2 scirex_n3": _SCIREX,
        "templates gtt iterx_subset chen_subset eq32 iterx_subset_quirks eq32_fillers": _SUBSET,
        "templates granular": "predicted types may be found once for each reference template",
    },
    "everything_mended": {
        "coreference conll": "MUC is 0/0 where no entity has two mentions, which counts as 0 in the mean of three",
        "roles rme_phi3_covered rme_subset_literal": "an entity counts by its best mention, or once for each mention: eq. 27 and 28 as printed",
        "nary scirex_clusters scirex_n2 scirex_n3": _SCIREX,
    },
    "a_mended_document": {
        "nary scirex_clusters scirex_n2 scirex_n3": _SCIREX,
        "roles rme_phi3 rme_subset_literal rme_phi3_covered": "several predictions may find one reference entity, so that recall exceeds 1 until this is mended: eq. 27 and 28 as printed",
    },
    "a_wrong_item": {
        "nary scirex_clusters scirex_n2 scirex_n3": _SCIREX,
        "dependencies mlas": "a word is right with its function words; a wrong relation may take a wrong function word away from it",
    },
    "permuted_items": {"nary scirex_clusters scirex_n2 scirex_n3": _SCIREX},
    "other_order_on_one_side": {"dependencies *": "files over one text have one order, and another is refused"},
}
EXEMPT = {
    (kind, metric, relation): why
    for relation, found in _OF.items()
    for names, why in found.items()
    for kind, *metrics in [names.split()]
    for metric in metrics
}
"""(kind of documents, metric, relation): why it does not hold."""


def exemption(kind: str, metric: str, relation: str) -> str:
    """Why a relation need not hold for a metric, or for any of its kind; empty if it must."""
    return EXEMPT.get((kind, metric, relation)) or EXEMPT.get((kind, "*", relation), "")


REFUSALS = ("figures depend on the", "the corpus is scored as a whole")
"""What is refused with its reason, instead of giving other figures, is no break; it is counted."""


@dataclass
class Tally:
    """What a run has seen."""

    cases: Counter[str]
    metrics: set[tuple[str, str]]
    checks: int
    broken: dict[tuple[str, str, str], tuple[int, str]]
    refused: Counter[tuple[str, str]]


def try_relations(
    kind: str, relations: Sequence[Relation], examples: int, seed: int, tally: Tally, scheduler: str = ""
) -> None:
    """Draw corpora of one kind, and try every relation on each, for each variant of the options."""
    for variant in MADE[kind].variants:
        _try_variant(kind, variant, relations, examples, seed, tally, scheduler)


def _try_variant(
    kind: str, variant: str, relations: Sequence[Relation], examples: int, seed: int, tally: Tally, scheduler: str
) -> None:
    made = MADE[kind]

    @hypothesis.seed(f"{seed}-{kind}-{variant}")
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(made.pairs, min_size=2, max_size=5), st.integers(0, 2**32))
    def on(pairs: list[tuple[Any, Any]], chance: int) -> None:
        sides = [[pair[k] for pair in pairs] for k in (0, 1)]
        ids = [f"d{k}" for k in range(len(pairs))]
        with tempfile.TemporaryDirectory() as folder:
            case = Case(made, made.variants[variant], ids, *sides, random.Random(chance), Path(folder), scheduler)
            for relation in relations:
                _try(kind, relation, case, tally)

    on()


def _try(kind: str, relation: Relation, case: Case, tally: Tally) -> None:
    name = relation.__name__
    try:
        broken = dict(reversed(list(relation(case))))
    except TallystickError as error:
        broken = {"*": f"{type(error).__name__}: {error}"}
        if any(one in str(error) for one in REFUSALS):
            tally.refused[kind, name] += 1
            broken = {}
    tally.cases[name] += 1
    tally.metrics |= {(kind, metric) for metric in case.whole}
    tally.checks += len(case.whole)
    for metric, what in broken.items():
        count, smallest = tally.broken.get((kind, metric, name), (0, ""))
        shown = f"{what}\n    reference {case.reference!r}\n    predicted {case.predicted!r}\n    options {dict(case.options)!r}"
        tally.broken[kind, metric, name] = count + 1, min((smallest or shown, shown), key=len)


def main(arguments: Sequence[str] | None = None) -> int:
    """The recorded run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.metamorphic", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="TASK", help=f"of {', '.join(MADE)}")
    parser.add_argument("--examples", type=int, default=30, help="corpora for each relation and variant of options")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slow", action="store_true", help="also --jobs and, where distributed is installed, Dask")
    parser.add_argument("--relation", action="append", help="only this relation; may be repeated")
    asked = parser.parse_args(arguments)
    tally, began = Tally(Counter(), set(), 0, {}, Counter()), time.process_time()
    relations = [one for one in (*OF_DATA, *OF_FILES) if not asked.relation or one.__name__ in asked.relation]
    slow = [one for one in SLOW if asked.slow and (not asked.relation or one.__name__ in asked.relation)]
    with _cluster() if slow else contextlib.nullcontext("") as scheduler:
        for kind in asked.kinds or MADE:
            before = time.process_time()
            try_relations(kind, relations, asked.examples, asked.seed, tally)
            try_relations(kind, slow, max(1, asked.examples // 10), asked.seed, tally, scheduler) if slow else None
            print(f"{kind}: {time.process_time() - before:.1f} s", file=sys.stderr, flush=True)
    faults = report(tally)
    print(f"{time.process_time() - began:,.0f} CPU s")
    return 1 if faults else 0


def report(tally: Tally) -> int:
    """Print what was tried and what broke; the number of faults."""
    print(
        f"{len(tally.metrics)} metrics, {len(tally.cases)} relations, {sum(tally.cases.values()):,} cases, {tally.checks:,} comparisons"
    )
    for (kind, relation), count in sorted(tally.refused.items()):
        print(f"refused with its reason: {kind} {relation} ({count} cases)")
    known = {key: found for key, found in tally.broken.items() if exemption(*key)}
    new = {key: found for key, found in tally.broken.items() if key not in known}
    for (kind, metric, relation), (count, _) in sorted(known.items()):
        print(f"exempt: {kind} {metric} {relation} ({count} cases): {exemption(kind, metric, relation)}")
    for (kind, metric, relation), (count, smallest) in sorted(new.items()):
        print(f"BROKEN: {kind} {metric} {relation}, {count} cases, the smallest: {smallest}")
    print(f"{len(new)} broken")
    return len(new)


@contextlib.contextmanager
def _cluster() -> Iterator[str]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster.scheduler_address),
    ):
        yield cluster.scheduler_address


if __name__ == "__main__":
    sys.exit(main())

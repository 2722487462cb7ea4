"""Whether "if mended" is what it says: over random corpora of every task, each kind of error is mended, the mended prediction is written in
the task's own format, and that file is scored like any other. Its figures equal those of `--errors`, to the bit.

    python -m benchmarks.mended                     200 random corpora of each task
    python -m benchmarks.mended 20 events amr       so many, of some tasks

A corpus is perfect once all of its errors are mended: whatever costs something is found. It leaves with 1 if a figure differs, if a mended
corpus is not perfect, or if a kind of error never occurs.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchmarks.mended_data import SAMPLES, Sample
from tallystick.errors import InputError, TallystickError
from tallystick.results.results import Results
from tallystick.tasks.contract import find_task
from tallystick.tasks.function import function_of

Problem = str


def check(task: str, seed: int, counts: Counter[str] | None = None) -> list[Problem]:
    """What is wrong with one random corpus; nothing if all is well. `counts` takes how often each kind occurs."""
    sample, draw = SAMPLES[task], random.Random(f"{task} {seed}")
    results, reference, options = _drawn(task, sample, draw)
    found = results.errors()
    if counts is not None:
        counts.update(one.kind for one in found.mistakes)
    mends = {
        kind.kind: ([one for one in found.mistakes if one.kind == kind.kind], kind.mended)
        for kind in found.kinds
        if kind.count
    }
    mends |= {"all": (list(found.mistakes), found.mended)} if found.mistakes else {}
    background: Any = results.background
    problems = []
    for kind, (some, mended) in mends.items():
        corpus = find_task(task).mend(background.scored[0].corpus, some, background.settings)
        again = _score(task, reference, sample.write(corpus), tuple(results), options)
        found_wrong = [*_differences(again, mended), *(_imperfect(sample, again) if kind == "all" else ())]
        problems += [f"{task}, seed {seed}, {kind} mended: {one}" for one in found_wrong]
    return problems + (
        [] if mends else [f"{task}, seed {seed}: {one}, and no error" for one in _imperfect(sample, results)]
    )


def _drawn(task: str, sample: Sample, draw: random.Random) -> tuple[Results, Any, Any]:
    """A corpus that the task takes: links that go round in a circle, for one, are drawn again."""
    while True:
        reference, predicted, options = sample.draw(draw)
        try:
            return function_of(task)(reference, predicted, **options), reference, options
        except TallystickError:
            continue


def _score(task: str, reference: Any, predicted: Any, metrics: tuple[str, ...], options: Any) -> dict[str, Any]:
    """The results of a file; a metric that it has nothing for has none."""
    names = find_task(task).metric_names(dict.fromkeys(metrics))
    given = {**options, **({"metrics": names} if find_task(task).named_metrics else {})}
    try:
        return dict(function_of(task)(reference, predicted, **given))
    except TallystickError as error:
        if isinstance(error, InputError) and SAMPLES[task].otherwise is not None:
            return SAMPLES[task].otherwise(reference, predicted)
        parts = [_score(task, reference, predicted, (name,), options) for name in metrics] if len(metrics) > 1 else []
        return {name: result for part in parts for name, result in part.items()}


def _differences(results: Mapping[str, Any], mended: Mapping[str, Any]) -> list[Problem]:
    written = {(name, figure): value for name, result in results.items() for figure, value in result.figures.items()}
    said = {(name, figure): value for name, figures in mended.items() for figure, value in figures.items()}
    return [
        f"{name} {figure} is {written.get((name, figure))!r} in the file, and said to be {said.get((name, figure))!r}"
        for name, figure in {**written, **said}
        if written.get((name, figure)) != said.get((name, figure))
    ]


def _imperfect(sample: Sample, results: Mapping[str, Any]) -> list[Problem]:
    """The figures of a corpus without errors that are neither perfect nor 0/0."""
    return [
        f"{metric} {figure} is {value}"
        for metric, result in results.items()
        if metric not in sample.never_perfect
        for figure, value in result.changed(undefined=None).figures.items()
        if value not in (None, sample.perfect.get(figure, value))
    ]


def main(arguments: list[str]) -> int:
    """All tasks, or some."""
    many = int(arguments[0]) if arguments and arguments[0].isdigit() else 200
    wrong = 0
    for task in [name for name in arguments if not name.isdigit()] or SAMPLES:
        counts: Counter[str] = Counter()
        started = time.process_time()
        problems = [one for seed in range(many) for one in check(task, seed, counts)]
        never = [kind for kind in find_task(task).kinds if kind not in counts and kind not in SAMPLES[task].not_drawn]
        problems += [f"{task}: {kind} never occurred" for kind in never]
        took = time.process_time() - started
        print(
            f"{task:14} {many:,} corpora, {sum(counts.values()):,} errors of {len(counts)} kinds, {len(problems)} problems, {took:.1f} s"
        )
        for one in problems[:10]:
            print(f"    {one}")
        wrong += len(problems)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`tallystick cite`: BibTeX for what a paper used."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import click

from tallystick.errors import InputError, MetricError, did_you_mean
from tallystick.tasks.contract import Task, find_task, task_names
from tallystick.version import __version__


@click.command()
@click.argument("what", nargs=-1, metavar="[TASK|METRIC|RESULT.json]...")
def cite(what: tuple[str, ...]) -> None:
    """Print BibTeX for the papers that define metrics, for the framework, and for tallystick itself.

    Name tasks, metrics (TASK.METRIC, or METRIC if only one task has it), statistics (bootstrap, bca, randomisation, holm,
    kendall, spearman), or a result as `score` and `compare` write it with --format json or --save.

    \b
    tallystick cite coreference
    tallystick cite spans.segment spans.ts bootstrap holm > metrics.bib
    tallystick cite result.json
    """
    words = [word for one in what for word in (_words_of(one) if os.path.isfile(one) else [one])]
    click.echo(bibtex(cited(words)))


def _words_of(file: str) -> list[str]:
    """What a result used: its metrics, and the statistics of a comparison."""
    from tallystick.files.json_values import decode_line
    from tallystick.files.source import read_text

    text = read_text(file)
    if not text.lstrip().startswith("{"):
        raise InputError(
            "is no result; expected what score or compare --format json has written, or score --save", file
        )
    content: dict[str, Any] = decode_line(text, file)
    task, metrics = content.get("task"), content.get("metrics")
    if not isinstance(task, str) or not isinstance(metrics, dict):
        raise InputError(
            "does not say its task and metrics; expected what score or compare --format json has written", file
        )
    settings = str(content.get("settings", ""))
    used = [word for word in STATISTICS if re.search(rf"={word}\b", settings)]
    ranked = ["kendall", "spearman"] if content.get("correlations") else []
    return [*(f"{task}.{metric}" for metric in metrics), *used, *ranked]


# References: which papers define which metrics, as BibTeX.
#
# A task declares them once, by metric (`cites`), as keys of `references.bib`; statistics have theirs here. The paper whose framework all
# metrics are expressed in, and tallystick itself, belong to every result.


FRAMEWORK = "chen-etal-2023-unified"
STATISTICS = {
    "bootstrap": ("efron-1979-bootstrap",), "bca": ("efron-1987-better",), "randomisation": ("noreen-1989-computer",),
    "holm": ("holm-1979-simple",), "kendall": ("kendall-1938-new",), "spearman": ("spearman-1904-proof",),
}  # fmt: skip
SOFTWARE = f"""@misc{{tallystick,
    title = {{tallystick: one system to evaluate structured predictions}},
    author = {{{{The tallystick authors}}}},
    version = {{{__version__}}},
    howpublished = {{Software, Apache-2.0}},
}}"""


@cache
def entries() -> dict[str, str]:
    """The entries of BibTeX by their keys."""
    text = files("tallystick.tasks").joinpath("references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^(@\w+\{([^,]+),\n.*?^\})$", text, re.DOTALL | re.MULTILINE)
    return {key: entry for entry, key in found}


def metric_names(task: Task) -> list[str]:
    """The metrics of a task that can be named, as far as they are known before any file is read."""
    try:
        known = getattr(importlib.import_module(f"tallystick.tasks.{task.name}.metrics"), "METRICS", {})
    except ModuleNotFoundError:
        known = {}
    return list(dict.fromkeys((*known, *(name for name in task.cites if name))))


def keys_of(task: Task, metric: str) -> tuple[str, ...]:
    """The keys of the papers that define a metric."""
    return tuple(dict.fromkeys((*task.cites.get(metric, ()), *task.cites.get("", ()))))


def cited(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By what was asked for (a task, TASK.METRIC, a metric, or a word of statistics) the keys of the papers that define it."""
    out: dict[str, tuple[str, ...]] = {}
    for word in words:
        out |= {word: STATISTICS[word]} if word in STATISTICS else dict(_of_task(word))
    return out


def _of_task(word: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    name, dot, metric = word.partition(".")
    if name in task_names():
        task = find_task(name)
        names = metric_names(task)
        if metric and metric not in names and name != "records":
            raise MetricError(
                f"{name} has no metric {metric!r}; there are {', '.join(names)}.{did_you_mean(metric, names)}"
            )
        for one in [metric] if dot else names or [""]:
            yield ".".join(filter(None, (name, one))), keys_of(task, one)
        return
    having = [task for task in task_names() if word in metric_names(find_task(task))]
    if len(having) == 1:
        yield f"{having[0]}.{word}", keys_of(find_task(having[0]), word)
        return
    if having:
        raise MetricError(f"{word} is a metric of {' and '.join(having)}; say which: {having[0]}.{word}")
    known = [*task_names(), *STATISTICS, *(one for task in task_names() for one in metric_names(find_task(task)))]
    raise MetricError(
        f"{word}: no file, task or metric is called so; expected a task, TASK.METRIC, {', '.join(STATISTICS)} or a result as JSON."
        f"{did_you_mean(word, known)}"
    )


def bibtex(found: Mapping[str, Sequence[str]]) -> str:
    """What is cited for what, and the entries, each once."""
    keys = dict.fromkeys((FRAMEWORK, *(key for one in found.values() for key in one)))
    lines = [f"% {word}: {', '.join(one or (FRAMEWORK,))}" for word, one in found.items()]
    return "\n\n".join([*(["\n".join(lines)] if lines else []), SOFTWARE, *(entries()[key] for key in keys)])

"""What there is and how it looks: `list`, `demo`, `cite` (BibTeX for what a paper used), and which task a file is for."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import click

from tallystick.cli.main import formats, tallystick
from tallystick.errors import InputError, MetricError, did_you_mean
from tallystick.tasks.contract import Task, find_task, task_names
from tallystick.version import __version__

# A file for another task: what it looks like, for the hint behind an error.
#
#     Error: gold.conll:1:1: is not JSON: invalid character
#     gold.conll looks like a file for `tallystick score coreference`.
#
# Only looked for once a file could not be read, in its first few kilobytes.

_BEGINNINGS = (
    (r"#\s*begin document", ("coreference",)),
    (r"\s*0\.\s+MESSAGE: ID", ("templates",)),
    (r"(?:#.*\n)*\s*\(\s*\S+\s*/", ("amr",)),
    (r"(?:#.*\n)*(?:[^\t\n]*\t){0,2}\((?:\w|\{)[^/]*$", ("hierarchies",)),
    (r"(?:#.*\n)*\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}\n", ("dependencies", "coreference", "spans")),
    (r"[TER]\d+\t\S+", ("spans", "relations", "events", "hierarchies")),
    (r"system,|(?:[^\n,]+,)+(?:system|metric|value)", ("compare figures",)),
    (r"\S+[ \t]+(?:\S+[ \t]+)*(?:O|[BIESLU]-\S+)\n", ("spans",)),
)
_KEYS = (
    (("n_ary_relations",), ("nary",)), (("sentences", "ner"), ("spans", "relations", "events", "coreference", "arguments")),
    (("predicted_relations",), ("nary",)),
    (("clusters",), ("coreference",)), (("predicted_clusters",), ("coreference",)), (("triples",), ("amr",)),
    (("spans",), ("spans",)), (("vertexSet",), ("relations",)), (("h_idx",), ("relations",)),
    (("relations", "args"), ("nary",)), (("relations",), ("relations",)),
    (("events", "links"), ("hierarchies",)), (("events",), ("events", "arguments")), (("event_mentions",), ("events",)),
    (("evt_triggers",), ("events",)), (("roles",), ("roles",)), (("extracts",), ("roles",)), (("templates",), ("templates",)),
)  # fmt: skip
_LOOKED_AT = 1 << 13


def looks_like(file: str) -> tuple[str, ...]:
    """The tasks whose files begin like this one; none if nothing can be said."""
    if not os.path.isfile(file) or file.endswith(".gz"):
        return ()
    try:
        with open(file, "rb") as stream:
            text = stream.read(_LOOKED_AT).decode("utf-8-sig", "replace")
    except OSError:
        return ()
    text = text.lstrip("\n").replace("\r\n", "\n")
    if text[:1] in ("{", "["):
        keys = set(re.findall(r'"(\w+)"\s*:', text))
        return next(
            (tasks for needed, tasks in _KEYS if keys.issuperset(needed)), ("records",) if _is_object(text) else ()
        )
    return next((tasks for pattern, tasks in _BEGINNINGS if re.match(pattern, text)), ())


def _is_object(text: str) -> bool:
    import json

    try:
        return isinstance(json.loads(text.split("\n", 1)[0]), dict)
    except (ValueError, RecursionError):
        return False


def hint(file: str | None, arguments: list[str]) -> str:
    """What to say after an error about a file, if it looks like one for another task than the one that was asked for."""
    asked = [word for word in arguments[:2] if not word.startswith("-")]
    if file is None or len(asked) < 2 or asked[0] not in ("score", "explain", "compare") or file not in arguments:
        return ""
    tasks = looks_like(file)
    if not tasks or asked[1] in tasks or " ".join(asked) in tasks or tasks == ("records",):
        return ""
    commands = " or ".join(f"`tallystick {task if ' ' in task else f'score {task}'}`" for task in tasks)
    return f"\n{file} looks like a file for {commands}."


# `tallystick list`: what there is.


def print_listing(what: str) -> None:
    """Tasks, parts of metrics and formats, a line each."""
    import inspect

    if what in ("all", "tasks"):
        click.echo("Tasks (tallystick score TASK REFERENCE PREDICTED)")
        for name in task_names():
            click.echo(f"  {name:14}{find_task(name).summary}")
    if what in ("all", "similarities"):
        from tallystick.algebra.parse import constructors

        click.echo("\nParts of a metric (for --metric, and in Python)" if what == "all" else "Parts of a metric")
        for name, part in constructors().items():
            summary = (inspect.getdoc(part) or "").split("\n")[0]
            click.echo(f"  {name:14}{summary}")
    if what in ("all", "formats"):
        click.echo("\nFormats" if what == "all" else "Formats")
        click.echo("  " + ", ".join(formats()))


# `tallystick demo`: the main job on a bundled example, as a user would do it.


def run_demo() -> None:
    """Two commands, printed and run."""
    from importlib.resources import files

    folder = files("tallystick.examples")
    gold, system, types = (
        str(folder / name) for name in ("invoices.gold.jsonl", "invoices.system.jsonl", "invoices.py")
    )
    steps = [
        ("How good is it, and which field is worst?", "score"),
        ("Why? The worst document, what was matched with what.", "explain"),
    ]
    for title, command in steps:
        arguments = [command, "records", gold, system, "--type", f"{types}:Invoice"]
        if command == "score":
            arguments += ["--format", "table"]
        click.secho(f"\n{title}", bold=True)
        click.echo("$ tallystick " + " ".join(a.replace(str(folder) + "/", "") for a in arguments))
        sys.stdout.flush()
        code = tallystick.run(arguments, "tallystick")
        if code:
            sys.exit(code)
    click.echo(f"\nThe files are in {folder}")


def copy_examples(target: str) -> None:
    """The bundled files in a folder of the user's; never over files that are already there."""
    from importlib.resources import files
    from pathlib import Path

    folder = Path(target)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("already exists; expected a new or empty folder", target)
    there = folder.exists()
    kept = [file for file in files("tallystick.examples").iterdir() if file.is_file() and file.name != "__init__.py"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in kept:
            (folder / file.name).write_bytes(file.read_bytes())
    except OSError as error:  # all of them, or none
        for file in kept:
            (folder / file.name).unlink(missing_ok=True)
        if not there and folder.is_dir():
            folder.rmdir()
        raise InputError(f"cannot be written: {error.strerror}", target) from None
    click.echo(f"Copied {len(kept)} example files into {target}")


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
    from importlib.resources import files

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

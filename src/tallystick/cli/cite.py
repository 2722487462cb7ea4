"""`tallystick cite`: BibTeX for what a paper used."""

from __future__ import annotations

import os
from typing import Any

import click

from tallystick.errors import InputError


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
    from tallystick.tasks.citing import bibtex, cited

    words = [word for one in what for word in (_words_of(one) if os.path.isfile(one) else [one])]
    click.echo(bibtex(cited(words)))


def _words_of(file: str) -> list[str]:
    """What a result used: its metrics, and the statistics of a comparison."""
    import re

    from tallystick.files.json_values import decode_line
    from tallystick.files.source import read_text
    from tallystick.tasks.citing import STATISTICS

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

"""`score amr` and `explain amr`: Smatch over graphs of meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import (
    Common,
    common_options,
    files,
    finish,
    metric_option,
    progress,
    say,
    versus,
)

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.tasks.amr.files import Graphs
    from tallystick.tasks.amr.scores import Counts
    from tallystick.tasks.amr.triples import Counting

MAIN = "smatch"
NO_BREAKDOWN = {"label": "--by document, or --subscores", "field": "--by document, or --subscores"}
INPUT = "kind"

LONG_RUN = 5.0
"""Seconds from which on a run says how long its pairs took."""


def graph_options(command: Any) -> Any:
    """How graphs are read, and what counts as a triple."""
    options = [
        click.option("--preset", type=click.Choice(["tallystick", "smatch", "smatchpp", "smatchpp-amr"]), default="tallystick",
                     show_default=True, help="Whose way of counting triples; the options below change single choices of it."),
        click.option("--root", type=click.Choice(["none", "constant", "concept"]), help="How the root counts: not, as a mark, or by its concept."),
        click.option("--duplicates", type=click.Choice(["multiset", "removed", "product"]), help="How triples that occur twice in a graph count."),
        click.option("--mod", type=click.Choice(["domain", "canonical", "mod", "keep"]), help="How :mod and :domain are made one."),
        click.option("--input", "kind", type=click.Choice(["auto", "penman", "triples"]), default="auto", show_default=True,
                     help="PENMAN, or triples (JSON Lines, or a triple a line); auto tells PENMAN from JSON Lines."),
        click.option("--lenient", is_flag=True, help="Count a graph that cannot be read as empty, and list it."),
        click.option("--limit", "seconds", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                     help="At most this long for each pair; the score then has bounds."),
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@common_options
@graph_options
@click.option(
    "--subscores", is_flag=True, help="Also the fine-grained scores: unlabelled, concepts, named entities, ..."
)
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], preset: str, root: str | None, duplicates: str | None,
    mod: str | None, kind: str, lenient: bool, seconds: float | None, common: Common, subscores: bool,
) -> None:  # fmt: skip
    """Score graphs of meaning by Smatch: REFERENCE and PREDICTED are PENMAN files, or triples.

    Every score is the proven optimum. Graphs are paired by their # ::id where all have one, else by order.

    \b
    tallystick score amr gold.amr system.amr
    tallystick score amr gold.amr system.amr --preset smatch --subscores --by document --rows 10
    """
    import time

    counting = _counting(preset, root, duplicates, mod)
    left, right = _read(reference, predicted, kind, lenient)
    started = time.monotonic()
    with progress("matching") as advance:
        scored, counts = _score(left, right, counting, metrics, subscores, seconds, advance)
    took = time.monotonic() - started

    def report() -> Parts:
        from tallystick.tasks.amr.show import meaning_parts

        return meaning_parts(left, right, counting, counts, seconds)

    finish(scored, common, title=versus(predicted, reference), report=report)
    if counts is not None and (took > LONG_RUN or not counts.optimal.all()):
        say(_times(counts, next(iter(scored.values())).ids, took))


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], preset: str, root: str | None, duplicates: str | None,
    mod: str | None, kind: str, lenient: bool, seconds: float | None, subscores: bool, missing: Missing | None = None,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system."""
    from tallystick.tasks.amr.files import with_missing

    left, right = _read(reference, predicted, kind, lenient)
    right = with_missing(left, right, missing) if missing else right
    return _score(left, right, _counting(preset, root, duplicates, mod), metrics, subscores, seconds, None)[0]


@click.command()
@files
@graph_options
@click.option(
    "--document", metavar="ID", help="Which graph: its id, or its place from 1 without ids.  [default: the worst]"
)
@click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True)
def explain(
    reference: str, predicted: str, preset: str, root: str | None, duplicates: str | None, mod: str | None, kind: str,
    lenient: bool, seconds: float | None, document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show which variable is which in one pair of graphs, and which triples match, are missed, are spurious."""
    from tallystick.cli.tree import show_explanation
    from tallystick.tasks.amr.metrics import explain as explain_pair

    counting = _counting(preset, root, duplicates, mod)
    left, right = _read(reference, predicted, kind, lenient)
    name, tree = explain_pair(left, right, counting, document=document, limit=seconds)
    if document is None:
        say(f"graph {name}, the worst of {len(left):,}")
    show_explanation(tree, f"graph {name}", format_)


def _score(
    left: Graphs, right: Graphs, counting: Counting, metrics: tuple[str, ...], subscores: bool, seconds: float | None,
    advance: Callable[[int, int], None] | None,
) -> tuple[dict[str, Result], Counts | None]:  # fmt: skip
    from tallystick.tasks.amr.metrics import METRICS, score

    chosen = metrics or (METRICS if subscores else ("smatch",))
    return score(left, right, counting, metrics=chosen, limit=seconds, progress=advance)


def _counting(preset: str, root: str | None, duplicates: str | None, mod: str | None) -> Counting:
    from tallystick.tasks.amr.triples import preset as preset_named

    chosen = {"root": root, "duplicates": duplicates, "mod": mod}
    return preset_named(preset, **{name: value for name, value in chosen.items() if value is not None})


def _read(reference: str, predicted: str, kind: str, lenient: bool) -> tuple[Graphs, Graphs]:
    from tallystick.errors import InputError
    from tallystick.files.source import read_text, shown_name
    from tallystick.tasks.amr.files import parse_penman

    sides = []
    for name in (reference, predicted):
        text = read_text(name)
        if not text.strip():
            raise InputError("holds no graphs; expected PENMAN or triples", shown_name(name))
        if kind == "triples" or (kind == "auto" and text.lstrip()[:1] == "{"):
            from tallystick.tasks.amr.triples_files import parse_triples

            sides.append(parse_triples(text, file=shown_name(name), lenient=lenient))
        else:
            sides.append(parse_penman(text, file=shown_name(name), lenient=lenient))
    return sides[0], sides[1]


def _times(counts: Counts, ids: tuple[Any, ...], took: float) -> str:
    """How long a run took, and the pairs that took longest."""
    slow = (-counts.seconds).argsort(kind="stable")[:3].tolist()
    listed = ", ".join(f"{ids[k]} {counts.seconds[k]:.2f} s" for k in slow if counts.seconds[k] > 0.01)
    each = 1000 * took / max(1, len(ids))
    return f"{took:.1f} s, {each:.1f} ms a pair" + (f"; the slowest: {listed}" if listed else "")

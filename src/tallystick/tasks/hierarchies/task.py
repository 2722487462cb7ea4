"""`score hierarchies` and `explain hierarchies`: partial event coreference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallystick.cli.output import Common, common_options, files, finish, metric_option, say, versus

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.report import Parts
    from tallystick.results.result import Result

MAIN = "muc_p"
NO_BREAKDOWN = {"label": "--by document, or --kind", "field": "--by document, or --kind"}


@click.command()
@files
@metric_option
@common_options
@click.option(
    "--kind", "kinds", multiple=True, metavar="TYPE", help="Only links of this type, e.g. membership; may be repeated."
)
@click.option("--transitive", is_flag=True, help="A link holds for all descendants too (section 4.4 of the paper).")
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], common: Common, kinds: tuple[str, ...], transitive: bool
) -> None:  # fmt: skip
    """Score event hierarchies: REFERENCE and PREDICTED are forests in parentheses (Newick), JSON Lines, or brat .ann files
    or folders.

    \b
    tallystick score hierarchies gold.newick system.newick
    tallystick score hierarchies gold.jsonl system.jsonl --kind membership --metric muc_p
    """
    from tallystick.tasks.hierarchies.files import read_hierarchies
    from tallystick.tasks.hierarchies.metrics import METRICS, HierarchyOptions
    from tallystick.tasks.hierarchies.metrics import score as score_all

    left, right = (read_hierarchies(name) for name in (reference, predicted))

    def report() -> Parts:
        from tallystick.tasks.hierarchies.show import forests_parts

        return forests_parts(left, right, kinds)

    scored = score_all(left, right, metrics or tuple(METRICS), HierarchyOptions(kinds, transitive))
    finish(scored, common, title=versus(predicted, reference), report=report)


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], kinds: tuple[str, ...], transitive: bool,
    missing: Missing | None = None,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system."""
    from tallystick.tasks.hierarchies.files import read_hierarchies, with_missing
    from tallystick.tasks.hierarchies.metrics import METRICS, HierarchyOptions
    from tallystick.tasks.hierarchies.metrics import score as score_all

    left, right = (read_hierarchies(name) for name in (reference, predicted))
    right = with_missing(left, right, missing) if missing else right
    return score_all(left, right, metrics or tuple(METRICS), HierarchyOptions(kinds, transitive))


@click.command()
@files
@click.option("--kind", default="", metavar="TYPE", help="The type of links.  [default: the first that occurs]")
@click.option("--document", metavar="NAME", help="Which document.  [default: the worst by MUC_p]")
@click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True)
def explain(reference: str, predicted: str, kind: str, document: str | None, format_: str) -> None:
    """Show which links of one document MUC_p matches."""
    from tallystick.cli.tree import show_explanation
    from tallystick.tasks.hierarchies.files import read_hierarchies
    from tallystick.tasks.hierarchies.metrics import explain as explain_document

    name, tree = explain_document(read_hierarchies(reference), read_hierarchies(predicted), kind, document)
    if document is None:
        say(f"document {name}, the worst by MUC_p")
    show_explanation(tree, f"document {name}", format_)

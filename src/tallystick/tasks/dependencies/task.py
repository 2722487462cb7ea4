"""`score dependencies`: the UD evaluation of two CoNLL-U files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import click

from tallystick.cli.output import Common, common_options, files, finish, metric_option, versus

if TYPE_CHECKING:
    from tallystick.results.report import Parts
    from tallystick.results.result import Result

MAIN = "las"
NO_MISSING = "dependencies are scored over one text that both sides share, so that no document can be missing"

Unit = Literal["document", "block", "auto"]


@click.command()
@files
@metric_option
@common_options
@click.option(
    "--unit", type=click.Choice(["auto", "document", "block"]), default="auto", show_default=True,
    help="What a row of the tally is: a # newdoc document, or a block of text that both sides bound alike.",
)  # fmt: skip
@click.option("--several-roots", is_flag=True, help="Allow sentences with more than one root.")
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], common: Common,
    unit: Unit, several_roots: bool
) -> None:  # fmt: skip
    """Score dependencies: REFERENCE and PREDICTED are CoNLL-U files over the same text.

    \b
    tallystick score dependencies gold.conllu system.conllu
    tallystick score dependencies gold.conllu system.conllu --metric las --by document
    """
    from tallystick.tasks.dependencies import metrics as dependencies
    from tallystick.tasks.dependencies.alignment import find_units
    from tallystick.tasks.dependencies.files import read_conllu

    gold, system = (read_conllu(name, several_roots=several_roots) for name in (reference, predicted))
    units = find_units(gold, system, by=unit)

    def report() -> Parts:
        from tallystick.tasks.dependencies.show import arcs_parts

        return arcs_parts(gold, system, units)

    scored = dependencies.score(gold, system, metrics or dependencies.METRICS, units=units)
    finish(scored, common, title=versus(predicted, reference), report=report)


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], unit: Unit, several_roots: bool
) -> dict[str, Result]:
    """The results of one system."""
    return results_of_systems(reference, {"": predicted}, metrics, unit, several_roots)[""]


def results_of_systems(
    reference: str, systems: Mapping[str, str], metrics: tuple[str, ...], unit: Unit, several_roots: bool
) -> dict[str, dict[str, Result]]:
    """The results of several systems, over units that all of them bound alike."""
    from tallystick.tasks.dependencies import metrics as dependencies
    from tallystick.tasks.dependencies.alignment import find_units
    from tallystick.tasks.dependencies.files import read_conllu

    gold = read_conllu(reference, several_roots=several_roots)
    banks = {name: read_conllu(file, several_roots=several_roots) for name, file in systems.items()}
    units = find_units(gold, *banks.values(), by=unit)
    return {
        name: dependencies.score(gold, bank, metrics or dependencies.METRICS, units=units)
        for name, bank in banks.items()
    }

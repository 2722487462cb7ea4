"""`tallystick judge agreement`: kappa between judges, the cross table, and where they differ."""

from __future__ import annotations

import click

from tallystick.cli.output import FORMATS, chosen_format, say, show_tables
from tallystick.errors import MetricError


@click.command()
@click.argument("store")
@click.argument("first", required=False)
@click.argument("second", required=False)
@click.option(
    "--against",
    metavar="JUDGE",
    help="Hold every judge against this one.  [default: what people decided, the more experienced where they differ]",
)
@click.option("--differences", is_flag=True, help="Also list the questions that two judges answered differently.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv.")
def agreement(
    store: str, first: str | None, second: str | None, against: str | None, differences: bool, format_: str | None
) -> None:
    """How far the judges in STORE agree: Cohen's kappa on three labels, and on two (Partial is Incorrect).

    \b
    tallystick judge agreement judgements.sqlite                    people with each other, models with people
    tallystick judge agreement judgements.sqlite anna ben           two judges, with their cross table
    tallystick judge agreement judgements.sqlite anna ben --differences
    tallystick judge agreement judgements.sqlite --against anna --format latex

    A model that was asked with several prompts is several judges: NAME@VERSION, as `tallystick judge judges` lists them;
    the start of the version is enough.
    """
    import json

    from tallystick.judging.agreement import Panel
    from tallystick.judging.show import agreements_json, agreements_table, cross_table, differences_table
    from tallystick.judging.store import Store

    if first is not None and second is None:
        raise MetricError("agreement is between two: give a second judge, or none for all of them")
    if first is not None and against is not None:
        raise MetricError("--against holds all judges against one; give it, or two judges, not both")
    with Store(store, create=False) as kept:
        panel = Panel(kept)
        if first is not None and second is not None:
            rows = [panel.between(first, second)]
        else:
            rows = panel.against(against) if against is not None else panel.overview()
        listed = panel.differences(rows[0].first, rows[0].second) if differences and len(rows) == 1 else []
        notes = panel.notes(rows)
    if differences and len(rows) != 1:
        raise MetricError("--differences is for two judges: name them")
    kind = chosen_format(format_)
    if kind == "json":
        click.echo(json.dumps(agreements_json(rows, listed, notes, differences), indent=2, ensure_ascii=False))
        return
    tables = [agreements_table(rows)]
    if len(rows) == 1:
        tables.append(cross_table(rows[0]))
    if differences:
        tables.append(differences_table(rows[0], listed))
    show_tables(tables, format_)
    for note in notes:
        say(note)

"""What the commands for relations, events, roles and N-ary relations share: hierarchies, informativity, tables, gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, finish, say
from tallystick.errors import InputError, MetricError, did_you_mean

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.drawings import Drawing
    from tallystick.show.tables import Table
    from tallystick.tasks.metric import Types

    Explainer = Callable[[Any], Explanation]

Command = TypeVar("Command", bound=Callable[..., Any])

HIERARCHIES = ("ancestor", "descendant", "levels", "supertypes")


def type_options(command: Command) -> Command:
    """Types that form a hierarchy (eq. 33, 38, 39)."""
    options = [
        click.option("--parents", metavar="FILE", help="The parent of each type, as JSON or child<TAB>parent lines: credit for near types."),
        click.option("--hierarchy", type=click.Choice(HIERARCHIES),
                     help="Half credit for a predicted ancestor (default with --parents) or descendant; 2^(d-D) by levels of A.B.C; F1 of supertypes."),
    ]  # fmt: skip
    return together(command, options)


def heads_option(command: Command) -> Command:
    """Where the heads of spans come from."""
    return click.option(
        "--heads", metavar="FILE|last|first", help="Heads of spans: a JSONL file of parses, or a rule.  [default: those in the data]"
    )(command)  # fmt: skip


def informativity_option(command: Command) -> Command:
    """What a mention counts, by its kind."""
    return click.option(
        "--informativity", metavar="KIND=WEIGHT,...", help="What mentions count by their kind: name=1,nominal=0.5,pronoun=0.25."
    )(command)  # fmt: skip


def types_of(hierarchy: str | None, parents: str | None) -> Types:
    """The options as the value that a metric takes."""
    from tallystick.tasks.metric import Types
    from tallystick.tasks.named import read_parents

    return Types.of(hierarchy, read_parents(parents) if parents else None)


def weights_of(informativity: str | None) -> tuple[tuple[str, float], ...]:
    """`name=1,pronoun=0.25` as pairs."""
    out = []
    for part in (informativity or "").split(",") if informativity else ():
        kind, equals, weight = part.partition("=")
        try:
            out.append((kind.strip(), float(weight)))
        except ValueError:
            equals = ""
        if not equals:
            raise MetricError(f"--informativity expects KIND=WEIGHT,... such as name=1,pronoun=0.25, found {part!r}")
    return tuple(out)


def show(
    results: dict[str, Result],
    *,
    labels: Mapping[str, str],
    common: Common,
    title: str,
    label: str | None = None,
    extra: Mapping[str, Any] | None = None,
    more_tables: Sequence[Any] = (),
    main: str = "",
    draw: Callable[[], Callable[[Any], Sequence[Drawing]]] | None = None,
    reword: Callable[[Explainer], Explainer] | None = None,
) -> None:
    """The figures of all metrics, and the breakdown that was asked for. In a report documents are ordered by `main` and
    drawn by what `draw` gives, and explanations pass through `reword`."""
    from tallystick.results import tables as reports

    tables = list(more_tables)
    content: dict[str, Any] = dict(extra or {})
    if common.by == "field":
        name, result = next(iter(_expressions(results)))
        tables.append(replace(reports.fields_table(result), title=name))
        content["fields"] = [vars(row) for row in result.by_field()]
    elif common.by == "label":
        name, result, path = _labelled(results, labels, label)
        tables.append(replace(reports.labels_table(result, path), title=name))
        content["labels"] = [vars(row) for row in result.by_label(path)]

    def report() -> Parts:
        from tallystick.results.report import Parts

        breakdown = _all_labels(results, labels)
        able = dict(_expressions_of(results))
        shown = able.get(main) or next(iter(able.values()), None)
        name = next((name for name, result in able.items() if result is shown), "")
        explain = None if shown is None else shown.explain if reword is None else reword(shown.explain)
        return Parts(
            breakdown, explain=explain, draw=draw() if draw is not None else None,
            main=main, alignment=f"Alignment under {name}",
        )  # fmt: skip

    finish(results, common, tables=tables, extra=content, title=title, report=report)


def _all_labels(results: Mapping[str, Result], labels: Mapping[str, str]) -> list[Table]:
    """The figures by every kind of label that the metrics have."""
    from tallystick.results import tables as reports

    tables = []
    for label in labels:
        try:
            name, result, path = _labelled(results, labels, label)
            table = reports.labels_table(result, path)
        except MetricError:
            continue  # none of these metrics has it
        if table.rows:
            tables.append(replace(table, title=f"By {label}, under {name}"))
    return tables


def _expressions(results: Mapping[str, Result]) -> list[tuple[str, Result]]:
    """The metrics that can be broken down: those that are expressions of the algebra."""
    found = _expressions_of(results)
    if not found:
        raise MetricError(f"{', '.join(results)}: not an expression of the algebra, so it cannot be broken down")
    return found


def _expressions_of(results: Mapping[str, Result]) -> list[tuple[str, Result]]:
    return [(name, result) for name, result in results.items() if result.is_expression]


def _labelled(results: Mapping[str, Result], labels: Mapping[str, str], label: str | None) -> tuple[str, Result, str]:
    """The first metric whose collection has the label (or any), and where in the value the label is."""
    from tallystick.results.breakdown import has_labels_at

    for name, result in _expressions(results):
        known = {key: path for key, path in labels.items() if has_labels_at(result.expression, path)}
        if known and label is None:
            return name, result, next(iter(known.values()))
        if label in known:
            return name, result, known[label]
    hint = did_you_mean(label or "", labels)
    raise MetricError(f"--label {label}: none of {', '.join(results)} has it; labels are {', '.join(labels)}.{hint}")


def explain_result(results: Mapping[str, Result], document: str | None, format_: str) -> None:
    """One document of the first metric as a tree."""
    from tallystick.cli.tree import show_explanation
    from tallystick.results.tables import documents_table

    name, result = next(iter(results.items()))
    if document is None:
        document = str(documents_table({name: result}, 1).rows[0][0])
        say(f"document {document}, the worst of {result.count:,} by {name}")
    tree = result.explain(document)
    show_explanation(tree, f"document {document}", format_)


def explain_options(command: Command) -> Command:
    """Which document, by which metric, and how."""
    options = [
        click.option("--metric", "metric", metavar="NAME", help="By which metric.  [default: the first]"),
        click.option("--document", metavar="NAME", help="Which document.  [default: the worst]"),
        click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True),
    ]
    return together(command, options)


def read_json_object(name: str, what: str) -> dict[str, Any]:
    """A file that is one JSON object."""
    from tallystick.files.json_values import read_json

    found = read_json(name)
    if len(found) != 1 or not isinstance(found[0].value, dict):
        raise InputError(f"expected one JSON object, {what}", name)
    return found[0].value

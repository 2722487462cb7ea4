"""Gates: whether a build may go on. `--fail-under` has figures that are to be reached, of a metric, a field or a label; `--baseline` a
saved result against which nothing may be significantly worse. A gate that fails is a line on standard error and the exit code 1, a
failure in the JUnit file of `--junit`, and, where GitHub runs the command (GITHUB_ACTIONS), an annotation.

`history` has the figures of saved results side by side.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.main import chosen_format, formats, say, show_tables
from tallystick.cli.options import PICTURE, Common, check_before
from tallystick.errors import MetricError, check_share, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.results.result import Result
    from tallystick.results.saved import Against
    from tallystick.tasks.contract import Task

_FRACTION = re.compile(r"precision|recall|f[0-9.]+|jaccard|exact|accuracy|invalid")
"""Figures that always lie between 0 and 1."""
LOWER = ("invalid",)
"""Figures of every result for which lower is better."""


@frozen
class Check:
    """One gate: what it is about, and what is wrong; nothing, if it holds."""

    name: str
    group: str
    problem: str = ""


def find_gates(specifications: Sequence[str]) -> list[tuple[str | None, str, float]]:
    """`f1=0.9`, or `metric.f1=0.9`, `field.f1=0.9` as (metric, field or label; figure; value)."""
    out = []
    for text in specifications:
        name, equals, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not name or not math.isfinite(number):
            raise MetricError(
                f"--fail-under expects FIGURE=VALUE such as f1=0.9, or of a field lines[*].price.f1=0.9, found {text!r}"
            )
        target, _, figure = name.rpartition(".")
        if _FRACTION.fullmatch(figure):
            check_share(name, number, "--fail-under: ")
        out.append((target or None, figure, number))
    return out


def look_at_gates(common: Common, task: Task) -> None:
    """That gates can be understood and a baseline can be read."""
    check_invalid(common.fail_under, task)
    if common.baseline:
        from tallystick.results.saved import load

        _ = load(common.baseline).sums


def pass_gates(results: Mapping[str, Result], common: Common, against: Against | None = None) -> None:
    """Look at all gates, tell which fail, and leave with 1 if one does."""
    checks = [*check_figures(results, common.fail_under, common.label), *check_baseline(against)]
    failed = [one for one in checks if one.problem]
    if common.junit:
        write_junit(checks, common.junit)
        say(f"junit: {common.junit}")
    for one in failed:
        say(f"FAILED: {one.problem}")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for one in failed:
            say(f"::error title=tallystick {_escaped(one.group, ',:')}::{_escaped(one.problem)}")
    if failed:
        sys.exit(1)


def _escaped(text: str, more: str = "") -> str:
    """Text as GitHub's commands take it."""
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


# --fail-under


def check_figures(
    results: Mapping[str, Result], specifications: Sequence[str], label: str | None = None
) -> Iterator[Check]:
    """Whether figures are worse than their gates: under them or, where lower is better, above them. An undefined figure is.
    A gate that names no metric is for all that have the figure."""
    from tallystick.engine.tally import lower_is_better

    parts: dict[str, dict[str, Mapping[str, float | None]]] | None = None
    for target, figure, gate in find_gates(specifications):
        if target is None or target in results:
            there = {name: _known(one) for name, one in results.items() if target in (None, name)}
            if not any(figure in known for known in there.values()) and figure in _parts_of(results, label):
                of = f"{figure}.f1={gate:g}"
                raise MetricError(f"--fail-under: {figure!r} is a field or label; say which figure of it, such as {of}")
            for name in [name for name, known in there.items() if figure in known] or there:
                lower = figure in LOWER or lower_is_better(results[name].kind, figure)
                yield _check(name, figure, there[name], gate, lower)
            continue
        parts = _parts_of(results, label) if parts is None else parts
        metric, found = _find_part(target, results, parts)
        for name, figures in found.items():
            part = target.removeprefix(f"{name}.") if metric else target
            yield _check(f"{name} {part}", figure, figures, gate, lower_is_better(results[name].kind, figure))


def _check(name: str, figure: str, known: Mapping[str, float | None], gate: float, lower: bool) -> Check:
    if figure not in known:
        raise MetricError(
            f"--fail-under: {name} has no figure {figure!r}; it has {', '.join(known)}.{did_you_mean(figure, known)}"
        )
    value = known[figure]
    bound = f"{figure} {'<=' if lower else '>='} {gate:g}"
    if value is not None and not (value > gate if lower else value < gate):
        return Check(bound, name)
    shown = "undefined" if value is None else f"{value:.4f}"
    side = f"above {gate:g} (lower is better)" if lower else f"under {gate:g}"
    return Check(bound, name, f"{name} {figure} is {shown}, {side}")


def _known(result: Result) -> dict[str, float | None]:
    """The figures of a metric, the share of documents that are exact, and that of predictions that could not be read."""
    invalid = result.totals.invalid / result.count if result.count else None
    return {**result.figures, "exact": result.exact, "invalid": invalid}


def check_invalid(specifications: Sequence[str], task: Task) -> None:
    """That gates can be understood, and that the share of invalid answers is asked of a task that can have any: a gate that can
    never fail guards nothing."""
    if "invalid" in [figure for _, figure, _ in find_gates(specifications)] and not task.invalid_answers:
        raise MetricError(
            f"--fail-under invalid=...: a file of {task.name} that cannot be read is an error, so this gate could never fail; leave it out"
        )


def _parts_of(results: Mapping[str, Result], label: str | None) -> dict[str, dict[str, Mapping[str, float | None]]]:
    """By field and label the figures of every metric that has them; a field comes before a label of the same name."""
    background = getattr(results, "background", None)
    out: dict[str, dict[str, Mapping[str, float | None]]] = {}
    for by, key in (("fields", "path"), ("labels", "label")):
        try:
            found = background.breakdown(results, by[:-1], label if by == "labels" else None)[1] if background else {}
        except MetricError:  # the task has none, or no documents were kept for them
            continue
        here: dict[str, dict[str, Mapping[str, float | None]]] = {}
        for metric, rows in found.get(by, {}).items():
            for row in rows:
                here.setdefault(str(row[key]), {})[metric] = row["figures"]
        out = {**here, **out}
    return out


def _find_part(
    target: str, results: Mapping[str, Result], parts: Mapping[str, Mapping[str, Mapping[str, float | None]]]
) -> tuple[str | None, Mapping[str, Mapping[str, float | None]]]:
    """The figures of a field or label, of every metric or of the one that is named before it."""
    if target in parts:
        return None, parts[target]
    metric = next((name for name in results if target.startswith(f"{name}.")), None)
    part = target.removeprefix(f"{metric}.") if metric else ""
    if metric is not None and metric in parts.get(part, {}):
        return metric, {metric: parts[part][metric]}
    known = [*results, *parts]
    listed = f"metrics are {', '.join(results)}"
    listed += (
        f"; fields and labels {', '.join(list(parts)[:20])}"
        if parts
        else "; there are no figures by field or label here"
    )
    raise MetricError(
        f"--fail-under: no metric {target!r}, and no field or label of that name; {listed}.{did_you_mean(target, known)}"
    )


# --baseline


def check_baseline(against: Against | None) -> Iterator[Check]:
    """A check for each figure that was tested."""
    for one in against.changes if against is not None else ():
        yield Check(
            f"{one.name} {one.figure} is no worse than in the baseline",
            one.metric,
            f"significant loss: {one}" if one.is_loss else "",
        )


# --junit


def write_junit(checks: Sequence[Check], path: str) -> None:
    """The gates as a JUnit file: a test case for each."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    from tallystick.files.writing import write_atomically

    failures = str(sum(bool(one.problem) for one in checks))
    suites = Element("testsuites", tests=str(len(checks)), failures=failures)
    suite = SubElement(
        suites, "testsuite", name="tallystick", tests=str(len(checks)), failures=failures, errors="0", skipped="0"
    )
    for one in checks:
        case = SubElement(suite, "testcase", classname=_xml(one.group), name=_xml(one.name))
        if one.problem:
            SubElement(case, "failure", message=_xml(one.problem)).text = _xml(one.problem)
    indent(suites)
    write_atomically(path, b'<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, "utf-8") + b"\n")


def _xml(text: str) -> str:
    """Text without what XML cannot hold."""
    return re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


# history


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.json...")
@click.option(
    "--by", type=click.Choice(["field", "label"]), help="Show the figures by field or label instead of by metric."
)
@click.option("--format", "format_", type=click.Choice(formats()), help="Default: table on a terminal, else tsv.")
@click.option(
    "--picture", type=PICTURE, metavar="FILE", help="Also draw the figures: .svg, .png or .pdf (needs matplotlib)."
)
def history(files: tuple[str, ...], by: str | None, format_: str | None, picture: str | None) -> None:
    """Show how figures changed over saved results, from the first FILE to the last.

    FILE was written by `score ... --save FILE.json` or `score ... --format json`.
    """
    from tallystick.results.saved import history_table

    check_before()
    table, lines = history_table(files, by)
    if picture:
        from tallystick.show.pictures import draw_history

        draw_history(list(table.columns[1:-2]), lines).save(picture)
        say(f"picture: {picture}")
    if chosen_format(format_) == "json":
        from tallystick.files.writing import to_json

        values: dict[str, Any] = {"files": list(files), "columns": list(table.columns[1:-2]), "figures": lines}
        click.echo(to_json(values))
    else:
        show_tables([table], format_)

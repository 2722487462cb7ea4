"""`--fail-under FIGURE=VALUE`: figures below which a command fails, for CI."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from tallystick.errors import MetricError, did_you_mean

if TYPE_CHECKING:
    from tallystick.results.result import Result


def gates(specifications: Sequence[str]) -> list[tuple[str | None, str, float]]:
    """`f1=0.9` or `metric.f1=0.9` as (metric, figure, value)."""
    out = []
    for text in specifications:
        name, equals, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not name or not math.isfinite(number):
            raise MetricError(f"--fail-under expects FIGURE=VALUE such as f1=0.9, found {text!r}")
        metric, _, figure = name.rpartition(".")
        out.append((metric or None, figure, number))
    return out


def check_gates(results: Mapping[str, Result], specifications: Sequence[str]) -> None:
    """Leave with 1 if a figure is worse than its gate: under it or, where lower is better, above it. An undefined figure is."""
    from tallystick.engine.tally import lower_is_better

    failed = False
    for metric, figure, gate in gates(specifications):
        if metric is not None and metric not in results:
            raise MetricError(f"--fail-under: no metric {metric!r}.{did_you_mean(metric, results)}")
        for name, result in results.items():
            if metric not in (None, name):
                continue
            known = {**result.figures, "exact": result.exact}
            if figure not in known:
                raise MetricError(
                    f"--fail-under: {name} has no figure {figure!r}; it has {', '.join(known)}."
                    f"{did_you_mean(figure, known)}"
                )
            value, lower = known[figure], lower_is_better(result.kind, figure)
            if value is None or (value > gate if lower else value < gate):
                shown = "undefined" if value is None else f"{value:.4f}"
                side = f"above {gate:g} (lower is better)" if lower else f"under {gate:g}"
                click.echo(f"FAILED: {name} {figure} is {shown}, {side}", err=True)
                failed = True
    if failed:
        sys.exit(1)

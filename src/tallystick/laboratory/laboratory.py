"""`check`: every property of one subject, and its curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from tallystick.errors import MetricError, did_you_mean
from tallystick.laboratory.along_walks import WALK_PROPERTIES, walk_property, walked
from tallystick.laboratory.curves import MULTIPLE, Curve
from tallystick.laboratory.experiments import Finding, Laboratory
from tallystick.laboratory.properties import ALL
from tallystick.laboratory.subjects import Subject


@dataclass(frozen=True)
class Report:
    """What was found about a metric."""

    subject: str
    headline: str
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]

    @property
    def failures(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.fails)

    def __getitem__(self, name: str) -> Finding:
        """A finding by the beginning of its name: `report["P1"]`."""
        for finding in self.findings:
            if finding.name.startswith(name):
                return finding
        raise KeyError(name)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.subject,
            "figure": self.headline,
            "properties": {
                f.name: {
                    "verdict": f.verdict,
                    "detail": f.detail,
                    "counterexample": {label: repr(value) for label, value in f.counterexample},
                }
                for f in self.findings
            },
            "curves": [
                {"walk": c.name, "order": c.order, "scores": c.scores, "smallest": c.smallest, "largest": c.largest,
                 "deviation": c.deviation}
                for c in self.curves
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        from tallystick.laboratory.show import report_text

        return report_text(self)


def check(
    subject: Subject,
    *,
    samples: int = 20,
    seed: int = 0,
    multiple: float = MULTIPLE,
    structure: Any = None,
    only: Sequence[str] = (),
    size: int = 12,
) -> Report:
    """Put a metric to every property, or `only` to those whose names begin like that.

    P4 and P5 are asked of random references, or of `structure` (in the form of the subject's space) if it is given, whose
    curves are kept too. `samples` is the number of cases of each size; the same `seed` gives the same cases.
    """
    lab = Laboratory(subject, samples, seed)
    asked: list[tuple[str, Callable[[], Finding]]] = [(name, partial(ask, lab)) for name, ask in ALL.items()]
    asked[5:5] = [(name, partial(walk_property, lab, name, structure, multiple)) for name in WALK_PROPERTIES]
    findings = [ask() for name, ask in asked if not only or name.startswith(tuple(only))]
    if not findings:
        names = [name for name, _ in asked]
        raise MetricError(f"no property {only[0]!r}; there are {', '.join(names)}.{did_you_mean(only[0], names)}")
    reference = structure if structure is not None else subject.space.random(Random(seed), size)
    curves = tuple(found[0] for _, found in walked(lab, [reference], multiple)[0] if found[0] is not None)
    return Report(subject.name, subject.headline, tuple(findings), curves)

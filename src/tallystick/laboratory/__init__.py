"""The laboratory: what a metric does, found out by experiment.

    from tallystick.laboratory import check, derived

    print(check(derived(list[Relation])))

Structures are generated, edited one correct piece at a time, renamed, shuffled, repeated and emptied, and the metric is
asked what it makes of that. What fails is shown with the smallest counterexample that was found.
"""

from tallystick.laboratory.named import named
from tallystick.laboratory.properties import Report, check
from tallystick.laboratory.subjects import Subject, derived, expression, function

__all__ = ["Report", "Subject", "check", "derived", "expression", "function", "named"]

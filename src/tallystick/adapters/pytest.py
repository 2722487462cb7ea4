"""An assertion for pytest whose failure shows what differs, field by field.

from tallystick.adapters.pytest import assert_matches

def test_the_invoice():
    assert_matches(EXPECTED, extract(DOCUMENT), type=Invoice)                # everything has to be right
    assert_matches(EXPECTED, extract(DOCUMENT), type=Invoice, f1=0.9)        # most of it
"""

from __future__ import annotations

from typing import Any

from tallystick.adapters.scorer import One, RecordScorer
from tallystick.errors import check_share


def assert_matches(
    reference: Any,
    predicted: Any,
    *,
    f1: float | None = None,
    precision: float | None = None,
    recall: float | None = None,
    **options: Any,
) -> One:
    """Fail unless the prediction is good enough: exact, or at least as good as the figures that are given.

    >>> from tallystick.adapters.pytest import assert_matches
    >>> assert_matches({"city": "Oslo", "unit": "C"}, '{"city": "Oslo", "unit": "F"}', f1=0.5).f1
    0.5
    """
    __tracebackhide__ = True
    one = RecordScorer(**options).score(reference, predicted)
    least = {"f1": f1, "precision": precision, "recall": recall}
    wanted = {name: value for name, value in least.items() if value is not None} or {"exact": 1.0}
    for name, value in wanted.items():
        check_share(name, value)
    missed = [f"{one.shown(name)} < {value:g}" for name, value in wanted.items() if one.figures[name] < value]
    if missed:
        why = "the prediction differs from the reference" if "exact" in wanted else ", ".join(missed)
        raise AssertionError(f"{why}\n{one}")
    return one

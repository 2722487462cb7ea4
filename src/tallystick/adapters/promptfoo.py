"""A Python assertion for promptfoo. In promptfooconfig.yaml:

    tests:
      - vars: {document: ..., expected: '{"vendor": "Acme", ...}'}
        assert:
          - type: python
            value: file://tallystick_assert.py
            config: {schema: invoice.schema.json, threshold: 0.9}

and tallystick_assert.py holds one line: `from tallystick.adapters.promptfoo import get_assert`.

config: `reference` (default: the variable `expected`), `figure` (f1), `threshold` (1), and the options of `RecordScorer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallystick.adapters.scorer import RecordScorer
from tallystick.errors import TallystickError, check_share

OWN = ("reference", "variable", "figure", "threshold")


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """promptfoo's grading result: pass, score, reason, and all figures by name.

    >>> from tallystick.adapters.promptfoo import get_assert
    >>> get_assert('{"city": "Oslo"}', {"vars": {"expected": '{"city": "Oslo"}'}})["pass"]
    True
    """
    config = dict(context.get("config") or {})
    variable = config.get("variable", "expected")
    reference = config.get("reference", context.get("vars", {}).get(variable))
    figure, threshold = config.get("figure", "f1"), config.get("threshold", 1.0)
    if reference is None:
        return _failed(f"there is no reference: set the variable {variable!r}, or config.reference")
    try:
        threshold = float(threshold)
        check_share("threshold", threshold)
        one = RecordScorer(**{key: value for key, value in config.items() if key not in OWN}).score(reference, output)
    except (TallystickError, TypeError, ValueError) as error:
        return _failed(str(error))
    figures = one.figures
    if figure not in figures:
        return _failed(f"there is no figure {figure!r}; there are {', '.join(figures)}")
    return {"pass": figures[figure] >= threshold, "score": figures[figure], "reason": str(one), "namedScores": figures}


def _failed(reason: str) -> dict[str, Any]:
    return {"pass": False, "score": 0.0, "reason": reason}

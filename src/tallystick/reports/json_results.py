"""Results as the JSON that the command line prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallystick import __version__
from tallystick.scoring.result import shared_signatures
from tallystick.writing import to_json

if TYPE_CHECKING:
    from tallystick.scoring.result import Result


def results_to_json(
    results: Mapping[str, Result], *, indent: int | None = 2, extra: Mapping[str, Any] | None = None
) -> str:
    """Several metrics' results over one corpus as JSON."""
    first = next(iter(results.values()))
    warnings = list(dict.fromkeys(w for result in results.values() for w in result.warnings))
    content = {
        "tallystick": __version__,
        "signature": "; ".join(f"{names} | {rest}" for names, rest in shared_signatures(results).items()),
        "documents": first.count,
        "metrics": {name: {**result.as_dict(), "signature": result.signature} for name, result in results.items()},
        **(extra or {}),
        "warnings": warnings,
    }
    return to_json(content, indent=indent)

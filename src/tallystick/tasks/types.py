"""Options that several tasks share: types in a hierarchy, weights of mentions by their kind, and files that are one JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError, MetricError
from tallystick.tasks.contract import option

if TYPE_CHECKING:
    from tallystick.tasks.metric import Types

HIERARCHIES = ("ancestor", "descendant", "levels", "supertypes")


def parents_option() -> Any:
    """The file of a hierarchy of types (eq. 33, 38, 39)."""
    return option(
        None, "The parent of each type, as JSON or child<TAB>parent lines: credit for near types.", metavar="FILE"
    )


def hierarchy_option() -> Any:
    """What credit a near type gets."""
    return option(
        None,
        "Half credit for a predicted ancestor (default with --parents) or descendant; 2^(d-D) by levels of A.B.C; F1 of supertypes.",
        choices=HIERARCHIES,
    )


def heads_option() -> Any:
    """Where the heads of spans come from."""
    return option(
        None,
        "Heads of spans: a JSONL file of parses, or a rule.  [default: those in the data]",
        metavar="FILE|last|first",
    )


def informativity_option() -> Any:
    """What a mention counts, by its kind."""
    return option(
        None, "What mentions count by their kind: name=1,nominal=0.5,pronoun=0.25.", metavar="KIND=WEIGHT,..."
    )


def read_types(settings: Any) -> Types:
    """--parents and --hierarchy as the value that a metric takes."""
    from tallystick.tasks.metric import Types
    from tallystick.tasks.named import read_parents

    return Types.of(settings.hierarchy, read_parents(settings.parents) if settings.parents else None)


def read_weights(informativity: str | None) -> tuple[tuple[str, float], ...]:
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


def read_json_object(name: str, what: str) -> dict[str, Any]:
    """A file that is one JSON object."""
    from tallystick.files.json_values import read_json

    found = read_json(name)
    if len(found) != 1 or not isinstance(found[0].value, dict):
        raise InputError(f"expected one JSON object, {what}", name)
    return found[0].value

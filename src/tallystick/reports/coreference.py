"""The error analysis of coreference as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tallystick.reports.tables import Table

if TYPE_CHECKING:
    from tallystick.metrics.coreference_errors import Errors, Example, Located

MENTIONS = 4
"""So many mentions of an entity are shown."""


def errors_table(found: Iterable[Errors]) -> Table:
    """A row for each kind of error with its first example; mentions are first-last token, @ line of the file."""
    rows = [
        [kind.error, kind.count, kind.mentions, _example(kind.examples[0]) if kind.examples else ""] for kind in found
    ]
    return Table(
        ["error", "count", "mentions", "first example"],
        rows,
        notes=[
            "Mentions are first-last token, counted from 0 in the document, @ line. --format json has more examples."
        ],
    )


def _example(example: Example) -> str:
    sides = [
        f"{name} {_entities(side)}" for name, side in (("key", example.key), ("response", example.response)) if side
    ]
    document = (example.key or example.response)[0].document
    return f"{document}: {' ↔ '.join(sides)}"


def _entities(mentions: Sequence[Located]) -> str:
    """`3 {0-1 @ 2, 5 @ 9} + 4 {…}`: each entity with its mentions."""
    by_entity: dict[str, list[Located]] = {}
    for mention in mentions:
        by_entity.setdefault(mention.entity, []).append(mention)
    return " + ".join(f"{entity} {{{_mentions(members)}}}" for entity, members in by_entity.items())


def _mentions(members: Sequence[Located]) -> str:
    shown = [_span(one.mention) + ("" if one.line is None else f" @ {one.line}") for one in members[:MENTIONS]]
    return ", ".join([*shown, f"{len(members) - MENTIONS} more"] if len(members) > MENTIONS else shown)


def _span(mention: object) -> str:
    if isinstance(mention, tuple) and len(mention) == 2 and all(isinstance(offset, int) for offset in mention):
        first, last = mention
        return str(first) if first == last else f"{first}-{last}"
    if isinstance(mention, tuple) and mention and all(isinstance(part, tuple) for part in mention):
        return "+".join(_span(part) for part in mention)
    return str(mention)

"""The error analysis of coreference as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.reports.tables import Column, Table

if TYPE_CHECKING:
    from tallystick.metrics.coreference_errors import Errors, Example, Located

Words = Callable[["Located"], str]
MENTIONS = 4
"""So many mentions of an entity are shown."""


def errors_table(
    found: Iterable[Errors], costs: tuple[float, Mapping[str, float]] | None = None, words: Words = lambda _: ""
) -> Table:
    """A row for each kind of error with its first example; mentions are first-last token, @ line of the file. `costs`:
    the CoNLL score as it is, and as it would be without each kind; `words`: what a mention says."""
    columns, rows = ["error", "count", "mentions"], []
    notes = ["Mentions are first-last token, counted from 0 in the document, @ line. --format json has more examples."]
    if costs is not None:
        columns += ["conll if fixed", Column("gain", "gain")]
        notes.append("Each kind is repaired alone and the CoNLL score computed anew, so gains do not add up.")
    for kind in found:
        row: list[Any] = [kind.error, kind.count, kind.mentions]
        if costs is not None:
            row += [costs[1][kind.error], costs[1][kind.error] - costs[0]]
        rows.append([*row, _example(kind.examples[0], words) if kind.examples else ""])
    return Table([*columns, "first example"], rows, title="Kinds of error" if costs else "", notes=notes)


def _example(example: Example, words: Words) -> str:
    sides = [
        f"{name} {_entities(side, words)}"
        for name, side in (("key", example.key), ("response", example.response))
        if side
    ]
    document = (example.key or example.response)[0].document
    return f"{document}: {' ↔ '.join(sides)}"


def _entities(mentions: Sequence[Located], words: Words) -> str:
    """`3 {0-1 @ 2, 5 @ 9} + 4 {…}`: each entity with its mentions."""
    by_entity: dict[str, list[Located]] = {}
    for mention in mentions:
        by_entity.setdefault(mention.entity, []).append(mention)
    return " + ".join(f"{entity} {{{_mentions(members, words)}}}" for entity, members in by_entity.items())


def _mentions(members: Sequence[Located], words: Words) -> str:
    shown = [
        f"{words(one)} {spelled(one.mention)}".strip() + ("" if one.line is None else f" @ {one.line}")
        for one in members[:MENTIONS]
    ]
    return ", ".join([*shown, f"{len(members) - MENTIONS} more"] if len(members) > MENTIONS else shown)


def spelled(mention: object) -> str:
    """`3`, `3-4`, or `3-4+7`: the tokens of a mention."""
    if isinstance(mention, tuple) and len(mention) == 2 and all(isinstance(offset, int) for offset in mention):
        first, last = mention
        return str(first) if first == last else f"{first}-{last}"
    if isinstance(mention, tuple) and mention and all(isinstance(part, tuple) for part in mention):
        return "+".join(spelled(part) for part in mention)
    return str(mention)

"""Before the entities are compared: which mentions count, which of the two sides' mentions are the same, and what is
one document.

Repeated mentions: the first entity keeps the mention, and how many were dropped is said. The reference scorer drops
only those that are in the key too (`compat="reference"`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tallystick.columns.arrays import I64, Mask, number, sort_order
from tallystick.errors import MetricError
from tallystick.metrics.overlaps import Overlaps, Side, overlaps
from tallystick.reading.chains import UNKNOWN, Chains
from tallystick.reading.pairing import PairedChains

if TYPE_CHECKING:
    from tallystick.metrics.coreference import Options

SCOPES = ("document", "topic", "corpus")
MATCHES = ("exact", "head", "partial")


@dataclass
class Prepared:
    """The table of overlaps, and what was decided on the way to it."""

    overlaps: Overlaps
    documents: list[str]
    key_rows: I64
    response_rows: I64
    signature: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def prepare(pairs: PairedChains, options: Options) -> Prepared:
    """The mentions that count, as the table of overlaps."""
    _check(options)
    notes = list(pairs.warnings)
    codes = pairs.codes
    key_mention, response_mention = pairs.key_mention, pairs.response_mention
    if options.match != "exact":
        response_mention = softened(pairs, options.match)
    keep_key, twice = first_ones(pairs.key.document, key_mention, codes)
    notes += _said(pairs.key, twice)
    keep_response, twice = first_ones(pairs.response.document, response_mention, codes)
    if options.compat == "reference":
        known = np.isin(pairs.response.document * codes + response_mention, pairs.key.document * codes + key_mention)
        keep_response |= ~known
    notes += _said(pairs.response, int((~keep_response).sum()))
    sides, rows = [], []
    for chains, mention, keep in (
        (pairs.key, key_mention, keep_key),
        (pairs.response, response_mention, keep_response),
    ):
        if not options.singletons:
            sizes = np.bincount(chains.entity[keep], minlength=chains.entities)
            keep = keep & (sizes[chains.entity] > 1)
        chosen = np.flatnonzero(keep)
        rows.append(chosen)
        entity, entities = number(chains.entity[chosen], max(1, chains.entities))
        sides.append(Side(chains.document[chosen], entity, mention[chosen], entities))
    documents = pairs.documents
    if options.scope != "document":
        sides, documents, codes = widened(pairs, sides, rows, options)
    signature = {"scope": options.scope, "singletons": "kept" if options.singletons else "dropped"}
    signature["mentions"] = options.match
    if options.compat:
        signature["compat"] = options.compat
    table = overlaps(sides[0], sides[1], len(documents), codes)
    return Prepared(table, list(documents), rows[0], rows[1], signature, notes)


def _check(options: Options) -> None:
    for name, value, known in (("scope", options.scope, SCOPES), ("match", options.match, MATCHES)):
        if value not in known:
            raise MetricError(f"{name} must be one of {', '.join(known)}, found {value!r}")
    if options.compat not in (None, "reference"):
        raise MetricError(f"compat must be reference, found {options.compat!r}")


def _said(chains: Chains, dropped: int) -> list[str]:
    if not dropped:
        return []
    times = "once" if dropped == 1 else f"{dropped:,} times"
    return [f"{chains.file}: a mention is repeated {times}; its first entity keeps it (--strict names each)"]


def first_ones(document: I64, mention: I64, codes: int) -> tuple[Mask, int]:
    """Which rows are the first of their mention in their document, and how many are not."""
    keys = document * codes + mention
    order = sort_order(keys, (int(document.max(initial=0)) + 1) * codes)
    ordered = keys[order]
    keep = np.ones(len(keys), np.bool_)
    keep[order[1:][ordered[1:] == ordered[:-1]]] = False
    return keep, int((~keep).sum())


def widened(
    pairs: PairedChains, sides: list[Side], rows: list[I64], options: Options
) -> tuple[list[Side], list[str], int]:
    """Documents put together by topic, or all of them: an entity is then the same wherever its id is."""
    pattern = re.compile(options.topic)
    groups: dict[str, int] = {}
    group = []
    for name in pairs.documents:
        found = pattern.search(name) if options.scope == "topic" else None
        if options.scope == "topic" and found is None:
            raise MetricError(f"no topic in the name of document {name!r}; --topic REGEX says what it is")
        group.append(groups.setdefault(found.group() if found else "corpus", len(groups)))
    of_document = np.array(group, np.int64)
    out = []
    for side, chosen, chains in zip(sides, rows, (pairs.key, pairs.response), strict=True):
        home = of_document[side.document]
        names: dict[tuple[int, str], int] = {}
        ids = (chains.entity_names[e] for e in chains.entity[chosen].tolist())
        entity = [names.setdefault(key, len(names)) for key in zip(home.tolist(), ids, strict=True)]
        mention = side.document * pairs.codes + side.mention
        out.append(Side(home, np.array(entity, np.int64), mention, len(names)))
    return out, list(groups), len(pairs.documents) * pairs.codes


def softened(pairs: PairedChains, how: str) -> I64:
    """The response's mention codes, where a mention that is the same but for its extent takes the key's code.

    head: same head. partial: inside the key's mention and containing its head (any head, where there is none given).
    Each key mention is taken once, exact ones first, then the longest.
    """
    key, response = pairs.key, pairs.response
    if key.labels is not None or response.labels is not None:
        raise MetricError(f"mentions={how} needs spans; these mentions are opaque values")
    if how == "head" and (key.head is None or response.head is None):
        raise MetricError("mentions=head needs heads in both files, which only CorefUD has")
    codes: I64 = pairs.response_mention.copy()
    exact = np.isin(response.document * pairs.codes + codes, key.document * pairs.codes + pairs.key_mention)
    taken: set[int] = set()
    free: dict[int, list[int]] = {}
    matched = set((response.document * pairs.codes + codes)[exact].tolist())
    for row in range(len(key)):
        if int(key.document[row] * pairs.codes + pairs.key_mention[row]) not in matched:
            free.setdefault(int(key.document[row]), []).append(row)
    waiting = np.flatnonzero(~exact)
    longest_first = waiting[np.argsort(response.start[waiting] - response.end[waiting], kind="stable")]
    for row in longest_first.tolist():
        for k in free.get(int(response.document[row]), []):
            if k not in taken and _same(key, response, k, row, how):
                taken.add(k)
                codes[row] = pairs.key_mention[k]
                break
    return codes


def _same(key: Chains, response: Chains, k: int, row: int, how: str) -> bool:
    if how == "head":
        assert key.head is not None
        assert response.head is not None
        return int(key.head[k]) == int(response.head[row]) != UNKNOWN
    inside = key.start[k] <= response.start[row] and response.end[row] <= key.end[k]
    head = int(key.head[k]) if key.head is not None else UNKNOWN
    return bool(inside and (head == UNKNOWN or response.start[row] <= head <= response.end[row]))


def entities_of(
    pairs: PairedChains, prepared: Prepared, document: int
) -> tuple[list[list[object]], list[list[object]]]:
    """One document's entities of both sides, as lists of the mentions as the files have them."""
    shown: dict[int, object] = {}  # a softened response mention is shown, and compared, as the key's
    sides = []
    for chains, rows, side in (
        (pairs.key, prepared.key_rows, prepared.overlaps.key),
        (pairs.response, prepared.response_rows, prepared.overlaps.response),
    ):
        entities: dict[int, list[object]] = {}
        for k in np.flatnonzero(side.document == document).tolist():
            label = shown.setdefault(int(side.mention[k]), chains.label(int(rows[k])))
            entities.setdefault(int(side.entity[k]), []).append(label)
        sides.append(list(entities.values()))
    return sides[0], sides[1]

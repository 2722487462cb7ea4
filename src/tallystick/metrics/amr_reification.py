"""Reified relations, undone: `x :location y` may be written as a node, be-located-at-91, with two arguments.

    (z / be-located-at-91 :ARG1 x :ARG2 y)   →   x :location y

where nothing points to z and z has no other edges (the AMR guidelines' table; smatchpp's `amr`
standardisation does the same).
"""

from __future__ import annotations

REIFICATIONS: dict[str, tuple[str, str, str]] = {
    concept: (role, source, target)
    for role, concept, source, target in (
        (":accompanier", "accompany-01", ":arg1", ":arg0"),
        (":age", "age-01", ":arg1", ":arg2"),
        (":beneficiary", "benefit-01", ":arg0", ":arg1"),
        (":concession", "have-concession-91", ":arg1", ":arg2"),
        (":condition", "have-condition-91", ":arg1", ":arg2"),
        (":degree", "have-degree-91", ":arg1", ":arg2"),
        (":destination", "be-destined-for-91", ":arg1", ":arg2"),
        (":duration", "last-01", ":arg1", ":arg2"),
        (":example", "exemplify-01", ":arg1", ":arg0"),
        (":extent", "have-extent-91", ":arg1", ":arg2"),
        (":frequency", "have-frequency-91", ":arg1", ":arg2"),
        (":instrument", "have-instrument-91", ":arg1", ":arg2"),
        (":li", "have-li-91", ":arg1", ":arg2"),
        (":location", "be-located-at-91", ":arg1", ":arg2"),
        (":manner", "have-manner-91", ":arg1", ":arg2"),
        (":mod", "have-mod-91", ":arg1", ":arg2"),
        (":name", "have-name-91", ":arg1", ":arg2"),
        (":ord", "have-ord-91", ":arg1", ":arg2"),
        (":part", "have-part-91", ":arg1", ":arg2"),
        (":polarity", "have-polarity-91", ":arg1", ":arg2"),
        (":poss", "own-01", ":arg1", ":arg0"),
        (":purpose", "have-purpose-91", ":arg1", ":arg2"),
        (":quant", "have-quant-91", ":arg1", ":arg2"),
        (":source", "be-from-91", ":arg1", ":arg2"),
        (":subevent", "have-subevent-91", ":arg1", ":arg2"),
        (":time", "be-temporally-at-91", ":arg1", ":arg2"),
        (":topic", "concern-02", ":arg0", ":arg1"),
        (":value", "have-value-91", ":arg1", ":arg2"),
    )
}

_Unary = tuple[int, str, str, bool]
_Binary = tuple[int, str, int]
_Free = tuple[str, str, str]


def undo_reification(
    unary: list[_Unary], binary: list[_Binary], free: list[_Free]
) -> tuple[list[_Unary], list[_Binary], list[_Free]]:
    """The facts with every reified node that nothing else hangs on replaced by its relation."""
    concepts = {v: value for v, role, value, _ in unary if role == "instance" and value in REIFICATIONS}
    if not concepts:
        return unary, binary, free
    pointed_at = {target for _, _, target in binary} | {v for v, _, _, constant_source in unary if constant_source}
    edges: dict[int, list[tuple[str, int | str]]] = {v: [] for v in concepts if v not in pointed_at}
    for v, role, value, _ in unary:
        if v in edges and role != "instance":
            edges[v].append((role, value))
    for source, role, target in binary:
        if source in edges:
            edges[source].append((role, target))
    gone: set[int] = set()
    new: list[tuple[int | str, str, int | str]] = []
    for v, found in edges.items():
        role, first, second = REIFICATIONS[concepts[v]]
        if sorted(name for name, _ in found) == sorted((first, second)):
            ends = dict(found)
            new.append((ends[first], role, ends[second]))
            gone.add(v)
    unary = [fact for fact in unary if fact[0] not in gone]
    binary = [fact for fact in binary if fact[0] not in gone]
    free = list(free)
    for one, role, other in new:
        if isinstance(one, int):
            if isinstance(other, int):
                binary.append((one, role, other))
            else:
                unary.append((one, role, other, False))
        elif isinstance(other, int):
            unary.append((other, role, one, True))
        else:
            free.append((one, role, other))
    return unary, binary, free

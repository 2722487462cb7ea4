"""Fine-grained scores for graphs of meaning, as Damonte et al. (2017) define them.

    unlabelled       Smatch with all roles alike               concepts         bags of concepts
    no_word_senses   Smatch with want-01 and want-02 alike     named_entities   concepts that have a :name
    reentrancies     Smatch over the edges into a variable     negation         concepts that have a :polarity
                     with several edges into it                wikification     values of :wiki
    semantic_roles   Smatch over :ARGn

Parts that are Smatch find an alignment of their own; the others compare two bags and need none. Edges are
counted after inverse roles are turned round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tallystick.metrics.amr_scores import Counts, score_facts
from tallystick.metrics.amr_triples import Binary, Counting, FactReader, Facts, Unary
from tallystick.reading.graphs import Graph

Change = Callable[[Facts], Facts]
Bag = Callable[[Facts], list[str]]


def _unlabelled(facts: Facts) -> Facts:
    unary: list[Unary] = [(v, r if ":" not in r else ":", value, t) for v, r, value, t in facts.unary]
    return Facts(facts.variables, unary, [(s, ":", t) for s, _, t in facts.binary], facts.free)


def _without_senses(facts: Facts) -> Facts:
    unary: list[Unary] = [
        (v, r, _stem(value) if r in ("instance", "root") else value, t) for v, r, value, t in facts.unary
    ]
    return Facts(facts.variables, unary, facts.binary, facts.free)


def _stem(concept: str) -> str:
    stem, dash, sense = concept.rpartition("-")
    return stem if dash and sense.isdecimal() else concept


def _part(facts: Facts, binary: list[Binary]) -> Facts:
    """Some relations with the concepts of their variables."""
    inside = {v for s, _, t in binary for v in (s, t)}
    concepts = [fact for fact in facts.unary if fact[1] == "instance" and fact[0] in inside]
    return Facts(facts.variables, concepts, binary)


def _reentrancies(facts: Facts) -> Facts:
    parents = Counter(target for _, _, target in facts.binary)
    return _part(facts, [fact for fact in facts.binary if parents[fact[2]] > 1])


def _roles(facts: Facts) -> Facts:
    return _part(facts, [fact for fact in facts.binary if fact[1].startswith(":arg")])


def _concepts(facts: Facts) -> list[str]:
    return [value for _, role, value, _ in facts.unary if role == "instance"]


def _concepts_with(facts: Facts, role: str) -> list[str]:
    """The concepts of the variables that have an edge of this role."""
    concept = {v: value for v, r, value, _ in facts.unary if r == "instance"}
    sources = [v for v, r, _, turned in facts.unary if r == role and not turned]
    sources += [source for source, r, _ in facts.binary if r == role]
    return [concept.get(v, "") for v in sources]


SMATCH_PARTS: dict[str, Change] = {
    "unlabelled": _unlabelled,
    "no_word_senses": _without_senses,
    "reentrancies": _reentrancies,
    "semantic_roles": _roles,
}
BAG_PARTS: dict[str, Bag] = {
    "concepts": _concepts,
    "named_entities": lambda facts: _concepts_with(facts, ":name"),
    "negation": lambda facts: _concepts_with(facts, ":polarity"),
    "wikification": lambda facts: [value for _, role, value, _ in facts.unary if role == ":wiki"],
}
SUBSCORES = ("unlabelled", "no_word_senses", "concepts", "named_entities", "negation", "wikification",
             "reentrancies", "semantic_roles")  # fmt: skip


def subscores(
    pairs: Sequence[tuple[Graph, Graph]],
    counting: Counting | None = None,
    *,
    limit: float | None = None,
    names: Sequence[str] = SUBSCORES,
) -> dict[str, Counts]:
    """The fine-grained scores of (reference, predicted) pairs, each with an alignment of its own where it
    needs one."""
    counting = counting or Counting()
    read = FactReader(counting)
    reference, predicted = [read(pair[0]) for pair in pairs], [read(pair[1]) for pair in pairs]
    scores = {}
    for name in names:
        if name in BAG_PARTS:
            bag = BAG_PARTS[name]
            scores[name] = _bags([bag(facts) for facts in reference], [bag(facts) for facts in predicted])
        else:
            change = SMATCH_PARTS[name]
            one, other = [change(facts) for facts in reference], [change(facts) for facts in predicted]
            scores[name] = score_facts(one, other, counting.duplicates, limit=limit)
    return scores


def _bags(reference: Sequence[list[str]], predicted: Sequence[list[str]]) -> Counts:
    shared = [sum((Counter(a) & Counter(b)).values()) for a, b in zip(reference, predicted, strict=True)]
    matched = np.array(shared, np.float64)
    n = len(matched)
    gold, system = (np.array([len(bag) for bag in side], np.intp) for side in (reference, predicted))
    return Counts(matched, matched, np.ones(n, np.bool_), gold, system, [], np.zeros(n))

"""Smatch and its fine-grained scores as results: named, signed, with bounds.

    SMATCH = max over 1:1 maps of the variables of F↔_props[δ_rel × φ_subj × φ_obj]      (eq. 35)

What a proposition is, is a matter of `Counting` (see `amr_triples`); the maps are found in blocks of graphs (see
`amr_scores`), with the same solver as the expression in the algebra, `equations.smatch`, which tests hold equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from tallystick.engine.tally import Counts as Figures
from tallystick.errors import MetricError, did_you_mean, some
from tallystick.results.result import Result
from tallystick.tasks.amr.files import Graph, Graphs, pair_graphs
from tallystick.tasks.amr.scores import Alignment, Counts, align, score_facts, score_graphs
from tallystick.tasks.amr.triples import Binary, Counting, FactReader, Facts, Unary

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation


EXPRESSION = "f1(each(props=latent(record(rel=exact, subj=var, obj=cases(Var=var, str=exact)), 1:1)))"
SUMMARIES = {
    "smatch": "the largest F1 of triples over all 1:1 maps of the variables",
    "unlabelled": "Smatch with all roles alike",
    "no_word_senses": "Smatch with want-01 and want-02 alike",
    "concepts": "bags of concepts",
    "named_entities": "concepts that have a :name",
    "negation": "concepts that have a :polarity",
    "wikification": "values of :wiki",
    "reentrancies": "Smatch over the edges into variables that have several",
    "semantic_roles": "Smatch over :ARGn",
}
METRICS = tuple(SUMMARIES)
"""What `tallystick score amr` can print; `smatch` alone unless asked for more."""

_BAGS = ("concepts", "named_entities", "negation", "wikification")


def score(
    reference: Graphs,
    predicted: Graphs,
    counting: Counting | None = None,
    *,
    metrics: Sequence[str] = ("smatch",),
    limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Result], Counts | None]:
    """The results of some metrics over two files of graphs, and the counts of Smatch with the seconds of each pair.

    `limit` is in seconds for each pair: where it strikes, the result has bounds.
    """
    for name in metrics:
        if name not in METRICS:
            raise MetricError(f"unknown metric {name!r}; there are {', '.join(METRICS)}.{did_you_mean(name, METRICS)}")
    counting = counting or Counting()
    pairs = pair_graphs(reference, predicted)
    notes = tuple(
        f"{error.place}: {error.reason}; counted as an empty graph"
        for side in (reference, predicted)
        for _, error in side.problems
    )
    found: dict[str, Counts] = {}
    if "smatch" in metrics:
        watch = None if progress is None else lambda done: progress(done, len(pairs))
        found["smatch"] = score_graphs(pairs, counting, limit=limit, progress=watch)
    rest = [name for name in metrics if name != "smatch"]
    if rest:
        found |= subscores(pairs, counting, limit=limit, names=rest)
    ids = names_of(pairs)
    results = {name: _result(name, found[name], ids, counting, limit, notes) for name in metrics}
    return results, found.get("smatch")


def names_of(pairs: Sequence[tuple[Graph, Graph]]) -> tuple[str, ...]:
    """What the pairs are called: by their ids if all have one, else by their places, from 1."""
    names = [one.name or other.name for one, other in pairs]
    if len(set(names)) == len(names) and None not in names:
        return tuple(str(name) for name in names)
    return tuple(str(place) for place in range(1, len(pairs) + 1))


def _result(
    name: str, counts: Counts, ids: tuple[str, ...], counting: Counting, limit: float | None, notes: tuple[str, ...]
) -> Result:
    rows = np.column_stack((counts.matched, counts.predicted, counts.matched, counts.reference)).astype(np.float64)
    above = None
    if name not in _BAGS:
        most = np.where(counts.optimal, counts.matched, counts.upper)
        above = np.column_stack((most, rows[:, 1], most, rows[:, 3]))
    settings = [f"{f.name}={getattr(counting, f.name)}" for f in fields(counting)]
    settings += [f"limit={limit:g}"] if limit is not None else []
    expression = f"{name} = {EXPRESSION}" if name == "smatch" else f"{name} = {SUMMARIES[name]}"
    return Result(expression, Figures(), rows, ids, notes=notes, settings=" | ".join(settings), above=above)


def explain(
    reference: Graphs,
    predicted: Graphs,
    counting: Counting | None = None,
    *,
    document: str | None = None,
    limit: float | None = None,
) -> tuple[str, Explanation]:
    """The name of a pair, by default the worst, and which variables and triples of it match."""
    counting = counting or Counting()
    pairs = pair_graphs(reference, predicted)
    ids = names_of(pairs)
    if not pairs:
        raise MetricError("there are no graphs to explain")
    if document is None:
        counts = score_graphs(pairs, counting, limit=limit)
        place = int(np.argmin(2 * counts.matched / np.maximum(1, counts.predicted + counts.reference)))
    elif document in ids:
        place = ids.index(document)
    else:
        raise MetricError(f"no graph {document!r}; there are {some(ids)}.{did_you_mean(document, ids)}")
    read = FactReader(counting)
    one, other = (read(graph) for graph in pairs[place])
    counts = score_facts([one], [other], counting.duplicates, limit=limit)
    return ids[place], _tree(align(one, other, counts.mappings[0]), counts, pairs[place])


class _Plain(str):
    """A text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _tree(found: Alignment, counts: Counts, pair: tuple[Graph, Graph]) -> Explanation:
    """The alignment of one pair: first the variables, then the triples."""
    from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS, Explanation

    def leaves(
        how: str, matched: list[tuple[str, str]], missed: list[str], spurious: list[str]
    ) -> tuple[Explanation, ...]:
        both = [Explanation("", MATCHED, _Plain(a), _Plain(b), 1.0, 1.0, 1.0, how) for a, b in matched]
        left = [Explanation("", MISSED, _Plain(a), None, 0.0, 1.0, 0.0, how) for a in missed]
        right = [Explanation("", SPURIOUS, None, _Plain(b), 0.0, 0.0, 1.0, how) for b in spurious]
        return (*both, *left, *right)

    concepts = [dict(zip(graph.variables, graph.concepts, strict=True)) for graph in pair]

    def variable(name: str, side: int) -> str:
        concept = concepts[side].get(name)
        return name if concept is None else f"{name} / {concept}"

    def triple(one: tuple[str, str, str]) -> str:
        source, role, target = one
        return f"{role.removeprefix(':')}({source}, {target})" if target else f"{role}({source})"

    variables = leaves(
        "var",
        [(variable(a, 0), variable(b, 1)) for a, b in found.variables],
        [variable(a, 0) for a in found.unmatched_reference],
        [variable(b, 1) for b in found.unmatched_predicted],
    )
    triples = leaves(
        "triple",
        [(triple(a), triple(b)) for a, b in found.matched],
        [triple(a) for a in found.missed],
        [triple(b) for b in found.spurious],
    )
    ours, theirs = (float(len(graph.variables)) for graph in pair)
    matched, reference, predicted = float(counts.matched[0]), float(counts.reference[0]), float(counts.predicted[0])
    bound = "" if counts.optimal[0] else f", not proven, at most {counts.upper[0]:g},"
    names = _Plain(pair[0].name), _Plain(pair[1].name)
    return Explanation(
        "document", MATCHED, *names, matched, reference, predicted, f"smatch{bound}", False,
        (
            Explanation("variables", MATCHED, *names, float(len(found.variables)), ours, theirs, "1:1", True, variables),
            Explanation("triples", MATCHED, *names, matched, reference, predicted, "smatch", True, triples),
        ),
    )  # fmt: skip


# Fine-grained scores for graphs of meaning, as Damonte et al. (2017) define them.
#
#     unlabelled       Smatch with all roles alike               concepts         bags of concepts
#     no_word_senses   Smatch with want-01 and want-02 alike     named_entities   concepts that have a :name
#     reentrancies     Smatch over the edges into a variable     negation         concepts that have a :polarity
#                      with several edges into it                wikification     values of :wiki
#     semantic_roles   Smatch over :ARGn
#
# Parts that are Smatch find an alignment of their own; the others compare two bags and need none. Edges are
# counted after inverse roles are turned round.

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

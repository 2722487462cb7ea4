"""Smatch and its fine-grained scores as results: named, signed, with bounds.

    SMATCH = max over 1:1 maps of the variables of F↔_props[δ_rel × φ_subj × φ_obj]      (eq. 35)

What a proposition is, is a matter of `Counting` (see `triples`). A fine-grained score is the same expression over some of the
triples, or a bag of labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.cases import cases
from tallystick.algebra.exact import exact
from tallystick.algebra.latent import latent, var
from tallystick.algebra.node import Node
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import I64
from tallystick.engine.data import LazyValues, Memory, Objects
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError, unknown_document
from tallystick.files.pairing import by_order
from tallystick.frozen import frozen
from tallystick.results.evaluation import tally_rows
from tallystick.results.result import Result
from tallystick.tasks.amr.files import Graph, Graphs, pair_graphs
from tallystick.tasks.amr.triples import (
    Binary,
    Counting,
    FactReader,
    Facts,
    TripleCounts,
    Unary,
    score_facts,
    score_graphs,
)
from tallystick.tasks.metric import NamedMetric, choose

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.structures.graphs import AMR


@lru_cache(maxsize=64)
def smatch(limit: float | None = None, *, constants: bool = False) -> Node:
    """Eq. 35; with `constants` the subject of a triple may be one too."""
    either = cases(Var=var, str=exact)
    proposition = record(rel=exact, subj=either if constants else var, obj=either)
    return f1(each(props=latent(proposition, limit=limit)))


BAG = f1(match(exact))


# Fine-grained scores for graphs of meaning, as Damonte et al. (2017) define them.
#
#     unlabelled       Smatch with all roles alike               concepts         bags of concepts
#     no_word_senses   Smatch with want-01 and want-02 alike     named_entities   concepts that have a :name
#     reentrancies     Smatch over the edges into a variable     negation         concepts that have a :polarity
#                      with several edges into it                wikification     values of :wiki
#     semantic_roles   Smatch over :ARGn
#
# Parts that are Smatch find an alignment of their own; the others compare two bags and need none. Edges are
# counted after inverse roles are turned round; reentrancies before `:mod` becomes an inverted `:domain`, which would
# give a tree several edges into one variable.

View = Callable[[Facts], Facts | list[str]]


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


@frozen
class AmrMetric(NamedMetric):
    """Smatch over a view of the triples, or a bag of labels."""

    look: View | None = None
    keeps_mod: bool = False

    def counting(self, chosen: Counting) -> Counting:
        """How its triples are counted, where the user has chosen `chosen` for Smatch."""
        return replace(chosen, mod="keep") if self.keeps_mod else chosen

    @property
    def is_bag(self) -> bool:
        return self.expression == BAG


METRICS: dict[str, AmrMetric] = {
    metric.name: metric
    for metric in (
        AmrMetric("smatch", "the largest F1 of triples over all 1:1 maps of the variables", smatch()),
        AmrMetric("unlabelled", "Smatch with all roles alike", smatch(), look=_unlabelled),
        AmrMetric("no_word_senses", "Smatch with want-01 and want-02 alike", smatch(), look=_without_senses),
        AmrMetric("concepts", "bags of concepts", BAG, look=_concepts),
        AmrMetric("named_entities", "concepts that have a :name", BAG, look=lambda facts: _concepts_with(facts, ":name")),
        AmrMetric("negation", "concepts that have a :polarity", BAG, look=lambda facts: _concepts_with(facts, ":polarity")),
        AmrMetric("wikification", "values of :wiki", BAG, look=lambda facts: [x for _, role, x, _ in facts.unary if role == ":wiki"]),
        AmrMetric("reentrancies", "Smatch over the edges into variables that have several", smatch(), look=_reentrancies, keeps_mod=True),
        AmrMetric("semantic_roles", "Smatch over :ARGn", smatch(), look=_roles),
    )
}  # fmt: skip
"""What `tallystick score amr` can print; `smatch` alone unless asked for more."""


def score(
    reference: Graphs,
    predicted: Graphs,
    counting: Counting | None = None,
    *,
    metrics: Sequence[str] = ("smatch",),
    limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Result], TripleCounts | None]:
    """The results of some metrics over two files of graphs, and the counts of Smatch with the seconds of each pair.

    `limit` is in seconds for each pair: where it strikes, the result has bounds.
    """
    chosen = choose(METRICS, metrics, "amr")
    counting = counting or Counting()
    pairs = pair_graphs(reference, predicted)
    notes = tuple(
        f"{error.place}: {error.reason}; counted as an empty graph"
        for side in (reference, predicted)
        for _, error in side.problems
    )
    if not (reference.by_order or predicted.by_order):
        notes += tuple(by_order(reference.side, predicted.side))
    settings = [f"{f.name}={getattr(counting, f.name)}" for f in fields(counting)]
    settings += [f"limit={limit:g}"] if limit is not None else []
    about: dict[str, Any] = {"ids": names_of(pairs), "notes": notes, "settings": " | ".join(settings)}
    results: dict[str, Result] = {}
    counts = None
    facts: dict[Counting, list[list[Facts]]] = {}
    for name, metric in chosen.items():
        look, how = metric.look, metric.counting(counting)
        if how not in facts:
            read = FactReader(how)
            facts[how] = [[read(pair[side]) for pair in pairs] for side in (0, 1)]
        seen: list[list[Any]] = [side if look is None else [look(one) for one in side] for side in facts[how]]
        if metric.is_bag:
            sides = Objects(seen[0]), Objects(seen[1])
            rows = tally_rows(metric.node, *sides, Memory())
            results[name] = Result(metric.node, Counts(), rows, name=name, sources=(sides,), **about)
            continue
        watch = None if progress is None or name != "smatch" else lambda done: progress(done, len(pairs))
        found = score_facts(seen[0], seen[1], counting.duplicates, limit=limit, progress=watch)
        results[name] = _smatch_result(metric, found, seen, counting, limit, about)
        counts = found if name == "smatch" else counts
    return results, counts


def _smatch_result(
    metric: AmrMetric,
    found: TripleCounts,
    seen: list[Any],
    counting: Counting,
    limit: float | None,
    about: dict[str, Any],
) -> Result:
    """Written by hand, in blocks of graphs that are numbered together: the 1,274 graphs of the Little Prince take 0.16 s, the
    expression 0.56 s (and their propositions 0.04 s), in a command of 0.6 s. `tests/tasks/test_amr.py` holds both equal.
    Products of duplicates, as smatch counts them, are no expression."""
    rows = np.column_stack((found.matched, found.predicted, found.matched, found.reference)).astype(np.float64)
    most = np.where(found.optimal, found.matched, found.upper)
    above = np.column_stack((most, rows[:, 1], most, rows[:, 3]))
    if counting.duplicates == "product":
        return Result(metric.summary, Counts(), rows, name=metric.name, above=above, **about)
    constants = any(one.free for side in seen for one in side)
    sources = (Objects(LazyValues(propositions, seen[0])), Objects(LazyValues(propositions, seen[1])))
    expression = smatch(limit, constants=constants)
    return Result(expression, Counts(), rows, name=metric.name, above=above, sources=(sources,), **about)


def propositions(facts: Facts) -> AMR:
    """The triples of a graph as propositions. One whose source is a constant and whose target a variable is turned round."""
    from tallystick.structures.graphs import AMR, Prop, Var

    names = [Var(name) for name in facts.variables]
    return AMR(
        (
            *(Prop(f"{role} of" if turned else role, names[v], value) for v, role, value, turned in facts.unary),
            *(Prop(role, names[source], names[target]) for source, role, target in facts.binary),
            *(Prop(role, source, target) for source, role, target in facts.free),  # type: ignore[arg-type]
        )
    )


def names_of(pairs: Sequence[tuple[Graph, Graph]]) -> tuple[str, ...]:
    """What the pairs are called: by their ids if all have one, else by their places, from 1."""
    names = [one.name or other.name for one, other in pairs]
    if len(set(names)) == len(names) and None not in names:
        return tuple(str(name) for name in names)
    return tuple(str(place) for place in range(1, len(pairs) + 1))


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
        both = counts.predicted + counts.reference
        place = int(
            np.argmin(np.where(both > 0, 2 * counts.matched / np.maximum(1, both), np.inf))
        )  # an empty pair has no worth
    elif document in ids:
        place = ids.index(document)
    else:
        raise unknown_document(document, ids, "graph")
    read = FactReader(counting)
    one, other = (read(graph) for graph in pairs[place])
    counts = score_facts([one], [other], counting.duplicates, limit=limit)
    return ids[place], _tree(align(one, other, counts.mappings[0]), counts, pairs[place])


def _tree(found: Alignment, counts: TripleCounts, pair: tuple[Graph, Graph]) -> Explanation:
    """The alignment of one pair: first the variables, then the triples."""
    from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS, Explanation, Plain

    def leaves(
        how: str, matched: list[tuple[str, str]], missed: list[str], spurious: list[str]
    ) -> tuple[Explanation, ...]:
        both = [Explanation("", MATCHED, Plain(a), Plain(b), 1.0, 1.0, 1.0, how) for a, b in matched]
        left = [Explanation("", MISSED, Plain(a), None, 0.0, 1.0, 0.0, how) for a in missed]
        right = [Explanation("", SPURIOUS, None, Plain(b), 0.0, 0.0, 1.0, how) for b in spurious]
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
    names = Plain(pair[0].name), Plain(pair[1].name)
    return Explanation(
        "document", MATCHED, *names, matched, reference, predicted, f"smatch{bound}", False,
        (
            Explanation("variables", MATCHED, *names, float(len(found.variables)), ours, theirs, "1:1", True, variables),
            Explanation("triples", MATCHED, *names, matched, reference, predicted, "smatch", True, triples),
        ),
    )  # fmt: skip


# Which triples of two graphs match, are missed, are spurious under a map of the variables.


@frozen
class Alignment:
    """Which variable is which, and the triples (source, role, target) that match, are missed, are spurious.

    `matched` pairs the reference's triple with the predicted one.
    """

    variables: list[tuple[str, str]]
    unmatched_reference: list[str]
    unmatched_predicted: list[str]
    matched: list[tuple[tuple[str, str, str], tuple[str, str, str]]]
    missed: list[tuple[str, str, str]]
    spurious: list[tuple[str, str, str]]


def align(reference: Facts, predicted: Facts, mapping: I64) -> Alignment:
    """The alignment that a mapping (reference variable → predicted variable or -1) gives."""
    pairs = [(i, int(j)) for i, j in enumerate(mapping.tolist()) if j >= 0]
    back = {j: i for i, j in pairs}
    waiting: dict[object, list[tuple[str, str, str]]] = {}
    for key, shown in _keyed(predicted, lambda v: back.get(v, ("predicted", v))):
        waiting.setdefault(key, []).append(shown)
    matched, missed = [], []
    for key, shown in _keyed(reference, lambda v: v):
        if waiting.get(key):
            matched.append((shown, waiting[key].pop(0)))
        else:
            missed.append(shown)
    chosen = {i for i, _ in pairs}
    return Alignment(
        [(reference.variables[i], predicted.variables[j]) for i, j in pairs],
        [name for i, name in enumerate(reference.variables) if i not in chosen],
        [name for j, name in enumerate(predicted.variables) if j not in back],
        matched,
        missed,
        [shown for rest in waiting.values() for shown in rest],
    )


def _keyed(facts: Facts, name: Callable[[int], object]) -> Iterable[tuple[object, tuple[str, str, str]]]:
    names = facts.variables
    for v, role, value, turned in facts.unary:
        shown = (value, role, names[v]) if turned else (names[v], role, value)
        yield (name(v), role, value, turned), shown
    for s, role, t in facts.binary:
        yield (name(s), role, name(t)), (names[s], role, names[t])
    for free in facts.free:
        yield free, free

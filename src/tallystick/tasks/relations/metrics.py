"""Binary relations: the variants that the literature calls "relation F1", side by side (eq. 8 to 10).

    strict        δ_type × (span and entity type of both arguments)
    boundaries    δ_type × (span of both)
    relaxed       δ_type × (overlap and entity type of both)
    head          δ_type × (head and entity type of both)
    pair          the two spans, whatever the relation
    type          the relation's type, wherever it is

Each is F over sets of relations, `f1(each(relations=match(φ, distinct=True)))`; only φ differs. In a symmetric relation
the arguments have no order, so they are matched themselves: record(type=exact, args=at_least(f1(match(φ_arg)), 1)).

DocRED's facts are relations of entities. Evidence has the shape of eq. 16: the evidence of a fact counts if the fact is
right. Ign F1 takes the true positives that were seen in training out of precision,

    P = (correct - seen) / (submitted - seen),   R = correct / reference

which no matching says, since what is left out depends on what was matched: two tallies, subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from tallystick.algebra.cases import cases
from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import f1
from tallystick.algebra.numbers import overlap
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.algebra.weights import at_least
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError
from tallystick.files.confidences import ItemConfidences
from tallystick.files.pairing import Paired, pair_values
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.structures.texts import AnnotatedMention, FactSet, Mention, Relation, RelationSet, SymmetricRelation
from tallystick.tasks.metric import Entry, NamedMetric, choose, declare, score_expression, settings_line
from tallystick.tasks.named import Types, weigh_by_kind
from tallystick.tasks.parses import Heads


@frozen
class RelationOptions:
    """What may be different; every choice goes into the signature."""

    symmetric: tuple[str, ...] = ()
    types: Types = field(default_factory=Types)
    heads: Heads | None = None
    weights: tuple[tuple[str, float], ...] = ()
    training: tuple[str, ...] = ()


PLAIN = RelationOptions()

DIRECTED = "directed"
"""The view of metrics that have no form for arguments without an order: they look at all relations as they stand."""


def expressions(
    options: RelationOptions = PLAIN, *, types: bool = True, heads: bool = True, gaps: bool = False
) -> dict[str, NamedMetric]:
    """The variants. Without entity types there is no strict one, and the others look at spans alone."""
    left_right = {"left": exact, "right": exact, **({"gaps": exact} if gaps else {})}
    entity: dict[str, Similarity] = {"type": exact} if types else {}
    arguments = {
        "strict": (record(**left_right, type=exact), "span and entity type of both arguments, and relation type"),
        "boundaries": (record(**left_right), "span of both, and relation type"),
        "relaxed": (record(indices=overlap("any"), **entity), f"overlap{' and entity type' if types else ''} of both, and relation type"),
        "head": (record(head=exact, **entity), f"head{' and entity type' if types else ''} of both, and relation type"),
    }  # fmt: skip
    left_out = {name for name, missing in (("strict", not types), ("head", not heads)) if missing}
    label = options.types.similarity
    out: dict[str, Entry] = {
        name: (_over(weigh_by_kind(argument, options.weights), label, options), summary)
        for name, (argument, summary) in arguments.items()
        if name not in left_out
    }
    out["pair"] = (
        f1(each(relations=match(record(subj=record(**left_right), obj=record(**left_right)), distinct=True))),
        "spans of both, for any relation type",
        DIRECTED,
    )
    out["type"] = (f1(each(relations=match(record(type=label)))), "relation type, wherever its arguments are", DIRECTED)
    return declare(out)


def _over(argument: Similarity, type_: Similarity, options: RelationOptions) -> Node:
    """F over sets of relations whose arguments are compared so (eq. 10)."""
    directed = record(type=type_, subj=argument, obj=argument)
    if not options.symmetric:
        return f1(each(relations=match(directed, distinct=True)))
    both = record(type=type_, args=at_least(f1(match(argument)), 1))
    return f1(each(relations=match(cases(Relation=directed, SymmetricRelation=both), distinct=True)))


FACTS = f1(each(facts=match(record(type=exact, subj=exact, obj=exact), distinct=True)))
"""DocRED's relations: eq. 10 over entities instead of mentions."""

EVIDENCE = f1(each(facts=match(record(type=exact, subj=exact, obj=exact, evidence=match(exact, distinct=True)))))
"""DocRED's evidence: eq. 16 with sentences in the place of arguments."""


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = (), *, options: RelationOptions = PLAIN
) -> dict[str, Result]:
    """Score documents: two sequences, or mappings by id, of RelationSet or FactSet."""
    return score(pair_values(reference, predicted, RelationSet, FactSet), metrics, options)


def score(pairs: Paired[Any], metrics: Sequence[str] = (), options: RelationOptions = PLAIN) -> dict[str, Result]:
    """The variants side by side: all that the data can tell, or those that are asked for."""
    if any(isinstance(document, FactSet) for document in (*pairs.reference, *pairs.predicted)):
        return _score_facts(pairs, metrics, options.training)
    plain = prepare(pairs, replace(options, symmetric=()))
    pairs = prepare(pairs, options) if options.symmetric else plain
    seen = _arguments((*plain.reference, *plain.predicted))
    known = expressions(
        options,
        types=any(mention.type is not None for mention in seen),
        heads=bool(seen) and all(mention.head is not None for mention in seen),
        gaps=any(mention.gaps for mention in seen),
    )
    for name, what in (("strict", "entity types"), ("head", "heads of all arguments (or --heads)")):
        if name in metrics and name not in known:
            raise MetricError(f"relations.{name} needs {what}, which these files do not have")
    settings = _settings(options)
    out = {}
    for name, metric in choose(known, metrics, "relations").items():
        over = plain if metric.view == DIRECTED else pairs
        out[name] = score_expression(f"relations.{name}", metric.node, over, settings=settings)
    return out


def with_claims(
    results: Mapping[str, Result], pairs: Paired[RelationSet], sure: ItemConfidences, symmetric: Iterable[str]
) -> dict[str, Result]:
    """The results, with what the predictions say about how sure they are of each relation, judged by the strictest metric that is
    there: strict, or by boundaries."""
    from tallystick.results.confidence import claims_of_items

    sure.refuse_nothing("relations")
    name = next((one for one in ("strict", "boundaries") if one in results), None)
    if name is None:
        raise MetricError("--confidence is judged by the metrics strict and boundaries; ask for one of them too")
    types = frozenset(symmetric)

    def known(mention: Any) -> tuple[Any, ...]:
        return (
            mention.left,
            mention.right,
            getattr(mention, "gaps", ()),
            *([mention.type] if name == "strict" else []),
        )

    def keys(document: RelationSet) -> list[Any]:
        found = [(one.type, (known(one.subj), known(one.obj))) for one in document.relations]
        return [(type_, tuple(sorted(args, key=repr)) if type_ in types else args) for type_, args in found]

    sides = [keys(one) for one in pairs.reference], [keys(one) for one in pairs.predicted]
    scores = [sure.by_document.get(key, []) for key in pairs.ids]
    claims = claims_of_items("relations", sides, scores, distinct=True)
    return {**results, name: results[name].changed(claims=claims, notes=(*results[name].notes, *claims.notes))}


def prepare(pairs: Paired[RelationSet], options: RelationOptions) -> Paired[RelationSet]:
    """Mentions with everything that an expression asks for, and symmetric relations folded."""
    heads = None if options.heads is None else options.heads.over(pairs.ids)

    def document(name: str, found: RelationSet) -> RelationSet:
        def known(plain: Mention) -> AnnotatedMention:
            # Of a plain mention nothing more is known.
            mention = plain if isinstance(plain, AnnotatedMention) else AnnotatedMention(plain.left, plain.right)
            if heads is None or mention.head is not None:
                return mention
            return replace(mention, head=heads.of(name, mention.left, mention.right))

        def changed(relation: Any) -> Any:
            if isinstance(relation, SymmetricRelation):
                return SymmetricRelation(relation.type, tuple(map(known, relation.args)))
            subj, obj = known(relation.subj), known(relation.obj)
            return relation if subj is relation.subj and obj is relation.obj else Relation(relation.type, subj, obj)

        return folded(RelationSet(tuple(map(changed, found.relations))), options.symmetric)

    sides = (
        tuple(document(name, one) for name, one in zip(pairs.ids, side, strict=True))
        for side in (pairs.reference, pairs.predicted)
    )
    reference, predicted = sides
    return replace(pairs, reference=reference, predicted=predicted)


def _arguments(documents: Iterable[RelationSet]) -> list[AnnotatedMention]:
    """All arguments."""
    relations: list[Any] = [relation for document in documents for relation in document.relations]
    out: list[AnnotatedMention] = []
    for relation in relations:
        out += getattr(relation, "args", None) or (relation.subj, relation.obj)
    return out


def folded(document: RelationSet, symmetric: Iterable[str]) -> RelationSet:
    """Relations of these types without an order of arguments; in one order, so that both directions are one relation."""
    types = frozenset(symmetric)

    def fold(relation: Any) -> Any:
        if not isinstance(relation, Relation) or relation.type not in types:
            return relation
        args = sorted((relation.subj, relation.obj), key=lambda m: (m.left, m.right, str(getattr(m, "type", ""))))
        return SymmetricRelation(relation.type, tuple(args))

    return RelationSet(tuple(map(fold, document.relations))) if types else document


def _settings(options: RelationOptions) -> str:
    return settings_line(
        symmetric="+".join(options.symmetric),
        heads=options.heads.source if options.heads else "",
        types=options.types.hierarchy,
        informativity=dict(options.weights) or "",
    )


def _score_facts(pairs: Paired[FactSet], metrics: Sequence[str], training: Sequence[str]) -> dict[str, Result]:
    """DocRED: facts, Ign F1 for each training file that was given, evidence."""
    labels = {"ign": training[0]} if len(training) == 1 else {f"ign:{source}": source for source in training}
    names = {"facts": "", **labels, "evidence": ""}
    out = {}
    for name, source in choose(names, metrics, "relations").items():
        expression = EVIDENCE if name == "evidence" else FACTS
        result = score_expression(f"relations.{name}", expression, pairs)
        out[name] = _ignoring(result, pairs, source) if source else result
    return out


def _ignoring(result: Result, pairs: Paired[FactSet], source: str) -> Result:
    """Ign F1 from the tallies of all facts and of those seen in training."""
    familiar = tuple(FactSet(tuple(fact for fact in one.facts if source in fact.seen)) for one in pairs.reference)
    seen = score_expression("relations.seen", FACTS, replace(pairs, reference=familiar)).rows[:, 0]
    rows = result.rows - np.stack((seen, seen, np.zeros_like(seen), np.zeros_like(seen)), axis=1)
    return replace(
        result,
        metric=f"precision without the true positives of {FACTS} that occur in training",
        kind=Counts(one=False),
        rows=rows,
        settings=f"training={source}",
        sources=None,
    )

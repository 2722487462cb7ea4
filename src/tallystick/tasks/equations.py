"""Every metric of "A Unified View of Evaluation Metrics for Structured Prediction", as an expression of the algebra.

    CEAF_φ4 = F_entities[F_mentions[δ_Mention]]            (eq. 19)
    ceaf_phi4 = f1(each(entities=match(record(mentions=f1(match(phi_mention))))))

How the paper's notation is written:

    δ_fld × φ_fld'         record(fld=exact, fld2=...)     the product of a record's fields
    Σ_fld[φ]               match(φ) in the place of fld    "1:1" ↔, "N:1" →, "1:N" ←, "N:N" ~
    F_fld[φ] at the top    f1(each(fld=match(φ)))          the figure over all documents
    F_fld[φ] inside        fld=f1(match(φ))                a similarity in [0, 1]

The paper writes φ(P, R); tallystick takes the reference first everywhere. The data types are those of
`tallystick.structures`; other types with the same fields do as well. `docs/equations.md` has each equation next to
its expression, and what was decided where the two could differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tallystick.algebra.cases import cases
from tallystick.algebra.exact import exact
from tallystick.algebra.functions import via
from tallystick.algebra.hierarchy import levels, subtypes
from tallystick.algebra.latent import latent, var
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import best, f1, jaccard, links, precision, recall, sides, subset, supertypes
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.algebra.text import words
from tallystick.algebra.weights import above, at_least, weigh
from tallystick.errors import MetricError
from tallystick.results.result import Result

# Section 2.1, binary relations: RelationSet

phi_mention = record(left=exact, right=exact)
"""eq. 8: φ_Mention = δ_left × δ_right"""

phi_relation = record(type=exact, subj=phi_mention, obj=phi_mention)
"""eq. 9: φ_Relation = δ_type × δ_subj × δ_obj"""

rel_f1 = f1(each(relations=match(phi_relation)))
"""eq. 10: RelF1 = F_relations[φ_Relation]"""

# Section 2.2, dependencies: DependencyParse

uas = f1(each(edges=match(record(gov=exact, dep=exact))))
"""eq. 11: UAS = F_edges[δ_gov × δ_dep]"""

las = f1(each(edges=match(record(gov=exact, dep=exact, rel=exact))))
"""eq. 12: LAS = F_edges[δ_gov × δ_dep × δ_rel]"""

# Section 3, matching of sets. Eq. 13, Σ[φ](P, R) = max over matchings of Σ φ(u, v), is match() itself.

sigma_delta = match(exact)
"""eq. 3 and 14: Σ_δ(P, R) = |P ∩ R| = Σ↔[δ](P, R)"""

# Section 3.1, events: EventSet

phi_trigger = record(mention=phi_mention, type=exact)
"""δ_Trigger = δ_mention × δ_type"""

phi_argument = record(mention=phi_mention, role=exact)
"""δ_Argument = δ_mention × δ_role"""

trig_f1 = f1(each(events=match(record(trig=phi_trigger))))
"""eq. 15: TrigF1 = F↔_events[δ_trig]"""

arg_f1 = f1(each(events=match(record(trig=phi_trigger, args=match(phi_argument)))))
"""eq. 16: ArgF1 = F↔_events[δ_trig × Σ↔_args[δ_Argument]]"""

# Section 3.2, coreference: EntitySet

phi_1 = at_least(record(mentions=f1(match(phi_mention))), 1)
"""Luo's φ_1 = ⟦P = R⟧: the two entities are the same"""

phi_2 = above(record(mentions=match(phi_mention)), 0)
"""Luo's φ_2 = ⟦P ∩ R ≠ ∅⟧: they have a mention in common"""

phi_3 = record(mentions=match(phi_mention))
"""eq. 17: φ_3 = Σ↔_mentions[δ_Mention], the number of mentions in common"""

phi_4 = record(mentions=f1(match(phi_mention)))
"""eq. 18: φ_4 = F↔_mentions[δ_Mention]"""

ceaf_phi3 = f1(each(entities=match(phi_3)))
"""CEAF_φ3 = F↔_entities[φ_3], also called CEAF-m"""

ceaf_phi4 = f1(each(entities=match(phi_4)))
"""eq. 19: CEAF_φ4 = F↔_entities[φ_4], also called CEAF-e"""

phi_link = record(mentions=links(phi_mention))
"""eq. 21: φ_link(X, Y) = max{0, |X ∩ Y| - 1}"""

muc_recall = recall(each(entities=match(phi_link, "N:N")))
"""eq. 20 and 22: R_MUC = R~_entities[φ_link]"""

muc_precision = precision(each(entities=match(phi_link, "N:N")))
"""P_MUC = P~_entities[φ_link]"""

muc = f1(each(entities=match(phi_link, "N:N")))
"""F1 of P_MUC and R_MUC: both have the same numerator"""

# B³ is over memberships: MembershipSet, which EntitySet.memberships() makes.

b3_recall = recall(each(rels=match(record(mention=phi_mention, entity=record(mentions=recall(match(phi_mention)))))))
"""eq. 23: R_B³ = R↔_rels[δ_mention × R↔_entity[δ_mention]]"""

b3_precision = precision(
    each(rels=match(record(mention=phi_mention, entity=record(mentions=precision(match(phi_mention))))))
)
"""eq. 24: P_B³ = P↔_rels[δ_mention × P↔_entity[δ_mention]]"""

b3 = sides(precision=b3_precision, recall=b3_recall)
"""Both, and the F1 of the two"""

# Section 3.3, role-filler entities: NAryRelation

phi_subset = record(mentions=subset(phi_mention))
"""eq. 25: φ_⊆(P, R) = ⟦P ⊆ R⟧, for a P that is not empty"""

ceaf_ree = f1(each(args=match(record(role=exact, entity=phi_subset))))
"""eq. 26: CEAF-REE = F↔_args[δ_role × φ_⊆]"""

# Of the prediction as NAryRelation.by_mention() makes it. N:1 lets many predicted mentions fall on one entity.

ceaf_rme_subset = f1(each(args=match(record(role=exact, entity=phi_subset), "N:1")))
"""eq. 27: CEAF-RME_φ⊆ = F→_args[δ_role × φ_⊆], where recall counts an entity once however often it is hit"""

ceaf_rme_subset_literal = f1(each(args=match(record(role=exact, entity=phi_subset), "N:1", literal=True)))
"""eq. 27 as printed: one Σ for both sides, so that recall can pass 1"""

ceaf_rme_phi3 = f1(each(args=match(record(role=exact, entity=phi_3), "N:1", literal=True)))
"""eq. 28: CEAF-RME_φ3 = F→_args[δ_role × φ_3], as printed

An entity is worth as much as it has mentions, and each predicted mention finds one of them: one Σ is right here, and
passes 1 only if a mention is predicted twice.
"""

ceaf_rme_phi3_covered = f1(each(args=match(record(role=exact, entity=phi_3), "N:1")))
"""eq. 28 where recall counts the best mention for each entity only: one of n, if mentions are predicted singly"""

# Section 3.3, N-ary relations: NAryRelationSet[IndexedMention]

scirex_mention = above(record(indices=jaccard(match(exact))), 0.5)
"""eq. 29: φ_Mention = ⟦J↔_indices[δ_int] > 0.5⟧"""

scirex_entity = record(role=exact, entity=above(record(mentions=precision(match(scirex_mention))), 0.5))
"""eq. 30: φ_RFE = ⟦P↔_mentions[δ_role × φ_Mention] > 0.5⟧; the role, being one for all mentions, stands outside"""

scirex_relation = at_least(record(args=f1(match(scirex_entity))), 1)
"""eq. 31: φ_NAryRelation = ⟦F↔_args[φ_RFE] = 1⟧"""

scirex_f1 = f1(each(relations=match(scirex_relation)))
"""F↔_relations[φ_NAryRelation]"""

# Section 3.4 and appendix C, templates: TemplateSet


def muc4_f1(phi_t: Similarity, constraint: str = "1:1") -> Node:
    """eq. 32: F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ_T]]

    Several types of fillers are `cases(str=phi_set(...), Entity=...)`. `muc4_f1(phi_subset)` is Du et al. (2021b);
    `muc4_f1(phi_subset, "N:1")` and `muc4_f1(phi_3, "N:1")` are Chen et al. (2023). Inside a product there is one Σ,
    so that N:1 counts as printed.
    """
    fillers = match(record(slot=exact, value=phi_t), constraint)
    return f1(each(templates=match(record(type=exact, fillers=fillers))))


def phi_set(parents: Mapping[Any, Any]) -> Similarity:
    """eq. 33: 1 if P = R, ½ if R <: P, as MUC-4 did it: half credit for a prediction that is too general."""
    return subtypes(parents)


def phi_set_as_printed(parents: Mapping[Any, Any]) -> Similarity:
    """eq. 33 as printed: 1 if P = R, ½ if P <: R, half credit for a prediction that is too special."""
    return subtypes(parents, direction="predicted_descendant")


def phi_word(premodifiers: Iterable[str]) -> Similarity:
    """eq. 45: φ_word(P, R) = δ_word · ⟦valid(P, R)⟧, valid if neither word is a premodifier."""
    return weigh(exact, dict.fromkeys(sorted(set(premodifiers)), 0))


def phi_str(premodifiers: Iterable[str], split: Callable[[str], Iterable[str]] = words) -> Similarity:
    """eq. 46: φ_str = ⟦J↔_words[φ_word] > 0⟧, of two strings.

    Strings are split into words by `split`; the default one gives them in lower case, without punctuation and articles.
    """
    return via(split, above(jaccard(match(phi_word(premodifiers))), 0))


def phi_str_entity(premodifiers: Iterable[str], split: Callable[[str], Iterable[str]] = words) -> Similarity:
    """eq. 46 against an entity: with any of its strings. Over Entity[str], the predicted one with a single string."""
    return record(mentions=best(phi_str(premodifiers, split)))


# Section 4, latent variables: AMR. Eq. 34 is var, eq. 36 latent() itself.

phi_prop = record(rel=exact, subj=var, obj=cases(Var=var, str=exact))
"""δ_rel × φ_subj × φ_obj, where variables match as eq. 34 says and concepts if they are equal"""

smatch = f1(each(props=latent(phi_prop)))
"""eq. 35: SMATCH = max over 1:1 maps of the variables of F↔_props[δ_rel × φ_subj × φ_obj]"""

# Section 5: eq. 37 is sequence(), tree(), unordered() and graph().

# Section 6, hierarchies: in the place of any exact type

phi_levels = levels()
"""eq. 38: φ_type(P, R) = 2^(d - D) if d > 0, where d levels agree from the top and D is the larger depth of the two"""


def phi_supertypes(parents: Mapping[Any, Any]) -> Similarity:
    """eq. 39: φ_type(P, R) = F↔[δ_type](S(P), S(R)), S(P) = {t | p <: t, p ∈ P}; P is a type or a set of types."""
    return supertypes(parents)


# Appendix D, BETTER: TemplateSet

granular_types = f1(each(templates=match(record(type=exact))))
"""eq. 47, first factor: F↔_templates[δ_type]"""


def granular_fillers(phi_t: Similarity) -> Node:
    """eq. 47, second factor: eq. 32"""
    return muc4_f1(phi_t)


def granular_score(types: Result, fillers: Result) -> float | None:
    """eq. 47: F↔_templates[δ_type] × F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ_T]], two figures of one corpus.

    The two factors share one alignment, although each is evaluated by itself. An alignment that is best for the
    fillers pairs templates of one type only; pair what it leaves over within each type, at no cost to the fillers,
    and it is best for the types too. None where one of the two is undefined.
    """
    if types.ids != fillers.ids:
        raise MetricError("the two results of eq. 47 must be over the same documents")
    first, second = types.figures["f1"], fillers.figures["f1"]
    return None if first is None or second is None else first * second

"""The data types of the tasks, named as "A Unified View of Evaluation Metrics for Structured Prediction" names them.

    from tallystick.structures import Mention, Relation, RelationSet

    RelationSet([Relation("is-capital-of", Mention(0, 0), Mention(4, 5))])

All are frozen dataclasses. What the paper calls a `Set` is annotated `Collection`, which a derived metric takes as
a bag, and held as a tuple whatever it was given as: a list, a set, a generator. A tuple rather than a frozenset,
because nothing is lost in it: something predicted twice stays there twice and costs precision (where a metric
wants sets, it says `distinct`), and the order is that of the input, so that alignments, explanations and ties
are the same in every process, where the order of a frozenset of texts is not. Every value can be hashed, which a
list in it would prevent. The price: == of two values sees the order. A metric does not, and it is by a metric that
they are to be compared.

Types of relations, events, roles and slots are texts. Entities take any kind of mention: `Entity` is
`Entity[Mention]`, and `Entity[str]` or `Entity[IndexedMention]` are others. `SlotFiller[T]` takes any value, and so do
the nodes of a `Tree[T]` or `Graph[T]`. A `Var` is a latent variable, whose name means nothing outside of its `Scope`.
"""

from tallystick.structures.graphs import (
    AMR,
    ConceptualHierarchy,
    ConceptualLink,
    EventHierarchy,
    EventLink,
    EventTree,
    Graph,
    Prop,
    Scope,
    Tree,
    Var,
    conceptual,
)
from tallystick.structures.texts import (
    AnnotatedMention,
    Argument,
    Dependency,
    DependencyParse,
    Entity,
    EntitySet,
    Event,
    EventSet,
    Fact,
    FactSet,
    IndexedMention,
    Membership,
    MembershipSet,
    Mention,
    NAryRelation,
    NAryRelationSet,
    Relation,
    RelationSet,
    RoleFillerEntity,
    SlotFiller,
    SymmetricRelation,
    Template,
    TemplateSet,
    TextMention,
    Trigger,
)

__all__ = [
    "AMR", "AnnotatedMention", "Argument", "ConceptualHierarchy", "ConceptualLink", "Dependency", "DependencyParse",
    "Entity", "EntitySet", "Event", "EventHierarchy", "EventLink", "EventSet", "EventTree", "Fact", "FactSet", "Graph",
    "IndexedMention", "Membership", "MembershipSet", "Mention", "NAryRelation", "NAryRelationSet", "Prop", "Relation",
    "RelationSet", "RoleFillerEntity", "Scope", "SlotFiller", "SymmetricRelation", "Template", "TemplateSet",
    "TextMention", "Tree", "Trigger", "Var", "conceptual",
]  # fmt: skip

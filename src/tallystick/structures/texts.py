"""How a structure holds a collection: as a tuple, whatever it was given as."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Generic

from typing_extensions import TypeVar

from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen


def hold(record: object, name: str) -> None:
    """Turn the collection in a field of a frozen record into a tuple; called when the record is made."""
    value = getattr(record, name)
    if type(value) is tuple:
        return
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueMismatch(
            f"at {type(record).__name__}.{name}: expected a collection, found {type(value).__name__} {value!r:.60}"
        )
    object.__setattr__(record, name, tuple(value))


# Mentions: where in the text something is said (sections 2.1 and 3.3).


@frozen
class Mention:
    """A span by its offsets, both inclusive: `Mention(3, 3)` is one token.

    >>> Mention(3, 5)
    Mention(left=3, right=5)
    """

    left: int
    right: int

    @property
    def indices(self) -> range:
        """The token indices of the span, as an IndexedMention has them."""
        return range(self.left, self.right + 1)


@frozen
class IndexedMention:
    """A span as a range of token indices: section 3.3's alternative, which SciREX compares by overlap.

    >>> IndexedMention(range(3, 6))
    IndexedMention(indices=range(3, 6))
    """

    indices: range


@frozen
class AnnotatedMention(Mention):
    """A span with what is known about it; what is not known is None.

    `type` is an entity type; `head` the span of its head, both ends inclusive; `entity` what it refers to, one name for
    both sides; `kind` how it is said: name, nominal, pronoun; `gaps` the parts that do not belong to it.

    >>> AnnotatedMention(3, 5, type="PER", head=(5, 5))
    Mention(3, 5, type='PER', head=(5, 5))
    """

    type: str | None = None
    head: tuple[int, int] | None = None
    entity: str | None = None
    kind: str | None = None
    gaps: tuple[tuple[int, int], ...] = ()
    text: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        names = ("type", "head", "entity", "kind", "gaps", "text")
        known = [f"{name}={getattr(self, name)!r}" for name in names if getattr(self, name) not in (None, ())]
        return f"Mention({', '.join([str(self.left), str(self.right), *known])})"


@frozen
class TextMention:
    """A mention by what it says, and how: name, nominal, pronoun.

    >>> TextMention("the mayor", "nominal")
    TextMention(text='the mayor', kind='nominal')
    """

    text: str
    kind: str | None = None


# Coreference: entities as collections of mentions (section 3.2).
#
# B³ looks at each mention with the entity it belongs to, and needs the same data in another shape (the paper's
# `CorefOutputForB3`, here `MembershipSet`):
#
#     EntitySet   {a, b}  {c}        memberships()        (a, {a, b})  (b, {a, b})  (c, {c})

M = TypeVar("M", default=Mention)


@frozen
class Entity(Generic[M]):
    """Mentions that refer to one thing.

    >>> Entity([Mention(0, 1), Mention(5, 5)])
    Entity(mentions=(Mention(left=0, right=1), Mention(left=5, right=5)))
    """

    mentions: Collection[M] = ()

    def __post_init__(self) -> None:
        hold(self, "mentions")


@frozen
class Membership(Generic[M]):
    """A mention with the entity it belongs to.

    >>> Membership(Mention(5, 5), Entity([Mention(0, 1), Mention(5, 5)]))
    Membership(mention=Mention(left=5, right=5), entity=Entity(mentions=(Mention(left=0, right=1), Mention(left=5, right=5))))
    """

    mention: M
    entity: Entity[M]


@frozen
class MembershipSet(Generic[M]):
    """The memberships of all mentions: the output of the task as B³ looks at it.

    >>> entity = Entity([Mention(0, 1), Mention(5, 5)])
    >>> len(MembershipSet([Membership(mention, entity) for mention in entity.mentions]).rels)
    2
    """

    rels: Collection[Membership[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "rels")


@frozen
class EntitySet(Generic[M]):
    """The entities of a text: the output of the task.

    >>> gold = EntitySet([Entity([Mention(0, 1), Mention(5, 5)])])
    >>> ts.derive(EntitySet)(gold, EntitySet([Entity([Mention(0, 1)])]))
    0.6666666666666666
    """

    entities: Collection[Entity[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "entities")

    def memberships(self) -> MembershipSet[M]:
        """Each mention with its entity. An entity is shared by its memberships, so that it is scored once."""
        return MembershipSet(tuple(Membership(mention, one) for one in self.entities for mention in one.mentions))


# Binary relations (section 2.1).


@frozen
class Relation:
    """A typed relation of two mentions: is-capital-of(London, United Kingdom).

    >>> Relation("is-capital-of", Mention(0, 0), Mention(4, 5))
    Relation(type='is-capital-of', subj=Mention(left=0, right=0), obj=Mention(left=4, right=5))
    """

    type: str
    subj: Mention
    obj: Mention


@frozen
class SymmetricRelation:
    """A relation whose two arguments have no order: is-married-to.

    >>> SymmetricRelation("is-married-to", [Mention(0, 1), Mention(5, 6)])
    SymmetricRelation(type='is-married-to', args=(Mention(left=0, right=1), Mention(left=5, right=6)))
    """

    type: str
    args: Collection[Mention]

    def __post_init__(self) -> None:
        hold(self, "args")


@frozen
class RelationSet:
    """The relations of a text: the output of the task.

    >>> gold = RelationSet([Relation("is-capital-of", Mention(0, 0), Mention(4, 5))])
    >>> ts.derive(RelationSet)(gold, gold)
    1.0
    """

    relations: Collection[Relation] = ()

    def __post_init__(self) -> None:
        hold(self, "relations")


@frozen
class Fact:
    """A relation of two entities of a document, by their numbers, and the sentences that say so (DocRED).

    >>> Fact("P17", 0, 2, evidence=[1])
    Fact(type='P17', subj=0, obj=2, evidence=(1,), seen=())
    """

    type: str
    subj: int
    obj: int
    evidence: Collection[int] = ()
    seen: Collection[str] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        hold(self, "evidence")
        hold(self, "seen")


@frozen
class FactSet:
    """The facts of a document.

    >>> FactSet([Fact("P17", 0, 2)])
    FactSet(facts=(Fact(type='P17', subj=0, obj=2, evidence=(), seen=()),))
    """

    facts: Collection[Fact] = ()

    def __post_init__(self) -> None:
        hold(self, "facts")


# Events: a trigger and its arguments (section 3.1). Semantic roles have the same shape: predicate and arguments.


@frozen
class Trigger:
    """What evokes an event, and the event's type.

    >>> Trigger(Mention(2, 2), "attack")
    Trigger(mention=Mention(left=2, right=2), type='attack')
    """

    mention: Mention
    type: str


@frozen
class Argument:
    """A participant of an event, and its role.

    >>> Argument(Mention(0, 1), "attacker")
    Argument(mention=Mention(left=0, right=1), role='attacker')
    """

    mention: Mention
    role: str


@frozen
class Event:
    """A trigger with its arguments.

    >>> Event(Trigger(Mention(2, 2), "attack"), [Argument(Mention(0, 1), "attacker")])
    Event(trig=Trigger(mention=Mention(left=2, right=2), type='attack'), args=(Argument(mention=Mention(left=0, right=1), role='attacker'),))
    """

    trig: Trigger
    args: Collection[Argument] = ()

    def __post_init__(self) -> None:
        hold(self, "args")


@frozen
class EventSet:
    """The events of a text: the output of the task.

    >>> gold = EventSet([Event(Trigger(Mention(2, 2), "attack"), [Argument(Mention(0, 1), "attacker")])])
    >>> ts.derive(EventSet)(gold, gold)
    1.0
    """

    events: Collection[Event] = ()

    def __post_init__(self) -> None:
        hold(self, "events")


# Role-filler entities and N-ary relations (section 3.3).


@frozen
class RoleFillerEntity(Generic[M]):
    """An entity in a role.

    >>> RoleFillerEntity("PerpInd", Entity([TextMention("guerrillas")]))
    RoleFillerEntity(role='PerpInd', entity=Entity(mentions=(TextMention(text='guerrillas', kind=None),)))
    """

    role: str
    entity: Entity[M]


@frozen
class NAryRelation(Generic[M]):
    """A relation of any number of entities, each in its role. Role-filler entity extraction puts out a single one.

    >>> NAryRelation("result", [RoleFillerEntity("Task", Entity([Mention(0, 1)]))])
    NAryRelation(type='result', args=(RoleFillerEntity(role='Task', entity=Entity(mentions=(Mention(left=0, right=1),))),))
    """

    type: str
    args: Collection[RoleFillerEntity[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "args")

    def by_mention(self) -> NAryRelation[M]:
        """Each mention as an entity of its own, in its entity's role: how eq. 27 and 28 look at a prediction."""
        single = (RoleFillerEntity(a.role, Entity((mention,))) for a in self.args for mention in a.entity.mentions)
        return NAryRelation(self.type, tuple(single))


@frozen
class NAryRelationSet(Generic[M]):
    """The relations of a text: the output of the task.

    >>> NAryRelationSet([NAryRelation("result", [RoleFillerEntity("Task", Entity([Mention(0, 1)]))])])
    NAryRelationSet(relations=(NAryRelation(type='result', args=(RoleFillerEntity(role='Task', entity=Entity(mentions=(Mention(left=0, right=1),))),)),))
    """

    relations: Collection[NAryRelation[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "relations")


# Templates, whose slots take any number of fillers of any type (section 3.4).
#
# A metric can be derived from them once the fillers' type is said: `TemplateSet[Entity[str]]`, or a union such as
# `TemplateSet[Entity[str] | bool]`, which is compared case by case.

T = TypeVar("T", default=Any)


@frozen
class SlotFiller(Generic[T]):
    """A value in a slot: a mention, an entity, an event, a truth value, ...

    >>> SlotFiller("Victim", Entity([TextMention("two men")]))
    SlotFiller(slot='Victim', value=Entity(mentions=(TextMention(text='two men', kind=None),)))
    """

    slot: str
    value: T


@frozen
class Template(Generic[T]):
    """A typed frame with its fillers.

    >>> Template("attack", [SlotFiller("Victim", Entity([TextMention("two men")]))])
    Template(type='attack', fillers=(SlotFiller(slot='Victim', value=Entity(mentions=(TextMention(text='two men', kind=None),))),))
    """

    type: str
    fillers: Collection[SlotFiller[T]] = ()

    def __post_init__(self) -> None:
        hold(self, "fillers")

    def with_type(self, slot: str = "type") -> Template[Any]:
        """The type as a filler like the others, an entity of its alternatives: what counts the type as a slot."""
        own: SlotFiller[Any] = SlotFiller(slot, Entity(alternatives(self.type)))
        return Template(self.type, (own, *self.fillers))

    def by_mention(self, key: Callable[[Any], Any] = lambda mention: mention) -> Template[Any]:
        """Each mention as an entity of its own, in its entity's slot: how Chen et al. look at a prediction. Mentions of an
        entity that have one `key` are one."""
        single: list[SlotFiller[Any]] = []
        for filler in self.fillers:
            different: dict[Any, Any] = {}
            for mention in filler.value.mentions:  # type: ignore[attr-defined]
                different.setdefault(key(mention), mention)
            single += (SlotFiller(filler.slot, Entity((mention,))) for mention in different.values())
        return Template(self.type, tuple(single))


def alternatives(type_: str) -> tuple[str, ...]:
    """`attack / bombing`, as MUC-4's keys write it, is either of the two."""
    return tuple(part.strip() for part in type_.split("/"))


@frozen
class TemplateSet(Generic[T]):
    """The templates of a text: the output of the task.

    >>> TemplateSet([Template("attack", [SlotFiller("Instrument", "bomb")])])
    TemplateSet(templates=(Template(type='attack', fillers=(SlotFiller(slot='Instrument', value='bomb'),)),))
    """

    templates: Collection[Template[T]] = ()

    def __post_init__(self) -> None:
        hold(self, "templates")

    def with_types(self, slot: str = "type") -> TemplateSet[Any]:
        """The type of each template as one of its fillers, where it has one."""
        return TemplateSet(
            tuple(template.with_type(slot) if template.type else template for template in self.templates)
        )

    def by_mention(self, key: Callable[[Any], Any] = lambda mention: mention) -> TemplateSet[Any]:
        """Each mention as an entity of its own; those of an entity that have one `key` are one."""
        return TemplateSet(tuple(template.by_mention(key) for template in self.templates))


# Event arguments as texts: what fills which role of which event, and what else is known of the document.
#
# An argument may have a place (a span of tokens) or not: generated ones often have only their text. Events are known by an
# id, which both sides share: given by the file, or the trigger's span with the event's type.

Span = tuple[int, int]
"""First and last token, both inclusive."""


@frozen
class EventArgument:
    """A text in a role of an event."""

    event: str
    role: str
    text: str
    span: Span | None = None


@frozen
class DescribedEvent:
    """An event: its id, and what a judge is told about it."""

    id: str
    type: str = ""
    trigger: str = ""
    span: Span | None = None


@frozen
class ArgumentDocument:
    """The arguments of one text. `sentences` is the sentence of each token; `parse` serves the modifiers."""

    arguments: tuple[EventArgument, ...] = ()
    events: tuple[DescribedEvent, ...] = ()
    tokens: tuple[str, ...] = ()
    sentences: tuple[int, ...] = ()
    parse: Parse | None = None

    def __post_init__(self) -> None:
        for name in ("arguments", "events", "tokens", "sentences"):
            hold(self, name)


# Dependency parses (section 2.2).


@frozen
class Dependency:
    """An edge from a governor to its dependent, both by the index of the word; 0 governs the root.

    >>> Dependency(2, 1, "nsubj")
    Dependency(gov=2, dep=1, rel='nsubj')
    """

    gov: int
    dep: int
    rel: str


@frozen
class DependencyParse:
    """The edges of a sentence: the output of the task.

    >>> gold = DependencyParse([Dependency(2, 1, "nsubj"), Dependency(0, 2, "root")])
    >>> ts.derive(DependencyParse)(gold, DependencyParse([Dependency(2, 1, "obj"), Dependency(0, 2, "root")]))
    0.5
    """

    edges: Collection[Dependency] = ()

    def __post_init__(self) -> None:
        hold(self, "edges")


# A dependency parse laid over a document's tokens.
#
# The words of a parse need not be the document's tokens: each word says which tokens it covers.
#
#     tokens   South  Korean  vehicles         words   South  Korean  vehicles
#     head       1      2        -1            covers  (0,0)  (1,1)   (2,2)
#     label    amod   amod      root


@frozen
class Parse:
    """For each word the word that it depends on (-1 for a root), its label, and the first and last token that it covers."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    covers: tuple[tuple[int, int], ...]
    source: str = ""

    @staticmethod
    def of_tokens(heads: Sequence[int], labels: Sequence[str], source: str = "") -> Parse:
        """A parse whose words are the tokens."""
        return Parse(tuple(heads), tuple(labels), tuple((k, k) for k in range(len(heads))), source)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The words that depend on each word, left to right."""
        out: list[list[int]] = [[] for _ in self.heads]
        for word, head in enumerate(self.heads):
            if head >= 0:
                out[head].append(word)
        return tuple(map(tuple, out))

    @cached_property
    def by_token(self) -> dict[int, tuple[int, ...]]:
        """The words that cover each token."""
        out: dict[int, tuple[int, ...]] = {}
        for word, (first, last) in enumerate(self.covers):
            for token in range(first, last + 1):
                out[token] = (*out.get(token, ()), word)
        return out

    def tokens(self, word: int) -> frozenset[int]:
        """The tokens of a word."""
        first, last = self.covers[word]
        return frozenset(range(first, last + 1))

    def subtree(self, word: int) -> frozenset[int]:
        """The tokens of a word and of everything below it."""
        out: set[int] = set()
        waiting = [word]
        while waiting:
            at = waiting.pop()
            out |= self.tokens(at)
            waiting.extend(self.children[at])
        return frozenset(out)

    def word_of(self, token: int) -> int | None:
        """The word that a token is: its topmost one if it is cut into several; None if it is only a part of a word."""
        words = self.by_token.get(token, ())
        if not words or any(self.covers[word] != (token, token) for word in words):
            return None
        return next((word for word in words if self.heads[word] not in words), None)

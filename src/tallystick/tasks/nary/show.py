"""What is wrong with N-ary relations of entities, and what mends it.

Entities belong together if they share a mention, or mentions that overlap, those that share most in all; relations belong together if they
share an entity in a role. A relation's entity is right if it is the one that belongs to the reference's.

In plain files an entity is what its relations have in a role, so that it comes and goes with them; in SciREX's files entities are there by
themselves. A mended document stays what it was: `rebuilt` names entities as the reader does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tallystick.files.pairing import Paired
from tallystick.results.mistakes import REMOVED, Change, Edit, Mistake, put, removed
from tallystick.tasks.mending import Aligned, mend_documents, pair_up
from tallystick.tasks.nary.files import Relations, Span, named_entity
from tallystick.tasks.nary.metrics import in_order

EXACT = 100.0


def find_mistakes(pairs: Paired[Relations]) -> Iterator[Mistake]:
    """The errors of every document."""
    for name, gold, system in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        yield from _Document(name, gold, system).mistakes()


def mended_pairs(pairs: Paired[Relations], mistakes: Any) -> Paired[Relations]:
    """The documents with these mistakes mended; plain ones named anew."""
    mended: Paired[Relations] = mend_documents(pairs, mistakes)
    predicted = (
        rebuilt(after) if is_plain(before) else in_order_of_roles(after)
        for before, after in zip(pairs.predicted, mended.predicted, strict=True)
    )
    return replace(mended, predicted=tuple(predicted))


def in_order_of_roles(document: Relations) -> Relations:
    """A document of SciREX's with the roles of its relations in the order in which they are read."""
    relations = ({role: one[role] for role in in_order(one)} for one in document.relations)
    return replace(document, relations=tuple(relations))


def is_plain(document: Relations) -> bool:
    """Whether its entities are those of its relations, under the names that the reader of plain files gives them."""
    used = {(role, name) for relation in document.relations for role, name in relation.items()}
    return {name for _, name in used} == set(document.clusters) and all(
        name == named_entity(role, document.clusters[name]) for role, name in used
    )


def rebuilt(document: Relations) -> Relations:
    """A plain document from its relations, as if it were read."""
    spans: dict[Span, str] = {}
    clusters: dict[str, tuple[Span, ...]] = {}
    relations = []
    for relation in document.relations:
        renamed = {}
        for role, name in relation.items():
            mentions = tuple(dict.fromkeys(document.clusters.get(name, ())))
            renamed[role] = named_entity(role, mentions)
            clusters[renamed[role]] = mentions
            for span in mentions:
                spans.setdefault(span, role)
        relations.append(renamed)
    return Relations(spans, clusters, tuple(relations), document.types)


class _Document:
    """One document."""

    def __init__(self, name: Any, gold: Relations, system: Relations) -> None:
        self.name, self.gold, self.system = name, gold, system
        self.roles = [_roles(side) for side in (gold, system)]
        ours, theirs = list(gold.clusters), list(system.clusters)
        aligned = pair_up(ours, theirs, self._likeness)
        self.partner = {ours[i]: theirs[j] for i, j in aligned.pairs}
        self.back = {theirs[j]: ours[i] for i, j in aligned.pairs}
        self.lonely: Aligned = aligned
        self.ours, self.theirs = ours, theirs

    def _likeness(self, ours: str, theirs: str) -> float:
        gold, system = self.gold.clusters[ours], self.system.clusters[theirs]
        same = self.roles[0].get(ours) == self.roles[1].get(theirs)
        if same and set(gold) == set(system):
            return EXACT
        shared = len(set(gold) & set(system))
        near = sum(any(_overlaps(one, other) for other in system) for one in gold)
        return shared + 0.5 * near + 0.25 * same if near else 0.0

    def mistakes(self) -> Iterator[Mistake]:
        """Mentions of entities that belong together, entities alone, relations."""
        for ours, theirs in self.partner.items():
            yield from self._mentions(ours, theirs)
        if not is_plain(self.system):
            yield from self._entities()
        yield from self._relations()

    def _mentions(self, ours: str, theirs: str) -> Iterator[Mistake]:
        gold, system = self.gold.clusters[ours], self.system.clusters[theirs]
        role = self.roles[0].get(ours) or self.roles[1].get(theirs) or ""
        missing = [one for one in gold if one not in system]
        extra = [one for one in system if one not in gold]
        aligned = pair_up(missing, extra, lambda one, other: float(_overlaps(one, other)))
        at = ("clusters", theirs)
        for i, j in aligned.pairs:
            edits = (at, _exchanged(extra[j], missing[i], gold)), self._typed(missing[i])
            yield self._mistake("wrong boundary", _place(missing[i]), _place(extra[j]), role, *edits)
        for j in aligned.spurious:
            yield self._mistake("wrong mention", None, _place(extra[j]), role, (at, _exchanged(extra[j], None, gold)))
        for i in aligned.missed:
            edits = (at, _exchanged(None, missing[i], gold)), self._typed(missing[i])
            yield self._mistake("missed mention", _place(missing[i]), None, role, *edits)
        alone = not any(ours in one.values() for one in self.gold.relations)
        if alone and gold and gold[0] in system and self.gold.spans.get(gold[0]) != self.system.spans.get(gold[0]):
            said = self.gold.spans.get(gold[0]), self.system.spans.get(gold[0])
            yield self._mistake("wrong entity type", *said, role, *(self._typed(span) for span in gold))

    def _typed(self, span: Span) -> Edit:
        """A mention with the type that the reference gives it."""
        type_ = self.gold.spans.get(span)
        return ("spans", span), put(type_) if type_ is not None else (lambda known: known)

    def _entities(self) -> Iterator[Mistake]:
        used = {name for relation in self.system.relations for name in relation.values()}
        for name in (self.theirs[j] for j in self.lonely.spurious):
            edits: list[Edit] = [(("clusters", name), removed)]
            if name in used:
                edits.append((("relations",), _without_entity(name)))
            yield self._mistake("spurious entity", None, self._say(1, name), self.roles[1].get(name) or "", *edits)
        for name in (self.ours[i] for i in self.lonely.missed):
            yield self._mistake(
                "missed entity", self._say(0, name), None, self.roles[0].get(name) or "", *self._brought(name)
            )

    def _brought(self, name: str) -> list[Edit]:
        """An entity of the reference that is missed, with the types of its mentions."""
        if name in self.partner:
            return []
        spans = self.gold.clusters.get(name, ())
        return [(("clusters", _new(name)), put(spans)), *(self._typed(span) for span in spans)]

    def _here(self, name: str) -> str:
        """What an entity of the reference is called in the prediction."""
        return self.partner.get(name) or _new(name)

    # Relations

    def _relations(self) -> Iterator[Mistake]:
        ours = list(zip(self.gold.relations, self.gold.types, strict=True))
        theirs = list(zip(self.system.relations, self.system.types, strict=True))
        aligned = pair_up(ours, theirs, self._alike)
        for i, j in aligned.pairs:
            yield from self._compare(ours[i], theirs[j], j)
        for j in aligned.spurious:
            gone: tuple[Edit, ...] = ((("relations", j), removed), (("types", j), removed))
            yield self._mistake("spurious relation", None, self._relation(1, theirs[j]), theirs[j][1], *gone)
        for i in aligned.missed:
            brought = [edit for name in ours[i][0].values() for edit in self._brought(name)]
            relation = {role: self._here(name) for role, name in ours[i][0].items()}
            edits = (*brought, (("relations",), _more(relation)), (("types",), _more(ours[i][1])))
            yield self._mistake("missed relation", self._relation(0, ours[i]), None, ours[i][1], *edits)

    def _alike(self, ours: tuple[Mapping[str, str], str], theirs: tuple[Mapping[str, str], str]) -> float:
        shared = sum(self.back.get(theirs[0].get(role, "")) == name for role, name in ours[0].items())
        same = ours[1] == theirs[1]
        exact = same and shared == len(ours[0]) == len(theirs[0])
        return EXACT if exact else shared + 0.25 * same if shared else 0.0

    def _compare(
        self, ours: tuple[Mapping[str, str], str], theirs: tuple[Mapping[str, str], str], j: int
    ) -> Iterator[Mistake]:
        if ours[1] != theirs[1]:
            yield self._mistake("wrong type", ours[1], theirs[1], ours[1], (("types", j), put(ours[1])))
        for role, name in ours[0].items():
            found = theirs[0].get(role)
            if found is None or self.back.get(found) != name:
                kind = "missing role" if found is None else "wrong entity"
                said = self._say(0, name), None if found is None else self._say(1, found)
                edits = (*self._brought(name), (("relations", j, role), put(self._here(name))))
                yield self._mistake(kind, *said, role, *edits)
        for role, found in theirs[0].items():
            if role not in ours[0]:
                yield self._mistake("extra role", None, self._say(1, found), role, (("relations", j, role), removed))

    # In words

    def _say(self, side: int, name: str) -> str:
        spans = (self.gold, self.system)[side].clusters.get(name, ())
        listed = ", ".join(map(_place, spans)) or "nowhere"
        return listed if ":" in name else f"{name} ({listed})"

    def _relation(self, side: int, relation: tuple[Mapping[str, str], str]) -> str:
        return ", ".join(f"{role} {self._say(side, name)}" for role, name in relation[0].items())

    def _mistake(self, kind: str, gold: str | None, system: str | None, role: str, *edits: Edit) -> Mistake:
        return Mistake(kind, self.name, gold, system, role, label=role, edits=edits)


def _roles(document: Relations) -> dict[str, str]:
    """The role of each entity, as the metrics see it: that of its first relation, or the type of its first mention."""
    out: dict[str, str] = {}
    for relation in document.relations:
        for role, name in relation.items():
            out.setdefault(name, role)
    for name, spans in document.clusters.items():
        if spans:
            out.setdefault(name, document.spans.get(spans[0], ""))
    return out


def _new(name: str) -> str:
    return f"reference {name}"


def _overlaps(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _place(span: Span) -> str:
    return f"[{span[0]}]" if span[1] == span[0] + 1 else f"[{span[0]}–{span[1] - 1}]"


def _exchanged(old: Span | None, new: Span | None, order: tuple[Span, ...]) -> Change:
    """Mentions without one and with another, those of the reference in its order, since the first one tells the type."""

    def change(known: Any) -> Any:
        if known is REMOVED:
            return known
        kept = [one for one in known if one != old] + ([new] if new is not None and new not in known else [])
        return tuple(sorted(kept, key=lambda one: order.index(one) if one in order else len(order)))

    return change


def _more(item: Any) -> Change:
    return lambda known: (*known, item)


def _without_entity(name: str) -> Change:
    """Relations in which no role has the entity."""
    return lambda known: tuple({role: one for role, one in relation.items() if one != name} for relation in known)

"""From a type to a metric: what a value looks like says how it is compared.

    str, int, bool, float, Enum, Literal, date, ...     exact
    record (dataclass, attrs, NamedTuple, TypedDict,     the product of its fields, "all or nothing";
      pydantic, msgspec, fixed tuple)                      with credit="each" the sum of its fields
    set, frozenset, Collection, list                     a bag, matched 1:1
    Sequence, tuple[T, ...]                              matched in order
    dict[K, V]                                           a bag of (key, value), key exact
    Optional, Union                                      case by case; None equals None
    Tree[T], Graph[T]                                    matched in their order
    Var                                                  a latent variable, mapped 1:1 over its scope

A collection inside a product is F-normalised, inside a sum it is Σ. Every choice can be overridden at its place:
`Annotated[str, text("levenshtein")]` in the type, or by path: `derive(Invoice, {"lines[*].price": number(0.01)})`.
Whatever cannot be derived is an error that names the path and the type.

The scope of a `Var` is the nearest enclosing type that is a `Scope` (an AMR is one), else the document. The collection
of the scope that has variables becomes `latent`; where several have, their sum becomes `scoped`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin

from tallystick.algebra.cases import Cases, Let, Ref
from tallystick.algebra.choose import Choice, Collecting, choice_of, ordered
from tallystick.algebra.exact import exact
from tallystick.algebra.latent import var
from tallystick.algebra.missing import optional
from tallystick.algebra.node import Named, Node, Similarity
from tallystick.algebra.normalise import F
from tallystick.algebra.ordered import OrderedGraph, OrderedTree
from tallystick.algebra.records import Each, Record
from tallystick.algebra.sets import Matching
from tallystick.algebra.shape import Shape, name_of, shape_of, union_of
from tallystick.errors import DerivationError, MetricError, did_you_mean
from tallystick.structures.graphs import Graph, Tree

_STRUCTURES: dict[Any, type[Matching]] = {Tree: OrderedTree, Graph: OrderedGraph}
MOST_LEVELS = 100
"""Levels of a value for which a metric can be derived; a type that contains itself has as many as its values have."""


def derive(type: Any, choices: Mapping[str, Any] | None = None, *, credit: Literal["all", "each"] = "all") -> Node:
    """The metric that follows from a type: F1 over its structure.

    `credit="all"`: a record is right or wrong as a whole (the product of its fields). `credit="each"`: every field
    counts by itself. `choices` says by path what is to be different: a similarity, `ordered`, `distinct`,
    `matched("N:1")`, `by_key("sku")`, `choose(...)`, `ignore`, or the same as plain data: `{"number": {"relative": 0.01}}`.
    """
    return explain_derivation(type, choices, credit=credit)[0]


@dataclass(frozen=True)
class Decision:
    """What was decided for one path of a type, and why."""

    path: str
    type: str
    how: str
    why: str


def explain_derivation(
    type: Any, choices: Mapping[str, Any] | None = None, *, credit: str = "all", source: str = "choices"
) -> tuple[Node, list[Decision]]:
    """The metric that follows from a type, and every decision that led to it, top down."""
    if choices is not None and not isinstance(choices, Mapping):
        raise DerivationError(f'choices are by path, such as {{"lines[*].price": number(0.01)}}; found {choices!r:.60}')
    if credit not in ("all", "each"):
        raise DerivationError(f'credit must be "all" or "each", found {credit!r}')
    walker = _Walker(dict(choices or {}), credit, source)
    try:
        inner = walker.bound(walker.top(type), type, "")
    except RecursionError:
        raise DerivationError(f"{name_of(type)} is nested too deeply") from None
    unused = [path for path in walker.choices if path not in walker.used]
    if unused:
        hint = did_you_mean(unused[0], walker.seen)
        raise DerivationError(
            f"no value at the path {unused[0]!r} of {name_of(type)}.{hint} Paths: {', '.join(walker.seen)}"
        )
    return F(inner), [decision for decision in walker.decisions if decision is not None]


class _Walker:
    def __init__(self, choices: dict[str, Any], credit: str, source: str) -> None:
        self.choices, self.credit, self.source = choices, credit, source
        self.used: set[str] = set()
        self.seen: list[str] = []
        self.open: list[tuple[Any, str]] = []
        self.recursive: set[str] = set()
        self.decisions: list[Decision | None] = []

    # The top: a record with collections is never multiplied; each collection has figures of its own.

    def top(self, type_: Any) -> Similarity:
        plain, chosen = self.chosen(type_, "")
        self.credit = chosen.credit or self.credit
        shape = shape_of(plain)
        if shape.kind != "record" or not any(_is_collection(t) for t in shape.parts.values()):
            return self.part(type_, "", summed=True)
        self.decisions.append(Decision("", name_of(shape.type), "each field counts", chosen.why or "default"))
        parts = ((name, self.value(t, name, summed=True)) for name, t in shape.parts.items())
        kept = Named((name, part) for name, part in parts if part is not None)
        return Each(kept) if kept else self._nothing("", type_)

    def chosen(self, type_: Any, path: str) -> tuple[Any, Choice]:
        """The type without its notes, and what was chosen for it: by path, then in the type."""
        found, shape = Choice(), shape_of(type_)
        for note in shape.notes:
            choice = choice_of(note, path or "the top", "annotation")
            if choice is None:
                continue
            if found.collecting and choice.collecting:
                choice = dataclasses.replace(choice, collecting=found.collecting.joined(choice.collecting))
                found = dataclasses.replace(found, collecting=None)
            found = found.over(choice)
        if found.similarity is not None and found.collecting is not None:
            raise DerivationError(
                f"at {path or 'the top'}: {found.similarity} says how the whole is compared, so {found.collecting} has no "
                f"effect; note the similarity at the items: list[Annotated[..., {found.similarity}]]"
            )
        if path in self.choices:
            self.used.add(path)
            where = f"{self.source}: {path}" if path else self.source
            choice = choice_of(self.choices[path], where, self.source)
            if choice is None:
                raise DerivationError(
                    f"at {path}: expected a similarity, ordered, distinct, matched(...) or ignore, "
                    f"found {self.choices[path]!r}"
                )
            found = choice.over(found)
        return shape.type, found

    def value(self, type_: Any, path: str, *, summed: bool) -> Similarity | None:
        """The similarity of a value; `summed` if it stands in a sum, where a collection is Σ. None to ignore it."""
        if path:
            self.seen.append(path)
        if path.count(".") + path.count("[") >= MOST_LEVELS:
            raise DerivationError(f"at {path[:60]}...: nested more than {MOST_LEVELS} levels deep")
        may_miss = shape_of(type_).may_miss
        type_, chosen = self.chosen(type_, path)
        place = len(self.decisions)
        self.decisions.append(None)
        if chosen.ignored:
            self.decisions[place] = Decision(path, name_of(type_), "ignored", chosen.why)
            return None
        before, self.credit = self.credit, chosen.credit or self.credit
        if chosen.similarity is not None:
            node = _fitted(chosen.similarity, type_, summed)
        else:
            if chosen.any_of:
                type_ = one_alternative(type_)
            node = self.derived(shape_of(type_), path, chosen.collecting, summed)
        structured = chosen.similarity is None and not shape_of(type_).is_leaf
        node = chosen.around(node, summed=summed, structured=structured, where=f"at {path or 'the top'}")
        node = optional(node) if may_miss else node
        self.decisions[place] = Decision(path, name_of(type_), ", ".join(node.in_words()), chosen.why or "default")
        self.credit = before
        return node

    def derived(self, shape: Shape, path: str, how: Collecting | None, summed: bool) -> Similarity:
        if how is not None and shape.kind not in ("union", "items", "map"):
            raise self.cannot(shape.type, path, f"{how} is for collections, and this is none")
        if shape.kind in ("items", "map") and not shape.parts:
            name = name_of(shape.origin)
            hints = {"tuple": "tuple[int, int] or tuple[str, ...]", "dict": "dict[str, int]"}
            raise self.cannot(shape.type, path, f"say what is in it: {hints.get(name, f'{name}[str]')}")
        each = self.credit == "each"
        if shape.kind == "union":
            return self.union(shape, path, how, summed)
        if shape.kind == "items":
            item = self.part(shape.item, f"{path}[*]", summed=each)
            return self.collection(how or (ordered if shape.in_order else Collecting()), item, summed)
        if shape.kind == "map":
            value = self.part(shape.parts["value"], f"{path}[*].value", summed=each)
            return self.collection(how or Collecting(), Record(Named((("key", exact), ("value", value)))), summed)
        if shape.kind == "structure":
            found = _STRUCTURES[shape.origin](self.part(shape.item, f"{path}[*]", summed=each))
            return found if summed else F(found)
        if shape.kind == "record":
            return self.record(shape.type, shape.parts, path)
        if shape.kind == "unknown":
            raise self.cannot(shape.type, path, _advice(shape.type))
        return var if shape.kind == "variable" else exact

    def part(self, type_: Any, path: str, *, summed: bool) -> Similarity:
        """The similarity of items, which cannot be ignored."""
        return self.value(type_, path, summed=summed) or self._nothing(path, type_)

    def collection(self, how: Collecting, inner: Similarity, summed: bool) -> Similarity:
        found = how.over(inner)
        return found if summed else F(found)

    def record(self, type_: Any, fields: Mapping[str, Any], path: str) -> Similarity:
        for opened, name in self.open:
            if opened == type_:
                self.recursive.add(name)
                return Ref(name)
        label = name_of(type_).replace("[", "_").replace("]", "").replace(", ", "_")
        self.open.append((type_, label))
        each = self.credit == "each"
        parts = ((name, self.value(t, f"{path}.{name}" if path else name, summed=each)) for name, t in fields.items())
        kept = Named((name, part) for name, part in parts if part is not None)
        self.open.pop()
        if not kept:
            return self._nothing(path, type_)
        node: Similarity = Each(kept) if each else Record(kept)
        if getattr(get_origin(type_) or type_, "__variable_scope__", False):
            node = self.bound(node, type_, path)
        if label in self.recursive:
            self.recursive.discard(label)
            return Let(label, node)
        return node

    def union(self, shape: Shape, path: str, how: Collecting | None, summed: bool) -> Similarity:
        options = list(shape.parts.values())
        if len(options) == 1:
            inner = self.case(options[0], path, how, summed)
        else:
            cases = ((a, self.case(a, path, how, summed)) for a in options)
            parts = list(dict.fromkeys((name, part) for a, part in cases for name in _case_names(a)))
            if all(part is exact for _, part in parts):
                inner = exact
            elif len({name for name, _ in parts}) < len(parts):
                raise self.cannot(options[0], path, "two cases have one name and could not be told apart")
            else:
                inner = Cases(Named(parts))
        return optional(inner) if shape.optional else inner

    def case(self, type_: Any, path: str, how: Collecting | None, summed: bool) -> Similarity:
        """One case of a union, which may have notes of its own."""
        type_, chosen = self.chosen(type_, "<case>")
        if chosen.ignored:
            raise self.cannot(type_, path, "a case cannot be ignored; note the whole: Annotated[str | None, ignore]")
        if not _is_collection(type_):
            how = None
        if chosen.similarity is not None:
            return chosen.around(_fitted(chosen.similarity, type_, summed), summed=summed, structured=False, where=path)
        shape = shape_of(type_)
        found = self.derived(shape, path, chosen.collecting or how, summed)
        return chosen.around(found, summed=summed, structured=not shape.is_leaf, where=path)

    def bound(self, node: Similarity, type_: Any, path: str) -> Similarity:
        """The similarity of a scope, with the variables in it mapped."""
        if not node.has_variables:
            return node
        try:
            return node.bound()
        except MetricError as error:
            advice = (
                f"its variables cannot be mapped together ({error}). The scope of a Var is the nearest enclosing type "
                f"that is a tallystick.structures.Scope, else the document: mark the type that they belong to"
            )
            raise self.cannot(type_, path, advice) from None

    def cannot(self, type_: Any, path: str, advice: str) -> DerivationError:
        return DerivationError(f"at {path or 'the top'}: no metric can be derived from {name_of(type_)}; {advice}")

    def _nothing(self, path: str, type_: Any) -> Similarity:
        raise DerivationError(f"at {path or 'the top'}: nothing of {name_of(type_)} is left to compare")


def one_alternative(type_: Any) -> Any:
    """The type of one alternative, where the gold may hold several: T of list[T], and of T | list[T]."""
    shape = shape_of(type_)
    if shape.kind == "union":
        options = list(shape.parts.values())
        kept = [a for a in options if not _is_collection(a)] or [
            next(iter(parts.values())) for a in options if _is_collection(a) and (parts := shape_of(a).parts)
        ]
        return union_of([*kept, *([type(None)] if shape.optional else [])]) if kept or shape.optional else type_
    return next(iter(shape.parts.values())) if _is_collection(type_) and shape.parts else type_


def is_leaf_type(type_: Any) -> bool:
    """Whether values of a type have neither fields nor items."""
    return shape_of(type_).is_leaf


def _fitted(chosen: Similarity, type_: Any, summed: bool) -> Similarity:
    """A similarity chosen by the user, for a value that may be None, and normalised where it has to be."""
    if not summed and chosen.structure == "items":
        chosen = F(chosen)
    return optional(chosen) if shape_of(type_).optional else chosen


def _case_names(type_: Any) -> list[str]:
    """The names of the classes whose values belong to a case of a union."""
    shape = shape_of(type_)
    if shape.origin is Literal:
        return list(dict.fromkeys(type(value).__name__ for value in get_args(shape.type)))
    return [name_of(shape.origin)]


def _is_collection(type_: Any) -> bool:
    """Whether values have items, as the metric sees them: a note may say that it compares them as a whole, or not."""
    shape = shape_of(type_)
    chosen = [note.similarity if isinstance(note, Choice) else note for note in shape.notes]
    similarities = [note for note in chosen if isinstance(note, Similarity)]
    if similarities:
        return any(note.letter != "S" for note in similarities)
    if shape.kind == "union":
        return any(_is_collection(case) for case in shape.parts.values())
    return shape.is_collection


def _advice(type_: Any) -> str:
    if type_ in (Any, object):
        return "say what the value is, or choose a similarity for it: Annotated[..., exact]"
    if isinstance(type_, TypeVar):
        return f"fill in {type_}, as in SlotFiller[Mention]"
    if isinstance(type_, str):
        return "an annotation in quotes could not be resolved"
    if isinstance(type_, type):
        return "make it a dataclass (or attrs, NamedTuple, TypedDict, pydantic, msgspec), or Annotated[..., exact]"
    return "choose a similarity for it: Annotated[..., exact]"

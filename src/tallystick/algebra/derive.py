"""From a type to a metric: what a value looks like says how it is compared.

    str, int, bool, float, Enum, Literal, date, ...     exact, or, with equality="equal", equal to whoever reads it
    record (dataclass, attrs, NamedTuple, TypedDict,     the product of its fields, "all or nothing";
      pydantic, msgspec, fixed tuple)                      with credit="each" the sum of its fields
    set, frozenset, Collection, list                     a bag, matched 1:1
    Sequence, tuple[T, ...]                              matched in order
    dict[K, V]                                           a bag of (key, value), the product of both
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

import collections.abc as abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import operator
import pathlib
import sys
import types
import typing
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typing_extensions

from tallystick.algebra.cases import Cases, Let, Ref
from tallystick.algebra.choose import NO_CHOICE, Choice, Collecting, Rules, choice_of, ordered
from tallystick.algebra.exact import equal, exact
from tallystick.algebra.latent import var
from tallystick.algebra.missing import optional
from tallystick.algebra.node import Named, Node, Similarity
from tallystick.algebra.normalise import F
from tallystick.algebra.ordered import OrderedGraph, OrderedTree
from tallystick.algebra.records import Each, Record
from tallystick.algebra.sets import Match, Matching
from tallystick.algebra.surplus import counted_items, known_keys
from tallystick.engine.values import fields_of
from tallystick.errors import DerivationError, MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.structures.graphs import Graph, Tree, Var

_STRUCTURES: dict[Any, type[Matching]] = {Tree: OrderedTree, Graph: OrderedGraph}
MOST_LEVELS = 100
"""Levels of a value for which a metric can be derived; a type that contains itself has as many as its values have."""


def derive(
    type: Any,
    choices: Mapping[str, Any] | None = None,
    *,
    credit: Literal["all", "each"] = "all",
    equality: Literal["exact", "equal"] = "exact",
) -> Node:
    """The metric that follows from a type: F1 over its structure.

    `credit="all"`: a record is right or wrong as a whole (the product of its fields). `credit="each"`: every field
    counts by itself. `choices` says by path what is to be different: a similarity, `ordered`, `distinct`,
    `matched("N:1")`, `by_key("sku")`, `choose(...)`, `ignore`, or the same as plain data: `{"number": {"relative": 0.01}}`. A path may be a
    rule for many: `"**.price"`, `"lines[*].*"`; `"default"` says it by type. `equality` is how values are compared otherwise: `exact`, or
    `equal`, which forgives Unicode forms, white space and the noise of floats.

    >>> @dataclass
    ... class Person:
    ...     name: str
    ...     languages: set[str]
    >>> ts.derive(Person, {"name": ts.text("levenshtein")}, credit="each")
    f1(each(name=text("levenshtein"), languages=match(exact, 1:1)))
    """
    return explain_derivation(type, choices, credit=credit, equality=equality)[0]


@frozen
class Decision:
    """What was decided for one path of a type, and why."""

    path: str
    type: str
    how: str
    why: str


def explain_derivation(
    type: Any,
    choices: Mapping[str, Any] | None = None,
    *,
    credit: str = "all",
    equality: str = "exact",
    nothing: tuple[str, ...] | None = None,
    source: str = "choices",
) -> tuple[Node, list[Decision]]:
    """The metric that follows from a type, and every decision that led to it, top down. `nothing` is what counts as nothing where no
    choice says it."""
    if choices is not None and not isinstance(choices, Mapping):
        raise DerivationError(f'choices are by path, such as {{"lines[*].price": number(0.01)}}; found {choices!r:.60}')
    if credit not in ("all", "each"):
        raise DerivationError(f'credit must be "all" or "each", found {credit!r}')
    if equality not in EQUALITIES:
        raise DerivationError(f'equality must be "exact" or "equal", found {equality!r}')
    top = shape_of(type)
    rules = Rules(choices or {}, source, top.parts if top.kind == "record" else (), nothing)
    walker = _Walker(rules, credit, EQUALITIES[equality])
    try:
        inner = walker.bound(walker.top(type), type, "")
    except RecursionError:
        raise DerivationError(f"{name_of(type)} is nested too deeply") from None
    walker.rules.check_used(walker.seen, name_of(type))
    decisions = [decision for decision in walker.decisions if decision is not None]
    return F(inner, known=known_keys(type, ignored_paths(decisions), set(counted_items(inner)))), decisions


def ignored_paths(decisions: Iterable[Decision]) -> set[str]:
    """Where nothing is compared."""
    return {decision.path for decision in decisions if decision.how == "ignored"}


EQUALITIES: dict[str, Similarity] = {"exact": exact, "equal": equal}


class _Walker:
    def __init__(self, rules: Rules, credit: str, leaf: Similarity) -> None:
        self.rules, self.credit, self.leaf = rules, credit, leaf
        self.seen: list[str] = []
        self.open: list[tuple[Any, str]] = []
        self.recursive: set[str] = set()
        self.decisions: list[Decision | None] = []

    # The top: a record with collections is never multiplied; each collection has figures of its own.

    def top(self, type_: Any) -> Similarity:
        plain, chosen = self.chosen(type_, "")
        self.credit = chosen.credit or self.credit
        shape = shape_of(plain)
        if (
            chosen.similarity is not None
            or shape.kind != "record"
            or not any(map(_is_collection, shape.parts.values()))
        ):
            return self.part(type_, "", summed=True)
        idle = replace(chosen, credit=None)
        if not idle.says_nothing:
            said = ", ".join(
                f.name for f in dataclasses.fields(idle) if f.name != "why" and getattr(idle, f.name) is not None
            )
            raise self.cannot(
                shape.type, "", f"at the top, where each field counts by itself, {said} would have no effect"
            )
        self.decisions.append(Decision("", name_of(shape.type), "each field counts", chosen.why or "default"))
        parts = ((name, self.value(t, name, summed=True)) for name, t in shape.parts.items())
        kept = Named((name, part) for name, part in parts if part is not None)
        return Each(kept) if kept else self._nothing("", type_)

    def chosen(self, type_: Any, path: str, by_kind: bool = True) -> tuple[Any, Choice]:
        """The type without its notes, and what was chosen for it: by path, then in the type, then for its kind."""
        found, shape = NO_CHOICE, shape_of(type_)
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
        leaf = shape.kind == "variable" or shape.is_leaf
        found = self.rules.at(path, leaf).over(found).over(self.rules.everywhere(path))
        return shape.type, found.over(self.rules.of_kind(_kind_of(type_)) if by_kind else NO_CHOICE)

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
            node = _fitted(chosen.similarity, type_)
        else:
            if chosen.any_of:
                type_ = one_alternative(type_)
            node = self.derived(shape_of(type_), path, chosen.collecting, summed)
        structured = chosen.similarity is None and not shape_of(type_).is_leaf
        if chosen is not NO_CHOICE:
            node = chosen.around(node, summed=summed, structured=structured, where=f"at {path or 'the top'}")
        node = optional(node) if may_miss else node
        self.decisions[place] = Decision(path, name_of(type_), ", ".join(node.in_words()), chosen.why or "default")
        self.credit = before
        return node

    def derived(self, shape: Shape, path: str, how: Collecting | None, summed: bool) -> Similarity:
        if how is not None and shape.kind not in ("union", "items", "map"):
            raise self.cannot(shape.type, path, f"{how} applies only to collections, and this is not one")
        if shape.kind in ("items", "map") and not shape.parts:
            name = name_of(shape.origin)
            hints = {"tuple": "tuple[int, int] or tuple[str, ...]", "dict": "dict[str, int]"}
            raise self.cannot(shape.type, path, f"say what is in it: {hints.get(name, f'{name}[str]')}")
        each = self.credit == "each"
        if shape.kind == "union":
            return self.union(shape, path, how, summed)
        if shape.kind == "items":
            self.check_key(how, shape.item, path)
            item = self.part(shape.item, f"{path}[*]", summed=each)
            return self.collection(how or (ordered if shape.in_order else None), item, summed)
        if shape.kind == "map":
            entry = {"key": False, "value": each}
            parts = [(name, self.value(shape.parts[name], f"{path}[*].{name}", summed=entry[name])) for name in entry]
            kept = Named((name, part) for name, part in parts if part is not None)
            return self.collection(how, Record(kept) if kept else self._nothing(path, shape.type), summed)
        if shape.kind == "structure":
            found = _STRUCTURES[shape.origin](self.part(shape.item, f"{path}[*]", summed=each))
            return found if summed else F(found)
        if shape.kind == "record":
            return self.record(shape.type, shape.parts, path)
        if shape.kind == "unknown":
            raise self.cannot(shape.type, path, _advice(shape.type))
        return var if shape.kind == "variable" else self.leaf

    def check_key(self, how: Collecting | None, item: Any, path: str) -> None:
        """That items have the fields that a list is keyed by."""
        shape = shape_of(item)
        cases = [shape_of(one) for one in shape.parts.values()] if shape.kind == "union" else [shape]
        known = [name for one in cases if one.kind == "record" for name in one.parts]
        for name in how.key if how is not None else ():
            if name not in known and all(one.kind in ("record", "leaf") for one in cases):
                found = f"the items have {', '.join(known)}" if known else "the items have no fields"
                raise self.cannot(item, f"{path}[*]", f"key: no field {name!r}; {found}.{did_you_mean(name, known)}")

    def part(self, type_: Any, path: str, *, summed: bool) -> Similarity:
        """The similarity of items, which cannot be ignored."""
        return self.value(type_, path, summed=summed) or self._nothing(path, type_)

    def collection(self, how: Collecting | None, inner: Similarity, summed: bool) -> Similarity:
        found = Match(inner) if how is None else how.over(inner)
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
            inner = self.case(options[0], path, "", how, summed)
        else:
            named = [(name, a) for a in options for name in _case_names(a)]
            numbers = "float" if any(name == "float" for name, _ in named) else "int"  # one case, which is chosen once
            cases = ((name, self.case(a, path, numbers if name == "int" else name, how, summed)) for name, a in named)
            parts = list(dict.fromkeys(cases))
            if ("float", dict(parts).get("int")) in parts:  # numbers are one case
                parts = [one for one in parts if one[0] != "int"]
            if all(part is self.leaf for _, part in parts):
                inner = self.leaf
            elif len({name for name, _ in parts}) < len(parts):
                raise self.cannot(options[0], path, "two cases have the same name")
            else:
                inner = Cases(Named(parts))
        return optional(inner) if shape.optional else inner

    def case(self, type_: Any, path: str, name: str, how: Collecting | None, summed: bool) -> Similarity:
        """One case of a union, which may have notes of its own, and is chosen as `path<name>`; without a name it is the only one."""
        where = f"{path}<{name}>" if name else "<case>"
        if name and where not in self.seen:
            self.seen.append(where)
        type_, chosen = self.chosen(type_, where, by_kind=bool(name))
        if chosen.ignored:
            raise self.cannot(type_, path, "a case cannot be ignored; note the whole: Annotated[str | None, ignore]")
        if not _is_collection(type_):
            how = None
        if chosen.similarity is not None:
            return chosen.around(_fitted(chosen.similarity, type_), summed=summed, structured=False, where=path)
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


def _fitted(chosen: Similarity, type_: Any) -> Similarity:
    """A similarity chosen by the user, for a value that may be None. A Σ that is asked for stays Σ (eq. 16, 17, 32)."""
    return optional(chosen) if shape_of(type_).optional else chosen


_KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "boolean"), ((int, float, decimal.Decimal, fractions.Fraction), "number"), (str, "string"),
    (datetime.date, "date"), ((datetime.time, datetime.timedelta), "time"),
)  # fmt: skip


def _kind_of(type_: Any) -> str | None:
    """The kind of value that a rule by kind is about; None if there are several, or another."""
    shape = shape_of(type_)
    if shape.kind == "union":
        kinds = {_kind_of(case) for case in shape.parts.values()}
        return kinds.pop() if len(kinds) == 1 else None
    if shape.kind == "items":
        return "list"
    if shape.origin is Literal:
        kinds = {_kind_of(type(value)) for value in get_args(shape.type) if value is not None}
        return kinds.pop() if len(kinds) == 1 else None
    if shape.kind != "leaf":
        return None
    return next((name for classes, name in _KINDS if issubclass(shape.origin, classes)), None)


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
    if isinstance(type_, dict):
        return "a dict is no type; a JSON Schema goes to ts.records(..., schema=...)"
    if not _has_hash(type_):
        return f"a {type(type_).__name__} is no type; write list[int] for a list of numbers"
    if isinstance(type_, type):
        return "make it a dataclass (or attrs, NamedTuple, TypedDict, pydantic, msgspec), or Annotated[..., exact]"
    return "choose a similarity for it: Annotated[..., exact]"


# What a type looks like, one level at a time: this is the only place that takes types of `typing` apart.
#
#     shape_of(type) → Shape(kind, type, parts, ...)
#
#     kind        parts                                     also
#     leaf        none
#     record      its fields                                dataclass, attrs, NamedTuple, TypedDict, pydantic, msgspec, fixed tuple
#     items       {"[*]": the items' type}                  `in_order`: a Sequence or tuple[T, ...]; `repeats`: not a set
#     map         {"key": ..., "value": ...}
#     union       its cases but None, by number             `optional`: None is one of them
#     structure   {"[*]": the labels' type}                 Tree[T] or Graph[T]
#     variable    none                                      Var
#     unknown     none                                      anything else, Any among them
#
# The parts are types again, so whoever walks on asks about them in turn, and a type that contains itself needs no care here. `type` is
# what stands behind NewType, aliases, Required and `Annotated`, whose notes are in `notes`; `may_miss` says that a key need not be there
# (NotRequired). Where a collection or a mapping does not say what is in it, it has no parts. Type parameters are filled in.

LEAVES = (
    str, bytes, int, float, complex, bool, type(None), range, datetime.date, datetime.time, datetime.timedelta,
    decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath, enum.Enum,
)  # fmt: skip
"""Values without fields and items."""
BAGS = {list, set, frozenset, abc.Collection, abc.Set, abc.MutableSet, abc.Iterable}
SETS = {set, frozenset, abc.Set, abc.MutableSet}
SEQUENCES = {abc.Sequence, abc.MutableSequence}
MAPPINGS = {dict, abc.Mapping, abc.MutableMapping}
UNIONS = (Union, types.UnionType)
_NO_DEFAULT = (None, getattr(typing_extensions, "NoDefault", None))  # None before typing_extensions 4.12


@frozen
class Shape:
    """One level of a type: what kind of value it has, and the types of what lies directly below."""

    kind: Literal["leaf", "record", "items", "map", "union", "structure", "variable", "unknown"]
    type: Any
    below: Mapping[str, Any] | None = None
    """The parts; None of a record, whose annotations are read only when somebody asks."""
    in_order: bool = False
    repeats: bool = True
    optional: bool = False
    notes: tuple[Any, ...] = ()
    may_miss: bool = False

    @property
    def parts(self) -> Mapping[str, Any]:
        """The types of what lies directly below, by name."""
        return (record_fields(self.type) or {}) if self.below is None else self.below

    @property
    def origin(self) -> Any:
        """The type without its parameters."""
        return get_origin(self.type) or self.type

    @property
    def item(self) -> Any:
        """The type of the items, or of a structure's labels."""
        return self.parts["[*]"]

    @property
    def is_positional(self) -> bool:
        """Whether a record's fields are known by their places: a tuple is a list in JSON, with or without names."""
        return self.kind == "record" and (self.origin is tuple or hasattr(self.origin, "_fields"))

    @property
    def keys(self) -> Mapping[str, Any] | None:
        """The fields that are keys of an object in JSON; None if there are none."""
        named = self.kind in ("record", "unknown") and not self.is_positional
        return record_fields(self.type) if named else None

    @property
    def is_leaf(self) -> bool:
        """Whether values have neither fields nor items."""
        if self.kind == "union":
            return all(shape_of(case).is_leaf for case in self.parts.values())
        return self.kind in ("leaf", "unknown")

    @property
    def is_collection(self) -> bool:
        """Whether values, or those of one of the cases, have items."""
        if self.kind == "union":
            return any(shape_of(case).is_collection for case in self.parts.values())
        return self.kind in ("items", "map", "structure")


def shape_of(type_: Any) -> Shape:
    """What a type looks like, one level of it."""
    may_miss = get_origin(type_) is typing_extensions.NotRequired
    type_, notes = plain_type(type_), ()
    while get_origin(type_) is Annotated:
        type_, notes = plain_type(type_.__origin__), (*type_.__metadata__, *notes)
    origin = get_origin(type_) or type_
    found = _look_at(type_, origin, get_args(type_)) if _has_hash(origin) else Shape("unknown", type_, {})
    return replace(found, notes=notes, may_miss=may_miss) if notes or may_miss else found


def _has_hash(value: Any) -> bool:
    """Every type has one; a dict or a list in the place of a type has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _look_at(type_: Any, origin: Any, arguments: tuple[Any, ...]) -> Shape:
    if origin in UNIONS:
        cases = [case for case in arguments if case is not type(None)]
        return Shape("union", type_, _numbered(cases), optional=len(cases) < len(arguments))
    if origin is tuple and (not arguments or arguments[1:] == (Ellipsis,)):
        return Shape("items", type_, {"[*]": arguments[0]} if arguments else {}, in_order=True)
    if origin in BAGS or origin in SEQUENCES:
        parts = {"[*]": arguments[0]} if len(arguments) == 1 else {}
        return Shape("items", type_, parts, in_order=origin in SEQUENCES, repeats=origin not in SETS)
    if origin in MAPPINGS:
        return Shape("map", type_, dict(zip(("key", "value"), arguments, strict=True)) if len(arguments) == 2 else {})
    return _look_at_value(type_, origin, arguments)


def _look_at_value(type_: Any, origin: Any, arguments: tuple[Any, ...]) -> Shape:
    """What is none of Python's collections."""
    if origin in (Tree, Graph):
        return Shape("structure", type_, {"[*]": arguments[0] if arguments else Any})
    if isinstance(origin, type) and issubclass(origin, Var):
        return Shape("variable", type_, {})
    if origin is Literal or (isinstance(origin, type) and issubclass(origin, LEAVES)):
        return Shape("leaf", type_, {})
    named = isinstance(origin, type) and (typing_extensions.is_typeddict(origin) or fields_of(origin) is not None)
    return Shape("record", type_) if origin is tuple or named else Shape("unknown", type_, {})


def _numbered(types: list[Any]) -> dict[str, Any]:
    return {str(k): one for k, one in enumerate(types)}


def plain_type(type_: Any) -> Any:
    """The type behind NewType, type aliases, Required, ReadOnly, and type variables with a default or a bound."""
    while True:
        if isinstance(type_, (typing.NewType, typing_extensions.NewType)):
            type_ = type_.__supertype__
        elif type(type_).__name__ == "TypeAliasType":
            type_ = type_.__value__
        elif get_origin(type_) in (
            typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly, typing.Final,
        ):  # fmt: skip
            type_ = get_args(type_)[0]
        elif isinstance(type_, TypeVar) and getattr(type_, "__default__", None) not in _NO_DEFAULT:
            type_ = type_.__default__  # type: ignore[attr-defined]
        elif isinstance(type_, TypeVar) and type_.__bound__ is not None:
            type_ = type_.__bound__
        else:
            return type_


def union_of(types: Any) -> Any:
    """The union of several types."""
    union: Any = Union
    return union[tuple(types)]


def record_fields(type_: Any) -> dict[str, Any] | None:
    """The fields of a record type with their types, type parameters filled in; None if it is no record."""
    try:
        known = _record_fields(type_)
    except TypeError:  # a type that has no hash cannot be remembered
        known = _record_fields.__wrapped__(type_)
    return None if known is None else dict(known)


@lru_cache(maxsize=4096)
def _record_fields(type_: Any) -> dict[str, Any] | None:
    origin = get_origin(type_) or type_
    if origin is tuple and get_args(type_) and get_args(type_)[-1] is not Ellipsis:
        return {str(k): one for k, one in enumerate(get_args(type_))}
    if not isinstance(origin, type):
        return None
    names = _field_names(origin)
    if names is None:
        return None
    try:
        hints = typing_extensions.get_type_hints(origin, include_extras=True)
        if sys.version_info < (3, 11):
            known = getattr(sys.modules.get(origin.__module__), "__dict__", {})
            hints = {name: _without_quotes(one, known) for name, one in hints.items()}
    except NameError as error:
        raise DerivationError(
            f"the annotations of {origin.__qualname__} cannot be read ({error}); "
            f"define the types it names at the top of a module"
        ) from None
    untyped = [name for name in names if name not in hints]
    if untyped:
        raise DerivationError(
            f"{origin.__qualname__}.{untyped[0]} has no type; annotate it, so that nothing is guessed"
        )
    filled = _parameters(type_, origin)
    return {name: _filled(hints[name], filled) for name in names}


def _without_quotes(hint: Any, names: Mapping[str, Any]) -> Any:
    """`list["Tree"]` with the type that it names: Python 3.10 leaves quotes as they are between the brackets of built-in types."""
    arguments = getattr(hint, "__args__", None)
    if not isinstance(arguments, tuple) or typing_extensions.get_origin(hint) is typing_extensions.Literal:
        return hint
    found = tuple(
        eval(one, dict(names)) if isinstance(one, str) else _without_quotes(one, names)  # as `get_type_hints` does
        for one in arguments
    )
    if found == arguments:
        return hint
    if isinstance(hint, types.UnionType):
        return reduce(operator.or_, found)
    origin: Any = get_origin(hint)
    return origin[found] if isinstance(hint, types.GenericAlias) else hint.copy_with(found)


def required_fields(origin: Any, fields: Iterable[str]) -> set[str]:
    """The fields of a record class that have no default: those that a value has to have."""
    if hasattr(origin, "__required_keys__"):
        return set(origin.__required_keys__)
    known = _pydantic_fields(origin)
    if isinstance(known, Mapping):
        return {name for name, one in known.items() if one.is_required()}
    if dataclasses.is_dataclass(origin):
        free = {f.name for f in dataclasses.fields(origin) if not f.default is f.default_factory is dataclasses.MISSING}
    elif hasattr(origin, "__struct_fields__"):
        free = set(origin.__struct_fields__[len(origin.__struct_fields__) - len(origin.__struct_defaults__) :])
    elif hasattr(origin, "__attrs_attrs__"):
        free = {one.name for one in origin.__attrs_attrs__ if type(one.default).__name__ != "_Nothing"}
    else:
        free = set(getattr(origin, "_field_defaults", ()))
    return set(fields) - free


def json_keys(origin: Any) -> Mapping[str, tuple[str, ...]]:
    """The keys under which JSON has the fields of a record class, where those are not the fields' names: the aliases of pydantic,
    the renamed fields of msgspec."""
    fields = _pydantic_fields(origin)
    if isinstance(fields, Mapping):
        settings = getattr(origin, "model_config", {})
        by_name = settings.get("populate_by_name") or settings.get("validate_by_name")
        found = {name: _alias_keys(one.validation_alias or one.alias) for name, one in fields.items()}
        return {name: (*keys, *[name] * bool(by_name)) for name, keys in found.items() if keys}
    encoded = getattr(origin, "__struct_encode_fields__", None)
    return (
        {} if encoded is None else {a: (b,) for a, b in zip(origin.__struct_fields__, encoded, strict=True) if a != b}
    )


def _pydantic_fields(origin: Any) -> Any:
    """The fields of a model or dataclass of pydantic; before 2.10 models have them as `model_fields` only."""
    return getattr(origin, "__pydantic_fields__", None) or getattr(origin, "model_fields", None)


def _alias_keys(alias: Any) -> tuple[str, ...]:
    """The keys of an alias of pydantic; one that leads into another value has none."""
    choices = getattr(alias, "choices", (alias,))
    return tuple(one for one in choices if isinstance(one, str))


def _field_names(origin: type) -> list[str] | None:
    if typing_extensions.is_typeddict(origin):
        return list(typing_extensions.get_type_hints(origin))
    return fields_of(origin)


def _parameters(type_: Any, origin: Any) -> dict[Any, Any]:
    """What the type variables of a generic record stand for, those of its generic bases too."""
    filled: dict[Any, Any] = {}
    metadata = getattr(type_, "__pydantic_generic_metadata__", None)
    if metadata and metadata.get("args"):
        parameters = metadata["origin"].__pydantic_generic_metadata__["parameters"]
        filled.update(zip(parameters, metadata["args"], strict=False))
    filled.update(zip(getattr(origin, "__parameters__", ()), get_args(type_), strict=False))
    for base in getattr(origin, "__orig_bases__", ()):
        inherited = (
            _parameters(base, get_origin(base) or base) if get_origin(base) not in (None, typing.Generic) else {}
        )
        filled.update({key: _filled(value, filled) for key, value in inherited.items()})
    return filled


def _filled(type_: Any, filled: Mapping[Any, Any]) -> Any:
    if isinstance(type_, TypeVar):
        return filled.get(type_, type_)
    parameters = getattr(type_, "__parameters__", ())
    if filled and parameters and get_origin(type_) is not None:
        return type_[tuple(filled.get(p, p) for p in parameters)]
    return type_


def name_of(type_: Any) -> str:
    """What a type is called in messages."""
    if isinstance(type_, type) and not get_args(type_):
        return type_.__name__
    if isinstance(type_, (dict, list)):  # a value in the place of a type, of any size
        return f"{type_!r:.60}"
    return str(type_).replace("typing.", "").replace("typing_extensions.", "")

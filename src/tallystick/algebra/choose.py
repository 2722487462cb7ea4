"""Choices at their place: how one value is compared, said in a type, in a JSON Schema or in a file.

All three say the same things, in the same words:

    in a type          price: Annotated[float, ts.number(relative=0.01)]        Annotated[..., ts.choose(weight=2)]
    in JSON Schema     "x-tallystick": {"number": {"relative": 0.01}, "weight": 2}
    in a file          lines[*].price: {number: {relative: 0.01}, weight: 2}

A choice has parts, and what is nearer to the user wins part by part: a file over an annotation over the default. In a file a path may
be a rule for many values, `"**.price"` or `"lines[*].*"`, and `default: {number: ...}` is one for all values of a kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from tallystick.algebra.exact import Keyed, equal, exact
from tallystick.algebra.functions import Aliases
from tallystick.algebra.hierarchy import Subtypes, levels
from tallystick.algebra.missing import AnyOf, Optional
from tallystick.algebra.node import Similarity, Table
from tallystick.algebra.ordered import Sequence, graph, top_down, tree, unordered
from tallystick.algebra.parse import choosable
from tallystick.algebra.sets import CONSTRAINTS, Match, Matching
from tallystick.algebra.values import json
from tallystick.algebra.weights import Above, AtLeast, Weighted
from tallystick.errors import DerivationError, MetricError, TallystickError, did_you_mean
from tallystick.files.json_values import read_data
from tallystick.files.source import read_text
from tallystick.frozen import frozen

NOTHING = ("missing", "null", "empty", "blank")


@frozen
class Collecting:
    """How a collection is matched, said in the type: `Annotated[list[str], ordered]`.

    >>> ts.derive(Annotated[list[str], ts.ordered])
    f1(sequence(exact))
    >>> ts.derive(Annotated[list[str], ts.distinct])
    f1(match(exact, 1:1, distinct=True))
    """

    constraint: str = "1:1"
    in_order: bool = False
    distinct: bool = False
    key: tuple[str, ...] = ()

    def joined(self, other: Collecting) -> Collecting:
        """Two notes together: `distinct` and `matched("N:1")`."""
        constraint = self.constraint if other.constraint == "1:1" else other.constraint
        both = Collecting(
            constraint, self.in_order or other.in_order, self.distinct or other.distinct, (*self.key, *other.key)
        )
        if both.in_order and (both.constraint != "1:1" or both.distinct):
            raise MetricError("a collection matched in order takes neither another constraint nor distinct")
        return both

    def over(self, inner: Similarity) -> Matching:
        if self.key:
            inner = Keyed(inner, self.key)
        return Sequence(inner) if self.in_order else Match(inner, self.constraint, self.distinct)

    def __str__(self) -> str:
        return self.over(exact).in_words()[0]


ordered = Collecting(in_order=True)
distinct = Collecting(distinct=True)


def matched(constraint: str) -> Collecting:
    """Another constraint for a collection: `Annotated[list[str], matched("N:1")]`.

    >>> ts.derive(Annotated[list[str], ts.matched("N:1")])
    f1(match(exact, N:1))
    """
    if constraint not in CONSTRAINTS:
        raise MetricError(f"matched(): unknown constraint {constraint!r}; expected one of {', '.join(CONSTRAINTS)}")
    return Collecting(constraint)


def by_key(*names: str) -> Collecting:
    """A list keyed by a field: `Annotated[list[Line], by_key("sku")]`; items with different keys never meet.

    >>> @dataclass
    ... class Line:
    ...     sku: str
    ...     quantity: int
    >>> ts.derive(Annotated[list[Line], ts.by_key("sku")])
    f1(match(keyed(record(sku=exact, quantity=exact), "sku"), 1:1))
    """
    if not names or not all(isinstance(name, str) for name in names):
        raise MetricError(f'by_key() needs the names of fields, such as by_key("sku"); found {names!r:.60}')
    return Collecting(key=names)


class Ignored:
    """The kind of `ignore`.

    >>> @dataclass
    ... class Order:
    ...     vendor: str
    ...     note: Annotated[str, ts.ignore]
    >>> ts.derive(Order)
    f1(record(vendor=exact))
    """

    def __repr__(self) -> str:
        return "ignore"


ignore = Ignored()
"""Leaves a field out of the metric: `Annotated[str, ignore]`, or by path."""


@frozen
class Choice:
    """What was chosen for one value; what is None was not chosen."""

    similarity: Similarity | None = None
    collecting: Collecting | None = None
    ignored: bool | None = None
    weight: float | None = None
    credit: str | None = None
    any_of: bool | None = None
    at_least: float | None = None
    above: float | None = None
    keep: bool | None = None
    aliases: Table | None = None
    nothing: tuple[str, ...] | None = None
    why: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether nothing was chosen."""
        return all(getattr(self, f.name) is None for f in fields(self) if f.name != "why")

    def over(self, other: Choice) -> Choice:
        """This choice, and what the other one says where this says nothing."""
        if self.says_nothing or other.says_nothing:
            return other if self.says_nothing else self
        merged = {
            f.name: getattr(self, f.name) if getattr(self, f.name) is not None else getattr(other, f.name)
            for f in fields(self)
        }
        if other.ignored and self.ignored is None:
            merged["ignored"] = False  # choosing how to compare it brings a field back
        return Choice(**{**merged, "why": "; ".join(filter(None, (self.why, other.why)))})

    def around(self, node: Similarity, *, summed: bool, structured: bool, where: str) -> Similarity:
        """The similarity with aliases, alternatives, threshold, weight and what counts as missing around it."""
        missing = node if isinstance(node, Optional) else None
        core = missing.inner if missing else node
        if self.aliases is not None:
            core = Aliases(self.aliases, core)
        if self.any_of:
            # Where null is a value, it may be one of the alternatives.
            value = self.nothing is not None and "null" not in self.nothing
            core = AnyOf(Optional(core) if value or (missing and not summed) else core)
            missing = None if missing and not summed else missing
        for kind, threshold in ((AtLeast, self.at_least), (Above, self.above)):
            if threshold is not None:  # of a record or list: which share of its fields is right
                core = kind(core, float(threshold), structured or bool(self.keep), structured)
        if self.weight is not None and self.weight != 1:
            if not summed:
                raise DerivationError(
                    f"{where}: a weight has no meaning inside an all-or-nothing record; say credit: each for the record"
                )
            core = Weighted(core, float(self.weight))
        if self.nothing is not None:
            return Optional(core, "empty" in self.nothing, "null" not in self.nothing, "blank" in self.nothing)
        return replace(missing, inner=core) if missing else core


NO_CHOICE = Choice()


# Rules: choices by path, by a pattern of paths, and by the kind of value.
#
#     lines[*].price        one path
#     lines[*].*            whatever is directly below
#     **.price              at any depth
#     value<str>            one case of a union
#     prices[*].key         the keys of a mapping
#     default: {string: ..., number: ...}     all values of a kind that nobody says anything else about
#
# A path wins over a pattern, and of patterns the one that names more steps, else the later one. A pattern that ends in a star chooses
# similarities for values without parts only: text(...) is not for the list that the texts are in.

KINDS = ("string", "number", "boolean", "date", "time", "list")
_STEP = re.compile(r"\[\*\]|<[^>]*>|[^.\[\]<>]+")


class Rules:
    """What was chosen for a type, and which of it had an effect."""

    def __init__(
        self,
        choices: Mapping[str, Any],
        source: str,
        paths: Collection[str] = (),
        nothing: tuple[str, ...] | None = None,
    ) -> None:
        self.nothing = NO_CHOICE if nothing is None else Choice(nothing=nothing, why="--nothing")
        _check(self.nothing, "--nothing")
        self.choices, self.source, self.used = dict(choices), source, set[str]()
        self.kinds: dict[str, Choice] = {}
        if "default" in self.choices and "default" not in paths:
            self.kinds = self._read_kinds(self.choices.pop("default"))
        self.patterns = [(key, _STEP.findall(key)) for key in self.choices if {"*", "**"} & set(_STEP.findall(key))]
        self.patterns.sort(key=lambda one: sum(step not in ("*", "**") for step in one[1]))

    def _read_kinds(self, spec: Any) -> dict[str, Choice]:
        where = f"{self.source}: default"
        if not isinstance(spec, Mapping):
            raise DerivationError(
                f"{where}: expected {{kind: choice}}, such as {{string: {{text: levenshtein}}}}, found {spec!r:.60}"
            )
        for kind in spec:
            if kind not in KINDS:
                raise DerivationError(
                    f"{where}: unknown kind {kind!r}; expected some of {', '.join(KINDS)}.{did_you_mean(str(kind), KINDS)}"
                )
        return {kind: self._read(one, f"{where}: {kind}") for kind, one in spec.items()}

    def _read(self, spec: Any, where: str) -> Choice:
        found = choice_of(spec, where, self.source)
        if found is None:
            raise DerivationError(
                f"at {where.removeprefix(f'{self.source}: ')}: expected a similarity, ordered, distinct, matched(...) or ignore, "
                f"found {spec!r}{'; a function is one as ts.function(f)' if callable(spec) else ''}"
            )
        return found

    def at(self, path: str, leaf: bool) -> Choice:
        """What was chosen for the value at a path."""
        found, steps = NO_CHOICE, _STEP.findall(path)
        for key, pattern in self.patterns:
            if path and _fits(pattern, steps):
                choice = self._read(self.choices[key], f"{self.source}: {key}")
                if choice.similarity is not None and not leaf and pattern[-1] in ("*", "**"):
                    continue
                self.used.add(key)
                found = choice.over(found)
        if path in self.choices:
            self.used.add(path)
            found = self._read(self.choices[path], f"{self.source}: {path}" if path else self.source).over(found)
        return found

    def everywhere(self, path: str) -> Choice:
        """What counts as nothing in all values but the items and keys of collections, which are always there."""
        return NO_CHOICE if not path or path.endswith(("[*]", "[*].key", ">")) else self.nothing

    def of_kind(self, kind: str | None) -> Choice:
        """What was chosen for all values of a kind."""
        return self.kinds.get(kind, NO_CHOICE) if kind else NO_CHOICE

    def check_used(self, seen: Collection[str], type_name: str) -> None:
        """A choice without effect is a mistake."""
        unused = [path for path in self.choices if path not in self.used]
        if unused:
            rule = any(unused[0] == key for key, _ in self.patterns)
            what = f"no value fits the rule {unused[0]!r}" if rule else f"no value at the path {unused[0]!r}"
            hint = "" if rule else did_you_mean(unused[0], seen)
            raise DerivationError(f"{what} of {type_name}.{hint} Paths: {', '.join(seen)}")


def _fits(pattern: list[str], steps: list[str]) -> bool:
    """Whether a path is one of those that a pattern stands for."""
    if not pattern or not steps:
        return not steps and all(step == "**" for step in pattern)
    first, *rest = pattern
    if first == "**":
        return _fits(rest, steps) or _fits(pattern, steps[1:])
    one = steps[0] == first or (first == "*" and steps[0][0] not in "[<")
    return one and _fits(rest, steps[1:])


def choice_of(note: Any, where: str, why: str) -> Choice | None:
    """What a note of `Annotated`, a value by path or a plain specification says; None if it is no choice."""
    if isinstance(note, Choice):
        return replace(note, why=note.why or why)
    if isinstance(note, Similarity):
        return Choice(similarity=note, why=why)
    if isinstance(note, Collecting):
        return Choice(collecting=note, why=why)
    if isinstance(note, Ignored):
        return Choice(ignored=True, why=why)
    if isinstance(note, (Mapping, str)) and why != "annotation":
        return read_choice(note, where, why)
    own = isinstance(note, type) and issubclass(note, Similarity)
    if own or (callable(note) and str(getattr(note, "__module__", "")).startswith("tallystick.")):
        called = getattr(note, "name", "") if own and note.__module__.startswith("tallystick.") else ""
        name = called or note.__name__
        raise MetricError(f"at {where}: {name} was not called; write {name}(...)")
    return None


def choose(
    similarity: Similarity | None = None,
    *,
    weight: float | None = None,
    credit: str | None = None,
    any_of: bool | None = None,
    at_least: float | None = None,
    above: float | None = None,
    keep: bool | None = None,
    aliases: Mapping[Any, Any] | None = None,
    nothing: tuple[str, ...] | list[str] | None = None,
    collect: Collecting | None = None,
) -> Choice:
    """A choice of several parts: `Annotated[list[Line], choose(weight=2, collect=by_key("sku"))]`.

    >>> @dataclass
    ... class City:
    ...     name: Annotated[str, ts.choose(ts.text("levenshtein"), weight=2)]
    ...     country: str
    >>> ts.derive(City, credit="each")
    f1(each(name=weighted(text("levenshtein"), 2.0), country=exact))
    """
    if similarity is not None and not isinstance(similarity, Similarity):
        raise MetricError(f"choose() needs a similarity such as text(...), found {similarity!r:.60}")
    if collect is not None and not isinstance(collect, Collecting):
        raise MetricError(
            f"choose(): collect must be ordered, distinct, matched(...) or by_key(...), found {collect!r:.60}"
        )
    found = Choice(
        similarity, collect, None, weight, credit, any_of, at_least, above, keep,
        None if aliases is None else Table.of(aliases, "choose(aliases=...)"), None if nothing is None else tuple(nothing),
    )  # fmt: skip
    _check(found, "choose()")
    return found


# Plain specifications, as they stand in JSON and YAML.

WORDS = {
    "exact": Choice(similarity=exact),
    "equal": Choice(similarity=equal),
    "ignore": Choice(ignored=True),
    "bag": Choice(collecting=Collecting()),
    "ordered": Choice(collecting=ordered),
    "distinct": Choice(collecting=distinct),
}


def _read_hierarchy(spec: Any) -> Similarity:
    return levels(spec) if isinstance(spec, str) else Subtypes.from_choice(spec)


def _read_expression(spec: Any) -> Similarity:
    from tallystick.algebra.parse import parse

    found = parse(str(spec))
    if not isinstance(found, Similarity):
        raise MetricError(f"{spec!r} is no similarity")
    return found


STRUCTURES: dict[str, Callable[[Similarity], Similarity]] = {
    "tree": tree, "top_down": top_down, "unordered": unordered, "graph": graph,
}  # fmt: skip
"""Trees and graphs as JSON has them: {"label": ..., "children": [...]}, {"nodes": [...], "edges": [...]}."""


def _read_structure(make: Callable[[Similarity], Similarity], spec: Any) -> Similarity:
    """A tree or graph whose labels are compared as `spec` says; `true`: they are equal."""
    labels = Choice(similarity=equal) if spec is True else read_choice(spec, "labels")
    if labels != Choice(similarity=labels.similarity, why=labels.why):
        raise MetricError(f"labels of nodes are compared by a similarity; found {spec!r:.40}")
    assert labels.similarity is not None
    return make(labels.similarity)


def _read_parse(spec: Any) -> Similarity:
    if spec != "json":
        raise MetricError(
            f"parse: expected json, found {spec!r:.40}; numbers and dates are parsed by {{number: {{parse: auto}}}} and {{date: {{parse: auto}}}}"
        )
    return json


WORDS_OF_CHOICES = (
    "exact",
    "equal",
    "text",
    "number",
    "date",
    "boolean",
    "phone",
    "parse",
    "overlap",
    "hierarchy",
    "function",
    "judge",
    "embedding",
    "expression",
)
"""The usual words, in the order in which messages list them; every similarity that can be chosen has its name besides."""


def similarities() -> dict[str, Callable[[Any], Similarity]]:
    """The words for similarities, and what makes one of what stands behind the word."""
    by_name = choosable()
    found: dict[str, Callable[[Any], Similarity]] = {name: class_.from_choice for name, class_ in by_name.items()}
    found.update(
        exact=lambda _: exact,
        parse=_read_parse,
        **{name: partial(_read_structure, make) for name, make in STRUCTURES.items()},
        hierarchy=_read_hierarchy,
        judge=by_name["judged"].from_choice,
        expression=_read_expression,
    )
    return {name: found[name] for name in (*WORDS_OF_CHOICES, *sorted(set(found) - set(WORDS_OF_CHOICES)))}


PARTS = (
    "weight",
    "credit",
    "any_of",
    "at_least",
    "above",
    "keep",
    "aliases",
    "nothing",
    "ignore",
    "list",
    "key",
    "match",
)


def _read_word(word: str, where: str, why: str) -> Choice:
    """The choice that one word stands for: a similarity that needs no parameters, or one of the others."""
    if word in WORDS:
        return replace(WORDS[word], why=why)
    if word in STRUCTURES:
        return Choice(similarity=STRUCTURES[word](equal), why=why)
    class_ = choosable().get(word)
    if class_ is None:
        raise DerivationError(
            f"{where}: unknown choice {word!r}; expected one of {', '.join((*WORDS, *STRUCTURES))}, or an object such as "
            f'{{"text": "levenshtein"}}.{did_you_mean(word, [*WORDS, *STRUCTURES, *similarities()])}'
        )
    needed = ", ".join(f'"{f.name}": ...' for f in fields(class_) if f.default is MISSING)
    if needed:
        raise DerivationError(f'{where}: {word} needs parameters: {{"{word}": {{{needed}}}}}')
    return Choice(similarity=class_(), why=why)


def read_choice(spec: Any, where: str, why: str = "") -> Choice:
    """The choice that a plain specification stands for; whatever is misspelt is an error that says where."""
    if isinstance(spec, str):
        return _read_word(spec, where, why)
    if not isinstance(spec, Mapping) or not spec:
        raise DerivationError(
            f"{where}: expected a choice such as {{'text': 'levenshtein'}} or 'ignore', found {spec!r:.60}"
        )
    makes = similarities()
    known = [*makes, *PARTS]
    for name in spec:
        if name not in known:
            raise DerivationError(
                f"{where}: unknown choice {name!r}; expected some of {', '.join(known)}.{did_you_mean(str(name), known)}"
            )
    chosen = [name for name in spec if name in makes]
    if len(chosen) > 1:
        raise DerivationError(f"{where}: {' and '.join(chosen)} cannot both be chosen for one value")
    parts: dict[str, Any] = {name: spec[name] for name in PARTS if name in spec}
    try:
        found = Choice(
            similarity=makes[chosen[0]](spec[chosen[0]]) if chosen else None,
            collecting=_collecting(parts),
            ignored=parts.pop("ignore", None),
            aliases=_aliases(parts.pop("aliases"), why) if "aliases" in parts else None,
            nothing=_nothing(parts.pop("nothing")) if "nothing" in parts else None,
            why=why,
            **parts,
        )
        _check(found, where)
    except (TallystickError, TypeError, ValueError) as error:
        message = str(error)
        raise DerivationError(message if message.startswith(where) else f"{where}: {message}") from None
    return found


def _collecting(parts: dict[str, Any]) -> Collecting | None:
    how, key, constraint = parts.pop("list", None), parts.pop("key", None), parts.pop("match", None)
    if how is None and key is None and constraint is None:
        return None
    if how not in (None, "bag", "ordered", "distinct"):
        raise MetricError(f"list: expected bag, ordered or distinct, found {how!r}")
    if constraint not in (None, *CONSTRAINTS):
        raise MetricError(f"match: expected one of {', '.join(CONSTRAINTS)}, found {constraint!r}")
    keys = () if key is None else (key,) if isinstance(key, str) else tuple(key)
    if not all(isinstance(one, str) for one in keys):
        raise MetricError(f"key: expected the name of a field, or a list of names, found {key!r:.60}")
    return Collecting(constraint or "1:1", how == "ordered", how == "distinct", keys)


def _aliases(spec: Any, source: str) -> Table:
    """{meaning: [aliases]} as people write it, turned round; or the name of a file that has it: JSON, YAML, or a line for each meaning
    in CSV or TSV. The file lies beside the one that names it."""
    if isinstance(spec, str):
        beside = Path(source).parent / spec
        spec = _read_aliases(beside if beside.exists() else Path(spec))
    if not isinstance(spec, Mapping):
        raise MetricError(f"aliases: expected {{name: [other names]}} or a file, found {spec!r:.60}")
    names: dict[Any, Any] = {}
    for meaning, others in spec.items():
        for other in others if isinstance(others, (list, tuple)) else [others]:
            if names.setdefault(other, meaning) != meaning:
                raise MetricError(f"aliases: {other!r} stands for both {names[other]!r} and {meaning!r}")
    return Table.of(names)


def _read_aliases(file: Path) -> Any:
    if file.suffix not in (".csv", ".tsv"):
        return read_data(file)
    from tallystick.files.table import read_cells, separator

    text, table = read_text(file), dict[str, list[str]]()
    for _, (meaning, *others) in read_cells(text, str(file), separator(file.name, text), even=False):
        table.setdefault(meaning, []).extend(filter(None, others))
    return table


def _nothing(spec: Any) -> tuple[str, ...]:
    """What counts as nothing: YAML reads the word null as a value."""
    return tuple("null" if one is None else one for one in ([spec] if isinstance(spec, str) or spec is None else spec))


def _check(choice: Choice, where: str) -> None:
    if choice.credit not in (None, "all", "each"):
        raise DerivationError(f'{where}: credit must be "all" or "each", found {choice.credit!r}')
    if choice.weight is not None and not (isinstance(choice.weight, (int, float)) and 0 < choice.weight <= 1e300):
        raise DerivationError(
            f"{where}: a weight must be above 0, found {choice.weight!r:.60}; to leave it out, say ignore"
        )
    for name in ("any_of", "keep"):
        if not isinstance(getattr(choice, name), (bool, type(None))):
            raise DerivationError(f"{where}: {name} must be true or false, found {getattr(choice, name)!r:.60}")
    for name in choice.nothing or ():
        if name not in NOTHING:
            raise DerivationError(
                f"{where}: nothing: expected some of {', '.join(NOTHING)}, found {name!r}.{did_you_mean(str(name), NOTHING)}"
            )
    for name in ("at_least", "above"):
        value = getattr(choice, name)
        if value is not None and not (isinstance(value, (int, float)) and 0 <= value <= 1):
            raise DerivationError(f"{where}: {name} must lie between 0 and 1, found {value!r}")

"""Options and readers that several tasks share: how strings are compared, hierarchies of types, weights of mentions by their kind,
mentions in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError, MetricError, Place, counted, did_you_mean
from tallystick.files.json_values import Json, read_json
from tallystick.files.source import AnySource, Source
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention, Mention
from tallystick.tasks.contract import option

if TYPE_CHECKING:
    from tallystick.algebra.node import Similarity
    from tallystick.files.pairing import Documents
    from tallystick.tasks.parses import Heads

HIERARCHIES = ("ancestor", "descendant", "levels", "supertypes")
"""Half credit for a predicted ancestor (eq. 33 as MUC-4 did it) or descendant (as printed); eq. 38; eq. 39."""

_SQUAD = ("lower", "ascii_punctuation", "articles", "whitespace")
STRINGS: dict[str, tuple[str, ...]] = {
    "gtt": _SQUAD,
    "grit": _SQUAD,
    "unicode": ("casefold", "punctuation", "articles", "whitespace"),
    "exact": (),
}
"""How the mentions of role and slot fillers are compared, as steps of `algebra.text`: as gtt, grit and IterX have taken over from SQuAD;
without case and punctuation of any script; or as they are."""
STRINGS_HELP = "How texts are compared: as gtt and grit do, without case, ASCII punctuation and articles; unicode: of any script; or as they are."


def steps_named(strings: str) -> tuple[str, ...]:
    """The steps that one of `STRINGS` stands for."""
    if strings not in STRINGS:
        raise MetricError(f"no strings {strings!r}; there are {', '.join(STRINGS)}.{did_you_mean(strings, STRINGS)}")
    return STRINGS[strings]


@frozen
class Types:
    """When two types are alike: equal, or near each other in a hierarchy. It stands in the place of any δ_type."""

    hierarchy: str = ""
    parents: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.hierarchy and self.hierarchy not in HIERARCHIES:
            raise MetricError(
                f"unknown hierarchy {self.hierarchy!r}; expected one of {', '.join(HIERARCHIES)}."
                f"{did_you_mean(self.hierarchy, HIERARCHIES)}"
            )
        if self.hierarchy in ("ancestor", "descendant", "supertypes") and not self.parents:
            raise MetricError(
                f"the hierarchy {self.hierarchy!r} needs the parents of the types; only levels are read from names"
            )

    @staticmethod
    def of(hierarchy: str | None, parents: Mapping[str, Any] | None) -> Types:
        """From the options of a command; parents alone mean MUC-4's half credit."""
        table = tuple((child, tuple([p] if isinstance(p, str) else p)) for child, p in (parents or {}).items())
        return Types(hierarchy or ("ancestor" if table else ""), table)

    @property
    def similarity(self) -> Similarity:
        """What compares two types."""
        from tallystick.algebra.exact import exact
        from tallystick.algebra.hierarchy import levels, subtypes
        from tallystick.algebra.normalise import supertypes

        table = dict(self.parents)
        if self.hierarchy == "levels":
            return levels()
        if self.hierarchy == "supertypes":
            return supertypes(table)
        if self.hierarchy:
            return subtypes(table, direction=f"predicted_{self.hierarchy}")
        return exact


def weigh_by_kind(mention: Similarity, weights: Mapping[str, float] | tuple[tuple[str, float], ...]) -> Similarity:
    """A mention that counts by its kind (name, nominal, pronoun); without weights, the mention itself."""
    from tallystick.algebra.weights import weigh

    return weigh(mention, dict(weights), by="kind") if weights else mention


@frozen
class TypeSettings:
    """When types are alike (eq. 33, 38, 39)."""

    # fmt: off
    parents: str | None = option(None, "The parent of each type, as JSON or child<TAB>parent lines: credit for near types.", metavar="FILE")
    hierarchy: str | None = option(None, "Half credit for a predicted ancestor (default with --parents) or descendant; 2^(d-D) by levels of A.B.C; F1 of supertypes.", choices=HIERARCHIES)
    # fmt: on

    @property
    def types(self) -> Types:
        """The value that a metric takes."""
        return Types.of(self.hierarchy, read_parents(self.parents) if self.parents else None)


@frozen
class MentionSettings(TypeSettings):
    """And what a mention counts, by its kind."""

    # fmt: off
    informativity: str | None = option(None, "What mentions count by their kind: name=1,nominal=0.5,pronoun=0.25.", metavar="KIND=WEIGHT,...")
    # fmt: on

    @property
    def weights(self) -> tuple[tuple[str, float], ...]:
        """`name=1,pronoun=0.25` as pairs."""
        out = []
        for part in self.informativity.split(",") if self.informativity else ():
            kind, equals, weight = part.partition("=")
            try:
                out.append((kind.strip(), float(weight)))
            except ValueError:
                equals = ""
            if not equals:
                raise MetricError(
                    f"--informativity expects KIND=WEIGHT,... such as name=1,pronoun=0.25, found {part!r}"
                )
        return tuple(out)


@frozen
class HeadSettings(MentionSettings):
    """And where the heads of spans come from."""

    # fmt: off
    heads: str | None = option(None, "Heads of spans: a JSONL file of parses, or a rule.  [default: those in the data]", metavar="FILE|last|first")
    # fmt: on

    @property
    def known_heads(self) -> Heads | None:
        """The heads themselves, if there are any beside those in the data."""
        from tallystick.tasks.parses import read_heads

        return read_heads(self.heads) if self.heads else None


def read_json_object(name: str, what: str) -> dict[str, Any]:
    """A file that is one JSON object."""
    found = read_json(name)
    if len(found) != 1 or not isinstance(found[0].value, dict):
        raise InputError(f"expected one JSON object, {what}", name)
    return found[0].value


# Mentions as JSON has them: `[start, end]`, `[start, end, type]`, or an object.
#
#     {"start": 3, "end": 5, "type": "PER", "head": [4, 5], "entity": "e1", "kind": "name"}
#
# Ends are exclusive, as in Python, unless a format says otherwise.


def read_mention(found: Json, empty: bool = False) -> AnnotatedMention:
    """A mention from a list or an object; one without any token only if it may be `empty`."""
    if isinstance(found.value, list):
        left, right = found.span(empty=empty)
        parts = found.each()
        if len(parts) > 3:
            raise found.expected("[start, end] or [start, end, type]")
        return AnnotatedMention(left, right, type=parts[2].text() if len(parts) > 2 else None)
    known = found.mapping()
    start, end = known.get("start"), known.get("end")
    if type(start) is not int or type(end) is not int:  # something is unusual, and will be named if it is wrong
        start, end = found.at("start", "start_token").whole(), found.at("end", "end_token").whole()
    left, right = found.checked_span(start, end, empty=empty)
    head = found.get("head")
    return AnnotatedMention(
        left,
        right,
        type=_word(found, "type", "entity_type"),
        head=head.span() if head is not None else None,
        entity=_word(found, "entity"),
        kind=_word(found, "kind", "mention_type"),
        text=_word(found, "text"),
    )


def warn_outside(out: Documents[Any], mentions: Mapping[str, Iterable[Mention]], tokens: Mapping[str, int]) -> None:
    """Say which mentions lie outside of the tokens of their documents, where the numbers of these are known (not 0)."""
    outside = [(name, one) for name, of in mentions.items() for one in of if 0 < tokens[name] <= one.right]
    if outside:
        name, first = outside[0]
        lie = (
            "lies outside the tokens of its document"
            if len(outside) == 1
            else "lie outside the tokens of their documents"
        )
        out.warnings.append(
            f"{out.file}: {counted(len(outside), 'mention')} {lie}, the first in {name}: tokens {first.left} to {first.right} of "
            f"{tokens[name]:,}; are the offsets those of characters, or of another document?"
        )


def check_said(
    out: Documents[Any], mentions: Mapping[str, Iterable[Mention]], tokens: Mapping[str, Sequence[str]]
) -> None:
    """That what a mention says it is stands at its offsets, where the tokens of its document are known (not empty)."""
    from tallystick.files.exports import MEND_SAID, says

    for name, of in mentions.items():
        words = tokens[name]
        for one in of if words else ():
            said = getattr(one, "text", None)
            if not said or getattr(one, "gaps", None) or not 0 <= one.left <= one.right < len(words):
                continue
            found = " ".join(words[one.left : one.right + 1])
            if not says(found, said):
                raise InputError(
                    f"tokens [{one.left}, {one.right + 1}) say {said!r:.60}, but these tokens of the text are {found!r:.60}; {MEND_SAID}",
                    out.places.get(name, Place(out.file)),
                )


ARGUMENTS = ("arguments", "args")


def listed_arguments(event: Json) -> list[Json]:
    """The arguments of an event; something under another key that looks like them is an error: none of them would be read."""
    if event.get(*ARGUMENTS) is None:
        for key, one in event.mapping().items():
            if key not in ARGUMENTS and (_holds_roles(one) or (key in ("participants", "roles") and one)):
                raise event.fail(f"has no 'arguments', but {key!r}; expected 'arguments'")
    return event.listed(*ARGUMENTS)


def _holds_roles(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) and "role" in one for one in value)


def _word(found: Json, *keys: str) -> str | None:
    for key in keys:
        value = found.value.get(key)
        if value is not None:
            return value if isinstance(value, str) else found.at(key).name()
    return None


# Hierarchies of types, from a file: {"child": "parent"} or {"child": ["parent", ...]} as JSON, or `child<TAB>parent` lines.


def read_parents(name: AnySource) -> dict[str, tuple[str, ...]]:
    """Each type with its parents."""
    source = Source.of(name)
    file, text = str(source), source.text()
    if text.lstrip().startswith("{"):
        out = {}
        for document in read_json(Source.of_text(text, file)):
            for child, parent in document.items():
                listed = parent.each() if isinstance(parent.value, list) else [parent]
                out[child] = tuple(one.text() for one in listed)
        return out
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise InputError(f"expected `child<TAB>parent`, found {line!r:.60}", Place(file, number))
        type_, above = (part.strip() for part in parts)
        found[type_] = (*found.get(type_, ()), above)
    if not found:
        raise InputError("has no line `child<TAB>parent`", file)
    return found

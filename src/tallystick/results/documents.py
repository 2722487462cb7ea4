"""One document for a reader: where its prediction differs from its reference, and the tree that a page carries.

Both are read off the explanation, which is the alignment that the score is the sum of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.node import Node, Similarity, in_expression, keyword
from tallystick.engine.arrays import F64
from tallystick.engine.values import Invalid
from tallystick.errors import MetricError
from tallystick.files.writing import JsonText, to_json, to_json_object, written
from tallystick.frozen import frozen
from tallystick.results.explanation import (
    MATCHED,
    MISSED,
    SPURIOUS,
    Explained,
    Explanation,
    InOrder,
    Level,
    Plain,
    listed,
)
from tallystick.results.tables import shorten, shorten_both
from tallystick.show.drawings import BoxDrawing, Drawing, LaneDrawing
from tallystick.show.tables import Table
from tallystick.show.words import both_texts, cut, is_mention, mention_class, named_parts, odd_lines, value_text

if TYPE_CHECKING:
    from tallystick.results.result import Result

WRONG, MISSING, EXTRA, INVALID = "wrong", "missing", "extra", "invalid"
Document = tuple[Any, Mapping[str, "float | None"], "Explanation"]
"""A document's name, its figures, and its alignment."""

MARKS = {WRONG: "≠", MISSING: "-", EXTRA: "+", INVALID: "!"}


@frozen
class Difference:
    """One value that is not as it should be."""

    what: str
    path: str
    reference: Any
    predicted: Any
    similarity: float

    @property
    def field(self) -> str:
        """The path without the places of items."""
        return re.sub(r"\[[^\]]*\]", "[*]", self.path)

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


def differences(tree: Explanation) -> list[Difference]:
    """Everything in a document that is wrong, missing or extra."""
    return list(_below(tree, ""))


def _below(tree: Explanation, path: str) -> Iterator[Difference]:
    if isinstance(tree.predicted, Invalid):
        yield Difference(INVALID, path or "(document)", tree.reference, tree.predicted.reason, 0.0)
    elif tree.status == MISSED:
        yield Difference(MISSING, path or "(value)", tree.reference, None, 0.0)
    elif tree.status == SPURIOUS:
        yield Difference(EXTRA, path or "(value)", None, tree.predicted, 0.0)
    elif tree.children:
        for child in tree.children:
            yield from _below(child, path + _step(child, path))
    elif tree.weight < max(tree.reference_self, tree.predicted_self) - 1e-12:
        most = max(tree.reference_self, tree.predicted_self)
        yield Difference(WRONG, path or "(value)", tree.reference, tree.predicted, tree.weight / most)


def _step(child: Explanation, path: str) -> str:
    if child.places:
        known = list(dict.fromkeys(str(place) for place in child.places if place is not None))
        return f"[{'→'.join(known)}]"
    if child.name.startswith("<") or not child.name:
        return child.name
    return f".{child.name}" if path else child.name


def at_field(found: Sequence[Difference], field: str) -> list[Difference]:
    """Only what concerns one field; where the whole item or list is missing or extra, its values of that field."""
    out = []
    for one in found:
        rest = field.removeprefix(one.field)
        if one.field == field:
            out.append(one)
        elif field.startswith(one.field) and rest.startswith((".", "[")) and "<" not in rest:
            steps = re.findall(r"\[\*\]|[^.\[]+", rest)
            left, right = (dict(_inside(side, steps, one.path)) for side in (one.reference, one.predicted))
            out += [Difference(one.what, path, left.get(path), right.get(path), 0.0) for path in left | right]
        elif one.what == INVALID:
            out.append(one)
    return out


def _inside(value: Any, steps: Sequence[str], path: str) -> Iterator[tuple[str, Any]]:
    """What a value has below it along some steps of a path, each with its place."""
    if not steps:
        yield from [] if value is None else [(path, value)]
    elif steps[0] != "[*]":
        part = value.get(steps[0]) if isinstance(value, Mapping) else getattr(value, steps[0], None)
        yield from _inside(part, steps[1:], f"{path}.{steps[0]}")
    elif isinstance(value, (Mapping, list, tuple, set, frozenset)):
        for k, item in enumerate(listed(value)):
            yield from _inside(item, steps[1:], f"{path}[{k}]")


def differences_table(found: Sequence[Difference], title: str) -> Table:
    """One document on a terminal."""
    rows = [[f"{MARKS[one.what]} {one.what}", one.path, *_shown(one), one.similarity] for one in found]
    return Table(["", "field", "reference", "predicted", "similarity"], rows, title=title)


def all_differences(documents: Mapping[str, Sequence[Difference]]) -> Table:
    """Several documents in one table, for a pipe."""
    rows = [
        [key, one.what, one.path, *_shown(one, 1000), one.similarity]
        for key, found in documents.items()
        for one in found
    ]
    return Table(["document", "what", "field", "reference", "predicted", "similarity"], rows)


def differences_tables(documents: Sequence[Document], field: str | None, apart: bool) -> list[Table]:
    """What differs in some documents: a table for each, or one for all."""
    found = [(key, figures, _chosen(tree, field)) for key, figures, tree in documents]
    if not apart:
        return [all_differences({str(key): ones for key, _, ones in found})]
    return [differences_table(ones, _title(key, figures)) for key, figures, ones in found]


def differences_as_json(documents: Sequence[Document], field: str | None) -> list[dict[str, Any]]:
    """What differs in some documents, as plain values."""
    return [
        {"document": key, **figures, "differences": [one.as_dict() for one in _chosen(tree, field)]}
        for key, figures, tree in documents
    ]


def _chosen(tree: Explanation, field: str | None) -> list[Difference]:
    found = differences(tree)
    return at_field(found, field) if field else found


def _title(key: Any, figures: Mapping[str, float | None]) -> str:
    listed = "  ".join(f"{name} {value:.4f}" for name, value in figures.items() if value is not None)
    return f"document {key}   {listed}"


def _shown(one: Difference, width: int = 60) -> tuple[str, str]:
    """Both sides; where each has a value, so that the difference is seen."""
    if one.what == INVALID:
        return shorten(one.reference, width), cut(f"({one.predicted})", width)
    if one.reference is not None and one.predicted is not None:
        return shorten_both(one.reference, one.predicted, width)
    left, right = ("–" if value is None else shorten(value, width) for value in (one.reference, one.predicted))
    return left, right


# The documents that a page carries: each with its drawings and its alignment, packed, the worst first, within limits.

DEEPEST = 4000
"""How many nodes one document's alignment may have in the page."""
FIRST, TOGETHER = 8, 256
"""So many documents are aligned together: at first, while nobody knows how large they are, and at the most."""
LABELS = ("slot", "role", "key", "type")
"""What an item is called by: the first of these that it has."""
WRITTEN = 500
"""So many characters are shown of an output that could not be read."""
DIFFERS = "differs"
"""The status of a pair that belongs together, is not the same, and counts nothing by itself."""
SIGNS = {MATCHED: "=", MISSED: "-", SPURIOUS: "+", DIFFERS: "~"}


@frozen
class Carried:
    """Packed documents in order, written as JSON; `full` if there was no room for more."""

    documents: list[JsonText]
    full: bool


def carry_documents(
    ids: Sequence[Any],
    explain: Callable[[Any], Explanation] | None,
    draw: Callable[[Any], Sequence[Drawing]] | None,
    budget: int,
    shapes: Callable[[Explanation], Sequence[Drawing]] | None = None,
    pack: Pack | None = None,
) -> Carried:
    """These documents with everything that can be drawn of them, as many as the budget of bytes allows; `shapes` draws what the
    explanation itself has, and what a task has a `pack` for is neither explained nor drawn here."""
    out: list[JsonText] = []
    if explain is None and draw is None:
        return Carried(out, False)
    weight = 0
    while len(out) < len(ids):
        known = 1 + (budget - weight) * len(out) // weight if weight else FIRST  # as many as there may be room for
        some = ids[len(out) : len(out) + max(1, min(known, TOGETHER))]
        ready = [None] * len(some) if pack is None else pack(some)
        others = _pack_each([key for key, one in zip(some, ready, strict=True) if one is None], explain, draw, shapes)
        for known_already in ready:
            one = next(others) if known_already is None else known_already
            weight += len(one.encode())
            if weight > budget and out:
                return Carried(out, True)
            out.append(one)
    return Carried(out, False)


Pack = Callable[[Sequence[Any]], "Sequence[JsonText | None]"]
"""Some documents as the page's script unpacks them (`unpack` of drawings.js); None for one that it cannot."""


def _pack_each(
    some: Sequence[Any],
    explain: Callable[[Any], Explanation] | None,
    draw: Callable[[Any], Sequence[Drawing]] | None,
    shapes: Callable[[Explanation], Sequence[Drawing]] | None,
) -> Iterator[JsonText]:
    """The alignments and drawings of some documents."""
    explained = None if explain is None or not some else _explained(explain, some)
    packed = None if explained is None else pack_documents(explained)
    for k, key in enumerate(some):
        tree, cut = (None, False) if packed is None else packed[k]
        drawn: Sequence[Drawing] = ()
        if draw is not None:
            drawn = draw(key)
        elif shapes is not None and explained is not None:
            drawn = shapes(explained.tree(k))
        drawings = JsonText(f"[{','.join(map(_drawing, drawn))}]")
        yield to_json_object({"tree": written(tree), "drawings": drawings, "cut": cut})


def _drawing(drawing: Drawing) -> str:
    """A drawing as JSON; of boxes and times, which people measure, a number may be none."""
    measured = isinstance(drawing, (BoxDrawing, LaneDrawing))
    return to_json(drawing.packed(), indent=None) if measured else written(drawing.packed())


def _explained(explain: Callable[[Any], Explanation], some: Sequence[Any]) -> Explained:
    if isinstance(explain, InOrder):
        return explain.together(some)
    return Explained(None, {}, dict(enumerate(map(explain, some))))


Row = list[Any]
"""[name, status, weight, reference's own, predicted's own, reference, predicted, children]

A predicted value that reads as the reference does is 0, and there are no children if there are none. What says
the same twice is said once: a part with nothing but one part inside is that part, under both names, and an item is
called by its slot, role, type or key where both sides agree about it.
"""


def pack_documents(explained: Explained) -> list[tuple[Row, bool]]:
    """The alignment of each document as a page has it, and whether it is cut: as `pack_tree` has it, made from the columns."""
    rows, sizes, _ = _pack_level(explained.top) if explained.top is not None else ([], np.zeros(0), None)
    out = []
    for k in range(len(explained.rows.keys() | explained.others.keys())):
        if k in explained.others or sizes[explained.rows[k]] >= DEEPEST:
            nodes = [DEEPEST]
            out.append((pack_tree(explained.tree(k), nodes), nodes[0] <= 0))
        else:
            out.append((rows[explained.rows[k]], False))
    return out


def _pack_level(level: Level) -> tuple[list[Row], F64, list[str] | None]:
    """The nodes of a level, packed, how many nodes each is, and what it is called by its places."""
    n = level.pairs
    sizes = np.ones(len(level))
    below: list[list[Row]] = [[] for _ in range(n)]
    only: dict[int, str] = {}
    whole = _mentions(level)
    for lower in () if whole is True else level.below:
        rows, inner, called = _pack_level(lower)
        sizes[:n] += np.bincount(lower.homes, inner, n)
        for home, row in zip(lower.homes, rows, strict=True):
            below[home].append(row)
        if called is not None:
            only.update(zip(lower.homes, called, strict=True))
    for k in whole if isinstance(whole, list) else ():
        below[k], sizes[k] = [], 1
    items = _items(*level.places, n, level.missed) if level.places else None
    names = list(level.named()) if level.names or items is None else items
    weights = list(zip(*map(_short, (level.weights, *level.selves)), strict=True))
    wrong = (np.array(level.weights[:n]) < np.maximum(level.selves[0][:n], level.selves[1][:n])).tolist()
    sides = level.reference, level.predicted
    item = level.places is not None
    if any(below):
        labels = item and not all(one.names and one.names not in LABELS for one in level.below)
        out = [
            _above(name, "=", own, children, item, only.get(k, "") if len(children) == 1 else None, labels)
            if children
            else [name, "=", *own, *_pair_text(sides[0][k], sides[1][k], wrong[k])]
            for k, (name, own, children) in enumerate(zip(names, weights, below, strict=False))
        ]
    else:
        texts = _pair_texts(sides[0][:n], sides[1][:n], wrong)
        out = [[name, "=", *own, *both] for name, own, both in zip(names, weights, texts, strict=False)]
    out += _pack_alone(level, names, weights, sizes)
    return out, sizes, items


def _pack_alone(level: Level, names: Sequence[str], weights: Sequence[Sequence[float]], sizes: F64) -> Iterator[Row]:
    """The nodes of a level that stand on one side only; how many nodes each is is added to its size."""
    for k in range(level.pairs, len(level)):
        missed = k < level.pairs + level.missed
        value = level.reference[k] if missed else level.predicted[k]
        nodes = [DEEPEST]
        yield _alone(names[k], "-" if missed else "+", value, weights[k], level.places is not None, nodes, level.node)
        sizes[k] += DEEPEST - nodes[0]


def _pair_texts(
    reference: Sequence[Any], predicted: Sequence[Any], wrong: Sequence[bool]
) -> Iterable[tuple[str, str | int]]:
    """Pairs of values in words, the second 0 if it reads as the first. Values that are shown as they are cost nothing more; of others
    each different pair is looked at once, where pairs can be told apart by what they are equal to."""
    kinds = {*map(type, reference), *map(type, predicted)}
    shown: tuple[Sequence[str], Sequence[str]] | None = None
    odd: Collection[str] = ()
    if kinds <= {int, float}:
        shown = list(map(str, reference)), list(map(str, predicted))
    elif kinds <= {str, Plain}:
        shown, odd = (reference, predicted), odd_lines({*reference, *predicted})
    tell = lru_cache(maxsize=None)(_pair_text) if kinds <= {str, int, NoneType, Plain} else _pair_text
    if shown is None:
        return list(map(tell, reference, predicted, wrong))
    return [
        tell(ours, theirs, differs)
        if left in odd or right in odd
        else ((left, 0) if left == right else (left, right))
        if not differs
        else (left, right)
        if left != right and left.isascii() and right.isascii()
        else tell(ours, theirs, True)
        for left, right, differs, ours, theirs in zip(*shown, wrong, reference, predicted, strict=True)
    ]


def _pair_text(reference: Any, predicted: Any, wrong: bool) -> tuple[str, str | int]:
    left, right = (both_texts if wrong else _each_text)(reference, predicted)
    return left, 0 if left == right else right


def _mentions(level: Level) -> bool | list[int]:
    """The pairs of mentions, which are not shown offset by offset; True if all are."""
    if not level.below or not any(issubclass(kind, mention_class()) for kind in set(map(type, level.reference))):
        return False
    pairs = zip(level.reference[: level.pairs], level.predicted, strict=False)
    found = [k for k, pair in enumerate(pairs) if is_mention(pair[0]) and is_mention(pair[1])]
    return len(found) == level.pairs or found


def pack_tree(node: Explanation, nodes: list[int]) -> Row:
    """A tree as a page has it, of so many nodes at the most."""
    nodes[0] -= 1
    children = []
    whole = is_mention(node.reference) and is_mention(node.predicted)  # not offset by offset
    for child in () if whole else node.children:
        if nodes[0] <= 0:
            break
        children.append(pack_tree(child, nodes))
    status, name = SIGNS[node.status], node.name or _item(node.places)
    weights = tuple(_short((node.weight, node.reference_self, node.predicted_self)))
    if not node.children and node.status in (MISSED, SPURIOUS):
        value = node.reference if node.status == MISSED else node.predicted
        row = _alone(name, status, value, weights, bool(node.places), nodes, node.node)
        if isinstance(node.predicted, Invalid):  # why there is nothing: an output that could not be read
            row[6] = unreadable(node.predicted)
        return row
    if children:
        only = _item(node.children[0].places) if len(node.children) == 1 else None
        return _above(name, status, weights, children, bool(node.places), only)
    wrong = node.status == DIFFERS or node.weight < max(node.reference_self, node.predicted_self)
    return [name, status, *weights, *_pair_text(node.reference, node.predicted, wrong)]


def _above(
    name: str, status: str, weights: tuple[float, ...], children: list[Row], item: bool, only: str | None,
    labels: bool = True,
) -> Row:  # fmt: skip
    """A part with others inside; `only` is how a single one is called by its place, None if there are several; `labels` if an item may be
    called by one of them."""
    if item and labels:
        name, children = _called(name, children)
    if len(children) == 1 and tuple(children[0][2:5]) == weights:
        inner = children[0]
        return [_both_names(name, inner[0], item, only), *inner[1:]]
    return [name, status, *weights, None, None, children]


def _each_text(reference: Any, predicted: Any) -> tuple[str, str]:
    """Two values that count as the same, each by itself."""
    left = value_text(reference)
    same = type(reference) is type(predicted) and isinstance(reference, (str, int)) and reference == predicted
    return left, left if same else value_text(predicted)


def unreadable(prediction: Invalid) -> str:
    """Why an output could not be read, and below that the output itself, as much of it as the page has room for."""
    why = str(prediction)
    text = prediction.text.strip()
    if not text:
        return why
    cut = f" … (the first {WRITTEN:,} of {len(text):,} characters)" if len(text) > WRITTEN else ""
    return f"{why}\n{text[:WRITTEN]}{cut}"


def _both_names(name: str, inner: str, item: bool, only: str | None) -> str:
    """A part with nothing but one part inside. An item of a list is known by its label or its place alone."""
    if name == "document":
        return inner
    placed = only is None or (only and inner == only)
    return name if item or placed or not inner else f"{name} · {inner}" if name else inner


def _called(name: str, children: list[list[Any]]) -> tuple[str, list[list[Any]]]:
    """An item by what it is: the slot, role, type or key that both sides agree about, which is then no row of its own."""
    if len(children) == 1 or not any(child[0] in LABELS for child in children):
        return name, children
    agreed = [
        k
        for k, child in enumerate(children)
        if child[0] in LABELS and len(child) == 7 and child[1] == "=" and child[6] == 0 and child[2] >= max(child[3:5])
    ]
    if not agreed:
        return name, children
    chosen = min(agreed, key=lambda k: LABELS.index(children[k][0]))
    return children[chosen][5], children[:chosen] + children[chosen + 1 :]


def _alone(
    name: str, status: str, value: Any, weights: Sequence[float], item: bool, nodes: list[int],
    node: Similarity | None = None,
) -> list[Any]:  # fmt: skip
    """What stands on one side only: a record is shown field by field, as far as the metric compares it, a list of records
    item by item."""
    if isinstance(value, str):  # most are, and have nothing inside
        return _whole(name, status, weights, value)
    parts = compared_parts(value, node)
    if item and len(parts) > 1:
        label = _take_label(parts)
        name, item = (name, item) if label is None else (label, len(parts) > 1)
    if len(parts) == 1 and not item:
        return _alone(name, status, parts[0][1], weights, False, nodes, parts[0][2])
    children: list[list[Any]] = []
    own = [0, 1, 0] if status == "-" else [0, 0, 1]
    for key, part, of, is_item in _parts_alone(value, parts, item, node):
        if nodes[0] > 0:
            children.append(_alone(key, status, part, own, is_item, nodes, of))
    nodes[0] -= len(children)
    return [name, status, *weights, None, None, children] if children else _whole(name, status, weights, value)


def _whole(name: str, status: str, weights: Sequence[float], value: Any) -> list[Any]:
    text = value_text(value)
    return [name, status, *weights, text if status == "-" else None, text if status == "+" else None]


def _take_label(parts: list[Part]) -> str | None:
    """What an item is called by, taken out of its parts; None if nothing says."""
    found = [k for k, (key, part, _) in enumerate(parts) if key in LABELS and isinstance(part, str) and part]
    label: str | None = parts.pop(min(found, key=lambda k: LABELS.index(parts[k][0])))[1] if found else None
    return label


def _parts_alone(
    value: Any, parts: Sequence[Part], item: bool, node: Similarity | None
) -> Iterator[tuple[str, Any, Similarity | None, bool]]:
    """What is shown below a value that stands alone: the records of a list, or the fields of a record."""
    listed = value if isinstance(value, (list, tuple)) and not parts else ()
    if any(not isinstance(part, str) and len(named_parts(part)) > 1 for part in listed):
        of = None if node is None else node.item
        yield from ((str(k + 1), part, of, True) for k, part in enumerate(listed))
    elif len(parts) > 1 or (parts and item):
        yield from ((key, part, of, False) for key, part, of in parts)


def _short(weights: Sequence[float]) -> list[float]:
    """Weights as the page has them; most of them are the same few."""
    known = {x: int(x) if x == int(x) else round(x, 4) for x in set(weights)}
    return [known[x] for x in weights]


def _items(left: Sequence[Any], right: Sequence[Any], pairs: int, missed: int) -> list[str]:
    """`_item` of each node of a level: the pairs, what was missed, and what was spurious."""
    alone = (place + 1 for place in chain(left[pairs : pairs + missed], right[pairs + missed :]))
    both = zip(left[:pairs], right[:pairs], strict=True)
    return [*(f"{ours + 1} ↔ {theirs + 1}" for ours, theirs in both), *map(str, alone)]


def _item(places: tuple[int | None, ...]) -> str:
    """An item of a list has no name; its places on the two sides say which it is."""
    if not places:
        return ""
    left, right = places
    return str((right or 0) + 1) if left is None else str(left + 1) if right is None else f"{left + 1} ↔ {right + 1}"


# Several predictions of one document beside its reference: the alignments of all systems as one table, along the reference.


def rows_side_by_side(trees: Sequence[Explanation], most: int = DEEPEST) -> list[list[Any]]:
    """[depth, name, reference, [status, prediction] of each tree]: what the reference has, then what was only predicted.

    The status is that of the alignments of a page: = right, ~ wrong or in part, - missed, + spurious, and nothing where there is
    nothing. A prediction that reads as the reference does is 0.
    """
    out: list[list[Any]] = []
    for key, nodes in _aligned_children(list(trees)):
        _add_rows(key, nodes, 0, out, most)
    return out or [
        [0, "document", value_text(trees[0].reference), *(_beside(one, trees[0].reference) for one in trees)]
    ]


def _aligned_children(nodes: Sequence[Explanation | None]) -> list[tuple[str, list[Explanation | None]]]:
    """The children of some nodes that stand for the same part of the reference, together; what is only predicted is by itself, but
    fields of one name are together."""
    found: dict[Any, list[Explanation | None]] = {}
    names: dict[Any, str] = {}
    for k, node in enumerate(nodes):
        for child in node.children if node is not None else ():
            place = child.places[0] if child.places else None
            key: Any = (child.name, place)
            if child.status == SPURIOUS:
                key = (child.name, "only", k, child.places[1]) if child.places else (child.name, None)
            found.setdefault(key, [None] * len(nodes))[k] = child
            names[key] = child.name or (f"[{place}]" if place is not None else "[+]")
    order = sorted(found, key=lambda key: (key[1] == "only", key[1] if isinstance(key[1], int) else -1))
    return [(names[key], found[key]) for key in order]


def _add_rows(name: str, nodes: list[Explanation | None], depth: int, out: list[list[Any]], most: int) -> None:
    if len(out) >= most:
        return
    there = [one for one in nodes if one is not None and one.status != SPURIOUS]
    reference = there[0].reference if there else None
    below = _aligned_children(nodes)
    if not below:
        shown = None if not there else value_text(reference)
        out.append([depth, name, shown, *(_beside(one, reference) for one in nodes)])
        return
    if not name.startswith("<"):  # the case of a union is no row of its own
        cells = [["", None] if one is None or one.status == MATCHED else _beside(one, reference) for one in nodes]
        out.append([depth, name, None, *cells])
        depth += 1
    for key, inside in below:
        _add_rows(key, inside, depth, out, most)


def _beside(node: Explanation | None, reference: Any) -> list[Any]:
    """The status and the text of one prediction."""
    if node is None:
        return ["", None]
    if isinstance(node.predicted, Invalid):
        return ["-", unreadable(node.predicted).partition("\n")[0]]
    if node.status == MISSED:
        return ["-", None]
    text = value_text(node.predicted)
    if node.status == SPURIOUS:
        return ["+", text]
    right = node.status != DIFFERS and node.weight >= max(node.reference_self, node.predicted_self) - 1e-9
    return ["=" if right else "~", 0 if text == value_text(reference) else text]


# The words of mentions, where an explanation has only their offsets.

Texts = Mapping[tuple[int, int], str]
"""What stands at a span."""
NO_TEXTS: Texts = {}


def add_words(node: Explanation, tokens: Sequence[str], texts: Texts = NO_TEXTS) -> Explanation:
    """An explanation whose mentions have their words: those of the tokens, else the texts that are known of their spans."""
    return replace(
        node,
        reference=_in_words(node.reference, tokens, texts),
        predicted=_in_words(node.predicted, tokens, texts),
        children=tuple(add_words(child, tokens, texts) for child in node.children),
    )


def _in_words(value: Any, tokens: Sequence[str], texts: Texts) -> Any:
    """Mentions with their words, also inside records."""
    if is_mention(value):
        from tallystick.structures.texts import AnnotatedMention

        if getattr(value, "text", None) is not None:
            return value
        inside = 0 <= value.left <= value.right < len(tokens)
        words = " ".join(tokens[value.left : value.right + 1]) if inside else texts.get((value.left, value.right))
        known = vars(value) if isinstance(value, AnnotatedMention) else {"left": value.left, "right": value.right}
        return value if words is None else AnnotatedMention(**{**known, "text": words})
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_in_words(part, tokens, texts) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        found = {f.name: getattr(value, f.name) for f in fields(value)}
        changed = {name: _in_words(part, tokens, texts) for name, part in found.items()}
        return replace(value, **{name: part for name, part in changed.items() if part is not found[name]})
    return value


# Which parts of a value a metric looks at: of what stands on one side only, these are shown, and no others.
#
# A record may hold more than is compared: an id that pairs the documents, distances and other names that only some metrics
# of a task ask for. What was matched shows the compared fields alone, so what was missed does too.

BESIDE = ("trigger",)
"""What says where an item belongs, shown even where it is not compared."""

Part = tuple[str, Any, "Similarity | None"]
"""A part of a record: its name, its value, and what compares it."""


def compared_parts(value: Any, node: Similarity | None) -> list[Part]:
    """The named parts of a value that a metric looks at, in the value's own order; all of them where nobody knows."""
    every: list[Part] = [(key, part, None) for key, part in named_parts(value) if part is not None and part != ()]
    known = None if node is None else node.looks_at()
    if known is None:
        return every
    chosen = [(key, part, known.get(key)) for key, part, _ in every if key in known or key in BESIDE]
    return chosen if any(of is not None for _, _, of in chosen) else every


# The metric's derivation tree: normaliser over matching over similarities, each part with what it does.


@frozen
class MetricPart:
    """A part of a metric: N, M (Σ) or S (φ), the name it has where it stands, what it is and what it does."""

    kind: str
    name: str
    what: str
    says: str
    parts: tuple[MetricPart, ...]


def derivation(result: Result) -> MetricPart | None:
    """The tree of a result's metric; None where it is no expression of the algebra. Of shards the expression comes back as it is
    printed, and is read again."""
    metric = result.metric
    if isinstance(metric, str):
        if re.fullmatch(r"\w+\.\w+", metric):  # a procedure of a task: to read expressions all of the algebra is loaded
            return None
        from tallystick.algebra.parse import parse

        with suppress(MetricError):  # the name of a procedure, or with functions of the user's
            metric = parse(metric)
    return _part(metric, "") if isinstance(metric, Node) else None


def _part(node: Node, name: str) -> MetricPart:
    parts = list(node.parts())
    inside = {f"{keyword(part_name)}={in_expression(part)}" for part_name, part in parts} | {
        in_expression(part) for _, part in parts
    }
    called = str(node).partition("(")[0]
    own = [argument for argument in node._arguments() if argument not in inside]
    return MetricPart(
        node.letter,
        name,
        f"{called}({', '.join(own)})" if own else called,
        node.says,
        tuple(_part(part, "" if part_name in ("inner", "body") else part_name) for part_name, part in parts),
    )

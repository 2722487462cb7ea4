"""Where a prediction differs from its reference, field by field: what a person looks at first.

Read off the explanation, which is the alignment that the score is the sum of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallystick.algebra.node import Similarity
from tallystick.engine.rows import Invalid
from tallystick.results.explanation import MISSED, SPURIOUS, Explanation
from tallystick.results.tables import shorten, shorten_both
from tallystick.show.plainly import named_parts
from tallystick.show.tables import Table

WRONG, MISSING, EXTRA, INVALID = "wrong", "missing", "extra", "invalid"
MARKS = {WRONG: "≠", MISSING: "-", EXTRA: "+", INVALID: "!"}


@dataclass(frozen=True)
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
        return {
            "what": self.what,
            "path": self.path,
            "reference": self.reference,
            "predicted": self.predicted,
            "similarity": self.similarity,
        }


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
    """Only what concerns one field; where the whole item is missing or extra, its value of that field."""
    out = []
    for one in found:
        rest = field.removeprefix(one.field)
        if one.field == field:
            out.append(one)
        elif field.startswith(one.field) and rest.startswith((".", "[")) and "[" not in rest and "<" not in rest:
            steps = rest.removeprefix(".").split(".")
            reference, predicted = (_value(side, steps) for side in (one.reference, one.predicted))
            if reference is not None or predicted is not None:
                out.append(Difference(one.what, one.path + rest, reference, predicted, 0.0))
        elif one.what == INVALID:
            out.append(one)
    return out


def _value(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        value = value.get(step) if isinstance(value, Mapping) else getattr(value, step, None)
    return value


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


def _shown(one: Difference, width: int = 60) -> tuple[str, str]:
    """Both sides; where each has a value, so that the difference is seen."""
    if one.reference is not None and one.predicted is not None:
        return shorten_both(one.reference, one.predicted, width)
    left, right = ("–" if value is None else shorten(value, width) for value in (one.reference, one.predicted))
    return left, right


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


def item_node(node: Similarity | None) -> Similarity | None:
    """What compares the items of a list."""
    return None if node is None else node.item

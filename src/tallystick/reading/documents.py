"""Documents by name, as a reader of relations, events, roles or N-ary relations gives them, and laying two sides together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from tallystick.errors import InputError, MetricError, Place, SidesMismatch, did_you_mean, unmet_ids
from tallystick.reading.missing import Missing, allowed

T = TypeVar("T")


@dataclass
class Documents(Generic[T]):
    """One file's documents. In a `partial` file a document in which nothing was found does not appear."""

    file: str
    format: str
    values: dict[str, T] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    partial: bool = False
    warnings: list[str] = field(default_factory=list)

    def add(self, name: str, value: T, place: Place) -> None:
        """Put a document in; a name may stand for one document only."""
        if name in self.values:
            before = self.places[name].line
            where = f" in line {before}" if before else ""
            raise InputError(f"the document {name!r} stood{where} already; names must differ", place)
        self.values[name], self.places[name] = value, place


@dataclass(frozen=True)
class Paired(Generic[T]):
    """The documents of both sides in one order, and what is to be said about them."""

    ids: tuple[str, ...]
    reference: tuple[T, ...]
    predicted: tuple[T, ...]
    warnings: tuple[str, ...] = ()


def pair_documents(
    reference: Documents[T], predicted: Documents[T], nothing: Callable[[], T], absent: Missing | None = None
) -> Paired[T]:
    """Documents of one name meet. One that stands on one side only is an error, except where a file is partial or
    `absent` allows it."""
    missing = [name for name in reference.values if name not in predicted.values]
    extra = [name for name in predicted.values if name not in reference.values]
    missing, extra = (missing if not predicted.partial else []), (extra if not reference.partial else [])
    if (missing or extra) and not allowed(absent, missing, extra):
        raise SidesMismatch(f"{reference.file} and {predicted.file}: {unmet_ids(missing, extra)}")
    ignored = set(extra)
    ids = tuple(name for name in dict.fromkeys((*reference.values, *predicted.values)) if name not in ignored)
    return Paired(
        ids,
        tuple(reference.values[name] if name in reference.values else nothing() for name in ids),
        tuple(predicted.values[name] if name in predicted.values else nothing() for name in ids),
        (*reference.warnings, *predicted.warnings),
    )


def pair_values(reference: Any, predicted: Any) -> Paired[Any]:
    """Documents from Python: two mappings by id, or two sequences of one length."""
    if isinstance(reference, Mapping) and isinstance(predicted, Mapping):
        sides = [
            Documents(name, "Python", dict(side)) for name, side in (("reference", reference), ("predicted", predicted))
        ]
        return pair_documents(sides[0], sides[1], lambda: None)
    left, right = tuple(reference), tuple(predicted)
    if len(left) != len(right):
        raise SidesMismatch(
            f"reference has {len(left):,} documents and predicted has {len(right):,}; they are paired by order"
        )
    return Paired(tuple(map(str, range(len(left)))), left, right)


def place_of(document: Any, ids: Sequence[Any]) -> int:
    """The place of a document among ids."""
    if document not in ids:
        raise MetricError(
            f"no document {document!r}; there are {len(ids):,}.{did_you_mean(str(document), map(str, ids))}"
        )
    return list(ids).index(document)


def sources(name: str | Path, suffix: str) -> list[Path]:
    """The file, or the files with that suffix in the folder, by name."""
    path = Path(name)
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob(f"*{suffix}"))
    if not found:
        raise InputError(f"is a folder without a single {suffix} file", str(name))
    return found

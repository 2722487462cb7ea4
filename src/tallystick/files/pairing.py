"""Two sides laid together, document by document, and documents that a system did not answer.

A document that stands on one side only is an error where nothing else was asked for (--missing): what a system did not answer
counts as an empty answer, or, in a comparison, is left out for all systems. Either way a pairing goes on as if the answer were
empty and notes which documents those were. A predicted document that the reference does not have cannot be scored: a comparison
ignores it, and notes that too; elsewhere it stays an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import distinct
from tallystick.errors import (
    InputError,
    Place,
    SidesMismatch,
    ValueMismatch,
    counted,
    some,
    unknown_document,
    unmet_ids,
)
from tallystick.files.source import is_arrow_file
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.files.json_values import Json


@dataclass
class Missing:
    """What was asked for, and, after a pairing, which documents were missing and which are ignored."""

    policy: str = "error"
    comparison: bool = False
    """Whether several systems are compared, so that what only some of them answered can be left out for all."""
    unanswered: dict[Any, None] = field(default_factory=dict)
    ignored: dict[Any, None] = field(default_factory=dict)

    @property
    def asked(self) -> bool:
        """Whether documents that were not answered are allowed, and told by `notes`."""
        return self.policy != "error"

    def allows(self, unanswered: Sequence[Any], extra: Sequence[Any], none_paired: bool = False) -> bool:
        """Notes documents that stand on one side only; False if that is an error, as it is if no document stands on both."""
        if not self.asked or (extra and (not self.comparison or none_paired)):
            return False
        self.unanswered |= dict.fromkeys(unanswered)
        self.ignored |= dict.fromkeys(extra)
        return True

    def remedies(self, unanswered: Sequence[Any], extra: Sequence[Any]) -> list[str]:
        """What could be asked for, where documents on one side only are an error."""
        if self.asked:
            return []
        if unanswered and self.comparison:
            return [
                "--missing empty counts what a system did not answer as empty answers, --missing intersect leaves it out "
                "for all systems"
            ]
        if unanswered and not extra:
            return ["--missing empty counts what was not answered as empty answers"]
        if extra and self.comparison:
            return ["--missing empty or --missing intersect ignores what the reference does not have"]
        return []

    def notes(self) -> list[str]:
        """What is to be said about one system."""
        fate = "left out for all systems" if self.policy == "intersect" else "counted as empty answers"
        return [
            f"{counted(len(names), 'document')} {what}: {some(names)}"
            for names, what in (
                (self.unanswered, f"not answered, {fate}"),
                (self.ignored, "ignored because the reference does not have them"),
            )
            if names
        ]


def allowed(
    missing: Missing | None, unanswered: Sequence[Any], extra: Sequence[Any], none_paired: bool = False
) -> bool:
    """Whether documents on one side only are allowed; by default they are not."""
    return missing is not None and missing.allows(unanswered, extra, none_paired)


# Laying two sides together: by name where all documents of both have one, else by order.

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@frozen
class Side(Generic[K]):
    """The documents of a file as a pairing sees them: what each is called, and where it begins.

    Documents without names (`named` is false) are paired by order. In a `partial` file a document in which nothing was found
    does not appear. `keys` are what the names are compared by, where that is not the names themselves.
    """

    file: str
    names: Sequence[K]
    places: Sequence[Place | None] = ()
    named: bool = True
    partial: bool = False
    keys: Sequence[Hashable] | None = None

    @property
    def compared(self) -> Sequence[Hashable]:
        return self.names if self.keys is None else self.keys

    def repeated(self) -> list[tuple[int, int]]:
        """The documents whose name came before: where it came first, and where again."""
        first: dict[Hashable, int] = {}
        return [(first[key], k) for k, key in enumerate(self.compared) if first.setdefault(key, k) != k]

    def require_distinct(self) -> None:
        """A name may stand for one document only."""
        for before, again in self.repeated()[:1]:
            places = self.places or [Place(self.file)] * len(self.names)
            raise repeated_name(self.names[again], places[before], places[again] or Place(self.file))


def all_named(names: Sequence[Any], places: Sequence[Place | None], key: str = "") -> bool:
    """Whether documents have names (None is none). If only some of them have, they can be paired neither by name nor by order.
    `key` is what the first name stands under, where that is known."""
    without = next((k for k, name in enumerate(names) if name is None), None)
    there = next((k for k, name in enumerate(names) if name is not None), None)
    if without is None or there is None:
        return without is None
    other = places[there]
    line = f"document {there + 1}"
    if other is not None and other.line:
        line = f"{'row' if is_arrow_file(other.file) else 'line'} {other.line}"
    raise InputError(
        f"has no {repr(key) if key else 'id'}, and {line} has one; give all documents ids, or none", places[without]
    )


def names_of(documents: Sequence[Json], *keys: str) -> tuple[list[str], bool]:
    """What the documents of a file are called, each under the first of the keys that it has, and whether they are called anything: else
    these are their numbers, by which nothing may be paired. null is no name. If only some have a name, that is an error."""
    found = [one.get(*keys) for one in documents]
    key = next((str(one.key) for one in found if one is not None), "")
    named = all_named(found, [one.place for one in documents], key)
    return [str(k) if one is None else one.name() for k, one in enumerate(found, 1)], named


def repeated_name(name: object, before: Place | None, again: Place) -> InputError:
    """The error for a second document of one name."""
    kind = "row" if is_arrow_file(again.file) else "line"
    where = f" in {kind} {before.line}" if before is not None and before.line else ""
    return InputError(f"the document {name!r} is already used{where}; names must be unique", again)


def pair_sides(reference: Side[Any], predicted: Side[Any], absent: Missing | None = None) -> list[tuple[int, int]]:
    """The numbers of the documents that belong together, in the order of the reference; -1 where a side has none.

    A document that stands on one side only is an error, except where a file is partial or `absent` allows it; then a document
    that only the prediction has is ignored. One that a partial reference lacks comes at the end.
    """
    if not (reference.names or (reference.partial and predicted.names)):
        raise no_documents(reference.file)
    if not (reference.named and predicted.named):
        require_as_many(reference.file, len(reference.names), predicted.file, len(predicted.names), absent)
        return [(k, k) for k in range(len(reference.names))]
    reference.require_distinct()
    predicted.require_distinct()
    there = {key: k for k, key in enumerate(predicted.compared)}
    known = set(reference.compared)
    pairs = [(k, there.get(key, -1)) for k, key in enumerate(reference.compared)]
    extra = [k for k, key in enumerate(predicted.compared) if key not in known]
    missing = [] if predicted.partial else [reference.names[k] for k, other in pairs if other < 0]
    if reference.partial:
        pairs, extra = pairs + [(-1, k) for k in extra], []
    if missing or extra:
        names = [predicted.names[k] for k in extra]
        require_allowed(
            reference.file, predicted.file, missing, names, absent, none_paired=len(missing) == len(reference.names)
        )
    return pairs


def no_documents(file: str) -> InputError:
    """The error for a reference in which there is nothing to score."""
    return InputError("has no documents; expected at least one", file)


def require_as_many(reference: str, count: int, predicted: str, other: int, absent: Missing | None = None) -> None:
    """Documents that are paired by order are as many on both sides: which of them are missing, nobody could tell."""
    refuse_by_order(absent)
    if count != other:
        raise SidesMismatch(
            f"{reference} has {counted(count, 'document')} and {predicted} has {other:,}; without names "
            "in both they are paired by order, so the numbers must be equal"
        )


def refuse_by_order(absent: Missing | None) -> None:
    """What is missing among documents that are paired by order cannot be told."""
    if absent is not None and absent.asked:
        raise SidesMismatch(
            f"--missing {absent.policy} needs document ids in both files: without them the documents are paired by order, and nothing "
            "tells which ones are missing; add ids, or leave --missing out"
        )


def require_allowed(
    reference: str,
    predicted: str,
    missing: Sequence[Any],
    extra: Sequence[Any],
    absent: Missing | None,
    also: str = "",
    none_paired: bool = False,
) -> None:
    """Documents that stand on one side only are an error unless `absent` allows them, and then noted in it. `also` is what else
    the task has for them. If none is on both sides (`none_paired`), nothing is: their ids are others."""
    if not allowed(absent, missing, extra, none_paired):
        none_paired = none_paired and bool(extra)
        asked = absent is not None and absent.asked and not none_paired
        found = unmet_ids(missing, extra, asked)
        if none_paired:
            found = found.replace("the document ids differ", "the document ids differ, none is on both sides", 1)
        known = absent.remedies(missing, extra) if absent is not None and not none_paired else ()
        remedies = [*known, *([also] if also else [])]
        raise SidesMismatch("; ".join((f"{reference} and {predicted}: {found}", *remedies)))


@dataclass
class Documents(Generic[T]):
    """One file's documents by name, as its reader gives them; `texts` are for those who want to see them, where they were kept."""

    file: str
    format: str
    values: dict[str, T] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    named: bool = True
    partial: bool = False
    warnings: list[str] = field(default_factory=list)
    texts: dict[str, Any] = field(default_factory=dict)
    unit: str = ""
    """What the offsets count, where the format says it."""
    left_out: frozenset[str | None] = frozenset()
    """Documents that an annotator rejected: they are scored on neither side."""
    contents: dict[str, str] = field(default_factory=dict)
    """The texts of documents whose names are numbers that a tool gave them."""
    alone: InputError | None = None
    """What is wrong if the reference is this file too: nothing in it was predicted."""
    tokens: dict[str, int] = field(default_factory=dict)
    """A number for the tokens that offsets count, where they are known."""
    lengths: dict[str, int] = field(default_factory=dict)
    """How many these are."""

    def add(self, name: str, value: T, place: Place, text: Any = None, tokens: Sequence[str] = ()) -> None:
        """Put a document in; a name may stand for one document only. The `tokens` are what its offsets count, where they are known."""
        if name in self.values:
            raise repeated_name(name, self.places[name], place)
        self.values[name], self.places[name] = value, place
        if text is not None:
            self.texts[name] = text
        if tokens:
            self.tokens[name], self.lengths[name] = hash(tuple(tokens)), len(tokens)

    def note_duplicates(self, items: Callable[[T], Sequence[Hashable]], what: str, unless: str = "") -> None:
        """Say how many items of sets were given more than once; `unless` is who counts them as often."""
        extra = {name: len(found) - len(set(found)) for name, one in self.values.items() if (found := items(one))}
        where = next((name for name, count in extra.items() if count), None)
        if where is not None:
            many = counted(sum(extra.values()), f"duplicate {what}")
            self.warnings.append(f"{self.file}: {many} counted once{unless}, the first in {where}")

    def names_here(self, names: Sequence[str], named: bool, file: str) -> list[str | None]:
        """What the documents of another file are called in this one (None: it has no such document): the same, or, if one of the files
        has no names, what stands here in their order."""
        if self.named and named:
            return [name if name in self.values else None for name in names]
        require_as_many(self.file, len(self.values), file, len(names))
        return list(self.values)

    def beside(self, reference: Documents[T]) -> dict[str, str]:
        """What the documents of this prediction that have no tokens are called in a reference that has theirs."""
        named = self.named and reference.named
        pairs = zip(self.values, self.values if named else reference.values, strict=False)
        return {name: here for name, here in pairs if here in reference.lengths and name not in self.lengths}

    @property
    def side(self) -> Side[str]:
        return Side(self.file, list(self.values), list(self.places.values()), self.named, self.partial)


@frozen
class Paired(Generic[T]):
    """The documents of both sides in one order, what is to be said about them, and their texts where these were kept."""

    ids: tuple[Any, ...]
    reference: tuple[T, ...]
    predicted: tuple[T, ...]
    warnings: tuple[str, ...] = ()
    texts: Mapping[Any, Any] = field(default_factory=dict)
    places: Mapping[Any, Place] = field(default_factory=dict)
    """Where each document stands: the prediction, or, where it lacks one, the reference."""


def pair_documents(
    reference: Documents[T], predicted: Documents[T], nothing: Callable[[], T], absent: Missing | None = None
) -> Paired[T]:
    """Two files laid together; `nothing` is the document that a side lacks. See `pair_sides`."""
    if predicted.alone is not None and predicted.file == reference.file:
        raise predicted.alone
    if reference.unit and predicted.unit and reference.unit != predicted.unit:
        raise SidesMismatch(
            f"{reference.file} ({reference.format}) counts {reference.unit} and {predicted.file} ({predicted.format}) counts "
            f"{predicted.unit}: their spans cannot be compared"
        )
    if reference.left_out:
        kept = {name: one for name, one in predicted.values.items() if name not in reference.left_out}
        predicted = replace(predicted, values=kept, places={name: predicted.places[name] for name in kept})
    renamed = names_by_content(reference.contents, predicted.contents)
    if renamed:
        values = {renamed[name]: one for name, one in predicted.values.items()}
        places = {renamed[name]: one for name, one in predicted.places.items()}
        note = paired_by_text(reference.file, predicted.file)
        predicted = replace(
            predicted, values=values, places=places, texts={}, tokens={}, warnings=[*predicted.warnings, note]
        )
    sides = reference.side, predicted.side
    pairs = pair_sides(*sides, absent)
    left, right = list(reference.values.values()), list(predicted.values.values())
    return Paired(
        tuple(sides[0].names[k] if k >= 0 else sides[1].names[j] for k, j in pairs),
        tuple(left[k] if k >= 0 else nothing() for k, _ in pairs),
        tuple(right[j] if j >= 0 else nothing() for _, j in pairs),
        (*reference.warnings, *predicted.warnings, *by_order(*sides), *_other_tokens(reference, predicted, pairs)),
        {**_texts_here(reference, predicted), **reference.texts},
        places_of(reference, predicted, pairs),
    )


def by_order(reference: Side[Any], predicted: Side[Any]) -> list[str]:
    """What to say where one side has ids, and they are of no use."""
    if reference.named == predicted.named:
        return []
    there, bare = (reference, predicted) if reference.named else (predicted, reference)
    return [f"{bare.file} has no ids and {there.file} has; the documents are paired by order"]


def _texts_here(reference: Documents[Any], predicted: Documents[Any]) -> Mapping[str, Any]:
    """The texts of a prediction under the names that the reference has for its documents."""
    if reference.named and predicted.named:
        return predicted.texts
    ours = zip(predicted.values, reference.values, strict=False)
    return {name: predicted.texts[other] for other, name in ours if other in predicted.texts}


def _other_tokens(
    reference: Documents[Any], predicted: Documents[Any], pairs: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """What to say of documents that have other tokens on the other side: their offsets count something else."""
    ours, theirs = list(reference.values), list(predicted.values)
    both = [(ours[k], theirs[j]) for k, j in pairs if k >= 0 and j >= 0]
    known = [(k, j) for k, j in both if k in reference.tokens and j in predicted.tokens]
    unlike = [k for k, j in known if reference.tokens[k] != predicted.tokens[j]]
    if unlike:
        many = f"{counted(len(unlike), 'document')} {'has' if len(unlike) == 1 else 'have'} other tokens"
        yield f"{predicted.file}: {many} than in {reference.file}, the first {unlike[0]}; the offsets of both count tokens, and are compared as they are"


def names_by_content(reference: Mapping[str, str], predicted: Mapping[str, str]) -> dict[str, str]:
    """The reference's name of each predicted document, where no name is on both sides, and all texts are, each once; else nothing."""
    by_text = {text: name for name, text in reference.items()}
    texts = set(predicted.values())
    alike = len(by_text) == len(reference) == len(predicted) == len(texts) and texts == set(by_text)
    return (
        {name: by_text[text] for name, text in predicted.items()} if alike and not {*reference} & {*predicted} else {}
    )


def paired_by_text(reference: str, predicted: str) -> str:
    """What to say of documents that were paired so."""
    return f"{reference} and {predicted} have no document id in common and the same texts; the documents are paired by text"


def places_of(
    reference: Documents[Any], predicted: Documents[Any], pairs: Sequence[tuple[int, int]]
) -> dict[Any, Place]:
    """Where each pair of documents stands: the prediction, or, where it lacks one, the reference."""
    left, right = list(reference.places.items()), list(predicted.places.items())
    if not left and not right:  # documents from Python
        return {}
    return {(left[k] if k >= 0 else right[j])[0]: (right[j] if j >= 0 else left[k])[1] for k, j in pairs}


def check_kinds(reference: Any, predicted: Any, *kinds: type) -> None:
    """That both sides are sequences or mappings of documents of these kinds."""
    for name, side in (("reference", reference), ("predicted", predicted)):
        if isinstance(side, (str, bytes)) or not isinstance(side, Collection):
            raise ValueMismatch(
                f"{name}: expected a sequence of documents or a mapping by id, found {type(side).__name__}"
            )
        for key, one in side.items() if isinstance(side, Mapping) else enumerate(side):
            if not isinstance(one, kinds):
                expected = " or ".join(kind.__name__ for kind in kinds)
                raise ValueMismatch(f"{name}[{key!r}]: expected {expected}, found {type(one).__name__} {one!r:.60}")


def pair_values(reference: Any, predicted: Any, *kinds: type) -> Paired[Any]:
    """Documents from Python, of these kinds (none: of any): two mappings by id, or two sequences of one length."""
    if kinds:
        check_kinds(reference, predicted, *kinds)
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
        raise unknown_document(document, ids)
    return list(ids).index(document)


# Ids that come twice, noticed in bounded memory.
#
# Of each id only a number of 64 bits is kept. A full buffer is sorted and written to a temporary file; at the end the
# sorted runs are looked through side by side, a range of numbers at a time. Equal ids have equal numbers, so none is
# missed; two different ids with one number are told apart by whoever reads the file again to name the lines.

U64 = NDArray[np.uint64]

BUFFER = 1 << 17
"""So many numbers are held before they are written down: 1 MB."""
RANGES = 64
"""So many ranges of numbers are looked at one after the other."""


WIDTH = 64
"""Of ids that are written with so many bytes or fewer the numbers are found all at once."""


@cache
def _table() -> U64:
    """A number for each byte at each place, as if thrown with dice."""
    from hashlib import shake_256

    return np.frombuffer(shake_256(b"tallystick").digest(WIDTH * 256 * 8), "<u8").astype(np.uint64)


def stable_numbers(keys: Iterable[Any]) -> U64:
    """A number for each id that is the same in every process. 1 and "1" are different ids.

    It is what the bytes at their places have in the table, put together by exclusive or; a long id is replaced by a hash of it."""
    from hashlib import blake2b

    texts = list(map(repr, keys))
    if not texts:
        return np.zeros(0, np.uint64)
    together = "".join(texts)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    if together.isascii() and sizes.max() <= WIDTH:  # a byte a character
        joined = together.encode()
    else:
        written = [text.encode("utf-8", "surrogatepass") for text in texts]
        written = [one if len(one) <= WIDTH else blake2b(one, digest_size=WIDTH).digest() for one in written]
        sizes = np.fromiter(map(len, written), np.int64, len(written))
        joined = b"".join(written)
    starts = np.cumsum(sizes) - sizes
    data = np.frombuffer(joined, np.uint8)
    places = np.arange(len(data)) - np.repeat(starts, sizes)
    found: U64 = np.bitwise_xor.reduceat(_table()[places * 256 + data], starts)
    return found


class Repeats:
    """Numbers of ids as they come; `found` says which came more than once."""

    def __init__(self, buffer: int = BUFFER) -> None:
        self.count = 0
        self._buffer, self._held = np.empty(buffer, np.uint64), 0
        self._file: IO[bytes] | None = None
        self._runs: list[tuple[int, list[int]]] = []  # where a run begins, and where each range of numbers does in it

    def add(self, keys: Sequence[Any]) -> None:
        """Ids of this process."""
        self.add_numbers(np.fromiter(map(hash, keys), np.int64, len(keys)).view(np.uint64))

    def add_numbers(self, numbers: U64) -> None:
        self.count += len(numbers)
        while len(numbers):
            room = min(len(numbers), len(self._buffer) - self._held)
            self._buffer[self._held : self._held + room] = numbers[:room]
            self._held += room
            numbers = numbers[room:]
            if self._held == len(self._buffer):
                self._write()

    def _write(self) -> None:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="tallystick-ids-")  # noqa: SIM115 - it lives as long as this
        run = np.sort(self._buffer[: self._held])
        edges = np.array([k * 2**64 // RANGES for k in range(1, RANGES)], np.uint64)
        self._runs.append((self._file.tell(), [0, *np.searchsorted(run, edges).tolist(), len(run)]))
        self._file.write(run.tobytes())
        self._held = 0

    def found(self) -> U64:
        """The numbers that came more than once."""
        if self._file is None:
            return _twice(np.sort(self._buffer[: self._held]))
        self._write()
        twice = [_twice(np.sort(self._range(k))) for k in range(RANGES)]
        self._file.seek(0, 2)  # more may come
        return distinct(np.concatenate(twice))

    def _range(self, k: int) -> U64:
        """The numbers of one range, from all runs."""
        assert self._file is not None
        pieces = []
        for start, places in self._runs:
            self._file.seek(start + 8 * places[k])
            pieces.append(self._file.read(8 * (places[k + 1] - places[k])))
        return np.frombuffer(b"".join(pieces), np.uint64)

    def close(self) -> None:
        """Let the temporary file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    __del__ = close


def _twice(ordered: U64) -> U64:
    return distinct(ordered[1:][ordered[1:] == ordered[:-1]])


# Predictions that stand beside the reference in one file: `predicted_ner` beside `ner`, as DyGIE++ writes them.


DYGIE_GOLD: dict[Literal["spans", "relations", "events"], str] = {
    "spans": "ner", "relations": "relations", "events": "events",
}  # fmt: skip
"""Where the reference of a layer stands."""


class Unpredicted:
    """Whether a file given as the prediction has what a system predicted, or the reference's annotation alone.

    Where anything was predicted, the lack of this key is an error: the reference would be scored against itself.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.error: InputError | None = None
        """What is wrong with the first document that has the reference's annotation alone, if it must not be read as a prediction."""
        self._predicted: str | None = None

    def take(self, document: Mapping[str, Any], place: Place) -> None:
        """Look at a document."""
        wanted = f"predicted_{self.key}"
        if self.key.startswith("predicted_"):
            return
        names = [name for name in document if name.startswith("predicted_")]
        self._predicted = self._predicted or next(iter(names), None)
        if document.get(wanted) is None and self.error is None:
            self.error = InputError(
                f"has no {wanted!r}; expected what the system predicted, since {self.key!r} is the reference's", place
            )
        if self.error is not None and self._predicted is not None:
            raise self.error

    def note(self, file: str) -> str:
        """What to say about a file in which nothing was predicted."""
        return f"{file}: has no 'predicted_{self.key}'; its {self.key!r} was read as the prediction"

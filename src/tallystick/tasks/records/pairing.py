"""Two files of documents, laid against each other in portions.

Documents are paired by an id where both files have one, else by their order, and it is said which. As long as both files
have the same order nothing but the current portion is in memory (and, to notice an id that comes twice, a number for each
on disk); where the orders part, the rest of the predictions is found by an index of offsets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.engine.rows import Invalid
from tallystick.errors import InputError, Place, SidesMismatch, counted, some, unmet_ids
from tallystick.files.arrow import ArrowLines, open_records
from tallystick.files.lines import Lines, Portion
from tallystick.files.pairing import Missing, Repeats, allowed
from tallystick.tasks.records.files import LENIENT, UNKNOWN, Side
from tallystick.tasks.records.fitting import Unknown, settle
from tallystick.tasks.records.shapes import PLAIN, Shape, loose_converter


@dataclass(frozen=True)
class Batch:
    """Some documents of both sides, the k-th against the k-th."""

    ids: list[Any]
    references: Sequence[Any]
    predictions: Sequence[Any]


NO_PREDICTION = Invalid("has no prediction")


class Pairing:
    """Two files laid together. `how` says by what; ids that do not meet are an error, or, if lenient, `Invalid`."""

    def __init__(
        self,
        reference: Side,
        predicted: Side,
        *,
        id_named: bool = False,
        lenient: bool = False,
        absent: Missing | None = None,
    ) -> None:
        self.reference, self.predicted = reference, predicted
        self.id_named, self.lenient, self.absent = id_named, lenient, absent
        self.told_apart = absent is not None and absent.asked
        """Whether documents on one side only are told by whoever asked for them, and not as faults of the file."""
        self.filled = lenient or self.told_apart
        self.how = ""
        self.ignored: list[Any] = []
        self.unpaired = 0
        """Documents that only one side has, and lines that could not be read and are nobody's."""
        self.remarks: list[str] = []
        """What is to be said about how the files were read."""

    def decide(self) -> str:
        """By what documents are paired, from the first line of both files."""
        if not self.how:
            firsts = [self._first_id(side) for side in (self.reference, self.predicted)]
            self.how = "by id" if None not in firsts else "by order"
            if self.id_named and self.how == "by order":
                side = self.reference if firsts[0] is None else self.predicted
                name = side.id_field
                raise InputError(
                    f"has no text or number under {name!r}, which was to be its id", Place(side.lines.file, 1)
                )
        return self.how

    def _first_id(self, side: Side) -> Any:
        for portion in side.lines.portions():
            return side.identify(portion.lines[0])
        raise InputError("has no records; expected one JSON value a line", side.lines.file)

    def batches(self) -> Iterator[Batch]:
        """All documents, in the order of the reference."""
        findings = self.predicted.findings
        for batch in self._by_order() if self.decide() == "by order" else self._by_id():
            if self.predicted.unknown is None:
                yield batch
            else:
                yield Batch(
                    batch.ids,
                    *settle(batch.ids, batch.references, batch.predictions, findings, findings.unknown_counts),
                )

    def open(self, side: Side) -> Reader:
        """A side from its beginning."""
        return Reader(side)

    def _by_order(self) -> Iterator[Batch]:
        left, right = (self.open(side) for side in (self.reference, self.predicted))
        done = 0
        while True:
            numbers, _, references = left.take()
            _, _, predictions = right.take(len(references) or None)
            if len(references) != len(predictions) or not references:
                more = [
                    done + len(side) + reader.count() for side, reader in ((references, left), (predictions, right))
                ]
                if more[0] != more[1]:
                    raise SidesMismatch(
                        f"{self.reference.lines.file} has {more[0]:,} records and {self.predicted.lines.file} has "
                        f"{more[1]:,}; without ids in both they are paired by order, so the numbers must be equal"
                    )
                return
            self._note_invalid(numbers, predictions)
            done += len(references)
            yield Batch(numbers, references, predictions)

    def _by_id(self) -> Iterator[Batch]:
        left, right = (self.open(side) for side in (self.reference, self.predicted))
        first = Repeats()
        while True:
            numbers, keys, references = left.take()
            lines, others, predictions = right.take(len(references) or None)
            self._check(self.reference, numbers, keys)
            first.add(keys)
            same = len(keys) == len(others) and (
                keys == others or all(a == b or b is UNKNOWN for a, b in zip(keys, others, strict=True))
            )
            if not same:
                yield from self._indexed(left, right, first, (keys, references), (lines, others, predictions))
                return
            if not keys:
                self._refuse_repeats(first)
                return
            self._note_invalid(keys, predictions)
            yield Batch(keys, references, predictions)

    def _indexed(self, left: Reader, right: Reader, first: Repeats, ours: Any, theirs: Any) -> Iterator[Batch]:
        """The orders differ from here on: the predictions that are left, by id."""
        lines, others, predictions = theirs
        seen: dict[Any, int] = {}
        self._check(self.predicted, lines, others, seen)
        waiting = dict(zip(others, predictions, strict=True))
        waiting.pop(UNKNOWN, None)
        unread = [line for line, key in zip(lines, others, strict=True) if key is UNKNOWN]
        places = right.index(seen, unread)
        missing: list[Any] = []
        keys, references = ours
        while keys:
            found = []
            for key in keys:
                if key in waiting:
                    found.append(waiting.pop(key))
                elif key in places:
                    found.append(right.fetch(places.pop(key)))
                else:
                    missing.append(key)
                    found.append(NO_PREDICTION)
            if self.filled or not missing:
                self._note_invalid(keys, found)
                yield Batch(keys, references, found)
            numbers, keys, references = left.take()
            self._check(self.reference, numbers, keys)
            first.add(keys)
        self._refuse_repeats(first)
        self._settle_absent(missing, [key for key in (*waiting, *places) if key is not None], seen, unread)

    def _settle_absent(
        self, missing: list[Any], extra: list[Any], seen: Mapping[Any, int], unread: Sequence[int] = ()
    ) -> None:
        """Documents on one side only: an error, unless somebody asked for something else. `seen` are the lines of predicted
        ids; `unread` are lines that could not be read and are nobody's."""
        again = next((key for _, key in self._ids_of(self.reference, set(extra))), None)
        if again is not None:
            line = f"line {seen[again]}" if again in seen else "this file"
            raise InputError(
                f"the id {again!r} of {line} stood before already; ids must differ", self.predicted.lines.file
            )
        if (missing or extra) and not allowed(self.absent, missing, extra) and not self.lenient:
            said = unmet_ids(missing, extra)
            if self.absent is None:
                said += "; --lenient scores a missing prediction as nothing and ignores extra ones"
            raise SidesMismatch(f"{self.reference.lines.file} and {self.predicted.lines.file}: {said}")
        self.ignored = [] if self.told_apart else extra
        self.unpaired = len(missing) + len(extra) + len(unread)
        if unread:
            self.predicted.findings.unread += len(unread)
            self.predicted.findings.first_unread = str(self.predicted.place(unread[0]))

    def _check(self, side: Side, numbers: list[int], keys: list[Any], first: dict[Any, int] | None = None) -> None:
        """Every document has an id, and no two of those in `first` have the same."""
        if first is None and None not in keys:
            return
        for number, key in zip(numbers, keys, strict=True):
            if key is UNKNOWN:
                continue
            if key is None:
                raise InputError(
                    f"has no text or number under {side.id_field!r}, by which the first documents are paired",
                    side.place(number),
                )
            if first is None:
                continue
            if key in first:
                raise InputError(
                    f"the id {key!r} stood in line {first[key]} already; ids must differ", side.place(number)
                )
            first[key] = number

    def watch(self, ignored: Collection[str], promised: bool, count: bool) -> None:
        """From now on, look for keys that the shape does not know; in a reference of an inferred shape there are none."""
        self.predicted.unknown = Unknown(self.predicted.type, ignored, (self.predicted.id_field,))
        if promised:
            self.reference.unknown = Unknown(self.reference.type, ignored, (self.reference.id_field,))
        self.predicted.findings.unknown_counts = count

    def _refuse_repeats(self, first: Repeats) -> None:
        """No id of the reference may come twice; where numbers meet, the file is read again to see whether ids do."""
        numbers = set(first.found().tolist())
        lines: dict[Any, int] = {}
        for line, key in self._ids_of(self.reference, numbers, number=True) if numbers else ():
            if key in lines:
                raise InputError(
                    f"the id {key!r} stood in line {lines[key]} already; ids must differ", self.reference.place(line)
                )
            lines[key] = line

    def _ids_of(self, side: Side, wanted: Collection[Any], number: bool = False) -> Iterator[tuple[int, Any]]:
        """Where these ids stand in a file; `number` if they are given by their numbers."""
        if not wanted:
            return
        for portion in side.lines.portions():
            for line, text in zip(portion.numbers, portion.lines, strict=True):
                key = side.identify(text)
                if (hash(key) % (1 << 64) if number else key) in wanted:
                    yield line, key

    def _note_invalid(self, keys: list[Any], predictions: Sequence[Any]) -> None:
        for key, value in zip(keys, predictions, strict=True):
            if type(value) is Invalid and not (self.told_apart and value == NO_PREDICTION):
                self.predicted.findings.add_invalid(key, value.reason)

    def warnings(self) -> Iterator[str]:
        """What is to be said when all was read."""
        yield from self.remarks
        yield from self.predicted.findings.lines()
        if self.ignored:
            yield f"ignored, having no reference: {counted(len(self.ignored), 'prediction')}: {some(self.ignored)}"


class Reader:
    """One side, read as many documents at a time as the other side asks for."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.portions = side.lines.portions()
        self.rest: list[Portion] = []

    def take(self, count: int | None = None) -> tuple[list[int], list[Any], Sequence[Any]]:
        """Line numbers, ids and values of the next documents: a portion, or so many."""
        portion = self._lines(count)
        if not portion.lines:
            return [], [], []
        keys, values = self.side.read(portion)
        return portion.numbers, keys, values

    def _lines(self, count: int | None) -> Portion:
        numbers: list[int] = []
        lines: list[bytes] = []
        offsets: list[int] = []
        while count is None or len(lines) < count:
            portion = self.rest.pop() if self.rest else next(self.portions, None)
            if portion is None:
                break
            room = len(portion) if count is None else count - len(lines)
            numbers += portion.numbers[:room]
            lines += portion.lines[:room]
            offsets += portion.offsets[:room]
            if room < len(portion):
                self.rest.append(Portion(portion.numbers[room:], portion.lines[room:], portion.offsets[room:]))
            if count is None:
                break
        return Portion(numbers, lines, offsets)

    def count(self) -> int:
        """How many documents are left."""
        left = sum(map(len, self.rest)) + sum(map(len, self.portions))
        self.rest = []
        return left

    def index(self, seen: dict[Any, int], unread: list[int]) -> dict[Any, tuple[int, Any]]:
        """Where each document that is left stands: its line number, and its offset (or the line itself). Lines that cannot be
        read are put into `unread`."""
        places: dict[Any, tuple[int, Any]] = {}
        side = self.side
        while True:
            portion = self._lines(None)
            if not portion.lines:
                return places
            for number, line, offset in zip(portion.numbers, portion.lines, portion.offsets, strict=True):
                key = side.identify(line)
                if key is UNKNOWN:
                    unread.append(number)
                    continue
                if key is None:
                    side.read(Portion([number], [line], [offset]))  # says what is wrong with it
                    raise InputError(
                        f"has no text or number under {side.id_field!r}, by which the first documents are paired",
                        side.place(number),
                    )
                if key in seen:
                    raise InputError(
                        f"the id {key!r} stood in line {seen[key]} already; ids must differ", side.place(number)
                    )
                seen[key] = number
                places[key] = (number, offset if side.lines.seekable else line)

    def fetch(self, place: tuple[int, Any]) -> Any:
        """The document at a place of the index."""
        number, where = place
        line = self.side.lines.line_at(where) if isinstance(where, int) else where
        return self.side.read(Portion([number], [line], [0]))[1][0]


def lay_together(
    reference: str | Path | Lines,
    predicted: str | Path | Lines,
    shape: Shape = PLAIN,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    lenient: bool = False,
    credit: str = "each",
    absent: Missing | None = None,
) -> Pairing:
    """Two files of one shape, ready to be read in batches. Leniency is for predictions; a reference has to be right."""
    left, right = (open_records(one) for one in (reference, predicted))
    ours, theirs = shape.converters()
    if shape.schema is not None and credit == "each":
        theirs = loose_converter(shape.schema)  # where each field counts by itself, one that is not there is only that
    key = id_field or "id"
    kind = Pairing
    if isinstance(left, ArrowLines) or isinstance(right, ArrowLines):
        from tallystick.tasks.records.arrow import ArrowPairing

        kind = ArrowPairing
    return kind(
        Side(left, ours, shape.reference, key, credit=credit),
        Side(right, theirs, shape.predicted, key, text_field, lenient, not shape.promised, credit, advice=LENIENT),
        id_named=id_field is not None,
        lenient=lenient,
        absent=absent,
    )

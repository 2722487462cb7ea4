"""Two files of documents, laid against each other in portions.

Documents are paired by an id where both files have one, else by their order, and it is said which. As long as both files
have the same order nothing but the current portion is in memory (and, to notice an id that comes twice, a number for each
on disk); where the orders part, the rest of the predictions is found by an index of offsets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from tallystick.columns.unfit import Invalid, Surplus
from tallystick.errors import InputError, Place, SidesMismatch, some, unmet_ids
from tallystick.reading.arrow_files import ArrowLines, open_records
from tallystick.reading.json_text import TOO_DEEP, explained
from tallystick.reading.lines import Lines, Portion, not_json
from tallystick.reading.missing import Missing, allowed
from tallystick.reading.repeats import Repeats
from tallystick.reading.shapes import PLAIN, Shape, loose_converter
from tallystick.reading.unknown import Unknown, settle

MOST_LISTED = 1000
"""So many predictions that cannot be read are listed by name; all are counted."""

UNKNOWN = object()
"""The id of a prediction that cannot be read."""


@dataclass
class Findings:
    """What happened to predictions on their way in: repairs by kind, values that did not fit, what could not be read."""

    repairs: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    misfits: Counter[str] = field(default_factory=Counter)
    first_misfit: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    first_unknown: str = ""
    unknown_counts: bool = True
    invalid: list[tuple[Any, str]] = field(default_factory=list)
    invalids: int = 0
    unread: int = 0
    first_unread: str = ""

    def add_invalid(self, key: Any, reason: str) -> None:
        """Count what could not be read; the first ones are listed."""
        self.invalids += 1
        if len(self.invalid) < MOST_LISTED:
            self.invalid.append((key, reason))

    def add(self, other: Findings) -> None:
        """Put what was found in a later part of the file behind this."""
        self.repairs.update(other.repairs)
        self.repaired += other.repaired
        self.misfits.update(other.misfits)
        self.first_misfit = self.first_misfit or other.first_misfit
        self.unknown.update(other.unknown)
        self.first_unknown = self.first_unknown or other.first_unknown
        self.unknown_counts = other.unknown_counts
        self.invalid += other.invalid[: MOST_LISTED - len(self.invalid)]
        self.invalids += other.invalids
        self.unread += other.unread
        self.first_unread = self.first_unread or other.first_unread

    def note_unknown(self, key: Any, path: str, value: Any, times: int = 1) -> None:
        """Remember values under a key that the shape does not know."""
        self.unknown[path] += times
        self.first_unknown = self.first_unknown or f"document {key}: {path}: {value!r:.40}"

    def lines(self) -> Iterator[str]:
        """What a person is told."""
        if self.repaired:
            kinds = ", ".join(f"{kind} {times:,}" for kind, times in self.repairs.most_common())
            yield f"repaired: {_count(self.repaired, 'prediction')} ({kinds})"
        if self.misfits:
            total = sum(self.misfits.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.misfits.most_common(5))
            yield f"of the wrong kind, counted as wrong: {_count(total, 'value')} ({where}); the first: {self.first_misfit}"
        if self.unknown:
            total = sum(self.unknown.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.unknown.most_common(5))
            where += f" and {len(self.unknown) - 5:,} more" if len(self.unknown) > 5 else ""
            how = "counted as extra (--unknown ignore leaves them out)" if self.unknown_counts else "ignored"
            yield (
                f"under keys that the reference does not have, {how}: {_count(total, 'value')} ({where}); "
                f"the first: {self.first_unknown}"
            )
        if self.invalid:
            listed = "; ".join(f"{key}: {reason}" for key, reason in self.invalid[:5])
            more = f"; and {self.invalids - 5:,} more" if self.invalids > 5 else ""
            yield f"invalid, scoring nothing: {_count(self.invalids, 'prediction')} ({listed}{more})"
        if self.unread:
            yield f"cannot be read, and nobody's prediction: {_count(self.unread, 'line')}, the first: {self.first_unread}"

    def as_dict(self) -> dict[str, Any]:
        """The same for the JSON output."""
        return {
            "repaired": {"predictions": self.repaired, **self.repairs},
            "misfits": dict(self.misfits),
            "unknown": dict(self.unknown),
            "invalids": self.invalids,
            "unread": self.unread,
            "invalid": [{"document": key, "reason": reason} for key, reason in self.invalid],
        }


LENIENT = "; --lenient repairs what it can and counts the rest"


@dataclass
class Side:
    """One file's way from lines to values."""

    lines: Lines
    convert: Callable[[bytes], Any]
    type: Any
    id_field: str
    text_field: str | None = None
    lenient: bool = False
    tolerant: bool = False
    credit: str = "each"
    findings: Findings = field(default_factory=Findings)
    unknown: Unknown | None = None
    """Finds what the type does not know; None if nobody looks."""
    advice: str = ""
    """What can be done about a line that is not JSON."""

    def __post_init__(self) -> None:
        import msgspec
        from typing_extensions import TypedDict

        from tallystick.deriving import record_fields

        self._key: Callable[[Any], Any] | None = None
        fields = {} if self.type is None else record_fields(self.type) or {}
        if self.type is not None and self.id_field in fields and self.text_field is None:
            mapping = hasattr(self.type, "__required_keys__")
            self._key = itemgetter(self.id_field) if mapping else attrgetter(self.id_field)
        only_id = TypedDict("only_id", {self.id_field: Any}, total=False)  # type: ignore[misc]
        self._identify = msgspec.json.Decoder(only_id).decode
        self._plain = msgspec.json.Decoder().decode

    def read(self, portion: Portion) -> tuple[list[Any], list[Any]]:
        """The ids (None where there is none) and values of some lines."""
        if self.text_field is None:
            try:
                b"".join(portion.lines).decode()  # also what no field of the type holds has to be UTF-8
            except UnicodeDecodeError:  # some line is bad; one by one it is found and named
                pass
            else:
                return self._read_most(portion)
        pairs = [self._one(number, line) for number, line in zip(portion.numbers, portion.lines, strict=True)]
        return [key for key, _ in pairs], [value for _, value in pairs]

    def noted(self, value: Any, plain: Any) -> Any:
        """The value, with what the type does not know of the plain data that it was made of."""
        found = self.unknown.find(plain) if self.unknown is not None and type(value) is not Invalid else ()
        return Surplus(value, tuple(found)) if found else value

    def _read_most(self, portion: Portion) -> tuple[list[Any], list[Any]]:
        """Most lines are as they should be; the others are looked at one by one."""
        convert = self.convert
        try:
            values = list(map(convert, portion.lines))
            keys = self._ids(portion, values)
            return keys, self._all_noted(values, portion.lines)
        except Exception:  # said by `_one`
            pass
        keys, values = [], []
        good: list[int] = []
        for place, line in enumerate(portion.lines):
            try:
                value = convert(line)
                good.append(place)
                key = None
            except Exception:  # said by `_one`
                key, value = self._one(portion.numbers[place], line)
            keys.append(key)
            values.append(value)
        lines, fine = [portion.lines[k] for k in good], [values[k] for k in good]
        found = zip(self._ids(Portion([], lines, []), fine), self._all_noted(fine, lines), strict=True)
        for place, (key, value) in zip(good, found, strict=True):
            keys[place], values[place] = key, value
        return keys, values

    def _all_noted(self, values: list[Any], lines: Sequence[bytes]) -> list[Any]:
        return values if self.unknown is None else list(map(self.noted, values, map(self._plain, lines)))

    def _ids(self, portion: Portion, values: list[Any]) -> list[Any]:
        if self._key is not None:
            try:
                found = list(map(self._key, values))
            except KeyError:
                found = [value.get(self.id_field) for value in values]
        elif self.type is None:
            found = [value.get(self.id_field) if isinstance(value, dict) else None for value in values]
        else:
            found = [self.identify(line) for line in portion.lines]
        kinds = set(map(type, found))
        if kinds <= {str, int}:
            return found
        # a type may have made a date of it; documents are called what their lines call them
        return [
            key if type(key) in (str, int) else None if key is None else self.identify(line)
            for key, line in zip(found, portion.lines, strict=True)
        ]

    def identify(self, line: bytes) -> Any:
        """The id of one line, without reading the rest; `UNKNOWN` if the line cannot be read."""
        import msgspec

        if line.lstrip()[:1] != b"{":
            return UNKNOWN if self.lenient else None
        try:
            key = self._identify(line).get(self.id_field)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if not self.lenient:
                return None
            key = self._one(0, line, quiet=True)[0]
            return UNKNOWN if key is None else key
        return key if type(key) in (str, int) else None

    # One line, with everything that can go wrong.

    def _one(self, number: int, line: bytes, quiet: bool = False) -> tuple[Any, Any]:
        import msgspec

        findings, self.findings = self.findings, Findings() if quiet else self.findings
        try:
            if self.text_field is not None:
                return self._from_text_field(number, line)
            try:
                line.decode()
                value = self.convert(line)
                key = self._ids(Portion([number], [line], [0]), [value])[0]
                return key, self.noted(value, self._plain(line) if self.unknown is not None else None)
            except msgspec.ValidationError as error:
                problem = error
            except msgspec.DecodeError as error:
                if not self.lenient:
                    raise not_json(error, self.lines.file, number, line, self.advice) from None
                return self._noisy(number, line)
            except UnicodeDecodeError:
                if self.lenient:
                    return UNKNOWN, Invalid("is not UTF-8", line.decode("utf-8", "replace"))
                raise InputError("is not UTF-8; convert the file to UTF-8 first", self.place(number)) from None
            except RecursionError:
                if self.lenient:
                    return UNKNOWN, Invalid(TOO_DEEP, line.decode("utf-8", "replace"))
                raise InputError(TOO_DEEP, self.place(number)) from None
            except ValueError as error:  # pydantic's, told by our converter
                problem = error  # type: ignore[assignment]
            if not (self.lenient or self.tolerant):
                raise InputError(str(problem), self.place(number)) from None
            try:
                value = self._plain(line)
            except msgspec.DecodeError as error:
                if not self.lenient:
                    raise not_json(error, self.lines.file, number, line, self.advice) from None
                return self._noisy(number, line)
            return self.fitted(number, value)
        finally:
            self.findings = findings

    def place(self, number: int) -> Place:
        return Place(self.lines.file, number)

    def _noisy(self, number: int, line: bytes) -> tuple[Any, Any]:
        from tallystick.reading.repair import Unreadable, read_noisy

        text = line.decode("utf-8", "replace")
        try:
            value, repairs = read_noisy(text)
        except Unreadable as error:
            return UNKNOWN, Invalid(str(error), text)
        self.findings.repaired += 1
        self.findings.repairs.update(repairs)
        return self.fitted(number, value)

    def _from_text_field(self, number: int, line: bytes) -> tuple[Any, Any]:
        """A line such as {"id": ..., "output": "```json ..."}: the prediction is a text inside."""
        import msgspec

        from tallystick.reading.repair import Unreadable, read_noisy

        try:
            line.decode()
            outer = self._plain(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise not_json(error, self.lines.file, number, line) from None
        if not isinstance(outer, dict) or self.text_field not in outer:
            known = ", ".join(map(str, outer)) if isinstance(outer, dict) else type(outer).__name__
            raise InputError(f"has no field {self.text_field!r}, found {known}", self.place(number))
        key, inner = outer.get(self.id_field), outer[self.text_field]
        key = key if type(key) in (str, int) else None
        if isinstance(inner, str):
            try:
                if self.lenient:
                    value, repairs = read_noisy(inner)
                    self.findings.repaired += bool(repairs)
                    self.findings.repairs.update(repairs)
                else:
                    value = self._plain(inner)
            except Unreadable as error:
                return key, Invalid(str(error), inner)
            except (msgspec.DecodeError, RecursionError) as error:
                raise InputError(
                    f"the text under {self.text_field!r} {explained(error, inner)}; --lenient repairs what it can",
                    self.place(number),
                ) from None
        elif inner is None and self.lenient:
            return key, Invalid(f"has null under {self.text_field!r}")
        else:
            value = inner
        found, value = self.fitted(number, value)
        return found if key is None else key, value

    def fitted(self, number: int, value: Any) -> tuple[Any, Any]:
        """A decoded value as a value of the type, as far as it goes."""
        key, found = self._fitted(number, value)
        return key, self.noted(found, value)

    def _fitted(self, number: int, value: Any) -> tuple[Any, Any]:
        import msgspec

        key = value.get(self.id_field) if isinstance(value, dict) else None
        key = key if type(key) in (str, int) else None
        if self.type is None:
            return key, value
        try:
            return key, self.convert(msgspec.json.encode(value))
        except (ValueError, msgspec.ValidationError) as error:
            if not (self.lenient or self.tolerant):
                raise InputError(str(error), self.place(number)) from None
        from tallystick.deriving import record_fields
        from tallystick.reading.fitting import Fitting

        if record_fields(self.type) is not None and not isinstance(value, dict):
            kind = "a list" if isinstance(value, list) else type(value).__name__
            return key, Invalid(f"expected an object, found {kind}", str(value))
        fitting = Fitting(self.credit)
        value = fitting.fit(value, self.type)
        import re

        for path, what in fitting.findings:
            self.findings.misfits[re.sub(r"\[\d+\]", "[*]", path)] += 1
            self.findings.first_misfit = self.findings.first_misfit or f"{self.place(number)}: {path}: {what}"
        return key, value


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
            yield f"ignored, having no reference: {_count(len(self.ignored), 'prediction')}: {some(self.ignored)}"


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
        from tallystick.reading.arrow_pairing import ArrowPairing

        kind = ArrowPairing
    return kind(
        Side(left, ours, shape.reference, key, credit=credit),
        Side(right, theirs, shape.predicted, key, text_field, lenient, not shape.promised, credit, advice=LENIENT),
        id_named=id_field is not None,
        lenient=lenient,
        absent=absent,
    )


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")

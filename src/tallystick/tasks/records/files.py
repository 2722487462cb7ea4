"""Two files of documents, laid against each other in portions.

Documents are paired by an id where both files have one, else by their order, and a note says which. As long as both files
have the same order nothing but the current portion is in memory (and, to notice an id that comes twice, a number for each
on disk); where the orders part, the rest of the predictions is found by an index of offsets.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import isclass
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import Any

import msgspec
import numpy as np
from typing_extensions import TypedDict

from tallystick.algebra.derive import Shape, json_keys, record_fields, shape_of
from tallystick.algebra.node import Node
from tallystick.algebra.surplus import Place as KnownKeys
from tallystick.algebra.surplus import accept_value, settle_unknown
from tallystick.engine.data import Nullable, Record, Rows, as_objects, split_surplus
from tallystick.engine.values import ABSENT_PREDICTION, Invalid, Refusals, Surplus
from tallystick.errors import InputError, Place, SidesMismatch, counted, some
from tallystick.files.confidences import Confidences, wrapping_key
from tallystick.files.documents import (
    MISSING,
    HeldLines,
    PickedLines,
    are_documents_by_id,
    are_named,
    found_instead,
    has_any_id,
    hold_values,
    holds_documents,
    is_wrong_id,
    one_object,
    open_documents,
    read_path,
    wrong_id,
)
from tallystick.files.json_values import (
    TOO_DEEP,
    Unreadable,
    collector_paused,
    id_of,
    key_marks,
    read_noisy,
    refuse_deep,
    repeated_key,
    repeated_key_of,
    says_repeated,
    try_decode,
)
from tallystick.files.lines import ArrowLines, Lines, Portion
from tallystick.files.pairing import Missing, Repeats, Side, allowed, by_order, refuse_by_order, require_allowed
from tallystick.frozen import frozen
from tallystick.tasks.records.fitting import (
    Findings,
    Fitting,
    fills_in,
    has_written_keys,
    kind_of,
    whole_numbers,
    written,
)
from tallystick.tasks.records.shapes import RecordShape, column_decoder, decoder_of, loose_converter, strict_decoder
from tallystick.tasks.records.task import RecordSettings

# One file of documents on its way from lines to values, strictly or leniently; nothing of it is dropped without a word.

UNREADABLE = object()
"""The id of a prediction that cannot be read."""
NO_DOCUMENT = object()
"""The id of the first document where there is none."""
FEW_LINES = 64
"""So few are read one by one."""
LUCK = 2
"""After so many portions in a row with a line that is not as it should be, further ones are expected to have such lines, too."""
WALKED = 8
"""In so few documents unknown keys are looked for one by one."""
LENIENT = "; --lenient repairs what it can and counts the rest"


@dataclass
class RecordFile:
    """One file's way from lines to values."""

    lines: Lines
    convert: Callable[[bytes], Any]
    type: Any
    id_field: str = "id"
    lenient: bool = False
    tolerant: bool = False
    credit: str = "each"
    findings: Findings = field(default_factory=Findings)
    unknown: KnownKeys | None = None
    """Finds what the type does not know; None: not looked for."""
    metric: Node | None = None
    """Says what of a value that does not fit its type can be compared."""
    advice: str = ""
    """What can be done about a line that is not JSON."""
    ignored: Collection[str] = ()
    """Paths at which nothing is compared, and at which no kind is wrong."""
    confidences: Confidences | None = None
    """Takes apart how sure a prediction says it is of its values, where that was asked for."""
    counts_repeated: bool = False
    """Whether keys that stand twice in one object are counted, as they are in predictions; else they are an error."""

    def __post_init__(self) -> None:
        self._key: Callable[[Any], Any] | None = None
        self._strict: tuple[KnownKeys | None, Callable[[bytes], Any] | None] | None = None
        self._columns: tuple[KnownKeys | None, Callable[[Sequence[bytes]], Record] | None] | None = None
        self._luck = LUCK
        self._fills_in = self.type is not None and _fills_in(self.type)
        self._as_written = self.type is None or (
            hasattr(self.type, "__required_keys__") and has_written_keys(self.type)
        )
        found = None if self.type is None else record_fields(self.type)
        self._is_record, fields = found is not None, found or {}
        if self.id_field in fields:
            mapping = hasattr(self.type, "__required_keys__")
            self._key = itemgetter(self.id_field) if mapping else attrgetter(self.id_field)
        only_id = TypedDict("only_id", {self.id_field: Any}, total=False)  # type: ignore[misc]
        self._identify = decoder_of(only_id)
        self.wrong_id = False
        """Whether some line has a number that is not whole, or a truth value, for its id."""
        self._plain = msgspec.json.Decoder().decode

    def again(self, values: Sequence[Any], name: str) -> RecordFile:
        """Documents in memory that are read as those of this file."""
        self._strict_decoder()  # which is made once
        other = copy(self)
        other.lines, other.findings = hold_values(values, name, text=self.type is not str), Findings()
        return other

    def place(self, number: int) -> Place:
        """A line of the file."""
        return self.lines.place(number)

    def read(self, portion: Portion) -> tuple[list[Any], Sequence[Any]]:
        """The ids (None where there is none) and values of some lines."""
        with collector_paused():
            return self._read(portion)

    def _read(self, portion: Portion) -> tuple[list[Any], Sequence[Any]]:
        data = b"".join(portion.lines)
        try:
            data.decode()  # also what no field of the type holds has to be UTF-8
            one_by_one = self.confidences is not None
        except UnicodeDecodeError:  # some line is bad; one by one it is found and named
            one_by_one = True
        values: Sequence[Any]
        if one_by_one:
            self._note_repeated(portion, data)
            pairs = [self._one(number, line) for number, line in zip(portion.numbers, portion.lines, strict=True)]
            keys, values = [key for key, _ in pairs], [value for _, value in pairs]
        else:
            keys, values = self._read_most(portion, data)
        keys = named(portion, keys)
        self._refuse_wrong_ids(portion, keys)
        return keys, values

    def _note_repeated(self, portion: Portion, data: bytes, values: Sequence[Any] | None = None) -> None:
        """Look for keys that stand twice in one object. What is decoded and written anew has each key once, so that only lines with more
        marks of keys are looked at closely: of all lines at once first. `values` are what was decoded, if that has every key and no other."""
        with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError, OverflowError, TypeError):
            marks = key_marks(data)
            if values is not None and self._as_written and marks <= key_marks(msgspec.json.encode(values)):
                return
            if marks <= key_marks(msgspec.json.encode(self._plain(b"[" + b",".join(portion.lines) + b"]"))):
                return
        for number, line in zip(portion.numbers, portion.lines, strict=True):
            try:
                key = repeated_key_of(line, self._plain(line))
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                continue  # no JSON, of which something else is said
            if key is not None:
                self._repeated(key, number)

    def _repeated(self, key: str, number: int) -> None:
        if not self.counts_repeated:
            raise InputError(says_repeated(key), self.place(number))
        self.findings.note_repeated(key, self.place(number))

    def _read_columns(self, lines: Sequence[bytes]) -> tuple[list[Any], Rows] | None:
        """The ids and columns of flat records that are all as they should be; None of others."""
        if self._columns is None or self._columns[0] is not self.unknown:
            usable = self._key is not None and (self.unknown is None or self._strict_decoder() is not None)
            self._columns = self.unknown, column_decoder(self.type, self.unknown) if usable else None
        decode = self._columns[1]
        if decode is None or len(lines) < FEW_LINES or self._luck < 0:
            return None
        try:
            found = decode(lines)
        except Exception:  # line by line it is found out what is wrong
            self._luck -= 1
            return None
        self._luck = min(self._luck + 1, LUCK)
        keys = list(as_objects(found.fields[self.id_field]))
        return (keys, Rows(found)) if set(map(type, keys)) <= {str, int} else None

    def _read_most(self, portion: Portion, data: bytes) -> tuple[list[Any], Sequence[Any]]:
        """Most lines are as they should be; the others are looked at one by one. `data` are all of them."""
        flat = self._read_columns(portion.lines)
        if flat is not None:
            if key_marks(data) != len(portion.lines) * len(record_fields(self.type) or ()):
                self._note_repeated(portion, data)  # else every line has every key, and none of them twice
            return flat
        convert = self.convert
        values: list[Any] | None = None
        with suppress(Exception):  # `_one` says what is wrong
            values = list(map(convert, portion.lines))
        self._note_repeated(portion, data, values)
        if values is not None:
            with suppress(Exception):
                deque(map(refuse_deep, portion.lines), maxlen=0)
                keys = self._ids(portion.lines, values)
                return keys, self._with_unknown(values, portion.lines)
        keys, values = [], []
        good: list[int] = []
        for place, line in enumerate(portion.lines):
            try:
                value = convert(line)
                refuse_deep(line)
                good.append(place)
                key = None
            except Exception:  # `_one` says what is wrong
                key, value = self._one(portion.numbers[place], line)
            keys.append(key)
            values.append(value)
        lines, fine = [portion.lines[k] for k in good], [values[k] for k in good]
        found = zip(self._ids(lines, fine), self._with_unknown(fine, lines), strict=True)
        for place, (key, value) in zip(good, found, strict=True):
            keys[place], values[place] = key, value
        return keys, values

    def add_unknown(self, value: Any, plain: Any) -> Any:
        """The value, with what the type does not know of the plain data that it was made of."""
        if self.unknown is None or type(value) is Invalid:
            return value
        if self.metric is not None and self._fills_in and type(value) is not Surplus:
            value = written(value, plain, self.type, self.metric.summed)
        known, leaves = (value.value, value.leaves) if type(value) is Surplus else (value, ())
        leaves += tuple(self.unknown.find(plain))
        if leaves:
            self.findings.look_inside(plain, self.unknown.known)
        return Surplus(known, leaves) if leaves else value

    def _with_unknown(self, values: list[Any], lines: Sequence[bytes]) -> list[Any]:
        if self.unknown is None:
            return values
        # To make a decoder takes as long as to walk over some ten documents.
        strict = self._strict_decoder() if self._strict is not None or len(lines) > WALKED else None
        if strict is None:
            return list(map(self.add_unknown, values, map(self._plain, lines)))
        try:
            deque(map(strict, lines), maxlen=0)
            return values
        except Exception:  # some line has to be looked at
            pass
        out = []
        for value, line in zip(values, lines, strict=True):
            try:
                strict(line)
            except Exception:
                value = self.add_unknown(value, self._plain(line))
            out.append(value)
        return out

    def _strict_decoder(self) -> Callable[[bytes], Any] | None:
        """Takes lines without anything that is unknown; None where every line has to be looked at."""
        if self._strict is None or self._strict[0] is not self.unknown:
            found = None
            if self.unknown is not None and self.type is not None and not (self.metric is not None and self._fills_in):
                found = strict_decoder(self.unknown, self.type)
            self._strict = self.unknown, found
        return self._strict[1]

    def _ids(self, lines: Sequence[bytes], values: list[Any]) -> list[Any]:
        if self._key is not None:
            try:
                found = list(map(self._key, values))
            except KeyError:
                found = [value.get(self.id_field) for value in values]
        elif self.type is None:
            found = [value.get(self.id_field) if isinstance(value, dict) else None for value in values]
        else:
            found = list(map(self.identify, lines))
        if set(map(type, found)) <= {str, int}:
            return found
        # a type may have made a date of it; documents are called what their lines call them
        return [
            key if type(key) in (str, int) else None if key is None else self.identify(line)
            for key, line in zip(found, lines, strict=True)
        ]

    def identify_all(self, portion: Portion) -> list[Any]:
        """The ids of some lines."""
        if portion.names is not None and None not in portion.names:
            return portion.names
        keys = named(portion, list(map(self.identify, portion.lines)))
        self._refuse_wrong_ids(portion, keys)
        return keys

    def _id(self, found: Any) -> Any:
        self.wrong_id = self.wrong_id or is_wrong_id(found)
        return id_of(found)

    def _refuse_wrong_ids(self, portion: Portion, keys: Sequence[Any]) -> None:
        """A number that is not whole and a truth value are no ids, and no fields that happen to be called so. Leniently, they are none at all."""
        if not self.wrong_id or self.lenient:
            return
        nameless = [k for k, key in enumerate(keys) if key is None]
        for number, line in ((portion.numbers[k], portion.lines[k]) for k in nameless):
            found = self._identify(line).get(self.id_field) if line.lstrip()[:1] == b"{" else None
            if is_wrong_id(found):
                raise wrong_id(self.id_field, found, self.place(number))

    def found_instead(self, number: int | None = None) -> str:
        """What the document of a line, or the first, has in the place of an id, for a message."""
        if self.lines.name == "-":
            return ""
        there = (one for portion in self.lines.portions() for one in zip(portion.numbers, portion.lines, strict=True))
        line = next((line for at, line in there if number in (at, None)), b"")
        (value,) = try_decode(line) or (None,)
        return found_instead(value, self.id_field)

    def identify(self, line: bytes) -> Any:
        """The id of one line, without reading the rest; `UNREADABLE` if the line cannot be read."""
        first = line.lstrip()[:1]
        if first != b"{" and not (first == b'"' and self.lenient):
            return UNREADABLE if self.lenient else None
        try:
            return self._id(self._identify(line).get(self.id_field))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if not self.lenient:
                return None
            key = self._one(0, line, quiet=True)[0]
            return UNREADABLE if key is None else key

    @property
    def is_named_inside(self) -> bool:
        """Whether documents that have names outside of themselves, in memory, repeat these under their own ids."""
        lines = self.lines
        if not isinstance(lines, HeldLines) or not lines.names:
            return False
        pairs = zip(lines.names, lines.documents, strict=True)
        return all(name is not None and str(self.identify(line)) == str(name) for name, line in pairs)

    def check_ids(self, numbers: Sequence[int], keys: Sequence[Any], first: dict[Any, int] | None = None) -> None:
        """Every document has an id, and no two of those in `first` have the same."""
        if first is None and None not in keys:
            return
        for number, key in zip(numbers, keys, strict=True):
            if key is None:
                raise InputError(
                    f"has no text or number under {self.id_field!r}, which pairs the other documents{self.found_instead(number)}",
                    self.place(number),
                )
            if first is None or key is UNREADABLE:
                continue
            if key in first:
                raise self.repeated_id(key, first[key], number)
            first[key] = number

    def repeated_id(self, key: Any, before: int, number: int) -> InputError:
        """The error about an id that comes twice."""
        return InputError(f"the id {key!r} is already used in line {before}; ids must be unique", self.place(number))

    # One line, with everything that can go wrong.

    def _one(self, number: int, line: bytes, quiet: bool = False) -> tuple[Any, Any]:
        findings, self.findings = self.findings, Findings() if quiet else self.findings
        try:
            return self._from_line(number, line)
        finally:
            self.findings = findings

    def _without_confidences(self, number: int, line: bytes) -> tuple[Any, Any]:
        """The id and value of a line whose confidences are taken apart."""
        assert self.confidences is not None
        try:
            line.decode()
            value = self._plain(line)
            refuse_deep(line)
        except msgspec.DecodeError as error:
            if not self.lenient:
                raise self.lines.not_json(error, number, line, self.advice) from None
            value = self.read_noisy(line.decode("utf-8", "replace"), always=True, number=number)
        except (UnicodeDecodeError, RecursionError) as error:
            return self._give_up(number, line, error)
        if self.lenient and isinstance(value, str) and self._is_record:
            value = self.read_noisy(value, number=number)
        if type(value) is Invalid:
            return UNREADABLE, value
        beside = MISSING
        if isinstance(self.lines, PickedLines):
            beside, self.confidences.around = self.lines.found_beside.get(number, MISSING), self.lines.keys
        return self.fit(
            number, self.confidences.take(value, number, self.place(number), known=self.unknown, beside=beside)
        )

    def _from_line(self, number: int, line: bytes) -> tuple[Any, Any]:
        if self.confidences is not None:
            return self._without_confidences(number, line)
        try:
            line.decode()
            value = self.convert(line)
            refuse_deep(line)
            return self._ids([line], [value])[0], self._with_unknown([value], [line])[0]
        except msgspec.ValidationError:
            pass
        except msgspec.DecodeError as error:
            return self._repair(number, line, error)
        except (UnicodeDecodeError, RecursionError) as error:
            return self._give_up(number, line, error)
        except ValueError:  # pydantic's, as our converter words it
            pass
        try:
            value = self._plain(line)
            refuse_deep(line)
        except msgspec.DecodeError as error:
            return self._repair(number, line, error)
        except RecursionError as error:
            return self._give_up(number, line, error)
        return self.fit(number, value)

    def _give_up(self, number: int, line: bytes, error: Exception) -> tuple[Any, Any]:
        what, advice = (TOO_DEEP, "") if isinstance(error, RecursionError) else NOT_UTF8
        if self.lenient:
            return UNREADABLE, Invalid(what, line.decode("utf-8", "replace"))
        raise InputError(what + advice, self.place(number)) from None

    def _repair(self, number: int, line: bytes, error: Exception) -> tuple[Any, Any]:
        if not self.lenient:
            raise self.lines.not_json(error, number, line, self.advice) from None
        value = self.read_noisy(line.decode("utf-8", "replace"), always=True, number=number)
        return (UNREADABLE, value) if type(value) is Invalid else self.fit(number, value)

    def read_noisy(self, text: str, always: bool = False, number: int = 0) -> Any:
        """What a model's text holds, or `Invalid`; with `always` it counts as repaired even if nothing had to be changed."""
        try:
            value, repairs = read_noisy(text, None if self.type is None else self._misfit)
        except Unreadable as error:
            return Invalid(str(error), text)
        self.findings.note_repairs(repairs, always or bool(repairs), number)
        key = repeated_key(text)
        if key is not None:
            self._repeated(key, number)
        return value

    def _misfit(self, value: Any) -> float:
        """How badly a value fits the type: what is of another kind, unknown, or not there."""
        if self.confidences is not None:
            value = Confidences(self.confidences.key).take(value, 0, self.place(0), known=self.unknown)
        fields = shape_of(self.type).keys
        if isinstance(value, list) == (fields is not None):
            return float("inf")
        fitting = Fitting("each")
        fitting.fit(value, self.type)
        called = {} if fields is None else json_keys(shape_of(self.type).origin)
        absent = sum(not any(key in value for key in called.get(name, (name,))) for name in fields or ())
        unknown = 0 if self.unknown is None else len(self.unknown.find(value))
        return len(fitting.findings) + unknown + absent

    def fit(self, number: int, value: Any) -> tuple[Any, Any]:
        """The id of a decoded value, and the value as one of the type, as far as it fits."""
        if self.lenient and isinstance(value, str) and self._is_record:  # a model's text, in JSON's quotation marks
            value = self.read_noisy(value, number=number)
            if type(value) is Invalid:
                return UNREADABLE, value
        key = self._id(value.get(self.id_field)) if isinstance(value, dict) else None
        return key, self.add_unknown(value if self.type is None else self._fit(number, value), value)

    def _fit(self, number: int, value: Any) -> Any:
        try:
            return self.convert(msgspec.json.encode(value))
        except (ValueError, msgspec.ValidationError) as error:
            problem = error
        with suppress(ValueError, msgspec.ValidationError):
            return self.convert(msgspec.json.encode(whole_numbers(value)))
        if self._is_record and not isinstance(value, dict):
            if not (self.lenient or self.tolerant):
                raise InputError(str(problem), self.place(number)) from None
            return Invalid(self.lines.why_invalid(number, kind_of(value)), str(value))
        fitting = Fitting(self.credit)
        found, refusals = fitting.fit(value, self.type), Refusals()
        if self.metric is not None:
            found, refusals = accept_value(self.metric, found)
        if not fitting.findings and not (self.lenient or self.tolerant):
            raise InputError(str(problem), self.place(number)) from None
        for k, (path, what) in enumerate(fitting.findings):
            general = re.sub(r"\[\d+\]", "[*]", path)
            if general in refusals.asked or self._ignores(general):
                continue  # the kind is the business of whoever was asked, or nobody's
            if not (self.lenient or self.tolerant):  # the converter names the first only, which may be fine
                raise InputError(f"{path}: {what}" if k else str(problem), self.place(number)) from None
            self.findings.note_misfit(general, f"{self.place(number)}: {path}: {what}")
            self.findings.wrapping = self.findings.wrapping or wrapping_key(value) or ""
        for path, what in refusals.wrong:
            self.findings.note_misfit(path, f"{self.place(number)}: {path}: {what!r:.40}")
        return Surplus(found, tuple(refusals.leaves)) if refusals.leaves else found

    def _ignores(self, path: str) -> bool:
        return any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in self.ignored)


def _fills_in(type_: Any) -> bool:
    known: Any = _class_fills_in if isclass(type_) else fills_in
    return bool(known(type_))


@lru_cache(maxsize=64)
def _class_fills_in(type_: Any) -> bool:
    return fills_in(type_)


NOT_UTF8 = "is not UTF-8", "; convert the file to UTF-8 first"


def named(portion: Portion, keys: list[Any]) -> list[Any]:
    """The ids of some lines: what they are called outside of themselves, else what they say."""
    if portion.names is None:
        return keys
    return [key if name is None else name for name, key in zip(portion.names, keys, strict=True)]


# Two files laid against each other.

NO_PREDICTION = Invalid(ABSENT_PREDICTION)


@frozen
class Batch:
    """Some documents of both sides, the k-th against the k-th."""

    ids: list[Any]
    references: Sequence[Any]
    predictions: Sequence[Any]


def _without(values: Sequence[Any], paths: Collection[str]) -> Sequence[Any]:
    """Documents without what is at these paths, through objects."""
    if isinstance(values, Rows):
        known = values.data
        if not isinstance(known, Record):
            return values
        return Rows(Record({name: one for name, one in known.fields.items() if name not in paths}, len(known)))
    return [_without_keys(value, paths) for value in values]


def _without_keys(value: Any, paths: Collection[str]) -> Any:
    if type(value) is not dict:
        return value
    kept = {key: one for key, one in value.items() if key not in paths}
    for name, _, rest in (path.partition(".") for path in paths):
        if rest and name in kept:
            kept[name] = _without_keys(kept[name], (rest,))
    return kept


class Pairing:
    """Two files laid together. `how` says by what; ids that do not meet are an error, or, if lenient, `Invalid`."""

    def __init__(
        self, reference: RecordFile, predicted: RecordFile, *, id_named: bool = False, missing: Missing | None = None
    ) -> None:
        self.reference, self.predicted = reference, predicted
        predicted.counts_repeated = True
        self.id_named, self.missing = id_named, missing or Missing()
        self.noted_elsewhere = self.missing.asked
        """Whether documents that were not answered are for `missing` to report, and no faults of the file."""
        self.fills_gaps = predicted.lenient or self.noted_elsewhere
        self.how = ""
        self.nameless = False
        """Whether only references have ids, which no prediction was asked for."""
        self.ignored: list[Any] = []
        self.unpaired = 0
        """Documents that only one side has, and unreadable lines without an id."""
        self.remarks: list[str] = []
        """How the files were read."""
        self.left_out: Collection[Any] = ()
        """Documents of the reference that are skipped."""
        self.without: Collection[str] = ()
        """Paths of ids that are taken out of both sides: these are compared as a whole."""

    def decide(self) -> str:
        """By what documents are paired: by ids if any document of both files has one. A prediction without any document lacks those of the reference."""
        if not self.how:
            here = self._has_ids(self.reference)
            if here is None:
                raise InputError("has no records; expected one JSON value a line", self.reference.lines.file)
            there = self._has_ids(self.predicted)
            if there is None and self.predicted.lenient and not self.missing.asked:  # a whole file is more than a gap
                what = "has no records; expected one JSON value a line (--missing empty counts what was not answered as empty answers)"
                raise InputError(what, self.predicted.lines.file)
            named = [here, here if there is None else there]
            self.how = "by id" if all(named) else "by order"
            self.nameless = named == [True, False]
            sides = zip((self.reference, self.predicted), named, strict=True)
            said = by_order(*(Side(side.lines.file, (), named=one) for side, one in sides))
            several = said and len(list(islice(self.open(self.reference).ids(), 2))) > 1
            self.remarks += said if several else []  # of one document it is known where it belongs
            if self.id_named and self.how == "by order":
                side = self.predicted if named[0] else self.reference
                other = "" if self.reference.id_field != self.predicted.id_field else (
                    "; if the two files call their ids differently, name those of REFERENCE with --reference-id"
                )  # fmt: skip
                raise InputError(
                    f"has no text or number under {side.id_field!r}, which should be its id{side.found_instead()}{other}",
                    side.place(1),
                )
        return self.how

    def _has_ids(self, side: RecordFile) -> bool | None:
        """Whether any document has an id; mostly the first one has. None if there is no document."""
        first = self.open(side).first_id()
        if first is NO_DOCUMENT:
            return None
        keys = chain((first,), (key for _, key in self.open(side).ids()) if first in (None, UNREADABLE) else ())
        return any(key is not None and key is not UNREADABLE for key in keys)

    def watch_keys(self, known: KnownKeys, promised: bool, count: bool) -> None:
        """From now on, look for keys that the shape does not know; in a reference of an inferred shape there are none."""
        for side in (self.reference, self.predicted) if promised else (self.predicted,):
            side.unknown = known.and_also((side.id_field,))
        self.predicted.findings.unknown_counts = count

    def again(self, reference: Sequence[Any], predicted: Sequence[Any], lenient: bool) -> Pairing:
        """Other documents in memory of the same shape, read, paired and looked at as these are."""
        left, right = self.reference.again(reference, "reference"), self.predicted.again(predicted, "predicted")
        right.findings.unknown_counts = self.predicted.findings.unknown_counts
        right.lenient = lenient or right.lines.texts
        pairing = Pairing(left, right, id_named=self.id_named, missing=self.missing)
        pairing.how, pairing.nameless, pairing.without = self.how, self.nameless, self.without
        return pairing

    def batches(self) -> Iterator[Batch]:
        """All documents, in the order of the reference."""
        by_order = self.decide() == "by order"
        left, right = (self.open(side) for side in (self.reference, self.predicted))
        self.remarks = list(dict.fromkeys(filter(None, (*self.remarks, left.remark, right.remark))))
        findings = self.predicted.findings
        for batch in self._by_order(left, right) if by_order else self._by_id(left, right):
            if self.without:
                sides = (_without(side, self.without) for side in (batch.references, batch.predictions))
                yield Batch(batch.ids, *sides)
            elif self.predicted.unknown is None:
                yield batch
            else:
                find = self.predicted.unknown.find if self.reference.unknown is None else None
                yield Batch(batch.ids, *settle_unknown(batch.ids, batch.references, batch.predictions, findings, find))

    def open(self, side: RecordFile) -> Reader:
        """A side from its beginning: as columns where there are columns, else line by line."""
        if not isinstance(side.lines, ArrowLines):
            return Reader(side)
        from tallystick.tasks.records.arrow import ColumnReader

        mixed = not all(isinstance(one.lines, ArrowLines) for one in (self.reference, self.predicted))
        return ColumnReader(side, row_by_row=mixed and side.type is None)

    @property
    def readings(self) -> str:
        """How sides that are one object were read, and what to do if they are the other thing."""
        sides = (self.reference.lines, self.predicted.lines)
        return "".join(f"; {one.reading}" for one in sides if isinstance(one, HeldLines) and one.reading)

    def _by_order(self, left: Reader, right: Reader) -> Iterator[Batch]:
        refuse_by_order(self.missing)
        done = 0
        while True:
            numbers, _, references = left.take()
            theirs, _, predictions = right.take(len(references) or None)
            if len(references) != len(predictions) or not references:
                counts = [done + len(references) + left.count(), done + len(predictions) + right.count()]
                if counts[0] != counts[1]:
                    raise SidesMismatch(
                        f"{self.reference.lines.file} has {counted(counts[0], 'record')} and {self.predicted.lines.file} has "
                        f"{counts[1]:,}; without ids in both they are paired by order, so the numbers must be equal{self.readings}"
                    )
                return
            self._note_invalid(numbers, predictions)
            self._name_lines(numbers, theirs)
            done += len(references)
            yield Batch(numbers, references, predictions)

    def _by_id(self, left: Reader, right: Reader) -> Iterator[Batch]:
        repeats = Repeats()
        while True:
            numbers, keys, references = left.take()
            # of predictions that are left out nothing else is told: it counts when it is known that these are not
            findings, self.predicted.findings = self.predicted.findings, self.predicted.findings.at_once()
            theirs = right.take(len(references) or None)
            findings, self.predicted.findings = self.predicted.findings, findings
            _, others, predictions = theirs
            self.reference.check_ids(numbers, keys)
            repeats.add(keys)
            same = (
                not self.left_out
                and len(keys) == len(others)
                and (keys == others or all(a == b or b is UNREADABLE for a, b in zip(keys, others, strict=True)))
            )
            if not same:
                yield from self._by_index(left, right, repeats, (keys, references), theirs)
                return
            if not keys:
                self._refuse_repeats(repeats)
                return
            self.predicted.findings.add(findings)
            self._note_invalid(keys, predictions)
            self._name_lines(keys, theirs[0])
            yield Batch(keys, references, predictions)

    def _name_lines(self, keys: Sequence[Any], numbers: Sequence[int | None]) -> None:
        """Say which predicted line each document has, to those who know something about lines."""
        self.predicted.findings.name_lines(keys, numbers)
        if self.predicted.confidences is not None:
            self.predicted.confidences.name(keys, numbers)

    def _by_index(self, left: Reader, right: Reader, repeats: Repeats, ours: Any, theirs: Any) -> Iterator[Batch]:
        """The orders differ from here on: the predictions that are left, by id."""
        lines: dict[Any, int] = {}
        places, unread = right.index(theirs, lines)
        missing: list[Any] = []
        keys, references = ours
        while keys:
            if self.left_out:
                kept = [k for k, key in enumerate(keys) if key not in self.left_out]
                deque((places.pop(key, None) for key in keys if key in self.left_out), maxlen=0)
                keys, references = [keys[k] for k in kept], [references[k] for k in kept]
            found = [places.pop(key, None) for key in keys]
            missing += [key for key, place in zip(keys, found, strict=True) if place is None]
            if self.fills_gaps or not missing:
                predictions = right.values_at(found)
                self._note_invalid(
                    keys, predictions, {key for key, place in zip(keys, found, strict=True) if place is None}
                )
                self._name_lines(keys, [lines.get(key) for key in keys])
                yield Batch(keys, references, predictions)
            numbers, keys, references = left.take()
            self.reference.check_ids(numbers, keys)
            repeats.add(keys)
        self._refuse_repeats(repeats)
        self._check_unpaired(missing, list(places), lines, unread, len(missing) == repeats.count)
        self.ignored += [f"line {number}, which has no id" for number in right.nameless]
        self.unpaired += len(right.nameless)

    def _check_unpaired(
        self, missing: list[Any], extra: list[Any], lines: Mapping[Any, int], unread: Sequence[int], none_paired: bool
    ) -> None:
        """Documents on one side only: an error, unless something else was asked for and some are on both. `lines` are those of predicted
        ids; `unread` are unreadable lines without an id."""
        again = next((key for _, key in self._ids_among(set(extra), lambda key: key)), None)
        if again is not None:
            line = f"line {lines[again]}" if again in lines else "this file"
            raise InputError(
                f"the id {again!r} of {line} is a duplicate; ids must be unique", self.predicted.lines.file
            )
        compared = self.missing.comparison
        none_paired = none_paired and bool(extra)
        if self.predicted.lenient and not none_paired:
            noted = allowed(self.missing, missing, extra if compared else [])
            self.ignored = [] if noted and compared else extra
        elif missing or extra:
            also = (
                ""
                if compared or none_paired
                else "--lenient scores a missing prediction as nothing and ignores extra ones"
            )
            also = (also + self.readings).removeprefix("; ")
            files = self.reference.lines.file, self.predicted.lines.file
            require_allowed(*files, missing, extra, self.missing, also, none_paired)
        self.unpaired = len(missing) + len(extra) + len(unread)
        if unread:
            self.predicted.findings.unread += len(unread)
            self.predicted.findings.first_unread = str(self.predicted.place(unread[0]))

    def _refuse_repeats(self, repeats: Repeats) -> None:
        """No id of the reference may come twice; where numbers meet, the file is read again to see whether ids do."""
        lines: dict[Any, int] = {}
        for line, key in self._ids_among(set(repeats.found().tolist()), lambda key: hash(key) % (1 << 64)):
            if key in lines:
                raise self.reference.repeated_id(key, lines[key], line)
            lines[key] = line

    def _ids_among(self, wanted: set[Any], number: Callable[[Any], Any]) -> Iterator[tuple[int, Any]]:
        """The ids of the reference that are wanted, with their lines."""
        if wanted:
            yield from ((line, key) for line, key in self.open(self.reference).ids() if number(key) in wanted)

    def _note_invalid(self, keys: list[Any], predictions: Sequence[Any], absent: Collection[Any] = ()) -> None:
        """Count the predictions that cannot be read, and the documents that have none."""
        if isinstance(predictions, Rows):
            data = split_surplus(predictions.data)[0]
            places = np.flatnonzero(data.position < 0).tolist() if isinstance(data, Nullable) else []
            invalid = [(keys[place], NO_PREDICTION) for place in places]
        else:
            invalid = [(key, one) for key, one in zip(keys, predictions, strict=True) if type(one) is Invalid]
        for key, one in invalid:
            self.predicted.findings.add_invalid(key, one.reason, unanswered=self.noted_elsewhere and key in absent)

    def warnings(self) -> Iterator[str]:
        """What to say when all was read."""
        yield from self.remarks
        yield from self.predicted.findings.lines()
        if self.ignored:
            yield f"ignored, having no reference: {counted(len(self.ignored), 'prediction')}: {some(self.ignored)}"


class Reader:
    """One side, read as many documents at a time as the other side asks for."""

    remark = ""
    """What to say about how the file is read."""

    def __init__(self, side: RecordFile) -> None:
        self.side, self.remark = side, side.lines.remark
        self.source: Iterator[Any] = side.lines.portions()
        self.waiting: list[Any] = []
        self.nameless: list[int] = []
        """The lines of documents without an id, among others that have one."""

    def first_id(self) -> Any:
        """The id of the first document, `NO_DOCUMENT` if there is none."""
        for portion in self.source:
            return self.side.identify_all(portion.slice(0, 1))[0]
        return NO_DOCUMENT

    def ids(self) -> Iterator[tuple[int, Any]]:
        """The ids of all documents, with their lines."""
        for portion in self.source:
            yield from zip(portion.numbers, self.side.identify_all(portion), strict=True)

    def take(self, count: int | None = None) -> tuple[list[int], list[Any], Sequence[Any]]:
        """Line numbers, ids and values of the next documents: a portion, or so many."""
        portions = self._take_chunks(count)
        if not portions:
            return [], [], []
        self.last = portion = Portion.joined(portions)
        keys, values = self.side.read(portion)
        return portion.numbers, keys, values

    def _take_chunks(self, count: int | None) -> list[Any]:
        """The next chunk of the source, or as many as hold so many documents."""
        chunks: list[Any] = []
        while count is None or count > 0:
            chunk = self.waiting.pop() if self.waiting else next(self.source, None)
            if chunk is None:
                break
            if count is not None and len(chunk) > count:
                self.waiting.append(chunk.slice(count))
                chunk = chunk.slice(0, count)
            chunks.append(chunk)
            if count is None:
                break
            count -= len(chunk)
        return chunks

    def count(self) -> int:
        """How many documents are left."""
        return sum(map(len, chain(self.waiting, self.source)))

    def index(self, last: Any, lines: dict[Any, int]) -> tuple[dict[Any, Any], list[int]]:
        """Where each document is among those that `last` took and those that are left, for `values_at`; and the lines that cannot
        be read. `lines` gets the line of each id."""
        side, places, unread = self.side, dict[Any, Any](), list[int]()
        for portion in chain([self.last] if last[0] else (), self.waiting, self.source):
            keys = side.identify_all(portion)
            if UNREADABLE not in keys and None not in keys:
                side.check_ids(portion.numbers, keys, lines)
                found = zip(portion.numbers, portion.offsets if side.lines.seekable else portion.lines, strict=True)
                places.update(zip(keys, found, strict=True))
                continue
            for number, line, offset, key in zip(portion.numbers, portion.lines, portion.offsets, keys, strict=True):
                if key is UNREADABLE:
                    unread.append(number)
                    continue
                if key is None and side.lenient:
                    self.nameless.append(number)
                    continue
                if key is None:
                    side.read(Portion([number], [line], [offset]))  # says what is wrong with it
                side.check_ids([number], [key], lines)
                places[key] = (number, offset if side.lines.seekable else line)
        return places, unread

    def _named(self, numbers: Sequence[int], keys: list[Any], values: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Those documents that have an id; leniently, the others are only counted."""
        if None not in keys or not self.side.lenient:
            return numbers, keys, values
        self.nameless += [number for number, key in zip(numbers, keys, strict=True) if key is None]
        kept = [k for k, key in enumerate(keys) if key is not None]
        return [numbers[k] for k in kept], [keys[k] for k in kept], [values[k] for k in kept]

    def values_at(self, places: list[Any]) -> Sequence[Any]:
        """The documents at places of the index; where there is none, `NO_PREDICTION`."""
        later = [k for k, place in enumerate(places) if place is not None and place[0] is not None]
        numbers, found = [places[k][0] for k in later], [places[k][1] for k in later]
        if not later:
            values: Sequence[Any] = []
        else:
            lines = self.side.lines.lines_at(found) if isinstance(found[0], int) else found
            values = self.side.read(Portion(numbers, lines, [0] * len(lines)))[1]
        if len(values) == len(places):
            return values
        every = [NO_PREDICTION if place is None else place[1] for place in places]
        for k, value in zip(later, values, strict=True):
            every[k] = value
        return every


def reference_id(settings: RecordSettings) -> str:
    """Where the names of the reference's documents are."""
    return settings.reference_id or settings.id or "id"


def open_reference(reference: Any, settings: RecordSettings, type_: Any = None, beside: Sequence[Any] = ()) -> Lines:
    """The documents of the reference, wherever they are; `type_` is theirs, as far as it is known. Where some may be missing they have ids, so that
    an object of one object is one document by its id. `beside` are predictions, which may tell what one object is."""
    by_key = any(are_documents_by_id(reference, one, settings.id or "id") for one in beside)
    fields = _field_names(type_)
    return open_documents(
        reference, name="reference", take=settings.reference_from, id=reference_id(settings), kinds=_kinds(type_),
        fields=fields, by_key=by_key, text=type_ is not str, least=1 if fields or settings.missing != "error" else 2,
    )  # fmt: skip


def open_predictions(predicted: Any, settings: RecordSettings, type_: Any, reference: Lines) -> Lines:
    """The predicted documents; one object is {id: document} if that of the reference is, or if its keys are ids of the reference."""
    by_key = isinstance(reference, HeldLines) and are_named(reference)
    if not by_key and reference.name != "-" and holds_documents(one := one_object(predicted)):
        by_key = has_any_id(reference, reference_id(settings), one)
    lines = open_documents(
        predicted, name="predicted", take=settings.from_, id=settings.id or "id", kinds=_kinds(type_),
        fields=_field_names(type_), by_key=by_key, text=type_ is not str, gaps=settings.lenient,
    )  # fmt: skip
    if settings.confidence is None:
        return lines
    if isinstance(lines, ArrowLines):  # confidences are taken apart row by row
        lines = PickedLines(lines, None, settings.id or "id")
    if isinstance(lines, PickedLines):
        lines.beside = settings.confidence
    return lines


def _field_names(type_: Any) -> Collection[str]:
    return () if type_ is None else record_fields(type_) or ()


def _kinds(type_: Any) -> Callable[[str], str] | None:
    """What kind of value the type has at the path of a table's column."""
    return None if type_ is None else lambda path: _kind_at(shape_of(type_), read_path(path))


def _kind_at(shape: Shape, steps: Sequence[str | int]) -> str:
    for step in steps:
        shapes = [shape_of(case) for case in shape.parts.values()] if shape.kind == "union" else [shape]
        parts = [one.parts for one in shapes if one.kind == ("record" if isinstance(step, str) else "items")]
        inner = next((one.get(str(step)) if isinstance(step, str) else next(iter(one.values())) for one in parts), None)
        if inner is None:
            return ""
        shape = shape_of(inner)
    kinds = {shape.type} if shape.kind != "union" else set(shape.parts.values())
    return "boolean" if kinds == {bool} else "number" if kinds & {int, float} else "text"


def lay_together(
    reference: Any,
    predicted: Any,
    shape: RecordShape,
    settings: RecordSettings,
    missing: Missing | None = None,
) -> Pairing:
    """Two files of one shape, ready to be read in batches. Leniency is for predictions; a reference has to be right."""
    ours, theirs = shape.converters()
    if shape.schema is not None and settings.credit == "each":
        theirs = loose_converter(shape.schema)  # where each field counts by itself, one that is not there is only that
    key, credit = settings.id or "id", settings.credit
    left = RecordFile(
        open_reference(reference, settings, shape.reference),
        ours,
        shape.reference,
        reference_id(settings),
        credit=credit,
    )
    right = RecordFile(
        open_predictions(predicted, settings, shape.reference, left.lines), theirs, shape.predicted, key, credit=credit,
        advice=LENIENT,
    )  # fmt: skip
    right.confidences = None if settings.confidence is None else Confidences(settings.confidence)
    right.lenient, right.tolerant = settings.lenient or right.lines.texts, not shape.promised
    named = settings.id is not None or settings.reference_id is not None
    pairing = Pairing(left, right, id_named=named, missing=missing)
    for side, other in ((left, right), (right, left)):
        if isinstance(side.lines, HeldLines) and side.lines.names is not None:
            side.lines.rename(pairing.open(other).first_id())
    return pairing

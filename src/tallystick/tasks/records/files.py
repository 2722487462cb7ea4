"""What happened to predictions on their way in: repaired, of the wrong kind, under unknown keys, not to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any

from tallystick.engine.rows import Invalid, Surplus
from tallystick.errors import InputError, Place, counted
from tallystick.files.json_values import TOO_DEEP, explained
from tallystick.files.lines import Lines, Portion, not_json
from tallystick.tasks.records.fitting import Unknown

MOST_LISTED = 1000
"""So many predictions that cannot be read are listed by name; all are counted."""


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
            yield f"repaired: {counted(self.repaired, 'prediction')} ({kinds})"
        if self.misfits:
            total = sum(self.misfits.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.misfits.most_common(5))
            yield f"of the wrong kind, counted as wrong: {counted(total, 'value')} ({where}); the first: {self.first_misfit}"
        if self.unknown:
            total = sum(self.unknown.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.unknown.most_common(5))
            where += f" and {len(self.unknown) - 5:,} more" if len(self.unknown) > 5 else ""
            how = "counted as extra (--unknown ignore leaves them out)" if self.unknown_counts else "ignored"
            yield (
                f"under keys that the reference does not have, {how}: {counted(total, 'value')} ({where}); "
                f"the first: {self.first_unknown}"
            )
        if self.invalid:
            listed = "; ".join(f"{key}: {reason}" for key, reason in self.invalid[:5])
            more = f"; and {self.invalids - 5:,} more" if self.invalids > 5 else ""
            yield f"invalid, scoring nothing: {counted(self.invalids, 'prediction')} ({listed}{more})"
        if self.unread:
            yield f"cannot be read, and nobody's prediction: {counted(self.unread, 'line')}, the first: {self.first_unread}"

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


# One file of documents on its way from lines to values, strictly or leniently; nothing of it is dropped without a word.

UNKNOWN = object()
"""The id of a prediction that cannot be read."""


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

        from tallystick.algebra.shape import record_fields

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
        from tallystick.files.repair import Unreadable, read_noisy

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

        from tallystick.files.repair import Unreadable, read_noisy

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
        from tallystick.algebra.shape import record_fields
        from tallystick.tasks.records.fitting import Fitting

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

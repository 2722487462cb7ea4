"""One file of documents on its way from lines to values, strictly or leniently; nothing of it is dropped without a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any

from tallystick.columns.unfit import Invalid, Surplus
from tallystick.errors import InputError, Place
from tallystick.reading.findings import Findings
from tallystick.reading.json_text import TOO_DEEP, explained
from tallystick.reading.lines import Lines, Portion, not_json
from tallystick.reading.unknown import Unknown

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

        from tallystick.columns.types import record_fields

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
        from tallystick.columns.types import record_fields
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

"""How sure a prediction says it is of its values, taken apart from the values themselves.

    {"vendor": {"value": "Acme", "confidence": 0.9}}                       beside the value
    {"lines": [{"sku": "a", "price": 2, "confidence": 0.8}]}               in an object: about all that is in it
    {"vendor": "Acme", "confidence": {"vendor": 0.9, "lines[0].sku": 0.7}} in a parallel field, nested or by path
    {"vendor": "Acme", "confidence": 0.9}                                  one for the whole document
    "logprobs": {"vendor": [-0.1, -0.02]}                                  log-probabilities of a value's tokens
    "logprobs": [{"token": "{", "logprob": 0.0}, ...]                      of all tokens of the answer, as APIs return them

The probability of a value is the product of those of its tokens. Without being asked for, nothing of this is read: an object where a
value should be is a value of the wrong kind.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tallystick.errors import InputError, MetricError, Place, did_you_mean
from tallystick.files.documents import MISSING, Steps, read_path

VALUE = "value"


@dataclass
class Confidences:
    """The confidences of the predictions of one file, which stand under the key or at the path `key`."""

    key: str
    by_line: dict[int, tuple[dict[Steps, float], Any]] = field(default_factory=dict)
    """By line what it says by the address of each value, and the values as they were written."""
    lines: dict[Any, int] = field(default_factory=dict)
    """The line of each document, by the name that it is paired by."""
    first: Any = None
    """The first prediction, to say what it has instead."""
    around: Sequence[str] = ()
    """The keys of the line that it stands in, likewise."""

    def __post_init__(self) -> None:
        self.steps = read_path(self.key)

    def take(self, value: Any, number: int, place: Place, *, known: Any = None, beside: Any = MISSING) -> Any:
        """A prediction without its confidences, which are kept. `known` are the keys that the shape has, which are values whatever
        they are called; `beside` is what stands at the path outside of the document."""
        self.first = value if self.first is None else self.first
        taking = _Taking(self.key, place)
        if beside is MISSING and len(self.steps) > 1 and isinstance(value, dict):
            beside, value = _taken_out(value, self.steps)
        plain = taking.unwrap(value, (), known)
        taking.spread(taking.parallel if beside is MISSING else beside, plain, ())
        self.by_line[number] = taking.found, plain
        return plain

    def name(self, keys: Sequence[Any], numbers: Sequence[int | None]) -> None:
        """Remember what the documents of some lines are called."""
        self.lines.update((key, number) for key, number in zip(keys, numbers, strict=True) if number is not None)

    def of(self, key: Any) -> tuple[dict[Steps, float], Any]:
        """What the prediction of this name says, by the address of each value; and the values."""
        return self.by_line.get(self.lines.get(key, -1), ({}, None))

    def refuse_nothing(self) -> None:
        """An error if no prediction has a confidence."""
        if any(found for found, _ in self.by_line.values()):
            return
        keys = list(self.first) if isinstance(self.first, Mapping) else []
        found = f"the first has {', '.join(map(str, keys[:12]))}" if keys else f"the first is {self.first!r:.60}"
        if self.around:
            found += f", and its line {', '.join(map(str, self.around[:12]))}"
        raise MetricError(
            f"--confidence: no prediction has a confidence at {self.key!r}, neither beside a value, in an object, nor as a field; {found}."
            f"{did_you_mean(self.key, [*self.around, *keys])}"
        )


def wrapping_key(value: Any) -> str | None:
    """The key beside "value" of the first object in a prediction that looks like a value with its confidence; None if there is none."""
    left = [value]  # not by calling itself: a document may be nested deeply
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if len(one) == 2 and VALUE in one:
                key, given = next((key, part) for key, part in one.items() if key != VALUE)
                if isinstance(given, float) and 0 <= given <= 1:
                    return str(key)
            left += reversed(one.values())
        elif isinstance(one, list):
            left += reversed(one)
    return None


def _taken_out(value: dict[str, Any], steps: Steps) -> tuple[Any, Any]:
    """What stands at a path, and the value without it and without what held nothing else."""
    head, rest = steps[0], steps[1:]
    if not isinstance(value, dict) or head not in value:
        return MISSING, value
    found, left = (value[head], MISSING) if not rest else _taken_out(value[head], rest)
    if found is MISSING:
        return MISSING, value
    kept = {key: one for key, one in value.items() if key != head}
    return found, kept if left is MISSING or left == {} else {**kept, head: left}


@dataclass
class _Taking:
    """One prediction, on the way to its values without confidences."""

    key: str
    place: Place
    found: dict[Steps, float] = field(default_factory=dict)
    parallel: Any = MISSING

    def unwrap(self, value: Any, address: Steps, known: Any) -> Any:
        """The value without confidences; these are claims about what stands at their address."""
        if isinstance(value, list):
            below = getattr(known, "items", None)
            return [self.unwrap(one, (*address, k), below) for k, one in enumerate(value)]
        if not isinstance(value, dict):
            return value
        own = known.known if getattr(known, "record", False) else ()
        given = value.get(self.key, MISSING) if self.key not in own else MISSING
        if given is not MISSING and value.keys() == {VALUE, self.key} and VALUE not in own:
            self.claim(address, given)
            return self.unwrap(value[VALUE], address, known)
        if given is not MISSING:
            if not address and isinstance(given, (dict, list)):
                self.parallel = given
            else:
                self.claim(address, given)
        below, each = getattr(known, "below", {}), getattr(known, "values", None)
        return {
            key: self.unwrap(one, (*address, key), below.get(key, each))
            for key, one in value.items()
            if key != self.key or given is MISSING
        }

    def claim(self, address: Steps, given: Any) -> None:
        """Keep a confidence: a number, or the log-probabilities of tokens; null is none."""
        if given is not None:
            self.found[address] = as_probability(given, self.key, path_of(address, general=False), self.place)

    def spread(self, given: Any, plain: Any, address: Steps) -> None:
        """The confidences of a field that is parallel to the document."""
        if given is MISSING:
            return
        if not address and isinstance(given, list) and given and all(map(_is_token, given)):
            self.found.update(_of_tokens(given, plain))
        elif isinstance(given, dict):
            for key, one in given.items():
                steps: Steps = (key,) if isinstance(plain, dict) and key in plain else self._steps(key, address)
                self.spread(one, _at(plain, steps), (*address, *steps))
        elif isinstance(given, list) and isinstance(plain, list):
            if len(given) != len(plain):
                raise self._refuse(address, f"expected {len(plain)} of them, one for each item", given)
            for k, one in enumerate(given):
                self.spread(one, plain[k], (*address, k))
        else:
            self.claim(address, given)

    def _steps(self, key: str, address: Steps) -> Steps:
        try:
            return read_path(key)
        except MetricError:
            raise self._refuse(address, "expected the path of a value", key) from None

    def _refuse(self, address: Steps, expected: str, given: Any) -> InputError:
        return _refusal(self.key, path_of(address, general=False), expected, given, self.place)


def as_probability(given: Any, key: str, where: str, place: Place) -> float:
    """A confidence: a number from 0 to 1, or the log-probabilities of tokens."""
    if isinstance(given, list) and given:
        logs: list[Any] = [one.get("logprob") if isinstance(one, dict) else one for one in given]
        if all(_is_number(one) and one <= 1e-9 for one in logs):
            return min(1.0, math.exp(math.fsum(logs)))
    if not _is_number(given) or not 0 <= given <= 1:
        raise _refusal(key, where, "expected a number from 0 to 1, or log-probabilities of tokens", given, place)
    return float(given)


def _refusal(key: str, where: str, expected: str, given: Any, place: Place) -> InputError:
    return InputError(f"{key!r} of {where or 'the document'}: {expected}, found {given!r:.60}", place)


@dataclass
class ItemConfidences:
    """The confidences of the items of predicted documents (spans, relations), which stand under one key in each of them."""

    key: str
    by_document: dict[str, list[float | None]] = field(default_factory=dict)

    def take(self, document: str, items: Sequence[Any], where: str, place: Place) -> list[float | None]:
        """Keep those of one document."""
        given = [one.get(self.key) if isinstance(one, Mapping) else None for one in items]
        self.by_document[document] = [
            None if one is None else as_probability(one, self.key, f"{where}[{k}]", place)
            for k, one in enumerate(given)
        ]
        return self.by_document[document]

    def refuse_nothing(self, where: str) -> None:
        """An error if no item has a confidence."""
        if not any(one is not None for found in self.by_document.values() for one in found):
            raise MetricError(f"--confidence: none of the predicted {where} has a confidence under {self.key!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_token(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("token"), str) and _is_number(value.get("logprob"))


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        inside = isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)
        value = value[step] if inside else value.get(step) if isinstance(value, dict) else None
    return value


def path_of(address: Steps, general: bool = True) -> str:
    """An address as a path: `lines[*].price`, or with the places of items."""
    return "".join(
        ("[*]" if general else f"[{step}]") if isinstance(step, int) else f".{step}" for step in address
    ).removeprefix(".")


# Where the values of a JSON text stand among the tokens that it was written in


def _of_tokens(tokens: Sequence[Mapping[str, Any]], value: Any) -> dict[Steps, float]:
    """The probability of each value that the tokens spell: of all tokens that a character of it is in, from behind the opening
    quotation mark to the closing one."""
    parts = [bytes(one["bytes"]) if isinstance(one.get("bytes"), list) else one["token"].encode() for one in tokens]
    text = b"".join(parts).decode("latin-1")  # a character for each byte
    ends: list[int] = []
    for part in parts:
        ends.append((ends[-1] if ends else 0) + len(part))
    out = {}
    for address, (start, stop) in _located(text, value).items():
        logs = [
            one["logprob"]
            for one, end, part in zip(tokens, ends, parts, strict=True)
            if end > start and end - len(part) < stop
        ]
        out[address] = min(1.0, math.exp(math.fsum(logs)))
    return out


def _located(text: str, value: Any) -> dict[Steps, tuple[int, int]]:
    """Where each plain value stands in the last JSON value of a text that is this one; nothing if none is."""
    for start in reversed([found.start() for found in re.finditer(r"[{\[]", text)]):
        spans: dict[Steps, tuple[int, int]] = {}
        try:
            end = _scan(text, start, (), spans)
            if json.loads(text[start:end].encode("latin-1")) == value:
                return spans
        except (ValueError, IndexError, RecursionError):
            continue
    return {}


_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s,\]}]+")
_SPACE = re.compile(r"\s*")


def _scan(text: str, at: int, address: Steps, spans: dict[Steps, tuple[int, int]]) -> int:
    """Where the JSON value at a place ends; the places of the plain values in it go to `spans`."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if text[at] not in "{[":
        found = (_TEXT if text[at] == '"' else _PLAIN).match(text, at)
        if found is None:
            raise ValueError("no value")
        spans[address] = (at + (text[at] == '"'), found.end())
        return found.end()
    closing = "}" if text[at] == "{" else "]"
    for place in count():
        at = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
        if place == 0 and text[at] == closing:
            break
        step: str | int = place
        if closing == "}":
            key = _TEXT.match(text, at)
            if key is None:
                raise ValueError("no key")
            step = json.loads(key[0].encode("latin-1"))
            at = _SPACE.match(text, key.end()).end()  # type: ignore[union-attr]
            if text[at] != ":":
                raise ValueError("no colon")
            at += 1
        at = _SPACE.match(text, _scan(text, at, (*address, step), spans)).end()  # type: ignore[union-attr]
        if text[at] == closing:
            break
        if text[at] != ",":
            raise ValueError("no comma")
    return at + 1

"""What kind of wrong value a pair is: another spelling of the same value, nearly the same value, a value from elsewhere, or neither.

A kind is found with the similarity that a choice would bring, so that each has its remedy: what `text("equal", "casefold")` takes for
the same is of the kind `case`, and `{text: [equal, casefold]}` is the choice that forgives it. The kinds of `KINDS` stand in the order
of their priority: a pair is of the first kind that fits.

A kind that `means_same` is the right value, spelled otherwise. One with a remedy that does not is another value, which a choice could let
pass; whether it should is for a person to say. The others are errors that no comparison of two values can undo.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

import numpy as np

from tallystick.algebra.exact import equal
from tallystick.algebra.functions import via
from tallystick.algebra.node import Similarity
from tallystick.algebra.numbers import date, number
from tallystick.algebra.text import are_plain, normalise_text, plain_text, text
from tallystick.algebra.values import (
    boolean,
    english_date,
    english_number,
    has_no_digit,
    json,
    magnitude,
    read_date,
    read_number,
)
from tallystick.engine.data import Objects, Scope
from tallystick.frozen import frozen

Pair = tuple[Any, Any]
"""A reference value and the predicted one that met it."""


@frozen
class Kind:
    """A kind of wrong value: what it is in words, whether it means the same, and what to do where no choice helps."""

    name: str
    says: str
    means_same: bool = False
    advice: str = ""


KINDS = {
    kind.name: kind
    for kind in (
        Kind("form", "the same but for Unicode form, white space or float noise", True),
        Kind("case", "the same text but for upper and lower case", True),
        Kind("number", "the same number, spelled otherwise", True),
        Kind("date", "the same date, spelled otherwise", True),
        Kind("boolean", "the same truth value, in other words", True),
        Kind("json", "the same JSON, written otherwise", True),
        Kind("language", "the same number or date, as another language writes it: a decimal comma, the name of a month", True),
        Kind("text", "the same text but for accents, punctuation or spaces, perhaps case too", True),
        Kind("empty", "an empty value on one side, nothing on the other", True),
        Kind("sign", "the same number with the other sign"),
        Kind("rounding", "the same number to fewer digits"),
        Kind("exchanged", "the same date with day and month exchanged", advice="say in the prompt whether day or month comes first"),
        Kind("swapped", "the value of another field of the same record", advice="say in the prompt or schema what tells the two fields apart"),
        Kind("item", "the value that another item of the list has there", advice="look at the alignment of the items with explain"),
        Kind("truncated", "a part of the right text"),
        Kind("longer", "the right text with more around it"),
        Kind("typo", "nearly the same text, with the same digits"),
        Kind("alias", "for one right value always the same other value, which is none of the field's own"),
        Kind("elsewhere", "a value that the document has in another place", advice="say in the prompt or schema where the field's value stands"),
        Kind("nowhere", "a value that stands nowhere in the reference document", advice="an invention, or a misreading"),
        Kind("invalid", "missing, because the prediction could not be read", advice="--lenient reads more; a schema in the request leaves less to repair"),
        Kind("missing", "only the reference has a value", advice="ask for the field, or raise the limit on the answer's length"),
        Kind("spurious", "only the prediction has a value", advice="say when a field is to be left out; --unknown ignore leaves unknown keys out"),
    )
}  # fmt: skip
"""By name, in the order of their priority."""
PRIORITY = {name: place for place, name in enumerate(KINDS)}

STEPS = ("casefold", "accents", "punctuation", "spaces")
"""What a text may differ in and still be the same text."""


def kinds_of(pairs: Sequence[Pair]) -> list[str]:
    """For each pair the first kind that its two values alone make it; none of it: an empty word."""
    found = [""] * len(pairs)
    both = [_facts(reference) & _facts(predicted) for reference, predicted in pairs]
    for name, needed, fits, similarity, least in _tests():
        open_ = [
            k for k, kind in enumerate(found) if not kind and both[k] & needed == needed and fits(*pairs[k])
        ]  # fmt: skip
        for k, weight in zip(open_, weights(similarity, [pairs[k] for k in open_]), strict=True):
            if weight >= least:
                found[k] = name
    for k, pair in enumerate(pairs):
        if found[k] in ("", "truncated", "longer", "typo") and _is_rounded(*pair):
            found[k] = "rounding"
        elif found[k] in ("", "typo") and _is_exchanged(*pair):
            found[k] = "exchanged"
        elif found[k] in _ENGLISH and not all(map(_ENGLISH[found[k]], filter(_is_text, pair))):
            found[k] = "language"
        elif found[k] == "truncated":
            found[k] = _which_part(*pair)
    return found


def _which_part(reference: str, predicted: str) -> str:
    """A letter more or less at an end is a slip of the pen."""
    more = len(plain_text(predicted)) - len(plain_text(reference))
    if abs(more) == 1 and _same_digits(reference, predicted) and min(map(len, (reference, predicted))) > 4:
        return "typo"
    return "longer" if more > 0 else "truncated"


def weights(similarity: Similarity, pairs: Sequence[Pair]) -> list[float]:
    """What a similarity gives to each pair."""
    if not pairs:
        return []
    reference, predicted = zip(*pairs, strict=True)
    r, p = similarity.encode(Objects(list(reference)), Objects(list(predicted)), Scope())
    return similarity.one_to_one_weights(r, p).tolist()  # type: ignore[no-any-return]


_ENGLISH = {"number": english_number, "date": english_date}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


# What a value is: each is looked at once, and a pair is asked for by what both are.

TEXT, POINT, NUMBER, DATE, BOOLEAN, JSON = (1 << k for k in range(6))


def _facts(value: Any) -> int:
    """What a value is, or can be read as."""
    return _known_facts(value) if isinstance(value, (str, int, float)) else _find_facts(value)


@lru_cache(maxsize=1 << 16, typed=True)
def _known_facts(value: Any) -> int:
    return _find_facts(value)


def _find_facts(value: Any) -> int:
    if not isinstance(value, str):
        return sum(bit for bit, similarity in _READERS if _reads(similarity, value))
    readers = _READERS[-1:] if has_no_digit(value) else _READERS
    read = sum(bit for bit, similarity in readers if similarity.reads(value))
    return read | TEXT | (JSON if value.lstrip()[:1] in ("{", "[") else 0)


def _reads(similarity: Similarity, value: Any) -> bool:
    """Whether it makes something of a value; a truth value is none of a number's."""
    if isinstance(value, bool):
        return similarity.name == "boolean"
    return (similarity.name == "number" and isinstance(value, (int, float))) or similarity.reads(value)


# Truth values last: the others need digits.
_READERS = (
    (POINT, number(parse="point")), (NUMBER, number(parse="auto")), (DATE, date(parse="auto")), (BOOLEAN, boolean()),
)  # fmt: skip


def _words(reference: str, predicted: str) -> bool:
    """Two texts of which no number is made, with something left of them: "1.5" is not "15" without its punctuation."""
    return not _facts(reference) & _facts(predicted) & (NUMBER | DATE) and bool(normalise_text(reference, STEPS))


def _part_of(reference: str, predicted: str) -> bool:
    """Two texts of which the shorter is more than a letter or two."""
    short, long = sorted((len(plain_text(reference)), len(plain_text(predicted))))
    return short >= 3 or 2 * short > long > short > 0


def _same_digits(reference: str, predicted: str) -> bool:
    return _DIGIT.findall(reference) == _DIGIT.findall(predicted)


_DIGIT = re.compile(r"\d")


def _json_inside(reference: Any, predicted: Any) -> bool:
    return bool((_facts(reference) | _facts(predicted)) & JSON)


def _any(reference: Any, predicted: Any) -> bool:
    return True


@cache
def _tests() -> tuple[tuple[str, int, Callable[[Any, Any], bool], Similarity, float], ...]:
    """The kind, what both sides have to be, which pairs it is asked for, the similarity that its remedy would bring, and how much of it is
    enough."""
    readers = dict(_READERS)
    found = {
        "form": (0, _any, equal, 1.0),
        "case": (TEXT, _any, text("equal", "casefold", "whitespace"), 1.0),
        "number": (POINT, _any, readers[POINT], 1.0),
        "date": (DATE, _any, readers[DATE], 1.0),
        "boolean": (BOOLEAN, _any, readers[BOOLEAN], 1.0),
        "json": (0, _json_inside, json, 1.0),
        "language": (NUMBER, _any, readers[NUMBER], 1.0),
        "text": (TEXT, _words, text("equal", *STEPS), 1.0),
        "sign": (NUMBER, _any, via(magnitude, equal), 1.0),
        "truncated": (TEXT, _part_of, text("partial", "casefold", "whitespace"), 1.0),
        "typo": (TEXT, _same_digits, text("levenshtein", "casefold"), 0.8),
    }
    assert [name for name in KINDS if name in found] == list(found)
    return tuple((name, *test) for name, test in found.items())


def _is_rounded(reference: Any, predicted: Any) -> bool:
    """Whether one number is the other one to fewer digits: to fewer decimals, rounded or cut, or to tens, hundreds and so on with two digits
    left."""
    both = dict.fromkeys(zip(_numbers(reference), _numbers(predicted), strict=False))
    return any(_rounds(a, b) or _rounds(b, a) for a, b in both)


def _rounds(fine: float, coarse: float) -> bool:
    if not (math.isfinite(fine) and math.isfinite(coarse)) or fine == coarse or fine * coarse < 0:
        return False
    if abs(fine - coarse) > max(1.0, 0.051 * abs(coarse)):  # half a unit is at most a twentieth of two digits
        return False
    one, other = (Decimal(repr(value)).normalize() for value in (fine, coarse))
    digits, exponent = len(other.as_tuple().digits), int(other.as_tuple().exponent)
    if other == 0 or int(one.as_tuple().exponent) >= min(exponent, 0 if exponent >= 0 else exponent):
        return _to_tens(one, other, digits, exponent)
    unit = Decimal(1).scaleb(min(exponent, 0))
    return abs(one - other) <= unit / 2 or 0 < abs(one) - abs(other) < unit


def _to_tens(one: Decimal, other: Decimal, digits: int, exponent: int) -> bool:
    unit = Decimal(1).scaleb(exponent)
    return exponent > 0 and digits >= 2 and int(one.as_tuple().exponent) < exponent and abs(one - other) <= unit / 2


def _is_exchanged(reference: Any, predicted: Any) -> bool:
    """Whether two dates differ in nothing but the order of day and month."""
    if not _facts(reference) & _facts(predicted) & DATE or not (_is_text(reference) and _is_text(predicted)):
        return False
    read = read_date(reference), read_date(predicted)
    assert read[0] is not None
    assert read[1] is not None
    one, other = read[0][0][0], read[1][0][0]
    return one.month != one.day and (one.year, one.month, one.day) == (other.year, other.day, other.month)


def _numbers(value: Any) -> tuple[float, ...]:
    """A number under both conventions; none if it is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return ()
    return _spelled_numbers(value) if isinstance(value, str) else (float(value),) * 2


@lru_cache(maxsize=1 << 14)
def _spelled_numbers(text: str) -> tuple[float, ...]:
    found = read_number(text, percent="points")
    return found.values if found is not None else ()


# Remedies: the choice that forgives a kind.


def remedy(kind: str, pairs: Iterable[Pair]) -> Any:
    """The choice, as choices.yaml has it, that forgives these pairs of one kind; None where no choice does."""
    pairs = list(pairs)
    make: dict[str, Callable[[], Any]] = {
        "form": lambda: "equal",
        "case": lambda: {"text": ["equal", "casefold", "whitespace"]},
        "text": lambda: {"text": ["equal", *_needed_steps(pairs)]},
        "number": lambda: {"number": {"parse": "auto"}},
        "date": lambda: {"date": {"parse": "auto"}},
        "boolean": lambda: "boolean",
        "json": lambda: {"parse": "json"},
        "language": lambda: {"number" if any(map(_numbers, pairs[0])) else "date": {"parse": "auto"}},
        "empty": lambda: {"nothing": ["missing", "null", "empty"]},
        "sign": lambda: {"expression": "via(tallystick:magnitude, equal)"},
        "rounding": lambda: {"number": _tolerance(pairs)},
        "truncated": lambda: {"text": ["partial", "casefold", "whitespace"], "at_least": 1},
        "longer": lambda: {"text": ["partial", "casefold", "whitespace"], "at_least": 1},
        "typo": lambda: {"text": ["levenshtein", "casefold"]},
        "alias": lambda: {"aliases": _aliases(pairs)},
    }
    return make[kind]() if kind in make else None


def _needed_steps(pairs: Sequence[Pair]) -> list[str]:
    """The steps without which some pair would not be the same text."""
    needed = {step for pair in pairs for step in _steps_of(*pair)}
    return _ordered_steps([*(step for step in STEPS if step in needed), "whitespace"])


def _ordered_steps(steps: Sequence[str]) -> list[str]:
    """Different steps, white space last: others may leave some behind."""
    last = ("spaces",) if "spaces" in steps else ("whitespace",) if "whitespace" in steps else ()
    first = [step for step in STEPS[:-1] if step in steps]
    return [*first, *(one for one in dict.fromkeys(steps) if one not in (*STEPS, "whitespace")), *last]


def _steps_of(reference: str, predicted: str) -> set[str]:
    kept = [*STEPS, "whitespace"]
    for step in reversed(STEPS):
        fewer = [one for one in kept if one != step]
        if normalise_text(reference, fewer) == normalise_text(predicted, fewer):
            kept = fewer
    return set(kept)


def _tolerance(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The least tolerance of two digits that is enough for all of these: 0.0051 for what differs by half a cent, as floats have it."""
    most = max(
        min(abs(a - b) for a, b in zip(_numbers(reference), _numbers(predicted), strict=True))
        for reference, predicted in pairs
    )
    power = math.floor(math.log10(most)) - 1
    enough = float(f"{math.ceil(float(f'{most:.12g}') / 10.0**power)}e{power}")
    enough = enough if enough >= most else float(f"{round(enough / 10.0**power) + 1}e{power}")
    read = any(isinstance(side, str) for pair in pairs for side in pair)
    return {**({"parse": "auto"} if read else {}), "absolute": int(enough) if enough == int(enough) else enough}


def _aliases(pairs: Sequence[Pair]) -> dict[Any, list[Any]]:
    names: dict[Any, list[Any]] = {}
    for reference, predicted in pairs:
        if predicted not in names.setdefault(reference, []):
            names[reference].append(predicted)
    return names


def merged(first: Any, second: Any) -> Any:
    """One choice for one value that does what both do, as far as that is possible; None where they are of different kinds."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return first if first == second else None
    out = dict(first)
    for word, spec in second.items():
        known = out.get(word)
        if known is None or known == spec:
            out[word] = spec
        elif word == "number":
            least = max(known.get("absolute", 0), spec.get("absolute", 0))
            out[word] = {**known, **spec, **({"absolute": least} if least else {})}
        elif word == "text" and len({known[0], spec[0]} - {"equal"}) <= 1:
            ratio = spec[0] if known[0] == "equal" else known[0]
            out[word] = [ratio, *_ordered_steps([*known[1:], *spec[1:]])]
        elif word == "aliases":
            out[word] = {name: [*known.get(name, ()), *spec.get(name, ())] for name in {**known, **spec}}
        else:
            return None
    similarities = [word for word in out if word not in ("at_least", "aliases", "nothing")]
    return out if len(similarities) <= 1 else None


def spelled(choice: Any) -> str:
    """A choice on one line of YAML."""
    import yaml  # type: ignore[import-untyped,unused-ignore]

    text: str = yaml.safe_dump(choice, default_flow_style=True, width=1 << 20, allow_unicode=True, sort_keys=False)
    return text.removesuffix("...\n").strip()


def plain_key(value: Any) -> Any:
    """What two values have in common that `equal` takes for the same; None of what is no plain value."""
    if isinstance(value, str):
        return plain_text(value) or None
    if isinstance(value, (bool, np.bool_)) or value is None:
        return None
    if isinstance(value, (int, float, np.integer, np.floating)):
        return float(f"{float(value):.9g}")
    return None


def plain_keys(values: Sequence[Any]) -> Sequence[Any]:
    """`plain_key` of each, found out together."""
    kinds = set(map(type, values))
    if kinds == {str} and "" not in values and are_plain(values):
        return values
    if not kinds <= {str, int, float, bool, type(None)}:
        return [plain_key(value) for value in values]
    known = {one: plain_key(one[1]) for one in set(zip(map(type, values), values, strict=True))}
    return [known[one] for one in zip(map(type, values), values, strict=True)]

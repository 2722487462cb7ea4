"""What kind of wrong value a pair is: another spelling of the same value, nearly the same value, a value from elsewhere, or neither.

A kind is found with the similarity that a choice would bring, so that each has its remedy: what `text("equal", "casefold")` takes for
the same is of the kind `case`, and `{text: [equal, casefold]}` is the choice that forgives it. The kinds of `KINDS` stand in the order
of their priority: a pair is of the first kind that fits.

A kind that `means_same` is the right value, spelled otherwise. One with a remedy that does not is another value, which a choice could let
pass; whether it should is for a person to say. The others are errors that no comparison of two values can undo.

An entry of `KINDS` says which pairs it is asked for (`fits`), the similarity that its remedy brings, and the remedy, a choice. --errors,
the report and `tallystick suggest` have it then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import repeat
from operator import eq
from typing import Any

import numpy as np

from tallystick.algebra.exact import equal
from tallystick.algebra.functions import via
from tallystick.algebra.node import Similarity
from tallystick.algebra.numbers import date, number
from tallystick.algebra.text import are_plain, normalise_text, plain_text, text
from tallystick.algebra.values import (
    TRUTH_WORDS,
    boolean,
    english_date,
    english_number,
    has_no_digit,
    json,
    looks_unreadable,
    magnitude,
    read_date,
    read_number,
)
from tallystick.engine.arrays import F64, I64
from tallystick.frozen import frozen

Pair = tuple[Any, Any]
"""A reference value and the predicted one that met it."""


@frozen
class Kind:
    """A kind of wrong value: what it is in words, whether it means the same, what to do where no choice helps; which two values make a pair
    of that kind (none, if more than the two say so: `errors`), and the choice that forgives such pairs."""

    name: str
    says: str
    means_same: bool = False
    advice: str = ""
    fits: Callable[[Any, Any], bool] | None = None
    """Which pairs it is asked for: all of those, or, with a similarity, the ones to which that gives at least so much."""
    reads: Similarity | None = None
    """What makes something of both values of such a pair."""
    letters: Callable[[bytes, bytes], bool] | None = None
    """What holds of the letters and digits of such texts, which is quickly asked (`_pairs_to_ask`)."""
    similarity: Similarity | None = None
    least: float = 1.0
    refine: Callable[[Any, Any], str] | None = None
    """The name of the kind that such a pair is, if it may be another one."""
    remedy: Any = None
    """The choice, or what makes it of the pairs."""


STEPS = ("casefold", "accents", "punctuation", "spaces")
"""What a text may differ in and still be the same text."""


def kinds_of(pairs: Sequence[Pair]) -> list[str]:
    """For each pair the first kind that its two values alone make it; none of it: an empty word."""
    found = [""] * len(pairs)
    left = list(range(len(pairs)))
    texts = _ascii_texts(pairs)
    asked = _pairs_to_ask(pairs, texts)
    for kind in KINDS.values():
        if kind.fits is None and kind.reads is None:
            continue
        some = asked.get(kind.reads or kind.letters or kind.fits)
        open_ = _of_kind(kind, left if some is None else [k for k in some if not found[k]], pairs, texts)
        for k in open_:
            found[k] = kind.refine(*pairs[k]) if kind.refine is not None else kind.name
        left = [k for k in left if not found[k]] if open_ else left
    return found


@frozen(eq=False)
class _Texts:
    """The pairs of two ASCII texts among others, by place, and what all of them say at once: the letters and digits of both, in lower
    case, and whether they have digits."""

    places: list[int]
    letters: list[tuple[bytes, bytes]]
    digits: list[tuple[bool, bool]]
    brackets: bool
    """Whether one of them has a bracket, as JSON would."""

    @cached_property
    def wordy(self) -> set[int]:
        """The pairs without any digit."""
        return {k for k, (ours, theirs) in zip(self.places, self.digits, strict=True) if not ours and not theirs}


def _ascii_texts(pairs: Sequence[Pair]) -> _Texts:
    places = [k for k, (ours, theirs) in enumerate(pairs) if type(ours) is str and type(theirs) is str]
    joined = _joined(pairs, places)
    if joined is None:
        places = [k for k in places if all(side.isascii() and "\0" not in side for side in pairs[k])]
        joined = _joined(pairs, places)
    if not places or joined is None:
        return _Texts([], [], [], False)
    letters = [side.translate(_LOWER, _NO_LETTERS).split(b"\0") for side in joined]
    digits = [_have_digits(side) for side in joined]
    brackets = any(sign in side for side in joined for sign in (b"{", b"["))
    return _Texts(places, list(zip(*letters, strict=True)), list(zip(*digits, strict=True)), brackets)


def _joined(pairs: Sequence[Pair], places: Sequence[int]) -> list[bytes] | None:
    """The texts of both sides, each behind the other; None if these are not ASCII, or have what would part them inside."""
    sides = ["\0".join([pairs[k][side] for k in places]) for side in (0, 1)]
    apart = all(side.isascii() and side.count("\0") == max(0, len(places) - 1) for side in sides)
    return [side.encode() for side in sides] if apart else None


def _have_digits(joined: bytes) -> list[bool]:
    """Which of some texts have a digit."""
    signs = np.frombuffer(joined, np.uint8)
    digits = np.concatenate(([0], np.cumsum((signs >= ord("0")) & (signs <= ord("9")))))
    ends = np.append(np.flatnonzero(signs == 0), len(signs))
    return (np.diff(digits[ends], prepend=0) > 0).tolist()  # type: ignore[no-any-return]


def _pairs_to_ask(pairs: Sequence[Pair], texts: _Texts) -> dict[Any, list[int]]:
    """By what reads both values, by what holds of their letters, and by what fits them, the places of the pairs that may be of such a
    kind. Texts that are equal, or of which one is in the other, when case, punctuation and spaces are ignored have such letters: where they
    have not, no more has to be asked. What can be read has digits, or is the word of a truth value."""
    known = set(texts.places)
    others = [k for k in range(len(pairs)) if k not in known]
    both = list(zip(texts.places, texts.letters, texts.digits, strict=True))
    maybe = [k for k, (a, b), digits in both if all(digits) or (a in _TRUTH_LETTERS and b in _TRUTH_LETTERS)]
    read = [(k, bits) for k in (*others, *maybe) if (bits := _both_readings(*pairs[k]))]
    return {
        **{reader: [k for k, bits in read if bits & bit] for reader, bit in _READERS.items()},
        **{fits: [*others, *(k for k, (a, b), _ in both if fits(a, b))] for fits in (eq, _one_inside)},
        _same_digits: [*others, *(k for k, _, (ours, theirs) in both if ours == theirs)],
        _is_opposite: others,
        **({} if texts.brackets else {_json_inside: others}),
    }


def _of_kind(kind: Kind, places: list[int], pairs: Sequence[Pair], texts: _Texts) -> list[int]:
    """Which of the pairs at some places are of a kind."""
    if kind.fits is not None:
        sure = texts.wordy if kind.fits is _same_digits else ()
        places = [k for k in places if k in sure or kind.fits(*pairs[k])]
    if kind.similarity is None:
        return places
    if not places:
        return places
    given = kind.similarity.weights_of_values([pairs[k][0] for k in places], [pairs[k][1] for k in places])
    return [places[k] for k in np.flatnonzero(given >= kind.least).tolist()]


_LOWER = bytes(range(256)).lower()
_NO_LETTERS = bytes(code for code in range(1, 128) if not chr(code).isalnum())


def _one_inside(one: bytes, other: bytes) -> bool:
    return one in other or other in one


def _which_part(reference: str, predicted: str) -> str:
    """A letter more or less at an end is a slip of the pen."""
    more = len(plain_text(predicted)) - len(plain_text(reference))
    if abs(more) == 1 and _same_digits(reference, predicted) and min(map(len, (reference, predicted))) > 4:
        return "typo"
    return "longer" if more > 0 else "truncated"


def _in_english(name: str, reads: Callable[[str], bool]) -> Callable[[Any, Any], str]:
    """The kind of this name, unless a text is as another language writes it."""
    return lambda *pair: name if all(reads(side) for side in pair if isinstance(side, str)) else "language"


def _texts(reference: Any, predicted: Any) -> bool:
    return isinstance(reference, str) and isinstance(predicted, str)


def _spelled_out(reference: Any, predicted: Any) -> bool:
    """One of the two is a text: two numbers that are the same are `equal`, and were seen before, unless they are integers which only as
    floats are the same."""
    return isinstance(reference, str) or isinstance(predicted, str) or max(abs(reference), abs(predicted)) >= 2**53


def _words(reference: Any, predicted: Any) -> bool:
    """Two texts of which no number is made, with something left of them: "1.5" is not "15" without its punctuation."""
    return (
        _texts(reference, predicted)
        and not _both_readings(reference, predicted) & (_READERS[_NUMBER] | _READERS[_DATE])
        and bool(normalise_text(reference, STEPS))
    )


def _part_of(reference: Any, predicted: Any) -> bool:
    """Two texts of which the shorter is more than a letter or two."""
    if not _texts(reference, predicted):
        return False
    short, long = sorted(len(plain_text(side)) for side in (reference, predicted))
    return short >= 3 or 2 * short > long > short > 0


def _same_digits(reference: Any, predicted: Any) -> bool:
    return _texts(reference, predicted) and (
        has_no_digit(reference + predicted) or re.findall(r"\d", reference) == re.findall(r"\d", predicted)
    )


def _signs_differ(reference: Any, predicted: Any) -> bool:
    """Whether two values may be one number under two signs; two numbers above 0 are not, or they are `equal` and were seen before."""
    return not (type(reference) in (int, float) and type(predicted) in (int, float) and reference > 0 and predicted > 0)


def _json_inside(reference: Any, predicted: Any) -> bool:
    return (isinstance(reference, str) and reference.lstrip()[:1] in ("{", "[")) or (
        isinstance(predicted, str) and predicted.lstrip()[:1] in ("{", "[")
    )


# What a value can be read as: each is looked at once, and a pair is asked for by what both are.


def _both_readings(reference: Any, predicted: Any) -> int:
    """Which of the readers make something of both values, as bits."""
    found = _readings(reference)
    return found and found & _readings(predicted)


def _readings(value: Any) -> int:
    """Which of the readers make something of a value, as bits."""
    if type(value) is int or type(value) is float:
        return _NUMBERS | _TRUTHS * (value in (0, 1))
    if isinstance(value, str):
        return _TRUTHS * _TRUTH.reads(value) if has_no_digit(value) else _spelled_readings(value)
    return _find_readings(value)


def _find_readings(value: Any) -> int:
    if isinstance(value, str) and looks_unreadable(value):
        return 0
    return sum(bit for similarity, bit in _READERS.items() if _reads(similarity, value))


_spelled_readings = lru_cache(maxsize=1 << 16)(_find_readings)


def _reads(similarity: Similarity, value: Any) -> bool:
    """Whether it makes something of a value; a truth value is none of a number's."""
    if isinstance(value, bool):
        return similarity.name == "boolean"
    return (similarity.name == "number" and isinstance(value, (int, float))) or similarity.reads(value)


_POINT, _NUMBER, _DATE, _TRUTH = number(parse="point"), number(parse="auto"), date(parse="auto"), boolean()
_READERS: dict[Similarity, int] = {_POINT: 1, _NUMBER: 2, _DATE: 4, _TRUTH: 8}
_NUMBERS, _TRUTHS = 1 | 2, 8
"""The readers of numbers, and the one of truth values, which alone needs no digits."""
_TRUTH_LETTERS = frozenset(word.encode() for word in TRUTH_WORDS if word.isascii())


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
    read = [read_date(side) if isinstance(side, str) else None for side in (reference, predicted)]
    if read[0] is None or read[1] is None:
        return False
    one, other = read[0][0][0], read[1][0][0]
    return one.month != one.day and (one.year, one.month, one.day) == (other.year, other.day, other.month)


def _is_opposite(reference: Any, predicted: Any) -> bool:
    """Whether the one is true and the other false; the reference says so as a truth value."""
    return isinstance(reference, (bool, np.bool_)) and _reads(_TRUTH, predicted) and _TRUTH(reference, predicted) == 0


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
    found = KINDS[kind].remedy
    return found(list(pairs)) if callable(found) else deepcopy(found)


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


_PARTIAL = {"text": ["partial", "casefold", "whitespace"], "at_least": 1}

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "form", "the same except for Unicode form, white space or float noise", True,
            fits=lambda *_: True, letters=eq, similarity=equal, remedy="equal",
        ),
        Kind(
            "case", "the same text except for upper and lower case", True,
            fits=_texts, letters=eq, similarity=text("equal", "casefold", "whitespace"), remedy={"text": ["equal", "casefold", "whitespace"]},
        ),
        Kind(
            "number", "the same number, spelled differently", True, reads=_POINT, fits=_spelled_out, similarity=_POINT,
            refine=_in_english("number", english_number), remedy={"number": {"parse": "auto"}},
        ),
        Kind(
            "date", "the same date, spelled differently", True, reads=_DATE, similarity=_DATE,
            refine=_in_english("date", english_date), remedy={"date": {"parse": "auto"}},
        ),
        Kind(
            "boolean", "the same truth value, in other words", True,
            reads=_TRUTH, similarity=_TRUTH, remedy="boolean",
        ),
        Kind("json", "the same JSON, written differently", True, fits=_json_inside, similarity=json, remedy={"parse": "json"}),
        Kind(
            "language", "the same number or date, as another language writes it: a decimal comma, the name of a month", True,
            reads=_NUMBER, fits=_spelled_out, similarity=_NUMBER,
            remedy=lambda pairs: {"number" if any(map(_numbers, pairs[0])) else "date": {"parse": "auto"}},
        ),
        Kind(
            "text", "the same text except for accents, punctuation or spaces, perhaps case too", True,
            fits=_words, letters=eq, similarity=text("equal", *STEPS), remedy=lambda pairs: {"text": ["equal", *_needed_steps(pairs)]},
        ),
        Kind(
            "empty", "an empty value on one side, nothing on the other", True, remedy={"nothing": ["missing", "null", "empty"]}
        ),
        Kind(
            "sign", "the same number with the other sign", reads=_NUMBER, fits=_signs_differ, similarity=via(magnitude, equal),
            remedy={"expression": "via(tallystick:magnitude, equal)"},
        ),
        Kind("opposite", "the other truth value", fits=_is_opposite),
        Kind("rounding", "the same number to fewer digits", reads=_NUMBER, fits=_is_rounded, remedy=lambda pairs: {"number": _tolerance(pairs)}),
        Kind(
            "exchanged", "the same date with day and month exchanged",
            advice="say in the prompt whether day or month comes first", reads=_DATE, fits=_is_exchanged,
        ),
        Kind("swapped", "the value of another field of the same record", advice="say in the prompt or schema what tells the two fields apart"),
        Kind("item", "the value that another item of the list has there", advice="look at the alignment of the items with explain"),
        Kind(
            "truncated", "a part of the right text", fits=_part_of, letters=_one_inside, similarity=text("partial", "casefold", "whitespace"),
            refine=_which_part, remedy=_PARTIAL,
        ),
        Kind("longer", "the right text with more around it", remedy=_PARTIAL),
        Kind(
            "typo", "nearly the same text, with the same digits", fits=_same_digits, similarity=text("levenshtein", "casefold"), least=0.8,
            remedy={"text": ["levenshtein", "casefold"]},
        ),
        Kind(
            "alias", "always the same other value for one right value, and not a value of the field itself",
            remedy=lambda pairs: {"aliases": _aliases(pairs)},
        ),
        Kind("elsewhere", "a value that the document has in another place", advice="say in the prompt or schema where to find the field's value"),
        Kind("nowhere", "a value that is nowhere in the reference document", advice="an invention, or a misreading"),
        Kind("invalid", "missing, because there is no prediction, or it could not be read", advice="look at the documents in question: without a prediction, ask again; of a text --lenient reads more, and a schema in the request leaves less to repair"),
        Kind("missing", "only the reference has a value", advice="ask for the field, or raise the limit on the answer's length"),
        Kind("extra", "only the prediction has a value", advice="say when to leave out a field; --unknown ignore leaves out unknown keys"),
    )
}  # fmt: skip
"""By name, in the order of their priority."""
PRIORITY = {name: place for place, name in enumerate(KINDS)}


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


def number_keys(values: Sequence[Any], numbers: Mapping[Any, int]) -> I64:
    """The number that the `plain_key` of each value has; -1 if it has none."""
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        known = np.sort([key for key in numbers if isinstance(key, float)])
        rows = _near(values, known) if len(known) else []
        some = [values[row] for row in rows]
        known_keys = {value: plain_key(value) for value in set(some)}
        out = np.full(len(values), -1, np.int64)
        out[rows] = [numbers.get(known_keys[value], -1) for value in some]
        return out
    keys = values
    if kinds != {str} or not are_plain(different := set(values)):
        keys = plain_keys(values)
    elif different.isdisjoint(numbers):
        return np.full(len(values), -1, np.int64)
    return np.fromiter(map(numbers.get, keys, repeat(-1)), np.int64, len(keys))


def _near(values: Sequence[float], known: F64) -> list[int]:
    """Which numbers differ from some known one by so little that their first nine digits may be the same."""
    try:
        found = np.array(values, np.float64)
    except OverflowError:  # an integer that is no float
        return list(range(len(values)))
    place = np.searchsorted(known, found)
    sides = (known[np.clip(place - back, 0, len(known) - 1)] for back in (0, 1))
    with np.errstate(invalid="ignore"):
        near = [(abs(found - side) <= 1e-7 * abs(side)) | (found == side) for side in sides]
    return np.flatnonzero(near[0] | near[1]).tolist()  # type: ignore[no-any-return]

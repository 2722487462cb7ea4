"""When two fills of a MUC-4 slot are alike: set fills by hierarchy, strings without premodifiers, dates, places."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from tallystick.metrics.muc4_slots import KINDS, PARENTS, PREMODIFIERS
from tallystick.reading.muc4 import Fill, Form
from tallystick.similarity.hierarchy import ancestors, parents_table

_ABOVE = {slot: ancestors(parents_table(parents)) for slot, parents in PARENTS.items()}


def stripped(text: str) -> str:
    """A string without quotes, brackets and premodifiers."""
    for sign in '"[]':
        text = text.replace(sign, " ")
    words = text.upper().split()
    while words and words[0] in PREMODIFIERS:
        words = words[1:]
    return " ".join(words)


def words_of(text: str) -> set[str]:
    """The words of a string that are no premodifiers (eq. 45)."""
    return {word for word in text.upper().strip('"').split() if word not in PREMODIFIERS}


def value_credit(slot: str, key: Fill, response: Fill) -> float:
    """1, ½ or 0 for the values alone; alternatives are as good as each other."""
    kind = KINDS[slot]
    if kind == "set":
        if set(key.values) & set(response.values):
            return 1.0
        above = _ABOVE.get(slot, {})
        return 0.5 if any(r in above.get(k, ()) for k in key.values for r in response.values) else 0.0
    if kind == "string":
        return float(bool(set(map(stripped, key.values)) & set(map(stripped, response.values))))
    keys, responses = ([value_form(slot, value) for value in fill.values] for fill in (key, response))
    if set(keys) & set(responses):
        return 1.0
    if kind == "date":
        return max((date_credit(k, r) for k in keys for r in responses), default=0.0)
    if kind == "location":
        countries = [{form[1] if isinstance(form, tuple) else form for form in side} for side in (keys, responses)]
        return 0.5 if countries[0] & countries[1] else 0.0  # the country is right
    return 0.0


MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = 2
"""A date that is so near to the key's is right."""


def _day(text: Form) -> int | None:
    """A date such as 04 MAY 88 as a number of days."""
    parts = text.split() if isinstance(text, str) else []
    if (
        len(parts) != 3
        or len(parts[0]) > 2
        or not parts[0].isdigit()
        or not parts[2].isdigit()
        or parts[1][:3] not in MONTHS
    ):
        return None
    try:
        return date(1900 + int(parts[2]) % 100, 1 + MONTHS.index(parts[1][:3]), int(parts[0])).toordinal()
    except ValueError:
        return None


def date_credit(key: Form, response: Form) -> float:
    """1 for dates, or ranges, that differ by two days at most; ½ for a date inside the key's range."""
    ends = [
        [None if end is None else _day(end) for end in (form[1:] if isinstance(form, tuple) else (form, form))]
        for form in (key, response)
    ]
    (first, last), (start, end) = ends
    if last is None or end is None:
        return 0.0
    ranges = isinstance(key, tuple), isinstance(response, tuple)
    if ranges[0] == ranges[1]:
        same_start = (first is None and start is None) or (
            first is not None and start is not None and abs(first - start) <= DAYS
        )
        return float(same_start and abs(last - end) <= DAYS)
    if ranges[0] and (first is None or first <= end) and end <= last:
        return 0.5
    return 0.0


def value_form(slot: str, value: str) -> Form:
    """A value as the record of judgements writes it."""
    kind = KINDS[slot]
    if kind == "date" and "-" in value:
        first, _, last = (part.strip() for part in value.partition("-"))
        return ("range", first or None, last or None)
    if kind == "location":
        places = [part.strip() for part in value.split(":")]
        if len(places) > 1:
            return ("location", places[0], *map(_qualified, places[1:]))
    return value


def _qualified(place: str) -> Form:
    name, bracket, sort = place.rpartition(" (")
    return ("qualified", name.strip(), sort.rstrip(")").strip()) if bracket else place


def fill_form(slot: str, fill: Fill) -> Form:
    """A fill as the record of judgements writes it."""

    def either(parts: Sequence[Form]) -> Form:
        return parts[0] if len(parts) == 1 else ("or", *parts)

    value = either([value_form(slot, value) for value in fill.values])
    return value if fill.tags is None else ("xref", value, either(list(fill.tags)))


def key_forms(form: Form) -> tuple[list[Form], bool]:
    """The keys that a judgement is about, without marks of optional ones; and whether it is distributed over several."""
    if isinstance(form, tuple) and form and form[0] == "all-of":
        return [one for part in form[1:] for one in key_forms(part)[0]], True
    if isinstance(form, tuple) and form and form[0] == "optional":
        return key_forms(form[1])
    return [form], False


def texts(form: Form) -> frozenset[str]:
    """The strings of a key: all of its alternatives, without its tag."""
    if isinstance(form, str):
        return frozenset((form,))
    if not isinstance(form, tuple) or not form:
        return frozenset()
    parts = form[1:2] if form[0] == "xref" else form[1:]
    return frozenset(text for part in parts for text in texts(part))

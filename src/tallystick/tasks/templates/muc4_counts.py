"""The slots of the MUC-4 template: what kind of fills they take, how set fills nest, and what tags refer to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from tallystick.algebra.hierarchy import ancestors, parents_table
from tallystick.engine.arrays import I64
from tallystick.engine.assignment import assign
from tallystick.tasks.templates.muc4_files import Fill, Form, Judgement, Judgements, Muc4Template

KINDS = {
    "inc-date": "date", "inc-loc": "location", "inc-type": "set", "inc-stage": "set", "inc-instr-id": "string",
    "inc-instr-type": "set", "perp-inc-cat": "set", "perp-ind-id": "string", "perp-org-id": "string",
    "perp-org-conf": "set", "phys-tgt-id": "string", "phys-tgt-type": "set", "phys-tgt-num": "number",
    "phys-tgt-nation": "set", "phys-tgt-effect": "set", "phys-tgt-total-num": "number", "hum-tgt-name": "string",
    "hum-tgt-desc": "string", "hum-tgt-type": "set", "hum-tgt-num": "number", "hum-tgt-nation": "set",
    "hum-tgt-effect": "set", "hum-tgt-total-num": "number",
}  # fmt: skip

PARENTS: dict[str, dict[str, str]] = {
    "inc-type": dict.fromkeys(
        ("ARSON", "BOMBING", "KIDNAPPING", "HIJACKING", "ROBBERY", "FORCED WORK STOPPAGE"), "ATTACK"
    ),
    "inc-instr-type": {
        **dict.fromkeys(("MACHINE GUN", "MORTAR", "HANDGUN", "RIFLE"), "GUN"),
        **dict.fromkeys(("BOMB", "GRENADE", "MOLOTOV COCKTAIL"), "EXPLOSIVE"),
        **dict.fromkeys(("VEHICLE BOMB", "DYNAMITE", "MINE", "AERIAL BOMB"), "BOMB"),
        **dict.fromkeys(("MISSILE", "ROCKET"), "PROJECTILE"),
    },
    "perp-org-conf": {"SUSPECTED OR ACCUSED BY AUTHORITIES": "SUSPECTED OR ACCUSED"},
    "phys-tgt-type": {"GOVERNMENT OFFICE OR RESIDENCE": "POLITICAL FIGURE OFFICE OR RESIDENCE"},
    "phys-tgt-effect": {"SOME DAMAGE": "DESTROYED"},
    "hum-tgt-type": {
        "GOVERNMENT OFFICIAL": "POLITICAL FIGURE",
        "FORMER GOVERNMENT OFFICIAL": "GOVERNMENT OFFICIAL",
        "FORMER ACTIVE MILITARY": "ACTIVE MILITARY",
    },
    "hum-tgt-effect": {"NO DEATH": "NO INJURY", "NO INJURY OR DEATH": "NO DEATH"},
}
"""The parent of each value that has one: half credit goes to a response that is an ancestor of the key (eq. 33)."""

REFERS_TO = {
    "inc-instr-type": ("inc-instr-id",),
    "perp-org-id": ("perp-ind-id",),
    "perp-org-conf": ("perp-org-id",),
    **dict.fromkeys(("phys-tgt-type", "phys-tgt-num", "phys-tgt-nation", "phys-tgt-effect"), ("phys-tgt-id",)),
    "hum-tgt-desc": ("hum-tgt-name",),
    **dict.fromkeys(
        ("hum-tgt-type", "hum-tgt-num", "hum-tgt-nation", "hum-tgt-effect"), ("hum-tgt-name", "hum-tgt-desc")
    ),
}
"""The slots that the tags of a slot stand for."""

_WORDS = """
A AN THE SOME SEVERAL MANY FEW ANOTHER OTHER OTHERS ANY ALL EACH EVERY BOTH OF
ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN 1 2 3 4 5 6 7 8 9 10
THIS THAT THESE THOSE HIS HER ITS THEIR OUR
"""
PREMODIFIERS = frozenset(_WORDS.split())
"""Words in front of a string that do not count: articles, numbers to ten, quantifiers, "of"; and, inferred from the
official counts, demonstratives and possessives."""


# When two fills of a MUC-4 slot are alike: set fills by hierarchy, strings without premodifiers, dates, places.

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


# One slot of two templates that were mapped to each other: correct, partial, incorrect, spurious, missing, noncommittal.

COUNTS = ("COR", "PAR", "INC", "SPU", "MIS", "NON")
COR, PAR, INC, SPU, MIS, NON = range(6)


@dataclass(frozen=True)
class _Cell:
    credit: float
    judged: bool = False
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class SlotScorer:
    """Scores slots, with the judgements that people made."""

    judgements: Judgements = field(default_factory=dict)

    def counts(self, key: Muc4Template, response: Muc4Template, slot: str) -> I64:
        """COR, PAR, INC, SPU, MIS, NON of one slot."""
        keys, responses = key.slots.get(slot, ()), response.slots.get(slot, ())
        out = np.zeros(6, np.int64)
        if not responses and (not keys or (len(keys) == 1 and keys[0].optional)):
            out[NON] = 1
            return out
        place = (key.document, key.name)
        matched = self._matched(place, slot, keys, responses)
        for _, _, credit in matched:
            out[COR if credit == 1 else PAR] += 1
        used_keys, used = {i for i, _, _ in matched}, {j for _, j, _ in matched}
        left_keys = [i for i in range(len(keys)) if i not in used_keys]
        left = [j for j in range(len(responses)) if j not in used]
        partial = self._leftovers(place, slot, keys, responses, left_keys, left)
        both = min(len(left_keys), len(left))
        incorrect = both - len(partial)
        required = sum(not keys[i].optional for i in left_keys if i not in partial)
        out[PAR] += len(partial)
        out[INC] += incorrect
        out[SPU] += len(left) - both
        out[MIS] += max(0, required - incorrect)
        return out

    def _matched(
        self, place: tuple[str, str], slot: str, keys: Sequence[Fill], responses: Sequence[Fill]
    ) -> list[tuple[int, int, float]]:
        """(key, response, credit) of the fills that are put together because they are alike."""
        rows, columns, weights, cells = [], [], [], {}
        for i, key in enumerate(keys):
            for j, response in enumerate(responses):
                cell = self._cell(place, slot, keys, i, response)
                if len(keys) == 1 and key.optional and len(responses) > 1 and cell.credit < 1:
                    continue
                if cell.credit > 0:
                    # Of equal credits an equal string takes the first key, a judged one the last.
                    rank = i if cell.judged else len(keys) - i
                    rows.append(i)
                    columns.append(j)
                    weights.append(cell.credit + 1e-4 * rank)
                    cells[i, j] = cell
        pairs = (np.array(rows, np.int64), np.array(columns, np.int64))
        chosen = (
            assign(*pairs, np.array(weights, np.float64), len(keys), len(responses)) if rows else np.zeros(0, np.bool_)
        )
        out = [(rows[k], columns[k], cells[rows[k], columns[k]].credit) for k in np.flatnonzero(chosen).tolist()]
        taken = {i for i, _, _ in out}
        for _, j, _ in list(out):  # a judgement that is distributed is partial for each of its keys
            for (i, other), cell in cells.items():
                if other == j and i not in taken and cell.others and KINDS[slot] != "set":
                    out.append((i, j, 0.5))
                    taken.add(i)
        return out

    def _cell(self, place: tuple[str, str], slot: str, keys: Sequence[Fill], i: int, response: Fill) -> _Cell:
        key = keys[i]
        judged = self._judged(place, slot, response)
        if judged is not None and judged.verdict != "fail":
            about, distributed = key_forms(judged.key)
            if fill_form(slot, key) in about:
                return _Cell(
                    1.0 if judged.verdict == "match" else 0.5, KINDS[slot] != "set", (1,) if distributed else ()
                )
        if judged is not None and judged.verdict == "fail" and KINDS[slot] in ("date", "number"):
            return _Cell(0.0)
        credit = value_credit(slot, key, response)
        if credit == 0 or (key.tags is None and response.tags is None):
            return _Cell(credit)
        if key.tags is None or response.tags is None:
            return _Cell(min(credit, 0.5))
        if _same_tags(key.tags, response.tags):
            return _Cell(credit)
        tag = self._judged_tag(place, slot, keys, key.tags, response.tags)
        if tag is None:
            return _Cell(0.0)
        if tag == "match":
            return _Cell(1.0, True)
        return _Cell(credit if tag == "several" else min(credit, 0.5), True)

    def _judged(self, place: tuple[str, str], slot: str, response: Fill) -> Judgement | None:
        """The judgement of a response's fill; of a string, also one of the same without premodifiers."""
        recorded = self.judgements.get((*place, slot), {})
        found = recorded.get(fill_form(slot, response))
        if found is not None or KINDS[slot] != "string" or response.tags is not None:
            return found
        mine = set(map(stripped, response.values))
        for form, judged in recorded.items():
            if isinstance(form, str) and stripped(form) in mine:
                return judged
        return None

    def _judged_tag(
        self, place: tuple[str, str], slot: str, keys: Sequence[Fill], key: tuple[str, ...], response: tuple[str, ...]
    ) -> str | None:
        """Whether the tags were judged alike in the slot that they refer to: match, several, partial or None.

        A partial judgement over several keys, or of tags that several fills have, is no less than a match for the
        program; one of a single key leaves the fill partial.
        """
        mine, out = frozenset(key), None
        texts_ = set(map(stripped, response))
        for slot_ in REFERS_TO.get(slot, ()):
            for form, judged in self.judgements.get((*place, slot_), {}).items():
                text = form[1] if isinstance(form, tuple) and form and form[0] == "xref" else form
                same_text = isinstance(text, str) and stripped(text) in texts_
                if not same_text or judged.verdict == "fail":
                    continue
                about, distributed = key_forms(judged.key)
                about = [texts(one) for one in about]
                if not any(one & mine for one in about):
                    continue
                if judged.verdict == "match":
                    return "match"
                same = sum(frozenset(other.tags or ()) in about for other in keys)
                if distributed or same > 1:
                    out = "several"
                elif out is None and (mine in about or same == 0):
                    out = "partial"
        return out

    def _leftovers(
        self, place: tuple[str, str], slot: str, keys: Sequence[Fill], responses: Sequence[Fill],
        left_keys: Sequence[int], left: Sequence[int],
    ) -> set[int]:  # fmt: skip
        """Which of the keys that are left get partial credit for a right value with a wrong tag."""

        def free(response: Fill) -> bool:
            """Whether its tag is no other fill's, and nobody judged it wrong."""
            judged = self._judged(place, slot, response)
            if judged is not None and judged.verdict == "fail":
                return False
            return response.tags is None or not any(
                key.tags is not None
                and (
                    _same_tags(key.tags, response.tags) or self._judged_tag(place, slot, keys, key.tags, response.tags)
                )
                for key in keys
            )

        if KINDS[slot] not in ("set", "number") or not left:
            return set()
        if len(left_keys) == 1:
            (i,) = left_keys
            alone = len(keys) == 1 and len(responses) == 1
            options = [j for j in left if (len(keys) == 1 and KINDS[slot] == "set") or free(responses[j])]
            right = any(value_credit(slot, keys[i], responses[j]) > 0 for j in options)
            return {i} if right and (not keys[i].optional or alone) else set()
        out: set[int] = set()
        for i, j in zip(left_keys, left, strict=False):
            if keys[i].optional or not free(responses[j]) or value_credit(slot, keys[i], responses[j]) == 0:
                break
            out.add(i)
        return out


def _same_tags(one: Iterable[str], other: Iterable[str]) -> bool:
    return bool(set(map(stripped, one)) & set(map(stripped, other)))

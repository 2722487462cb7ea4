"""The official MUC-4 scores of 1992: every slot of mapped templates, totals and rounding.

A fill of a response is correct, partial (half), incorrect, spurious or missing; a slot that is empty on both sides is
noncommittal.

    POS = COR + PAR + INC + MIS      R = (COR + ½ PAR) / POS
    ACT = COR + PAR + INC + SPU      P = (COR + ½ PAR) / ACT      OVG = SPU / ACT

Set fills are compared by `subtypes` (eq. 33 in MUC-4's direction: half for a response that is too general), strings by
equality without premodifiers, then by the recorded judgement, if there is one. What decides between the fills of one
slot is an assignment; what is left over on both sides is put together in order, and only then spurious or missing.

The guidelines do not say all of this. How leftovers meet, what a judged tag is worth, and that a date may be two days
off were inferred from the official counts, the same ones that `tests/parity` compares with: agreement there is a fit,
not a test on data that was not seen.

MUC-4's interactive scoring: string fills that no rule matches are questions, and their answers are its judgements.

In 1992 a person sat at the scorer and decided what `MAIDS` is worth where the key has `THE TWO MAIDS`: match, partial or fail.
Here it is asked like any other question: the candidate is the fill of a response, in a slot of the key template that it was mapped to. Correct is
`match` for the references that the judge names, Partial is `partial`, Incorrect is `fail`. What the rules match is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from tallystick.algebra.hierarchy import ancestors, parents_table
from tallystick.engine.arrays import F64, I64
from tallystick.engine.tally import ratio
from tallystick.errors import SidesMismatch, some
from tallystick.files.pairing import Missing, allowed, require_allowed
from tallystick.frozen import frozen
from tallystick.judging.questions import Judge, Label, Question, Span
from tallystick.results.result import Result
from tallystick.tasks.metric import best_pairs
from tallystick.tasks.templates.files import (
    SLOTS,
    Fill,
    Form,
    Judgement,
    Judgements,
    Muc4Template,
    Muc4Templates,
)

# The slots: what kind of fills they take, how set fills nest, and what tags refer to.

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


@frozen
class _Cell:
    credit: float
    judged: bool = False
    others: tuple[int, ...] = ()


@frozen
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
        cells: dict[tuple[int, int], _Cell] = {}
        weights: dict[tuple[int, int], float] = {}
        for i, key in enumerate(keys):
            for j, response in enumerate(responses):
                cell = self._cell(place, slot, keys, i, response)
                if len(keys) == 1 and key.optional and len(responses) > 1 and cell.credit < 1:
                    continue
                if cell.credit > 0:
                    # Of equal credits an equal string takes the first key, a judged one the last.
                    rank = i if cell.judged else len(keys) - i
                    cells[i, j], weights[i, j] = cell, cell.credit + 1e-4 * rank
        out = [(i, j, cells[i, j].credit) for i, j in best_pairs(weights, len(keys), len(responses))]
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


# Which templates meet

ADMITTING = (
    "phys-tgt-id", "phys-tgt-type", "hum-tgt-name", "hum-tgt-desc", "hum-tgt-type", "perp-ind-id", "perp-org-id",
)  # fmt: skip
"""At least one of these must match in part, besides the incident type; or all of them are empty on both sides."""


def loosely_alike(slot: str, key: Fill, response: Fill) -> float:
    """The credit of two fills while templates are mapped: strings need one word in common (eq. 46)."""
    if KINDS[slot] == "string":
        reached = set().union(*map(words_of, key.values))
        return float(any(words_of(value) & reached for value in response.values))
    return value_credit(slot, key, response)


def mapping_score(key: Muc4Template, response: Muc4Template) -> float | None:
    """The recall that mapping the two would give; None where it is not admissible."""

    def found(slot: str) -> float:
        keys, responses = key.slots.get(slot, ()), response.slots.get(slot, ())
        credits = {(i, j): loosely_alike(slot, k, r) for i, k in enumerate(keys) for j, r in enumerate(responses)}
        return sum(credits[pair] for pair in best_pairs(credits, len(keys), len(responses)))

    if found("inc-type") == 0:
        return None
    empty = not any(slot in key.slots or slot in response.slots for slot in ADMITTING)
    if not empty and not any(found(slot) for slot in ADMITTING):
        return None
    possible = sum(len(fills) for fills in key.slots.values())
    return sum(map(found, key.slots)) / max(possible, 1)


def map_templates(keys: Sequence[Muc4Template], responses: Sequence[Muc4Template]) -> list[tuple[int, int]]:
    """Templates of one message put together: greedily by recall, the first ones of equals."""
    scores = [
        (i, j, mapping_score(key, response)) for i, key in enumerate(keys) for j, response in enumerate(responses)
    ]
    order = sorted(((-score, i, j) for i, j, score in scores if score is not None))
    taken_i: set[int] = set()
    taken_j: set[int] = set()
    out = []
    for _, i, j in order:
        if i not in taken_i and j not in taken_j:
            out.append((i, j))
            taken_i.add(i)
            taken_j.add(j)
    return sorted(out)


def templates_that_meet(
    message: str,
    keys: Sequence[Muc4Template],
    responses: Sequence[Muc4Template],
    recorded: set[tuple[str, str, str]] | None = None,
) -> list[tuple[int, int]]:
    """The templates of one message that are put together: as recorded, or found anew."""
    if recorded is None:
        return map_templates(keys, responses)
    return [
        (i, j)
        for i, key in enumerate(keys)
        for j, response in enumerate(responses)
        if (message, key.name, response.name) in recorded
    ]


# The report

GROUPS = {
    f"{name}-total": tuple(slot for slot in SLOTS if slot.startswith(name))
    for name in ("inc", "perp", "phys-tgt", "hum-tgt")
}
MATCHED, MISSING, SPURIOUS = range(3)
TOTALS = {
    "MATCHED/MISSING": ((MATCHED, MISSING), SLOTS),
    "MATCHED/SPURIOUS": ((MATCHED, SPURIOUS), SLOTS),
    "MATCHED ONLY": ((MATCHED,), SLOTS),
    "ALL TEMPLATES": ((MATCHED, MISSING, SPURIOUS), SLOTS),
    "SET FILLS ONLY": ((MATCHED, MISSING), tuple(slot for slot in SLOTS if KINDS[slot] == "set")),
    "STRING FILLS ONLY": ((MATCHED, MISSING), tuple(slot for slot in SLOTS if KINDS[slot] == "string")),
}


def percent(numerator: Fraction | float, denominator: int) -> int | None:
    """An official percentage: per mil, cut off, then rounded to percent, a half to the even one; None for 0/0."""
    if denominator == 0:
        return None
    mil = int(Fraction(numerator) * 1000 / denominator)
    tens, rest = divmod(mil, 10)
    return tens + (rest > 5 or (rest == 5 and tens % 2))


def recall_precision(counts: Mapping[str, int]) -> tuple[int | None, int | None, int | None]:
    """Official recall, precision and overgeneration of a row of counts."""
    right = Fraction(2 * counts["COR"] + counts["PAR"], 2)
    common = counts["COR"] + counts["PAR"] + counts["INC"]
    actual = common + counts["SPU"]
    return percent(right, common + counts["MIS"]), percent(right, actual), percent(counts["SPU"], actual)


def f_measures(counts: Mapping[str, int]) -> tuple[float | None, float | None, float | None]:
    """P&R, 2P&R and P&2R: F from the whole percentages, rounded to two places; precision twice or half as important."""
    recall, precision, _ = recall_precision(counts)
    if recall is None or precision is None:
        return None, None, None
    out = []
    for share in (Fraction(1, 2), Fraction(4, 5), Fraction(1, 5)):
        f = Fraction(0)
        if recall and precision:
            f = 1 / (share / precision + (1 - share) / recall)
        out.append(float(round(f, 2)))
    return out[0], out[1], out[2]


def _official_f1(counts: I64) -> F64:
    """P&R of many rows of counts as fractions, NaN for 0/0: percentages as integers, F once for each two of them."""
    twice = 2 * counts[:, COR] + counts[:, PAR]
    common = counts[:, COR] + counts[:, PAR] + counts[:, INC]
    possible, actual = common + counts[:, MIS], common + counts[:, SPU]
    both = []
    for denominator in (possible, actual):
        tens, rest = np.divmod(500 * twice // np.maximum(denominator, 1), 10)
        both.append(tens + ((rest > 5) | ((rest == 5) & (tens % 2 == 1))))
    pairs, inverse = np.unique(np.stack(both, axis=1), axis=0, return_inverse=True)
    values = np.array(
        [0.0 if not r or not p else float(round(Fraction(2 * r * p, r + p), 2)) for r, p in pairs.tolist()]
    )
    found = values[inverse.ravel()] / 100 if len(pairs) else np.zeros(len(counts))
    return np.where((possible == 0) | (actual == 0), np.nan, found)


@frozen
class OfficialCounts:
    """The counts of a corpus. Figures are exact fractions; `official_f1` is made of the whole percentages."""

    headline: str = "f1"

    @property
    def sums(self) -> tuple[str, ...]:
        return COUNTS

    def figures(self, sums: F64) -> dict[str, F64]:
        right = sums[..., COR] + sums[..., PAR] / 2
        common = sums[..., COR] + sums[..., PAR] + sums[..., INC]
        actual, possible = common + sums[..., SPU], common + sums[..., MIS]
        official = _official_f1(np.rint(sums.reshape(-1, 6)).astype(np.int64)).reshape(sums.shape[:-1])
        return {
            "precision": ratio(right, actual), "recall": ratio(right, possible),
            "f1": ratio(2 * right, actual + possible), "overgeneration": ratio(sums[..., SPU], actual),
            "official_f1": official,
        }  # fmt: skip


@frozen(eq=False)
class Report:
    """The counts by document, part (matched, missing, spurious), slot and count; and which templates met."""

    ids: tuple[str, ...]
    table: I64
    templates: I64
    mapping: tuple[tuple[str, str, str], ...]
    settings: str
    notes: tuple[str, ...] = ()

    def row(self, slots: Sequence[str], parts: Sequence[int] = (MATCHED, MISSING, SPURIOUS)) -> dict[str, int]:
        """POS, ACT and the counts of some slots in some parts."""
        places = [SLOTS.index(slot) for slot in slots]
        counts = self.table[:, list(parts)][:, :, places].sum(axis=(0, 1, 2))
        return _row(counts)

    def rows(self) -> dict[str, dict[str, int]]:
        """The rows of the official report: template-id, slots, groups, totals. The template-id row is in no total."""
        out = {"template-id": _row(self.templates.sum(axis=0))}
        out.update({slot: self.row((slot,)) for slot in SLOTS})
        out.update({name: self.row(slots) for name, slots in GROUPS.items()})
        out.update({name: self.row(slots, parts) for name, (parts, slots) in TOTALS.items()})
        return out

    @property
    def result(self) -> Result:
        """All templates, by document."""
        rows = self.table.sum(axis=(1, 2)).astype(np.float64)
        return Result(
            "templates.muc4_official", OfficialCounts(), rows, self.ids, None, self.notes, settings=self.settings
        )


def _row(counts: Any) -> dict[str, int]:
    named = dict(zip(COUNTS, (int(count) for count in counts), strict=True))
    common = named["COR"] + named["PAR"] + named["INC"]
    return {"POS": common + named["MIS"], "ACT": common + named["SPU"], **named}


def score(
    reference: Muc4Templates,
    predicted: Muc4Templates,
    *,
    judgements: Judgements | None = None,
    recorded: bool = False,
    asked: Missing | None = None,
) -> Report:
    """Score a response against a key. `recorded` takes the response's recorded mapping instead of making one."""
    notes = _check_messages(reference, predicted, asked)
    if recorded and predicted.mapping is None:
        raise SidesMismatch(f"{predicted.file} records no mapping of templates; expected official_pairs in it")
    scorer = SlotScorer(judgements or {})
    ids = tuple(reference.documents)
    table = np.zeros((len(ids), 3, len(SLOTS), 6), np.int64)
    templates = np.zeros((len(ids), 6), np.int64)
    mapping: list[tuple[str, str, str]] = []
    for d, name in enumerate(ids):
        keys, responses = reference.documents[name], predicted.documents.get(name, [])
        pairs = templates_that_meet(name, keys, responses, predicted.mapping if recorded else None)
        mapping += [(name, keys[i].name, responses[j].name) for i, j in pairs]
        found_i, found_j = {i for i, _ in pairs}, {j for _, j in pairs}
        absent = [key for i, key in enumerate(keys) if i not in found_i and not key.optional]
        extras = [response for j, response in enumerate(responses) if j not in found_j]
        templates[d, [COR, MIS, SPU]] = len(pairs), len(absent), len(extras)
        templates[d, NON] = not pairs and not absent and not extras
        for s, slot in enumerate(SLOTS):
            for i, j in pairs:
                table[d, MATCHED, s] += scorer.counts(keys[i], responses[j], slot)
            table[d, MISSING, s] = _alone(absent, slot, MIS)
            table[d, SPURIOUS, s] = _alone(extras, slot, SPU)
    settings = f"mapping={'recorded' if recorded else 'greedy'}, judgements={'recorded' if judgements else 'none'}"
    return Report(ids, table, templates, tuple(mapping), settings, notes)


def _check_messages(reference: Muc4Templates, predicted: Muc4Templates, asked: Missing | None) -> tuple[str, ...]:
    """What there is to say of messages that one side lacks; an error, if the response has others than the key."""
    missing = [name for name in reference.documents if name not in predicted.documents]
    extra = [name for name in predicted.documents if name not in reference.documents]
    none_paired = len(missing) == len(reference.documents)
    allows = allowed(asked, missing, extra, none_paired)
    if extra and not allows:
        require_allowed(reference.file, predicted.file, missing if none_paired else [], extra, asked, "", none_paired)
    if missing and not allows:  # as in 1992: nothing was found there
        return (f"{predicted.file} leaves out {len(missing):,} messages, which count as empty: {some(missing)}",)
    return ()


def _alone(templates: Sequence[Muc4Template], slot: str, count: int) -> I64:
    """The counts of a slot of templates that meet none: each required fill is missing or spurious."""
    out = np.zeros(6, np.int64)
    for one in templates:
        listed = one.slots.get(slot, ())
        fills = sum(not fill.optional for fill in listed)
        out[count] += fills
        out[NON] += not fills and len(listed) < 2
    return out


VERDICTS: dict[Label, str] = {"Correct": "match", "Partial": "partial", "Incorrect": "fail"}
STRINGS = tuple(slot for slot in SLOTS if KINDS[slot] == "string")


@frozen
class OpenFill:
    """A fill of a response that equals none of the key's, and the question about it."""

    template: tuple[str, str]
    """The message, and the name of the key's template."""
    slot: str
    keys: tuple[Fill, ...]
    response: Fill
    question: Question


def open_fills(reference: Muc4Templates, predicted: Muc4Templates, *, recorded: bool = False) -> list[OpenFill]:
    """The string fills of mapped templates that the rules leave open, in the order of the key."""
    out = []
    for message, key_name, response_name in score(reference, predicted, recorded=recorded).mapping:
        key = next(one for one in reference.documents[message] if one.name == key_name)
        response = next(one for one in predicted.documents[message] if one.name == response_name)
        text, places = template_text(message, key)
        for slot in STRINGS:
            keys = key.slots.get(slot, ())
            for fill in response.slots.get(slot, ()):
                if keys and fill_text(fill).strip() and not any(value_credit(slot, one, fill) for one in keys):
                    question = _question(text, places, key, slot, keys, fill)
                    out.append(OpenFill((message, key_name), slot, keys, fill, question))
    return out


def _question(
    text: str, places: dict[tuple[str, int], Span], key: Muc4Template, slot: str, keys: Sequence[Fill], fill: Fill
) -> Question:
    return Question(
        fill_text(fill),
        tuple(fill_text(one) for one in keys),
        text,
        event_type=" / ".join(value for one in key.slots.get("inc-type", ()) for value in one.values),
        role=slot,
        reference_spans=tuple(places.get((slot, k)) for k in range(len(keys))),
    )


def fill_text(fill: Fill) -> str:
    """The text of a fill, with its alternatives."""
    return " / ".join(value.strip('"') for value in fill.values)


def template_text(message: str, key: Muc4Template) -> tuple[str, dict[tuple[str, int], Span]]:
    """The key's template as a text to judge by, and the span of each of its fills."""
    text, places = f"{message}, template {key.name}\n", {}
    for slot in SLOTS:
        for k, fill in enumerate(key.slots.get(slot, ())):
            text += f"\n{slot}: "
            if fill_text(fill):
                places[slot, k] = (len(text), len(text) + len(fill_text(fill)))
            text += fill_text(fill) + (f" ({' / '.join(fill.tags)})" if fill.tags else "")
    return text, places


@frozen
class DecidedFills:
    """A judge's decisions on the open fills."""

    judgements: Judgements
    asked: int
    judged: int
    without_key: int
    """Correct, but for none of the key's fills, for which MUC-4 has no credit."""
    notes: tuple[str, ...] = ()
    """Notes of the judge about itself."""

    @property
    def note(self) -> str:
        """What a reader of the figures needs to know."""
        text = f"the judge decided {self.judged:,} of {self.asked:,} open string fills"
        if self.judged < self.asked:
            text += ": the figures are lower bounds"
        if self.without_key:
            text += f"; {self.without_key:,} are correct for none of the key's fills, which earns nothing here"
        return "; ".join((text, *self.notes))


def decide_fills(fills: Sequence[OpenFill], judge: Judge, before: Judgements | None = None) -> DecidedFills:
    """A judge's verdicts as MUC-4's judgements; those of `before` stay."""
    out: Judgements = {place: dict(found) for place, found in (before or {}).items()}
    verdicts = judge.judge([one.question for one in fills])
    judged = without_key = 0
    for one, verdict in zip(fills, verdicts, strict=True):
        if verdict is None:
            continue
        judged += 1
        about: list[Form] = [fill_form(one.slot, one.keys[k]) for k in verdict.references]
        if verdict.label != "Incorrect" and not about:
            without_key += 1
            continue
        key: Form = None if verdict.label == "Incorrect" else about[0] if len(about) == 1 else ("all-of", *about)
        listed = out.setdefault((*one.template, one.slot), {})
        listed.setdefault(fill_form(one.slot, one.response), Judgement(VERDICTS[verdict.label], key))
    return DecidedFills(out, len(fills), judged, without_key, tuple(getattr(judge, "notes", ())))

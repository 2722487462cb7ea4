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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.engine.assignment import assign
from tallystick.errors import SidesMismatch, some
from tallystick.files.pairing import Missing, allowed, require_allowed
from tallystick.results.result import Result
from tallystick.tasks.templates.muc4_counts import (
    COR,
    COUNTS,
    INC,
    KINDS,
    MIS,
    NON,
    PAR,
    SPU,
    SlotScorer,
    value_credit,
    words_of,
)
from tallystick.tasks.templates.muc4_files import SLOTS, Fill, Judgements, Muc4Template, Muc4Templates

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
        credits = [(i, j, loosely_alike(slot, k, r)) for i, k in enumerate(keys) for j, r in enumerate(responses)]
        credits = [cell for cell in credits if cell[2] > 0]
        if not credits:
            return 0.0
        rows, columns, weights = (np.array(side) for side in zip(*credits, strict=True))
        return float(weights[assign(rows, columns, weights, len(keys), len(responses))].sum())

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


# The report

GROUPS = {
    "inc-total": tuple(slot for slot in SLOTS if slot.startswith("inc-")),
    "perp-total": tuple(slot for slot in SLOTS if slot.startswith("perp-")),
    "phys-tgt-total": tuple(slot for slot in SLOTS if slot.startswith("phys-")),
    "hum-tgt-total": tuple(slot for slot in SLOTS if slot.startswith("hum-")),
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


@dataclass(frozen=True)
class OfficialCounts:
    """The counts of a corpus. Figures are exact fractions; `official_f1` is made of the whole percentages."""

    headline: str = "f1"

    @property
    def sums(self) -> tuple[str, ...]:
        return COUNTS

    def figures(self, sums: F64) -> dict[str, F64]:
        from tallystick.engine.tally import ratio

        right = sums[..., COR] + sums[..., PAR] / 2
        common = sums[..., COR] + sums[..., PAR] + sums[..., INC]
        actual, possible = common + sums[..., SPU], common + sums[..., MIS]
        official = _official_f1(np.rint(sums.reshape(-1, 6)).astype(np.int64)).reshape(sums.shape[:-1])
        return {
            "precision": ratio(right, actual), "recall": ratio(right, possible),
            "f1": ratio(2 * right, actual + possible), "overgeneration": ratio(sums[..., SPU], actual),
            "official_f1": official,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
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
    missing = [name for name in reference.documents if name not in predicted.documents]
    extra = [name for name in predicted.documents if name not in reference.documents]
    allows = allowed(asked, missing, extra)
    if extra and not allows:
        require_allowed(reference.file, predicted.file, [], extra, None)
    notes: tuple[str, ...] = ()
    if missing and not allows:  # as in 1992: nothing was found there
        notes = (f"{predicted.file} leaves out {len(missing):,} messages, which count as empty: {some(missing)}",)
    if recorded and predicted.mapping is None:
        raise SidesMismatch(f"{predicted.file} records no mapping of templates; expected official_pairs in it")
    scorer = SlotScorer(judgements or {})
    ids = tuple(reference.documents)
    table = np.zeros((len(ids), 3, len(SLOTS), 6), np.int64)
    templates = np.zeros((len(ids), 6), np.int64)
    mapping: list[tuple[str, str, str]] = []
    for d, name in enumerate(ids):
        keys, responses = reference.documents[name], predicted.documents.get(name, [])
        if recorded:
            assert predicted.mapping is not None
            pairs = [
                (i, j)
                for i, key in enumerate(keys)
                for j, response in enumerate(responses)
                if (name, key.name, response.name) in predicted.mapping
            ]
        else:
            pairs = map_templates(keys, responses)
        mapping += [(name, keys[i].name, responses[j].name) for i, j in pairs]
        found_i, found_j = {i for i, _ in pairs}, {j for _, j in pairs}
        absent = [key for i, key in enumerate(keys) if i not in found_i and not key.optional]
        extras = [response for j, response in enumerate(responses) if j not in found_j]
        templates[d, [COR, MIS, SPU]] = len(pairs), len(absent), len(extras)
        templates[d, NON] = not pairs and not absent and not extras
        for s, slot in enumerate(SLOTS):
            for i, j in pairs:
                table[d, MATCHED, s] += scorer.counts(keys[i], responses[j], slot)
            for part, side, count in ((MISSING, absent, MIS), (SPURIOUS, extras, SPU)):
                for one in side:
                    fills = sum(not fill.optional for fill in one.slots.get(slot, ()))
                    table[d, part, s, count] += fills
                    table[d, part, s, NON] += not fills and len(one.slots.get(slot, ())) < 2
    settings = f"mapping={'recorded' if recorded else 'greedy'}, judgements={'recorded' if judgements else 'none'}"
    return Report(ids, table, templates, tuple(mapping), settings, notes)

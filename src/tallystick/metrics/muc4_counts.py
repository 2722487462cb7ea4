"""One slot of two templates that were mapped to each other: correct, partial, incorrect, spurious, missing, noncommittal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tallystick.columns.arrays import I64
from tallystick.matching.assignment import assign
from tallystick.metrics.muc4_fills import fill_form, key_forms, stripped, texts, value_credit
from tallystick.metrics.muc4_slots import KINDS, REFERS_TO
from tallystick.reading.muc4 import Fill, Judgement, Judgements, Muc4Template

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

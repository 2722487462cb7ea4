"""The deterministic stages, inside one role of one event (BEMEAE, section 6.1). Each sees only what is still unmatched.

    exact            the same place
    same text        the same text; not for pronouns
    harmless tokens  the same form, without articles, determiners, punctuation, 's
    break            a candidate `a and b` becomes the candidates a, b; those that are references are right
    aggregate        candidates a, b that are the conjuncts of one reference `a and b` become one, which is right
    modifiers        a reference of one token with modifiers of its own from a parse

The first three compare by equality: matched one to one, they count equal keys (`metrics` has them as expressions).
Break: the number of references found is the largest possible in any order; which candidate gets them is
decided by most hits, fewest parts, and place. Aggregate: the largest number of references, the leftmost of equally many.
Modifiers: a maximum matching. References and candidates are first sorted by their places, so that the order of the
input does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tallystick.engine.arrays import assign
from tallystick.structures.texts import EventArgument, Span
from tallystick.tasks.arguments.forms import Form, Variants, Wording

EXACT, SAME_TEXT, HARMLESS_TOKENS = "exact", "same_text", "harmless_tokens"
BREAK_AGGREGATE, MODIFIERS, JUDGED = "break_aggregate", "modifiers", "judge"
STAGES = (EXACT, SAME_TEXT, HARMLESS_TOKENS, BREAK_AGGREGATE, MODIFIERS, JUDGED)

CONTENDING = 16
"""For up to so many references that want the same candidates, the best choice is searched for."""

Share = Fraction | int
"""Exact, so that three thirds are one."""


@dataclass(frozen=True)
class Candidate:
    """A candidate to be matched, or a part of one. `share` is its share of the candidate that it came from."""

    text: str
    span: Span | None
    origin: int
    share: Share = 1


@dataclass(frozen=True)
class Accepted:
    """Candidates that match references, and the stage that accepted them. `partial` marks what a judge calls Partial, whatever its weight."""

    stage: str
    references: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    weight: Share = 1
    how: str = ""
    partial: bool = False


@dataclass(frozen=True)
class Broken:
    """A candidate that was broken into parts."""

    stage: str
    candidate: Candidate
    parts: tuple[Candidate, ...]


@dataclass
class Block:
    """One role of one event: what there is to match, what was matched, and what is still open."""

    event: str
    role: str
    references: tuple[EventArgument, ...]
    candidates: tuple[EventArgument, ...]
    steps: list[Accepted | Broken]
    free: list[int]
    open: list[Candidate]
    contended: bool = False
    """Whether too many references wanted the same candidates for a search."""

    @staticmethod
    def of(
        event: str, role: str, references: Iterable[EventArgument], candidates: Iterable[EventArgument]
    ) -> Block:  # fmt: skip
        """A block in which nothing is matched yet."""
        left, right = tuple(sorted(references, key=sort_key)), tuple(sorted(candidates, key=sort_key))
        waiting = [Candidate(one.text, one.span, k) for k, one in enumerate(right)]
        return Block(event, role, left, right, [], list(range(len(left))), waiting)

    def accept(self, stage: str, references: Sequence[int], candidates: Sequence[Candidate], how: str = "") -> None:
        """Match these, by a deterministic stage."""
        self.take(Accepted(stage, tuple(references), tuple(candidates), how=how or stage))

    def take(self, step: Accepted) -> None:
        """Record what was accepted, and take it off what is free and open."""
        self.steps.append(step)
        self.free = [k for k in self.free if k not in step.references]
        self.open = [one for one in self.open if not any(one is taken for taken in step.candidates)]


def sort_key(argument: EventArgument) -> tuple[bool, Span, str]:
    """The sort key of an argument: its place; arguments without a place come last, by their texts."""
    return argument.span is None, argument.span or (0, 0), argument.text


def match_places(block: Block, wording: Wording) -> None:
    """Match equal spans."""
    del wording  # the place is enough
    _match_equal(block, EXACT, lambda k: block.references[k].span, lambda candidate: candidate.span)


def match_texts(block: Block, wording: Wording) -> None:
    """Match equal texts, except pronouns."""

    def key(text: str) -> str | None:
        reading = wording.read(text)
        return reading.text if reading.comparable else None

    _match_equal(block, SAME_TEXT, lambda k: key(block.references[k].text), lambda candidate: key(candidate.text))


def match_forms(block: Block, wording: Wording) -> None:
    """Match texts that are equal without harmless tokens."""
    _match_equal(
        block,
        HARMLESS_TOKENS,
        lambda k: _form(wording, block.references[k].text),
        lambda candidate: _form(wording, candidate.text),
    )


def _form(wording: Wording, text: str) -> Form | None:
    reading = wording.read(text)
    return reading.form if reading.comparable else None


def _match_equal(
    block: Block, stage: str, of_reference: Callable[[int], Hashable], of_candidate: Callable[[Candidate], Hashable]
) -> None:
    """Match equal keys one to one; None equals nothing."""
    waiting: dict[Hashable, list[int]] = {}
    for k in block.free:
        waiting.setdefault(of_reference(k), []).append(k)
    waiting.pop(None, None)
    for candidate in list(block.open):
        found = waiting.get(of_candidate(candidate))
        if found:
            block.accept(stage, (found.pop(0),), (candidate,))


def break_up(block: Block, wording: Wording) -> None:
    """Break up candidates that list several references."""
    while True:
        wanted = Counter(form for form in (_form(wording, block.references[k].text) for k in block.free) if form)
        best: tuple[int, int, int] | None = None
        for k, candidate in enumerate(block.open):
            texts = wording.read(candidate.text).parts
            found = Counter(form for form in (_form(wording, text) for text in texts) if form)
            hits = sum((found & wanted).values())
            if hits and (best is None or (-hits, len(texts)) < best[:2]):
                best = -hits, len(texts), k
        if best is None:
            return
        candidate = block.open[best[2]]
        texts = wording.read(candidate.text).parts
        share = Fraction(candidate.share) / len(texts)
        parts = tuple(Candidate(text, None, candidate.origin, share) for text in texts)
        block.steps.append(Broken(BREAK_AGGREGATE, candidate, parts))
        block.open[best[2] : best[2] + 1] = parts
        for part in parts:
            form = _form(wording, part.text)
            hit = next((k for k in block.free if form and _form(wording, block.references[k].text) == form), None)
            if hit is not None:
                block.accept(BREAK_AGGREGATE, (hit,), (part,), "break")


def aggregate(block: Block, wording: Wording) -> None:
    """Merge candidates that are the conjuncts of one reference."""
    supply: dict[Form, list[Candidate]] = {}
    for candidate in block.open:
        form = _form(wording, candidate.text)
        if form:
            supply.setdefault(form, []).append(candidate)
    stock = Counter({form: len(found) for form, found in supply.items()})
    wants: list[tuple[int, Counter[Form]]] = []
    for k in block.free:
        reading = wording.read(block.references[k].text)
        forms = [_form(wording, part) for part in reading.parts] if reading.comparable else []
        known = Counter(form for form in forms if form)
        if forms and all(forms) and known <= stock:
            wants.append((k, known))
    chosen, block.contended = _pack(wants, stock)
    for k, known in chosen:
        taken = [supply[form].pop(0) for form in known.elements()]
        block.accept(BREAK_AGGREGATE, (k,), sorted(taken, key=block.open.index), "aggregate")


Want = tuple[int, Counter[Form]]


def _pack(wants: list[Want], stock: Counter[Form]) -> tuple[list[Want], bool]:
    """The largest number of references whose conjuncts are all in stock, the leftmost of equally many; and whether it was
    only searched greedily from left to right, since too many contend."""
    total: Counter[Form] = Counter()
    for _, known in wants:
        total += known
    if total <= stock:
        return wants, False
    if len(wants) > CONTENDING:
        greedy: list[Want] = []
        for want in wants:
            if want[1] <= stock:
                greedy.append(want)
                stock = stock - want[1]
        return greedy, True
    best: list[Want] = []

    def search(at: int, chosen: list[Want], left: Counter[Form]) -> None:
        nonlocal best
        if len(chosen) > len(best):
            best = list(chosen)
        if at == len(wants) or len(chosen) + len(wants) - at <= len(best):
            return
        if wants[at][1] <= left:
            search(at + 1, [*chosen, wants[at]], left - wants[at][1])
        search(at + 1, chosen, left)

    search(0, [], stock)
    return best, False


def match_modifiers(block: Block, wording: Wording, variants: Variants) -> None:
    """Match references of one token with candidates that add modifiers of theirs."""
    edges = []
    for row, k in enumerate(block.free):
        reference = block.references[k]
        if reference.span is None or reference.span[0] != reference.span[1] or not _form(wording, reference.text):
            continue
        for column, candidate in enumerate(block.open):
            form = _form(wording, candidate.text)
            if form and variants.accept(reference.span[0], form):
                edges.append((row, column, 1.0))
    free, waiting = list(block.free), list(block.open)
    for row, column in best_pairs(edges, len(free), len(waiting)):
        block.accept(MODIFIERS, (free[row],), (waiting[column],))


def best_pairs(
    edges: Sequence[tuple[int, int, float]], rows: int, columns: int
) -> list[tuple[int, int]]:  # fmt: skip
    """The pairs of a matching of the largest total weight."""
    if not edges:
        return []
    left, right = (np.array([edge[side] for edge in edges], np.int64) for side in (0, 1))
    weights = np.array([edge[2] for edge in edges], np.float64)
    kept = assign(left, right, weights, rows, columns)
    return [(int(a), int(b)) for a, b in zip(left[kept], right[kept], strict=True)]


def run_stages(
    block: Block, wording: Wording, variants: Variants | None, order: Sequence[str] = ("break", "aggregate")
) -> Block:
    """Run all deterministic stages, one after the other; modifiers only if there is a parse."""
    stages: list[Callable[[Block, Wording], None]] = [match_places, match_texts, match_forms]
    stages += [{"break": break_up, "aggregate": aggregate}[name] for name in order]
    for stage in stages:
        if block.free and block.open:
            stage(block, wording)
    if variants is not None and block.free and block.open:
        match_modifiers(block, wording, variants)
    return block

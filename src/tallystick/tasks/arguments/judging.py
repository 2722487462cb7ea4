"""The last stage: a judge decides about candidates that no rule accepts (BEMEAE, section 6.2).

A question has all references of the event's role, left to right, whether or not they are matched. A candidate is shown in its predicted
place; without a place, or if another text stands there, where its words are nearest to the trigger. The same candidate of
another system is thus the same question. Without text, or without a trigger, the ids of document and event tell questions apart.

    Correct, means references r, s    credits the candidate and those of r, s that are free
    Correct, means none of them       credits the candidate; no reference is used up
    Partial                           the same, with a weight: 0 by default
    Incorrect, or no verdict          credits nothing

A reference is credited once. If several candidates stand for the same references, each takes one so that the total is
largest; each then also gets those of its references that are left. Correct goes before Partial: a Partial candidate gets
the references that no Correct one stands for. A candidate whose references are all credited already is a repetition and stays wrong, as
in all stages.

A candidate without a verdict counts as wrong. With Partial as 0, a further verdict never lowers a figure, so the figures are lower
bounds. With Partial as 0.5 or 1 that holds for those that `bounds_of` names: references that go from three Partial candidates to one
Correct one may lower precision.

A judge is asked in one of three ways: `all`, one question with all references of the role (people); `pairs`, one question for each free
reference, of which only one is credited (embeddings, and language models that are shown a reference); `alone`, one question
without references, which credits the only free reference of the role, if there is just one, or none (language models that are not shown
it). Recorded judgements count the way they were asked. A judge may name its way in an attribute `asks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, counted
from tallystick.frozen import frozen
from tallystick.judging.questions import Question
from tallystick.structures.texts import ArgumentDocument, DescribedEvent, Span
from tallystick.tasks.arguments.stages import JUDGED, Accepted, Block, Candidate, Wording, letters_of
from tallystick.tasks.events.files import nearest
from tallystick.tasks.metric import best_pairs

if TYPE_CHECKING:
    from tallystick.judging.questions import Judge, Question, Verdict


@frozen
class Asker:
    """Makes the questions about one document of the reference."""

    document: ArgumentDocument
    wording: Wording
    id: str = ""
    """Which document it is."""

    @cached_property
    def text(self) -> str:
        """The document as one text: its tokens with blanks between."""
        return " ".join(self.document.tokens)

    @cached_property
    def starts(self) -> list[int]:
        """Where each token begins in the text."""
        out, at = [], 0
        for token in self.document.tokens:
            out.append(at)
            at += len(token) + 1
        return out

    @cached_property
    def events(self) -> dict[str, DescribedEvent]:
        """The events by their ids."""
        return {event.id: event for event in self.document.events}

    def characters(self, span: Span | None) -> Span | None:
        """A span of tokens as a span of characters."""
        if span is None or span[1] >= len(self.starts) or span[1] < span[0]:
            return None
        start, end = self.starts[span[0]], self.starts[span[1]] + len(self.document.tokens[span[1]])
        return (start, end) if end > start else None

    def ask(self, block: Block, candidate: Candidate) -> Question:
        """The question whether the candidate fills the role, and as which reference."""
        event = self.events.get(block.event, DescribedEvent(block.event))
        return Question(
            candidate.text,
            tuple(reference.text for reference in block.references),
            self.text,
            event.type,
            event.trigger,
            block.role,
            self.characters(self._place(candidate, event)),
            tuple(self.characters(reference.span) for reference in block.references),
            self.characters(event.span),
            self._source(event),
        )

    def _source(self, event: DescribedEvent) -> str:
        """What the question itself does not tell: the document if there is no text, the event if there is no trigger."""
        if not self.text.strip():
            return f"document {self.id}, event {event.id}"
        return "" if event.trigger else f"event {event.id}"

    def _place(self, candidate: Candidate, event: DescribedEvent) -> Span | None:
        if candidate.span is not None and (self._stands_there(candidate) or self.wording.read(candidate.text).pronoun):
            return candidate.span
        start, end = event.span or (0, -1)
        return nearest(candidate.text.split(), self.document.tokens, start, end + 1) or candidate.span

    def _stands_there(self, candidate: Candidate) -> bool:
        """Whether the candidate's text stands in its place."""
        assert candidate.span is not None
        there = self.document.tokens[candidate.span[0] : candidate.span[1] + 1]
        return "".join(there).casefold() == letters_of(candidate.text)


def rank_questions(systems: Iterable[Sequence[Question]], top: int | None = None) -> list[Question]:
    """The questions, those that most systems raise first; ties in the order of the corpus."""
    asked: dict[str, Question] = {}
    made: dict[str, int] = {}
    for questions in systems:
        for key, question in {question.key: question for question in questions}.items():
            asked.setdefault(key, question)
            made[key] = made.get(key, 0) + 1
    ordered = sorted(asked, key=lambda key: -made[key])
    return [asked[key] for key in ordered[:top]]


ASKS = ("all", "pairs", "alone")
FIGURES = ("precision", "recall", "f1")
CREDITED = ("Correct", "Partial")
"""The labels that may credit something, the better first."""
NEXT_TO_NOTHING = 1e-6
"""Breaks ties between matchings of the same total weight; too small to change the total."""
LEAST = 1e-3
"""Breaks the remaining ties: less than parts of a candidate differ by."""


@frozen
class CandidateQuestion:
    """A question about a candidate of a block; `reference` is the one in the question for a judge of pairs."""

    block: int
    candidate: Candidate
    question: Question
    reference: int | None = None


@frozen
class Coverage:
    """How many of the open candidates the judge decided."""

    open: int = 0
    judged: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    judge: str = ""
    asks: str = "all"
    troubles: tuple[str, ...] = ()
    """Why verdicts are missing, as the judge reports it."""
    bounds: tuple[str, ...] = FIGURES
    """The figures that no further verdict can lower."""

    @property
    def share(self) -> float:
        """The share of open candidates with a verdict; 1 where nothing was open."""
        return self.judged / self.open if self.open else 1.0

    @property
    def summary(self) -> str:
        """How much the judge decided, in one line."""
        of = "open candidates" + (" that have a free reference" if self.asks == "pairs" else "")
        return f"{self.judge} decided {self.judged:,} of {self.open:,} {of} ({self.share:.1%})"

    @property
    def whole(self) -> bool:
        """Whether the judge decided everything."""
        return self.judged == self.open

    def warnings(self) -> list[str]:
        """What it means for the figures that verdicts are missing, and why they are."""
        missing = [] if self.whole else [f"{self.summary}: {self._bound()}"]
        return [*missing, *(f"{self.judge}: {trouble}" for trouble in self.troubles)]

    def _bound(self) -> str:
        """Which figures are lower bounds, and which are not."""
        others = [name for name in FIGURES if name not in self.bounds]
        if not others:
            return "the figures of `judge` are lower bounds"
        is_, are = (" and ".join(names) + (" is" if len(names) == 1 else " are") for names in (self.bounds, others))
        bounds = "a lower bound" if len(self.bounds) == 1 else "lower bounds"
        return f"{is_} {bounds}; {are} not, since a further verdict may lower them where Partial counts (--partial)"


def bounds_of(asks: str, counting: str, partial: float) -> tuple[str, ...]:
    """The figures that no further verdict can lower: all, except where Partial counts and Correct goes before it.

    `rewrite` counts a candidate that stands for n references n times, and with weight 1/2 n times half: precision may fall, F1 cannot.
    Under `keep` several Partial candidates can lose their references to one Correct candidate, or to a part of one; also with Partial
    as 1, where they lose as much as the other gains. Pairs of equal weight are matched for the largest total, which only grows.
    """
    if not partial or asks == "alone" or (asks == "pairs" and (counting == "rewrite" or partial == 1)):
        return FIGURES
    return ("recall", "f1") if counting == "rewrite" and partial < 1 else ("recall",)


def way_of_asking(judge: Any) -> str:
    """How a judge wants to be asked: as it says itself, or by its kind."""
    how = getattr(judge, "asks", None)
    if how is None and getattr(judge, "kind", "person") in ("model", "embedding"):
        how = "pairs" if getattr(getattr(judge, "prompt", None), "with_reference", True) else "alone"
    if how not in (None, *ASKS):
        raise MetricError(f"a judge is asked {', '.join(ASKS)}; {judge.signature} says {how!r}")
    return how or "all"


def questions_for(judge: Any, blocks: Sequence[Block], ask: Any) -> list[CandidateQuestion]:
    """The questions for the judge; `ask(block, candidate)` makes one with all references."""
    how = way_of_asking(judge)
    out = []
    for at, block in enumerate(blocks):
        for candidate in block.open:
            if not candidate.text.strip() or (how == "pairs" and not block.free):
                continue
            question = ask(block, candidate)
            if how == "all":
                out.append(CandidateQuestion(at, candidate, question))
            elif how == "alone":
                out.append(CandidateQuestion(at, candidate, question.without_references()))
            else:
                out.extend(CandidateQuestion(at, candidate, question.only(k), k) for k in block.free)
    return out


def ask_judge(judge: Judge, asked: Sequence[CandidateQuestion]) -> list[Verdict | None]:
    """The verdicts, each distinct question asked once."""
    distinct = {one.question.key: one.question for one in asked}
    found = judge.judge(list(distinct.values()))
    if len(found) != len(distinct):
        raise MetricError(f"{judge.signature} was asked {len(distinct):,} questions and gave {len(found):,} verdicts")
    report = getattr(judge, "report", None)
    calls = getattr(report, "calls", 0)
    if calls and not (getattr(report, "answered", 1) or getattr(report, "known", 1)):
        reasons = "; ".join(dict(getattr(report, "failures", {})))
        raise MetricError(f"{judge.signature} answered none of {counted(calls, 'call')}: {reasons}")
    verdicts = dict(zip(distinct, found, strict=True))
    for key, verdict in verdicts.items():
        if verdict is not None and any(not 0 <= k < len(distinct[key].references) for k in verdict.references):
            raise MetricError(
                f"{judge.signature}: the verdict on {distinct[key].candidate!r} names the references {list(verdict.references)}, "
                f"but there are {len(distinct[key].references)}"
            )
    return [verdicts[one.question.key] for one in asked]


def judge_blocks(
    blocks: Sequence[Block], judge: Judge, ask: Any, partial: float, counting: str = "rewrite"
) -> Coverage:
    """Let the judge decide what is open; changes the blocks."""
    asked = questions_for(judge, blocks, ask)
    verdicts = ask_judge(judge, asked)
    worth = {"Correct": Fraction(1), "Partial": Fraction(partial), "Incorrect": Fraction(0)}
    by_block: dict[int, list[tuple[CandidateQuestion, Verdict]]] = {}
    labels = dict.fromkeys(worth, 0)
    decided: dict[int, bool] = {}
    for one, verdict in zip(asked, verdicts, strict=True):
        decided[id(one.candidate)] = decided.get(id(one.candidate), True) and verdict is not None
        if verdict is not None:
            labels[verdict.label] += 1
            by_block.setdefault(one.block, []).append((one, verdict))
    how = way_of_asking(judge)
    for at, found in by_block.items():
        right = [(one, verdict, worth[verdict.label]) for one, verdict in found if worth[verdict.label]]
        if how == "alone":
            _credit_alone(blocks[at], right)
        else:
            _credit(blocks[at], right, several=how == "all")
    bounds = bounds_of(how, counting, partial)
    return Coverage(len(decided), sum(decided.values()), labels, judge.signature, how, tuple(_troubles(judge)), bounds)


def _troubles(judge: Any) -> Iterator[str]:
    """What a judge reports: failed calls, unusable answers, who decides, and disputes between judges of equal experience."""
    report = getattr(judge, "report", None)
    for kind in ("failures", "unusable"):
        for reason, count in dict(getattr(report, kind, {})).items():
            yield f"{reason} ({count:,} times)"
    not_called = getattr(report, "not_called", 0)
    if not_called:
        yield f"{counted(not_called, 'call')} not made, because all earlier calls failed"
    yield from getattr(judge, "notes", ())
    elsewhere = len(getattr(judge, "elsewhere", ()))
    if elsewhere:
        yield (
            f"{counted(elsewhere, 'question')} without a verdict, though the same candidate was judged in the same role: with another "
            "text, in another place, with other references, or by another judge"
        )
    disputed = len(getattr(judge, "disputed", ()))
    if disputed:
        yield f"judges of equal experience disagree on {disputed:,} of its questions, which count as not judged"


Right = Sequence[tuple[CandidateQuestion, "Verdict", Fraction]]


def _credit(block: Block, right: Right, several: bool) -> None:
    """Give candidates the references that they stand for; if each may take several, Correct goes first."""
    if not several:
        return _match(block, right, several)
    for label in CREDITED:
        _match(block, [found for found in right if found[1].label == label], several)
    return None


def _match(block: Block, right: Right, several: bool) -> None:
    """Match one to one for the largest total; ties go to Correct, and to the larger part of a candidate."""
    free = list(block.free)
    candidates = list({id(one.candidate): one.candidate for one, _, _ in right}.values())
    column = {id(candidate): k for k, candidate in enumerate(candidates)}
    row = {reference: k for k, reference in enumerate(free)}
    weights: dict[tuple[int, int], Fraction] = {}
    labels: dict[tuple[int, int], str] = {}
    none = []
    for one, verdict, weight in right:
        named = (one.reference,) if one.reference is not None else verdict.references
        if not named:
            none.append((one.candidate, weight, verdict.label))
        for reference in named:
            if reference in row:
                edge = row[reference], column[id(one.candidate)]
                weights[edge], labels[edge] = weight, verdict.label
    edges = {
        (r, c): float(weight + NEXT_TO_NOTHING * ((weight == 1) + candidates[c].share + LEAST * (labels[r, c] == "Correct")))
        for (r, c), weight in weights.items()
    }  # fmt: skip
    taken: dict[int, list[int]] = {c: [r] for r, c in best_pairs(edges, len(free), len(candidates))}
    if several:  # what no other candidate needs
        used = {r for rows in taken.values() for r in rows}
        for r, c in sorted(weights, key=lambda edge: (edge[1], edge[0])):
            if r not in used and c in taken:
                taken[c].append(r)
                used.add(r)
    for c, rows in taken.items():
        label = labels[rows[0], c]
        references = tuple(sorted(free[r] for r in rows))
        block.take(_accepted(references, candidates[c], weights[rows[0], c], label))
    for candidate, weight, label in none:
        block.take(_accepted((), candidate, weight, label))


def _accepted(references: tuple[int, ...], candidate: Candidate, weight: Fraction, label: str) -> Accepted:
    how = label.lower() + ("" if references else ", no reference")
    return Accepted(JUDGED, references, (candidate,), weight, how, partial=label == "Partial")


def _credit_alone(block: Block, right: Right) -> None:
    """Credit the only free reference, if there is just one: the judge saw none."""
    only = tuple(block.free) if len(block.free) == 1 else ()
    for one, verdict, weight in sorted(
        right, key=lambda found: CREDITED.index(found[1].label)
    ):  # Partial takes it last
        references, only = only, ()
        block.take(_accepted(references, one.candidate, weight, verdict.label))

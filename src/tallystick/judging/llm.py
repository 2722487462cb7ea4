"""A language model as a judge: any endpoint that speaks OpenAI's protocol, one of five prompts or your own.

    LanguageModel(Endpoint("gpt-4o-mini"), prompt_named("expert"), store).judge(questions)

With a prompt that shows the reference the model is asked once for each (candidate, reference), and a question's verdict is
put together: Correct if any pair is, and it stands for those references; else Partial if any pair is; else Incorrect. Without
it the model is asked once for each candidate, and the verdict names no reference: `Verdict.references` is empty, and what
is credited then (the only free reference of the role, if there is just one) is the business of who asked.

Each answer goes to the store as it arrives, under the model's name and a version that is a digest of prompt, model and
parameters. What is there is never asked again, whether the program ended, was stopped or was killed. An answer that cannot
be used (broken JSON, other words, cut off) is kept too, as what it is, and asked again only if `again` is set. A pair without a
usable answer leaves its question unjudged, unless another pair makes it Correct.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from tallystick.errors import counted
from tallystick.judging.calling import Answer, Endpoint, Failure, call_all
from tallystick.judging.prompt import Prompt, Unusable, read_answer
from tallystick.judging.questions import Question
from tallystick.judging.store import Store
from tallystick.judging.verdicts import Judgement, Verdict

Progress = Callable[[int, int], None]

CHARACTERS_PER_TOKEN = 4
TOKENS_OF_AN_ANSWER = {"json": 60, "words": 5}
"""Rough figures for English, for the estimate of a dry run only."""


@dataclass(frozen=True)
class Plan:
    """What judging would take: the calls, what is in the store already, and the tokens, estimated."""

    questions: int
    calls: int
    known: int
    """Pairs (or candidates) with an answer in the store."""
    unusable: int
    """And those with an answer that could not be used."""
    tokens_in: int
    tokens_out: int


@dataclass
class Report:
    """What came of it."""

    calls: int = 0
    answered: int = 0
    known: int = 0
    unjudged: int = 0
    """Questions that are left without a verdict."""
    without_reference: int = 0
    """Questions that have no reference to show: this prompt has nothing to ask about them."""
    not_called: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0

    def begin(self) -> None:
        """Count a call that is made."""
        self.calls += 1

    def complaints(self) -> list[str]:
        """What could not be had and why, a line for each reason."""
        lines = [f"{counted(n, 'call')} failed: {reason}" for reason, n in self.failures.most_common()]
        for reason, n in self.unusable.most_common():
            lines.append(f"{counted(n, 'answer')} could not be used: {reason} (--again asks anew)")
        if self.not_called:
            lines.append(f"{counted(self.not_called, 'call')} not made, since nothing but failures came back")
        if self.without_reference:
            lines.append(
                f"{counted(self.without_reference, 'question')} without a reference to show, about which this prompt asks nothing; "
                "--no-reference does"
            )
        if self.unjudged:
            lines.append(
                f"{counted(self.unjudged, 'question')} left unjudged; the same command asks only what has no answer yet"
            )
        return lines


class LanguageModel:
    """A judge that asks a language model, and the store that it keeps its answers in (None: only this object remembers)."""

    kind = "model"

    def __init__(
        self, endpoint: Endpoint, prompt: Prompt, store: Store | None = None, *, again: bool = False, progress: Progress | None = None
    ) -> None:  # fmt: skip
        self.endpoint, self.prompt, self.store = endpoint, prompt, store
        self.again, self.progress = again, progress
        self.report = Report()
        self._verdicts: dict[str, Verdict] = {}
        self._unusable: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The model's name, under which its judgements stand in the store."""
        return self.endpoint.model

    @property
    def version(self) -> str:
        """Name of the prompt, and a digest of prompt, model and parameters."""
        told = [self.prompt.system, self.prompt.user, self.prompt.answer, self.name, dict(self.endpoint.parameters)]
        text = json.dumps(told, ensure_ascii=False, sort_keys=True)
        return f"{self.prompt.name} {blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"

    @property
    def signature(self) -> str:
        """Which model, with which prompt."""
        return f"llm({self.name}, {self.version})"

    # -- what is asked ------------------------------------------------------------------------------------------------

    def pieces(self, question: Question) -> list[Question]:
        """What the model is asked about a question: each reference by itself, or the candidate alone."""
        return self.prompt.sight.pieces(question)

    def plan(self, questions: Sequence[Question]) -> Plan:
        """What judging these questions would take; nothing is called."""
        wanted, known, unusable = self._wanted(questions)
        length = sum(len(message["content"]) for one in wanted.values() for message in self.prompt.messages(one))
        return Plan(
            questions=len(questions),
            calls=len(wanted),
            known=known,
            unusable=len(unusable),
            tokens_in=-(-length // CHARACTERS_PER_TOKEN),
            tokens_out=len(wanted) * TOKENS_OF_AN_ANSWER[self.prompt.answer],
        )

    def _wanted(self, questions: Sequence[Question]) -> tuple[dict[str, Question], int, list[str]]:
        """The pieces that have to be asked, each once; how many have an answer; why answers could not be used."""
        pieces = {piece.key: piece for question in questions for piece in self.pieces(question)}
        if self.store is not None:
            self.store.check_kind(self.name, self.kind)
            for key, piece in pieces.items():
                if key not in self._verdicts and (kept := self.store.verdict(piece, self.name, self.version)):
                    self._verdicts[key] = kept
            self._unusable.update(self.store.unusable(self.name, self.version))
        done = self._verdicts.keys() if self.again else self._verdicts.keys() | self._unusable.keys()
        wanted = {key: piece for key, piece in pieces.items() if key not in done}
        for piece in wanted.values():
            self.prompt.check(piece)
        unusable = [self._unusable[key] for key in pieces if key not in wanted and key not in self._verdicts]
        return wanted, len(pieces) - len(wanted) - len(unusable), unusable

    # -- asking -------------------------------------------------------------------------------------------------------

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """A verdict for each question; `report` says what could not be had and why."""
        wanted, known, unusable = self._wanted(questions)
        report = self.report = Report(known=known, unusable=Counter(unusable))
        asked = list(wanted.values())
        done = 0

        def take(number: int, outcome: Answer | Failure) -> None:
            nonlocal done
            done += 1
            self._take(asked[number], outcome)
            if self.progress is not None:
                self.progress(done, len(asked))

        try:
            if asked:
                call_all(self.endpoint, [self.prompt.messages(piece) for piece in asked], take, report.begin)
                report.not_called = len(asked) - report.calls
        finally:  # also after Ctrl-C: what is known of a question is worth keeping
            verdicts = [self._together(question) for question in questions]
            self._keep(questions)
            silent = [self.pieces(one) for one, verdict in zip(questions, verdicts, strict=True) if verdict is None]
            report.without_reference = sum(not pieces for pieces in silent)
            report.unjudged = len(silent) - report.without_reference
        return verdicts

    def _take(self, piece: Question, outcome: Answer | Failure) -> None:
        if isinstance(outcome, Failure):
            self.report.failures[outcome.reason] += 1
            return
        self.report.answered += 1
        self.report.tokens_in += outcome.tokens_in
        self.report.tokens_out += outcome.tokens_out
        try:
            if outcome.cut_off:  # "Yes" may have gone on ", but ..."
                raise Unusable(outcome.cut_off)
            label, explanation = read_answer(outcome.text, self.prompt.answer)
        except Unusable as unusable:
            reason = str(unusable)
            self.report.unusable[reason] += 1
            self._unusable[piece.key] = reason
            if self.store is not None:
                self.store.keep_unusable(piece.key, self.name, self.version, outcome.text, reason)
            return
        stands_for = (0,) if self.prompt.with_reference and label != "Incorrect" else ()
        verdict = self._verdicts[piece.key] = Verdict(label, stands_for, explanation)
        if self.store is not None:
            details = {
                "answer": outcome.text,
                "served": outcome.model,
                "tokens": [outcome.tokens_in, outcome.tokens_out],
            }
            self.store.add(Judgement(piece, self.name, verdict, self.version, details=details), self.kind)

    def _together(self, question: Question) -> Verdict | None:
        """The verdict on a question from those on its pieces."""
        return self.prompt.sight.together(question, self._verdicts)

    def _keep(self, questions: Sequence[Question]) -> None:
        """Put the verdicts on whole questions into the store, where every piece has its answer."""
        if self.store is None:
            return
        whole = []
        for question in questions:
            pieces = self.pieces(question)
            if not pieces or question in pieces or any(piece.key not in self._verdicts for piece in pieces):
                continue
            verdict = self._together(question)
            if verdict is not None and self.store.verdict(question, self.name, self.version) != verdict:
                whole.append(Judgement(question, self.name, verdict, self.version))
        if whole:
            self.store.add_all(whole, self.kind)

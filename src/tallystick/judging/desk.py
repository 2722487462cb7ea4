"""One person's desk at a store: the questions in their order, what is answered, and what others said.

Two people judge on their own: what the other said is shown once both have answered, not before. Whoever changes an answer
after that does so knowing the other's; the first label stays in the judgement's details, and the agreement says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tallystick.errors import InputError
from tallystick.judging.agreement import Agreement, agreement
from tallystick.judging.names import LONGEST_NAME
from tallystick.judging.questions import Question
from tallystick.judging.store import Store
from tallystick.judging.verdicts import Answers, Judgement, Label, Verdict


def person_name(store: Store, name: str) -> str:
    """The name of a person, trimmed; an error where it is none, or belongs to a model."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"a name of 1 to {LONGEST_NAME} characters is needed, found {name[:LONGEST_NAME]!r}")
    kind = store.judges().get(name, ("person", 0))[0]
    if kind != "person":
        raise InputError(f"{name!r} is the name of a judge of another kind here ({kind}); take another")
    return name


@dataclass(frozen=True)
class Difference:
    """A question that two people answered differently."""

    place: int
    first: Judgement
    second: Judgement


class Desk:
    """`Desk(store, "anna")`: her questions, her answers."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = person_name(store, name)

    def queue(self) -> list[str]:
        """The questions, by key, in the order in which they were put."""
        return self.store.queue()

    def labels(self) -> dict[str, Label]:
        """What this person has answered."""
        return self.store.labels(self.name)

    def next_open(self, place: int) -> int | None:
        """The place of the next question without an answer, from a place on and then from the start."""
        keys, done = self.queue(), self.labels()
        order = [*range(place, len(keys)), *range(min(place, len(keys)))]
        return next((k for k in order if keys[k] not in done), None)

    def question(self, place: int) -> Question:
        """The question at a place."""
        keys = self.queue()
        if not 0 <= place < len(keys):
            raise InputError(f"there is no question {place + 1}; there are {len(keys):,}")
        question = self.store.question(keys[place])
        assert question is not None
        return question

    def own(self, key: str) -> Judgement | None:
        """This person's answer to a question."""
        return self.store.judgement(key, self.name)

    def answer(self, question: Question, answers: Answers, remark: str = "") -> Verdict:
        """Write an answer down; it is on the disk when this returns."""
        if not all(0 <= k < len(question.references) for k in answers.same_as):
            raise InputError(
                f"question 2 names reference {max(answers.same_as) + 1}; there are {len(question.references)}"
            )
        before, details = self.own(question.key), {}
        if before is not None and self.others(question.key):
            details = {"independent": before.details.get("independent", before.verdict.label)}
        verdict = replace(answers.verdict(), explanation=remark.strip())
        self.store.add(Judgement(question, self.name, verdict, answers=answers, details=details))
        return verdict

    def colleagues(self) -> list[str]:
        """The other people who have judged here."""
        kinds = self.store.judges()
        heard = dict.fromkeys(judge for judge, _, _ in self.store.voices())
        return [name for name in heard if name != self.name and kinds[name][0] == "person"]

    def others(self, key: str) -> list[Judgement]:
        """What others said to a question that this person has answered; nothing before."""
        if self.own(key) is None:
            return []
        found = (self.store.judgement(key, name) for name in self.colleagues())
        return [one for one in found if one is not None]

    def agreements(self) -> list[Agreement]:
        """The agreement so far with each of the others."""
        mine = self.labels()
        return [agreement(mine, self.store.labels(other), (self.name, other)) for other in self.colleagues()]

    def differences(self, other: str) -> list[Difference]:
        """The questions that both answered, with different labels or different references."""
        theirs = {one.question.key: one for one in self.store.judgements(other)}
        mine = {one.question.key: one for one in self.store.judgements(self.name)}
        return [
            Difference(place, mine[key], theirs[key])
            for place, key in enumerate(self.queue())
            if key in mine and key in theirs and mine[key].verdict.said != theirs[key].verdict.said
        ]

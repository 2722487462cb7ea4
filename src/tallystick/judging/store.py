"""The store of judgements: one SQLite file, one row for each judgement, found by what was asked.

Its tables are told in `layout`: documents, questions, judgements, judges, and what a model said that was no answer; how it is opened
and written, in `store_file`. A judge who answers a question again (with the same version) replaces the earlier answer.

The queue is what was put to be judged, and what a person judged. A model that asks about one reference at a time keeps
its answers to those pairs here too, without putting them before people.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone

from tallystick.errors import InputError
from tallystick.judging.layout import Documents, parts_of
from tallystick.judging.questions import Question
from tallystick.judging.store_file import StoreFile, reading
from tallystick.judging.verdicts import Answers, Judgement, Label, Verdict

KINDS = ("person", "model", "embedding")
"""Who may judge; where several have, the first kind is believed."""


class Store(StoreFile):
    """Open a store, or make one: `with Store("judgements.sqlite") as store: ...`."""

    # -- questions ----------------------------------------------------------------------------------------------------

    def add_questions(self, questions: Iterable[Question]) -> int:
        """Put questions to be asked; those that are there already stay. How many were new."""
        with self.writing():
            (place,) = self._db.execute("SELECT coalesce(max(place), -1) + 1 FROM questions").fetchone()
            documents = Documents(self._db)
            return sum(self._add(question, documents, place + k, True) for k, question in enumerate(questions))

    def _add(self, question: Question, documents: Documents, place: int, queued: bool) -> int:
        document = documents.keep(question.document)
        row = (question.key, place, queued, question.candidate, question.role, document, parts_of(question))
        known = "UPDATE SET queued = 1, place = excluded.place WHERE queued = 0" if queued else "NOTHING"
        return self._db.execute(
            f"INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO {known}", row
        ).rowcount

    @reading
    def questions(self) -> list[Question]:
        """The queue, in the order in which it was put."""
        rows = self._db.execute("SELECT key, document, parts FROM questions WHERE queued ORDER BY place, key")
        return list(Documents(self._db).questions(rows))

    @reading
    def queue(self) -> list[str]:
        """The queue as keys, in its order: quicker than the questions with their documents."""
        return [key for (key,) in self._db.execute("SELECT key FROM questions WHERE queued ORDER BY place, key")]

    @reading
    def question(self, key: str) -> Question | None:
        """The question of a key, queued or not."""
        rows = self._db.execute("SELECT key, document, parts FROM questions WHERE key = ?", (key,))
        return next(Documents(self._db).questions(rows), None)

    # -- judges -------------------------------------------------------------------------------------------------------

    def add_judge(self, name: str, kind: str = "person", experience: int | None = None) -> None:
        """Make a judge known; where two persons disagree, the one with more experience decides."""
        with self.writing():
            self.check_kind(name, kind)
            self._db.execute("INSERT OR IGNORE INTO judges (name, kind) VALUES (?, ?)", (name, kind))
            if experience is not None:
                self._db.execute("UPDATE judges SET experience = ? WHERE name = ?", (experience, name))

    @reading
    def check_kind(self, name: str, kind: str) -> None:
        """An error where somebody of another kind has this name: who a judge is, is not to change with what is added."""
        for (known,) in self._db.execute("SELECT kind FROM judges WHERE name = ?", (name,)):
            if known != kind:
                raise InputError(
                    f"{self.path}: {name!r} is the name of a {known} here, not of a {kind}; take another name"
                )

    @reading
    def judges(self) -> dict[str, tuple[str, int]]:
        """Kind and experience of each judge."""
        rows = self._db.execute("SELECT name, kind, experience FROM judges ORDER BY name")
        return {name: (kind, experience) for name, kind, experience in rows}

    # -- judgements ---------------------------------------------------------------------------------------------------

    def add(self, judgement: Judgement, kind: str = "person") -> None:
        """Keep one judgement, with its question; it is on the disk when this returns."""
        self.add_all((judgement,), kind)

    def add_all(self, judgements: Iterable[Judgement], kind: str = "person") -> None:
        """Keep several, all or none."""
        with self.writing():
            (place,) = self._db.execute("SELECT coalesce(max(place), -1) + 1 FROM questions").fetchone()
            documents = Documents(self._db)
            judgements = list(judgements)
            for name in {one.judge for one in judgements}:
                self.check_kind(name, kind)
            for k, one in enumerate(judgements):
                self._add(one.question, documents, place + k, kind == "person")
                self._db.execute("INSERT OR IGNORE INTO judges (name, kind) VALUES (?, ?)", (one.judge, kind))
                answers = None if one.answers is None else json.dumps(asdict(one.answers))
                when = one.when or datetime.now(timezone.utc).isoformat(timespec="seconds")
                self._db.execute(
                    "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (one.question.key, one.judge, one.version, one.verdict.label, json.dumps(one.verdict.references), answers,
                     one.verdict.explanation, when, json.dumps(one.details, ensure_ascii=False)),
                )  # fmt: skip

    def withdraw(self, question: Question, judge: str, version: str = "") -> None:
        """Take a judgement back."""
        with self.writing():
            self._db.execute(
                "DELETE FROM judgements WHERE question = ? AND judge = ? AND version = ?",
                (question.key, judge, version),
            )

    @reading
    def judgements(self, judge: str | None = None, version: str | None = None) -> list[Judgement]:
        """The judgements, of one judge or of all."""
        rows = self._db.execute(
            f"{_WHOLE} WHERE (?1 IS NULL OR j.judge = ?1) AND (?2 IS NULL OR j.version = ?2) ORDER BY q.place, q.key, j.judge, j.version",
            (judge, version),
        )
        documents = Documents(self._db)
        return [_judgement(row, documents) for row in rows]

    @reading
    def judgement(self, key: str, judge: str, version: str = "") -> Judgement | None:
        """What a judge said to the question of a key, with all that belongs to it."""
        row = self._db.execute(
            f"{_WHOLE} WHERE j.question = ? AND j.judge = ? AND j.version = ?", (key, judge, version)
        ).fetchone()
        return None if row is None else _judgement(row, Documents(self._db))

    @reading
    def voices(self) -> list[tuple[str, str, int]]:
        """Each judge and version that has judged, and how many questions: a model with two prompts is two voices."""
        return self._db.execute(
            "SELECT judge, version, count(*) FROM judgements GROUP BY judge, version ORDER BY judge, version"
        ).fetchall()

    @reading
    def judged_pairs(self) -> set[tuple[str, str]]:
        """Candidate and role of every question that anybody has judged."""
        rows = self._db.execute(
            "SELECT DISTINCT q.candidate, q.role FROM questions q JOIN judgements j ON j.question = q.key"
        )
        return {(candidate, role) for candidate, role in rows}

    @reading
    def piece(self, judge: str, version: str) -> Question | None:
        """Something that a model was asked as it was shown to it; None where it was not asked from here."""
        rows = self._db.execute(
            "SELECT q.key, q.document, q.parts FROM judgements j JOIN questions q ON q.key = j.question "
            f"WHERE j.judge = ? AND j.version = ? AND {_ASKED} LIMIT 1",
            (judge, version),
        )
        return next(Documents(self._db).questions(rows), None)

    @reading
    def answers_to_pieces(self, judge: str, version: str) -> dict[str, Verdict]:
        """What a model said to what it was shown, by key, without what was put together from that."""
        rows = self._db.execute(
            f"SELECT question, label, refs, explanation FROM judgements j WHERE judge = ? AND version = ? AND {_ASKED}",
            (judge, version),
        )
        return {key: Verdict(label, tuple(json.loads(refs)), why) for key, label, refs, why in rows}

    @reading
    def verdict(self, question: Question, judge: str, version: str = "") -> Verdict | None:
        """What a judge said to a question, if anything."""
        row = self._db.execute(
            "SELECT label, refs, explanation FROM judgements WHERE question = ? AND judge = ? AND version = ?",
            (question.key, judge, version),
        ).fetchone()
        return None if row is None else Verdict(row[0], tuple(json.loads(row[1])), row[2])

    @reading
    def verdicts(self, judge: str | None = None, version: str | None = None) -> list[tuple[str, str, Verdict]]:
        """Each judgement's question (by key), judge and verdict: what a score follows from, without the documents."""
        rows = self._db.execute(
            "SELECT question, judge, label, refs, explanation FROM judgements WHERE (?1 IS NULL OR judge = ?1) "
            "AND (?2 IS NULL OR version = ?2) ORDER BY question, judge, version",
            (judge, version),
        )
        return [(key, who, Verdict(label, tuple(json.loads(refs)), why)) for key, who, label, refs, why in rows]

    @reading
    def labels(self, judge: str, version: str | None = None) -> dict[str, Label]:
        """A judge's labels by question: what agreement is computed from."""
        rows = self._db.execute(
            "SELECT question, label FROM judgements WHERE judge = ?1 AND (?2 IS NULL OR version = ?2) ORDER BY at",
            (judge, version),
        )
        return dict(rows.fetchall())

    # -- what a model said that was no answer: kept, so that it is not paid for again ------------------------------------

    def keep_unusable(self, key: str, judge: str, version: str, answer: str, reason: str) -> None:
        """Keep an answer that could not be used."""
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self.writing():
            self._db.execute(
                "INSERT OR REPLACE INTO unusable VALUES (?, ?, ?, ?, ?, ?)", (key, judge, version, answer, reason, when)
            )

    @reading
    def unusable(self, judge: str, version: str) -> dict[str, str]:
        """The questions (by key) to which a judge gave an answer that could not be used, and why not."""
        rows = self._db.execute(
            "SELECT question, reason FROM unusable WHERE judge = ? AND version = ?", (judge, version)
        )
        return dict(rows.fetchall())


_ASKED = """j.details LIKE '%"answer":%'"""
"""A model was asked this itself: its own words are there."""
_WHOLE = (
    "SELECT q.key, q.document, q.parts, j.judge, j.version, j.label, j.refs, j.answers, j.explanation, j.at, j.details "
    "FROM judgements j JOIN questions q ON q.key = j.question"
)


def _judgement(row: Sequence[str], documents: Documents) -> Judgement:
    key, document, parts, judge, version, label, refs, answers, explanation, when, details = row
    given = json.loads(answers) if answers else None
    return Judgement(
        question=documents.question(key, document, parts),
        judge=judge,
        verdict=Verdict(label, tuple(json.loads(refs)), explanation),  # type: ignore[arg-type]
        version=version,
        answers=given and Answers(given["valid"], tuple(given["same_as"]), given["relation"]),
        when=when,
        details=json.loads(details),
    )

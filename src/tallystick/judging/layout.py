"""The layout of a store: its tables, its version, and how a store of the version before is brought up to it.

    documents    key (digest of the text), the text: once, however many questions are asked about it
    questions    key (digest of the content), the document's key, the rest of the question as JSON, whether it is in the queue
    judgements   question, judge, version -> label, references, answers to Q1 to Q3, explanation, when
    judges       name, kind (person, model, embedding), experience
    unusable     question, judge, version -> what a model said that was no answer, and why

Version 1 had each question's whole document inside of the question. Its questions are laid out anew in one transaction, under the keys
that they had; whoever still has the file open with an older tallystick finds no column of the old name, and is told so.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from tallystick.judging.questions import Question

APPLICATION = 0x74616C79  # "taly": SQLite's mark of whose file this is
VERSION = 2

QUESTIONS = """
CREATE TABLE documents (key TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE {questions} (
    key TEXT PRIMARY KEY, place INTEGER NOT NULL, queued INTEGER NOT NULL, candidate TEXT NOT NULL, role TEXT NOT NULL,
    document TEXT NOT NULL REFERENCES documents (key), parts TEXT NOT NULL
) WITHOUT ROWID;
"""
ANSWERS = """
CREATE TABLE judges (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL DEFAULT 'person', experience INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE judgements (
    question TEXT NOT NULL REFERENCES questions (key), judge TEXT NOT NULL REFERENCES judges (name), version TEXT NOT NULL,
    label TEXT NOT NULL CHECK (label IN ('Correct', 'Partial', 'Incorrect')), refs TEXT NOT NULL, answers TEXT,
    explanation TEXT NOT NULL, at TEXT NOT NULL, details TEXT NOT NULL,
    PRIMARY KEY (question, judge, version)
) WITHOUT ROWID;
CREATE TABLE unusable (
    question TEXT NOT NULL, judge TEXT NOT NULL, version TEXT NOT NULL, answer TEXT NOT NULL, reason TEXT NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (question, judge, version)
) WITHOUT ROWID;
"""


def version_of(db: sqlite3.Connection) -> int:
    """The version that a store says it has."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def lay_out(db: sqlite3.Connection) -> None:
    """The tables of a new store; to be called inside a transaction."""
    _run(db, QUESTIONS.format(questions="questions") + ANSWERS)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def bring_up(db: sqlite3.Connection) -> None:
    """A store of version 1 becomes one of this version; to be called inside a transaction, with foreign keys off."""
    _run(db, QUESTIONS.format(questions="questions_anew"))
    documents = Documents(db)
    for key, place, queued, candidate, role, content in db.execute("SELECT * FROM questions"):
        parts = json.loads(content)
        row = key, place, queued, candidate, role, documents.keep(parts.pop("document", "")), _json(parts)
        db.execute("INSERT INTO questions_anew VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    _run(db, "DROP TABLE questions; ALTER TABLE questions_anew RENAME TO questions")
    db.execute(f"PRAGMA user_version = {VERSION}")


def give_back(db: sqlite3.Connection) -> None:
    """Give the room that the documents took back to the disk; where somebody else is writing, or the disk is full, it stays."""
    with suppress(sqlite3.OperationalError):
        db.execute("VACUUM")


def _run(db: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        db.execute(statement)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def parts_of(question: Question) -> str:
    """A question without its document."""
    parts = question.to_json()
    del parts["document"]
    return _json(parts)


class Documents:
    """The documents of a store, for the length of one reading or writing: each is looked up once, and held once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._keys: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def keep(self, text: str) -> str:
        """Put a document into the store, if it is not there; its key."""
        key = self._keys.get(text)
        if key is None:
            key = self._keys[text] = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
            self._db.execute("INSERT INTO documents VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (key, text))
        return key

    def text(self, key: str) -> str:
        """The document of a key."""
        if key not in self._texts:
            (self._texts[key],) = self._db.execute("SELECT text FROM documents WHERE key = ?", (key,)).fetchone()
        return self._texts[key]

    def question(self, key: str, document: str, parts: str) -> Question:
        """The question of a row, with the key that it was kept under."""
        return Question.from_json({**json.loads(parts), "document": self.text(document)}, key)

    def questions(self, rows: sqlite3.Cursor) -> Iterator[Question]:
        """The questions of rows of key, document and parts."""
        return (self.question(*row) for row in rows)

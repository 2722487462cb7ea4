"""A store as tallystick wrote it in version 1: each question with its whole document inside."""

import json
import sqlite3
from dataclasses import asdict

SCHEMA = """
CREATE TABLE questions (
    key TEXT PRIMARY KEY, place INTEGER NOT NULL, queued INTEGER NOT NULL, candidate TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL
) WITHOUT ROWID;
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
PRAGMA application_id = 0x74616C79;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
"""


def write_first_layout(path, questions, judgements=(), queued=True):
    """A store of version 1 with questions, and with what persons said of them."""
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    for place, one in enumerate(questions):
        content = json.dumps(one.to_json(), ensure_ascii=False)
        row = (one.key, place, queued, one.candidate, one.role, content)
        db.execute("INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?)", row)
    for one in judgements:
        db.execute("INSERT OR IGNORE INTO judges (name) VALUES (?)", (one.judge,))
        answers = one.answers and json.dumps(asdict(one.answers))
        row = (
            one.question.key, one.judge, one.version, one.verdict.label, json.dumps(one.verdict.references), answers,
            one.verdict.explanation, one.when, json.dumps(one.details),
        )  # fmt: skip
        db.execute("INSERT INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    db.commit()
    db.close()

"""The store of judgements: one SQLite file, one row for each judgement, found by what was asked.

    documents    key (digest of the text), the text: once, however many questions are asked about it
    questions    key (digest of the content), the document's key, the rest of the question as JSON, whether it is in the queue
    judgements   question, judge, version -> label, references, answers to Q1 to Q3, explanation, when
    judges       name, kind (person, model, embedding), experience
    unusable     question, judge, version -> an answer of a model that could not be used, and why

A judge who answers a question again (with the same version) replaces the earlier answer. The queue holds the questions that were added
to be judged and those that a person judged. A model that is asked about one reference at a time keeps its answers to those pairs
here too, without putting them before people.

Each write is a transaction of its own, flushed to the disk: losing power loses at most the answer being typed. SQLite's write-ahead log
lets several people and programs work on one file at once. If the file was moved away while it was open, nothing is written to it:
SQLite would write, and nobody would ever find the data.

Version 1 of the layout kept the whole document inside each question. Such a store is upgraded in one transaction, and its questions keep
their keys; an older tallystick that still has the file open gets an error about a missing column.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime, timezone
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from tallystick.errors import InputError, did_you_mean
from tallystick.judging.questions import Answers, Judgement, Label, Question, Verdict

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
    """The layout version recorded in a store."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def lay_out(db: sqlite3.Connection) -> None:
    """Create the tables of a new store; call it inside a transaction."""
    _run(db, QUESTIONS.format(questions="questions") + ANSWERS)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def upgrade(db: sqlite3.Connection) -> None:
    """Upgrade a store of version 1 to this version; call it inside a transaction, with foreign keys off."""
    _run(db, QUESTIONS.format(questions="questions_anew"))
    documents = Documents(db)
    for key, place, queued, candidate, role, content in db.execute("SELECT * FROM questions"):
        parts = json.loads(content)
        row = key, place, queued, candidate, role, documents.keep(parts.pop("document", "")), _json(parts)
        db.execute("INSERT INTO questions_anew VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    _run(db, "DROP TABLE questions; ALTER TABLE questions_anew RENAME TO questions")
    db.execute(f"PRAGMA user_version = {VERSION}")


def vacuum(db: sqlite3.Connection) -> None:
    """Give unused space back to the disk, unless somebody else is writing or the disk is full."""
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
    """The documents of a store during one read or write: each is looked up once, and held once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._keys: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def keep(self, text: str) -> str:
        """Put a document into the store, unless it is there; returns its key."""
        key = self._keys.get(text)
        if key is None:
            key = self._keys[text] = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
            self._db.execute("INSERT INTO documents VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (key, text))
        return key

    def text(self, key: str) -> str:
        """The document with this key."""
        if key not in self._texts:
            (self._texts[key],) = self._db.execute("SELECT text FROM documents WHERE key = ?", (key,)).fetchone()
        return self._texts[key]

    def question(self, key: str, document: str, parts: str) -> Question:
        """The question of a row, with the key under which it is stored."""
        return Question.from_json({**json.loads(parts), "document": self.text(document)}, key)

    def questions(self, rows: sqlite3.Cursor) -> Iterator[Question]:
        """The questions of rows of key, document and parts."""
        return (self.question(*row) for row in rows)


# -- the file ---------------------------------------------------------------------------------------------------------


PATIENCE = 30
"""Seconds to wait for somebody else who is writing."""

Self = TypeVar("Self", bound="StoreFile")
Given = ParamSpec("Given")
Found = TypeVar("Found")

Identity = tuple[tuple[int, int] | None, ...]
"""Device and inode of the store's file, and of its log."""


def reads_file(method: Callable[Concatenate[Self, Given], Found]) -> Callable[Concatenate[Self, Given], Found]:
    """Decorate a method that reads: content that no tallystick has written becomes an error that names the file."""

    @wraps(method)
    def read(self: Self, /, *given: Given.args, **named: Given.kwargs) -> Found:
        try:
            return method(self, *given, **named)
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path}: cannot be read ({error})") from None
        except sqlite3.DatabaseError as error:
            raise damaged_store(self.path, error) from None
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise damaged_store(self.path, f"a row that cannot be understood: {error}") from None

    return read


def damaged_store(path: Path, why: Any) -> InputError:
    """The error for a damaged store, with what may help."""
    return InputError(
        f"{path}: this store of judgements is damaged ({why}). Use an intact copy of it; without one, "
        f"`sqlite3 {path} .recover | sqlite3 recovered.sqlite` saves what can still be read"
    )


class StoreFile:
    """A store as a file, whatever it contains.

    A new file is created by the first write, in the same transaction: a failure before that leaves nothing behind.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self._seen: Identity = (None, None)
        if not create and not self.path.exists():
            raise InputError(f"{self.path}: there is no such store of judgements; `tallystick judge export` makes one")
        try:
            # The page is served by threads, which share the store; `writing` lets one write at a time.
            self._lock = threading.RLock()
            self._unmade = not _has_content(self.path)
            if self._unmade:
                self._stand_in()
            else:
                self._open()
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path}: this store of judgements cannot be opened ({error})") from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: not a store of judgements ({error})") from None

    @property
    def _db(self) -> sqlite3.Connection:
        """The file, or empty tables in memory as long as there is none. Another program may have created it meanwhile."""
        if self._unmade and not self._connection.in_transaction and _has_content(self.path):
            with self._lock:
                if self._unmade:
                    self._unmade = False
                    self._open()
        return self._connection

    def _stand_in(self) -> None:
        folder = self.path.parent
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            what = "is not writable" if folder.is_dir() else "is not a folder"
            raise InputError(f"{self.path}: this store of judgements cannot be created: {folder} {what}")
        self._connection = _connect_to(":memory:")
        lay_out(self._connection)

    def _open(self) -> None:
        """Open the file; only for reading if the folder is not writable.

        SQLite needs a file beside a store with a write-ahead log, even to read it. If it cannot create one, and no log is left,
        the store is read as it is.
        """
        try:
            self._connect(str(self.path))
        except sqlite3.OperationalError:
            if os.access(self.path.parent, os.W_OK) or not os.access(self.path, os.R_OK) or self._log.exists():
                raise
            self._connect(f"{self.path.absolute().as_uri()}?immutable=1")

    @property
    def _log(self) -> Path:
        return self.path.with_name(f"{self.path.name}-wal")

    def _connect(self, name: str) -> None:
        self._connection = _connect_to(name)
        self._prepare()
        self._seen = self._identity()

    def _identity(self) -> Identity:
        return _file_identity(self.path), _file_identity(self._log)

    def _check_identity(self) -> None:
        """Raise an error if the open file is no longer the one at its path, or its log was removed."""
        now = self._identity()
        if any(before not in (None, after) for before, after in zip(self._seen, now, strict=True)):
            raise InputError(
                f"{self.path}: the store was moved, deleted or replaced while it was open, so nothing can be written to it; "
                "nothing was changed. Put it back, or start again where it is now"
            )

    def _prepare(self) -> None:
        db = self._connection
        db.execute("BEGIN")  # read all three in one transaction: another program may be creating the store right now
        (application,) = db.execute("PRAGMA application_id").fetchone()
        version = version_of(db)
        tables = _count_tables(db)
        db.execute("COMMIT")
        if application != APPLICATION and (tables or application):
            raise InputError(f"{self.path}: an SQLite file, but not a store of judgements")
        if application == APPLICATION and not 1 <= version <= VERSION:
            raise InputError(
                f"{self.path}: a store of version {version}, and this tallystick reads versions 1 to {VERSION}; upgrade tallystick"
            )
        self._keep_a_log()
        db.execute("PRAGMA synchronous = FULL")
        if application != APPLICATION:
            with self.writing():
                if not _count_tables(db):  # nobody else was faster
                    lay_out(db)
        elif version < VERSION:
            self._upgrade(version)
        db.execute("PRAGMA foreign_keys = ON")

    def _upgrade(self, version: int) -> None:
        try:
            with self.writing():
                if version_of(self._db) == version:  # nobody else was faster
                    upgrade(self._db)
        except InputError as error:
            raise InputError(
                f"{self.path}: a store of version {version}, which has to be upgraded to version {VERSION} for this tallystick. "
                f"Copy it to a writable place ({error.reason})"
            ) from None
        vacuum(self._db)

    def _keep_a_log(self) -> None:
        """Turn on the write-ahead log. SQLite does not wait for a lock here, as it does elsewhere, so we do."""
        until = time.monotonic() + PATIENCE
        while self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return  # where a file system has no shared memory the ordinary journal stays, which is as safe
            except sqlite3.OperationalError as error:  # noqa: PERF203
                if "readonly" in str(error):
                    return  # reading works, which may be all that is wanted; writing reports an error
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: all writes inside take effect, or none; a nested one joins the outer one."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            try:
                made = self._begin()
                try:
                    yield
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    if made is not None:
                        self._unmake(made)
                    raise
                if made is not None:
                    self._unmade = False
                    self._keep_a_log()
                self._seen = self._identity()
            except (sqlite3.OperationalError, sqlite3.IntegrityError) as error:
                # a full disk, a read-only file, a lock held for half a minute
                raise InputError(f"{self.path}: cannot be written ({error}); nothing was changed") from None
            except sqlite3.DatabaseError as error:
                raise damaged_store(self.path, error) from None
            except UnicodeEncodeError as error:
                raise InputError(
                    f"{self.path}: {error.object[max(0, error.start - 20) : error.end]!r} ends in half a character "
                    "(a lone surrogate), which no file can hold; nothing was changed"
                ) from None

    def _begin(self) -> bool | None:
        """Begin a transaction. If this creates the store: whether there was no file before; otherwise None."""
        if not self._unmade:
            self._check_identity()
            self._connection.execute("BEGIN IMMEDIATE")
            return None
        new = not self.path.exists()
        file = _connect_to(str(self.path))
        try:
            file.execute("PRAGMA synchronous = FULL")
            file.execute("PRAGMA foreign_keys = ON")
            file.execute("BEGIN IMMEDIATE")
            if not _count_tables(file):
                self._connection.close()
                self._connection = file
                lay_out(file)
                return new
        except BaseException:
            laid_out = self._connection is file
            file.close()
            if new and not _has_content(self.path):
                self.path.unlink(missing_ok=True)
            if laid_out:
                self._stand_in()
            raise
        file.execute("ROLLBACK")  # somebody else was faster
        file.close()
        self._unmade = False
        self._open()
        self._connection.execute("BEGIN IMMEDIATE")
        return None

    def _unmake(self, new: bool) -> None:
        """Undo the creation of the store: leave things as they were."""
        self._connection.close()
        if new and not _has_content(self.path):
            self.path.unlink(missing_ok=True)
        self._stand_in()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Closing(sqlite3.Connection):
    """A connection that is closed with its last reference; a stand-in, or a store that nobody closes, leaves no file open."""

    def __del__(self) -> None:
        with suppress(sqlite3.Error):  # it was never opened
            self.close()


def _connect_to(name: str) -> sqlite3.Connection:
    return sqlite3.connect(
        name, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=name.startswith("file:"), factory=_Closing
    )  # fmt: skip


def _count_tables(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _has_content(path: Path) -> bool:
    """Whether a path has content; an empty file, as `mktemp` makes it, does not count."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


# -- the store --------------------------------------------------------------------------------------------------------


KINDS = ("person", "model", "embedding")
"""The kinds of judges; if several kinds have judged, the first one counts."""


class Voice(NamedTuple):
    """One judge with one version, and how many questions it has judged."""

    judge: str
    version: str
    kind: str
    experience: int
    judged: int

    @property
    def name(self) -> str:
        """Its name: `anna`, `gpt-4o@expert 1f…`."""
        return f"{self.judge}@{self.version}" if self.version else self.judge


class Store(StoreFile):
    """Open a store, or create one: `with Store("judgements.sqlite") as store: ...`."""

    # -- questions ----------------------------------------------------------------------------------------------------

    def add_questions(self, questions: Iterable[Question]) -> int:
        """Add questions to the queue; those already there stay. Returns how many were new."""
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

    @reads_file
    def questions(self) -> list[Question]:
        """The questions of the queue, in order."""
        rows = self._db.execute("SELECT key, document, parts FROM questions WHERE queued ORDER BY place, key")
        return list(Documents(self._db).questions(rows))

    @reads_file
    def queue(self) -> list[str]:
        """The keys of the queue, in order: faster than the questions with their documents."""
        return [key for (key,) in self._db.execute("SELECT key FROM questions WHERE queued ORDER BY place, key")]

    @reads_file
    def question(self, key: str) -> Question | None:
        """The question with this key, queued or not."""
        rows = self._db.execute("SELECT key, document, parts FROM questions WHERE key = ?", (key,))
        return next(Documents(self._db).questions(rows), None)

    # -- judges -------------------------------------------------------------------------------------------------------

    def add_judge(self, name: str, kind: str = "person", experience: int | None = None) -> None:
        """Add a judge; where two people disagree, the one with more experience decides."""
        with self.writing():
            self.check_kind(name, kind)
            self._db.execute("INSERT OR IGNORE INTO judges (name, kind) VALUES (?, ?)", (name, kind))
            if experience is not None:
                self._db.execute("UPDATE judges SET experience = ? WHERE name = ?", (experience, name))

    @reads_file
    def check_kind(self, name: str, kind: str) -> None:
        """Raise an error if a judge of another kind has this name."""
        for (known,) in self._db.execute("SELECT kind FROM judges WHERE name = ?", (name,)):
            if known != kind:
                raise InputError(
                    f"{self.path}: {name!r} is the name of a {known} here, not of a {kind}; use another name"
                )

    @reads_file
    def judges(self) -> dict[str, tuple[str, int]]:
        """Kind and experience of each judge."""
        rows = self._db.execute("SELECT name, kind, experience FROM judges ORDER BY name")
        return {name: (kind, experience) for name, kind, experience in rows}

    def unknown_judge(self, name: str, extra: str = "") -> InputError:
        """The error for a name that no judge here has."""
        known = self.judges()
        return InputError(
            f"{self.path}: there is no judge called {name!r} here{extra}; there are {', '.join(known) or 'none yet'}."
            f"{did_you_mean(name, known)}"
        )

    # -- judgements ---------------------------------------------------------------------------------------------------

    def add(self, judgement: Judgement, kind: str = "person") -> None:
        """Add one judgement, with its question; it is on the disk when this returns."""
        self.add_all((judgement,), kind)

    def add_all(self, judgements: Iterable[Judgement], kind: str = "person") -> None:
        """Add several judgements, all or none."""
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
        """Delete a judgement."""
        with self.writing():
            self._db.execute(
                "DELETE FROM judgements WHERE question = ? AND judge = ? AND version = ?",
                (question.key, judge, version),
            )

    @reads_file
    def judgements(self, judge: str | None = None, version: str | None = None) -> list[Judgement]:
        """The judgements, of one judge or of all."""
        rows = self._db.execute(
            f"{_WHOLE} WHERE (:judge IS NULL OR j.judge = :judge) AND (:version IS NULL OR j.version = :version) ORDER BY q.place, q.key, j.judge, j.version",
            {"judge": judge, "version": version},
        )
        documents = Documents(self._db)
        return [_judgement(row, documents) for row in rows]

    @reads_file
    def judgement(self, key: str, judge: str, version: str = "") -> Judgement | None:
        """A judge's judgement on the question with this key."""
        row = self._db.execute(
            f"{_WHOLE} WHERE j.question = ? AND j.judge = ? AND j.version = ?", (key, judge, version)
        ).fetchone()
        return None if row is None else _judgement(row, Documents(self._db))

    @reads_file
    def voices(self) -> list[Voice]:
        """Each judge and version that has judged: a model with two prompts is two voices."""
        rows = self._db.execute(
            "SELECT judge, version, kind, experience, count(*) FROM judgements JOIN judges ON name = judge "
            "GROUP BY judge, version ORDER BY judge, version"
        )
        return [Voice(*row) for row in rows]

    @reads_file
    def judged_pairs(self) -> set[tuple[str, str]]:
        """Candidate and role of every question that anybody has judged."""
        rows = self._db.execute(
            "SELECT DISTINCT q.candidate, q.role FROM questions q JOIN judgements j ON j.question = q.key"
        )
        return {(candidate, role) for candidate, role in rows}

    @reads_file
    def piece(self, judge: str, version: str) -> Question | None:
        """A piece as a model was shown it; None if the model was not asked by tallystick."""
        rows = self._db.execute(
            "SELECT q.key, q.document, q.parts FROM judgements j JOIN questions q ON q.key = j.question "
            f"WHERE j.judge = ? AND j.version = ? AND {_ASKED} LIMIT 1",
            (judge, version),
        )
        return next(Documents(self._db).questions(rows), None)

    @reads_file
    def answers_to_pieces(self, judge: str, version: str) -> dict[str, Verdict]:
        """A model's verdicts on what it was shown, by key, without those combined from them."""
        rows = self._db.execute(
            f"SELECT question, label, refs, explanation FROM judgements j WHERE judge = ? AND version = ? AND {_ASKED}",
            (judge, version),
        )
        return {key: Verdict(label, tuple(json.loads(refs)), why) for key, label, refs, why in rows}

    @reads_file
    def verdict(self, question: Question, judge: str, version: str = "") -> Verdict | None:
        """A judge's verdict on a question, if there is one."""
        row = self._db.execute(
            "SELECT label, refs, explanation FROM judgements WHERE question = ? AND judge = ? AND version = ?",
            (question.key, judge, version),
        ).fetchone()
        return None if row is None else Verdict(row[0], tuple(json.loads(row[1])), row[2])

    @reads_file
    def verdicts(self, judge: str | None = None, version: str | None = None) -> list[tuple[str, str, Verdict]]:
        """The question's key, judge and verdict of each judgement: enough to score, without the documents."""
        rows = self._db.execute(
            "SELECT question, judge, label, refs, explanation FROM judgements WHERE (:judge IS NULL OR judge = :judge) "
            "AND (:version IS NULL OR version = :version) ORDER BY question, judge, version",
            {"judge": judge, "version": version},
        )
        return [(key, who, Verdict(label, tuple(json.loads(refs)), why)) for key, who, label, refs, why in rows]

    @reads_file
    def labels(self, judge: str, version: str | None = None) -> dict[str, Label]:
        """A judge's labels by question: what agreement is computed from."""
        rows = self._db.execute(
            "SELECT question, label FROM judgements WHERE judge = :judge AND (:version IS NULL OR version = :version) ORDER BY at",
            {"judge": judge, "version": version},
        )
        return dict(rows.fetchall())

    # -- unusable answers: stored, so that they are not paid for again ------------------------------------------------

    def keep_unusable(self, key: str, judge: str, version: str, answer: str, reason: str) -> None:
        """Store an answer that could not be used."""
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self.writing():
            self._db.execute(
                "INSERT OR REPLACE INTO unusable VALUES (?, ?, ?, ?, ?, ?)", (key, judge, version, answer, reason, when)
            )

    @reads_file
    def unusable(self, judge: str, version: str) -> dict[str, str]:
        """The keys of the questions to which a judge gave an unusable answer, and why it is unusable."""
        rows = self._db.execute(
            "SELECT question, reason FROM unusable WHERE judge = ? AND version = ?", (judge, version)
        )
        return dict(rows.fetchall())


_ASKED = """j.details LIKE '%"answer":%'"""
"""True if the model itself was asked this: its own words are there."""
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

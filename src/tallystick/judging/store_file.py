"""The file of a store: opening it, its log, bringing it up to this version, and writing to it.

Each writing is a transaction of its own, written through to the disk: losing power loses at most the answer being typed. SQLite's
write-ahead log lets several people and programs work on one file at once. A file that was moved away under the program's feet is not written
to: SQLite would, and nobody would ever find it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from tallystick.errors import InputError
from tallystick.judging.layout import APPLICATION, VERSION, bring_up, give_back, lay_out, version_of

PATIENCE = 30
"""Seconds to wait for somebody else who is writing."""

Self = TypeVar("Self", bound="StoreFile")
Given = ParamSpec("Given")
Found = TypeVar("Found")

Identity = tuple[tuple[int, int] | None, ...]
"""Which file stands at the store's name, and which log beside it."""


def reading(method: Callable[Concatenate[Self, Given], Found]) -> Callable[Concatenate[Self, Given], Found]:
    """A method that reads: whatever the file holds that no tallystick has written is an error that names the file."""

    @wraps(method)
    def read(self: Self, /, *given: Given.args, **named: Given.kwargs) -> Found:
        try:
            return method(self, *given, **named)
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path}: cannot be read ({error})") from None
        except sqlite3.DatabaseError as error:
            raise damaged(self.path, error) from None
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise damaged(self.path, f"a row that cannot be understood: {error}") from None

    return read


def damaged(path: Path, why: Any) -> InputError:
    """What is to be said of a store that is broken, and what may help."""
    return InputError(
        f"{path}: this store of judgements is damaged ({why}). Take a copy of it that is whole; without one, "
        f"`sqlite3 {path} .recover | sqlite3 recovered.sqlite` saves what can still be read"
    )


class StoreFile:
    """A store as a file, whatever is in it.

    What is not there yet is made by the first thing that is written to it, in the same transaction: whoever fails before leaves nothing.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self._seen: Identity = (None, None)
        if not create and not self.path.exists():
            raise InputError(f"{self.path}: there is no such store of judgements; `tallystick judge export` makes one")
        try:
            # The page is served by threads, which share the store; they write one at a time, by `writing`.
            self._lock = threading.RLock()
            self._unmade = not _written(self.path)
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
        """The file; as long as there is none, empty tables in memory. Somebody else may have made it meanwhile."""
        if self._unmade and not self._connection.in_transaction and _written(self.path):
            with self._lock:
                if self._unmade:
                    self._unmade = False
                    self._open()
        return self._connection

    def _stand_in(self) -> None:
        folder = self.path.parent
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            what = "may not be written to" if folder.is_dir() else "is no folder"
            raise InputError(f"{self.path}: this store of judgements cannot be made: {folder} {what}")
        self._connection = _connected(":memory:")
        lay_out(self._connection)

    def _open(self) -> None:
        """Open the file; where the folder may not be written to, only to be read.

        SQLite wants a file beside a store with a write-ahead log, even to read it. Where it cannot make one, and nothing is left in
        a log, the store is read as it stands.
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
        self._connection = _connected(name)
        self._prepare()
        self._seen = self._identity()

    def _identity(self) -> Identity:
        return _which(self.path), _which(self._log)

    def _check_identity(self) -> None:
        """An error where the file that is open is not the one at its name any more, or its log was taken away."""
        now = self._identity()
        if any(before not in (None, after) for before, after in zip(self._seen, now, strict=True)):
            raise InputError(
                f"{self.path}: the store was moved, deleted or replaced while it was open, so that nothing can be written to it; "
                "nothing was changed. Put it back, or start again where it is now"
            )

    def _prepare(self) -> None:
        db = self._connection
        db.execute("BEGIN")  # the three are read at one moment: somebody else may be making the store just now
        (application,) = db.execute("PRAGMA application_id").fetchone()
        version = version_of(db)
        tables = _tables(db)
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
                if not _tables(db):  # nobody else was quicker
                    lay_out(db)
        elif version < VERSION:
            self._bring_up(version)
        db.execute("PRAGMA foreign_keys = ON")

    def _bring_up(self, version: int) -> None:
        try:
            with self.writing():
                if version_of(self._db) == version:  # nobody else was quicker
                    bring_up(self._db)
        except InputError as error:
            raise InputError(
                f"{self.path}: a store of version {version}, which has to be laid out anew for version {VERSION} of this tallystick. "
                f"Copy it to where it may be written to ({error.reason})"
            ) from None
        give_back(self._db)

    def _keep_a_log(self) -> None:
        """The write-ahead log. SQLite does not wait for a lock here, as it does elsewhere, so we do."""
        until = time.monotonic() + PATIENCE
        while self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return  # where a file system has no shared memory the ordinary journal stays, which is as safe
            except sqlite3.OperationalError as error:  # noqa: PERF203
                if "readonly" in str(error):
                    return  # it can be read, which may be all that is wanted; whoever writes is told
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written in here, or nothing of it; one inside another is part of it."""
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
                # a full disk, a file without leave to write, a lock of half a minute
                raise InputError(f"{self.path}: cannot be written ({error}); nothing was changed") from None
            except sqlite3.DatabaseError as error:
                raise damaged(self.path, error) from None
            except UnicodeEncodeError as error:
                raise InputError(
                    f"{self.path}: {error.object[max(0, error.start - 20) : error.end]!r} ends in half a character "
                    "(a lone surrogate), which no file can hold; nothing was changed"
                ) from None

    def _begin(self) -> bool | None:
        """Begin to write. Where this makes the store: whether there was no file before."""
        if not self._unmade:
            self._check_identity()
            self._connection.execute("BEGIN IMMEDIATE")
            return None
        new = not self.path.exists()
        file = _connected(str(self.path))
        try:
            file.execute("PRAGMA synchronous = FULL")
            file.execute("PRAGMA foreign_keys = ON")
            file.execute("BEGIN IMMEDIATE")
            if not _tables(file):
                self._connection.close()
                self._connection = file
                lay_out(file)
                return new
        except BaseException:
            file.close()
            raise
        file.execute("ROLLBACK")  # somebody else was quicker
        file.close()
        self._unmade = False
        self._open()
        self._connection.execute("BEGIN IMMEDIATE")
        return None

    def _unmake(self, new: bool) -> None:
        """Nothing came of it: leave things as they were found."""
        self._connection.close()
        if new and not _written(self.path):
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


def _connected(name: str) -> sqlite3.Connection:
    return sqlite3.connect(
        name, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=name.startswith("file:")
    )


def _tables(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _which(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _written(path: Path) -> bool:
    """Whether there is something at a path; an empty file, as `mktemp` makes it, is nothing yet."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False

"""What was finished before a run was killed: the outcomes of shards in a small database, `DIR/shards.sqlite`.

An outcome is known by the run (the task, its options, the contents of the files that the options name, the version), by the
shard's place and first lines, and by the contents of the shard on both sides. Nothing that differs in any of these is ever taken
from the state; changes are reported.

Each outcome is a transaction of its own, so that a process that is killed loses only what it was computing.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, TallystickError
from tallystick.run.cutting import Shard
from tallystick.run.shards import Outcome
from tallystick.version import __version__

FILE = "shards.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, subject TEXT NOT NULL, settings TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS shards (
    run TEXT NOT NULL, cut TEXT NOT NULL, number INTEGER NOT NULL, reference TEXT NOT NULL, predicted TEXT NOT NULL,
    lines TEXT NOT NULL, outcome BLOB NOT NULL, PRIMARY KEY (run, cut, number));
"""


def run_key(subject: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """The key of a run, and its settings as text. Files that the settings name are part of it with their contents."""
    lines = [f"tallystick {__version__}", subject]
    for name, value in sorted(settings.items()):
        lines.append(f"{name}={value!r}")
        lines += [f"{file}: {_hash(file)}" for file in _files(value)]
    text = "\n".join(lines)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest(), text


_NAME = re.compile(r"""[^\s()\[\]{},='"?]+""")


def _files(value: Any) -> list[str]:
    """The files that a setting names: a file, `file.py:Type`, `kind:FILE`, the module of `module:name`; also in an expression."""
    if isinstance(value, (list, tuple)):
        return [file for one in value for file in _files(one)]
    if not isinstance(value, str):
        return []
    found: dict[str, None] = {}
    for name in (value, *_NAME.findall(value)):
        before, _, after = name.rpartition(":")
        module = getattr(sys.modules.get(before), "__file__", None)
        for file in (name, before, after, module):
            if file and os.path.isfile(file):
                found[file] = None
                if os.path.isfile(f"{file}-wal"):  # the last answers of a store of judgements
                    found[f"{file}-wal"] = None
    return list(found)


def _hash(file: str) -> str:
    return blake2b(Path(file).read_bytes(), digest_size=20).hexdigest()


class State:
    """The outcomes that a directory knows of one run."""

    def __init__(
        self,
        directory: str | Path,
        subject: str,
        settings: Mapping[str, Any],
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.directory, self.say = Path(directory), say
        self.run, text = run_key(subject, settings)
        self.taken = 0
        self._sure = False  # that what is stored can be taken again
        self.changed: dict[str, int] = {}
        if not str(directory):
            raise InputError("the name of a state is empty; expected a folder")
        if self.directory.exists() and not self.directory.is_dir():
            raise InputError("is a file, expected a folder for the state of a run", str(directory))
        base: sqlite3.Connection | None = None
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            base = self._base = sqlite3.connect(self.directory / FILE, timeout=60, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_SCHEMA)
            known = self._base.execute("SELECT run FROM runs WHERE subject = ?", (subject,)).fetchall()
            if known and (self.run,) not in known:
                say(
                    f"{self.directory}: knows these files, but under another metric, other options or another version; "
                    "everything is computed again"
                )
            self._base.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", (self.run, subject, text))
        except (sqlite3.Error, OSError) as error:
            if base is not None:
                base.close()
            raise InputError(f"cannot hold the state of a run ({error})", str(directory)) from None

    def get(self, shard: Shard) -> Outcome | None:
        """The outcome of a shard, if it is known and the shard has not changed."""
        content = shard.content  # before it is scored: a file that changes meanwhile is noticed the next time
        with self._told():
            found = self._base.execute(
                "SELECT reference, predicted, lines, outcome FROM shards WHERE run = ? AND cut = ? AND number = ?",
                (self.run, shard.cut, shard.number),
            ).fetchone()
        if found is None:
            return None
        reference, predicted, lines, packed = found
        files = [shard.reference.name, shard.predicted.name if shard.predicted is not None else ""]
        changed = [file for file, old, new in zip(files, (reference, predicted), content, strict=True) if old != new]
        if changed or lines != _lines(shard):
            for file in changed:
                self.changed[file] = self.changed.get(file, 0) + 1
                if self.changed[file] == 1:
                    self.say(
                        f"{file} has changed since; its shards from number {shard.number + 1} on are computed again"
                    )
            return None
        try:
            outcome = _unpack(packed)
        except Exception:  # of another version of Python or NumPy: not known, then
            return None
        self.taken += 1
        return outcome

    def put(self, shard: Shard, outcome: Outcome) -> None:
        """Remember an outcome; from here on it is safe."""
        packed = pickle.dumps(outcome)
        if not self._sure:
            try:
                _unpack(packed)
            except pickle.UnpicklingError as error:
                raise TallystickError(f"{self.directory}: cannot hold the state of this run: {error}") from None
            self._sure = True
        with self._told():
            self._base.execute(
                "INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self.run, shard.cut, shard.number, *shard.content, _lines(shard), packed),
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """A disk that is full or a file that is damaged, as an error of the project's own."""
        try:
            yield
        except sqlite3.Error as error:
            raise TallystickError(f"{self.directory}: cannot hold the state of a run ({error})") from None

    def close(self) -> None:
        self._base.close()
        if not (self.directory / FILE).exists():
            self.say(f"{self.directory}: was removed during the run, and holds no state")

    def __enter__(self) -> State:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _lines(shard: Shard) -> str:
    """Where a shard begins on both sides: what is said about it names lines."""
    parts = (shard.reference, shard.predicted)
    return " ".join(
        ",".join(str(line) for _, _, line in (part.ranges or ())[-3:]) for part in parts if part is not None
    )


def _unpack(packed: bytes) -> Outcome:
    outcome = _Unpickler(io.BytesIO(packed)).load()
    if not isinstance(outcome, Outcome):
        raise pickle.UnpicklingError(f"{type(outcome).__name__} is no outcome of a shard")
    return outcome


class _Unpickler(pickle.Unpickler):
    """Data only: dataclasses of this package and NumPy's arrays. A database of a stranger cannot run anything."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "numpy" and name in (
            "_reconstruct",
            "ndarray",
            "dtype",
            "scalar",
            "_frombuffer",
        ):
            return super().find_class(module, name)
        if (module, name) == ("collections", "Counter"):
            return super().find_class(module, name)
        if module.partition(".")[0] == "tallystick" and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module and is_dataclass(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data of tallystick or NumPy")

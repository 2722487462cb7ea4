"""One attempt: an input goes through a target, and what comes out is judged.

Fine is a result in which every figure lies between 0 and 1 and the input is like itself, or an error of the project's own
family. A finding is anything else: another exception, a warning that a library prints, a prediction that equals its reference
and does not score 1, more than `SECONDS` of CPU time, or more memory than `MEMORY`.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzing.mutation import mutated
from fuzzing.targets import Target

SECONDS = 5.0
"""CPU time that an input of a few kilobytes may take."""
MEMORY = 4 << 30
"""Address space of a fuzzing process; asking for more is a MemoryError, and a finding."""
LONGEST = 4096
"""Bytes of an input."""


class TooSlow(BaseException):
    """The attempt took longer than it may."""


@dataclass(frozen=True)
class Finding:
    """What gave way, on what input. Two findings with the same `key` are one."""

    target: str
    key: str
    message: str
    data: bytes

    @property
    def name(self) -> str:
        return f"{self.target}-{hashlib.sha256(self.key.encode()).hexdigest()[:12]}"


class Attempts:
    """Runs inputs of one target in a folder of its own, which lies in memory where the system has such a place."""

    def __init__(self, target: Target) -> None:
        self.target = target
        memory = Path("/dev/shm")
        self.folder = Path(
            tempfile.mkdtemp(prefix="tallystick-fuzzing-", dir=memory if os.access(memory, os.W_OK) else None)
        )
        self.seeds = [target.lay(seed, self.folder, f"seed{k}") for k, seed in enumerate(target.seeds)]
        self.accepted = 0

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def attempt(self, data: bytes) -> Finding | None:
        """None, or what gave way."""
        from tallystick.errors import TallystickError

        file = self.target.lay(data, self.folder, "input")
        checked = zlib.crc32(data)
        try:
            with warnings.catch_warnings(), redirect_stderr(io.StringIO()), _in_time(SECONDS):
                warnings.simplefilter("error")
                results = self.target.run(file, file)
                self.accepted += 1
                if results is not None:
                    _check(results, self.target)
                    if checked % 8 == 0:
                        _show(results)
                if checked % 4 == 1:  # a prediction also meets a reference that is another
                    self.target.run(self.seeds[checked // 4 % len(self.seeds)], file)
        except TallystickError as error:
            return self._judged_message(error, data)
        except (Exception, TooSlow) as error:
            return Finding(self.target.name, _key(error), "".join(traceback.format_exception(error)[-6:]), data)
        return None

    def _judged_message(self, error: BaseException, data: bytes) -> Finding | None:
        """A message is text that can be printed, and not a book."""
        message = str(error)
        try:
            message.encode()
        except UnicodeEncodeError:
            return Finding(self.target.name, f"unprintable message at {_frame(error)}", repr(message), data)
        if len(message) > 4000 + len(data):
            return Finding(self.target.name, f"endless message at {_frame(error)}", message[:500], data)
        return None


def _check(results: Mapping[str, Any], target: Target) -> None:
    for name, result in results.items():
        if name in target.unlike or "*" in target.unlike or any("left out" in warning for warning in result.warnings):
            continue
        for figure, value in result.figures.items():
            if value is not None and not -1e-9 <= value <= 1 + 1e-9:
                raise AssertionError(f"{name}: {figure} is not between 0 and 1")
        undecided = result.kind.figures(result.sums)[
            result.kind.headline
        ]  # NaN is 0/0, whatever the policy makes of it
        if not math.isnan(undecided) and not math.isclose(undecided, 1, abs_tol=1e-6):
            raise AssertionError(f"{name}: a prediction that equals its reference scores less than 1")


def _show(results: Mapping[str, Any]) -> None:
    """What a command does with results: JSON, documents, the explanation of one."""
    from tallystick.errors import TallystickError
    from tallystick.results.results import Results, figures_table
    from tallystick.results.tables import documents_table
    from tallystick.show.tables import to_tsv

    Results(results).to_json().encode()
    to_tsv(figures_table(results)).encode()
    to_tsv(documents_table(results, None)).encode()
    first = next(iter(results.values()))
    if not isinstance(first.metric, str) and len(first.ids) and first.sources is not None:
        try:
            str(first.explain(first.ids[0])).encode()
        except TallystickError:
            return


def _key(error: BaseException) -> str:
    what = f"{type(error).__name__}: {error}" if isinstance(error, AssertionError) else type(error).__name__
    return f"{what} at {_frame(error)}"


def _frame(error: BaseException) -> str:
    """The innermost line of the project."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}tallystick{os.sep}" in frame.filename
    ]
    if not frames:
        return "?"
    return f"{frames[-1].filename.rpartition(f'{os.sep}tallystick{os.sep}')[2]}:{frames[-1].name}"


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    def late(signum: int, frame: Any) -> None:
        raise TooSlow(f"more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory() -> None:
    """From here on this process gets no more than `MEMORY`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def try_plainly(target: Target, times: int, seed: int = 0, seconds: float = math.inf) -> list[Finding]:
    """Mutants of the seeds, `times` of them and no longer than `seconds`, always the same for one seed; no guidance."""
    chance = random.Random(f"{target.name}{seed}")
    attempts = Attempts(target)
    findings: dict[str, Finding] = {}
    until = time.process_time() + seconds
    try:
        for k in range(times):
            if time.process_time() > until:
                break
            data = target.seeds[k] if k < len(target.seeds) else chance.choice(target.seeds)
            for _ in range(chance.randint(1, 4) if k >= len(target.seeds) else 0):
                data = mutated(data, chance, target.words, as_json=target.is_json)
            found = attempts.attempt(data[:LONGEST])
            if found is not None:
                findings.setdefault(found.key, found)
    finally:
        attempts.close()
    return list(findings.values())

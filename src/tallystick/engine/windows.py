"""Work that somebody else does: any `concurrent.futures.Executor`, in order and with bounded memory.

    pieces  ──►  a few for each worker under way  ──►  results, kept as they come, returned in order

However many workers there are and whoever is done first, the results come back in the order of the work. No more work is handed
out than a few pieces for each worker, so that memory is bounded; a result that was lost on the way is computed again.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tallystick.errors import TallystickError

T = TypeVar("T")
R = TypeVar("R")

PIECES_A_WORKER = 4
FINISHED_AHEAD = 8
"""So many times the pieces under way may wait, finished or not, for a slow one before them."""
AGAIN = 3
"""So often work is done again whose outcome was lost on the way."""


class WorkerLost(TallystickError):
    """A worker ended in the middle of its work, and nobody did it again."""

    exit_code = 70


LOST = (
    "the executor lost a worker (killed, or out of memory) and cannot go on; "
    "tallystick.run.Processes(n) does again what a killed process lost"
)
OFTEN_LOST = "the same work cost several workers of the Dask cluster their lives (killed, or out of memory); smaller shards need less memory"


def explained(error: BaseException) -> BaseException:
    """What an executor says of a lost worker or of work that cannot travel, in words of this project; anything else as it is."""
    if isinstance(error, BrokenExecutor):
        return WorkerLost(LOST)
    if type(error).__name__ == "KilledWorker":
        return WorkerLost(OFTEN_LOST)
    said = str(error)
    if isinstance(error, pickle.PicklingError) or (
        isinstance(error, (AttributeError, TypeError)) and ("pickle" in said or "local object" in said)
    ):
        return TallystickError(
            f"cannot be sent to another process: {said}; define functions and types at the top of a module"
        )
    return error


def is_lost_on_the_way(error: BaseException) -> bool:
    """Whether Dask had an outcome and lost it: it takes the outcome first and asks then whether there is one, and a worker
    that dies in between takes the answer with it. Nothing is wrong with the work, which can be done again."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_globals.get("__name__") == "distributed.cfexecutor"


def workers_of(executor: Executor) -> int:
    """How many pieces of work an executor does at once, as far as it tells."""
    known = getattr(executor, "workers", None) or getattr(executor, "_max_workers", None)
    if isinstance(known, int):
        return known
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return os.cpu_count() or 1


def in_order(
    executor: Executor | None,
    work: Callable[[T], R],
    pieces: Iterable[T],
    *,
    find: Callable[[T], R | None] = lambda _: None,
    keep: Callable[[T, R], None] = lambda piece, result: None,
    window: int | None = None,
) -> Iterator[tuple[T, R]]:
    """Every piece with its result, in the order of the pieces; without an executor this process does the work. What `find`
    knows already is not computed; `keep` gets what was computed as soon as it is there, whatever its place."""
    if executor is not None:
        yield from _Window(executor, work, find, keep, window).run(pieces)
        return
    for piece in pieces:
        result = find(piece)
        if result is None:
            result = work(piece)
            keep(piece, result)
        yield piece, result


@dataclass
class _Piece(Generic[T, R]):
    """A piece of work, its place, its result once it is there, and how often that was lost."""

    work: T
    place: int
    result: R | None = None
    lost: int = 0


@dataclass
class _Window(Generic[T, R]):
    """The pieces that are under way, or wait for a slow one before them."""

    executor: Executor
    work: Callable[[T], R]
    find: Callable[[T], R | None]
    keep: Callable[[T, R], None]
    window: int | None
    waiting: deque[_Piece[T, R]] = field(default_factory=deque)
    under_way: dict[Future[R], _Piece[T, R]] = field(default_factory=dict)

    def run(self, pieces: Iterable[T]) -> Iterator[tuple[T, R]]:
        most = self.window or PIECES_A_WORKER * workers_of(self.executor)
        try:
            for place, work in enumerate(pieces):
                piece = _Piece(work, place, self.find(work))
                self.waiting.append(piece)
                if piece.result is None:
                    self.submit(piece)
                yield from self.ready()
                while len(self.under_way) >= most or len(self.waiting) >= FINISHED_AHEAD * most:
                    self.collect()
                    yield from self.ready()
            while self.under_way:
                self.collect()
                yield from self.ready()
        finally:
            for future in self.under_way:
                future.cancel()

    def submit(self, piece: _Piece[T, R]) -> None:
        try:
            self.under_way[self.executor.submit(self.work, piece.work)] = piece
        except RuntimeError as error:  # what every executor says once it was shut down
            if isinstance(error, BrokenExecutor):
                raise explained(error) from None
            raise TallystickError(f"the executor takes no work ({error})") from None
        except Exception as error:
            raise explained(error) from None

    def collect(self) -> None:
        """Wait for at least one result. Of several pieces that fail, the first in order is the error."""
        failed = self.take(wait(self.under_way, return_when=FIRST_COMPLETED).done)
        if failed:
            earlier = [future for future, piece in self.under_way.items() if piece.place < min(failed)]
            wait(earlier)
            failed |= self.take(earlier)
            raise explained(failed[min(failed)])

    def take(self, finished: Iterable[Future[R]]) -> dict[int, BaseException]:
        """Keep the results of what is finished; by place the errors of what failed."""
        failed: dict[int, BaseException] = {}
        for future in finished:
            piece, error = self.under_way.pop(future), future.exception()
            if error is None:
                piece.result = future.result()
                self.keep(piece.work, piece.result)
            elif is_lost_on_the_way(error) and piece.lost < AGAIN:
                piece.lost += 1
                self.submit(piece)
            else:
                failed[piece.place] = error
        return failed

    def ready(self) -> Iterator[tuple[T, R]]:
        while self.waiting and (result := self.waiting[0].result) is not None:
            yield self.waiting.popleft().work, result


def slices(total: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size`."""
    for start in range(0, total, size):
        yield slice(start, min(total, start + size))


def share(total: int, size: int, executor: Executor) -> int:
    """How many documents travel together: several batches, but enough parts for all workers."""
    return max(1, min(4 * size, -(-total // (PIECES_A_WORKER * workers_of(executor)))))

"""Work that somebody else does: any `concurrent.futures.Executor`, in order and with bounded memory.

The results come back in the order of the work, whoever was done first, and no more work is handed out than a few pieces
for each worker: what waits to be computed or fetched is all that is in memory.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import TypeVar

from tallystick.errors import TallystickError

T = TypeVar("T")
R = TypeVar("R")

PIECES_A_WORKER = 4
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
    """What an executor says of a lost worker, in words of this project; anything else as it is."""
    if isinstance(error, BrokenExecutor):
        return WorkerLost(LOST)
    return WorkerLost(OFTEN_LOST) if type(error).__name__ == "KilledWorker" else error


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
    executor: Executor, work: Callable[[T], R], pieces: Iterable[T], *, window: int | None = None
) -> Iterator[tuple[T, R]]:
    """Every piece with its result, in the order of the pieces."""
    most = window or PIECES_A_WORKER * workers_of(executor)
    waiting: deque[tuple[T, Future[R]]] = deque()
    try:
        for piece in pieces:
            if len(waiting) >= most:
                first, future = waiting.popleft()
                yield first, _outcome(executor, work, first, future)
            waiting.append((piece, _submitted(executor, work, piece)))
        while waiting:
            first, future = waiting.popleft()
            yield first, _outcome(executor, work, first, future)
    except BrokenExecutor as error:
        raise explained(error) from None
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if isinstance(error, pickle.PicklingError) or "pickle" in str(error) or "local object" in str(error):
            raise TallystickError(
                f"cannot be sent to another process: {error}; define functions and types at the top of a module"
            ) from None
        raise
    finally:
        for _, future in waiting:
            future.cancel()


def _submitted(executor: Executor, work: Callable[[T], R], piece: T) -> Future[R]:
    try:
        return executor.submit(work, piece)
    except BrokenExecutor:
        raise
    except RuntimeError as error:  # what every executor says once it was shut down
        raise TallystickError(f"the executor takes no work ({error})") from None


def _outcome(executor: Executor, work: Callable[[T], R], piece: T, future: Future[R], again: int = AGAIN) -> R:
    try:
        return future.result()
    except Exception as error:
        if not again or not is_lost_on_the_way(error):
            raise
    return _outcome(executor, work, piece, _submitted(executor, work, piece), again - 1)


def slices(total: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size`."""
    for start in range(0, total, size):
        yield slice(start, min(total, start + size))


def share(total: int, size: int, executor: Executor) -> int:
    """How many documents travel together: several batches, but enough parts for all workers."""
    return max(1, min(4 * size, -(-total // (PIECES_A_WORKER * workers_of(executor)))))

"""Worker processes that may die: what a killed one lost is done again.

The standard library's pool of processes breaks when one of them ends abruptly (a kill, the machine's memory running
out), and everything that it had not finished is lost. `Processes` is an executor too, but starts a new pool and submits
what was lost again. Only work that goes down with its process several times is an error. A process that is killed while
it hands its result over leaves half a message behind, for the rest of which the pool would wait for ever: a thread looks
after the workers, and ends such a pool.

Workers are spawned, not forked, so that threads of the parent do no harm; they leave Ctrl-C to the parent, and end by
themselves when the parent is gone.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, TypeVar

from tallystick.engine.windows import WorkerLost
from tallystick.errors import TallystickError

T = TypeVar("T")

ATTEMPTS = 5
"""So often a piece of work may lose its process."""

GRACE = 3.0
"""Seconds in which a pool notices by itself that a worker died, if it does."""


@dataclass(eq=False)
class _Job:
    """A piece of work as it travels, the future that its owner holds, and how often it was tried."""

    packed: bytes
    future: Future[Any]
    tries: int = 0


class Processes(Executor):
    """An executor of `workers` processes that does again what a killed process lost."""

    def __init__(self, workers: int | None = None, *, attempts: int = ATTEMPTS) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.attempts = attempts
        self.lost = 0
        """How often the pool broke."""
        self._lock = threading.RLock()
        self._pool: ProcessPoolExecutor | None = None
        self._closed = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        packed = pickle.dumps((fn, args, kwargs))  # here, where what cannot travel is the caller's error
        with self._lock:
            if self._closed:
                raise RuntimeError("these processes were shut down")
            job = _Job(packed, Future())
            self._start(job)
            return job.future

    def _start(self, job: _Job) -> None:
        with self._lock:
            if self._closed:
                job.future.cancel()
                return
            job.tries += 1
            for _ in range(2):
                pool = self._pool or self._new_pool()
                try:
                    inner = pool.submit(_unpack_and_run, job.packed)
                    break
                except BrokenExecutor:
                    self._drop(pool)
            else:  # a pool that breaks while it starts
                job.future.set_exception(self._too_often(job))
                return
        inner.add_done_callback(lambda done: self._finish(job, pool, done))

    def _new_pool(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), initializer=_be_a_worker)
        self._pool = pool
        threading.Thread(target=self._look_after, args=(pool,), daemon=True).start()
        return pool

    def _look_after(self, pool: ProcessPoolExecutor) -> None:
        """End a pool that does not notice that a worker of its died."""
        while self._pool is pool:
            workers = list((getattr(pool, "_processes", None) or {}).values())
            if not wait([one.sentinel for one in workers], timeout=0.2):
                time.sleep(0 if workers else 0.2)
                continue
            until = time.monotonic() + GRACE
            while self._pool is pool and not getattr(pool, "_broken", True) and time.monotonic() < until:
                time.sleep(0.05)
            if self._pool is pool and not getattr(pool, "_broken", True):
                _end(pool)
            return

    def _finish(self, job: _Job, pool: ProcessPoolExecutor, done: Future[Any]) -> None:
        if done.cancelled():
            job.future.cancel()
            job.future.set_running_or_notify_cancel()
            return
        error = done.exception()
        if isinstance(error, BrokenExecutor):
            self._drop(pool)
            if job.tries < self.attempts:
                self._start(job)
                return
            error = self._too_often(job)
        # its owner may have cancelled it
        if job.future.set_running_or_notify_cancel():
            if error is not None:
                job.future.set_exception(error)
            else:
                job.future.set_result(done.result())

    def _too_often(self, job: _Job) -> WorkerLost:
        return WorkerLost(
            f"a worker process ended abruptly {job.tries} times over the same work (killed, or out of memory): fewer "
            "processes or smaller shards need less memory. In a script of your own, what starts processes has to stand "
            'below `if __name__ == "__main__":`'
        )

    def _drop(self, pool: ProcessPoolExecutor) -> None:
        """Forget a broken pool, once."""
        with self._lock:
            if self._pool is pool:
                self._pool = None
                self.lost += 1
        pool.shutdown(wait=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """End the workers at once; what they were doing is lost."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            _end(pool)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self.stop()
        else:
            self.shutdown(wait=True)


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill the workers of a pool. With them goes the last who could write to it, so that it waits for no rest of a message."""
    workers = list((getattr(pool, "_processes", None) or {}).values())
    writer = getattr(getattr(pool, "_result_queue", None), "_writer", None)
    pool.shutdown(wait=False)
    for worker in workers:
        with contextlib.suppress(ProcessLookupError, AttributeError):
            worker.kill()
    if writer is not None:
        with contextlib.suppress(OSError):
            writer.close()


def _unpack_and_run(packed: bytes) -> Any:
    work, arguments, named = pickle.loads(packed)
    try:
        return work(*arguments, **named)
    except Exception as error:
        raise _that_travels(error) from None


def _that_travels(error: Exception) -> Exception:
    """The exception, or, if it cannot be pickled and unpickled, what it says. One that cannot would break the pool."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return TallystickError(f"{type(error).__name__}: {error}\n{''.join(traceback.format_tb(error.__traceback__))}")
    return error


def _be_a_worker() -> None:
    """In a fresh worker: Ctrl-C is the parent's business, and without a parent there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)

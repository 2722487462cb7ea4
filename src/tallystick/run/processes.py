"""Who does the work: this process, processes of this machine that may die, or the workers of a Dask scheduler.

The standard library's pool of processes breaks when one of them ends abruptly (a kill, the machine's memory running out), and
everything that it had not finished is lost. `Processes` is an executor too, but each worker process has a pipe of its own and a
thread of this process that talks to it:

    submit  ──►  queue  ──►  thread k  ◄── pipe k ──►  process k

A process that ends in the middle closes its pipe, even if half of a result is in it; its thread then starts another one and
sends the work again. Only work that goes down with its process several times is an error.

As long as this process has no other thread, as the command has none, workers are forked from it before their threads begin, which takes
a hundredth of what it takes to start Python and load everything again. Otherwise, and wherever there is no Linux, they are spawned, so that
threads of the parent do no harm; so is whatever takes the place of a process that was lost. Workers leave Ctrl-C to the parent, and end
by themselves when the parent is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, TypeVar

from tallystick.engine.windows import WorkerLost
from tallystick.errors import MetricError, TallystickError

T = TypeVar("T")

ATTEMPTS = 5
"""So often a piece of work may lose its process."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""As malloc.h numbers them."""

RETRIES = 3
"""So often Dask gives a shard whose worker died to another one."""


@dataclass(eq=False)
class _Job:
    """A piece of work as it travels, and the future that its owner holds."""

    packed: bytes
    future: Future[Any]


class Processes(Executor):
    """An executor of `workers` processes that does again what a killed process lost."""

    def __init__(self, workers: int | None = None, *, attempts: int = ATTEMPTS) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.attempts = attempts
        self.lost = 0
        """How many processes ended abruptly."""
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads: list[_Worker] = []
        self._open = True
        atexit.register(self.stop)  # before multiprocessing waits for its children

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        packed = pickle.dumps((fn, args, kwargs))  # here, where what cannot travel is the caller's error
        with self._lock:
            if not self._open:
                raise RuntimeError("these processes were shut down")
            job = _Job(packed, Future())
            self._queue.put(job)
            if not self._threads and _is_alone():
                self._fork()
            elif len(self._threads) < self.workers:
                worker = _Worker(self._queue, self._try)
                self._threads.append(worker)
                worker.start()
            return job.future

    def _fork(self) -> None:
        """All workers, before the first of their threads begins."""
        self._threads = [_Worker(self._queue, self._try) for _ in range(self.workers)]
        pipes: list[Connection] = []
        for worker in self._threads:
            pipes.append(worker.begin("fork", pipes))
        for worker in self._threads:
            worker.start()

    def _try(self, job: _Job, worker: _Worker) -> None:
        """Have a worker do a job, again if its process is lost."""
        if not job.future.set_running_or_notify_cancel():  # its owner cancelled it
            return
        for _ in range(self.attempts):
            try:
                done, outcome, trace = pickle.loads(worker.ask(job.packed))
                if not done:
                    outcome.__cause__ = InWorker(f"\n\n{trace}")
                break
            except (EOFError, OSError):
                worker.end()
                if worker.stopped:
                    done, outcome = False, RuntimeError("these processes were stopped")
                    break
                with self._lock:
                    self.lost += 1
            except Exception as error:  # what came back cannot be unpickled here
                done, outcome = False, error
                break
        else:
            done, outcome = (
                False,
                WorkerLost(
                    f"a worker process ended abruptly {self.attempts} times over the same work (killed, or out of memory): fewer "
                    "processes or smaller shards need less memory. In a script of your own, what starts processes has to stand "
                    'below `if __name__ == "__main__":`'
                ),
            )
        if done:
            job.future.set_result(outcome)
        else:
            job.future.set_exception(outcome)

    def _close(self, cancel: bool) -> list[_Worker]:
        with self._lock:
            self._open = False
            workers, self._threads = self._threads, []
            while cancel and not self._queue.empty():
                with contextlib.suppress(Exception):
                    waiting = self._queue.get_nowait()
                    if waiting is not None:
                        waiting.future.cancel()
                        waiting.future.set_running_or_notify_cancel()
            for _ in workers:
                self._queue.put(None)
        atexit.unregister(self.stop)
        return workers

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        workers = self._close(cancel_futures)
        for worker in workers if wait else ():
            worker.join()

    def stop(self) -> None:
        """End the workers at once; what they were doing is lost."""
        for worker in self._close(cancel=True):
            worker.stopped = True
            worker.kill()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self.stop()
        else:
            self.shutdown(wait=True)


class _Worker(threading.Thread):
    """A thread of this process with the process that it talks to, which is started when there is work for it."""

    def __init__(self, queue: SimpleQueue[_Job | None], attempt: Callable[[_Job, _Worker], None]) -> None:
        super().__init__(daemon=True)
        self.queue, self.attempt = queue, attempt
        self.stopped = False
        self._process: Any = None
        self._pipe: Connection | None = None

    def run(self) -> None:
        while (job := self.queue.get()) is not None:
            self.attempt(job, self)
        self.end()

    def ask(self, packed: bytes) -> bytes:
        """Send work and wait for its outcome; EOFError or OSError if the process is gone."""
        if self.stopped:
            raise EOFError
        pipe = self._pipe or self.begin("spawn")
        if self.stopped:
            self.kill()
        pipe.send_bytes(packed)
        return pipe.recv_bytes()

    def begin(self, how: str, others: Sequence[Connection] = ()) -> Connection:
        """Start the process; a forked one closes its copies of this end of its pipe and of `others`, which end with this process."""
        context: Any = multiprocessing.get_context(how)
        ours: Connection
        ends: tuple[Connection, Connection] = context.Pipe()
        ours, theirs = ends
        self._pipe = ours
        self._process = context.Process(target=_be_a_worker, args=(theirs, (*others, ours) if how == "fork" else ()))
        self._process.start()
        theirs.close()  # so that the pipe ends with the process
        return ours

    def end(self) -> None:
        """Close the pipe, whereupon the process ends if it is still there."""
        if self._pipe is not None:
            self._pipe.close()
            self._process.join()
            self._process, self._pipe = None, None

    def kill(self) -> None:
        process = self._process
        if process is not None and process.pid is not None:
            process.kill()


def _is_alone() -> bool:
    """Whether this process has no thread but this one, of Python or of a library, so that it can be forked."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:  # no Linux
        return False


def _be_a_worker(pipe: Connection, copies: Sequence[Connection] = ()) -> None:
    """In a process of its own: Ctrl-C is the parent's business, and without a parent there is nothing to do."""
    for one in copies:
        one.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(
        500_000, 20, 50
    )  # more than a shard has: what is read makes no cycles, and each shard ends with a look
    gc.freeze()  # what the parent has loaded is there to stay, and is not looked at again
    keep_memory()
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    while True:
        try:
            packed = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_run(packed))


def _run(packed: bytes) -> bytes:
    """Do some work: whether it succeeded, and its result or its error, as they travel."""
    try:
        work, arguments, named = pickle.loads(packed)
        return pickle.dumps((True, work(*arguments, **named), ""))
    except Exception as error:
        trace = traceback.format_exc()
        try:
            failed = pickle.dumps((False, error, trace))
            pickle.loads(failed)
        except Exception:  # it cannot travel; what it says can
            failed = pickle.dumps((False, TallystickError(f"{type(error).__name__}: {error}\n{trace}"), trace))
        return failed


class InWorker(Exception):
    """Where in its process a piece of work failed."""


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def crew(jobs: int | None = None, scheduler: str | None = None) -> Iterator[Executor | None]:
    """An executor; None for this process alone."""
    if jobs is not None and scheduler is not None:
        raise MetricError("--jobs is for processes of this machine, --scheduler for those of Dask; give one of them")
    if scheduler is not None:
        with dask_workers(scheduler) as executor:
            yield executor
    elif jobs is not None and jobs > 1:
        with Processes(jobs) as executor:
            yield executor
    else:
        keep_memory()
        yield None


def keep_memory() -> None:
    """Have what is freed after a shard used again for the next one. glibc gives it back to the system, which clears every page of it
    before it is used again; other libraries are left alone."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM_THRESHOLD, 128 << 20)
        mallopt(_MMAP_THRESHOLD, 32 << 20)  # more than that it does not take


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """The workers of the scheduler at an address, such as tcp://10.0.0.1:8786 or the file that it wrote."""
    try:
        from distributed import Client
    except ImportError:
        raise TallystickError("--scheduler needs Dask distributed: pip install 'tallystick[dask]'") from None
    from pathlib import Path

    known = Path(address).is_file()
    if not (_is_scheduler_file(address) if known else _is_address(address)):
        expected = "the file that a Dask scheduler wrote, or an address such as tcp://10.0.0.1:8786"
        raise MetricError(f"--scheduler expects {expected}; found {address!r}, which is neither")
    try:
        client: Any = Client(scheduler_file=address) if known else Client(address, timeout=30)  # type: ignore[no-untyped-call,unused-ignore]
    except (OSError, ValueError) as error:
        raise TallystickError(f"no scheduler answers at {address} ({error})") from None
    try:
        _wait_for_a_worker(client, address)
        yield client.get_executor(pure=False, retries=RETRIES)
    finally:
        client.close()


def _wait_for_a_worker(client: Any, address: str) -> None:
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=60)
    except TimeoutError:
        raise TallystickError(f"the scheduler at {address} has no workers; it was given 60 s to get one") from None


def _is_address(text: str) -> bool:
    scheme, _, place = text.rpartition("://")
    if scheme not in ("", "tcp", "tls", "ws", "wss"):
        return bool(scheme)  # Dask knows more of them, without ports
    host, _, port = place.rpartition(":")
    return bool(host) and port.isdecimal() and int(port) < 1 << 16


def _is_scheduler_file(name: str) -> bool:
    import json

    try:
        with open(name, encoding="utf-8") as stream:
            content = json.load(stream)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "address" in content

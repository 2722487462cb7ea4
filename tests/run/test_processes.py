"""Worker processes: killed ones, work that cannot travel, work that kills."""

import os
import signal
import struct
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import connection

import pytest
from slowly import score_slowly

import tallystick as ts
from benchmarks.shards_data import make
from running import PATIENCE
from tallystick.engine.windows import WorkerLost, in_order
from tallystick.errors import TallystickError
from tallystick.run import Processes
from tallystick.run.shards import run_files
from tallystick.tasks.contract import find_task


def double(x):
    return 2 * x


def kill_once(job):
    """The first to come here is killed in the middle of its work."""
    number, flag = job
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return number
    return os.kill(os.getpid(), signal.SIGKILL)


def kill(_):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(_):
    raise TallystickError("said")


def test_what_a_killed_process_lost_is_done_again(tmp_path):
    flag = str(tmp_path / "killed")
    with Processes(2) as pool:
        found = [result for _, result in in_order(pool, kill_once, [(k, flag) for k in range(12)])]
        assert pool.lost == 1
    assert found == list(range(12))


def die_handing_over(job):
    """The first to come here is killed when half of its result is written."""
    number, flag = job
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return number

    def write_half(self, content):
        os.write(self._handle, struct.pack("!i", len(content)) + bytes(content)[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    connection.Connection._send_bytes = write_half
    return number


class Odd(Exception):
    """Cannot be unpickled: it wants more than it hands on."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def fail_oddly(_):
    raise Odd("this", "that")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_is_killed_while_it_hands_over_its_result_is_replaced(tmp_path, workers):
    flag = str(tmp_path / "killed")
    with Processes(workers) as pool:
        found = [result for _, result in in_order(pool, die_handing_over, [(k, flag) for k in range(5)])]
        assert pool.lost == 1
    assert found == list(range(5))


def test_an_exception_that_cannot_travel_is_told_at_once():
    with Processes(1) as pool:
        # A forked worker may know how to send it: Dask, if it was loaded here before, brings a pickle of all exceptions.
        with pytest.raises((TallystickError, Odd), match="this and that"):
            list(in_order(pool, fail_oddly, [1]))
        assert pool.lost == 0


def test_work_that_always_kills_its_process_ends_in_an_error():
    with Processes(1, attempts=2) as pool, pytest.raises(WorkerLost, match="ended abruptly 2 times"):
        list(in_order(pool, kill, [1]))


def test_errors_come_back_and_what_cannot_travel_is_said():
    reference = [["a"]] * 4
    with Processes(1) as pool:
        with pytest.raises(TallystickError, match=r"^said$"):
            list(in_order(pool, fail, [1]))
        metric = ts.f1(ts.match(ts.function(lambda x, y: 1.0)))
        with pytest.raises(TallystickError, match="define functions and types at the top of a module"):
            ts.evaluate(metric, reference, reference, executor=pool)
        assert list(in_order(pool, double, [3])) == [(3, 6)]
        assert ts.evaluate("f1(match(exact))", reference, reference, executor=pool, batch=1).f1 == 1


class Losing(Executor):
    """Loses the first outcomes as Dask does if a worker dies between an outcome and the question whether there is one."""

    def __init__(self, times):
        self.times, self.lost, self.place = times, 0, {"__name__": "distributed.cfexecutor"}
        exec("def cascade(result):\n    typ, exc, tb = result\n", self.place)

    def submit(self, work, *arguments):
        future = Future()
        try:
            result = work(*arguments)
            if self.lost < self.times:
                self.lost += 1
                self.place["cascade"](result)
            future.set_result(result)
        except Exception as error:
            future.set_exception(error)
        return future


def test_an_outcome_that_dask_lost_is_computed_again(tmp_path):
    losing = Losing(3)
    assert list(in_order(losing, double, [1, 2])) == [(1, 2), (2, 4)]
    assert losing.lost == 3
    with pytest.raises(TypeError, match="unpack"):
        list(in_order(Losing(4), double, [1]))
    with pytest.raises(TallystickError, match=r"^said$"):
        list(in_order(losing, fail, [1]))
    task, gold, system = make(tmp_path, "roles")
    score = partial(score_slowly, log=str(tmp_path / "log"), seconds=0)
    whole = run_files(score, gold, system, find_task(task).boundaries(gold, None), size=200)
    losing = Losing(2)
    again = run_files(score, gold, system, find_task(task).boundaries(gold, None), executor=losing, size=200)
    assert losing.lost == 2
    assert {name: one.figures for name, one in again.results.items()} == {
        name: one.figures for name, one in whole.results.items()
    }


def test_a_worker_ends_when_its_parent_is_gone(tmp_path):
    import subprocess
    import sys

    script = tmp_path / "parent.py"
    script.write_text(
        "import os, time\n"
        "from tallystick.run import Processes\n"
        "if __name__ == '__main__':\n"
        "    pool = Processes(1)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(3600)\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        with open(f"/proc/{worker}/stat") as stat:
            if stat.read().split()[2] == "Z":
                return
        time.sleep(0.1)
    pytest.fail("the worker is still there")


@pytest.mark.parametrize("kind", [Processes, ThreadPoolExecutor])
def test_an_executor_that_was_shut_down_is_said(kind):
    pool = kind(1)
    pool.shutdown()
    with pytest.raises(TallystickError, match="the executor takes no work"):
        ts.evaluate("f1(match(exact))", [["a"]], [["a"]], executor=pool)

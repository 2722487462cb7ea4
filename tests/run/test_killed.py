"""Runs that are killed: the main process with its state, and workers of a Dask cluster."""

import json
import os
import pickle
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from calling import call, score

import tallystick as ts
from benchmarks.shards_data import make
from running import PATIENCE, TALLYSTICK

HERE = Path(__file__).parent


def script(name, *arguments):
    path = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, str(HERE / name), *map(str, arguments)],
        capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def figures(metrics):
    return {name: {key: value for key, value in found.items() if key != "signature"} for name, found in metrics.items()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this test forks")
def test_killed_twenty_times_at_random_moments_the_figures_are_the_same_and_nothing_is_done_twice(tmp_path):
    task, gold, system = make(tmp_path, "roles", 300)
    expected = score(task, gold, system)["metrics"]
    done = script("killing.py", tmp_path, 20)
    assert done["results"] == figures(expected)
    assert done["shards"] > 60
    # one shard is in flight at a time: a kill can cost that one, and no more
    assert done["shards"] <= done["begun"] <= done["shards"] + 20
    assert done["taken"] >= 20


def test_a_dask_worker_killed_in_the_middle_changes_nothing(tmp_path):
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    task, gold, system = make(tmp_path, "roles", 150)
    expected = score(task, gold, system)["metrics"]
    done = script("clustering.py", tmp_path)
    assert done["results"] == figures(expected)
    assert figures(done["command"]) == figures(expected)
    assert done["how"] == "in one order"
    assert done["shards"] > 30
    assert done["killed"][0] in done["workers"]
    assert done["here"] not in done["workers"]  # the workers have read the shards, not this process
    assert done["code"] == 0


def test_ctrl_c_leaves_one_line_no_workers_and_a_state_to_go_on_from(tmp_path):
    task, gold, system = make(tmp_path, "records", 3000)
    state = tmp_path / "state"
    command = [*TALLYSTICK, "score", task, gold, system, "--format", "json"]
    sharded = [*command, "--jobs", "2", "--shard", "2KB", "--state", str(state)]
    running = subprocess.Popen(
        sharded, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline, workers = time.monotonic() + PATIENCE, []
    while stored(state) < 3 and running.poll() is None and time.monotonic() < deadline:
        workers = children(running.pid) or workers
        time.sleep(0.02)
    workers = children(running.pid) or workers  # on a busy machine they may be through by now
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, said
    assert out == ""
    assert said.splitlines()[-1].startswith("Interrupted")
    assert "Traceback" not in said
    wait_until_gone(workers)
    assert workers
    assert not any(map(alive, workers))
    kept = stored(state)
    assert kept >= 3
    done = subprocess.run(sharded, capture_output=True, text=True, check=True)
    assert "shards were known" in done.stderr
    assert json.loads(done.stdout) == score(task, gold, system)


def test_killed_with_two_processes_what_was_stored_is_taken_and_no_worker_stays(tmp_path):
    task, gold, system = make(tmp_path, "records", 3000)
    state = tmp_path / "state"
    command = [*TALLYSTICK, "score", task, gold, system, "--format", "json"]
    sharded = [*command, "--jobs", "2", "--shard", "2KB", "--state", str(state)]
    r = random.Random(11)
    before = 0
    for _ in range(3):
        running = subprocess.Popen(sharded, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while stored(state) <= before and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(r.random() / 20)
        workers = children(running.pid)
        assert running.poll() is None, "it was through before it could be killed"
        running.kill()
        running.communicate()
        wait_until_gone(workers)
        assert workers
        assert not any(map(alive, workers))
        assert stored(state) > before
        before = stored(state)
    done = subprocess.run(sharded, capture_output=True, text=True, check=True)
    known, total = map(int, re.search(r"(\d+) of (\d+) shards were known", done.stderr).groups())
    assert known == before < total == stored(state)
    assert json.loads(done.stdout) == score(task, gold, system)


def test_a_command_whose_worker_is_killed_ends_with_the_same_figures(tmp_path):
    task, gold, system = make(tmp_path, "records", 6000)
    command = [*TALLYSTICK, "score", task, gold, system, "--format", "json", "--jobs", "2", "--shard", "30kB"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while len(workers := workers_of(running.pid)) < 2 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert running.poll() is None, "it was through before a worker could be killed"
    os.kill(workers[0], signal.SIGKILL)
    out, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, said
    assert json.loads(out) == score(task, gold, system)


def workers_of(pid):
    """The worker processes among the children; where they are spawned, another one keeps account of what they share."""
    return [one for one in children(pid) if b"resource_tracker" not in Path(f"/proc/{one}/cmdline").read_bytes()]


def wait_until_gone(workers):
    deadline = time.monotonic() + PATIENCE
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)


def stored(state):
    try:
        base = sqlite3.connect(f"file:{state}/shards.sqlite?mode=ro", uri=True, timeout=PATIENCE)
    except sqlite3.OperationalError:
        return 0
    try:
        return base.execute("SELECT count(*) FROM shards").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        base.close()


def children(pid):
    """The processes that any thread of a process has started."""
    return [int(one) for thread in Path(f"/proc/{pid}/task").glob("*/children") for one in thread.read_text().split()]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


# The state


def test_a_finished_run_is_known_and_a_changed_file_or_option_is_noticed(tmp_path):
    task, gold, system = make(tmp_path, "relations", 40)
    arguments = [gold, system, "--state", tmp_path / "state", "--shard", "1KB", "--format", "json"]
    first = call("score", task, *arguments)
    again = call("score", task, *arguments)
    assert again.stdout == first.stdout
    assert "shards were known" in again.stderr
    assert "shards were known" not in first.stderr

    lines = Path(system).read_text().splitlines(keepends=True)
    last = max(k for k, line in enumerate(lines) if json.loads(line)["relations"])
    lines[last] = json.dumps({**json.loads(lines[last]), "relations": []}) + "\n"
    Path(system).write_text("".join(lines))
    changed = call("score", task, *arguments)
    assert f"{system} has changed since" in changed.stderr
    assert json.loads(changed.stdout) == score(task, gold, system)
    assert json.loads(changed.stdout)["metrics"] != json.loads(first.stdout)["metrics"]

    other = call("score", task, *arguments, "--symmetric", "spouse")
    assert "under another metric, other options or another version; everything is computed again" in other.stderr
    assert json.loads(other.stdout) == score(task, gold, system, "--symmetric", "spouse")


def test_the_contents_of_files_that_options_name_are_part_of_the_key(tmp_path):
    task, gold, system = make(tmp_path, "records", 30)
    choices = tmp_path / "choices.yaml"
    arguments = [gold, system, "--choices", choices, "--state", tmp_path / "state", "--shard", "1KB"]
    for words in ("total: {number: {absolute: 0.5}}", "total: {number: {absolute: 0.1}}"):
        choices.write_text(words + "\n")
        done = call("score", task, *arguments, "--format", "json")
        assert json.loads(done.stdout) == score(task, gold, system, "--choices", choices)
        assert ("computed again" in done.stderr) == ("0.1" in words)


def test_a_state_that_is_none_is_an_error(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "shards.sqlite").write_text("this is no database, and long enough to be seen as none" * 20)
    done = call("score", task, gold, system, "--state", tmp_path / "state", code=2)
    assert "cannot hold the state of a run" in done.output


def test_a_state_that_fails_on_the_way_is_an_error_of_ours(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    (tmp_path / "state").mkdir()
    with closing(sqlite3.connect(tmp_path / "state" / "shards.sqlite")) as other, other:
        other.execute("CREATE TABLE shards (something TEXT)")
    done = call("score", task, gold, system, "--state", tmp_path / "state", code=2)
    assert "cannot hold the state of a run (no such column" in done.output
    assert "expected a folder" in call("score", task, gold, system, "--state", gold, code=2).output
    assert "--state: found an empty text" in call("score", task, gold, system, "--state", "", code=2).output


def test_a_metric_longer_than_the_name_of_a_file_can_be(tmp_path):
    examples = Path(ts.__file__).parent / "examples"
    files = [examples / f"invoices.{side}.jsonl" for side in ("gold", "system")]
    arguments = ["records", *files, "--type", f"{examples / 'invoices.py'}:Invoice", "--state", tmp_path / "state"]
    assert call("score", *arguments).stdout == call("score", *arguments).stdout


@pytest.mark.parametrize("how", ["metric", "choices", "type"])
def test_a_function_of_the_user_s_that_changes_is_noticed(tmp_path, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    task, gold, system = make(tmp_path, "records", 30)
    name = f"own_{how}"
    arguments = {
        "metric": ["--metric", f"f1(each(total=function({name}:near)))"],
        "choices": ["--choices", "choices.yaml"],
        "type": ["--type", f"{name}:Total"],
    }[how]
    Path("choices.yaml").write_text(f'total: {{function: "{name}:near"}}\n')
    found = []
    for share in (1.0, 0.25):  # of another length: Python knows a changed module by the second and the size
        Path(f"{name}.py").write_text(
            "import dataclasses, typing, tallystick as ts\n"
            f"def near(a, b): return {share} * (a == b)\n"
            "@dataclasses.dataclass\nclass Total:\n    total: typing.Annotated[float | None, ts.function(near)]\n"
        )
        allowed = [] if how == "type" else ["--allow-code"]
        command = ["score", task, gold, system, *arguments, *allowed, "--format", "json"]
        done, plain = (call(*command, *more) for more in (["--state", "state", "--shard", "1KB"], []))
        assert "shards were known" not in done.stderr
        assert done.stdout == plain.stdout
        found.append(done.stdout)
    assert found[0] != found[1]


def through(module, name, *arguments):
    """A pickle that calls something by the name of a module, as pickle's own opcodes can."""
    words = b"".join(b"\x8c" + bytes([len(one)]) + one.encode() for one in (module, name))
    texts = b"".join(b"\x8c" + bytes([len(one)]) + one.encode() for one in arguments)
    return b"\x80\x04" + words + b"\x93" + b"(" + texts + b"tR."


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("tallystick.judging.llm", "asyncio.events.subprocess.Popen"),
        ("tallystick.run.state", "io.FileIO"),
        ("tallystick.run.state", "Path"),
        ("tallystick.run.state", "State"),
    ],
)
def test_a_state_runs_nothing(tmp_path, module, name):
    from tallystick.run.state import _unpack

    with pytest.raises(pickle.UnpicklingError, match="is no plain data"):
        _unpack(through(module, name, str(tmp_path / "made")))
    assert not list(tmp_path.iterdir())


def test_the_pickle_of_this_test_would_run(tmp_path):
    assert pickle.loads(through("os.path", "join", "a", "b")) == os.path.join("a", "b")

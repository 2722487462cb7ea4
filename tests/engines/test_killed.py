"""Runs that are killed: the main process with its state, and workers of a Dask cluster."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from calling import call, score
from made import make

HERE = Path(__file__).parent


def script(name, *arguments):
    path = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, str(HERE / name), *map(str, arguments)],
        capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": path},
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
    assert "under another metric, other options or another version; everything is computed anew" in other.stderr
    assert json.loads(other.stdout) == score(task, gold, system, "--symmetric", "spouse")


def test_the_contents_of_files_that_options_name_are_part_of_the_key(tmp_path):
    task, gold, system = make(tmp_path, "records", 30)
    choices = tmp_path / "choices.yaml"
    arguments = [gold, system, "--choices", choices, "--state", tmp_path / "state", "--shard", "1KB"]
    for words in ("total: {number: {absolute: 0.5}}", "total: {number: {absolute: 0.1}}"):
        choices.write_text(words + "\n")
        done = call("score", task, *arguments, "--format", "json")
        assert json.loads(done.stdout) == score(task, gold, system, "--choices", choices)
        assert ("computed anew" in done.stderr) == ("0.1" in words)


def test_a_state_that_is_none_is_an_error(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "shards.sqlite").write_text("this is no database, and long enough to be seen as none" * 20)
    done = call("score", task, gold, system, "--state", tmp_path / "state", code=2)
    assert "cannot hold the state of a run" in done.output


def test_a_state_runs_nothing(tmp_path):
    import pickle

    from tallystick.engines.state import _Unpickler

    class Bad:
        def __reduce__(self):
            return os.system, ("true",)

    import io

    with pytest.raises(pickle.UnpicklingError, match="is no data"):
        _Unpickler(io.BytesIO(pickle.dumps(Bad()))).load()

"""The command line under a rough hand: Ctrl-C, a reader that goes away, a full disk, a place that cannot be written."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from array import array
from importlib.resources import files

import pytest

from running import PATIENCE, TALLYSTICK, run
from tallystick.cli.main import unexpected

EXAMPLES = files("tallystick.examples")
GOLD, SYSTEM = str(EXAMPLES / "invoices.gold.jsonl"), str(EXAMPLES / "invoices.system.jsonl")
FULL = "/dev/full"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("command", [["score", "records", "-", GOLD], ["score", "coreference", "-", GOLD]])
def test_ctrl_c_is_one_line_and_130(command):
    waiting = subprocess.Popen(
        [*TALLYSTICK, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    waiting.stdin.write(b"{")
    waiting.stdin.flush()
    while array("i", fcntl.ioctl(waiting.stdin, termios.FIONREAD, bytes(4)))[0] and waiting.poll() is None:
        time.sleep(0.02)  # it has read what there is, and waits for more
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=PATIENCE)
    assert waiting.returncode == 130
    assert (out, err) == (b"", b"Interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_ctrl_c_at_any_moment_leaves_no_traceback_and_no_half_of_a_report(tmp_path):
    report = tmp_path / "report.html"
    command = [*TALLYSTICK, "score", "records", GOLD, SYSTEM, "--report", str(report)]
    began = time.monotonic()
    subprocess.run(command, capture_output=True, check=True)
    whole, length = time.monotonic() - began, report.stat().st_size
    for share in (0.3, 0.5, 0.7, 0.85, 0.95):
        report.unlink(missing_ok=True)
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(whole * share)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=PATIENCE)
        # Python itself starts without us for its first moments; from then on it is our line, or the command was through.
        assert running.returncode in (0, 130, -signal.SIGINT) or b"site" in err
        if running.returncode == 130:
            assert b"Traceback" not in err
        assert list(tmp_path.iterdir()) in ([], [report])
        assert not report.exists() or report.stat().st_size > length * 0.9


def test_ctrl_c_while_a_class_is_being_made_is_no_internal_error():
    class Interrupting:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, RuntimeError)) as raised:
        type("Made", (), {"one": Interrupting()})
    if not isinstance(raised.value, KeyboardInterrupt):
        assert unexpected(raised.value) == ("Interrupted", 130)


@pytest.mark.parametrize("format_", ["json", "tsv", "table", "markdown"])
def test_a_reader_that_goes_away_is_no_error_to_talk_about(format_, tmp_path):
    documents = tmp_path / "many.jsonl"
    documents.write_text("".join(f'{{"id": {k}, "a": {k % 7}}}\n' for k in range(5000)))
    command = [*TALLYSTICK, "score", "records", str(documents), str(documents), "--by", "document", "--format", format_]
    written = [tmp_path / "tallies.csv", tmp_path / "report.html"]
    command += ["--tallies", str(written[0]), "--report", str(written[1])]
    # Without a buffer Python does not look whether all was written (CPython's `-u`), so it would not notice.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered) as running:
        running.stdout.readline()
        running.stdout.close()
        err = running.stderr.read().decode()
        code = running.wait(timeout=PATIENCE)
    assert code == 141
    assert all(file.exists() for file in written)  # what was asked for beside the table is there nevertheless
    assert "Traceback" not in err
    assert "Exception" not in err
    assert "Error" not in err


@pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full here")
def test_a_full_disk_is_said():
    with open(FULL, "w") as full:
        done = subprocess.run(
            [*TALLYSTICK, "score", "records", GOLD, SYSTEM],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("option", ["--report", "--save-schema"])
def test_a_place_that_cannot_be_written(option, tmp_path):
    for place, reason in ((tmp_path / "none" / "x", "No such file or directory"), (tmp_path, "Is a directory")):
        done = run("score", "records", GOLD, SYSTEM, option, place, code=2)
        assert f"Error: {place}: cannot be written ({reason})" in done.stderr


def test_a_picture_that_cannot_be_written(tmp_path):
    done = run("check", "hierarchies.muc_p", "--samples", "1", "--picture", tmp_path / "none" / "x.html", code=2)
    assert "cannot be written (No such file or directory)" in done.stderr


@pytest.mark.parametrize("task", ["coreference", "spans", "amr", "records", "relations", "hierarchies", "dependencies"])
def test_standard_input_is_one_file_at_most(task):
    done = run("score", task, "-", "-", stdin="", code=2)
    assert "only one file can be standard input (-)" in done.stderr


def test_standard_input_is_one_system_at_most():
    done = run("compare", "records", GOLD, "a=-", "b=-", stdin="", code=2)
    assert "only one file can be standard input (-)" in done.stderr


def test_a_name_that_cannot_be_printed(tmp_path):
    done = subprocess.run(
        [*TALLYSTICK, "score", "records", b"\xff.jsonl", GOLD], capture_output=True, cwd=tmp_path, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert b"no such file" in done.stderr
    assert b"Traceback" not in done.stderr


def test_memory_that_is_not_there_is_said(monkeypatch):
    from tallystick.cli.main import unexpected

    message, code = unexpected(MemoryError("Unable to allocate 74.5 GiB"))
    assert (code, message.partition(" (")[0]) == (2, "Error: there is not enough memory for this")
    message, code = unexpected(KeyError("x"))
    assert code == 70
    assert "please report it" in message

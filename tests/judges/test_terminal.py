"""Judging in the terminal, one key for each answer."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest
from sample import QUESTIONS

from tallystick.judges import Question, Store
from tallystick.judges.terminal import printable


@pytest.fixture
def path(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions(QUESTIONS)
    return tmp_path / "j.sqlite"


def sit(path, keys, name="anna"):
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", "judge", "terminal", path, "--annotator", name],
        input=keys, capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    return done.stdout, done.stderr


def labels(path, name="anna"):
    with Store(path) as store:
        found = store.labels(name)
        return [found.get(key, "") for key in store.queue()]


def test_keys_back_skip_quit_and_resume(path):
    shown, said = sit(path, "173\n2\ns\n173\nq")  # the Enter after s saves nothing: question 1 is open
    assert labels(path)[:5] == ["Correct", "Incorrect", "", "Correct", ""]
    assert "3 answered now, 3 of 12 in all" in said
    assert "Still open: question 1." in shown
    assert "the boat[candidate]" in shown
    shown, said = sit(path, "bb175\nq")  # goes on at the third; back to the first, which is answered again
    assert "3 of 12 · 3 judged · anna" in shown
    assert labels(path)[:3] == ["Partial", "Incorrect", ""]


def test_a_remark_and_the_end(path):
    shown, _ = sit(path, "rnot sure\n2\n" + "2\n" * 11)
    assert "remark: not sure" not in shown.split("2 of 12")[1]
    assert labels(path) == ["Incorrect"] * 12
    with Store(path) as store:
        assert store.verdict(QUESTIONS[0], "anna").explanation == "not sure"
    shown, said = sit(path, "2\n")
    assert "0 answered now, 12 of 12 in all" in said


def test_kappa_is_said_at_the_end(path):
    sit(path, "173\n2\nq")
    _, said = sit(path, "173\n173\nq", "ben")
    assert "kappa with anna is 0.00 over 2 questions" in said


def test_in_a_real_terminal(path):
    """A pseudo-terminal: keys without Enter, drawn anew each time, arrow back, Ctrl-C leaves everything written."""
    terminal, inside = pty.openpty()
    take = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
    )
    arguments = ["tallystick", "judge", "terminal", str(path), "--annotator", "anna"]
    process = subprocess.Popen(
        [sys.executable, "-c", take, sys.executable, "-m", *arguments], stdin=inside, stdout=inside, stderr=inside,
        start_new_session=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "50"},
    )  # fmt: skip
    os.close(inside)
    seen, place = b"", 0

    def until(text):
        """Read on until the text comes, after what came before."""
        nonlocal seen, place
        deadline = time.monotonic() + 60
        while text not in seen[place:]:
            assert time.monotonic() < deadline, seen[place:]
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 65536)
        place = seen.index(text, place) + len(text)

    until(b"1 of 12")
    until(b"q quit")
    for key, shown in (("1", "Conveys at least"), ("7", "● Yes, The ferry"), ("3", "● Conveys"), ("\r", "2 of 12")):
        os.write(terminal, key.encode())
        until(shown.encode())
    os.write(terminal, b"2")
    until("● No".encode())
    os.write(terminal, b"\x1b[D")
    until(b"1 of 12")
    os.write(terminal, b"\x03")
    until(b"1 of 12 in all")
    assert process.wait(timeout=60) == 0
    os.close(terminal)
    assert labels(path)[:2] == ["Correct", ""]


def test_a_document_cannot_steer_the_terminal(tmp_path):
    assert printable("a\x1b[2Jb\u202e\nc") == "a�[2Jb�\nc"
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions([Question("\x1b]0;title\x07", ("b",), "x \x1b[2J [bold]y[/bold]", role="\x1b[31m")])
    shown, _ = sit(tmp_path / "j.sqlite", "q")
    assert "\x1b" not in shown
    assert "[bold]y[/bold]" in shown


def test_an_empty_store_is_said(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add_judge("anna")
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", "judge", "terminal", tmp_path / "j.sqlite", "--annotator", "a"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "there are no questions in it yet; `tallystick judge export` puts them there" in done.stderr

"""Judging in the terminal, one key for each answer."""

import io
import os
import pty
import select
import subprocess
import sys
import time

import pytest
from rich.console import Console
from sample import QUESTIONS

from running import PATIENCE, run
from tallystick.judging import Question, Store
from tallystick.judging.desk import Desk, passage_of, question_texts
from tallystick.judging.terminal import judge_in_terminal, passage_in, printable


@pytest.fixture
def path(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions(QUESTIONS)
    return tmp_path / "j.sqlite"


def sit(path, keys, name="anna"):
    done = run("judge", "terminal", path, "--annotator", name, stdin=keys)
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
    shown, said = sit(path, "bb15\nq")  # goes on at the third; back to the first, which is answered again
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


class Terminal:
    """A Python program in a pseudo-terminal."""

    def __init__(self, arguments):
        self.end, inside = pty.openpty()
        take = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", take, sys.executable, *arguments], stdin=inside, stdout=inside, stderr=inside,
            start_new_session=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "50"},
        )  # fmt: skip
        os.close(inside)
        self.seen, self.place = b"", 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # where a test failed, it still runs
        self.process.wait()
        os.close(self.end)

    def until(self, text):
        """Read on until the text comes, after what came before."""
        text, deadline = text.encode(), time.monotonic() + PATIENCE
        while text not in self.seen[self.place :]:
            assert time.monotonic() < deadline, self.seen[self.place :]
            if select.select([self.end], [], [], 0.2)[0]:
                self.seen += os.read(self.end, 65536)
        self.place = self.seen.index(text, self.place) + len(text)

    def type(self, *pairs):
        for keys, shown in pairs:
            os.write(self.end, keys.encode())
            self.until(shown)

    def leave(self):
        assert self.process.wait(timeout=PATIENCE) == 0
        assert b"Traceback" not in self.seen


def judging(path):
    return ["-m", "tallystick", "judge", "terminal", str(path), "--annotator", "anna"]


def test_in_a_real_terminal(path):
    """A pseudo-terminal: keys without Enter, drawn anew each time, arrow back, Ctrl-C leaves everything written."""
    with Terminal(judging(path)) as terminal:
        terminal.until("1 of 12")
        terminal.until("q quit")
        terminal.type(("1", "Conveys at least"), ("7", "● Yes, The ferry"), ("3", "● Conveys"), ("\r", "2 of 12"))
        terminal.type(("2", "● No"), ("\x1b[D", "1 of 12"), ("\x03", "1 of 12 in all"))
        terminal.leave()
    assert labels(path)[:2] == ["Correct", ""]


def test_odd_keys_in_a_real_terminal(path):
    """F5 and Ctrl-arrows are no answers, though there is a 5 in them; Ctrl-C in a remark leaves the remark, and not the program."""
    with Terminal(judging(path)) as terminal:
        terminal.until("q quit")
        terminal.type(("x", "'x' does nothing here"), ("x", "'x' does nothing here"), ("5", "Question 1 comes first"))
        terminal.type(
            ("\r", "Still open: question 1."), ("\r", "Still open: question 1."), ("1", "● Yes"), ("7", "● Yes, The")
        )
        terminal.type(
            ("3", "● Conveys"), ("\x1b[15~", "That key does nothing here"), ("\x1b[1;5D", "That key does nothing")
        )
        terminal.type(("r", "Remark, then Enter"), ("first\r", "remark: first"), ("r", "Remark, then Enter"))
        terminal.type(("\x03", "The remark was not changed."), ("\r", "2 of 12"), ("\x04", "1 of 12 in all"))
        terminal.leave()
    assert labels(path)[:2] == ["Correct", ""]
    with Store(path) as store:
        assert store.verdict(QUESTIONS[0], "anna").explanation == "first"


LINES = """
import signal
from tallystick.judging.terminal import Keys

signal.signal(signal.SIGALRM, signal.default_int_handler)
with Keys() as keys:
    for read in (lambda: keys.line(lambda: None), keys.key):
        for step in range(1000):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-6 * (step + 1))
                read()
            except KeyboardInterrupt:
                pass
            print(".", end="", flush=True)
print("\\nall seen")
"""


def test_an_interruption_at_any_moment_ends_the_waiting(tmp_path):
    """An alarm in place of Ctrl-C, every 2 µs of the first 2 ms: some fall between Python's last look and a read that blocks."""
    (tmp_path / "lines.py").write_text(LINES)
    with Terminal([str(tmp_path / "lines.py")]) as terminal:
        terminal.until("all seen")
        terminal.leave()


@pytest.mark.parametrize("keys", ["", "\n\n\n", "xx", "1", "173", "r", "rhalf a remark", "\0\x1b", "1773\n", "é日"])
def test_an_input_that_ends_early_writes_nothing_and_is_no_error(path, keys):
    _, said = sit(path, keys)
    assert "0 answered now, 0 of 12 in all" in said
    assert labels(path) == [""] * 12


def test_no_input_at_all(path):
    command = [sys.executable, "-m", "tallystick", "judge", "terminal", str(path), "--annotator", "anna"]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "0 answered now" in done.stderr


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
    done = run("judge", "terminal", tmp_path / "j.sqlite", "--annotator", "a", code=2)
    assert "there are no questions in it yet; `tallystick judge export` puts them there" in done.stderr


LONG = (
    "far before . " * 200
    + "the boat sank near a rock . "
    + "between . " * 200
    + "The ferry was old . "
    + "after . " * 200
)


def long_question():
    spans = {text: (LONG.index(text), LONG.index(text) + len(text)) for text in ("the boat", "sank", "The ferry")}
    return Question(
        "the boat",
        ("The ferry",),
        LONG,
        "e",
        "sank",
        "vehicle",
        spans["the boat"],
        (spans["The ferry"],),
        spans["sank"],
    )


@pytest.mark.parametrize("lines", [4, 8, 40, 10_000])
def test_a_long_text_is_cut_around_its_marks(lines):
    question = long_question()
    passage = passage_in(question, lines, 90)
    text = "".join(piece.text for piece in passage.pieces)
    assert [piece.marks for piece in passage.pieces if piece.marks] == [("candidate",), ("trigger",), ("reference",)]
    assert {"the boat", "sank", "The ferry"} <= {piece.text for piece in passage.pieces}
    assert len(text) / 90 <= lines + 3
    assert (text == LONG) is (lines == 10_000)
    if lines < 10_000:
        assert text.count("…") == 3
        assert all(word in LONG for word in text.replace("…", " ").split())


def test_a_text_without_marks_is_cut_at_its_end():
    assert passage_of(Question("x", document="word " * 50)).window(12).pieces[0].text == "word word …"


def test_a_terminal_shows_the_marks_and_the_questions_on_one_screen(tmp_path, monkeypatch):
    console = Console(force_terminal=True, width=100, height=30, file=io.StringIO(), color_system=None)
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions([long_question()])
        keys = iter(["1", "+", "q"])
        drawn = []

        def key():
            drawn.append(console.file.getvalue().split("1 of 1")[-1])
            return next(keys)

        judge_in_terminal(Desk(store, "anna"), console, key, lambda ask: None)
    assert all(len(one.splitlines()) < 30 for one in drawn[:2])
    assert all(
        word in drawn[1]
        for word in ("the boat[candidate]", "sank[trigger]", "The ferry[reference]", "+ the whole text")
    )
    assert LONG.split("The ferry")[0][-50:] in " ".join(drawn[2].split())
    assert "the whole text" not in drawn[2]


def test_references_beyond_the_keys_are_chosen_by_number(tmp_path):
    many = Question("x", tuple(f"r{k}" for k in range(30)), role="role")
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions([many])
    shown, _ = sit(tmp_path / "j.sqlite", "1#31\n#30, 1\n3\nq")
    assert "There are references 1 to 30." in shown
    with Store(tmp_path / "j.sqlite") as store:
        assert store.verdict(many, "anna").references == (0, 29)


def test_without_references_nothing_is_asked_about_them():
    assert question_texts(Question("x", role="r"))[2] == "How does the candidate relate to what is asked for?"
    assert question_texts(Question("x", ("y",), role="r"))[2] == "How does the candidate relate to the reference?"

"""A person judges in the terminal, as in MUC-4's interactive scoring: the passage, the three questions, one key each.

The keys are those of the page. Of a long text, the screen shows as much around the marks as leaves room for the questions. Each answer is
saved before the next question appears, so quitting, or closing the terminal, loses nothing; the next session resumes at the first open
question.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tallystick.judging.desk import (
    MARKS,
    NO,
    NONE,
    RELATION_KEYS,
    YES,
    Desk,
    Passage,
    Sheet,
    passage_of,
    question_texts,
    reference_keys,
    summary,
)
from tallystick.judging.questions import RELATIONS, Question

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class Keys:
    """Single keys, without Enter and without loss: `with Keys() as keys: keys.key(); keys.line(ask)`.

    The terminal stays in one mode from question to question: switching the mode for every key would drop what is typed in between.
    In a pipe each character is a key.
    """

    def __init__(self) -> None:
        self._file = -1
        self._usual: Any = None  # the terminal's settings as they were; None where there are none to change
        self._by_key = False

    def __enter__(self) -> Keys:
        if sys.stdin is not None and sys.stdin.isatty():
            self._file = sys.stdin.fileno()
            with suppress(ImportError):  # Windows: click reads its console
                import termios

                self._usual = termios.tcgetattr(self._file)
            self._switch(by_key=True)
        return self

    def _switch(self, by_key: bool) -> None:
        """Single keys, or whole lines; where a Ctrl-C comes in between, the next read switches again."""
        if self._usual is not None and by_key != self._by_key:
            import termios
            import tty

            if by_key:
                tty.setcbreak(self._file, termios.TCSADRAIN)
            else:
                termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)
            self._by_key = by_key

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._by_key = True  # whatever was interrupted
        self._switch(by_key=False)

    def key(self) -> str:
        """The next key: a character, `\\n` for Enter, an escape sequence for an arrow; empty at the end of the input or after Ctrl-C."""
        try:
            if self._file < 0:
                return "" if sys.stdin is None else sys.stdin.read(1)
            if self._usual is None:
                import click

                return click.getchar()
            return self._read()
        except (EOFError, KeyboardInterrupt, OSError):  # OSError: the terminal is gone
            return ""

    def _read(self) -> str:
        self._switch(by_key=True)
        self._wait()
        found = os.read(self._file, 1)
        if found[:1] == b"\x1b":  # read all of it: the 5 of `ESC [ 1 5 ~` (F5) is not an answer
            while not _is_complete(found) and self._is_ready(0.05):
                found += os.read(self._file, 1)
        elif found and found[0] >= 0xC0:
            found += os.read(self._file, 1 + (found[0] >= 0xE0) + (found[0] >= 0xF0))
        return found.decode("utf-8", "replace")

    def _is_ready(self, seconds: float) -> bool:
        import select

        return bool(select.select([self._file], [], [], seconds)[0])

    def _wait(self) -> None:
        """Until there is something to read. A Ctrl-C just before a read that blocks would be seen only when that read ends."""
        while not self._is_ready(0.2):
            pass

    def line(self, ask: Callable[[], None]) -> str | None:
        """A whole line, typed as usual, once it was asked for; None at the end of the input, or after Ctrl-C."""
        if self._file < 0:
            ask()
            return None if sys.stdin is None else sys.stdin.readline() or None
        try:
            self._switch(by_key=False)  # first: what is typed as soon as it is asked for belongs to the line
            ask()
            if self._usual is not None:
                self._wait()
            return input()
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            self._switch(by_key=True)


def _is_complete(sequence: bytes) -> bool:
    """Whether an escape sequence is complete, or longer than any."""
    if len(sequence) < 2 or sequence[1:2] not in b"[O":
        return len(sequence) >= 2
    return len(sequence) >= 16 or (len(sequence) > 2 and 0x40 <= sequence[-1] <= 0x7E)


# -- a session --------------------------------------------------------------------------------------------------------


STYLES = {"trigger": "bold magenta", "reference": "green underline", "candidate": "bold black on yellow"}
BACK, SKIP, REMARK, QUIT = "b", "s", "r", "q"
WHOLE, BY_NUMBER = "+", "#"
AROUND = (4000, 2000, 1000, 500, 300, 200, 120, 60)
"""Characters to each side of a mark: as many as leave room for the questions."""
OTHER_LINES = 22
"""Lines of the screen beside the passage and the references."""
ENTER = ("\r", "\n")
BACKWARD = ("b", "\x1b[D")
STOP = ("q", "\x03", "\x04")

ReadKey = Callable[[], str]
"""Waits for one key: a character, "\\n" for Enter, "" at the end of the input."""
ReadLine = Callable[[Callable[[], None]], str | None]
"""Asks for a line and waits for it; None at the end of the input, or after Ctrl-C."""


@dataclass
class Session:
    """How many questions were answered, and whether none is left."""

    answered: int = 0
    finished: bool = False


def judge_in_terminal(desk: Desk, console: Console, read_key: ReadKey, read_line: ReadLine) -> Session:
    """Ask until everything is judged or the person quits."""
    sitting = _Sitting(desk, console, read_key, read_line)
    with suppress(KeyboardInterrupt):  # while something was drawn: the same as q
        sitting.run()
    return sitting.session


class _Sitting:
    """A person at the terminal: the question on the screen, the sheet so far, and what each key does."""

    place: int
    question: Question
    sheet: Sheet
    remark: str
    whole: bool

    def __init__(self, desk: Desk, console: Console, read_key: ReadKey, read_line: ReadLine) -> None:
        self.desk, self.console, self.read_key, self.read_line = desk, console, read_key, read_line
        self.session = Session()
        self.message = ""

    def run(self) -> None:
        """Go from question to question."""
        place = self.desk.next_open(0)
        while place is not None:
            step = self._ask(place)
            if step == QUIT:
                return
            here, place = place, place - 1 if step == BACK else self.desk.next_open(place + 1)
            if place == here:
                self.message = "There is no other open question."
        self.session.finished = True

    def _ask(self, place: int) -> str:
        """Ask one question until a key leads away from it: BACK, QUIT, or SKIP for the next one."""
        self.place, self.question = place, self.desk.question(place)
        own = self.desk.own(self.question.key)
        self.sheet = Sheet.of(self.question, own.answers if own else None)
        self.remark = own.verdict.explanation if own else ""
        self.whole, fresh, step = False, True, ""
        while not step:
            self._draw(fresh)
            fresh, self.message, key = False, "", self.read_key()
            step = QUIT if key == "" or key in STOP else self._press(key)
        return step

    def _press(self, key: str) -> str:
        """Do what a key says; the step that leads away from the question, or an empty string."""
        if key in ENTER or key == "n":
            return self._save()
        if key == SKIP:
            return SKIP
        if key in BACKWARD:
            if self.place:
                return BACK
            self.message = "This is the first question."
        elif key == WHOLE:
            self.whole = not self.whole
        elif key == BY_NUMBER and self.sheet.valid and self.question.references:
            changed = self.sheet.turn(self._line("Numbers of references, then Enter: ") or "")
            self._change(changed, f"There are references 1 to {self.sheet.references}.")
        elif key == REMARK:
            self._read_remark()
        else:
            self._change(self.sheet.press(key), self.sheet.refusal(key))
        return ""

    def _save(self) -> str:
        if self.sheet.missing:
            self.message = f"Still open: {self.sheet.missing}."
            return ""
        verdict = self.desk.answer(self.question, self.sheet.answers(), self.remark)
        self.session.answered += 1
        self.message = f"Saved: {verdict.label}."
        return SKIP

    def _change(self, changed: Sheet | None, refusal: str) -> None:
        self.message = refusal if changed is None else ""
        self.sheet = changed or self.sheet

    def _line(self, asked: str) -> str | None:
        return self.read_line(lambda: self.console.print(asked, end=""))

    def _read_remark(self) -> None:
        try:
            written = self._line("Remark, then Enter: ")
        except KeyboardInterrupt:  # before the line was waited for
            written = None
        if written is None:
            self.message = "The remark was not changed."
        else:
            self.remark = written.strip()
            self.message = "" if self.remark else "No remark."

    def _draw(self, fresh: bool) -> None:
        """Redraw a terminal after each key; in a pipe, print only what is new."""
        from rich.text import Text

        console = self.console
        if console.is_terminal:
            console.clear()
        if console.is_terminal or fresh:
            show_question(self.desk, self.place, self.question, console, whole=self.whole or not console.is_terminal)
            show_sheet(self.question, self.sheet, self.remark, console)
        if self.message:
            console.print(Text(printable(self.message), style="yellow"))


def passage_in(question: Question, lines: int, width: int) -> Passage:
    """As much of the passage as fits into so many lines; at least a little around each mark."""
    passage = passage_of(question)
    shown = (passage, *(passage.window(around) for around in AROUND))
    return next((one for one in shown if _height(one, width) <= lines), shown[-1])


def _height(passage: Passage, width: int) -> int:
    text = "".join(piece.text + "".join(f"[{mark}]" for mark in piece.marks) for piece in passage.pieces)
    return sum(-(-max(1, len(line)) // width) for line in text.split("\n"))


def passage_text(passage: Passage) -> Text:
    """The document with its marks, each named where it ends."""
    from rich.text import Text

    out = Text()
    pieces = passage.pieces
    for k, piece in enumerate(pieces):
        out.append(printable(piece.text), style=" ".join(STYLES[mark] for mark in piece.marks))
        after = pieces[k + 1].marks if k + 1 < len(pieces) else ()
        for mark in piece.marks:
            if mark not in after:
                out.append(f"[{mark}]", style="dim")
    return out


def printable(text: str) -> str:
    """Text without control characters, which would steer a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "�" for c in text)


def show_question(desk: Desk, place: int, question: Question, console: Console, *, whole: bool = True) -> None:
    """The passage and what it is about."""
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    total, done = len(desk.queue()), len(desk.labels())
    console.print()
    console.print(Rule(f"{place + 1} of {total} · {done} judged · {printable(desk.name)}", align="left"))
    about = Text()
    for name, value in (
        ("about", question.source),
        ("event", question.event_type),
        ("trigger", question.trigger),
        ("role", question.role),
    ):
        if value:
            about.append(f"{name} ", style="dim").append(f"{printable(value)}   ", style="bold")
    if about:
        console.print(about)
    if question.document:
        full = passage_of(question)
        room = max(4, console.height - OTHER_LINES - len(question.references))
        passage = full if whole else passage_in(question, room, console.width - 6)
        console.print(Padding(passage_text(passage), (1, 2)))
        legend = Text("  ")
        for mark in MARKS:
            legend.append(mark, style=STYLES[mark]).append("  ")
        if passage != full:
            legend.append(f"{WHOLE} the whole text", style="dim")
        console.print(legend)
    for note in passage_of(question).notes:
        console.print(Text(f"  {printable(note)}", style="dim"))
    for one in desk.others(question.key):
        line = f"  {one.judge} answered {one.verdict.label}: {summary(one.answers, question)} {one.verdict.explanation}"
        console.print(Text(printable(line.rstrip()), style="cyan"))


def show_sheet(question: Question, sheet: Sheet, remark: str, console: Console) -> None:
    """The three questions with what is chosen, and the keys."""
    from rich.text import Text

    first, second, third = question_texts(question)
    out = Text()

    def ask(text: str) -> None:
        out.append(f"\n{printable(text)}\n", style="bold")

    def offer(key: str, text: str, chosen: bool) -> None:
        out.append(f"  {key or ' '} ", style="cyan")
        out.append(("● " if chosen else "○ ") + printable(text) + "\n", style="bold" if chosen else "")

    ask(first)
    offer(YES, "Yes", sheet.valid is True)
    offer(NO, "No", sheet.valid is False)
    if sheet.valid:
        if question.references:
            ask(second)
            keys = reference_keys(sheet.references)
            for k, (text, key) in enumerate(zip(question.references, keys, strict=True)):
                offer(key or f"{BY_NUMBER}{k + 1}", f"Yes, {text}", k in (sheet.same_as or ()))
            offer(NONE, "No, none of them", sheet.same_as is not None and not sheet.same_as)
        ask(third)
        for key, name in RELATION_KEYS.items():
            offer(key, RELATIONS[name][0], sheet.relation == name)
    if remark:
        out.append(f"\nremark: {printable(remark)}\n", style="dim")
    out.append("\nEnter save, next   b back   s skip   r remark   q quit", style="dim")
    console.print(out)

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
    asked,
    passage_of,
    reference_keys,
    summary,
)
from tallystick.judging.questions import RELATIONS, Question

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

class Keys:
    """`with Keys() as keys: keys.key(); keys.line()`."""

    def __init__(self) -> None:
        self._saved: Any = None
        self._file = -1

    def __enter__(self) -> Keys:
        if sys.stdin is not None and sys.stdin.isatty():
            self._file = sys.stdin.fileno()
            self._by_key()
        return self

    def _by_key(self) -> None:
        try:
            import termios
            import tty
        except ImportError:  # Windows: click reads its console
            return
        self._saved = termios.tcgetattr(self._file)
        tty.setcbreak(self._file, termios.TCSADRAIN)

    def _by_line(self) -> None:
        if self._saved is not None:
            import termios

            termios.tcsetattr(self._file, termios.TCSADRAIN, self._saved)
            self._saved = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._by_line()

    def key(self) -> str:
        """The next key: a character, `\\n` for Enter, an escape sequence for an arrow; nothing at the end or after Ctrl-C."""
        try:
            if self._file < 0:
                return "" if sys.stdin is None else sys.stdin.read(1)
            if self._saved is None:
                import click

                return click.getchar()
            return self._read()
        except (EOFError, KeyboardInterrupt, OSError):  # OSError: the terminal is gone
            return ""

    def _read(self) -> str:
        import select

        found = os.read(self._file, 1)
        if found[:1] == b"\x1b":  # to its last byte: the 5 of `ESC [ 1 5 ~` (F5) is no answer
            while not _whole(found) and select.select([self._file], [], [], 0.05)[0]:
                found += os.read(self._file, 1)
        elif found and found[0] >= 0xC0:
            found += os.read(self._file, 1 + (found[0] >= 0xE0) + (found[0] >= 0xF0))
        return found.decode("utf-8", "replace")

    def line(self) -> str | None:
        """A whole line, typed as usual; None at the end of the input, or after Ctrl-C."""
        if self._file < 0:
            return None if sys.stdin is None else sys.stdin.readline() or None
        self._by_line()
        try:
            return input()
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            self._by_key()


def _whole(sequence: bytes) -> bool:
    """Whether an escape sequence has come to its end, or is longer than any."""
    if len(sequence) < 2 or sequence[1:2] not in b"[O":
        return len(sequence) >= 2
    return len(sequence) >= 16 or (len(sequence) > 2 and 0x40 <= sequence[-1] <= 0x7E)


# ====================


STYLES = {"trigger": "bold magenta", "reference": "green underline", "candidate": "bold black on yellow"}
BACK, SKIP, REMARK, QUIT = "b", "s", "r", "q"
WHOLE, BY_NUMBER = "+", "#"
AROUND = (4000, 2000, 1000, 500, 300, 200, 120, 60)
"""Characters to each side of a mark: as many as leave room for the questions."""
OTHER_LINES = 22
"""What stands on the screen beside the passage and the references."""
ENTER = ("\r", "\n")
BACKWARD = ("b", "\x1b[D")
STOP = ("q", "\x03", "\x04")

ReadKey = Callable[[], str]
"""Waits for one key: a character, "\\n" for Enter, "" at the end of the input."""
ReadLine = Callable[[], str | None]
"""Waits for a line; None at the end of the input, or after Ctrl-C."""


@dataclass
class Session:
    """What a sitting came to."""

    answered: int = 0
    finished: bool = False


def judge_in_terminal(desk: Desk, console: Console, read_key: ReadKey, read_line: ReadLine) -> Session:
    """Ask until everything is judged or the person quits."""
    session = Session()
    with suppress(KeyboardInterrupt):  # while something was drawn: the same as q
        _ask(session, desk, console, read_key, read_line)
    return session


def _ask(session: Session, desk: Desk, console: Console, read_key: ReadKey, read_line: ReadLine) -> None:
    message = ""
    place = desk.next_open(0)
    while place is not None:
        question = desk.question(place)
        own = desk.own(question.key)
        sheet = Sheet.of(question, own.answers if own else None)
        remark = own.verdict.explanation if own else ""
        fresh, step, whole = True, None, False
        while step is None:
            draw(desk, place, question, sheet, remark, message, console, fresh=fresh, whole=whole)
            fresh, message, key = False, "", read_key()
            if key == "" or key in STOP:
                return
            if key in ENTER or key == "n":
                if sheet.missing:
                    message = f"Still open: {sheet.missing}."
                else:
                    verdict = desk.answer(question, sheet.answers(), remark)
                    session.answered += 1
                    message, step = f"Saved: {verdict.label}.", "on"
            elif key in BACKWARD:
                message, step = ("This is the first question.", None) if place == 0 else ("", "back")
            elif key == SKIP:
                step = "on"
            elif key == WHOLE:
                whole = not whole
            elif key == BY_NUMBER and sheet.valid and question.references:
                console.print("Numbers of references, then Enter: ", end="")
                changed = sheet.turn(read_line() or "")
                message = f"There are references 1 to {sheet.references}." if changed is None else ""
                sheet = changed or sheet
            elif key == REMARK:
                try:
                    console.print("Remark, then Enter: ", end="")
                    written = read_line()
                except KeyboardInterrupt:  # before the line was waited for
                    written = None
                if written is None:
                    message = "The remark stays as it was."
                else:
                    remark, message = written.strip(), "" if written.strip() else "No remark."
            else:
                changed = sheet.press(key)
                message = sheet.refusal(key) if changed is None else ""
                sheet = changed or sheet
        here = place
        place = place - 1 if step == "back" else desk.next_open(place + 1)
        if place == here:
            message = "There is no other open question."
    session.finished = True


def draw(
    desk: Desk, place: int, question: Question, sheet: Sheet, remark: str, message: str, console: Console, *, fresh: bool, whole: bool
) -> None:  # fmt: skip
    """A terminal is drawn anew after each key; in a pipe only what is new is printed."""
    from rich.text import Text

    if console.is_terminal:
        console.clear()
    if console.is_terminal or fresh:
        show_question(desk, place, question, console, whole=whole or not console.is_terminal)
        show_sheet(question, sheet, remark, console)
    if message:
        console.print(Text(printable(message), style="yellow"))


def passage_in(question: Question, lines: int, width: int) -> Passage:
    """The passage, as much of it as stands in so many lines; at least a little around each mark."""
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
    """Text without what would steer a terminal."""
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

    first, second, third = asked(question)
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

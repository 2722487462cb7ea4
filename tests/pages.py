"""Pages that run as written. Every command and every Python example of a page prints what the page shows below it.

A page is read from top to bottom, in an empty folder:

- A block right below a line that ends in a file's name and a colon, "`gold.jsonl`:", is written to that file.
- In a block of the kind `console` the lines after `$ ` are commands (`tallystick`, `python FILE`, `cd`, `cat`); what follows is what a
  terminal shows on standard output, or on standard error if the command fails. A table is the format of a terminal.
- A block of the kind `stderr` holds lines that the command above wrote to standard error.
- A block of the kind `python` is a session of the prompt `>>>`, or a program; a block without a kind right below a program is what
  that prints. All of a page share their names.

`...` stands for anything, as in a doctest. `replay` returns the page with what really came out, so a page is right if it equals its own
replay. As a script, `python tests/pages.py docs/tutorial_ner.md` writes that back: read the difference before you keep it.
"""

from __future__ import annotations

import doctest
import importlib
import io
import os
import pkgutil
import re
import runpy
import shlex
import sys
import tempfile
import traceback
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from unittest import mock

import tallystick.cli
from running import Done, left_as_found, run

BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"`([\w./-]+)`:\s*$")
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", re.M)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def replay(text: str) -> str:
    """The page as it would be if every output were written anew, from the current folder on."""
    player, out, end = _Player(), [], 0
    with left_as_found(None):
        sys.path.insert(0, "")
        for block in BLOCK.finditer(text):
            before = text[end : block.start()]
            player.below = not before.strip()
            out += [
                before,
                text[block.start() : block.start(2)],
                player.play(block[1], block[2], NAMED.search(before)),
                "```",
            ]
            end = block.end()
    return "".join([*out, text[end:]])


class _Player:
    """Plays block after block, and remembers names of Python and the last command."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.stderr = ""
        self.printed: str | None = None
        self.below = False

    def play(self, kind: str, content: str, named: re.Match[str] | None) -> str:
        printed, self.printed = self.printed, None
        if kind == "" and self.below and printed is not None:
            return content if _like(content, printed) else printed
        if named:
            Path(named[1]).write_text(content, encoding="utf-8")
            return content
        if kind == "console":
            return COMMAND.sub(self._command, content)
        if kind == "stderr":
            return "".join(line for line in content.splitlines(True) if _in(line, self.stderr))
        if kind == "python":
            return self._session(content)
        return content

    def _command(self, found: re.Match[str]) -> str:
        line, shown = found[1], found[2]
        program, *arguments = shlex.split(line.replace("\\\n", " "))
        if program == "cd":
            os.chdir(arguments[0])
            return found[0]
        done = PROGRAMS[program](arguments)
        self.stderr = done.stderr
        output = "\n".join(
            row.rstrip() for row in (_failure(done.stderr) if done.returncode else done.stdout).splitlines()
        )
        output = re.sub(r"\n{3,}", "\n\n", output.strip("\n")) + "\n" if output.strip() else ""
        return f"$ {line}\n{shown if _like(shown, output) else output}"

    def _session(self, content: str) -> str:
        parts = doctest.DocTestParser().parse(content)
        if not any(isinstance(part, doctest.Example) for part in parts):
            return self._program(content)
        test = doctest.DocTest([p for p in parts if isinstance(p, doctest.Example)], self.names, "page", None, 0, None)
        runner = _Runner(optionflags=FLAGS)
        runner.run(test, out=lambda _: None, clear_globs=False)
        self.names = test.globs
        return "".join(part if isinstance(part, str) else _typed(part, runner.got) for part in parts)

    def _program(self, content: str) -> str:
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(content, "page", "exec", dont_inherit=True), self.names)
        self.printed = "\n".join(row.rstrip() for row in out.getvalue().strip("\n").splitlines()) + "\n"
        return content


class _Runner(doctest.DocTestRunner):
    """Remembers what came out where it was not what was expected."""

    def __init__(self, **how: int) -> None:
        super().__init__(**how)
        self.got: dict[int, str] = {}

    def report_failure(self, out, test, example, got):
        self.got[example.lineno] = got

    def report_unexpected_exception(self, out, test, example, exc_info):
        raised = "".join(traceback.format_exception_only(*exc_info[:2]))
        self.got[example.lineno] = f"Traceback (most recent call last):\n  ...\n{raised}"


def _typed(example: doctest.Example, got: dict[int, str]) -> str:
    first, *others = example.source.splitlines()
    lines = [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
    return "\n".join(lines) + "\n" + got.get(example.lineno, example.want)


def _like(shown: str, output: str) -> bool:
    """Equal but for empty lines, with ... for anything."""
    shown, output = ("".join(row for row in text.splitlines(True) if row.strip()) for text in (shown, output))
    return shown == output or ("..." in shown and doctest.OutputChecker().check_output(shown, output, FLAGS))


def _failure(stderr: str) -> str:
    """What a command that failed said last, after warnings and signatures."""
    return re.split(r"^(?=FAILED|Error|Usage)", stderr, maxsplit=1, flags=re.M)[-1]


def _in(line: str, text: str) -> bool:
    return any(_like(line, f"{one}\n") for one in text.splitlines())


def _tallystick(arguments: list[str]) -> Done:
    with ExitStack() as stack:
        for found in pkgutil.iter_modules(tallystick.cli.__path__, "tallystick.cli."):
            module = importlib.import_module(found.name)
            if hasattr(module, "chosen_format"):
                stack.enter_context(mock.patch.object(module, "chosen_format", lambda format_: format_ or "table"))
        return run(*arguments, code=None)


def _python(arguments: list[str]) -> Done:
    out = io.StringIO()
    with redirect_stdout(out):
        runpy.run_path(arguments[0], run_name="__main__")
    return Done(0, out.getvalue().encode(), b"", out.getvalue())


def _cat(arguments: list[str]) -> Done:
    text = "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    return Done(0, text.encode(), b"", text)


PROGRAMS = {"tallystick": _tallystick, "python": _python, "cat": _cat}


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(replay(page.read_text(encoding="utf-8")), encoding="utf-8")

"""The command line for the tests of every folder: in this process, or in one of its own where the process is the point."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

TALLYSTICK = [sys.executable, "-m", "tallystick"]
MIXED = "mix_stderr" not in inspect.signature(CliRunner).parameters
"""Whether click keeps the streams apart by itself, and both of them in the order of a terminal besides (8.2 and later)."""
PATIENCE = 600
"""Seconds after which a test gives up: only what hangs takes as long, however busy the machine is."""
PROGRAM = Path(__file__).parents[1] / "src"


@dataclass(frozen=True)
class Done:
    """What a command wrote, and the code that it ended with. `output` is both streams as a terminal shows them."""

    returncode: int
    stdout_bytes: bytes
    stderr_bytes: bytes
    output: str
    exception: BaseException | None = None

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8").replace("\r\n", "\n")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8").replace("\r\n", "\n")


def run(
    *arguments: object, code: int | None = 0, stdin: str | bytes | None = None, cwd: Path | None = None, **environment: str
) -> Done:  # fmt: skip
    """`tallystick ARGUMENTS` within this process. It must end with `code`, or with any if that is None."""
    from tallystick.cli.main import tallystick

    with left_as_found(cwd):
        found = invoke(
            tallystick, [_text(one) for one in arguments], input=stdin, env=environment, catch_exceptions=False,
            prog_name="tallystick",
        )  # fmt: skip
    return _checked(found, code)


def invoke(command: Any, arguments: Sequence[str], **how: Any) -> Done:
    """A click command within this process, its two streams kept apart."""
    found = CliRunner(**({} if MIXED else {"mix_stderr": False})).invoke(command, arguments, **how)
    output = found.output if MIXED else found.stdout + found.stderr
    return Done(found.exit_code, found.stdout_bytes, found.stderr_bytes or b"", output, found.exception)


def run_process(
    *arguments: object, code: int | None = 0, stdin: str | bytes | None = None, cwd: Path | None = None, **environment: str
) -> Done:  # fmt: skip
    """The same in a process of its own: for what is of the process (streams, encodings, signals, start-up)."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    found = subprocess.run(
        [*TALLYSTICK, *(one if isinstance(one, bytes) else str(one) for one in arguments)], capture_output=True,
        input=data, cwd=cwd, env={**os.environ, **environment}, timeout=PATIENCE, check=False,
    )  # fmt: skip
    output = (found.stdout + found.stderr).decode("utf-8", "backslashreplace")
    return _checked(Done(found.returncode, found.stdout, found.stderr, output), code)


def run_python(program: str, *arguments: object, cwd: Path | None = None, **environment: str) -> str:
    """What a Python program prints in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", cwd=cwd,
        env={**os.environ, **environment}, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


def write(name: str | Path, rows: list[Any]) -> None:
    """A file with one JSON value a line."""
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def _checked(done: Done, code: int | None) -> Done:
    error = done.stderr_bytes.decode("utf-8", "backslashreplace")
    assert code is None or done.returncode == code, error
    assert "Traceback" not in error
    assert "Internal error" not in error
    return done


def _text(argument: object) -> str:
    return os.fsdecode(argument) if isinstance(argument, str | bytes | os.PathLike) else str(argument)


@contextmanager
def left_as_found(cwd: Path | None) -> Iterator[None]:
    """Folder, environment, path and modules of the user's are afterwards as they were; a rewritten module is read anew."""
    folder, environment, path, loaded = Path.cwd(), dict(os.environ), list(sys.path), set(sys.modules)
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    os.chdir(cwd or folder)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        for name in set(sys.modules) - loaded:
            if _is_users(sys.modules[name], cwd or folder):
                del sys.modules[name]


def _is_users(module: Any, folder: Path) -> bool:
    """A module from the folder in which the command ran, neither of the program nor installed."""
    file = Path(getattr(module, "__file__", None) or os.devnull).absolute()
    return file.is_relative_to(folder) and not file.is_relative_to(PROGRAM) and "site-packages" not in file.parts


def sorts_structs() -> bool:
    """Whether pyarrow puts the keys of dictionaries in order when it makes structs of them (22 and earlier)."""
    import pyarrow as pa

    return [one.name for one in pa.array([{"b": 1, "a": 1}]).type] == ["a", "b"]

"""The commands. Every module of the library is imported where it is used, so that `--help` is quick."""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """The entry point of `tallystick`."""
    import os

    # Small problems gain nothing from BLAS threads, and starting them costs more than scoring.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _look_for_garbage_seldom()
    try:
        from tallystick.cli.main import tallystick

        tallystick(prog_name="tallystick")
    except KeyboardInterrupt:  # before or after a command
        os.write(2, b"Interrupted\n")
        os._exit(130)
    except SystemExit as end:
        _leave(end)
    raise AssertionError("a command ends by leaving")


def _look_for_garbage_seldom(objects: int = 500_000) -> None:
    """Look for garbage after so many new objects, and after eight times as many whenever hardly any was found.

    What is loaded stays, and so do most values; what goes is freed at once, unless it refers to itself. To look every 700 objects took a
    tenth of a small command; every 500,000 it took up to a fifth of a large one, because each object is looked at once, however many there are.
    """
    import gc
    from typing import Any

    def look_later(phase: str, found: dict[str, Any]) -> None:
        now = gc.get_threshold()[0]
        if phase == "stop" and found["collected"] < now / 100:
            gc.set_threshold(min(8 * now, 1 << 28), 20, 50)

    gc.set_threshold(objects, 20, 50)
    gc.callbacks.append(look_later)


def _leave(end: SystemExit) -> NoReturn:
    """End the process: to take the interpreter apart object by object would cost a small command 40 ms, a fifth of its time.

    Whatever wants to be asked at the end is asked; where something still runs, watches, or cannot be written, Python does it all.
    """
    import atexit
    import os
    import sys
    import threading

    code = 0 if end.code is None else end.code
    watched = sys.gettrace() or sys.getprofile() or sys.flags.inspect or "multiprocessing" in sys.modules
    if not isinstance(code, int) or watched or threading.active_count() > 1:
        raise end
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        raise end from None
    os._exit(code)

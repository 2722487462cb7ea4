"""How many modules of tallystick a call passes through: those whose functions run, not those that are imported.

    python -m benchmarks.walk

A newcomer who follows `tallystick score coreference KEY RESPONSE` or `ts.evaluate(ts.derive(T), ...)` with a debugger meets
these modules, in this order.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

KEY = "#begin document (a); part 000\na\t0\t0\tHe\t(0)\na\t0\t1\tsaw\t-\na\t0\t2\thim\t(1)\na\t0\t3\the\t(0)\n#end document\n"
RESPONSE = KEY.replace("him\t(1)", "him\t(0)")


@dataclass
class Line:
    sku: str
    quantity: int


@dataclass
class Invoice:
    vendor: str
    lines: list[Line]


def passed(call: Callable[[], Any]) -> list[str]:
    """The modules whose functions run during a call, in the order in which they are met."""
    met: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("tallystick") and not _is_definition(frame):
            met.setdefault(name)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(met)


def _is_definition(frame: FrameType | None) -> bool:
    """Whether a frame runs because a module is imported: its body, a class's, or what a body calls."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__", "").startswith("tallystick"):
            return True
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


def score_coreference(folder: Path) -> None:
    """`tallystick score coreference KEY RESPONSE`."""
    from tallystick.cli.main import tallystick

    for name, text in (("key.conll", KEY), ("response.conll", RESPONSE)):
        (folder / name).write_text(text)
    sys.argv = ["tallystick", "score", "coreference", str(folder / "key.conll"), str(folder / "response.conll")]
    with (
        contextlib.suppress(SystemExit),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        tallystick(prog_name="tallystick")


def evaluate_derived(_: Path) -> None:
    """`ts.evaluate(ts.derive(T), ...)`."""
    import tallystick as ts

    metric = ts.derive(Invoice, credit="each")
    gold, system = [Invoice("Acme", [Line("H-1", 2)])], [Invoice("Acme", [Line("H-1", 3), Line("N-2", 1)])]
    ts.evaluate(metric, gold, system).f1  # noqa: B018 - the figure is computed when it is asked for


def main() -> None:
    """Print the two walks."""
    for call, most in ((score_coreference, 20), (evaluate_derived, 15)):
        with tempfile.TemporaryDirectory() as folder:
            found = passed(lambda call=call, folder=folder: call(Path(folder)))  # type: ignore[misc]
        print(f"{call.__doc__} {len(found)} modules (at most {most})")
        for name in found:
            print(f"  {name}")


if __name__ == "__main__":
    main()

"""Every format of `fuzzing.targets`, as a test reads it: a result, or the message of an error of the project's own."""

from __future__ import annotations

from pathlib import Path

from fuzzing.targets import TARGETS, Target
from tallystick.errors import TallystickError

OTHERS = (
    "gzip",
    "spans-spacy",
    "spans-parquet",
    "spans-arrow",
    "records-parquet",
    "repair",
    "expression",
    "calls-logged",
)
READERS = {name: target for name, target in TARGETS.items() if name not in OTHERS}
"""Targets whose input is a text file, and not just any text."""


def outcome(target: Target, data: bytes, folder: Path) -> str:
    """`read`, or what the error says. Any other exception is the test's failure."""
    file = target.lay(data, folder, "input")
    try:
        target.run(file, file)
    except TallystickError as error:
        return str(error)
    return "read"

"""Names of judges: one line, not too long, and of one kind of judge only. And their experience: a number that decides."""

from __future__ import annotations

from tallystick.errors import InputError

LONGEST_NAME = 80
LONGEST_MODEL = 300
"""A model's name may be a path, or have its options in it."""


MOST_EXPERIENCE = 1_000_000


def checked_name(name: object, kind: str = "person") -> str:
    """The name as it stands; an error where it cannot be one."""
    longest = LONGEST_NAME if kind == "person" else LONGEST_MODEL
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the name of a judge is empty, or no text: {name!r:.60}")
    if len(name) > longest:
        raise InputError(
            f"the name of a {kind} has at most {longest} characters, found {len(name):,}: {name[:40]!r} and so on"
        )
    if not name.isprintable():
        raise InputError(f"the name of a judge is one line without control characters, found {name!r}")
    if name != " ".join(name.split()):
        raise InputError(f"the name of a judge has no blanks at its ends and no two in a row, found {name!r}")
    return name


def checked_experience(value: object) -> int:
    """A person's experience as a number; an error where it cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MOST_EXPERIENCE:
        raise InputError(
            f"experience is a whole number from -{MOST_EXPERIENCE:,} to {MOST_EXPERIENCE:,}, where more decides; found {value!r:.60}"
        )
    return value

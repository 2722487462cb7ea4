"""A file for another task: what it looks like, for the hint behind an error.

    Error: gold.conll:1:1: is not JSON: invalid character
    gold.conll looks like a file for `tallystick score coreference`.

Only looked for once a file could not be read, in its first few kilobytes.
"""

from __future__ import annotations

import json
import os
import re

_BEGINNINGS = (
    (r"#\s*begin document", ("coreference",)),
    (r"\s*0\.\s+MESSAGE: ID", ("templates",)),
    (r"(?:#.*\n)*\s*\(\s*\S+\s*/", ("amr",)),
    (r"(?:#.*\n)*(?:[^\t\n]*\t){0,2}\((?:\w|\{)[^/]*$", ("hierarchies",)),
    (r"(?:#.*\n)*\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}\n", ("dependencies", "coreference", "spans")),
    (r"[TER]\d+\t\S+", ("spans", "relations", "events", "hierarchies")),
    (r"system,|(?:[^\n,]+,)+(?:system|metric|value)", ("compare figures",)),
    (r"\S+[ \t]+(?:\S+[ \t]+)*(?:O|[BIESLU]-\S+)\n", ("spans",)),
)
_KEYS = (
    (("clusters",), ("coreference",)), (("predicted_clusters",), ("coreference",)), (("triples",), ("amr",)),
    (("spans",), ("spans",)), (("vertexSet",), ("relations",)), (("h_idx",), ("relations",)),
    (("n_ary_relations",), ("nary",)), (("relations", "args"), ("nary",)), (("relations",), ("relations",)),
    (("events", "links"), ("hierarchies",)), (("events",), ("events", "arguments")), (("event_mentions",), ("events",)),
    (("evt_triggers",), ("events",)), (("roles",), ("roles",)), (("extracts",), ("roles",)), (("templates",), ("templates",)),
)  # fmt: skip
_LOOKED_AT = 1 << 13


def looks_like(file: str) -> tuple[str, ...]:
    """The tasks whose files begin like this one; none if nothing can be said."""
    if not os.path.isfile(file) or file.endswith(".gz"):
        return ()
    try:
        with open(file, "rb") as stream:
            text = stream.read(_LOOKED_AT).decode("utf-8-sig", "replace")
    except OSError:
        return ()
    text = text.lstrip("\n").replace("\r\n", "\n")
    if text[:1] in ("{", "["):
        keys = set(re.findall(r'"(\w+)"\s*:', text))
        return next(
            (tasks for needed, tasks in _KEYS if keys.issuperset(needed)), ("records",) if _is_object(text) else ()
        )
    return next((tasks for pattern, tasks in _BEGINNINGS if re.match(pattern, text)), ())


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text.split("\n", 1)[0]), dict)
    except (ValueError, RecursionError):
        return False


def hint(file: str | None, arguments: list[str]) -> str:
    """What to say after an error about a file, if it looks like one for another task than the one that was asked for."""
    asked = [word for word in arguments[:2] if not word.startswith("-")]
    if file is None or len(asked) < 2 or asked[0] not in ("score", "explain", "compare") or file not in arguments:
        return ""
    tasks = looks_like(file)
    if not tasks or asked[1] in tasks or " ".join(asked) in tasks or tasks == ("records",):
        return ""
    commands = " or ".join(f"`tallystick {task if ' ' in task else f'score {task}'}`" for task in tasks)
    return f"\n{file} looks like a file for {commands}."

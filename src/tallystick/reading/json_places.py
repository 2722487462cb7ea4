"""Where in a line of JSON a value stands, for a caret under it. Only looked for once something is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence

_SPACE = " \t\r\n"


def column_of(line: str, path: Sequence[str | int]) -> int | None:
    """The column, counted from 1, of the value at a path of keys and positions; None if there is none."""
    place = _past_space(line, 0)
    decode = json.JSONDecoder().raw_decode
    for step in path:
        opening = "{" if isinstance(step, str) else "["
        if line[place : place + 1] != opening:
            return None
        place, position = _past_space(line, place + 1), 0
        while line[place : place + 1] not in ("}", "]", ""):
            key: str | int = position
            if opening == "{":
                key, place = decode(line, place)
                place = _past_space(line, _past_space(line, place) + 1)
            if key == step:
                break
            _, place = decode(line, place)
            place = _past_space(line, place)
            if line[place : place + 1] == ",":
                place = _past_space(line, place + 1)
            position += 1
        else:
            return None
    return place + 1


def _past_space(line: str, place: int) -> int:
    while place < len(line) and line[place] in _SPACE:
        place += 1
    return place

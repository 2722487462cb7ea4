"""Two values that are not the same, each in one line, so that a reader sees where they differ.

    5 and '5'                              5                    '5'
    'New York' and 'New  York'             'New York'           'New␣␣York'
    two letters, the last words differ     …yours, Ann          …yours, Anne

Values that read alike are written as Python writes them, with the white space that would not be seen; lines that are too
long are cut around the first place where they differ, not behind it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

_UNSEEN = re.compile(r"(?<= ) | (?= )|(?<=['\"]) | (?=['\"])")
"""A space beside another, or at an end of a text."""


def line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def cut(text: str, longest: int, begin: int = 0) -> str:
    """At most so many characters of a line, from `begin` on."""
    if begin:
        text = "…" + text[begin + 1 :]
    return text if len(text) <= longest else text[: longest - 1] + "…"


def told_apart(reference: Any, predicted: Any, longest: int, words: Callable[[Any], str]) -> tuple[str, str]:
    """Both values in `words`, or, where these read alike, as Python writes them. What has no difference to show stays alike."""
    left, right = line(words(reference)), line(words(predicted))
    if _seen(left) == _seen(right):
        left, right = _exactly(reference, predicted)
    return cut_apart(left, right, longest)


def cut_apart(left: str, right: str, longest: int) -> tuple[str, str]:
    """Two lines, cut so that the first difference between them is seen."""
    at = next((k for k, (x, y) in enumerate(zip_longest(left, right)) if x != y), 0)
    begin = 0 if at < longest - 1 else max(0, min(at - longest // 3, max(len(left), len(right)) - longest))
    return cut(left, longest, begin), cut(right, longest, begin)


def _seen(text: str) -> str:
    """What a reader sees of a line: an accent is one sign or two, and some signs have no width."""
    return "".join(x for x in unicodedata.normalize("NFC", text) if unicodedata.category(x) != "Cf")


def _exactly(reference: Any, predicted: Any) -> tuple[str, str]:
    left, right = (line(_UNSEEN.sub("␣", repr(value))) for value in (reference, predicted))
    return (left, right) if left == right or _seen(left) != _seen(right) else (ascii(reference), ascii(predicted))

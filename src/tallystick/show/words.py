"""Values in words, in one line.

SlotFiller(slot='Victim', value=Entity(mentions=('two men',)))      slot Victim, value two men
Mention(3, 4, text='the mayor')                                      the mayor [3–4]
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from tallystick.structures.texts import Mention

LONGEST = 300
"""So many characters of a value are shown."""


def value_text(value: Any, longest: int = LONGEST) -> str:
    """A value in one line."""
    return cut(one_line(_words(value)), longest)


def both_texts(reference: Any, predicted: Any, longest: int = LONGEST) -> tuple[str, str]:
    """Two values that are not the same, so that the difference is seen."""
    return tell_apart(reference, predicted, longest, _words)


def are_lines(values: Collection[str], longest: int = LONGEST) -> bool:
    """Whether each of these texts is what is shown of it, found out for all of them at once."""
    from tallystick.algebra.text import are_plain

    if "" in values or max(map(len, values), default=0) > longest:
        return False
    if are_plain(values):
        return True
    joined = "\0".join(values)
    ends = joined[:1] + joined[-1:]
    return " ".join(joined.split()) == joined and ends == ends.strip() and "\0 " not in joined and " \0" not in joined


def odd_lines(values: Collection[str], longest: int = LONGEST) -> Collection[str]:
    """Which of these texts are shown differently from what they are."""
    if are_lines(values, longest):
        return ()
    return {one for one in values if not 0 < len(one) <= longest or one_line(one) != one}


def named_parts(value: Any) -> list[tuple[str, Any]]:
    """The parts of a record by name; nothing for other values."""
    if type(value) in _WHOLE or isinstance(value, (str, bytes)) or is_mention(value):
        return []
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in value.items()]
    from tallystick.engine.values import fields_of

    return [(name, getattr(value, name)) for name in fields_of(type(value)) or ()]


_WHOLE = frozenset((str, list, tuple, int, float, bool, type(None)))
"""What has no named parts."""


def _words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value if value.strip() else repr(str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if type(value) in (int, float):
        return str(value)
    if type(value) in (list, tuple):
        return "; ".join(_listed(value)) or "nothing"
    from tallystick.engine.values import Invalid

    if isinstance(value, Invalid):
        return str(value)
    if is_mention(value):
        return _mention(value)
    if isinstance(value, range) and value.step == 1 and value:
        return _place(value[0], value[-1])
    parts = named_parts(value)
    if len(parts) == 1:
        return _words(parts[0][1])
    if parts:
        return ", ".join(f"{name} {_words(part)}" for name, part in parts if part not in (None, (), ""))
    if isinstance(value, (list, tuple, set, frozenset)):
        return "; ".join(_listed(value)) or "nothing"
    return str(value)


def _listed(value: Any) -> Iterator[str]:
    for part in value:
        text = _words(part)
        yield f"({text})" if not isinstance(part, str) and len(named_parts(part)) > 1 else text


def _place(first: int, last: int) -> str:
    return f"[{first}]" if first == last else f"[{first}–{last}]"


def mention_class() -> type[Mention] | tuple[()]:
    """The class of mentions, for `isinstance`; the structures are not loaded to find out that a value is none."""
    texts = sys.modules.get("tallystick.structures.texts")
    return () if texts is None else texts.Mention


def is_mention(value: Any) -> TypeGuard[Mention]:
    """Whether a value is a mention."""
    return isinstance(value, mention_class())


def _mention(mention: Mention) -> str:
    where = _place(mention.left, mention.right)
    text, type_ = getattr(mention, "text", None), getattr(mention, "type", None)
    return " ".join(part for part in (type_, text, where if mention.left >= 0 else "[nowhere]") if part)


# Two values that are not the same, each in one line, so that a reader sees where they differ.
#
#     5 and '5'                              5                    '5'
#     'New York' and 'New  York'             'New York'           'New␣␣York'
#     two letters, the last words differ     …yours, Ann          …yours, Anne
#
# Values that read alike are written as Python writes them, with the white space that would not be seen; lines that are too
# long are cut around the first place where they differ, not behind it.

_UNSEEN = re.compile(r"(?<= ) | (?= )|(?<=['\"]) | (?=['\"])")
"""A space beside another, or at an end of a text."""


def one_line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def cut(text: str, longest: int, begin: int = 0) -> str:
    """At most so many characters of a line, from `begin` on."""
    if begin:
        text = "…" + text[begin + 1 :]
    return text if len(text) <= longest else text[: longest - 1] + "…"


def tell_apart(reference: Any, predicted: Any, longest: int, words: Callable[[Any], str]) -> tuple[str, str]:
    """Both values in `words`, or, where these read alike, as Python writes them. What has no difference to show stays alike."""
    left, right = one_line(words(reference)), one_line(words(predicted))
    if _seen(left) == _seen(right):
        left, right = _exactly(reference, predicted)
    return cut_apart(left, right, longest)


def cut_apart(left: str, right: str, longest: int) -> tuple[str, str]:
    """Two lines, cut so that the first difference between them is seen."""
    if len(left) <= longest and len(right) <= longest:
        return left, right
    at = next((k for k, (x, y) in enumerate(zip_longest(left, right)) if x != y), 0)
    begin = 0 if at < longest - 1 else max(0, min(at - longest // 3, max(len(left), len(right)) - longest))
    return cut(left, longest, begin), cut(right, longest, begin)


def _seen(text: str) -> str:
    """What a reader sees of a line: an accent is one sign or two, and some signs have no width."""
    if text.isascii():
        return text
    return "".join(x for x in unicodedata.normalize("NFC", text) if unicodedata.category(x) != "Cf")


def _exactly(reference: Any, predicted: Any) -> tuple[str, str]:
    left, right = (one_line(_UNSEEN.sub("␣", repr(value))) for value in (reference, predicted))
    return (left, right) if left == right or _seen(left) != _seen(right) else (ascii(reference), ascii(predicted))

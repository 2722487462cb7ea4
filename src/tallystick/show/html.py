"""HTML from texts: whatever is put into it is escaped, unless it is HTML itself.

>>> from tallystick.show.html import html
>>> html("<p>{}</p>", "a < b")
'<p>a &lt; b</p>'
>>> html("<div>{}</div>", html("<p>{}</p>", "&"))
'<div><p>&amp;</p></div>'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Html(str):
    """HTML, which is put into other HTML as it is."""

    __slots__ = ()


NOTHING = Html("")


def escape(value: Any) -> str:
    """A value as it can stand in a text and between quotes."""
    if isinstance(value, Html):
        return value
    text = str(value)
    for sign, written in (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;")):
        text = text.replace(sign, written)
    return text


def html(pattern: str, *values: Any) -> Html:
    """A pattern, as of `str.format`, with values in it."""
    return Html(pattern.format(*map(escape, values)))


def each(pattern: str, rows: Iterable[Any]) -> Html:
    """The same for every row; a row that is no tuple is one value."""
    return Html("".join(html(pattern, *(row if type(row) is tuple else (row,))) for row in rows))


def joined(*parts: Html) -> Html:
    """Parts one behind the other."""
    return Html("".join(parts))


def where(condition: Any, pattern: str, *values: Any) -> Html:
    """The same if something holds, else nothing."""
    return html(pattern, *values) if condition else NOTHING

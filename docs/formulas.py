"""Formulas become MathML when the site is built, so that the pages need no script and no network."""

import re

from latex2mathml.converter import convert

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)
_BLOCK = re.compile(r"\$\$(.+?)\$\$", re.S)
_INLINE = re.compile(r"(?<![\\$])\$([^$\n]+?)\$(?!\$)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called by mkdocs for every page."""
    parts = _CODE.split(markdown)
    for k in range(0, len(parts), 2):
        text = _BLOCK.sub(lambda m: "\n" + convert(m.group(1).strip(), display="block") + "\n", parts[k])
        parts[k] = _INLINE.sub(lambda m: convert(m.group(1).strip()), text)
    return "".join(parts)

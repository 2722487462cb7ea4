"""Text of the program, help and docstrings, as Markdown."""

from __future__ import annotations

import re


def quoted(text: str) -> str:
    """Prose whose braces, stars and brackets stay what they are; names of options are set as code."""
    parts = re.split(r"(`[^`]*`)", re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)(?![\w`])", r"`\1`", text))
    return "".join(part if k % 2 else re.sub(r"([*_<\[\]{}|])", r"\\\1", part) for k, part in enumerate(parts))

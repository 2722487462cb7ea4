"""Pages that are made from the code. A line of a page such as

    <!-- made: python parts -->

is replaced by Markdown when the site is built, and doctest's <BLANKLINE> by an empty line. What begins with "*In the repository," says where to
find it for those who read the page as it is, and is left out. This is an extension of Python-Markdown, like the formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from docsite import commands, facts, python_api

_LINE = re.compile(r"^<!-- made: (.+) -->$")
UNMADE = "*In the repository,"

MAKERS: dict[str, Callable[..., str]] = {
    "python": python_api.package,
    "structures": python_api.types,
    "contract": python_api.task_contract,
    "adapters": python_api.adapters,
    "commands": commands.commands,
    "choices": facts.choice_words,
    "schema": facts.schema,
}


def made(line: str) -> str:
    """What a line of a page stands for."""
    what, *arguments = line.split()
    return MAKERS[what](*arguments)


class _Made(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        for line in lines:
            found = _LINE.match(line)
            left_out = line == "<BLANKLINE>" or line.startswith(UNMADE)
            out += made(found[1]).split("\n") if found else ["" if left_out else line]
        return out


class Reference(Extension):
    """`markdown_extensions: [docsite.reference]`."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(_Made(md), "made", 29)  # before fences (25), after line ends are normalised (30)


def makeExtension(**options: object) -> Reference:
    """Called by Python-Markdown."""
    return Reference(**options)

"""An explanation on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallystick.cli.output import show_on_terminal
from tallystick.results.tables import explanation_line

if TYPE_CHECKING:
    from rich.tree import Tree

    from tallystick.results.explanation import Explanation

STYLES = {"-": "red", "+": "yellow", "≠": "magenta", "=": "green"}


def show_explanation(explanation: Explanation, title: str, format_: str | None) -> None:
    """The end of every `explain`: JSON, or a tree."""
    if format_ == "json":
        from tallystick.files.writing import to_json

        click.echo(to_json(explanation.as_dict()))
    else:
        show_tree(explanation, title)


def show_tree(explanation: Explanation, title: str) -> None:
    """Green is right, red is missed, yellow is spurious, magenta is in part right or wrong."""
    from rich.text import Text
    from rich.tree import Tree

    def grow(node: Explanation, into: Tree) -> None:
        for child in node.children:
            line = explanation_line(child)
            grow(child, into.add(Text(line, style=STYLES.get(line[0], ""))))

    tree = Tree(Text(f"{title}: {explanation_line(explanation).partition(': ')[2]}", style="bold"))
    grow(explanation, tree)
    show_on_terminal(tree)

"""Pages as somebody reads them who did not write them: what is shown agrees with the terminal, and leads somewhere."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tallystick as ts
from tallystick.cli.commands import tallystick as command
from tallystick.reports.page import Page, render


def write(path, text):
    Path(path).write_text(text, encoding="utf-8")
    return str(path)


def lines(path, *values):
    return write(path, "".join(json.dumps(value) + "\n" for value in values))


def tallystick(*arguments):
    done = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


# Figures


def test_document_figures_read_as_on_the_terminal(opened, tmp_path):
    """Thirds, elevenths, and figures exactly half-way between two with four decimals: 5/32 is 0.1562, not 0.1563."""
    counts = [(1, 3), (6, 11), (8, 19), (2, 17), (1, 32), (3, 32), (5, 32), (31, 32), (5, 64)]
    gold = {f"{k} of {n}": [f"x{i}" for i in range(n)] for k, n in counts}
    found = {f"{k} of {n}": [f"x{i}" for i in range(k)] for k, n in counts}
    result = ts.evaluate(ts.derive(list[str]), gold, found)
    write(tmp_path / "r.html", render(Page("t", {"lists": result})))
    page = opened(tmp_path / "r.html")
    names = list(result.figures)
    for row in page.locator("#list summary").all():
        name, *shown = row.locator("span").all_inner_texts()
        assert shown == [f"{result.documents[name][figure]:.4f}" for figure in names], name
    # the same sign by sign, and below nothing
    both = {x: f"{x:.4f}" for x in (-5 / 32, -0.5, 0.0, 1.0, 2 / 3, 1e-5)}
    assert page.evaluate("xs => xs.map(x => fig(x))", list(both)) == list(both.values())

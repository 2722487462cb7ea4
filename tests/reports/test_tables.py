"""One table in Markdown and in LaTeX: names stay text, whatever they hold; LaTeX compiles where there is a TeX."""

import re
import shutil
import subprocess
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tallystick.reports.escaping import latex_text
from tallystick.reports.tables import Table, to_latex, to_markdown

PDFLATEX = shutil.which("pdflatex")
AWKWARD = [
    "B~^x",
    "a\\b",
    "50%_#{}$&",
    "<b>|</b>",
    "[*]",
    "*",
    "a--b",
    "-0.5",
    "αβγδεζηθικλμνξπρστυφχψω ≤ B³ ± ↑2 – − …",
    "two\nlines",
]


def compiled(folder, *tabulars):
    """The text of the page that pdflatex makes of tabulars."""
    body = "\n\n".join(tabulars)
    source = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n" + body + "\n\\end{document}\n"
    (folder / "t.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [PDFLATEX, "-halt-on-error", "-interaction=nonstopmode", "t.tex"], cwd=folder, capture_output=True, text=True,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B~^x", r"B\textasciitilde{}\textasciicircum{}x"),
        ("a\\b", r"a\textbackslash{}b"),
        ("50%_#{}$&", r"50\%\_\#\{\}\$\&"),
        ("<b>|", r"\textless{}b\textgreater{}\textbar{}"),
        ("-0.5", r"$-$0.5"),
        ("a-0.5", "a-0.5"),
        ("a---b", "a-{}-{}-b"),
        ("–", "--"),
        ("B³ φ", r"B$^3$ $\varphi$"),
        ("two\nlines", "two lines"),
    ],
)
def test_signs_of_latex_are_text(text, expected):
    assert latex_text(text) == expected


def test_a_row_does_not_begin_like_an_option():
    text = to_latex(Table(["[x]", "n"], [["[*]", 1], ["*", 2], ["a[*]", 3]]))
    assert [line for line in text.splitlines() if line.endswith("\\\\")] == [
        "{}[x] & n \\\\", "{}[*] & 1 \\\\", "{}* & 2 \\\\", "a[*] & 3 \\\\",
    ]  # fmt: skip


def test_names_stand_left_and_numbers_right():
    rows = [["a", "x", 0.5, "3 / 4", None, -1, "a 0.5"]]
    assert "\\begin{tabular}{llrrrrl}" in to_latex(Table(list("1234567"), rows))


def test_a_comment_is_one_line_and_a_title_is_shown():
    lines = to_latex(Table(["a", "b"], [["x", 0.5]], "50 %", ["first\n\\second"])).splitlines()
    assert lines[0] == "% first \\second"
    assert "\\multicolumn{2}{l}{\\textbf{50 \\%}} \\\\" in lines


@pytest.mark.skipif(PDFLATEX is None, reason="needs pdflatex: make latex")
def test_latex_compiles(tmp_path):
    table = Table(AWKWARD, [[one] * len(AWKWARD) for one in AWKWARD], "ti~tle", ["no^te"])
    assert "Missing" not in compiled(tmp_path, to_latex(table))


def cells(markdown):
    """The texts of the cells that a Markdown parser finds."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    found = []
    for before, token in pairwise(tokens):
        if before.type in ("th_open", "td_open"):
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special"}, token.content
            found.append("".join(child.content for child in token.children))
    return found


@given(st.lists(st.text("ab1_*`|\\<>&;#~[]()!$.\n x", max_size=12), min_size=2, max_size=2))
@example(["a|b", "*x* _y_ `z`"])
@example(["a\\|b", "<b> &amp; &#35; [x](y) ![x](y)"])
@example(["~~a~~", "__init__ x_ _x a_b"])
def test_names_are_text_in_markdown(names):
    columns = [f"0{name}0" for name in names]  # a parser trims what is empty around a cell
    found = cells(to_markdown(Table(columns, [names, columns])))
    expected = [" ".join(text.split()) for text in (*columns, *names, *columns)]
    assert found == expected


def test_an_underscore_inside_a_word_is_left_alone():
    assert "| arg_c_head |" in to_markdown(Table(["metric"], [["arg_c_head"]]))


def test_notes_stand_below_in_markdown():
    text = to_markdown(Table(["a"], [["x"]], "A*", ["See *this*.", "And that."]))
    assert re.sub(r"\n+", "\n", text).splitlines()[-2:] == ["See \\*this\\*.", "And that."]
    assert text.startswith("**A\\***\n\n")

"""One table in Markdown and in LaTeX: names stay text, whatever they hold; LaTeX compiles where there is a TeX."""

import copy
import json
import pickle
import re
import shutil
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from running import invoke
from tallystick.cli.main import tallystick as command
from tallystick.errors import TallystickError
from tallystick.show.page import page_table
from tallystick.show.tables import (
    WRITERS,
    Column,
    Estimate,
    Ratio,
    Table,
    Tables,
    to_csv,
    to_html,
    to_markdown,
    to_text,
    to_tsv,
)
from tallystick.show.typeset import latex_text, to_latex

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
    table = Table(["a", "b"], [["x", 0.5]], "50 %", ["first"])
    lines = to_latex(table, comments=["two\n\\lines"]).splitlines()
    assert lines[0] == "% two \\lines"
    assert lines[-2:] == ["\\caption{50 \\%. first. Figures in percent.}", "\\end{table}"]
    assert "caption" not in to_latex(Table(["a", "b"], [["x", 0.5]]))  # nothing to say


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


# What the numbers of a column are

KINDS = Table(
    ["x", Column("plain", "figure"), "f1", Column("a - b", "gain"), Column("p", "number"), Column("support", "count")],
    [["y", 0.5, 0.25, -0.125, 0.0312, 2.5], ["z", None, 1.0, 0.0, None, 1234.0]],
)


def test_only_figures_and_gains_stand_in_percent_in_latex():
    rows = [line for line in to_latex(KINDS).splitlines() if line.endswith("\\\\")]
    assert rows == [
        "x & plain & f1 & a $-$ b & p & support \\\\",
        "y & 50.00 & 25.00 & $-$12.50 & 0.0312 & 2.50 \\\\",
        "z & -- & 100.00 & 0.00 & -- & 1,234 \\\\",
    ]


def test_a_weighted_count_is_no_figure_for_people():
    for write in (to_markdown, to_html, to_text):
        assert "2.5000" not in write(KINDS)
        assert "1,234" in write(KINDS)
    assert to_tsv(KINDS).splitlines()[1] == "y\t0.5\t0.25\t-0.125\t0.0312\t2.5"


def test_the_page_draws_shares_behind_figures_only():
    shown = page_table(KINDS)
    assert [cell["share"] for cell in shown["rows"][0]] == [None, 50, 25, None, None, None]
    gains = page_table(Table(["x", Column("gain", "gain")], [["a", 0.02], ["b", 0.01], ["c", -0.5]]))
    assert [row[1]["share"] for row in gains["rows"]] == [100, 50, 0]
    assert [cell["text"] for cell in shown["rows"][1]][-1] == "1,234"


def test_a_column_is_its_name():
    column = pickle.loads(pickle.dumps(copy.copy(KINDS))).columns[5]
    assert (column, column.kind) == ("support", "count")
    assert json.dumps([column]) == '["support"]'


def test_a_weighted_support_in_the_latex_of_a_command(tmp_path):
    gold = "".join(f"w{k} {tag} {tag}\n" for k, tag in enumerate(["B-A", "I-A", "O", "B-B", "I-B", "I-B"]))
    (tmp_path / "w.txt").write_text(gold)
    arguments = ["--together", "--metric", "ts", "--separators", "0.5", "--by", "label", "--format", "latex"]
    done = invoke(command, ["score", "spans", str(tmp_path / "w.txt"), *arguments])
    assert done.returncode == 0, done.output
    assert "& 2.50 \\\\" in done.stdout
    assert "250" not in done.stdout


NEW_FORMAT = """
import sys
from tallystick.show import tables
tables.WRITERS["semi"] = tables.Writer(lambda table, style: ";".join(table.columns), for_programs=True)
from tallystick.cli.main import tallystick
tallystick(sys.argv[1:])
"""


def test_a_format_is_one_entry(tmp_path):
    """Every command takes a format that stands among the writers, and `list formats` names it."""
    (tmp_path / "t.csv").write_text("system,metric,value\nA,x,1\nB,x,2\n")
    (tmp_path / "w.txt").write_text("w B-A B-A\n")

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", NEW_FORMAT, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert run("list", "formats")[-1] == "  table, json, tsv, csv, markdown, latex, typst, html, semi"
    assert run("compare", "figures", "t.csv", "--format", "semi")[0].startswith("system;metric;value;low;high")
    assert run("score", "spans", "w.txt", "--together", "--format", "semi")[0].startswith("metric;average;precision")


@pytest.mark.parametrize("format_", WRITERS)
def test_every_command_knows_every_format(tmp_path, format_):
    (tmp_path / "w.txt").write_text("w B-A B-A\n")
    done = invoke(command, ["score", "spans", str(tmp_path / "w.txt"), "--together", "--format", format_])
    assert done.returncode == 0, done.output
    assert "segment" in done.stdout


def test_in_a_narrow_terminal_intervals_stand_below_their_figures():
    """Before names and counts are folded to a few letters a line."""
    estimate = Estimate(0.5, (0.25, 0.75))
    table = Table(["metric", "precision", "recall", "f1"], [["segment", estimate, estimate, estimate]])
    assert "segment   0.5000 [0.2500, 0.7500]" in to_text(table, 100)
    lines = [line.split() for line in to_text(table, 70).splitlines()]
    assert ["segment", "0.5000", "0.5000", "0.5000"] in lines
    assert ["[0.2500,", "0.7500]"] * 3 in lines


@pytest.mark.parametrize("width", [40, 80])
def test_long_names_are_broken_at_their_marks_and_never_letter_by_letter(width):
    name = "Within_Template_Incorrect_Role + Partially_Matched_Filler"
    table = Table(["error", *"abcdefg"], [[name, *[0.5] * 7]])
    lines = to_text(table, width).splitlines()[2:]
    first = [line.removesuffix(" 0.5000" * 7).strip() for line in lines]
    assert "".join(first).replace(" ", "") == name.replace(" ", "")
    assert all(len(part) > 3 for part in first)
    assert all(part[-1] in "_+" for part in first[:-1] if not part.endswith(("Role", "Filler")))


def test_programs_get_sums_without_commas_and_with_all_digits():
    table = Table(["metric", "of predicted"], [["b3", Ratio.of(20073.678912, 27822.0)]])
    assert to_tsv(table).split("\n")[1] == "b3\t20073.678912 / 27822"
    assert to_csv(table).split("\n")[1].strip() == "b3,20073.678912 / 27822"
    assert "20,073.68 / 27,822" in to_markdown(table)


def test_what_only_one_table_has_several_do_not_have():
    one = Table(["a"], [[1]])
    assert hasattr(Tables([one]), "columns")
    both = Tables([one, one])
    assert not hasattr(both, "columns")
    assert not hasattr(both, "rows")
    with pytest.raises(TallystickError, match="there are 2 tables here; take one of them"):
        both.rows  # noqa: B018

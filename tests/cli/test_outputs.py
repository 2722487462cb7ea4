"""Files that a command writes: never over one that it reads, two of them are two files, and checked before the work."""

import csv
import os
import sys
from pathlib import Path

import pytest
from test_compare_tasks import EXAMPLE, EXAMPLES

from running import run, write

FIGURES = "system,metric,value\nA,m,0.5\nB,m,0.6\nA,n,0.5\nB,n,0.4\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, name in zip(("gold", "system"), EXAMPLE["spans"], strict=False):
        Path(f"{side}.iob").write_bytes((EXAMPLES / name).read_bytes())
    for side, name in zip(("gold", "system"), EXAMPLE["relations"], strict=False):
        Path(f"{side}.jsonl").write_bytes((EXAMPLES / name).read_bytes())
    Path("table.csv").write_text(FIGURES)
    Path("parents.tsv").write_text("child\tparent\n")
    Path("link.iob").symlink_to("gold.iob")
    Path("brat").mkdir()
    Path("brat/a.ann").write_text("T1\tPER 0 4\tAnna\n")
    Path("brat/a.txt").write_text("Anna met\n")
    return tmp_path


def contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("command", "overwritten", "called"),
    [
        ("score spans gold.iob system.iob --report gold.iob", "gold.iob", "REFERENCE"),
        ("score spans gold.iob system.iob --report ./system.iob", "./system.iob", "PREDICTED"),
        ("score spans gold.iob system.iob --report link.iob", "link.iob", "REFERENCE"),
        ("score spans link.iob system.iob --report gold.iob", "gold.iob", "REFERENCE"),
        ("compare spans gold.iob A=gold.iob B=gold.iob,system.iob --report system.iob", "system.iob", "SYSTEMS"),
        ("compare figures table.csv --report table.csv", "table.csv", "FILE"),
        ("score relations gold.jsonl system.jsonl --parents parents.tsv --report parents.tsv", "parents.tsv", "--parents"),
        ("score spans brat brat --report brat/a.txt", "brat/a.txt", "REFERENCE"),
        ("score spans brat/a.ann brat/a.ann --report brat/a.txt", "brat/a.txt", "REFERENCE"),
        ("score records gold.jsonl system.jsonl --save-schema system.jsonl", "system.jsonl", "PREDICTED"),
    ],
)  # fmt: skip
def test_what_is_read_is_not_overwritten(folder, command, overwritten, called):
    before = contents()
    said = run(*command.split(), code=2).output
    option = command.split()[-2]
    assert f"{option} would overwrite {overwritten}, which is read as {called}; give it another name" in said
    assert contents() == before


def test_nor_what_comes_from_standard_input(folder):
    import subprocess

    with open("gold.iob", "rb") as gold:
        command = [sys.executable, "-m", "tallystick", "score", "spans", "-", "system.iob", "--report", "gold.iob"]
        done = subprocess.run(command, stdin=gold, capture_output=True, text=True)
    assert done.returncode == 2
    assert "would overwrite gold.iob" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "score records gold.jsonl system.jsonl --report same.csv --tallies ./same.csv",
        "compare figures table.csv --report same.svg --picture same.svg",
    ],
)
def test_two_outputs_are_two_files(folder, command):
    pytest.importorskip("matplotlib")
    assert "would be one file" in run(*command.split(), code=2).output
    assert not list(Path().glob("same.*"))


@pytest.mark.parametrize(("name", "message"), [("", "found nothing"), ("-", "/dev/stdout is standard output")])
def test_names_that_are_none(folder, name, message):
    for command in (["score", "spans", "gold.iob", "system.iob"], ["compare", "figures", "table.csv"]):
        assert message in run(*command, "--report", name, code=2).output
    assert not Path("-").exists()


def test_a_report_may_stand_beside_what_is_read(folder):
    run("score", "spans", "brat", "brat", "--report", "brat/report.html")
    run("score", "spans", "brat", "brat", "--report", "brat/report.html")  # its own report may be written anew


# Pictures


def test_the_kind_of_a_picture_is_checked_before_the_work(folder):
    said = run("compare", "figures", "table.csv", "--picture", "x.jpeg", "--report", "early.html", code=2).output
    assert "x.jpeg: expected a name that ends with .svg, .png, .pdf" in said
    assert not Path("early.html").exists()


def test_pictures_of_several_tasks_and_of_capital_letters(folder):
    pytest.importorskip("matplotlib")
    Path("tasks.csv").write_text("task,system,metric,value\nx,A,m,1\nx,B,m,2\ny,A,m,1\ny,B,m,2\n")
    Path("d.x").mkdir()
    said = run("compare", "figures", "tasks.csv", "--picture", "d.x/pic.SVG").output
    assert "picture: d.x/pic-1.SVG" in said
    assert Path("d.x/pic-2.SVG").read_text().startswith("<?xml")
    clash = run("compare", "figures", "tasks.csv", "--picture", "p.svg", "--report", "p-2.svg", code=2).output
    assert "--report and --picture would be one file, p-2.svg" in clash


# What used to be an internal error


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_file_name_that_is_no_text(folder):
    pytest.importorskip("matplotlib")
    odd = os.fsdecode(b"bad\xff.iob")
    Path(odd).write_bytes(Path("system.iob").read_bytes())
    run("score", "spans", "gold.iob", odd, "--report", "score.html")
    compare = ("compare", "spans", "gold.iob", odd, "system.iob", "--report", "compare.html", "--picture", "x.svg")
    done = run(*compare, PYTHONIOENCODING="utf-8:strict")
    assert done.stdout.splitlines()[1].startswith("bad\\udcff.iob\t")
    assert "bad\\udcff.iob" in Path("score.html").read_text()
    assert "bad\\udcff.iob" in Path("x.svg").read_text()


def test_ids_beyond_64_bits_in_a_table_of_tallies(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    write("big.jsonl", [{"id": 2**70, "x": 1}, {"id": 3, "x": 2}])
    run("score", "records", "big.jsonl", "big.jsonl", "--tallies", "x.parquet")
    assert parquet.read_table("x.parquet")["document"].to_pylist() == [str(2**70), "3"]
    run("score", "records", "big.jsonl", "big.jsonl", "--tallies", "x.csv")
    with open("x.csv") as stream:
        assert [row["document"] for row in csv.DictReader(stream)] == [str(2**70), "3"]


def test_a_level_next_to_one(folder):
    run("compare", "spans", "gold.iob", "system.iob", "--interval", "bca", "--level", "0.9999999999999999")


@pytest.mark.parametrize("digits", ["16", "400", "99999999999"])
def test_more_decimals_than_a_number_has(folder, digits):
    assert "0<=x<=15" in run("compare", "figures", "table.csv", "--digits", digits, "--truncate", code=2).output


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("system,metric,value,run\nA,m,1e308,1\nA,m,1e308,2\n", ":2: expected a figure between -1e+100 and 1e+100"),
        ("system,metric,value,value\nA,m,1,2\n", ":1: has the column 'value' twice"),
        ("system,metric,value\nA,m,1_0.5\n", ":2: expected a number under value, found '1_0.5'"),
        ("system,metric,value\nA,m,\u0663\n", ":2: expected a number under value"),
        ("system,metric,value\nA,m,nan\n", ":2: expected a number under value"),
    ],
)
def test_figures_that_are_none(folder, rows, message):
    Path("wrong.csv").write_text(rows)
    said = run("compare", "figures", "wrong.csv", code=2).output
    assert f"wrong.csv{message}" in said
    assert "looks like a file for" not in said

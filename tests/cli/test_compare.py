"""`tallystick compare`, run as a user runs it."""

import json

import pytest
from test_records import GOLD, SYSTEM, folder, run, write  # noqa: F401


@pytest.fixture
def systems(folder):  # noqa: F811
    write("worse.jsonl", [{"id": "b", "relations": []}, {"id": "a", "relations": []}])
    return folder


def compare(*arguments, **options):
    return run(
        "compare", "records", "gold.jsonl", *arguments, "--type", "types_here:Document", "--credit", "all", **options
    )


def test_figures_intervals_ranks_and_letters(systems):
    content = json.loads(compare("good=gold.jsonl", "some=system.jsonl", "worse.jsonl", "--format", "json").stdout)
    cells = {name: cells["records"] for name, cells in content["systems"].items()}
    assert {name: cell["rank"] for name, cell in cells.items()} == {"good": 1, "some": 2, "worse.jsonl": 3}
    assert cells["some"]["value"] == pytest.approx(0.4)
    low, high = cells["some"]["interval"]
    assert low <= 0.4 <= high
    assert content["letters"] == {"good": "a", "some": "b", "worse.jsonl": "c"}
    assert len(content["differences"]) == 3


@pytest.mark.parametrize("format_", ["table", "tsv", "markdown", "latex"])
def test_every_format(systems, format_):
    assert "some" in compare("some=system.jsonl", "worse.jsonl", "--format", format_, "--correlations").stdout


def test_several_runs(systems):
    found = json.loads(compare("A=system.jsonl,worse.jsonl", "B=gold.jsonl,gold.jsonl", "--format", "json").stdout)
    assert found["systems"]["A"]["records"]["runs"] == 2
    assert found["systems"]["B"]["records"]["spread"] == 0


def test_the_same_seed_gives_the_same_output(systems):
    first, second = (compare("system.jsonl", "worse.jsonl", "--seed", "7").stdout for _ in range(2))
    assert first == second


def test_from_a_table_of_figures(systems):
    write("x", [])
    rows = "system,metric,value\nA,exact,0.5\nB,exact,0.6\nA,human,0.9\nB,human,0.8\n"
    done = run("compare", "figures", "-", "--format", "json", stdin=rows)
    assert json.loads(done.stdout)["correlations"][0]["kendall_a"] == -1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,b\n1,2\n", "<stdin>:1: expected the columns system, metric, value"),
        ("system,metric,value\nA,x,many\n", "<stdin>:2: expected a number under value, found 'many'"),
        ("system,metric,value\nA,x,1\nA,x,2\n", "<stdin>:3: A has x twice"),
        ("system,metric,value\n", "has no rows"),
    ],
)
def test_wrong_tables(systems, rows, message):
    assert message in run("compare", "figures", "-", stdin=rows, code=2).stderr


def test_two_systems_of_one_name(systems):
    assert "two systems are called 'system.jsonl'; give one another name: NAME=system.jsonl" in compare("system.jsonl", "system.jsonl", code=2).stderr  # fmt: skip
    assert "'A'; give one another name: NAME=system.jsonl\n" in compare("A=gold.jsonl", "A=system.jsonl", code=2).stderr

"""`tallystick compare`, run as a user runs it."""

import json
import re
from importlib.resources import files

import pytest
from test_records import GOLD, SYSTEM, folder, run, write  # noqa: F401

from tallystick.cli.main import formats


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


EXPECTED = {  # what stands in each format for the system whose figure is 0.4, the second of three
    "table": r"b some +0\.4000 \[0\.0000, 0\.\d{4}\] +#2",
    "tsv": r"some\trecords\t0\.4\t0\.0\t0\.\d+\t\t1\t2\.0\t0\.0\t",
    "csv": r"some,records,0\.4,0\.0,0\.\d+,,1,2\.0,0\.0,",
    "markdown": r"\| b some \| <ins>0\.4000</ins> \[0\.0000, 0\.\d{4}\] №2 \|",
    "latex": r"some\\textsuperscript\{b\} & \\phantom\{0\}\\underline\{40\.00\} \{\\scriptsize \[0\.00, \d\d\.\d\d\]\} & 2 \\\\",
    "typst": r'\[#"some"#super\[b\]\], \[#hide\[0\]#underline\[40\.00\] #text\(0\.75em\)\[\\\[0\.00, \d\d\.\d\d\\\]\]\], \[#"2"\],',
    "html": r"<td>b some</td><td><u>0\.4000</u> \[0\.0000, 0\.\d{4}\] #2</td>",
    "json": r'"some": \{\s+"records": \{\s+"value": 0\.4,\s+"interval": \[\s+0\.0,',
}


@pytest.mark.parametrize("format_", formats())
def test_every_format(systems, format_):
    shown = compare("good=gold.jsonl", "some=system.jsonl", "worse.jsonl", "--format", format_, "--correlations").stdout
    assert re.search(EXPECTED[format_], shown), shown


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


def test_splits_of_one_size_are_splits_all_the_same(systems):
    for name in ("g1", "g2", "a1", "a2"):
        (systems / f"{name}.iob").write_text("".join(f"{name[1]}{k} B-PER\n\n" for k in range(4)))
    done = run("compare", "spans", "g1.iob,g2.iob", "A=a1.iob,a2.iob", "B=g1.iob,g2.iob", "--format", "json")
    found = json.loads(done.stdout)
    assert {one["p"] for one in found["differences"]} == {1}
    assert found["systems"]["A"]["segment"]["interval"] == [1, 1]
    assert found["notes"][0] == "8 sentences in 2 splits"
    assert "within each split" in found["notes"][1]


def test_what_to_do_about_missing_documents_is_in_the_signature(systems):
    write("half.jsonl", [{"id": "a", "relations": []}])
    for policy in ("empty", "intersect"):
        found = json.loads(compare("half.jsonl", "--missing", policy, "--format", "json").stdout)
        assert f"missing={policy}" in found["signature"]
    assert "missing" not in json.loads(compare("system.jsonl", "--format", "json").stdout)["signature"]


def test_arrows_count_from_the_main_metric(systems):
    gold, system = (files("tallystick.examples") / f"dependencies.{side}.conllu" for side in ("gold", "system"))
    found = json.loads(run("compare", "dependencies", gold, f"A={system}", f"B={gold}", "--format", "json").stdout)
    assert found["base"] == "las"
    assert found["systems"]["B"]["las"]["moved"] == 0


def test_the_options_are_those_of_the_statistics():
    from tallystick.cli.compare import comparison_options
    from tallystick.results.compare import RESAMPLES
    from tallystick.results.resampling import METHODS, TESTS
    from tallystick.results.selection import TIES
    from tallystick.tasks.contract import find_task

    options = {option.name: option for option in comparison_options(find_task("records"))}
    assert options["resamples"].default == RESAMPLES
    for name, expected in (("interval", METHODS), ("test", TESTS), ("ties", TIES)):
        assert list(options[name].type.choices) == list(expected)


def test_several_expressions_are_several_metrics(systems):
    """Each has the figure that it has alone, and they are laid side by side."""
    metrics = {
        "types": "f1(each(relations=match(record(type=exact))))",
        "whole": "f1(each(relations=match(exact)))",
    }
    files = "good=gold.jsonl", "some=system.jsonl", "--resamples", "20", "--format", "json"

    def values(*arguments):
        cells = json.loads(run("compare", "records", "gold.jsonl", *files, *arguments).stdout)["systems"]["some"]
        return {name: cell["value"] for name, cell in cells.items()}

    given = [part for name, text in metrics.items() for part in ("--metric", f"{name}={text}")]
    together = values(*given, "--correlations")
    assert together == {name: values("--metric", text)["records"] for name, text in metrics.items()}
    assert together["types"] > together["whole"]
    assert list(values("--metric", f"only={metrics['whole']}")) == ["only"]
    twice = run("compare", "records", "gold.jsonl", *files, *given, *given, code=2)
    assert "'types' is given twice; names must be unique" in twice.stderr

"""An argument that makes no sense is an error of the project's own, where the metric is written, that says what to write."""

import json
import math

import pytest

import tallystick as ts
from running import run
from tallystick.errors import MetricError

BAD = {
    'ts.spans([["B-A"]], [["B-A"]], metric="ts")': "spans has no option 'metric'; expected metrics='ts'",
    "ts.parse('function(x:y)')": "position 10 of the expression: functions such as x:y are not allowed here",
    'ts.number("x")': "number(): absolute must be a number, found 'x'",
    "ts.number(float('nan'))": "absolute must be a number, found nan",
    "ts.number(True)": "must be a number, found True",
    'ts.date("x")': "date(): days must be a number",
    "ts.text(3)": "text(): ratio must be text, found 3",
    'ts.text("levenstein")': 'Did you mean "levenshtein"?',
    "ts.overlap(3)": "overlap(): kind must be text",
    'ts.optional("x")': "optional() needs a similarity such as exact or text(...), found 'x'",
    'ts.optional(ts.exact, empty="x")': "optional(): empty must be True or False",
    'ts.subset("x")': "subset() needs a similarity",
    'ts.subset(ts.exact, side="left")': "subset(): side must be reference or predicted, found 'left'",
    'ts.subset(ts.exact, side="predict")': 'Did you mean "predicted"?',
    'ts.any_of(ts.exact, side="ref")': "any_of(): side must be reference or predicted",
    'ts.above(ts.exact, "x")': "above(): threshold must be a number",
    'ts.at_least("x", .5)': "at_least() needs a similarity",
    'ts.weighted(ts.exact, "x")': "weighted(): weight must be a number",
    "ts.weighted(ts.exact, float('inf'))": "needs a weight above 0, found inf",
    "ts.weigh(ts.exact, 3)": "weigh() needs a mapping such as {key: value}, found 3",
    'ts.weigh(ts.exact, {"a": "b"})': "weigh() needs weights of 0 or more, found 'a': 'b'",
    "ts.keyed(ts.exact, 3)": "keyed(): by must be texts",
    "ts.aliases(3)": "aliases() needs a mapping",
    'ts.aliases({"a": ["b"]})': "aliases(): 'a': ['b'] cannot be used in a table",
    'ts.aliases({"a": "b"}, "x")': "aliases() needs a similarity",
    'ts.cases(str="x")': "cases(): str needs a similarity",
    'ts.let("a", "x")': "let() needs a similarity",
    "ts.let(3, ts.exact)": "let() needs a name such as Tree, found 3",
    "ts.ref(3)": "ref() needs a name",
    "ts.subtypes(3)": "a hierarchy is {child: parent}, found 3",
    'ts.subtypes({"a": "b"}, credit="x")': "subtypes(): credit must be a number",
    "ts.levels(3)": "levels(): separator must be text",
    "ts.supertypes(3)": "a hierarchy is {child: parent}",
    "ts.judgements(3)": "judgements() needs a mapping",
    "ts.via(3, ts.exact)": "via() needs a function to map values with, found 3",
    'ts.via(str, "x")': "via() needs a similarity",
    'ts.links("x")': "links() needs a similarity",
    'ts.best("x")': "best() needs a similarity",
    'ts.f(ts.exact, "x")': "f(): beta must be a number",
    'ts.sides("x", ts.exact)': "sides() needs a similarity",
    'ts.match(ts.exact, distinct="x")': "match(): distinct must be True or False",
    'ts.latent(ts.exact, limit="x")': "limit must be seconds",
    "ts.by_key(3)": "by_key() needs the names of fields",
    'ts.matched("x")': "matched(): unknown constraint 'x'; expected one of 1:1",
    'ts.choose("x")': "choose() needs a similarity",
    'ts.choose(collect="x")': "collect must be ordered, distinct",
    "ts.choose(aliases=3)": "choose(aliases=...) needs a mapping",
    'ts.choose(any_of="yes")': "any_of must be true or false",
    "ts.derive(list[int], 3)": "choices are by path",
    "ts.parse(3)": "expected an expression such as f1(match(exact)), found 3",
    'ts.parse("")': "the expression is empty",
    'ts.parse("f1(" * 5000)': "nested more than 100 deep",
    'ts.parse("number(" + "9" * 5000 + ")")': "a number that is out of range",
    r'ts.parse("text(\"\\ud\")")': "must be written as in JSON",
    r'ts.parse("number(absolute=\"x\")")': "absolute must be a number",
    'ts.parse("optional(3)")': "optional() needs a similarity",
    'ts.parse("let(3, exact)")': "let() needs a name",
    'ts.parse("via(no.such:thing, exact)", functions=True)': "cannot find no.such:thing",
    'ts.parse("via(os:system, exact)")': "functions such as os:system are not allowed here",
    'ts.parse("via(os:system, exact)", functions={"os:systen": print})': 'Did you mean "os:systen"?',
    'ts.evaluate("", [1], [1])': "the expression is empty",
    "ts.ranked(ts.exact, at=0.5)": "ranked(): at needs a list of thresholds above 0, found 0.5",
    "ts.ranked(ts.exact, at=[10**400])": "ranked(): at needs a list of thresholds above 0, found (1000",
    "ts.ranked(ts.exact, within=5)": "ranked(): within needs a mapping such as {key: value}, found 5",
    "ts.ranked(ts.exact, within=[1, 2])": "ranked(): within needs a mapping such as {key: value}, found [1, 2]",
    "ts.ranked(ts.exact, within={'area': [None, 5]})": "needs a lowest and a highest value of area, found (None, 5)",
    "ts.ranked(ts.exact, within={'area': ['a', 'b']})": "needs a lowest and a highest value of area, found ('a', 'b')",
    "ts.ranked(ts.exact, within={'area': [0, 10**400]})": "needs a lowest and a highest value of area, found (0, 1000",
    "ts.ranked(ts.exact, within={5: [0, 1]})": "ranked(): within needs names of fields, found 5",
    "ts.ranked(ts.exact, most=True)": "ranked(): most must be 0 or more, found True",
}


@pytest.mark.parametrize("code", BAD)
def test_what_is_wrong_is_said(code):
    with pytest.raises(MetricError) as error:
        eval(code)
    assert BAD[code] in str(error.value)


def test_a_long_expression_is_shown_around_its_error_only():
    with pytest.raises(MetricError) as error:
        ts.parse("f1(" * 200 + "nothing" + ")" * 200)
    assert max(map(len, str(error.value).splitlines())) < 250


def test_functions_can_be_given_and_then_nothing_is_imported():
    metric = ts.parse("via(somewhere:lower, exact)", functions={"somewhere:lower": str.lower})
    assert metric == ts.via(str.lower, ts.exact)
    assert ts.parse("via(builtins:str.lower, exact)", functions=True) == metric


def test_whole_numbers_are_numbers():
    assert ts.number(1) == ts.number(1.0)
    assert str(ts.number(1)) == "number(absolute=1.0)"
    assert ts.number(math.inf).absolute == math.inf
    assert ts.parse("number(1E3)") == ts.number(1000)


@pytest.mark.parametrize(
    "option", [["--metric", ""], ["--fail-under", "f1=nan"], ["--fail-under", "f1=x"], ["--time-limit", "nan"]]
)
def test_the_command_line_refuses_what_means_nothing(tmp_path, option):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 1, "a": 1}) + "\n")
    done = run("score", "records", "a.jsonl", "a.jsonl", *option, code=2, cwd=tmp_path)
    expected = (
        "--metric: found an empty text; expected EXPRESSION",
        "--fail-under expects FIGURE=VALUE",
        "'--time-limit': nan is not a number",
    )
    assert any(one in done.stderr for one in expected)


@pytest.mark.parametrize("task", ["records", "spans", "coreference"])
def test_a_file_without_a_name(tmp_path, task):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 1, "a": 1}) + "\n")
    for files, name in ((["a.jsonl", ""], "PREDICTED"), (["", "a.jsonl"], "REFERENCE")):
        done = run("score", task, *files, code=2, cwd=tmp_path)
        assert f"{name}: found an empty text; expected FILE" in done.stderr


def test_no_command_takes_a_time_limit_that_is_no_number(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 1, "a": 1}) + "\n")
    done = run("compare", "records", "a.jsonl", "A=a.jsonl", "B=a.jsonl", "--time-limit", "nan", code=2, cwd=tmp_path)
    assert "'--time-limit': nan is not a number" in done.stderr
    with pytest.raises(MetricError, match="time_limit: expected a number above 0, found nan"):
        ts.records([{"a": 1}], [{"a": 1}], time_limit=math.nan)


def test_an_executor_is_something_that_work_can_be_given_to():
    with pytest.raises(MetricError, match=r"executor: expected one of concurrent\.futures or of Dask, found 2"):
        ts.evaluate(ts.f1(ts.match(ts.exact)), [["a"]], [["b"]], executor=2)

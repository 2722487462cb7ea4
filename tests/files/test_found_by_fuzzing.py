"""What fuzzing found, each with the smallest input that shows it. Every one of them was another exception, or no error at all."""

import subprocess
from pathlib import Path

import pytest

import tallystick as ts
from fuzzing.seeds import QUESTION
from fuzzing.targets import TARGETS
from fuzzing.trying import Attempts
from robustness.reading import outcome
from running import PATIENCE, TALLYSTICK
from tallystick.errors import TallystickError
from tallystick.results.selection import kendall

DEEP = b"[" * 300 + b"]" * 300
SCHEMA = b'{"type": "object", "properties": {"a": %s}}'
HUGE = b"9" * 400
GRAPH = b'{"id": "s", "variables": %s, "triples": [["a", "REF", "b"]]}'

FOUND = [
    # JSON Schema
    ("schema", b"\n", "is not JSON: ends too early"),
    ("schema", b'{"allOf": [3]}', "expected a schema"),
    ("schema", b'{"allOf": 3}', "/allOf: expected a list of schemas"),
    ("schema", b'{"allOf": [{"properties": 3}]}', "/properties: expected an object of schemas"),
    ("schema", b'{"allOf": [{"$ref": 3}]}', "lies outside of this file"),
    ("schema", b'{"allOf": [{"$ref": [1]}]}', "lies outside of this file"),
    ("schema", b'{"allOf": [{"$ref": "#/a"}], "a": 3}', "expected a schema there, found 3"),
    ("schema", b'{"allOf": [{"$ref": "#"}]}', "refers to itself"),
    ("schema", SCHEMA % b'{"type": []}', "/type: is an empty list"),
    ("schema", SCHEMA % b'{"type": {}}', "unknown type {}"),
    ("schema", b'{"properties": {"a": {"type": "string"}}, "required": [[]]}', "/required: expected a list of names"),
    ("schema", SCHEMA % b'{"type": "string", "x-tallystick": {"weight": %s}}' % HUGE, "a weight must be above 0"),
    ("schema", b'{"properties": {"\\ud800": 1}}', "surrogate"),
    ("schema", SCHEMA % DEEP, "expected a schema"),
    ("schema", b'{"type": "object", "properties": {"a":' * 300 + b"1" + b"}}" * 300, "is nested too deeply"),
    ("schema", b'{"allOf": [{"$ref": "#/a"}, {"$ref": "#/a"}], "a": {"allOf": [{"$ref": "#/b"}, {"$ref": "#/b"}]}, "b": {"allOf": ['
     + b", ".join([b'{"$ref": "#/c"}'] * 200) + b']}, "c": {"allOf": [' + b", ".join([b'{"properties": {}}'] * 200) + b"]}}",
     "has more than 100,000 parts"),
    # choices
    ("choices", b"a: \x07", "is not YAML: the character"),
    ("choices", b"lines: {key: [[]]}", "key: expected the name of a field"),
    ("choices", b"a: &a [*a]", "an alias contains itself"),
    ("choices", b"a: &a [1, 1]\n" + b"".join(b"%c: &%c [*%c, *%c, *%c, *%c]\n" % ((k + 1,) * 2 + (k,) * 4) for k in range(97, 107)),
     "has more than 100,000 values"),
    ("choices", b"a: 2020-99-99", "is not YAML: month must be in 1..12"),
    ("choices", b"[" * 2000, "is nested too deeply"),
    # expressions
    ("expression", b'text("\x01")', "a text must be written as in JSON"),
    ("expression", b'each("\x01"=exact)', "a text must be written as in JSON"),
    ("expression", b'text("\\ud800")', "a text must be written as in JSON"),
    ("expression", b"1E999", "is not a metric"),
    ("expression", b"9" * 5000, "out of range"),
    ("expression", b"f(match(exact), beta=" + HUGE + b")", "f(): beta must be a number"),
    ("expression", b"date(" + HUGE + b")", "must be a number"),
    ("expression", b'number("x")', "number(): absolute must be a number"),
    ("expression", b'weighted(exact, "x")', "weighted(): weight must be a number"),
    ("expression", b'subtypes("x")', "a hierarchy is {child: parent}"),
    ("expression", b"aliases(exact)", "aliases() needs a mapping such as {key: value}"),
    ("expression", b"cases(str=1)", "cases(): str needs a similarity"),
    ("expression", b"{" * 1000, "nested more than 100 deep"),
    ("expression", b"date(0)", "read"),
    ("schema", b'{"type":"object","properties":{"a":{"type":"string","x-tallystick":{"text":[1,2]}}}}', "must be text"),
    # records
    ("records-lenient", b'{"id": "inv-001", "output": "\xff"}', "is not UTF-8"),
    ("records", b'[{"a":' * 200 + b"1" + b"}]" * 200, "is nested too deeply"),
    ("records", DEEP, "nested"),
    ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xff\xff", "is not a complete gzip file"),
    # figures
    ("figures", b"system,metric,value\na\rb,c,1\n", "expected 3 cells, as the first line has, found 1"),
    ("figures", b"system,metric,value\n" + b"a" * 140_000 + b',b,"1\n', "is no table: unexpected end of data"),
    ("figures", b"system,metric,value\na,b,nan\n", "expected a number under value, found 'nan'"),
    ("figures", b",".join(b"%d" % k for k in range(3000)), 'found "0", "1", "2", "3", "4" and 2,995 more'),
    # graphs
    ("triples", GRAPH % b"3", '"variables" is 3; expected a list of names'),
    ("triples", b"[" * 3000, "expected"),
    # columns and brackets
    ("coreference-conll", b"#begin document x\n0\t(1\r2)\n1\t(1\n#end document\n", "closes a mention never opened"),
    ("spans-columns", b"a O\nb B-\xff" + b"\xfe" * 900 + b"\n", "byte 0xff is not UTF-8"),
    # a document without any text
    ("spans-columns", b"-DOCSTART- O\n\n-DOCSTART- O\n\nb B-PER\n", "read"),
    # spans beyond every text
    ("relations-brat", b"T1\tPER 0 " + HUGE + b"\tx\nR1\tr Arg1:T1 Arg2:T1\n", "expected offsets from 0 on and below 2,147,483,648"),
    ("relations", b'{"id": "d", "relations": [{"type": "r", "subj": [0, %s], "obj": [0, 1]}]}' % HUGE, "expected offsets below"),
    # judges and parses
    ("parses", b"# newdoc id = d\n", "the document 'd' has no sentences"),
    ("judgements", b'{"candidate": "x", "references": [], "candidate_span": []}', "not a question or a judgement"),
    ("label-studio", b'[{"data": {"key": "%s"}, "annotations": [3]}]' % QUESTION.key.encode(), "not a Label Studio annotation"),
    # other kinds of value
    ("muc4", b"0.  MESSAGE: ID  A\n1.  MESSAGE: TEMPLATE  1\n2.  INCIDENT: DATE  %s OCT 89\n4.  INCIDENT: TYPE  ATTACK\n" % HUGE, "read"),
    ("docred-training", b'[["a", "b", "c", "d"]]', "read"),
    ("events-textee", b'{"doc_id": "d", "wnd_id": "d", "trigger": [5, 6, ""], "arguments": []}', "expected a type, found"),
    ("hierarchies-jsonl", b'{"id": "a", "events": [{"id": "E1", "span": 0.5}]}', "expected a span [start, end]"),
    ("hierarchies-jsonl", b'{"id": "a", "events": [{"id": "E1", "span": [0, 1]}, {"id": "E2", "span": [0, 1]}]}', "two events have the span"),
    ("expression", b"let(e, 1)", "let() needs a similarity"),
    ("expression", b'levels("")', "expected a text between the levels"),
    ("events-brat", b"E1\t:T3\nE2\tD:T3\nT3\tDie 8 9\ty\n", "expected `Type:T1 Role:T2 ...`, found ':T3'"),
    ("propositions", b"- (who*\n- *)\nMeet (V*)\n#begin document (d)\n", ":4: expected a predicate or -"),
    ("spans-others", b'[{"id": 1, "data": {"text": "Ada"}, "annotations": [[]]}]', "annotations[0]: expected an object"),
    ("spans-others", b'[{"id": 1, "data": {"text": "Ada"}, "annotations": [{"result": [{"to_name": {}, "type": "labels"}]}]}]', "to_name: expected text, found {}"),
    ("spans-others", b'[{"id": 1, "data": {"text": "Ada"}, "annotations": []}, {"id": 1, "data": {"text": "Ada"}, "annotations": [{"result": []}]}]',
     "holds only documents that"),
    ("arguments", b"1\x0b\n{}", "after the value"),
    ("calls", b'{"id": "a", "response": [{"type": [[]], "name": "f", "input": {}}]}', "read"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "message"), FOUND, ids=lambda value: str(value)[:40])
def test_what_fuzzing_found_stays_mended(name, data, message, tmp_path, capsys):
    assert message in outcome(TARGETS[name], data, tmp_path)
    attempts = Attempts(TARGETS[name])
    try:
        assert attempts.attempt(data) is None
    finally:
        attempts.close()


def test_a_line_is_what_ends_with_a_newline(tmp_path, capsys):
    """Other characters that Python calls line ends may stand inside a text."""
    annotation = "T1\tPER 0 5\ta\u2028b\x85c\x0bd\nR1\tr Arg1:T1 Arg2:T1\n".encode()
    assert outcome(TARGETS["relations-brat"], annotation, tmp_path) == "read"
    graph = '{"id": "s\u2028", "triples": [["a", "instance", "b\u2028"]]}\n'.encode()
    assert outcome(TARGETS["triples"], graph, tmp_path) == "read"
    assert outcome(TARGETS["parents"], "a\u2028b\tc\x85d\n".encode(), tmp_path) == "read"


def test_two_systems_without_a_figure_are_tied():
    """-inf stands for an undefined figure, and -inf - -inf is no number."""
    assert kendall([float("-inf"), float("-inf"), 1.0], [float("-inf"), 0.5, 1.0]) == pytest.approx(2 / 6**0.5)


@pytest.mark.parametrize(
    "name", ["contradicting.parquet", "sizes.parquet", "types.parquet", "dictionary.parquet", "name.arrow"]
)
@pytest.mark.parametrize("task", ["spans", "records"])
def test_a_damaged_parquet_or_arrow_file_is_an_error_and_not_the_end_of_the_process(name, task):
    pytest.importorskip("pyarrow")
    file = Path(__file__).parent / "found" / name
    command = [*TALLYSTICK, "score", task, file, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode in (0, 2)  # earlier versions of pyarrow do not look at all of what is wrong
    assert done.returncode == 0 or done.stderr.startswith(f"Error: {file}")


@pytest.mark.parametrize(
    "metric",
    [
        "let(e, e)",
        "let(e, optional(e))",
        "let(e, weighted(e, 2.0))",
        "f1(match(let(e, any_of(e))))",
        "let(e, let(g, e))",
        "let(e, cases(str=exact, dict=e))",
        "f1(let(e, scoped(e)))",
    ],
)
def test_a_similarity_inside_itself_without_anything_between_is_an_error(metric):
    with pytest.raises(TallystickError, match="e is inside e without a field or a list between them"):
        ts.evaluate(metric, [["x"]], [["x"]])

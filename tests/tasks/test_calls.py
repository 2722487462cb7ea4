"""Tool calls, as every log has them, and as BFCL checks them."""

import itertools
import json
import random
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tallystick as ts
from benchmarks import calls as made
from benchmarks import damage
from running import run
from tallystick.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "examples"
PAGE = (Path(__file__).parents[2] / "docs" / "calls.md").read_text(encoding="utf-8")
MCP = ["--id", "session", "--reference-id", "id"]


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def figures(results):
    return {name: result.figures for name, result in results.items()}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    made.write(folder / "logs")
    return folder


@pytest.mark.parametrize("file", ["openai.jsonl", "anthropic.jsonl", "mcp.jsonl"])
def test_500_logs_in_three_formats_are_one_command_each(logs, file):
    options = MCP if file == "mcp.jsonl" else []
    done = run(
        "score",
        "calls",
        "logs/gold.jsonl",
        f"logs/{file}",
        *options,
        "--tools",
        "logs/tools.json",
        "--format",
        "markdown",
        cwd=logs,
    )
    assert done.stdout.strip() in PAGE
    plain = json.loads(
        run("score", "calls", "logs/gold.jsonl", f"logs/{file}", *options, "--format", "json", cwd=logs).stdout
    )
    assert plain["metrics"]["arguments"]["f1"] == ts.calls(*made.generate())["arguments"].f1
    hallucinated = {row["function"] for row in plain["functions"] if row["hallucinated"]}
    assert hallucinated == {"get_wether"}


def test_the_page_says_what_the_commands_print(logs):
    commands = re.findall(r"^\$ tallystick (.*calls\.gold.*)$", PAGE, re.M)
    assert commands
    for command in commands:
        assert run(*command.split(), cwd=EXAMPLES).stdout.strip() in PAGE
    code = next(one for one in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "ts.calls" in one)
    *before, last = code.strip().splitlines()
    names = {}
    exec("\n".join(before), names)
    expression, expected = last.split("  # ")
    assert eval(expression, names) == eval(expected)


@pytest.mark.parametrize("file", ["calls.anthropic.jsonl", "calls.mcp.jsonl"])
def test_the_example_is_the_same_in_every_format(file):
    options = {"id": "session", "reference_id": "id"} if "mcp" in file else {}
    assert figures(ts.calls(EXAMPLES / "calls.gold.jsonl", EXAMPLES / file, **options)) == figures(
        ts.calls(EXAMPLES / "calls.gold.jsonl", EXAMPLES / "calls.openai.jsonl")
    )


ONE = call("f", x=1, y=["a", "b"])
WRITTEN = {
    "plain": [ONE],
    "one": {"calls": [ONE]},
    "args": [{"name": "f", "args": ONE["arguments"], "type": "tool_call", "id": "1"}],
    "legacy": {"role": "assistant", "function_call": {"name": "f", "arguments": json.dumps(ONE["arguments"])}},
    "responses": {"output": [{"type": "reasoning"}, {"type": "function_call", "name": "f", "arguments": json.dumps(ONE["arguments"])}]},
    "openai": made.openai([ONE]),
    "anthropic": made.anthropic([ONE]),
    "mcp": made.mcp([ONE]),
    "gemini": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": ONE["arguments"]}}]}}]},
    "bfcl": [{"f": ONE["arguments"]}],
    "python": "[f(x=1, y=['a', 'b'])]",
    "tags": f"I will.\n<tool_call>\n{json.dumps(ONE)}\n</tool_call>",
    "fence": f"```json\n{json.dumps(ONE)}\n```",
    "in the content": {"choices": [{"message": {"content": f"<tool_call>{json.dumps(ONE)}</tool_call>"}}]},
    "with a conversation": {"request": {"messages": [made.openai([call("g")])]}, "response": made.openai([ONE])},
    "with tools": {"tools": [{"type": "function", "function": tool} for tool in made.TOOLS], **made.openai([ONE])},
    "with answers": [
        made.openai([ONE]), {"role": "tool", "content": "ok", "name": "f", "arguments": {}},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"name": "g", "arguments": {}}]}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", WRITTEN)
def test_a_call_is_found_however_it_is_written(way):
    found = ts.calls({"a": [ONE], "b": []}, {"a": WRITTEN[way], "b": "I would rather not."})
    assert found["calls"].exact == 1, way


def test_calls_without_arguments():
    empty = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "now"}}
    for predicted in (
        [call("now")],
        empty,
        {"function_call": {"name": "now", "arguments": ""}},
        [{"name": "now", "arguments": None}],
    ):
        assert ts.calls([[call("now")]], [predicted])["calls"].f1 == 1
    assert ts.calls([[]], [[]])["calls"].exact == 1
    assert ts.calls([[]], [[call("now")]])["calls"].precision == 0


def test_what_a_call_is_worth():
    gold = [[call("f", x=1, y=2), call("f", x=3, y=4)]]
    found = ts.calls(gold, [[call("f", x=3, y=4), call("f", x=1, y=5)]])
    assert found["arguments"].f1 == pytest.approx(5 / 6)
    assert found["calls"].f1 == 0.5
    assert found["names"].f1 == 1
    assert (
        ts.calls(gold, [[call("g", x=1, y=2), call("f", x=3, y=4)]])["arguments"].f1 == 0.5
    )  # nothing for the wrong function
    assert ts.calls(gold, [gold[0][::-1]])["calls"].exact == 1
    assert ts.calls(gold, [gold[0][::-1]], ordered=True)["calls"].f1 == 0.5


def test_nothing_that_was_called_is_free():
    gold = [[call("f", x=1)]]
    for extra in (call("f", x=1, z=2), call("f", x=1, z={"a": [1]}), call("f", x=1, z="")):
        found = ts.calls(gold, [[extra]])
        assert found["calls"].exact == 0, extra
        assert found["arguments"].precision == pytest.approx(2 / 3)
    nested = [[call("f", x={"a": 1})]]
    assert ts.calls(nested, [[call("f", x={"a": 1, "b": 2})]])["calls"].exact == 0
    assert ts.calls(gold, [[call("f", x=1), call("f", x=1)]])["calls"].exact == 0
    assert ts.calls(gold, [[{"name": "f", "arguments": "x equals one"}]])["arguments"].precision == 0.5
    broken = ts.calls(gold, [[{"name": "f", "arguments": '{"x": 1,'}]])
    assert broken["calls"].exact == 1
    assert any("repaired the text of 1 call" in one for one in broken.warnings)
    assert ts.calls(gold, [[call("f", x="1")]])["calls"].f1 == 0


def test_a_default_may_be_left_out_or_given():
    tools = json.loads((EXAMPLES / "calls.tools.json").read_text())
    with_it, without = [[call("get_weather", city="Oslo", unit="C")]], [[call("get_weather", city="Oslo")]]
    for sides in itertools.product((with_it, without), repeat=2):
        assert ts.calls(*sides, tools=tools)["calls"].exact == 1
        assert ts.calls(*sides, tools=tools)["arguments"].tally["den_p"] == 2  # and earns nothing
    assert ts.calls(with_it, without)["calls"].exact == 0
    described = [{"name": tool["function"]["name"], "input_schema": tool["function"]["parameters"]} for tool in tools]
    assert ts.calls(with_it, without, tools=described)["calls"].exact == 1
    listed = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": one["name"], "inputSchema": one["input_schema"]} for one in described]},
    }
    assert ts.calls(with_it, without, tools=listed)["calls"].exact == 1


def test_choices_by_path():
    gold, predicted = [[call("f", city="Oslo", to=["a", "b"])]], [[call("f", city="OSLO", to=["b", "a"])]]
    assert ts.calls(gold, predicted)["calls"].f1 == 0
    choices = {"calls[*].arguments.city": {"text": ["equal", "casefold"]}, "calls[*].arguments.to": "bag"}
    assert ts.calls(gold, predicted, choices=choices)["calls"].f1 == 1


def test_explain_by_label_and_compare():
    files = EXAMPLES / "calls.gold.jsonl", EXAMPLES / "calls.openai.jsonl"
    assert "web_search" in run("explain", "calls", *files, "--document", "art").stdout
    rows = run("score", "calls", *files, "--by", "label").stdout
    assert "web_search\tnames\t0.0\t\t0.0\t0" in rows
    assert "calls[*].arguments.to[*]" in run("score", "calls", *files, "--by", "field").stdout
    run("compare", "calls", files[0], f"A={files[1]}", f"B={EXAMPLES / 'calls.anthropic.jsonl'}")


# BFCL's check of abstract syntax trees, from its description: a plain program over possible answers.


def standard(value):
    if isinstance(value, str):
        return re.sub(r"[ \,\.\/\-\_\*\^]", "", value).lower().replace("'", '"')
    return [standard(one) for one in value] if isinstance(value, list) else value


def value_is_possible(value, options):
    for option in options:
        if isinstance(option, dict):
            inside = isinstance(value, dict) and value.keys() <= option.keys()
            rest = [
                inside and value_is_possible(value[key], option[key]) if inside and key in value else "" in option[key]
                for key in option
            ]
            if inside and all(rest):
                return True
        elif not isinstance(value, dict) and standard(value) == standard(option):
            return True
    return False


def call_is_possible(predicted, possible):
    (name, parameters), = possible.items()  # fmt: skip
    (called, arguments), = predicted.items()  # fmt: skip
    if called != name or not arguments.keys() <= parameters.keys():
        return False
    return all(
        value_is_possible(arguments[key], options) if key in arguments else "" in options
        for key, options in parameters.items()
    )


def greedy(predicted, possible):
    """As the leaderboard pairs parallel calls."""
    if len(predicted) != len(possible):
        return False
    left = list(predicted)
    for one in possible:
        found = next((call for call in left if call_is_possible(call, one)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def some_order(predicted, possible):
    return len(predicted) == len(possible) and any(
        all(map(call_is_possible, order, possible)) for order in itertools.permutations(predicted)
    )


OPTIONS = {
    "city": [["Oslo", "Oslo, Norway"], ["Rome"], ["New York", "NYC", ""]],
    "days": [[3], [3, 5], [7, ""]],
    "exact": [[True], [False, ""]],
    "tags": [[["a", "b"]], [["b"], ["a"]], [["x y"], ""]],
    "place": [[{"lat": [1.5], "lon": [2, 3]}], [{"lat": [1.5, 2.5], "name": ["Home", ""]}, ""]],
}


def some_value(options, rng):
    value = rng.choice([one for one in options if one != ""])
    if isinstance(value, dict):
        return {key: some_value(inner, rng) for key, inner in value.items() if "" not in inner or rng.random() < 0.5}
    if isinstance(value, str) and rng.random() < 0.3:
        return rng.choice([value.upper(), value.replace(" ", "-"), value + "."])
    return value


def bfcl_case(rng):
    possible, predicted = [], []
    for _ in range(rng.choice([1, 1, 2, 3])):
        parameters = {name: rng.choice(OPTIONS[name]) for name in rng.sample(sorted(OPTIONS), rng.randint(1, 3))}
        name = rng.choice(["f", "m.g"])
        possible.append({name: parameters})
        arguments = {
            key: some_value(options, rng)
            for key, options in parameters.items()
            if "" not in options or rng.random() < 0.5
        }
        predicted.append({name: arguments})
    rng.shuffle(predicted)
    if rng.random() < 0.5:
        one = rng.choice(predicted)
        name, arguments = next(iter(one.items()))
        damage = rng.choice(["drop", "wrong", "extra", "name", "less", "more", "kind", "nested"])
        if damage == "drop" and arguments:
            del arguments[rng.choice(sorted(arguments))]
        elif damage == "wrong" and arguments:
            arguments[rng.choice(sorted(arguments))] = rng.choice(["Paris", 99, ["q"], {"lat": 9.5}])
        elif damage == "extra":
            arguments["invented"] = 1
        elif damage == "name":
            one["h"] = one.pop(name)
        elif damage == "less":
            predicted.remove(one)
        elif damage == "more":
            predicted.append(json.loads(json.dumps(one)))
        elif damage == "kind" and "days" in arguments:
            arguments["days"] = str(arguments["days"])
        elif damage == "nested" and isinstance(arguments.get("place"), dict):
            arguments["place"]["zip"] = "1"
    return possible, predicted


def test_a_log_is_exact_where_bfcl_says_correct():
    rng = random.Random(11)
    cases = [bfcl_case(rng) for _ in range(3000)]
    gold = [{"id": f"c{k}", "ground_truth": possible} for k, (possible, _) in enumerate(cases)]
    system = [{"id": f"c{k}", "result": predicted} for k, (_, predicted) in enumerate(cases)]
    result = ts.calls(gold, system, strings="bfcl")["calls"]
    exact = {name: figures["precision"] == figures["recall"] == 1 for name, figures in result.documents.items()}
    wrong = [case for k, case in enumerate(cases) if exact[f"c{k}"] != some_order(*case[::-1])]
    assert wrong == []
    correct = sum(greedy(predicted, possible) for possible, predicted in cases)
    assert 0.3 * len(cases) < correct < 0.8 * len(cases)
    assert all(exact[f"c{k}"] for k, (possible, predicted) in enumerate(cases) if greedy(predicted, possible))


def test_words_are_no_calls_and_a_reference_has_to_be_one():
    gold = [[call("f", x=1)], []]
    found = ts.calls(gold, [[call("f", x=1)], "Nothing to do here."])
    assert found["calls"].exact == 1
    assert any("predicted: 1 log with only words, which call nothing" in one for one in found.warnings)
    nothing = ts.calls(gold, [{"output": {"text": "f(x=1)"}}, {}])
    assert nothing["calls"].recall == 0
    assert any("no call was found in any log" in one for one in nothing.warnings)
    with pytest.raises(
        ts.TallystickError, match=r"reference:1: is text without a call, .*; a log without calls is \[\]"
    ):
        ts.calls(["not json"], [[]])


def test_whatever_a_model_writes_as_arguments_or_as_a_log_is_scored():
    pairs = list(damage.damaged(2 * len(damage.KINDS)))
    gold = [[{"name": "f", "arguments": document}] for _, document, _ in pairs]
    texts = [damage.as_text(text) for _, _, text in pairs]
    for written in (
        [[{"name": "f", "arguments": text}] for text in texts],
        [f"<tool_call>{{'name': 'f', 'arguments': {text}}}</tool_call>" for text in texts],
        texts,
        [
            made.openai([{"name": "f", "arguments": json.loads(text)}]) if text[:1] == "{" and is_json(text) else text
            for text in texts
        ],
    ):
        found = ts.calls(gold, written)
        assert 0 <= found["arguments"].f1 < 1
        assert 0 <= found["calls"].f1 <= found["names"].f1 <= 1
    right = ts.calls(gold, [[{"name": "f", "arguments": text}] for text in texts])
    for k, (kind, _, _) in enumerate(pairs):
        if kind in ("as it is", "indented", "trailing comma"):
            assert right["calls"].documents[k + 1]["f1"] == 1, kind
        if kind in damage.JUNK:
            assert right["calls"].documents[k + 1]["f1"] == 0, kind


def is_json(text):
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@pytest.mark.parametrize(
    "written",
    [{"name": "w"}, {"name": "w", "arguments": [1, 2]}, {"name": None, "arguments": {}}, {"name": 5, "arguments": {}}],
)
def test_a_call_that_is_written_badly_is_a_call(written):
    """Left out, it would be free."""
    right = call("s", q="x")
    for predicted in (
        [right, written],
        f"<tool_call>{json.dumps(right)}</tool_call><tool_call>{json.dumps(written)}</tool_call>",
    ):
        found = ts.calls([[right]], [predicted])
        assert (found["names"].precision, found["calls"].precision, found["calls"].exact) == (0.5, 0.5, 0)
        assert found["arguments"].precision < 1


def test_a_request_that_failed_called_nothing():
    logs = [{"id": "a", "response": [call("s", q="x")]}, {"id": "b", "error": 500}]
    gold = [{"id": "a", "calls": [call("s", q="x")]}, {"id": "b", "calls": [call("s", q="y")]}]
    assert ts.calls(gold, logs, from_="response")["names"].recall == 0.5


def test_figures_by_field_of_whole_calls_show_which_argument_differs():
    gold = [[call("book", city="Oslo", nights=3)], [call("book", city="Rome", nights=1)]]
    predicted = [[call("book", city="Oslo", nights="3")], [call("book", city="Rome", nights=1)]]
    result = ts.calls(gold, predicted, "calls")["calls"]
    assert result.f1 == 0.5
    rows = {row.path: (row.wrong, row.missing, row.extra) for row in result.by_field()}
    assert rows["calls[*].arguments.nights"] == (1, 0, 0)
    assert rows["calls[*].arguments.city"] == rows["calls[*].name"] == (0, 0, 0)


def test_errors_tell_a_text_from_a_number():
    (mistake,) = ts.calls([[call("book", nights=3)]], [[call("book", nights="3")]]).errors().mistakes
    assert (mistake.reference, mistake.predicted) == ("nights=3", "nights='3'")


@pytest.mark.parametrize(
    "written",
    [
        {"choices": [{"message": {"tool_calls": [{"type": "function", "id": "1", "function": {"name": "w"}}]}}]},
        {"output": [{"type": "function_call", "name": "w"}]},
        {"output": [{"type": "function_call", "arguments": "{}"}]},
        {"content": [{"type": "tool_use", "input": {"a": 1}}]},
        {"functionCall": {"args": {"a": 1}}},
        {"jsonrpc": "2.0", "method": "tools/call"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"arguments": {"a": 1}}},
        {"result": [{"w": None}]},
        {"result": [{"w": '{"a": 1}'}]},
        {"name": "", "arguments": {}},
        "[w('x')]",
        "w('x')",
        "[w(**more)]",
        "[w(a=other)]",
        "[w(a=1j)]",
        "[w(a=...)]",
        "<tool_call>rm -rf</tool_call>",
        '<tool_call>{"nam": 3}</tool_call>',
    ],
)
def test_what_its_log_says_is_a_call_is_one(written):
    """Left out, it would be free where nothing should be called; and none of it ends the evaluation."""
    found = ts.calls([[], [call("f", a=1)]], [written, [call("f", a=1)]])
    assert (found["names"].precision, found["calls"].precision, found["calls"].exact) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "written", ["[f(a=1), w('x')]", "[f(a=1), w(b=c)]", [call("f", a=1), {"type": "tool_use", "input": {}}]]
)
def test_one_bad_call_spoils_only_itself(written):
    found = ts.calls([[call("f", a=1)]], [written])
    assert (found["calls"].precision, found["calls"].recall) == (0.5, 1)


@pytest.mark.parametrize("written", ["f(a=1, a=2)", "f(a=x)", "f(2)"])
def test_an_argument_that_cannot_be_read_is_wrong(written):
    for value in (2, "x"):
        found = ts.calls([[call("f", a=value)]], [written])
        assert (found["names"].f1, found["calls"].f1) == (1, 0)


def test_python_calls_may_nest_tuples():
    assert ts.calls([[call("f", a=[[1, 2]])]], ["[f(a=[(1, 2)])]"])["calls"].f1 == 1


def test_words_and_what_was_asked_are_no_calls():
    choice = {"tool_choice": {"type": "function", "function": {"name": "f"}}, "functionCall": None, "output": []}
    assert ts.calls([[], []], ["Done (finished)", choice])["calls"].exact == 1


def test_arguments_too_deep_to_read_are_wrong():
    deep = 1
    for _ in range(900):
        deep = [deep]
    found = ts.calls([[call("f", a=1)]], [[call("f", a=deep)]])
    assert (found["names"].f1, found["calls"].f1) == (1, 0)


@pytest.mark.parametrize(("usual", "given"), [(1, True), (0, False), ([1], [True]), (False, 0)])
def test_a_default_of_another_kind_is_no_default(usual, given):
    tools = [{"name": "f", "parameters": {"properties": {"n": {"default": usual}}}}]
    found = ts.calls([[call("f", x=1)]], [[call("f", x=1, n=given)]], tools=tools)
    assert found["calls"].f1 == 0
    assert ts.calls([[call("f", x=1)]], [[call("f", x=1, n=usual)]], tools=tools)["calls"].f1 == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            [call("f", x=1), {"name": "f", "arguments": [1, 2]}],
            r"arguments of f that cannot be read.*expected an object",
        ),
        ([{"name": "", "arguments": {}}], r'a call of \("" for a name\); expected the name of a function'),
        ({"ground_truth": [{"f": {"x": []}}]}, r"no possible value of x in f; expected one or more"),
    ],
)
def test_a_reference_that_cannot_be_read_is_an_error(wrong, said):
    """Its unreadable arguments would otherwise match any others."""
    with pytest.raises(ts.TallystickError, match=rf"reference:2: found {said}"):
        ts.calls([[], wrong], [[], [call("f", x=1)]])


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([{"name": "f", "parameters": {"properties": [1]}}], "expected a tool with a name"),
        ([{"name": "f", "parameters": []}], "expected a tool with a name"),
        ([{"name": "f"}, "junk"], "expected a tool with a name.*junk"),
        (
            [{"name": "f"}, {"name": "f", "parameters": {"properties": {"x": {}}}}],
            "two definitions of the tool 'f' that differ",
        ),
    ],
)
def test_tools_that_are_none(tools, said):
    with pytest.raises(ts.TallystickError, match=said):
        ts.calls([[call("f", x=1)]], [[call("f", x=1)]], tools=tools)


def test_a_log_without_the_id_that_others_have_is_an_error():
    gold = [{"id": name, "calls": [call("f", x=name)]} for name in "abc"]
    system = [gold[2], {"calls": gold[0]["calls"]}, gold[1]]
    with pytest.raises(
        ts.TallystickError, match="predicted:2: has no text or number under 'id', which pairs the other"
    ):
        ts.calls(gold, system)
    messages = [
        {"jsonrpc": "2.0", "id": k, "method": "tools/call", "params": call("f", x=name)}
        | ({"session": name} if k else {})
        for k, name in enumerate("abc")
    ]
    with pytest.raises(ts.TallystickError, match="predicted:1: has no text or number under 'session'"):
        ts.calls(gold, messages, id="session", reference_id="id")
    assert ts.calls(gold, [{"calls": one["calls"]} for one in gold])["calls"].f1 == 1


def test_every_value_of_arguments_without_names_counts():
    found = ts.calls([[call("f", a=1)]], [[{"name": "f", "arguments": [1, 2, 3]}]])
    assert found["arguments"].precision == 1 / 4


def test_definitions_may_stand_on_lines(tmp_path):
    f, g = ({"name": name, "parameters": {"properties": {"x": {"type": "integer", "default": 3}}}} for name in "fg")
    for name, content in (
        ("list.json", json.dumps([f, g], indent=1)),
        ("lines.json", f"{json.dumps(f)}\n{json.dumps(g)}\n"),
    ):
        (tmp_path / name).write_text(content)
        found = ts.calls([[call("g")]], [[call("g", x=3)]], tools=tmp_path / name)
        assert found["calls"].f1 == 1, name
    (tmp_path / "twice.json").write_text('{"name": "f", "name": "g", "parameters": {}}')
    with pytest.raises(InputError, match=r"has the key 'name' twice"):
        ts.calls([[call("g")]], [[call("g", x=3)]], tools=tmp_path / "twice.json")


@pytest.mark.parametrize("task", ["records", "calls"])
def test_an_id_of_the_reference_that_is_nowhere_is_an_error(task):
    logs = [{"id": "a", "calls": [call("f")]}]
    with pytest.raises(InputError, match=r"has no text or number under 'zz', which should be its id"):
        getattr(ts, task)(logs, logs, reference_id="zz")


def test_a_key_that_stands_twice_is_said(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "calls": [{"name": "f", "arguments": {"x": 1}}]}\n')
    inside = json.dumps({"id": "a", "calls": [{"name": "f", "arguments": '{"x": 2, "x": 1}'}]})
    for line in ('{"id": "a", "calls": [{"name": "f", "arguments": {"x": 2, "x": 1}}]}', inside):
        (tmp_path / "system.jsonl").write_text(line + "\n")
        done = run("score", "calls", "gold.jsonl", "system.jsonl", cwd=tmp_path)
        assert 'system.jsonl: 1 object with a key that stands twice ("x"); the last one counts' in done.stderr


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(x=1), g(", 2),
        ("f(x=1)\ng(city='Os", 2),
        ("f(x=1); g(", 2),
        ("```python\nf(x=1)\ng(\n```", 2),
        ("f(x=1), then I am done (I think", 1),
        ("f(x=1) and then g(", 1),
        ("f(x=", 1),
        ("f() needs an x; which one?", 0),
        ("f(x) is a function", 0),
        ("I call f(x=1), g(", 0),
    ],
)
def test_calls_without_a_list_that_are_cut_off(text, calls):
    """What was begun counts, whether or not there is a bracket before it."""
    found = ts.calls([[F]], [text])
    right = int("f(x=1)" in text and calls > 0 and "and then" not in text)
    row = found["calls"].rows[0].tolist()
    assert (row[0], row[1]) == (right, calls)


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        ({"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}}, "web_search", {"type": "search", "query": "q"}),
        ({"type": "file_search_call", "id": "w", "queries": ["q"], "results": [{"text": "a"}]}, "file_search", {"queries": ["q"]}),
        ({"type": "code_interpreter_call", "code": "1", "outputs": []}, "code_interpreter", {"code": "1"}),
        ({"type": "image_generation_call", "result": "iVBOR"}, "image_generation", {}),
        ({"type": "mcp_call", "name": "g", "arguments": "{}", "server_label": "s"}, "g", {}),
    ],
)  # fmt: skip
def test_calls_of_a_providers_own_tools(item, name, arguments):
    """A log of OpenAI's Responses has an item for each."""
    function = {"type": "function_call", "name": "f", "arguments": '{"x": 1}', "call_id": "c"}
    found = ts.calls([[F]], [{"output": [function, item]}])
    assert found["calls"].precision == 1 / 2
    same = ts.calls([[F, {"name": name, "arguments": arguments}]], [{"output": [function, item]}])
    assert same["calls"].f1 == same["arguments"].f1 == 1
    answers = [{"type": "computer_call_output", "output": [F]}, {"type": "web_search_tool_result", "content": [F]}]
    assert ts.calls([[F]], [{"output": [function, *answers]}])["calls"].precision == 1


def test_a_key_that_stands_twice_in_the_reference_is_an_error(tmp_path):
    (tmp_path / "system.jsonl").write_text('{"id": "a", "calls": [{"name": "f", "arguments": {"x": 1}}]}\n')
    inside = json.dumps({"id": "a", "calls": [{"name": "f", "arguments": '{"x": 2, "x": 1}'}]})
    for line in ('{"id": "a", "calls": [{"name": "f", "arguments": {"x": 2, "x": 1}}]}', inside):
        (tmp_path / "gold.jsonl").write_text(line + "\n")
        done = run("score", "calls", "gold.jsonl", "system.jsonl", cwd=tmp_path, code=2)
        assert "gold.jsonl:1: has the key 'x' twice in one object; expected each key once" in done.stderr


F = call("f", x=1)
AMONG_CALLS = {
    "two functions in one object": [{"f": {"x": 1}, "g": {}}],
    "no object for arguments": [{"f": {"x": 1}}, {"g": "Oslo"}],
    "a list for arguments": [{"f": {"x": 1}}, {"g": [1]}],
    "a number for arguments": {"calls": [{"f": {"x": 1}}, {"g": 5}]},
    "two functions under a key": {"result": [{"f": '{"x": 1}', "g": "{}"}]},
    "no list": {"calls": {"f": {"x": 1}, "g": {}}},
    "nothing": {"calls": [F, None]},
    "nothing, alone": [F, None],
    "an empty object": [F, {}],
    "a number": {"tool_calls": [F, 3]},
    "words": {"calls": [F, "call g"]},
    "no name": {"tool_calls": [{"function": F}, {"type": "function", "function": {"arguments": "{}"}}]},
    "arguments outside": [F, {"name": "g", "city": "Oslo"}],
    "in a text": 'Here: [{"f": {"x": 1}}, {"g": "Oslo"}]',
    "without arguments": [{"role": "assistant", "function_call": {"name": "g"}}, F],
}


@pytest.mark.parametrize("way", AMONG_CALLS)
def test_what_is_among_calls_and_cannot_be_read_is_a_call(way):
    found = ts.calls([[F]], [AMONG_CALLS[way]])["calls"]
    assert (found.tally["den_p"], found.recall) == (2, 1), way


@pytest.mark.parametrize("way", ["nothing", "words", "arguments outside", "no object for arguments"])
def test_in_a_reference_it_is_an_error_that_shows_it(way):
    with pytest.raises(InputError, match=r'reference:1: found (null|"call g"|\{.*\}) for a call; expected \{"name"'):
        ts.calls([AMONG_CALLS[way]], [[F]])


def test_possible_answers_of_two_functions_in_one_object():
    gold = {"id": "a", "ground_truth": [{"f": {"x": [1, 2]}, "g": {"y": ["a", ""]}}]}
    assert ts.calls([gold], [{"id": "a", "result": [{"g": {}}, {"f": {"x": 2}}]}])["calls"].exact == 1
    mixed = {"id": "a", "ground_truth": [{"f": {"x": [1, 2]}, "g": {"y": "a"}}]}
    assert ts.calls([mixed], [{"id": "a", "result": [{"f": {"x": [1, 2]}}, {"g": {"y": "a"}}]}])["calls"].exact == 1


@pytest.mark.parametrize(
    "log",
    [
        [{"role": "user", "content": "Is it raining?"}, {"role": "assistant", "content": "No."}],
        {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "text", "text": "No."}]}]},
        {"usage": {"tool_calls": 3}, "content": "No."},
        {"choices": [{"message": {"tool_calls": None, "content": "No."}}]},
        '{"answer": "no"}',
        "See [1, 2, 3].",
        "[No call needed]",
        '{"na',
        'I think {"x',
        "I cannot do that.",
        {"result": [["I cannot", "do that"]]},
        [["I cannot", "do that"]],
        [[], []],
        {"name": "ChatModel", "input": {"messages": []}, "output": {"text": "No."}},
        {"output": [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"x": {}}}}]},
    ],
)
def test_messages_words_counts_and_definitions_are_no_calls(log):
    assert ts.calls([[F]], [log])["calls"].tally["den_p"] == 0


@pytest.mark.parametrize("key", ["parameters", "input"])
def test_arguments_under_other_names(key):
    one = {"name": "f", key: {"x": 1}}
    for log in ([one], one, json.dumps(one), f"<tool_call>{json.dumps(one)}</tool_call>", {"tool_calls": [one]}):
        assert ts.calls([[F]], [log])["calls"].exact == 1, log
    assert ts.calls(F, one)["calls"].exact == 1  # one log of one call on each side


@pytest.mark.parametrize(("path", "left"), {"arguments": 1, "arguments.to": 3, "arguments.o": 4, "unknown": 5}.items())
def test_any_path_can_be_ignored_whatever_is_inside(path, left):
    gold, system = [[call("f", to=[1, [2]], o={"k": [1]}, x=1)]], [[call("f", to=[1, [3]], o={"k": [2]}, x=2)]]
    found = ts.calls(gold, system, choices={f"calls[*].{path}": "ignore"})
    assert found["arguments"].tally["den_p"] == left


def test_arguments_may_have_the_names_of_keywords():
    gold = [[call("f", o={"title": "a", "required": [1, 2]}, items=[1, 2], properties={"items": [3]})]]
    assert ts.calls(gold, gold)["calls"].exact == 1
    found = ts.calls(gold, [[call("f", o={"title": "b", "required": [2, 1]}, items=[2, 1], properties={"items": [3]})]])
    assert found["arguments"].tally["num_p"] == 4  # the call, one of each list in order


OTHER_NAMES = {
    "custom": {"id": "x", "type": "custom", "custom": {"name": "f", "input": "print(1)"}},
    "responses": {"type": "custom_tool_call", "call_id": "x", "name": "f", "input": "print(1)"},
    "tool": {"tool": "f", "args": {"input": "print(1)"}},
    "tool_name": {"tool_name": "f", "tool_input": {"input": "print(1)"}},
    "action": {"action": "f", "action_input": {"input": "print(1)"}},
    "inspect_ai": {"id": "x", "function": "f", "arguments": {"input": "print(1)"}, "type": "function"},
}


@pytest.mark.parametrize("way", OTHER_NAMES)
def test_calls_whose_parts_have_other_names(way):
    gold, one = [[call("f", input="print(1)")]], OTHER_NAMES[way]
    logs = ({"tool_calls": [one]}, {"calls": [one]}, [one], one, f"<tool_call>{json.dumps(one)}</tool_call>")
    for log in logs if way != "custom" else logs[:2]:
        assert ts.calls(gold, [log])["calls"].exact == 1, log
        assert ts.calls([log], gold)["calls"].exact == 1, log
    assert (
        ts.calls([[]], [{"output": [{"type": "custom_tool_call_output", "call_id": "x", "output": "1"}]}])[
            "calls"
        ].exact
        == 1
    )


@pytest.mark.parametrize(
    "one",
    [
        {"id": "x", "type": "computer", "computer": {"act": "click"}},
        {"id": "x", "kind": "f", "payload": {"a": 1}},
        {"f": {"x": 1}, "id": "7"},
        {"f": {"x": 1}, "g": None},
        {"f": 5},
        {"type": "custom", "custom": {"name": "f"}},
    ],
)
def test_an_object_of_unknown_form_is_one_call_that_cannot_be_read(one):
    for key in ("calls", "tool_calls", "ground_truth"):
        found = ts.calls([[F]], [{key: [F, one]}])["calls"]
        assert (found.tally["den_p"], found.recall) == (2, 1)
        with pytest.raises(InputError) as error:
            ts.calls([{key: [one]}], [[F]])
        assert f"found {json.dumps(one, separators=(',', ':'))[:59]}" in str(error.value)
        assert "for a call; expected" in str(error.value)


@pytest.mark.parametrize(
    ("log", "count"),
    {
        "[f(x=1), g(x=]": 2,
        "[f(x=1), g(": 2,
        "[f(x=1), g(x=], h(y=1)]": 3,
        '[f(x=1), 5, "x"]': 3,
        "Sure: [f(x=1), g(a=1, b=[2, ']'])]. Done": 2,
        "```\n[f(x=1), g(]\n```": 2,
        "<think>[h()]</think>[f(x=1), g(": 2,
        "[f(x=1)": 1,
        f'{json.dumps(F)}\n{{"name": "g", "argu': 2,
        f'{json.dumps(F)}\n{{"na': 2,
        f"{json.dumps(F)} and {{so on}}": 1,
        "Both [f(x=1)] and [g(y=2)].": 2,
        "# [f(x=1)]": 1,
        f"{json.dumps(F)}\n{json.dumps(call('g'))}": 2,
        f"Both {json.dumps([F])} and {json.dumps([call('g'), 5])}.": 3,
        f'{json.dumps(F)}, as in {{"a": 1}} and [1].': 1,
        "f(x=1)\ng(y=2)": 2,
        "[f(x=1)]\n[g(y=2), 5]": 3,
        f'[{json.dumps(F)}, {{"name"': 2,
        f"[{json.dumps(F)}, {{": 2,
        f'[{json.dumps(F)}, {{"name": "g", "argu': 2,
        f"[{json.dumps(F)}, ": 1,
        f'```json\n[{json.dumps(F)}, {{"na': 2,
        json.dumps([F, "and also g(x=1)", 5]): 3,
        f"Here: {json.dumps([F, 'g'])}": 2,
    }.items(),
)
def test_a_broken_or_surplus_item_in_a_text_is_a_call(log, count):
    for written in (log, {"tool_calls": log}, {"result": [[log]]}):
        found = ts.calls([[F]], [written])["calls"]
        assert (found.tally["den_p"], found.recall) == (count, 1), written


@pytest.mark.parametrize(
    "log",
    [
        *([None], ["I cannot"], [5], [[None]], [{}], "[null]", "['I cannot']", "```json\n[null]\n```", "[1]"),
        *(
            {"tool_calls": "[null]"},
            {"calls": [None]},
            "[g(",
            "[g(x=1, y",
            "[{",
            "```json\n[{",
            {"nmae": "f", "arguments": {}},
            '{"nmae": "f", "arguments": {}}',
            '[{"na',
            "<tool_call>[null]</tool_call>",
        ),
    ],
)
def test_what_is_in_a_list_of_calls_is_a_call_also_alone(log):
    found = ts.calls([[], [F]], [log, [F]])["calls"]
    assert (found.tally["den_p"], found.recall) == (2, 1)


@pytest.mark.parametrize("more", ["and also g(x=1)", [None], None, 5, {}])
def test_what_stands_beside_a_call_is_a_call(more):
    for log in ([F, more], json.dumps([F, more])):
        found = ts.calls([[F]], [log])["calls"]
        assert (found.tally["den_p"], found.recall) == (2, 1)


def test_a_name_alone_is_a_call_without_arguments(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"name": "now"}\n')
    for line, f1 in (('{"name": "then"}', 0), ('{"name": "now"}', 1), ('"now()"', 1), ('[{"now": ""}]', 1)):
        (tmp_path / "system.jsonl").write_text(line + "\n")
        assert ts.calls(tmp_path / "gold.jsonl", tmp_path / "system.jsonl")["calls"].f1 == f1, line
    assert ts.calls([{"name": "f"}], [{"name": "g"}])["names"].f1 == 0
    assert ts.calls({"name": "f"}, {"name": "f"})["calls"].tally["den_r"] == 1
    assert ts.calls([[call("f")]], [{"type": "function", "function": {"name": "f"}}])["calls"].exact == 1


@pytest.mark.parametrize("wrong", [5, 0.5, True, {"nmae": "f"}, {"id": "a", "n": 1}, {}])
def test_a_reference_that_is_no_log_is_an_error(wrong):
    with pytest.raises(InputError, match=r"reference:1: is .*; expected a log of calls \(\[\] without a call\)"):
        ts.calls([wrong], [[]])


def test_a_call_that_is_logged_twice_with_one_id_counts_once():
    logged = {"type": "function", "id": "c1", "function": {"name": "f", "arguments": '{"x": 1}'}}
    log = {"tool_calls": [{**F, "id": "c1"}], "additional_kwargs": {"tool_calls": [logged]}}
    for sides in (([[F]], [log]), ([log], [[F]])):
        found = ts.calls(*sides)
        assert (found["calls"].exact, found["calls"].tally["den_p"], found["calls"].tally["den_r"]) == (1, 1, 1)
        assert any(
            "1 call not counted, because the log has it before, with the same id" in one for one in found.warnings
        )
    others = ({**F, "id": "c2"}, {**F, "id": ""}, F, {**call("f", x=True), "id": "c1"}, {**call("g", x=1), "id": "c1"})
    for other in others:
        found = ts.calls([[F]], [[{**F, "id": "c1"}, other]])
        assert found["calls"].tally["den_p"] == 2
        assert not any("not counted" in one for one in found.warnings)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": F}
    assert ts.calls([[F]], [[message, message]])["calls"].tally["den_p"] == 2


CONTENT = {
    "[f(x=1)]": 1,
    "```python\n[f(x=1)]\n```": 1,
    "<think>[g()]</think>[f(x=1)]": 1,
    "[f(x=1), g(": 2,
    json.dumps(F): 1,
    json.dumps([F]): 1,
    json.dumps([F, 5]): 2,
    json.dumps([F])[:-1]: 1,
    json.dumps([F])[:-1] + ', {"na': 2,
    f"```json\n{json.dumps([F])}\n```": 1,
    json.dumps({"name": "f", "parameters": {"x": 1}}): 1,
    "I would call [f(x=1)].": 0,
    "[f(x=1)](https://example.org) is the page.": 0,
    "f(x=1)": 0,
    "[1, 2, 3]": 0,
    '{"answer": {"x": 1}}': 0,
    '[{"city": {"name": "Oslo"}}]': 0,
    '{"name": "Bob", "input": "hello"}': 0,
    f"Such as {json.dumps(F)}": 0,
    "[see above]": 0,
    "": 0,
}


@pytest.mark.parametrize("content", CONTENT)
def test_the_content_of_a_model_is_read_if_it_is_nothing_but_calls(content):
    message = {"role": "assistant", "content": content}
    for log in (message, [message], {"choices": [{"message": message}]}):
        found = ts.calls([[F]], [log])["calls"]
        assert (found.tally["den_p"], found.tally["num_p"]) == (CONTENT[content], min(CONTENT[content], 1))
    for log in ({"role": "user", "content": content}, {"role": "tool", "content": content}):
        assert ts.calls([[]], [log])["calls"].exact == 1
    assert ts.calls([[F]], [{**message, "tool_calls": [{"type": "function", "function": F}]}])["calls"].exact == 1


def test_the_warning_about_a_key_that_stands_twice_has_its_line(tmp_path):
    (tmp_path / "gold.jsonl").write_text(json.dumps([F]) + "\n" + json.dumps([F]) + "\n")
    twice = '{"name": "f", "arguments": {"x": 2, "x": 1}}'
    for line in (
        f"[{twice}]",
        json.dumps(f"<tool_call>{twice}</tool_call>"),
        json.dumps(f"Here: {twice}"),
        json.dumps({"role": "assistant", "content": twice}),
    ):
        (tmp_path / "system.jsonl").write_text(json.dumps([F]) + "\n" + line + "\n")
        done = run("score", "calls", "gold.jsonl", "system.jsonl", cwd=tmp_path)
        said = 'Warning: system.jsonl: 1 object with a key that stands twice ("x"); the last one counts; the first: system.jsonl:2'
        assert said in done.stderr.splitlines(), line


def test_a_reference_with_arguments_and_no_name_is_an_error_that_shows_it():
    with pytest.raises(InputError, match=r'reference:1: found \{"nmae":"f","arguments":\{\}\} for a call; expected'):
        ts.calls([{"nmae": "f", "arguments": {}}], [[]])
    log = {"arguments": {"model": "m"}, "calls": [F]}
    assert ts.calls([log], [log])["calls"].tally["den_r"] == 1
    assert (
        ts.calls([{**log, "calls": []}], [{"arguments": {}, "steps": [[F]], "calls": None}])["calls"].tally["den_p"]
        == 1
    )


FAILED = [
    {"error": "timeout"},
    None,
    5,
    True,
    {},
    {"response": {"error": "timeout"}},
    {"response": None},
    {"response": {"status_code": 500, "body": {"error": {"message": "overloaded"}}}, "error": None},
    {"status": "failed", "error": {"code": "server_error"}, "output": []},
]


@pytest.mark.parametrize("failed", FAILED, ids=str)
def test_a_failed_request_is_an_invalid_prediction_and_no_log_without_calls(failed, tmp_path):
    """As in records: it is never exact, also if the reference calls nothing."""
    gold = [[F], []]
    found = ts.calls(gold, [[F], failed])
    for result in found.values():
        assert (result.exact, result.f1) == (0.5, 1)
        assert result.documents[2]["f1"] is None
    (said,) = [one for one in found.warnings if one.startswith("invalid, scoring nothing: 1 prediction (")]
    assert "error" in said or "no log of calls" in said
    assert ts.calls(gold, [[F], []])["calls"].exact == 1
    if isinstance(failed, dict):
        lines = [{"id": "a", "calls": [F]}, {"id": "b", **failed}]
        gold = [{"id": "a", "calls": [F]}, {"id": "b", "calls": []}]
        for name, side in (("gold", gold), ("system", lines)):
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in side))
        done = run("score", "calls", "gold.jsonl", "system.jsonl", "--errors", cwd=tmp_path)
        assert "2 documents, paired by id, 1 exact" in done.stderr
        assert "invalid, scoring nothing: 1 prediction (b: " in done.stderr
    missed = ts.calls([[F], [F]], [[F], failed])["calls"]
    assert (missed.recall, missed.precision, missed.exact) == (0.5, 1, 0.5)


MISSPELT = {
    "nmae": {"nmae": "f"},
    "Calls": {"Calls": [{"tool": "f"}]},
    "cals": {"cals": [{"name": "f"}]},
    "toolCalls": {"toolCalls": [{"toolName": "f"}]},
    "argumnets": {"name": "f", "argumnets": {"x": 1}},
    "functon": {"functon": "f", "args": {"x": 1}},
}


@pytest.mark.parametrize("key", MISSPELT)
def test_a_misspelt_key_is_no_log_that_calls_nothing(key, tmp_path):
    """It would be free where nothing was to be called."""
    found = ts.calls([[F], []], [[F], MISSPELT[key]])
    assert found["calls"].exact == 0.5
    assert f'(2: has no calls, and the key "{key}". Did you mean "' in next(
        one for one in found.warnings if "invalid" in one
    )
    lines = [{"id": "a", "calls": [F]}, {"id": "b", **MISSPELT[key]}]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    said = run("score", "calls", "gold.jsonl", "gold.jsonl", cwd=tmp_path, code=2).stderr
    assert (
        f'gold.jsonl:2: has no calls, and the key "{key}". Did you mean "' in said or "expected a log of calls" in said
    )


def test_keys_under_which_a_file_has_calls_are_not_misspelt():
    logs = [{"cals": [call("f", x=1)]}, {"cals": [{"tool": "f"}]}, {"cals": []}]
    assert ts.calls([[F], [], []], logs)["calls"].exact == 1


@pytest.mark.parametrize(
    "answer",
    [
        [],
        "I cannot do that.",
        {"toolCalls": []},
        {"tags": ["none"], "game": "chess"},
        {"calls": []},
        {"output": [], "error": None},
        {"answer": "none"},
        {"role": "assistant", "content": "No."},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "what a tool answered"}},
    ],
    ids=str,
)
def test_an_answer_that_calls_nothing_is_right_if_nothing_was_to_be_called(answer):
    assert ts.calls([[F], []], [[F], answer])["calls"].exact == 1


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("print(f(x=1))", [F]),
        ("f(x=1)", [F]),
        ("print(default_api.f(x=1))", [F]),
        ("result = default_api.f(x=1)\nprint(result)", [F]),
        ("print(f(x=1))\nprint(f(x=2))", [F, call("f", x=2)]),
        ("print(f(x=", 1),
        ("x + 1", 1),
    ],
)
def test_tool_code_of_gemini(code, calls):
    for text in (f"```tool_code\n{code}\n```", f"I look it up.\n```tool_code\n{code}\n```\nOne moment."):
        for log in (
            text,
            {"role": "model", "content": text},
            {"candidates": [{"content": {"parts": [{"text": text}]}}]},
        ):
            found = ts.calls([calls if isinstance(calls, list) else [F]], [log])["calls"]
            if isinstance(calls, list):
                assert found.exact == 1, log
            else:
                assert (found.tally["den_p"], found.exact) == (calls, 0), log


def test_texts_without_calls_get_no_advice_about_fields():
    (said,) = [one for one in ts.calls([[F]], ["I cannot do that."]).warnings if "no call was found" in one]
    assert "from" not in said
    assert "<tool_call>" in said
    (said,) = [one for one in ts.calls([[F]], [{"answer": "none"}]).warnings if "no call was found" in one]
    assert "from_=PATH" in said


# Sides as mappings by id, in Python and in files


def test_from_is_read_in_mappings_by_id() -> None:
    gold = {"a": [call("f", x=1)], "b": []}
    outer = {"a": {"out": "[f(x=1)]", "tried": "[g(x=1)]"}, "b": {"out": "[]"}}
    found = ts.calls(gold, outer, from_="out")["calls"]
    assert (found.precision, found.recall, found.count) == (1, 1, 2)
    assert not any("from_" in one for one in found.warnings)
    with pytest.raises(ts.TallystickError, match="has no field 'zz'"):
        ts.calls(gold, outer, from_="zz")
    with pytest.raises(ts.TallystickError, match="has no field 'zz'"):
        ts.calls(outer, gold, reference_from="zz")
    assert ts.calls([gold["a"]], {"out": "[f(x=1)]"}, from_="out")["calls"].f1 == 1  # one log, not one by id


BY_ID = {
    "lists": {"a": [call("f", x=1)], "b": [call("g", x=1)]},
    "objects": {"a": {"calls": [call("f", x=1)]}, "b": {"calls": [call("g", x=1)]}},
    "texts": {"a": "[f(x=1)]", "b": "[g(x=1)]"},
    "one": {"a": [call("f", x=1)]},
}


@pytest.mark.parametrize("logs", BY_ID.values(), ids=BY_ID)
def test_a_file_of_logs_by_id_is_read_as_python_reads_the_same(tmp_path, logs) -> None:
    swapped = dict(zip(logs, reversed(list(logs.values())), strict=True))
    for name, side in (("g", logs), ("p", swapped)):
        (tmp_path / f"{name}.json").write_text(json.dumps(side, indent=1))
    here = ts.calls(logs, swapped)["calls"]
    there = ts.calls(tmp_path / "g.json", tmp_path / "p.json")["calls"]
    assert (there.count, there.f1) == (here.count, here.f1) == (len(logs), float(len(logs) == 1))
    assert [one.replace("predicted", "").replace("reference", "") for one in here.warnings] == [
        one.replace(str(tmp_path / "p.json"), "").replace(str(tmp_path / "g.json"), "") for one in there.warnings
    ]


ONE_LOG = {
    "a call": call("f", x=1),
    "with an id": {"id": "a", "log": [{"type": "tool_use", "name": "f", "input": {"x": 1}}]},
    "messages": {"messages": [{"role": "assistant", "tool_calls": [call("f", x=1)]}], "model": "m"},
    "BFCL": {"id": "a", "result": [{"f": {"x": 1}}]},
    "MCP": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("f", x=1)},
    "Gemini": {"functionCall": {"name": "f", "args": {"x": 1}}},
}


@pytest.mark.parametrize("log", ONE_LOG.values(), ids=ONE_LOG)
def test_one_log_is_no_mapping_by_id(tmp_path, log) -> None:
    (tmp_path / "p.json").write_text(json.dumps(log))
    (tmp_path / "list.json").write_text(json.dumps([log]))
    for side in (log, [log], tmp_path / "p.json", tmp_path / "list.json"):
        found = ts.calls([[call("f", x=1)]], side)["calls"]
        assert (found.count, found.f1) == (1, 1)


def test_a_file_that_is_a_list_of_one_log_is_no_mapping_by_id(tmp_path) -> None:
    (tmp_path / "p.json").write_text(json.dumps([{"a": [call("f")], "b": [call("g")]}]))
    assert ts.calls([[call("f"), call("g")]], tmp_path / "p.json")["calls"].count == 1


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT, pd.Series([None], dtype="float")[0]], ids=repr)
def test_a_failed_request_is_invalid_whatever_python_has_for_nothing(nothing) -> None:
    for side in (
        ["[f()]", nothing],
        pd.Series(["[f()]", nothing], dtype=object),
        np.array(["[f()]", nothing], dtype=object),
    ):
        found = ts.calls([[call("f")], []], side)["calls"]
        assert any("invalid, scoring nothing: 1 prediction (2: is null" in one for one in found.warnings), side
    found = ts.calls({"a": [call("f")], "b": []}, {"a": "[f()]", "b": nothing})["calls"]
    assert any("invalid, scoring nothing: 1 prediction (b: is null" in one for one in found.warnings)
    with pytest.raises(ts.TallystickError, match="is null; expected a log"):
        ts.calls(["[f()]", nothing], [[], []])


# What begins a call, or says that there was one, is not free

WHOLE = '<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (f"{WHOLE}<tool_call>", 2),
        (f"{WHOLE}<tool_call>\n ", 2),
        (f"{WHOLE}<tool_call></tool_call>", 2),
        ("<tool_call>", 1),
        ("<tool_call></tool_call>", 1),
        ({"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}, 1),
        ({"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL"}]}, 1),
        (
            {
                "choices": [
                    {"message": {"content": ""}, "finish_reason": "function_call_filter: MALFORMED_FUNCTION_CALL"}
                ]
            },
            1,
        ),
        ({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}, 0),
        ({"candidates": [{"content": {"parts": [{"executableCode": {"language": "PYTHON", "code": "f()"}}]}}]}, 1),
        ({"parts": [{"function_call": None, "executable_code": {"language": "PYTHON", "code": "f()"}}]}, 1),
        ({"parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": WHOLE}}]}, 0),
        ({"parts": [{"functionResponse": {"name": "g", "response": {"name": "f", "args": {}}}}]}, 0),
    ],
)
def test_a_call_that_was_begun_is_one(answer, calls) -> None:
    nothing = ts.calls({"a": [], "b": [call("f", x=1)]}, {"a": answer, "b": [call("f", x=1)]})["calls"]
    assert nothing.precision == 1 / (1 + calls)
    gold = ts.calls([[call("f", x=1)]], [answer])["calls"]
    right = WHOLE in str(answer) and calls > 1
    assert gold.precision == (None if not calls else right / calls)


def test_code_that_gemini_runs_is_a_call_of_a_tool_of_its_own() -> None:
    part = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    gold = [call("code_execution", language="PYTHON", code="print(1)")]
    assert ts.calls([gold], [{"candidates": [{"content": {"parts": [part]}}]}])["calls"].f1 == 1


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ({"content": "[f(x=1)]"}, 1),
        ({"id": "a", "content": '{"name": "f", "arguments": {"x": 1}}'}, 1),
        ({"choices": [{"message": {"content": WHOLE}}]}, 1),
        ({"choices": [{"message": {"content": "[f(x=1)]"}}]}, 1),
        ({"messages": [{"role": "user", "content": "[f(x=1)]"}]}, 0),
        ({"messages": [{"type": "human", "content": "[f(x=1)]"}]}, 0),
        ({"content": "[f(x=1)]", "tool_calls": [call("f", x=1)]}, 1),
        ({"content": "I called f(x=1)."}, 0),
    ],
)
def test_content_without_a_role_is_a_models(log, found) -> None:
    result = ts.calls([[call("f", x=1)]], [log])["calls"]
    assert (result.recall, result.precision) == (found, found or None)


PARAMETERS = {
    "a": {"type": "integer"},
    "sort": {"type": ["string", "null"], "default": None},
    "page": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "order": {"type": ["string", "null"], "default": "asc"},
    "text": {"type": "string"},
}


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    ("tools", "name", "right"),
    [
        *((True, name, name in ("sort", "page")) for name in (*PARAMETERS, "made_up") if name != "a"),
        (False, "sort", False),
    ],
)
def test_a_null_is_left_out_where_the_tool_says_so_whatever_other_logs_have(elsewhere, tools, name, right) -> None:
    """Without a definition it is an argument that the call should not have."""
    options = {"tools": [{"name": "f", "parameters": {"properties": PARAMETERS}}]} if tools else {}
    other = [[{"name": "f", "arguments": {name: "x"}}]] * elsewhere
    for null in ({name: None}, {"opts": {name: None}}) if not tools else ({name: None},):
        more = {key: {} for key in null if key == "opts"}
        gold = [{"name": "f", "arguments": {"a": 1, **more}}]
        found = ts.calls([gold, *other], [[{"name": "f", "arguments": {"a": 1, **null}}], *other], **options)
        assert found["calls"].rows[0].tolist() == [right, 1, right, 1]
        assert found["arguments"].rows[0].tolist() == [2, 3 - right, 2, 2]
    asked = [{"name": "f", "arguments": {"a": 1, name: None}}]
    for answer in (asked, [{"name": "f", "arguments": {"a": 1}}]):  # a null of the reference asks for nothing
        assert ts.calls([asked, *other], [answer, *other], **options)["calls"].f1 == 1


@pytest.mark.parametrize("written", ["{", "[]", "{}}", "x=1", 5, [1]])
def test_arguments_that_cannot_be_read_are_counted_and_said(written) -> None:
    gold = [[{"name": "f", "arguments": {"x": 1}}]] * 2
    found = ts.calls(gold, [gold[0], [{"name": "f", "arguments": written}]])
    (said,) = [one for one in found.warnings if "cannot be read" in one]
    assert said.startswith(
        "predicted: 1 call that cannot be read, or not the arguments; counted as wrong; the first: predicted:2: "
    )
    assert str(written) in said
    assert found["calls"].tally == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 2}


def test_a_made_up_argument_is_shown_with_its_value() -> None:
    gold = [{"name": "f", "arguments": {"x": 1}}]
    found = ts.calls([gold], [[{"name": "f", "arguments": {"x": 1, "sort": {"by": ["up", 2]}, "none": None}}]])
    shown = str(found.errors())
    assert all(one in shown for one in ("sort='up'", "sort=2", "none=None"))
    assert "any value" not in shown

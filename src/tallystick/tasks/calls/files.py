"""Tool calls as logs have them, whoever wrote the log, as one kind of document.

    {"id": "log-1", "calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}

| where                      | a call                                                                             |
|----------------------------|------------------------------------------------------------------------------------|
| OpenAI, chat completions   | {"type": "function", "function": {"name": ..., "arguments": "{...}"}}                |
| OpenAI, responses          | {"type": "function_call", "name": ..., "arguments": "{...}"}                         |
| Anthropic                  | {"type": "tool_use", "name": ..., "input": {...}}                                    |
| MCP                        | {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": ..., "arguments": {...}}} |
| Gemini                     | {"functionCall": {"name": ..., "args": {...}}}                                       |
| anybody                    | {"name": ..., "arguments": {...}}, or "args", or the arguments as JSON in a text        |
| BFCL                       | [{"get_weather": {"city": "Oslo"}}], or the text [get_weather(city="Oslo")]             |
| in a model's text          | <tool_call>{"name": ..., "arguments": {...}}</tool_call>                               |

A log is searched for calls in the order in which they stand; definitions of tools, results of calls and requests are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import InputError, Place, counted
from tallystick.files.documents import MISSING, id_of, open_documents, value_at
from tallystick.files.json_values import Unreadable, decode_line, explained, read_data, read_noisy, shown, try_decode
from tallystick.files.lines import Lines
from tallystick.frozen import frozen

UNREADABLE = "(arguments that cannot be read)"
"""The argument that stands for a text of arguments that is no JSON object."""
SKIPPED = {"tools", "functions", "request", "tool_definitions"}
"""What else is in logs under these keys: definitions, and what was asked."""
LISTS = {"ground_truth", "result", "calls", "tool_calls", "possible_answer"}
"""Under these keys a list may hold calls as BFCL writes them: {function: arguments}."""
NOT_CALLS = ("tool_result", "function_call_output", "mcp_tool_result")
_TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)


@dataclass
class Call:
    """One call: a function by its name, and its arguments by theirs."""

    name: str
    arguments: dict[str, Any]


@dataclass
class Log:
    """The calls of one document, and where it stands; `possible` if every argument is a list of right values."""

    calls: list[Call]
    place: Place
    possible: bool = False


@dataclass
class Logs:
    """One side: its logs, their names if they have any, and what had to be mended."""

    file: str
    logs: list[Log] = field(default_factory=list)
    names: list[Any] = field(default_factory=list)
    repaired: int = 0
    wordy: int = 0
    """Logs that are nothing but words."""
    remark: str = ""

    def notes(self) -> Iterator[str]:
        """What is to be said about how they were read."""
        if self.remark:
            yield self.remark
        if self.repaired:
            yield f"{self.file}: repaired the JSON of {counted(self.repaired, 'call')}"
        if not any(log.calls for log in self.logs):
            yield f"{self.file}: no call was found in any log; if they are under another field, name it with --from PATH"
        elif self.wordy:
            yield f"{self.file}: {counted(self.wordy, 'log')} with only words, which call nothing"

    @property
    def named(self) -> bool:
        return bool(self.names) and None not in self.names


# Where the calls are in a log


def find_calls(value: Any, logs: Logs, key: str = "") -> Iterator[Call]:
    """The calls in a value, in the order in which they stand."""
    if isinstance(value, str):
        yield from _in_text(value, logs) if not key or key in LISTS or "<tool_call>" in value else ()
    elif isinstance(value, list):
        for one in value:
            plain = _plain_call(one) if key in LISTS or not key else None
            yield from [plain] if plain else find_calls(one, logs, key or "[]")
    elif isinstance(value, dict) and not _is_answer(value):
        found = _call_in(value, logs)
        if found is not None:
            yield found
            return
        for name, one in value.items():
            if name not in SKIPPED:
                yield from find_calls(one, logs, name)


def _is_answer(value: Mapping[str, Any]) -> bool:
    """Whether this is what a tool answered."""
    return value.get("role") == "tool" or value.get("type") in NOT_CALLS or ("jsonrpc" in value and "result" in value)


def _call_in(value: Mapping[str, Any], logs: Logs) -> Call | None:
    """The call that an object is, however it is written."""
    inner: Any = value
    if value.get("method") == "tools/call":  # MCP, where a call without arguments need not have any
        inner = value.get("params")
        inner = {"arguments": {}, **inner} if isinstance(inner, dict) else {}
    elif "functionCall" in value:
        inner = value["functionCall"]
        inner = {"args": {}, **inner} if isinstance(inner, dict) else {}
    elif isinstance(value.get("function"), dict):
        inner = value["function"]
    if "name" not in inner:
        return None
    name = inner["name"] if isinstance(inner["name"], str) else f"({shown(inner['name'])} for a name)"
    if inner.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return Call(name, _arguments(inner.get("input"), logs))
    key = next((key for key in ("arguments", "args") if key in inner), None)
    return None if key is None else Call(name, _arguments(inner[key], logs))


def _plain_call(value: Any) -> Call | None:
    """{function: arguments}, as BFCL has it; or a name alone."""
    if isinstance(value, dict) and isinstance(value.get("name"), str) and value.keys() <= {"name", "id", "type"}:
        return Call(value["name"], {})
    if not isinstance(value, dict) or len(value) != 1:
        return None
    name, arguments = next(iter(value.items()))
    return Call(name, arguments) if isinstance(arguments, dict) and name not in ("function", "functionCall") else None


def _arguments(value: Any, logs: Logs) -> dict[str, Any]:
    """Arguments are an object, or a text that holds one."""
    if isinstance(value, str):
        found = try_decode(value) if value.strip() else ({},)
        if found is None:
            try:
                found = (read_noisy(value)[0],)
                logs.repaired += 1
            except Unreadable:
                found = (value,)
        value = found[0]
    if value is None:
        return {}
    return value if isinstance(value, dict) else {UNREADABLE: value}


def _in_text(text: str, logs: Logs) -> Iterator[Call]:
    """The calls in a model's text: between tags, as JSON, or as Python would call them."""
    tagged = _TAGGED.findall(text)
    for one in tagged or [text]:
        try:
            yield from _python_calls(one)
            continue
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        try:
            value, repairs = read_noisy(one)
        except Unreadable:
            continue
        logs.repaired += bool(repairs)
        yield from find_calls(value if isinstance(value, list) else [value], logs)


def _python_calls(text: str) -> list[Call]:
    """`[get_weather(city="Oslo"), now()]`, which is never run."""
    tree = ast.parse(text.strip().strip("`").strip(), mode="eval").body
    calls = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]
    out = []
    for call in calls:
        if not isinstance(call, ast.Call) or call.args or any(one.arg is None for one in call.keywords):
            raise ValueError("no call with named arguments")
        out.append(Call(ast.unparse(call.func), {str(one.arg): _literal(one.value) for one in call.keywords}))
    return out


def _literal(node: ast.expr) -> Any:
    value = ast.literal_eval(node)
    return list(value) if isinstance(value, (tuple, set)) else value


# Files of logs


def read_logs(given: Any, name: str, take: str | None, id: str, *, strict: bool = False) -> Logs:
    """One side. Lines of JSON-RPC that share a name are one log. A `strict` side has no logs of words alone."""
    lines = open_documents(given, name=name, take=take, id=id, gaps=not strict)
    logs = Logs(lines.file, remark=lines.remark)
    places: dict[Any, int] = {}
    for portion in lines.portions():
        for place, (number, line) in enumerate(zip(portion.numbers, portion.lines, strict=True)):
            found = try_decode(line)
            value = found[0] if found is not None else _words(line, lines, number)
            message = isinstance(value, dict) and "jsonrpc" in value
            key = portion.names[place] if portion.names else None
            if key is None and isinstance(value, dict) and not (message and id == "id"):
                key = id_of(value_at(value, id))
            log = Log([], lines.place(number), isinstance(value, dict) and _is_possible(value))
            log.calls += find_calls(value, logs)
            if not log.calls and isinstance(value, str):
                logs.wordy += 1
                if strict:
                    if value.lstrip()[:1] in ("{", "["):
                        decode_line(line, lines.file, number)  # it was meant to be JSON; what is wrong with it is said
                    what = f"is text without a call, {shown(value)}; a log without calls is []"
                    raise InputError(what, lines.place(number))
            if message and key in places:
                logs.logs[places[key]].calls += log.calls
                continue
            if message and key is not None:
                places[key] = len(logs.logs)
            logs.logs.append(log)
            logs.names.append(key)
    if not logs.logs:
        raise InputError("has no logs; expected one a line", lines.file)
    return logs


def _words(line: bytes, lines: Lines, number: int) -> str:
    """A line that is not JSON: what a model wrote."""
    if b"\0" in line:
        decode_line(line, lines.file, number)
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(str(explained(error, line)), lines.place(number)) from None


def _is_possible(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of BFCL's possible answers, in which every argument is a list of what would be right."""
    calls = value.get("ground_truth", value.get("possible_answer"))
    inner = (
        [next(iter(one.values())) for one in calls if isinstance(one, dict) and one] if isinstance(calls, list) else []
    )
    lists = [isinstance(one, list) for arguments in inner if isinstance(arguments, dict) for one in arguments.values()]
    return bool(inner) and all(lists)


# Definitions of tools


@frozen
class Tool:
    """What a tool's definition says: the schema of each parameter."""

    name: str
    parameters: Mapping[str, Any]


def read_tools(given: Any) -> dict[str, Tool]:
    """The definitions of tools, as OpenAI, Anthropic, MCP or BFCL have them, by name."""
    value = read_data(given) if not isinstance(given, (list, dict)) else given
    file = str(given) if not isinstance(given, (list, dict)) else "tools"
    found: dict[str, Tool] = {}
    for one in _definitions(value):
        inner = one["function"] if isinstance(one.get("function"), dict) else one
        schema = next((inner[key] for key in ("parameters", "input_schema", "inputSchema") if key in inner), None) or {}
        if not isinstance(inner.get("name"), str) or not isinstance(schema, dict):
            raise InputError(f"expected a tool with a name and the schema of its parameters, found {one!r:.60}", file)
        found[inner["name"]] = Tool(inner["name"], schema.get("properties") or {})
    if not found:
        raise InputError("has no definition of a tool; expected a list of them", file)
    return found


def _definitions(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from _definitions(one)
    elif isinstance(value, dict):
        inside = value.get(
            "tools", value.get("result", {}).get("tools") if isinstance(value.get("result"), dict) else None
        )
        if isinstance(inside, list):
            yield from _definitions(inside)
        elif isinstance(value.get("function"), list):
            yield from _definitions(value["function"])
        else:
            yield value


# BFCL's possible answers, read as the one that is nearest to a prediction.
#
# A parameter has a list of right values; "" among them says that it may be left out. So a reference is one of many. The one that is nearest to
# the prediction is taken: calls are paired by the most that can be right, whole calls first, and each argument takes the alternative
# that was predicted, or else the first. What may be left out, and is, is not asked for.


def nearest(reference: Sequence[Call], predicted: Sequence[Call]) -> list[Call]:
    """The reading of possible answers that is nearest to a prediction."""
    from tallystick.tasks.metric import best_pairs

    weights = {}
    for i, gold in enumerate(reference):
        for j, call in enumerate(predicted):
            if gold.name == call.name:
                right = [_fits(options, call.arguments.get(name, MISSING)) for name, options in gold.arguments.items()]
                whole = all(right) and call.arguments.keys() <= gold.arguments.keys()
                weights[i, j] = whole * 1e6 + 1 + sum(right)
    partner = dict(best_pairs(weights, len(reference), len(predicted)))
    return [
        _read_possible(call, predicted[partner[i]].arguments if i in partner else {})
        for i, call in enumerate(reference)
    ]


def _read_possible(call: Call, predicted: Mapping[str, Any]) -> Call:
    out: dict[str, Any] = {}
    for name, options in call.arguments.items():
        if name in predicted and _fits(options, predicted[name]):
            out[name] = predicted[name]
        elif "" not in options or name in predicted:
            out[name] = first_of(options)
    return Call(call.name, out)


def first_of(options: Any) -> Any:
    """The first of several right values, with the first of those inside of it."""
    value = next((one for one in options if one != ""), "") if isinstance(options, list) else options
    if isinstance(value, dict):
        return {key: first_of(inner) for key, inner in value.items() if not (isinstance(inner, list) and "" in inner)}
    return [first_of([one]) for one in value] if isinstance(value, list) else value


def _fits(options: Any, value: Any) -> bool:
    """Whether a value is one of several right ones."""
    listed = options if isinstance(options, list) else [options]
    return "" in listed if value is MISSING else any(_equal(one, value) for one in listed)


def _equal(option: Any, value: Any) -> bool:
    if isinstance(option, dict):
        if not isinstance(value, dict) or not value.keys() <= option.keys():
            return False
        return all(_fits(inner, value.get(key, MISSING)) for key, inner in option.items())
    if isinstance(option, list):
        return isinstance(value, list) and len(option) == len(value) and all(map(_equal, option, value))
    return option == value and isinstance(option, bool) == isinstance(value, bool)

"""Tool calls as logs have them, whoever wrote the log, as one kind of document.

    {"id": "log-1", "calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}

| where                      | a call                                                                             |
|----------------------------|------------------------------------------------------------------------------------|
| OpenAI, chat completions   | {"type": "function", "function": {"name": ..., "arguments": "{...}"}}                |
| OpenAI, responses          | {"type": "function_call", "name": ..., "arguments": "{...}"}                         |
| OpenAI, custom tools       | {"type": "custom", "custom": {"name": ..., "input": "..."}}, or "custom_tool_call"      |
| Anthropic                  | {"type": "tool_use", "name": ..., "input": {...}}                                    |
| MCP                        | {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": ..., "arguments": {...}}} |
| Gemini                     | {"functionCall": {"name": ..., "args": {...}}}                                       |
| inspect_ai                 | {"function": ..., "arguments": {...}}                                                |
| anybody                    | {"name": ..., "arguments": {...}}, or others of NAMES and ARGUMENTS; or as JSON in a text |
| BFCL                       | [{"get_weather": {"city": "Oslo"}}], or the text [get_weather(city="Oslo")]             |
| in a model's text          | <tool_call>{"name": ..., "arguments": {...}}</tool_call>, or Gemini's ```tool_code       |

A log is searched for calls in the order in which they stand; definitions of tools, results of calls and requests are left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from tallystick.errors import InputError, Place, counted, some
from tallystick.files.documents import MISSING, found_instead, open_documents, read_path, value_at, wrong_id
from tallystick.files.json_values import (
    AROUND,
    CUT,
    FENCE,
    SEVERAL,
    TOO_DEEP,
    Unreadable,
    decode_line,
    explained,
    is_id,
    read_data,
    read_json,
    read_noisy,
    repeated_key_of,
    says_repeated,
    shown,
    try_decode,
    without_reasoning,
)
from tallystick.files.lines import Lines
from tallystick.files.pairing import Side
from tallystick.files.source import Source
from tallystick.frozen import frozen

UNREADABLE = "(arguments that cannot be read)"
"""The argument that stands for a text of arguments that is no JSON object."""
NO_CALL = "(a call that cannot be read)"
"""The function that stands for what is tagged as a call and is none."""
DEEPEST = 100
"""How deep arguments may be; deeper ones cannot be read."""
SKIPPED = {
    "tools", "functions", "request", "tool_definitions", "tool_choice", "functionResponse", "function_response", "codeExecutionResult",
    "code_execution_result",
}  # fmt: skip
"""What else is in logs under these keys: definitions, what was asked, and what tools of Gemini answered."""
BROKEN = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
"""Why Gemini stopped, if it wrote a call that it does not show."""
CALLS = {"ground_truth", "calls", "tool_calls", "possible_answer"}
"""What is under these keys is calls and nothing else: what cannot be read there is a call that cannot be read."""
TURN, TEXT = "(turn)", "(text)"
"""Where else calls may be: in a list inside of a log that is a list, and in what a model wrote between its words."""
LISTS = {*CALLS, "", "result", TURN, TEXT}
"""Under these keys, or in the log itself (""), a list may hold calls as BFCL writes them: {function: arguments}."""
NAMES, OTHER_NAMES = ("name", "function"), ("tool", "tool_name", "action")
"""Where the name of a call is."""
ARGUMENTS, OTHER_ARGUMENTS = ("arguments", "args"), ("parameters", "input", "tool_input", "action_input")
"""Where the arguments of a call are; the others only among calls, because other things in logs have them too."""
BESIDE = {"id", "call_id", "index", "type"}
"""What else a call has that is nothing but a name."""
MESSAGE = {
    "role",
    "type",
    "content",
    "text",
    "parts",
    "message",
    "jsonrpc",
    "choices",
    "output",
    "candidates",
    "response",
}
"""What an item of a log has that is a message, and no call."""
OF_LOGS = {
    *CALLS, *SKIPPED, *MESSAGE, *NAMES, *ARGUMENTS, "id", "custom_id", "messages", "result", "error", "body", "method", "functionCall", "function_call"
}  # fmt: skip
"""What a log or a call has, and a mapping of logs by id has not."""
OF_BUILTINS = {"status", "results", "result", "outputs", "output", "error", "container_id", "pending_safety_checks"}
"""What a call of a provider's own tool has that is no argument."""
ENVELOPES = ("response", "body", "result", "output", "message")
"""Where the answer of a provider is in a log that says more than the answer."""
KNOWN = {
    *MESSAGE,
    *CALLS,
    *SKIPPED,
    *ENVELOPES,
    "messages",
    "error",
    "method",
    "functionCall",
    "function_call",
    "finishReason",
    "finish_reason",
}
"""What a log has, whether it has calls or not."""
NOT_CALLS = ("tool_result",)
_TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_BEGUN = re.compile(r'\[\s*\{|\{\s*"')
_BEGUN_LIST = re.compile(r"\s*(?:`+\w*\s*)?\[\s*\{")
_LISTED = re.compile(r"\[\s*[^\W\d][\w.]*\(")
_BARE = re.compile(r"\s*(?:`+\w*\s*)?(?=[^\W\d][\w.]*\(\s*(?:\)|[^\W\d]\w*\s*=(?!=)))")
"""A call without a list around it: arguments by name, or none."""
_CALLED = re.compile(r"\s*[^\W\d][\w.]*\(")
_MARKS = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[\[\](){},;\n]""", re.DOTALL)
_TOOL_CODE = re.compile(r"```tool_code\b(.*?)(?:```|\Z)", re.DOTALL)
"""Gemini's way to call in a text: lines of Python that print what was answered."""
_OWN = "default_api."
"""What Gemini writes before the name of a function there."""
_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
_OPENED = re.compile(r"[\[{]")
_NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass
class Call:
    """One call: a function by its name, and its arguments by theirs."""

    name: str
    arguments: dict[str, Any]
    given: Any = None
    """What is there instead, if it cannot be read."""
    id: str | int | None = None
    """What its log calls it, if it does: what is logged twice has one."""


@dataclass
class Log:
    """The calls of one document, and where it stands; `possible` if every argument is a list of right values."""

    calls: list[Call]
    place: Place
    possible: bool = False
    invalid: str = ""
    """Why this is an invalid prediction, no log in which nothing was called, if it is one."""
    strange: frozenset[str] = frozenset()
    """The keys of an object without calls that has nothing that logs have."""


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
    id: str = "id"
    strict: bool = False
    """Whether this is a reference, which has to be right."""
    place: Place | None = None
    """Where the log is that is being read."""
    repeated: list[tuple[str, Place | None]] = field(default_factory=list)
    """Keys that stand twice in one object, of which the last one counts, and where."""
    instead: str = ""
    """What the first log without a name has in the place of one."""
    logged_twice: int = 0
    """Calls that their log has before, with the same id."""
    own_keys: set[str] = field(default_factory=set)
    """The keys of objects with calls that have none of those that logs have: the calls are under one of them."""

    def look_for_repeated(self, text: str, value: Any) -> None:
        """Note a key that stands twice in one object of the JSON that this value was read from; in a reference it is an error."""
        key = repeated_key_of(text, value)
        if key is not None and self.strict:
            raise InputError(says_repeated(key), self.place)
        self.repeated += [] if key is None else [(key, self.place)]

    def note_keys(self, value: Any, log: Log) -> None:
        """Note the keys of an object with none of what logs have: where calls may be, if it has any, and else those with something under them."""
        if isinstance(value, dict) and not value.keys() & KNOWN and "jsonrpc" not in value:
            if log.calls:
                self.own_keys |= value.keys()
            else:
                log.strange = frozenset(key for key, one in value.items() if one not in (None, "", [], {}))

    def refuse_misspelt(self) -> None:
        """An object without calls, none of whose keys a log has, is no log that calls nothing if one of them is misspelt; what else it has may be an
        answer in words. Of keys under which others of the file have calls none is."""
        for log in self.logs:
            meant = {key: word for key in sorted(log.strange - self.own_keys) if (word := _misspelt(key))}
            for key, word in meant.items():
                log.invalid = f'has no calls, and the key "{key}". Did you mean "{word}"?'
                if self.strict:
                    raise InputError(log.invalid, log.place)
                break

    def notes(self) -> Iterator[str]:
        """What is to be said about how they were read."""
        if self.remark:
            yield self.remark
        if self.repeated:
            times = counted(len(self.repeated), "object")
            keys = some(dict.fromkeys(key for key, _ in self.repeated))
            first = f"; the first: {self.repeated[0][1]}" if self.repeated[0][1] else ""
            yield f"{self.file}: {times} with a key that stands twice ({keys}); the last one counts{first}"
        if self.logged_twice:
            times = counted(self.logged_twice, "call")
            yield f"{self.file}: {times} not counted, because the log has it before, with the same id, name and arguments"
        if self.repaired:
            yield f"{self.file}: repaired the text of {counted(self.repaired, 'call')}"
        yield from self._unread()
        if not self.logs:
            return
        if not any(log.calls for log in self.logs) and self.wordy == len(self.logs):
            expected = '<tool_call>{"name": ..., "arguments": {...}}</tool_call>, JSON, or [f(x=1)]'
            yield f"{self.file}: no call was found in any log; in a text, {expected} are calls"
        elif not any(log.calls for log in self.logs) and not all(log.invalid for log in self.logs):
            yield f"{self.file}: no call was found in any log; if they are under another field, name it with --from PATH"
        elif self.wordy:
            yield f"{self.file}: {counted(self.wordy, 'log')} with only words, which call nothing"

    def _unread(self) -> Iterator[str]:
        """How many calls cannot be read."""
        unread = [(log.place, call) for log in self.logs for call in log.calls if _cannot_be_read(call)]
        for place, call in unread[:1]:
            found = shown(call.arguments.get(UNREADABLE, call.arguments)) if call.arguments else call.name
            calls = f"{counted(len(unread), 'call')} that cannot be read, or not the arguments; counted as wrong"
            yield f"{self.file}: {calls}; the first: {place}: {found}"

    @property
    def named(self) -> bool:
        return bool(self.names) and None not in self.names

    @property
    def side(self) -> Side[Any]:
        return Side(self.file, (), named=any(name is not None for name in self.names))

    def require_names(self) -> None:
        """All logs have an id; one without could belong to any."""
        if None in self.names:
            what = f"has no text or number under {self.id!r}, which pairs the other logs{self.instead}"
            raise InputError(what, self.logs[self.names.index(None)].place)


def _misspelt(key: str) -> str:
    """What a key may have been meant to be: one or two slips away, and of a short word no other letter."""
    from rapidfuzz.distance import OSA

    for word in (*CALLS, *NAMES, *ARGUMENTS):
        slips = OSA.distance(key.casefold(), word)
        same = len(key) != len(word) or sorted(key.casefold()) == sorted(word) or len(word) > 4
        if key != word and slips <= 1 + (len(word) > 6) and same:
            return word
    return ""


# Where the calls are in a log


def find_calls(value: Any, logs: Logs, key: str = "") -> Iterator[Call]:
    """The calls in a value, in the order in which they stand."""
    if isinstance(value, str):
        yield from _in_text(value, logs) if key in LISTS or _is_marked(value) else ()
    elif isinstance(value, dict) and key not in CALLS:
        yield from _in_object(value, logs, key)
    elif isinstance(value, (dict, list)):
        items = value if isinstance(value, list) else [value]
        found = [list(_in_item(one, logs, key)) for one in items]
        certain = key in LISTS - {"result", TEXT}
        among_calls = certain or (key in LISTS and (any(found) or any(isinstance(one, dict) for one in items)))
        for one, calls in zip(items, found, strict=True):
            yield from calls or ([Call(NO_CALL, {}, one)] if among_calls and _should_call(one, key) else [])


def _in_item(value: Any, logs: Logs, key: str) -> Iterator[Call]:
    """The calls in an item of a list."""
    if isinstance(value, dict):
        return _in_object(value, logs, key, key in LISTS)
    inner = TURN if not key and isinstance(value, list) else key
    return find_calls(value, logs, inner if key in LISTS else "[]")


def _should_call(value: Any, key: str) -> bool:
    """Whether what is among calls and has none is a call that cannot be read: it is no turn without calls, no message if messages may be there, and
    no words in a turn, where a model may say something."""
    if isinstance(value, str):
        return key not in ("result", TURN) and not value.isspace()
    return not isinstance(value, list) and (key in CALLS or not isinstance(value, dict) or not value.keys() & MESSAGE)


def _in_object(value: Mapping[str, Any], logs: Logs, key: str, listed: bool = False) -> Iterator[Call]:
    """The call that an object is, or those that are inside of it. `listed` among calls, it may be one as BFCL writes it."""
    if _is_answer(value):
        return
    message = value.keys() & (MESSAGE - {"type"} if value.get("type") in ("function", "tool_call") else MESSAGE)
    may_be_plain = key in CALLS or ((listed or not key) and not message)
    found = _call_in(value, logs, may_be_plain and (key in CALLS or "type" not in value))
    calls = [found] if found else _plain_calls(value, logs, key, listed) if may_be_plain else []
    calls = calls or [call for name in value for call in _under(value, name, logs)]
    nameless = key in ("", TEXT) and not message and "arguments" in value and not value.keys() & CALLS
    yield from calls or ([Call(NO_CALL, {}, value)] if nameless else [])
    stopped = value.get("finishReason", value.get("finish_reason"))
    if isinstance(stopped, str) and stopped.endswith(BROKEN):
        yield Call(NO_CALL, {}, value.get("finishMessage", stopped))


def _under(value: Mapping[str, Any], name: str, logs: Logs) -> Iterator[Call]:
    """The calls under one key of an object."""
    if name == "content" and isinstance(value[name], str) and _is_answer_of_model(value):
        return _in_content(value[name], logs)
    return find_calls(value[name], logs, name) if name not in SKIPPED else iter(())


def _is_answer(value: Mapping[str, Any]) -> bool:
    """Whether this is what a tool answered."""
    kind = value.get("type")
    said = kind in NOT_CALLS or (isinstance(kind, str) and kind.endswith(("_call_output", "_tool_result")))
    return said or value.get("role") == "tool" or ("jsonrpc" in value and "result" in value)


def _is_answer_of_model(value: Mapping[str, Any]) -> bool:
    """Whether the content of a message is what a model wrote, and its calls are nowhere else."""
    by_model = value.get("role", value.get("type", "ai")) in ("assistant", "model", "ai") or value.get("type") == "ai"
    return by_model and not value.get("tool_calls") and not value.get("function_call")


def _call_in(value: Mapping[str, Any], logs: Logs, among_calls: bool) -> Call | None:
    """The call that an object is, however it is written; `among_calls` its parts may have other names."""
    inner = _inner(value)
    names, keys = (NAMES + OTHER_NAMES, ARGUMENTS + OTHER_ARGUMENTS) if among_calls else (NAMES, ARGUMENTS)
    called = next((one for one in names if one in inner and (one == "name" or isinstance(inner[one], str))), None)
    key = next((one for one in keys if one in inner), None)
    if called is None or key is None or _is_definition(inner):
        return None
    name = inner[called] if inner[called] and isinstance(inner[called], str) else f"({shown(inner[called])} for a name)"
    return Call(name, _arguments(inner[key], logs), id=_call_id(value, inner))


def _call_id(value: Mapping[str, Any], inner: Mapping[str, Any]) -> str | int | None:
    """The id of a call; that of a message of JSON-RPC is none, because a session may begin to count again."""
    ids = () if "jsonrpc" in value else (value.get("call_id"), inner.get("id"), value.get("id"))
    return next((one for one in ids if one and is_id(one)), None)


def _inner(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What has the name and the arguments of a call, if the object is one."""
    kind = value.get("type")
    if value.get("method") == "tools/call":  # MCP, where a call without arguments need not have any
        return _said_to_be_a_call(value.get("params"))
    if value.get("functionCall") is not None:
        return _said_to_be_a_call(value["functionCall"])
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return {"name": value.get("name"), "arguments": value.get("input")}
    if kind == "custom_tool_call" or (kind == "custom" and isinstance(value.get("custom"), dict)):
        given = value if kind == "custom_tool_call" else value["custom"]
        text = {"input": given["input"]} if "input" in given else {}
        return {"name": given.get("name"), **({"arguments": text} if text or kind == "custom_tool_call" else {})}
    if isinstance(kind, str) and kind.endswith("_call") and not value.keys() & {*NAMES, *ARGUMENTS}:
        return _call_of_builtin(kind, value)
    code = value.get("executableCode", value.get("executable_code"))
    if isinstance(code, dict):  # Gemini's own tool
        return {"name": "code_execution", "arguments": code}
    if kind == "function_call":
        return _said_to_be_a_call(value)
    if isinstance(value.get("function_call"), dict):
        return _said_to_be_a_call(value["function_call"])
    return value["function"] if isinstance(value.get("function"), dict) else value


def _call_of_builtin(kind: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call of a tool of the provider's own, such as `web_search_call`: what it did, or what else it has beside its answer."""
    given = {key: one for key, one in value.items() if key not in (*BESIDE, *OF_BUILTINS)}
    inside = given.get("action")
    return {"name": kind.removesuffix("_call"), "arguments": inside if isinstance(inside, dict) else given}


def _said_to_be_a_call(value: Any) -> Mapping[str, Any]:
    """What its log says is a call is one, also without a name or arguments."""
    given = value if isinstance(value, dict) else {}
    return {"name": None, **({} if any(key in given for key in ARGUMENTS) else {"arguments": {}}), **given}


def _is_definition(value: Mapping[str, Any]) -> bool:
    """Whether this defines a tool: its parameters are a schema."""
    schema = value.get("parameters")
    return isinstance(schema, dict) and ("description" in value or isinstance(schema.get("properties"), dict))


def _plain_calls(value: Mapping[str, Any], logs: Logs, key: str, listed: bool) -> list[Call]:
    """A name alone; or, in a list, {function: arguments}, as BFCL has it, where they may be a text of JSON. Several functions are as many calls, if all
    have arguments."""
    inner = value["function"] if isinstance(value.get("function"), dict) else value
    called = next((one for one in NAMES + OTHER_NAMES if isinstance(inner.get(one), str)), None)
    if called and inner.keys() <= {called, *BESIDE} and not _is_object(inner[called]):
        name = inner[called]
        call = Call(name or f"({shown(name)} for a name)", {}, id=_call_id(value, inner))
        return [call] if called == "name" or key in CALLS else []
    if not listed or "type" in value or value.keys() & {"function", "functionCall", "function_call", "name"}:
        return []
    none = len(value) == 1 and key != TEXT and all(one in (None, "") for one in value.values())
    if not none and not all(map(_is_object, value.values())):
        return []
    return [Call(name, _arguments(one, logs)) for name, one in value.items()]


def _is_object(value: Any) -> bool:
    """Whether this is an object, or may be a text of one."""
    return isinstance(value, dict) or (isinstance(value, str) and value.lstrip()[:1] == "{")


def _arguments(value: Any, logs: Logs) -> dict[str, Any]:
    """Arguments are an object, or a text that holds one."""
    if isinstance(value, str):
        found = try_decode(value) if value.strip() else ({},)
        if found is None:
            try:
                found = (read_noisy(value)[0],)
                logs.repaired += isinstance(found[0], dict)
            except Unreadable:
                found = (value,)
        else:
            logs.look_for_repeated(value, found[0])
        value = found[0]
    if value is None:
        return {}
    if _is_deep(value):
        return {UNREADABLE: shown(value)}
    return value if isinstance(value, dict) else {UNREADABLE: value}


def _is_deep(value: Any, most: int = DEEPEST) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most == 0 or any(_is_deep(one, most - 1) for one in inner)


def _in_text(text: str, logs: Logs) -> Iterator[Call]:
    """The calls in a model's text: between tags, as JSON, or as Python would call them."""
    for code in _TOOL_CODE.findall(text):
        yield from _tool_code(code)
    text = _TOOL_CODE.sub("", text)
    tagged = _TAGGED.findall(text)
    for one in tagged or [text]:
        found = _in_one_text(one, logs)
        yield from found or ([Call(NO_CALL, {}, one)] if tagged else [])


def _is_marked(text: str) -> bool:
    """Whether a text has what marks calls between words."""
    return "<tool_call>" in text or "```tool_code" in text


def _tool_code(text: str) -> list[Call]:
    """The calls of lines of Python, which are never run, also those inside of `print` and on the right of `=`."""
    try:
        body = ast.parse(text.strip()).body
    except _NO_PYTHON:
        return [Call(NO_CALL, {}, text.strip())] if text.strip() else []
    values = [one.value for one in body if isinstance(one, (ast.Expr, ast.Assign)) and one.value is not None]
    printed = [one for value in values for one in (value.args if _is_print(value) else [value])]
    found = [_python_call(one) for one in printed if isinstance(one, ast.Call)]
    for call in found:
        call.name = call.name.removeprefix(_OWN)
    return found or [Call(NO_CALL, {}, text.strip())]


def _is_print(tree: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "print"


def _in_one_text(text: str, logs: Logs) -> list[Call]:
    try:
        return _python_calls(text)
    except _NO_PYTHON:
        found = _listed_calls(without_reasoning(text))
    if found:
        logs.repaired += any(one.name != NO_CALL for one in found)
        return found
    try:
        value, repairs = read_noisy(text)
    except Unreadable:
        return [Call(NO_CALL, {}, text)] if _BEGUN_LIST.match(text) else []
    logs.look_for_repeated(text, value)
    several = _several(without_reasoning(text)) if {AROUND, SEVERAL} & set(repairs) else []
    if several:
        found = [call for one in several for call in find_calls(one, logs, "calls")]
    elif isinstance(value, dict):
        found = list(_in_object(value, logs, TEXT, True))
    else:
        found = list(find_calls(value, logs, "" if set(repairs) <= {FENCE} or _is_python_list(text) else TEXT))
        found += _begun(text, value) if CUT in repairs else []
    logs.repaired += bool(repairs and found)
    return found


def _in_content(text: str, logs: Logs) -> Iterator[Call]:
    """The calls in what a model answered: between tags, or if there is nothing else, a list of Python's calls, or JSON with the name and the arguments
    of a call. Other JSON is an answer."""
    said = without_reasoning(text).strip()
    fenced = _FENCED.fullmatch(said)
    said = fenced[1] if fenced else said
    if _is_marked(text):
        yield from _in_text(text, logs)
    elif _LISTED.match(said):
        yield from _in_one_text(said, logs) if _pieces(said, 0)[1] == len(said) else ()
    elif said[:1] in ("[", "{"):
        try:
            value, repairs = read_noisy(said)
        except Unreadable:
            return
        items = value if isinstance(value, list) else [value]
        if not {AROUND, SEVERAL} & set(repairs) and any(map(_is_named_call, items)):
            logs.look_for_repeated(said, value)
            logs.repaired += bool(repairs)
            yield from find_calls(value, logs, "calls")
            yield from _begun(said, value) if CUT in repairs and isinstance(value, list) else ()


def _several(text: str) -> list[Any]:
    """The values of JSON in a text that have a call with its name and arguments; and, behind one, a text that begins another and is no JSON."""
    out: list[Any] = []
    start = _OPENED.search(text)
    while start:
        try:
            value, end = json.JSONDecoder().raw_decode(text, start.start())
        except (ValueError, RecursionError):
            return [*out, [text[start.start() :]]] if out and _BEGUN.match(text, start.start()) else out
        out += [value] if any(map(_is_named_call, value if isinstance(value, list) else [value])) else []
        start = _OPENED.search(text, end)
    return out


def _begun(text: str, value: Sequence[Any]) -> list[Call]:
    """The call that a list begins before it is cut off, if nothing of it could be read."""
    pieces = _pieces(text, text.find("["))[0]
    begun = len(pieces) > len(value) and pieces[-1].lstrip()[:1] == "{"
    return [Call(NO_CALL, {}, pieces[-1].strip())] if begun else []


def _is_named_call(value: Any) -> bool:
    """Whether an object is certainly a call: it has a name, and arguments that can be read."""
    found = _call_in(value, Logs(""), True) if isinstance(value, dict) else None
    return found is not None and not found.name.startswith("(") and UNREADABLE not in found.arguments


def _python_calls(text: str) -> list[Call]:
    """`[get_weather(city="Oslo"), now()]`, also on several lines, which is never run. What else is in such a list is a call that cannot be read."""
    body = ast.parse(text.strip().strip("`").strip()).body
    if not body or not all(isinstance(one, ast.Expr) for one in body):
        raise ValueError("no call")
    return [call for one in body if isinstance(one, ast.Expr) for call in _calls_of(one.value)]


def _calls_of(tree: ast.expr) -> list[Call]:
    """The calls of one line of Python."""
    if isinstance(tree, ast.Call) and tree.args and all(isinstance(one, ast.Name) for one in tree.args):
        raise ValueError("words, and a word in brackets")
    items = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]
    enough = any if isinstance(tree, ast.List) and items else all
    if not enough(isinstance(one, ast.Call) for one in items):
        raise ValueError("no call")
    return [_python_call(one) for one in items]


def _python(text: str) -> ast.expr:
    return ast.parse(text.strip().strip("`").strip(), mode="eval").body


def _python_call(tree: ast.expr) -> Call:
    if isinstance(tree, ast.Call):
        return Call(ast.unparse(tree.func), _python_arguments(tree))
    return Call(NO_CALL, {}, ast.unparse(tree))


def _is_python_list(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(_python(text)), list)
    except (*_NO_PYTHON, TypeError):
        return False


def _listed_calls(text: str) -> list[Call]:
    """The items of lists of Python's calls that are broken, cut off, or between words: each of them is a call, whether it can be read or not. Without
    a list, what begins like a call is one, if no words follow the first."""
    bare = _BARE.match(text)
    if bare:
        pieces = _pieces(text, bare.end() - 1, ",;\n")[0]
        alone = pieces[0].count("(") > pieces[0].count(")") or _piece(pieces[0]).name != NO_CALL
        return [_piece(one) for one in pieces if _CALLED.match(one)] if alone else []
    out: list[Call] = []
    start = _OPENED.search(text)
    while start and _LISTED.match(text, start.start()):
        pieces, end = _pieces(text, start.start())
        out += map(_piece, pieces)
        start = _OPENED.search(text, end)
    return out


def _pieces(text: str, start: int, between: str = ",") -> tuple[list[str], int]:
    """The items of the list that begins here, as they are written, and where it ends."""
    pieces, begin, depth, end = [], start + 1, 0, len(text)
    for mark in _MARKS.finditer(text, begin):
        if depth == 0 and mark[0] in (*between, "]"):
            pieces.append(text[begin : mark.start()])
            begin = mark.end()
            if mark[0] == "]":
                end = begin
                break
        depth += (mark[0] in "([{") - (mark[0] in ")]}" and depth > 0)
    return [one for one in [*pieces, text[begin:end]] if one.strip()], end


def _piece(text: str) -> Call:
    try:
        return _python_call(_python(text))
    except _NO_PYTHON:
        return Call(NO_CALL, {}, text.strip())


def _cannot_be_read(call: Call) -> bool:
    """Whether something else is there instead of a call, of its name, of its arguments, or of one of them."""
    inside = (one for one in call.arguments.values() if isinstance(one, dict))
    return call.name.startswith("(") or any(UNREADABLE in one for one in (call.arguments, *inside))


def _python_arguments(call: ast.Call) -> dict[str, Any]:
    """Each argument by its name; those without one, or with that of another, cannot be read."""
    found = {str(one.arg): _literal(one.value) for one in call.keywords if one.arg}
    if call.args or len(found) < len(call.keywords):
        return {UNREADABLE: ast.unparse(call)}
    return found


def _literal(node: ast.expr) -> Any:
    try:
        return _as_json(ast.literal_eval(node))
    except ValueError:
        return {UNREADABLE: ast.unparse(node)}


def _as_json(value: Any) -> Any:
    if isinstance(value, (list, tuple, set)):
        return [_as_json(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(one) for key, one in value.items()}
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError("JSON has no such value")


# Files of logs


def read_logs(given: Any, name: str, take: str | None, id: str, *, strict: bool = False) -> Logs:
    """One side. Lines of JSON-RPC that share a name are one log. A `strict` side has no logs of words alone."""
    lines = _open_logs(given, name, take, id, gaps=not strict)
    logs = Logs(lines.file, remark=lines.remark, id=id, strict=strict)
    places: dict[Any, int] = {}
    for portion in lines.portions():
        for place, (number, line) in enumerate(zip(portion.numbers, portion.lines, strict=True)):
            logs.place = lines.place(number)
            found = try_decode(line)
            value = found[0] if found is not None else _words(line, lines, number)
            if found is not None:
                logs.look_for_repeated(line.decode(), value)
            message = isinstance(value, dict) and "jsonrpc" in value
            key = portion.names[place] if portion.names else None
            if key is None:
                key = _id_at(value, id, lines.place(number))
            if key is None and None not in logs.names:
                logs.instead = found_instead(value, id)
            log = Log([], lines.place(number), isinstance(value, dict) and _is_possible(value))
            log.calls += _found(value, logs, log, strict)
            logs.note_keys(value, log)
            nothing = not log.calls and not _is_log(value)
            logs.wordy += nothing and isinstance(value, str)
            if nothing and strict:
                raise _no_log(value, line, lines, number)
            if message and key in places:
                logs.logs[places[key]].calls += log.calls
                continue
            if message and key is not None:
                places[key] = len(logs.logs)
            logs.logs.append(log)
            logs.names.append(key)
    logs.refuse_misspelt()
    return logs


def _open_logs(given: Any, name: str, take: str | None, id: str, gaps: bool) -> Lines:
    """Logs wherever they are; one object is {id: log}, unless it is a log itself."""
    own = {str(read_path(path)[0]) for path in (take, id) if path}
    return open_documents(
        given, name=name, take=take, id=id, fields=OF_LOGS | own, by_key=True, gaps=gaps, is_document=_is_document
    )


def _is_document(value: Mapping[str, Any]) -> bool:
    """Whether an object in a list is a log by itself, and neither a call nor a message."""
    held = {*CALLS, "messages", "choices", "candidates", "output", "response"}
    return bool(value.keys() & held) and not value.keys() & {"role", "type"}


def _id_at(value: Any, path: str, place: Place) -> Any:
    """The name of a log; None without one. The id of a message of JSON-RPC is none."""
    if not isinstance(value, dict) or ("jsonrpc" in value and path == "id"):
        return None
    found = value_at(value, path)
    if found is MISSING or found is None:
        return None
    if not is_id(found):
        raise wrong_id(path, found, place)
    return found


def _is_log(value: Any) -> bool:
    """Whether this may be a log without calls: a list, or an object that has what logs have, or in which something could be."""
    if not isinstance(value, dict):
        return isinstance(value, list)
    known = value.keys() & {*MESSAGE, *LISTS, "method"} - {"type", "text"}
    return bool(known) or any(isinstance(one, (dict, list)) for one in value.values())


def _why_invalid(value: Any, id: str = "id") -> str:
    """Why what has no calls is no answer that calls nothing, but none at all: a request failed, and left an error, or nothing. "" if it is an answer."""
    if not isinstance(value, dict):
        return "" if isinstance(value, (str, list)) else f"is {shown(value)}, and no log of calls"
    if "jsonrpc" in value or _is_answer(value):  # an error of MCP is what a tool answered
        return ""
    if value.get("error"):
        return f"has no calls, and the error {shown(value['error'])}"
    held = {key: one for key, one in value.items() if key not in (id.split(".")[0], "id", "custom_id")}
    if not any(isinstance(one, (str, list, dict)) for one in held.values()):
        return f"is {shown(value)}, and no log of calls"
    return next(filter(None, (_why_invalid(held[key]) for key in ENVELOPES if isinstance(held.get(key), dict))), "")


def _no_log(value: Any, line: bytes, lines: Lines, number: int) -> InputError:
    """The error about a reference that is only words, or no log at all; if it was meant to be JSON, about what is wrong with it."""
    if not isinstance(value, str):
        return InputError(f"is {shown(value)}; expected a log of calls ([] without a call)", lines.place(number))
    if value.lstrip()[:1] in ("{", "["):
        decode_line(line, lines.file, number)
    return InputError(f"is text without a call, {shown(value)}; a log without calls is []", lines.place(number))


def _found(value: Any, logs: Logs, log: Log, strict: bool) -> list[Call]:
    """The calls of a log. What cannot be read in a prediction is wrong; in a reference it is an error, because nothing could be right."""
    try:
        calls = _without_logged_twice(list(find_calls(value, logs)), logs)
    except RecursionError:
        raise InputError(TOO_DEEP, log.place) from None
    log.invalid = "" if strict or calls else _why_invalid(value, logs.id)
    for call in calls if strict else ():
        if call.name == NO_CALL:
            what = f"found {shown(call.given)} for a call"
            raise InputError(
                f'{what}; expected {{"name": ..., "arguments": {{...}}}}, or {{function: arguments}}', log.place
            )
        if call.name.startswith("("):
            raise InputError(f"found a call of {call.name}; expected the name of a function", log.place)
        if UNREADABLE in call.arguments:
            what = f"found arguments of {call.name} that cannot be read, {shown(call.arguments[UNREADABLE])}"
            raise InputError(f"{what}; expected an object, or a text that holds one", log.place)
        for name, options in call.arguments.items():
            if log.possible and options == []:
                raise InputError(f"found no possible value of {name} in {call.name}; expected one or more", log.place)
    return calls


def _without_logged_twice(calls: Sequence[Call], logs: Logs) -> list[Call]:
    """The calls without those that the log has before, with the same id, name and arguments."""
    out: list[Call] = []
    known: dict[str | int, list[Call]] = {}
    for call in calls:
        before = known.setdefault(call.id, []) if call.id is not None else []
        if any(one.name == call.name and same_value(one.arguments, call.arguments) for one in before):
            logs.logged_twice += 1
            continue
        before.append(call)
        out.append(call)
    return out


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
    items = calls if isinstance(calls, list) else []
    inner = [arguments for one in items if isinstance(one, dict) for arguments in one.values()]
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
    held = isinstance(given, (list, dict))
    value, file = (given, "tools") if held else (_read_definitions(given), str(given))
    found: dict[str, Tool] = {}
    for one in _definitions(value):
        inner = one["function"] if isinstance(one, dict) and isinstance(one.get("function"), dict) else one
        inner = inner if isinstance(inner, dict) else {}
        keys = ("parameters", "input_schema", "inputSchema")
        schema: Any = next((inner[key] for key in keys if inner.get(key) is not None), {})
        properties = (schema.get("properties") or {}) if isinstance(schema, dict) else None
        if not isinstance(properties, dict) or not isinstance(inner.get("name"), str):
            raise InputError(f"expected a tool with a name and the schema of its parameters, found {one!r:.60}", file)
        tool = Tool(inner["name"], properties)
        if found.setdefault(tool.name, tool).parameters != tool.parameters:
            raise InputError(f"found two definitions of the tool {tool.name!r} that differ; expected one", file)
    if not found:
        raise InputError("has no definition of a tool; expected a list of them", file)
    return found


def _read_definitions(file: Any) -> Any:
    """YAML, one JSON value, or a JSON value on each line."""
    source = Source.of(file)
    if str(file).endswith((".yaml", ".yml")) or b"\n" not in source.read().strip() or try_decode(source.read()):
        return read_data(source)
    return [one.value for one in read_json(source)]


def _definitions(value: Any) -> Iterator[Any]:
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


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of JSON are equal; true is not 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_value(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same_value, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)

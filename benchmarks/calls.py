"""500 logs of tool calls, as OpenAI, Anthropic and MCP write them, to try `tallystick score calls` on.

    python -m benchmarks.calls logs         writes logs/gold.jsonl, openai.jsonl, anthropic.jsonl, mcp.jsonl and tools.json

The three logs hold the same calls, with the faults that models make: a wrong argument, one too few, one that the tool does not have, a
call too few, a call twice, a function that there is not, arguments whose JSON is broken.
"""

import json
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Call = dict[str, Any]

TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"], "default": "C"}},
            "required": ["city"],
        },
    },
    {
        "name": "search",
        "description": "Documents about something.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "x-tallystick": {"text": ["equal", "casefold", "whitespace"]}},
                "limit": {"type": "integer"},
                "filters": {"type": "object", "properties": {"lang": {"type": "string"}}},
            },
            "required": ["query"],
        },
    },
    {
        "name": "send_mail",
        "description": "Sends a mail.",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "array", "items": {"type": "string"}}, "body": {"type": "string"}},
            "required": ["to", "body"],
        },
    },
]


def generate(logs: int = 500, seed: int = 5) -> tuple[list[list[Call]], list[list[Call]]]:
    """The calls of a reference and of a model."""
    rng = random.Random(seed)
    gold = [[_call(rng) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))] for _ in range(logs)]
    return gold, [_damaged(calls, rng) for calls in gold]


def _call(rng: random.Random) -> Call:
    makes: dict[str, Callable[[], dict[str, Any]]] = {
        "get_weather": lambda: {
            "city": rng.choice(["Oslo", "Rome", "Lima"]),
            **({"unit": rng.choice(["C", "F"])} if rng.random() < 0.5 else {}),
        },
        "search": lambda: {
            "query": rng.choice(["tax law", "art", "jazz"]), "limit": rng.randrange(1, 9), "filters": {"lang": rng.choice(["en", "de"])},
        },
        "send_mail": lambda: {"to": [f"{rng.choice('abc')}@x.org", f"{rng.choice('abc')}@y.org"], "body": "Hello"},
    }  # fmt: skip
    name = rng.choice(list(makes))
    return {"name": name, "arguments": makes[name]()}


def _damaged(calls: list[Call], rng: random.Random) -> list[Call]:
    calls = json.loads(json.dumps(calls))
    kind = rng.random()
    if not calls:
        return calls if kind < 0.8 else [_call(rng)]
    one = rng.choice(calls)
    first = next(iter(one["arguments"]))
    if kind < 0.55:
        rng.shuffle(calls)  # parallel calls have no order
    elif kind < 0.65:
        one["arguments"][first] = "something else"
    elif kind < 0.72:
        calls.remove(one)
    elif kind < 0.79:
        one["name"] = "get_wether"
    elif kind < 0.86:
        one["arguments"]["color"] = "red"
    elif kind < 0.93:
        calls.append(dict(one))
    else:
        del one["arguments"][first]
    return calls


def openai(calls: list[Call]) -> dict[str, Any]:
    """A response of OpenAI's chat completions."""
    listed = [
        {"id": f"call_{k}", "type": "function", "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])}}
        for k, one in enumerate(calls)
    ]  # fmt: skip
    message = {"role": "assistant", "content": None if calls else "Nothing to do.", "tool_calls": listed}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def anthropic(calls: list[Call]) -> dict[str, Any]:
    """A message of Anthropic's."""
    content: list[dict[str, Any]] = [{"type": "text", "text": "Let me see."}]
    for k, one in enumerate(calls):
        content.append({"type": "tool_use", "id": f"toolu_{k}", "name": one["name"], "input": one["arguments"]})
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}


def mcp(calls: list[Call]) -> list[dict[str, Any]]:
    """What a client of MCP and a server said to each other."""
    out: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "x"}}}
    ]
    for k, one in enumerate(calls, 1):
        params = {"name": one["name"], "arguments": one["arguments"]}
        out.append({"jsonrpc": "2.0", "id": k, "method": "tools/call", "params": params})
        out.append({"jsonrpc": "2.0", "id": k, "result": {"content": [{"type": "text", "text": "done"}]}})
    return out


def write(folder: Path, logs: int = 500) -> None:
    """The reference, and the model's calls in three kinds of log."""
    gold, system = generate(logs)
    names = [f"log-{k:03}" for k in range(logs)]
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "gold.jsonl", ({"id": name, "calls": calls} for name, calls in zip(names, gold, strict=True)))
    both = list(zip(names, system, strict=True))
    _write(folder / "openai.jsonl", ({"id": name, "response": openai(calls)} for name, calls in both))
    _write(folder / "anthropic.jsonl", ({"id": name, "response": anthropic(calls)} for name, calls in both))
    _write(folder / "mcp.jsonl", ({"session": name, **message} for name, calls in both for message in mcp(calls)))
    (folder / "tools.json").write_text(json.dumps([{"type": "function", "function": tool} for tool in TOOLS], indent=1))


def _write(file: Path, rows: Iterable[Any]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "logs"))

"""`calls`: tool calls, from the logs of OpenAI, Anthropic, MCP and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute
from tallystick.tasks.contract import Asked, Reading, Scored, Shown, Task, option

if TYPE_CHECKING:
    from tallystick.results.report import Parts


LOG_KEYS = (
    "choices",
    "content",
    "output",
    "candidates",
    "calls",
    "tool_calls",
    "function_call",
    "jsonrpc",
    "message",
    "response",
)
"""What a log has, and a mapping of logs by id has not."""


@frozen
class CallSettings:
    """How calls are compared, and where they are."""

    # fmt: off
    tools: Any = option(None, "Definitions of the tools, as JSON: an argument that is its default may be left out, x-tallystick in a parameter says how to compare it, and any other function is hallucinated.", metavar="FILE")
    choices: Any = option(None, "YAML or JSON: how to compare what, by path, e.g. calls[*].arguments.city: {text: levenshtein}.", metavar="FILE")
    ordered: bool = option(False, "Calls have an order; else parallel calls may come in any.")
    strings: str = option("exact", "Texts are equal as they are, or as BFCL compares them: without case, blanks and some punctuation.", choices=("exact", "bfcl"))
    id: str | None = option(None, "The field that pairs the logs, or its path.  [default: id, where both files have it]", metavar="PATH")
    reference_id: str | None = option(None, "The same in REFERENCE, where it has another name there.", metavar="PATH")
    from_: str | None = option(None, "Where a predicted line holds the calls, e.g. response.body.  [default: anywhere in it]", metavar="PATH")
    reference_from: str | None = option(None, "Where a line of REFERENCE holds them.", metavar="PATH")
    lenient: bool = option(False, "A log without a prediction counts as no calls, and a prediction without a reference is ignored.")
    # fmt: on


class Calls(Task):
    """Tool calls."""

    name = "calls"
    summary = "tool calls in logs of OpenAI, Anthropic, MCP and others: functions, arguments, whole calls"
    help = """Score tool calls: which functions were called, with which arguments.

    REFERENCE and PREDICTED hold a log a line (or in a .json list, or in a folder of files). A log may be a response of OpenAI or
    Anthropic, messages of MCP, [{"name": ..., "arguments": {...}}], or BFCL's answers and possible answers; each side may be of another
    kind. Calls are found wherever they stand in it.

    \b
    tallystick score calls gold.jsonl openai.jsonl
    tallystick score calls gold.jsonl mcp.jsonl --id session --tools tools.json --by label
    tallystick score calls possible_answer.json answers.json --strings bfcl
    """
    Settings = CallSettings
    folder_of = (".json", ".txt", ".md")
    main = explained = "arguments"
    unit = "log"
    breakdowns = ("label", "field")
    labels = {"function": "calls[*].name"}
    label = "function"
    attributes = {
        "size": Attribute("how many arguments a call has", {"calls[*]": lambda call, _: len(call["arguments"] or ())})
    }
    keys = {"calls[*]": lambda call, _: call["name"]}
    data = """A log is a list of calls, {"name": ..., "arguments": {...}}, or a response as OpenAI, Anthropic or MCP write it, or a model's
    text; give a list of logs, or a mapping by id, or files."""
    example = """
    >>> gold = [{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}}]
    >>> system = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    >>> round(ts.calls([gold], [system], metrics="arguments")["arguments"].recall, 4)
    0.6667
    """

    def take(self, reference: Any, predicted: Any, settings: CallSettings) -> tuple[Any, Any, CallSettings]:
        """Both sides as Python has them: a mapping is by id, unless it is a log itself, and a text is a log, or names a file."""
        from tallystick.files.documents import hold_values, looks_like_text

        sides = []
        for name, side in (("reference", reference), ("predicted", predicted)):
            if side is None or isinstance(side, (int, float)):
                raise ValueMismatch(
                    f"{name} is {side!r}; expected logs of calls, or a file of them (a log without a call is [])"
                )
            if isinstance(side, str) and looks_like_text(side):
                side = [side]
            if _is_call(side):
                side = [[side]]
            if isinstance(side, (list, tuple)) and len(side) > 1 and all(map(_is_call, side)):
                raise ValueMismatch(
                    f"{name} is a list of {len(side)} calls: is it one log, or a log for each? Give [[...]], or [[...], [...]]"
                )
            if isinstance(side, Mapping):
                side = hold_values(side, name, LOG_KEYS, by_key=True)
            sides.append(side)
        return sides[0], sides[1], settings

    def read(self, reference: Any, predicted: Any, settings: CallSettings, reading: Reading) -> Any:
        from tallystick.tasks.calls.metrics import read_corpus

        return read_corpus(reference, predicted, settings, reading.missing)

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: CallSettings) -> Any:
        from tallystick.tasks.calls.metrics import evaluate_calls

        return evaluate_calls(corpus, metrics)

    def score(
        self, reference: Any, predicted: Any, metrics: tuple[str, ...], settings: CallSettings, reading: Reading
    ) -> Scored:
        from tallystick.tasks.records.score import exact_note

        scored = super().score(reference, predicted, metrics, settings, reading)
        exact = exact_note(scored.results.get("calls") or next(iter(scored.results.values())))
        notes = (f"paired {scored.corpus.prepared.pairing.how}", exact)
        return replace(scored, notes=tuple(filter(None, notes)))

    def show(self, scored: Scored, settings: CallSettings, asked: Asked) -> Shown:
        from tallystick.tasks.calls.metrics import functions_table

        if asked.by is not None:
            return Shown()
        table = functions_table(scored.corpus)
        return Shown([table], {"functions": [dict(zip(table.columns, row, strict=True)) for row in table.rows]})

    def parts(self, scored: Scored, settings: CallSettings, shown: Shown) -> Parts:
        from tallystick.tasks.calls.metrics import functions_table

        parts = super().parts(scored, settings, shown)
        return replace(parts, errors=[functions_table(scored.corpus), *parts.errors])

    def whole(self, settings: CallSettings) -> str:
        return "the shape of the arguments is that of all logs"


def _is_call(value: Any) -> bool:
    return (
        isinstance(value, Mapping) and "name" in value and any(key in value for key in ("arguments", "args", "input"))
    )


TASK = Calls()

"""`calls`: tool calls, from the logs of OpenAI, Anthropic, MCP and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute
from tallystick.tasks.contract import (
    Asked,
    Reading,
    Scored,
    Shown,
    Task,
    allow_code,
    missing_option,
    option,
    time_limit,
)

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts


@frozen
class CallSettings:
    """How calls are compared, and where they are."""

    # fmt: off
    tools: Any = option(None, "Definitions of the tools, as JSON: an argument that equals its default may be omitted, x-tallystick in a parameter says how to compare it, and a function without a definition is hallucinated.", metavar="FILE")
    choices: Any = option(None, "YAML or JSON that says how to compare each field, by path, e.g. calls[*].arguments.city: {text: levenshtein}.", metavar="FILE")
    ordered: bool = option(False, "Calls have an order. By default parallel calls may come in any order.")
    strings: str = option("exact", "Compare texts exactly, or as BFCL does: ignoring case, blanks and some punctuation.", choices=("exact", "bfcl"))
    id: str | None = option(None, "The field that pairs the logs, or its path.  [default: id, if both files have it]", metavar="PATH")
    reference_id: str | None = option(None, "The same for REFERENCE, if it has another name there.", metavar="PATH")
    from_: str | None = option(None, "Where a predicted line holds the calls, e.g. response.body.  [default: anywhere]", metavar="PATH")
    reference_from: str | None = option(None, "Where a line of REFERENCE holds them.", metavar="PATH")
    time_limit: float | None = time_limit()
    allow_code: bool = allow_code()
    lenient: bool = option(False, "Count a log without a prediction as one without calls, and ignore a prediction without a reference.")
    missing: str = missing_option()
    # fmt: on


class Calls(Task):
    """Tool calls."""

    name = "calls"
    summary = "tool calls in logs of OpenAI, Anthropic, MCP and others: functions, arguments, whole calls"
    help = """Score tool calls: which functions were called, with which arguments.

    REFERENCE and PREDICTED hold one log per line (or are a .json list or a folder of files). A log may be a response of OpenAI or
    Anthropic, messages of MCP, [{"name": ..., "arguments": {...}}], or BFCL's answers and possible answers; the sides may
    differ. Calls are found anywhere in a log.

    \b
    tallystick score calls gold.jsonl openai.jsonl
    tallystick score calls gold.jsonl mcp.jsonl --id session --tools tools.json --by label
    tallystick score calls possible_answer.json answers.json --strings bfcl
    """
    Settings = CallSettings
    folder_of = (".json", ".txt", ".md")
    main = explained = "arguments"
    invalid_answers = True
    unit = "log"
    breakdowns = ("label", "field")
    labels = {"function": "calls[*].name"}
    label = "function"
    error_label = "function or argument"
    kinds = {
        "wrong function": "another function with the right arguments, most of them at least",
        "missing argument": "an argument that the call lacks",
        "hallucinated argument": "an argument that the call should not have",
        "wrong value": "the argument has another value",
        "missed call": "no predicted call is like it",
        "spurious call": "no call of the reference is like it",
        "hallucinated function": "a call of a function that does not exist: it is not in --tools or, without --tools, the reference never calls it",
        "wrong order": "the calls come in another order, with --ordered",
    }
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
        """Both sides as Python has them: a text is a log, or names a file."""
        from tallystick.files.documents import looks_like_text

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
            sides.append(side)
        return sides[0], sides[1], settings

    def read(self, reference: Any, predicted: Any, settings: CallSettings, reading: Reading) -> Any:
        from tallystick.tasks.calls.metrics import read_corpus

        return read_corpus(reference, predicted, settings, reading.missing)

    def label_sets(self, corpus: Any, settings: CallSettings) -> Any:
        sides = ([one[0] for one in corpus.functions if one[side]] for side in (1, 2))
        return {"function": tuple(sides)}

    def label_as_seen(self, label: str, metric: str, settings: CallSettings) -> Callable[[str], str]:
        """Names are compared by `equal`."""
        from tallystick.algebra.text import plain_text

        return plain_text

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

        invalid = scored.corpus.prepared.pairing.predicted.findings.invalid_as_dict()
        if asked.by is not None:
            return Shown(json=invalid)
        table = functions_table(scored.corpus)
        functions = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        return Shown([table], {"functions": functions, **invalid})

    def parts(self, scored: Scored, settings: CallSettings, shown: Shown) -> Parts:
        from tallystick.tasks.calls.metrics import functions_table

        parts = super().parts(scored, settings, shown)
        return replace(parts, errors=[functions_table(scored.corpus), *parts.errors])

    def find_mistakes(self, corpus: Any, settings: CallSettings) -> Iterable[Mistake]:
        from tallystick.tasks.calls.show import find_mistakes

        return find_mistakes(corpus, settings.ordered)

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: CallSettings) -> Any:
        from tallystick.tasks.calls.show import mended_corpus

        return mended_corpus(corpus, mistakes)

    def whole(self, settings: CallSettings) -> str:
        return "the shape of the arguments is that of all logs"


def _is_call(value: Any) -> bool:
    from tallystick.tasks.calls.files import ARGUMENTS, BESIDE, OTHER_ARGUMENTS

    if not isinstance(value, Mapping) or "name" not in value:
        return False
    alone = isinstance(value["name"], str) and value.keys() <= {"name", *BESIDE}
    return alone or any(key in value for key in ARGUMENTS + OTHER_ARGUMENTS)


TASK = Calls()

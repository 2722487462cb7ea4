"""What is counted of tool calls. A call can only meet a call of the same function, and calls are matched one to one:

    names       the functions that were called                       f1(each(calls=optional(match(keyed(each(name=exact), "name"), 1:1))))
    arguments   a call counts one, and one for each argument           ... match(keyed(each(name=exact, arguments=each(city=exact, ...)), "name"))
    calls       a call is right if its name and all arguments are      ... match(at_least(record(name=exact, arguments=record(...)), 1))

A log is *exact* if every call is right and there is none too many, which is what the AST check of the Berkeley function-calling
leaderboard calls correct. The shape of the arguments is read off the reference, over all functions; an argument that no function of the reference
has is put aside by its name (`unknown`), and makes a call wrong. Lists in arguments are compared in order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.algebra.choose import by_key, choose, ordered
from tallystick.engine.values import Surplus, leaves_or_self
from tallystick.errors import InputError
from tallystick.files.documents import HeldLines, encode
from tallystick.files.pairing import Missing, by_order
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.show.tables import Table
from tallystick.tasks.calls.files import UNREADABLE, Call, Logs, Tool, nearest, read_logs, read_tools, same_value
from tallystick.tasks.metric import choose as choose_metrics
from tallystick.tasks.metric import settings_line
from tallystick.tasks.records.schema import KEYWORD
from tallystick.tasks.records.score import (
    Prepared,
    prepare,
    read_choices,
    record_settings,
    score_prepared,
)
from tallystick.tasks.records.shapes import Seen, inferred_shape, schema_of

if TYPE_CHECKING:
    from tallystick.tasks.calls.task import CallSettings

METRICS = {
    "arguments": "a call counts one, and one for each argument",
    "calls": "a call is right if its name and all arguments are",
    "names": "which functions were called, and how often",
}
PATH = "calls[*].arguments"


@frozen
class Corpus:
    """Two sides of logs, laid together."""

    prepared: Prepared
    sides: tuple[HeldLines, HeldLines]
    records: Any
    """The settings of records that they are compared with."""
    functions: tuple[tuple[str, int, int, int], ...]
    """Of each function how often the reference calls it, the prediction does, and both do in one log."""
    tools: Mapping[str, Tool]
    missing: Missing | None = None
    notes: tuple[str, ...] = ()
    settings: str = ""
    """What changes figures, and is not in the metrics."""
    made_up: Sequence[Sequence[Sequence[Any]]] = ()
    """Of each predicted log, by call, the values of the arguments that no function has."""


def read_corpus(reference: Any, predicted: Any, settings: CallSettings, missing: Missing | None = None) -> Corpus:
    """Both sides as documents of calls, with the shape of the arguments."""
    id = settings.id or "id"
    left = read_logs(reference, "reference", settings.reference_from, settings.reference_id or id, strict=True)
    if not left.logs:
        raise InputError("has no logs; expected one a line", left.file)
    right = read_logs(predicted, "predicted", settings.from_, id)
    tools = read_tools(settings.tools) if settings.tools is not None else {}
    for logs in (left, right):
        for log in logs.logs:
            log.calls = [_without_defaults(call, tools, settings.strings, log.possible) for call in log.calls]
    properties = _properties(left, tools)
    references, predictions, made_up = _lay_out(left, right, properties)
    _, chosen = read_choices(settings.choices)
    schema = _schema(properties)
    pairs = choose(collect=by_key("name").joined(ordered) if settings.ordered else by_key("name"))
    records = record_settings(
        choices={"calls": pairs, **chosen},
        id=settings.id,
        reference_id=settings.reference_id,
        lenient=settings.lenient,
        time_limit=settings.time_limit,
        allow_code=settings.allow_code,
    )
    shape = inferred_shape(schema, file=left.file)
    prepared = prepare(references, predictions, records, missing=missing, shape=replace(shape, schema=None))
    usual = "left out" if tools else ""
    line = settings_line(strings="" if settings.strings == "exact" else settings.strings, defaults=usual)
    unused = by_order(left.side, right.side) if len(left.logs) > 1 else []
    return Corpus(
        prepared,
        (references, predictions),
        records,
        _count(prepared),
        tools,
        missing,
        tuple(dict.fromkeys((*left.notes(), *right.notes(), *unused))),
        line,
        made_up,
    )


def _without_defaults(call: Call, tools: Mapping[str, Tool], strings: str, possible: bool) -> Call:
    """A call without the arguments that say what the tool would have done anyway."""
    known = tools[call.name].parameters if call.name in tools and not possible else {}
    arguments = {name: _normal(value, strings) for name, value in call.arguments.items()}
    for name, schema in known.items():
        if name in arguments and isinstance(schema, dict):
            usual = [_normal(schema["default"], strings)] if "default" in schema else [None] * _takes_null(schema)
            if usual and same_value(arguments[name], usual[0]):
                del arguments[name]
    return Call(call.name, arguments)


def _takes_null(schema: Any) -> bool:
    """Whether a parameter may be null: without a default, that is to leave it out."""
    if not isinstance(schema, dict):
        return False
    kinds = schema["type"] if isinstance(schema.get("type"), list) else [schema.get("type")]
    listed = [one for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list) for one in schema[key]]
    return "null" in kinds or schema.get("nullable") is True or any(map(_takes_null, listed))


_BFCL = re.compile(r"[ \,\.\/\-\_\*\^]")


def _normal(value: Any, strings: str) -> Any:
    """A value with its texts as they are compared."""
    if isinstance(value, str) and strings == "bfcl":
        return _BFCL.sub("", value).lower().replace("'", '"')
    if isinstance(value, list):
        return [_normal(one, strings) for one in value]
    return {key: _normal(one, strings) for key, one in value.items()} if isinstance(value, dict) else value


# The shape of the arguments


def _properties(reference: Logs, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """The schema of each argument that the reference has, over all functions, with what the tools' definitions choose for it."""
    seen: dict[str, Seen] = {}
    for log in reference.logs:
        for call in log.calls:
            for name, value in call.arguments.items():
                for one in _alternatives(value) if log.possible else [value]:
                    seen.setdefault(name, Seen()).add([one])
    seen.pop(UNREADABLE, None)
    found = {name: _of_arguments(schema_of(one)[0]) for name, one in sorted(seen.items())}
    for tool in tools.values():
        for name, schema in tool.parameters.items():
            if name in found and isinstance(schema, dict) and KEYWORD in schema:
                chosen, usual = schema[KEYWORD], found[name].get(KEYWORD, {})
                found[name][KEYWORD] = {**usual, **chosen} if isinstance(chosen, dict) else chosen
    return found


def _alternatives(options: Any) -> Iterator[Any]:
    """Every value that would be right, objects once for each value inside."""
    for option in options if isinstance(options, list) else [options]:
        if option == "" and isinstance(options, list) and len(options) > 1:
            continue
        if isinstance(option, dict):
            for key, inner in option.items():
                yield from ({key: one} for one in _alternatives(inner))
        elif isinstance(option, list) and any(isinstance(one, dict) for one in option):
            yield from ([one] for inner in option for one in _alternatives([inner]))
        else:
            yield option


def _of_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without what it says about itself and about what has to be there, in which lists have an order."""
    out = {key: one for key, one in schema.items() if key not in ("$schema", "title", "required")}
    if "properties" in out:
        out["properties"] = {name: _of_arguments(one) for name, one in out["properties"].items()}
    if "anyOf" in out:
        out["anyOf"] = [_of_arguments(one) for one in out["anyOf"]]
    for key in ("items", "additionalProperties"):
        out |= {key: _of_arguments(out[key])} if isinstance(out.get(key), dict) else {}
    return {**out, KEYWORD: {"list": "ordered"}} if "items" in out else out


def _schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    call: dict[str, Any] = {"name": {"type": "string"}, "unknown": {"type": "array", "items": {"type": "string"}}}
    if properties:
        call["arguments"] = {"type": "object", "properties": dict(properties)}
    items = {"type": "object", "title": "Call", "properties": call, "required": ["name"]}
    return {"type": "object", "title": "Log", "properties": {"calls": {"type": "array", "items": items}}}


# Both sides as lines


def _lay_out(left: Logs, right: Logs, properties: Mapping[str, Any]) -> tuple[HeldLines, HeldLines, Any]:
    """Both sides as lines; possible answers as what is nearest to the prediction of the same name, or at the same place. Beside
    them the values that predictions make up."""
    named = left.named and (right.named or not right.logs)
    if any(name is not None for name in left.names) and any(name is not None for name in right.names):
        left.require_names()
        right.require_names()
    partners = dict(zip(right.names if named else range(len(right.logs)), right.logs, strict=True))
    references, predictions, made_up = [], [], []
    asked: dict[Any, Sequence[Call]] = {}
    for place, log in enumerate(left.logs):
        key = left.names[place] if named else place
        partner = partners.get(key)
        asked[key] = nearest(log.calls, partner.calls if partner else []) if log.possible else log.calls
        references.append(_line(asked[key], properties, None)[0])
    for place, log in enumerate(right.logs):
        ours = asked.get(right.names[place] if named else place, ())
        line, values = _line(log.calls, properties, {(c.name, path) for c in ours for path in _paths(c.arguments)})
        predictions.append(b"null" if log.invalid else line)
        made_up.append(values)
    return _held(left, references, named), _held(right, predictions, named), made_up


def _held(logs: Logs, lines: list[bytes], named: bool) -> HeldLines:
    invalid = {k: log.invalid for k, log in enumerate(logs.logs) if log.invalid}
    return HeldLines(logs.file, lines, logs.names if named else None, [log.place for log in logs.logs], invalid=invalid)


def _paths(value: Any, path: str = "") -> Iterator[str]:
    """The path of every key of an object, and of those inside."""
    if isinstance(value, list):
        for one in value:
            yield from _paths(one, f"{path}[*]")
    elif isinstance(value, dict):
        for key, one in value.items():
            place = f"{path}.{key}" if path else key
            yield place
            yield from _paths(one, place)


def _line(
    calls: Sequence[Call], properties: Mapping[str, Any], asked: set[tuple[str, str]] | None
) -> tuple[bytes, list[list[Any]]]:
    """Some calls as a line, and by call the values of the arguments that no function has."""
    out, made_up = [], []
    for call in calls:
        pruned = _Pruned(None if asked is None else {path for name, path in asked if name == call.name})
        arguments = pruned.take(call.arguments, {"type": "object", "properties": properties}, "")
        parts = {"name": call.name, "arguments": arguments, "unknown": [path for path, _ in pruned.unknown]}
        out.append({name: part for name, part in parts.items() if part})
        made_up.append([value for _, value in pruned.unknown])
    # no calls are nothing, as an answer that is not there
    return encode({"calls": out} if out else {}, "calls"), made_up


class _Pruned:
    """Arguments without what their schema has no place for; that is put aside, by its path, once for each leaf. `asked` are the paths that
    the reference of the same log has, None of a reference itself: a null anywhere else is made up, whatever other logs have."""

    def __init__(self, asked: set[str] | None) -> None:
        self.asked = asked
        self.unknown: list[tuple[str, Any]] = []

    def take(self, value: Any, schema: Mapping[str, Any], path: str) -> Any:
        for one in schema.get("anyOf", ()):
            if _has_place(value, one):
                return self.take(value, one, path)
        if not _has_place(value, schema):
            self.unknown += [(path, leaf) for leaf in leaves_or_self(value)]
            return None
        if isinstance(value, list):
            items = [(one, self.take(one, schema["items"], f"{path}[*]")) for one in value]
            self.unknown += [(f"{path}[*]", None) for one in value if one is None]
            return [item for _, item in items if item is not None]
        if not isinstance(value, dict):
            return value
        known = schema.get("properties", {})
        found = {}
        for key, one in value.items():
            inner = known.get(key, schema.get("additionalProperties", NOWHERE))
            place = f"{path}.{key}" if path else key
            if one is None and self.asked is not None and place not in self.asked:
                self.unknown.append((place, None))
            found[key] = self.take(one, inner, place)
        return {key: one for key, one in found.items() if one is not None}


NOWHERE = {"anyOf": ()}
"""The schema of what no value fits."""


def _has_place(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a schema has a list where the value is one, an object where it is one, or else a plain value."""
    if value is None:
        return True
    kind = "array" if isinstance(value, list) else "object" if isinstance(value, dict) else ""
    if "anyOf" in schema:
        return any(_has_place(value, one) for one in schema["anyOf"])
    kinds = {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
    return kind in kinds if kind else bool(kinds - {"array", "object", "null"})


def _count(prepared: Prepared) -> tuple[tuple[str, int, int, int], ...]:
    """How often each function is called, on either side and on both."""
    sums: dict[str, list[int]] = {}
    pairing = prepared.pairing
    for batch in pairing.batches():
        for sides in zip(batch.references, batch.predictions, strict=True):
            names = [Counter(call.get("name", "") for call in _calls_of(side)) for side in sides]
            for name in names[0] | names[1]:
                row = sums.setdefault(name, [0, 0, 0])
                for place, count in enumerate((names[0][name], names[1][name], min(names[0][name], names[1][name]))):
                    row[place] += count
    return tuple((name, *row) for name, row in sorted(sums.items()))  # type: ignore[misc]


def _calls_of(document: Any) -> Sequence[Any]:
    document = document.value if isinstance(document, Surplus) else document
    return document.get("calls") or () if isinstance(document, Mapping) else ()


# Scoring


def evaluate_calls(corpus: Corpus, names: Sequence[str]) -> dict[str, Result]:
    """A result for each metric."""
    out: dict[str, Result] = {}
    for name in choose_metrics(METRICS, names, "calls"):
        records = replace(corpus.records, choices=_choices_for(name, corpus))
        result = score_prepared(prepare(*corpus.sides, records, missing=corpus.missing, shape=corpus.prepared.shape))
        notes = (*result.notes, *corpus.notes)
        settings = " | ".join(filter(None, (result.settings, corpus.settings)))
        out[name] = result.changed(notes=notes, settings=settings)
    return out


def _choices_for(name: str, corpus: Corpus) -> dict[str, Any]:
    choices: dict[str, Any] = dict(corpus.records.choices)
    if name == "names":
        there = any(one.path == PATH for one in corpus.prepared.decisions)
        choices = {key: one for key, one in choices.items() if not key.startswith(PATH)}
        choices |= dict.fromkeys([PATH] * there + ["calls[*].unknown"], "ignore")
    if name == "calls":
        choices["calls[*]"] = {"credit": "all", "at_least": 1.0}
    return choices


def functions_table(corpus: Corpus) -> Table:
    """Which functions were called too seldom or too often, by name."""
    rows: list[tuple[Any, ...]] = []
    order = sorted(corpus.functions, key=lambda one: (2 * one[3] - one[1] - one[2], one[0]))
    for name, reference, predicted, both in order:
        known = name in corpus.tools if corpus.tools else reference > 0
        rows.append((name, reference, predicted, both, reference - both, predicted - both, "" if known else "yes"))
    return Table(("function", "reference", "predicted", "both", "missing", "extra", "hallucinated"), rows, "Functions")

"""What is wrong with tool calls, and what mends it.

Calls of one function belong together, those with most arguments alike; what is left belongs together under two names if more than half of
the arguments are alike. Arguments are compared as they were laid out: without defaults, and those that no function of the reference has by
their names alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.files.documents import HeldLines, encode
from tallystick.files.json_values import decode
from tallystick.frozen import frozen
from tallystick.results.mistakes import REMOVED, Change, Edit, Mistake, mend, put, removed
from tallystick.show.words import value_text
from tallystick.tasks.calls.files import same_value
from tallystick.tasks.calls.metrics import Corpus
from tallystick.tasks.mending import pair_up

Call = Mapping[str, Any]


@frozen
class PairedLog:
    """The calls of one log on both sides, and its place among the predictions; -1 if there is none."""

    name: Any
    at: int
    reference: Sequence[Call]
    predicted: Sequence[Call]


def paired_logs(corpus: Corpus) -> Iterator[PairedLog]:
    """The logs of the reference, each with its prediction."""
    left, right = corpus.sides
    named = left.names is not None and right.names is not None
    keys = right.names if named and right.names is not None else range(len(right.documents))
    there = {key: k for k, key in enumerate(keys)}
    for k, line in enumerate(left.documents):
        key = left.names[k] if named and left.names is not None else k
        at = there.get(key, -1)
        yield PairedLog(key, at, _calls(line), _calls(right.documents[at]) if at >= 0 else ())


def _calls(line: bytes) -> Sequence[Call]:
    return (decode(line) or {}).get("calls") or ()  # an invalid prediction is null


def find_mistakes(corpus: Corpus, ordered: bool) -> Iterator[Mistake]:
    """The errors of every log."""
    known = set(corpus.tools) or {one[0] for one in corpus.functions if one[1]}
    for log in paired_logs(corpus):
        place = corpus.sides[1].place(log.at + 1) if log.at >= 0 else None
        made_up = corpus.made_up[log.at] if log.at >= 0 else ()
        for one in _Log(log, known, ordered, made_up).mistakes():
            yield replace(one, place=place)


def mended_corpus(corpus: Corpus, mistakes: Sequence[Mistake]) -> Corpus:
    """The corpus with the edits of these mistakes in the predicted logs."""
    edits: dict[Any, list[Edit]] = {}
    for one in mistakes:
        edits.setdefault(one.document, []).extend(one.edits)
    right = corpus.sides[1]
    lines, names, places = list(right.documents), list(right.names or ()), list(right.places or ())
    for log in paired_logs(corpus):
        if log.name in edits:
            mended = mend({"calls": list(log.predicted)}, edits[log.name])
            line = encode(mended if mended["calls"] else {}, "calls")  # no calls are nothing
            if log.at >= 0:
                lines[log.at] = line
            else:  # a log without a prediction has one now
                lines.append(line)
                names.append(log.name)
                places.append(corpus.sides[0].place(1))
    held = HeldLines(
        right.file, lines, names if right.names is not None else None, places or None, invalid=right.invalid
    )
    return replace(corpus, sides=(corpus.sides[0], held))


class _Log:
    """The calls of one log."""

    def __init__(self, log: PairedLog, known: set[str], ordered: bool, made_up: Sequence[Sequence[Any]]) -> None:
        self.log, self.known, self.ordered, self.made_up = log, known, ordered, made_up

    def mistakes(self) -> Iterator[Mistake]:
        """What differs in calls that belong together, and those that stand alone."""
        gold, system = self.log.reference, self.log.predicted
        aligned = pair_up(gold, system, _likeness)
        for i, j in aligned.pairs:
            yield from self._compare(gold[i], system[j], j)
        for j in aligned.spurious:
            kind = "spurious call" if _name(system[j]) in self.known else "hallucinated function"
            yield self._mistake(kind, None, system[j], (("calls", j), removed))
        for one in (gold[i] for i in aligned.missed):
            yield self._mistake("missed call", one, None, (("calls",), self._with_call(one)))
        order = [i for i, j in sorted(aligned.pairs, key=lambda pair: pair[1])]
        if self.ordered and order != sorted(order):
            ours, theirs = (" → ".join(map(_name, side)) for side in (gold, system))
            yield Mistake("wrong order", self.log.name, ours, theirs, edits=((("calls",), self._arranged),))

    def _compare(self, gold: Call, system: Call, j: int) -> Iterator[Mistake]:
        at: tuple[Any, ...] = ("calls", j)
        if _name(gold) != _name(system):
            yield self._mistake("wrong function", gold, system, ((*at, "name"), put(_name(gold))))
        ours, theirs = _arguments(gold), _arguments(system)
        for name in ours:
            edit = (*at, "arguments"), _with_argument(name, ours[name])
            if name not in theirs:
                yield self._argument("missing argument", gold, name, ours[name], REMOVED, edit)
            elif not same_value(ours[name], theirs[name]):
                yield self._argument("wrong value", gold, name, ours[name], theirs[name], edit)
        for name in theirs:
            if name not in ours:
                edit = (*at, "arguments"), _without_argument(name)
                yield self._argument("hallucinated argument", gold, name, REMOVED, theirs[name], edit)
        for name, value in zip(system.get("unknown", ()), self.made_up[j], strict=True):
            edit = (*at, "unknown"), _without_unknown(name)
            yield self._argument("hallucinated argument", gold, name, REMOVED, value, edit)

    def _with_call(self, call: Call) -> Change:
        """A call more; where calls have an order, at its place."""
        return lambda known: self._arranged([*known, call]) if self.ordered else [*known, call]

    def _arranged(self, known: Sequence[Any]) -> list[Any]:
        """The calls in the order of the reference, as far as they are its calls."""
        waiting = list(enumerate(self.log.reference))
        places: list[tuple[int, Any]] = []
        last = -1
        for call in known:
            found = next((k for k, (_, one) in enumerate(waiting) if same_value(one, call)), None)
            last = waiting.pop(found)[0] if found is not None else last
            places.append((last, call))
        return [call for _, call in sorted(places, key=lambda one: one[0])]

    def _mistake(self, kind: str, gold: Call | None, system: Call | None, edit: Edit) -> Mistake:
        ours, theirs = (None if one is None else _said(one) for one in (gold, system))
        one = gold or system
        assert one is not None
        return Mistake(kind, self.log.name, ours, theirs, _name(one), label=_name(one), edits=(edit,))

    def _argument(self, kind: str, call: Call, name: str, gold: Any, system: Any, edit: Edit) -> Mistake:
        ours, theirs = (None if value is REMOVED else f"{name}={value_text(repr(value))}" for value in (gold, system))
        where = f"{_name(call)}.{name}"
        return Mistake(kind, self.log.name, ours, theirs, where, label=where, edits=(edit,))


def _name(call: Call) -> str:
    return str(call.get("name", ""))


def _arguments(call: Call) -> Mapping[str, Any]:
    found: Mapping[str, Any] = call.get("arguments") or {}
    return found


def _likeness(gold: Call, system: Call) -> float:
    ours, theirs = _arguments(gold), _arguments(system)
    alike = sum(name in theirs and same_value(value, theirs[name]) for name, value in ours.items())
    extra = len(system.get("unknown", ()))
    share = alike / max(1, len(set(ours) | set(theirs)) + extra)
    if _name(gold) == _name(system):
        return 10.0 + alike + share
    return share if share > 0.5 else 0.0


def _with_argument(name: str, value: Any) -> Change:
    return lambda known: {**({} if known is REMOVED else known), name: value}


def _without_argument(name: str) -> Change:
    return lambda known: {key: value for key, value in known.items() if key != name} or REMOVED


def _without_unknown(name: str) -> Change:
    """One argument less among those that no function has."""

    def change(known: Sequence[str]) -> Any:
        at = known.index(name)
        return [*known[:at], *known[at + 1 :]] or REMOVED

    return change


def _said(call: Call) -> str:
    listed = ", ".join(f"{name}={value_text(repr(value))}" for name, value in _arguments(call).items())
    return f"{_name(call)}({listed})"

"""What a report shows of events: triggers and arguments highlighted in the text, both sides side by side.

What is wrong with events, and what mends it.

Events belong together if their triggers meet, or if they are of one type and share an argument; the arguments of such events belong
together if they meet, or have one role. What is then left of both sides is looked for in other events, and is spurious or missed
otherwise.

An argument can be lost without an error of its own: its event was missed, or its trigger is wrong. Those are counted as cascades. The
mend of a missed event brings its trigger alone, that of its arguments these too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.files.pairing import Paired
from tallystick.results.documents import add_words
from tallystick.results.mistakes import Change, Edit, Mistake, added, around, offsets, put, removed
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.structures.texts import AnnotatedMention, Argument, Event, Mention, Trigger
from tallystick.tasks.events.files import EventDocument, without_article
from tallystick.tasks.mending import in_words, moved, nearness, pair_up

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.tasks.events.files import EventDocument


def events_drawer(pairs: Paired[EventDocument]) -> Callable[[str], Sequence[Drawing]]:
    """A function that draws any document whose tokens are known."""
    documents = dict(zip(pairs.ids, zip(pairs.reference, pairs.predicted, strict=True), strict=True))

    def draw(name: str) -> Sequence[Drawing]:
        gold, system = documents[name]
        text = gold if gold.tokens else system
        if not text.tokens:
            return []
        return [
            TextDrawing(
                "Triggers and arguments in the text",
                sentences_of(text.tokens, text.sentences),
                *mark_both(*(list(_found(side, len(text.tokens))) for side in (gold, system))),
                note="Triggers carry their event type, arguments their role. ≠: the other side has the span, under "
                "another type or role, or in another event. Rest on one to see its event.",
            )
        ]

    return draw


def with_words(explain: Callable[[Any], Explanation], pairs: Paired[EventDocument]) -> Callable[[Any], Explanation]:
    """The same explanations, with what the mentions say where the tokens are known."""
    documents = dict(zip(pairs.ids, zip(pairs.reference, pairs.predicted, strict=True), strict=True))

    def explain_in_words(name: Any) -> Explanation:
        gold, system = documents[name]
        texts = {**_trigger_texts(system), **_trigger_texts(gold)}
        return add_words(explain(name), gold.tokens or system.tokens, texts)

    return explain_in_words


def _trigger_texts(document: EventDocument) -> Mapping[tuple[int, int], str]:
    """What a file without tokens says of its triggers; the metrics compare spans only, and have forgotten it."""
    mentions = [event.trig.mention for event in document.events]
    return {(m.left, m.right): m.text for m in mentions if isinstance(m, AnnotatedMention) and m.text}


def sentences_of(tokens: Sequence[str], numbers: Sequence[int]) -> list[list[str]]:
    """The tokens by sentence; one sentence where nobody knows."""
    if len(numbers) != len(tokens):
        return [list(tokens)]
    out: dict[int, list[str]] = {}
    for token, number in zip(tokens, numbers, strict=True):
        out.setdefault(number, []).append(token)
    return list(out.values())


def _found(document: EventDocument, tokens: int) -> Iterator[Found]:
    """The triggers and arguments of a document that stand in its text."""
    for event in document.events:
        type_, span = event.trig.type, (event.trig.mention.left, event.trig.mention.right)
        group = span[0]  # the same event on both sides, if it has the same trigger
        places: list[tuple[tuple[int, int], str, tuple[str, ...]]] = [(span, type_, ("trigger", type_))]
        for argument in event.args:
            place = argument.mention.left, argument.mention.right
            places.append((place, argument.role, ("argument", type_, argument.role)))
        for place, label, key in places:
            inside = 0 <= place[0] <= place[1] < tokens  # a text may stand nowhere in the document
            spans = [(place[0], place[1] + 1)] if inside else []
            yield Found(spans, label, frozenset([(*key, place)]), frozenset([(key[0], place)]), group)


EXACT = 100.0
Item = tuple[int, int]
"""An argument: its event, and its place there."""


def find_mistakes(pairs: Paired[Any], strip_articles: bool) -> Iterator[Mistake]:
    """The errors of every document."""
    for name, reference, predicted in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        yield from _Events(name, reference, predicted, strip_articles).mistakes()


class _Events:
    """The events of one document."""

    def __init__(self, name: Any, reference: EventDocument, predicted: EventDocument, strip_articles: bool) -> None:
        self.name, self.gold, self.system = name, reference.events, predicted.events
        self.ours = [tuple(one.args) for one in self.gold]
        self.theirs = [tuple(one.args) for one in self.system]
        self.words, self.strip = reference.tokens or predicted.tokens, strip_articles
        spans = {(one.trig.mention.left, one.trig.mention.right): one.trig.type for one in self.gold}
        self.types = [
            one.trig.type or spans.get((one.trig.mention.left, one.trig.mention.right), "") for one in self.system
        ]
        """The types of predicted events; a format may not repeat that of a trigger that was given."""

    def mistakes(self) -> Iterator[Mistake]:
        """Triggers, then their arguments."""
        events = pair_up(range(len(self.gold)), range(len(self.system)), self._likeness)
        met = dict(events.pairs)
        missed = [(i, k) for i in events.missed for k in range(len(self.ours[i]))]
        extra = [(j, m) for j in events.spurious for m in range(len(self.theirs[j]))]
        for i, j in events.pairs:
            edits = tuple(self._trigger_edits(i, j))
            yield from self._triggers(i, j, edits)
            aligned = pair_up(self.ours[i], self.theirs[j], self._argument_likeness)
            for k, m in aligned.pairs:
                found = list(self._arguments(i, j, k, m))
                yield from found
                if edits and not found:
                    args = self.ours[i][k], self.theirs[j][m]
                    yield self._argument("argument lost by its trigger", i, j, *args, *(edit for _, edit in edits))
            missed += ((i, k) for k in aligned.missed)
            extra += ((j, m) for m in aligned.spurious)
        yield from self._alone(events.missed, events.spurious, set(met.values()))
        yield from self._left(met, missed, extra)

    # Triggers

    def _likeness(self, i: int, j: int) -> float:
        gold, system = self.gold[i], self.system[j]
        near = nearness(_bare(gold.trig.mention), _bare(system.trig.mention))
        same = gold.trig.type == self.types[j]
        shared = sum(
            max((self._argument_likeness(one, other) >= EXACT for other in system.args), default=False)
            for one in gold.args
        )
        if not near and not (same and shared):
            return 0.0
        return (EXACT if near == 3 and same else near + same) + shared / (1 + len(gold.args))

    def _trigger_edits(self, i: int, j: int) -> Iterator[tuple[str, Edit]]:
        gold, system = self.gold[i].trig, self.system[j].trig
        at: tuple[Any, ...] = ("events", j, "trig")
        near = nearness(_bare(gold.mention), _bare(system.mention))
        if near != 3:
            yield ("wrong trigger boundary" if near else "wrong trigger"), ((*at, "mention"), put(gold.mention))
        if gold.type != self.types[j]:
            yield "wrong type", ((*at, "type"), put(gold.type))

    def _triggers(self, i: int, j: int, edits: Sequence[tuple[str, Edit]]) -> Iterator[Mistake]:
        for kind, edit in edits:
            said = self._event(self.gold[i].trig), self._event(self.system[j].trig)
            yield self._trigger(kind, self.gold[i].trig, *said, edit)

    def _alone(self, missed: Sequence[int], spurious: Sequence[int], met: set[int]) -> Iterator[Mistake]:
        said = {_key(self.system[j].trig) for j in met}
        for j in spurious:
            one = self.system[j]
            kind = "duplicate event" if _key(one.trig) in said else "spurious event"
            said.add(_key(one.trig))
            yield self._trigger(kind, one.trig, None, self._event(one.trig), (("events", j), removed))
        for i in missed:
            one = self.gold[i]
            edit = ("events",), _with_event(one.trig)
            yield self._trigger("missed event", one.trig, self._event(one.trig), None, edit)

    # Arguments

    def _argument_likeness(self, gold: Argument, system: Argument) -> float:
        near, same = nearness(self._place(gold.mention), self._place(system.mention)), gold.role == system.role
        return (EXACT if near == 3 else near + 1) if same else near

    def _place(self, mention: Mention) -> Mention:
        if self.strip:
            return Mention(*without_article(mention.left, mention.right, self.words))
        bare: Mention = _bare(mention)
        return bare

    def _arguments(self, i: int, j: int, k: int, m: int) -> Iterator[Mistake]:
        gold, system = self.ours[i][k], self.theirs[j][m]
        at: tuple[Any, ...] = ("events", j, "args", m)
        near = nearness(self._place(gold.mention), self._place(system.mention))
        if near != 3:
            kind, change = ("wrong boundary", moved(gold.mention)) if near else ("wrong argument", put(gold.mention))
            yield self._argument(kind, i, j, gold, system, ((*at, "mention"), change))
        if gold.role != system.role:
            yield self._argument("wrong role", i, j, gold, system, ((*at, "role"), put(gold.role)))

    def _left(self, events: dict[int, int], missed: list[Item], extra: list[Item]) -> Iterator[Mistake]:
        """What is left of both sides: in another event, again, spurious, missed."""
        here = [self.ours[i][k] for i, k in missed], [self.theirs[j][m] for j, m in extra]
        aligned = pair_up(*here, lambda one, other: float(self._argument_likeness(one, other) >= EXACT))
        for a, b in aligned.pairs:
            (i, _), (j, m) = missed[a], extra[b]
            edits = (("events", j, "args", m), removed), self._brought(i, here[0][a], events)
            yield self._argument("argument in another event", i, j, here[0][a], here[1][b], *edits)
        for b in aligned.spurious:
            j, m = extra[b]
            kind = "spurious argument" if j in events.values() else "argument of a spurious event"
            kind = "duplicate argument" if self._is_repeated(j, m) else kind
            yield self._argument(kind, None, j, None, here[1][b], (("events", j, "args", m), removed))
        for a in aligned.missed:
            i, one = missed[a][0], here[0][a]
            kind = "missed argument" if i in events else "argument of a missed event"
            yield self._argument(kind, i, None, one, None, self._brought(i, one, events))

    def _brought(self, i: int, argument: Argument, events: dict[int, int]) -> Edit:
        """An argument more, in the event that was found, or with the event."""
        if i in events:
            return ("events", events[i], "args"), added(argument)
        return ("events",), _with_event(self.gold[i].trig, argument)

    def _is_repeated(self, j: int, m: int) -> bool:
        args = self.theirs[j]
        return any(self._argument_likeness(args[m], one) >= EXACT for n, one in enumerate(args) if n != m)

    # In words

    def _event(self, trigger: Trigger) -> str:
        return f"{trigger.type or '(given)'} {in_words(_bare(trigger.mention, trigger.mention), self.words)}"

    def _trigger(self, kind: str, about: Trigger, gold: str | None, system: str | None, edit: Edit) -> Mistake:
        return replace(self._mistake(kind, about.mention, gold, system, edit), label=about.type)

    def _argument(
        self, kind: str, i: int | None, j: int | None, gold: Argument | None, system: Argument | None, *edits: Edit
    ) -> Mistake:
        def said(argument: Argument | None, event: Event | None) -> str | None:
            if argument is None or event is None:
                return None
            return f"{argument.role} {in_words(argument.mention, self.words)} of {self._event(event.trig)}"

        one = gold or system
        assert one is not None
        ours, theirs = (self.gold[i] if i is not None else None), (self.system[j] if j is not None else None)
        event = ours or theirs
        assert event is not None
        found = self._mistake(kind, one.mention, said(gold, ours), said(system, theirs), *edits)
        return replace(found, label=f"{event.trig.type or '(given)'}: {one.role}")

    def _mistake(self, kind: str, about: Mention, gold: str | None, system: str | None, *edits: Edit) -> Mistake:
        where = offsets(about.left, about.right) if about.left >= 0 else "not in the text"
        return Mistake(
            kind, self.name, gold, system, where, around(self.words, about.left, about.right + 1), edits=edits
        )


def _bare(mention: Mention, text: Any = None) -> Any:
    """A mention by its place alone, perhaps with what it says."""
    said = getattr(text, "text", None)
    if said is None:
        return Mention(mention.left, mention.right)
    from tallystick.structures.texts import AnnotatedMention

    return AnnotatedMention(mention.left, mention.right, text=said)


def _key(trigger: Trigger) -> tuple[Any, ...]:
    return trigger.mention.left, trigger.mention.right, trigger.type


def _with_event(trigger: Trigger, *arguments: Argument) -> Change:
    """An event more, or, if it was brought before, some arguments more in it."""

    def change(events: tuple[Event, ...]) -> tuple[Event, ...]:
        for k, one in enumerate(events):
            if one.trig is trigger:
                return (*events[:k], replace(one, args=(*one.args, *arguments)), *events[k + 1 :])
        return (*events, Event(trigger, arguments))

    return change

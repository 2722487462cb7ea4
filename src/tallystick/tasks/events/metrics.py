"""Events: triggers and arguments, as TextEE counts them, as eq. 15 and 16 have them, and as gen-arg and RAMS do.

    tri_i   the trigger's span                     arg_i   event type and the argument's span
    tri_c   and the event type                     arg_c   and the role
                                                   arg_i+  arg_i and the trigger's span;  arg_c+  likewise

All are F over sets (`distinct=True`), of triggers and of arguments. Eq. 15 is tri_c over bags. Eq. 16 first pairs events, and
then counts their arguments: it is arg_c+ while no trigger has two events; where a trigger is repeated, eq. 16 gives credit for
the best pairing of events, and arg_c+ throws their arguments together.

Not only the same span: `_head` compares heads, `_coref` what the reference's coreference says is the same entity; one to one,
so that an entity named twice is credited once. gen-arg counts every predicted argument that hits anything (N:1, one Σ for both
sides), after leaving out what stands not in the text: `gen_arg_*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Similarity
from tallystick.algebra.normalise import best, f1
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.errors import MetricError
from tallystick.files.pairing import Paired, pair_values
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.structures.texts import AnnotatedMention, Argument, Event, EventSet, Mention, Trigger
from tallystick.tasks.events.files import EventDocument, without_article
from tallystick.tasks.metric import NamedMetric, choose, declare, score_expression, settings_line
from tallystick.tasks.named import Types, weigh_by_kind
from tallystick.tasks.parses import Heads

Coreference = Mapping[str, Mapping[tuple[int, int], str]]
"""For each document the entity of each span."""


@frozen
class EventOptions:
    """What may be different; every choice goes into the signature."""

    types: Types = field(default_factory=Types)
    heads: Heads | None = None
    coreference: Coreference | None = None
    strip_articles: bool = False
    weights: tuple[tuple[str, float], ...] = ()


PLAIN = EventOptions()


@frozen
class AttachedArgument:
    """An argument with its event: what TextEE makes tuples of. `names` are all the ways to say which one it is."""

    trigger: Mention
    type: str
    mention: AnnotatedMention
    role: str
    distance: int | None = None
    names: tuple[Any, ...] = ()
    head_names: tuple[Any, ...] = ()


@frozen
class EventView:
    """A document as the expressions look at it."""

    events: tuple[Event, ...]
    triggers: tuple[Trigger, ...]
    arguments: tuple[AttachedArgument, ...]
    found: tuple[AttachedArgument, ...]
    """The arguments as gen-arg has them: a set for each event, without what stands not in the text."""


SPAN = record(left=exact, right=exact)


def expressions(options: EventOptions = PLAIN, *, gaps: bool = False) -> dict[str, NamedMetric]:
    """Every metric of the task. With `gaps` some arguments are discontinuous."""
    type_ = options.types.similarity
    span = weigh_by_kind(record(left=exact, right=exact, gaps=exact) if gaps else SPAN, options.weights)
    head = weigh_by_kind(record(head=exact), options.weights)
    entity = weigh_by_kind(record(entity=exact), options.weights)
    trigger = record(mention=SPAN, type=type_)

    def triggers(**fields: Similarity) -> Any:
        return f1(each(triggers=match(record(**fields), distinct=True)))

    def arguments(**fields: Similarity) -> Any:
        return f1(each(arguments=match(record(**fields), distinct=True)))

    def one_to_one(**fields: Similarity) -> Any:
        return f1(each(found=match(record(trigger=SPAN, type=type_, **fields))))

    def gen_arg(**fields: Similarity) -> Any:
        return f1(each(found=match(record(trigger=SPAN, type=type_, **fields), "N:1", literal=True)))

    out = {
        "tri_i": (triggers(mention=SPAN), "TextEE: the trigger's span"),
        "tri_c": (triggers(mention=SPAN, type=type_), "TextEE: the trigger's span and type"),
        "arg_i": (arguments(type=type_, mention=span), "TextEE: event type and the argument's span"),
        "arg_c": (arguments(type=type_, mention=span, role=exact), "TextEE: and its role"),
        "arg_i+": (arguments(trigger=SPAN, type=type_, mention=span), "TextEE: Arg-I attached to the trigger"),
        "arg_c+": (arguments(trigger=SPAN, type=type_, mention=span, role=exact), "TextEE: Arg-C attached to the trigger"),
        "arg_u": (arguments(mention=span), "unlabelled: the argument's span"),
        "arg_u+": (arguments(trigger=SPAN, mention=span), "unlabelled: the argument's and the trigger's span"),
        "trig_f1": (f1(each(events=match(record(trig=trigger)))), "eq. 15"),
        "arg_f1": (
            f1(each(events=match(record(trig=trigger, args=match(record(mention=span, role=exact)))))), "eq. 16",
        ),
        "rams": (f1(each(arguments=match(record(trigger=SPAN, mention=span, role=exact)))), "RAMS: trigger, argument and role"),
        "srl": (f1(each(arguments=match(record(trigger=SPAN, mention=span, role=exact)))), "CoNLL-2005: predicate, argument and role"),
        "arg_i_head": (one_to_one(mention=head), "the argument's head, by event"),
        "arg_c_head": (one_to_one(mention=head, role=exact), "and its role"),
        "arg_i_coref": (one_to_one(mention=entity), "the argument's entity, by event"),
        "arg_c_coref": (one_to_one(mention=entity, role=exact), "and its role"),
        "gen_arg_i": (gen_arg(mention=SPAN), "gen-arg: Arg-I, exact"),
        "gen_arg_c": (gen_arg(mention=SPAN, role=exact), "gen-arg: Arg-C, exact"),
        "gen_arg_i_coref": (gen_arg(names=best(exact)), "gen-arg: Arg-I with coreference"),
        "gen_arg_c_coref": (gen_arg(names=best(exact), role=exact), "gen-arg: Arg-C with coreference"),
        "gen_arg_i_head": (gen_arg(mention=record(head=exact)), "gen-arg: Arg-I, head"),
        "gen_arg_c_head": (gen_arg(mention=record(head=exact), role=exact), "gen-arg: Arg-C, head"),
        "gen_arg_i_head_coref": (gen_arg(head_names=best(exact)), "gen-arg: Arg-I, head with coreference"),
        "gen_arg_c_head_coref": (gen_arg(head_names=best(exact), role=exact), "gen-arg: Arg-C, head with coreference"),
    }  # fmt: skip
    return declare(out)


USUAL = ("tri_i", "tri_c", "arg_i", "arg_c", "arg_i+", "arg_c+", "arg_u", "arg_u+", "trig_f1", "arg_f1")
"""What is printed when nothing is asked for; with heads, coreference, RAMS's files or predicates in columns more."""

OF_TRIGGERS = ("tri_i", "tri_c", "trig_f1")
"""What says nothing about a system that was given its triggers."""

METRICS = expressions()


def default_metrics(options: EventOptions, *, heads: bool = False, also: Sequence[str] = ()) -> tuple[str, ...]:
    """Everything that the data and the options can tell; `also` what a format is usually scored by."""
    out = [*USUAL, *also]
    heads, coreference = heads or options.heads is not None, options.coreference is not None
    if heads:
        out += ["arg_i_head", "arg_c_head"]
    if coreference:
        out += ["arg_i_coref", "arg_c_coref"]
    if heads or coreference:
        out += ["gen_arg_i", "gen_arg_c"]
    for flag, suffix in ((coreference, "coref"), (heads, "head"), (heads and coreference, "head_coref")):
        out += [f"gen_arg_{part}_{suffix}" for part in "ic" if flag]
    return tuple(out)


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = (), *, options: EventOptions = PLAIN
) -> dict[str, Result]:
    """Score documents: two sequences, or mappings by id, of EventDocument or EventSet."""
    return score(pair_values(reference, predicted, EventDocument, EventSet), metrics, options)


def score(
    pairs: Paired[Any], metrics: Sequence[str] = (), options: EventOptions = PLAIN, *, also: Sequence[str] = ()
) -> dict[str, Result]:
    """The metrics that are asked for, or all that the data can tell."""
    if options.coreference is None:
        options = replace(options, coreference=_own_coreference(pairs))
    views = prepare(pairs, options)
    known = expressions(options, gaps=_any_gaps(views))
    headed = _all_headed(views)
    names = tuple(metrics) or default_metrics(options, heads=headed, also=also)
    if not metrics and any(getattr(one, "given", False) for one in pairs.predicted):
        names = tuple(name for name in names if name not in OF_TRIGGERS)
        note = f"the triggers were given to the system and not predicted; {', '.join(OF_TRIGGERS)} are left out"
        views = replace(views, warnings=(*views.warnings, note))
    _require_annotations([name for name in names if name in known], options, headed)
    settings = settings_line(
        heads=options.heads.source if options.heads else "",
        coreference="reference" if options.coreference is not None else "",
        articles="stripped" if options.strip_articles else "",
        types=options.types.hierarchy,
        informativity=dict(options.weights) or "",
    )
    return {
        name: score_expression(f"events.{name}", metric.node, views, settings=settings)
        for name, metric in choose(known, names, "events").items()
    }


def _require_annotations(names: Sequence[str], options: EventOptions, headed: bool) -> None:
    """Metrics by coreference or by heads need what they compare."""
    for name in names:
        if "coref" in name and options.coreference is None:
            raise MetricError(
                f"events.{name} needs the reference's coreference, in the data or from --coreference FILE"
            )
        if "head" in name and not headed and options.heads is None:
            raise MetricError(
                f"events.{name} needs heads of all arguments, in the data or from --heads FILE|last|first"
            )


# From documents to what the expressions look at


def prepare(pairs: Paired[Any], options: EventOptions) -> Paired[EventView]:
    """Both sides as views; what is known of the text is known from the reference."""
    reference, predicted = [], []
    if options.heads is not None:
        options = replace(options, heads=options.heads.over(pairs.ids))
    for name, gold, system in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        gold, system = _document(gold), _document(system)
        text = gold if gold.tokens or gold.sentences else system
        given = {(e.trig.mention.left, e.trig.mention.right): e.trig.type for e in gold.events}
        reference.append(_view(name, gold, text, {}, options))
        predicted.append(_view(name, system, text, given, options))
    return Paired(pairs.ids, tuple(reference), tuple(predicted), pairs.warnings)


def _own_coreference(pairs: Paired[Any]) -> Coreference | None:
    """What the reference says of the entities of its mentions; None if it says nothing."""
    out: dict[str, dict[tuple[int, int], str]] = {}
    for name, found in zip(pairs.ids, pairs.reference, strict=True):
        document = _document(found)
        arguments = (argument.mention for event in document.events for argument in event.args)
        for mention in (*document.entities.values(), *arguments):
            entity = getattr(mention, "entity", None)
            if entity is not None:
                out.setdefault(name, {})[mention.left, mention.right] = entity
    return out or None


def _document(found: Any) -> EventDocument:
    return found if isinstance(found, EventDocument) else EventDocument(tuple(found.events))


def _view(
    name: str, document: EventDocument, text: EventDocument, given: Mapping[tuple[int, int], str], options: EventOptions
) -> EventView:
    by_document = options.coreference or {}
    spans = dict(by_document.get(name) or by_document.get(name.partition("/")[0], {}))
    known = dict(spans)
    for (left, right), entity in spans.items():
        known.setdefault(without_article(left, right, text.tokens), entity)

    def annotated(mention: Any) -> AnnotatedMention:
        left, right = mention.left, mention.right
        if options.strip_articles:
            left, right = without_article(left, right, text.tokens)
        head = getattr(mention, "head", None)
        if head is None and options.heads is not None:
            head = options.heads.of(name, left, right) if left >= 0 else (left, right)
        entity = None if options.coreference is None else known.get((left, right)) or f"{left}:{right}"
        if isinstance(mention, AnnotatedMention):
            return replace(mention, left=left, right=right, head=head, entity=entity)
        return AnnotatedMention(left, right, head=head, entity=entity)

    events = []
    for event in document.events:
        span = event.trig.mention.left, event.trig.mention.right
        trigger = Trigger(Mention(*span), event.trig.type or given.get(span, ""))
        args = tuple(Argument(annotated(argument.mention), argument.role) for argument in event.args)
        events.append(Event(trigger, args))
    arguments = tuple(_attached(event, argument, text, spans) for event in events for argument in event.args)
    unlike = {
        (a.trigger, a.type, a.mention.left, a.mention.right, a.role): a
        for a in reversed(arguments)
        if a.mention.left >= 0
    }
    return EventView(tuple(events), tuple(e.trig for e in events), arguments, tuple(reversed(unlike.values())))


def _attached(
    event: Event, argument: Argument, text: EventDocument, spans: Mapping[tuple[int, int], str]
) -> AttachedArgument:
    mention = argument.mention
    assert isinstance(mention, AnnotatedMention)
    place = mention.left, mention.right
    head = mention.head or place
    numbers = text.sentences
    inside = numbers and 0 <= place[0] < len(numbers) and event.trig.mention.left < len(numbers)
    return AttachedArgument(
        event.trig.mention,
        event.trig.type,
        mention,
        argument.role,
        distance=numbers[place[0]] - numbers[event.trig.mention.left] if inside else None,
        names=_names(place, spans),
        head_names=_names(head, spans),
    )


def _names(span: tuple[int, int], spans: Mapping[tuple[int, int], str]) -> tuple[Any, ...]:
    return (f"{span[0]}:{span[1]}", spans[span]) if span in spans else (f"{span[0]}:{span[1]}",)


def _any_gaps(views: Paired[EventView]) -> bool:
    return any(a.mention.gaps for side in (views.reference, views.predicted) for view in side for a in view.arguments)


def _all_headed(views: Paired[EventView]) -> bool:
    rows = [a for side in (views.reference, views.predicted) for view in side for a in view.arguments]
    return bool(rows) and all(row.mention.head is not None for row in rows)

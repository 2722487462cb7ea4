"""`events`: triggers and arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute, mention_length, mention_text, words_between
from tallystick.tasks.contract import Reading, Scored, Shown, Task, missing_option, option
from tallystick.tasks.named import HeadSettings, read_json_object

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts


@frozen
class EventSettings(HeadSettings):
    """What is the same trigger or argument."""

    # fmt: off
    input: Literal["JSON", "brat", "dygie", "conll-2012", "props"] | None = option(None, "The format of the files.  [default: by name and content]")
    coreference: str | None = option(None, "Clusters of the reference's mentions: any mention of an entity is accepted.", metavar="FILE")
    strip_articles: bool = option(False, "Leave out a, an, the at the beginning of arguments, as gen-arg does.")
    ontology: str | None = option(None, "With gen-arg's files: templates and roles of the event types, to read generated text.", metavar="FILE")
    missing: str = missing_option()
    # fmt: on


class Events(Task):
    """Triggers and arguments."""

    name = "events"
    summary = "triggers and arguments as TextEE, gen-arg and RAMS count them, and as eq. 15 and 16 do"
    help = """Score events: Tri-I, Tri-C, Arg-I, Arg-C, Arg-I+ and Arg-C+ as in TextEE, unlabelled figures, eq. 15 and 16; with
    heads, coreference or RAMS's files also the figures of gen-arg and RAMS.

    REFERENCE and PREDICTED are TextEE, WikiEvents, OmniEvent, RAMS, DyGIE++ or plain JSON or JSON Lines, brat .ann files or folders, or
    predicates with their arguments in the columns of CoNLL-2005 or CoNLL-2012 (semantic roles).

    \b
    tallystick score events gold.json system.json
    tallystick score events test.jsonl system.jsonl --coreference coref.jsonlines --strip-articles
    tallystick score events test.jsonlines system.jsonlines --metric rams --by label --label distance
    """
    Settings = EventSettings
    folder_of = (".ann",)
    cites = {
        **dict.fromkeys(("tri_i", "tri_c", "arg_i", "arg_c", "arg_i+", "arg_c+"), ("huang-etal-2024-textee",)),
        "rams": ("ebner-etal-2020-multi",),
        **dict.fromkeys(
            (
                "arg_i_head",
                "arg_c_head",
                "arg_i_coref",
                "arg_c_coref",
                "gen_arg_i",
                "gen_arg_c",
                "gen_arg_i_coref",
                "gen_arg_c_coref",
                "gen_arg_i_head",
                "gen_arg_c_head",
                "gen_arg_i_head_coref",
                "gen_arg_c_head_coref",
            ),
            ("li-etal-2021-document",),
        ),
    }
    main = "arg_c"
    explained = "arg_f1"
    breakdowns = ("label", "field")
    labels = {
        "role": "arguments[*].role",
        "type": "triggers[*].type",
        "event": "arguments[*].type",
        "distance": "arguments[*].distance",
    }
    label = "role"
    attributes = {
        "length": Attribute(
            "how many words a trigger or an argument has",
            {
                path: lambda item, about: mention_length(item.mention, about)
                for path in ("triggers[*]", "arguments[*]", "found[*]")
            },
        ),
        "distance": Attribute(
            "how many words lie between an argument and its trigger",
            {
                path: lambda item, about: words_between(item.trigger, item.mention, about)
                for path in ("arguments[*]", "found[*]")
            },
        ),
    }
    keys = {
        path: lambda item, about: mention_text(item.mention, about)
        for path in ("triggers[*]", "arguments[*]", "found[*]")
    }
    kinds = {
        "wrong type": "the trigger meets that of the reference, and the type of the event differs",
        "wrong trigger boundary": "the trigger overlaps the right one, and begins or ends elsewhere",
        "wrong trigger": "an event of the right type with one of its arguments, whose trigger is somewhere else",
        "missed event": "no predicted event is like it; repaired, its trigger is there, without arguments",
        "spurious event": "no event of the reference is like it",
        "duplicate event": "the trigger was predicted before with this type",
        "argument lost by its trigger": "the argument is right, and counts as wrong since type or trigger of its event are wrong",
        "argument of a missed event": "lost with its event; repaired, its event is there, too",
        "argument of a spurious event": "an event that should not be there has it",
        "wrong role": "the argument meets that of the reference, and its role differs",
        "wrong boundary": "the argument overlaps the right one, and begins or ends elsewhere",
        "wrong argument": "the role is filled with something else",
        "argument in another event": "right in all, but that it belongs to another event",
        "missed argument": "the event was found without it",
        "spurious argument": "no argument of the event is like it",
        "duplicate argument": "the event has it already",
    }

    a_document = "document of events"
    document_keys = ("id", "doc_id", "events", "tokens", "sentences", "event_mentions", "entity_mentions", "wnd_id")
    data = """
    A document is a list of events, {"type": "attack", "trigger": (3, 4), "arguments": [(0, 2, "attacker"), (5, 6, "target")]}: spans of
    tokens, where ends are exclusive. Arguments may also be given by role: {"attacker": [(0, 2)]}.
    Give one document, a list of them, or a mapping by id. A document may also be a dict: {"id": "d1", "events": [...], "tokens": [...]}.
    """
    example = """
    >>> gold = [{"type": "attack", "trigger": (1, 2), "arguments": [(0, 1, "attacker"), (2, 4, "target")]}]
    >>> system = [{"type": "attack", "trigger": (1, 2), "arguments": {"attacker": (0, 1)}}]
    >>> round(ts.events(gold, system, metrics="arg_c")["arg_c"].f1, 4)
    0.6667
    """

    def formats(self) -> Any:
        from tallystick.tasks.events.files import FORMATS

        return FORMATS

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.events.files import event_document

        return event_document(value, where)

    def read(self, reference: Any, predicted: Any, settings: EventSettings, reading: Reading) -> Any:
        from tallystick.files.pairing import pair_documents
        from tallystick.tasks.events.files import GENERATED, EventDocument, idle_ontology, note_duplicates, read_events

        left = read_events(reference, input=settings.input)
        ontology = settings.ontology
        templates = (
            read_json_object(ontology, "an event type's template and roles under its name") if ontology else None
        )
        right = read_events(predicted, reference=left, ontology=templates, input=settings.input)
        if templates is not None and right.format != GENERATED:
            if reading.asked is not None and not reading.part:  # the only system, and all of it
                raise MetricError(idle_ontology([right.file]))
            right.warnings.append(idle_ontology([right.file]))
        for side in (left, right):
            note_duplicates(side)
        return left, pair_documents(left, right, EventDocument, reading.missing)

    def label_sets(self, corpus: Any, settings: EventSettings) -> Any:
        from tallystick.results.lookalikes import labels_of

        _, pairs = corpus
        return {
            "type": labels_of(pairs, lambda document: (one.trig.type for one in document.events)),
            "role": labels_of(pairs, lambda document: (arg.role for one in document.events for arg in one.args)),
        }

    def label_as_seen(self, label: str, metric: str, settings: EventSettings) -> Callable[[str], str] | None:
        from tallystick.algebra.node import Similarity
        from tallystick.tasks.events.metrics import METRICS

        similarities = (node for node in METRICS[metric].node.walk() if isinstance(node, Similarity))
        return str if any(label in (one.looks_at() or ()) for one in similarities) else None

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: EventSettings) -> Any:
        from tallystick.tasks.events.files import SRL, read_coreference
        from tallystick.tasks.events.metrics import EventOptions, score

        left, pairs = corpus
        options = EventOptions(
            types=settings.types,
            heads=settings.known_heads,
            coreference=read_coreference(settings.coreference, left) if settings.coreference else None,
            strip_articles=settings.strip_articles,
            weights=settings.weights,
        )
        also = {"RAMS": ("rams",), SRL: ("srl",)}.get(left.format, ())
        return score(pairs, metrics, options, also=also)

    error_label = "event or role"

    def words(self, scored: Scored) -> list[Any]:
        pairs = scored.corpus[1]
        return [gold.tokens or system.tokens for gold, system in zip(pairs.reference, pairs.predicted, strict=True)]

    def find_mistakes(self, corpus: Any, settings: EventSettings) -> Iterable[Mistake]:
        from tallystick.tasks.events.show import find_mistakes

        return find_mistakes(corpus[1], settings.strip_articles)

    def tree(self, scored: Scored, settings: EventSettings, metric: str, document: Any) -> Explanation:
        from tallystick.tasks.events.show import with_words

        return with_words(partial(super().tree, scored, settings, metric), scored.corpus[1])(document)

    def parts(self, scored: Scored, settings: EventSettings, shown: Shown) -> Parts:
        from tallystick.tasks.events.show import events_drawer, with_words

        pairs = scored.corpus[1]
        parts = super().parts(scored, settings, shown)
        explain = with_words(parts.explain, pairs) if parts.explain is not None else None
        return replace(parts, explain=explain, draw=events_drawer(pairs))

    def whole(self, settings: EventSettings) -> str:
        return "--coreference is a file of its own for all documents" if settings.coreference else ""


TASK = Events()

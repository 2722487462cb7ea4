"""`arguments`: event arguments beyond exact match, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute, mention_length, mention_text
from tallystick.tasks.contract import Asked, Reading, Results, Scored, Shown, Task, missing_option, option
from tallystick.tasks.named import read_json_object

if TYPE_CHECKING:
    from tallystick.judging.questions import Question
    from tallystick.results.comparison import Comparison
    from tallystick.results.explanation import Explanation
    from tallystick.results.mistakes import Mistake
    from tallystick.results.parts import Portions
    from tallystick.results.report import Parts
    from tallystick.show.tables import Table
    from tallystick.tasks.arguments.metrics import ArgumentOptions


@frozen
class ArgumentSettings:
    """What the stages rest on."""

    # fmt: off
    parses: str | None = option(None, "Parses for the modifiers: CoNLL-U, or a spaCy pipeline that you have.", metavar="FILE|spacy:PIPELINE")
    judge: Any = option(None, "Who decides what the rules leave open.  [default: nobody]", metavar="STORE|embedding:FILE|llm:MODEL")
    counting: str = option("rewrite", "Whether parts and merged candidates replace the candidates, or the number of candidates stays the same.", choices=("rewrite", "keep"))
    order: str = option("break-first", "Whether candidates are broken into parts before parts are joined, or after.", choices=("break-first", "aggregate-first"))
    duplicates: str = option("merge", "Whether arguments with the same event, role and place are merged, or each counts.", choices=("merge", "keep"))
    pronouns: str | None = option(None, "The pronouns, which are not compared by their text.", metavar="WORD,...|@FILE")
    harmless: str | None = option(None, "The articles and determiners to leave out; punctuation and 's are always left out.", metavar="WORD,...|@FILE")
    conjunctions: str | None = option(None, "The conjunctions that join a list.  [default: and]", metavar="WORD,...|@FILE")
    modifiers: str | None = option(None, "Dependency labels of modifiers.", metavar="LABEL,...|@FILE")
    partial: str = option("0", "What a judge's Partial is worth.", choices=("0", "0.5", "1"))
    none_credits_recall: bool = option(False, "If an argument is Correct but matches no reference, count it as one that the reference lacks.")
    tokens: str | None = option(None, "A file of events with the documents' tokens, if REFERENCE has none.", metavar="FILE")
    strip_articles: bool = option(False, "Leave out a, an, the at the beginning of arguments, as gen-arg does.")
    ontology: str | None = option(None, "With gen-arg's files: templates and roles of the event types, to read generated text.", metavar="FILE")
    missing: str = missing_option()
    # fmt: on


class Arguments(Task):
    """Event arguments beyond exact match."""

    name = "arguments"
    summary = "event arguments beyond exact match, stage by stage: text, harmless tokens, lists, modifiers, a judge"
    help = """Score event arguments in stages, each of which accepts more: the same place, the same text, the same text without
    harmless tokens, lists broken up or joined, one-token references with modifiers, and what a judge accepts.

    REFERENCE and PREDICTED are files of events (TextEE, WikiEvents, OmniEvent, RAMS, brat, plain JSON), with or without places.

    \b
    tallystick score arguments gold.json system.json
    tallystick score arguments gold.json system.json --parses gold.conllu
    tallystick score arguments gold.json system.json --parses spacy:en_core_web_sm --judge judgements.sqlite
    """
    Settings = ArgumentSettings
    cites = {
        **dict.fromkeys(
            ("exact", "same_text", "harmless_tokens", "break_aggregate", "modifiers", "judge"),
            ("fane-etal-2025-bemeae",),
        ),
    }
    breakdowns = whole_breakdowns = ("label",)
    synonyms = {"role": "label"}
    without = {"labels": "role"}
    error_label = "event and role"
    kinds = {
        "other place": "the right text, at another place, which the stage same_text accepts",
        "harmless tokens": "right but for articles, determiners, punctuation and 's, which the stage harmless_tokens accepts",
        "list": "parts of a list as arguments, or a list as one, which the stage break_aggregate accepts",
        "modifiers": "the right word with modifiers of its own, which the stage modifiers accepts",
        "accepted by the judge": "what the rules leave open and the judge accepts",
        "wrong role": "right in another role of the event",
        "wrong event": "right in another event",
        "partly right": "shares tokens or words with the argument that the role should have",
        "spurious": "nothing in the reference is like it",
        "missed": "nothing in the prediction is like it",
    }
    attributes = {
        "length": Attribute(
            "how many words an argument has", {"arguments[*]": lambda item, about: mention_length(item.text, about)}
        )
    }
    keys = {"arguments[*]": lambda item, about: mention_text(item.text, about)}

    a_document = "document of events"
    document_keys = (
        "id",
        "doc_id",
        "events",
        "arguments",
        "tokens",
        "sentences",
        "event_mentions",
        "entity_mentions",
        "wnd_id",
    )
    data = """
    A document is a dict with its tokens and events; an argument is a text, or a span of tokens, where ends are exclusive:
    {"tokens": [...], "events": [{"id": "e1", "type": "attack", "trigger": (3, 4), "arguments": {"attacker": ["rebels"], "target": (5, 6)}}]}.
    A prediction need not repeat the tokens, and its events may be a list. Give one document, a list of them, or a mapping by id.
    """
    example = """
    >>> gold = {"tokens": "The rebels attacked".split(), "events": [{"id": "e1", "type": "attack", "arguments": {"attacker": (0, 2)}}]}
    >>> system = [{"id": "e1", "type": "attack", "arguments": {"attacker": "rebels"}}]
    >>> {stage: result.f1 for stage, result in ts.arguments(gold, system).items()}
    {'exact': 0.0, 'same_text': 0.0, 'harmless_tokens': 1.0, 'break_aggregate': 1.0}
    """

    def formats(self) -> Any:
        from tallystick.tasks.events.files import FORMATS

        return FORMATS

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.events.files import event_document

        return event_document(value, where)

    def check(self, metrics: tuple[str, ...], settings: ArgumentSettings) -> None:
        for stage, given in (("modifiers", settings.parses), ("judge", settings.judge)):
            if stage in metrics and not given:
                raise MetricError(f"the stage {stage!r} needs --{'parses' if stage == 'modifiers' else 'judge'}")
        if settings.judge is None and (settings.none_credits_recall or float(settings.partial)):
            which = "--none-credits-recall" if settings.none_credits_recall else f"--partial {settings.partial}"
            raise MetricError(f"{which} says what a judge's verdict counts: name the judge (--judge)")
        if settings.modifiers is not None and settings.parses is None:
            raise MetricError("--modifiers says which labels of a parse are modifiers: give the parses (--parses)")

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: ArgumentSettings,
        readings: Mapping[Any, Reading],
    ) -> dict[Any, Scored]:  # fmt: skip
        """The reference is parsed once, and the judge is the same for all systems."""
        from tallystick.files.source import shown_name
        from tallystick.judging.recorded import judge_named
        from tallystick.tasks.arguments.files import read_pair
        from tallystick.tasks.arguments.metrics import score
        from tallystick.tasks.events.files import IDLE, idle_ontology
        from tallystick.tasks.metric import choose
        from tallystick.tasks.parses import with_parses

        self.check(metrics, settings)
        ontology = settings.ontology
        templates = (
            read_json_object(ontology, "an event type's template and roles under its name") if ontology else None
        )
        options = _options(settings)
        judge: Any = judge_named(settings.judge) if settings.judge else None  # a misspelt judge is said before the work
        read = {
            run: read_pair(
                reference, file, ontology=templates, tokens=settings.tokens, strip_articles=settings.strip_articles,
                absent=readings[run].missing,
            )
            for run, file in systems.items()
        }  # fmt: skip
        if templates is not None and all(
            any(one.startswith(IDLE) for one in pairs.warnings) for pairs in read.values()
        ):
            raise MetricError(idle_ontology(map(shown_name, systems.values())))
        if settings.parses:
            read = with_parses(read, settings.parses)
        out = {}
        for run, pairs in read.items():
            asked = readings[run].asked
            if hasattr(judge, "progress") and asked is not None:  # a bar while a language model is asked
                judge.progress = asked.advance
            found = score(pairs, options, judge=judge)
            if settings.strip_articles:
                found = replace(found, results=_signed(dict(found.results), "articles=stripped"))
            coverage = found.coverage
            closing = (coverage.summary,) if coverage is not None and coverage.whole else ()
            out[run] = Scored(found, choose(found.results, metrics, "arguments"), closing=closing)
        return out

    def label_sets(self, corpus: Any, settings: ArgumentSettings) -> Any:
        from tallystick.results.lookalikes import labels_of

        return {"role": labels_of(corpus.pairs, lambda document: (one.role for one in document.arguments))}

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: ArgumentSettings) -> Any:
        from tallystick.judging.recorded import judge_named
        from tallystick.tasks.arguments.metrics import score
        from tallystick.tasks.metric import choose

        judge: Any = judge_named(settings.judge) if settings.judge else None
        return choose(score(corpus.pairs, _options(settings), judge=judge).results, metrics, "arguments")

    def find_mistakes(self, corpus: Any, settings: ArgumentSettings) -> Iterable[Mistake]:
        from tallystick.tasks.arguments.show import find_mistakes

        return find_mistakes(corpus)

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: ArgumentSettings) -> Any:
        return replace(corpus, pairs=super().mend(corpus.pairs, mistakes, settings))

    def show(self, scored: Scored, settings: ArgumentSettings, asked: Asked) -> Shown:
        coverage = scored.corpus.coverage
        return Shown() if coverage is None else Shown((), {"judge": {**vars(coverage), "coverage": coverage.share}})

    def breakdown(self, scored: Scored, by: str, label: str | None) -> Shown:
        """Figures by role."""
        from tallystick.results.tables import counted_figures, rows_as_json
        from tallystick.tasks.arguments.show import roles_table

        known = {stage: scored.results[stage].undefined for stage in scored.corpus.stages if stage in scored.results}
        rows = {stage: counted_figures(scored.corpus.by_role(stage), undefined) for stage, undefined in known.items()}
        tables = [roles_table(stage, found) for stage, found in rows.items()]
        return Shown(tables, {"labels": {stage: rows_as_json(found) for stage, found in rows.items()}})

    def portions(self, scored: Scored, by: str, label: str | None) -> dict[str, Portions]:
        from tallystick.results.parts import Portions

        stages = [stage for stage in scored.corpus.stages if stage in scored.results]
        return {stage: Portions(scored.corpus.rows_by_role(stage), "role", one=False) for stage in stages}

    base = "exact"

    def main_metric(self, results: Results) -> str:
        """The last stage, which accepts all that the others do."""
        return list(results)[-1]

    def beside(self, results: Results) -> tuple[dict[str, Any], Callable[[Table], Table] | None]:
        """What each stage gained."""
        from tallystick.tasks.arguments.show import gains, with_gains

        return {"gains": gains({name: result.f1 for name, result in results.items()})}, with_gains

    def comparison_tables(self, comparison: Comparison) -> list[Table]:
        """Stages by systems."""
        from tallystick.tasks.arguments.show import systems_table

        return [systems_table(comparison)]

    def parts(self, scored: Scored, settings: ArgumentSettings, shown: Shown) -> Parts:
        from tallystick.results.report import Parts
        from tallystick.tasks.arguments.show import document_tree

        return Parts(
            () if shown.tables else self.breakdown(scored, "label", None).tables,
            explain=lambda document: document_tree(scored.corpus, document),
            main=self.main_metric(scored.results),
            alignment="What each stage accepted",
        )

    def explained_by(self, metric: str | None) -> tuple[str, ...]:
        if metric is not None:
            raise MetricError(f"--metric {metric}: the tree shows what every stage accepted; leave it out")
        return ()

    def explained_metric(self, results: Results) -> str:
        return self.main_metric(results)

    def tree(self, scored: Scored, settings: ArgumentSettings, metric: str, document: Any) -> Explanation:
        from tallystick.tasks.arguments.show import document_tree

        return document_tree(scored.corpus, document)

    def whole(self, settings: ArgumentSettings) -> str:
        idle = not (settings.parses or settings.judge or settings.tokens)
        return "" if idle else "--parses, --judge and --tokens are for all documents at once"


def open_questions(
    reference: Any, systems: Mapping[str, Any], top: int | None = None, **options: Any
) -> tuple[list[Question], list[str]]:
    """What the rules leave open in the files of several systems, as questions to a judge, what most systems made first; and
    what is to be said about the files."""
    from tallystick.tasks.arguments.metrics import open_questions as still_open

    scored = TASK.score_systems(reference, systems, (), ArgumentSettings(**options), dict.fromkeys(systems, Reading()))
    found = {name: one.corpus for name, one in scored.items()}
    notes = dict.fromkeys(note for one in found.values() for note in one.results[one.stages[0]].notes)
    return still_open(found, top), list(notes)


def _options(settings: ArgumentSettings) -> ArgumentOptions:
    from tallystick.tasks.arguments.metrics import ArgumentOptions
    from tallystick.tasks.arguments.stages import CONJUNCTIONS, HARMLESS, LABELS, PRONOUNS, Wording

    wording = Wording(
        _words(settings.pronouns, PRONOUNS), _words(settings.harmless, HARMLESS), _words(settings.conjunctions, CONJUNCTIONS)
    )  # fmt: skip
    return ArgumentOptions(
        settings.counting, wording, _words(settings.modifiers, LABELS, fold=False), settings.order,
        settings.duplicates, float(settings.partial), settings.none_credits_recall,
    )  # fmt: skip


def _signed(results: Results, setting: str) -> Results:
    """What changed how the files were read stands in the signature."""
    return {name: one.changed(settings=f"{one.settings}, {setting}") for name, one in results.items()}


def _words(given: str | None, usual: frozenset[str], fold: bool = True) -> frozenset[str]:
    """`a,an,the`, or `@FILE` with a word a line; nothing at all is an empty list."""
    if given is None:
        return usual
    if given.startswith("@"):
        from tallystick.files.source import read_text

        found = read_text(given[1:]).split("\n")
    else:
        found = given.split(",")
    return frozenset((word.strip().casefold() if fold else word.strip()) for word in found if word.strip())


TASK = Arguments()

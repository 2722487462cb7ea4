"""Event arguments beyond exact match (BEMEAE): stages that accept more and more of what means the same.

    exact             f1(each(arguments=match(record(event=exact, role=exact, span=exact))))
    same_text         f1(each(arguments=match(record(event=exact, role=exact, text=exact))))
    harmless_tokens   f1(each(arguments=match(record(event=exact, role=exact, form=exact))))
    break_aggregate   and lists, broken up or put together
    modifiers         and one-token references with modifiers of their own (needs a parse)
    judge             and what a judge accepts (only if there is one)

The first three are expressions of the algebra: a pronoun's text and form are its place, and places imply texts imply forms, so that
matching what an earlier stage left is the same as matching by the later key alone. Lists and judges change what is counted, so the
rest is a procedure over the same tallies. Two ways of counting:

    rewrite   parts and merged candidates replace the candidates, so that their number changes; one number of hits
    keep      the number of candidates stays; a part earns its share of the candidate, a merged one earns 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.errors import MetricError, did_you_mean
from tallystick.matching.normalise import f1
from tallystick.matching.sets import match
from tallystick.metrics.argument_forms import Wording, listed
from tallystick.metrics.argument_judging import Coverage, judge_blocks
from tallystick.metrics.argument_modifiers import LABELS, Variants
from tallystick.metrics.argument_questions import Asker, most_made
from tallystick.metrics.argument_stages import (
    BREAK_AGGREGATE,
    EXACT,
    HARMLESS_TOKENS,
    JUDGED,
    MODIFIERS,
    SAME_TEXT,
    STAGES,
    Accepted,
    Block,
    Broken,
    run_stages,
)
from tallystick.metrics.named import chosen, run, settings_line
from tallystick.reading.documents import Paired, pair_values
from tallystick.scoring.result import Result
from tallystick.scoring.tally import Counts
from tallystick.similarity.exact import exact
from tallystick.similarity.records import each, record
from tallystick.structures.arguments import ArgumentDocument, EventArgument

if TYPE_CHECKING:
    from tallystick.judges.questions import Question
    from tallystick.judges.verdicts import Judge

COUNTINGS = ("rewrite", "keep")
ORDERS = {"break-first": ("break", "aggregate"), "aggregate-first": ("aggregate", "break")}
DUPLICATES = ("merge", "keep")
PARTIAL = (0.0, 0.5, 1.0)

KEYS = {EXACT: "span", SAME_TEXT: "text", HARMLESS_TOKENS: "form"}
EXPRESSIONS = {
    stage: f1(each(arguments=match(record(event=exact, role=exact, **{key: exact})))) for stage, key in KEYS.items()
}
"""The stages that are expressions."""

SUMMARIES = {
    EXACT: "the same place", SAME_TEXT: "the same text", HARMLESS_TOKENS: "the same but for articles, determiners, punctuation, 's",
    BREAK_AGGREGATE: "lists broken up or put together", MODIFIERS: "one-token references with modifiers", JUDGED: "what a judge accepts",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What may be decided otherwise; every choice goes into the signature."""

    counting: str = "rewrite"
    wording: Wording = field(default_factory=Wording)
    modifiers: frozenset[str] = LABELS
    order: str = "break-first"
    duplicates: str = "merge"
    partial: float = 0.0
    none_credits_recall: bool = False

    def __post_init__(self) -> None:
        for name, known in (("counting", COUNTINGS), ("order", tuple(ORDERS)), ("duplicates", DUPLICATES)):
            value = getattr(self, name)
            if value not in known:
                raise MetricError(f"{name} is one of {', '.join(known)}, found {value!r}.{did_you_mean(value, known)}")
        if self.partial not in PARTIAL:
            raise MetricError(f"partial is what a Partial counts: 0, 0.5 or 1; found {self.partial!r}")

    def settings(self, parser: str, judge: str) -> str:
        """For a signature."""
        return settings_line(
            counting=self.counting,
            **self.wording.signature,
            order=self.order,
            duplicates=self.duplicates,
            modifiers=listed(self.modifiers, LABELS) if parser else "",
            parses=parser,
            judge=judge,
            partial=f"{self.partial:g}" if judge else "",
            none=("precision+recall" if self.none_credits_recall else "precision") if judge else "",
        )


PLAIN = Options()


@dataclass(frozen=True)
class KeyedArgument:
    """An argument as the expressions look at it; a pronoun's text and form are its place."""

    event: str
    role: str
    span: Any
    text: Any
    form: Any


@dataclass(frozen=True)
class ArgumentView:
    """A document as the expressions look at it."""

    arguments: tuple[KeyedArgument, ...]


@dataclass(frozen=True)
class Scored:
    """What the stages found: blocks by document, and a result for each stage."""

    ids: tuple[str, ...]
    documents: tuple[ArgumentDocument, ...]
    """The reference's."""
    blocks: tuple[tuple[Block, ...], ...]
    results: Mapping[str, Result]
    options: Options
    coverage: Coverage | None = None

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that were run."""
        return tuple(self.results)

    @cached_property
    def open(self) -> list[Question]:
        """The questions about what is still wrong, in the order of the corpus."""
        out = []
        for document, blocks in zip(self.documents, self.blocks, strict=True):
            asker = Asker(document, self.options.wording)
            out += [asker.ask(block, one) for block in blocks for one in block.open if one.text.strip()]
        return out

    def by_role(self, stage: str) -> dict[str, F64]:
        """The sums of each role up to a stage."""
        out: dict[str, F64] = {}
        for blocks in self.blocks:
            for block in blocks:
                out[block.role] = out.get(block.role, np.zeros(4)) + block_sums(block, stage, self.options)
        return dict(sorted(out.items(), key=lambda item: (-item[1][3], item[0])))


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = (), options: Options = PLAIN, judge: Judge | None = None
) -> dict[str, Result]:
    """Arguments from Python: sequences, or mappings by id, of ArgumentDocument."""
    scored = score(pair_values(reference, predicted), options, judge=judge)
    return chosen(scored.results, metrics, "arguments")


def score(pairs: Paired[ArgumentDocument], options: Options = PLAIN, *, judge: Judge | None = None) -> Scored:
    """All stages that the data allow; a judge only where one is given."""
    parsers = {document.parse.source for document in pairs.reference if document.parse is not None}
    parsed = any(document.parse is not None for document in pairs.reference)
    notes = list(pairs.warnings)
    blocks, views, partial = [], [], 0
    for gold, system in zip(pairs.reference, pairs.predicted, strict=True):
        left, right = (_kept(side.arguments if side is not None else (), options) for side in (gold, system))
        views.append((_view(left, options, "reference"), _view(right, options, "predicted")))
        variants = None
        if gold.parse is not None:
            variants = Variants(gold.parse, gold.tokens, options.wording, options.modifiers)
        elif parsed and left:
            raise MetricError(
                "some documents have a parse and others have none; the modifiers need all of them or none"
            )
        blocks.append(
            tuple(run_stages(one, options.wording, variants, ORDERS[options.order]) for one in blocks_of(left, right))
        )
        partial += len(variants.partial) if variants is not None else 0
    if not parsed:
        notes.append("the stage `modifiers` is left out: it needs a parse of the documents (--parses)")
    if partial:
        notes.append(f"{partial:,} one-token references are only a part of a word of the parse; they have no modifiers")
    unplaced = sum(
        one.span is None and bool(one.text) for found in blocks for block in found for one in block.candidates
    )
    if unplaced:
        notes.append(f"{unplaced:,} candidates have no place in the document, which `exact` asks for")
    if any(block.contended for found in blocks for block in found):
        notes.append(
            "in some role too many references want the same candidates: they were aggregated from left to right"
        )
    coverage = None
    if judge is not None:
        coverage = _judged(pairs.reference, blocks, judge, options)
        notes.append(coverage_note(coverage))
    stages = [stage for stage in STAGES if (stage != MODIFIERS or parsed) and (stage != JUDGED or judge is not None)]
    settings = options.settings(
        " + ".join(sorted(parsers)) if parsed else "", judge.signature if judge is not None else ""
    )
    results = {}
    for stage in stages:
        if stage in EXPRESSIONS:
            left_views, right_views = ([view[side] for view in views] for side in (0, 1))
            result = run(
                "arguments",
                stage,
                EXPRESSIONS[stage],
                pairs.ids,
                left_views,
                right_views,
                notes=notes,
                settings=settings,
            )
        else:
            rows = np.array([document_sums(found, stage, options) for found in blocks]).reshape(-1, 4)
            result = Result(
                stage, Counts(one=False), rows, pairs.ids, 0.0, tuple(notes), settings=settings, name=f"arguments.{stage}"
            )  # fmt: skip
        results[stage] = result
    return Scored(pairs.ids, pairs.reference, tuple(blocks), results, options, coverage)


def coverage_note(coverage: Coverage) -> str:
    """How much the judge decided, and what follows for the figure."""
    shown = f"{coverage.judge} decided {coverage.judged:,} of {coverage.open:,} open candidates ({coverage.share:.1%})"
    return shown if coverage.judged == coverage.open else f"{shown}: the figures of `judge` are lower bounds"


def open_questions(systems: Mapping[str, Scored], top: int | None = None) -> list[Question]:
    """What is still wrong after the deterministic stages, as questions; what most systems made comes first."""
    return most_made([scored.open for scored in systems.values()], top)


def _judged(
    documents: Sequence[ArgumentDocument], blocks: Sequence[Sequence[Block]], judge: Judge, options: Options
) -> Coverage:
    """Ask about all documents at once, so that a judge may work on many questions at a time."""
    askers: dict[int, Asker] = {}
    for document, found in zip(documents, blocks, strict=True):
        asker = Asker(document, options.wording)
        askers.update({id(block): asker for block in found})
    every = [block for found in blocks for block in found]
    return judge_blocks(every, judge, lambda block, one: askers[id(block)].ask(block, one), options.partial)


# Blocks, and what is counted


def _kept(arguments: Sequence[EventArgument], options: Options) -> tuple[EventArgument, ...]:
    """The arguments as a set, if duplicates are merged: those of one place are one, those without place by their text."""
    if options.duplicates == "keep":
        return tuple(arguments)
    unlike: dict[Any, EventArgument] = {}
    for one in arguments:
        unlike.setdefault((one.event, one.role, one.span if one.span is not None else one.text), one)
    return tuple(unlike.values())


def blocks_of(references: Sequence[EventArgument], candidates: Sequence[EventArgument]) -> list[Block]:
    """One block for each role of each event that either side has."""
    sides: dict[tuple[str, str], tuple[list[EventArgument], list[EventArgument]]] = {}
    for side, arguments in enumerate((references, candidates)):
        for one in arguments:
            sides.setdefault((one.event, one.role), ([], []))[side].append(one)
    return [Block.of(event, role, *both) for (event, role), both in sides.items()]


def block_sums(block: Block, stage: str, options: Options) -> F64:
    """num_p, den_p, num_r, den_r of one role of one event, with all stages up to this one."""
    known = STAGES[: STAGES.index(stage) + 1]
    sums = [Fraction(0), Fraction(len(block.candidates)), Fraction(0), Fraction(len(block.references))]
    for step in block.steps:
        if step.stage in known:
            for k, change in enumerate(credit(step, options)):
                sums[k] += change
    return np.array([float(value) for value in sums])


def credit(step: Accepted | Broken, options: Options) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """What a step adds to num_p, den_p, num_r and den_r."""
    nothing, rewrite = Fraction(0), options.counting == "rewrite"
    if isinstance(step, Broken):
        return nothing, Fraction(len(step.parts) - 1 if rewrite else 0), nothing, nothing
    found = len(step.references)
    if rewrite:  # one candidate for each reference, whatever there was before
        num_p, den_p = step.weight * max(found, 1), Fraction(max(found, 1) - len(step.candidates))
    else:
        num_p, den_p = step.weight * sum((one.share for one in step.candidates), nothing), nothing
    if not found and options.none_credits_recall:  # the reference lacked an argument, which it now has
        return num_p, den_p, step.weight, Fraction(1)
    return num_p, den_p, step.weight * found, nothing


def document_sums(blocks: Sequence[Block], stage: str, options: Options) -> F64:
    """The sums of a document."""
    return np.sum([block_sums(block, stage, options) for block in blocks], axis=0) if blocks else np.zeros(4)


def _view(arguments: Sequence[EventArgument], options: Options, side: str) -> ArgumentView:
    """What the expressions compare; what equals nothing gets a key of its own."""
    out = []
    for k, one in enumerate(arguments):
        said = options.wording.read(one.text)
        here = f"{side} {k}" if one.span is None else f"{one.span[0]}:{one.span[1]}"
        text, form = (said.text, " ".join(said.form)) if said.comparable else (f"\0{here}", f"\0{here}")
        out.append(KeyedArgument(one.event, one.role, here, text, form))
    return ArgumentView(tuple(out))

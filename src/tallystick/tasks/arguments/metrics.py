"""What of the stages may be decided otherwise, and what they count.

Two ways of counting where one candidate meets several references, or several meet one:

    rewrite   parts and merged candidates replace the candidates, so that their number changes; one number of hits
    keep      the number of candidates stays; a part earns its share of the candidate, a merged one earns 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError, did_you_mean
from tallystick.files.pairing import Paired, pair_values
from tallystick.results.result import Result
from tallystick.structures.texts import ArgumentDocument, EventArgument, Span
from tallystick.tasks.arguments.forms import LABELS, Variants, Wording, listed
from tallystick.tasks.arguments.judging import Asker, Coverage, judge_blocks, most_made
from tallystick.tasks.arguments.stages import (
    EXACT,
    HARMLESS_TOKENS,
    JUDGED,
    MODIFIERS,
    SAME_TEXT,
    STAGES,
    Accepted,
    Block,
    Broken,
    Share,
    run_stages,
)
from tallystick.tasks.metric import choose, score_expression, settings_line

if TYPE_CHECKING:
    from tallystick.judging.questions import Judge, Question


COUNTINGS = ("rewrite", "keep")
ORDERS = {"break-first": ("break", "aggregate"), "aggregate-first": ("aggregate", "break")}
DUPLICATES = ("merge", "keep")
PARTIAL = (0.0, 0.5, 1.0)


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
    sums: list[Share] = [0, len(block.candidates), 0, len(block.references)]
    for step in block.steps:
        if step.stage in known:
            for k, change in enumerate(credit(step, options)):
                sums[k] += change
    return np.array([float(value) for value in sums])


def credit(step: Accepted | Broken, options: Options) -> tuple[Share, Share, Share, Share]:
    """What a step adds to num_p, den_p, num_r and den_r."""
    rewrite = options.counting == "rewrite"
    if isinstance(step, Broken):
        return 0, len(step.parts) - 1 if rewrite else 0, 0, 0
    found = len(step.references)
    num_p: Share = step.weight * sum(one.share for one in step.candidates)
    den_p = 0
    if rewrite:  # one candidate for each reference, whatever there was before
        num_p, den_p = step.weight * max(found, 1), max(found, 1) - len(step.candidates)
    if not found and not step.partial and options.none_credits_recall:
        return (
            num_p,
            den_p,
            1,
            1,
        )  # the reference lacked an argument, which it now has; half an argument it does not lack
    return num_p, den_p, step.weight * found, 0


def document_sums(blocks: Sequence[Block], stage: str, options: Options) -> F64:
    """The sums of a document."""
    return np.sum([block_sums(block, stage, options) for block in blocks], axis=0) if blocks else np.zeros(4)


# Event arguments beyond exact match (BEMEAE): stages that accept more and more of what means the same.
#
#     exact             f1(each(arguments=match(record(event=exact, role=exact, span=exact))))
#     same_text         f1(each(arguments=match(record(event=exact, role=exact, text=exact))))
#     harmless_tokens   f1(each(arguments=match(record(event=exact, role=exact, form=exact))))
#     break_aggregate   and lists, broken up or put together
#     modifiers         and one-token references with modifiers of their own (needs a parse)
#     judge             and what a judge accepts (only if there is one)
#
# The first three are expressions of the algebra: a pronoun's text and form are its place, and places imply texts imply forms, so that
# matching what an earlier stage left is the same as matching by the later key alone. Lists and judges change what is counted
# (`argument_counting`), so the rest is a procedure over the same tallies.

__all__ = ["EXPRESSIONS", "PLAIN", "Options", "Scored", "evaluate", "open_questions", "score"]

KEYS = {EXACT: "span", SAME_TEXT: "text", HARMLESS_TOKENS: "form"}
EXPRESSIONS = {
    stage: f1(each(arguments=match(record(event=exact, role=exact, **{key: exact})))) for stage, key in KEYS.items()
}
"""The stages that are expressions."""


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
        for name, document, blocks in zip(self.ids, self.documents, self.blocks, strict=True):
            asker = Asker(document, self.options.wording.for_text(document.tokens), name)
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
    return choose(scored.results, metrics, "arguments")


def score(pairs: Paired[ArgumentDocument], options: Options = PLAIN, *, judge: Judge | None = None) -> Scored:
    """All stages that the data allow; a judge only where one is given."""
    pairs = with_one_text(pairs)
    parsers = {document.parse.source for document in pairs.reference if document.parse is not None}
    parsed = any(document.parse is not None for document in pairs.reference)
    notes = list(pairs.warnings)
    blocks, views, partial = [], [], 0
    for gold, system in zip(pairs.reference, pairs.predicted, strict=True):
        left, right = (_kept(side.arguments, options) for side in (gold, system))
        wording = options.wording.for_text(gold.tokens)
        views.append((_view(left, wording, "reference"), _view(right, wording, "predicted")))
        variants = None
        if gold.parse is not None:
            variants = Variants(gold.parse, gold.tokens, wording, options.modifiers)
        elif parsed and left:
            raise MetricError(
                "some documents have a parse and others have none; the modifiers need all of them or none"
            )
        blocks.append(
            tuple(run_stages(one, wording, variants, ORDERS[options.order]) for one in blocks_of(left, right))
        )
        partial += len(variants.partial) if variants is not None else 0
    if not parsed:
        notes.append("the stage `modifiers` is left out: it needs a parse of the documents (--parses)")
    if partial:
        notes.append(
            f"one-token references that are only a part of a word of the parse, and so have no modifiers: {partial:,}"
        )
    every = [one for found in blocks for block in found for one in block.candidates]
    unplaced = sum(one.span is None and bool(one.text.strip()) for one in every)
    if unplaced:
        notes.append(f"candidates without a place in the document, which `exact` asks for: {unplaced:,}")
    empty = sum(one.span is None and not one.text.strip() for one in every)
    if empty:
        notes.append(
            f"candidates with neither place nor text, which count as wrong and about which no judge is asked: {empty:,}"
        )
    if any(block.contended for found in blocks for block in found):
        notes.append(
            "in some role too many references want the same candidates: they were aggregated from left to right"
        )
    coverage = None
    if judge is not None:
        coverage = _judged(pairs, blocks, judge, options)
        notes += coverage.warnings()
    stages = [stage for stage in STAGES if (stage != MODIFIERS or parsed) and (stage != JUDGED or judge is not None)]
    settings = options.settings(
        " + ".join(sorted(parsers)) if parsed else "", judge.signature if judge is not None else ""
    )
    results = {}
    for stage in stages:
        if stage in EXPRESSIONS:
            left_views, right_views = ([view[side] for view in views] for side in (0, 1))
            seen = Paired(pairs.ids, tuple(left_views), tuple(right_views), tuple(notes))
            result = score_expression(f"arguments.{stage}", EXPRESSIONS[stage], seen, settings=settings)
        else:
            rows = np.array([document_sums(found, stage, options) for found in blocks]).reshape(-1, 4)
            result = Result(
                stage, Counts(one=False), rows, pairs.ids, 0.0, tuple(notes), settings=settings, name=f"arguments.{stage}"
            )  # fmt: skip
        results[stage] = result
    return Scored(pairs.ids, pairs.reference, tuple(blocks), results, options, coverage)


def open_questions(systems: Mapping[str, Scored], top: int | None = None) -> list[Question]:
    """What is still wrong after the deterministic stages, as questions; what most systems made comes first."""
    return most_made([scored.open for scored in systems.values()], top)


def _judged(
    pairs: Paired[ArgumentDocument], blocks: Sequence[Sequence[Block]], judge: Judge, options: Options
) -> Coverage:
    """Ask about all documents at once, so that a judge may work on many questions at a time."""
    askers: dict[int, Asker] = {}
    for name, document, found in zip(pairs.ids, pairs.reference, blocks, strict=True):
        asker = Asker(document, options.wording.for_text(document.tokens), name)
        askers.update({id(block): asker for block in found})
    every = [block for found in blocks for block in found]
    return judge_blocks(
        every, judge, lambda block, one: askers[id(block)].ask(block, one), options.partial, options.counting
    )


# What is compared


def with_one_text(pairs: Paired[ArgumentDocument]) -> Paired[ArgumentDocument]:
    """What stands in one place of a document says one thing, that of the reference, so that places imply texts."""
    sides: tuple[list[ArgumentDocument], list[ArgumentDocument]] = ([], [])
    unlike = [0, 0]
    for both in zip(pairs.reference, pairs.predicted, strict=True):
        said = _said(both[0])
        for k, document in enumerate(both):
            kept = []
            for one in document.arguments:
                text = said.get(one.span, one.text) if one.span is not None else one.text
                unlike[k] += _letters(text) != _letters(one.text)
                kept.append(one if text == one.text else replace(one, text=text))
            sides[k].append(replace(document, arguments=tuple(kept)))
    more = []
    if unlike[0]:
        more.append(
            "references that say something else than another reference in the same place; what the tokens say counts, or the first text "
            f"of the alphabet: {unlike[0]:,}"
        )
    if unlike[1]:
        more.append(
            f"candidates that say something else than the reference in the same place; the reference counts: {unlike[1]:,}"
        )
    return replace(
        pairs, reference=tuple(sides[0]), predicted=tuple(sides[1]), warnings=(*pairs.warnings, *more)
    )  # fmt: skip


def _said(gold: ArgumentDocument) -> dict[Span, str]:
    """What the references say in each place; where they differ, what the tokens say, else the first in the order of the alphabet."""
    texts: dict[Span, set[str]] = {}
    for one in gold.arguments:
        if one.span is not None:
            texts.setdefault(one.span, set()).add(one.text)

    def like_the_tokens(span: Span, text: str) -> bool:
        return _letters(text) == _letters("".join(gold.tokens[span[0] : span[1] + 1]))

    return {span: min((not like_the_tokens(span, text), text) for text in found)[1] for span, found in texts.items()}


def _letters(text: str) -> str:
    return "".join(text.split()).casefold()


def _kept(arguments: Sequence[EventArgument], options: Options) -> tuple[EventArgument, ...]:
    """The arguments as a set, if duplicates are merged: those of one place are one, those without place by their text."""
    if options.duplicates == "keep":
        return tuple(arguments)
    unlike: dict[Any, EventArgument] = {}
    for one in arguments:
        unlike.setdefault((one.event, one.role, one.span if one.span is not None else one.text), one)
    return tuple(unlike.values())


def _view(arguments: Sequence[EventArgument], wording: Wording, side: str) -> ArgumentView:
    """What the expressions compare; what equals nothing gets a key of its own."""
    out = []
    for k, one in enumerate(arguments):
        said = wording.read(one.text)
        here = f"{side} {k}" if one.span is None else f"{one.span[0]}:{one.span[1]}"
        text, form = (said.text, " ".join(said.form)) if said.comparable else (f"\0{here}", f"\0{here}")
        out.append(KeyedArgument(one.event, one.role, here, text, form))
    return ArgumentView(tuple(out))

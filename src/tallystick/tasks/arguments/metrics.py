"""Event arguments beyond exact match, after "BEMEAE: Moving Beyond Exact Span Match for Event Argument Extraction": stages that
accept more and more of what means the same.

    exact             f1(each(arguments=match(record(event=exact, role=exact, span=exact))))
    same_text         f1(each(arguments=match(record(event=exact, role=exact, text=exact))))
    harmless_tokens   f1(each(arguments=match(record(event=exact, role=exact, form=exact))))
    break_aggregate   also lists, broken up or put together
    modifiers         also one-token references with modifiers of their own (needs a parse)
    judge             also what a judge accepts (only if there is one)

The first three are expressions of the algebra: a pronoun's text and form are its place, and equal places imply equal texts, which imply
equal forms, so matching what an earlier stage left is the same as matching by the later key alone. Lists and judges change what is
counted, so the other stages are a procedure over the same tallies. There are two ways of counting where one candidate matches several
references, or several match one:

    rewrite   parts and merged candidates replace the candidates, so their number changes; one number of hits
    keep      the number of candidates stays; a part earns its share of the candidate, a merged one earns 1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
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
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.structures.texts import ArgumentDocument, EventArgument, Span
from tallystick.tasks.arguments.stages import (
    EXACT,
    HARMLESS_TOKENS,
    JUDGED,
    LABELS,
    MODIFIERS,
    SAME_TEXT,
    STAGES,
    Accepted,
    Asker,
    Block,
    Broken,
    Coverage,
    Share,
    Variants,
    Wording,
    describe_words,
    judge_blocks,
    letters_of,
    rank_questions,
    run_stages,
)
from tallystick.tasks.metric import choose, score_expression, settings_line

if TYPE_CHECKING:
    from tallystick.judging.questions import Judge, Question


COUNTINGS = ("rewrite", "keep")
ORDERS = {"break-first": ("break", "aggregate"), "aggregate-first": ("aggregate", "break")}
DUPLICATES = ("merge", "keep")
PARTIAL = (0.0, 0.5, 1.0)


@frozen
class ArgumentOptions:
    """The choices that change figures; each goes into the signature."""

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
            raise MetricError(f"partial is the weight of a Partial: 0, 0.5 or 1; found {self.partial!r}")

    def settings(self, parser: str, judge: str) -> str:
        """The choices as a line of a signature."""
        return settings_line(
            counting=self.counting,
            **self.wording.signature,
            order=self.order,
            duplicates=self.duplicates,
            modifiers=describe_words(self.modifiers, LABELS) if parser else "",
            parses=parser,
            judge=judge,
            partial=f"{self.partial:g}" if judge else "",
            none=("precision+recall" if self.none_credits_recall else "precision") if judge else "",
        )


PLAIN = ArgumentOptions()


def blocks_of(references: Sequence[EventArgument], candidates: Sequence[EventArgument]) -> list[Block]:
    """One block for each role of each event that either side has."""
    sides: dict[tuple[str, str], tuple[list[EventArgument], list[EventArgument]]] = {}
    for side, arguments in enumerate((references, candidates)):
        for one in arguments:
            sides.setdefault((one.event, one.role), ([], []))[side].append(one)
    return [Block.of(event, role, *both) for (event, role), both in sides.items()]


def block_sums(block: Block, stage: str, options: ArgumentOptions) -> F64:
    """num_p, den_p, num_r, den_r of one role of one event, with all stages up to this one."""
    known = STAGES[: STAGES.index(stage) + 1]
    sums: list[Share] = [0, len(block.candidates), 0, len(block.references)]
    for step in block.steps:
        if step.stage in known:
            for k, change in enumerate(credit(step, options)):
                sums[k] += change
    return np.array([float(value) for value in sums])


def credit(step: Accepted | Broken, options: ArgumentOptions) -> tuple[Share, Share, Share, Share]:
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
        # the reference lacked this argument and now has it; it does not lack half an argument
        return num_p, den_p, 1, 1
    return num_p, den_p, step.weight * found, 0


def document_sums(blocks: Sequence[Block], stage: str, options: ArgumentOptions) -> F64:
    """The sums of a document."""
    return np.sum([block_sums(block, stage, options) for block in blocks], axis=0) if blocks else np.zeros(4)


KEYS = {EXACT: "span", SAME_TEXT: "text", HARMLESS_TOKENS: "form"}
EXPRESSIONS = {
    stage: f1(each(arguments=match(record(event=exact, role=exact, **{key: exact})))) for stage, key in KEYS.items()
}
"""The stages that are expressions."""


@frozen
class KeyedArgument:
    """An argument as the expressions look at it; a pronoun's text and form are its place."""

    event: str
    role: str
    span: Any
    text: Any
    form: Any


@frozen
class ArgumentView:
    """A document as the expressions look at it."""

    arguments: tuple[KeyedArgument, ...]


@frozen
class ArgumentScores:
    """The blocks of each document after all stages, and a result for each stage."""

    ids: tuple[str, ...]
    documents: tuple[ArgumentDocument, ...]
    """The reference's."""
    blocks: tuple[tuple[Block, ...], ...]
    results: Mapping[str, Result]
    options: ArgumentOptions
    coverage: Coverage | None = None
    pairs: Paired[ArgumentDocument] = Paired((), (), ())
    """Both sides as they were compared."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that were run."""
        return tuple(self.results)

    @cached_property
    def open(self) -> list[Question]:
        """The questions about the candidates still open, in the order of the corpus."""
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

    def rows_by_role(self, stage: str) -> dict[str, F64]:
        """The same sums of every document."""
        out = {role: np.zeros((len(self.blocks), 4)) for role in self.by_role(stage)}
        for place, blocks in enumerate(self.blocks):
            for block in blocks:
                out[block.role][place] += block_sums(block, stage, self.options)
        return out


def evaluate(
    reference: Any,
    predicted: Any,
    metrics: Sequence[str] = (),
    options: ArgumentOptions = PLAIN,
    judge: Judge | None = None,
) -> dict[str, Result]:
    """Score arguments from Python: sequences, or mappings by id, of ArgumentDocument."""
    scored = score(pair_values(reference, predicted, ArgumentDocument), options, judge=judge)
    return choose(scored.results, metrics, "arguments")


def score(
    pairs: Paired[ArgumentDocument], options: ArgumentOptions = PLAIN, *, judge: Judge | None = None
) -> ArgumentScores:
    """Run all stages that the data allow; a judge only if one is given."""
    pairs = with_one_text(pairs)
    parsers = {document.parse.source for document in pairs.reference if document.parse is not None}
    parsed = any(document.parse is not None for document in pairs.reference)
    matched = [
        _match_document(gold, system, options, parsed)
        for gold, system in zip(pairs.reference, pairs.predicted, strict=True)
    ]
    blocks = tuple(one.blocks for one in matched)
    notes = [*pairs.warnings, *_notes(blocks, parsed, sum(one.partial for one in matched))]
    coverage = None
    if judge is not None:
        coverage = _run_judge(pairs, blocks, judge, options)
        notes += coverage.warnings()
    settings = options.settings(" + ".join(sorted(parsers)), judge.signature if judge is not None else "")
    left, right = (tuple(one.views[side] for one in matched) for side in (0, 1))
    views = Paired(pairs.ids, left, right, tuple(notes))
    results = {}
    for stage in STAGES:
        if (stage == MODIFIERS and not parsed) or (stage == JUDGED and judge is None):
            continue
        name = f"arguments.{stage}"
        if stage in EXPRESSIONS:
            results[stage] = score_expression(name, EXPRESSIONS[stage], views, settings=settings)
        else:
            rows = np.array([document_sums(found, stage, options) for found in blocks]).reshape(-1, 4)
            results[stage] = Result(
                stage, Counts(one=False), rows, pairs.ids, 0.0, tuple(notes), settings=settings, name=name
            )  # fmt: skip
    return ArgumentScores(pairs.ids, pairs.reference, blocks, results, options, coverage, pairs)


@frozen
class _Matched:
    """One document after the deterministic stages."""

    blocks: tuple[Block, ...]
    views: tuple[ArgumentView, ArgumentView]
    """Reference and prediction, as the expressions look at them."""
    partial: int = 0
    """One-token references that are only part of a word of the parse."""


def _match_document(
    gold: ArgumentDocument, system: ArgumentDocument, options: ArgumentOptions, parsed: bool
) -> _Matched:
    left, right = (_merge_duplicates(side.arguments, options) for side in (gold, system))
    wording = options.wording.for_text(gold.tokens)
    if parsed and left and gold.parse is None:
        raise MetricError("some documents have a parse and others have none; the modifiers need all of them or none")
    variants = Variants(gold.parse, gold.tokens, wording, options.modifiers) if gold.parse is not None else None
    blocks = tuple(run_stages(one, wording, variants, ORDERS[options.order]) for one in blocks_of(left, right))
    views = _view(left, wording, "reference"), _view(right, wording, "predicted")
    return _Matched(blocks, views, len(variants.partial) if variants is not None else 0)


def _notes(blocks: Sequence[Sequence[Block]], parsed: bool, partial: int) -> Iterator[str]:
    """What a reader needs to know about the deterministic stages."""
    if not parsed:
        yield "the stage `modifiers` is left out: it needs a parse of the documents (--parses)"
    if partial:
        yield f"one-token references that are only a part of a word of the parse, and so have no modifiers: {partial:,}"
    candidates = [one for found in blocks for block in found for one in block.candidates]
    unplaced = sum(one.span is None and bool(one.text.strip()) for one in candidates)
    if unplaced:
        yield f"candidates without a place in the document, which `exact` needs: {unplaced:,}"
    empty = sum(one.span is None and not one.text.strip() for one in candidates)
    if empty:
        yield f"candidates with neither place nor text, which count as wrong and are not judged: {empty:,}"
    if any(block.contended for found in blocks for block in found):
        yield "in some role too many references compete for the same candidates: they were aggregated from left to right"


def open_questions(systems: Mapping[str, ArgumentScores], top: int | None = None) -> list[Question]:
    """Questions about what the deterministic stages leave open; candidates that most systems made come first."""
    return rank_questions([scored.open for scored in systems.values()], top)


def _run_judge(
    pairs: Paired[ArgumentDocument], blocks: Sequence[Sequence[Block]], judge: Judge, options: ArgumentOptions
) -> Coverage:
    """Ask about all documents at once, so that a judge can work on many questions at a time."""
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
    """Give each place of a document one text, that of the reference, so that equal places imply equal texts."""
    sides: tuple[list[ArgumentDocument], list[ArgumentDocument]] = ([], [])
    unlike = [0, 0]
    for both in zip(pairs.reference, pairs.predicted, strict=True):
        known = _texts_by_place(both[0])
        for k, document in enumerate(both):
            kept = []
            for one in document.arguments:
                text = known.get(one.span, one.text) if one.span is not None else one.text
                if text != one.text:
                    unlike[k] += letters_of(text) != letters_of(one.text)
                    one = replace(one, text=text)
                kept.append(one)
            sides[k].append(replace(document, arguments=tuple(kept)))
    more = []
    if unlike[0]:
        more.append(
            "references with another text than a reference in the same place; the tokens' text counts, or the first text "
            f"in alphabetical order: {unlike[0]:,}"
        )
    if unlike[1]:
        more.append(
            f"candidates with another text than the reference in the same place; the reference's text counts: {unlike[1]:,}"
        )
    return replace(
        pairs, reference=tuple(sides[0]), predicted=tuple(sides[1]), warnings=(*pairs.warnings, *more)
    )  # fmt: skip


def _texts_by_place(gold: ArgumentDocument) -> dict[Span, str]:
    """The text of each place of the references; where they differ, that of the tokens, else the first in alphabetical order."""
    texts: dict[Span, set[str]] = {}
    for one in gold.arguments:
        if one.span is not None:
            texts.setdefault(one.span, set()).add(one.text)

    def like_the_tokens(span: Span, text: str) -> bool:
        return letters_of(text) == letters_of("".join(gold.tokens[span[0] : span[1] + 1]))

    return {
        span: min((not like_the_tokens(span, text), text) for text in found)[1] if len(found) > 1 else next(iter(found))
        for span, found in texts.items()
    }


def _merge_duplicates(arguments: Sequence[EventArgument], options: ArgumentOptions) -> tuple[EventArgument, ...]:
    """The arguments, duplicates merged if asked for: those with the same place, or without a place those with the same text."""
    if options.duplicates == "keep":
        return tuple(arguments)
    distinct: dict[Any, EventArgument] = {}
    for one in arguments:
        distinct.setdefault((one.event, one.role, one.span if one.span is not None else one.text), one)
    return tuple(distinct.values())


def _view(arguments: Sequence[EventArgument], wording: Wording, side: str) -> ArgumentView:
    """The keys that the expressions compare; an argument that equals no other gets a key of its own."""
    out = []
    for k, one in enumerate(arguments):
        reading = wording.read(one.text)
        here = f"{side} {k}" if one.span is None else f"{one.span[0]}:{one.span[1]}"
        text, form = (reading.text, " ".join(reading.form)) if reading.comparable else (f"\0{here}", f"\0{here}")
        out.append(KeyedArgument(one.event, one.role, here, text, form))
    return ArgumentView(tuple(out))

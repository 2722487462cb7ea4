"""When two arguments say the same (BEMEAE, section 6.1): words, forms, conjuncts, variants with modifiers, and the stages that use them.

    text        The Obama administration's ,        Syria , Iraq and the U.S.
    words       the obama administration 's ,       syria , iraq and the u . s .
    form            obama administration            syria iraq and u s
    conjuncts   -                                   (syria)  (iraq)  (u s)

A form leaves out what is harmless: articles, determiners, punctuation and 's. If nothing remains, the words stay. A pronoun
means nothing by itself: two of them are equal only in the same place. US, IT and WHO in capitals are names, unless
the whole document is in capitals.

The last stage: a judge decides about candidates that no rule accepts (BEMEAE, section 6.2).

A question has all references of the event's role, left to right, whether or not they are matched. A candidate is shown in its predicted
place; without a place, or if another text stands there, where its words are nearest to the trigger. The same candidate of
another system is thus the same question. Without text, or without a trigger, the ids of document and event tell questions apart.

    Correct, means references r, s    credits the candidate and those of r, s that are free
    Correct, means none of them       credits the candidate; no reference is used up
    Partial                           the same, with a weight: 0 by default
    Incorrect, or no verdict          credits nothing

A reference is credited once. If several candidates stand for the same references, each takes one so that the total is
largest; each then also gets those of its references that are left. Correct goes before Partial: a Partial candidate gets
the references that no Correct one stands for. A candidate whose references are all credited already is a repetition and stays wrong, as
in all stages.

A candidate without a verdict counts as wrong. With Partial as 0, a further verdict never lowers a figure, so the figures are lower
bounds. With Partial as 0.5 or 1 that holds for those that `bounds_of` names: references that go from three Partial candidates to one
Correct one may lower precision.

A judge is asked in one of three ways: `all`, one question with all references of the role (people); `pairs`, one question for each free
reference, of which only one is credited (embeddings, and language models that are shown a reference); `alone`, one question
without references, which credits the only free reference of the role, if there is just one, or none (language models that are not shown
it). Recorded judgements count the way they were asked. A judge may name its way in an attribute `asks`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, counted
from tallystick.frozen import frozen
from tallystick.judging.questions import Question
from tallystick.structures.texts import ArgumentDocument, DescribedEvent, EventArgument, Parse, Span
from tallystick.tasks.events.files import nearest
from tallystick.tasks.metric import best_pairs

if TYPE_CHECKING:
    from tallystick.judging.questions import Judge, Question, Verdict

Form = tuple[str, ...]


def word_list(text: str) -> frozenset[str]:
    """A closed list of words."""
    return frozenset(text.split())


PRONOUNS = word_list("""
    i me you he him she her it we us they them thou thee
    my mine your yours his hers its our ours their theirs
    myself yourself himself herself itself ourselves yourselves themselves oneself
    this that these those
    who whom whose which what whoever whomever whatever whichever
""")
"""Personal, possessive, reflexive, demonstrative, relative and interrogative pronouns."""

HARMLESS = word_list("a an the this that these those some any each every all both either neither another such")
"""Articles and determiners. Not `no`, which reverses the meaning, and not possessive pronouns, which are pronouns."""

CONJUNCTIONS = frozenset(("and",))
NAMES = frozenset(("US", "IT", "WHO"))
"""Pronouns that are names in capitals."""
GENITIVE = "'s"
MEANINGFUL = frozenset("%‰&@#§")
"""Punctuation in Unicode that nevertheless carries meaning."""

_WORD = re.compile(r"['’]s(?!\w)|\d+(?:[.,]\d+)+|\w+|\S")


def fold_text(text: str) -> str:
    """The text without case and with single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def letters_of(text: str) -> str:
    """The text without case and blanks."""
    return "".join(text.split()).casefold()


def split_words(text: str) -> Form:
    """The words and the marks of a text."""
    return tuple(_WORD.findall(unicodedata.normalize("NFC", text).replace("’", "'")))


def words(text: str) -> Form:
    """The words and the marks of a text, without case."""
    return tuple(map(str.casefold, split_words(text)))


def is_mark(word: str) -> bool:
    """Whether a word is nothing but punctuation."""
    return all(unicodedata.category(c).startswith("P") and c not in MEANINGFUL for c in word)


@frozen
class ReadText:
    """A text as the stages read it: without case, its form, whether it is a pronoun, its conjuncts."""

    text: str
    form: Form
    pronoun: bool
    parts: tuple[str, ...] = ()
    """The texts of its conjuncts, at least two; empty if there is no conjunction."""

    @property
    def comparable(self) -> bool:
        """Whether its text may be compared: not if it is a pronoun, or empty."""
        return bool(self.form) and not self.pronoun


@frozen
class Wording:
    """The closed word lists of the stages, all in lower case."""

    pronouns: frozenset[str] = PRONOUNS
    harmless: frozenset[str] = HARMLESS
    conjunctions: frozenset[str] = CONJUNCTIONS
    in_capitals: bool = False
    """Whether capitals mean nothing, since the whole document is in capitals."""
    _seen: dict[str, ReadText] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("pronouns", "harmless", "conjunctions"):
            for one in sorted(getattr(self, name)):
                if words(one) != (one,):
                    raise MetricError(
                        f"{name}: expected single words in lower case; found {one!r}, which would match nothing"
                    )

    def for_text(self, tokens: Sequence[str]) -> Wording:
        """The wording for a document: in one that is all capitals, capitals mean nothing."""
        return self._in_capitals if " ".join(tokens).isupper() else self

    @cached_property
    def _in_capitals(self) -> Wording:
        return replace(self, in_capitals=True, _seen={})

    def read(self, text: str) -> ReadText:
        """Read a text; cached, since texts recur."""
        found = self._seen.get(text)
        if found is None:
            found = self._seen[text] = self._read(text)
        return found

    def _read(self, text: str) -> ReadText:
        written = split_words(text)
        form = self.form(tuple(map(str.casefold, written)))
        kept = [word for word in written if not self.is_harmless(word.casefold())] or written
        pronoun = bool(kept) and all(self._is_pronoun(word) for word in kept)
        return ReadText(fold_text(text), form, pronoun, self._parts(text))

    def _is_pronoun(self, word: str) -> bool:
        return word.casefold() in self.pronouns and (self.in_capitals or word not in NAMES)

    def is_harmless(self, word: str) -> bool:
        """Whether a word may be left out."""
        return word in self.harmless or word == GENITIVE or is_mark(word)

    def form(self, given: Form) -> Form:
        """The words without the harmless ones; all words if none remain."""
        return tuple(word for word in given if not self.is_harmless(word)) or given

    def _parts(self, text: str) -> tuple[str, ...]:
        """The conjuncts as written: split at conjunctions and, in such a list, at commas."""
        found = list(_WORD.finditer(text))
        if not any(one[0].casefold() in self.conjunctions for one in found):
            return ()
        parts: list[list[re.Match[str]]] = [[]]
        for one in found:
            if one[0].casefold() in self.conjunctions or one[0] == ",":
                parts.append([])
            else:
                parts[-1].append(one)
        kept = [part for part in parts if not all(is_mark(one[0]) for one in part)]
        return tuple(text[part[0].start() : part[-1].end()] for part in kept) if len(kept) > 1 else ()

    @property
    def signature(self) -> dict[str, str]:
        """The lists, for a result's signature."""
        usual = {"pronouns": PRONOUNS, "harmless": HARMLESS, "conjunctions": CONJUNCTIONS}
        return {name: describe_words(getattr(self, name), words) for name, words in usual.items()}


def describe_words(found: Collection[str], usual: Collection[str]) -> str:
    """A word list in a signature: "usual" for the default, up to eight words in full, longer lists by their digest."""
    chosen = sorted(found)
    if chosen == sorted(usual) and len(chosen) > 1:
        return "usual"
    if len(chosen) <= 8:
        return "+".join(chosen) or "none"
    return f"{len(chosen)} words {blake2b(' '.join(chosen).encode(), digest_size=4).hexdigest()}"


# A reference of one token with modifiers of its own: `vehicles` with `Korean`, or with all of `South Korean`.
#
#     variants of t = t and, for a non-empty choice of its modifiers, each one's token or its whole subtree, in document order
#
# The modifiers are the children of t under one of these labels: amod, appos, nmod, nounmod, nummod, poss, possessive (BEMEAE,
# section 6.1). In Universal Dependencies `nmod:poss` is a poss and a `case` that is 's a possessive; of other subtypes the part before the
# colon counts. Variants are not enumerated, since there are 3^n of them: a candidate is one if it can be assembled, and a
# modifier whose token is not in the candidate cannot be part of it.

LABELS = frozenset(("amod", "appos", "nmod", "nounmod", "nummod", "poss", "possessive"))


@dataclass
class Variants:
    """The variants of the one-token references of one document. `partial` collects those that are not a word of the parse."""

    parse: Parse
    tokens: Sequence[str]
    wording: Wording
    labels: frozenset[str] = LABELS
    partial: set[int] = field(default_factory=set)

    def accept(self, token: int, form: Form) -> bool:
        """Whether a form is one of a token's variants."""
        word = self.parse.word_of(token)
        if word is None:
            self.partial.add(token)
            return False
        goal = Counter(form)
        own = self.form({token})
        if not Counter(own) <= goal:
            return False
        modifiers = []
        for child in self.parse.children[word]:
            if self.label(child) in self.labels:
                small, large = self.parse.tokens(child) - {token}, self.parse.subtree(child) - {token}
                forms = {tokens: self.form(tokens) for tokens in (small, large)}
                choices = [tokens for tokens, one in forms.items() if one and Counter(one) <= goal]
                if choices:
                    modifiers.append(choices)
        return self._reaches(frozenset((token,)), modifiers, 0, form)

    def _reaches(self, chosen: frozenset[int], modifiers: list[list[frozenset[int]]], at: int, form: Form) -> bool:
        """Whether some choice of the modifiers from `at` on makes the form."""
        found = self.form(chosen)
        if len(found) >= len(form):
            return found == form and len(chosen) > 1
        if at == len(modifiers):
            return False
        return any(self._reaches(chosen | more, modifiers, at + 1, form) for more in modifiers[at]) or self._reaches(
            chosen, modifiers, at + 1, form
        )

    def form(self, tokens: Sequence[int] | set[int] | frozenset[int]) -> Form:
        """The form of some tokens in document order."""
        found = (word for token in sorted(tokens) for word in words(self.tokens[token]))
        return tuple(word for word in found if not self.wording.is_harmless(word))

    def label(self, word: int) -> str:
        """A word's label, as `LABELS` spells it."""
        label = self.parse.labels[word]
        if label == "nmod:poss":
            return "poss"
        if label == "case" and self.form(self.parse.tokens(word)) == () and GENITIVE in self._words(word):
            return "possessive"
        return label.partition(":")[0]

    def _words(self, word: int) -> Form:
        return tuple(one for token in self.parse.tokens(word) for one in words(self.tokens[token]))


# The deterministic stages, inside one role of one event (BEMEAE, section 6.1). Each sees only what is still unmatched.
#
#     exact            the same place
#     same text        the same text; not for pronouns
#     harmless tokens  the same form, without articles, determiners, punctuation, 's
#     break            a candidate `a and b` becomes the candidates a, b; those that are references are right
#     aggregate        candidates a, b that are the conjuncts of one reference `a and b` become one, which is right
#     modifiers        a reference of one token with modifiers of its own from a parse
#
# The first three compare by equality: matched one to one, they count equal keys (`metrics` has them as expressions).
# Break: the number of references found is the largest possible in any order; which candidate gets them is
# decided by most hits, fewest parts, and place. Aggregate: the largest number of references, the leftmost of equally many.
# Modifiers: a maximum matching. References and candidates are first sorted by their places, so that the order of the
# input does not matter.

EXACT, SAME_TEXT, HARMLESS_TOKENS = "exact", "same_text", "harmless_tokens"
BREAK_AGGREGATE, MODIFIERS, JUDGED = "break_aggregate", "modifiers", "judge"
STAGES = (EXACT, SAME_TEXT, HARMLESS_TOKENS, BREAK_AGGREGATE, MODIFIERS, JUDGED)

CONTENDING = 16
"""For up to so many references that want the same candidates, the best choice is searched for."""

Share = Fraction | int
"""Exact, so that three thirds are one."""


@frozen
class Candidate:
    """A candidate to be matched, or a part of one. `share` is its share of the candidate that it came from."""

    text: str
    span: Span | None
    origin: int
    share: Share = 1


@frozen
class Accepted:
    """Candidates that match references, and the stage that accepted them. `partial` marks what a judge calls Partial, whatever its weight."""

    stage: str
    references: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    weight: Share = 1
    how: str = ""
    partial: bool = False


@frozen
class Broken:
    """A candidate that was broken into parts."""

    stage: str
    candidate: Candidate
    parts: tuple[Candidate, ...]


@dataclass
class Block:
    """One role of one event: what there is to match, what was matched, and what is still open."""

    event: str
    role: str
    references: tuple[EventArgument, ...]
    candidates: tuple[EventArgument, ...]
    steps: list[Accepted | Broken]
    free: list[int]
    open: list[Candidate]
    contended: bool = False
    """Whether too many references wanted the same candidates for a search."""

    @staticmethod
    def of(
        event: str, role: str, references: Iterable[EventArgument], candidates: Iterable[EventArgument]
    ) -> Block:  # fmt: skip
        """A block in which nothing is matched yet."""
        left, right = tuple(sorted(references, key=sort_key)), tuple(sorted(candidates, key=sort_key))
        waiting = [Candidate(one.text, one.span, k) for k, one in enumerate(right)]
        return Block(event, role, left, right, [], list(range(len(left))), waiting)

    def accept(self, stage: str, references: Sequence[int], candidates: Sequence[Candidate], how: str = "") -> None:
        """Match these, by a deterministic stage."""
        self.take(Accepted(stage, tuple(references), tuple(candidates), how=how or stage))

    def take(self, step: Accepted) -> None:
        """Record what was accepted, and take it off what is free and open."""
        self.steps.append(step)
        self.free = [k for k in self.free if k not in step.references]
        self.open = [one for one in self.open if not any(one is taken for taken in step.candidates)]


def sort_key(argument: EventArgument) -> tuple[bool, Span, str]:
    """The sort key of an argument: its place; arguments without a place come last, by their texts."""
    return argument.span is None, argument.span or (0, 0), argument.text


def _form(wording: Wording, text: str) -> Form | None:
    reading = wording.read(text)
    return reading.form if reading.comparable else None


def match_equal(block: Block, wording: Wording, stage: str) -> None:
    """Match equal places, texts or forms one to one; None equals nothing, and a pronoun has neither text nor form."""

    def key(one: EventArgument | Candidate) -> Hashable:
        if stage == EXACT:
            return one.span
        reading = wording.read(one.text)
        return None if not reading.comparable else reading.text if stage == SAME_TEXT else reading.form

    waiting: dict[Hashable, list[int]] = {}
    for k in block.free:
        waiting.setdefault(key(block.references[k]), []).append(k)
    waiting.pop(None, None)
    for candidate in list(block.open):
        found = waiting.get(key(candidate))
        if found:
            block.accept(stage, (found.pop(0),), (candidate,))


def break_up(block: Block, wording: Wording) -> None:
    """Break up candidates that list several references."""
    while True:
        wanted = Counter(form for form in (_form(wording, block.references[k].text) for k in block.free) if form)
        best: tuple[int, int, int] | None = None
        for k, candidate in enumerate(block.open):
            texts = wording.read(candidate.text).parts
            found = Counter(form for form in (_form(wording, text) for text in texts) if form)
            hits = sum((found & wanted).values())
            if hits and (best is None or (-hits, len(texts)) < best[:2]):
                best = -hits, len(texts), k
        if best is None:
            return
        candidate = block.open[best[2]]
        texts = wording.read(candidate.text).parts
        share = Fraction(candidate.share) / len(texts)
        parts = tuple(Candidate(text, None, candidate.origin, share) for text in texts)
        block.steps.append(Broken(BREAK_AGGREGATE, candidate, parts))
        block.open[best[2] : best[2] + 1] = parts
        for part in parts:
            form = _form(wording, part.text)
            hit = next((k for k in block.free if form and _form(wording, block.references[k].text) == form), None)
            if hit is not None:
                block.accept(BREAK_AGGREGATE, (hit,), (part,), "break")


def aggregate(block: Block, wording: Wording) -> None:
    """Merge candidates that are the conjuncts of one reference."""
    supply: dict[Form, list[Candidate]] = {}
    for candidate in block.open:
        form = _form(wording, candidate.text)
        if form:
            supply.setdefault(form, []).append(candidate)
    stock = Counter({form: len(found) for form, found in supply.items()})
    wants: list[tuple[int, Counter[Form]]] = []
    for k in block.free:
        reading = wording.read(block.references[k].text)
        forms = [_form(wording, part) for part in reading.parts] if reading.comparable else []
        known = Counter(form for form in forms if form)
        if forms and all(forms) and known <= stock:
            wants.append((k, known))
    chosen, block.contended = _pack(wants, stock)
    for k, known in chosen:
        taken = [supply[form].pop(0) for form in known.elements()]
        block.accept(BREAK_AGGREGATE, (k,), sorted(taken, key=block.open.index), "aggregate")


Want = tuple[int, Counter[Form]]


def _pack(wants: list[Want], stock: Counter[Form]) -> tuple[list[Want], bool]:
    """The largest number of references whose conjuncts are all in stock, the leftmost of equally many; and whether it was
    only searched greedily from left to right, since too many contend."""
    total: Counter[Form] = Counter()
    for _, known in wants:
        total += known
    if total <= stock:
        return wants, False
    if len(wants) > CONTENDING:
        greedy: list[Want] = []
        for want in wants:
            if want[1] <= stock:
                greedy.append(want)
                stock = stock - want[1]
        return greedy, True
    best: list[Want] = []

    def search(at: int, chosen: list[Want], left: Counter[Form]) -> None:
        nonlocal best
        if len(chosen) > len(best):
            best = list(chosen)
        if at == len(wants) or len(chosen) + len(wants) - at <= len(best):
            return
        if wants[at][1] <= left:
            search(at + 1, [*chosen, wants[at]], left - wants[at][1])
        search(at + 1, chosen, left)

    search(0, [], stock)
    return best, False


def match_modifiers(block: Block, wording: Wording, variants: Variants) -> None:
    """Match references of one token with candidates that add modifiers of theirs."""
    edges: dict[tuple[int, int], float] = {}
    for row, k in enumerate(block.free):
        reference = block.references[k]
        if reference.span is None or reference.span[0] != reference.span[1] or not _form(wording, reference.text):
            continue
        for column, candidate in enumerate(block.open):
            form = _form(wording, candidate.text)
            if form and variants.accept(reference.span[0], form):
                edges[row, column] = 1.0
    free, waiting = list(block.free), list(block.open)
    for row, column in best_pairs(edges, len(free), len(waiting)):
        block.accept(MODIFIERS, (free[row],), (waiting[column],))


def run_stages(
    block: Block, wording: Wording, variants: Variants | None, order: Sequence[str] = ("break", "aggregate")
) -> Block:
    """Run all deterministic stages, one after the other; modifiers only if there is a parse."""
    stages: list[Callable[[Block, Wording], None]] = [
        *(partial(match_equal, stage=stage) for stage in (EXACT, SAME_TEXT, HARMLESS_TOKENS)),
        *({"break": break_up, "aggregate": aggregate}[name] for name in order),
    ]
    for stage in stages:
        if block.free and block.open:
            stage(block, wording)
    if variants is not None and block.free and block.open:
        match_modifiers(block, wording, variants)
    return block


@frozen
class Asker:
    """Makes the questions about one document of the reference."""

    document: ArgumentDocument
    wording: Wording
    id: str = ""
    """Which document it is."""

    @cached_property
    def text(self) -> str:
        """The document as one text: its tokens with blanks between."""
        return " ".join(self.document.tokens)

    @cached_property
    def starts(self) -> list[int]:
        """Where each token begins in the text."""
        out, at = [], 0
        for token in self.document.tokens:
            out.append(at)
            at += len(token) + 1
        return out

    @cached_property
    def events(self) -> dict[str, DescribedEvent]:
        """The events by their ids."""
        return {event.id: event for event in self.document.events}

    def characters(self, span: Span | None) -> Span | None:
        """A span of tokens as a span of characters."""
        if span is None or span[1] >= len(self.starts) or span[1] < span[0]:
            return None
        start, end = self.starts[span[0]], self.starts[span[1]] + len(self.document.tokens[span[1]])
        return (start, end) if end > start else None

    def ask(self, block: Block, candidate: Candidate) -> Question:
        """The question whether the candidate fills the role, and as which reference."""
        event = self.events.get(block.event, DescribedEvent(block.event))
        return Question(
            candidate.text,
            tuple(reference.text for reference in block.references),
            self.text,
            event.type,
            event.trigger,
            block.role,
            self.characters(self._place(candidate, event)),
            tuple(self.characters(reference.span) for reference in block.references),
            self.characters(event.span),
            self._source(event),
        )

    def _source(self, event: DescribedEvent) -> str:
        """What the question itself does not tell: the document if there is no text, the event if there is no trigger."""
        if not self.text.strip():
            return f"document {self.id}, event {event.id}"
        return "" if event.trigger else f"event {event.id}"

    def _place(self, candidate: Candidate, event: DescribedEvent) -> Span | None:
        if candidate.span is not None and (self._stands_there(candidate) or self.wording.read(candidate.text).pronoun):
            return candidate.span
        start, end = event.span or (0, -1)
        return nearest(candidate.text.split(), self.document.tokens, start, end + 1) or candidate.span

    def _stands_there(self, candidate: Candidate) -> bool:
        """Whether the candidate's text stands in its place."""
        assert candidate.span is not None
        there = self.document.tokens[candidate.span[0] : candidate.span[1] + 1]
        return "".join(there).casefold() == letters_of(candidate.text)


def rank_questions(systems: Iterable[Sequence[Question]], top: int | None = None) -> list[Question]:
    """The questions, those that most systems raise first; ties in the order of the corpus."""
    asked: dict[str, Question] = {}
    made: dict[str, int] = {}
    for questions in systems:
        for key, question in {question.key: question for question in questions}.items():
            asked.setdefault(key, question)
            made[key] = made.get(key, 0) + 1
    ordered = sorted(asked, key=lambda key: -made[key])
    return [asked[key] for key in ordered[:top]]


ASKS = ("all", "pairs", "alone")
FIGURES = ("precision", "recall", "f1")
CREDITED = ("Correct", "Partial")
"""The labels that may credit something, the better first."""
NEXT_TO_NOTHING = 1e-6
"""Breaks ties between matchings of the same total weight; too small to change the total."""
LEAST = 1e-3
"""Breaks the remaining ties: less than parts of a candidate differ by."""


@frozen
class CandidateQuestion:
    """A question about a candidate of a block; `reference` is the one in the question for a judge of pairs."""

    block: int
    candidate: Candidate
    question: Question
    reference: int | None = None


@frozen
class Coverage:
    """How many of the open candidates the judge decided."""

    open: int = 0
    judged: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    judge: str = ""
    asks: str = "all"
    troubles: tuple[str, ...] = ()
    """Why verdicts are missing, as the judge reports it."""
    bounds: tuple[str, ...] = FIGURES
    """The figures that no further verdict can lower."""

    @property
    def share(self) -> float:
        """The share of open candidates with a verdict; 1 where nothing was open."""
        return self.judged / self.open if self.open else 1.0

    @property
    def summary(self) -> str:
        """How much the judge decided, in one line."""
        of = "open candidates" + (" that have a free reference" if self.asks == "pairs" else "")
        return f"{self.judge} decided {self.judged:,} of {self.open:,} {of} ({self.share:.1%})"

    @property
    def whole(self) -> bool:
        """Whether the judge decided everything."""
        return self.judged == self.open

    def warnings(self) -> list[str]:
        """What it means for the figures that verdicts are missing, and why they are."""
        missing = [] if self.whole else [f"{self.summary}: {self._bound()}"]
        return [*missing, *(f"{self.judge}: {trouble}" for trouble in self.troubles)]

    def _bound(self) -> str:
        """Which figures are lower bounds, and which are not."""
        others = [name for name in FIGURES if name not in self.bounds]
        if not others:
            return "the figures of `judge` are lower bounds"
        is_, are = (" and ".join(names) + (" is" if len(names) == 1 else " are") for names in (self.bounds, others))
        bounds = "a lower bound" if len(self.bounds) == 1 else "lower bounds"
        return f"{is_} {bounds}; {are} not, since a further verdict may lower them where Partial counts (--partial)"


def bounds_of(asks: str, counting: str, partial: float) -> tuple[str, ...]:
    """The figures that no further verdict can lower: all, except where Partial counts and Correct goes before it.

    `rewrite` counts a candidate that stands for n references n times, and with weight 1/2 n times half: precision may fall, F1 cannot.
    Under `keep` several Partial candidates can lose their references to one Correct candidate, or to a part of one; also with Partial
    as 1, where they lose as much as the other gains. Pairs of equal weight are matched for the largest total, which only grows.
    """
    if not partial or asks == "alone" or (asks == "pairs" and (counting == "rewrite" or partial == 1)):
        return FIGURES
    return ("recall", "f1") if counting == "rewrite" and partial < 1 else ("recall",)


def way_of_asking(judge: Any) -> str:
    """How a judge wants to be asked: as it says itself, or by its kind."""
    how = getattr(judge, "asks", None)
    if how is None and getattr(judge, "kind", "person") in ("model", "embedding"):
        how = "pairs" if getattr(getattr(judge, "prompt", None), "with_reference", True) else "alone"
    if how not in (None, *ASKS):
        raise MetricError(f"a judge is asked {', '.join(ASKS)}; {judge.signature} says {how!r}")
    return how or "all"


def questions_for(judge: Any, blocks: Sequence[Block], ask: Any) -> list[CandidateQuestion]:
    """The questions for the judge; `ask(block, candidate)` makes one with all references."""
    how = way_of_asking(judge)
    out = []
    for at, block in enumerate(blocks):
        for candidate in block.open:
            if not candidate.text.strip() or (how == "pairs" and not block.free):
                continue
            question = ask(block, candidate)
            if how == "all":
                out.append(CandidateQuestion(at, candidate, question))
            elif how == "alone":
                out.append(CandidateQuestion(at, candidate, question.without_references()))
            else:
                out.extend(CandidateQuestion(at, candidate, question.only(k), k) for k in block.free)
    return out


def ask_judge(judge: Judge, asked: Sequence[CandidateQuestion]) -> list[Verdict | None]:
    """The verdicts, each distinct question asked once."""
    distinct = {one.question.key: one.question for one in asked}
    found = judge.judge(list(distinct.values()))
    if len(found) != len(distinct):
        raise MetricError(f"{judge.signature} was asked {len(distinct):,} questions and gave {len(found):,} verdicts")
    report = getattr(judge, "report", None)
    calls = getattr(report, "calls", 0)
    if calls and not (getattr(report, "answered", 1) or getattr(report, "known", 1)):
        reasons = "; ".join(dict(getattr(report, "failures", {})))
        raise MetricError(f"{judge.signature} answered none of {counted(calls, 'call')}: {reasons}")
    verdicts = dict(zip(distinct, found, strict=True))
    for key, verdict in verdicts.items():
        if verdict is not None and any(not 0 <= k < len(distinct[key].references) for k in verdict.references):
            raise MetricError(
                f"{judge.signature}: the verdict on {distinct[key].candidate!r} names the references {list(verdict.references)}, "
                f"but there are {len(distinct[key].references)}"
            )
    return [verdicts[one.question.key] for one in asked]


def judge_blocks(
    blocks: Sequence[Block], judge: Judge, ask: Any, partial: float, counting: str = "rewrite"
) -> Coverage:
    """Let the judge decide what is open; changes the blocks."""
    asked = questions_for(judge, blocks, ask)
    verdicts = ask_judge(judge, asked)
    worth = {"Correct": Fraction(1), "Partial": Fraction(partial), "Incorrect": Fraction(0)}
    by_block: dict[int, list[tuple[CandidateQuestion, Verdict]]] = {}
    labels = dict.fromkeys(worth, 0)
    decided: dict[int, bool] = {}
    for one, verdict in zip(asked, verdicts, strict=True):
        decided[id(one.candidate)] = decided.get(id(one.candidate), True) and verdict is not None
        if verdict is not None:
            labels[verdict.label] += 1
            by_block.setdefault(one.block, []).append((one, verdict))
    how = way_of_asking(judge)
    for at, found in by_block.items():
        right = [(one, verdict, worth[verdict.label]) for one, verdict in found if worth[verdict.label]]
        if how == "alone":
            _credit_alone(blocks[at], right)
        else:
            _credit(blocks[at], right, several=how == "all")
    bounds = bounds_of(how, counting, partial)
    return Coverage(len(decided), sum(decided.values()), labels, judge.signature, how, tuple(_troubles(judge)), bounds)


def _troubles(judge: Any) -> Iterator[str]:
    """What a judge reports: failed calls, unusable answers, who decides, and disputes between judges of equal experience."""
    report = getattr(judge, "report", None)
    for kind in ("failures", "unusable"):
        for reason, count in dict(getattr(report, kind, {})).items():
            yield f"{reason} ({count:,} times)"
    not_called = getattr(report, "not_called", 0)
    if not_called:
        yield f"{counted(not_called, 'call')} not made, because all earlier calls failed"
    yield from getattr(judge, "notes", ())
    elsewhere = len(getattr(judge, "elsewhere", ()))
    if elsewhere:
        yield (
            f"{counted(elsewhere, 'question')} without a verdict, though the same candidate was judged in the same role: with another "
            "text, in another place, with other references, or by another judge"
        )
    disputed = len(getattr(judge, "disputed", ()))
    if disputed:
        yield f"judges of equal experience disagree on {disputed:,} of its questions, which count as not judged"


Right = Sequence[tuple[CandidateQuestion, "Verdict", Fraction]]


def _credit(block: Block, right: Right, several: bool) -> None:
    """Give candidates the references that they stand for; if each may take several, Correct goes first."""
    if not several:
        return _match(block, right, several)
    for label in CREDITED:
        _match(block, [found for found in right if found[1].label == label], several)
    return None


def _match(block: Block, right: Right, several: bool) -> None:
    """Match one to one for the largest total; ties go to Correct, and to the larger part of a candidate."""
    free = list(block.free)
    candidates = list({id(one.candidate): one.candidate for one, _, _ in right}.values())
    column = {id(candidate): k for k, candidate in enumerate(candidates)}
    row = {reference: k for k, reference in enumerate(free)}
    weights: dict[tuple[int, int], Fraction] = {}
    labels: dict[tuple[int, int], str] = {}
    none = []
    for one, verdict, weight in right:
        named = (one.reference,) if one.reference is not None else verdict.references
        if not named:
            none.append((one.candidate, weight, verdict.label))
        for reference in named:
            if reference in row:
                edge = row[reference], column[id(one.candidate)]
                weights[edge], labels[edge] = weight, verdict.label
    edges = {
        (r, c): float(weight + NEXT_TO_NOTHING * ((weight == 1) + candidates[c].share + LEAST * (labels[r, c] == "Correct")))
        for (r, c), weight in weights.items()
    }  # fmt: skip
    taken: dict[int, list[int]] = {c: [r] for r, c in best_pairs(edges, len(free), len(candidates))}
    if several:  # what no other candidate needs
        used = {r for rows in taken.values() for r in rows}
        for r, c in sorted(weights, key=lambda edge: (edge[1], edge[0])):
            if r not in used and c in taken:
                taken[c].append(r)
                used.add(r)
    for c, rows in taken.items():
        label = labels[rows[0], c]
        references = tuple(sorted(free[r] for r in rows))
        block.take(_accepted(references, candidates[c], weights[rows[0], c], label))
    for candidate, weight, label in none:
        block.take(_accepted((), candidate, weight, label))


def _accepted(references: tuple[int, ...], candidate: Candidate, weight: Fraction, label: str) -> Accepted:
    how = label.lower() + ("" if references else ", no reference")
    return Accepted(JUDGED, references, (candidate,), weight, how, partial=label == "Partial")


def _credit_alone(block: Block, right: Right) -> None:
    """Credit the only free reference, if there is just one: the judge saw none."""
    only = tuple(block.free) if len(block.free) == 1 else ()
    for one, verdict, weight in sorted(
        right, key=lambda found: CREDITED.index(found[1].label)
    ):  # Partial takes it last
        references, only = only, ()
        block.take(_accepted(references, one.candidate, weight, verdict.label))

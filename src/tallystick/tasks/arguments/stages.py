"""When two arguments say the same (BEMEAE, section 6.1): words, forms, conjuncts, variants with modifiers, and the stages that use them.

    text        The Obama administration's ,        Syria , Iraq and the U.S.
    words       the obama administration 's ,       syria , iraq and the u . s .
    form            obama administration            syria iraq and u s
    conjuncts   -                                   (syria)  (iraq)  (u s)

A form leaves out what is harmless: articles, determiners, punctuation and 's. If nothing remains, the words stay. A pronoun
means nothing by itself: two of them are equal only in the same place. US, IT and WHO in capitals are names, unless
the whole document is in capitals.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from hashlib import blake2b

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.structures.texts import EventArgument, Parse, Span
from tallystick.tasks.metric import best_pairs

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

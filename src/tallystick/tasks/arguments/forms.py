"""When two arguments say the same (BEMEAE, section 6.1): words, forms, conjuncts, and variants with modifiers.

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
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b

from tallystick.errors import MetricError
from tallystick.structures.texts import Parse

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


def split_words(text: str) -> Form:
    """The words and the marks of a text."""
    return tuple(_WORD.findall(unicodedata.normalize("NFC", text).replace("’", "'")))


def words(text: str) -> Form:
    """The words and the marks of a text, without case."""
    return tuple(map(str.casefold, split_words(text)))


def is_mark(word: str) -> bool:
    """Whether a word is nothing but punctuation."""
    return all(unicodedata.category(c).startswith("P") and c not in MEANINGFUL for c in word)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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

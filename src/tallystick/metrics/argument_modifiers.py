"""A reference of one token with modifiers of its own: `vehicles` with `Korean`, or with all of `South Korean`.

    variants of t = t and, for a non-empty choice of its modifiers, each one's token or its whole subtree, in document order

The modifiers are the children of t under one of these labels: amod, appos, nmod, nounmod, nummod, poss, possessive (section
6.1). In Universal Dependencies `nmod:poss` is a poss and a `case` that says 's a possessive; of other subtypes the part before the
colon counts. Variants are not written out, as there are 3^n of them: a candidate is one if it can be put together, and a
modifier whose token it does not say cannot be part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tallystick.metrics.argument_forms import GENITIVE, Form, Wording, words
from tallystick.structures.parses import Parse

LABELS = frozenset(("amod", "appos", "nmod", "nounmod", "nummod", "poss", "possessive"))


@dataclass
class Variants:
    """The variants of the one-token references of one document. `partial` counts those that no word of the parse is."""

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
                said = {tokens: self.form(tokens) for tokens in (small, large)}
                choices = [tokens for tokens, one in said.items() if one and Counter(one) <= goal]
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
        """What some tokens say in document order, without harmless words."""
        said = (word for token in sorted(tokens) for word in words(self.tokens[token]))
        return tuple(word for word in said if not self.wording.is_harmless(word))

    def label(self, word: int) -> str:
        """A word's label as the list has it."""
        label = self.parse.labels[word]
        if label == "nmod:poss":
            return "poss"
        if label == "case" and self.form(self.parse.tokens(word)) == () and GENITIVE in self._said(word):
            return "possessive"
        return label.partition(":")[0]

    def _said(self, word: int) -> Form:
        return tuple(said for token in self.parse.tokens(word) for said in words(self.tokens[token]))

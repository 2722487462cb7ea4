"""Whether two files have the same words: what tools change in a word makes no other one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

EMPTY_WORD = "∅"
"""How the text shows an empty node."""


def other_word(ours: Sequence[str], theirs: Sequence[str]) -> int | None:
    """The first of two lists of words that is another word, None if there is none. Cases, Unicode's forms and escapes make no other word,
    and a sign for a word that a file does not give (OntoNotes without its text) may be any."""
    if ours == theirs or len(ours) != len(theirs):  # of other numbers of tokens was complained before
        return None
    for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if one != other and not {one, other} & _NO_WORD and plain_word(one) != plain_word(other):
            return at
    return None


def no_words(ours: Iterable[Sequence[str]], theirs: Iterable[Sequence[str]]) -> str:
    """Why the words of documents that differ are none on one side, but another column of a layout that is not known; empty if they are words.

    Numbers are those of the tokens. One word for all tokens stands for words that are not given. Two texts in one language have words in common
    wherever they stand, if only *the*; tags, speakers or brackets have none in common with a text.
    """
    sides = [[word for words in side for word in words] for side in (ours, theirs)]
    distinct = [set(side) for side in sides]
    for role, words, others in zip(("key", "response"), distinct, reversed(distinct), strict=True):
        if all(map(str.isdigit, words)) and (len(words) > 1 or not all(map(str.isdigit, others))):
            return f"those of the {role} are numbers"
        if len(words) == 1 < len(others) and not words & others:
            return f'each of the {role} is "{min(words)}"'
    lettered = [[word for word in side if any(map(str.isalpha, word))] for side in sides]
    if all(_are_others(*one) for one in zip(lettered, reversed(distinct), strict=True)):
        return "the two sides have hardly a word in common"
    return ""


def _are_others(words: Sequence[str], others: Collection[str]) -> bool:
    """Whether many words are hardly ever one of some others."""
    return len(words) >= 50 and 100 * sum(word in others for word in words) < len(words)


_NO_WORD = {"-", "_", "", "[WORD]", "[MASK]", "<mask>", "[UNK]", "<unk>", "UNK", "\ufffd", EMPTY_WORD}
_ESCAPES = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "``": '"', "''": '"', "`": "'",
}  # fmt: skip
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014", "''\"\"--")
_ESCAPED = re.compile(r"[/\\](?=\W)")


def plain_word(word: str) -> str:
    """A word without what tools change in it: the escapes of the Penn Treebank and of OntoNotes (`-LRB-`, `\\/`, `/.`), quotes and dashes, cases, forms."""
    plain = unicodedata.normalize("NFKC", word).casefold().translate(_QUOTES)
    return _ESCAPES.get(plain) or _ESCAPED.sub("", plain)

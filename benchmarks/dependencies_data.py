"""A pair of CoNLL-U files that looks like a treebank and a parser's output, from a seed.

The reference has a Zipfian vocabulary, features, multi-word tokens, documents and enhanced dependencies. The
prediction is the reference with errors of every kind: tags, features, lemmas, heads, relations, tokens
joined or cut, multi-word tokens missed, invented or split otherwise, sentences joined or cut.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

UPOS = [
    "NOUN",
    "VERB",
    "ADP",
    "DET",
    "ADJ",
    "PRON",
    "ADV",
    "PROPN",
    "AUX",
    "CCONJ",
    "PUNCT",
    "NUM",
    "SCONJ",
    "PART",
]
RELATIONS = [
    "nsubj",
    "nsubj:pass",
    "obj",
    "obl",
    "obl:tmod",
    "advmod",
    "amod",
    "nmod",
    "nmod:poss",
    "det",
    "case",
    "mark",
    "cc",
    "conj",
    "aux",
    "aux:pass",
    "cop",
    "punct",
    "acl",
    "acl:relcl",
    "advcl",
    "compound",
    "flat",
    "xcomp",
    "ccomp",
    "nummod",
    "appos",
    "parataxis",
]
FEATURES = {
    "Case": ["Nom", "Acc", "Dat", "Gen"],
    "Gender": ["Masc", "Fem", "Neut"],
    "Number": ["Sing", "Plur"],
    "Person": ["1", "2", "3"],
    "Tense": ["Pres", "Past"],
    "Mood": ["Ind", "Sub", "Imp"],
    "VerbForm": ["Fin", "Inf", "Part"],
    "Definite": ["Def", "Ind"],
    "Typo": ["Yes"],
    "NumForm": ["Digit", "Word"],
}
LETTERS = "eeeeenniisrratdhulcgmobwfkzpvüäößjyxq"


@dataclass(eq=False)
class Word:
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: Word | None
    deprel: str


@dataclass
class Token:
    """One word with its own form, or several under a multi-word form."""

    form: str
    words: list[Word]
    multi: bool = False


Sentence = list[Token]


def generate(words: int, seed: int = 0) -> tuple[str, str]:
    """The two files as text; the reference has at least that many words."""
    rng = random.Random(seed)
    tags = [_make_tag(rng) for _ in range(600)]  # a treebank has some hundred tags, whatever its size
    lexicon = [_invent(rng, tags) for _ in range(max(50, words // 10))]
    reference: list[str] = []
    predicted: list[str] = []
    made = number = 0
    pending: list[Sentence] = []
    while made < words:
        sentence = _make_sentence(rng, lexicon)
        made += sum(len(token.words) for token in sentence)
        comments = [f"# newdoc id = doc-{number // 20}"] if number % 20 == 0 else []
        comments += [f"# sent_id = s-{number}", "# text = " + " ".join(token.form for token in sentence)]
        reference.append(_write(rng, sentence, comments))
        pending.append(_spoil(rng, sentence))
        number += 1
        if rng.random() > 0.05:  # else this sentence and the next are one for the parser
            predicted += _write_pending(rng, pending, number)
            pending = []
    if pending:
        predicted += _write_pending(rng, pending, number)
    return "".join(reference), "".join(predicted)


def _make_tag(rng: random.Random) -> tuple[str, str, str]:
    upos = rng.choice(UPOS)
    chosen = sorted(rng.sample(sorted(FEATURES), k=rng.choice((0, 0, 1, 2, 3, 4, 5))))
    values = [rng.choice(FEATURES[name]) for name in chosen]
    feats = "|".join(map("=".join, zip(chosen, values, strict=True))) or "_"
    return upos, upos[:2] + "".join(value[0] for value in values), feats


def _invent(rng: random.Random, tags: list[tuple[str, str, str]]) -> Word:
    form = "".join(rng.choices(LETTERS, k=min(14, 1 + int(rng.expovariate(0.2)))))
    return Word(form, form[: max(2, len(form) - 2)], *rng.choice(tags), None, "")


def _draw(rng: random.Random, lexicon: list[Word]) -> Word:
    entry = lexicon[int(len(lexicon) ** rng.random()) - 1]  # Zipf: the logarithm of the rank is uniform
    form = entry.form.capitalize() if rng.random() < 0.1 else entry.form
    return replace(entry, form=form, deprel=rng.choice(RELATIONS))


def _make_sentence(rng: random.Random, lexicon: list[Word]) -> Sentence:
    size = 1 + int(rng.gammavariate(2.0, 8.0))
    words = [_draw(rng, lexicon) for _ in range(size)]
    for place, word in enumerate(words):
        word.head = None
        if place:  # heads tend to be near; the order in which words are attached makes it a tree
            word.head = words[max(0, place - 1 - int(rng.expovariate(0.3)))]
    shift = rng.randrange(size)
    words = words[shift:] + words[:shift]
    for word in words:
        if word.head is None:
            word.deprel = "root"
    tokens: Sentence = []
    while words:
        if len(words) > 1 and rng.random() < 0.04:
            count = 3 if len(words) > 2 and rng.random() < 0.1 else 2
            parts, words = words[:count], words[count:]
            form = "".join(part.form for part in parts)
            tokens.append(Token(form[:1] + form[2:] if rng.random() < 0.3 and len(form) > 2 else form, parts, True))
        else:
            tokens.append(Token(words[0].form, [words[0]]))
            words = words[1:]
    return tokens


def _spoil(rng: random.Random, sentence: Sentence) -> Sentence:
    """A parser's version: copies of the words with errors, cut into tokens a little differently."""
    copies = {word: replace(word) for token in sentence for word in token.words}
    for copy in copies.values():
        copy.head = copies[copy.head] if copy.head else None
        if rng.random() < 0.05:
            copy.upos = rng.choice(UPOS)
        if rng.random() < 0.05:
            copy.xpos = copy.upos[:2] + "0"
        if rng.random() < 0.06:
            copy.feats = "|".join(copy.feats.split("|")[1:]) or "Number=Sing"
        if rng.random() < 0.04:
            copy.lemma = copy.form.lower()
        if rng.random() < 0.08 and copy.head:
            copy.deprel = rng.choice(RELATIONS)
        elif rng.random() < 0.3:
            copy.deprel = copy.deprel.partition(":")[0]
    words = list(copies.values())
    for copy in words:
        if copy.head and rng.random() < 0.1:
            target = rng.choice(words)
            if not _hangs_on(target, copy):
                copy.head = target
    tokens: Sentence = []
    for token in sentence:
        parts = [copies[word] for word in token.words]
        chance = rng.random()
        if token.multi and chance < 0.08:  # missed
            _absorb(parts[0], parts[1:], words)
            parts[0].form = token.form
            tokens.append(Token(token.form, parts[:1]))
        elif token.multi and chance < 0.14 and "".join(part.form for part in parts) == token.form:
            tokens += [Token(part.form, [part]) for part in parts]  # taken for separate tokens
        elif token.multi and chance < 0.18:  # split otherwise
            parts[0].form, parts[1].form = parts[0].form + parts[1].form[:1], parts[1].form[1:] or "x"
            tokens.append(Token(token.form, parts, True))
        elif not token.multi and chance < 0.006 and len(token.form) > 1:  # cut
            cut = rng.randrange(1, len(token.form))
            rest = replace(parts[0], form=token.form[cut:], head=parts[0], deprel="goeswith")
            parts[0].form = token.form[:cut]
            if rng.random() < 0.3:
                tokens.append(Token(token.form, [parts[0], rest], True))
            else:
                tokens += [Token(parts[0].form, [parts[0]]), Token(rest.form, [rest])]
            words.append(rest)
        elif not token.multi and chance < 0.012 and tokens and not tokens[-1].multi:  # joined
            before = tokens[-1].words[0]
            _absorb(before, parts, words)
            before.form = tokens[-1].form = tokens[-1].form + token.form
        else:
            tokens.append(Token(token.form, parts, token.multi))
    return tokens


def _hangs_on(word: Word, other: Word) -> bool:
    above: Word | None = word
    while above is not None:
        if above is other:
            return True
        above = above.head
    return False


def _absorb(keeper: Word, gone: list[Word], words: list[Word]) -> None:
    """Let `keeper` take the place of other words in the tree."""
    for word in gone:
        if _hangs_on(keeper, word):  # the keeper takes the place of what it hangs on
            keeper.head, keeper.deprel = word.head, word.deprel
        for other in words:
            if other.head is word:
                other.head = keeper if other is not keeper else word.head
        words.remove(word)


def _write_pending(rng: random.Random, pending: list[Sentence], number: int) -> list[str]:
    tokens = [token for sentence in pending for token in sentence]
    roots = [word for token in tokens for word in token.words if word.head is None]
    for word in roots[1:]:
        word.head, word.deprel = roots[0], "parataxis"
    parts = [tokens]
    if len(pending) == 1 and len(tokens) > 3 and rng.random() < 0.04:
        cut = rng.randrange(1, len(tokens))
        parts = [tokens[:cut], tokens[cut:]]
    for part in parts:
        _close(part)
    return [_write(rng, part, [f"# sent_id = p-{number}"]) for part in parts]


def _close(tokens: Sentence) -> None:
    """Make a tree of a part of a sentence: heads outside of it become its root, further ones hang on that."""
    words = [word for token in tokens for word in token.words]
    inside = set(words)
    root: Word | None = None
    for word in words:
        if word.head is None or word.head not in inside:
            word.head, word.deprel = root, "root" if root is None else "parataxis"
            root = root or word


def _write(rng: random.Random, sentence: Sentence, comments: list[str]) -> str:
    words = [word for token in sentence for word in token.words]
    place = {word: at for at, word in enumerate(words, 1)}
    place_of_head = [place[word.head] if word.head else 0 for word in words]
    lines = list(comments)
    at = 0
    for token in sentence:
        if token.multi:
            lines.append(f"{at + 1}-{at + len(token.words)}\t{token.form}" + "\t_" * 8)
        for word in token.words:
            head = place_of_head[at]
            at += 1
            deps = f"{head}:{word.deprel}"
            if head and rng.random() < 0.08:  # a conjunct's second head, say
                second = place_of_head[head - 1]
                deps = "|".join(sorted({deps, f"{second}:{word.deprel if second else 'root'}"}, key=_by_head))
            lines.append(
                f"{at}\t{word.form}\t{word.lemma}\t{word.upos}\t{word.xpos}\t{word.feats}\t{head}\t{word.deprel}\t{deps}\t_"
            )
    return "\n".join(lines) + "\n\n"


def _by_head(edge: str) -> tuple[int, str]:
    head, _, label = edge.partition(":")
    return int(head), label

"""What a report shows of dependencies: the sentences of a unit that are not all right, with arcs over their words.

What is wrong with a parse, and what mends it.

Words that are aligned are compared column by column. Where the two sides divide a block of the text into other sentences, tokens or
words, the block is an error of its own: mended, it has the sentences, tokens and words of the reference. A word that was there keeps what
the prediction says of it (but for a head that is gone), and a word that was not has what the reference says.

A mend changes the word that it is about and nothing else, so that with one kind of error mended and others left a sentence need not be a
tree: two words may be the head of each other. The metrics count words and never climb, so that their figures are what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import I64
from tallystick.errors import Place
from tallystick.files.conllu import Coded, Comments, number_jointly
from tallystick.results.mistakes import Edit, Mistake, around, put
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Arc, ArcDrawing, Drawing
from tallystick.show.tables import Column, Table
from tallystick.tasks.dependencies.alignment import Units, align_words, find_units
from tallystick.tasks.dependencies.files import Edges, Treebank
from tallystick.tasks.dependencies.metrics import universal_features, without_subtype

if TYPE_CHECKING:
    from tallystick.tasks.dependencies.alignment import Units
    from tallystick.tasks.dependencies.files import Treebank

SENTENCES = 12
"""So many sentences of a unit are drawn."""


def arcs_parts(reference: Treebank, predicted: Treebank, units: Units) -> Parts:
    """For each unit the drawings of its sentences."""
    from tallystick.tasks.dependencies.alignment import align_words

    pairs = align_words(reference, predicted)
    partner = np.full(len(reference), -1, np.int64)
    partner[pairs.reference] = pairs.predicted
    back = np.full(len(predicted), -1, np.int64)
    back[pairs.predicted] = pairs.reference
    offsets = units.words(reference)
    places = {name: k for k, name in enumerate(units.names)}

    def draw(name: str) -> Sequence[Drawing]:
        k = places[name]
        first = int(np.searchsorted(reference.sentence_words, offsets[k]))
        last = int(np.searchsorted(reference.sentence_words, offsets[k + 1]))
        drawn = [sentence_drawing(reference, predicted, partner, back, s) for s in range(first, last)]
        wrong = [one for one in drawn if any(arc.status != RIGHT for arc in (*one.reference, *one.predicted))]
        return (wrong or drawn)[:SENTENCES]

    return Parts(draw=draw, main="las")


def sentence_drawing(
    reference: Treebank, predicted: Treebank, partner: np.ndarray, back: np.ndarray, sentence: int
) -> ArcDrawing:
    """A sentence of the reference. An arc is right if head and relation are, in part if the head is."""
    begin, end = (int(x) for x in reference.sentence_words[sentence : sentence + 2])
    ours: list[Arc] = []
    theirs: list[Arc] = []
    for word in range(begin, end):
        head, label = int(reference.head[word]), _relation(reference, word)
        place = head - begin if head >= 0 else -1
        other = int(partner[word])
        if other < 0:
            ours.append(Arc(place, word - begin, label, MISSED))
            continue
        found = int(predicted.head[other])
        guess = int(back[found]) if found >= 0 else -1
        same = guess == head if found >= 0 else head < 0
        name = _relation(predicted, other)
        status = RIGHT if same and name == label else PART if same else MISSED
        ours.append(Arc(place, word - begin, label if status != PART else f"{label} → {name}", status))
        if status == MISSED and (found < 0 or begin <= guess < end):
            theirs.append(Arc(guess - begin if found >= 0 else -1, word - begin, name, SPURIOUS))
    words = [reference.form.values[reference.form.codes[word]] for word in range(begin, end)]
    name = reference.sentence_names().get(sentence) or f"line {reference.sentence_line[sentence]}"
    return ArcDrawing(f"Sentence {name}", words, ours, theirs)


def _relation(side: Treebank, word: int) -> str:
    """LAS compares the universal part of a relation."""
    return str(side.deprel.values[side.deprel.codes[word]]).partition(":")[0]


TAGS = {"wrong UPOS": "upos", "wrong XPOS": "xpos", "wrong features": "feats", "wrong lemma": "lemma"}
LOST = -2
"""A word that has no partner."""
CONFUSED = 20
"""So many pairs of relations are listed."""


class Comparison:
    """Two sides over one text, word by word. Words are those of the reference, unless they are called predicted."""

    def __init__(self, reference: Treebank, predicted: Treebank, units: Units) -> None:
        self.gold, self.system, self.units = reference, predicted, units
        alignment = align_words(reference, predicted)
        self.words, self.guesses = alignment.reference, alignment.predicted
        self.partner = np.full(len(reference) + 1, LOST, np.int64)
        self.partner[self.words] = self.guesses
        self.back = np.full(len(predicted) + 1, LOST, np.int64)
        self.back[self.guesses] = self.words
        self.partner[-1] = self.back[-1] = -1  # where the head of a root, -1, looks
        self.sentence = _sentences(reference.sentence_words)
        self.their_sentence = _sentences(predicted.sentence_words)
        self.blocks = find_units(reference, predicted, by="block")
        self.ours, self.theirs = self.blocks.words(reference), self.blocks.words(predicted)
        """Where the words of each block begin."""

    @cached_property
    def _names(self) -> tuple[I64, dict[int, str]]:
        """Where the words of each unit begin, and what sentences are called."""
        return self.units.words(self.gold).astype(np.int64), self.gold.sentence_names()

    @cached_property
    def wrong_head(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of the aligned words."""
        wrong: np.ndarray[Any, np.dtype[np.bool_]] = (
            self.gold.head[self.words] != self.back[self.system.head[self.guesses]]
        )
        return wrong

    @cached_property
    def wrong_relation(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return self._differ("deprel")

    def _differ(self, column: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
        canonical = {"deprel": without_subtype, "feats": universal_features}.get(column)
        ours, theirs = number_jointly(getattr(self.gold, column), getattr(self.system, column), canonical)
        differ: np.ndarray[Any, np.dtype[np.bool_]] = ours[self.words] != theirs[self.guesses]
        if column == "lemma":  # a reference without a lemma takes any
            none = np.array([value == "_" for value in self.gold.lemma.values] or [False])
            differ &= ~none[self.gold.lemma.codes][self.words]
        return differ

    def mistakes(self) -> Iterator[Mistake]:
        """Heads and relations, the other columns, enhanced edges, and what is divided otherwise."""
        for k in np.flatnonzero(self.wrong_head | self.wrong_relation).tolist():
            yield self._edge_mistake(k)
        for kind, column in TAGS.items():
            for k in np.flatnonzero(self._differ(column)).tolist():
                word, guess = int(self.words[k]), int(self.guesses[k])
                sides = getattr(self.gold, column)[word], getattr(self.system, column)[guess]
                yield self._mistake(kind, word, *sides, ((column, word), put(None)))
        yield from self._enhanced_mistakes()
        yield from self._divisions()

    def _edge_mistake(self, k: int) -> Mistake:
        word, guess = int(self.words[k]), int(self.guesses[k])
        edits: list[Edit] = []
        if self.wrong_head[k]:
            edits.append((("head", word), put(None)))
        if self.wrong_relation[k]:
            edits.append((("deprel", word), put(None)))
        lost = bool(self.wrong_head[k]) and not self._can_hang(guess, int(self.gold.head[word]))
        if lost:
            edits.append((("block", self._block(word)), put(None)))
        both = self.wrong_head[k] and self.wrong_relation[k]
        kind = "wrong head and relation" if both else "wrong head" if self.wrong_head[k] else "wrong relation"
        said = _edge(self.gold, word), _edge(self.system, guess)
        found = self._mistake("head divided otherwise" if lost else kind, word, *said, *edits)
        return replace(found, label=without_subtype(self.gold.deprel[word]))

    def _enhanced_mistakes(self) -> Iterator[Mistake]:
        ours, theirs = _edges_of(self.gold), _edges_of(self.system)
        for word, guess in zip(self.words.tolist(), self.guesses.tolist(), strict=True):
            gold, system = ours.get(word, []), theirs.get(guess, [])
            carried = Counter((int(self.back[head]), label) for head, label in system)
            if Counter(gold) != carried:
                said = _said_edges(self.gold, gold), _said_edges(self.system, system)
                edits: list[Edit] = [(("enhanced", word), put(None))]
                if not all(self._can_hang(guess, head) for head, _ in gold):
                    edits.append((("block", self._block(word)), put(None)))
                yield self._mistake("wrong enhanced edges", word, *said, *edits)

    def _divisions(self) -> Iterator[Mistake]:
        """The blocks of the text that have other sentences, tokens or words."""
        sides = (self.gold, self.system)
        for k, start in enumerate(self.blocks.starts.tolist()):
            end = int(self.blocks.starts[k + 1]) if k + 1 < len(self.blocks) else len(self.gold.text)
            shapes = [_shape(side, start, end) for side in sides]
            first, last = self.ours[k : k + 2].tolist()
            if shapes[0] != shapes[1] or (self.partner[first:last] == LOST).any():
                said = _divided(self.gold, first, last), _divided(self.system, *self.theirs[k : k + 2].tolist())
                yield self._mistake("divided otherwise", first, *said, (("block", k), put(None)))

    def _can_hang(self, guess: int, head: int) -> bool:
        """Whether a predicted word has this word of the reference in its sentence."""
        partner = int(self.partner[head])
        return partner == -1 or (partner >= 0 and bool(self.their_sentence[partner] == self.their_sentence[guess]))

    def _block(self, word: int) -> int:
        return int(np.searchsorted(self.ours, word, side="right")) - 1

    def _mistake(self, kind: str, word: int, reference: str, predicted: str, *edits: Edit) -> Mistake:
        side, begin, end = self.gold, *self._sentence_of(word)
        forms = [side.form[k] for k in range(begin, end)]
        guess = int(self.partner[word])
        place = Place(self.system.name, int(self.system.word_line[guess])) if guess >= 0 else None
        at = "" if kind == "divided otherwise" else f"word {word - begin + 1}"
        text = " ".join(forms[:12]) if not at else around(forms, word - begin, word - begin + 1)
        offsets, names = self._names
        unit = int(np.searchsorted(offsets, word, side="right")) - 1
        name = names.get(int(self.sentence[word]), "")
        where = ", ".join(filter(None, (f"sentence {name}" if name and name != self.units.names[unit] else "", at)))
        return Mistake(kind, self.units.names[unit], reference, predicted, where, text, place, edits=edits)

    def _sentence_of(self, word: int) -> tuple[int, int]:
        begin, end = self.gold.sentence_words[self.sentence[word] : self.sentence[word] + 2].tolist()
        return begin, end

    # Mending

    def mended(self, edits: Iterable[Edit]) -> Treebank:
        """The predicted side after some edits, each of a column of a word, or of a block."""
        wanted: dict[str, set[int]] = {}
        for (what, number), _ in edits:
            wanted.setdefault(what, set()).add(number)
        blocks = sorted(wanted.pop("block", ()))
        source, of_gold = self._sources(blocks)
        return self._built(
            source, of_gold, {what: np.array(sorted(some), np.int64) for what, some in wanted.items()}, blocks
        )

    def _sources(self, blocks: Sequence[int]) -> tuple[I64, np.ndarray[Any, np.dtype[np.bool_]]]:
        """The words of the mended side by their numbers on the side that they are taken from, and which are the reference's."""
        chosen = np.zeros(len(self.blocks), np.bool_)
        chosen[list(blocks)] = True
        parts = [
            np.arange(*(self.ours if pick else self.theirs)[k : k + 2].tolist(), dtype=np.int64)
            for k, pick in enumerate(chosen.tolist())
        ]
        flags = [np.full(len(part), pick) for part, pick in zip(parts, chosen.tolist(), strict=True)]
        nothing: Any = np.zeros(0, np.int64)
        return np.concatenate([nothing, *parts]), np.concatenate([nothing.astype(np.bool_), *flags])

    def _built(
        self, source: I64, of_gold: np.ndarray[Any, np.dtype[np.bool_]], wanted: dict[str, I64], blocks: Sequence[int]
    ) -> Treebank:
        gold, system = self.gold, self.system
        word = np.where(of_gold, source, self.back[np.where(of_gold, -1, source)])  # of the reference, or LOST
        guess = np.where(of_gold, self.partner[np.where(of_gold, source, -1)], source)
        # The new number of each word of either side
        number, guess_number = np.full(len(gold) + 1, LOST, np.int64), np.full(len(system) + 1, LOST, np.int64)
        number[word[word >= 0]] = np.flatnonzero(word >= 0)
        guess_number[guess[guess >= 0]] = np.flatnonzero(guess >= 0)
        number[-1] = guess_number[-1] = -1

        def is_wanted(what: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
            marked = np.zeros(len(gold) + 2, np.bool_)
            marked[wanted.get(what, [])] = True
            marked[-2:] = False
            return marked[np.where(word >= 0, word, -1)]

        def column(name: str) -> Coded:
            ours, theirs = getattr(gold, name), getattr(system, name)
            take_ours = (guess < 0) | is_wanted(name) | (of_gold if name == "form" else False)
            codes = np.where(take_ours, _taken(ours.codes, word), _taken(theirs.codes, guess) + len(ours.values))
            return Coded(codes.astype(np.int32), [*ours.values, *theirs.values])

        own = number[_taken(gold.head, word, -1)]
        kept = guess_number[_taken(system.head, guess, -1)]
        block = _chosen_tokens(self, blocks)
        sentence = _sentences(block[2])
        astray = of_gold & (kept >= 0) & (sentence[np.where(kept >= 0, kept, 0)] != sentence)
        head = np.where((guess < 0) | (is_wanted("head") & (own != LOST)) | (kept == LOST) | astray, own, kept)
        columns: dict[str, Any] = {name: column(name) for name in ("form", "lemma", "upos", "xpos", "feats", "deprel")}
        return replace(
            system, sentence_words=block[2], sentence_start=block[3], sentence_line=block[4], comments=_no_comments(),
            token_start=block[5], token_end=block[6], token_line=block[7], token_is_multiword=block[8], word_token=block[9],
            word_line=np.where(of_gold, _taken(gold.word_line, word), _taken(system.word_line, guess)).astype(np.int32),
            head=head.astype(np.int32), enhanced=self._mended_edges(word, guess, (number, guess_number), is_wanted("enhanced"), sentence),
            **columns,
        )  # fmt: skip

    def _mended_edges(
        self, word: I64, guess: I64, new: tuple[I64, I64], mended: np.ndarray[Any, np.dtype[np.bool_]], sentence: I64
    ) -> Edges:
        ours, theirs = _edges_of(self.gold), _edges_of(self.system)
        rows: list[tuple[int, int, str]] = []
        for k, (one, other) in enumerate(zip(word.tolist(), guess.tolist(), strict=True)):
            from_gold = other < 0 or mended[k]
            edges, numbers = (ours.get(one, []), new[0]) if from_gold else (theirs.get(other, []), new[1])
            found = ((int(numbers[head]), label) for head, label in edges)
            rows += ((k, at, label) for at, label in found if at == -1 or (at >= 0 and sentence[at] == sentence[k]))
        labels: dict[str, int] = {}
        codes = [labels.setdefault(label, len(labels)) for _, _, label in rows]
        dependent, head = (np.array([row[at] for row in rows], np.int32) for at in (0, 1))
        return Edges(
            dependent, head, Coded(np.array(codes, np.int32), list(labels)), self.system.enhanced.from_empty_nodes
        )


def _taken(values: Any, rows: I64, nothing: int = 0) -> Any:
    """The values of some rows; `nothing` for rows that are none."""
    padded = np.append(values, nothing)
    return padded[np.where(rows >= 0, rows, len(values))]


def _sentences(offsets: Any) -> I64:
    """The sentence of each word."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _no_comments() -> Comments:
    return Comments(np.zeros(0, np.intp), [])


def _chosen_tokens(found: Comparison, blocks: Sequence[int]) -> list[Any]:
    """Sentences and tokens of the mended side, block by block from the reference or the prediction."""
    chosen, out = set(blocks), {name: [] for name in (*_OF_SENTENCES, *_OF_TOKENS, "words", "word_token")}  # type: ignore[var-annotated]
    tokens = 0
    for k in range(len(found.blocks)):
        side = found.gold if k in chosen else found.system
        begin, end = (found.ours if k in chosen else found.theirs)[k : k + 2].tolist()
        first, last = (int(x) for x in np.searchsorted(side.sentence_words, (begin, end)))
        token, behind = int(side.word_token[begin]), int(side.word_token[end - 1]) + 1
        for name in _OF_SENTENCES:
            out[name].append(getattr(side, name)[first:last])
        for name in _OF_TOKENS:
            out[name].append(getattr(side, name)[token:behind])
        out["words"].append(np.diff(side.sentence_words[first : last + 1]))
        out["word_token"].append(side.word_token[begin:end] - token + tokens)
        tokens += behind - token
    joined = {name: np.concatenate(parts) if parts else np.zeros(0, np.int32) for name, parts in out.items()}
    offsets = np.append(0, np.cumsum(joined["words"])).astype(np.int32)
    return [
        None,
        None,
        offsets,
        *(joined[name] for name in (*_OF_SENTENCES, *_OF_TOKENS)),
        joined["word_token"].astype(np.int32),
    ]


_OF_SENTENCES = ("sentence_start", "sentence_line")
_OF_TOKENS = ("token_start", "token_end", "token_line", "token_is_multiword")


def _edges_of(side: Treebank) -> dict[int, list[tuple[int, str]]]:
    """The enhanced edges into each word."""
    out: dict[int, list[tuple[int, str]]] = {}
    edges = side.enhanced
    for word, head, code in zip(edges.dependent.tolist(), edges.head.tolist(), edges.label.codes.tolist(), strict=True):
        out.setdefault(word, []).append((head, edges.label.values[code]))
    return out


def _said_edges(side: Treebank, edges: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"{label} of {_form(side, head)}" for head, label in edges) or "none"


def _form(side: Treebank, word: int) -> str:
    return side.form[word] if word >= 0 else "root"


def _edge(side: Treebank, word: int) -> str:
    head = int(side.head[word])
    return f"{side.deprel[word]} of {_form(side, head)}" if head >= 0 else side.deprel[word]


def _shape(side: Treebank, start: int, end: int) -> tuple[Any, ...]:
    """The sentences and tokens between two offsets of the text, and how many words each token has."""
    first, last = np.searchsorted(side.token_start, (start, end)).tolist()
    words = np.searchsorted(side.word_token, range(first, last + 1))
    sentences = side.sentence_start[slice(*np.searchsorted(side.sentence_start, (start, end)).tolist())]
    return (
        sentences.tolist(),
        side.token_start[first:last].tolist(),
        side.token_end[first:last].tolist(),
        np.diff(words).tolist(),
    )


def _divided(side: Treebank, begin: int, end: int) -> str:
    """Words with a bar between sentences."""
    first, last = np.searchsorted(side.sentence_words, (begin, end)).tolist()
    starts = set(side.sentence_words[first + 1 : last].tolist())
    words = (("| " if word in starts else "") + side.form[word] for word in range(begin, min(end, begin + 40)))
    said = " ".join(words)
    return said if len(said) <= 80 else said[:79] + "…"


# Tables: which relation was taken for which, and where heads and relations are wrong


def tables(found: Comparison) -> list[Table]:
    """Over the words of the reference: confusions, and UAS and LAS by what makes words hard."""
    return [_confusions(found), *(_by(found, *part) for part in _parts(found))]


def _confusions(found: Comparison) -> Table:
    met: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for k in np.flatnonzero(found.wrong_relation).tolist():
        sides = (found.gold.deprel[int(found.words[k])], found.system.deprel[int(found.guesses[k])])
        pair = without_subtype(sides[0]), without_subtype(sides[1])
        met[pair] += 1
        right[pair] += not found.wrong_head[k]
    rows = [[*pair, count, right[pair]] for pair, count in met.most_common(CONFUSED)]
    more = f", the {CONFUSED} most frequent of {len(met):,} pairs" if len(met) > CONFUSED else ""
    return Table(
        ["reference", "predicted", "words", "with the right head"], rows, f"Which relation was taken for which{more}"
    )


def _parts(found: Comparison) -> Iterator[tuple[str, list[str], I64]]:
    """What words are told apart by: its name, the names of the classes, and the class of each word."""
    gold = found.gold
    distance = np.abs(gold.head - np.arange(len(gold)))
    names = ["root", "1", "2", "3–6", "7–14", "15 and more"]
    yield "head distance", names, np.where(gold.head < 0, 0, np.searchsorted([2, 3, 7, 15], distance, side="right") + 1)
    yield "part of speech", list(gold.upos.values), gold.upos.codes.astype(np.int64)
    yield "arc", ["projective", "not projective"], crossing_arcs(gold).astype(np.int64)
    lengths = np.diff(gold.sentence_words)[found.sentence]
    yield (
        "sentence length",
        ["1–10", "11–20", "21–30", "31–40", "41 and more"],
        np.searchsorted([11, 21, 31, 41], lengths, side="right"),
    )


def _by(found: Comparison, what: str, names: Sequence[str], classes: I64) -> Table:
    right = np.zeros((2, len(found.gold)), np.bool_)
    right[0, found.words] = ~found.wrong_head
    right[1, found.words] = ~found.wrong_head & ~found.wrong_relation
    totals = np.bincount(classes, minlength=len(names))
    heads, both = (np.bincount(classes[flags], minlength=len(names)) for flags in right)
    rows: list[list[Any]] = [
        [name, int(totals[k]), int(totals[k] - heads[k]), float(heads[k] / totals[k]), float(both[k] / totals[k])]
        for k, name in enumerate(names)
        if totals[k]
    ]
    if what == "part of speech":
        rows.sort(key=lambda row: -row[2])
    columns = [what, "words", "wrong head", Column("UAS, recall"), Column("LAS, recall")]
    return Table(columns, rows, f"By {what} in the reference")


def crossing_arcs(side: Treebank) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which words hang on their head by an arc over a word that the head does not dominate."""
    out = np.zeros(len(side), np.bool_)
    for begin, end in zip(side.sentence_words[:-1].tolist(), side.sentence_words[1:].tolist(), strict=True):
        head = np.where(side.head[begin:end] < 0, -1, side.head[begin:end] - begin).astype(np.int64)
        words = np.arange(end - begin)
        low, high = np.minimum(head, words), np.maximum(head, words)
        between = (words[None, :] > low[:, None]) & (words[None, :] < high[:, None]) & (head >= 0)[:, None]
        leaves = between & ((head[None, :] < low[:, None]) | (head[None, :] > high[:, None]))
        for word in np.flatnonzero(leaves.any(axis=1)).tolist():
            out[begin + word] = any(
                not _dominates(int(head[word]), int(one), head) for one in np.flatnonzero(leaves[word])
            )
    return out


def _dominates(above: int, word: int, head: I64) -> bool:
    while word >= 0 and word != above:
        word = int(head[word])
    return word == above

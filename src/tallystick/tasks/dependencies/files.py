"""Enhanced dependencies: the DEPS column as a flat list of edges.

`4:nsubj|6:conj:and>obj` is two edges into the word that carries it, from word 4 and from word 6 of its
sentence; `>` joins the relations of a path through an empty node that was collapsed. Values and edges recur
often, so each distinct edge is parsed once, and the edges of a word are a slice of those of the distinct values.

Enhanced graphs without some kinds of enhancements, which a treebank may not have: udtools' `--enhancements`.

| digit | what is taken out of DEPS, on both sides                                                                    |
|-------|--------------------------------------------------------------------------------------------------------------|
| 1     | gapping: a path through an empty node (`conj>obj`) becomes the basic edge                                     |
| 2     | parents that conjuncts share: of a word with an edge `conj` only that edge stays                               |
| 3     | dependents that conjuncts share: nothing, see below                                                           |
| 4     | control: subjects of words that are `xcomp`                                                                   |
| 5     | relative clauses: `ref` becomes the basic edge, and the edge that closes a cycle with `acl` goes              |
| 6     | case: `obl:in` is `obl`, for obl, nmod, conj and advcl; `pass`, `relcl` and `xsubj` stay                      |

The rules are those of udtools 0.2.9, two of which do not do what they say there: 3 compares a word with the text of a number, so that
it never applies; and 5 looks for an `acl` that hangs on the word before. A basic edge of a root that 1 or 5 put in equals none there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, MetricError, SidesMismatch, ValueMismatch
from tallystick.files.boundaries import conllu_boundaries_in_order
from tallystick.files.conllu import (
    DEPREL,
    DEPS,
    EMPTY,
    FEATS,
    FORM,
    HEAD,
    LEMMA,
    MISC,
    RANGE,
    SPACES,
    UPOS,
    XPOS,
    Coded,
    Comments,
    Words,
    check_trees,
    check_words,
    is_number,
    read_content,
    read_heads,
    read_table,
    read_words,
)  # fmt: skip
from tallystick.files.pairing import Side, pair_sides
from tallystick.files.source import AnySource, Format, Source
from tallystick.files.table import take_ranges
from tallystick.frozen import frozen
from tallystick.tasks.plain import Given, Structure, expect, expect_order, is_whole, named, take_sides


@frozen(eq=False)
class Edges:
    """Edges in the order of their dependents. A head is the index of a word, -1 for the root."""

    dependent: NDArray[np.int32]
    head: NDArray[np.int32]
    label: Coded
    from_empty_nodes: int
    """Edges that hang on an empty node; they are left out, as in UD's own evaluation, but counted."""


def read_edges(
    deps: Coded,
    first_word: NDArray[np.int32],
    sentence_length: NDArray[np.int32],
    fail: Callable[[int, str], NoReturn],
    empty_nodes: bool = True,
) -> Edges:
    """The edges of all words, given for each word the first word and the length of its sentence. Without `empty_nodes` an edge that
    hangs on one is an error."""
    listed = [value if value != "_" else "" for value in deps.values]
    edges = "|".join(filter(None, listed)).split("|") if any(listed) else []
    of_value = np.fromiter((value.count("|") + 1 if value else 0 for value in listed), np.int64, len(listed))
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    number_of = np.fromiter(map(numbers.__getitem__, edges), np.int64, len(edges))
    heads, labels, names = _parse_edges(list(numbers))
    code_of, head_of = np.repeat(np.arange(len(listed)), of_value), heads[number_of]
    for at in np.flatnonzero(head_of < (_EMPTY_NODE if empty_nodes else 0)).tolist():
        bad = np.flatnonzero(deps.codes == code_of[at])
        if bad.size:  # the value may be in a multi-word token's line only, where nobody needs it
            fail(int(bad[0]), _wrong_edge(edges[at], int(head_of[at])))

    # From here on there is a number for each edge of the file, so that they are narrow ones.
    kept = head_of >= 0
    offsets = np.concatenate(([0], np.cumsum(kept)))[np.concatenate(([0], np.cumsum(of_value)))].astype(np.int32)
    dropped = np.bincount(code_of[head_of == _EMPTY_NODE], minlength=len(listed))
    each = np.diff(offsets)[deps.codes] if listed else np.zeros(0, np.int32)
    dependent = np.repeat(np.arange(len(deps), dtype=np.int32), each)
    before = np.cumsum(each, dtype=np.int32) - each
    edge_at = np.repeat(offsets[:-1][deps.codes] - before, each) if listed else each
    edge_at += np.arange(len(edge_at), dtype=np.int32)
    local = head_of[kept].astype(np.int32)[edge_at]
    outside = np.flatnonzero(local > sentence_length[dependent])
    if outside.size:
        word = int(dependent[outside[0]])
        fail(word, f"DEPS points to word {local[outside[0]]} of a sentence of {sentence_length[word]} words")
    return Edges(
        dependent,
        np.where(local == 0, np.int32(-1), first_word[dependent] + local - 1),
        Coded(labels[number_of[kept][edge_at]], names),
        int(dropped[deps.codes].sum()) if listed else 0,
    )


_EMPTY_NODE, _NO_EDGE = -1, -2


def _parse_edges(edges: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], list[str]]:
    """Of different edges their heads (or _EMPTY_NODE, or _NO_EDGE), and their relations as numbers of a list."""
    names: dict[str, int] = {}
    heads, labels = np.full(len(edges), _NO_EDGE, np.int64), np.zeros(len(edges), np.int32)
    for k, edge in enumerate(edges):
        head, _, label = edge.partition(":")
        whole, dot, part = head.partition(".")
        if not label:
            continue
        if is_number(head):
            heads[k], labels[k] = int(head), names.setdefault(label, len(names))
        elif dot and is_number(whole) and is_number(part):
            heads[k] = _EMPTY_NODE
    return heads, labels, list(names)


def _wrong_edge(edge: str, head: int) -> str:
    if head == _NO_EDGE:
        return f'expected HEAD:RELATION in DEPS, found "{edge}"'
    return f'DEPS has the edge "{edge}" of an empty node; expected a file whose empty nodes were collapsed'


# CoNLL-U: dependency trees over words, words inside the tokens of a text.
#
# A file spells a text. Its tokens follow one another in that text (white space aside); a token is one word,
# or a multi-word token, whose line `1-2` stands before the lines of its words:
#
#     text          zumHaus                tokens      [0,3)       [3,7)
#     1-2  zum                             words       zu   dem    Haus
#     1    zu    ... 3  case               word_token  0    0      1
#     2    dem   ... 3  det                head        2    2      -1
#     3    Haus  ... 0  root
#
# `read_conllu` gives a whole file as such columns, every sentence after the other, and says no (with file,
# line and caret) to what is not a tree. All checks are array operations over the file; the one for cycles
# doubles the length of its steps (head, head of head, ...), so depth costs nothing and nothing recurses.

Ints = NDArray[np.int32]


@frozen(eq=False)
class Treebank:
    """A CoNLL-U file as columns. Offsets have one element more than what they delimit."""

    name: str
    text: str
    sentence_words: Ints
    """Offsets of the sentences' words."""
    sentence_start: Ints
    """The offset of each sentence in the text."""
    sentence_line: Ints
    """The line of each sentence's first row."""
    comments: Comments
    token_start: Ints
    token_end: Ints
    token_line: Ints
    token_is_multiword: NDArray[np.bool_]
    word_token: Ints
    word_line: Ints
    head: Ints
    """The index of each word's head among all words; -1 for a root."""
    form: Coded
    lemma: Coded
    upos: Coded
    xpos: Coded
    feats: Coded
    deprel: Coded
    enhanced: Edges
    empty_nodes: int

    def __len__(self) -> int:
        """The number of words."""
        return len(self.head)

    def documents(self) -> dict[int, str]:
        """The first sentence of each `# newdoc`, and its id or an empty string."""
        return self.comments.values("newdoc", "newdoc", "newdoc id")

    def sentence_names(self) -> dict[int, str]:
        """The `sent_id` of each sentence that has one."""
        return self.comments.values("sent_id", "sent_id")


def read_conllu(name: AnySource, *, several_roots: bool = False, empty_nodes: bool = True) -> Treebank:
    """Read a file (`.gz` and `-` too). `several_roots` lets a sentence have more than one root; without `empty_nodes` there may be none."""
    source = Source.of(name)
    content = read_content(source)
    if re.search(rb"[^ \t\r\n\0]", content.data) is None:
        raise InputError("is empty; expected CoNLL-U", str(source))
    return _build(check_words(read_table(content, range(MISC))), several_roots, empty_nodes=empty_nodes)


def parse_conllu(
    content: bytes | str, name: str = "<text>", *, several_roots: bool = False, trees: bool = True
) -> Treebank:
    """Read CoNLL-U from memory; `name` is what errors call it. Without `trees` heads may go round in a cycle."""
    return _build(read_words(Source.of_text(content, name), range(MISC)), several_roots, trees)


def _without_spaces(form: Coded) -> Coded:
    everything = "\n".join(form.values)
    if not any(chr(space) in everything for space in SPACES):  # as it nearly always is
        return form
    return Coded(form.codes, [value.translate(SPACES) for value in form.values])


def _build(found: Words, several_roots: bool, trees: bool = True, empty_nodes: bool = True) -> Treebank:
    table, ids, words = found.table, found.ids, found.rows
    columns, lines, source, fail = table.columns, table.row_lines, table.content.source, table.fail
    if not empty_nodes and (ids.kind == EMPTY).any():
        fail(int(np.argmax(ids.kind == EMPTY)), "an empty node; expected a file whose empty nodes were collapsed", 0)
    sentence_rows, sentence_words, length = found.sentence_rows, found.sentence_words, found.length

    # Tokens: a word on its own, or the words under a range.
    tokens, opens = found.ranges, found.ranges_begin
    under = np.zeros(len(words) + 1, np.int32)
    under[opens] += 1
    np.subtract.at(under, opens + ids.last[tokens] - ids.first[tokens] + 1, 1)
    inside = np.cumsum(under[:-1]) > 0
    begins = ~inside
    begins[opens] = True
    token_row = words.copy()
    token_row[opens] = tokens
    token_row = token_row[begins]

    form = _without_spaces(columns[FORM])
    lengths = np.fromiter(map(len, form.values or [""]), np.int32)
    token_end = np.cumsum(lengths[form.codes[token_row]], dtype=np.int32)
    token_start = token_end - lengths[form.codes[token_row]]
    word_token = (np.cumsum(begins) - 1).astype(np.int32)

    sentence = found.sentence_of_row[words]
    first_word, word_length = sentence_words[sentence], length[sentence]
    head = read_heads(columns[HEAD].take(words), first_word, word_length, words, fail)
    if trees:
        check_trees(head, sentence_words, sentence, words, several_roots, fail)

    def fail_at_word(word: int, message: str) -> NoReturn:
        fail(int(words[word]), message, DEPS)

    return Treebank(
        name=str(source),
        text=_join(form.values, form.codes[token_row]),
        sentence_words=sentence_words,
        sentence_start=token_start[word_token[sentence_words[:-1]]],
        sentence_line=_in_file(source, lines[sentence_rows]),
        comments=found.comments(),
        token_start=token_start,
        token_end=token_end,
        token_line=_in_file(source, lines[token_row]),
        token_is_multiword=ids.kind[token_row] == RANGE,
        word_token=word_token,
        word_line=_in_file(source, lines[words]),
        head=head,
        form=form.take(words),
        lemma=columns[LEMMA].take(words),
        upos=columns[UPOS].take(words),
        xpos=columns[XPOS].take(words),
        feats=columns[FEATS].take(words),
        deprel=columns[DEPREL].take(words),
        enhanced=read_edges(columns[DEPS].take(words), first_word, word_length, fail_at_word, empty_nodes),
        empty_nodes=int(np.count_nonzero(ids.kind == EMPTY)),
    )


def _join(values: Sequence[str], codes: Ints) -> str:
    """The text of words, of which none holds a line end."""
    data = ("\n".join(values) + "\n").encode()
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    sizes = np.diff(ends, prepend=-1) - 1
    return take_ranges(data, (ends - sizes)[codes], sizes[codes]).tobytes().decode("utf-8")


def _in_file(source: Source, lines: Ints) -> Ints:
    return source.lines_of_file(lines.astype(np.int64)).astype(np.int32)


FORMATS = (Format("conllu", read=read_conllu, boundaries=conllu_boundaries_in_order),)


# Trees from Python: CoNLL-U, or the head and the relation of each word.

_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc")
_ALSO = {
    "words": "forms",
    "tokens": "forms",
    "form": "forms",
    "lemma": "lemmas",
    "head": "heads",
    "deprel": "deprels",
    "rel": "deprels",
}
KEYS = ("id", "sent_id", "conllu", *_COLUMNS, "words", "tokens")


def sentence_document(value: Any, where: str) -> dict[str, Any]:
    """One sentence of plain data, as its columns; or some CoNLL-U."""
    if isinstance(value, str):
        expect("\t" in value, where, "CoNLL-U, whose columns are separated by tabs", value)
        return {"conllu": value}
    if isinstance(value, Structure) and "edges" in value:  # a DependencyParse
        edges = sorted(value["edges"], key=lambda edge: int(edge["dep"]))
        if [edge["dep"] for edge in edges] != list(range(1, len(edges) + 1)):
            raise ValueMismatch(
                f"{where}: expected one edge for each of the words 1 to {len(edges)}, found {[e['dep'] for e in edges]!r:.60}"
            )
        value = [[edge["gov"], edge["rel"]] for edge in edges]
    if isinstance(value, dict):
        found: dict[Any, Any] = {_ALSO.get(key, key): column for key, column in value.items()}
        expect("heads" in found and "deprels" in found, where, 'a sentence, a dict with "heads" and "deprels"', value)
    else:
        found = _columns_of_words(value, where)
    if found["heads"] == []:
        raise ValueMismatch(f"{where}: a sentence without words; leave it out on both sides")
    columns = {name: found[name] for name in _COLUMNS if name in found}
    _check_columns(columns, {_ALSO.get(key, key): key for key in value} if isinstance(value, dict) else {}, where)
    return named(value, **columns)


def _columns_of_words(words: Any, where: str) -> dict[str, Any]:
    """The columns of a sentence that is given word by word."""
    expect(isinstance(words, list), where, "a sentence, a list of (head, relation)", words)
    expect_order(words, where, "words")
    for k, word in enumerate(words):
        is_word = isinstance(word, dict) and {"head", "deprel"} <= set(word)
        pair = isinstance(word, list) and len(word) == 2 and is_whole(word[0]) and isinstance(word[1], str)
        expect(is_word or pair, f"{where}[{k}]", "a word, (head, relation) or a dict with them", word)
    rows = [word if isinstance(word, dict) else {"head": word[0], "deprel": word[1]} for word in words]
    found = {_ALSO.get(key, key): [row.get(key) for row in rows] for key in dict.fromkeys(chain(*rows))}
    return {"heads": [], "deprels": [], **found}


def _check_columns(columns: dict[str, Any], called: dict[Any, Any], where: str) -> None:
    """Columns are lists of one length, and all except the heads are of texts; `called` is what the data call them."""
    lengths = {name: len(column) if isinstance(column, list) else -1 for name, column in columns.items()}
    if len(set(lengths.values())) > 1 or -1 in lengths.values():
        raise ValueMismatch(f"{where}: expected lists of one length, found {lengths}")
    for name in columns.keys() - {"heads"}:
        known = (str, *({"deprels": (), "feats": (dict, type(None))}.get(name, (type(None),))))
        for k, cell in enumerate(columns[name]):
            expect(isinstance(cell, known), f"{where}.{called.get(name, name)}[{k}]", "a text", cell)


def take_sentences(reference: Any, predicted: Any) -> tuple[Source, Source]:
    """Both sides as CoNLL-U over one text: sentences in one order, with the words of whichever side has them."""
    sides = take_sides(sentence_document, reference, predicted, KEYS, "sentence")
    left, right = sides
    if isinstance(left, Given) and isinstance(right, Given):
        names, notes = (left.ids or (), right.ids or ()), right.notes
        pairs = pair_sides(Side("reference", names[0]), Side("predicted", names[1]))
        laid = [_same_words(left.documents[k], right.documents[j], names[0][k]) for k, j in pairs]
        left, right = (replace(left, documents=tuple(both[side] for both in laid), ids=names[0]) for side in (0, 1))
        right = replace(right, name="predicted", notes=notes)
    first, second = (treebank_of(side) if isinstance(side, Given) else side for side in (left, right))
    return first, second


def _same_words(
    reference: dict[str, Any], predicted: dict[str, Any], name: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    if "conllu" in reference or "conllu" in predicted:
        return reference, predicted
    counts = len(reference["heads"]), len(predicted["heads"])
    if counts[0] != counts[1] and not ("forms" in reference and "forms" in predicted):
        raise SidesMismatch(
            f"sentence {name} has {counts[0]:,} words in the reference and {counts[1]:,} in the prediction; give the words of both, "
            'as "words", where they may differ'
        )
    forms = reference.get("forms") or predicted.get("forms")
    shared = {"forms": forms} if forms else {}
    return {**shared, **reference}, {**shared, **predicted}


def treebank_of(side: Given) -> Source:
    """The sentences of one side as CoNLL-U. Words without a form are called by their numbers."""
    blocks = []
    for k, one in enumerate(side.documents):
        name = side.ids[k] if side.ids is not None else str(k)
        if "conllu" in one:
            text = one["conllu"].strip("\n")
            blocks.append(text if "newdoc" in text.split("\n", 1)[0] else f"# newdoc id = {name}\n{text}")
            continue
        rows = [f"# sent_id = {name}"]
        for word in range(len(one["heads"])):
            cells = [str(word + 1)]
            for column in _COLUMNS:
                usual = f"w{k}.{word + 1}" if column == "forms" else "_"
                cells.append(_cell(one[column][word], usual) if column in one else usual)
            rows.append("\t".join(cells))
            if len(rows[-1].split("\t")) != 10 or "\n" in rows[-1]:
                raise ValueMismatch(f"{side.name}[{k}]: word {word + 1} holds a tab or a line end: {cells!r:.80}")
        blocks.append("\n".join(rows))
    return side.source("\n\n".join(blocks) + "\n\n")


def _cell(value: Any, usual: str) -> str:
    if isinstance(value, dict):  # features
        return "|".join(f"{key}={one}" for key, one in sorted(value.items())) or "_"
    return usual if value is None or value == "" else str(value)


ALL = "0"
_CASE = frozenset(("obl", "nmod", "conj", "advcl"))
_UNIVERSAL = frozenset(("pass", "relcl", "xsubj"))

Edge = tuple[int, tuple[str, ...]]
"""A head (-1 for the root), and the relations on the way."""


def check_enhancements(digits: str) -> None:
    """That they are digits from 0 to 6."""
    if not digits or set(digits) - set("0123456"):
        raise MetricError(
            f"--enhancements expects digits from 1 to 6 for what the treebank does not have, such as 12, or 0; found {digits!r}"
        )


@frozen(eq=False)
class _Word:
    """A word: its place in its sentence from 0, its basic edge, and the relation and the head of any other word."""

    place: int
    basic: Edge
    relation: Callable[[int], str]
    head_number: Callable[[int], int]


def without_enhancements(bank: Treebank, digits: str) -> Treebank:
    """A treebank whose enhanced edges are reduced."""
    if not set(digits) - {ALL}:
        return bank
    relations: list[str] = [label.partition(":")[0] for label in bank.deprel.values]
    codes = bank.deprel.codes
    first = np.repeat(bank.sentence_words[:-1], np.diff(bank.sentence_words))
    steps = [tuple(label.split(">")) for label in bank.enhanced.label.values]
    rules = [RULES[digit] for digit in sorted(set(digits)) if digit in RULES]

    def relation(word: int) -> str:
        return relations[int(codes[word])]

    def head_number(word: int) -> int:
        return int(bank.head[word] - first[word] + 1) if bank.head[word] >= 0 else 0

    edges: list[tuple[int, Edge]] = []
    old = bank.enhanced
    bounds = np.searchsorted(old.dependent, np.arange(len(bank) + 1))
    for word in range(len(bank)):
        here = [(int(old.head[k]), steps[old.label.codes[k]]) for k in range(bounds[word], bounds[word + 1])]
        about = _Word(int(word - first[word]), (int(bank.head[word]), (relation(word),)), relation, head_number)
        for rule in rules:
            here = rule(about, here)
        edges += ((word, edge) for edge in here)
    return replace(bank, enhanced=_edges(edges, old.from_empty_nodes))


def _edges(found: Sequence[tuple[int, Edge]], from_empty_nodes: int) -> Edges:
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(">".join(steps), len(numbers)) for _, (_, steps) in found]
    places: NDArray[np.int32] = np.array([(word, head) for word, (head, _) in found], np.int32).reshape(-1, 2)
    return Edges(
        places[:, 0].copy(), places[:, 1].copy(), Coded(np.array(labels, np.int32), list(numbers)), from_empty_nodes
    )


def _no_gapping(word: _Word, edges: list[Edge]) -> list[Edge]:
    out: list[Edge] = []
    for edge in edges:
        if len(edge[1]) > 1:
            out.append(word.basic)
        elif edge not in out:
            out.append(edge)
    return out


def _no_shared_parents(word: _Word, edges: list[Edge]) -> list[Edge]:
    conjuncts = [edge for edge in edges if len(edge[1]) == 1 and edge[1][0].startswith("conj")]
    return conjuncts[-1:] or edges


def _no_control(word: _Word, edges: list[Edge]) -> list[Edge]:
    return [
        (head, steps)
        for head, steps in edges
        if head < 0 or word.relation(head) != "xcomp" or not any(step.startswith("nsubj") for step in steps)
    ]


def _no_external_arguments(word: _Word, edges: list[Edge]) -> list[Edge]:
    out = []
    for head, steps in edges:
        if steps[0] == "ref":
            out.append(word.basic)
        elif head < 0 or not word.relation(head).startswith("acl") or word.head_number(head) != word.place:
            out.append((head, steps))
    return out


def _no_case(word: _Word, edges: list[Edge]) -> list[Edge]:
    return [(head, tuple(map(_without_case, steps))) for head, steps in edges]


def _without_case(step: str) -> str:
    base, *rest = step.split(":")
    return base if base in _CASE and len(rest) == 1 and rest[0] not in _UNIVERSAL else step


RULES = {
    "1": _no_gapping, "2": _no_shared_parents, "4": _no_control, "5": _no_external_arguments, "6": _no_case,
}  # fmt: skip

"""Predicates and their arguments in columns, as the CoNLL shared tasks on semantic roles have them: an event is a predicate.

    -        (A0*   (A0*          CoNLL-2005: the predicate of each token or `-`, and a column for each predicate, in their order
    -           *)     *)
    say      (V*)     *
    -        (A1*     *
    leave       *   (V*)
    -           *) (AM-TMP*)

CoNLL-2012 has documents (`#begin document`), and the words, lemmas and framesets before these columns; the last column is its
coreference. A predicate is the trigger, its lemma (CoNLL-2012: with its frameset, `say.01`) the type; V is no argument.

`C-A1` goes on with the A1 before it: the two are one argument with a gap, as srl-eval.pl has it; without an A1 before it, it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tallystick.files.boundaries import Opening, begins_documents
from tallystick.files.pairing import document_key
from tallystick.files.source import Source
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention, Argument, Event, Trigger

_CELL = re.compile(r"(?P<opens>(?:\([^\s()*]+)*)\*(?P<closes>(?:[^\s()*]*\))*)")
_BEGIN = re.compile(r"#\s*begin\s+document\s*(.*)")
WORD, LEMMA, FRAMESET, FIRST = 3, 6, 7, 11
"""Columns of CoNLL-2012."""


@frozen
class Row:
    """A token: the line that it stands in, and its columns."""

    line: int
    cells: list[str]


def is_conll_2012(opening: Opening) -> bool:
    """Whether a file has documents and the columns of CoNLL-2012."""
    rows = _first_rows(opening)
    return begins_documents(opening.head) and any(len(one) > FIRST and _CELL.fullmatch(one[5]) for one in rows[:1])


def is_props(opening: Opening) -> bool:
    """Whether every token has a predicate or `-`, and behind it brackets alone."""
    rows = _first_rows(opening)
    brackets = all(not one[0].startswith("(") and all(map(_CELL.fullmatch, one[1:])) for one in rows)
    return any(len(one) > 1 for one in rows) and brackets and all(len(one) > 1 or one == ["-"] for one in rows)


def _first_rows(opening: Opening, most: int = 500) -> list[list[str]]:
    """The columns of the first tokens."""
    lines = opening.head.decode("utf-8", "replace").split("\n")[:most]
    return [line.split() for line in lines[:-1] if line.strip() and not line.startswith("#")]


def read_conll_2012(source: Source) -> Iterator[tuple[str, int, list[tuple[str, ...]], list[Event]]]:
    """By document its name, its line, its sentences and its predicates; offsets count the tokens of the document."""
    name, begin, blocks = "", 0, list[list[Row]]()
    for line, block in _blocks(source):
        header = _BEGIN.match(line)
        if header is not None:
            name, begin, blocks = document_key(header[1].strip()), block[0].line if block else 0, []
        elif line.startswith("#end"):
            yield (name, begin, *_document(source, blocks))
            name = ""
        elif block:
            if not name:
                raise source.error("a sentence outside of a document; expected #begin document", block[0].line)
            blocks.append(block)
    if name:
        raise source.error(f"the document {name!r} is not ended; expected #end document", begin)


def _document(source: Source, blocks: Sequence[list[Row]]) -> tuple[list[tuple[str, ...]], list[Event]]:
    sentences: list[tuple[str, ...]] = []
    events: list[Event] = []
    for rows in blocks:
        width = len(rows[0].cells)
        if width <= FIRST:
            raise source.error(f"expected at least {FIRST + 1} columns, found {width}", rows[0].line)
        verbs = [
            "-" if one.cells[FRAMESET] == "-" else f"{one.cells[LEMMA]}.{one.cells[FRAMESET]}"
            for one in _even(source, rows)
        ]
        columns = [[one.cells[k] for one in rows] for k in range(FIRST, width - 1)]
        events += _events(source, rows, verbs, columns, sum(map(len, sentences)))
        sentences.append(tuple(one.cells[WORD] for one in rows))
    return sentences, events


def read_props(source: Source) -> Iterator[tuple[int, list[Event]]]:
    """By sentence its line and its predicates."""
    for line, rows in _blocks(source):
        if line:
            raise source.error(
                f"expected a predicate or - and a column for each predicate, found {line!r:.60}", rows[0].line
            )
        columns = [[one.cells[k] for one in _even(source, rows)] for k in range(1, len(rows[0].cells))]
        yield rows[0].line, _events(source, rows, [one.cells[0] for one in rows], columns, 0)


def _blocks(source: Source) -> Iterator[tuple[str, list[Row]]]:
    """The sentences of a file, and the lines that begin with # by themselves."""
    rows: list[Row] = []
    for number, line in enumerate((*source.text().split("\n"), ""), 1):
        marked = line.startswith("#")
        if line.strip() and not marked:
            rows.append(Row(number, line.split()))
            continue
        if rows:
            yield "", rows
            rows = []
        if marked:
            yield line, [Row(number, [])]


def _even(source: Source, rows: list[Row]) -> list[Row]:
    """Rows that have as many columns each."""
    for one in rows:
        if len(one.cells) != len(rows[0].cells):
            raise source.error(
                f"expected {len(rows[0].cells)} columns as in the lines before, found {len(one.cells)}", one.line
            )
    return rows


def _events(
    source: Source, rows: list[Row], verbs: Sequence[str], columns: Sequence[Sequence[str]], shift: int
) -> list[Event]:
    """The predicates of a sentence: the k-th has the k-th column."""
    at = [k for k, verb in enumerate(verbs) if verb != "-"]
    if len(at) != len(columns):
        raise source.error(
            f"the sentence has {len(at)} predicates and {len(columns)} columns of arguments; expected one for each",
            rows[0].line,
        )
    out = []
    for place, column in zip(at, columns, strict=True):
        pieces = _arguments(source, rows, column)
        verb = pieces.pop("V", None) or [[(place, place)]]
        trigger = Trigger(_mention(verb[0], shift), verbs[place])
        args = [Argument(_mention(one, shift), role) for role, of in pieces.items() for one in of]
        out.append(Event(trigger, tuple(args)))
    return out


Pieces = list[tuple[int, int]]


def _arguments(source: Source, rows: list[Row], column: Sequence[str]) -> dict[str, list[Pieces]]:
    """The arguments of a column by role, each with its pieces."""
    out: dict[str, list[Pieces]] = {}
    for role, start, end in sorted(_phrases(source, rows, column), key=lambda one: one[1:]):
        base = role.removeprefix("C-")
        if base != role and base in out:
            out[base][-1].append((start, end))
        else:
            out.setdefault(base, []).append([(start, end)])
    return out


def _phrases(source: Source, rows: list[Row], column: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Role, first and last token of each phrase."""
    begun: list[tuple[str, int]] = []
    for place, cell in enumerate(column):
        found = _CELL.fullmatch(cell)
        if found is None:
            raise source.error(f'expected brackets around *, such as (A0*, * or *), found "{cell}"', rows[place].line)
        begun += [(role, place) for role in found["opens"].split("(")[1:]]
        for role in found["closes"].split(")")[:-1]:
            if not begun or (role and role != begun[-1][0]):
                raise source.error(f'"{cell}" ends an argument that has not begun', rows[place].line)
            yield (*begun.pop(), place)
    if begun:
        raise source.error(f"the argument {begun[-1][0]} does not end", rows[begun[-1][1]].line)


def _mention(pieces: Pieces, shift: int) -> AnnotatedMention:
    """The phrases of an argument; what lies between them is no part of it."""
    gaps = tuple((a + 1 + shift, b - 1 + shift) for (_, a), (b, _) in pairwise(pieces) if b > a + 1)
    return AnnotatedMention(pieces[0][0] + shift, pieces[-1][1] + shift, gaps=gaps)

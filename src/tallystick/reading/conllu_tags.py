"""Tags in CoNLL-U: a key of the MISC column, as Stanza writes it, or any other column.

    1   Alice   _   PROPN   ...   ner=B-PER            a word without the key is O
    2-3 du      _   _       ...   _                    multi-word tokens and empty nodes are no words
    2   de      _   ADP     ...   SpaceAfter=No|ner=O

A `# newdoc` begins a document. Both sides must have the same words in the same sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tallystick.errors import InputError, Place, SidesMismatch
from tallystick.reading.opening import read_text, shown_name
from tallystick.reading.tags import Origin, TaggedTexts, tags_from_lists

COLUMNS = 10
_MISC = 9


@dataclass(frozen=True, eq=False)
class WordLines(Origin):
    """A file in which the words of a sentence need not stand in lines one behind the other."""

    lines: Sequence[Sequence[int]] = ()

    def place(self, text: int, token: int) -> Place:
        return Place(self.name, self.lines[text][token])


@dataclass(frozen=True)
class _File:
    name: str
    forms: list[list[str]]
    tags: list[list[str]]
    lines: list[list[int]]
    documents: list[int]


def read_conllu_tags(
    reference: str | Path,
    predicted: str | Path,
    *,
    key: str = "ner",
    column: int | None = None,
    same_tokens: bool = True,
) -> TaggedTexts:
    """Read the tags of two files from a key of MISC (in any case), or from a column, counted from 0."""
    gold, guess = (_read(name, key, column) for name in (reference, predicted))
    _compare(gold, guess, same_tokens)
    origins = tuple(WordLines(side.name, None, side.lines) for side in (gold, guess))
    documents = np.array(gold.documents, dtype=np.int64)
    return replace(
        tags_from_lists(gold.tags, guess.tags),
        origins=(origins[0], origins[1]),
        documents=documents if len(documents) and documents[-1] else None,
        tokens=tuple(form for forms in gold.forms for form in forms),
    )


def _read(name: str | Path, key: str, column: int | None) -> _File:
    file = _File(shown_name(name), [], [], [], [])
    wanted, seen, document, inside = key.lower(), column is not None, 0, False
    for number, line in enumerate(read_text(name).split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            inside = False
            continue
        if line.startswith("#"):
            # the first document begins with the file, whether or not it says so
            document += bool(line[1:].split()[:1] == ["newdoc"] and file.forms)
            continue
        fields = line.split("\t")
        if len(fields) != COLUMNS:
            place = Place(file.name, number, None, line)
            raise InputError(f"expected {COLUMNS} columns of CoNLL-U separated by tabs, found {len(fields)}", place)
        if not fields[0].isdigit():
            continue
        if not inside:
            for sentences in (file.forms, file.tags, file.lines):
                sentences.append([])
            file.documents.append(document)
            inside = True
        tag = _value(fields[_MISC], wanted) if column is None else fields[column]
        seen = seen or tag is not None
        file.forms[-1].append(fields[1])
        file.tags[-1].append("O" if tag is None else tag)
        file.lines[-1].append(number)
    if not file.forms:
        raise InputError("holds no words", file.name)
    if not seen:
        raise InputError(f"no word has {key}= in MISC; name the key, or the column that holds the tags", file.name)
    return file


def _value(misc: str, wanted: str) -> str | None:
    for entry in misc.split("|"):
        name, equals, value = entry.partition("=")
        if equals and name.lower() == wanted:
            return value
    return None


def _compare(gold: _File, guess: _File, same_tokens: bool) -> None:
    for text, (left, right) in enumerate(zip(gold.forms, guess.forms, strict=False)):
        for word, (a, b) in enumerate(zip(left, right, strict=False)):
            if same_tokens and a != b:
                raise SidesMismatch(
                    f'the tokens diverge: {gold.name}:{gold.lines[text][word]} has "{a}", '
                    f'{guess.name}:{guess.lines[text][word]} has "{b}"'
                )
        if len(left) != len(right):
            at = min(len(left), len(right)) - 1
            first, second = (gold, guess) if len(left) < len(right) else (guess, gold)
            raise SidesMismatch(
                f"the sentences diverge: one ends at {first.name}:{first.lines[text][at]}, "
                f"but goes on at {second.name}:{second.lines[text][at]}"
            )
    if len(gold.forms) != len(guess.forms):
        sizes = f"{len(gold.forms):,} and {len(guess.forms):,}"
        raise SidesMismatch(f"{gold.name} and {guess.name} have {sizes} sentences; one ends before the other")

"""The words of coreference documents, for those who want to see them: scoring never reads them.

A column file has the word in its fourth column (CoNLL: document, part, number, word), or, where the first column is the
number, in its second (SemEval); CoNLL-U in its second, JSON Lines under `sentences` or `tokens`. Where no words are to
be found, nothing is shown; where a document has another number of tokens than its chains say, nothing either.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from tallystick.reading.chains import UNKNOWN, Chains
from tallystick.reading.limits import reads_once
from tallystick.reading.opening import read_text

Sentences = list[list[str]]


def read_words(name: str, chains: Chains, wanted: Collection[str]) -> dict[str, Sentences]:
    """The sentences of some documents of a file that was read as `chains`, by the documents' names."""
    if reads_once(name) or chains.format not in _WORDS:
        return {}  # standard input is read once
    numbers = {document: k for k, document in enumerate(chains.documents)}
    lines = read_text(name).split("\n")
    begins = [int(line) for line in chains.document_lines]
    out = {}
    for document in wanted:
        k = numbers.get(document)
        if k is None or begins[k] == UNKNOWN:
            continue
        end = begins[k + 1] - 1 if k + 1 < len(begins) else len(lines)
        sentences = [sentence for sentence in _WORDS[chains.format](lines[begins[k] - 1 : end]) if sentence]
        if sum(map(len, sentences)) == int(chains.tokens[k]):
            out[document] = sentences
    return out


def _columns(lines: list[str]) -> Iterator[list[str]]:
    sentence: list[str] = []
    for line in lines[1:]:
        if line.startswith("#") and line[1:].split()[:2] == ["end", "document"]:
            break
        cells = line.split()
        if not cells:
            yield sentence
            sentence = []
        elif len(cells) > 1 and not _is_comment(line, cells):
            place = 1 if cells[0].isdigit() and not (len(cells) > 3 and cells[1].isdigit()) else min(3, len(cells) - 2)
            sentence.append(cells[place] if len(cells) > 2 else cells[0])
    yield sentence


def _is_comment(line: str, cells: list[str]) -> bool:
    """A line that begins with # is a token only if a coreference cell ends it."""
    return line.startswith("#") and (cells[-1].strip("()|-_0123456789") != "" or "=" in line)


def _conllu(lines: list[str]) -> Iterator[list[str]]:
    sentence: list[str] = []
    for line in lines:
        cells = line.rstrip("\r").split("\t")
        if len(cells) < 2:
            if not line.strip():
                yield sentence
                sentence = []
        elif not line.startswith("#") and "-" not in cells[0]:
            sentence.append(cells[1] if cells[1] != "_" else "∅")
    yield sentence


def _jsonl(lines: list[str]) -> Iterator[list[str]]:
    value = json.loads(lines[0])
    found = value.get("sentences", value.get("tokens", ()))
    yield from found if found and isinstance(found[0], list) else [found]


_WORDS = {"conll": _columns, "corefud": _conllu, "jsonl": _jsonl}

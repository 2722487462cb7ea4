"""Column files with one token a line: which lines are tokens, where sentences and documents begin.

A blank line ends a sentence, a -DOCSTART- line begins a document, a line that opens with the comment mark
belongs to nobody. Everything else is a token and has as many columns as the first token of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, Place
from tallystick.reading.fields import LineBlock, column_index, place_of, split_lines
from tallystick.reading.limits import not_utf8
from tallystick.reading.opening import read_bytes, shown_name
from tallystick.reading.pieces import is_utf8
from tallystick.reading.trie import Numbering
from tallystick.structures.segments import IntArray, ranges

_DOCSTART = b"-DOCSTART-"
LONGEST_FIELD = 1 << 20
"""A token or tag that is longer is none."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a file as one run of bytes with their sizes."""

    data: npt.NDArray[np.uint8]
    sizes: npt.NDArray[np.int32]

    def __getitem__(self, index: int) -> str:
        start = int(self.sizes[:index].sum())
        return self.data[start : start + int(self.sizes[index])].tobytes().decode("utf-8", "replace")

    def all(self) -> list[str]:
        """Every token as a string."""
        data = self.data.tobytes()
        ends = np.cumsum(self.sizes)
        pairs = zip((ends - self.sizes).tolist(), ends.tolist(), strict=True)
        return [data[start:end].decode("utf-8", "replace") for start, end in pairs]

    def first_difference(self, other: Tokens) -> int | None:
        """The index of the first token that differs, among those that both have."""
        shared = min(len(self.sizes), len(other.sizes))
        differ = self.sizes[:shared] != other.sizes[:shared]
        same_size = int(np.argmax(differ)) if differ.any() else shared
        length = int(self.sizes[:same_size].sum())
        unequal = self.data[:length] != other.data[:length]
        if unequal.any():
            byte = int(np.argmax(unequal))
            return int(np.searchsorted(np.cumsum(self.sizes[:same_size]), byte, side="right"))
        return same_size if same_size < shared else None


@dataclass(frozen=True, eq=False)
class ColumnFile:
    """The chosen columns of a file as numbers; sentence i is tokens offsets[i] to offsets[i + 1].

    `documents` is the document of each sentence, where the file has -DOCSTART- lines.
    """

    name: str
    codes: tuple[npt.NDArray[np.int32], ...]
    offsets: IntArray
    first_line: IntArray
    documents: IntArray | None
    tokens: Tokens | None

    def place(self, index: int) -> Place:
        """The file and line of the index-th token."""
        sentence = int(np.searchsorted(self.offsets, index, side="right")) - 1
        return Place(self.name, int(self.first_line[sentence]) + index - int(self.offsets[sentence]))


def read_columns(
    name: str | Path,
    columns: tuple[int, ...],
    numbering: Numbering,
    token_column: int | None = 0,
    separator: str | None = None,
    comment: str | None = None,
    keep_tokens: bool = False,
) -> ColumnFile:
    """Read and number the given columns of a file (`-` is standard input, `.gz` is unpacked)."""
    file = shown_name(name)
    codes: list[list[npt.NDArray[np.int32]]] = [[np.zeros(0, dtype=np.int32)] for _ in columns]
    firsts: list[IntArray] = []
    lines: list[IntArray] = []
    documents: list[IntArray] = []
    token_data = [np.zeros(0, dtype=np.uint8)]
    token_sizes = [np.zeros(0, dtype=np.int32)]
    count = starts = width = 0
    within = False  # whether the line before is a token
    asked = columns if token_column is None else (*columns, token_column)
    data = read_bytes(name)
    if not is_utf8(data):
        raise not_utf8(data, file)
    for block in split_lines(data, file, separator):
        if len(block.end) and int((block.end - block.start).max()) > LONGEST_FIELD:
            raise InputError(f"a field is longer than {LONGEST_FIELD:,} bytes; is this a column file?", file)
        is_token = block.columns > 0
        opening = _lines_that_start_with(block, _DOCSTART) if _DOCSTART in block.data else []
        is_token[opening] = False
        if comment:
            remarks = _lines_that_start_with(block, comment.encode())
            is_token[remarks] = False
            for remark in remarks:
                if is_token[remark - 1] if remark else within:
                    raise InputError("a comment inside a sentence", place_of(block, file, remark))
        tokens = np.flatnonzero(is_token)
        if len(tokens):
            if not width:
                width = int(block.columns[tokens[0]])
                _check_columns(asked, width, place_of(block, file, int(tokens[0])))
            wrong = np.flatnonzero(block.columns[tokens] != width)
            if len(wrong):
                line = int(tokens[wrong[0]])
                raise InputError(
                    f"expected {width} columns as in the lines before, found {block.columns[line]}",
                    place_of(block, file, line),
                )
            for column, parts in zip(columns, codes, strict=True):
                index = column_index(block, tokens, column)
                parts.append(numbering.number(block.data, block.start[index], block.end[index]))
            if keep_tokens and token_column is not None:
                index = column_index(block, tokens, token_column)
                sizes = block.end[index] - block.start[index]
                token_data.append(np.frombuffer(block.data, dtype=np.uint8)[ranges(block.start[index], sizes)])
                token_sizes.append(sizes.astype(np.int32))
        begins = np.flatnonzero(~np.concatenate(([within], is_token[:-1]))[tokens])
        firsts.append(begins + count)
        lines.append(tokens[begins] + block.line)
        documents.append(np.searchsorted(np.asarray(opening, dtype=np.int64), tokens[begins]) + starts)
        count += len(tokens)
        starts += len(opening)
        within = bool(is_token[-1])
    if not count:
        raise InputError("holds no tokens", file)
    document = np.concatenate(documents)
    return ColumnFile(
        file,
        tuple(np.concatenate(parts) for parts in codes),
        np.concatenate((*firsts, [count])),
        np.concatenate(lines),
        np.maximum(document - 1, 0) if starts else None,
        Tokens(np.concatenate(token_data), np.concatenate(token_sizes)) if len(token_sizes) > 1 else None,
    )


def _check_columns(asked: tuple[int, ...], width: int, place: Place) -> None:
    for column in asked:
        if not -width <= column < width:
            raise InputError(f"column {column} was asked for, but the line has {width} columns", place)


def _lines_that_start_with(block: LineBlock, mark: bytes) -> list[int]:
    """The indices of the lines whose first field opens with a mark."""
    found = []
    lines = np.flatnonzero(block.columns)
    begins = block.start[block.first[lines]]
    position = block.data.find(mark)
    while position >= 0:
        index = int(np.searchsorted(begins, position))
        if index < len(begins) and begins[index] == position:
            found.append(int(lines[index]))
        position = block.data.find(mark, position + len(mark))
    return found

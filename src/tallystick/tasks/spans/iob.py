"""Decoding tags into segments, for a whole corpus at once.

A tag is a prefix and a type. Whether a token starts a segment, continues one or ends the one before it
depends only on the pair of its own prefix and the one before it and on whether their types are the same; the
tag before a text and behind it is O. So a scheme is three tables over (previous prefix, prefix, same type),
and decoding is

    inside[i] = INSIDE[pair[i]]          groups: a token that is not inside, and the inside ones behind it
    start[i]  = START[pair[i]]           a segment runs from the first start of a group to the group's end
    ended     = END[pair behind it]      and counts if it ends as the scheme wants

The lenient tables are one set for all schemes, those of conlleval and of seqeval's default: a token continues
a segment iff it has the same type as the one before, its prefix is I, E or L and the one before is B or I.
The strict tables are those of seqeval: what a scheme does not allow is no segment. In seqeval's IOE1 a
segment of one token that ends in E right behind O or another type is not one; its lenient reading has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, MetricError, Place, did_you_mean
from tallystick.tasks.spans.segments import AnnotatedTexts, IntArray, Segments
from tallystick.tasks.spans.tags import TagArray, TaggedTexts

Scheme = Literal["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]
Reading = Literal["lenient", "strict"]
BoolArray = npt.NDArray[np.bool_]

LETTERS: dict[str, str] = {
    "IOB1": "IOB", "IOB2": "IOB", "IOE1": "IOE", "IOE2": "IOE", "IOBES": "IOBES", "BILOU": "BILOU",
}  # fmt: skip
_CODE = {"O": 0, "B": 1, "I": 2, "E": 3, "S": 4, "L": 3, "U": 4}  # BILOU's last and unit are E and S
NO_TYPE = "_"
_ANY, _SAME, _OTHER = "01", "1", "0"
_NO_FAULT = 255

# (previous prefixes, prefixes, same type): seqeval.scheme, with E and S for L and U
_STARTS = {
    "IOB1": [("O", "I", _ANY), ("I", "I", _OTHER), ("B", "I", _ANY), ("IB", "B", _SAME)],
    "IOB2": [("OBI", "B", _ANY)],
    "IOE1": [("O", "I", _ANY), ("I", "I", _OTHER), ("E", "I", _ANY), ("E", "E", _SAME)],
    "IOE2": [("OE", "IE", _ANY), ("I", "IE", _OTHER)],
    "IOBES": [("OBIES", "BS", _ANY)],
}
_INSIDES = {
    "IOB1": [("BI", "I", _SAME)],
    "IOB2": [("BI", "I", _SAME)],
    "IOE1": [("I", "IE", _SAME)],
    "IOE2": [("I", "IE", _SAME)],
    "IOBES": [("BI", "IE", _SAME)],
}
_ENDS = {
    "IOB1": [("IB", "I", _OTHER), ("IB", "O", _ANY), ("I", "B", _ANY), ("B", "B", _SAME)],
    "IOB2": [("IB", "OB", _ANY), ("IB", "I", _OTHER)],
    "IOE1": [("I", "IE", _OTHER), ("I", "O", _ANY), ("E", "IE", _SAME)],
    "IOE2": [("E", "OIE", _ANY)],
    "IOBES": [("ES", "OBIES", _ANY)],
}


class Fault(IntEnum):
    """What is wrong with a tag: the reasons why it was repaired (lenient) or left out (strict)."""

    FOREIGN_PREFIX = 0
    UNOPENED = 1
    UNCLOSED = 2
    NEEDLESS_BOUNDARY = 3
    LEFT_OUT = 4

    def __str__(self) -> str:
        return (
            "its prefix is not one of the scheme",
            "continues a segment that was not begun",
            "begins or continues a segment that is not ended",
            "marks a boundary where the scheme marks none",
            "belongs to no segment",
        )[self]


@dataclass(frozen=True, eq=False)
class Repairs:
    """The tags of one side that do not follow the scheme: which token, and what is wrong with it.

    Lenient: each was read as conlleval does. Strict: the tagged tokens that are in no segment.
    """

    token: IntArray
    fault: npt.NDArray[np.uint8]
    tagged: TaggedTexts
    side: int

    def __len__(self) -> int:
        return len(self.token)

    def counts(self) -> dict[Fault, int]:
        """How many there are of each kind."""
        return {Fault(kind): number for kind, number in sorted(Counter(self.fault.tolist()).items())}

    def listed(self, limit: int | None = None) -> list[tuple[Place, str, Fault]]:
        """Place, tag and fault of each (or of the first few)."""
        codes = self.tagged.predicted if self.side else self.tagged.reference
        return [
            (self.tagged.place(self.side, token), self.tagged.vocabulary[codes[token]], Fault(fault))
            for token, fault in zip(self.token[:limit].tolist(), self.fault[:limit].tolist(), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Decoded:
    """Both sides as segments, and what had to be repaired on each."""

    texts: AnnotatedTexts
    repairs: tuple[Repairs, Repairs]


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    """For each tag number its prefix, its type and whether the scheme has its prefix."""

    prefix: npt.NDArray[np.uint8]
    type: npt.NDArray[np.int64]
    foreign: BoolArray
    types: tuple[str, ...]


def decode(
    tagged: TaggedTexts,
    scheme: Scheme = "IOB2",
    reading: Reading = "lenient",
    *,
    delimiter: str = "-",
    suffix: bool = False,
    types: Iterable[str] = (),
) -> Decoded:
    """Turn tags into segments. With `suffix` tags look like PER-B; `types` are declared and come first.

    A tag that is neither O nor a prefix (alone, or with the delimiter and a type) is an error with its line,
    and so is in strict reading a prefix that the scheme does not have.
    """
    if scheme not in LETTERS:
        raise MetricError(f'"{scheme}" is not a scheme; there are {", ".join(LETTERS)}.{did_you_mean(scheme, LETTERS)}')
    if reading not in ("lenient", "strict"):
        raise MetricError(f'"{reading}" is not a way to read tags; there are lenient and strict')
    vocabulary = _parse_vocabulary(tagged, scheme, reading, delimiter, suffix, types)
    sides = [_decode_side(tagged, side, vocabulary, scheme, reading) for side in (0, 1)]
    texts = AnnotatedTexts(sides[0][0], sides[1][0], np.diff(tagged.offsets), vocabulary.types, len(tagged.offsets) - 1)
    return Decoded(texts, (sides[0][1], sides[1][1]))


def _decode_side(
    tagged: TaggedTexts, side: int, vocabulary: _Vocabulary, scheme: str, reading: str
) -> tuple[Segments, Repairs]:
    codes: TagArray = tagged.predicted if side else tagged.reference
    # most tokens are O, so everything below runs over the others; `at` is where they stand
    outside = np.flatnonzero(vocabulary.prefix == 0)
    at = np.flatnonzero(codes != outside[0]) if len(outside) == 1 else np.flatnonzero(vocabulary.prefix[codes])
    begins = np.zeros(len(codes) + 1, dtype=np.bool_)
    begins[tagged.offsets] = True
    tagged_codes = codes[at]
    prefix, type_ = vocabulary.prefix[tagged_codes], vocabulary.type[tagged_codes]
    joined = np.zeros(len(at) + 1, dtype=np.bool_)  # whether the tagged token stands right behind the one before
    joined[1:-1] = (at[1:] == at[:-1] + 1) & ~begins[at[1:]]
    pair: npt.NDArray[np.uint8] = np.left_shift(prefix, 1, dtype=np.uint8)
    pair[1:] += (joined[1:-1] * prefix[:-1]) << 4
    pair[1:] += joined[1:-1] & (type_[1:] == type_[:-1])
    start_table, inside_table, end_table = _tables(scheme, reading)
    inside = inside_table[pair]
    heads = np.flatnonzero(~inside)
    group = np.cumsum(~inside, dtype=np.int32) - 1
    starts = np.flatnonzero(start_table[pair])
    owner = group[starts]
    foremost = np.ones(len(starts), dtype=np.bool_)
    foremost[1:] = owner[1:] != owner[:-1]
    starts, owner = starts[foremost], owner[foremost]
    ends = np.append(heads, len(at))[owner + 1]
    behind = prefix[ends - 1] << 4  # the pair of a segment's last tag and the one behind it: O, or a tag
    follows = joined[ends]
    behind[follows] = pair[ends[follows]]
    proper = end_table[behind]
    starts, ends = starts[proper], ends[proper]
    first = at[starts]
    text = np.searchsorted(tagged.offsets, first, side="right") - 1
    local = first - tagged.offsets[text]
    segments = Segments(text, local, local + (ends - starts), type_[starts])
    if reading == "lenient":
        token, fault = _faults(scheme, pair, joined, prefix, vocabulary.foreign[tagged_codes])
    else:
        covered = np.zeros(len(at) + 1, dtype=np.int8)
        covered[starts] += 1
        covered[ends] -= 1
        token = np.flatnonzero(np.cumsum(covered[:-1]) == 0)
        fault = np.full(len(token), Fault.LEFT_OUT, dtype=np.uint8)
    return segments, Repairs(at[token], fault, tagged, side)


def _faults(
    scheme: str,
    pair: npt.NDArray[np.uint8],
    joined: BoolArray,
    prefix: npt.NDArray[np.uint8],
    foreign: BoolArray,
) -> tuple[IntArray, npt.NDArray[np.uint8]]:
    """The tags that break the scheme: they need something before or behind them which is not there."""
    before, behind = _fault_tables(scheme)
    fault = before[pair]
    if behind is not None:
        follower = prefix << 4  # O stands behind it, or a tag
        follower[:-1] = np.where(joined[1:-1], pair[1:], follower[:-1])
        fault = np.minimum(fault, behind[follower])
    if foreign.any():
        fault[foreign] = Fault.FOREIGN_PREFIX
    token = np.flatnonzero(fault != _NO_FAULT)
    return token, fault[token]


@lru_cache(maxsize=8)
def _fault_tables(scheme: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8] | None]:
    """What is wrong with a tag as the one before it shows, and the one behind it where the scheme cares."""
    before = np.full(128, _NO_FAULT, dtype=np.uint8)
    behind = before.copy()
    if scheme == "IOB1":  # B only where the token before has the same type
        before[_table([("OBIES", "B", _ANY)]) & ~_table([("BI", "B", _SAME)])] = Fault.NEEDLESS_BOUNDARY
    elif scheme == "IOB2":
        before[_table([("OBIES", "I", _ANY)]) & ~_table([("BI", "I", _SAME)])] = Fault.UNOPENED
    elif scheme == "IOE1":  # E only where the token behind has the same type
        behind[_table([("E", "OBIES", _ANY)]) & ~_table([("E", "IE", _SAME)])] = Fault.NEEDLESS_BOUNDARY
    elif scheme == "IOE2":
        behind[_table([("I", "OBIES", _ANY)]) & ~_table([("I", "IE", _SAME)])] = Fault.UNCLOSED
    else:
        before[_table([("OBIES", "IE", _ANY)]) & ~_table([("BI", "IE", _SAME)])] = Fault.UNOPENED
        behind[_table([("BI", "OBIES", _ANY)]) & ~_table([("BI", "IE", _SAME)])] = Fault.UNCLOSED
    return before, behind if np.any(behind != _NO_FAULT) else None


@lru_cache(maxsize=16)
def _tables(scheme: str, reading: str) -> tuple[BoolArray, BoolArray, BoolArray]:
    """START, INSIDE and END over pairs (previous prefix, prefix, same type) as one number."""
    if reading == "lenient":
        everything = [("OBIES", "OBIES", _ANY)]
        return _table(everything), _table([("BI", "IE", _SAME)]), _table(everything)
    name = "IOBES" if scheme == "BILOU" else scheme
    return _table(_STARTS[name]), _table(_INSIDES[name]), _table(_ENDS[name])


def _table(patterns: list[tuple[str, str, str]]) -> BoolArray:
    table = np.zeros(128, dtype=np.bool_)
    for previous, current, same in patterns:
        for before in previous:
            for letter in current:
                for flag in same:
                    table[(_CODE[before] << 4) | (_CODE[letter] << 1) | int(flag)] = True
    return table


def _parse_vocabulary(
    tagged: TaggedTexts, scheme: str, reading: str, delimiter: str, suffix: bool, types: Iterable[str]
) -> _Vocabulary:
    letters = LETTERS[scheme]
    prefixes, names, foreign = [], [], []
    for code, tag in enumerate(tagged.vocabulary):
        parts = split_tag(tag, delimiter, suffix)
        if parts is None:
            found = f'"{tag}" is not a tag of the scheme {scheme}'
            shape = f"TYPE{delimiter}B" if suffix else f"B{delimiter}TYPE"
            raise InputError(f"{found}: expected O or something like {shape}", _place_of_tag(tagged, code))
        outsider = parts[0] not in letters
        if outsider and reading == "strict":
            message = f'"{tag}" has the prefix {parts[0]}; {scheme} has {", ".join(letters)}'
            raise InputError(message, _place_of_tag(tagged, code))
        prefixes.append(_CODE[parts[0]])
        names.append(parts[1])
        foreign.append(outsider)
    real = {name for name, prefix in zip(names, prefixes, strict=True) if prefix}
    given = tuple(dict.fromkeys(types))
    known = given + tuple(sorted(real.difference(given)))
    number = {name: index for index, name in enumerate(known)}
    return _Vocabulary(
        np.array(prefixes, dtype=np.uint8),
        np.array([number.get(name, -1) for name in names], dtype=np.int64),
        np.array(foreign, dtype=np.bool_),
        known,
    )


def split_tag(tag: str, delimiter: str = "-", suffix: bool = False) -> tuple[str, str] | None:
    """Prefix and type of a tag, or None: "PER" is not P with ER. A prefix alone has the type "_"."""
    if tag == "O":
        return "O", ""
    if len(tag) == 1:
        return (tag, NO_TYPE) if tag in "BIESLU" else None
    type_, found, letter = tag.rpartition(delimiter)
    if not suffix:
        letter, found, type_ = tag.partition(delimiter)
    return (letter, type_) if found and type_ and len(letter) == 1 and letter in "BIESLU" else None


def _place_of_tag(tagged: TaggedTexts, code: int) -> Place:
    """The first place at which a tag occurs, in the reference or else in the prediction."""
    for side, codes in enumerate((tagged.reference, tagged.predicted)):
        found = np.flatnonzero(codes == code)
        if len(found):
            return tagged.place(side, int(found[0]))
    return Place("vocabulary")

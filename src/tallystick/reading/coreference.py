"""Coreference from any source: finds out which format a file has, and reads it.

| format   | is known by                                                        |
|----------|--------------------------------------------------------------------|
| conll    | a line `#begin document ...`                                       |
| corefud  | the comments of CoNLL-U, or a line with its ten columns            |
| jsonl    | `{` as the first character                                         |

The readers are strict: a file that was taken for the wrong format is an error in its first lines, not a
low score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from tallystick.errors import MetricError, did_you_mean, some
from tallystick.reading.chains import (
    Chains,
    RepeatedMention,
    chains_from_clusters,
    mention_codes,
    repeated_mentions,
)
from tallystick.reading.pairing import PairedChains, pair
from tallystick.reading.pieces import Pieces

__all__ = [
    "Chains",
    "PairedChains",
    "RepeatedMention",
    "chains_from_clusters",
    "mention_codes",
    "pair",
    "read_chains",
    "repeated_mentions",
]

Format = Literal["conll", "corefud", "jsonl"]

_CONLL = re.compile(rb"^#[ \t]*begin[ \t]+document(?![^\s(])", re.MULTILINE)
_CONLL_U_COMMENT = re.compile(rb"^#[ \t]*(?:newdoc|newpar|global\.\w+|sent_id|text)\b", re.MULTILINE)
_CONLL_U_ROW = re.compile(rb"^\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}$", re.MULTILINE)


def read_chains(name: str | Path, *, format: Format | None = None, fields: Sequence[str] = ()) -> Chains:
    """Read one side of a corpus: a path, a `.gz` path, or `-` for standard input.

    The format is found out from the content unless it is given. `fields` says where the clusters of a
    JSONL file are if it has gold and predicted ones, in order of preference: `("predicted_clusters",
    "clusters")`.
    """
    pieces = Pieces(name)
    chosen = format or _find_format(pieces)
    if chosen == "conll":
        from tallystick.reading.conll_coreference import read_conll

        return read_conll(pieces)
    if chosen == "corefud":
        from tallystick.reading.corefud import read_corefud

        return read_corefud(pieces)
    if chosen == "jsonl":
        from tallystick.reading.clusters_jsonl import read_clusters_jsonl

        return read_clusters_jsonl(pieces, fields)
    formats = get_args(Format)
    raise MetricError(f'no coreference format "{chosen}"; expected {some(formats)}.{did_you_mean(chosen, formats)}')


def _find_format(pieces: Pieces) -> Format:
    head = pieces.first
    content = head.lstrip()
    if not content:
        # Blank lines may go on for longer than a piece, but no serious file begins like that.
        raise pieces.error("has nothing but blank lines; expected documents")
    if content.startswith(b"{"):
        return "jsonl"
    if _CONLL.search(head):
        return "conll"
    if _CONLL_U_COMMENT.search(head) or _CONLL_U_ROW.search(head):
        return "corefud"
    line = head.count(b"\n", 0, len(head) - len(content)) + 1
    raise pieces.error(
        "begins like no known coreference format; expected #begin document (CoNLL), CoNLL-U with Entity= "
        "(CorefUD), or a JSON object a line with clusters",
        line,
        1,
    )

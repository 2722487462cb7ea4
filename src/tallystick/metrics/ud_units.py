"""Units of a pair of CoNLL-U files: parts of the text that can be counted apart.

Confidence intervals, figures by document and sums over machines need rows that add. Sentences are no such
unit when the sides split them differently, and nothing is lost by going a little higher: where *both* sides
begin a sentence, no token, multi-word token, head or edge reaches across, so the counts of the two parts add
up to those of the whole.

    reference   |  S1  |  S2  |    S3    |
    predicted   |  S1  |     S2'    | S3'|
    units       |  u1  |       u2        |

Such a block is the smallest unit. If the reference has documents (`# newdoc`), these are the units; a
document that begins in the midst of a predicted sentence is joined to the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from pathlib import PurePath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tallystick.reading.conllu import Treebank


@dataclass(frozen=True, eq=False)
class Units:
    """Units by their offsets in the text, with the names that the reference gives them."""

    starts: NDArray[np.int32]
    names: list[str]

    def __len__(self) -> int:
        return len(self.starts)

    def words(self, side: Treebank) -> NDArray[np.int32]:
        """Offsets of the units' words."""
        first = np.searchsorted(side.sentence_start, self.starts)
        offsets: NDArray[np.int32] = side.sentence_words[np.append(first, len(side.sentence_start))]
        return offsets


def find_units(reference: Treebank, *predicted: Treebank, by: Literal["document", "block", "auto"] = "auto") -> Units:
    """The units that a reference has in common with one or several systems.

    `auto` is documents if the reference has any `# newdoc`, else blocks.
    """
    common = reduce(np.intersect1d, (side.sentence_start for side in predicted), reference.sentence_start)
    documents = reference.documents() if by != "block" else {}
    if by == "document" or documents:
        starts = reference.sentence_start[[0, *documents] if len(reference) else []]
        common = np.intersect1d(common, starts)
    first = np.searchsorted(reference.sentence_start, common).tolist()
    names = documents
    if not all(map(names.get, first)):
        names = reference.sentence_names() | {sentence: name for sentence, name in names.items() if name}
    lines = reference.sentence_line
    return Units(common, [names.get(at) or f"{PurePath(reference.name).name}:{lines[at]}" for at in first])


def sum_by_unit(flags: NDArray[np.bool_], offsets: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many flags are set between each two offsets."""
    return np.diff(np.searchsorted(np.flatnonzero(flags), offsets)).astype(np.int64)

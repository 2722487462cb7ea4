"""How alike two texts are in an embedding: φ = max(0, cosine), or BERTScore, without any threshold.

It is dense: the rectangle of each block is one product of matrices. The vectors are whole numbers (`judges.vectors`), so the
product is exact, and a score does not depend on how the documents are batched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.columns.blocks import Blocks, Frame, Pairs
from tallystick.columns.codes import number_values
from tallystick.columns.data import Data, Scope
from tallystick.columns.encoded import Codes
from tallystick.similarity.node import Similarity, require
from tallystick.similarity.text import different_pairs, every_text

if TYPE_CHECKING:
    from tallystick.judges.vectors import Vectors


@dataclass(frozen=True, repr=False)
class Embedding(Similarity):
    """The cosine of two texts' vectors; what is below 0 is 0. Equal texts score 1."""

    encoder: str
    name = "embedding"

    def __post_init__(self) -> None:
        require(
            isinstance(self.encoder, str) and bool(self.encoder),
            f'embedding() needs the name of an encoder such as "wordllama", found {self.encoder!r:.60}',
        )

    @property
    def dense(self) -> bool:
        return True

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        left, right = (every_text(side, scope) for side in (reference, predicted))
        table = number_values((left, right))
        values = EmbeddedTexts(text if isinstance(text, str) else "" for text in table)
        values.of(self.encoder)
        r, p = (
            Codes(np.fromiter(map(table.__getitem__, side), np.int64, len(side)), max(len(table), 1), values)
            for side in (left, right)
        )
        return r, p

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        return blocks.frame.pairs(self.fill(r, p, blocks.frame))

    def fill(self, r: Codes, p: Codes, frame: Frame) -> F64:
        values: EmbeddedTexts = r.values  # type: ignore[assignment]
        i, j = frame.all_pairs
        if values.vectors is None:
            flat = self._scored(r, p, frame, values)
        elif frame.size < 32 * max(1, len(frame.row_counts)):  # many tiny blocks: pair by pair
            flat = values.vectors.cosines(values.vectors, r.codes[i], p.codes[j])
        else:
            flat = np.empty(frame.size)
            for rows, columns, place in frame.rectangles():
                ours, theirs = values.vectors.take(r.codes[rows]), values.vectors.take(p.codes[columns])
                flat[place] = ours.rectangle(theirs).ravel()
        np.maximum(flat, 0.0, out=flat)
        flat[r.codes[i] == p.codes[j]] = 1.0
        return flat

    def _scored(self, r: Codes, p: Codes, frame: Frame, values: EmbeddedTexts) -> F64:
        """By an encoder that has no vectors, once for each different pair."""
        from tallystick.judges.encoders import encoder_named

        (first, second), n, inverse = different_pairs(r, p, frame)
        texts = [[values[k] for k in side.tolist()] for side in (first, second)]
        scores = encoder_named(self.encoder).similarities(*texts)
        return np.minimum(scores, 1.0)[inverse] if n else np.empty(0)


class EmbeddedTexts(list[str]):
    """The different texts behind codes, and their vectors, if the encoder has any."""

    vectors: Vectors | None = None

    def of(self, encoder: str) -> None:
        from tallystick.judges.encoders import TextVectors, encoder_named

        opened = encoder_named(encoder)
        self.vectors = opened.vectors(self) if isinstance(opened, TextVectors) else None


def embedding(encoder: str = "wordllama") -> Embedding:
    """How alike two texts are in an embedding: "wordllama", "words:FILE", "sentences:MODEL", "bertscore:MODEL"."""
    return Embedding(encoder)

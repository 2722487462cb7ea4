"""Layers of tags, as nested entities are written in columns: each token has a tag in every layer.

    Die          O           O                 GermEval 2014: outer and inner entities
    Universität  B-ORG       O
    Wien         I-ORG       B-LOC             ORG [1,3) and LOC [2,3)

Every layer is decoded by itself, and the segments of all are one set. The layers are laid end to end for that, as if they were texts of
their own; a text's number modulo the number of texts is the text that it is a layer of.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.errors import MetricError
from tallystick.files.source import AnySource
from tallystick.files.table import ColumnFile, Numbering
from tallystick.tasks.spans.segments import AnnotatedTexts, Segments
from tallystick.tasks.spans.tags import Columns, Decoded, Origin, TaggedTexts, compare_columns, decode_vocabulary


def read_layers(
    reference: AnySource, predicted: AnySource | None, columns: Columns, layers: int, *, keep_tokens: bool = False
) -> TaggedTexts:
    """The tags in the last columns of two files, a layer behind the other."""
    if predicted is None:
        raise MetricError("--layers reads the last columns of two files; --together has both sides in one")
    if columns.reference is not None or columns.predicted != -1:
        raise MetricError("--layers reads the last columns; leave --reference-column and --predicted-column out")
    numbering, chosen = Numbering(), tuple(range(-layers, 0))
    gold, guess = (columns.read(side, chosen, numbering, True) for side in (reference, predicted))
    compare_columns(gold, guess, columns.same_tokens)
    sizes = np.tile(np.diff(gold.offsets), layers)
    kept = gold.tokens if keep_tokens else None
    return TaggedTexts(
        np.concatenate(gold.codes),
        np.concatenate(guess.codes),
        decode_vocabulary(numbering, (gold, guess)),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
        (_origin(gold, layers), _origin(guess, layers)),
        gold.documents,
        tuple(kept.all()) if kept else None,
    )


def _origin(file: ColumnFile, layers: int) -> Origin:
    return Origin(file.name, np.tile(file.first_line, layers))


def join_layers(decoded: Decoded, layers: int) -> AnnotatedTexts:
    """The segments of all layers as one set."""
    found = decoded.texts
    texts = found.texts // layers
    lengths = None if found.lengths is None else found.lengths[:texts]
    sides = (_of_texts(side, texts) for side in (found.reference, found.predicted))
    left, right = sides
    return replace(found, reference=left, predicted=right, lengths=lengths, texts=texts)


def _of_texts(side: Segments, texts: int) -> Segments:
    moved = replace(side, text=side.text % texts)
    return moved.take(np.argsort(moved.text, kind="stable"))

"""What is wrong with coreference, as mistakes with their places: the errors of `metrics.find_errors`.

A kind is mended as a whole (`metrics.mended`): a mention that changes its entity makes other errors, so that single errors are not
independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tallystick.errors import Place
from tallystick.results.mistakes import Mistake, put
from tallystick.tasks.coreference.chains import PairedChains
from tallystick.tasks.coreference.mentions import CoreferenceOptions
from tallystick.tasks.coreference.metrics import MendedChains, find_errors
from tallystick.tasks.coreference.show import entities_text, words_of


def find_mistakes(pairs: PairedChains, options: CoreferenceOptions) -> Iterator[Mistake]:
    """Every error of each kind. Its line is that of its first mention in the response, or in the key where the response has none."""
    words = words_of(pairs, options)
    for kind, found in find_errors(pairs, options).items():
        for one in found:
            chains, first = (pairs.response, one.response[0]) if one.response else (pairs.key, one.key[0])
            ours, theirs = (
                entities_text(side, words, first.line) if side else None for side in (one.key, one.response)
            )
            place = None if first.line is None else Place(str(chains.file), first.line)
            yield Mistake(kind, first.document, ours, theirs, place=place, edits=(((kind,), put(None)),))


def kinds_of(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The kinds that some mistakes are of."""
    return tuple(dict.fromkeys(one.kind for one in mistakes))


def mended_chains(corpus: Any, mistakes: Sequence[Mistake]) -> MendedChains:
    """The corpus without these kinds of error."""
    return MendedChains(corpus, kinds_of(mistakes))

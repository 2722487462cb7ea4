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
from tallystick.tasks.coreference.metrics import Located, MendedChains, find_errors
from tallystick.tasks.coreference.show import _entities, words_of


def find_mistakes(pairs: PairedChains, options: CoreferenceOptions) -> Iterator[Mistake]:
    """Every error of each kind."""
    words = words_of(pairs, options)
    for kind in find_errors(pairs, options, examples=len(pairs.key.start) + len(pairs.response.start)):
        repair = (((kind.error,), put(None)),)
        for example in kind.examples:
            located: Sequence[Located] = example.response or example.key
            file = (pairs.response if example.response else pairs.key).file
            ours, theirs = (_entities(side, words) if side else None for side in (example.key, example.response))
            line = located[0].line
            place = None if line is None else Place(str(file), line)
            yield Mistake(kind.error, located[0].document, ours, theirs, place=place, edits=repair)


def kinds_of(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The kinds that some mistakes are of."""
    return tuple(dict.fromkeys(one.kind for one in mistakes))


def mended_chains(corpus: Any, mistakes: Sequence[Mistake]) -> MendedChains:
    """The corpus without these kinds of error."""
    return MendedChains(corpus, kinds_of(mistakes))

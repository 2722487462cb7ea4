"""What is wrong with coreference, as mistakes with their places: the errors of `metrics.find_errors`.

A kind is mended as a whole (`metrics.mended`): a mention that changes its entity makes other errors, so that single errors are not
independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from tallystick.errors import Place
from tallystick.results.mistakes import Mistake, put
from tallystick.tasks.coreference.chains import UNKNOWN, PairedChains
from tallystick.tasks.coreference.mentions import CoreferenceOptions
from tallystick.tasks.coreference.metrics import MendedChains, Rows, find_error_rows, located_errors
from tallystick.tasks.coreference.show import entities_text, words_of


def find_mistakes(pairs: PairedChains, options: CoreferenceOptions) -> Iterator[Mistake]:
    """Every error of each kind. Its line is that of its first mention in the response, or in the key where the response has none."""
    words = words_of(pairs, options)
    prepared, found = find_error_rows(pairs, options)

    def tell(rows: Rows, side: int, line: int | None) -> str:
        one = located_errors(pairs, prepared, [rows])[0]
        return entities_text(one.response if side else one.key, words, line)

    for kind, errors in found.items():
        edits = (((kind,), put(None)),)
        for rows in errors:
            chains, of, first = (
                (pairs.response, prepared.response_rows, rows[1][0])
                if rows[1]
                else (pairs.key, prepared.key_rows, rows[0][0])
            )
            row = of[first]
            line = None if (known := int(chains.lines[row])) == UNKNOWN else known
            ours, theirs = (partial(tell, rows, side, line) if rows[side] else None for side in (0, 1))
            place = None if line is None else Place(str(chains.file), line)
            yield Mistake(kind, chains.documents[chains.document[row]], ours, theirs, place=place, edits=edits)


def kinds_of(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The kinds that some mistakes are of."""
    return tuple(dict.fromkeys(one.kind for one in mistakes))


def mended_chains(corpus: Any, mistakes: Sequence[Mistake]) -> MendedChains:
    """The corpus without these kinds of error."""
    return MendedChains(corpus, kinds_of(mistakes))

"""Laying a response against its key: the same documents, the same tokens, one code for one mention.

A document in only one of the two files, or with another number of tokens, cannot be scored honestly and
is an error. The reference scorer is not so strict; `lenient` does what it does and says so in the
warnings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick.errors import Place, SidesMismatch, counted, some
from tallystick.files.pairing import Missing, Side, document_key, require_allowed
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, IntArray, mention_codes


@dataclass
class PairedChains:
    """Key and response over the same documents. The rows of both sides are sorted by document."""

    documents: list[str]
    key: Chains
    response: Chains
    key_mention: IntArray
    """For each row of the key the code of its mention: equal codes in one document are one mention."""
    response_mention: IntArray
    """The same for the response; the codes are common to both sides."""
    codes: int
    """All codes are smaller than this."""
    warnings: list[str]
    """Those of both files and those of laying them together."""


def pair(key: Chains, response: Chains, *, lenient: bool = False, absent: Missing | None = None) -> PairedChains:
    """Align two sides by the names of their documents, in the order of the key.

    Lenient, as the reference scorer: a document only in the key counts as missed, one only in the
    response is ignored, of two documents with one name the last counts, and numbers of tokens may differ.
    Each is a warning. `absent` allows documents on one side only without the rest, and decides about them where it asks for
    something.
    """
    warnings: list[str] = []
    key, key_names = _distinct(key, lenient, warnings)
    response, response_names = _distinct(response, lenient, warnings)
    if key.format != response.format:
        key_names, response_names = _common_names(key_names, response_names)
    partner = _partners(key, response, key_names, response_names, lenient, absent, warnings)
    _compare_tokens(key, response, partner, lenient, warnings)
    response = _rearranged(response, partner, key.documents)
    (key_mention, response_mention), codes = mention_codes(key, response)
    return PairedChains(
        documents=key.documents,
        key=key,
        response=response,
        key_mention=key_mention,
        response_mention=response_mention,
        codes=codes,
        warnings=[*key.warnings, *response.warnings, *warnings],
    )


def _side(side: Chains, names: list[str]) -> Side[str]:
    places = [Place(side.file, int(line) if line != UNKNOWN else None) for line in side.document_lines]
    return Side(side.file, side.documents, places, keys=names)


def _distinct(side: Chains, lenient: bool, warnings: list[str]) -> tuple[Chains, list[str]]:
    """The side without documents whose name comes again later, and the names to compare."""
    names = [document_key(name) for name in side.documents]
    last = {name: i for i, name in enumerate(names)}
    if len(last) == len(names):
        return side, names
    repeated = _side(side, names).repeated()
    if not lenient:
        _side(side, names).require_distinct()
    warnings.append(
        f"{side.file}: {counted(len(names) - len(last), 'document')} ignored because the name comes again: "
        f"{some(dict.fromkeys(side.documents[i] for _, i in repeated))}"
    )
    kept = sorted(last.values())
    number = np.full(len(names), UNKNOWN, np.int64)
    number[kept] = np.arange(len(kept))
    document = number[side.document]
    rows = document != UNKNOWN
    chosen = replace(
        side.select(rows, document[rows]),
        documents=[side.documents[i] for i in kept],
        tokens=side.tokens[kept],
        document_lines=side.document_lines[kept],
    )
    return chosen, [names[i] for i in kept]


def _common_names(key: list[str], response: list[str]) -> tuple[list[str], list[str]]:
    """Neural systems call part 3 of document x `x_3`: where only that name is known to the other side,
    use it.
    """

    def renamed(names: list[str], others: set[str]) -> list[str]:
        found = []
        for name in names:
            stem, part, number = name.rpartition("; part ")
            other = f"{stem}_{number}" if part else name
            found.append(other if name not in others and other in others else name)
        return found

    return renamed(key, set(response)), renamed(response, set(key))


def _partners(
    key: Chains,
    response: Chains,
    key_names: list[str],
    response_names: list[str],
    lenient: bool,
    absent: Missing | None,
    warnings: list[str],
) -> IntArray:
    """For each document of the key the number of the response's, or `UNKNOWN`."""
    number = {name: i for i, name in enumerate(response_names)}
    partner = np.array([number.get(name, UNKNOWN) for name in key_names], np.int64)
    only_key = [key.documents[i] for i in np.flatnonzero(partner == UNKNOWN).tolist()]
    known = set(key_names)
    only_response = [response.documents[i] for i, name in enumerate(response_names) if name not in known]
    found = [
        (side.file, f"{counted(len(names), 'document')} only in the {role}: {some(names)}", fate)
        for side, role, names, fate in (
            (key, "key", only_key, "counted as missed"),
            (response, "response", only_response, "ignored"),
        )
        if names
    ]
    asked = absent is not None and absent.asked
    # what a shard lacks may stand in another one; what was asked for goes before what the reference scorer does
    if found and (asked or not lenient or not key.whole):
        require_allowed(key.file, response.file, only_key, only_response, absent)
        return partner
    warnings += [f"{file}: {text}; {fate}" for file, text, fate in found]
    return partner


def _compare_tokens(key: Chains, response: Chains, partner: IntArray, lenient: bool, warnings: list[str]) -> None:
    there = np.flatnonzero(partner != UNKNOWN)
    ours, theirs = key.tokens[there], response.tokens[partner[there]]
    different = np.flatnonzero((ours != theirs) & (ours != UNKNOWN) & (theirs != UNKNOWN))
    if not len(different):
        return
    first = int(different[0])
    message = (
        f'document "{key.documents[int(there[first])]}" has {ours[first]:,} tokens in the key {key.file} and '
        f"{theirs[first]:,} in the response {response.file}"
    )
    if len(different) > 1:
        message += f" (and {len(different) - 1:,} more documents differ)"
    if not lenient:
        raise SidesMismatch(f"{message}; expected the same tokens on both sides")
    warnings.append(message)


def _rearranged(response: Chains, partner: IntArray, documents: list[str]) -> Chains:
    """The response over the documents of the key, rows sorted by them."""
    if len(partner) == len(response.documents) and np.array_equal(partner, np.arange(len(partner))):
        return replace(response, documents=documents)
    there = np.flatnonzero(partner != UNKNOWN)
    number = np.full(len(response.documents), UNKNOWN, np.int64)
    number[partner[there]] = there
    document = number[response.document]
    rows = np.argsort(document, kind="stable")
    rows = rows[np.searchsorted(document[rows], 0) :]
    tokens = np.full(len(documents), UNKNOWN, np.int64)
    lines = tokens.copy()
    tokens[there] = response.tokens[partner[there]]
    lines[there] = response.document_lines[partner[there]]
    return replace(response.select(rows, document[rows]), documents=documents, tokens=tokens, document_lines=lines)

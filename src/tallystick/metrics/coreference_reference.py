"""The reference scorer's arithmetic in documents with a repeated mention (`compat="reference"`).

There the reference scorer counts positions of chains, not mentions, and a mention has one key chain only, the last:

    mentions   different mentions
    MUC        Σ over pairs of chains (positions of the response chain whose mention's key chain is this one) - 1
    B³         for each position of a response chain: positions of that chain that are in the mention's key chain
    CEAF       positions of the key chain whose mention is in the response chain; this can exceed the response's mentions
    BLANC      sets of unordered pairs, among them a mention with itself; a pair may be in both classes

Any other document is scored as ever. Documents like this are rare, so they are gone through plainly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations, product

import numpy as np

from tallystick.matching.assignment import assign

Chain = Sequence[int]
Link = tuple[int, int]


def reference_rows(key: Sequence[Chain], response: Sequence[Chain]) -> dict[str, list[float]]:
    """The rows of one document for each metric that the reference scorer has."""
    of_key, of_response = set(chain(*key)), set(chain(*response))
    in_key, in_response = sum(map(len, key)), sum(map(len, response))
    common = len(of_key & of_response)
    last = {mention: k for k, members in enumerate(key) for mention in members}
    meetings = [Counter(last[mention] for mention in members if mention in last) for members in response]
    links = sum(n - 1 for counts in meetings for n in counts.values())
    right = found = 0.0
    for members in response:
        for mention in members:
            if mention in last:
                whole = key[last[mention]]
                inside = set(whole)
                shared = len([m for m in members if m in inside])
                right += shared / len(members)
                found += shared / len(whole)
    by_mention, by_entity = _ceaf(key, response)
    return {
        "mentions": [common, len(of_response), common, len(of_key)],
        "muc": [links, in_response - len(response), links, in_key - len(key)],
        "b3": [right, in_response, found, in_key],
        "ceaf_m": [by_mention, in_response, by_mention, in_key],
        "ceaf_e": [by_entity, len(response), by_entity, len(key)],
        "blanc": _blanc(key, response),
    }


def _ceaf(key: Sequence[Chain], response: Sequence[Chain]) -> tuple[float, float]:
    sets = [set(members) for members in response]
    cells = [
        (k, r, n)
        for (k, members), (r, other) in product(enumerate(key), enumerate(sets))
        if (n := len([m for m in members if m in other]))
    ]
    k, r, n = np.array(cells, np.int64).reshape(-1, 3).T
    lengths = [np.array([len(members) for members in side], np.int64) for side in (key, response)]
    totals = []
    for phi in (n.astype(np.float64), 2 * n / (lengths[0][k] + lengths[1][r])):
        totals.append(float(phi[assign(k, r, phi, len(key), len(response))].sum()))
    return totals[0], totals[1]


def _blanc(key: Sequence[Chain], response: Sequence[Chain]) -> list[float]:
    (same_k, other_k), (same_r, other_r) = _links(key), _links(response)
    classes = ((same_k, same_r), (other_k, other_r))
    return [float(n) for ours, theirs in classes for n in (len(ours & theirs), len(ours), len(theirs))]


def _links(side: Sequence[Chain]) -> tuple[set[Link], set[Link]]:
    """The coreferent and the other links."""
    same = {(min(a, b), max(a, b)) for members in side for a, b in combinations(members, 2)}
    other = {(min(a, b), max(a, b)) for one, two in combinations(side, 2) for a, b in product(one, two)}
    return same, other

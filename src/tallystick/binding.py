"""The variables of a scope mapped together: `latent` or `scoped` around what they stand in."""

from __future__ import annotations

from dataclasses import replace

from tallystick.errors import MetricError
from tallystick.matching.candidates import has_variables
from tallystick.matching.normalise import F
from tallystick.matching.sets import Match
from tallystick.matching.variables import Latent, Scoped
from tallystick.similarity.missing import Optional
from tallystick.similarity.node import Named, Similarity
from tallystick.similarity.records import Each, Record
from tallystick.similarity.weights import Weighted


def bound(node: Similarity) -> Similarity:
    """`latent` in the place of the one collection that has variables, else `scoped` around the sum of several."""
    if isinstance(node, Match):
        if node.distinct:
            raise MetricError("latent(...) takes collections as bags, not distinct")
        return Latent(node.inner, node.constraint)
    if isinstance(node, (F, Optional, Weighted)):
        inner = bound(node.inner)
        return node if isinstance(inner, Scoped) else replace(node, inner=inner)
    if isinstance(node, (Each, Record)):
        carriers = [name for name, part in node.fields if has_variables(part)]
        if len(carriers) == 1 and _collection_in(dict(node.fields)[carriers[0]]):
            return type(node)(Named((n, bound(part) if n in carriers else part) for n, part in node.fields))
        if isinstance(node, Record) and any(_collection_in(part) for n, part in node.fields if n in carriers):
            raise MetricError(
                f'{" and ".join(carriers)} of a product share variables; with credit="each" they would be added up'
            )
    return Scoped(node)


def _collection_in(node: Similarity) -> bool:
    return isinstance(node, Match) or (isinstance(node, (F, Optional, Weighted)) and _collection_in(node.inner))

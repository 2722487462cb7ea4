"""Whether a matching is the best one: no other pairing of the items scores more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Any

from tallystick.laboratory.answers import equal, pair, shown
from tallystick.laboratory.curves import TOLERANCE
from tallystick.laboratory.experiments import FAILS, NOT_ASKED, Answer, Failure, Finding, Laboratory, State


def optimum(lab: Laboratory) -> Finding:
    """Over lists: is there a better pairing by the function's own measure?

    Two probes. If each item alone scores 1 with its partner, so must the whole. And where the function takes mappings
    too, items under common keys are a pairing that it is made to use: no permutation may score more than the list.
    """
    if not lab.subject.listed:
        return Finding("optimum", NOT_ASKED, "not a function over lists")
    space, measure, name = lab.subject.space, lab.subject.measure, lab.subject.headline

    def built(items: Sequence[Any]) -> list[Any]:
        return list(space.build(list(items)))

    def keyed(items: Sequence[Any]) -> dict[str, Any]:
        return {str(k): one for k, one in enumerate(built(items))}

    rng = Random(0)
    pool = list({repr(one): one for _ in range(60) for one in space.random(rng, 1)}.values())[:8]
    own = {
        (i, j): measure([(built([a]), built([b]))])[0].at(name) for i, a in enumerate(pool) for j, b in enumerate(pool)
    }
    # A function that takes a mapping for something else is no help: single items must score what they score in a list.
    asked = [(i, j) for i in range(min(3, len(pool))) for j in range(min(3, len(pool)))]
    takes_keys = all(
        not (found := measure([(keyed([pool[i]]), keyed([pool[j]]))])[0]).error and equal(found.at(name), own[i, j])
        for i, j in asked
    )

    def one(x: Any, y: Any) -> Answer:
        if len(x) != len(y) or not 1 < len(x) < 5:
            return False
        score = measure([(built(x), built(y))])[0].at(name)
        if score is None or score >= 1 - TOLERANCE:
            return score is not None
        alone = [[measure([(built([a]), built([b]))])[0].at(name) for b in y] for a in x]
        for order_ in permutations(range(len(x))):
            if all((alone[k][j] or 0.0) >= 1 - TOLERANCE for k, j in enumerate(order_)):
                pairing = [y[j] for j in order_]
                text = f"scores {shown(score)}, although each item alone scores 1 with a partner of its own"
                return Failure(text, pair(lab, (x, y), partners=pairing))
            if takes_keys:
                better = measure([(keyed(x), keyed([y[j] for j in order_]))])[0].at(name)
                if better is not None and better > score + TOLERANCE:
                    text = f"scores {shown(score)}, and {shown(better)} when told the pairing by keys"
                    return Failure(text, pair(lab, (x, y), partners=[y[j] for j in order_]))
        return True

    def right(i: int, j: int) -> bool:
        return (own[i, j] or 0.0) >= 1 - TOLERANCE

    # All pairs of two items out of the pool in which both have a partner of their own, not all of them themselves.
    two = list(permutations(range(len(pool)), 2))
    tempting = [
        ([pool[i], pool[k]], [pool[j], pool[m]])
        for i, k in two
        for j, m in two
        if i < k and right(i, j) and right(k, m) and (i, k) != (j, m)
    ]
    for k, state in enumerate(tempting):
        answer = one(*state)
        if isinstance(answer, Failure):
            answer = lab.shrunk(tempting[k], answer, lambda states: [one(x, y) for x, y in states])
            return Finding("optimum", FAILS, answer.text, answer.shown)

    def make(size: int, rng: Random) -> State:
        return space.random(rng, size), space.random(rng, size)

    return lab.experiment("optimum", make, lambda states: [one(x, y) for x, y in states], (2, 2, 3, 3))

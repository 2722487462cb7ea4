"""Event hierarchies: 100,000 events in trees of up to four levels, a fifth of the links changed (issue 8, Must show 5).

Contenders score MUC_p, BLANC_p and NSTM_p together, from `EventHierarchy` objects. The floor is the paper's three
definitions by hand over sets of links and recursive trees, for events without coreference. A second table has Gram
matrices.
"""

import random
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Row, compare, measure, report
from tallystick.structures.graphs import EventHierarchy, EventLink

Corpus = list[EventHierarchy]
Score = Callable[[], dict[str, float]]
EVENTS = 50
FIGURES = ("muc_p", "blanc_p", "nstm_p")


def generate(documents: int, seed: int = 8) -> tuple[Corpus, Corpus]:
    """Reference and prediction: of the links a tenth is lost and a tenth hangs under another event."""
    rng = random.Random(seed)
    reference, predicted = [], []
    for _ in range(documents):
        events = [str(k) for k in range(EVENTS)]
        depth, parent = [0] * EVENTS, [-1] * EVENTS
        for k in range(1, EVENTS):
            above = rng.randrange(k)
            if rng.random() < 0.6 and depth[above] < 3:
                parent[k], depth[k] = above, depth[above] + 1
        changed = list(parent)
        for k in range(1, EVENTS):
            chance = rng.random()
            if parent[k] >= 0 and chance < 0.2:
                changed[k] = -1 if chance < 0.1 else rng.randrange(k)
        for side, parents in ((reference, parent), (predicted, changed)):
            links = [EventLink(events[p], events[k]) for k, p in enumerate(parents) if p >= 0]
            side.append(EventHierarchy(events, (), links))
    return reference, predicted


def floor(reference: Corpus, predicted: Corpus) -> Score:
    return lambda: floor_by_hand(reference, predicted)


def floor_by_hand(reference: Corpus, predicted: Corpus) -> dict[str, float]:
    common = key = response = others = key_others = response_others = matched = larger = 0
    for left, right in zip(reference, predicted, strict=True):
        a, b = ({(link.parent, link.child) for link in one.links} for one in (left, right))
        n, m = len(left.events), len(a | b)
        common, key, response = common + len(a & b), key + len(a), response + len(b)
        pairs = n * (n - 1)
        others, key_others, response_others = (
            others + pairs - m,
            key_others + pairs - len(a),
            response_others + pairs - len(b),
        )
        matched += _stm(left, right)
        larger += n
    f_links, f_others = 2 * common / (key + response), 2 * others / (key_others + response_others)
    return {"muc_p": f_links, "blanc_p": (f_links + f_others) / 2, "nstm_p": matched / larger}


def _stm(left: EventHierarchy, right: EventHierarchy) -> int:
    sides: list[dict[str, set[str]]] = []
    for one in (left, right):
        children: dict[str, set[str]] = {"": set(one.events) - {link.child for link in one.links}}
        for link in one.links:
            children.setdefault(link.parent, set()).add(link.child)
        sides.append(children)

    def below(node: str) -> int:
        return sum(1 + below(child) for child in sides[0].get(node, set()) & sides[1].get(node, set()))

    return below("")


def tallystick(reference: Corpus, predicted: Corpus) -> Score:
    from tallystick.tasks.hierarchies.metrics import evaluate

    def score() -> dict[str, float]:
        results = evaluate(reference, predicted, FIGURES)
        return {name: result.score for name, result in results.items()}

    return score


def generate_sets(objects: int, kind: str, pool: int, seed: int = 8) -> tuple[str, list[Any]]:
    """Sets of 20 elements, or sets of five entities of three mentions, and the metric for them."""
    rng = random.Random(seed)
    if kind == "sets":
        return "f1(match(exact))", [rng.sample(range(pool), 20) for _ in range(objects)]
    drawn = (rng.sample(range(pool), 15) for _ in range(objects))
    return "f1(match(f1(match(exact))))", [[one[k : k + 3] for k in range(0, 15, 3)] for one in drawn]


def gram(metric: str, objects: list[Any]) -> Score:
    import tallystick as ts

    return lambda: {"mean": float(ts.gram(metric, objects).mean())}


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and all figures agree."""
    size = 200 if quick else 2_000

    def time(name: str, **arguments: Any):
        here = "benchmarks.hierarchies"
        return measure(f"{here}:{name}", f"{here}:generate", repeat=repeat, **arguments)

    truth = time("floor", documents=size)
    rows = [
        Row("floor by hand", size * EVENTS, truth, remark="sets of links, recursive trees; no coreference"),
        compare(time("tallystick", documents=size), truth, "tallystick", size * EVENTS, checked=FIGURES),
    ]
    fine = report(f"hierarchies: {size:,} documents of {EVENTS} events", rows, "event", ("tallystick", "floor by hand"))
    objects = 100 if quick else 1_000
    here = "benchmarks.hierarchies"
    matrices = [
        Row(f"{name}, {pool} different", objects, measure(f"{here}:gram", f"{here}:generate_sets", repeat=repeat, objects=objects, kind=kind, pool=pool))
        for name, kind in (("sets of 20", "sets"), ("CEAF-φ4 of 5 entities", "entities"))
        for pool in (40, 100, 1_000)
    ]  # fmt: skip
    return report(f"Gram matrices of {objects:,} objects", matrices, "object", ()) and fine

"""A field of few values in a sum of fields: 2,000 documents of 50 items, with and without a boolean.

The boolean is equal in half of all pairs of items. Listing those pairs made such a metric several times as slow as the same
one without it; filled into rectangles, it should cost at most as much again.
"""

import random
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Row, compare, measure, report

FIGURES = ("precision", "recall", "f1")
ITEMS = 50
Score = Callable[[], dict[str, float]]


def generate(documents: int) -> tuple[list[Any], list[Any]]:
    """Items of four fields; a tenth of the values is wrong, and the order is lost."""
    rng = random.Random(1)

    def item() -> dict[str, Any]:
        return {
            "sku": f"s{rng.randrange(10_000)}", "quantity": rng.randrange(500), "price": rng.randrange(100_000) / 100,
            "taxed": rng.random() < 0.5,
        }  # fmt: skip

    gold = [[item() for _ in range(ITEMS)] for _ in range(documents)]
    system = []
    for document in gold:
        noisy = [
            {f: item()[f] if rng.random() < 0.1 else v for f, v in one.items()}
            for one in document
            if rng.random() < 0.95
        ]
        rng.shuffle(noisy)
        system.append(noisy)
    return gold, system


def without(gold: Any, system: Any) -> Score:
    return _figures(gold, system, ("sku", "quantity", "price"))


def with_boolean(gold: Any, system: Any) -> Score:
    return _figures(gold, system, ("sku", "quantity", "price", "taxed"))


def listed(gold: Any, system: Any) -> Score:
    """The same with every pair listed, as it was before."""
    from tallystick.algebra import records as crowds

    crowds.LEAST = crowds.MOST_PAIRS
    return with_boolean(gold, system)


def _figures(gold: Any, system: Any, fields: tuple[str, ...]) -> Score:
    import tallystick as ts

    metric = ts.f1(ts.match(ts.each(**dict.fromkeys(fields, ts.exact))))
    return lambda: dict(ts.evaluate(metric, gold, system).figures)  # type: ignore[arg-type]


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and all figures agree."""
    size = 200 if quick else 2_000

    def time(name: str) -> Any:
        return measure(f"benchmarks.crowds:{name}", "benchmarks.crowds:generate", repeat=max(repeat, 2), documents=size)

    truth = time("listed")
    rows = [
        Row("without a boolean", size, time("without"), remark="another metric, so other figures"),
        compare(time("with_boolean"), truth, "with a boolean", size, checked=FIGURES),
        Row("every pair listed", size, truth, remark="with a boolean, nothing filled in"),
    ]
    return report(f"crowds: {size:,} documents of {ITEMS} items", rows, "document", ("without a boolean",))

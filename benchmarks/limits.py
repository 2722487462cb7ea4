"""Time limits: hard instances of every solver that may take long, and by how much the slowest overruns its limit.

    python -m benchmarks limits [--quick]

The clock of the solvers is the CPU time of this process here, since the machine is shared; what a solver in a process of its
own takes is added as it passes. An instance is hard if its proof may take longer than the limit; that the bounds contain what
a longer run finds is tested with brute force (tests/engine/test_latent.py and the other tests of the engine).
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measure import claim

LIMIT = 0.5
ALLOWED = 1.5


def _edges(rng: random.Random, n: int, m: int, roles: int) -> list[tuple[int, int, int]]:
    return [(rng.randrange(n), rng.randrange(n), rng.randrange(roles)) for _ in range(m)]


def _changed(rng: random.Random, edges: list[tuple[int, int, int]], n: int, share: float) -> list[tuple[int, int, int]]:
    """The same edges among renamed nodes, a share of them drawn anew."""
    to = list(range(n))
    rng.shuffle(to)
    return [(to[s], to[t], r) if rng.random() > share else (rng.randrange(n), rng.randrange(n), r) for s, t, r in edges]


def _graphs(rng: random.Random, n: int) -> tuple[Any, Any]:
    """Two graphs of meaning of n variables with few concepts and roles: the second a changed copy, or another one."""
    from tallystick.tasks.amr.triples import Facts

    edges = _edges(rng, n, 13 * n // 10, 5)
    other = _changed(rng, edges, n, rng.choice((0.1, 0.3, 1.0)))
    sides = []
    for relations in (edges, other):
        facts = Facts([f"v{k}" for k in range(n)])
        for k in range(n):
            facts.add(k, "instance", f"c{rng.randrange(8)}")
        for source, target, role in relations:
            facts.add(source, f":r{role}", target)
        sides.append(facts)
    return sides[0], sides[1]


def _amr(rng: random.Random) -> Callable[[], Any]:
    from tallystick.tasks.amr.triples import score_facts

    one, other = _graphs(rng, rng.choice((40, 80, 150, 300, 500)))
    return lambda: score_facts([one], [other], limit=LIMIT)


def _evaluated(expression: str, one: Any, other: Any) -> Callable[[], Any]:
    import tallystick as ts

    return lambda: ts.evaluate(ts.parse(expression), [one], [other])


def _latent(rng: random.Random) -> Callable[[], Any]:
    n = rng.choice((30, 60, 120))
    edges = _edges(rng, n, 13 * n // 10, 3)
    sides = [
        [{"rel": f"r{r}", "subj": f"x{s}", "obj": f"x{t}"} for s, t, r in part]
        for part in (edges, _changed(rng, edges, n, 0.3))
    ]
    return _evaluated(f"f1(latent(record(rel=exact, subj=var, obj=var), 1:1, limit={LIMIT}))", sides[0], sides[1])


def _events(rng: random.Random) -> Callable[[], Any]:
    """Objects with three variables: the integer programme of eq. 40 to 44 as it stands."""
    n = rng.choice((10, 20, 40))
    sides = [
        [
            {"rel": f"r{rng.randrange(3)}", "a": f"x{rng.randrange(n)}", "b": f"x{rng.randrange(n)}", "c": f"x{rng.randrange(n)}"}
            for _ in range(2 * n)
        ]
        for _ in range(2)
    ]  # fmt: skip
    return _evaluated(f"f1(latent(record(rel=exact, a=var, b=var, c=var), 1:1, limit={LIMIT}))", sides[0], sides[1])


def _templates(rng: random.Random) -> Callable[[], Any]:
    """Templates whose slots hold variables that the templates share: a sum over two collections."""
    n = rng.choice((20, 40, 80))
    sides = []
    for _ in range(2):
        nodes = [{"id": f"x{k}", "label": f"c{rng.randrange(5)}"} for k in range(n)]
        edges = [{"source": f"x{s}", "target": f"x{t}", "label": f"r{r}"} for s, t, r in _edges(rng, n, 2 * n, 3)]
        sides.append({"nodes": nodes, "edges": edges})
    inner = "each(nodes=match(record(id=var, label=exact)), edges=match(record(source=var, target=var, label=exact)))"
    return _evaluated(f"f1(scoped({inner}, limit={LIMIT}))", sides[0], sides[1])


def _tree(rng: random.Random, n: int, labels: int, back: int = 10) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = [{"label": f"l{rng.randrange(labels)}", "children": []} for _ in range(n)]
    for k in range(1, n):
        nodes[rng.randrange(max(0, k - back), k)]["children"].append(nodes[k])
    return nodes[0]


def _trees(rng: random.Random) -> Callable[[], Any]:
    n = rng.choice((20, 40, 80, 150))
    return _evaluated(f"f1(unordered(exact, limit={LIMIT}))", _tree(rng, n, 4), _tree(rng, n, 4))


def _ordered_trees(rng: random.Random) -> Callable[[], Any]:
    kinds = "tree(exact", "tree_edit(exact", "top_down(exact", "top_down(exact, ordered=True"
    n, kind = rng.choice((500, 1000, 2000, 4000, 8000)), rng.choice(kinds)
    return _evaluated(f"f1({kind}, limit={LIMIT}))", _tree(rng, n, 4, n), _tree(rng, n, 4, n))


def _chains(rng: random.Random) -> Callable[[], Any]:
    """Chains of equal nodes, some of whose facts are changed: millions of pairs of edges may match."""
    from benchmarks.meaning import _chain
    from benchmarks.meaning import _changed as changed
    from tallystick.tasks.amr.triples import score_facts

    one = _chain(rng.choice((300, 500, 1000, 2000)))
    other = changed(one, rng.choice((0.02, 0.1)), rng)
    if rng.random() < 0.5:
        return lambda: score_facts([one], [other], limit=LIMIT)
    sides = [[{"rel": r, "subj": f"x{s}", "obj": f"x{t}"} for s, r, t in side.binary] for side in (one, other)]
    return _evaluated(f"f1(latent(record(rel=exact, subj=var, obj=var), 1:1, limit={LIMIT}))", *sides)


def _sequences(rng: random.Random) -> Callable[[], Any]:
    """Sequences of equal items, and of items that are similar here and there: too long to be compared in full."""
    n, labels = rng.choice((30_000, 60_000, 120_000)), rng.choice((5, 5000))
    if rng.random() < 0.6:
        sides = [[rng.randrange(labels) for _ in range(n)] for _ in range(2)]
        return _evaluated(f"f1(sequence(exact, limit={LIMIT}))", *sides)
    sides = [[{"a": rng.randrange(20), "b": rng.random()} for _ in range(n // 30)] for _ in range(2)]
    return _evaluated(f"f1(sequence(record(a=exact, b=number(0.5)), limit={LIMIT}))", *sides)


def _orders(rng: random.Random) -> Callable[[], Any]:
    n = rng.choice((15, 30, 60, 120, 1000))
    sides = []
    for _ in range(2):
        edges = [[min(s, t), max(s, t)] for s, t, _ in _edges(rng, n, 3 * n // 2, 1) if s != t]
        sides.append({"nodes": [f"l{rng.randrange(4)}" for _ in range(n)], "edges": edges})
    return _evaluated(f"f1(graph(exact, 1:1, limit={LIMIT}))", sides[0], sides[1])


def _grids(rng: random.Random) -> Callable[[], Any]:
    """Tables as trees of rows and cells, without an order of either; or as cells whose rows and columns are variables."""
    rows, columns = rng.choice((5, 10, 20)), rng.choice((4, 8))
    if rng.random() < 0.5:
        sides = [
            [
                {"row": f"r{r}", "column": f"c{c}", "text": f"{rng.randrange(6)}"}
                for r in range(rows)
                for c in range(columns)
            ]
            for _ in range(2)
        ]
        return _evaluated(f"f1(latent(record(row=var, column=var, text=exact), 1:1, limit={LIMIT}))", *sides)

    def table() -> dict[str, Any]:
        cells = [[{"label": f"{rng.randrange(6)}", "children": []} for _ in range(columns)] for _ in range(rows)]
        return {"label": "table", "children": [{"label": "row", "children": row} for row in cells]}

    return _evaluated(f"f1(unordered(exact, limit={LIMIT}))", table(), table())


KINDS: dict[str, tuple[Callable[[random.Random], Callable[[], Any]], int]] = {
    "amr": (_amr, 50),
    "latent variables": (_latent, 25),
    "three variables": (_events, 25),
    "templates": (_templates, 25),
    "trees": (_trees, 25),
    "ordered trees": (_ordered_trees, 25),
    "sequences": (_sequences, 15),
    "chains": (_chains, 20),
    "graphs": (_orders, 25),
    "grids": (_grids, 25),
}


def _instances(quick: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, (make, count) in KINDS.items():
        for seed in range(count // 10 if quick else count):
            yield name, make(random.Random(f"{name} {seed}"))


def run(*, repeat: int = 1, quick: bool = False) -> bool:
    """All instances; True if every answer has bounds."""
    from tallystick.engine import program

    waited = 0.0
    inside, wall, cpu = program._elsewhere, time.monotonic, time.process_time

    def elsewhere(*arguments: Any, **options: Any) -> Any:
        nonlocal waited
        begin = wall()
        try:
            return inside(*arguments, **options)
        finally:
            waited += wall() - begin

    time.monotonic = lambda: cpu() + waited
    program._elsewhere = elsewhere
    worst: dict[str, float] = {}
    longest: dict[str, float] = {}
    struck: Counter[str] = Counter()
    total = 0
    try:
        for warm in (make(random.Random(0)) for make, _ in KINDS.values()):
            warm()  # imports
        for name, solve in _instances(quick):
            begin, started = time.monotonic(), wall()
            found = solve()
            took = time.monotonic() - begin
            longest[name] = max(longest.get(name, 0.0), (wall() - started) / LIMIT)
            worst[name] = max(worst.get(name, 0.0), took / LIMIT)
            struck[name] += not (found.optimal.all() if hasattr(found, "mappings") else found.optimal)
            total += 1
    finally:
        time.monotonic, program._elsewhere = wall, inside
    print(f"\ntime limits: {total} instances, {LIMIT:g} s each")
    for name, overrun in worst.items():
        print(
            f"  {name:18} limit struck {struck[name]:3} times, slowest {overrun:.2f} times the limit ({longest[name]:.2f} by the wall)"
        )
    claim("slowest of all, in limits", max(worst.values()), "times", at_most=ALLOWED)
    return total > 0

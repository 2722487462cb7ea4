"""Awkward shapes, one document each: how time grows with size, and the time beside a floor or a peer.

An exponent is measured from n to 16 n: log(time(16 n) / time(n)) / log 16. Where items have to be compared each with each it is at most 2.1,
where they need not it is at most 1.2. A floor is what a program would do that knows nothing but this shape: the loop over a user's
function and one assignment, rapidfuzz's `cdist` and a maximum, a sort.
"""

import json
import math
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import KEPT, Measurement, claim, launch, measure, show

Score = Callable[[], dict[str, float]]
LINEAR, QUADRATIC = 1.2, 2.1
GROWTH = 16

SHAPES: dict[str, tuple[str, int, float, str]] = {
    "different values": ("f1(match(exact))", 40_000, LINEAR, "1:1 of values that are nearly all different"),
    "few values": ("f1(match(exact, N:1))", 40_000, LINEAR, "N:1 of 20 values"),
    "few values, N:N": ("f1(match(exact, N:N))", 40_000, LINEAR, "N:N of 20 values"),
    "small documents": ("f1(match(each(k=exact, v=exact)))", 1_500, LINEAR, "n documents of 5 records"),
    "a repetitive model": ('f1(match(text("levenshtein")))', 4_000, LINEAR, "6 texts against n"),
    "numbers": ("f1(match(number(relative=0.01)))", 8_000, LINEAR, "numbers with a tolerance"),
    "texts, threshold": ('f1(match(at_least(text("levenshtein"), 0.9)))', 600, QUADRATIC, "texts that are nearly equal"),
    "texts, 1:1": ('recall(match(text("levenshtein")))', 100, QUADRATIC, "all texts with all, and one assignment"),
    "texts, N:1": ('f1(match(text("levenshtein"), N:1, literal=True))', 200, QUADRATIC, "the best of all texts for each"),
    "a function": ("f1(match(function(benchmarks.shapes:nearness)))", 60, QUADRATIC, "a user's function of each pair"),
    "a sequence": ("f1(sequence(exact))", 4_000, QUADRATIC, "equal values in order"),
    "a sequence of texts": ('f1(sequence(text("levenshtein")))', 100, QUADRATIC, "similar texts in order"),
    "a table": ("f1(tree(exact))", 150, QUADRATIC, "a tree of rows of 8 cells, n nodes"),
    "a tree": ("recall(tree(exact))", 100, QUADRATIC, "a random tree of n nodes"),
    "a deep tree": ("precision(tree(exact))", 50, QUADRATIC, "a tree of n nodes, most of them below the one before"),
    "one component": ("f1(match(f1(match(exact))))", 6_000, QUADRATIC, "n mentions shuffled into other entities"),
}  # fmt: skip
"""For each shape a metric, n, the largest exponent, and what it is."""

TIMES: dict[str, tuple[int, float]] = {
    "a function": (500, 2), "texts, threshold": (3_000, 1), "texts, N:1": (3_000, 2), "numbers": (30_000, 2), "a table": (360, 0.1), "a tree": (200, 0.1),
    "a deep tree": (200, 0.1), "texts, 1:1": (1_000, 2), "one component": (100_000, 0.5),
}  # fmt: skip
"""The size at which a shape is laid beside its floor (or its peer), and how many times as long it may take."""


def nearness(a: float, b: float) -> float:
    """A user's function."""
    return 1 - abs(a - b)


def make(shape: str, n: int) -> tuple[str, Any, Any]:
    """The metric, one reference and one prediction of a size (or n small ones)."""
    rng = random.Random(n)
    metric = SHAPES[shape][0]
    if shape == "different values":
        return metric, [[rng.randrange(10 * n) for _ in range(n)]], [[rng.randrange(10 * n) for _ in range(n)]]
    if shape.startswith("few values"):
        return metric, [rng.choices("abcdefghijklmnopqrst", k=n)], [rng.choices("abcdefghijklmnopqrst", k=n)]
    if shape == "small documents":
        both = [
            [[{"k": rng.randrange(9), "v": rng.randrange(5)} for _ in range(5)] for _ in range(n)] for _ in range(2)
        ]
        return metric, both[0], both[1]
    if shape == "numbers":
        return metric, *([[round(rng.random() * 1000, 2) for _ in range(n)]] for _ in range(2))  # type: ignore[return-value]
    if shape == "a function":
        return metric, [[rng.random() for _ in range(n)]], [[rng.random() for _ in range(n)]]
    if shape == "a sequence":
        gold = [rng.randrange(50) for _ in range(n)]
        return metric, [gold], [[rng.randrange(50) if rng.random() < 0.2 else one for one in gold]]
    if shape == "a table":
        return metric, [_table(rng, n // 9)], [_table(rng, n // 9)]
    if shape == "a tree":
        return metric, [_tree(rng, n)], [_tree(rng, n)]
    if shape == "a deep tree":
        return metric, [_tree(rng, n, near=3)], [_tree(rng, n, near=3)]
    if shape == "one component":
        return metric, [_entities(rng, n)], [_entities(rng, n)]
    gold = [_text(rng) for _ in range(6 if shape == "a repetitive model" else n)]
    system = [_noisy(rng, rng.choice(gold)) for _ in range(n)] if len(gold) != n else [_noisy(rng, one) for one in gold]
    if shape != "a sequence of texts":
        rng.shuffle(system)
    return metric, [gold], [system]


def _text(rng: random.Random) -> str:
    return " ".join("".join(rng.choices("etaoinshrdlu", k=rng.randint(3, 9))) for _ in range(rng.randint(2, 5)))


def _noisy(rng: random.Random, text: str) -> str:
    if rng.random() < 0.1:
        return _text(rng)
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(("", "x", "xy")) + text[place + 1 :] if rng.random() < 0.5 else text


def _table(rng: random.Random, rows: int) -> Any:
    def cell() -> Any:
        return {"label": rng.choice("abcdefghij"), "children": []}

    return {
        "label": "table",
        "children": [{"label": "row", "children": [cell() for _ in range(8)]} for _ in range(rows)],
    }


def _tree(rng: random.Random, nodes: int, near: int = 0) -> Any:
    """A tree in which each node is below any one before it, or below one of the `near` last ones."""
    found: list[Any] = [{"label": rng.choice("abcdefghij"), "children": []} for _ in range(nodes)]
    for k in range(1, nodes):
        found[rng.randrange(max(0, k - near) if near else 0, k)]["children"].append(found[k])
    return found[0]


def _entities(rng: random.Random, mentions: int) -> list[list[int]]:
    names = list(range(mentions))
    rng.shuffle(names)
    found, begin = [], 0
    while begin < mentions:
        size = rng.randint(1, 13)
        found.append(names[begin : begin + size])
        begin += size
    return found


def tallystick(metric: str, gold: Any, system: Any) -> Score:
    import tallystick as ts

    parsed = ts.parse(metric, functions=True)
    shape = next(name for name, one in SHAPES.items() if one[0] == metric)
    for n in (1, 40, 300):  # what is loaded on the way is no part of how time grows
        ts.evaluate(parsed, *make(shape, n)[1:], batch=1000)
    return lambda: dict(ts.evaluate(parsed, gold, system).figures)  # type: ignore[arg-type]


def floor(metric: str, gold: Any, system: Any) -> Score:
    """What a program would do that knows nothing but this shape."""
    import numpy as np

    if "function" in metric:
        from scipy.optimize import linear_sum_assignment

        def assignment() -> dict[str, float]:
            table = np.array([[nearness(a, b) for b in system[0]] for a in gold[0]])
            return {
                "f1": 2
                * float(table[linear_sum_assignment(table, maximize=True)].sum())
                / (len(gold[0]) + len(system[0]))
            }

        return assignment
    if "match(exact)" in metric:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        def sparse() -> dict[str, float]:
            sizes = [np.array([len(entity) for entity in side[0]]) for side in (gold, system)]
            names = [np.concatenate(side[0]) for side in (gold, system)]
            of = [
                np.repeat(np.arange(len(size)), size)[np.argsort(one)] for size, one in zip(sizes, names, strict=True)
            ]
            met, common = np.unique(of[0] * len(sizes[1]) + of[1], return_counts=True)
            i, j = met // len(sizes[1]), met % len(sizes[1])
            weights, alone = 2 * common / (sizes[0][i] + sizes[1][j]), np.arange(len(sizes[0]))
            costs = np.concatenate((2 - weights, np.full(len(alone), 2.0)))  # a column for each row that stays alone
            where = np.concatenate((i, alone)), np.concatenate((j, len(sizes[1]) + alone))
            matched = min_weight_full_bipartite_matching(csr_array((costs, where)))
            return {"f1": 2 * float((2 - csr_array((costs, where))[matched]).sum()) / sum(map(len, sizes))}

        return sparse
    if "number" in metric:

        def in_order() -> dict[str, float]:
            ours, theirs = sorted(gold[0]), sorted(system[0])
            found = a = b = 0
            while a < len(ours) and b < len(theirs):
                if abs(ours[a] - theirs[b]) <= 0.01 * max(abs(ours[a]), abs(theirs[b])):
                    found, a, b = found + 1, a + 1, b + 1
                elif ours[a] < theirs[b]:
                    a += 1
                else:
                    b += 1
            return {"f1": 2 * found / (len(ours) + len(theirs))}

        return in_order
    if "tree" in metric:
        from apted import APTED
        from apted.helpers import Tree

        def bracket(node: Any) -> str:
            return "{" + node["label"] + "".join(map(bracket, node["children"])) + "}"

        trees = [Tree.from_text(bracket(one[0])) for one in (gold, system)]
        return lambda: {"distance": APTED(*trees).compute_edit_distance()}
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    if "at_least" in metric:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        def cut_off() -> dict[str, float]:
            table = cdist(
                gold[0], system[0], scorer=Levenshtein.normalized_similarity, score_cutoff=0.9, dtype=np.float64
            )
            match = maximum_bipartite_matching(csr_array(table >= 0.9))
            return {"f1": 2 * float((match >= 0).sum()) / (len(gold[0]) + len(system[0]))}

        return cut_off

    if "N:1" not in metric:
        from scipy.optimize import linear_sum_assignment

        def solved() -> dict[str, float]:
            table = cdist(gold[0], system[0], scorer=Levenshtein.normalized_similarity, dtype=np.float64)
            total = float(table[linear_sum_assignment(table, maximize=True)].sum())
            return {"f1": 2 * total / (len(gold[0]) + len(system[0]))}

        return solved

    def best() -> dict[str, float]:
        table = cdist(gold[0], system[0], scorer=Levenshtein.normalized_similarity, dtype=np.float64)
        return {"f1": 2 * float(table.max(axis=0).sum()) / (len(gold[0]) + len(system[0]))}

    return best


def time(contender: str, shape: str, n: int, repeat: int) -> Measurement:
    return measure(f"benchmarks.shapes:{contender}", "benchmarks.shapes:make", repeat=repeat, shape=shape, n=n)


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print exponents and times beside floors; True if nothing broke and all figures agree."""
    broken = [*_growth(max(repeat, 2), quick), *_floors(max(repeat, 2), quick), *_memory(quick), *_commands(quick)]
    print("\n".join(broken))
    return not broken


def _growth(repeat: int, quick: bool) -> list[str]:
    table, broken = [["shape", "n", "seconds", "16 n", "seconds", "exponent"]], []
    for shape, (_, n, most, what) in SHAPES.items():
        n = n // 8 if quick else n
        small, large = (time("tallystick", shape, size, repeat) for size in (n, GROWTH * n))
        broken += [f"{shape}: {one.problem}" for one in (small, large) if one.problem]
        exponent = math.log(large.scoring / small.scoring) / math.log(GROWTH)
        table.append(
            [
                f"{shape}: {what}",
                f"{n:,}",
                f"{small.scoring:.4f}",
                f"{GROWTH * n:,}",
                f"{large.scoring:.3f}",
                f"{exponent:.2f}",
            ]
        )
        claim(f"{shape}, exponent from {n:,} to {GROWTH * n:,}", exponent, "", at_most=None if quick else most)
    show("shapes: how time grows", table)
    return broken


def _floors(repeat: int, quick: bool) -> list[str]:
    broken = []
    for shape, (n, times) in TIMES.items():
        n = n // 8 if quick else n
        ours, theirs = time("tallystick", shape, n, repeat), time("floor", shape, n, repeat)
        if theirs.missing:
            claim(f"{shape}, {n:,}", ours.scoring)
            continue
        broken += [f"{shape}: {one.problem}" for one in (ours, theirs) if one.problem]
        if (
            ours.value
            and theirs.value
            and "f1" in theirs.value
            and not math.isclose(ours.value["f1"], theirs.value["f1"], rel_tol=1e-9)
        ):
            broken.append(f"{shape}: {ours.value['f1']!r}, by the floor {theirs.value['f1']!r}")
        peer = "apted" if "tree" in SHAPES[shape][0] else "the floor"
        claim(f"{shape}, {n:,}", ours.scoring, against={peer: theirs.scoring}, times=None if quick else times)
    return broken


def _memory(quick: bool) -> list[str]:
    broken = []
    for shape, n, seconds, megabytes in (("a repetitive model", 20_000, 0.5, 200), ("one component", 100_000, 1, 200)):
        n = n // 8 if quick else n
        found = time("tallystick", shape, n, 1)
        broken += [f"{shape}: {found.problem}"] if found.problem else []
        claim(f"{shape}, {n:,}", found.scoring, at_most=None if quick else seconds)
        claim(f"{shape}, {n:,}, peak memory", found.peak / 1e6, "MB", at_most=None if quick else megabytes)
    return broken


COMMANDS = {"6 lines of an invoice": (6, 20_000), "2 texts": (2, 30_000)}
"""What `tallystick score records` is given, from start to exit: so many items in the reference, and so many predicted ones."""


def _commands(quick: bool) -> list[str]:
    """A model that repeats itself, from JSONL: .5 s and 200 MB each (issue 20, Must show 6)."""
    broken = []
    for name, (few, many) in COMMANDS.items():
        many = many // 8 if quick else many
        with tempfile.TemporaryDirectory(prefix="tallystick-bench-") as folder:
            paths, expected = _write_repetitive(Path(folder), few, many, lines="lines" in name)
            arguments = [str(paths[0]), str(paths[1]), "--schema", str(paths[2]), "--format", "json"]
            found = launch(["-m", "tallystick", "score", "records", *arguments])
        what = f"`score records`, {name} against {many:,}"
        if found.problem:
            broken.append(f"{what}: {found.problem}")
            continue
        f1 = json.loads(found.output)["metrics"]["records"]["f1"]
        if not math.isclose(f1, expected, rel_tol=1e-9):
            broken.append(f"{what}: {f1!r}, by hand {expected!r}")
        claim(what, found.cpu, at_most=None if quick else 0.5)
        claim(f"{what}, peak memory", found.peak, "MB", at_most=None if quick else 200)
    return broken


def _write_repetitive(folder: Path, few: int, many: int, lines: bool) -> tuple[list[Path], float]:
    """Both sides and a schema, and F1 by hand: an invoice's lines are compared by three fields, texts by their similarity alone."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist
    from scipy.optimize import linear_sum_assignment

    rng = random.Random(many)
    gold = [_text(rng) for _ in range(few)]
    texts = [gold, [_noisy(rng, rng.choice(gold)) for _ in range(many)]]
    total = cdist(*texts, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
    items: list[list[Any]] = [list(side) for side in texts]
    schema: dict[str, Any] = {"type": "string", "x-tallystick": {"text": "levenshtein"}}
    if lines:
        items = [[{"sku": rng.randrange(9), "text": one, "count": rng.randrange(5)} for one in side] for side in texts]
        for field in ("sku", "count"):
            ours, theirs = (np.array([one[field] for one in side]) for side in items)
            total += ours[:, None] == theirs
        whole = {"type": "integer"}
        schema = {"type": "object", "properties": {"sku": whole, "text": schema, "count": whole}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": schema}}}
    paths = [folder / name for name in ("gold.jsonl", "system.jsonl", "schema.json")]
    for path, content in zip(paths, ({"items": items[0]}, {"items": items[1]}, schema), strict=True):
        path.write_text(json.dumps(content) + "\n")
    best = float(total[linear_sum_assignment(total, maximize=True)].sum())
    return paths, 2 * best / (few + many) / (3 if lines else 1)


if __name__ == "__main__":
    run()
    print("\n".join(f"MISSED: {one}" for one in KEPT.claims if not one.held))

"""One pair: what a single call costs, in a loop over different documents, beside a scorer written by hand for that one purpose.

Every row is the median CPU time of a call in one process; the contenders take turns, document by document, so that a busy machine slows all
of them down alike. Figures have to be equal for every document.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.measure import claim, show
from benchmarks.relations import floor_by_hand, generate

TIMES_BY_HAND = 5
SCORER, REWARD = 0.25, 0.15
"""Milliseconds of a call of `scorer(reference, text)`, and of each of a batch of 64 rewards."""
BATCH = 64
Call = Callable[[Any, Any], float]


@dataclass
class Line:
    """A line of an invoice."""

    sku: str
    text: str
    quantity: int
    price: float


@dataclass
class Invoice:
    """An invoice of a few lines."""

    number: str
    vendor: str
    date: str
    total: float
    lines: list[Line]


HEAD, LINE = ("number", "vendor", "date", "total"), ("sku", "text", "quantity", "price")


def invoices(count: int, seed: int = 3) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Invoices of five lines as JSON has them, and predictions in which some values, and sometimes a line, are wrong."""
    rng, out = random.Random(seed), []
    for number in range(count):
        lines = [
            {"sku": f"s{rng.randrange(900)}", "text": f"part no {rng.randrange(40)}", "quantity": rng.randrange(1, 9),
             "price": rng.randrange(100, 9999) / 100}
            for _ in range(5)
        ]  # fmt: skip
        total = round(sum(one["quantity"] * one["price"] for one in lines), 2)
        gold = {
            "number": f"A-{number}",
            "vendor": f"Acme {number % 7}",
            "date": "2024-05-31",
            "total": total,
            "lines": lines,
        }
        guess = json.loads(json.dumps(gold))
        for one in guess["lines"]:
            if rng.random() < 0.2:
                one["price"] = 1.5
        rng.shuffle(guess["lines"])
        if rng.random() < 0.3:
            guess["lines"].pop()
        if rng.random() < 0.3:
            guess["vendor"] = "Acme"
        out.append((gold, guess))
    return out


def invoice_by_hand(reference: dict[str, Any], predicted: dict[str, Any]) -> float:
    """The share of values that are right, lines matched the best way."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    ours, theirs = reference["lines"], predicted["lines"]
    right = sum(reference[name] == predicted[name] for name in HEAD)
    table = np.array([[sum(a[name] == b[name] for name in LINE) for b in theirs] for a in ours])
    right += int(table[linear_sum_assignment(table, maximize=True)].sum())
    return 2 * right / (2 * len(HEAD) + len(LINE) * (len(ours) + len(theirs)))


def sentences(count: int, seed: int = 5) -> list[tuple[list[str], list[str]]]:
    """Sentences of twenty tokens with IOB2 tags."""
    rng, out = random.Random(seed), []
    for _ in range(count):
        gold: list[str] = []
        while len(gold) < 20:
            kind = rng.choice(("PER", "LOC", "ORG"))
            gold += ["O"] * rng.randrange(1, 5) + [f"B-{kind}"] + [f"I-{kind}"] * rng.randrange(3)
        guess = [tag.replace("PER", "ORG") if rng.random() < 0.1 and tag[0] == "B" else tag for tag in gold[:20]]
        follows = zip(guess, ["O", *guess], strict=False)
        guess = [f"B{tag[1:]}" if tag[0] == "I" and tag[1:] != before[1:] else tag for tag, before in follows]
        out.append((gold[:20], guess))
    return out


def sentence_by_hand(reference: list[str], predicted: list[str]) -> float:
    """F1 of segments."""
    ours, theirs = Counter(_segments(reference)), Counter(_segments(predicted))
    right = sum((ours & theirs).values())
    found, wanted = sum(theirs.values()), sum(ours.values())
    return 2 * right / (found + wanted) if found + wanted else 0.0


def _segments(tags: list[str]) -> list[tuple[str, int, int]]:
    out, kind, start = [], "", 0
    for place, tag in enumerate([*tags, "O"]):
        if kind and tag != f"I-{kind}":
            out.append((kind, start, place))
            kind = ""
        if tag[:2] == "B-":
            kind, start = tag[2:], place
    return out


GRAPH = """(s / say-01 :ARG0 (p / person :name (n / name :op1 "Ban" :op2 "Ki-moon")) :ARG1 (h / have-rel-role-91 :ARG0 (c / country
 :name (n2 / name :op1 "Iran")) :ARG1 (g / group :mod (i / international)) :ARG2 (m / member)) :time (d / date-entity :month 5
 :year {year}) :location (c2 / city :name (n3 / name :op1 "Geneva")))"""


def graphs(count: int) -> list[tuple[str, str]]:
    """Graphs of twelve variables, of which predictions have some wrong."""
    guess = GRAPH.replace("say-01", "state-01").replace("c2 / city", "c2 / country").replace("Ki-moon", "Kimoon")
    return [(GRAPH.format(year=year), guess.format(year=year + year % 2)) for year in range(1900, 1900 + count)]


def medians(
    pairs: Sequence[tuple[Any, Any]], calls: Mapping[str, Call], rounds: int = 3
) -> tuple[dict[str, float], str]:
    """The median milliseconds of a call, and whether all give the same figure for every pair."""
    times: dict[str, list[int]] = {name: [] for name in calls}
    agreement = "equal"
    for turn in range(rounds + 1):
        for reference, predicted in pairs:
            found = []
            for name, call in calls.items():
                begun = time.process_time_ns()
                found.append(call(reference, predicted))
                if turn:  # the first round loads and compiles
                    times[name].append(time.process_time_ns() - begun)
            if max(found) - min(found) > 1e-9:
                agreement = f"DIFFER: {dict(zip(calls, found, strict=True))} for {reference!r:.60}"
    return {name: median(one) / 1e6 for name, one in times.items()}, agreement


def contenders() -> dict[str, tuple[Callable[[int], Sequence[tuple[Any, Any]]], dict[str, Call]]]:
    """What is scored, and by whom: ours first, then the one that it is held against."""
    import tallystick as ts
    from benchmarks.relations import Relation
    from tallystick.tasks.spans.metrics import evaluate

    relations, records = ts.derive(list[Relation]), ts.derive(Invoice, credit="each")
    scorer = ts.scorer(Invoice)
    found: dict[str, tuple[Any, dict[str, Call]]] = {
        "10 relations, ts.evaluate": (
            lambda count: list(zip(*generate(count), strict=True)),
            {"tallystick": lambda x, y: ts.evaluate(relations, [x], [y]).f1 or 0.0,
             "by hand": lambda x, y: floor_by_hand([x], [y])["f1"],
             "metric(x, y)": relations},
        ),
        "an invoice of 5 lines, ts.evaluate": (
            invoices,
            {"tallystick": lambda x, y: ts.evaluate(records, [x], [y]).f1 or 0.0, "by hand": invoice_by_hand,
             "metric(x, y)": records},
        ),
        "a sentence of 20 tags, spans.evaluate": (
            sentences,
            {"tallystick": lambda x, y: evaluate([x], [y], ["segment"])["segment"].f1 or 0.0,
             "by hand": sentence_by_hand, **_seqeval()},
        ),
        "an invoice as text, scorer(reference, text)": (
            lambda count: [(x, json.dumps(y)) for x, y in invoices(count)],
            {"tallystick": scorer, "by hand": lambda x, y: invoice_by_hand(x, json.loads(y))},
        ),
    }  # fmt: skip
    smatch = _smatch()
    if smatch is not None:
        found["a pair of AMRs, ts.amr"] = (graphs, {"tallystick": lambda x, y: ts.amr([x], [y]).f1, "smatch": smatch})
    return found


def _seqeval() -> dict[str, Call]:
    try:
        from seqeval.metrics import f1_score
    except ModuleNotFoundError:
        return {}
    return {"seqeval": lambda x, y: float(f1_score([x], [y]))}


def _smatch() -> Call | None:
    """The best of smatch's four restarts, which is not always the optimum; of these graphs it is."""
    try:
        import smatch
    except ModuleNotFoundError:
        return None

    def score(reference: str, predicted: str) -> float:
        smatch.match_triple_dict.clear()
        matched, found, wanted = smatch.get_amr_match(predicted.replace("\n", ""), reference.replace("\n", ""))
        return float(smatch.compute_f(matched, found, wanted)[2])

    return score


def rewards(count: int) -> float:
    """The milliseconds of each of a batch of rewards."""
    import tallystick as ts

    pairs = [(x, json.dumps(y)) for x, y in invoices(BATCH)]
    references, texts = [x for x, _ in pairs], [y for _, y in pairs]
    times = []
    for _ in range(count + 1):
        begun = time.process_time_ns()
        ts.rewards(references, texts, type=Invoice)
        times.append(time.process_time_ns() - begun)
    return median(times[1:]) / BATCH / 1e6


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; False if figures differ."""
    count = 60 if quick else 300
    table = [["", "ms a call", "held against", "ms a call", "times", "others", "figures"]]
    fine, claims = True, []
    for what, (make, calls) in contenders().items():
        times, agreement = medians(make(count), calls, rounds=max(3, repeat))
        (_, mine), (other, theirs), *more = times.items()
        beside = ", ".join(f"{name} {one:.3f}" for name, one in more)
        table.append([what, f"{mine:.4f}", other, f"{theirs:.4f}", f"{mine / theirs:.1f}", beside, agreement])
        fine = fine and agreement == "equal"
        limit: dict[str, Any] = {"at_most": SCORER} if "scorer" in what else {"times": TIMES_BY_HAND}
        limit = {"times": 1} if other == "smatch" else limit
        claims.append((what, mine, {"against": {other: theirs}, **limit}))
    each = rewards(10 if quick else 40)
    table.append([f"one of {BATCH} rewards, ts.rewards", f"{each:.4f}", "", "", "", "", "-"])
    claims.append((f"one of {BATCH} rewards", each, {"at_most": REWARD}))
    show("One pair: the median CPU time of a call", table)
    for what, value, limits in claims:
        claim(what, value, "ms", **limits)
    return fine

"""A drop-in for `smatch`: `score_amr_pairs`, `get_amr_match` and `compute_f`, counted by the triples of `ts.amr`.

    from tallystick.adapters import smatch      # was: import smatch
    for precision, recall, f in smatch.score_amr_pairs(predicted_file, gold_file): ...

The order is smatch's: the prediction first. smatch climbs hills from random starts and reports the best map of variables that it came
across; here it is the proven optimum, the same in every run and never below smatch's. smatch also counts n equal triples against
m as n·m matches, so that a graph with itself can exceed 1, and drops what is left of the longer file; `strict=False` does both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from tallystick.adapters.seqeval import listed
from tallystick.errors import InputError, MetricError, SidesMismatch
from tallystick.files.source import Source
from tallystick.tasks.amr.files import Graph, read_graphs
from tallystick.tasks.amr.triples import INSTANCE, FactReader, Facts, preset, score_facts

single_score = True
"""Whether `score_amr_pairs` gives one score for all pairs, or one for each; smatch's own switch, to be set from outside."""
verbose = False
match_triple_dict: dict[Any, Any] = {}
"""Kept for scripts that clear it between two pairs."""


def compute_f(match_num: float, test_num: float, gold_num: float) -> tuple[float, float, float]:
    """Precision, recall and F1 from the matched triples and those of both sides.

    >>> from tallystick.adapters import smatch
    >>> smatch.compute_f(2, 4, 2)
    (0.5, 1.0, 0.6666666666666666)
    """
    if not test_num or not gold_num:
        return 0.0, 0.0, 0.0
    precision, recall = match_num / test_num, match_num / gold_num
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def get_amr_match(
    cur_amr1: str, cur_amr2: str, sent_num: int = 1, justinstance: bool = False, justattribute: bool = False,
    justrelation: bool = False, *, strict: bool = True,
) -> tuple[int, int, int]:  # fmt: skip
    """Of a predicted and a true graph: the most triples that match, the predicted and the true ones.

    >>> from tallystick.adapters import smatch
    >>> smatch.get_amr_match("(x / boy)", "(b / boy)")
    (2, 2, 2)
    """
    sides = [_graphs([text], f"<amr {sent_num}, {name}>") for text, name in ((cur_amr1, "test"), (cur_amr2, "gold"))]
    if [len(one) for one in sides] != [1, 1]:
        raise SidesMismatch(f"expected one graph on either side, found {len(sides[0])} and {len(sides[1])}")
    (found,) = _match([(sides[0][0], sides[1][0])], _kind(justinstance, justattribute, justrelation), strict)
    return found


def score_amr_pairs(
    f1: Iterable[str], f2: Iterable[str], justinstance: bool = False, justattribute: bool = False, justrelation: bool = False,
    *, strict: bool = True,
) -> Iterator[tuple[float, float, float]]:  # fmt: skip
    """Precision, recall and F1 of predicted and true graphs, paired by their order: one for all pairs, or one for each
    (`single_score`).

    >>> from io import StringIO
    >>> from tallystick.adapters import smatch
    >>> list(smatch.score_amr_pairs(StringIO("(x / boy)"), StringIO("(b / boy)")))
    [(1.0, 1.0, 1.0)]
    """
    kind = _kind(justinstance, justattribute, justrelation)
    predicted, gold = _graphs(f1, "f1"), _graphs(f2, "f2")
    if len(predicted) != len(gold) and strict:
        raise SidesMismatch(
            f"f1 has {len(predicted):,} graphs and f2 {len(gold):,}; smatch ignores the rest: strict=False does too"
        )
    pairs = [(p, g) for p, g in zip_longest(predicted, gold) if p is not None and g is not None]
    counts = _match(pairs, kind, strict)
    if single_score:
        yield compute_f(*(sum(one[k] for one in counts) for k in range(3)))
    else:
        yield from (compute_f(*one) for one in counts)


def _kind(justinstance: bool, justattribute: bool, justrelation: bool) -> str:
    chosen = [
        n for n, on in (("instance", justinstance), ("attribute", justattribute), ("relation", justrelation)) if on
    ]
    if len(chosen) > 1:
        raise MetricError(f"just{chosen[0]} and just{chosen[1]} exclude each other; give one")
    return chosen[0] if chosen else ""


def _graphs(lines: Iterable[str], name: str) -> list[Graph]:
    text = "\n".join(_line(line, name) for line in listed(lines, name, "lines of PENMAN, a list or an open file"))
    if not text.strip():
        raise InputError("holds no graphs", name)
    return list(read_graphs(Source.of_text(text, getattr(lines, "name", name)), "penman").graphs)


def _line(line: Any, name: str) -> str:
    if isinstance(line, bytes):
        try:
            line = line.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"is not UTF-8 ({error})", name) from None
    if not isinstance(line, str):
        raise MetricError(f"{name}: expected lines of PENMAN, found {type(line).__name__} {line!r:.60}")
    return line.rstrip("\n")


def _match(pairs: list[tuple[Graph, Graph]], kind: str, strict: bool) -> list[tuple[int, int, int]]:
    counting = preset("smatch", **({"duplicates": "multiset"} if strict else {}))
    read = FactReader(counting)
    predicted, gold = ([_only(read(pair[side]), kind) for pair in pairs] for side in (0, 1))
    found = score_facts(gold, predicted, counting.duplicates)
    return [
        (round(m), int(p), int(r))
        for m, p, r in zip(found.matched.tolist(), found.predicted, found.reference, strict=True)
    ]


def _only(facts: Facts, kind: str) -> Facts:
    """The triples of one kind: concepts, constants, or edges."""
    if not kind:
        return facts
    unary = [one for one in facts.unary if kind != "relation" and (one[1] == INSTANCE) == (kind == "instance")]
    free = facts.free if kind == "attribute" else type(facts.free)()
    return replace(facts, unary=unary, binary=facts.binary if kind == "relation" else [], free=free)

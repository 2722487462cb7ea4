"""What some of the verdicts give is a lower bound of what all of them give, for the figures that are said to be bounds."""

from fractions import Fraction
from itertools import combinations, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.judging.questions import Question, Verdict
from tallystick.structures.texts import EventArgument
from tallystick.tasks.arguments.metrics import ArgumentOptions, block_sums
from tallystick.tasks.arguments.stages import (
    BREAK_AGGREGATE,
    FIGURES,
    JUDGED,
    Block,
    Broken,
    Candidate,
    bounds_of,
    judge_blocks,
)

LABELS = ("Correct", "Partial", "Incorrect")


class Says:
    """Answers what it was given, by candidate, or by candidate and reference; None otherwise."""

    signature = "says"

    def __init__(self, asks, verdicts):
        self.asks, self.verdicts = asks, verdicts

    def judge(self, questions):
        return [
            self.verdicts.get((one.candidate, *(one.references if self.asks == "pairs" else ()))) for one in questions
        ]


def block_of(references, parts, right=0, wrong=0):
    """`parts` has the number of parts that each candidate was broken into, all of them open; so many others are right or wrong."""
    matched = [EventArgument("e", "r", f"m{k}", (k, k)) for k in range(right)]
    gold = [*matched, *(EventArgument("e", "r", f"r{k}") for k in range(references))]
    others = [EventArgument("e", "r", "", None) for _ in range(wrong)]
    block = Block.of(
        "e", "r", gold, [*matched, *others, *(EventArgument("e", "r", f"x{k}") for k in range(len(parts)))]
    )
    for k in range(right):
        (found,) = (one for one in block.open if one.text == f"m{k}")
        block.accept("exact", (k,), (found,))
    for whole in [one for one in block.open if one.text.startswith("x")]:
        n = parts[int(whole.text[1:])]
        if n > 1:
            pieces = tuple(Candidate(f"{whole.text}.{k}", None, whole.origin, Fraction(1, n)) for k in range(n))
            block.steps.append(Broken(BREAK_AGGREGATE, whole, pieces))
            at = block.open.index(whole)
            block.open[at : at + 1] = pieces
    return block


def ask(block, candidate):
    return Question(candidate.text, tuple(one.text for one in block.references))


def asked_of(asks, block):
    open_ = [one.text for one in block.open if one.text]
    return (
        [(one, f"r{k}") for one in open_ for k in range(references_of(block))]
        if asks == "pairs"
        else [(one,) for one in open_]
    )


def references_of(block):
    return len(block.free)


def sums(asks, options, shape, verdicts):
    block = block_of(*shape)
    judge_blocks([block], Says(asks, verdicts), ask, options.partial, options.counting)
    return block_sums(block, JUDGED, options)


def figures(found):
    num_p, den_p, num_r, den_r = found
    p, r = num_p / den_p if den_p else 0.0, num_r / den_r if den_r else 0.0
    return {"precision": p, "recall": r, "f1": 2 * p * r / (p + r) if p + r else 0.0}


@st.composite
def judged(draw, asks):
    """A block, and a verdict for everything that would be asked about it."""
    shape = (
        draw(st.integers(0, 4)), draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)), draw(st.integers(0, 12)),
        draw(st.integers(0, 3)),
    )  # fmt: skip
    verdicts = {}
    for key in asked_of(asks, block_of(*shape)):
        label = draw(st.sampled_from(LABELS))
        named = ()
        if asks == "all" and shape[0]:
            named = tuple(shape[2] + k for k in sorted(draw(st.sets(st.integers(0, shape[0] - 1)))))
        elif asks == "pairs":
            named = (0,)
        verdicts[key] = Verdict(label, named)
    return shape, verdicts


SETTINGS = list(product(("all", "pairs", "alone"), ("rewrite", "keep"), (0.0, 0.5, 1.0), (False, True)))


@pytest.mark.parametrize(("asks", "counting", "partial", "none"), SETTINGS)
def test_a_verdict_more_never_lowers_a_bound(asks, counting, partial, none):
    options = ArgumentOptions(counting=counting, partial=partial, none_credits_recall=none)

    @settings(max_examples=50)
    @given(judged(asks), st.data())
    def check(made, data):
        shape, verdicts = made
        if not verdicts:
            return
        key = data.draw(st.sampled_from(list(verdicts)))
        some = {one: verdict for one, verdict in verdicts.items() if one != key and data.draw(st.booleans())}
        before = figures(sums(asks, options, shape, some))
        after = figures(sums(asks, options, shape, {**some, key: verdicts[key]}))
        for name in bounds_of(asks, counting, partial):
            assert before[name] <= after[name] + 1e-12, (shape, some, key, verdicts[key])

    check()


@pytest.mark.parametrize(
    ("asks", "counting", "partial"), list(product(("all", "pairs"), ("rewrite", "keep"), (0.5, 1.0)))
)
def test_what_is_not_called_a_bound_can_fall(asks, counting, partial):
    """The table is tight: for each figure that it leaves out there are verdicts that lower it."""
    options = ArgumentOptions(counting=counting, partial=partial)
    fell = set()
    half, whole = (lambda *named: Verdict("Partial", named)), (lambda *named: Verdict("Correct", named))
    cases = [
        ("all", (3, [1], 20), {}, (("x0",), half(20, 21, 22))),
        ("all", (3, [1, 1, 1, 1]), {(f"x{k}",): half(k) for k in range(3)}, (("x3",), whole(0, 1, 2))),
        ("pairs", (1, [1, 3]), {("x0", "r0"): half(0)}, (("x1.0", "r0"), whole(0))),
    ]
    for how, shape, known, (key, verdict) in cases:
        if how == asks:
            before, after = (figures(sums(asks, options, shape, one)) for one in (known, {**known, key: verdict}))
            fell |= {name for name in FIGURES if after[name] < before[name] - 1e-9}
    assert fell == set(FIGURES) - set(bounds_of(asks, counting, partial))


def matchings(rows, columns):
    """Every way to pair some of the rows with some of the columns."""
    for n in range(min(len(rows), len(columns)) + 1):
        for some in combinations(rows, n):
            for others in permutations(columns, n):
                yield list(zip(some, others, strict=True))


@given(judged("pairs"))
def test_pairs_earn_the_most_that_any_matching_earns(made):
    shape, verdicts = made
    worth = {"Correct": 1.0, "Partial": 0.5, "Incorrect": 0.0}
    candidates = sorted({one for one, _ in verdicts})[:4]
    verdicts = {key: one for key, one in verdicts.items() if key[0] in candidates}
    found = sums("pairs", ArgumentOptions(partial=0.5), shape, verdicts)
    rows = [f"r{k}" for k in range(shape[0])]
    best = max(sum(worth[verdicts[c, r].label] for c, r in one) for one in matchings(candidates, rows))
    assert found[2] - shape[2] == best


@given(judged("all"))
def test_a_reference_earns_the_best_that_any_candidate_earns_for_it(made):
    shape, verdicts = made
    worth = {"Correct": 1.0, "Partial": 0.5, "Incorrect": 0.0}
    found = sums("all", ArgumentOptions(partial=0.5), shape, verdicts)
    best = {
        r: max((worth[one.label] for one in verdicts.values() if shape[2] + r in one.references), default=0)
        for r in range(shape[0])
    }
    assert found[2] - shape[2] == sum(best.values())


@pytest.mark.parametrize("partial", [0.5, 1.0])
def test_a_partial_candidate_does_not_take_what_a_correct_one_stands_for(partial):
    """x0 is right for both references; x1 is half right for the second, and would have taken it for a larger total."""
    both, second = {("x0",): Verdict("Correct", (0, 1))}, {("x1",): Verdict("Partial", (1,))}
    options = ArgumentOptions(partial=partial)
    assert sums("all", options, (2, [1, 1]), both).tolist() == [2, 3, 2, 2]
    assert sums("all", options, (2, [1, 1]), {**both, **second}).tolist() == [2, 3, 2, 2]


def test_what_is_correct_is_chosen_among_equal_totals():
    verdicts = {
        ("x0", "r0"): Verdict("Correct", (0,)), ("x0", "r1"): Verdict("Partial", (0,)), ("x1", "r0"): Verdict("Partial", (0,)),
    }  # fmt: skip
    block = block_of(2, [1, 1])
    judge_blocks([block], Says("pairs", verdicts), ask, 0.5)
    assert [(step.how, step.references) for step in block.steps] == [("correct", (0,))]


def test_what_is_partial_is_called_so_whatever_it_weighs():
    block = block_of(2, [1, 1, 1])
    said = {("x0",): Verdict("Correct", (0,)), ("x1",): Verdict("Partial", (0, 1)), ("x2",): Verdict("Partial")}
    judge_blocks([block], Says("all", said), ask, 1.0)
    assert [(step.how, step.references) for step in block.steps] == [
        ("correct", (0,)), ("partial", (1,)), ("partial, no reference", ())
    ]  # fmt: skip
    options = ArgumentOptions(partial=1.0, none_credits_recall=True)
    assert block_sums(block, JUDGED, options).tolist() == [3, 3, 2, 2]  # half an argument the reference does not lack

"""The three questions and their labels, and the agreement of two judges."""

import pytest

from tallystick.errors import InputError
from tallystick.judging import Answers, Verdict, agreement, kappa


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        (Answers(False), "Incorrect"),
        (Answers(True, (0,), "conveys"), "Correct"),
        (Answers(True, (), "different"), "Correct"),
        (Answers(True, (0,), "removes"), "Partial"),
        (Answers(True, (0,), "adds"), "Incorrect"),
    ],
)
def test_labels_follow_from_the_answers(answers, label):
    assert answers.verdict().label == label


def test_several_references_are_kept():
    assert Answers(True, (0, 2), "conveys").verdict() == Verdict("Correct", (0, 2))


def test_yes_needs_a_relation_and_no_has_none():
    with pytest.raises(InputError, match="question 3 needs one of"):
        Answers(True)
    with pytest.raises(InputError, match="questions 2 and 3 are not asked"):
        Answers(False, (0,))


def test_a_label_is_one_of_three():
    with pytest.raises(InputError, match=r"found 'correct'\. Did you mean \"Correct\""):
        Verdict("correct")


def test_kappa_of_a_worked_example():
    # 50 items: 20 yes/yes, 15 no/no, 5 and 10 apart. p_o = .7, p_e = .5 * .6 + .5 * .4 = .5, kappa = .4.
    assert kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)


def test_kappa_is_undefined_where_nothing_varies():
    assert kappa([[7, 0], [0, 0]]) is None
    assert kappa([[0, 0], [0, 0]]) is None


def test_agreement_counts_what_both_answered_and_merges_partial():
    first = {1: "Correct", 2: "Partial", 3: "Incorrect", 4: "Incorrect", 5: "Correct"}
    second = {1: "Correct", 2: "Incorrect", 3: "Incorrect", 4: "Correct", 6: "Correct"}
    both = agreement(first, second)
    assert both.n == 4
    assert both.observed == 0.5
    # three labels: p_o = 2/4, p_e = (1*2 + 1*0 + 2*2)/16 = 6/16; two: p_o = 3/4, p_e = (1*2 + 3*2)/16 = 8/16
    assert both.kappa_3 == pytest.approx((0.5 - 0.375) / (1 - 0.375))
    assert both.kappa_2 == pytest.approx(0.5)


def test_kappa_is_scikit_learn_s():
    metrics = pytest.importorskip("sklearn.metrics")
    import random

    drawn = random.Random(3)
    labels = ("Correct", "Partial", "Incorrect")
    first = {k: drawn.choice(labels) for k in range(100)}
    second = {k: first[k] if drawn.random() < 0.6 else drawn.choice(labels) for k in range(100)}
    expected = metrics.cohen_kappa_score(list(first.values()), list(second.values()))
    assert agreement(first, second).kappa_3 == pytest.approx(expected, abs=1e-12)

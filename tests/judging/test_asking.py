"""The keys of Figure 2, and when an answer is whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.judging import Answers, Question
from tallystick.judging.desk import Sheet, question_texts, reference_keys, summary

ONE = Question("Lazar", ("he",), trigger="extradited", role="defendant")


def press(question, keys):
    sheet = Sheet.of(question)
    for key in keys:
        sheet = sheet.press(key) or sheet
    return sheet


@pytest.mark.parametrize(
    ("keys", "label", "references"),
    [
        ("2", "Incorrect", ()),
        ("173", "Correct", (0,)),
        ("184", "Correct", ()),
        ("175", "Partial", (0,)),
        ("176", "Incorrect", (0,)),
        ("731", "", ()),  # 7 and 3 mean nothing before yes
        ("1732", "Incorrect", ()),  # no at the end: what was chosen before does not count
        ("17387", "Correct", (0,)),
        ("17737", "Correct", (0,)),  # chosen, taken back, chosen
    ],
)
def test_keys_of_figure_2(keys, label, references):
    sheet = press(ONE, keys)
    if not label:
        assert sheet.missing == "question 2 and question 3"
        return
    assert sheet.missing == ""
    assert (sheet.answers().verdict().label, sheet.answers().verdict().references) == (label, references)


def test_a_reference_pressed_twice_leaves_the_question_open():
    """Which is not the answer "none of them"."""
    assert press(ONE, "1737").missing == "question 2"
    assert press(Question("both", ("a", "b")), "17973").answers() == Answers(True, (1,), "conveys")


def test_a_key_that_means_nothing_changes_nothing():
    blank = Sheet.of(ONE)
    assert [blank.press(key) for key in ("x", "x", "3", "7", "8", "\x1b[15~", "")] == [None] * 7
    assert blank.refusal("x") == "'x' does nothing here; the keys are shown beside the answers."
    assert blank.refusal("3") == blank.refusal("7") == blank.refusal("8") == "Question 1 comes first: 1 yes, 2 no."
    assert blank.refusal("\x1b[15~").startswith("That key does nothing here")
    assert press(ONE, "1xx7xx3xx").answers() == Answers(True, (0,), "conveys")


def test_what_is_missing_is_said():
    assert [press(ONE, keys).missing for keys in ("", "1", "17", "13", "2")] == [
        "question 1", "question 2 and question 3", "question 3", "question 2", "",
    ]  # fmt: skip


def test_more_references_have_more_keys_and_eight_is_none():
    keys = reference_keys(30)
    assert keys[:4] == ["7", "9", "0", "a"]
    assert not set(keys) & set("123456 8bnqrs".replace(" ", ""))
    assert keys[-1] == ""  # more references than keys: by hand
    question = Question("both", ("a", "b", "c"))
    assert press(question, "179c3").answers() == Answers(True, (0, 1), "conveys")
    assert press(question, "1798a3").answers() == Answers(True, (), "conveys")


def test_without_references_question_2_is_not_asked():
    assert press(Question("x"), "13").answers() == Answers(True, (), "conveys")


@given(st.text("123456789", max_size=8), st.integers(0, 3))
def test_a_whole_sheet_can_be_answered_and_opened_again(keys, n):
    question = Question("x", tuple("abc"[:n]))
    sheet = press(question, keys)
    if sheet.missing:
        return
    answers = sheet.answers()
    assert Sheet.of(question, answers).answers() == answers


def test_the_wording():
    assert question_texts(ONE)[0] == "Is “Lazar” a valid answer to: who or what is the defendant of “extradited”?"
    assert question_texts(Question("MAIDS", ("THE MAIDS",)))[0] == (
        "Is “MAIDS” an acceptable answer where the reference is “THE MAIDS”?"
    )
    assert summary(Answers(True, (0,), "removes"), ONE) == "valid; the same as “he”; removes important details"
    assert summary(Answers(False), ONE) == "not valid"

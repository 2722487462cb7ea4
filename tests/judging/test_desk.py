"""People at one store: own queues, nothing seen before both have answered."""

import pytest
from sample import QUESTIONS

from tallystick.errors import InputError
from tallystick.judging import Answers, Judgement, Store, Verdict
from tallystick.judging.agreement import Panel
from tallystick.judging.desk import Desk

YES, NO = Answers(True, (0,), "conveys"), Answers(False)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "j.sqlite") as made:
        made.add_questions(QUESTIONS)
        yield made


def test_each_goes_on_at_the_own_first_open_question(store):
    anna, ben = Desk(store, " anna "), Desk(store, "ben")
    anna.answer(QUESTIONS[0], YES)
    anna.answer(QUESTIONS[2], NO)
    assert anna.name == "anna"
    assert (anna.next_open(0), anna.next_open(2), ben.next_open(0)) == (1, 3, 0)
    for question in QUESTIONS:
        ben.answer(question, NO)
    assert ben.next_open(0) is None


def test_going_on_comes_round_to_what_was_skipped(store):
    anna = Desk(store, "anna")
    for question in QUESTIONS[3:]:
        anna.answer(question, YES)
    assert anna.next_open(len(QUESTIONS)) == 0


def test_the_other_s_answer_is_shown_once_both_have_answered(store):
    anna, ben = Desk(store, "anna"), Desk(store, "ben")
    anna.answer(QUESTIONS[0], YES)
    assert ben.others(QUESTIONS[0].key) == []
    assert ben.differences("anna") == []
    ben.answer(QUESTIONS[0], NO, "a remark")
    assert [one.judge for one in ben.others(QUESTIONS[0].key)] == ["anna"]
    (found,) = anna.differences("ben")
    assert (found.place, found.second.verdict) == (0, Verdict("Incorrect", (), "a remark"))
    assert [(one.second, one.n) for one in anna.agreements()] == [("ben", 1)]


def test_an_answer_changed_after_seeing_the_other_s_is_marked(store):
    anna, ben = Desk(store, "anna"), Desk(store, "ben")
    anna.answer(QUESTIONS[0], YES)
    anna.answer(QUESTIONS[0], NO)  # of her own: nobody else had answered
    assert anna.own(QUESTIONS[0].key).details == {}
    ben.answer(QUESTIONS[0], YES)
    anna.answer(QUESTIONS[0], YES)
    anna.answer(QUESTIONS[0], Answers(True, (0,), "removes"))
    assert anna.own(QUESTIONS[0].key).details == {"independent": "Incorrect"}
    panel = Panel(store)
    assert panel.notes([panel.between("anna", "ben")])[0].startswith("1 answer changed after")


def test_models_are_no_colleagues(store):
    store.add(Judgement(QUESTIONS[0], "gpt", Verdict("Incorrect"), "expert"), kind="model")
    anna = Desk(store, "anna")
    anna.answer(QUESTIONS[0], YES)
    assert anna.colleagues() == []
    with pytest.raises(InputError, match="'gpt' is the name of a judge of another kind here"):
        Desk(store, "gpt")


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\x1bb"])
def test_a_name_is_needed(store, name):
    with pytest.raises(InputError, match="a name of 1 to 80 characters"):
        Desk(store, name)


def test_a_reference_that_is_not_there_is_an_error(store):
    with pytest.raises(InputError, match="question 2 names reference 3; there are 1"):
        Desk(store, "anna").answer(QUESTIONS[0], Answers(True, (2,), "conveys"))

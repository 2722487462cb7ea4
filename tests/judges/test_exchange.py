"""Questions and judgements out of a store and into another, as JSON Lines."""

import json

import pytest
from sample import QUESTIONS

from tallystick.errors import InputError
from tallystick.judges import Answers, Judgement, Question, Store, Verdict
from tallystick.judges.exchange import judgement_line, keep, question_line, read_lines


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "j.sqlite") as made:
        made.add_questions(QUESTIONS)
        yield made


def written(tmp_path, *rows):
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_questions_come_back_as_they_were(tmp_path):
    path = written(tmp_path, *map(question_line, [*QUESTIONS, Question("a", ("b",)), Question("a")]))
    assert read_lines(path).questions == [*QUESTIONS, Question("a", ("b",)), Question("a")]


def test_judgements_come_back_as_they_were(tmp_path, store):
    given = [
        (
            Judgement(
                QUESTIONS[0], "anna", Verdict("Correct", (0,), "why not"), answers=Answers(True, (0,), "conveys")
            ),
            "person",
        ),
        (Judgement(QUESTIONS[1], "anna", Verdict("Incorrect"), answers=Answers(False)), "person"),
        (Judgement(QUESTIONS[1], "gpt", Verdict("Partial", (0,)), "expert", details={"served": "x"}), "model"),
    ]
    for one, kind in given:
        store.add(one, kind)
    kinds = {name: kind for name, (kind, _) in store.judges().items()}
    path = written(tmp_path, *(judgement_line(one, kinds[one.judge]) for one in store.judgements()))
    with Store(tmp_path / "other.sqlite") as other:
        assert keep(other, read_lines(path, other)).judgements == 3
        assert other.judgements() == store.judgements()
        assert other.judges() == store.judges()
        again = keep(other, read_lines(path, other))
        assert (again.judgements, again.replaced, again.same) == (0, 0, 3)


def test_a_line_with_a_label_is_judged_and_a_key_is_enough(tmp_path, store):
    path = written(
        tmp_path,
        {"key": QUESTIONS[0].key, "label": "Correct", "same_as": [0]},
        {
            **json.loads(question_line(QUESTIONS[1])),
            "judge": "ben",
            "valid": True,
            "relation": "removes",
            "same_as": [0],
        },
        {"reference": "THE MAIDS", "candidate": "MAIDS"},
    )
    taken = read_lines(path, store, "anna")
    assert keep(store, taken).questions == 1
    assert store.verdict(QUESTIONS[0], "anna") == Verdict("Correct", (0,))
    assert store.verdict(QUESTIONS[1], "ben") == Verdict("Partial", (0,))
    assert store.questions()[-1] == Question("MAIDS", ("THE MAIDS",))


def test_an_answer_that_is_replaced_is_counted(tmp_path, store):
    store.add(Judgement(QUESTIONS[0], "anna", Verdict("Incorrect")))
    path = written(tmp_path, {"key": QUESTIONS[0].key, "judge": "anna", "label": "Correct", "same_as": [0]})
    assert keep(store, read_lines(path, store)).replaced == 1


ONE = {"candidate": "a", "references": ["b"]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", r"lines.jsonl:2: not JSON"),
        ("[1]", r"lines.jsonl:2: expected an object"),
        ({"candidat": "a"}, r'no field \'candidat\'.*Did you mean "candidate"'),
        ({"label": "Correct"}, "expected a question"),
        ({"key": "x", "label": "Correct"}, "the store knows no question 'x'"),
        ({**ONE, "key": "x"}, "it was changed"),
        ({**ONE, "label": "Correct"}, "needs `judge`"),
        ({**ONE, "judge": "a", "label": "correct"}, 'Did you mean "Correct"'),
        ({**ONE, "judge": "a", "label": "Correct", "same_as": [1]}, "same_as: no reference 1; there are 1"),
        ({**ONE, "judge": "a", "valid": True}, "question 3 needs one of"),
        ({**ONE, "judge": "a", "valid": False, "label": "Correct"}, "lead to Incorrect, but the label is 'Correct'"),
        ({**ONE, "judge": "a", "valid": "yes"}, "expected true or false"),
        ({**ONE, "judge": "a", "relation": "adds", "label": "Incorrect"}, "`relation` without `valid`"),
        ({"candidate": "a", "references": "b"}, "a list of texts as references"),
        ({"candidate": 1}, "expected texts"),
        ({"candidate": " "}, "the candidate is empty"),
        ({**ONE, "reference": "b"}, "one of them is enough"),
        ({**ONE, "candidate_span": [0, 5]}, "lies outside of the document"),
        ({**ONE, "candidate_span": "x"}, "not a question or a judgement"),
        ({**ONE, "reference_spans": [None, None]}, "1 references, but 2 spans"),
    ],
)
def test_a_bad_line_is_named(tmp_path, store, row, said):
    path = written(tmp_path, ONE, row)
    with pytest.raises(InputError, match=said) as error:
        keep(store, read_lines(path, store))
    assert str(error.value).startswith(f"{path}:2: ")


def test_a_name_cannot_be_a_model_and_a_person(tmp_path, store):
    store.add(Judgement(QUESTIONS[0], "gpt", Verdict("Incorrect"), "v"), "model")
    path = written(tmp_path, {**ONE, "judge": "gpt", "label": "Correct", "same_as": [0]})
    with pytest.raises(InputError, match=r"'gpt' is a model in .*, and a person in what is to be imported"):
        keep(store, read_lines(path, store))

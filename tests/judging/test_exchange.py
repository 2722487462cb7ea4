"""Questions and judgements out of a store and into another, as JSON Lines."""

import json
from dataclasses import replace

import pytest
from sample import QUESTIONS

from tallystick.errors import InputError
from tallystick.judging import Answers, Judgement, Question, Store, Verdict
from tallystick.judging.exchange import ImportedData, import_data, judgement_line, question_line, read_lines
from tallystick.judging.questions import check_name
from tallystick.judging.recorded import Recorded


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
    store.add_judge("anna", experience=2)
    known = store.judges()
    path = written(tmp_path, *(judgement_line(one, *known[one.judge]) for one in store.judgements()))
    with Store(tmp_path / "other.sqlite") as other:
        done = import_data(other, read_lines(path, other))
        assert (done.judgements, done.marked) == (3, ("anna",))
        assert other.judgements() == store.judgements()
        assert other.judges() == store.judges()
        again = import_data(other, read_lines(path, other))
        assert (again.judgements, again.replaced, again.same, again.marked) == (0, 0, 3, ())


def test_a_dump_into_another_store_keeps_who_decides(tmp_path, store):
    store.add(Judgement(QUESTIONS[0], "anna", Verdict("Correct", (0,))))
    store.add(Judgement(QUESTIONS[0], "ben", Verdict("Incorrect")))
    store.add_judge("ben", experience=1)
    known = store.judges()
    path = written(tmp_path, *(judgement_line(one, *known[one.judge]) for one in store.judgements()))
    with Store(tmp_path / "other.sqlite") as other:
        import_data(other, read_lines(path, other))
        assert Recorded(other).judge(QUESTIONS[:1]) == Recorded(store).judge(QUESTIONS[:1]) == [Verdict("Incorrect")]


@pytest.mark.parametrize("marks", [[1, 2], [1.5], ["1"], [True], [10**30]])
def test_experience_that_is_none(tmp_path, store, marks):
    rows = [
        {"key": QUESTIONS[k].key, "label": "Correct", "judge": "anna", "experience": m} for k, m in enumerate(marks)
    ]
    with pytest.raises(InputError, match=rf"lines.jsonl:{len(marks)}: (experience|Number)"):
        import_data(store, read_lines(written(tmp_path, *rows), store))


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
    assert import_data(store, taken).questions == 1
    assert store.verdict(QUESTIONS[0], "anna") == Verdict("Correct", (0,))
    assert store.verdict(QUESTIONS[1], "ben") == Verdict("Partial", (0,))
    assert store.questions()[-1] == Question("MAIDS", ("THE MAIDS",))


def test_an_answer_that_is_replaced_is_counted(tmp_path, store):
    store.add(Judgement(QUESTIONS[0], "anna", Verdict("Incorrect")))
    path = written(tmp_path, {"key": QUESTIONS[0].key, "judge": "anna", "label": "Correct", "same_as": [0]})
    assert import_data(store, read_lines(path, store)).replaced == 1


ONE = {"candidate": "a", "references": ["b"]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", r"lines.jsonl:2:2: is not JSON"),
        ("[1]", r"lines.jsonl:2: expected an object"),
        ({"candidat": "a"}, r'no field \'candidat\'.*Did you mean "candidate"'),
        ({"label": "Correct"}, "expected a question"),
        ({"key": "x", "label": "Correct"}, "the store has no question 'x'"),
        ({**ONE, "key": "x"}, "the question was changed"),
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
        ({**ONE, "candidate_span": [0, 5]}, "lies outside the document"),
        ({**ONE, "candidate_span": "x"}, "not a question or a judgement"),
        ({**ONE, "reference_spans": [None, None]}, "1 references, but 2 spans"),
        ({**ONE, "judge": "a", "relation": "conveys"}, "has `relation`, but neither `label` nor `valid`"),
        ({**ONE, "judge": "a", "same_as": [0]}, "has `same_as`, but neither `label` nor `valid`"),
        ({**ONE, "judge": "a", "label": "Correct", "same_as": 0}, "same_as: expected a list of numbers, found 0"),
        ({**ONE, "judge": "a", "label": "Correct", "same_as": [False]}, "same_as: no reference False"),
        ({**ONE, "judge": "a", "label": "Correct", "details": [1]}, r"details: expected an object, found \[1\]"),
        ({**ONE, "judge": "a", "label": "Correct", "version": 5}, "version: expected a text, found 5"),
        ({**ONE, "judge": "a", "label": "Correct", "kind": "robot"}, "one of person, model, embedding, found 'robot'"),
    ],
)
def test_a_bad_line_is_named(tmp_path, store, row, said):
    path = written(tmp_path, ONE, row)
    with pytest.raises(InputError, match=said) as error:
        import_data(store, read_lines(path, store))
    assert str(error.value).startswith(f"{path}:2:")


def test_a_name_cannot_be_a_model_and_a_person(tmp_path, store):
    store.add(Judgement(QUESTIONS[0], "gpt", Verdict("Incorrect"), "v"), "model")
    path = written(tmp_path, {**ONE, "judge": "gpt", "label": "Correct", "same_as": [0]})
    with pytest.raises(InputError, match=r"'gpt' is a model in .*, and a person in the file"):
        import_data(store, read_lines(path, store))


def test_a_name_that_is_both_in_one_file_changes_nothing(tmp_path, store):
    judged = {"judge": "cat", "label": "Correct"}
    path = written(tmp_path, {"candidate": "new"}, {**ONE, **judged}, {"candidate": "c", "kind": "model", **judged})
    before = store.queue()
    with pytest.raises(InputError, match=r"'cat' is a person in .*, or in a line before, and a model"):
        import_data(store, read_lines(path, store))
    assert (store.queue(), store.judges()) == (before, {})


def test_an_answer_that_comes_twice_in_a_file_is_new_once(tmp_path, store):
    rows = [{**ONE, "judge": "ben", "label": label} for label in ("Correct", "Incorrect", "Incorrect")]
    done = import_data(store, read_lines(written(tmp_path, *rows), store))
    assert (done.judgements, done.replaced, done.same) == (1, 1, 1)
    assert store.judgements("ben")[0].verdict.label == "Incorrect"


@pytest.mark.parametrize("separator", "\u2028\u2029\x85\x0b\x0c\x1c\r")
def test_what_unicode_calls_the_end_of_a_line_stays_in_its_text(tmp_path, separator):
    question = Question(f"a{separator}b", (f"b{separator}",), f"a{separator}b c")
    assert read_lines(written(tmp_path, question_line(question), ONE)).questions[0] == question


def test_half_a_character_is_an_error(tmp_path, store):
    path = written(tmp_path, {**ONE, "candidate": "Homs\ud800"})
    with pytest.raises(InputError, match=r"half of a surrogate pair"):
        import_data(store, read_lines(path, store))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("an\nna", "the name of a judge must be one line without control characters, found 'an\\\\nna'"),
        ("x" * 81, "the name of a person has at most 80 characters, found 81: 'xxx"),
        (" anna", "must not start or end with a blank, nor have two in a row; found ' anna'"),
        ("anna  b", "nor have two in a row"),
        ("", "needs `judge`, the name of the judge"),
        ("\u202eanna", "one line without control characters"),
    ],
)
def test_what_cannot_be_the_name_of_a_judge(store, tmp_path, name, said):
    line = json.dumps({"candidate": "a", "reference": "b", "label": "Correct", "judge": name})
    (tmp_path / "j.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"j.jsonl:2: .*{said}"):
        read_lines(tmp_path / "j.jsonl", store)


def test_a_model_may_have_a_long_name():
    assert check_name("m" * 300, "model") == "m" * 300
    with pytest.raises(InputError, match="the name of a model has at most 300 characters, found 301"):
        check_name("m" * 301, "model")


def test_an_import_is_taken_as_a_whole_or_not_at_all(store):
    questions, before = [Question("new", ("b",))], store.questions()
    fine, broken = (
        Judgement(Question(c, ("b",)), "anna", Verdict("Correct", (), why)) for c, why in (("a", ""), ("c", "\ud800"))
    )
    with pytest.raises(InputError, match="nothing was changed"):
        import_data(store, ImportedData(questions, [(fine, "person"), (broken, "person")]))
    assert store.questions() == before
    with pytest.raises(InputError, match="control characters"):
        import_data(store, ImportedData(questions, [(replace(fine, judge="a\tb"), "person")]))
    assert store.questions() == before

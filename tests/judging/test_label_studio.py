"""Label Studio: what is written for it, and what comes back.

The exports were made by Label Studio 1.23.2 from the project that `write_project` writes for the questions of `sample.py`:
six annotated in its page with the keys of Figure 2, three by its API, of which one is cancelled and one lacks question 3.
"""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from sample import QUESTIONS

from tallystick.errors import InputError
from tallystick.judging import Answers, Question, Store
from tallystick.judging.exchange import (
    choices,
    configuration,
    document_html,
    read_annotators,
    read_export,
    task,
    write_project,
)

HERE = Path(__file__).parent
EXPECTED = [
    Answers(True, (0,), "conveys"), Answers(False), Answers(True, (0,), "removes"), Answers(True, (), "different"),
    Answers(True, (0,), "adds"), Answers(True, (0, 1), "conveys"), Answers(True, (0,), "removes"),
]  # fmt: skip


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "j.sqlite") as made:
        made.add_questions(QUESTIONS)
        yield made


def test_the_tasks_are_those_that_the_recorded_project_was_made_of(tmp_path):
    """What was validated by Label Studio itself is what is written today."""
    assert write_project(tmp_path / "project", QUESTIONS) == 12
    tasks = json.loads((tmp_path / "project" / "tasks.json").read_text(encoding="utf-8"))
    recorded = json.loads((HERE / "label_studio_export.json").read_text(encoding="utf-8"))
    assert [one["data"] for one in recorded] == [one["data"] for one in tasks[: len(recorded)]]


def test_the_configuration_has_the_keys_of_figure_2():
    root = ElementTree.fromstring(configuration())
    keys = {choice.get("hotkey"): choice.get("value") for choice in root.iter("Choice")}
    assert keys == {
        "1": "Yes", "2": "No", "3": "Conveys at least the needed information",
        "4": "Entirely different from the reference, but correct", "5": "Removes important details",
        "6": "Adds spurious content",
    }  # fmt: skip
    named = {tag.get("name") for tag in root.iter() if tag.get("name")}
    assert named == {"document", "valid", "same_as", "relation", "remark"}
    used = {tag.get("value")[1:] for tag in root.iter() if (tag.get("value") or "").startswith("$")}
    assert used <= task(QUESTIONS[0])["data"].keys()


def test_label_studio_s_own_library_accepts_it():
    interface = pytest.importorskip("label_studio_sdk.label_interface", reason="label-studio-sdk is not installed")
    found = interface.LabelInterface(configuration())
    found.validate()
    assert all(found.validate_task(task(question)) for question in QUESTIONS)


def test_the_export_comes_back_as_judgements(store):
    taken = read_export(HERE / "label_studio_export.json", store)
    assert [one.answers for one, _ in taken.judgements] == EXPECTED
    assert [one.question for one, _ in taken.judgements] == QUESTIONS[:7]
    assert {one.judge for one, _ in taken.judgements} == {"label-studio 1"}
    assert taken.judgements[6][0].verdict.explanation == "not all of them?"
    assert taken.judgements[0][0].when.startswith("2026-")
    assert taken.left_out == [
        "task 8: label-studio 1 skipped it", "task 9: label-studio 1 left question 3 open",
    ]  # fmt: skip


def test_the_short_export_comes_back_as_the_same(store):
    taken = read_export(HERE / "label_studio_export_min.json", store)
    assert [one.answers for one, _ in taken.judgements] == EXPECTED
    assert taken.judgements[6][0].verdict.explanation == "not all of them?"
    assert taken.left_out == ["task 9: label-studio 1 left question 3 open"]  # what was skipped is not in it at all


def test_markup_in_a_text_is_escaped():
    nasty = '<img src=x onerror="alert(1)"> & </div>'
    html = document_html(Question(nasty, (nasty,), f"A {nasty} text", trigger="none"))
    assert "<img" not in html
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; &lt;/div&gt;" in html


def test_choices_differ_and_a_dollar_sign_stays():
    """Label Studio would put a task's data in the place of $5."""
    assert choices(Question("x", ("he", "he", "$5"))) == ["Yes, he", "Yes, he (2)", "Yes, $\u20605", "No"]


def annotation(*results, **more):
    return [{"id": 7, "data": {"key": QUESTIONS[5].key}, "annotations": [{"completed_by": {"email": "a@b.c"}, "result": [
        {"from_name": name, "value": {"choices": list(values)}} for name, *values in results
    ], **more}]}]  # fmt: skip


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ([], "left question 1 open"),
        ([("valid", "Yes"), ("relation", "Adds spurious content")], "left question 2 open"),
        (
            [("valid", "Yes"), ("same_as", "Yes, she", "No"), ("relation", "Adds spurious content")],
            "a reference and none of them",
        ),
        (
            [("valid", "Yes"), ("same_as", "Yes, him"), ("relation", "Adds spurious content")],
            "chose 'Yes, him' at question 2",
        ),
    ],
)
def test_what_is_no_answer_is_left_out_and_said(tmp_path, store, results, reason):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(annotation(*results)))
    taken = read_export(path, store)
    assert taken.judgements == []
    assert taken.left_out[0].startswith("task 7: a@b.c ")
    assert reason in taken.left_out[0]


def test_a_task_of_another_store_is_an_error(tmp_path):
    with (
        Store(tmp_path / "other.sqlite") as store,
        pytest.raises(InputError, match=r"task 1: its question .* is not in"),
    ):
        read_export(HERE / "label_studio_export.json", store)


@pytest.mark.parametrize("content", ["[1]", '[{"id": 1}]', "[", '[{"data": 5}]'])
def test_what_is_no_export_is_an_error(tmp_path, store, content):
    (tmp_path / "export.json").write_text(content)
    with pytest.raises(InputError, match=r"export\.json:"):
        read_export(tmp_path / "export.json", store)


def test_names_of_annotators():
    assert read_annotators(["1=anna", "b@c.d=ben"]) == {"label-studio 1": "anna", "b@c.d": "ben"}
    with pytest.raises(InputError, match="expects ID=NAME"):
        read_annotators(["anna"])

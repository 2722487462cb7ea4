"""Labels that look the same and are not: a warning, and figures as they are."""

import json

import pytest

import running
import tallystick as ts
from tallystick.tasks.lookalikes import lookalikes, said_of_lookalikes


@pytest.mark.parametrize(
    ("reference", "predicted", "found"),
    [
        ({"PER", "LOC"}, {"PER ", "LOC"}, [("PER ", "PER", "white space")]),
        ({"PER"}, {"per"}, [("per", "PER", "case")]),
        ({"caf\u00e9"}, {"cafe\u0301"}, [("cafe\u0301", "caf\u00e9", "Unicode form")]),
        ({"PER"}, {" per"}, [(" per", "PER", "white space and case")]),
        ({"CAF\u00c9"}, {"cafe\u0301\u200b"}, [("cafe\u0301\u200b", "CAF\u00c9", "white space and case and Unicode form")]),
        ({"place of birth"}, {"place\u00a0of birth"}, [("place\u00a0of birth", "place of birth", "white space")]),
        ({"PER", "per"}, {"PER", "per"}, []),
        ({"PER", "PER "}, {"PER "}, []),
        ({"PER "}, {"LOC"}, []),
        ({"PER"}, set(), []),
        (set(), {"PER"}, []),
        ({"PER", "ORG"}, {"Per", "org"}, [("Per", "PER", "case"), ("org", "ORG", "case")]),
    ],
)  # fmt: skip
def test_what_looks_the_same(reference, predicted, found):
    assert list(lookalikes(reference, predicted)) == found


def test_the_message():
    (said,) = said_of_lookalikes({"tag": (["PER"], ["PER "])})
    assert said == (
        "the tag 'PER ' occurs only in the prediction and differs from the reference's 'PER' only in white space; it is another tag"
    )
    (said,) = said_of_lookalikes({"tag": ("ABCDEF", "abcdef")})
    assert said.endswith(" (5 more like this: 'b' for 'B', 'c' for 'C', 'd' for 'D', ...)")
    (said,) = said_of_lookalikes({"role": (["caf\u00e9"], ["cafe\u0301"])})
    assert (
        "'cafe\\u0301' occurs only in the prediction and differs from the reference's 'caf\\xe9' only in Unicode form"
        in said
    )


def event(type_, role):
    return [{"id": "e", "type": type_, "trigger": (0, 1), "arguments": [(1, 2, role)]}]


DATA = {
    "spans": ("tag", lambda label: [(0, 1, label), (2, 3, "LOC")]),
    "relations": ("type", lambda label: [(label, (0, 1), (2, 3))]),
    "events": ("type", lambda label: event(label, "who")),
    "arguments": ("role", lambda label: {"tokens": ["a", "b"], "events": event("attack", label)}),
    "roles": ("role", lambda label: {label: [["a"]], "Target": [["b"]]}),
    "calls": ("function", lambda label: [[{"name": label, "arguments": {}}]]),
    "nary": ("role", lambda label: [{label: [(0, 1)], "B": [(2, 3)]}]),
    "hierarchies": ("type of links", lambda label: [("a", "b", label), ("b", "c", label)]),
    "templates": ("type", lambda label: [{"type": label, "slot": [["a"]]}]),
    "dependencies": ("DEPREL", lambda label: [(0, "root"), (1, label)]),
}  # fmt: skip


@pytest.mark.parametrize("task", DATA)
def test_every_task_that_has_labels_says_it(task):
    what, document = DATA[task]
    score = getattr(ts, task)
    found = score(document("PER"), document("Per"))
    for result in found.values():
        assert any(
            f"the {what} 'Per' occurs only in the prediction and differs from the reference's 'PER' only in case" in one
            for one in result.notes
        ), (task, result.notes)
    assert not any("occurs only in the prediction" in one for one in score(document("PER"), document("PER")).warnings)
    assert not any("occurs only in the prediction" in one for one in score(document("PER"), document("ORG")).warnings)


def test_figures_stay_as_they_are_and_types_that_are_ignored_are_not_looked_at():
    gold, system = [[(0, 2, "PER"), (3, 4, "LOC")]], [[(0, 2, "PER "), (3, 4, "LOC")]]
    found = ts.spans(gold, system, "segment")
    assert found["segment"].f1 == 0.5
    assert not ts.spans(gold, system, "segment", ignore_types=True).warnings


def test_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, label in (("gold", "PER"), ("system", "PER "), ("other", "PER")):
        lines = [{"id": str(k), "text": "Ann saw", "spans": [{"start": 0, "end": 3, "label": label}]} for k in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = "Warning: the tag 'PER ' occurs only in the prediction"
    assert said in running.run("score", "spans", "gold.jsonl", "system.jsonl").stderr
    assert said in running.run("score", "spans", "gold.jsonl", "system.jsonl", "--jobs", "2").stderr
    compared = running.run("compare", "spans", "gold.jsonl", "A=system.jsonl", "B=other.jsonl")
    assert "the tag 'PER ' occurs only in the prediction" in compared.stderr + compared.stdout

"""`score arguments`, `explain arguments` and `compare arguments`, run as a user runs them."""

import json
from pathlib import Path

import pytest

from running import run
from tallystick.judging import Judgement, Store, Verdict
from tallystick.tasks.arguments.task import open_questions

EXAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "examples"
FILES = ("arguments.gold.jsonl", "arguments.system.jsonl")
PARSES = ("--parses", "arguments.parses.conllu")


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    monkeypatch.chdir(EXAMPLES)


def test_the_stages_of_the_bundled_example():
    done = run("score", "arguments", *FILES, *PARSES, "--format", "json")
    found = json.loads(done.stdout)
    hits = {stage: metric["tally"]["num_r"] for stage, metric in found["metrics"].items()}
    assert hits == {"exact": 0, "same_text": 1, "harmless_tokens": 2, "break_aggregate": 3, "modifiers": 4}
    assert found["gains"]["exact"] is None
    assert found["gains"]["same_text"] == pytest.approx(found["metrics"]["same_text"]["f1"])
    assert "parses=arguments.parses.conllu" in found["signature"]


def test_without_parses_it_says_so():
    done = run("score", "arguments", *FILES)
    assert done.stdout.splitlines()[0].split("\t") == [
        "metric",
        "precision",
        "recall",
        "f1",
        "gain",
        "of predicted",
        "of reference",
    ]
    assert [line.split("\t")[0] for line in done.stdout.splitlines()[1:]] == [
        "exact",
        "same_text",
        "harmless_tokens",
        "break_aggregate",
    ]
    assert "the stage `modifiers` is left out: it needs a parse of the documents (--parses)" in done.stderr
    assert "the stage `modifiers` is left out" in run("compare", "arguments", *FILES).stderr


@pytest.mark.parametrize(
    ("options", "hits"),
    [
        (("--harmless", ""), 2),
        (("--harmless", "the"), 3),
        (("--conjunctions", "or"), 2),
        (("--counting", "keep", "--order", "aggregate-first"), 3),
        (("--pronouns", "", *PARSES), 4),
        (("--modifiers", "nummod", *PARSES), 3),
    ],
)
def test_options(options, hits):
    found = json.loads(run("score", "arguments", *FILES, *options, "--format", "json").stdout)
    assert list(found["metrics"].values())[-1]["tally"]["num_r"] == hits


def test_a_list_from_a_file(tmp_path):
    (tmp_path / "words").write_text("The\n\na\n")
    found = json.loads(run("score", "arguments", *FILES, "--harmless", f"@{tmp_path}/words", "--format", "json").stdout)
    assert "harmless=a+the" in found["signature"]
    assert found["metrics"]["harmless_tokens"]["tally"]["num_r"] == 2


def test_by_role_and_gates():
    done = run(
        "score",
        "arguments",
        *FILES,
        *PARSES,
        "--by",
        "label",
        "--format",
        "json",
        "--fail-under",
        "modifiers.f1=0.9",
        code=1,
    )
    roles = {row["label"]: row["figures"]["f1"] for row in json.loads(done.stdout)["labels"]["modifiers"]}
    assert (roles["artifact"], roles["victim"]) == (1, 0)
    assert (
        "'field' is not one of 'label', 'document'" in run("score", "arguments", *FILES, "--by", "field", code=2).stderr
    )


def test_explain():
    tree = run("explain", "arguments", *FILES, *PARSES, "--document", "3").stdout
    assert "= modifiers: 'vehicles' ↔ 'South Korean vehicles'" in tree
    assert "- 'Orlando'  missed" in run("explain", "arguments", *FILES, "--document", "t4-4").stdout
    found = json.loads(run("explain", "arguments", *FILES, "--document", "5", "--format", "json").stdout)
    leaf = found["children"][0]["children"][0]["children"][0]
    assert (leaf["name"], leaf["predicted"]) == ("aggregate", "weapons + explosives")
    assert "no document 'x'" in run("explain", "arguments", *FILES, "--document", "x", code=2).stderr


def test_the_comparison_in_the_docs():
    page = (EXAMPLES.parents[2] / "docs" / "arguments.md").read_text(encoding="utf-8")
    command = next(line for line in page.splitlines() if line.startswith("tallystick compare arguments arguments.gold"))
    tables = run(*command.split()[1:]).stdout.strip().split("\n\n")
    assert next(table for table in tables if table.startswith("| stage |")) in page


def test_several_systems():
    shown = run(
        "compare",
        "arguments",
        FILES[0],
        f"one={FILES[1]}",
        "two=arguments.second.jsonl",
        *PARSES,
        "--format",
        "markdown",
    ).stdout
    assert "| modifiers | 36.4 (9.1) | 27.3 (0.0) |" in shown
    assert "№1 ↑1" in shown


def test_a_report(tmp_path):
    page = tmp_path / "report.html"
    run("score", "arguments", *FILES, *PARSES, "--report", str(page))
    text = page.read_text(encoding="utf-8")
    assert "South Korean vehicles" in text
    assert "modifiers" in text


def test_recorded_judgements(tmp_path):
    questions, _ = open_questions(FILES[0], {"one": FILES[1], "two": "arguments.second.jsonl"}, parses=PARSES[1])
    assert len(questions) == 15
    assert all(question.document[slice(*question.candidate_span)] == question.candidate for question in questions)
    with Store(tmp_path / "store.sqlite") as store:
        for question in questions:
            if question.candidate in ("she", "U.S.", "concert venue in Orlando"):
                store.add(Judgement(question, "ann", Verdict("Correct", (0,))))
            elif question.candidate == "' Guccifer '":
                store.add(Judgement(question, "ann", Verdict("Partial", (0,))))
    done = run("score", "arguments", *FILES, *PARSES, "--judge", str(tmp_path / "store.sqlite"), "--format", "json")
    found = json.loads(done.stdout)
    assert found["metrics"]["judge"]["tally"] == {"num_p": 8, "den_p": 11, "num_r": 8, "den_r": 11}
    assert (found["judge"]["open"], found["judge"]["judged"]) == (7, 5)
    assert any("lower bounds" in warning for warning in found["warnings"])
    assert "judge=recorded(store.sqlite, person ann, 5 judgements, " in found["signature"]
    half = run(
        "score",
        "arguments",
        *FILES,
        *PARSES,
        "--judge",
        str(tmp_path / "store.sqlite"),
        "--partial",
        "0.5",
        "--format",
        "json",
    )
    assert json.loads(half.stdout)["metrics"]["judge"]["tally"]["num_r"] == 8.5


def test_what_is_wrong_ends_with_2(tmp_path):
    (tmp_path / "not.sqlite").write_text("not a store")
    assert "not a store" in run("score", "arguments", *FILES, "--judge", str(tmp_path / "not.sqlite"), code=2).stderr
    assert "nobody" in run("score", "arguments", *FILES, "--judge", "nobody", code=2).stderr
    record = json.loads(Path(FILES[1]).read_text().splitlines()[0])
    record["events"][0]["arguments"][0]["end"] = 99
    (tmp_path / "system.jsonl").write_text(json.dumps(record) + "\n")
    done = run("score", "arguments", FILES[0], str(tmp_path / "system.jsonl"), code=2)
    assert (
        "system.jsonl:1: events[0].arguments[0]: document '1', event e1, role place: tokens 0 to 98 lie outside"
        in done.stderr
    )
    (tmp_path / "system.jsonl").write_text(
        json.dumps({"id": "1", "arguments": [{"event": "e7", "role": "place", "text": "x"}]}) + "\n"
    )
    done = run("score", "arguments", FILES[0], str(tmp_path / "system.jsonl"), code=2)
    assert "there is no event 'e7' in the document '1'" in done.stderr
    (tmp_path / "system.jsonl").write_text(json.dumps({"id": "77", "arguments": []}) + "\n")
    assert (
        "the document ids differ" in run("score", "arguments", FILES[0], str(tmp_path / "system.jsonl"), code=3).stderr
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--partial", "0.5"], "--partial 0.5 says what a judge's verdict counts: name the judge (--judge)"),
        (["--none-credits-recall"], "--none-credits-recall says what a judge's verdict counts"),
        (["--modifiers", "amod"], "give the parses (--parses)"),
        (["--metric", "judge"], "the stage 'judge' needs --judge"),
        (["--metric", "modifiers"], "the stage 'modifiers' needs --parses"),
    ],
)
def test_an_option_that_would_do_nothing_is_said(options, said):
    assert said in run("score", "arguments", *FILES, *options, code=2).stderr


def test_open_questions_come_with_the_warnings_of_the_stages():
    questions, notes = open_questions(FILES[0], {"a": FILES[1], "b": "arguments.second.jsonl"})
    assert len(questions) == 16
    assert sum("the stage `modifiers` is left out" in note for note in notes) == 1


def test_candidates_of_nothing_are_said_and_equal_counts_gain_nothing(tmp_path):
    tokens = ["Last", "week", "the", "rebels", "attacked", "Homs", "and", "Aleppo"]
    event = {"id": "e1", "type": "attack", "trigger": {"start": 4, "end": 5}}
    spans = [("place", 5, 6), ("place", 7, 8), ("attacker", 2, 4)]
    given = [{"role": role, "start": start, "end": end} for role, start, end in spans]
    gold = {"id": "d1", "tokens": tokens, "events": [{**event, "arguments": given}]}
    said = [{"event": "e1", "role": "place", "text": text} for text in ("Homs", "x", "  ", "")]
    for name, record in (("gold", gold), ("system", {"id": "d1", "arguments": said})):
        (tmp_path / name).write_text(json.dumps(record) + "\n")
    done = run("score", "arguments", str(tmp_path / "gold"), str(tmp_path / "system"), "--format", "json")
    found = json.loads(done.stdout)
    assert "candidates without a place in the document, which `exact` needs: 2" in found["warnings"]
    assert "candidates with neither place nor text, which count as wrong and are not judged: 2" in found["warnings"]
    assert found["gains"]["break_aggregate"] == 0  # 1 of 4 and 1 of 3, as in the stage before

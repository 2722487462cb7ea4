"""`tallystick judge export`, `import`, `agreement` and `judges`, run as a user runs them."""

import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sample import QUESTIONS

import running
from tallystick.judging import Answers, Judgement, Store, Verdict
from tallystick.judging.desk import Desk

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "src" / "tallystick" / "examples"
GOLD, SYSTEM, SECOND = (str(EXAMPLES / f"arguments.{name}.jsonl") for name in ("gold", "system", "second"))


def run(*arguments, code=0, content=b""):
    return running.run("judge", *arguments, code=code, stdin=content)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store("j.sqlite") as store:
        store.add_questions(QUESTIONS)
    return Path("j.sqlite")


def test_export_of_what_is_open_most_made_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.jsonl").write_bytes(Path(SYSTEM).read_bytes())
    done = run("export", GOLD, SECOND, "A=a.jsonl", "b.jsonl", "--store", "j.sqlite", "--top", 3, "--jsonl", "q.jsonl")
    assert "3 questions, 3 of them new in j.sqlite" in done.stderr
    first = [json.loads(line)["candidate"] for line in Path("q.jsonl").read_text(encoding="utf-8").splitlines()]
    assert first == ["Bush 's administration", "South Korean vehicles", "she"]  # two systems made them, one the rest
    with Store("j.sqlite") as store:
        before = store.queue()
    assert "13 of them new" in run("export", GOLD, SECOND, SYSTEM, "--store", "j.sqlite").stderr
    with Store("j.sqlite") as store:
        assert store.queue()[:3] == before
        assert len(store.queue()) == 16


def test_export_to_label_studio_and_back(path):
    run("export", "--store", path, "--label-studio", "project")
    assert sorted(one.name for one in Path("project").iterdir()) == ["config.xml", "tasks.json"]
    done = run("import", path, HERE / "label_studio_export.json", "--annotator", "1=anna")
    assert "7 new judgements in j.sqlite" in done.stderr
    assert "Warning: left out: task 9: label-studio 1 left question 3 open" in done.stderr
    with Store(path) as store:
        assert len(store.labels("anna")) == 7
    run("export", "--store", path, "--jsonl", "rest.jsonl", "--open-to", "anna")
    assert len(Path("rest.jsonl").read_text(encoding="utf-8").splitlines()) == 5


def test_judgements_go_from_store_to_store(path):
    with Store(path) as store:
        Desk(store, "anna").answer(QUESTIONS[0], Answers(True, (0,), "conveys"))
    run("export", "--store", path, "--judgements", "judged.jsonl")
    assert "1 new judgement in other.sqlite" in run("import", "other.sqlite", "judged.jsonl").stderr
    assert "0 new judgements, 1 already there" in run("import", "other.sqlite", "judged.jsonl").stderr


def labelled(path):
    """Ten questions: 5 both Correct, 1 Partial/Correct, 1 Correct/Incorrect, 2 both Incorrect, 1 Incorrect/Partial; a model."""
    rows = [*["CC"] * 5, "PC", "CI", "II", "II", "IP"]
    names = {"C": "Correct", "P": "Partial", "I": "Incorrect"}
    with Store(path) as store:
        for question, (a, b) in zip(QUESTIONS, rows, strict=False):
            store.add(Judgement(question, "anna", Verdict(names[a])))
            store.add(Judgement(question, "ben", Verdict(names[b])))
        for k, question in enumerate(QUESTIONS):
            for version in ("expert 1", "intuitive 2"):
                verdict = Verdict("Correct" if k < 6 or version[0] == "i" else "Incorrect")
                store.add(Judgement(question, "gpt", verdict, version), "model")


def test_agreement_of_two(path):
    labelled(path)
    found = json.loads(run("agreement", path, "anna", "ben", "--differences", "--format", "json").stdout)
    (one,) = found["agreements"]
    # p_o = 7/10; anna 6 C, 1 P, 3 I, ben 6 C, 1 P, 3 I: p_e = .46; two labels: p_o = .8, p_e = .52
    assert one["table"] == [[5, 0, 1], [1, 0, 0], [0, 1, 2]]
    assert one["kappa_3"] == pytest.approx((0.7 - 0.46) / 0.54)
    assert one["kappa_2"] == pytest.approx((0.8 - 0.52) / 0.48)
    assert [row["labels"] for row in found["differences"]] == [
        ["Partial", "Correct"], ["Correct", "Incorrect"], ["Incorrect", "Partial"],
    ]  # fmt: skip
    done = run("agreement", path, "anna", "ben", "--differences", "--format", "markdown")
    assert "| anna: Correct | 5 | 0 | 1 |" in done.stdout


def test_the_table_of_all_judges(path):
    labelled(path)
    done = run("agreement", path, "--format", "markdown")
    rows = [line.split(" | ")[:3] for line in done.stdout.splitlines()[2:]]
    assert rows == [
        ["| anna", "ben", "10"], ["| gpt@expert 1", "persons", "7"], ["| gpt@intuitive 2", "persons", "7"],
    ]  # fmt: skip
    assert "people of equal experience answered 3 questions differently, left out of `persons`" in done.stderr
    run("judges", path, "--experience", "ben=2")
    found = json.loads(run("agreement", path, "--format", "json").stdout)
    assert [row["questions"] for row in found["agreements"]] == [10, 10, 10]
    # ben: 6 C (the first six), 1 P, 3 I; gpt expert: 6 C, 4 I: p_o = 9/10, p_e = (36 + 12) / 100
    assert found["agreements"][1]["kappa_3"] == pytest.approx((0.9 - 0.48) / 0.52)
    assert found["agreements"][2]["kappa_3"] == pytest.approx(0.0)  # one label throughout against three
    latex = run("agreement", path, "--against", "anna", "--format", "latex").stdout
    assert "ben & anna & 10 & 70.00 & 0.44 & 0.58" in latex
    assert "gpt@expert 1 & anna" in latex


def test_a_judge_by_the_start_of_the_version(path):
    labelled(path)
    assert "gpt@expert 1" in run("agreement", path, "gpt@ex", "anna").stdout
    assert (
        "'gpt' may be gpt@expert 1, gpt@intuitive 2; give the full name"
        in run("agreement", path, "gpt", "anna", code=2).stderr
    )
    assert 'Did you mean "anna"?' in run("agreement", path, "annna", "ben", code=2).stderr
    assert "agreement needs two judges" in run("agreement", path, "anna", code=2).stderr
    assert "--differences is for two judges" in run("agreement", path, "--differences", code=2).stderr


def test_judges_are_listed_and_marked(path):
    labelled(path)
    found = json.loads(run("judges", path, "--experience", "anna=3", "--format", "json").stdout)
    assert found["questions"] == 12
    assert found["judges"][0] == {"judge": "anna", "kind": "person", "version": "", "judgements": 10, "experience": 3}
    assert [row["version"] for row in found["judges"] if row["judge"] == "gpt"] == ["expert 1", "intuitive 2"]
    assert 'Did you mean "anna"?' in run("judges", path, "--experience", "ana=1", code=2).stderr
    assert "expects NAME=N" in run("judges", path, "--experience", "anna", code=2).stderr
    assert "expects NAME=N" in run("judges", path, "--experience", "anna=--5", code=2).stderr
    assert "expects NAME=N" in run("judges", path, "--experience", f"anna={10**20}", code=2).stderr
    assert "experience is a whole number" in run("judges", path, "--experience", f"anna={10**10}", code=2).stderr


def test_one_judge_has_nobody_to_agree_with(path):
    with Store(path) as store:
        store.add(Judgement(QUESTIONS[0], "anna", Verdict("Correct")))
    assert "only one judge here" in run("agreement", path).stderr


@pytest.mark.parametrize(
    "command", [("serve",), ("terminal", "--annotator", "a"), ("agreement",), ("judges",), ("export", "--jsonl", "q")]
)
def test_stores_that_are_none(path, command):
    name, *rest = command

    def tried(file):
        where = ["--store", file] if name == "export" else [file]
        return run(name, *where, *rest, code=2).stderr

    assert "there is no such store of judgements" in tried("nothing.sqlite")
    assert not Path("nothing.sqlite").exists()
    Path("text.sqlite").write_text("candidate,label\n")
    assert "text.sqlite: not a store of judgements (file is not a database)" in tried("text.sqlite")
    with closing(sqlite3.connect("later.sqlite")) as db, db:
        db.execute("PRAGMA application_id = 1952541817")
        db.execute("PRAGMA user_version = 9")
    db.close()
    assert "a store of version 9, and this tallystick reads versions 1 to 2; upgrade tallystick" in tried(
        "later.sqlite"
    )


def test_wrong_usage_is_said(path):
    assert "give at least one system" in run("export", GOLD, "--store", path, code=2).stderr
    assert "nothing to do" in run("export", "--store", path, code=2).stderr
    assert "no such file" in run("export", "none.json", "none.json", "--store", path, code=2).stderr
    assert "--parses changes nothing for --task muc4" in run(
        "export", GOLD, SYSTEM, "--task", "muc4", "--parses", "x", "--store", path, code=2
    ).stderr  # fmt: skip
    Path("q.jsonl").write_text('{"candidate": "a", "references": ["b"], "label": "Correct"}\n')
    assert "q.jsonl:1: a judgement needs `judge`" in run("import", path, "q.jsonl", code=2).stderr


def test_what_fails_leaves_no_store_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    Path("bad.jsonl").write_text('{"candidate": "a", "reference": "b"}\n{"candidate": "a", "labl": "Correct"}\n')
    assert "no field 'labl'" in run("import", "new.sqlite", "bad.jsonl", code=2).stderr
    Path("bad.jsonl").write_text('{"key": "00ff", "judge": "anna", "label": "Correct"}\n')
    assert "the store has no question '00ff'" in run("import", "new.sqlite", "bad.jsonl", code=2).stderr
    assert "none.jsonl" in run("import", "new.sqlite", "none.jsonl", code=2).stderr
    for files in ((GOLD, "none.jsonl"), (GOLD, SYSTEM)):
        done = running.run("score", "arguments", *files, "--judge", "llm:x", code=2)
    assert "OPENAI_API_KEY" in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["bad.jsonl"]


def test_an_import_under_the_name_of_a_model_is_refused(path):
    with Store(path) as store:
        store.add(Judgement(QUESTIONS[0], "gpt-4o", Verdict("Correct", (0,)), "expert"), kind="model")
    Path("mine.jsonl").write_text(json.dumps({"key": QUESTIONS[1].key, "label": "Incorrect"}) + "\n")
    said = run("import", path, "mine.jsonl", "--annotator", "gpt-4o", code=2).stderr
    assert "'gpt-4o' is a model in j.sqlite, or in a line before, and a person in the file" in said
    assert "control characters" in run("import", path, "mine.jsonl", "--annotator", "a\nb", code=2).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--judgements", "all.jsonl", "--open-to", "anna"],
            "--open-to limits what --label-studio or --jsonl writes",
        ),
        (["--jsonl", "q.jsonl", "--top", "3"], "--top says what to take from REFERENCE and SYSTEM...: give them"),
        (
            ["--jsonl", "q.jsonl", "--conjunctions", "und"],
            "--conjunctions says what to take from REFERENCE and SYSTEM...",
        ),
    ],
)
def test_options_of_an_export_that_would_change_nothing(path, options, said):
    assert said in run("export", "--store", path, *options, code=2).stderr
    assert [one.name for one in Path().iterdir()] == ["j.sqlite"]


@pytest.mark.parametrize("form", ["lines", "export"])
def test_import_from_a_pipe_reads_it_once(path, form):
    if form == "lines":
        told = json.dumps({"key": QUESTIONS[0].key, "judge": "anna", "label": "Correct"}).encode()
    else:
        told = (HERE / "label_studio_export.json").read_bytes()
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(told,), daemon=True)
    writer.start()
    try:
        new = running.run_process("judge", "import", path, "pipe").stderr
        assert "new judgement" in new
        assert not new.startswith("0 ")
    finally:
        writer.join(running.PATIENCE)
    again = run("import", path, "-", content=told).stderr
    assert "already there" in again


@pytest.mark.parametrize("content", [b"", b" \n\n"])
def test_import_of_nothing_is_an_error(path, content):
    done = run("import", path, "-", content=content, code=2)
    assert "<stdin>: is empty; expected Label Studio's export, or lines of JSON" in done.stderr


def test_export_says_what_the_judge_will_miss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("gold", "Homs"), ("system", "Syria")):
        event = {"id": "e1", "type": "attack", "arguments": [{"role": "place", "text": text}]}
        rows = [{"id": document, "events": [event]} for document in ("d1", "d2")]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = run("export", "gold.jsonl", "system.jsonl", "--store", "j.sqlite").stderr
    assert "2 questions, 2 of them new" in said
    assert "Warning: 2 questions without the text of the document: the judge sees only the words" in said
    assert "Warning: 2 questions about an event without a trigger, known only by its id" in said


def test_export_of_a_changed_text_says_that_its_candidates_were_judged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("export", GOLD, SYSTEM, "--store", "j.sqlite")
    with Store("j.sqlite") as store:
        store.add_all([Judgement(one, "anna", Verdict("Incorrect")) for one in store.questions()])
    rows = [json.loads(line) for line in Path(GOLD).read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["tokens"].append("!")
    Path("gold.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = run("export", "gold.jsonl", SYSTEM, "--store", "j.sqlite").stderr
    assert "8 of the new ones have a candidate that was judged in the same role before" in said


def test_names_that_are_not_there_are_said(path):
    run("import", path, HERE / "label_studio_export.json", "--annotator", "1=anna")
    done = run("export", "--store", path, "--jsonl", "q.jsonl", "--open-to", "ana", code=2)
    assert "there is no judge called 'ana' here" in done.stderr
    assert 'Did you mean "anna"?' in done.stderr
    assert not Path("q.jsonl").exists()
    done = run("import", path, HERE / "label_studio_export.json", "--annotator", "7=zoe", code=2)
    assert "--annotator: no annotation there is by 'label-studio 7'; there are label-studio 1" in done.stderr


def test_train_takes_what_export_writes(path):
    with Store(path) as store:
        for k, one in enumerate(QUESTIONS):
            store.add(Judgement(one, "anna", Verdict("Correct" if k % 2 else "Incorrect")))
            store.add(Judgement(one, "ben", Verdict("Partial")))
        store.add_judge("anna", experience=1)
    run("export", "--store", path, "--judgements", "all.jsonl")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    wanted, found = (run("train", name, "--folds", 2, "--format", "json") for name in (path, "all.jsonl"))
    assert json.loads(found.stdout) == json.loads(wanted.stdout)
    assert "labels: recorded(labels.sqlite, persons anna+ben, 24 judgements, " in found.stderr
    for seed in (-1, 99999999999):
        assert "not in the range" in run("train", path, "--seed", seed, code=2).stderr
    Path("keys.jsonl").write_text(json.dumps({"key": QUESTIONS[0].key, "judge": "anna", "label": "Correct"}))
    assert "give the question itself" in run("train", "keys.jsonl", code=2).stderr


def test_an_export_does_not_overwrite_what_it_reads(path):
    for name in ("gold", "system"):
        Path(f"{name}.jsonl").write_bytes(Path(GOLD if name == "gold" else SYSTEM).read_bytes())
    Path("tasks.json").write_bytes(Path(GOLD).read_bytes())
    before = {one: one.read_bytes() for one in Path().iterdir() if one.is_file()}
    files = ["gold.jsonl", "system.jsonl", "--store", path]
    for output in (
        ["--jsonl", "gold.jsonl"],
        ["--jsonl", "system.jsonl"],
        ["--judgements", "./gold.jsonl"],
        ["--jsonl", path],
        ["--judgements", path],
    ):
        assert "would overwrite" in run("export", *files, *output, code=2).stderr
    assert (
        "would overwrite"
        in run("export", "tasks.json", "system.jsonl", "--store", path, "--label-studio", ".", code=2).stderr
    )
    assert "would be one file" in run("export", *files, "--jsonl", "q", "--judgements", "q", code=2).stderr
    assert {one: one.read_bytes() for one in before} == before


def test_answers_of_models_and_persons_are_not_mixed(path):
    """What a person has judged counts, and what a model has judged beside it does not, which is reported."""
    from tallystick.judging import Judgement, Verdict
    from tallystick.judging.recorded import judge_named

    with Store(path) as store:
        store.add(Judgement(QUESTIONS[0], "anna", Verdict("Correct")))
        for question in QUESTIONS[:2]:
            store.add(Judgement(question, "gpt", Verdict("Incorrect"), "expert"), kind="model")
    judge = judge_named(str(path))
    assert [one and one.label for one in judge.judge(QUESTIONS[:2])] == ["Correct", None]
    assert "2 judgements of models are there and do not count unless asked for by name or kind (2 of gpt" in " ".join(
        judge.notes
    )

"""The store: what was asked and answered stays, is found by its content, and nothing else is taken for a store."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b

import pytest
from first_layout import write_first_layout
from sample import QUESTIONS

from running import PATIENCE
from tallystick.errors import InputError
from tallystick.judging import Answers, Judgement, Question, Store, Verdict
from tallystick.judging.recorded import Recorded


def question(candidate="Lazar", **parts):
    document = "he was extradited. Though Lazar had agreed"
    return Question(candidate, ("he",), document, "justice.extradite", "extradited", "defendant", **parts)


def test_a_judgement_is_found_again_by_what_was_asked(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add(Judgement(question(), "anna", Verdict("Correct", (0,)), answers=Answers(True, (0,), "conveys")))
    with Store(tmp_path / "j.sqlite") as store:
        assert store.verdict(question(), "anna") == Verdict("Correct", (0,))
        assert store.verdict(question("he said"), "anna") is None
        (one,) = store.judgements()
        assert one.answers == Answers(True, (0,), "conveys")
        assert one.when.endswith("+00:00")
        assert Recorded(store).judge([question(), question("he said")]) == [Verdict("Correct", (0,)), None]


def test_spans_are_part_of_what_was_asked(tmp_path):
    assert question().key != question(candidate_span=(26, 31)).key
    assert Question.from_json(question(candidate_span=(26, 31)).to_json()) == question(candidate_span=(26, 31))


def test_a_span_outside_of_the_document_is_an_error():
    with pytest.raises(InputError, match=r"the candidate's span \[40, 99\] lies outside the document"):
        question(candidate_span=(40, 99))


def test_answering_again_replaces_the_answer(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add(Judgement(question(), "anna", Verdict("Correct")))
        store.add(Judgement(question(), "anna", Verdict("Incorrect")))
        assert [one.verdict.label for one in store.judgements()] == ["Incorrect"]
        store.withdraw(question(), "anna")
        assert store.judgements() == []
        assert store.questions() == [question()]


def test_the_more_experienced_decides(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add(Judgement(question(), "anna", Verdict("Correct")))
        store.add(Judgement(question(), "ben", Verdict("Incorrect")))
        assert Recorded(store).judge([question()]) == [None]
        assert Recorded(store).disputed == {question().key}
        store.add_judge("ben", experience=1)
        assert Recorded(store).judge([question()]) == [Verdict("Incorrect")]
        assert Recorded(store, "anna").judge([question()]) == [Verdict("Correct")]
        with pytest.raises(InputError, match=r'there is no judge called \'ana\' here.*Did you mean "anna"'):
            Recorded(store, "ana")


def test_a_person_comes_before_a_model(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add(Judgement(question(), "gpt", Verdict("Incorrect"), "expert"), kind="model")
        store.add(Judgement(question(), "anna", Verdict("Correct")))
        assert Recorded(store).judge([question()]) == [Verdict("Correct")]


@pytest.mark.parametrize("content", [b"", b"candidate,label\n", b"SQLite format 3\0 and then something else"])
def test_what_is_not_a_store_is_said_to_be_none(tmp_path, content):
    path = tmp_path / "j.sqlite"
    path.write_bytes(content)
    if content:
        with pytest.raises(InputError, match="not a store of judgements"):
            Store(path)
    else:
        Store(path).close()  # an empty file is what mktemp makes


def test_another_sqlite_file_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="an SQLite file, but not a store of judgements"):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_of_another_version_is_an_error(tmp_path):
    path = tmp_path / "j.sqlite"
    with Store(path) as store:
        store.add_judge("anna")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 7")
    db.close()
    with pytest.raises(
        InputError, match="a store of version 7, and this tallystick reads versions 1 to 2; upgrade tallystick"
    ):
        Store(path)


def test_a_document_is_kept_once(tmp_path):
    long = "a word and another, " * 10_000
    asked = [Question(f"candidate {k}", ("a",), long, "event", "word", "role", (0, 6)) for k in range(50)]
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions(asked)
        store.add_all([Judgement(one, "anna", Verdict("Correct", (0,))) for one in asked])
        found = store.questions()
        assert found == asked
        assert len({id(one.document) for one in found}) == 1
        assert [one.question for one in store.judgements()] == asked
    assert (tmp_path / "j.sqlite").stat().st_size < 3 * len(long)


def test_the_key_is_that_of_the_whole_content():
    """The plain digest, of which `key` makes the document's part only once."""
    for one in (*QUESTIONS, Question("a", document='"quoted"\n\0 日本 \ud800'), Question("", ())):
        text = json.dumps(one.to_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        assert one.key == blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def test_what_is_read_has_the_key_of_its_content(tmp_path):
    asked = [*QUESTIONS, Question("no document"), Question("odd", document="a\0b\r\n\x85")]
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions(asked)
        for one in store.questions():
            assert one.key == replace(one).key == store.question(one.key).key
        assert store.questions() == asked


def test_a_store_of_version_1_is_laid_out_anew(tmp_path):
    path, long = tmp_path / "j.sqlite", "the boat sank. " * 5_000
    asked = [*QUESTIONS, *(Question(f"candidate {k}", ("a", "b"), long, role="r") for k in range(20))]
    said = [
        Judgement(asked[0], "anna", Verdict("Correct", (0,), "why"), "", Answers(True, (0,), "conveys"), "2024-01-01")
    ]
    write_first_layout(path, asked, said)
    before = path.stat().st_size
    with Store(path) as store:
        assert store.questions() == asked
        assert store.queue() == [one.key for one in asked]
        assert store.judgements() == said
        assert Recorded(store).judge([asked[0], asked[1]]) == [said[0].verdict, None]
        store.add(Judgement(asked[1], "anna", Verdict("Incorrect")))
        assert store.add_questions(asked) == 0
    assert path.stat().st_size < before / 5
    with Store(path) as store:
        assert len(store.judgements()) == 2
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("SELECT count(*) FROM documents").fetchone() == (4,)
    db.close()


def test_five_programs_bring_one_store_up_at_once(tmp_path):
    path, found = tmp_path / "j.sqlite", []
    write_first_layout(path, QUESTIONS)

    def work():
        with Store(path) as store:
            found.append(store.questions())

    threads = [threading.Thread(target=work) for _ in range(5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [QUESTIONS] * 5


def test_a_store_of_version_1_that_cannot_be_written_is_an_error_and_stays(tmp_path, monkeypatch):
    path = tmp_path / "j.sqlite"
    write_first_layout(path, QUESTIONS)
    before = path.read_bytes()

    def full(db):
        db.execute("DROP TABLE questions")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("tallystick.judging.store.upgrade", full)
    with pytest.raises(InputError, match=r"a store of version 1, which has to be upgraded.*Copy it.*disk is full"):
        Store(path)
    assert path.read_bytes() == before
    monkeypatch.undo()
    with Store(path) as store:
        assert store.questions() == QUESTIONS


def test_a_store_that_is_not_there_is_not_made_by_reading(tmp_path):
    with pytest.raises(InputError, match="there is no such store"):
        Store(tmp_path / "none.sqlite", create=False)
    assert not (tmp_path / "none.sqlite").exists()


def test_a_store_is_made_by_the_first_thing_that_is_written(tmp_path):
    path = tmp_path / "j.sqlite"
    with Store(path) as store, Store(path) as other:
        assert store.questions() == store.judgements() == store.voices() == []
        assert not path.exists()
        store.add_questions(QUESTIONS)
        assert other.questions() == QUESTIONS  # which was opened before there was anything
        other.add(Judgement(QUESTIONS[0], "anna", Verdict("Correct")))
        assert store.labels("anna") == {QUESTIONS[0].key: "Correct"}
    assert [one.name for one in tmp_path.iterdir()] == ["j.sqlite"]


@pytest.mark.parametrize("there", [False, True])
def test_a_store_whose_first_writing_fails_leaves_nothing(tmp_path, there):
    path = tmp_path / "j.sqlite"
    if there:
        path.touch()
    with Store(path) as store:
        with pytest.raises(InputError, match=r"half a character.*nothing was changed"):
            store.add_questions([*QUESTIONS, Question("a \ud800")])
        assert [(one.name, one.stat().st_size) for one in tmp_path.iterdir()] == ([("j.sqlite", 0)] if there else [])
        assert store.questions() == []
        store.add_questions(QUESTIONS)
    with Store(path, create=False) as store:
        assert store.questions() == QUESTIONS


def test_two_people_at_once(tmp_path):
    path = tmp_path / "j.sqlite"

    def work(name):
        with Store(path) as store:
            for k in range(20):
                store.add(Judgement(question(str(k)), name, Verdict("Correct")))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("anna", "ben")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with Store(path) as store:
        assert len(store.judgements("anna")) == len(store.judgements("ben")) == 20
        assert len(store.questions()) == 20


def test_what_was_answered_survives_a_kill(tmp_path):
    path = tmp_path / "j.sqlite"
    program = (
        "import os, signal\n"
        "from tallystick.judging import *\n"
        f"store = Store({str(path)!r})\n"
        "store.add(Judgement(Question('a', ('b',)), 'anna', Verdict('Partial', (0,))))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    with Store(path) as store:
        assert store.verdict(Question("a", ("b",)), "anna") == Verdict("Partial", (0,))


def test_ten_programs_make_one_store_at_once(tmp_path):
    path, failures = tmp_path / "j.sqlite", []

    def make():
        try:
            with Store(path) as store:
                store.add_questions(QUESTIONS)
                assert store.questions() == QUESTIONS
        except (InputError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failures == []


def test_what_only_a_model_was_asked_is_not_in_the_queue(tmp_path):
    whole = Question("Lazar", ("he", "the hacker"))
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions([whole])
        store.add(Judgement(whole.only(1), "gpt", Verdict("Correct", (0,)), "expert"), kind="model")
        assert store.questions() == [whole]
        assert store.queue() == [whole.key]
        assert store.question(whole.only(1).key) == whole.only(1)
        assert store.voices() == [("gpt", "expert", "model", 0, 1)]
        assert store.add_questions([whole.only(1), whole]) == 1  # now a person shall judge it too
        assert store.queue() == [whole.key, whole.only(1).key]


def test_a_store_that_cannot_be_opened_is_said_to_be_so(tmp_path):
    with pytest.raises(InputError, match=r"this store of judgements cannot be created: .*no folder is not a folder"):
        Store(tmp_path / "no folder" / "j.sqlite")
    with pytest.raises(InputError, match=r"this store of judgements cannot be opened \(unable to open database file\)"):
        Store(tmp_path)


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_store_in_a_folder_that_may_not_be_written_to_is_read(tmp_path, journal):
    folder = tmp_path / "kept"
    folder.mkdir()
    with Store(folder / "j.sqlite") as store:
        store.add(Judgement(question(), "anna", Verdict("Correct", (0,))))
    with closing(sqlite3.connect(folder / "j.sqlite")) as db, db:
        assert db.execute(f"PRAGMA journal_mode = {journal}").fetchone() == (journal,)
    db.close()
    (folder / "j.sqlite").chmod(0o444)
    folder.chmod(0o555)
    told = (
        "import os, sys; from tallystick.judging import Store, store; from tallystick.errors import InputError\n"
        f"store.PATIENCE = {10 * PATIENCE}\n"  # who waits here does not end in time
        "if os.access(os.path.dirname(sys.argv[1]), os.W_OK): sys.exit(77)\n"
        "with Store(sys.argv[1]) as store:\n"
        "    print(len(store.judgements()))\n"
        "    try: store.add_judge('ben')\n"
        "    except InputError as error: print(error)\n"
    )
    root = [] if os.access(folder, os.W_OK) is False else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if root and shutil.which("setpriv") is None:
        pytest.skip("whoever runs this may write everywhere")
    done = subprocess.run(
        [*root, sys.executable, "-c", told, folder / "j.sqlite"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    folder.chmod(0o755)
    if done.returncode == 77 or "setpriv" in done.stderr:
        pytest.skip("whoever runs this may write everywhere")
    assert done.returncode == 0, done.stderr
    read, refused = done.stdout.splitlines()
    assert read == "1"
    assert "cannot be written (attempt to write a readonly database); nothing was changed" in refused


def answered(path):
    with Store(path) as store:
        store.add_all([Judgement(one, "anna", Verdict("Correct", (0,))) for one in QUESTIONS * 20])


@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.questions(),
        lambda store: store.judgements(),
        lambda store: Recorded(store),
        lambda store: store.add(Judgement(QUESTIONS[0], "ben", Verdict("Correct"))),
    ],
)
def test_a_damaged_store_is_said_to_be_damaged(tmp_path, read):
    path = tmp_path / "j.sqlite"
    answered(path)
    content = bytearray(path.read_bytes())
    content[8192:] = bytes(len(content) - 8192)
    path.write_bytes(content)
    with (
        Store(path) as store,
        pytest.raises(InputError, match=r"j.sqlite: this store of judgements is damaged .*recover"),
    ):
        read(store)


@pytest.mark.parametrize("change", ["refs = 'oops'", "refs = '5'", "answers = '[1]'", "details = '['"])
def test_a_row_that_no_tallystick_wrote_is_damage(tmp_path, change):
    path = tmp_path / "j.sqlite"
    answered(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"UPDATE judgements SET {change}")
    db.close()
    with Store(path) as store, pytest.raises(InputError, match=r"damaged .a row that cannot be understood"):
        store.judgements()


@pytest.mark.parametrize("what", ["moved", "deleted", "replaced", "log"])
def test_a_store_that_was_moved_away_is_not_written_to(tmp_path, what):
    path, first, second = tmp_path / "j.sqlite", *(Judgement(one, "anna", Verdict("Correct")) for one in QUESTIONS[:2])
    with Store(path) as store:
        store.add(first)
        store.add(first)  # now there is a log
        other = tmp_path / "j.sqlite-wal" if what == "log" else path
        if what == "moved":
            other.rename(tmp_path / "gone.sqlite")
        else:
            other.unlink()
        if what == "replaced":
            answered(path)
        with pytest.raises(InputError, match=r"was moved, deleted or replaced while it was open.*nothing was changed"):
            store.add(second)

"""Whose files `compare` reads, and how often: standard input, pipes, files that belong to one system."""

import json
import os
import threading
from pathlib import Path

import pytest
from test_compare_tasks import EXAMPLE, EXAMPLES, WRITTEN

from running import run, write

EVERY = {**WRITTEN, "dependencies": None}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(task):
        if EVERY[task] is None:
            gold, system, *_ = EXAMPLE[task]
            return EXAMPLES / gold, EXAMPLES / system, ()
        document, suffix, options = EVERY[task]
        name = Path(f"all.{suffix}")
        name.write_text("".join(map(document, "abc")))
        return name, name, options

    return written


def compared_from(stdin, *arguments, code=0):
    done = run("compare", *map(str, arguments), "--format", "json", code=code, stdin=stdin)
    return json.loads(done.stdout) if code == 0 else done.output


@pytest.mark.parametrize("task", EVERY)
def test_a_reference_from_standard_input_serves_every_system(files, task):
    gold, system, options = files(task)
    more = ("--input", "jsonl") if task == "spans" else ()
    arguments = (f"A={system}", f"B={system}", *options, *more)
    found, usual = (compared_from(gold.read_bytes(), task, name, *arguments) for name in ("-", gold))
    assert found["systems"] == usual["systems"]


def test_errors_still_name_standard_input():
    system = EXAMPLE["relations"][1]
    said = compared_from(b"{", "relations", "-", f"A={EXAMPLES / system}", f"B={EXAMPLES / system}", code=2)
    assert "<stdin>:1" in said


def test_a_pipe_serves_every_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gold, system, *_ = EXAMPLE["spans"]
    os.mkfifo("gold.iob")
    text = (EXAMPLES / gold).read_bytes()
    writer = threading.Thread(target=lambda: Path("gold.iob").write_bytes(text), daemon=True)
    writer.start()
    found = compared_from(b"", "spans", "gold.iob", f"A={EXAMPLES / system}", f"B={EXAMPLES / system}")
    assert found["systems"]["A"]["segment"]["value"] == found["systems"]["B"]["segment"]["value"] < 1


def test_standard_input_stands_for_one_run(tmp_path):
    gold = EXAMPLES / EXAMPLE["relations"][0]
    assert "only one file can be standard input" in compared_from(b"", "relations", gold, "A=-,-", code=2)


def test_nor_does_an_option_read_it_again():
    gold, system = (EXAMPLES / name for name in EXAMPLE["relations"][:2])
    said = compared_from(gold.read_bytes(), "relations", "-", f"A={system}", "--parents", "-", code=2)
    assert "only one file can be standard input" in said


# Files that are a part of one system's output


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """Two systems, of which B has an entity wrong that only its own clusters and mentions show."""
    monkeypatch.chdir(tmp_path)
    relations = [{"Task": "Q", "Method": "B"}]
    right = {"ner": [[0, 1, "Task"], [2, 3, "Method"]], "coref": {"Q": [[0, 1]], "B": [[2, 3]]}}
    wrong = {"ner": [[0, 1, "Task"], [5, 6, "Method"]], "coref": {"Q": [[0, 1]], "B": [[5, 6]]}}
    write("gold.jsonl", [{"doc_id": "d", **right, "n_ary_relations": relations}])
    for name, content in (("a", right), ("b", wrong)):
        write(f"{name}.jsonl", [{"doc_id": "d", "predicted_relations": relations}])
        write(f"{name}.ner.jsonl", [{"doc_id": "d", "ner": content["ner"]}])
        write(f"{name}.clusters.jsonl", [{"doc_id": "d", "clusters": content["coref"]}])


def test_every_system_has_its_own_files(papers):
    given = [word for name in "ab" for option in ("ner", "clusters") for word in (f"--{option}", f"{name.upper()}={name}.{option}.jsonl")]  # fmt: skip
    done = run("compare", "nary", "gold.jsonl", "A=a.jsonl", "B=b.jsonl", *given, "--metric", "clusters", "--format", "json")  # fmt: skip
    found = {name: cells["clusters"]["value"] for name, cells in json.loads(done.stdout)["systems"].items()}
    assert found == {"A": 1, "B": 0.5}
    alone = run("score", "nary", "gold.jsonl", "b.jsonl", "--ner", "b.ner.jsonl", "--clusters", "b.clusters.jsonl", "--metric", "clusters", "--format", "json")  # fmt: skip
    assert json.loads(alone.stdout)["metrics"]["clusters"]["f1"] == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--ner", "a.ner.jsonl"], "say whose file this is, e.g. --ner A=a.ner.jsonl"),
        (["--ner", "C=a.ner.jsonl"], "no system is called 'C'"),
        (["--ner", "A=a.ner.jsonl,b.ner.jsonl"], "A has 1 run, and here are 2 files"),
        (["--ner", "A=a.ner.jsonl", "--ner", "A=b.ner.jsonl"], "A has one already"),
    ],
)
def test_whose_file_it_is_has_to_be_clear(papers, given, message):
    assert message in run("compare", "nary", "gold.jsonl", "A=a.jsonl", "B=b.jsonl", *given, code=2).output


def test_one_system_needs_no_name_for_its_files(papers):
    given = ("--ner", "b.ner.jsonl", "--clusters", "b.clusters.jsonl", "--metric", "clusters")
    assert "\t0.5\t" in run("compare", "nary", "gold.jsonl", "b.jsonl", *given).stdout


# Documents that do not meet, and several references


def test_systems_that_were_paired_in_different_ways(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", [{"id": f"d{k}", "value": k} for k in range(3)])
    write("without.jsonl", [{"value": k} for k in range(3)])
    said = run("compare", "records", "gold.jsonl", "A=gold.jsonl", "B=without.jsonl", code=3).output
    assert 'A and B are over different documents; only A has "d0", "d1", "d2"; only B has ' in said
    assert "by its ids or by order" in said


def test_a_report_of_splits_is_called_after_all_references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k in range(2):
        write(f"s{k}.jsonl", [{"id": f"{k}{n}", "value": n} for n in range(3)])
    run("compare", "records", "s0.jsonl,s1.jsonl", "A=s0.jsonl,s1.jsonl", "B=s0.jsonl,s1.jsonl", "--report", "x.html")
    assert "2 systems on records, s0.jsonl, s1.jsonl" in Path("x.html").read_text()


# Ids that differ only in their type


@pytest.fixture
def ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("numbers.jsonl", [{"id": 1, "x": ["a"]}, {"id": 2, "x": ["b"]}])
    write("texts.jsonl", [{"id": "1", "x": ["a"]}, {"id": "2", "x": ["b"]}])
    write("mixed.jsonl", [{"id": 1, "x": ["a"]}, {"id": "1", "x": ["q"]}])
    write("wrong.jsonl", [{"id": 1, "x": ["a"]}, {"id": "1", "x": ["z"]}])


def test_numbers_on_one_side_and_text_on_the_other(ids):
    said = run("score", "records", "numbers.jsonl", "texts.jsonl", code=3).output
    assert '"1" is a number in the reference and text in the prediction, these are different ids' in said


def test_numbers_and_text_where_documents_may_be_missing(ids):
    said = run("score", "records", "numbers.jsonl", "mixed.jsonl", "--missing", "empty", code=3).output
    assert '1 only in the prediction: "1"' in said
    write("other.jsonl", [{"id": 1, "x": ["a"]}, {"id": "2", "x": ["b"]}])
    said = run("score", "records", "numbers.jsonl", "other.jsonl", "--missing", "empty", code=3).output
    assert "only in the reference" not in said
    assert '"2" is a number in the reference and text in the prediction, these are different ids' in said


def test_no_document_hides_another_in_json(ids):
    done = run("score", "records", "mixed.jsonl", "wrong.jsonl", "--by", "document", "--format", "json")
    found = json.loads(done.stdout)["documents_by_id"]["records"]
    assert {key: figures["f1"] for key, figures in found.items()} == {"1": 1, '"1"': 0}


def test_only_the_document_that_was_not_answered_is_left_out(ids):
    done = run("compare", "records", "mixed.jsonl", "A=numbers.jsonl", "B=mixed.jsonl", "--missing", "intersect", "--format", "json")  # fmt: skip
    found = json.loads(done.stdout)
    assert found["notes"][0] == "1 document"
    assert {name: cells["records"]["value"] for name, cells in found["systems"].items()} == {"A": 1, "B": 1}


def test_an_option_of_another_command_says_which():
    done = run("compare", "records", "gold.jsonl", "a=a.jsonl", "--errors", code=2)
    assert "No such option '--errors'; `tallystick score records` has it." in done.stderr
    done = run("leaderboard", "spans", "gold.iob", "a=a.iob", "--by", "label", code=2)
    assert "`tallystick score spans` and `tallystick compare spans` have it." in done.stderr

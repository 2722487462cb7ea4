"""The wrong file for a task, and options that do not go together."""

import json

import pytest

from fuzzing import seeds
from running import run

FILES = {
    "coreference": seeds.CONLL[0], "amr": seeds.PENMAN[0], "dependencies": seeds.CONLLU[0], "spans": seeds.SPANS_JSONL[0],
    "relations": seeds.RELATIONS[0], "events": seeds.TEXTEE[0], "roles": seeds.ROLES[0], "nary": seeds.NARY[0],
    "templates": seeds.TEMPLATES[3], "hierarchies": seeds.NEWICK[0],
}  # fmt: skip


@pytest.mark.parametrize("wanted", FILES)
def test_a_file_for_another_task_is_recognised(wanted, tmp_path):
    from tallystick.cli.about import hint, looks_like

    for task, content in FILES.items():
        file = tmp_path / task
        file.write_bytes(content)
        assert task in looks_like(str(file))
        found = hint(str(file), ["score", wanted, str(file), str(file)])
        assert (f"`tallystick score {task}`" in found) == (wanted not in looks_like(str(file)))


def test_a_duplicate_in_a_file_of_nary_makes_it_no_file_of_coreference(tmp_path):
    gold = {"doc_id": "d", "ner": [], "coref": {}, "n_ary_relations": []}
    system = {"doc_id": "d", "ner": [], "clusters": {}, "predicted_relations": []}
    for one in (gold, {**gold, "sentences": [], "words": []}, system):
        file = tmp_path / "a.jsonl"
        file.write_text(2 * f"{json.dumps(one)}\n")
        done = run("score", "nary", file, file, code=2)
        assert "is already used" in done.stderr
        assert "looks like" not in done.stderr


def test_nothing_is_said_of_what_is_not_known(tmp_path):
    from tallystick.cli.about import hint

    file = tmp_path / "x"
    for content in (b"", b"<html>", b'{"vendor": "x"}\n', b"\xff\x00", b"{"):
        file.write_bytes(content)
        assert hint(str(file), ["score", "amr", str(file), str(file)]) == ""
    assert hint(str(tmp_path / "none"), ["score", "amr", "a", "b"]) == ""


def test_the_hint_follows_the_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.conll").write_bytes(seeds.CONLL[0])
    done = run("score", "relations", "key.conll", "key.conll", code=2)
    assert done.stderr.endswith("key.conll looks like a file for `tallystick score coreference`.\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("score coreference g g --topic x", "give --scope topic with it"),
        ("score coreference g g --scope topic --topic x(", "is not a regular expression"),
        ("score spans i i --delimiter=", "found an empty text"),
        ("score spans i i --k1 2", "--k1 changes nothing: it is for constrained_overlap"),
        ("score events e e --label role", "give both"),
        ("score relations r r --train d", "--train is for DocRED's files, which r is not"),
        ("score records v v --fail-under f1=nan", "--fail-under expects FIGURE=VALUE"),
        ("score records v v --fail-under =0.5", "--fail-under expects FIGURE=VALUE"),
        ("score records v v --by label --label lines[*].nope", "no item has a label at this path"),
    ],
)
def test_options_that_say_nothing_together(command, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents = {"g": seeds.CONLL[0], "i": seeds.IOB[0], "e": seeds.TEXTEE[0], "r": seeds.RELATIONS[0], "d": seeds.DOCRED,
                "v": seeds.bundled("invoices.gold.jsonl")}  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    assert message in run(*command.split(), code=2).stderr

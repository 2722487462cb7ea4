"""`score templates` and `explain templates`, run as a user runs them."""

import json
from pathlib import Path

import pytest

import running
import tallystick as ts

GOLD = [
    {"id": "a", "templates": [
        {"type": "attack / bombing", "slots": {"Victim": ["two men", ["the mayor", "J. Smith"]], "Weapon": ["a bomb"]}},
        {"type": "kidnapping", "slots": {"Victim": ["a priest"]}},
    ]},
    {"id": "b", "templates": []},
]  # fmt: skip
SYSTEM = [
    {"id": "b", "templates": []},
    {"id": "a", "templates": [
        {"type": "bombing", "slots": {"Victim": ["Mayor", "j smith", "Two men."], "Weapon": ["grenade"]}},
        {"type": "arson", "slots": {"Victim": ["priest"]}},
    ]},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("gold.jsonl", GOLD), ("system.jsonl", SYSTEM)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def run(*arguments, code=0, command="score"):
    return running.run(command, "templates", "gold.jsonl", "system.jsonl", *arguments, code=code)


def test_all_metrics_side_by_side(folder):
    content = json.loads(run("--format", "json").stdout)
    assert list(content["metrics"]) == ["eq32", "gtt", "iterx_subset", "iterx_phi3"]
    assert content["metrics"]["gtt"]["tally"] == {"num_p": 4, "den_p": 7, "num_r": 3, "den_r": 6}
    assert content["documents"] == 2


def test_presets_and_slots(folder):
    done = run("--preset", "gtt", "--by", "field")
    assert "Victim\t0.75\t0.6666666666666666" in done.stdout
    assert "signature: templates.gtt" in done.stderr
    assert run("--preset", "chen").stdout.count("chen") == 2
    assert "score" in run("--preset", "better").stdout


def test_by_document_and_gates(folder):
    listed = run("--by", "document").stdout.split("\n\n")[1].splitlines()[1:]
    assert list(dict.fromkeys(line[:2] for line in listed)) == ["a\t", "b\t"]  # b has nothing
    assert "under 0.9" in run("--metric", "eq32", "--fail-under", "f1=0.9", code=1).stderr


def test_explain(folder):
    tree = run("--document", "a", command="explain").stdout
    assert "missed" in tree
    assert "spurious" in tree


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "gt"], 'Did you mean "gtt"'),
        (["--preset", "gtt", "--metric", "gtt"], "not both"),
        (["--fillers", "subst"], 'Did you mean "subset"'),
        (["--by", "label"], "'label' is not one of 'field', 'document'"),
        (["--preset", "better", "--by", "field"], "no figures by slot"),
    ],
)
def test_wrong_usage_says_what_was_meant(folder, arguments, message):
    assert message in run(*arguments, code=2).stderr


def test_errors(folder):
    content = json.loads(run("--metric", "eq32", "--errors", "--format", "json").stdout)
    kinds = {kind["kind"]: kind for kind in content["errors"]["kinds"]}
    assert kinds["Duplicate_Role_Filler"]["count"] == 1
    assert kinds["Missing_Template"]["mended"]["eq32"]["f1"] > content["errors"]["figures"]["eq32"]["f1"]
    assert content["errors"]["mended"]["eq32"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert "Spurious_Template" in run("--errors").stdout


KEY = """\
0.  MESSAGE: ID                    M1
1.  MESSAGE: TEMPLATE              1
4.  INCIDENT: TYPE                 BOMBING
9.  PERP: INDIVIDUAL ID            "URBAN GUERRILLAS"
"""


def test_the_official_report(folder):
    Path("gold.jsonl").write_text(KEY)
    Path("system.jsonl").write_text(KEY.replace("BOMBING", "ATTACK").replace("URBAN", "THE"))
    content = json.loads(run("--preset", "muc4-official", "--format", "json").stdout)
    assert content["slots"]["inc-type"]["PAR"] == 1
    assert content["slots"]["perp-ind-id"]["INC"] == 1
    Path("history.lisp").write_text('(("M1" ("1" (perp-ind-id ("\\"GUERRILLAS\\"" match "\\"URBAN GUERRILLAS\\"")))))')
    done = run("--preset", "muc4-official", "--judgements", "history.lisp", "--format", "table")
    assert "F-MEASURES: P&R 75.00" in done.stdout
    assert "mapping=greedy, judgements=recorded" in done.stderr
    assert "records no mapping" in run("--preset", "muc4-official", "--mapping", "recorded", code=3).stderr
    assert "belong to --preset muc4-official" in run("--judgements", "history.lisp", code=2).stderr
    assert "0 / 2" in run("--preset", "gtt").stdout  # recent work reads the same files, and gives nothing for ATTACK


def test_templates_without_types(folder):
    """SciREX in gtt's form: the slots alone count."""
    gold = {"docid": "a", "templates": [{"Material": [[["x", 0]]], "Method": [[["m", 4]]]}]}
    Path("g.jsonl").write_text(json.dumps(gold) + "\n")
    system = {"docid": "a", "pred_templates": [{"Material": [["x"]], "Method": [["n"]]}]}
    Path("s.jsonl").write_text(json.dumps(system) + "\n")
    done = running.run("score", "templates", "g.jsonl", "s.jsonl", "--format", "json", "--by", "field")
    metrics = json.loads(done.stdout)["metrics"]
    in_python = ts.templates(gold["templates"], system["pred_templates"])
    for name in ("eq32", "gtt"):
        assert metrics[name]["tally"] == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 2} == in_python[name].tally
    assert "have no type" in done.stdout
    system["pred_templates"].append({"type": "t", "Method": [["m"]]})
    Path("s.jsonl").write_text(json.dumps(system) + "\n")
    assert "as 1 other template has it" in running.run("score", "templates", "g.jsonl", "s.jsonl", code=2).stderr
    del system["pred_templates"][0]
    Path("s.jsonl").write_text(json.dumps(system) + "\n")
    assert (
        "have no type, those of s.jsonl have one"
        in running.run("score", "templates", "g.jsonl", "s.jsonl", code=3).stderr
    )


def muc4(type_, number="1"):
    return {"message-id": ["M1"], "template-id": [number], "inc-type": [type_], "perp-ind-id": ['"REBELS"']}


def test_one_of_several_lists_in_a_file_and_the_recorded_mapping(folder):
    """The second bombing is the recorded partner, the first one the greedy one."""
    Path("keys.json").write_text(json.dumps({"tst3": [muc4("BOMBING")], "tst4": [muc4("ARSON")]}))
    responses = [muc4("BOMBING"), {**muc4("BOMBING", "2"), "perp-ind-id": []}]
    pairs = [{"doc": "M1", "key": "1", "response": "2"}]
    systems = {"tst3/a": {"responses": responses, "official_pairs": pairs}, "tst3/b": {"responses": responses[:1]}}
    Path("systems.json").write_text(json.dumps(systems))

    def found(*arguments, command="score", code=0):
        done = running.run(command, "templates", *arguments, "--preset", "muc4-official", "--format", "json", code=code)
        return json.loads(done.stdout) if code == 0 else done.stderr

    first = ("keys.json#tst3", "systems.json#tst3/a")
    assert found(*first)["slots"]["perp-ind-id"]["COR"] == 1
    recorded = found(*first, "--mapping", "recorded")
    assert recorded["slots"]["perp-ind-id"]["COR"] == 0
    assert "mapping=recorded" in recorded["signature"]
    assert "records no mapping" in found(first[0], "systems.json#tst3/b", "--mapping", "recorded", code=3)
    compared = found(
        first[0], f"A={first[1]}", "B=systems.json#tst3/b", "--mapping", "recorded", command="compare", code=3
    )
    assert "records no mapping" in compared
    assert set(found(first[0], first[1], "systems.json#tst3/b", command="compare")["systems"]) == {"a", "b"}
    assert "Pick one with FILE#NAME" in found("keys.json", "systems.json", code=2)
    assert "Pick one with FILE#NAME" in found("keys.json#tst3", "systems.json", code=2)
    message = running.run("score", "templates", "keys.json#tst3", "systems.json#tst3/a", code=2).stderr
    assert "FILE#NAME picks a list of a file for --preset muc4-official" in message
    assert 'Did you mean "tst3/b"' in found("keys.json#tst3", "systems.json#tst3/c", code=2)
    assert "system.json#a: no such file" in found("keys.json#tst3", "system.json#a", code=2)

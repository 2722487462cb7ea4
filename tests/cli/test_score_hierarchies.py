"""`tallystick score hierarchies` on the files of Table 1."""

import json
import re
from importlib.resources import files

import pytest

from running import invoke
from tallystick.cli.main import tallystick

GOLD, SYSTEM = (str(files("tallystick.examples") / f"table1.{name}.newick") for name in ("gold", "system1"))


def run(*arguments):
    return invoke(tallystick, arguments)


def test_score_prints_all_metrics():
    done = run("score", "hierarchies", GOLD, SYSTEM)
    assert done.returncode == 0, done.output
    for name in ("mentions", "muc_p", "blanc_p", "nstm_p", "siblings_p", "ceaf_p", "ceaf_stm"):
        assert f"\n{name}\t" in done.stdout


def test_score_as_json_has_signature_and_tallies():
    done = run("score", "hierarchies", GOLD, SYSTEM, "--format", "json", "--metric", "muc_p", "--transitive")
    content = json.loads(done.stdout)
    assert content["metrics"]["muc_p"]["recall"] == 1.0
    assert "transitive=yes" in content["signature"]


def test_a_gate_that_is_missed_is_exit_code_1():
    assert run("score", "hierarchies", GOLD, SYSTEM, "--fail-under", "muc_p.f1=0.99").returncode == 1


def test_explain_shows_the_wrong_link():
    done = run("explain", "hierarchies", GOLD, SYSTEM)
    assert done.returncode == 0, done.output
    assert "49" in done.stdout
    assert "spurious" in done.stdout


@pytest.mark.parametrize("by", ["label", "field"])
def test_there_are_no_labels_or_fields(by):
    done = run("score", "hierarchies", GOLD, SYSTEM, "--by", by)
    assert done.returncode == 2
    assert f"'{by}' is not one of 'document', 'depth'" in done.output


TANGLED = {  # two parents and a cycle, which MUC_p and BLANC_p take
    "gold": {"causality": [["a", "b"], ["c", "b"], ["b", "d"]], "subevent": [["a", "c"]]},
    "system": {"causality": [["a", "b"], ["d", "a"], ["b", "d"]], "subevent": [["a", "d"]]},
}


@pytest.fixture
def tangled(tmp_path):
    for name, links in TANGLED.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "d", "events": list("abcd"), "links": links}) + "\n")
    return str(tmp_path / "gold.jsonl"), str(tmp_path / "system.jsonl")


@pytest.mark.parametrize("metric", [None, "muc_p", "siblings_p"])
def test_links_that_are_no_tree_are_explained(tangled, metric):
    done = run("explain", "hierarchies", *tangled, "--kind", "causality", *(("--metric", metric) if metric else ()))
    assert done.returncode == 0, done.output
    assert "missed" in done.stdout
    assert "spurious" in done.stdout


def test_a_report_of_links_that_are_no_tree(tangled, tmp_path):
    report = str(tmp_path / "x.html")
    done = run("score", "hierarchies", *tangled, "--kind", "causality", "--metric", "muc_p", "--report", report)
    assert done.returncode == 0, done.output


def test_trees_are_still_asked_for_where_they_are_needed(tangled):
    done = run("explain", "hierarchies", *tangled, "--kind", "causality", "--metric", "nstm_p")
    assert done.returncode == 2
    assert "has two parents by causality links" in done.output


def test_the_signature_names_every_kind(tangled):
    done = run("score", "hierarchies", *tangled, "--metric", "muc_p", "--metric", "blanc_p", "--format", "json")
    signature = json.loads(done.stdout)["signature"]
    assert "kind=causality" in signature
    assert "kind=subevent" in signature
    done = run("score", "hierarchies", *tangled, "--metric", "muc_p", "--metric", "blanc_p")
    assert done.stderr.count("signature: hierarchies.muc_p, hierarchies.blanc_p") == 2


def test_a_shard_without_links_of_a_type_is_no_misspelling(tmp_path):
    """Only all shards together can tell."""
    links = [{"subevent": [["E1", "E2"]]}] * 5 + [{"membership": [["E1", "E3"]]}] * 3
    rows = [{"id": f"d{k}", "events": ["E1", "E2", "E3"], "links": found} for k, found in enumerate(links)]
    file = tmp_path / "g.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["score", "hierarchies", str(file), str(file), "--metric", "muc_p", "--shard", "100", "--kind"]
    done = run(*command, "membership")
    assert "3 / 3" in done.stdout
    assert re.search(r"\b\d+ shards$", done.stderr, re.M)
    refused = run(*command, "member")
    assert refused.returncode == 2
    assert "no links of type 'member'" in refused.stderr

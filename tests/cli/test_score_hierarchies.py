"""`tallystick score hierarchies` on the files of Table 1."""

import json
from importlib.resources import files

import pytest
from click.testing import CliRunner

from tallystick.cli.main import tallystick

GOLD, SYSTEM = (str(files("tallystick.examples") / f"table1.{name}.newick") for name in ("gold", "system1"))


def run(*arguments):
    return CliRunner().invoke(tallystick, arguments)


def test_score_prints_all_metrics():
    done = run("score", "hierarchies", GOLD, SYSTEM)
    assert done.exit_code == 0, done.output
    for name in ("mentions", "muc_p", "blanc_p", "nstm_p", "siblings_p", "ceaf_p", "ceaf_stm"):
        assert f"\n{name}\t" in done.stdout


def test_score_as_json_has_signature_and_tallies():
    done = run("score", "hierarchies", GOLD, SYSTEM, "--format", "json", "--metric", "muc_p", "--transitive")
    content = json.loads(done.stdout)
    assert content["metrics"]["muc_p"]["recall"] == 1.0
    assert "transitive=yes" in content["signature"]


def test_a_gate_that_is_missed_is_exit_code_1():
    assert run("score", "hierarchies", GOLD, SYSTEM, "--fail-under", "muc_p.f1=0.99").exit_code == 1


def test_explain_shows_the_wrong_link():
    done = run("explain", "hierarchies", GOLD, SYSTEM)
    assert done.exit_code == 0, done.output
    assert "49" in done.stdout
    assert "spurious" in done.stdout


@pytest.mark.parametrize("by", ["label", "field"])
def test_there_are_no_labels_or_fields(by):
    done = run("score", "hierarchies", GOLD, SYSTEM, "--by", by)
    assert done.exit_code == 2
    assert f"'{by}' is not 'document'" in done.output

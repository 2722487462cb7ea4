"""`explain` has the same options in every task; what a task cannot do with one is refused, never ignored."""

from pathlib import Path

import pytest
from test_compare_tasks import EXAMPLES

from running import run


def example(name):
    return str(EXAMPLES / name)


ROLES = example("roles.gold.jsonl"), example("roles.system.jsonl")
EVENTS = example("events.gold.jsonl"), example("events.system.jsonl")
ARGUMENTS = example("arguments.gold.jsonl"), example("arguments.system.jsonl")
TREES = example("table1.gold.newick"), example("table1.system2.newick")


def test_a_field_shows_the_documents_that_lose_most_there():
    rows = [
        line.split("\t") for line in run("explain", "roles", *ROLES, "--field", "args[*].role").stdout.splitlines()[1:]
    ]
    assert rows
    assert all(row[2].startswith("args[") and row[2].endswith(".role") for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("events", *EVENTS, "--field", "nonsense"), "no field 'nonsense'; there are events[*].trig.mention.left"),
        (("arguments", *ARGUMENTS, "--metric", "exact"), "the tree shows what every stage accepted"),
        (("hierarchies", *TREES, "--transitive"), "links of descendants have no tree to show"),
        (("templates", *ROLES, "--preset", "gtt"), "documents are explained by eq. 32"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments, message):
    assert message in run("explain", *arguments, code=2).stderr


def test_graphs_are_explained_one_at_a_time(tmp_path):
    file = tmp_path / "a.amr"
    file.write_text("# ::id a\n(w / want-01)\n\n# ::id b\n(b / boy)\n")
    assert "name one with --document" in run("explain", "amr", file, file, "--worst", "2", code=2).stderr


def test_a_comparison_says_which_shape_was_inferred():
    files = example("invoices.gold.jsonl"), f"A={example('invoices.system.jsonl')}"
    done = run("compare", "records", *files, "--resamples", "10")
    assert done.stderr.count("shape, inferred from") == 1


def test_a_report_in_shards_has_the_derivation_of_its_metric(tmp_path):
    page = tmp_path / "page.html"
    run("score", "spans", example("spans.gold.iob"), example("spans.system.iob"), "--shard", "50B", "--report", page)
    assert 'class="derivation mono"' in Path(page).read_text()

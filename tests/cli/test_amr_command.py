"""`score amr` and `explain amr`, run as a user runs them."""

import gzip
import json
import random
import re
from pathlib import Path

import pytest

from public_data import PUBLIC
from running import run
from tallystick.tasks import equations
from tallystick.tasks.amr import metrics as amr
from tallystick.tasks.amr.files import parse_penman
from tallystick.tasks.amr.triples import PRESETS

DATA = PUBLIC / "meaning"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the data of `make parity`: meaning")

GOLD = """\
# ::id a ::snt The boy wants to go
(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))

# ::id b
(s / see-01 :ARG0 (i / i) :ARG1 (c / city :name (n / name :op1 "New York")) :polarity -)
"""
SYSTEM = """\
# ::id b
(s / see-01 :ARG0 (y / you) :ARG1 (c / city :name (n / name :op1 "New York")))

# ::id a
(x / want-01 :ARG0 (y / boy) :ARG1 (z / go-02 :ARG0 y))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.amr").write_text(GOLD)
    Path("system.amr").write_text(SYSTEM)


def score(*arguments, files=("gold.amr", "system.amr"), **options):
    return run("score", "amr", *files, *arguments, **options)


def entries(*arguments, **options):
    return json.loads(score(*arguments, "--format", "json", **options).stdout)


def test_graphs_are_paired_by_their_ids():
    content = entries("--by", "document")
    entry = content["metrics"]["smatch"]
    # a matches wholly, 7 triples with the root; of b a concept is wrong and the negation is missing
    assert entry["tally"] == {"num_p": 15.0, "den_p": 16.0, "num_r": 15.0, "den_r": 17.0}
    assert entry["optimal"] is True
    assert content["documents_by_id"]["smatch"]["a"]["f1"] == 1.0
    assert "smatch = f1(each(props=latent(" in content["signature"]
    assert "root=constant" in content["signature"]


def test_without_ids_by_order():
    plain = [re.sub(r"# ::id .*\n", "", text) for text in (GOLD, SYSTEM)]
    Path("gold.amr").write_text(plain[0])
    Path("system.amr").write_text(plain[1])
    content = entries("--by", "document")
    assert content["metrics"]["smatch"]["f1"] < 0.6
    assert list(content["documents_by_id"]["smatch"]) == ["1", "2"]


def test_zipped_files_and_standard_input():
    with gzip.open("gold.amr.gz", "wt") as stream:
        stream.write(GOLD)
    whole = entries()["metrics"]["smatch"]["f1"]
    assert entries(files=("gold.amr.gz", "-"), stdin=SYSTEM)["metrics"]["smatch"]["f1"] == whole
    assert "only one" in score(files=("-", "-"), code=2, stdin=SYSTEM).stderr


def test_the_table_and_the_gates():
    done = score("--format", "table", "--fail-under", "f1=0.9")
    assert "smatch" in done.stdout
    assert "2 documents" in done.stderr
    assert "FAILED" in score("--fail-under", "smatch.f1=0.95", code=1).stderr


def test_subscores_and_single_metrics():
    metrics = entries("--subscores")["metrics"]
    assert tuple(metrics) == tuple(amr.METRICS)
    assert metrics["negation"]["recall"] == 0.0
    assert metrics["concepts"]["tally"]["num_p"] == 6.0
    assert metrics["named_entities"]["f1"] == 1.0
    assert list(entries("--metric", "concepts", "--metric", "smatch")["metrics"]) == ["concepts", "smatch"]
    assert 'Did you mean "smatch"?' in score("--metric", "smatsh", code=2).stderr


def test_presets_and_single_choices():
    assert set(PRESETS) == {"tallystick", "smatch", "smatchpp", "smatchpp-amr"}
    none = entries("--root", "none")["metrics"]["smatch"]["tally"]
    assert none == {"num_p": 13.0, "den_p": 14.0, "num_r": 13.0, "den_r": 15.0}
    Path("twice.amr").write_text("(a / and :op1 (b / boy) :op1 b)\n")
    twice = ("twice.amr", "twice.amr")
    done = score("--preset", "smatch", files=twice)
    assert float(done.stdout.splitlines()[1].split("\t")[3]) > 1
    assert "above 1" in done.stderr
    for preset, duplicates in (("smatch", "multiset"), ("smatchpp-amr", "product"), ("smatchpp", "removed")):
        found = entries("--preset", preset, "--duplicates", duplicates, files=twice)
        assert (found["metrics"]["smatch"]["f1"] > 1) == (duplicates == "product")
    Path("mod.amr").write_text("(b / boy :mod (l / little))\n")
    Path("domain.amr").write_text("(b / boy :domain-of (l / little))\n")
    files = ("mod.amr", "domain.amr")
    assert entries(files=files)["metrics"]["smatch"]["f1"] == 1.0
    assert entries("--mod", "keep", files=files)["metrics"]["smatch"]["f1"] < 1.0


def test_triples():
    record = {
        "id": "a",
        "top": "w",
        "triples": [["w", "instance", "want-01"], ["b", "instance", "boy"], ["w", "ARG0", "b"]],
    }
    other = {
        "id": "a",
        "top": "x",
        "triples": [["x", "instance", "want-01"], ["y", "instance", "boy"], ["x", "ARG0", "y"]],
    }
    Path("one.jsonl").write_text(json.dumps(record) + "\n")
    Path("other.jsonl").write_text(json.dumps(other) + "\n")
    assert entries(files=("one.jsonl", "other.jsonl"))["metrics"]["smatch"]["f1"] == 1.0
    Path("one.txt").write_text("# ::id a\nw instance want-01\nb instance boy\nw ARG0 b\n")
    found = entries("--input", "triples", "--root", "none", files=("one.txt", "other.jsonl"))
    assert found["metrics"]["smatch"]["f1"] == 1.0


# Bad input

BAD = "# ::id a\n(w / want-01 :ARG0 (b / boy)\n\n# ::id b\n(s / see-01)\n"


def test_a_malformed_graph_is_named_with_file_line_and_caret():
    Path("bad.amr").write_text(BAD.replace(":ARG0 (b", ":ARG0 :ARG1 (b"))
    done = score(files=("gold.amr", "bad.amr"), code=2)
    assert done.stderr.startswith("Error: bad.amr:2:")
    text, caret = done.stderr.splitlines()[1:3]
    assert text.strip() == "(w / want-01 :ARG0 :ARG1 (b / boy)"
    assert text[caret.index("^")] == ":"


def test_lenient_counts_a_malformed_graph_as_empty_and_lists_it():
    Path("bad.amr").write_text(BAD)
    assert (
        'bad.amr:2:29: the graph ends too early: 1 ")" missing' in score(files=("gold.amr", "bad.amr"), code=2).stderr
    )
    content = entries("--lenient", "--by", "document", files=("gold.amr", "bad.amr"))
    assert content["documents_by_id"]["smatch"]["a"]["recall"] == 0.0
    assert content["metrics"]["smatch"]["tally"]["den_p"] == 2.0
    (warning,) = [w for w in content["warnings"] if "bad.amr" in w]
    assert warning == 'bad.amr:2:29: the graph ends too early: 1 ")" missing; counted as an empty graph'
    assert "counted as an empty graph" in score("--lenient", files=("gold.amr", "bad.amr")).stderr


def test_unequal_numbers_of_graphs():
    Path("one.amr").write_text("(w / want-01)\n")
    done = score(files=("gold.amr", "one.amr"), code=3)
    assert "gold.amr has 2 documents and one.amr has 1" in done.stderr


def test_ids_that_do_not_meet():
    Path("other.amr").write_text(SYSTEM.replace("::id a", "::id c"))
    done = score(files=("gold.amr", "other.amr"), code=3)
    assert '1 only in the reference: "a"; 1 only in the prediction: "c"' in done.stderr


def test_an_empty_block_is_an_empty_graph():
    Path("gaps.amr").write_text("# ::id a\n\n# ::id b\n(s / see-01)\n")
    figures = entries("--by", "document", files=("gold.amr", "gaps.amr"))["documents_by_id"]["smatch"]
    assert figures["a"]["recall"] == 0.0
    assert figures["b"]["precision"] == 1.0
    Path("nothing.amr").write_text("")
    assert "nothing.amr: holds no graphs" in score(files=("gold.amr", "nothing.amr"), code=2).stderr


def test_a_variable_that_is_introduced_twice():
    Path("twice.amr").write_text("(b / boy :mod (b / big))\n")
    done = score(files=("twice.amr", "twice.amr"), code=2)
    assert 'twice.amr:1:16: the variable "b" is introduced twice' in done.stderr
    assert done.stderr.splitlines()[2].rstrip().endswith("^")


def test_a_slash_inside_of_a_constant():
    Path("open.amr").write_text("(o / open-01 :time 24/7 :time 12:30)\n")
    Path("shut.amr").write_text("(o / open-01 :time 24/8 :time 12:30)\n")
    assert entries(files=("open.amr", "open.amr"))["metrics"]["smatch"]["tally"]["num_p"] == 4.0
    assert entries(files=("open.amr", "shut.amr"))["metrics"]["smatch"]["tally"]["num_p"] == 3.0


def test_other_mistakes():
    assert "no such file" in score(files=("gold.amr", "nowhere.amr"), code=2).stderr
    assert "'field' is not one of 'label', 'document'" in score("--by", "field", code=2).stderr
    assert "--limit" in score("--limit", "0", code=2).stderr


# Explanations


def test_an_explanation_shows_the_map_and_the_triples():
    done = run("explain", "amr", "gold.amr", "system.amr", "--document", "b")
    assert "smatch = 8 of 10 in the reference, 9 predicted" in done.stdout
    for line in ("= i / i ↔ y / you", "= instance(s, see-01) ↔ instance(s, see-01)", "- instance(i, i)  missed",
                 "+ instance(y, you)  spurious", "- polarity(s, -)  missed"):  # fmt: skip
        assert line in done.stdout
    worst = run("explain", "amr", "gold.amr", "system.amr", "--format", "json")
    assert "graph b, the worst of 2" in worst.stderr
    tree = json.loads(worst.stdout)
    assert tree["weight"] == 8.0
    variables, triples = tree["children"]
    assert {(c["reference"], c["predicted"]) for c in variables["children"]} >= {("i / i", "y / you")}
    assert sum(child["weight"] for child in triples["children"]) == 8.0
    assert "Did you mean" not in run("explain", "amr", "gold.amr", "system.amr", "--document", "zzz", code=2).stdout


def test_a_report_shows_the_alignments():
    score("--report", "page.html")
    assert "want-01" in Path("page.html").read_text(encoding="utf-8")


def test_systems_side_by_side():
    done = run(
        "compare", "amr", "gold.amr", "same=gold.amr", "other=system.amr", "--resamples", "50", "--format", "json"
    )
    assert "smatch" in done.stdout
    assert "other" in done.stdout


# Limits


def hard(seed, n=60):
    """A graph whose nodes cannot be told apart."""
    rng = random.Random(seed)
    edges = [f":ARG0 v{rng.randrange(n)}" for _ in range(4 * n)]
    nested = "".join(f"{':ARG0 ' if k else ''}(v{k} / thing {' '.join(edges[4 * k : 4 * k + 4])} " for k in range(n))
    return f"# ::id h\n{nested}{')' * n}\n"


def test_a_pair_too_hard_for_its_limit_has_bounds_in_every_output():
    Path("one.amr").write_text(hard(1))
    Path("other.amr").write_text(hard(2))
    files = ("one.amr", "other.amr")
    content = entries("--limit", "1", files=files)
    entry = content["metrics"]["smatch"]
    assert entry["optimal"] is False
    assert entry["lower"]["f1"] == entry["f1"] < entry["upper"]["f1"] <= 1
    assert entry["unproven"] == 1
    assert "1 of 1 documents are not proven optimal" in content["warnings"][0]
    assert "limit=1" in content["signature"]
    done = score("--limit", "1", "--format", "tsv", files=files)
    assert done.stdout.splitlines()[0].endswith("at most")
    assert "Warning: 1 of 1 documents are not proven optimal" in done.stderr
    assert "ms a pair; the slowest: h" in done.stderr


# The metric's own name


def test_the_expression_is_the_equation():
    assert amr.METRICS["smatch"].expression == equations.smatch
    results, _ = amr.score(parse_penman(GOLD), parse_penman(SYSTEM), metrics=tuple(amr.METRICS))
    assert results["smatch"].expression == equations.smatch


def test_the_results_in_python():
    reference, predicted = parse_penman(GOLD), parse_penman(SYSTEM)
    results, counts = amr.score(reference, predicted, metrics=["smatch", "concepts"])
    assert results["smatch"].f1 == pytest.approx(2 * 15 / 33)
    assert counts.optimal.all()
    assert results["smatch"].documents["a"]["f1"] == 1.0


@needs_data
@pytest.mark.parametrize(
    ("files", "preset", "f1"),
    [
        (("little_prince.gold", "little_prince.jamr"), "smatch", 57.4812),
        (("little_prince.gold", "little_prince.jamr"), "smatchpp", 57.5142),
        (("amr3.bart", "amr3.t5"), "smatch", 80.0857),
    ],
)
def test_whole_corpora(files, preset, f1):
    content = entries("--preset", preset, files=[DATA / f"{name}.amr.gz" for name in files])
    assert round(100 * content["metrics"]["smatch"]["f1"], 4) == f1
    assert content["metrics"]["smatch"]["optimal"] is True


def test_files_whose_ids_differ_can_be_paired_by_order():
    Path("other.amr").write_text(GOLD.replace("::id ", "::id x"))
    refused = run("score", "amr", "gold.amr", "other.amr", code=3)
    assert "use --pair order" in refused.stderr
    assert "use --pair order" in run("compare", "amr", "gold.amr", "other.amr", code=3).stderr
    done = run("score", "amr", "gold.amr", "other.amr", "--pair", "order", "--format", "json")
    assert json.loads(done.stdout)["metrics"]["smatch"]["f1"] == 1.0
    assert (
        "--pair order counts the graphs of whole files"
        in run("score", "amr", "gold.amr", "other.amr", "--pair", "order", "--jobs", "2", code=2).stderr
    )
    Path("shorter.amr").write_text("# ::id c\n(a / a)\n")
    assert "--pair order" not in run("score", "amr", "gold.amr", "shorter.amr", code=3).stderr
    assert "1" in run("score", "amr", "gold.amr", "shorter.amr", "--pair", "order", code=3).stderr

"""`score records` and `explain records`, run as a user runs them."""

import json
from pathlib import Path

import pytest

from running import run, write

TYPES = """
from dataclasses import dataclass

@dataclass
class Relation:
    type: str
    head: int
    tail: int

@dataclass
class Document:
    id: str
    relations: list[Relation]

Relations = list[Relation]
"""


def relation(type_, head, tail):
    return {"type": type_, "head": head, "tail": tail}


GOLD = [
    {"id": "a", "relations": [relation("born", 1, 2), relation("in", 3, 4)]},
    {"id": "b", "relations": [relation("in", 5, 6)]},
]
SYSTEM = [
    {"id": "b", "relations": []},
    {"id": "a", "relations": [relation("born", 1, 2), relation("in", 3, 5)]},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("types_here.py").write_text(TYPES)
    write("gold.jsonl", GOLD)
    write("system.jsonl", SYSTEM)
    return tmp_path


def score(*arguments, type_="types_here:Document", **options):
    return run("score", "records", "gold.jsonl", "system.jsonl", "--type", type_, *arguments, **options)


def test_json_has_figures_tally_and_signature(folder):
    content = json.loads(score("--credit", "all", "--format", "json").stdout)
    entry = content["metrics"]["records"]
    assert entry["tally"] == {"num_p": 1.0, "den_p": 2.0, "num_r": 1.0, "den_r": 3.0}
    assert entry["f1"] == pytest.approx(0.4)
    assert entry["macro"]["left_out"]["precision"] == 1
    assert content["documents"] == 2
    assert "match(record(type=equal, head=equal, tail=equal), 1:1)" in content["signature"]
    assert "id=" not in content["signature"]  # what pairs the documents earns nothing


def test_a_pipe_gets_tsv_and_the_rest_goes_to_standard_error(folder):
    done = score()
    assert done.stdout.splitlines()[0].split("\t")[:4] == ["metric", "precision", "recall", "f1"]
    assert "paired by id" in done.stderr


def test_by_field_document_and_label(folder):
    assert "relations[*].tail" in score("--by", "field").stdout
    rows = score("--by", "document").stdout.splitlines()
    assert [row.split("\t")[0] for row in rows[-2:]] == ["b", "a"]  # the worst first
    assert "born\t1.0\t1.0\t1.0\t1" in score("--by", "label", "--label", "relations[*].type").stdout


def test_explain_shows_what_was_missed_and_what_was_spurious(folder):
    arguments = ["explain", "records", "gold.jsonl", "system.jsonl", "--type", "types_here:Document", "--credit", "all"]
    tree = run(*arguments, "--document", "a").stdout
    assert "missed" in tree
    assert "spurious" in tree
    data = json.loads(run(*arguments, "--document", "a", "--format", "json").stdout)
    assert data["weight"] == 1


def test_a_gate_that_is_missed_exits_with_1(folder):
    score("--credit", "all", "--fail-under", "f1=0.3")
    assert "f1 is 0.4000, under 0.9" in score("--credit", "all", "--fail-under", "f1=0.9", code=1).stderr


def test_standard_input_and_gzip(folder):
    import gzip

    Path("gold.jsonl.gz").write_bytes(gzip.compress(Path("gold.jsonl").read_bytes()))
    arguments = [
        "score",
        "records",
        "gold.jsonl.gz",
        "-",
        "--type",
        "types_here:Document",
        "--format",
        "json",
        "--credit",
        "all",
    ]
    done = run(*arguments, stdin=Path("system.jsonl").read_text())
    assert json.loads(done.stdout)["metrics"]["records"]["f1"] == pytest.approx(0.4)


def test_lists_are_paired_by_order(folder):
    write("gold.jsonl", [row["relations"] for row in GOLD])
    write("system.jsonl", [row["relations"] for row in SYSTEM])
    done = score("--format", "tsv", type_="types_here:Relations")
    assert "paired by order" in done.stderr


def test_a_malformed_line_names_file_line_and_column(folder):
    Path("system.jsonl").write_text(json.dumps(SYSTEM[0]) + '\n{"id": "a", "relations": [}\n')
    message = score(code=2).stderr
    assert "system.jsonl:2:27: is not JSON" in message
    assert message.splitlines()[2].strip() == "^"


def test_a_record_that_does_not_fit_the_type_names_line_and_path(folder):
    SYSTEM[1]["relations"][0] = {**SYSTEM[1]["relations"][0], "head": "1"}
    write("system.jsonl", SYSTEM)
    SYSTEM[1]["relations"][0]["head"] = 1
    message = score(code=2).stderr
    assert "system.jsonl:2: Expected `int`, got `str` - at `$.relations[0].head`" in message


def test_ids_that_do_not_meet_are_listed(folder):
    write("system.jsonl", [SYSTEM[0], {**SYSTEM[1], "id": "c"}])
    message = score(code=3).stderr
    assert '1 only in the reference: "a"; 1 only in the prediction: "c"' in message


def test_an_id_that_stands_twice_is_an_error(folder):
    write("system.jsonl", [SYSTEM[0], SYSTEM[1], SYSTEM[0]])
    assert "system.jsonl:3: the id 'b' is already used in line 1" in score(code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--metric", "f1(mach(exact))"], 2, 'Did you mean "match"'),
        (["--metric", "f1(match(exact)"], 2, "unexpected end"),
        (["--metric", "f1(match(exact, 2:1))"], 2, "position"),
        (["--fail-under", "f1"], 2, "expects FIGURE=VALUE"),
        (["--fail-under", "f2=0.5"], 2, "has no figure 'f2'"),
        (["--by", "label"], 2, "--label PATH"),
        (["--by", "label", "--label", "relation[*].type"], 2, 'Did you mean "relations[*].type"'),
        (["--metric", "f1(each(relation=match(exact)))"], 2, "relation"),
    ],
)
def test_wrong_usage_says_what_was_meant(folder, arguments, code, message):
    assert message in score(*arguments, code=code).stderr


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("types_here:Documnt", 'Did you mean "Document"'),
        ("nowhere:Document", "no module 'nowhere'"),
        ("Document", "expected module:Name"),
        ("missing.py:Document", "missing.py: no such file"),
    ],
)
def test_a_type_that_cannot_be_found(folder, type_, message):
    assert message in score(type_=type_, code=2).stderr


def test_files_that_cannot_be_read(folder):
    assert (
        "nowhere.jsonl: no such file"
        in run("score", "records", "nowhere.jsonl", "-", "--type", "types_here:Document", code=2).stderr
    )
    Path("empty.jsonl").write_text("")
    assert (
        "empty.jsonl: has no records"
        in run("score", "records", "empty.jsonl", "gold.jsonl", "--type", "types_here:Document", code=2).stderr
    )
    Path("latin.jsonl").write_bytes('{"id": "a", "relations": [], "x": "café"}'.encode("latin-1"))
    message = run("score", "records", "latin.jsonl", "gold.jsonl", "--type", "types_here:Document", code=2).stderr
    assert "latin.jsonl:1" in message


def test_a_misspelt_command(folder):
    assert 'Did you mean "records"' in run("score", "record", code=2).stderr


def test_demo_copies_the_examples_and_never_over_other_files(tmp_path):
    assert "example files into" in run("demo", "--copy", tmp_path / "new").stdout
    assert (tmp_path / "new" / "invoices.gold.jsonl").stat().st_size
    assert not (tmp_path / "new" / "__init__.py").exists()
    assert "already exists" in run("demo", "--copy", tmp_path / "new", code=2).stderr


def test_demo_and_list_run():
    shown = run("demo").stdout
    assert "lines[*].quantity" in shown
    assert "Why? The worst document" in shown
    assert "The files are in" in shown
    assert "levenshtein" not in run("list", "tasks").stdout
    assert "match" in run("list").stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rows", "3"], "--rows says how many rows of --by document (or of --errors) are shown; give both"),
        (
            ["--limit", "3", "--by", "field"],
            "--rows says how many rows of --by document (or of --errors) are shown; give both",
        ),
        (["--report-documents", "3"], "--report-documents says how many documents of --report carry"),
        (
            ["--worst", "1", "--by", "label", "--label", "relations[*].type"],
            "--worst shows where documents differ, not labels",
        ),
        (["--describe", "--tallies", "t.csv"], "--describe scores nothing; leave it out, or --tallies"),
        (["--describe", "--report", "r.html"], "--describe scores nothing; leave it out, or --report"),
        (["--describe", "--fail-under", "f1=1"], "--describe scores nothing; leave it out, or --fail-under"),
    ],
)
def test_an_option_without_effect_is_an_error_of_usage(folder, options, said):
    assert said in score(*options, code=2).stderr


def test_the_help_names_the_kinds_of_files():
    assert "Parquet" in run("score", "records", "--help").stdout
    assert ".parquet" in run("--help").stdout


def test_a_predicted_line_that_is_not_json_points_to_leniency_and_a_reference_does_not(folder):
    text = Path("system.jsonl").read_text()
    Path("system.jsonl").write_text(text[:-30] + "\n")
    said = score(code=2).stderr
    assert "system.jsonl:2:" in said
    assert "is not JSON: ends too early; --lenient repairs what it can and counts the rest" in said
    score("--lenient")
    Path("gold.jsonl").write_text(text[:-30] + "\n")
    said = score(code=2).stderr
    assert "gold.jsonl:2:" in said
    assert "is not JSON: ends too early\n" in said


def test_a_label_that_is_not_there_is_answered_with_those_that_are(folder):
    rows = [{"id": "a", "kind": "x", "relations": [{"type": "t", "notes": ["u"]}]}]
    write("gold.jsonl", rows)
    command = ["score", "records", "gold.jsonl", "gold.jsonl", "--by", "label", "--label"]
    said = run(*command, "kind", code=2).stderr
    assert "no label at 'kind'" in said
    assert "labels can be taken from relations[*].type." in said
    said = run(*command, "relations[*].notes", code=2).stderr
    assert "no label at 'relations[*].notes': expected a text or a number for each item, found ['u']" in said
    write("gold.jsonl", [{"id": "a", "words": ["x"]}])
    assert (
        "no label at 'words[*]': a label is a field of what stands in a list"
        in run(*command, "words[*]", code=2).stderr
    )


@pytest.mark.parametrize("more", [(), ("--shard", "300"), ("--shard", "300", "--jobs", "2")], ids=" ".join)
@pytest.mark.parametrize("named", [True, False], ids=["by id", "by order"])
def test_a_report_in_shards_is_that_of_the_whole(folder, named, more):
    def documents(guess):
        for k in range(40):  # some all right, some empty on both sides, some equally bad
            lines = [{"sku": j, "price": j + (guess and k % 3 == j)} for j in range(k % 5)]
            yield {**({"id": f"d{k}"} if named else {}), "lines": lines}

    write("gold.jsonl", documents(False))
    write("system.jsonl", documents(True))
    files = ("score", "records", "gold.jsonl", "system.jsonl")
    whole = run(*files, "--worst", "4", "--report", "whole.html", "--report-documents", "25")
    parts = run(*files, "--worst", "4", "--report", "parts.html", "--report-documents", "25", *more)
    assert Path("parts.html").read_text() == Path("whole.html").read_text()
    assert parts.stdout == whole.stdout == run(*files, "--worst", "4").stdout
    data = json.loads(Path("parts.html").read_text().partition('id="data">')[2].partition("</script>")[0])
    assert list(data["aligned"]) == [str(k) for k in range(25)]
    assert all(one["tree"] is not None for one in data["aligned"].values())


@pytest.mark.parametrize("name", ["größe", "日本", "e\u0301"])
@pytest.mark.parametrize("escaped", [True, False])
def test_fields_whose_names_are_not_ascii(tmp_path, name, escaped):
    """A decoder that does not know them would say that they are missing, or miss them without a word where they may be."""
    name = "".join(list(name))  # a text of its own
    rows = [{"nr": k, f"{name}nr": f"d{k}", name: "a", "lines": [{name: k}, {name: 1}][: k + 1]} for k in range(3)]
    rows[1].pop(name)
    wrong = [{**row, "lines": [{name: 9}]} for row in rows]
    for file, side in (("gold", rows), ("system", wrong)):
        text = "".join(json.dumps(row, ensure_ascii=escaped) + "\n" for row in side)
        (tmp_path / file).write_text(text, encoding="utf-8")
    done = run("score", "records", tmp_path / "gold", tmp_path / "system", "--id", f"{name}nr", "--format", "json")
    found = json.loads(done.stdout)
    assert found["metrics"]["records"]["tally"] == {"num_p": 5.0, "den_p": 8.0, "num_r": 5.0, "den_r": 10.0}
    schema = {"type": "object", "properties": {"nr": {"type": "integer"}, name: {"type": "string"}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    how = "--schema", tmp_path / "schema.json", "--format", "json"
    tally = json.loads(run("score", "records", tmp_path / "gold", tmp_path / "gold", *how).stdout)["metrics"]["records"]
    assert tally["tally"]["num_p"] == 5.0


def test_fields_of_classes_whose_names_are_not_ascii(tmp_path):
    (tmp_path / "types_.py").write_text(
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass Ding:\n    größe: int\n    länge: float | None = None\n",
        encoding="utf-8",
    )
    write(tmp_path / "gold.jsonl", [{"größe": 1, "länge": 2.5}, {"größe": 2}])
    done = run(
        "score", "records", "gold.jsonl", "gold.jsonl", "--type", "types_.py:Ding", "--format", "json", cwd=tmp_path
    )
    assert json.loads(done.stdout)["metrics"]["records"]["tally"]["num_p"] == 3.0


@pytest.mark.parametrize(
    ("path", "named"),
    [("doc-id", lambda k: {"doc-id": k}), ("my id", lambda k: {"my id": k}), ("a.b", lambda k: {"a.b": k}),
     ("meta.id", lambda k: {"meta": {"id": k, "n": 1}})],
)  # fmt: skip
def test_an_id_of_any_name_is_no_figure(tmp_path, path, named):
    """A field that pairs the documents is always right, wherever it stands in them."""
    rows = [{**named(f"d{k}"), "total": k} for k in range(3)]
    write(tmp_path / "gold.jsonl", rows)
    write(tmp_path / "system.jsonl", [{**row, "total": 9} for row in rows])
    done = run("score", "records", tmp_path / "gold.jsonl", tmp_path / "system.jsonl", "--id", path, "--format", "json")
    tally = json.loads(done.stdout)["metrics"]["records"]["tally"]
    assert (tally["num_p"], tally["den_p"]) == ((3.0, 6.0) if "n" in rows[0].get("meta", {}) else (0.0, 3.0))


def test_an_object_that_holds_nothing_but_the_id_is_compared(tmp_path):
    write(tmp_path / "gold.jsonl", [{"meta": {"id": f"d{k}"}, "total": k} for k in range(3)])
    done = run(
        "score", "records", tmp_path / "gold.jsonl", tmp_path / "gold.jsonl", "--id", "meta.id", "--format", "json"
    )
    assert json.loads(done.stdout)["metrics"]["records"]["f1"] == 1.0


def test_what_means_over_documents_leave_out_is_said(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": 1, "a": 1}\n{"id": 2, "a": 2}\n')
    (tmp_path / "system.jsonl").write_text('{"id": 1, "a": 1}\n{"id": 2}\n')
    files = str(tmp_path / "gold.jsonl"), str(tmp_path / "system.jsonl")
    said = "records (macro): documents in which a figure is 0/0 are left out: precision 1\n"
    assert said in run("score", "records", *files, "--macro").stderr
    assert "left out" not in run("score", "records", *files, "--macro", "--undefined", "0").stderr
    assert "left out" not in run("score", "records", *files).stderr

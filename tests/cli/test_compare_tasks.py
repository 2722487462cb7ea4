"""`tallystick compare TASK` for every task: intervals, identical systems, and documents that a system did not answer."""

import json
import re
from pathlib import Path

import pytest

import tallystick
from running import run, write
from tallystick.tasks.contract import task_names

EXAMPLES = Path(tallystick.__file__).parent / "examples"
EXAMPLE = {  # of each task a reference, a system (files, or what stands in them) and metrics
    "amr": (
        "# ::id a\n(w / want-01 :ARG0 (b / boy))\n\n# ::id b\n(g / go-02)\n",
        "# ::id a\n(w / want-01 :ARG1 (b / boy))\n\n# ::id b\n(g / go-02)\n",
        "smatch",
    ),
    "arguments": ("arguments.gold.jsonl", "arguments.system.jsonl", "exact", "same_text"),
    "calls": (
        '{"id": "a", "calls": [{"name": "f", "arguments": {"x": 1, "y": [1, 2]}}]}',
        '{"id": "a", "calls": [{"name": "f", "arguments": {"x": 1, "y": [2, 1]}}]}',
        "arguments",
        "calls",
    ),
    "coreference": (
        "#begin document (a); part 000\na 0 0 w (1)\na 0 1 w (1)\na 0 2 w (1)\n\n#end document\n",
        "#begin document (a); part 000\na 0 0 w (1)\na 0 1 w (1)\na 0 2 w -\n\n#end document\n",
        "muc",
        "b3",
    ),
    "dependencies": ("dependencies.gold.conllu", "dependencies.system.conllu", "las", "uas"),
    "events": ("events.gold.jsonl", "events.system.jsonl", "arg_c", "arg_f1"),
    "hierarchies": ("table1.gold.newick", "table1.system1.newick", "muc_p", "blanc_p"),
    "nary": ("nary.gold.jsonl", "nary.system.jsonl", "n2", "scirex_n2"),
    "records": ("invoices.gold.jsonl", "invoices.system.jsonl", "records"),
    "relations": ("relations.gold.jsonl", "relations.system.jsonl", "strict", "relaxed"),
    "roles": ("roles.gold.jsonl", "roles.system.jsonl", "ceaf_ree", "grit_strict"),
    "spans": ("spans.gold.iob", "spans.system.iob", "ts", "strict"),
    "templates": (
        '{"id": "a", "templates": [{"type": "attack", "slots": {"Victim": ["a man"], "Place": ["here"]}}]}',
        '{"id": "a", "templates": [{"type": "attack", "slots": {"Victim": ["a man"]}}]}',
        "eq32",
    ),
}


def compared(*arguments, code=0):
    done = run("compare", *map(str, arguments), "--format", "json", code=code)
    return json.loads(done.stdout) if code == 0 else done.stderr


def example(task, folder):
    """The two files of a task's example."""
    for side, content in zip(("gold", "system"), EXAMPLE[task][:2], strict=True):
        (folder / side).write_text(content)
        yield EXAMPLES / content if (EXAMPLES / content[:60]).exists() else folder / side


@pytest.mark.parametrize("task", task_names())
def test_every_task_compares(task, tmp_path):
    gold, system = example(task, tmp_path)
    metrics = EXAMPLE[task][2:]
    chosen = [part for name in metrics for part in ("--metric", name)] if task != "records" else []
    found = compared(task, gold, f"A={system}", f"B={system}", f"gold={gold}", *chosen)
    assert list(found["systems"]["A"]) == list(metrics)
    for metric in metrics:
        first, second = (found["systems"][name][metric] for name in "AB")
        assert first == second
        assert first["rank"] == 2.5
        assert first["value"] < found["systems"]["gold"][metric]["value"] == pytest.approx(1, abs=1e-6)
    assert "seed=0" in found["signature"]
    between = [row["difference"] for row in found["differences"] if {row["first"], row["second"]} == {"A", "B"}]
    assert between == ([0] * len(metrics) if found["differences"] else [])


@pytest.mark.parametrize("task", task_names())
def test_every_task_compares_means_over_data_sets(task, tmp_path):
    """Of a data set that A has wrong and one that it has right, the mean; B has both right."""
    gold, system = example(task, tmp_path)
    metric = EXAMPLE[task][2]
    chosen = ["--metric", metric] if task != "records" else []
    found = compared(task, f"{gold},{gold}", f"A={system},{gold}", f"B={gold},{gold}", *chosen)
    alone = compared(task, gold, f"A={system}", f"B={gold}", *chosen)["systems"]
    a, b = (found["systems"][name][metric] for name in "AB")
    assert a["value"] == pytest.approx((alone["A"][metric]["value"] + alone["B"][metric]["value"]) / 2)
    assert (a["runs"], a["rank"], b["rank"]) == (2, 2, 1)
    assert [found["splits"][split]["A"][metric] for split in ("1", "2")] == pytest.approx(
        [alone["A"][metric]["value"], alone["B"][metric]["value"]]
    )
    (row,) = found["differences"]
    assert row["difference"] == pytest.approx(b["value"] - a["value"])
    several = int(re.match(r"(\d+)", found["notes"][0])[1]) > 2
    assert (row["p"] is not None) == several  # one document in each data set is not tested


@pytest.mark.parametrize("task", task_names())
def test_every_task_has_the_figures_of_one_document(task, tmp_path):
    gold, system = example(task, tmp_path)
    metric = EXAMPLE[task][2]
    chosen = ["--metric", metric] if task != "records" else []
    score = ("score", task, gold, system, *chosen, "--format", "json")
    by_id = json.loads(run(*score, "--by", "document").stdout)["documents_by_id"][metric]
    name = next(iter(by_id))
    found = json.loads(run(*score, "--document", name).stdout)
    figures = found["metrics"][metric]
    assert {key: figures[key] for key in by_id[name] if key in figures} == {
        k: v for k, v in by_id[name].items() if k in figures
    }
    assert f"document={name}" in found["signature"]
    assert found["documents"] == 1
    assert "no " in run(*score, "--document", "nobody", code=2).stderr
    assert run(*score, "--document", name, "--report", tmp_path / "page.html", code=2).stderr.startswith(
        "Error: --document has the figures of one"
    )


# Two documents, a system that has both, one that has the first, and one that has one more. By task: how a document is
# written, its name, and the suffix of the file
def chain(name):
    cells = ("(1)", "(1)", "-")
    lines = "".join(f"{name}\t0\t{k}\tw\t{cell}\n" for k, cell in enumerate(cells))
    return f"#begin document ({name}); part 000\n{lines}\n#end document\n"


def as_json(**content):
    return lambda name: json.dumps({"id": name, **content}) + "\n"


def event(name):
    events = [{"trigger": [1, 2, "T", "x"], "arguments": [[0, 1, "R", "y"]]}]
    return json.dumps({"doc_id": name, "wnd_id": name, "tokens": ["y", "x"], "events": events}) + "\n"


def paper(name):
    content = {"ner": [[0, 1, "Task"], [2, 3, "Method"]], "coref": {"Q": [[0, 1]], "B": [[2, 3]]}}
    return json.dumps({"doc_id": name, **content, "n_ary_relations": [{"Task": "Q", "Method": "B"}]}) + "\n"


WRITTEN = {
    "amr": (lambda name: f"# ::id {name}\n(w / want-01 :ARG0 (b / boy))\n\n", "amr", ()),
    "arguments": (event, "jsonl", ()),
    "coreference": (chain, "conll", ("--metric", "muc", "--metric", "blanc")),
    "events": (event, "jsonl", ()),
    "hierarchies": (lambda name: f"{name}\t(1(2)(3))\n", "newick", ("--metric", "muc_p")),
    "nary": (paper, "jsonl", ("--metric", "n2", "--metric", "clusters")),
    "records": (as_json(value=["x", "y"]), "jsonl", ()),
    "relations": (
        as_json(
            relations=[
                {"type": "R", "subj": {"start": 0, "end": 1, "type": "A"}, "obj": {"start": 2, "end": 3, "type": "A"}}
            ]
        ),
        "jsonl",
        ("--metric", "strict"),
    ),
    "roles": (as_json(roles={"Victim": [["a man"]]}), "jsonl", ("--metric", "ceaf_ree")),
    "spans": (as_json(text="Anna met", spans=[[0, 4, "PER"]]), "jsonl", ()),
    "templates": (
        as_json(templates=[{"type": "attack", "slots": {"Victim": ["a man"]}}]),
        "jsonl",
        ("--metric", "eq32"),
    ),
}


@pytest.fixture(params=WRITTEN)
def task(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document, suffix, options = WRITTEN[request.param]
    for file, names in (("gold", "ab"), ("both", "ab"), ("first", "a"), ("more", "abc")):
        Path(f"{file}.{suffix}").write_text("".join(document(name) for name in names))
    files = (f"gold.{suffix}", f"both=both.{suffix}", f"first=first.{suffix}")
    return request.param, files, options, f"more=more.{suffix}"


def test_a_missing_document_is_an_error(task):
    name, files, options, _ = task
    message = compared(name, *files, *options, code=3)
    assert "b" in message
    assert "; --missing empty counts what a system did not answer as empty answers, --missing intersect" in message
    assert "--lenient" not in message


def test_a_document_too_many_is_an_error(task):
    name, files, options, more = task
    message = compared(name, *files[:2], more, *options, code=3)
    assert "; --missing empty or --missing intersect ignores what the reference does not have" in message


def test_a_missing_document_counts_as_empty(task):
    name, files, options, more = task
    found = compared(name, *files, more, *options, "--missing", "empty")
    for metric, cell in found["systems"]["both"].items():
        assert cell["value"] == 1
        assert found["systems"]["more"][metric]["value"] == 1
        value = found["systems"]["first"][metric]["value"]
        assert value < 1, metric
    notes = "\n".join(found["notes"])
    assert re.search(r'Warning: first: 1 document not answered, counted as empty answers: "\(?b', notes)
    assert re.search(r'more: 1 document ignored because the reference does not have them: "\(?c', notes)
    assert "invalid" not in notes
    assert "having no reference" not in notes  # which would be the same again


def test_a_missing_document_is_left_out_for_all(task):
    name, files, options, _ = task
    found = compared(name, *files, *options, "--missing", "intersect")
    assert {cell["value"] for cells in found["systems"].values() for cell in cells.values()} == {1}
    assert found["notes"][0] in ("1 document", "1 graph")
    assert any("left out for all systems" in note for note in found["notes"])
    assert not any("invalid" in note for note in found["notes"])


def test_what_is_asked_for_goes_before_what_the_reference_scorer_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, names in (("gold", "ab"), ("first", "a"), ("more", "abc")):
        Path(f"{file}.conll").write_text("".join(chain(name) for name in names))
    asked = ("gold.conll", "first.conll", "more.conll", "--compat", "reference", "--metric", "muc")
    usual, empty, left_out = (compared("coreference", *asked, *more) for more in ((), ("--missing", "empty"), ("--missing", "intersect")))  # fmt: skip
    values = [found["systems"]["first.conll"]["muc"]["value"] for found in (usual, empty, left_out)]
    assert values == [pytest.approx(2 / 3), pytest.approx(2 / 3), 1]
    assert left_out["notes"][0] == "1 document"
    assert "1 document not answered, counted as empty answers" in "\n".join(empty["notes"])


def test_dependencies_have_no_documents_that_could_be_missing():
    gold, system, *_ = EXAMPLE["dependencies"]
    message = compared("dependencies", EXAMPLES / gold, EXAMPLES / system, "--missing", "empty", code=2)
    assert "no document can be missing" in message


def test_brat_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, names in (("gold", "ab"), ("first", "a"), ("more", "abc")):
        Path(folder).mkdir()
        for name in names:
            Path(folder, f"{name}.ann").write_text("T1\tPER 0 4\tAnna\n")
            Path(folder, f"{name}.txt").write_text("Anna met\n")
    assert '1 only in the reference: "b"' in compared("spans", "gold", "first", code=3)
    found = compared("spans", "gold", "first", "more", "--missing", "empty", "--metric", "segment")
    assert [found["systems"][name]["segment"]["value"] for name in ("first", "more")] == [pytest.approx(2 / 3), 1]


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gold = [{"id": k, "value": [k % 5, k % 7]} for k in range(30)]
    write("gold.jsonl", gold)
    for name, wrong in (("a", 3), ("b", 4), ("c", 2)):
        write(f"{name}.jsonl", [{**row, "value": [9, 9] if row["id"] % wrong == 0 else row["value"]} for row in gold])
    return tmp_path


def test_runs_have_mean_spread_interval_and_letters(records):
    found = compared("records", "gold.jsonl", "A=a.jsonl,b.jsonl", "C=c.jsonl")
    cell = found["systems"]["A"]["records"]
    assert (cell["runs"], cell["rank"], cell["beats"]) == (2, 1, "b")
    assert cell["interval"][0] < cell["value"] < cell["interval"][1]
    text = run("compare", "records", "gold.jsonl", "A=a.jsonl,b.jsonl", "C=c.jsonl", "--format", "latex").stdout
    assert "$\\pm$" in text
    assert "A\\textsuperscript{a}" in text


def test_splits_have_a_reference_for_each_run(records):
    write("gold2.jsonl", [{"id": f"x{k}", "value": [k]} for k in range(10)])
    write("d.jsonl", [{"id": f"x{k}", "value": [k if k else 99]} for k in range(10)])
    found = compared("records", "gold.jsonl,gold2.jsonl", "A=a.jsonl,d.jsonl", "B=b.jsonl,d.jsonl")
    assert found["systems"]["A"]["records"]["interval"][0] < found["systems"]["A"]["records"]["value"]
    assert found["systems"]["B"]["records"]["rank"] == 1
    message = compared("records", "gold.jsonl,gold2.jsonl", "A=a.jsonl,d.jsonl", "B=b.jsonl", code=2)
    assert "B has 1 file and there are 2 references" in message
    message = compared("records", "gold.jsonl,gold2.jsonl", "a.jsonl,d.jsonl", code=2)
    assert "NAME=FILE1,FILE2,... names the files of a system" in message
    text = run("compare", "records", "gold.jsonl,gold2.jsonl", "A=a.jsonl,d.jsonl", "--format", "table").stdout
    assert "(2 splits)" in text
    assert "±: standard deviation over splits." in text


def test_means_over_documents(records):
    found = compared("records", "gold.jsonl", "a.jsonl", "b.jsonl", "--macro")
    assert found["systems"]["a.jsonl"]["records"]["value"] == pytest.approx(2 / 3)
    assert "average=documents" in found["signature"]


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_means_over_documents_of_an_average_over_labels(tmp_path, monkeypatch, average):
    monkeypatch.chdir(tmp_path)
    Path("gold.iob").write_text("a B-X\nb B-Y\n\na O\n\na B-X\nb O\nc B-X\n\n")
    Path("system.iob").write_text("a B-X\nb O\n\na O\n\na B-X\nb O\nc O\n\n")
    asked = ("--macro", "--metric", "segment", "--average", average)
    found = compared("spans", "gold.iob", "system.iob", *asked)
    # the sentence without a segment on either side is left out; of the first, X is right and Y is not there
    first = {"micro": 2 / 3, "macro": 0.5, "weighted": 0.5}[average]
    assert found["systems"]["system.iob"]["segment"]["value"] == pytest.approx((first + 2 / 3) / 2)
    assert f"average=documents of {average}" in found["signature"]
    assert any("0/0 in 1 document, which its mean leaves out" in note for note in found["notes"])
    for more in ((), ("--jobs", "1", "--shard", "20B")):
        alone = json.loads(run("score", "spans", "gold.iob", "system.iob", *asked, *more, "--format", "json").stdout)
        assert alone["over_documents"]["segment"]["f1"] == found["systems"]["system.iob"]["segment"]["value"]
    table = run("score", "spans", "gold.iob", "system.iob", *asked).stdout.splitlines()
    assert table[2].split("\t")[:2] == ["segment (macro)", f"documents of {average}"]
    assert float(table[2].split("\t")[4]) == found["systems"]["system.iob"]["segment"]["value"]


def test_the_seed_is_in_the_signature_and_changes_what_is_drawn(records):
    found = [compared("records", "gold.jsonl", "a.jsonl", "b.jsonl", "--seed", seed) for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert "seed=2" in found[2]["signature"]
    assert found[0]["systems"] != found[2]["systems"]
    assert "-1" in run("compare", "records", "gold.jsonl", "a.jsonl", "--seed", "-1", code=2).stderr


def test_every_pair_of_systems(records):
    shown = run("compare", "records", "gold.jsonl", "a.jsonl", "c.jsonl", "--differences", "--test", "randomisation")
    line = shown.stdout.splitlines()[-1].split("\t")
    assert line[:3] == ["records", "a.jsonl", "c.jsonl"]
    assert float(line[3]) == pytest.approx(-1 / 6)
    assert 0 < float(line[6]) == float(line[7]) < 1


def test_html_is_a_table_and_text_stays_text(records):
    shown = run("compare", "records", "gold.jsonl", "<b>=a.jsonl", "c.jsonl", "--format", "html").stdout
    assert shown.startswith("<table>")
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown.replace("<b>0.6667</b>", "")  # the best is marked


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (["A="], "expected FILE or NAME=FILE, found 'A='"),
        (["=a.jsonl"], "expected FILE or NAME=FILE, found '=a.jsonl'"),
        (["A=a.jsonl,"], "expected NAME=FILE1,FILE2,..., found 'A=a.jsonl,'"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_wrong_systems(records, systems, message):
    assert message in compared("records", "gold.jsonl", *systems, code=2)


def test_a_file_with_an_equals_sign_is_a_file(records):
    Path("x=1.jsonl").write_text(Path("a.jsonl").read_text())
    assert list(compared("records", "gold.jsonl", "x=1.jsonl")["systems"]) == ["x=1.jsonl"]


@pytest.mark.parametrize("task", task_names())
def test_arrows_count_from_the_metric_that_is_named(task, tmp_path):
    gold, system = example(task, tmp_path)
    metrics = EXAMPLE[task][2:]
    chosen = [part for name in metrics for part in ("--metric", name)] if task != "records" else []
    flag = "--arrows-from" if task in ("records", "calls") else "--from"  # which is a field of their lines
    for base in metrics:
        assert compared(task, gold, f"A={system}", f"gold={gold}", *chosen, flag, base)["base"] == base
    said = compared(task, gold, f"A={system}", *chosen, flag, f"{metrics[0]}x", code=2)
    assert f'Did you mean "{metrics[0]}"' in said


def test_arrows_of_arguments_count_from_exact_match_as_in_table_8():
    systems = (f"{name}={EXAMPLES / f'arguments.{name}.jsonl'}" for name in ("system", "second"))
    found = compared(
        "arguments", EXAMPLES / "arguments.gold.jsonl", *systems, "--parses", EXAMPLES / "arguments.parses.conllu"
    )
    assert found["base"] == "exact"
    assert {name: cells["exact"]["moved"] for name, cells in found["systems"].items()} == {"system": 0, "second": 0}
    assert found["systems"]["system"]["modifiers"]["moved"] == 1

"""Documents that a prediction lacks: with `missing="empty"` they count as if each were there and empty, in every task."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import tallystick as ts
from bundled import EXAMPLES, FILES
from running import run
from tallystick.tasks.contract import find_task, task_names

ABOUT = {"id", "doc_id", "wnd_id", "tokens", "sentences"}
"""What a document of JSON Lines is called and what text it has; all else is what somebody found in it."""
COPIES = "abcd"
GAPS = "bd"


def lines(text, name, empty):
    """Documents of JSON Lines under other names."""
    out = ""
    for line in text.splitlines():
        document = json.loads(line)
        document |= {key: f"{document[key]}-{name}" for key in ("id", "doc_id", "wnd_id") if key in document}
        if empty and "response" in document:  # an answer that calls nothing
            document["response"]["choices"][0]["message"]["tool_calls"] = []
        elif empty:
            found = {key: type(value)() for key, value in document.items() if isinstance(value, (list, dict))}
            document = {
                key: document[key] if key in ABOUT else found[key] for key in document if key in {*ABOUT, *found}
            }
        out += json.dumps(document) + "\n"
    return out


def chains(text, name, empty):
    text = re.sub(r"\bmayor(?=\)|\s\d)", name, text)
    return re.sub(r"(?m)^(\S+ \d+ \d+ \S+) .*$", r"\1 -", text) if empty else text


def graphs(text, name, empty):
    text = re.sub(r"(::id \S+)", rf"\1-{name}", text).rstrip() + "\n\n"
    return "".join(f"{one}\n\n" for one in re.findall(r"# ::id \S+", text)) if empty else text


def forests(text, name, empty):
    forest = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    return f"{name}\t{'' if empty else forest}\n"


def tags(text, name, empty):
    out = ""
    for k, sentence in enumerate(text.strip().split("\n\n")):
        tokens, found = zip(*(line.split() for line in sentence.splitlines()), strict=True)
        found = ["O"] * len(found) if empty else found
        out += json.dumps({"id": f"{name}{k}", "tokens": tokens, "ner_tags": found}) + "\n"
    return out


WRITE = {
    "coreference": (chains, "conll"),
    "amr": (graphs, "txt"),
    "hierarchies": (forests, "newick"),
    "spans": (tags, "jsonl"),
}
"""How copies of a task's example are written under other names, and the suffix; JSON Lines, if nothing else is said."""
TASKS = [name for name in task_names() if not find_task(name).without_missing]


@pytest.fixture(params=TASKS)
def corpus(request, tmp_path, monkeypatch):
    """A task, and the files of a reference, of a prediction that lacks documents, of one that has them empty, of one that has all, and of a
    reference that has few."""
    monkeypatch.chdir(tmp_path)
    write, suffix = WRITE.get(request.param, (lines, "jsonl"))
    gold, system = ((EXAMPLES / file).read_text(encoding="utf-8") for file in FILES[request.param])
    files = {
        "gold": [write(gold, name, False) for name in COPIES],
        "gaps": [write(system, name, False) for name in COPIES if name not in GAPS],
        "filled": [write(system, name, name in GAPS) for name in COPIES],
        "whole": [write(system, name, False) for name in COPIES],
        "few": [write(gold, name, False) for name in COPIES if name not in GAPS],
    }
    for file, documents in files.items():
        Path(f"{file}.{suffix}").write_text("".join(documents), encoding="utf-8")
    return request.param, *(f"{file}.{suffix}" for file in files)


def scored(task, reference, predicted, **options):
    return getattr(ts, task)(reference, predicted, **options)


def test_what_is_missing_counts_as_an_empty_document(corpus):
    task, gold, gaps, filled, whole, _ = corpus
    found, wanted = scored(task, gold, gaps, missing="empty"), scored(task, gold, filled)
    assert list(found) == list(wanted)
    for name, result in found.items():
        assert result.ids == wanted[name].ids
        assert result.figures == wanted[name].figures, name
        assert result.documents == wanted[name].documents, name
        assert "missing=empty" in result.signature
        assert "missing" not in wanted[name].signature.replace("missing,", "")
    full = scored(task, gold, whole)
    assert any(full[name].figures != result.figures for name, result in found.items()), "nothing was missed here"


PLAIN = {
    "spans": ["B-X"],
    "spans, offsets": [(0, 1, "X")],
    "spans, text": {"text": "u v", "spans": [(0, 1, "X")]},
    "coreference": [[(0, 1), (2, 3)]],
    "coreference, texts": [["Ann", "her"]],
    "roles": {"r": [["x"]]},
    "relations": [("r", (0, 1), (2, 3))],
    "nary": [{"drug": [(0, 1)]}],
    "events": [{"type": "A", "trigger": [0, 1], "arguments": []}],
    "arguments": [{"type": "A", "trigger": [0, 1], "arguments": [{"role": "R", "start": 1, "end": 2, "text": "x"}]}],
    "templates": [{"type": "A", "slots": {"s": ["x"]}}],
    "hierarchies": [("a", "b")],
    "amr": "(a / b)",
}


@pytest.mark.parametrize("task", PLAIN)
def test_an_empty_prediction_from_python_lacks_all_documents(task):
    score, one = getattr(ts, task.partition(",")[0]), PLAIN[task]
    for nothing in ({}, []):
        found = score({"d": one, "e": one}, nothing, missing="empty")
        assert "2 documents not answered, counted as empty answers: " in " ".join(found.warnings)
        assert all(result.figures.get("recall", 0) == 0 for result in found.values())
        with pytest.raises(ts.TallystickError, match=r'2 only in the reference.*missing="empty"'):
            score({"d": one, "e": one}, nothing)
        with pytest.raises(ts.TallystickError, match=r"reference has no documents|can be read in two ways"):
            score(nothing, {"d": one})


def test_arguments_of_a_document_that_only_the_prediction_has_need_no_text(tmp_path):
    """It is ignored, or an error as such."""
    events = [{"type": "A", "trigger": [0, 1], "arguments": [{"role": "R", "start": 1, "end": 2}]}]
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    gold.write_text(json.dumps({"id": "a", "tokens": ["x", "y"], "events": events}))
    system.write_text("\n".join(json.dumps({"id": name, "events": events}) for name in "ab"))
    for missing in ("empty", "intersect"):
        done = run("compare", "arguments", gold, system, gold, "--missing", missing)
        assert 'system.jsonl: 1 document ignored because the reference does not have them: "b"' in done.stderr
    for options in ((), ("--missing", "empty")):
        assert '1 only in the prediction: "b"' in run("score", "arguments", gold, system, *options, code=3).stderr
    gold.write_text(json.dumps({"id": "a", "events": events}))
    assert "no tokens in which it could be read" in run("score", "arguments", gold, gold, code=2).stderr


def test_a_warning_says_how_many_were_not_answered(corpus):
    task, gold, gaps, _, whole, _ = corpus
    result = scored(task, gold, gaps, missing="empty")
    many = len(GAPS) * result.count // len(COPIES)
    (said,) = [one for one in result.warnings if "not answered" in one]
    assert said.startswith(f"{many:,} documents not answered, counted as empty answers: ")
    assert not any("not answered" in one for one in scored(task, gold, whole, missing="empty").warnings)


def test_otherwise_it_is_an_error_that_names_the_remedy(corpus):
    task, gold, gaps, _, whole, few = corpus
    with pytest.raises(ts.TallystickError, match='; missing="empty" counts what was not answered as empty answers'):
        scored(task, gold, gaps)
    for options in ({}, {"missing": "empty"}):  # what only the prediction has stays an error
        with pytest.raises(ts.TallystickError, match=r"the document ids differ; .* only in the prediction"):
            scored(task, few, whole, **options)


def test_the_commands_have_it(corpus):
    task, gold, gaps, filled, *_ = corpus
    assert "; --missing empty counts what was not answered" in run("score", task, gold, gaps, code=3).stderr
    wanted, found = (as_json("score", task, gold, *more) for more in ((filled,), (gaps, "--missing", "empty")))
    assert {name: figures(of) for name, of in found["metrics"].items()} == {
        name: figures(of) for name, of in wanted["metrics"].items()
    }
    assert found["documents_by_id"] == wanted["documents_by_id"]
    assert any("documents not answered, counted as empty answers" in one for one in found["warnings"])


def test_shards_have_it(corpus, tmp_path):
    task, gold, gaps, *_ = corpus
    asked = ("score", task, gold, gaps, "--missing", "empty")
    if find_task(task).whole(find_task(task).Settings()):
        pytest.skip("it is scored as a whole")
    whole, cut, kept, known = (
        as_json(*asked, *more)
        for more in ((), ("--shard", "100"), *([("--shard", "300", "--state", tmp_path / "state")] * 2))
    )
    assert "shards by name" in run(*asked, "--shard", "100").stderr  # also those in which nothing was answered are cut
    for found in (cut, kept, known):
        assert found["metrics"] == whole["metrics"]
        assert found["documents_by_id"] == whole["documents_by_id"]
        assert [one for one in found["warnings"] if "answer" in one] == [
            one for one in whole["warnings"] if "answer" in one
        ]


def as_json(*command):
    return json.loads(run(*command, "--format", "json", "--by", "document").stdout)


def figures(metric):
    return {name: value for name, value in metric.items() if name != "signature"}


def test_a_document_that_was_not_answered_can_be_explained(corpus):
    task, gold, gaps, filled, *_ = corpus
    named = next(iter(as_json("score", task, gold, filled)["documents_by_id"].values()))
    missing = next(name for name in named if re.search(r"\bb\d*\b", name))
    found = run("explain", task, gold, gaps, "--document", missing, "--missing", "empty")
    assert re.search(r"(?m)^Warning: \d+ documents not answered, counted as empty answers", found.stderr)
    if task in ("records", "calls"):
        assert f"{missing}: there is no prediction" in found.stdout
    else:
        assert found.stdout == run("explain", task, gold, filled, "--document", missing).stdout


def test_a_report_has_the_warning(corpus):
    task, gold, gaps, *_ = corpus
    run("score", task, gold, gaps, "--missing", "empty", "--report", "page.html")
    assert "not answered, counted as empty answers" in Path("page.html").read_text(encoding="utf-8")


def test_parts_of_a_task_have_it(corpus):
    task, gold, gaps, *_ = corpus
    if find_task(task).whole(find_task(task).Settings()):
        pytest.skip("it is scored as a whole")
    parts = ts.Evaluation(task=task, missing="empty")
    parts.update(gold, gaps)
    assert parts.compute().figures == scored(task, gold, gaps, missing="empty").figures


def test_without_ids_nothing_tells_what_is_missing(tmp_path, monkeypatch):
    """Where the documents of files are paired by order, the option is an error, also if the numbers are equal."""
    monkeypatch.chdir(tmp_path)
    Path("clusters.jsonl").write_text('{"clusters": [[[0, 1], [2, 3]]]}\n' * 2)
    Path("relations.jsonl").write_text('{"relations": []}\n' * 2)
    tags = [["B-PER", "O"], ["O", "B-PER"]]
    for task, sides in (
        ("spans", (EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob")),
        ("records", ([{"a": 1}], [{"a": 1}])),
        ("coreference", ("clusters.jsonl",) * 2),
        ("relations", ("relations.jsonl",) * 2),
        ("hierarchies", (EXAMPLES / "table1.gold.newick", EXAMPLES / "table1.system1.newick")),
    ):
        scored(task, *sides)
        with pytest.raises(ts.TallystickError, match='missing="empty" needs document ids in both files'):
            scored(task, *sides, missing="empty")
    with pytest.raises(ts.TallystickError, match=r'mappings by document id can lack some \(missing="empty"\)'):
        ts.spans(tags, tags[:1], missing="empty")
    with pytest.raises(ts.TallystickError, match="no document can be missing"):
        ts.dependencies(*(EXAMPLES / file for file in FILES["dependencies"]), missing="empty")


def test_the_reference_scorer_counts_missing_documents_too():
    key, response = {"a": [[(0, 1), (2, 3)]], "b": [[(0, 1), (2, 3)]]}, {"a": [[(0, 1), (2, 3)]]}
    with pytest.raises(ts.TallystickError, match='; compat="reference" counts what the response lacks as missed'):
        ts.coreference(key, response)
    usual, asked = (
        ts.coreference(key, response, compat=compat, missing=missing)
        for compat, missing in (("reference", "error"), (None, "empty"))
    )
    assert usual["conll"].figures == asked["conll"].figures


def test_the_lenient_reading_of_records_goes_on_ignoring_what_only_the_prediction_has():
    gold, system = {"a": {"x": 1}, "b": {"x": 1}}, {"a": {"x": 1}, "c": {"x": 1}}
    found = ts.records(gold, system, lenient=True, missing="empty")
    assert found["records"].figures == ts.records(gold, system, lenient=True)["records"].figures
    assert any("ignored, having no reference: 1 prediction" in one for one in found.warnings)
    assert any("1 document not answered" in one for one in found.warnings)
    with pytest.raises(ts.TallystickError, match="; lenient=True scores a missing prediction as nothing and ignores"):
        ts.records(gold, system)


# An empty prediction lacks every document


def _empty_sides(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "object.json").write_text("{}")
    (tmp_path / "lines.jsonl").write_text("")
    (tmp_path / "table.csv").write_text("id,x\n")
    table = pa.table({"id": pa.array([], pa.string()), "x": pa.array([], pa.int64())})
    pq.write_table(table, tmp_path / "table.parquet")
    files = [tmp_path / one for one in ("list.json", "object.json", "lines.jsonl", "table.csv", "table.parquet")]
    return [*files, [], {}, pd.DataFrame({"id": [], "x": []}), pd.DataFrame(), table]


@pytest.mark.parametrize("task", ["records", "calls"])
@pytest.mark.parametrize("kind", ["mapping", "list", "file", "mapping in a file"])
def test_an_empty_prediction_lacks_every_document(tmp_path, task, kind) -> None:
    documents = {"a": {"x": 1}, "b": {"x": 2}} if task == "records" else {"a": ["f(x=1)"], "b": ["f(x=2)"]}
    key = "calls" if task == "calls" else "inner"
    listed = [{"id": name, **(one if task == "records" else {key: one})} for name, one in documents.items()]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in listed))
    (tmp_path / "gold.json").write_text(json.dumps(documents))
    files = {"file": tmp_path / "gold.jsonl", "mapping in a file": tmp_path / "gold.json"}
    gold = {"mapping": documents, "list": listed, **files}[kind]
    function = getattr(ts, task)
    for side in _empty_sides(tmp_path):
        if (
            kind in ("list", "file")
            and task == "records"
            and (isinstance(side, dict) or str(side).endswith("object.json"))
        ):
            continue  # one record without anything, unless the reference is a mapping by id
        with pytest.raises(ts.TallystickError, match='missing="empty" counts what was not answered'):
            function(gold, side)
        with pytest.raises(ts.TallystickError, match=r'has no records; .*missing="empty" counts what was not answered'):
            function(gold, side, lenient=True)
        result = next(iter(function(gold, side, missing="empty").values()))
        assert (result.count, result.recall, result.f1) == (2, 0, 0), side
        assert any('2 documents not answered, counted as empty answers: "a", "b"' in one for one in result.warnings), (
            side
        )
        assert not any("no call was found" in one or "no prediction has" in one for one in result.warnings), side


def test_an_empty_prediction_of_documents_without_ids(tmp_path) -> None:
    for function, gold in ((ts.records, [{"x": 1}, {"x": 2}]), (ts.calls, [["f()"], ["g()"]])):
        with pytest.raises(ts.TallystickError, match="reference has 2 records and predicted has 0"):
            function(gold, [])
    with pytest.raises(ts.TallystickError, match="has no records"):
        ts.records([], [{"x": 1}])
    with pytest.raises(ts.TallystickError, match="has no logs"):
        ts.calls([], [["f()"]])


def test_with_missing_a_mapping_of_one_record_is_by_id() -> None:
    result = ts.records({"a": {"x": 1}}, {}, missing="empty")["records"]
    assert (result.count, result.recall) == (1, 0)
    assert any('1 document not answered, counted as empty answers: "a"' in one for one in result.warnings)
    result = ts.records({"a": {"x": 1}, "b": {"x": 2}}, {"a": {"x": 1}}, missing="empty")["records"]
    assert (result.count, result.recall) == (2, 0.5)


# Ids on one side only


@pytest.mark.parametrize("task", ["records", "calls"])
@pytest.mark.parametrize("bare", ["reference", "predicted"])
def test_ids_on_one_side_only_are_said_to_be_of_no_use(tmp_path, monkeypatch, task, bare) -> None:
    monkeypatch.chdir(tmp_path)
    inside = [{"x": 1}, {"x": 2}] if task == "records" else [{"calls": ["f()"]}, {"calls": ["g()"]}]
    named = [{"id": str(k), **one} for k, one in enumerate(inside)]
    sides = {"reference": named, "predicted": named, bare: inside}
    other = "predicted" if bare == "reference" else "reference"
    function = getattr(ts, task)
    for result in function(*sides.values()).values():
        assert f"{bare} has no ids and {other} has; the documents are paired by order" in result.warnings
    for name, side in sides.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in side))
    said = f"{bare}.jsonl has no ids and {other}.jsonl has; the documents are paired by order"
    for more in ([], ["--jobs", "2"]) if task == "records" else ([],):
        done = run("score", task, "reference.jsonl", "predicted.jsonl", "--format", "json", *more)
        assert json.loads(done.stdout)["warnings"].count(said) == 1, more
    for same in (named, inside):
        assert not any("paired by order" in one for one in function(same, same).warnings)
    assert not any(
        "paired by order" in one for one in function(sides["reference"][:1], sides["predicted"][:1]).warnings
    )


# A list of documents in a file of lines

LISTED = {
    "records": [{"id": "a", "x": 1}, {"id": "b", "x": 2}],
    "calls": [{"id": "a", "calls": ["f(x=1)"]}, {"id": "b", "calls": ["g(x=1)"]}],
}


@pytest.mark.parametrize("task", LISTED)
def test_a_list_of_documents_on_one_line_is_one_document_and_that_is_said(tmp_path, task) -> None:
    function, listed = getattr(ts, task), LISTED[task]
    said = "is read as one document, because it is one line: a list of 2 objects with ids; expected a document on each line, or a .json file"

    def warned(name: str, text: str) -> list[str]:
        (tmp_path / name).write_text(text)
        found = next(iter(function(tmp_path / name, tmp_path / name).values()))
        return [one for one in found.warnings if "is read as one document" in one]

    assert warned("list.jsonl", json.dumps(listed) + "\n\n") == [f"{tmp_path / 'list.jsonl'} {said}"]
    assert not warned("list.json", json.dumps(listed))
    assert not warned("lines.jsonl", "".join(json.dumps(one) + "\n" for one in listed))
    assert not warned("lists.jsonl", json.dumps(listed) + "\n" + json.dumps(listed))
    assert not warned("nameless.jsonl", json.dumps([{**one, "id": None} for one in listed]))
    assert not warned("same.jsonl", json.dumps([{**one, "id": "a"} for one in listed]))


def test_a_log_of_one_line_has_calls_with_ids(tmp_path) -> None:
    calls = [{"id": f"call_{k}", "name": "f", "arguments": {"x": k}} for k in range(2)]
    messages = [{"id": f"msg_{k}", "role": "assistant", "tool_calls": [one]} for k, one in enumerate(calls)]
    for log in (calls, messages):
        (tmp_path / "log.jsonl").write_text(json.dumps(log))
        found = ts.calls(tmp_path / "log.jsonl", tmp_path / "log.jsonl")["calls"]
        assert (found.count, found.f1, found.warnings) == (1, 1, ())

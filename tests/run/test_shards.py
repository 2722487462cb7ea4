"""Every task in shards: the same figures to the last bit, whatever the size, the order, the packing or the number of workers."""

import gc
import gzip
import json
import os
import re
from pathlib import Path

import pytest
import zstandard
from calling import call, score

from benchmarks.shards_data import CORPORA, make
from running import run
from tallystick.run.cutting import cut_in_order
from tallystick.tasks.contract import find_task


@pytest.mark.parametrize("name", CORPORA)
def test_shards_have_the_figures_of_the_whole(tmp_path, name):
    task, gold, system = make(tmp_path, name)
    whole = score(task, gold, system)
    whole.pop("repairs", None)
    for size in ("1B", "300B", "1MB"):
        done = call("score", task, gold, system, "--format", "json", "--shard", size)
        assert "as a whole" not in done.stderr, done.stderr
        found = json.loads(done.stdout)
        assert found.pop("warnings", None) is not None
        assert found == {key: value for key, value in whole.items() if key != "warnings"}


@pytest.mark.parametrize("name", CORPORA)
def test_a_shard_for_each_document(tmp_path, name):
    task, gold, system = make(tmp_path, name)
    boundaries = find_task(task).boundaries(gold, None)
    shards = list(cut_in_order(gold, system, boundaries, find_task(task).boundaries(system, None), size=1))
    expected = {"columns with documents": 8, "documents of sentences": 6}.get(name, 23)
    assert len(shards) == expected
    for file, side in ((gold, "reference"), (system, "predicted")):
        data = Path(file).read_bytes()
        parts = [getattr(shard, side) for shard in shards]
        assert b"".join(data[a:b] for a, b, _ in (part.ranges[-1] for part in parts)) == data
        for part in parts:
            start, _, line = part.ranges[-1]
            assert line == 1 + data.count(b"\n", 0, start)


BY = {
    "columns": ["document", "label"], "conll": ["document"], "relations": ["document", "label", "field"],
    "records": ["document", "field"], "events": ["document", "label", "field"], "roles": ["document", "label"],
    "nary": ["document", "label", "field"], "templates": ["document"], "graphs": ["document"], "arguments": ["document"],
}  # fmt: skip


@pytest.mark.parametrize("name", BY)
def test_figures_by_document_label_and_field(tmp_path, name):
    task, gold, system = make(tmp_path, name)
    by = BY[name]
    for kind in by:
        whole = score(task, gold, system, "--by", kind)
        found = score(task, gold, system, "--by", kind, "--shard", "200B")
        for content in (whole, found):
            content.pop("repairs", None)
            content.pop("warnings")
        assert found == whole
        tables = [call("score", task, gold, system, "--by", kind, *more).stdout for more in ([], ["--shard", "200B"])]
        assert tables[0] == tables[1]


@pytest.mark.parametrize(("name", "by"), [("arguments", "label"), ("templates", "field")])
def test_figures_that_cannot_be_put_together_are_refused(tmp_path, name, by):
    task, gold, system = make(tmp_path, name)
    call("score", task, gold, system, "--by", by)
    done = call("score", task, gold, system, "--by", by, "--shard", "200B", code=2)
    assert f"the figures by {by} need the whole corpus; leave --by out" in done.output


@pytest.mark.parametrize("name", ["arguments", "conll", "graphs", "events"])
def test_a_kind_of_figures_that_a_task_does_not_have_is_refused_in_shards_too(tmp_path, name):
    task, gold, system = make(tmp_path, name)
    by = ["--by", "field"] if name != "events" else ["--label", "role"]
    whole, cut = (call("score", task, gold, system, *by, *more, code=2).output for more in ([], ["--shard", "200B"]))
    assert cut == whole


@pytest.mark.parametrize("name", CORPORA)
def test_a_report_is_about_the_same_metric(tmp_path, name):
    task, gold, system = make(tmp_path, name, 4)
    found = []
    for more in ([], ["--shard", "200B"]):
        call("score", task, gold, system, "--report", tmp_path / "r.html", *more)
        page = (tmp_path / "r.html").read_text()
        found.append([one[1] for one in re.finditer(r"<option[^>]* selected>([^<]*)", page)])
        assert ("scored in shards, so this page carries no alignments" in page) == (bool(more) and task != "records")
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["records", "conll", "columns"])
def test_packed_files(tmp_path, name, ending):
    task, gold, system = make(tmp_path, name)
    whole = score(task, gold, system)
    packed = []
    for file in (gold, system):
        data = Path(file).read_bytes()
        Path(file + ending).write_bytes(
            gzip.compress(data) if ending == ".gz" else zstandard.ZstdCompressor().compress(data)
        )
        packed.append(file + ending)
    assert score(task, *packed)["metrics"] == whole["metrics"]
    assert score(task, *packed, "--shard", "100B")["metrics"] == whole["metrics"]


SHUFFLED = ["records", "spans as JSON", "conll", "clusters", "graphs", "relations", "events", "roles", "templates", "nary",
            "named hierarchies"]  # fmt: skip


@pytest.mark.parametrize("name", SHUFFLED)
def test_files_in_different_orders_are_cut_by_the_names_of_documents(tmp_path, name):
    task, gold, system = make(tmp_path, name)
    boundaries = find_task(task).boundaries(system, None)
    data = Path(system).read_bytes()
    ranges = [shard.reference.ranges[-1] for shard in cut_in_order(system, None, boundaries, size=1)]
    pieces = [data[a:b] for a, b, _ in ranges]
    Path(system).write_bytes(b"".join(pieces[k] for k in (*range(11, 23), *range(11))))
    whole = score(task, gold, system)
    done = call("score", task, gold, system, "--format", "json", "--shard", "200B")
    assert "cannot be cut in one order" in done.stderr
    assert "as a whole" not in done.stderr
    assert json.loads(done.stdout)["metrics"] == whole["metrics"]


def test_what_cannot_be_cut_is_read_as_a_whole_and_says_why(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    rows = [json.loads(line) for line in Path(gold).read_text().splitlines()]
    listed = tmp_path / "gold.json"
    listed.write_text(json.dumps(rows))
    done = call("score", task, listed, system, "--shard", "200B", "--format", "json")
    assert "is read as a whole: it is one JSON list; as JSON Lines it can be cut" in done.stderr
    assert json.loads(done.stdout)["metrics"] == score(task, gold, system)["metrics"]


def test_options_that_look_at_the_whole_corpus_say_so(tmp_path):
    _, gold, system = make(tmp_path, "columns")
    done = call("score", "spans", gold, system, "--errors", "--shard", "1KB", code=2)
    assert "--errors looks at the whole corpus" in done.stderr
    _, gold, system = make(tmp_path, "conll")
    done = call("score", "coreference", gold, system, "--scope", "corpus", "--jobs", "2", code=2)
    assert "--scope corpus joins documents" in done.stderr
    done = call("score", "coreference", gold, system, "--jobs", "2", "--scheduler", "x", code=2)
    assert "give one of them" in done.stderr


# Nothing is lost


def test_a_name_in_two_shards_is_the_error_of_the_whole_file(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    for file in (gold, system):
        lines = Path(file).read_text().splitlines(keepends=True)
        Path(file).write_text("".join([*lines, lines[0]]))
    done = call("score", task, gold, system, "--shard", "100B", code=2)
    assert "'r0' is already used in line 1" in done.output


@pytest.mark.parametrize("name", [name for name in CORPORA if name != "sentences"])
@pytest.mark.parametrize("size", ["1B", "1MB"])
def test_a_document_more_at_the_end_of_the_prediction_is_the_error_of_the_whole_file(tmp_path, name, size):
    task, gold, _ = make(tmp_path, name, 5)
    more = make(tmp_path / "more", name, 7)[2]
    whole, cut = (call("score", task, gold, more, *how, code=None) for how in ([], ["--shard", size]))
    assert whole.returncode in (2, 3)
    assert cut.returncode == whole.returncode
    assert cut.stderr.splitlines()[-1] == whole.stderr.splitlines()[-1]


def test_leniency_is_for_the_whole(tmp_path):
    """Another order, a document that is missing or too many, and a line that is nobody's: the figures of the whole."""
    task, gold, system = make(tmp_path, "records", 40)
    lines = Path(system).read_text().splitlines(keepends=True)
    for changed in (lines[::-1], lines[:20] + lines[21:], [*lines[:7], "nothing\n", *lines[7:]], lines[5:] + lines[:2]):
        Path(system).write_text("".join(changed))
        whole, cut = (score(task, gold, system, "--lenient", *more) for more in ([], ["--shard", "1KB"]))
        assert cut == whole
        tables = [call("score", task, gold, system, "--lenient", *more).stderr for more in ([], ["--shard", "1KB"])]
        warnings = [[line for line in said.splitlines() if line.startswith("Warning")] for said in tables]
        assert warnings[0] == warnings[1]


def test_the_reference_scorer_s_leniency_is_for_the_whole(tmp_path):
    task, gold, system = make(tmp_path, "conll")
    parts = re.split(r"(?=#begin)", Path(system).read_text())
    Path(system).write_text("".join([parts[0], *parts[:0:-1]]))
    whole, cut = (score(task, gold, system, "--compat", "reference", *more) for more in ([], ["--shard", "200B"]))
    assert cut == whole


def test_a_list_is_read_as_a_whole_with_its_labels_and_fields(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    listed = tmp_path / "gold.json"
    listed.write_text(json.dumps([json.loads(line) for line in Path(gold).read_text().splitlines()]))
    for by in ("label", "field", "document"):
        whole, cut = (score(task, listed, system, "--by", by, *more) for more in ([], ["--jobs", "2"]))
        assert cut == whole


def test_what_only_looks_wrong_in_a_shard_is_read_as_a_whole(tmp_path):
    file = tmp_path / "columns.iob"
    file.write_text("-DOCSTART- O\n\n-DOCSTART- O\n\na B-X\n\n-DOCSTART- O\n\nb O\n")
    whole, cut = (score("spans", file, file, *more) for more in ([], ["--shard", "1B"]))
    for content in (whole, cut):
        content.pop("repairs", None)
    assert cut == whole


def test_a_pipe_is_refused(tmp_path):
    task, _, system = make(tmp_path, "relations")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "cannot be read in shards" in call("score", task, pipe, system, "--shard", "1KB", code=2).output


@pytest.mark.parametrize(
    ("task", "line"), [("records", {"id": "1", "a": 2}), ("relations", {"id": "1", "relations": []})]
)
def test_a_name_that_every_shard_begins_with_is_no_number_of_ours(tmp_path, task, line):
    file = tmp_path / "same.jsonl"
    file.write_text(3 * (json.dumps(line) + "\n"))
    whole, cut = (call("score", task, file, file, *more, code=2) for more in ([], ["--shard", "1B"]))
    assert f"{file}:2: " in whole.stderr
    assert cut.stderr.splitlines()[-1] == whole.stderr.splitlines()[-1]


def test_a_missing_document_is_the_error_of_the_whole_file(tmp_path):
    task, gold, system = make(tmp_path, "relations")
    lines = Path(system).read_text().splitlines(keepends=True)
    Path(system).write_text("".join(lines[:-3]))
    done = call("score", task, gold, system, "--shard", "100B", code=3)
    assert '3 only in the reference: "r20", "r21", "r22"' in done.output


@pytest.mark.parametrize("name", ["relations", "records", "columns", "conll", "graphs"])
def test_errors_name_the_line_of_the_file(tmp_path, name):
    task, gold, system = make(tmp_path, name)
    data = Path(system).read_bytes()
    at = data.index(b"\n", 3 * len(data) // 4) + 1
    bad = {
        "relations": b"{x\n",
        "records": b"{x\n",
        "columns": b"a b c d\n",
        "conll": b"one two\n",
        "graphs": b"# ::id b\n(\n\n",
    }
    Path(system).write_bytes(data[:at] + bad[name] + data[at:])
    messages = [call("score", task, gold, system, *more, code=2).output for more in ([], ["--shard", "100B"])]
    errors = [next(line for line in text.splitlines() if line.startswith("Error")) for text in messages]
    assert errors[0] == errors[1]


def test_predictions_of_two_shards_that_cannot_be_read_are_all_counted(tmp_path):
    task, gold, system = make(tmp_path, "records")
    lines = Path(system).read_text().splitlines(keepends=True)
    lines[2] = "no JSON at all\n"
    lines[20] = "nor is this\n"
    Path(system).write_text("".join(lines))
    whole = score(task, gold, system, "--lenient")
    found = score(task, gold, system, "--lenient", "--shard", "100B")
    assert whole["invalids"] == found["invalids"] == 2
    assert found == whole


def test_keys_that_only_predictions_have_are_counted_in_all_shards(tmp_path):
    task, gold, system = make(tmp_path, "records")
    lines = Path(system).read_text().splitlines()
    for k in (5, 20):
        lines[k] = json.dumps({**json.loads(lines[k]), "invented": k})
    Path(system).write_text("\n".join(lines))
    whole = score(task, gold, system)
    assert whole["unknown"] == {"invented": 2}
    assert score(task, gold, system, "--shard", "100B") == whole


def test_without_ids_documents_are_known_by_their_lines(tmp_path):
    task, gold, system = make(tmp_path, "records")
    for file in (gold, system):
        rows = [json.loads(line) for line in Path(file).read_text().splitlines()]
        Path(file).write_text("\n".join(json.dumps({k: v for k, v in row.items() if k != "id"}) for row in rows))
    for more in (["--by", "document"], ["--worst", "4"]):
        assert score(task, gold, system, *more) == score(task, gold, system, *more, "--shard", "150B")


def test_standard_input(tmp_path):
    task, gold, system = make(tmp_path, "conll")
    expected = score(task, gold, system)["metrics"]
    assert score(task, gold, "-", "--shard", "200B", stdin=Path(system).read_bytes())["metrics"] == expected


def test_processes_give_the_same(tmp_path):
    task, gold, system = make(tmp_path, "records", 60)
    assert score(task, gold, system, "--jobs", "2", "--shard", "500B") == score(task, gold, system)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_field_that_only_the_last_record_has_is_known_to_all_shards(tmp_path, jobs):
    task, gold, system = make(tmp_path, "records", 60)
    with open(gold, "a", encoding="utf-8") as stream:
        stream.write(
            '{"id": "last", "vendor": 3, "total": null, "lines": [{"name": "x", "unit": "kg"}], "due": "2026-01-01"}\n'
        )
    with open(system, "a", encoding="utf-8") as stream:
        stream.write('{"id": "last", "vendor": "3", "lines": [{"name": "x", "unit": "g"}], "due": "2026-01-01"}\n')
    whole, cut = (call("score", task, gold, system, "--format", "json", *more)
                  for more in ([], ["--jobs", jobs, "--shard", "500B"]))  # fmt: skip
    assert json.loads(cut.stdout) == json.loads(whole.stdout)
    shapes = [[line for line in one.stderr.splitlines() if line.startswith("shape")] for one in (whole, cut)]
    assert shapes[0]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("depth", [90, 110, 400, 2000])
def test_records_too_deep_to_travel_are_what_they_are_as_a_whole(tmp_path, depth):
    file = tmp_path / "deep.jsonl"
    file.write_text("".join(f'{{"id": {k}, "a": {"[" * depth}{"]" * depth}}}\n' for k in range(9)))
    whole, cut = (
        run("score", "records", file, file, *more, code=None) for more in ([], ["--jobs", "2", "--shard", "1B"])
    )
    assert (whole.returncode, cut.returncode) == ((0, 0) if depth < 100 else (2, 2))
    errors = [[line for line in one.stderr.splitlines() if line.startswith("Error")] for one in (whole, cut)]
    assert errors[0] == errors[1]


def test_what_was_read_of_a_shard_goes_before_the_next_one_comes(tmp_path):
    from tallystick.tasks.coreference.chains import Chains

    task, gold, system = make(tmp_path, "conll")
    gc.collect()
    gc.disable()  # else it goes now and then by itself
    try:
        score(task, gold, system, "--shard", "1B")
        assert sum(isinstance(one, Chains) for one in gc.get_objects()) <= 2
    finally:
        gc.enable()


def test_the_roles_that_occur_are_those_of_the_reader(tmp_path):
    from tallystick.tasks.nary.files import find_roles, read_nary

    _, gold, _ = make(tmp_path, "nary", 60)
    scirex = tmp_path / "scirex.jsonl"
    scirex.write_text('{"doc_id": "a", "ner": [], "coref": {"m": [[0, 1]]}, "n_ary_relations": [{"Method": "m"}]}\n')
    for file in (gold, scirex):
        documents = read_nary(file).values.values()
        assert find_roles(file) == {role for one in documents for relation in one.relations for role in relation}
        assert find_roles(file)


def test_labels_of_records_with_the_tallies_of_each_document(tmp_path):
    task, gold, system = make(tmp_path, "records")
    label = ["--by", "label", "--label", "lines[*].name", "--tallies", tmp_path / "t.csv"]
    found = []
    for more in ([], ["--shard", "200B"]):
        table = call("score", task, gold, system, *label, *more).stdout
        found.append((table, (tmp_path / "t.csv").read_text()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "address", ["nofile.json", "tcp://127.0.0.1:abc", "tcp://127.0.0.1", "127.0.0.1:99999", "FILE"]
)
def test_an_address_that_is_none_is_said_in_words(tmp_path, address):
    pytest.importorskip("distributed")
    task, gold, system = make(tmp_path, "records", 2)
    address = gold if address == "FILE" else address
    said = call("score", task, gold, system, "--scheduler", address, code=2).stderr
    assert "expects the file that a Dask scheduler wrote, or an address such as tcp://10.0.0.1:8786; found" in said
    assert address in said


def test_a_header_reaches_every_shard_of_standard_input(tmp_path, monkeypatch):
    """CorefUD says once, at the beginning, what `Entity` holds."""
    monkeypatch.chdir(tmp_path)
    row = "{}\t{}\t_\tX\t_\t_\t0\troot\t_\tEntity=(e{}-person-1-)\n"
    document = "# newdoc id = d{0}\n# sent_id = {0}\n" + "".join(row.format(k, "w", "1") for k in (1,)) + "\n"
    text = "# global.Entity = eid-etype-head-other\n" + "".join(document.format(k) for k in range(6))
    Path("key.conllu").write_text(text)
    whole = run("score", "coreference", "key.conllu", "key.conllu", "--format", "json").stdout
    cut = run("score", "coreference", "key.conllu", "-", "--shard", "100B", "--format", "json", stdin=text).stdout
    assert json.loads(cut)["metrics"] == json.loads(whole)["metrics"]


NOT_ALIKE = {
    "columns that become fewer": ("spans", "w1 X B-A\nw2 X O\n\nw3 B-B\nw4 O\n\n"),
    "columns that become more": ("spans", "w1 B-A\nw2 O\n\nw3 Y B-B\nw4 Y O\n\n"),
    "columns after a comment": ("spans", "\n-DOCSTART- O\n\nw1 B-A\n\n-DOCSTART- O\n\nw3 Y B-B\n\n"),
    "a format that only the first document shows": ("events", '{"doc_id": "x", "wnd_id": "x", "tokens": ["a"], "events": [{"trigger": [0, 1, "T", "a"], "arguments": []}]}\n{"tokens": ["a"], "events": []}\n'),
    "two formats": ("events", '{"events": [{"type": "T", "trigger": {"start": 0, "end": 1}, "arguments": []}]}\n{"events": [{"trigger": [0, 1, "T"], "arguments": []}]}\n'),
    "clusters without ids": ("coreference", '{"id": "x", "clusters": [[[0, 1], [2, 3]]]}\n{"clusters": [[[0, 1], [4, 5]]]}\n'),
    "offsets of two kinds": ("spans", '{"text": "a b", "spans": [[0, 1, "X"]]}\n{"tokens": ["a", "b"], "spans": [[0, 1, "X"]]}\n'),
    "types in one document only": ("relations", '{"relations": [{"type": "A", "subj": [0, 1], "obj": [2, 3]}]}\n{"relations": [{"type": "A", "subj": {"start": 0, "end": 1, "type": "P"}, "obj": [2, 3]}]}\n'),
    "roles of two shapes": ("roles", '{"id": "1", "roles": {"A": [["x"]]}}\n{"docid": "2", "extracts": {"A": [[["y", 1]]]}}\n'),
    "templates of two shapes": ("templates", '{"id": "1", "templates": [{"type": "a", "slots": {"X": ["x"]}}]}\n{"docid": "2", "templates": [{"incident_type": "a", "X": [[["y", 1]]]}]}\n'),
    "other roles in each document": ("nary", '{"id": "1", "relations": [{"args": {"A": [[0, 1]], "B": [[1, 2]]}}]}\n{"id": "2", "relations": [{"args": {"A": [[0, 1]], "C": [[1, 2]]}}]}\n'),
    "a name in one line only": ("hierarchies", "x\t(a(b))\n(c(d)(e))\n"),
}  # fmt: skip


@pytest.mark.parametrize("size", ["1B", "60B"])
@pytest.mark.parametrize("kind", NOT_ALIKE)
def test_documents_that_are_not_alike_are_errors_or_equal(tmp_path, kind, size):
    task, content = NOT_ALIKE[kind]
    file = tmp_path / ("a.jsonl" if content.startswith("{") else "a.iob" if task == "spans" else "a.txt")
    file.write_text(content)
    whole, cut = (
        run("score", task, file, file, "--format", "json", *more, code=None) for more in ([], ["--shard", size])
    )
    assert cut.returncode == whole.returncode
    if whole.returncode:
        assert cut.stderr == whole.stderr
    else:
        assert json.loads(cut.stdout)["metrics"] == json.loads(whole.stdout)["metrics"]


def test_misfits_are_counted_over_all_shards(tmp_path):
    gold, system = tmp_path / "g.jsonl", tmp_path / "p.jsonl"
    gold.write_text("".join(json.dumps({"id": f"d{k}", "x": k, "l": ["a"]}) + "\n" for k in range(8)))
    rows = [
        {"id": f"d{k}", "x": k if k % 2 else "bad", "l": [1] if k == 3 else ["a"], **({"zz": 1} if k > 5 else {})}
        for k in range(8)
    ]
    system.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole, *cut = (
        json.loads(call("score", "records", gold, system, "--format", "json", *more).stdout)
        for more in ([], ["--shard", "1B"], ["--shard", "90B"])
    )
    assert any("counted as wrong: 5 values (x 4, l[*] 1)" in one for one in whole["warnings"])
    assert all(one == whole for one in cut)


@pytest.mark.parametrize("piece", [7, 64, 1 << 17])
@pytest.mark.parametrize("size", [1, 300, 5000])
def test_shards_are_the_file_and_know_their_lines_however_much_is_read_at_once(tmp_path, monkeypatch, piece, size):
    """What the scanner leaves behind while it reads is missed nowhere."""
    from tallystick.files.boundaries import LINES
    from tallystick.run import cutting
    from tallystick.tasks.coreference.files import CONLL

    monkeypatch.setattr(cutting, "PIECE", piece)
    for name, boundaries in (("records", LINES), ("conll", CONLL)):
        _, gold, system = make(tmp_path, name, 120)
        for file, side in ((gold, "reference"), (system, "predicted")):
            data, at = Path(file).read_bytes(), 0
            for shard in cut_in_order(gold, system, boundaries, size=size):
                ((start, stop, line),) = getattr(shard, side).ranges
                assert (start, line) == (at, 1 + data.count(b"\n", 0, start))
                at = stop
            assert at == len(data)


@pytest.mark.parametrize("name", CORPORA)
def test_a_file_that_was_cut_before_is_cut_alike_without_looking_through_it(tmp_path, monkeypatch, name):
    from tallystick.run.cutting import Scanner

    task, gold, system = make(tmp_path, name)
    boundaries, other = (find_task(task).boundaries(file, None) for file in (gold, system))
    take = Scanner.take
    for size in (1, 300):
        known: dict = {}
        anew = repr(list(cut_in_order(gold, system, boundaries, other, size=size)))
        assert list(cut_in_order(gold, None, boundaries, size=size, known=known))
        with monkeypatch.context() as patched:
            patched.setattr(Scanner, "take", lambda self, **how: take(self, **how) if self.name != gold else 1 / 0)
            assert repr(list(cut_in_order(gold, system, boundaries, other, size=size, known=known))) == anew
            with pytest.raises(ZeroDivisionError):  # another size is another cut
                list(cut_in_order(gold, system, boundaries, other, size=size + 1, known=known))

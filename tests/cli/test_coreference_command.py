"""`score coreference` and `explain coreference`, run as a user runs them."""

import gzip
import json
from pathlib import Path

import pytest

import running

NAMES = ["mentions", "muc", "b3", "ceaf_m", "ceaf_e", "blanc", "lea", "conll"]
KEY = {"(a); part 000": ["(0", "0)", "(0)", "(1)", "(1)"], "(b); part 000": ["(0)", "(0)"]}
RESPONSE = {"(b); part 000": ["(0)", "(0)"], "(a); part 000": ["(0)", "-", "(0)", "(0)", "-"]}


def text(documents):
    return "".join(
        f"#begin document {name}\n"
        + "".join(f"x\t{n}\tw\t{cell}\n" for n, cell in enumerate(cells))
        + "\n#end document\n"
        for name, cells in documents.items()
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key").write_text(text(KEY))
    Path("response").write_text(text(RESPONSE))
    return tmp_path


def run(*arguments, code=0, stdin=None, command="score"):
    return running.run(command, "coreference", *arguments, code=code, stdin=stdin)


def as_json(*arguments, **more):
    return json.loads(run(*arguments, "--format", "json", **more).stdout)


def test_json(folder):
    found = as_json("key", "response")
    assert list(found) == ["tallystick", "signature", "documents", "metrics", "task", "warnings"]
    assert list(found["metrics"]) == NAMES
    assert found["documents"] == 2
    assert found["warnings"] == []
    muc = found["metrics"]["muc"]
    assert muc["tally"] == {"num_p": 1, "den_p": 3, "num_r": 1, "den_r": 3}
    assert muc["precision"] == muc["recall"] == muc["f1"] == muc["micro"]["f1"] == 1 / 3
    assert muc["macro"]["f1"] == 0.5
    assert "precision" not in found["metrics"]["conll"]
    assert found["metrics"]["conll"]["f1"] == pytest.approx(
        sum(found["metrics"][name]["f1"] for name in ("muc", "b3", "ceaf_e")) / 3
    )
    assert list(found["metrics"]["blanc"]["tally"]) == [
        "coreferent_common", "coreferent_key", "coreferent_response", "other_common", "other_key", "other_response",
    ]  # fmt: skip
    assert "scope=document, singletons=kept, mentions=exact" in found["signature"]
    assert "match(record(mention=exact" in found["metrics"]["b3"]["signature"]


def test_a_table_and_tsv(folder):
    done = run("key", "response")
    lines = done.stdout.splitlines()
    assert lines[0].split("\t") == ["metric", "precision", "recall", "f1", "of predicted", "of reference"]
    assert [line.split("\t")[0] for line in lines[1:]] == NAMES
    assert lines[2].endswith("1 / 3\t1 / 3")
    assert "2 documents" in done.stderr
    assert "signature: coreference.mentions, coreference.muc" in done.stderr
    assert "muc" in run("key", "response", "--format", "table").stdout


def test_some_metrics_and_variants(folder):
    found = as_json("key", "response", "--metric", "b3_cai_strube", "--metric", "conll")
    assert list(found["metrics"]) == ["b3_cai_strube", "conll"]
    assert 'Did you mean "ceaf_e"' in run("key", "response", "--metric", "ceafe", code=2).stderr


def test_by_document(folder):
    found = as_json("key", "response", "--by", "document")
    assert found["documents_by_id"]["muc"]["(b); part 000"]["f1"] == 1
    rows = run("key", "response", "--by", "document", "--limit", "1").stdout.split("\n\n")[1].splitlines()
    assert rows[0].split("\t") == ["document", "metric", "precision", "recall", "f1"]
    assert [row.split("\t")[:2] for row in rows[1:]] == [["(a); part 000", name] for name in NAMES]
    cells = {row.split("\t")[1]: row.split("\t")[2:] for row in rows[1:]}
    assert cells["conll"][:2] == ["", ""]
    wanted = found["documents_by_id"]["muc"]["(a); part 000"]
    assert [float(cell) for cell in cells["muc"]] == [wanted[name] for name in ("precision", "recall", "f1")]
    assert "'label' is not one of 'document', 'length'" in run("key", "response", "--by", "label", code=2).stderr


def test_errors(folder):
    found = {kind["kind"]: kind for kind in as_json("key", "response", "--errors")["errors"]["kinds"]}
    counts = {name: kind["count"] for name, kind in found.items()}
    assert counts == {
        "span error": 1, "missing mention": 1, "extra mention": 0, "missing entity": 0, "extra entity": 0,
        "divided entity": 0, "conflated entity": 1,
    }  # fmt: skip
    (example,) = found["span error"]["examples"]
    assert example == {
        "kind": "span error", "document": "(a); part 000", "file": "response", "line": 7, "where": "", "text": "",
        "reference": "0 {w w [0-1] line 2}", "predicted": "0 {w [0]}",
    }  # fmt: skip
    _, kinds, listed = run("key", "response", "--errors", "--metric", "conll").stdout.strip().split("\n\n")
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in kinds.splitlines()}
    assert rows["error"] == ["count", "documents", "f1"]
    assert rows["span error"][:2] == ["1", "1"]
    assert (
        float(rows["span error"][2]) == found["span error"]["mended"]["conll"]["f1"] > float(rows["(as predicted)"][2])
    )
    assert "span error\t(a); part 000, line 7\t0 {w w [0-1] line 2}\t0 {w [0]}" in listed.splitlines()


def test_drop_singletons_scopes_and_soft_mentions(folder):
    assert as_json("key", "response", "--drop-singletons")["metrics"]["mentions"]["tally"]["den_p"] == 5
    corpus = as_json("key", "response", "--scope", "corpus")
    assert corpus["documents"] == 1
    assert "scope=corpus" in corpus["signature"]
    assert as_json("key", "response", "--mentions", "partial")["metrics"]["mentions"]["tally"]["num_p"] == 5
    assert "needs heads" in run("key", "response", "--mentions", "head", code=2).stderr
    assert "no topic" in run("key", "response", "--scope", "topic", "--topic", "[0-9]{9}", code=2).stderr


def test_compat_reference_cuts_percentages_off(folder):
    Path("response").write_text(text({"(a); part 000": RESPONSE["(a); part 000"], "(c); part 000": ["(0)"]}))
    done = run("key", "response", "--compat", "reference")
    rows = {line.split("\t")[0]: line.split("\t") for line in done.stdout.splitlines()}
    assert rows["mentions"][1:4] == ["66.66%", "33.33%", "44.44%"]
    assert "1 document only in the response" in done.stderr
    assert "1 document only in the key" in done.stderr
    assert "compat=reference" in done.stderr


def test_strict_names_repeated_mentions(folder):
    Path("response").write_text(text({**RESPONSE, "(b); part 000": ["(0)(1)", "(0)"]}))
    lenient = run("key", "response")
    assert "response: a mention is repeated once; its first entity keeps it (--strict names each)" in lenient.stderr
    strict = run("key", "response", "--strict", code=2)
    assert (
        'response:2: mention (0, 0) of document (b); part 000 occurs in entity "1" and before that in "0"'
        in strict.stderr
    )


def test_gz_and_standard_input(folder):
    plain = as_json("key", "response")["metrics"]
    Path("key.gz").write_bytes(gzip.compress(Path("key").read_bytes()))
    assert as_json("key.gz", "response")["metrics"] == plain
    assert as_json("key", "-", stdin=Path("response").read_text())["metrics"] == plain


def test_json_lines_against_columns(folder):
    rows = [
        {"doc_key": "a_0", "clusters": [[[0, 0], [2, 2], [3, 3]]]},
        {"doc_key": "b_0", "clusters": [[[0, 0], [1, 1]]]},
    ]
    Path("response.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert as_json("key", "response.jsonl")["metrics"] == as_json("key", "response")["metrics"]


def test_fail_under(folder):
    run("key", "response", "--fail-under", "mentions.f1=0.5")
    assert "FAILED: conll f1" in run("key", "response", "--fail-under", "conll.f1=0.9", code=1).stderr


def test_explain(folder):
    done = run("key", "response", command="explain")
    assert "document (a); part 000, the worst of 2 by ceaf_e" in done.stderr
    tree = json.loads(
        run("key", "response", "--document", "(b); part 000", "--format", "json", command="explain").stdout
    )
    assert tree["weight"] == 1


# Bad input: nothing is ignored in silence, and nobody sees a traceback.


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["(0", "-", "-", "-", "-"], 'bad:2:7: "(0" is opened here and never closed in document "(a); part 000"'),
        (["-", "-", "0)", "-", "-"], 'bad:4:7: "0)" closes a mention never opened in document "(a); part 000"'),
        (["(0)", "((1)", "-", "-", "-"], 'bad:3:7: found "((1)"; expected "-", "_" or brackets'),
        (["(0)", "hello", "-", "-", "-"], 'bad:3:7: found "hello"; expected "-", "_" or brackets'),
    ],
)
def test_brackets_that_make_no_sense(folder, cells, message):
    Path("bad").write_text(text({"(a); part 000": cells, "(b); part 000": ["(0)", "(0)"]}))
    done = run("key", "bad", code=2)
    assert message in done.stderr
    shown, caret = done.stderr.rstrip("\n").splitlines()[-2:]
    assert shown.strip().startswith("x\t")
    assert caret.strip() == "^"
    assert caret.index("^") == len("    ") + int(message.split(":")[2]) - 1


def test_a_document_in_only_one_file(folder):
    Path("response").write_text(text({"(a); part 000": RESPONSE["(a); part 000"]}))
    assert '1 only in the reference: "(b); part 000"' in run("key", "response", code=3).stderr
    assert "1 only in the prediction" in run("response", "key", code=3).stderr


def test_different_token_counts(folder):
    Path("response").write_text(text({**RESPONSE, "(b); part 000": ["(0)", "(0)", "-"]}))
    stderr = run("key", "response", code=3).stderr
    assert 'document "(b); part 000" has 2 tokens in the key key and 3 in the response response' in stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad: is empty"),
        (b"\n\n", "only blank lines"),
        (bytes(range(256)) * 20, "bad:"),
        (b"\x00\x01\x02\x03", "bad:1:1: a NUL byte, so this is not a text file"),
        (b"#begin document (a); part 000\nx\t0\tw\t\xff\xfe\n#end document\n", "bad:2"),
        (b"Once upon a time\n", "begins like no known coreference format"),
        (b"#begin document (a); part 000\nx\t0\tw\t-\n", "has no #end document"),
        (b"#begin document (a); part 000\n", "has no #end document"),
        (b"#end document\n#begin document (a)\n#end document\n", "no document is open"),
        (b"x\t0\tw\t-\n#begin document (a)\n#end document\n", "a token outside of any document"),
        (b"{not json\n", "bad:1"),
        (b'{"doc_key": "a"}\n', "expected the clusters"),
    ],
)
def test_files_that_are_no_coreference(folder, content, message):
    Path("bad").write_bytes(content)
    for arguments in (("key", "bad"), ("bad", "response")):
        assert message in run(*arguments, code=2).stderr


def test_a_file_that_is_not_there(folder):
    assert "nowhere" in run("key", "nowhere", code=2).stderr


def test_a_broken_gz(folder):
    Path("bad.gz").write_bytes(gzip.compress(Path("response").read_bytes())[:-9])
    assert "bad.gz" in run("key", "bad.gz", code=2).stderr
    Path("bad.gz").write_bytes(b"no gzip")
    assert "bad.gz" in run("key", "bad.gz", code=2).stderr


def test_the_same_standard_input_cannot_be_both_files(folder):
    assert run("-", "-", code=2, stdin=Path("key").read_text()).stderr


def test_help_is_quick_and_says_what_there_is(folder):
    shown = run("--help").stdout
    for option in ("--scope", "--mentions", "--drop-singletons", "--compat", "--strict", "--errors", "--metric"):
        assert option in shown

"""`score spans` and `compare spans`, run as a user runs them."""

import json
from pathlib import Path

import pytest

import running
from public_data import PUBLIC, needs

GOLD = "EU B-ORG\nrejects O\nGerman B-MISC\ncall O\n\nPeter B-PER\nBlackburn I-PER\n\nBRUSSELS B-LOC\n"
SYSTEM = "EU B-ORG\nrejects O\nGerman B-PER\ncall O\n\nPeter B-PER\nBlackburn O\n\nBRUSSELS O\n"
WNUT = PUBLIC / "spans" / "wnut17"
TYPES = ("corporation", "creative-work", "group", "location", "person", "product")
needs_wnut = needs("spans/wnut17/expected.json")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.iob").write_text(GOLD)
    Path("system.iob").write_text(SYSTEM)


def run(*arguments, code=0, stdin=None, command=("score", "spans")):
    return running.run(*command, *arguments, code=code, stdin=stdin)


def metrics(*arguments, **options):
    return json.loads(run(*arguments, "--format", "json", **options).stdout)["metrics"]


def test_plain_prints_segment_and_ts():
    done = run("gold.iob", "system.iob")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[:2] for line in lines] == [["metric", "average"], ["segment", "micro"], ["ts", "macro"]]
    assert float(lines[1][4]) == pytest.approx(2 / 7)
    assert "scheme=IOB2, reading=lenient" in done.stderr


def test_json_has_every_average_and_repeats_the_default():
    found = metrics("gold.iob", "system.iob")
    for name, average in (("segment", "micro"), ("ts", "macro")):
        assert found[name]["f1"] == found[name][average]["f1"]
        assert {"micro", "macro", "weighted", "labels", "tally"} <= set(found[name])
    assert metrics("gold.iob", "system.iob", "--average", "weighted")["ts"]["f1"] == found["ts"]["weighted"]["f1"]


def test_both_columns_in_one_file():
    lines = zip(GOLD.split("\n"), SYSTEM.split("\n"), strict=True)
    Path("both.txt").write_text("\n".join(f"{g} {s.split()[1]}" if g else "" for g, s in lines))
    assert metrics("both.txt", "--together") == metrics("gold.iob", "system.iob")
    assert metrics("-", "--together", stdin=Path("both.txt").read_text()) == metrics("gold.iob", "system.iob")
    swapped = metrics("both.txt", "--together", "--reference-column", 2, "--predicted-column", 1)
    assert swapped["segment"]["precision"] == metrics("gold.iob", "system.iob")["segment"]["recall"]
    assert "give PREDICTED, or --together" in run("both.txt", code=2).stderr
    assert "give PREDICTED, or --together" in run("gold.iob", "system.iob", "--together", code=2).stderr


def test_by_label_and_by_document():
    done = run("gold.iob", "system.iob", "--by", "label", "--metric", "segment", "--supertag", "ENTITY")
    rows = {line.split("\t")[0]: line.split("\t") for line in done.stdout.split("\n\n")[1].splitlines()}
    assert list(rows) == ["label", "LOC", "MISC", "ORG", "PER", "ENTITY"]
    assert rows["ORG"][1:] == ["1.0", "1.0", "1.0", "1"]
    assert rows["ENTITY"][3] == repr(4 / 7)
    text = "-DOCSTART- -X-\n\n" + GOLD.replace("\n\nPeter", "\n\n-DOCSTART- -X-\n\nPeter")
    Path("documents.iob").write_text(text)
    found = json.loads(run("documents.iob", "documents.iob", "--by", "document", "--format", "json").stdout)
    assert found["documents"] == 2
    assert found["documents_by_id"]["segment"] == {
        key: dict.fromkeys(("precision", "recall", "f1"), 1.0) for key in "12"
    }
    assert "'field' is not one of 'label', 'document'" in run("gold.iob", "system.iob", "--by", "field", code=2).stderr


def test_errors_with_places_and_confusion():
    done = json.loads(run("gold.iob", "system.iob", "--errors", "--format", "json").stdout)["errors"]
    counts = {kind["kind"]: kind["count"] for kind in done["kinds"]}
    assert counts == {"boundary": 1, "type": 1, "both": 0, "missed": 1, "spurious": 0}
    listed = [
        (one["kind"], one["file"], one["line"], one["where"]) for kind in done["kinds"] for one in kind["examples"]
    ]
    assert listed == [
        ("boundary", "system.iob", 6, "tokens 0–1, 1 token off"), ("type", "system.iob", 3, "token 2"), ("missed", "system.iob", 9, "token 0"),
    ]  # fmt: skip
    boundary = done["kinds"][0]["examples"][0]
    assert (boundary["reference"], boundary["predicted"]) == ("PER Peter Blackburn [0–1]", "PER Peter [0]")
    taken, off = done["tables"]
    assert taken["columns"] == ["true \\ predicted", "ORG", "PER", "(missing)"]
    assert taken["rows"] == [["LOC", 0, 0, 1], ["MISC", 0, 1, 0], ["ORG", 1, 0, 0], ["PER", 0, 1, 0]]
    assert (off["columns"], off["rows"]) == (["tokens off", "segments"], [[1, 1]])
    shown = run("gold.iob", "system.iob", "--errors", "--limit", 2).stdout
    assert "type\t1, line 3, token 2\tMISC German [2]\tPER German [2]\tEU rejects [German] call" in shown
    assert "line 6" in shown
    assert "line 9" not in shown


def test_errors_below_seqeval():
    """A layout of its own for the figures hides nothing else that was asked for."""
    assert "type\t1, line 3, token 2" in run("gold.iob", "system.iob", "--errors", "--seqeval").stdout


def test_repairs_are_counted_and_listed():
    Path("sloppy.iob").write_text(SYSTEM.replace("German B-PER", "German I-PER"))
    done = run("gold.iob", "sloppy.iob", "--repairs")
    assert "sloppy.iob: 1 tag breaks the scheme" in done.stderr
    assert "sloppy.iob:3\tI-PER\tcontinues a segment that never began" in done.stdout
    listed = json.loads(run("gold.iob", "sloppy.iob", "--repairs", "--format", "json").stdout)["repairs"]
    assert listed["predicted"]["count"] == 1
    assert listed["predicted"]["listed"][0]["where"] == "sloppy.iob:3"
    assert listed["reference"]["count"] == 0
    strict = metrics("gold.iob", "sloppy.iob", "--strict", "--metric", "segment")["segment"]
    assert strict["tally"]["den_p"] == 2


@pytest.mark.filterwarnings("ignore")
def test_seqevals_report():
    from seqeval.metrics import classification_report

    sides = [[[line.split()[1] for line in s.split("\n")] for s in t.strip().split("\n\n")] for t in (GOLD, SYSTEM)]
    assert run("gold.iob", "system.iob", "--seqeval", "--digits", 3).stdout.rstrip("\n") == classification_report(
        *sides, digits=3
    ).rstrip("\n")
    run("gold.iob", "system.iob", "--seqeval", "--fail-under", "f1=0.9", code=1)


def test_tag_accuracy_has_no_report_by_tag():
    found = metrics("gold.iob", "system.iob", "--metric", "tag_accuracy")["tag_accuracy"]
    assert found["accuracy"] == found["tally"]["right"] / found["tally"]["tokens"]
    done = run("gold.iob", "system.iob", "--metric", "tag_accuracy", "--seqeval", code=2)
    assert "tag_accuracy has no figures by tag" in done.stderr


NERVALUATE = ["nervaluate_strict", "nervaluate_exact", "nervaluate_partial", "nervaluate_ent_type"]


def test_the_other_metrics_and_their_options():
    names = ["overlap", "contain", "constrained_overlap", "iou", "segment_units", "token", "semeval", "nervaluate"]
    options = [part for name in names for part in ("--metric", name)]
    found = metrics("gold.iob", "system.iob", *options, "--k1", 0, "--k2", 1, "--iou", 0.5)
    assert list(found) == [*names[:-2], "strict", "exact", "partial", "type", *NERVALUATE]
    assert found["overlap"]["recall"] == 0.5
    assert found["exact"]["tally"]["correct"] == 2
    assert "k1=0, k2=1, partner=any" in found["constrained_overlap"]["signature"]
    assert "needs k1" in run("gold.iob", "system.iob", "--metric", "constrained_overlap", code=2).stderr
    assert 'Did you mean "overlap"' in run("gold.iob", "system.iob", "--metric", "overlp", code=2).stderr


def test_weights_types_beta_and_gates():
    weighted = GOLD.replace(" B-", " 2 B-").replace(" I-", " 1 I-").replace(" O", " 0 O")
    Path("weighted.iob").write_text(weighted)
    found = metrics("weighted.iob", "system.iob", "--metric", "token", "--weight-column", 1)["token"]
    assert found["tally"]["den_r"] == 9
    Path("weighted.iob").write_text(weighted.replace("German 2", "German two"))
    done = run("weighted.iob", "system.iob", "--weight-column", 1, code=2)
    assert 'weighted.iob:3: expected a weight, a number not below 0, found "two"' in done.stderr
    assert metrics("gold.iob", "system.iob", "--ignore-types")["segment"]["precision"] == 2 / 3
    assert "f2" in metrics("gold.iob", "system.iob", "--beta", 2)["segment"]
    run("gold.iob", "system.iob", "--fail-under", "segment.f1=0.9", code=1)


def test_jsonl_brat_and_conllu_are_recognised():
    record = {"id": "7", "text": "left and right knee", "spans": [[9, 19, "SITE"]]}
    Path("gold.jsonl").write_text(json.dumps(record))
    Path("system").write_text(json.dumps({**record, "spans": [[0, 4, "SITE"]]}))  # known by its content
    done = run("gold.jsonl", "system", "--errors")
    assert "spurious\t7, token 0\t–\tSITE left [0]\t[left] and right knee" in done.stdout
    assert "tokenizer=words" in done.stderr
    for side, offsets in (("a", "9 19"), ("b", "9 14")):
        Path(side).mkdir()
        Path(side, "one.txt").write_text(record["text"])
        Path(side, "one.ann").write_text(f"T1\tSITE {offsets}\n")
    assert metrics("a", "b", "--metric", "token")["token"]["recall"] == 0.5
    word = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t{}"
    lines = [
        "# newdoc",
        word.format("1-2", "du", "_"),
        word.format(1, "de", "ner=O"),
        word.format(2, "Le", "X=1|NER=B-LOC"),
        "",
        "",
    ]
    Path("gold.conllu").write_text("\n".join(lines))
    assert metrics("gold.conllu", "gold.conllu")["segment"]["f1"] == 1
    other = "\n".join(lines).replace("B-LOC", "B-PER")
    Path("system.conllu").write_text(other)
    assert "type\t1, line 4, token 1\tLOC Le [1]\tPER Le [1]" in run("gold.conllu", "system.conllu", "--errors").stdout
    Path("system.conllu").write_text(other.replace("\tLe", "\tLa"))
    assert 'gold.conllu:4 has "Le", system.conllu:4 has "La"' in run("gold.conllu", "system.conllu", code=3).stderr
    assert "no word has tag= in MISC" in run("gold.conllu", "gold.conllu", "--misc", "tag", code=2).stderr
    assert "looks like jsonl" in run("gold.jsonl", "gold.iob", code=3).stderr


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("rejects O", "refuses O"), 3, 'gold.iob:2 has "rejects", system.iob:2 has "refuses"'),
        (("Blackburn O\n", ""), 3, "the sentences diverge: one ends at system.iob:6, but goes on at gold.iob:6"),
        (("German B-PER", "German PER"), 2, 'system.iob:3: "PER" is not a tag of the scheme IOB2'),
        (("German B-PER", "German"), 2, "system.iob:3: expected 2 columns as in the lines before, found 1"),
        (("call O\n", "call O\n\n"), 0, ""),
        (("rejects O\n", "rejects O\n\n"), 3, "the sentences diverge: one ends at system.iob:2, but goes on at gold.iob:2"),
        ((SYSTEM, ""), 2, "system.iob: holds no tokens"),
    ],
)  # fmt: skip
def test_bad_input_names_its_line(change, code, message):
    Path("system.iob").write_text(SYSTEM.replace(*change))
    assert message in run("gold.iob", "system.iob", code=code).stderr


def test_missing_files_and_foreign_prefixes():
    assert "nowhere.iob: no such file" in run("gold.iob", "nowhere.iob", code=2).stderr
    Path("system.iob").write_text(SYSTEM.replace("B-PER\nBlackburn O", "B-PER\nBlackburn E-PER"))
    assert "system.iob:7" in run("gold.iob", "system.iob", "--strict", code=2).stderr


@needs_wnut
@pytest.mark.parametrize("system", ["arcada", "drexel_cci", "sjtu_adapt.txt", "uh_ritual"])
def test_wnut17_to_six_decimals(system):
    expected = json.loads((WNUT / "expected.json").read_text())["systems"][system]
    options = [part for tag in TYPES for part in ("--tag", tag)]
    files = WNUT / "emerging.test.annotated", WNUT / "submissions" / system
    found = metrics(*files, *options, "--metric", "segment", "--metric", "token", "--metric", "ts")
    half = metrics(*files, *options, "--metric", "ts", "--separators", 0.5)["ts"]
    ours = {
        "segment exact, micro F1": found["segment"]["f1"],
        "segment exact, macro F1 over the six types": found["segment"]["macro"]["f1"],
        "token, micro F1": found["token"]["micro"]["f1"],
        "token, macro F1": found["token"]["f1"],
        "token and separator, micro F1": found["ts"]["micro"]["f1"],
        "token and separator, macro F1": found["ts"]["f1"],
        "token and separator, separators weighted 0.5, macro F1": half["f1"],
        "token and separator, Cohen's kappa per type, averaged": found["ts"]["kappa"],
        "token and separator, accuracy per type, averaged": found["ts"]["accuracy"],
    }
    assert {name: f"{value:.6f}" for name, value in ours.items()} == {k: f"{v:.6f}" for k, v in expected.items()}


@needs_wnut
def test_wnut17_ranked():
    systems = sorted((WNUT / "submissions").iterdir())
    done = json.loads(
        run(
            WNUT / "emerging.test.annotated", *systems, "--ignore-tokens", "--correlations", "--resamples", 2,
            "--metric", "segment", "--metric", "ts", "--metric", "token", "--format", "json",
            command=("compare", "spans"),
        ).stdout
    )  # fmt: skip
    found = {(pair["first"], pair["second"]): pair["spearman"] for pair in done["correlations"]}
    assert found["segment", "ts"] == pytest.approx(0.893, abs=5e-4)
    assert found["ts", "token"] == pytest.approx(0.964, abs=5e-4)


def test_seqevals_layout_comes_with_the_report_and_the_tallies_too():
    said = run("gold.iob", "system.iob", "--seqeval", "--report", "r.html", "--tallies", "t.csv")
    assert "micro avg" in said.stdout
    assert "report: r.html" in said.stderr
    assert "tallies: t.csv" in said.stderr
    assert Path("r.html").exists()
    assert len(Path("t.csv").read_text().splitlines()) == 1 + 3


def test_a_number_of_rows_without_a_list_is_an_error_of_usage():
    said = run("gold.iob", "system.iob", "--limit", 1, code=2).stderr
    assert "--rows says how many rows of --by document (or of --errors and --repairs) are shown; give both" in said


HIPE = """TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tMISC
# hipe2022:document_id = a
Bern\tB-loc\t_\t_
# hipe2022:segment = 2
Stadt\tI-loc\t_\tEndOfLine
ist\t_\t_\t_

# hipe2022:document_id = b
Anna\tB-pers\tB-org\t_
"""


def test_hipe_tsv():
    Path("gold.tsv").write_text(HIPE)
    Path("system.tsv").write_text(HIPE.replace("I-loc", "_").replace("ist\t_", "ist\tB-pers"))
    found = metrics("gold.tsv", "system.tsv", "--metric", "segment")["segment"]["tally"]
    assert found == {"num_p": 1, "den_p": 3, "num_r": 1, "den_r": 2}
    assert metrics("gold.tsv", "system.tsv", "--reference-column", "2", "--metric", "segment")["segment"]["f1"] == 1
    assert json.loads(run("gold.tsv", "system.tsv", "--format", "json").stdout)["documents"] == 2
    listed = run("gold.tsv", "system.tsv", "--errors").stdout
    assert "boundary\ta, line 3, tokens 0–1, 1 token off" in listed  # the comment between the two lines is nobody's
    Path("bad.tsv").write_text(HIPE.replace("Anna\tB-pers\tB-org\t_", "Anna\tB-pers"))
    assert "bad.tsv:9" in run("gold.tsv", "bad.tsv", code=2).stderr
    shown = run("gold.tsv", "system.tsv", "--document", "b", "--metric", "segment", "--format", "json")
    assert json.loads(shown.stdout)["metrics"]["segment"]["tally"]["den_r"] == 1
    Path("again.tsv").write_text(HIPE.replace("_id = b", "_id = a"))
    assert "again.tsv:8: the document 'a' is already used in line 2" in run("gold.tsv", "again.tsv", code=2).stderr
    for name in ("gold", "system"):  # a line ends where the file says, not at what Unicode also calls the end of a line
        Path(f"{name}.tsv").write_text(Path(f"{name}.tsv").read_text().replace("Stadt", "Sta\x85dt\u2028"))
    found = metrics("gold.tsv", "system.tsv", "--metric", "segment")["segment"]["tally"]
    assert found == {"num_p": 1, "den_p": 3, "num_r": 1, "den_r": 2}
    assert "one header" in run("gold.tsv", "system.tsv", "--jobs", "2").stderr
    assert "4 columns" in run("gold.tsv", "system.tsv", "--reference-column", "9", code=2).stderr

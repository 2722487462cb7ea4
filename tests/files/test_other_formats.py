"""Formats that other people's tools write: the figures are those of our own format of the same content (`foreign/make.py` says how each
file was made), and a wrong file of each kind says what is wrong, where, and what was expected."""

import gzip
import io
import json
import re
import sys
from pathlib import Path

import pytest

import tallystick as ts
from running import run

HERE = Path(__file__).parent / "foreign"
CHARACTERS = [
    "doccano.{}.jsonl", "doccano_relations.{}.jsonl", "prodigy.{}.jsonl", "labelstudio.{}.json", "labelstudio_min.{}.json",
]  # fmt: skip
TOKENS = ["spert.{}.json", "gliner_data.{}.json", "dygie.jsonl", "docs.{}.spacy"]
ROWS = ["rows_{}/rows.jsonl", "rows_{}/data-00000-of-00001.arrow", "rows.{}.parquet", "own.iob.{}.jsonl"]
RELATIONS = {
    "doccano_relations.{}.jsonl": "characters", "prodigy.{}.jsonl": "characters", "labelstudio.{}.json": "characters",
    "dygie.jsonl": "tokens", "spert.{}.json": "tokens",
}  # fmt: skip


def files(pattern):
    if ".spacy" in pattern:
        pytest.importorskip("spacy")
    if pattern.endswith((".parquet", ".arrow")):
        pytest.importorskip("pyarrow")
    return [str(HERE / pattern.format(side)) for side in ("gold", "system")]


def figures(task, gold, system, metrics=(), **options):
    return getattr(ts, task)(gold, system, metrics, **options).figures


SPANS = ("segment", "ts", "token", "iou", "semeval")


@pytest.mark.parametrize("pattern", CHARACTERS)
def test_spans_of_characters(pattern):
    ours = figures("spans", *files("own.characters.{}.jsonl"), SPANS)
    assert figures("spans", *files(pattern), SPANS) == ours
    assert ours["segment"]["precision"] == 3 / 7


@pytest.mark.parametrize("pattern", TOKENS)
def test_spans_of_tokens(pattern):
    ours = figures("spans", *files("own.tokens.{}.jsonl"), SPANS, offsets="tokens")
    assert figures("spans", *files(pattern), SPANS) == ours


@pytest.mark.parametrize("pattern", ROWS)
def test_rows_of_tags(pattern):
    ours = figures("spans", *files("own.tokens.{}.jsonl"), SPANS, offsets="tokens")
    assert figures("spans", *files(pattern), SPANS) == ours


@pytest.mark.parametrize("pattern", RELATIONS)
def test_relations(pattern):
    ours = figures("relations", *files(f"own.relations.{RELATIONS[pattern]}.{{}}.jsonl"))
    assert figures("relations", *files(pattern)) == ours
    assert ours["strict"]["f1"] not in (0, 1)


def test_events_and_clusters_of_dygie():
    dygie = files("dygie.jsonl")
    assert figures("events", *dygie) == figures("events", *files("own.events.{}.jsonl"))
    assert figures("coreference", *dygie) == figures("coreference", *files("own.clusters.{}.jsonl"))
    assert figures("arguments", *dygie) == figures("arguments", *files("own.events.{}.jsonl"))


def test_predicates_and_arguments_in_columns():
    ours = figures("events", *files("own.events.{}.jsonl"))
    documents = figures("events", *files("srl.{}.conll"))
    sentences = figures("events", *files("srl.{}.props"))
    assert sentences == documents
    for name in ("tri_i", "arg_u+"):  # without the types, which are lemmas there
        assert documents[name] == ours[name]
    assert documents["srl"] == figures("events", *files("own.events.{}.jsonl"), ["rams"])["rams"]


# One side in one format, the other in another


@pytest.mark.parametrize(
    "pair",
    [
        ("own.characters.gold.jsonl", "gliner.system.jsonl"),
        ("doccano.gold.jsonl", "gliner.system.jsonl"),
        ("prodigy.gold.jsonl", "own.characters.system.jsonl"),
        ("docs.gold.spacy", "gliner.system.jsonl"),
        ("own.characters.gold.jsonl", "docs.system.spacy"),
    ],
)
def test_two_formats_of_one_unit(pair):
    if "spacy" in "".join(pair):
        pytest.importorskip("spacy")
    gold, system = (str(HERE / name) for name in pair)
    if pair[0].startswith("prodigy"):  # its names are hashes, which ours has not
        with pytest.raises(ts.TallystickError, match="the document ids differ"):
            figures("spans", gold, system, SPANS)
    else:
        assert figures("spans", gold, system, SPANS) == figures("spans", *files("own.characters.{}.jsonl"), SPANS)


def test_two_formats_of_two_units_cannot_be_compared():
    with pytest.raises(ts.TallystickError, match=r"\(dygie\) counts tokens and .*\(gliner\) counts characters"):
        figures("spans", str(HERE / "dygie.jsonl"), str(HERE / "gliner.system.jsonl"))
    with pytest.raises(ts.TallystickError, match=r"counts tokens and .* counts characters: their spans cannot"):
        figures("relations", str(HERE / "dygie.jsonl"), str(HERE / "doccano_relations.system.jsonl"))


# How a file was read is said, and a file that could be two things is not guessed


@pytest.mark.parametrize(
    ("task", "key"), [("spans", "ner"), ("relations", "relations"), ("events", "events"), ("coreference", "clusters")]
)
def test_gold_of_dygie_is_never_scored_against_itself(task, key, tmp_path):
    lines = [json.loads(line) for line in (HERE / "dygie.jsonl").read_text(encoding="utf-8").splitlines()]

    def write(name, drop):
        path = tmp_path / name
        kept = ({k: v for k, v in line.items() if not drop(n, k)} for n, line in enumerate(lines, 1))
        path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        return str(path)

    whole = write("whole.jsonl", lambda n, k: False)
    lacking = write("lacking.jsonl", lambda n, k: k == f"predicted_{key}")
    later = write("later.jsonl", lambda n, k: n == 2 and k.startswith("predicted_"))
    bare = write("bare.jsonl", lambda n, k: k.startswith("predicted_"))
    for gold, system, line in ((lacking, lacking, 1), (whole, lacking, 1), (whole, later, 2), (bare, bare, 1)):
        with pytest.raises(ts.TallystickError, match=re.escape(f"{system}:{line}: has no 'predicted_{key}'")):
            figures(task, gold, system)
    assert (
        f"bare.jsonl: has no 'predicted_{key}'; its '{key}' was read as the prediction"
        in run("score", task, whole, bare).stderr
    )
    assert "read as the prediction" not in run("score", task, bare, whole).stderr
    if task != "events":  # training data is its own reference, whatever was predicted there
        by = [run("score", task, whole, whole, "--by", "seen", "--train", one).stdout for one in (whole, bare, lacking)]
        assert by[0] == by[1] == by[2]


def test_how_a_file_was_read():
    gold, system = files("doccano.{}.jsonl")
    done = run("score", "spans", gold, system, "--format", "json")
    assert json.loads(done.stdout)["read_as"] == {gold: "doccano JSON Lines", system: "doccano JSON Lines"}
    assert f"{gold} read as doccano JSON Lines" in run("score", "spans", gold, system).stderr
    in_shards = run("score", "spans", gold, system, "--jobs", "2", "--missing", "error", code=None)
    assert in_shards.returncode in (0, 2, 3)
    assert "read_as" not in run("score", "spans", *files("own.characters.{}.jsonl"), "--format", "json").stdout


def test_shards_of_lines_give_the_figures_of_the_whole():
    for task, pattern in (("spans", "dygie.jsonl"), ("relations", "dygie.jsonl"), ("events", "dygie.jsonl"), ("spans", "prodigy.{}.jsonl"),
                          ("spans", "rows_{}/rows.jsonl"), ("events", "srl.{}.conll"), ("events", "srl.{}.props")):  # fmt: skip
        whole, parts = (
            json.loads(run("score", task, *files(pattern), "--format", "json", *more).stdout)
            for more in ((), ("--jobs", "1", "--shard", "100B"))
        )
        assert parts["metrics"] == whole["metrics"], (task, pattern)
        assert parts["read_as"] == whole["read_as"]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"text": "a b", "label": [[0, 1, "X"]], "spans": [[0, 1, "Y"]]}, ("doccano", "jsonl")),
        ({"text": "a", "tokens": ["a"], "ner_tags": ["B-X"], "spans": []}, ("huggingface", "jsonl")),
        ({"tokens": ["a"], "tags": ["O"], "entities": [{"type": "X", "start": 0, "end": 1}]}, ("spert", "huggingface")),
        ({"id": 1, "text": "a", "label": [[0, 1, "X"]], "ner": [{"start": 0, "end": 1, "labels": ["X"]}]},
         ("doccano", "label-studio-min")),
    ],
)  # fmt: skip
def test_a_file_that_could_be_two_things(document, told, tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(document) + "\n")
    done = run("score", "spans", file, file, code=2)
    assert all(f"--input {name}" in done.stderr for name in told), done.stderr
    for name in told:
        assert run("score", "spans", file, file, "--input", name, *(["--scheme", "IO"] * (name == "huggingface")))


def test_the_declared_names_are_those_of_the_formats():
    from typing import get_args, get_type_hints

    from tallystick.tasks.contract import find_task
    from tallystick.tasks.spans import task

    for name in ("spans", "relations", "events"):
        found = find_task(name)
        choices = get_args(get_args(get_type_hints(found.Settings)["input"])[0])
        known = {one.name for one in found.formats()} - {"nothing", "DocRED submission", "gen-arg"}
        assert set(choices) == known
    assert {one.name for one in find_task("spans").formats()} == set(task.FORMATS) - {"tags"}


# Standard input, packed files, Python


def test_packed_and_from_standard_input(tmp_path, monkeypatch):
    gold, system = files("prodigy.{}.jsonl")
    packed = tmp_path / "gold.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(gold).read_bytes()))
    whole = figures("spans", gold, system)
    assert figures("spans", str(packed), system) == whole
    stream = io.BytesIO(Path(system).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    assert figures("spans", gold, "-", input="prodigy") == whole
    assert figures("spans", Path(gold).read_text(), Path(system).read_text()) == whole


def test_a_byte_order_mark_and_windows_line_ends(tmp_path):
    gold, system = files("doccano.{}.jsonl")
    other = tmp_path / "gold.jsonl"
    other.write_bytes(b"\xef\xbb\xbf" + Path(gold).read_bytes().replace(b"\n", b"\r\n"))
    assert figures("spans", str(other), system) == figures("spans", gold, system)


def test_docs_of_spacy_in_python():
    pytest.importorskip("spacy")
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    docs = [list(DocBin().from_disk(name).get_docs(Vocab())) for name in files("docs.{}.spacy")]
    assert figures("spans", *docs, SPANS) == figures("spans", *files("docs.{}.spacy"), SPANS)
    groups = figures("spans", *docs, ["segment"], spans_field="sc")
    assert groups == figures("spans", *files("docs.{}.spacy"), ["segment"], spans_field="sc")
    assert groups["segment"]["recall"] == 6 / 12
    assert figures("spans", docs[0][0], docs[1][0], ["segment"])["segment"]["precision"] == 1 / 3


def test_confidences_of_gliner():
    gold, system = str(HERE / "own.characters.gold.jsonl"), str(HERE / "gliner.system.jsonl")
    done = run("score", "spans", gold, system, "--confidence", "score", "--metric", "segment", "--format", "json")
    assert "confidence" in json.loads(done.stdout)


ENTITIES = [
    {"start": 0, "end": 3, "text": "Ada", "label": "PER"},
    {"start": 8, "end": 12, "text": "Alan", "label": "PER"},
]


def test_a_line_of_entities_is_a_text_also_if_it_is_the_only_line(tmp_path):
    gold, system, listed = tmp_path / "gold.jsonl", tmp_path / "system.jsonl", tmp_path / "system.json"
    gold.write_text('{"text": "Ada met Alan", "spans": [[0, 3, "PER"]]}\n')
    for file in (system, listed):
        file.write_text(json.dumps(ENTITIES) + "\n")
    assert figures("spans", str(gold), str(system), "segment")["segment"]["precision"] == 1 / 2
    with pytest.raises(ts.TallystickError, match="is an entity by itself; expected a list of entities for each text"):
        figures("spans", str(gold), str(listed))


def test_entities_without_their_text_are_compared_with_the_text_of_the_reference(tmp_path):
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    gold.write_text('{"text": "Ada met Alan", "spans": [[0, 3, "PER"]]}\n' * 2)
    system.write_text(json.dumps(ENTITIES) + "\n" + json.dumps(ENTITIES).replace("Alan", "Adam") + "\n")
    said = r"system\.jsonl:2: span \[8, 12\) PER says 'Adam', but these characters of the text are 'Alan'"
    with pytest.raises(ts.TallystickError, match=said):
        figures("spans", str(gold), str(system))
    system.write_text(json.dumps(ENTITIES).replace('"Alan"', "4") + "\n[]\n")
    with pytest.raises(ts.TallystickError, match=r"\[1\]\.text: expected text, found 4"):
        figures("spans", str(gold), str(system))


# What the tools count


def test_offsets_in_utf_16_are_seen_by_the_text_of_the_region(tmp_path):
    """Older versions of Label Studio counted as browsers do: a character beyond the BMP was two."""
    text = "😀 Ada met Alan"
    result = [{"type": "labels", "value": {"start": 3, "end": 6, "text": "Ada", "labels": ["PER"]}}]
    task = {"id": 1, "data": {"text": text}, "annotations": [{"result": result}]}
    old, own = tmp_path / "old.json", tmp_path / "own.jsonl"
    old.write_text(json.dumps([task]))
    own.write_text(json.dumps({"id": "1", "text": text, "spans": [[2, 5, "PER"]]}) + "\n")
    assert figures("spans", str(own), str(old), "segment")["segment"]["f1"] == 1
    result[0]["value"]["text"] = "Eve"
    old.write_text(json.dumps([task]))
    with pytest.raises(ts.TallystickError, match="says 'Eve', but characters 3 to 6 of the text are 'da '"):
        figures("spans", str(own), str(old))


def test_predictions_of_label_studio_stand_beside_the_annotations(tmp_path):
    gold, system = (json.loads((HERE / f"labelstudio.{side}.json").read_text()) for side in ("gold", "system"))
    both = [{**one, "predictions": other["annotations"]} for one, other in zip(gold, system, strict=True)]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(both))
    assert figures("spans", str(file), str(file)) == figures("spans", *files("labelstudio.{}.json"))
    assert figures("relations", str(file), str(file)) == figures("relations", *files("labelstudio.{}.json"))


def test_directions_of_label_studio(tmp_path):
    spans = [
        {"id": k, "type": "labels", "value": {"start": a, "end": a + 1, "labels": ["X"]}}
        for k, a in (("a", 0), ("b", 2))
    ]

    def export(name, *directions):
        links = [
            {"type": "relation", "from_id": "a", "to_id": "b", "direction": one, "labels": ["r"]} for one in directions
        ]
        task = {"id": 1, "data": {"text": "a b"}, "annotations": [{"result": spans + links}]}
        (tmp_path / name).write_text(json.dumps([task]))
        return str(tmp_path / name)

    both = export("both.json", "bi")
    assert figures("relations", both, export("two.json", "left", "right"))["strict"]["f1"] == 1
    assert figures("relations", both, export("one.json", "left"))["strict"]["recall"] == 0.5


def test_what_an_annotator_rejected_is_scored_on_neither_side(tmp_path):
    gold, system = files("prodigy.{}.jsonl")
    lines = Path(gold).read_text().splitlines()
    rejected = json.loads(lines[-1])
    more = tmp_path / "system.jsonl"
    more.write_text(Path(system).read_text() + json.dumps({**rejected, "answer": "accept"}) + "\n")
    for task in ("spans", "relations"):
        results = getattr(ts, task)(gold, str(more))
        assert results.figures == figures(task, gold, system)
        assert any('1 document left out: the answer is "reject"' in one for one in results.warnings)


def test_names_of_tags(tmp_path):
    gold, system = files("rows_{}/rows.jsonl")
    alone = tmp_path / "rows.jsonl"
    alone.write_text(Path(gold).read_text())
    with pytest.raises(
        ts.TallystickError, match=r"rows.jsonl:1: ner_tags: its tags are numbers, and their names are nowhere"
    ):
        figures("spans", str(alone), system)
    names = "O,B-PER,I-PER,B-ORG,I-ORG,B-LOC,I-LOC"
    whole = figures("spans", gold, system)
    assert figures("spans", str(alone), system, tag_names=names) == whole
    config, listed = tmp_path / "config.json", tmp_path / "names.txt"
    config.write_text(json.dumps({"id2label": {str(k): name for k, name in enumerate(names.split(","))}}))
    listed.write_text(names.replace(",", "\n"))
    for given in (config, listed, HERE / "rows_gold" / "dataset_info.json"):
        assert figures("spans", str(alone), system, tag_names=str(given)) == whole
    with pytest.raises(
        ts.TallystickError, match=r"ner_tags\[1\]: expected the number of one of the tags 0 to 1 .*, found 2"
    ):
        figures("spans", str(alone), system, tag_names="O,B-PER")


# Layers


def test_layers_are_one_set_of_nested_spans(tmp_path):
    """GermEval 2014: a number, the token, and two layers; LitBank has more of them."""
    gold, system, own = tmp_path / "gold.tsv", tmp_path / "system.tsv", []
    gold.write_text("#\thttp://x\n1\tUni\tB-ORG\tO\n2\tWien\tI-ORG\tB-LOC\n3\tund\tO\tO\n\n1\tBonn\tB-LOC\tO\n")
    system.write_text("#\thttp://x\n1\tUni\tB-ORG\tO\n2\tWien\tI-ORG\tO\n3\tund\tO\tB-LOC\n\n1\tBonn\tB-LOC\tO\n")
    for name, spans in (
        ("g", [[[0, 2, "ORG"], [1, 2, "LOC"]], [[0, 1, "LOC"]]]),
        ("s", [[[0, 2, "ORG"], [2, 3, "LOC"]], [[0, 1, "LOC"]]]),
    ):
        rows = [{"tokens": ["x"] * n, "spans": one} for n, one in zip((3, 1), spans, strict=True)]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        own.append(str(tmp_path / name))
    options = {"token_column": 1, "comment": "#", "separator": "\t"}
    ours = figures("spans", *own, ("segment", "ts"), offsets="tokens")
    assert figures("spans", str(gold), str(system), ("segment", "ts"), layers=2, **options) == ours
    for layer, f1 in ((-2, 1.0), (-1, 0.0)):
        chosen = figures(
            "spans", str(gold), str(system), "segment", reference_column=layer, predicted_column=layer, **options
        )
        assert chosen["segment"]["f1"] == f1
    done = run("score", "spans", gold, system, "--token-column", "1", "--comment", "#", code=2)
    assert "--layers 2" in done.stderr
    with pytest.raises(ts.TallystickError, match="one tag for each token; leave layers= out"):
        figures("spans", str(gold), str(system), "tag_accuracy", layers=2, **options)


def test_types_alone_are_the_tags_of_few_nerd(tmp_path):
    file = tmp_path / "few.txt"
    file.write_text("Ada\tperson-scholar\nLovelace\tperson-scholar\nsaw\tO\nParis\tlocation-GPE\nItaly\tlocation-GPE\n")
    found = ts.spans(str(file), str(file), "segment", scheme="IO")
    assert found["segment"].figures["f1"] == 1
    assert [row[0] for row in found.by("label")[0].rows] == ["location-GPE", "person-scholar"]


# Wrong files

TEXT = "Ada met Alan"
DYGIE = {"doc_key": "d", "sentences": [["Ada", "met"], ["Alan"]], "ner": [[[0, 0, "PER"]], []]}
STUDIO = {"id": 1, "data": {"text": TEXT}}
WRONG = {
    "doccano: beyond the text": ({"id": 1, "text": TEXT, "label": [[0, 99, "PER"]]}, r"label\[0\]: expected a span inside of its text of 12 characters, found 0 to 99 \(exclusive end\)"),
    "doccano: a missing key": ({"id": 1, "text": TEXT, "entities": [{"id": 1, "start_offset": 0, "label": "PER"}]}, r"entities\[0\]: has no 'end_offset'; it has 'id', 'start_offset', 'label'"),
    "doccano: a span backwards": ({"id": 1, "text": TEXT, "label": [[4, 2, "PER"]]}, r"label\[0\]: expected a span with 0 ≤ start and at least one token, found 4 to 2"),
    "prodigy: beyond the text": ({"text": TEXT, "spans": [{"start": 0, "end": 13, "label": "X"}], "answer": "accept"}, r"spans\[0\]: expected a span inside of its text of 12 characters"),
    "prodigy: a missing key": ({"text": TEXT, "spans": [{"start": 0, "end": 3}], "answer": "accept"}, r"spans\[0\]: has no 'label'"),
    "prodigy: an unknown answer": ({"text": TEXT, "spans": [], "answer": "maybe"}, r'answer: expected "accept", "reject" or "ignore", found \'maybe\''),
    "label studio: beyond the text": ({**STUDIO, "annotations": [{"result": [{"type": "labels", "value": {"start": 0, "end": 50, "labels": ["X"]}}]}]}, r"annotations\[0\].result\[0\].value: expected a span inside"),
    "label studio: a missing key": ({**STUDIO, "annotations": [{"result": [{"type": "labels", "value": {"start": 0, "labels": ["X"]}}]}]}, r"value: has no 'end'"),
    "label studio: two annotations": ({**STUDIO, "annotations": [{"id": 4, "result": []}, {"id": 5, "result": []}]}, r'has 2 annotations \("4", "5"\); expected one a task'),
    "label studio: no text": ({"id": 1, "data": {"a": "x", "b": "y"}, "annotations": [{"result": []}]}, r'data: expected one text, found "a", "b"'),
    "label studio min: beyond the text": ({"id": 1, "text": TEXT, "label": [{"start": 0, "end": 50, "labels": ["X"]}]}, r"label\[0\]: expected a span inside"),
    "gliner: beyond the text": ({"text": TEXT, "entities": [{"start": 0, "end": 50, "label": "X"}]}, r"entities\[0\]: expected a span inside"),
    "gliner: another text": ({"text": TEXT, "entities": [{"start": 0, "end": 3, "label": "X", "text": "Zoe"}]}, r"entities\[0\]: says 'Zoe', but characters 0 to 3 of the text are"),
    "gliner: no text": ({"text": TEXT, "entities": [{"start": 0, "end": 3, "label": "X", "text": 3}]}, r"entities\[0\]\.text: expected text, found 3"),
    "prodigy: another text": ({"text": TEXT, "answer": "accept", "spans": [{"start": 0, "end": 3, "label": "X", "text": "Zoe"}]}, r"spans\[0\]: says 'Zoe', but characters 0 to 3"),
    "gliner: no label": ({"text": TEXT, "entities": [{"start": 0, "end": 3, "label": "X"}, {"start": 0, "end": 3}]}, r"entities\[1\]: has no 'label'"),
    "gliner data: beyond the tokens": ({"tokenized_text": ["a"], "ner": [[0, 1, "X"]]}, r"ner\[0\]: expected a span inside of its text of 1 token, found 0 to 1 \(inclusive end\)"),
    "dygie: beyond the sentence": ({**DYGIE, "ner": [[[0, 2, "PER"]], []]}, r"ner\[0\]\[0\]: expected a span inside of its sentence 0, tokens 0 to 1, found 0 to 2"),
    "dygie: counted by sentence": ({**DYGIE, "ner": [[], [[0, 0, "PER"]]]}, r"ner\[1\]\[0\]: expected a span inside of its sentence 1, tokens 2 to 2, found 0 to 0"),
    "dygie: a list is missing": ([DYGIE, {**DYGIE, "doc_key": "e", "ner": [[]]}], r"ner: expected a list for each of the 2 sentences, found 1"),
    "dygie: a missing key": ([DYGIE, {"doc_key": "e", "sentences": []}], r"has no 'ner'"),
    "spert: beyond the tokens": ({"tokens": ["a"], "entities": [{"type": "X", "start": 0, "end": 2}]}, r"entities\[0\]: expected a span inside of its text of 1 token"),
    "rows: too few tags": ({"tokens": ["a", "b"], "ner_tags": ["O"]}, r"ner_tags: expected a tag for each of the 2 tokens, found 1"),
    "rows: a tag that is none": ({"tokens": ["a"], "ner_tags": ["PER"]}, r'"PER" is not a tag of the scheme IOB2'),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_says_what_is_wrong_and_where(kind, tmp_path):
    documents, message = WRONG[kind]
    listed = (
        documents
        if isinstance(documents, list) and isinstance(documents[0], dict) and "doc_key" in documents[0]
        else [documents]
    )
    file = tmp_path / "wrong.jsonl"
    file.write_text("\n" + "".join(json.dumps(one) + "\n" for one in listed))
    done = run("score", "spans", file, file, code=2)
    assert f"{file}:{len(listed) + 1}: " in done.stderr

    assert re.search(message, done.stderr), done.stderr


RELATED = {
    "doccano: an unknown id": ({"id": 1, "text": TEXT, "entities": [{"id": 7, "start_offset": 0, "end_offset": 3, "label": "X"}], "relations": [{"from_id": 7, "to_id": 8, "type": "r"}]}, r"relations\[0\].to_id: there is no span '8' in this document; it has \"7\""),
    "doccano: no relations": ({"id": 1, "text": TEXT, "label": [[0, 3, "X"]]}, r"has no 'relations'"),
    "label studio: an unknown id": ({**STUDIO, "annotations": [{"result": [{"type": "relation", "from_id": "a", "to_id": "b"}]}]}, r"from_id: there is no span 'a' in this document; it has none"),
    "prodigy: no argument": ({"text": TEXT, "spans": [], "relations": [{"label": "r", "head": 0, "child": 1}], "answer": "accept"}, r"relations\[0\]: has no 'head_span'"),
    "dygie: half a relation": ({**DYGIE, "relations": [[[0, 0, 1, "r"]], []]}, r"relations\[0\]\[0\]: expected \[start, end, start, end, label\]"),
}  # fmt: skip


@pytest.mark.parametrize("kind", RELATED)
def test_a_wrong_file_of_relations(kind, tmp_path):

    document, message = RELATED[kind]
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps(document) + "\n")
    done = run("score", "relations", file, file, code=2)
    assert re.search(message, done.stderr), done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- (A0*\nsay (V*)\n", "wrong.props:1: the argument A0 does not end"),
        ("- *\nsay *)\n", 'wrong.props:2: "*)" ends an argument that has not begun'),
        ("- * *\nsay (V*) *\n", "wrong.props:1: the sentence has 1 predicates and 2 columns of arguments"),
        ("- *\nsay (V*) *\n", "wrong.props:2: expected 2 columns as in the lines before, found 3"),
    ],
)
def test_a_wrong_file_of_predicates(content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.props").write_text(content)
    assert message in run("score", "events", "wrong.props", "wrong.props", code=2).stderr


@pytest.mark.parametrize("pattern", [*CHARACTERS, *TOKENS, *ROWS])
def test_a_file_that_is_cut_off(pattern, tmp_path):
    for share in (0.3, 0.6, 0.95):
        name = Path(files(pattern)[0])
        cut = tmp_path / name.name
        data = name.read_bytes()
        cut.write_bytes(data[: int(share * len(data))].rstrip(b"\n"))
        done = run("score", "spans", cut, name, code=None)
        assert done.returncode in (2, 3), done.output
        assert cut.name in done.stderr
        assert "Traceback" not in done.output


def test_arguments_are_counted_as_srl_eval_does(tmp_path):
    """srl-eval.pl of CoNLL-2005 on these two files: 3 correct, 2 excess, 1 missed. C-A1 goes on with A1; V is no argument. An argument
    in two pieces without a gap is one argument here, and another one there; a predicate that is only predicted is left out there."""
    gold, system = tmp_path / "gold.props", tmp_path / "system.props"
    gold.write_text("- (A0*) *\nsay (V*) (A1*)\n- (A1* *\nsee *) (V*)\n- * (A2*)\n- (C-A1*) *\n\n")
    system.write_text("- (A0*) *\nsay (V*) (A1*)\n- (A1* *\nsee *) (V*)\n- (AM-TMP*) (A2*)\n- * *\n\n")
    tally = ts.events(str(gold), str(system), "srl")["srl"].as_dict()["tally"]
    assert [tally[key] for key in ("num_p", "den_p", "den_r")] == [3, 5, 4]


EXAMPLES = re.findall(
    r"<!-- ([\w-]+) ([\w ]+) -->\n```\w*\n(.*?)```",
    (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{name} {tasks}" for name, tasks, _ in EXAMPLES])
def test_the_examples_of_the_page_are_read_as_it_says(example, tmp_path):
    from tallystick.files.source import Opening, find_format
    from tallystick.tasks.contract import find_task

    name, tasks, content = example
    file, same = tmp_path / "file", tmp_path / "same"
    for one in (file, same):
        one.write_text(content, encoding="utf-8")
    for task in tasks.split():
        found = find_format(find_task(task).formats(), Opening(str(file)))
        own = {("spert", "relations"): "JSON", ("dygie", "coreference"): "jsonl"}  # theirs is ours
        assert found.name == own.get((name, task), name)
        results = getattr(ts, task)(str(file), str(same))
        assert all(one in (1.0, None) for result in results.values() for one in [result.figures.get("f1")])


def test_the_page_has_a_row_for_every_format():
    from tallystick.tasks.contract import find_task

    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    for task in ("spans", "relations", "events"):
        for one in find_task(task).formats():
            assert not one.title or f"| `{one.name}` |" in page


@pytest.mark.parametrize("format", ["label-studio", "label-studio-min"])
def test_a_region_without_a_label_is_an_error(tmp_path, format):
    gold, system = tmp_path / "gold.json", tmp_path / "system.json"
    for file, labels in ((gold, ["PER"]), (system, [])):
        region = {"start": 0, "end": 3, "labels": labels}
        whole = {"result": [{"id": "a", "type": "labels", "value": region}]}
        small = {"id": 1, "text": "Ada met", "label": [region], "annotator": 1, "annotation_id": 9}
        large = {"id": 1, "data": {"text": "Ada met"}, "annotations": [whole]}
        file.write_text(json.dumps([large if format == "label-studio" else small]))
    done = run("score", "spans", gold, system, "--input", format, code=2)
    assert "system.json" in done.stderr
    assert "labels: expected at least one label, found []" in done.stderr


def test_a_region_whose_labels_are_missing_is_an_error(tmp_path):
    file = tmp_path / "a.json"
    region = {"id": "a", "type": "labels", "value": {"start": 0, "end": 3}}
    file.write_text(json.dumps([{"id": 1, "data": {"text": "Ada met"}, "annotations": [{"result": [region]}]}]))
    assert "labels" in run("score", "spans", file, file, code=2).stderr

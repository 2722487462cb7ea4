"""What `explain` and `--errors` show a reader: words, whole values, and a document that has something in it."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from tests import running

import tallystick as ts
from tallystick.examples import __file__ as examples
from tallystick.tasks.spans.metrics import METRICS, evaluate

EXAMPLES = Path(examples).parent
GOLD, SYSTEM = EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob"


def write(path, *documents):
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return path


def explain(*arguments, code=0):
    return running.run("explain", *map(str, arguments), code=code)


def test_explain_spans_shows_segments_in_words():
    shown = explain("spans", GOLD, SYSTEM, "--document", 2).stdout
    assert "≠ boundary: ORG Bank of England [1–3] ↔ ORG Bank [1]  0" in shown
    assert "+ spurious: LOC England [3]\n" in shown
    assert "document 2: segment = 0 of 2 in the reference, 4 predicted" in shown


TAGS = [["B-A", "I-A", "O", "B-B", "B-A"], ["O", "O", "O"], ["B-B", "I-B", "I-B", "O", "B-A", "I-A"]]
GUESS = [["B-A", "O", "O", "B-A", "B-A"], ["O", "O", "O"], ["O", "B-B", "I-B", "O", "B-B", "I-B"]]


@pytest.mark.parametrize(
    "name", [name for name in METRICS if name not in ("constrained_overlap", "segment_units", "tag_accuracy")]
)
def test_the_tree_of_a_document_adds_up_to_its_score_under_every_named_metric(name):
    result = pickle.loads(pickle.dumps(evaluate(TAGS, GUESS, [name])[name]))
    for document, sums in zip(result.ids, result.rows, strict=True):
        tree, tally = result.explain(document), result.kind.pooled_tally(sums)
        if name in ("overlap", "contain"):  # any partner: two numerators, of which the tree shows one
            assert tree.predicted_self == tally["den_p"]
            continue
        assert (tree.weight, tree.predicted_self, tree.reference_self) == (
            tally["num_p"],
            tally["den_p"],
            tally["den_r"],
        )
        assert tree.weight == sum(child.weight for child in tree.children)


def test_a_document_that_there_is_not():
    with pytest.raises(ts.TallystickError, match="no document 9; there are 3: "):
        evaluate(TAGS, GUESS, ["segment"])["segment"].explain(9)


def test_long_values_on_one_side_are_shown_part_by_part(tmp_path):
    """Two that were cut at the same place looked alike."""
    shown = explain("relations", EXAMPLES / "relations.gold.jsonl", EXAMPLES / "relations.system.jsonl").stdout
    assert "…" not in shown
    assert "- subj: Mention(0, 1, type='PER', text='Marie Curie')" in shown
    assert "+ subj: Mention(1, 1, type='PER', text='Curie')" in shown
    shown = explain("events", EXAMPLES / "events.gold.jsonl", EXAMPLES / "events.system.jsonl").stdout
    assert "…" not in shown
    assert "type='Life.Die'" in shown
    assert "type='Life.Injure'" in shown


def test_coreference_is_explained_in_words(tmp_path):
    words = ["Ann", "and", "her", "dog", "met", "a", "man"]
    key = write(tmp_path / "key.jsonl", {"id": "d", "sentences": [words], "clusters": [[[0, 0], [2, 2]], [[5, 6]]]})
    response = write(tmp_path / "response.jsonl", {"id": "d", "sentences": [words], "clusters": [[[0, 0], [5, 6]]]})
    for metric in ("ceaf_e", "b3", "muc"):
        assert "her [2]" in explain("coreference", key, response, "--metric", metric).stdout
    shown = running.run("score", "coreference", str(key), str(response), "--errors").stdout
    assert "{her [2]}" in shown
    found = running.run("score", "coreference", str(key), str(response), "--errors", "--format", "json").stdout
    examples = {kind["kind"]: kind["examples"] for kind in json.loads(found)["errors"]["kinds"]}
    assert [one["reference"] for one in examples["missing mention"]] == ["0 {her [2]}"]


@pytest.mark.parametrize(
    ("task", "empty", "right", "wrong"),
    [
        ("coreference", {"clusters": []}, {"clusters": [[[0, 0], [1, 1]]]}, {"clusters": [[[0, 0], [2, 2]]]}),
        (
            "events", {"tokens": ["a"], "events": []}, {"tokens": ["a"], "events": [{"trigger": [0, 1, "X"], "arguments": [[0, 1, "R"]]}]},
            {"tokens": ["a"], "events": [{"trigger": [0, 1, "Y"], "arguments": [[0, 1, "S"]]}]},
        ),
        ("spans", {"text": "a b", "spans": []}, {"text": "a b", "spans": [[0, 1, "X"]]}, {"text": "a b", "spans": [[0, 1, "Y"]]}),
    ],
)  # fmt: skip
def test_an_empty_document_is_never_the_worst(tmp_path, task, empty, right, wrong):
    gold = write(tmp_path / "gold.jsonl", {"id": "none", **empty}, {"id": "good", **right}, {"id": "bad", **right})
    system = write(tmp_path / "system.jsonl", {"id": "none", **empty}, {"id": "good", **right}, {"id": "bad", **wrong})
    assert explain(task, gold, system).stderr.startswith("document bad, the worst of 3")
    listed = running.run("score", task, str(gold), str(system), "--by", "document").stdout.split("\n\n")[1]
    assert list(dict.fromkeys(line.split("\t")[0] for line in listed.splitlines()))[1:] == ["bad", "good", "none"]


def test_tables_name_files_without_their_folders(tmp_path):
    folder = tmp_path / "a" / "long" / "way"
    folder.mkdir(parents=True)
    files = [folder / name for name in ("gold.iob", "system.iob")]
    files[0].write_text("x B-A\ny I-B\n")
    files[1].write_text("x O\ny I-B\n")
    shown = running.run("score", "spans", *map(str, files), "--errors", "--repairs").stdout
    assert str(folder) not in shown
    assert "gold.iob:2\tI-B" in shown
    assert "system.iob:2\tI-B" in shown


def test_an_expression_of_a_stranger_imports_nothing():
    code = "import sys, tallystick as ts\ntry: ts.parse('f1(match(via(antigravity:x, exact)))')\nexcept ts.TallystickError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", code + "\nprint('antigravity' in sys.modules)"], capture_output=True, text=True
    )
    assert "of ts.parse functions=True" in done.stdout
    assert done.stdout.endswith("False\n")
    for ask in (lambda text: ts.evaluate(text, [[]], [[]]), ts.kernel_status, ts.Evaluation):
        with pytest.raises(ts.TallystickError, match="functions such as antigravity:x are not allowed here"):
            ask("f1(match(via(antigravity:x, exact)))")

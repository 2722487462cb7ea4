"""The gallery's metrics say what the scorers of their fields say: on generated cases, against recorded figures of the packages
(`python -m benchmarks.gallery --record tests/gallery/recorded.json`), or against definitions that are written out plainly here."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import tallystick as ts
from benchmarks.gallery import CASES, FIELDS, PAGES, cases, code_of, figures
from running import run, write

QUICK = 50
"""So many are tried here; `python -m benchmarks.gallery` has all."""
RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.mark.parametrize("name", FIELDS)
def test_figures_are_those_of_the_field(name):
    field, page = FIELDS[name], code_of(name)
    expected = RECORDED[name]
    assert len(expected) == CASES
    for case, theirs in zip(cases(field, QUICK), expected[:QUICK], strict=True):
        compare(field, page, case, theirs)


@pytest.mark.parametrize("name", [name for name, field in FIELDS.items() if field.shipped])
def test_figures_are_those_of_the_field_on_the_data_that_its_package_ships(name):
    if name == "tracking":
        pytest.importorskip("motmetrics")  # its files are in the package
    field, page = FIELDS[name], code_of(name)
    for case, theirs in zip(field.shipped(), RECORDED[f"{name} shipped"], strict=True):
        compare(field, page, case, theirs)


def compare(field, page, case, theirs):
    ours = field.ours(page, *case)
    for figure, value in theirs.items():
        if figure in field.departs:  # error rates, of which the optimum is the lowest
            assert ours[figure] <= value + 1e-9, (figure, case)
        elif figure in field.exceeds:
            assert ours[figure] >= value - 1e-9, (figure, case)
        else:
            assert ours[figure] == pytest.approx(value, abs=1e-9), (figure, case)


def test_pyannote_departs_from_the_best_jaccard_error():
    """The longest shared time is between A and y; but y is mostly about something else, and A is better off with x."""
    page = code_of("diarisation")
    reference = page["by_speaker"]({"turns": [{"speaker": "A", "time": [0, 4]}]})
    predicted = page["by_speaker"]({"turns": [{"speaker": "x", "time": [0, 1.5]}, {"speaker": "y", "time": [1.5, 12]}]})
    assert figures(page["JER"], reference, predicted)["recall"] == pytest.approx(1.5 / 4)
    assert figures(page["PYANNOTE_JER"], reference, predicted)["recall"] == pytest.approx(2.5 / 12)


def test_no_turn_is_free():
    """A turn that is predicted twice is false the second time, whoever else was confused."""
    page = code_of("diarisation")
    gold = {"speakers": [[[0, 4]], [[4, 6]]]}
    assert figures(page["DER"], gold, {"speakers": [[[0, 4], [0, 4]], [[4, 6]]]})["error_rate"] == pytest.approx(4 / 6)
    both = figures(page["DER"], gold, {"speakers": [[[0, 4], [0, 4], [4, 6]]]})
    assert both == pytest.approx({"error_rate": 1, "missed": 0, "false": 4 / 6, "confused": 2 / 6})


def test_sed_eval_departs_from_the_fewest_errors():
    """Four events with wrong labels: the first of the reference fits both of the prediction, and takes the one that the second needs."""
    page = code_of("sounds")
    gold, found = (
        {"events": [{"label": label, "time": [start, start + 2]} for start in starts]}
        for label, starts in (("car", (1.0, 1.25)), ("dog", (1.1, 0.9)))
    )
    assert figures(page["EVENT_ER"], gold, found)["error_rate"] == 1  # two substitutions
    assert figures(page["SED_EVAL_ER"], gold, found)["error_rate"] == 1.5  # one, a deletion and an insertion


def test_coco_departs_from_the_most_that_can_be_right():
    """The surer prediction takes the box that the other one needs."""
    page = code_of("detection")
    gold = [{"category": 1, "box": [x, 0, 10, 10], "area": 100} for x in (0, 4)]
    found = [{"category": 1, "box": [x, 0, 10, 10], "area": 100, "score": s} for x, s in ((1.9, 0.9), (-2, 0.8))]
    kinds = [replace(page[name], at=(0.5,)) for name in ("AP", "COCO")]
    best, greedy = (ts.evaluate(kind, [{"objects": gold}], [{"objects": found}]).figures["ap"] for kind in kinds)
    assert best == 1
    assert greedy == pytest.approx(51 / 101)


def test_webnlg_pairs_once_for_all_figures():
    """The one pair has the same subject, the other one some words of everything: that is more over all four figures, and nothing strictly."""
    page = code_of("triples")
    gold = {"triples": [{"subject": "c d", "predicate": "p q", "object": "r s"}]}
    found = {
        "triples": [
            {"subject": "c d", "predicate": "x", "object": "y"},
            {"subject": "c", "predicate": "p", "object": "r"},
        ]
    }
    sides = [page["elements"](side) for side in (gold, found)]
    assert figures(page["WEBNLG"]["strict"], *sides)["f1"] == pytest.approx(2 / 9)
    assert figures(page["ONCE"]["strict"], *sides)["f1"] == 0
    assert figures(page["ONCE"]["partial"], *sides)["f1"] == pytest.approx(3 / 9)


# Everything downstream: the command of every page, on documents of its field

DOCUMENTS = {
    "constituents": {"brackets": [{"label": "NP", "start": 0, "end": 2}, {"label": "S", "start": 0, "end": 4}]},
    "semantic_roles": {
        "arguments": [{"predicate": 3, "role": "A0", "span": [0, 2]}, {"predicate": 3, "role": "A1", "span": [4, 6]}]
    },
    "dialogue": {"turns": [{"area": "north"}, {"area": "north", "food": "thai"}]},
    "key_phrases": {"phrases": ["neural networks", "parsing"]},
    "triples": {
        "triples": [
            {"subject": "Aarhus", "predicate": "country", "object": "Denmark"},
            {"subject": "Aarhus", "predicate": "leader", "object": "Bundsgaard"},
        ]
    },
}


def documents(name, rng):
    """Some documents of a field, and two systems' answers."""
    if name in DOCUMENTS:
        gold = [DOCUMENTS[name]] * 4
        (key,) = DOCUMENTS[name]
        return gold, gold, [{key: one[key][:1]} for one in gold]
    drawn = [FIELDS[name].draw(rng) for _ in range(4)]
    if name == "diarisation":
        drawn = [tuple(map(code_of(name)["by_speaker"], pair)) for pair in drawn]
    if name == "detection":
        drawn = [pair for pictures in drawn for pair in zip(*pictures, strict=True)]
    gold, found = (list(side) for side in zip(*drawn, strict=True))
    return gold, found, found[1:] + found[:1]


@pytest.mark.parametrize("name", sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index"))
def test_commands_of_the_pages_have_everything_downstream(name, tmp_path):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    metric = re.search(r"--metric '(.*?)'\n", text)[1]
    files = []
    for file, side in zip(("gold", "a", "b"), documents(name, Random(name)), strict=True):
        files.append(tmp_path / f"{file}.jsonl")
        write(files[-1], [{"id": k, **one} for k, one in enumerate(side)])
    gold, one, other = files
    whole = json.loads(run("score", "records", gold, one, "--metric", metric, "--intervals", "--format", "json").stdout)
    figures = whole["metrics"]["records"]
    parts = run("score", "records", gold, one, "--metric", metric, "--shard", "1kB", "--format", "json").stdout
    mine = json.loads(parts)["metrics"]["records"]
    assert {k: v for k, v in mine.items() if isinstance(v, float)} == {
        k: v for k, v in figures.items() if isinstance(v, float)
    }
    run("compare", "records", gold, f"A={one}", f"B={other}", "--metric", metric, "--resamples", 100)
    assert run("explain", "records", gold, other, "--metric", metric, "--worst", 1).stdout
    run("score", "records", gold, one, "--metric", metric, "--report", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize("page", sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index"))
def test_a_metric_takes_at_most_ten_lines(page):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    metric = block.partition("\n\n\ndef ")[0]
    lines = [line for line in metric.splitlines() if line.strip() and not line.startswith(("import", "from"))]
    assert 1 <= len(lines) <= 10
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert f"({page}.md)" in index


PARTS = {
    "algebra/clusters.py": None, "algebra/ordered.py": {"Replaceable", "EditRatio", "edit", "tree_edit", "edit_ratio", "replaceable"}, "algebra/grids.py": None, "algebra/space.py": None,
    "engine/trees.py": {"chain_scores", "match_grids", "_chain", "_over", "_crossings", "_matched", "_Search"},
    "engine/ranked.py": {"outcomes", "_right", "_seated", "Outcome", "Ranking", "_mean", "area"},
    "algebra/normalise.py": {"ErrorRate", "error_rate"}, "engine/tally.py": {"Rate", "Adjusted"},
    "algebra/staged.py": {"ByPairs", "Greedy", "greedy", "PairedBy", "paired_by", "Ranked", "ranked"},
}  # fmt: skip
"""What the algebra has for the gallery: whole modules, or parts of them."""


def code_lines(path, names):
    """How many lines of a module are code, or of some of its definitions: not imports, texts of documentation, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    kept, documentation = set(), set()
    for node in tree.body:
        about = names is None and not isinstance(node, (ast.Import, ast.ImportFrom, ast.If))
        if about or getattr(node, "name", None) in (names or ()):
            first = min(one.lineno for one in (node, *getattr(node, "decorator_list", ())))
            kept.update(range(first, node.end_lineno + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documentation.update(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    written = {k for k, line in lines if line.strip() and not line.strip().startswith("#")}
    missing = (names or set()) - {getattr(node, "name", None) for node in tree.body}
    assert not missing, f"{path.name} has no {missing}"
    return len((kept & written) - documentation)


def test_the_parts_of_the_gallery_are_at_most_a_thousand_lines():
    found = {name: code_lines(Path(ts.__file__).parent / name, names) for name, names in PARTS.items()}
    assert 800 < sum(found.values()) <= 1000, found


def test_commands_of_the_pages_name_the_metrics_of_the_pages():
    for path in PAGES.glob("*.md"):
        for expression in re.findall(r"--metric '(.*?)'\n", path.read_text(encoding="utf-8")):
            assert str(ts.parse(expression, functions=True))


# Definitions, written out plainly


def f1_of(gold, found):
    gold, found = set(gold), set(found)
    return 2 * len(gold & found) / (len(gold) + len(found)) if gold or found else 0.0


def test_semantic_roles_are_sets():
    page, rng = code_of("semantic_roles"), Random(1)

    def draw():
        found = {
            (rng.randrange(3), rng.choice(("A0", "A1", "AM")), rng.randrange(4), rng.randrange(4, 7))
            for _ in range(rng.randint(1, 6))
        }
        return [{"predicate": p, "role": r, "span": [a, b]} for p, r, a, b in sorted(found)]

    for _ in range(CASES):
        gold, found = draw(), draw()
        sides = {"arguments": gold}, {"arguments": found}
        whole = [[(one["predicate"], one["role"], *one["span"]) for one in side] for side in (gold, found)]
        assert figures(page["SPANS"], *sides)["f1"] == pytest.approx(f1_of(*whole), abs=1e-9)
        bare = [[(p, a, b) for p, _, a, b in side] for side in whole]
        assert figures(page["UNLABELLED"], *sides)["f1"] == pytest.approx(f1_of(*bare), abs=1e-9)


def test_dialogue_states_by_turn_and_by_slot():
    page, rng = code_of("dialogue"), Random(2)
    ontology = ("area", "food", "price")

    def draw(turns):
        return {"turns": [{slot: rng.choice("ab") for slot in ontology if rng.random() < 0.6} for _ in range(turns)]}

    for _ in range(CASES):
        count = rng.randint(1, 4)
        gold, found = draw(count), draw(count)
        if rng.random() < 0.5:
            found["turns"][0] = dict(gold["turns"][0])
        pairs = list(zip(gold["turns"], found["turns"], strict=True))
        slots = [[(k, *one) for k, turn in enumerate(side["turns"]) for one in turn.items()] for side in (gold, found)]
        ours = figures(page["SLOT_F1"], page["filled"](gold), page["filled"](found))["f1"]
        assert ours == pytest.approx(f1_of(*slots), abs=1e-9)
        accuracy = sum(a.get(slot) == b.get(slot) for a, b in pairs for slot in ontology) / (count * len(ontology))
        every = [page["all_slots"](side, ontology) for side in (gold, found)]
        assert figures(page["SLOT_F1"], *every)["recall"] == pytest.approx(accuracy, abs=1e-9)
        joint = [figures(page["JOINT"], {"turns": [a]}, {"turns": [b]})["recall"] for a, b in pairs]
        assert joint == [float(a == b) for a, b in pairs]


def test_key_phrases_at_k():
    page, rng = code_of("key_phrases"), Random(3)
    words = ("neural", "Parsing", "graph", "tree model", "NER", "speech")
    for _ in range(CASES):
        gold, found = ({"phrases": [rng.choice(words) for _ in range(rng.randint(1, 7))]} for _ in range(2))
        stems = [list(dict.fromkeys(phrase.lower() for phrase in side["phrases"])) for side in (gold, found)]
        assert figures(page["F1_AT_M"], gold, found)["f1"] == pytest.approx(f1_of(*stems), abs=1e-9)
        right = len(set(stems[0]) & set(stems[1][:5]))
        precision, recall = right / 5, right / len(stems[0])
        expected = 2 * precision * recall / (precision + recall) if right else 0.0
        ours = figures(page["F1_AT_M"], page["stemmed"](gold), page["first"](found, 5))["f1"]
        assert ours == pytest.approx(expected, abs=1e-9)

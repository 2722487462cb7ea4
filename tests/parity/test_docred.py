"""DocRED's `evaluation.py` as it stands now: facts submitted again are dropped. Its procedure, written out over the files' own
lists, against what is read from the same files."""

import json
import random

import pytest

from tallystick.files.pairing import pair_documents
from tallystick.structures import FactSet
from tallystick.tasks.relations.files import read_relations, read_training
from tallystick.tasks.relations.metrics import RelationOptions, score


def by_the_script(truth, submitted, training):
    """The counts of the script: correct, submitted and true facts; correct ones seen in each training file; evidence."""
    gold = {(x["title"], y["r"], y["h"], y["t"]): set(y["evidence"]) for x in truth for y in x["labels"]}
    names = {x["title"]: [[mention["name"] for mention in vertex] for vertex in x["vertexSet"]] for x in truth}
    seen = [
        {
            (a["name"], b["name"], y["r"])
            for x in file
            for y in x["labels"]
            for a in x["vertexSet"][y["h"]]
            for b in x["vertexSet"][y["t"]]
        }
        for file in training
    ]
    kept = {}
    for x in sorted(submitted, key=lambda x: (x["title"], x["h_idx"], x["t_idx"], x["r"])):  # of equals the first stays
        kept.setdefault((x["title"], x["r"], x["h_idx"], x["t_idx"]), set(x.get("evidence", ())))
    correct = [key for key in kept if key in gold]
    familiar = [
        sum(any((a, b, r) in facts for a in names[title][h] for b in names[title][t]) for title, r, h, t in correct)
        for facts in seen
    ]
    evidence = (
        sum(len(gold[key] & kept[key]) for key in correct),
        sum(map(len, kept.values())),
        sum(map(len, gold.values())),
    )
    return len(correct), len(kept), len(gold), familiar, evidence


def drawn(rng):
    """A reference, a submission that repeats itself, and two training files."""

    def documents(titles):
        out = []
        for title in titles:
            vertices = [[{"name": rng.choice("ABCDEF")} for _ in range(rng.randint(1, 3))] for _ in range(4)]
            keys = dict.fromkeys(
                (rng.randrange(4), rng.randrange(4), rng.choice("PQ")) for _ in range(rng.randint(1, 8))
            )
            labels = [{"h": h, "t": t, "r": r, "evidence": rng.sample(range(5), rng.randrange(3))} for h, t, r in keys]
            out.append({"title": title, "vertexSet": vertices, "labels": labels})
        return out

    truth = documents(f"d{k}" for k in range(rng.randint(1, 4)))
    submitted = []
    for x in truth:
        wrong = [
            {"h": rng.randrange(4), "t": rng.randrange(4), "r": rng.choice("PQ"), "evidence": [0, 1]} for _ in range(3)
        ]
        for y in rng.sample(x["labels"], rng.randint(0, len(x["labels"]))) + wrong:
            fact = {"title": x["title"], "h_idx": y["h"], "t_idx": y["t"], "r": y["r"]}
            for _ in range(rng.choice((1, 1, 2, 3))):
                more = {"evidence": [rng.randrange(5) for _ in range(rng.randrange(4))]} if rng.random() < 0.8 else {}
                submitted.append({**fact, **more})
    rng.shuffle(submitted)
    return truth, submitted, [documents("t"), documents("uv")]


@pytest.mark.parametrize("seed", range(30))
def test_ten_cases_each(seed, tmp_path):
    rng = random.Random(seed)
    for _ in range(10):
        truth, submitted, training = drawn(rng)
        for name, content in (
            ("truth", truth),
            ("result", submitted),
            ("annotated", training[0]),
            ("distant", training[1]),
        ):
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        known = {name: read_training(str(tmp_path / f"{name}.json")) for name in ("annotated", "distant")}
        left = read_relations(str(tmp_path / "truth.json"), known)
        pairs = pair_documents(left, read_relations(str(tmp_path / "result.json")), FactSet)
        found = score(pairs, options=RelationOptions(training=("annotated", "distant")))
        correct, kept, true, familiar, evidence = by_the_script(truth, submitted, training)
        tallies = {name: [int(value) for value in result.tally.values()] for name, result in found.items()}
        assert tallies == {
            "facts": [correct, kept, correct, true],
            "ign:annotated": [correct - familiar[0], kept - familiar[0], correct, true],
            "ign:distant": [correct - familiar[1], kept - familiar[1], correct, true],
            "evidence": [evidence[0], evidence[1], evidence[0], evidence[2]],
        }


def test_of_a_true_fact_that_stands_twice_the_last_evidence_counts(tmp_path):
    """As in the script, which adds the evidence of both to its total: there the truth does not reach 1 against itself."""
    labels = [{"h": 0, "t": 1, "r": "P", "evidence": evidence} for evidence in ([0, 1], [2])]
    truth = [{"title": "d", "vertexSet": [[{"name": "A"}], [{"name": "B"}]], "labels": labels}]
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "result.json").write_text(
        json.dumps([{"title": "d", "h_idx": 0, "t_idx": 1, "r": "P", "evidence": [2]}])
    )
    left = read_relations(str(tmp_path / "truth.json"))
    assert "1 duplicate fact was counted once, with the evidence that came last" in left.warnings[0]
    found = score(pair_documents(left, read_relations(str(tmp_path / "result.json")), FactSet))
    assert found["evidence"].f1 == found["facts"].f1 == 1

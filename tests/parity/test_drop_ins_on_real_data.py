"""The drop-ins and their peers on real data, which is not part of the project; runs where it is (tests/public_data.py)."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from public_data import PUBLIC, needs
from tallystick.adapters import coref, nervaluate, seqeval, smatch
from tallystick.adapters.huggingface import seqeval as dict_of
from tallystick.tasks.coreference.files import read_chains

DATA = PUBLIC
pytestmark = needs("spans/wnut17", "coreference/litbank.key.gz", "meaning")
TYPES = ["corporation", "creative-work", "group", "location", "person", "product"]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "adapters" / "peers"))


def tags_of(path):
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[line.split("\t")[-1].strip() for line in block.split("\n") if line.strip()] for block in blocks]


@pytest.fixture(scope="module")
def wnut():
    folder = DATA / "spans" / "wnut17"
    sides = tags_of(folder / "emerging.test.annotated"), tags_of(folder / "submissions" / "uh_ritual")
    return tuple(map(list, zip(*((a, b) for a, b in zip(*sides, strict=True) if len(a) == len(b)), strict=True)))


def test_seqeval(wnut):
    peer = pytest.importorskip("seqeval.metrics", reason="the peer")
    scheme = pytest.importorskip("seqeval.scheme", reason="the peer").IOB2
    assert len(wnut[0]) > 1200
    for options in ({}, {"mode": "strict", "scheme": scheme}):
        for average in ("micro", "macro", "weighted"):
            assert seqeval.f1_score(*wnut, average=average, **options) == peer.f1_score(
                *wnut, average=average, **options
            )
        assert seqeval.classification_report(*wnut, digits=4, **options) == peer.classification_report(
            *wnut, digits=4, **options
        )
    found = dict_of(references=wnut[0], predictions=wnut[1])
    assert found["overall_f1"] == peer.f1_score(*wnut)
    assert found["overall_accuracy"] == peer.accuracy_score(*wnut)


def test_nervaluate(wnut):
    peer = pytest.importorskip("nervaluate", reason="the peer")
    theirs = peer.Evaluator(*wnut, tags=TYPES, loader="list")
    assert nervaluate.Evaluator(*wnut, tags=TYPES, strict=False).summary_report(digits=4) == theirs.summary_report(
        digits=4
    )


def test_coref_evaluator_on_litbank():
    from metrics import CorefEvaluator

    sides = [
        read_chains(DATA / "coreference" / f"litbank.{side}.gz", fields=("clusters",)) for side in ("response", "key")
    ]
    theirs, ours = CorefEvaluator(), coref.CorefEvaluator(strict=False)
    for predicted, gold in zip(*map(clusters_of, sides), strict=True):
        arguments = predicted, gold, *({m: c for c in side for m in c} for side in (predicted, gold))
        theirs.update(*arguments)
        ours.update(*arguments)
    assert ours.get_prf() == pytest.approx(theirs.get_prf(), abs=1e-12)


def clusters_of(chains):
    """The clusters of every document, as (first, last) tokens; of a mention that repeats, the first."""
    documents = [{} for _ in chains.documents]
    seen = set()
    columns = (chains.document, chains.entity, chains.start, chains.end)
    for document, entity, *mention in zip(*(column.tolist() for column in columns), strict=True):
        if (document, *mention) not in seen:
            seen.add((document, *mention))
            documents[document].setdefault(entity, []).append(tuple(mention))
    return [[tuple(cluster) for cluster in one.values()] for one in documents]


def test_smatch_never_finds_more_than_the_optimum(tmp_path):
    peer = pytest.importorskip("smatch", reason="the peer")
    folder = DATA / "meaning"
    gold, jamr = (
        gzip.decompress((folder / f"little_prince.{side}.amr.gz").read_bytes()).decode() for side in ("gold", "jamr")
    )
    known = json.loads((folder / "little_prince.jamr.expected.json").read_text())
    assert known
    pairs = [[block for block in text.strip().split("\n\n") if "(" in block][:25] for text in (jamr, gold)]
    for one, other in zip(*pairs, strict=True):
        lines = ["".join(line for line in block.split("\n") if not line.startswith("#")) for block in (one, other)]
        theirs = peer.get_amr_match(*lines)
        peer.match_triple_dict.clear()
        ours = smatch.get_amr_match(*lines, strict=False)
        assert ours[1:] == theirs[1:]
        assert ours[0] >= theirs[0]

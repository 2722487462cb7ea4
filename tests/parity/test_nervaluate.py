"""nervaluate 1.2's four strategies, count for count: on random tags, on spans that nest and overlap, and on real taggers."""

import random

import pytest

from public_data import PUBLIC
from tallystick.errors import MetricError
from tallystick.tasks.spans import metrics as spans
from tallystick.tasks.spans.counts import annotate
from tallystick.tasks.spans.files import SpanCorpus
from tallystick.tasks.spans.tags import Columns, decode, read_tags

nervaluate = pytest.importorskip("nervaluate", reason="compares with nervaluate itself")

WNUT = PUBLIC / "spans" / "wnut17"
FIVE = ("correct", "incorrect", "partial", "missed", "spurious")
THEIRS = {f"nervaluate_{name}": name for name in ("strict", "exact", "partial", "ent_type")}


def compare(ours, theirs):
    """All counts and figures of all tags together and of each."""
    assert set(ours) == set(THEIRS)
    for name, result in ours.items():
        overall = theirs["overall"][THEIRS[name]]
        tally = result.kind.pooled_tally(result.sums)
        assert {part: tally[part] for part in FIVE} == {part: getattr(overall, part) for part in FIVE}, name
        found = [result.micro[figure] for figure in ("precision", "recall", "f1")]
        assert found == pytest.approx([overall.precision, overall.recall, overall.f1], abs=1e-15)
        by_tag = result.kind.label_tallies(result.sums)
        assert set(theirs["entities"]) <= set(by_tag)
        for tag, strategies in theirs["entities"].items():
            assert by_tag[tag] == {part: getattr(strategies[THEIRS[name]], part) for part in FIVE}, (name, tag)


def random_tags(rng, types):
    """Tag lists that often break the scheme."""
    return [
        rng.choice(["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in types)]) for _ in range(rng.randrange(12))
    ]


def random_spans(rng, types, *, flat):
    """Spans of a text in any order, which nest, overlap and repeat unless they are to be flat."""
    found = []
    for _ in range(rng.randrange(6)):
        start = rng.randrange(8)
        span = (start, start + rng.randrange(1, 5), rng.choice(types))
        if not flat or all(span[0] >= end or span[1] <= start for start, end, _ in found):
            found.append(span)
    return found


def test_a_type_is_missed_where_nervaluate_misses_it():
    gold, guess = [["B-LOC", "I-LOC"]], [["B-ORG", "B-LOC"]]
    assert spans.evaluate(gold, guess, ["nervaluate"])["nervaluate_ent_type"].f1 == 0
    assert spans.evaluate(gold, guess, ["semeval"])["type"].f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(100))
def test_random_tags(seed):
    rng = random.Random(seed)
    types = ("LOC", "ORG", "PER")[: rng.randrange(1, 4)]
    gold = [random_tags(rng, types) for _ in range(rng.randrange(1, 15))]
    guess = [
        [tag if rng.random() < 0.5 else rng.choice(random_tags(rng, types) or ["O"]) for tag in text] for text in gold
    ]
    theirs = nervaluate.Evaluator(gold, guess, tags=list(types), loader="list").evaluate()
    compare(spans.evaluate(gold, guess, ["nervaluate"]), theirs)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("seed", range(100))
def test_random_spans_in_any_order(seed, flat):
    rng = random.Random(seed)
    types = ("LOC", "ORG", "PER")[: rng.randrange(1, 4)]
    gold, guess = ([random_spans(rng, types, flat=flat) for _ in range(10)] for _ in range(2))
    listed = [
        [[{"label": tag, "start": start, "end": end - 1} for start, end, tag in text] for text in side]
        for side in (gold, guess)
    ]
    theirs = nervaluate.Evaluator(*listed, tags=list(types), loader="dict").evaluate()
    compare(spans.evaluate(gold, guess, ["nervaluate"]), theirs)


def test_long_segments_that_share_less_than_a_hundredth():
    gold, guess = (
        [[(0, 300, "A"), (400, 500, "A")]],
        [[(297, 301, "A"), (298, 420, "B"), (499, 700, "A"), (299, 300, "A")]],
    )
    listed = [[[{"label": t, "start": s, "end": e - 1} for s, e, t in text] for text in side] for side in (gold, guess)]
    theirs = nervaluate.Evaluator(*listed, tags=["A", "B"], loader="dict").evaluate()
    compare(spans.evaluate(gold, guess, ["nervaluate"]), theirs)


def test_segments_with_gaps_are_refused():
    texts = annotate([[(0, 5, "A", ((0, 1), (3, 5)))]], [[(0, 5, "A")]], [6])
    with pytest.raises(MetricError, match="nervaluate does not support segments with gaps"):
        spans.score(SpanCorpus(texts), ["nervaluate"])


@pytest.mark.skipif(not WNUT.exists(), reason="needs the data of `make parity`: spans/wnut17")
@pytest.mark.parametrize(
    "system", ["arcada", "drexel_cci", "flytxt", "mic-cis.txt", "sjtu_adapt.txt", "spinningbytes.txt", "uh_ritual"]
)
def test_real_taggers(system):
    files = WNUT / "emerging.test.annotated", WNUT / "submissions" / system
    texts = decode(read_tags(*files, Columns(same_tokens=False)), "IOB2").texts
    tags = [
        [[line.split()[-1] for line in block.split("\n")] for block in file.read_text().strip().split("\n\n")]
        for file in files
    ]
    theirs = nervaluate.Evaluator(*tags, tags=list(texts.tags), loader="list").evaluate()
    compare(spans.score(SpanCorpus(texts), ["nervaluate"]), theirs)

"""Random documents under forty kinds of damage: no crash, nothing free, `exact` only for equal values, and one score by every way in.

`python -m benchmarks.damage 10000` is the same with more documents.
"""

import json
import random

import pytest

from benchmarks import damage
from tallystick.adapters.scorer import RecordScorer

PAIRS = list(damage.damaged(2 * len(damage.KINDS), seed=8))


@pytest.mark.parametrize("options", [{"schema": damage.SCHEMA}, {}], ids=["schema", "inferred"])
def test_every_kind_of_damage(options):
    scorer = RecordScorer(**options)
    wrong = [
        (kind, fault)
        for kind, gold, text in PAIRS
        for fault in damage.check_scores(kind, gold, scorer.score(gold, text), scorer.score(gold, gold))
    ]
    assert wrong == []


@pytest.mark.parametrize("choices", [None, damage.CHOICES], ids=["usual", "choices"])
def test_every_way_in_has_the_same_score(tmp_path, choices):
    pytest.importorskip("pyarrow")
    found = damage.run_ways(PAIRS, tmp_path, choices)
    assert len(found) >= 10
    assert damage.differences(found) == []


def test_the_checks_see_what_is_wrong():
    """A check that cannot fail would be none."""
    scorer, gold = RecordScorer(schema=damage.SCHEMA), damage.make(random.Random(1))
    right, half = scorer.score(gold, gold), scorer.score(gold, {**gold, "vendor": "nobody"})
    assert "junk left it exact" in damage.check_scores("extra key", gold, right, right)
    assert damage.check_scores("fence", gold, half, right)
    assert damage.check_scores("prose", gold, right, right) == ["exact although it is damaged"]
    assert "junk raised precision" in damage.check_scores("extra key", gold, right, half)
    ways = {"jsonl": {"figures": 1, "exact": 1}, "other": {"figures": 1, "exact": 2}}
    assert damage.differences(ways) == ["other: exact 2, jsonl: 1"]


def places(value, path=()):
    """Every object and list in a value."""
    if isinstance(value, (dict, list)):
        yield value
        for one in value.values() if isinstance(value, dict) else value:
            yield from places(one)


JUNK = ["junk", 987_654, True, None, [], {}, ["junk", 7], {"junk": {"deep": ["junk"]}}, [None], [[]], "", 0.5]


@pytest.mark.parametrize("credit", ["each", "all"])
@pytest.mark.parametrize("shape", [{"schema": damage.SCHEMA}, {}], ids=["schema", "inferred"])
def test_adding_anything_anywhere_never_raises_precision_and_never_leaves_it_exact(shape, credit):
    rng = random.Random(21)
    scorer = RecordScorer(credit=credit, **shape)
    for _ in range(120):
        gold = damage.make(rng)
        kind = rng.choice(
            ["as it is", "dropped key", "wrong kind: number for a text", "junk in a list of objects", "alias"]
        )
        base = damage.KINDS[kind](gold, rng)
        base = json.loads(base) if isinstance(base, str) else base
        more = json.loads(json.dumps(base))
        place, junk = rng.choice(list(places(more))), rng.choice(JUNK)
        if isinstance(place, dict):
            if junk is None:
                continue  # a key without a value says nothing
            place[f"junk{rng.randrange(9)}"] = junk
        else:
            place.insert(rng.randrange(len(place) + 1), junk)
        before, after = scorer.score(gold, base), scorer.score(gold, more)
        assert not after.exact, (gold, more)
        assert after.figures["precision"] <= before.figures["precision"] + 1e-12, (gold, base, more)

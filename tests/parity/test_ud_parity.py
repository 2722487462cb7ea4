"""The counts of udtools 0.2.9 on the pairs of files in `ud`, as `make_ud_expected.py` wrote them down.

The files named `departure-...` are the smallest cases in which udtools is not right; the tests below state
what it says, what we say, and why.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from tallystick.tasks.dependencies.files import parse_conllu, read_conllu
from tallystick.tasks.dependencies.metrics import NAMES, WordCounts, count_ud

FOLDER = Path(__file__).parent / "ud"
METRICS = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX", "ELAS",
    "EULAS",
)  # fmt: skip
"""The metrics as UD's own evaluation spells them, in the order of ours."""
assert tuple(name.lower() for name in METRICS) == NAMES
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def figures(counts):
    """Precision, recall, F1 and accuracy on aligned words of counts, in a new last axis."""
    correct, reference, predicted, aligned = np.moveaxis(counts.astype(np.float64), -1, 0)
    found = WordCounts().figures(np.stack((correct, predicted, correct, reference, aligned), axis=-1))
    return np.stack(list(found.values()), axis=-1)


def count(name: str) -> dict[str, list[int]]:
    sides = (read_conllu(FOLDER / f"{name}.{side}.conllu") for side in ("reference", "predicted"))
    return dict(zip(METRICS, count_ud(*sides).total.tolist(), strict=True))


def differing(name: str) -> dict[str, tuple[int, int]]:
    """By metric, the correct of udtools and ours; all totals must be equal."""
    found = {}
    for metric, counts in count(name).items():
        theirs = EXPECTED[name][metric]
        assert counts[1:3] == theirs[1:3], metric
        if theirs[0] == counts[0] and theirs[3] is not None:
            assert counts[3] == theirs[3] or "span" in name or "sticks" in name, metric
        if counts[0] != theirs[0]:
            found[metric] = (theirs[0], counts[0])
    return found


@pytest.mark.parametrize("name", ["german", "spanish", "generated-11", "generated-12"])
def test_all_counts_equal(name: str) -> None:
    assert differing(name) == {}


def test_english_is_equal_but_for_eulas() -> None:
    assert differing("english") == {"EULAS": (8, 7)}


def test_eulas_matches_edges_one_to_one() -> None:
    """Three edges that differ in their subtypes only are nine pairs for udtools: F1 is 2.5."""
    assert differing("departure-eulas") == {"EULAS": (10, 4)}


def test_words_before_a_span_do_not_take_part_in_it() -> None:
    """`abc [de: b e]` against `a b c d e`: udtools aligns the predicted `b`, which is no part of `de`."""
    assert differing("departure-words-before-span")["Words"] == (2, 1)


def test_a_word_that_sticks_out_of_a_span_does_not_take_part_in_it() -> None:
    """`abcd` against `[ab: abcd b] cd`: udtools aligns `abcd`, but not with the sides swapped."""
    assert differing("departure-word-sticks-out")["Words"] == (1, 0)


def test_spaces_do_not_count_in_words_of_multiword_tokens_either() -> None:
    """`[ab: "a b" c]` against `ab`: udtools takes the space out of tokens, not out of their words."""
    assert differing("departure-space-in-multiword")["Words"] == (0, 1)


def test_a_chain_of_many_words_is_no_problem() -> None:
    """udtools: RecursionError, here and with 2,000 words."""
    chain = "".join(f"{i}\tw\tw\tX\t_\t_\t{(i + 1) % 5001}\tdep\t_\t_\n" for i in range(1, 5001))
    bank = parse_conllu(chain + "\n")
    assert count_ud(bank, bank).total[METRICS.index("LAS")].tolist() == [5000] * 4


def test_empty_against_empty_is_undefined() -> None:
    """udtools: 0."""
    counted = count_ud(parse_conllu(""), parse_conllu(""))
    assert counted.rows.shape == (0, len(METRICS), 4)
    assert not counted.total.any()
    assert (figures(counted.total) != figures(counted.total)).all()  # NaN

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ud_oracle import evaluate
from ud_strategies import pairs

from tallystick.files.table import number_ranges
from tallystick.tasks.dependencies.alignment import align_words, find_units, in_both
from tallystick.tasks.dependencies.files import parse_conllu
from tallystick.tasks.dependencies.metrics import CORRECT, PREDICTED, REFERENCE, WordCounts, count_ud

METRICS = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX", "ELAS",
    "EULAS",
)  # fmt: skip
"""The metrics as UD's own evaluation spells them, in the order of ours."""


def figures(counts):
    """Precision, recall, F1 and accuracy on aligned words of counts, in a new last axis."""
    correct, reference, predicted, aligned = np.moveaxis(counts.astype(np.float64), -1, 0)
    found = WordCounts().figures(np.stack((correct, predicted, correct, reference, aligned), axis=-1))
    return np.stack(list(found.values()), axis=-1)


def count(reference: str, predicted: str) -> dict[str, list[int]]:
    counted = count_ud(parse_conllu(reference), parse_conllu(predicted))
    return dict(zip(METRICS, counted.total.tolist(), strict=True))


@settings(max_examples=500, deadline=None)
@given(pairs())
def test_equal_to_the_plain_oracle(files: tuple[str, str]) -> None:
    assert count(*files) == evaluate(*files)


@settings(deadline=None)
@given(pairs())
def test_a_file_against_itself_is_all_right(files: tuple[str, str]) -> None:
    counts = np.array(list(count(files[0], files[0]).values()))
    assert (counts[:, CORRECT] == counts[:, REFERENCE]).all()
    assert (counts[:, CORRECT] == counts[:, PREDICTED]).all()
    assert np.isin(figures(counts)[:, :3], [1.0]).all() or not files[0] or (counts[:, REFERENCE] == 0).any()


@settings(deadline=None)
@given(pairs())
def test_swapping_sides_swaps_precision_and_recall(files: tuple[str, str]) -> None:
    """Of several longest subsequences one side's choice decides, so tags are only compared without ties.

    Lemmas count as right where the *reference* has none, so files without lemmas would not swap.
    """
    files = tuple(file.replace("\t_\tNOUN", "\tz\tNOUN").replace("\t_\tVERB", "\tz\tVERB") for file in files)
    there, back = count(*files), count(*files[::-1])
    sides = [parse_conllu(file) for file in files]
    pairs_there, pairs_back = align_words(*sides), align_words(*sides[::-1])
    same = np.array_equal(pairs_there.reference, pairs_back.predicted) and np.array_equal(
        pairs_there.predicted, pairs_back.reference
    )
    for metric in METRICS if same else ("Tokens", "Sentences", "Words"):
        correct, reference, predicted, _ = there[metric]
        assert back[metric][:3] == [correct, predicted, reference], metric


@settings(deadline=None)
@given(pairs())
def test_no_figure_is_above_one(files: tuple[str, str]) -> None:
    for correct, reference, predicted, aligned in count(*files).values():
        assert 0 <= correct <= min(reference, predicted)
        assert aligned == 0 or correct <= aligned


@settings(deadline=None)
@given(pairs(documents=True), st.sampled_from(["auto", "document", "sentence"]))
def test_units_add_up(files: tuple[str, str], by: str) -> None:
    reference, predicted = map(parse_conllu, files)
    units = find_units(reference, predicted, by=by)
    counted = count_ud(reference, predicted, units)
    whole = evaluate(*files)
    assert len(units.names) == len(units) == len(counted.rows)
    assert dict(zip(METRICS, counted.total.tolist(), strict=True)) == whole
    # A unit on its own: cut both files at the units' starts and count each part.
    parts = [cut(file, side, units.starts.tolist()) for file, side in zip(files, (reference, predicted), strict=True)]
    for at, (one, other) in enumerate(zip(*parts, strict=True)):
        assert dict(zip(METRICS, counted.rows[at].tolist(), strict=True)) == evaluate(one, other)


def cut(file, side, starts):
    blocks = [block + "\n\n" for block in file.split("\n\n")[:-1]]
    parts = dict.fromkeys(starts, "")
    for block, at in zip(blocks, side.sentence_start.tolist(), strict=True):
        parts[max(start for start in starts if start <= at)] += block
    return list(parts.values())


@given(pairs())
def test_alignment_ascends_on_both_sides(files: tuple[str, str]) -> None:
    alignment = align_words(*map(parse_conllu, files))
    assert (np.diff(alignment.reference) > 0).all()
    assert (np.diff(alignment.predicted) > 0).all()
    assert len(alignment.reference) == len(alignment.predicted)


STRINGS = st.one_of(
    st.binary(max_size=5),
    st.binary(min_size=28, max_size=36),
    st.sampled_from([b"a" * 70, b"a" * 69 + b"b", b"a\0", b"a"]),
)


@given(st.lists(STRINGS))
def test_numbering_equals_a_dictionary(strings: list[bytes]) -> None:
    ends = np.cumsum([len(string) for string in strings], dtype=np.intp)
    lengths = np.diff(ends, prepend=0)
    codes, first = number_ranges(b"".join(strings) + bytes(32), ends - lengths, lengths)
    numbers: dict[bytes, int] = {}
    assert codes.tolist() == [numbers.setdefault(string, len(numbers)) for string in strings]
    assert [strings[at] for at in first.tolist()] == list(numbers)


@given(st.lists(st.integers(0, 20), max_size=30), st.lists(st.integers(0, 20), max_size=30))
def test_what_both_sides_have_is_counted_as_often_as_the_lesser_has_it(ours, theirs):
    found = in_both(np.array(ours, np.int64), np.array(theirs, np.int64)).tolist()
    assert found == sorted((Counter(ours) & Counter(theirs)).elements())

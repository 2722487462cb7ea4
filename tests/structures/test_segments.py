import pytest

from tallystick.errors import SidesMismatch, ValueMismatch
from tallystick.tasks.spans.counts import Span, annotate
from tallystick.tasks.spans.metrics import count


def test_supertags():
    texts = annotate([[(0, 1, "PER"), (1, 2, "city"), (2, 3, "country")]], [[(1, 2, "country")]], [3])
    places = texts.relabelled({"city": "LOC", "country": "LOC"})
    assert places.tags == ("PER", "LOC")
    assert count("segment", places).tp.tolist() == [[0, 1]]
    assert texts.relabelled(str.upper).tags == ("PER", "CITY", "COUNTRY")
    assert count("segment", texts.relabelled("ENTITY")).den_r.tolist() == [[3]]


def test_touching_pieces_are_one():
    texts = annotate([[Span(0, 4, "S", ((2, 4), (0, 2)))]], [[(0, 4, "S")]], [4])
    assert texts.reference.pieces is None
    assert count("segment", texts).tp.tolist() == [[1]]


def test_taking_keeps_pieces_with_their_segments():
    gap = Span(0, 4, "S", ((0, 1), (3, 4)))
    side = annotate([[(0, 1, "A"), gap, (2, 3, "A")]], [[]], [4]).reference
    taken = side.take(side.tag == 1)
    assert taken.lengths().tolist() == [2]
    assert taken.pieces.segment.tolist() == [0, 0]


@pytest.mark.parametrize("bad", [(2, 2, "A"), (3, 2, "A"), (-1, 2, "A"), (0, 5, "A")])
def test_bad_spans(bad):
    with pytest.raises(ValueMismatch, match=r"predicted\[1\]: span"):
        annotate([[], []], [[], [bad]], [4, 4])


def test_sides_of_different_lengths():
    with pytest.raises(SidesMismatch):
        annotate([[]], [[], []])
    with pytest.raises(SidesMismatch):
        annotate([[]], [[]], [1, 2])

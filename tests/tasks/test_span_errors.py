import numpy as np

from tallystick.tasks.spans.counts import Span, annotate
from tallystick.tasks.spans.show import Outcome, SpanError, align

TEXTS = annotate(
    [[(0, 2, "PER"), (3, 5, "LOC"), (6, 8, "ORG"), (9, 10, "PER")], [(0, 1, "PER"), (2, 6, "LOC")]],
    [[(0, 2, "PER"), (3, 4, "LOC"), (6, 8, "LOC"), (11, 12, "ORG")], [(1, 2, "PER"), (2, 5, "ORG")]],
    [12, 6],
)


def counts(texts):
    """How many segments of each text had which outcome."""
    found = align(texts)
    rows = np.zeros((texts.texts, len(Outcome)), int)
    np.add.at(rows, (found.text(), found.outcome), 1)
    return rows.tolist()


def test_kinds_and_positions():
    assert align(TEXTS).errors() == [
        SpanError(Outcome.BOUNDARY, 0, Span(3, 5, "LOC"), Span(3, 4, "LOC"), 1),
        SpanError(Outcome.TYPE, 0, Span(6, 8, "ORG"), Span(6, 8, "LOC"), 0),
        SpanError(Outcome.MISSED, 0, Span(9, 10, "PER"), None, 0),
        SpanError(Outcome.SPURIOUS, 0, None, Span(11, 12, "ORG"), 0),
        SpanError(Outcome.MISSED, 1, Span(0, 1, "PER"), None, 0),
        SpanError(Outcome.SPURIOUS, 1, None, Span(1, 2, "PER"), 0),
        SpanError(Outcome.BOTH, 1, Span(2, 6, "LOC"), Span(2, 5, "ORG"), 1),
    ]


def test_counts_by_text():
    assert counts(TEXTS) == [[1, 1, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1]]
    assert align(TEXTS).boundary_errors() == {1: 1}


def test_confusion_with_missed_and_spurious():
    assert TEXTS.tags == ("LOC", "ORG", "PER")
    assert align(TEXTS).confusion().tolist() == [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 2], [0, 1, 1, 0]]


def test_a_right_segment_is_never_traded_for_two_near_ones():
    texts = annotate([[(0, 9, "A"), (8, 12, "A")]], [[(0, 9, "A"), (0, 8, "A")]], [12])
    assert counts(texts)[0][Outcome.CORRECT] == 1


def test_one_side_empty():
    assert counts(annotate([[]], [[(0, 1, "A")]], [1])) == [[0, 0, 0, 0, 0, 1]]
    assert align(annotate([[(0, 1, "A")]], [[]], [1])).errors()[0].outcome == Outcome.MISSED
    assert align(annotate([[]], [[]], [1])).errors() == []


def test_a_discontinuous_span_comes_back_whole():
    gap = Span(0, 4, "S", ((0, 1), (3, 4)))
    error = align(annotate([[(5, 6, "S"), gap]], [[(5, 6, "S")]], [6])).errors()[0]
    assert error.reference == gap

"""Where trigger, references and candidate stand in a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.judging import Question
from tallystick.judging.desk import Passage, Piece, occurrences, passage_of


def test_spans_cut_the_text_and_marks_may_nest():
    document = "at a concert venue in Orlando on 10 June"
    question = Question(
        "concert venue in Orlando", ("Orlando",), document, candidate_span=(5, 29), reference_spans=((22, 29),)
    )
    assert passage_of(question).pieces == (
        Piece("at a "), Piece("concert venue in ", ("candidate",)), Piece("Orlando", ("reference", "candidate")),
        Piece(" on 10 June"),
    )  # fmt: skip


def test_a_text_without_a_span_is_looked_for_and_every_place_is_marked():
    found = passage_of(Question("Varga", ("the collector",), "Ilse Varga is a collector. Varga, 71, was abroad."))
    assert [piece.text for piece in found.pieces if piece.marks] == ["Varga", "Varga"]
    assert found.notes == (
        "The reference “the collector” is not in the document word for word.",
        "The position of the candidate “Varga” is not recorded: all 2 occurrences are marked.",
    )


def test_without_a_document_there_is_nothing_to_mark():
    assert passage_of(Question("a", ("b",))) == Passage(())


@pytest.mark.parametrize(
    ("text", "document", "found"),
    [
        ("he", "The heir said he", ["he"]),
        ("The Boat", "a boat, the  boat", ["the  boat"]),
        ("Blumenthal's account", "of Blumenthal 's account .", ["Blumenthal 's account"]),
        ("U.S.", "the U.S. government", ["U.S."]),
        ("(CBW)", "weapons ( CBW ) to", ["( CBW )"]),
        ("a.b*", "axb* a.b*", ["a.b*"]),
        ("…", "no dots", []),
        ("  ", "blank", []),
    ],
)
def test_occurrences(text, document, found):
    assert [document[a:b] for a, b in occurrences(text, document)] == found


texts = st.text("ab <é.'\n", max_size=30)


@given(texts, texts, texts, texts, st.data())
def test_the_pieces_are_the_document(document, candidate, reference, trigger, data):
    span = None
    if document:
        a = data.draw(st.integers(0, len(document) - 1))
        span = (a, data.draw(st.integers(a + 1, len(document))))
    question = Question(candidate, (reference,), document, trigger=trigger, candidate_span=span)
    pieces = passage_of(question).pieces
    assert "".join(piece.text for piece in pieces) == document
    if span:
        assert document[slice(*span)] == "".join(piece.text for piece in pieces if "candidate" in piece.marks)

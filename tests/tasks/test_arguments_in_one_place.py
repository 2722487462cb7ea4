"""Several texts in one place of a document: one of them counts, it is said, and no stage loses what exact match found."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.files.pairing import pair_values
from tallystick.structures.texts import ArgumentDocument, EventArgument
from tallystick.tasks.arguments import metrics as arguments
from tallystick.tasks.arguments.metrics import ArgumentOptions

STAGES = ("exact", "same_text", "harmless_tokens", "break_aggregate")


def at(place, text, role="r"):
    return EventArgument("e", role, text, (place, place))


def scored(gold, system, tokens=(), **options):
    sides = (ArgumentDocument(tuple(gold), tokens=tuple(tokens)), ArgumentDocument(tuple(system)))
    return arguments.score(pair_values(*([side] for side in sides)), ArgumentOptions(**options))


def tallies(found):
    return {stage: found.results[stage].sums.tolist() for stage in found.stages}


@pytest.mark.parametrize("duplicates", ["merge", "keep"])
def test_references_with_other_texts_in_one_place(duplicates):
    gold = [at(1, "Homs"), at(1, "the city")]
    found = scored(gold, [at(1, "Homs"), at(1, "Homs")], ["in", "Homs"], duplicates=duplicates)
    n = 1 if duplicates == "merge" else 2
    assert all(sums == [n, n, n, n] for sums in tallies(found).values())
    assert any("references with another text than a reference in the same place" in note and note.endswith(": 1")
               for note in found.results["exact"].notes)  # fmt: skip


def test_in_two_roles_too():
    """The place of one role's reference is also that of the other's, whichever comes first."""
    for gold in permutations([at(1, "the city", "origin"), at(1, "Homs", "target")]):
        found = scored(gold, [at(1, "Homs", "origin"), at(1, "", "target")], ["in", "Homs"])
        assert all(sums == [2, 2, 2, 2] for sums in tallies(found).values())
        assert {one.text for one in found.documents[0].arguments} == {"Homs"}


def test_without_tokens_the_first_in_the_alphabet_whatever_the_order():
    for gold in permutations([at(1, "b"), at(1, "a"), at(1, "c")]):
        found = scored(gold, [EventArgument("e", "r", "a")], duplicates="keep")
        assert [one.text for one in found.documents[0].arguments] == ["a"] * 3
        assert found.results["same_text"].sums.tolist() == [1, 1, 1, 3]


def test_white_space_and_case_are_not_another_text():
    found = scored([at(1, "U.S."), at(1, "u. s.")], [at(1, "U.S.")], duplicates="keep")
    assert not any("something else" in note for note in found.results["exact"].notes)
    assert found.results["same_text"].sums.tolist() == [1, 1, 1, 2]


ITEMS = st.lists(
    st.builds(at, st.integers(0, 2), st.sampled_from(["a", "the a", "b", "a and b", "he"]), st.sampled_from("rs")),
    max_size=4,
)


@given(ITEMS, ITEMS, st.sampled_from([(), ("a", "b", "he")]))
def test_no_stage_loses_what_the_one_before_found(gold, system, tokens):
    for duplicates, counting in product(("merge", "keep"), ("rewrite", "keep")):
        found = tallies(scored(gold, system, tokens, duplicates=duplicates, counting=counting))
        hits = [found[stage][2] for stage in STAGES]
        assert hits == sorted(hits)

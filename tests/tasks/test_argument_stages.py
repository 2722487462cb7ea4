"""The deterministic stages: the paper's examples, a brute-force oracle for lists, and the expressions for the rest."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.structures.texts import ArgumentDocument, EventArgument, Parse
from tallystick.tasks.arguments import metrics as arguments
from tallystick.tasks.arguments.metrics import EXPRESSIONS, ArgumentOptions, block_sums, document_sums
from tallystick.tasks.arguments.stages import (
    LABELS,
    Accepted,
    Block,
    Broken,
    Variants,
    Wording,
    match_modifiers,
    run_stages,
)

WORDING = Wording()


def block(references, candidates, variants=None, order=("break", "aggregate"), wording=WORDING):
    def side(texts):
        return [EventArgument("e", "r", *(text if isinstance(text, tuple) else (text,))) for text in texts]

    return run_stages(Block.of("e", "r", side(references), side(candidates)), wording, variants, order)


def accepted(found):
    return [
        (step.stage, step.how, [found.references[k].text for k in step.references], [c.text for c in step.candidates])
        for step in found.steps
        if isinstance(step, Accepted)
    ]


def parse(*rows):
    """word, head (counted from 1, 0 for the root), label"""
    return Parse.of_tokens([head - 1 for _, head, _ in rows], [label for *_, label in rows])


# The examples of Tables 3 and 4: (reference, candidates), the stage that accepts them or None

KOREAN = parse(
    ("South", 2, "amod"), ("Korean", 3, "amod"), ("vehicles", 5, "nsubj"), ("transporting", 3, "acl"), ("arrive", 0, "root"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "candidates", "stage"),
    [
        pytest.param("Marseille", ["Marseille"], "same_text", id="1 identical texts"),
        pytest.param("Obama administration", ["the Obama administration"], "harmless_tokens", id="2a articles"),
        pytest.param("Bush", ["Bush's administration"], None, id="2b entailed"),
        pytest.param("Bush's administration", ["Bush"], None, id="2b the other way round"),
        pytest.param("Clinton", ["she"], None, id="4a coreferent"),
        pytest.param("U.S. government", ["U.S."], None, id="4b metonymy"),
        pytest.param("weapons and explosives", ["weapons", "explosives"], "break_aggregate", id="5 lists"),
        pytest.param("United States", ["U.S."], None, id="Table 4 (1)"),
        pytest.param(
            "chemical or biological weapons (CBW)", ["chemical or biological weapons"], None, id="Table 4 (2)"
        ),
        pytest.param("Romanian hacker", ["'Guccifer'"], None, id="Table 4 (3)"),
        pytest.param("Orlando", ["concert venue in Orlando"], None, id="Table 4 (4)"),
        pytest.param("the vehicles", ["convoy"], None, id="Figure 1"),
    ],
)
def test_the_papers_examples(reference, candidates, stage):
    found = block([(reference, (40, 45))], candidates)
    assert [step[0] for step in accepted(found)] == ([stage] if stage else [])


def test_the_papers_example_of_modifiers_needs_the_subtree():
    tokens = ["South", "Korean", "vehicles", "transporting", "arrive"]
    for candidate in ("South Korean vehicles", "Korean vehicles", "the South Korean vehicles"):
        found = block([("vehicles", (2, 2))], [candidate], Variants(KOREAN, tokens, WORDING))
        assert accepted(found) == [("modifiers", "modifiers", ["vehicles"], [candidate])]
    for candidate in ("South vehicles", "vehicles transporting", "South Korean", "Korean South vehicles"):
        assert not accepted(block([("vehicles", (2, 2))], [candidate], Variants(KOREAN, tokens, WORDING)))
    assert not accepted(block([("vehicles", (2, 2))], ["South Korean vehicles"]))  # no parse, no such stage


def test_modifiers_are_for_references_of_one_token():
    tokens = ["South", "Korean", "vehicles", "transporting", "arrive"]
    variants = Variants(KOREAN, tokens, WORDING)
    assert not accepted(block([("Korean vehicles", (1, 2))], ["South Korean vehicles"], variants))


def test_labels_of_universal_dependencies():
    tokens = ["Clinton", "'s", "two", "aides", "of", "Ohio"]
    ud = parse(
        ("Clinton", 4, "nmod:poss"), ("'s", 1, "case"), ("two", 4, "nummod"), ("aides", 0, "root"), ("of", 6, "case"),
        ("Ohio", 4, "nmod"),
    )  # fmt: skip
    variants = Variants(ud, tokens, WORDING)
    assert [variants.label(k) for k in range(6)] == ["poss", "possessive", "nummod", "root", "case", "nmod"]
    for form in (
        "clinton aides",
        "two aides",
        "clinton two aides",
        "aides of ohio",
        "clinton two aides of ohio",
        "aides ohio",
    ):
        assert variants.accept(3, tuple(form.split())), form
    assert not variants.accept(3, ("clinton", "two"))
    assert not variants.accept(3, ("aides",))  # a variant has at least one modifier
    no_poss = Variants(ud, tokens, WORDING, LABELS - {"poss"})
    assert not no_poss.accept(3, ("clinton", "aides"))


def test_a_word_of_the_parse_that_is_longer_than_the_token():
    cut = Parse((1, -1), ("amod", "root"), ((0, 3), (4, 4)))
    variants = Variants(cut, ["U", ".", "S", ".", "forces"], WORDING)
    assert variants.accept(4, ("u", "s", "forces"))
    assert not variants.accept(2, ("u", "s"))
    assert variants.partial == {2}


def every_variant(variants, token):
    """All variants, written out."""
    out = [frozenset((token,))]
    word = variants.parse.word_of(token)
    for child in variants.parse.children[word]:
        if variants.label(child) in variants.labels:
            more = (variants.parse.tokens(child), variants.parse.subtree(child))
            out += [chosen | one for chosen in out for one in more]
    return {variants.form(chosen) for chosen in out if len(chosen) > 1}


@given(st.data())
def test_variants_against_all_of_them_written_out(data):
    n = data.draw(st.integers(2, 6))
    tokens = data.draw(st.lists(st.sampled_from(["p", "q", "s", "the", "'s", "t"]), min_size=n, max_size=n))
    heads = [-1] + [data.draw(st.integers(0, k - 1)) for k in range(1, n)]
    order = data.draw(st.permutations(range(n)))  # so that trees cross, too
    place = {word: k for k, word in enumerate(order)}
    laid = [0] * n
    for word, head in enumerate(heads):
        laid[place[word]] = place[head] if head >= 0 else -1
    labels = data.draw(st.lists(st.sampled_from(["amod", "det", "nmod:poss", "case"]), min_size=n, max_size=n))
    variants = Variants(Parse.of_tokens(laid, labels), tokens, WORDING)
    known = every_variant(variants, place[0])
    own = variants.form({place[0]})
    for form in {*known, *(f[:-1] for f in known), ("p", "q"), ("q", "p"), own} - {own, ()}:
        assert variants.accept(place[0], form) == (form in known)


def test_a_maximum_matching_of_modifiers():
    tokens = ["big", "red", "cars", "and", "small", "red", "cars"]
    found = parse(
        ("big", 3, "amod"), ("red", 3, "amod"), ("cars", 0, "root"), ("and", 7, "cc"), ("small", 7, "amod"),
        ("red", 7, "amod"), ("cars", 3, "conj"),
    )  # fmt: skip
    side = [EventArgument("e", "r", "cars", (k, k)) for k in (2, 6)]
    for candidates in permutations(("red cars", "big cars")):
        one = Block.of("e", "r", side, [EventArgument("e", "r", text) for text in candidates])
        match_modifiers(one, WORDING, Variants(found, tokens, WORDING))
        assert len(accepted(one)) == 2


# Pronouns


def test_pronouns_match_only_in_their_place():
    assert accepted(block([("he", (3, 3))], [("he", (3, 3))]))[0][0] == "exact"
    assert not accepted(block([("he", (3, 3))], [("he", (7, 7))]))
    assert not accepted(block(["him and her"], ["him", "her"]))
    assert not accepted(block(["him"], ["the him ,"]))
    assert accepted(block(["US"], ["the US"]))


def test_a_list_of_pronouns_is_an_option():
    assert accepted(block(["he"], ["He"], wording=Wording(pronouns=frozenset())))[0][0] == "same_text"


# Lists


def test_break():
    found = block(["Afghans", "expatriates"], ["Afghans and the expatriates"])
    assert [step[1:] for step in accepted(found)] == [
        ("break", ["Afghans"], ["Afghans"]),
        ("break", ["expatriates"], ["the expatriates"]),
    ]
    assert isinstance(found.steps[0], Broken)


def test_what_is_left_of_a_broken_candidate_stays_open():
    found = block(["p", "q and s"], ["p , q and s"])
    assert [step[1] for step in accepted(found)] == ["break", "aggregate"]
    assert not found.open
    found = block(["p"], ["p and t"])
    assert [candidate.text for candidate in found.open] == ["t"]


def test_a_candidate_with_more_hits_is_broken_first():
    found = block(["x", "y", "z"], ["x and y", "x, y and z"])
    assert sum(isinstance(step, Broken) for step in found.steps) == 1
    assert block_sums(found, "break_aggregate", ArgumentOptions()).tolist() == [3, 4, 3, 3]


def test_aggregate_takes_the_largest_number_of_references():
    found = block(["p and q and s", "p and q", "s and t"], ["p", "q", "s", "t"])
    assert sorted(step[2][0] for step in accepted(found)) == ["p and q", "s and t"]


def test_too_many_that_contend_are_taken_from_left_to_right_and_it_is_said():
    references = [(f"p and q{k}", (k, k)) for k in range(20)]
    found = block(references, ["p", *(f"q{k}" for k in range(20))])
    assert len(accepted(found)) == 1
    assert found.contended


def test_order_of_break_and_aggregate():
    references, candidates = ["p and q", "s"], ["s and p", "q"]
    assert [step[1] for step in accepted(block(references, candidates))] == ["break", "aggregate"]
    assert [step[1] for step in accepted(block(references, candidates, order=("aggregate", "break")))] == ["break"]


TEXTS = st.lists(
    st.sampled_from(["p", "q", "s", "p and q", "q and s", "p , q and s", "the p", "he", "he and p", "s and s", ""]),
    max_size=4,
)


def most_by_brute_force(references, candidates):
    """The largest number of references that lists can add: candidates broken in any order, then all ways of aggregating."""
    forms = [WORDING.read(text) for text in references]

    def parts(text):
        return [WORDING.read(part).form for part in WORDING.read(text).parts if WORDING.read(part).comparable]

    free = Counter(said.form for said in forms if said.comparable)
    best = 0
    for order in permutations(candidates):
        left, hits = Counter(free), 0
        for text in order:
            for form in parts(text):
                if left[form]:
                    left[form] -= 1
                    hits += 1
        best = max(best, hits)
    return best


@given(TEXTS, TEXTS)
def test_break_against_brute_force(references, candidates):
    before = block(references, candidates, order=())
    free = [before.references[k].text for k in before.free]
    after = block(references, candidates, order=("break",))
    hits = sum(step[1] == "break" for step in accepted(after))
    assert hits == most_by_brute_force(free, [one.text for one in before.open])


@given(TEXTS, TEXTS)
def test_aggregate_against_brute_force(references, candidates):
    before = block(references, candidates, order=("break",))
    stock = Counter(WORDING.read(one.text).form for one in before.open if WORDING.read(one.text).comparable)
    wants = []
    for k in before.free:
        said = WORDING.read(before.references[k].text)
        found = [WORDING.read(part) for part in said.parts]
        if found and said.comparable and all(part.comparable for part in found):
            wants.append(Counter(part.form for part in found))
    best = 0
    for chosen in range(2 ** len(wants)):
        total = sum((want for k, want in enumerate(wants) if chosen >> k & 1), Counter())
        if total <= stock:
            best = max(best, bin(chosen).count("1"))
    after = block(references, candidates)
    assert sum(step[1] == "aggregate" for step in accepted(after)) == best


# What holds for all of it

ITEMS = st.lists(
    st.tuples(
        st.sampled_from(["e1", "e2"]),
        st.sampled_from(["place", "agent"]),
        st.sampled_from(["p", "P", "the p", "q", "p and q", "q, s and p", "he", "s 's", "s", ""]),
        st.one_of(st.none(), st.integers(0, 5)),
    ),
    max_size=6,
)


def document(items, said=None):
    """Arguments; those of one place say the same."""
    said = {} if said is None else said
    out = []
    for event, role, text, at in items:
        if not text:
            at = None
        text = said.setdefault(at, text) if at is not None else text
        out.append(EventArgument(event, role, text, None if at is None else (at, at)))
    return ArgumentDocument(tuple(out))


def scored(gold, system, **options):
    said = [{} for _ in gold]
    left, right = ([document(items, one) for items, one in zip(side, said, strict=True)] for side in (gold, system))
    return arguments.score(arguments.pair_values(left, right), ArgumentOptions(**options))


@given(ITEMS, ITEMS)
def test_the_first_stages_are_the_expressions(gold, system):
    found = scored([gold], [system])
    for stage in EXPRESSIONS:
        rows = np.array([document_sums(blocks, stage, found.options) for blocks in found.blocks])
        assert found.results[stage].rows.tolist() == rows.tolist()


@given(ITEMS, ITEMS, st.sampled_from(["rewrite", "keep"]), st.sampled_from(["merge", "keep"]))
def test_stages_are_monotone(gold, system, counting, duplicates):
    tallies = [one.tally for one in scored([gold], [system], counting=counting, duplicates=duplicates).results.values()]
    for before, after in pairwise(tallies):
        assert after["num_r"] >= before["num_r"]
        assert after["num_p"] >= before["num_p"]
        assert after["den_r"] == before["den_r"] >= after["num_r"]
        assert after["num_p"] <= after["den_p"] + 1e-9
        assert counting == "rewrite" or after["den_p"] == before["den_p"]
        assert counting == "keep" or after["num_p"] == after["num_r"]


@given(ITEMS, ITEMS, st.data())
def test_the_order_of_the_input_changes_nothing(gold, system, data):
    said = {}
    left, right = document(gold, said), document(system, said)
    other = [
        ArgumentDocument(tuple(data.draw(st.permutations(side.arguments)) if side.arguments else ()))
        for side in (left, right)
    ]
    for counting in ("rewrite", "keep"):
        options = ArgumentOptions(counting=counting)
        one = arguments.evaluate([left], [right], options=options)
        two = arguments.evaluate([other[0]], [other[1]], options=options)
        assert {n: r.tally for n, r in one.items()} == {n: r.tally for n, r in two.items()}


@given(st.lists(st.tuples(ITEMS, ITEMS), max_size=4), st.sampled_from(["rewrite", "keep"]))
def test_the_sum_of_parts_is_the_whole(documents, counting):
    whole = scored([gold for gold, _ in documents], [system for _, system in documents], counting=counting)
    parts = [scored([gold], [system], counting=counting) for gold, system in documents]
    for stage, result in whole.results.items():
        assert result.rows.tolist() == [part.results[stage].rows[0].tolist() for part in parts]
        by_role = np.sum([*whole.by_role(stage).values(), np.zeros(4)], axis=0)
        assert by_role.tolist() == pytest.approx(result.sums.tolist())


@given(ITEMS)
def test_a_prediction_that_is_the_reference_is_right(items):
    kept = [item for item in items if item[2] and item[3] is not None]
    for result in scored([kept], [kept]).results.values():
        assert result.tally["num_p"] == result.tally["den_p"] == result.tally["num_r"] == result.tally["den_r"]

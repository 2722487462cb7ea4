"""CorefUD's Entity attributes: heads, gaps, empty nodes, and what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import InputError, MetricError, SidesMismatch
from tallystick.tasks.coreference.chains import Chains, PairedChains, pair, repeated_mentions
from tallystick.tasks.coreference.corefud import read_corefud
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.coreference.metrics import CoreferenceOptions, evaluate, score

HEADER = "# global.Entity = eid-etype-head-other\n# newdoc id = d1\n"


def row(id: str, misc: str = "_") -> str:
    return f"{id}\tw\tw\tX\t_\t_\t0\troot\t_\t{misc}\n"


def rows(*misc: str) -> str:
    return "".join(row(str(i), text) for i, text in enumerate(misc, 1)) + "\n"


def read(tmp_path: Path, text: str) -> Chains:
    path = tmp_path / "file.conllu"
    path.write_text(text, encoding="utf-8")
    return read_corefud(path)


def spans(chains: Chains) -> list[tuple[str, int, int]]:
    return [
        (chains.entity_names[e], s, t)
        for e, s, t in zip(chains.entity.tolist(), chains.start.tolist(), chains.end.tolist(), strict=True)
    ]


def test_heads_and_nesting(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e1-person-2-(e2--1-)", "SpaceAfter=No|Entity=e1)", "Entity=(e1-person-1-x:y-z)")
    chains = read(tmp_path, text)
    assert spans(chains) == [("e1", 0, 1), ("e2", 0, 0), ("e1", 2, 2)]
    assert chains.head is not None
    assert chains.head.tolist() == [1, 0, 2]
    assert chains.documents == ["d1"]
    assert chains.tokens.tolist() == [3]
    assert chains.lines.tolist() == [3, 3, 5]
    assert chains.format == "corefud"


def test_empty_nodes_are_tokens_and_multiword_tokens_are_not(tmp_path: Path) -> None:
    text = HEADER + row("1-2") + row("1", "Entity=(e1") + row("1.1", "Entity=(e2)") + row("2", "Entity=e1)") + "\n"
    chains = read(tmp_path, text)
    assert spans(chains) == [("e1", 0, 2), ("e2", 1, 1)]
    assert chains.tokens.tolist() == [3]
    assert chains.head is not None
    assert chains.head.tolist() == [-1, -1]


def test_discontinuous_mention_is_one_mention(tmp_path: Path) -> None:
    text = HEADER + rows(
        "Entity=(e1[1/2]--3-",
        "Entity=e1[1/2])",
        "_",
        "Entity=(e1[2/2]--3-)",
        "Entity=(e1--1-",
        "_",
        "Entity=e1)",
    )
    chains = read(tmp_path, text)
    assert spans(chains) == [("e1", 0, 3), ("e1", 4, 6)]
    assert chains.parts == {0: ((0, 1), (3, 3))}
    assert chains.head is not None
    assert chains.head.tolist() == [3, 4]


def test_parts_without_a_gap_are_a_plain_span(tmp_path: Path) -> None:
    chains = read(tmp_path, HEADER + rows("Entity=(e1[1/2])", "Entity=(e1[2/2])"))
    assert chains.parts == {}
    assert spans(chains) == [("e1", 0, 1)]


def test_a_mention_with_a_gap_is_not_the_span_around_it(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e2(e1[1/2])", "_", "Entity=(e1[2/2])e2)(e3)", "Entity=(e3)")
    assert repeated_mentions(read(tmp_path, text)) == []
    twice = read(tmp_path, HEADER + rows("Entity=(e2[1/2])(e1[1/2])", "_", "Entity=(e1[2/2])(e2[2/2])"))
    (found,) = repeated_mentions(twice)
    assert (found.mention, found.first_entity, found.entity) == (((0, 0), (2, 2)), "e2", "e1")


def test_order_of_attributes_and_the_closing_brackets_of_gum(tmp_path: Path) -> None:
    header = "# newdoc id = d1\n# global.Entity = entity-GRP-head\n"
    chains = read(tmp_path, header + rows("Entity=(place-103-1", "Entity=place-103)(person-4-1", "Entity=4)"))
    assert spans(chains) == [("103", 0, 1), ("4", 1, 2)]


def test_plain_ids_need_no_header(tmp_path: Path) -> None:
    assert spans(read(tmp_path, "# newdoc id = x\n" + rows("Entity=(1", "Entity=1)(2)"))) == [
        ("1", 0, 1),
        ("2", 1, 1),
    ]


def test_documents_and_their_entities(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e1)") + "# newdoc\n" + rows("Entity=(e1)", "Entity=(e1)")
    chains = read(tmp_path, text.replace("\n", "\r\n"))
    assert chains.documents == ["d1", "document 2"]
    assert chains.entity.tolist() == [0, 1, 1]
    assert chains.tokens.tolist() == [1, 2]


def test_other_links_are_reported(tmp_path: Path) -> None:
    chains = read(
        tmp_path, HEADER + rows("Entity=(e1)", "Entity=(e2)", "Entity=(e3)|SplitAnte=e1<e3,e2<e3|Bridge=e1<e3")
    )
    assert [warning.split(": ", 1)[1] for warning in chains.warnings] == [
        "SplitAnte on 1 line: not part of a chain; --metric split_antecedents scores it",
        "Bridge on 1 line: not part of a chain; --metric bridging_anaphors scores it",
    ]


def test_a_file_without_coreference_is_reported(tmp_path: Path) -> None:
    (warning,) = read(tmp_path, "# newdoc id = x\n" + rows("_")).warnings
    assert "is this the right file?" in warning


PREFIX = len("1\tw\tw\tX\t_\t_\t0\troot\t_\tEntity=") + 1
ERRORS = {
    "unclosed": (
        HEADER + rows("Entity=(e1)(e2-x-1-"),
        3,
        PREFIX + 4,
        '"(e2" is opened here and never closed',
    ),
    "unopened": (HEADER + rows("_", "Entity=e1)"), 4, PREFIX, "never opened"),
    "closed in the next document": (
        HEADER + rows("Entity=(e1") + "# newdoc id = d2\n" + rows("Entity=e1)"),
        3,
        PREFIX,
        "never closed",
    ),
    "no brackets": (HEADER + rows("Entity=e1"), 3, PREFIX, "found Entity=e1; expected"),
    "nothing": (HEADER + rows("Entity="), 3, PREFIX, "expected"),
    "head too far": (HEADER + rows("Entity=(e1--2-)"), 3, PREFIX, "the head is word 2 of a mention of 1"),
    "head no number": (HEADER + rows("Entity=(e1--x-)"), 3, PREFIX, 'found "x" as the head'),
    "second part alone": (HEADER + rows("Entity=(e1[2/2])"), 3, PREFIX, "part e1[1/2] is missing"),
    "first part alone": (HEADER + rows("Entity=(e1[1/2])"), 3, PREFIX, "only 1 of 2 parts"),
    "part of none": (HEADER + rows("Entity=(e1[3/2])"), 3, PREFIX, "part 3 of 2"),
    "no order": ("# newdoc id = a\n" + rows("Entity=(e1-x)"), 2, PREFIX, "global.Entity"),
    "order without id": ("# global.Entity = etype-head\n", 1, None, "eid"),
    "too many values": (
        HEADER.replace("-other", "") + rows("Entity=(e1-x-1-a)"),
        3,
        PREFIX,
        "announces eid-etype-head",
    ),
    "columns": (HEADER + "1\tw\tEntity=(e1)\n", 3, None, "expected 10 columns separated by tabs, found 3"),
    "token id": (HEADER + row("x") + "\n", 3, 1, 'ID "x" is neither'),
    "range": (HEADER + row("1-2", "Entity=(e1)") + rows("_", "_"), 3, PREFIX + 2, "multiword"),
    "old format": (HEADER + rows("ClusterId=e1"), 3, None, "CorefUD 0.x"),
    "no rows": (HEADER.split("\n")[0], None, None, "has no documents"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_line_and_column(tmp_path: Path, name: str) -> None:
    text, line, column, words = ERRORS[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    place = caught.value.place
    assert place is not None
    assert words in str(caught.value)
    assert (place.line, place.column) == (line, column)


def test_is_recognised_by_its_content(tmp_path: Path) -> None:
    for text in (HEADER + rows("_"), rows("_"), row("1-2") + rows("Entity=(1)", "_")):
        path = tmp_path / "anything.txt"
        path.write_text(text)
        assert read_chains(path).format == "corefud"


# Key and response: empty nodes may differ, heads may be missing


def nodes(*lines: tuple[str, str, str]) -> str:
    """Rows of id, DEPS and MISC."""
    return "".join(f"{id}\tw\tw\tX\t_\t_\t0\troot\t{deps}\t{misc}\n" for id, deps, misc in lines) + "\n"


def paired(tmp_path: Path, key: str, response: str) -> PairedChains:
    sides = []
    for name, text in (("key", key), ("response", response)):
        (tmp_path / name).write_text(HEADER + text, encoding="utf-8")
        sides.append(read_chains(tmp_path / name, keep_text=True))
    return pair(*sides)


def test_tokens_have_one_offset_whichever_side_has_empty_nodes_before_them(tmp_path: Path) -> None:
    key = nodes(
        ("1", "_", "Entity=(a"), ("2", "_", "_"), ("2.1", "_", "Entity=(z--1-)"), ("3", "_", "Entity=a)(b--1-)")
    )
    response = nodes(("1", "_", "Entity=(a"), ("1.1", "_", "_"), ("2", "_", "_"), ("3", "_", "Entity=a)(b--1-)"))
    found = paired(tmp_path, key, response)
    assert (found.key.start.tolist(), found.key.end.tolist()) == ([0, 3, 4], [4, 3, 4])
    assert found.key.parts == {0: ((0, 0), (2, 4))}  # 1.1 is no word of the key's mention
    assert found.response.parts == {0: ((0, 2), (4, 4))}  # nor 2.1 of the response's
    assert found.response.start.tolist() == [0, 4]
    assert found.key.head is not None
    assert found.key.head.tolist() == [-1, 3, 4]
    assert found.key.tokens.tolist() == found.response.tokens.tolist() == [5]
    assert found.key.texts == {"d1": [["w", "∅", "w", "w", "w"]]}


def test_empty_nodes_at_the_end_of_a_sentence_and_before_the_next_are_two(tmp_path: Path) -> None:
    first, second = ("1", "_", "_"), ("1", "_", "Entity=(b--1-)")
    key = nodes(first, ("1.1", "_", "Entity=(a--1-)")) + nodes(second)
    response = nodes(first) + nodes(("0.1", "_", "Entity=(a--1-)"), second)
    found = paired(tmp_path, key, response)
    assert (found.key.start.tolist(), found.response.start.tolist()) == ([1, 3], [2, 3])


def test_other_words_are_an_error_though_other_empty_nodes_are_none(tmp_path: Path) -> None:
    with pytest.raises(SidesMismatch, match=r"has 1 words in the key .* and 2 in the response"):
        paired(tmp_path, nodes(("1", "_", "_"), ("1.1", "_", "_")), nodes(("1", "_", "_"), ("2", "_", "_")))


ZERO_KEY = nodes(("1", "_", "Entity=(a--1-)"), ("1.1", "2:nsubj", "Entity=(a--1-)"), ("2", "_", "_"))


@pytest.mark.parametrize(
    ("deps", "zeros", "muc"),
    [("2:nsubj", "dependent", 1), ("2:obj", "dependent", 1), ("1:nsubj", "dependent", 0), ("2:nsubj", "linear", 0)],
)
def test_zeros_meet_by_their_dependencies_or_by_position(tmp_path: Path, deps: str, zeros: str, muc: int) -> None:
    response = nodes(("1", "_", "Entity=(a--1-)"), ("2", "_", "_"), ("2.1", deps, "Entity=(a--1-)"))
    options = CoreferenceOptions(match="head", zeros=zeros)
    found = score(paired(tmp_path, ZERO_KEY, response), ["muc", "zeros"], options)
    assert found["muc"].f1 == found["zeros"].f1 == muc
    assert f"zeros={zeros}" in found["muc"].signature


def test_zeros_without_dependencies_meet_by_position(tmp_path: Path) -> None:
    """The CorefUD scorer divides by zero."""
    bare = ZERO_KEY.replace("2:nsubj", "_")
    assert score(paired(tmp_path, bare, bare), ["muc"])["muc"].f1 == 1


def test_the_first_word_is_the_head_where_none_is_given_and_a_note_says_so(tmp_path: Path) -> None:
    key = nodes(("1", "_", "Entity=(a"), ("2", "_", "Entity=a)"), ("3", "_", "Entity=(a)"))
    response = nodes(("1", "_", "Entity=(a)"), ("2", "_", "_"), ("3", "_", "Entity=(a)"))
    found = score(paired(tmp_path, key, response), ["muc"], CoreferenceOptions(match="head"))["muc"]
    assert found.f1 == 1
    assert sum("2 mentions without a head; the first word counts as the head" in note for note in found.warnings) == 2
    assert not score(paired(tmp_path, key, response), ["muc"])["muc"].warnings


def test_under_head_match_other_heads_are_other_mentions(tmp_path: Path) -> None:
    key, response = (rows(f"Entity=(a--{head}-", "Entity=a)", "Entity=(a--1-)") for head in (1, 2))
    assert [
        score(paired(tmp_path, key, response), ["muc"], CoreferenceOptions(match=match))["muc"].f1
        for match in ("exact", "partial", "head")
    ] == [1, 1, 0]


def test_singletons_are_dropped_before_mentions_are_matched(tmp_path: Path) -> None:
    """The nearest response mention is a singleton; without it the other one is the partner."""
    key = rows("Entity=(a--1-", "_", "Entity=a)", "Entity=(a--1-)")
    response = rows("Entity=(s--1-(b--1-)", "Entity=s)", "_", "Entity=(b--1-)")
    options = CoreferenceOptions(match="head", singletons=False)
    assert score(paired(tmp_path, key, response), ["muc"], options)["muc"].f1 == 1


def test_a_part_opened_twice_is_an_error(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e[1/2]--1-)", "_", "Entity=(e[2/2]--1-(e[2/2]--1-", "Entity=e[2/2])e[2/2])")
    with pytest.raises(InputError, match=r"continues a mention, but its part e\[1/2\] is missing"):
        read(tmp_path, text)


@pytest.mark.parametrize("deps", ["nsubj", "2:", ":nsubj", "2:nsubj|"])
def test_dependencies_of_an_empty_node_have_a_head_and_a_relation(tmp_path: Path, deps: str) -> None:
    with pytest.raises(InputError, match=r"file.conllu:4.*expected HEAD:RELATION in DEPS"):
        read(tmp_path, HEADER + nodes(("1", "_", "_"), ("1.1", deps, "_")))


def test_words_of_mentions_in_common(tmp_path: Path) -> None:
    """3 words of the key's 2 + 1, 2 of the response's 3 + 1: the best pairing has 2 + 0 in common, however mentions are matched."""
    key = rows("Entity=(a--1-", "Entity=a)", "_", "Entity=(a--1-)", "_")
    response = rows("Entity=(b--3-", "_", "Entity=b)", "_", "Entity=(b--1-)")
    for match in ("exact", "head", "partial"):
        found = score(paired(tmp_path, key, response), ["mor"], CoreferenceOptions(match=match))["mor"]
        assert found.tally == {"num_p": 2, "den_p": 4, "num_r": 2, "den_r": 3}


def test_a_file_of_clusters_has_no_words_to_overlap() -> None:
    with pytest.raises(MetricError, match="mor needs the words of mentions"):
        evaluate([[{"a"}]], [[{"a"}]], ["mor"])


# Links that are not coreference: bridging, split antecedents


def test_bridging_anaphors_are_mentions_with_a_link(tmp_path: Path) -> None:
    key = rows("Entity=(a--1-)", "Bridge=a<b:part|Entity=(b--1-)", "Bridge=a<c|Entity=(c--1-)", "Entity=(d--1-)")
    response = rows("Entity=(a--1-)", "Bridge=a<b|Entity=(b--1-)", "Entity=(c--1-)", "Bridge=b<d|Entity=(d--1-)")
    found = score(paired(tmp_path, key, response), ["bridging_anaphors"])["bridging_anaphors"]
    assert found.tally == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 2}


def test_links_to_nothing_are_reported(tmp_path: Path) -> None:
    chains = read(tmp_path, HEADER + rows("Bridge=a<x|Entity=(b)", "SplitAnte=a<b,q<b|Entity=(a)"))
    assert sum("2 links to a missing entity left out" in warning for warning in chains.warnings) == 1
    for wrong in ("Bridge=a", "SplitAnte=a<", "SplitAnte=a<b,"):
        with pytest.raises(InputError, match="expected links such as e1<e3"):
            read(tmp_path, HEADER + rows(f"{wrong}|Entity=(a)"))


def test_split_antecedents_alone(tmp_path: Path) -> None:
    """Of the key's {a1 a2} and {b} the response has {a1} and {b c}. By hand:

    MUC     a1-a2 is missed, b is single on one side: 0 of 2; {a1} is not single in the key, b-c is not there: 0 of 2
    B³      a: 1/2, b: 1: 1.5 of 3; a1: 1, b: 1/2: 1.5 of 3
    CEAF-e  2/3 + 2/3 of 2 entities on either side
    """
    key = rows("Entity=(a)", "Entity=(a)", "Entity=(b)", "Entity=(x)", "SplitAnte=a<they,b<they|Entity=(they)")
    response = rows("Entity=(a)", "_", "Entity=(b)", "Entity=(b)", "SplitAnte=a<they,b<they|Entity=(they)")
    found = score(paired(tmp_path, key, response), ["split_antecedents"])["split_antecedents"]
    counts = [0, 2, 0, 2, 1.5, 3, 1.5, 3, 4 / 3, 2, 4 / 3, 2]
    assert list(found.tally.values()) == pytest.approx(counts)
    assert found.f1 == pytest.approx((0 + 1 / 2 + 2 / 3) / 3)
    same = score(paired(tmp_path, key, key), ["split_antecedents"])["split_antecedents"]
    assert same.f1 == 1


def test_split_antecedents_are_matched_and_those_of_split_antecedents_taken_apart(tmp_path: Path) -> None:
    first = ("Entity=(a)", "Entity=(b)", "Entity=(c)", "SplitAnte=a<ab,b<ab|Entity=(ab)")
    key = rows(*first, "SplitAnte=ab<all,c<all|Entity=(all)")
    response = rows(*first, "SplitAnte=a<all,b<all,c<all|Entity=(all)")
    assert score(paired(tmp_path, key, response), ["split_antecedents"])["split_antecedents"].f1 == 1
    missed = score(paired(tmp_path, key, rows(*first, "Entity=(all)")), ["split_antecedents"])["split_antecedents"]
    assert missed.tally["b3_num_r"] == missed.tally["b3_den_p"] == 2
    assert missed.tally["b3_den_r"] == 5

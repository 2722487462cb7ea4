"""The error analysis: each kind by itself, and what holds for all of them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.tasks.coreference.chains import chains_from_clusters, pair
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.coreference.metrics import CoreferenceOptions, score
from tallystick.tasks.coreference.show import find_errors, find_mistakes, overlapping

KINDS = [
    "span error", "missing mention", "extra mention", "missing entity", "extra entity", "divided entity", "conflated entity",
]  # fmt: skip
TWINLESS = KINDS[:5]


def pairs(tmp_path, key, response):
    sides = []
    for name, cells in (("key", key), ("response", response)):
        path = tmp_path / name
        path.write_text("#begin document (d)\n" + "".join(f"w\t{cell}\n" for cell in cells) + "\n#end document\n")
        sides.append(read_chains(path))
    return pair(*sides)


@pytest.mark.parametrize(
    ("key", "response", "expected"),
    [
        (["(0)", "(0)"], ["(7)", "(7)"], {}),
        (["(0", "0)", "(0)"], ["(0)", "-", "(0)"], {"span error": 1}),
        (["(0)", "(0)"], ["(0)", "-"], {"missing mention": 1}),
        (["(0)", "-"], ["(0)", "(0)"], {"extra mention": 1}),
        (["(0)", "(0)", "(1)"], ["-", "-", "(1)"], {"missing entity": 1}),
        (["(0)", "-", "-"], ["(0)", "(1)", "(1)"], {"extra entity": 1}),
        (["(0)", "(0)"], ["(0)", "(1)"], {"divided entity": 1}),
        (["(0)", "(1)"], ["(0)", "(0)"], {"conflated entity": 1}),
        # One mention in the wrong entity divides the one and conflates the other.
        (["(0)", "(0)", "(0)", "(1)"], ["(0)", "(0)", "(1)", "(1)"], {"divided entity": 1, "conflated entity": 1}),
        # A span error makes twins: the entity is found.
        (["(0", "0)"], ["(0)", "-"], {"span error": 1}),
        # Of two response mentions that overlap a key mention, the one with more in common is its twin.
        (["(0", "-", "0)"], ["(0", "(1)|0)", "-"], {"span error": 1, "extra entity": 1}),
    ],
)
def test_one_error_at_a_time(tmp_path, key, response, expected):
    found = find_errors(pairs(tmp_path, key, response))
    assert list(found) == KINDS
    assert {kind: len(examples) for kind, examples in found.items() if examples} == expected


def test_examples_say_where_to_look(tmp_path):
    both = pairs(tmp_path, ["(0", "0)", "(0)", "(4)"], ["(a)", "-", "(b)", "-"])
    found = find_errors(both)
    (example,) = found["span error"]
    (ours,), (theirs,) = example.key, example.response
    assert (ours.document, ours.mention, ours.line, ours.entity) == ("(d)", (0, 1), 2, "0")
    assert (theirs.document, theirs.mention, theirs.line, theirs.entity) == ("(d)", (0, 0), 2, "a")
    (divided,) = found["divided entity"]
    assert [(one.mention, one.entity) for one in divided.key] == [((0, 1), "0"), ((2, 2), "0")]
    assert [(one.mention, one.entity) for one in divided.response] == [((0, 0), "a"), ((2, 2), "b")]
    (missing,) = found["missing entity"]
    assert [(one.line, one.entity) for one in missing.key] == [(5, "4")]
    assert missing.response == ()
    listed = {
        one.kind: (one.found_at, one.reference, one.predicted) for one in find_mistakes(both, CoreferenceOptions())
    }
    assert listed == {
        "span error": ("(d), line 2", "0 {[0-1]}", "a {[0]}"),
        "missing entity": ("(d), line 5", "4 {[3]}", None),
        "divided entity": ("(d), line 2", "0 {[0-1], [2] line 4}", "a {[0]} + b {[2] line 4}"),
    }


def test_mentions_that_are_no_spans_stand_as_they_are():
    (divided, _) = ts.coreference([["a", "b"], ["c"]], [["a"], ["b", "c"]]).errors().mistakes
    assert (divided.reference, divided.predicted) == ("0 {a, b}", "0 {a} + 1 {b}")


def test_so_many_errors_are_listed_and_no_more(tmp_path):
    pairs(tmp_path, ["(0)", *["(0)"] * 9], ["(0)", *["-"] * 9])
    results = ts.coreference(tmp_path / "key", tmp_path / "response", metrics="conll")
    assert len(results.errors(rows=3)[-1].rows) == 3
    (missing,) = (kind for kind in results.errors(rows=3).as_dict()["kinds"] if kind["count"])
    assert (missing["kind"], missing["count"], len(missing["examples"])) == ("missing mention", 9, 3)


def test_entities_across_documents_are_looked_up_in_their_own(tmp_path):
    texts = {}
    for name, cells in (("key", ("(0)", "(0)")), ("response", ("(0)", "(1)"))):
        texts[name] = "".join(f"#begin document (t_{d})\nw\t{cell}\n\n#end document\n" for d, cell in enumerate(cells))
        (tmp_path / name).write_text(texts[name])
    both = pair(read_chains(tmp_path / "key"), read_chains(tmp_path / "response"))
    assert not any(find_errors(both).values())
    found = find_errors(both, CoreferenceOptions(scope="corpus"))
    (divided,) = found["divided entity"]
    assert [one.document for one in divided.key] == ["(t_0)", "(t_1)"]


spans = st.tuples(st.integers(0, 12), st.integers(0, 4)).map(lambda span: (span[0], span[0] + span[1]))
documents = st.dictionaries(spans, st.integers(0, 4), max_size=10)


def as_pairs(tmp_path_factory, key, response):
    """Two documents on each side, the second one the first one's other side."""
    import json

    folder = tmp_path_factory.mktemp("spans")
    sides = []
    for name, contents in (("key", (key, response)), ("response", (response, key))):
        lines = []
        for d, document in enumerate(contents):
            clusters = {}
            for span, entity in document.items():
                clusters.setdefault(entity, []).append(span)
            lines.append(json.dumps({"doc_key": str(d), "clusters": list(clusters.values())}))
        (folder / name).write_text("\n".join(lines) + "\n")
        sides.append(read_chains(folder / name))
    return pair(*sides)


@given(documents, documents)
def test_every_twinless_mention_has_exactly_one_error(tmp_path_factory, key, response):
    both = as_pairs(tmp_path_factory, key, response)
    found = find_errors(both)
    tally = score(both, ["mentions"])["mentions"].tally
    twinless = tally["den_p"] - tally["num_p"] + tally["den_r"] - tally["num_r"]
    blamed = [
        (side, one.document, one.mention)
        for kind in TWINLESS
        for example in found[kind]
        for side, mentions in (("key", example.key), ("response", example.response))
        for one in mentions
    ]
    assert len(blamed) == len(set(blamed)) == twinless
    listed = Counter(one.kind for one in find_mistakes(both, CoreferenceOptions()))
    assert listed == Counter({kind: len(examples) for kind, examples in found.items() if examples})


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), max_size=4))
def test_opaque_mentions_have_no_span_errors(clusters):
    key, response = chains_from_clusters([clusters]), chains_from_clusters([[]])
    assert find_errors(pair(key, response))["span error"] == []
    assert not any(find_errors(pair(key, key)).values())


@given(st.lists(spans, max_size=12), st.lists(spans, max_size=12), st.randoms())
def test_overlapping_spans_are_those_that_share_a_token(a, b, random):
    document_a, document_b = ([random.randrange(2) for _ in side] for side in (a, b))
    columns = []
    for document, side in ((document_a, a), (document_b, b)):
        starts, ends = zip(*side, strict=True) if side else ((), ())
        columns += [np.array(document, np.int64), np.array(starts, np.int64), np.array(ends, np.int64)]
    found = list(zip(*(side.tolist() for side in overlapping(*columns)), strict=True))
    plain = {
        (i, j)
        for i, (s, e) in enumerate(a)
        for j, (s_2, e_2) in enumerate(b)
        if document_a[i] == document_b[j] and s <= e_2 and s_2 <= e
    }
    assert set(found) == plain
    assert len(found) == len(plain)

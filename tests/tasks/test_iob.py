import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_iob import encode, lenient, strict

from tallystick.errors import InputError, MetricError
from tallystick.tasks.spans.tags import LETTERS, Fault, decode, split_tag, tags_from_lists

SCHEMES = [scheme for scheme in LETTERS if scheme != "IO"]


def random_sequences(scheme, count=20_000, seed=0):
    rng = random.Random(f"{scheme} {seed}")
    tags = ["O", "O"] + [f"{letter}-{type_}" for letter in LETTERS[scheme] if letter != "O" for type_ in ("PER", "LOC")]
    return [[rng.choice(tags) for _ in range(rng.randrange(9))] for _ in range(count)]


def segments_of(side, texts):
    found = [[] for _ in range(texts.texts)]
    for text, start, end, tag in zip(
        side.text.tolist(), side.start.tolist(), side.end.tolist(), side.tag.tolist(), strict=True
    ):
        found[text].append((start, end, texts.tags[tag]))
    return found


def decoded(sequences, scheme, reading):
    texts = decode(tags_from_lists(sequences, sequences), scheme, reading).texts
    found = segments_of(texts.reference, texts)
    assert segments_of(texts.predicted, texts) == found
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lenient_equals_the_plain_decoder(scheme):
    sequences = random_sequences(scheme)
    assert decoded(sequences, scheme, "lenient") == [lenient(tags) for tags in sequences]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_strict_equals_the_plain_decoder(scheme):
    sequences = random_sequences(scheme)
    assert decoded(sequences, scheme, "strict") == [strict(tags, scheme) for tags in sequences]


@pytest.mark.parametrize("reading", ["lenient", "strict"])
@pytest.mark.parametrize("prefix", ["", "I-"])
def test_io_groups_neighbours_of_one_type(reading, prefix):
    rng = random.Random(5)
    names = ["O", f"{prefix}art-music", f"{prefix}PER"]
    sequences = [[rng.choice(names) for _ in range(rng.randrange(9))] for _ in range(2000)]
    expected = []
    for tags in sequences:
        edges = [0, *(k for k in range(1, len(tags)) if tags[k] != tags[k - 1]), len(tags)]
        found = [(a, b, tags[a].removeprefix("I-")) for a, b in pairwise(edges) if a < b and tags[a] != "O"]
        expected.append(found)
    assert decoded(sequences, "IO", reading) == expected


def test_schemes_by_their_other_names():
    sequences = random_sequences("IOBES", 200)
    assert decoded(sequences, "BIOES", "strict") == decoded(sequences, "IOBES", "strict")
    sequences = random_sequences("IOB2", 200)
    assert decoded(sequences, "BIO", "lenient") == decoded(sequences, "IOB2", "lenient")
    with pytest.raises(InputError, match=r"B-PER.* has the prefix B; IO has I, O"):
        decoded([["B-PER"]], "IO", "strict")
    with pytest.raises(InputError, match="types alone are scheme IO"):
        decoded([["PER"]], "IOB2", "lenient")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_strict_equals_seqeval(scheme):
    pytest.importorskip("seqeval")
    from seqeval import scheme as schemes

    sequences = random_sequences(scheme)
    entities = schemes.Entities(sequences, getattr(schemes, scheme)).entities
    expected = [[(entity.start, entity.end, entity.tag) for entity in text] for text in entities]
    assert decoded(sequences, scheme, "strict") == expected


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lenient_equals_seqeval(scheme):
    pytest.importorskip("seqeval")
    from seqeval.metrics.sequence_labeling import get_entities

    sequences = random_sequences(scheme)
    # seqeval's lenient reading does not know BILOU's L and U; they are E and S under another name
    known = [[tag.replace("L-", "E-").replace("U-", "S-") for tag in tags] for tags in sequences]
    expected = [[(start, end + 1, type_) for type_, start, end in get_entities(tags)] for tags in known]
    assert decoded(sequences, scheme, "lenient") == expected


@st.composite
def flat_segments(draw):
    length = draw(st.integers(0, 12))
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    pairs = pairwise(cuts)
    return [(a, b, draw(st.sampled_from("XY"))) for a, b in pairs if draw(st.booleans())], length


@pytest.mark.parametrize("scheme", SCHEMES)
@given(flat_segments())
def test_decoding_undoes_encoding_and_repairs_nothing(scheme, example):
    segments, length = example
    tags = encode(segments, length, scheme)
    result = decode(tags_from_lists([tags], [tags]), scheme, "lenient")
    assert segments_of(result.texts.reference, result.texts) == [segments]
    assert len(result.repairs[0]) == 0
    if scheme != "IOE1":
        assert decoded([tags], scheme, "strict") == [segments]


def test_strict_ioe1_misses_a_single_token_that_ends_in_e_as_seqeval_does():
    assert decoded([["E-X", "I-X"]], "IOE1", "strict") == [[(1, 2, "X")]]
    assert decoded([["E-X", "I-X"]], "IOE1", "lenient") == [[(0, 1, "X"), (1, 2, "X")]]


@pytest.mark.parametrize(
    ("scheme", "tags", "expected"),
    [
        ("IOB2", ["I-X", "I-X", "I-Y", "B-Y", "I-Y"], [(0, Fault.UNOPENED), (2, Fault.UNOPENED)]),
        ("IOB2", ["S-X", "B-X"], [(0, Fault.FOREIGN_PREFIX)]),
        ("IOB1", ["B-X", "I-X", "B-X", "B-Y"], [(0, Fault.NEEDLESS_BOUNDARY), (3, Fault.NEEDLESS_BOUNDARY)]),
        ("IOE1", ["I-X", "E-X", "I-X", "E-X"], [(3, Fault.NEEDLESS_BOUNDARY)]),
        ("IOE2", ["I-X", "I-X", "E-X", "I-X"], [(3, Fault.UNCLOSED)]),
        (
            "IOBES",
            ["B-X", "O", "E-X", "S-X", "I-Y"],
            [(0, Fault.UNCLOSED), (2, Fault.UNOPENED), (4, Fault.UNOPENED)],
        ),
        ("BILOU", ["B-X", "L-X", "U-X", "L-X"], [(3, Fault.UNOPENED)]),
    ],
)
def test_what_is_repaired_is_listed(scheme, tags, expected):
    repairs = decode(tags_from_lists([["O"], tags], [["O"], tags]), scheme).repairs[1]
    assert [(token - 1, Fault(fault)) for token, fault in zip(repairs.token, repairs.fault, strict=True)] == expected
    assert sum(repairs.counts().values()) == len(repairs)
    place, tag, _ = repairs.listed(1)[0]
    assert tag == tags[expected[0][0]]
    assert str(place) == f"predicted[1][{expected[0][0]}]"


def test_strict_lists_the_tags_that_it_leaves_out():
    repairs = decode(tags_from_lists([["O", "I-X", "B-X", "I-X"]], [["O"] * 4]), "IOB2", "strict").repairs[0]
    assert repairs.token.tolist() == [1]
    assert repairs.counts() == {Fault.LEFT_OUT: 1}


def test_an_unprefixed_tag_is_not_a_prefix_and_a_type():
    with pytest.raises(InputError, match=r'predicted\[1\]\[2\]: "PER" is not a tag.*B-TYPE'):
        decode(tags_from_lists([["O"], ["O"] * 3], [["O"], ["O", "O", "PER"]]))
    assert split_tag("PER") is None


@pytest.mark.parametrize("tag", ["X-PER", "B-", "-PER", "BPER", "", "o", "BI-PER"])
def test_other_tags_that_are_none(tag):
    with pytest.raises(InputError):
        decode(tags_from_lists([[tag]], [["O"]]))


def test_types_keep_their_hyphens_and_may_be_missing():
    assert split_tag("B-creative-work") == ("B", "creative-work")
    assert split_tag("creative-work-B", suffix=True) == ("B", "creative-work")
    assert split_tag("B_PER", "_") == ("B", "PER")
    assert decoded([["B", "I", "O"]], "IOB2", "strict") == [[(0, 2, "_")]]


def test_strict_refuses_a_foreign_prefix():
    with pytest.raises(InputError, match="has the prefix S; IOB2 has I, O, B"):
        decode(tags_from_lists([["S-PER"]], [["O"]]), "IOB2", "strict")


def test_unknown_scheme():
    with pytest.raises(MetricError, match='Did you mean "IOBES"'):
        decode(tags_from_lists([["O"]], [["O"]]), "IOBSE")  # type: ignore[arg-type]


def test_declared_types_come_first():
    texts = decode(tags_from_lists([["B-A", "B-C"]], [["O", "B-B"]]), types=("C", "D")).texts
    assert texts.tags == ("C", "D", "A", "B")
    assert texts.reference.tag.tolist() == [2, 0]


@given(st.lists(st.lists(st.sampled_from(["O", "B-X", "I-X", "I-Y", "E-Y", "S-X", "L-X", "U-Y"]), max_size=6)))
def test_empty_texts_and_any_prefixes_lenient(sequences):
    assert decoded(sequences, "IOBES", "lenient") == [
        lenient([tag.replace("L-", "E-").replace("U-", "S-") for tag in tags]) for tags in sequences
    ]


def test_nothing_is_tagged():
    result = decode(tags_from_lists([[], ["O"]], [[], ["O"]]), "IOB2")
    assert len(result.texts.reference) == 0
    assert result.texts.tags == ()
    assert np.array_equal(result.texts.lengths, [0, 1])

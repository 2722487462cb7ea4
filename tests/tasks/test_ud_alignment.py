"""Small cases of alignment; the first group is udtools' own test of it."""

import numpy as np
import pytest

from tallystick.errors import SidesMismatch
from tallystick.tasks.dependencies.alignment import align_forms, align_words, find_units
from tallystick.tasks.dependencies.files import Treebank, parse_conllu
from tallystick.tasks.dependencies.metrics import NAMES, count_ud


def bank(*tokens: str, name: str = "a.conllu") -> Treebank:
    """Each token is a form, or a multi-word form followed by its words; "|" ends a sentence."""
    return parse_conllu("".join(map(sentence, "\t".join(tokens).split("\t|\t"))), name)


def sentence(tokens: str) -> str:
    lines, at = [], 0
    for token in tokens.split("\t"):
        form, *parts = token.split(" ")
        if parts:
            lines.append(f"{at + 1}-{at + len(parts)}\t{form}" + "\t_" * 8)
        for part in parts or [form]:
            at += 1
            lines.append(f"{at}\t{part}\t_\t_\t_\t_\t{int(at > 1)}\t_\t_\t_")
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize(
    ("reference", "predicted", "aligned"),
    [
        (["a"], ["a"], 1),
        (["a", "b", "c"], ["a", "b", "c"], 3),
        (["abc a b c"], ["a", "b", "c"], 3),
        (["a", "bc b c", "d"], ["a", "b", "c", "d"], 4),
        (["abcd a b c d"], ["ab a b", "cd c d"], 4),
        (["abc a b c", "de d e"], ["a", "bcd b c d", "e"], 5),
        (["abcd"], ["a", "b", "c", "d"], 0),
        (["abc", "d"], ["a", "b", "c", "d"], 1),
        (["a", "bc", "d"], ["a", "b", "c", "d"], 2),
        (["a", "bc b c", "d"], ["a", "b", "cd"], 2),
        (["abc a BX c", "def d EX f"], ["ab a b", "cd c d", "ef e f"], 4),
        (["ab a b", "cd bc d"], ["a", "bc", "d"], 2),
        (["a", "bc b c", "d"], ["ab AX BX", "cd CX a"], 1),
        # adjacent spans stay apart: the second `b` is not in the first span
        (["ab x y", "cd b d"], ["ab b", "cd c d"], 1),
    ],
)
def test_number_of_aligned_words(reference: list[str], predicted: list[str], aligned: int) -> None:
    alignment = align_words(bank(*reference), bank(*predicted))
    assert len(alignment) == aligned


def test_ties_are_broken_as_in_udtools() -> None:
    pairs = align_words(bank("ab a b"), bank("ab b a"))
    assert (pairs.reference.tolist(), pairs.predicted.tolist()) == ([1], [0])


def test_align_forms_of_long_lists() -> None:
    first, second = align_forms(list(range(300)), list(range(0, 600, 2)))
    assert np.array_equal(first, second * 2)
    assert len(first) == 150


@pytest.mark.parametrize(
    ("reference", "predicted", "message"),
    [
        (["ab", "cd"], ["ab", "ce"], 'after "abc": r.conllu:2 has "cd" where p.conllu:2 has "ce"'),
        (["ab", "|", "cd"], ["a", "bx"], 'after "ab": r.conllu:3 has "cd" where p.conllu:2 has "bx"'),
        (["a"], ["a", "b"], 'after "a": r.conllu ends where p.conllu:2 has "b"'),
        (["a"], ["b"], ', from the start: r.conllu:1 has "a" where p.conllu:1 has "b"'),
        (["xy x y", "b"], ["xy", "c"], 'after "xy": r.conllu:4 has "b" where p.conllu:2 has "c"'),
    ],
)
def test_diverging_texts_name_the_first_divergence(reference, predicted, message) -> None:
    with pytest.raises(SidesMismatch) as caught:
        align_words(bank(*reference, name="r.conllu"), bank(*predicted, name="p.conllu"))
    assert message in str(caught.value)


def test_case_differs_in_the_text() -> None:
    with pytest.raises(SidesMismatch):
        align_words(bank("A"), bank("a"))


def test_units_are_blocks_between_common_sentence_starts() -> None:
    reference = bank("a", "|", "b", "|", "c", "d", "|", "e")
    predicted = bank("a", "|", "b", "c", "|", "d", "|", "e")
    units = find_units(reference, predicted)
    assert units.starts.tolist() == [0, 1, 4]
    assert units.names == ["a.conllu:1", "a.conllu:3", "a.conllu:8"]
    rows = count_ud(reference, predicted, units).rows
    assert rows[:, NAMES.index("sentences")].tolist() == [[1, 1, 1, 0], [0, 2, 2, 0], [1, 1, 1, 0]]
    assert rows[:, NAMES.index("tokens"), 0].tolist() == [1, 3, 1]


def test_units_of_several_systems_are_common_to_all() -> None:
    reference = bank("a", "|", "b", "|", "c")
    assert find_units(reference, bank("a", "b", "|", "c"), bank("a", "|", "b", "|", "c")).starts.tolist() == [
        0,
        2,
    ]


def test_documents_are_units_where_the_prediction_allows_it() -> None:
    texts = [sentence(word) for word in "abcd"]
    reference = parse_conllu(
        f"# newdoc id = one\n{texts[0]}{texts[1]}# newdoc id = two\n{texts[2]}# newdoc\n{texts[3]}"
    )
    assert find_units(reference, reference).names == ["one", "two", "<text>:10"]
    joined = parse_conllu(texts[0] + sentence("b\tc") + texts[3])
    units = find_units(reference, joined)
    assert (units.starts.tolist(), units.names[0]) == ([0, 3], "one")
    assert find_units(reference, joined, by="sentence").starts.tolist() == [0, 1, 3]

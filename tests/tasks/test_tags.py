import gzip
import io
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.engine import native
from tallystick.engine.native import compiled
from tallystick.errors import InputError, SidesMismatch, ValueMismatch
from tallystick.files.table import Numbering
from tallystick.tasks.spans import tags as span_tags
from tallystick.tasks.spans.tags import Columns, read_tags, tags_from_lists

GOLD = "EU\tB-ORG\nrejects\tO\n\nPeter\tB-PER\nBlackburn\tI-PER\n"
GUESS = "EU O\r\nrejects O\r\n\r\n\r\nPeter B-PER\r\nBlackburn I-PER"


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return writer


def tags(tagged, side=0):
    codes = tagged.predicted if side else tagged.reference
    names = [tagged.vocabulary[code] for code in codes]
    return [names[a:b] for a, b in zip(tagged.offsets[:-1], tagged.offsets[1:], strict=True)]


def test_two_files_with_other_separators_line_ends_and_blank_lines(write):
    tagged = read_tags(write("gold", GOLD), write("guess", GUESS), keep_tokens=True)
    assert tags(tagged) == [["B-ORG", "O"], ["B-PER", "I-PER"]]
    assert tags(tagged, 1) == [["O", "O"], ["B-PER", "I-PER"]]
    assert tagged.tokens == ("EU", "rejects", "Peter", "Blackburn")
    assert str(tagged.place(0, 3)).endswith("gold:5")
    assert str(tagged.place(1, 3)).endswith("guess:6")


def test_both_in_one_file_as_conlleval_has_it(write):
    path = write("both", "\ufeffEU NNP B-ORG O\nsaid VB O O\n \t\n\nPeter NNP B-PER B-PER\n")
    tagged = read_tags(path)
    assert tags(tagged) == [["B-ORG", "O"], ["B-PER"]]
    assert tags(tagged, 1) == [["O", "O"], ["B-PER"]]
    assert tags(read_tags(path, None, Columns(reference=3, predicted=2)), 1) == tags(tagged)


def test_gzip_and_standard_input(write, monkeypatch):
    packed = write("gold.gz", gzip.compress(GOLD.encode()))

    class Stdin:
        buffer = io.BytesIO(GUESS.encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert tags(read_tags(packed, "-"), 1) == [["O", "O"], ["B-PER", "I-PER"]]


def test_standard_input_serves_one_side_only():
    with pytest.raises(InputError, match="twice"):
        read_tags("-", "-")


def test_docstart_begins_a_document_and_is_no_token(write):
    text = "-DOCSTART- -X- O O\n\na O O\n\nb O O\n\n-DOCSTART-\nc O O\n-DOCSTART-\n\nd O O\n"
    tagged = read_tags(write("both", text))
    assert tags(tagged) == [["O"]] * 4
    assert tagged.documents.tolist() == [0, 0, 1, 2]
    assert read_tags(write("none", "a O O\n")).documents is None


def test_comments_are_left_out_only_where_asked_for(write):
    path = write("both", "# id 7 x\na O O\n\n# id 8 x\n# O O\n")
    assert tags(read_tags(path, None, Columns(comment="# id"))) == [["O"], ["O"]]
    with pytest.raises(InputError, match="both:2: expected 4 columns as in the lines before, found 3"):
        read_tags(path)
    with pytest.raises(InputError, match="comment inside a sentence"):
        read_tags(write("inner", "a O O\n# id 7\n"), None, Columns(comment="# id"))


def test_a_given_separator_keeps_blanks_in_tokens(write):
    path = write("both", "New York\tB-LOC\tO\r\n\r\n\tO\tO\r\n")
    tagged = read_tags(path, None, Columns(separator="\t"), keep_tokens=True)
    assert tagged.tokens == ("New York", "")
    assert tags(tagged, 1) == [["O"], ["O"]]


def test_a_no_break_space_does_not_separate(write):
    tagged = read_tags(write("both", "10\u00a0000 O O\n"), keep_tokens=True)
    assert tagged.tokens == ("10\u00a0000",)


def test_the_first_diverging_token_is_named(write):
    guess = GUESS.replace("Peter", "Pete").replace("Blackburn", "Blackbird")
    with pytest.raises(SidesMismatch, match=r'gold:4 has "Peter", .*guess:5 has "Pete"') as caught:
        read_tags(write("gold", GOLD), write("guess", guess))
    assert caught.value.exit_code == 3
    assert "--ignore-tokens scores them" in str(caught.value)
    assert tags(read_tags(write("gold", GOLD), write("guess", guess), Columns(same_tokens=False))) == [
        ["B-ORG", "O"],
        ["B-PER", "I-PER"],
    ]


def test_a_missing_token_is_named_even_if_tokens_may_differ(write):
    guess = GUESS.replace("Peter B-PER\r\n", "")
    for same in (True, False):
        with pytest.raises(SidesMismatch, match=r'gold:4 has "Peter", .*guess:5 has "Blackburn"; 4 and 3 tokens'):
            read_tags(write("gold", GOLD), write("guess", guess), Columns(same_tokens=same))


def test_diverging_sentences_are_named(write):
    with pytest.raises(SidesMismatch, match=r"one ends at .*gold:2, but goes on at .*guess:2"):
        read_tags(write("gold", GOLD), write("guess", GUESS.replace("\r\n\r\n", "\r\n").replace("\n\r\n", "\n")))


def test_a_file_that_ends_early(write):
    with pytest.raises(SidesMismatch, match=r'guess ends after 3 tokens, but .*gold:5 goes on with token "Blackburn"'):
        read_tags(write("gold", GOLD), write("guess", GUESS.replace("\r\nBlackburn I-PER", "")))


def test_without_tokens_only_lengths_are_compared(write):
    tagged = read_tags(write("gold", "O\nB-X\n\nO\n"), write("guess", "O\nO\n\nO\n"), Columns(token=None))
    assert tags(tagged) == [["O", "B-X"], ["O"]]


def test_bad_lines_are_named(write):
    with pytest.raises(InputError, match="both:3: expected 3 columns as in the lines before, found 2"):
        read_tags(write("both", "a O O\nb O O\nc O\n"))
    with pytest.raises(InputError, match="column -2 was asked for, but the line has 1 columns"):
        read_tags(write("both", "a\n"))
    with pytest.raises(InputError, match="holds no tokens"):
        read_tags(write("both", "\n\n"))
    with pytest.raises(InputError, match=r"both:2: byte 0xe9 is not UTF-8"):
        read_tags(write("both", b"a O O\nb O B-\xe9\n"))
    with pytest.raises(InputError, match="UTF-16"):
        read_tags(write("both", "a O O\n".encode("utf-16")))
    with pytest.raises(InputError, match="no such file"):
        read_tags("/nowhere/at/all")


def test_lines_of_many_blocks_are_counted_right(write, monkeypatch):
    monkeypatch.setattr("tallystick.files.table.BLOCK", 16)
    text = "".join(f"token{i} O B-{'long' * (i % 5)}x\n" + ("\n" if i % 3 == 2 else "") for i in range(50))
    tagged = read_tags(write("both", text), keep_tokens=True)
    assert [sum(map(len, tags(tagged))), len(tags(tagged))] == [50, 17]
    lines = text.split("\n")
    for i in range(50):
        assert lines[tagged.place(0, i).line - 1].startswith(f"token{i} ")
        assert lines[tagged.place(0, i).line - 1].endswith(tagged.vocabulary[tagged.predicted[i]])
        assert tagged.tokens[i] == f"token{i}"


def plain_read(text):
    texts, current = [], []
    for line in text.split("\n"):
        fields = line.split()
        if fields:
            current.append(fields[-1])
        elif current:
            texts.append(current)
            current = []
    return [*texts, current] if current else texts


@given(
    st.lists(st.sampled_from(["a B-X", "bb  I-X ", "\tc O", "", " ", "d\tB-creative-work", "é B-é", "", "\r"])),
    st.sampled_from([8, 40, 1 << 18]),
)
def test_equals_a_plain_reader(lines, block):
    import tempfile

    text = "\n".join(lines)
    if not text.split():
        return
    with tempfile.NamedTemporaryFile() as file, mock.patch("tallystick.files.table.BLOCK", block):
        file.write(text.encode())
        file.flush()
        tagged = read_tags(file.name, None, Columns(reference=-1, predicted=-1))
    assert tags(tagged) == plain_read(text)


@given(st.lists(st.lists(st.sampled_from(["O", "B-X", "I-é", "B-something-long", ""]), max_size=5), max_size=9))
def test_lists_equal_themselves_empty_texts_included(texts):
    tagged = tags_from_lists(texts, [list(text) for text in texts])
    assert tags(tagged) == texts
    assert tags(tagged, 1) == texts
    assert np.array_equal(np.diff(tagged.offsets), [len(text) for text in texts])


_copies = st.text("OBI-Xé\ud800", max_size=12).map(lambda tag: "".join([*tag]))
_texts = st.lists(
    st.lists(st.sampled_from(["O", "B-X", "I-X", "", "B-something-long"]) | _copies, max_size=8), max_size=20
)


@given(_texts, st.sampled_from([2, 4, 12]), st.sampled_from([1, 3, 4096]))
def test_compiled_or_not_lists_have_the_same_numbers(texts, places, at_a_time):
    """Also if the compiled part gives some texts back: too many different tags, or letters beyond ASCII."""
    if compiled() is None:
        pytest.skip("no compiled part")
    sides = texts, [text[::-1] for text in texts]
    with mock.patch.object(span_tags, "_TEXTS_AT_A_TIME", at_a_time):
        with mock.patch.object(Numbering, "number_texts", return_value=None):
            plain = tags_from_lists(*sides)
        with mock.patch.object(span_tags, "MANY", 0), mock.patch.object(native, "_LINE_BITS", places):
            fast = tags_from_lists(*sides)
    assert fast.vocabulary == plain.vocabulary
    for name in ("reference", "predicted", "offsets"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name), strict=True)


def test_what_the_compiled_part_numbers_and_what_it_gives_back():
    part = compiled()
    if part is None or part._number_texts is None:
        pytest.skip("no compiled part")
    texts = [["O", "B-X", "".join(["B-", "X"])], [], ["I-X", "O"]]
    codes, first = part.number_texts(texts, np.array([3, 0, 2]))
    assert (codes.tolist(), first.tolist()) == ([0, 1, 1, 2, 0], [0, 1, 3])
    for given_back in (
        "ab",
        ("O", "O"),
        ["O", None],
        ["O", "é"],
        ["O", "a\nb"],
        ["O", "\0"],
        ["O", "\ud800"],
        ["O"],
        None,
    ):
        assert part.number_texts([["O"], given_back], np.array([1, 2])) is None, given_back


def test_lists_of_different_lengths():
    with pytest.raises(SidesMismatch, match=r"reference\[1\] has 2 tags, predicted\[1\] has 1"):
        tags_from_lists([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(SidesMismatch, match="reference has 1 texts, predicted has 0"):
        tags_from_lists([["O"]], [])


@pytest.mark.parametrize("bad", [None, 3, "B-X\nI-X", "B-\0"])
@pytest.mark.parametrize("many", [0, 50_000])
def test_lists_with_something_else_in_them(bad, many):
    with mock.patch.object(span_tags, "MANY", many), pytest.raises(ValueMismatch, match=r"predicted\[1\]\[1\]"):
        tags_from_lists([["O"], ["O", "O"]], [["O"], ["O", bad]])

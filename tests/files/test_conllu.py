import gzip

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.files import conllu as conllu_table
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.dependencies.files import parse_conllu, read_conllu
from tallystick.tasks.spans.tags import read_conllu_tags


def row(id: object, head: object = 0, form: str = "x", deps: str = "_") -> str:
    return f"{id}\t{form}\tl\tX\tY\t_\t{head}\tdep\t{deps}\t_\n"


TWO = row(1, 0) + row(2, 1)

GERMAN = """# newdoc id = d
# sent_id = s1
# text = Zum Haus
1-2	Zum	_	_	_	_	_	_	_	_
1	zu	zu	ADP	APPR	_	3	case	3:case	_
2	dem	der	DET	ART	Case=Dat	3	det	3:det	_
2.1	leer	_	_	_	_	_	_	3:dep	_
3	Haus	Haus	NOUN	NN	_	0	root	0:root|2.1:conj	SpaceAfter=No

# sent_id = s2
1	10 000	10000	NUM	CARD	_	0	root	_	_

"""


def test_columns() -> None:
    bank = parse_conllu(GERMAN)
    assert bank.text == "ZumHaus10000"
    assert bank.token_start.tolist() == [0, 3, 7]
    assert bank.token_end.tolist() == [3, 7, 12]
    assert bank.token_is_multiword.tolist() == [True, False, False]
    assert bank.token_line.tolist() == [4, 8, 11]
    assert bank.word_token.tolist() == [0, 0, 1, 2]
    assert bank.word_line.tolist() == [5, 6, 8, 11]
    assert bank.head.tolist() == [2, 2, -1, -1]
    assert bank.sentence_words.tolist() == [0, 3, 4]
    assert bank.sentence_start.tolist() == [0, 7]
    assert [bank.form[i] for i in range(4)] == ["zu", "dem", "Haus", "10000"]
    assert [bank.lemma[i] for i in range(4)] == ["zu", "der", "Haus", "10000"]
    assert [bank.upos[i] for i in range(4)] == ["ADP", "DET", "NOUN", "NUM"]
    assert [bank.deprel[i] for i in range(4)] == ["case", "det", "root", "root"]
    assert [bank.feats[i] for i in range(4)] == ["_", "Case=Dat", "_", "_"]
    assert bank.documents() == {0: "d"}
    assert bank.sentence_names() == {0: "s1", 1: "s2"}


def test_empty_nodes_are_left_out_but_counted() -> None:
    bank = parse_conllu(GERMAN)
    assert bank.empty_nodes == 1
    assert bank.enhanced.dependent.tolist() == [0, 1, 2]
    assert bank.enhanced.head.tolist() == [2, 2, -1]
    assert [bank.enhanced.label[i] for i in range(3)] == ["case", "det", "root"]
    assert bank.enhanced.from_empty_nodes == 1


@pytest.mark.parametrize("stretch", [1, 7, 100])
def test_the_size_of_a_stretch_does_not_matter(monkeypatch: pytest.MonkeyPatch, stretch: int) -> None:
    whole = parse_conllu(GERMAN * 3)
    monkeypatch.setattr(conllu_table, "STRETCH", stretch)
    parts = parse_conllu(GERMAN * 3)
    assert whole.text == parts.text
    assert whole.sentence_names() == parts.sentence_names()
    for name in ("head", "word_line", "token_line", "sentence_words", "word_token"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_windows_line_ends_and_byte_order_mark() -> None:
    bank = parse_conllu(b"\xef\xbb\xbf" + GERMAN.replace("\n", "\r\n").encode())
    assert (bank.text, bank.word_line.tolist()) == ("ZumHaus10000", [5, 6, 8, 11])


def test_gzip(tmp_path) -> None:
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(GERMAN.encode()))
    assert len(read_conllu(path)) == 4


def test_empty_file_and_only_comments() -> None:
    assert len(parse_conllu("")) == 0
    assert len(parse_conllu("# newdoc\n# nothing\n")) == 0
    assert parse_conllu(TWO + "\n# newdoc\n").documents() == {}


def test_long_chain_without_recursion() -> None:
    assert len(parse_conllu("".join(row(i, i - 1) for i in range(1, 2001)) + "\n")) == 2000
    assert len(parse_conllu("".join(row(i, i + 1) for i in range(1, 2000)) + row(2000, 0) + "\n")) == 2000


def test_several_roots_if_asked_for() -> None:
    assert parse_conllu(row(1) + row(2) + "\n", several_roots=True).head.tolist() == [-1, -1]


@pytest.mark.parametrize("length", [31, 32, 33, 64, 200])
def test_long_fields(length: int) -> None:
    text = "".join(row(i, i - 1, form="f" * length + str(i % 3)) for i in range(1, 7)) + "\n"
    bank = parse_conllu(text)
    assert [bank.form[i] for i in range(6)] == ["f" * length + str(i % 3) for i in range(1, 7)]


MULTI = "\tx" + "\t_" * 8 + "\n"
BAD = {
    "cycle": (
        TWO + "\n" + row(1, 0) + row(2, 3) + row(3, 4) + row(4, 2) + "\n",
        5,
        "a cycle of heads: 2 -> 3 -> 4 -> 2",
    ),
    "own head": (row(1, 0) + row(2, 2) + "\n", 2, "a cycle of heads: 2 -> 2"),
    "hangs on a cycle": (
        row(1, 2) + row(2, 3) + row(3, 2) + row(4, 0) + "\n",
        2,
        "a cycle of heads: 2 -> 3 -> 2",
    ),
    "several roots": (
        TWO + "\n# c\n" + row(1, 0) + row(2, 1) + row(3, 0) + "\n",
        7,
        "several roots: words 1 and 3",
    ),
    "no root": (TWO + "\n" + row(1, 2) + row(2, 1) + "\n", 4, "no root"),
    "head out of range": (
        row(1, 0) + row(2, 3) + "\n",
        2,
        "HEAD 3 is out of range: the sentence has 2 words",
    ),
    "head no number": (row(1, 0) + row(2, "_") + "\n", 2, 'HEAD "_" is not a number'),
    "negative head": (row(1, -1) + "\n", 1, 'HEAD "-1" is not a number'),
    "gap": (row(1, 0) + row(3, 1) + "\n", 2, "ID 3 where 2 was expected"),
    "first is not 1": (row(2, 0) + "\n", 1, "ID 2 where 1 was expected"),
    "bad id": (row(1, 0) + row("2a", 1) + "\n", 2, 'ID "2a" is neither'),
    "nine columns": (
        row(1, 0) + "2\tx\tl\tX\tY\t_\t1\tdep\t_\n\n",
        2,
        "expected 10 columns separated by tabs, found 9",
    ),
    "eleven columns": (row(1, 0) + row(2, 1)[:-1] + "\t_\n\n", 2, "found 11"),
    "spaces": ("# c\n1 x l X Y _ 0 root _ _\n\n", 2, "found 1; are they separated by spaces?"),
    "no final blank line": (TWO + "\n" + TWO, 5, "not closed by a blank line"),
    "no final line end": (TWO + "\n" + TWO[:-1], 5, "not closed by a blank line"),
    "two blank lines": (TWO + "\n\n" + TWO + "\n", 4, "a blank line with no sentence before it"),
    "comment and no sentence": (TWO + "\n# c\n\n", 5, "a blank line with no sentence before it"),
    "comment inside": (row(1, 0) + "# c\n" + row(2, 1) + "\n", 2, "a comment inside a sentence"),
    "empty form": (row(1, 0) + row(2, 1, form="") + "\n", 2, "an empty FORM"),
    "form of spaces": (row(1, 0) + row(2, 1, form=" \u3000") + "\n", 2, "an empty FORM"),
    "only empty nodes": (TWO + "\n" + row("1.1", "_") + "\n", 4, "a sentence without words"),
    "overlapping ranges": (
        "1-2" + MULTI + row(1, 0) + "2-3" + MULTI + row(2, 1) + row(3, 1) + "\n",
        3,
        "multi-word token 2-3 overlaps 1-2",
    ),
    "same range twice": ("1-2" + MULTI + "1-2" + MULTI + TWO + "\n", 2, "overlaps 1-2"),
    "range in the wrong place": (row(1, 0) + "1-2" + MULTI + row(2, 1) + "\n", 2, "1-2 stands before word 2"),
    "range backwards": (row(1, 0) + "2-1" + MULTI + row(2, 1) + "\n", 2, "ends before it starts"),
    "range beyond": ("1-3" + MULTI + TWO + "\n", 1, "is beyond the sentence, which has 2 words"),
    "edge without relation": (
        row(1, 0) + row(2, 1, deps="1:a|2") + "\n",
        2,
        'expected HEAD:RELATION in DEPS, found "2"',
    ),
    "edge out of range": (row(1, 0) + row(2, 1, deps="3:a") + "\n", 2, "DEPS points to word 3"),
    "bad byte": (("# c\n" + TWO + "\n").encode().replace(b"2\tx", b"2\t\xff"), 3, "byte 0xff is not UTF-8"),
}


OF_TREES = (
    "cycle", "own head", "hangs on a cycle", "several roots", "no root", "head out of range", "head no number", "negative head",
    "edge without relation", "edge out of range",
)  # fmt: skip
"""What only those who need trees look at."""
MORE = {
    "repeated id": (TWO + row(2, 1) + "\n", 3, "ID 2 where 3 was expected"),
    "blank lines first": ("\n\n" + TWO + "\n", 1, "a blank line with no sentence before it"),
    "blank after comments": ("# c\n\n" + TWO + "\n", 2, "a blank line with no sentence before it"),
    "white space for a blank line": (TWO + " \n", 3, "expected 10 columns separated by tabs, found 1"),
    "NUL": (TWO.replace("x", "\0", 1) + "\n", 1, "a NUL byte"),
}
CORNERS = {name: case for name, case in BAD.items() if name not in OF_TREES} | MORE
READERS = {
    "dependencies": lambda path: read_conllu(path),
    "spans": lambda path: read_conllu_tags(path, path, column=3),
    "coreference": lambda path: read_chains(path, format="corefud"),
}


@pytest.mark.parametrize("task", READERS)
@pytest.mark.parametrize("corner", CORNERS)
def test_what_is_no_conllu_is_none_for_every_task(tmp_path, corner: str, task: str) -> None:
    content, line, message = CORNERS[corner]
    path = tmp_path / "bad.conllu"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        READERS[task](path)
    assert caught.value.place is not None
    assert (caught.value.place.file, caught.value.place.line) == (str(path), line)
    assert message in str(caught.value)


@pytest.mark.parametrize("task", READERS)
def test_what_is_conllu_is_for_every_task(tmp_path, task: str) -> None:
    path = tmp_path / "good.conllu"
    for content in (GERMAN.encode(), b"\xef\xbb\xbf" + GERMAN.replace("\n", "\r\n").encode()):
        path.write_bytes(content)
        READERS[task](path)


@pytest.mark.parametrize("case", BAD)
def test_bad_input_names_its_line(case: str) -> None:
    content, line, message = BAD[case]
    with pytest.raises(InputError) as caught:
        parse_conllu(content, "bad.conllu")
    assert caught.value.place is not None
    assert (caught.value.place.file, caught.value.place.line) == ("bad.conllu", line)
    assert message in str(caught.value)


def test_the_caret_stands_under_the_field() -> None:
    with pytest.raises(InputError) as caught:
        parse_conllu(row(1, 0) + row(2, 77) + "\n", "bad.conllu")
    assert (
        str(caught.value).split("\n")[-1].expandtabs()
        == " " * len(("    " + row(2, 77).split("77")[0]).expandtabs()) + "^"
    )

"""Key and response are over the same words: other words are an error, as another number of them is, and the same words in other clothes are not."""

import json
import random
from pathlib import Path

import pytest

import running
import tallystick as ts
from tallystick.errors import SidesMismatch
from tallystick.files.source import Pieces, Source
from tallystick.files.words import other_word
from tallystick.tasks.coreference.chains import pair
from tallystick.tasks.coreference.files import read_chains, read_conll

ANN = ["Ann", "saw", "her"]
BOB = ["Bob", "ate", "fish"]
CELLS = ["(0)", "-", "(0)"]


def narrow(words, cells=CELLS, name="a"):
    rows = "".join(f"{name}\t0\t{n}\t{word}\t{cell}\n" for n, (word, cell) in enumerate(zip(words, cells, strict=True)))
    return f"#begin document {name}\n{rows}\n#end document\n"


def wide(words, cells=CELLS, name="a"):
    rows = "".join(
        f"{name}   0   {n:>3} {word:>20}   NN   (NP*)   -   -   -   speaker   *   {cell}\n"
        for n, (word, cell) in enumerate(zip(words, cells, strict=True))
    )
    return f"#begin document {name}\n{rows}\n#end document\n"


def semeval(words, cells=CELLS, name="a"):
    rows = "".join(f"{n}\t{word}\tlemma\t{cell}\n" for n, (word, cell) in enumerate(zip(words, cells, strict=True), 1))
    return f"#begin document {name}\n{rows}\n#end document\n"


def ecb(words, cells=CELLS, name="a"):
    rows = "".join(
        f"1 {name} 0 {n} {word} True {cell}\n" for n, (word, cell) in enumerate(zip(words, cells, strict=True))
    )
    return f"#begin document {name}\n{rows}\n#end document\n"


def two_columns(words, cells=CELLS, name="a"):
    rows = "".join(f"{word} {cell}\n" for word, cell in zip(words, cells, strict=True))
    return f"#begin document {name}\n{rows}\n#end document\n"


def jsonl(words, name="a"):
    return json.dumps({"id": name, "tokens": words, "clusters": [[[0, 0], [2, 2]]]}) + "\n"


def corefud(words, name="a"):
    entities = ["Entity=(e1--1-)", "_", "Entity=(e1--1-)"]
    rows = "".join(
        f"{n}\t{word}\t_\t_\t_\t_\t0\t_\t_\t{misc}\n"
        for n, (word, misc) in enumerate(zip(words, entities, strict=True), 1)
    )
    return f"# newdoc id = {name}\n# global.Entity = eid-etype-head-other\n{rows}\n"


FORMATS = {function.__name__: function for function in (narrow, wide, semeval, ecb, two_columns, jsonl, corefud)}


def paired(key, response, **options):
    return pair(read_chains(Source.of_text(key)), read_chains(Source.of_text(response)), **options)


@pytest.mark.parametrize("response", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("key", FORMATS.values(), ids=FORMATS)
def test_other_words_are_an_error_in_every_format(key, response):
    paired(key(ANN), response(ANN))
    with pytest.raises(
        SidesMismatch, match=r'the tokens diverge: document .* has "Ann" as token 0 .* and "Bob" in .*--ignore-tokens'
    ):
        paired(key(ANN), response(BOB))
    with pytest.raises(SidesMismatch, match=r'has "her" as token 2 in the key .* and "him"'):
        paired(key(ANN), response(["Ann", "saw", "him"]))
    assert paired(key(ANN), response(BOB), ignore_tokens=True).warnings == []
    (said,) = [one for one in paired(key(ANN), response(BOB), lenient=True).warnings if "diverge" in one]
    assert "--ignore-tokens" not in said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "ann"), ("-LRB-", "("), ("/.", "."), ("\\/", "/"), ("``", '"'), ("’s", "'s"), ("café", "cafe\u0301"), ("Ann", "_"),
        ("Ann", "-"), ("[WORD]", "Ann"), ("Ann", "[UNK]"), ("1\\/2", "1/2"),
    ],
)  # fmt: skip
def test_the_same_word_in_other_clothes_is_scored(one, other):
    for key in (narrow, wide, jsonl):
        for response in (narrow, wide, jsonl):
            found = paired(key([one, "saw", "her"]), response([other, "saw", "her"]))
            assert [text for text in found.warnings if "diverge" in text] == []
    with pytest.raises(SidesMismatch, match='"saw" as token 1'):
        paired(narrow([one, "saw", "her"]), narrow([other, "ate", "her"]))


def test_words_that_one_side_does_not_give_are_no_other_words():
    without = json.dumps({"id": "a", "clusters": [[[0, 0], [2, 2]]]})
    for other in (narrow(ANN), jsonl(ANN), without):
        paired(without, other)
        paired(other, without)
    paired("#begin document a\n(0)\n-\n(0)\n#end document\n", two_columns(BOB))  # nothing but the last column


def columns(rows, name="a"):
    return f"#begin document {name}\n" + "".join(f"{row}\n" for row in rows) + "\n#end document\n"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([f"a 0 {n} {cell}" for n, cell in enumerate(CELLS)], "numbers"),
        ([f"a 0 {cell}" for cell in CELLS], "numbers"),
        ([f"t a 0 {n} {word} {cell}" for n, word, cell in zip((7, 8, 0), ANN, CELLS, strict=True)], "numbers"),
        *[([f"a 0 {n} {sign} {cell}" for n, cell in enumerate(CELLS)], f'"{sign}"') for sign in ("*", "xxx", "None")],
    ],
)
def test_a_column_that_is_none_of_words_is_not_compared(rows, reason):
    for key in (narrow, wide, jsonl, corefud):
        for one, other in ((key(ANN), columns(rows)), (columns(rows), key(ANN))):
            (said,) = (text for text in paired(one, other).warnings if "could not be compared" in text)
            assert reason in said
    assert paired(narrow(ANN), narrow(["[MASK]"] * 3)).warnings == []


def test_other_tags_than_words():
    """Sixty words, and a column of tags in their place; another text is an error, for it has some words of the first."""
    words = ["the", "dog", "saw", "a", "cat", "in", "the", "house", ",", "and", "it", "ran", "."] * 6
    cells = ["(0)", *"-" * (len(words) - 1)]
    tags = ["DT", "NN", "VBD", "DT", "NN", "IN", "DT", "NN", ",", "CC", "PRP", "VBD", "."] * 6
    (said,) = paired(wide(words, cells), narrow(tags, cells)).warnings
    assert "hardly a word in common" in said
    with pytest.raises(SidesMismatch, match='"the" as token 0'):
        paired(wide(words, cells), narrow(words[::-1], cells))
    with pytest.raises(SidesMismatch, match='"no" as token 0'):
        paired(narrow(["no"] * 3), narrow(["yes"] * 3))
    with pytest.raises(SidesMismatch, match='"he" as token 2'):
        paired(narrow(["ha", "ha", "he"]), narrow(["ha"] * 3))
    with pytest.raises(SidesMismatch, match='"1990" as token 0'):
        paired(narrow(["1990"], ["(0)"]), narrow(["1991"], ["(0)"]))
    assert "numbers" in paired(narrow(["0", "1", "2"]), narrow(["1", "2", "3"])).warnings[0]


def test_how_many_other_documents_differ():
    key, response = ("".join(narrow(words, name=name) for name in "abc") for words in (ANN, BOB))
    with pytest.raises(SidesMismatch, match=r"\(and 2 more documents differ\)"):
        paired(key, response)


@pytest.mark.parametrize("layout", [narrow, wide, semeval, ecb, two_columns])
def test_signs_are_those_of_the_words_whatever_the_cells_are(layout):
    """Documents with equal words have equal signs in every layout, and with one other word other ones, also where the words are long or short."""
    draw = random.Random(7)
    for _ in range(200):
        words = [
            "".join(draw.choices("abö", k=draw.choice([1, 2, 7, 8, 9, 14, 40]))) for _ in range(draw.randrange(1, 9))
        ]
        cells = [[draw.choice(["-", "(1)", "(12)|(3)", "_"]) for _ in words] for _ in range(2)]
        at = draw.randrange(len(words))
        changed = [*words]
        kept = draw.randrange(len(words[at]))
        changed[at] = words[at][:kept] + draw.choice("cd") + words[at][kept + 1 :]
        swapped = [*words]
        swapped[0], swapped[at] = swapped[at], swapped[0]
        signs = [
            read_chains(Source.of_text(layout(one, column))).signs
            for one, column in zip((words, words, changed, swapped), (*cells, *cells), strict=True)
        ]
        assert signs[0] == read_chains(Source.of_text(narrow(words, cells[1]))).signs
        assert signs[0] == signs[1] != signs[2]
        assert (signs[0] == signs[3]) == (words == swapped)


def test_long_words_that_differ_at_their_end():
    """As the pseudo tokens of cross-document files."""
    words = [f"metadoc_DOC15652435599236868_{n}" for n in (14, 15, 16)]
    with pytest.raises(SidesMismatch, match=r"_14.*_15"):
        paired(narrow(words), narrow([words[1], words[0], words[2]]))


def test_signs_do_not_depend_on_pieces():
    texts = []
    for seed in (1, 2):
        cells = random.Random(seed)
        draw = random.Random(3)
        texts.append(
            "".join(
                narrow(
                    [draw.choice(ANN + BOB) for _ in range(50)],
                    [cells.choice(["-", "(1)"]) for _ in range(50)],
                    f"d{n}",
                )
                for n in range(20)
            )
        )
    whole = [read_chains(Source.of_text(text)).signs for text in texts]
    assert whole[0] == whole[1]
    assert len(set(whole[0])) == 20
    for size in (10, 57, 300, 5000):
        assert read_conll(Pieces(Source.of_text(texts[0]), size)).signs == whole[0]


@pytest.mark.parametrize("seed", range(4))
def test_words_are_kept_by_sentences_whatever_the_pieces(seed):
    """Blank lines, also several and at both ends, comments, documents without words or with none in some line."""
    draw, lines, wanted = random.Random(seed), [], {}
    for n in range(12):
        lines.append(f"#begin document (d{n})")
        sentences, complete = [[]], True
        for _ in range(draw.choice((0, 5, 40))):
            what = draw.random()
            if what < 0.15:
                lines += draw.choice(([""], ["", " "], ["# note", ""], ["", "# note"]))
                sentences.append([])
            elif what < 0.2:
                lines.append("# note")
            elif what < 0.21:
                lines.append("-")
                complete = False
            else:
                word = draw.choice(["Ann", "naïve", "“", "\ufeff", "a\xa0b", "#", '"'])
                lines.append(f"d{n} 0 0 {word} {draw.choice(('-', '(1)'))}")
                sentences[-1].append(word)
        lines.append("#end document")
        if complete:
            wanted[f"(d{n})"] = [sentence for sentence in sentences if sentence]
    text = "".join(f"{line}\n" for line in lines)
    assert len(wanted) > 3
    for size in (10, 57, 300, 1 << 20):
        assert read_conll(Pieces(Source.of_text(text), size), keep_text=True).texts == wanted


def test_the_first_other_word():
    assert other_word(ANN, ANN) is None
    assert other_word(ANN, ["ann", "saw", "his"]) == 2
    assert other_word(ANN, ANN[:2]) is None  # of the numbers was complained before


def test_the_command_with_and_without_processes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key").write_text("".join(narrow(ANN, name=name) for name in "abcd"))
    Path("response").write_text("".join(narrow(ANN if name != "c" else BOB, name=name) for name in "abcd"))
    for more in ((), ("--jobs", "2")):
        found = running.run("score", "coreference", "key", "response", *more, code=3)
        assert 'the tokens diverge: document "c" has "Ann" as token 0' in found.stderr
    running.run("score", "coreference", "key", "response", "--ignore-tokens")
    found = running.run("score", "coreference", "key", "response", "--compat", "reference")
    assert "the tokens diverge" in found.stderr


def test_other_words_from_standard_input_in_shards(tmp_path):
    (tmp_path / "key").write_text(jsonl(ANN))
    found = running.run("score", "coreference", tmp_path / "key", "-", "--jobs", "2", stdin=jsonl(BOB), code=3)
    (said,) = (line for line in found.stderr.split("\n") if line.startswith("Error"))
    assert said.startswith('Error: the tokens diverge: document "a" has "Ann" as token 0')


def test_python():
    key, response = ({"tokens": words, "clusters": [[(0, 1), (2, 3)]]} for words in (ANN, BOB))
    with pytest.raises(SidesMismatch, match=r'has "Ann" as token 0 .*\. ignore_tokens=True scores them nevertheless$'):
        ts.coreference([key], [response])
    assert ts.coreference([key], [response], ignore_tokens=True)["muc"].f1 == 1
    assert ts.coreference([key], [{"clusters": [[(0, 1), (2, 3)]]}])["muc"].f1 == 1


def test_a_line_that_is_shorter_than_the_first():
    text = narrow(ANN, name="a" * 60).replace(f"{'a' * 60}\t0\t1\tsaw", "saw")
    paired(text, text)
    with pytest.raises(SidesMismatch, match='has "saw" as token 1'):
        paired(text, text.replace("saw", "ate"))

import json

import pytest
from span_counting import count_exact

import tallystick as ts
from tallystick.errors import InputError, MetricError, SidesMismatch
from tallystick.tasks.spans.jsonl import Offsets, read_spans

TEXT = "left and right knee"


@pytest.fixture
def write(tmp_path):
    def writer(name, *records):
        path = tmp_path / name
        path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records))
        return path

    return writer


def test_characters_nested_and_discontinuous(write):
    gold = {
        "id": 7,
        "text": TEXT,
        "spans": [
            {"start": 9, "end": 19, "label": "SITE"},
            {"pieces": [[0, 4], [15, 19]], "type": "SITE"},
            [15, 19, "PART"],
        ],
    }
    guess = {"id": 7, "spans": [[15, 19, "PART"], {"pieces": [[15, 19], [0, 4]], "tag": "SITE"}]}
    texts = read_spans(write("gold", gold), write("guess", "", guess))
    assert texts.names == ("7",)
    assert texts.lengths.tolist() == [4]
    assert texts.tags == ("PART", "SITE")
    assert texts.reference.start.tolist() == [2, 0, 3]
    counts = count_exact(texts, "corpus")
    assert counts.tp.tolist() == [[1, 1]]


def test_texts_belong_together_by_id(write):
    gold = write("gold", {"id": "a", "text": "x", "spans": []}, {"id": "b", "text": "y z", "spans": [[0, 1, "T"]]})
    guess = write("guess", {"id": "b", "spans": [[0, 1, "T"]]}, {"id": "a", "spans": []})
    assert count_exact(read_spans(gold, guess)).tp.tolist() == [[0], [1]]
    with pytest.raises(SidesMismatch, match='1 only in the reference: "a"'):
        read_spans(gold, write("guess", {"id": "b", "spans": []}))
    with pytest.raises(InputError, match="guess:2: the document 'b' is already used in line 1"):
        read_spans(gold, write("guess", {"id": "b", "spans": []}, {"id": "b", "spans": []}))
    with pytest.raises(SidesMismatch, match=r"gold has 2 documents and .* has 1; without names"):
        read_spans(gold, write("guess", {"spans": []}))


def test_a_boundary_inside_a_token(write):
    gold = write("gold", {"text": TEXT, "spans": [[0, 4, "A"]]})
    guess = write("guess", {"text": TEXT, "spans": [[2, 8, "A"]]})
    with pytest.raises(
        InputError, match=r'guess:1: span \[2, 8\) A, "ft and", has a boundary inside .*"left" \[0, 4\)'
    ):
        read_spans(gold, guess)
    assert read_spans(gold, guess, Offsets(boundaries="expand")).predicted.start.tolist() == [0]
    assert read_spans(gold, guess, Offsets(boundaries="contract")).predicted.start.tolist() == [1]
    inner = write("inner", {"text": TEXT, "spans": [[1, 3, "A"]]})
    with pytest.raises(InputError, match="nothing is left"):
        read_spans(gold, inner, Offsets(boundaries="contract"))
    assert read_spans(inner, inner, Offsets(tokenizer="characters")).reference.start.tolist() == [1]


def test_blanks_at_a_boundary_cut_nothing(write):
    gold = write("gold", {"text": TEXT, "spans": [[0, 5, "A"]]})
    assert read_spans(gold, gold).reference.end.tolist() == [1]
    blank = write("blank", {"text": TEXT, "spans": [[4, 5, "A"]]})
    with pytest.raises(InputError, match="holds no token"):
        read_spans(gold, blank)


def test_diverging_texts(write):
    gold, guess = ({"text": text, "spans": []} for text in (TEXT, TEXT.replace("right", "wrong")))
    with pytest.raises(SidesMismatch, match=r"diverge at character 9: .*'right knee', .*'wrong knee'"):
        read_spans(write("gold", gold), write("guess", guess))


def test_token_offsets(write):
    gold = write("gold", {"tokens": ["a", "b", "c"], "spans": [[0, 2, "X"]]}, {"tokens": [], "spans": []})
    guess = write("guess", {"spans": [[0, 2, "X"], [1, 3, "X"]]}, {"spans": []})
    texts = read_spans(gold, guess, Offsets(unit="tokens"))
    assert texts.lengths.tolist() == [3, 0]
    assert count_exact(texts, "corpus").tp.tolist() == [[1]]
    assert read_spans(guess, guess, Offsets(unit="tokens")).lengths is None
    with pytest.raises(InputError, match=r"guess:1: span \[1, 4\) X lies outside its text of 3 tokens"):
        read_spans(gold, write("guess", {"spans": [[1, 4, "X"]]}, {"spans": []}), Offsets(unit="tokens"))
    other = write("other", {"tokens": ["a", "B", "c"], "spans": []}, {"spans": []})
    with pytest.raises(SidesMismatch, match=r'gold:1 has "b" as token 1, .*other:1 has "B"'):
        read_spans(gold, other, Offsets(unit="tokens"))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "bad:2:2: is not JSON"),
        ({"text": "x"}, 'bad:2: expected an object with a list "spans", found "text"'),
        ({"spans": []}, 'bad:2: has no "text"'),
        ({"text": "xy", "spans": [[0, 1]]}, r"spans\[0\]: expected"),
        ({"text": "xy", "spans": [[0, "1", "A"]]}, r"spans\[0\]: expected"),
        ({"text": "xy", "spans": [{"start": 0, "end": 1}]}, r"spans\[0\]: expected"),
        ({"text": "xy", "spans": [[0, 9, "A"]]}, "not inside its text of 2 characters"),
        ({"text": "xy", "spans": [[1, 1, "A"]]}, "not inside"),
    ],
)
def test_bad_records_are_named(write, record, message):
    path = write("bad", "", record)
    with pytest.raises(InputError, match=message):
        read_spans(path, path)


def test_options_are_checked(write):
    path = write("gold", {"text": "x", "spans": []})
    with pytest.raises(MetricError, match='Did you mean "words"'):
        read_spans(path, path, Offsets(tokenizer="word"))
    with pytest.raises(MetricError, match="characters"):
        read_spans(path, path, Offsets(unit="bytes"))  # type: ignore[arg-type]


def test_the_text_of_a_span_is_what_is_at_its_offsets(write):
    """Wherever the text is: with the span, or on the other side; as for other tools' files."""
    gold = {"text": TEXT, "spans": [{"start": 0, "end": 4, "label": "SIDE", "text": "left"}]}
    knee = {"pieces": [[15, 19], [0, 4]], "label": "SITE", "text": "left knee"}
    for right in (gold, {"spans": gold["spans"]}, {"spans": [knee]}, {"spans": [{**knee, "text": None}]}):
        read_spans(write("gold", gold), write("guess", right))
    wrong = {"start": 0, "end": 4, "label": "SIDE", "text": "right"}
    said = r"guess:1: span \[0, 4\) SIDE says 'right', but these characters of the text are 'left'"
    for right in ({"text": TEXT, "spans": [wrong]}, {"spans": [wrong]}):
        with pytest.raises(InputError, match=said):
            read_spans(write("gold", gold), write("guess", right))
    with pytest.raises(InputError, match=r"span \[15, 19\), \[0, 4\) SITE says 'right knee', but .* are 'left knee'"):
        read_spans(write("gold", gold), write("guess", {"spans": [{**knee, "text": "right knee"}]}))
    with pytest.raises(InputError, match="is not inside its text"):
        read_spans(write("gold", gold), write("guess", {"spans": [{**wrong, "end": 40}]}))
    paris = {"text": "Ann in Paris", "spans": [{"text": "Paris", "start": 0, "end": 3, "label": "LOC"}]}
    with pytest.raises(InputError, match=r"<reference>:1: span \[0, 3\) LOC says 'Paris', but .* are 'Ann'"):
        ts.spans([paris], [paris])


@pytest.mark.parametrize("said", ["", " ", "“CAFÉ” – (X)", '"café" - (x)', "“Cafe\u0301” – (x)", "“Café”–(x)"])
def test_the_text_of_a_span_may_have_other_clothes(write, said):
    text = "“Café” – (x)"
    span = {"start": 0, "end": len(text), "label": "X", "text": said}
    one = {"text": text, "spans": [span]}
    read_spans(write("gold", one), write("guess", one))
    with pytest.raises(InputError, match=r"says 'Tea', .*; correct the offsets, or leave its text out"):
        read_spans(write("gold", one), write("guess", {"spans": [{**span, "text": "Tea"}]}))


@pytest.mark.parametrize(
    "said", ["", "“Café” (x)", '"CAFÉ" (x)', "“Cafe\u0301” (x)", "``Café'' -LRB- x -RRB-", "`` Café '' (x)"]
)
def test_the_text_of_a_span_is_that_of_its_tokens(write, said):
    tokens = ["Ann", "``", "Café", "''", "-LRB-", "x", "-RRB-"]
    span = {"start": 1, "end": 7, "label": "X", "text": said}
    one = {"tokens": tokens, "spans": [span]}
    read_spans(write("gold", one), write("guess", one), Offsets(unit="tokens"))
    wrong = {"spans": [{**span, "start": 0, "end": 1, "text": "Bob"}]}
    with pytest.raises(
        InputError, match=r"guess:1: span \[0, 1\) X says 'Bob', but these tokens of the text are 'Ann'"
    ):
        read_spans(write("gold", one), write("guess", wrong), Offsets(unit="tokens"))
    read_spans(write("gold", {"spans": wrong["spans"]}), write("guess", wrong), Offsets(unit="tokens"))  # no tokens


def test_the_text_of_a_span_in_a_table_is_that_of_its_tokens(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        [{"id": "a", "tokens": ["Ann"], "spans": [{"start": 0, "end": 1, "label": "X", "text": name}]}]
        for name in ("ann", "Bob")
    ]
    for file, side in zip(("gold.parquet", "guess.parquet"), rows, strict=True):
        pq.write_table(pa.Table.from_pylist(side), tmp_path / file)
    offsets = Offsets(unit="tokens")
    read_spans(tmp_path / "gold.parquet", tmp_path / "gold.parquet", offsets)
    with pytest.raises(InputError, match=r"guess.parquet:1: span \[0, 1\) X says 'Bob'"):
        read_spans(tmp_path / "gold.parquet", tmp_path / "guess.parquet", offsets)


@pytest.mark.parametrize(("tags", "place"), [(["B-PER", None], 1), (["O", "O", 5], 2), (["O", float("nan")], 1)])
def test_what_is_no_tag_among_tags_is_blamed(tags, place):
    right = ["O"] * len(tags)
    for left, where in (([tags], r"reference\[0\]"), ({"a": tags}, r"reference\['a'\]")):
        with pytest.raises(ts.TallystickError, match=rf"^{where}\[{place}\]: expected a tag, .* found (None|5|nan)$"):
            ts.spans(left, [right] if isinstance(left, list) else {"a": right})

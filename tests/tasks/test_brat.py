import pytest
from span_counting import count_exact

from tallystick.errors import InputError, SidesMismatch
from tallystick.tasks.spans.jsonl import read_brat

TEXT = "left and\nright knee"
GOLD = "T1\tSITE 0 4;15 19\tleft knee\nR1\tIn Arg1:T1 Arg2:T2\nT2\tSITE 5 14\tand right\n#1\tNote T1\tx\n"


@pytest.fixture
def folders(tmp_path):
    for name in ("gold", "guess"):
        (tmp_path / name / "sub").mkdir(parents=True)
    (tmp_path / "gold" / "sub" / "a.txt").write_text(TEXT)
    (tmp_path / "gold" / "sub" / "a.ann").write_text(GOLD)
    (tmp_path / "guess" / "sub" / "a.ann").write_text("T9\tSITE 0 4;15 19\tleft knee\n")
    return tmp_path


def test_folders(folders):
    texts = read_brat(folders / "gold", folders / "guess")
    assert texts.names == ("sub/a",)
    assert texts.lengths.tolist() == [4]
    counts = count_exact(texts)
    assert (counts.tp.tolist(), counts.den_r.tolist()) == ([[1]], [[2]])


def test_two_files(folders):
    texts = read_brat(folders / "gold" / "sub" / "a.ann", folders / "guess" / "sub" / "a.ann")
    assert count_exact(texts).tp.tolist() == [[1]]


def test_a_missing_file_is_named(folders):
    (folders / "guess" / "sub" / "b.ann").write_text("")
    with pytest.raises(SidesMismatch, match='1 only in the prediction: "sub/b"'):
        read_brat(folders / "gold", folders / "guess")
    with pytest.raises(SidesMismatch, match=r"two .ann files or two folders"):
        read_brat(folders / "gold", folders / "guess" / "sub" / "b.ann")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1 SITE 0 4 left", "a.ann:1:1: expected an annotation"),
        ("X1\tSITE 0 4\tleft", "a.ann:1:1: expected an annotation"),
        ("T1\tSITE 0-4\tleft", "expected `Type start end"),
        ("T1\tSITE 0 4\tright", 'the text at 0 4 is "left", the annotation has "right"'),
        ("T1\tSITE 0 3\tlef", "boundary inside the token"),
        ("T1\tSITE 0 99\tleft", "not inside its text"),
    ],
)
def test_bad_lines_are_named(folders, line, message):
    (folders / "guess" / "sub" / "a.ann").write_text(line)
    with pytest.raises(InputError, match=message):
        read_brat(folders / "gold", folders / "guess")


def test_the_text_is_needed_and_the_same(folders):
    (folders / "guess" / "sub" / "a.txt").write_text(TEXT.replace("right", "wrong"))
    with pytest.raises(SidesMismatch, match="diverge at character 9"):
        read_brat(folders / "gold", folders / "guess")
    for side in ("gold", "guess"):
        (folders / side / "sub" / "a.txt").unlink(missing_ok=True)
    with pytest.raises(InputError, match="no text beside it"):
        read_brat(folders / "gold", folders / "guess")

"""Packed files and parts of files, as every reader opens them."""

import gzip
import io
import pickle
import sys
from types import ModuleType

import numpy as np
import pytest
import zstandard

from tallystick.errors import InputError, TallystickError
from tallystick.files.lines import Lines
from tallystick.files.pairing import Repeats, stable_numbers
from tallystick.files.source import Pieces, Source, open_packed, unpacked_name

TEXT = "".join(f'{{"id": {k}, "word": "wörd"}}\n' for k in range(20_000)).encode()


def packed(path, ending):
    name = path / f"a.jsonl{ending}"
    data = gzip.compress(TEXT) if ending == ".gz" else zstandard.ZstdCompressor().compress(TEXT)
    name.write_bytes(data)
    return str(name)


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_every_way_of_reading_unpacks(tmp_path, ending):
    name = packed(tmp_path, ending)
    lines = Lines(name)
    assert Source.of(name).read() == TEXT
    assert b"".join(Pieces(name)) == TEXT
    assert b"".join(line for portion in lines.portions() for line in portion.lines) == TEXT
    assert lines.position == lines.size
    assert unpacked_name(name).endswith("a.jsonl")


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_file_that_is_cut_off_is_an_error_everywhere(tmp_path, ending):
    name = packed(tmp_path, ending)
    with open(name, "r+b") as stream:
        stream.truncate(2000)
    for read in (lambda n: Source.of(n).read(), lambda n: list(Pieces(n)), lambda n: list(Lines(n).portions())):
        with pytest.raises(InputError, match=r"is not a complete (gzip|zstd) file"):
            read(name)


def test_frames_of_zstd_one_after_the_other(tmp_path):
    name = tmp_path / "two.zst"
    name.write_bytes(b"".join(zstandard.ZstdCompressor().compress(half) for half in (TEXT[:1000], TEXT[1000:])))
    with open_packed(name) as stream:
        assert stream.read() == TEXT


def test_without_the_package_zstd_says_what_to_install(tmp_path, monkeypatch):
    name = packed(tmp_path, ".zst")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(TallystickError, match=r"pip install 'tallystick\[zst\]'"):
        Source.of(name).read()


# Parts


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.txt"
    path.write_bytes(b"head\nb1\nb2\nc1\nc2\nc3\n")
    return str(path)


PART = ((0, 5, 1), (11, 20, 4))


def test_every_reader_opens_a_part_of_a_file(file):
    part = Source.part(file, PART)
    assert Source.of(part).read() == b"head\nc1\nc2\nc3\n"
    assert b"".join(Pieces(part)) == b"head\nc1\nc2\nc3\n"
    (portion,) = Lines(part).portions()
    assert portion.lines[1] == b"c1\n"
    assert portion.numbers == [1, 4, 5, 6]
    assert part.text().split("\n")[3] == "c3"


def test_lines_of_a_part_are_lines_of_the_file(file):
    part = Source.part(file, PART)
    assert [part.line(k) for k in (1, 2, 3, 4)] == [1, 4, 5, 6]
    assert part.lines_of_file(np.array([1, 2, 3, 4, -1])).tolist() == [1, 4, 5, 6, -1]
    assert str(part.place(3)) == f"{file}:5"
    assert str(part.error("stands twice", 3, 2)) == f"{file}:5:2: stands twice"
    assert str(Pieces(part).error("no", 4)) == f"{file}:6: no\n    c3"
    assert str(part) == file


def test_a_part_travels_to_another_process(file):
    again = pickle.loads(pickle.dumps(Source.part(file, PART, by_name=True)))
    assert (again.read(), again.line(2), again.by_name) == (b"head\nc1\nc2\nc3\n", 4, True)


def test_a_bad_byte_of_a_part_is_told_by_its_line_in_the_file(tmp_path):
    path = tmp_path / "f.txt"
    path.write_bytes(b"one\ntwo\nthr\xe9e\n")
    with pytest.raises(InputError, match=r"f\.txt:3: byte 0xe9 is not UTF-8"):
        Source.part(path, ((4, 13, 2),)).text()


def test_what_can_be_read_once_is_kept_by_its_source(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    source = Source.of("-")
    assert source.reads_once
    assert source.head() == b""
    assert [source.read(), source.read(), b"".join(Pieces(source))] == [b"a\nb\n"] * 3
    assert not source.reads_once
    assert str(source) == "<stdin>"


def test_a_part_of_a_file_that_has_shrunk_is_an_error(file):
    with pytest.raises(InputError, match="is shorter than it was"):
        Source.part(file, ((0, 1000, 1),)).read()


# Ids that come twice


@pytest.mark.parametrize("buffer", [4, 7, 1000])
def test_repeated_ids_are_found_whatever_fits_into_memory(buffer):
    keys = [*range(50), "a", "b", 7, "a", *range(100, 130)]
    repeats = Repeats(buffer)
    for k in range(0, len(keys), 6):
        repeats.add_numbers(stable_numbers(keys[k : k + 6]))
    assert sorted(repeats.found().tolist()) == sorted(stable_numbers([7, "a"]).tolist())
    assert repeats.count == len(keys)


def test_numbers_of_ids_tell_text_from_integers_and_are_the_same_everywhere():
    one, other = stable_numbers([1, "1"]).tolist()
    assert one != other
    assert stable_numbers(["doc-1"]).tolist() == [14860499948751163104]


def test_no_repeats_none_found():
    repeats = Repeats(8)
    repeats.add([f"k{k}" for k in range(100)])
    assert len(repeats.found()) == 0


def test_a_reader_that_is_thrown_away_in_the_middle_of_an_import_of_zstd_is_silent(tmp_path, monkeypatch):
    """Which the garbage collector does: the module is there by then, but nothing is in it yet."""
    (tmp_path / "a.txt").write_bytes(TEXT)
    source = Source.of(str(tmp_path / "a.txt"))
    reading = source.reading()
    reading.__enter__()
    monkeypatch.setitem(sys.modules, "zstandard", ModuleType("zstandard"))
    with pytest.raises(GeneratorExit):
        reading.gen.throw(GeneratorExit())

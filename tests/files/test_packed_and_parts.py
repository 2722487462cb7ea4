"""Packed files and parts of files, as every reader opens them."""

import gzip
import sys

import pytest
import zstandard

from tallystick.errors import InputError, Place, SidesMismatch, TallystickError
from tallystick.files.lines import Lines, Pieces
from tallystick.files.pairing import Repeats, stable_numbers
from tallystick.files.parts import Part, at_hand, part_at_hand, told, told_error
from tallystick.files.source import open_packed, read_bytes, unpacked_name

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
    assert read_bytes(name) == TEXT
    assert b"".join(Pieces(name)) == TEXT
    assert b"".join(line for portion in lines.portions() for line in portion.lines) == TEXT
    assert lines.position == lines.size
    assert unpacked_name(name).endswith("a.jsonl")


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_file_that_is_cut_off_is_an_error_everywhere(tmp_path, ending):
    name = packed(tmp_path, ending)
    with open(name, "r+b") as stream:
        stream.truncate(2000)
    for read in (read_bytes, lambda n: list(Pieces(n)), lambda n: list(Lines(n).portions())):
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
        read_bytes(name)


# Parts


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.txt"
    path.write_bytes(b"head\nb1\nb2\nc1\nc2\nc3\n")
    return str(path)


def test_a_part_is_opened_by_its_name_while_it_is_at_hand(file):
    part = Part(file, ((0, 5, 1), (11, 20, 4)))
    assert part.name.endswith("f.txt")
    with at_hand(part, None):
        assert read_bytes(part.name) == b"head\nc1\nc2\nc3\n"
        assert b"".join(Pieces(part.name)) == b"head\nc1\nc2\nc3\n"
        lines = [line for portion in Lines(part.name).portions() for line in portion.lines]
        assert lines[1] == b"c1\n"
    assert part_at_hand(part.name) is None
    with pytest.raises(InputError, match="no such file"):
        read_bytes(part.name)


def test_lines_of_a_part_are_lines_of_the_file(file):
    part = Part(file, ((0, 5, 1), (11, 20, 4)))
    assert [part.line(k) for k in (1, 2, 3, 4)] == [1, 4, 5, 6]
    assert told(f"see {part.name}:3 and {part.name}", part) == f"see {file}:5 and {file}"
    error = told_error(InputError("stood in line 2 already", Place(part.name, 3)), part)
    assert str(error) == f"{file}:5: stood in line 4 already"
    assert isinstance(told_error(SidesMismatch(part.name), part), SidesMismatch)


def test_a_part_of_a_file_that_has_shrunk_is_an_error(file):
    with pytest.raises(InputError, match="is shorter than it was"):
        Part(file, ((0, 1000, 1),)).read()


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
    assert stable_numbers(["doc-1"]).tolist() == [12547232326191739272]


def test_no_repeats_none_found():
    repeats = Repeats(8)
    repeats.add([f"k{k}" for k in range(100)])
    assert len(repeats.found()) == 0

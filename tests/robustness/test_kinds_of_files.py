"""What is no file, or one that can be read only once."""

import gzip
import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from robustness.reading import READERS
from running import PATIENCE
from tallystick.errors import InputError
from tallystick.files import source as limits
from tallystick.files.lines import Lines
from tallystick.files.source import Pieces, Source, read_text

READ = {
    "bytes": lambda name: Source.of(name).read(),
    "text": read_text,
    "pieces": Pieces,
    "lines": lambda name: list(Lines(name).portions()),
}


@pytest.mark.parametrize("way", READ)
def test_what_is_no_file(way, tmp_path):
    with pytest.raises(InputError, match="is a directory, expected a file"):
        READ[way](tmp_path)
    with pytest.raises(InputError, match="no such file"):
        READ[way](tmp_path / "none")
    with pytest.raises(InputError, match=r"is not a file name|no such file"):
        READ[way]("a\0b")
    if os.path.exists("/dev/zero"):
        with pytest.raises(InputError, match="is a device, expected a file"):
            READ[way]("/dev/zero")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("way", READ)
def test_a_file_that_may_not_be_read(way, tmp_path):
    file = tmp_path / "secret"
    file.write_text("x")
    file.chmod(0)
    with pytest.raises(InputError, match="cannot be read \\(Permission denied\\)"):
        READ[way](file)


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_with_a_name_is_read_once_and_for_all(name, tmp_path):
    """`tallystick score ... <(zcat gold.gz) ...`: nothing may be opened twice, or the second time waits for ever."""
    target = READERS[name]
    if target.suffix == ".ann" or name.startswith("spans-"):
        pytest.skip("a format that is known by its name, or found out by looking: that of a pipe has to be named")
    if name == "figures":
        pytest.skip("the target runs the command five times, once for each format")
    (tmp_path / "plain").mkdir()
    ends = []
    for side in ("reference", "predicted"):
        pipe = tmp_path / f"{side}{target.suffix}"
        os.mkfifo(pipe)
        ends.append(str(pipe))
        threading.Thread(target=_feed, args=(pipe, target.seeds[0]), daemon=True).start()
    target.run(*ends)


def _feed(pipe, data):
    with open(pipe, "wb") as stream:
        stream.write(data)


def test_both_sides_from_the_shell(tmp_path):
    command = (
        f"{sys.executable} -m tallystick score spans --input jsonl <(cat g) <(cat g) && "
        f"{sys.executable} -m tallystick score spans <(cat i) <(cat i) && "
        f"{sys.executable} -m tallystick score records - <(cat g) < g"
    )
    (tmp_path / "g").write_text('{"id": "1", "text": "a b", "spans": [[0, 1, "X"]]}\n')
    (tmp_path / "i").write_text("a B-X\nb O\n")
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\t1.0\t") >= 3


def bomb(path, unpacked=200 << 20, sign=b"0"):
    with gzip.open(path, "wb", compresslevel=9) as stream:
        for _ in range(unpacked >> 20):
            stream.write(sign * (1 << 20))
    return path


@pytest.fixture(scope="module")
def bombed(tmp_path_factory):
    return bomb(tmp_path_factory.mktemp("bomb") / "bomb.jsonl.gz", 80 << 20)


@pytest.mark.parametrize("way", READ)
def test_a_packed_file_does_not_fill_the_memory(way, bombed):
    file = bombed
    with pytest.raises(InputError, match=r"unpacks to more than 100 times its size.*TALLYSTICK_UNPACK_RATIO"):
        list(READ[way](file))


def test_nor_does_one_that_zstandard_packed(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    file = tmp_path / "bomb.jsonl.zst"
    packer = zstandard.ZstdCompressor(level=3)
    with file.open("wb") as stream, packer.stream_writer(stream) as packed:
        for _ in range(1024):
            packed.write(b"0" * (1 << 20))
    assert file.stat().st_size < 100_000
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        Source.of(file).read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600 << 20


def test_the_ratio_can_be_raised_and_a_small_file_may_be_as_dense_as_it_likes(tmp_path, monkeypatch):
    small = tmp_path / "small.jsonl.gz"
    small.write_bytes(gzip.compress(b'{"a": 1}\n' * 500_000))
    assert small.stat().st_size * limits.RATIO < 9 * 500_000
    assert len(Source.of(small).read()) == 9 * 500_000
    file = bomb(tmp_path / "dense.gz", limits.ALWAYS_FINE + (8 << 20), b"\n")
    with pytest.raises(InputError, match="times its size"):
        Source.of(file).read()
    monkeypatch.setenv("TALLYSTICK_UNPACK_RATIO", "2000")
    assert len(Source.of(file).read()) == limits.ALWAYS_FINE + (8 << 20)
    monkeypatch.setenv("TALLYSTICK_UNPACK_RATIO", "many")
    with pytest.raises(InputError, match="expected a number above 0 in the environment's TALLYSTICK_UNPACK_RATIO"):
        Source.of(file).read()


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("cut", [5, 30])
def test_a_packed_file_that_is_cut_off_or_broken(way, cut, tmp_path):
    file = tmp_path / "cut.jsonl.gz"
    packed = gzip.compress(json.dumps({"a": list(range(1000))}).encode())
    file.write_bytes(packed[:-cut])
    with pytest.raises(InputError, match="is not a complete gzip file"):
        list(READ[way](file))
    file.write_bytes(packed[:20] + b"\xff\xff\xff" + packed[23:])
    with pytest.raises(InputError, match="is not a complete gzip file"):
        list(READ[way](file))


def test_a_report_does_not_replace_a_device_or_a_link(tmp_path):
    from tallystick.files.writing import write_atomically

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "text")
    reader.join()
    assert found == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    write_atomically(link, "text")
    assert link.is_symlink()
    assert target.read_text() == "text"

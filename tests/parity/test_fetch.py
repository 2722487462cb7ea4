"""Fetching from a server of our own and from a folder: checksums, what is there already, and going on after a break."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.parity import fetch as fetching

CONTENT = bytes(range(256)) * 2000
SUM = hashlib.sha256(CONTENT).hexdigest()


class Server(BaseHTTPRequestHandler):
    """Serves one file, from anywhere in it; `asked` are the ranges."""

    asked: list = []

    def do_GET(self):
        begin = int((self.headers.get("Range") or "bytes=0-").split("=")[1].split("-")[0])
        self.asked.append((self.path, begin))
        if not self.path.endswith("/good.bin"):
            self.send_error(404)
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(CONTENT) - begin))
        self.end_headers()
        self.wfile.write(CONTENT[begin:])

    def log_message(self, *_):
        pass


@pytest.fixture
def base():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Server.asked = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def declare(monkeypatch, *files):
    one = {"name": "it", "what": "w", "repository": "o/r", "commit": "c0", "licence": "CC0", "files": list(files)}
    monkeypatch.setattr(fetching, "sources", lambda: [one])


def test_from_a_server_and_not_again(base, tmp_path, monkeypatch, capsys):
    declare(monkeypatch, {"path": "a/good.bin", "to": "data/good.bin", "sha256": SUM})
    assert fetching.fetch(tmp_path, base)
    assert (tmp_path / "data/good.bin").read_bytes() == CONTENT
    assert "licence: CC0" in capsys.readouterr().out
    assert fetching.fetch(tmp_path, base)
    assert Server.asked == [("/o/r/c0/a/good.bin", 0)]


def test_goes_on_where_it_broke_off(base, tmp_path, monkeypatch):
    declare(monkeypatch, {"path": "good.bin", "to": "good.bin", "sha256": SUM})
    (tmp_path / "good.bin.part").write_bytes(CONTENT[:1000])
    assert fetching.fetch(tmp_path, base)
    assert Server.asked == [("/o/r/c0/good.bin", 1000)]
    assert (tmp_path / "good.bin").read_bytes() == CONTENT


def test_what_cannot_be_had_or_is_another_file_is_named(base, tmp_path, monkeypatch, capsys):
    declare(
        monkeypatch,
        {"path": "gone", "to": "gone"},
        {"path": "good.bin", "to": "other", "sha256": "0" * 64},
        {"path": "good.bin", "to": "good", "sha256": SUM},
    )
    assert not fetching.fetch(tmp_path, base)
    said = capsys.readouterr().out
    assert "NOT FETCHED (HTTP Error 404" in said
    assert f"NOT TAKEN (its SHA-256 is {SUM}" in said
    assert [file.name for file in tmp_path.iterdir()] == ["good"]


def test_from_a_folder_with_the_repositories(tmp_path, monkeypatch):
    declare(monkeypatch, {"path": "a/x.txt", "to": "x.txt"})
    (tmp_path / "repos/o/r/a").mkdir(parents=True)
    (tmp_path / "repos/o/r/a/x.txt").write_text("here")
    assert fetching.fetch(tmp_path / "out", str(tmp_path / "repos"))
    assert (tmp_path / "out/x.txt").read_text() == "here"


def test_every_source_says_what_it_is_and_its_licence():
    for source in fetching.sources():
        assert source["what"]
        assert source["licence"]
        assert len(source["commit"]) == 40
        for one in fetching.files_of(source):
            assert not one.sha256 or len(one.sha256) == 64
            assert one.to.startswith(("data/", "peers/"))

"""Where reports, tallies and pictures are written: files, links, pipes, what a shell has open."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from running import PATIENCE, run
from tallystick.errors import InputError
from tallystick.files.writing import check_place, to_json, write_atomically

EXAMPLES = Path(__file__).resolve().parents[2] / "src" / "tallystick" / "examples"
SCORE = f"{sys.executable} -m tallystick score records {EXAMPLES}/invoices.gold.jsonl {EXAMPLES}/invoices.system.jsonl"


def shell(command, code=0):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_report_goes_through_a_pipe(place, tmp_path):
    piped = shell(f"{SCORE} --report {place} | cat").stdout
    assert "</html>" in piped
    assert piped.index("</html>") < piped.index("precision\trecall")
    shell(f"{SCORE} --report {place} > {tmp_path}/both")  # into a file neither writes over the other
    assert (tmp_path / "both").read_text() == piped


def test_a_command_of_the_shell_takes_the_tallies_and_the_report(tmp_path):
    shell(
        f"{SCORE} --report >(cat > {tmp_path}/r.html; touch {tmp_path}/done); until [ -e {tmp_path}/done ]; do sleep .1; done"
    )
    assert "</html>" in (tmp_path / "r.html").read_text()


def test_a_named_pipe_is_written_to_and_stays_one(tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    check_place(pipe)
    write_atomically(pipe, "content")
    reader.join(PATIENCE)
    assert heard == ["content"]
    assert pipe.is_fifo()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for content in ("first", "second"):
        write_atomically(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_text() == content


def test_a_place_is_checked_as_it_would_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "none" / "x", tmp_path / "file" / "x"):
        said = []
        for attempt in (check_place, lambda path: write_atomically(path, "")):
            with pytest.raises(InputError) as caught:
                attempt(place)
            said.append(str(caught.value))
        assert said[0] == said[1]
    for place in (tmp_path / "new", tmp_path / "file", "/dev/null", "/dev/stdout"):
        check_place(place)
    assert sorted(os.listdir(tmp_path)) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        check_place(tmp_path / "x")


@pytest.mark.parametrize(
    "command",
    [
        "score spans broken.iob broken.iob --tallies none/x.csv",
        "score records broken.jsonl broken.jsonl --report none/x.html",
        "score records broken.jsonl broken.jsonl --save-schema none/x.json",
        "score records broken.jsonl broken.jsonl --jobs 2 --report none/x.html",
        "compare records broken.jsonl broken.jsonl --report none/x.html",
        "compare records broken.jsonl broken.jsonl --picture none/x.svg",
        "compare figures broken.csv --picture none/x.svg",
        "check coreference --picture none/x.html",
    ],
)
def test_a_place_that_cannot_be_written_is_said_before_anything_is_read(command, tmp_path):
    for suffix in ("iob", "jsonl", "csv"):
        (tmp_path / f"broken.{suffix}").write_bytes(b"\xff{")
    done = run(*command.split(), code=2, cwd=tmp_path)
    assert done.stdout == ""
    assert done.stderr.startswith("Error: none/x.")
    assert "cannot be written (No such file or directory)" in done.stderr


@pytest.mark.parametrize("task", ["records", "spans", "coreference", "amr"])
def test_a_prediction_that_is_not_there_is_said_before_the_reference_is_read(task, tmp_path):
    (tmp_path / "broken").write_bytes(b"\xff{")
    done = shell(f"cd {tmp_path}; {sys.executable} -m tallystick score {task} broken nofile", code=2)
    assert done.stderr == "Error: nofile: no such file\n"


def test_json_is_what_the_standard_has():
    """A document's NaN is told apart from nothing; what JSON has no sign for never stands bare."""
    value = {"x": [math.nan, None, -math.inf, 1.5], math.inf: (1, "nan"), "path": Path("a")}
    expected = {"x": ["nan", None, "-inf", 1.5], "inf": [1, "nan"], "path": "a"}
    for indent in (None, 2):
        assert json.loads(to_json(value, indent=indent), parse_constant=pytest.fail) == expected
    assert to_json({"a": [1, "ä"]}, indent=None) == '{"a":[1,"ä"]}'

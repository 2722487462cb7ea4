"""Every output on a full disk (a small tmpfs) and in a folder that cannot be written (a read-only mount, since root may write anywhere else):
an exit code of 2, one line that names the place, and nothing half written."""

import os
import re
import subprocess
from pathlib import Path

import click
import pytest

from running import run
from tallystick.cli.main import tallystick
from tallystick.cli.options import Output

EXAMPLES = Path(__file__).resolve().parents[2] / "src" / "tallystick" / "examples"
INVOICES = [EXAMPLES / "invoices.gold.jsonl", EXAMPLES / "invoices.system.jsonl"]
RECORDS = ["score", "records", *INVOICES]
EVENTS = [EXAMPLES / "events.gold.jsonl", EXAMPLES / "events.system.jsonl"]

OUTPUTS = {
    "score --report": [*RECORDS, "--report", "{}/r.html"],
    "score --save": [*RECORDS, "--save", "{}/s.json"],
    "score --junit": [*RECORDS, "--fail-under", "f1=0.1", "--junit", "{}/j.xml"],
    "score --tallies": [*RECORDS, "--tallies", "{}/t.csv"],
    "score --tallies, Parquet": [*RECORDS, "--tallies", "{}/t.parquet"],
    "score --picture": [*RECORDS, "--picture", "{}/p.svg"],
    "score --save-schema": [*RECORDS, "--save-schema", "{}/s.json"],
    "score --state": [*RECORDS, "--state", "{}/state"],
    "compare --report": ["compare", "records", INVOICES[0], f"a={INVOICES[1]}", f"b={INVOICES[0]}", "--resamples", "100", "--report", "{}/r.html"],
    "compare --picture": ["compare", "records", INVOICES[0], f"a={INVOICES[1]}", f"b={INVOICES[0]}", "--resamples", "100", "--picture", "{}/p.svg"],
    "leaderboard --report": ["leaderboard", "records", INVOICES[0], f"a={INVOICES[1]}", f"b={INVOICES[0]}", "--resamples", "100", "--report", "{}/r.html"],
    "leaderboard --picture": ["leaderboard", "records", INVOICES[0], f"a={INVOICES[1]}", f"b={INVOICES[0]}", "--resamples", "100", "--picture", "{}/p.svg"],
    "suggest --output": ["suggest", "records", *INVOICES, "--output", "{}/c.yaml"],
    "judge export --store": ["judge", "export", *EVENTS, "--store", "{}/j.sqlite"],
    "judge export --jsonl": ["judge", "export", *EVENTS, "--store", "{beside}/j.sqlite", "--jsonl", "{}/q.jsonl"],
    "judge export --judgements": ["judge", "export", *EVENTS, "--store", "{beside}/j.sqlite", "--judgements", "{}/q.jsonl"],
    "judge train --out": ["judge", "train", EXAMPLES / "judged_pairs.jsonl", "--encoder", "words:{beside}/words.txt", "--out", "{}/model.json"],
    "judge import": ["judge", "import", "{}/j.sqlite", EXAMPLES / "judged_pairs.jsonl", "--annotator", "anna"],
    "demo --copy": ["demo", "--copy", "{}/examples"],
    "history --picture": ["history", "{beside}/saved.json", "--picture", "{}/p.svg"],
    "check --picture": ["check", "coreference.muc", "--samples", "3", "--picture", "{}/p.svg"],
    "judge export --label-studio": ["judge", "export", *EVENTS, "--store", "{beside}/j.sqlite", "--label-studio", "{}/project"],
}  # fmt: skip


@pytest.fixture
def mounted(tmp_path):
    """Mount a tmpfs with these options below a test's folder."""
    place = tmp_path / "mnt"
    place.mkdir()

    def mount(options: str) -> Path:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("a file system can be mounted by root alone")
        return place

    yield mount
    subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


def given(output: str, folder: Path, beside: Path) -> list[str]:
    if output == "history --picture":
        run(*RECORDS, "--save", beside / "saved.json")
    if output == "judge train --out":
        pytest.importorskip("gensim")
        words = sorted(set(re.findall(r"\w+", (EXAMPLES / "judged_pairs.jsonl").read_text().lower())))
        lines = (f"{word} {len(word)} {k % 7} 1\n" for k, word in enumerate(words))
        (beside / "words.txt").write_text(f"{len(words)} 3\n{''.join(lines)}")
    return [str(one).replace("{beside}", str(beside)).replace("{}", str(folder)) for one in OUTPUTS[output]]


def files_of(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*")}


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_full_disk(output, mounted, tmp_path):
    if "picture" in output:
        pytest.importorskip("matplotlib")
    folder = mounted("size=8k,nr_inodes=40")
    (folder / "kept").write_bytes(b"x" * 4096)
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 512)
        except OSError:
            pass
    before = files_of(folder)
    done = run(*given(output, folder, tmp_path), code=None)
    if done.returncode == 0 and output == "judge export --judgements":
        assert (folder / "q.jsonl").read_text() == ""  # there are no judgements yet, and nothing takes no room
        return
    assert done.returncode == 2, done.stderr
    assert "No space left" in done.stderr or "disk is full" in done.stderr, done.stderr
    assert str(folder) in done.stderr
    left = files_of(folder) - before
    assert (
        all(
            one.startswith(("state", "project")) and (folder / one).stat().st_size <= 4096
            for one in left
            if (folder / one).is_dir()
        )
        or not left
    )
    assert not [one for one in left if (folder / one).is_file() and not one.startswith("state")], left
    assert (folder / "kept").read_bytes() == b"x" * 4096


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_folder_that_cannot_be_written(output, mounted, tmp_path):
    if "picture" in output:
        pytest.importorskip("matplotlib")
    folder = mounted("size=64k,ro")
    done = run(*given(output, folder, tmp_path), code=2)
    assert "Read-only file system" in done.stderr or "readonly" in done.stderr.lower() or "cannot" in done.stderr, (
        done.stderr
    )
    assert str(folder) in done.stderr
    assert not files_of(folder)


def test_no_output_is_left_out():
    """Every option that writes a file, of `score records` and of each other command, is above."""

    def outputs(command: click.Command, path: tuple[str, ...]):
        if isinstance(command, click.Group):
            context = click.Context(command)
            names = [
                name
                for name in command.list_commands(context)
                if path not in (("score",), ("compare",), ("leaderboard",), ("suggest",)) or name == "records"
            ]
            for name in names:
                inner = command.get_command(context, name)
                assert inner is not None
                yield from outputs(inner, (*path, name))
        for parameter in command.params:
            said = (getattr(parameter, "help", "") or "").split(" ")
            if isinstance(parameter.type, Output) or not {"Write", "write", "Copy"}.isdisjoint(said):
                yield " ".join((*[one for one in path if one != "records"], parameter.opts[0]))

    assert not set(outputs(tallystick, ())) - set(OUTPUTS)
    assert os.name == "posix"

"""What docs/arrow.md shows is what comes out."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from running import run, sorts_structs

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "arrow.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|console)\n(.*?)```", PAGE, re.S)


def tidy(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).strip("\n")


def test_every_block_in_its_order(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    for file in (ROOT / "src" / "tallystick" / "examples").glob("invoices.*.jsonl"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    kinds = [kind for kind, _ in BLOCKS]
    assert kinds == ["python", "console", *["python"] * 4]
    for kind, block in BLOCKS:
        if kind == "console":
            command, shown = block.removeprefix("$ tallystick ").split("\n", 1)
            done = run(*shlex.split(command))
            in_order = sorted if sorts_structs() else list
            assert in_order(tidy(done.stdout).split("\n")) == in_order(tidy(shown).split("\n"))
            continue
        missing = [one for one in ("duckdb", "polars") if f"import {one}" in block and not installed(one)]
        if missing:
            continue  # the last block does the same with pyarrow
        exec(block, names)
        said = re.findall(r"^print\(.*\)  # (.*)$", block, re.M)
        assert capsys.readouterr().out.split("\n")[:-1] == said, block


def installed(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def test_a_parquet_file_is_not_cut(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [1, 2], "a": ["x", "y"]}), tmp_path / "a.parquet")
    done = run("score", "records", "a.parquet", "a.parquet", "--shard", "1MB", cwd=tmp_path)
    assert "a.parquet is read as a whole: Parquet and Arrow are read in batches" in done.stderr

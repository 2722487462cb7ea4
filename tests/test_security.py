"""Each claim of SECURITY.md: what runs code, and what runs none, whoever made it."""

import json
import pickle
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import tallystick as ts
from running import run, write
from tallystick.errors import TallystickError

ROOT = Path(__file__).parents[1]
EVIL = (
    "import pathlib\npathlib.Path('ran').write_text('x')\nclass T(dict):\n    x: int\ndef f(value):\n    return value\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)
    write("gold.jsonl", [{"id": "a", "x": 1}])
    return tmp_path


SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer", "x-tallystick": {"expression": "via(evil.py:f, exact)"}}},
}
NAMING_CODE = {
    "a type": ["--type", "evil.py:T"],
    "an expression": ["--metric", "f1(each(x=via(evil.py:f, exact)))"],
    "choices": ["--choices", "choices.yaml"],
    "a schema": ["--schema", "schema.json"],
}


@pytest.mark.parametrize("way", NAMING_CODE)
def test_code_that_is_named_runs_and_can_be_forbidden(folder, way):
    Path("choices.yaml").write_text("x: {expression: 'via(evil.py:f, exact)'}\n")
    Path("schema.json").write_text(json.dumps(SCHEMA))
    command = ["score", "records", "gold.jsonl", "gold.jsonl", *NAMING_CODE[way]]
    assert "TALLYSTICK_NO_CODE forbids" in run(*command, code=2, TALLYSTICK_NO_CODE="1").stderr
    assert not Path("ran").exists()
    run(*command, code=None)
    assert Path("ran").exists()


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch ran')",
        "f1(match(exact)).__class__",
        "exact; import os",
        "f1(match((lambda: 1)()))",
        "eval(1)",
        "exact if 1 else exact",
    ],
)
def test_an_expression_is_no_python(folder, text):
    with pytest.raises(TallystickError):
        ts.parse(text)
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['touch ran']\n",
        "x: !!python/name:os.system\n",
        "x: !!python/object/new:os.system ['touch ran']\n",
    ],
)
def test_yaml_makes_no_objects(folder, text):
    Path("choices.yaml").write_text(text)
    run("score", "records", "gold.jsonl", "gold.jsonl", "--choices", "choices.yaml", code=2)
    assert not Path("ran").exists()


class Evil:
    def __reduce__(self):
        return Path.write_text, (Path("ran"), "x")


def test_a_state_of_a_stranger_runs_nothing(folder):
    write("gold.jsonl", [{"id": f"d{k}", "x": k} for k in range(20)])
    command = [
        "score",
        "records",
        "gold.jsonl",
        "gold.jsonl",
        "--shard",
        "100B",
        "--state",
        "state",
        "--format",
        "json",
    ]
    before = json.loads(run(*command).stdout)["metrics"]
    with closing(sqlite3.connect("state/shards.sqlite")) as base, base:
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        blobs = [
            (table, column[1])
            for table in tables
            for column in base.execute(f"PRAGMA table_info({table})")
            if column[2].upper() == "BLOB"
        ]
        changed = 0
        for table, column in blobs:
            if table != "sqlite_sequence":
                changed += base.execute(
                    f"UPDATE {table} SET {column} = ? WHERE length({column}) > 40", (pickle.dumps(Evil()),)
                ).rowcount
    base.close()
    assert changed
    done = run(*command, code=None)
    assert not Path("ran").exists()
    assert done.returncode == 2 or json.loads(done.stdout)["metrics"] == before


def test_a_store_and_a_saved_result_run_nothing(folder):
    Path("store.sqlite").write_bytes(pickle.dumps(Evil()))
    write("e.jsonl", [{"id": "a", "tokens": ["x"], "events": []}])
    run("score", "arguments", "e.jsonl", "e.jsonl", "--judge", "store.sqlite", code=2)
    Path("saved.json").write_bytes(pickle.dumps(Evil()))
    run("score", "records", "gold.jsonl", "gold.jsonl", "--baseline", "saved.json", code=2)
    assert not Path("ran").exists()


def test_a_report_escapes_the_data_and_loads_nothing(folder):
    nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    write("gold.jsonl", [{"id": nasty, "x": nasty, nasty: 1}])
    write("system.jsonl", [{"id": nasty, "x": nasty + "!", nasty: 2}])
    run("score", "records", "gold.jsonl", "system.jsonl", "--report", "r.html")
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)


def test_the_web_desk_listens_to_this_machine_alone():
    from tallystick.judging import web

    assert web.LOOPBACK == "127.0.0.1"


def test_what_is_pinned_has_hashes_and_is_what_development_needs():
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    blocks = re.findall(r"^([a-z0-9][\w.-]*)==\S+(.*?)(?=^[a-z0-9]|\Z)", lock, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 50
    assert all("--hash=sha256:" in block for _, block in blocks)
    pinned = {name.replace("_", "-").lower() for name, _ in blocks}
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = re.findall(
        r'^    "([A-Za-z0-9_.-]+)[>=<;]',
        text.split("[project.optional-dependencies]")[0] + text.split("dev = [")[1].split("]")[0],
        re.MULTILINE,
    )
    assert {name.replace("_", "-").lower() for name in needed} <= pinned


@pytest.mark.parametrize("name", ["lock", "locked", "audit", "sbom", "fuzz", "matrix", "metamorphic", "kills"])
def test_what_the_policy_and_the_docs_name_can_be_made(name):
    assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_bill_of_materials_names_what_is_pinned(tmp_path):
    subprocess.run(
        [sys.executable, ROOT / ".ci/sbom", ROOT / "requirements-dev.lock", tmp_path / "sbom.json"],
        check=True,
        capture_output=True,
    )
    bill = json.loads((tmp_path / "sbom.json").read_text())
    found = {one["name"]: one for one in bill["components"]}
    assert bill["bomFormat"] == "CycloneDX"
    assert found["numpy"]["scope"] == "required"
    assert found["pytest"]["scope"] == "optional"
    assert all(one["hashes"] for one in found.values())

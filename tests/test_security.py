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
EVIL = "import pathlib\npathlib.Path('ran').write_text('x')\nclass T(dict):\n    x: int\ndef f(value):\n    return value\ndef g(x, y):\n    return float(x == y)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)
    write("gold.jsonl", [{"id": "a", "x": 1}])
    yield tmp_path
    sys.modules.pop("evil", None)


SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer", "x-tallystick": {"expression": "via(evil.py:f, exact)"}}},
}
NAMING_CODE = {
    "a type": ["--type", "evil.py:T"],
    "an expression": ["--metric", "f1(each(x=via(evil.py:f, exact)))"],
    "choices": ["--choices", "choices.yaml"],
    "a function in choices": ["--choices", "function.yaml"],
    "a schema": ["--schema", "schema.json"],
}


def _naming_code(way):
    Path("choices.yaml").write_text("x: {expression: 'via(evil:f, exact)'}\n")
    Path("function.yaml").write_text("x: {function: evil.py:g}\n")
    Path("schema.json").write_text(json.dumps(SCHEMA))
    return ["score", "records", "gold.jsonl", "gold.jsonl", *NAMING_CODE[way]]


@pytest.mark.parametrize("way", [way for way in NAMING_CODE if way != "a type"])
@pytest.mark.parametrize("more", [[], ["--jobs", "2", "--shard", "20B"]])
def test_a_text_that_names_code_runs_none_unless_that_is_allowed(folder, way, more):
    write("gold.jsonl", [{"id": f"d{k}", "x": k} for k in range(4)])
    command = [*_naming_code(way), *more]
    said = run(*command, code=2).stderr
    assert not Path("ran").exists()
    assert "evil" in said
    assert "--allow-code" in said
    done = json.loads(run(*command, "--allow-code", "--format", "json").stdout)
    assert done["metrics"]["records"]["f1"] == 1
    assert Path("ran").exists()


@pytest.mark.parametrize("way", NAMING_CODE)
def test_code_can_be_forbidden_whoever_allows_it(folder, way):
    command = [*_naming_code(way), "--allow-code"]
    assert "TALLYSTICK_NO_CODE forbids" in run(*command, code=2, TALLYSTICK_NO_CODE="1").stderr
    assert not Path("ran").exists()


def test_a_type_on_the_command_line_is_code_that_was_asked_for(folder):
    run(*_naming_code("a type"), code=None)
    assert Path("ran").exists()


def test_other_commands_and_python_import_nothing_either(folder):
    metric = "f1(each(x=via(evil:f, exact)))"
    for ask in (
        lambda: ts.parse(metric),
        lambda: ts.evaluate(metric, [{"x": 1}], [{"x": 1}]),
        lambda: ts.Evaluation(metric),
        lambda: ts.records([{"x": 1}], [{"x": 1}], metric=metric),
        lambda: ts.score([{"x": 1}], [{"x": 1}], choices={"x": {"function": "evil:g"}}),
        lambda: ts.score([{"x": 1}], [{"x": 1}], schema=SCHEMA),
        lambda: ts.templates({"d": []}, {"d": []}, fillers="via(evil:f, exact)"),
    ):
        with pytest.raises(TallystickError, match=r"evil(\.py)?:[fg]"):
            ask()
    write("calls.jsonl", [[{"name": "f", "arguments": {"x": 1}}]])
    Path("calls.yaml").write_text("'calls[*].arguments.x': {function: evil:g}\n")
    Path("type.py").write_text("Numbers = list[int]\n")
    for command in (
        ["score", "calls", "calls.jsonl", "calls.jsonl", "--choices", "calls.yaml"],
        ["compare", "records", "gold.jsonl", "one=gold.jsonl", "two=gold.jsonl", "--metric", metric],
        ["explain", "records", "gold.jsonl", "gold.jsonl", "--metric", metric, "--document", "a"],
        ["check", "f1(match(function(evil:g)))", "--type", "type.py:Numbers"],
    ):
        assert "evil:" in run(*command, code=2).stderr
    assert not Path("ran").exists()
    assert ts.records([{"x": 1}], [{"x": 1}], metric=metric, allow_code=True)["records"].f1 == 1
    assert Path("ran").exists()


def test_functions_that_only_calculate_need_no_permission(folder):
    command = ["score", "records", "gold.jsonl", "gold.jsonl", "--metric"]
    for similarity in ("via(math:sqrt, exact)", "via(tallystick:magnitude, exact)"):
        run(*command, f"f1(each(x={similarity}))")
    for harmful in ("os:system", "builtins:eval", "builtins:open", "subprocess:run", "tallystick.algebra.parse:load"):
        assert "--allow-code" in run(*command, f"f1(each(x=via({harmful}, exact)))", code=2).stderr


@pytest.mark.parametrize(
    "name",
    [
        "tallystick.structures.d/evil.py:g",
        "math:d/evil.py:g",
        "tallystick:words/evil.py:g",
        "math:__loader__.get_data",
        "math:__dict__.update",
        "builtins:str.__class__",
        "tallystick:words.__globals__.get",
        "tallystick.structures.graphs:hold.__globals__.get",
        "math:sqrt\n",
    ],
)
def test_a_name_that_only_begins_like_a_harmless_one_needs_permission(folder, name):
    file = Path(name.rpartition(":")[0])
    if file.suffix == ".py":
        file.parent.mkdir()
        file.write_text(EVIL)
    with pytest.raises(TallystickError, match="names code"):
        ts.score([{"x": 1}], [{"x": 1}], choices={"x": {"function": name}})
    assert not Path("ran").exists()


def test_a_harmless_function_does_not_let_modules_of_the_current_folder_in(folder):
    Path("rapidfuzz.py").write_text(EVIL)
    write("gold.jsonl", [{"id": "a", "x": "Ann"}])
    metric = 'f1(each(x=via(builtins:str.lower, text("levenshtein"))))'
    script = "import runpy, sys; sys.path.remove(''); runpy.run_module('tallystick', run_name='__main__')"
    command = ["score", "records", "gold.jsonl", "gold.jsonl", "--metric", metric]
    subprocess.run([sys.executable, "-c", script, *command], check=True, capture_output=True)
    assert not Path("ran").exists()


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

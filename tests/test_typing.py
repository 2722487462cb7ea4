"""What a type checker sees of a user's script: every function of a task, its options and its results."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tallystick as ts
from docsite.stubs import stub
from tallystick.tasks.contract import task_names

SOURCE = Path(ts.__file__).parent
SCRIPT = """
from pathlib import Path

import tallystick as ts

tags = [["B-PER", "O"], ["O", "B-LOC"]]
results: ts.Results = ts.spans(tags, tags, metrics=["segment", "iou"], iou=0.7, scheme="IOB2")
f1: float | None = results["segment"].figures["f1"]
run = ts.Evaluation(task="spans", metrics="segment", beta=2.0)
batch: ts.Results = run.update(tags, tags)
gathered: ts.Results = run.compute() + batch
alone: ts.Result = ts.Evaluation("f1(match(exact))", rows=False).compute()
comparison: ts.Comparison = ts.compare({"A": gathered, "B": batch})
text: str = comparison.to_latex(columns=["segment"], digits=1, best=True, uncertainty="pm") + str(comparison.by("label"))
ts.spans(Path("both.txt"), together=True, metrics="segment")
ts.coreference([[(0, 2), (5, 6)]], {"d1": [[(0, 2)]]}, "conll", drop_singletons=True)
ts.dependencies([(2, "nsubj"), (0, "root")], open("system.conllu"), several_roots=True)
ts.relations([("born-in", (0, 2), (5, 6))], [], symmetric="spouse", train=["train.json"])
ts.events([{"type": "attack", "trigger": (3, 4)}], [], strip_articles=True)
ts.arguments("gold.json", Path("system.json"), parses=Path("gold.conllu"), partial="0.5", judge="store.sqlite")
ts.roles({"PerpInd": [["guerrillas"]]}, {}, strings="exact")
ts.nary([{"Task": [(0, 2)]}], [], hierarchy=None)
ts.templates([{"type": "attack", "slots": {}}], [], preset="gtt")
ts.amr("(a / b)", ["(a / b)"], preset="smatch", time_limit=1.5)
ts.hierarchies([("a", "b")], "(a(b))", kinds=("membership",), transitive=False)
ts.records({"total": 1}, [{"total": 1}], credit="all")
ts.calls([[{"name": "f", "arguments": {}}]], "calls.jsonl", strings="bfcl", ordered=True)
ts.calls([[{"name": "f", "arguments": {}}]], "calls.jsonl", strings="bfcl")
ts.score({"total": 1}, '{"total": 1}', credit="all")
for name, result in results.items():
    print(name.upper(), result.f1, result.signature.upper())
print(results.to_latex(digits=2).upper(), results.table(), results.errors(), results.explain("0"))
"""
WRONG = {
    'ts.spans([], [], sheme="IOB2")': "sheme",
    'ts.spans([], [], scheme="IOB9")': "IOB9",
    "ts.coreference([], [], metrics=3)": "int",
    'ts.amr("(a / b)")': "predicted",
}


def check(tmp_path: Path, script: str) -> str:
    """What `mypy --strict` says about a script."""
    api = pytest.importorskip("mypy.api")
    file = tmp_path / "script.py"
    file.write_text(script)
    output: str = api.run(
        ["--strict", "--no-error-summary", "--cache-dir", str(SOURCE.parents[1] / ".mypy_cache"), str(file)]
    )[0]
    return output


def test_a_script_with_every_function_is_well_typed_and_mistakes_are_found(tmp_path):
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(SCRIPT))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert {*task_names(), "score"} <= called
    script = SCRIPT + "\n".join(WRONG) + "\n"
    said = [line for line in check(tmp_path, script).splitlines() if ": error:" in line]
    first = SCRIPT.count("\n") + 1
    found = {int(line.split(":")[1]) - first: line for line in said if "script.py" in line}
    assert set(found) == set(range(len(WRONG))), said
    for place, word in enumerate(WRONG.values()):
        assert word in found[place]


def test_the_stub_is_what_the_declarations_say():
    assert (SOURCE / "tasks" / "functions.pyi").read_text() == stub(), (
        "run: python -m docsite.stubs > src/tallystick/tasks/functions.pyi"
    )


def test_what_is_public_is_what_dir_lists():
    listed = dir(ts)
    assert {*task_names(), *ts.__all__} <= set(listed)
    assert not [
        name
        for name in listed
        if name.startswith("_") or name in ("Any", "TYPE_CHECKING", "annotations", "import_module")
    ]
    for name in listed:
        assert getattr(ts, name) is not None
        assert not isinstance(getattr(ts, name), type(ast)), f"{name} is a module"

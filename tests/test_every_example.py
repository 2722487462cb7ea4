"""No Python on a page goes unrun: what no other test runs is run here, and what its comments promise is compared."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HERE = ("index", "kernels", "hierarchies", "report", "templates", "calls", "judging_models")
ELSEWHERE = {
    "algebra": "algebra/test_own_similarity.py", "amr": "test_pages.py", "arguments": "test_task_pages.py", "arrow": "test_arrow_page.py",
    "choices": "docsite/test_reference.py", "comparing": "test_comparing_page.py", "confidence": "test_pages.py",
    "coreference": "tasks/test_coreference_page.py", "dependencies": "test_task_pages.py", "engines": "run/test_engines_page.py",
    "equations": "tasks/test_equations_page.py", "errata": "test_errata_page.py", "errors": "test_errors_page.py", "events": "test_task_pages.py", "faq": "test_tutorials.py",
    "judging": "judging/test_judging_page.py", "migrating": "test_migrating_page.py", "nary": "test_task_pages.py", "orders": "test_pages.py",
    "output": "docsite/test_reference.py", "python": "test_python_page.py", "records": "tasks/test_score.py", "relations": "test_task_pages.py",
    "results": "test_results_page.py", "rewards": "adapters/test_rewards.py", "roles": "test_task_pages.py", "scorers": "test_scorers_page.py",
    "spans": "test_task_pages.py",
}  # fmt: skip
"""The test that runs the examples of a page. Tutorials and the gallery are run by tests/test_tutorials.py and tests/gallery."""


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_every_page_with_python_is_run_somewhere():
    pages = {page.stem for page in DOCS.glob("*.md") if blocks(page) and not page.stem.startswith("tutorial")}
    assert not pages - {*HERE, *ELSEWHERE}, "run its Python in a test, and name that in ELSEWHERE; or put it into HERE"
    for page, test in ELSEWHERE.items():
        text = (ROOT / "tests" / test).read_text(encoding="utf-8")
        assert page in text, f"{test} does not name {page}"


@pytest.mark.parametrize("page", HERE)
def test_the_examples_of_a_page(page, tmp_path, monkeypatch):
    if page == "judging_models":
        pytest.importorskip("wordllama")
    if page == "report":
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    compared = 0
    for block in blocks(DOCS / f"{page}.md"):
        lines = block.split("\n")
        for node in ast.parse(block).body:
            said = re.search(r"  # (.+)$", lines[node.end_lineno - 1])
            if isinstance(node, ast.Expr) and said and not ast.unparse(node).startswith("print"):
                assert repr(eval(compile(ast.Expression(node.value), page, "eval"), names)) == said[1]
                compared += 1
            else:
                exec(compile(ast.Module([node], []), page, "exec"), names)
    assert compared or page in ("report", "index")

"""What docs/engines.md shows is what comes out, and what it names is there."""

import doctest
import re
import shlex
from pathlib import Path

from calling import call

from benchmarks.engines import score_shard, simulate

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)


def test_python():
    code = "\n".join(content for kind, content in BLOCK.findall(PAGE) if kind == "python")
    runner = doctest.DocTestRunner()
    result = runner.run(doctest.DocTestParser().get_doctest(code, {}, "engines.md", None, 0), clear_globs=False)
    assert result.attempted
    assert not result.failed


def test_commands(monkeypatch):
    monkeypatch.chdir(ROOT / "src" / "tallystick" / "examples")
    shown = [content for kind, content in BLOCK.findall(PAGE) if content.startswith("$ ")]
    assert shown
    for block in shown:
        command, expected = block.split("\n", 1)
        _, *arguments = shlex.split(command.removeprefix("$ "))
        assert call(*arguments).stdout.strip() == expected.strip()


def test_files_that_the_page_names_are_there():
    for name in re.findall(r"`((?:tests|src)/[\w/.]+\.py)`", PAGE):
        assert (ROOT / name).exists() or (ROOT / "src" / "tallystick" / name).exists(), name


def test_the_simulated_corpus_has_the_same_figures_in_any_number_of_shards():
    one = simulate(45_000, 1)
    assert one["documents"] == 45_000
    parts = [score_shard((k, n)) for k, n in ((2, 5_000), (0, 20_000), (1, 20_000))]
    for part in parts[1:]:
        parts[0].merge(part)
    assert repr(parts[0].compute().f1) == one["f1"]

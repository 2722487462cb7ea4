"""The page about models and embeddings: its command prints its tables, its example gives its figure, Table 5 is the paper's."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from running import run

pytest.importorskip("wordllama", reason="the default encoder is not installed: pip install 'tallystick[embeddings]'")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "judging_models.md").read_text(encoding="utf-8")
SEED = Path("/work/shared/seeds/003_e833decbb8adb5c1.txt")


def test_the_command_prints_the_tables_below_it():
    ((command, tables),) = re.findall(r"```\n\$ tallystick (.*?)\n```\n\n((?:(?:\|.*\n)+\n)+)", PAGE)
    done = run(*command.split(), cwd=ROOT / "src" / "tallystick" / "examples")
    assert done.stdout.strip() == tables.strip()


def test_the_example_gives_what_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    *before, last = code.strip().splitlines()
    expression, expected = re.split(r"\s+# ", last)
    names: dict = {"__name__": "page"}
    exec("\n".join(before), names)
    assert eval(expression, names) == eval(expected)


@pytest.mark.skipif(not SEED.exists(), reason="the paper's text is not here")
def test_the_paper_s_kappas_are_printed_as_they_stand():
    seed = SEED.read_text()
    for printed, ours in (("Human Semantic Matcher", "two people"), ("word2vec", "word2vec"), ("GloVe", "GloVe"), ("SentenceBERT", "SentenceBERT"), ("BERTScore", "BERTScore")):  # fmt: skip
        expected = [
            value.removeprefix("0") for row in re.findall(rf"^{printed}\t(\S+)\t(\S+)$", seed, re.M) for value in row
        ]
        (line,) = re.findall(rf"^\| {ours}.*$", PAGE, re.M)
        assert re.findall(r"\.\d\d", line) == expected


@pytest.mark.parametrize("command", ["ask", "train"])
def test_help_loads_nothing_heavy(command):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tallystick", "judge", command, "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert not loaded & {"numpy", "openai", "sklearn", "wordllama", "gensim", "rich", "msgspec", "sqlite3"}

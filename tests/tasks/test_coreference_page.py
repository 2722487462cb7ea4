"""The page on coreference shows what the code does."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coreference.md"


def test_the_examples_of_the_page():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried >= 7
    assert failed == 0

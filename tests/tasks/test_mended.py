"""Errors of every task: "if mended" is the score of the mended prediction, and nothing that costs something escapes.

`python -m benchmarks.mended` does the same with 200 corpora of each task.
"""

import pytest

from benchmarks.mended import check
from benchmarks.mended_data import SAMPLES


@pytest.mark.parametrize("task", SAMPLES)
def test_what_if_mended_is_the_score_of_the_mended_prediction(task):
    assert [problem for seed in range(2) for problem in check(task, seed)] == []

"""The adversarial sizes of `python -m benchmarks sturdiness`, those that are quick at their full size."""

import pytest

from benchmarks.sturdiness import CASES, attempt, failure

SLOW = ("100 MB", "4 GB", "100,000 items in a list, exact", "4,000", "limit of 5 s", "tree")
QUICK = [case for case in CASES if not any(word in case.name for word in SLOW)]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_it_ends_in_time_and_within_its_memory(case):
    outcome = attempt(case, case.size)
    assert not failure(case, outcome)


@pytest.mark.parametrize("case", [case for case in CASES if case not in QUICK], ids=lambda case: case.name)
def test_a_tenth_of_the_large_ones(case):
    """The whole size ends as stated; a tenth may end in a result where the whole does not, but it ends well."""
    outcome = attempt(case, case.size // 10)
    assert outcome.code in (0, 2), outcome.said
    assert "Traceback" not in outcome.said
    assert outcome.seconds <= case.seconds
    assert outcome.megabytes <= case.megabytes


def test_who_has_the_memory_may_raise_the_limit(monkeypatch):
    from tallystick.engine.arrays import check_pairs
    from tallystick.errors import TooLarge

    with pytest.raises(TooLarge, match=r"1,001 pairs .* more than 1,000; buy memory; or, .* TALLYSTICK_MOST_PAIRS"):
        check_pairs(1001, "buy memory", 1000)
    monkeypatch.setenv("TALLYSTICK_MOST_PAIRS", "2000")
    check_pairs(1001, "buy memory", 1000)
    monkeypatch.setenv("TALLYSTICK_MOST_PAIRS", "many")
    with pytest.raises(TooLarge, match="expected a whole number"):
        check_pairs(1001, "buy memory", 1000)

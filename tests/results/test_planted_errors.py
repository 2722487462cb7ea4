"""Errors of known kinds, planted in generated invoices: the groups have them, and suggestions keep their promises."""

import pytest

from benchmarks import planted


@pytest.mark.parametrize("seed", [0, 1])
def test_groups_have_what_was_planted(seed):
    gold, system, truth = planted.generate(400, seed)  # an alias is one from the third time on
    table = planted.measure(truth, planted.found_kinds(gold, system))
    assert set(table) == set(planted.KINDS)
    for kind, (there, found, precision, recall) in table.items():
        assert there >= 5, kind
        assert min(precision, recall) >= planted.LEAST, (kind, there, found)


def test_suggestions_keep_their_promises():
    gold, system, _ = planted.generate(60, 2)
    assert planted.broken_promises(gold, system) == []

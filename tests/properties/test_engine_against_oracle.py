"""The engine, which works on whole columns, says what the oracle says, which works on one pair of values."""

import math

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import LEAVES, corpora, metrics

import tallystick as ts


def assert_tallies(metric, reference, predicted, rows):
    assert rows.shape == (len(reference), 4)
    for x, y, row in zip(reference, predicted, rows.tolist(), strict=True):
        expected = oracle.tally(metric, x, y)
        assert row == pytest.approx(expected, rel=1e-9, abs=1e-9), f"{metric}\n{x}\n{y}"


@given(st.data())
@settings(max_examples=300)
def test_every_tally_is_the_oracles(data):
    shape = data.draw(metrics())
    reference, predicted = data.draw(corpora(shape))
    assert_tallies(shape.node, reference, predicted, ts.evaluate(shape.node, reference, predicted).rows)

"""The official F of many rows at once is that of each row by fractions."""

import numpy as np

from tallystick.tasks.templates.muc4 import COUNTS, OfficialCounts, f_measures


def test_many_rows_are_each_row():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 60, (500, 6)) * rng.integers(0, 2, (500, 6))
    rows[0] = 0
    found = OfficialCounts().figures(rows.astype(float))["official_f1"]
    expected = [f_measures(dict(zip(COUNTS, row, strict=True)))[0] for row in rows.tolist()]
    assert [None if np.isnan(value) else round(100 * value, 2) for value in found] == expected

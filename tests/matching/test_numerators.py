"""The sums that a normaliser divides: one S where there is one, two where a constraint is one-sided."""

from __future__ import annotations

from tallystick import evaluate, exact, f1, match


def test_a_nested_f_is_divided_once() -> None:
    # 2S / (n + m), to the last bit; by way of P and R it would be rounded three times, and a threshold miss.
    sizes = [(n, m, s) for n in range(1, 12) for m in range(1, 12) for s in range(1, min(n, m) + 1)]
    references = [[list(range(n))] for n, _, _ in sizes]
    predictions = [[[*range(s), *range(-1, s - m - 1, -1)]] for _, m, s in sizes]
    result = evaluate(f1(match(f1(match(exact)))), references, predictions)
    assert result.rows[:, 0].tolist() == [2 * s / (n + m) for n, m, s in sizes]

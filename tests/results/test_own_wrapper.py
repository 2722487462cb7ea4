"""A similarity of somebody's own around another one: a leaf of the table by field and of the explanation."""

from dataclasses import dataclass
from typing import Any

import tallystick as ts
from tallystick.algebra.node import Similarity


@dataclass(frozen=True, repr=False)
class Halved(Similarity):
    """½ φ, written without any of the house's own wrappers."""

    inner: Similarity
    name = "halved"

    def _encode(self, reference: Any, predicted: Any, scope: Any) -> Any:
        return self.inner.encode(reference, predicted, scope)

    def _pairs(self, r: Any, p: Any, blocks: Any) -> Any:
        return self.inner.pairs(r, p, blocks).scaled(0.5)

    def _selves(self, column: Any) -> Any:
        return 0.5 * self.inner.selves(column)


GOLD, SYSTEM = [{"a": "x", "b": {"c": 1, "d": 2}}], [{"a": "x", "b": {"c": 1, "d": 3}}]


def test_it_is_a_row_of_the_table_by_field():
    metric = ts.f1(ts.each(a=Halved(ts.exact), b=Halved(ts.each(c=ts.exact, d=ts.exact))))
    result = ts.evaluate(metric, GOLD, SYSTEM)
    assert result.tally == {"num_p": 1.0, "den_p": 1.5, "num_r": 1.0, "den_r": 1.5}
    fields = result.by_field()
    assert [(one.path, one.tally["num_r"]) for one in fields] == [("a", 0.5), ("b", 0.5)]
    assert "a" in str(result.explain(0))
    assert "b" in str(result.explain(0))

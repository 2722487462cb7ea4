"""What follows about a part of a metric as a kernel (appendix B of "A Unified View"), from the lemmas alone.

A kernel κ is symmetric and positive semi-definite; it is *strong* (Kriege et al. 2016) if κ(x, y) ≥ min(κ(x, z), κ(z, y)).
`tallystick.laboratory.kernels` says what is done with it. A node that says nothing claims nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.frozen import frozen


@frozen
class Kernel:
    """Whether a part is a kernel, a strong one, nothing but 0 and 1; and from which lemmas that follows."""

    kernel: bool = False
    strong: bool = False
    indicator: bool = False
    lemmas: tuple[str, ...] = ()

    def because(self, lemma: str, *, kernel: bool = True, strong: bool = False, indicator: bool = False) -> Kernel:
        """What follows from this by one more lemma."""
        return Kernel(kernel, strong and kernel, indicator, tuple(dict.fromkeys((*self.lemmas, lemma))))

    def keep(self, lemma: str, *, indicator: bool | None = None) -> Kernel:
        """As much as is known already, by one more lemma."""
        return self.because(
            lemma,
            kernel=self.kernel,
            strong=self.strong,
            indicator=self.indicator if indicator is None else indicator,
        )

    @staticmethod
    def joined(parts: Sequence[Kernel]) -> Kernel:
        """The lemmas of all parts."""
        return Kernel(lemmas=tuple(dict.fromkeys(lemma for part in parts for lemma in part.lemmas)))


UNKNOWN = Kernel()
DELTA = Kernel(True, True, True, ("δ is a strong kernel (lemma 1)",))
STRONG_SUM = "Σ↔ of a strong kernel (lemma 5)"
F_LEMMA, J_LEMMA = "F of a kernel (lemma 7)", "J of a kernel (lemma 8)"

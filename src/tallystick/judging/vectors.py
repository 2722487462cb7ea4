"""Cosines that do not depend on the order of a sum.

A sum of floats changes in its last bits with the shape of a matrix, the number of threads and the processor. Here each vector
is first rounded to whole numbers,

    q = round(v / max|v| · 2^k)        with d · 2^2k < 2^53, d the length of the vectors (k = 22 for d = 256)

so that every product and every partial sum of a dot product is a whole number that a float holds exactly. A matrix product,
a sum pair by pair and a sum backwards then give one and the same number, bit for bit, and so does

    cos(x, y) = x·y / √(x·x · y·y)

which is 1 for equal vectors. Against the cosine of the unrounded vectors it is off by less than 10⁻⁶.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.engine.arrays import F64, I64

CHUNK = 8192


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of whole numbers, and their squared lengths. A vector of nothing but 0 is like no other."""

    whole: F64
    squares: F64

    def __len__(self) -> int:
        return len(self.whole)

    @staticmethod
    def of(vectors: F64) -> Vectors:
        values = np.asarray(vectors, np.float64)
        n, d = values.shape
        bits = (52 - (max(d, 1) - 1).bit_length()) // 2
        largest = np.abs(values).max(axis=1, initial=0.0) if n else np.empty(0)
        whole = np.zeros((n, d))
        used = largest > 0
        whole[used] = np.rint(values[used] / largest[used, None] * 2.0**bits)
        return Vectors(whole, np.einsum("ij,ij->i", whole, whole))

    def take(self, rows: I64) -> Vectors:
        return Vectors(self.whole[rows], self.squares[rows])

    def cosines(self, other: Vectors, i: I64, j: I64) -> F64:
        """Of row i[k] here and row j[k] there, for each k."""
        out = np.empty(len(i))
        for start in range(0, len(i), CHUNK):
            at = slice(start, start + CHUNK)
            dots = np.einsum("ij,ij->i", self.whole[i[at]], other.whole[j[at]])
            out[at] = _divided(dots, self.squares[i[at]], other.squares[j[at]])
        return out

    def rectangle(self, other: Vectors) -> F64:
        """Of every row here and every row there."""
        return _divided(self.whole @ other.whole.T, self.squares[:, None], other.squares[None, :])


def _divided(dots: F64, left: F64, right: F64) -> F64:
    lengths = np.sqrt(left * right)  # √(n · n) is n: a vector's cosine with itself is exactly 1
    return np.clip(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0), -1.0, 1.0)

"""What a language model was asked to extract from an invoice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tallystick as ts


@dataclass
class Line:
    """One line of an invoice."""

    sku: str
    description: Annotated[str, ts.text("levenshtein", "casefold", "whitespace")]
    quantity: int
    price: Annotated[float, ts.number(absolute=0.005)]
    tags: set[str]


@dataclass
class Invoice:
    """One invoice; `id` pairs the two files."""

    id: str
    vendor: Annotated[str, ts.text("equal", "casefold", "punctuation", "whitespace")]
    date: str | None
    total: Annotated[float, ts.number(absolute=0.005)]
    lines: list[Line]

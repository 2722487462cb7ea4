"""Sixty pairs of values, spelled in two ways or really different: what a sensible person expects, and what scorers say.

    python -m benchmarks.values            the table of docs/values.md
    python -m benchmarks.values --spellings    the spellings of one day and of one number

Needs `pip install stickler-eval anls_star autoevals` for the columns of the others; each is given the comparator that its own
documentation has for such values.
"""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import tallystick as ts


class Pair(NamedTuple):
    group: str
    reference: Any
    predicted: Any
    expected: int


NUMBER = {"number": {"parse": "auto"}}
CHOICES: dict[str, Any] = {
    "texts": None,
    "numbers": NUMBER,
    "amounts in texts": NUMBER,
    "dates": {"date": {"parse": "auto"}},
    "truth values": "boolean",
    "telephone numbers": {"phone": "DE"},
    "JSON in texts": {"parse": "json"},
}
"""What is chosen for each group; texts need nothing."""

PAIRS = [
    Pair("texts", "Café", "Cafe\u0301", 1),
    Pair("texts", "Zürich", "Zu\u0308rich", 1),
    Pair("texts", "Acme Ltd", "Acme\u00a0Ltd", 1),
    Pair("texts", "Acme Ltd", " Acme  Ltd\n", 1),
    Pair("texts", "Acme Ltd", "Acme\u200b Ltd", 1),
    Pair("texts", "first line second line", "first line\nsecond line", 1),
    Pair("texts", "Berlin", "Bern", 0),
    Pair("texts", "Invoice 1047", "Invoice 1074", 0),
    Pair("texts", "paid", "not paid", 0),
    Pair("texts", "A-1001", "A-1002", 0),
    Pair("numbers", 0.3, 0.1 + 0.2, 1),
    Pair("numbers", 10, 10.0, 1),
    Pair("numbers", 1000, 1e3, 1),
    Pair("numbers", 1 / 3, 0.3333333333, 1),
    Pair("numbers", 2, "2", 1),
    Pair("numbers", 1047, 1074, 0),
    Pair("numbers", 19.99, 19.98, 0),
    Pair("numbers", 1000000, 1000001, 0),
    Pair("numbers", 5, -5, 0),
    Pair("numbers", 1700000000.123, 1700000000.456, 0),
    Pair("amounts in texts", 1234.5, "1.234,50 €", 1),
    Pair("amounts in texts", 1234.5, "1 234,50", 1),
    Pair("amounts in texts", 1234.5, "1'234.50", 1),
    Pair("amounts in texts", 1234.5, "$1,234.50", 1),
    Pair("amounts in texts", -1200, "(1,200)", 1),
    Pair("amounts in texts", -40, "−40", 1),
    Pair("amounts in texts", 0.12, "12 %", 1),
    Pair("amounts in texts", 1000, "1e3", 1),
    Pair("amounts in texts", 3500000, "3.5 million", 1),
    Pair("amounts in texts", "$99", "USD 99.00", 1),
    Pair("amounts in texts", "5 €", "$5", 0),
    Pair("amounts in texts", "5 kg", "5 g", 0),
    Pair("amounts in texts", 1.2, "v1.2", 0),
    Pair("amounts in texts", 1234.5, "1,234.05", 0),
    Pair("dates", "2024-04-03", "3 April 2024", 1),
    Pair("dates", "2024-04-03", "April 3rd, 2024", 1),
    Pair("dates", "2024-04-03", "03.04.2024", 1),
    Pair("dates", "2024-04-03", "20240403", 1),
    Pair("dates", "2024-04-03", "3 avril 2024", 1),
    Pair("dates", "2024-04-03", "2024-04-03T00:00:00Z", 1),
    Pair("dates", "2024-04", "April 2024", 1),
    Pair("dates", "2024-04-03", "04/03/2024", 1),
    Pair("dates", "2024-04-03", "2024-04-04", 0),
    Pair("dates", "2024-04-03", "3 April 2023", 0),
    Pair("dates", "2024-03-04", "03.04.2024", 0),
    Pair("dates", "2024-03-02", "31.02.2024", 0),
    Pair("truth values", True, "yes", 1),
    Pair("truth values", True, "TRUE", 1),
    Pair("truth values", False, "No", 1),
    Pair("truth values", True, 1, 1),
    Pair("truth values", True, "false", 0),
    Pair("truth values", False, "yes", 0),
    Pair("telephone numbers", "+49 30 901820", "030 901820", 1),
    Pair("telephone numbers", "+49 30 901820", "(030) 90 18 20", 1),
    Pair("telephone numbers", "+49 30 901820", "0049 30/901820", 1),
    Pair("telephone numbers", "+49 30 901820", "030 901821", 0),
    Pair("JSON in texts", '{"city": "Bern", "days": 2}', '{"days":2,"city":"Bern"}', 1),
    Pair("JSON in texts", '{"city": "Bern", "days": 2}', '{"city": "Bern", "days": 2.0}', 1),
    Pair("JSON in texts", '{"city": "Bern", "days": 2}', '{"city": "Bern", "days": 3}', 0),
    Pair("JSON in texts", '{"cities": ["Bern"]}', '{"cities": ["Bern", "Basel"]}', 0),
]

DAY = (
    "2024-04-03", "2024/04/03", "2024.04.03", "20240403", "2024-04-03T00:00:00Z", "03.04.2024", "3.4.24", "03/04/2024", "04/03/2024",
    "3 April 2024", "April 3rd, 2024", "Wed, 3 Apr 2024", "3. April 2024", "3 avril 2024", "2024年4月3日",
)  # fmt: skip
"""Fifteen spellings of one day; two of them could be another."""
AMOUNT = (
    "1234", "1234.0", "1,234", "1.234", "1 234", "1\u00a0234", "1'234", "1’234", "1_234", "+1234", "1,234.00", "1.234,00", "1234,0",
    "$1,234.00", "1.234,00 €", "USD 1234", "1.234e3", "１２３４", "1,234.0 USD", "1234,-",
)  # fmt: skip
"""Twenty spellings of one number; two of them could be another."""


def ours(pair: Pair, parse: bool) -> float:
    choice = CHOICES[pair.group] if parse else None
    choices = None if choice is None else {"value": choice}
    found = ts.score([{"value": pair.reference}], [{"value": pair.predicted}], choices=choices)
    return float(found.f1 or 0)


def _stickler() -> Callable[[Pair], float]:
    from stickler import comparators as of

    by_group = {
        "texts": of.NormalizedComparator(),
        "numbers": of.NumericComparator(),
        "amounts in texts": of.NumericComparator(),
        "dates": of.DateComparator(),
        "truth values": of.NormalizedComparator(),
        "telephone numbers": of.PhoneComparator(region="DE"),
        "JSON in texts": of.NormalizedComparator(),
    }
    return lambda pair: float(by_group[pair.group].compare(pair.reference, pair.predicted))


def _anls() -> Callable[[Pair], float]:
    from anls_star import anls_score

    return lambda pair: float(anls_score(pair.reference, pair.predicted))


def _autoevals() -> Callable[[Pair], float]:
    from autoevals import JSONDiff, NumericDiff

    def score(pair: Pair) -> float:
        numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in pair[1:3])
        scorer = NumericDiff() if numbers else JSONDiff()
        return float(scorer.eval(output=pair.predicted, expected=pair.reference).score or 0)

    return score


PEERS = {"stickler": _stickler, "ANLS*": _anls, "autoevals": _autoevals}


def peers() -> dict[str, Callable[[Pair], float]]:
    """Those of the others that are installed."""
    modules = {"stickler": "stickler", "ANLS*": "anls_star", "autoevals": "autoevals"}
    return {name: make() for name, make in PEERS.items() if find_spec(modules[name])}


def scores() -> dict[str, list[float]]:
    """A column for each scorer."""
    columns = {"tallystick": [ours(pair, False) for pair in PAIRS], "with parse": [ours(pair, True) for pair in PAIRS]}
    return {**columns, **{name: [score(pair) for pair in PAIRS] for name, score in peers().items()}}


def distances(columns: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """How far each scorer is from the expectation, in the mean, by group."""
    out = {}
    for group in CHOICES:
        places = [k for k, pair in enumerate(PAIRS) if pair.group == group]
        out[group] = {
            name: sum(abs(column[k] - PAIRS[k].expected) for k in places) / len(places)
            for name, column in columns.items()
        }
    return out


def _shown(value: Any) -> str:
    text = ascii(value) if isinstance(value, str) and value != " ".join(value.split()) else repr(value)
    text = (
        ascii(value) if isinstance(value, str) and any(ord(c) in (0x300, 0x301, 0x308, 0x200B) for c in value) else text
    )
    return f"`{text}`"


def table(columns: dict[str, list[float]]) -> str:
    """The pairs as a table of Markdown, and below them the distances."""
    head = ["reference", "predicted", "expected", *columns]
    lines = []
    for group in CHOICES:
        lines += [f"\n**{group[0].upper()}{group[1:]}**" + _chosen(group), "", _row(head), _row(["---"] * len(head))]
        for k, pair in enumerate(PAIRS):
            if pair.group == group:
                figures = [f"{column[k]:.2f}".removesuffix(".00") for column in columns.values()]
                lines.append(_row([_shown(pair.reference), _shown(pair.predicted), str(pair.expected), *figures]))
    lines += [
        "\n**Distance from the expectation**, in the mean",
        "",
        _row(["group", *columns]),
        _row(["---"] * (len(columns) + 1)),
    ]
    lines += [_row([group, *(f"{one:.2f}" for one in found.values())]) for group, found in distances(columns).items()]
    return "\n".join(lines)


def _chosen(group: str) -> str:
    return f", `{CHOICES[group]}`".replace("'", "").replace("True", "true") if CHOICES[group] else ""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def spellings(texts: tuple[str, ...], value: Any, choice: Any) -> Any:
    """One value, spelled in many ways, against itself."""
    references = [{"value": value}] * len(texts)
    return ts.score(references, [{"value": text} for text in texts], choices={"value": choice})


def main() -> None:
    if "--spellings" in sys.argv[1:]:
        for texts, value, choice in ((DAY, "2024-04-03", CHOICES["dates"]), (AMOUNT, 1234, NUMBER)):
            found = spellings(texts, value, choice)
            print(f"{value!r}: {len(texts)} spellings, f1 {found.f1:.4f}", *found.notes, sep="\n  ")
    else:
        print(table(scores()))


if __name__ == "__main__":
    main()

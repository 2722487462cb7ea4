"""Errors of known kinds, planted in generated invoices: what of them the groups of `score records --errors` find.

    python -m benchmarks.planted            2,000 invoices, seeds 0 to 4: by kind how many were planted and found, precision and recall
    python -m benchmarks.planted 300 0      so many invoices, one seed

An error is planted by spelling, rounding, cutting or exchanging a value here, without a look at how the kinds are found. Then the
suggestions are applied, and their promised gains compared with the gains. It leaves with 1 if precision or recall of any kind is below .95,
or a promise is not kept.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import tallystick as ts
from tallystick.results.errors import group_errors

LEAST = 0.95
WORDS = (
    "steel", "copper", "garden", "office", "paper", "marker", "hammer", "cable", "lamp", "chair", "printer", "drill", "screw", "box", "glass",
    "blue", "green", "heavy", "small", "cordless", "folding", "lid", "bracket", "pump", "filter", "wheel", "handle", "brush", "ladder", "tile",
)  # fmt: skip
NAMES = (
    "Müller",
    "Kestrel",
    "Ångström",
    "Béranger",
    "Acme",
    "Núñez",
    "Harrow",
    "Óbidos",
    "Tanaka",
    "Lindqvist",
    "Okafor",
    "Sørensen",
)
FORMS = ("Ltd.", "GmbH & Co.", "S.A.", "Inc.", "& Sons")
COUNTRIES = {"Germany": "BRD", "France": "FR", "Sweden": "SVE", "Portugal": "PT"}
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
FOREIGN = {
    "de": [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
    "fr": [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
    "es": [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
}
Truth = dict[tuple[str, str], str]
"""The kind that was planted, by document and path."""


def company(rng: random.Random) -> str:
    return f"{rng.choice(NAMES)} {rng.choice(WORDS).title()} {rng.choice(NAMES)}-{rng.choice(WORDS).title()} {rng.choice(FORMS)}"


def amount(rng: random.Random) -> float:
    return rng.randrange(1001, 999_999) / 100 + rng.randrange(1, 10) / 1000


def day(rng: random.Random) -> str:
    return f"{rng.randrange(1990, 2030)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"


def line(rng: random.Random) -> dict[str, Any]:
    text = f"{' '.join(rng.sample(WORDS, 4)).capitalize()}, {rng.choice(WORDS)}"
    return {
        "sku": f"{rng.choice('ABCDE')}-{rng.randrange(10**6):06d}",
        "text": text,
        "quantity": rng.randrange(1, 100),
        "price": amount(rng),
        "weight": amount(rng),
    }


def invoice(number: int, rng: random.Random) -> dict[str, Any]:
    """A right one."""
    return {
        "id": f"inv-{number:05d}", "vendor": company(rng), "customer": company(rng), "country": rng.choice(list(COUNTRIES)),
        "date": day(rng), "due": day(rng), "total": amount(rng), "tax": amount(rng), "paid": rng.random() < 0.5, "note": None,
        "lines": [line(rng) for _ in range(rng.randrange(2, 5))], "terms": " ".join(rng.sample(WORDS, 6)),
    }  # fmt: skip


# Each kind: a new value for an old one, or None where it does not change.


def other_text(value: str, rng: random.Random) -> str:
    plain = value.translate(str.maketrans("üåéúñÓøÅ", "uaeunOøA"))
    ways = [re.sub(r"[.,&-]", "", value), plain, value.replace(" ", "", 1), value.replace(",", ";").replace(".", "")]
    return rng.choice([way for way in ways if way != value] or [value])


def other_number(value: float, rng: random.Random) -> str:
    if isinstance(value, int):
        return rng.choice([f"{value}", f"{value}.0", f"{value} pcs"])
    return rng.choice([f"{value:,.3f}", f"${value:.3f}", f"EUR {value:,.3f}", f"{value:.4f}", f"{value:.3f} USD"])


def foreign_number(value: float, rng: random.Random) -> str:
    german = f"{value:,.3f}".translate(str.maketrans(",.", ".,"))
    return rng.choice([german, f"{german} €", f"{value:,.3f}0".replace(",", " ").replace(".", ",")])


def other_date(value: str, rng: random.Random) -> str:
    year, month, of_month = map(int, value.split("-"))
    name = MONTHS[month - 1]
    ways = [
        f"{of_month} {name} {year}",
        f"{name} {of_month}, {year}",
        f"{of_month:02d}.{month:02d}.{year}",
        f"{of_month} {name[:3]} {year}",
    ]
    return rng.choice(ways)


def foreign_date(value: str, rng: random.Random) -> str:
    year, month, of_month = map(int, value.split("-"))
    language = rng.choice([one for one in FOREIGN if FOREIGN[one][month - 1].title() != MONTHS[month - 1]])
    name = FOREIGN[language][month - 1]
    return {
        "de": f"{of_month}. {name} {year}",
        "fr": f"{of_month} {name} {year}",
        "es": f"{of_month} de {name} de {year}",
    }[language]


def exchanged(value: str, rng: random.Random) -> str:
    year, month, of_month = value.split("-")
    return f"{year}-{of_month}-{month}" if int(of_month) <= 12 else value


def typo(value: str, rng: random.Random) -> str:
    place = rng.choice([k for k in range(1, len(value)) if value[k].isalpha() and value[k - 1].isalpha()])
    return (
        value[:place] + value[place - 1] + value[place:] if rng.random() < 0.5 else value[:place] + value[place + 1 :]
    )


def invented(value: Any, rng: random.Random) -> Any:
    if isinstance(value, str):
        return day(rng) if value[:4].isdigit() else company(rng)
    return rng.randrange(1, 100) if isinstance(value, int) else amount(rng)


TEXTS, NUMBERS, DATES = ("vendor", "customer", "text", "terms"), ("total", "tax", "price", "weight"), ("date", "due")
CHANGES: dict[str, tuple[tuple[str, ...], Callable[[Any, random.Random], Any]]] = {
    "case": (TEXTS, lambda value, rng: rng.choice([value.upper(), value.lower(), value.swapcase()])),
    "text": (("vendor", "customer", "text"), other_text),
    "number": ((*NUMBERS, "quantity"), other_number),
    "date": (DATES, other_date),
    "boolean": (("paid",), lambda value, rng: rng.choice(["yes", "Y", "true"] if value else ["no", "N", "False"])),
    "language": ((*NUMBERS, *DATES), lambda value, rng: (foreign_date if isinstance(value, str) else foreign_number)(value, rng)),
    "opposite": (("paid",), lambda value, rng: rng.choice([not value, "no" if value else "yes"])),
    "sign": ((*NUMBERS, "quantity"), lambda value, rng: -value),
    "rounding": (NUMBERS, lambda value, rng: rng.choice([round(value, 2), round(value, 1), float(round(value)), float(int(value))])),
    "exchanged": (DATES, exchanged),
    "truncated": (TEXTS, lambda value, rng: value[: rng.randrange(len(value) // 3, len(value) - 4)].rstrip()),
    "longer": (TEXTS, lambda value, rng: rng.choice([f"{value} ({rng.choice(WORDS)})", f"{rng.choice(WORDS)} {value}"])),
    "typo": (TEXTS, typo),
    "alias": (("country",), lambda value, rng: COUNTRIES[value]),
    "nowhere": ((*TEXTS, *NUMBERS, *DATES, "quantity"), lambda value, rng: invented(value, rng)),
    "missing": ((*TEXTS, *NUMBERS, *DATES, "paid", "quantity"), lambda value, rng: None),
    "empty": (("note",), lambda value, rng: rng.choice(["", " "])),
    "extra": (("note",), lambda value, rng: company(rng)),
}  # fmt: skip
EXCHANGED = (("vendor", "customer"), ("date", "due"), ("total", "tax"))
KINDS = (*CHANGES, "swapped", "item", "elsewhere")


def spoil(right: dict[str, Any], rng: random.Random, truth: Truth) -> dict[str, Any]:
    """A prediction with up to four errors; what each is goes into `truth`."""
    wrong = {**right, "lines": [dict(one) for one in right["lines"]]}
    document, free = (
        right["id"],
        {name for name in right if name not in ("id", "lines")} | {*range(len(right["lines"]))},
    )
    for _ in range(rng.randrange(5)):
        kind = rng.choice(KINDS)
        if kind == "swapped":
            pairs = [pair for pair in EXCHANGED if free.issuperset(pair) and right[pair[0]] != right[pair[1]]]
            if pairs:
                one, other = rng.choice(pairs)
                wrong[one], wrong[other] = right[other], right[one]
                plant(truth, free, document, kind, one, other)
        elif kind == "item":
            k, other = rng.sample(range(len(right["lines"])), 2)
            if k in free:
                name = rng.choice(["price", "weight", "text", "quantity"])
                if right["lines"][k][name] == right["lines"][other][name]:
                    continue
                wrong["lines"][k][name] = right["lines"][other][name]
                truth[document, f"lines[{k}].{name}"] = kind
                free.discard(k)
        elif kind == "elsewhere":
            if "terms" in free:
                wrong["terms"] = rng.choice(right["lines"])[rng.choice(["sku", "text"])]
                plant(truth, free, document, kind, "terms")
        else:
            change(wrong, right, kind, free, truth, rng)
    order = list(range(len(right["lines"])))
    rng.shuffle(order)
    return {**wrong, "lines": [wrong["lines"][k] for k in order]}


def plant(truth: Truth, free: set[Any], document: str, kind: str, *paths: str) -> None:
    for path in paths:
        truth[document, path] = kind
        free.discard(path)


def change(
    wrong: dict[str, Any], right: dict[str, Any], kind: str, free: set[Any], truth: Truth, rng: random.Random
) -> None:
    """One value changed, in the document or in one of its lines, of which each is changed once."""
    names, make = CHANGES[kind]
    places: list[tuple[Any, str]] = [("", name) for name in names if name in free]
    places += [
        (k, name) for k in range(len(right["lines"])) if k in free for name in names if name in right["lines"][k]
    ]
    if not places:
        return
    k, name = rng.choice(places)
    record, target, path = (
        (right, wrong, name) if k == "" else (right["lines"][k], wrong["lines"][k], f"lines[{k}].{name}")
    )
    value = make(record[name], rng)
    if value == record[name] or (kind == "nowhere" and value in [one.get(name) for one in right["lines"]]):
        return
    target[name] = value
    truth[right["id"], path] = kind
    free.discard(name if k == "" else k)


def generate(count: int, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Truth]:
    """References, predictions, and the truth about the errors."""
    rng, truth = random.Random(seed), Truth()
    gold = [invoice(number, rng) for number in range(count)]
    return gold, [spoil(one, rng, truth) for one in gold], truth


def found_kinds(gold: Any, system: Any) -> Truth:
    """The kind of every error that the groups have, by document and path in the reference."""
    result = ts.score(gold, system)["records"]
    groups = group_errors(result.expression, result.documents_kept, result.ids, examples=None).groups
    assert all(len(group.examples) == group.count for group in groups)
    return {
        (one.document, re.sub(r"→\d+", "", one.path)): group.kind for group in groups for one in group.examples
    }  # fmt: skip


def measure(truth: Truth, found: Truth) -> dict[str, tuple[int, int, float, float]]:
    """By kind: how many were planted and found, precision and recall."""
    planted, grouped = Counter(truth.values()), Counter(found.values())
    both = Counter(kind for place, kind in truth.items() if found.get(place) == kind)
    return {
        kind: (planted[kind], grouped[kind], both[kind] / max(grouped[kind], 1), both[kind] / max(planted[kind], 1))
        for kind in dict.fromkeys([*planted, *grouped])
    }


def broken_promises(gold: Any, system: Any) -> list[str]:
    """The lines of the suggestions whose gain is not the one that they promised, to the last bit."""
    found, before = ts.suggest(gold, system), ts.score(gold, system).f1
    gains = {
        one.line: (ts.score(gold, system, choices={one.path: one.choice}).f1 - before, one.gain)
        for one in (*found.lines, *found.instead)
    }
    gains["all lines"] = ts.score(gold, system, choices=found.choices).f1, found.f1_with_all
    return [name for name, (gain, promised) in gains.items() if gain != promised]


def main(count: int = 2000, *seeds: int) -> int:
    planted: Truth = {}
    found: Truth = {}
    for seed in seeds or range(5):
        gold, system, truth = generate(count, seed)
        planted |= {(f"{seed}/{document}", path): kind for (document, path), kind in truth.items()}
        found |= {(f"{seed}/{document}", path): kind for (document, path), kind in found_kinds(gold, system).items()}
    table = measure(planted, found)
    print("| kind | planted | found | precision | recall |\n| --- | --- | --- | --- | --- |")
    for kind, (there, grouped, precision, recall) in sorted(table.items()):
        print(f"| {kind} | {there:,} | {grouped:,} | {precision:.3f} | {recall:.3f} |")
    right = sum(found.get(place) == kind for place, kind in planted.items())
    print(f"| all | {len(planted):,} | {len(found):,} | {right / len(found):.3f} | {right / len(planted):.3f} |")
    broken = broken_promises(*generate(min(count, 300), 0)[:2])
    print("promised gains: " + ("; ".join(f"{one} is not kept" for one in broken) or "all kept, to the last bit"))
    return int(bool(broken) or any(min(figures) < LEAST for _, _, *figures in table.values()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

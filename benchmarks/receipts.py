"""The receipts of the tutorial: right answers, and what two models made of the scans, as models write it.

    python -m benchmarks.receipts FOLDER        receipts.gold.jsonl, receipts.small.jsonl and receipts.large.jsonl, as in tallystick.examples

The small model writes texts, dates and amounts as it likes, forgets the tax and refuses now and then; the large one exchanges day and
month. Each says how sure it is of a receipt, and is a little too sure.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

COUNT = 120
SHOPS = (
    "Café Orly",
    "Harrow & Sons",
    "Kiosk Nord",
    "Bäckerei Linde",
    "Blue Fern Books",
    "Tanaka Foods Ltd.",
    "Mill Street Garage",
    "O'Dea Flowers",
)
GOODS = (
    "Espresso",
    "Croissant",
    "Notebook A5",
    "Motor oil 5W-30",
    "Rye bread, 750 g",
    "Green tea",
    "Tulips",
    "Paperback",
    "Oat milk 1 l",
    "Batteries AA",
)
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip


def receipt(number: int, rng: random.Random) -> dict[str, Any]:
    """A right one."""
    items = [{"name": name, "price": rng.randrange(120, 9900) / 100} for name in rng.sample(GOODS, rng.randrange(1, 4))]
    total = round(sum(one["price"] for one in items) * rng.choice((1, 7, 40)), 2)
    day = f"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    return {
        "id": f"r{number:03d}",
        "vendor": rng.choice(SHOPS),
        "date": day,
        "total": total,
        "tax": round(total * 0.19, 2),
        "items": items,
    }


def small(right: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """What the small model reads: much of it right and spelled otherwise."""
    found = {**right, "items": [dict(one) for one in right["items"]]}
    year, month, day = map(int, right["date"].split("-"))
    if rng.random() < 0.2:
        found["vendor"] = rng.choice(
            (right["vendor"].upper(), right["vendor"].replace("&", "and").replace(".", "").replace("é", "e"))
        )
    if rng.random() < 0.35:
        found["date"] = rng.choice((f"{day} {MONTHS[month - 1]} {year}", f"{day:02d}.{month:02d}.{year}"))
    if rng.random() < 0.25:
        found["total"] = rng.choice((f"{right['total']:,.2f}", f"€{right['total']:.2f}"))
    elif rng.random() < 0.1:
        found["total"] = right["tax"]
    if rng.random() < 0.15:
        del found["tax"]
    elif rng.random() < 0.1:
        found["tax"] = round(right["tax"])
    for one in found["items"]:
        if rng.random() < 0.12:
            one["price"] = round(one["price"] + rng.choice((1, 10)), 2)
        elif rng.random() < 0.15:
            one["name"] = one["name"].lower().replace(",", "")
    return found


def large(right: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """What the large model reads: nearly everything, and some dates the American way."""
    found = {**right, "items": [dict(one) for one in right["items"]]}
    year, month, day = right["date"].split("-")
    if int(day) <= 12 and day != month and rng.random() < 0.5:
        found["date"] = f"{year}-{day}-{month}"
    if rng.random() < 0.04:
        found["total"] = round(right["total"] + 10, 2)
    for one in found["items"]:
        if rng.random() < 0.03:
            one["price"] = round(one["price"] + 1, 2)
    return found


def written(right: dict[str, Any], found: dict[str, Any], rng: random.Random, refuses: float) -> dict[str, Any]:
    """A line of raw output: the model's text, and how sure it is."""
    key, values = found.pop("id"), json.dumps(found, ensure_ascii=False)
    text = rng.choice((values, f"```json\n{values}\n```", f"Here is the receipt:\n{values}"))
    if rng.random() < refuses:
        text = "I am sorry, the scan is not readable."
    good = all(found.get(name) == value for name, value in right.items() if name != "id")
    sure = rng.betavariate(14, 1) if good else rng.betavariate(6, 2)
    return {"id": key, "output": text, "sure": round(sure, 2)}


def generate(seed: int = 3) -> dict[str, list[dict[str, Any]]]:
    """The lines of each file."""
    rng = random.Random(seed)
    gold = [receipt(number, rng) for number in range(1, COUNT + 1)]
    return {
        "gold": gold,
        "small": [written(one, small(one, rng), rng, 0.03) for one in gold],
        "large": [written(one, large(one, rng), rng, 0.0) for one in gold],
    }


def write(folder: Path) -> None:
    for name, lines in generate().items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"receipts.{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

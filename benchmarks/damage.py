"""Random documents, and thirty ways in which a model spoils one; what a score has to hold against all of them.

    python -m benchmarks.damage 10000          10,000 documents, each with one kind of damage in turn, and all of them by every way in

Documents are of one type, so that it can be given as a type, as a schema, or be inferred. A kind of damage makes of a document the text that a model might have
written; `HARMLESS` are those after which every value is still there, so that the score must be 1, and `FORGIVEN` those that are so
under the usual equality of values.
"""

import json
import random
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

Document = dict[str, Any]
Damage = Callable[[Document, random.Random], Any]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "date": {"type": "string"},
        "total": {"type": "number"},
        "paid": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["street", "zip"],
        },
        "tags": {"type": "array", "items": {"type": "string"}},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "quantity": {"type": "number"}, "price": {"type": "number"}},
                "required": ["sku", "quantity", "price"],
            },
        },
    },
    "required": ["vendor", "date", "total", "paid", "note", "address", "tags", "lines"],
}
TYPES = """from dataclasses import dataclass

@dataclass
class Line:
    sku: str
    quantity: float
    price: float

@dataclass
class Address:
    street: str
    zip: str

@dataclass
class Invoice:
    vendor: str
    date: str
    total: float
    paid: bool
    note: str | None
    address: Address
    tags: list[str]
    lines: list[Line]

try:
    from pydantic import BaseModel
except ImportError:
    pass
else:
    class ModelLine(BaseModel):
        sku: str
        quantity: float = 1
        price: float = 0

    class ModelAddress(BaseModel):
        street: str = ""
        zip: str = "00000"

    class Model(BaseModel):
        vendor: str = "Acme"
        date: str
        total: float
        paid: bool = False
        note: str | None = None
        address: ModelAddress
        tags: list[str] = []
        lines: list[ModelLine] = []
"""
NAMES = ["Acme", "Müller & Söhne", "Ærø", "São Paulo", "O'Neil", 'the "Best"', "12", "null", "Zoë  Ltd", "日本"]


def make(rng: random.Random) -> Document:
    """A random document."""
    lines = [
        {"sku": f"{rng.choice('abcdef')}-{rng.randrange(20)}", "quantity": rng.randrange(1, 5), "price": rng.randrange(1, 4000) / 100}
        for _ in range(rng.choice([0, 1, 2, 2, 3, 5]))
    ]  # fmt: skip
    return {
        "vendor": rng.choice(NAMES),
        "date": f"2024-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
        "total": rng.randrange(0, 500_000) / 100,
        "paid": rng.random() < 0.5,
        "note": rng.choice([None, "urgent", "see\nback"]),
        "address": {"street": f"{rng.choice(NAMES)} {rng.randrange(1, 99)}", "zip": f"{rng.randrange(100_000):05}"},
        "tags": rng.sample(["a", "b", "c", "é"], rng.randrange(0, 4)),
        "lines": lines,
    }


def _dump(document: Any, **options: Any) -> str:
    return json.dumps(document, **options)


def _put(path: str, value: Any) -> Damage:
    def damage(document: Document, rng: random.Random) -> str:
        return _dump({**document, path: value(document[path], rng) if callable(value) else value})

    return damage


def _one(things: list[Any], rng: random.Random, change: Callable[[Any], Any]) -> list[Any]:
    place = rng.randrange(len(things) + 1)
    return [*things[:place], change(None), *things[place:]]


def _cut_off(document: Document, rng: random.Random) -> str:
    text = _dump(document, ensure_ascii=False)
    return text[: rng.randrange(1, len(text))]


def _fence(document: Document, rng: random.Random) -> str:
    return f"Here it is:\n```json\n{_dump(document, indent=1)}\n```\nAnything else?"


def _think(document: Document, rng: random.Random) -> str:
    return f'<think>Perhaps {{"vendor": "nobody", "total": {rng.randrange(99)}}}? No.</think>\n{_dump(document)}'


def _draft(document: Document, rng: random.Random) -> str:
    draft = {**document, "total": document["total"] + 1, "vendor": "nobody"}
    return f"A draft:\n```json\n{_dump(draft)}\n```\nThe answer:\n```json\n{_dump(document)}\n```"


def _comma(document: Document, rng: random.Random) -> str:
    return _dump(document, indent=1).replace("\n}", ",\n}")


def _own_line_comma(document: Document, rng: random.Random) -> str:
    return _dump(document, indent=1).replace(",\n", "\n,\n")


def _double_comma(document: Document, rng: random.Random) -> str:
    return _dump(document, indent=1).replace("\n },\n", "\n },\n,\n", 1)


def _missing_comma(document: Document, rng: random.Random) -> str:
    return _dump(document, indent=1).replace(",\n", "\n", 1)


def _spaces(document: Document, rng: random.Random) -> Document:
    return {**document, "vendor": document["vendor"].replace(" ", "\u00a0"), "address": {**document["address"]}}


def _decomposed(document: Document, rng: random.Random) -> str:
    return unicodedata.normalize("NFD", _dump(document, ensure_ascii=False))


def _renamed(document: Document, rng: random.Random) -> Document:
    key = rng.choice(list(document))
    return {("Vendor Name" if name == key else name): value for name, value in document.items()}


def _dropped(document: Document, rng: random.Random) -> Document:
    key = rng.choice([name for name, value in document.items() if value not in (None, [], {})])
    return {name: value for name, value in document.items() if name != key}


def _shuffled(document: Document, rng: random.Random) -> str:
    lists = {
        key: rng.sample(value, len(value)) if isinstance(value, list) else value for key, value in document.items()
    }
    keys = rng.sample(list(lists), len(lists))
    return _dump({key: lists[key] for key in keys})


def _floats(document: Document, rng: random.Random) -> Document:
    lines = [
        {**line, "quantity": float(line["quantity"]), "price": line["price"] * (1 + 1e-13)}
        for line in document["lines"]
    ]
    return {**document, "lines": lines}


def _deep(document: Document, rng: random.Random) -> str:
    return _dump(document)[:-1] + ', "deep": ' + "[" * 3000 + "]" * 3000 + "}"


def _huge(document: Document, rng: random.Random) -> str:
    return _dump({**document, "total": 0}).replace('"total": 0', '"total": 1e999')


KINDS: dict[str, Damage] = {
    "as it is": lambda document, rng: _dump(document),
    "indented": lambda document, rng: _dump(document, indent=2, ensure_ascii=False),
    "shuffled": _shuffled,
    "wrong kind: text for a number": _put("total", lambda value, rng: f"about {value}"),
    "wrong kind: number for a text": _put("vendor", 7),
    "wrong kind: text for an object": _put("address", "Main Street 1"),
    "wrong kind: list for an object": _put("address", lambda value, rng: [value]),
    "wrong kind: object for a list": _put("lines", {"sku": "a-1", "quantity": 1, "price": 2}),
    "wrong kind: text for a list": _put("tags", "a, b"),
    "null item": _put("lines", lambda value, rng: _one(value, rng, lambda _: None)),
    "null field": _put("vendor", None),
    "null for a list": _put("lines", None),
    "junk in a list of objects": _put("lines", lambda value, rng: [*value, "junk", 7, [1, 2], True]),
    "junk in a list of texts": _put("tags", lambda value, rng: [*value, 7, {"a": 1}]),
    "item twice": _put("lines", lambda value, rng: [*value, *(value[:1] or [{"sku": "x", "quantity": 1, "price": 1}])]),
    "alias": _renamed,
    "extra key": lambda document, rng: {**document, "confidence": 0.9},
    "extra key inside": lambda document, rng: {**document, "address": {**document["address"], "country": "NO"}},
    "extra empty key": lambda document, rng: {**document, "remarks": []},
    "dropped key": _dropped,
    "fence": _fence,
    "think block": _think,
    "draft and answer": _draft,
    "cut off": _cut_off,
    "trailing comma": _comma,
    "comma on its own line": _own_line_comma,
    "comma twice": _double_comma,
    "missing comma": _missing_comma,
    "single quotes": lambda document, rng: str({**document, "note": None}),
    "number spelling": _put("total", lambda value, rng: f"{value:,.2f} €"),
    "date spelling": _put("date", lambda value, rng: f"{value[8:]}.{value[5:7]}.{value[:4]}"),
    "float noise": _floats,
    "no-break space": _spaces,
    "NFD": _decomposed,
    "prose": lambda document, rng: "I could not find an invoice in this document.",
    "nothing": lambda document, rng: "",
    "a list": lambda document, rng: [document],
    "deep": _deep,
    "huge number": _huge,
    "half a surrogate": lambda document, rng: _dump({**document, "vendor": "\ud800"}),
    "control character": lambda document, rng: _dump(document).replace('"vendor": "', '"vendor": "\x07', 1),
}
"""Damage by name: from a document to a model's text, or to data."""
HARMLESS = {
    "as it is",
    "indented",
    "shuffled",
    "fence",
    "think block",
    "draft and answer",
    "trailing comma",
    "comma on its own line",
    "comma twice",
}
FORGIVEN = HARMLESS | {"float noise", "no-break space", "NFD"}
JUNK = {
    "null item", "junk in a list of objects", "junk in a list of texts", "item twice", "extra key", "extra key inside", "extra empty key",
}  # fmt: skip
"""What only adds something to a document, so that nothing that was right is lost."""


def damaged(documents: int, seed: int = 3) -> Iterator[tuple[str, Document, Any]]:
    """So many documents, each with one kind of damage after the other."""
    rng = random.Random(seed)
    kinds = list(KINDS.items())
    for k in range(documents):
        document = make(rng)
        name, damage = kinds[k % len(kinds)]
        yield name, document, damage(document, rng)


def as_text(value: Any) -> str:
    """A prediction as the text that a model would have written."""
    return value if isinstance(value, str) else json.dumps(value)


# What has to hold


def check_scores(kind: str, gold: Document, one: Any, clean: Any) -> list[str]:
    """What is wrong with the score of one damaged document; `clean` is that of the document as it is."""
    wrong = []
    if not 0 <= one.f1 <= 1:
        wrong.append(f"f1 {one.f1}")
    if kind in FORGIVEN and not one.exact:
        wrong.append(f"not exact: {one}")
    if kind in JUNK and one.exact:
        wrong.append("junk left it exact")
    if kind in JUNK and one.figures["precision"] > clean.figures["precision"] + 1e-12:
        wrong.append("junk raised precision")
    if kind in JUNK and one.figures["recall"] < 1 - 1e-12:
        wrong.append(f"junk cost recall: {one}")
    if kind not in FORGIVEN and one.exact and not _may_be_exact(kind, gold):
        wrong.append("exact although it is damaged")
    return wrong


def _may_be_exact(kind: str, gold: Document) -> bool:
    """Damage that leaves some documents as they were: nothing to cut off but a bracket, nothing to spell otherwise."""
    if kind == "null for a list":
        return not gold["lines"]
    if kind == "alias":
        return gold["note"] is None  # a key without a value
    return kind in {"cut off", "missing comma", "single quotes", "control character"}


CHOICES: dict[str, Any] = {
    "vendor": {"text": ["levenshtein", "casefold"]}, "total": {"number": {"relative": 0.01}}, "lines": {"key": "sku"}, "note": "ignore",
}  # fmt: skip


def run_ways(
    pairs: list[tuple[str, Document, Any]], folder: Path, choices: dict[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """One corpus by every way in: the figures and the documents that are exact, by way."""
    import tallystick as ts
    from tallystick.tasks.contract import Reading, find_task

    gold = {f"d{k:05}": document for k, (_, document, _) in enumerate(pairs)}
    texts = {f"d{k:05}": as_text(text) for k, (_, _, text) in enumerate(pairs)}
    _write(folder, gold, texts, choices)
    task, module = find_task("records"), folder / "invoice_types.py"
    usual = {"from_": "output", "lenient": True, "choices": choices}

    def files(suffix: str = "jsonl", **options: Any) -> Any:
        settings = task.Settings(**{**usual, **options})
        sides = [str(folder / f"{side}.{suffix}") for side in ("gold", "system")]
        return task.score(*sides, (), settings, Reading()).results["records"]

    found = {
        "jsonl": files(),
        "parquet": files("parquet"),
        "type": files(type=f"{module}:Invoice"),
        "schema": files(schema=str(folder / "schema.json")),
        "ts.score": ts.score(gold, texts, choices=choices)["records"],
        "ts.score, type": ts.score(gold, texts, type=f"{module}:Invoice", choices=choices)["records"],
        "ts.score, schema": ts.score(list(gold.values()), list(texts.values()), schema=SCHEMA, choices=choices)[
            "records"
        ],
        "folder": ts.score(folder / "gold", folder / "system", lenient=True, choices=choices)["records"],
    }
    try:
        import pydantic  # noqa: F401
    except ImportError:
        pass
    else:
        found["pydantic"] = files(type=f"{module}:Model")
    out = {
        way: {"figures": result.figures, "exact": result.exact_documents, "documents": list(result.documents.values())}
        for way, result in found.items()
    }
    for way, options in {"command": [], "--jobs 2": ["--jobs", "2"]}.items():
        out[way] = _command(folder, *options, *(["--choices", str(folder / "choices.json")] if choices else []))
    return out


def _write(folder: Path, gold: dict[str, Document], texts: dict[str, str], choices: dict[str, Any] | None) -> None:
    (folder / "invoice_types.py").write_text(TYPES)
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    (folder / "choices.json").write_text(json.dumps(choices))
    (folder / "gold.jsonl").write_text("".join(json.dumps({"id": name, **one}) + "\n" for name, one in gold.items()))
    rows = [{"id": name, "output": text} for name, text in texts.items()]
    (folder / "system.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for side in ("gold", "system"):
        (folder / side).mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / "gold" / f"{name}.json").write_text(json.dumps(gold[name]))
        (folder / "system" / f"{name}.txt").write_text(text)
    _write_parquet(folder, gold, rows)


def _write_parquet(folder: Path, gold: dict[str, Document], rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(
        pa.Table.from_pylist([{"id": name, **one} for name, one in gold.items()]), folder / "gold.parquet"
    )
    parquet.write_table(pa.Table.from_pylist(rows), folder / "system.parquet")


def _command(folder: Path, *options: str) -> dict[str, Any]:
    from click.testing import CliRunner

    from tallystick.cli.main import tallystick

    arguments = [
        "score",
        "records",
        str(folder / "gold.jsonl"),
        str(folder / "system.jsonl"),
        "--from",
        "output",
        "--lenient",
    ]
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}  # click before 8.2
    done = CliRunner(**apart).invoke(tallystick, [*arguments, "--format", "json", *options], catch_exceptions=False)
    content = json.loads(done.stdout)
    figures = {name: content["metrics"]["records"][name] for name in ("precision", "recall", "f1")}
    return {"figures": figures, "exact": content["exact"]["documents"]}


def differences(found: dict[str, dict[str, Any]]) -> list[str]:
    """Where one way differs from another."""
    first = found["jsonl"]
    out = []
    for way, one in found.items():
        for name in ("figures", "exact"):
            if one[name] != first[name]:
                out.append(f"{way}: {name} {one[name]}, jsonl: {first[name]}")
        if "documents" in one and one["documents"] != first["documents"]:
            apart = [k for k, figures in enumerate(first["documents"]) if one["documents"][k] != figures]
            out.append(f"{way}: {len(apart)} documents differ, such as {apart[:3]}")
    return out


def main(documents: int) -> int:
    """Everything, with what is wrong on the way; the number of faults."""
    from tallystick.adapters.scorer import RecordScorer

    begin, pairs = time.perf_counter(), list(damaged(documents))
    faults: dict[str, list[str]] = {}
    scorers = {"schema": RecordScorer(schema=SCHEMA), "inferred": RecordScorer()}
    for way, scorer in scorers.items():
        for kind, gold, text in pairs:
            try:
                one = scorer.score(gold, text)
                wrong = check_scores(kind, gold, one, scorer.score(gold, gold) if kind in JUNK else one)
            except Exception as error:
                wrong = [f"{type(error).__name__}: {error}"]
            if wrong:
                faults.setdefault(f"{way}: {kind}", []).extend(wrong)
    with tempfile.TemporaryDirectory() as folder:
        for name, choices in (("ways", None), ("ways, with choices", CHOICES)):
            for fault in differences(run_ways(pairs, Path(folder), choices)):
                faults.setdefault(name, []).append(fault)
    for kind, wrong in faults.items():
        print(f"{kind}: {len(wrong):,} times, such as {wrong[0][:600]}")
    count = sum(map(len, faults.values()))
    print(
        f"{documents:,} documents, {len(KINDS)} kinds of damage: {count:,} faults in {time.perf_counter() - begin:.0f} s"
    )
    return count


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)))

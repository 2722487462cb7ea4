"""One invoice corpus through a dataclass, a pydantic model, a JSON Schema and inference: the same to the last bit."""

import json
import random
from dataclasses import dataclass
from typing import Annotated

import pydantic
import pytest

import tallystick as ts
from benchmarks import invoices
from tallystick.errors import InputError
from tallystick.tasks.records.schema import type_of_schema
from tallystick.tasks.records.score import score_files

TEXT, MONEY = ts.text("levenshtein", "casefold"), ts.number(relative=0.01)


@dataclass
class Line:
    sku: str
    description: Annotated[str, TEXT]
    quantity: int
    price: Annotated[float, MONEY]
    tags: list[str]


@dataclass
class Invoice:
    id: str
    vendor: Annotated[str, ts.choose(weight=2)]
    date: str | None
    total: Annotated[float, MONEY]
    paid: bool
    lines: list[Line]


class LineModel(pydantic.BaseModel):
    sku: str
    description: Annotated[str, TEXT]
    quantity: int
    price: Annotated[float, MONEY]
    tags: list[str]


class InvoiceModel(pydantic.BaseModel):
    id: str
    vendor: Annotated[str, ts.choose(weight=2)]
    date: str | None
    total: Annotated[float, MONEY]
    paid: bool
    lines: list[LineModel]


CHOICES = {
    "vendor": {"weight": 2},
    "total": {"number": {"relative": 0.01}},
    "lines[*].description": {"text": ["levenshtein", "casefold"]},
    "lines[*].price": {"number": {"relative": 0.01}},
}


def schema():
    """The schema that pydantic makes of the model ($defs, $ref, anyOf), with the choices written into it."""
    out = InvoiceModel.model_json_schema()
    for path, choice in CHOICES.items():
        *_, name = path.split(".")
        home = out["$defs"]["LineModel"] if path.startswith("lines") else out
        home["properties"][name]["x-tallystick"] = choice
    return out


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    rng = random.Random(7)
    sides = invoices.generate(60, lines=8)
    for name, side in zip(("gold", "system"), sides, strict=True):
        rows = []
        for k, lines in enumerate(side):
            noisy = name == "system"
            rows.append(
                {
                    "id": f"inv-{k}",
                    "vendor": f"Vendor {k % 7 if not noisy or rng.random() < 0.8 else 99}",
                    "date": None if rng.random() < 0.3 else f"2026-03-{1 + k % 28:02}",
                    "total": round(100 + k * (1.004 if noisy else 1), 2),
                    "paid": rng.random() < 0.5,
                    "lines": lines if not noisy or rng.random() < 0.9 else [],
                }
            )
        if name == "system":
            rng.shuffle(rows)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


WAYS = {
    "dataclass": {"type": Invoice},
    "pydantic": {"type": InvoiceModel},
    "schema": {"schema": schema()},
    "inference": {"choices": CHOICES},
}


@pytest.mark.parametrize("credit", ["each", "all"])
def test_the_same_figures_to_the_last_bit(corpus, credit):
    runs = {
        way: score_files(corpus / "gold.jsonl", corpus / "system.jsonl", credit=credit, **options)
        for way, options in WAYS.items()
    }
    first = runs["dataclass"].result
    assert 0.5 < first.f1 < 0.99
    for way, run in runs.items():
        assert str(run.prepared.metric) == str(runs["dataclass"].prepared.metric), way
        assert run.result.ids == first.ids
        assert run.result.rows.tobytes() == first.rows.tobytes(), way
        assert run.result.figures == first.figures
        assert run.result.by_field() == first.by_field(), way
        assert run.paired == "by id"


def test_the_saved_schema_of_an_inference_is_the_inference(corpus):
    inferred = score_files(corpus / "gold.jsonl", corpus / "system.jsonl")
    saved = score_files(corpus / "gold.jsonl", corpus / "system.jsonl", schema=inferred.prepared.shape.schema)
    assert saved.prepared.metric == inferred.prepared.metric
    assert saved.result.rows.tobytes() == inferred.result.rows.tobytes()


@pytest.mark.parametrize("way", ["dataclass", "pydantic", "schema"])
def test_coercion_is_never_silent(corpus, tmp_path, way):
    lines = (corpus / "system.jsonl").read_text().splitlines()
    bad = json.loads(lines[4])
    bad["total"] = "12.5"
    lines[4] = json.dumps(bad)
    (tmp_path / "bad.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"bad\.jsonl:5: .*total"):
        score_files(corpus / "gold.jsonl", tmp_path / "bad.jsonl", **WAYS[way])
    lenient = score_files(corpus / "gold.jsonl", tmp_path / "bad.jsonl", lenient=True, **WAYS[way])
    inferred = score_files(corpus / "gold.jsonl", tmp_path / "bad.jsonl", **WAYS["inference"])
    assert lenient.result.rows.tobytes() == inferred.result.rows.tobytes()
    for run in (lenient, inferred):
        assert any("of the wrong kind, counted as wrong: 1 value (total 1)" in w for w in run.warnings)


def test_the_type_of_a_schema_is_checked_like_a_dataclass():
    assert set(type_of_schema(schema()).__annotations__) == {"id", "vendor", "date", "total", "paid", "lines"}

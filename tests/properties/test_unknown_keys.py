"""What a type does not know, found by a strict decoder: it never lets a line pass in which a walk over the values finds something."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from benchmarks.damage import KINDS, as_text, make
from tallystick.algebra.surplus import known_keys
from tallystick.files.json_values import try_decode
from tallystick.tasks.records.files import RecordFile
from tallystick.tasks.records.schema import type_of_schema
from tallystick.tasks.records.shapes import Seen, infer_schema, strict_decoder

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "ü", 'q"', "\\"]) | st.just(1.5)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c d", "é", ""]), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip
documents = st.dictionaries(st.sampled_from(["a", "b", "c d", "é", "x"]), values, max_size=4)


@given(st.lists(documents, min_size=1, max_size=4), st.lists(documents, max_size=6), st.booleans())
def test_what_a_strict_decoder_takes_has_nothing_unknown(gold, predicted, counted):
    type_ = type_of_schema(infer_schema(gold)[0])
    place = known_keys(type_, counted=["a[*]"] if counted else ()).and_also(("id",))
    strict = strict_decoder(place, type_)
    for document in (*gold, *predicted):
        if strict is None:
            return
        try:
            strict(json.dumps(document).encode())
        except Exception:
            continue
        assert place.find(document) == []


def test_most_lines_of_an_ordinary_file_need_no_walk():
    gold = [make(random.Random(k)) for k in range(50)]
    type_ = type_of_schema(infer_schema(gold)[0])
    strict = strict_decoder(known_keys(type_), type_)
    for document in gold:
        strict(json.dumps(document).encode())


def one_by_one(values):
    """The shape of values, counted one after the other as their keys say: the plain way."""
    out = {"count": len(values), "kinds": {}, "fields": {}, "objects": 0, "lists": 0, "pairs": 0, "items": None}
    objects, items = {}, []
    for value in values:
        if type(value) is dict:
            out["objects"] += 1
            for key, one in value.items():
                objects.setdefault(key, []).append(one)
        elif type(value) is list:
            out["lists"] += 1
            out["pairs"] += len(value) == 2 and all(type(one) is int for one in value)
            items += value
        else:
            out["kinds"][type(value)] = out["kinds"].get(type(value), 0) + 1
    out["fields"] = {key: one_by_one(found) for key, found in objects.items()}
    out["items"] = one_by_one(items) if out["lists"] else None
    return out


def counts(seen):
    names = ("count", "objects", "lists", "pairs")
    return {
        **{name: getattr(seen, name) for name in names}, "kinds": dict(seen.kinds),
        "fields": {key: counts(one) for key, one in seen.fields.items()},
        "items": None if seen.items is None else counts(seen.items),
    }  # fmt: skip


@given(st.lists(values, max_size=12), st.integers(0, 12))
def test_a_shape_is_counted_the_same_all_at_once_and_one_by_one(found, cut):
    seen = Seen()
    seen.add(found[:cut])
    seen.add(found[cut:])
    assert counts(seen.add_up()) == one_by_one(found)
    assert list(seen.fields) == list(one_by_one(found)["fields"])


@pytest.mark.parametrize("lenient", [False, True])
def test_damaged_files_score_the_same_with_and_without_the_strict_decoder(tmp_path, monkeypatch, lenient):
    rng = random.Random(9)
    gold, system = [], []
    for number, damage in enumerate(list(KINDS.values()) * 3):
        document = make(rng)
        text = as_text(damage(document, rng)).replace("\n", " ")
        value = (try_decode(text) or (None,))[0]
        if lenient or isinstance(value, dict):
            gold.append(json.dumps({"id": number, **document}))
            system.append(json.dumps({"id": number, **value}) if isinstance(value, dict) else text)
    files = []
    for name, lines in (("gold", gold), ("system", system)):
        files.append(str(tmp_path / f"{name}.jsonl"))
        Path(files[-1]).write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")
    found = ts.score(*files, lenient=lenient)
    monkeypatch.setattr(RecordFile, "_strict_decoder", lambda self: None)
    assert found.to_json() == ts.score(*files, lenient=lenient).to_json()
    assert found["records"].documents == ts.score(*files, lenient=lenient)["records"].documents

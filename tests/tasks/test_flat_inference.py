"""What was seen in lines of flat records, counted with a decoder for them, is what is seen one dict at a time."""

import json
import pickle
import random

import msgspec
import pytest

from tallystick.files.documents import open_documents
from tallystick.tasks.records import shapes


def random_lines(seed: int) -> list[bytes]:
    """Flat records; now and then a null, a gap, a number of the other kind, an object or a text where a number was."""
    rng = random.Random(seed)
    rare = rng.choice((0, 0.001, 0.02))
    makers = {
        "name": lambda: rng.choice(("a", "größe", "x\ny")),
        "count": lambda: rng.choice((1, 2, 3, 4.5) if rare else (1, 2)),
        "right": lambda: rng.random() < 0.5,
        "note": lambda: rng.choice(("n", None)) if rare else "n",
        "größe": lambda: rng.choice((2.5, 10**30)),
    }

    def value(key: str) -> object:
        odd = (None, "text", 7, True, [1, 2], {"a": 1}, [])
        return rng.choice(odd) if rng.random() < rare else makers[key]()

    def line() -> bytes:
        kept = [key for key in makers if key == "name" or rng.random() >= rare]
        return json.dumps({key: value(key) for key in kept}, ensure_ascii=rng.random() < 0.5).encode()

    return [line() for _ in range(1500)]


@pytest.mark.parametrize("seed", range(12))
def test_the_schema_and_its_doubts_are_those_of_dicts(seed: int, tmp_path, monkeypatch) -> None:
    lines = random_lines(seed)
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    monkeypatch.setattr(shapes, "SEEN_AT_ONCE", 50)
    reference = open_documents(str(file), name="reference", take=None, id="id")
    found = shapes.infer_shape(reference)
    schema, doubts = shapes.infer_schema(map(msgspec.json.decode, lines))
    assert found.schema == schema
    assert list(found.schema["properties"]) == list(schema["properties"])
    assert list(found.doubts) == doubts


@pytest.mark.parametrize("seed", range(12))
def test_parts_that_travelled_are_the_whole(seed: int, tmp_path) -> None:
    lines = random_lines(seed)
    lines += [b'{"deep": [{"a": [1, 2]}, {"b": "x"}]}', b'{"deep": {"a": null}, "last": []}']
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    reference = open_documents(str(file), name="reference", take=None, id="id")
    ends = sorted(random.Random(seed).sample(range(1, len(lines)), 6))
    pieces = [lines[start:stop] for start, stop in zip([0, *ends], [*ends, len(lines)], strict=True)]
    parts = [shapes.see(open_documents(piece, name="part", take=None, id="id")) for piece in pieces]
    found = shapes.infer_shape(reference, pickle.loads(pickle.dumps(parts)))
    whole = shapes.infer_shape(reference)
    assert json.dumps(found.schema) == json.dumps(whole.schema)
    assert found.doubts == whole.doubts


def test_a_sieve_refuses_whatever_is_new_and_counts_nothing_of_it() -> None:
    seen = shapes.Seen()
    seen.add([{"a": "x", "b": 1}] * 3)
    count = shapes.flat_sieve(seen)
    assert count is not None
    for line in (
        b'{"a": "x"}',
        b'{"a": null, "b": 1}',
        b'{"a": "x", "b": "1"}',
        b'{"a": "x", "b": 1, "c": 1}',
        b"[]",
        b"{",
    ):
        assert not count([b'{"a": "y", "b": 2}', line])
        assert (seen.count, seen.objects, seen.fields["a"].count) == (3, 3, 3)
    assert count([b'{"b": 2.5, "a": "y"}'])
    assert (seen.count, seen.objects, seen.fields["a"].count) == (4, 4, 4)


def test_nested_records_have_no_sieve() -> None:
    for record in ({"a": [1]}, {"a": {"b": 1}}, {"a": None}, 3, {}):
        seen = shapes.Seen()
        seen.add([record] * 3)
        assert shapes.flat_sieve(seen) is None

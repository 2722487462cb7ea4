"""Clusters as JSON lines and as Python values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.errors import InputError, ValueMismatch
from tallystick.tasks.coreference.chains import Chains, chains_from_clusters, repeated_mentions
from tallystick.tasks.coreference.files import read_chains


def read(tmp_path: Path, *lines: object, fields: tuple[str, ...] = ()) -> Chains:
    path = tmp_path / "file.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return read_chains(path, fields=fields)


def test_documents_clusters_and_mentions(tmp_path: Path) -> None:
    chains = read(
        tmp_path,
        {"doc_key": "a", "clusters": [[[0, 0], [2, 3]], [[4, 5]]], "sentences": [["w"] * 4, ["w"] * 2]},
        "",
        {"id": 7, "clusters": [[[1, 1], [[3, 4], [6, 6]]]]},
    )
    assert chains.documents == ["a", "7"]
    assert chains.tokens.tolist() == [6, -1]
    assert chains.start.tolist() == [0, 2, 4, 1, 3]
    assert chains.end.tolist() == [0, 3, 5, 1, 6]
    assert chains.entity.tolist() == [0, 0, 1, 2, 2]
    assert chains.entity_names == ["0", "1", "0"]
    assert chains.lines.tolist() == [1, 1, 1, 3, 3]
    assert chains.parts == {4: ((3, 4), (6, 6))}
    assert chains.format == "jsonl"


def test_gold_and_predicted_side_by_side_are_never_guessed(tmp_path: Path) -> None:
    line = {"doc_id": "a", "clusters": [[[0, 0]]], "predicted_clusters": [[[1, 1]]]}
    with pytest.raises(InputError, match="say which of them"):
        read(tmp_path, line)
    assert read(tmp_path, line, fields=("predicted_clusters", "clusters")).start.tolist() == [1]
    assert read(tmp_path, line, fields=("clusters",)).start.tolist() == [0]


def test_empty_clusters_are_reported(tmp_path: Path) -> None:
    chains = read(tmp_path, {"doc_id": "a", "clusters": [[], [[0, 0]], []]})
    assert chains.entity_names == ["1"]
    (warning,) = chains.warnings
    assert ":1: 2 clusters without a mention" in warning


ERRORS: dict[str, tuple[object, int | None, str]] = {
    "no JSON": ('{"doc_id": "a", "clusters": [[[0, 0]}', 37, "is not JSON"),
    "a list": ("[]", None, "expected one JSON object a line"),
    "nothing": ({}, None, "found no keys; expected the clusters as one of"),
    "no clusters": (
        {"doc_id": "a", "mentions": []},
        None,
        'found "doc_id", "mentions"; expected the clusters',
    ),
    "clusters no list": ({"doc_id": "a", "clusters": {"x": 1}}, None, "expected a list of clusters"),
    "cluster no list": ({"doc_id": "a", "clusters": [3]}, None, "clusters[0] is 3"),
    "mention no span": (
        {"doc_id": "a", "clusters": [[[0, 0], [1, 2, 3]]]},
        None,
        "clusters[0][1] is [1,2,3]",
    ),
    "backwards": ({"doc_id": "a", "clusters": [[[2, 1]]]}, None, "expected [first, last]"),
    "not whole": ({"doc_id": "a", "clusters": [[[1.0, 2]]]}, None, "expected [first, last]"),
    "truth": ({"doc_id": "a", "clusters": [[[False, True]]]}, None, "expected [first, last]"),
    "too far": ({"doc_id": "a", "tokens": ["x"], "clusters": [[[0, 1]]]}, None, "the document has 1 tokens"),
    "parts overlap": ({"doc_id": "a", "clusters": [[[[0, 3], [2, 5]]]]}, None, "gaps between"),
    "tokens no list": ({"doc_id": "a", "tokens": "x y", "clusters": []}, None, 'tokens: expected a list, found "x y"'),
    "name": (
        {"doc_id": None, "clusters": []},
        None,
        "has no 'doc_id', and line 1 has one; give all documents ids, or none",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_line_and_the_path(tmp_path: Path, name: str) -> None:
    line, column, words = ERRORS[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, {"doc_id": "first", "clusters": []}, line)
    assert words in str(caught.value)
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (2, column)


def test_a_json_array_is_a_file_of_documents(tmp_path: Path) -> None:
    chains = read(tmp_path, [{"doc_id": "a", "clusters": []}, {"doc_id": "b", "clusters": [[[0, 1]]]}])
    assert (chains.documents, chains.entities) == (["a", "b"], 1)
    with pytest.raises(InputError, match="begins like no known coreference format"):
        read(tmp_path, [["a", []]])


def test_python_clusters_of_any_hashable() -> None:
    chains = chains_from_clusters([[{"a", "b"}, ["c"]], [], [[(0, 1), [2, 3]]]])
    assert chains.documents == ["0", "1", "2"]
    assert chains.entities == 3
    assert chains.document.tolist() == [0, 0, 0, 2, 2]
    assert chains.labels is not None
    assert set(chains.labels) == {"a", "b", "c", (0, 1), (2, 3)}
    assert chains_from_clusters({"x": [["a"]]}).documents == ["x"]


def test_repeated_python_mentions() -> None:
    (found,) = repeated_mentions(chains_from_clusters({"x": [["a", "b"], ["b"]]}))
    assert str(found) == '<python>: mention b of document x occurs in entity "1" and before that in "0"'


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ([["abc"]], "document 0, cluster 0: expected a list or set of mentions, found 'abc'"),
        ([[3]], "found 3"),
        ([[[{}]]], "expected a hashable mention"),
        (["abc"], "expected a list or set of clusters"),
    ],
)
def test_python_values_of_another_shape(documents: list[object], words: str) -> None:
    with pytest.raises(ValueMismatch) as caught:
        chains_from_clusters(documents)  # type: ignore[arg-type]
    assert words in str(caught.value)

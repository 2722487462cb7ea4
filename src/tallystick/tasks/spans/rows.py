"""Rows of tokens with their tags, as Hugging Face's datasets have them: JSON Lines, Parquet or Arrow.

    {"tokens": ["Ada", "met", "Alan"], "ner_tags": [1, 0, 1]}            or with names, ["B-PER", "O", "B-PER"]

Tags that are numbers need their names. They are looked for in this order:

| where                                              | who writes it                                            |
|----------------------------------------------------|----------------------------------------------------------|
| `--tag-names` O,B-PER,I-PER or a file              | the user: a list of names, dataset_info.json, config.json |
| the schema of the Parquet or Arrow file            | `to_parquet`, `save_to_disk`                              |
| dataset_info.json (or dataset_infos.json) beside it | `save_to_disk`, the Hub                                  |
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.errors import InputError, MetricError, some
from tallystick.files.annotated import documents_in, name_of, words
from tallystick.files.boundaries import Opening
from tallystick.files.json_values import Json, decode_line
from tallystick.files.lines import ArrowLines, is_arrow_file
from tallystick.files.source import Source
from tallystick.frozen import frozen

FIELDS = ("ner_tags", "tags", "labels")
"""Where the tags stand unless a field is named."""


def has_tags(opening: Opening) -> bool:
    """Whether the first row has tokens and as many tags."""
    value = opening.first
    if not isinstance(value, dict) or not isinstance(value.get("tokens"), list):
        return False
    found = next((value[key] for key in FIELDS if isinstance(value.get(key), list)), None)
    return found is not None and all(type(one) in (int, str) for one in found)


@frozen(eq=False)
class Row:
    """A text: its name if it has one, its line, its tokens and its tags."""

    name: str | None
    line: int
    tokens: list[str]
    tags: list[str]


def read_rows(source: Source, field: str | None, names: str | None) -> list[Row]:
    """The texts of a file."""
    out: list[Row] = []
    known: Sequence[str] | None = None
    for document in documents_in(source):
        tokens = list(words(document.at("tokens")))
        found = document.at(*((field,) if field else FIELDS))
        tags = found.each()
        if len(tags) != len(tokens):
            raise found.fail(f"expected a tag for each of the {len(tokens):,} tokens, found {len(tags):,}")
        if known is None and any(isinstance(one.value, int) for one in tags):
            known = tag_names(source, str(found.key), names, found)
        out.append(
            Row(name_of(document, "id"), document.place.line or 0, tokens, [_tag(one, known) for one in tags])
        )  # fmt: skip
    if not out:
        raise InputError("holds no texts; expected rows with tokens and tags", str(source))
    return out


def _tag(found: Json, names: Sequence[str] | None) -> str:
    if isinstance(found.value, str):
        return found.value
    number = found.whole()
    if names is None or not 0 <= number < len(names):
        there = f"0 to {len(names) - 1} ({some(names)})" if names else "none"
        raise found.fail(f"expected the number of one of the tags {there}, found {number}")
    return names[number]


def tag_names(source: Source, field: str, given: str | None, found: Json) -> Sequence[str]:
    """The names of tags that are numbers."""
    if given is not None:
        return given_names(given, field)
    for features in _features(source):
        names = _names_in(features, field)
        if names is not None:
            return names
    raise found.fail(
        "its tags are numbers, and their names are nowhere: give them, --tag-names O,B-PER,I-PER,... or --tag-names FILE (a JSON list, "
        "dataset_info.json, a model's config.json), or put dataset_info.json beside the file"
    )


def given_names(given: str, field: str) -> Sequence[str]:
    """The names that the user gave: themselves, or a file that has them."""
    if not os.path.exists(given):
        if "," not in given:
            raise MetricError(f"--tag-names: no such file, and no names with commas between them: {given!r}")
        return [name.strip() for name in given.split(",")]
    text = Source.of(given).text()
    if text.lstrip()[:1] not in ("{", "["):
        return [line.strip() for line in text.splitlines() if line.strip()]
    value = decode_line(text, given)
    names = value if isinstance(value, list) else _names_in(value, field)
    if names is None or not all(isinstance(one, str) for one in names):
        raise InputError(f'expected a list of names, features with {field!r}, or "id2label"', given)
    return names


def _features(source: Source) -> Iterator[Any]:
    """What is said about the columns in the file and beside it."""
    if is_arrow_file(source):
        metadata = ArrowLines(source).schema.metadata or {}
        if b"huggingface" in metadata:
            yield decode_line(metadata[b"huggingface"], f"{source} (its metadata)")
    folder = os.path.dirname(source.name)
    for name in ("dataset_info.json", "dataset_infos.json"):
        beside = os.path.join(folder, name)
        if source.name != "-" and os.path.isfile(beside):
            yield decode_line(Source.of(beside).text(), beside)


def _names_in(value: Any, field: str) -> list[str] | None:
    """The names of a column's tags in features, or those of a model's labels; None if there are none."""
    if not isinstance(value, Mapping):
        return None
    labels = _in_order(value.get("id2label"))
    if labels is not None:
        return labels
    features = value.get("features")
    if isinstance(features, Mapping) and field in features:
        return _class_names(features[field])
    inside = [_names_in(one, field) for one in value.values() if isinstance(one, Mapping) and "features" in one]
    return next((one for one in inside if one is not None), None)


def _class_names(feature: Any) -> list[str] | None:
    """The names of a ClassLabel, inside of whatever sequence holds it."""
    if isinstance(feature, list):
        return _class_names(feature[0]) if feature else None
    if not isinstance(feature, Mapping):
        return None
    names = _in_order(feature.get("names"))  # the Hub's README has them by number
    if names is not None:
        return names
    return _class_names(feature.get("feature", feature.get("class_label", feature.get("sequence"))))


def _in_order(names: Any) -> list[str] | None:
    """Names in a list or by number; None if they are something else."""
    if isinstance(names, Mapping):
        names = [names.get(str(k)) for k in range(len(names))]
    return names if isinstance(names, list) and names and all(isinstance(one, str) for one in names) else None

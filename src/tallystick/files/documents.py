"""Documents where people have them, all as `Lines`: one document a line, with the name that it has outside of itself.

    gold.jsonl, gold.json, gold.parquet     lines, a list, rows                  the id is a field of the document
    gold.json                               one object, {id: document}           the id is the key
    gold/                                   a folder of .json, .txt and .md      the id is the file's name
    gold.csv, gold.tsv                      a row a document                     a column may be a path: vendor.name, lines[0].sku
    from "response.body.choices[0].message.content", id "custom_id"              any of these, with the document further inside
    values in memory                        one document, a list, {id: document}, a data frame

A text that stands for a document (a model's answer) is its own line, whatever is in it; how to read it is the reader's business.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tallystick.errors import InputError, MetricError, Place, counted, did_you_mean, some
from tallystick.files.json_values import (
    TOO_DEEP,
    Unreadable,
    decode_line,
    expected_id,
    explained,
    finite,
    id_of,
    is_id,
    read_noisy,
    shown,
    try_decode,
)
from tallystick.files.lines import MOST_LINES, ArrowLines, Lines, Portion
from tallystick.files.source import AnySource, Source, is_arrow_file, unpacked_name
from tallystick.files.table import read_cells, separator

Steps = tuple[str | int, ...]

# Paths into a value: names, and places in lists.

_STEP = re.compile(r"\[(-?\d+)\]|\.?([^.\[\]]+)")
MISSING = object()


def read_path(path: str) -> Steps:
    """`choices[0].message` as ("choices", 0, "message")."""
    found = list(_STEP.finditer(path))
    if not found or "".join(one[0] for one in found) != path:
        raise MetricError(f"expected a path such as response.choices[0].message.content, found {path!r}")
    return tuple(int(one[1]) if one[1] else one[2] for one in found)


def value_at(value: Any, path: str) -> Any:
    """The value at a path, `MISSING` if there is none. A key that is spelt like the path comes first; a text on the way that is
    JSON is looked into."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for step in read_path(path):
        if isinstance(value, str):
            value = (try_decode(value) or (None,))[0]
        known = isinstance(value, list) if isinstance(step, int) else isinstance(value, dict)
        try:
            value = value[step] if known else MISSING
        except (KeyError, IndexError):
            value = MISSING
        if value is MISSING:
            return MISSING
    return value


def found_instead(value: Any, path: str) -> str:
    """What a document has in the place of an id, for a message."""
    if not isinstance(value, dict):
        return f" (it is {shown(value)})" if value is not None else ""
    found = value_at(value, path)
    return f" (it has {some(value)})" if found is MISSING else f" (found {shown(found)})"


def raw_at(line: bytes, path: str) -> bytes:
    """The value at a path of a line that has one, as it is written there: what is decoded and written anew has every key once."""
    from msgspec import Raw
    from msgspec.json import decode

    if line.lstrip()[:1] == b"{" and path in (inside := decode(line, type=dict[str, Raw])):
        return bytes(inside[path])
    for step in read_path(path):
        if line.lstrip()[:1] == b'"':
            line = decode(line, type=str).encode()
        kind: Any = list[Raw] if isinstance(step, int) else dict[str, Raw]
        line = bytes(decode(line, type=kind)[step])
    return line


def put_at(record: dict[str, Any], steps: Steps, value: Any) -> bool:
    """Put a value at a path of a record that grows on the way; False if something else is there already."""
    here: Any = record
    for step, after in zip(steps, (*steps[1:], None), strict=True):
        kind: Any = dict if isinstance(step, str) else list
        if not isinstance(here, kind):
            return False
        if isinstance(step, int):
            here.extend([None] * (step + 1 - len(here)))
        found = here[step] if isinstance(step, int) else here.get(step)
        if after is None:
            here[step] = value
            return found is None
        here[step] = ({} if isinstance(after, str) else []) if found is None else found
        here = here[step]
    return True


def is_wrong_id(value: Any) -> bool:
    """Whether this is meant to name a document, and cannot: a number that is not whole, or a truth value. Lists and objects may be anything."""
    return isinstance(value, (bool, float)) and not is_id(value)


def wrong_id(field: str, found: Any, place: Place | str) -> InputError:
    """The error about such an id."""
    return InputError(f"{field}: {expected_id(found)}; --id FIELD pairs by another field", place)


# Lines that are held in memory, or found in other lines.


def are_named(lines: Lines) -> bool:
    """Whether documents have names outside of themselves."""
    if isinstance(lines, PickedLines):
        return lines.take is not None  # otherwise the path of the name is one of the document's own
    return isinstance(lines, HeldLines) and lines.names is not None and not lines.inside


class HeldLines(Lines):
    """Documents that are in memory, with their names if they have any; `places` says where each came from."""

    def __init__(
        self, file: str, lines: Sequence[bytes], names: Sequence[Any] | None = None, places: Sequence[Place] | None = None,
        remark: str = "", texts: bool = False, inside: bool = False, invalid: Mapping[int, str] = MappingProxyType({}),
        reading: str = "",
    ) -> None:  # fmt: skip
        super().__init__(Source.of_text(b"", file))
        self.documents, self.names, self.places, self.remark = list(lines), names, places, remark
        self.invalid, self.reading = invalid, reading
        """What is wrong with documents that are none, by their place; and how one object was read, and what to do if it is the other thing."""
        self.texts, self.inside = texts, inside
        """Whether some documents are as a model wrote them, and whether names are inside, too."""

    def rename(self, other: Any) -> None:
        """Take names that are texts of digits for numbers, if those of the other side, of which this is one, are numbers."""
        texts = [name for name in self.names or () if name is not None]
        if type(other) is int and texts and all(isinstance(name, str) and name.isdecimal() for name in texts):
            self.names = [None if name is None else int(name) for name in self.names or ()]

    @property
    def seekable(self) -> bool:
        return False

    def place(self, number: int) -> Place:
        return super().place(number) if self.places is None else self.places[number - 1]

    def why_invalid(self, number: int, kind: str) -> str:
        return self.invalid.get(number - 1) or super().why_invalid(number, kind)

    def portions(self, most: int = MOST_LINES) -> Iterator[Portion]:
        for start in range(0, len(self.documents), most):
            lines = self.documents[start : start + most]
            names = None if self.names is None else list(self.names[start : start + most])
            yield Portion(list(range(start + 1, start + 1 + len(lines))), lines, [0] * len(lines), names)


class PickedLines(Lines):
    """Documents inside of other lines: at the path `take` of each, called what stands at the path `id`."""

    def __init__(self, lines: Lines, take: str | None, id: str, gaps: bool = False) -> None:
        self.inner, self.take, self.id, self.gaps = lines, take, id, gaps
        self.beside, self.found_beside = "", dict[int, Any]()
        """A path at which something else of a line is kept, and what was found there, by the number of the line."""
        self.keys: list[str] = []
        """The keys of the first line, where something else is looked for."""
        """With `gaps`, a line may have nothing at the path if others have: a request that failed has no answer."""
        self.source, self.name, self.file, self.remark = lines.source, lines.name, lines.file, lines.remark
        for path in (take, id):
            if path:
                read_path(path)

    @property
    def position(self) -> int:  # type: ignore[override]
        return self.inner.position

    @property
    def size(self) -> int:
        return self.inner.size

    @property
    def seekable(self) -> bool:
        return False

    def place(self, number: int) -> Place:
        return self.inner.place(number)

    def portions(self, most: int = MOST_LINES) -> Iterator[Portion]:
        import msgspec

        decode = msgspec.json.Decoder().decode
        gap: InputError | None = None
        filled = False
        for portion in self.inner.portions(min(most, MOST_LINES)):
            names, lines = [], []
            for place, (number, line) in enumerate(zip(portion.numbers, portion.lines, strict=True)):
                try:
                    line.decode()
                    outer = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise self.inner.not_json(error, number, line) from None
                if self.beside and self.take is not None:
                    self.found_beside[number] = value_at(outer, self.beside)
                    self.keys = self.keys or (list(outer) if isinstance(outer, dict) else [])
                name = id_of(value_at(outer, self.id))
                names.append(portion.names[place] if name is None and portion.names else name)
                try:
                    lines.append(line if self.take is None else self._document(outer, number, line))
                    filled = True
                except InputError as error:
                    if not self.gaps:
                        raise
                    gap = gap or error
                    lines.append(b"null")
            yield Portion(portion.numbers, lines, portion.offsets, names)
        if gap is not None and not filled:
            raise gap

    def has_texts(self) -> bool:
        """Whether some documents are as a model wrote them, or were never written."""
        assert self.take is not None
        lines = (line for portion in self.inner.portions() for line in portion.lines)
        return any(_is_text(value_at((try_decode(line) or (MISSING,))[0], self.take)) for line in lines)

    def not_json(self, error: Exception, number: int, line: bytes, advice: str = "") -> InputError:
        if self.take is None:
            return self.inner.not_json(error, number, line, advice)
        return InputError(f"the text under {self.take!r} {explained(error, line)}{advice}", self.place(number))

    def _document(self, outer: Any, number: int, line: bytes) -> bytes:
        assert self.take is not None
        found = value_at(outer, self.take)
        if found is MISSING:
            known = ", ".join(map(str, outer)) if isinstance(outer, dict) else type(outer).__name__
            hint = did_you_mean(self.take, outer) if isinstance(outer, dict) else ""
            way = _way(outer, read_path(self.take))
            raise InputError(
                f"has no field {self.take!r}, found {known}{way}{'.' + hint if hint else ''}", self.place(number)
            )
        return found.encode() if isinstance(found, str) else raw_at(line, self.take)


def _way(value: Any, steps: Steps) -> str:
    """How far a path that leads nowhere leads."""
    come = ""
    for step in steps:
        further = f"{come}[{step}]" if isinstance(step, int) else f"{come}.{step}" if come else step
        inner = value_at(value, f"[{step}]" if isinstance(step, int) else step)
        if inner is MISSING:
            break
        value, come = inner, further
    return f"; {come} is {json.dumps(value, ensure_ascii=False)[:60]}" if come else ""


# Whatever is given, as lines.

Kinds = Callable[[str], str]
"""What kind of value a path of a document holds: text, number, boolean, or nothing where that is not known."""


def open_documents(
    given: Any, *, name: str = "values", take: str | None = None, id: str = "id", kinds: Kinds | None = None,
    fields: Collection[str] = (), by_key: bool = False, text: bool = True, gaps: bool = False, least: int = 2,
    is_document: Callable[[Mapping[str, Any]], bool] = bool,
) -> Lines:  # fmt: skip
    """Documents wherever they are. `take` is the path of the document in what is found there, `id` that of its name; `fields` are
    those that a document is known to have, and `by_key` says that one object is {id: document}. Else it is if it has `least` objects that are alike.
    `is_document` tells what could be a document by itself from a part of one."""
    if isinstance(given, Lines):
        return given
    found: Lines
    if in_file := isinstance(given, (str, os.PathLike)):
        found = _open_file(given, kinds, fields, by_key, id, least)
        found.remark = found.remark or _listed_on_one_line(found, id, is_document)
    else:
        found = hold_values(given, name, fields, by_key, text=text, least=least, paths=(take, id))
    if take is None and id.isidentifier():
        return found
    picked = PickedLines(found, take, id, gaps)
    picked.texts = found.texts if take is None else text and not in_file and picked.has_texts()
    return picked


def _open_file(
    name: AnySource, kinds: Kinds | None, fields: Collection[str], by_key: bool, id: str, least: int
) -> Lines:
    source = Source.of(name)
    if source.held is None and not source.is_part and os.path.isdir(source.name):
        return _open_folder(source)
    if is_arrow_file(name):
        return ArrowLines(name)
    plain = unpacked_name(source.name).lower()
    if plain.endswith((".csv", ".tsv")) and not source.is_part:
        return _read_table(source, "\t" if plain.endswith(".tsv") else None, kinds, id)
    lines = Lines(name)
    if (line := _whole(lines)) and (found := try_decode(line)) is not None:
        held_by_id = _hold_mapping(found[0], lines.file, fields, by_key, least=least)
        if held_by_id is not None:
            decode_line(
                line, lines.file
            )  # of two documents with one id, or two values under one key, the first would be gone
            return held_by_id
    return lines


def _whole(lines: Lines) -> bytes:
    """The one value of a .json file; nothing of other files."""
    held = lines._held or []
    one = unpacked_name(lines.source.name).lower().endswith(".json") and len(held) == 1 and not lines.listed
    return held[0] if one else b""


def _listed_on_one_line(lines: Lines, id: str, is_document: Callable[[Mapping[str, Any]], bool]) -> str:
    """What to say of a file of lines that has one line, a list of what has ids: it is one document, and was hardly meant to be."""
    if type(lines) is not Lines or lines.listed or lines.source.is_part:
        return ""
    first = next((portion.lines for portion in lines.portions(2)), [])
    if len(first) != 1 or first[0].lstrip()[:1] != b"[":
        return ""
    (value,) = try_decode(first[0]) or ([],)
    names = [value_at(one, id) for one in value if isinstance(one, dict) and is_document(one)]
    if len(names) < 2 or len(names) < len(value) or not all(map(is_id, names)) or len(set(names)) < len(names):
        return ""
    what = f"a list of {counted(len(value), 'object')} with ids; expected a document on each line, or a .json file"
    return f"{lines.file} is read as one document, because it is one line: {what}"


def _hold_mapping(
    value: Any, file: str, fields: Collection[str], by_key: bool, text: bool = True, least: int = 2,
    paths: Sequence[str | None] = (),
) -> HeldLines | None:  # fmt: skip
    """{id: document} as documents with names; None if the value is one document.

    One object could be either. It is taken for several documents if they look like several of one kind: `least` objects or more that
    share keys, under keys that are no fields of a document. One object is enough if it has some of the known fields.
    """
    if not isinstance(value, Mapping) or set(value) & set(fields):
        return None
    if by_key and not value:
        return HeldLines(file, [], [])
    if not by_key:
        found = [_keys_of(one, noisy=bool(fields)) for one in value.values()]
        keys = [set(one) for one in found if one is not None]
        known = set(fields) if least == 1 else ()  # a single object in a prediction may as well be wrapped in something
        if len(keys) < least or not all(
            one & known if known else one and 2 * len(one & keys[0]) > len(one | keys[0]) for one in keys
        ):
            return None
    remark = f"{file} is read as {counted(len(value), 'document')} by id: its keys are the ids, such as {next(iter(value))!r}"
    held = f"give [{file}]" if file in SIDES else "write it as one line of a .jsonl file"
    documents = _nan_as_none(_without_nan(list(value.values())), file, paths)
    return HeldLines(
        file,
        [encode(one, file, text) for one in documents],
        list(map(_name, value)),
        remark=remark,
        texts=text and any(map(_is_text, documents)),
        reading=f"{remark}; if it is one record, {held}",
    )


SIDES = ("reference", "predicted")
"""What the sides of data in memory are called."""


def one_object(given: Any) -> Mapping[Any, Any]:
    """The object that a side is, in memory or in a .json file; an empty one of anything else."""
    if isinstance(given, (str, os.PathLike)) and os.path.isfile(given):
        if not unpacked_name(given).lower().endswith(".json"):
            return {}
        given = (try_decode(_whole(Lines(given)) or b"null") or (None,))[0]
    return given if isinstance(given, Mapping) and table_rows(given) is None else {}


def holds_documents(value: Mapping[Any, Any]) -> bool:
    """Whether an object has nothing but what could be documents: objects, and texts that hold one."""
    return bool(value) and all(_keys_of(one, noisy=True) for one in value.values())


def are_documents_by_id(reference: Any, predicted: Any, id: str) -> bool:
    """Whether the one object that a reference is has documents under their ids: for its objects the prediction has texts that hold
    objects, or documents with its keys as ids. By itself it could be one document."""
    ours = one_object(reference)
    if not holds_documents(ours) or any(map(_is_text, ours.values())):
        return False
    theirs = one_object(predicted)
    if theirs:
        texts = all(map(_is_text, theirs.values()))
        return texts and any(
            one is not None and _keys_of(one, noisy=True) for key, one in theirs.items() if key in ours
        )
    again = (
        isinstance(predicted, Sequence) if not isinstance(predicted, (str, os.PathLike)) else os.path.isfile(predicted)
    )
    return again and has_any_id(open_documents(predicted), id, ours)


def has_any_id(lines: Lines, id: str, wanted: Collection[Any]) -> bool:
    """Whether any document is called by one of these names."""
    names = {str(one) for one in wanted}
    for portion in lines.portions():
        for place, line in enumerate(portion.lines):
            name = portion.names[place] if portion.names else None
            if name is None:
                name = id_of(value_at((try_decode(line) or (None,))[0], id))
            if name is not None and str(name) in names:
                return True
    return False


def _keys_of(value: Any, noisy: bool) -> list[str] | None:
    """The keys of what may be a document; None of a model's text that holds none, if such may be there."""
    if isinstance(value, str):
        try:
            value = read_noisy(value)[0] if noisy else (try_decode(value) or (None,))[0]
        except Unreadable:
            return None
    if isinstance(value, Mapping):
        return list(map(str, value))
    kind: Any = type(value)
    return list(getattr(kind, "model_fields", ()) or getattr(kind, "__annotations__", ()))


def _name(key: Any) -> Any:
    found = id_of(key)
    return str(key) if found is None else found


# A folder of files, each a document that is called what its file is called.

DOCUMENTS, TEXTS = (".json",), (".txt", ".md")


def _open_folder(source: Source) -> HeldLines:
    top = Path(source.name)
    files = sorted(path for path in top.rglob("*") if path.is_file() and not _hidden(path.relative_to(top)))
    known = [path for path in files if unpacked_name(path).lower().endswith((*DOCUMENTS, *TEXTS))]
    if not known:
        raise InputError("has no .json, .txt or .md file; expected a folder with a file for each document", str(source))
    names: dict[str, Path] = {}
    for path in known:
        name = Path(unpacked_name(path.relative_to(top))).with_suffix("").as_posix()
        if name in names:
            raise InputError(f"is the document {name!r}, and so is {names[name]}; names must differ", str(path))
        names[name] = path
    other = [path for path in files if path not in set(known)]
    remark = (
        f"{source}: not read, being no .json, .txt or .md: {counted(len(other), 'file')}, such as {other[0].name}"
        if other
        else ""
    )
    lines = [Source.of(path).read().removeprefix(b"\xef\xbb\xbf") for path in known]
    return HeldLines(str(source), lines, list(names), [Place(str(path)) for path in known], remark)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


# Tables of text: a row is a document, and the name of a column is its path.

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_TRUTH = {"true": True, "false": False}


def _read_table(source: Source, mark: str | None, kinds: Kinds | None, id: str) -> HeldLines:
    text = source.text()
    rows = read_cells(text, str(source), mark or separator("", text), first=source.line(1))
    header = next(rows, (0, []))[1]
    places, cells = [], []
    for line, row in rows:
        places.append(Place(str(source), line))
        cells.append(row)
    paths = _header(header, source)
    columns = [
        _cast_column(one, kinds(path) if kinds else "")
        for path, one in zip(header, zip(*cells, strict=True), strict=False)
    ]
    records = unflatten(paths, zip(*columns, strict=True), str(source))
    lines = [encode(one, str(source)) for one in records]
    names = [row[header.index(id)] or None for row in cells] if id in header else None
    return HeldLines(str(source), lines, names, places, inside=True)


def _header(header: Sequence[str], source: Source) -> list[Steps]:
    again = next((one for one in header if list(header).count(one) > 1), None)
    if again is not None or not header or "" in header:
        what = "an empty file" if not header else f"two columns named {again!r}" if again else "a column without a name"
        raise source.error(f"expected a line with a name for each column, found {what}", 1)
    try:
        return [read_path(one) for one in header]
    except MetricError as error:
        raise source.error(str(error), 1) from None


def unflatten(paths: Sequence[Steps], rows: Iterable[Sequence[Any]], file: str) -> Iterator[dict[str, Any]]:
    """Rows of cells as records, each cell at its path; a cell of None is nothing."""
    for row in rows:
        record: dict[str, Any] = {}
        for steps, cell in zip(paths, row, strict=True):
            if cell is not None and not put_at(record, steps, cell):
                raise InputError(f"the columns disagree about what {''.join(map(str, steps[:1]))!r} is", file)
        yield _without_gaps(record)


def _without_gaps(value: Any) -> Any:
    """A list that columns made ends where its cells do, and has no holes."""
    if isinstance(value, list):
        return [_without_gaps(one) for one in value if one is not None]
    return {key: _without_gaps(one) for key, one in value.items()} if isinstance(value, dict) else value


def _cast_column(cells: Sequence[str], kind: str) -> list[Any]:
    """The values of a column. Where its kind is not known, a column of nothing but numbers holds numbers, all else is text."""
    there = [cell for cell in cells if cell]
    if not kind and there:
        kind = (
            "number"
            if all(map(_NUMBER.fullmatch, there))
            else "boolean"
            if all(cell.lower() in _TRUTH for cell in there)
            else "text"
        )
    return [_cast(cell, kind) for cell in cells]


def _cast(cell: str, kind: str) -> Any:
    if not cell:
        return None
    if cell[0] in "{[" and (found := try_decode(cell)) is not None:
        return found[0]
    if kind == "boolean":
        return _TRUTH.get(cell.lower(), cell)
    return (try_decode(cell) or (cell,))[0] if kind == "number" and _NUMBER.fullmatch(cell) else cell


# Values in memory.


def hold_values(
    given: Any, name: str, fields: Collection[str] = (), by_key: bool = False, *, text: bool = True, least: int = 2,
    paths: Sequence[str | None] = (),
) -> HeldLines:  # fmt: skip
    """One document, a list of them, {id: document} or a data frame, as lines. With `text` a text is a document as it was
    written; else it is a value. `paths` are those of the document and of its name."""
    if getattr(given, "ndim", None) == 0:  # an array that is one value
        given = given.item()
    rows = table_documents(given, name)
    if rows is not None:
        given = rows
    elif isinstance(given, Mapping):
        mapping = _hold_mapping(given, name, fields, by_key, text, least, paths)
        if mapping is not None:
            return mapping
    reading = ""
    if isinstance(given, Mapping) and holds_documents(given):
        reading = f'{name} is read as one record; if its keys are ids, give [{{"id": key, ...}}]'
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable) or _is_record(given):
        given = [given]
    given = _nan_as_none(_without_nan(list(given)), name, paths)
    texts = text and any(map(_is_text, given))
    return HeldLines(name, [encode(one, name, text) for one in given], texts=texts, reading=reading)


def one_beside_one(sides: Sequence[Any]) -> list[Any]:
    """Two sides, of which an object is one document if the other is: a text, or an instance of a type."""
    one = [
        (isinstance(side, str) and looks_like_text(side)) or isinstance(side, bytes) or _is_instance(side)
        for side in sides
    ]
    out = [[side] if alone else side for side, alone in zip(sides, one, strict=True)]
    for here, other in ((0, 1), (1, 0)):
        given, beside = sides[here], sides[other]
        if one[other] and isinstance(given, Mapping) and table_rows(given) is None:
            keys = {*(_keys_of(beside, noisy=True) or ())}
            inner = [{*(_keys_of(value, noisy=False) or ())} for value in given.values()]
            if inner and all(inner) and keys and not keys & {*map(str, given)} and any(keys & held for held in inner):
                raise MetricError(
                    f"{SIDES[here]} can be one record or {counted(len(given), 'record')} by id ({some(given)}), and {SIDES[other]} is one "
                    f"text or instance, with {some(sorted(keys))}; for one record give [{SIDES[here]}] and [{SIDES[other]}], for "
                    f"records by id give {SIDES[other]} by id, too"
                )
            out[here] = [given]
    return out


def _is_instance(value: Any) -> bool:
    return _is_record(value) or (hasattr(value, "__dataclass_fields__") and not isinstance(value, type))


def _without_nan(documents: list[Any]) -> list[Any]:
    """Documents with None for each that is not there, as pandas says it; among numbers, NaN is one."""
    gaps = [_is_gap(one) for one in documents]
    if not any(gaps) or any(isinstance(one, (int, float)) for one, gap in zip(documents, gaps, strict=True) if not gap):
        return documents
    return [None if gap else one for one, gap in zip(documents, gaps, strict=True)]


def _nan_as_none(documents: list[Any], name: str, paths: Sequence[str | None]) -> list[Any]:
    """Documents with None at the paths of the document and of its name, if a NaN is there; a reference has to be."""
    out = list(documents)
    for place, path in enumerate(paths):
        steps = read_path(path) if path else ()
        for k, one in enumerate(out) if path else ():
            own = (path,) if isinstance(one, dict) and path in one else steps
            out[k] = _without_gap(one, own)  # type: ignore[arg-type]
            if out[k] is not one and place == 0 and name == "reference":
                raise InputError(f"{path}: is missing (NaN); expected a document", Place(name, k + 1))
    return out


def _without_gap(value: Any, steps: Steps) -> Any:
    if not steps:
        return None if _is_gap(value) else value
    step, inside = steps[0], isinstance(value, dict) if isinstance(steps[0], str) else isinstance(value, (list, tuple))
    if not inside or not (step in value if isinstance(value, dict) else step < len(value)):  # type: ignore[operator]
        return value
    found = _without_gap(value[step], steps[1:])
    if found is value[step]:
        return value
    if isinstance(value, dict):
        return {**value, step: found}
    return [found if k == step else one for k, one in enumerate(value)]


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, (str, bytes))


def _is_record(value: Any) -> bool:
    return hasattr(type(value), "model_fields") or hasattr(value, "_fields") or hasattr(value, "__struct_fields__")


def table_rows(given: Any) -> list[dict[str, Any]] | None:
    """The rows of a data frame or table, of whichever library; None if it is none."""
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):  # polars' lazy frame
        given = given.collect()
    if hasattr(given, "to_dicts"):  # polars
        return list(given.to_dicts())
    if hasattr(given, "to_pylist") and hasattr(given, "schema"):  # pyarrow
        try:
            return list(given.to_pylist(maps_as_pydicts="strict"))
        except (ValueError, KeyError) as error:  # a key twice
            raise MetricError(f"a table: {str(error).splitlines()[0]}") from None
    if hasattr(given, "to_list") and hasattr(given, "column_names"):  # datasets
        return list(given.to_list())
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # pandas
        frame = given.reset_index() if given.index.name is not None else given
        return [{key: None if _is_gap(cell) else cell for key, cell in row.items()} for row in frame.to_dict("records")]
    return None


def table_documents(given: Any, name: str) -> list[dict[str, Any]] | None:
    """The rows of a data frame as records: the name of a column may be a path. None if it is none."""
    rows = table_rows(given)
    keys = {key for row in rows or () for key in row if isinstance(key, str) and ("." in key or "[" in key)}
    if rows is None or not keys:
        return rows
    paths = {key: read_path(key) for key in keys}
    return [next(unflatten([paths.get(key, (key,)) for key in row], [list(row.values())], name)) for row in rows]


def _is_gap(cell: Any) -> bool:
    """NaN, NaT and NA, which are how pandas says that there is nothing."""
    return type(cell).__name__ in ("NaTType", "NAType") or (isinstance(cell, float) and math.isnan(cell))


def encode(value: Any, name: str, text: bool = True) -> bytes:
    """A value as a line of JSON; a text that stands for a document as it is."""
    import msgspec

    if text and isinstance(value, bytes):
        return value
    if text and isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        line: bytes = _encode(value)
        if not _NOT_FINITE.search(line):
            return line
        return _encode(finite(msgspec.to_builtins(value, enc_hook=_plain, builtin_types=(Decimal,))))
    except RecursionError:
        key = _key_of_no_text(value)
        raise MetricError(
            f"{name}: {TOO_DEEP if key is None else f'has the key {key[0]!r:.60}; expected text'}"
        ) from None
    except UnicodeEncodeError as error:
        if name == "reference":
            raise MetricError(f"{name}: holds half of a surrogate pair, which is not a character ({error})") from None
        return _encode(finite(msgspec.to_builtins(value, enc_hook=_plain, builtin_types=(Decimal,))))
    except (TypeError, ValueError, OverflowError) as error:
        raise MetricError(f"{name}: {error}") from None


_NOT_FINITE = re.compile(rb"null|NaN|Infinity")
"""How msgspec writes floats and decimals that JSON does not have."""


def _key_of_no_text(value: Any, deep: int = 20) -> tuple[Any] | None:
    """A key that is a collection, alone in a tuple: msgspec asks for another again and again."""
    inside: list[Any] = []
    if isinstance(value, Mapping):
        wrong = next(((key,) for key in value if isinstance(key, (tuple, frozenset))), None)
        if wrong:
            return wrong
        inside = list(value.values())
    elif isinstance(value, (list, tuple)):
        inside = list(value)
    return next((found for one in inside if deep and (found := _key_of_no_text(one, deep - 1))), None)


def _encode(value: Any) -> bytes:
    import msgspec

    return msgspec.json.Encoder(decimal_format="number", enc_hook=_plain).encode(value)


def _plain(value: Any) -> Any:
    """What JSON has no kind for: models, arrays and other collections as what they hold."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    for method in ("tolist", "to_pydatetime", "to_pytimedelta"):
        if hasattr(value, method):
            return getattr(value, method)()
    for kind in (str, int, float):  # a class of somebody's that is one
        if isinstance(value, kind):
            own: Any = kind
            return own.__getnewargs__(value)[0]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (Sequence, Collection)):
        return list(value)
    kind = type(value)
    raise TypeError(
        f"a value of type {kind.__module__}.{kind.__qualname__} is no data; expected what JSON can hold, a dataclass, a model"
    )


# Times in memory that are dates: a column of pandas has no dates, and what a model writes has no times.


class Dated(list[Any]):
    """Documents of which some times were taken for dates, which `notes` tell."""

    notes: tuple[str, ...] = ()


class DatedById(dict[Any, Any]):
    """The same by id."""

    notes: tuple[str, ...] = ()


def dates_beside_dates(sides: Sequence[Any], takes: Sequence[str | None]) -> list[Any]:
    """Two sides, in which times that are all midnight, without a zone, are dates if the other side has dates there, and no times.
    `takes` are the paths of the documents in each side."""
    out = [list(side) if isinstance(side, Iterator) else side for side in sides]
    held = [_documents_in(side, name) for side, name in zip(out, SIDES, strict=True)]
    found = [_times(side) for side in held]
    for here, other in ((0, 1), (1, 0)):
        paths = {path for path, times in found[here].items() if all(map(_is_midnight, times))}
        chosen = _dates_among(paths, out[other], takes[other], SIDES[other]) if paths else set()
        if chosen:
            dated = [_with_dates(one, "", chosen) for one in held[here]]
            by_id = isinstance(out[here], Mapping) and len(held[here]) == len(out[here])
            kept = DatedById(zip(out[here], dated, strict=True)) if by_id else Dated(dated)
            why = "because all of its times are midnight and the other side has dates there"
            kept.notes = tuple(f"{SIDES[here]}: {path} is read as dates, {why}" for path in sorted(chosen))
            out[here] = kept
    return out


def _documents_in(side: Any, name: str) -> list[Any]:
    """The documents of a side in memory; of an object of objects, these."""
    rows = table_documents(side, name)
    if rows is not None:
        return rows
    if isinstance(side, Mapping):
        return list(side.values()) if all(isinstance(one, Mapping) for one in side.values()) else [side]
    return list(side) if isinstance(side, (list, tuple)) else []


def _times(documents: Iterable[Any]) -> dict[str, list[datetime]]:
    """The times in documents, by their paths; nothing of paths with anything else."""
    found: dict[str, list[datetime]] = {}
    others = set()
    for path, value in (leaf for one in documents if isinstance(one, Mapping) for leaf in _leaves(one)):
        if isinstance(value, datetime):
            found.setdefault(path, []).append(value)
        elif value is not None:
            others.add(path)
    return {path: times for path, times in found.items() if path not in others}


def _is_midnight(value: datetime) -> bool:
    return value.time() == time() and value.tzinfo is None and not getattr(value, "nanosecond", 0)


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(_DAY.pattern + r"[T ]\d\d:")


def _dates_among(paths: Collection[str], side: Any, take: str | None, name: str) -> set[str]:
    """At which of these paths the documents of a side have dates, and no times."""
    dates, times = set(), set()
    if isinstance(side, (str, os.PathLike)):
        lines = open_documents(side, take=take).portions()
        documents: Iterable[Any] = (line for portion in lines for line in portion.lines)
    else:
        documents = (one if take is None else value_at(one, take) for one in _documents_in(side, name))
    for one in documents:
        if isinstance(one, (str, bytes)):
            with suppress(Unreadable):
                one = read_noisy(one if isinstance(one, str) else one.decode("utf-8", "replace"))[0]
        for path, value in _leaves(one) if isinstance(one, Mapping) else ():
            if path not in paths:
                continue
            if isinstance(value, datetime) or (isinstance(value, str) and _TIME.match(value)):
                times.add(path)
            elif isinstance(value, date) or (isinstance(value, str) and _DAY.fullmatch(value)):
                dates.add(path)
    return dates - times


def _with_dates(value: Any, path: str, chosen: Collection[str]) -> Any:
    """A document in which the times at some paths are dates."""
    if isinstance(value, Mapping):
        return {key: _with_dates(one, f"{path}.{key}" if path else str(key), chosen) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_dates(one, f"{path}[*]", chosen) for one in value]
    return value.date() if path in chosen and isinstance(value, datetime) else value


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one, f"{path}[*]")
    else:
        yield path, value


def looks_like_text(given: str) -> bool:
    """Whether a string is a document rather than the name of a file."""
    if os.path.exists(given) if len(given) < 4096 and "\0" not in given else False:
        return False
    ending = unpacked_name(given).lower().rpartition(".")[2]
    is_name = given == "-" or (ending in ENDINGS and not re.search(r"[\n{\[]", given))
    return not is_name


ENDINGS = ("json", "jsonl", "ndjson", "csv", "tsv", "parquet", "pq", "arrow", "feather", "ipc")

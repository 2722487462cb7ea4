"""Plain data as people have it, laid out as the lines of a task's files.

    ts.coreference([[(0, 2), (5, 6)]], [[(0, 2)]])       one document
    ts.coreference({"d1": [...], "d2": [...]}, {...})    documents by id

becomes JSON Lines in memory, `{"id": "0", "clusters": [[[0, 1], [5, 5]]]}`, and goes the way of every file from there: one reader, one
pairing, one wording for what is wrong. A side is a path, an open file, the text of a file, or data. Of data a task says what *one*
document looks like (`Task.document`); whether a side is one document or many is found by trying both. What can be read in both ways on
both sides is refused, and so is what can be read in neither.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from tallystick.errors import InputError, SidesMismatch, TallystickError, ValueMismatch, counted
from tallystick.files.documents import table_rows
from tallystick.files.json_values import expected_id, id_of
from tallystick.files.source import Source
from tallystick.frozen import frozen

NAMES = ("id", "doc_id", "doc_key", "docid")
"""Under which of these a document that is a dict has its name."""
SCALARS = {str, int, float, bool, type(None)}

DocumentOf = Callable[[Any, str], Any]


class Unordered(list[Any]):
    """What was a set: items without an order."""


class _Bytes(ValueMismatch):
    """Bytes among data, which JSON would have in another guise."""


class Structure(dict[str, Any]):
    """What was a value of `tallystick.structures`, and so has the fields of one."""


class Unfit(ValueMismatch):
    """A value that does not have the shape of a document; any other error is about what stands in one."""


@frozen
class Given:
    """The documents of one side, each as its task laid it out, and their names where they have any."""

    name: str
    documents: tuple[Any, ...]
    ids: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    """What is to be said about it."""

    @property
    def lines(self) -> Source:
        """The documents as JSON Lines; an empty list, if there are none."""
        import msgspec

        out = []
        for place, document in enumerate(self.documents):
            named = document if self.ids is None else {**document, "id": self.ids[place]}
            try:
                out.append(msgspec.json.encode(named))
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueMismatch(f"{self.name}[{place}]: holds what is no plain data ({error})") from None
        return self.source(b"\n".join(out) + b"\n" if out else b"[]")

    def source(self, content: str | bytes) -> Source:
        """A text in memory under this side's name."""
        return dataclasses.replace(Source.of_text(content, f"<{self.name}>"), notes=self.notes)


Side = Source | Given


def take_sides(
    document: DocumentOf, reference: Any, predicted: Any, keys: Iterable[str], what: str
) -> tuple[Side, Side]:
    """Both sides, as sources or as documents in one order. `keys` are those of a document that is a dict; `what` names one."""
    given = {"reference": reference, "predicted": predicted}
    check_indexes(reference, predicted)
    out: dict[str, Side] = {}
    read: dict[str, _Readings] = {}
    for name, value in given.items():
        source = source_of(value, name)
        if source is not None:
            out[name] = source
        else:
            try:
                laid = plain(value)
            except _Bytes as error:
                raise ValueMismatch(f"{name} holds bytes, {error}; expected text: decode them") from None
            read[name] = _Readings.of(document, laid, name, frozenset(keys), what)
    shared = set.intersection(*({*one.found} for one in read.values())) if read else set()
    if read and len(shared) != 1:
        raise _undecided(list(read.values()), shared)
    for name, readings in read.items():
        if shared == {"one"}:
            _check_rows(readings, given[name])
        out[name] = found = readings.found[next(iter(shared))]
        if name == "reference" and not found.documents:  # a prediction that is empty lacks all documents
            raise ValueMismatch(f"{name} has no documents; expected one {what}, or several")
    mappings = {isinstance(one.value, dict) for one in read.values() if one.value}
    if shared == {"many"} and len(mappings) == 2:
        raise SidesMismatch("one side is a mapping by document id and the other is a list; give both in one form")
    left, right = out["reference"], out["predicted"]
    if isinstance(left, Given) and isinstance(right, Given):
        return _in_one_order(left, right)
    return left, right


# Files and texts


def source_of(value: Any, name: str) -> Source | None:
    """A path, an open file or the text of a file as a source; None for data. A text of several lines, or one that begins like JSON or
    with a parenthesis, is read as the content of a file; any other as the name of one."""
    if value is None:
        raise ValueMismatch(
            f"{name} is None; expected a file or documents (an empty document is an empty list or dict)"
        )
    if isinstance(value, (bytes, bytearray)):
        return Source.of_text(bytes(value), f"<{name}>")
    if isinstance(value, str):
        if "\n" in value or value.lstrip()[:1] in ("{", "[", "("):
            return Source.of_text(value, f"<{name}>")
        if not value:
            raise ValueMismatch(f"{name} is an empty text; expected the name of a file, or its content")
        if value != "-" and not os.path.lexists(value):
            raise InputError(
                f"no such file; {name} was given as a text of one line, which is read as the name of a file", value
            )
        return Source.of(value)
    if isinstance(value, os.PathLike):
        return Source.of(value)
    if hasattr(value, "read") and not isinstance(value, Mapping):
        return _opened(value, name)
    return None


def _opened(stream: Any, name: str) -> Source:
    """An open file: by its name if nothing was read from it yet, so that it is read as the command would; else what is left of it."""
    file = getattr(stream, "name", None)
    try:
        if isinstance(file, str) and os.path.isfile(file) and stream.tell() == 0:
            return Source.of(file)
        content = stream.read()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error})", str(file or name)) from None
    if not isinstance(content, (str, bytes)):
        raise ValueMismatch(f"{name} is an open file that gives {type(content).__name__}, expected text")
    return Source.of_text(content, file if isinstance(file, str) else f"<{name}>")


# Data


def plain(value: Any) -> Any:
    """Data as lists, dicts and plain values: arrays, columns and rows of tables, tuples, sets, iterators, dataclasses, pydantic models.
    A mention of `tallystick.structures`, whose ends are inclusive, becomes one with an exclusive end."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, (list, tuple)):
        return list(value) if set(map(type, value)) <= SCALARS else [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key if type(key) in SCALARS else _key(key): plain(one) for key, one in value.items()}
    if hasattr(value, "left") and hasattr(value, "right"):
        return _mention(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain_dataclass(value)
    return _plain_container(value)


def _plain_dataclass(value: Any) -> dict[str, Any]:
    found = {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    return Structure(found) if type(value).__module__.startswith("tallystick.structures") else found


def _plain_container(value: Any) -> Any:
    """Data of a class that is neither a list, a mapping nor a dataclass."""
    rows = _rows(value)
    if rows is not None:
        return plain(rows)
    if is_doc(value):
        from tallystick.files.exports import doc_fields

        return doc_fields(value)
    if isinstance(value, (set, frozenset)):
        return Unordered(plain(one) for one in sorted(value, key=repr))
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise _Bytes(f"{bytes(value)!r:.60}")
    if not isinstance(value, Iterable):
        return None if type(value).__name__ == "NAType" else value  # pandas has a value of its own for what is missing
    return [plain(one) for one in value]


def is_doc(value: Any) -> bool:
    """Whether a value is one of spaCy's documents."""
    return type(value).__module__.startswith("spacy.") and hasattr(value, "ents") and hasattr(value, "to_array")


def _key(key: Any) -> Any:
    return plain(key) if isinstance(key, (bytes, bytearray, memoryview)) else key


def _rows(value: Any) -> Any:
    """What tables, columns, arrays and models hold; None for anything else."""
    if isinstance(value, type):
        return None
    rows = table_rows(value)
    if rows is not None:
        return rows
    for name in ("model_dump", "to_list", "tolist"):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    return None


def _mention(value: Any) -> dict[str, Any]:
    head = getattr(value, "head", None)
    known = {name: plain(getattr(value, name, None)) for name in ("type", "entity", "kind", "text")}
    if getattr(value, "gaps", ()):
        raise ValueMismatch(f"{value!r:.80} has gaps, which plain mentions have not; give a file of a format that has")
    return {
        "start": value.left,
        "end": value.right + 1,
        **{name: one for name, one in known.items() if one is not None},
        **({"head": [head[0], head[1] + 1]} if head is not None else {}),
    }


def check_indexes(reference: Any, predicted: Any, *ids: Collection[str]) -> None:
    """Two columns or tables of pandas whose indexes differ could be meant by order or by index, unless both have a column of ids. `ids` are
    what that can be called, of each side."""
    left, right = (getattr(side, "index", None) for side in (reference, predicted))
    if not all(hasattr(index, "equals") for index in (left, right)) or left.equals(right):  # type: ignore[union-attr]
        return
    columns = (getattr(side, "columns", ()) for side in (reference, predicted))
    if all(any(name in there for name in names) for there, names in zip(columns, ids or (NAMES, NAMES), strict=True)):
        return
    raise SidesMismatch(
        "the indexes of reference and predicted differ: give .reset_index(drop=True) of both to pair the rows by order, or "
        f".to_dict({repr('index') if hasattr(reference, 'columns') else ''}) of both to pair them by index"
    )


# One document or many


@frozen
class _Readings:
    """In which ways a side can be read ("one", "many"), and what is wrong with the others."""

    name: str
    what: str
    found: Mapping[str, Given]
    wrong: Mapping[str, TallystickError]
    value: Any

    @classmethod
    def of(cls, document: DocumentOf, value: Any, name: str, keys: frozenset[str], what: str) -> _Readings:
        found, wrong = {}, {}
        ways = {"one": [(name, value)]}
        ids: tuple[str, ...] | None = None
        if isinstance(value, list) and not isinstance(value, Unordered):
            ways["many"] = [(f"{name}[{k}]", one) for k, one in enumerate(value)]
        elif isinstance(value, dict) and not (value and keys.issuperset(value)):
            ways["many"] = [(f"{name}[{key!r}]", one) for key, one in value.items()]
            ids = tuple(map(str, value))
        for way, documents in ways.items():
            try:
                laid = tuple(document(one, where) for where, one in documents)
            except TallystickError as error:
                wrong[way] = error
                continue
            own = ids if way == "many" and ids is not None else _own_names(laid, name)
            own = own if laid else ()
            found[way] = Given(name, laid, own)
        return cls(name, what, found, wrong, value)

    def describe(self, way: str) -> str:
        return f"one {self.what}" if way == "one" else f"a collection of {len(self.found[way].documents):,}"


def _own_names(documents: Sequence[Any], side: str) -> tuple[str, ...] | None:
    """The names that all of the documents have under a key of their own."""
    names = [one.get("id") if isinstance(one, dict) else None for one in documents]
    if None in names and any(one is not None for one in names):
        there = next(k for k, one in enumerate(names) if one is not None)
        raise ValueMismatch(
            f"{side}[{names.index(None)}] has no id, and {side}[{there}] has one; give all of them ids, or none"
        )
    if not names or None in names:
        return None
    ids = [id_of(one) for one in names]
    if None in ids:
        wrong = names[ids.index(None)]
        what = (
            expected_id(wrong) if isinstance(wrong, float) else f"expected text or a whole number, found {_kind(wrong)}"
        )
        raise ValueMismatch(f"{side}[{ids.index(None)}]: id: {what}")
    return tuple(map(str, ids))


_OF_DOCUMENTS = frozenset({*NAMES, "doc", "document", "document_id"} - {"id"})
_OF_SENTENCES = frozenset({"sent", "sent_id", "sentence", "sentence_id", "text_id"})


def _check_rows(readings: _Readings, given: Any) -> None:
    """What was read as one document may be a table of what several hold: a column says so. In a table that can be a sentence, too."""
    rows = [row for row in readings.value if isinstance(row, dict)] if isinstance(readings.value, list) else []
    columns = _OF_DOCUMENTS | _OF_SENTENCES if rows and table_rows(given) is not None else _OF_DOCUMENTS
    for column in columns.intersection(*rows) if rows else ():
        different = len({repr(row[column]) for row in rows})
        if different > 1:
            raise ValueMismatch(
                f"{readings.name} was read as one {readings.what}, and its rows have {different:,} different values of {column}; "
                "give a list or a mapping by document, {'d1': rows, 'd2': rows}"
            )


def _undecided(sides: Sequence[_Readings], shared: set[str]) -> TallystickError:
    """The error for sides that can be read in no way, in different ways, or in both."""
    for side in sides:
        if not side.found:
            return _unreadable(side)
    if not shared:
        told = [f"{side.name} is {' or '.join(map(side.describe, side.found))}" for side in sides]
        return SidesMismatch(f"{' and '.join(told)}; give both as one, or both as several")
    if not any(side.value for side in sides):
        names, what = " and ".join(side.name for side in sides), sides[0].what
        return ValueMismatch(
            f"{names} {'is' if len(sides) == 1 else 'are'} empty, which can be read in two ways: one {what} or a collection of 0; give a mapping by document id, {{'d1': []}}, "
            f"for one {what} without anything"
        )
    told = [f"{side.name} is {' or '.join(map(side.describe, sorted(shared, reverse=True)))}" for side in sides]
    return ValueMismatch(
        f"the data can be read in two ways: {' and '.join(told)}; give a mapping by document id, {{'d1': ...}}, to say which"
    )


def _unreadable(side: _Readings) -> ValueMismatch:
    if not isinstance(side.value, (list, dict)):
        return ValueMismatch(f"{side.name} is {_kind(side.value)}; expected a file, one {side.what}, or several")
    if isinstance(side.value, Unordered):
        return ValueMismatch(
            f"{side.name} is a set, whose items have no order, and no {side.what} ({side.wrong['one']}); give a list, or a mapping by id"
        )
    reasons = {str(reason): isinstance(reason, Unfit) for reason in side.wrong.values()}
    inside = [reason for reason, unfit in reasons.items() if not unfit]  # the shape fits, and something in it is wrong
    one, several = next(iter(reasons)), list(reasons)[-1]
    if len(inside) == 1 or len(reasons) == 1:
        return ValueMismatch(inside[0] if inside else one)
    if isinstance(side.value, list) and not several.startswith(f"{side.name}[0]"):
        return ValueMismatch(several)  # those before it were documents
    return ValueMismatch(f"{side.name} can be read neither as one {side.what} ({one}) nor as several ({several})")


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.60}"


def _in_one_order(left: Given, right: Given) -> tuple[Given, Given]:
    """By name where both sides have names, else by order."""
    if left.ids is not None and right.ids is not None:
        return left, right
    if len(left.documents) != len(right.documents):
        raise SidesMismatch(
            f"reference has {counted(len(left.documents), 'document')} and predicted has {len(right.documents):,}; without names on "
            "both sides they are paired by order, so the numbers must be equal; mappings by document id can lack some (--missing empty)"
        )
    from tallystick.files.pairing import Side, by_order

    ids = left.ids or right.ids or tuple(map(str, range(len(left.documents))))
    notes = tuple(by_order(*(Side(one.name, (), named=one.ids is not None) for one in (left, right))))
    return dataclasses.replace(left, ids=ids), dataclasses.replace(right, ids=ids, notes=notes)


# What the tasks' documents have in common


def expect(condition: object, where: str, what: str, found: Any) -> None:
    """That a value is what a document has at that place."""
    if not condition:
        raise Unfit(f"{where}: expected {what}, found {_kind(found)}")


def expect_order(value: Any, where: str, what: str) -> None:
    """That a value is no set."""
    if isinstance(value, Unordered):
        expect(False, where, f"{what}, in their order", set(map(str, value)))


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of a size that a place can have."""
    return type(value) is int and -(2**62) < value < 2**62


def is_span(value: Any) -> bool:
    """Whether a value is `[start, end]`, perhaps with more behind it, or a dict with a start."""
    if isinstance(value, dict):
        return "start" in value
    ordered = isinstance(value, list) and not isinstance(value, Unordered)
    return ordered and len(value) >= 2 and is_whole(value[0]) and is_whole(value[1])


def named(value: Any, **fields: Any) -> dict[str, Any]:
    """The fields of a document, with its name where it is a dict that has one."""
    own = next((value[key] for key in NAMES if value.get(key) is not None), None) if isinstance(value, dict) else None
    return fields if own is None else {"id": own, **fields}


def fields_of(value: Any, *keys: str) -> dict[str, Any] | None:
    """A dict that has one of these keys; None for anything else."""
    return value if isinstance(value, dict) and any(key in value for key in keys) else None

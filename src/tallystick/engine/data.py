"""What comes in: a column of values, as Python objects or already laid out as arrays.

    Objects(list)                       any Python values
    ndarray                             one number or string for each row
    Record({"name": column, ...})       a column for each field
    Bag(offsets, items)                 row k owns items[offsets[k]:offsets[k + 1]]
    Index(index, values)                row k is values[index[k]]: composite values that occur many times
    Nullable(position, present)         row k is present[position[k]], or None where that is -1
    Leaf                                plain values that are no Python list: Arrow's, or codes with their table

The array forms are the shape of Arrow's nested arrays (`engine.arrow` makes them). `field` and `items` go one step
down, whatever the form; everything else in the engine is blind to the difference. `take`, `sliced` and `as_objects` give some
rows of a column, and a column as Python values, whatever its form; `code_jointly` gives equal values of two columns one number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field as dataclass_field
from dataclasses import replace
from functools import cached_property
from itertools import chain, compress, pairwise, repeat
from operator import attrgetter, is_not, itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import I64, Mask, expand, integers, number, offsets_of
from tallystick.engine.values import (
    NO_RECORDS,
    PLAIN_KINDS,
    Missing,
    Surplus,
    comparable,
    field_names,
    is_absent,
    is_blank,
    is_empty,
    number_values,
)
from tallystick.errors import ValueMismatch, counted, did_you_mean
from tallystick.frozen import frozen


@frozen(eq=False)
class Objects:
    """A column of Python values."""

    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def kinds(self) -> set[type]:
        """The classes of the values."""
        return set(map(type, self.values))


class LazyValues(Sequence[Any]):
    """What a function makes of some items, each made when somebody looks at it."""

    def __init__(self, make: Callable[[Any], Any], items: Sequence[Any]) -> None:
        self.make, self.items = make, items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: Any) -> Any:
        found = self.items[place]
        return [self.make(item) for item in found] if isinstance(place, slice) else self.make(found)


@frozen(eq=False)
class Record:
    """A column of records: one column for each field."""

    fields: Mapping[str, Data]
    rows: int | None = None
    """How many there are; it need only be said where there is no field."""

    def __len__(self) -> int:
        return len(next(iter(self.fields.values()))) if self.rows is None else self.rows


class Entries(Record):
    """The entries of mappings: `key` and `value`."""


@frozen(eq=False)
class Bag:
    """A column of collections: row k owns `items[offsets[k]:offsets[k + 1]]`."""

    offsets: I64
    items: Data

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", integers(self.offsets))
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.items):
            raise ValueMismatch(
                f"offsets of a Bag must run from 0 to the number of its items ({len(self.items):,}); "
                f"found {self.offsets[:1].tolist()} to {self.offsets[-1:].tolist()}"
            )
        if np.any(np.diff(self.offsets) < 0):
            raise ValueMismatch("offsets of a Bag must not decrease")

    def __len__(self) -> int:
        return len(self.offsets) - 1


@frozen(eq=False)
class Index:
    """A column in which values repeat: row k is `values[index[k]]`."""

    index: I64
    values: Data

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", integers(self.index))
        if len(self.index) and not 0 <= self.index.min() <= self.index.max() < len(self.values):
            raise ValueMismatch(f"an Index must point into its {len(self.values):,} values")

    def __len__(self) -> int:
        return len(self.index)


@frozen(eq=False)
class Nullable:
    """A column in which values are missing: row k is `present[position[k]]`, or None where that is -1.

    What is present stands in the order of the rows.
    """

    position: I64
    present: Data

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", integers(self.position))

    def __len__(self) -> int:
        return len(self.position)


class Leaf:
    """A column of plain values (none of them None) that does not hold a Python object for each row."""

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, rows: I64) -> Leaf:
        raise NotImplementedError

    def part(self, start: int, stop: int) -> Leaf:
        """The rows from `start` to `stop`."""
        return self.take(np.arange(start, min(stop, len(self)), dtype=np.int64))

    def different(self) -> tuple[I64, list[Any]]:
        """Each row's code, and the different values behind the codes, in the order in which they first appear."""
        raise NotImplementedError

    def jointly(self, other: Leaf) -> tuple[I64, I64, int] | None:
        """The codes of both columns and their bound, as `code_jointly` has them; None if there is no short way."""
        return None

    def same(self, other: Leaf) -> NDArray[np.bool_] | None:
        """Row by row, whether two columns of one length have equal values; None if there is no short way."""
        return None

    def numbers(self) -> NDArray[np.float64] | None:
        """The values as floats, if they are numbers."""
        return None

    @property
    def plain(self) -> bool:
        """Whether every value is known to be spelled in one way: no text in another Unicode form or with white space to
        spare, no float."""
        return False

    def empty(self) -> NDArray[np.bool_]:
        """Which rows are the empty text."""
        codes, values = self.different()
        return np.array([isinstance(value, str) and not value for value in values], np.bool_)[codes]

    def to_list(self) -> list[Any]:
        """The values as Python has them."""
        codes, values = self.different()
        return [values[k] for k in codes.tolist()]


@frozen(eq=False)
class Coded(Leaf):
    """Plain values that repeat: row k is `table[codes[k]]`. The table may hold a value twice."""

    codes: I64
    table: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: I64) -> Coded:
        return Coded(self.codes[rows], self.table)

    def different(self) -> tuple[I64, list[Any]]:
        codes, order = by_appearance(self.codes, len(self.table))
        return codes, [self.table[k] for k in order.tolist()]


def by_appearance(codes: I64, bound: int) -> tuple[I64, I64]:
    """The codes renumbered in the order in which they first appear, and the old code behind each new one."""
    first = np.full(bound, -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int64)  # the last one written is the first row
    used = np.flatnonzero(first >= 0)
    order = used[np.argsort(first[used], kind="stable")]
    number = np.empty(bound, np.int64)
    number[order] = np.arange(len(order))
    return number[codes], order


Data: TypeAlias = "Objects | Record | Bag | Index | Nullable | Leaf | Extended | NDArray[Any]"


class Answers:
    """What a user's function answered, as it was given: for each first value a row of second values and weights."""

    signature = ""
    """Who answered, where that is part of a result's signature."""

    def __init__(self) -> None:
        self.rows: dict[Any, dict[Any, float]] = {}
        self._fresh: dict[
            Any, tuple[Sequence[Any], list[int], list[float]]
        ] = {}  # whole rows that nobody looked up yet

    def __len__(self) -> int:
        return sum(map(len, self.rows.values())) + sum(len(weights) for *_, weights in self._fresh.values())

    def row(self, key: Any) -> dict[Any, float]:
        """What was answered for a first value."""
        known = self.rows.setdefault(key, {})
        if key in self._fresh:
            keys, seconds, weights = self._fresh.pop(key)
            known.update(zip(map(keys.__getitem__, seconds), weights, strict=True))
        return known

    def keep(self, key: Any, keys: Sequence[Any], seconds: list[int], weights: list[float]) -> None:
        """Keep the answers for a first value, of which none was known, and for the second ones: where each stands in `keys`."""
        self._fresh[key] = keys, seconds, weights

    def weights(self) -> NDArray[np.float64]:
        """All the answers."""
        rows = chain((row.values() for row in self.rows.values()), (weights for *_, weights in self._fresh.values()))
        return np.fromiter(chain.from_iterable(rows), np.float64, len(self))

    def add(self, other: Answers) -> None:
        """Add what was answered in another evaluation."""
        for key in {**other.rows, **other._fresh}:
            self.row(key).update(other.row(key))

    def clear(self) -> None:
        self.rows.clear()
        self._fresh.clear()


MOST_SPELLINGS = 10_000


@frozen
class Memory:
    """What an evaluation keeps from batch to batch: the answers of users' functions, and fields never seen yet."""

    calls: dict[Any, Answers] = dataclass_field(default_factory=dict)
    absent: dict[str, str] = dataclass_field(default_factory=dict)
    spellings: dict[tuple[str, str], dict[str, None]] = dataclass_field(default_factory=dict)
    """Texts to be named: what is to be said of them, and where they are."""

    def note_spelling(self, what: str, path: str, text: str) -> None:
        """Remember a text that has to be named; every text counts once."""
        known = self.spellings.setdefault((what, path), {})
        if len(known) < MOST_SPELLINGS:
            known[text] = None

    def named_spellings(self) -> Iterator[str]:
        """What is to be said of texts, with the first of them."""
        for what in dict.fromkeys(what for what, _ in self.spellings):
            here = {path: texts for (said, path), texts in self.spellings.items() if said == what}
            named = (f"{path or 'the value'} {', '.join(map(repr, list(texts)[:5]))}" for path, texts in here.items())
            yield f"{what}: {counted(sum(map(len, here.values())), 'spelling')} ({'; '.join(list(named)[:5])})"

    def merge(self, other: Memory) -> None:
        for (what, path), texts in other.spellings.items() if other.spellings is not self.spellings else ():
            for text in texts:
                self.note_spelling(what, path, text)
        for path, message in other.absent.items():
            self.absent[path] = message and self.absent.get(path, message)
        for node, calls in other.calls.items() if other.calls is not self.calls else ():
            self.calls.setdefault(node, type(calls)()).add(calls)


@frozen
class Scope:
    """Where in the value we are, for messages; what was encoded already in this batch; what is kept for the next."""

    path: str = ""
    memo: dict[Any, Any] = dataclass_field(default_factory=dict, compare=False)
    memory: Memory = dataclass_field(default_factory=Memory, compare=False)

    def at(self, path: str) -> Scope:
        return replace(self, path=path)

    def field(self, name: str) -> Scope:
        return self.at(f"{self.path}.{name}" if self.path else name)

    def items(self) -> Scope:
        return self.at(f"{self.path}[*]")

    def alone(self) -> Scope:
        """The same place for what is done later: what was encoded is not kept alive by it."""
        return Scope(self.path)

    def __str__(self) -> str:
        return self.path or "the value"


class Rows(Sequence[Any]):
    """A column that looks like a list: a row becomes a Python value when somebody asks for it."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise ValueMismatch("the rows of a column are taken one after the other")
            return Rows(sliced(self.data, start, max(start, stop)))
        place = range(len(self))[place]
        return as_objects(sliced(self.data, place, place + 1))[0]


COLUMNS = (Objects, Record, Bag, Index, Nullable, Leaf, np.ndarray)
"""What is a column already."""


def is_arrow(values: Any) -> bool:
    """Whether something is one of pyarrow's tables or arrays; pyarrow is not loaded to find out."""
    return type(values).__module__.partition(".")[0] == "pyarrow"


def as_data(values: Any) -> Data:
    """A user's documents as a column."""
    if isinstance(values, COLUMNS):
        return values
    if isinstance(values, Rows):
        return values.data
    if is_arrow(values):
        from tallystick.engine.arrow import from_arrow

        return from_arrow(values)
    return Objects(list(values))  # a copy: what the caller does to the list later is the caller's business


def field(data: Data, name: str, scope: Scope, may_miss: bool, absent: Any = None) -> Data:
    """One field of each row. With `may_miss` a mapping without that key has None (or `absent`) there."""
    if isinstance(data, Index):
        return Index(data.index, field(data.values, name, scope, may_miss, absent))
    if isinstance(data, Record):
        if name in data.fields:
            return data.fields[name]
        if not may_miss:
            raise ValueMismatch(_no_field(scope, name, data.fields))
        if absent is not None:
            return Objects([absent] * len(data))
        return Nullable(np.full(len(data), -1, np.int64), Objects(()))
    if isinstance(data, Objects):
        return Objects(_field_of_objects(data, name, scope, may_miss, absent))
    if isinstance(data, Nullable):
        raise _no_record(scope, name)
    raise ValueMismatch(f"at {scope}: expected records with a field {name!r}, found {_kind(data)}")


def _field_of_objects(data: Objects, name: str, scope: Scope, may_miss: bool, absent: Any) -> list[Any]:
    values = data.values
    if not values:
        return []
    first = values[0]
    try:
        if isinstance(first, Mapping):
            if any(hasattr(kind, "__missing__") for kind in data.kinds):  # to ask it for a key would put the key there
                raise KeyError
            return list(map(itemgetter(name), values))
        if not NO_RECORDS.isdisjoint(data.kinds):  # a text has a method of the name `title`, which is no field
            raise TypeError
        if name.isdigit() and isinstance(first, tuple) and not hasattr(first, "_fields"):
            return list(map(itemgetter(int(name)), values))
        return list(map(attrgetter(name), values))
    except (KeyError, AttributeError, IndexError, TypeError):
        if may_miss and data.kinds == {dict}:
            return [value.get(name, absent) for value in values]
        return [_one_field(value, name, scope, may_miss, absent) for value in values]


def _one_field(value: Any, name: str, scope: Scope, may_miss: bool, absent: Any) -> Any:
    """The careful way, when the quick one met a row that is different."""
    if isinstance(value, Mapping):
        if name in value:
            return value[name]
        if may_miss:
            return absent
        raise ValueMismatch(_no_field(scope, name, value))
    if value is None:
        raise _no_record(scope, name)
    if name.isdigit() and isinstance(value, tuple):
        if int(name) < len(value):
            return value[int(name)]
        raise ValueMismatch(f"at {scope}: expected at least {int(name) + 1} positions, found {value!r:.80}")
    if type(value) not in NO_RECORDS and hasattr(value, name):
        return getattr(value, name)
    raise ValueMismatch(_no_field(scope, name, field_names(value), value))


def note_absence(
    name: str, sides: Sequence[Data], values: Iterable[Data], scope: Scope, *, seldom: bool = False
) -> None:
    """Remember a field that no mapping of either side, the reference first, has had so far, though the reference has mappings there:
    at the end of the evaluation that is a misspelt one, not a missing value. (A prediction alone may lack what it likes.) What is remembered is the message, or nothing once the field was seen. A field that `seldom` is
    there, such as a mark, is misspelt only where there is one of nearly this name."""
    absent = scope.memory.absent
    path = scope.field(name).path
    if absent.get(path) == "":
        return
    found = (value for column in values if isinstance(column, Objects) for value in column.values)
    columns, rows = _records_of([side.values if isinstance(side, Index) else side for side in sides])
    seen = any(not isinstance(row, Mapping) for row in rows[:1]) or any(value is not None for value in found)
    if seen or any(name in row for row in (*columns, *rows)):
        absent[path] = ""
    elif len(sides[0]) and path not in absent:
        known = dict.fromkeys(key for row in (*columns, *rows[:100]) for key in row)
        if not seldom or did_you_mean(name, known):
            absent[path] = _no_field(scope, name, known)


def _records_of(sides: Iterable[Data]) -> tuple[list[Mapping[str, Data]], list[Any]]:
    """The columns of records by field, and the records that are Python values."""
    columns: list[Mapping[str, Data]] = []
    rows: list[Any] = []
    for side in sides:
        if isinstance(side, Record):
            columns.append(side.fields)
        elif isinstance(side, Objects):
            rows += side.values
    return columns, rows


def _no_record(scope: Scope, name: str) -> ValueMismatch:
    hint = "if it may be missing, wrap it: optional(...)"
    return ValueMismatch(f"at {scope}: found None, expected a record with a field {name!r}; {hint}")


def _no_field(scope: Scope, name: str, known: Iterable[str], value: Any = None) -> str:
    known = [str(k) for k in known]
    found = f"fields {', '.join(known[:12])}" if known else f"{type(value).__name__} {value!r:.60}"
    return f"at {scope}: expected a field {name!r}, found {found}.{did_you_mean(name, known)}"


def items(data: Data, scope: Scope) -> Bag | Index:
    """The items of each row's collection. A dict's items are records of `key` and `value`."""
    if isinstance(data, Bag):
        return data
    if isinstance(data, Index):
        inner = items(data.values, scope)
        return Index(data.index, inner)
    if isinstance(data, Nullable):
        if len(data.present) < len(data):
            raise ValueMismatch(
                f"at {scope}: expected a collection, found NoneType None; if it may be missing, wrap it: optional(...)"
            )
        return items(data.present, scope)
    if not isinstance(data, Objects):
        raise ValueMismatch(f"at {scope}: expected collections, found {_kind(data)}")
    values = data.values
    kinds = data.kinds
    mappings = {kind for kind in kinds if issubclass(kind, Mapping)}
    if mappings and mappings == kinds:
        keys = Objects(list(chain.from_iterable(values)))
        inside = Objects(list(chain.from_iterable(value.values() for value in values)))
        return Bag(offsets_of(list(map(len, values))), Entries({"key": keys, "value": inside}))
    for kind in kinds:
        if issubclass(kind, (str, bytes)) or not issubclass(kind, Collection):
            example = next(value for value in values if type(value) is kind)
            hint = "; if it may be missing, wrap it: optional(...)" if example is None else ""
            raise ValueMismatch(f"at {scope}: expected a collection, found {kind.__name__} {example!r:.60}{hint}")
    if mappings:  # each row is what it is, whatever the others are
        values = [_entries(value) if type(value) in mappings else value for value in values]
    return Bag(offsets_of(list(map(len, values))), Objects(list(chain.from_iterable(values))))


def _entries(value: Mapping[Any, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": one} for key, one in value.items()]


def first_mapping(data: Data) -> Any:
    """The first of some collections that is a mapping, or None."""
    if isinstance(data, Bag):
        return as_objects(data)[0] if isinstance(data.items, Entries) and len(data) else None
    if isinstance(data, Nullable):
        return first_mapping(data.present)
    if not isinstance(data, Objects) or not any(issubclass(kind, Mapping) for kind in data.kinds):
        return None
    return next(value for value in data.values if isinstance(value, Mapping))


def repeated(data: Data) -> Data:
    """Composite objects that occur many times (by identity) become an Index over the different ones."""
    if not isinstance(data, Objects) or len(data) < 64:
        return data
    identities = list(map(id, data.values))
    different = dict(zip(identities, data.values, strict=True))
    if len(different) * 3 > len(identities) * 2:
        return data
    position = {identity: k for k, identity in enumerate(different)}
    return Index(integers(list(map(position.__getitem__, identities))), Objects(list(different.values())))


def _kind(data: Data) -> str:
    if isinstance(data, np.ndarray):
        return f"an array of {data.dtype}"
    return "plain values" if isinstance(data, Leaf) else f"a {type(data).__name__}"


# Documents with values that no field of the metric could ever meet, and how many: what precision has to pay for.
#
# Such a value is `Surplus` around a Python value, or `Extended` around a column of documents.


@frozen(eq=False)
class Extended:
    """A column of documents, and by path how many leaves beyond it each row has; `shown` are the rows for a person."""

    values: Data
    counts: Mapping[str, I64]
    shown: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, start: int, stop: int, values: Data) -> Extended:
        return Extended(values, {path: one[start:stop] for path, one in self.counts.items()}, self.shown[start:stop])

    def to_list(self) -> list[Any]:
        """The documents as Python has them, with what counts."""
        out = []
        for row, value in enumerate(self.shown):
            if isinstance(value, Surplus):
                kept = tuple(leaf for leaf in value.leaves if leaf[0] in self.counts and self.counts[leaf[0]][row])
                value = Surplus(value.value, kept) if kept else value.value
            out.append(value)
        return out


def split_surplus(data: Data) -> tuple[Data, dict[str, I64]]:
    """The documents without what is surplus, and by path how many leaves of it each of them has."""
    if isinstance(data, Extended):
        return data.values, dict(data.counts)
    if not isinstance(data, Objects) or Surplus not in set(map(type, data.values)):
        return data, {}
    counts: dict[str, I64] = {}
    plain = list(data.values)
    for row, value in enumerate(data.values):
        if type(value) is Surplus:
            plain[row] = value.value
            for path, _ in value.leaves:
                counts.setdefault(path, np.zeros(len(plain), np.int64))[row] += 1
    return Objects(plain), counts


def present_values(data: Data, missing: Missing | None) -> tuple[Data, I64 | None]:
    """The values that are there, and each row's place among them (None if none is missing)."""
    if isinstance(data, Index) and isinstance(data.values, Objects):
        data = Objects([data.values.values[k] for k in data.index.tolist()])
    if not isinstance(data, Objects):
        return _present_in_column(data, missing)
    if missing is None:
        if type(None) not in data.kinds:
            return data, None
        here = np.fromiter(map(is_not, data.values, repeat(None)), np.bool_, len(data))
    else:
        here = np.fromiter((not missing(value) for value in data.values), np.bool_, len(data))
    return Objects(list(compress(data.values, here.tolist()))), np.where(here, np.cumsum(here) - 1, -1)


def _present_in_column(data: Data, missing: Missing | None) -> tuple[Data, I64 | None]:
    """The same where the values are columns: there every key is there, if only with null."""
    if missing is is_absent:
        return data, None
    if missing is not None:
        here = ~_missing_rows(data, missing)
        if here.all():
            return data, None
        rows = np.flatnonzero(here)
        found = take(data.present, data.position[rows]) if isinstance(data, Nullable) else take(data, rows)
        return found, np.where(here, np.cumsum(here) - 1, -1)
    if isinstance(data, Nullable):
        return data.present, data.position
    return data, None


def _missing_rows(data: Data, missing: Missing) -> Mask:
    """Which rows of a column are null, or a blank or empty text, or an empty collection or record."""
    if isinstance(data, Nullable):
        out = data.position < 0
        out[~out] = _missing_rows(data.present, missing)[data.position[~out]]
        return out
    if isinstance(data, Leaf) and missing is not is_empty:
        codes, values = data.different()
        return np.array(list(map(missing, values)), np.bool_)[codes]
    if isinstance(data, Leaf):
        return np.asarray(data.empty(), np.bool_)
    if isinstance(data, Objects):
        return np.fromiter(map(missing, data.values), np.bool_, len(data))
    if missing is is_blank:
        return np.zeros(len(data), np.bool_)
    if isinstance(data, Bag):
        return np.asarray(np.diff(data.offsets) == 0, np.bool_)
    return np.full(len(data), isinstance(data, Record) and not data.fields)


def take(data: Data, rows: I64) -> Data:
    """These rows, in this order."""
    if isinstance(data, Objects):
        return Objects([data.values[k] for k in rows.tolist()])
    if isinstance(data, np.ndarray):
        return data[rows]
    if isinstance(data, Leaf):
        return data.take(rows)
    if isinstance(data, Index):
        return Index(data.index[rows], data.values)
    if isinstance(data, Record):
        return type(data)({name: take(column, rows) for name, column in data.fields.items()}, len(rows))
    if isinstance(data, Bag):
        counts = data.offsets[rows + 1] - data.offsets[rows]
        return Bag(offsets_of(counts), take(data.items, expand(data.offsets[rows], counts)))
    assert isinstance(data, Nullable)
    position = data.position[rows]
    here = position >= 0
    return nullable(here, take(data.present, position[here]))


def sliced(data: Data, start: int, stop: int) -> Data:
    """The rows from `start` to `stop`."""
    stop = min(stop, len(data))
    if isinstance(data, Extended):
        return data.part(start, stop, sliced(data.values, start, stop))
    if isinstance(data, Objects):
        return Objects(data.values[start:stop])
    if isinstance(data, np.ndarray):
        return data[start:stop]
    if isinstance(data, Leaf):
        return data.part(start, stop)
    if isinstance(data, Index):
        return Index(data.index[start:stop], data.values)
    if isinstance(data, Record):
        columns = {name: sliced(column, start, stop) for name, column in data.fields.items()}
        return type(data)(columns, stop - start)
    if isinstance(data, Bag):
        offsets = data.offsets[start : stop + 1]
        return Bag(offsets - offsets[0], sliced(data.items, int(offsets[0]), int(offsets[-1])))
    here = data.position >= 0
    first, last = (int(here[:end].sum()) for end in (start, stop))
    return nullable(here[start:stop], sliced(data.present, first, last))


def nullable(here: Any, present: Data) -> Data:
    """A column of which only some rows are there; the column itself if all are."""
    if here.all():
        return present
    return Nullable(np.where(here, np.cumsum(here) - 1, -1), present)


def separable(data: Data) -> bool:
    """Whether a column can be scored in parts at no loss: nothing in it is shared by many rows."""
    if isinstance(data, Record):
        return all(map(separable, data.fields.values()))
    if isinstance(data, Bag):
        return separable(data.items)
    if isinstance(data, Nullable):
        return separable(data.present)
    if isinstance(data, Extended):
        return separable(data.values)
    return isinstance(data, (Objects, Leaf))


def longest_lists(data: Data) -> float:
    """The mean length of the longest lists in the rows of a column: it says how large their rectangles are."""
    if isinstance(data, Record):
        return max(map(longest_lists, data.fields.values()), default=0.0)
    if isinstance(data, Extended):
        return longest_lists(data.values)
    if isinstance(data, Bag):
        return len(data.items) / max(1, int(np.count_nonzero(np.diff(data.offsets))))
    return longest_lists(data.present) if isinstance(data, Nullable) else 0.0


def as_objects(data: Data) -> Sequence[Any]:
    """The values as Python has them: records as dicts, collections as lists, entries as the dict that they are of."""
    if isinstance(data, Objects):
        return data.values
    if isinstance(data, np.ndarray):
        return data.tolist()  # type: ignore[no-any-return]
    if isinstance(data, (Leaf, Extended)):
        return data.to_list()
    if isinstance(data, Index):
        inner = as_objects(data.values)
        return [inner[k] for k in data.index.tolist()]
    if isinstance(data, Record):
        columns = [as_objects(column) for column in data.fields.values()]
        names = list(data.fields)
        if not columns:
            return [{} for _ in range(len(data))]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(data, Bag):
        ends = data.offsets.tolist()
        if isinstance(data.items, Entries):
            keys, values = (as_objects(data.items.fields[name]) for name in ("key", "value"))
            return [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in pairwise(ends)]
        inside = as_objects(data.items)
        return [list(inside[a:b]) for a, b in pairwise(ends)]
    present = as_objects(data.present)
    return [None if k < 0 else present[k] for k in data.position.tolist()]


# Values to integer codes, numbered jointly over both sides, so that equal code means equal value.


def code_jointly(reference: Data, predicted: Data, scope: Scope) -> tuple[I64, I64, int]:
    """The codes of both sides and their bound."""
    if isinstance(reference, Leaf) and isinstance(predicted, Leaf):
        found = reference.jointly(predicted)
        if found is not None:
            return found
    if isinstance(reference, (Leaf, Nullable)) or isinstance(predicted, (Leaf, Nullable)):
        (rows, ours), (lines, theirs) = different_values(reference, scope), different_values(predicted, scope)
        first, second, bound = _code_values(ours, theirs, scope, set(map(type, ours)) | set(map(type, theirs)))
        return (first if rows is None else first[rows]), (second if lines is None else second[lines]), bound
    left, right = leaf_values(reference, scope), leaf_values(predicted, scope)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and _alike(left, right):
        return code_arrays(left, right)
    return _code_values(list(left), list(right), scope, kinds_of(reference, left) | kinds_of(predicted, right))


def kinds_of(data: Data, values: Iterable[Any]) -> set[type]:
    """The classes of a column's values, which the column may know already."""
    return data.kinds if isinstance(data, Objects) else set(map(type, values))


def different_values(data: Data, scope: Scope) -> tuple[I64 | None, list[Any]]:
    """The values of a leaf column: each different one once, with every row's code; or all of them, with None."""
    if isinstance(data, Leaf):
        return data.different()
    if isinstance(data, Nullable):
        codes, values = different_values(data.present, scope)
        if codes is None:
            codes = np.arange(len(values), dtype=np.int64)
        every = np.full(len(data), len(values), np.int64)
        here = data.position >= 0
        every[here] = codes[data.position[here]]
        every, order = by_appearance(every, len(values) + 1)
        table = [*values, None]
        return every, [table[k] for k in order.tolist()]
    return None, list(leaf_values(data, scope))


def _code_values(left: list[Any], right: list[Any], scope: Scope, kinds: set[type]) -> tuple[I64, I64, int]:
    if kinds == {int}:
        try:
            return code_arrays(integers(left), integers(right))
        except OverflowError:
            pass
    elif kinds != {str}:
        left, right = comparable(left, kinds, scope), comparable(right, kinds, scope)
    table = number_values((left, right))
    return (
        *(np.fromiter(map(table.__getitem__, side), np.int64, len(side)) for side in (left, right)),
        len(table),
    )  # type: ignore[return-value]


def listed(reference: Data, predicted: Data) -> tuple[list[Any], list[Any], set[type]] | None:
    """The values of both sides and their kinds, if Python's `==` tells them apart as is said above, but for NaN."""
    if not (isinstance(reference, Objects) and isinstance(predicted, Objects)):
        return None
    left, right = reference.values, predicted.values
    if type(left) is not list or type(right) is not list:
        return None
    kinds = reference.kinds | predicted.kinds
    return (left, right, kinds) if kinds <= PLAIN_KINDS and (bool not in kinds or len(kinds) == 1) else None


def leaf_values(data: Data, scope: Scope) -> Sequence[Any] | np.ndarray:
    """The plain values of a leaf column."""
    if isinstance(data, Objects):
        return data.values
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, Index):
        inner = leaf_values(data.values, scope)
        return inner[data.index] if isinstance(inner, np.ndarray) else [inner[k] for k in data.index.tolist()]
    return as_objects(data)


def _alike(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether NumPy compares the two as Python does: not True with 1, nor 1 with "1" after turning it into text."""
    kinds = {side.dtype.kind for side in (left, right) if len(side)}
    return len(kinds) < 2 and "O" not in kinds


def code_arrays(left: np.ndarray, right: np.ndarray) -> tuple[I64, I64, int]:
    """Both sides as codes, numbered jointly, and the bound of the codes."""
    both = (left, right)
    if all(side.dtype.kind in "iub" or len(side) == 0 for side in both):
        left, right = left.astype(np.int64, copy=False), right.astype(np.int64, copy=False)
        ends = [(int(side.min()), int(side.max())) for side in (left, right) if len(side)]
        low, high = (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else (0, 0)
        if high - low < 1 << 24:
            return left - low, right - low, high - low + 1
        if high - low < 1 << 62:  # renumbered once here, every later sort can pack key and row into one integer
            codes, bound = number(np.concatenate((left, right)) - low, high - low + 1)
            return codes[: len(left)], codes[len(left) :], bound
    _, codes = np.unique(np.concatenate((left, right)), return_inverse=True, equal_nan=True)
    codes = codes.astype(np.int64, copy=False)
    return codes[: len(left)], codes[len(left) :], int(codes.max(initial=0)) + 1

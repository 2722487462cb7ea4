"""Event hierarchies of a corpus as columns, and the one place where files of any format are made into them.

| format | is known by | reader |
|---|---|---|
| newick | `(` first, or after a name and a tab | `read_newick` |
| jsonl | `{` as the first character | `read_jsonl` |
| brat | a `.ann` file, or a folder of them | `read_brat` |

Every link remembers its line and column, so that a metric that needs trees can say which link makes a cycle.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.engine import arrays
from tallystick.engine.arrays import I64, Members, integers
from tallystick.errors import InputError, MetricError, Place, SidesMismatch, ValueMismatch, counted, did_you_mean, some
from tallystick.files.boundaries import TREES
from tallystick.files.json_values import NotJson, as_json_lines, column_of, decode, expected_id, id_of, shown
from tallystick.files.pairing import Missing, Side, all_named, by_order, pair_sides, refuse_by_order
from tallystick.files.source import AnySource, Format, Opening, Source, begins_list, find_format
from tallystick.files.standoff import BratRelation, Pointer, Standoff, is_brat, read_standoff
from tallystick.frozen import frozen
from tallystick.structures.graphs import MEMBERSHIP, SUBEVENT, EventHierarchy
from tallystick.tasks.plain import Given, Structure, expect, named

Where = tuple[int, int]
"""Line and column, counted from 1; 0 where unknown."""
NOWHERE: Where = (0, 0)


@frozen(eq=False)
class Hierarchies:
    """One side of a corpus: event mentions, the conceptual event of each, and links between mentions."""

    documents: list[str]
    document: I64
    """of each mention"""
    identities: list[Hashable]
    """what makes a mention the same on both sides: its name, or its span"""
    names: list[str]
    """what the file calls it"""
    node: I64
    """the conceptual event of each mention, numbered over the corpus"""
    nodes: int
    kinds: list[str]
    parent: I64
    child: I64
    kind: I64
    line: I64
    column: I64
    files: list[str]
    """of each document"""
    named: bool
    identified_by: str
    sources: Mapping[str, Source] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def mentions_of(self) -> Members:
        """The mentions of each document."""
        return Members(self.document, len(self.documents))

    @cached_property
    def links_of(self) -> Members:
        """The links of each document."""
        return Members(self.document[self.parent], len(self.documents))

    @property
    def side(self) -> Side[str]:
        return Side(self.file, self.documents, [Place(file) if file else None for file in self.files], self.named)

    @property
    def file(self) -> str:
        """What messages call this side."""
        return (
            next(iter(self.sources), "input") if len(self.sources) < 2 else str(Path(next(iter(self.sources))).parent)
        )

    def place(self, link: int) -> Place | None:
        """Where a link stands."""
        file = self.files[int(self.document[self.parent[link]])]
        line, column = int(self.line[link]), int(self.column[link])
        if not file or not line:
            return Place(file) if file else None
        source = self.sources[file]
        text = source.text().split("\n")[line - 1]
        if not column and text.lstrip().startswith("{"):
            parent, child = self.names[int(self.parent[link])], self.names[int(self.child[link])]
            column = link_column(text, self.kinds[int(self.kind[link])], parent, child) or 0
        return source.place(line, column or None, text)

    def error(self, message: str, link: int) -> InputError:
        """What to raise about a link."""
        name = self.documents[int(self.document[self.parent[link]])]
        return InputError(f"{message} (document {name})", self.place(link))


class Building:
    """What is known of a side after some documents."""

    def __init__(self, source: Source | None = None, identified_by: str = "name") -> None:
        self.source = source
        self.identified_by = identified_by
        self.documents: list[str] = []
        self.files: list[str] = []
        self.sources: dict[str, Source] = {str(source): source} if source is not None else {}
        self.document: list[int] = []
        self.identities: list[Hashable] = []
        self.names: list[str] = []
        self.union: list[int] = []  # a forest over mentions: each points at one it corefers with
        self.kinds: dict[str, int] = {}
        self.links: dict[tuple[int, int, int], Where] = {}  # parent, child and kind
        self.repeated = 0
        self.notes: list[str] = []
        self.rows: dict[str, int] = {}

    def error(self, message: str, where: Where = NOWHERE) -> InputError:
        """What to raise about a place of the file."""
        line, column = where
        if self.source is None or not line:
            return InputError(message, self.file or None)
        return self.source.error(message, line, column or None, self.source.text().split("\n")[line - 1])

    @property
    def file(self) -> str:
        return str(self.source) if self.source is not None else ""

    def open(self, name: str) -> None:
        """A new document."""
        self.documents.append(name)
        self.files.append(self.file)
        self.rows = {}

    def event(self, name: str, where: Where = NOWHERE, identity: Hashable = None) -> None:
        """An event mention of the document that is open."""
        if name in self.rows:
            raise self.error(f"duplicate event {name}; names must be unique", where)
        self.rows[name] = len(self.names)
        self.document.append(len(self.documents) - 1)
        self.names.append(name)
        self.identities.append(name if identity is None else identity)
        self.union.append(len(self.union))

    def events(self, names: Sequence[str], identities: Sequence[Hashable]) -> None:
        """All event mentions of the document that is open; they stand nowhere in a file."""
        first, count = len(self.names), len(names)
        rows = dict(zip(names, range(first, first + count), strict=True))
        if len(rows) < count:
            for name in names:
                self.event(name)  # the second one is an error
        self.rows = rows
        self.document += [len(self.documents) - 1] * count
        self.names += names
        self.identities += identities
        self.union += range(first, first + count)

    def row(self, name: str, where: Where) -> int:
        """The mention of that name; an unknown one is an error."""
        row = self.rows.get(name)
        if row is None:
            hint = did_you_mean(name, self.rows)
            known = f"; this document has {some(self.rows)}" if self.rows else "; this document has no events"
            raise self.error(f"a link to an unknown event {name}{known}.{hint}", where)
        return row

    def corefer(self, names: Sequence[tuple[str, Where]]) -> None:
        """These mentions are one event."""
        roots = [self._root(self.row(name, where)) for name, where in names]
        for root in roots:
            self.union[root] = min(roots)

    def _root(self, row: int) -> int:
        while self.union[row] != row:
            self.union[row] = self.union[self.union[row]]
            row = self.union[row]
        return row

    def link(self, parent: str, child: str, kind: str, where: Where = NOWHERE, at_child: Where | None = None) -> None:
        """A link from an event to its subevent or member."""
        above, below = self.rows.get(parent), self.rows.get(child)
        if above is None or below is None:
            above, below = self.row(parent, where), self.row(child, at_child or where)
        if above == below:
            raise self.error(f"a {kind} link from {parent} to itself", where)
        key = above, below, self.kinds.setdefault(kind, len(self.kinds))
        if key in self.links:
            self.repeated += 1
        else:
            self.links[key] = where

    def finish(self, *, named: bool) -> Hierarchies:
        """The columns of all documents."""
        Side(self.file or "input", self.documents).require_distinct()
        if self.repeated:
            self.notes.append(f"{self.file or 'input'}: {counted(self.repeated, 'duplicate link')} counted once")
        roots = integers(self.union)
        while not np.array_equal(further := roots[roots], roots):
            roots = further
        node, nodes = arrays.number(roots, max(1, len(roots)))
        count = len(self.links)
        parent, child, kind = np.fromiter(chain.from_iterable(self.links), np.int64, 3 * count).reshape(-1, 3).T
        line, column = np.fromiter(chain.from_iterable(self.links.values()), np.int64, 2 * count).reshape(-1, 2).T
        return Hierarchies(
            documents=self.documents,
            document=integers(self.document),
            identities=self.identities,
            names=self.names,
            node=node,
            nodes=nodes,
            kinds=list(self.kinds),
            parent=parent,
            child=child,
            kind=kind,
            line=line,
            column=column,
            files=self.files,
            named=named,
            identified_by=self.identified_by,
            sources=self.sources,
            notes=tuple(self.notes),
        )


def hierarchies_from(documents: Iterable[EventHierarchy] | Mapping[Any, EventHierarchy]) -> Hierarchies:
    """The columns of Python values: `EventHierarchy`s, or a mapping of them by document id."""
    named = isinstance(documents, Mapping)
    listed = documents.items() if isinstance(documents, Mapping) else enumerate(documents)
    building = Building()
    for name, one in listed:
        if not isinstance(one, EventHierarchy):
            raise MetricError(f"document {name}: expected an EventHierarchy, found {type(one).__name__} {one!r:.60}")
        building.open(str(name))
        names = list(map(str, one.events))
        building.events(
            names, [name if event is None else event for name, event in zip(names, one.events, strict=True)]
        )
        for cluster in one.coreference:
            building.corefer([(str(event), NOWHERE) for event in cluster])
        for link in one.links:
            building.link(str(link.parent), str(link.child), link.type)
    return building.finish(named=named)


def hierarchy_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data: a forest in parentheses, a list of (parent, child) or (parent, child, type), or a dict."""
    if isinstance(value, str):
        expect(value.lstrip()[:1] == "(" or "\t(" in value, where, "a forest in parentheses, (A(B)(C))", value)
        if "\n" in value.strip():
            raise ValueMismatch(
                f"{where}: expected the forest of one document, found several lines; give a list with one in each text"
            )
        return {"newick": value.strip()}
    links = value
    if isinstance(value, dict):
        expect("events" in value or "links" in value, where, 'a document, a dict with "events" and "links"', value)
        links = value.get("links", [])
        if isinstance(links, dict):
            return named(value, **{key: value[key] for key in KEYS if key in value and key != "id"})
    by_kind = _links_by_kind(links, where)
    events = list(dict.fromkeys(name for found in by_kind.values() for link in found for name in link))
    if isinstance(value, dict):
        events = value.get("events", events)
    coreference = {"coreference": value["coreference"]} if isinstance(value, dict) and value.get("coreference") else {}
    return named(value, events=events, links=by_kind, **coreference)


def _links_by_kind(links: Any, where: str) -> dict[str, list[list[Any]]]:
    """The (parent, child) of each kind of link."""
    expect(isinstance(links, list), where, "a list of links, (parent, child)", links)
    by_kind: dict[str, list[list[Any]]] = {}
    for k, link in enumerate(links):
        if isinstance(link, Structure):
            link = [link.get("parent"), link.get("child"), link.get("type", SUBEVENT)]
        fits = isinstance(link, list) and len(link) in (2, 3) and all(map(_is_name, link))
        expect(fits, f"{where}[{k}]", "a link, (parent, child) or (parent, child, type)", link)
        by_kind.setdefault(str(link[2]) if len(link) > 2 else SUBEVENT, []).append(link[:2])
    return by_kind


def forests_of(side: Given) -> Source:
    """The documents of one side, as lines of parentheses or of JSON."""
    written = ["newick" in one for one in side.documents]
    if not (written and all(written)):
        if any(written):
            raise ValueMismatch(
                f"{side.name}: some documents are in parentheses and some are links; give all in one form"
            )
        return side.lines
    ids = side.ids or tuple(map(str, range(len(written))))
    forests = (one["newick"].rpartition("\t")[2] for one in side.documents)
    return side.source("".join(f"{name}\t{forest}\n" for name, forest in zip(ids, forests, strict=True)))


def read_hierarchies(name: AnySource) -> Hierarchies:
    """Read one side of a corpus: Newick, JSONL, a brat `.ann` file or a folder of them; `.gz` and `-` too."""
    opening = Opening(name)
    chosen = find_format(FORMATS, opening)
    assert chosen is not None
    assert chosen.read is not None
    found: Hierarchies = chosen.read(opening)
    return found


def with_missing(reference: Hierarchies, predicted: Hierarchies, absent: Missing) -> Hierarchies:
    """The prediction with an empty document for each that it lacks, and without those that the reference lacks."""
    if not (reference.named and predicted.named):
        refuse_by_order(absent)
        return predicted
    return pair_hierarchies(reference, predicted, absent)[1]


def pair_hierarchies(
    reference: Hierarchies, predicted: Hierarchies, absent: Missing | None = None
) -> tuple[Hierarchies, Hierarchies]:
    """The prediction over the documents of the reference: by name where both have names, else by order."""
    if len(reference.names) and len(predicted.names) and reference.identified_by != predicted.identified_by:
        raise SidesMismatch(
            f"events are known by their {reference.identified_by} in the reference and by their "
            f"{predicted.identified_by} in the prediction; give both in one way"
        )
    pairs = pair_sides(reference.side, predicted.side, absent)
    if not (reference.named and predicted.named):
        named = reference if reference.named else predicted
        notes = (*predicted.notes, *by_order(reference.side, predicted.side))
        return replace(reference, documents=named.documents), replace(predicted, documents=named.documents, notes=notes)
    number = np.full(len(predicted.documents), -1, np.int64)
    files = [""] * len(pairs)
    for k, other in pairs:
        if other >= 0:
            number[other], files[k] = k, predicted.files[other]
    document = number[predicted.document] if len(predicted.document) else predicted.document
    moved = replace(predicted, documents=reference.documents, document=document, files=files)
    return reference, moved if (number >= 0).all() else _without_documents(moved)


def _without_documents(side: Hierarchies) -> Hierarchies:
    """A side without the mentions whose document is -1; links do not leave their documents."""
    mentions = np.flatnonzero(side.document >= 0)
    row = np.full(len(side.document), -1, np.int64)
    row[mentions] = np.arange(len(mentions))
    links = np.flatnonzero(row[side.parent] >= 0)
    nodes, node = np.unique(side.node[mentions], return_inverse=True)
    return replace(
        side,
        document=side.document[mentions],
        identities=[side.identities[k] for k in mentions.tolist()],
        names=[side.names[k] for k in mentions.tolist()],
        node=node.astype(np.int64),
        nodes=len(nodes),
        parent=row[side.parent[links]],
        child=row[side.child[links]],
        kind=side.kind[links],
        line=side.line[links],
        column=side.column[links],
    )


# Event hierarchies as JSON Lines, one document a line.
#
#     {"id": "lima", "events": ["E6", "E7", "E8"], "coreference": [["E6", "E7"]], "links": {"subevent": [["E7", "E8"]]}}
#
# An event is a name, or `{"id": "E6", "span": [10, 16]}`: then it is the same event mention on the other side if it has
# the same span, whatever its name there. `links` has a list of [parent, child] for each type of links.

KEYS = ("id", "events", "coreference", "links")


def read_jsonl(opening: Opening) -> Hierarchies:
    """The documents of a file: one JSON object a line, a list of them, or one alone."""
    source = as_json_lines(opening.source)
    reading = _Reading(source)
    text = opening.text if source is opening.source else source.text()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            reading.take(line, number)
    return reading.finish()


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source, self.building = source, Building(source)
        self.ways: set[str] = set()
        self.named: list[Any] = []
        self.places: list[Place] = []
        self.line, self.number = "", 0
        self.spans: dict[tuple[int, Any], int] = {}

    def take(self, line: str, number: int) -> None:
        """Read the document of a line."""
        self.line, self.number = line, number
        value = self._decode()
        given = value.get("id")
        name = id_of(given)
        if given is not None and name is None:
            raise self.error(f"id: {expected_id(given)}", "id")
        self.named.append(name)
        self.places.append(self.source.place(number))
        self.building.open(str(name) if name is not None else str(len(self.building.documents)))
        for k, event in enumerate(self.listed(value, "events")):
            self.event(event, k)
        for k, cluster in enumerate(self.listed(value, "coreference")):
            names = self.names(cluster, "a list of event names", "coreference", k)
            self.building.corefer([(name, self.at()) for name in names])
        links = value.get("links", {})
        if not isinstance(links, dict):
            raise self.error('"links" is a list for each type: {"subevent": [[parent, child], ...]}', "links")
        for kind in links:
            for k, pair in enumerate(self.listed(links, kind, "links")):
                self.link(pair, kind, k)

    def _decode(self) -> dict[str, Any]:
        try:
            value = decode(self.line)
        except NotJson as error:
            raise self.building.error(str(error), (self.number, error.column or 1)) from None
        if not isinstance(value, dict) or "events" not in value:
            raise self.building.error('expected a JSON object with "events" and "links"', (self.number, 1))
        unknown = [key for key in value if key not in KEYS]
        if unknown:
            raise self.error(f"{some(unknown)} is unknown here; expected {some(KEYS)}", unknown[0])
        return value

    def link(self, pair: Any, kind: str, k: int) -> None:
        """A link of a type, the k-th."""
        path = ("links", kind, k)
        names = self.names(pair, "[parent, child]", *path, count=2)
        if names[0] == names[1]:
            raise self.error(f"a {kind} link from {names[0]} to itself", *path)
        # Finding the column costs more than all the rest: it is looked for when something is wrong.
        self.building.link(names[0], names[1], kind, self.at())

    def event(self, event: Any, k: int) -> None:
        """An event: a name, or a name with a span."""
        identity: Any = None
        name = event
        if isinstance(event, dict):
            name, span = event.get("id"), event.get("span")
            if span is not None:
                identity = _span(span)
                if identity is None:
                    raise self.error(
                        f"found {shown(span)}; expected a span [start, end], or a list of them", "events", k
                    )
                if self.spans.setdefault((len(self.building.documents), identity), k) != k:
                    raise self.error(f"two events have the span {shown(span)}; events are known by it", "events", k)
        if not _is_name(name):
            raise self.error(f'found {shown(event)}; expected a name or {{"id": ..., "span": [...]}}', "events", k)
        self.ways.add("name" if identity is None else "span")
        if str(name) in self.building.rows:
            raise self.error(f"duplicate event {name}; names must be unique", "events", k)
        self.building.event(str(name), self.at(), identity)

    def names(self, value: Any, expected: str, *path: str | int, count: int | None = None) -> list[str]:
        """A list of names of events; an unknown one is an error with a caret under it."""
        if (
            not isinstance(value, list)
            or not value
            or not all(map(_is_name, value))
            or len(value) != (count or len(value))
        ):
            raise self.error(f"found {shown(value)}; expected {expected}", *path)
        for k, name in enumerate(map(str, value)):
            if name not in self.building.rows:
                self.building.row(name, (self.number, column_of(self.line, [*path, k]) or 1))
        return [str(name) for name in value]

    def listed(self, value: dict[str, Any], key: str, *path: str | int) -> list[Any]:
        """A field that has to be a list."""
        found = value.get(key, [])
        if not isinstance(found, list):
            raise self.error(f"found {shown(found)}; expected a list", *path, key)
        return found

    def at(self) -> Where:
        return self.number, 0

    def error(self, message: str, *path: str | int) -> InputError:
        """What to raise about the value at a path."""
        return self.building.error(message, (self.number, column_of(self.line, path) or 1))

    def finish(self) -> Hierarchies:
        """The columns of all documents."""
        if len(self.ways) > 1:
            raise self.building.error("some events have a span and some do not; give a span to all or to none")
        self.building.identified_by = next(iter(self.ways), "name")
        return self.building.finish(named=all_named(self.named, self.places, "id"))


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _span(value: Any) -> tuple[Any, ...] | None:
    """A span as its two ends, or a span in pieces as several of them; None if it is neither."""
    if not isinstance(value, list) or not value:
        return None
    if len(value) == 2 and all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        return tuple(value)
    pieces = tuple(_span(one) if isinstance(one, list) and one and isinstance(one[0], int) else None for one in value)
    return None if None in pieces else pieces


def link_column(line: str, kind: str, parent: str, child: str) -> int | None:
    """The column of a link in its line."""
    pairs = json.loads(line).get("links", {}).get(kind, [])
    places = [k for k, pair in enumerate(pairs) if [str(one) for one in pair] == [parent, child]]
    return column_of(line, ["links", kind, places[0]]) if places else None


# Forests in parentheses, as Table 1 of "Evaluation for Partial Event Coreference" prints them (it says Newick).
#
#     (1(2(6)(3(7)))(4(5))) (8(9(11)(12))(10)) (30) (31)
#
# A node is `(label subtree ...)`. A conceptual event of several mentions is written as in the paper's figures,
# `({E6,E7}(E8)(E11))`. One document a line. A name, and a type of links, may stand before it, each followed by a tab:
#
#     story1 <tab> (1(2)(3)) (4)
#     story1 <tab> membership <tab> (1) (2) (3) (4(3))
#
# Lines of one document with different types are one document, and must name the same events. Without a type, links
# are subevents. Lines that begin with # are comments.

_TOKEN = re.compile(r"(?P<space>\s+)|(?P<open>\()|(?P<close>\))|(?P<set>\{[^{}()]*\})|(?P<label>[^\s(){},;]+)")


@dataclass
class _Line:
    """The trees of a line: nodes (their mentions with places), and for each the number of its parent or -1."""

    nodes: list[list[tuple[str, Where]]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)


def read_newick(opening: Opening) -> Hierarchies:
    """The documents of a file in Newick form."""
    building = Building(opening.source)
    named = False
    documents: dict[str, list[tuple[str, _Line, int]]] = {}
    for number, line in enumerate(opening.text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        *head, trees = line.rstrip("\r").split("\t")
        if len(head) > 2:
            raise building.error("expected at most a name and a type before the trees, each with a tab", (number, 1))
        named = named or bool(head)
        name = head[0] if head else str(len(documents))
        kind = head[1] if len(head) > 1 else SUBEVENT
        parsed = _parse(building, trees, number, len(line.rstrip("\r")) - len(trees))
        documents.setdefault(name, []).append((kind, parsed, number))
    if not documents:
        raise building.error("has no trees; expected a line such as (1(2)(3)) (4)")
    for name, lines in documents.items():
        building.open(name)
        first = {mention for node in lines[0][1].nodes for mention, _ in node}
        for k, (kind, parsed, number) in enumerate(lines):
            _add(building, kind, parsed, number, first if k else None)
    return building.finish(named=named)


def _add(building: Building, kind: str, line: _Line, number: int, known: set[str] | None) -> None:
    if known is None:
        for node in line.nodes:
            for mention, where in node:
                building.event(mention, where)
    else:
        here = {mention for node in line.nodes for mention, _ in node}
        if here != known:
            name = sorted(here ^ known)[0]
            raise building.error(
                f"event {name} is not in all lines of this document; name the same events", (number, 1)
            )
    for node in line.nodes:
        if len(node) > 1:
            building.corefer(node)
    for node, parent in zip(line.nodes, line.parents, strict=True):
        if parent >= 0:
            building.link(line.nodes[parent][0][0], node[0][0], kind, node[0][1])


def _parse(building: Building, trees: str, number: int, start: int) -> _Line:
    out = _Line()
    open_: list[int] = []  # the nodes around this place; -1 for one without a label yet
    opened: list[int] = []
    place = 0
    while place < len(trees):
        token = _TOKEN.match(trees, place)
        where = (number, start + place + 1)
        if token is None:
            sign = trees[place]
            hint = "; this is Newick with children first, expected (parent(child)(child))" if sign in ",;" else ""
            raise building.error(f"unexpected {sign!r}{hint}", where)
        kind, found = token.lastgroup, token.group()
        place = token.end()
        if kind == "open":
            if open_ and open_[-1] < 0:
                raise building.error("expected a label before the subtrees of a node", where)
            open_.append(-1)
            opened.append(where[1])
        elif kind == "close":
            if not open_:
                raise building.error("a ) without its (", where)
            if open_.pop() < 0:
                raise building.error("a node without a label", where)
            opened.pop()
        elif kind in ("label", "set"):
            if not open_ or open_[-1] >= 0:
                what = "a label outside of parentheses" if not open_ else "a second label in a node"
                raise building.error(f"{what}: {found}; expected (label subtree ...)", where)
            mentions = re.split(r"[\s,]+", found[1:-1].strip()) if kind == "set" else [found]
            if not all(mentions):
                raise building.error("a node without a label", where)
            open_[-1] = len(out.nodes)
            out.parents.append(open_[-2] if len(open_) > 1 else -1)
            out.nodes.append([(mention, where) for mention in mentions])
    if open_:
        raise building.error("a ( that is never closed", (number, opened[-1]))
    return out


# Event hierarchies in brat's standoff format: a `.ann` file is a document, a folder of them a corpus.
#
#     T1 <tab> Attack 10 16 <tab> attack
#     E1 <tab> Attack:T1
#     R1 <tab> Subevent Arg1:E1 Arg2:E2
#     *  <tab> Coreference E1 E3
#
# Events are the E annotations, or, in a file without any, the text-bound ones (T). An event is the same on both sides
# if its trigger has the same span; of several events on one span the first meets the first, in the order of types.
# `Arg1` is the parent and `Arg2` the child, unless the arguments are called Parent and Child (or Super and Sub). Types
# are known whatever their case and signs: Subevent, SuperSub, SubSuper (child first), Member, Membership, and for full
# coreference Coref, Coreference, Equiv, Same. Relations of other types are left out, and it is said how many.

_KINDS = {
    "subevent": SUBEVENT, "subeventof": SUBEVENT, "hassubevent": SUBEVENT, "supersub": SUBEVENT, "subsuper": SUBEVENT,
    "member": MEMBERSHIP, "membership": MEMBERSHIP, "hasmember": MEMBERSHIP, "memberof": MEMBERSHIP,
    "coref": "coreference", "coreference": "coreference", "fullcoref": "coreference", "fullcoreference": "coreference",
    "equiv": "coreference", "same": "coreference", "identity": "coreference",
}  # fmt: skip
_CHILD_FIRST = {"subsuper", "subeventof", "memberof"}
_PARENTS, _CHILDREN = ("parent", "super", "superevent", "collection"), ("child", "sub", "subevent", "member")


def read_brat(name: AnySource) -> Hierarchies:
    """A `.ann` file, or all of a folder."""
    building = Building(identified_by="span")
    for file in read_standoff(name):
        building.source = building.sources[str(file.source)] = file.source
        building.open(file.name)
        _add_standoff(building, file)
    return building.finish(named=Path(name).is_dir())


def _add_standoff(building: Building, file: Standoff) -> None:
    for identifier, (span, place) in _spans(file).items():
        building.event(identifier, _where(place), span)
    others: Counter[str] = Counter()
    for one in file.sets:
        if _KINDS.get(_plain_name(one.type)) == "coreference":
            building.corefer([(member.id, _where(member.place)) for member in one.members])
        else:
            others[one.type] += 1
    for relation in file.relations.values():
        kind = _KINDS.get(_plain_name(relation.type))
        if kind is None:
            others[relation.type] += 1
            continue
        parent, child = ((one.id, _where(one.place)) for one in _parent_first(relation))
        if kind == "coreference":
            building.corefer([parent, child])
        else:
            building.link(parent[0], child[0], kind, parent[1], at_child=child[1])
    if others:
        listed = ", ".join(f"{kind} ({count:,})" for kind, count in others.most_common())
        building.notes.append(f"{building.file}: relations of other types left out: {listed}")


def _where(place: Place) -> Where:
    return place.line or 0, place.column or 0


def _parent_first(relation: BratRelation) -> tuple[Pointer, Pointer]:
    first, second = relation.arguments
    roles = _plain_name(first.role), _plain_name(second.role)
    turned = _plain_name(relation.type) in _CHILD_FIRST
    if roles[0] in _CHILDREN or roles[1] in _PARENTS:
        turned = True
    elif roles[0] in _PARENTS or roles[1] in _CHILDREN:
        turned = False
    elif roles[0] == "arg2":
        turned = not turned
    return (second, first) if turned else (first, second)


def _spans(file: Standoff) -> dict[str, tuple[tuple[str, int], Place]]:
    """The identity of each event: the span of its trigger, and its number among those on that span."""
    events = {key: (event.type, event.trigger.id) for key, event in file.events.items()}
    if not events:  # a file that annotates events as text-bound annotations only
        events = {key: (span.type, key) for key, span in file.spans.items()}
    seen: Counter[str] = Counter()
    number: dict[str, int] = {}
    for key in sorted(events, key=lambda key: events[key][0]):
        offsets = file.spans[events[key][1]].offsets
        number[key] = seen[offsets]
        seen[offsets] += 1
    return {
        key: ((file.spans[trigger].offsets, number[key]), replace(file.spans[trigger].place, column=1))
        for key, (_, trigger) in events.items()
    }


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower()) if not re.fullmatch(r"(?i)arg\d", name) else name.lower()


FORMATS = (
    Format("brat", lambda opening: is_brat(opening.source), lambda opening: read_brat(opening.source)),
    Format(
        "jsonl",
        lambda opening: opening.text.lstrip().startswith("{") or begins_list(opening.head),
        read_jsonl,
    ),
    Format("newick", read=read_newick, boundaries=TREES),
)
"""What is neither brat nor JSON is trees in parentheses."""

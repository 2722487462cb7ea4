"""Event hierarchies of a corpus as columns, and the one place where files of any format are made into them.

| format | is known by | reader |
|---|---|---|
| newick | `(` first, or after a name and a tab | `reading.newick` |
| jsonl | `{` as the first character | `reading.hierarchies_jsonl` |
| brat | a `.ann` file, or a folder of them | `reading.brat_hierarchies` |

Every link remembers its line and column, so that a metric that needs trees can say which link makes a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.engine.arrays import I64, integers
from tallystick.errors import InputError, MetricError, Place, SidesMismatch, did_you_mean, some
from tallystick.files.boundaries import TREES, Format
from tallystick.files.pairing import Missing, Side, pair_sides
from tallystick.files.source import AnySource, Source, unpacked_name
from tallystick.structures.hierarchies import EventHierarchy

Where = tuple[int, int]
"""Line and column, counted from 1; 0 where unknown."""
NOWHERE: Where = (0, 0)


@dataclass(frozen=True, eq=False)
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
            from tallystick.tasks.hierarchies.formats import link_column

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
        self.links: list[tuple[int, int, int, int, int]] = []
        self.seen: set[tuple[int, int, int]] = set()
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
            raise self.error(f"event {name} stands twice", where)
        self.rows[name] = len(self.names)
        self.document.append(len(self.documents) - 1)
        self.names.append(name)
        self.identities.append(name if identity is None else identity)
        self.union.append(len(self.union))

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
        above, below = self.row(parent, where), self.row(child, at_child or where)
        if above == below:
            raise self.error(f"a {kind} link from {parent} to itself", where)
        key = above, below, self.kinds.setdefault(kind, len(self.kinds))
        if key in self.seen:
            self.repeated += 1
            return
        self.seen.add(key)
        self.links.append((*key, *where))

    def finish(self, *, named: bool) -> Hierarchies:
        """The columns of all documents."""
        Side(self.file or "input", self.documents).require_distinct()
        if self.repeated:
            self.notes.append(f"{self.file or 'input'}: {self.repeated:,} links stand twice; counted once")
        roots = [self._root(row) for row in range(len(self.union))]
        links = np.array(self.links, np.int64).reshape(-1, 5).T
        _, node = np.unique(integers(roots), return_inverse=True)
        node = node.reshape(-1).astype(np.int64)
        return Hierarchies(
            documents=self.documents,
            document=integers(self.document),
            identities=self.identities,
            names=self.names,
            node=node,
            nodes=int(node.max(initial=-1)) + 1,
            kinds=list(self.kinds),
            parent=links[0],
            child=links[1],
            kind=links[2],
            line=links[3],
            column=links[4],
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
        for event in one.events:
            building.event(str(event), identity=event)
        for cluster in one.coreference:
            building.corefer([(str(event), NOWHERE) for event in cluster])
        for link in one.links:
            building.link(str(link.parent), str(link.child), link.type)
    return building.finish(named=named)


def read_hierarchies(name: AnySource) -> Hierarchies:
    """Read one side of a corpus: Newick, JSONL, a brat `.ann` file or a folder of them; `.gz` and `-` too."""
    from tallystick.tasks.hierarchies.formats import read_brat, read_jsonl, read_newick

    source = Source.of(name)
    if Path(source).is_dir() or unpacked_name(source).endswith(".ann"):
        return read_brat(source)
    text = source.text()
    reader: Callable[[Source, str], Hierarchies] = read_jsonl if text.lstrip().startswith("{") else read_newick
    return reader(source, text)


def with_missing(reference: Hierarchies, predicted: Hierarchies, absent: Missing) -> Hierarchies:
    """The prediction with an empty document for each that it lacks, and without those that the reference lacks."""
    return pair_hierarchies(reference, predicted, absent)[1] if reference.named and predicted.named else predicted


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
        return replace(reference, documents=named.documents), replace(predicted, documents=named.documents)
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


FORMATS = (Format("newick", boundaries=TREES),)
"""What is neither brat nor JSON is trees in parentheses."""

"""Event hierarchies as JSON Lines, one document a line.

    {"id": "lima", "events": ["E6", "E7", "E8"], "coreference": [["E6", "E7"]], "links": {"subevent": [["E7", "E8"]]}}

An event is a name, or `{"id": "E6", "span": [10, 16]}`: then it is the same event mention on the other side if it has
the same span, whatever its name there. `links` has a list of [parent, child] for each type of links.
"""

from __future__ import annotations

import json
from typing import Any

from tallystick.errors import InputError, some
from tallystick.reading.hierarchies import Building, Hierarchies, Where
from tallystick.reading.json_places import column_of
from tallystick.reading.json_text import NotJson, decode

KEYS = ("id", "events", "coreference", "links")


def read_jsonl(text: str, file: str) -> Hierarchies:
    """The documents of a text, one JSON object a line."""
    reading = _Reading(file, text)
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            reading.take(line, number)
    if not reading.building.documents:
        raise InputError("has no documents; expected one JSON object a line", file)
    return reading.finish()


class _Reading:
    def __init__(self, file: str, text: str) -> None:
        self.building = Building(file, text)
        self.ways: set[str] = set()
        self.unnamed = 0
        self.line, self.number = "", 0
        self.spans: dict[tuple[int, Any], int] = {}

    def take(self, line: str, number: int) -> None:
        """Read the document of a line."""
        self.line, self.number = line, number
        try:
            value = decode(line)
        except NotJson as error:
            raise self.building.error(str(error), (number, error.column or 1)) from None
        if not isinstance(value, dict) or "events" not in value:
            raise self.building.error('expected a JSON object with "events" and "links"', (number, 1))
        unknown = [key for key in value if key not in KEYS]
        if unknown:
            raise self.error(f"{some(unknown)} is unknown here; expected {some(KEYS)}", unknown[0])
        name = value.get("id")
        self.unnamed += name is None
        self.building.open(str(name) if name is not None else str(len(self.building.documents)))
        for k, event in enumerate(self.listed(value, "events")):
            self.event(event, k)
        for k, cluster in enumerate(self.listed(value, "coreference")):
            if not isinstance(cluster, list) or not cluster or not all(map(_is_name, cluster)):
                raise self.error(f"found {cluster!r:.60}; expected a list of event names", "coreference", k)
            self.refer(cluster, "coreference", k)
            self.building.corefer([(str(event), self.at()) for event in cluster])
        links = value.get("links", {})
        if not isinstance(links, dict):
            raise self.error('"links" is a list for each type: {"subevent": [[parent, child], ...]}', "links")
        for kind in links:
            for k, pair in enumerate(self.listed(links, kind, "links")):
                if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_name, pair)):
                    raise self.error(f"found {pair!r:.60}; expected [parent, child]", "links", kind, k)
                self.refer(pair, "links", kind, k)
                if pair[0] == pair[1]:
                    raise self.error(f"a {kind} link from {pair[0]} to itself", "links", kind, k)
                # Finding the column costs more than all the rest: it is looked for when something is wrong.
                self.building.link(str(pair[0]), str(pair[1]), kind, (number, 0))

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
                        f"found {span!r:.60}; expected a span [start, end], or a list of them", "events", k
                    )
                if self.spans.setdefault((len(self.building.documents), identity), k) != k:
                    raise self.error(f"two events have the span {span!r:.60}; events are known by it", "events", k)
        if not _is_name(name):
            raise self.error(f'found {event!r:.60}; expected a name or {{"id": ..., "span": [...]}}', "events", k)
        self.ways.add("name" if identity is None else "span")
        if str(name) in self.building.rows:
            raise self.error(f"event {name} stands twice", "events", k)
        self.building.event(str(name), self.at(), identity)

    def refer(self, names: list[Any], *path: str | int) -> None:
        """An unknown name is an error with a caret under it."""
        for k, name in enumerate(names):
            if str(name) not in self.building.rows:
                self.building.row(str(name), (self.number, column_of(self.line, [*path, k]) or 1))

    def listed(self, value: dict[str, Any], key: str, *path: str | int) -> list[Any]:
        """A field that has to be a list."""
        found = value.get(key, [])
        if not isinstance(found, list):
            raise self.error(f"found {found!r:.60}; expected a list", *path, key)
        return found

    def at(self) -> Where:
        return self.number, 0

    def error(self, message: str, *path: str | int) -> InputError:
        """What to raise about the value at a path."""
        return self.building.error(message, (self.number, column_of(self.line, path) or 1))

    def finish(self) -> Hierarchies:
        """The columns of all documents."""
        if len(self.ways) > 1:
            raise InputError("some events have a span and some have not; give all of them one", self.building.file)
        self.building.identified_by = next(iter(self.ways), "name")
        return self.building.finish(named=self.unnamed == 0)


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

"""Graphs given as triples: for DRS, UMR, MRP and whatever else is not written in PENMAN.

JSON Lines, a graph a line; everything but `triples` may be left out:

    {"id": "s1", "top": "k", "variables": ["k", "i"],
     "triples": [["k", "instance", "know-01"], ["i", "instance", "i"], ["k", "ARG0", "i"]]}

Text, a triple a line (`source role target`, tabs or blanks, a string in double quotes is one field), an empty
line between graphs, comments as in PENMAN. A conjunction, `ARG0(k, i) ^`, is read too:

    # ::id s1
    k instance know-01
    k ARG0 i

Variables are what `variables` lists. Without it, they are the sources of `instance` triples, and if there are
none, all sources. A target in double quotes is always a constant.
"""

from __future__ import annotations

import re
from typing import Any

from tallystick.errors import InputError, Place
from tallystick.files.json_values import decode_line, shown
from tallystick.files.source import AnySource, Source
from tallystick.tasks.amr.files import Edge, Graph, Graphs

_FIELDS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|\S+')
_CONJUNCT = re.compile(r'\s*([^\s()]+)\(\s*([^\s(),]+)\s*,\s*("[^"\\]*(?:\\.[^"\\]*)*"|[^\s()^,]+)\s*\)\s*\^?\s*')
_INSTANCE = ("instance", ":instance")


def parse_triples(text: str, *, file: AnySource = "<text>", lenient: bool = False) -> Graphs:
    """The graphs of a text, JSON Lines or not; it is told by its first character."""
    source = Source.of(file)
    found = Graphs(str(source), [])
    parse = _json_lines if text.lstrip()[:1] == "{" else _blocks
    for graph, error in parse(text, source):
        found.graphs.append(graph)
        if error is not None:
            if not lenient:
                raise error
            found.problems.append((len(found.graphs) - 1, error))
    return found


_Found = list[tuple[Graph, "InputError | None"]]


def _json_lines(text: str, source: Source) -> _Found:
    found: _Found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = source.place(number)
        try:
            found.append((_of_record(decode_line(line, str(source), place.line), number, place), None))
        except InputError as error:
            found.append((Graph(line=number), error))
    return found


def _of_record(record: Any, number: int, place: Place) -> Graph:
    if not isinstance(record, dict) or not isinstance(record.get("triples"), list):
        raise InputError('expected an object with "triples", a list of [source, role, target]', place)
    triples = []
    for n, triple in enumerate(record["triples"]):
        if not (
            isinstance(triple, list) and len(triple) == 3 and all(isinstance(x, str | int | float) for x in triple)
        ):
            raise InputError(f"triples[{n}]: expected [source, role, target], found {shown(triple)}", place)
        triples.append((str(triple[0]), str(triple[1]), str(triple[2])))
    name = record.get("id")
    variables, top = record.get("variables"), record.get("top")
    if variables is not None and not isinstance(variables, list):
        raise InputError(f'"variables" is {shown(variables)}; expected a list of names', place)
    listed = None if variables is None else [str(v) for v in variables]
    return _graph(
        triples, None if name is None else str(name), listed, None if top is None else str(top), number, place
    )


def _blocks(text: str, source: Source) -> _Found:
    found: _Found = []
    triples: list[tuple[str, str, str]] = []
    names: dict[str, str] = {}
    problem: InputError | None = None
    begun, first = False, 1

    def finish() -> None:
        nonlocal triples, names, problem, begun
        if begun:
            graph = Graph(names.get("id"), line=first)
            if problem is None:
                try:
                    graph = _graph(triples, names.get("id"), None, names.get("top"), first, source.place(first))
                except InputError as error:
                    problem = error
            found.append((graph, problem))
        triples, names, problem, begun = [], {}, None, False

    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            finish()
        elif line.startswith("#"):
            for key, value in re.findall(r"::(\S+)[ \t]+((?:(?!::\S).)*)", line):
                names[key] = value.strip()
            if names:
                begun, first = True, number
        else:
            begun, first = True, first if triples else number
            parts = _split(line)
            if parts is None:
                expected = 'expected "source role target" or "role(source, target)"'
                problem = problem or source.error(expected, number, 1, line)
            else:
                triples += parts
    finish()
    return found


def _split(line: str) -> list[tuple[str, str, str]] | None:
    position, conjuncts = 0, []
    while (match := _CONJUNCT.match(line, position)) is not None:
        conjuncts.append((match[2], match[1], match[3]))
        position = match.end()
    if conjuncts:
        return conjuncts if position == len(line) else None
    fields = _FIELDS.findall(line)
    return [(fields[0], fields[1], fields[2])] if len(fields) == 3 else None


def _graph(
    triples: list[tuple[str, str, str]],
    name: str | None,
    listed: list[str] | None,
    top: str | None,
    line: int,
    place: Place,
) -> Graph:
    if listed is None:
        listed = [source for source, role, _ in triples if role in _INSTANCE] or [source for source, _, _ in triples]
    index: dict[str, int] = {}
    for variable in listed:
        index.setdefault(variable, len(index))
    if top is not None and top not in index:
        raise InputError(f'"top" is "{top}", which is not a variable of the graph', place)
    concepts: list[str | None] = [None] * len(index)
    edges: list[Edge] = []
    for source, role, target in triples:
        if role in _INSTANCE and source in index:
            if concepts[index[source]] is not None:
                raise InputError(f'the variable "{source}" has two concepts', place)
            concepts[index[source]] = target
        else:
            role = role if role.startswith(":") else f":{role}"
            edges.append((index.get(source, source), role, index.get(target, target)))
    return Graph(name, list(index), concepts, edges, None if top is None else index[top], line)

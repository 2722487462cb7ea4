"""A graph of meaning as the readers hand it on, and how two files of graphs are put side by side.

    (w / want-01 :ARG0 (b / boy) :polarity -)

has two variables, two concepts and two edges. Variables are numbered in the order in which they are
introduced, so that an edge is `(0, ":ARG0", 1)`, and a constant stays text: `(0, ":polarity", "-")`. Nothing
is normalised here: roles are kept as written (`:ARG0-of` is not turned round), quotes stay on, since what
counts as equal is a choice of the metric (`tallystick.tasks.amr.triples`), not of the reader.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from tallystick.engine.arrays import I64
from tallystick.errors import InputError, Place, SidesMismatch, ValueMismatch
from tallystick.files.boundaries import LINES, Boundaries, Uncut, blank_lines, line_starts, up_to_the_last, whole_lines
from tallystick.files.json_values import as_json_lines, decode_line, id_in, is_id, shown
from tallystick.files.pairing import Missing, Side, all_named, pair_sides, refuse_by_order
from tallystick.files.source import AnySource, Format, Opening, Source, begins_list, find_format
from tallystick.tasks.plain import Given, Structure, expect, named

Edge = tuple["int | str", str, "int | str"]
"""Source, role, target: a number is a variable, a text is a constant."""


@dataclass(slots=True)
class Graph:
    """One graph: `concepts[v]` is the concept of `variables[v]` (None where it has none); `top` is the
    root."""

    name: str | None = None
    variables: list[str] = field(default_factory=list)
    concepts: list[str | None] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    top: int | None = None
    line: int = 0
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def triples(self) -> list[tuple[str, str, str]]:
        """The graph as (source, role, target) of names, concepts as `:instance`."""

        def named(end: int | str) -> str:
            return self.variables[end] if isinstance(end, int) else end

        found = [(v, ":instance", c) for v, c in zip(self.variables, self.concepts, strict=True) if c is not None]
        return found + [(named(source), role, named(target)) for source, role, target in self.edges]


@dataclass(slots=True)
class Graphs:
    """The graphs of one file, and what a lenient reading had to count as empty (`problems`: position,
    error)."""

    file: str
    graphs: list[Graph]
    problems: list[tuple[int, InputError]] = field(default_factory=list)
    by_order: bool = False
    """Whether the graphs are to be paired by order although they have names."""

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def side(self) -> Side[str | None]:
        """What a pairing needs to know: graphs have names only if all of them do."""
        names = [graph.name for graph in self.graphs]
        places = [Place(self.file, graph.line or None) for graph in self.graphs]
        named = not self.by_order and (None not in names if self.problems else all_named(names, places))
        return Side(self.file, names, places, named)


def pair_graphs(reference: Graphs, predicted: Graphs) -> list[tuple[Graph, Graph]]:
    """Pairs by name where the graphs of both files have one (`# ::id`), else by order; in the order of the reference."""
    return [(reference.graphs[k], predicted.graphs[j]) for k, j in _pairs(reference, predicted)]


def _pairs(reference: Graphs, predicted: Graphs, absent: Missing | None = None) -> list[tuple[int, int]]:
    try:
        return pair_sides(reference.side, predicted.side, absent)
    except SidesMismatch as error:
        if not (reference.side.named and predicted.side.named and len(reference) == len(predicted)):
            raise
        raise SidesMismatch(f"{error}; if the order of the graphs is the same, use --pair order") from None


def with_missing(reference: Graphs, predicted: Graphs, absent: Missing) -> Graphs:
    """The prediction with an empty graph for each that it lacks, and without those that the reference lacks; only
    names can tell which these are."""
    if not (reference.side.named and predicted.side.named):
        refuse_by_order(absent)
        return predicted
    pairs = _pairs(reference, predicted, absent)
    graphs = [predicted.graphs[j] if j >= 0 else Graph(reference.graphs[k].name) for k, j in pairs]
    place = {j: k for k, (_, j) in enumerate(pairs) if j >= 0}
    problems = [(place[k], problem) for k, problem in predicted.problems if k in place]
    return replace(predicted, graphs=graphs, problems=problems)


# PENMAN files: `# ::id` comments, then one graph, then an empty line.
#
#     # ::id lpp_1943.297 ::snt I did not know .
#     (k / know-01 :ARG0 (i / i) :polarity -)
#
# The reader cuts a graph into *steps* with one regular expression, and a step is nearly always a whole edge:
#
#     step        closes   role        variable / concept      or value
#     "(k / know-01"                   k          know-01
#     ":ARG0 (i / i"       :ARG0       i          i
#     ") :polarity -"   )  :polarity                              -
#     ")"               )
#
# so a graph costs one `findall` and one short loop over its edges: a third of the time of `penman.parse`,
# and a constant such as `24/7` or `12:30`, which `penman` refuses, is read as what it is. What goes wrong is
# noted as (number of the step, message); only then are the positions of the steps looked up for the caret.

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
# A colon inside a symbol belongs to it only before a digit or a slash (12:30, http://x); elsewhere it starts
# a role.
_SYMBOL = r'[^\s()":/][^\s()":]*(?::(?=[\d/])[^\s()":]+)*'
_STEP = re.compile(
    rf'(?=\S)((?:\)\s*)*)(:[^\s()":]*\s*)?(?:\(\s*([^\s()/":]+)\s*/\s*({_STRING}|{_SYMBOL})|({_STRING}|{_SYMBOL}))?\s*'
)
_Step = tuple[str, str, str, str, str]
_ALIGNMENT = re.compile(rf"{_STRING}|~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*(?=[\s():]|$)")
_BLANK = re.compile(r"\n[ \t\r]*\n\s*")
_METADATA = re.compile(r"::([^\s:]+)(?:[ \t]+((?:(?!::\S).)*))?")


def read_penman(name: AnySource) -> Graphs:
    """The graphs of a file (`.gz`, `-` for standard input); see `parse_penman`."""
    source = Source.of(name)
    return parse_penman(source.text(), file=source)


def parse_penman(text: str, *, file: AnySource = "<text>", lenient: bool = False) -> Graphs:
    """The graphs of a text.

    A graph that cannot be understood is an `InputError` with file, line and caret; `lenient` counts it as an
    empty graph and lists it in `problems`.
    """
    source = Source.of(file)
    found = Graphs(str(source), [])
    text = text.replace("\r\n", "\n")
    starts: list[int] = []

    def fail(message: str, offset: int) -> None:
        if not starts:
            starts.extend([0, *(m.end() for m in re.finditer("\n", text))])
        line = bisect_right(starts, offset)
        start = starts[line - 1]
        end = text.find("\n", start)
        shown = text[start : end if end >= 0 else len(text)]
        error = source.error(message, line, offset - start + 1, shown)
        if not lenient:
            raise error
        found.problems.append((len(found.graphs) - 1, error))

    position, line = 0, 1
    for start, end in _blocks(text):
        line += text.count("\n", position, start)
        position = start
        comments, body_start = _head(text, start, end)
        body = text[body_start:end]
        if not _holds_graph(comments, body):
            continue
        graph = _named(comments, line)
        found.graphs.append(graph)
        if "~" in body:
            # Blanks of the same length, so that columns in messages stay right.
            body = _ALIGNMENT.sub(lambda m: m[0] if m[0][0] == '"' else " " * len(m[0]), body)
        if not body or body.strip() == "()":
            continue
        problem = _build(graph, _STEP.findall(body))
        if problem is not None:
            _empty(graph)
            step, part, message = problem
            found_at = next((m for n, m in enumerate(_STEP.finditer(body)) if n == step), None)
            offset = len(body.rstrip()) if found_at is None else _where(found_at, part)
            fail(message, body_start + offset)
    return found


def block_starts(text: str) -> list[int]:
    """Where the graphs of a text begin, each with the comments before it."""
    text = text.replace("\r\n", " \n")  # of the same length, so that the places are those of the text
    out = []
    for start, end in _blocks(text):
        comments, body_start = _head(text, start, end)
        if _holds_graph(comments, text[body_start:end]):
            out.append(start)
    return out


def _blocks(text: str) -> list[tuple[int, int]]:
    """Start and end of each block: cut at empty lines, at comments after a graph, and between graphs line by
    line."""
    blocks = []
    position = len(text) - len(text.lstrip())
    ends = [(m.start(), m.end()) for m in _BLANK.finditer(text)]
    for end, following in [*ends, (len(text), len(text))]:
        if end > position:
            cuts = [position]
            if text.find("\n", position, end) >= 0:
                cuts += _cuts(text, position, end)
            blocks += list(zip(cuts, [*cuts[1:], end], strict=True))
        position = following
    return blocks


def _cuts(text: str, start: int, end: int) -> list[int]:
    """Where, inside a block without empty lines, another graph begins: graphs line by line, or a comment
    after a graph."""
    cuts, depth, quoted, graph = [], 0, False, False
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop + 1
        if text[start] == "#" and not quoted:
            if graph and depth <= 0:
                cuts.append(start)
                graph, depth = False, 0
        else:
            row = text[start:stop]
            if graph and depth <= 0 and row[0] == "(":
                cuts.append(start)
                depth = 0
            graph = graph or not row.isspace()
            if '"' in row or quoted:
                pieces = row.split('"')
                outside = "".join(pieces[int(quoted) :: 2])
                quoted ^= len(pieces) % 2 == 0
                row = outside
            depth += row.count("(") - row.count(")")
        start = stop
    return cuts


def _head(text: str, start: int, end: int) -> tuple[str, int]:
    """The comments in front of the graph, and where it begins."""
    position = start
    while position < end and text[position] == "#":
        stop = text.find("\n", position, end)
        position = end if stop < 0 else stop + 1
    return text[start:position], position


def _holds_graph(comments: str, body: str) -> bool:
    """A header of the file ("# AMR release; corpus: ...") is no graph; a sentence without one is an empty graph."""
    return bool(body) or "::id" in comments or "::snt" in comments


def _named(comments: str, line: int) -> Graph:
    metadata = {m[1]: (m[2] or "").strip() for m in _METADATA.finditer(comments)}
    lines = comments.count("\n") if comments else 0
    return Graph(name=metadata.get("id") or None, line=line + lines, metadata=metadata)


def _empty(graph: Graph) -> None:
    graph.variables, graph.concepts, graph.edges, graph.top = [], [], [], None


def _where(match: re.Match[str], part: int) -> int:
    """Where a part of a step begins; its first part that exists, if that one does not."""
    if part == _CLOSES:
        return match.start()
    return max(match.start(part), match.end(1)) if match[part] else match.end(1)


_CLOSES, _ROLE, _VARIABLE, _CONCEPT, _VALUE = range(1, 6)  # the groups of a step


def _build(graph: Graph, steps: list[_Step]) -> tuple[int, int, str] | None:
    """Fills the graph from its steps, or says which step is wrong, in which part, and why (past the last
    step: it stops early)."""
    index: dict[str, int] = {}
    concepts: list[str | None] = []
    edges: list[tuple[int, str, str]] = []
    open_nodes: list[int] = []
    current = -1
    for number, (closes, role, variable, concept, value) in enumerate(steps):
        if closes:
            for _ in range(closes.count(")")):
                if current < 0:
                    return number, _CLOSES, 'unexpected ")": it closes nothing'
                current = open_nodes.pop()
        if value:
            if not role or current < 0:
                return number, _ROLE if role else _VALUE, _misplaced(role, current, value)
            edges.append((current, role.rstrip(), value))
        elif variable:
            if variable in index:
                return number, _VARIABLE, f'the variable "{variable}" is introduced twice'
            new = len(index)
            if current >= 0:
                if not role:
                    return (
                        number,
                        _VARIABLE,
                        f'expected a role such as ":ARG0" before "({variable} / {concept}"',
                    )
                edges.append((current, role.rstrip(), variable))
            elif new:
                return number, _ROLE, "unexpected text after the end of the graph"
            elif role:
                return (
                    number,
                    _ROLE,
                    f'a graph starts with "(variable / concept", not with the role "{role.strip()}"',
                )
            index[variable] = new
            concepts.append(concept)
            open_nodes.append(current)
            current = new
        elif role:
            expected = 'expected a constant, a variable or "(variable / concept"'
            return number, _ROLE, f'the role "{role.strip()}" has no value; {expected}'
        elif not closes:
            return number, _VALUE, _misplaced("", current, "")
    if not index:
        return 0, _CLOSES, 'expected a graph, "(variable / concept ...)"'
    if current >= 0:
        return len(steps), _CLOSES, f'the graph ends too early: {len(open_nodes)} ")" missing'
    graph.variables, graph.concepts, graph.top = list(index), concepts, 0
    graph.edges = [(source, role, index.get(target, target)) for source, role, target in edges]
    return None


def _misplaced(role: str, current: int, value: str) -> str:
    if current < 0:
        return (
            'expected a graph, "(variable / concept ...)"' if not role else "unexpected text after the end of the graph"
        )
    if value:
        return f'expected a role such as ":ARG0" or ")" before "{value}"'
    return 'expected a role such as ":ARG0" or a ")"; is a quote or a concept missing?'


# How files of graphs are cut: each graph with the comments before it.

_ID = re.compile(rb"::id[ \t]+(\S+)")


_ODD = (b"\r", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""White space that is between graphs in no usual file."""


def _find_graphs(data: bytes, end: bool) -> tuple[I64, int]:
    odd = not data or any(one in data for one in _ODD)
    return up_to_the_last(_starts_in(data, 0, len(data)) if odd else _usual_starts(data), whole_lines(data, end), end)


def _starts_in(data: bytes, start: int, stop: int) -> I64:
    """Where graphs begin. Every byte becomes a character, so that places are those of bytes."""
    return start + np.array(block_starts(data[start:stop].decode("ascii", "replace")), np.int64)


def _usual_starts(data: bytes) -> I64:
    """The same; only blocks between blank lines in which there may be more than comments and one graph behind them are looked at closely."""
    lines = line_starts(data)
    blank = blank_lines(data, lines)
    first, fresh = (side[~blank] for side in (np.frombuffer(data, np.uint8)[lines], np.append(True, blank[:-1])))
    starts = lines[~blank][fresh]
    if not len(starts):
        return starts
    comment, begins = first == ord("#"), np.flatnonzero(fresh)
    after = ~fresh & ~np.append(False, comment[:-1])  # a line behind one of a graph
    unusual = (after & (comment | (first == ord("(")))) | (fresh & ((first == ord(" ")) | (first == ord("\t"))))
    simple = ~np.logical_or.reduceat(unusual, begins)
    simple &= np.logical_or.reduceat(~comment, begins)
    stops = np.append(starts[1:], len(data))
    found = [_starts_in(data, int(starts[k]), int(stops[k])) for k in np.flatnonzero(~simple)]
    return np.sort(np.concatenate((starts[simple], *found)))


def _graph_name(document: bytes) -> bytes | None:
    found = _ID.search(document)
    return found[1] if found else None


# Graphs given as triples: for DRS, UMR, MRP and whatever else is not written in PENMAN.
#
# JSON Lines, a graph a line; everything but `triples` may be left out:
#
#     {"id": "s1", "top": "k", "variables": ["k", "i"],
#      "triples": [["k", "instance", "know-01"], ["i", "instance", "i"], ["k", "ARG0", "i"]]}
#
# Text, a triple a line (`source role target`, tabs or blanks, a string in double quotes is one field), an empty
# line between graphs, comments as in PENMAN. A conjunction, `ARG0(k, i) ^`, is read too:
#
#     # ::id s1
#     k instance know-01
#     k ARG0 i
#
# Variables are what `variables` lists. Without it, they are the sources of `instance` triples, and if there are
# none, all sources. A target in double quotes is always a constant.

_FIELDS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|\S+')
_CONJUNCT = re.compile(r'\s*([^\s()]+)\(\s*([^\s(),]+)\s*,\s*("[^"\\]*(?:\\.[^"\\]*)*"|[^\s()^,]+)\s*\)\s*\^?\s*')
_INSTANCE = ("instance", ":instance")


def parse_triples(text: str, *, file: AnySource = "<text>", lenient: bool = False) -> Graphs:
    """The graphs of a text, JSON Lines or not; it is told by its first character."""
    source = Source.of(file)
    found = Graphs(str(source), [])
    if text.lstrip()[:1] == "{" or begins_list(text.encode()):
        given = source if source.is_part else Source.of_text(text, str(source))
        lines = as_json_lines(given)
        graphs = _json_lines(text, source) if lines is given else _json_lines(lines.text(), lines)
    else:
        graphs = _triple_blocks(text, source)
    for graph, error in graphs:
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
    name = id_in(record, place)
    variables, top = record.get("variables"), record.get("top")
    if variables is not None and not (isinstance(variables, list) and all(map(is_id, variables))):
        raise InputError(f'"variables" is {shown(variables)}; expected a list of names', place)
    if top is not None and not is_id(top):
        raise InputError(f'"top" is {shown(top)}; expected the name of a variable', place)
    listed = None if variables is None else [str(v) for v in variables]
    return _graph_of_triples(triples, name, listed, None if top is None else str(top), number, place)


def _triple_blocks(text: str, source: Source) -> _Found:
    """The graphs between blank lines."""
    lines = groupby(enumerate(text.split("\n"), 1), key=lambda numbered: bool(numbered[1].strip()))
    blocks = (_triple_block(block, source) for is_block, block in lines if is_block)
    return [found for found in blocks if found is not None]


def _triple_block(lines: Iterable[tuple[int, str]], source: Source) -> tuple[Graph, InputError | None] | None:
    """The graph of some numbered lines; None where they are comments that name nothing."""
    triples: list[tuple[str, str, str]] = []
    names: dict[str, str] = {}
    problem: InputError | None = None
    first = 0
    for number, line in lines:
        if line.startswith("#"):
            names |= {key: value.strip() for key, value in re.findall(r"::(\S+)[ \t]+((?:(?!::\S).)*)", line)}
            first = number if names else first
            continue
        first = first if triples else number
        parts = _split(line)
        if parts is None:
            expected = 'expected "source role target" or "role(source, target)"'
            problem = problem or source.error(expected, number, 1, line)
        else:
            triples += parts
    if not first:
        return None
    name = names.get("id")
    if problem is None:
        try:
            return _graph_of_triples(triples, name, None, names.get("top"), first, source.place(first)), None
        except InputError as error:
            problem = error
    return Graph(name, line=first), problem


def _split(line: str) -> list[tuple[str, str, str]] | None:
    position, conjuncts = 0, []
    while (match := _CONJUNCT.match(line, position)) is not None:
        conjuncts.append((match[2], match[1], match[3]))
        position = match.end()
    if conjuncts:
        return conjuncts if position == len(line) else None
    fields = _FIELDS.findall(line)
    return [(fields[0], fields[1], fields[2])] if len(fields) == 3 else None


def _graph_of_triples(
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


# Graphs from Python: PENMAN, triples, or what has both (a graph of the package penman).


def graph_document(value: Any, where: str) -> dict[str, Any]:
    """One graph of plain data: its PENMAN, or its triples."""
    if isinstance(value, str):
        starts = block_starts(value)
        expect(value.lstrip()[:1] in ("(", "#"), where, 'a graph in PENMAN, "(w / want-01 ...)"', value)
        if len(starts) != 1:
            raise ValueMismatch(
                f"{where}: expected one graph, found {len(starts)}; give a list with one graph in each text"
            )
        own = _ID.search(value.encode())
        return {"penman": value, **({"id": own[1].decode()} if own else {})}
    if hasattr(value, "triples") and hasattr(value, "top"):
        value = {"triples": [list(triple) for triple in value.triples], "top": value.top}
    if isinstance(value, Structure) and "props" in value:
        return _of_props(value["props"], where)
    if isinstance(value, list):
        value = {"triples": value}
    expect(isinstance(value, dict) and isinstance(value.get("triples"), list), where, "PENMAN, or triples", value)
    for k, triple in enumerate(value["triples"]):
        is_triple = (
            isinstance(triple, list) and len(triple) == 3 and all(isinstance(one, (str, int, float)) for one in triple)
        )
        expect(is_triple, f"{where}[{k}]", "a triple (source, role, target)", triple)
        if triple[0] in _INSTANCE and triple[1] not in _INSTANCE:
            raise ValueMismatch(
                f"{where}[{k}]: expected a triple (source, role, target), found the role first, {tuple(triple)!r:.60}"
            )
    return named(value, **{key: value[key] for key in ("triples", "top", "variables") if value.get(key) is not None})


def _of_props(props: Any, where: str) -> dict[str, Any]:
    """The propositions of `structures.AMR`."""
    variables = list(
        dict.fromkeys(end["name"] for one in props for end in (one["subj"], one["obj"]) if isinstance(end, dict))
    )
    triples = [[one["subj"]["name"], one["rel"], one["obj"]] for one in props]
    for triple in triples:
        if isinstance(triple[2], dict):
            triple[2] = triple[2]["name"]
        elif triple[2] in variables and triple[1] not in _INSTANCE:
            raise ValueMismatch(f'{where}: the constant "{triple[2]}" has the name of a variable; rename the variable')
    return {"triples": triples, "variables": variables}


def graphs_of(side: Given) -> Source:
    """The graphs of one side, as PENMAN or as triples."""
    written = ["penman" in one for one in side.documents]
    if not (written and all(written)):
        if any(written):
            raise ValueMismatch(f"{side.name}: some graphs are PENMAN and some are triples; give all in one form")
        return side.lines
    blocks = []
    for k, one in enumerate(side.documents):
        text = one["penman"].strip().replace("\r\n", "\n")
        comments, start = _head(text, 0, len(text))
        name = f"# ::id {side.ids[k]}\n" if side.ids is not None else ""
        ended = "" if not comments or comments.endswith("\n") else "\n"
        blocks.append(f"{comments}{ended}{name}{text[start:]}")
    return side.source("\n\n".join(blocks) + "\n")


FORMATS = (
    Format(
        "triples",
        lambda opening: opening.head.lstrip()[:1] == b"{" or begins_list(opening.head),
        parse_triples,
        lambda head: LINES if head.lstrip()[:1] == b"{" else Uncut("triples line by line have no marks between graphs"),
        json=True,
    ),
    Format("penman", read=parse_penman, boundaries=Boundaries("PENMAN", _find_graphs, _graph_name)),
)
"""The formats of graphs: what does not begin like JSON is PENMAN, unless triples are asked for."""


def read_graphs(name: AnySource, format: str = "auto", *, lenient: bool = False) -> Graphs:
    """The graphs of a file in one of `FORMATS`; "auto" finds out which."""
    opening = Opening(name)
    if not opening.text.strip():
        raise InputError("holds no graphs; expected PENMAN or triples", str(opening.source))
    chosen = find_format(FORMATS, opening, format)
    assert chosen is not None
    assert chosen.read is not None
    found: Graphs = chosen.read(opening.text, file=opening.source, lenient=lenient)
    return found

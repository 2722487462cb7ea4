"""A graph of meaning as the readers hand it on, and how two files of graphs are put side by side.

    (w / want-01 :ARG0 (b / boy) :polarity -)

has two variables, two concepts and two edges. Variables are numbered in the order in which they are
introduced, so that an edge is `(0, ":ARG0", 1)`, and a constant stays text: `(0, ":polarity", "-")`. Nothing
is normalised here: roles are kept as written (`:ARG0-of` is not turned round), quotes stay on, since what
counts as equal is a choice of the metric (`tallystick.metrics.amr_triples`), not of the reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tallystick.errors import InputError, SidesMismatch, some
from tallystick.reading.missing import Missing

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

    def __len__(self) -> int:
        return len(self.graphs)


def pair_graphs(reference: Graphs, predicted: Graphs) -> list[tuple[Graph, Graph]]:
    """Pairs by name where every graph of both files has one, else by order; the counts must be equal.

    The order of the result is the reference's. A name that occurs twice, or on one side only, is an error.
    """
    sides = (reference, predicted)
    if all(graph.name is not None for side in sides for graph in side.graphs) and len(reference) and len(predicted):
        tables = [_by_name(side) for side in sides]
        missing = [name for name in tables[0] if name not in tables[1]]
        extra = [name for name in tables[1] if name not in tables[0]]
        if missing or extra:
            parts = [f"{some(missing)} only in {reference.file}"] if missing else []
            parts += [f"{some(extra)} only in {predicted.file}"] if extra else []
            raise SidesMismatch(f"the graphs' ids differ: {'; '.join(parts)}")
        return [(graph, tables[1][name]) for name, graph in tables[0].items()]
    if len(reference) != len(predicted):
        raise SidesMismatch(
            f"{reference.file} has {len(reference):,} graphs and {predicted.file} has {len(predicted):,}; "
            "graphs are paired by order unless every graph has an `# ::id`, so the counts must be equal"
        )
    return list(zip(reference.graphs, predicted.graphs, strict=True))


def with_missing(reference: Graphs, predicted: Graphs, absent: Missing) -> Graphs:
    """The prediction with an empty graph for each that it lacks, and without those that the reference lacks; only
    names can tell which these are."""
    sides = (reference, predicted)
    if not all(graph.name is not None for side in sides for graph in side.graphs):
        return predicted
    tables = [_by_name(side) for side in sides]
    missing = [name for name in tables[0] if name not in tables[1]]
    extra = [name for name in tables[1] if name not in tables[0]]
    if not (missing or extra) or not absent.allows(missing, extra):
        return predicted
    graphs = [graph for graph in predicted.graphs if graph.name in tables[0]]
    place = {graph.name: k for k, graph in enumerate(graphs)}
    names = {k: graph.name for k, graph in enumerate(predicted.graphs)}
    problems = [(place[names[k]], problem) for k, problem in predicted.problems if names.get(k) in place]
    return replace(predicted, graphs=[*graphs, *(Graph(name) for name in missing)], problems=problems)


def _by_name(side: Graphs) -> dict[str | None, Graph]:
    table = {graph.name: graph for graph in side.graphs}
    if len(table) != len(side.graphs):
        raise SidesMismatch(f"{side.file}: the id {some(_repeated(g.name for g in side.graphs))} occurs twice")
    return table


def _repeated(names: Iterable[str | None]) -> Sequence[str]:
    seen: set[str | None] = set()
    return [str(name) for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]

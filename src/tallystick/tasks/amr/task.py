"""`amr`: Smatch over graphs of meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import About, Attribute
from tallystick.tasks.contract import Explained, Reading, Scored, Shown, Task, Wish, missing_option, option, time_limit

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts
    from tallystick.tasks.amr.files import Graphs
    from tallystick.tasks.amr.triples import Counting, TripleCounts
    from tallystick.tasks.plain import Given

LONG_RUN = 5.0
"""Seconds from which on a run says how long its pairs took."""


@frozen
class AmrSettings:
    """How graphs are read, and what counts as a triple."""

    # fmt: off
    preset: str = option("tallystick", "Which scorer's way to count triples; the options below change single choices.", choices=("tallystick", "smatch", "smatchpp", "smatchpp-amr"))
    root: str | None = option(None, "How the root counts: not at all, as a mark, or by its concept.", choices=("none", "constant", "concept"))
    duplicates: str | None = option(None, "How duplicate triples of a graph count.", choices=("multiset", "removed", "product"))
    mod: str | None = option(None, "How :mod and :domain are unified.", choices=("domain", "canonical", "mod", "keep"))
    input: str = option("auto", "PENMAN, or triples (JSON Lines, or one triple per line); auto recognises PENMAN and JSON Lines.", choices=("auto", "penman", "triples"))
    pair: str = option("auto", "How graphs are paired: by # ::id if all have one, or by their order in the files.", choices=("auto", "order"))
    lenient: bool = option(False, "Count a graph that cannot be read as empty, and list it.")
    time_limit: float | None = time_limit("--limit")
    subscores: bool = option(False, "Also print the fine-grained scores: unlabelled, concepts, named entities, ...")
    missing: str = missing_option()
    # fmt: on


def _kind(triple: Any, about: About) -> str:
    if triple.rel in ("instance", "root"):
        return "concept" if triple.rel == "instance" else "root"
    return "attribute" if isinstance(triple.obj, str) else "relation"


def _depth(triple: Any, about: About) -> int | None:
    """The shortest way from the top to the variable that the triple is about; None where there is no top, or no way."""
    return about.once("depths", _depths).get(triple.subj)


def _depths(graph: Any) -> dict[Any, int]:
    depths: dict[Any, int] = {one.subj: 0 for one in graph.props if one.rel == "root"}
    edges = [(one.subj, one.obj) for one in graph.props if not isinstance(one.obj, str)]
    here, depth = set(depths), 0
    while here:
        depth += 1
        here = {b for a, b in edges if a in here and b not in depths}
        depths |= dict.fromkeys(here, depth)
    return depths


def _concepts(graph: Any) -> dict[Any, Any]:
    return {one.subj: one.obj for one in graph.props if one.rel == "instance"}


def _key(triple: Any, about: About) -> tuple[Any, ...]:
    """A triple with its concepts instead of variables."""
    concepts = about.once("concepts", _concepts)
    return (
        triple.rel,
        concepts.get(triple.subj),
        triple.obj if isinstance(triple.obj, str) else concepts.get(triple.obj),
    )


class Amr(Task):
    """Graphs of meaning."""

    name = "amr"
    summary = "Smatch, exact, over PENMAN files or triples; fine-grained scores; AMR, UMR, DRS, MRP"
    help = """Score graphs of meaning by Smatch: REFERENCE and PREDICTED are PENMAN files, or triples.

    Every score is the proven optimum. Graphs are paired by # ::id if all have one, else by order.

    \b
    tallystick score amr gold.amr system.amr
    tallystick score amr gold.amr system.amr --preset smatch --subscores --by document --rows 10
    """
    Settings = AmrSettings
    cites = {
        "": ("cai-knight-2013-smatch",),
        **dict.fromkeys(
            (
                "unlabelled",
                "no_word_senses",
                "concepts",
                "named_entities",
                "negation",
                "wikification",
                "reentrancies",
                "semantic_roles",
            ),
            ("damonte-etal-2017-incremental",),
        ),
    }
    main = "smatch"
    unit = "graph"
    error_label = "role"
    kinds = {
        "wrong concept": "a variable that is mapped has another concept",
        "wrong role": "two nodes are related by another role",
        "reversed relation": "source and target of a relation are exchanged",
        "wrong attachment": "a relation or attribute hangs on another node, or leads to another one",
        "wrong attribute": "an attribute has another value",
        "wrong top": "another node is the root",
        "missed relation": "no triple of the prediction is like it",
        "spurious relation": "no triple of the reference is like it",
        "missed reentrancy": "a missed relation into a node that others lead to",
        "spurious reentrancy": "a spurious relation into a node that others lead to",
        "missed attribute": "a constant that the node lacks",
        "spurious attribute": "a constant that the node should not have",
        "missed node": "a variable that is mapped to none; repaired, it is there with its concept",
        "relation of a missed node": "lost with its node; repaired, its node is there, too",
        "spurious node": "a variable that none is mapped to; repaired, it goes with its relations",
        "relation of a spurious node": "a node that should not be there has it",
    }
    breakdowns = whole_breakdowns = ("label",)
    labels = {"relation": "props[*].rel"}
    attributes = {
        "kind": Attribute("concepts, roots, attributes and relations", {"props[*]": _kind}),
        "depth": Attribute("how far a triple is from the root of its graph", {"props[*]": _depth}),
    }
    keys = {"props[*]": _key}

    def formats(self) -> Any:
        from tallystick.tasks.amr.files import FORMATS

        return FORMATS

    a_document = "graph"
    document_keys = ("id", "triples", "top", "variables")
    data = """
    A graph is a text in PENMAN, "(w / want-01 :ARG0 (b / boy))", a list of triples, [("w", ":instance", "want-01"), ...], a dict with
    {"triples": [...], "top": "w"}, or a graph of the package penman. Give one, a list of them, or a mapping by id.
    A text may also hold a whole file: graphs with an empty line between them, and # ::id.
    """
    example = """
    >>> gold = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
    >>> round(ts.amr(gold, "(w / want-01 :ARG0 (b / boy))")["smatch"].f1, 4)
    0.7273
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.amr.files import graph_document

        return graph_document(value, where)

    def write(self, given: Given) -> Any:
        from tallystick.tasks.amr.files import graphs_of

        return graphs_of(given)

    def read(self, reference: Any, predicted: Any, settings: AmrSettings, reading: Reading) -> tuple[Graphs, Graphs]:
        from tallystick.tasks.amr.files import read_graphs, with_missing

        left, right = (read_graphs(side, settings.input, lenient=settings.lenient) for side in (reference, predicted))
        left.by_order = right.by_order = settings.pair == "order"
        return left, with_missing(left, right, reading.missing) if reading.missing else right

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: AmrSettings,
        readings: Mapping[Any, Reading],
    ) -> dict[Any, Scored]:  # fmt: skip
        import time

        from tallystick.tasks.amr.metrics import METRICS, score

        out = {}
        chosen = metrics or (tuple(METRICS) if settings.subscores else ("smatch",))
        for run, file in systems.items():
            graphs = self.read(reference, file, settings, readings[run])
            asked, started = readings[run].asked, time.monotonic()
            results, counts = score(
                *graphs, _counting(settings), metrics=chosen, limit=settings.time_limit,
                progress=asked.advance if asked is not None else None,
            )  # fmt: skip
            took = time.monotonic() - started
            note = _only_one_has_tops(*graphs, settings.root)
            if note:
                results = {name: one.changed(notes=(*one.notes, note)) for name, one in results.items()}
            closing: tuple[str, ...] = ()
            if counts is not None and (took > LONG_RUN or not counts.optimal.all()):
                closing = (_describe_times(counts, next(iter(results.values())).ids, took),)
            out[run] = Scored((*graphs, counts), results, closing=closing)
        return out

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: AmrSettings) -> Any:
        from tallystick.tasks.amr.metrics import score

        return score(corpus[0], corpus[1], _counting(settings), metrics=metrics, limit=settings.time_limit)[0]

    def find_mistakes(self, corpus: Any, settings: AmrSettings) -> Iterable[Mistake]:
        from tallystick.tasks.amr.show import find_mistakes

        left, right, counts = corpus
        return find_mistakes(left, right, _counting(settings), counts, settings.time_limit)

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: AmrSettings) -> Any:
        from tallystick.tasks.amr.show import mended_graphs

        left, right, _ = corpus
        return left, mended_graphs(left, right, mistakes), None

    def whole(self, settings: AmrSettings) -> str:
        return "--pair order counts the graphs of whole files" if settings.pair == "order" else ""

    def parts(self, scored: Scored, settings: AmrSettings, shown: Shown) -> Parts:
        from tallystick.tasks.amr.show import meaning_parts

        left, right, counts = scored.corpus
        return meaning_parts(left, right, _counting(settings), counts, settings.time_limit)

    def explain(self, reference: Any, predicted: Any, settings: AmrSettings, wish: Wish) -> Explained:
        """Which variable is which in one pair of graphs, and which triples match, are missed, are spurious."""
        from tallystick.tasks.amr.metrics import explain

        if wish.metric not in (None, "smatch"):
            raise MetricError(f"--metric {wish.metric}: graphs are explained by smatch; leave it out")
        if (wish.worst or 1) > 1:
            raise MetricError("--worst: graphs are explained one at a time; name one with --document")
        missing = self.missing(settings)
        left, right = self.read(reference, predicted, settings, Reading(missing=missing))
        name, tree = explain(left, right, _counting(settings), document=wish.document, limit=settings.time_limit)
        return Explained([(name, {}, tree)], len(left), "smatch", warnings=tuple(missing.notes()))


def _counting(settings: AmrSettings) -> Counting:
    from tallystick.tasks.amr.triples import preset

    chosen = {name: getattr(settings, name) for name in ("root", "duplicates", "mod")}
    return preset(settings.preset, **{name: value for name, value in chosen.items() if value is not None})


def _only_one_has_tops(left: Graphs, right: Graphs, root: str | None) -> str:
    """What to say if the graphs of one side have tops, each of which counts, and those of the other side none."""
    tops = [{graph.top is not None for graph in side.graphs} for side in (left, right)]
    if root == "none" or sorted(map(sorted, tops)) != [[False], [True]]:
        return ""
    bare, topped = (left, right) if tops[0] == {False} else (right, left)
    return (
        f"no graph of {bare.file} has a top, and each of {topped.file} has one, which counts; --root none leaves it out"
    )


def _describe_times(counts: TripleCounts, ids: tuple[Any, ...], took: float) -> str:
    """How long a run took, and the pairs that took longest."""
    slow = (-counts.seconds).argsort(kind="stable")[:3].tolist()
    listed = ", ".join(f"{ids[k]} {counts.seconds[k]:.2f} s" for k in slow if counts.seconds[k] > 0.01)
    each = 1000 * took / max(1, len(ids))
    return f"{took:.1f} s, {each:.1f} ms a pair" + (f"; the slowest: {listed}" if listed else "")


TASK = Amr()

"""`hierarchies`: partial event coreference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import About, Attribute
from tallystick.tasks.contract import (
    AskParts,
    Explained,
    Files,
    Reading,
    Results,
    Scored,
    Shown,
    Task,
    Wish,
    missing_option,
    option,
)

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts
    from tallystick.tasks.plain import Given


@frozen
class HierarchySettings:
    """Which links count."""

    # fmt: off
    kinds: tuple[str, ...] = option((), "Only links of this type, e.g. membership; may be repeated.", names=("--kind",), metavar="TYPE")
    transitive: bool = option(False, "Extend each link to all descendants (section 4.4 of the paper).")
    missing: str = missing_option()
    # fmt: on


def _parents(document: Any) -> dict[Any, list[Any]]:
    parents: dict[Any, list[Any]] = {}
    for one in document.links:
        parents.setdefault(tuple(one.child), []).append(tuple(one.parent))
    return parents


def _depth(link: Any, about: About) -> int:
    """How many events are above the child: 1 for a child of a root. Where an event has several parents, the longest way counts."""
    parents = about.once("parents", _parents)
    depth, here = 0, {tuple(link.child)}
    while here and depth <= len(parents):  # a circle ends where every event has been met
        here = {parent for child in here for parent in parents.get(child, ())}
        depth += bool(here)
    return depth


class Hierarchies(Task):
    """Partial event coreference."""

    name = "hierarchies"
    summary = "event hierarchies: MUC_p, BLANC_p, STM_p over Newick, JSONL or brat files"
    help = """Score event hierarchies: REFERENCE and PREDICTED are forests in parentheses (Newick), JSON Lines, or brat .ann files
    or folders.

    \b
    tallystick score hierarchies gold.newick system.newick
    tallystick score hierarchies gold.jsonl system.jsonl --kind membership --metric muc_p
    """
    Settings = HierarchySettings
    folder_of = (".ann",)
    cites = {
        "": ("araki-etal-2014-evaluation",),
    }
    main = explained = "muc_p"
    error_label = "type of link"
    kinds = {
        "wrong parent": "the event hangs on another parent",
        "wrong child": "the parent has another event below it",
        "reversed link": "parent and child are exchanged",
        "wrong type": "the link is of another type",
        "missed link": "no predicted link is like it; repaired, its events are there, too",
        "spurious link": "no link of the reference is like it",
        "missed event": "a mention that the prediction does not have",
        "spurious event": "a mention that the reference does not have; repaired, it goes with its links",
        "divided event": "mentions of one event that the prediction keeps apart",
        "merged events": "mentions of several events that the prediction makes one",
    }
    without = {"by label": "links of each type are scored by themselves, with `--kind`"}
    attributes = {"depth": Attribute("how many events are above the child of a link", {"links[*]": _depth})}

    def formats(self) -> Any:
        from tallystick.tasks.hierarchies.files import FORMATS

        return FORMATS

    a_document = "document of events"
    document_keys = ("id", "events", "coreference", "links")
    data = """
    A document is a forest in parentheses, "(attack(bombing)(shooting))", or a list of links, (parent, child) or (parent, child, type):
    [("attack", "bombing"), ("attack", "shooting")]; or a dict, {"events": [...], "coreference": [[...]], "links": {"subevent": [...]}}.
    Give one document, a list of them, or a mapping by id.
    """
    example = """
    >>> ts.hierarchies("(attack(bombing)(shooting))", "(attack(bombing))", metrics="muc_p")["muc_p"].recall
    0.5
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.hierarchies.files import hierarchy_document

        return hierarchy_document(value, where)

    def write(self, given: Given) -> Any:
        from tallystick.tasks.hierarchies.files import forests_of

        return forests_of(given)

    def read(self, reference: Any, predicted: Any, settings: HierarchySettings, reading: Reading) -> Any:
        from tallystick.tasks.hierarchies.files import read_hierarchies, with_missing

        left, right = read_hierarchies(reference), read_hierarchies(predicted)
        if reading.part:  # a type of links that these documents do not have is not misspelt: others may have it
            left = replace(left, kinds=list(dict.fromkeys((*left.kinds, *settings.kinds))))
        return left, with_missing(left, right, reading.missing) if reading.missing else right

    def label_sets(self, corpus: Any, settings: HierarchySettings) -> Any:
        return {"type of links": tuple(side.kinds for side in corpus)}

    def label_as_seen(self, label: str, metric: str, settings: HierarchySettings) -> Callable[[str], str] | None:
        return None if metric == "mentions" else str

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: HierarchySettings) -> Any:
        from tallystick.tasks.hierarchies.metrics import METRICS, HierarchyOptions, score

        left, right = corpus
        return score(left, right, metrics or tuple(METRICS), HierarchyOptions(settings.kinds, settings.transitive))

    def metric_names(self, results: Results) -> tuple[str, ...]:
        """Results of several types of links are called subevent.muc_p."""
        return tuple(dict.fromkeys(name.rpartition(".")[2] for name in results))

    def find_mistakes(self, corpus: Any, settings: HierarchySettings) -> Iterable[Mistake]:
        from tallystick.tasks.hierarchies.show import find_mistakes

        left, right = corpus
        return find_mistakes(left, right, settings.kinds)

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: HierarchySettings) -> Any:
        from tallystick.tasks.hierarchies.show import mended_corpus

        left, right = corpus
        return mended_corpus(left, right, mistakes)

    def parts(self, scored: Scored, settings: HierarchySettings, shown: Shown) -> Parts:
        from tallystick.tasks.hierarchies.show import forests_parts

        left, right = scored.corpus
        return forests_parts(left, right, settings.kinds)

    def basis(self, scored: Scored, settings: HierarchySettings) -> Mapping[str, tuple[Any, ...]]:
        if scored.corpus is None:
            return {}
        return {"kinds": settings.kinds or tuple(dict.fromkeys(kind for side in scored.corpus for kind in side.kinds))}

    def unmet(self, scored: Scored, settings: HierarchySettings) -> frozenset[str]:
        there = {side.kinds[code] for side in scored.corpus for code in set(side.kind.tolist())}
        return frozenset(settings.kinds) - there if there else frozenset()

    def look_first(self, files: Files, settings: HierarchySettings, ask_parts: AskParts) -> None:
        """A type of links that none of the parts has is misspelt."""
        from tallystick.tasks.hierarchies.metrics import check_kinds

        if settings.kinds:
            check_kinds(settings.kinds, sorted(set().union(*ask_parts(_find_kinds, files))))

    def explain(self, reference: Any, predicted: Any, settings: HierarchySettings, wish: Wish) -> Explained:
        if settings.transitive:
            raise MetricError("--transitive: links of descendants have no tree to show; leave it out")
        return super().explain(reference, predicted, settings, wish)


def _find_kinds(file: Any) -> set[str]:
    """The types of a file's links."""
    from tallystick.tasks.hierarchies.files import read_hierarchies

    return set(read_hierarchies(file).kinds)


TASK = Hierarchies()

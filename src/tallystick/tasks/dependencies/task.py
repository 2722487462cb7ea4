"""`dependencies`: the UD evaluation of two CoNLL-U files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute
from tallystick.tasks.contract import Reading, Scored, Shown, Task, missing_option, option, unit_option

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake
    from tallystick.results.parts import Portions
    from tallystick.results.report import Parts
    from tallystick.show.tables import Table


@frozen
class DependencySettings:
    """What is drawn, and what a tree may be."""

    # fmt: off
    unit: str = unit_option(" (as many as it takes for both sides to end one)")
    several_roots: bool = option(False, "Allow sentences with more than one root.")
    enhancements: str = option("0", "What enhanced graphs do not have, as udtools counts it: 1 gapping, 2 shared parents, 3 shared dependents, 4 control, 5 external arguments, 6 case; 12 is both, 0 none of it.", metavar="DIGITS")
    no_empty_nodes: bool = option(False, "Empty nodes were collapsed: one that is left is an error.", names=("--no-empty-nodes",))
    missing: str = missing_option("As in other tasks; here only error, because both sides share one text, in which no document can be missing.")
    # fmt: on


class Dependencies(Task):
    """The UD evaluation."""

    name = "dependencies"
    summary = "UAS, LAS and the whole UD evaluation of CoNLL-U files"
    help = """Score dependencies: REFERENCE and PREDICTED are CoNLL-U files over the same text.

    \b
    tallystick score dependencies gold.conllu system.conllu
    tallystick score dependencies gold.conllu system.conllu --metric las --by document
    """
    Settings = DependencySettings
    cites = {
        "": ("zeman-etal-2018-conll",),
        "clas": ("nivre-fang-2017-universal",),
        **dict.fromkeys(("elas", "eulas"), ("bouma-etal-2020-overview",)),
    }
    main = "las"
    without_missing = "dependencies are scored over one text that both sides share, so that no document can be missing"
    breakdowns = whole_breakdowns = ("label",)
    labels = {"deprel": "[*].rel", "upos": "[*].upos"}
    label = "deprel"
    attributes = {
        "distance": Attribute("how many words a head is away"),
        "direction": Attribute("whether the head stands before or after the word"),
        "depth": Attribute("how many words are above a word"),
        "sentence": Attribute("how many words the sentence has"),
    }
    keys = {"[*]": lambda word, _: word["form"]}
    can_explain = False
    instead_of_explain = (
        "dependencies have no tree to show; `tallystick score dependencies ... --by document` finds the worst"
    )

    error_label = "relation"
    kinds = {
        "wrong head": "the relation is right, and hangs on another word",
        "wrong relation": "the head is right, and the relation differs",
        "wrong head and relation": "both differ",
        "head divided otherwise": "its head is no word of the prediction; repaired, the words of its block are those of the reference",
        "wrong UPOS": "another part of speech",
        "wrong XPOS": "another tag of the language's own",
        "wrong features": "other universal features",
        "wrong lemma": "another lemma",
        "wrong enhanced edges": "other edges in DEPS",
        "divided otherwise": "a block of text with other sentences, tokens or words; repaired, it has those of the reference, and what was predicted of words that both sides have stays",
    }

    def formats(self) -> Any:
        from tallystick.tasks.dependencies.files import FORMATS

        return FORMATS

    a_document = "sentence"
    data = """
    A sentence is a list with (head, relation) for each word, [(2, "nsubj"), (0, "root")], where heads count from 1 and 0 is the root; or
    a dict of columns, {"words": [...], "heads": [...], "deprels": [...]}, with "upos", "xpos", "feats", "lemmas" where they are known.
    Give one, a list of them, or a mapping by id; or the text of CoNLL-U files.
    """
    example = """
    >>> gold, system = [(2, "nsubj"), (0, "root"), (2, "obj")], [(2, "nsubj"), (0, "root"), (2, "obl")]
    >>> results = ts.dependencies(gold, system, metrics=["uas", "las"])
    >>> results["uas"].f1, round(results["las"].f1, 4)
    (1.0, 0.6667)
    """

    def take(self, reference: Any, predicted: Any, settings: DependencySettings) -> tuple[Any, Any, Any]:
        from tallystick.tasks.dependencies.files import take_sentences

        return (*take_sentences(reference, predicted), settings)

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: DependencySettings,
        readings: Mapping[Any, Reading],
    ) -> dict[Any, Scored]:  # fmt: skip
        """Over units that all systems bound alike."""
        from tallystick.tasks.dependencies.alignment import find_units
        from tallystick.tasks.dependencies.files import read_conllu, without_enhancements

        def read(file: Any) -> Any:
            bank = read_conllu(file, several_roots=settings.several_roots, empty_nodes=not settings.no_empty_nodes)
            return without_enhancements(bank, settings.enhancements)

        gold, banks = read(reference), {run: read(file) for run, file in systems.items()}
        units = find_units(gold, *banks.values(), by=settings.unit)
        corpora = {run: (gold, bank, units) for run, bank in banks.items()}
        return {run: Scored(corpus, self.evaluate(corpus, metrics, settings)) for run, corpus in corpora.items()}

    def label_as_seen(self, label: str, metric: str, settings: DependencySettings) -> Callable[[str], str] | None:
        """LAS and its kin, and EULAS, look at relations without their subtypes."""
        from tallystick.tasks.dependencies.metrics import without_subtype, without_subtypes

        seen: dict[str, dict[str, Callable[[str], str]]] = {
            "DEPREL": dict.fromkeys(("las", "clas", "mlas", "blex"), without_subtype),
            "UPOS": dict.fromkeys(("upos", "alltags", "mlas"), str),
            "enhanced relation": {"elas": str, "eulas": without_subtypes},
        }
        return seen[label].get(metric)

    def label_sets(self, corpus: Any, settings: DependencySettings) -> Any:
        def sides(find: Callable[[Any], Any]) -> tuple[Collection[str], ...]:
            return tuple(find(side).compacted().values for side in corpus[:2])

        return {
            "DEPREL": sides(lambda side: side.deprel),
            "UPOS": sides(lambda side: side.upos),
            "enhanced relation": sides(lambda side: side.enhanced.label),
        }

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: DependencySettings) -> Any:
        from tallystick.tasks.dependencies.metrics import score

        gold, bank, units = corpus
        results = score(gold, bank, metrics, units=units)
        if settings.enhancements == "0":
            return results
        settled = f"enhancements={settings.enhancements}"
        enhanced = {name: one.changed(settings=settled) for name, one in results.items() if name in ("elas", "eulas")}
        return {**results, **enhanced}

    def check(self, metrics: tuple[str, ...], settings: DependencySettings) -> None:
        from tallystick.tasks.dependencies.files import check_enhancements

        check_enhancements(settings.enhancements)

    def find_mistakes(self, corpus: Any, settings: DependencySettings) -> Iterable[Mistake]:
        from tallystick.tasks.dependencies.show import Comparison

        return Comparison(*corpus).mistakes()

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: DependencySettings) -> Any:
        from tallystick.tasks.dependencies.alignment import find_units
        from tallystick.tasks.dependencies.show import Comparison

        bank = Comparison(*corpus).mended(edit for one in mistakes for edit in one.edits)
        return corpus[0], bank, find_units(corpus[0], bank, by=settings.unit)

    def error_tables(self, corpus: Any, mistakes: Sequence[Mistake], settings: DependencySettings) -> Sequence[Table]:
        from tallystick.tasks.dependencies.show import Comparison, tables

        return tables(Comparison(*corpus))

    def words(self, scored: Scored) -> list[Any]:
        from tallystick.tasks.dependencies.words import words_of_units

        return words_of_units(scored.corpus[0], scored.corpus[2])

    def breakdown(self, scored: Scored, by: str, label: str | None) -> Shown:
        from tallystick.tasks.breakdowns import show_portions

        return show_portions(self.portions(scored, by, label), scored.results, by)

    def portions(self, scored: Scored, by: str, label: str | None) -> dict[str, Portions]:
        """Of all metrics of words, from the pairs that they count."""
        from tallystick.tasks.dependencies.words import VALUES, portions_of_words

        name = label or self.label
        return portions_of_words(scored.corpus, scored.results, name, VALUES[name])

    def portions_by(
        self, scored: Scored, settings: DependencySettings, name: str, train: Any = None
    ) -> dict[str, Portions]:
        from tallystick.tasks.attributes import TRAINED, needs_training, no_training
        from tallystick.tasks.breakdowns import training_parts
        from tallystick.tasks.dependencies.files import read_conllu
        from tallystick.tasks.dependencies.words import VALUES, frequencies, portions_of_words

        if name in TRAINED:
            if train is None:
                raise needs_training(name)
            files = (self.take(one, one, settings)[0] for one in training_parts(train))
            values = frequencies([read_conllu(file, several_roots=True) for file in files], name)
        elif train is not None:
            raise no_training(name)
        else:
            values = VALUES[name]
        return portions_of_words(scored.corpus, scored.results, name, values)

    def parts(self, scored: Scored, settings: DependencySettings, shown: Shown) -> Parts:
        from tallystick.tasks.dependencies.show import arcs_parts

        return arcs_parts(*scored.corpus)


TASK = Dependencies()

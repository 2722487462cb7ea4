"""`relations`: binary relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tallystick.errors import MetricError, SidesMismatch, did_you_mean, some
from tallystick.frozen import frozen
from tallystick.tasks.attributes import About, Attribute, mention_length, mention_text, words_between
from tallystick.tasks.contract import (
    AskParts,
    Files,
    Reading,
    Scored,
    Shown,
    Task,
    flag,
    missing_option,
    option,
    target_accuracy,
)
from tallystick.tasks.named import HeadSettings

if TYPE_CHECKING:
    from tallystick.files.confidences import ItemConfidences
    from tallystick.files.pairing import Documents, Missing
    from tallystick.results.explanation import Explanation
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts
    from tallystick.tasks.plain import Given
    from tallystick.tasks.relations.metrics import RelationOptions


@frozen
class RelationSettings(HeadSettings):
    """What is the same relation."""

    # fmt: off
    input: Literal["JSON", "brat", "DocRED", "dygie", "doccano", "prodigy", "label-studio"] | None = option(None, "The format of the files.  [default: by name and content]")
    symmetric: tuple[str, ...] = option((), "A relation whose arguments have no order; may be repeated.", metavar="TYPE")
    confidence: str | None = option(None, "For JSON: the key that holds the confidence of a predicted relation, for average precision, calibration and review (of strict, or else boundaries).", metavar="KEY")
    missing: str = missing_option()
    target_accuracy: float = target_accuracy()
    train: tuple[str, ...] = option((), "DocRED: training data, for Ign F1; may be repeated.", metavar="FILE")
    # fmt: on


def _ends(relation: Any) -> tuple[Any, Any]:
    """Both arguments; those of a symmetric relation have no order."""
    first, second = relation.args if hasattr(relation, "args") else (relation.subj, relation.obj)
    return first, second


def _length(relation: Any, about: About) -> int | None:
    lengths = [mention_length(one, about) for one in _ends(relation)]
    return None if lengths[0] is None or lengths[1] is None else lengths[0] + lengths[1]


def _texts(relation: Any, about: About) -> tuple[str, ...] | None:
    texts = [mention_text(one, about) for one in _ends(relation)]
    return None if None in texts else tuple(map(str, texts))


class Relations(Task):
    """Binary relations."""

    name = "relations"
    summary = "binary relations strict, relaxed, by boundaries and by head, side by side; DocRED facts"
    help = """Score relations in all the ways of the literature, side by side: strict, boundaries, relaxed, head, pair, type.

    REFERENCE and PREDICTED are JSON or JSON Lines (plain, SpERT's, DyGIE++'s), exports of doccano, Prodigy or Label Studio, DocRED's
    files, or brat .ann files or folders.

    \b
    tallystick score relations gold.jsonl system.jsonl --symmetric spouse
    tallystick score relations dev.json result.json --train train_annotated.json
    """
    Settings = RelationSettings
    folder_of = (".ann",)
    cites = {
        **dict.fromkeys(("strict", "boundaries", "relaxed"), ("taille-etal-2020-lets",)),
        **dict.fromkeys(("head", "pair", "type"), ()),
        **dict.fromkeys(("facts", "evidence"), ("yao-etal-2019-docred",)),
    }
    main = "strict"
    breakdowns = ("label", "field")
    labels = {"type": "relations[*].type", "fact": "facts[*].type"}
    attributes = {
        "distance": Attribute(
            "how many words lie between the arguments",
            {"relations[*]": lambda item, about: words_between(*_ends(item), about)},
        ),
        "length": Attribute("how many words both arguments have", {"relations[*]": _length}),
    }
    keys = {"relations[*]": _texts}
    kinds = {
        "wrong type": "the arguments meet those of the reference, and the type of the relation differs",
        "swapped direction": "subject and object are exchanged",
        "wrong boundary": "an argument overlaps the right one, and begins or ends elsewhere",
        "wrong entity type": "an argument is at the right place, under another entity type",
        "wrong argument": "one argument is right, and the other is somewhere else",
        "wrong evidence": "a fact of DocRED with other sentences as its evidence",
        "duplicate": "a relation that was predicted before",
        "spurious": "no relation of the reference is like it",
        "missed": "no predicted relation is like it",
    }

    def formats(self) -> Any:
        from tallystick.tasks.relations.files import FORMATS

        return FORMATS

    a_document = "document of relations"
    document_keys = ("id", "relations", "entities", "tokens", "sentences", "title", "vertexSet", "labels")
    data = """
    A document is a list of relations, a relation is (type, subject, object), and its arguments are (start, end) or (start, end, type), where
    ends are exclusive: [("born-in", (0, 2, "PER"), (5, 6, "LOC"))]; or {"type": "born-in", "subj": (0, 2), "obj": (5, 6)}.
    Give one document, a list of them, or a mapping by id. A document may also be a dict: {"id": "d1", "relations": [...], "tokens": [...]}.
    """
    example = """
    >>> gold = [("born_in", (0, 2, "PER"), (5, 6, "LOC")), ("spouse", (0, 2, "PER"), (8, 10, "PER"))]
    >>> ts.relations(gold, gold[:1], metrics="strict")["strict"].recall
    0.5
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.relations.files import relation_document

        return relation_document(value, where)

    def write(self, given: Given) -> Any:
        from tallystick.tasks.relations.files import relations_of

        return relations_of(given)

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: RelationSettings,
        readings: Mapping[Any, Reading],
    ) -> dict[Any, Scored]:  # fmt: skip
        """The reference is read once, and a symmetric type may be one system's alone."""
        from tallystick.files.confidences import ItemConfidences
        from tallystick.tasks.relations.files import read_relations, read_training

        ign = not any(one.training for one in readings.values())  # else --train is for figures by `seen` or `frequency`
        training = {name: read_training(file) for name, file in _training(settings).items() if ign}
        texts = any(one.texts for one in readings.values())
        left: Documents[Any] = read_relations(reference, training, input=settings.input, keep_text=texts)
        sure = {run: ItemConfidences(settings.confidence) if settings.confidence else None for run in systems}
        rights = {
            run: read_relations(file, predicted=True, input=settings.input, keep_text=texts, sure=sure[run])
            for run, file in systems.items()
        }
        if training and left.format != "DocRED":
            raise MetricError(f"--train is for DocRED's files, which {left.file} is not")
        self._require_comparable(left, list(rights.values()), settings)
        if settings.symmetric and not any(one.part for one in readings.values()):
            _require_types(
                settings.symmetric, [type_ for side in (left, *rights.values()) for type_ in _types_of(side)]
            )
        options = _options(settings, training)
        return {
            run: _score_pair(left, right, metrics, options, readings[run].missing, sure[run])
            for run, right in rights.items()
        }

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: RelationSettings) -> Any:
        from tallystick.tasks.relations.metrics import score

        return score(corpus, metrics, _options(settings, _training(settings)))

    def label_sets(self, corpus: Any, settings: RelationSettings) -> Any:
        from tallystick.results.lookalikes import labels_of

        def entity_types(document: Any) -> Iterable[str | None]:
            ends = (mention for one in getattr(document, "relations", ()) for mention in _ends(one))
            return (getattr(mention, "type", None) for mention in ends)

        return {
            "type": labels_of(corpus, lambda document: (one.type for one in _relations_of(document))),
            "entity type": labels_of(corpus, entity_types),
        }

    def label_as_seen(self, label: str, metric: str, settings: RelationSettings) -> Callable[[str], str] | None:
        return None if metric in (("pair",) if label == "type" else ("boundaries", "pair", "type")) else str

    error_label = "relation"

    def find_mistakes(self, corpus: Any, settings: RelationSettings) -> Iterable[Mistake]:
        from tallystick.tasks.relations.show import find_mistakes

        return find_mistakes(corpus, settings.symmetric)

    def _require_comparable(
        self, left: Documents[Any], rights: Sequence[Documents[Any]], settings: RelationSettings
    ) -> None:
        """DocRED's facts are compared with facts only, and as they stand."""
        facts = left.format == "DocRED"
        for right in rights:
            if right.values and facts != (right.format == "DocRED"):
                raise SidesMismatch(
                    f"{left.file} is {left.format} and {right.file} is {right.format}; their arguments cannot be compared"
                )
        for one in self.options("figures") if facts else ():
            if one.name not in ("train", "input", "missing") and getattr(settings, one.name):
                raise MetricError(
                    f"{flag(one)} changes nothing for DocRED's files, whose facts are compared as they stand"
                )

    def tree(self, scored: Scored, settings: RelationSettings, metric: str, document: Any) -> Explanation:
        from tallystick.tasks.relations.show import with_words

        return with_words(partial(super().tree, scored, settings, metric), scored.corpus.texts)(document)

    def parts(self, scored: Scored, settings: RelationSettings, shown: Shown) -> Parts:
        from tallystick.tasks.relations.show import relations_drawer, with_words

        texts = scored.corpus.texts
        parts = super().parts(scored, settings, shown)
        explain = with_words(parts.explain, texts) if parts.explain is not None else None
        return replace(parts, explain=explain, draw=relations_drawer(scored.corpus, texts))

    def words(self, scored: Scored) -> list[Any]:
        return [scored.corpus.texts.get(name) for name in scored.corpus.ids]

    def unmet(self, scored: Scored, settings: RelationSettings) -> frozenset[str]:
        documents = (*scored.corpus.reference, *scored.corpus.predicted)
        return frozenset(settings.symmetric) - {
            one.type for found in documents for one in getattr(found, "relations", ())
        }

    def look_first(self, files: Files, settings: RelationSettings, ask_parts: AskParts) -> None:
        """A type that is called symmetric, and that none of the parts has, is misspelt."""
        if settings.symmetric:
            found = set().union(*ask_parts(partial(_find_types, input=settings.input), files))
            if found:
                _require_types(settings.symmetric, sorted(found))


def _find_types(file: Any, input: Any) -> set[str]:
    """The types of a file's relations."""
    from tallystick.tasks.relations.files import read_relations

    return set(_types_of(read_relations(file, input=input)))


def _training(settings: RelationSettings) -> dict[str, str]:
    """The files of training data, by what they are called."""
    return {Path(name).name.partition(".")[0]: name for name in settings.train}


def _options(settings: RelationSettings, training: Iterable[str]) -> RelationOptions:
    from tallystick.tasks.relations.metrics import RelationOptions

    return RelationOptions(
        symmetric=settings.symmetric,
        types=settings.types,
        heads=settings.known_heads,
        weights=settings.weights,
        training=tuple(training),
    )


def _score_pair(
    left: Documents[Any], right: Documents[Any], metrics: tuple[str, ...], options: RelationOptions,
    missing: Missing | None, sure: ItemConfidences | None,
) -> Scored:  # fmt: skip
    """One system against the reference, with what its predictions say about how sure they are."""
    from tallystick.files.pairing import pair_documents
    from tallystick.structures.texts import FactSet, RelationSet
    from tallystick.tasks.relations.files import NOTHING, check_beside
    from tallystick.tasks.relations.metrics import score, with_claims

    facts = left.format == "DocRED"
    if facts and right.format == NOTHING:  # a submission lists facts, and not the documents without any
        right = replace(right, partial=True)
    if not facts and left.unit == right.unit:
        check_beside(left, right)
    pairs = pair_documents(left, right, FactSet if facts else RelationSet, missing)
    results = score(pairs, metrics, options)
    note = "" if facts else _only_one_has_types(left, right)
    if note and "strict" in results:
        strict = results["strict"]
        results = {**results, "strict": strict.changed(notes=(*strict.notes, note))}
    return Scored(pairs, results if sure is None else with_claims(results, pairs, sure, options.symmetric))


def _only_one_has_types(left: Documents[Any], right: Documents[Any]) -> str:
    """What to say if arguments have types on one side and on the other none has."""
    typed = [
        [one.type is not None for of in side.values.values() for r in of.relations for one in (r.subj, r.obj)]
        for side in (left, right)
    ]
    if not all(typed) or any(typed[0]) == any(typed[1]):
        return ""
    bare, other = (right, left) if any(typed[0]) else (left, right)
    return (
        f"no argument of {bare.file} has a type, and arguments of {other.file} have; boundaries compares them without"
    )


def _relations_of(document: Any) -> Iterable[Any]:
    """The relations of a document, or DocRED's facts."""
    return getattr(document, "relations", ()) or getattr(document, "facts", ())


def _types_of(side: Documents[Any]) -> list[str]:
    """The types of a file's relations; facts of DocRED's are none."""
    return [one.type for document in side.values.values() for one in getattr(document, "relations", ())]


def _require_types(symmetric: tuple[str, ...], types: Iterable[str]) -> None:
    """A type that no relation has is misspelt, and would change nothing."""
    known = dict.fromkeys(types)
    for name in symmetric:
        if name not in known:
            raise MetricError(
                f"--symmetric {name}: no relation of these files has this type; there are {some(known) or 'none'}."
                f"{did_you_mean(name, known)}"
            )


TASK = Relations()

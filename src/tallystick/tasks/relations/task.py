"""`score relations` and `explain relations`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, common_options, files, metric_option, versus
from tallystick.cli.structures import (
    explain_options,
    explain_result,
    heads_option,
    informativity_option,
    show,
    type_options,
    types_of,
    weights_of,
)

if TYPE_CHECKING:
    from tallystick.files.pairing import Documents, Missing, Paired
    from tallystick.results.result import Result

Run = TypeVar("Run")

MAIN = "strict"
BREAKDOWNS = ("label", "field")
LABELS = {"type": "relations[*].type", "fact": "facts[*].type"}


def relation_options(command: Any) -> Any:
    """What is the same relation."""
    options = [
        click.option("--symmetric", multiple=True, metavar="TYPE", help="A relation whose arguments have no order; may be repeated."),
        click.option("--train", multiple=True, metavar="FILE", help="DocRED: training data, for Ign F1; may be repeated."),
        heads_option,
        type_options,
        informativity_option,
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@relation_options
@common_options
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], symmetric: tuple[str, ...], train: tuple[str, ...], heads: str | None,
    parents: str | None, hierarchy: str | None, informativity: str | None, common: Common,
) -> None:  # fmt: skip
    """Score relations in all the ways that the literature does, side by side: strict, boundaries, relaxed, head, pair, type.

    REFERENCE and PREDICTED are JSON or JSON Lines (plain or SpERT's), DocRED's files, or brat .ann files or folders.

    \b
    tallystick score relations gold.jsonl system.jsonl --symmetric spouse
    tallystick score relations dev.json result.json --train train_annotated.json
    """
    pairs, scored = _scored_systems(
        reference, {"": predicted}, metrics, symmetric, {}, True,
        train=train, heads=heads, parents=parents, hierarchy=hierarchy, informativity=informativity,
    )[""]  # fmt: skip

    @cache
    def texts() -> Any:
        from tallystick.tasks.relations.files import read_texts

        return {**read_texts(predicted), **read_texts(reference)}

    def draw() -> Any:
        from tallystick.tasks.relations.show import relations_drawer

        return relations_drawer(pairs, texts())

    def reword(explained: Any) -> Any:
        from tallystick.tasks.relations.show import with_words

        return with_words(explained, texts())

    show(
        scored, labels=LABELS, common=common, title=versus(predicted, reference), main=MAIN, draw=draw, reword=reword
    )  # fmt: skip


@click.command()
@files
@relation_options
@explain_options
def explain(
    reference: str, predicted: str, symmetric: tuple[str, ...], train: tuple[str, ...], heads: str | None, parents: str | None,
    hierarchy: str | None, informativity: str | None, metric: str | None, document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show which relations of a document are matched."""
    chosen = (metric,) if metric else ()
    scored = results(
        reference, predicted, chosen, symmetric, train, heads, parents, hierarchy, informativity, whole=True
    )
    explain_result(scored, document, format_)


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], symmetric: tuple[str, ...], train: tuple[str, ...],
    heads: str | None, parents: str | None, hierarchy: str | None, informativity: str | None, whole: bool = False,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system; `whole` says that the files are all there is, and not a shard."""
    found = _scored_systems(
        reference, {"": predicted}, metrics, symmetric, {}, whole,
        train=train, heads=heads, parents=parents, hierarchy=hierarchy, informativity=informativity,
    )  # fmt: skip
    return found[""][1]


def results_of_systems(
    reference: str, systems: Mapping[Run, str], metrics: tuple[str, ...], symmetric: tuple[str, ...],
    missing: Mapping[Run, Missing] | None = None, **options: Any,
) -> dict[Run, dict[str, Result]]:  # fmt: skip
    """The results of several systems; the reference is read once, and a symmetric type may be one system's alone."""
    scored = _scored_systems(reference, systems, metrics, symmetric, missing or {}, True, **options)
    return {name: found for name, (_, found) in scored.items()}


def survey(file: str) -> set[str]:
    """What a part of a file has to tell before any part is scored: the types of its relations."""
    from tallystick.tasks.relations.files import read_relations

    return set(_types_of(read_relations(file)))


def needs_survey(given: Mapping[str, Any]) -> bool:
    """Only a type that is called symmetric has to be looked for."""
    return bool(given["symmetric"])


def surveyed(found: set[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the parts told: a type that none of them has is misspelt."""
    if found:
        _occur(given["symmetric"], sorted(found))
    return {}


def _scored_systems(
    reference: str, systems: Mapping[Run, str], metrics: tuple[str, ...], symmetric: tuple[str, ...],
    missing: Mapping[Run, Missing], whole: bool, *, train: tuple[str, ...], heads: str | None, parents: str | None,
    hierarchy: str | None, informativity: str | None,
) -> dict[Run, tuple[Paired[Any], dict[str, Result]]]:  # fmt: skip
    """The documents of both sides, and their results, for each system."""
    from pathlib import Path

    from tallystick.errors import MetricError, SidesMismatch
    from tallystick.files.pairing import pair_documents
    from tallystick.structures.texts import FactSet, RelationSet
    from tallystick.tasks.parses import read_heads
    from tallystick.tasks.relations.docred import read_training
    from tallystick.tasks.relations.files import read_relations
    from tallystick.tasks.relations.metrics import RelationOptions
    from tallystick.tasks.relations.metrics import score as score_all

    training = {Path(name).name.partition(".")[0]: read_training(name) for name in train}
    left: Documents[Any] = read_relations(reference, training)
    rights: dict[Run, Documents[Any]] = {name: read_relations(file) for name, file in systems.items()}
    facts = left.format == "DocRED"
    if training and not facts:
        raise MetricError(f"--train is for DocRED's files, which {left.file} is not")
    for right in rights.values():
        if right.values and facts != (right.format == "DocRED"):
            raise SidesMismatch(
                f"{left.file} is {left.format} and {right.file} is {right.format}; their arguments cannot be compared"
            )
    if facts:
        for name, given in (("--symmetric", symmetric), ("--heads", heads), ("--parents", parents), ("--hierarchy", hierarchy),
                            ("--informativity", informativity)):  # fmt: skip
            if given:
                raise MetricError(f"{name} changes nothing for DocRED's files, whose facts are compared as they stand")
    if whole and symmetric:
        _occur(symmetric, [type_ for side in (left, *rights.values()) for type_ in _types_of(side)])
    options = RelationOptions(
        symmetric=symmetric,
        types=types_of(hierarchy, parents),
        heads=read_heads(heads) if heads else None,
        weights=weights_of(informativity),
        training=tuple(training),
    )
    out = {}
    for run, right in rights.items():
        pairs = pair_documents(left, right, FactSet if facts else RelationSet, missing.get(run))
        out[run] = pairs, score_all(pairs, metrics, options)
    return out


def _types_of(side: Documents[Any]) -> list[str]:
    """The types of a file's relations; facts of DocRED's are none."""
    return [one.type for document in side.values.values() for one in getattr(document, "relations", ())]


def _occur(symmetric: tuple[str, ...], types: Iterable[str]) -> None:
    """A type that no relation has is misspelt, and would change nothing."""
    from tallystick.errors import MetricError, did_you_mean, some

    known = dict.fromkeys(types)
    for name in symmetric:
        if name not in known:
            raise MetricError(
                f"--symmetric {name}: no relation of these files has this type; there are {some(known) or 'none'}."
                f"{did_you_mean(name, known)}"
            )

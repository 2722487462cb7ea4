"""`nary`: N-ary relations of entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute
from tallystick.tasks.contract import AskParts, Files, Reading, Scored, Task, missing_option, option
from tallystick.tasks.named import TypeSettings

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake


@frozen
class NarySettings(TypeSettings):
    """Where the rest of a system's output is, and when types are alike."""

    # fmt: off
    ner: str | None = option(None, "SciREX: the system's entity mentions, if they are in a separate file.", metavar="FILE", of_system=True)
    clusters: str | None = option(None, "SciREX: the system's clusters, if they are in a separate file.", metavar="FILE", of_system=True)
    roles: tuple[str, ...] = option((), "A role that relations have; may be repeated.  [default: all that occur]", names=("--role",), metavar="NAME")
    missing: str = missing_option()
    # fmt: on


class Nary(Task):
    """N-ary relations of entities."""

    name = "nary"
    summary = "relations of any number of entities: eq. 29 to 31, and as SciREX computes them"
    help = """Score N-ary relations of entities: eq. 29 to 31, matched 1:1, and SciREX's own procedure.

    REFERENCE and PREDICTED are SciREX's JSON Lines, or plain ones: {"id", "relations": [{"args": {role: [[start, end], ...]}}]}.

    \b
    tallystick score nary dev.jsonl system.jsonl
    tallystick score nary dev.jsonl relations.jsonl --ner ner.jsonl --clusters clusters.jsonl
    """
    Settings = NarySettings
    cites = {
        "": ("jain-etal-2020-scirex",),
    }
    main = explained = "clusters"
    breakdowns = ("label", "field")
    labels = {"role": "entities[*].role", "type": "relations[*].type"}
    error_label = "role or type"
    kinds = {
        "wrong entity": "a role has another entity",
        "missing role": "the relation lacks a role",
        "extra role": "the relation has a role that it should not have",
        "wrong type": "the relation is of another type",
        "missed relation": "no predicted relation is like it; repaired, its entities are there, too",
        "spurious relation": "no relation of the reference is like it",
        "wrong boundary": "a mention of an entity overlaps the right one",
        "wrong mention": "an entity has a mention that is not its own",
        "missed mention": "an entity lacks one of its mentions",
        "wrong entity type": "an entity that is in no relation has another type",
        "missed entity": "no predicted entity is like it",
        "spurious entity": "no entity of the reference is like it; repaired, it leaves its relations, too",
    }
    attributes = {
        "size": Attribute(
            "how many mentions an entity has, how many entities a relation",
            {
                "entities[*]": lambda item, _: len(item.entity.mentions),
                "relations[*]": lambda item, _: len(item.args),
            },
        )
    }

    a_document = "document of relations"
    document_keys = ("id", "doc_id", "relations", "ner", "coref", "clusters", "n_ary_relations", "predicted_relations")
    data = """
    A document is a list of relations, a relation a dict from role to entity, an entity a list of (start, end), where ends are exclusive:
    [{"Task": [(0, 2), (9, 10)], "Method": [(4, 5)]}]; with types, [{"type": "result", "args": {"Task": [(0, 2)]}}].
    Give one document, a list of them, or a mapping by id.
    """
    example = """
    >>> gold = [{"Task": [(0, 2), (9, 10)], "Method": [(4, 5)]}]
    >>> ts.nary(gold, [{"Task": [(0, 2)], "Method": [(6, 7)]}], metrics="clusters")["clusters"].f1
    0.5
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.nary.files import nary_document

        return nary_document(value, where)

    def read(self, reference: Any, predicted: Any, settings: NarySettings, reading: Reading) -> Any:
        from tallystick.files.pairing import pair_documents
        from tallystick.tasks.nary.files import Relations, read_nary

        rest = [name for name in (settings.ner, settings.clusters) if name]
        pairs = pair_documents(read_nary(reference), read_nary(predicted, *rest), Relations, reading.missing)
        return pairs, reading.known or ()

    def label_sets(self, corpus: Any, settings: NarySettings) -> Any:
        from tallystick.results.lookalikes import labels_of

        pairs, _ = corpus
        return {
            "role": labels_of(pairs, lambda document: (role for one in document.relations for role in one)),
            "type": labels_of(pairs, lambda document: document.types),
        }

    def label_as_seen(self, label: str, metric: str, settings: NarySettings) -> Callable[[str], str] | None:
        """SciREX's figures know no types, and those of its entities no roles."""
        typeless = metric == "clusters" or metric.startswith("scirex")
        return None if metric == "scirex_clusters" or (label == "type" and typeless) else str

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: NarySettings) -> Any:
        from tallystick.tasks.nary.metrics import NaryOptions, in_order, roles_of, score

        pairs, roles = corpus
        if settings.roles:
            found = roles_of((*pairs.reference, *pairs.predicted))
            unknown = [role for role in found if role not in settings.roles]
            if unknown:
                raise MetricError(f"--role: relations have the role {unknown[0]!r} too; name all roles, or none")
            roles = in_order(settings.roles)
        results = score(pairs, metrics, NaryOptions(settings.types, roles))
        if not settings.roles:
            return results
        named = f"roles={' '.join(roles)}"
        return {
            key: one.changed(settings=", ".join(filter(None, (one.settings, named)))) for key, one in results.items()
        }

    def find_mistakes(self, corpus: Any, settings: NarySettings) -> Iterable[Mistake]:
        from tallystick.tasks.nary.show import find_mistakes

        return find_mistakes(corpus[0])

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: NarySettings) -> Any:
        from tallystick.tasks.nary.show import mended_pairs

        return mended_pairs(corpus[0], mistakes), corpus[1]

    def basis(self, scored: Scored, settings: NarySettings) -> Mapping[str, tuple[Any, ...]]:
        from tallystick.tasks.nary.metrics import in_order, roles_of

        if scored.corpus is None:
            return {}
        pairs, roles = scored.corpus
        return {"roles": in_order(settings.roles) or roles or roles_of((*pairs.reference, *pairs.predicted))}

    def whole(self, settings: NarySettings) -> str:
        return "--ner and --clusters are files beside PREDICTED" if settings.ner or settings.clusters else ""

    def look_first(self, files: Files, settings: NarySettings, ask_parts: AskParts) -> tuple[str, ...]:
        """The roles that occur: a relation's size is counted in those of the whole corpus."""
        from tallystick.tasks.nary.files import find_roles
        from tallystick.tasks.nary.metrics import in_order

        return in_order(set().union(*ask_parts(find_roles, files)))


TASK = Nary()

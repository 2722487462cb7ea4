"""`roles`: role-filler entities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute, mention_length, mention_text, mention_texts
from tallystick.tasks.contract import Reading, Task, missing_option, option
from tallystick.tasks.named import STRINGS, STRINGS_HELP, MentionSettings

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake


@frozen
class RoleSettings(MentionSettings):
    """What is the same mention and the same role."""

    # fmt: off
    strings: str = option("grit", STRINGS_HELP, choices=tuple(STRINGS))
    missing: str = missing_option()
    # fmt: on


class Roles(Task):
    """Role-filler entities."""

    name = "roles"
    summary = "role-filler entities: CEAF-REE, CEAF-RME and softer ones, as the equations and as grit have them"
    help = """Score role-filler entities: CEAF-REE, its softer variants with φ3 and φ4, CEAF-RME, and grit's implementation.

    REFERENCE and PREDICTED are grit's JSON or JSON Lines of {"id", "roles": {role: [[mention, ...], ...]}}.

    \b
    tallystick score roles gold.jsonl system.jsonl
    tallystick score roles test.json preds.out --metric ceaf_ree --by label
    """
    Settings = RoleSettings
    cites = {
        **dict.fromkeys(("ceaf_ree", "grit_strict", "grit_prop"), ("du-etal-2021-grit",)),
        **dict.fromkeys(("ree_phi3", "ree_phi4"), ("du-etal-2021-grit", "luo-2005-coreference")),
        **dict.fromkeys(
            ("rme_subset", "rme_subset_literal", "rme_phi3", "rme_phi3_covered"), ("chen-etal-2023-iterative",)
        ),
    }
    main = explained = "ceaf_ree"
    breakdowns = ("label", "field")
    labels = {"role": "args[*].role", "mention": "mentions[*].role"}
    error_label = "role"
    kinds = {
        "wrong role": "the entity belongs to another role",
        "wrong words": "a mention of the entity shares words with the right one, and is not it",
        "wrong mention": "the entity has a mention that is not its own",
        "missed mention": "the entity lacks one of its mentions",
        "divided entity": "its mentions belong to an entity that another predicted one has found",
        "empty entity": "an entity without a mention",
        "spurious entity": "no entity of the reference is like it",
        "missed entity": "no predicted entity is like it",
    }
    attributes = {
        "size": Attribute("how many mentions an entity has", {"args[*]": lambda item, _: len(item.entity.mentions)}),
        "length": Attribute(
            "how many words a mention has", {"mentions[*]": lambda item, about: mention_length(item.mention, about)}
        ),
    }
    keys = {
        "args[*]": lambda item, about: mention_texts(item.entity.mentions, about),
        "mentions[*]": lambda item, about: mention_text(item.mention, about),
    }

    a_document = "document of roles"
    document_keys = ("id", "docid", "doc_id", "roles", "extracts", "pred_extracts")
    data = """
    A document is a dict with the entities of each role, an entity a list of its mentions, a mention a text:
    {"PerpInd": [["guerrillas", "the rebels"], ["a sniper"]], "Target": []}.
    Give one document, a list of them, or a mapping by id; a mention may be {"start": 3, "end": 5} too, where ends are exclusive.
    """
    example = """
    >>> gold = {"PerpInd": [["guerrillas", "the rebels"]], "Target": [["the embassy"]]}
    >>> round(ts.roles(gold, {"PerpInd": [["the rebels"]]}, metrics="ceaf_ree")["ceaf_ree"].f1, 4)
    0.6667
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.roles.files import role_document

        return role_document(value, where)

    def read(self, reference: Any, predicted: Any, settings: RoleSettings, reading: Reading) -> Any:
        from tallystick.files.pairing import pair_documents
        from tallystick.structures.texts import NAryRelation
        from tallystick.tasks.roles.files import read_roles

        return pair_documents(read_roles(reference), read_roles(predicted), lambda: NAryRelation(""), reading.missing)

    def label_sets(self, corpus: Any, settings: RoleSettings) -> Any:
        from tallystick.results.lookalikes import labels_of

        return {"role": labels_of(corpus, lambda document: (one.role for one in document.args))}

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: RoleSettings) -> Any:
        from tallystick.tasks.roles.metrics import RoleOptions, score

        return score(corpus, metrics, RoleOptions(settings.strings, settings.types, settings.weights))

    def find_mistakes(self, corpus: Any, settings: RoleSettings) -> Iterable[Mistake]:
        from tallystick.tasks.roles.show import find_mistakes

        return find_mistakes(corpus, settings.strings)


TASK = Roles()

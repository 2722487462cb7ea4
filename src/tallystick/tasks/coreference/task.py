"""`coreference`: chains of mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError, MetricError, SidesMismatch
from tallystick.frozen import frozen
from tallystick.tasks.attributes import About, Attribute, OtherItems, mention_length, mention_text
from tallystick.tasks.contract import Reading, Scored, Shown, Task, missing_option, option

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts
    from tallystick.tasks.coreference.metrics import CoreferenceOptions
    from tallystick.tasks.plain import Given

TOPIC = r"[^_/]+"


@frozen
class CoreferenceSettings:
    """What counts as a mention, an entity and a document."""

    # fmt: off
    scope: str = option("document", "The scope of an entity id; topic and corpus are for cross-document coreference.", choices=("document", "topic", "corpus"))
    topic: str = option(TOPIC, "With --scope topic: a regular expression that finds the topic in a document's name.", metavar="REGEX")
    mentions: str = option("exact", "When two mentions are the same: same span, same head (CorefUD), or inside the key's mention and with its head.", choices=("exact", "head", "partial"))
    zeros: str = option("dependent", "How mentions that are empty nodes (CorefUD) are matched: by their dependencies, or by position.", choices=("dependent", "linear"))
    drop_singletons: bool = option(False, "Leave out entities with one mention, on both sides.")
    compat: str | None = option(None, "Follow the reference scorer 8.01: unknown documents, duplicates, truncated percentages.", choices=("reference",))
    strict: bool = option(False, "Treat a repeated mention as an error that names both entities.")
    ignore_tokens: bool = option(False, "Compare only the number of tokens, not the tokens.")
    missing: str = missing_option()
    # fmt: on


def _of_membership(membership: Any) -> Any:
    """The mention of what B³ looks at: a mention with its entity."""
    if not isinstance(membership, dict):
        raise OtherItems("not a mention")
    return membership["mention"]


def _size(item: Any, about: About) -> int:
    """How many mentions an entity has: the item itself, or the one that a mention is in."""
    return len(item["entity"] if isinstance(item, dict) else item)


class Coreference(Task):
    """Chains of mentions."""

    name = "coreference"
    summary = "MUC, B³, CEAF, BLANC, LEA and the CoNLL score over CoNLL, CorefUD or JSONL files"
    help = """Score coreference: REFERENCE (the key) and PREDICTED (the response) are CoNLL-2011/2012 or SemEval columns,
    CorefUD's CoNLL-U, or JSON Lines of clusters.

    \b
    tallystick score coreference key.conll response.conll
    tallystick score coreference key.conll response.conll --metric conll --by document
    """
    Settings = CoreferenceSettings
    cites = {
        "": ("pradhan-etal-2014-scoring",),
        "muc": ("vilain-etal-1995-model",),
        "b3": ("bagga-baldwin-1998-algorithms",),
        **dict.fromkeys(("ceaf_m", "ceaf_e"), ("luo-2005-coreference",)),
        "blanc": ("recasens-hovy-2011-blanc", "luo-etal-2014-extension"),
        "lea": ("moosavi-strube-2016-coreference",),
        "conll": (
            "vilain-etal-1995-model",
            "bagga-baldwin-1998-algorithms",
            "luo-2005-coreference",
            "pradhan-etal-2012-conll",
        ),
    }
    main = "conll"
    explained = "ceaf_e"
    without = {"by label": "mentions and entities have no labels"}
    attributes = {
        "length": Attribute(
            "how many words a mention has",
            {"[*][*]": mention_length, "[*]": lambda item, about: mention_length(_of_membership(item), about)},
        ),
        "size": Attribute("how many mentions an entity has", {"[*]": _size}),
    }
    keys = {"[*][*]": mention_text, "[*]": lambda item, about: mention_text(_of_membership(item), about)}

    def formats(self) -> Any:
        from tallystick.tasks.coreference.files import FORMATS

        return FORMATS

    a_document = "document of clusters"
    document_keys = ("id", "doc_id", "doc_key", "clusters", "predicted_clusters", "tokens", "sentences")
    data = """
    A document is a list of clusters, a cluster a list of mentions, and a mention is (start, end), where ends are exclusive: (3, 4) is token 3
    alone; or it is any text that names the mention on both sides.
    [[(0, 2), (5, 6)], [(3, 4)]] is one document, a list of such lists are several, {"d1": [...]} are documents by id.
    A document may also be a dict: {"id": "d1", "clusters": [...], "tokens": [...]}.
    """
    example = """
    >>> key, response = [[(0, 2), (5, 6)], [(3, 4), (7, 8)]], [[(0, 2)], [(3, 4), (5, 6), (7, 8)]]
    >>> round(ts.coreference(key, response, metrics="conll")["conll"].f1, 4)
    0.6464
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.coreference.jsonl import cluster_document

        return cluster_document(value, where)

    def write(self, given: Given) -> Any:
        from tallystick.tasks.coreference.jsonl import clusters_of

        return clusters_of(given)

    def check(self, metrics: tuple[str, ...], settings: CoreferenceSettings) -> None:
        if settings.scope != "topic" and settings.topic != TOPIC:
            raise MetricError("--topic says where a document's name has its topic; give --scope topic with it")

    def read(self, reference: Any, predicted: Any, settings: CoreferenceSettings, reading: Reading) -> Any:
        from tallystick.files.pairing import no_documents
        from tallystick.tasks.coreference.chains import pair, repeated_mentions
        from tallystick.tasks.coreference.files import read_chains

        self.check((), settings)
        key = read_chains(reference, fields=("clusters",), keep_text=reading.texts)
        response = read_chains(predicted, fields=("predicted_clusters", "clusters"))
        if not key.documents:
            raise no_documents(key.file)
        if len(key.start) and len(response.start) and (key.labels is None) != (response.labels is None):
            kinds = ["(start, end)" if side.labels is None else "texts" for side in (key, response)]
            raise SidesMismatch(
                f"the mentions of the reference are {kinds[0]} and the mentions of the prediction are {kinds[1]}; give both in one form"
            )
        repeated = [str(one) for side in (key, response) for one in repeated_mentions(side)] if settings.strict else []
        if repeated:
            listed = "\n".join(repeated[:10]) + (f"\n... and {len(repeated) - 10:,} more" if len(repeated) > 10 else "")
            raise InputError(f"repeated mentions, which --strict does not allow:\n{listed}")
        lenient = settings.compat == "reference"
        return pair(key, response, lenient=lenient, absent=reading.missing, ignore_tokens=settings.ignore_tokens)

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: CoreferenceSettings) -> Any:
        from tallystick.tasks.coreference.chains import MendedChains
        from tallystick.tasks.coreference.metrics import METRICS, score

        if isinstance(corpus, MendedChains):
            from tallystick.tasks.coreference.show import score_mended

            return score_mended(corpus.pairs, corpus.kinds, metrics, _options(settings))
        return score(corpus, metrics or tuple(METRICS), _options(settings))

    kinds = {
        "span error": "a mention that overlaps the right one; repaired, it has the key's span",
        "missing mention": "a mention that the response does not have, although it has others of the entity; repaired, it joins the response entity that holds most of these",
        "extra mention": "a mention that the key does not have",
        "missing entity": "an entity of which no mention was found",
        "extra entity": "an entity none of whose mentions are in the key",
        "divided entity": "a key entity in several response entities; repaired, its mentions come together in the one that holds most of them",
        "conflated entity": "a response entity with mentions of several key entities; repaired, what belongs to others than most of it becomes entities of their own",
    }

    def find_mistakes(self, corpus: Any, settings: CoreferenceSettings) -> Iterable[Mistake]:
        from tallystick.tasks.coreference.show import find_mistakes

        return find_mistakes(corpus, _options(settings))

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: CoreferenceSettings) -> Any:
        from tallystick.tasks.coreference.show import mended_chains

        return mended_chains(corpus, mistakes)

    def words(self, scored: Scored) -> list[Any]:
        texts = scored.corpus.key.texts
        found = next(iter(scored.results.values())).ids
        return [[word for sentence in texts.get(name, ()) for word in sentence] for name in found]

    def tree(self, scored: Scored, settings: CoreferenceSettings, metric: str, document: Any) -> Explanation:
        from tallystick.tasks.coreference.show import with_words, words_of

        return with_words(
            super().tree(scored, settings, metric, document), words_of(scored.corpus, _options(settings)), document
        )

    def parts(self, scored: Scored, settings: CoreferenceSettings, shown: Shown) -> Parts:
        from tallystick.tasks.coreference.show import chains_parts

        return chains_parts(scored.corpus, _options(settings))

    def whole(self, settings: CoreferenceSettings) -> str:
        return "" if settings.scope == "document" else f"--scope {settings.scope} joins documents"


def _options(settings: CoreferenceSettings) -> CoreferenceOptions:
    from tallystick.tasks.coreference.metrics import CoreferenceOptions

    return CoreferenceOptions(
        singletons=not settings.drop_singletons,
        scope=settings.scope,
        topic=settings.topic,
        match=settings.mentions,
        zeros=settings.zeros,
        compat=settings.compat,
    )


TASK = Coreference()

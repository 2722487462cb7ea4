"""`templates`: slots that take any number of fillers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import Attribute
from tallystick.tasks.contract import (
    Asked,
    Explained,
    Reading,
    Scored,
    Shown,
    Task,
    Wish,
    allow_code,
    missing_option,
    option,
)
from tallystick.tasks.named import STRINGS, STRINGS_HELP

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake
    from tallystick.results.parts import Portions
    from tallystick.results.report import Parts
    from tallystick.tasks.plain import Given
    from tallystick.tasks.templates.metrics import SlotTable

OFFICIAL = "muc4-official"
PRESETS = {
    "du": ("eq32",),
    "gtt": ("gtt",),
    "chen": ("chen_subset", "chen_phi3"),
    "iterx": ("iterx_subset", "iterx_phi3"),
    "iterx-quirks": ("iterx_subset_quirks", "iterx_phi3_quirks"),
    "better": ("granular",),
    OFFICIAL: (),
}


@frozen
class TemplateSettings:
    """Whose scorer, when fillers are alike, and what the official MUC-4 report rests on."""

    # fmt: off
    preset: str | None = option(None, "Use the metrics of a paper or an evaluation.", choices=tuple(PRESETS))
    fillers: str | None = option(None, "When fillers are alike, for eq32, eq32_fillers and granular: subset, any, phi3, phi4, words, or an expression.  [default: subset]", metavar="NAME")
    strings: str = option("gtt", STRINGS_HELP, choices=tuple(STRINGS))
    judgements: str | None = option(None, "With --preset muc4-official: recorded judgements about mismatches (Lisp).", metavar="FILE")
    judge: Any = option(None, "With --preset muc4-official: who decides about the string fills that no rule matches.", metavar="STORE|embedding:FILE|llm:MODEL")
    mapping: str = option("greedy", "With --preset muc4-official: map templates greedily, or as recorded in the response file.", choices=("greedy", "recorded"))
    allow_code: bool = allow_code()
    missing: str = missing_option()
    # fmt: on


class Templates(Task):
    """Templates."""

    name = "templates"
    summary = "eq. 32, gtt's and IterX's scorers, BETTER, and the official MUC-4 report"
    help = """Score templates: REFERENCE and PREDICTED are gtt's JSON, JSON Lines of templates, or MUC-4 key and response files.

    \b
    tallystick score templates test.json preds_gtt.out
    tallystick score templates gold.jsonl system.jsonl --preset gtt --by field
    tallystick score templates key-tst3.v2 response.txt --preset muc4-official --judgements history.lisp
    tallystick score templates key-tst3.v2 response.txt --preset muc4-official --judge judgements.sqlite
    """
    Settings = TemplateSettings
    cites = {
        "gtt": ("du-etal-2021-template",),
        **dict.fromkeys(
            ("iterx_subset", "iterx_phi3", "iterx_subset_quirks", "iterx_phi3_quirks"), ("chen-etal-2023-iterative",)
        ),
        **dict.fromkeys(("eq32_fillers", "chen_subset", "chen_phi3", "granular"), ()),
        "muc4_official": ("chinchor-1992-muc",),
    }
    explained = "eq32"
    breakdowns = whole_breakdowns = ("field",)
    synonyms = {"slot": "field"}
    error_label = "slot or type"
    kinds = {
        "Span_Error": "in the right slot, but partly right only: the words of the mention differ",
        "Duplicate_Role_Filler": "says again what another filler of the slot says",
        "Duplicate_Partially_Matched_Role_Filler": "says again what another filler of the slot says, and is partly right only",
        "Within_Template_Incorrect_Role": "belongs to another slot of the template",
        "Within_Template_Incorrect_Role + Partially_Matched_Filler": "belongs to another slot of the template, and is partly right only",
        "Wrong_Template_For_Role_Filler": "belongs to the same slot of another template",
        "Wrong_Template_For_Partially_Matched_Role_Filler": "belongs to the same slot of another template, and is partly right only",
        "Wrong_Template + Wrong_Role": "belongs to another slot of another template",
        "Wrong_Template + Wrong_Role + Partially_Matched_Filler": "belongs to another slot of another template, and is partly right only",
        "Spurious_Role_Filler": "is nowhere in the reference",
        "Missing_Role_Filler": "a filler of an aligned template that was not found",
        "Spurious_Template": "a template that nothing in the reference is aligned with",
        "Spurious_Template_Role_Filler": "a filler of a template that nothing in the reference is aligned with",
        "Missing_Template": "a template that was not found",
        "Missing_Template_Role_Filler": "a filler of a template that was not found",
        "Extra_Mention": "an entity that was found has a mention that is not its own",
        "Missing_Mention": "an entity that was found lacks one of its mentions",
    }
    """The kinds of auto-err, by the names that it gives them, and two more."""
    without = {"by label": "slots are fields: `--by field`"}
    attributes = {
        "size": Attribute("how many fillers a template has", {"templates[*]": lambda item, _: len(item.fillers)})
    }

    def formats(self) -> Any:
        from tallystick.tasks.templates.files import FORMATS

        return FORMATS

    a_document = "document of templates"
    document_keys = ("id", "docid", "doc_id", "doc_key", "templates", "pred_templates", "text", "doctext")
    data = """
    A document is a list of templates, a template a dict with its type and the fillers of its slots, a filler a text, or a list of the
    mentions of an entity: [{"type": "attack", "slots": {"Victim": ["two men", ["the mayor", "J. Smith"]]}}].
    Give one document, a list of them, or a mapping by id.
    """
    example = """
    >>> gold = [{"type": "attack", "slots": {"Victim": ["two men", ["the mayor", "J. Smith"]]}}]
    >>> ts.templates(gold, [{"type": "attack", "slots": {"Victim": ["J. Smith"]}}], preset="gtt")["gtt"].precision
    1.0
    """

    def document(self, value: Any, where: str) -> Any:
        from tallystick.tasks.templates.files import template_document

        return template_document(value, where)

    def write(self, given: Given) -> Any:
        from tallystick.tasks.templates.files import templates_of

        return templates_of(given)

    def check(self, metrics: tuple[str, ...], settings: TemplateSettings) -> None:
        official = settings.preset == OFFICIAL
        if metrics and settings.preset:
            raise MetricError("--preset names the metrics itself; give it, or --metric, not both")
        if not official and (settings.judgements or settings.judge or settings.mapping == "recorded"):
            raise MetricError("--judgements, --judge and --mapping belong to --preset muc4-official")
        if official and settings.strings != "gtt":
            raise MetricError(
                "--strings is for the other metrics; the official report has MUC-4's own rules for strings"
            )

    def read(self, reference: Any, predicted: Any, settings: TemplateSettings, reading: Reading) -> Any:
        from tallystick.algebra.parse import allowing_code
        from tallystick.tasks.templates.files import pair_templates, read_templates
        from tallystick.tasks.templates.metrics import filler_similarity

        if settings.preset == OFFICIAL:
            return _official(reference, predicted, settings, reading)
        sides = [read_templates(side, keep_text=reading.texts) for side in (reference, predicted)]
        pairs = pair_templates(sides[0], sides[1], reading.missing)
        with allowing_code(settings.allow_code):
            return pairs, filler_similarity(settings.fillers, settings.strings), settings.strings

    def label_sets(self, corpus: Any, settings: TemplateSettings) -> Any:
        from tallystick.results.lookalikes import labels_of

        if settings.preset == OFFICIAL:
            return {}
        return {
            "type": labels_of(corpus[0], lambda document: (one.type for one in document.templates)),
            "slot": labels_of(corpus[0], lambda of: (filler.slot for one in of.templates for filler in one.fillers)),
        }

    def label_as_seen(self, label: str, metric: str, settings: TemplateSettings) -> Callable[[str], str]:
        """Expressions take types apart (`attack / bombing`), without the blanks around them; other people's scorers take them as they are."""
        from tallystick.tasks.templates.metrics import ALL

        return str.strip if label == "type" and ALL[metric].tally is None else str

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: TemplateSettings) -> Any:
        from tallystick.tasks.templates.metrics import METRICS, score

        if settings.preset == OFFICIAL:
            return {"muc4_official": corpus.result}
        chosen = metrics or PRESETS.get(settings.preset or "", ()) or tuple(METRICS)
        pairs, fillers, _ = corpus
        return score(pairs, chosen, fillers=fillers, strings=settings.strings)

    def score(
        self, reference: Any, predicted: Any, metrics: tuple[str, ...], settings: TemplateSettings, reading: Reading
    ) -> Scored:
        self.check(metrics, settings)
        scored = super().score(reference, predicted, metrics, settings, reading)
        if settings.preset != OFFICIAL:
            return scored
        return replace(scored, notes=(f"{len(scored.corpus.mapping):,} templates mapped",))

    def breakdown(self, scored: Scored, by: str, label: str | None) -> Shown:
        """Figures by slot."""
        from tallystick.results.tables import counted_figures, rows_as_json
        from tallystick.tasks.templates.show import slots_table

        if "muc4_official" in scored.results:
            return Shown()  # its table is by slot
        slots = {
            name: counted_figures(table.rows, scored.results[name].undefined)
            for name, table in _slot_tables(scored).items()
        }
        return Shown(
            [slots_table(name, rows) for name, rows in slots.items()],
            {"fields": {name: rows_as_json(rows, "path") for name, rows in slots.items()}},
        )

    def portions(self, scored: Scored, by: str, label: str | None) -> dict[str, Portions]:
        from tallystick.results.parts import Portions

        tables = _slot_tables(scored)
        return {name: Portions(table.documents, "slot", one=False) for name, table in tables.items()}

    def show(self, scored: Scored, settings: TemplateSettings, asked: Asked) -> Shown:
        from tallystick.tasks.templates.show import official_table

        if settings.preset == OFFICIAL:
            from tallystick.tasks.templates.muc4 import f_measures

            rows = scored.corpus.rows()
            return Shown([official_table(rows)], {"slots": rows, "f_measures": f_measures(rows["ALL TEMPLATES"])})
        return Shown()

    def without_errors(self, settings: TemplateSettings) -> str:
        official = settings.preset == OFFICIAL
        return "the official report counts errors itself; the other metrics have them" if official else ""

    def find_mistakes(self, corpus: Any, settings: TemplateSettings) -> Iterable[Mistake]:
        from tallystick.tasks.templates.show import find_mistakes

        return find_mistakes(corpus[0], settings.strings)

    def parts(self, scored: Scored, settings: TemplateSettings, shown: Shown) -> Parts:
        from tallystick.results.report import Parts
        from tallystick.tasks.templates.show import templates_parts

        if settings.preset == OFFICIAL:
            return Parts()
        pairs, fillers, strings = scored.corpus
        return templates_parts(pairs, fillers, strings, scored.results)

    def explain(self, reference: Any, predicted: Any, settings: TemplateSettings, wish: Wish) -> Explained:
        """Which templates and fillers eq. 32 matches."""
        if settings.preset:
            raise MetricError(
                "--preset: documents are explained by eq. 32, or by the --metric that is named; leave it out"
            )
        return super().explain(reference, predicted, settings, wish)

    def whole(self, settings: TemplateSettings) -> str:
        return "the official report is of a whole run" if settings.preset == OFFICIAL else ""


def _slot_tables(scored: Scored) -> dict[str, SlotTable]:
    """The sums by slot of every metric that has them."""
    from tallystick.tasks.templates.metrics import slot_table

    results = scored.results
    able = [name for name in results if name == "gtt" or results[name].is_expression]
    if not able:
        raise MetricError(f"{', '.join(results)} has no figures by slot; eq32, gtt and iterx_phi3 have")
    pairs, fillers, strings = scored.corpus
    return {name: slot_table(pairs, name, fillers, strings) for name in able}


def _official(reference: Any, predicted: Any, settings: TemplateSettings, reading: Reading) -> Any:
    from tallystick.tasks.templates.files import read_judgements, read_muc4
    from tallystick.tasks.templates.muc4 import score

    recorded = settings.mapping == "recorded"
    decided = read_judgements(settings.judgements) if settings.judgements else None
    keys, responses = read_muc4(reference), read_muc4(predicted)
    if settings.judge is None:
        return score(keys, responses, judgements=decided, recorded=recorded, asked=reading.missing)
    from tallystick.judging.recorded import judge_named
    from tallystick.tasks.templates.muc4 import decide_fills, open_fills

    judge = judge_named(settings.judge)
    found = decide_fills(open_fills(keys, responses, recorded=recorded), judge, decided)
    report = score(keys, responses, judgements=found.judgements, recorded=recorded, asked=reading.missing)
    return replace(report, notes=(*report.notes, found.note), settings=f"{report.settings}, judge={judge.signature}")


TASK = Templates()

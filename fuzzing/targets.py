"""The targets: for each format how a file of it is read and scored, what it looks like, and what its words are.

Where a command of `tallystick score` reads a format, the target goes the command's own way, with the command's own defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing import seeds
from tallystick.cli.options import settings_of
from tallystick.cli.score import score_command
from tallystick.tasks.contract import Reading, Task, find_task

Run = Callable[[str, str], Mapping[str, Any] | None]
"""Reads a reference and a prediction, and scores them if there is something to score."""


@dataclass(frozen=True)
class Target:
    """A format. `unlike` are metrics (or `*`, all) under which a prediction that equals its reference need not score 1."""

    name: str
    run: Run
    seeds: tuple[bytes, ...]
    suffix: str
    words: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    @property
    def is_json(self) -> bool:
        return self.suffix in (".json", ".jsonl", ".yaml")  # every JSON is YAML

    def lay(self, data: bytes, folder: Path, stem: str) -> str:
        """Write an input to files, and say what to read."""
        path = folder / f"{stem}{self.suffix}"
        if self.suffix == ".ann":  # standoff may have its text beside it
            text, mark, content = data.partition(seeds.TEXT_ABOVE)
            path.with_suffix(".txt").unlink(missing_ok=True)
            if mark or self.name == "spans-brat":
                path.with_suffix(".txt").write_bytes(text if mark else b"")
                data = content if mark else data
        path.write_bytes(data)
        return str(path)


def scored(task: str, *options: str) -> Run:
    """As `tallystick score TASK REFERENCE PREDICTED OPTIONS` does."""

    @cache
    def prepared() -> tuple[Task, tuple[str, ...], Any]:
        declared = find_task(task)
        given = score_command(task).make_context(task, ["reference", "predicted", *options]).params
        return declared, tuple(given.pop("metrics", ())), settings_of(declared, given)

    def run(reference: str, predicted: str) -> Mapping[str, Any]:
        declared, metrics, settings = prepared()
        return declared.score(reference, predicted, metrics, settings, Reading()).results

    return run


def together(reference: str, predicted: str) -> None:
    """`score spans FILE --together`: both sides are columns of one file."""
    from tallystick.tasks.spans.files import read_span_files
    from tallystick.tasks.spans.metrics import DEFAULT, score

    score(read_span_files(predicted, None), DEFAULT)


def answers(reference: str, predicted: str) -> None:
    """What a language model wrote, inside a field, repaired where it can be."""
    gold = Path(predicted).with_name("gold.jsonl")
    gold.write_bytes(GOLD)
    scored("records", "--from", "output", "--lenient")(str(gold), predicted)


def beside(
    task: str, option: str, *options: str, gold: bytes, system: bytes | None = None, suffix: str = ".jsonl"
) -> Run:
    """The input is what an option names; the two files are given."""

    def run(reference: str, predicted: str) -> Mapping[str, Any]:
        folder = Path(predicted).parent
        files = []
        for name, content in (("gold", gold), ("system", gold if system is None else system)):
            file = folder / f"beside-{name}{suffix}"
            file.write_bytes(content)
            files.append(str(file))
        return scored(task, option, predicted, *options)(*files)

    return run


def with_ontology(reference: str, predicted: str) -> Mapping[str, Any]:
    """Generated text needs a reference with tokens, and templates."""
    folder = Path(predicted).parent
    (folder / "ontology.json").write_bytes(seeds.ONTOLOGY)
    (folder / "gold.jsonl").write_bytes(seeds.GENERATED_GOLD)
    return scored("events", "--ontology", str(folder / "ontology.json"))(str(folder / "gold.jsonl"), predicted)


def training(reference: str, predicted: str) -> Mapping[str, Any]:
    """DocRED's training data."""
    return beside("relations", "--train", gold=seeds.DOCRED, suffix=".json")(reference, predicted)


def logs(reference: str, predicted: str) -> None:
    """Calls as an interface logs them, against a reference."""
    gold = Path(predicted).with_name("gold.jsonl")
    gold.write_bytes(seeds.CALLS[0])
    scored("calls", "--lenient")(str(gold), predicted)


def judgements(reference: str, predicted: str) -> None:
    """What people decided about mismatches, in Lisp."""
    from tallystick.tasks.templates.files import read_judgements

    read_judgements(predicted)


def chains(reference: str, predicted: str) -> None:
    """Every way in which chains are looked at without scoring them."""
    from tallystick.tasks.coreference.chains import repeated_mentions
    from tallystick.tasks.coreference.files import read_chains

    repeated_mentions(read_chains(predicted))


def judged(read: str) -> Run:
    """What other programs and people bring back: lines of judgements, Label Studio's export, labelled questions."""

    def run(reference: str, predicted: str) -> None:
        from tallystick.judging.classifier import read_labelled
        from tallystick.judging.exchange import read_export, read_lines
        from tallystick.judging.store import Store

        if read == "labelled":
            read_labelled(predicted)
            return
        with Store(Path(predicted).with_name("store.sqlite")) as store:
            store.add_questions([seeds.QUESTION])
            if read == "lines":
                read_lines(predicted, store, "anna")
            else:
                read_export(predicted, store)

    return run


def expression(reference: str, predicted: str) -> None:
    """A metric's expression: it reads back as itself, and scores something or says why not."""
    from tallystick.algebra.parse import parse
    from tallystick.errors import TallystickError
    from tallystick.results.evaluation import evaluate

    text = Path(predicted).read_bytes().decode("utf-8", "replace")
    if re.search(r"[A-Za-z_]\w*\s*:", text):  # an expression may name any function of any module; none is called here
        return
    metric = parse(text)
    if parse(str(metric)) != metric:
        raise AssertionError(f"{metric} does not read back as itself")
    for value in ({"a": "x", "b": [1, 2]}, ["x", "y"], "x", 1):
        with suppress(TallystickError):
            evaluate(metric, [value], [value])


def repaired(reference: str, predicted: str) -> None:
    """A language model's text: some value, or nothing that can be read."""
    from tallystick.files.json_values import Unreadable, read_noisy

    try:
        read_noisy(Path(predicted).read_bytes().decode("utf-8", "replace"))
    except Unreadable:
        return


def figures(reference: str, predicted: str) -> None:
    """`compare figures`: figures that somebody has already, in every format."""
    import io
    from contextlib import redirect_stdout

    from tallystick.cli.figures import compared

    for format_ in ("json", "tsv", "markdown", "latex", "html"):
        with (
            redirect_stdout(io.StringIO()),
            compared.make_context("figures", [predicted, "--format", format_]) as context,
        ):
            compared.invoke(context)


JSON_WORDS = (
    "null",
    "true",
    "-1",
    "1e400",
    "1e-400",
    "[]",
    "{}",
    '""',
    "9223372036854775808",
    '"\\ud800"',
    "[[",
    "NaN",
)
SPAN_WORDS = ("B-", "I-", "O", "E-", "S-", "L-", "U-", "-", "B-PER", "I-LOC", "-DOCSTART-", "\t", "\r\n")
CONLLU_WORDS = ("1-2", "1.1", "Entity=(e1", "e1)", "(e1[1/2]", "SpaceAfter=No", "# newdoc id = x", "# global.Entity = eid-etype-head",
                "# text = ", "_", "0:root", "2:nsubj|1.1:x", "Case=Nom|Case=Acc")  # fmt: skip
BRAT_WORDS = ("T1\t", "E1\t", "R1\t", "*\tEquiv", "A1\t", "#1\t", "Arg1:T1", "Arg2:T2", ";", "0 4", "Attack:T2")
NEWICK_WORDS = ("(", ")", ",", ";", ":", "'", "[", "]", "=", "id:")
MUC_WORDS = (
    "0.  MESSAGE: ID ",
    "1.  MESSAGE: TEMPLATE ",
    "4.  INCIDENT: TYPE ",
    "-",
    "*",
    " / ",
    ": ",
    "?",
    '"',
    "(OPTIONAL)",
)
LISP_WORDS = ("(", ")", '"', "nil", ";", "match", "partial", "fail")
PENMAN_WORDS = ("(", ")", " / ", ":ARG0", ":ARG1-of", "# ::id ", '"', "~e.1", "-", "\n\n")
METRIC_WORDS = ("f1(", "match(", "record(", "each(", "exact", "text(", "number(", "1:1", "N:1", "let(", "cases(", "optional(", "var",
                "latent(", "scoped(", "sequence(", "tree(", "graph(", "levels(", "subtypes(", "aliases(", "keyed(", "weighted(",
                "above(", "sides(", "any_of(", "overlap(", "date(", "jaccard(", "f(", "best(", "links(", "subset(",
                "inf", "1e999", '"', "{", "[", "=", ",", ")")  # fmt: skip
SCHEMA_WORDS = ("type", "object", "array", "properties", "required", "$ref", "#", "#/$defs/a", "allOf", "anyOf", "oneOf", "enum", "const",
                "items", "prefixItems", "uniqueItems", "additionalProperties", "x-tallystick", "format", "date", "nullable")  # fmt: skip
CHOICE_WORDS = ("text", "number", "date", "overlap", "hierarchy", "expression", "weight", "credit", "any_of", "at_least", "above",
                "keep", "aliases", "nothing", "ignore", "list", "key", "match", "&a ", "*a", "!!python/object:", "<<: ")  # fmt: skip

EVERY = ("*",)
SCIREX = (*(f"{kind}{n}" for kind in ("n", "scirex_n") for n in range(9)), "scirex_ner", "scirex_clusters")
"""SciREX leaves relations of entities without mentions out of the reference, and matches entities as it goes."""
ITERX = ("iterx_subset", "iterx_phi3", "iterx_subset_quirks", "iterx_phi3_quirks")
"""IterX's scorer keeps its own list of types and slots."""

GOLD, SYSTEM = seeds.bundled("invoices.gold.jsonl"), seeds.bundled("invoices.system.jsonl")

TARGETS = {
    target.name: target
    for target in (
        # coreference
        Target("coreference-conll", scored("coreference"), seeds.CONLL, ".conll", ("(1)", "(1", "1)", "|", "-", "#begin document", "#end document"), unlike=("conll",)),
        Target("coreference-corefud", scored("coreference", "--mentions", "head"), seeds.COREFUD, ".conllu", CONLLU_WORDS, unlike=("conll",)),
        Target("coreference-clusters", scored("coreference"), seeds.CLUSTERS, ".jsonl", JSON_WORDS, unlike=("conll",)),
        Target("coreference-chains", chains, (*seeds.CONLL, *seeds.COREFUD, *seeds.CLUSTERS), ".txt", CONLLU_WORDS),
        # spans
        Target("spans-columns", scored("spans"), seeds.IOB, ".iob", SPAN_WORDS),
        Target("spans-bilou", scored("spans", "--scheme", "BILOU", "--strict"), seeds.IOB, ".iob", SPAN_WORDS),
        Target("spans-together", together, seeds.TOGETHER, ".iob", SPAN_WORDS),
        Target("spans-jsonl", scored("spans"), seeds.SPANS_JSONL, ".jsonl", JSON_WORDS),
        Target("spans-brat", scored("spans", "--boundaries", "expand"), seeds.BRAT_SPANS, ".ann", BRAT_WORDS),
        Target("spans-conllu", scored("spans", "--input", "conllu"), seeds.CONLLU_TAGS, ".conllu", (*CONLLU_WORDS, "ner=B-PER")),
        # dependencies
        Target("dependencies", scored("dependencies"), seeds.CONLLU, ".conllu", CONLLU_WORDS),
        # graphs of meaning
        Target("penman", scored("amr"), seeds.PENMAN, ".amr", PENMAN_WORDS),
        Target("penman-lenient", scored("amr", "--lenient", "--preset", "smatchpp", "--subscores"), seeds.PENMAN, ".amr", PENMAN_WORDS),
        Target("triples", scored("amr", "--input", "triples"), seeds.TRIPLES, ".jsonl", (*JSON_WORDS, "instance(", " ^ ", "REF")),
        # relations
        Target("relations", scored("relations"), seeds.RELATIONS, ".jsonl", JSON_WORDS),
        Target("relations-brat", scored("relations"), seeds.BRAT_RELATIONS, ".ann", BRAT_WORDS),
        Target("docred", scored("relations"), seeds.DOCRED_FILES, ".json", JSON_WORDS),
        Target("docred-training", training, seeds.DOCRED_FILES, ".json", JSON_WORDS, unlike=("ign",)),
        Target("heads", beside("relations", "--heads", gold=seeds.RELATIONS[0]), seeds.HEADS, ".jsonl", JSON_WORDS),
        Target("parents", beside("relations", "--parents", gold=seeds.RELATIONS[0]), seeds.PARENTS, ".tsv", ("\t", "{", '"', ":")),
        # events
        Target("events-textee", scored("events"), seeds.TEXTEE, ".jsonl", JSON_WORDS),
        Target("events-wikievents", scored("events"), seeds.WIKIEVENTS, ".jsonl", JSON_WORDS),
        Target("events-omnievent", scored("events"), seeds.OMNIEVENT, ".jsonl", JSON_WORDS),
        Target("events-rams", scored("events"), seeds.RAMS, ".jsonl", JSON_WORDS),
        Target("events-plain", scored("events", "--strip-articles"), seeds.EVENTS, ".jsonl", JSON_WORDS),
        Target("events-brat", scored("events"), seeds.BRAT_EVENTS, ".ann", BRAT_WORDS),
        Target("events-generated", with_ontology, seeds.GENERATED, ".jsonl", JSON_WORDS, unlike=EVERY),
        Target("events-coreference", beside("events", "--coreference", gold=seeds.WIKIEVENTS[0]), seeds.EVENT_CLUSTERS, ".jsonl", JSON_WORDS),
        Target("arguments", scored("arguments"), seeds.ARGUMENTS, ".jsonl", JSON_WORDS, unlike=EVERY),
        Target("parses", beside("arguments", "--parses", gold=seeds.ARGUMENTS[0]), seeds.PARSES, ".conllu", CONLLU_WORDS, unlike=EVERY),
        # roles, N-ary relations, templates
        Target("roles", scored("roles"), seeds.ROLES, ".jsonl", JSON_WORDS, unlike=("rme_subset_literal", "rme_phi3_covered")),
        Target("nary", scored("nary"), seeds.NARY, ".jsonl", JSON_WORDS, unlike=SCIREX),
        Target("scirex", scored("nary"), seeds.SCIREX, ".jsonl", JSON_WORDS, unlike=SCIREX),
        Target("templates", scored("templates"), seeds.TEMPLATES, ".jsonl", JSON_WORDS, unlike=ITERX),
        Target("muc4", scored("templates", "--preset", "muc4-official"), seeds.MUC4, ".txt", MUC_WORDS, unlike=("muc4_official",)),
        Target("muc4-strings", scored("templates"), seeds.MUC4, ".txt", MUC_WORDS, unlike=ITERX),
        Target("muc4-judgements", judgements, seeds.JUDGEMENTS, ".lisp", LISP_WORDS),
        # hierarchies
        Target("newick", scored("hierarchies"), seeds.NEWICK, ".newick", NEWICK_WORDS),
        Target("hierarchies-jsonl", scored("hierarchies"), seeds.HIERARCHIES, ".jsonl", JSON_WORDS),
        Target("hierarchies-brat", scored("hierarchies"), seeds.BRAT_HIERARCHIES, ".ann", BRAT_WORDS),
        # records
        Target("records", scored("records"), seeds.RECORDS, ".jsonl", JSON_WORDS),
        Target("records-json", scored("records", "--credit", "all"), seeds.RECORDS_JSON, ".json", JSON_WORDS),
        Target("records-lenient", answers, seeds.ANSWERS, ".jsonl", JSON_WORDS),
        Target("repair", repaired, seeds.NOISY, ".txt", ("```json\n", "```", ",]", ",}", '"', "\\", "{", "[", "//", "'")),
        Target("schema", beside("records", "--schema", gold=seeds.SCHEMA_DATA), seeds.SCHEMAS, ".json", SCHEMA_WORDS),
        Target("choices", beside("records", "--choices", gold=GOLD, system=SYSTEM), seeds.CHOICES, ".yaml", CHOICE_WORDS, unlike=EVERY),
        Target("expression", expression, seeds.EXPRESSIONS, ".txt", METRIC_WORDS),
        Target("figures", figures, seeds.FIGURES, ".csv", ("system,metric,value\n", ",", '"', "nan", "inf", "1e400")),
        Target("calls", scored("calls"), seeds.CALLS, ".jsonl", (*JSON_WORDS, "tool_calls", "function", "arguments"), unlike=EVERY),
        Target("calls-logged", logs, seeds.CALLS, ".jsonl", (*JSON_WORDS, "tool_calls", "function", "arguments")),
        # formats of other people's tools
        Target("spans-others", scored("spans"), seeds.SPANS_IN_JSON, ".json", JSON_WORDS),
        Target("spans-hipe", scored("spans"), seeds.HIPE, ".tsv", (*SPAN_WORDS, "# document_id = ", "EndOfSentence")),
        Target("spans-spacy", scored("spans"), seeds.SPACY, ".spacy"),
        Target("spans-parquet", scored("spans"), seeds.PARQUET, ".parquet"),
        Target("spans-arrow", scored("spans"), seeds.ARROW, ".arrow"),
        Target("records-parquet", scored("records"), seeds.PARQUET, ".parquet"),
        Target("spans-dygie", scored("spans"), seeds.DYGIE, ".jsonl", JSON_WORDS, unlike=EVERY),
        Target("relations-others", scored("relations"), seeds.RELATIONS_IN_JSON, ".json", JSON_WORDS),
        Target("events-dygie", scored("events"), seeds.DYGIE, ".jsonl", JSON_WORDS, unlike=EVERY),
        Target("coreference-dygie", scored("coreference"), seeds.DYGIE, ".jsonl", JSON_WORDS, unlike=EVERY),
        Target("propositions", scored("events"), seeds.PROPOSITIONS, ".conll", ("(", "*", ")", "(V*)", "-", "#begin document (d)", "#end document")),
        # judges
        Target("judgements", judged("lines"), seeds.JUDGED, ".jsonl", JSON_WORDS),
        Target("label-studio", judged("export"), seeds.LABEL_STUDIO, ".json", JSON_WORDS),
        Target("labelled", judged("labelled"), seeds.LABELLED, ".jsonl", JSON_WORDS),
        Target("gzip", scored("records"), seeds.GZIP, ".jsonl.gz"),
    )
}  # fmt: skip
READERS = {
    "columns": ("coreference-conll", "coreference-chains", "spans-columns", "spans-bilou", "spans-together", "spans-hipe", "propositions"),
    "CoNLL-U": ("coreference-corefud", "spans-conllu", "dependencies", "parses"),
    "brat": ("spans-brat", "relations-brat", "events-brat", "hierarchies-brat"),
    "PENMAN and triples": ("penman", "penman-lenient", "triples"),
    "MUC-4": ("muc4", "muc4-strings", "muc4-judgements"),
    "hierarchies": ("newick", "hierarchies-jsonl", "parents"),
    "documents in JSON": ("spans-jsonl", "coreference-clusters", "heads", "relations", "docred", "docred-training", "roles", "nary", "scirex", "templates"),
    "events in JSON": ("events-textee", "events-wikievents", "events-omnievent", "events-rams", "events-plain", "events-generated",
                       "events-coreference", "arguments"),
    "other tools' files": ("spans-others", "spans-dygie", "relations-others", "events-dygie", "coreference-dygie", "spans-spacy"),
    "Parquet and Arrow": ("spans-parquet", "spans-arrow", "records-parquet"),
    "records": ("records", "records-json", "gzip"),
    "a model's answers": ("records-lenient", "repair", "calls", "calls-logged"),
    "schemas and choices": ("schema", "choices"),
    "expressions": ("expression",),
    "figures and judgements": ("figures", "judgements", "label-studio", "labelled"),
}  # fmt: skip
"""What reads the files, each with the targets that lead to it. The time of a run is given to each reader."""

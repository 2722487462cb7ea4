"""The tasks as functions, for type checkers: written by `python -m docsite.stubs` from the tasks' declarations."""

import os
from collections.abc import Sequence
from typing import Any, Literal

from tallystick.results.results import Results

_Texts = str | Sequence[str]
_File = str | os.PathLike[str]

def amr(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    preset: Literal["tallystick", "smatch", "smatchpp", "smatchpp-amr"] = ...,
    root: Literal["none", "constant", "concept"] | None = ...,
    duplicates: Literal["multiset", "removed", "product"] | None = ...,
    mod: Literal["domain", "canonical", "mod", "keep"] | None = ...,
    input: Literal["auto", "penman", "triples"] = ...,
    pair: Literal["auto", "order"] = ...,
    lenient: bool = ...,
    time_limit: float | None = ...,
    subscores: bool = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Smatch, exact, over PENMAN files or triples; fine-grained scores; AMR, UMR, DRS, MRP."""

def arguments(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    parses: _File | None = ...,
    judge: Any = ...,
    counting: Literal["rewrite", "keep"] = ...,
    order: Literal["break-first", "aggregate-first"] = ...,
    duplicates: Literal["merge", "keep"] = ...,
    pronouns: _File | None = ...,
    harmless: _File | None = ...,
    conjunctions: _File | None = ...,
    modifiers: _File | None = ...,
    partial: Literal["0", "0.5", "1"] = ...,
    none_credits_recall: bool = ...,
    tokens: _File | None = ...,
    strip_articles: bool = ...,
    ontology: _File | None = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Event arguments beyond exact match, stage by stage: text, harmless tokens, lists, modifiers, a judge."""

def calls(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    tools: Any = ...,
    choices: Any = ...,
    ordered: bool = ...,
    strings: Literal["exact", "bfcl"] = ...,
    id: str | None = ...,
    reference_id: str | None = ...,
    from_: str | None = ...,
    reference_from: str | None = ...,
    time_limit: float | None = ...,
    allow_code: bool = ...,
    lenient: bool = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Tool calls in logs of OpenAI, Anthropic, MCP and others: functions, arguments, whole calls."""

def coreference(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    scope: Literal["document", "topic", "corpus"] = ...,
    topic: str = ...,
    mentions: Literal["exact", "head", "partial"] = ...,
    zeros: Literal["dependent", "linear"] = ...,
    drop_singletons: bool = ...,
    compat: Literal["reference"] | None = ...,
    strict: bool = ...,
    ignore_tokens: bool = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """MUC, B³, CEAF, BLANC, LEA and the CoNLL score over CoNLL, CorefUD or JSONL files."""

def dependencies(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    unit: Literal["auto", "document", "sentence", "group"] = ...,
    several_roots: bool = ...,
    enhancements: str = ...,
    no_empty_nodes: bool = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """UAS, LAS and the whole UD evaluation of CoNLL-U files."""

def events(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    parents: _File | None = ...,
    hierarchy: Literal["ancestor", "descendant", "levels", "supertypes"] | None = ...,
    informativity: str | None = ...,
    heads: _File | None = ...,
    input: Literal["JSON", "brat", "dygie", "conll-2012", "props"] | None = ...,
    coreference: _File | None = ...,
    strip_articles: bool = ...,
    ontology: _File | None = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Triggers and arguments as TextEE, gen-arg and RAMS count them, and as eq. 15 and 16 do."""

def hierarchies(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    kinds: _Texts = ...,
    transitive: bool = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Event hierarchies: MUC_p, BLANC_p, STM_p over Newick, JSONL or brat files."""

def nary(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    parents: _File | None = ...,
    hierarchy: Literal["ancestor", "descendant", "levels", "supertypes"] | None = ...,
    ner: _File | None = ...,
    clusters: _File | None = ...,
    roles: _Texts = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Relations of any number of entities: eq. 29 to 31, and as SciREX computes them."""

def records(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    type: Any = ...,
    schema: Any = ...,
    choices: Any = ...,
    metric: Any = ...,
    credit: Literal["each", "all"] = ...,
    equality: Literal["equal", "exact"] = ...,
    nothing: Any = ...,
    id: str | None = ...,
    reference_id: str | None = ...,
    from_: str | None = ...,
    reference_from: str | None = ...,
    unknown: Literal["count", "ignore"] = ...,
    confidence: str | None = ...,
    missing: Literal["error", "empty"] = ...,
    lenient: bool = ...,
    time_limit: float | None = ...,
    allow_code: bool = ...,
) -> Results:
    """Any records of your own: two JSONL or Parquet files, and a type or a schema if you have one."""

def relations(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    parents: _File | None = ...,
    hierarchy: Literal["ancestor", "descendant", "levels", "supertypes"] | None = ...,
    informativity: str | None = ...,
    heads: _File | None = ...,
    input: Literal["JSON", "brat", "DocRED", "dygie", "doccano", "prodigy", "label-studio"] | None = ...,
    symmetric: _Texts = ...,
    confidence: str | None = ...,
    missing: Literal["error", "empty"] = ...,
    train: _Texts = ...,
) -> Results:
    """Binary relations strict, relaxed, by boundaries and by head, side by side; DocRED facts."""

def roles(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    parents: _File | None = ...,
    hierarchy: Literal["ancestor", "descendant", "levels", "supertypes"] | None = ...,
    informativity: str | None = ...,
    strings: Literal["gtt", "grit", "unicode", "exact"] = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Role-filler entities: CEAF-REE, CEAF-RME and softer ones, as the equations and as grit have them."""

def spans(
    reference: object,
    predicted: object = None,
    metrics: _Texts = (),
    *,
    together: bool = ...,
    average: Literal["micro", "macro", "weighted"] | None = ...,
    tags: _Texts = ...,
    supertags: _Texts = ...,
    ignore_types: bool = ...,
    separators: float = ...,
    beta: float = ...,
    partner: Literal["any", "one-to-one"] | None = ...,
    k1: int | None = ...,
    k2: int | None = ...,
    iou: float = ...,
    distinct: bool = ...,
    input: Literal["columns", "jsonl", "brat", "conllu", "hipe", "huggingface", "doccano", "prodigy", "label-studio", "label-studio-min", "gliner", "gliner-data", "dygie", "spert", "spacy"] | None = ...,
    scheme: Literal["IO", "IOB1", "IOB2", "BIO", "IOE1", "IOE2", "IOBES", "BIOES", "BILOU"] = ...,
    strict: bool = ...,
    reference_column: int | None = ...,
    predicted_column: int = ...,
    token_column: int = ...,
    weight_column: int | None = ...,
    separator: str | None = ...,
    comment: str | None = ...,
    delimiter: str = ...,
    suffix: bool = ...,
    layers: int = ...,
    tag_names: _File | None = ...,
    ignore_tokens: bool = ...,
    misc: str = ...,
    offsets: Literal["characters", "tokens"] = ...,
    tokenizer: Literal["words", "blanks", "characters"] = ...,
    boundaries: Literal["error", "expand", "contract"] = ...,
    spans_field: str | None = ...,
    confidence: str | None = ...,
    missing: Literal["error", "empty"] = ...,
    unit: Literal["auto", "document", "sentence", "group"] = ...,
) -> Results:
    """Segments, tokens and separators, overlap, IoU, nervaluate's schemes over IOB, JSONL, Parquet, brat, CoNLL-U or HIPE files."""

def templates(
    reference: object,
    predicted: object,
    metrics: _Texts = (),
    *,
    preset: Literal["du", "gtt", "chen", "iterx", "iterx-quirks", "better", "muc4-official"] | None = ...,
    fillers: str | None = ...,
    strings: Literal["gtt", "grit", "unicode", "exact"] = ...,
    judgements: _File | None = ...,
    judge: Any = ...,
    mapping: Literal["greedy", "recorded"] = ...,
    allow_code: bool = ...,
    missing: Literal["error", "empty"] = ...,
) -> Results:
    """Eq. 32, gtt's and IterX's scorers, BETTER, and the official MUC-4 report."""

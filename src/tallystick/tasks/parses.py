"""Dependency parses of documents whose tokens are known: from CoNLL-U, or from a spaCy pipeline.

In a CoNLL-U file each document begins with `# newdoc id = NAME` (one document needs none). Its words must spell the document,
white space aside; they may be cut differently, and each then covers the tokens that it shares characters with.

    tokens   U  .  S  .  forces            words   U.S.  forces
                                           covers  (0,3) (4,4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.errors import InputError, Place, TallystickError, did_you_mean, some
from tallystick.files.conllu import SPACES
from tallystick.files.json_values import read_json
from tallystick.files.pairing import Paired, names_of, require_as_many
from tallystick.files.source import AnySource
from tallystick.frozen import frozen
from tallystick.structures.texts import ArgumentDocument, Parse
from tallystick.tasks.dependencies.files import Treebank, read_conllu

SPACY = "spacy:"


Pairs = Paired[ArgumentDocument]


def with_parses(systems: Mapping[str, Pairs], source: AnySource) -> dict[str, Pairs]:
    """The reference's documents with their parses, the same for all systems: from a CoNLL-U file, or by `spacy:PIPELINE`."""
    documents = {name: one for pairs in systems.values() for name, one in zip(pairs.ids, pairs.reference, strict=True)}
    without = [name for name, one in documents.items() if one.arguments and not one.tokens]
    if without:
        raise InputError(
            f"a parse needs the tokens of the documents, which {some(without)} do not have; the reference may have "
            "'tokens', or --tokens FILE names a file that has them"
        )
    if str(source).startswith(SPACY):
        parses = parse_with_spacy(str(source).removeprefix(SPACY), documents)
    else:
        parses = read_parses(source, documents)
    return {
        system: replace(
            pairs,
            reference=tuple(
                replace(one, parse=parses.get(name)) for name, one in zip(pairs.ids, pairs.reference, strict=True)
            ),
        )
        for system, pairs in systems.items()
    }


def read_parses(name: AnySource, documents: Mapping[str, ArgumentDocument]) -> dict[str, Parse]:
    """The parse of each document, from CoNLL-U."""
    bank = read_conllu(name, several_roots=True)
    begins = sorted(bank.documents().items())
    count = len(bank.sentence_words) - 1
    if not begins and len(documents) == 1:
        begins = [(0, next(iter(documents)))]
    if not begins or begins[0][0] != 0:
        raise InputError(
            "expected `# newdoc id = NAME` before the first sentence of each document", Place(bank.name, 1)
        )
    out: dict[str, Parse] = {}
    ends = [sentence for sentence, _ in begins[1:]] + [count]
    for (first, key), last in zip(begins, ends, strict=True):
        if first >= count:
            raise InputError(f"the document {key!r} has no sentences", bank.name)
        place = Place(bank.name, int(bank.sentence_line[first]))
        if key in out:
            raise InputError(f"the document {key!r} begins here for the second time", place)
        if key in documents:
            out[key] = _aligned(bank, first, last, key, documents[key].tokens)
    missing = [key for key, one in documents.items() if one.arguments and key not in out]
    if missing:
        raise InputError(
            f"has no parse of {len(missing):,} documents: {some(missing)}.{did_you_mean(missing[0], (key for _, key in begins))}",
            bank.name,
        )
    return out


def _aligned(bank: Treebank, first: int, last: int, key: str, tokens: Sequence[str]) -> Parse:
    """The words of sentences first to last (exclusive), laid over the tokens by their characters."""
    low, high = int(bank.sentence_words[first]), int(bank.sentence_words[last])
    token_of = bank.word_token[low:high]
    begin, end = bank.token_start[token_of], bank.token_end[token_of]
    start = int(begin[0])  # a document has at least one sentence, and that at least one word
    spelt = [token.translate(SPACES) for token in tokens]
    ends = np.array([0, *accumulate(map(len, spelt))])[1:]
    text, parsed = "".join(spelt), bank.text[start : int(end[-1])]
    if text != parsed:
        unlike = (k for k, (a, b) in enumerate(zip(text, parsed, strict=False)) if a != b)
        at = next(unlike, min(len(text), len(parsed)))
        token = int(np.searchsorted(ends, at, side="right"))
        found = f"there are only {len(tokens):,} tokens"
        if token < len(tokens):
            at, found = int(ends[token]) - len(spelt[token]), f"token {token} is {tokens[token]!r}"
        word = low + min(int(np.searchsorted(end, start + at, side="right")), high - low - 1)
        raise InputError(
            f"the parse of {key!r} does not spell the document: here is {bank.form[word]!r}, where {found}",
            Place(bank.name, int(bank.word_line[word])),
        )
    covers = zip(
        np.searchsorted(ends, begin - start, side="right").tolist(),
        np.searchsorted(ends, end - start, side="left").tolist(),
        strict=True,
    )
    heads = bank.head[low:high]
    return Parse(
        tuple(int(head) - low if head >= 0 else -1 for head in heads.tolist()),
        tuple(bank.deprel[k] for k in range(low, high)),
        tuple((a, b) for a, b in covers),
        Path(bank.name).name,
    )


def parse_with_spacy(pipeline: str, documents: Mapping[str, ArgumentDocument]) -> dict[str, Parse]:
    """The parse of each document by a pipeline that is installed; sentence by sentence where these are known."""
    try:
        import spacy
        from spacy.tokens import Doc
    except ImportError:
        raise TallystickError("--parses spacy:PIPELINE needs spaCy: pip install tallystick[spacy]") from None
    library: Any = spacy  # which types only a part of itself
    language: Any = _load(library, pipeline)
    if "parser" not in language.pipe_names:
        raise TallystickError(
            f"the pipeline {pipeline!r} has no parser; it has {', '.join(language.pipe_names) or 'nothing'}"
        )
    source = f"spaCy {library.__version__} {language.meta['lang']}_{language.meta['name']} {language.meta['version']}"
    out = {}
    for name, document in documents.items():
        heads: list[int] = []
        labels: list[str] = []
        for first, last in sentence_bounds(document):
            parsed: Any = Doc(language.vocab, words=list(document.tokens[first:last]))
            for _, step in language.pipeline:
                parsed = step(parsed)
            heads += [-1 if word.head.i == word.i else first + word.head.i for word in parsed]
            labels += [word.dep_ for word in parsed]
        out[name] = Parse.of_tokens(heads, labels, source)
    return out


def _load(spacy: Any, pipeline: str) -> Any:
    """A pipeline by its name or folder; a package may carry another name than the pipeline inside it."""
    try:
        return spacy.load(pipeline)
    except OSError:
        try:
            found = import_module(pipeline) if pipeline.isidentifier() else None
        except ImportError:
            found = None
        if found is None or not hasattr(found, "load"):
            raise TallystickError(
                f"spaCy has no pipeline {pipeline!r} here; install one (python -m spacy download {pipeline}), or name a folder"
            ) from None
        return found.load()


def sentence_bounds(document: ArgumentDocument) -> list[tuple[int, int]]:
    """The first token and the one after the last of each sentence; the whole document where sentences are not known."""
    numbers = document.sentences
    if len(numbers) != len(document.tokens):
        return [(0, len(document.tokens))] if document.tokens else []
    cuts = [0, *(k for k in range(1, len(numbers)) if numbers[k] != numbers[k - 1]), len(numbers)]
    return [(a, b) for a, b in pairwise(cuts) if a < b]


# Heads of spans: from a parse of the tokens, or by a rule of thumb.
#
# A file of heads has a line for each document: `{"id": "d1", "heads": [1, 1, 4, ...], "parser": "spaCy 3.7 en_core_web_sm"}`,
# where heads[k] is the token that token k depends on; a root is its own head, or -1. The head of a span is reached
# from its first token by going up as long as that stays inside.

RULES = ("last", "first")


@frozen
class Heads:
    """Where heads come from: a rule, or the parses of documents by name."""

    source: str
    rule: str = ""
    parses: dict[str, tuple[int, ...]] = field(default_factory=dict)
    named: bool = True
    """Whether the file says which documents they are of; else they are in the order of these."""

    def over(self, ids: Sequence[str]) -> Heads:
        """The heads of these documents, by their names."""
        if self.rule or self.named:
            return self
        require_as_many("the reference", len(ids), self.source, len(self.parses))
        return replace(self, parses=dict(zip(ids, self.parses.values(), strict=True)), named=True)

    def of(self, document: str, left: int, right: int) -> tuple[int, int]:
        """The head of a span, as a span of one token; an empty one has none, and is its own."""
        if right < left:
            return left, right
        if self.rule:
            word = right if self.rule == "last" else left
            return word, word
        if document not in self.parses:
            raise InputError(f"has no heads for the document {document!r}", self.source)
        heads = self.parses[document]
        if right >= len(heads):
            raise InputError(
                f"has {len(heads):,} heads for {document!r}, where a span ends at token {right:,}", self.source
            )
        word = head_word(heads, left, right)
        return word, word


def head_word(heads: Sequence[int], left: int, right: int) -> int:
    """Up from the first token, as long as it stays inside the span."""
    word = left
    for _ in range(right - left + 1):
        above = heads[word]
        if above == word or not left <= above <= right:
            break
        word = above
    return word


def read_heads(source: AnySource) -> Heads:
    """A rule by its name, or a file of heads."""
    if str(source) in RULES:
        return Heads(str(source), str(source))
    parses: dict[str, tuple[int, ...]] = {}
    parsers: dict[str, None] = {}
    documents = read_json(source)
    names, named = names_of(documents, "id", "doc_id", "doc_key")
    for name, document in zip(names, documents, strict=True):
        listed = document.at("heads")
        heads = tuple(-1 if one.value is None else one.whole() for one in listed.each())
        for k, head in enumerate(heads):
            if not -1 <= head < len(heads):
                raise listed.fail(f"[{k}] is {head}, outside the {len(heads):,} tokens")
        parses[name] = heads
        parser = document.get("parser")
        if parser is not None:
            parsers[parser.text()] = None
    return Heads(" + ".join(parsers) or str(source), "", parses, named)

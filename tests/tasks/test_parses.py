"""Parses laid over the tokens of documents: from CoNLL-U, and from a spaCy pipeline (here a made-up one)."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from tallystick.errors import InputError, TallystickError
from tallystick.files.pairing import Paired
from tallystick.structures.texts import ArgumentDocument, EventArgument, Parse
from tallystick.tasks.parses import read_parses, sentence_bounds, with_parses


def conllu(folder, *documents):
    lines = []
    for name, rows in documents:
        if name:
            lines.append(f"# newdoc id = {name}")
        lines += [
            "\t".join((str(k), form, *"____", str(head), label, "_", "_"))
            for k, (form, head, label) in enumerate(rows, 1)
        ]
        lines.append("")
    path = folder / "parses.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def document(text):
    return ArgumentDocument((EventArgument("e", "r", "x", (0, 0)),), tokens=tuple(text.split()))


ROWS = [("US", 2, "compound"), ("forces", 0, "root"), ("left", 2, "dep")]


def test_documents_by_name(tmp_path):
    path = conllu(tmp_path, ("b", [("x", 0, "root")]), ("a", ROWS), ("other", [("z", 0, "root")]))
    found = read_parses(path, {"a": document("US forces left"), "b": document("x")})
    assert found["a"] == Parse.of_tokens([1, -1, 1], ["compound", "root", "dep"], "parses.conllu")
    assert set(found) == {"a", "b"}


def test_one_document_needs_no_name(tmp_path):
    assert read_parses(conllu(tmp_path, ("", ROWS)), {"a": document("US forces left")})["a"].heads == (1, -1, 1)


def test_words_that_are_cut_otherwise(tmp_path):
    path = conllu(tmp_path, ("a", [("U.S.", 2, "amod"), ("forces", 0, "root"), ("'", 4, "punct"), ("s", 2, "dep")]))
    found = read_parses(path, {"a": document("U . S . forces 's")})["a"]
    assert found.covers == ((0, 3), (4, 4), (5, 5), (5, 5))
    assert [found.word_of(k) for k in (0, 4, 5)] == [None, 1, 3]
    assert found.subtree(1) == frozenset(range(6))


@pytest.mark.parametrize(
    ("documents", "text", "says"),
    [
        ([("a", ROWS)], "US troops left", "parses.conllu:3: the parse of 'a' does not spell the document: here is 'forces', where token 1 is 'troops'"),
        ([("a", ROWS)], "US forces left Homs", "where token 3 is 'Homs'"),
        ([("a", ROWS)], "US forces", "here is 'left', where there are only 2 tokens"),
        ([("b", ROWS)], "US forces left", 'has no parse of 1 documents: "a"'),
        ([("a", ROWS), ("a", ROWS)], "US forces left", "parses.conllu:7: the document 'a' begins here for the second time"),
    ],
)  # fmt: skip
def test_parses_that_do_not_fit(tmp_path, documents, text, says):
    with pytest.raises(InputError) as error:
        read_parses(conllu(tmp_path, *documents), {"a": document(text)})
    assert says in str(error.value)


def test_several_documents_need_names(tmp_path):
    with pytest.raises(InputError, match="expected `# newdoc id = NAME`"):
        read_parses(conllu(tmp_path, ("", ROWS)), {"a": document("US"), "b": document("US")})


def pairs(one):
    return {"system": Paired(("a",), (one,), (ArgumentDocument(),))}


def test_documents_without_tokens_cannot_be_parsed(tmp_path):
    bare = ArgumentDocument((EventArgument("e", "r", "x"),))
    with pytest.raises(InputError, match=r'which "a" do not have.*--tokens FILE'):
        with_parses(pairs(bare), conllu(tmp_path, ("a", ROWS)))


# spaCy


@pytest.fixture
def spacy(monkeypatch):
    """A spaCy with one pipeline, whose parser hangs every word on the first of its sentence as an amod."""

    class Doc(list):
        def __init__(self, vocab, words):
            super().__init__(SimpleNamespace(i=k, text=word) for k, word in enumerate(words))

    def parser(doc):
        for word in doc:
            word.head, word.dep_ = doc[0], "ROOT" if word.i == 0 else "amod"
        return doc

    language = SimpleNamespace(
        vocab=None, pipe_names=["parser"], pipeline=[("parser", parser)], meta={"lang": "en", "name": "small", "version": "1.2"}
    )  # fmt: skip

    def load(name):
        if name not in ("en_small", "empty"):
            raise OSError(name)
        return language if name == "en_small" else SimpleNamespace(pipe_names=["ner"])

    module, tokens = ModuleType("spacy"), ModuleType("spacy.tokens")
    module.load, module.__version__, tokens.Doc = load, "9.9", Doc
    monkeypatch.setitem(sys.modules, "spacy", module)
    monkeypatch.setitem(sys.modules, "spacy.tokens", tokens)


@pytest.mark.usefixtures("spacy")
def test_a_pipeline_parses_sentence_by_sentence():
    one = ArgumentDocument((EventArgument("e", "r", "x"),), tokens=("a", "b", "c", "d"), sentences=(0, 0, 1, 1))
    assert sentence_bounds(one) == [(0, 2), (2, 4)]
    parse = with_parses(pairs(one), "spacy:en_small")["system"].reference[0].parse
    assert parse == Parse.of_tokens([-1, 0, -1, 2], ["ROOT", "amod", "ROOT", "amod"], "spaCy 9.9 en_small 1.2")
    whole = ArgumentDocument(one.arguments, tokens=one.tokens)
    assert with_parses(pairs(whole), "spacy:en_small")["system"].reference[0].parse.heads == (-1, 0, 0, 0)


@pytest.mark.usefixtures("spacy")
def test_a_pipeline_that_is_not_there_or_has_no_parser():
    with pytest.raises(TallystickError, match="spaCy has no pipeline 'en_large' here; install one"):
        with_parses(pairs(document("x")), "spacy:en_large")
    with pytest.raises(TallystickError, match="the pipeline 'empty' has no parser; it has ner"):
        with_parses(pairs(document("x")), "spacy:empty")


def test_without_spacy(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(TallystickError, match=r"pip install tallystick\[spacy\]"):
        with_parses(pairs(document("x")), "spacy:en_small")

"""Two sides laid together: which documents, which tokens, which mentions are the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from running import run
from tallystick.errors import InputError, SidesMismatch
from tallystick.tasks.coreference.chains import Chains, PairedChains, chains_from_clusters, document_key, pair
from tallystick.tasks.coreference.files import read_chains


def conll(tmp_path: Path, name: str, *documents: tuple[str, list[str]]) -> Chains:
    path = tmp_path / name
    text = ""
    for header, cells in documents:
        text += f"#begin document {header}\n" + "".join(f"w\t{cell}\n" for cell in cells) + "\n#end document\n"
    path.write_text(text)
    return read_chains(path)


def common(paired: PairedChains) -> set[tuple[str, object]]:
    """The mentions on both sides, by way of the codes."""
    key = {
        (d, c): (paired.documents[d], paired.key.label(row))
        for row, (d, c) in enumerate(zip(paired.key.document.tolist(), paired.key_mention.tolist(), strict=True))
    }
    response = set(zip(paired.response.document.tolist(), paired.response_mention.tolist(), strict=True))
    return {label for identity, label in key.items() if identity in response}


def test_documents_in_another_order(tmp_path: Path) -> None:
    key = conll(tmp_path, "key", ("(a); part 000", ["(0)", "(0)"]), ("(b)", ["-", "(1", "1)"]))
    response = conll(tmp_path, "response", ("(b);", ["(0)", "(7", "7)"]), ("(a); part 0", ["(3)", "-"]))
    paired = pair(key, response)
    assert paired.documents == ["(a); part 000", "(b)"]
    assert paired.response.document.tolist() == [0, 1, 1]
    assert paired.response.entity_names == ["3", "0", "7"]
    assert paired.response.entity.tolist() == [0, 1, 2]
    assert paired.response.tokens.tolist() == [2, 3]
    assert common(paired) == {("(a); part 000", (0, 0)), ("(b)", (1, 2))}
    assert paired.warnings == []


def test_names_of_documents() -> None:
    assert document_key("(a/b); part 003") == document_key("(a/b);part 3") == "a/b; part 3"
    assert document_key("(metadoc);") == document_key("metadoc") == "metadoc"
    assert document_key("counterpart 3") == "counterpart 3"


def test_documents_on_one_side_only(tmp_path: Path) -> None:
    key = conll(tmp_path, "key", ("(a)", ["(0)"]), ("(b)", ["(0)"]))
    response = conll(tmp_path, "response", ("(c)", ["(0)", "(0)"]), ("(b)", ["(0)"]))
    with pytest.raises(SidesMismatch) as caught:
        pair(key, response)
    assert caught.value.exit_code == 3
    assert '1 only in the reference: "(a)"; 1 only in the prediction: "(c)"' in str(caught.value)
    paired = pair(key, response, lenient=True)
    assert paired.documents == ["(a)", "(b)"]
    assert paired.response.document.tolist() == [1]
    assert paired.response.entities == 1
    missed, ignored = paired.warnings
    assert missed.endswith('1 document only in the key: "(a)"; counted as missed')
    assert ignored.endswith('1 document only in the response: "(c)"; ignored')


def test_different_numbers_of_tokens(tmp_path: Path) -> None:
    key = conll(tmp_path, "key", ("(a)", ["(0)"]), ("(b)", ["(0)", "-"]))
    response = conll(tmp_path, "response", ("(a)", ["(0)"]), ("(b)", ["(0)", "-", "(0)"]))
    with pytest.raises(SidesMismatch, match=r'document "\(b\)" has 2 tokens in the key .*key and 3 in the response'):
        pair(key, response)
    (warning,) = pair(key, response, lenient=True).warnings
    assert "has 2 tokens" in warning


def test_a_document_twice_in_one_file(tmp_path: Path) -> None:
    key = conll(tmp_path, "key", ("(a)", ["(0)"]), ("(a)", ["-", "(1)"]))
    response = conll(tmp_path, "response", ("(a)", ["-", "(0)"]))
    with pytest.raises(
        InputError, match=r"key:5: the document '\(a\)' is already used in line 1; names must be unique"
    ):
        pair(key, response)
    paired = pair(key, response, lenient=True)
    assert common(paired) == {("(a)", (1, 1))}
    assert paired.key.entity_names == ["1"]
    assert "1 document ignored" in paired.warnings[0]


def test_a_column_file_against_json_lines(tmp_path: Path) -> None:
    key = conll(tmp_path, "key", ("(bc/x); part 002", ["(0", "0)", "(0)"]))
    path = tmp_path / "response.jsonl"
    path.write_text('{"doc_key": "bc/x_2", "predicted_clusters": [[[0, 1], [1, 1]]]}\n')
    assert common(pair(key, read_chains(path))) == {("(bc/x); part 002", (0, 1))}


def test_a_file_against_python_clusters(tmp_path: Path) -> None:
    key = conll(tmp_path, "key", ("a", ["(0", "0)", "(0)"]))
    paired = pair(key, chains_from_clusters({"a": [[(0, 1)], [(2, 3), "x"]]}))
    assert common(paired) == {("a", (0, 1))}


def test_discontinuous_mentions_have_codes_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "side.jsonl"
    path.write_text('{"id": "a", "clusters": [[[0, 2]], [[[0, 0], [2, 2]]]]}\n')
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "a", "clusters": [[[[0, 0], [2, 2]]], [[[0, 0], [2, 3]]]]}\n')
    paired = pair(read_chains(path), read_chains(other))
    assert common(paired) == {("a", ((0, 0), (2, 2)))}
    assert max(paired.key_mention.max(), paired.response_mention.max()) < paired.codes


SPAN = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda ends: (min(ends), max(ends)))
SIDE = st.dictionaries(st.sampled_from("abcd"), st.lists(st.lists(SPAN, max_size=3), max_size=3), max_size=4)


@given(key=SIDE, response=SIDE)
def test_codes_say_which_mentions_are_common(key: dict[str, list[list[object]]], response: object) -> None:
    assert isinstance(response, dict)
    paired = pair(chains_from_clusters(key), chains_from_clusters(response), lenient=True)
    expected = {
        (name, mention)
        for name in key
        for mention in {m for c in key[name] for m in c} & {m for c in response.get(name, []) for m in c}
    }
    assert common(paired) == expected
    kept = [(name, list(c)) for name in key for c in response.get(name, []) if c]
    assert paired.response.entities == len(kept)
    assert np.all(np.diff(paired.response.document) >= 0)
    assert np.bincount(paired.response.entity, minlength=len(kept)).tolist() == [len(c) for _, c in kept]


@pytest.mark.parametrize("task", ["relations", "events"])
def test_other_tokens_on_the_other_side_are_said(task, tmp_path):
    """Offsets count tokens, so that two ways to cut a text into tokens make two kinds of offsets."""
    span = {"start": 0, "end": 1}
    layer = {
        "relations": [{"type": "r", "subj": span, "obj": span}],
        "events": [{"type": "a", "trigger": span, "arguments": []}],
    }[task]
    for name, words in (("gold", ["can", "not", "go"]), ("system", ["cannot", "go"])):
        lines = [{"id": "a", "tokens": ["x", "y"], task: layer}, {"id": "b", "tokens": words, task: layer}]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = run("score", task, "gold.jsonl", "system.jsonl", cwd=tmp_path)
    assert (
        "system.jsonl: 1 document has other tokens than in gold.jsonl, the first b; the offsets of both count"
        in done.stderr
    )
    assert "tokens" not in run("score", task, "gold.jsonl", "gold.jsonl", cwd=tmp_path).stderr

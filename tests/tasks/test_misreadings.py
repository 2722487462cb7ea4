"""Calls that could be meant in two ways are not decided in silence: each is an error, or a warning, that names both readings."""

from __future__ import annotations

from typing import TypedDict

import pytest

import tallystick as ts
from tallystick.errors import InputError, SidesMismatch, ValueMismatch
from tallystick.tasks.coreference.metrics import evaluate as evaluate_coreference


class Invoice(TypedDict):
    """A record."""

    vendor: str
    tags: list[str]


GOLD = "Ann B-PER\nsaw O\nOslo B-LOC\n"
SYSTEM = "Ann B-PER\nsaw O\nOslo O\n"
BOTH = "Ann B-PER B-PER\nsaw O O\nOslo B-LOC O\n"
LAYERS = "Ann B-PER O\nsaw O O\nOslo B-LOC O\n"
CHUNKS = "Ann NNP B-NP B-PER\nsaw VBD B-VP O\nOslo NNP B-NP B-LOC\n"


def test_clusters_given_where_documents_are_expected():
    clusters = [[(0, 1), (3, 4)], [(6, 7), (9, 9)]]
    with pytest.raises(ValueMismatch, match="one document was given where documents are expected"):
        evaluate_coreference(clusters, clusters)
    assert evaluate_coreference([clusters], [clusters])["conll"].f1 == 1
    assert evaluate_coreference([[{0, 1}, {2, 3}]], [[{0, 1}, {2, 3}]])["conll"].f1 == 1  # a set is no span
    assert ts.coreference([[(0, 1), (3, 4)]], [[(0, 1), (3, 4)]])["conll"].count == 1


def test_a_reference_that_holds_both_columns_is_not_read_for_its_last():
    with pytest.raises(
        InputError, match=r"gold and predicted tags .*together=True.*, or two layers .*reference_column=-1 or -2"
    ):
        ts.spans(BOTH, SYSTEM)
    assert ts.spans(BOTH, SYSTEM, "segment", reference_column=-2)["segment"].recall == 0.5
    assert ts.spans(BOTH, SYSTEM, "segment", reference_column=2)["segment"].recall == 1
    assert ts.spans(BOTH, together=True, metrics="segment")["segment"].recall == 0.5
    assert (
        ts.spans(GOLD, BOTH, "segment")["segment"].recall == 0.5
    )  # of a system's file the last column is what it predicts


def test_chunks_beside_entities_are_no_second_reading():
    assert ts.spans(CHUNKS, CHUNKS, "segment")["segment"].f1 == 1


def test_a_last_layer_of_nothing_but_o():
    with pytest.raises(InputError, match="only O, and the one before it tags of"):
        ts.spans(LAYERS, LAYERS)
    assert ts.spans(LAYERS, LAYERS, "segment", reference_column=1, predicted_column=1)["segment"].f1 == 1
    nothing = ts.spans(GOLD, LAYERS, "segment")["segment"]
    assert nothing.recall == 0
    assert any("predicted_column=-2 reads that one" in warning for warning in nothing.warnings)


def test_a_document_given_where_documents_are_expected():
    one = {"vendor": "A", "tags": ["x"]}
    with pytest.raises(
        SidesMismatch, match=r"keys .* are the fields of the metric; .*give \[reference\] and \[predicted\]"
    ):
        ts.evaluate(ts.derive(Invoice), one, one)
    assert ts.evaluate(ts.derive(Invoice), [one], [one]).f1 == 1
    assert ts.evaluate(ts.derive(Invoice), {"d1": one}, {"d1": one}).f1 == 1
    assert ts.evaluate(ts.derive(Invoice), {"vendor": one}, {"vendor": one}).f1 == 1  # a document of that name
    with pytest.raises(ValueMismatch, match=r"were read as 2 documents by id, .*for one document, give \[reference\]"):
        ts.evaluate(ts.f1(ts.match(ts.exact)), {"a": 1, "b": 2}, {"a": 1, "b": 2})


def test_gold_beside_predicted_in_one_record_is_not_read_as_the_prediction():
    entity = {"Task": [[0, 1]]}
    both = {"doc_id": "d", "coref": entity, "n_ary_relations": [{"Task": "Task"}], "predicted_relations": []}
    with pytest.raises(InputError, match="which of them is meant"):
        ts.nary([both], [both])
    with pytest.raises(InputError, match="which of them is meant"):
        ts.roles('{"id": "d", "extracts": {}}\n', '{"id": "d", "extracts": {}, "pred_extracts": {}}\n')
    gold = '{"doc_key": "d", "evt_triggers": [[1, 1, [["t", 1]]]], "gold_evt_links": []}\n'
    with pytest.raises(InputError, match="a prediction has the latter alone"):
        ts.events(gold, gold.replace("}\n", ', "predictions": []}\n'))
    with pytest.raises(ValueMismatch, match="under one of them"):
        ts.templates([{"templates": [], "pred_templates": []}], [{"templates": []}])

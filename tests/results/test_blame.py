"""An error about a value names the document that has it."""

import json

import pytest

import tallystick as ts
from tallystick.errors import ValueMismatch
from tallystick.tasks.records.score import score_files

METRIC = ts.f1(ts.each(lines=ts.match(ts.each(price=ts.number(0.1)))))


def documents(n, bad):
    return {f"d{k}": {"lines": [{"price": 1.0}, {"price": "x" if k in bad else 2.0}]} for k in range(n)}


@pytest.mark.parametrize("bad", [0, 3, 4999])
def test_the_first_document_that_has_it(bad):
    gold = documents(5000, {bad, 4999})
    with pytest.raises(
        ValueMismatch, match=rf"^document d{bad}: at lines\[\*\]\.price: expected a number, found str 'x'"
    ):
        ts.evaluate(METRIC, gold, documents(5000, ()))
    result = ts.evaluate(METRIC, list(documents(5000, ()).values()), list(gold.values()))
    assert f"the first: document {bad}: lines[*].price: 'x'" in result.notes[0]
    assert result.exact_documents == 5000 - len({bad, 4999})


def test_lists_and_mappings_in_different_documents_are_no_error():
    metric, documents = ts.f1(ts.match(ts.exact)), [{"a": 1}, ["b"]]
    assert ts.evaluate(metric, documents, documents).f1 == ts.evaluate(metric, documents, documents, batch=1).f1 == 1
    assert ts.evaluate(metric, documents, documents[::-1]).f1 == 0


def test_columns_too():
    pa = pytest.importorskip("pyarrow")
    rows = [{"a": "2026-01-01"}, {"a": "soon"}, {"a": "2026-01-03"}]
    with pytest.raises(ValueMismatch, match=r"^document 1: at a: expected a date such as"):
        ts.evaluate(ts.f1(ts.each(a=ts.date())), pa.Table.from_pylist(rows), pa.Table.from_pylist(rows))


def test_from_files(tmp_path):
    rows = [{"id": f"d{k}", "when": "2026-01-01" if k != 70 else "soon"} for k in range(100)]
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        ValueMismatch, match=r"^document d70: at when: expected a date such as 2024-05-31, found 'soon'"
    ):
        score_files(file, file, choices={"when": "date"})


def test_a_batch_of_one_document_names_it():
    gold = list(documents(4, {2}).values())
    for batch in (1, 2, 3):
        with pytest.raises(ValueMismatch, match=r"^document 2: at lines\[\*\]\.price: expected a number"):
            ts.evaluate(METRIC, gold, list(documents(4, ()).values()), batch=batch)


def test_a_document_of_its_own_is_named_if_it_has_a_name_or_came_after_others():
    bad, fine = list(documents(2, {0}).values())
    run = ts.Evaluation(METRIC)
    with pytest.raises(ValueMismatch, match=r"^at lines"):  # there is only one
        run.update([bad], [fine])
    with pytest.raises(ValueMismatch, match=r"^document x: at lines"):
        run.update([bad], [fine], ids=["x"])
    run.update([fine, fine], [fine, fine])
    with pytest.raises(ValueMismatch, match=r"^document 2: at lines"):
        run.update([bad], [fine])
    with pytest.raises(ValueMismatch, match=r"^document 3: at lines"):
        run.update([fine, bad], [fine, fine])


def test_workers_name_the_document_of_the_corpus():
    from concurrent.futures import ThreadPoolExecutor

    gold, system = (list(documents(50, bad).values()) for bad in ({37}, ()))
    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueMismatch, match=r"^document 37: at lines"):
        ts.evaluate(METRIC, gold, system, batch=1, executor=pool)

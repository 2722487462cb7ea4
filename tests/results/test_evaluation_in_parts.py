"""Updates and merges: what fails leaves nothing behind, ids stay apart, breakdowns are of what was asked for."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

import tallystick as ts
from tallystick.errors import MetricError, SidesMismatch, TallystickError, ValueMismatch
from tallystick.results.accounts import Account, LabelSums
from tallystick.results.selection import mean_over_documents, without

METRIC = ts.f1(ts.match(ts.record(type=ts.exact, kind=ts.exact, size=ts.optional(ts.number(0.1)))))


def item(type_="a", kind="x", size=1.0):
    return {"type": type_, "kind": kind, "size": size}


def everything(run):
    """All that a result tells."""
    result = run.compute()
    tables = [result.by_field()] if run._of._taken.fields is not None or run._of._taken.documents is not None else []
    if run._of._taken.labels is not None:
        tables.append(result.by_label(run._of._taken.labels.path))
    if result.kept:
        tables += [result.rows.tolist(), result.ids, result.invalid, result.documents, len(result.sources or ())]
    return result.as_dict(), result.count, result.warnings, result.signature, tables


KINDS = [
    {},
    {"fields": True, "labels": "type"},
    {"keep": False, "fields": True},
    {"rows": False, "fields": True, "labels": "[*].type"},
]


@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("there", [False, True])
def test_an_update_that_fails_leaves_nothing_behind(options, there):
    run = ts.Evaluation(METRIC, **options)
    run.update([[item(), item("b")]], [[item("b", size=3)]], ids=["d"])
    before = everything(run)
    with ThreadPoolExecutor(1) as pool:
        how = {"executor": pool} if there else {"batch": 1}
        with pytest.raises(ValueMismatch, match="document f: "):  # in its second batch
            run.update([[item()], [item(size="much")]], [[item("c")], []], ids=["e", "f"], **how)
        with pytest.raises(MetricError, match="executor"):
            run.update([[item()]], [[item()]], ids=["g"], executor="nobody")
        with pytest.raises(SidesMismatch, match='duplicate documents: "e"'):
            run.update([[item()], [item()]], [[], [item()]], ids=["e", "e"], **how)
        if run.totals is None:
            with pytest.raises(SidesMismatch, match='duplicate documents: "d"'):
                run.update([[item()], [item()]], [[], [item()]], ids=["c", "d"], **how)
    assert everything(run) == before
    run.update([[item()], [item()]], [[], [item()]], ids=["e", "f"])  # as if nothing had been
    whole = ts.Evaluation(METRIC, **options)
    whole.update([[item(), item("b")], [item()], [item()]], [[item("b", size=3)], [], [item()]], ids=["d", "e", "f"])
    after, expected = everything(run), everything(whole)
    assert after[:-1] == expected[:-1]
    assert after[-1][:-1] == expected[-1][:-1]  # in how many parts the documents are kept does not matter


def test_a_field_that_only_failed_documents_lack_is_not_missed():
    run = ts.Evaluation(ts.f1(ts.match(ts.each(a=ts.exact, b=ts.optional(ts.number())))))
    with pytest.raises(ValueMismatch):
        run.update([[{"a": 1}], [{"a": 1, "b": "x"}]], [[], []], batch=1)
    run.update([[{"a": 1, "b": 2}]], [[{"a": 1, "b": 2}]])
    assert run.compute().f1 == 1.0


def test_a_merge_that_fails_leaves_nothing_behind():
    one, two = (ts.Evaluation(METRIC, fields=True, labels="type") for _ in range(2))
    one.update([[item()]], [[item()]], ids=["d"])
    two.update([[item()], [item()]], [[item("b")], [item()]], ids=["c", "d"])
    before = everything(one)
    with pytest.raises(SidesMismatch, match='duplicate documents: "d"'):
        one.merge(two)
    assert everything(one) == before
    assert one.compute().f1 == 1.0


def test_no_two_documents_have_one_id():
    def run():
        made = ts.Evaluation(ts.f1(ts.match(ts.exact)))
        made.update([["a"], ["b"]], [["a"], ["b"]])  # 0 and 1
        return made

    with pytest.raises(SidesMismatch, match='duplicate documents: "1"'):
        run().update([["a"]], [["a"]], ids=[1])
    named = ts.Evaluation(ts.f1(ts.match(ts.exact)))
    named.update({1: ["a"]}, {1: ["a"]})
    with pytest.raises(SidesMismatch, match='duplicate documents: "1"'):  # it would be called by its place
        named.update([["a"]], [["a"]])
    with pytest.raises(SidesMismatch, match='duplicate documents: "1"'):
        named.merge(run())
    mixed = run()
    mixed.update([["a"], ["b"]], [["a"], ["b"]], ids=["x", None])
    mixed.merge(ts.Evaluation(mixed.metric))
    assert mixed.compute().ids == (0, 1, "x", 3)
    assert len(mixed.compute().documents) == len(mixed.compute().rows) == 4


# Figures by label


@dataclass
class Line:
    type: str
    kind: str


GOLD = {"1": [Line("a", "x"), Line("b", "x")], "2": [Line("c", "y")]}
SYSTEM = {"1": [Line("a", "x"), Line("b", "y")], "2": [Line("c", "y")]}


def labels(result, path):
    return {row.label: row.figures["f1"] for row in result.by_label(path)}


def test_the_labels_are_those_of_the_path_that_is_asked_for():
    run = ts.Evaluation(ts.derive(list[Line]), labels="type")
    run.update(GOLD, SYSTEM)
    result, plain = run.compute(), ts.evaluate(run.metric, GOLD, SYSTEM)
    for path in ("type", "kind", "[*].kind"):
        assert result.by_label(path) == plain.by_label(path)
    assert labels(result, "kind") == {"x": pytest.approx(2 / 3), "y": pytest.approx(2 / 3)}
    for found in (result, plain):
        with pytest.raises(TallystickError, match="nonsense"):
            found.by_label("nonsense")


@pytest.mark.parametrize("options", [{"keep": False}, {"rows": False}])
def test_labels_that_were_not_kept_are_not_made_up(options):
    run = ts.Evaluation(ts.derive(list[Line]), labels="type", **options)
    run.update(GOLD, SYSTEM)
    assert set(labels(run.compute(), "type")) == {"a", "b", "c"}
    with pytest.raises(MetricError, match="by 'type' were kept, and no documents: there are none by 'kind'"):
        run.compute().by_label("kind")


def test_without_some_documents_nothing_of_them_is_left():
    run = ts.Evaluation(ts.derive(list[Line]), labels="type", fields=True)
    run.update(GOLD, SYSTEM)
    rest = without(run.compute(), {"2"})
    assert set(labels(rest, "type")) == {"a", "b"}
    assert [row.support for row in rest.by_field()] == [2, 2]
    assert mean_over_documents(run.compute()).label_sums is None


def test_sums_of_different_labels_do_not_add():
    kind = ts.Evaluation(METRIC).kind
    one, two = (Account.nothing(kind), Account.nothing(kind))
    one.labels, two.labels = LabelSums("type"), LabelSums("kind")
    with pytest.raises(MetricError, match="by 'type' and by 'kind' cannot be added"):
        _ = one + two
    runs = [ts.Evaluation(METRIC, labels=path) for path in ("type", "kind")]
    for k, run in enumerate(runs):
        run.update([[item()]], [[item()]], ids=[k])
    runs[0].merge(runs[1])
    assert set(labels(runs[0].compute(), "kind")) == {"x"}  # counted anew, from the documents

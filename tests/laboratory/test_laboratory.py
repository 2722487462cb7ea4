"""The laboratory finds what is wrong, says nothing where nothing is, and shows small counterexamples."""

from dataclasses import dataclass
from importlib.resources import files
from random import Random

import pytest

import strangers
import tallystick as ts
from tallystick.errors import DerivationError, MetricError
from tallystick.laboratory import check, derived, expression, function, named
from tallystick.laboratory.curves import curve
from tallystick.laboratory.named import APART, TASKS, parents_of
from tallystick.laboratory.spaces import sampler_of
from tallystick.tasks.hierarchies.files import read_hierarchies
from tallystick.tasks.hierarchies.metrics import document_of


@dataclass(frozen=True)
class Tagged:
    tags: frozenset[str] | None


def findings(report):
    return {finding.name: finding.verdict for finding in report.findings}


def test_a_plain_f1_has_every_property():
    report = check(derived(list[int]))
    assert report.failures == ()
    assert report["P2"].detail.endswith("precision and recall change places")
    assert report["duplicates"].detail == "a piece predicted twice costs"
    assert check(function(strangers.correct, list[int]), samples=10).failures == ()


FAULTS = [
    (strangers.recall_of_what_was_matched, list[str], "P and R", "recall is 1, and something is missing"),
    (strangers.empties_contradict, list[str], "empties", "f1 = 0, overall_score = 1"),
    (strangers.threshold_after_assignment, list[str], "optimum", "although each item alone scores 1"),
    (strangers.by_position, list[str], "order", "in another order"),
    (strangers.greedy, list[str], "order", "in another order"),
    (strangers.duplicates_lost, list[int], "duplicates", "against itself"),
    (strangers.values_ignored, dict[str, int], "only equals", "they differ, and score 1"),
    (strangers.tuples_as_sets, tuple[str, ...], "only equals", "they differ, and score 1"),
    (strangers.equality_for_optional, Tagged, "P4 monotone (a)", "from 0.0000 to 0.0000"),
    (strangers.weighted_by_ratio, list[dict[str, str]], "optimum", "when told the pairing by keys"),
    (strangers.raises_on_empty, list[int], "empties", "raises ZeroDivisionError"),
    (strangers.above_one, list[int], "range", "score = 2"),
]


@pytest.mark.parametrize(("score", "type_", "name", "text"), FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_faults_of_other_scorers_are_found(score, type_, name, text):
    samples = 150 if name == "optimum" else 15
    finding = check(function(score, type_), samples=samples, only=[name])[name]
    assert finding.fails
    assert text in finding.detail
    assert finding.counterexample
    assert len(repr(finding.counterexample)) < 400


def test_an_empty_document_has_to_be_neutral_in_a_corpus():
    report = check(function(strangers.empty_documents_are_hits, list[int], corpus=True), samples=5, only=["empty"])
    assert report["empty document"].fails
    assert not check(derived(list[int]), samples=5, only=["empty"])["empty document"].fails


def test_counterexamples_are_small():
    report = check(function(strangers.duplicates_lost, list[int]), samples=5, only=["dupl"])
    assert report["duplicates"].counterexample == (("reference", [0, 0]),)


def test_figure_4_is_judged_as_the_paper_judges_it():
    """MUC_p and BLANC_p hold P4 and P5; NSTM_p fails both in (a), and P5 in (b)."""
    read = read_hierarchies(str(files("tallystick.examples") / "table1.gold.newick"))
    gold = parents_of(document_of(read, 0), "subevent")
    reports = {
        name: check(named(f"hierarchies.{name}")[0], samples=2, structure=gold)
        for name in ("muc_p", "blanc_p", "nstm_p")
    }
    walks = ("P4 monotone (a)", "P4 monotone (b)", "P5 linear (a)", "P5 linear (b)")
    judged = {name: [report[walk].verdict for walk in walks] for name, report in reports.items()}
    assert judged == {
        "muc_p": ["holds"] * 4,
        "blanc_p": ["holds"] * 4,
        "nstm_p": ["fails", "holds", "fails", "fails"],
    }
    muc, stm = reports["muc_p"].curves, reports["nstm_p"].curves
    assert [len(one.steps) for one in muc] == [22, 27]
    assert muc[0].scores == pytest.approx([2 * k / (k + 22) for k in range(23)])
    assert muc[1].scores == pytest.approx([44 / (44 + k) for k in range(28)])
    assert round(muc[0].deviation, 3) == 0.172
    assert (min(stm[0].steps), round(max(stm[0].steps), 9)) == (0, 0.08)
    assert reports["blanc_p"]["P3"].fails  # it starts at .498, which is P3 and not P4
    assert round(reports["blanc_p"].curves[0].scores[0], 4) == 0.4977


def test_f1_of_four_pieces_or_more_is_even_enough():
    for n in range(4, 60):
        scores = [2 * k / (k + n) for k in range(n + 1)]
        assert curve("", "", scores, True).uneven == []
    assert curve("", "", [0, 0.1, 0.2, 0.5, 0.6], True).uneven == [2]
    assert curve("", "", [0, 0.1, 0.1, 0.2, 0.3], True).uneven == [1]
    assert curve("", "", [None, 0.0, 1.0], True).scores == (0, 1)
    assert curve("", "", [None, 0.0, 1.0], False) is None


# Surprises about the named metrics, each of which is a property of its definition.
KNOWN = [
    ("amr.smatch", set()),  # graphs whose variables have other names are the same
    ("amr.unlabelled", {"P3 zero", "only equals"}),  # any role will do
    ("arguments.same_text", {"only equals"}),  # duplicates count once
    ("arguments.break_aggregate", {"P2 symmetry", "only equals"}),  # only predictions are broken up
    ("calls.names", {"only equals"}),
    ("calls.calls", set()),
    ("coreference.muc", {"P1 identity", "only equals"}),  # singletons
    ("coreference.blanc", {"P2 symmetry", "P3 zero"}),  # the class that the key has not
    ("coreference.b3", {"P3 zero"}),
    ("coreference.b3_0", {"P2 symmetry"}),
    ("hierarchies.nstm_p", {"P3 zero", "P4 monotone (a)"}),
    ("equations.uas", {"only equals"}),
    ("dependencies.las", {"only equals"}),
    ("relations.type", {"only equals"}),
    ("nary.clusters", {"P2 symmetry"}),  # a share of the predicted mentions
    ("spans.overlap", {"only equals", "P and R"}),  # any partner will do
    ("templates.iterx_subset", {"only equals", "P and R"}),  # a template without fillers counts nothing
]


@pytest.mark.parametrize(("name", "failing"), KNOWN)
def test_known_properties_of_named_metrics(name, failing):
    report = check(named(name)[0], samples=12)
    assert failing <= {finding.name for finding in report.failures}
    for always in ("Definition 1", "range", "order", "renaming", "empty document"):
        assert not report[always].fails, report[always]


def test_what_is_right_in_every_way_is_exact_only_if_nothing_differs():
    for name in ("amr.smatch", "calls.calls", "calls.arguments"):
        assert not check(named(name)[0], samples=12, only=("only equals",)).failures


def test_nervaluate_depends_on_the_order_of_spans_and_the_best_pairs_do_not():
    found = {
        name: check(named(f"spans.{name}")[0], samples=12, only=("order",))["order"]
        for name in ("nervaluate_strict", "strict")
    }
    assert {name for name, finding in found.items() if finding.fails} == {"nervaluate_strict"}


def test_every_named_metric_can_be_asked_for():
    every = named("all")
    apart = [subject for task in APART for subject in named(task)]
    assert len(every) + len(apart) == sum(len(task()) for task in TASKS.values())
    for subject in (*every, *apart):
        made = [subject.space.random(Random(seed), 3) for seed in range(20)]  # a graph may have no :wiki
        found = [scored.at(subject.headline) for scored in subject.scores([(one, one) for one in made])]
        assert any(figure is not None for figure in found), subject.name
    with pytest.raises(MetricError, match='Did you mean "coreference"'):
        named("corefrence.muc")
    with pytest.raises(MetricError, match='Did you mean "muc_p"'):
        named("hierarchies.muc_q")


def test_cai_and_strube_over_several_documents():
    """`check` found that mentions of the second document were taken for others there."""
    from tallystick.tasks.coreference.metrics import evaluate

    documents = [[{0, 1}], [{2, 3}], [{9}]]
    for name in ("b3_cai_strube", "ceaf_m_cai_strube"):
        assert evaluate(documents, documents, [name])[name].f1 == 1
        other = [[{0, 1, 7}], [{2, 3}], [{9}]]
        alone = [evaluate([a], [b], [name])[name].rows for a, b in zip(documents, other, strict=True)]
        assert evaluate(documents, other, [name])[name].rows.tolist() == [row for one in alone for row in one.tolist()]


def test_an_expression_over_a_type():
    report = check(expression('precision(match(exact, "N:1", literal=True))'.replace('"', ""), list[int]), samples=10)
    reference, predicted = (value for _, value in report["P2"].counterexample)
    assert (len(reference), len(predicted)) == (1, 2)
    assert report["only equals"].fails


@pytest.mark.parametrize("literal", [False, True])
def test_a_literal_one_sided_matching_breaks_definition_1(literal):
    metric = ts.f1(ts.match(ts.exact, "N:1", literal=literal))
    assert check(expression(metric, list[int]), samples=40, only=["Def"])["Definition 1"].fails is literal


def test_values_are_made_up_for_all_kinds_of_types():
    import datetime
    import enum
    from typing import Literal, NamedTuple, TypedDict

    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    class Point(NamedTuple):
        x: int
        y: float

    class Row(TypedDict):
        name: str
        when: datetime.date

    rng = Random(0)
    for type_ in (Colour, Point, Row, Literal["a", "b"], dict[str, list[int]], tuple[int, str], int | str, set[Point]):
        shape = sampler_of(type_)
        value = shape.random(rng, 3)
        shape.build(value)
        assert shape.build(shape.leaves(value, lambda leaf, one: one)) == shape.build(value)
    with pytest.raises(DerivationError, match=r"at a\[\*\]"):
        sampler_of(dataclass(type("Bad", (), {"__annotations__": {"a": list[object]}})))


def test_a_function_that_does_not_fit_is_said_at_once():
    with pytest.raises(MetricError, match="does it take"):
        function(lambda one: 1.0, list[int])

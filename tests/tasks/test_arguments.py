"""Counting, the judge's stage, and what is asked."""

import re
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from tallystick.errors import MetricError
from tallystick.files.pairing import pair_values
from tallystick.judging import Judgement, Store, Verdict
from tallystick.judging.questions import Answers
from tallystick.judging.recorded import Recorded
from tallystick.results.compare import compare, compare_runs
from tallystick.structures.texts import ArgumentDocument, DescribedEvent, EventArgument
from tallystick.tasks.arguments import metrics as arguments
from tallystick.tasks.arguments.metrics import ArgumentOptions, open_questions
from tallystick.tasks.arguments.show import systems_table
from tallystick.tasks.arguments.stages import way_of_asking


def document(*texts, role="r"):
    return ArgumentDocument(tuple(EventArgument("e", role, text) for text in texts))


def scored(references, candidates, judge=None, **options):
    return arguments.score(
        pair_values([document(*references)], [document(*candidates)]), ArgumentOptions(**options), judge=judge
    )


def tally(references, candidates, stage=None, judge=None, **options):
    found = scored(references, candidates, judge, **options)
    return found.results[stage or found.stages[-1]].sums.tolist()


@dataclass
class Says:
    """A judge with an answer for each candidate: a label, and the texts of the references that it stands for."""

    answers: dict
    asks: str = "all"
    asked: list = field(default_factory=list)
    signature: str = "says"

    def judge(self, questions):
        self.asked += questions
        return [self._verdict(question) for question in questions]

    def _verdict(self, question):
        if self.asks == "pairs":
            label = self.answers.get((question.candidate, question.references[0]), "Incorrect")
            return None if label is None else Verdict(label)
        if question.candidate not in self.answers:
            return None
        label, *texts = self.answers[question.candidate]
        return Verdict(label, tuple(question.references.index(text) for text in texts))


# Two ways of counting: num_p, den_p, num_r, den_r


def test_a_broken_candidate():
    sides = ["p", "q", "z"], ["p and q and s", "x"]
    assert tally(*sides) == [2, 4, 2, 3]
    assert tally(*sides, counting="keep") == pytest.approx([2 / 3, 2, 2, 3])


def test_an_aggregated_reference():
    sides = ["p and q", "z"], ["p", "q", "x"]
    assert tally(*sides) == [1, 2, 1, 2]
    assert tally(*sides, counting="keep") == [2, 3, 1, 2]


def test_f_of_two_numerators():
    result = scored(["p", "q", "z"], ["p and q and s", "x"], counting="keep").results["break_aggregate"]
    assert (result.precision, result.recall) == pytest.approx((1 / 3, 2 / 3))
    assert result.f1 == pytest.approx(4 / 9)


def test_duplicates():
    assert tally(["p"], ["p", "p"]) == [1, 1, 1, 1]
    assert tally(["p"], ["p", "p"], duplicates="keep") == [1, 2, 1, 1]


def test_blocks_are_roles_of_events():
    gold = ArgumentDocument((EventArgument("e1", "place", "p"), EventArgument("e2", "agent", "q")))
    system = ArgumentDocument((EventArgument("e1", "agent", "p"), EventArgument("e1", "agent", "q")))
    assert arguments.evaluate([gold], [system])["break_aggregate"].sums.tolist() == [0, 2, 0, 2]


def test_options_are_in_the_signature():
    result = scored(["p"], ["p"], counting="keep", order="aggregate-first", duplicates="keep").results["same_text"]
    for part in (
        "counting=keep", "order=aggregate-first", "duplicates=keep", "pronouns=usual", "harmless=usual", "conjunctions=and",
    ):  # fmt: skip
        assert part in result.signature
    assert "judge" not in result.signature
    assert "the stage `modifiers` is left out" in " ".join(result.warnings)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"counting": "rewrit"}, "counting is one of rewrite, keep, found 'rewrit'. Did you mean \"rewrite\"?"),
        ({"order": "first"}, "order is one of"),
        ({"duplicates": "drop"}, "duplicates is one of"),
        ({"partial": 0.3}, "0, 0.5 or 1"),
    ],
)
def test_options_that_make_no_sense(option, says):
    with pytest.raises(MetricError, match=re.escape(says)):
        ArgumentOptions(**option)


def test_a_metric_that_is_not_there():
    with pytest.raises(MetricError, match='Did you mean "same_text"'):
        arguments.evaluate([document("p")], [document("p")], ["same_txt"])


# The judge


def test_without_a_judge_there_is_no_such_stage():
    assert scored(["p"], ["x"]).stages == ("exact", "same_text", "harmless_tokens", "break_aggregate")


def test_correct_with_a_reference():
    judge = Says({"x": ("Correct", "p")})
    found = scored(["p", "q"], ["x", "q", "y"], judge)
    assert found.results["judge"].sums.tolist() == [2, 3, 2, 2]
    assert [question.candidate for question in judge.asked] == ["x", "y"]
    assert judge.asked[0].references == ("p", "q")  # all of them, so that the answer serves other systems too
    assert "judge=says, partial=0, none=precision" in found.results["judge"].signature


def test_partial_coverage_is_a_lower_bound():
    found = scored(["p", "q"], ["x", "y"], Says({"x": ("Correct", "p")}))
    assert (found.coverage.open, found.coverage.judged, found.coverage.share) == (2, 1, 0.5)
    assert (
        "says decided 1 of 2 open candidates (50.0%): the figures of `judge` are lower bounds"
        in found.results["judge"].warnings
    )
    whole = scored(["p", "q"], ["x", "y"], Says({"x": ("Correct", "p"), "y": ("Incorrect",)}))
    assert whole.coverage.summary == "says decided 2 of 2 open candidates (100.0%)"
    assert not any("decided" in warning for warning in whole.results["judge"].warnings)  # there is nothing to warn of
    assert found.results["judge"].f1 <= whole.results["judge"].f1


def test_why_verdicts_are_lacking_is_said():
    class Troubled(Says):
        report = SimpleNamespace(failures={"timeout": 2}, unusable={"not JSON": 1}, not_called=3, calls=3, answered=1)
        disputed = frozenset("k")

    judged = scored(["p"], ["x"], Troubled({}, asks="pairs"))
    found = judged.results["judge"].warnings
    assert judged.coverage.summary == "says decided 1 of 1 open candidates that have a free reference (100.0%)"
    assert {"says: timeout (2 times)", "says: not JSON (1 times)"} <= set(found)
    assert "says: 3 calls not made, because all earlier calls failed" in found
    assert any("judges of equal experience disagree on 1 of its questions" in note for note in found)


def test_a_judge_who_answered_no_call_gives_no_figure():
    class Silent(Says):
        report = SimpleNamespace(failures={"no connection": 2}, unusable={}, not_called=3, calls=2, answered=0, known=0)

    with pytest.raises(MetricError, match="says answered none of 2 calls: no connection"):
        scored(["p"], ["x"], Silent({}, asks="pairs"))


def test_correct_without_a_reference_credits_precision():
    judge = Says({"x": ("Correct",)})
    assert tally(["p"], ["x"], judge=judge) == [1, 1, 0, 1]
    assert tally(["p"], ["x"], judge=judge, none_credits_recall=True) == [1, 1, 1, 2]


@pytest.mark.parametrize(("partial", "credit"), [(0.0, 0), (0.5, 0.5), (1.0, 1)])
def test_partial(partial, credit):
    assert tally(["p"], ["x"], judge=Says({"x": ("Partial", "p")}), partial=partial) == [credit, 1, credit, 1]


def test_a_candidate_that_stands_for_several():
    judge = Says({"x": ("Correct", "p", "q")})
    assert tally(["p", "q"], ["x"], judge=judge) == [2, 2, 2, 2]
    assert tally(["p", "q"], ["x"], judge=judge, counting="keep") == [1, 1, 2, 2]


def test_a_reference_is_credited_once():
    assert tally(["p"], ["p", "x"], judge=Says({"x": ("Correct", "p")})) == [1, 2, 1, 1]
    assert tally(["p"], ["x", "y"], judge=Says({"x": ("Correct", "p"), "y": ("Correct", "p")})) == [1, 2, 1, 1]


def test_candidates_share_references_so_that_both_are_right():
    judge = Says({"x": ("Correct", "p", "q"), "y": ("Correct", "q")})
    assert tally(["p", "q"], ["x", "y"], judge=judge, counting="keep") == [2, 2, 2, 2]
    more = Says({"x": ("Correct", "p"), "y": ("Partial", "p")})
    assert tally(["p"], ["x", "y"], judge=more, partial=0.5) == [1, 2, 1, 1]


def test_a_judge_of_pairs_is_asked_about_free_references_only():
    judge = Says({("x", "p"): "Correct", ("x", "q"): "Correct", ("y", "p"): "Correct"}, asks="pairs")
    found = scored(["p", "q", "z"], ["x", "y", "z"], judge)
    assert {(one.candidate, *one.references) for one in judge.asked} == {(c, r) for c in "xy" for r in "pq"}
    assert found.results["judge"].sums.tolist() == [3, 3, 3, 3]  # maximum matching: x is q, y is p


def test_a_judge_of_pairs_credits_one_reference():
    judge = Says({("x", "p"): "Correct", ("x", "q"): "Correct"}, asks="pairs")
    assert tally(["p", "q"], ["x"], judge=judge) == [1, 1, 1, 2]


def test_a_pair_without_a_verdict_leaves_its_candidate_undecided():
    judge = Says({("x", "p"): None}, asks="pairs")
    assert scored(["p", "q"], ["x"], judge).coverage.judged == 0


def test_a_judge_who_sees_no_reference():
    judge = Says({"x": ("Correct",), "y": ("Correct",)}, asks="alone")
    assert tally(["p"], ["x"], judge=judge) == [1, 1, 1, 1]  # the only free reference of the role
    assert judge.asked[0].references == ()
    assert tally(["p", "q"], ["x"], judge=judge) == [1, 1, 0, 2]
    assert tally(["p"], ["x", "y"], judge=judge) == [2, 2, 1, 1]


def test_the_only_free_reference_goes_to_what_is_wholly_right():
    judge = Says({"x": ("Partial",), "y": ("Correct",)}, asks="alone")
    assert tally(["p"], ["x", "y"], judge=judge, partial=0.5) == [1.5, 2, 1, 1]


@pytest.mark.parametrize(
    ("kind", "shown", "asks"), [("model", True, "pairs"), ("model", False, "alone"), ("embedding", True, "pairs")]
)
def test_how_a_judge_is_asked_by_its_kind(kind, shown, asks):
    class Prompt:
        with_reference = shown

    judge = Says({}, asks=None)
    judge.kind, judge.prompt = kind, Prompt() if kind == "model" else None
    assert way_of_asking(judge) == asks


def test_judges_that_answer_wrongly():
    class Short(Says):
        def judge(self, questions):
            return []

    with pytest.raises(MetricError, match="was asked 1 questions and gave 0 verdicts"):
        scored(["p"], ["x"], Short({}))

    class Beyond(Says):
        def judge(self, questions):
            return [Verdict("Correct", (3,)) for _ in questions]

    with pytest.raises(MetricError, match="names the references \\[3\\], but there are 1"):
        scored(["p"], ["x"], Beyond({}))
    with pytest.raises(MetricError, match="is asked all, pairs, alone"):
        scored(["p"], ["x"], Says({}, asks="twice"))


def test_the_same_question_is_asked_once():
    def told(text):
        events = (DescribedEvent("e", "meet", "met", (1, 1)),)
        return ArgumentDocument((EventArgument("e", "r", text),), events, ("p", "met", "x"))

    judge = Says({"x": ("Correct", "p")})
    found = arguments.score(pair_values([told("p"), told("p")], [told("x"), told("x")]), judge=judge)
    assert len(judge.asked) == 1
    assert found.results["judge"].sums.tolist() == [2, 2, 2, 2]


def test_without_text_or_trigger_one_answer_serves_one_event():
    """Nothing else tells two documents, or two events of a text, apart."""
    judge = Says({"x": ("Correct", "p")})
    arguments.score(
        pair_values({"a": document("p"), "b": document("p")}, {"a": document("x"), "b": document("x")}), judge=judge
    )
    assert [one.source for one in judge.asked] == ["document a, event e", "document b, event e"]

    tokens, events = ("p", "met", "x"), [DescribedEvent("e1", "meet"), DescribedEvent("e2", "meet", "met", (1, 1))]
    gold, system = (
        ArgumentDocument(tuple(EventArgument(event.id, "r", text) for event in events), events, tokens) for text in "px"
    )
    found = arguments.score(pair_values([gold], [system])).open
    assert [one.source for one in found] == ["event e1", ""]
    assert found[1].key == replace(found[1], source="").key != replace(found[1], source="event e2").key


@pytest.mark.parametrize(
    ("tokens", "same"), [("IT met it . IT", True), ("IT MET HIM . IT", False), ("he met him . it", False)]
)
def test_a_pronoun_in_capitals_is_one_where_all_is_in_capitals(tokens, same):
    tokens = tokens.split()
    gold, system = (ArgumentDocument((EventArgument("e", "r", tokens[k], (k, k)),), (), tuple(tokens)) for k in (0, 4))
    found = arguments.score(pair_values([gold], [system]))
    assert found.results["same_text"].f1 == found.results["break_aggregate"].f1 == float(same)


def test_what_is_recorded_and_the_more_experienced_decides(tmp_path):
    """Figure 2's example: two annotators, Q1 to Q3."""
    tokens = ("when", "he", "was", "extradited", ".", "Though", "Lazar", "had", "agreed")
    event = DescribedEvent("e", "justice.extradite", "extradited", (3, 3))
    gold = ArgumentDocument((EventArgument("e", "defendant", "he", (1, 1)),), (event,), tokens)
    system = ArgumentDocument((EventArgument("e", "defendant", "Lazar", (6, 6)),))
    pairs = pair_values([gold], [system])
    (question,) = open_questions({"one": arguments.score(pairs)})
    assert (
        question.document[slice(*question.candidate_span)],
        question.document[slice(*question.reference_spans[0])],
    ) == (
        "Lazar",
        "he",
    )
    assert question.trigger_span == (12, 22)
    with Store(tmp_path / "store.sqlite") as store:
        store.add_judge("old", experience=2)
        store.add_judge("new", experience=1)
        store.add(Judgement(question, "new", Answers(False).verdict()))
        store.add(Judgement(question, "old", Answers(True, (0,), "conveys").verdict()))
        found = arguments.score(pairs, judge=Recorded(store))
        assert found.results["judge"].sums.tolist() == [1, 1, 1, 1]
        for relation, credit in (("different", 1), ("removes", 0), ("adds", 0)):
            store.add(Judgement(question, "old", Answers(True, (0,), relation).verdict()))
            assert arguments.score(pairs, judge=Recorded(store)).results["judge"].sums.tolist() == [
                credit,
                1,
                credit,
                1,
            ]


# What is asked first


def test_what_most_systems_made_comes_first():
    gold = [document("p", "q")]
    systems = {
        name: arguments.score(pair_values(gold, [document(*texts)]))
        for name, texts in (("one", ("x", "y", "p")), ("two", ("y", "z")), ("three", ("z", "y", "")))
    }
    assert [question.candidate for question in open_questions(systems)] == ["y", "z", "x"]
    assert [question.candidate for question in open_questions(systems, top=1)] == ["y"]


def test_a_candidate_is_shown_in_its_own_place_or_else_next_to_the_trigger():
    tokens = ("x", "and", "p", "met", ",", "x", "said", "he", "saw", "x")
    event = DescribedEvent("e", "meet", "met", (3, 3))
    gold = ArgumentDocument((EventArgument("e", "r", "p", (2, 2)),), (event,), tokens)

    def asked(text, at):
        system = ArgumentDocument((EventArgument("e", "r", text, at and (at, at)),))
        return arguments.score(pair_values([gold], [system])).open[0]

    assert asked("x", 5).key == asked("x", None).key != asked("x", 9).key
    assert asked("x", 5).candidate_span == (14, 15)
    assert asked("x", 9).candidate_span == (28, 29)  # another one, perhaps
    assert asked("x", 7).candidate_span == (14, 15)  # the place says something else
    assert asked("he", 7).candidate_span is not None
    assert asked("nothing", None).candidate_span is None


# Several systems


def test_stages_by_systems():
    gold = [document("p", "q"), document("s")]
    systems = {
        "A": arguments.evaluate(gold, [document("the p", "x"), document("y")]),
        "B": arguments.evaluate(gold, [document("p", "y"), document("the s")]),
    }
    table = systems_table(compare(systems, resamples=10))
    assert table.columns == ["stage", "A", "B"]
    assert [list(row) for row in table.rows] == [
        ["exact", "0.0", "0.0"],
        ["same_text", "0.0 (0.0)", "33.3 (33.3)"],
        ["harmless_tokens", "33.3 (33.3)", "66.7 (33.3)"],
        ["break_aggregate", "33.3 (0.0)", "66.7 (0.0)"],
    ]


STEPS = ("exact", "same text", "harmless tokens", "break aggregate", "modifiers", "human")
SYSTEMS = ("PAIE", "T-CR", "T-C", "X-Gear", "AMPERE", "DEGREE", "BART-Gen", "CRF-T", "EEQA")
TABLE_6 = """
52.7 51.3 48.3 47.0 46.5 46.5 46.0 43.8 43.4
53.8 52.2 49.4 48.4 47.7 47.9 47.8 44.7 44.1
56.6 55.0 52.7 51.7 50.6 51.0 50.9 47.8 45.3
56.6 55.0 52.8 51.7 52.5 52.9 53.1 47.8 45.3
58.1 56.6 54.1 53.0 54.0 54.0 54.5 49.6 46.0
62.9 60.0 58.4 57.6 58.7 59.4 61.0 53.5 49.5
"""


def test_table_6_of_the_paper_with_its_gains_and_ranks():
    rows = [[float(value) / 100 for value in line.split()] for line in TABLE_6.split("\n") if line]
    figures = {system: [{step: rows[k][at] for k, step in enumerate(STEPS)}] for at, system in enumerate(SYSTEMS)}
    comparison = compare_runs(figures)
    table = systems_table(comparison)
    assert table.rows[3][1:] == [
        "56.6 (0.0)", "55.0 (0.0)", "52.8 (0.1)", "51.7 (0.0)", "52.5 (1.9)", "52.9 (1.9)", "53.1 (2.2)", "47.8 (0.0)", "45.3 (0.0)",
    ]  # fmt: skip
    assert table.rows[5][7] == "61.0 (6.5)"
    moved = {system: comparison.cells[system, "human"] for system in SYSTEMS}
    assert (moved["BART-Gen"].rank, moved["BART-Gen"].moved) == (2, 5)
    assert (moved["T-C"].rank, moved["T-C"].moved) == (6, -3)
    taus = {(row["first"], row["second"]): row for row in comparison.correlations()}
    assert taus["exact", "human"]["kendall_b"] == pytest.approx(0.479, abs=0.0005)

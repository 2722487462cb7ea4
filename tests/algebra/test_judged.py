"""A judge as a similarity, and the cosine of an embedding."""

import pickle
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

import tallystick as ts
from tallystick.errors import DerivationError, InputError, MetricError, ValueMismatch
from tallystick.judging import Judgement, Question, Store, Verdict


class Listening:
    """A judge that knows what it was asked: Correct if the first letters agree, Partial for two vowels, silent about z."""

    signature = "listening(1)"

    def __init__(self):
        self.asked = []

    def judge(self, questions):
        self.asked.append([(question.references, question.candidate) for question in questions])
        return [self.verdict(question.references[0], question.candidate) for question in questions]

    def verdict(self, reference, candidate):
        if candidate.startswith("z"):
            return None
        if reference[0] == candidate[0]:
            return Verdict("Correct", (0,))
        return Verdict("Partial" if {reference[0], candidate[0]} <= set("aeiou") else "Incorrect")


def rows(*pairs):
    return [{"role": role, "text": text} for role, text in pairs]


def metric(judge, **options):
    return ts.f1(ts.match(ts.record(role=ts.exact, text=ts.judged(judge, **options))))


def test_each_different_pair_that_is_left_in_its_block_is_asked_once_and_together():
    judge = Listening()
    gold = [rows(("x", "apple"), ("x", "apple"), ("y", "bread")), rows(("x", "egg"))]
    system = [rows(("x", "apricot"), ("x", "apricot"), ("y", "bread"), ("y", "cake")), rows(("x", "apricot"))]
    result = ts.evaluate(metric(judge), gold, system)
    assert len(judge.asked) == 1  # one call for the batch
    assert sorted(judge.asked[0]) == [(("apple",), "apricot"), (("bread",), "cake"), (("egg",), "apricot")]
    assert result.precision == pytest.approx(3 / 5)
    assert result.signature.endswith("judge=listening(1) | tallystick " + ts.__version__)
    result.explain(0)
    assert len(judge.asked) == 1  # an explanation asks nothing anew


def test_batches_ask_only_what_no_batch_before_has_asked():
    judge = Listening()
    gold, system = [["apple"], ["apple"], ["bread"]], [["apricot"], ["apricot"], ["corn"]]
    whole = ts.evaluate(ts.f1(ts.match(ts.judged(Listening()))), gold, system)
    batched = ts.evaluate(ts.f1(ts.match(ts.judged(judge))), gold, system, batch=1)
    assert judge.asked == [[(("apple",), "apricot")], [(("bread",), "corn")]]
    assert batched.f1 == whole.f1 == pytest.approx(2 / 3)


def test_partial_counts_as_said_and_unjudged_as_nothing_with_a_warning():
    gold, system = [["egg", "oak", "zoo"]], [["ant", "zebra", "zoo"]]
    for partial in (0.0, 0.5, 1.0):
        result = ts.evaluate(ts.f1(ts.match(ts.judged(Listening(), partial))), gold, system)
        assert result.f1 == pytest.approx((1 + partial) / 3)
        (warning,) = result.warnings
        assert warning == "5 of 8 pairs of texts were not judged and count as 0: the figures are lower bounds"


def test_equal_and_empty_texts_are_never_asked():
    judge = Listening()
    result = ts.evaluate(ts.f1(ts.match(ts.judged(judge))), [["same", ""]], [["same", " "]])
    assert judge.asked == []
    assert result.f1 == 0.5


def test_the_reference_is_the_reference_also_in_a_mirror():
    judge, mirror = Listening(), Listening()
    ts.evaluate(ts.f1(ts.match(ts.judged(judge))), [["apple"]], [["bread"]])
    ts.evaluate(ts.f1(ts.match(ts.judged(mirror))).mirrored(), [["bread"]], [["apple"]])
    assert judge.asked == mirror.asked == [[(("apple",), "bread")]]


def test_it_prints_as_an_expression_that_reads_back():
    node = ts.judged("embedding:model.json", partial=0.5)
    assert str(node) == 'judged("embedding:model.json", partial=0.5)'
    for one in (node, node.mirrored(), ts.embedding("wordllama")):
        assert ts.parse(str(one)) == one
        assert hash(pickle.loads(pickle.dumps(one))) == hash(one)
    assert str(ts.judged(Listening())) == 'judged("listening(1)")'


def test_an_evaluation_can_be_sent_on_and_merged():
    halves = []
    for gold, system in (([["apple"]], [["zoo"]]), ([["bread"]], [["ball"]])):
        run = ts.Evaluation(ts.f1(ts.match(ts.judged("store-that-is-not-there"))))
        run._of._taken.memory.calls[ts.judged("store-that-is-not-there")] = answered()
        run.update(gold, system)
        halves.append(pickle.loads(pickle.dumps(run)))
    total = ts.Evaluation(ts.f1(ts.match(ts.judged("store-that-is-not-there"))))
    for half in halves:
        total.merge(half)
    result = total.compute()
    assert result.f1 == 0.5
    assert "judge=listening(1)" in result.signature
    assert "1 of 2 pairs of texts were not judged" in result.warnings[0]


def answered():
    from tallystick.algebra.judged import Verdicts

    answers = Verdicts()
    answers.opened(Listening())
    return answers


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ts.judged(7), "judged\\(\\) needs the name of a judge, or a judge, found 7"),
        (lambda: ts.judged("s", partial=2), "partial must lie between 0 and 1, found 2"),
        (lambda: ts.embedding(""), "needs the name of an encoder"),
    ],
)
def test_what_makes_no_sense_is_said_at_once(make, message):
    with pytest.raises(MetricError, match=message):
        make()


def test_texts_only_and_a_judge_that_exists(tmp_path):
    with pytest.raises(ValueMismatch, match="expected text, found NoneType"):
        ts.evaluate(ts.f1(ts.match(ts.judged(Listening()))), [[None]], [["x"]])
    assert ts.evaluate(ts.f1(ts.match(ts.judged(Listening()))), [[7]], [["7"]]).f1 == 1
    with pytest.raises(InputError, match=r"no judge called 'nothing\.sqlite'"):
        ts.evaluate(ts.f1(ts.match(ts.judged("nothing.sqlite"))), [["a"]], [["b"]])


def test_a_store_judges_fields_chosen_in_a_type_or_a_file(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.add(Judgement(Question("flatcar", ("railway wagon",)), "ann", Verdict("Partial", (0,))))

    @dataclass
    class Loss:
        what: Annotated[str, ts.judged(str(path), partial=0.5)]
        count: int

    gold, system = [[Loss("railway wagon", 2)]], [[Loss("flatcar", 2)]]
    result = ts.evaluate(ts.derive(list[Loss]), gold, system)
    assert result.f1 == 0.5

    @dataclass
    class Plain:
        what: str
        count: int

    choices = {"[*].what": {"judge": {"name": str(path), "partial": 0.5}}}
    chosen = ts.derive(list[Plain], choices=choices)
    assert str(chosen) == str(ts.derive(list[Loss]))
    chosen = ts.derive(list[Plain], choices={"[*].what": {"embedding": "wordllama"}})
    assert 'embedding("wordllama")' in str(chosen)
    for wrong, message in (
        ({"judge": {"nam": "x"}}, "unknown option 'nam'.*Did you mean \"name\""),
        ({"judge": {"partial": 1}}, "expected the name of a judge"),
        ({"judge": "x", "embedding": "y"}, "judge and embedding cannot both be chosen"),
        ({"embedding": {"name": "y"}}, "expected encoder"),
    ):
        with pytest.raises(DerivationError, match=message):
            ts.derive(list[Plain], choices={"[*].what": wrong})


def test_a_schema_may_name_a_judge():
    from tallystick.tasks.records.schema import type_of_schema

    schema = {"type": "array", "items": {"type": "string", "x-tallystick": {"judge": "embedding:model.json"}}}
    assert str(ts.derive(type_of_schema(schema))) == 'f1(match(judged("embedding:model.json"), 1:1))'


# The cosine itself.


def test_the_cosine_is_the_same_in_rectangles_in_pairs_and_in_any_batch():
    pytest.importorskip(
        "wordllama", reason="the default encoder is not installed: pip install 'tallystick[embeddings]'"
    )
    from tallystick.judging.encoders import encoder_named

    words = [
        "harbour police",
        "a late frost",
        "the apricot harvest",
        "two mules",
        "a brass telescope",
        "",
        "ferry captain",
    ]
    random = np.random.default_rng(1)
    sides = [
        [[" ".join(random.choice(words, 2)) for _ in range(random.integers(0, 9))] for _ in range(60)] for _ in range(2)
    ]
    node = ts.f1(ts.match(ts.embedding("wordllama")))
    whole = ts.evaluate(node, *sides)
    for batch in (1, 7):
        again = ts.evaluate(node, *sides, batch=batch)
        assert np.array_equal(again.rows, whole.rows)
    encoder = encoder_named("wordllama")
    plain = ts.evaluate(
        ts.f1(ts.match(ts.function(lambda a, b: 1.0 if a == b else max(0.0, encoder.similarities([a], [b])[0])))),
        *sides,
    )
    assert np.allclose(plain.rows, whole.rows, atol=1e-12)
    assert 0 < whole.f1 < 1


def test_fillers_of_templates_may_be_judged():
    from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
    from tallystick.tasks.templates import metrics as templates

    def document(*mentions):
        return [TemplateSet([Template("attack", [SlotFiller("Victim", Entity(list(mentions)))])])]

    judge = Listening()
    fillers = ts.record(mentions=ts.best(ts.judged(judge)))
    result = templates.evaluate(document("the mayor", "J. Smith"), document("John Smith"), ["eq32"], fillers=fillers)[
        "eq32"
    ]
    assert (result.f1, judge.asked) == (1.0, [[(("the mayor",), "John Smith"), (("J. Smith",), "John Smith")]])


@pytest.mark.parametrize(
    "more", [[], ["--by", "document"], ["--jobs", "1"], ["--shard", "1B"], ["--by", "field"]], ids=str
)
def test_the_signature_names_the_judge_whatever_is_kept(tmp_path, more):
    """Also in shards in which nothing was asked, before or after one that asked."""
    import json

    from running import invoke
    from tallystick.cli.main import tallystick

    store = tmp_path / "st.sqlite"
    with Store(store) as opened:
        opened.add(Judgement(Question("large dog", ("big dog",)), "lena", Verdict("Correct", (0,))))
    (tmp_path / "c.yaml").write_text(f"v: {{judge: {store}}}\n")
    for side, text in (("gold", "big dog"), ("system", "large dog")):
        rows = [{"id": 1, "v": "cat"}, {"id": 2, "v": text}, {"id": 3, "v": "cow"}]
        (tmp_path / side).write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [str(tmp_path / name) for name in ("gold", "system")]
    called = ["score", "records", *files, "--choices", str(tmp_path / "c.yaml"), "--format", "json", *more]
    done = invoke(tallystick, called)
    assert done.returncode == 0, done.output
    content = json.loads(done.stdout)
    assert content["metrics"]["records"]["f1"] == 1.0
    assert f"judge=recorded({store.name}, person lena, 1 judgement, " in content["signature"]


def test_what_is_forgotten_leaves_the_name_of_the_judge(monkeypatch):
    from tallystick.results import accounts

    monkeypatch.setattr(accounts, "MOST_CALLS", 1)
    judge = Listening()
    run = ts.Evaluation(ts.f1(ts.match(ts.judged(judge))), rows=False)
    for _ in range(3):
        run.update([["apple", "zoo"]], [["apricot", "zebra"]])
    assert len(judge.asked) == 3  # forgotten each time
    result = run.compute()
    assert "judge=listening(1)" in result.signature
    assert result.warnings[0].startswith("6 of 12 pairs of texts were not judged")


def test_a_judge_that_only_one_part_asked_is_named():
    runs = [ts.Evaluation(ts.f1(ts.match(ts.judged(Named())))) for _ in range(2)]
    runs[0].update([["same"]], [["same"]])  # nothing to ask
    runs[1].update([["apple"]], [["apricot"]])
    runs[0].merge(runs[1])
    assert "judge=listening(1)" in runs[0].compute().signature


class Named(Listening):
    """Two of these are one judge."""

    def __eq__(self, other):
        return isinstance(other, Named)

    def __hash__(self):
        return 1

"""The drop-ins for nervaluate, CorefEvaluator, smatch and scikit-learn against the peers themselves."""

import csv
import io
import random
import re
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.adapters import coref, huggingface, nervaluate, seqeval, smatch
from tallystick.adapters import sklearn as ours_of_sklearn
from tallystick.errors import TallystickError

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from metrics import CorefEvaluator

TAGS = ["PER", "LOC"]

# nervaluate


def entities():
    """The entities of a document, which may overlap."""
    one = st.fixed_dictionaries(
        {"label": st.sampled_from(TAGS), "start": st.integers(0, 9), "size": st.integers(0, 3)}
    ).map(lambda e: {"label": e["label"], "start": e["start"], "end": e["start"] + e["size"]})
    return st.lists(one, max_size=4)


def documents():
    pair = st.tuples(entities(), entities())
    return st.lists(pair, min_size=1, max_size=3).map(lambda pairs: tuple(map(list, zip(*pairs, strict=True))))


def parts(found):
    """Everything that an evaluator answers, as plain data."""
    return {
        "overall": {name: asdict(one) for name, one in found["overall"].items()},
        "entities": {tag: {name: asdict(one) for name, one in of.items()} for tag, of in found["entities"].items()},
        "overall_indices": {name: placed(one) for name, one in found["overall_indices"].items()},
        "entity_indices": {tag: {name: placed(one) for name, one in of.items()} for tag, of in found["entity_indices"].items()},
    }  # fmt: skip


def placed(indices):
    return {name: sorted(places) for name, places in asdict(indices).items()}


@settings(max_examples=40, deadline=None)
@given(documents(), st.sampled_from((1.0, 50.0)))
def test_nervaluate_answers_as_it_does(pair, least):
    peer = pytest.importorskip("nervaluate", reason="the peer")
    theirs = peer.Evaluator(*pair, tags=TAGS, loader="dict", min_overlap_percentage=least)
    ours = nervaluate.Evaluator(*pair, tags=TAGS, loader="dict", min_overlap_percentage=least, strict=False)
    assert parts(ours.evaluate()) == parts(theirs.evaluate())
    assert ours.summary_report() == theirs.summary_report()
    for scenario in nervaluate.SCENARIOS:
        assert ours.summary_report("entities", scenario, 3) == theirs.summary_report("entities", scenario, 3)
    assert rows(ours.results_to_csv()) == rows(theirs.results_to_csv())
    assert rows(ours.results_to_csv("entities", "partial")) == rows(theirs.results_to_csv("entities", "partial"))


def rows(text):
    def number(cell):
        return float(cell) if cell.replace(".", "").isdigit() else cell

    return sorted([list(map(number, row)) for row in csv.reader(io.StringIO(text))], key=str)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), min_size=1, max_size=8),
        min_size=1,
        max_size=3,
    ),
    st.randoms(),
)
def test_nervaluate_reads_tags_and_conll(gold, chance):
    peer = pytest.importorskip("nervaluate", reason="the peer")
    guess = [chance.sample(tags, len(tags)) for tags in gold]
    text = ["\n\n".join("\n".join(f"w\t{tag}" for tag in tags) for tags in side) for side in (gold, guess)]
    wanted = parts(peer.Evaluator(gold, guess, tags=TAGS).evaluate())
    for sides in ((gold, guess), text):
        assert parts(nervaluate.Evaluator(*sides, tags=TAGS, strict=False).evaluate()) == wanted


def test_nervaluates_order_changes_nothing_here():
    """The first prediction overlaps the true entity, the second is it."""
    gold = [[{"label": "PER", "start": 2, "end": 3}]]
    guess = [{"label": "PER", "start": 1, "end": 2}, {"label": "PER", "start": 2, "end": 3}]
    for order in (guess, guess[::-1]):
        assert nervaluate.Evaluator(gold, [order], tags=TAGS).evaluate()["overall"]["strict"].correct == 1
    found = [nervaluate.Evaluator(gold, [order], tags=TAGS, strict=False).evaluate() for order in (guess, guess[::-1])]
    assert [one["overall"]["strict"].correct for one in found] == [0, 1]


def test_nervaluate_says_which_entities():
    gold = [[], [{"label": "PER", "start": 2, "end": 3}, {"label": "LOC", "start": 5, "end": 5}]]
    guess = [[], [{"label": "PER", "start": 2, "end": 3}]]
    evaluator = nervaluate.Evaluator(gold, guess, tags=TAGS)
    shown = evaluator.summary_report_indices()
    assert "Correct              1          0        Label=PER, Start=2, End=3" in shown
    assert (
        "Missed               1          1        Label=LOC, Start=5, End=5" in shown
    )  # nervaluate has an IndexError here
    assert "Entity Type: LOC" in evaluator.summary_report_indices("entities", "partial")
    assert "\033[92mCorrect" in evaluator.summary_report_indices(colors=True)
    with pytest.warns(UserWarning, match='entities of "LOC" are left out'):
        nervaluate.Evaluator(gold, guess, tags=["PER"])


# CorefEvaluator


def partition(mentions, chance, least):
    shuffled = chance.sample(mentions, chance.randint(0, len(mentions)))
    out = []
    while len(shuffled) >= least:
        size = chance.randint(least, min(4, len(shuffled)))
        out.append(tuple(shuffled[:size]))
        shuffled = shuffled[size:]
    return out


def updates(seed, least):
    """The arguments of `update` for some documents."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        mentions = [(k, k + chance.randint(0, 2)) for k in range(12)]
        predicted, gold = partition(mentions, chance, least), partition(mentions, chance, least)
        yield predicted, gold, *({m: c for c in side for m in c} for side in (predicted, gold))


@pytest.mark.parametrize("seed", range(15))
def test_coref_evaluator(seed):
    """With `strict=False` always, and without entities of one mention either way."""
    for least, options in ((1, {"strict": False}), (2, {"strict": False}), (2, {})):
        theirs, ours = CorefEvaluator(), coref.CorefEvaluator(**options)
        for arguments in updates(seed, least):
            theirs.update(*arguments)
            ours.update(*arguments)
        assert ours.get_prf() == pytest.approx(theirs.get_prf(), abs=1e-12)
        assert ours.get_f1() == pytest.approx(theirs.get_f1(), abs=1e-12)
        for one, other in zip(ours.evaluators, theirs.evaluators, strict=True):
            assert one.get_prf() == pytest.approx(other.get_prf(), abs=1e-12)
            assert one.get_counts() == pytest.approx(other.counts, abs=1e-12)


def test_where_coref_evaluator_is_wrong():
    """A perfect answer with an entity of one mention."""
    clusters = [((0, 1), (3, 3)), ((5, 5),)]
    found = {}
    for strict in (True, False):
        evaluator = coref.CorefEvaluator(strict=strict)
        evaluator.update(clusters, clusters)
        found[strict] = evaluator.get_f1()
    theirs = CorefEvaluator()
    theirs.update(clusters, clusters, *({m: c for c in clusters for m in c} for _ in range(2)))
    assert found == {True: 1.0, False: pytest.approx(theirs.get_f1())}
    assert found[False] < 0.9
    with pytest.raises(TallystickError, match="expected clusters of mentions"):
        coref.CorefEvaluator().update([(0, 1)], [(0, 1)])
    with pytest.raises(TallystickError, match="no documents yet"):
        coref.CorefEvaluator().get_f1()


# smatch

CONCEPTS, ROLES = ("boy", "girl", "want-01", "go-02"), (":ARG0", ":ARG1", ":time", ":mod", ":ARG0-of")


def graph(chance, size):
    """A random graph in PENMAN, with constants and reentrancies."""
    names = [f"x{k}" for k in range(size)]
    below = {name: [] for name in names}
    for k in range(1, size):
        below[chance.choice(names[:k])].append(names[k])

    def text(name):
        out = [f"({name} / {chance.choice(CONCEPTS)}"]
        out += [f" {chance.choice(ROLES)} {text(child)}" for child in below[name]]
        out += [" :polarity -"] * (chance.random() < 0.3)
        out += [f" :ARG2 {chance.choice(names)}"] * (chance.random() < 0.3)
        return "".join(out) + ")"

    return text(names[0])


@pytest.mark.parametrize("kind", [{}, {"justinstance": True}, {"justattribute": True}, {"justrelation": True}])
def test_smatch_counts_the_same_and_finds_at_least_as_much(kind):
    peer = pytest.importorskip("smatch", reason="the peer")
    found = []
    for seed in range(12):
        chance = random.Random(seed)
        one, other = (graph(chance, chance.randint(1, 6)) for _ in range(2))
        theirs = peer.get_amr_match(one, other, **kind)
        peer.match_triple_dict.clear()
        ours = smatch.get_amr_match(one, other, **kind, strict=False)
        assert ours[1:] == theirs[1:]
        assert ours[0] >= theirs[0]
        found.append((ours[0], theirs[0]))
        assert ours[0] <= sum(ours[1:]) / 2 or ours[0] <= min(ours[1:])
    assert sum(a == b for a, b in found) >= 10  # a climber of hills seldom fails on six nodes


def test_smatch_over_files(tmp_path, monkeypatch):
    peer = pytest.importorskip("smatch", reason="the peer")
    chance = random.Random(7)
    graphs = [[graph(chance, 4) for _ in range(5)] for _ in range(2)]
    files = [tmp_path / "test.amr", tmp_path / "gold.amr"]
    for file, some in zip(files, graphs, strict=True):
        file.write_text("\n\n".join(f"# ::id {k}\n{one}" for k, one in enumerate(some)) + "\n")

    def scores(module):
        with files[0].open() as one, files[1].open() as other:
            return list(module.score_amr_pairs(one, other))

    assert scores(smatch) == [pytest.approx(scores(peer)[0], abs=0.03)]
    monkeypatch.setattr(smatch, "single_score", False)
    monkeypatch.setattr(peer, "single_score", False)
    assert len(scores(smatch)) == len(scores(peer)) == 5
    with pytest.raises(TallystickError, match="f1 has 1 graphs and f2 2; smatch ignores the rest"):
        list(smatch.score_amr_pairs([graphs[0][0]], [graphs[1][0], "", graphs[1][1]]))
    assert len(list(smatch.score_amr_pairs([graphs[0][0]], [graphs[1][0], "", graphs[1][1]], strict=False))) == 1


def test_a_graph_with_itself_is_never_above_1():
    text = "(a / and :op1 (b / boy) :op1 (b2 / boy) :polarity - :polarity -)"
    strict, lenient = (smatch.get_amr_match(text, text, strict=strict) for strict in (True, False))
    assert strict[0] == strict[1] == strict[2]
    assert lenient[0] > lenient[1] == lenient[2]  # as in smatch, which counts 2 x 2
    with pytest.raises(TallystickError, match="exclude each other"):
        smatch.get_amr_match(text, text, justinstance=True, justrelation=True)


# scikit-learn


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=12),
    st.sampled_from((0, 1)), st.booleans(), st.sampled_from((None, ["a"], ["c", "a", "z"], ["a", "b", "c", "d", "e"])), st.sampled_from((2, 5)),
)  # fmt: skip
def test_the_report_of_scikit_learn(pairs, zero, whole, labels, digits):
    peer = pytest.importorskip("sklearn.metrics", reason="the peer")
    y_true, y_pred = zip(*pairs, strict=True)
    if whole:  # numbers, which sort otherwise
        number = {"a": 10, "b": 9, "c": 2, "d": 1, "z": 5, "e": 6}
        y_true, y_pred = ([number[one] for one in side] for side in (y_true, y_pred))
        labels = None if labels is None else [number[one] for one in labels]
    if labels is not None and not {*labels} & {*y_true}:
        return  # an error there
    options = {"labels": labels, "zero_division": zero}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = peer.classification_report(y_true, y_pred, output_dict=True, **options)
        text = peer.classification_report(y_true, y_pred, digits=digits, **options)
    found = ours_of_sklearn.classification_report(y_true, y_pred, output_dict=True, **options)
    assert list(found) == list(wanted)
    for name, row in wanted.items():
        assert found[name] == pytest.approx(row, abs=1e-15)
    shown = ours_of_sklearn.classification_report(y_true, y_pred, digits=digits, **options)
    assert (
        shown.split() == re.sub(r"\.0$", "", text, flags=re.MULTILINE).split()
    )  # 1.9 writes the support as 3.0, others as 3


def test_what_the_report_of_scikit_learn_refuses():
    report = ours_of_sklearn.classification_report
    with pytest.raises(TallystickError, match=r"look like IOB tags.*adapters.seqeval"):
        report(["B-PER", "O"], ["B-PER", "O"])
    assert "accuracy" in report(["B-PER", "O"], ["B-PER", "O"], strict=False)
    for arguments, message in (
        ((["a"], ["a", "b"]), "y_true has 1 labels and y_pred 2"),
        (([["a"]], [["a"]]), "expected one label a sample"),
    ):
        with pytest.raises(TallystickError, match=message):
            report(*arguments)
    with pytest.raises(TallystickError, match="3 target_names for 2 labels"):
        report(["a", "b"], ["a", "b"], target_names=["x", "y", "z"])
    with pytest.warns(UserWarning, match="precision is 0/0"):
        report(["a", "b"], ["a", "a"])


# Wrong calls of all drop-ins

SENTENCES = [["B-PER", "O"], ["O", "B-LOC"]]


def evaluator(true=SENTENCES, pred=SENTENCES, tags=TAGS, **options):
    return nervaluate.Evaluator(true, pred, tags=tags, **options).evaluate()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: seqeval.f1_score(None, SENTENCES),
            "y_true: expected a list of tags for each sentence, found NoneType",
        ),
        (lambda: seqeval.f1_score(SENTENCES, 3), "y_pred: expected .* found int 3"),
        (lambda: seqeval.f1_score("B-PER", "B-PER"), "y_true: expected"),
        (lambda: seqeval.f1_score(SENTENCES, SENTENCES, zero_division="x"), "zero_division: expected 'warn', 0 or 1"),
        (lambda: seqeval.classification_report(SENTENCES, SENTENCES, digits="x"), "digits: expected a whole number"),
        (lambda: seqeval.accuracy_score(None, SENTENCES), "y_true: expected"),
        (lambda: seqeval.performance_measure(SENTENCES, None), "y_pred: expected"),
        (lambda: huggingface.seqeval(predictions=None, references=SENTENCES), "y_pred: expected"),
        (lambda: huggingface.compute(predictions=None, references=["{}"]), "predictions: expected .* found NoneType"),
        (lambda: evaluator(tags=None), "tags: expected .* found NoneType"),
        (lambda: evaluator(true=None), "true: expected .* found NoneType"),
        (lambda: evaluator(true=[None]), "true: expected .* found NoneType"),
        (lambda: evaluator(true=3, loader="conll"), "true: expected .* found int"),
        (lambda: evaluator(true=[[{"label": "PER", "start": "2", "end": 3}]], pred=[[]]), "label, start and end"),
        (lambda: evaluator(true=[[{"label": "PER", "start": 2, "end": None}]], pred=[[]]), "label, start and end"),
        (lambda: coref.CorefEvaluator().update(None, []), "predicted: expected clusters .* found NoneType"),
        (lambda: coref.CorefEvaluator().update([], [0, 1]), "gold: expected clusters"),
        (lambda: coref.CorefEvaluator().update([[[0, 1]]], []), r"predicted: expected clusters .* found list \[0, 1\]"),
        (lambda: list(smatch.score_amr_pairs(None, ["(a / b)"])), "f1: expected lines of PENMAN, .*found NoneType"),
        (
            lambda: list(smatch.score_amr_pairs("a.txt", ["(a / b)"])),
            "f1: expected lines of PENMAN, .*found str 'a.txt'",
        ),
        (lambda: list(smatch.score_amr_pairs([3], ["(a / b)"])), "f1: expected lines of PENMAN, found int 3"),
        (lambda: smatch.get_amr_match("(a / b)", None), "gold.*: expected lines of PENMAN, found NoneType"),
        (lambda: ours_of_sklearn.classification_report(None, [1]), "y_true: expected .* found NoneType"),
        (lambda: ours_of_sklearn.classification_report("ab", "ab"), "y_true: expected .* found str"),
        (lambda: ours_of_sklearn.classification_report([1, 2], [1, "2"]), "labels are of different kinds: int, str"),
        (lambda: ours_of_sklearn.classification_report([], []), "no labels"),
    ],
)
def test_wrong_calls_say_what_was_expected(call, message):
    with pytest.raises(TallystickError, match=message):
        call()


def test_iterators_are_read_once_and_whole():
    assert seqeval.f1_score(iter(SENTENCES), (iter(tags) for tags in SENTENCES)) == 1
    assert seqeval.accuracy_score(iter(SENTENCES), iter(SENTENCES)) == 1
    assert evaluator(true=iter(SENTENCES), pred=map(iter, SENTENCES))["overall"]["strict"].f1 == 1
    assert list(smatch.score_amr_pairs(io.BytesIO(b"(a / b)"), iter(["(a / b)"]))) == [(1, 1, 1)]


def test_a_document_that_is_refused_leaves_nothing_behind():
    found = coref.CorefEvaluator()
    found.update([[(0, 1), (2, 3)]], [[(0, 1), (2, 3)]])
    with pytest.raises(TallystickError):
        found.update(None, [[(0, 1), (2, 3)]])
    assert found.get_prf() == (1, 1, 1)

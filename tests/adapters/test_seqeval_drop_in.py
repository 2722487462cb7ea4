"""`tallystick.adapters.seqeval` against seqeval itself, over well-formed, malformed and made-up tags."""

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.adapters import seqeval as ours
from tallystick.adapters.huggingface import seqeval as dict_of
from tallystick.errors import TallystickError

theirs = pytest.importorskip("seqeval.metrics", reason="the peer")
schemes = pytest.importorskip("seqeval.scheme", reason="the peer")

LETTERS = {"IOB1": "BI", "IOB2": "BI", "IOE1": "IE", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}


def texts(letters, types=("PER", "LOC", "x-y"), suffix=False):
    """Pairs of tag lists of one length: any letter before any type, so that most lists break every scheme."""
    tags = ["O", *(f"{t}-{x}" if suffix else f"{x}-{t}" for x in letters for t in types)]
    pair = st.integers(0, 6).flatmap(
        lambda n: st.tuples(*[st.lists(st.sampled_from(tags), min_size=n, max_size=n)] * 2)
    )
    return st.lists(pair, min_size=1, max_size=4).map(lambda pairs: tuple(map(list, zip(*pairs, strict=True))))


def quietly(function, *arguments, **options):
    """What a function answers, and whether it warned of 0/0."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = function(*arguments, **options)
    return answer, any("UndefinedMetric" in one.category.__name__ for one in caught)


def assert_same(y_true, y_pred, *, report=True, **options):
    """One of the functions, one of the averages and one policy for 0/0, by the tags at hand; and the report."""
    choose = random.Random(repr((y_true, y_pred)))
    average = choose.choice(("micro", "macro", "weighted", None))
    zero = {"zero_division": choose.choice(("warn", 0, 1))}
    name = choose.choice(("precision_score", "recall_score", "f1_score"))
    one, warned = quietly(getattr(theirs, name), y_true, y_pred, average=average, **zero, **without(options))
    two, too = quietly(getattr(ours, name), y_true, y_pred, average=average, **zero, **options)
    if np.size(one) == 0 or not np.isnan(one).any():  # 0/0 over no labels, which is NaN there
        np.testing.assert_array_equal(two, one, err_msg=f"{name} {average}")
        assert warned == too
    if not report:
        return
    one = quietly(theirs.classification_report, y_true, y_pred, output_dict=True, **zero, **without(options))[0]
    two = quietly(ours.classification_report, y_true, y_pred, output_dict=True, **zero, **options)[0]
    if len(one) > 3:
        assert two == one
        digits = choose.choice((0, 2, 5))
        text = quietly(theirs.classification_report, y_true, y_pred, digits=digits, **zero, **without(options))[0]
        assert quietly(ours.classification_report, y_true, y_pred, digits=digits, **zero, **options)[0] == text


def without(options):
    return {name: value for name, value in options.items() if name != "strict"}


@settings(max_examples=50, deadline=None)
@given(texts("BIES"))
def test_the_default_mode(pair):
    assert_same(*pair)


@settings(max_examples=15, deadline=None)
@given(texts("BIES", suffix=True))
def test_suffixes(pair):
    assert_same(*pair, suffix=True)


@pytest.mark.parametrize("name", LETTERS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_strict_mode_of_every_scheme(name, data):
    pair = data.draw(texts(LETTERS[name], types=("PER", "LOC")))
    assert_same(*pair, mode="strict", scheme=getattr(schemes, name))
    assert ours.f1_score(*pair, mode="strict", scheme=name, zero_division=0) == ours.f1_score(
        *pair, mode="strict", scheme=getattr(ours, name), zero_division=0
    )


@settings(max_examples=50, deadline=None)
@given(texts("BIESLUPx.", types=("PER", "P")), st.booleans())
def test_without_strict_the_default_mode_has_seqevals_figure_for_whatever_stands_there(pair, bare):
    if bare:
        pair = tuple([[tag.split("-")[-1] for tag in tags] for tags in side] for side in pair)
    assert_same(*pair, strict=False)
    assert_same(*pair, strict=False, scheme=schemes.IOB2, report=False)  # which it ignores
    assert_same(*pair, strict=False, mode="strict", report=False)  # lenient, without a scheme


@settings(max_examples=20, deadline=None)
@given(texts("BIES"))
def test_tokens(pair):
    if sum(map(len, pair[0])):
        assert ours.accuracy_score(*pair) == theirs.accuracy_score(*pair)
        assert ours.performance_measure(*pair) == theirs.performance_measure(*pair)


@pytest.mark.parametrize("letters", ["BI", "IE", "BIES", "BILU"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_the_report_detects_the_scheme(letters, data):
    y_true, y_pred = data.draw(texts(letters, types=("PER",)))
    try:
        found = schemes.auto_detect(y_true)
    except ValueError:  # of S or U alone beside O it knows nothing
        return
    assert ours.detect_scheme(y_true) == found.__name__
    foreign = {tag[0] for tags in y_pred for tag in tags} - {"O", *LETTERS[found.__name__]}
    if foreign:
        with pytest.raises(TallystickError, match="has the prefix"):
            ours.classification_report(y_true, y_pred, mode="strict")
    else:
        assert_same(y_true, y_pred, mode="strict", scheme=found)


TRUE, PRED = [["U-PER", "U-PER", "O"]], [["U-PER", "O", "O"]]


def test_where_seqeval_is_wrong():
    """Two entities of one token each are two."""
    assert ours.recall_score(TRUE, PRED) == 0.5
    assert ours.recall_score(TRUE, PRED, strict=False) == quietly(theirs.recall_score, TRUE, PRED)[0] == 0.0
    tags = [["B-PER", "I-PER", "I-LOC"]], [["B-PER", "I-PER", "O"]]
    assert ours.f1_score(*tags, mode="strict") == theirs.f1_score(*tags, mode="strict", scheme=schemes.IOB2) == 1.0
    assert ours.f1_score(*tags, mode="strict", strict=False) == theirs.f1_score(*tags, mode="strict") == 2 / 3
    assert ours.f1_score([["O"]], [["O"]], average="macro", zero_division=1) == 1.0  # NaN there
    assert "weighted avg" in ours.classification_report([["O"]], [["O"]], zero_division=0)  # a ValueError there


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([["PER"]], [["O"]]), {}, "is not a tag"),
        (([["B-PER"]], [["O"]]), {"scheme": "IOB2"}, "only with mode='strict'"),
        (([["B-PER"]], [["O"]]), {"scheme": "IOB3", "mode": "strict"}, 'Did you mean "IOB2"'),
        (([["B-PER"]], [["O"]]), {"sample_weight": [1]}, "accepts sample_weight but ignores it"),
        (([["B-PER"]], [["O"]]), {"mode": "lenient"}, "expected None or 'strict'"),
        (([["B-PER"]], [["O"]]), {"average": "samples"}, "expected None, micro"),
        (([["B-PER"]], [["O", "O"]]), {}, "sentence 0 has 1 and 2 tags"),
        (([["B-PER"]], [["O"], ["O"]]), {}, "1 and 2 sentences"),
        ((["B-PER"], ["O"]), {}, "a list of tags for each sentence"),
    ],
)
def test_what_is_refused(arguments, options, message):
    with pytest.raises(TallystickError, match=message):
        ours.f1_score(*arguments, **options)


def seqeval_of_evaluate(predictions, references, **options):
    """What `evaluate.load("seqeval")` computes, from seqeval's report (it has to be downloaded, which tests do not)."""
    report = theirs.classification_report(references, predictions, output_dict=True, **options)
    means = {name: report.pop(f"{name} avg") for name in ("macro", "weighted", "micro")}
    out = {
        name: {"precision": row["precision"], "recall": row["recall"], "f1": row["f1-score"], "number": row["support"]}
        for name, row in report.items()
    }
    overall = {
        f"overall_{one}": means["micro"][key]
        for one, key in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score"))
    }
    return {**out, **overall, "overall_accuracy": theirs.accuracy_score(references, predictions)}


@settings(max_examples=20, deadline=None)
@given(texts("BI"))
def test_the_dict_of_hugging_face(pair):
    references, predictions = pair
    if any(tag != "O" for side in pair for tags in side for tag in tags):
        wanted = quietly(seqeval_of_evaluate, predictions, references)[0]
        found = quietly(dict_of, predictions=predictions, references=references)[0]
        assert found == wanted
        wanted = quietly(seqeval_of_evaluate, predictions, references, mode="strict", scheme=schemes.IOB2)[0]
        if len(wanted) > 4:
            assert (
                quietly(dict_of, predictions=predictions, references=references, mode="strict", scheme="IOB2")[0]
                == wanted
            )

"""The named span metrics: their averages, their rows, their agreement with the counts, the algebra and the peers."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from plain_spans import corpora, laid_out, separators, tokens
from span_counting import count_exact, count_tokens, count_tokens_and_separators, macro, micro, weighted

import tallystick as ts
from tallystick.engine.tally import Labelled, total
from tallystick.errors import InputError, MetricError, SidesMismatch
from tallystick.results.resampling import intervals
from tallystick.tasks.spans import metrics as spans
from tallystick.tasks.spans.counts import annotate, count_expression, count_scheme
from tallystick.tasks.spans.files import SpanCorpus
from tallystick.tasks.spans.metrics import AVERAGES, METRICS, SpanOptions, metrics_for
from tallystick.tasks.spans.metrics import f_beta as f1
from tallystick.tasks.spans.show import seqeval_report

# Table 1 of Esuli and Sebastiani: The quick brown fox jumps over the lazy dog
TABLE_1 = ([[(1, 3, "A"), (7, 9, "A")]], [[(1, 4, "A"), (7, 8, "A"), (8, 9, "A")]])
EVERY = tuple(name for name, metric in METRICS.items() if not metric.of_tags)
SEGMENT, UNIT = METRICS["segment"].expression, METRICS["ts"].expression
LIMITS = SpanOptions(k1=1, k2=1)


def random_tags(seed=0, sentences=60, types=("PER", "LOC", "ORG")):
    rng = random.Random(seed)
    sides = ([], [])
    for _ in range(sentences):
        tags = [rng.choice(["O", "O", *(f"{p}-{t}" for p in "BI" for t in types)]) for _ in range(rng.randrange(12))]
        sides[0].append(tags)
        sides[1].append([rng.choice(["O", "B-PER", "I-LOC"]) if rng.random() < 0.3 else tag for tag in tags])
    return sides


def test_table_1_under_every_metric():
    results = spans.evaluate(*TABLE_1, EVERY, lengths=[9], options=LIMITS)
    found = {name: result.score for name, result in results.items()}
    assert found == pytest.approx(
        {"segment": 0, "ts": 10 / 13, "token": 8 / 9, "overlap": 1, "contain": 0.4, "constrained_overlap": 1,
         "iou": 0.8, "segment_units": 8 / 13, "strict": 0, "exact": 0, "partial": 0.4, "type": 0.8,
         "nervaluate_strict": 0, "nervaluate_exact": 0, "nervaluate_partial": 0.4, "nervaluate_ent_type": 0.8}
    )  # fmt: skip
    assert results["ts"].accuracy == pytest.approx(0.8235, abs=5e-5)
    assert results["ts"].kappa == pytest.approx(0.6277, abs=5e-5)
    half = spans.evaluate(*TABLE_1, ["ts"], lengths=[9], options=SpanOptions(separators=0.5))["ts"]
    assert (half.f1, half.accuracy, half.kappa) == pytest.approx((0.8182, 0.8462, 0.6867), abs=5e-5)
    assert spans.evaluate(*TABLE_1, ["overlap"], options=SpanOptions(partner="one-to-one"))["overlap"].f1 == 0.8


def test_tags_and_spans_are_the_same_annotation():
    tags = [["O", "B-A", "I-A", "B-B"], []], [["O", "B-A", "O", "B-B"], []]
    as_spans = [[(1, 3, "A"), (3, 4, "B")], []], [[(1, 2, "A"), (3, 4, "B")], []]
    one, other = (
        spans.evaluate(*tags, EVERY, options=LIMITS),
        spans.evaluate(*as_spans, EVERY, lengths=[4, 0], options=LIMITS),
    )
    assert {name: result.averages for name, result in one.items()} == {name: r.averages for name, r in other.items()}


def test_the_default_prints_segment_micro_and_ts_macro():
    results = spans.evaluate(*random_tags())
    assert list(results) == ["segment", "ts"]
    assert [result.kind.average for result in results.values()] == ["micro", "macro"]
    for result in results.values():
        entry = result.as_dict()
        assert isinstance(result.kind, Labelled)
        own = entry[result.kind.average]
        assert {name: entry[name] for name in result.figures} == {name: own[name] for name in result.figures}
        assert set(AVERAGES) <= set(entry)
    assert "average=macro" in results["ts"].signature


@given(corpora())
def test_averages_are_those_of_the_counts(corpus):
    texts = laid_out(corpus)
    results = spans.score(SpanCorpus(texts), ["segment", "token", "ts"])
    for name, count in (("segment", count_exact), ("token", count_tokens), ("ts", count_tokens_and_separators)):
        counts, result = count(texts), results[name]
        expected = {
            "micro": micro(f1, counts),
            "macro": macro(f1, counts).value,
            "weighted": weighted(f1, counts).value,
        }
        found = {average: figures["f1"] for average, figures in result.averages.items()}
        assert found == pytest.approx({average: np.nan_to_num(value) for average, value in expected.items()})


@given(corpora())
def test_the_rows_add_up_to_the_sums(corpus):
    texts = laid_out(corpus)
    gaps = any(side.pieces is not None for side in (texts.reference, texts.predicted))
    metrics = [name for name in EVERY if not (gaps and METRICS[name].greedy)]
    for result in spans.score(SpanCorpus(texts), metrics, LIMITS).values():
        sums = result.sums
        assert result.rows.shape == (len(corpus[2]), len(result.kind.sums))
        np.testing.assert_array_equal(total(result.rows), sums)
        assert len(result.documents) == len(corpus[2])


@given(corpora())
def test_segment_and_units_are_expressions_of_the_algebra(corpus):
    sides = corpus[:2]
    found = spans.score(SpanCorpus(laid_out(corpus)), ["segment", "token", "ts"])
    segments = [[[{"start": s[0], "end": 0, "tag": s[1]} for s in text] for text in side] for side in sides]
    of_tokens = [[[{"unit": u, "tag": s[1]} for s in text for u in tokens(s)] for text in side] for side in sides]
    of_both = [
        [
            [*units, *({"unit": -1 - u, "tag": s[1]} for s in text for u in separators(s))]
            for text, units in zip(*pair, strict=True)
        ]
        for pair in zip(sides, of_tokens, strict=True)
    ]
    for name, metric, items in (
        ("segment", SEGMENT, segments), ("token", UNIT, of_tokens), ("ts", UNIT, of_both)
    ):  # fmt: skip
        derived = ts.evaluate(metric, *items, undefined=0.0)
        assert derived.f1 == pytest.approx(found[name].micro["f1"])


@pytest.mark.parametrize("partner", ["any", "one-to-one"])
@given(corpora(discontinuous=False))
def test_partners_counted_by_hand_are_their_expressions(partner, corpus):
    texts = laid_out(corpus)
    for name, iou in (("overlap", 0.5), ("contain", 0.5), ("iou", 0.5), ("iou", 0.1), ("iou", 1)):
        metric = metrics_for(SpanOptions(partner=partner, iou=iou))[name]
        for rows in ("text", "corpus"):
            by_hand = spans.count(name, texts, rows, partner=partner, iou=iou)
            derived = count_expression(metric.expression, texts, rows)
            for part in ("num_p", "den_p", "num_r", "den_r"):
                np.testing.assert_array_equal(getattr(by_hand, part), getattr(derived, part))


def test_a_result_carries_its_expression_and_its_documents():
    gold, guess = [[(0, 2, "PER"), (3, 4, "LOC")], [(0, 1, "PER")]], [[(0, 2, "PER"), (3, 5, "LOC")], [(0, 1, "LOC")]]
    found = spans.evaluate(gold, guess, EVERY, lengths=[5, 2], options=LIMITS)
    ids = found["segment"].ids
    assert found["segment"].expression == SEGMENT
    assert found["segment"].explain(ids[0]).children[0].status == "matched"
    assert [row.path for row in found["segment"].by_field()] == ["[*].start", "[*].end", "[*].tag"]
    for name in ("overlap", "contain", "iou"):
        assert found[name].metric == METRICS[name].expression
        assert found[name].explain(ids[1]).children
    gaps = spans.evaluate([[(0, 4, "S", ((0, 1), (3, 4)))]], [[(0, 4, "S")]], ["segment", "overlap"], lengths=[4])
    assert "pieces=exact" in gaps["segment"].signature
    assert gaps["overlap"].metric == "spans.overlap(partner=any)"  # the algebra's ranges have no gaps
    assert (gaps["segment"].f1, gaps["overlap"].f1) == (0, 1)


def test_expression_in_the_signature_only_where_it_holds():
    plain = spans.evaluate(*TABLE_1, ["ts"])["ts"].signature
    assert str(UNIT) in plain
    assert str(UNIT) not in spans.evaluate(*TABLE_1, ["ts"], options=SpanOptions(separators=0.5))["ts"].signature
    assert "separators=0.5" in spans.evaluate(*TABLE_1, ["ts"], options=SpanOptions(separators=0.5))["ts"].signature


def test_a_supertag_is_a_row_outside_the_means():
    gold, guess = [[(0, 2, "PER"), (3, 4, "LOC")]], [[(0, 2, "LOC"), (3, 4, "LOC")]]
    plain = spans.evaluate(gold, guess, EVERY, lengths=[5], options=LIMITS)
    both = SpanOptions(k1=1, k2=1, supertags=(("ENTITY", ()), ("PLACE", ("LOC",))))
    above = spans.evaluate(gold, guess, EVERY, lengths=[5], options=both)
    for name in EVERY:
        assert above[name].averages == plain[name].averages
        rows = {row.label: row for row in above[name].by_label()}
        assert list(rows) == ["LOC", "PER", "ENTITY", "PLACE"]
        assert rows["ENTITY"].figures["f1"] == 1
        assert rows["PLACE"].figures == rows["LOC"].figures
    with pytest.raises(MetricError, match='"LOC" is a tag already'):
        spans.evaluate(gold, guess, options=SpanOptions(supertags=(("LOC", ("PER",)),)))


def test_types_ignored():
    gold, guess = [[(0, 2, "PER")]], [[(0, 2, "LOC")]]
    assert spans.evaluate(gold, guess)["segment"].f1 == 0
    result = spans.evaluate(gold, guess, options=SpanOptions(types=False))["segment"]
    assert result.f1 == 1
    assert "types=ignored" in result.signature


def test_declared_tags_make_the_mean_and_what_neither_side_has_is_said():
    gold, guess = [[(0, 2, "A"), (3, 4, "B")]], [[(0, 2, "A"), (5, 6, "C")]]
    result = spans.evaluate(gold, guess, lengths=[7], options=SpanOptions(tags=("A", "B", "Z")))["segment"]
    assert result.macro["f1"] == 0.5
    assert result.as_dict()["macro"]["left_out"] == ["Z"]
    assert any('neither side has it: "Z"' in note for note in result.warnings)
    assert any('in no mean over tags, but counted in micro: "C"' in note for note in result.warnings)
    assert result.micro["f1"] == 0.5
    assert spans.evaluate(gold, guess)["segment"].macro["f1"] == pytest.approx(1 / 3)  # a tag only predicted scores 0


def test_bags_of_units_have_no_kappa_and_say_so():
    gold = [[(0, 4, "A"), (2, 6, "A")]]
    result = spans.evaluate(gold, gold, ["ts"], lengths=[8])["ts"]
    assert "kappa" not in result.figures
    assert any('a token has the tag "A"' in note and "there are none" in note for note in result.warnings)
    assert "kappa" not in spans.evaluate(*TABLE_1, ["ts"])["ts"].figures  # nobody knows how long the text is
    assert "kappa" not in spans.evaluate(*TABLE_1, ["segment"], lengths=[9])["segment"].figures


def test_beta():
    result = spans.evaluate(*TABLE_1, ["ts"], options=SpanOptions(beta=2))["ts"]
    assert result.kind.headline == "f2"
    assert result.f2 == pytest.approx(5 * 5 / (4 * 6 + 7))


@pytest.mark.parametrize("metric", ["ts", "token", "overlap"])
def test_beta_0_is_precision(metric):
    """Esuli & Sebastiani 2010 let β be 0; under `overlap` precision and recall have numerators of their own."""
    result = spans.evaluate(*TABLE_1, [metric], options=SpanOptions(beta=0))[metric]
    assert result.kind.headline == "f0"
    assert result.f0 == result.precision > 0


@pytest.mark.parametrize("beta", [-1.0, float("inf"), float("nan")])
def test_what_beta_cannot_be(beta):
    with pytest.raises(MetricError, match="beta is 0 or more"):
        SpanOptions(beta=beta)


def test_token_weights_flat_or_by_text_or_by_function():
    flat = [0, 1, 1, 5, 0, 0, 0, 1, 1]
    found = [
        spans.evaluate(*TABLE_1, ["token"], lengths=[9], token_weights=w)["token"]
        for w in (flat, [flat], lambda text, token: flat[token])
    ]
    assert [result.precision for result in found] == [4 / 9] * 3
    assert "tokens weighted" in found[0].signature


def test_nothing_at_all_is_zero_and_said():
    result = spans.evaluate([["O", "O"]], [["O", "O"]])["segment"]
    assert result.f1 == 0
    assert any("0/0" in warning for warning in result.warnings)
    assert all(result.f1 == 0 for result in spans.evaluate([], []).values())


@pytest.mark.parametrize("scheme", ["strict", "exact", "partial", "type"])
def test_schemes_overall_and_by_tag(scheme):
    gold, guess = random_tags(3, 40)
    result = spans.evaluate(gold, guess, ["semeval"])[scheme]
    texts = SpanCorpus(spans.corpus_from_python(gold, guess).texts).texts
    five = count_scheme(texts, scheme, "corpus")
    assert result.kind.pooled_tally(result.sums)["correct"] == five.correct.sum()
    assert result.micro["f1"] == pytest.approx(f1(five.as_counts())[0, 0])


def test_nervaluate_itself_on_data_without_conflicts():
    from nervaluate import Evaluator

    # one prediction for each true segment: no order to depend on
    rng = random.Random(11)
    gold, guess = [], []
    for _ in range(50):
        gold.append([{"label": rng.choice("AB"), "start": 5 * k, "end": 5 * k + 2} for k in range(4)])
        guess.append([
            {"label": rng.choice("AB"), "start": g["start"] + rng.choice((0, 0, 1)), "end": g["end"]}
            for g in gold[-1] if rng.random() < 0.8
        ])  # fmt: skip
    theirs = Evaluator(gold, guess, tags=["A", "B"], loader="dict").evaluate()
    ours = spans.evaluate(
        *([[(s["start"], s["end"] + 1, s["label"]) for s in text] for text in side] for side in (gold, guess)),
        ["semeval"],
    )
    for name, result in ours.items():
        scheme = {"type": "ent_type"}.get(name, name)
        assert result.precision == pytest.approx(theirs["overall"][scheme].precision)
        assert result.recall == pytest.approx(theirs["overall"][scheme].recall)
        for row in result.by_label():
            their = theirs["entities"][row.label][scheme]
            assert (row.figures["precision"], row.figures["recall"]) == pytest.approx((their.precision, their.recall))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("digits", [2, 4])
def test_seqevals_report_to_the_letter(digits):
    from seqeval.metrics import classification_report

    for seed in range(5):
        gold, guess = random_tags(seed, types=("PER", "ORGANISATION-OF-MANY"))
        result = spans.evaluate(gold, guess)["segment"]
        assert seqeval_report(result, digits) == classification_report(gold, guess, digits=digits)


def test_repairs_are_noted():
    result = spans.evaluate([["I-A", "I-A"]], [["B-A", "I-A"]])["segment"]
    assert result.f1 == 1
    assert any("1 tag breaks the scheme" in note and "reference[0][0]" in note for note in result.warnings)
    strict = spans.evaluate([["I-A", "I-A"]], [["B-A", "I-A"]], reading="strict")["segment"]
    assert strict.tally["A.den_r"] == 0
    assert any("left out" in note for note in strict.warnings)


def test_results_can_be_pickled_and_resampled():
    results = pickle.loads(pickle.dumps(spans.evaluate(*random_tags(5))))
    for result, found in zip(results.values(), intervals(list(results.values()), resamples=200), strict=True):
        assert found["f1"].low < result.f1 < found["f1"].high


def test_several_systems_have_one_kind_of_tally():
    corpora = {
        name: SpanCorpus(annotate([[(0, 1, "A")]], [[(0, 1, tag)]], [3])) for name, tag in (("x", "A"), ("y", "B"))
    }
    results = spans.score_systems(corpora)
    assert results["x"]["segment"].kind == results["y"]["segment"].kind
    assert (results["x"]["segment"].f1, results["y"]["segment"].f1) == (1, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": ["segmnt"]}, 'Did you mean "segment"'),
        ({"metrics": ["constrained_overlap"]}, "needs k1"),
    ],
)
def test_bad_choices(arguments, message):
    with pytest.raises(MetricError, match=message):
        spans.evaluate(*TABLE_1, **arguments)
    with pytest.raises(MetricError, match='Did you mean "macro"'):
        SpanOptions(average="makro")
    with pytest.raises(SidesMismatch):
        spans.evaluate([["O"]], [["O", "O"]])


@pytest.mark.filterwarnings("ignore")
def test_peers_faults():
    """What docs/spans.md says about the others, and what is right."""
    from nervaluate import Evaluator
    from seqeval.metrics import f1_score

    assert f1_score([["PER", "O"]], [["B-ER", "O"]]) == 1.0
    with pytest.raises(InputError, match='"PER" is not a tag'):
        spans.evaluate([["PER", "O"]], [["B-ER", "O"]])
    assert f1_score([["B-A"], ["B-A"]], [["B-A"], ["O"]], sample_weight=[1, 9]) == 2 / 3
    assert np.isnan(f1_score([["O", "O"]], [["O", "O"]], average="macro"))
    assert spans.evaluate([["O", "O"]], [["O", "O"]])["segment"].macro["f1"] == 0

    long, short = {"label": "A", "start": 0, "end": 4}, {"label": "A", "start": 0, "end": 2}
    theirs = [
        Evaluator([[long]], [order], tags=["A"], loader="dict").evaluate()["overall"]["strict"].f1
        for order in ([short, long], [long, short])
    ]
    assert theirs == [0, 2 / 3]
    for order in ([(0, 3, "A"), (0, 5, "A")], [(0, 5, "A"), (0, 3, "A")]):
        assert spans.evaluate([[(0, 5, "A")]], [order], ["strict"])["strict"].f1 == 2 / 3


def test_a_tag_that_overlaps_itself_keeps_the_true_negatives_of_the_others():
    gold, guess = [[(0, 3, "A"), (2, 5, "A"), (6, 8, "B")]], [[(0, 3, "A"), (6, 7, "B"), (8, 9, "C")]]
    result = spans.evaluate(gold, guess, ["token"], lengths=[10])["token"]
    alone = spans.evaluate([[(6, 8, "B")]], [[(6, 7, "B"), (8, 9, "C")]], ["token"], lengths=[10])["token"]
    ours, theirs = ({row.label: row.figures for row in one.by_label()} for one in (result, alone))
    assert (ours["B"], ours["C"]) == (theirs["B"], theirs["C"])
    for name in ("accuracy", "kappa", "specificity"):
        assert ours["A"][name] is None
        for average in ("micro", "macro", "weighted"):
            assert result.averages[average][name] == alone.averages[average][name]
    assert ours["A"]["f1"] == pytest.approx(2 * 3 / (3 + 6))
    assert any('a token has the tag "A"' in warning for warning in result.warnings)
    only = spans.evaluate([[(0, 3, "A"), (2, 5, "A")]], [[(0, 3, "A")]], ["token"], lengths=[10])["token"]
    assert "accuracy" not in only.figures


def test_a_tag_that_overlaps_itself_in_one_system_is_without_true_negatives_in_all():
    corpora = {
        name: SpanCorpus(annotate([[(0, 3, "A"), (5, 6, "B")]], [found], [8]))
        for name, found in (("flat", [(0, 3, "A")]), ("twice", [(0, 3, "A"), (1, 2, "A"), (5, 6, "B")]))
    }
    found = spans.score_systems(corpora, ["ts"])
    assert found["flat"]["ts"].kind == found["twice"]["ts"].kind
    assert [found[name]["ts"].averages["macro"]["kappa"] for name in corpora] == [0, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scheme", ["IOB2", "IOBES"])
def test_tag_accuracy_is_seqevals_and_conllevals(scheme):
    from seqeval.metrics import accuracy_score

    rng = random.Random(5)
    for _ in range(20):
        tags = ["O", *(f"{prefix}-{kind}" for prefix in {"IOB2": "BI", "IOBES": "BIES"}[scheme] for kind in "XY")]
        gold = [[rng.choice(tags) for _ in range(rng.randint(1, 9))] for _ in range(6)]
        guess = [[tag if rng.random() < 0.7 else rng.choice(tags) for tag in text] for text in gold]
        result = spans.evaluate(gold, guess, ["tag_accuracy"], scheme=scheme)["tag_accuracy"]
        assert result.accuracy == pytest.approx(accuracy_score(gold, guess), abs=1e-15)
        assert result.rows.tolist() == [
            [sum(a == b for a, b in zip(*pair, strict=True)), len(pair[0])] for pair in zip(gold, guess, strict=True)
        ]


def test_tag_accuracy_needs_tags_and_takes_weights():
    with pytest.raises(MetricError, match="tag_accuracy compares the tags of tokens, and these are spans"):
        spans.evaluate([[(0, 1, "A")]], [[(0, 1, "A")]], ["tag_accuracy"], lengths=[2])
    with pytest.raises(MetricError, match="as they are written"):
        spans.evaluate([["O"]], [["O"]], ["tag_accuracy"], options=SpanOptions(types=False))
    found = spans.evaluate([["B-A", "O"]], [["O", "O"]], ["tag_accuracy"], token_weights=[3.0, 1.0])["tag_accuracy"]
    assert found.accuracy == 0.25

"""The coreference metrics on examples that can be checked by hand, and what changes them: variants, singletons,
scopes, soft mentions, repeated mentions."""

import pytest

from tallystick.errors import MetricError, SidesMismatch
from tallystick.tasks.coreference.chains import PairedChains, pair
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.coreference.metrics import METRICS, VARIANTS, CoreferenceOptions, evaluate, score

KEY, RESPONSE = ["abc", "defg"], ["ab", "cd", "fghi"]


def sides(*documents):
    """Documents written as lists of strings of one-letter mentions."""
    return [[list(entity) for entity in document] for document in documents]


def counts(result):
    tally = result.tally
    return tuple((tally[f"num_{s}"], tally[f"den_{s}"]) for s in "pr")


@pytest.fixture(scope="module")
def worked():
    """Section 4 of "Scoring Coreference Partitions of Predicted Mentions"."""
    return evaluate(sides(KEY), sides(RESPONSE))


@pytest.mark.parametrize(
    ("metric", "of_response", "of_key", "f1"),
    [
        ("mentions", (6, 8), (6, 7), 12 / 15),
        ("muc", (2, 5), (2, 5), 2 / 5),
        ("b3", (4, 8), (35 / 12, 7), 5 / 11),
        ("ceaf_m", (4, 8), (4, 7), 8 / 15),
        ("ceaf_e", (1.3, 3), (1.3, 2), 0.52),
        ("lea", (8 / 3, 8), (5 / 3, 7), 2 * (1 / 3) * (5 / 21) / (1 / 3 + 5 / 21)),
    ],
)
def test_the_worked_example(worked, metric, of_response, of_key, f1):
    result = worked[metric]
    assert counts(result) == (pytest.approx(of_response), pytest.approx(of_key))
    assert result.precision == pytest.approx(of_response[0] / of_response[1])
    assert result.recall == pytest.approx(of_key[0] / of_key[1])
    assert result.f1 == pytest.approx(f1)


def test_the_worked_example_in_blanc(worked):
    """The paper prints .36 (and .46 for B³) because it rounds P, R and Fc first."""
    blanc = worked["blanc"]
    assert list(blanc.tally.values()) == [2, 9, 8, 8, 12, 20]
    assert blanc.f1 == pytest.approx((4 / 17 + 1 / 2) / 2)
    assert round(blanc.f1, 4) == 0.3676
    assert blanc.precision == pytest.approx((2 / 8 + 8 / 20) / 2)
    assert blanc.recall == pytest.approx((2 / 9 + 8 / 12) / 2)


def test_the_worked_example_in_the_conll_score(worked):
    assert worked["conll"].figures == {"f1": pytest.approx((2 / 5 + 5 / 11 + 0.52) / 3)}
    assert list(worked) == ["mentions", "muc", "b3", "ceaf_m", "ceaf_e", "blanc", "lea", "conll"]


# "Scoring Coreference Partitions of Predicted Mentions", section 2: key {a, b, c}, response {a, b, d}, after Cai & Strube 2010, tables 1 to 3.


@pytest.mark.parametrize(
    ("metric", "precision", "recall"),
    [
        ("b3", 4 / 9, 4 / 9),
        ("b3_0", 1, 4 / 9),
        ("b3_all", 5 / 9, 5 / 9),
        ("b3_rahman_ng", 4 / 9, 4 / 9),
        ("b3_cai_strube", 2 / 3, 5 / 9),
        ("ceaf_m_cai_strube", 1 / 2, 2 / 3),
        ("ceaf_m_rahman_ng", 2 / 3, 2 / 3),
        ("ceaf_e_rahman_ng", 2 / 3, 2 / 3),
    ],
)
def test_the_variants(metric, precision, recall):
    result = evaluate(sides(["abc"]), sides(["abd"]), [metric])[metric]
    assert (result.precision, result.recall) == (pytest.approx(precision), pytest.approx(recall))


def test_a_singleton_of_a_key_mention_is_added():
    """Section 2 calls {c} spurious; it is in the key, so the formula of section 4.2 gives .583, not .333."""
    found = evaluate(sides(["abc"]), sides(["abd", "c"]), ["b3", "b3_all"])
    assert (found["b3"].precision, found["b3"].recall) == (pytest.approx(7 / 12), pytest.approx(5 / 9))
    assert found["b3_all"].precision == pytest.approx(2 / 3)


def test_a_spurious_singleton_is_added():
    found = evaluate(sides(["abc"]), sides(["abd", "x"]), ["b3", *VARIANTS])
    assert found["b3"].precision == pytest.approx(1 / 3)
    for removes_it in ("b3_0", "b3_rahman_ng", "b3_cai_strube", "ceaf_m_cai_strube", "ceaf_m_rahman_ng"):
        without = evaluate(sides(["abc"]), sides(["abd"]), [removes_it])[removes_it]
        assert found[removes_it].figures == pytest.approx(without.figures), removes_it


@pytest.mark.parametrize("metric", [*METRICS, *VARIANTS])
def test_the_tally_of_documents_is_the_sum_of_their_tallies(metric):
    """Cai & Strube's mentions were once looked up with different strides on the two sides: right for one document."""
    key, response = (["abc"], ["uvwxyz", "a"]), (["abd"], ["uvw", "xy", "zq"])
    both = evaluate(sides(*key), sides(*response), [metric])[metric]
    apart = [evaluate(sides(k), sides(r), [metric])[metric] for k, r in zip(key, response, strict=True)]
    assert both.sums == pytest.approx(sum(one.sums for one in apart))


@pytest.mark.parametrize("metric", [*METRICS, *VARIANTS])
def test_a_perfect_response_is_perfect(metric):
    result = evaluate(sides(KEY, ["ab"]), sides(KEY, ["ba"]), [metric])[metric]
    assert set(result.figures.values()) == {1.0}


# 0/0, singletons, empty sides


def test_one_mention_and_only_singletons():
    """As the reference scorer: MUC is 0/0 = 0; BLANC has no links for one mention, only other links for several."""
    one = evaluate(sides(["a"]), sides(["a"]))
    assert {name: result.score for name, result in one.items()} == {
        "mentions": 1, "muc": 0, "b3": 1, "ceaf_m": 1, "ceaf_e": 1, "blanc": 0, "lea": 1, "conll": 2 / 3,
    }  # fmt: skip
    several = evaluate(sides(["a", "b", "c"]), sides(["c", "b", "a"]))
    assert [several[name].score for name in ("muc", "b3", "ceaf_e", "blanc", "lea")] == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(("key", "response"), [([], ["ab"]), (["ab"], []), ([], [])])
def test_an_empty_side_scores_zero(key, response):
    for name, result in evaluate(sides(key), sides(response)).items():
        assert result.score == 0, name


def test_an_empty_response_is_rewarded_after_cai_and_strube():
    """Its rules fill the response with the key's mentions: one of the reasons why the reference implementation leaves them alone."""
    result = evaluate(sides(["ab"]), sides([]), ["b3_cai_strube"])["b3_cai_strube"]
    assert (result.precision, result.recall) == (1, 0.5)


def test_singletons_are_dropped_on_both_sides_if_asked():
    key, response = sides(["abc", "d"]), sides(["ab", "c", "x"])
    kept = evaluate(key, response)
    dropped = evaluate(key, response, options=CoreferenceOptions(singletons=False))
    assert counts(kept["mentions"]) == ((3, 4), (3, 4))
    assert counts(dropped["mentions"]) == ((2, 2), (2, 3))
    assert counts(dropped["ceaf_e"]) == ((0.8, 1), (0.8, 1))
    assert "singletons=dropped" in dropped["b3"].signature
    assert "singletons=kept" in kept["b3"].signature


# Repeated mentions


def test_the_first_entity_keeps_a_repeated_mention():
    found = evaluate(sides(["ab", "cd"]), sides(["ab", "acd"]))
    assert found["b3"].f1 == 1
    assert any("repeated once" in warning for warning in found["b3"].warnings)
    wrong_first = evaluate(sides(["ab", "cd"]), sides(["acd", "ab"]))
    assert counts(wrong_first["muc"]) == ((1, 2), (1, 2))


def test_the_first_entity_of_a_file_is_the_one_that_began_first(tmp_path):
    """On token 2 the bracket of entity 1 stands first, but entity 0 is older; so does the reference scorer decide."""
    key = conll(tmp_path / "key", {"d": ["(0)", "(1)", "(0)"]})
    response = conll(tmp_path / "response", {"d": ["(0)", "(1)", "(1)|(0)"]})
    assert score(pair(key, response), ["b3"])["b3"].f1 == 1


def test_repeated_mentions_of_the_key_are_dropped_too():
    found = evaluate(sides(["aab"]), sides(["ab"]))
    assert all(result.score == 1 for result in found.values())


def test_more_than_ten_repetitions_are_scored_and_said():
    found = evaluate(
        sides(["abcdefghijkl"]), sides(["abcdefghijkl", "abcdefghijk"]), options=CoreferenceOptions(compat="reference")
    )
    assert found["muc"].f1 == 1
    assert any("refuses to score 11 repeated mentions" in warning for warning in found["muc"].warnings)


# Scopes


def conll(path, documents):
    text = ""
    for name, cells in documents.items():
        text += (
            f"#begin document ({name}); part 000\n" + "".join(f"w\t{cell}\n" for cell in cells) + "\n#end document\n"
        )
    path.write_text(text)
    return read_chains(path)


@pytest.fixture
def topics(tmp_path) -> PairedChains:
    key = conll(tmp_path / "key", {"t1_a": ["(0)", "(1)"], "t1_b": ["(0)", "-"], "t2_a": ["(0)", "-"]})
    response = conll(tmp_path / "response", {"t1_a": ["(7)", "(8)"], "t1_b": ["(7)", "-"], "t2_a": ["(7)", "-"]})
    return pair(key, response)


@pytest.mark.parametrize(
    ("scope", "muc", "entities", "ids"),
    [
        ("document", 0, 4, ("(t1_a); part 000", "(t1_b); part 000", "(t2_a); part 000")),
        ("topic", 1, 3, ("t1", "t2")),
        ("corpus", 2, 2, ("corpus",)),
    ],
)
def test_an_entity_id_means_one_entity_in_its_scope(topics, scope, muc, entities, ids):
    found = score(topics, ["muc", "ceaf_e"], CoreferenceOptions(scope=scope))
    assert counts(found["muc"]) == ((muc, muc), (muc, muc))
    assert counts(found["ceaf_e"]) == ((entities, entities), (entities, entities))
    assert found["muc"].ids == ids


def test_a_name_without_a_topic_is_an_error(topics):
    with pytest.raises(MetricError, match="no topic in the name"):
        score(topics, ["muc"], CoreferenceOptions(scope="topic", topic="x+"))


def test_equal_spans_of_two_documents_are_two_mentions_in_the_corpus(topics):
    found = score(topics, ["mentions"], CoreferenceOptions(scope="corpus"))
    assert counts(found["mentions"]) == ((4, 4), (4, 4))


# Soft mentions


def corefud(path, *rows):
    lines = ["# global.Entity = eid-etype-head-other", "# newdoc id = d"]
    lines += [f"{n}\tw\tw\tX\t_\t_\t0\troot\t_\t{cell}" for n, cell in enumerate(rows, 1)]
    path.write_text("\n".join(lines) + "\n\n")
    return read_chains(path)


@pytest.fixture
def heads(tmp_path) -> PairedChains:
    key = corefud(tmp_path / "key", "Entity=(e1--2-", "_", "Entity=e1)", "Entity=(e1--1-)")
    response = corefud(tmp_path / "response", "_", "Entity=(e9--1-", "Entity=e9)", "Entity=(e9--1-)")
    return pair(key, response)


@pytest.mark.parametrize(("match", "muc"), [("exact", 0), ("head", 1), ("partial", 1)])
def test_mentions_that_are_the_same_but_for_their_extent(heads, match, muc):
    found = score(heads, ["muc"], CoreferenceOptions(match=match))
    assert counts(found["muc"]) == ((muc, 1), (muc, 1))
    assert f"mentions={match}" in found["muc"].signature


def test_partial_needs_the_head_inside(tmp_path):
    key = corefud(tmp_path / "key", "Entity=(e1--3-", "_", "Entity=e1)")
    response = corefud(tmp_path / "response", "Entity=(e1--1-", "Entity=e1)", "_")
    assert score(pair(key, response), ["mentions"], CoreferenceOptions(match="partial"))["mentions"].f1 == 0


def test_a_key_mention_is_taken_once_and_an_exact_one_first(tmp_path):
    key = conll(tmp_path / "key", {"d": ["(0", "0)", "-"]})
    response = conll(tmp_path / "response", {"d": ["(0|(1)", "0)|(2)", "-"]})
    found = score(pair(key, response), ["mentions"], CoreferenceOptions(match="partial"))
    assert counts(found["mentions"]) == ((1, 3), (1, 1))


def test_heads_are_asked_for_where_there_are_none(tmp_path):
    chains = conll(tmp_path / "key", {"d": ["(0)"]})
    with pytest.raises(MetricError, match="needs heads in both files"):
        score(pair(chains, chains), ["muc"], CoreferenceOptions(match="head"))
    with pytest.raises(MetricError, match="needs spans"):
        evaluate(sides(["a"]), sides(["a"]), options=CoreferenceOptions(match="partial"))


# What is asked for


def test_a_misspelt_metric_is_suggested():
    with pytest.raises(MetricError, match='Did you mean "ceaf_e"'):
        evaluate(sides(["a"]), sides(["a"]), ["ceafe"])
    with pytest.raises(MetricError, match="scope must be one of document, topic, corpus"):
        evaluate(sides(["a"]), sides(["a"]), options=CoreferenceOptions(scope="sentence"))
    with pytest.raises(MetricError, match="compat must be reference"):
        evaluate(sides(["a"]), sides(["a"]), options=CoreferenceOptions(compat="coval"))


def test_documents_are_paired_by_name():
    key = {"one": [{"a", "b"}], "two": [{"c"}]}
    response = {"two": [{"c"}], "one": [{"a", "b"}]}
    assert evaluate(key, response)["b3"].f1 == 1
    with pytest.raises(SidesMismatch, match="1 only in the reference"):
        evaluate(key, {"one": []})
    lenient = evaluate(key, {"one": [{"a", "b"}], "three": [{"z"}]}, options=CoreferenceOptions(compat="reference"))
    assert counts(lenient["mentions"]) == ((2, 2), (2, 3))
    assert len(lenient["mentions"].warnings) == 2


def test_codes_too_large_for_one_integer_are_numbered():
    """Offsets near 2³¹ in several documents: document and span would not fit into 64 bits."""
    far = 2_000_000_000
    key = read_jsonl_like([[[(far, far), (0, 1)]], [[(far, far), (5, far)]]])
    response = read_jsonl_like([[[(far, far)], [(0, 1)]], [[(far, far), (5, far)]]])
    pairs = pair(key, response)
    assert counts(score(pairs, ["muc"])["muc"]) == ((1, 1), (1, 2))
    assert counts(score(pairs, ["mentions"], CoreferenceOptions(scope="corpus"))["mentions"]) == ((4, 4), (4, 4))


def read_jsonl_like(documents):
    import json
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for n, clusters in enumerate(documents):
            file.write(json.dumps({"doc_key": str(n), "clusters": clusters}) + "\n")
        file.flush()
        return read_chains(file.name)


def test_explain_shows_the_entities_that_ceaf_e_matches(tmp_path):
    key = conll(tmp_path / "key", {"d1": ["(0)", "(0)", "(1)"], "d2": ["(0)", "(0)", "-"]})
    response = conll(tmp_path / "response", {"d1": ["(5)", "(5)", "(5)"], "d2": ["(0)", "(0)", "-"]})
    result = score(pair(key, response), ["ceaf_e"])["ceaf_e"]
    assert min(result.documents, key=lambda name: result.documents[name]["f1"]) == "(d1); part 000"
    assert result.explain("(d1); part 000").weight == pytest.approx(0.8)
    with pytest.raises(MetricError, match="Did you mean"):
        result.explain("(d3); part 000")

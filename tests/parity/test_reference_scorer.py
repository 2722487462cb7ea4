"""The reference scorer (Perl, 8.01): its counts in 65 small cases, its figures on two corpora, and where we depart.

Cases that have the text of the files are read from files, the others are given as clusters.
"""

import gzip
import json

import pytest

from public_data import PUBLIC, needs
from tallystick.errors import InputError, SidesMismatch
from tallystick.results.results import figures_table
from tallystick.tasks.coreference.chains import pair
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.coreference.metrics import CoreferenceOptions, evaluate, score

DATA = PUBLIC / "coreference"
pytestmark = needs("coreference/reference_scorer_cases.json", "coreference/litbank.key.gz")

CASES = (
    {case["id"]: case for case in json.loads((DATA / "reference_scorer_cases.json").read_text())["cases"]}
    if (DATA / "reference_scorer_cases.json").exists()
    else {}
)
NAMES = {"muc": "muc", "bcub": "b3", "ceafm": "ceaf_m", "ceafe": "ceaf_e", "blanc": "blanc"}
BLANC = ("coref_common", "coref_key", "coref_resp", "non_common", "non_key", "non_resp")

# Every case that is not scored with the counts of the reference scorer by default, and why.
DEPARTURES = {
    "edge-dup_in_key_same_cluster": "a mention twice in the key: it counts positions, CEAF-m has P = 1.5",
    "edge-dup_in_key_two_clusters": "a mention in two key entities: it looks at the last one for MUC and B³",
    "edge-dup_in_key_and_resp_two_clusters": "the same",
    "edge-dup_twinless_in_resp_two_clusters": "a twinless mention in two response entities: it counts twice",
    "edge-dup_11_in_resp": "more than ten repeated mentions: it refuses to score",
    "edge-doc_missing_in_response": "a document only in the key: it counts it as missed; here an error",
    "edge-doc_missing_in_key": "a document only in the response: it ignores it in silence; here an error",
    "edge-repeated_doc_name": "two documents of one name: it scores the last one twice or once; here an error",
    "edge-response_longer": "other tokens in the response: it compares offsets all the same; here an error",
    "edge-same_id_close_and_open": "0)(0 on one token: it begins before it ends, and reads other mentions",
    "edge-letters_in_id": "ids with letters: it dies; here they are read",
    "edge-unclosed_in_resp": "a bracket that is not closed: an error on both sides, with file, line and column here",
    "edge-unopened_in_resp": "a bracket that was not opened: the same",
}
# Those that --compat reference does not reproduce: we score more than it does, or read what it misreads.
BEYOND_COMPAT = {
    "edge-dup_11_in_resp", "edge-same_id_close_and_open", "edge-letters_in_id", "edge-unclosed_in_resp", "edge-unopened_in_resp",
}  # fmt: skip
ERRORS = {
    "edge-doc_missing_in_response": (SidesMismatch, "1 only in the reference"),
    "edge-doc_missing_in_key": (SidesMismatch, "1 only in the prediction"),
    "edge-repeated_doc_name": (InputError, r"key:7: the document .* is already used in line 1"),
    "edge-response_longer": (SidesMismatch, "2 tokens in the key .* and 3 in the response"),
    "edge-unclosed_in_resp": (InputError, r'response:2:9: "\(0" is opened here and never closed'),
    "edge-unopened_in_resp": (InputError, r'response:3:9: "0\)" closes a mention never opened'),
}


def run(case, folder, compat=None):
    options = CoreferenceOptions(compat=compat)
    if "key_text" not in case:
        return evaluate(case["key"], case["response"], options=options)
    for side in ("key", "response"):
        (folder / side).write_bytes(case[f"{side}_text"].encode())
    sides = [read_chains(folder / side) for side in ("key", "response")]
    return score(pair(*sides, lenient=compat == "reference"), options=options)


def differences(case, results):
    """Metrics whose counts are not those of the reference scorer."""
    found = []
    for theirs, ours in NAMES.items():
        expected, tally = case["perl"][theirs], results[ours].tally
        if expected["exit"]:
            found.append(ours)
            continue
        if ours == "blanc":
            counts, wanted = list(tally.values()), [expected[name] for name in BLANC]
        else:
            counts = [tally[name] for name in ("num_r", "den_r", "num_p", "den_p")]
            wanted = [expected[name] for name in ("r_num", "r_den", "p_num", "p_den")]
        figures = [results[ours].figures[name] for name in ("recall", "precision", "f1")]
        wanted_figures = [expected[name] for name in ("recall", "precision", "f1")]
        if counts != pytest.approx(wanted) or figures != pytest.approx(wanted_figures):
            found.append(ours)
        mentions = results["mentions"].tally
        if [mentions[name] for name in ("num_r", "den_r", "num_p", "den_p")] != expected["mentions"]:
            found.append("mentions")
    return found


def test_all_cases_are_here():
    assert len(CASES) == 65
    assert set(CASES) >= set(DEPARTURES) >= BEYOND_COMPAT | set(ERRORS)


@pytest.mark.parametrize("name", [name for name in CASES if name not in DEPARTURES])
def test_equal_counts(name, tmp_path):
    assert differences(CASES[name], run(CASES[name], tmp_path)) == []


@pytest.mark.parametrize("name", DEPARTURES)
def test_departures(name, tmp_path):
    """Each departure is one: equal counts here would mean that the list is wrong."""
    case = CASES[name]
    if name in ERRORS:
        error, message = ERRORS[name]
        with pytest.raises(error, match=message):
            run(case, tmp_path)
    else:
        assert differences(case, run(case, tmp_path))


@pytest.mark.parametrize("name", [name for name in CASES if name not in BEYOND_COMPAT])
def test_compat_reference_has_equal_counts(name, tmp_path):
    case = CASES[name]
    results = run(case, tmp_path, "reference")
    assert differences(case, results) == []
    shown = {row[0]: row for row in figures_table(results, truncated=True).rows}
    assert shown["blanc"][3] == f"{case['perl']['blanc']['printed']['f1_percent']:.2f}%"


@pytest.mark.parametrize("name", ["edge-letters_in_id", "edge-dup_11_in_resp"])
def test_what_the_reference_scorer_refuses_is_scored(name, tmp_path):
    assert all(result.score == 1 for result in run(CASES[name], tmp_path).values())


def test_ends_come_before_begins_on_one_token(tmp_path):
    """`(0`, `0)(0`, `0)` are two mentions of two tokens, not one inside the other."""
    case = CASES["edge-same_id_close_and_open"]
    assert run(case, tmp_path)["mentions"].tally == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 2}


def test_a_split_antecedent_is_said(tmp_path):
    results = run(CASES["edge-split_antecedent"], tmp_path)
    assert any("split antecedent" in warning for warning in results["muc"].warnings)


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if "lea_coval" in case and name not in DEPARTURES]
)
def test_lea_is_that_of_coval(name, tmp_path):
    expected, tally = CASES[name]["lea_coval"], run(CASES[name], tmp_path)["lea"].tally
    wanted = [expected[side] for side in ("r_num", "r_den", "p_num", "p_den")]
    assert [tally[side] for side in ("num_r", "den_r", "num_p", "den_p")] == pytest.approx(wanted)


# Corpora

FIGURES = {
    "litbank": [84.4901, 79.3212, 69.9542, 77.3650, 73.9170, 69.2310, 64.5332, 74.3975],
    "ecb_events": [100, 76.2051, 76.3509, 67.4157, 72.2116, 75.5812, 61.0281, 74.9225],
}


def corpus(name):
    sides = [read_chains(DATA / f"{name}.{side}.gz") for side in ("key", "response")]
    return score(pair(*sides))


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_a_corpus(name):
    assert [round(100 * result.score, 4) for result in corpus(name).values()] == FIGURES[name]


def test_counts_of_litbank():
    results = corpus("litbank")
    expected = {
        "mentions": [24048, 27822, 24048, 29103],
        "muc": [16688, 20901, 16688, 21176],
        "b3": [20073.679128, 27822, 19757.355003, 29103],
        "ceaf_m": [22020, 27822, 22020, 29103],
        "ceaf_e": [5487.600930, 6921, 5487.600930, 7927],
        "blanc": [409852, 633660, 573805, 2513644, 3720366, 3402887],
        "lea": [18793.788341, 27822, 17978.188892, 29103],
    }
    for metric, counts in expected.items():
        assert [round(count, 6) for count in results[metric].tally.values()] == counts, metric


# Where other scorers go wrong (spec/coreference.md)


def conll(path, *documents):
    text = "".join(
        f"#begin document ({name}); part 000\n"
        + "\n".join(f"w\t{cell}" if cell else "" for cell in cells)
        + "\n\n#end document\n"
        for name, cells in documents
    )
    path.write_text(text)
    return read_chains(path)


def both(tmp_path, key, response):
    return score(pair(conll(tmp_path / "key", *key), conll(tmp_path / "response", *response)))


def test_ceaf_m_of_a_side_with_itself_is_one():
    """coval divides the mentions by the number of clusters: 2.0."""
    assert evaluate([[{"a", "b"}, {"c", "d"}]], [[{"a", "b"}, {"c", "d"}]])["ceaf_m"].f1 == 1


def test_another_sentence_split_changes_nothing(tmp_path):
    """coval's mentions are keyed by their sentence."""
    key, response = [("d", ["(0)", "(1)", "", "(0)"])], [("d", ["(0)", "", "(1)", "(0)"])]
    assert all(result.score == 1 for result in both(tmp_path, key, response).values())


def test_brackets_need_no_bar_between_them(tmp_path):
    """coval loses a mention of `(1(3`."""
    key, response = [("d", ["(1(3", "1)", "3)"])], [("d", ["(1|(3", "1)", "3)"])]
    results = both(tmp_path, key, response)
    assert results["mentions"].tally == {"num_p": 2, "den_p": 2, "num_r": 2, "den_r": 2}


def test_a_missing_document_is_named(tmp_path):
    """coval raises KeyError."""
    with pytest.raises(SidesMismatch, match="d2"):
        both(tmp_path, [("d1", ["(0)"]), ("d2", ["(0)"])], [("d1", ["(0)"])])


def test_twinless_mentions_stay_where_they_are(tmp_path):
    """scorch's command line adds them to the gold: litbank's CEAF-e is 62.8 there."""
    results = both(tmp_path, [("d", ["(0)", "(0)", "-"])], [("d", ["(0)", "(0)", "(1)"])])
    assert results["ceaf_e"].tally == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 1}


def test_a_corpus_is_not_the_mean_of_its_documents():
    """scorch and metametric average by document."""
    key, response = [[{1, 2, 3, 4}], [{1, 2}]], [[{1, 2, 3, 4}], [{1}, {2}]]
    muc = evaluate(key, response)["muc"]
    assert muc.recall == 3 / 4
    assert muc.macro["recall"] == 1 / 2


def test_a_document_without_links_is_no_division_by_zero():
    """metametric raises ZeroDivisionError."""
    results = evaluate([[{1}], [{1, 2}]], [[{1}], [{1, 2}]])
    assert results["muc"].f1 == results["blanc"].f1 == 1


def test_gz_is_the_file_itself(tmp_path):
    text = (DATA / "ecb_events.key.gz").read_bytes()
    (tmp_path / "plain").write_bytes(gzip.decompress(text))
    (tmp_path / "packed.gz").write_bytes(text)
    plain, packed = read_chains(tmp_path / "plain"), read_chains(tmp_path / "packed.gz")
    assert plain.documents == packed.documents
    assert plain.entity.tolist() == packed.entity.tolist()


def test_the_conll_score_of_litbank_has_an_interval():
    from tallystick.results.resampling import intervals

    result = corpus("litbank")["conll"]
    for method in ("percentile", "bca"):
        found = intervals([result], resamples=1000, method=method)[0]["f1"]
        assert found.low < result.f1 < found.high
        assert found.low == pytest.approx(0.738, abs=0.002)
        assert found.high == pytest.approx(0.750, abs=0.002)

"""The generators and the hand-written scorers of `benchmarks`, at sizes that take no time."""

import ast
import importlib
import itertools
import json
import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import (
    acceleration,
    coreference_columns,
    coreference_data,
    coverage,
    dependencies,
    invoices,
    judgements,
    meaning,
    measure,
    page,
    records,
    relations,
    resampling,
    spans,
)
from tallystick.engine import arrays
from tallystick.engine.assignment import SMALL_SIDE, components
from tallystick.tasks.coreference.chains import pair
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.coreference.metrics import CoreferenceOptions, prepare


@pytest.fixture(scope="module")
def coreference():
    return coreference_columns.generate(mentions=700, documents=5)


def read(columns):
    return list(coreference_columns.read_documents(columns))


def test_columns_are_the_same_each_time(coreference):
    again = coreference_columns.generate(mentions=700, documents=5)
    for one, other in zip(coreference, again, strict=True):
        for name in ("documents", "entities", "mentions"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_columns_hold_whole_entities_of_distinct_mentions(coreference):
    key, _ = coreference
    assert len(key.mentions) == 700
    for side in coreference:
        assert len(side.documents) == 6
        assert side.documents[-1] == len(side.entities) - 1
        assert side.entities[-1] == len(side.mentions)
        assert (np.diff(side.entities) > 0).all()
        for document in read(side):
            mentions = [mention for entity in document for mention in entity]
            assert len(set(mentions)) == len(mentions)


def test_memberships_point_into_their_entities(coreference):
    for side in coreference:
        pairs = coreference_columns.find_memberships(side)
        assert pairs.documents[-1] == len(pairs.mention) == len(pairs.entity)
        for position, (mention, entity) in enumerate(zip(pairs.mention, pairs.entity, strict=True)):
            assert mention in side.mentions[side.entities[entity] : side.entities[entity + 1]]
            document = np.searchsorted(pairs.documents, position, side="right") - 1
            assert side.documents[document] <= entity < side.documents[document + 1]


def test_noise_leaves_components_that_need_an_assignment(coreference):
    counts = coreference_columns.count_assignments(*coreference)
    assert counts["need_assignment"] >= 5
    assert counts["need_assignment"] < counts["components"]


def test_a_moved_mention_needs_an_assignment_and_a_split_does_not():
    def side(*entities):
        sizes = [len(entity) for entity in entities]
        return coreference_columns.Columns(
            np.array([0, len(entities)]), np.cumsum([0, *sizes]), np.array([m for e in entities for m in e])
        )

    key = side([1, 2, 3], [4, 5], [6, 7])
    assert coreference_columns.count_assignments(key, side([1, 2], [3], [4, 5], [6, 7])) == {
        "components": 3,
        "need_assignment": 0,
        "largest": 3,
    }
    assert coreference_columns.count_assignments(key, side([1, 2], [3, 4, 5], [6, 7])) == {
        "components": 2,
        "need_assignment": 1,
        "largest": 4,
    }


def test_plain_ceaf_e_is_the_best_alignment():
    key = [[frozenset("abc"), frozenset("de"), frozenset("f")], [frozenset("xy")]]
    response = [[frozenset("ab"), frozenset("cde"), frozenset("fg")], [frozenset("x"), frozenset("y")]]

    def phi4(k, r):
        return 2 * len(k & r) / (len(k) + len(r))

    best = max(sum(map(phi4, key[0], order)) for order in itertools.permutations(response[0])) + phi4(
        key[1][0], response[1][0]
    )
    figures = coreference_columns.plain_ceaf_e(key, response)
    assert figures["precision"] == pytest.approx(best / 5)
    assert figures["recall"] == pytest.approx(best / 4)


def test_plain_b3_by_hand():
    figures = coreference_columns.plain_b3([[frozenset("abc"), frozenset("d")]], [[frozenset("ab"), frozenset("cdx")]])
    # Precision: a and b 2/2, c and d 1/3, x 0; recall: a and b 2/3, c 1/3, d 1/1.
    assert figures["precision"] == pytest.approx((2 + 2 / 3) / 5)
    assert figures["recall"] == pytest.approx((2 * 2 / 3 + 1 / 3 + 1) / 4)


@pytest.mark.parametrize("scorer", [coreference_columns.plain_ceaf_e, coreference_columns.plain_b3])
def test_plain_scorers_give_one_for_the_key_itself_and_less_for_the_response(coreference, scorer):
    key, response = map(read, coreference)
    assert scorer(key, key) == {"precision": 1, "recall": 1, "f1": 1}
    assert 0.5 < scorer(key, response)["f1"] < 0.95


@pytest.mark.parametrize("name", ["ceaf_e", "b3"])
def test_the_algebra_gives_what_the_plain_scorers_give_and_lays_no_entity_out_again(coreference, name, monkeypatch):
    laid_out = []
    take = arrays.Items.take
    monkeypatch.setattr(arrays.Items, "take", lambda column, rows: laid_out.append(len(rows)) or take(column, rows))
    figures = getattr(coreference_columns, f"{name}_tallystick")(*coreference)()
    assert figures == pytest.approx(getattr(coreference_columns, f"plain_{name}")(*map(read, coreference)), rel=1e-12)
    assert sum(laid_out) == 0  # an entity that is shared by its mentions is scored where it is


def test_take_cuts_after_whole_documents(coreference):
    key, _ = coreference
    assert read(coreference_columns.take(key, 2)) == read(key)[:2]


def test_invoices_are_the_same_each_time_and_a_prefix_of_a_larger_corpus():
    references, predicted = invoices.generate(4, lines=6)
    assert invoices.generate(4, lines=6) == (references, predicted)
    assert invoices.generate(2, lines=6) == (references[:2], predicted[:2])


def test_invoice_noise_has_the_promised_shares():
    references, predicted = invoices.generate(40)
    skus = [{line["sku"]: line for line in document} for document in references]
    lines = sum(map(len, references))
    kept = [(skus[n][p["sku"]], p) for n, document in enumerate(predicted) for p in document if p["sku"] in skus[n]]
    assert len(kept) / lines == pytest.approx(0.95, abs=0.03)
    assert sum(map(len, predicted)) / lines == pytest.approx(1.0, abs=0.03)
    typos = sum(r["description"] != p["description"] for r, p in kept)
    assert typos / len(kept) == pytest.approx(0.30, abs=0.05)
    assert all(sorted(r["tags"]) == sorted(p["tags"]) and r["price"] == p["price"] for r, p in kept)


def test_floor_of_invoices_is_the_best_matching():
    references, predicted = invoices.generate(3, lines=5)
    references[0][0]["tags"] = ["tag-01", "tag-01", "tag-02"]
    predicted[0][0]["tags"] = ["tag-01", "tag-01", "tag-03"]
    total = 0.0
    for left, right in zip(references, predicted, strict=True):
        short, long = sorted((left, right), key=len)
        total += max(
            sum(map(invoices.compare_lines, short, order)) for order in itertools.permutations(long, len(short))
        )
    figures = invoices.floor_by_hand(references, predicted)
    assert figures["precision"] == pytest.approx(total / (7 * sum(map(len, predicted))))
    assert figures["recall"] == pytest.approx(total / (7 * sum(map(len, references))))


def test_floor_of_invoices_gives_one_for_the_reference_itself():
    references, _ = invoices.generate(2, lines=4)
    assert invoices.floor_by_hand(references, references) == dict.fromkeys([*invoices.FIGURES, "document_mean"], 1.0)


def test_relations_are_the_same_each_time_and_no_document_is_empty():
    references, predicted = relations.generate(30)
    assert relations.generate(30) == (references, predicted)
    assert all(len(document) == relations.RELATIONS for document in references)
    assert all(predicted)


def test_relations_share_no_object_between_the_sides():
    references, predicted = relations.generate(10)
    mentions = [{id(m) for d in side for r in d for m in (r.subj, r.obj)} for side in (references, predicted)]
    assert mentions[0].isdisjoint(mentions[1])


def test_floor_of_relations_counts_bags():
    a, b = relations.Mention(0, 1), relations.Mention(2, 3)
    one, other = relations.Relation("owns", a, b), relations.Relation("owns", b, a)
    figures = relations.floor_by_hand([[one, one, other]], [[one, one, one, other]])
    assert figures == {"precision": 3 / 4, "recall": 1.0, "f1": 6 / 7}


def test_measuring_returns_the_value_of_another_process():
    run = measure.measure("benchmarks.relations:floor", "benchmarks.relations:generate", documents=3)
    assert run.value == relations.floor_by_hand(*relations.generate(3))
    assert 0 <= run.scoring <= run.process
    assert run.peak >= run.peak_before > 0


def test_a_contender_that_breaks_is_a_failed_row_and_no_exception(capsys):
    run = measure.measure("benchmarks.relations:nobody", "benchmarks.relations:generate", documents=3)
    assert "nobody" in run.problem
    assert not measure.report("title", [measure.Row("nobody", 3, run)], "document", ())
    assert "nobody" in capsys.readouterr().out


def test_a_missing_peer_is_no_failure_and_a_slow_one_neither(capsys):
    missing = measure.Measurement(problem="No module named 'stickler'", missing=True)
    slow = measure.Measurement(scoring=1e6, setup=0.0, process=1e6, value={"f1": 0.5})
    rows = [
        measure.Row("missing", 1, missing),
        measure.compare(slow, slow, "slow", 1, checked=("f1",)),
    ]
    assert measure.report("title", rows, "document", ("slow",))
    assert "f1 equal" in capsys.readouterr().out


def test_figures_that_differ_are_a_failure():
    found = measure.Measurement(scoring=1.0, value={"f1": 0.5})
    row = measure.compare(found, measure.Measurement(value={"f1": 0.5 + 1e-6}), "wrong", 1, checked=("f1",))
    assert row.failed
    assert math.isfinite(row.per_unit)


@pytest.mark.parametrize(
    ("write", "arguments", "documents", "mentions"),
    [
        ("write_large", (4_000,), 2, 410),
        ("write_one_document", (300, 80), 1, 300),
        ("write_giant_component", (40,), 1, None),
        ("write_corefud", (4_000,), 2, 832),
        ("write_small", (), 1, 20),
    ],
)
def test_coreference_files_are_read_without_a_warning(tmp_path, write, arguments, documents, mentions):
    paths = [str(tmp_path / side) for side in ("key", "response")]
    getattr(coreference_data, write)(*paths, *arguments)
    pairs = pair(*map(read_chains, paths))
    assert pairs.warnings == []
    assert len(pairs.documents) == documents
    assert mentions in (None, len(pairs.key))
    first = [(tmp_path / side).read_bytes() for side in ("key", "response")]
    getattr(coreference_data, write)(*paths, *arguments)
    assert first == [(tmp_path / side).read_bytes() for side in ("key", "response")]


def test_the_small_coreference_file_needs_an_assignment(tmp_path):
    paths = [str(tmp_path / side) for side in ("key", "response")]
    coreference_data.write_small(*paths)
    table = prepare(pair(*map(read_chains, paths)), CoreferenceOptions()).overlaps
    assert len(set(components(table.k, table.r, table.key.entities, table.response.entities).tolist())) == 1
    assert min(table.key.entities, table.response.entities) > SMALL_SIDE


def test_spans_from_lists_and_from_the_file_are_the_same_and_seqevals(tmp_path):
    path = tmp_path / "tags.txt"
    spans.generate(path, 3_000)
    lists = spans.split_into_lists(str(path))
    assert sum(map(len, lists[0])) == 3_000
    found = spans.tallystick_from_lists(*lists)()
    assert found == spans.tallystick_from_file(str(path))()
    assert found["segment micro"] == pytest.approx(spans.seqeval(*lists)()["segment micro"])


def test_dependencies_of_generated_files(tmp_path):
    files = [str(tmp_path / name) for name in ("reference", "predicted")]
    for file, text in zip(files, dependencies.generate(300, 1), strict=True):
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
    found = dependencies.tallystick(*files)()
    assert 0.5 < found["las"] < found["uas"] < found["words"] < 1


def test_shortfall_counts_pairs_and_triples_below_the_optimum():
    assert meaning.shortfall([3.0, 5.0, 2.0], [3.0, 4.0, 0.0]) == "2 pairs short, 3 triples"
    assert meaning.shortfall([3.0], [3.0]) == "never short"


@pytest.fixture(scope="module")
def population():
    return coverage.population(400)


def test_intervals_hold_the_truth_about_as_often_as_they_say(population):
    found = coverage.coverage(population, corpora=40, documents=100)
    for by in found.values():
        for share in by.values():
            assert share > 0.8


def test_estimated_accelerations_lie_around_the_known_one(population):
    (blanc,) = (one for one in population if one.name == "BLANC")
    found = acceleration.measure(blanc, corpora=60, documents=100)
    assert found.mean == pytest.approx(found.known, abs=found.deviation)
    assert set(found.shares) == set(acceleration.KINDS)
    assert min(found.shares.values()) > 0.8


def test_means_over_labels_miss_the_truth_where_one_is_rare():
    rare, common = (coverage.rare_label_coverage(expected, corpora=60, documents=100) for expected in (1, 60))
    assert rare < 0.8 < common


def test_p_values_under_the_null_are_spread(population):
    chosen = [one for one in population if one.name in ("segments, micro", "BLANC")]
    for values in coverage.null_p_values(chosen, corpora=40, documents=60).values():
        assert 0.25 < np.mean(np.array(values) < 0.5) < 0.75


def test_resampling_agrees_with_numpy_alone():
    data = resampling.make(documents=50, resamples=200)
    assert resampling.percentile(*data)()["counts"] == pytest.approx(resampling.floor(*data)()["counts"], abs=1e-12)
    assert resampling.gathered(*data)()["counts"] == pytest.approx(resampling.floor(*data)()["counts"], abs=1e-12)
    assert set(resampling.bootstrap_test(*data)()) == set(resampling.bca(*data)())


def test_the_store_of_judgements_gives_back_what_was_put(tmp_path):
    questions = judgements.generate(questions=20, documents=3, length=500)
    assert len({one.document for one in questions}) == 3
    done = {name: work() for name, work in judgements.steps(tmp_path / "j.sqlite", questions)}
    assert done["put the questions, with their keys"] == 20
    assert done["read the queue"] == questions == [one.question for one in done["read the judgements"]]
    assert [one.label for one in done["score with them"]] == ["Correct"] * 20


def test_the_command_that_records_are_measured_with_gives_its_figures(tmp_path):
    for side in ("gold", "system"):
        (tmp_path / f"{side}.jsonl").write_text('{"id": 1, "a": "x"}\n')
    score = records.tallystick(str(tmp_path / "gold.jsonl"), str(tmp_path / "system.jsonl"), "")
    assert score() == {"precision": 1.0, "recall": 1.0, "f1": 1.0}


def test_a_claim_is_held_missed_or_only_stated(capsys):
    assert measure.claim("small", 0.2, at_most=0.25)
    assert not measure.claim("small", 0.3, at_most=0.25)
    assert not measure.claim("not measured", math.nan, at_most=0.25)
    assert measure.claim("stated", 0.3, against={"peer": 0.1})
    assert measure.claim("near the floor", 0.3, against={"floor": 0.16}, times=2)
    assert not measure.claim("far from it", 0.33, against={"floor": 0.16}, times=2)
    assert not measure.claim("slow", 1.7, "times", at_least=1.8)
    assert capsys.readouterr().out.count("MISSED") == 4


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told differently elsewhere")
def test_the_peak_of_a_command_is_its_own_and_not_this_process():
    ballast = bytearray(200_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    run = measure.launch(["-c", "import sys; print(len(sys.argv))", "a"])
    assert run.output == "2\n"
    assert run.peak < 50
    assert measure.launch(["-c", "bytearray(b'x' * 100_000_000)"]).peak > 100
    assert "exit code 3" in measure.launch(["-c", "raise SystemExit(3)"]).problem


def test_a_benchmark_is_a_module_with_run():
    """There is no list of them to keep."""
    assert {"limits", "startup", "records"} <= set(command.NAMES)
    assert not {"measure", "page", "golden", "damage"} & set(command.NAMES)


def test_a_missed_claim_fails_the_command_and_is_printed(monkeypatch, capsys, tmp_path):
    benchmark = types.ModuleType("benchmarks.toy")
    benchmark.run = lambda repeat, quick: measure.claim("toy", 2.0, at_most=1.0) or True
    monkeypatch.setitem(sys.modules, "benchmarks.toy", benchmark)
    monkeypatch.setattr(command, "NAMES", ("toy",))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--json", str(tmp_path / "run.json")])
    assert command.main() == 1
    assert "toy: toy: 2 s; at most 1 s: MISSED" in capsys.readouterr().out
    written = page.page(json.loads((tmp_path / "run.json").read_text()), f"# Speed\n\nOpening.\n{page.MARK}\nold\n")
    assert "| toy | 2 s |  | at most 1 s: **missed** |" in written
    assert written.startswith("# Speed\n\nOpening.\n")
    assert "old" not in written


FOLDERS = ("benchmarks", "fuzzing", "docsite")


@pytest.mark.parametrize(
    "path", sorted(one for name in FOLDERS for one in Path(measure.ROOT, name).rglob("*.py")), ids=lambda p: p.stem
)
def test_whatever_scripts_import_of_the_program_is_there(path):
    """Some scripts need data or peers that tests do not have; a name that was moved would be noticed by their users only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tallystick":
            module = importlib.import_module(node.module)
            for name in (one.name for one in node.names if not hasattr(module, one.name)):
                importlib.import_module(f"{node.module}.{name}")

"""Errors grouped: each kind on the smallest example that has it, and the sums of the table by field."""

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from running import run
from tallystick.results import kinds
from tallystick.results.kinds import KINDS, PRIORITY, Kind, kinds_of, merged, remedy

ONE_PAIR = [
    ("Acme Ltd", "ACME ltd", "case"),
    ("Acme Ltd.", "Acme Ltd", "text"),
    ("Café", "Cafe", "text"),
    ("Acme Tools", "AcmeTools", "text"),
    ("AT-100", "at100", "text"),
    (1234.5, "1,234.50", "number"),
    (1234.5, "$1234.5", "number"),
    (500, "500", "number"),
    (1234.5, "1.234,50 €", "language"),
    ("1234.5", "1234,5", "language"),
    ("2024-04-03", "April 3rd, 2024", "date"),
    ("2024-04-03", "03.04.2024", "date"),
    ("2024-04-03", "3 avril 2024", "language"),
    ("2024-04-03", "3. Mai 2024", ""),
    (True, "yes", "boolean"),
    ('{"a": 1, "b": 2}', '{"b":2,"a":1}', "json"),
    (186.4, -186.4, "sign"),
    (-186.4, "186.40", "sign"),
    (True, False, "opposite"),
    (False, "yes", "opposite"),
    (True, "maybe", ""),
    (12.345, 12.35, "rounding"),
    (12.345, 12.34, "rounding"),
    (186.4, 186, "rounding"),
    (1234, 1200, "rounding"),
    (12.5, "13", "rounding"),
    ("2024-04-03", "2024-03-04", "exchanged"),
    ("2024-04-03", "4 March 2024", "exchanged"),
    (14, 10, ""),
    (3, 4, ""),
    (19.99, 19.98, ""),
    (0.4, 0, ""),
    ("1.5", "15", ""),
    ("Whiteboard marker set", "Whiteboard marker", "truncated"),
    ("Kestrel Print", "Kestrel Printing", "longer"),
    ("Hammersmith", "Hamersmith", "typo"),
    ("A-1001", "A-1002", ""),
    ("Bern", "Basel", ""),
    ("paid", True, ""),
    ("x", ["x"], ""),
]


@pytest.mark.parametrize(("reference", "predicted", "kind"), ONE_PAIR)
def test_the_kind_of_one_pair(reference, predicted, kind):
    assert kinds_of([(reference, predicted)]) == [kind]


@pytest.mark.parametrize(
    ("reference", "predicted", "kind"), [one for one in ONE_PAIR if one[2] not in ("", "exchanged", "opposite")]
)
def test_the_remedy_makes_it_right(reference, predicted, kind):
    gold = [{"id": "a", "value": reference, "other": 1}, {"id": "b", "value": reference, "other": 2}]
    system = [{**gold[0], "value": predicted}, gold[1]]
    assert ts.score(gold, system).f1 == 0.75
    choice = remedy(kind, [(reference, predicted)])
    found = ts.score(gold, system, choices={"value": choice})
    assert found.f1 == pytest.approx(1.0) if kind != "typo" else 0.75 < found.f1 < 1
    assert KINDS[kind].means_same == (kind not in ("sign", "rounding", "truncated", "longer", "typo"))


def test_a_new_kind_is_one_entry(monkeypatch):
    """Found, counted, shown in words and suggested, with nothing else to edit."""
    sorted_words = ts.text("token_sort", "casefold", "punctuation")
    words = {"text": ["token_sort", "casefold", "punctuation"], "at_least": 1}
    new = Kind(
        "order",
        "the same words in another order",
        True,
        fits=lambda a, b: " " in f"{a}",
        similarity=sorted_words,
        remedy=words,
    )
    monkeypatch.setitem(KINDS, new.name, new)
    monkeypatch.setitem(PRIORITY, new.name, len(PRIORITY))
    gold = [{"id": k, "name": name} for k, name in enumerate(("Ada Lovelace", "Alan Turing"))]
    system = [{"id": 0, "name": "Lovelace, Ada"}, gold[1]]
    assert ts.score(gold, system)["records"].grouped_errors().counts() == {"order": 1}
    assert "order: the same words in another order." in str(ts.score(gold, system).errors())
    (line,) = ts.suggest(gold, system).lines
    assert (line.choice, line.kinds, line.f1) == (words, ("order",), 1.0)


def invoice(**changes):
    return {
        "id": "x", "vendor": "Acme Tools", "customer": "Beta GmbH", "total": 120.5, "due": 30.25,
        "lines": [{"sku": "A-1", "price": 12.5, "n": 2}, {"sku": "B-2", "price": 99.5, "n": 3}], "tags": ["red", "blue"], **changes,
    }  # fmt: skip


def kinds_in(*predicted, **options):
    gold = [invoice(id=str(k)) for k in range(len(predicted))]
    system = [{**one, "id": str(k)} if isinstance(one, dict) else one for k, one in enumerate(predicted)]
    result = ts.score(gold, system, **options)["records"]
    return result, {(group.field, group.kind): group.count for group in result.grouped_errors().groups}


def test_kinds_that_depend_on_the_rest_of_the_document():
    lines = invoice()["lines"]
    _, found = kinds_in(
        invoice(vendor="Beta GmbH", customer="Acme Tools"),
        invoice(total=30.25),
        invoice(lines=[{**lines[0], "price": 99.5}, lines[1]]),
        invoice(vendor="A-1"),
        invoice(vendor="Nobody Inc"),
    )
    assert found == {
        ("vendor", "swapped"): 1,
        ("customer", "swapped"): 1,
        ("total", "swapped"): 1,
        ("lines[*].price", "item"): 1,
        ("vendor", "elsewhere"): 1,
        ("vendor", "nowhere"): 1,
    }


def test_what_is_missing_extra_empty_and_invalid():
    _, found = kinds_in(
        {name: value for name, value in invoice().items() if name != "due"},
        invoice(vendor=None),
        invoice(surprise=3),
        invoice(lines=invoice()["lines"][:1]),
        invoice(tags=["red", "blue", ""]),
        lenient=True,
    )
    assert found == {
        ("due", "missing"): 1,
        ("vendor", "missing"): 1,
        ("surprise", "extra"): 1,
        ("lines[*].sku", "missing"): 1,
        ("lines[*].price", "missing"): 1,
        ("lines[*].n", "missing"): 1,
        ("tags[*]", "empty"): 1,
    }
    result = ts.score({"a": invoice(), "b": invoice()}, {"a": invoice(), "b": "I cannot"})["records"]
    assert result.grouped_errors().counts() == {"invalid": sum(row.missing for row in result.by_field())}


def test_what_is_missing_and_extra_in_one_list_of_values_is_paired():
    result, found = kinds_in(invoice(tags=["Red", "green"]))
    assert found == {("tags[*]", "case"): 1, ("tags[*]", "missing"): 1, ("tags[*]", "extra"): 1}
    (row,) = [row for row in result.by_field() if row.path == "tags[*]"]
    assert (row.wrong, row.missing, row.extra) == (0, 2, 2)


def test_items_of_which_all_fields_are_spelled_otherwise_are_paired():
    gold = [{"id": "a", "people": [{"name": "Ada Ek", "born": "1990-04-03"}, {"name": "Bo Ny", "born": "1991-05-06"}]}]
    system = [
        {"id": "a", "people": [{"name": "BO NY", "born": "6 May 1991"}, {"name": "ADA EK", "born": "3 April 1990"}]}
    ]
    errors = ts.score(gold, system)["records"].grouped_errors()
    assert {(one.field, one.kind): one.count for one in errors.groups} == {
        ("people[*].name", "case"): 2,
        ("people[*].born", "date"): 2,
    }
    assert [one.path for one in errors.fields["people[*].name"].groups[0].examples] == [
        "people[0→1].name",
        "people[1→0].name",
    ]
    found = ts.suggest(gold, system)
    assert found.f1 == 0
    assert {one.path: (one.f1, one.values) for one in found.lines} == {
        "people[*].name": (0.5, 2),
        "people[*].born": (0.5, 2),
    }
    assert found.f1_with_all == 1


def test_an_alias_is_what_always_stands_for_one_value():
    gold = [{"id": k, "currency": "EUR" if k % 2 else "USD"} for k in range(12)]
    system = [
        {**one, "currency": "money" if one["currency"] == "EUR" and one["id"] < 9 else one["currency"]} for one in gold
    ]
    (group,) = ts.score(gold, system)["records"].grouped_errors().groups
    assert (group.kind, group.count, group.remedy) == ("alias", 4, {"aliases": {"EUR": ["money"]}})
    fewer = [{**one, "currency": "money" if one["id"] in (1, 3) else one["currency"]} for one in gold]
    (group,) = ts.score(gold, fewer)["records"].grouped_errors().groups
    assert group.kind != "alias"


def test_groups_add_up_to_the_table_by_field():
    lines = invoice()["lines"]
    result, found = kinds_in(
        invoice(
            vendor="ACME", total="120,50", lines=[lines[1], {**lines[0], "price": 12}, {"sku": "C", "price": 1, "n": 1}]
        ),
        invoice(due=None, extra=1, lines=[]),
        invoice(customer="Acme Tools", lines=[{**lines[0], "n": -2}]),
    )
    sums = {}
    for (path, _), count in found.items():
        sums[path] = sums.get(path, 0) + count
    by_field = {row.path: row.wrong + row.missing + row.extra for row in result.by_field()}
    assert sums == {path: count for path, count in by_field.items() if count}


def test_alternatives_are_each_looked_at():
    gold = [{"id": 1, "name": ["Acme", "Acme Ltd"]}, {"id": 2, "name": ["Beta"]}]
    result = ts.score(
        gold, [{"id": 1, "name": "ACME LTD"}, {"id": 2, "name": "Beta"}], choices={"name": {"any_of": True}}
    )
    (group,) = result["records"].grouped_errors().groups
    assert (group.field, group.kind) == ("name", "case")


def test_which_value_was_taken_for_which():
    gold = [{"id": k, "state": ("open", "paid", "late")[k % 3]} for k in range(12)]
    system = [{**one, "state": "paid" if one["id"] in (2, 5) else one["state"]} for one in gold]
    errors = ts.score(gold, system)["records"].grouped_errors()
    assert errors.fields["state"].confusion == (
        ("late", "late", 2),
        ("late", "paid", 2),
        ("open", "open", 4),
        ("paid", "paid", 4),
    )
    table = errors.tables()[-1]
    assert table.title == "Which value of state was taken for which"
    assert [list(row) for row in table.rows] == [["late", 2, 0, 2], ["open", 0, 4, 0], ["paid", 0, 0, 4]]


def test_the_command_and_the_function_show_the_same(tmp_path):
    import json

    gold, system = (
        [invoice(id="a"), invoice(id="b")],
        [invoice(id="a", vendor="acme tools"), invoice(id="b", total=120.5)],
    )
    for name, side in (("gold", gold), ("system", system)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in side))
    files = [str(tmp_path / "gold.jsonl"), str(tmp_path / "system.jsonl")]
    shown = run("score", "records", *files, "--errors", "--format", "table").stdout
    assert "{text: [equal, casefold, whitespace]}" in shown
    found = json.loads(run("score", "records", *files, "--errors", "--format", "json").stdout)["errors"]
    assert found["kinds"] == {"case": 1}
    (one,) = found["fields"]
    assert one["groups"][0]["examples"] == [
        {"document": "a", "path": "vendor", "reference": "Acme Tools", "predicted": "acme tools"}
    ]
    assert str(ts.score(*files).errors()[0]) in str(ts.score(*files).errors())
    assert "casefold" in str(ts.score(*files).errors())


@pytest.mark.parametrize("named", [True, False], ids=["by id", "by order"])
def test_errors_in_shards_are_those_of_the_whole(tmp_path, named):
    import json
    import random

    rng, files = random.Random(0), []
    for name in ("gold", "system"):
        documents = [random_document(rng, f"d{k}") for k in range(40)]
        lines = (json.dumps({key: part for key, part in one.items() if named or key != "id"}) for one in documents)
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        files.append(str(tmp_path / f"{name}.jsonl"))
    command = ("score", "records", *files, "--errors", "--format", "json")
    whole = json.loads(run(*command).stdout)["errors"]
    assert len(whole["kinds"]) > 5
    for more in (("--shard", "300"), ("--shard", "2000", "--jobs", "2")):
        assert json.loads(run(*command, *more).stdout)["errors"] == whole


def test_choices_of_one_field_are_merged():
    assert merged({"text": ["equal", "casefold", "whitespace"]}, {"text": ["equal", "punctuation", "whitespace"]}) == {
        "text": ["equal", "casefold", "punctuation", "whitespace"]
    }
    assert merged({"number": {"parse": "auto"}}, {"number": {"absolute": 0.5}}) == {
        "number": {"parse": "auto", "absolute": 0.5}
    }
    assert merged({"number": {"parse": "auto"}}, {"date": {"parse": "auto"}}) is None
    assert merged("boolean", {"number": {"parse": "auto"}}) is None


def test_a_task_of_its_own_says_which_type_was_taken_for_which():
    import json
    from importlib.resources import files

    folder = files("tallystick.examples")
    sides = [str(folder / f"events.{side}.jsonl") for side in ("gold", "system")]
    found = json.loads(run("score", "events", *sides, "--errors", "--format", "json").stdout)["errors"]
    (wrong,) = [one for one in found["kinds"] if one["kind"] == "wrong type"]
    (example,) = wrong["examples"]
    assert (wrong["count"], example["reference"], example["predicted"]) == (
        1,
        "Life.Die died [12]",
        "Life.Injure died [12]",
    )
    shown = run("score", "events", *sides, "--errors", "--rows", "1", "--format", "table").stdout
    assert "Life.Injure died [12]" in shown
    assert {one.kind for one in ts.events(*sides).errors().mistakes} >= {"wrong type", "wrong boundary"}
    refused = run("score", "events", *sides, "--errors", "--jobs", "2", code=2)
    assert "--errors looks at the whole corpus" in refused.stderr


def random_document(rng, key):
    def text():
        return rng.choice(["Acme", "ACME", "Acme Ltd", "x", "", "2024-01-02", "2 Jan 2024", "1,5"])

    def amount():
        return rng.choice([1, 2, 2.5, -2.5, "2.50", 100, None])

    def record():
        return {name: make() for name, make in (("a", text), ("n", amount)) if rng.random() < 0.9}

    parts = {
        "text": text,
        "amount": amount,
        "paid": lambda: rng.choice([True, False, "yes"]),
        "one": record,
        "several": lambda: [record() for _ in range(rng.randrange(4))],
        "by_name": lambda: {name: amount() for name in rng.sample("uvw", rng.randrange(4))},
    }
    return {"id": key, **{name: make() for name, make in parts.items() if rng.random() < 0.9}}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"credit": "all"},
        {"equality": "exact"},
        {"nothing": "missing,null,empty"},
        {"choices": {"several": "ordered"}},
        {"choices": {"several": {"key": "a"}, "one": {"credit": "all"}}},
        {"choices": {"several[*]": {"at_least": 0.5}}},
    ],
)
def test_groups_of_any_documents_add_up_to_the_table_by_field(options):
    import random

    for seed in range(8):
        rng = random.Random(seed)
        gold, system = ([random_document(rng, k) for k in range(8)] for _ in range(2))
        result = ts.score(gold, system, **options)["records"]
        errors = result.grouped_errors()
        by_field = {row.path: row.wrong + row.missing + row.extra for row in result.by_field()}
        counts = {path: one.count + one.paired for path, one in errors.fields.items()}
        assert counts == {path: n for path, n in by_field.items() if n}
        assert all(str(table) for table in errors.tables())


@pytest.mark.parametrize("options", [{}, {"credit": "all"}, {"choices": {"several": "ordered"}}, {"unknown": "ignore"}])
def test_a_report_that_goes_down_an_alignment_once_finds_the_same_fields_and_errors(options, monkeypatch):
    import random

    from tallystick.results.errors import Grouping
    from tallystick.tasks.contract import Asked
    from tallystick.tasks.records import score as records
    from tallystick.tasks.records.task import RecordSettings

    monkeypatch.setattr(records, "batch_size", lambda *_: 3)
    settings = RecordSettings(**options)
    for seed in range(8):
        rng = random.Random(seed)
        gold, system = ([random_document(rng, k) for k in range(8)] for _ in range(2))
        plain = records.run_prepared(records.prepare(gold, system, settings))
        grouping = Grouping()
        kept = records.run_prepared(records.prepare(gold, system, settings), Asked(documents=2), grouping=grouping)
        assert kept.result.by_field() == plain.result.by_field()
        assert kept.result.figures == plain.result.figures
        whole = records.score_prepared(records.prepare(gold, system, settings)).grouped_errors()
        assert kept.errors.as_dict() == whole.as_dict()


def test_errors_are_shown_with_figures_by_label_and_only_if_asked_for(tmp_path):
    from importlib.resources import files

    gold, system = (str(files("tallystick.examples") / f"receipts.{side}.jsonl") for side in ("gold", "small"))
    command = ("score", "records", gold, system, "--from", "output", "--lenient", "--format", "table")
    assert "Kinds of error" in run(*command, "--errors", "--by", "label", "--label", "items[*].name").stdout
    assert "Kinds of error" not in run(*command, "--report", str(tmp_path / "page.html")).stdout
    assert "--describe scores nothing" in run(*command, "--describe", "--errors", code=2).stderr


TEXTS = st.text("aB1ß- .é\t_", max_size=6)
SPOKEN = st.sampled_from(
    ["yes", " Y", "no", "0", "1", "true", "{}", "[1]", "[1 ]", "a\0b", "AK-12345", "ak 12345", "5 May 2020"]
)


@given(st.lists(st.tuples(TEXTS | SPOKEN | st.integers(0, 2) | st.booleans(), TEXTS | SPOKEN), min_size=1))
def test_what_is_quickly_asked_of_texts_together_changes_no_kind(pairs):
    with patch.object(kinds, "_ascii_texts", lambda _: kinds._Texts([], [], [], True)):
        expected = kinds.kinds_of(pairs)
    assert kinds.kinds_of(pairs) == expected


VALUES = st.integers(-3, 10**10) | st.floats(allow_nan=False) | TEXTS | st.booleans() | st.none()
SIMILAR = st.sampled_from([0.1 + 0.2, 0.3, 1234567891, 1234567892.0, 1e300, 1e300 * (1 + 1e-10), -0.0, 0, 5e-324])


@given(st.lists(VALUES | SIMILAR, max_size=8), st.lists(VALUES | SIMILAR, max_size=8))
def test_values_are_numbered_by_what_they_are_known_by(values, others):
    for some in (
        values,
        [one for one in values if type(one) in (int, float)],
        [one for one in values if type(one) is str],
    ):
        numbers = {key: k for k, key in enumerate(dict.fromkeys(map(kinds.plain_key, others))) if key is not None}
        expected = [numbers.get(kinds.plain_key(one), -1) for one in some]
        assert kinds.number_keys(some, numbers).tolist() == expected


NUMBERS = st.sampled_from([0, 1, 5, 5.0, 0.1 + 0.2, 0.3, -5, 2**60, 2**60 + 1, 1e300, 12.345, 12.35, True]) | st.floats(
    -9, 9
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1))
def test_two_numbers_are_never_one_spelled_differently_nor_one_under_two_signs_if_both_are_above_0(pairs):
    left_out = kinds._spelled_out, kinds._signs_differ
    some = {name: replace(kind, fits=None if kind.fits in left_out else kind.fits) for name, kind in KINDS.items()}
    with patch.object(kinds, "KINDS", some):
        expected = kinds.kinds_of(pairs)
    assert kinds.kinds_of(pairs) == expected

"""Values as people and models spell them: what is read, under which convention, and what is not."""

import datetime
import decimal
import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tallystick as ts
from benchmarks import values as table
from tallystick.algebra import values
from tallystick.algebra.values import read_date, read_number
from tallystick.errors import DerivationError, MetricError, TallystickError
from tallystick.structures import EntitySet, EventSet, TemplateSet, Var
from tallystick.tasks import equations


def alike(node, reference, predicted):
    return ts.evaluate(ts.f1(ts.each(v=node)), [{"v": reference}], [{"v": predicted}]).f1


# The table of docs/values.md.


def test_sixty_pairs_are_read_as_a_sensible_person_reads_them():
    pytest.importorskip("phonenumbers")
    assert len(table.PAIRS) == 60
    assert [table.ours(pair, parse=True) for pair in table.PAIRS] == [pair.expected for pair in table.PAIRS]
    wrong = [pair for pair in table.PAIRS if not pair.expected]
    assert [table.ours(pair, parse=False) for pair in wrong] == [0] * len(wrong)


def test_nobody_is_nearer_to_the_expectation():
    columns = table.scores()
    if len(columns) < 5:
        pytest.skip("needs stickler-eval, anls_star and autoevals")
    for found in table.distances(columns).values():
        assert found["with parse"] <= min(found.values())


def test_the_page_has_what_the_command_prints():
    page = (Path(__file__).parents[2] / "docs" / "values.md").read_text(encoding="utf-8")
    columns = table.scores()
    if len(columns) < 5:
        pytest.skip("needs stickler-eval, anls_star and autoevals")
    assert table.table(columns) in page


def test_fifteen_spellings_of_a_day_and_twenty_of_a_number():
    for texts, value, choice, two in (
        (table.DAY, "2024-04-03", {"date": {"parse": "auto"}}, "value '03/04/2024', '04/03/2024'"),
        (table.AMOUNT, 1234, {"number": {"parse": "auto"}}, "value '1,234', '1.234'"),
    ):
        found = table.spellings(texts, value, choice)
        assert found.f1 == 1
        assert any(f"2 spellings ({two})" in note for note in found.notes)
    assert (len(set(table.DAY)), len(set(table.AMOUNT))) == (15, 20)


# Numbers.


@given(
    st.decimals(-(10**9), 10**9, places=2),
    st.sampled_from([",.", ".,", " ,", "'.", "_."]),
    st.sampled_from(["", " €", " EUR"]),
)
@settings(max_examples=200)
def test_a_number_with_two_decimals_is_read_whatever_its_marks(value, marks, currency):
    group, point = marks
    text = f"{value:,.2f}".translate({ord(","): group, ord("."): point}) + currency
    assert set(read_number(text).values) == {float(value)}


@given(st.text(max_size=12))
@settings(max_examples=300)
def test_no_text_is_too_strange(text):
    read_number(text)
    read_date(text)
    assert alike(ts.number(parse="auto"), text, text) == 1
    assert alike(ts.date(parse="auto"), text, text) == 1
    assert alike(ts.equal, text, text) == 1


def test_the_language_says_which_mark_is_decimal():
    pytest.importorskip("babel")
    assert alike(ts.number(parse="en"), 1234, "1,234") == 1
    assert alike(ts.number(parse="de"), 1234, "1,234") == 0
    assert alike(ts.number(parse="de"), 1.234, "1,234") == 1
    assert alike(ts.number(parse="de_CH"), 1.234, "1.234") == 1
    assert alike(ts.number(parse="de"), 1234.5, "1,234.50") == 1  # it can only be read in one way
    with pytest.raises(MetricError, match="a language such as en, de or de_CH, found 'xx'"):
        ts.number(parse="xx")


def test_under_one_convention_two_spellings_are_two_numbers():
    assert alike(ts.number(parse="auto"), "1,234", "1.234") == 0
    assert alike(ts.date(parse="auto"), "03/04/2024", "04/03/2024") == 0


def test_currencies_and_units_agree():
    node = ts.number(parse="auto")
    assert alike(node, 5, "5 €") == alike(node, "5 EUR", "€5") == 1
    assert alike(node, "5 €", "$5") == alike(node, "5 kg", "5 g") == 0
    assert alike(ts.number(parse="auto", currency="ignore"), "5 €", "$5") == 1
    assert alike(ts.number(parse="auto", currency="EUR"), 5, "$5") == 0
    assert alike(ts.number(parse="auto", unit={"kg": 1, "g": 0.001}), "5 kg", "5000 g") == 1
    assert alike(ts.number(parse="auto", unit="kg"), 5, "5 g") == 0


def test_percentages():
    either, fraction, points = (ts.number(parse="auto", percent=one) for one in ("either", "fraction", "points"))
    assert alike(either, 0.12, "12 %") == alike(either, 12, "12 %") == 1
    assert (alike(fraction, 0.12, "12 %"), alike(fraction, 12, "12 %")) == (1, 0)
    assert (alike(points, 0.12, "12 %"), alike(points, 12, "12 %")) == (0, 1)
    assert alike(either, "12 %", "0.12 %") == 0


def test_what_is_no_number_is_compared_as_text_and_named():
    found = ts.evaluate(
        ts.f1(ts.each(v=ts.number(parse="auto"))), [{"v": "n/a"}, {"v": "5"}], [{"v": " n/a"}, {"v": "none"}]
    )
    assert found.tally["num_p"] == 1
    assert "not understood in the reference, and compared as text: 1 spelling (v 'n/a')" in found.notes


def test_numbers_are_matched_in_lists():
    node = ts.f1(ts.match(ts.number(parse="auto", absolute=0.01)))
    found = ts.evaluate(node, [[1234.5, 2, "n/a"]], [["1.234,50 €", "n/a", "2.005", "7"]])
    assert found.tally == {"num_p": 3, "den_p": 4, "num_r": 3, "den_r": 3}


def test_parameters_that_make_no_sense_are_refused():
    for make in (
        lambda: ts.number(percent="half", parse="auto"), lambda: ts.number(currency="EUR"), lambda: ts.number(unit={"kg": 0}, parse="auto"),
        lambda: ts.date(precision="week"), lambda: ts.date(formats=["d.m.Y"]), lambda: ts.date(dayfirst="yes"),
        lambda: ts.boolean(true=["ok"], false=["OK"]), lambda: ts.equal("NFX"), lambda: ts.equal(noise=0.5),
    ):  # fmt: skip
        with pytest.raises(MetricError):
            make()


# Dates.


def test_precision_cuts_what_is_written():
    assert alike(ts.date(precision="day"), "2024-04-03T23:30:00-05:00", "2024-04-03") == 1
    assert alike(ts.date(precision="month"), "2024-04-03", "April 2024") == 1
    assert alike(ts.date(precision="year"), "2024", datetime.date(2024, 7, 1)) == 1
    assert alike(ts.date(parse="auto"), "2024-04-01", "April 2024") == 0  # a month is not its first day
    assert alike(ts.date(parse="auto", days=1), "2024-04-03", "4 April 2024") == 1


def test_formats_and_the_day_first():
    assert alike(ts.date(formats=["%d|%m|%y"]), "2024-04-03", "03|04|24") == 1
    assert alike(ts.date(dayfirst=True), "2024-04-03", "03/04/2024") == 1
    assert alike(ts.date(dayfirst=False), "2024-04-03", "03/04/2024") == 0
    assert alike(ts.date(dayfirst=True), "2024-04-03", "2024-04-03") == 1
    assert alike(ts.date(dayfirst=True), "2024-12-25", "12/25/2024") == 1  # there is no other reading


def test_a_language_has_its_own_months():
    pytest.importorskip("babel")
    assert alike(ts.date(parse="auto"), "2024-11-03", "3 listopada 2024") == 0
    assert alike(ts.date(parse="pl"), "2024-11-03", "3 listopada 2024") == 1
    assert alike(ts.date(parse="hr"), "2024-10-03", "3. listopada 2024") == 1


@pytest.mark.parametrize(
    "text", ["10", "may", "12.5", "14:30", "31.02.2024", "next week", "3 jui 2024", "1 April 2024 5pm EST"]
)
def test_what_is_no_date_is_not_made_one(text):
    assert read_date(text) is None


@given(
    st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    st.sampled_from(["%d.%m.%Y", "%Y%m%d", "%d %B %Y", "%b %d, %Y", "%Y/%m/%d"]),
)
@settings(max_examples=200)
def test_dates_are_read_as_they_were_written(day, form):
    assert {moment.date() for moment, _ in read_date(day.strftime(form))} == {day}


# Truth values, telephone numbers, JSON.


def test_words_of_ones_own_for_truth():
    node = ts.boolean(true=["paid"], false=["open"])
    assert alike(node, True, "Paid") == alike(node, "open", 0) == alike(node, "yes", "paid") == 1
    assert alike(node, True, "open") == alike(node, True, "maybe") == 0


def test_json_in_a_text_is_what_it_says():
    assert alike(ts.json, '{"a": [1, {"b": null}]}', {"a": [1.0, {"b": None}]}) == 1
    assert alike(ts.json, '{"a": 1', '{"a": 1}') == 0
    assert alike(ts.json, "true", "1") == 0


# Equal to whoever reads it.


def near(a, b, noise=1e-9):
    """The definition, for two numbers."""
    if a == b:
        return True
    return abs(a - b) <= min(noise * max(abs(a), abs(b)), 5e-4) and not (
        float(a).is_integer() and float(b).is_integer()
    )


NUMBERS = st.one_of(
    st.integers(-5, 5), st.sampled_from([0.1, 0.3, 0.1 + 0.2, 1 / 3, 0.3333333333, 1e9, 1e9 + 0.25, 1.0000000004, 10**17, 10**17 + 1]),
    st.floats(-2, 2).map(lambda x: round(x, 3)),
)  # fmt: skip


@given(NUMBERS, NUMBERS)
@settings(max_examples=300)
def test_equal_is_its_definition(a, b):
    assert alike(ts.equal, a, b) == near(a, b)
    assert alike(ts.optional(ts.equal), a, b) == near(a, b)


@given(
    st.lists(NUMBERS, max_size=5), st.lists(NUMBERS, max_size=5), st.lists(st.floats(0.9999999, 1.0000001), max_size=60)
)
@example([1.0, 1 + 2e-9], [1 + 5e-10], [1 + k * 5e-10 for k in range(40)])
@example([1e9, 5], [1e9 + 1, 5.0], [1e9, 1e9 + 4e-4, 1e9 + 8e-4])
@settings(max_examples=100)
def test_a_document_does_not_depend_on_its_neighbours(reference, predicted, crowd):
    metric = ts.f1(ts.match(ts.equal))
    alone = ts.evaluate(metric, [reference], [predicted]).tally
    together = ts.evaluate(metric, [reference, crowd], [predicted, crowd])
    assert dict(zip(alone, together.rows[0], strict=True)) == alone
    assert ts.evaluate(metric, [crowd], [crowd]).f1 in (1, None)


def test_what_equal_forgives_can_be_switched_off():
    pairs = {"form": ("é", "e\u0301"), "spaces": ("a b", "a\u00a0 b"), "noise": (0.3, 0.1 + 0.2)}
    for part, (a, b) in pairs.items():
        assert alike(ts.equal, a, b) == 1
        assert alike(ts.exact, a, b) == 0
        off = ts.equal(**{part: {"form": "", "spaces": False, "noise": 0}[part]})
        assert alike(off, a, b) == 0
        assert ts.parse(str(off)) == off
    assert alike(ts.equal, True, 1) == 0
    assert alike(ts.equal, decimal.Decimal("1.10"), 1.1) == 1
    assert str(ts.parse("equal")) == "equal"


# Rules for many fields.


@dataclass
class Line:
    sku: str
    price: float
    quantity: int


@dataclass
class Invoice:
    lines: list[Line]
    total: float
    note: str | None
    extra: str | list[str] | float
    rates: dict[str, float]


def derived(choices, **options):
    return str(ts.derive(Invoice, choices, credit="each", **options))


def test_a_rule_for_a_name_at_any_depth_and_for_all_below():
    found = derived({"**.price": ts.number(0.01), "lines[*].*": {"weight": 2}, "lines[*].sku": {"weight": 3}})
    assert (
        "each(sku=weighted(exact, 3.0), price=weighted(number(absolute=0.01), 2.0), quantity=weighted(exact, 2.0))"
        in found
    )


def test_a_rule_that_ends_in_a_star_compares_values_without_parts():
    found = derived({"**": "equal"})
    assert found == derived(None, equality="equal")


def test_a_rule_by_kind_is_for_what_nobody_says_anything_else_about():
    found = derived({"default": {"number": {"number": {"relative": 0.1}}, "string": "equal"}, "total": "exact"})
    assert "total=exact, note=optional(equal)" in found
    assert "extra=cases(str=equal, list=match(equal, 1:1), float=number(relative=0.1))" in found

    @dataclass
    class Noted:
        a: Annotated[str, ts.text("levenshtein")]
        default: str

    assert (
        str(ts.derive(Noted, {"default": {"text": "jaro"}}))
        == 'f1(record(a=text("levenshtein"), default=text("jaro")))'
    )


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"**.prise": "exact"}, "no value fits the rule '**.prise' of Invoice"),
        ({"default": {"nubmer": "exact"}}, "unknown kind 'nubmer'.*Did you mean \"number\""),
        ({"extra<int>": "exact"}, "no value at the path 'extra<int>'"),
        ({"lines[*].*": {"nubmer": 1}}, r"choices: lines\[\*\]\.\*: unknown choice 'nubmer'"),
    ],
)
def test_rules_without_effect_are_errors(choices, message):
    with pytest.raises(DerivationError, match=message.replace("**.", r"\*\*\.")):
        derived(choices)


def test_one_case_of_a_union_is_chosen():
    assert 'extra=cases(str=text("jaro"), list=match(exact, 1:1), float=exact)' in derived(
        {"extra<str>": {"text": "jaro"}}
    )


def test_the_keys_of_mappings_are_chosen_and_annotated():
    noted = dict[Annotated[str, ts.text("levenshtein")], int]
    assert str(ts.derive(noted)) == 'f1(match(record(key=text("levenshtein"), value=exact), 1:1))'
    assert 'rates=match(record(key=text("jaro"), value=exact), 1:1)' in derived({"rates[*].key": {"text": "jaro"}})


def test_a_variable_as_a_key_is_a_variable():
    metric = ts.derive(dict[Var, str])
    assert ts.evaluate(metric, [{"a": "x", "b": "y"}], [{"q": "x", "r": "y"}]).f1 == 1
    assert ts.evaluate(metric, [{"a": "x", "b": "y"}], [{"q": "x", "r": "z"}]).f1 == 0.5


def test_a_sum_that_is_asked_for_stays_a_sum():
    mention = equations.phi_mention
    assert ts.derive(EntitySet, {"entities[*].mentions": ts.match(mention)}) == equations.ceaf_phi3  # eq. 17
    assert ts.derive(EventSet, {"events[*].args": ts.match(equations.phi_argument)}) == equations.arg_f1  # eq. 16
    templates = ts.derive(
        TemplateSet[str], {"templates[*].fillers": ts.match(ts.record(slot=ts.exact, value=ts.exact))}
    )
    assert templates == equations.muc4_f1(ts.exact)  # eq. 32


def test_aliases_come_from_a_file_beside_the_choices(tmp_path):
    (tmp_path / "units.csv").write_text("USD,US$,dollar\nEUR,€\n")
    (tmp_path / "units.yaml").write_text("USD: [US$, dollar]\nEUR: €\n")
    for name in ("units.csv", "units.yaml"):
        (tmp_path / "choices.yaml").write_text(f"currency: {{aliases: {name}}}\n")
        found = ts.score([{"currency": "USD"}], [{"currency": "dollar"}], choices=str(tmp_path / "choices.yaml"))
        assert found.f1 == 1
    with pytest.raises(TallystickError, match=r"nowhere\.csv"):
        ts.score([{"currency": "USD"}], [{"currency": "x"}], choices={"currency": {"aliases": "nowhere.csv"}})


def test_a_blank_text_may_be_missing():
    for blank, expected in (("missing,null", 0.5), ("missing,null,blank", 1), ("missing,null,empty,blank", 1)):
        found = ts.score([{"a": 1, "b": None}], [{"a": 1, "b": " \u00a0"}], type=Noting, nothing=blank)
        assert found.precision == expected
    tags = ts.score([{"a": 1, "b": None}], [{"a": 1, "b": ""}], type=Noting, nothing="missing,null,blank")
    assert tags.f1 == 1
    assert str(ts.parse("optional(exact, blank=True)")) == "optional(exact, blank=True)"


@dataclass
class Noting:
    a: int
    b: str | None


def test_a_blank_text_of_a_column_may_be_missing():
    arrow = pytest.importorskip("pyarrow")
    metric = ts.f1(ts.each(b=ts.optional(ts.exact, blank=True)))
    sides = [arrow.table({"b": values}) for values in (["x", " ", None], ["x", None, ""])]
    assert ts.evaluate(metric, *sides).tally == {"num_p": 1, "den_p": 1, "num_r": 1, "den_r": 1}


def test_alternatives_by_a_rule():
    gold = [{"a": {"name": ["Ann", "Anna"]}, "name": ["Bo", "Bob"]}]
    found = ts.score(gold, [{"a": {"name": "Anna"}, "name": "Bob"}], choices={"**.name": {"any_of": True}})
    assert found.f1 == 1


def test_what_counts_as_nothing_is_said_once_for_values_with_choices_too():
    choices = {"b": {"text": "levenshtein"}, "a": "ignore"}
    found = ts.score(
        [{"a": 1, "b": None}], [{"a": 2, "b": ""}], type=Noting, nothing="missing,null,empty", choices=choices
    )
    assert found.tally == {"num_p": 0, "den_p": 0, "num_r": 0, "den_r": 0}


def test_a_key_in_other_white_space_is_the_same_key():
    gold, predicted = [{"lines": [{"sku": "A 1", "n": 1}]}], [{"lines": [{"sku": "A\u00a01", "n": 1}]}]
    assert ts.score(gold, predicted, choices={"lines": {"key": "sku"}}).f1 == 1
    assert ts.score(gold, predicted, choices={"lines": {"key": "sku"}}, equality="exact").f1 == 0


def test_spellings_are_named_once_for_documents_that_were_scored_apart():
    metric = ts.f1(ts.each(v=ts.date(parse="auto")))
    parts = [
        ts.evaluate(metric, {k: {"v": "2024-04-03"}}, {k: {"v": text}})
        for k, text in enumerate(["03/04/2024", "04/03/2024"])
    ]
    (note,) = (parts[0] + parts[1]).notes
    assert note.endswith("2 spellings (v '03/04/2024', '04/03/2024')")


@dataclass
class Bill:
    id: str
    total: float
    due: str
    name: str


SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "total": {"type": "number"},
        "due": {"type": "string"},
        "name": {"type": "string"},
    },
    "required": ["id", "total", "due", "name"],
}
BILLS = [{"id": f"b{k}", "total": 1000.5 + k, "due": f"2024-04-{k + 1:02d}", "name": "Café 1"} for k in range(20)]
ANSWERS = [
    {
        "id": one["id"],
        "total": f"{one['total']:,.2f} €",
        "due": f"{k + 1} April 2024",
        "name": "Cafe\u0301\u00a01" if k else "Tea",
    }
    for k, one in enumerate(BILLS)
]


@pytest.mark.parametrize("shape", [{}, {"type": Bill}, {"schema": SCHEMA}], ids=["inferred", "type", "schema"])
def test_values_are_understood_on_every_way(shape, tmp_path):
    choices = {"total": {"number": {"parse": "auto"}}, "due": {"date": {"parse": "auto"}}}
    sides = {"gold": BILLS, "answers": ANSWERS}
    for name, rows in sides.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ways = [tuple(sides.values()), tuple(str(tmp_path / f"{name}.jsonl") for name in sides)]
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    for name, rows in sides.items():
        parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    ways.append(tuple(str(tmp_path / f"{name}.parquet") for name in sides))
    for way in ways:
        found = ts.score(*way, choices=choices, **shape)
        assert found.tally == {"num_p": 59, "den_p": 60, "num_r": 59, "den_r": 60}
        assert not any("wrong kind" in note for note in found.notes)


LEAVES = st.one_of(
    st.text(st.sampled_from("aé ñ1\u00fc"), max_size=5),
    st.integers(-9, 9),
    st.floats(-1e6, 1e6).map(lambda x: round(x, 2)),
    st.booleans(),
)
DOCUMENTS = st.dictionaries(
    st.sampled_from("pqrs"), st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xy"), inner, min_size=1, max_size=2), max_leaves=6),
    min_size=1,
)  # fmt: skip


def respelled(value, random):
    """The same document as another program might write it."""
    if isinstance(value, dict):
        return {key: respelled(one, random) for key, one in value.items()}
    if isinstance(value, list):
        return [respelled(one, random) for one in value]
    if isinstance(value, str):
        form = random.choice(["NFC", "NFD"])
        return unicodedata.normalize(form, value).replace(" ", random.choice([" ", "\u00a0", " \n"])) + random.choice(
            ["", " "]
        )
    if isinstance(value, float):
        return value * (1 + random.choice([0, 1e-12, -1e-12]))
    return value


@given(DOCUMENTS, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_document_that_another_program_wrote_is_exact(document, random):
    found = ts.score([document], [respelled(document, random)])
    assert found.exact in (1, None)
    assert found.f1 in (1, None)
    assert ts.score([document], [document], equality="exact").f1 == found.f1


def test_numbers_are_one_case_that_is_chosen_once():
    found = str(ts.derive(dict[str, int | float | str | list[str]], {"[*].value<float>": ts.number(0.5)}))
    assert "float=number(absolute=0.5), str=exact" in found
    assert "int=exact" not in found


WORDS = st.sampled_from(["AP", "EST", "Z", "am", "h", "Mar", "May", "T", "of", "tag", "x", "Q", "lundi", "5th", "utc"])
PIECES = st.lists(WORDS | st.from_regex(r"[0-9]{1,6}", fullmatch=True) | st.sampled_from(list(" -./,+:'_")), max_size=7)


@given(PIECES)
def test_what_is_plainly_no_date_is_none_to_dateutil(pieces):
    text = "".join(pieces)
    with patch.object(values, "_says_no_date", lambda *_: False):
        expected = values._date_in_words(text, "")
    assert values._date_in_words(text, "") == expected


@given(PIECES | st.text("0159eE,.()- $%kAK:€", max_size=8).map(list))
def test_what_looks_unreadable_is_no_number_and_no_date(pieces):
    text = "".join(pieces)
    if values.looks_unreadable(text):
        with patch.object(values, "_says_no_date", lambda *_: False):
            assert (values.read_number(text), values.read_date.__wrapped__(text)) == (None, None)


def test_article_numbers_look_unreadable_and_what_may_be_read_does_not():
    assert all(map(values.looks_unreadable, ["AK-12345", "AM-12345", "no 7 of x", "12 34 x"]))
    assert not any(map(values.looks_unreadable, ["", "acme", "12", "0,123,456", "EUR 5", "1 May 2020", "9/9/99", "٣"]))


@pytest.mark.parametrize("language", ["", "fi"])
def test_the_words_of_dates_are_those_that_dateutil_knows(language):
    info = values._reader(language).info
    others = (info.JUMP, info.WEEKDAYS, info.HMS, info.AMPM, info.UTCZONE, info.PERTAIN)
    for known, lists in zip(values._date_words(language), ((info.MONTHS,), others), strict=True):
        words = [word for some in lists for one in some for word in ((one,) if isinstance(one, str) else one)]
        assert known == {run for word in words for run in re.findall("[a-z]+", word.lower())}


def test_a_whole_number_that_no_float_holds_equals_itself_only():
    huge = ts.number(parse="auto")
    metric = ts.f1(ts.match(huge))
    assert ts.evaluate(metric, [[10**400], [5]], [[10**400], [10**400]]).rows[:, 0].tolist() == [1, 0]

"""The official MUC-4 scores, worked out by hand from the scoring guidelines of 1992."""

import pytest

from tallystick.algebra.normalise import f1
from tallystick.algebra.sets import match
from tallystick.errors import SidesMismatch
from tallystick.results.evaluation import evaluate
from tallystick.tasks.equations import phi_set, phi_str
from tallystick.tasks.templates.files import Judgement, Muc4Template, Muc4Templates, parse_fill
from tallystick.tasks.templates.muc4 import (
    COUNTS,
    PARENTS,
    PREMODIFIERS,
    SlotScorer,
    date_credit,
    f_measures,
    map_templates,
    mapping_score,
    percent,
    score,
    value_credit,
)


def template(name="1", document="D", optional=False, **slots):
    fills = {
        slot.replace("_", "-"): tuple(parse_fill(text, slot.replace("_", "-")) for text in texts)
        for slot, texts in slots.items()
    }
    return Muc4Template(document, name, fills, optional)


def counts(slot, keys, responses, judgements=None):
    name = slot.replace("-", "_")
    found = SlotScorer(judgements or {}).counts(template(**{name: keys}), template(**{name: responses}), slot)
    return {count: int(n) for count, n in zip(COUNTS, found, strict=True) if n}


@pytest.mark.parametrize(
    ("slot", "key", "response", "expected"),
    [
        ("inc-type", "BOMBING", "ATTACK", {"PAR": 1}),
        ("inc-type", "ATTACK", "BOMBING", {"INC": 1}),
        ("inc-type", "ATTACK / BOMBING", "BOMBING", {"COR": 1}),
        ("inc-instr-type", 'MACHINE GUN: "AK-47"', 'GUN: "AK-47"', {"PAR": 1}),
        ("inc-instr-type", 'MACHINE GUN: "-"', 'GUN: "BULLET"', {"PAR": 1}),
        ("inc-instr-type", 'GUN: "AK-47"', 'GUN: "RIFLE"', {"PAR": 1}),
        ("hum-tgt-type", 'FORMER GOVERNMENT OFFICIAL: "X"', 'POLITICAL FIGURE: "X"', {"PAR": 1}),
        ("phys-tgt-effect", 'SOME DAMAGE: "X"', 'DESTROYED: "X"', {"PAR": 1}),
        ("phys-tgt-effect", 'DESTROYED: "X"', 'SOME DAMAGE: "X"', {"INC": 1}),
        ("hum-tgt-desc", '"PEASANTS"', '"THE 3 PEASANTS"', {"COR": 1}),
        ("inc-loc", "COLOMBIA: MEDELLIN (CITY)", "COLOMBIA", {"PAR": 1}),
        ("inc-loc", "(HONDURAS: TEGUCIGALPA (CITY)) / (HONDURAS)", "HONDURAS", {"COR": 1}),
        ("inc-date", "25 AUG 89 - 26 AUG 89", "26 AUG 89", {"PAR": 1}),
        ("inc-date", "16 AUG 89", "26 AUG 89", {"INC": 1}),
    ],
)
def test_one_fill_on_each_side(slot, key, response, expected):
    assert counts(slot, [key], [response]) == expected


def test_what_is_left_over_is_incorrect_first_and_then_spurious_or_missing():
    assert counts("perp-ind-id", ['"A B"', '"C D"'], ['"A B"']) == {"COR": 1, "MIS": 1}
    assert counts("perp-ind-id", ['"A B"'], ['"X"', '"Y"']) == {"INC": 1, "SPU": 1}
    assert counts("perp-ind-id", [], ['"X"']) == {"SPU": 1}
    assert counts("perp-ind-id", [], []) == {"NON": 1}


def test_an_optional_fill_is_never_missing():
    assert counts("perp-ind-id", ['? "A"', '"B"'], ['"B"']) == {"COR": 1}
    assert counts("perp-ind-id", ['? "A"'], []) == {"NON": 1}
    assert counts("perp-ind-id", ['? "A"'], ['"A"']) == {"COR": 1}


def test_a_right_value_with_a_wrong_tag_is_partial():
    assert counts("hum-tgt-effect", ['DEATH: "A"'], ['DEATH: "B"']) == {"PAR": 1}
    # With several fills a tag that is another fill's binds the response to that fill.
    assert counts("hum-tgt-effect", ['DEATH: "A"', 'INJURY: "B"'], ['DEATH: "B"']) == {"INC": 1, "MIS": 1}


def test_a_judgement_decides_what_the_program_cannot():
    key, response = ['"ALBERTO ROBERTO TORRES"'], ['"TORRES"']
    assert counts("hum-tgt-name", key, response) == {"INC": 1}
    decided = {("D", "1", "hum-tgt-name"): {'"TORRES"': Judgement("partial", '"ALBERTO ROBERTO TORRES"')}}
    assert counts("hum-tgt-name", key, response, decided) == {"PAR": 1}
    assert counts("hum-tgt-name", key, ['"THE TORRES"'], decided) == {"PAR": 1}  # premodifiers do not count


def test_a_judged_tag_makes_the_value_right():
    decided = {("D", "1", "hum-tgt-name"): {'"TORRES"': Judgement("match", '"ALBERTO TORRES"')}}
    assert counts("hum-tgt-type", ['CIVILIAN: "ALBERTO TORRES"'], ['CIVILIAN: "TORRES"'], decided) == {"COR": 1}


def test_a_distributed_judgement_is_partial_for_each_key():
    about = ("all-of", '"AMBULANCE"', '"FUEL TRUCK"', '"STATION WAGON"')
    decided = {("D", "1", "phys-tgt-id"): {'"VEHICLES"': Judgement("partial", about)}}
    assert counts("phys-tgt-id", ['"AMBULANCE"', '"FUEL TRUCK"', '"STATION WAGON"'], ['"VEHICLES"'], decided) == {
        "PAR": 3
    }


def test_half_credit_is_eq_33_in_muc_4s_direction():
    values = ["ATTACK", *PARENTS["inc-type"]]
    metric = phi_set(PARENTS["inc-type"])
    for key in values:
        for response in values:
            fills = parse_fill(key, "inc-type"), parse_fill(response, "inc-type")
            found = evaluate(f1(match(metric)), [[key]], [[response]]).tally["num_p"]
            assert value_credit("inc-type", *fills) == found


def test_strings_at_mapping_time_are_eq_46():
    phi = phi_str([word.lower() for word in PREMODIFIERS])
    for key, response in (("URBAN GUERRILLAS", "THE GUERRILLAS"), ("THE MEN", "THE WOMEN")):
        left, right = template(inc_type=["ATTACK"], perp_ind_id=[f'"{key}"']), None
        right = template(inc_type=["ATTACK"], perp_ind_id=[f'"{response}"'])
        found = evaluate(f1(match(phi)), [[key]], [[response]]).tally["num_p"]
        assert (mapping_score(left, right) is not None) == bool(found)


def test_templates_meet_only_if_type_and_one_of_the_targets_or_perpetrators_do():
    key = template(inc_type=["BOMBING"], hum_tgt_name=['"A B"'])
    assert mapping_score(key, template(inc_type=["ATTACK"], hum_tgt_name=['"B C"'])) == pytest.approx(0.75)
    assert mapping_score(key, template(inc_type=["ARSON"], hum_tgt_name=['"B C"'])) is None
    assert mapping_score(key, template(inc_type=["BOMBING"], hum_tgt_name=['"C"'])) is None
    assert mapping_score(template(inc_type=["ATTACK"]), template(inc_type=["ATTACK"])) == 1


def test_templates_are_mapped_greedily_by_recall():
    keys = [
        template("1", inc_type=["ATTACK"], hum_tgt_name=['"X"']),
        template("2", inc_type=["ATTACK"], hum_tgt_name=['"X"', '"Y"']),
    ]
    responses = [template("1", inc_type=["ATTACK"], hum_tgt_name=['"X"'])]
    assert map_templates(keys, responses) == [(0, 0)]


def test_percentages_and_f_of_1992():
    assert percent(1, 3) == 33
    assert percent(345, 1000) == 34  # a half goes to the even one
    assert percent(355, 1000) == 36
    assert percent(3459, 10000) == 34  # cut off at the per mil first: 345, a half
    assert percent(0, 0) is None
    row = {"COR": 889, "PAR": 143, "INC": 100, "SPU": 637, "MIS": 529}
    assert f_measures(row) == (55.93, 54.76, 57.15)
    assert f_measures({"COR": 0, "PAR": 0, "INC": 1, "SPU": 0, "MIS": 0}) == (0, 0, 0)
    assert f_measures(dict.fromkeys(COUNTS, 0)) == (None, None, None)


def test_the_report_has_every_total():
    key = Muc4Templates("key", {
        "A": [template("1", "A", inc_type=["BOMBING"], perp_ind_id=['"X Y"', '? "Z"']), template("2", "A", inc_type=["ARSON"])],
        "B": [], "C": [template("1", "C", optional=True, inc_type=["ATTACK"])],
    })  # fmt: skip
    response = Muc4Templates("response", {
        "A": [template("1", "A", inc_type=["ATTACK"], perp_ind_id=['"X Y"'])],
        "B": [template("1", "B", inc_type=["ATTACK"])],
    })  # fmt: skip
    report = score(key, response)
    rows = report.rows()
    assert report.mapping == (("A", "1", "1"),)
    assert rows["template-id"] == {"POS": 2, "ACT": 2, "COR": 1, "PAR": 0, "INC": 0, "SPU": 1, "MIS": 1, "NON": 1}
    assert rows["inc-type"] == {"POS": 2, "ACT": 2, "COR": 0, "PAR": 1, "INC": 0, "SPU": 1, "MIS": 1, "NON": 0}
    assert rows["MATCHED ONLY"]["POS"] == 2
    assert rows["MATCHED/MISSING"]["MIS"] == 1
    assert rows["MATCHED/SPURIOUS"]["SPU"] == 1
    assert (rows["ALL TEMPLATES"]["COR"], rows["ALL TEMPLATES"]["PAR"]) == (1, 1)
    assert rows["STRING FILLS ONLY"]["POS"] == 1
    assert report.result.f1 == pytest.approx(2 * 1.5 / 6)
    assert report.result.tally["SPU"] == 1
    assert "1 messages, which count as empty" in report.result.warnings[0]
    with pytest.raises(SidesMismatch, match='1 only in the prediction: "D"'):
        score(key, Muc4Templates("response", {"D": []}))
    with pytest.raises(SidesMismatch, match="records no mapping"):
        score(key, response, recorded=True)


def test_dates_may_be_two_days_off():
    assert date_credit("12 JUL 89", "14 JUL 89") == 1
    assert date_credit("12 JUL 89", "15 JUL 89") == 0
    assert date_credit(("range", None, "22 AUG 89"), ("range", None, "23 AUG 89")) == 1
    assert date_credit(("range", None, "02 NOV 89"), "01 NOV 1989") == 0.5
    assert date_credit("31 FEB 89", "31 FEB 89") == 0  # no such day; equal texts are found equal before

"""Role fillers: what each similarity of entities gives, grit's seven hand cases, and where its code departs from its paper."""

import pytest

import tallystick as ts
from running import run_python
from tallystick.algebra.text import normalise_text
from tallystick.structures import Entity, NAryRelation, RoleFillerEntity, TextMention
from tallystick.tasks import equations
from tallystick.tasks.named import STRINGS, Types
from tallystick.tasks.roles import metrics as roles
from tallystick.tasks.roles.metrics import RoleOptions


def tally(gold, system, name, **options):
    found = roles.evaluate([{"r": gold}], [{"r": system}], [name], options=RoleOptions(**options))[name]
    return tuple(found.tally.values())


A = [["m1", "m2", "m3"], ["m4"], ["m5"], ["m6"]]
OFFICES = [
    ["Pilmai telephone company building", "telephone company building", "telephone company offices"],
    ["water pipes"],
    ["public telephone booth"],
]
OVER = [["m4"], ["m1"], ["m5"], ["m6"], ["m3"]]
INSIDE = [["m1", "m2"], ["m4"], ["m5"], ["m6"]]
BEYOND = [["m1", "m2", "m3", "m4"], ["m5"], ["m6"]]

HAND = [
    ({"d": {"Target": OFFICES}}, {"d": {"Target": [["water pipes"], ["Pilmai telephone company building"], ["public telephone booth"], ["telephone company offices"]]}}, 0.8571, 0.8571),
    ({"d": {"Target": OFFICES}}, {"d": {"Target": [["Pilmai telephone company building"], ["water pipes"], ["public telephone booth"]]}}, 1, 1),
    ({"d": {"Target": OFFICES}}, {"d": {"Target": [["Pilmai telephone company building"], ["public telephone booth"]]}}, 0.8, 0.8),
    ({"d": {"PerpInd": A}}, {"d": {"PerpInd": OVER}}, 0.8889, 0.8889),
    ({"d": {"PerpInd": A}}, {"d": {"PerpInd": INSIDE}}, 1, 1),
    ({"d": {"PerpInd": A}}, {"d": {"PerpInd": BEYOND}}, 0.5714, 0.7857),
    (
        {"d1": {"PerpInd": A}, "d2": {"PerpInd": A}, "d3": {"PerpInd": A}, "d4": {"PerpInd": A, "PerpOrg": A, "Target": A}},
        {"d1": {"PerpInd": OVER}, "d2": {"PerpInd": INSIDE}, "d3": {"PerpInd": BEYOND}, "d4": {"PerpInd": OVER, "PerpOrg": INSIDE, "Target": BEYOND}},
        0.8333, 0.8958,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "system", "strict", "proportional"), HAND)
def test_grits_hand_cases(gold, system, strict, proportional):
    found = roles.evaluate(gold, system)
    assert round(found["ceaf_ree"].f1, 4) == round(found["grit_strict"].f1, 4) == strict
    assert round(found["grit_prop"].f1, 4) == proportional


def test_strings_are_compared_without_case_punctuation_and_articles():
    assert normalise_text('The "U.S." embassy, a building', STRINGS["grit"]) == "us embassy building"
    assert tally([["The Embassy"]], [["embassy."]], "ceaf_ree") == (1, 1, 1, 1)
    assert tally([["The Embassy"]], [["embassy."]], "ceaf_ree", strings="exact") == (0, 1, 0, 1)
    assert tally([["the bomb", "a car"]], [["bomb", "the bomb"]], "ceaf_ree") == (1, 1, 1, 1)  # an entity is a set


def test_an_empty_prediction_is_right_only_for_grit():
    assert tally([["m1"]], [[]], "ceaf_ree") == (0, 1, 0, 1)
    assert tally([["m1"]], [[]], "grit_strict") == (1, 1, 1, 1)


def test_a_role_that_only_the_prediction_has_costs_precision():
    found = roles.evaluate([{"r": [["m1"]]}], [{"r": [["m1"]], "q": [["m2"]]}])["grit_strict"]
    assert tuple(found.tally.values()) == (1, 2, 1, 1)


def test_the_softer_ones_give_credit_in_part():
    gold, system = [["m1", "m2", "m3"]], [["m1", "m2", "x"]]
    assert tally(gold, system, "ceaf_ree") == (0, 1, 0, 1)
    assert tally(gold, system, "ree_phi3") == (2, 3, 2, 3)
    assert tally(gold, system, "ree_phi4") == pytest.approx((2 / 3, 1, 2 / 3, 1))


def test_mentions_one_by_one():
    gold, system = [["m1", "m2", "m3"], ["m4"]], [["m1", "m2"], ["x"]]
    assert tally(gold, system, "rme_subset") == (2, 3, 1, 2)  # two right mentions cover one entity
    assert tally(gold, system, "rme_subset_literal") == (2, 3, 2, 2)
    assert tally(gold, system, "rme_phi3") == (2, 3, 2, 4)
    assert tally(gold, system, "rme_phi3_covered") == (2, 3, 1, 4)
    assert tally(gold, system, "mentions") == (2, 3, 2, 4)


def test_a_literal_recall_above_1_is_warned_of():
    found = roles.evaluate([{"r": [["m1", "m2"]]}], [{"r": [["m1", "m2"]]}], ["rme_subset_literal"])[
        "rme_subset_literal"
    ]
    assert found.recall == 2
    assert "above 1" in found.warnings[0]


def test_they_are_the_equations():
    def relation(entities):
        return NAryRelation("", [RoleFillerEntity("r", Entity([ts_mention(m) for m in e])) for e in entities])

    def ts_mention(name):
        from tallystick.structures import Mention

        return Mention(int(name[1:]), int(name[1:]))

    gold, system = A, [*OVER, ["m7", "m8"]]
    pairs = {
        "ceaf_ree": equations.ceaf_ree, "rme_subset": equations.ceaf_rme_subset, "rme_phi3": equations.ceaf_rme_phi3,
        "rme_subset_literal": equations.ceaf_rme_subset_literal, "rme_phi3_covered": equations.ceaf_rme_phi3_covered,
    }  # fmt: skip
    for name, equation in pairs.items():
        predicted = relation(system).by_mention() if name.startswith("rme") else relation(system)
        expected = ts.evaluate(equation, [relation(gold)], [predicted]).tally
        assert tally(gold, system, name) == tuple(expected.values()), name


def test_informativity_and_hierarchies_of_roles():
    gold = [
        NAryRelation("", [RoleFillerEntity("r", Entity([TextMention("Ada", "name"), TextMention("she", "pronoun")]))])
    ]
    found = roles.evaluate(gold, gold, ["ree_phi3"], options=RoleOptions(weights=(("pronoun", 0.25),)))["ree_phi3"]
    assert found.tally["den_r"] == 1.25
    soft = roles.evaluate(
        [{"PerpInd": [["a b"]]}],
        [{"Perp": [["a b"]]}],
        ["ceaf_ree"],
        options=RoleOptions(types=Types.of(None, {"PerpInd": "Perp"})),
    )
    assert soft["ceaf_ree"].f1 == 0.5


def test_an_entity_without_mentions_in_the_reference_is_left_out_and_counted():
    found = roles.evaluate([{"r": [[], ["m1"]]}], [{"r": [["m1"]]}], ["ceaf_ree"])["ceaf_ree"]
    assert found.f1 == 1
    assert "1 reference entities without a mention" in found.warnings[0]


def test_denominators_are_a_sides_own():
    for name in roles.METRICS:
        found = {tally(A, system, name)[3] for system in ([], [[]], A, OVER, BEYOND)}
        assert len(found) == 1, name
        found = {tally(gold, OVER, name)[1] for gold in ([["x"]], A, BEYOND)}
        assert len(found) == 1, name


def test_the_order_of_hashes_changes_nothing():
    code = (
        "from tallystick.tasks.roles import metrics as roles\n"
        "gold = [{'r': [{'m%d' % i for i in range(k, k + 4)} for k in range(6)]}] * 3\n"
        "system = [{'r': [{'m%d' % i for i in range(k, k + 3)} for k in range(7)]}] * 3\n"
        "print({n: (r.rows.tolist(), r.signature) for n, r in roles.evaluate(gold, system).items()})\n"
    )
    outputs = {run_python(code, PYTHONHASHSEED=seed) for seed in ("0", "1", "2", "77")}
    assert len(outputs) == 1


@pytest.mark.parametrize(("strings", "f1"), [("grit", 0), ("gtt", 0), ("unicode", 1), ("exact", 0)])
def test_roles_and_templates_have_one_normaliser(strings, f1):
    from tallystick.structures import SlotFiller, Template, TemplateSet
    from tallystick.tasks.templates import metrics as templates

    gold, system = "hub5'00", "Hub5’00"
    found = roles.evaluate([{"A": [[gold]]}], [{"A": [[system]]}], options=RoleOptions(strings))
    assert {found[name].f1 for name in ("ceaf_ree", "grit_strict", "grit_prop")} == {f1}
    sides = ([TemplateSet([Template("x", [SlotFiller("A", Entity((mention,)))])])] for mention in (gold, system))
    assert templates.evaluate(*sides, ["eq32_fillers"], strings=strings)["eq32_fillers"].f1 == f1

"""The kinds of error in templates, one by one."""

import pytest

from tallystick.results.mistakes import mend
from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.templates.metrics import evaluate
from tallystick.tasks.templates.show import KINDS, Errors


def template(type_, **slots):
    return Template(
        type_,
        [
            SlotFiller(slot, Entity((value,) if isinstance(value, str) else value))
            for slot, values in slots.items()
            for value in values
        ],
    )


def found(gold, system):
    errors = Errors()
    mistakes = errors.add("d", tuple(gold), tuple(system))
    return {kind: count for kind, count in errors.counts.items() if count}, mistakes


def f1(gold, system, mistakes=(), kind=""):
    """eq. 32 with one kind mended."""
    mended = mend(TemplateSet(system), [edit for one in mistakes if one.kind == kind for edit in one.edits])
    return evaluate([TemplateSet(gold)], [mended], ["eq32"])["eq32"].f1


GOLD = [
    template("attack", Victim=["john smith", "two guards"], Weapon=["bomb"]),
    template("arson", Target=["red house"]),
]


@pytest.mark.parametrize(
    ("slots", "kind"),
    [
        ({"Victim": ["smith", "two guards"], "Weapon": ["bomb"]}, {"Span_Error": 1}),
        ({"Victim": ["john smith", "John Smith", "two guards"], "Weapon": ["bomb"]}, {"Duplicate_Role_Filler": 1}),
        ({"Victim": ["john smith", "smith jr", "two guards"], "Weapon": ["bomb"]}, {"Duplicate_Partially_Matched_Role_Filler": 1}),
        ({"Victim": ["john smith", "two guards", "bomb"], "Weapon": ["bomb"]}, {"Within_Template_Incorrect_Role": 1}),
        ({"Victim": ["john smith", "two guards", "big bomb"], "Weapon": ["bomb"]}, {"Within_Template_Incorrect_Role + Partially_Matched_Filler": 1}),
        ({"Victim": ["john smith", "two guards"], "Weapon": ["bomb"], "Target": ["red house"]}, {"Wrong_Template_For_Role_Filler": 1}),
        ({"Victim": ["john smith", "two guards"], "Weapon": ["bomb"], "Target": ["house"]}, {"Wrong_Template_For_Partially_Matched_Role_Filler": 1}),
        ({"Victim": ["john smith", "two guards"], "Weapon": ["bomb", "red house"]}, {"Wrong_Template + Wrong_Role": 1}),
        ({"Victim": ["john smith", "two guards"], "Weapon": ["bomb", "house"]}, {"Wrong_Template + Wrong_Role + Partially_Matched_Filler": 1}),
        ({"Victim": ["john smith", "two guards", "a dog"], "Weapon": ["bomb"]}, {"Spurious_Role_Filler": 1}),
        ({"Victim": ["john smith", "two guards"]}, {"Missing_Role_Filler": 1}),
    ],
)  # fmt: skip
def test_one_error(slots, kind):
    counts, _ = found(GOLD, [template("attack", **slots), GOLD[1]])
    general = {"General_Spurious_Role_Filler": 1} if not {"Span_Error", "Missing_Role_Filler"} & set(kind) else {}
    assert counts == {**kind, **general}


def test_templates_that_are_missing_or_spurious():
    counts, _ = found(GOLD, [GOLD[0], template("robbery", Target=["bank"])])
    assert counts == {
        "Spurious_Template": 1, "Spurious_Template_Role_Filler": 1, "Missing_Template": 1, "Missing_Template_Role_Filler": 1,
    }  # fmt: skip


def test_prepositions_do_not_make_two_mentions_alike():
    counts, _ = found([template("attack", Victim=["mayor of lima"])], [template("attack", Victim=["group of men"])])
    assert counts == {"Spurious_Role_Filler": 1, "Missing_Role_Filler": 1, "General_Spurious_Role_Filler": 1}


def test_f1_if_mended():
    gold = [template("attack", Victim=["x y"], Weapon=["bomb"])]
    system = [template("attack", Victim=["x"], Target=["bomb"])]
    _, mistakes = found(gold, system)
    # Right: the type. Predicted 3, reference 3.
    assert f1(gold, system) == pytest.approx(1 / 3)
    assert f1(gold, system, mistakes, "Span_Error") == pytest.approx(2 / 3)
    # The bomb moves to its slot
    assert f1(gold, system, mistakes, "Within_Template_Incorrect_Role") == pytest.approx(2 / 3)
    assert f1(gold, system, mistakes, "Missing_Role_Filler") == pytest.approx(2 * 2 / 7)
    assert f1(gold, system, mistakes, "Spurious_Template") == pytest.approx(1 / 3)


def test_mending_whole_templates():
    system = [GOLD[0], template("robbery", Target=["bank"])]
    _, mistakes = found(GOLD, system)
    assert f1(GOLD, system) == pytest.approx(2 * 4 / 12)
    assert f1(GOLD, system, mistakes, "Spurious_Template") == pytest.approx(2 * 4 / 10)
    assert f1(GOLD, system, mistakes, "Missing_Template") == pytest.approx(2 * 6 / 14)


def test_mentions_of_an_entity_that_was_found():
    counts, _ = found(
        [template("attack", Victim=[("mayor", "j smith")])], [template("attack", Victim=[("mayor", "priest")])]
    )
    assert counts == {"Extra_Mention": 1, "Missing_Mention": 1}


def test_there_are_sixteen_kinds():
    assert len(KINDS) == 16

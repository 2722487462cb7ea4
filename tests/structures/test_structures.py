from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from tallystick import TallystickError, derive, evaluate
from tallystick.structures import (
    Argument,
    Entity,
    EntitySet,
    Event,
    EventSet,
    IndexedMention,
    Membership,
    Mention,
    NAryRelation,
    NAryRelationSet,
    Relation,
    RelationSet,
    RoleFillerEntity,
    SlotFiller,
    Template,
    TemplateSet,
    Trigger,
)

a, b, c = (Mention(k, k) for k in range(3))


def test_a_collection_may_be_given_as_anything_iterable() -> None:
    assert Entity([a, b]) == Entity((a, b)) == Entity(m for m in (a, b))  # type: ignore[arg-type]
    assert Entity({a}).mentions == (a,)
    assert Entity().mentions == ()


@pytest.mark.parametrize("wrong", ["abc", b"abc", 3, None])
def test_what_is_no_collection_is_refused(wrong: object) -> None:
    with pytest.raises(TallystickError, match=r"Entity\.mentions: expected a collection"):
        Entity(wrong)  # type: ignore[arg-type]


def test_what_stands_twice_stays_there_twice() -> None:
    one = Relation("is-capital-of", a, b)
    result = evaluate(derive(RelationSet), [RelationSet([one])], [RelationSet([one, one])])
    assert result.figures == {"precision": 0.5, "recall": 1, "f1": pytest.approx(2 / 3)}


def test_a_metric_does_not_see_the_order() -> None:
    left, right = EntitySet([Entity([a, b]), Entity([c])]), EntitySet([Entity([c]), Entity([b, a])])
    assert left != right
    assert evaluate(derive(EntitySet), [left], [right]).f1 == 1


def test_every_value_can_be_hashed_and_pickled() -> None:
    values = [
        EventSet([Event(Trigger(a, "Attack"), [Argument(b, "Target")])]),
        EntitySet([Entity([a, b])]).memberships(),
        NAryRelationSet([NAryRelation("result", [RoleFillerEntity("Task", Entity([IndexedMention(range(3))]))])]),
        TemplateSet([Template("Attack", [SlotFiller("Target", Entity(["the embassy"])), SlotFiller("Done", True)])]),
    ]
    assert len({*values}) == 4
    assert pickle.loads(pickle.dumps(values)) == values


def test_generic_structures_can_be_made_with_their_parameter() -> None:
    assert Entity[str](["x"]) == Entity(["x"])
    assert SlotFiller[bool]("Done", True) == SlotFiller("Done", True)


def test_memberships_share_their_entity() -> None:
    pair = Entity([a, b])
    found = EntitySet([pair, Entity([c])]).memberships()
    assert found.rels == (Membership(a, pair), Membership(b, pair), Membership(c, Entity([c])))
    assert found.rels[0].entity is found.rels[1].entity


def test_each_mention_as_an_entity_of_its_own() -> None:
    relation = NAryRelation("Attack", [RoleFillerEntity("Target", Entity([a, b])), RoleFillerEntity("Site", Entity())])
    single = [RoleFillerEntity("Target", Entity([a])), RoleFillerEntity("Target", Entity([b]))]
    assert relation.by_mention() == NAryRelation("Attack", single)


def test_a_type_parameter_has_its_default_or_what_is_said() -> None:
    mention = "record(left=exact, right=exact)"
    shape = "f1(each(entities=match(record(mentions=f1(match({}, 1:1))), 1:1)))"
    assert str(derive(EntitySet)) == shape.format(mention)
    assert str(derive(EntitySet[Mention])) == shape.format(mention)
    assert str(derive(EntitySet[IndexedMention])) == shape.format("record(indices=exact)")
    assert str(derive(EntitySet[str])) == shape.format("exact")


def test_templates_derive_once_their_fillers_type_is_said() -> None:
    with pytest.raises(TallystickError, match=r"templates\[\*\]\.fillers\[\*\]\.value: no metric .* Any"):
        derive(TemplateSet)
    filler = "record(slot=exact, value=record(mentions=f1(match(exact, 1:1))))"
    expected = f"f1(each(templates=match(record(type=exact, fillers=f1(match({filler}, 1:1))), 1:1)))"
    assert str(derive(TemplateSet[Entity[str]])) == expected


def test_fillers_of_several_types_are_compared_case_by_case() -> None:
    metric = derive(TemplateSet[Entity[str] | list[int] | bool])
    assert "cases(Entity=record(mentions=f1(match(exact, 1:1))), list=f1(match(exact, 1:1)), bool=exact)" in str(metric)
    entity, truth, numbers = SlotFiller("x", Entity(["u"])), SlotFiller("x", True), SlotFiller("x", [1, 2])
    both = TemplateSet([Template("A", [entity, truth, numbers])])
    assert evaluate(metric, [both], [both]).f1 == 1
    assert evaluate(metric, [TemplateSet([Template("A", [entity])])], [TemplateSet([Template("A", [truth])])]).f1 == 0


def test_importing_tallystick_imports_neither_structures_nor_metrics() -> None:
    code = "import sys, tallystick; print([m for m in sys.modules if m.startswith('tallystick.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "structures" not in found
    assert "metrics" not in found

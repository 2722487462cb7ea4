"""Templates: eq. 32 and the scorers of recent work, worked out by hand."""

import itertools
import random
import re
import string
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from running import run_python
from tallystick import parse
from tallystick.errors import MetricError
from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.templates.files import PairedTemplates
from tallystick.tasks.templates.metrics import FILLERS, METRICS, VARIANTS, by_slot, evaluate, muc4_templates


def template(type_, **slots):
    fillers = [
        SlotFiller(slot, Entity((value,) if isinstance(value, str) else tuple(value)))
        for slot, values in slots.items()
        for value in values
    ]
    return Template(type_, fillers)


GOLD = [
    TemplateSet([
        template("attack / bombing", Victim=["two men", ["the mayor", "J. Smith"]], Weapon=["a bomb"]),
        template("kidnapping", Victim=["a priest"]),
    ]),
]  # fmt: skip
SYSTEM = [
    TemplateSet([
        template("bombing", Victim=["Mayor", "j smith", "Two men."], Weapon=["grenade"]),
        template("arson", Victim=["priest"]),
    ]),
]  # fmt: skip


def tallies(names, gold=GOLD, system=SYSTEM, **options):
    found = evaluate(gold, system, names, **options)
    return {name: list(result.sums) for name, result in found.items()}


def test_eq_32_matches_templates_of_one_type_and_fillers_one_to_one():
    # The bombing is one of the key's types; of "Mayor" and "j smith", both of one entity, only one earns.
    assert tallies(["eq32", "eq32_fillers"]) == {"eq32": [3, 7, 3, 6], "eq32_fillers": [2, 5, 2, 4]}


def test_gtt_counts_covered_fillers_on_each_side():
    # Precision counts both mentions of the mayor, recall the mayor once.
    assert tallies(["gtt"]) == {"gtt": [4, 7, 3, 6]}


def test_iterx_counts_no_types_and_any_overlap():
    assert tallies(["iterx_subset", "iterx_phi3"]) == {"iterx_subset": [3, 5, 2, 4], "iterx_phi3": [2, 5, 2, 5]}


def test_chen_as_printed_may_count_one_entity_twice():
    assert tallies(["chen_subset", "chen_phi3"]) == {"chen_subset": [3, 5, 3, 4], "chen_phi3": [3, 5, 3, 5]}


def test_the_quirk_of_iterx_counts_a_template_once_for_each_of_its_types_if_anything_was_predicted():
    assert tallies(["iterx_phi3_quirks"])["iterx_phi3_quirks"] == [2, 5, 2, 4 * 2 + 1]
    assert tallies(["iterx_phi3_quirks"], system=[TemplateSet()])["iterx_phi3_quirks"] == [0, 0, 0, 5]


def test_granular_is_the_product_of_two_f1():
    result = evaluate(GOLD, SYSTEM, ["granular"])["granular"]
    assert result.figures["types_f1"] == pytest.approx(0.5)
    assert result.figures["fillers_f1"] == pytest.approx(2 * 2 / 9)
    assert result.score == pytest.approx(0.5 * 2 * 2 / 9)


def test_gtt_compares_types_by_substring():
    gold, system = [TemplateSet([template("forced work stoppage")])], [TemplateSet([template("stoppage")])]
    assert tallies(["gtt", "eq32"], gold, system) == {"gtt": [1, 1, 1, 1], "eq32": [0, 1, 0, 1]}


def test_another_similarity_of_fillers():
    gold = [TemplateSet([template("attack", Target=[["the old bridge", "bridge"]])])]
    system = [TemplateSet([template("attack", Target=[["bridge", "river"]])])]
    assert tallies(["eq32_fillers"], gold, system) == {"eq32_fillers": [0, 1, 0, 1]}
    assert tallies(["eq32_fillers"], gold, system, fillers="any") == {"eq32_fillers": [1, 1, 1, 1]}
    assert tallies(["eq32_fillers"], gold, system, fillers="phi4") == {"eq32_fillers": [0.5, 1, 0.5, 1]}
    expression = "record(mentions=best(exact))"
    assert tallies(["eq32_fillers"], gold, system, fillers=expression) == {"eq32_fillers": [1, 1, 1, 1]}


def test_wrong_names_say_what_was_meant():
    with pytest.raises(MetricError, match='Did you mean "gtt"'):
        evaluate(GOLD, SYSTEM, ["gt"])
    with pytest.raises(MetricError, match='Did you mean "subset"'):
        evaluate(GOLD, SYSTEM, ["eq32"], fillers="subet")


def test_nothing_on_one_side_or_on_both():
    empty = [TemplateSet()]
    for name in [*METRICS, *VARIANTS]:
        for gold, system in ((GOLD, empty), (empty, SYSTEM), (empty, empty)):
            result = evaluate(gold, system, [name])[name]
            assert result.score in (0, None)


def test_the_expressions_can_be_parsed_back():
    for phi in FILLERS.values():
        metric = muc4_templates(phi)
        assert parse(str(metric), functions=True) == metric


def test_slots_add_up_to_the_whole():
    pairs = PairedTemplates(["d"], GOLD, SYSTEM)
    for name in ("eq32", "eq32_fillers", "gtt", "iterx_phi3", "chen_subset"):
        rows = by_slot(pairs, name)
        assert sum(rows.values()).tolist() == tallies([name])[name]
    assert by_slot(pairs, "gtt")["Victim"].tolist() == [3, 4, 2, 3]
    with pytest.raises(MetricError, match="no figures by slot"):
        by_slot(pairs, "iterx_subset")


def test_an_explanation_shows_the_alternatives_of_a_type():
    tree = str(evaluate(GOLD, SYSTEM, ["eq32"])["eq32"].explain(0))
    assert "= 'bombing'" in tree
    assert "- 'attack'  missed" in tree


# gtt's own procedure, as an oracle: all maps of predicted templates to reference templates, in its order. The first map with the
# largest F counts, where F is what floating point makes of it.


def plainly(mention):
    """gtt's strings: lower case, no ASCII punctuation, no articles, single blanks."""
    kept = "".join(character for character in mention.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def lies_inside(predicted, reference):
    held = [plainly(mention) for mention in reference.value.mentions]
    return predicted.slot == reference.slot and all(plainly(mention) in held for mention in predicted.value.mentions)


def found_slots(gold, system):
    """The slots of the predicted fillers that are right and of the reference fillers that are found, if two templates meet."""
    right = [p.slot for p in system.fillers if any(lies_inside(p, r) for r in gold.fillers)]
    return right, [r.slot for r in gold.fillers if any(lies_inside(p, r) for p in system.fillers)]


def enumerated(gold, system):
    den_p, den_r = (sum(1 + len(t.fillers) for t in side) for side in (system, gold))
    earned = {(i, j): found_slots(g, t) for i, g in enumerate(gold) for j, t in enumerate(system) if t.type in g.type}
    best, chosen = -1, None
    for places in itertools.product([*range(len(gold)), -1], repeat=len(system)):
        used = [place for place in places if place >= 0]
        if len(set(used)) < len(used):
            continue
        met = [earned[place, j] for j, place in enumerate(places) if (place, j) in earned]
        right = [sum(1 + len(slots[side]) for slots in met) for side in (0, 1)]
        p, r = right[0] / den_p if den_p else 0, right[1] / den_r if den_r else 0
        f = 2 * p * r / (p + r) if p + r else 0
        if f > best:
            best, chosen = f, (right, met)
    right, met = chosen
    return best, right, {slot: [sum(slots[side].count(slot) for slots in met) for side in (0, 1)] for slot in "AB"}


WORDS = ("mayor", "The Mayor", "a mayor", "J. Smith", "j smith", "hub5'00", "Hub5’00", "STRASSE", "straße", "the")


def drawn(rng, n, types, most, words=("w0", "w1", "w2", "w3")):
    return [
        Template(
            rng.choice(types),
            [
                SlotFiller(rng.choice("AB"), Entity(tuple(rng.sample(words, rng.randint(1, most)))))
                for _ in range(rng.randint(0, 4))
            ],
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize("seed", range(30))
def test_gtt_is_gtts_own_procedure_in_ten_documents_each(seed):
    rng = random.Random(seed)
    for _ in range(10):
        words = rng.choice([WORDS, WORDS[:5], ("w0", "w1", "w2", "w3")])
        gold = drawn(rng, rng.randint(0, 4), ["attack", "bombing", "attack / bombing"], 4, words)
        system = drawn(rng, rng.randint(0, 4), ["attack", "bombing"], 3, words)
        _, right, slots = enumerated(gold, system)
        pairs = PairedTemplates(["d"], [TemplateSet(gold)], [TemplateSet(system)])
        result = evaluate(pairs.reference, pairs.predicted, ["gtt"])["gtt"]
        assert not any("search" in warning for warning in result.warnings)
        sizes = [sum(1 + len(t.fillers) for t in side) for side in (system, gold)]
        assert result.rows[0].tolist() == [right[0], sizes[0], right[1], sizes[1]]
        by = by_slot(pairs, "gtt")
        assert {slot: row[[0, 2]].tolist() for slot, row in by.items() if slot in slots} == {
            slot: found for slot, found in slots.items() if slot in by
        }


def one_entity(gold, system):
    return [TemplateSet([template("attack", A=[entity])]) for entity in (gold, system)]


@pytest.mark.parametrize(
    ("gold", "system", "alike"),
    [
        (["the mayor", "J. Smith"], ["the mayor", "Mayor"], True),
        (["mayor"], ["Mayor", "the mayor", "a MAYOR"], True),
        (["hub5'00"], ["Hub5’00"], False),
        (["straße"], ["STRASSE"], False),
    ],
)
def test_an_entity_is_a_set_of_what_gtts_strings_are(gold, system, alike):
    gold, system = one_entity(gold, system)
    for name in ("gtt", "eq32"):
        assert evaluate([gold], [system], [name])[name].f1 == (1 if alike else 0.5)
    for name in ("eq32_fillers", "iterx_subset", "iterx_subset_quirks", "chen_subset"):
        assert evaluate([gold], [system], [name])[name].f1 == (1 if alike else 0)


def test_other_strings_can_be_asked_for():
    gold, system = one_entity(["hub5'00", "straße"], ["Hub5’00", "STRASSE"])
    for strings, f1 in (("gtt", 0.5), ("unicode", 1), ("exact", 0.5)):
        found = evaluate([gold], [system], ["eq32", "gtt"], strings=strings)
        assert [result.f1 for result in found.values()] == [f1, f1]
    assert "strings=unicode" in evaluate([gold], [system], ["gtt"], strings="unicode")["gtt"].signature
    with pytest.raises(MetricError, match='Did you mean "unicode"'):
        evaluate([gold], [system], strings="unicod")


def test_mentions_that_are_alike_count_once():
    gold, system = one_entity(["the mayor", "Mayor", "J. Smith"], ["mayor", "a mayor", "priest"])
    assert tallies(["iterx_phi3", "chen_subset", "chen_phi3"], [gold], [system]) == {
        "iterx_phi3": [1, 2, 1, 2], "chen_subset": [1, 2, 1, 1], "chen_phi3": [1, 2, 1, 2],
    }  # fmt: skip
    assert tallies(["iterx_phi3_quirks"], [gold], [system]) == {"iterx_phi3_quirks": [2, 3, 2, 3]}  # IterX counts both


def test_gtt_with_six_templates_on_each_side():
    rng = random.Random(5)
    gold, system = drawn(rng, 6, ["attack"], 2), drawn(rng, 6, ["attack"], 1)
    f, _, _ = enumerated(gold, system)
    result = evaluate([TemplateSet(gold)], [TemplateSet(system)], ["gtt"])["gtt"]
    assert result.f1 == pytest.approx(f)


# IterX's own procedure, as an oracle: entities are lists of (type, slot, text), and SciPy chooses among equals.


def iterx_lists(side):
    return [[[(t.type, f.slot, plainly(mention)) for mention in f.value.mentions] for f in t.fillers] for t in side]


def hit(gold, system):
    """How many predicted entities have a mention that a reference entity has, and how many reference entities are hit."""
    places = [next((k for mention in one for k, other in enumerate(gold) if mention in other), None) for one in system]
    return sum(place is not None for place in places), len({place for place in places if place is not None})


def shared(gold, system):
    """Predicted mentions that are in the reference entity of their own, the best 1:1."""
    scores = np.zeros((len(gold), len(system)))
    for i, j in itertools.product(range(len(gold)), range(len(system))):
        scores[i, j] = sum(mention in gold[i] for mention in system[j])
    total = scores[linear_sum_assignment(-scores)].sum()
    return total, total


def by_iterx(gold, system, similarity):
    gold, system = iterx_lists(gold), iterx_lists(system)
    split, owner = [], []
    for k, template in enumerate(gold):
        label = next((mention[0] for entity in template for mention in entity if "/" in mention[0]), None)
        for one in [part.strip() for part in label.split("/")] if label and system else [None]:
            split.append([[((one or type_), slot, text) for type_, slot, text in entity] for entity in template])
            owner.append(k)
    full = [template for template in system if template]
    pairs = np.array([[similarity(one, other) for other in full] for one in split], float).reshape(
        len(split), len(full), 2
    )
    for k in range(len(gold)):
        rows = [row for row, of in enumerate(owner) if of == k]
        if len(rows) > 1:
            kept = rows[pairs[rows, :, 0].sum(axis=1).argmax()]
            pairs[[row for row in rows if row != kept]] = 0
    chosen = pairs[linear_sum_assignment(-pairs[:, :, 0])]
    if similarity is hit:
        sizes = [sum(map(len, side)) for side in (system, gold)]
    else:
        sizes = [sum(len(entity) for template in side for entity in template) for side in (system, split)]
    return [chosen[:, 0].sum(), sizes[0], chosen[:, 1].sum(), sizes[1]]


@pytest.mark.parametrize("seed", range(20))
def test_iterx_with_its_quirks_is_its_own_procedure_in_ten_documents_each(seed):
    rng = random.Random(seed)
    for _ in range(10):
        words = rng.choice([WORDS, WORDS[:5], ("w0", "w1", "w2", "w3")])
        gold = drawn(rng, rng.randint(0, 4), ["attack", "bombing", "attack / bombing"], 4, words)
        system = drawn(rng, rng.randint(0, 4), ["attack", "bombing"], 3, words)
        for name, similarity in (("iterx_subset_quirks", hit), ("iterx_phi3_quirks", shared)):
            found = evaluate([TemplateSet(gold)], [TemplateSet(system)], [name])[name]
            assert found.rows[0].tolist() == by_iterx(gold, system, similarity), name


# Invariances


def shuffled(rng, documents):
    return [
        TemplateSet(
            rng.sample([Template(t.type, rng.sample(t.fillers, len(t.fillers))) for t in d.templates], len(d.templates))
        )
        for d in documents
    ]


def corpus(seed):
    rng = random.Random(seed)
    gold = [TemplateSet(drawn(rng, rng.randint(0, 5), ["attack", "bombing / attack"], 2)) for _ in range(20)]
    system = [TemplateSet(drawn(rng, rng.randint(0, 5), ["attack", "bombing"], 2)) for _ in range(20)]
    return gold, system


@pytest.mark.parametrize("name", [*METRICS, *VARIANTS])
def test_denominators_depend_on_their_own_side_only(name):
    if name == "iterx_phi3_quirks":
        pytest.skip("its denominator depends on the other side: that is the quirk")
    gold, system = corpus(1)
    _, other = corpus(2)
    first, second = (evaluate(gold, side, [name])[name].rows for side in (system, other))
    assert first[:, 3::4].tolist() == second[:, 3::4].tolist()
    third = evaluate(corpus(3)[0], system, [name])[name].rows
    assert first[:, 1::4].tolist() == third[:, 1::4].tolist()


@pytest.mark.parametrize("name", [*METRICS, "eq32_fillers", "granular"])
def test_the_order_of_templates_and_fillers_does_not_matter(name):
    gold, system = corpus(4)
    rng = random.Random(9)
    first = evaluate(gold, system, [name])[name]
    second = evaluate(shuffled(rng, gold), shuffled(rng, system), [name])[name]
    if name == "iterx_subset":  # which reference filler is the first hangs on their order, for recall only
        assert first.rows[:, [0, 1, 3]].tolist() == second.rows[:, [0, 1, 3]].tolist()
    elif name == "gtt":
        assert [v["f1"] for v in first.documents.values()] == pytest.approx(
            [v["f1"] for v in second.documents.values()]
        )
    else:
        assert first.rows == pytest.approx(second.rows)


@pytest.mark.parametrize("name", [*METRICS, *VARIANTS])
def test_a_document_has_the_same_row_alone_and_among_others(name):
    gold, system = corpus(5)
    gold[3], system[3], gold[7], system[11], system[19] = (TemplateSet([]) for _ in range(5))
    together = evaluate(gold, system, [name])[name].rows
    alone = [evaluate([one], [other], [name])[name].rows[0].tolist() for one, other in zip(gold, system, strict=True)]
    assert together.tolist() == alone


def test_gtt_asks_every_template_for_its_type_as_often_in_many_documents_as_in_few():
    """Once for each document was a figure that grew with the square of the corpus."""

    class Untyped(Template):
        asked = 0

        def __getattribute__(self, name):
            if name == "type":
                Untyped.asked += 1
            return super().__getattribute__(name)

    counts = []
    for documents in (10, 40):
        sides = [[TemplateSet([Untyped("", [])] * 2) for _ in range(documents)] for _ in range(2)]
        Untyped.asked = 0
        evaluate(*sides, ["gtt"])
        counts.append(Untyped.asked / documents)
    assert counts[1] <= counts[0]


def test_hash_order_changes_nothing():
    code = (
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]\n"
        "from test_templates import corpus, METRICS, VARIANTS, evaluate\n"
        "gold, system = corpus(7)\n"
        "for name, result in evaluate(gold, system, [*METRICS, *VARIANTS]).items(): print(name, result.rows.tolist())"
    )
    outputs = {run_python(code, PYTHONHASHSEED=seed) for seed in ("0", "1", "42")}
    assert len(outputs) == 1


@pytest.mark.parametrize("name", [*METRICS, *VARIANTS])
def test_two_hundred_templates_on_each_side_in_under_two_seconds(name):
    import time

    rng = random.Random(3)
    gold = [TemplateSet(drawn(rng, 200, ["attack", "bombing", "arson"], 2))]
    system = [TemplateSet(drawn(rng, 200, ["attack", "bombing", "arson"], 1))]
    evaluate(GOLD, SYSTEM, [name])  # what is imported only once
    started = time.process_time()
    evaluate(gold, system, [name])
    assert time.process_time() - started < 2


def test_templates_that_hold_nothing_at_all():
    import tallystick as ts

    found = ts.templates([[{}, {}]], [[{}]])
    assert found["gtt"].tally == {"num_p": 0, "den_p": 0, "num_r": 0, "den_r": 0}

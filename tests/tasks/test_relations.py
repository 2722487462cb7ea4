"""Relations: each variant on an example where it differs from the others, and DocRED against its own procedure."""

import json
import random

import pytest

import tallystick as ts
from running import run, run_python
from tallystick.errors import MetricError
from tallystick.structures import AnnotatedMention as M
from tallystick.structures import Fact, FactSet, Mention, Relation, RelationSet
from tallystick.tasks.equations import rel_f1
from tallystick.tasks.named import Types
from tallystick.tasks.parses import Heads
from tallystick.tasks.relations import metrics as relations
from tallystick.tasks.relations.metrics import RelationOptions

PER, LOC = M(0, 1, "PER", head=(1, 1)), M(4, 5, "LOC", head=(5, 5))


def f1(gold, system, name, **options):
    sides = [RelationSet(side) for side in (gold, system)]
    return relations.evaluate(*([side] for side in sides), [name], options=RelationOptions(**options))[name].f1


@pytest.mark.parametrize(
    ("system", "right"),
    [
        (Relation("born", PER, LOC), {"strict", "boundaries", "relaxed", "head", "pair", "type"}),
        (Relation("born", M(0, 1, "ORG", head=(1, 1)), LOC), {"boundaries", "pair", "type"}),
        (Relation("born", M(1, 1, "PER", head=(1, 1)), LOC), {"relaxed", "head", "type"}),
        (Relation("born", M(1, 2, "PER", head=(2, 2)), LOC), {"relaxed", "type"}),
        (Relation("died", PER, LOC), {"pair"}),
        (Relation("born", LOC, PER), {"type"}),
    ],
)
def test_what_each_variant_forgives(system, right):
    found = relations.evaluate([RelationSet([Relation("born", PER, LOC)])], [RelationSet([system])])
    assert {name for name, result in found.items() if result.f1 == 1} == right


def test_a_symmetric_relation_has_no_direction_and_is_said_once():
    there, back = Relation("spouse", PER, LOC), Relation("spouse", LOC, PER)
    assert f1([there], [back], "strict") == 0
    assert f1([there], [back], "strict", symmetric=("spouse",)) == 1
    assert f1([there], [back, there], "strict", symmetric=("spouse",)) == 1
    near = Relation("spouse", M(5, 6, "LOC"), M(1, 1, "PER"))
    assert f1([there], [near], "relaxed", symmetric=("spouse",)) == 1
    assert f1([there], [near], "strict", symmetric=("spouse",)) == 0


def test_boundaries_is_equation_10():
    rng = random.Random(1)
    sides = []
    for _ in range(2):
        sides.append(
            [
                RelationSet(
                    {
                        Relation(rng.choice("ab"), M(*[rng.randrange(3)] * 2), M(3, 3 + rng.randrange(2)))
                        for _ in range(6)
                    }
                )
                for _ in range(30)
            ]
        )
    found = relations.evaluate(*sides)["boundaries"]
    assert found.tally == ts.evaluate(rel_f1, *sides).tally


def test_a_relation_said_twice_counts_once_and_each_side_counts_for_itself():
    one = Relation("born", PER, LOC)
    other = Relation("born", LOC, PER)
    found = relations.evaluate([RelationSet([one])], [RelationSet([one, one, other])])["boundaries"]
    assert found.tally == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 1}
    for reference in ([], [other], [one, other]):
        again = relations.evaluate([RelationSet(reference)], [RelationSet([one, one, other])])["boundaries"]
        assert again.tally["den_p"] == 2


def test_types_in_a_hierarchy_earn_in_part():
    gold, system = [Relation("born-in-city", PER, LOC)], [Relation("born-in", PER, LOC)]
    parents = {"born-in-city": "born-in"}
    assert f1(gold, system, "strict") == 0
    assert f1(gold, system, "strict", types=Types.of(None, parents)) == 0.5
    assert f1(gold, system, "strict", types=Types.of("descendant", parents)) == 0
    assert f1(gold, system, "strict", types=Types.of("supertypes", parents)) == pytest.approx(2 / 3)
    dotted = [Relation("a.b", PER, LOC)], [Relation("a.c", PER, LOC)]
    assert f1(*dotted, "strict", types=Types.of("levels", None)) == 0.5
    with pytest.raises(MetricError, match="needs the parents"):
        Types.of("ancestor", None)


def test_informativity_weighs_both_arguments():
    gold = [Relation("born", M(0, 1, "PER", kind="pronoun"), LOC), Relation("born", LOC, LOC)]
    found = relations.evaluate(
        [RelationSet(gold)], [RelationSet(gold[:1])], ["strict"], options=RelationOptions(weights=(("pronoun", 0.25),))
    )["strict"]
    assert found.tally == {"num_p": 0.25, "den_p": 0.25, "num_r": 0.25, "den_r": 1.25}


def test_heads_by_rule_or_from_the_data_and_never_guessed():
    gold, system = [Relation("born", M(0, 2), M(4, 4))], [Relation("born", M(1, 2), M(4, 4))]
    assert f1(gold, system, "head", heads=Heads("last", "last")) == 1
    assert f1(gold, system, "head", heads=Heads("first", "first")) == 0
    with pytest.raises(MetricError, match="needs heads"):
        f1(gold, system, "head")
    with pytest.raises(MetricError, match="needs entity types"):
        f1(gold, system, "strict")


def test_plain_mentions_do_as_well():
    one = Relation("r", Mention(0, 0), Mention(1, 1))
    assert f1([one], [one], "boundaries") == 1


def test_spans_in_pieces_are_compared_piece_by_piece():
    whole, pieces = M(0, 9), M(0, 9, gaps=((3, 5),))
    assert f1([Relation("r", whole, LOC)], [Relation("r", pieces, LOC)], "boundaries") == 0
    assert f1([Relation("r", pieces, LOC)], [Relation("r", pieces, LOC)], "boundaries") == 1


def docred_by_hand(gold, system, seen):
    """DocRED's own script, over sets of (document, type, subject, object)."""
    correct = [key for key in system if key in gold]
    known = [key for key in correct if key in seen]
    p, r = len(correct) / len(system), len(correct) / len(gold)
    ign = (len(correct) - len(known)) / (len(system) - len(known))
    evidence = sum(len(gold[key] & system[key]) for key in correct)
    evi_p, evi_r = evidence / sum(map(len, system.values())), evidence / sum(map(len, gold.values()))
    return [2 * a * b / (a + b) if a + b else 0.0 for a, b in ((p, r), (ign, r), (evi_p, evi_r))]


@pytest.mark.parametrize("seed", range(10))
def test_docred_facts_ign_and_evidence(seed):
    rng = random.Random(seed)

    def some():
        keys = {(rng.randrange(4), rng.choice("PQ"), rng.randrange(3), rng.randrange(3)) for _ in range(25)}
        return {key: {rng.randrange(4) for _ in range(rng.randrange(3))} for key in sorted(keys)}

    gold, system = some(), some()
    seen = {key for key in gold if rng.random() < 0.4}

    def documents(side):
        return [
            FactSet(
                [
                    Fact(*key[1:], evidence, ("train",) if key in seen else ())
                    for key, evidence in side.items()
                    if key[0] == d
                ]
            )
            for d in range(4)
        ]

    found = relations.evaluate(documents(gold), documents(system), options=RelationOptions(training=("train",)))
    assert [found[name].f1 for name in ("facts", "ign", "evidence")] == pytest.approx(
        docred_by_hand(gold, system, seen)
    )
    assert found["ign"].tally["num_r"] == found["facts"].tally["num_r"]


def test_a_misspelt_metric_is_named():
    with pytest.raises(MetricError, match='Did you mean "boundaries"'):
        relations.evaluate([RelationSet()], [RelationSet()], ["boundarys"])


def test_denominators_are_a_sides_own_and_the_order_of_hashes_changes_nothing():
    code = (
        "from tallystick.tasks.relations import metrics as relations\n"
        "from tallystick.structures import *\n"
        "M = AnnotatedMention\n"
        "def side(shift):\n"
        "    return [RelationSet({Relation('type%d' % (k % 3), M(k, k + shift, 'A'), M(k + 1, k + 3, 'B')) for k in range(8)}) for _ in range(3)]\n"
        "options = relations.RelationOptions(symmetric=('type0', 'type1'))\n"
        "print({n: (r.rows.tolist(), r.signature) for n, r in relations.evaluate(side(1), side(2), options=options).items()})\n"
    )
    outputs = {run_python(code, PYTHONHASHSEED=seed) for seed in ("0", "1", "2", "77")}
    assert len(outputs) == 1


def test_every_expression_can_be_read_back():
    from tallystick.tasks.events import metrics as events
    from tallystick.tasks.nary import metrics as nary
    from tallystick.tasks.roles import metrics as roles

    options = relations.RelationOptions(symmetric=("spouse",), weights=(("name", 0.5),))
    tables = [
        relations.expressions(options),
        events.METRICS,
        roles.METRICS,
        nary.expressions(),
    ]
    for table in tables:
        for metric in table.values():
            assert ts.parse(str(metric.expression)) == metric.expression


def test_a_new_metric_says_of_itself_that_it_is_directed(monkeypatch):
    """A metric of one argument alone, added to the expressions: it is scored, checked, and given symmetric relations as they
    stand."""
    from tallystick.laboratory.named import named
    from tallystick.tasks.metric import NamedMetric

    before = relations.expressions

    def more(*arguments, **options):
        subject = ts.f1(ts.each(relations=ts.match(ts.record(subj=ts.record(left=ts.exact, right=ts.exact)))))
        return {
            **before(*arguments, **options),
            "subject": NamedMetric("subject", "the subject's span", subject, view=relations.DIRECTED),
        }

    monkeypatch.setattr(relations, "expressions", more)
    gold = RelationSet((Relation("spouse", M(0, 0), M(2, 2)),))
    turned = RelationSet((Relation("spouse", M(2, 2), M(0, 0)),))
    options = relations.RelationOptions(symmetric=("spouse",))
    found = relations.evaluate([gold], [turned], options=options)
    assert (found["boundaries"].f1, found["pair"].f1, found["subject"].f1) == (1.0, 0.0, 0.0)
    (subject,) = named("relations.subject")
    assert subject.name == "relations.subject"


def test_distance_and_length_count_words_where_offsets_are_characters(tmp_path):
    entities = [
        {"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3},
        {"id": 2, "label": "PER", "start_offset": 8, "end_offset": 19},
    ]
    relations = [{"id": 1, "from_id": 1, "to_id": 2, "type": "met"}]
    line = json.dumps({"id": 1, "text": "Ada met Alan Turing", "entities": entities, "relations": relations}) + "\n"
    file = tmp_path / "doccano.jsonl"
    file.write_text(line, encoding="utf-8")
    for by, words in (("distance", "1"), ("length", "3-4")):
        shown = run("score", "relations", file, file, "--by", by, "--metric", "strict", "--format", "json").stdout
        assert [row["label"] for row in json.loads(shown)["by"][by]["strict"]] == [words]
        systems = f"a={file}", f"b={file}"
        compared = run(
            "compare", "relations", file, *systems, "--by", by, "--metric", "strict", "--format", "json"
        ).stdout
        assert f'"{words}"' in compared

"""The tasks as functions: plain data in its shapes, files as the command reads them, options checked as the command checks them."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import tallystick as ts
from tallystick.errors import InputError, MetricError, SidesMismatch, TallystickError, ValueMismatch
from tallystick.judging import Verdict
from tallystick.structures.graphs import AMR, EventHierarchy, EventLink, Prop, Var
from tallystick.structures.texts import (
    AnnotatedMention,
    Argument,
    ArgumentDocument,
    Dependency,
    DependencyParse,
    DescribedEvent,
    Entity,
    EntitySet,
    Event,
    EventArgument,
    EventSet,
    Fact,
    FactSet,
    Mention,
    NAryRelation,
    NAryRelationSet,
    Relation,
    RelationSet,
    RoleFillerEntity,
    SlotFiller,
    Template,
    TemplateSet,
    TextMention,
    Trigger,
)  # fmt: skip
from tallystick.tasks.contract import find_task, task_names

GRAPH = "(w / want-01 :ARG0 (b / boy))"


@pytest.mark.parametrize("name", task_names())
def test_every_task_is_a_function_with_its_options_and_a_docstring(name: str) -> None:
    function = getattr(ts, name)
    task = find_task(name)
    assert list(inspect.signature(function).parameters)[:3] == ["reference", "predicted", "metrics"]
    assert {one.name for one in task.options("figures")} <= set(inspect.signature(function).parameters)
    assert "Data:" in function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    assert name in dir(ts)


def test_one_text_many_texts_and_texts_by_id_of_tags() -> None:
    one = ts.spans(["B-PER", "O", "B-LOC"], ["B-PER", "O", "O"], "segment")["segment"]
    assert (one.precision, one.recall, one.count) == (1.0, 0.5, 1)
    many = ts.spans([["B-PER", "O"], ["B-LOC"]], [["B-PER", "O"], ["O"]], metrics="segment")["segment"]
    assert (many.f1, many.count) == (one.f1, 2)
    by_id = ts.spans({"a": ["B-PER", "O"], "b": ["B-LOC"]}, {"b": ["O"], "a": ["B-PER", "O"]}, ("segment",))["segment"]
    assert (by_id.f1, by_id.ids) == (one.f1, ("a", "b"))


def test_spans_with_exclusive_ends_equal_their_tags() -> None:
    tags = ts.spans([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]], ("segment", "overlap"))
    spans = ts.spans([[(0, 2, "PER")]], [[(0, 1, "PER")]], ("segment", "overlap"))
    assert {name: one.f1 for name, one in tags.items()} == {name: one.f1 for name, one in spans.items()}
    characters = ts.spans({"text": "Ann Lee", "spans": [(0, 7, "PER")]}, {"spans": [(0, 3, "PER")]}, "overlap")
    assert characters["overlap"].f1 == spans["overlap"].f1


def test_clusters_with_exclusive_ends_texts_or_structures() -> None:
    plain = ts.coreference([[(0, 2), (4, 5)], [(7, 8)]], [[(0, 2), (4, 5), (7, 8)]], "muc")["muc"]
    named = ts.coreference([["a", "b"], ["c"]], [["a", "b", "c"]], "muc")["muc"]
    assert plain.figures == named.figures
    entities = EntitySet([Entity([Mention(0, 1), Mention(4, 4)]), Entity([Mention(7, 7)])])
    assert ts.coreference(entities, [[(0, 2), (4, 5), (7, 8)]], "muc")["muc"].figures == plain.figures
    jsonl = '{"id": "d", "clusters": [[[0, 1], [4, 4]], [[7, 7]]]}\n'
    assert ts.coreference(jsonl, {"d": [[(0, 2), (4, 5), (7, 8)]]}, "muc")["muc"].figures == plain.figures


def test_graphs_as_penman_triples_and_structures() -> None:
    triples = [("w", ":instance", "want-01"), ("b", ":instance", "boy"), ("w", ":ARG0", "b")]
    amr = AMR(
        [Prop("instance", Var("w"), "want-01"), Prop("instance", Var("b"), "boy"), Prop("ARG0", Var("w"), Var("b"))]
    )
    for other in (triples, [triples], amr, [amr], {"a": amr}):
        reference = {"a": triples} if isinstance(other, dict) else triples if other in (triples, amr) else [triples]
        assert ts.amr(reference, other)["smatch"].f1 == 1
    assert ts.amr(GRAPH, "(w / want-01)")["smatch"].f1 == ts.amr([GRAPH], ["(w / want-01)"])["smatch"].f1
    both = ts.amr({"a": GRAPH, "b": "(c / cat)"}, {"b": "(c / cat)", "a": f"# ::snt He wants.\n{GRAPH}"})["smatch"]
    assert (both.f1, both.ids) == (1.0, ("a", "b"))


def test_sentences_as_pairs_columns_and_structures() -> None:
    plain = [(2, "nsubj"), (0, "root")]
    parse = DependencyParse([Dependency(2, 1, "nsubj"), Dependency(0, 2, "root")])
    columns = {"words": ["I", "am"], "heads": [2, 0], "deprels": ["nsubj", "root"]}
    for other in (parse, columns, plain):
        assert ts.dependencies(plain, other, "las")["las"].f1 == 1
    two = ts.dependencies({"a": plain, "b": [(0, "root")]}, {"b": [(0, "root")], "a": [(2, "obj"), (0, "root")]}, "las")
    assert two["las"].f1 == pytest.approx(2 / 3)
    with pytest.raises(SidesMismatch, match="sentence 0 has 2 words in the reference and 1"):
        ts.dependencies(plain, [(0, "root")])


RELATIONS = [("born-in", (0, 2, "PER"), (5, 6, "LOC"))]
EVENTS = [{"type": "attack", "trigger": (3, 4), "arguments": [(0, 2, "attacker")]}]
ARGUMENTS = {
    "tokens": ["the", "rebels", "did", "attack", "a", "village"],
    "events": [
        {"id": "e1", "type": "attack", "trigger": (3, 4), "arguments": {"attacker": "the rebels", "target": (4, 6)}}
    ],
}
ROLES = {"PerpInd": [["guerrillas", "the rebels"], ["a sniper"]], "Target": []}
NARY = [{"Task": [(0, 2), (9, 10)], "Method": [(4, 5)]}]
TEMPLATES = [{"type": "attack", "slots": {"Victim": ["two men", ["the mayor", "J. Smith"]]}}]
LINKS = [("attack", "bombing"), ("attack", "shooting")]
SPANS, CLUSTERS, SENTENCE = [(0, 1, "PER")], [[(0, 2), (4, 5)], [(7, 8), (9, 10)]], [(2, "nsubj"), (0, "root")]
DOCUMENTS = {
    "spans": SPANS, "coreference": CLUSTERS, "dependencies": SENTENCE, "relations": RELATIONS, "events": EVENTS, "arguments": ARGUMENTS,
    "roles": ROLES, "nary": NARY, "templates": TEMPLATES, "amr": GRAPH, "hierarchies": LINKS,
}  # fmt: skip
"""One document of plain data for each task."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_one_document_a_list_and_a_mapping_have_the_same_figures(name: str) -> None:
    function, one = getattr(ts, name), DOCUMENTS[name]
    single, listed = function(one, one), function([one, one], [one, one])
    by_id = function({"a": one, "b": one}, {"b": one, "a": one})
    main = "las" if name == "dependencies" else list(single)[-1]
    assert single[main].f1 == pytest.approx(1, abs=1e-6)
    for metric, result in single.items():
        assert listed[metric].figures == by_id[metric].figures == pytest.approx(result.figures, abs=1e-6)
        if name != "dependencies":
            assert (len(result.ids), listed[metric].ids, by_id[metric].ids) == (1, ("0", "1"), ("a", "b"))


def test_structures_are_read_as_the_plain_data_that_they_stand_for() -> None:
    born = Relation("born-in", AnnotatedMention(0, 1, type="PER"), AnnotatedMention(5, 5, type="LOC"))
    assert ts.relations(RelationSet([born]), RELATIONS, "strict")["strict"].f1 == 1
    facts = ts.relations([FactSet([Fact("r", 0, 1, (2,))])], [FactSet([Fact("r", 0, 1, (2, 3))])])
    assert (facts["facts"].f1, facts["evidence"].f1) == (1, pytest.approx(2 / 3))
    event = Event(Trigger(Mention(3, 3), "attack"), [Argument(Mention(0, 1), "attacker")])
    assert ts.events(EventSet([event]), EVENTS, "arg_c+")["arg_c+"].f1 == 1
    told = ArgumentDocument(
        (EventArgument("e1", "attacker", "the rebels", (0, 1)), EventArgument("e1", "target", "a village", (4, 5))),
        (DescribedEvent("e1", "attack", "attack", (3, 3)),),
        tuple(ARGUMENTS["tokens"]),
    )
    assert ts.arguments(told, ARGUMENTS, "same_text")["same_text"].f1 == 1
    fillers = [
        RoleFillerEntity("PerpInd", Entity([TextMention(text) for text in entity])) for entity in ROLES["PerpInd"]
    ]
    assert ts.roles(NAryRelation("", fillers), ROLES, "ceaf_ree")["ceaf_ree"].f1 == 1
    parts = {role: Entity([Mention(a, b - 1) for a, b in spans]) for role, spans in NARY[0].items()}
    nary = NAryRelationSet([NAryRelation("", [RoleFillerEntity(role, one) for role, one in parts.items()])])
    assert ts.nary(nary, NARY, "clusters")["clusters"].f1 == 1
    slots = [SlotFiller("Victim", Entity(["two men"])), SlotFiller("Victim", Entity(["the mayor", "J. Smith"]))]
    assert ts.templates(TemplateSet([Template("attack", slots)]), TEMPLATES, "eq32")["eq32"].f1 == 1
    hierarchy = EventHierarchy(["attack", "bombing", "shooting"], [], [EventLink(*link) for link in LINKS])
    assert ts.hierarchies(hierarchy, LINKS, "muc_p")["muc_p"].f1 == 1
    assert ts.hierarchies("(attack(bombing)(shooting))", "(attack(bombing))", "muc_p")["muc_p"].recall == 0.5


def test_what_could_be_meant_in_two_ways_is_refused() -> None:
    for call, message in (
        (lambda: ts.roles({"PerpInd": ["a", "b"]}, ROLES), "mentions of one entity, or entities of one mention each"),
        (lambda: ts.arguments(ARGUMENTS, [{"id": "e1", "arguments": [("a", "b")]}]), "which of .* is the role"),
        (lambda: ts.relations([("London", "capital", "UK")], []), "texts as arguments"),
        (lambda: ts.coreference([[0, 1], [2, 3]], [[0, 1]]), "a level of lists is missing"),
        (lambda: ts.coreference([[]], [[]]), "can be read in two ways"),
    ):
        with pytest.raises(ValueMismatch, match=message):
            call()


def test_a_judge_is_an_object_too() -> None:
    class Lenient:
        signature = "lenient"

        def judge(self, questions):
            return [Verdict("Correct", tuple(range(len(question.references)))[:1]) for question in questions]

    said = [{"id": "e1", "type": "attack", "arguments": {"attacker": "insurgents"}}]
    found = ts.arguments(ARGUMENTS, said, judge=Lenient())
    assert found["judge"].precision == 1 > found["break_aggregate"].precision
    with pytest.raises(TallystickError, match="expected the name of a judge"):
        ts.arguments(ARGUMENTS, said, judge=3)


def test_columns_of_tables_and_arrays_are_lists() -> None:
    pandas = pytest.importorskip("pandas")
    tags = [["B-PER", "O"], ["O", "B-LOC"]]
    frame = pandas.DataFrame({"gold": tags, "predicted": tags})
    assert ts.spans(frame["gold"], frame["predicted"], "segment")["segment"].f1 == 1
    assert ts.spans(np.array(tags), iter(tags), "segment")["segment"].f1 == 1
    with pytest.raises(SidesMismatch, match="pair the rows by order"):
        ts.spans(frame["gold"], frame["predicted"].iloc[::-1])


def test_tables_with_ids_are_paired_by_them_whatever_their_indexes() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [{"id": name, "clusters": [[(0, 1), (end, end + 1)]]} for name, end in (("a", 3), ("b", 7))]
    table = pandas.DataFrame(rows)
    for key in ("id", "doc_key"):
        named = table.rename(columns={"id": key})
        assert ts.coreference(named, named.iloc[::-1], "muc")["muc"].f1 == 1
    with pytest.raises(SidesMismatch, match="pair the rows by order"):
        ts.coreference(table, table.drop(columns="id").iloc[::-1])
    values = pandas.DataFrame({"key": ["a", "b"], "v": [1, 2]})
    other = values.rename(columns={"key": "id"}).iloc[::-1]
    assert ts.records(values, other, id="id", reference_id="key")["records"].f1 == 1
    with pytest.raises(SidesMismatch, match="pair the rows by order"):
        ts.records(values, other)


def test_a_file_is_a_path_an_open_file_or_its_text(tmp_path) -> None:
    text = "a B-PER\nb O\n\nc O\n"
    file = tmp_path / "gold.iob"
    file.write_text(text)
    expected = ts.spans(str(file), file, "segment")["segment"].figures
    with open(file) as stream:
        assert ts.spans(stream, text, "segment")["segment"].figures == expected
    both = tmp_path / "both.txt"
    both.write_text("a B-PER B-PER\nb O O\n")
    assert ts.spans(both, together=True, metrics="segment")["segment"].f1 == 1
    with pytest.raises(MetricError, match="give predicted, or together=True"):
        ts.spans(both)


def test_nothing_at_all_can_be_read_in_two_ways() -> None:
    with pytest.raises(ValueMismatch, match=r"one text or a collection of 0.*mapping by document id"):
        ts.spans([], [])
    with pytest.raises(ValueMismatch, match="reference has no documents"):
        ts.spans({}, {})


def test_one_side_decides_what_the_other_is() -> None:
    assert ts.coreference([[(0, 1), (2, 3)]], [], "muc")["muc"].count == 1
    assert ts.coreference([[[(0, 1), (2, 3)]]], [[]], "muc")["muc"].count == 1
    with pytest.raises(SidesMismatch, match="reference is a collection of 1 and predicted is one document"):
        ts.coreference([[[(0, 1)]]], [[(0, 1)]])


def test_options_are_checked_as_the_command_checks_them() -> None:
    tags = ["B-X"]
    for options, message in (
        ({"sheme": "IOB1"}, 'Did you mean "scheme"'),
        ({"scheme": "IOB9"}, "scheme: expected 'IO' or 'IOB1' or"),
        ({"iou": 3, "metrics": "iou"}, "above 0 and at most 1"),
        ({"strict": "yes"}, "True or False"),
        ({"metrics": "segmnt"}, 'Did you mean "segment"'),
        ({"metrics": 3}, "expected the name of a metric"),
        ({"errors": True}, r"an option of the command, .*: here ask the results, results\.errors\(\)"),
        ({"seqeval": True}, "an option of the command"),
        ({"misc": "ner2"}, "misc= changes nothing"),
    ):
        with pytest.raises(MetricError, match=message):
            ts.spans(tags, tags, **options)


def test_what_is_wrong_inside_of_a_document_is_said_alone() -> None:
    with pytest.raises(ValueMismatch, match=r"^reference\[0\]\[0\]: the mention \(3, 3\) holds no token"):
        ts.coreference([[(3, 3)]], [[(3, 3)]])
    with pytest.raises(InputError, match="read as the name of a file"):
        ts.spans("B-PER O", "O O")
    with pytest.raises(TallystickError, match="reference is None"):
        ts.spans(None, [["O"]])

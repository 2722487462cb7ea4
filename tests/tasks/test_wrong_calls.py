"""Calls that a user might make and that are wrong: each is a `TallystickError` that says what was expected, or a result with a warning. None is
a number without a word, and none an AttributeError, a TypeError or a KeyError from inside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tallystick as ts
from tallystick.structures.texts import RelationSet
from tallystick.tasks.arguments.metrics import evaluate as evaluate_arguments
from tallystick.tasks.coreference.metrics import evaluate as evaluate_coreference
from tallystick.tasks.events.metrics import evaluate as evaluate_events
from tallystick.tasks.nary.metrics import evaluate as evaluate_nary
from tallystick.tasks.relations.metrics import evaluate as evaluate_relations
from tallystick.tasks.roles.metrics import evaluate as evaluate_roles
from tallystick.tasks.spans.metrics import evaluate as evaluate_spans
from tallystick.tasks.templates.metrics import evaluate as evaluate_templates

TAGS, CLUSTERS, METRIC = [["B-PER", "O"], ["O", "B-LOC"]], [[(0, 2), (5, 6)]], ts.f1(ts.match(ts.exact))
RELATION, EVENT = ("born-in", (0, 2), (5, 6)), {"type": "attack", "trigger": (1, 2), "arguments": []}
CALL = {"name": "get_weather", "arguments": {"city": "Oslo"}}
TABLE = pd.DataFrame({"doc_id": [1, 2], "start": [0, 3], "end": [2, 4], "label": ["PER", "LOC"]})
TEMPLATE = {"type": "attack", "slots": {"Victim": ["a man"]}}

WRONG = {
    # the wrong thing altogether
    "None as reference": (lambda: ts.spans(None, TAGS), "reference is None"),
    "None as prediction": (lambda: ts.coreference(CLUSTERS, None), "predicted is None"),
    "None among documents": (lambda: ts.spans([["O"], None], TAGS), r"reference\[1\]: expected .* found NoneType"),
    "a number": (lambda: ts.spans(3, 4), "reference is int 3"),
    "an object": (lambda: ts.coreference(object(), object()), "reference is object"),
    "a class": (lambda: ts.relations(RelationSet, RelationSet), "reference is type"),
    "a function": (lambda: ts.amr(print, print), "reference is builtin_function"),
    "bytes among tags": (lambda: ts.spans([[b"B-PER"]], [["B-PER"]]), "holds bytes"),
    "a set of texts": (lambda: ts.spans({("B-PER", "O"), ("O", "O")}, TAGS), "is a set, whose items have no order"),
    # nothing
    "nothing on both sides": (lambda: ts.spans([], []), "one text or a collection of 0"),
    "no documents": (lambda: ts.coreference({}, {}), "no documents"),
    "an empty text": (lambda: ts.amr("", "(a / b)"), "empty text"),
    "an empty graph among others": (
        lambda: ts.amr(["(a / b)", ""], ["(a / b)", "(a / b)"]),
        r"reference\[1\]: expected a graph",
    ),
    "records of nothing": (lambda: ts.records([], []), "no document|holds no|has no|empty"),
    # the wrong level
    "one text in a list and one without": (lambda: ts.spans([TAGS], TAGS), "found list"),
    "tags of one text and of many": (
        lambda: ts.spans(TAGS[:1], ["B-PER", "O"]),
        "reference is a collection of 1 and predicted is one text",
    ),
    "clusters without a document": (lambda: ts.coreference([(0, 2), (5, 6)], [(0, 2)]), "a level of lists is missing"),
    "clusters for documents": (
        lambda: evaluate_coreference(CLUSTERS, CLUSTERS),
        "one document was given where documents",
    ),
    "a document for documents": (
        lambda: ts.coreference([CLUSTERS], CLUSTERS),
        "reference is a collection of 1 and predicted is one",
    ),
    "a relation for a document": (lambda: ts.relations(RELATION, RELATION), "reference"),
    "a template for a document": (lambda: ts.templates(TEMPLATE, TEMPLATE), "a list of templates"),
    "an event for a document": (lambda: ts.events(EVENT, EVENT), "a list of events"),
    "two graphs in one text": (lambda: ts.amr(["(a / b)\n\n(c / d)"], ["(a / b)"]), "expected one graph, found 2"),
    "one record for records": (
        lambda: ts.evaluate(ts.f1(ts.each(a=ts.exact)), {"a": 1}, {"a": 1}),
        "for one document|For one document",
    ),
    # texts for data
    "tags as a text": (lambda: ts.spans("B-PER O", "B-PER O"), "read as the name of a file"),
    "tags as texts": (lambda: ts.spans(["B-PER O", "O"], ["B-PER O", "O"]), "holds 2 tags"),
    "tags without prefixes": (lambda: ts.spans([["PER", "O"]], [["PER", "O"]]), "PER"),
    "numbers of tags": (lambda: ts.spans(np.array([[1, 0]]), np.array([[1, 0]])), "expected|tags"),
    "PENMAN without parentheses": (lambda: ts.amr("a / b", "a / b"), "read as the name of a file"),
    "broken PENMAN": (lambda: ts.amr(["(a / b"], ["(a / b)"]), "ends too early"),
    "arguments as texts": (lambda: ts.relations([("Oslo", "capital-of", "Norway")], []), "texts as arguments"),
    "a file that is not there": (lambda: ts.coreference("key.conll", CLUSTERS), "no such file"),
    "None for logs": (lambda: ts.calls(None, [[CALL]]), "reference is None"),
    "calls of one log or of two": (lambda: ts.calls([CALL, CALL], [CALL, CALL]), "is it one log, or a log for each"),
    # spans
    "inclusive ends of tags": (lambda: ts.spans([(3, 3, "PER")], [(3, 3, "PER")]), "empty; the end is exclusive"),
    "inclusive ends of mentions": (lambda: ts.coreference([[(3, 3)]], [[(3, 3)]]), "ends are exclusive"),
    "inclusive ends of arguments": (lambda: ts.relations([("r", (3, 3), (4, 5))], []), "exclusive end"),
    "inclusive ends of triggers": (lambda: ts.events([{**EVENT, "trigger": (1, 1)}], []), "exclusive end"),
    "inclusive ends of entities": (lambda: ts.nary([{"Task": [(2, 2)]}], []), "exclusive end"),
    "the end before the start": (lambda: ts.spans([(5, 3, "PER")], [(3, 5, "PER")]), r"span \[5, 3\)"),
    "the label first": (lambda: ts.spans([("PER", 0, 1)], [("PER", 0, 1)]), "expected a tag or"),
    "a mention of three numbers": (lambda: ts.coreference([[(0, 1, 2)]], [[(0, 1, 2)]]), "names of mentions|a mention"),
    "a relation of two": (lambda: ts.relations([("r", (0, 1))], []), "type, subject, object"),
    "an argument without a role": (lambda: ts.events([{**EVENT, "arguments": [(0, 1)]}], []), "start, end, role"),
    "an event without a trigger": (lambda: ts.events([{"type": "attack"}], []), "trigger"),
    "an event as a tuple": (lambda: ts.events([("attack", (1, 2), [])], []), "an event, a dict"),
    "relation and head exchanged": (
        lambda: ts.dependencies([("nsubj", 2), ("root", 0)], [("nsubj", 2)]),
        "head, relation",
    ),
    "a head outside of the sentence": (
        lambda: ts.dependencies([(7, "nsubj"), (0, "root")], [(2, "nsubj"), (0, "root")]),
        "7",
    ),
    "a sentence without a root": (lambda: ts.dependencies([(2, "x"), (1, "y")], [(2, "x"), (1, "y")]), "root|cycle"),
    "entities of a role as texts": (
        lambda: ts.roles({"Target": ["a", "b"]}, {}),
        "one entity, or entities of one mention",
    ),
    "roles as a list": (lambda: ts.roles([["a"]], [["a"]]), "a dict with the entities of each role"),
    "an entity as a text": (lambda: ts.nary([{"Task": "QA"}], []), "a list of"),
    "a filler without a list": (
        lambda: ts.templates([{"type": "a", "slots": {"Victim": "a man"}}], []),
        "a list of fillers",
    ),
    "an event that is its own part": (lambda: ts.hierarchies([("a", "a")], [("a", "b")]), "to itself"),
    "a hierarchy as a nested dict": (lambda: ts.hierarchies({"attack": {"bombing": {}}}, {"attack": {}}), "events"),
    # two sides that do not fit together
    "texts of other lengths": (lambda: ts.spans([["O"]], [["O", "O"]]), "has 1 tags, predicted"),
    "another number of texts": (lambda: ts.spans(TAGS, [*TAGS, ["O"]]), "2 documents and predicted has 3"),
    "other ids": (lambda: ts.spans({"a": ["O"]}, {"b": ["O"]}), "only in the reference"),
    "ids on one side": (lambda: ts.spans({"a": ["O"], "b": ["O"]}, [["O"], ["O"]]), "by document id and the other"),
    "tags and spans": (lambda: ts.spans([["B-PER"]], [[(0, 1, "PER")]]), "some texts have tags and some have spans"),
    "exchanged clusters": (
        lambda: ts.coreference({"predicted_clusters": CLUSTERS}, {"clusters": CLUSTERS}),
        "predicted_clusters",
    ),
    "names of mentions and spans": (
        lambda: ts.coreference(CLUSTERS, [["mayor", "he"]]),
        "mentions of the prediction are",
    ),
    "names and spans on one side": (lambda: ts.coreference([[(0, 2), "he"]], CLUSTERS), "some mentions are texts"),
    "tags of other tokens": (
        lambda: ts.spans({"tokens": ["a", "b"], "tags": TAGS[0]}, {"tokens": ["a", "c"], "tags": TAGS[0]}),
        r'tokens diverge: reference\[0\] has "b" as token 1',
    ),
    "tokens as a text": (
        lambda: ts.spans({"tokens": "ab", "tags": TAGS[0]}, TAGS[0]),
        "tokens: expected a list of texts",
    ),
    "tokens as a number": (
        lambda: ts.spans({"tokens": 2, "tags": TAGS[0]}, TAGS[0]),
        "tokens: expected a list of texts",
    ),
    "fewer tokens than tags": (lambda: ts.spans({"tokens": [], "tags": TAGS[0]}, TAGS[0]), "0 tokens and 2 tags"),
    "labels as bytes": (lambda: ts.spans([(0, 1, b"PER")], [(0, 1, "PER")]), "reference holds bytes, b'PER'"),
    "roles as bytes": (lambda: ts.roles({"A": [["a"]]}, {"A": [[b"a"]]}), "predicted holds bytes"),
    "keys as bytes": (lambda: ts.roles({"A": [["a"]]}, {b"A": [["a"]]}), "predicted holds bytes"),
    "a set as a span": (lambda: ts.relations([("r", {1, 2}, (4, 5))], []), "reference"),
    "a set as a mention": (lambda: ts.coreference([[{1, 2}]], CLUSTERS), "a mention"),
    "a start before the text": (lambda: ts.coreference([[(-3, 2)]], CLUSTERS), "starts before the text"),
    "an end beyond all texts": (lambda: ts.spans([(0, 2**70, "PER")], [(0, 2, "PER")]), r"reference\[0\]"),
    "relations that are no texts": (
        lambda: ts.dependencies({"heads": [0], "deprels": [None]}, [(0, "root")]),
        r"deprels\[0\]: expected a text, found NoneType",
    ),
    "words that are no texts": (
        lambda: ts.dependencies({"words": [["a"]], "heads": [0], "deprels": ["root"]}, [(0, "root")]),
        r"words\[0\]: expected a text",
    ),
    "triples in smatch's order": (
        lambda: ts.amr([("instance", "a", "b")], [("instance", "a", "b")]),
        r"reference\[0\]: expected a triple \(source, role, target\), found the role first",
    ),
    "None for records": (lambda: ts.records(None, {"a": 1}), "reference is None"),
    "None as an answer": (lambda: ts.score({"a": 1}, None), "predicted is None"),
    "records in frames of other indexes": (
        lambda: ts.records(pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [2, 1]}, index=[1, 0])),
        r"indexes of reference and predicted differ: give \.reset_index\(drop=True\) of both",
    ),
    "a type that is none": (
        lambda: ts.records({"a": 1}, {"a": 1}, type=3),
        r"values of 3 cannot be read from JSON: [^\n]*\Z",
    ),
    "sentences without words": (lambda: ts.dependencies([[], []], [[], []]), r"reference\[0\]: .* without words"),
    "a table of the spans of several documents": (
        lambda: ts.spans(TABLE, TABLE),
        "reference was read as one text, and its rows have 2 different values of doc_id; give a list or a mapping by document",
    ),
    "a table of the words of several sentences": (
        lambda: ts.dependencies(
            *[pd.DataFrame({"sent_id": [1, 2], "head": [2, 0], "deprel": ["x", "root"]}) for _ in "ab"]
        ),
        "rows have 2 different values of sent_id",
    ),
    "relations of several documents in one list": (
        lambda: ts.relations([{"doc": k, "type": "r", "head": (0, 1), "tail": (2, 3)} for k in range(2)], []),
        "2 different values of doc",
    ),
    "ids of some documents": (
        lambda: ts.spans(
            [{"id": 1, "tags": ["O"]}, {"tags": ["O"]}], [{"id": 2, "tags": ["O"]}, {"id": 1, "tags": ["O"]}]
        ),
        r"reference\[1\] has no id, and reference\[0\] has one",
    ),
    "numbers of tags, three": (lambda: ts.spans([[0, 3, 7]], [[0, 3, 7]]), "tags|label"),
    "generators of different lengths": (lambda: ts.spans((t for t in TAGS), (t for t in TAGS[:1])), "documents"),
    # names
    "a misspelt metric": (lambda: ts.coreference(CLUSTERS, CLUSTERS, metrics="mcu"), 'Did you mean "muc"'),
    "a number for a metric": (lambda: ts.spans(TAGS, TAGS, metrics=["segment", 3]), "found int 3"),
    "a misspelt option": (lambda: ts.spans(TAGS, TAGS, sheme="IOB2"), 'Did you mean "scheme"'),
    "a choice that there is not": (lambda: ts.spans(TAGS, TAGS, scheme="IOB3"), "scheme: expected"),
    "a number out of range": (lambda: ts.spans(TAGS, TAGS, "iou", iou=50), "at most 1"),
    "a text for a number": (lambda: ts.spans(TAGS, TAGS, "iou", iou="0.5"), "expected a number"),
    "an option of another task": (lambda: ts.amr("(a / b)", "(a / b)", scheme="IOB2"), "no option 'scheme'"),
    "both columns of data": (lambda: ts.spans(TAGS, together=True), "for a file"),
    "a metric of records by name": (lambda: ts.records({"a": 1}, {"a": 1}, metrics="f1"), "no named metrics"),
    "no delimiter": (lambda: ts.spans(TAGS, TAGS, delimiter=""), "delimiter: found an empty text; expected"),
    "a number for words": (lambda: ts.records({"a": 1}, {"a": 1}, nothing=0), "nothing: expected words, found 0"),
    "an instance for a type": (
        lambda: ts.records({"a": 1}, {"a": 1}, type={"a": 1}),
        "type: expected a type, found dict",
    ),
    "a list for a type": (lambda: ts.score([{"a": 1}], [{"a": 1}], type=["x"]), "type: expected a type, found list"),
    # the metric in the wrong place
    "a metric's name as reference": (lambda: ts.spans("segment", TAGS), "no such file"),
    "data before the metric": (lambda: ts.evaluate(TAGS, TAGS, METRIC), "expected a metric"),
    "no metric": (lambda: ts.evaluate(None, TAGS, TAGS), "expected a metric"),
    "an unfinished expression": (lambda: ts.evaluate("f1(match(exact)", TAGS, TAGS), r"f1\(match\(exact\)|expected"),
    "no prediction": (lambda: ts.evaluate(METRIC, TAGS, None), "predicted must be a sequence"),
    "one document for a metric": (lambda: ts.evaluate(METRIC, ["a", "b"], ["a", "c"]), "expected a collection"),
    # results and comparisons
    "a list of names as a metric": (lambda: ts.spans(TAGS, TAGS)[["segment"]], r"no metric \['segment'\]"),
    "no decimals": (lambda: ts.spans(TAGS, TAGS).to_latex(digits=True), "digits must be a number"),
    "a number for columns": (lambda: ts.spans(TAGS, TAGS).to_latex(columns=3), "columns must be names"),
    "a number for a name": (lambda: ts.spans(TAGS, TAGS).to_latex(columns={"f1": 3}), "columns must be names"),
    "no path": (lambda: ts.spans(TAGS, TAGS).report(None), "path must be the name of a file, found None"),
    "a number as a path": (lambda: ts.spans(TAGS, TAGS).report(3), "path must be the name of a file, found 3"),
    "systems without names": (lambda: ts.compare([ts.spans(TAGS, TAGS)] * 2), "by the names of the systems"),
    "no systems": (lambda: ts.compare(None), "by the names of the systems"),
    "a number for a system": (lambda: ts.compare({"A": 0.5}), "A: expected a result, .*found float 0.5"),
    "figures for a system": (lambda: ts.compare({"A": ts.spans(TAGS, TAGS).figures}), "A: expected a result"),
    "a task as a metric": (lambda: ts.Evaluation("spans"), r'Evaluation\(task="spans"\)'),
    # the functions below the tasks' own
    "spans as texts": (lambda: evaluate_spans("B-PER", "B-PER"), "expected"),
    "relations as tuples": (lambda: evaluate_relations([[RELATION]], [[RELATION]]), "expected"),
    "events as dicts": (lambda: evaluate_events([[EVENT]], [[EVENT]]), "expected"),
    "arguments as dicts": (lambda: evaluate_arguments([[EVENT]], [[EVENT]]), "expected"),
    "roles as lists": (lambda: evaluate_roles([["a"]], [["a"]]), "expected"),
    "n-ary relations as lists": (lambda: evaluate_nary([["a"]], [["a"]]), "expected"),
    "templates as dicts": (lambda: evaluate_templates([[TEMPLATE]], [[TEMPLATE]]), "expected"),
    "one metric's name": (lambda: evaluate_coreference([CLUSTERS], [CLUSTERS], "mcu"), "mcu"),
}


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_says_what_was_expected(call: str) -> None:
    wrong, message = WRONG[call]
    with pytest.raises(ts.TallystickError, match=message):
        wrong()


def test_a_span_under_its_own_key_has_an_exclusive_end() -> None:
    event = {"type": "attack", "trigger": (1, 2), "arguments": [{"role": "target", "span": (2, 4)}]}
    assert ts.events([event], [{**event, "arguments": [(2, 4, "target")]}], "arg_c").f1 == 1


def test_a_top_on_one_side_only_is_said() -> None:
    triples = [("a", ":instance", "b")]
    found = ts.amr({"triples": triples}, "(a / b)")
    assert any("has a top" in warning for warning in found["smatch"].warnings)
    assert not ts.amr({"triples": triples, "top": "a"}, "(a / b)")["smatch"].warnings
    assert not ts.amr(triples, triples)["smatch"].warnings


def test_messages_have_options_as_python_has_them() -> None:
    with pytest.raises(ts.TallystickError, match='use pair="order"'):
        ts.amr({"x": "(a / b)"}, {"y": "(a / b)"})
    repeated = ts.coreference([[(0, 2)], [(0, 2), (3, 4)]], [[(0, 2)]], "conll")["conll"].warnings
    assert any("(strict=True names each)" in warning for warning in repeated)


def test_spans_beyond_the_tokens_are_said() -> None:
    tokens = ["a", "b", "c"]
    outside = {"tokens": tokens, "relations": [("r", (0, 1), (2, 9))]}
    assert any(
        "1 mention lies outside the tokens of its document, the first in 0: tokens 2 to 8 of 3" in warning
        for warning in ts.relations(outside, [RELATION], "boundaries")["boundaries"].warnings
    )
    events = {"tokens": tokens, "events": [{**EVENT, "arguments": [(7, 8, "target")]}]}
    assert any("outside the tokens" in one for one in ts.events([EVENT], events, "tri_c")["tri_c"].warnings)
    inside = {"tokens": tokens, "relations": [("r", (0, 1), (2, 3))]}
    assert not any("outside" in one for one in ts.relations(inside, inside, "boundaries")["boundaries"].warnings)


def test_types_on_one_side_only_are_said() -> None:
    typed, bare = [("r", (0, 1, "PER"), (2, 3, "LOC"))], [("r", (0, 1), (2, 3))]
    for reference, predicted in ((typed, bare), (bare, typed)):
        found = ts.relations(reference, predicted, ["strict", "boundaries"])
        assert found["strict"].f1 == 0
        assert any("no argument of" in warning for warning in found["strict"].warnings)
    assert not ts.relations(typed, typed, "strict")["strict"].warnings
    assert not ts.relations(typed, bare, "boundaries")["boundaries"].warnings


def test_a_call_without_a_name_is_wrong_and_no_error() -> None:
    found = ts.calls([[CALL]], [[{**CALL, "name": ""}]])
    assert [found[name].f1 for name in ("names", "calls", "arguments")] == [0, 0, 0]
    assert found["calls"].figures["precision"] == 0


def test_results_of_batches_have_a_sum() -> None:
    batches = [ts.spans([tags], [["B-PER", "O"]], "segment") for tags in TAGS]
    assert sum(batches).figures == ts.spans(TAGS, [["B-PER", "O"]] * 2, "segment").figures


def test_what_a_prompt_shows(tmp_path) -> None:
    results = ts.spans(TAGS, [["B-PER", "O"]] * 2, "segment")
    assert results.report(tmp_path / "page.html") is None
    assert repr(results.explain()) == str(results.explain())
    assert repr(ts.Evaluation(task="spans", metrics="segment")) == "Evaluation(task='spans', metrics=('segment',))"
    assert repr(ts.Evaluation(METRIC)) == f"Evaluation({METRIC})"


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 40


def test_what_looks_unusual_and_is_right() -> None:
    expected = ts.spans(TAGS, [["O", "O"], ["O", "B-LOC"]], "segment")["segment"].figures
    for reference in (iter(TAGS), (iter(tags) for tags in TAGS), np.array(TAGS), tuple(map(tuple, TAGS))):
        assert ts.spans(reference, [["O", "O"], ["O", "B-LOC"]], "segment")["segment"].figures == expected
    assert ts.calls(CALL, [[CALL]], "calls")["calls"].f1 == 1
    pairs = np.array([[[0, 2], [5, 6]]])
    assert ts.coreference(pairs, CLUSTERS, "muc")["muc"].f1 == 1
    assert ts.coreference([{(0, 2), (5, 6)}], CLUSTERS, "muc")["muc"].f1 == 1


def test_files_whose_names_say_that_they_are_exchanged(tmp_path) -> None:
    gold, system = tmp_path / "gold.iob", tmp_path / "system.iob"
    gold.write_text("a B-X\n")
    system.write_text("a O\n")
    right, exchanged = ts.spans(gold, system, "segment"), ts.spans(system, gold, "segment")
    assert not any("exchanged" in warning for warning in right["segment"].warnings)
    assert any("exchanged" in warning for warning in exchanged["segment"].warnings)

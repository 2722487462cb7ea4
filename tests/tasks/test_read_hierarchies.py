"""Event hierarchies from files: three formats for one content, and errors with their place."""

import gzip
from dataclasses import replace

import pytest

from tallystick.errors import InputError, SidesMismatch
from tallystick.files.json_values import column_of
from tallystick.tasks.hierarchies.files import read_hierarchies
from tallystick.tasks.hierarchies.metrics import document_of, evaluate

NEWICK = "lima\t({E6,E7}(E8(E9))(E11))\n"
JSONL = (
    '{"id": "lima", "events": ["E6", "E7", "E8", "E9", "E11"], "coreference": [["E6", "E7"]], '
    '"links": {"subevent": [["E7", "E8"], ["E8", "E9"], ["E6", "E11"]]}}\n'
)
BRAT = """T1\tAttack 10 16\tattack
T2\tAttack 20 27\tbombing
T3\tDestroy 30 39\tdestroyed
T4\tInjure 40 48;50 52\twounding
E1\tAttack:T1
E2\tAttack:T2
E3\tDestroy:T3
E4\tInjure:T4 Place:T1
R1\tSubevent Arg1:E1 Arg2:E3
R2\tSubSuper Arg1:E4 Arg2:E3
R3\tBefore Arg1:E1 Arg2:E4
*\tCoreference E1 E2
#1\tAnnotatorNotes E1\tsure
"""


def written(tmp_path, text, name="x.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def read(tmp_path, text, name="x.txt"):
    return read_hierarchies(written(tmp_path, text, name))


def test_newick_and_jsonl_of_one_content_score_1_against_each_other(tmp_path):
    left, right = read(tmp_path, NEWICK, "a.newick"), read(tmp_path, JSONL, "b.jsonl")
    assert all(result.score == 1 for result in evaluate(left, right).values())
    assert left.documents == right.documents == ["lima"]


def test_gz_is_read(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(JSONL.encode()))
    assert read_hierarchies(str(path)).nodes == 4


def test_newick_lines_of_one_document_may_have_different_types(tmp_path):
    found = read(tmp_path, "x\tsubevent\t(1(2)) (3)\nx\tmembership\t(1) (2) (3(1))\n")
    assert found.kinds == ["subevent", "membership"]
    one = document_of(found, 0)
    assert [(link.parent, link.child, link.type) for link in one.links] == [
        ("1", "2", "subevent"),
        ("3", "1", "membership"),
    ]


def test_brat_reads_triggers_coreference_and_both_directions(tmp_path):
    found = read(tmp_path, BRAT, "doc.ann")
    one = document_of(found, 0)
    assert [(link.parent, link.child) for link in one.links] == [
        ("('10 16', 0)", "('30 39', 0)"),
        ("('30 39', 0)", "('40 48;50 52', 0)"),
    ]
    assert found.nodes == 3
    assert found.notes == (f"{tmp_path}/doc.ann: relations of other types left out: Before (1)",)


def test_a_folder_of_brat_files_is_a_corpus_and_other_ids_do_not_matter(tmp_path):
    gold, system = tmp_path / "gold", tmp_path / "system"
    for folder in (gold, system):
        folder.mkdir()
    (gold / "doc.ann").write_text(BRAT)
    other = BRAT.replace("E1", "E9").replace("T3", "T7")
    (system / "doc.ann").write_text(other)
    found = evaluate(read_hierarchies(str(gold)), read_hierarchies(str(system)))
    assert found["muc_p"].f1 == 1
    assert list(found["muc_p"].documents) == ["doc"]


def test_brat_without_events_takes_text_bound_annotations(tmp_path):
    text = "T1\tAttack 0 3\ta\nT2\tDie 5 8\tb\nR1\tMembership Parent:T1 Child:T2\n"
    found = read(tmp_path, text, "doc.ann")
    assert (found.kinds, len(found.names)) == (["membership"], 2)


@pytest.mark.parametrize(
    ("name", "text", "place", "message", "under"),
    [
        ("x", "(1(2)(3)\n", "1:1", "never closed", "("),
        ("x", "(1(2))) (3)\n", "1:7", "a ) without its (", ")"),
        ("x", "(1(2)) ((3))\n", "1:9", "expected a label before", "("),
        ("x", "(1 2)\n", "1:4", "a second label", "2"),
        ("x", "# c\nd\t(6,3)2;\n", "2:5", "Newick with children first", ","),
        ("x", "(1(2)(2))\n", "1:7", "duplicate event 2", "2"),
        ("x", "a\tsubevent\t(1)(2)\na\tmembership\t(1)(3)\n", "2:1", "name the same events", "a"),
        ("x", '{"events": ["a"], "links": {"subevent": [["a", "b"]]}}\n', "1:48", "unknown event b", '"'),
        ("x", '{"events": ["a", "a"]}\n', "1:18", "duplicate event", '"'),
        ("x", '{"events": ["a"], "links": {"subevent": [["a"]]}}\n', "1:42", "expected [parent, child]", "["),
        ("x", '{"events": ["a"], "links": {"subevent": [["a", "a"]]}}\n', "1:42", "to itself", "["),
        ("x", '{"events": ["a"], "linx": {}}\n', "1:27", "unknown here", "{"),
        ("x", '{"events": ["a"}\n', "1:16", "is not JSON", "}"),
        ("x.ann", "T1\tA 0 1\tx\nR1\tSubevent Arg1:T1 Arg2:T9\n", "2:26", "there is no 'T9' in this file", "T"),
        ("x.ann", "T1\tA 0 1\tx\nE1\tA:T2\n", "2:6", "there is no 'T2' in this file", "T"),
        ("x.ann", "hello\n", "1:1", "standoff", "h"),
    ],
)  # fmt: skip
def test_errors_have_a_place_and_a_caret(tmp_path, name, text, place, message, under):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, name)
    shown = str(caught.value)
    assert message in shown
    first, line, caret = shown.splitlines()[0], *shown.splitlines()[-2:]
    assert f"{name}:{place}:" in first
    assert line[caret.index("^")] == under


@pytest.mark.parametrize(
    ("name", "text", "place", "message"),
    [
        ("x", '{"events": ["a", "b"], "links": {"subevent": [["a", "b"], ["b", "a"]]}}\n', "1:", "a cycle"),
        (
            "x",
            '{"events": ["a", "b", "c"], "links": {"subevent": [["a", "c"], ["b", "c"]]}}\n',
            "1:64",
            "c has two parents by subevent links, a and b",
        ),
        (
            "x.ann",
            "T1\tA 0 1\tx\nT2\tA 2 3\tx\nT3\tA 4 5\tx\nR1\tSubevent Arg1:T1 Arg2:T3\nR2\tSubevent Arg1:T2 Arg2:T3\n",
            "5:18",
            "T3 has two parents",
        ),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_an_error_with_the_place_of_the_link(tmp_path, name, text, place, message):
    side = read(tmp_path, text, name)
    with pytest.raises(InputError) as caught:
        evaluate(side, side)
    assert message in str(caught.value)
    assert f"{name}:{place}" in str(caught.value)
    assert str(caught.value).endswith("^")


def test_sides_that_know_events_in_different_ways_do_not_fit(tmp_path):
    plain = read(tmp_path, '{"events": ["a"]}\n', "a")
    spans = read(tmp_path, '{"events": [{"id": "a", "span": [0, 1]}]}\n', "b")
    with pytest.raises(SidesMismatch, match="by their name in the reference and by their span"):
        evaluate(plain, spans)
    with pytest.raises(InputError, match="some events have a span"):
        read(tmp_path, '{"events": [{"id": "a", "span": [0, 1]}, "b"]}\n')


def test_the_column_of_a_value_in_a_line_of_json():
    line = '{"a": [1, {"b c": [true, "x"]}], "d": {}}'
    assert line[column_of(line, ["a", 1, "b c", 1]) - 1 :].startswith('"x"')
    assert column_of(line, ["a", 5]) is None
    assert column_of(line, ["z"]) is None


def test_a_document_is_laid_out_from_its_own_events_alone(tmp_path):
    """All events of the corpus were written down again for each document."""

    class Named(str):
        written = 0

        def __str__(self):
            Named.written += 1
            return str.__str__(self)

    lines = [f"d{k}\tsubevent\t({k}(2{k})(3{k})) (4{k})\n" for k in range(20)]
    found = read(tmp_path, "".join(lines))
    counted = replace(found, identities=[Named(name) for name in found.identities])
    documents = [document_of(counted, k) for k in range(20)]
    assert Named.written == len(found.identities) == 80
    assert documents == [document_of(read(tmp_path, line), 0) for line in lines]

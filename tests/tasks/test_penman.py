"""PENMAN: what penman reads we read, and what is wrong is said with file, line and caret."""

import gzip

import pytest

from tallystick.errors import InputError, SidesMismatch
from tallystick.tasks.amr.files import pair_graphs, parse_penman, read_penman

BOY = '(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b :ARG4-of (x / "New York") :polarity -))'


def only(text, **options):
    (graph,) = parse_penman(text, **options).graphs
    return graph


def test_a_graph():
    graph = only(f"# ::id a.1 ::snt The boy.\n{BOY}")
    assert (graph.name, graph.metadata["snt"], graph.line, graph.top) == ("a.1", "The boy.", 2, 0)
    assert graph.variables == ["w", "b", "g", "x"]
    assert graph.concepts == ["want-01", "boy", "go-02", '"New York"']
    assert graph.edges == [
        (0, ":ARG0", 1), (0, ":ARG1", 2), (2, ":ARG0", 1), (2, ":ARG4-of", 3), (2, ":polarity", "-"),
    ]  # fmt: skip


def test_agrees_with_penman():
    penman = pytest.importorskip("penman")
    graph = only(BOY)
    theirs = penman.parse(BOY)
    nodes = {var: dict(branches)["/"] for var, branches in theirs.nodes()}
    assert dict(zip(graph.variables, graph.concepts, strict=True)) == nodes
    edges = [(role, target[0] if isinstance(target, tuple) else target) for _, (role, target) in theirs.walk()]
    named = [(r, graph.variables[t] if isinstance(t, int) else t) for _, r, t in graph.edges]
    assert sorted(named) == sorted(e for e in edges if e[0] != "/")


@pytest.mark.parametrize("value", ["24/7", "12:30", "http://a.b/c", '"a (b) :c / d"', "-", "+", "3.5", '"say \\"x\\""'])
def test_constants(value):
    assert only(f"(a / b :c {value})").edges == [(0, ":c", value)]


def test_a_variable_before_it_is_introduced_and_a_name_in_quotes():
    graph = only('(a / b :c d :e (d / f) :g "d")')
    assert graph.edges == [(0, ":c", 1), (0, ":e", 1), (0, ":g", '"d"')]


def test_surface_alignments_and_tight_spelling():
    graph = only("(a/b~e.1:ARG0~e.2 (c/d~e.3,4) :q 5~6)")
    assert graph.concepts == ["b", "d"]
    assert graph.edges == [(0, ":ARG0", 1), (0, ":q", "5")]


def test_blocks():
    text = (
        "# AMR release; corpus: x\n\n# ::id 1\n(a / b\n   :c (d / e))\n\n\n# ::id 2 ::snt nothing\n\n"
        "# ::id 3\n()\n\n(a / b)\n(c / d)\n# ::id 6\n(e / f)\n"
    )
    found = parse_penman(text).graphs
    assert [g.name for g in found] == ["1", "2", "3", None, None, "6"]
    assert [len(g.variables) for g in found] == [2, 0, 0, 1, 1, 1]
    assert [g.line for g in found] == [4, 8, 11, 13, 14, 16]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("(a / b", "1:7", "too early: 1"),
        ("(a / b))", "1:7", "closes nothing"),
        ("(a / b :c)", "1:8", '":c" has no value'),
        ("(a / b\n  :c (a / d))", "2:7", '"a" is introduced twice'),
        ("(a / b c)", "1:8", 'before "c"'),
        ('(a / b :q "x)', "1:8", "has no value"),
        ("# ::id 1\nhello", "2:1", "expected a graph"),
        ("(a / b) :c d", "1:9", "after the end"),
        ("(a / )", "1:1", "expected a graph"),
    ],
)
def test_errors_have_a_place(text, place, reason):
    with pytest.raises(InputError) as caught:
        parse_penman(text, file="f.amr")
    assert str(caught.value).startswith(f"f.amr:{place}: ")
    assert reason in str(caught.value)
    assert str(caught.value).endswith("^")


def test_lenient_counts_a_bad_graph_as_empty_and_lists_it():
    found = parse_penman("(a / b)\n\n(a / b :c\n\n(d / e)", lenient=True)
    assert [len(g.variables) for g in found.graphs] == [1, 0, 1]
    ((number, error),) = found.problems
    assert number == 1
    assert error.place.line == 3


def test_gzip_and_windows_lines(tmp_path):
    path = tmp_path / "x.amr.gz"
    path.write_bytes(gzip.compress(b"# ::id 1\r\n(a / b\r\n :c d)\r\n\r\n(e / f)\r\n"))
    assert [g.name for g in read_penman(path).graphs] == ["1", None]


def test_pairs_by_id_or_by_order():
    one = parse_penman("# ::id 1\n(a / b)\n\n# ::id 2\n(c / d)", file="one")
    other = parse_penman("# ::id 2\n(c / d)\n\n# ::id 1\n(a / b)", file="other")
    assert [(a.name, b.name) for a, b in pair_graphs(one, other)] == [("1", "1"), ("2", "2")]
    unnamed = parse_penman("(x / y)\n\n(c / d)", file="unnamed")
    assert [b.concepts[0] for _, b in pair_graphs(one, unnamed)] == ["y", "d"]
    with pytest.raises(SidesMismatch, match="one has 2 documents and short has 1"):
        pair_graphs(one, parse_penman("(a / b)", file="short"))
    with pytest.raises(SidesMismatch, match='1 only in the reference: "2"; 1 only in the prediction: "3"'):
        pair_graphs(one, parse_penman("# ::id 1\n(a / b)\n\n# ::id 3\n(c / d)", file="third"))
    with pytest.raises(InputError, match="twice:5: the document '1' is already used in line 2"):
        pair_graphs(one, parse_penman("# ::id 1\n(a / b)\n\n# ::id 1\n(c / d)", file="twice"))

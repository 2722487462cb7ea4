"""Counting choices, self-matches, alignments and subscores on graphs of our own."""

import itertools
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tallystick as ts
from tallystick.engine import latent
from tallystick.errors import MetricError
from tallystick.tasks.amr import triples
from tallystick.tasks.amr.files import Graph, parse_penman
from tallystick.tasks.amr.metrics import METRICS, align, score
from tallystick.tasks.amr.triples import PRESETS, Counting, FactReader, preset, score_graphs


def graph(text):
    return parse_penman(text).graphs[0]


def scored(one, other, counting=None):
    return score_graphs([(graph(one), graph(other))], counting)


def shuffled(original, rng):
    """The same graph with other names, in another order."""
    order = list(range(len(original.variables)))
    rng.shuffle(order)
    to = {old: new for new, old in enumerate(order)}
    edges = [(to.get(s, s), r, to.get(t, t)) for s, r, t in original.edges]
    rng.shuffle(edges)
    top = None if original.top is None else to[original.top]
    return Graph(None, [f"v{k}" for k in range(len(order))], [original.concepts[k] for k in order], edges, top)


def six_clauses(role, constant):
    """Fifty-six variables, six clauses that differ in a role, or deep inside in a constant."""
    clause = (
        "(w{0} / want-01 :ARG0 (b{0} / boy :mod (l{0} / little)) :ARG1 (g{0} / go-02 :ARG0 b{0} "
        ":ARG4 (c{0} / city :name (n{0} / name :op1 {1})) :time (t{0} / today) "
        ":manner (f{0} / fast :degree (v{0} / very))))"
    )
    parts = " ".join(f"{role.format(k + 1)} {clause.format(k, constant.format(k))}" for k in range(6))
    return f"(m / multi-sentence :snt1 (a / and {parts}))"


@pytest.mark.parametrize(("role", "constant"), [(":op{}", "P"), (":op", "P{}"), (":op", "P")])
def test_six_similar_clauses_match_themselves(role, constant):
    original = graph(six_clauses(role, constant))
    assert len(original.variables) == 56
    for seed in range(5):
        counts = score_graphs([(original, shuffled(original, random.Random(seed)))])
        assert counts.f1 == 1.0
        assert counts.optimal.all()


PAIRS = [
    (
        "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))",
        "(x / want-01 :ARG0 (y / girl) :ARG1 (z / go-02 :ARG0 y))",
    ),
    ("(a / and :op1 (b / b) :op2 (c / b))", "(a / and :op1 (b / b) :op2 b)"),
    ("(a / a :ARG0 (b / b :ARG0 (c / c :ARG0 a)))", "(c / c :ARG0-of (b / b :ARG0-of (a / a)))"),
]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_symmetric_and_invariant(one, other, name):
    there, back = scored(one, other, preset(name)), scored(other, one, preset(name))
    assert there.matched[0] == back.matched[0]
    renamed = score_graphs([(shuffled(graph(one), random.Random(1)), graph(other))], preset(name))
    assert renamed.matched[0] == there.matched[0]
    assert there.matched[0] <= min(there.reference[0], there.predicted[0])


def test_the_example_of_want_and_go():
    counts = scored(*PAIRS[0])
    # boy / girl is the only difference: 7 triples with the root, 6 of them match
    assert counts.tally == (6.0, 7, 7)
    assert counts.precision == counts.recall == counts.f1 == pytest.approx(6 / 7)


def test_duplicate_triples():
    twice = "(a / b :polarity - :polarity -)"
    assert scored(twice, twice).f1 == 1.0
    assert scored(twice, "(a / b :polarity -)").tally == (3.0, 3, 4)
    assert scored(twice, twice, preset("smatch")).tally == (6.0, 4, 4)
    assert scored(twice, twice, preset("smatchpp-amr")).tally == (3.0, 3, 3)


def test_constants_as_sources():
    one = "(c / chapter :mod 7)"
    assert scored(one, one).tally == (3.0, 3, 3)
    assert scored(one, one, preset("smatch")).tally == (2.0, 2, 2)
    assert scored(one, "(c / chapter :domain 7)").matched[0] == 2


def test_roots():
    one, other = "(a / cat)", "(a / dog)"
    assert scored(one, other).matched[0] == 1
    assert scored(one, other, Counting(root="concept")).matched[0] == 0
    assert scored(one, other, Counting(root="none")).tally == (0.0, 1, 1)


def test_inverse_roles_and_their_exceptions():
    inverse, plain = "(a / a :ARG0-of (b / b))", "(b / b :ARG0 (a / a))"
    assert scored(inverse, plain, Counting(root="none")).f1 == 1.0
    assert scored(inverse, plain, Counting(root="none", inverse="keep")).matched[0] == 2
    exception, turned = "(a / a :consist-of (b / b))", "(b / b :consist (a / a))"
    assert scored(exception, turned, Counting(root="none")).matched[0] == 2
    assert scored(exception, turned, preset("smatchpp", root="none")).f1 == 1.0


def test_mod_and_domain():
    pairs = {"mod": ":mod", "domain-of": ":domain-of", "mod-of": ":mod-of", "domain": ":domain"}
    written = {k: f"(a / a {r} (b / b))" for k, r in pairs.items()}
    assert scored(written["mod"], written["domain-of"]).f1 == 1.0
    assert scored(written["mod-of"], written["domain"]).matched[0] == 3  # as smatch
    assert scored(written["mod-of"], written["domain"], Counting(mod="canonical")).f1 == 1.0
    assert scored(written["mod-of"], written["domain"], preset("smatchpp-amr")).f1 == 1.0


def test_reified_relations_are_undone_on_demand():
    reified = "(a / a :ARG1-of (z / be-located-at-91 :ARG2 (b / b)))"
    assert scored("(a / a :location (b / b))", reified, preset("smatchpp-amr")).f1 == 1.0
    assert scored("(a / a :location (b / b))", reified).f1 < 1.0


def test_strings_quotes_and_case():
    one, other = '(n / name :op1 "New York")', '(n / name :op1 "new delhi")'
    assert scored(one, other).matched[0] == 2
    assert scored(one, other, preset("smatch")).matched[0] == 3
    assert scored('(n / Name :op1 "Paris")', "(n / name :OP1 paris)").f1 == 1.0


def test_empty_graphs():
    nothing, something = parse_penman("# ::id 1").graphs[0], graph("(a / b)")
    assert score_graphs([(nothing, nothing)]).f1 is None
    assert score_graphs([(something, nothing)]).tally == (0.0, 0, 2)
    assert score_graphs([]).f1 is None


def test_alignment_adds_up():
    for one, other in PAIRS:
        read = FactReader(Counting())
        counts = scored(one, other)
        a, b = read(graph(one)), read(graph(other))
        found = align(a, b, counts.mappings[0])
        assert len(found.matched) == counts.matched[0]
        assert len(found.matched) + len(found.missed) == counts.reference[0]
        assert len(found.matched) + len(found.spurious) == counts.predicted[0]
    found = align(*(FactReader(Counting())(graph(t)) for t in PAIRS[0]), scored(*PAIRS[0]).mappings[0])
    assert found.variables == [("w", "x"), ("b", "y"), ("g", "z")]
    assert found.missed == [("b", "instance", "boy")]
    assert found.spurious == [("y", "instance", "girl")]


def test_subscores():
    person = '(p / person :wiki "{}" :name (n / name :op1 "A"))'
    one = f"(w / want-01 :polarity - :ARG0 {person.format('X')} :ARG1 (g / go-02 :ARG0 p))"
    other = f"(w / want-02 :ARG1 {person.format('Y')} :ARG0 (g / go-02 :ARG0 p))"
    results, _ = score(parse_penman(one), parse_penman(other), metrics=tuple(METRICS))
    assert tuple(results) == tuple(METRICS)
    figures = {name: tuple(one.tally[key] for key in ("num_p", "den_p", "den_r")) for name, one in results.items()}
    assert figures["concepts"] == (3.0, 4, 4)
    assert figures["named_entities"] == (1.0, 1, 1)
    assert figures["negation"] == (0.0, 0, 1)
    assert figures["wikification"] == (0.0, 1, 1)
    assert figures["unlabelled"][0] > scored(one, other).matched[0]
    assert figures["no_word_senses"][0] == scored(one, other).matched[0] + 1
    assert figures["reentrancies"] == (3.0, 5, 5)
    assert figures["semantic_roles"] == (3.0, 6, 6)


SOURCES = '(a / a :ARG0-of "x" :mod (b / b) :mod (c / b))', '(a / a :ARG0-of "x" :mod (b / b))'


@pytest.mark.parametrize("name", ["tallystick", "smatchpp", "smatchpp-amr"])
@pytest.mark.parametrize(("one", "other"), [*PAIRS, SOURCES])
def test_triples_counted_in_blocks_are_the_expression(name, one, other):
    results, _ = score(parse_penman(one), parse_penman(other), preset(name), metrics=tuple(METRICS))
    for result in results.values():
        derived = ts.evaluate(result.expression, *result.documents_kept[0])
        assert (derived.rows == result.rows).all()
        assert result.explain().weight == result.tally["num_p"]


def test_misspelt_choices():
    with pytest.raises(MetricError, match='Did you mean "smatch"'):
        preset("smatsch")
    with pytest.raises(MetricError, match='Did you mean "concept"'):
        Counting(root="concepts")
    with pytest.raises(MetricError, match="unknown choice"):
        preset("smatch", roots="none")


def test_a_tree_has_no_reentrancies():
    tree = parse_penman("(s / see-01 :ARG0 (p / prince :mod (l / little)))")
    for mod in ("domain", "canonical", "mod", "keep"):
        results, _ = score(tree, tree, Counting(mod=mod), metrics=("reentrancies",))
        assert results["reentrancies"].tally["den_r"] == 0


CONCEPTS, ROLES = (
    ("see-01", "prince", '"Fans\'"', "Fans", "little"),
    (":ARG0", ":ARG1-of", ":mod", ":domain", ":op1", ":mod-of"),
)


def random_graph(rng):
    """A graph of up to five variables in PENMAN: a random tree, with further edges to variables and constants. No edge leads from a
    variable to itself: smatchpp's solver does not always count such an edge."""
    size = rng.randint(1, 5)
    children = {v: [] for v in range(size)}
    for v in range(1, size):
        children[rng.randrange(v)].append(v)

    def write(v):
        inner = [f"{rng.choice(ROLES)} {write(child)}" for child in children[v]]
        others = [other for other in range(size) if other != v]
        inner += [f"{rng.choice(ROLES)} x{rng.choice(others)}" for _ in others[: rng.random() < 0.4]]
        inner += [f":op1 {rng.choice(CONCEPTS)}" for _ in range(rng.random() < 0.3)]
        return " ".join([f"(x{v} / {rng.choice([c for c in CONCEPTS if c[0] != chr(34)])}", *inner]) + ")"

    return write(0)


def damonte_reentrancies(text):
    """The reentrant edges of a graph and the concepts of their variables, as Damonte et al. (2017) have them, by the penman library."""
    penman = pytest.importorskip("penman", reason="the oracle reads graphs with the penman library")
    found = penman.decode(text)
    concept = {v: c.lower() for v, _, c in found.instances()}
    edges = [(s, role.lower(), t) for s, role, t in found.edges()]
    edges = [(t, role[:-3], s) if role.endswith("-of") else (s, role, t) for s, role, t in edges]
    edges = [edge for edge in edges if sum(t == edge[2] for _, _, t in edges) > 1]
    inside = sorted({v for s, _, t in edges for v in (s, t)})
    return [(v, concept[v]) for v in inside], edges


def best_match(one, other):
    """The most triples that any 1:1 map of the variables makes equal, by trying all."""
    (nodes, edges), (theirs, others) = one, other
    left, right = [v for v, _ in nodes], [v for v, _ in theirs]
    free, best = [*right, *[None] * len(left)], 0
    for images in set(itertools.permutations(free, len(left))):
        to = dict(zip(left, images, strict=True))
        same = sum((Counter((to[v], c) for v, c in nodes) & Counter(theirs)).values())
        same += sum((Counter((to[s], role, to[t]) for s, role, t in edges) & Counter(others)).values())
        best = max(best, same)
    return best


def test_reentrancies_are_those_of_damonte():
    rng = random.Random(17)
    pairs = [(random_graph(rng), random_graph(rng)) for _ in range(200)]
    for one, other in pairs:
        results, _ = score(parse_penman(one), parse_penman(other), metrics=("reentrancies",))
        expected = damonte_reentrancies(one), damonte_reentrancies(other)
        sizes = [len(nodes) + len(edges) for nodes, edges in expected]
        tally = results["reentrancies"].tally
        assert (tally["den_r"], tally["den_p"]) == tuple(sizes), (one, other)
        assert tally["num_p"] == best_match(*expected), (one, other)
    assert sum(bool(damonte_reentrancies(one)[1]) for one, _ in pairs) > 50


@pytest.mark.parametrize("name", ["smatchpp", "smatchpp-amr"])
def test_presets_are_smatchpp(name):
    smatchpp = pytest.importorskip("smatchpp", reason="compared with smatchpp, which `make bench` installs")
    from smatchpp import solvers
    from smatchpp.formalism.amr import tools as amr
    from smatchpp.formalism.generic import tools as generic

    standard = generic.GenericStandardizer() if name == "smatchpp" else amr.AMRStandardizer()
    peer = smatchpp.Smatchpp(graph_standardizer=standard, alignmentsolver=solvers.get_solver("ilp"))
    rng = random.Random(21)
    pairs = [
        ('(a / a :op1 "Fans\'")', '(a / a :op1 "Fans")'),
        *((random_graph(rng), random_graph(rng)) for _ in range(200)),
    ]
    for one, other in pairs:
        matched, _, predicted, reference = peer.process_pair(other, one)[0]["main"]
        assert scored(one, other, preset(name)).tally == (matched, predicted, reference), (one, other)


def test_a_deeply_nested_graph_and_itself_need_no_search(monkeypatch):
    monkeypatch.setattr(latent, "improve", None)
    n = 2_000
    text = "".join(f"(v{k} / x :ARG0 " for k in range(n)) + "(z / x)" + ")" * n
    counts = scored(text, text)
    assert counts.optimal.all()
    assert counts.matched.tolist() == [2 * n + 2]
    assert counts.mappings[0].tolist() == list(range(n + 1))


@pytest.mark.parametrize("duplicates", ["multiset", "removed", "product"])
def test_identical_graphs_count_as_the_solver_counts_them(duplicates, monkeypatch):
    text = "(a / x :ARG0 (b / x :ARG0 (c / y)) :ARG0 b :mod 1 :mod 1 :ARG1 c)"
    pair = (graph(text),) * 2
    quick = score_graphs([pair, pair], Counting(duplicates=duplicates))
    monkeypatch.setattr(triples, "_identical", lambda one, other, *_: np.zeros(len(one.triples), np.bool_))
    slow = score_graphs([pair, pair], Counting(duplicates=duplicates))
    assert quick.matched.tolist() == slow.matched.tolist()
    assert quick.optimal.all()


@pytest.mark.parametrize("limit", [1e-9, 1e-4])
def test_without_time_there_are_bounds_all_the_same(limit):
    gold, system = (Path(ts.__file__).parent / "examples" / f"amr.{side}.txt" for side in ("gold", "system"))
    result, known = ts.amr(gold, system, time_limit=limit)["smatch"], ts.amr(gold, system)["smatch"]
    least, most = result.bounds["f1"]
    assert least <= known.f1 <= most <= 1

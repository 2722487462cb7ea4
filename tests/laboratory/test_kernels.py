"""Kernels: what follows is confirmed on random Gram matrices, what does not has a witness."""

import random

import numpy as np
import pytest

import tallystick as ts
from tallystick.laboratory.kernels import gram, kernel_status, smallest_eigenvalue

CEAF = "match(f1(match(exact)))"


def sets(text):
    return [[set(map(int, one)) for one in line.split()] for line in text]


@pytest.mark.parametrize(
    ("metric", "objects", "smallest"),
    [
        (CEAF, ["03 12 1", "1", "1 3", "123 3 023 12", "0 3", "0 03", "0 13"], -0.2378),
        ("match(jaccard(match(exact)))", ["13", "0 13", "013 2 123 012", "013 123 3", "1", "013", "0"], -0.0657),
    ],
)  # fmt: skip
def test_the_counterexamples_of_the_specification(metric, objects, smallest):
    assert round(smallest_eigenvalue(gram(metric, sets(objects))), 4) == smallest


NOT = [
    CEAF, f"f1({CEAF})", "match(jaccard(match(exact)))", "match(match(exact))", "match(levels())", "number(1.0)",
    "match(links(exact), N:N)", "sequence(exact)", "match(best(exact))",
]  # fmt: skip


@pytest.mark.parametrize("metric", NOT)
def test_what_is_no_kernel_has_a_witness_that_can_be_checked(metric):
    status = kernel_status(metric)
    assert status.verdict == "no"
    assert smallest_eigenvalue(gram(metric, status.witness.objects)) == pytest.approx(status.witness.smallest)
    assert status.witness.smallest < -1e-4
    assert len(status.witness.objects) <= 10
    assert "smallest eigenvalue" in str(status)


@pytest.mark.parametrize(
    "metric", ["precision(match(exact))", "match(exact, N:1)", "f(match(exact), 2)", "subset(exact)"]
)
def test_what_is_not_symmetric_is_no_kernel(metric):
    status = kernel_status(metric)
    assert status.verdict == "no"
    a, b = status.witness.objects
    matrix = gram(metric, [a, b])
    assert matrix[0, 1] != matrix[1, 0]


def collections(rng, items, most=4):
    return [rng.choices(items, k=rng.randint(0, most)) for _ in range(60)]


def types(rng, depth):
    return [".".join(rng.choice("ab") for _ in range(depth or rng.randint(1, 4))) for _ in range(60)]


YES = {
    "f1(match(exact))": lambda rng: collections(rng, range(6)),
    "jaccard(match(exact))": lambda rng: collections(rng, range(6)),
    "match(exact, N:N)": lambda rng: collections(rng, range(4)),
    "f1(match(f1(match(exact)), N:N))": lambda rng: [[c for c in collections(rng, range(4))[:3] if c] for _ in range(30)],
    "levels()": lambda rng: types(rng, 0),
    "match(record(a=exact, b=exact))": lambda rng: collections(rng, [{"a": a, "b": b} for a in "xy" for b in "xy"]),
    "record(a=f1(match(exact)), b=levels())": lambda rng: [
        {"a": a, "b": b} for a, b in zip(collections(rng, range(4)), types(rng, 0), strict=True)
    ],
    "each(a=match(exact), b=weighted(exact, 2))": lambda rng: [
        {"a": a, "b": rng.randrange(3)} for a in collections(rng, range(4))
    ],
    "supertypes({\"b\": \"a\", \"c\": \"a\", \"d\": \"b\"})": lambda rng: rng.choices("bcd", k=30),
    "optional(f1(match(exact)))": lambda rng: [None, *collections(rng, range(4))],
    "weigh(exact, {1: 0.5, 2: 0.25})": lambda rng: rng.choices(range(5), k=30),
}  # fmt: skip


@pytest.mark.parametrize("metric", YES)
def test_what_is_a_kernel_by_the_lemmas_is_one_on_random_objects(metric):
    status = kernel_status(metric)
    assert status.verdict == "yes"
    assert status.reasons
    for seed in range(5):
        matrix = gram(metric, YES[metric](random.Random(seed)))
        assert np.allclose(matrix, matrix.T)
        assert smallest_eigenvalue(matrix) > -1e-8


def test_matched_types_of_one_depth_are_a_kernel_and_of_several_are_not():
    assert kernel_status("match(levels())").condition == "yes where all types have one depth"
    rng = random.Random(0)
    for _ in range(5):
        objects = [types(rng, 3)[: rng.randint(1, 4)] for _ in range(60)]
        assert smallest_eigenvalue(gram("match(levels())", objects)) > -1e-8


def test_what_is_not_known_is_said_to_be_unknown():
    def near(a, b):
        return 1.0

    assert kernel_status(ts.match(ts.function(near))).verdict == "unknown"
    assert kernel_status(CEAF, search=False).verdict == "unknown"


@pytest.mark.parametrize(
    "metric",
    ["f1(match(exact))", f"f1({CEAF})", "match(exact, N:1)", "recall(match(exact))", "jaccard(match(match(exact)))"],
)
def test_a_gram_matrix_has_what_each_pair_has_alone(metric, monkeypatch):
    monkeypatch.setattr("tallystick.laboratory.kernels.CHUNK", 7)
    rng = random.Random(1)
    nested = "match(f1" in metric or "match(match" in metric
    objects = [
        [collections(rng, range(4))[0] for _ in range(3)] if nested else collections(rng, range(5))[0]
        for _ in range(17)
    ]
    whole = gram(metric, objects)
    alone = np.array([[gram(metric, [a], [b])[0, 0] for b in objects] for a in objects])
    assert np.array_equal(whole, alone)
    assert np.array_equal(gram(metric, objects[:5], objects), whole[:5])


def test_gram_of_sides_is_the_f1_of_both():
    from tallystick.tasks.coreference.metrics import B3

    entities = [[1, 2], [3]]
    one = [{"mention": m, "entity": e} for e in entities for m in e]
    other = [{"mention": m, "entity": [m]} for m in (1, 2, 3)]
    matrix = gram(B3, [one, other])
    assert matrix[0, 1] == pytest.approx(ts.evaluate(B3, [one], [other]).f1)
    assert matrix[0, 0] == 1

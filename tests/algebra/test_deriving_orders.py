"""Sequences, trees, graphs and latent variables, derived from types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import pytest

import tallystick as ts
from tallystick.algebra.derive import derive
from tallystick.errors import DerivationError
from tallystick.structures import AMR, Graph, Prop, Scope, Tree, Var


@dataclass
class LabelledNode:
    id: Var
    label: str


@dataclass
class LabelledEdge:
    source: Var
    target: Var
    label: Optional[str]


@dataclass
class MeaningGraph(Scope):
    nodes: list[LabelledNode]
    edges: list[LabelledEdge]


@dataclass
class Sentence:
    words: tuple[str, ...]
    tree: Tree[str]
    order: Graph[int]
    amr: AMR


SMATCH = "latent(record(rel=exact, subj=var, obj=cases(Var=var, str=exact)), 1:1)"
SCOPED = (
    "scoped(each(nodes=match(record(id=var, label=exact), 1:1), "
    "edges=match(record(source=var, target=var, label=optional(exact)), 1:1)))"
)


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (Sequence[int], "f1(sequence(exact))"),
        (tuple[int, ...], "f1(sequence(exact))"),
        (Tree[str], "f1(tree(exact))"),
        (Graph[str], "f1(graph(exact, 1:1))"),
        (list[Tree[str]], "f1(match(f1(tree(exact)), 1:1))"),
        (AMR, f"f1(each(props={SMATCH}))"),
        (list[Prop], f"f1({SMATCH})"),
        (list[AMR], f"f1(match(record(props=f1({SMATCH})), 1:1))"),
        (MeaningGraph, f"f1({SCOPED})"),
        (
            Sentence,
            f"f1(each(words=sequence(exact), tree=tree(exact), order=graph(exact, 1:1), amr=record(props=f1({SMATCH}))))",
        ),
        (LabelledNode, "f1(scoped(record(id=var, label=exact)))"),
    ],
)
def test_orders_and_variables(type_, expected):
    metric = derive(type_)
    assert str(metric) == expected
    assert ts.parse(expected) == metric


def test_credit_for_each_field_of_objects_with_variables():
    inner = "each(rel=exact, subj=var, obj=cases(Var=var, str=exact))"
    assert str(derive(AMR, credit="each")) == f"f1(each(props=latent({inner}, 1:1)))"
    assert str(derive(list[MeaningGraph], credit="each")).startswith("f1(match(scoped(each(nodes=match(each(id=var")


def test_variables_of_another_constraint_and_of_chosen_fields():
    assert "1:N" in str(derive(AMR, {"props": ts.matched("1:N")}))
    assert "subj" not in str(derive(AMR, {"props[*].subj": ts.ignore}))


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (list[list[Prop]], "mark the type that they belong to"),
        (list[MeaningGraph], 'credit="each"'),
        (tuple[Prop, ...], "cannot be mapped together"),
        (Tree, "at \\[\\*\\]: no metric can be derived from Any"),
    ],
)
def test_variables_that_cannot_be_mapped(type_, message):
    with pytest.raises(DerivationError, match=message):
        derive(type_)

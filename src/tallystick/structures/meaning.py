"""Latent variables, and graphs of meaning as sets of propositions (section 4).

    AMR([Prop("instance", Var("w"), "want-01"), Prop("instance", Var("b"), "boy"), Prop("ARG0", Var("w"), Var("b"))])

The name of a variable means nothing outside of its *scope*: the nearest enclosing type that is a `Scope`, else the
whole document. In a derived metric the variables of a scope are matched one to one in the best possible way.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from tallystick.structures.holding import hold


@dataclass(frozen=True)
class Var:
    """A latent variable: two of one name are the same thing within their scope."""

    name: str

    def __str__(self) -> str:
        return self.name


class Scope:
    """A base class for types whose variables are their own. Any class with `__variable_scope__ = True` is one too."""

    __variable_scope__: ClassVar[bool] = True


@dataclass(frozen=True)
class Prop:
    """A logical proposition, such as ARG0(w, b) or instance(b, boy): its object is a variable or a constant."""

    rel: str
    subj: Var
    obj: Var | str


@dataclass(frozen=True)
class AMR(Scope):
    """The propositions of a graph of meaning: the output of the task."""

    props: Collection[Prop] = ()

    def __post_init__(self) -> None:
        hold(self, "props")

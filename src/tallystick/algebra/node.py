"""What every part of a metric is: a frozen value that prints as an expression, and the contract of a similarity.

A similarity φ answers four questions about whole columns, never about single values:

    encode(reference, predicted)    both sides' values as columns that it can work on
    pairs(r, p, blocks)             every pair of rows inside a block with φ > 0
    selves(column)                  φ(x, x) of each row
    refine(r, p, blocks)            if φ is nothing but equality: the blocks, split further

A new similarity is a frozen dataclass with a `name`, `_encode` and `_pairs` (and `_selves`, if φ(x, x) is not 1). Everything else
that the program wants to know about a part of a metric it asks the part, and every answer has a safe default:

    its parts, its mirror, its variables and time limits      `parts`, `mirrored`, `has_variables`, `limited`
    which figure it stands for, and of which Σ                `headline`, `summed`, `by_side`, `numerators`
    what it says in words, and its place in a derivation      `in_words`, `says`, `letter`
    what of a value it looks at, and what it can compare      `looks_at`, `item`, `inside`, `may_miss`, `accept`
    what lies below an aligned pair                           `is_leaf`, `_below`
    whether it is a kernel, and a random value for it         `kernel`, `sample`
    how it is read from a plain choice                        `from_choice`
    its definition for one pair of values, for speed          `plain`

A similarity around another one inherits `Around` as well, and is then transparent in all of this.

`Kernel` is what follows about a part as a kernel (appendix B of "A Unified View"), from the lemmas alone.

A kernel κ is symmetric and positive semi-definite; it is *strong* (Kriege et al. 2016) if κ(x, y) ≥ min(κ(x, z), κ(z, y)).
`tallystick.laboratory.kernels` says what is done with it. A node that says nothing claims nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.plain import Plain
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Codes,
    Column,
    Frame,
    Maybe,
    Nothing,
    Pairs,
    Shared,
    Sums,
    look_up,
    number,
    unshared,
)
from tallystick.engine.data import Data, Index, Objects, Scope, present_values
from tallystick.engine.tally import Counts, Kind
from tallystick.engine.values import Missing, Refusals, Unfit
from tallystick.errors import MetricError, ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

T = TypeVar("T", bound="Node")


class Table(tuple[tuple[Any, Any], ...]):
    """A mapping as a hashable value; it prints as `{key: value, ...}`."""

    __slots__ = ()

    @staticmethod
    def of(mapping: Mapping[Any, Any], what: str = "a table") -> Table:
        """A user's mapping; `what` is how an error calls it."""
        if isinstance(mapping, Table):
            return mapping
        require(isinstance(mapping, Mapping), f"{what} needs a mapping such as {{key: value}}, found {mapping!r:.60}")
        found = Table(mapping.items())
        try:
            hash(found)
        except TypeError:
            wrong = next(pair for pair in found if not _hashable(pair))
            raise MetricError(
                f"{what}: {wrong[0]!r}: {wrong[1]!r:.40} cannot be used in a table; use texts, numbers or tuples"
            ) from None
        return found


class Named(tuple[tuple[str, Any], ...]):
    """Parts by name, as `record(a=..., b=...)` has them; they print as keyword arguments."""

    __slots__ = ()


@frozen
class Node:
    """A part of a metric: frozen, hashable, picklable; `str(node)` can be parsed back."""

    name: ClassVar[str]
    """What it is called in expressions; of `tallystick`, and for choices, by being defined in a module of `algebra`."""
    also: ClassVar[tuple[str, ...]] = ()
    """Other constructors of it in the same module."""
    says: ClassVar[str] = ""
    """What it does, in a few words, for a derivation; empty if its name says it."""
    letter: ClassVar[str] = "S"
    """Which of the paper's parts it is: S, a similarity φ; M, a matching Σ; N, a normaliser."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Every node checks its arguments, whatever else it checks by itself."""
        super().__init_subclass__(**options)
        own = cls.__dict__.get("__post_init__")
        if own is not None:

            @wraps(own)
            def checked(self: Node) -> None:
                check_values(self)
                own(self)
                check_similarities(self)

            cls.__post_init__ = checked  # type: ignore[method-assign]
        if "plain" not in cls.__dict__ and not SCORING.isdisjoint(cls.__dict__):
            cls.plain = _no_plain  # type: ignore[attr-defined]  # that of the class above is not its own

    def __post_init__(self) -> None:
        check_values(self)
        check_similarities(self)

    def __call__(self, reference: Any, predicted: Any) -> float:
        """What it says of one pair: `f1(match(exact))(["a", "b"], ["a"])`. Nothing against nothing is 1."""
        from tallystick.algebra.plain import value_of

        return value_of(self, reference, predicted)

    def __getstate__(self) -> dict[str, Any]:
        """Its fields: what was made of them to be at hand stays here."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __repr__(self) -> str:
        own = type(self)
        ours = own.__module__.partition(".")[0] == "tallystick"
        return f"{self.name if ours else f'{own.__module__}:{own.__qualname__}'}({', '.join(self._arguments())})"

    def _arguments(self) -> Iterator[str]:
        for f in fields(self):
            value = getattr(self, f.name)
            if not f.repr:
                continue
            if isinstance(value, Named):
                yield from (f"{keyword(name)}={in_expression(part)}" for name, part in value)
            elif f.default is MISSING:
                yield in_expression(value)
            elif value != f.default:
                yield f"{f.name}={in_expression(value)}"

    def parts(self) -> Iterator[tuple[str, Node]]:
        """The nodes directly inside this one, with the names they have there."""
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Node):
                yield f.name, value
            elif isinstance(value, Named):
                yield from ((name, part) for name, part in value if isinstance(part, Node))

    def walk(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for _, part in self.parts():
            yield from part.walk()

    def rebuilt(self: T, change: Callable[[Node], Node]) -> T:
        """The same node with each direct part replaced by `change(part)`."""
        fresh: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Node):
                fresh[f.name] = change(value)
            elif isinstance(value, Named):
                fresh[f.name] = Named((n, change(p) if isinstance(p, Node) else p) for n, p in value)
        return replace(self, **fresh) if fresh else self

    def mirrored(self) -> Node:
        """The metric that gives the same figures when the two sides change places."""
        return self.rebuilt(lambda part: part.mirrored())

    # What it is called, and what its figures are.

    @property
    def headline(self) -> tuple[str, float]:
        """The figure that is meant by it as a whole, and the β of F."""
        return "f1", 1.0

    @property
    def summed(self) -> Similarity:
        """The Σ inside a metric: what is tallied. A normaliser around the whole only says which figure is meant."""
        raise MetricError(f"{self} cannot be tallied")

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        """The figure that it is, of a tally; N(∅, ∅) = 1 and N(∅, x) = 0."""
        raise MetricError(f"{self} is no figure of a tally")

    @property
    def by_side(self) -> tuple[Similarity, Similarity] | None:
        """The expressions of precision and of recall, if they are two."""
        return None

    @property
    def aligned_by(self) -> Similarity | None:
        """The expression whose alignment says what is right and what is wrong; of two expressions, neither."""
        return self.summed if self.by_side is None else None

    side_names: ClassVar[tuple[str, str]] = ("precision", "recall")
    """What the two expressions of `by_side` are called."""

    def kind_of_tally(self) -> Kind:
        """What turns its sums into figures."""
        headline, beta = self.headline
        return Counts(headline, beta, one=self.by_side is None and not self.summed.two_numerators)

    ranks: ClassVar[bool] = False
    """Whether `rank` says what the figures are made of."""

    def rank(self, reference: Data, valid: I64 | None, predicted: Data, scope: Scope) -> tuple[Kind, F64] | None:
        """Where the figures do not follow from sums of numerators: a kind that these documents make up, and their rows. `valid` are
        the documents that have a prediction (None: all)."""
        return None

    # Latent variables and time limits, which concern all that is around them.

    @property
    def has_variables(self) -> bool:
        """Whether a variable in it is still to be mapped."""
        return any(part.has_variables for _, part in self.parts())

    @property
    def limited(self) -> bool:
        """Whether any part has a time limit, so that the result has bounds."""
        return any(part.limited for _, part in self.parts())

    def limited_to(self: T, seconds: float | None) -> T:
        """The same metric with this limit, in seconds, wherever it may have one and has none."""
        return self if seconds is None or not self.limited else self.rebuilt(lambda part: part.limited_to(seconds))

    def at_most(self: T) -> T:
        """The same metric with the upper bound of everything that has a limit."""
        return self.rebuilt(lambda part: part.at_most())

    # What it may be as a kernel, and values to find out.

    def kernel(self, one_depth: bool = False) -> Kernel:
        """What follows from the lemmas; `one_depth` if all types of a hierarchy have the same depth."""
        return UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        """A small random value that it can compare; `depth` counts the collections around it."""
        raise NotImplementedError(str(self))  # nothing is known of its values


Change = Callable[[Codes, I64], Codes]
"""From the codes of a variable in some rows, and the owner of each row, to other codes."""


SCORING = frozenset(
    ("_encode", "_pairs", "_selves", "_numerators", "encode", "pairs", "selves", "numerators", "fill", "refine", "sums", "by_field")
)  # fmt: skip
"""What a class changes that scores in another way than the one above it."""


def _no_plain(_: Node) -> None:
    return None


def is_number(value: Any) -> bool:
    """Whether a value is a number, not NaN, that a float can hold."""
    if isinstance(value, int):
        return not isinstance(value, bool) and value.bit_length() < 1024
    return isinstance(value, (float, np.floating, np.integer)) and bool(value == value)


def check_values(node: Node) -> None:
    """Numbers, switches and words have to be what they are called, at once, where the metric is written."""
    for f in fields(node):
        value, kind = getattr(node, f.name), f.type if isinstance(f.type, str) else getattr(f.type, "__name__", "")
        where = f"{node.name}(): {f.name}"
        if kind == "float":
            require(is_number(value), f"{where} must be a number, found {value!r:.60}")
            object.__setattr__(node, f.name, float(value))
        elif kind == "bool":
            require(isinstance(value, bool), f"{where} must be True or False, found {value!r:.60}")
        elif kind == "str":
            require(isinstance(value, str), f"{where} must be text, found {value!r:.60}")
        elif kind == "tuple[str, ...]":
            wrong = [one for one in value if not isinstance(one, str)]
            require(not wrong, f"{where} must be texts, found {wrong[:1]!r:.60}")


def check_similarities(node: Node) -> None:
    """Where a similarity belongs, nothing else may stand."""
    for f in fields(node):
        value = getattr(node, f.name)
        if f.type in ("Similarity", Similarity) and not isinstance(value, Similarity):
            raise MetricError(f"{node.name}() needs a similarity such as exact or text(...), found {value!r:.60}")


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def keyword(name: str) -> str:
    """A field's name in an expression: plain where it can be, quoted otherwise."""
    plain = re.fullmatch(r"[^\W\d]\w*|[0-9]+", name)  # no combining character, which an identifier of Python may have
    return name if plain else json.dumps(name, ensure_ascii=False)


def in_expression(value: Any) -> str:
    """A parameter in an expression."""
    if isinstance(value, Table):
        return "{" + ", ".join(f"{in_expression(k)}: {in_expression(v)}" for k, v in value) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(in_expression, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if callable(value) and not isinstance(value, Node):
        owner = getattr(value, "__objclass__", value)  # a method such as str.lower knows its class only
        name = getattr(value, "__qualname__", type(value).__qualname__)  # an object that can be called has none
        return f"{owner.__module__}:{name}"
    return repr(value)


@frozen
class Similarity(Node):
    """φ: how alike two values are, over columns."""

    def mirrored(self) -> Similarity:
        return self.rebuilt(lambda part: part.mirrored())

    @property
    def exact_only(self) -> bool:
        """Whether φ is equality, so that it can refine blocks instead of listing pairs."""
        return False

    @property
    def dense(self) -> bool:
        """Whether most pairs of a block have φ > 0, so that it fills rectangles."""
        return False

    @property
    def regular(self) -> bool:
        """Whether φ(x, y) ≤ φ(x, x) and ≤ φ(y, y) by construction (Definition 1)."""
        return all(part.regular for _, part in self.parts() if isinstance(part, Similarity))

    @property
    def regular_covered(self) -> bool:
        """The same for its numerators, "covered", which never pass the self-score whatever Σ itself does."""
        return self.regular

    # What a similarity defines.

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        raise NotImplementedError

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        raise NotImplementedError

    def _selves(self, column: Any) -> F64:
        return np.ones(len(column))

    def refine(self, r: Any, p: Any, blocks: Blocks) -> Blocks:
        raise NotImplementedError

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        """The weights of all cells of the frame (dense similarities only)."""
        raise NotImplementedError

    def plain(self) -> Plain | None:
        """Its definition for one pair of values, as a reader would write it; None: single pairs are columns of one row."""
        return None

    # What it looks at, and what lies below it. The defaults are those of a leaf that takes any value.

    drawn: ClassVar[str] = ""
    """How a report draws what it compares: boxes, lanes, table or tree; nothing, if it is best read."""
    structure: ClassVar[str] = ""
    """What values it takes apart: "record", "items", or none."""
    adds_up: ClassVar[bool] = False
    """Whether the weights directly below it add up to its own."""
    carries_variables: ClassVar[bool] = False
    """Whether `var` may stand inside of it, in an item of `latent`."""

    @property
    def summed(self) -> Similarity:
        return self

    @property
    def counts_empty(self) -> bool:
        """Whether an item that holds nothing counts as one all the same: a product does, a sum of fields does not."""
        return False

    @property
    def is_leaf(self) -> bool:
        """Whether nothing of the value lies below: an atomic similarity, whatever weight, threshold or mapping is around it."""
        return True

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        """The levels directly below aligned rows: a record's fields, a collection's items."""
        return iter(())

    @property
    def item(self) -> Similarity | None:
        """What compares the items of a collection, as they stand in the value."""
        return None

    def looks_at(self) -> Mapping[str, Similarity | None] | None:
        """The fields of a record that it looks at, and what compares them (None: they only have to be equal). None if it
        does not go by fields, or those of another value."""
        return None

    def same_values(self) -> Sequence[Similarity]:
        """The similarities directly inside it that compare the values that it compares, not parts of them."""
        return ()

    def at_once(self) -> Iterator[Similarity]:
        """This one, and all inside it that compare the same values."""
        yield self
        for part in self.same_values():
            yield from part.at_once()

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The fields that have to be equal for two records to meet at all."""
        return ()

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        """The similarity below everything that only stands around it, and both sides' values as that one sees them."""
        return self, left, right

    def one_sided(self, here: Aligned) -> Iterator[tuple[str, I64, I64]]:
        """Below aligned documents, by path: which of them have something empty there that counts for nothing by itself while the
        other side has nothing at all, in the reference and in the prediction. An empty list is a value, and null is none."""
        return iter(())

    @property
    def core(self) -> Similarity:
        """The similarity inside of everything that is only around it."""
        return self

    @property
    def may_miss(self) -> bool:
        """Whether a value may be missing."""
        return False

    @property
    def absent(self) -> Any:
        """What stands for a key that is not there."""
        return None

    @property
    def missing(self) -> Missing | None:
        """What counts as missing in a sum of fields; None if that is nothing but None."""
        return None

    @property
    def present(self) -> Similarity:
        """The similarity of what is not missing."""
        return self

    @property
    def takes_null(self) -> bool:
        """Whether it takes null by itself: alternatives of which one may be null."""
        return False

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        """What it can compare of a predicted value; what it cannot goes to `refusals`, and REFUSED stands for a whole value."""
        if not isinstance(value, Unfit) and self._takes(value):
            return value
        raw = value.value if isinstance(value, Unfit) else value
        if self.reads(raw):
            refusals.asked.add(path)
            return Unfit(raw)
        return refusals.misfit(value, path) if self._takes(Unfit(value)) else refusals.refuse(value, path)

    def reads(self, value: Any) -> bool:
        """Whether it makes something of a value that is not of the kind of its type, whose kind is then its own business."""
        return False

    def _takes(self, value: Any) -> bool:
        try:
            self.encode(Objects([]), Objects([value]), Scope())
        except ValueMismatch:
            return False
        return True

    @property
    def void(self) -> Any:
        """A value that equals nothing, for a place in a product whose own value cannot be compared."""
        return Unfit(None)

    @property
    def softened(self) -> Similarity | None:
        """Of a product the sum of its fields, over the same columns."""
        return None

    def in_words(self) -> tuple[str, ...]:
        """How a value is compared, in words: what is done first, then what is special about it."""
        return (str(self),)

    @classmethod
    def chosen_by_name(cls) -> bool:
        """Whether a plain choice may name it: it needs no other similarity inside."""
        return not any(f.type in ("Similarity", Similarity, "Named", Named) for f in fields(cls))

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        """What a plain choice stands for: an object of parameters, a list of them, one, or `true` for none."""
        if isinstance(spec, Mapping):
            known = [f.name for f in fields(cls)]
            return cls(**options_of(spec, *known))
        return cls(*(() if spec is True else spec if isinstance(spec, list) else (spec,)))

    # Numerators: what a normaliser divides.

    @property
    def two_numerators(self) -> bool:
        """Whether Σ counts differently on the two sides: a one-sided matching, also as a field of a sum or one of several cases."""
        return False

    def numerators(self, r: Column, p: Column, blocks: Blocks) -> Sums:
        """Σ of each pair, as both sides see it."""
        if self.two_numerators and len(r) and len(p):
            return self._numerators(unshared(r), unshared(p), blocks)
        return Sums.of(self.pairs(r, p, blocks))

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        raise NotImplementedError

    # Variables.

    @property
    def all_or_nothing(self) -> bool:
        """Whether a value that lacks one of its variables is worth nothing."""
        return not self.has_variables or all(
            part.all_or_nothing for _, part in self.parts() if isinstance(part, Similarity)
        )

    def bound(self) -> Similarity:
        """The same with the variables in it mapped: `scoped`, if it has no better place for it."""
        from tallystick.algebra.latent import Scoped

        return Scoped(self)

    @property
    def binds_here(self) -> bool:
        """Whether `bound` finds the one collection that has variables in it."""
        return False

    def scope_constraints(self) -> Iterator[str]:
        """Of a sum in `scoped` the constraints of the collections that have variables; an error where those stand elsewhere."""
        self.check_variables("scoped")
        return iter(())

    def check_variables(self, whole: str, level: Literal["document", "object", "field"] = "document") -> None:
        """Variables may stand in records, sums and cases, at any depth; in a collection only if that is a field of an object, which is an
        item of the collection that is matched."""
        if not self.has_variables:
            return
        if not self.carries_variables or (self.structure == "items" and level != "field"):
            raise MetricError(
                f"{whole}: a var inside of {self.name}(...) would need a map for each item; "
                f"give the items of the inner collection as objects of their own, or a latent(...) of their own"
            )
        for _, part in self.parts():
            if isinstance(part, Similarity):
                part.check_variables(whole, "field" if self.structure == "record" and level == "object" else level)

    def scope_groups(
        self, r: Any, p: Any, rows: I64, columns: I64, blocks: Blocks, factor: float
    ) -> Iterator[tuple[Similarity, Any, Any, I64, I64, Blocks, float]]:
        """Its collections and single values: what compares them, both columns, which scope each row belongs to (`rows` and
        `columns`), the blocks, and what they count."""
        yield self, r, p, rows, columns, blocks.at(rows, columns), factor

    def change_variables(self, column: Any, owners: I64, change: Change) -> Any:
        """The column with the codes of all its variables changed, in the order of the expression."""
        if not self.has_variables:
            return column
        return self._change_variables(unshared(column), owners, change)

    def _change_variables(self, column: Any, owners: I64, change: Change) -> Any:
        raise NotImplementedError

    # What everybody calls: the same, with values that occur many times scored once.

    def encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        key = (self, id(reference), id(predicted))
        if key in scope.memo:
            columns: tuple[Column, Column] = scope.memo[key][0]
            return columns
        if isinstance(reference, Index) or isinstance(predicted, Index):
            reference, predicted = _indexed(reference), _indexed(predicted)
            r, p = self.encode(reference.values, predicted.values, scope)
            if self.exact_only:
                return r.take(reference.index), p.take(predicted.index)
            columns = Shared(reference.index, r), Shared(predicted.index, p)
        else:
            columns = self._encode(reference, predicted, scope)
        if not isinstance(reference, Objects):
            scope.memo[key] = (
                columns,
                reference,
                predicted,
            )  # the arguments too: an id is only good while they live
        return columns

    def encode_present(
        self, reference: Data, predicted: Data, scope: Scope, missing: Missing | None = None
    ) -> tuple[Column, Column]:
        """Both sides encoded without what is missing: a Maybe where something is."""
        (left, here), (right, there) = present_values(reference, missing), present_values(predicted, missing)
        r, p = self.encode(left, right, scope)
        return _maybe(r, here), _maybe(p, there)

    def pairs(self, r: Column, p: Column, blocks: Blocks) -> Pairs:
        if len(r) == 0 or len(p) == 0:
            return Pairs.none()
        if isinstance(r, Shared) or isinstance(p, Shared):
            i, j = blocks.pairs()
            return Pairs(i, j, self.weights_at(r, p, blocks, i, j)).positive()
        return self._pairs(r, p, blocks)

    def pairs_to_match(self, r: Column, p: Column, blocks: Blocks) -> Pairs:
        """Pairs among which is a best 1:1 matching of every block: all of them, unless fewer are found at once."""
        return self.pairs(r, p, blocks)

    def pairs_from(self, least: float, r: Column, p: Column, blocks: Blocks) -> Pairs:
        """At least the pairs with φ ≥ `least`; they stand in the order in which `pairs` has them."""
        return self.pairs(r, p, blocks)

    def weights_at(self, r: Column, p: Column, blocks: Blocks, i: I64, j: I64) -> F64:
        """φ of the pairs (i, j), which share a block."""
        if isinstance(r, Shared) or isinstance(p, Shared):
            first, rows, left = _distinct(_shared(r), blocks.reference, blocks.bound)
            second, columns, right = _distinct(_shared(p), blocks.predicted, blocks.bound)
            inner = Blocks(left, right, blocks.bound)
            table = self.pairs(first, second, inner)
            return look_up(table, rows[i], columns[j], len(second), len(first))
        return look_up(self.pairs(r, p, blocks), i, j, len(p), len(r))

    def selves(self, column: Column) -> F64:
        if isinstance(column, Nothing):
            return np.empty(0)
        if isinstance(column, Shared):
            return self.selves(column.values)[column.index]
        return self._selves(column)

    def one_to_one_weights(self, r: Column, p: Column) -> F64:
        """φ of row k against row k, for two columns of one length."""
        out = np.zeros(len(r))
        found = self.pairs(r, p, Blocks.diagonal(len(r)))
        out[found.i] = found.weight
        return out

    def weights_of_values(self, reference: list[Any], predicted: list[Any]) -> F64:
        """φ of value k against value k, for two lists of one length."""
        r, p = self.encode(Objects(reference), Objects(predicted), Scope())
        return self.one_to_one_weights(r, p)


class Dense(Similarity):
    """φ whose `fill` is all that is left to write: most pairs of a block have one above 0."""

    @property
    def dense(self) -> bool:
        return True

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return blocks.frame.pairs(self.fill(r, p, blocks.frame))


class Around(Similarity):
    """What is only around another similarity, `inner`: it says itself what it changes, and passes everything else on."""

    inner: Similarity
    carries_variables = True
    binds_inside: ClassVar[bool] = False
    """Whether `bound` goes on inside."""

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.inner.encode(reference, predicted, scope)

    def same_values(self) -> Sequence[Similarity]:
        return (self.inner,)

    @property
    def counts_empty(self) -> bool:
        return self.inner.counts_empty

    @property
    def is_leaf(self) -> bool:
        return self.inner.is_leaf

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return here.inside(self.inner).below()

    @property
    def item(self) -> Similarity | None:
        return self.inner.item

    def looks_at(self) -> Mapping[str, Similarity | None] | None:
        return self.inner.looks_at()

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        return self.inner.inside(left, right)

    @property
    def core(self) -> Similarity:
        return self.inner.core

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        return self.inner.accept(value, path, refusals)

    @property
    def void(self) -> Any:
        return self.inner.void

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.inner.sample(rng, depth)

    def _change_variables(self, column: Any, owners: I64, change: Change) -> Any:
        return self.inner.change_variables(column, owners, change)

    @property
    def binds_here(self) -> bool:
        return self.binds_inside and self.inner.binds_here

    def bound(self) -> Similarity:
        """With the variables of the one collection inside mapped, if there is such a one, else around the whole."""
        if not self.binds_inside:
            return super().bound()
        found = self.inner.bound()
        if found.letter == "M" and not found.structure:  # nothing but `scoped`
            return super().bound()
        return replace(self, inner=found)  # type: ignore[call-arg]


def takes_collections(node: Node) -> bool:
    """Whether a matching stands anywhere in it."""
    return any(isinstance(part, Similarity) and part.structure == "items" for part in node.walk())


def has_structure(node: Node) -> bool:
    """Whether anything below has fields or items of its own."""
    return any(isinstance(part, Similarity) and part.structure for part in node.walk())


def options_of(spec: Any, *allowed: str) -> dict[str, Any]:
    """The parameters of a plain choice, which have to be known ones."""
    if not isinstance(spec, Mapping):
        raise MetricError(f"expected an object with {', '.join(allowed)}, found {spec!r:.60}")
    for name in spec:
        if name not in allowed:
            raise MetricError(
                f"unknown option {name!r}; expected {', '.join(allowed)}.{did_you_mean(str(name), allowed)}"
            )
    return dict(spec)


def _indexed(data: Data) -> Index:
    return data if isinstance(data, Index) else Index(np.arange(len(data)), data)


def _maybe(column: Column, here: I64 | None) -> Column:
    """A Maybe if something is missing, or if the column is one itself, so that the two are not mistaken."""
    if here is not None:
        return Maybe(here, column)
    return Maybe(np.arange(len(column)), column) if isinstance(column, Maybe) else column


def _shared(column: Column) -> Shared:
    return column if isinstance(column, Shared) else Shared(np.arange(len(column)), column)


def _distinct(column: Shared, blocks: I64, bound: int) -> tuple[Column, I64, I64]:
    """The different values of each block: their column, the number of each row's value, and their blocks."""
    home = np.full(len(column.values), -1, np.int64)
    home[column.index] = blocks
    if np.array_equal(home[column.index], blocks):  # each value lives in one block only
        used = home >= 0
        if used.all():
            return column.values, column.index, home
        numbers = np.cumsum(used) - 1
        return column.values.take(np.flatnonzero(used)), numbers[column.index], home[used]
    codes, different = number(blocks, bound)
    rows, count = number(codes * len(column.values) + column.index, different * len(column.values))
    value, home = np.empty((2, count), np.int64)
    value[rows], home[rows] = column.index, blocks
    return column.values.take(value), rows, home


def require(condition: bool, message: str) -> None:
    """A parameter that makes no sense is an error at once, where the metric is written."""
    if not condition:
        raise MetricError(message)


@frozen
class Kernel:
    """Whether a part is a kernel, a strong one, nothing but 0 and 1; and from which lemmas that follows."""

    kernel: bool = False
    strong: bool = False
    indicator: bool = False
    lemmas: tuple[str, ...] = ()

    def because(self, lemma: str, *, kernel: bool = True, strong: bool = False, indicator: bool = False) -> Kernel:
        """What follows from this by one more lemma."""
        return Kernel(kernel, strong and kernel, indicator, tuple(dict.fromkeys((*self.lemmas, lemma))))

    def keep(self, lemma: str, *, indicator: bool | None = None) -> Kernel:
        """As much as is known already, by one more lemma."""
        return self.because(
            lemma,
            kernel=self.kernel,
            strong=self.strong,
            indicator=self.indicator if indicator is None else indicator,
        )

    @staticmethod
    def joined(parts: Sequence[Kernel]) -> Kernel:
        """The lemmas of all parts."""
        return Kernel(lemmas=tuple(dict.fromkeys(lemma for part in parts for lemma in part.lemmas)))


UNKNOWN = Kernel()
DELTA = Kernel(True, True, True, ("δ is a strong kernel (lemma 1)",))
STRONG_SUM = "Σ↔ of a strong kernel (lemma 5)"
F_LEMMA, J_LEMMA = "F of a kernel (lemma 7)", "J of a kernel (lemma 8)"

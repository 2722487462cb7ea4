"""Matching of sets, as bags (eq. 13): Σ under 1:1, N:1, 1:N and N:N.

The items' pairs are grouped by their owners and each group is solved. Where the items' similarity is equality
nothing has to be solved: the best 1:1 matching of two bags has, for each value, the smaller of its two
multiplicities.

The constraints read prediction : reference. N:1, every predicted item takes at most one reference item, and a
reference item may be taken by many. When a normaliser asks, a one-sided constraint has two sums, "covered":

    N:1   num_p = Σ over predicted items of the best φ      num_r = Σ↔, the 1:1 optimum
    1:N   num_p = Σ↔                                        num_r = Σ over reference items of the best φ

Σ↔ is the most that predictions can cover if each takes one reference item, so neither precision nor recall can pass 1, and ties do not
matter. `literal` uses one Σ for both, as eq. 27 and 28 are printed.

`staged(φ, match(φ'))` matches 1:1 in stages: the best by φ first, then by φ' what φ left without a partner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned, are_all
from tallystick.algebra.node import STRONG_SUM, UNKNOWN, Change, Kernel, Similarity, require
from tallystick.algebra.plain import Own, Plain, items_of, one_to_one, table_of
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Column,
    Grid,
    Items,
    Mask,
    Pairs,
    Sums,
    assign,
    first_best,
    join_sorted,
    look_up,
    number,
    offsets_of,
    sort_order,
    sum_by_key,
    sum_by_owner,
    unshared,
    weighted_counts,
)
from tallystick.engine.assignment import in_one_piece, rank_within
from tallystick.engine.data import Bag, Data, Scope, first_mapping, items, repeated
from tallystick.engine.values import REFUSED, Refusals
from tallystick.errors import MetricError, ValueMismatch
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

COUNTED: dict[str, Callable[[Any, Any], Any]] = {
    "1:1": np.minimum, "N:1": lambda _, predicted: predicted, "1:N": lambda reference, _: reference, "N:N": np.multiply
}  # fmt: skip
"""What so many equal items on either side are worth."""
CONSTRAINTS = tuple(COUNTED)
SINGLE = {"1:N": 0, "N:1": 1}
"""The side of which each item takes one at most (0 the reference), while the other's may be taken by many."""
ENTRY = ("key", "value")
"""The fields of an item of a mapping."""


@frozen
class Matching(Similarity):
    """Σ over the items of two collections: what sets, sequences and orders share."""

    inner: Similarity
    letter = "M"
    structure = "items"
    adds_up = True
    carries_variables = True

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Similarity):
            raise MetricError(f"{self.name}() needs a similarity for the items, such as exact; found {self.inner!r}")

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        """Σ for every pair of owners that has one above 0."""
        raise NotImplementedError

    def matched(self, r: Items, p: Items) -> Pairs:
        """The item pairs that make up Σ, owner k against owner k: what the score is the sum of."""
        raise NotImplementedError

    def encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return super().encode(repeated(reference), repeated(predicted), scope)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Items, Items]:
        left, right = items(reference, scope), items(predicted, scope)
        assert isinstance(left, Bag)
        assert isinstance(right, Bag)
        looked_at = self.inner.looks_at()
        if looked_at is not None and looked_at.keys().isdisjoint(ENTRY):
            for data in (reference, predicted):
                if (found := first_mapping(data)) is not None:
                    raise ValueMismatch(f"at {scope}: expected a list, found a mapping {found!r:.60}")
        return self._encode_bags(left, right, scope.items())

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        r, p = self.inner.encode(left.items, right.items, scope)
        return Items(left.offsets, r), Items(right.offsets, p)

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        sums = self.sums(r, p, blocks)
        return Pairs(sums.i, sums.j, sums.total)

    def item_pairs(self, r: Items, p: Items, blocks: Blocks, *, single: bool = False) -> Pairs:
        """The items' pairs, under their owners' blocks; with `single` enough of them for a 1:1 matching of each."""
        pairs = self.inner.pairs_to_match if single and blocks.aligned else self.inner.pairs
        return pairs(r.items, p.items, blocks.at(r.owners, p.owners))

    def _selves(self, column: Items) -> F64:
        if not self.inner.regular:
            return self._solved_selves(column)
        return sum_by_owner(column.offsets, self.inner.selves(column.items))

    def plain_items(self) -> Plain | None:
        """Collections as lists of what is seen in their items, with Σ(x, x), and φ of two items."""
        inner = self.inner.plain()
        if inner is None or not self.inner.regular:
            return None
        items = items_of(bool((self.inner.looks_at() or {}).keys() & set(ENTRY)))

        def seeing(see: Any) -> Any:
            every = inner.every
            if every is not None:
                return lambda value: every(items(value))
            return lambda value: [see(item) for item in items(value)]

        def owning(own: Own) -> Own:
            return lambda seen: sum(map(own, seen))

        owns = (_count, _count) if inner.equality else (owning(inner.own[0]), owning(inner.own[1]))
        return Plain((seeing(inner.see[0]), seeing(inner.see[1])), inner.weigh, owns, equality=inner.equality)

    # What lies below: the items that were matched, and how one speaks of them.

    @property
    def counts_once(self) -> bool:
        """Whether each item counts once, so that the weights of the items add up to Σ."""
        return True

    @property
    def is_leaf(self) -> bool:
        return False

    @property
    def item(self) -> Similarity:
        return self.inner

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        r, p = here.reference, here.predicted
        assert isinstance(r, Items)
        assert isinstance(p, Items)
        if are_all(here.i, r) and are_all(here.j, p):  # the columns that were scored know what was solved
            found = self.matched(r, p)
        else:
            found = self.matched(r.take(here.i), p.take(here.j))
            found = found.renumber(r.item_rows(here.i)[0], p.item_rows(here.j)[0])
        i, j = found.i, found.j
        if here.leftovers:
            more_i, more_j = self._leftovers(r, p, here.i, here.j, i, j)
            i, j = np.concatenate((i, more_i)), np.concatenate((j, more_j))
        level = here.at(self.inner, r.items, p.items)
        homes = here.homes and (here.homes[0][r.owners], here.homes[1][p.owners])
        diagnostic = here.diagnostic or not self.counts_once
        places = (r.places, p.places)
        yield replace(level, path=f"{here.path}[*]", i=i, j=j, diagnostic=diagnostic, homes=homes, places=places)

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        if isinstance(value, Mapping):
            part = (self.inner.looks_at() or {}).get("value")
            if part is None:
                return refusals.refuse(value, path)
            pairs = {key: part.accept(one, f"{path}[*].value", refusals) for key, one in value.items()}
            return {key: one for key, one in pairs.items() if one is not REFUSED}
        if isinstance(value, (str, bytes)) or not isinstance(value, Collection):
            return refusals.refuse(value, path)
        kept = (self.inner.accept(one, f"{path}[*]", refusals) for one in value)
        return [one for one in kept if one is not REFUSED]

    @property
    def void(self) -> Any:
        return []

    def _leftovers(self, r: Items, p: Items, owner_i: I64, owner_j: I64, i: I64, j: I64) -> tuple[I64, I64]:
        """Items without a partner, paired for the sake of a diagnostic."""
        return np.empty(0, np.int64), np.empty(0, np.int64)

    def covering(self, side: int) -> Matching:
        """The matching that the numerator of a side (0 the reference's, 1 the prediction's) is the sum of."""
        return self

    def in_words(self) -> tuple[str, ...]:
        return ("in order",)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return sample_items(self.inner, rng, depth)

    def _change_variables(self, column: Items, owners: I64, change: Change) -> Items:
        return replace(column, items=self.inner.change_variables(column.items, owners[column.owners], change))

    def _solved_selves(self, column: Items) -> F64:
        """Σ(X, X) as a problem of its own, for each row alone."""
        sums = self.sums(column, column, Blocks.diagonal(len(column)))
        out = np.zeros(len(column))
        out[sums.i] = sums.total
        return out


def sample_items(inner: Similarity, rng: Random, depth: int) -> list[Any]:
    """A small random collection, mostly without repetitions."""
    found = [inner.sample(rng, depth + 1) for _ in range(rng.randint(1, 4 if depth == 0 else 3))]
    return list({repr(one): one for one in found}.values()) if rng.random() < 0.9 else found


@frozen
class Constrained(Matching):
    """What every matching has that knows the four constraints."""

    constraint: str = "1:1"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.constraint in CONSTRAINTS,
            f"unknown constraint {self.constraint!r}; expected one of {', '.join(CONSTRAINTS)} "
            f"(prediction : reference)",
        )

    def _arguments(self) -> Iterator[str]:
        own = super()._arguments()
        yield next(own)
        yield self.constraint
        yield from (argument for argument in own if not argument.startswith("constraint="))

    @property
    def regular(self) -> bool:
        # Where one item may be taken by many, Σ(x, y) can pass Σ(x, x).
        return self.constraint == "1:1" and self.inner.regular

    def mirrored(self) -> Constrained:
        return replace(self, inner=self.inner.mirrored(), constraint=turned(self.constraint))


def turned(constraint: str) -> Any:
    """The same constraint with the sides exchanged: constraints read prediction : reference."""
    return {"N:1": "1:N", "1:N": "N:1"}.get(constraint, constraint)


@frozen
class Match(Constrained):
    """Σ, the best total similarity of items matched under a constraint."""

    distinct: bool = False
    literal: bool = False
    name = "match"
    says = "the best total over matched pairs"

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        r, p = super()._encode_bags(left, right, scope)
        return (r.distinct(), p.distinct()) if self.distinct else (r, p)

    @property
    def two_numerators(self) -> bool:
        return self.constraint in ("N:1", "1:N") and not self.literal

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        return self.sums(r, p, blocks)

    @property
    def regular_covered(self) -> bool:
        return self.inner.regular if self.two_numerators else self.regular

    def in_words(self) -> tuple[str, ...]:
        keys = self.inner.key_fields
        keyed = f"keyed by {', '.join(keys)}, " if keys else ""
        return (f"{'set' if self.distinct else 'bag'}, {keyed}matched {self.constraint}",)

    def kernel(self, one_depth: bool = False) -> Kernel:
        inner = self.inner.kernel(one_depth)
        if self.constraint == "N:N":
            return inner.because("Σ~ of a kernel (lemma 3)", kernel=inner.kernel)
        return inner.because(STRONG_SUM, kernel=inner.strong) if self.constraint == "1:1" else UNKNOWN

    def scope_constraints(self) -> Iterator[str]:
        if not self.has_variables:
            yield from super().scope_constraints()
        else:
            self.inner.check_variables("scoped", "object")
            yield self.constraint

    def scope_groups(self, r: Any, p: Any, rows: I64, columns: I64, blocks: Blocks, factor: float) -> Iterator[Any]:
        if not self.has_variables:
            yield from super().scope_groups(r, p, rows, columns, blocks, factor)
            return
        r, p = unshared(r), unshared(p)
        left, right = rows[r.owners], columns[p.owners]
        yield self.inner, r.items, p.items, left, right, blocks.at(left, right), factor

    @property
    def binds_here(self) -> bool:
        return True

    def bound(self) -> Similarity:
        from tallystick.algebra.latent import Latent

        if self.distinct:
            raise MetricError("latent(...) takes collections as bags, not distinct")
        return Latent(self.inner, self.constraint)

    # Scores

    def plain(self) -> Plain | None:
        inner = self.plain_items()
        if inner is None or ((self.distinct or self.constraint == "N:N") and not inner.equality):
            return None
        see, own = inner.see, inner.own
        if self.distinct:
            see = (lambda value: list(dict.fromkeys(inner.see[0](value))),) * 2
        if inner.equality and self.constraint == "N:N":
            own = (lambda seen: float(sum(n * n for n in Counter(seen).values())),) * 2
        solve = partial(_count_plainly, self.constraint) if inner.equality else partial(_solve_plainly, self.constraint)
        weigh = partial(solve, inner.weigh)
        if not self.two_numerators:
            return Plain(see, weigh, own)
        single = partial(_count_plainly if inner.equality else _solve_plainly, "1:1", inner.weigh)

        def both(a: Any, b: Any) -> tuple[float, float]:
            covered, free = single(a, b), weigh(a, b)
            return (covered, free) if self.constraint == "N:1" else (free, covered)

        return Plain(see, weigh, own, both)

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        """Σ for every pair of owners that has one above 0."""
        if self.inner.exact_only:
            return self._two_sided(self._equal_sums(r, p, blocks), r, p, blocks)
        if self.constraint == "1:1" and blocks.aligned:
            return _single(*self._aligned_totals(r, p))
        found = self.item_pairs(r, p, blocks)
        if self.constraint in SINGLE and blocks.aligned and isinstance(found, Grid) and found.roomy:
            cells = _best_cells(found, SINGLE[self.constraint])
            order = _in_order(cells.j if self.constraint == "N:1" else cells.i, len(p.items) + len(r.items))
            owner, total = sum_by_key(r.owners[cells.i[order]], len(r), cells.weight[order])
            return self._two_sided(_single(owner, owner, total), r, p, blocks, found)
        i, j = r.owners[found.i], p.owners[found.j]
        width, bound = len(p), len(r) * len(p)
        groups = i * width + j
        if self.constraint == "N:N":
            keep = _in_order(found.i * len(p.items) + found.j, len(r.items) * len(p.items))
            keys, total = sum_by_key(groups[keep], bound, found.weight[keep])
            return _single(keys // width, keys % width, total)
        if self.constraint == "1:1":
            keep = np.flatnonzero(_assigned(found, groups, bound, len(r.items), len(p.items)))
            keep = keep[_in_order(found.i[keep], len(r.items))]
            keys, total = sum_by_key(groups[keep], bound, found.weight[keep])
            return _single(keys // width, keys % width, total)
        item, count = (found.j, len(p.items)) if self.constraint == "N:1" else (found.i, len(r.items))
        best = best_of_each(groups, bound, item, count, found.weight)
        best = best[_in_order(item[best], count)]
        keys, total = sum_by_key(groups[best], bound, found.weight[best])
        return self._two_sided(_single(keys // width, keys % width, total), r, p, blocks)

    def _two_sided(self, found: Sums, r: Items, p: Items, blocks: Blocks, grid: Grid | None = None) -> Sums:
        """Σ with the numerator of each side; `grid` are the items' pairs, where they are at hand for a 1:1 matching, too."""
        if not self.two_numerators:
            return found
        if grid is not None:
            single = _single(*_total_rectangles(grid, r.owners, len(r)))
        else:
            single = replace(self, constraint="1:1").sums(r, p, blocks)
        covered = look_up(Pairs(single.i, single.j, single.total), found.i, found.j, len(p), len(r))
        of_reference, of_predicted = (covered, found.total) if self.constraint == "N:1" else (found.total, covered)
        return replace(found, reference=of_reference, predicted=of_predicted)

    def _solved(self, r: Items, p: Items) -> tuple[Pairs, I64]:
        """The items' pairs of owner k and owner k, and which of them are in their best 1:1 matching (of a Grid: `Grid.solved` says
        so). It is remembered: the score asks for it, and then the fields, and the other side of a one-sided constraint."""
        memory = r.__dict__.setdefault("_solved", {})
        known = memory.get((self.inner, id(p)))
        if known is None:
            found = self.item_pairs(r, p, Blocks.diagonal(len(r)), single=True)
            keep = np.empty(0, np.int64)
            if not isinstance(found, Grid):
                keep = np.flatnonzero(assign(found.i, found.j, found.weight, len(r.items), len(p.items)))
            known = p, (found, keep)  # with p: an id is only good while it lives
            if r is not p:
                memory[self.inner, id(p)] = known
        return known[1]  # type: ignore[no-any-return]

    def _aligned_totals(self, r: Items, p: Items) -> tuple[I64, I64, F64]:
        """Σ of owner k and owner k, where it is above 0, 1:1."""
        found, keep = self._solved(r, p)
        if isinstance(found, Grid):
            return _total_rectangles(found, r.owners, len(r))
        keep = keep[_in_order(found.i[keep], len(r.items))]
        owner, total = sum_by_key(r.owners[found.i[keep]], len(r), found.weight[keep])
        return owner, owner, total

    def _equal_sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        """Σ over equal items. It is remembered: several metrics over one column, or the two sides of one, ask for it again."""
        memory = r.__dict__.setdefault("_sums", {})
        known = memory.get((self, id(p), blocks.aligned))
        if known and np.array_equal(known[1], blocks.reference) and np.array_equal(known[2], blocks.predicted):
            return known[3]  # type: ignore[no-any-return]
        sums = _single(*self._count_equal(r, p, blocks))
        memory[self, id(p), blocks.aligned] = (
            p,
            blocks.reference,
            blocks.predicted,
            sums,
        )  # with p: an id is only good while it lives
        return sums

    def _count_equal(self, r: Items, p: Items, blocks: Blocks) -> tuple[I64, I64, F64]:
        """Σ over equal items, summed by owners: for each value the smaller multiplicity; under N:1 the predicted one, under 1:N the
        reference's, under N:N their product."""
        refined = self.inner.refine(r.items, p.items, blocks.at(r.owners, p.owners))
        left_keys, left_owners, left_counts = _bags(r, refined.reference, refined.bound)
        same = r is p and (self.constraint != "N:N" or left_counts is None)
        if same and np.array_equal(refined.reference, refined.predicted) and _ascending(left_keys):
            counts = np.diff(r.offsets)  # no value twice: every collection equals itself, and meets no other
            rows = np.flatnonzero(counts)
            return rows, rows, counts[rows].astype(np.float64)
        right_keys, right_owners, right_counts = _bags(p, refined.predicted, refined.bound)
        a, b = join_sorted(left_keys, right_keys)
        i, j = left_owners[a], right_owners[b]
        weights = None
        if left_counts is not None or right_counts is not None:
            ours = 1.0 if left_counts is None else left_counts[a]
            theirs = 1.0 if right_counts is None else right_counts[b]
            weights = np.broadcast_to(COUNTED[self.constraint](ours, theirs), i.shape).astype(np.float64)
        if blocks.aligned:
            total = np.bincount(i, weights=weights, minlength=len(r)).astype(np.float64)
            rows = np.flatnonzero(total)
            return rows, rows, total[rows]
        keys, total = sum_by_key(i * len(p) + j, len(r) * len(p), weights)
        return keys // len(p), keys % len(p), total

    def _selves(self, column: Items) -> F64:
        if self.constraint != "N:N":
            return super()._selves(column)
        items = (
            column.items
        )  # all pairs of one side count, and a value that is not even like itself (a null among texts) is still there
        lacking = np.maximum(self.inner.selves(items) - self.inner.one_to_one_weights(items, items), 0.0)
        return self._solved_selves(column) + np.bincount(column.owners, lacking, minlength=len(column))

    # Alignment

    @property
    def counts_once(self) -> bool:
        return self.constraint == "1:1"

    def covering(self, side: int) -> Match:
        return (
            replace(self, constraint="1:1") if self.two_numerators and self.constraint != ("1:N", "N:1")[side] else self
        )

    def _leftovers(self, r: Items, p: Items, owner_i: I64, owner_j: I64, i: I64, j: I64) -> tuple[I64, I64]:
        """Items without a partner, paired by the sum of their fields: the diagnostic below a product."""
        softened = self.inner.softened
        if softened is None or self.constraint != "1:1":
            return super()._leftovers(r, p, owner_i, owner_j, i, j)
        sides, places = [], []
        for column, owners, taken in ((r, owner_i, i), (p, owner_j, j)):
            free = np.ones(len(column.items), np.bool_)
            free[taken] = False
            rows, counts = column.item_rows(owners)
            group = np.repeat(np.arange(len(owners)), counts)
            keep = free[rows]
            offsets = offsets_of(np.bincount(group[keep], minlength=len(owners)))
            places.append(rows[keep])
            sides.append(Items(offsets, column.items.take(rows[keep])))
        found = Match(softened).matched(sides[0], sides[1])
        return places[0][found.i], places[1][found.j]

    def matched(self, r: Items, p: Items) -> Pairs:
        """The item pairs that make up Σ, owner k against owner k: what the score is the sum of."""
        blocks = Blocks.diagonal(len(r))
        if self.constraint != "N:N" and self.inner.exact_only:
            refined = self.inner.refine(r.items, p.items, blocks.at(r.owners, p.owners)).dense()
            left, right = (rank_within(keys, refined.bound) for keys in (refined.reference, refined.predicted))
            if self.constraint == "N:1":  # every predicted item takes the first of its value
                right = np.zeros_like(right)
            if self.constraint == "1:N":
                left = np.zeros_like(left)
            i, j = refined.refine(left, right, 1 + int(max(left.max(initial=0), right.max(initial=0)))).pairs()
            return Pairs(i, j, np.ones(len(i)))
        if self.constraint == "1:1":
            found, keep = self._solved(r, p)
            return _matched_cells(found, r, p) if isinstance(found, Grid) else _some(found, keep)
        found = self.item_pairs(r, p, blocks)
        if self.constraint == "N:N":
            return found
        if isinstance(found, Grid) and found.roomy:
            return _best_cells(found, SINGLE[self.constraint])
        item, n = (found.j, len(p.items)) if self.constraint == "N:1" else (found.i, len(r.items))
        return _some(found, np.sort(first_best(item, n, found.weight)))


def _count(seen: Any) -> float:
    return float(len(seen))


def _count_plainly(constraint: str, _: Any, a: list[Any], b: list[Any]) -> float:
    """Σ over equal items of two lists."""
    ours, theirs = set(a), set(b)
    common = ours & theirs
    if len(ours) == len(a) and len(theirs) == len(b):
        return float(len(common))
    left, right, counted = Counter(a), Counter(b), COUNTED[constraint]
    return float(sum(int(counted(left[one], right[one])) for one in common))


def _solve_plainly(constraint: str, weigh: Any, a: list[Any], b: list[Any]) -> float:
    """Σ over the items of two lists, from all their pairs."""
    table = table_of(a, b, weigh)
    if constraint == "1:1":
        return one_to_one(table)
    rows: Any = zip(*table, strict=True) if constraint == "N:1" else table
    return sum(max(row, default=0.0) for row in rows)


def _some(pairs: Pairs, keep: I64) -> Pairs:
    return Pairs(pairs.i[keep], pairs.j[keep], pairs.weight[keep])


def _assigned(found: Pairs, groups: I64, bound: int, n_rows: int, n_columns: int) -> Mask:
    """Which item pairs are in the best 1:1 matching of their owners' pair: an item stands in one problem for each partner of its owner."""
    dense, n = number(groups, bound)
    rows, n_rows = number(dense * n_rows + found.i, n * n_rows)
    columns, n_columns = number(dense * n_columns + found.j, n * n_columns)
    return assign(rows, columns, found.weight, n_rows, n_columns)


def _total_rectangles(found: Grid, owners: I64, n: int) -> tuple[I64, I64, F64]:
    """Σ of dense items whose blocks lie inside their owners: each rectangle is one assignment problem.

    An owner has several rectangles where exact fields of a record split its block further.
    """
    first, totals = found.solved.first, found.solved.totals
    order = _in_order(first, len(owners))
    total = weighted_counts(owners[first[order]], totals[order], n)
    owner = np.flatnonzero(total > 0)
    return owner, owner, total[owner]


def _matched_cells(found: Grid, r: Items, p: Items) -> Pairs:
    """The best 1:1 matching of dense items, in the order of all pairs. What `assign` would solve once more as it is, is not solved again."""
    taken, rest = [found.solved.pairs], [Pairs.none()]
    for rows, columns, table, match in found.solved.tables:
        if match is not None and in_one_piece(table):
            a = np.flatnonzero(match >= 0)
            taken.append(Pairs(rows[a], columns[match[a]], table[a, match[a]]).positive())
        else:
            a, b = np.nonzero(table > 0)
            rest.append(Pairs(rows[a], columns[b], table[a, b]))
    left = Pairs.joined(rest)
    chosen = np.flatnonzero(assign(left.i, left.j, left.weight, len(r.items), len(p.items)))
    every = Pairs.joined([*taken, _some(left, chosen)])
    return _some(every, np.argsort(found.frame.cells(every.i, every.j)))


def _best_cells(found: Grid, side: int) -> Pairs:
    """For each item of a side its best pair, the first of several, in the order of all pairs."""
    best = [Pairs.none()]
    for rows, columns, place in found.frame.rectangles():
        table = found.flat[place].reshape(len(rows), len(columns))
        most = table.max(axis=1 - side)
        a, b = np.nonzero((table == (most if side else most[:, None])) & (table > 0))
        first = np.full(len(most), -1, np.int64)
        first[(a, b)[side][::-1]] = np.arange(len(a))[::-1]  # of several the first is written last
        first = np.sort(first[first >= 0])
        best.append(Pairs(rows[a[first]], columns[b[first]], most[(a, b)[side][first]]))
    every = Pairs.joined(best)
    return _some(every, np.argsort(found.frame.cells(every.i, every.j)))


def _in_order(places: I64, bound: int) -> I64:
    """The order of items. Pairs come in the order of their blocks, whose numbers depend on what else is in the batch; a sum
    of floats in that order would, too."""
    ascending = bool(np.all(places[1:] >= places[:-1]))
    return np.arange(len(places), dtype=np.int64) if ascending else sort_order(places, max(1, bound))


def _single(i: I64, j: I64, total: F64) -> Sums:
    return Sums(i, j, total, total, total)


def best_of_each(groups: I64, bound: int, item: I64, count: int, weights: F64) -> I64:
    """For each (group, item) the position of its heaviest pair."""
    dense, n = number(groups, bound)
    return first_best(dense * count + item, n * count, weights)


def _ascending(keys: I64) -> bool:
    """Whether each key is larger than the one before."""
    return bool(np.all(keys[1:] > keys[:-1]))


def _bags(column: Items, keys: I64, bound: int) -> tuple[I64, I64, F64 | None]:
    """The different (key, owner) of a column's items in order of key, and how often each occurs (None: once each).

    They are remembered too: a collection is laid against itself after it was laid against the other side.
    """
    known = column.__dict__.get("_bags")
    if known is None or not np.array_equal(known[0], keys):
        known = column.__dict__["_bags"] = keys, _sorted_bags(keys, column.owners, bound)
    return known[1]


def _sorted_bags(keys: I64, owners: I64, bound: int) -> tuple[I64, I64, F64 | None]:
    """Items stand in the order of their owners and the sort is stable, so inside a key the owners ascend and repeated
    ones are neighbours."""
    order = sort_order(keys, bound)
    keys, owners = keys[order], owners[order]
    again = (keys[1:] == keys[:-1]) & (owners[1:] == owners[:-1])
    if not again.any():
        return keys, owners, None
    starts = np.concatenate(([0], np.flatnonzero(~again) + 1))
    return keys[starts], owners[starts], np.diff(starts, append=len(keys)).astype(np.float64)


def match(inner: Similarity, constraint: str = "1:1", *, distinct: bool = False, literal: bool = False) -> Match:
    """Σ, the best total similarity of items matched one to one, or as `constraint` says (eq. 13).

    Constraints read prediction : reference. `distinct` makes the collections sets instead of bags: of items that agree
    in all that φ looks at, one counts.

    >>> ts.match(ts.exact)(["a", "b", "b"], ["b", "a", "c"])
    2.0
    >>> ts.f1(ts.match(ts.text("levenshtein")))(["Ann Lee", "Oslo"], ["Oslo", "Ann"])
    0.7142857142857143
    """
    return Match(inner, constraint, distinct, literal)

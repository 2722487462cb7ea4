"""The properties that every metric can be asked about.

    Definition 1    φ(x, y) ≤ φ(x, x): nothing is more like x than x (A Unified View, section 2)
    range           every figure lies in [0, 1]
    P1 identity     a structure scores 1 against itself
    P2 symmetry     the score is the same with the sides exchanged, or precision and recall change places
    P3 zero         structures that have nothing in common score 0
    P4, P5          see `curves`
    P and R         recall is 1 only if nothing is missing, precision only if nothing is wrong
    only equals     structures that differ do not score 1
    order           writing a structure in another order changes nothing
    renaming        exchanging all names in one way changes nothing
    duplicates      a structure with a piece twice scores 1 against itself, and no repetition raises a score
    empties         what is empty scores 0 against what is not; two empties do not contradict themselves
    empty document  a document that is empty on both sides changes nothing in a corpus
    optimum         over lists: no other pairing of the items is better by the function's own measure

P1 to P5 are those of "Evaluation for Partial Event Coreference", section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from random import Random
from typing import Any

from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.laboratory.curves import MULTIPLE, WALK_PROPERTIES, Curve, curves_along_walks, sides, walk_property
from tallystick.laboratory.subjects import (
    FAILS,
    FIGURES,
    HOLDS,
    NOT_ASKED,
    SMALL,
    TOLERANCE,
    Answer,
    Failure,
    Finding,
    Laboratory,
    Scored,
    State,
    Subject,
    equal,
    error_in,
    format_score,
    pair,
)


def definition_1(lab: Laboratory) -> Finding:
    """φ(x, y) ≤ φ(x, x)"""
    name = lab.subject.headline

    def ask(states: Sequence[State]) -> list[Answer]:
        both = lab.subject.scores(states)
        selves = lab.subject.scores([(x, x) for x, _ in states])
        out: list[Answer] = []
        for state, one, own in zip(states, both, selves, strict=True):
            score, most = one.at(name), own.at(name)
            if one.excess > TOLERANCE:
                out.append(Failure(f"Σ(P,R) passes a Σ of one side by {one.excess:.4g}", pair(lab, state)))
            elif score is not None and most is not None and score > most + TOLERANCE:
                out.append(
                    Failure(f"φ(x, y) = {format_score(score)} > φ(x, x) = {format_score(most)}", pair(lab, state))
                )
            else:
                out.append(score is not None and most is not None)
        return out

    return lab.experiment("Definition 1", lab.double, ask, SMALL)


def range_(lab: Laboratory) -> Finding:
    """Figures in [0, 1]."""

    def ask(states: Sequence[State]) -> list[Answer]:
        out: list[Answer] = []
        for state, one in zip(states, lab.subject.scores(states), strict=True):
            wanted = {k: v for k, v in one.figures.items() if k in FIGURES or k == lab.subject.headline}
            bad = [
                f"{k} = {v:.4g}" for k, v in wanted.items() if v is not None and not -TOLERANCE <= v <= 1 + TOLERANCE
            ]
            broken = error_in(lab, state, one)
            out.append(Failure(", ".join(bad), pair(lab, state)) if bad else broken or True)
        return out

    return lab.experiment("range", lab.double, ask, SMALL)


def p1_identity(lab: Laboratory) -> Finding:
    """sim(x, x) = 1"""

    def ask(states: Sequence[State]) -> list[Answer]:
        out: list[Answer] = []
        nothing = lab.subject.space.empty()
        for state, one in zip(states, lab.subject.scores([(x, x) for (x,) in states]), strict=True):
            if nothing is not None and lab.subject.space.same(state[0], nothing):
                out.append(False)  # that is asked under `empties`
            else:
                out.append(_not_one(lab, state, one) or one.at(lab.subject.headline) is not None)
        return out

    return lab.experiment("P1 identity", lab.single, ask, SMALL)


def _not_one(lab: Laboratory, state: State, one: Scored) -> Failure | None:
    wanted = {k: v for k, v in one.figures.items() if k in FIGURES or k == lab.subject.headline}
    bad = [f"{k} = {v:.4g}" for k, v in wanted.items() if v is not None and abs(v - 1) > TOLERANCE]
    if bad:
        return Failure(f"against itself {', '.join(bad)}", pair(lab, state))
    return error_in(lab, state, one)


def p2_symmetry(lab: Laboratory) -> Finding:
    """sim(x, y) = sim(y, x), or precision and recall change places."""
    swaps = True

    def ask(states: Sequence[State]) -> list[Answer]:
        nonlocal swaps
        there = lab.subject.scores(states)
        back = lab.subject.scores([(y, x) for x, y in states])
        out: list[Answer] = []
        for state, one, other in zip(states, there, back, strict=True):
            if one.error or other.error:
                out.append(False)
                continue
            name = lab.subject.headline
            turned = {"precision": "recall", "recall": "precision"}.get(name, name)
            pairs = [(one.at("precision"), other.at("recall")), (one.at("recall"), other.at("precision"))]
            swaps = swaps and all(equal(*pair) for pair in pairs)
            a, b = one.at(name), other.at(turned)
            out.append(
                equal(a, b)
                or Failure(f"{format_score(a)}, and {format_score(b)} with the sides exchanged", pair(lab, state))
            )
        return out

    found = lab.experiment("P2 symmetry", lab.double, ask, SMALL)
    if found.verdict == HOLDS and swaps:
        return Finding(found.name, HOLDS, f"{found.detail}; precision and recall change places")
    return found


def p3_zero(lab: Laboratory) -> Finding:
    """sim(x, y) = 0 if they are totally different."""
    space = lab.subject.space

    def ask(states: Sequence[State]) -> list[Answer]:
        cases = [(k, what, other) for k, (x,) in enumerate(states) for what, other in space.different(x, Random(0))]
        scores = lab.subject.scores([(states[k][0], other) for k, _, other in cases])
        out: list[Answer] = [False] * len(states)
        for (k, what, other), one in zip(cases, scores, strict=True):
            score = one.at(lab.subject.headline)
            if isinstance(out[k], Failure) or score is None:
                continue
            bad = abs(score) > TOLERANCE
            out[k] = Failure(f"{format_score(score)} ({what})", pair(lab, (states[k][0], other))) if bad else True
        return out

    return lab.experiment("P3 zero", lab.single, ask, (2, 3, 4))


def only_equals(lab: Laboratory) -> Finding:
    """Structures that differ do not score 1."""
    space = lab.subject.space

    def ask(states: Sequence[State]) -> list[Answer]:
        out: list[Answer] = []
        for state, one in zip(states, lab.subject.scores(states), strict=True):
            score = one.at(lab.subject.headline)
            if score is None or space.same(*state):
                out.append(False)
            else:
                out.append(Failure("they differ, and score 1", pair(lab, state)) if score >= 1 - TOLERANCE else True)
        return out

    def make(size: int, rng: Random) -> State:
        reference, response = lab.double(size, rng)
        simpler = list(space.simpler(reference))
        return reference, rng.choice(simpler) if simpler and rng.random() < 0.5 else response

    return lab.experiment("only equals", make, ask, (1, 1, 2, 2, 3, 3, 4, 4))


def order(lab: Laboratory) -> Finding:
    """Another order of writing changes nothing."""
    space = lab.subject.space

    def moved(state: State) -> State:
        rng = Random(1)
        return tuple(space.shuffled(one, rng) for one in state)

    return _unchanged(lab, "order", moved, "in another order")


def renaming(lab: Laboratory) -> Finding:
    """Exchanging names changes nothing."""
    return _unchanged(lab, "renaming", lambda state: tuple(lab.subject.space.renamed(state, Random(1))), "renamed")


def _unchanged(lab: Laboratory, name: str, change: Callable[[State], State], what: str) -> Finding:
    def ask(states: Sequence[State]) -> list[Answer]:
        moved = [change(state) for state in states]
        before, after = lab.subject.scores(states), lab.subject.scores(moved)
        out: list[Answer] = []
        for state, other, a, b in zip(states, moved, before, after, strict=True):
            x, y = a.at(lab.subject.headline), b.at(lab.subject.headline)
            if state == other or a.error or b.error:
                out.append(False)
            elif equal(x, y):
                out.append(True)
            else:
                more = {f"reference_{what.split()[-1]}": other[0], f"predicted_{what.split()[-1]}": other[1]}
                out.append(Failure(f"{format_score(x)}, and {format_score(y)} {what}", pair(lab, state, **more)))
        return out

    return lab.experiment(name, lab.double, ask, SMALL)


def duplicates(lab: Laboratory) -> Finding:
    """A piece that stands twice."""
    space, name = lab.subject.space, lab.subject.headline
    costs: list[bool] = []

    def ask(states: Sequence[State]) -> list[Answer]:
        doubled = [space.repeated(x, Random(0)) for (x,) in states]
        rows = [k for k, one in enumerate(doubled) if one is not None]
        selves = lab.subject.scores([(doubled[k], doubled[k]) for k in rows])
        plain = lab.subject.scores([(states[k][0], states[k][0]) for k in rows])
        paid = lab.subject.scores([(states[k][0], doubled[k]) for k in rows])
        out: list[Answer] = [False] * len(states)
        for k, own, one, twice in zip(rows, selves, plain, paid, strict=True):
            first, second = one.at(name), twice.at(name)
            failure = _not_one(lab, (doubled[k],), own)
            if failure is None and first is not None and second is not None:
                costs.append(second < first - TOLERANCE)
                if second > first + TOLERANCE:
                    text = f"a piece predicted twice raises {format_score(first)} to {format_score(second)}"
                    failure = Failure(text, pair(lab, (states[k][0], doubled[k])))
            out[k] = failure or True
        return out

    found = lab.experiment("duplicates", lab.single, ask, (2, 3))
    if found.verdict != HOLDS:
        return found
    return Finding(found.name, HOLDS, f"a piece predicted twice {'costs' if any(costs) else 'costs nothing'}")


def empties(lab: Laboratory) -> Finding:
    """The empty structure against itself and against others."""
    space, name = lab.subject.space, lab.subject.headline
    nothing = space.empty()
    if nothing is None:
        return Finding("empties", NOT_ASKED, "no empty structure")
    something = next(x for seed in range(50) if not space.same(x := space.random(Random(seed), 2), nothing))
    both, missed, spurious = lab.subject.scores([(nothing, nothing), (something, nothing), (nothing, something)])
    detail = f"∅ against ∅ {format_score(both.at(name))}, x against ∅ {format_score(missed.at(name))}, ∅ against x {format_score(spurious.at(name))}"
    for state, one in (((nothing, nothing), both), ((something, nothing), missed), ((nothing, something), spurious)):
        broken = error_in(lab, state, one)
        if broken:
            return Finding("empties", FAILS, broken.text, broken.shown)
        score = one.at(name)
        if state[0] is not state[1] and score is not None and score > TOLERANCE:
            return Finding("empties", FAILS, f"an empty side scores {format_score(score)}", pair(lab, state))
    known = {k: v for k, v in both.figures.items() if v is not None and (k in FIGURES or k == name)}
    if len({round(v, 9) for v in known.values()}) > 1:
        contradiction = ", ".join(f"{k} = {v:.4g}" for k, v in known.items())
        return Finding(
            "empties", FAILS, f"∅ against ∅ contradicts itself: {contradiction}", pair(lab, (nothing, nothing))
        )
    return Finding("empties", HOLDS, detail)


def empty_document(lab: Laboratory) -> Finding:
    """A document that is empty on both sides is neutral."""
    nothing = lab.subject.space.empty()
    if nothing is None or lab.subject.corpus is None:
        return Finding("empty document", NOT_ASKED, "no empty structure, or no corpus")

    def ask(states: Sequence[State]) -> list[Answer]:
        out: list[Answer] = []
        for k, (x, y) in enumerate(states):
            if k >= 8:  # a corpus at a time: enough is enough
                out.append(False)
                continue
            alone, beside = lab.subject.together([(x, y)]), lab.subject.together([(x, y), (nothing, nothing)])
            assert alone is not None
            assert beside is not None
            a, b = alone.at(lab.subject.headline), beside.at(lab.subject.headline)
            bad = f"{format_score(a)}, and {format_score(b)} with an empty document beside it"
            out.append(equal(a, b) or Failure(bad, pair(lab, (x, y))))
        return out

    return lab.experiment("empty document", lab.double, ask, (1, 2))


# Whether a matching is the best one: no other pairing of the items scores more.


def optimum(lab: Laboratory) -> Finding:
    """Over lists: is there a better pairing by the function's own measure?

    Two probes. If each item alone scores 1 with its partner, so must the whole. And where the function takes mappings
    too, items under common keys are a pairing that it is made to use: no permutation may score more than the list.
    """
    if not lab.subject.listed:
        return Finding("optimum", NOT_ASKED, "not a function over lists")
    space, measure, name = lab.subject.space, lab.subject.measure, lab.subject.headline

    def built(items: Sequence[Any]) -> list[Any]:
        return list(space.build(list(items)))

    def keyed(items: Sequence[Any]) -> dict[str, Any]:
        return {str(k): one for k, one in enumerate(built(items))}

    rng = Random(0)
    pool = list({repr(one): one for _ in range(60) for one in space.random(rng, 1)}.values())[:8]
    own = {
        (i, j): measure([(built([a]), built([b]))])[0].at(name) for i, a in enumerate(pool) for j, b in enumerate(pool)
    }
    # A function that takes a mapping for something else is no help: single items must score what they score in a list.
    asked = [(i, j) for i in range(min(3, len(pool))) for j in range(min(3, len(pool)))]
    takes_keys = all(
        not (found := measure([(keyed([pool[i]]), keyed([pool[j]]))])[0]).error and equal(found.at(name), own[i, j])
        for i, j in asked
    )

    def one(x: Any, y: Any) -> Answer:
        if len(x) != len(y) or not 1 < len(x) < 5:
            return False
        score = measure([(built(x), built(y))])[0].at(name)
        if score is None or score >= 1 - TOLERANCE:
            return score is not None
        alone = [[measure([(built([a]), built([b]))])[0].at(name) for b in y] for a in x]
        for order_ in permutations(range(len(x))):
            if all((alone[k][j] or 0.0) >= 1 - TOLERANCE for k, j in enumerate(order_)):
                pairing = [y[j] for j in order_]
                text = f"scores {format_score(score)}, although each item alone scores 1 with a partner of its own"
                return Failure(text, pair(lab, (x, y), partners=pairing))
            if takes_keys:
                better = measure([(keyed(x), keyed([y[j] for j in order_]))])[0].at(name)
                if better is not None and better > score + TOLERANCE:
                    text = f"scores {format_score(score)}, and {format_score(better)} when told the pairing by keys"
                    return Failure(text, pair(lab, (x, y), partners=[y[j] for j in order_]))
        return True

    def right(i: int, j: int) -> bool:
        return (own[i, j] or 0.0) >= 1 - TOLERANCE

    # All pairs of two items out of the pool in which both have a partner of their own, not all of them themselves.
    two = list(permutations(range(len(pool)), 2))
    tempting = [
        ([pool[i], pool[k]], [pool[j], pool[m]])
        for i, k in two
        for j, m in two
        if i < k and right(i, j) and right(k, m) and (i, k) != (j, m)
    ]
    for k, state in enumerate(tempting):
        answer = one(*state)
        if isinstance(answer, Failure):
            answer = lab.shrunk(tempting[k], answer, lambda states: [one(x, y) for x, y in states])
            return Finding("optimum", FAILS, answer.text, answer.shown)

    def make(size: int, rng: Random) -> State:
        return space.random(rng, size), space.random(rng, size)

    return lab.experiment("optimum", make, lambda states: [one(x, y) for x, y in states], (2, 2, 3, 3))


ALL: dict[str, Callable[[Laboratory], Finding]] = {
    "Definition 1": definition_1, "range": range_, "P1 identity": p1_identity, "P2 symmetry": p2_symmetry, "P3 zero": p3_zero,
    "P and R": sides, "only equals": only_equals, "order": order, "renaming": renaming, "duplicates": duplicates,
    "empties": empties, "empty document": empty_document, "optimum": optimum,
}  # fmt: skip


# `check`: every property of one subject, and its curves.


@frozen
class Report:
    """What was found about a metric."""

    subject: str
    headline: str
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]

    @property
    def failures(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.fails)

    def __getitem__(self, name: str) -> Finding:
        """A finding by the beginning of its name: `report["P1"]`."""
        for finding in self.findings:
            if finding.name.startswith(name):
                return finding
        raise KeyError(name)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.subject,
            "figure": self.headline,
            "properties": {
                f.name: {
                    "verdict": f.verdict,
                    "detail": f.detail,
                    "counterexample": {label: repr(value) for label, value in f.counterexample},
                }
                for f in self.findings
            },
            "curves": [
                {"walk": c.name, "order": c.order, "scores": c.scores, "smallest": c.smallest, "largest": c.largest,
                 "deviation": c.deviation}
                for c in self.curves
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        from tallystick.laboratory.curves import report_text

        return report_text(self)


def check(
    subject: Subject,
    *,
    samples: int = 20,
    seed: int = 0,
    multiple: float = MULTIPLE,
    structure: Any = None,
    only: Sequence[str] = (),
    size: int = 12,
) -> Report:
    """Put a metric to every property, or `only` to those whose names begin like that.

    P4 and P5 are asked of random references, or of `structure` (in the form of the subject's space) if it is given, whose
    curves are kept too. `samples` is the number of cases of each size; the same `seed` gives the same cases.
    """
    lab = Laboratory(subject, samples, seed)
    asked: list[tuple[str, Callable[[], Finding]]] = [(name, partial(ask, lab)) for name, ask in ALL.items()]
    asked[5:5] = [(name, partial(walk_property, lab, name, structure, multiple)) for name in WALK_PROPERTIES]
    findings = [ask() for name, ask in asked if not only or name.startswith(tuple(only))]
    if not findings:
        names = [name for name, _ in asked]
        raise MetricError(f"no property {only[0]!r}; there are {', '.join(names)}.{did_you_mean(only[0], names)}")
    reference = structure if structure is not None else subject.space.random(Random(seed), size)
    curves = tuple(found[0] for _, found in curves_along_walks(lab, [reference], multiple)[0] if found[0] is not None)
    return Report(subject.name, subject.headline, tuple(findings), curves)

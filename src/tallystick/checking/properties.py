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
from itertools import permutations
from random import Random
from typing import Any

from tallystick.checking.curves import MULTIPLE, TOLERANCE, Curve, curve
from tallystick.checking.experiments import FAILS, HOLDS, NOT_ASKED, Answer, Failure, Finding, Laboratory, State
from tallystick.checking.spaces import Walk
from tallystick.checking.subjects import Scored

SMALL = (1, 2, 3, 4)
WALKED = (2, 3, 4, 5, 6, 8)
FIGURES = ("precision", "recall", "f1", "score", "overall", "overall_score", "jaccard", "accuracy")
"""Figures that are 1 where everything is right, whatever else a function gives."""


def shown(value: float | None) -> str:
    """A score in words."""
    return "undefined" if value is None else f"{value:.4g}"


def _pair(lab: Laboratory, state: State, **more: Any) -> tuple[tuple[str, Any], ...]:
    names = ("reference", "predicted")
    built = [(name, lab.subject.space.build(one)) for name, one in zip(names, state, strict=False)]
    return (*built, *((name.replace("_", " "), lab.subject.space.build(one)) for name, one in more.items()))


def _broken(lab: Laboratory, state: State, *scored: Scored) -> Failure | None:
    error = next((one.error for one in scored if one.error), "")
    return Failure(f"raises {error}", _pair(lab, state)) if error else None


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
                out.append(Failure(f"Σ(P,R) passes a Σ of one side by {one.excess:.4g}", _pair(lab, state)))
            elif score is not None and most is not None and score > most + TOLERANCE:
                out.append(Failure(f"φ(x, y) = {shown(score)} > φ(x, x) = {shown(most)}", _pair(lab, state)))
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
            broken = _broken(lab, state, one)
            out.append(Failure(", ".join(bad), _pair(lab, state)) if bad else broken or True)
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
        return Failure(f"against itself {', '.join(bad)}", _pair(lab, state))
    return _broken(lab, state, one)


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
            swaps = swaps and all(_equal(*pair) for pair in pairs)
            a, b = one.at(name), other.at(turned)
            out.append(
                _equal(a, b) or Failure(f"{shown(a)}, and {shown(b)} with the sides exchanged", _pair(lab, state))
            )
        return out

    found = lab.experiment("P2 symmetry", lab.double, ask, SMALL)
    if found.verdict == HOLDS and swaps:
        return Finding(found.name, HOLDS, f"{found.detail}; precision and recall change places")
    return found


def _equal(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= TOLERANCE


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
            out[k] = Failure(f"{shown(score)} ({what})", _pair(lab, (states[k][0], other))) if bad else True
        return out

    return lab.experiment("P3 zero", lab.single, ask, (2, 3, 4))


def walked(
    lab: Laboratory, references: Sequence[Any], multiple: float = MULTIPLE, figures: Sequence[str] = ()
) -> list[list[tuple[Walk, list[Curve | None]]]]:
    """For each reference its walks, and for each of them a curve for every figure; all are scored in one go."""
    figures = figures or (lab.subject.headline,)
    walks = [lab.subject.space.walks(reference, Random(0)) for reference in references]
    pairs = [(x, y) for x, mine in zip(references, walks, strict=True) for walk in mine for y in walk.responses]
    scores = iter(lab.subject.scores(pairs))
    out = []
    for mine in walks:
        found = []
        for walk in mine:
            here = [next(scores) for _ in walk.responses]
            curves = [
                curve(walk.name, walk.order, [one.at(figure) for one in here], walk.rising, multiple)
                for figure in figures
            ]
            found.append((walk, curves))
        out.append(found)
    return out


WALK_PROPERTIES = {
    "P4 monotone (a)": (0, "backward"),
    "P4 monotone (b)": (1, "backward"),
    "P5 linear (a)": (0, "uneven"),
    "P5 linear (b)": (1, "uneven"),
}


def walk_property(lab: Laboratory, name: str, structure: Any = None, multiple: float = MULTIPLE) -> Finding:
    """Monotonicity or linearity along (a) or (b): of one structure, or of many."""
    number, which = WALK_PROPERTIES[name]
    ask = _walk_asker(lab, number, which, multiple)
    if structure is None:
        return lab.experiment(name, lab.single, ask, WALKED)
    curves = walked(lab, [structure], multiple)[0]
    found = curves[number][1][0] if number < len(curves) else None
    if found is None:
        return Finding(name, NOT_ASKED, "the score is undefined on the way")
    answer = ask([(structure,)])[0]
    if isinstance(answer, Failure):
        return Finding(name, FAILS, f"{answer.text}; {found.said()}")
    return Finding(name, HOLDS, found.said())


def _walk_asker(lab: Laboratory, number: int, which: str, multiple: float) -> Callable[[Sequence[State]], list[Answer]]:
    """Asks about walk (a) or (b) of references that score 1 against themselves; the others are P1's."""

    def one(reference: Any, walk: Walk, found: Curve | None) -> Answer:
        if found is None or abs(found.scores[-1 if walk.rising else 0] - 1) > TOLERANCE:
            return False
        places = found.backward if which == "backward" else found.uneven
        if not places:
            return True
        k = places[0]
        start = len(walk.responses) - len(found.scores)
        done = "correct" if walk.rising else "wrong"
        text = f"a {done} piece takes {lab.subject.headline} from {found.scores[k]:.4f} to {found.scores[k + 1]:.4f}"
        if which == "uneven" and found.steps[k] > TOLERANCE:
            text = f"a step of {found.steps[k]:.4f} beside {_beside(found, k):.4f}"
        responses = {"before": walk.responses[start + k], "after": walk.responses[start + k + 1]}
        return Failure(text, _pair(lab, (reference,), **responses))

    def ask(states: Sequence[State]) -> list[Answer]:
        references = [reference for (reference,) in states]
        found = walked(lab, references, multiple)
        return [
            one(reference, mine[number][0], mine[number][1][0]) if number < len(mine) else False
            for reference, mine in zip(references, found, strict=True)
        ]

    return ask


def sides(lab: Laboratory) -> Finding:
    """Recall is 1 only if nothing is missing, precision only if nothing is wrong: along the walks."""

    def one(reference: Any, mine: Sequence[tuple[Walk, list[Curve | None]]]) -> Answer:
        asked = False
        for (walk, curves), figure, done in zip(mine, ("recall", "precision"), ("missing", "wrong"), strict=False):
            found = curves[("recall", "precision").index(figure)]
            if found is None or abs(found.scores[-1 if walk.rising else 0] - 1) > TOLERANCE:
                continue
            asked = True
            others = found.scores[:-1] if walk.rising else found.scores[1:]
            full = [k for k, score in enumerate(others) if score >= 1 - TOLERANCE]
            if full:
                start = len(walk.responses) - len(found.scores) + (0 if walk.rising else 1)
                response = walk.responses[start + full[0]]
                return Failure(f"{figure} is 1, and something is {done}", _pair(lab, (reference, response)))
        return asked

    def ask(states: Sequence[State]) -> list[Answer]:
        references = [reference for (reference,) in states]
        found = walked(lab, references, figures=("recall", "precision"))
        return [one(reference, mine) for reference, mine in zip(references, found, strict=True)]

    return lab.experiment("P and R", lab.single, ask, (2, 3, 4))


def _beside(found: Curve, k: int) -> float:
    steps = found.steps
    return min(steps[j] for j in (k - 1, k + 1) if 0 <= j < len(steps) and steps[j] > TOLERANCE)


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
                out.append(Failure("they differ, and score 1", _pair(lab, state)) if score >= 1 - TOLERANCE else True)
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
            elif _equal(x, y):
                out.append(True)
            else:
                more = {f"reference_{what.split()[-1]}": other[0], f"predicted_{what.split()[-1]}": other[1]}
                out.append(Failure(f"{shown(x)}, and {shown(y)} {what}", _pair(lab, state, **more)))
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
                    text = f"a piece predicted twice raises {shown(first)} to {shown(second)}"
                    failure = Failure(text, _pair(lab, (states[k][0], doubled[k])))
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
    detail = f"∅ against ∅ {shown(both.at(name))}, x against ∅ {shown(missed.at(name))}, ∅ against x {shown(spurious.at(name))}"
    for state, one in (((nothing, nothing), both), ((something, nothing), missed), ((nothing, something), spurious)):
        broken = _broken(lab, state, one)
        if broken:
            return Finding("empties", FAILS, broken.text, broken.shown)
        score = one.at(name)
        if state[0] is not state[1] and score is not None and score > TOLERANCE:
            return Finding("empties", FAILS, f"an empty side scores {shown(score)}", _pair(lab, state))
    known = {k: v for k, v in both.figures.items() if v is not None and (k in FIGURES or k == name)}
    if len({round(v, 9) for v in known.values()}) > 1:
        contradiction = ", ".join(f"{k} = {v:.4g}" for k, v in known.items())
        return Finding(
            "empties", FAILS, f"∅ against ∅ contradicts itself: {contradiction}", _pair(lab, (nothing, nothing))
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
            bad = f"{shown(a)}, and {shown(b)} with an empty document beside it"
            out.append(_equal(a, b) or Failure(bad, _pair(lab, (x, y))))
        return out

    return lab.experiment("empty document", lab.double, ask, (1, 2))


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
        not (found := measure([(keyed([pool[i]]), keyed([pool[j]]))])[0]).error and _equal(found.at(name), own[i, j])
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
                text = f"scores {shown(score)}, although each item alone scores 1 with a partner of its own"
                return Failure(text, _pair(lab, (x, y), partners=pairing))
            if takes_keys:
                better = measure([(keyed(x), keyed([y[j] for j in order_]))])[0].at(name)
                if better is not None and better > score + TOLERANCE:
                    text = f"scores {shown(score)}, and {shown(better)} when told the pairing by keys"
                    return Failure(text, _pair(lab, (x, y), partners=[y[j] for j in order_]))
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

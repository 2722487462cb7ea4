"""Properties along walks: from nothing to the reference, and from the reference to all wrong (P4, P5, precision and recall)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tallystick.laboratory.answers import WALKED, pair
from tallystick.laboratory.curves import MULTIPLE, TOLERANCE, Curve, curve
from tallystick.laboratory.experiments import FAILS, HOLDS, NOT_ASKED, Answer, Failure, Finding, Laboratory, State
from tallystick.laboratory.spaces import Walk


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
        return Failure(text, pair(lab, (reference,), **responses))

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
                return Failure(f"{figure} is 1, and something is {done}", pair(lab, (reference, response)))
        return asked

    def ask(states: Sequence[State]) -> list[Answer]:
        references = [reference for (reference,) in states]
        found = walked(lab, references, figures=("recall", "precision"))
        return [one(reference, mine) for reference, mine in zip(references, found, strict=True)]

    return lab.experiment("P and R", lab.single, ask, (2, 3, 4))


def _beside(found: Curve, k: int) -> float:
    steps = found.steps
    return min(steps[j] for j in (k - 1, k + 1) if 0 <= j < len(steps) and steps[j] > TOLERANCE)

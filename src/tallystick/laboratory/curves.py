"""Curves: the score along a walk, and what P4 and P5 make of it.

    P4, monotonicity    every correct piece raises the score, every wrong one lowers it: no step is 0 or backwards
    P5, linearity       steps are even: none is 0, and none is `multiple` times the step next to it, or more

The deviation from the straight line is printed and does not decide: a curve may bend evenly. F1 itself bends, by
(2 + n) / n from its first step of n to its second: 1.5 for four pieces. So only walks of four steps or more are judged
by P5, and the multiple is 2 unless asked otherwise.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tallystick.errors import TallystickError
from tallystick.files.writing import write_atomically
from tallystick.frozen import frozen
from tallystick.laboratory.spaces import Walk
from tallystick.laboratory.subjects import (
    FAILS,
    HOLDS,
    NOT_ASKED,
    TOLERANCE,
    WALKED,
    Answer,
    Failure,
    Finding,
    Laboratory,
    State,
    pair,
)
from tallystick.show.pictures import SUFFIXES, Picture, draw_panels
from tallystick.show.tables import Table, to_html, to_text

if TYPE_CHECKING:
    from tallystick.laboratory.properties import Report
    from tallystick.laboratory.subjects import Finding


MULTIPLE = 2.0
FEWEST = 4


@frozen
class Curve:
    """The scores along a walk."""

    name: str
    order: str
    scores: tuple[float, ...]
    rising: bool
    multiple: float = MULTIPLE

    @property
    def steps(self) -> list[float]:
        """What each edit changed, counted in the direction of the walk."""
        sign = 1 if self.rising else -1
        return [sign * (after - before) for before, after in zip(self.scores, self.scores[1:], strict=False)]

    @property
    def smallest(self) -> float:
        return min(self.steps)

    @property
    def largest(self) -> float:
        return max(self.steps)

    @property
    def ratio(self) -> float:
        """The largest step over the smallest; infinite where that is 0."""
        return self.largest / self.smallest if self.smallest > TOLERANCE else float("inf")

    @property
    def deviation(self) -> float:
        """The largest distance from the straight line between the ends."""
        first, last, n = self.scores[0], self.scores[-1], max(1, len(self.scores) - 1)
        return max(abs(score - (first + (last - first) * k / n)) for k, score in enumerate(self.scores))

    @property
    def backward(self) -> list[int]:
        """The edits after which the score is no better (or, in a falling walk, no worse)."""
        return [k for k, step in enumerate(self.steps) if step <= TOLERANCE]

    @property
    def uneven(self) -> list[int]:
        """The edits whose step is 0, or too large beside its neighbour."""
        steps = self.steps
        if len(steps) < FEWEST:
            return []
        out = []
        for k, step in enumerate(steps):
            beside = [steps[j] for j in (k - 1, k + 1) if 0 <= j < len(steps)]
            if step <= TOLERANCE or any(
                step >= self.multiple * other - TOLERANCE for other in beside if other > TOLERANCE
            ):
                out.append(k)
        return out

    def describe(self) -> str:
        """The steps in words."""
        ratio = "" if self.ratio == float("inf") else f" ({self.ratio:.3g} times)"
        zeros = sum(abs(step) <= TOLERANCE for step in self.steps)
        none = f", {zeros} of them 0" if zeros else ""
        return (
            f"{len(self.steps)} steps of {self.smallest:.4f} to {self.largest:.4f}{ratio}{none}, "
            f"{self.deviation:.3f} off the straight line"
        )


def curve(
    name: str, order: str, scores: Sequence[float | None], rising: bool, multiple: float = MULTIPLE
) -> Curve | None:
    """The curve of a walk; where it is undefined at the worst end that is left out, elsewhere there is no curve."""
    known = list(scores)
    while rising and known and known[0] is None:
        known.pop(0)
    if len(known) < 2 or any(score is None for score in known):
        return None
    return Curve(name, order, tuple(float(score) for score in known if score is not None), rising, multiple)


# Properties along walks: from nothing to the reference, and from the reference to all wrong (P4, P5, precision and recall).


def curves_along_walks(
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
    curves = curves_along_walks(lab, [structure], multiple)[0]
    found = curves[number][1][0] if number < len(curves) else None
    if found is None:
        return Finding(name, NOT_ASKED, "the score is undefined on the way")
    answer = ask([(structure,)])[0]
    if isinstance(answer, Failure):
        return Finding(name, FAILS, f"{answer.text}; {found.describe()}")
    return Finding(name, HOLDS, found.describe())


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
        found = curves_along_walks(lab, references, multiple)
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
        found = curves_along_walks(lab, references, figures=("recall", "precision"))
        return [one(reference, mine) for reference, mine in zip(references, found, strict=True)]

    return lab.experiment("P and R", lab.single, ask, (2, 3, 4))


def _beside(found: Curve, k: int) -> float:
    steps = found.steps
    return min(steps[j] for j in (k - 1, k + 1) if 0 <= j < len(steps) and steps[j] > TOLERANCE)


# What the laboratory found: a table for each metric, one table for many, and the numbers of curves.

MARKS = {"holds": "yes", "fails": "NO", "-": "-"}


def report_table(report: Report) -> Table:
    """A row for each property, with the smallest counterexample."""
    rows = [[f.name, f.verdict, f.detail, counterexample(f)] for f in report.findings]
    return Table(
        ["property", "verdict", "found", "smallest counterexample"], rows, title=f"{report.subject} ({report.headline})"
    )


def counterexample(finding: Finding, width: int = 160) -> str:
    """The structures of a failure in one line."""
    text = "; ".join(f"{label} {value!r}" for label, value in finding.counterexample)
    return text if len(text) <= width else text[: width - 1] + "…"


def overview_table(reports: Sequence[Report]) -> Table:
    """A row for each metric, a column for each property."""
    names = [finding.name for finding in reports[0].findings]
    rows = [[report.subject, *(MARKS[report[name].verdict] for name in names)] for report in reports]
    return Table(["metric", *names], rows)


def curves_table(reports: Sequence[Report]) -> Table:
    """A row for each curve: its ends, its steps and how far it is from straight."""
    rows = [
        [report.subject, c.name, c.scores[0], c.scores[-1], len(c.steps), c.smallest, c.largest, c.deviation, len(c.backward), len(c.uneven)]
        for report in reports
        for c in report.curves
    ]  # fmt: skip
    return Table(
        ["metric", "walk", "from", "to", "steps", "smallest", "largest", "off the line", "not monotone", "uneven"], rows
    )


def report_text(report: Report) -> str:
    """A report for a person."""
    return to_text(report_table(report), width=200)


# Curves as in Figure 4: the scores of several metrics along the same walks, one panel a walk.


def draw_curves(reports: Sequence[Report], path: str | Path) -> None:
    """Write the picture; the suffix says how: SVG, PNG, PDF, or an HTML page with the picture and all findings."""
    target = Path(path)
    if target.suffix not in (*SUFFIXES, ".html"):
        raise TallystickError(f"{target}: expected a name that ends with {', '.join((*SUFFIXES, '.html'))}")
    if target.suffix == ".html":
        write_atomically(target, checks_page(reports))
    else:
        _picture(reports).save(target)


def _picture(reports: Sequence[Report]) -> Picture:
    """A panel for each walk: several kinds of structures have walks of other names."""
    panels: dict[str, list[tuple[str, Sequence[float]]]] = {}
    for report in reports:
        for curve in report.curves:
            panels.setdefault(curve.name, []).append((report.subject, curve.scores))
    return draw_panels(panels, "edits", "score")


def checks_page(reports: Sequence[Report]) -> str:
    """One self-contained page: the picture, the table of all properties, the curves' numbers, every counterexample."""
    failures = []
    for report in reports:
        items = "".join(
            f"<li><b>{html.escape(f.name)}</b>: {html.escape(f.detail)}<br><code>{html.escape(counterexample(f, 600))}</code></li>"
            for f in report.failures
        )
        failures.append(f"<h3>{html.escape(report.subject)}</h3><ul>{items or '<li>nothing fails</li>'}</ul>")
    style = (
        "body{font-family:sans-serif;max-width:75em;margin:2em auto;padding:0 1em}table{border-collapse:collapse;font-size:.85em}"
        "td,th{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:left}svg{max-width:100%;height:auto}code{font-size:.85em}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>tallystick check</title><style>{style}</style>'
        f"<h1>tallystick check</h1>{_picture(reports)._repr_svg_()}<h2>Curves</h2>{to_html(curves_table(reports))}"
        f"<h2>Properties</h2>{to_html(overview_table(reports))}<h2>What fails</h2>{''.join(failures)}</html>\n"
    )

"""The tables of a result: figures, documents, labels, fields; and the tree of an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tallystick.columns.unfit import Invalid
from tallystick.errors import counted
from tallystick.reports.tables import Table, quantity
from tallystick.scoring.tally import Labelled

if TYPE_CHECKING:
    from tallystick.scoring.explanation import Explanation
    from tallystick.scoring.figures import Figures
    from tallystick.scoring.result import Result


def figures_table(results: Mapping[str, Result], *, macro: bool = False, truncated: bool = False) -> Table:
    """A row for each metric: its figures, and how they came about; `truncated` as the reference scorer prints them."""
    names = list(dict.fromkeys(name for result in results.values() for name in result.figures))

    def cells(figures: Figures, result: Result) -> list[Any]:
        if not truncated:
            return [figures.get(name) for name in names]
        if "num_p" in result.kind.sums:
            figures = {**figures, "f1": _harmonic(figures["precision"] or 0.0, figures["recall"] or 0.0)}
        found = [figures.get(name) for name in names]
        return [None if value is None else _truncated(value) for value in found]

    averages = [result.kind.average for result in results.values() if isinstance(result.kind, Labelled)]
    rows = [[key, *cells(result.figures, result), *_sums(result)] for key, result in results.items()]
    if macro:
        rows += [[f"{key} (macro)", *cells(result.over_documents, result), "", ""] for key, result in results.items()]
    columns = ["metric", *names, "of predicted", "of reference"]
    if averages:  # metrics with different averages stand below each other
        columns.insert(1, "average")
        shown = [getattr(result.kind, "average", "micro") for result in results.values()]
        for row, average in zip(rows, [*shown, *(f"documents of {one}" for one in shown)], strict=False):
            row.insert(1, average)
    if not all(result.optimal for result in results.values()):  # a time limit struck: what the score may be at most
        columns.append("at most")
        most = [result.bounds[result.kind.headline][1] for result in results.values()]
        rows = [[*row, value] for row, value in zip(rows, [*most, *([""] * (len(rows) - len(most)))], strict=True)]
    return Table(columns, rows)


def _harmonic(precision: float, recall: float) -> float:
    """F1 with the reference scorer's roundings, which decide the last digit of what is cut off."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _truncated(value: float) -> str:
    """A percentage with two digits, cut off and not rounded."""
    return f"{int(value * 10_000) / 100:.2f}%"


def documents_table(results: Mapping[str, Result], limit: int | None = None) -> Table:
    """A row for each document, the worst first: one metric's figures, or the headlines of several."""
    first = next(iter(results.values()))
    rows: list[list[Any]]
    if len(results) == 1:
        names = list(first.figures)
        rows = [[str(key), *figures.values()] for key, figures in first.documents.items()]
        place = 1 + names.index(first.kind.headline)
        rows.sort(key=lambda row: (row[place] is None, row[place] or 0.0))
        return Table(["document", *names], rows[:limit])
    columns = {name: result.documents for name, result in results.items()}
    rows = [[str(key), *(columns[n][key][result.kind.headline] for n, result in results.items())] for key in first.ids]
    rows.sort(key=_badness)
    return Table(["document", *results], rows[:limit])


def _badness(row: list[Any]) -> tuple[bool, float]:
    """The mean of the figures that are there; where all are 0/0 there is nothing to look at."""
    known = [value for value in row[1:] if isinstance(value, float)]
    return not known, sum(known) / max(len(known), 1)


def _sums(result: Result) -> list[str]:
    tally = result.kind.pooled_tally(result.sums) if isinstance(result.kind, Labelled) else result.tally
    if "num_p" not in tally:
        return ["", ""]
    return [f"{quantity(tally[f'num_{s}'])} / {quantity(tally[f'den_{s}'])}" for s in "pr"]


def labels_table(result: Result, path: str | None = None, title: str = "") -> Table:
    """A row for each label."""
    rows = result.by_label(path)
    names = list(rows[0].figures) if rows else list(result.figures)
    out = [[str(r.label), *(r.figures[n] for n in names), _whole(r.support)] for r in rows]
    return Table([path or "label", *names, "support"], out, title)


def _whole(value: float) -> float:
    """A number of items is an integer; only a weighted one need not be."""
    return int(value) if value == int(value) else value


def fields_table(result: Result) -> Table:
    """A row for each path of the value, the worst first; what the reference never has comes last."""
    rows = sorted(
        result.by_field(),
        key=lambda row: (row.support == 0, row.figures["f1"] is None, row.figures["f1"] or 0.0),
    )
    names: list[str] = list(rows[0].figures) if rows else []

    def cells(figures: Figures) -> list[Any]:
        return [figures[name] for name in names]

    out = [[r.path, r.support, *cells(r.figures), r.similarity, r.wrong, r.missing, r.extra] for r in rows]
    columns = ["field", "support", *names, "similarity", "wrong", "missing", "extra"]
    notes = []
    if any(r.diagnostic for r in rows):
        notes.append(
            "Fields of an all-or-nothing record do not earn credit by themselves: items without a partner are paired "
            "by the sum of their fields, only to show which field kept them apart."
        )
    return Table(columns, out, notes=notes)


def result_text(result: Result) -> str:
    """A result for a person."""
    from tallystick.reports.tables import to_text

    table = figures_table({result.kind.headline: result})
    lines = [to_text(table), f"{counted(result.count, 'document')}. {result.signature}"]
    lines += [f"Warning: {warning}" for warning in result.warnings]
    return "\n".join(lines)


MARKS = {"matched": "↔", "missed": "-", "spurious": "+"}


def explanation_lines(tree: Explanation, depth: int = 0) -> Iterator[str]:
    """The tree of an explanation, a line for each aligned pair or single item."""
    yield "  " * depth + explanation_line(tree)
    for child in tree.children:
        yield from explanation_lines(child, depth + 1)


def explanation_line(tree: Explanation) -> str:
    """One node: its name, what meets what, and the weight."""
    name = f"{tree.name}: " if tree.name else ""
    if isinstance(tree.predicted, Invalid):
        return f"- {name}the prediction is invalid: {tree.predicted.reason}"
    if tree.status == "missed":
        return f"- {name}{shorten(tree.reference)}  missed"
    if tree.status == "spurious":
        return f"+ {name}{shorten(tree.predicted)}  spurious"
    weight = f"{tree.weight:.4g}"
    if tree.children:
        most = f"{tree.reference_self:.4g} in the reference, {tree.predicted_self:.4g} predicted"
        if tree.reference_self == tree.predicted_self:
            most = f"{tree.reference_self:.4g}"
        variables = ", ".join(f"{x} ↔ {y}" for x, y in tree.variables)
        return f"{name}{tree.how} = {weight} of {most}" + (f", with {variables}" if variables else "")
    if tree.how in ("var", "triple") and tree.weight > 0:
        return f"= {name}{tree.reference} ↔ {tree.predicted}"
    if tree.how == "accepted":  # by a rule or a judge, which say more than whether the two are equal
        mark = "=" if tree.weight >= 1 else "≠"
        both = [shorten(value) for value in (tree.reference, tree.predicted) if value is not None]
        return f"{mark} {name}{' ↔ '.join(dict.fromkeys(both))}"
    if tree.weight >= max(tree.reference_self, tree.predicted_self):
        if same_value(tree.reference, tree.predicted):
            return f"= {name}{shorten(tree.reference)}"
        return f"≈ {name}{shorten(tree.reference)} ↔ {shorten(tree.predicted)}"
    return f"≠ {name}{shorten(tree.reference)} ↔ {shorten(tree.predicted)}  {weight}"


def same_value(reference: Any, predicted: Any) -> bool:
    """Whether two values that count as right are the same, or only pass for it."""
    from tallystick.columns.codes import freeze
    from tallystick.columns.data import Scope
    from tallystick.errors import ValueMismatch

    try:
        return bool(freeze(reference, Scope()) == freeze(predicted, Scope()))
    except ValueMismatch:  # objects that compare by identity only
        return reference is predicted


def shorten(value: Any, width: int = 70) -> str:
    """A value in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"

"""The tables of a result: documents, labels, fields, tallies; and the tree of an explanation."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.data import Scope
from tallystick.engine.tally import Counts, lower_is_better
from tallystick.engine.values import Invalid, freeze
from tallystick.errors import MetricError, ValueMismatch, counted
from tallystick.files.writing import write_atomically
from tallystick.results.result import shared_signatures, worst_first
from tallystick.show.tables import Column, Table, notebook_tree
from tallystick.show.words import cut, one_line, tell_apart
from tallystick.version import __version__

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.results.result import Figures, LabelFigures, Result


def figure_name(figure: str) -> str:
    """A figure as papers write it: F1, precision, kappa."""
    return figure.upper() if figure.startswith("f") and figure[1:2].isdigit() else figure


def documents_table(results: Mapping[str, Result], limit: int | None = None) -> Table:
    """The documents, the worst first: a row for each, and where there are several metrics, for each of these."""
    first = next(iter(results.values()))
    columns = {name: result.documents for name, result in results.items()}
    chosen = [(key, [columns[name][key] for name in results]) for key in worst_documents(results.values(), limit)]
    if len(results) == 1:
        return Table(["document", *first.figures], [[str(key), *found[0].values()] for key, found in chosen])
    names = list(dict.fromkeys(name for result in results.values() for name in result.figures))
    rows = [
        [str(key), metric, *(figures.get(name) for name in names)]
        for key, found in chosen
        for metric, figures in zip(results, found, strict=True)
    ]
    return Table(["document", "metric", *names], rows)


def worst_documents(results: Iterable[Result], limit: int | None = None) -> list[Any]:
    """The ids of the documents, the worst first by the mean of the headlines that are there; where all are 0/0, as in an empty
    document, there is nothing to look at, whatever the policy makes of it."""
    results = list(results)
    if len(results) == 1:
        undefined, value, size = worst_first(results[0].kind, results[0].rows)
    else:
        keys = [worst_first(result.kind, result.rows) for result in results]
        there = np.array([1 - absent for absent, _, _ in keys])
        ups = np.array([[float(lower_is_better(result.kind))] for result in results])  # an error rate e is worth 1 - e
        value = (there * (ups + [value for _, value, _ in keys])).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        undefined, size = (there.sum(axis=0) == 0).astype(np.float64), keys[0][2]
    return [results[0].ids[k] for k in np.lexsort((size, value, undefined))[:limit].tolist()]


def counted_figures(rows: Mapping[str, F64], undefined: float | None) -> dict[str, dict[str, Any]]:
    """Precision, recall and F1 by name, with the four sums that they are made of; `undefined` where a figure is 0/0."""
    kind = Counts(one=False)
    return {
        name: {
            **{key: undefined if np.isnan(value) else float(value) for key, value in kind.figures(sums).items()},
            "tally": dict(zip(kind.sums, sums.tolist(), strict=True)),
        }
        for name, sums in rows.items()
    }


def rows_as_json(rows: Mapping[str, Mapping[str, Any]], key: str = "label") -> list[dict[str, Any]]:
    """Counted figures as every breakdown has them in JSON: a row for each label or field."""
    return [
        {
            key: name,
            "figures": {one: value for one, value in row.items() if one != "tally"},
            "tally": row["tally"],
            "support": _whole(row["tally"]["den_r"]),
        }
        for name, row in rows.items()
    ]


def labels_table(result: Result, path: str | None = None, title: str = "", called: str | None = None) -> Table:
    """A row for each label; the path is what they are called, unless somebody knows better."""
    rows = result.by_label(path)
    return label_rows_table(rows, called or path or "label", title, names=() if rows else tuple(result.figures))


def label_rows_table(rows: Sequence[LabelFigures], called: str, title: str = "", names: Sequence[str] = ()) -> Table:
    """The figures of labels, or of other parts that are called so."""
    names = list(rows[0].figures) if rows else names
    out = [[str(r.label), *(r.figures[n] for n in names), _whole(r.support)] for r in rows]
    return Table([called, *names, Column("support", "count")], out, title)


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
    columns = ["field", Column("support", "count"), *names, "similarity", "wrong", "missing", "extra"]
    notes = []
    if any(r.diagnostic for r in rows):
        notes.append(
            "Fields of an all-or-nothing record do not earn credit by themselves: items without a partner are paired "
            "by the sum of their fields, only to show which field differs."
        )
    return Table(columns, out, notes=notes)


WIDTH = 70
"""So many characters of a value are shown on a line."""
PART = "part"
"""How a part of something that stands on one side only came about."""


def explanation_lines(tree: Explanation, depth: int = 0) -> Iterator[str]:
    """The tree of an explanation, a line for each aligned pair or single item."""
    yield "  " * depth + explanation_line(tree)
    for child in explanation_parts(tree):
        yield from explanation_lines(child, depth + 1)


def explanation_parts(tree: Explanation) -> tuple[Explanation, ...]:
    """What stands below a node: what was aligned there, or of a long value on one side only its parts, since two of these that
    are cut would look alike."""
    alone = tree.status != "matched" and not tree.children and not isinstance(tree.predicted, Invalid)
    value = tree.predicted if tree.reference is None else tree.reference
    if not alone or len(one_line(repr(value))) <= WIDTH:
        return tree.children
    from tallystick.results.documents import compared_parts

    parts = compared_parts(value, tree.node)
    if isinstance(value, (list, tuple)) and not parts:
        parts = [("", one, None if tree.node is None else tree.node.item) for one in value]
    sides = [(part, None) if tree.status == "missed" else (None, part) for _, part, _ in parts]
    return tuple(
        replace(tree, name=name, reference=left, predicted=right, how=PART, node=of, places=())
        for (name, _, of), (left, right) in zip(parts, sides, strict=True)
    )


def explanation_html(tree: Explanation) -> str:
    """The same in a notebook, in colours."""
    return notebook_tree(explanation_lines(tree))


def explanation_line(tree: Explanation) -> str:
    """One node: its name, what meets what, and the weight."""
    name = f"{tree.name}: " if tree.name else ""
    if isinstance(tree.predicted, Invalid):
        return f"- {name}{tree.predicted}"
    if tree.status in ("missed", "spurious"):
        value = tree.predicted if tree.reference is None else tree.reference
        whole = shorten(value, 4 * WIDTH) if not explanation_parts(tree) else _kind(value)
        said = "" if tree.how == PART or tree.name == tree.status else f"  {tree.status}"
        return f"{'-' if tree.status == 'missed' else '+'} {name}{whole}{said}"
    return _line_of_parts(tree, name) if tree.children else _line_of_pair(tree, name)


def _line_of_parts(tree: Explanation, name: str) -> str:
    """A node with others below it: what they add up to, and of how much."""
    most = f"{tree.reference_self:.4g} in the reference, {tree.predicted_self:.4g} predicted"
    if tree.reference_self == tree.predicted_self:
        most = f"{tree.reference_self:.4g}"
    variables = ", ".join(f"{x} ↔ {y}" for x, y in tree.variables)
    return f"{name}{tree.how} = {tree.weight:.4g} of {most}" + (f", with {variables}" if variables else "")


def _line_of_pair(tree: Explanation, name: str) -> str:
    """Two values that met, and whether they are equal."""
    if tree.how in ("var", "triple") and tree.weight > 0:
        return f"= {name}{tree.reference} ↔ {tree.predicted}"
    if tree.how == "accepted":  # by a rule or a judge, which say more than whether the two are equal
        mark = "=" if tree.weight >= 1 else "≠"
        known = [value for value in (tree.reference, tree.predicted) if value is not None]
        both = shorten_both(*known) if len(known) == 2 and mark == "≠" else [shorten(value) for value in known]
        return f"{mark} {name}{' ↔ '.join(dict.fromkeys(both))}"
    if tree.weight >= max(tree.reference_self, tree.predicted_self):
        if same_value(tree.reference, tree.predicted):
            return f"= {name}{shorten(tree.reference)}"
        return f"≈ {name}{shorten(tree.reference)} ↔ {shorten(tree.predicted)}"
    return f"≠ {name}{' ↔ '.join(shorten_both(tree.reference, tree.predicted))}  {tree.weight:.4g}"


def _kind(value: Any) -> str:
    """What a value is, where its parts stand below it."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return counted(len(value), "item")
    return "object" if isinstance(value, Mapping) else type(value).__name__


def same_value(reference: Any, predicted: Any) -> bool:
    """Whether two values that count as right are the same, or only pass for it."""
    try:
        return bool(freeze(reference, Scope()) == freeze(predicted, Scope()))
    except ValueMismatch:  # objects that compare by identity only
        return reference is predicted


def shorten(value: Any, width: int = WIDTH) -> str:
    """A value in one short line."""
    return cut(one_line(repr(value)), width)


def shorten_both(reference: Any, predicted: Any, width: int = WIDTH) -> tuple[str, str]:
    """Two values that are not the same in a short line each, so that the difference is seen."""
    return tell_apart(reference, predicted, width, repr)


# What each field of a record costs: F1 if that field alone were right everywhere.
#
# In a sum of fields every field brings its own sums, and they add up to the whole. Where field f is right everywhere, what
# it earns is all that the reference has there, and so is what was predicted:
#
#     S' = S - S_f + den_r_f        den_p' = den_p - den_p_f + den_r_f
#
# That holds only where the fields do add up, so not below a product, a threshold or a nested normaliser.


def costs_table(result: Result) -> list[Table]:
    """A row for each field, the costliest first; nothing where the fields do not add up to the score."""
    rows = result.by_field()
    kind = result.kind
    if not isinstance(kind, Counts) or not kind.one or any(row.diagnostic for row in rows) or not rows:
        return []
    num, den_p, _, den_r = result.sums.tolist()
    if not math.isclose(math.fsum(row.tally["num_p"] for row in rows), num, rel_tol=1e-9, abs_tol=1e-6):
        return []
    now = result.figures[kind.headline]
    out: list[list[Any]] = []
    for row in rows:
        all_right = row.tally["den_r"]
        fixed = num - row.tally["num_p"] + all_right
        sums = np.array([fixed, den_p - row.tally["den_p"] + all_right, fixed, den_r])
        value = float(kind.figures(sums)[kind.headline])
        wrong = row.wrong + row.missing + row.extra
        if math.isnan(value):  # nothing is left on either side: the field was predicted where the reference has none
            out.append([row.path, wrong, None, None])
        else:
            out.append([row.path, wrong, value, None if now is None else value - now])
    out.sort(key=lambda row: -(row[3] or 0.0))
    note = "Each field is repaired alone and everywhere, so gains do not add up."
    return [
        Table(
            ["field", "errors", f"{kind.headline} if fixed", Column("gain", "gain")],
            out,
            "What each field costs",
            [note],
        )
    ]


# Results as the JSON that the command line prints.


def results_as_dict(results: Mapping[str, Result], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Several metrics' results over one corpus as plain data."""
    first = next(iter(results.values()))
    return {
        "tallystick": __version__,
        "signature": "; ".join(shared_signatures(results)),
        "documents": first.count,
        "metrics": {name: {**result.as_dict(), "signature": result.signature} for name, result in results.items()},
        **extra,
    }


# The tallies of every document as a table, for whatever counts on from there: DuckDB, Polars, pandas, a spreadsheet.
#
#     document   metric    num_p   den_p   num_r   den_r   precision   recall      f1
#     inv-001    records      17      20      17      21      0.8500   0.8095   0.8293
#
# Tallies add: the figures of any slice of a corpus are made of the sums over its rows, never of the mean of its figures.

TALLIES = (".parquet", ".csv", ".tsv", ".arrow", ".feather")


def check_tallies_name(path: str | Path) -> None:
    """A file of an unknown kind is an error before the work, not after it."""
    if Path(path).suffix.lower() not in TALLIES:
        raise MetricError(f"tallies are written to {', '.join(TALLIES)}; found {str(path)!r}")
    if Path(path).suffix.lower() not in (".csv", ".tsv"):
        from tallystick.files.lines import load_pyarrow

        load_pyarrow(str(path))


def tallies(results: Mapping[str, Result]) -> dict[str, list[Any]]:
    """By column: a row for each document and metric. What a metric does not have, or is 0/0, is None."""
    keys = ("document", "metric")
    figures = {name for result in results.values() for name in result.figures}
    found: dict[str, dict[str, Any]] = {}
    for metric, result in results.items():
        # a sum that is called as a figure is, or either that is called as a key is, has a column of its own
        sums = (f"{name}_sum" if name in figures or name in keys else name for name in result.kind.sums)
        found[metric] = dict(zip(sums, result.rows.T, strict=True))
        for name, values in result.kind.figures(result.rows).items():
            found[metric][f"{name}_figure" if name in keys else name] = values
    out: dict[str, list[Any]] = {
        name: [] for name in (*keys, *(name for columns in found.values() for name in columns))
    }
    for metric, result in results.items():
        count = len(result.ids)
        out["document"] += result.ids
        out["metric"] += [metric] * count
        for name in list(out)[2:]:
            out[name] += _values(found[metric][name]) if name in found[metric] else [None] * count
    if len({type(key) for key in out["document"]}) > 1 or any(type(key) not in (str, int) for key in out["document"]):
        out["document"] = list(map(str, out["document"]))
    return out


def _values(column: Any) -> list[Any]:
    found = np.asarray(column, np.float64)
    missing = np.isnan(found)
    values: list[Any] = found.tolist()
    return (
        [None if no else value for value, no in zip(values, missing.tolist(), strict=True)] if missing.any() else values
    )


def tallies_table(results: Mapping[str, Result]) -> Any:
    """The same as a pyarrow table; its metadata holds the signatures."""
    from tallystick.files.lines import load_pyarrow

    pa = load_pyarrow("the table of tallies")
    columns = tallies(results)
    whole = all(type(one) is int and abs(one) < 2**63 for one in columns["document"])
    key = pa.int64() if whole else pa.string()
    if not whole:  # a number that no column of Arrow's can hold is text
        columns["document"] = list(map(str, columns["document"]))
    kinds = {"document": key, "metric": pa.string()}
    arrays = {name: pa.array(values, kinds.get(name, pa.float64())) for name, values in columns.items()}
    signatures = {f"tallystick.{name}": result.signature for name, result in results.items()}
    return pa.table(arrays).replace_schema_metadata(signatures)


def write_tallies(results: Mapping[str, Result], path: str | Path) -> None:
    """Write a row for each document and metric to a .parquet, .arrow, .feather, .csv or .tsv file, whole or not at all."""
    check_tallies_name(path)
    suffix = Path(path).suffix.lower()
    if suffix in (".csv", ".tsv"):
        import csv

        columns = tallies(results)
        text = io.StringIO()
        writer = csv.writer(text, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        content = text.getvalue().encode()
    else:
        content = _packed(tallies_table(results), suffix)
    write_atomically(path, content)


def _packed(table: Any, suffix: str) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    if suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())

"""tallystick evaluates structured predictions: similarity, then the best matching, then normalisation.

    import tallystick as ts

    print(ts.score({"vendor": "Acme"}, '{"vendor": "Acme Inc."}'))     records: data, files, a model's text
    print(ts.spans("gold.iob", "system.iob"))                       a function for each task: files, or plain data
    print(ts.coreference([[(0, 2), (5, 6)]], [[(0, 2)]]))

    metric = ts.derive(list[Relation])                              a metric of your own
    result = ts.evaluate(metric, references, predictions)
    print(result, result.explain(0))

Names are imported when they are first used, so that `import tallystick` costs next to nothing. The parts of metrics are not listed
for that: each is found because it is defined in a module of `tallystick.algebra`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.version import __version__ as __version__

if TYPE_CHECKING:
    from tallystick.adapters.rewards import rewards, scorer
    from tallystick.algebra.cases import cases, let, ref
    from tallystick.algebra.choose import by_key, choose, distinct, ignore, matched, ordered
    from tallystick.algebra.clusters import adjusted, chance, information, together
    from tallystick.algebra.derive import derive
    from tallystick.algebra.exact import exact, keyed
    from tallystick.algebra.functions import aliases, function, judgements, via
    from tallystick.algebra.grids import grid
    from tallystick.algebra.hierarchy import levels, subtypes
    from tallystick.algebra.judged import embedding, judged
    from tallystick.algebra.latent import latent, scoped, var
    from tallystick.algebra.missing import any_of, optional
    from tallystick.algebra.normalise import (
        best,
        error_rate,
        f,
        f1,
        jaccard,
        links,
        precision,
        recall,
        sides,
        subset,
        supertypes,
    )
    from tallystick.algebra.numbers import date, number, overlap
    from tallystick.algebra.ordered import (
        edit,
        edit_ratio,
        graph,
        replaceable,
        sequence,
        top_down,
        tree,
        tree_edit,
        unordered,
    )
    from tallystick.algebra.parse import parse
    from tallystick.algebra.records import each, record
    from tallystick.algebra.sets import match
    from tallystick.algebra.space import box_iou, interval, timeline
    from tallystick.algebra.staged import greedy, paired_by, ranked, staged
    from tallystick.algebra.text import text, words
    from tallystick.algebra.values import magnitude
    from tallystick.algebra.weights import above, at_least, weigh, weighted
    from tallystick.errors import TallystickError
    from tallystick.laboratory.kernels import gram, kernel_status
    from tallystick.results.compare import compare
    from tallystick.results.comparison import Comparison
    from tallystick.results.evaluation import evaluate
    from tallystick.results.explanation import Explanation
    from tallystick.results.result import Result
    from tallystick.results.results import Results
    from tallystick.tasks.function import Evaluation
    from tallystick.tasks.functions import (
        amr,
        arguments,
        calls,
        coreference,
        dependencies,
        events,
        hierarchies,
        nary,
        records,
        relations,
        roles,
        spans,
        templates,
    )
    from tallystick.tasks.records.score import score
    from tallystick.tasks.suggest import suggest

_HOME = {
    "by_key": "algebra.choose", "choose": "algebra.choose", "distinct": "algebra.choose", "ignore": "algebra.choose",
    "matched": "algebra.choose", "ordered": "algebra.choose", "derive": "algebra.derive", "parse": "algebra.parse",
    "magnitude": "algebra.values", "words": "algebra.text", "TallystickError": "errors", "gram": "laboratory.kernels", "kernel_status": "laboratory.kernels",
    "compare": "results.compare", "Comparison": "results.comparison", "Evaluation": "tasks.function", "evaluate": "results.evaluation",
    "Explanation": "results.explanation", "Result": "results.result", "Results": "results.results",
    "rewards": "adapters.rewards", "score": "tasks.records.score", "scorer": "adapters.rewards",
    "suggest": "tasks.suggest",
}  # fmt: skip
"""Where everything else is, but for the tasks, which are functions by being there."""

__all__ = [
    "Comparison", "Evaluation", "Explanation", "Result", "Results", "TallystickError", "above", "adjusted", "aliases", "amr", "any_of", "arguments",
    "at_least", "best", "box_iou", "by_key", "calls", "cases", "chance", "choose", "compare", "coreference", "date", "dependencies", "derive",
    "distinct", "each", "edit", "edit_ratio", "embedding", "error_rate", "evaluate", "events", "exact", "f", "f1", "function", "gram",
    "graph", "greedy", "grid", "hierarchies", "ignore", "information", "interval", "jaccard", "judged", "judgements", "kernel_status", "keyed", "latent", "let",
    "levels", "links", "magnitude", "match", "matched", "nary", "number", "optional", "ordered", "overlap", "paired_by", "parse", "precision", "ranked",
    "recall", "record", "records", "ref", "relations", "replaceable", "rewards", "roles", "scoped", "score", "scorer", "sequence", "sides",
    "spans", "staged", "subset", "subtypes", "suggest", "supertypes", "templates", "text", "timeline", "together", "top_down", "tree", "tree_edit",
    "unordered", "var", "via", "weigh", "weighted", "words",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOME.get(name) or _home_of_task(name) or (_home_of(name) if name in __all__ else "")
    value = getattr(import_module(f"tallystick.{home}"), name, None) if home else None
    if value is None and (name.startswith("_") or (value := _parts().get(name)) is None):
        raise AttributeError(f"module 'tallystick' has no attribute {name!r}")
    globals()[name] = value
    return value


def _home_of_task(name: str) -> str:
    """Where the function of a task is made, if this is one."""
    return "tasks.function" if name in _tasks() else ""


def _tasks() -> list[str]:
    from tallystick.tasks.contract import task_names

    return task_names()


def _home_of(name: str) -> str:
    """The module of the algebra whose text defines a part, or else a function of that name: one part of a metric does not load all the
    others."""
    import os
    import re

    found = ""
    mark = re.compile(rf"^(?:def {name}\(|{name}\b[^=\n]* = |    name = \"{name}\"$)", re.MULTILINE)
    for folder in filter(os.path.isdir, import_module("tallystick.algebra").__path__):
        for file in sorted(one for one in os.listdir(folder) if one.endswith(".py")):
            with open(os.path.join(folder, file), encoding="utf-8") as stream:
                marks = mark.findall(stream.read())
            module = f"algebra.{file.removesuffix('.py')}"
            if any(one.startswith(" ") for one in marks):
                return module
            found = found or (module if marks else "")
    return found


def _parts() -> dict[str, Any]:
    """The parts of metrics, by name."""
    from tallystick.algebra.parse import constructors

    return constructors()


def __dir__() -> list[str]:
    return sorted({*_HOME, *_tasks(), *_parts()})

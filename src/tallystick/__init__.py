"""tallystick evaluates structured predictions: similarity, then the best matching, then normalisation.

    import tallystick as ts

    metric = ts.derive(list[Relation])
    result = ts.evaluate(metric, references, predictions)
    print(result, result.explain(0))

Names are imported when they are first used, so that `import tallystick` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.version import __version__ as __version__

if TYPE_CHECKING:
    from tallystick.algebra.alternatives import any_of
    from tallystick.algebra.cases import cases, let, ref
    from tallystick.algebra.choose import by_key, choose, distinct, ignore, matched, ordered
    from tallystick.algebra.collections import best, links, subset, supertypes
    from tallystick.algebra.derive import derive
    from tallystick.algebra.exact import exact, keyed
    from tallystick.algebra.functions import aliases, function, judgements, via
    from tallystick.algebra.hierarchy import levels, subtypes
    from tallystick.algebra.judged import embedding, judged
    from tallystick.algebra.latent import latent, scoped
    from tallystick.algebra.missing import optional
    from tallystick.algebra.normalise import f, f1, jaccard, precision, recall, sides
    from tallystick.algebra.numbers import date, number, overlap
    from tallystick.algebra.ordered import sequence
    from tallystick.algebra.parse import parse
    from tallystick.algebra.records import each, record
    from tallystick.algebra.sets import match
    from tallystick.algebra.structured import graph, top_down, tree, unordered
    from tallystick.algebra.text import text, words
    from tallystick.algebra.variables import var
    from tallystick.algebra.weights import above, at_least, weigh, weighted
    from tallystick.errors import TallystickError
    from tallystick.laboratory.kernels import gram, kernel_status
    from tallystick.results.compare import compare
    from tallystick.results.evaluation import Evaluation, evaluate
    from tallystick.results.explanation import Explanation
    from tallystick.results.result import Result

_HOME = {
    "algebra.alternatives": ("any_of",),
    "algebra.cases": ("cases", "let", "ref"),
    "algebra.choose": ("by_key", "choose", "distinct", "ignore", "matched", "ordered"),
    "algebra.collections": ("best", "links", "subset", "supertypes"),
    "algebra.derive": ("derive",),
    "algebra.exact": ("exact", "keyed"),
    "algebra.functions": ("aliases", "function", "judgements", "via"),
    "algebra.hierarchy": ("levels", "subtypes"),
    "algebra.judged": ("embedding", "judged"),
    "algebra.latent": ("latent", "scoped"),
    "algebra.missing": ("optional",),
    "algebra.normalise": ("f", "f1", "jaccard", "precision", "recall", "sides"),
    "algebra.numbers": ("date", "number", "overlap"),
    "algebra.ordered": ("sequence",),
    "algebra.parse": ("parse",),
    "algebra.records": ("each", "record"),
    "algebra.sets": ("match",),
    "algebra.structured": ("graph", "top_down", "tree", "unordered"),
    "algebra.text": ("text", "words"),
    "algebra.variables": ("var",),
    "algebra.weights": ("above", "at_least", "weigh", "weighted"),
    "errors": ("TallystickError",),
    "laboratory.kernels": ("gram", "kernel_status"),
    "results.compare": ("compare",),
    "results.evaluation": ("Evaluation", "evaluate"),
    "results.explanation": ("Explanation",),
    "results.result": ("Result",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Evaluation", "Explanation", "Result", "TallystickError",
    "above", "aliases", "any_of", "at_least", "best", "by_key", "cases", "choose", "compare", "date", "derive", "distinct", "each",
    "embedding", "evaluate", "exact", "f", "f1", "function", "gram", "graph", "ignore", "jaccard", "judged", "judgements",
    "kernel_status",
    "keyed", "latent", "let", "levels", "links", "match", "matched", "number", "optional", "ordered", "overlap", "parse",
    "precision", "recall", "record", "ref", "scoped", "sequence", "sides", "subset", "subtypes", "supertypes", "text",
    "top_down", "tree", "unordered", "var", "via", "weigh", "weighted", "words",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is None:
        raise AttributeError(f"module 'tallystick' has no attribute {name!r}")
    value = getattr(import_module(f"tallystick.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

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

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tallystick.choosing import by_key, choose, distinct, ignore, matched, ordered
    from tallystick.comparing.systems import compare
    from tallystick.deriving import derive
    from tallystick.errors import TallystickError
    from tallystick.matching.collections import best, links, subset, supertypes
    from tallystick.matching.normalise import f, f1, jaccard, precision, recall, sides
    from tallystick.matching.ordered import sequence
    from tallystick.matching.sets import match
    from tallystick.matching.structured import graph, top_down, tree, unordered
    from tallystick.matching.variables import latent, scoped
    from tallystick.parsing import parse
    from tallystick.scoring.evaluation import Evaluation, evaluate
    from tallystick.scoring.explanation import Explanation
    from tallystick.scoring.kernels import gram, kernel_status
    from tallystick.scoring.result import Result
    from tallystick.similarity.aliases import aliases
    from tallystick.similarity.alternatives import any_of
    from tallystick.similarity.cases import cases, let, ref
    from tallystick.similarity.embedding import embedding
    from tallystick.similarity.exact import exact
    from tallystick.similarity.functions import function, judgements, via
    from tallystick.similarity.hierarchy import levels, subtypes
    from tallystick.similarity.judged import judged
    from tallystick.similarity.keyed import keyed
    from tallystick.similarity.missing import optional
    from tallystick.similarity.numbers import date, number, overlap
    from tallystick.similarity.records import each, record
    from tallystick.similarity.text import text, words
    from tallystick.similarity.variables import var
    from tallystick.similarity.weights import above, at_least, weigh, weighted

_HOME = {
    "choosing": ("by_key", "choose", "distinct", "ignore", "matched", "ordered"),
    "comparing.systems": ("compare",),
    "deriving": ("derive",),
    "errors": ("TallystickError",),
    "matching.collections": ("best", "links", "subset", "supertypes"),
    "matching.normalise": ("f", "f1", "jaccard", "precision", "recall", "sides"),
    "matching.ordered": ("sequence",),
    "matching.sets": ("match",),
    "matching.structured": ("graph", "top_down", "tree", "unordered"),
    "matching.variables": ("latent", "scoped"),
    "parsing": ("parse",),
    "scoring.evaluation": ("Evaluation", "evaluate"),
    "scoring.explanation": ("Explanation",),
    "scoring.kernels": ("gram", "kernel_status"),
    "scoring.result": ("Result",),
    "similarity.aliases": ("aliases",),
    "similarity.alternatives": ("any_of",),
    "similarity.cases": ("cases", "let", "ref"),
    "similarity.embedding": ("embedding",),
    "similarity.exact": ("exact",),
    "similarity.functions": ("function", "judgements", "via"),
    "similarity.hierarchy": ("levels", "subtypes"),
    "similarity.judged": ("judged",),
    "similarity.keyed": ("keyed",),
    "similarity.missing": ("optional",),
    "similarity.numbers": ("date", "number", "overlap"),
    "similarity.records": ("each", "record"),
    "similarity.text": ("text", "words"),
    "similarity.variables": ("var",),
    "similarity.weights": ("above", "at_least", "weigh", "weighted"),
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

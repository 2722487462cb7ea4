"""The peers on inputs of our own: what each of them answers, under the names that tallystick has for its figures.

A peer is a package from PyPI, or files of its repository in a folder (`fetch.py` puts them there). Nothing here scores by itself.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Figures = dict[str, dict[str, float]]
PRF = ("precision", "recall", "f1")


def load(file: Path) -> Any:
    """A module from a file of a repository. What it imports for debugging alone need not be there."""
    sys.modules.setdefault("ipdb", types.ModuleType("ipdb"))
    spec = importlib.util.spec_from_file_location(f"peer_{file.parent.name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seqeval(gold: Any, system: Any, folder: Path) -> Figures:
    """Entities of tags, in its lenient reading."""
    from seqeval.metrics import f1_score, precision_score, recall_score

    scores = (precision_score, recall_score, f1_score)
    return {
        "segment": {name: float(score(gold, system, zero_division=0)) for name, score in zip(PRF, scores, strict=True)}
    }


def scorch(gold: Any, system: Any, folder: Path) -> Figures:
    """MUC, B³ and CEAF of one document."""
    import scorch.scores as peer

    sides = [[{tuple(mention) for mention in entity} for entity in side] for side in (gold, system)]
    out = {}
    for name, score in (("muc", peer.muc), ("b3", peer.b_cubed), ("ceaf_m", peer.ceaf_m), ("ceaf_e", peer.ceaf_e)):
        recall, precision, f1 = map(float, score(*sides))
        out[name] = {"precision": precision, "recall": recall, "f1": f1}
    return out


def docred(gold: Any, system: Any, folder: Path) -> Figures:
    """Run as a script, in a folder laid out as it wants; the training data is empty."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for name, content in (
            ("in/ref/dev_test.json", gold),
            ("in/res/result.json", system),
            ("data/train_annotated.json", []),
            ("data/train_distant.json", []),
        ):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(json.dumps(content))
        (root / "code").mkdir()
        command = [sys.executable, folder / "docred" / "evaluation.py", root / "in", root / "out"]
        subprocess.run(command, cwd=root / "code", check=True, capture_output=True)
        lines = dict(line.split(": ") for line in (root / "out" / "scores.txt").read_text().splitlines())
    return {"facts": {"f1": float(lines["RE_F1"])}, "evidence": {"f1": float(lines["Evi_F1"])}}


TEXTEE = {
    "trigger_id": "tri_i", "trigger_cls": "tri_c", "argument_id": "arg_i", "argument_cls": "arg_c",
    "argument_attached_id": "arg_i+", "argument_attached_cls": "arg_c+",
}  # fmt: skip


def textee(gold: Any, system: Any, folder: Path) -> Figures:
    """Its six figures, end to end."""
    found = load(folder / "textee" / "scorer.py").compute_scores(system, gold, "E2E")
    return {TEXTEE[name]: {key: one[key] / 100 for key in PRF} for name, one in found.items()}


def textee_arguments(gold: Any, system: Any, folder: Path) -> Figures:
    """Arguments of given triggers, each with its trigger: our stage `exact`."""
    found = load(folder / "textee" / "scorer.py").compute_scores(system, gold, "EAE")["argument_attached_cls"]
    return {"exact": {key: found[key] / 100 for key in PRF}}


def grit(gold: Any, system: Any, folder: Path) -> Figures:
    """CEAF-REE, strict and in proportion."""
    found = load(folder / "grit" / "eval.py").eval_ceaf(copy.deepcopy(system), copy.deepcopy(gold), [])
    names = {"grit_strict": "strict", "grit_prop": "prop"}
    return {ours: _prf(found[theirs]["micro_avg"]) for ours, theirs in names.items()}


def gtt(gold: Any, system: Any, folder: Path) -> Figures:
    """Templates under its best mapping."""
    found = load(folder / "gtt" / "eval.py").eval_tf(copy.deepcopy(system), copy.deepcopy(gold), [])
    return {"gtt": _prf(found["micro_avg"])}


def _prf(found: Any) -> dict[str, float]:
    return {name: float(found[key]) for name, key in zip(PRF, ("p", "r", "f1"), strict=True)}


def scirex(gold: Any, system: Any, folder: Path) -> Figures:
    """`scirex_relation_evaluate.py`, run as a script; it prints means, to six decimals."""
    with tempfile.TemporaryDirectory() as place:
        files = {"gold": gold, "ner": system, "clusters": system, "relations": system}
        arguments: list[Any] = []
        for name, side in files.items():
            file = Path(place, f"{name}.jsonl")
            file.write_text("".join(json.dumps(line) + "\n" for line in side))
            arguments += [f"--{name}-file", file]
        home = folder / "scirex"
        command = [sys.executable, home / "scirex/evaluation_scripts/scirex_relation_evaluate.py", *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(home)})
    blocks: dict[str, dict[str, float]] = {}
    for line in done.stdout.splitlines():
        if "Metrics" in line:
            name = line.strip()
        elif line.split() and line.split()[0] in ("p", "r", "f1"):
            key, value = line.split()[:2]
            blocks.setdefault(name, {})[key] = float(value)
    ours = {
        "Salient Clustering Metrics": "scirex_clusters",
        "Relation Metrics n=2": "scirex_n2",
        "Relation Metrics n=4": "scirex_n4",
    }
    return {ours[name]: _prf(one) for name, one in blocks.items() if name in ours}


def smatch(gold: Any, system: Any, folder: Path) -> Figures:
    """With many restarts: on graphs as small as these hill climbing then finds the optimum."""
    import smatch as peer

    peer.iteration_num = 50
    peer.match_triple_dict.clear()
    matched, predicted, true = peer.get_amr_match(system, gold)
    precision, recall, f1 = peer.compute_f(matched, predicted, true)
    return {"smatch": {"precision": precision, "recall": recall, "f1": f1}}


def metametric(gold: Any, system: Any, folder: Path) -> Figures:
    """Records by the product of their fields, matched one to one; sums over documents."""
    import metametric.dsl as mm

    same = mm.from_func(lambda one, other: float(one == other))
    family = mm.family(mm.set_matching[dict, "<->"](same), mm.micro_average(list(PRF)))
    aggregator = family.new()
    for predicted, true in zip(system, gold, strict=True):
        aggregator.update_single(predicted, true)
    return {"records": {name: float(value) for name, value in aggregator.compute().items()}}


def bfcl(gold: Any, system: Any, folder: Path) -> Figures:
    """BFCL's check of parallel calls: whether an answer is right."""
    names = "bfcl_eval.constants.model_config"
    config = sys.modules.setdefault(names, types.ModuleType(names))  # the real one imports every client of every model
    config.MODEL_CONFIG_MAPPING = {}  # type: ignore[attr-defined]
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    parameters = {"city": {"type": "string"}, "days": {"type": "integer"}}
    tool = {"name": "get_weather", "parameters": {"properties": parameters, "required": list(parameters)}}
    found = ast_checker([tool], system, gold, Language.PYTHON, "parallel", "any")
    return {"calls": {"exact": float(found["valid"])}}


PEERS: dict[str, tuple[str, Callable[[Any, Any, Path], Figures]]] = {
    "spans": ("seqeval 1.2.2 (PyPI)", seqeval),
    "coreference": ("scorch 0.2.0 (PyPI)", scorch),
    "relations": ("DocRED, code/evaluation.py", docred),
    "events": ("TextEE, TextEE/scorer.py", textee),
    "arguments": ("TextEE, TextEE/scorer.py", textee_arguments),
    "roles": ("grit, eval.py", grit),
    "templates": ("gtt, eval.py", gtt),
    "nary": ("SciREX, scirex/evaluation_scripts/scirex_relation_evaluate.py", scirex),
    "amr": ("smatch 1.0.4 (PyPI)", smatch),
    "records": ("metametric 0.2.1 (PyPI)", metametric),
    "calls": ("bfcl-eval 2026.3.23 (PyPI)", bfcl),
}
"""By task the peer that its made inputs are scored by, and how it is asked."""

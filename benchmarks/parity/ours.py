"""The same inputs scored by tallystick: how those of each task are handed over, and what has to be equal."""

from __future__ import annotations

import json
from typing import Any

import tallystick as ts


def _lines(side: Any) -> str:
    return "".join(json.dumps(line) + "\n" for line in side)


def answers(task: str, gold: Any, system: Any) -> Any:
    """tallystick's results for one made input."""
    if task in ("spans", "coreference", "roles", "amr"):
        return getattr(ts, task)(gold, system, **({"preset": "smatch"} if task == "amr" else {}))
    if task == "calls":
        return ts.calls([{"ground_truth": gold}], [system], strings="bfcl")
    if task == "records":
        sides = [[{"items": one} for one in side] for side in (gold, system)]
        return ts.records(*sides, credit="all", equality="exact")
    if task == "templates":
        predicted = {name: {"pred_templates": templates} for name, templates in system.items()}
        return ts.templates(json.dumps(gold) + "\n", json.dumps(predicted) + "\n", preset="gtt")
    write = _lines if task == "nary" else json.dumps
    return getattr(ts, task)(write(gold) + "\n", write(system) + "\n")


def figure(task: str, results: Any, metric: str, name: str) -> float:
    """One figure, as the peer has it: 0/0 is 0, and of calls whether everything is right."""
    if name == "exact":
        return float(results[metric].f1 == 1)
    return results[metric].figures[name] or 0.0


def differences(task: str, gold: Any, system: Any, expected: dict[str, dict[str, float]], allowed: float) -> list[str]:
    """The figures that are not the peer's."""
    results = answers(task, gold, system)
    out = []
    for metric, figures in expected.items():
        for name, theirs in figures.items():
            found = figure(task, results, metric, name)
            if abs(found - theirs) > allowed:
                out.append(f"{task} {metric} {name}: {theirs} theirs, {found} ours")
    return out

"""The gallery's metrics beside the scorers of their fields, on generated cases.

    python -m benchmarks.gallery                      every field whose package is installed: how far apart the figures are, and the CPU time
    python -m benchmarks.gallery diarisation tables   these fields
    python -m benchmarks.gallery --large              every field that has a package, at full size: CPU time of both, figures checked
    python -m benchmarks.gallery --properties         which properties `tallystick check` refutes, with the smallest counterexample
    python -m benchmarks.gallery --record FILE        keeps the packages' figures, which tests/gallery compares with

The metrics are those of the pages in docs/gallery: the first block of a page is run, and nothing is typed twice. The packages (the extra
`gallery`) are heavy and some are old, so the tests do without them: they draw the same cases and compare with the recorded figures.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import tallystick as ts

PAGES = Path(__file__).parents[1] / "docs" / "gallery"
CASES = 200
Figures = dict[str, float]


@dataclass(frozen=True)
class Field:
    """A field: how a case is drawn, which cases its package ships, what its own package says, and what we say."""

    page: str
    package: str
    draw: Callable[[Random], tuple[Any, Any]]
    peer: Callable[[Any, Any], Figures]
    ours: Callable[[dict[str, Any], Any, Any], Figures]
    departs: tuple[str, ...] = ()
    """Figures in which the package departs from the optimum, error rates: ours is never above."""
    exceeds: tuple[str, ...] = ()
    """The same of figures of which more is better: ours is never below."""
    shipped: Callable[[], list[tuple[Any, Any]]] | None = None


def code_of(page: str) -> dict[str, Any]:
    """What the first Python block of a page defines."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None, f"docs/gallery/{page}.md has no Python block"
    space: dict[str, Any] = {}
    exec(compile(found[1], f"docs/gallery/{page}.md", "exec"), space)
    return space


def figures(metric: Any, reference: Any, predicted: Any) -> dict[str, float]:
    """The figures of one document; what is 0/0 is 0."""
    found = ts.evaluate(metric, [reference], [predicted]).figures
    return {name: 0.0 if value is None else value for name, value in found.items()}


# Who speaks when


def draw_turns(rng: Random) -> tuple[Any, Any]:
    def speak(speakers: int, least: int) -> dict[str, Any]:
        turns = []
        for speaker in range(speakers):
            now = rng.random() * 2
            for _ in range(rng.randint(least, 6)):
                start = now + rng.random() * 3
                now = start + 0.1 + rng.random() * 4
                turns.append({"speaker": f"S{speaker}", "time": [start, now]})
        return {"turns": turns}

    return speak(rng.randint(1, 4), 1), speak(rng.randint(0, 4), 0)


def peer_turns(reference: Any, predicted: Any) -> Figures:
    from pyannote.core import Annotation, Segment, Timeline
    from pyannote.metrics.diarization import DiarizationErrorRate, JaccardErrorRate

    sides = []
    for side in (reference, predicted):
        found = Annotation()
        for k, turn in enumerate(side["turns"]):
            found[Segment(*turn["time"]), k] = turn["speaker"]
        sides.append(found)
    whole = Timeline([sides[0].get_timeline().extent() | sides[1].get_timeline().extent()])
    der = DiarizationErrorRate()(*sides, uem=whole, detailed=True)
    return {
        "der": der["diarization error rate"],
        "missed": der["missed detection"] / der["total"],
        "collar": DiarizationErrorRate(collar=0.5)(*sides, uem=whole),
        "no_overlap": DiarizationErrorRate(skip_overlap=True)(*sides, uem=whole),
        "jer": JaccardErrorRate()(*sides, uem=whole),
        "jer_by_time": JaccardErrorRate()(*sides, uem=whole),
    }


def shipped_turns() -> list[tuple[Any, Any]]:
    """The recordings of pyannote.metrics' own tests (tests/test_diarization.py), without and with overlapping speech."""

    def talk(*turns: tuple[float, float, str]) -> dict[str, Any]:
        return {"turns": [{"speaker": who, "time": [start, end]} for start, end, who in turns]}

    rest = ((12, 20, "B"), (24, 27, "A"), (30, 40, "C"))
    found = talk((2, 13, "a"), (13, 14, "d"), (14, 20, "b"), (22, 38, "c"), (38, 40, "d"))
    return [(talk((0, 10, "A"), *rest), found), (talk((0, 13, "A"), *rest), found)]


def our_turns(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    speakers = page["by_speaker"](reference), page["by_speaker"](predicted)
    der = figures(page["DER"], *speakers)
    collar, alone = (
        figures(page["DER"], *map(page["by_speaker"], page["without"](reference, predicted, gaps)))["error_rate"]
        for gaps in (page["collars"](reference, 0.25), page["overlaps"](reference))
    )
    jer, theirs = (1 - figures(page[name], *speakers)["recall"] for name in ("JER", "PYANNOTE_JER"))
    return {
        "der": der["error_rate"], "missed": der["missed"], "collar": collar, "no_overlap": alone, "jer": jer, "jer_by_time": theirs,
    }  # fmt: skip


# Tracks


def draw_tracks(rng: Random) -> tuple[Any, Any]:
    gold: list[Any] = []
    for _ in range(rng.randint(1, 5)):
        x, y, track = rng.random() * 50, rng.random() * 50, []
        for frame in range(12):
            x, y = x + rng.uniform(-2, 2), y + rng.uniform(-2, 2)
            if rng.random() < 0.8:
                track.append({"frame": frame, "box": [x, y, 10, 10]})
        gold.append(track)
    found: list[Any] = [[] for _ in range(len(gold) + 1)]
    for k, track in enumerate(gold):
        now = k
        for one in track:
            if rng.random() < 0.1:
                now = rng.randrange(len(found))
            if rng.random() < 0.9 and not any(other["frame"] == one["frame"] for other in found[now]):
                x, y = (edge + rng.uniform(-2, 2) for edge in one["box"][:2])
                found[now].append({"frame": one["frame"], "box": [x, y, 10, 10]})
    return {"tracks": gold}, {"tracks": [track for track in found if track]}


def peer_tracks(reference: Any, predicted: Any) -> Figures:
    import motmetrics
    import numpy as np

    if not hasattr(np, "asfarray"):  # motmetrics 1.4 knows no NumPy 2
        setattr(np, "asfarray", lambda values: np.asarray(values, float))  # noqa: B010
    watched = motmetrics.MOTAccumulator(auto_id=True)
    frames = sorted({one["frame"] for side in (reference, predicted) for track in side["tracks"] for one in track})
    for frame in frames:
        sides = [
            [(k, one["box"]) for k, track in enumerate(side["tracks"]) for one in track if one["frame"] == frame]
            for side in (reference, predicted)
        ]
        boxes = [np.array([box for _, box in side]).reshape(-1, 4) for side in sides]
        far = motmetrics.distances.iou_matrix(*boxes, max_iou=0.5)
        watched.update([k for k, _ in sides[0]], [k for k, _ in sides[1]], far)
    found = motmetrics.metrics.create().compute(watched, metrics=["idf1", "idp", "idr"])
    return {name: float(found[name].iloc[0]) for name in ("idf1", "idp", "idr")}


def shipped_tracks() -> list[tuple[Any, Any]]:
    """The two videos that motmetrics comes with."""
    import motmetrics

    found = []
    for video in ("TUD-Campus", "TUD-Stadtmitte"):
        sides = []
        for file in ("gt.txt", "test.txt"):
            table = motmetrics.io.loadtxt(Path(motmetrics.__file__).parent / "data" / video / file, fmt="mot15-2D")
            tracks: dict[int, list[Any]] = {}
            for (frame, track), row in table.iterrows():
                box = [float(row[name]) for name in ("X", "Y", "Width", "Height")]
                tracks.setdefault(track, []).append({"frame": int(frame), "box": box})
            sides.append({"tracks": list(tracks.values())})
        found.append((sides[0], sides[1]))
    return found


def our_tracks(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    found = figures(page["IDF1"], reference, predicted)
    return {"idf1": found["f1"], "idp": found["precision"], "idr": found["recall"]}


# Objects in pictures: a case is a few pictures


def draw_objects(rng: Random) -> tuple[Any, Any]:
    kinds, gold, found = rng.randint(1, 4), [], []
    crowds = rng.choice((0.0, 0.1, 0.4))
    for _ in range(rng.randint(2, 10)):
        here, there = [], []
        for _ in range(rng.randint(1, 8)):
            x, y = rng.random() * 100, rng.random() * 100
            w, h = (5 + rng.random() * rng.choice((40, 40, 150)) for _ in range(2))
            kind = rng.randrange(kinds)
            here.append({
                "category": kind, "box": [x, y, w, h], "area": w * h * rng.uniform(0.5, 1), "crowd": rng.random() < crowds,
            })  # fmt: skip
            for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
                s = rng.choice((1, 3, 8))
                sizes = [max(1, side + rng.uniform(-s, s)) for side in (w, h)]
                box = [x + rng.uniform(-s, s), y + rng.uniform(-s, s), *sizes]
                named = kind if rng.random() < 0.9 else rng.randrange(kinds)
                there.append(_seen(rng, named, box))
        there.append(_seen(rng, rng.randrange(kinds), [rng.random() * 100, rng.random() * 100, 20, 20]))
        gold.append({"objects": here})
        found.append({"objects": there})
    return gold, found


def _seen(rng: Random, kind: int, box: list[float]) -> dict[str, Any]:
    return {"category": kind, "box": box, "area": box[2] * box[3], "score": rng.random()}


COCO_FIGURES = (
    "ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large", "ar1", "ar10", "ar", "ar_small", "ar_medium", "ar_large",
)  # fmt: skip


def peer_objects(reference: Any, predicted: Any) -> Figures:
    import contextlib
    import io

    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    number = iter(range(1, 10**9))
    kinds = {one["category"] for side in (reference, predicted) for image in side for one in image["objects"]}
    gold = COCO()
    gold.dataset = {
        "images": [{"id": k} for k in range(len(reference))],
        "categories": [{"id": kind} for kind in sorted(kinds)],
        "annotations": [
            {"id": next(number), "image_id": k, "category_id": one["category"], "bbox": one["box"],
             "iscrowd": int(one.get("crowd", False)), "area": one.get("area", one["box"][2] * one["box"][3])}
            for k, image in enumerate(reference) for one in image["objects"]
        ],
    }  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):
        gold.createIndex()
        found = gold.loadRes([
            {"image_id": k, "category_id": one["category"], "bbox": one["box"], "score": one["score"]}
            for k, image in enumerate(predicted) for one in image["objects"]
        ])  # fmt: skip
        judged = COCOeval(gold, found, "bbox")
        judged.evaluate()
        judged.accumulate()
        judged.summarize()
    found = dict(zip(COCO_FIGURES, map(float, judged.stats), strict=True))
    return found | {"best_ap": found["ap"], "best_ar": found["ar"]}


def our_objects(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    def ask(metric: Any) -> dict[str, float]:  # -1 is how COCO writes that there is nothing to find
        found = ts.evaluate(metric, reference, predicted).figures
        return {name: -1.0 if value is None else value for name, value in found.items()}

    out = ask(page["COCO"])
    for name, metric in page["BY_AREA"].items():
        out |= {f"{figure}_{name}": value for figure, value in ask(metric).items() if figure in ("ap", "ar")}
    for most in (1, 10):
        out[f"ar{most}"] = ask(replace(page["COCO"], most=most))["ar"]
    best = ask(page["AP"])
    return {name: out[name] for name in COCO_FIGURES} | {"best_ap": best["ap"], "best_ar": best["ar"]}


# Sound events


def draw_sounds(rng: Random) -> tuple[Any, Any]:
    labels = ("car", "dog", "rain")
    gold = []
    for _ in range(rng.randint(1, 8)):
        start = round(rng.random() * 9, 3)
        gold.append({"label": rng.choice(labels), "time": [start, round(start + 0.3 + rng.random() * 3, 3)]})
    found = []
    for one in gold:
        if rng.random() < 0.85:
            start, end = (
                max(0.0, round(edge + rng.choice((0.05, 0.4)) * rng.uniform(-1, 1), 3)) for edge in one["time"]
            )
            label = one["label"] if rng.random() < 0.8 else rng.choice(labels)
            found.append({"label": label, "time": [start, max(end, start + 0.1)]})
    found.append({"label": rng.choice(labels), "time": [1.0, 2.5]})
    for _ in range(rng.choice((0, 0, 1, 2))):  # several at almost the same time, whose labels are wrong
        start = round(rng.random() * 9, 3)
        for side, label in ((gold, "rain"), (found, "dog")):
            for _ in range(2):
                onset = round(start + rng.uniform(0, 0.4), 3)
                side.append({"label": label, "time": [onset, round(onset + 2, 3)]})
    return {"events": gold}, {"events": found}


def peer_sounds(reference: Any, predicted: Any) -> Figures:
    import dcase_util
    import sed_eval

    sides = [
        dcase_util.containers.MetaDataContainer([
            {"event_label": one["label"], "event_onset": one["time"][0], "event_offset": one["time"][1], "file": "f", "scene_label": "s"}
            for one in side["events"]
        ])
        for side in (reference, predicted)
    ]  # fmt: skip
    labels = ["car", "dog", "rain"]
    segments = sed_eval.sound_event.SegmentBasedMetrics(event_label_list=labels, time_resolution=1.0)
    events = sed_eval.sound_event.EventBasedMetrics(event_label_list=labels, t_collar=0.2, percentage_of_length=0.5)
    for metric in (segments, events):
        metric.evaluate(reference_event_list=sides[0], estimated_event_list=sides[1])
    out = {}
    for name, metric in (("segment", segments), ("event", events)):
        found = metric.results_overall_metrics()
        f = found["f_measure"]["f_measure"]
        out[f"{name}_f1"] = 0.0 if math.isnan(f) else float(f)
        out[f"{name}_er"] = float(found["error_rate"]["error_rate"])
    return out | {"best_event_er": out["event_er"]}


def our_sounds(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    rolled = [page["in_segments"](side, 1.0) for side in (reference, predicted)]
    return {
        "segment_f1": figures(page["SEGMENT_F1"], *rolled)["f1"],
        "segment_er": figures(page["SEGMENT_ER"], *rolled)["error_rate"],
        "event_f1": figures(page["EVENT_F1"], reference, predicted)["f1"],
        "event_er": figures(page["SED_EVAL_ER"], reference, predicted)["error_rate"],
        "best_event_er": figures(page["EVENT_ER"], reference, predicted)["error_rate"],
    }


# Notes


def draw_notes(rng: Random) -> tuple[Any, Any]:
    gold = []
    for _ in range(rng.randint(1, 15)):
        start = round(rng.random() * 3, 3)
        gold.append(
            {
                "time": [start, round(start + rng.choice((0.1, 0.3, 0.6, 1.0)), 3)],
                "pitch": rng.choice((220.0, 440.0, 442.0, 450.0, 466.16)),
            }
        )
    found = []
    for one in gold:
        if rng.random() < 0.9:
            start = max(0.0, one["time"][0] + rng.uniform(-0.08, 0.08))
            found.append(
                {
                    "time": [start, start + 0.05 + rng.random()],
                    "pitch": one["pitch"] * 2 ** (rng.uniform(-80, 80) / 1200),
                }
            )
    found.append({"time": [1.0, 1.5], "pitch": 330.0})
    return {"notes": gold}, {"notes": found}


def peer_notes(reference: Any, predicted: Any) -> Figures:
    import mir_eval
    import numpy as np

    arrays = []
    for side in (reference, predicted):
        arrays += [np.array([one["time"] for one in side["notes"]]), np.array([one["pitch"] for one in side["notes"]])]
    out = {}
    for name, share in (("onsets", None), ("notes", 0.2)):
        precision, recall, f1, _ = mir_eval.transcription.precision_recall_f1_overlap(*arrays, offset_ratio=share)
        out |= {f"{name}_precision": float(precision), f"{name}_recall": float(recall), f"{name}_f1": float(f1)}
    return out


def shipped_notes() -> list[tuple[Any, Any]]:
    """The notes of mir_eval's own tests (tests/test_transcription.py)."""

    def play(*notes: tuple[float, float, float]) -> dict[str, Any]:
        return {"notes": [{"time": [start, end], "pitch": pitch} for start, end, pitch in notes]}

    gold = play((0.1, 0.3, 220), (0.3, 0.4, 246.942), (0.5, 0.6, 277.183), (0.55, 0.65, 293.665))
    found = play((0.12, 0.29, 225), (0.3, 0.34, 246.942), (0.5, 0.6, 500), (0.55, 0.6, 293.665), (0.56, 0.65, 293.665))
    return [(gold, found), (play((0, 1, 100)), play((0.05, 1, 100)))]


def our_notes(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    out = {}
    for name, metric in (("onsets", page["ONSETS"]), ("notes", page["NOTES"])):
        found = figures(metric, reference, predicted)
        out |= {f"{name}_{figure}": found[figure] for figure in ("precision", "recall", "f1")}
    return out


# Tables


def draw_tables(rng: Random) -> tuple[Any, Any]:
    words = ("", "a", "12", "total", "3.50", "year 2020")
    wide = rng.randint(1, 4)
    gold = [[rng.choice(words) for _ in range(wide)] for _ in range(rng.randint(1, 5))]
    found = [[cell if rng.random() < 0.8 else rng.choice(words) for cell in row] for row in gold if rng.random() < 0.9]
    if rng.random() < 0.3:
        found.append(list(rng.choice(gold)))
    if wide > 1 and rng.random() < 0.4:
        gone = rng.randrange(wide)
        found = [[cell for k, cell in enumerate(row) if k != gone] for row in found]
    found = found or [["a"]]
    return {"rows": gold}, {"rows": found}


def _html(side: Any) -> str:
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in side["rows"])
    return f"<html><body><table>{rows}</table></body></html>"


def peer_tables(reference: Any, predicted: Any) -> Figures:
    from table_recognition_metric import TEDS

    grits = _grits(reference["rows"], predicted["rows"])
    return {"teds": TEDS()(_html(predicted), _html(reference)), "grits": grits, "best_grits": grits}


def _grits(a: list[list[str]], b: list[list[str]]) -> float:
    """The factored 2D-MSS of Smock et al. (2022), written out plainly: there is no package of it."""

    def chain(score: Callable[[int, int], float], n: int, m: int) -> tuple[float, list[tuple[int, int]]]:
        best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * (m + 1) for _ in range(n + 1)]
        for i in range(n):
            for j in range(m):
                value, path = best[i][j]
                best[i + 1][j + 1] = max(
                    best[i][j + 1], best[i + 1][j], (value + score(i, j), [*path, (i, j)]), key=lambda one: one[0]
                )
        return best[n][m]

    def alike(x: str, y: str) -> float:
        if not x and not y:
            return 1.0
        shared, _ = chain(lambda i, j: float(x[i] == y[j]), len(x), len(y))
        return 2 * shared / (len(x) + len(y))

    wide, narrow = len(a[0]), len(b[0])
    _, rows = chain(lambda i, j: chain(lambda k, n: alike(a[i][k], b[j][n]), wide, narrow)[0], len(a), len(b))
    _, columns = chain(lambda k, n: chain(lambda i, j: alike(a[i][k], b[j][n]), len(a), len(b))[0], wide, narrow)
    total = sum(alike(a[i][k], b[j][n]) for i, j in rows for k, n in columns)
    return 2 * total / (len(a) * wide + len(b) * narrow)


def our_tables(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    trees = [page["as_tree"](side) for side in (reference, predicted)]
    return {
        "teds": figures(page["TEDS"], *trees)["recall"],
        "grits": figures(page["GRITS"], reference, predicted)["f1"],
        "best_grits": figures(page["EXACT_GRITS"], reference, predicted)["f1"],
    }


# Trees of constituents


def draw_trees(rng: Random) -> tuple[Any, Any]:
    words = [f"w{k}" for k in range(rng.randint(2, 9))]

    def grow(low: int, high: int, depth: int = 0) -> str:
        label = "S" if not depth else rng.choice(("NP", "VP", "PP"))
        if high - low == 1:
            return f"(N {words[low]})" if depth else f"(S (N {words[low]}))"
        cut = rng.randint(low + 1, high - 1)
        return f"({label} {grow(low, cut, depth + 1)} {grow(cut, high, depth + 1)})"

    return grow(0, len(words)), grow(0, len(words))


def peer_trees(reference: str, predicted: str) -> Figures:
    from PYEVALB import parser, scorer

    found = scorer.Scorer().score_trees(*map(parser.create_from_bracket_string, (reference, predicted)))
    return {"precision": found.prec, "recall": found.recall, "crossing": float(found.cross_brackets)}


def shipped_trees() -> list[tuple[Any, Any]]:
    """The pair of trees in PYEVALB's README, with numbers for its words."""
    gold = (
        "(IP (NP (PN w1)) (VP (ADVP (AD w2)) (VP (VV w3) (IP (NP (QP (CD w4) (CLP (M w5))) (DNP (NP (JJ w6)) "
        "(DEG w7)) (NP (NN w8))) (PU w9) (IP (VP (VV w10) (PU w11) (VV w12)))))) (PU w13))"
    )
    found = (
        "(IP (IP (NP (PN w1)) (VP (ADVP (AD w2)) (VP (VV w3) (NP (QP (CD w4) (CLP (M w5))) (DNP (ADJP (JJ w6)"
        ") (DEG w7)) (NP (NN w8)))))) (PU w9) (IP (NP (NN w10)) (PU w11) (VP (VV w12))) (PU w13))"
    )
    return [(gold, found)]


def our_trees(page: dict[str, Any], reference: str, predicted: str) -> Figures:
    sides = [page["brackets"](side) for side in (reference, predicted)]
    found = figures(page["LABELLED"], *sides)
    return {"precision": found["precision"], "recall": found["recall"], "crossing": float(page["crossing"](*sides))}


# Clusters


def draw_clusters(rng: Random) -> tuple[Any, Any]:
    n = rng.randint(2, 12)
    return tuple(
        {"clusters": _clusters([rng.randrange(k) for _ in range(n)])} for k in (rng.randint(1, 4), rng.randint(1, 4))
    )  # type: ignore[return-value]


def _clusters(labels: list[int]) -> list[list[int]]:
    return [[k for k, label in enumerate(labels) if label == one] for one in sorted(set(labels))]


def _labels(side: Any) -> list[int]:
    found = {item: k for k, cluster in enumerate(side["clusters"]) for item in cluster}
    return [found[item] for item in sorted(found)]


def peer_clusters(reference: Any, predicted: Any) -> Figures:
    from sklearn import metrics

    left, right = _labels(reference), _labels(predicted)
    (_, false), (missed, right_pairs) = metrics.cluster.pair_confusion_matrix(left, right)
    whole = 2 * right_pairs + false + missed
    gold = {item: set(cluster) for cluster in reference["clusters"] for item in cluster}
    found = {item: set(cluster) for cluster in predicted["clusters"] for item in cluster}
    precision = sum(len(gold[k] & found[k]) / len(found[k]) for k in gold) / len(gold)
    recall = sum(len(gold[k] & found[k]) / len(gold[k]) for k in gold) / len(gold)
    homogeneity, completeness, v = metrics.homogeneity_completeness_v_measure(left, right)
    return {
        "pairwise": float(2 * right_pairs / whole) if whole else 1.0,
        "b3_precision": precision,
        "b3_recall": recall,
        "homogeneity": float(homogeneity),
        "completeness": float(completeness),
        "v": float(v),
        "v_2": float(metrics.v_measure_score(left, right, beta=2)),
        "ari": float(metrics.adjusted_rand_score(left, right)),
        "ami": float(metrics.adjusted_mutual_info_score(left, right)),
    }


def our_clusters(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    b3 = figures(page["B_CUBED"], page["memberships"](reference), page["memberships"](predicted))
    v, v_2, pairs, ari, ami = (
        ts.evaluate(page[name], [reference], [predicted], undefined=1.0).figures  # 0/0 is 1, as scikit-learn has it
        for name in ("V", "V_2", "PAIRWISE", "ARI", "AMI")
    )
    return {
        "pairwise": pairs["f1"], "b3_precision": b3["precision"], "b3_recall": b3["recall"],
        "homogeneity": v["recall"], "completeness": v["precision"], "v": v["f1"], "v_2": list(v_2.values())[-1],
        "ari": ari["adjusted"], "ami": ami["adjusted"],
    }  # fmt: skip


# Triples: no package, the definitions


PLACES = ("subject", "predicate", "object")


def draw_triples(rng: Random) -> tuple[Any, Any]:
    texts = ("Aarhus", "Denmark", "Aarhus Airport", "airport", "leader name", "leader", "Jacob Bundsgaard", "born in")

    def draw() -> dict[str, str]:
        return {place: rng.choice(texts) for place in PLACES}

    gold = [draw() for _ in range(rng.randint(1, 4))]
    found = [dict(zip(PLACES, one.values(), strict=True)) for one in gold if rng.random() < 0.8]
    for one in found:
        for place in PLACES:
            if rng.random() < 0.3:
                one[place] = rng.choice((rng.choice(texts), one[place].split()[0].lower()))
        if rng.random() < 0.2:
            one["subject"], one["object"] = one["object"], one["subject"]
    found += [draw() for _ in range(rng.randint(0 if found else 1, 1))]
    return {"triples": gold}, {"triples": found}


def peer_triples(reference: Any, predicted: Any) -> Figures:
    """The definitions, with all permutations; and what comes out if the triples are paired once for all four figures."""
    gold, found = (
        [[triple[place].lower() for place in PLACES] for triple in side["triples"]] for side in (reference, predicted)
    )
    credits: dict[str, Callable[[str, str, bool], float]] = {
        "strict": lambda a, b, same: float(a == b and same),
        "exact": lambda a, b, same: float(a == b),
        "partial": lambda a, b, same: float(a == b) or 0.5 * bool(set(a.split()) & set(b.split())),
        "type": lambda a, b, same: float(bool(set(a.split()) & set(b.split())) and same),
    }

    def worth(name: str, one: list[str], other: list[str]) -> float:
        return max(
            sum(credits[name](one[k], other[place], k == place) for k, place in enumerate(places))
            for places in permutations(range(3))
        )

    tables = {name: [[worth(name, one, other) for other in found] for one in gold] for name in credits}
    many = max(len(gold), len(found))
    ways = [
        [(i, j) for i, j in enumerate(order) if i < len(gold) and j < len(found)] for order in permutations(range(many))
    ]
    sums = [{name: sum(table[i][j] for i, j in way) for name, table in tables.items()} for way in ways]
    size = 3 * (len(gold) + len(found))
    best = {name: max(one[name] for one in sums) for name in credits}
    once = max(sums, key=lambda one: sum(one.values()))
    left, right = ({tuple(triple.values()) for triple in side["triples"]} for side in (reference, predicted))
    return (
        {"triples": 2 * len(left & right) / (len(left) + len(right))}
        | {name: 2 * value / size for name, value in best.items()}
        | {f"{name}_{how}": 2 * value / size for how in ("once", "best") for name, value in once.items()}
    )


def our_triples(page: dict[str, Any], reference: Any, predicted: Any) -> Figures:
    sides = [page["elements"](side) for side in (reference, predicted)]
    best = {name: figures(metric, *sides)["f1"] for name, metric in page["WEBNLG"].items()}
    once = {f"{name}_once": figures(metric, *sides)["f1"] for name, metric in page["ONCE"].items()}
    whole = {"triples": figures(page["TRIPLES"], reference, predicted)["f1"]}
    return whole | best | once | {f"{name}_best": value for name, value in best.items()}


FIELDS = {
    one.page: one
    for one in (
        Field("detection", "pycocotools", draw_objects, peer_objects, our_objects, exceeds=("best_ap", "best_ar")),
        Field("tracking", "motmetrics", draw_tracks, peer_tracks, our_tracks, shipped=shipped_tracks),
        Field(
            "diarisation",
            "pyannote.metrics",
            draw_turns,
            peer_turns,
            our_turns,
            ("jer", "jer_by_time"),
            shipped=shipped_turns,
        ),
        Field("sounds", "sed_eval", draw_sounds, peer_sounds, our_sounds, ("best_event_er",)),
        Field("notes", "mir_eval", draw_notes, peer_notes, our_notes, shipped=shipped_notes),
        Field("tables", "table_recognition_metric", draw_tables, peer_tables, our_tables, exceeds=("best_grits",)),
        Field("constituents", "PYEVALB", draw_trees, peer_trees, our_trees, shipped=shipped_trees),
        Field("clusters", "sklearn", draw_clusters, peer_clusters, our_clusters),
        Field(
            "triples",
            "",
            draw_triples,
            peer_triples,
            our_triples,
            exceeds=tuple(f"{name}_best" for name in ("strict", "exact", "partial", "type")),
        ),
    )
}


def cases(field: Field, count: int = CASES) -> list[tuple[Any, Any]]:
    """The same cases each time."""
    rng = Random(field.page)
    return [field.draw(rng) for _ in range(count)]


def run(field: Field, count: int) -> dict[str, list[Figures]]:
    """The package's figures on all cases, and on those that it ships; prints how far ours are from them."""
    page, drawn = code_of(field.page), cases(field, count)
    shipped = []
    for case in field.shipped() if field.shipped else ():
        theirs, mine = field.peer(*case), field.ours(page, *case)
        shipped.append(theirs)
        gap = max(abs(mine[name] - theirs[name]) for name in theirs if name not in (*field.departs, *field.exceeds))
        print(f"{field.page:13} a case that {field.package} ships: at most {gap:.2g} apart")
    began = time.process_time()
    found = [field.peer(*case) for case in drawn]
    between = time.process_time()
    ours = [field.ours(page, *case) for case in drawn]
    spent = time.process_time() - between, between - began
    for name in found[0]:
        gaps = [abs(one[name] - other[name]) for one, other in zip(ours, found, strict=True)]
        differ = sum(gap > 1e-9 for gap in gaps)
        note = " (departs from the optimum)" if name in (*field.departs, *field.exceeds) else ""
        print(f"{field.page:13} {name:16} {count} cases, {differ:3} differ, at most by {max(gaps):.2g}{note}")
    print(f"{field.page:13} CPU s: ours {spent[0]:.2f}, {field.package or 'the definition'} {spent[1]:.2f}")
    return {field.page: found} | ({f"{field.page} shipped": shipped} if shipped else {})


# At full size: 5,000 pictures of 80 kinds, 100 hours of speech, long recordings and videos


def _many(draw: Callable[[Random], tuple[Any, Any]], count: int) -> list[tuple[Any, Any]]:
    rng = Random(1)
    return [draw(rng) for _ in range(count)]


def _pictures(count: int) -> tuple[Any, Any]:
    rng, gold, found = Random(1), [], []
    for _ in range(count):
        sides: tuple[list[Any], list[Any]] = ([], [])
        for _ in range(rng.randint(1, 14)):
            x, y, w, h, kind = (
                rng.random() * 500,
                rng.random() * 400,
                10 + rng.random() * 90,
                10 + rng.random() * 90,
                rng.randrange(80),
            )
            sides[0].append({"category": kind, "box": [x, y, w, h]})
            for _ in range(rng.choice((0, 1, 1, 2))):
                box = [x + rng.uniform(-6, 6), y + rng.uniform(-6, 6), w + rng.uniform(-5, 5), h + rng.uniform(-5, 5)]
                sides[1].append({"category": kind, "box": box, "score": rng.random()})
        gold.append({"objects": sides[0]})
        found.append({"objects": sides[1]})
    return gold, found


def _speech(hours: int) -> list[tuple[Any, Any]]:
    """A recording an hour, in turns of a few seconds."""
    rng, out = Random(1), []
    for _ in range(hours):
        now, gold, found = 0.0, [], []
        while now < 3600:
            who, length = rng.randrange(4), 0.5 + rng.random() * 8
            gold.append({"speaker": f"S{who}", "time": [now, now + length]})
            if rng.random() < 0.95:
                heard = who if rng.random() < 0.9 else rng.randrange(4)
                found.append(
                    {"speaker": f"x{heard}", "time": [now + rng.random() * 0.3, now + length + rng.random() * 0.3]}
                )
            now += length + 0.3 + rng.random()  # nobody talks over themselves
        out.append(({"turns": gold}, {"turns": found}))
    return out


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = call()
    return time.process_time() - began, found


def _mean(metric: Any, figure: str, gold: list[Any], found: list[Any]) -> float:
    return float(ts.evaluate(metric, gold, found, undefined=1.0).macro[figure] or 0.0)


def _ours_notes(page: dict[str, Any], gold: list[Any], found: list[Any]) -> float:
    return _mean(page["ONSETS"], "f1", gold, found) + _mean(page["NOTES"], "f1", gold, found)


def _ours_sounds(page: dict[str, Any], gold: list[Any], found: list[Any]) -> float:
    rolled = [[page["in_segments"](one, 1.0) for one in side] for side in (gold, found)]
    segments = _mean(page["SEGMENT_F1"], "f1", *rolled) + _mean(page["SEGMENT_ER"], "error_rate", *rolled)
    return segments + _mean(page["EVENT_F1"], "f1", gold, found) + _mean(page["SED_EVAL_ER"], "error_rate", gold, found)


def _ours_trees(page: dict[str, Any], gold: list[Any], found: list[Any]) -> float:
    sides = [[page["brackets"](one) for one in side] for side in (gold, found)]
    return _mean(page["LABELLED"], "precision", *sides) + sum(map(page["crossing"], *sides)) / len(gold)


def _teds(reference: Any, predicted: Any) -> float:
    from table_recognition_metric import TEDS

    return float(TEDS()(*map(_html, (predicted, reference))))


def _rand(reference: Any, predicted: Any) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(_labels(reference), _labels(predicted)))


def _summed(peer: Callable[[Any, Any], Figures], *names: str) -> Callable[[Any, Any], float]:
    def asked(reference: Any, predicted: Any) -> float:
        found = peer(reference, predicted)
        return sum(found[name] for name in names)

    return asked


MEANS: tuple[tuple[str, Callable[[Any, Any], float], Callable[..., float]], ...] = (
    ("notes", _summed(peer_notes, "onsets_f1", "notes_f1"), _ours_notes),
    ("tracking", _summed(peer_tracks, "idf1"), lambda page, *sides: _mean(page["IDF1"], "f1", *sides)),
    ("sounds", _summed(peer_sounds, "segment_f1", "segment_er", "event_f1", "event_er"), _ours_sounds),
    ("tables", _teds, lambda page, *sides: _mean(page["TEDS"], "recall", *([page["as_tree"](one) for one in side] for side in sides))),
    ("constituents", _summed(peer_trees, "precision", "crossing"), _ours_trees),
    ("clusters", _rand, lambda page, *sides: _mean(page["ARI"], "adjusted", *sides)),
)  # fmt: skip
"""Field, what its package says of a case, and what we say of all: the same figures, added up, so that both do the same work."""


def run_large() -> int:
    """CPU seconds of both; ours is to be the faster one each time."""
    slower = 0

    def compare(name: str, size: str, theirs: Callable[[], float], ours: Callable[[], float]) -> None:
        nonlocal slower
        field, (case,) = FIELDS[name], cases(FIELDS[name], 1)
        field.peer(*case), field.ours(code_of(name), *case)  # nobody pays for imports
        (their_time, expected), (our_time, found) = _timed(theirs), _timed(ours)
        slower += our_time > their_time
        print(
            f"{name:13} {size}: ours {our_time:.2f} s ({found:.6f}), {FIELDS[name].package} {their_time:.2f} s ({expected:.6f}), {their_time / our_time:.1f} times"
        )
        assert abs(found - expected) < 1e-9, name

    gold, seen = _pictures(5000)
    coco = code_of("detection")["COCO"]
    compare(
        "detection",
        "5,000 pictures",
        lambda: peer_objects(gold, seen)["ap"],
        lambda: ts.evaluate(coco, gold, seen).figures["ap"],
    )
    talks, page = _speech(100), code_of("diarisation")
    compare(
        "diarisation",
        "100 hours",
        lambda: _peer_speech(talks),
        lambda: ts.evaluate(page["DER"], *([page["by_speaker"](talk[side]) for talk in talks] for side in (0, 1))).figures["error_rate"],
    )  # fmt: skip
    for name, theirs, ours in MEANS:
        drawn, made = _many(FIELDS[name].draw, 300), code_of(name)
        compare(
            name, "the mean of 300 cases",
            lambda drawn=drawn, theirs=theirs: sum(theirs(*case) for case in drawn) / len(drawn),
            lambda drawn=drawn, made=made, ours=ours: ours(made, *map(list, zip(*drawn, strict=True))),
        )  # fmt: skip
    return int(slower > 0)


def _peer_speech(talks: list[tuple[Any, Any]]) -> float:
    from pyannote.core import Annotation, Segment, Timeline
    from pyannote.metrics.diarization import DiarizationErrorRate

    metric = DiarizationErrorRate()
    for talk in talks:
        sides = []
        for side in talk:
            found = Annotation()
            for k, turn in enumerate(side["turns"]):
                found[Segment(*turn["time"]), k] = turn["speaker"]
            sides.append(found)
        metric(*sides, uem=Timeline([sides[0].get_timeline().extent() | sides[1].get_timeline().extent()]))
    return float(abs(metric))


CHECKED = (
    ("detection", "AP", "Picture"), ("detection", "COCO", "Picture"), ("detection", "F1", "Picture"), ("tracking", "IDF1", "Video"),
    ("diarisation", "DER", "Speakers"), ("diarisation", "JER", "Speakers"), ("diarisation", "PYANNOTE_JER", "Speakers"),
    ("sounds", "EVENT_F1", "Recording"), ("sounds", "EVENT_ER", "Recording"), ("sounds", "SED_EVAL_ER", "Recording"), ("notes", "NOTES", "Music"),
    ("tables", "GRITS", "Grid"), ("tables", "EXACT_GRITS", "Grid"), ("constituents", "LABELLED", "Sentence"),
    ("semantic_roles", "SPANS", "Arguments"), ("dialogue", "JOINT", "Dialogue"), ("key_phrases", "F1_AT_M", "Paper"), ("triples", "TRIPLES", "Text"),
    ("clusters", "PAIRWISE", "CLUSTERS"), ("clusters", "V", "CLUSTERS"), ("clusters", "ARI", "CLUSTERS"),
)  # fmt: skip
"""Page, metric, and which of `benchmarks.gallery_types` its documents are."""


def run_properties(pages: list[str]) -> int:
    """What `tallystick check` refutes of each metric."""
    from benchmarks import gallery_types
    from tallystick.laboratory.properties import check
    from tallystick.laboratory.subjects import expression

    for page, name, kind in CHECKED:
        if pages and page not in pages:
            continue
        report = check(expression(code_of(page)[name], getattr(gallery_types, kind), name))
        holds = [one.name for one in report.findings if one.verdict == "holds"]
        print(f"{page} {name}: {len(holds)} hold: {', '.join(holds)}")
        for one in report.failures:
            shown = "; ".join(f"{label} {value!r}" for label, value in one.counterexample)
            print(f"    {one.name}: {one.detail}: {shown}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="The gallery's metrics beside the scorers of their fields.")
    parser.add_argument("fields", nargs="*", choices=[*FIELDS, *(page for page, *_ in CHECKED), []])
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--properties", action="store_true")
    asked = parser.parse_args()
    if asked.large:
        return run_large()
    if asked.properties:
        return run_properties(asked.fields)
    recorded = json.loads(asked.record.read_text()) if asked.record and asked.record.exists() else {}
    for name in asked.fields or FIELDS:
        package = FIELDS[name].package.partition(".")[0]
        if package and find_spec(package) is None:
            print(f"{name:13} {FIELDS[name].package} is not installed: pip install '.[gallery]'", file=sys.stderr)
        else:
            recorded |= run(FIELDS[name], asked.cases)
    if asked.record:
        asked.record.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

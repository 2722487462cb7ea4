"""Figures and times of `docs/templates.md`: MUC-4 with the systems and scorers of the literature.

    python -m benchmarks.templates DATA/events

The folder holds cases.json and muc4_official, which may not be redistributed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.templates import metrics as templates
from tallystick.tasks.templates import muc4
from tallystick.tasks.templates.files import (
    SLOTS,
    PairedTemplates,
    pair_templates,
    read_judgements,
    read_muc4,
    read_templates,
)
from tallystick.tasks.templates.metrics import by_slot
from tallystick.tasks.templates.muc4 import KINDS

SCORED = ["gtt", "dygie", "nyu", "sri", "iterx-bart-base", "iterx-bart-large", "iterx-t5-large-enc"]
UNRECORDED = {"tst3/lsi", "tst3/nyu", "tst3/sri", "tst4/sri"}
"""Systems whose recorded pairs do not add up to their own official template-id row."""
COMPARED = ("COR", "PAR", "INC", "SPU", "MIS")


def recent(cases: dict[str, Any]) -> None:
    names = [*templates.METRICS, *templates.VARIANTS]
    print("F1 x 100", *names, "CPU s", sep="\t")
    gold = _read(cases["gold"]["muc4_test_gtt"])
    documents = 0
    for system, predicted in cases["pred"]["muc4"].items():
        pairs = pair_templates(gold, _read(predicted))
        templates.score(pairs, names)
        started = time.process_time()
        results = templates.score(pairs, names)
        seconds = time.process_time() - started
        print(system, *(f"{100 * (results[name].score or 0):.2f}" for name in names), f"{seconds:.3f}", sep="\t")
        if system in SCORED:
            documents += _compared(cases, system, pairs, results)
    sizes = {round(cases["corpus"]["muc4"][s]["iterx CEAF-RME_phi3, same"]["counts"][3]) for s in SCORED}
    print(
        f"mentions of the gold: {results['iterx_phi3'].tally['den_r']:.0f}; by IterX's phi3 {min(sizes)} to {max(sizes)}"
    )
    print(f"documents with the counts of gtt, IterX-subset and IterX-phi3: {documents} of {3 * 200 * len(SCORED)}")


def _read(side: Any) -> Any:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(side, file)
        file.flush()
        return read_templates(file.name)


def _compared(cases: dict[str, Any], system: str, pairs: PairedTemplates, results: dict[str, Any]) -> int:
    same = 0
    for name, key in (
        ("gtt", "gtt"),
        ("iterx_subset_quirks", "ceaf_rme_subset"),
        ("iterx_phi3_quirks", "ceaf_rme_phi3"),
    ):
        for document, row in zip(pairs.ids, results[name].rows.tolist(), strict=True):
            theirs = cases["per_doc"][system][document][key]
            same += row == [float(x) for x in (theirs["micro_avg"] if key == "gtt" else theirs)]
    return same


def slots(cases: dict[str, Any]) -> None:
    pairs = pair_templates(_read(cases["gold"]["muc4_test_gtt"]), _read(cases["pred"]["muc4"]["gtt"]))
    print(
        "\ngtt's scorer by slot, system gtt", *(f"{k} {v.tolist()}" for k, v in by_slot(pairs, "gtt").items()), sep="\n"
    )


def large() -> None:
    rng = random.Random(3)
    words = [f"w{k}" for k in range(60)]

    def drawn(most: int) -> TemplateSet[Entity[str]]:
        return TemplateSet(
            Template(
                rng.choice(["attack", "bombing", "arson"]),
                [SlotFiller(rng.choice("ABCDE"), Entity(rng.sample(words, rng.randint(1, most)))) for _ in range(rng.randint(0, 8))],
            )
            for _ in range(200)
        )  # fmt: skip

    pairs = PairedTemplates(["d"], [drawn(3)], [drawn(1)])
    print("\n200 x 200 templates in one document, CPU s")
    for name in [*templates.METRICS, *templates.VARIANTS]:
        started = time.process_time()
        result = templates.score(pairs, [name])[name]
        print(name, f"{time.process_time() - started:.3f}", *result.warnings, sep="\t")


def official(folder: Path) -> None:
    totals = json.loads((folder / "official_totals.json").read_text())
    raw = json.loads(gzip.decompress((folder / "systems.json.gz").read_bytes()))
    keys = {test: read_muc4(f"{folder / 'keys.json'}#{test}") for test in ("tst3", "tst4")}
    judged = {test: read_judgements(folder / f"judgements.{test}.lisp.gz") for test in ("tst3", "tst4")}
    pairs, types, fs, mapped, unjudged = 0, 0, 0, 0, 0
    cells, rows, exact, sets = Counter[str](), Counter[str](), 0, 0
    print("\nofficial MUC-4\tF official\tF ours, recorded mapping\tF ours, greedy mapping")
    for name, entry in raw.items():
        test = name[:4]
        response = read_muc4(f"{folder / 'systems.json.gz'}#{name}")
        report = muc4.score(keys[test], response, judgements=judged[test], recorded=True)
        greedy = muc4.score(keys[test], response, judgements=judged[test])
        mine = report.rows()
        f, g = (muc4.f_measures(one.rows()["ALL TEMPLATES"])[0] for one in (report, greedy))
        print(name, totals[name]["F"][0], f if name not in UNRECORDED else "-", g, sep="\t")
        fs += muc4.f_measures(totals[name]["slots"]["ALL TEMPLATES"])[0] == float(totals[name]["F"][0])
        same = {s: all(mine[s][c] == row[c] for c in COMPARED) for s, row in totals[name]["slots"].items()}
        sets += sum(same[slot] for slot in SLOTS if KINDS[slot] == "set")
        if name not in UNRECORDED:
            exact += f == float(totals[name]["F"][0])
            rows.update(slot for slot, equal in same.items() if equal)
        left = {(d, t.name): t for d, ts in keys[test].documents.items() for t in ts}
        right = {(d, t.name): t for d, ts in response.documents.items() for t in ts}
        scorer, alone = muc4.SlotScorer(judged[test]), muc4.SlotScorer()
        for pair in entry["official_pairs"]:
            key, found = left.get((pair["doc"], pair["key"])), right.get((pair["doc"], pair["response"]))
            if not key or not found:
                continue
            pairs += 1
            mapped += (pair["doc"], pair["key"], pair["response"]) in greedy.mapping
            credit = muc4.value_credit("inc-type", key.slots["inc-type"][0], found.slots["inc-type"][0])
            types += credit == pair["slots"]["inc-type"][2] + pair["slots"]["inc-type"][3] / 2
            for slot in SLOTS:
                o = pair["slots"][slot]
                counts = [o[2], o[3], o[4], o[7], o[8], o[9]]
                cells[slot] += scorer.counts(key, found, slot).tolist() == counts
                unjudged += alone.counts(key, found, slot).tolist() != counts
    print(f"half credit for incident types: {types} of {pairs}; F from the official totals: {fs} of {len(raw)}")
    print(
        f"F of our own counts: {exact} of {len(raw) - len(UNRECORDED)}; recorded pairs that the greedy mapping finds: {mapped}"
    )
    print(
        f"slot counts of {pairs} pairs:", {slot: pairs - cells[slot] for slot in SLOTS if cells[slot] < pairs}, "differ"
    )
    total = pairs * len(SLOTS)
    print(f"of {total} counts {total - sum(cells.values())} differ, {unjudged} without the judgements")
    kinds = sum(KINDS[slot] == "set" for slot in SLOTS)
    of_sets = sum(rows[slot] for slot in SLOTS if KINDS[slot] == "set")
    print(
        f"set-fill rows: {of_sets} of {kinds * (len(raw) - len(UNRECORDED))}; of all {len(raw)} files {sets} of {kinds * len(raw)}"
    )
    print(f"rows of {len(raw) - len(UNRECORDED)} reports that are the same:", dict(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data/events"))
    folder = parser.parse_args().folder
    cases = json.loads((folder / "cases.json").read_text())
    recent(cases)
    slots(cases)
    large()
    official(folder / "muc4_official")


if __name__ == "__main__":
    main()

"""Figures and times of `docs/arguments.md`: BART-Gen on WikiEvents, stage by stage.

    python -m benchmarks.arguments DATA/events [--parses spacy:en_core_web_sm]

The folder holds cases.json and wikievents, which may not be redistributed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tallystick.files.pairing import Paired
from tallystick.structures.texts import ArgumentDocument
from tallystick.tasks.arguments.files import read_pair
from tallystick.tasks.arguments.metrics import ArgumentOptions, ArgumentScores, score
from tallystick.tasks.arguments.stages import LABELS, Accepted
from tallystick.tasks.parses import with_parses

REPEATED = 50


def read(folder: Path) -> Paired[ArgumentDocument]:
    case = json.loads((folder / "cases.json").read_text(encoding="utf-8"))["textee_wikievents_eae"]
    with tempfile.TemporaryDirectory() as name:
        for side in ("gold", "pred"):
            (Path(name) / f"{side}.json").write_text(json.dumps(case[side]), encoding="utf-8")
        return read_pair(
            Path(name) / "gold.json", Path(name) / "pred.json", tokens=folder / "wikievents" / "test.jsonl"
        )


def figures(name: str, scored: ArgumentScores) -> None:
    print(name, *(f"{stage} {100 * (result.f1 or 0):.2f}" for stage, result in scored.results.items()), sep="\t")
    tally = list(scored.results.values())[-1].tally
    print("", *(f"{key} {value:g}" for key, value in tally.items()), sep="\t")


def cases(scored: ArgumentScores) -> None:
    """What the stages accept beyond exact match, and which one-token references stay open though a candidate says them."""
    for document, blocks in zip(scored.documents, scored.blocks, strict=True):
        for block in blocks:
            for step in block.steps:
                if isinstance(step, Accepted) and step.stage != "exact":
                    said = " + ".join(one.text for one in step.candidates)
                    print("accepted", step.how, block.role, block.references[step.references[0]].text, said, sep="\t")
            for k in block.free:
                one = block.references[k]
                if document.parse is None or one.span is None or one.span[0] != one.span[1]:
                    continue
                word = document.parse.word_of(one.span[0])
                children = document.parse.children[word] if word is not None else ()
                for candidate in block.open:
                    if one.text.casefold() in candidate.text.casefold().split():
                        labels = [
                            f"{document.tokens[document.parse.covers[c][0]]}/{document.parse.labels[c]}"
                            for c in children
                        ]
                        print("open", block.role, one.text, candidate.text, *labels, sep="\t")


def timed(pairs: Paired[ArgumentDocument]) -> None:
    ids = tuple(f"{name}#{k}" for k in range(REPEATED) for name in pairs.ids)
    many = replace(pairs, ids=ids, reference=pairs.reference * REPEATED, predicted=pairs.predicted * REPEATED)
    started = time.process_time()
    scored = score(many)
    seconds = time.process_time() - started
    total = sum(len(block.candidates) for blocks in scored.blocks for block in blocks)
    print(f"{total:,} candidates in {len(ids):,} documents: {seconds:.2f} CPU s for all stages")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arguments", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parses", help="a CoNLL-U file, or spacy:PIPELINE")
    options = parser.parse_args()
    pairs = read(options.folder)
    if options.parses:
        started = time.process_time()
        pairs = with_parses({"": pairs}, options.parses)[""]
        print(f"parsed in {time.process_time() - started:.1f} CPU s by {pairs.reference[0].parse.source}")
    for counting in ("rewrite", "keep"):
        figures(counting, score(pairs, ArgumentOptions(counting=counting)))
    if options.parses:
        figures("with compound", score(pairs, ArgumentOptions(modifiers=LABELS | {"compound"})))
    cases(score(pairs))
    timed(pairs)


if __name__ == "__main__":
    main()

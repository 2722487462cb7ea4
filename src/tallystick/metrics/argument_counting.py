"""What of the stages may be decided otherwise, and what they count.

Two ways of counting where one candidate meets several references, or several meet one:

    rewrite   parts and merged candidates replace the candidates, so that their number changes; one number of hits
    keep      the number of candidates stays; a part earns its share of the candidate, a merged one earns 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.errors import MetricError, did_you_mean
from tallystick.metrics.argument_forms import Wording, listed
from tallystick.metrics.argument_modifiers import LABELS
from tallystick.metrics.argument_stages import STAGES, Accepted, Block, Broken, Share
from tallystick.metrics.named import settings_line
from tallystick.structures.arguments import EventArgument

COUNTINGS = ("rewrite", "keep")
ORDERS = {"break-first": ("break", "aggregate"), "aggregate-first": ("aggregate", "break")}
DUPLICATES = ("merge", "keep")
PARTIAL = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Options:
    """What may be decided otherwise; every choice goes into the signature."""

    counting: str = "rewrite"
    wording: Wording = field(default_factory=Wording)
    modifiers: frozenset[str] = LABELS
    order: str = "break-first"
    duplicates: str = "merge"
    partial: float = 0.0
    none_credits_recall: bool = False

    def __post_init__(self) -> None:
        for name, known in (("counting", COUNTINGS), ("order", tuple(ORDERS)), ("duplicates", DUPLICATES)):
            value = getattr(self, name)
            if value not in known:
                raise MetricError(f"{name} is one of {', '.join(known)}, found {value!r}.{did_you_mean(value, known)}")
        if self.partial not in PARTIAL:
            raise MetricError(f"partial is what a Partial counts: 0, 0.5 or 1; found {self.partial!r}")

    def settings(self, parser: str, judge: str) -> str:
        """For a signature."""
        return settings_line(
            counting=self.counting,
            **self.wording.signature,
            order=self.order,
            duplicates=self.duplicates,
            modifiers=listed(self.modifiers, LABELS) if parser else "",
            parses=parser,
            judge=judge,
            partial=f"{self.partial:g}" if judge else "",
            none=("precision+recall" if self.none_credits_recall else "precision") if judge else "",
        )


PLAIN = Options()


def blocks_of(references: Sequence[EventArgument], candidates: Sequence[EventArgument]) -> list[Block]:
    """One block for each role of each event that either side has."""
    sides: dict[tuple[str, str], tuple[list[EventArgument], list[EventArgument]]] = {}
    for side, arguments in enumerate((references, candidates)):
        for one in arguments:
            sides.setdefault((one.event, one.role), ([], []))[side].append(one)
    return [Block.of(event, role, *both) for (event, role), both in sides.items()]


def block_sums(block: Block, stage: str, options: Options) -> F64:
    """num_p, den_p, num_r, den_r of one role of one event, with all stages up to this one."""
    known = STAGES[: STAGES.index(stage) + 1]
    sums: list[Share] = [0, len(block.candidates), 0, len(block.references)]
    for step in block.steps:
        if step.stage in known:
            for k, change in enumerate(credit(step, options)):
                sums[k] += change
    return np.array([float(value) for value in sums])


def credit(step: Accepted | Broken, options: Options) -> tuple[Share, Share, Share, Share]:
    """What a step adds to num_p, den_p, num_r and den_r."""
    rewrite = options.counting == "rewrite"
    if isinstance(step, Broken):
        return 0, len(step.parts) - 1 if rewrite else 0, 0, 0
    found = len(step.references)
    num_p: Share = step.weight * sum(one.share for one in step.candidates)
    den_p = 0
    if rewrite:  # one candidate for each reference, whatever there was before
        num_p, den_p = step.weight * max(found, 1), max(found, 1) - len(step.candidates)
    if not found and not step.partial and options.none_credits_recall:
        return (
            num_p,
            den_p,
            1,
            1,
        )  # the reference lacked an argument, which it now has; half an argument it does not lack
    return num_p, den_p, step.weight * found, 0


def document_sums(blocks: Sequence[Block], stage: str, options: Options) -> F64:
    """The sums of a document."""
    return np.sum([block_sums(block, stage, options) for block in blocks], axis=0) if blocks else np.zeros(4)

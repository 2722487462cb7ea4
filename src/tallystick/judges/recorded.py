"""The judge that a store is: what was recorded decides."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.errors import InputError, did_you_mean
from tallystick.judges.questions import Question
from tallystick.judges.store import KINDS, Store
from tallystick.judges.verdicts import Label, Verdict


class Recorded:
    """The judge that a store is: where several persons answered, the most experienced decides.

    `judge` picks one judge's answers, `kind` those of one kind; otherwise persons are asked before models and models before
    embeddings. Two answers of equal standing that differ leave the question unjudged: `disputed` counts them.
    """

    def __init__(
        self, store: Store, judge: str | None = None, version: str | None = None, kind: str | None = None
    ) -> None:
        known = store.judges()
        if judge is not None and judge not in known:
            raise InputError(
                f"{store.path}: nobody called {judge!r} has judged here; there are {', '.join(known) or 'none yet'}."
                f"{did_you_mean(judge, known)}"
            )
        self.name = f"{store.path.name}:{judge}" if judge else store.path.name
        best: dict[str, tuple[tuple[int, int], Verdict]] = {}
        self.disputed: set[str] = set()
        for key, who, verdict in store.verdicts(judge, version):
            sort, experience = known[who]
            if kind not in (None, sort):
                continue
            rank = KINDS.index(sort) if sort in KINDS else len(KINDS), -experience
            if key not in best or rank < best[key][0]:
                best[key] = rank, verdict
                self.disputed.discard(key)
            elif rank == best[key][0] and verdict.said != best[key][1].said:
                self.disputed.add(key)
        self._verdicts = {key: verdict for key, (_, verdict) in best.items() if key not in self.disputed}

    @property
    def signature(self) -> str:
        """Which store, and whose answers."""
        return f"recorded({self.name})"

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """What was said to each question, None where nothing was."""
        return [self._verdicts.get(question.key) for question in questions]

    def labels(self) -> dict[str, Label]:
        """The label of each question that is judged, by its key."""
        return {key: verdict.label for key, verdict in self._verdicts.items()}

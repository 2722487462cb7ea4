"""The judge that a store is: what was recorded decides, and counts as it did when it was said.

Judges of one kind decide, never a mixture: persons where any have judged, else models, else embeddings, unless it is said who. Among them the more
experienced decides; two answers of equal standing that differ leave the question unjudged.

A person is asked about all references at once. A model was asked piece by piece (`pieces`), and its answers are put together here as it
would do itself: about each pair, or without references. So a model's answers give the same figures from the store as from the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from tallystick.errors import InputError, counted, did_you_mean
from tallystick.judging.pieces import Sight
from tallystick.judging.questions import Question
from tallystick.judging.store import KINDS, Store
from tallystick.judging.verdicts import Label, Verdict

PLURAL = {"person": "persons", "model": "models", "embedding": "embeddings"}
WAYS = {"all": "about all references at once", "pairs": "about each reference", "alone": "without references"}
NAMED = 3
"""So many judges are named in a signature; of more, how many."""


@dataclass(frozen=True)
class Heard:
    """One judge with one version, and all that it said."""

    name: str
    kind: str
    experience: int
    sight: Sight | None
    """What a model was shown; None where whole questions were answered."""
    verdicts: dict[str, Verdict]

    @property
    def asks(self) -> str:
        """How it was asked."""
        return "all" if self.sight is None else self.sight.asks

    def verdict(self, question: Question) -> Verdict | None:
        """What it said, or what follows from what it said of the pieces."""
        return self.verdicts.get(question.key) if self.sight is None else self.sight.together(question, self.verdicts)


class Recorded:
    """`Recorded(store)`: what people decided; `judge` picks one judge's answers, `version` one of its versions (its
    start is enough; NAME@VERSION is both), `kind` those of one kind.

    `disputed` has the questions, by key, that judges of equal standing answered differently; `notes` what a reader has to know.
    """

    def __init__(
        self, store: Store, judge: str | None = None, version: str | None = None, kind: str | None = None
    ) -> None:
        known = store.judges()
        if judge is not None and judge not in known and version is None and "@" in judge:
            judge, _, version = judge.rpartition("@")
        _check(store, known, judge, kind)
        versions = _versions(store, judge, version) if version is not None else set()
        voices = [
            (who, which, known[who][0])
            for who, which, _ in store.voices()
            if judge in (None, who) and (version is None or which in versions)
        ]
        if kind is None and judge is None:
            kind = next((one for one in KINDS if any(sort == one for _, _, sort in voices)), None)
        self.heard = [
            _heard(store, who, which, sort, known[who][1]) for who, which, sort in voices if kind in (None, sort)
        ]
        self.asks = _asked_alike(store, self.heard)
        self.notes = [] if judge is not None else list(_left_out(store, self.heard, known))
        self.name = store.path.name
        self.disputed: set[str] = set()
        self.elsewhere: set[str] = set()
        """What was asked and is not judged as it was asked, by key, though its candidate was in that role."""
        self._known = store.judged_pairs()
        if self.asks == "all":
            for key in {key for one in self.heard for key in one.verdicts}:
                self._decided(key, ((one, one.verdicts.get(key)) for one in self.heard))

    @property
    def signature(self) -> str:
        """Which store, whose answers, how many, and their digest: another answer is another judge."""
        if not self.heard:
            return f"recorded({self.name}, nobody yet)"
        kind = self.heard[0].kind
        who = "+".join(one.name for one in self.heard)
        if len(self.heard) > NAMED:
            who = f"{len(self.heard):,} of them"
        said = sorted(
            (one.name, one.experience, key, verdict.label, sorted(verdict.said[1]))
            for one in self.heard for key, verdict in one.verdicts.items()
        )  # fmt: skip
        digest = blake2b(repr(said).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        kinds = kind if len(self.heard) == 1 else PLURAL.get(kind, kind)
        return f"recorded({self.name}, {kinds} {who}, {counted(len(said), 'judgement')}, {digest})"

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """What was said to each question, None where nothing was."""
        found = [self._decided(one.key, ((heard, heard.verdict(one)) for heard in self.heard)) for one in questions]
        for one, verdict in zip(questions, found, strict=True):
            if verdict is None and one.key not in self.disputed and (one.candidate, one.role) in self._known:
                self.elsewhere.add(one.key)
        return found

    def labels(self) -> dict[str, Label]:
        """The label of each question that is judged, by its key; of models, those of the pieces."""
        found = {}
        for key in dict.fromkeys(key for one in self.heard for key in one.verdicts):
            verdict = self._decided(key, ((one, one.verdicts.get(key)) for one in self.heard))
            if verdict is not None:
                found[key] = verdict.label
        return found

    def _decided(self, key: str, said: Iterable[tuple[Heard, Verdict | None]]) -> Verdict | None:
        """The verdict of the most experienced, unless they differ."""
        found = [(one.experience, verdict) for one, verdict in said if verdict is not None]
        if not found:
            return None
        most = max(experience for experience, _ in found)
        best = [verdict for experience, verdict in found if experience == most]
        if any(verdict.said != best[0].said for verdict in best):
            self.disputed.add(key)
            return None
        return best[0]


def _heard(store: Store, judge: str, version: str, kind: str, experience: int) -> Heard:
    name = f"{judge}@{version}" if version else judge
    piece = None if kind == "person" else store.piece(judge, version)
    if piece is not None:
        return Heard(name, kind, experience, Sight.of(piece), store.answers_to_pieces(judge, version))
    return Heard(
        name, kind, experience, None, {key: verdict for key, _, verdict in store.verdicts(judge, version)}
    )  # fmt: skip


def _check(store: Store, known: dict[str, tuple[str, int]], judge: str | None, kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise InputError(f"kind: a judge is one of {', '.join(KINDS)}, found {kind!r}.{did_you_mean(kind, KINDS)}")
    if judge is not None and judge not in known:
        raise InputError(
            f"{store.path}: nobody called {judge!r} has judged here; there are {', '.join(known) or 'none yet'}."
            f"{did_you_mean(judge, known)}"
        )
    if judge is not None and kind is not None and known[judge][0] != kind:
        raise InputError(f"{store.path}: {judge!r} is a {known[judge][0]} here, not a {kind}")


def _versions(store: Store, judge: str | None, version: str) -> set[str]:
    """The versions that are meant: this one, those of the prompt of this name, or those that begin so."""
    there = sorted({which for who, which, _ in store.voices() if judge in (None, who)})
    for meant in (str.__eq__, lambda which, said: which.split(" ")[0] == said, str.startswith):
        found = {which for which in there if meant(which, version)}
        if found:
            return found
    listed = ", ".join(filter(None, there)) or "none"
    raise InputError(f"{store.path}: nothing was judged there by a version {version!r}; there are {listed}")


def _asked_alike(store: Store, heard: Sequence[Heard]) -> str:
    """How the judges were asked, which decides what their answers credit; an error where they were asked differently."""
    ways: dict[str, list[str]] = {}
    for one in heard:
        ways.setdefault(one.asks, []).append(one.name)
    if len(ways) > 1:
        told = "; ".join(f"{WAYS[way]}: {', '.join(names)}" for way, names in ways.items())
        raise InputError(
            f"{store.path}: its judges were asked in different ways, which credit different things ({told}). "
            f"Say whose answers count: {store.path.name}?judge=NAME&version=START"
        )
    return next(iter(ways), "all")


def _left_out(store: Store, heard: Sequence[Heard], known: dict[str, tuple[str, int]]) -> Iterable[str]:
    """Who decides where it is no person, and whose answers are there and do not count."""
    kinds = {one.kind for one in heard}
    if kinds and not any(known[who][0] == "person" for who, _, _ in store.voices()):
        yield "no person has judged there"
    for kind in KINDS:
        others = [(who, which, n) for who, which, n in store.voices() if known[who][0] == kind and kind not in kinds]
        if others:
            told = ", ".join(f"{n:,} of {who}{'@' if which else ''}{which}" for who, which, n in others)
            total = counted(sum(n for _, _, n in others), "judgement")
            yield f"{total} of {PLURAL[kind]} are there and do not count unless asked for by name or kind ({told})"

"""A store as a judge, and judges by name.

Recorded judgements count as they did when they were made. Judges of one kind decide, never a mixture: people if any have judged,
else models, else embeddings, unless a judge is named. Among them the more experienced decides; if two of equal experience differ, the
question stays unjudged. A person is asked about all references at once. A model was asked piece by piece (see `prompt`), and its
answers are combined here as the model itself would, so the figures from the store equal those from the model.

The name of a judge, as the command line, a choosing file and `ts.judged` take it:

    judgements.sqlite                      what people have recorded in a store (or models, if no person has judged)
    judgements.sqlite?judge=ann            one of them; ?judge=gpt-4o&version=expert, one version of a model
    judgements.sqlite?kind=model           what models have recorded
    embedding:model.json                   a classifier that `tallystick judge train` made
    llm:gpt-4o-mini                        a language model, with the prompt `expert`
    llm:llama3:8b?prompt=intuitive&reference=no&base_url=http://localhost:11434/v1&store=judgements.sqlite

Options follow the name as in a web address, or are given by keyword, which takes precedence. There is no default judge: none agrees
with people well enough to be used without being asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tallystick.errors import InputError, counted, did_you_mean
from tallystick.judging.prompt import Sight
from tallystick.judging.questions import Judge, Label, Question, Verdict
from tallystick.judging.store import KINDS, Store

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


# ====================


SCHEMES = ("embedding", "llm")
STORE = "judgements.sqlite"
"""Where a language model keeps its answers if nothing else is said: beside where one works."""


def judge_named(spec: str, **options: Any) -> Judge:
    """The judge that a name stands for: a store, `embedding:FILE` or `llm:MODEL`, with its options."""
    if not isinstance(spec, str) or not spec:
        raise InputError(
            f"expected the name of a judge: a store of judgements, embedding:FILE or llm:MODEL, found {spec!r}"
        )
    if Path(spec).is_file():
        return _called(_recorded, spec, {}, options)
    name, _, query = spec.partition("?")
    written = dict(_written(part) for part in query.split("&") if part)
    kind, _, rest = name.partition(":")
    if kind == "embedding":
        return _called(_embedding, rest, written, options)
    if kind == "llm":
        return _called(_language_model, rest, written, options)
    if Path(name).is_file():
        return _called(_recorded, name, written, options)
    raise InputError(
        f"no judge called {spec!r}, and no such store of judgements; expected a store, embedding:FILE or llm:MODEL."
        f"{did_you_mean(kind, SCHEMES)}"
    )


def _written(part: str) -> tuple[str, str]:
    """`name=value` as in a web address: %20 is a blank, and + is itself, as files are called so."""
    name, _, value = part.partition("=")
    return unquote(name), unquote(value)


def _called(make: Callable[..., Judge], name: str, written: Mapping[str, str], options: Mapping[str, Any]) -> Judge:
    known = [one for one in inspect.signature(make).parameters if one != "name"]
    given = {**written, **{key: value for key, value in options.items() if value is not None}}
    for key in given:
        if key not in known:
            raise InputError(
                f"a judge of this kind has no option {key!r}; there are {', '.join(known)}.{did_you_mean(key, known)}"
            )
    return make(name, **given)


def _recorded(name: str, judge: str | None = None, version: str | None = None, kind: str | None = None) -> Judge:
    with Store(name, create=False) as store:
        return Recorded(store, judge, version, kind)


def _embedding(name: str) -> Judge:
    from tallystick.judging.classifier import EmbeddingJudge

    if not name:
        raise InputError(
            "an embedding judges nothing by itself: it needs a classifier, trained on labels of your own. "
            "Make one with `tallystick judge train STORE --out model.json`, and say embedding:model.json"
        )
    return EmbeddingJudge.load(name)


def _language_model(
    name: str,
    model: str | None = None,
    prompt: str = "expert",
    reference: bool | str | None = None,
    store: Any = STORE,
    base_url: str | None = None,
    key: str | None = None,
    key_variable: str = "OPENAI_API_KEY",
    concurrency: int | str = 8,
    timeout: float | str = 60.0,
    retries: int | str = 5,
    parameters: Mapping[str, Any] | str | None = None,
    again: bool | str = False,
    progress: Callable[[int, int], None] | None = None,
) -> Judge:
    from tallystick.judging.llm import Endpoint, LanguageModel
    from tallystick.judging.prompt import prompt_named

    endpoint = Endpoint(
        name or model or "",
        base_url,
        key,
        key_variable,
        read_parameters(parameters),
        _number("concurrency", int, concurrency),
        _number("timeout", float, timeout),
        _number("retries", int, retries),
    )
    told = prompt_named(str(prompt), None if reference is None else _yes("reference", reference))
    kept = store if isinstance(store, Store) else Store(store)
    return LanguageModel(endpoint, told, kept, again=_yes("again", again), progress=progress)


def read_parameters(parameters: Mapping[str, Any] | str | None) -> tuple[tuple[str, Any], ...]:
    """Parameters of the call, such as {"temperature": 0}: a mapping, or the same as JSON."""
    import json

    from tallystick.judging.llm import OWN

    if isinstance(parameters, str):
        try:
            parameters = json.loads(parameters)
        except ValueError as error:
            raise InputError(f'parameters: expected a JSON object such as {{"temperature": 0}} ({error})') from None
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InputError(f'parameters: expected an object such as {{"temperature": 0}}, found {parameters!r:.60}')
    found = dict(parameters or {})
    for name in OWN:
        if name in found:
            raise InputError(f"parameters: {name!r} is not yours to set here")
    return tuple(sorted(found.items()))


def _number(name: str, kind: Callable[[Any], Any], value: Any) -> Any:
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected a number, found {value!r}") from None


def _yes(name: str, value: bool | str) -> bool:
    words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if isinstance(value, bool):
        return value
    if str(value).casefold() not in words:
        raise InputError(f"{name}: expected yes or no, found {value!r}")
    return words[str(value).casefold()]

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tallystick.errors import InputError, counted, did_you_mean
from tallystick.frozen import frozen
from tallystick.judging.questions import Judge, Label, Question, Sight, Verdict
from tallystick.judging.store import KINDS, Store, Voice

PLURAL = {"person": "persons", "model": "models", "embedding": "embeddings"}
WAYS = {"all": "about all references at once", "pairs": "about each reference", "alone": "without references"}
NAMED = 3
"""A signature names up to so many judges; of more, it has the number."""


@frozen
class VoiceRecord:
    """One judge with one version, and all its verdicts."""

    name: str
    kind: str
    experience: int
    sight: Sight | None
    """What a model was shown; None where whole questions were answered."""
    verdicts: dict[str, Verdict]

    @classmethod
    def read(cls, store: Store, voice: Voice) -> VoiceRecord:
        """The verdicts of a voice in a store."""
        piece = None if voice.kind == "person" else store.piece(voice.judge, voice.version)
        if piece is not None:
            sight, verdicts = Sight.of(piece), store.answers_to_pieces(voice.judge, voice.version)
        else:
            sight = None
            verdicts = {key: verdict for key, _, verdict in store.verdicts(voice.judge, voice.version)}
        return cls(voice.name, voice.kind, voice.experience, sight, verdicts)

    @property
    def asks(self) -> str:
        """How it was asked."""
        return "all" if self.sight is None else self.sight.asks

    def verdict(self, question: Question) -> Verdict | None:
        """Its verdict on a question, or the one that follows from its verdicts on the pieces."""
        return self.verdicts.get(question.key) if self.sight is None else self.sight.combine(question, self.verdicts)


class Recorded:
    """`Recorded(store)`: what people decided; `judge` picks one judge's answers, `version` one of its versions (its
    start is enough; NAME@VERSION is both), `kind` those of one kind.

    `disputed` has the questions, by key, that judges of equal experience answered differently; `notes` is what a reader has to know.
    """

    def __init__(
        self, store: Store, judge: str | None = None, version: str | None = None, kind: str | None = None
    ) -> None:
        known = store.judges()
        if judge is not None and judge not in known and version is None and "@" in judge:
            judge, _, version = judge.rpartition("@")
        _check(store, known, judge, kind)
        chosen = _choose_voices(store, judge, version, kind)
        self.records = [VoiceRecord.read(store, voice) for voice in chosen]
        self.asks = _way_of_asking(store, self.records)
        self.notes = [] if judge is not None else list(_notes(store, {voice.kind for voice in chosen}))
        self.name = store.path.name
        self.disputed: set[str] = set()
        self.elsewhere: set[str] = set()
        """Questions, by key, that are not judged as they were asked, though their candidate was judged in that role."""
        self._known = store.judged_pairs()
        if self.asks == "all":
            self.labels()  # finds what is disputed

    @property
    def signature(self) -> str:
        """Which store, whose answers, how many, and their digest: another answer is another judge."""
        if not self.records:
            return f"recorded({self.name}, nobody yet)"
        kind = self.records[0].kind
        who = "+".join(one.name for one in self.records)
        if len(self.records) > NAMED:
            who = f"{len(self.records):,} of them"
        answers = sorted(
            (one.name, one.experience, key, verdict.label, sorted(verdict.decision[1]))
            for one in self.records for key, verdict in one.verdicts.items()
        )  # fmt: skip
        digest = blake2b(repr(answers).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        kinds = kind if len(self.records) == 1 else PLURAL.get(kind, kind)
        return f"recorded({self.name}, {kinds} {who}, {counted(len(answers), 'judgement')}, {digest})"

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """The recorded verdict on each question, None where there is none."""
        found = [self._decide(one.key, ((record, record.verdict(one)) for record in self.records)) for one in questions]
        for one, verdict in zip(questions, found, strict=True):
            if verdict is None and one.key not in self.disputed and (one.candidate, one.role) in self._known:
                self.elsewhere.add(one.key)
        return found

    def labels(self) -> dict[str, Label]:
        """The label of each question that is judged, by its key; for models, those of the pieces."""
        found = {}
        for key in dict.fromkeys(key for one in self.records for key in one.verdicts):
            verdict = self._decide(key, ((one, one.verdicts.get(key)) for one in self.records))
            if verdict is not None:
                found[key] = verdict.label
        return found

    def _decide(self, key: str, verdicts: Iterable[tuple[VoiceRecord, Verdict | None]]) -> Verdict | None:
        """The verdict of the most experienced, unless they differ."""
        found = [(one.experience, verdict) for one, verdict in verdicts if verdict is not None]
        if not found:
            return None
        most = max(experience for experience, _ in found)
        best = [verdict for experience, verdict in found if experience == most]
        if any(verdict.decision != best[0].decision for verdict in best):
            self.disputed.add(key)
            return None
        return best[0]


def _check(store: Store, known: Mapping[str, tuple[str, int]], judge: str | None, kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise InputError(f"kind: a judge is one of {', '.join(KINDS)}, found {kind!r}.{did_you_mean(kind, KINDS)}")
    if judge is not None and judge not in known:
        raise store.unknown_judge(judge)
    if judge is not None and kind is not None and known[judge][0] != kind:
        raise InputError(f"{store.path}: {judge!r} is a {known[judge][0]} here, not a {kind}")


def _choose_voices(store: Store, judge: str | None, version: str | None, kind: str | None) -> list[Voice]:
    """The voices that decide; of one kind unless a judge is named."""
    voices = [one for one in store.voices() if judge in (None, one.judge)]
    if version is not None:
        versions = _matching_versions(store, {one.version for one in voices}, version)
        voices = [one for one in voices if one.version in versions]
    if kind is None and judge is None:
        kind = next((one for one in KINDS if any(voice.kind == one for voice in voices)), None)
    return [one for one in voices if kind in (None, one.kind)]


def _matching_versions(store: Store, there: set[str], version: str) -> set[str]:
    """This very version, else those of the prompt of this name, else those that begin with it."""
    for matches in (str.__eq__, lambda one, given: one.split(" ")[0] == given, str.startswith):
        found = {one for one in there if matches(one, version)}
        if found:
            return found
    listed = ", ".join(filter(None, sorted(there))) or "none"
    raise InputError(f"{store.path}: nothing was judged there by a version {version!r}; there are {listed}")


def _way_of_asking(store: Store, records: Sequence[VoiceRecord]) -> str:
    """How the judges were asked, which decides what their answers credit; an error if they were asked differently."""
    ways: dict[str, list[str]] = {}
    for one in records:
        ways.setdefault(one.asks, []).append(one.name)
    if len(ways) > 1:
        listed = "; ".join(f"{WAYS[way]}: {', '.join(names)}" for way, names in ways.items())
        raise InputError(
            f"{store.path}: its judges were asked in different ways, which count differently ({listed}). "
            f"Say whose answers count: {store.path.name}?judge=NAME&version=START"
        )
    return next(iter(ways), "all")


def _notes(store: Store, kinds: set[str]) -> Iterable[str]:
    """Whether no person decides, and whose answers are in the store but do not count."""
    voices = store.voices()
    if kinds and not any(one.kind == "person" for one in voices):
        yield "no person has judged there"
    for kind in KINDS:
        others = [one for one in voices if one.kind == kind and kind not in kinds]
        if others:
            listed = ", ".join(f"{one.judged:,} of {one.name}" for one in others)
            total = counted(sum(one.judged for one in others), "judgement")
            yield f"{total} of {PLURAL[kind]} are there and do not count unless asked for by name or kind ({listed})"


# -- a judge by its name ----------------------------------------------------------------------------------------------

STORE = "judgements.sqlite"
"""Where a language model keeps its answers by default: in the working directory."""


def judge_named(spec: str | Judge, **options: Any) -> Judge:
    """The judge that a name stands for: a store, `embedding:FILE` or `llm:MODEL`, with its options; a judge stands for itself."""
    if not isinstance(spec, str) and hasattr(spec, "judge") and hasattr(spec, "signature"):
        return spec
    if not isinstance(spec, str) or not spec:
        raise InputError(
            f"expected the name of a judge: a store of judgements, embedding:FILE or llm:MODEL, found {spec!r}"
        )
    given = {name: value for name, value in options.items() if value is not None}
    if Path(spec).is_file():
        return _open_judge("", spec, given)
    name, _, query = spec.partition("?")
    given = {**dict(_read_option(part) for part in query.split("&") if part), **given}
    scheme, _, rest = name.partition(":")
    if scheme in SCHEMES:
        return _open_judge(scheme, rest, given)
    if Path(name).is_file():
        return _open_judge("", name, given)
    raise InputError(
        f"no judge called {spec!r}, and no such store of judgements; expected a store, embedding:FILE or llm:MODEL."
        f"{did_you_mean(scheme, SCHEMES)}"
    )


def _read_option(part: str) -> tuple[str, str]:
    """`name=value` as in a web address: %20 is a blank; + stands for itself, since file names may contain it."""
    name, _, value = part.partition("=")
    return unquote(name), unquote(value)


def _open_judge(scheme: str, name: str, given: Mapping[str, Any]) -> Judge:
    known = OPTIONS[scheme]
    for key in given:
        if key not in known:
            raise InputError(
                f"a judge of this kind has no option {key!r}; there are {', '.join(known)}.{did_you_mean(key, known)}"
            )
    if scheme == "llm":
        return ModelOptions(**given).open(name)
    if scheme == "embedding":
        return _open_classifier(name)
    with Store(name, create=False) as store:
        return Recorded(store, **given)


def _open_classifier(name: str) -> Judge:
    from tallystick.judging.classifier import EmbeddingJudge

    if not name:
        raise InputError(
            "an embedding judges nothing by itself: it needs a classifier, trained on labels of your own. "
            "Make one with `tallystick judge train STORE --out model.json`, and say embedding:model.json"
        )
    return EmbeddingJudge.load(name)


@frozen
class ModelOptions:
    """The options of `llm:MODEL`; those in a name arrive as text."""

    model: str | None = None
    prompt: str = "expert"
    reference: bool | str | None = None
    store: Any = STORE
    base_url: str | None = None
    key: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    concurrency: int | str = 8
    timeout: float | str = 60.0
    retries: int | str = 5
    parameters: Mapping[str, Any] | str | None = None
    again: bool | str = False
    progress: Callable[[int, int], None] | None = None

    def open(self, name: str) -> Judge:
        """The model of a name, with these options."""
        from tallystick.judging.llm import Endpoint, LanguageModel
        from tallystick.judging.questions import prompt_named

        endpoint = Endpoint(
            name or self.model or "",
            self.base_url,
            self.key,
            self.key_variable,
            read_parameters(self.parameters),
            _number("concurrency", int, self.concurrency),
            _number("timeout", float, self.timeout),
            _number("retries", int, self.retries),
        )
        prompt = prompt_named(str(self.prompt), None if self.reference is None else _yes("reference", self.reference))
        store = self.store if isinstance(self.store, Store) else Store(self.store)
        return LanguageModel(endpoint, prompt, store, again=_yes("again", self.again), progress=self.progress)


SCHEMES = ("embedding", "llm")
OPTIONS: dict[str, tuple[str, ...]] = {
    "": ("judge", "version", "kind"),
    "embedding": (),
    "llm": tuple(one.name for one in fields(ModelOptions)),
}
"""The options of a store, and of each other kind of judge."""


def read_parameters(parameters: Mapping[str, Any] | str | None) -> tuple[tuple[str, Any], ...]:
    """Parameters of the call, such as {"temperature": 0}, from a mapping or from JSON."""
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
            raise InputError(f"parameters: {name!r} cannot be set here")
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

"""A language model as a judge: any endpoint that speaks OpenAI's protocol, with one of five prompts or your own.

    LanguageModel(Endpoint("gpt-4o-mini"), prompt_named("expert"), store).judge(questions)

With a prompt that shows the reference, the model is asked once for each (candidate, reference), and the verdict on a question combines
these: Correct if any pair is, and it stands for those references; else Partial if any pair is; else Incorrect. Without
the reference the model is asked once for each candidate, and `Verdict.references` is empty; what that credits (the only free
reference of the role, if there is just one) is up to the caller.

Each answer goes to the store as it arrives, under the model's name and a version: a digest of prompt, model and parameters. A stored
answer is never asked for again, however the program ended. An answer that cannot be used (no JSON, no label, two labels) is asked for once
more; if that one cannot be used either, or it was cut off, it is stored as such, and asked for again only if `again` is set. A pair without a usable answer leaves its question unjudged, unless another pair makes
it Correct.

A few calls run at once. The official client retries by itself after 429, 5xx, a timeout or a broken connection, with growing pauses,
and waits as long as the server asks in Retry-After (up to two minutes). A call that still fails is reported as a `Failure`.
A wrong key or an unknown model stops everything at once; so does a long run of failures without an answer.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from inspect import signature
from typing import Any
from urllib.parse import urlsplit

from tallystick.errors import InputError, counted, did_you_mean
from tallystick.frozen import frozen
from tallystick.judging.questions import Judgement, Prompt, Question, Unusable, Verdict, read_answer, speaks_to_judge
from tallystick.judging.store import Store

IN_VAIN = 20
"""After so many failures in a row no further call is made."""
OWN = ("model", "messages", "stream", "n")
"""Parameters of a call that the user cannot set."""
CUT_OFF = {
    "length": "cut off at the most tokens of an answer (finish_reason length)",
    "content_filter": "cut off by the server's filter (finish_reason content_filter)",
}


@frozen
class Endpoint:
    """Which model is called, where, and how long to wait. The key is read from the environment unless it is given."""

    model: str
    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    key_variable: str = "OPENAI_API_KEY"
    parameters: tuple[tuple[str, Any], ...] = ()
    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 5

    def __post_init__(self) -> None:
        if not self.model:
            raise InputError("name the model: llm:MODEL")
        if self.concurrency < 1 or self.timeout <= 0 or self.retries < 0:
            raise InputError(
                f"expected a concurrency of 1 or more, a timeout above 0 and retries of 0 or more, found "
                f"{self.concurrency}, {self.timeout:g} and {self.retries}"
            )

    @property
    def url(self) -> str | None:
        """Where the model is; None is the client's default."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or None

    def client(self) -> Any:
        """The official client, or an error that says what is missing."""
        try:
            from openai import AsyncOpenAI
        except ImportError:
            raise InputError("a language model as a judge needs the client: pip install 'tallystick[llm]'") from None
        if self.url and urlsplit(self.url).scheme not in ("http", "https"):
            raise InputError(f"expected an address such as http://localhost:8000/v1, found {self.url!r}")
        key = self.key or os.environ.get(self.key_variable)
        if not key and not self.url:
            raise InputError(
                f"no key: set {self.key_variable}, or give the address of an endpoint that needs none "
                f"(--base-url URL, or llm:{self.model}?base_url=URL)"
            )
        client = AsyncOpenAI(
            api_key=key or "none", base_url=self.url, timeout=self.timeout, max_retries=self.retries,
            http_client=_client_with_deadline(self.timeout),
        )  # fmt: skip
        known = [name for name in signature(client.chat.completions.create).parameters if name not in OWN]
        for name, _ in self.parameters:
            if name not in known:
                raise InputError(
                    f"calls have no parameter {name!r}.{did_you_mean(name, known)} A parameter that only your endpoint knows "
                    f"goes into extra_body: 'extra_body={{\"{name}\": ...}}'"
                )
        return client


def _client_with_deadline(seconds: float) -> Any:
    """The client's connection, with a time limit for the whole reply: by itself it limits each chunk, and a server may send chunks for ever."""
    from importlib import import_module

    from openai import DefaultAsyncHttpxClient

    beneath = next(one for one in DefaultAsyncHttpxClient.__mro__ if one.__name__ == "AsyncClient")
    too_late = import_module(beneath.__module__.partition(".")[0]).ReadTimeout  # of httpx, whatever the client calls it

    class Bounded(DefaultAsyncHttpxClient):
        async def send(self, request: Any, **options: Any) -> Any:
            try:
                return await asyncio.wait_for(super().send(request, **options), seconds)
            except asyncio.TimeoutError:
                raise too_late(f"no whole reply within {seconds:g} s", request=request) from None

    return Bounded()


@frozen
class Answer:
    """A model's answer, the model that the server names, and the tokens that were paid for."""

    text: str
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cut_off: str = ""
    """Why the answer is incomplete; empty if it is complete."""


@frozen
class Failure:
    """Why there is no answer."""

    reason: str


Messages = list[dict[str, str]]


def call_all(
    endpoint: Endpoint, requests: Sequence[Messages], take: Callable[[int, Answer | Failure], None], begin: Callable[[], None]
) -> None:  # fmt: skip
    """Call the model once for each request, and pass on each outcome with the request's number, in the order of arrival.

    `begin` is called before each call: fewer times than there are requests if all of them fail. Ctrl-C stops at once; what was passed on stays.
    """
    work = _call_all(endpoint, requests, take, begin)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _call_in_thread(work)


def _call_in_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run it in a thread with a loop of its own: a notebook has one running already."""
    from concurrent.futures import ThreadPoolExecutor

    stop: list[Callable[[], object]] = []

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        stop.append(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        return await work

    with ThreadPoolExecutor(1) as other:
        done = other.submit(asyncio.run, main())
        try:
            return done.result()
        except KeyboardInterrupt:
            for cancel in stop:
                cancel()
            raise


async def _call_all(
    endpoint: Endpoint, requests: Sequence[Messages], take: Callable[[int, Answer | Failure], None], begin: Callable[[], None]
) -> None:  # fmt: skip
    waiting = iter(range(len(requests)))
    in_vain = 0

    async def work(client: Any) -> None:
        nonlocal in_vain
        for number in waiting:
            if in_vain >= IN_VAIN:
                return
            begin()
            outcome = await _call(endpoint, client, requests[number])
            in_vain = in_vain + 1 if isinstance(outcome, Failure) else 0
            take(number, outcome)

    async with endpoint.client() as client:
        workers = [asyncio.create_task(work(client)) for _ in range(min(endpoint.concurrency, len(requests)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


async def _call(endpoint: Endpoint, client: Any, messages: Messages) -> Answer | Failure:
    import openai

    try:
        reply = await client.chat.completions.create(
            model=endpoint.model, messages=messages, **dict(endpoint.parameters)
        )
        return _answer(reply)
    except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
        raise InputError(
            f"{endpoint.url or 'the endpoint'} does not answer for the model {endpoint.model!r}: {_server_message(error)}"
        ) from None
    except openai.APITimeoutError:
        return Failure(f"no answer within {endpoint.timeout:g} s")
    except openai.RateLimitError as error:
        return Failure(f"429, the rate limit: {_server_message(error)}")
    except openai.APIStatusError as error:
        return Failure(f"{error.status_code}: {_server_message(error)}")
    except openai.APIConnectionError as error:
        return Failure(f"no connection ({error.__cause__ or error})")
    except (openai.OpenAIError, ValueError, AttributeError, TypeError, LookupError) as error:
        return Failure(f"a reply that is not of the protocol ({type(error).__name__})")


def _answer(reply: Any) -> Answer:
    """The answer in a reply. Missing or odd details do not spoil the text, which is paid for."""
    choice = reply.choices[0]
    content = choice.message.content
    if not isinstance(content, str | None):
        raise TypeError(type(content).__name__)
    usage = getattr(reply, "usage", None)
    return Answer(
        _whole(content or ""),
        _whole(str(getattr(reply, "model", None) or "")),
        _number(getattr(usage, "prompt_tokens", None)),
        _number(getattr(usage, "completion_tokens", None)),
        CUT_OFF.get(str(getattr(choice, "finish_reason", None)), ""),
    )


def _whole(text: str) -> str:
    """The text, with U+FFFD in place of a lone surrogate, which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(value: Any) -> int:
    """A number of tokens; 0 if the server sends something else."""
    return int(value) if str(value).isdecimal() and len(str(value)) < 16 else 0


def _server_message(error: Any) -> str:
    """The server's own message, shortened."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or error).split())[:200]


# -- the judge --------------------------------------------------------------------------------------------------------


Progress = Callable[[int, int], None]

CHARACTERS_PER_TOKEN = 4
TOKENS_OF_AN_ANSWER = {"json": 60, "words": 5}
"""Rough figures for English, for the estimate of a dry run only."""


@frozen
class Plan:
    """What judging would take: the calls, what is already in the store, and the estimated tokens."""

    questions: int
    calls: int
    known: int
    """Pairs (or candidates) with an answer in the store."""
    unusable: int
    """Pairs (or candidates) with an answer that could not be used."""
    tokens_in: int
    tokens_out: int


@dataclass
class Report:
    """What judging took, and what could not be judged."""

    calls: int = 0
    answered: int = 0
    known: int = 0
    unjudged: int = 0
    """Questions left without a verdict."""
    without_reference: int = 0
    """Questions without a reference to show, which this prompt cannot ask about."""
    not_called: int = 0
    fenced: int = 0
    """Pairs (or candidates) that were asked about with a text that speaks to the judge, as data between quotation marks."""
    failures: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0

    def begin(self) -> None:
        """Count a call."""
        self.calls += 1

    def complaints(self) -> list[str]:
        """What could not be judged and why, a line for each reason."""
        lines = [f"{counted(n, 'call')} failed: {reason}" for reason, n in self.failures.most_common()]
        for reason, n in self.unusable.most_common():
            lines.append(f"{counted(n, 'answer')} could not be used: {reason} (--again asks again)")
        if self.fenced:
            lines.append(
                f"{counted(self.fenced, 'question')} with a text that may speak to the judge (line breaks, marks, words such as answer or label), "
                "which was quoted as data"
            )
        if self.not_called:
            lines.append(f"{counted(self.not_called, 'call')} not made, because all earlier calls failed")
        if self.without_reference:
            lines.append(
                f"{counted(self.without_reference, 'question')} without a reference to show, which this prompt cannot ask about; "
                "--no-reference does"
            )
        if self.unjudged:
            lines.append(
                f"{counted(self.unjudged, 'question')} left unjudged; the same command asks only what has no answer yet"
            )
        return lines


class LanguageModel:
    """A judge that asks a language model and keeps its answers in a store (or, with None, only in memory)."""

    kind = "model"

    def __init__(
        self, endpoint: Endpoint, prompt: Prompt, store: Store | None = None, *, again: bool = False, progress: Progress | None = None
    ) -> None:  # fmt: skip
        self.endpoint, self.prompt, self.store = endpoint, prompt, store
        self.again, self.progress = again, progress
        self.report = Report()
        self._verdicts: dict[str, Verdict] = {}
        self._unusable: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The model's name, under which its judgements are stored."""
        return self.endpoint.model

    @property
    def version(self) -> str:
        """The prompt's name, and a digest of prompt, model and parameters."""
        parts = [self.prompt.system, self.prompt.user, self.prompt.answer, self.name, dict(self.endpoint.parameters)]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return f"{self.prompt.name} {blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"

    @property
    def signature(self) -> str:
        """Which model, with which prompt."""
        return f"llm({self.name}, {self.version})"

    # -- what is asked ------------------------------------------------------------------------------------------------

    def pieces(self, question: Question) -> list[Question]:
        """What the model is asked about a question: each reference separately, or the candidate alone."""
        return self.prompt.sight.pieces(question)

    def plan(self, questions: Sequence[Question]) -> Plan:
        """What judging these questions would take; nothing is called."""
        wanted, known, unusable = self._wanted(questions)
        length = sum(len(message["content"]) for one in wanted.values() for message in self.prompt.messages(one))
        return Plan(
            questions=len(questions),
            calls=len(wanted),
            known=known,
            unusable=len(unusable),
            tokens_in=-(-length // CHARACTERS_PER_TOKEN),
            tokens_out=len(wanted) * TOKENS_OF_AN_ANSWER[self.prompt.answer],
        )

    def _wanted(self, questions: Sequence[Question]) -> tuple[dict[str, Question], int, list[str]]:
        """The pieces that have to be asked, each once; how many have an answer; why answers could not be used."""
        pieces = {piece.key: piece for question in questions for piece in self.pieces(question)}
        if self.store is not None:
            self.store.check_kind(self.name, self.kind)
            for key, piece in pieces.items():
                if key not in self._verdicts and (kept := self.store.verdict(piece, self.name, self.version)):
                    self._verdicts[key] = kept
            self._unusable.update(self.store.unusable(self.name, self.version))
        done = self._verdicts.keys() if self.again else self._verdicts.keys() | self._unusable.keys()
        wanted = {key: piece for key, piece in pieces.items() if key not in done}
        for piece in wanted.values():
            self.prompt.check(piece)
        unusable = [self._unusable[key] for key in pieces if key not in wanted and key not in self._verdicts]
        return wanted, len(pieces) - len(wanted) - len(unusable), unusable

    # -- asking -------------------------------------------------------------------------------------------------------

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """A verdict for each question; `report` says what could not be judged and why."""
        wanted, known, unusable = self._wanted(questions)
        report = self.report = Report(known=known, unusable=Counter(unusable))
        asked = list(wanted.values())
        unclear: list[Question] = []

        def ask(pieces: Sequence[Question], last: bool) -> None:
            done, before = 0, report.calls

            def take(number: int, outcome: Answer | Failure) -> None:
                nonlocal done
                done += 1
                if not self._take(pieces[number], outcome, last):
                    unclear.append(pieces[number])
                if self.progress is not None:
                    self.progress(done, len(pieces))

            if pieces:
                report.fenced += 0 if last else sum(map(speaks_to_judge, pieces))
                call_all(self.endpoint, [self.prompt.messages(piece) for piece in pieces], take, report.begin)
                report.not_called += len(pieces) - (report.calls - before)

        try:
            ask(asked, last=False)
            ask(list(unclear), last=True)
        finally:  # also after Ctrl-C: the verdicts found so far are worth keeping
            verdicts = [self._combine(question) for question in questions]
            self._keep(questions)
            silent = [self.pieces(one) for one, verdict in zip(questions, verdicts, strict=True) if verdict is None]
            report.without_reference = sum(not pieces for pieces in silent)
            report.unjudged = len(silent) - report.without_reference
        return verdicts

    def _take(self, piece: Question, outcome: Answer | Failure, last: bool) -> bool:
        """Keep an answer; False if it is unclear and should be asked for once more, which it is unless this was the `last` time."""
        if isinstance(outcome, Failure):
            self.report.failures[outcome.reason] += 1
            return True
        self.report.answered += 1
        self.report.tokens_in += outcome.tokens_in
        self.report.tokens_out += outcome.tokens_out
        try:
            if outcome.cut_off:  # "Yes" may have gone on ", but ..."
                raise Unusable(outcome.cut_off)
            label, explanation = read_answer(outcome.text, self.prompt.answer)
        except Unusable as unusable:
            if not last and not outcome.cut_off:
                return False
            reason = str(unusable)
            self.report.unusable[reason] += 1
            self._unusable[piece.key] = reason
            if self.store is not None:
                self.store.keep_unusable(piece.key, self.name, self.version, outcome.text, reason)
            return True
        stands_for = (0,) if self.prompt.with_reference and label != "Incorrect" else ()
        verdict = self._verdicts[piece.key] = Verdict(label, stands_for, explanation)
        if self.store is not None:
            details = {
                "answer": outcome.text,
                "served": outcome.model,
                "tokens": [outcome.tokens_in, outcome.tokens_out],
            }
            self.store.add(Judgement(piece, self.name, verdict, self.version, details=details), self.kind)
        return True

    def _combine(self, question: Question) -> Verdict | None:
        """The verdict on a question from those on its pieces."""
        return self.prompt.sight.combine(question, self._verdicts)

    def _keep(self, questions: Sequence[Question]) -> None:
        """Store the verdicts on questions of which every piece has its answer."""
        if self.store is None:
            return
        whole = []
        for question in questions:
            pieces = self.pieces(question)
            if not pieces or question in pieces or any(piece.key not in self._verdicts for piece in pieces):
                continue
            verdict = self._combine(question)
            if verdict is not None and self.store.verdict(question, self.name, self.version) != verdict:
                whole.append(Judgement(question, self.name, verdict, self.version))
        if whole:
            self.store.add_all(whole, self.kind)

"""Calling a language model many times: a few calls at once, each answer handed on as soon as it is there.

The official client waits and tries again by itself: after 429, 5xx, a timeout or a broken connection, with growing pauses,
and for as long as the server asks in Retry-After (up to two minutes). What fails all the same is handed on as a `Failure`.
A wrong key or an unknown model stops everything at once; so does a long run of failures with no answer between them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any
from urllib.parse import urlsplit

from tallystick.errors import InputError, did_you_mean

IN_VAIN = 20
"""So many failures in a row, and no further call is made."""
OWN = ("model", "messages", "stream", "n")
"""Parameters of a call that are not the user's to set."""
CUT_OFF = {
    "length": "cut off at the most tokens of an answer (finish_reason length)",
    "content_filter": "cut off by the server's filter (finish_reason content_filter)",
}


@dataclass(frozen=True)
class Endpoint:
    """Which model is called, where, and with how much patience. The key is read from the environment unless it is given."""

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
            raise InputError("which model? Give its name, as the endpoint knows it: llm:MODEL")
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
            http_client=_bounded(self.timeout),
        )  # fmt: skip
        known = [name for name in signature(client.chat.completions.create).parameters if name not in OWN]
        for name, _ in self.parameters:
            if name not in known:
                raise InputError(
                    f"the client knows no parameter {name!r} of a call.{did_you_mean(name, known)} What only your endpoint knows "
                    f"goes into extra_body: 'extra_body={{\"{name}\": ...}}'"
                )
        return client


def _bounded(seconds: float) -> Any:
    """The client's connection, with a bound on the whole of a reply: by itself it bounds each piece, and a server may send them for ever."""
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


@dataclass(frozen=True)
class Answer:
    """What a model said, which model it said it was, and the tokens that were paid for."""

    text: str
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cut_off: str = ""
    """Why it is not all of what the model would have said; empty if it is."""


@dataclass(frozen=True)
class Failure:
    """Why there is no answer."""

    reason: str


Messages = list[dict[str, str]]


def call_all(
    endpoint: Endpoint, requests: Sequence[Messages], take: Callable[[int, Answer | Failure], None], begin: Callable[[], None]
) -> None:  # fmt: skip
    """Call the model once for each request, and hand on each outcome with the request's number, in the order of arrival.

    `begin` is told of each call before it is made: fewer than the requests if all went wrong. Ctrl-C leaves at once; what was handed on stays.
    """
    work = _call_all(endpoint, requests, take, begin)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _beside(work)


def _beside(work: Coroutine[Any, Any, None]) -> None:
    """The same in a thread with a loop of its own: a notebook has one running already."""
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
            f"{endpoint.url or 'the endpoint'} does not answer for the model {endpoint.model!r}: {_said(error)}"
        ) from None
    except openai.APITimeoutError:
        return Failure(f"no answer within {endpoint.timeout:g} s")
    except openai.RateLimitError as error:
        return Failure(f"429, the rate limit: {_said(error)}")
    except openai.APIStatusError as error:
        return Failure(f"{error.status_code}: {_said(error)}")
    except openai.APIConnectionError as error:
        return Failure(f"no connection ({error.__cause__ or error})")
    except (openai.OpenAIError, ValueError, AttributeError, TypeError, LookupError) as error:
        return Failure(f"a reply that is not of the protocol ({type(error).__name__})")


def _answer(reply: Any) -> Answer:
    """What a reply says. Whatever a server may leave out or write otherwise costs no more than itself: what it says is paid for."""
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
    """The text, with U+FFFD for half a character (a lone surrogate), which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(value: Any) -> int:
    """A number of tokens; 0 where the server says something else."""
    return int(value) if str(value).isdecimal() and len(str(value)) < 16 else 0


def _said(error: Any) -> str:
    """The server's own words, short."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or error).split())[:200]

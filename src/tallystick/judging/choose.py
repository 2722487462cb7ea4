"""A judge by name, as the command line, a choosing file and `ts.judged` give it.

    judgements.sqlite                      what people have said already: a store (what models have, where no person has judged)
    judgements.sqlite?judge=ann            one of them; ?judge=gpt-4o&version=expert, one version of a model
    judgements.sqlite?kind=model           what models have said
    embedding:model.json                   a classifier that `tallystick judge train` made
    llm:gpt-4o-mini                        a language model, with the prompt `expert`
    llm:llama3:8b?prompt=intuitive&reference=no&base_url=http://localhost:11434/v1&store=judgements.sqlite

Options stand behind the name as in a web address, or are given by keyword, which wins. There is no judge by default: none
of them agrees with people well enough to be used unasked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tallystick.errors import InputError, did_you_mean
from tallystick.judging.verdicts import Judge

KINDS = ("embedding", "llm")
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
        f"{did_you_mean(kind, KINDS)}"
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
    from tallystick.judging.recorded import Recorded
    from tallystick.judging.store import Store

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
    from tallystick.judging.calling import Endpoint
    from tallystick.judging.llm import LanguageModel
    from tallystick.judging.prompt import prompt_named
    from tallystick.judging.store import Store

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

    from tallystick.judging.calling import OWN

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

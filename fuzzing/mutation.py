"""Mutants that keep their shape: JSON stays JSON with one value changed, a table keeps its lines and fields.

Flipping bytes mostly breaks the syntax, and tests the parser again and again; what lies behind it is only reached by inputs
that parse. So most mutations here change one node of the JSON value, or one field or line of a text, and some change bytes.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 0.5, -0.0, 1e308, 1e-320, 2**31, 2**31 - 1, 2**53 + 1, 2**63, 2**64, -(2**63), 10**25, 10**400,
    "", " ", "a", "0", "1", "null", "\u0000", "\ud800", "é", "e\u0301", "\u2028", "𝔸", "\ufeff", "a\tb\nc", "x" * 300, "\\", '"', "/", "#", "#/",
    [], {}, [[]], [None], [0, 0], [3, 1], [1, 2, 3], [[0, 1]], ["a", "a"], {"": ""}, {"a": {"a": {}}}, {"start": 0, "end": 1}, [[[[[[]]]]]],
)  # fmt: skip
ODD_TEXTS = (
    "", " ", "\t", "\n", "\r\n", "\r", "\x00", "\ufeff", "\u2028", "\x85", "\x0b", "\x1c", "\u00a0", "é", "𝔸", "0", "-1", "1", "00", "9" * 20, "9" * 400,
    "1e999", "nan", "²", "٣", "_", "-", "#", "|", "=", ":", ";", "\\", '"', "'", "(", ")", "[", "]", "{", "}",
)  # fmt: skip


def mutated(data: bytes, chance: random.Random, words: Sequence[str] = (), *, as_json: bool = False) -> bytes:
    """A mutant of an input."""
    if as_json and chance.random() < 0.75:
        found = _mutated_json(data, chance)
        if found is not None:
            return found
    if chance.random() < 0.8:
        text = data.decode("utf-8", "surrogateescape")
        return chance.choice(TEXTS)(text, chance, words).encode(
            "utf-8", "surrogatepass" if "\ud800" in text else "surrogateescape"
        )
    return _mutated_bytes(data, chance)


# JSON


def _mutated_json(data: bytes, chance: random.Random) -> bytes | None:
    """The same JSON (or JSON Lines) with something in it changed; None if it is no JSON."""
    try:
        whole = [json.loads(data)]
        separate = False
    except (ValueError, RecursionError):
        try:
            whole = [json.loads(line) for line in data.split(b"\n") if line.strip()]
            separate = True
        except (ValueError, RecursionError):
            return None
    if not whole:
        return None
    if separate and chance.random() < 0.1:
        chance.choice(
            (
                lambda: whole.append(chance.choice(whole)),
                lambda: whole.pop(chance.randrange(len(whole))),
                lambda: chance.shuffle(whole),
            )
        )()
    else:
        k = chance.randrange(len(whole))
        whole[k] = _changed(whole[k], chance)
    try:
        return "\n".join(json.dumps(value, ensure_ascii=chance.random() < 0.5) for value in whole).encode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, RecursionError):
        return None


def _places(value: Any, path: tuple[Any, ...], out: list[tuple[Any, ...]]) -> None:
    out.append(path)
    if isinstance(value, dict):
        for key in value:
            _places(value[key], (*path, key), out)
    elif isinstance(value, list):
        for k, one in enumerate(value[:40]):
            _places(one, (*path, k), out)


def _changed(value: Any, chance: random.Random) -> Any:
    places: list[tuple[Any, ...]] = []
    _places(value, (), places)
    path = chance.choice(places)
    if not path:
        return chance.choice((chance.choice(ODD_VALUES), [value], {"a": value}, [value, value]))
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    last, old = path[-1], holder[path[-1]]
    action = chance.randrange(7)
    if action == 0:
        del holder[last]
    elif action == 1 and isinstance(old, (int, float)) and not isinstance(old, bool):
        holder[last] = chance.choice(
            (old + 1, old - 1, -old, old * 10**9, str(old), float(old) if abs(old) < 1e300 else 0, [old])
        )
    elif action == 2 and isinstance(holder, dict):
        other = chance.choice([*holder, "", "id", "x", "a.b", "a[*]", "\ud800", "0"])
        holder[other] = holder.pop(last)
    elif action == 3:
        from_ = value
        for step in chance.choice(places):
            from_ = from_[step]
        holder[last] = json.loads(json.dumps(from_))  # what stands elsewhere
    elif action == 4 and isinstance(holder, list):
        holder.insert(last, json.loads(json.dumps(old)))
    elif action == 5 and isinstance(old, str):
        holder[last] = chance.choice((old + old, old[: len(old) // 2], old + chance.choice(ODD_TEXTS), old.upper()))
    else:
        holder[last] = json.loads(json.dumps(chance.choice(ODD_VALUES)))
    return value


# Texts: lines, fields, words


def _field_changed(text: str, chance: random.Random, words: Sequence[str]) -> str:
    fields = re.split(r"([\t \n,;:|=()/]+)", text)
    k = chance.randrange(len(fields))
    fields[k] = chance.choice([*words, *ODD_TEXTS, chance.choice(fields), fields[k] * 2])
    return "".join(fields)


def _number_changed(text: str, chance: random.Random, words: Sequence[str]) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return _field_changed(text, chance, words)
    found = chance.choice(numbers)
    value = int(found[0]) if len(found[0]) < 300 else 0
    new = chance.choice((value + 1, value - 1, 0, -value, value * 10**9, 2**31, 2**63, 10**30))
    return f"{text[: found.start()]}{new}{text[found.end() :]}"


def _line_changed(text: str, chance: random.Random, words: Sequence[str]) -> str:
    lines = text.split("\n")
    k, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    action = chance.randrange(6)
    if action == 0:
        lines.pop(k)
    elif action == 1:
        lines.insert(other, lines[k])
    elif action == 2:
        lines[k], lines[other] = lines[other], lines[k]
    elif action == 3:
        lines.insert(k, "")
    elif action == 4:
        lines[k] += chance.choice(("\r", " ", "\t", *words, *ODD_TEXTS))
    else:
        lines[k] = lines[k][: chance.randrange(len(lines[k]) + 1)]
    return "\n".join(lines)


def _word_inserted(text: str, chance: random.Random, words: Sequence[str]) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice([*words, *ODD_TEXTS]) + text[place:]


def _part_moved(text: str, chance: random.Random, words: Sequence[str]) -> str:
    start, end = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
    end = min(end, start + 200)
    place = chance.randrange(len(text) + 1)
    return chance.choice(
        (
            text[:start] + text[end:],
            text[:place] + text[start:end] + text[place:],
            text[:start] + text[start:end] * 3 + text[end:],
        )
    )


TEXTS: tuple[Callable[[str, random.Random, Sequence[str]], str], ...] = (
    _field_changed, _number_changed, _line_changed, _word_inserted, _part_moved,
)  # fmt: skip


def _mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    place = chance.randrange(len(out) + 1)
    action = chance.randrange(4)
    if action == 0 and out:
        out[place % len(out)] ^= 1 << chance.randrange(8)
    elif action == 1:
        out[place:place] = chance.choice(
            (b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\r", b"\x1f\x8b", b"\xf0\x9f")
        )
    elif action == 2:
        del out[place : place + chance.randrange(1, 20)]
    else:
        return out.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-16-le", "utf-8-sig")), "replace")
    return bytes(out)

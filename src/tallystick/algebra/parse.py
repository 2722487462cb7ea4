"""Reading a metric's expression back: `parse(str(metric)) == metric`.

    f1(match(record(type=exact, subj=exact, obj=exact), 1:1))

Names are the public constructors; numbers, texts, lists and tables are parameters; `module:name` is a function, and
`module:Class(...)` a similarity of your own. Which names there are, and what they stand for, is found out here too.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from tallystick.algebra.cases import Ref
from tallystick.algebra.node import Node, Similarity, Table
from tallystick.errors import InputError, MetricError, Place, TallystickError, did_you_mean
from tallystick.files.json_values import NotJson, decode

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<constraint>(?:1|N):(?:1|N)(?!\w))
    | (?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)|-?inf(?!\w))
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<function>[A-Za-z_][\w.]*:[A-Za-z_][\w.<>]*)
    | (?P<word>[^\W\d]\w*)
    | (?P<mark>[()\[\]{},=:])
    )""",
    re.VERBOSE,
)

MOST_NESTED = 100
"""Levels of an expression; a metric of ten is hard to understand."""


def parse(expression: str, *, functions: bool | Mapping[str, Callable[..., Any]] = False) -> Node:
    """The metric that an expression stands for.

    A function is named as `module:name`, and to find it its module is imported: an expression with a function is code, and is to
    be trusted like code. So functions are refused, and nothing is imported, unless `functions=True` asks for it; a mapping
    `{"module:name": function}` allows those alone, and imports nothing either. Those of `math` and a few of tallystick's own, which
    only calculate, are always allowed.

    >>> ts.parse("f1(match(exact))")
    f1(match(exact, 1:1))
    >>> ts.parse(str(ts.f1(ts.match(ts.exact)))) == ts.f1(ts.match(ts.exact))
    True
    """
    if not isinstance(expression, str):
        raise MetricError(f"expected an expression such as f1(match(exact)), found {expression!r:.60}")
    if not expression.strip():
        raise MetricError("the expression is empty; expected one such as f1(match(exact))")
    reader = _Reader(expression, functions)
    try:
        node = reader.value(frozenset())
    except RecursionError:
        raise MetricError(f"the expression is nested too deeply: {expression[:60]}...") from None
    reader.expect_end()
    if not isinstance(node, Node):
        raise MetricError(f"{expression!r} is not a metric")
    return node


class _Reader:
    def __init__(self, text: str, functions: bool | Mapping[str, Callable[..., Any]]) -> None:
        self.text, self.place, self.depth, self.functions = text, 0, 0, functions
        self.constructors = constructors()

    def fail(self, message: str, place: int | None = None) -> MetricError:
        at = self.place if place is None else place
        line = self.text.replace("\n", " ").replace("\r", " ")
        shown = Place("", None, at + 1, line).caret()
        return MetricError(f"position {at + 1} of the expression: {message}{shown}")

    def next(self) -> tuple[str, str, int]:
        token = _TOKEN.match(self.text, self.place)
        if token is None:
            rest = self.text[self.place :].strip()
            raise self.fail(f"unexpected {rest[:12]!r}" if rest else "unexpected end")
        self.place = token.end()
        kind = token.lastgroup
        assert kind is not None
        return kind, token.group(kind), token.start(kind)

    def peek(self) -> str:
        token = _TOKEN.match(self.text, self.place)
        return token.group(token.lastgroup) if token and token.lastgroup else ""

    def take(self, mark: str) -> None:
        _, found, place = self.next()
        if found != mark:
            raise self.fail(f"expected {mark!r}, found {found!r}", place)

    def expect_end(self) -> None:
        if self.text[self.place :].strip():
            raise self.fail(f"unexpected {self.text[self.place :].strip()[:12]!r}")

    def value(self, names: frozenset[str]) -> Any:
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise self.fail(f"nested more than {MOST_NESTED} deep")
        found = self._value(names)
        self.depth -= 1
        return found

    def _value(self, names: frozenset[str]) -> Any:
        kind, found, place = self.next()
        if kind == "constraint":
            return found
        if kind == "number":
            return self.number(found, place)
        if kind == "string":
            return self.string(found, place)
        if kind == "function":
            function = self.function(found, place)
            if isinstance(function, type) and issubclass(function, Node) and self.peek() == "(":
                self.take("(")
                return self.call(function, found, place, names)
            return function
        if found == "[":
            return tuple(self.listed("]", lambda: self.value(names)))
        if found == "{":
            return Table(self.listed("}", lambda: self.entry(names)))
        if kind == "word":
            return self.word(found, place, names)
        raise self.fail(f"unexpected {found!r}", place)

    def word(self, word: str, place: int, names: frozenset[str]) -> Any:
        if word in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[word]
        if word in names:
            return Ref(word)
        if word not in self.constructors:
            known = [*self.constructors, *names]
            raise self.fail(f"unknown name {word!r}.{did_you_mean(word, known)}", place)
        constructor = self.constructors[word]
        if isinstance(constructor, Node) and not ("__call__" in vars(type(constructor)) and self.peek() == "("):
            return constructor
        self.take("(")
        if word == "let":
            _, bound, _ = self.next()
            self.take(",")
            body = self.value(names | {bound})
            self.take(")")
            return constructor(bound, body)
        return self.call(constructor, word, place, names)

    def call(self, constructor: Callable[..., Any], word: str, place: int, names: frozenset[str]) -> Any:
        """What a constructor makes of the arguments up to the closing parenthesis."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for name, value in self.listed(")", lambda: self.argument(names)):
            if name is None:
                positional.append(value)
            elif name in named:
                raise self.fail(f"{name!r} occurs twice")
            else:
                named[name] = value
        try:
            return constructor(*positional, **named)
        except MetricError:
            raise
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:  # a parameter of the wrong kind
            raise self.fail(f"{word}: {error}", place) from None

    def argument(self, names: frozenset[str]) -> tuple[str | None, Any]:
        start = self.place
        kind, found, _ = self.next()
        if self.peek() == "=" and kind in ("word", "string", "number"):
            self.take("=")
            return self.string(found, start) if kind == "string" else found, self.value(names)
        self.place = start
        return None, self.value(names)

    def number(self, found: str, place: int) -> float | int:
        try:
            return float(found) if re.search(r"[.eEinf]", found) else int(found)
        except ValueError:  # thousands of digits
            raise self.fail("a number that is out of range", place) from None

    def string(self, found: str, place: int) -> str:
        try:
            text: str = decode(found)
        except NotJson as error:
            reason = str(error).removeprefix("is not JSON: ")
            raise self.fail(f"a text must be written as in JSON: {reason}", place) from None
        return text

    def entry(self, names: frozenset[str]) -> tuple[Any, Any]:
        key = self.value(names)
        self.take(":")
        return key, self.value(names)

    def listed(self, end: str, one: Callable[[], Any]) -> list[Any]:
        out: list[Any] = []
        while self.peek() != end:
            if out:
                self.take(",")
            out.append(one())
        self.take(end)
        return out

    def function(self, name: str, place: int) -> Any:
        if isinstance(self.functions, Mapping):
            if name not in self.functions:
                hint = did_you_mean(name, self.functions)
                raise self.fail(f"the function {name} is not among those that are allowed here.{hint}", place)
            return self.functions[name]
        if not (self.functions or _allowed.get() or HARMLESS.fullmatch(name)):
            raise self.fail(
                f"functions such as {name} are not allowed here, because finding one runs code: {HOW_TO_ALLOW}", place
            )
        try:
            return load(name)
        except MetricError as error:
            raise self.fail(f"cannot find {name} ({error})", place) from None


# The names of the algebra: a part of a metric is known by being defined in a module of this folder.
#
# A node class with a `name` of its own is one. What makes it is the function or value of that name in its module (`text`,
# `exact`), or the class itself where there is none. `ts.NAME`, expressions, choices and `tallystick list` all ask here.


@lru_cache(maxsize=1)
def node_classes() -> dict[str, type[Node]]:
    """The classes of all parts of metrics, by name."""
    return dict(sorted(_defined()))


def _defined() -> Iterator[tuple[str, type[Node]]]:
    import tallystick.algebra as folder

    known: set[str] = set()
    for found in iter_modules(folder.__path__):
        module = import_module(f"{folder.__name__}.{found.name}")
        for value in vars(module).values():
            ours = isinstance(value, type) and issubclass(value, Node) and value.__module__ == module.__name__
            if ours and "name" in vars(value) and value.name not in known:
                known.add(value.name)
                yield value.name, value


@lru_cache(maxsize=1)
def constructors() -> dict[str, Any]:
    """Every name that an expression may use, with what it stands for: a function that makes a node, or a node."""
    out: dict[str, Any] = {}
    for class_ in node_classes().values():
        module = import_module(class_.__module__)
        out.update({name: getattr(module, name, class_) for name in (class_.name, *class_.also)})
    return dict(sorted(out.items()))


def choosable() -> dict[str, type[Similarity]]:
    """The similarities that can be chosen for a value by name and parameters: those that need no other one inside."""
    return {
        name: class_
        for name, class_ in node_classes().items()
        if issubclass(class_, Similarity) and class_.chosen_by_name()
    }


# Finding what `module:name` or `file.py:name` stands for: functions, similarities and types of a user's own.


HARMLESS = re.compile(
    r"tallystick\.structures(\.[a-z]\w*)+:NAME(\.NAME)*|(tallystick|tallystick\.algebra\.text):words"
    r"|(tallystick|tallystick\.algebra\.values):magnitude|math:NAME|builtins:str\.NAME".replace("NAME", r"[A-Za-z]\w*")
)
"""Functions that only take values apart, or only calculate: whoever names them runs no code of his own. The whole name counts, without
underscores in front: `math:__loader__.get_data` reads files, and the folder of `math:d/own.py:f` may be there."""
HOW_TO_ALLOW = (
    "where you trust what names it, --allow-code (allow_code=True in Python; of ts.parse functions=True) allows it; "
    "in Python you can also give the function itself"
)
_allowed: ContextVar[bool] = ContextVar("_allowed", default=False)


@contextmanager
def allowing_code(allowed: bool) -> Iterator[None]:
    """Whether texts (expressions, choices, schemas) may name code that is imported."""
    before = _allowed.set(allowed)
    try:
        yield
    finally:
        _allowed.reset(before)


def load_named(name: Any) -> Any:
    """What a text names that somebody else may have written: choices, a schema."""
    if not (_allowed.get() or HARMLESS.fullmatch(str(name))):
        raise MetricError(f"{name!r:.80} names code, and finding it runs code: {HOW_TO_ALLOW}")
    return load(str(name))


def load(name: str) -> Any:
    """What `module:name` or `file.py:name` stands for; the current folder is searched too, unless the name is harmless."""
    module_name, colon, path = name.rpartition(":")
    if not colon or not path:
        raise MetricError(f"expected module:Name (or file.py:Name), found {name!r}")
    if os.environ.get("TALLYSTICK_NO_CODE"):
        raise MetricError(f"{name!r} names code, which TALLYSTICK_NO_CODE forbids")
    # What is harmless is in no folder but Python's and ours; modules of the current folder stay outside.
    found: Any = _module(module_name, here=not HARMLESS.fullmatch(name))
    for part in path.split("."):
        if not hasattr(found, part):
            hint = did_you_mean(part, [n for n in dir(found) if not n.startswith("_")])
            raise MetricError(f"{module_name} has no {part!r}.{hint}")
        found = getattr(found, part)
    return found


def _module_of_file(file: Path) -> Any:
    """The module in a file, which finds its siblings as a script would, and, inside of a package, what it imports from there."""
    folder = file.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    dotted = ".".join(file.relative_to(folder).with_suffix("").parts)
    known = sys.path.copy()
    sys.path.insert(0, str(folder))
    try:
        if "." in dotted:
            return importlib.import_module(dotted.removesuffix(".__init__"))
        if dotted in sys.stdlib_module_names:  # types.py of a user must not stand for Python's
            dotted = f"{dotted}_of_{file.parent.name}"
        spec = importlib.util.spec_from_file_location(dotted, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[dotted] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path[:] = known if str(folder) in known else [*known, str(folder)]  # what is imported later is found, too


def _module(name: str, *, here: bool) -> Any:
    try:
        if name.endswith(".py"):
            if not Path(name).exists():
                raise InputError("no such file", name)
            return _module_of_file(Path(name).resolve())
        if here and "" not in sys.path:
            sys.path.insert(0, "")
        return importlib.import_module(name)
    except TallystickError:
        raise
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise MetricError(
                f"no module {name!r}; it is looked for in the current folder and in Python's path"
            ) from None
        raise MetricError(f"{name} cannot be imported: {error}") from None
    except Exception as error:
        raise MetricError(f"{name} cannot be imported: {type(error).__name__}: {error}") from None

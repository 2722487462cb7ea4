"""Pages from templates, in the part of Jinja's language that ours are written in: to load Jinja and to compile them with it takes 40 ms,
a quarter of a small command.

    {{ expression }}                                             what it is, as text: escaped, unless it is `Safe`
    {% if x %} {% elif y %} {% else %} {% endif %}               `loop.first`, `loop.last` and `loop.index0` are known inside of
    {% for a, b in pairs %} {% endfor %}                         the innermost loop
    {% macro name(a, b="") %} {% endmacro %}
    {% from "other" import name %}   {% extends "base" %}   {% block name %} {% endblock %}

An expression is one of Python, in which `x.name` is a key or an attribute, and `x|length`, `x|safe`, `x|min` and `x|max` are calls that, as
in Python, bind less than `%`. A line that has nothing but tags leaves nothing behind. tests/show/test_templates.py holds what is rendered equal to Jinja's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_TOKEN = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)


class Safe(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(value: Any) -> str:
    """A value as text in which nothing is markup."""
    if isinstance(value, Safe):
        return value
    text = str(value)
    for sign, written in (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;")):
        text = text.replace(sign, written)
    return text


def render(name: str, load: Callable[[str], str], values: Mapping[str, Any]) -> str:
    """The template of this name, with everything that it extends and takes from others."""
    known: dict[str, Any] = {**values, "none": None}
    run = _Template(load(name), load, known).run
    return run(known)


def _part(value: Any, name: str) -> Any:
    if isinstance(value, Mapping) and name in value:
        return value[name]
    return getattr(value, name)


_FILTERS: dict[str, Callable[[Any], Any]] = {"length": len, "safe": Safe, "min": min, "max": max}
_HELPERS = {"__builtins__": {"enumerate": enumerate, "len": len, "list": list}, "_part": _part, "_escape": escape, **{f"_{name}": call for name, call in _FILTERS.items()}}  # fmt: skip


class _Names(ast.NodeTransformer):
    """An expression of a template as one of Python: names are those of the loops and macros around it, or of the page."""

    def __init__(self, local: set[str], depth: int) -> None:
        self.local, self.depth = local, depth

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.local:
            return node
        return ast.Subscript(ast.Name("known", ast.Load()), ast.Constant(node.id), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "loop":
            place, count = f"_k{self.depth}", f"_n{self.depth}"
            text = {"index0": place, "first": f"{place} == 0", "last": f"{place} == {count} - 1"}[node.attr]
            return ast.parse(text, mode="eval").body
        return _call("_part", self.visit(node.value), ast.Constant(node.attr))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.BitOr) and isinstance(node.right, ast.Name) and node.right.id in _FILTERS:
            return _call(f"_{node.right.id}", self.visit(node.left))
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class _Template:
    """A template as a function of what is known to the page."""

    def __init__(self, source: str, load: Callable[[str], str], known: dict[str, Any]) -> None:
        self.load, self.known = load, known
        self.base: _Template | None = None
        self.tokens = _tokens(source)
        body = self._body(set(), 0, ())[0]
        self._run = self._function(["known"], body)

    def run(self, known: dict[str, Any]) -> Safe:
        """What it renders; a template that extends another one only adds to that."""
        return self.base.run(known) if self.base is not None else self._run(known)

    def _function(self, arguments: list[str], body: list[ast.stmt], defaults: Sequence[ast.expr] = ()) -> Any:
        shape = f"def made({', '.join(arguments)}):\n _out = []\n _add = _out.append\n return _safe(''.join(_out))"
        module = ast.parse(shape)
        made = module.body[0]
        assert isinstance(made, ast.FunctionDef)
        made.args.defaults = list(defaults)
        made.body[2:2] = body
        space = {**_HELPERS, "known": self.known}
        exec(compile(ast.fix_missing_locations(module), "<template>", "exec"), space)
        return space["made"]

    def _body(self, local: set[str], depth: int, ends: tuple[str, ...]) -> tuple[list[ast.stmt], str]:
        """Statements up to one of the tags that end this part, and that tag."""
        out: list[ast.stmt] = []
        for kind, text in self.tokens:
            if kind == "text":
                out.append(ast.Expr(_call("_add", ast.Constant(text))))
            elif kind == "value":
                out.append(ast.Expr(_call("_add", _call("_escape", self._expression(text, local, depth)))))
            elif text.split()[0] in ends:
                return out, text
            else:
                out += self._tag(text, local, depth)
        return out, ""

    def _tag(self, text: str, local: set[str], depth: int) -> list[ast.stmt]:
        word, _, rest = text.partition(" ")
        return getattr(self, f"_{word}")(rest.strip(), local, depth)  # type: ignore[no-any-return]

    def _expression(self, text: str, local: set[str], depth: int) -> ast.expr:
        return _Names(local, depth).visit(ast.parse(text.strip(), mode="eval").body)  # type: ignore[no-any-return]

    def _if(self, rest: str, local: set[str], depth: int) -> list[ast.stmt]:
        body, end = self._body(local, depth, ("elif", "else", "endif"))
        other: list[ast.stmt] = []
        if end.startswith("elif"):
            other = self._if(end.removeprefix("elif"), local, depth)
        elif end == "else":
            other, _ = self._body(local, depth, ("endif",))
        return [ast.If(self._expression(rest, local, depth), body or [ast.Pass()], other)]

    def _for(self, rest: str, local: set[str], depth: int) -> list[ast.stmt]:
        names, _, values = rest.partition(" in ")
        own = [name.strip() for name in names.split(",")]
        body, _ = self._body({*local, *own}, depth + 1, ("endfor",))
        place, count, items = (f"_{letter}{depth + 1}" for letter in "kni")
        first = ast.parse(
            f"{items} = list(_)\n{count} = len({items})\nfor {place}, ({names}) in enumerate({items}): pass"
        ).body
        first[0].value.args = [self._expression(values, local, depth)]  # type: ignore[attr-defined]
        first[2].body = body or [ast.Pass()]  # type: ignore[attr-defined]
        return first

    def _macro(self, rest: str, local: set[str], depth: int) -> list[ast.stmt]:
        given = ast.parse(f"def {rest}: pass").body[0]
        assert isinstance(given, ast.FunctionDef)
        names = [one.arg for one in given.args.args]
        body, _ = self._body(set(names), 0, ("endmacro",))
        self.known[given.name] = self._function(names, body, given.args.defaults)
        return []

    def _block(self, rest: str, local: set[str], depth: int) -> list[ast.stmt]:
        """What a template that extends this one has there; its own is nothing."""
        body, _ = self._body(local, depth, ("endblock",))
        name = f"block {rest}"
        if self.base is not None:
            self.known[name] = self._function(["known"], body)
            return []
        block = ast.Subscript(ast.Name("known", ast.Load()), ast.Constant(name), ast.Load())
        return [ast.Expr(_call("_add", ast.Call(block, [ast.Name("known", ast.Load())], [])))]

    def _extends(self, rest: str, local: set[str], depth: int) -> list[ast.stmt]:
        self.base = _Template(self.load(ast.literal_eval(rest)), self.load, self.known)
        return []

    def _from(self, rest: str, local: set[str], depth: int) -> list[ast.stmt]:
        _Template(self.load(ast.literal_eval(rest.partition(" import ")[0])), self.load, self.known)
        return []


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    """Text, values and tags. A tag takes the line break behind it along, and blanks before it at the beginning of a line."""
    parts = _TOKEN.split(source.removesuffix("\n"))
    before = ""  # what precedes on the line
    for k, part in enumerate(parts):
        if k % 2:
            yield ("value" if part[1] == "{" else "tag"), part[2:-2].strip()
            before = part
            continue
        text = part
        if k and parts[k - 1].startswith("{%") and text.startswith("\n"):
            text, before = text[1:], "\n"
        if k + 1 < len(parts) and parts[k + 1].startswith("{%"):
            line = text.rpartition("\n")[2]
            if not line.strip(" \t") and ("\n" in text or before in ("", "\n")):
                text = text[: len(text) - len(line)]
        if text:
            yield "text", text

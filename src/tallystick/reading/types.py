"""`--type module:Type`: finding the user's type, and turning JSON into values of it, strictly.

Values are checked by msgspec, or by pydantic where the type is made of pydantic models. Nothing is coerced.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from tallystick.errors import InputError, MetricError, TallystickError, did_you_mean


def load(name: str) -> Any:
    """What `module:name` or `file.py:name` stands for; the current folder is searched too."""
    module_name, colon, path = name.rpartition(":")
    if not colon or not path:
        raise MetricError(f"expected module:Name (or file.py:Name), found {name!r}")
    found: Any = _module(module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            hint = did_you_mean(part, [n for n in dir(found) if not n.startswith("_")])
            raise MetricError(f"{module_name} has no {part!r}.{hint}")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    try:
        if name.endswith(".py"):
            if not Path(name).exists():
                raise InputError("no such file", name)
            spec = importlib.util.spec_from_file_location(Path(name).stem, name)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[Path(name).stem] = module
            spec.loader.exec_module(module)
            return module
        if "" not in sys.path:
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


def converter(type_: Any) -> Callable[[Any], Any]:
    """A function from plain JSON data to a value of the type; it raises ValueError with the path of what is wrong."""
    if not _has_pydantic(type_, set()):
        import msgspec

        try:
            decoder = msgspec.json.Decoder(type_, strict=True)
        except (TypeError, NotImplementedError) as error:
            return _pydantic(type_, f"msgspec cannot ({error})")
        return decoder.decode
    return _pydantic(type_, "it is made of pydantic models")


def _pydantic(type_: Any, reason: str) -> Callable[[Any], Any]:
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError:
        raise MetricError(f"values of {type_} need pydantic to be read: pip install pydantic ({reason})") from None
    try:
        adapter = TypeAdapter(type_)
    except Exception as error:
        raise MetricError(f"values of {type_} cannot be read from JSON: {error}") from None

    def convert(line: bytes) -> Any:
        try:
            return adapter.validate_json(line, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
            raise ValueError(f"{first['msg']}, found {first['input']!r:.60} - at `${path}`") from None

    return convert


def _has_pydantic(type_: Any, seen: set[int]) -> bool:
    from tallystick.columns.types import record_fields

    if id(type_) in seen:
        return False
    seen.add(id(type_))
    if hasattr(type_, "__pydantic_core_schema__") or hasattr(type_, "model_fields"):
        return True
    inner = list(get_args(type_))
    with contextlib.suppress(TallystickError):
        inner += list((record_fields(type_) or {}).values())
    return any(_has_pydantic(one, seen) for one in inner)

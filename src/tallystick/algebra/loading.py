"""Finding what `module:name` or `file.py:name` stands for: functions, similarities and types of a user's own."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

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

"""The same evaluation on many processes or many machines, in bounded memory, and to be gone on with when it was killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.results.accounts import Wants
    from tallystick.run.processes import Processes
    from tallystick.run.shards import Finished, run_files
    from tallystick.run.state import State

_HOMES = (
    "tallystick.results.accounts:Wants", "tallystick.run.processes:Processes", "tallystick.run.shards:Finished",
    "tallystick.run.shards:run_files", "tallystick.run.state:State",
)  # fmt: skip

__all__ = ["Finished", "Processes", "State", "Wants", "run_files"]


def __getattr__(name: str) -> Any:
    import importlib

    for home in _HOMES:
        module, _, public = home.partition(":")
        if public == name:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

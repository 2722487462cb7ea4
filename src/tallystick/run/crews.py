"""Who does the work: this process, some processes of this machine, or the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from tallystick.errors import MetricError, TallystickError
from tallystick.run.processes import Processes

RETRIES = 3
"""So often Dask gives a shard whose worker died to another one."""


@contextmanager
def crew(jobs: int | None = None, scheduler: str | None = None) -> Iterator[Executor | None]:
    """An executor; None for this process alone."""
    if jobs is not None and scheduler is not None:
        raise MetricError("--jobs is for processes of this machine, --scheduler for those of Dask; give one of them")
    if scheduler is not None:
        with dask_workers(scheduler) as executor:
            yield executor
    elif jobs is not None and jobs > 1:
        with Processes(jobs) as executor:
            yield executor
    else:
        yield None


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """The workers of the scheduler at an address, such as tcp://10.0.0.1:8786 or the file that it wrote."""
    try:
        from distributed import Client
    except ImportError:
        raise TallystickError("--scheduler needs Dask distributed: pip install 'tallystick[dask]'") from None
    from pathlib import Path

    known = Path(address).is_file()
    if not (_is_scheduler_file(address) if known else _is_address(address)):
        expected = "the file that a Dask scheduler wrote, or an address such as tcp://10.0.0.1:8786"
        raise MetricError(f"--scheduler expects {expected}; found {address!r}, which is neither")
    try:
        client: Any = Client(scheduler_file=address) if known else Client(address, timeout=30)  # type: ignore[no-untyped-call,unused-ignore]
    except (OSError, ValueError) as error:
        raise TallystickError(f"no scheduler answers at {address} ({error})") from None
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=60)
        yield client.get_executor(pure=False, retries=RETRIES)
    except TimeoutError:
        raise TallystickError(f"the scheduler at {address} has no workers") from None
    finally:
        client.close()


def _is_address(text: str) -> bool:
    scheme, _, place = text.rpartition("://")
    if scheme not in ("", "tcp", "tls", "ws", "wss"):
        return bool(scheme)  # Dask knows more of them, without ports
    host, _, port = place.rpartition(":")
    return bool(host) and port.isdecimal() and int(port) < 1 << 16


def _is_scheduler_file(name: str) -> bool:
    import json

    try:
        with open(name, encoding="utf-8") as stream:
            content = json.load(stream)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "address" in content

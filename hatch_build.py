"""Build the compiled part if there is a C compiler, and go on without it if there is none.

It is a plain shared library that is loaded with ctypes, so that one build serves every version of Python and needs
none of its headers. The compiler is $CC, or cc. In a checkout, `python hatch_build.py` builds it in place.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    BuildHookInterface = object  # type: ignore[assignment, misc]

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "src/tallystick/engine/native.c"
LIBRARY = SOURCE.with_name("_native.so")
# Results have to equal those of the code in Python to the bit: nothing that fuses or reorders arithmetic.
OPTIONS = ["-std=c99", "-O3", "-ffp-contract=off", "-fPIC", "-shared"]


def build(library: Path = LIBRARY) -> str:
    """Build the library; says why there is none if there is none."""
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / library.name
        command = [*compiler, *OPTIONS, str(SOURCE), "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode or not made.exists():
            return done.stderr.strip() or f"{shlex.join(command)} ends with exit code {done.returncode}"
        os.replace(made, library)  # a process that has the old one open keeps it
    return ""


class NativeHook(BuildHookInterface):
    """hatchling's build of a wheel, editable or not."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        LIBRARY.unlink(missing_ok=True)
        problem = build()
        if problem:
            self.app.display_warning(f"without the compiled part, which is optional: {problem}")
            return
        build_data["artifacts"].append(f"/{LIBRARY.relative_to(HERE).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


if __name__ == "__main__":
    sys.exit(build() or None)

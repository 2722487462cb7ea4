"""Where the data is that other people's figures were recorded on. It is not part of the project; `make parity` says where to get it.

`TALLYSTICK_DATA` names the folder; else it is what `make parity` fetched, or a folder beside the clone. Tests that need a part of it that
is not there are skipped.
"""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _find() -> Path:
    if named := os.environ.get("TALLYSTICK_DATA"):
        return Path(named)
    fetched = ROOT / ".parity" / "data"
    return fetched if fetched.is_dir() else ROOT.parent / "shared" / "data"


PUBLIC = _find()


def needs(*parts: str) -> pytest.MarkDecorator:
    """Skip where one of these parts of the data is not there."""
    absent = [part for part in parts if not (PUBLIC / part).exists()]
    return pytest.mark.skipif(bool(absent), reason=f"needs {absent[:1]} of the data of `make parity`")

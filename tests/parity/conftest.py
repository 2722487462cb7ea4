"""What the tests against published figures share."""

import gzip
import json

import pytest

from public_data import PUBLIC
from tallystick.tasks.templates.files import read_muc4


@pytest.fixture(scope="session")
def muc4_responses(tmp_path_factory):
    """The 34 responses of 1992 by name. The packed file of all of them is large: each is read from one of its own."""
    packed = PUBLIC / "events" / "muc4_official" / "systems.json.gz"
    entries = json.loads(gzip.decompress(packed.read_bytes()))
    folder, found = tmp_path_factory.mktemp("muc4"), {}
    for name, entry in entries.items():
        file = folder / f"{name.replace('/', '.')}.json"
        file.write_text(json.dumps({name: entry}))
        found[name] = read_muc4(f"{file}#{name}")
    assert found[name].documents == read_muc4(f"{packed}#{name}").documents
    return found

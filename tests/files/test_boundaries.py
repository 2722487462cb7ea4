"""Where documents begin: found by the compiled part as in Python, and in usual files as one block at a time."""

import random

import pytest

from tallystick.engine.native import compiled
from tallystick.files import boundaries
from tallystick.run import cutting
from tallystick.tasks.amr import files as amr
from tallystick.tasks.coreference import files as coreference
from tallystick.tasks.events import files as events
from tallystick.tasks.hierarchies import files as hierarchies
from tallystick.tasks.relations import files as relations
from tallystick.tasks.spans import files as spans

LINES = (
    b"\n", b"\n", b"\n\n", b" ", b"\t", b"\r", b"\v", b"\f", b"#", b"# newdoc", b"#newdoc id", b"# newdocs", b"#\tnewdoc\n", b"a",
    b"1\tx", b"# text",
)  # fmt: skip
GRAPHS = (
    "\n", "\n", "\n\n", " ", "\t", "# ::id a\n", "# x\n", "#", "(a / b", "(a / b)\n", ":ARG0 (c / d)\n", ")", '"', "(", "\n(x / y)\n",
    '  :op1 "("', "é", "# ::snt q", "\r\n",
)  # fmt: skip


@pytest.mark.skipif(compiled() is None, reason="without the compiled part there is nothing to compare")
@pytest.mark.parametrize(("word", "every"), [(b"", False), (b"newdoc", False), (b"", True)])
def test_blocks_of_the_compiled_part_are_those_of_python(word, every):
    for seed in range(3000):
        rng = random.Random(seed)
        data = b"".join(rng.choices(LINES, k=rng.randint(0, 14)))
        stop = boundaries.whole_lines(data, rng.random() < 0.5)
        found, expected = (find(data, stop, word, every) for find in (boundaries._blocks, boundaries._blocks_in_python))
        assert [one.tolist() for one in found] == [one.tolist() for one in expected], data


def test_graphs_found_by_their_lines_are_those_found_block_by_block():
    usual = 0
    for seed in range(3000):
        rng = random.Random(seed)
        data = "".join(rng.choices(GRAPHS, k=rng.randint(0, 16))).encode()
        found, settled = amr._find_graphs(data, True)
        assert found.tolist() == amr.block_starts(data.decode("ascii", "replace")), data
        assert settled == len(data)
        usual += b"\r" not in data
    assert usual > 1000


@pytest.mark.parametrize("size", [0, 1, 63, 64, 4095, 4096, 4097, 255 * 64 + 1, 100_000])
@pytest.mark.parametrize("letters", [b"\n", b"\na", b"a\x0b\x8a"])
def test_lines_are_counted_however_many_there_are(letters, size):
    data = bytes(random.Random(size).choices(letters, k=size))
    assert cutting.count_lines(data) == data.count(b"\n")


JSON_FORMATS = [
    (events, "JSON"), (relations, "JSON"), (spans, "jsonl"), (hierarchies, "jsonl"), (coreference, "jsonl"), (amr, "triples"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "name"), JSON_FORMATS, ids=lambda one: getattr(one, "__name__", one))
def test_json_lines_are_cut_alike_whether_the_format_is_named_or_found(task, name, tmp_path):
    assert any(one.name == name for one in task.FORMATS)
    file = tmp_path / "documents"
    file.write_text('{"id": "a"}\n{"id": "b"}\n')
    assert boundaries.find_boundaries(task.FORMATS, file, input=name) is boundaries.LINES
    assert boundaries.find_boundaries(task.FORMATS, file) is boundaries.LINES

"""CorefUD's Entity attributes: heads, gaps, empty nodes, and what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import InputError
from tallystick.tasks.coreference.chains import Chains, repeated_mentions
from tallystick.tasks.coreference.corefud import read_corefud
from tallystick.tasks.coreference.files import read_chains

HEADER = "# global.Entity = eid-etype-head-other\n# newdoc id = d1\n"


def row(id: str, misc: str = "_") -> str:
    return f"{id}\tw\tw\tX\t_\t_\t0\troot\t_\t{misc}\n"


def rows(*misc: str) -> str:
    return "".join(row(str(i), text) for i, text in enumerate(misc, 1)) + "\n"


def read(tmp_path: Path, text: str) -> Chains:
    path = tmp_path / "file.conllu"
    path.write_text(text, encoding="utf-8")
    return read_corefud(path)


def spans(chains: Chains) -> list[tuple[str, int, int]]:
    return [
        (chains.entity_names[e], s, t)
        for e, s, t in zip(chains.entity.tolist(), chains.start.tolist(), chains.end.tolist(), strict=True)
    ]


def test_heads_and_nesting(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e1-person-2-(e2--1-)", "SpaceAfter=No|Entity=e1)", "Entity=(e1-person-1-x:y-z)")
    chains = read(tmp_path, text)
    assert spans(chains) == [("e1", 0, 1), ("e2", 0, 0), ("e1", 2, 2)]
    assert chains.head is not None
    assert chains.head.tolist() == [1, 0, 2]
    assert chains.documents == ["d1"]
    assert chains.tokens.tolist() == [3]
    assert chains.lines.tolist() == [3, 3, 5]
    assert chains.format == "corefud"


def test_empty_nodes_are_tokens_and_multiword_tokens_are_not(tmp_path: Path) -> None:
    text = HEADER + row("1-2") + row("1", "Entity=(e1") + row("1.1", "Entity=(e2)") + row("2", "Entity=e1)") + "\n"
    chains = read(tmp_path, text)
    assert spans(chains) == [("e1", 0, 2), ("e2", 1, 1)]
    assert chains.tokens.tolist() == [3]
    assert chains.head is not None
    assert chains.head.tolist() == [-1, -1]


def test_discontinuous_mention_is_one_mention(tmp_path: Path) -> None:
    text = HEADER + rows(
        "Entity=(e1[1/2]--3-",
        "Entity=e1[1/2])",
        "_",
        "Entity=(e1[2/2]--3-)",
        "Entity=(e1--1-",
        "_",
        "Entity=e1)",
    )
    chains = read(tmp_path, text)
    assert spans(chains) == [("e1", 0, 3), ("e1", 4, 6)]
    assert chains.parts == {0: ((0, 1), (3, 3))}
    assert chains.head is not None
    assert chains.head.tolist() == [3, 4]


def test_parts_without_a_gap_are_a_plain_span(tmp_path: Path) -> None:
    chains = read(tmp_path, HEADER + rows("Entity=(e1[1/2])", "Entity=(e1[2/2])"))
    assert chains.parts == {}
    assert spans(chains) == [("e1", 0, 1)]


def test_a_mention_with_a_gap_is_not_the_span_around_it(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e2(e1[1/2])", "_", "Entity=(e1[2/2])e2)(e3)", "Entity=(e3)")
    assert repeated_mentions(read(tmp_path, text)) == []
    twice = read(tmp_path, HEADER + rows("Entity=(e2[1/2])(e1[1/2])", "_", "Entity=(e1[2/2])(e2[2/2])"))
    (found,) = repeated_mentions(twice)
    assert (found.mention, found.first_entity, found.entity) == (((0, 0), (2, 2)), "e2", "e1")


def test_order_of_attributes_and_the_closing_brackets_of_gum(tmp_path: Path) -> None:
    header = "# newdoc id = d1\n# global.Entity = entity-GRP-head\n"
    chains = read(tmp_path, header + rows("Entity=(place-103-1", "Entity=place-103)(person-4-1", "Entity=4)"))
    assert spans(chains) == [("103", 0, 1), ("4", 1, 2)]


def test_plain_ids_need_no_header(tmp_path: Path) -> None:
    assert spans(read(tmp_path, "# newdoc id = x\n" + rows("Entity=(1", "Entity=1)(2)"))) == [
        ("1", 0, 1),
        ("2", 1, 1),
    ]


def test_documents_and_their_entities(tmp_path: Path) -> None:
    text = HEADER + rows("Entity=(e1)") + "# newdoc\n" + rows("Entity=(e1)", "Entity=(e1)")
    chains = read(tmp_path, text.replace("\n", "\r\n"))
    assert chains.documents == ["d1", "document 2"]
    assert chains.entity.tolist() == [0, 1, 1]
    assert chains.tokens.tolist() == [1, 2]


def test_other_links_are_reported(tmp_path: Path) -> None:
    chains = read(tmp_path, HEADER + rows("Entity=(e3)|SplitAnte=e1<e3,e2<e3", "Bridge=e1<e3|Entity=(e1)"))
    assert [warning.split(": ", 1)[1] for warning in chains.warnings] == [
        "SplitAnte on 1 line: not part of a chain, not scored",
        "Bridge on 1 line: not part of a chain, not scored",
    ]


def test_a_file_without_coreference_is_reported(tmp_path: Path) -> None:
    (warning,) = read(tmp_path, "# newdoc id = x\n" + rows("_")).warnings
    assert "is this the right file?" in warning


PREFIX = len("1\tw\tw\tX\t_\t_\t0\troot\t_\tEntity=") + 1
ERRORS = {
    "unclosed": (
        HEADER + rows("Entity=(e1)(e2-x-1-"),
        3,
        PREFIX + 4,
        '"(e2" is opened here and never closed',
    ),
    "unopened": (HEADER + rows("_", "Entity=e1)"), 4, PREFIX, "never opened"),
    "closed in the next document": (
        HEADER + rows("Entity=(e1") + "# newdoc id = d2\n" + rows("Entity=e1)"),
        3,
        PREFIX,
        "never closed",
    ),
    "no brackets": (HEADER + rows("Entity=e1"), 3, PREFIX, "found Entity=e1; expected"),
    "nothing": (HEADER + rows("Entity="), 3, PREFIX, "expected"),
    "head too far": (HEADER + rows("Entity=(e1--2-)"), 3, PREFIX, "the head is word 2 of a mention of 1"),
    "head no number": (HEADER + rows("Entity=(e1--x-)"), 3, PREFIX, 'found "x" as the head'),
    "second part alone": (HEADER + rows("Entity=(e1[2/2])"), 3, PREFIX, "part e1[1/2] is missing"),
    "first part alone": (HEADER + rows("Entity=(e1[1/2])"), 3, PREFIX, "only 1 of 2 parts"),
    "part of none": (HEADER + rows("Entity=(e1[3/2])"), 3, PREFIX, "part 3 of 2"),
    "no order": ("# newdoc id = a\n" + rows("Entity=(e1-x)"), 2, PREFIX, "global.Entity"),
    "order without id": ("# global.Entity = etype-head\n", 1, None, "eid"),
    "too many values": (
        HEADER.replace("-other", "") + rows("Entity=(e1-x-1-a)"),
        3,
        PREFIX,
        "announces eid-etype-head",
    ),
    "columns": (HEADER + "1\tw\tEntity=(e1)\n", 3, None, "expected 10 columns separated by tabs, found 3"),
    "token id": (HEADER + row("x") + "\n", 3, 1, 'ID "x" is neither'),
    "range": (HEADER + row("1-2", "Entity=(e1)") + rows("_", "_"), 3, PREFIX + 2, "multiword"),
    "old format": (HEADER + rows("ClusterId=e1"), 3, None, "CorefUD 0.x"),
    "no rows": (HEADER.split("\n")[0], None, None, "has no documents"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_line_and_column(tmp_path: Path, name: str) -> None:
    text, line, column, words = ERRORS[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    place = caught.value.place
    assert place is not None
    assert words in str(caught.value)
    assert (place.line, place.column) == (line, column)


def test_is_recognised_by_its_content(tmp_path: Path) -> None:
    for text in (HEADER + rows("_"), rows("_"), row("1-2") + rows("Entity=(1)", "_")):
        path = tmp_path / "anything.txt"
        path.write_text(text)
        assert read_chains(path).format == "corefud"

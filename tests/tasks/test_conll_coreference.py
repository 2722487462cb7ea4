"""The column reader against a plain one that walks line by line, and every way a file can be wrong."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from public_data import PUBLIC, needs
from tallystick.engine.native import compiled
from tallystick.errors import InputError
from tallystick.files.source import Pieces
from tallystick.files.table import find_line_ends
from tallystick.tasks.coreference import files as readers
from tallystick.tasks.coreference.chains import Chains, repeated_mentions
from tallystick.tasks.coreference.files import read_chains, read_conll

ROOT = Path(__file__).resolve().parents[2]
# A worktree may stand elsewhere, hence the variable.
SHARED = PUBLIC / "coreference"
needs_shared = needs("coreference/litbank.key.gz", "coreference/reference_scorer_cases.json")


def text_of(*cells: str, name: str = "(d1); part 000") -> str:
    rows = "".join(f"d\t0\t{i}\tw\t{cell}\n" for i, cell in enumerate(cells))
    return f"#begin document {name}\n{rows}\n#end document\n"


def read(tmp_path: Path, text: str | bytes, size: int = 1 << 20) -> Chains:
    path = tmp_path / "file.conll"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_conll(Pieces(path, size))


def clusters(chains: Chains) -> dict[str, dict[str, list[tuple[int, int]]]]:
    found: dict[str, dict[str, list[tuple[int, int]]]] = {name: {} for name in chains.documents}
    for row in range(len(chains)):
        document = found[chains.documents[chains.document[row]]]
        name = chains.entity_names[chains.entity[row]]
        document.setdefault(name, []).append((int(chains.start[row]), int(chains.end[row])))
    return found


def only(chains: Chains) -> dict[str, list[tuple[int, int]]]:
    (document,) = clusters(chains).values()
    return document


# ---- the plain reader


class Wrong(Exception):
    """What the plain reader raises for whatever is an error."""


def elements_of(cell: str) -> list[tuple[str, bool, bool]]:
    """(id, begins, ends) for the elements of a cell, read from left to right."""
    found, at = [], 0
    while at < len(cell):
        if at and cell[at] == "|":
            at += 1
        element = re.compile(r"(\()?([^()|]+)(\))?").match(cell, at)
        if not element or not (element[1] or element[3]):
            raise Wrong(cell)
        found.append((element[2], bool(element[1]), bool(element[3])))
        at = element.end()
    return found


def plain_read(text: str) -> list[tuple[str, int, list[tuple[int, int, str, int]], int]]:
    """For each document: name, tokens, mentions (start, end, id, line) by opening, number of split ones."""
    documents: list[tuple[str, int, list[tuple[int, int, str, int]], int]] = []
    name: str | None = None
    tokens = 0
    mentions: list[list[object]] = []
    waiting: dict[str, list[list[object]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" \t\r")
        if not line:
            continue
        if header := re.match(r"#begin document\s*(.*)$", line):
            if name is not None or not header[1]:
                raise Wrong(line)
            name, tokens, mentions, waiting = " ".join(header[1].split()), 0, [], {}
            continue
        if line.startswith("#end document"):
            if name is None or any(waiting.values()):
                raise Wrong(line)
            split = [m for m in mentions if re.fullmatch(r"[^+]+(\+[^+]+)+", str(m[2]))]
            kept = [tuple(m[:4]) for m in sorted(mentions, key=lambda m: m[3:]) if m not in split]
            documents.append((name, tokens, kept, len(split)))  # type: ignore[arg-type]
            name = None
            continue
        if name is None:
            raise Wrong(line)
        cell = re.split(r"[ \t]+", line)[-1]
        elements = [] if cell in ("-", "_") else elements_of(cell)
        # Ends go before beginnings of the same id, as many as there are mentions open.
        can_end = {id: len(stack) for id, stack in waiting.items()}
        early, late = [], []
        for position, (id, begins, ends) in enumerate(elements):
            if begins or not can_end.get(id):
                late.append((position, id, begins, ends))
            else:
                early.append((position, id, begins, ends))
                can_end[id] -= 1
        for position, id, begins, ends in early + late:
            if begins:
                mention: list[object] = [tokens, tokens, id, number, position]
                mentions.append(mention)
                if not ends:
                    waiting.setdefault(id, []).append(mention)
            else:
                if not waiting.get(id):
                    raise Wrong(line)
                waiting[id].pop()[1] = tokens
        tokens += 1
    if name is not None or not documents:
        raise Wrong("no end")
    return documents


def as_plain(chains: Chains) -> list[tuple[str, int, list[tuple[int, int, str, int]]]]:
    found = []
    for number, name in enumerate(chains.documents):
        rows = np.flatnonzero(chains.document == number)
        mentions = [
            (
                int(chains.start[i]),
                int(chains.end[i]),
                chains.entity_names[chains.entity[i]],
                int(chains.lines[i]),
            )
            for i in rows
        ]
        found.append((name, int(chains.tokens[number]), mentions))
    return found


IDS = st.sampled_from(["0", "1", "2", "00", "e1", "ü", "a_long_identifier", "a_long_identifies", "0+1", "-", "x-"])
LOOSE_CELLS = st.text("01()|+-_e", min_size=1, max_size=6)


@st.composite
def balanced_cells(draw: st.DrawFn) -> list[str]:
    size = draw(st.integers(0, 9))
    parts: list[list[str]] = [[] for _ in range(size)]
    for _ in range(draw(st.integers(0, 6)) if size else 0):
        start = draw(st.integers(0, size - 1))
        end = draw(st.integers(start, size - 1))
        id = draw(st.one_of(st.just("0"), IDS))
        if start == end and draw(st.integers(0, 4)):
            parts[start].append(f"({id})")
        else:
            parts[start].append(f"({id}")
            parts[end].insert(0, f"{id})")
    bar = draw(st.sampled_from(["|", ""]))
    cells = []
    for elements in parts:
        # Without bars an end after a beginning would be read as one id.
        ordered = draw(st.permutations(elements)) if bar else elements
        cells.append(bar.join(ordered) or draw(st.sampled_from(["-", "_"])))
    return cells


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = []
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    for number in range(draw(st.integers(0, 3))):
        space = draw(st.sampled_from([" ", "", "\t"]))
        if draw(st.integers(0, 30)):
            lines.append(f"#begin document{space}(d{number}); part 00{number}")
        for cell in draw(balanced_cells() if draw(st.integers(0, 9)) else st.lists(LOOSE_CELLS, max_size=2)):
            separator = draw(st.sampled_from(["\t", "  ", " "]))
            columns = draw(st.lists(st.sampled_from(["w", "(NP*", "-", "é", "(1)", "#"]), max_size=3))
            if columns and columns[0] == "#":
                columns.insert(0, "d")
            lines.append(separator.join([*columns, cell]) + draw(st.sampled_from(["", "", "", " ", "\t"])))
            if not draw(st.integers(0, 5)):
                lines.append(draw(st.sampled_from(["", " ", "\t "])))
        if draw(st.integers(0, 20)):
            lines.append("#end document")
    return newline.join(lines) + draw(st.sampled_from(["", newline]))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=files(), size=st.sampled_from([1, 20, 100, 1 << 20]))
def test_equals_the_plain_reader(tmp_path: Path, text: str, size: int) -> None:
    try:
        expected = plain_read(text)
    except Wrong:
        with pytest.raises(InputError):
            read(tmp_path, text, size)
        return
    chains = read(tmp_path, text, size)
    assert as_plain(chains) == [document[:3] for document in expected]
    assert ("split antecedent" in "".join(chains.warnings)) == any(document[3] for document in expected)
    first = [int(np.flatnonzero(chains.entity == number)[0]) for number in range(chains.entities)]
    assert first == sorted(first)


# ---- single readings


def test_nested_and_crossing_mentions(tmp_path: Path) -> None:
    assert only(read(tmp_path, text_of("(0", "(0", "0)", "0)"))) == {"0": [(0, 3), (1, 2)]}
    assert only(read(tmp_path, text_of("(0", "(1", "0)", "1)"))) == {"0": [(0, 2)], "1": [(1, 3)]}


def test_end_and_beginning_of_one_entity_on_one_token(tmp_path: Path) -> None:
    """The reference scorer begins before it ends and reads (1, 1) and (0, 2)."""
    for cell in ("0)(0", "0)|(0", "(0|0)"):
        assert only(read(tmp_path, text_of("(0", cell, "0)"))) == {"0": [(0, 1), (1, 2)]}


def test_beginning_and_end_on_one_token_without_an_open_mention(tmp_path: Path) -> None:
    assert only(read(tmp_path, text_of("-", "(0|0)"))) == {"0": [(1, 1)]}


def test_elements_without_bars(tmp_path: Path) -> None:
    assert only(read(tmp_path, text_of("(1(3", "1)3)(4)"))) == {"1": [(0, 1)], "3": [(0, 1)], "4": [(1, 1)]}


@pytest.mark.parametrize("blanks", ["", " " * 63, " " * 64, "\t " * 200])
@pytest.mark.parametrize("cell", ["(0)", "(" + "x" * 62 + ")", "(" + "x" * 63 + ")", "(a)|" * 200 + "(a)", "-"])
def test_very_long_cells_and_very_many_blanks(tmp_path: Path, cell: str, blanks: str) -> None:
    text = f"#begin document (d)\nw -{blanks}\n{cell}{blanks}\nw\t{cell}{blanks}\n{blanks}\n#end document\n"
    (expected,) = plain_read(text)
    assert as_plain(read(tmp_path, text)) == [expected[:3]]


def test_a_line_without_an_end_is_an_error_soon(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected"):
        read(tmp_path, "#begin document (d)\n" + "x" * 3_000_000 + "\n#end document\n")


def test_offsets_run_through_sentences(tmp_path: Path) -> None:
    text = "#begin document (d)\na\t0\tx\t(0\n\na\t0\ty\t0)\n\n#end document\n"
    assert only(read(tmp_path, text)) == {"0": [(0, 1)]}


def test_the_same_id_in_two_documents_is_two_entities(tmp_path: Path) -> None:
    chains = read(tmp_path, text_of("(0)") + text_of("(0)", "(0)", name="(d1); part 001"))
    assert chains.entities == 2
    assert chains.documents == ["(d1); part 000", "(d1); part 001"]
    assert chains.tokens.tolist() == [1, 2]
    assert chains.document_lines.tolist() == [1, 5]
    assert chains.lines.tolist() == [2, 6, 7]


def test_header_without_a_space(tmp_path: Path) -> None:
    assert read(tmp_path, text_of("-").replace("document (", "document(")).documents == ["(d1); part 000"]


def word(cells: list[str]) -> str:
    """The word of a line, by what its columns are."""
    number = [cell.isascii() and cell.isdigit() for cell in cells]
    if len(cells) < 3:
        return cells[0] if len(cells) == 2 else ""
    if len(cells) == 7 and not number[1] and number[2] and number[3]:
        return cells[4]
    return cells[1 if number[0] and not (len(cells) > 3 and number[1]) else min(3, len(cells) - 2)]


CELLS = st.lists(
    st.sampled_from(["d", "7", "12", "d_1", "1_d", "1_1", "²", "a\u00a0b", "wörd", "#", "-"]), min_size=0, max_size=8
)
BLANKS = st.sampled_from(["\t", " ", "   ", " \t "])


@given(
    st.lists(st.none() | st.tuples(st.sampled_from(["", " "]), CELLS, BLANKS), max_size=12),
    st.sampled_from([1, 1 << 20]),
    st.sampled_from([0, 1 << 20]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_words_are_those_of_each_line(
    tmp_path: Path, lines: list[tuple[str, list[str], str] | None], size: int, large: int
) -> None:
    """As `word` has them line by line; None is a blank line, which ends a sentence. From 0 bytes on, or never, by the compiled part."""
    sentences: list[list[str]] = [[]]
    text = "#begin document (d1); part 000\n"
    for line in lines:
        if line is None:
            sentences.append([])
            text += "\n"
        else:
            before, cells, blank = line
            cells = ["d", *cells] if cells[:1] == ["#"] else cells  # that would be a comment
            sentences[-1].append(word([*cells, "-"]))
            text += f"{before}{blank.join([*cells, '-'])}\n"
    path = tmp_path / "file.conll"
    path.write_text(f"{text}#end document\n", "utf-8")
    with mock.patch.object(readers, "LARGE", large):
        found = read_conll(Pieces(path, size), keep_text=True).texts
    known = [sentence for sentence in sentences if sentence]
    assert found == ({"(d1); part 000": known} if all(map(all, known)) else {})


_LINES = st.lists(
    st.lists(st.sampled_from(["7", "12", "d", "1_1", "wörd", "x" * 61, "\x1c", "3" * 70]), max_size=9).flatmap(
        lambda cells: st.sampled_from([" ", "\t", "\x0b \r"]).map(lambda blank: blank.join([*cells, "-"]))
    ),
    max_size=12,
)


@given(_LINES)
def test_the_compiled_words_are_those_of_python(lines: list[str]) -> None:
    part = compiled()
    if part is None:
        pytest.skip("no compiled part")
    piece = "".join(f"{line}\n" for line in lines).encode()
    ends = find_line_ends(piece)
    starts = np.append(0, ends + 1)[:-1]
    ours, theirs = part.find_words(piece, starts, ends), readers._find_words_by_columns(piece, starts, ends)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_semeval_header(tmp_path: Path) -> None:
    assert read(tmp_path, text_of("-", name="1023_a")).documents == ["1023_a"]


def test_split_antecedents_are_reported(tmp_path: Path) -> None:
    chains = read(tmp_path, text_of("(0)", "(1)", "(0+1)", "(0+1", "0+1)"))
    assert only(chains) == {"0": [(0, 0)], "1": [(1, 1)]}
    (warning,) = chains.warnings
    assert re.search(r":4: 2 mentions with a split antecedent, such as \(0\+1\)", warning)


def test_comments_are_reported_and_a_hash_is_a_token(tmp_path: Path) -> None:
    chains = read(tmp_path, "#begin document (d)\n# sent_id = 3\n#\t-\n# text = a -\n#1\t(0)\n#end document\n")
    assert chains.tokens.tolist() == [2]
    (warning,) = chains.warnings
    assert ":2: 2 comment lines" in warning


def test_byte_order_mark_gzip_and_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\xef\xbb\xbf" + text_of("(0", "0)").replace("\n", "\r\n").encode()
    packed = tmp_path / "file.conll.gz"
    packed.write_bytes(gzip.compress(data))
    assert only(read_chains(packed)) == {"0": [(0, 1)]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert only(read_chains("-")) == {"0": [(0, 1)]}


def test_an_error_in_stdin_shows_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text_of("-", "(0", "-").encode())))
    with pytest.raises(InputError) as caught:
        read_chains("-")
    assert str(caught.value).startswith("<stdin>:3:9: ")
    assert "d\t0\t1\tw\t(0" in str(caught.value)


def test_repeated_mentions_are_kept_and_found(tmp_path: Path) -> None:
    chains = read(tmp_path, text_of("(0)|(1)", "-", "(2", "2)") + text_of("(5|(5", "5)|5)", name="(d2)"))
    assert len(chains) == 5
    first, second = repeated_mentions(chains)
    assert (first.document, first.mention, first.line, first.first_entity, first.entity) == (
        "(d1); part 000",
        (0, 0),
        2,
        "0",
        "1",
    )
    assert (second.document, second.mention, second.first_entity, second.entity) == ("(d2)", (0, 1), "5", "5")
    assert "occurs twice in entity" in str(second)
    assert 'in entity "1" and before that in "0"' in str(first)


# ---- errors

ERRORS = {
    "unclosed": (text_of("-", "(0", "-", "(0)"), 3, 9, '"(0" is opened here and never closed'),
    "unclosed of several": (text_of("(3|(0|(0)|(0", "0)", "3)"), 2, 12, "never closed"),
    "unopened": (text_of("(0)", "(1)|0)"), 3, 13, '"0)" closes a mention never opened'),
    "unopened in another document": (
        text_of("(0").replace("(0\n", "(0\nd\t0)\n") + text_of("0)"),
        7,
        9,
        "never opened",
    ),
    "no bracket": (text_of("-", "foo"), 3, 9, 'found "foo"; expected "-"'),
    "dash": (text_of("x-"), 2, 9, 'found "x-"'),
    "only brackets": (text_of("()"), 2, 9, 'found "()"'),
    "lonely bracket": (text_of("(0)("), 2, 12, 'found "(0)("'),
    "id between": (text_of("(0)1(2)"), 2, 12, "expected"),
    "bars": (text_of("(0)||(1)"), 2, 13, "expected"),
    "wide characters before": ("#begin document (d)\nüü\t(0\n#end document\n", 2, 4, "never closed"),
    "no end": ("#begin document (d)\na\t-\n", 2, None, 'document "(d)" of line 1 has no #end document'),
    "begin in a document": (
        "#begin document (d)\na\t-\n#begin document (e)\n",
        3,
        1,
        "of line 1 has no #end",
    ),
    "end without begin": (text_of("-") + "#end document\n", 5, 1, "no document is open"),
    "token before": ("a\t-\n" + text_of("-"), 1, 1, "outside of any document"),
    "token after": (text_of("-") + "\na\t-\n", 6, 1, "outside of any document"),
    "no name": ("#begin document\n#end document\n", 1, None, "name"),
    "NUL": ("#begin document (d)\na\0b\t-\n#end document\n", 2, 2, "NUL"),
    "latin 1": (text_of("-").encode() + b"a\xe9\t-\n", 5, 2, "byte 0xe9 is not UTF-8"),
    "empty": ("", None, None, "is empty"),
    "blank": ("\n\n", None, None, "has no documents"),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("size", [5, 1 << 20])
def test_errors_name_line_and_column(tmp_path: Path, name: str, size: int) -> None:
    text, line, column, words = ERRORS[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, size)
    place = caught.value.place
    assert place is not None
    assert (place.line, place.column) == (line, column)
    assert words in str(caught.value)
    if column is not None:
        assert str(caught.value).endswith("^")


def test_broken_runs_of_bytes_do_not_heal_each_other(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="0xc3 is not UTF-8"):
        read(tmp_path, b"#begin document (d)\n\xc3a\xa9\t-\n#end document\n")


def test_missing_file_directory_and_damaged_gzip(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_chains(tmp_path / "nothing")
    with pytest.raises(InputError, match="is a directory"):
        read_chains(tmp_path)
    damaged = tmp_path / "x.gz"
    damaged.write_bytes(gzip.compress(text_of("-").encode())[:-9])
    with pytest.raises(InputError, match="gzip"):
        read_chains(damaged)


# ---- shared data


@needs_shared
@pytest.mark.parametrize(
    ("name", "mentions", "entities", "documents"),
    [
        ("litbank.key", 29103, 7927, 100),
        ("litbank.response", 27822, 6921, 100),
        ("ecb_events.key", 1780, 805, 1),
        ("ecb_events.response", 1780, 805, 1),
    ],
)
def test_counts_of_the_shared_files(name: str, mentions: int, entities: int, documents: int) -> None:
    chains = read_chains(SHARED / f"{name}.gz")
    assert (len(chains), chains.entities, len(chains.documents)) == (mentions, entities, documents)
    assert chains.format == "conll"
    assert chains.warnings == []


@needs_shared
def test_litbank_equals_the_plain_reader() -> None:
    chains = read_chains(SHARED / "litbank.key.gz")
    expected = plain_read(gzip.decompress((SHARED / "litbank.key.gz").read_bytes()).decode())
    assert as_plain(chains) == [document[:3] for document in expected]


# Where the reference scorer reads a file differently or not at all (see the spec).
DEPARTURES = {
    "edge-same_id_close_and_open": "0)(0: an end comes before a beginning",
    "edge-letters_in_id": "ids with letters are read",
    "edge-unclosed_in_resp": "an error here",
    "edge-unopened_in_resp": "an error here",
    "edge-repeated_doc_name": "both documents are read; pairing complains",
}


@needs_shared
def test_reference_scorer_cases(tmp_path: Path) -> None:
    cases = json.loads((SHARED / "reference_scorer_cases.json").read_text())["cases"]
    compared = 0
    for case in cases:
        if case["id"] in DEPARTURES:
            continue
        for side in ("key", "response"):
            if f"{side}_text" not in case:
                continue
            found = clusters(read(tmp_path, case[f"{side}_text"]))
            assert {name: sorted(sorted(spans) for spans in entities.values()) for name, entities in found.items()} == {
                " ".join(name.split()): sorted(sorted(map(tuple, spans)) for spans in entities)
                for name, entities in case[side].items()
            }, case["id"]
            compared += 1
    assert compared > 50

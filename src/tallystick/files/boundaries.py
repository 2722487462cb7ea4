"""Where documents begin in a file, found without reading them.

A corpus can be cut into shards between any two documents; what a document is depends on the format:

| format                         | a document begins at                                             | its name               |
|--------------------------------|------------------------------------------------------------------|------------------------|
| JSON Lines                     | a line that is not blank                                         | `id`, `doc_key`, ...   |
| hierarchies in parentheses     | a line that is neither blank nor a comment                       | what stands before a tab |
| CoNLL coreference              | `#begin document`                                                | what stands there      |
| CoNLL-U with documents         | a sentence with `# newdoc`                                       | its id                 |
| CoNLL-U without, columns       | the line after a blank one                                       | -                      |
| columns with documents         | `-DOCSTART-`                                                     | -                      |
| PENMAN                         | a graph, or the comments before it                               | `::id`                 |

A file that is one JSON value, a MUC-4 key and a folder cannot be cut; `find_boundaries` says why. Whatever is decided here is
only where to cut: the readers check every shard as they check a whole file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import I64
from tallystick.files.arrow import is_arrow_file
from tallystick.files.pairing import document_key
from tallystick.files.source import AnySource, Source, read_head, unpacked_name

Find = Callable[[bytes, bool], "tuple[I64, int]"]
"""From bytes that begin with a line, and whether the file ends with them, to the places where documents begin and how far that
is settled: what stands behind has to be looked at again with more of the file."""

NAMES = (
    "id", "doc_id", "doc_key", "docid", "doc", "document_id", "instance_id", "example_id", "wnd_id", "title", "key", "name",
)  # fmt: skip
"""Under which of these a JSON object may have its name, the likeliest first."""

_MUC4 = re.compile(rb"^0\.\s+MESSAGE: ID", re.MULTILINE)
_CONLL = re.compile(rb"^#[ \t]*begin[ \t]+document", re.MULTILINE)
_NEWDOC = re.compile(rb"^#[ \t]*newdoc\b", re.MULTILINE)
_GLOBAL = re.compile(rb"^#[ \t]*global\.[^\n]*\n", re.MULTILINE)
_CONLLU_ROW = re.compile(rb"^\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}\r?$", re.MULTILINE)
_DOCSTART = re.compile(rb"^-DOCSTART-", re.MULTILINE)


@dataclass(frozen=True)
class Boundaries:
    """How a format is cut: where documents begin, what they are called, and what every part has to begin with."""

    format: str
    find: Find
    name: Callable[[bytes], Any] | None = None
    header: Callable[[bytes], list[tuple[int, int]]] | None = None


@dataclass(frozen=True)
class Uncut:
    """A file that has to be read as a whole, and why."""

    reason: str


# Where documents begin


def _line_starts(data: bytes) -> I64:
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    return np.concatenate(([0], ends[ends < len(data) - 1] + 1)).astype(np.int64) if data else np.zeros(0, np.int64)


def _blank(data: bytes, starts: I64) -> NDArray[np.bool_]:
    """Which lines are blank; only those that begin with white space have to be looked at."""
    stops = np.append(starts[1:], len(data))
    first = np.frombuffer(data, np.uint8)[starts]
    blank = np.zeros(len(starts), np.bool_)
    suspects = np.flatnonzero((first == 10) | (first == 13) | (first == 32) | (first == 9))
    for k in suspects.tolist():
        blank[k] = not data[starts[k] : stops[k]].strip()
    return blank


def whole_lines(data: bytes, end: bool) -> int:
    """How far the data is whole lines."""
    return len(data) if end else data.rfind(b"\n") + 1


def find_lines(data: bytes, end: bool) -> tuple[I64, int]:
    """A document a line."""
    settled = whole_lines(data, end)
    starts = _line_starts(data[:settled])
    return starts[~_blank(data, starts)] if len(starts) else starts, settled


def _find_trees(data: bytes, end: bool) -> tuple[I64, int]:
    """A document a line; comments begin with #."""
    starts, settled = find_lines(data, end)
    return starts[np.frombuffer(data, np.uint8)[starts] != ord("#")] if len(starts) else starts, settled


def find_blocks(data: bytes, end: bool) -> tuple[I64, int]:
    """A document after each blank line."""
    settled = whole_lines(data, end)
    starts = _line_starts(data[:settled])
    if not len(starts):
        return starts, settled
    blank = _blank(data[:settled], starts)
    before = np.concatenate(([True], blank[:-1]))
    found = starts[~blank & before]
    return up_to_the_last(found, settled, end)


def up_to_the_last(found: I64, settled: int, end: bool) -> tuple[I64, int]:
    """Where the last document ends is not known yet: it is looked at again."""
    if end or not len(found):
        return found, settled if end else 0
    return found[:-1], int(found[-1])


def _find_marked(mark: re.Pattern[bytes]) -> Find:
    def find(data: bytes, end: bool) -> tuple[I64, int]:
        settled = whole_lines(data, end)
        return np.array([found.start() for found in mark.finditer(data, 0, settled)], np.int64), settled

    return find


def _find_newdoc(data: bytes, end: bool) -> tuple[I64, int]:
    """The sentences that have a comment `# newdoc`."""
    blocks, settled = find_blocks(data, end)
    marks = np.array([found.start() for found in _NEWDOC.finditer(data, 0, settled)], np.int64)
    place = np.searchsorted(blocks, marks, side="right") - 1
    return blocks[np.unique(place[place >= 0])], settled


# What they are called


def _name_in_json(document: bytes) -> Any:
    import msgspec

    try:
        value = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found = [value[key] for key in NAMES if isinstance(value.get(key), (str, int))]
    return found[0] if found else None


def name_under(field: str) -> Callable[[bytes], Any]:
    """The name that a JSON object has under one key."""
    import msgspec

    def name(document: bytes) -> Any:
        try:
            value = msgspec.json.decode(document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        found = value.get(field) if isinstance(value, dict) else None
        return found if isinstance(found, (str, int)) else None

    return name


def _first_line_name(document: bytes) -> Any:
    return document_key(document.split(b"\n", 1)[0].split(b"document", 1)[-1].decode("utf-8", "replace").strip())


def _newdoc_name(document: bytes) -> Any:
    found = re.search(rb"^#[ \t]*newdoc[ \t]+id[ \t]*=[ \t]*(\S+)", document, re.MULTILINE)
    return found[1] if found else None


def _tree_name(document: bytes) -> Any:
    head, tab, _ = document.partition(b"\t")
    return head if tab else None


def _globals(head: bytes) -> list[tuple[int, int]]:
    """The lines of CorefUD that say what `Entity` holds; every part has to have them."""
    return [found.span() for found in _GLOBAL.finditer(head)][:8]


LINES = Boundaries("JSON Lines", find_lines, _name_in_json)
TREES = Boundaries("trees in parentheses", _find_trees, _tree_name)
CONLL = Boundaries("CoNLL", _find_marked(_CONLL), _first_line_name)
NEWDOC = Boundaries("CoNLL-U documents", _find_newdoc, _newdoc_name, _globals)
NEWDOC_IN_ORDER = replace(NEWDOC, name=None)  # a whole file is compared as one text, whatever its documents are called
SENTENCES = Boundaries("CoNLL-U sentences", find_blocks)
DOCSTART = Boundaries("columns with -DOCSTART-", _find_marked(_DOCSTART))
COLUMNS = Boundaries("columns", find_blocks)


Cut = Callable[[bytes, "str | None", str], "Boundaries | Uncut"]
"""How the files of a task are cut that are not JSON Lines: from their first bytes, the format that the user named, and the name."""


def find_boundaries(cut: Cut, file: AnySource, *, input: str | None = None) -> Boundaries | Uncut:
    """How a file is cut; `input` is the format where the user named it."""
    name = Source.of(file).name
    if name != "-" and (Path(name).is_dir() or unpacked_name(name).endswith(".ann")):
        return Uncut("it is a brat folder or file: its documents are files of their own")
    if is_arrow_file(name):
        return Uncut("Parquet and Arrow are read in batches of columns already, faster than shards of text would be")
    head = read_head(name)
    content = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if content[:1] == b"[":
        return Uncut("it is one JSON list; as JSON Lines it can be cut")
    if content[:1] == b"{" and input in (None, "auto", "jsonl", "triples"):
        line, newline, _ = content.partition(b"\n")
        if newline and not _is_json(line):
            return Uncut("it is one JSON object over several lines; as JSON Lines it can be cut")
        return LINES
    if _MUC4.search(head):
        return Uncut("a MUC-4 key is read as a whole")
    return cut(head, input, name)


def _is_json(line: bytes) -> bool:
    import msgspec

    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def cut_json(head: bytes, input: str | None, name: str) -> Boundaries | Uncut:
    """JSON Lines in a format that has a name of its own; of other files nobody knows where their documents begin."""
    return LINES if head.strip()[:1] in (b"", b"{") else Uncut("where its documents begin is not known")


def cut_coreference(head: bytes, input: str | None, name: str) -> Boundaries | Uncut:
    """CoNLL, or CoNLL-U with documents."""
    if _CONLL.search(head):
        return CONLL
    return NEWDOC if _NEWDOC.search(head) else Uncut("a CoNLL-U file without # newdoc is one document")


def cut_dependencies(head: bytes, input: str | None, name: str) -> Boundaries:
    """CoNLL-U by documents, or by sentences."""
    return NEWDOC_IN_ORDER if _NEWDOC.search(head) else SENTENCES


def cut_columns(head: bytes, input: str | None, name: str) -> Boundaries:
    """Columns of tags, or CoNLL-U."""
    if input == "conllu" or (input is None and (unpacked_name(name).endswith(".conllu") or _CONLLU_ROW.search(head))):
        return NEWDOC if _NEWDOC.search(head) else SENTENCES
    return DOCSTART if _DOCSTART.search(head) else COLUMNS


def cut_trees(head: bytes, input: str | None, name: str) -> Boundaries:
    """Trees in parentheses, a line each."""
    return TREES

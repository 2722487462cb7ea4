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
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import I64
from tallystick.engine.native import compiled
from tallystick.files.source import AnySource, Format, Opening, find_format
from tallystick.frozen import frozen

Find = Callable[[bytes, bool], "tuple[I64, int]"]
"""From bytes that begin with a line, and whether the file ends with them, to the places where documents begin and how far that
is settled: what stands behind has to be looked at again with more of the file."""

NAMES = (
    "id", "doc_id", "doc_key", "docid", "doc", "document_id", "instance_id", "example_id", "wnd_id", "title", "key", "name",
    "_input_hash",
)  # fmt: skip
"""Under which of these a JSON object may have its name, the likeliest first."""

_NEWDOC = re.compile(rb"^#[ \t]*newdoc\b", re.MULTILINE)
_GLOBAL = re.compile(rb"^#[ \t]*global\.[^\n]*\n", re.MULTILINE)
_DOCSTART = re.compile(rb"^-DOCSTART-", re.MULTILINE)


@frozen
class Boundaries:
    """How a format is cut: where documents begin, what they are called, and what every part has to begin with."""

    format: str
    find: Find
    name: Callable[[bytes], Any] | None = None
    header: Callable[[bytes], list[tuple[int, int]]] | None = None
    shard: int = 4 << 20
    """Bytes of a shard that is worth its while: more where bytes are read quickly."""
    mixed: bool = False
    """Whether some documents may have names and others none. Else a file has to be read as a whole if that is so: the reader of a shard
    may see only those with names, or only those without."""
    partial: bool = False
    """Whether a document in which nothing was found does not appear, so that it may be on the other side only."""


@frozen
class Uncut:
    """A file that has to be read as a whole, and why."""

    reason: str


# Where documents begin


def line_starts(data: bytes) -> I64:
    """Where lines begin."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    return np.concatenate(([0], ends[ends < len(data) - 1] + 1)).astype(np.int64) if data else np.zeros(0, np.int64)


def blank_lines(data: bytes, starts: I64) -> NDArray[np.bool_]:
    """Which lines are blank; only those that begin and end with white space have to be looked at."""
    stops, letters = np.append(starts[1:], len(data)), np.frombuffer(data, np.uint8)
    first, last = letters[starts], letters[np.maximum(stops - 2, starts)]
    blank: NDArray[np.bool_] = first == 10
    suspects = np.flatnonzero(((first == 13) | (first == 32) | (first == 9)) & ((last <= 13) | (last == 32)))
    for k in suspects.tolist():
        blank[k] = not data[starts[k] : stops[k]].strip()
    return blank


def whole_lines(data: bytes, end: bool) -> int:
    """How far the data are whole lines."""
    return len(data) if end else data.rfind(b"\n") + 1


def find_lines(data: bytes, end: bool) -> tuple[I64, int]:
    """A document a line."""
    settled = whole_lines(data, end)
    return _blocks(data, settled, every=True)[0], settled


def _find_trees(data: bytes, end: bool) -> tuple[I64, int]:
    """A document a line; comments begin with #."""
    starts, settled = find_lines(data, end)
    return starts[np.frombuffer(data, np.uint8)[starts] != ord("#")] if len(starts) else starts, settled


def find_blocks(data: bytes, end: bool) -> tuple[I64, int]:
    """A document after each blank line."""
    settled = whole_lines(data, end)
    return up_to_the_last(_blocks(data, settled)[0], settled, end)


def _blocks(data: bytes, stop: int, word: bytes = b"", every: bool = False) -> tuple[I64, NDArray[np.bool_]]:
    """Where blocks begin, after a blank line each (or at every line that is none), and which have a comment that begins with a word."""
    native = compiled()
    found = native.find_blocks(data, stop, word, every) if native is not None else None
    return _blocks_in_python(data, stop, word, every) if found is None else found


def _blocks_in_python(data: bytes, stop: int, word: bytes, every: bool) -> tuple[I64, NDArray[np.bool_]]:
    starts = line_starts(data[:stop])
    if not len(starts):
        return starts, np.zeros(0, np.bool_)
    blank = blank_lines(data[:stop], starts)
    blocks = starts[~blank & (np.append(True, blank[:-1]) | every)]
    marked = np.zeros(len(blocks), np.bool_)
    if word:
        mark = re.compile(rb"^#[ \t]*" + word + rb"\b", re.MULTILINE)
        marked[np.searchsorted(blocks, _marked(data, stop, mark, b"#"), side="right") - 1] = True
    return blocks, marked


def up_to_the_last(found: I64, settled: int, end: bool) -> tuple[I64, int]:
    """Where the last document ends is not known yet: it is looked at again."""
    if end or not len(found):
        return found, settled if end else 0
    return found[:-1], int(found[-1])


def find_marked(mark: re.Pattern[bytes], begins: bytes) -> Find:
    """A document at each line that begins with a mark, which itself begins with some fixed bytes."""

    def find(data: bytes, end: bool) -> tuple[I64, int]:
        settled = whole_lines(data, end)
        return _marked(data, settled, mark, begins), settled

    return find


def _marked(data: bytes, stop: int, mark: re.Pattern[bytes], begins: bytes) -> I64:
    """Where lines begin with a mark. Looking for its first bytes alone is many times as fast as the expression."""
    found, at = [], data.find(begins, 0, stop)
    while at >= 0:
        if (not at or data[at - 1] == 10) and mark.match(data, at, stop):
            found.append(at)
        at = data.find(begins, at + 1, stop)
    return np.array(found, np.int64)


def _find_newdoc(data: bytes, end: bool) -> tuple[I64, int]:
    """The sentences that have a comment `# newdoc`."""
    settled = whole_lines(data, end)
    blocks, marked = _blocks(data, settled, b"newdoc")
    blocks, settled = up_to_the_last(blocks, settled, end)
    return blocks[marked[: len(blocks)]], settled


# What they are called


def name_under(*keys: str) -> Callable[[bytes], Any]:
    """The name that a JSON object has under the first of these keys that holds one."""

    def name(document: bytes) -> Any:
        from tallystick.files.json_values import id_of, try_decode

        (value,) = try_decode(document) or (None,)
        found = (id_of(value.get(key)) for key in keys) if isinstance(value, dict) else ()
        return next((name for name in found if name is not None), None)

    return name


def _newdoc_name(document: bytes) -> Any:
    found = re.search(rb"^#[ \t]*newdoc[ \t]+id[ \t]*=[ \t]*(\S+)", document, re.MULTILINE)
    return found[1] if found else None


def _tree_name(document: bytes) -> Any:
    head, tab, _ = document.partition(b"\t")
    return head if tab else None


def _globals(head: bytes) -> list[tuple[int, int]]:
    """The lines of CorefUD that say what `Entity` holds; every part has to have them."""
    return [found.span() for found in _GLOBAL.finditer(head)][:8]


LINES = Boundaries("JSON Lines", find_lines, name_under(*NAMES))
TREES = Boundaries("trees in parentheses", _find_trees, _tree_name)
NEWDOC = Boundaries("CoNLL-U documents", _find_newdoc, _newdoc_name, _globals)
NEWDOC_IN_ORDER = replace(NEWDOC, name=None)  # a whole file is compared as one text, whatever its documents are called
SENTENCES = Boundaries("CoNLL-U sentences", find_blocks)
DOCSTART = Boundaries("columns with -DOCSTART-", find_marked(_DOCSTART, b"-DOCSTART-"))
COLUMNS = Boundaries("columns", find_blocks)


def conllu_boundaries(head: bytes) -> Boundaries:
    """CoNLL-U by documents where it has them, else by sentences."""
    return NEWDOC if _NEWDOC.search(head) else SENTENCES


def conllu_boundaries_in_order(head: bytes) -> Boundaries:
    """The same for a file that is compared as one text, whatever its documents are called."""
    return NEWDOC_IN_ORDER if _NEWDOC.search(head) else SENTENCES


def newdoc_boundaries(head: bytes) -> Boundaries | Uncut:
    """CoNLL-U by documents alone."""
    return NEWDOC if _NEWDOC.search(head) else Uncut("a CoNLL-U file without # newdoc is one document")


def column_boundaries(head: bytes) -> Boundaries:
    """Columns by documents where they have them, else by sentences."""
    return DOCSTART if _DOCSTART.search(head) else COLUMNS


def find_boundaries(formats: Sequence[Format], file: AnySource, *, input: str | None = None) -> Boundaries | Uncut:
    """How a file of a task is cut; `input` is the format where the user has said it."""
    opening = Opening(file)
    found = _why_whole(formats, opening) or _boundaries_of_json(formats, opening, input)
    if isinstance(found, Boundaries) and any(one.partial and one.recognises(opening) for one in formats):
        return replace(found, partial=True)
    if found is not None:
        return found
    cut = [one for one in formats if one.boundaries is not None and not isinstance(one.boundaries, Uncut)]
    if not cut:  # JSON in a format that has a name of its own
        return (
            LINES if opening.head.lstrip()[:1] in (b"", b"{") else Uncut("the beginnings of its documents are unknown")
        )
    boundaries = (find_format(cut, opening, input) or cut[-1]).boundaries
    assert boundaries is not None
    return boundaries(opening.head) if callable(boundaries) else boundaries


def _why_whole(formats: Sequence[Format], opening: Opening) -> Uncut | None:
    """Why a file cannot be cut, whatever stands in it."""
    from tallystick.files.source import is_arrow_file

    if opening.source.name != "-" and (Path(opening.source).is_dir() or opening.name.endswith(".ann")):
        return Uncut("it is a brat folder or file: its documents are files of their own")
    if is_arrow_file(opening.source):
        return Uncut("Parquet and Arrow are read in batches of columns already, faster than shards of text would be")
    whole = (one.boundaries for one in formats if isinstance(one.boundaries, Uncut) and one.recognises(opening))
    return next(whole, None)


def _is_json(formats: Sequence[Format], input: str) -> bool:
    return any(one.name == input and one.boundaries is None for one in formats)


def _boundaries_of_json(formats: Sequence[Format], opening: Opening, input: str | None) -> Boundaries | Uncut | None:
    """How a file is cut that begins like JSON; None for any other."""
    content = opening.head.lstrip()
    if content[:1] == b"[":
        return Uncut("it is one JSON list; as JSON Lines it can be cut")
    if content[:1] != b"{" or (input not in (None, "auto") and not _is_json(formats, input)):
        return None
    from tallystick.files.json_values import try_decode

    line, newline, _ = content.partition(b"\n")
    if newline and try_decode(line) is None:
        return Uncut("it is one JSON object over several lines; as JSON Lines it can be cut")
    return LINES

"""CorefUD: coreference as `Entity=` attributes in the last column of CoNLL-U.

    # global.Entity = eid-etype-head-other
    # newdoc id = wsj_0001
    1    Mary   ...  Entity=(e1-person-1-)
    2    saw    ...  _
    3    a      ...  Entity=(e2[1/2]-animal-2-
    4    dog    ...  Entity=e2[1/2])
    4.1  _      ...  Entity=(e1--1-)              an empty node: a zero pronoun
    5    today  ...  _
    6    with   ...  Entity=(e2[2/2]-animal-2-
    7    spots  ...  Entity=e2[2/2])              tokens 3, 4, 7 and 8 are one discontinuous mention

Tokens are the words and the empty nodes, in the order of the file; a range such as `1-2` (a multiword
token) stands for words that have lines of their own. `# global.Entity` says which of the values between
hyphens is the id and which the head, a number that counts the words of the mention from 1.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import numpy as np

from tallystick.errors import InputError, counted
from tallystick.files.conllu import DEPS, EMPTY, FORM, ID, RANGE, WORD, Coded, Words, read_words
from tallystick.files.source import AnySource, Source
from tallystick.files.words import EMPTY_WORD
from tallystick.tasks.coreference.chains import (
    UNKNOWN,
    Chains,
    EmptyNodes,
    IntArray,
    Sentences,
    Span,
    number_by_first,
)

_NEW_DOCUMENT = re.compile(rb"#\s*newdoc\b(?:\s+id)?\s*(?:=\s*(.*?))?\s*$")
_ATTRIBUTES = re.compile(rb"#\s*global\.Entity\s*=\s*(.*?)\s*$")
_ELEMENT = re.compile(r"\((?P<opening>[^()]+)(?P<single>\))?|(?P<closing>[^()]+)\)")
_SAYS = re.compile(rb"Entity|Split|Bridge|ClusterId")
_PART = re.compile(r"(?P<id>.+)\[(?P<part>\d+)/(?P<parts>\d+)\]$")

# `GRP` is what GUM calls the id.
_ID_ATTRIBUTES = ("eid", "GRP")


@dataclass
class _Mention:
    id: str
    document: int
    line: int
    column: int
    written: str
    head: int
    parts_expected: int
    bridging: bool = False
    """Whether it is the anaphor of a bridging link."""
    parts: list[Span] = field(default_factory=list)
    opened: int = 0
    """The first token of the part that is open."""


def read_corefud(source: AnySource, *, keep_text: bool = False) -> Chains:
    """Read a CoNLL-U file with `Entity=` attributes. Whatever cannot be understood is an `InputError`."""
    return _read(source, keep_text).finish()


def _words(source: AnySource) -> dict[str, list[str]]:
    """The words of each document, read anew."""
    reading = _read(source, False)
    reading.finish()
    return {name: [one.values[code] for code in one.codes.tolist()] for name, one in reading.forms().items()}


def _read(source: AnySource, keep_text: bool) -> _Reading:
    words = read_words(Source.of(source), (FORM,))
    reading = _Reading(words, keep_text)
    table = words.table
    rows = np.flatnonzero(table.has_misc)  # only these can have something to say
    tokens = reading.tokens_before[rows].tolist()
    marked = zip(table.row_lines[rows].tolist(), rows.tolist(), tokens, table.misc(rows), strict=True)
    comments = deque(zip(table.comment_lines.tolist(), table.comments, strict=True))
    for line, row, before, misc in marked:
        if not _SAYS.search(misc):
            continue
        while comments and comments[0][0] < line:
            reading.comment(*comments.popleft()[::-1])
        reading.row(row, line, before, misc)
    for line, comment in comments:
        reading.comment(comment, line)
    return reading


class _Reading:
    """What is known after some lines of the file."""

    def __init__(self, words: Words, keep_text: bool) -> None:
        self.words, self.table, self.keep_text = words, words.table, keep_text
        self.source = words.table.content.source
        self.tokens_before = np.append(0, np.cumsum(words.ids.kind != RANGE))
        """How many tokens of the file stand before each row, and behind the last."""
        self.attributes: list[str] | None = None
        self.documents: list[str] = []
        self.document_lines: list[int] = []
        self.sizes: list[int] = []
        self.first_token = 0
        """The tokens of the file before the current document."""
        self.tokens = 0
        """Tokens of the current document before the row that is read."""
        self.mentions: list[_Mention] = []
        self.open: dict[str, list[_Mention]] = {}
        """Mentions (or parts of them) that are not closed yet, by what closes them."""
        self.unfinished: dict[str, list[_Mention]] = {}
        """Discontinuous mentions that wait for another part, by id."""
        self.links: dict[str, list[int]] = {}
        """Lines of attributes that say more than which mentions corefer, by name."""
        self.split: dict[tuple[int, str], list[tuple[str, int]]] = {}
        """The ids (and lines) of the entities that are the split antecedents of one, by its document and id."""
        self.loose: list[int] = []
        """Lines of links to a mention or an entity that is not there."""

    def error(self, message: str, line: int | None = None, column: int | None = None) -> InputError:
        """What to raise about a line."""
        return self.source.error(message) if line is None else self.table.content.error(message, line, column=column)

    def comment(self, line: bytes, number: int) -> None:
        """Read a line that begins with `#`: a new document, the order of the attributes, or anything else."""
        if new := _NEW_DOCUMENT.match(line):
            self._end_document(number)
            name = (new[1] or b"").decode()
            self._begin_document(name or f"document {len(self.documents) + 1}", number)
        elif given := _ATTRIBUTES.match(line):
            attributes = given[1].decode().split("-")
            if not any(name in attributes for name in _ID_ATTRIBUTES):
                raise self.error(
                    '"# global.Entity" does not name "eid"; expected for example eid-etype-head-other', number
                )
            self.attributes = attributes

    def row(self, row: int, number: int, tokens: int, misc: bytes) -> None:
        """Read the last field of a row, before which so many tokens of the file stand."""
        if not self.documents:
            self._begin_document("document 1", int(self.table.row_lines[0]))
        self.tokens, before, links, known = tokens - self.first_token, 0, [], len(self.mentions)
        for attribute in misc.split(b"|"):
            name, _, value = attribute.partition(b"=")
            if name == b"Entity":
                line = self.table.line(row)
                column = len(line[: len(line) - len(misc) + before + len(b"Entity=")].decode()) + 1
                if b"-" in line[: line.index(b"\t")]:
                    raise self.error("an Entity on a multiword token; expected it on one of its words", number, column)
                self._entity(value.decode().rstrip(), number, column)
            elif name in (b"SplitAnte", b"Split", b"Bridge"):
                self.links.setdefault(name.decode(), []).append(number)
                links.append((name, value.decode().rstrip()))
            elif name == b"ClusterId":
                raise self.error(
                    "ClusterId is the coreference of CorefUD 0.x; expected the Entity of CorefUD 1.0", number
                )
            before += len(attribute) + 1
        for name, text in links:  # which may stand before the Entity that they are about
            self._links(name, text, number, self.mentions[known:])

    def _links(self, name: bytes, value: str, line: int, begun: list[_Mention]) -> None:
        """`SplitAnte=e1<e3,e2<e3` or `Bridge=e1<e3:part`: from an entity to that of a mention, which begins here."""
        for link in value.split(","):
            antecedent, arrow, anaphor = link.partition("<")
            if not (antecedent and arrow and anaphor):
                raise self.error(f"found {name.decode()}={value}; expected links such as e1<e3", line)
            if name == b"Bridge":
                found = [mention for mention in begun if mention.id == anaphor.partition(":")[0]]
                for mention in found:
                    mention.bridging = True
                self.loose += [] if found else [line]
            else:
                self.split.setdefault((len(self.documents) - 1, anaphor), []).append((antecedent, line))

    def _entity(self, value: str, line: int, column: int) -> None:
        end = 0
        while end < len(value):
            element = _ELEMENT.match(value, end)
            if element is None:
                self._wrong_element(value, line, column + end)
            if element["closing"]:
                self._close(element["closing"], line, column + end)
            else:
                self._open(element["opening"], line, column + end, bool(element["single"]))
            end = element.end()
        if not value:
            self._wrong_element(value, line, column)

    def _wrong_element(self, value: str, line: int, column: int) -> NoReturn:
        raise self.error(
            f"found Entity={value}; expected elements such as (e1-person-1-, e1) and (e1-person-1-)",
            line,
            column,
        )

    def _id(self, values: list[str], line: int, column: int) -> tuple[str, dict[str, str]]:
        """The id and the other attributes of an element."""
        if self.attributes is None:
            if len(values) > 1:
                raise self.error(
                    'an Entity with attributes, but no "# global.Entity" line before it names them',
                    line,
                    column,
                )
            return values[0], {}
        if len(values) > len(self.attributes):
            # `other` is the last attribute where there is one, and only it may hold hyphens.
            if self.attributes[-1] not in ("other", "identity", "link"):
                order = "-".join(self.attributes)
                raise self.error(f'found {len(values)} values; "# global.Entity" announces {order}', line, column)
            keep = len(self.attributes) - 1
            values = [*values[:keep], "-".join(values[keep:])]
        named = dict(zip(self.attributes, values, strict=False))
        id = next((named[name] for name in _ID_ATTRIBUTES if named.get(name)), None)
        if id is None:
            raise self.error("an Entity without an id", line, column)
        return id, named

    def _open(self, text: str, line: int, column: int, single: bool) -> None:
        written, named = self._id(text.split("-"), line, column)
        head_text = named.get("head", "")
        if head_text and not (head_text.isdecimal() and int(head_text)):
            raise self.error(
                f'found "{head_text}" as the head; expected the number of a word of the mention', line, column
            )
        part = _PART.match(written)
        id, index, expected = (part["id"], int(part["part"]), int(part["parts"])) if part else (written, 1, 1)
        if not 1 <= index <= expected:
            raise self.error(f'found part {index} of {expected} in "{written}"', line, column)
        if index == 1:
            head = int(head_text) if head_text else 0
            mention = _Mention(id, len(self.documents) - 1, line, column, written, head, expected)
            self.mentions.append(mention)
            if expected > 1:
                self.unfinished.setdefault(id, []).append(mention)
        else:
            mention = self._continued(id, written, index, expected, line, column)
        mention.opened = self.tokens
        if single:
            self._end_part(mention, index)
        else:
            self.open.setdefault(written, []).append(mention)

    def _continued(self, id: str, written: str, index: int, expected: int, line: int, column: int) -> _Mention:
        """The discontinuous mention of which this is the next part: of several, the one that began last."""
        for mention in reversed(self.unfinished.get(id, ())):
            is_open = any(mention is one for one in self.open.get(written, ()))
            if mention.parts_expected == expected and len(mention.parts) == index - 1 and not is_open:
                return mention
        raise self.error(
            f'"({written}" continues a mention, but its part {id}[{index - 1}/{expected}] is missing',
            line,
            column,
        )

    def _close(self, text: str, line: int, column: int) -> None:
        # A closing bracket has the id alone; GUM up to 2.8 repeated the type before it.
        id = self._id(text.split("-"), line, column)[0] if "-" in text else text
        waiting = self.open.get(id)
        if not waiting:
            raise self.error(
                f'"{text})" closes a mention that was never opened in document "{self.documents[-1]}"; '
                f'expected "({id}" before it',
                line,
                column,
            )
        part = _PART.match(id)
        self._end_part(waiting.pop(), int(part["part"]) if part else 1)

    def _end_part(self, mention: _Mention, index: int) -> None:
        mention.parts.append((mention.opened, self.tokens))
        if index == mention.parts_expected > 1:
            self.unfinished[mention.id].remove(mention)

    def _begin_document(self, name: str, line: int) -> None:
        self.documents.append(name)
        self.document_lines.append(line)
        self.first_token = self._tokens_before_line(line)

    def _tokens_before_line(self, line: int) -> int:
        return int(self.tokens_before[np.searchsorted(self.table.row_lines, np.int32(line))])

    def _end_document(self, line: int) -> None:
        """End the document that is open before a line; words before the first `# newdoc` are a document too."""
        tokens = self._tokens_before_line(line)
        if not self.documents:
            if not tokens:
                return
            self._begin_document("document 1", int(self.table.row_lines[0]))
        self.sizes.append(tokens - self.first_token)
        unclosed = [mention for waiting in self.open.values() for mention in waiting]
        if unclosed:
            first = min(unclosed, key=lambda mention: (mention.line, mention.column))
            more = f" (and {len(unclosed) - 1:,} more)" if len(unclosed) > 1 else ""
            raise self.error(
                f'"({first.written}" is opened here and never closed in document "{self.documents[-1]}"'
                f'{more}; expected a "{first.written})" after it',
                first.line,
                first.column,
            )
        for waiting in self.unfinished.values():
            for mention in waiting:
                raise self.error(
                    f"only {len(mention.parts)} of {mention.parts_expected} parts of the mention "
                    f'"({mention.written}" are in document "{self.documents[-1]}"',
                    mention.line,
                    mention.column,
                )
        self.open.clear()
        self.unfinished.clear()

    def finish(self) -> Chains:
        """Turn the mentions into columns."""
        self._end_document(len(self.table.kinds) + 1)
        source = self.source
        if not self.documents:
            raise self.error("has no documents; expected CoNLL-U with # newdoc id = name")
        numbers: dict[tuple[int, str], int] = {}
        entity = [numbers.setdefault((mention.document, mention.id), len(numbers)) for mention in self.mentions]
        split: dict[int, tuple[int, ...]] = {}
        for (document, id), links in self.split.items():
            there = {numbers[document, one]: None for one, _ in links if (document, one) in numbers}
            known = (document, id) in numbers
            self.loose += [line for one, line in links if not known or (document, one) not in numbers]
            if known and there:
                split[numbers[document, id]] = tuple(there)
        parts = {row: spans for row, mention in enumerate(self.mentions) if len(spans := _joined(mention.parts)) > 1}
        return Chains(
            documents=self.documents,
            document=_column(mention.document for mention in self.mentions),
            start=_column(mention.parts[0][0] for mention in self.mentions),
            end=_column(mention.parts[-1][1] for mention in self.mentions),
            entity=number_by_first(np.array(entity, np.int64))[0],
            tokens=np.array(self.sizes, np.int64),
            entity_names=[id for _, id in numbers],
            lines=source.lines_of_file(_column(mention.line for mention in self.mentions)),
            document_lines=source.lines_of_file(np.array(self.document_lines, np.int64)),
            file=str(source),
            whole=not source.is_part,
            format="corefud",
            head=_column(self._head(mention) for mention in self.mentions),
            empty=self._empty_nodes(),
            bridging=np.array([mention.bridging for mention in self.mentions], np.bool_),
            split=split,
            parts=parts,
            texts=self._texts(),
            signs=self._signs(),
            words=partial(_words, source),
            warnings=self._warnings(),
        )

    def _head(self, mention: _Mention) -> int:
        if not mention.head:
            return UNKNOWN
        left = mention.head - 1
        for start, end in mention.parts:
            if left <= end - start:
                return start + left
            left -= end - start + 1
        words = sum(end - start + 1 for start, end in mention.parts)
        raise self.error(f"the head is word {mention.head} of a mention of {words}", mention.line, mention.column)

    def _empty_nodes(self) -> EmptyNodes:
        kind = self.words.ids.kind
        rows = np.flatnonzero(kind == EMPTY)
        begins = np.searchsorted(self.table.row_lines, self.document_lines)
        document = np.searchsorted(begins, rows, side="right") - 1
        first = begins[document]
        words_before = np.append(0, np.cumsum(kind == WORD))
        ids = [self.table.columns[ID][row].split(".") for row in rows.tolist()]
        opens = np.array([word == "0" for word, _ in ids], np.int64)
        numbers = np.array([int(number) for _, number in ids], np.int64)
        place = np.column_stack((words_before[rows] - words_before[first], opens, numbers))
        sentence = self.words.sentence_of_row.astype(np.int64)
        return EmptyNodes(
            document=document,
            token=self.tokens_before[rows] - self.tokens_before[first],
            place=place,
            sentence=sentence[rows] - sentence[first],
            dependencies=[self._dependencies(row) for row in rows.tolist()],
        )

    def _dependencies(self, row: int) -> tuple[str, ...]:
        text = self.table.line(row).split(b"\t")[DEPS].decode()
        if text in ("_", ""):
            return ()
        wrong = next((one for one in text.split("|") if not all(one.partition(":"))), None)
        if wrong is not None:
            self.table.fail(row, f'expected HEAD:RELATION in DEPS, found "{wrong}"', DEPS)
        return tuple(dict.fromkeys(text.split("|")))

    def _texts(self) -> dict[str, Sentences]:
        """The words of each document by sentences, where they were asked for; an empty node has none."""
        if not self.keep_text:
            return {}
        forms = self.table.columns[FORM]
        sentence, is_token = self.words.sentence_of_row.tolist(), self.words.ids.kind != RANGE
        begins = np.searchsorted(self.table.row_lines, self.document_lines)
        texts: dict[str, Sentences] = {}
        for name, rows in zip(self.documents, np.split(np.arange(len(sentence)), begins[1:]), strict=True):
            by_sentence: dict[int, list[str]] = {}
            for row in rows[is_token[rows]].tolist():
                by_sentence.setdefault(sentence[row], []).append(EMPTY_WORD if forms[row] == "_" else forms[row])
            texts[name] = list(by_sentence.values())
        return texts

    def forms(self) -> dict[str, Coded]:
        """The forms of the words of each document, without those of empty nodes."""
        begins = np.searchsorted(self.table.row_lines[self.words.rows], self.document_lines[1:])
        forms = self.table.columns[FORM].take(self.words.rows)
        return {
            name: forms.take(rows)
            for name, rows in zip(self.documents, np.split(np.arange(len(forms)), begins), strict=True)
        }

    def _signs(self) -> list[int]:
        # a hash for each form that occurs, then one for each document: of words as the text has them
        forms = self.table.columns[FORM]
        of_value = np.fromiter(map(hash, forms.values), np.int64, len(forms.values))
        return [hash(of_value[one.codes].tobytes()) for one in self.forms().values()]

    def _warnings(self) -> list[str]:
        found = [
            f"{self.source.place(lines[0])}: {name} on {counted(len(lines), 'line')}: not part of a chain; "
            f"--metric {'bridging_anaphors' if name == 'Bridge' else 'split_antecedents'} scores it"
            for name, lines in self.links.items()
        ]
        if self.loose:
            found.append(
                f"{self.source.place(self.loose[0])}: {counted(len(self.loose), 'link')} to a missing entity left out"
            )
        if not self.mentions and self.attributes is None:
            found.append(f"{self.source}: neither # global.Entity nor Entity= anywhere; is this the right file?")
        return found


def _column(values: object) -> IntArray:
    return np.fromiter(values, np.int64)  # type: ignore[call-overload, no-any-return]


def _joined(parts: list[Span]) -> tuple[Span, ...]:
    """The parts in order, those without a gap between them made one."""
    joined: list[Span] = []
    for start, end in parts:
        if joined and start == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)

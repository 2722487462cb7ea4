"""The same content in other formats: how the documents of `corpora` are written as the files of each. A writer is given the names, the documents and
a path without an ending, and answers with the file or folder that it has made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import calls as logs

Writer = Callable[[Sequence[str], Sequence[Any], Path], Path]


@dataclass(frozen=True)
class Format:
    """How documents are written, and the options that they are read with."""

    write: Writer
    options: Mapping[str, Any] = field(default_factory=dict)
    both: Mapping[str, Any] = field(default_factory=dict)
    """Options that the other files have to be read with, too."""
    mixed: bool = False
    """Whether it is a format of predictions alone."""
    metrics: tuple[str, ...] = ()
    """Those that see the same; none: all."""


def lines(rows: Iterable[Any]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def text(ending: str, make: Callable[[Sequence[str], Sequence[Any]], str]) -> Writer:
    """A writer of one file."""

    def write(ids: Sequence[str], documents: Sequence[Any], base: Path) -> Path:
        file = base.with_suffix(ending)
        file.write_text(make(ids, documents), encoding="utf-8")
        return file

    return write


def rows(make: Callable[[str, Any], Any], ending: str = ".jsonl") -> Writer:
    """A writer of a JSON value a document."""
    return text(ending, lambda ids, documents: lines(map(make, ids, documents)))


def brat(annotate: Callable[[Any], tuple[str, list[str]]]) -> Writer:
    """A writer of a folder of .txt and .ann."""

    def write(ids: Sequence[str], documents: Sequence[Any], base: Path) -> Path:
        base.mkdir()
        for key, document in zip(ids, documents, strict=True):
            words, annotations = annotate(document)
            (base / f"{key}.txt").write_text(words)
            (base / f"{key}.ann").write_text("".join(f"{line}\n" for line in annotations))
        return base

    return write


def parquet(make: Callable[[str, Any], Any]) -> Writer:
    """A writer of a Parquet file with a row a document."""

    def write(ids: Sequence[str], documents: Sequence[Any], base: Path) -> Path:
        import pyarrow
        import pyarrow.parquet

        file = base.with_suffix(".parquet")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(map(make, ids, documents))), file)
        return file

    return write


# Spans


def segments(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The segments of IOB2 tags, their ends exclusive."""
    out: list[tuple[int, int, str]] = []
    for k, tag in enumerate(tags):
        if tag.startswith("B-"):
            out.append((k, k + 1, tag[2:]))
        elif tag.startswith("I-"):
            out[-1] = (out[-1][0], k + 1, tag[2:])
    return out


def _starts(tokens: Sequence[str]) -> list[int]:
    return [sum(len(token) + 1 for token in tokens[:k]) for k in range(len(tokens) + 1)]


def _offsets(tokens: Sequence[str], left: int, right: int) -> tuple[int, int]:
    starts = _starts(tokens)
    return starts[left], starts[right] - 1


def _with_offsets(key: str, document: Any) -> dict[str, Any]:
    tokens = document["tokens"]
    found = [[*_offsets(tokens, a, b), type_] for a, b, type_ in segments(document["tags"])]
    return {"id": key, "text": " ".join(tokens), "spans": found}


def _span_rows(key: str, document: Any) -> dict[str, Any]:
    found = _with_offsets(key, document)
    return {**found, "spans": [{"start": a, "end": b, "label": type_} for a, b, type_ in found["spans"]]}


def _span_brat(document: Any) -> tuple[str, list[str]]:
    found = _with_offsets("", document)
    return found["text"], [f"T{k}\t{t} {a} {b}\t{found['text'][a:b]}" for k, (a, b, t) in enumerate(found["spans"], 1)]


def _columns(ids: Sequence[str], documents: Sequence[Any]) -> str:
    return "".join("".join(f"{w} {t}\n" for w, t in zip(d["tokens"], d["tags"], strict=True)) + "\n" for d in documents)


def _span_conllu(ids: Sequence[str], documents: Sequence[Any]) -> str:
    out = []
    for key, document in zip(ids, documents, strict=True):
        out.append(f"# newdoc id = {key}")
        for k, (word, tag) in enumerate(zip(document["tokens"], document["tags"], strict=True), 1):
            out.append(f"{k}\t{word}\t_\t_\t_\t_\t{k - 1}\t{'dep' if k > 1 else 'root'}\t_\tner={tag}")
        out.append("")
    return "\n".join(out) + "\n"


def _hipe(ids: Sequence[str], documents: Sequence[Any]) -> str:
    out = [
        "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC"
    ]
    for key, document in zip(ids, documents, strict=True):
        out.append(f"# document_id = {key}")
        out += [f"{word}\t{tag}" + "\t_" * 8 for word, tag in zip(document["tokens"], document["tags"], strict=True)]
        out.append("")
    return "\n".join(out) + "\n"


OF_SEGMENTS = (
    "segment", "ts", "token", "overlap", "contain", "constrained_overlap", "iou", "segment_units", "strict", "exact", "partial", "type",
)  # fmt: skip
SPANS = {
    "columns": Format(text(".iob", _columns)),
    "JSONL with offsets": Format(rows(_with_offsets), {"tokenizer": "blanks"}, metrics=OF_SEGMENTS),
    "brat": Format(brat(_span_brat), {"tokenizer": "blanks"}, metrics=OF_SEGMENTS),
    "CoNLL-U": Format(text(".conllu", _span_conllu)),
    "HIPE": Format(text(".tsv", _hipe)),
    "Parquet": Format(parquet(_span_rows), {"tokenizer": "blanks"}, metrics=OF_SEGMENTS),
}

# Coreference


def _cells(document: Any, opening: str, alone: str, closing: str, between: str) -> list[str]:
    marks: list[list[str]] = [[] for _ in document["tokens"]]
    for number, cluster in enumerate(document["clusters"]):
        for start, end in cluster:
            marks[start].append((alone if end == start + 1 else opening).format(number))
            if end > start + 1:
                marks[end - 1].append(closing.format(number))
    return [between.join(found) for found in marks]


def _conll(ids: Sequence[str], documents: Sequence[Any]) -> str:
    out = []
    for key, document in zip(ids, documents, strict=True):
        out.append(f"#begin document ({key}); part 000")
        cells = _cells(document, "({}", "({})", "{})", "|")
        out += [f"{key}\t0\t{k}\tw\t{cell or '-'}" for k, cell in enumerate(cells)]
        out += ["", "#end document"]
    return "\n".join(out) + "\n"


def _corefud(ids: Sequence[str], documents: Sequence[Any]) -> str:
    out = ["# global.Entity = eid-etype-head-other"]
    for key, document in zip(ids, documents, strict=True):
        out.append(f"# newdoc id = {key}")
        cells = _cells(document, "(e{}--1-", "(e{}--1-)", "e{})", "")
        out += [
            f"{k}\tw\tw\tX\t_\t_\t{int(k > 1)}\troot\t_\t{f'Entity={cell}' if cell else '_'}"
            for k, cell in enumerate(cells, 1)
        ]
        out.append("")
    return "\n".join(out) + "\n"


CLUSTERS = {
    "CoNLL-2012": Format(text(".conll", _conll)),
    "CorefUD": Format(text(".conllu", _corefud)),
    "JSONL": Format(rows(lambda key, one: {"doc_key": key, "clusters": [[[a, b - 1] for a, b in cluster] for cluster in one["clusters"]]})),
}  # fmt: skip

# Dependencies


def conllu(ids: Sequence[str], documents: Sequence[Any]) -> str:
    """Sentences as CoNLL-U, a document each."""
    out = []
    for key, words in zip(ids, documents, strict=True):
        out.append(f"# newdoc id = {key}")
        for k, word in enumerate(words, 1):
            more = {(word["head"], word["deprel"]), *map(tuple, word["more"])}
            deps = "|".join(f"{head}:{relation}" for head, relation in sorted(more))
            fields = (
                word["word"],
                word["lemma"],
                word["upos"],
                word["upos"][0],
                word["feats"],
                word["head"],
                word["deprel"],
                deps,
            )
            out.append("\t".join(map(str, (k, *fields, "_"))))
        out.append("")
    return "\n".join(out) + "\n"


SENTENCES = {"CoNLL-U file": Format(text(".conllu", conllu))}

# Relations and events


def _mention(found: Mapping[str, Any], number: int, tokens: Sequence[str], type_: str) -> str:
    a, b = _offsets(tokens, found["start"], found["end"])
    return f"T{number}\t{type_} {a} {b}\t{' '.join(tokens)[a:b]}"


def _relation_brat(document: Any) -> tuple[str, list[str]]:
    tokens, out, number = document["tokens"], [], 0
    for k, relation in enumerate(document["relations"], 1):
        for side in ("subj", "obj"):
            number += 1
            out.append(_mention(relation[side], number, tokens, relation[side]["type"]))
        out.append(f"R{k}\t{relation['type']} Arg1:T{number - 1} Arg2:T{number}")
    return " ".join(tokens), out


def _event_brat(document: Any) -> tuple[str, list[str]]:
    tokens, out, number = document["tokens"], [], 0
    for k, event in enumerate(document["events"], 1):
        number += 1
        out.append(_mention(event["trigger"], number, tokens, event["type"]))
        line, times = f"E{k}\t{event['type']}:T{number}", dict.fromkeys("ABCZ", 0)
        for argument in event["arguments"]:
            number += 1
            times[argument["role"]] += 1
            out.append(_mention(argument, number, tokens, "Entity"))
            line += f" {argument['role']}{times[argument['role']] if times[argument['role']] > 1 else ''}:T{number}"
        out.append(line)
    return " ".join(tokens), out


def _textee(key: str, document: Any) -> Any:
    tokens = document["tokens"]

    def place(found: Mapping[str, Any], name: str) -> list[Any]:
        return [found["start"], found["end"], name, " ".join(tokens[found["start"] : found["end"]])]

    found = [
        {"event_type": event["type"], "trigger": place(event["trigger"], event["type"]), "arguments": [place(one, one["role"]) for one in event["arguments"]]}
        for event in document["events"]
    ]  # fmt: skip
    return {"doc_id": key, "wnd_id": key, "tokens": tokens, "sentences": [tokens], "events": found}


RELATIONS = {"brat": Format(brat(_relation_brat), metrics=("strict", "boundaries", "relaxed", "pair", "type"))}
EVENTS = {
    "TextEE": Format(rows(_textee)),
    "brat": Format(brat(_event_brat), metrics=("tri_i", "tri_c", "arg_i", "arg_c", "arg_i+", "arg_c+", "arg_u", "arg_u+", "trig_f1", "arg_f1", "exact")),
}  # fmt: skip

# Roles and templates


def _grit(ids: Sequence[str], documents: Sequence[Any]) -> str:
    return json.dumps({key: {"pred_extracts": one["roles"]} for key, one in zip(ids, documents, strict=True)})


def _gtt(ids: Sequence[str], documents: Sequence[Any]) -> str:
    def template(one: Any) -> Any:
        return {
            "incident_type": one["type"],
            **{slot: [[[text, 0]] for text in texts] for slot, texts in one["slots"].items()},
        }

    found = {
        key: {"pred_templates": [template(t) for t in one["templates"]]}
        for key, one in zip(ids, documents, strict=True)
    }
    return json.dumps(found)


ROLES = {"grit": Format(text(".json", _grit))}
TEMPLATES = {"gtt": Format(text(".json", _gtt))}

# Graphs and hierarchies


def _penman(ids: Sequence[str], documents: Sequence[Any]) -> str:
    return "\n".join(
        f"# ::id {key}\n{_nested(triples)}\n"
        for key, triples in zip(ids, (one["triples"] for one in documents), strict=True)
    )


def _nested(triples: Sequence[tuple[str, str, str]]) -> str:
    """A graph as one expression; what its top does not reach is reached by turned edges (`:ARG0-of`)."""
    concepts = {source: target for source, role, target in triples if role == ":instance"}
    left = [one for one in triples if one[1] != ":instance"]
    seen: set[str] = set()

    def node(name: str) -> str:
        seen.add(name)
        out = f"({name} / {concepts[name]}"
        for one in list(left):
            if one in left and name in (one[0], one[2]) and (one[0] == name or one[2] in concepts):
                left.remove(one)
                source, role, target = one
                other, shown = (target, role) if source == name else (source, f"{role}-of")
                out += f" {shown} {node(other) if other in concepts and other not in seen else other}"
        return out + ")"

    return node(triples[0][0])


def _newick(ids: Sequence[str], documents: Sequence[Any]) -> str:
    def trees(document: Any) -> str:
        links = document["links"]["subevent"]
        children = {name: [child for parent, child in links if parent == name] for name in document["events"]}
        below = {child for _, child in links}

        def node(name: str) -> str:
            return f"({name}{''.join(map(node, children[name]))})"

        return " ".join(node(name) for name in document["events"] if name not in below)

    return "".join(f"{key}\t{trees(document)}\n" for key, document in zip(ids, documents, strict=True))


GRAPHS = {"PENMAN": Format(text(".amr", _penman))}
HIERARCHIES = {"parentheses": Format(text(".txt", _newick), both={"kinds": ("subevent",)})}

# Records and calls


def _folder(ids: Sequence[str], documents: Sequence[Any], base: Path) -> Path:
    base.mkdir()
    for key, document in zip(ids, documents, strict=True):
        (base / f"{key}.json").write_text(json.dumps(document))
    return base


def _of_log(make: Callable[[Any], Any]) -> Writer:
    return rows(lambda key, found: {"id": key, "response": make(found)})


NAMED = rows(lambda key, document: {"id": key, **document})
CALL_LISTS = rows(lambda key, found: {"id": key, "calls": found})
RECORDS = {
    "Parquet": Format(parquet(lambda key, document: {"id": key, **document})),
    "a JSON list": Format(text(".json", lambda ids, found: json.dumps([{"id": key, **one} for key, one in zip(ids, found, strict=True)]))),
    "a folder": Format(_folder),
    "a fenced answer": Format(rows(lambda key, one: {"id": key, "answer": f"```json\n{json.dumps(one)}\n```"}), {"from_": "answer", "lenient": True}, mixed=True),
}  # fmt: skip
CALLS = {
    "OpenAI": Format(_of_log(logs.openai)),
    "Anthropic": Format(_of_log(logs.anthropic)),
    "MCP": Format(_of_log(logs.mcp)),
}

"""How the files in this folder were made: `python make.py TOOL` in an environment that has the tool.

    python make.py own                          our own formats, the same content (no tool)
    python make.py documented                   DyGIE++, SpERT, Prodigy, GLiNER, CoNLL: as their documentation has them (no tool)
    python make.py spacy                        spacy 3.8.18
    python make.py datasets                     datasets 5.2.0
    python make.py labelstudio                  label-studio-sdk 2.1.2, whose converter writes Label Studio's exports
    python make.py doccano                      doccano 1.8.4 with marshmallow<4: a project in SQLite

The sentences are made up. Every tool is given the same two annotations of the same three texts, a gold one and one of a system.
"""

import json
import sys
from itertools import accumulate
from pathlib import Path

HERE = Path(__file__).parent
TEXTS = {
    "d1": "Ada Lovelace met Alan Turing in London . She stayed there .",
    "d2": "😀 Zoë Müller joined Acme Corp in 𝒩ew York .",
    "d3": "Nobody came .",
}
SENTENCES = {"d1": [8, 4], "d2": [10], "d3": [3]}
"""How many tokens each sentence has; tokens are what blanks stand between."""
SPANS = {
    "gold": {
        "d1": [(0, 2, "PER"), (3, 5, "PER"), (6, 7, "LOC")],
        "d2": [(1, 3, "PER"), (4, 6, "ORG"), (7, 9, "LOC")],
        "d3": [],
    },
    "system": {
        "d1": [(0, 2, "PER"), (3, 5, "ORG"), (6, 8, "LOC")],
        "d2": [(1, 3, "PER"), (4, 5, "ORG"), (7, 9, "LOC")],
        "d3": [(0, 1, "PER")],
    },
}
"""Tokens, ends exclusive."""
RELATIONS = {
    "gold": {"d1": [("met", 0, 1), ("in", 1, 2)], "d2": [("works_for", 0, 1), ("lives_in", 0, 2)], "d3": []},
    "system": {"d1": [("met", 0, 1), ("in", 0, 2)], "d2": [("works_for", 0, 1), ("lives_in", 0, 2)], "d3": []},
}
"""Type, and the numbers of two spans."""
EVENTS = {
    "gold": {"d1": [(2, "Meet", [(0, 2, "who"), (3, 5, "whom"), (6, 7, "where")])], "d2": [(3, "Join", [(1, 3, "who")])], "d3": []},
    "system": {"d1": [(2, "Meet", [(0, 2, "who"), (6, 7, "whom")])], "d2": [(3, "Leave", [(1, 3, "who")])], "d3": []},
}  # fmt: skip
CLUSTERS = {
    "gold": {"d1": [[(0, 2), (8, 9)], [(6, 7), (10, 11)]], "d2": [], "d3": []},
    "system": {"d1": [[(0, 2), (3, 5), (8, 9)], [(6, 7), (10, 11)]], "d2": [], "d3": []},
}
TAGS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"]


def tokens(name):
    return TEXTS[name].split(" ")


def sentences(name):
    ends = list(accumulate(SENTENCES[name]))
    return [tokens(name)[end - size : end] for size, end in zip(SENTENCES[name], ends, strict=True)]


def characters(name, start, end):
    """A span of tokens in characters (code points)."""
    begins = list(accumulate((len(one) + 1 for one in tokens(name)), initial=0))
    return begins[start], begins[end] - 1


def char_spans(side, name):
    return [(*characters(name, start, end), label) for start, end, label in SPANS[side][name]]


def tags(side, name):
    out = ["O"] * len(tokens(name))
    for start, end, label in SPANS[side][name]:
        out[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return out


def write(name, rows, listed=False):
    dump = [json.dumps(row, ensure_ascii=False) for row in rows]
    text = "[" + ",\n".join(dump) + "]\n" if listed else "".join(f"{one}\n" for one in dump)
    (HERE / name).write_text(text, encoding="utf-8")


def make_own(side):
    write(
        f"own.characters.{side}.jsonl", [{"id": n, "text": t, "spans": char_spans(side, n)} for n, t in TEXTS.items()]
    )
    write(f"own.tokens.{side}.jsonl", [{"id": n, "tokens": tokens(n), "spans": SPANS[side][n]} for n in TEXTS])
    write(f"own.iob.{side}.jsonl", [{"id": n, "tokens": tokens(n), "tags": tags(side, n)} for n in TEXTS])
    for unit in ("characters", "tokens"):
        spans = {n: SPANS[side][n] if unit == "tokens" else char_spans(side, n) for n in TEXTS}
        rows = [
            {
                "id": n,
                "relations": [{"type": t, "subj": spans[n][a], "obj": spans[n][b]} for t, a, b in RELATIONS[side][n]],
            }
            for n in TEXTS
        ]
        write(f"own.relations.{unit}.{side}.jsonl", rows)
    events = {
        n: [
            {
                "type": type_,
                "trigger": {"start": at, "end": at + 1},
                "arguments": [{"start": a, "end": b, "role": r} for a, b, r in args],
            }
            for at, type_, args in EVENTS[side][n]
        ]
        for n in TEXTS
    }
    write(f"own.events.{side}.jsonl", [{"id": n, "tokens": tokens(n), "events": events[n]} for n in TEXTS])
    write(
        f"own.clusters.{side}.jsonl",
        [{"id": n, "clusters": [[[a, b - 1] for a, b in one] for one in CLUSTERS[side][n]]} for n in TEXTS],
    )


# As the documentation has them


def make_documented(side):
    make_prodigy(side)
    make_spert(side)
    make_gliner(side)
    make_props(side)
    if side == "system":
        make_dygie()


def make_dygie():
    """What DyGIE++, PURE and PL-Marker write: the prediction beside what they were given."""
    rows = []
    for name in TEXTS:
        row = {"doc_key": name, "dataset": "made-up", "sentences": sentences(name)}
        for side, prefix in (("gold", ""), ("system", "predicted_")):
            scores = [3.5, 0.91] if prefix else []
            spans = SPANS[side][name]
            ner = [(s, [s, e - 1, label, *scores]) for s, e, label in spans]
            relations = [
                (spans[a][0], [spans[a][0], spans[a][1] - 1, spans[b][0], spans[b][1] - 1, t, *scores])
                for t, a, b in RELATIONS[side][name]
            ]
            events = [
                (at, [[at, type_, *scores], *([s, e - 1, role, *scores] for s, e, role in args)])
                for at, type_, args in EVENTS[side][name]
            ]
            row |= {
                prefix + key: by_sentence(name, of)
                for key, of in (("ner", ner), ("relations", relations), ("events", events))
            }
            row[f"{prefix}clusters"] = [[[a, b - 1] for a, b in one] for one in CLUSTERS[side][name]]
        rows.append(row)
    write("dygie.jsonl", rows)


def by_sentence(name, items):
    ends = list(accumulate(SENTENCES[name]))
    begins = [end - size for size, end in zip(SENTENCES[name], ends, strict=True)]
    return [[item for at, item in items if a <= at < b] for a, b in zip(begins, ends, strict=True)]


def make_spert(side):
    rows = [
        {
            "tokens": tokens(n),
            "entities": [{"type": label, "start": s, "end": e} for s, e, label in SPANS[side][n]],
            "relations": [{"type": t, "head": a, "tail": b} for t, a, b in RELATIONS[side][n]],
            **({"orig_id": n} if side == "gold" else {}),
        }
        for n in TEXTS
    ]
    write(f"spert.{side}.json", rows, listed=True)


def make_prodigy(side):
    rows = []
    for number, (name, text) in enumerate(TEXTS.items()):
        place = [characters(name, k, k + 1) for k in range(len(tokens(name)))]
        spans = [
            {"start": s, "end": e, "token_start": a, "token_end": b - 1, "label": label}
            for (s, e, label), (a, b, _) in zip(char_spans(side, name), SPANS[side][name], strict=True)
        ]
        rows.append(
            {
                "text": text,
                "tokens": [{"text": w, "start": s, "end": e, "id": k, "ws": True} for k, (w, (s, e)) in enumerate(zip(tokens(name), place, strict=True))],
                "spans": spans,
                "relations": [
                    {"head": spans[a]["token_end"], "child": spans[b]["token_end"], "head_span": spans[a], "child_span": spans[b],
                     "color": "#c5bdf4", "label": t}
                    for t, a, b in RELATIONS[side][name]
                ],
                "_input_hash": 1000 + number,
                "_task_hash": -77 - number,
                "_view_id": "relations",
                "answer": "accept",
                "_timestamp": 1700000000,
            }
        )  # fmt: skip
    if side == "gold":
        rows.append(
            {**rows[0], "_input_hash": 5000, "text": "Not for us .", "spans": [], "relations": [], "answer": "reject"}
        )
    write(f"prodigy.{side}.jsonl", rows)


def make_gliner(side):
    """`model.predict_entities(text, labels)`, a line for each text; and what the model is trained on."""
    rows = [
        [{"start": s, "end": e, "text": t[s:e], "label": label, "score": 0.5 + 0.1 * k} for k, (s, e, label) in enumerate(char_spans(side, n))]
        for n, t in TEXTS.items()
    ]  # fmt: skip
    write(f"gliner.{side}.jsonl", rows)
    data = [{"tokenized_text": tokens(n), "ner": [[s, e - 1, label] for s, e, label in SPANS[side][n]]} for n in TEXTS]
    write(f"gliner_data.{side}.json", data, listed=True)


def make_props(side):
    """The predicates of the events with their arguments, in columns."""
    props, conll = [], []
    for name in TEXTS:
        conll.append(f"#begin document ({name}); part 000")
        events = EVENTS[side][name]
        at = 0
        for number, sentence in enumerate(sentences(name)):
            here = [one for one in events if at <= one[0] < at + len(sentence)]
            columns = [["*"] * len(sentence) for _ in here]
            for column, (trigger, _, args) in zip(columns, here, strict=True):
                for a, b, role in [(trigger, trigger + 1, "V"), *args]:
                    column[a - at] = f"({role}{column[a - at]}"
                    column[b - 1 - at] += ")"
            verbs = {trigger - at: type_ for trigger, type_, _ in here}
            for k, word in enumerate(sentence):
                cells = [column[k] for column in columns]
                props.append(" ".join([verbs.get(k, "-"), *cells]))
                known = [verbs[k].lower(), "01"] if k in verbs else ["-", "-"]
                conll.append(" ".join([name, "0", str(k), word, "X", "*", *known, "-", "-", "*", *cells, "-"]))
            props.append("")
            conll.append("")
            at += len(sentence)
            del number
        conll.append("#end document")
    (HERE / f"srl.{side}.props").write_text("\n".join(props) + "\n", encoding="utf-8")
    (HERE / f"srl.{side}.conll").write_text("\n".join(conll) + "\n", encoding="utf-8")


# By the tools themselves


def make_spacy(side):
    import spacy
    from spacy.tokens import Doc, DocBin, Span

    vocab = spacy.blank("en").vocab
    docs = DocBin()
    for name in TEXTS:
        doc = Doc(vocab, words=tokens(name), spaces=[*[True] * (len(tokens(name)) - 1), False])
        doc.ents = [Span(doc, *one) for one in SPANS[side][name]]
        nested = [Span(doc, 0, 1, "WORD"), Span(doc, 0, len(doc), "ALL")]
        doc.spans["sc"] = [Span(doc, *one) for one in SPANS[side][name]] + (nested if side == "gold" else nested[:1])
        docs.add(doc)
    docs.to_disk(HERE / f"docs.{side}.spacy")


def make_datasets(side):
    from datasets import ClassLabel, Dataset, Features, Sequence, Value

    features = Features(
        {"id": Value("string"), "tokens": Sequence(Value("string")), "ner_tags": Sequence(ClassLabel(names=TAGS))}
    )
    rows = [{"id": n, "tokens": tokens(n), "ner_tags": [TAGS.index(tag) for tag in tags(side, n)]} for n in TEXTS]
    data = Dataset.from_list(rows, features=features)
    (HERE / f"rows_{side}").mkdir(exist_ok=True)
    data.to_json(HERE / f"rows_{side}" / "rows.jsonl")
    data.to_parquet(HERE / f"rows.{side}.parquet")
    data.save_to_disk(HERE / f"rows_{side}")
    (HERE / f"rows_{side}" / "state.json").unlink()


CONFIG = """<View><Labels name="label" toName="text"><Label value="PER"/><Label value="ORG"/><Label value="LOC"/></Labels>
<Text name="text" value="$text"/></View>"""


def make_labelstudio(side):
    from label_studio_sdk.converter import Converter

    tasks = []
    for number, (name, text) in enumerate(TEXTS.items(), 1):
        result = [
            {"id": f"r{k}", "from_name": "label", "to_name": "text", "type": "labels", "origin": "manual",
             "value": {"start": s, "end": e, "text": text[s:e], "labels": [label]}}
            for k, (s, e, label) in enumerate(char_spans(side, name))
        ]  # fmt: skip
        result += [
            {"from_id": f"r{a}", "to_id": f"r{b}", "type": "relation", "direction": "right", "labels": [t]}
            for t, a, b in RELATIONS[side][name]
        ]
        tasks.append(
            {"id": number, "data": {"text": text}, "predictions": [],
             "annotations": [{"id": 100 + number, "completed_by": 1, "was_cancelled": False, "lead_time": 3.5, "result": result}]}
        )  # fmt: skip
    given = HERE / "tasks.json"
    given.write_text(json.dumps(tasks))
    converter = Converter(CONFIG, str(HERE))
    for kind, name in (
        ("convert_to_json", f"labelstudio.{side}.json"),
        ("convert_to_json_min", f"labelstudio_min.{side}.json"),
    ):
        folder = HERE / "export"
        folder.mkdir()
        getattr(converter, kind)(str(given), str(folder), is_dir=False)
        (folder / "result.json").rename(HERE / name)
        folder.rmdir()
    given.unlink()


def make_doccano(side):
    """A project of doccano's in a database of its own, exported as its server exports it."""
    import os

    os.environ.setdefault("DATABASE_URL", "sqlite:////tmp/doccano.sqlite3")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")
    import backend

    sys.path.insert(0, str(Path(next(iter(backend.__path__)))))
    import django

    django.setup()
    from data_export.models import ExportedExample
    from data_export.pipeline.dataset import Dataset
    from data_export.pipeline.factories import create_comment, create_formatter, create_labels, create_writer
    from data_export.pipeline.services import ExportApplicationService
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from examples.models import Example
    from label_types.models import RelationType, SpanType
    from labels.models import Relation, Span
    from projects.models import ProjectType, SequenceLabelingProject

    call_command("migrate", verbosity=0)
    user = get_user_model().objects.create(username=f"annotator-{side}")
    for use_relation in (False, True):
        project = SequenceLabelingProject.objects.create(
            name=f"{side}-{use_relation}", project_type=ProjectType.SEQUENCE_LABELING, use_relation=use_relation,
            created_by=user, allow_overlapping=True,
        )  # fmt: skip
        labels = {name: SpanType.objects.create(text=name, project=project) for name in ("PER", "ORG", "LOC")}
        types = {
            name: RelationType.objects.create(text=name, project=project)
            for name in ("met", "in", "works_for", "lives_in")
        }
        for name, text in TEXTS.items():
            example = Example.objects.create(text=text, project=project)
            spans = [
                Span.objects.create(example=example, user=user, label=labels[label], start_offset=s, end_offset=e)
                for s, e, label in char_spans(side, name)
            ]
            for t, a, b in RELATIONS[side][name] if use_relation else ():
                Relation.objects.create(example=example, user=user, type=types[t], from_id=spans[a], to_id=spans[b])
        examples = ExportedExample.objects.filter(project=project)
        dataset = Dataset(examples, create_labels(project, examples), create_comment(examples))
        service = ExportApplicationService(dataset, create_formatter(project, "JSONL"), create_writer("JSONL"))
        service.export(str(HERE / f"doccano{'_relations' if use_relation else ''}.{side}.jsonl"))


if __name__ == "__main__":
    for one in sys.argv[2:] or ("gold", "system"):
        globals()[f"make_{sys.argv[1]}"](one)

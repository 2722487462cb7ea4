"""Small corpora of every task and format, made at random: gold and system in one order."""

import json
import random
from pathlib import Path

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
TYPES = ["A", "B", "C"]


def _lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _noisy(r, rows, change):
    return [change(row) if r.random() < 0.5 else row for row in rows]


def records(r, n):
    gold = [
        {"id": f"d{k}", "vendor": r.choice(WORDS), "total": r.randint(1, 9) / 10, "lines": [
            {"name": r.choice(WORDS), "quantity": r.randint(1, 5)} for _ in range(r.randint(0, 4))]}
        for k in range(n)
    ]  # fmt: skip
    system = _noisy(r, gold, lambda row: {**row, "vendor": r.choice(WORDS), "lines": row["lines"][1:]})
    return _lines(gold), _lines(system), "jsonl"


def span_columns(r, n, start=""):
    gold, system = [], []
    for k in range(n):
        if start and k % 3 == 0:
            for side in (gold, system):
                side.append(f"{start} O\n\n")
        for word in r.choices(WORDS, k=r.randint(1, 7)):
            gold.append(f"{word} {r.choice(['O', 'O', 'B-' + r.choice(TYPES), 'I-' + r.choice(TYPES)])}\n")
            system.append(f"{word} {r.choice(['O', 'B-' + r.choice(TYPES[:2])])}\n")
        gold.append("\n")
        system.append("\n")
    return "".join(gold), "".join(system), "iob"


def span_documents(r, n):
    return span_columns(r, n, "-DOCSTART-")


def spans_jsonl(r, n):
    def row(k, text):
        spans = []
        at = 0
        for word in text.split(" "):
            if r.random() < 0.5:
                spans.append([at, at + len(word), r.choice(TYPES)])
            at += len(word) + 1
        return {"id": f"t{k}", "text": text, "spans": spans}

    texts = [" ".join(r.choices(WORDS, k=r.randint(1, 6))) for _ in range(n)]
    return *(_lines([row(k, text) for k, text in enumerate(texts)]) for _ in range(2)), "jsonl"


def conll(r, n):
    def document(k, words):
        rows = []
        for w, word in enumerate(words):
            mention = f"({r.randint(0, 3)})" if r.random() < 0.6 else "-"
            rows.append(f"doc{k}\t0\t{w}\t{word}\tX\t{mention}\n")
        return f"#begin document (doc{k}); part 000\n" + "".join(rows) + "\n#end document\n"

    texts = [r.choices(WORDS, k=r.randint(2, 9)) for _ in range(n)]
    return *("".join(document(k, words) for k, words in enumerate(texts)) for _ in range(2)), "conll"


def corefud(r, n):
    def document(k, words, first):
        head = "# global.Entity = eid-etype-head-other\n" if first else ""
        rows = []
        for w, word in enumerate(words, 1):
            misc = f"Entity=(e{r.randint(0, 3)}-person-1-)" if r.random() < 0.6 else "_"
            rows.append(f"{w}\t{word}\t{word}\tX\t_\t_\t0\troot\t_\t{misc}\n")
        return f"# newdoc id = doc{k}\n{head}# sent_id = s{k}\n" + "".join(rows) + "\n"

    texts = [r.choices(WORDS, k=r.randint(2, 6)) for _ in range(n)]
    return *("".join(document(k, words, k == 0) for k, words in enumerate(texts)) for _ in range(2)), "conllu"


def clusters(r, n):
    def row(k):
        found = [[[w, w] for w in range(12) if w % 3 == c and r.random() < 0.7] for c in range(3)]
        return {"doc_key": f"c{k}", "clusters": [one for one in found if one]}

    return *(_lines([row(k) for k in range(n)]) for _ in range(2)), "jsonl"


def trees(r, n, newdoc=False):
    def sentence(k, words):
        rows = [f"# newdoc id = doc{k // 4}\n"] if newdoc and k % 4 == 0 else []
        rows += [f"# sent_id = s{k}\n", f"# text = {' '.join(words)}\n"]
        for w, word in enumerate(words, 1):
            head, relation = (0, "root") if w == 1 else (r.randint(1, w - 1), r.choice(["nsubj", "obj", "det"]))
            rows.append(f"{w}\t{word}\t{word}\t{r.choice(['NOUN', 'VERB'])}\t_\t_\t{head}\t{relation}\t_\t_\n")
        return "".join(rows) + "\n"

    texts = [r.choices(WORDS, k=r.randint(1, 8)) for _ in range(n)]
    return *("".join(sentence(k, words) for k, words in enumerate(texts)) for _ in range(2)), "conllu"


def tree_documents(r, n):
    return trees(r, n, newdoc=True)


def graphs(r, n):
    def graph(k):
        a, b = r.choices(WORDS, k=2)
        inner = f':ARG1 (y / {b} :name "({r.choice(WORDS)}")' if r.random() < 0.7 else ""
        return f"# ::id g{k} ::snt a graph\n(x / {a}\n    :ARG0 (z / {r.choice(WORDS)}) {inner})\n\n"

    header = "# AMR release; corpus: made\n\n"
    return header + "".join(graph(k) for k in range(n)), "".join(graph(k) for k in range(n)), "amr"


def relations(r, n):
    def end(k):
        return {"start": k, "end": k + 1, "type": r.choice(TYPES)}

    def row(k):
        found = [{"type": r.choice(["spouse", "born"]), "subj": end(r.randint(0, 3)), "obj": end(r.randint(4, 7))}
                 for _ in range(r.randint(0, 3))]  # fmt: skip
        return {"id": f"r{k}", "tokens": WORDS, "relations": found}

    return *(_lines([row(k) for k in range(n)]) for _ in range(2)), "jsonl"


def events(r, n):
    def row(k):
        found = []
        for start in r.sample(range(8), r.randint(0, 3)):
            arguments = [
                [a, a + 1, r.choice(["Agent", "Place"]), WORDS[a]] for a in r.sample(range(8), r.randint(0, 2))
            ]
            found.append({"trigger": [start, start + 1, r.choice(TYPES), WORDS[start]], "arguments": arguments})
        return {"doc_id": f"e{k}", "wnd_id": f"e{k}", "tokens": WORDS, "sentences": [WORDS], "events": found}

    return *(_lines([row(k) for k in range(n)]) for _ in range(2)), "jsonl"


def roles(r, n):
    def row(k):
        return {
            "id": f"f{k}",
            "roles": {role: [[r.choice(WORDS)] for _ in range(r.randint(0, 2))] for role in ("P", "T")},
        }

    return *(_lines([row(k) for k in range(n)]) for _ in range(2)), "jsonl"


def templates(r, n):
    def row(k):
        found = [{"type": r.choice(["attack", "arson"]), "slots": {"Victim": [r.choice(WORDS)], "Weapon": [r.choice(WORDS)]}}
                 for _ in range(r.randint(0, 2))]  # fmt: skip
        return {"id": f"m{k}", "templates": found}

    return *(_lines([row(k) for k in range(n)]) for _ in range(2)), "jsonl"


def nary(r, n):
    def row(k):
        found = [
            {"args": {"x": [[a, a + 1]], r.choice("yz"): [[a + 2, a + 3]]}} for a in r.sample(range(4), r.randint(0, 2))
        ]
        return {"id": f"n{k}", "relations": found}

    return *(_lines([row(k) for k in range(n)]) for _ in range(2)), "jsonl"


def hierarchies(r, n):
    def line():
        return r.choice(["(1(2)(3)) (4)", "(1(2(3))) (4)", "(1) (2(3)(4))", "(1(2)(3)(4))"]) + "\n"

    return "".join(line() for _ in range(n)), "# made\n" + "".join(line() for _ in range(n)), "newick"


def named_hierarchies(r, n):
    def line(k):
        return f"story{k}\t" + r.choice(["(1(2)(3)) (4)", "(1(2(3))) (4)", "(1) (2(3)(4))"]) + "\n"

    return "".join(map(line, range(n))), "".join(map(line, range(n))), "newick"


CORPORA = {
    "records": ("records", records),
    "columns": ("spans", span_columns),
    "columns with documents": ("spans", span_documents),
    "spans as JSON": ("spans", spans_jsonl),
    "conll": ("coreference", conll),
    "corefud": ("coreference", corefud),
    "clusters": ("coreference", clusters),
    "sentences": ("dependencies", trees),
    "documents of sentences": ("dependencies", tree_documents),
    "graphs": ("amr", graphs),
    "relations": ("relations", relations),
    "events": ("events", events),
    "arguments": ("arguments", events),
    "roles": ("roles", roles),
    "templates": ("templates", templates),
    "nary": ("nary", nary),
    "hierarchies": ("hierarchies", hierarchies),
    "named hierarchies": ("hierarchies", named_hierarchies),
}


def make(folder, name, n=23, seed=5):
    """The task, and the two files."""
    task, maker = CORPORA[name]
    gold, system, ending = maker(random.Random(seed), n)
    files = []
    for side, text in (("gold", gold), ("system", system)):
        path = Path(folder) / f"{side}.{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        files.append(str(path))
    return task, *files

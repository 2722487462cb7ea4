"""The UD evaluation, written slowly from its description: lists of words, sets of characters, plain loops."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from tallystick.tasks.dependencies.metrics import CONTENT, FUNCTIONAL, UNIVERSAL_FEATURES


@dataclass(eq=False)
class Word:
    span: tuple[int, int]
    multi: bool
    columns: list[str]
    head: Word | None = None
    children: list[Word] = field(default_factory=list)
    edges: list[tuple[object, str]] = field(default_factory=list)

    @property
    def relation(self) -> str:
        return self.columns[7].split(":")[0]

    @property
    def feats(self) -> list[str]:
        return sorted(f for f in self.columns[5].split("|") if f.split("=")[0] in UNIVERSAL_FEATURES)


@dataclass
class File:
    tokens: list[tuple[int, int]]
    sentences: list[tuple[int, int]]
    words: list[Word]


def load(text: str) -> File:
    file = File([], [], [])
    at = 0
    for block in text.split("\n\n")[:-1]:
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        rows = [row for row in rows if "." not in row[0]]
        begin, words, last = at, [], 0
        for row in rows:
            if "-" in row[0]:
                last = int(row[0].split("-")[1])
                file.tokens.append((at, at + len(row[1])))
                at += len(row[1])
            elif int(row[0]) <= last:
                words.append(Word(file.tokens[-1], True, row))
            else:
                file.tokens.append((at, at + len(row[1])))
                at += len(row[1])
                words.append(Word(file.tokens[-1], False, row))
        for word in words:
            head = int(word.columns[6])
            word.head = words[head - 1] if head else None
            if head and word.relation in FUNCTIONAL:
                words[head - 1].children.append(word)
            for edge in word.columns[8].split("|") if word.columns[8] != "_" else []:
                source, label = edge.split(":", 1)
                if "." not in source:
                    word.edges.append((words[int(source) - 1] if int(source) else "root", label))
        file.sentences.append((begin, at))
        file.words += words
    return file


def align(reference: File, predicted: File) -> list[tuple[Word, Word]]:
    spans = {word.span for file in (reference, predicted) for word in file.words if word.multi}
    merging = True
    while merging:
        merging = False
        for a in spans:
            for b in spans:
                if a < b and a[0] < b[1] and b[0] < a[1]:
                    spans = (spans - {a, b}) | {(min(a[0], b[0]), max(a[1], b[1]))}
                    merging = True
                    break
            if merging:
                break
    pairs = []
    for span in spans:
        inside = [
            [word for word in file.words if span[0] <= word.span[0] and word.span[1] <= span[1]]
            for file in (reference, predicted)
        ]
        pairs += common(*inside)
    in_spans = {at for span in spans for at in range(*span)}
    for g in reference.words:
        for s in predicted.words:
            if g.span == s.span and not in_spans & set(range(*g.span)):
                pairs.append((g, s))
    return sorted(pairs, key=lambda pair: reference.words.index(pair[0]))


def common(a: list[Word], b: list[Word]) -> list[tuple[Word, Word]]:
    def same(i: int, j: int) -> bool:
        return a[i].columns[1].lower() == b[j].columns[1].lower()

    @cache
    def longest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        best = max(longest(i + 1, j), longest(i, j + 1))
        return max(best, 1 + longest(i + 1, j + 1)) if same(i, j) else best

    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if same(i, j):
            pairs.append((a[i], b[j]))
            i, j = i + 1, j + 1
        elif longest(i + 1, j) == longest(i, j):
            i += 1
        else:
            j += 1
    return pairs


def evaluate(reference_text: str, predicted_text: str) -> dict[str, list[int]]:
    reference, predicted = load(reference_text), load(predicted_text)
    pairs = align(reference, predicted)
    to_reference = {s: g for g, s in pairs}

    def carried(head: Word | None) -> object:
        return None if head is None else to_reference.get(head, "nobody")

    upos = [g.columns[3] == s.columns[3] for g, s in pairs]
    xpos = [g.columns[4] == s.columns[4] for g, s in pairs]
    feats = [g.feats == s.feats for g, s in pairs]
    lemma = [g.columns[2] in ("_", s.columns[2]) for g, s in pairs]
    uas = [g.head is carried(s.head) for g, s in pairs]
    las = [ok and g.relation == s.relation for ok, (g, s) in zip(uas, pairs, strict=True)]
    content = [g.relation in CONTENT for g, _ in pairs]
    children = [
        [(c, c.relation, c.columns[3], c.feats) for c in g.children]
        == [(to_reference.get(c), c.relation, c.columns[3], c.feats) for c in s.children]
        for g, s in pairs
    ]

    def both(*flags: list[bool]) -> int:
        return sum(map(all, zip(*flags, strict=True)))

    totals = [len(reference.words), len(predicted.words), len(pairs)]
    counts = {
        "Tokens": [
            len(set(reference.tokens) & set(predicted.tokens)),
            len(reference.tokens),
            len(predicted.tokens),
            0,
        ],
        "Sentences": [
            len(set(reference.sentences) & set(predicted.sentences)),
            len(reference.sentences),
            len(predicted.sentences),
            0,
        ],
        "Words": [len(pairs), *totals],
        "UPOS": [both(upos), *totals],
        "XPOS": [both(xpos), *totals],
        "UFeats": [both(feats), *totals],
        "AllTags": [both(upos, xpos, feats), *totals],
        "Lemmas": [both(lemma), *totals],
        "UAS": [both(uas), *totals],
        "LAS": [both(las), *totals],
    }
    totals = [
        *(sum(word.relation in CONTENT for word in file.words) for file in (reference, predicted)),
        sum(content),
    ]
    counts["CLAS"] = [both(las, content), *totals]
    counts["MLAS"] = [both(las, content, upos, feats, children), *totals]
    counts["BLEX"] = [both(las, content, lemma), *totals]
    for metric in ("ELAS", "EULAS"):

        def label(text: str, metric: str = metric) -> str:
            return text if metric == "ELAS" else ">".join(step.split(":")[0] for step in text.split(">"))

        correct = 0
        for g, s in pairs:
            ours = Counter((head, label(name)) for head, name in g.edges)
            theirs = Counter(
                (head if head == "root" else to_reference.get(head), label(name)) for head, name in s.edges
            )
            correct += (ours & theirs).total()
        counts[metric] = [correct, *(sum(len(w.edges) for w in f.words) for f in (reference, predicted)), 0]
    return counts
